//! The quality of service class that a pod's requests and limits amount to
//! (upstream's core/helper/qos).

use super::aggregate::{Amounts, amounts};
use crate::object::Meta;
use serde_json::Value;

/// `Guaranteed`, `Burstable` or `BestEffort`. Only cpu and memory above zero count.
pub fn compute_qos_class(spec: &Value) -> &'static str {
    let (mut requests, mut limits) = (Amounts::new(), Amounts::new());
    let mut guaranteed = true;
    if let Some(resources) = spec.get("resources").filter(|resources| !resources.is_null()) {
        add(&mut requests, Some(resources), "requests");
        let found = add(&mut limits, Some(resources), "limits");
        if !amounts(Some(resources), "limits").is_empty() && found < 2 {
            guaranteed = false;
        }
    } else {
        for container in spec.items_at(&["containers"]).iter().chain(spec.items_at(&["initContainers"])) {
            add(&mut requests, container.get("resources"), "requests");
            if add(&mut limits, container.get("resources"), "limits") < 2 {
                guaranteed = false;
            }
        }
    }
    if requests.is_empty() && limits.is_empty() {
        "BestEffort"
    } else if guaranteed && requests == limits {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

/// Adds what counts and says how many of cpu and memory there were.
fn add<'a>(total: &mut Amounts<'a>, resources: Option<&'a Value>, which: &str) -> usize {
    let mut found = 0;
    for (name, amount) in amounts(resources, which) {
        if !matches!(name, "cpu" | "memory") || amount.is_negative() || amount.is_zero() {
            continue;
        }
        found += 1;
        match total.get_mut(name) {
            Some(sum) => *sum = sum.add(&amount),
            None => drop(total.insert(name, amount)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::compute_qos_class;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(resources: &[Value], expected: &str) {
        let containers: Vec<Value> = resources.iter().map(|r| json!({"name": "a", "resources": r})).collect();
        assert_eq!(compute_qos_class(&json!({"containers": containers})), expected);
    }

    #[test]
    fn classes_follow_requests_and_limits() {
        let full = json!({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1000m", "memory": "1024Mi"}});
        check(&[json!({})], "BestEffort");
        check(std::slice::from_ref(&full), "Guaranteed");
        check(&[full, json!({})], "Burstable");
        check(&[json!({"requests": {"cpu": "1"}})], "Burstable");
        check(&[json!({"requests": {"cpu": "0"}})], "BestEffort");
        check(&[json!({"requests": {"ephemeral-storage": "1Gi"}})], "BestEffort");
    }
}
