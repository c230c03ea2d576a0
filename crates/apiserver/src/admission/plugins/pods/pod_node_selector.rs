//! PodNodeSelector: a namespace says on which nodes its pods may run, by an annotation or
//! else by the cluster's default, and the configuration may bound what a pod may ask for.
//! Off unless asked for.

use crate::admission::{AdmissionRequest, Operation, Plugin, Wiring};
use crate::registry::lookup::ObjectLookup;
use async_trait::async_trait;
use ferry_api::gvk::GroupResource;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

const ANNOTATION: &str = "scheduler.alpha.kubernetes.io/node-selector";
const CLUSTER_DEFAULT: &str = "clusterDefaultNodeSelector";

type Labels = BTreeMap<String, String>;

pub(crate) struct PodNodeSelector {
    lookup: Arc<dyn ObjectLookup>,
    /// By namespace, what its pods may ask for; and the default of all namespaces.
    configured: BTreeMap<String, String>,
}

impl PodNodeSelector {
    pub(crate) fn new(wiring: &Wiring) -> Self {
        Self { lookup: wiring.lookup.clone(), configured: wiring.config.node_selectors.clone() }
    }

    fn configured(&self, key: &str) -> Result<Labels, Status> {
        parse(self.configured.get(key).map(String::as_str).unwrap_or_default())
    }

    fn of_namespace(&self, name: &str) -> Result<Labels, Status> {
        let Some(namespace) = self.lookup.get("", "namespaces", "", name) else {
            return Err(Status::not_found(&GroupResource::new("", "namespaces"), name));
        };
        match namespace.value().annotation(ANNOTATION) {
            Some(selector) => parse(selector),
            None => self.configured(CLUSTER_DEFAULT),
        }
    }
}

#[async_trait]
impl Plugin for PodNodeSelector {
    fn name(&self) -> &'static str {
        "PodNodeSelector"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.operation == Operation::Create && request.is_for("", "pods") && request.subresource.is_empty()
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let wanted = self.of_namespace(&request.namespace)?;
        self.validate(request).await?;
        let Some(pod) = request.object_of("", "pods") else { return Ok(()) };
        if wanted.is_empty() {
            return Ok(());
        }
        let spec = ensure_object(ensure_object(pod).entry("spec").or_insert(Value::Null));
        let selector = ensure_object(spec.entry("nodeSelector").or_insert(Value::Null));
        selector.extend(wanted.into_iter().map(|(key, value)| (key, value.into())));
        self.validate(request).await
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(pod) = request.object.as_deref() else { return Ok(()) };
        let asked = |key: &str| pod.at(&["spec", "nodeSelector", key]).and_then(Value::as_str);
        let wanted = self.of_namespace(&request.namespace)?;
        if wanted.iter().any(|(key, value)| asked(key).is_some_and(|asked| asked != value)) {
            return Err(request.forbidden("pod node label selector conflicts with its namespace node label selector"));
        }
        let allowed = self.configured(&request.namespace)?;
        let selector = pod.at(&["spec", "nodeSelector"]).and_then(Value::as_object);
        let is_allowed = |(key, value): (&String, &Value)| allowed.get(key).map(String::as_str) == value.as_str();
        if !allowed.is_empty() && !selector.into_iter().flatten().all(is_allowed) {
            return Err(request.forbidden("pod node label selector labels conflict with its namespace whitelist"));
        }
        Ok(())
    }
}

/// `env=prod,zone=a`.
fn parse(selector: &str) -> Result<Labels, Status> {
    let mut labels = Labels::new();
    for part in selector.split(',').filter(|part| !part.is_empty()) {
        let Some((key, value)) = part.split_once('=') else {
            return Err(Status::internal(format!("invalid selector: [{}]", part.trim())));
        };
        labels.insert(key.trim().to_owned(), value.trim().to_owned());
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, pods};
    use crate::authn::testing::Objects;
    use serde_json::json;

    #[tokio::test]
    async fn the_namespace_or_the_cluster_says_where() {
        let plugin = PodNodeSelector {
            lookup: Objects::of(&[
                json!({"kind": "Namespace", "metadata": {"name": "own", "annotations": {ANNOTATION: "env=prod"}}}),
                json!({"kind": "Namespace", "metadata": {"name": "plain"}}),
            ]),
            configured: BTreeMap::from([
                (CLUSTER_DEFAULT.into(), "pool=any".into()),
                ("own".into(), "env=prod,zone=a".into()),
            ]),
        };
        let run = async |namespace: &str, selector: Value| {
            let pod = json!({"metadata": {"name": "p", "namespace": namespace}, "spec": {"nodeSelector": selector}});
            let outcome = Case::create(pods(), pod).run(&plugin).await;
            outcome.map(|pod| pod["spec"]["nodeSelector"].clone()).map_err(|status| status.message)
        };
        assert_eq!(run("plain", json!({"x": "y"})).await, Ok(json!({"pool": "any", "x": "y"})));
        assert_eq!(run("own", json!({"zone": "a"})).await, Ok(json!({"env": "prod", "zone": "a"})));
        assert_eq!(
            run("own", json!({"env": "test"})).await.expect_err("a conflict"),
            "pods \"p\" is forbidden: pod node label selector conflicts with its namespace node label selector"
        );
        assert_eq!(
            run("own", json!({"zone": "b"})).await.expect_err("not on the list"),
            "pods \"p\" is forbidden: pod node label selector labels conflict with its namespace whitelist"
        );
    }
}
