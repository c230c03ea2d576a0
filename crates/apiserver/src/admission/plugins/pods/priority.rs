//! Priority: a pod's priority number and preemption policy come from its priority class.
//! Also the two classes that every cluster has, which the API server writes at start.

use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::registry::lookup::ObjectLookup;
use async_trait::async_trait;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use serde_json::{Value, json};
use std::sync::Arc;

const GROUP: &str = "scheduling.k8s.io";
const CLASSES: &str = "priorityclasses";

/// `system-node-critical` and `system-cluster-critical`.
pub(crate) fn system_priority_classes() -> Vec<Value> {
    let class = |name: &str, value: i64, description: &str| {
        json!({
            "apiVersion": format!("{GROUP}/v1"), "kind": "PriorityClass", "metadata": {"name": name},
            "value": value, "description": description, "preemptionPolicy": "PreemptLowerPriority",
        })
    };
    vec![
        class(
            "system-node-critical",
            2_000_001_000,
            "Used for system critical pods that must not be moved from their current node.",
        ),
        class(
            "system-cluster-critical",
            2_000_000_000,
            "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
        ),
    ]
}

pub(crate) struct Priority {
    lookup: Arc<dyn ObjectLookup>,
}

impl Priority {
    pub(crate) fn new(lookup: Arc<dyn ObjectLookup>) -> Self {
        Self { lookup }
    }

    /// Should two be the default after all, the lower one counts.
    fn default_class(&self) -> Option<Value> {
        let classes = self.lookup.list(GROUP, CLASSES, None);
        // Decoding the classes of every cluster for every pod was a third of all admission.
        let named = classes.iter().filter(|class| class.mentions(r#""globalDefault":true"#));
        let defaults =
            named.map(|stored| stored.value()).filter(|class| class.bool_at(&["globalDefault"]) == Some(true));
        defaults.min_by_key(|class| class.i64_at(&["value"]))
    }
}

#[async_trait]
impl Plugin for Priority {
    fn name(&self) -> &'static str {
        "Priority"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        matches!(request.operation, Operation::Create | Operation::Update)
            && request.subresource.is_empty()
            && (request.is_for("", "pods") || request.is_for(GROUP, CLASSES))
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let (operation, old) = (request.operation, request.old_object);
        let Some(pod) = request.object_of("", "pods") else { return Ok(()) };
        if operation == Operation::Update {
            // What was set on create is kept; validation refuses other changes.
            for key in ["priority", "preemptionPolicy"] {
                let before = old.and_then(|old| old.at(&["spec", key])).filter(|value| !value.is_null());
                if let Some(before) = before
                    && pod.at(&["spec", key]).is_none_or(Value::is_null)
                {
                    spec_of(pod).insert(key.into(), before.clone());
                }
            }
            return Ok(());
        }
        let name = pod.str_at(&["spec", "priorityClassName"]).to_owned();
        let class = if name.is_empty() {
            self.default_class()
        } else {
            match self.lookup.get(GROUP, CLASSES, "", &name) {
                Some(stored) => Some(stored.value()),
                None => return Err(request.forbidden(&format!("no PriorityClass with name {name} was found"))),
            }
        };
        let (name, priority, policy) = match &class {
            Some(class) => (
                class.name().to_owned(),
                class.i64_at(&["value"]).unwrap_or(0),
                class.at(&["preemptionPolicy"]).and_then(Value::as_str).map(str::to_owned),
            ),
            None => (String::new(), 0, Some("PreemptLowerPriority".to_owned())),
        };
        let Some(pod) = request.object_of("", "pods") else { return Ok(()) };
        let (given, given_policy) =
            (pod.i64_at(&["spec", "priority"]), pod.str_at(&["spec", "preemptionPolicy"]).to_owned());
        if let Some(given) = given
            && given != priority
        {
            return Err(request.forbidden(&format!(
                "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller computed {priority} from the given PriorityClass name"
            )));
        }
        if let Some(policy) = &policy
            && !given_policy.is_empty()
            && given_policy != *policy
        {
            return Err(request.forbidden(&format!(
                "the string value of PreemptionPolicy ({given_policy}) must not be provided in pod spec; priority admission controller computed {policy} from the given PriorityClass name"
            )));
        }
        let Some(pod) = request.object_of("", "pods") else { return Ok(()) };
        let spec = spec_of(pod);
        if !name.is_empty() {
            spec.insert("priorityClassName".into(), name.into());
        }
        spec.insert("priority".into(), priority.into());
        if let Some(policy) = policy {
            spec.insert("preemptionPolicy".into(), policy.into());
        }
        Ok(())
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        if !request.is_for(GROUP, CLASSES) {
            return Ok(());
        }
        let Some(class) = request.object.as_deref() else { return Ok(()) };
        if class.bool_at(&["globalDefault"]) == Some(true)
            && let Some(other) = self.default_class()
            && (request.operation == Operation::Create || other.name() != class.name())
        {
            let why =
                format!("PriorityClass {} is already marked as default. Only one default can exist", other.name());
            return Err(request.forbidden(&why));
        }
        Ok(())
    }
}

fn spec_of(pod: &mut Value) -> &mut serde_json::Map<String, Value> {
    ensure_object(ensure_object(pod).entry("spec").or_insert(Value::Null))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, pods, row};
    use crate::authn::testing::Objects;
    use ferry_resources::Scope;

