//! ResourceClaims: their number, and the devices that they may get of each class.

use super::{Amounts, one};
use crate::object::Meta;
use crate::quantity::{Format, Quantity};
use serde_json::Value;

const COUNT: &str = "count/resourceclaims.resource.k8s.io";
/// `gpu.deviceclass.resource.k8s.io/devices`.
const OF_CLASS: &str = ".deviceclass.resource.k8s.io/devices";
/// The most devices that a claim can be given, which is what `All` may come to.
const MOST_DEVICES: i64 = 32;

pub(super) fn measures(name: &str) -> bool {
    name == COUNT || name.ends_with(OF_CLASS)
}

pub(super) fn usage(claim: &Value) -> Amounts {
    let mut out = Amounts::from([(COUNT.to_owned(), one())]);
    for request in claim.items_at(&["spec", "devices", "requests"]) {
        let mut most = Amounts::new();
        let alternatives = request.items_at(&["firstAvailable"]);
        // Of alternatives one is chosen; for each class the worst case counts.
        let exactly = request.get("exactly").filter(|exactly| alternatives.is_empty() && exactly.is_object());
        for wanted in alternatives.iter().chain(exactly) {
            let devices = match wanted.str_at(&["allocationMode"]) {
                "ExactCount" => wanted.i64_at(&["count"]).unwrap_or(0),
                "All" => MOST_DEVICES,
                _ => 0,
            };
            let devices = Quantity::from_int(devices, Format::DecimalSi);
            let slot = most.entry(format!("{}{OF_CLASS}", wanted.str_at(&["deviceClassName"]))).or_default();
            *slot = (*slot).max(devices);
        }
        out = super::add(&out, &most);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::amounts::render;
    use super::*;
    use serde_json::json;

    #[test]
    fn devices_count_by_the_worst_case() {
        let exactly =
            |mode: &str, count: i64| json!({"deviceClassName": "gpu", "allocationMode": mode, "count": count});
        let claim = json!({"spec": {"devices": {"requests": [
            {"name": "a", "exactly": exactly("ExactCount", 2)},
            {"name": "b", "firstAvailable": [exactly("ExactCount", 1), exactly("ExactCount", 4)]},
            {"name": "c", "exactly": exactly("All", 0)},
        ]}}});
        assert_eq!(
            render(&usage(&claim)),
            "count/resourceclaims.resource.k8s.io=1,gpu.deviceclass.resource.k8s.io/devices=38"
        );
    }
}
