//! SchedulingGates: a pod with gates does not enter the queue until all are taken away.

use crate::framework::{Action, ClusterEvent, Hint, Plugin, Points, PreEnqueue, Rejection, Resource, Watch, points};
use crate::pod_info::PodInfo;
use std::sync::Arc;

pub struct SchedulingGates;

const NAME: &str = "SchedulingGates";

impl Plugin for SchedulingGates {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: pre_enqueue)
    }

    fn watches(&self) -> &'static [Watch] {
        const { &[Watch::new(Resource::POD, &[Action::Update])] }
    }

    fn hint(&self, pod: &PodInfo, event: &ClusterEvent<'_>) -> Hint {
        Hint::queue_if(event.update_of(pod).is_some_and(|(_, new)| new.spec().scheduling_gates().is_empty()))
    }
}

impl PreEnqueue for SchedulingGates {
    fn pre_enqueue(&self, pod: &PodInfo) -> Result<(), Rejection> {
        let gates = pod.spec().scheduling_gates();
        if gates.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = gates.iter().map(|gate| gate.name()).collect();
        Err(Rejection::unresolvable(NAME, format!("waiting for scheduling gates: [{}]", names.join(" "))))
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
        assert_eq!(*rejection.reasons, ["waiting for scheduling gates: [a b]"]);
        let free = pod(json!({}));
        assert!(SchedulingGates.pre_enqueue(&free).is_ok());
        let event = ClusterEvent::pod_updated(&gated, &free);
        assert_eq!(SchedulingGates.hint(&gated, &event), Hint::Queue);
    }
}
