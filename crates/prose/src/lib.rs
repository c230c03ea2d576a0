//! The words of `kubectl explain`: what each type and field is for.
//!
//! ferry keeps no prose of its own about the API. The doc strings of k8s-openapi carry it,
//! and its schemars feature hands them out; this crate only gathers them when an OpenAPI
//! document is rendered, and lets them go again.

use k8s_openapi::api;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use schemars::SchemaGenerator;
use serde_json::Value;
use std::collections::HashMap;

/// Descriptions by definition name (`io.k8s.api.core.v1.Pod`).
#[derive(Debug, Default)]
pub struct Prose {
    types: HashMap<String, TypeProse>,
}

#[derive(Debug, Default)]
struct TypeProse {
    description: Option<String>,
    fields: HashMap<String, String>,
}

impl Prose {
    /// What a type (`None`) or one of its fields is for.
    pub fn get(&self, definition: &str, field: Option<&str>) -> Option<&str> {
        let prose = self.types.get(definition)?;
        match field {
            None => prose.description.as_deref(),
            Some(field) => prose.fields.get(field).map(String::as_str),
        }
    }

    pub fn len(&self) -> usize {
        self.types.len()
    }

    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }
}

/// Gathers the descriptions of these types and of every type they mention.
macro_rules! gather {
    ($generator:ident, $($kind:ty),+ $(,)?) => { $( $generator.subschema_for::<$kind>(); )+ };
}

/// Takes a moment (tens of milliseconds) and a few megabytes while the result lives.
pub fn collect() -> Prose {
    let mut generator = SchemaGenerator::default();
    let generator = &mut generator;
    gather!(
        generator,
        api::admissionregistration::v1::MutatingWebhookConfiguration,
        api::admissionregistration::v1::ValidatingAdmissionPolicy,
        api::admissionregistration::v1::ValidatingAdmissionPolicyBinding,
        api::admissionregistration::v1::ValidatingWebhookConfiguration,
        api::apps::v1::ControllerRevision,
        api::apps::v1::DaemonSet,
        api::apps::v1::Deployment,
        api::apps::v1::ReplicaSet,
        api::apps::v1::StatefulSet,
        api::authentication::v1::SelfSubjectReview,
        api::authentication::v1::TokenRequest,
        api::authentication::v1::TokenReview,
        api::authorization::v1::LocalSubjectAccessReview,
        api::authorization::v1::SelfSubjectAccessReview,
        api::authorization::v1::SelfSubjectRulesReview,
        api::authorization::v1::SubjectAccessReview,
        api::autoscaling::v1::HorizontalPodAutoscaler,
        api::autoscaling::v1::Scale,
        api::autoscaling::v2::HorizontalPodAutoscaler,
        api::batch::v1::CronJob,
        api::batch::v1::Job,
        api::certificates::v1::CertificateSigningRequest,
        api::coordination::v1::Lease,
        api::core::v1::Binding,
        api::core::v1::ConfigMap,
        api::core::v1::Endpoints,
        api::core::v1::Event,
        api::core::v1::LimitRange,
        api::core::v1::Namespace,
        api::core::v1::Node,
        api::core::v1::PersistentVolume,
        api::core::v1::PersistentVolumeClaim,
        api::core::v1::Pod,
        api::core::v1::PodTemplate,
        api::core::v1::ReplicationController,
        api::core::v1::ResourceQuota,
        api::core::v1::Secret,
        api::core::v1::Service,
        api::core::v1::ServiceAccount,
        api::discovery::v1::EndpointSlice,
        api::events::v1::Event,
        api::flowcontrol::v1::FlowSchema,
        api::flowcontrol::v1::PriorityLevelConfiguration,
        api::networking::v1::Ingress,
        api::networking::v1::IngressClass,
        api::networking::v1::IPAddress,
        api::networking::v1::NetworkPolicy,
        api::networking::v1::ServiceCIDR,
        api::node::v1::RuntimeClass,
        api::policy::v1::Eviction,
        api::policy::v1::PodDisruptionBudget,
        api::rbac::v1::ClusterRole,
        api::rbac::v1::ClusterRoleBinding,
        api::rbac::v1::Role,
        api::rbac::v1::RoleBinding,
        api::scheduling::v1::PriorityClass,
        api::storage::v1::CSIDriver,
        api::storage::v1::CSINode,
        api::storage::v1::CSIStorageCapacity,
        api::storage::v1::StorageClass,
        api::storage::v1::VolumeAttachment,
        meta::DeleteOptions,
        meta::ListMeta,
        meta::Status,
    );
    let types = generator.take_definitions(true).into_iter().map(|(name, schema)| (name, read(schema)));
    Prose { types: types.collect() }
}

fn read(schema: Value) -> TypeProse {
    let Value::Object(mut schema) = schema else { return TypeProse::default() };
    let text = |value: Option<Value>| match value {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let fields = match schema.remove("properties") {
        Some(Value::Object(fields)) => fields
            .into_iter()
            .filter_map(|(name, field)| {
                let Value::Object(mut field) = field else { return None };
                Some((name, text(field.remove("description"))?))
            })
            .collect(),
        _ => HashMap::new(),
    };
    TypeProse { description: text(schema.remove("description")), fields }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_fields_have_words() {
        let prose = collect();
        assert!(prose.len() > 300, "{}", prose.len());
        for (definition, field) in [
            ("io.k8s.api.core.v1.Pod", None),
            ("io.k8s.api.core.v1.Container", Some("image")),
            ("io.k8s.api.apps.v1.DeploymentSpec", Some("strategy")),
            ("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", Some("labels")),
        ] {
            assert!(prose.get(definition, field).is_some_and(|text| text.len() > 10), "{definition} {field:?}");
        }
        assert_eq!(prose.get("io.k8s.api.core.v1.Pod", Some("colour")), None);
    }
}
