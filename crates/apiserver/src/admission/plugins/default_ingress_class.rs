//! DefaultIngressClass: an Ingress that names no class gets the cluster's default one.

use crate::admission::plugins::default_storage_class::default_class;
use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::registry::lookup::ObjectLookup;
use async_trait::async_trait;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use serde_json::Value;
use std::sync::Arc;

const GROUP: &str = "networking.k8s.io";
/// The field's forerunner.
const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";

pub(crate) struct DefaultIngressClass {
    lookup: Arc<dyn ObjectLookup>,
}

impl DefaultIngressClass {
    pub(crate) fn new(lookup: Arc<dyn ObjectLookup>) -> Self {
        Self { lookup }
    }
}

#[async_trait]
impl Plugin for DefaultIngressClass {
    fn name(&self) -> &'static str {
        "DefaultIngressClass"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.operation == Operation::Create && request.is_for(GROUP, "ingresses") && request.subresource.is_empty()
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(ingress) = request.object_of(GROUP, "ingresses") else { return Ok(()) };
        let named = ingress.at(&["spec", "ingressClassName"]).is_some_and(|name| !name.is_null());
        if named || ingress.annotation(CLASS_ANNOTATION).is_some() {
            return Ok(());
        }
        let annotation = ["ingressclass.kubernetes.io/is-default-class"];
        if let Some(name) = default_class(&*self.lookup, GROUP, "ingressclasses", &annotation) {
            let spec = ensure_object(ingress).entry("spec").or_insert(Value::Null);
            ensure_object(spec).insert("ingressClassName".into(), name.into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, row};
    use crate::authn::testing::Objects;
    use ferry_resources::Scope;
    use serde_json::json;

    #[tokio::test]
    async fn an_ingress_without_a_class_gets_the_default() {
        let class = json!({"kind": "IngressClass", "metadata": {"name": "web", "annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}}});
        let plugin = DefaultIngressClass::new(Objects::of(&[class]));
        let run = async |annotations: Value| {
            let ingresses = row(GROUP, "Ingress", "ingresses", Scope::Namespaced);
            let ingress = json!({"metadata": {"name": "i", "namespace": "ns", "annotations": annotations}});
            Case::create(ingresses, ingress).run(&plugin).await.expect("admitted")["spec"]["ingressClassName"].clone()
        };
        assert_eq!(run(json!({})).await, "web");
        assert_eq!(run(json!({CLASS_ANNOTATION: "nginx"})).await, Value::Null);
    }
}
