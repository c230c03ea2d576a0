//! Writes the table that `src/lib.rs` looks words up in: the doc strings of k8s-openapi, which
//! its schemars feature hands out. Upstream's prose is so in nobody's repository but its own,
//! and k8s-openapi is compiled for this program only.
//!
//! | file in `OUT_DIR` | holds |
//! |---|---|
//! | `strings.txt` | every name and text once, one behind the other |
//! | `types.bin` | a record a type, by name: name, text, number of the first field, number of fields |
//! | `fields.bin` | a record a field, by type and name: name, text |
//!
//! Numbers are `u32`, little-endian; a name or text is its offset in `strings.txt` and its length.

use k8s_openapi::api;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use schemars::SchemaGenerator;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Gathers the descriptions of these types and of every type they mention.
macro_rules! gather {
    ($generator:ident, $($kind:ty),+ $(,)?) => { $( $generator.subschema_for::<$kind>(); )+ };
}

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
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
    let definitions: BTreeMap<String, Value> = generator.take_definitions(true).into_iter().collect();
    let mut table = Table::default();
    for (name, schema) in &definitions {
        table.add(name, schema);
    }
    let directory = std::env::var_os("OUT_DIR").ok_or(std::io::ErrorKind::NotFound)?;
    table.write(Path::new(&directory))
}

#[derive(Default)]
struct Table {
    strings: String,
    known: HashMap<String, [u32; 2]>,
    types: Vec<[u32; 6]>,
    fields: Vec<[u32; 4]>,
}

impl Table {
    /// Types must come in the order of their names.
    fn add(&mut self, name: &str, schema: &Value) {
        let described = |field: (&String, &Value)| Some((field.0.clone(), field.1["description"].as_str()?.to_owned()));
        // Sorted, whatever the order of serde_json's maps is.
        let fields: BTreeMap<String, String> =
            schema["properties"].as_object().into_iter().flatten().filter_map(described).collect();
        let [name, length] = self.intern(name);
        let [text, text_length] = self.intern(schema["description"].as_str().unwrap_or_default());
        self.types.push([name, length, text, text_length, self.fields.len() as u32, fields.len() as u32]);
        for (field, description) in fields {
            let ([name, length], [text, text_length]) = (self.intern(&field), self.intern(&description));
            self.fields.push([name, length, text, text_length]);
        }
    }

    /// The place of a string. `kind`, `apiVersion` and many more read alike in each type.
    fn intern(&mut self, string: &str) -> [u32; 2] {
        if let Some(place) = self.known.get(string) {
            return *place;
        }
        let place = [self.strings.len() as u32, string.len() as u32];
        self.strings.push_str(string);
        self.known.insert(string.to_owned(), place);
        place
    }

    fn write(&self, directory: &Path) -> std::io::Result<()> {
        std::fs::write(directory.join("strings.txt"), &self.strings)?;
        std::fs::write(directory.join("types.bin"), bytes(&self.types))?;
        std::fs::write(directory.join("fields.bin"), bytes(&self.fields))
    }
}

fn bytes<const N: usize>(records: &[[u32; N]]) -> Vec<u8> {
    records.iter().flatten().flat_map(|number| number.to_le_bytes()).collect()
}
