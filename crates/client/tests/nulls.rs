//! Every kind that a component follows, with each of its fields null, absent or zero: what
//! a Go client may write, ours reads.

use ferry_api::gvk::GroupVersionKind;
use ferry_api::schema::{Special, Type, TypeDef, of_kind};
use ferry_client::{Object, decode};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// A field of a type, by the JSON pointer of the first place where it stands.
struct Place {
    pointer: String,
    zero: Value,
}

/// Builds an object in which every field of every type is set once.
struct Sampler {
    seen: HashSet<(String, String)>,
    places: Vec<Place>,
}

impl Sampler {
    /// A value that is not zero. A type that was built before is left empty, which also
    /// ends the types that contain themselves.
    fn value(&mut self, ty: &Type, pointer: &str) -> Value {
        match ty {
            Type::Bool => true.into(),
            Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 | Type::Float64 => 7.into(),
            Type::String => "text".into(),
            Type::Bytes => "Ynl0ZXM=".into(),
            Type::List(item) => {
                let path = format!("{pointer}/0");
                let value = self.value(item, &path);
                self.places.push(Place { pointer: path, zero: zero(item, &value) });
                json!([value])
            }
            Type::Map(item) => {
                let path = format!("{pointer}/key");
                let value = self.value(item, &path);
                self.places.push(Place { pointer: path, zero: zero(item, &value) });
                json!({"key": value})
            }
            Type::Struct(reference) => self.object(reference.get(), pointer),
            Type::Special(special) => match special {
                Special::Time | Special::MicroTime => "2026-01-02T03:04:05Z".into(),
                Special::Duration => "1m0s".into(),
                Special::Quantity => "100m".into(),
                Special::IntOrString => "http".into(),
                Special::RawExtension | Special::FieldsV1 | Special::Json => json!({"a": 1}),
                Special::JsonSchemaPropsOrBool
                | Special::JsonSchemaPropsOrArray
                | Special::JsonSchemaPropsOrStringArray => json!({}),
            },
        }
    }

    fn object(&mut self, definition: &TypeDef, pointer: &str) -> Value {
        let mut fields = Map::new();
        if self.seen.insert((definition.package.to_string(), definition.name.to_string())) {
            for field in &definition.fields {
                let path = format!("{pointer}/{}", field.name);
                let value = self.value(&field.ty, &path);
                let zero = zero(&field.ty, &value);
                self.places.push(Place { pointer: path, zero });
                fields.insert(field.name.to_string(), value);
            }
        }
        Value::Object(fields)
    }
}

fn zero(ty: &Type, value: &Value) -> Value {
    match (ty, value) {
        (Type::Special(Special::Time | Special::MicroTime), _) => "0001-01-01T00:00:00Z".into(),
        (Type::Special(Special::Quantity), _) => "0".into(),
        (Type::Special(Special::IntOrString), _) => 0.into(),
        (_, Value::Bool(_)) => false.into(),
        (_, Value::Number(_)) => 0.into(),
        (_, Value::Array(_)) => json!([]),
        (_, Value::Object(_)) => json!({}),
        _ => "".into(),
    }
}

fn remove(object: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    match object.pointer_mut(parent) {
        Some(Value::Object(fields)) => drop(fields.remove(name)),
        Some(Value::Array(items)) => items.clear(),
        other => panic!("{pointer} stands in {other:?}"),
    }
}

/// Returns how many places were tried.
fn check<K: Object>() -> usize {
    let kind = GroupVersionKind::new(K::GROUP, K::VERSION, K::KIND);
    let definition = of_kind(&kind).unwrap_or_else(|| panic!("no facts of {}", K::KIND));
    let mut sampler = Sampler { seen: HashSet::new(), places: Vec::new() };
    let mut sample = sampler.object(definition, "");
    sample["apiVersion"] = K::API_VERSION.into();
    sample["kind"] = K::KIND.into();
    let try_decode = |object: &Value, what: &str| {
        if let Err(error) = decode::<K>(object.to_string().as_bytes()) {
            panic!("{} with {what}: {error}", K::KIND);
        }
    };
    try_decode(&sample, "every field set");
    for place in &sampler.places {
        // k8s-openapi insists on the two fields that name the kind, and our server writes them.
        if matches!(place.pointer.as_str(), "/apiVersion" | "/kind") {
            continue;
        }
        for (what, value) in [("null", &Value::Null), ("zero", &place.zero)] {
            let mut object = sample.clone();
            *object.pointer_mut(&place.pointer).expect("the place was built") = value.clone();
            try_decode(&object, &format!("{} {what}", place.pointer));
        }
        let mut object = sample.clone();
        remove(&mut object, &place.pointer);
        try_decode(&object, &format!("{} absent", place.pointer));
    }
    sampler.places.len()
}

macro_rules! kinds {
    ($($test:ident: $($kind:ty),+;)+) => {$(
        #[test]
        fn $test() {
            $(assert!(check::<$kind>() > 20);)+
        }
    )+};
}

use k8s_openapi::api::{apps, certificates, coordination, core, discovery, policy, rbac, storage};

kinds! {
    any_field_of_a_pod_may_be_null: core::v1::Pod;
    any_field_of_a_node_may_be_null: core::v1::Node;
    any_field_of_a_deployment_may_be_null: apps::v1::Deployment;
    any_field_of_a_replica_set_may_be_null: apps::v1::ReplicaSet, core::v1::ReplicationController;
    any_field_of_a_daemon_set_may_be_null: apps::v1::DaemonSet, apps::v1::ControllerRevision,
        policy::v1::PodDisruptionBudget;
    any_field_of_a_service_may_be_null: core::v1::Service, core::v1::Endpoints, discovery::v1::EndpointSlice;
    any_field_of_what_a_pod_refers_to_may_be_null: core::v1::ConfigMap, core::v1::Secret, core::v1::ServiceAccount,
        core::v1::PersistentVolumeClaim, core::v1::PersistentVolume, storage::v1::VolumeAttributesClass;
    any_field_of_what_governs_a_namespace_may_be_null: core::v1::Namespace, core::v1::ResourceQuota, core::v1::LimitRange,
        rbac::v1::ClusterRole, coordination::v1::Lease, certificates::v1::CertificateSigningRequest;
}
