//! SchedulingGates: a pod with gates does not enter the queue until all are taken away.

use crate::framework::{ClusterEvent, Hint, Plugin, PreEnqueue, Rejection};
use crate::view::Pod;

pub struct SchedulingGates;

const NAME: &str = "SchedulingGates";

impl Plugin for SchedulingGates {
    fn name(&self) -> &'static str {
        NAME
    }

    fn hint(&self, pod: &Pod, event: &ClusterEvent<'_>) -> Hint {
        Hint::queue_if(matches!(event, ClusterEvent::PodUpdated { new, .. }
            if new.uid() == pod.uid() && new.spec.scheduling_gates.is_empty()))
    }

    fn as_pre_enqueue(&self) -> Option<&dyn PreEnqueue> {
        Some(self)
    }
}

impl PreEnqueue for SchedulingGates {
    fn pre_enqueue(&self, pod: &Pod) -> Result<(), Rejection> {
        if pod.spec.scheduling_gates.is_empty() {
            return Ok(());
        }
        let gates: Vec<&str> = pod.spec.scheduling_gates.iter().map(|gate| gate.name.as_str()).collect();
        Err(Rejection::unresolvable(NAME, format!("waiting for scheduling gates: [{}]", gates.join(" "))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::pod;
    use serde_json::json;

    #[test]
    fn gates_keep_a_pod_out() {
        let gated = pod(json!({"schedulingGates": [{"name": "a"}, {"name": "b"}]}));
        let rejection = SchedulingGates.pre_enqueue(&gated).expect_err("gated");
        assert_eq!(rejection.reasons, ["waiting for scheduling gates: [a b]"]);
        let free = pod(json!({}));
        assert!(SchedulingGates.pre_enqueue(&free).is_ok());
        let event = ClusterEvent::PodUpdated { old: &gated, new: &free };
        assert_eq!(SchedulingGates.hint(&gated, &event), Hint::Queue);
    }
}