    fn pod(spec: Value) -> Value {
        json!({"metadata": {"name": "p", "namespace": "ns"}, "spec": spec})
    }

    #[tokio::test]
    async fn numbers_come_from_classes() {
        let objects = Objects::of(&system_priority_classes());
        objects.put(
            json!({"kind": "PriorityClass", "metadata": {"name": "low"}, "value": -5, "preemptionPolicy": "Never"}),
        );
        let plugin = Priority::new(objects.clone());
        let check = async |spec: Value, expected: Result<Value, &str>| {
            let outcome = Case::create(pods(), pod(spec)).run(&plugin).await;
            let outcome = outcome.map(|pod| pod["spec"].clone()).map_err(|status| status.message);
            assert_eq!(outcome, expected.map_err(|why| format!("pods \"p\" is forbidden: {why}")));
        };
        check(json!({}), Ok(json!({"priority": 0, "preemptionPolicy": "PreemptLowerPriority"}))).await;
        check(
            json!({"priorityClassName": "system-cluster-critical"}),
            Ok(json!({"priorityClassName": "system-cluster-critical", "priority": 2_000_000_000, "preemptionPolicy": "PreemptLowerPriority"})),
        )
        .await;
        check(
            json!({"priorityClassName": "low", "priority": -5}),
            Ok(json!({"priorityClassName": "low", "priority": -5, "preemptionPolicy": "Never"})),
        )
        .await;
        check(json!({"priorityClassName": "gone"}), Err("no PriorityClass with name gone was found")).await;
        check(
            json!({"priority": 7}),
            Err("the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name"),
        )
        .await;
        check(
            json!({"preemptionPolicy": "Never"}),
            Err("the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name"),
        )
        .await;
        objects.put(json!({"kind": "PriorityClass", "metadata": {"name": "usual"}, "value": 10, "globalDefault": true, "preemptionPolicy": "PreemptLowerPriority"}));
        check(
            json!({}),
            Ok(json!({"priorityClassName": "usual", "priority": 10, "preemptionPolicy": "PreemptLowerPriority"})),
        )
        .await;
    }

    #[tokio::test]
    async fn updates_keep_the_number_and_only_one_class_is_default() {
        let objects = Objects::of(&[
            json!({"kind": "PriorityClass", "metadata": {"name": "usual"}, "value": 10, "globalDefault": true}),
        ]);
        let plugin = Priority::new(objects);
        let mut update = Case::create(pods(), pod(json!({})));
        update.operation = Operation::Update;
        update.old = Some(pod(json!({"priority": 3, "preemptionPolicy": "Never"})));
        let kept = update.run(&plugin).await.expect("admitted");
        assert_eq!(kept["spec"], json!({"priority": 3, "preemptionPolicy": "Never"}));

        let classes = || row(GROUP, "PriorityClass", CLASSES, Scope::Cluster);
        let class = |name: &str| json!({"metadata": {"name": name}, "value": 1, "globalDefault": true});
        let second = Case::create(classes(), class("other")).run(&plugin).await.expect_err("a second default");
        assert_eq!(
            second.message,
            "priorityclasses.scheduling.k8s.io \"other\" is forbidden: PriorityClass usual is already marked as default. Only one default can exist"
        );
        let mut same = Case::create(classes(), class("usual"));
        same.operation = Operation::Update;
        assert!(same.run(&plugin).await.is_ok());
    }
}
