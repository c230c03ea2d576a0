//! The quality of service class that a pod's requests and limits amount to, after
//! pkg/apis/core/v1/helper/qos/qos.go. The API server sets it in the status, the kubelet
//! sorts cgroups and evictions by it, and quotas have scopes of it.

use super::pod_requests::Amounts;
use crate::quantity::Quantity;
use crate::view::Map;
use crate::view::core::v1::{PodSpecView, PodView};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QosClass {
    Guaranteed,
    Burstable,
    BestEffort,
}

impl QosClass {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Guaranteed => "Guaranteed",
            Self::Burstable => "Burstable",
            Self::BestEffort => "BestEffort",
        }
    }
}

impl fmt::Display for QosClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The class that the status holds, or the computed one for a pod without.
pub fn qos_class(pod: PodView<'_>) -> QosClass {
    match pod.status().qos_class() {
        "Guaranteed" => QosClass::Guaranteed,
        "Burstable" => QosClass::Burstable,
        "BestEffort" => QosClass::BestEffort,
        _ => compute_qos_class(pod.spec()),
    }
}

/// The class of a spec. Only cpu and memory above zero count. Where the spec has resources
/// for the pod as a whole, those of the containers do not.
pub fn compute_qos_class(spec: PodSpecView<'_>) -> QosClass {
    let (mut requests, mut limits) = (Amounts::new(), Amounts::new());
    let mut is_guaranteed = true;
    if let Some(own) = spec.resources() {
        add(&mut requests, own.requests());
        let found = add(&mut limits, own.limits());
        is_guaranteed = found == COUNTED || own.limits().is_empty();
    } else {
        for container in spec.containers().iter().chain(spec.init_containers()) {
            add(&mut requests, container.resources().requests());
            is_guaranteed &= add(&mut limits, container.resources().limits()) == COUNTED;
        }
    }
    if requests.is_empty() && limits.is_empty() {
        QosClass::BestEffort
    } else if is_guaranteed && requests == limits {
        QosClass::Guaranteed
    } else {
        QosClass::Burstable
    }
}

/// Cpu and memory.
const COUNTED: usize = 2;

/// Adds the amounts that count, and returns how many there were.
fn add<'a>(total: &mut Amounts<'a>, list: Map<'a, Quantity>) -> usize {
    let counted = list
        .iter()
        .filter(|(name, amount)| matches!(*name, "cpu" | "memory") && !amount.is_negative() && !amount.is_zero());
    let mut found = 0;
    for (name, amount) in counted {
        found += 1;
        total.entry(name).and_modify(|sum| *sum = sum.add(&amount)).or_insert(amount);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(spec: Value, expected: QosClass) {
        assert_eq!(compute_qos_class(PodSpecView::from(&spec)), expected, "{spec}");
    }

    fn of(resources: &[&Value]) -> Value {
        let containers: Vec<Value> = resources.iter().map(|own| json!({"name": "a", "resources": own})).collect();
        json!({"containers": containers})
    }

    #[test]
    fn the_class_follows_requests_and_limits() {
        use QosClass::*;
        let full = json!({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1000m", "memory": "1024Mi"}});
        check(of(&[&json!({})]), BestEffort);
        check(of(&[&full]), Guaranteed);
        check(of(&[&full, &full]), Guaranteed);
        check(of(&[&full, &json!({})]), Burstable);
        check(of(&[&json!({"requests": {"cpu": "1"}})]), Burstable);
        check(of(&[&json!({"requests": {"cpu": "0"}})]), BestEffort);
        check(of(&[&json!({"requests": {"ephemeral-storage": "1Gi"}})]), BestEffort);
        // The API server sets a request for each limit; without them the sums differ.
        check(of(&[&json!({"limits": {"cpu": "1", "memory": "1Gi"}})]), Burstable);
        let init = json!({"containers": of(&[&full])["containers"], "initContainers": [{"name": "i"}]});
        check(init, Burstable);
    }

    #[test]
    fn resources_of_the_pod_as_a_whole_decide_alone() {
        use QosClass::*;
        let full = json!({"cpu": "1", "memory": "1Gi"});
        let whole = |own: Value| json!({"resources": own, "containers": [{"resources": {"requests": {"cpu": "1"}}}]});
        check(whole(json!({"requests": full, "limits": full})), Guaranteed);
        check(whole(json!({"requests": full})), Burstable);
        check(whole(json!({"requests": {"cpu": "1"}, "limits": {"cpu": "1"}})), Burstable);
        check(whole(json!({})), BestEffort);
    }

    #[test]
    fn the_status_holds_the_class_from_the_beginning() {
        let check = |class: &str, expected: QosClass| {
            let pod = json!({"status": {"qosClass": class}});
            assert_eq!(qos_class(PodView::from(&pod)), expected, "{class}");
        };
        check("Guaranteed", QosClass::Guaranteed);
        check("Burstable", QosClass::Burstable);
        check("BestEffort", QosClass::BestEffort);
        check("", QosClass::BestEffort);
    }
}
