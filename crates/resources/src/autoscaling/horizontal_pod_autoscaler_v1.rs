//! HorizontalPodAutoscaler, v1: the same objects for clients that know only cpu. Every
//! rule is v2's; this converts, asks and converts back, as upstream does.

use super::convert::{has_metrics, to_v1, to_v2};
use super::horizontal_pod_autoscaler::{DEFAULT_CPU_UTILIZATION, HorizontalPodAutoscaler};
use crate::read::{field_mut, keep, remove, set};
use crate::{Context, Strategy};
use ferry_api::document::Node;
use ferry_api::field::ErrorList;
use jiff::Timestamp;
use serde_json::Value;

pub(crate) struct HorizontalPodAutoscalerV1;

const V2: HorizontalPodAutoscaler = HorizontalPodAutoscaler;

impl Strategy for HorizontalPodAutoscalerV1 {
    fn default(&self, autoscaler: &mut Value) {
        let has_metrics = has_metrics(autoscaler);
        if !has_metrics && let Some(spec) = field_mut(autoscaler, "spec") {
            set(spec, "targetCPUUtilizationPercentage", DEFAULT_CPU_UTILIZATION);
        }
    }

    fn to_stored(&self, autoscaler: &mut Value) {
        to_v2(autoscaler);
    }

    fn from_stored(&self, autoscaler: &mut Value) {
        to_v1(autoscaler);
    }

    // What the facts reset stands partly in annotations in this version, so it is reset once more
    // where it is whole.

    fn prepare_for_create(&self, _context: &Context, autoscaler: &mut Value) {
        to_v2(autoscaler);
        remove(autoscaler, "status");
        to_v1(autoscaler);
    }

    fn prepare_for_update(&self, _context: &Context, new: &mut Value, old: &Value) {
        to_v2(new);
        keep(new, &v2_of(old), "status");
        to_v1(new);
    }

    fn prepare_for_status_update(&self, _context: &Context, new: &mut Value, old: &Value) {
        to_v2(new);
        keep(new, &v2_of(old), "spec");
        to_v1(new);
    }

    fn validate(&self, autoscaler: &Value) -> ErrorList {
        V2.validate(&v2_of(autoscaler))
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        V2.validate_update(&v2_of(new), &v2_of(old))
    }

    fn validate_status_update(&self, new: &Value, old: &Value) -> ErrorList {
        V2.validate_status_update(&v2_of(new), &v2_of(old))
    }

    fn computed_cells(&self, autoscaler: Node<'_>, now: Timestamp) -> Vec<Value> {
        V2.computed_cells(Node::Value(&v2_of(&autoscaler.to_value())), now)
    }
}

fn v2_of(v1: &Value) -> Value {
    let mut object = v1.clone();
    to_v2(&mut object);
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Read;
    use crate::testing::{cells, check, context};
    use ferry_api::object::Meta;
    use serde_json::json;

    fn autoscaler() -> Value {
        json!({
            "apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
            "spec": {"maxReplicas": 5, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
        })
    }

    #[test]
    fn the_rules_are_those_of_v2() {
        let mut object = autoscaler();
        crate::testing::default(&HorizontalPodAutoscalerV1, &mut object);
        assert_eq!(object["spec"]["targetCPUUtilizationPercentage"], 80);
        check(&HorizontalPodAutoscalerV1, autoscaler(), &[]);
        let mut object = autoscaler();
        object["spec"]["targetCPUUtilizationPercentage"] = 0.into();
        check(
            &HorizontalPodAutoscalerV1,
            object,
            &["spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0"],
        );
        assert_eq!(cells("HorizontalPodAutoscaler", autoscaler())[2], "cpu: <unknown>/80%");
    }

    #[test]
    fn what_belongs_to_the_status_cannot_be_written_beside_it() {
        const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
        let mut object = autoscaler();
        object.set_meta("annotations", json!({CONDITIONS: "[{\"type\":\"AbleToScale\",\"status\":\"True\"}]"}));
        HorizontalPodAutoscalerV1.prepare_for_create(&context(), &mut object);
        assert!(!object.field("metadata").has("annotations"));
        let mut status = object.clone();
        status["spec"]["maxReplicas"] = 9.into();
        status["status"]["currentReplicas"] = 3.into();
        HorizontalPodAutoscalerV1.prepare_for_status_update(&context(), &mut status, &object);
        assert_eq!(
            (status["spec"]["maxReplicas"].clone(), status["status"]["currentReplicas"].clone()),
            (json!(5), json!(3))
        );
    }
}
