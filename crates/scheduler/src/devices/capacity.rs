//! The amount that a request takes of a device's capacity, and whether there is enough left.
//!
//! Upstream: dynamic-resource-allocation/structured/internal/incubating/consumable_capacity.go.

use super::slice::{Amounts, Capacity, Device, RequestPolicy, ValidRange};
use ferry_api::quantity::{Format, Quantity};

/// Whether the amounts of the request are within the capacity of the device, together with
/// those that are `used` by others. A request for a capacity that the device does not have never is.
pub fn has_room<'a>(device: &Device, requested: &Amounts, used: impl Fn(&str) -> Option<Quantity> + 'a) -> bool {
    if requested.keys().any(|name| !device.capacity.contains_key(name)) {
        return false;
    }
    device.capacity.iter().all(|(name, capacity)| {
        let amount = consumed(requested.get(name), capacity);
        let total = used(name).map_or(amount, |used| used.add(&amount));
        !violates(&amount, capacity.policy.as_ref()) && total <= capacity.value
    })
}

/// The amounts that a request takes of a device which allows multiple allocations.
pub fn compute_consumed(device: &Device, requested: &Amounts) -> Amounts {
    let capacities = device.capacity.iter();
    capacities.map(|(name, capacity)| (name.clone(), consumed(requested.get(name), capacity))).collect()
}

/// Without a request, the default of the policy, or all of it.
fn consumed(requested: Option<&Quantity>, capacity: &Capacity) -> Quantity {
    let policy = capacity.policy.as_ref();
    let Some(requested) = requested else {
        return policy.and_then(|policy| policy.default).unwrap_or(capacity.value);
    };
    match policy {
        Some(RequestPolicy { range: Some(range @ ValidRange { min: Some(min), .. }), .. }) => {
            round_up(requested, min, range)
        }
        Some(policy) => *policy.valid_values.iter().find(|value| requested <= *value).unwrap_or(requested),
        None => *requested,
    }
}

/// To the smallest amount, or to the next step above it.
fn round_up(requested: &Quantity, min: &Quantity, range: &ValidRange) -> Quantity {
    if requested < min {
        return *min;
    }
    let Some(step) = range.step.as_ref().map(Quantity::value).filter(|step| *step > 0) else {
        return *requested;
    };
    let above = requested.value() - min.value();
    let steps = above / step + i64::from(above % step != 0);
    Quantity::from_int(min.value() + step * steps, Format::BinarySi)
}

fn violates(amount: &Quantity, policy: Option<&RequestPolicy>) -> bool {
    let Some(policy) = policy else { return false };
    if policy.default.as_ref() == Some(amount) {
        return false;
    }
    match &policy.range {
        Some(range) => {
            let is_above = range.max.as_ref().is_some_and(|max| amount > max);
            let min = range.min.as_ref().map_or(0, Quantity::value);
            let step = range.step.as_ref().map(Quantity::value).filter(|step| *step > 0);
            is_above || step.is_some_and(|step| (amount.value() - min) % step != 0)
        }
        None => !policy.valid_values.is_empty() && !policy.valid_values.contains(amount),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::slice::Slice;
    use ferry_client::SharedObject;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(policy: Value, requested: Option<&str>, used: &str, expected: Option<&str>) {
        let slice = Slice::of(SharedObject::of(json!({"spec": {"driver": "d", "pool": {"name": "p"}, "devices": [
            {"name": "nic", "capacity": {"bandwidth": {"value": "10Gi", "requestPolicy": policy}}}]}})));
        let device = &slice.devices[0];
        let quantity = |text: &str| Quantity::parse(text).expect("a quantity");
        let requested = requested.map(|text| ("bandwidth".into(), quantity(text))).into_iter().collect();
        let fits = has_room(device, &requested, |_| Some(quantity(used)));
        let consumed = fits.then(|| compute_consumed(device, &requested)["bandwidth"].to_string());
        assert_eq!(consumed.as_deref(), expected, "{policy} {requested:?}");
    }

    #[test]
    fn requests_are_rounded_to_what_the_policy_permits() {
        check(Value::Null, None, "0", Some("10Gi"));
        check(Value::Null, None, "1", None);
        check(Value::Null, Some("3Gi"), "7Gi", Some("3Gi"));
        check(Value::Null, Some("3Gi"), "8Gi", None);
        check(json!({"default": "1Gi"}), None, "9Gi", Some("1Gi"));
        check(json!({"default": "1Gi", "validValues": ["1Gi", "4Gi"]}), Some("2Gi"), "0", Some("4Gi"));
        check(json!({"default": "1Gi", "validValues": ["1Gi", "4Gi"]}), Some("5Gi"), "0", None);
        let range = json!({"default": "1Gi", "validRange": {"min": "2Gi", "step": "2Gi", "max": "6Gi"}});
        check(range.clone(), Some("1Gi"), "0", Some("2Gi"));
        check(range.clone(), Some("3Gi"), "0", Some("4Gi"));
        check(range.clone(), Some("7Gi"), "0", None);
        check(range, None, "9Gi", Some("1Gi"));
    }
}
