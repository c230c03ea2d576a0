//! DefaultStorageClass: a claim that names no class gets the cluster's default one.

use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::registry::lookup::ObjectLookup;
use async_trait::async_trait;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use serde_json::Value;
use std::cmp::Reverse;
use std::sync::Arc;

/// The field's forerunner, which claims may still carry.
pub(crate) const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";
const IS_DEFAULT: [&str; 2] =
    ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];

pub(crate) struct DefaultStorageClass {
    lookup: Arc<dyn ObjectLookup>,
}

impl DefaultStorageClass {
    pub(crate) fn new(lookup: Arc<dyn ObjectLookup>) -> Self {
        Self { lookup }
    }
}

#[async_trait]
impl Plugin for DefaultStorageClass {
    fn name(&self) -> &'static str {
        "DefaultStorageClass"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.operation == Operation::Create
            && request.is_for("", "persistentvolumeclaims")
            && request.subresource.is_empty()
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(claim) = request.object_of("", "persistentvolumeclaims") else { return Ok(()) };
        // An empty name is a name: it asks for no class at all.
        let named = claim.at(&["spec", "storageClassName"]).is_some_and(|name| !name.is_null());
        if named || claim.annotation(CLASS_ANNOTATION).is_some() {
            return Ok(());
        }
        if let Some(name) = default_class(&*self.lookup, "storage.k8s.io", "storageclasses", &IS_DEFAULT) {
            let spec = ensure_object(claim).entry("spec").or_insert(Value::Null);
            ensure_object(spec).insert("storageClassName".into(), name.into());
        }
        Ok(())
    }
}

/// The class that is marked as the default. Should several be, the newest counts, and of
/// those of one age the first by name.
pub(crate) fn default_class(
    lookup: &dyn ObjectLookup,
    group: &str,
    plural: &str,
    annotations: &[&str],
) -> Option<String> {
    let classes = lookup.list(group, plural, None);
    classes
        .iter()
        .map(|stored| stored.value())
        .filter(|class| annotations.iter().any(|key| class.annotation(key) == Some("true")))
        .min_by_key(|class| (Reverse(class.meta_str("creationTimestamp").to_owned()), class.name().to_owned()))
        .map(|class| class.name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, row};
    use crate::authn::testing::Objects;
    use ferry_resources::Scope;
    use serde_json::json;

    #[tokio::test]
    async fn the_newest_default_is_taken_unless_a_class_is_named() {
        let class = |name: &str, made: &str, key: &str| json!({"kind": "StorageClass", "metadata": {"name": name, "creationTimestamp": made, "annotations": {key: "true"}}});
        let plugin = DefaultStorageClass::new(Objects::of(&[
            class("old", "2026-01-01T00:00:00Z", IS_DEFAULT[0]),
            class("new-b", "2026-02-01T00:00:00Z", IS_DEFAULT[0]),
            class("new-a", "2026-02-01T00:00:00Z", IS_DEFAULT[1]),
            class("other", "2026-03-01T00:00:00Z", "x"),
        ]));
        let run = async |spec: Value| {
            let claims = row("", "PersistentVolumeClaim", "persistentvolumeclaims", Scope::Namespaced);
            let claim = json!({"metadata": {"name": "c", "namespace": "ns"}, "spec": spec});
            Case::create(claims, claim).run(&plugin).await.expect("admitted")["spec"]["storageClassName"].clone()
        };
        assert_eq!(run(json!({})).await, "new-a");
        assert_eq!(run(json!({"storageClassName": ""})).await, "");
        assert_eq!(run(json!({"storageClassName": "old"})).await, "old");
    }
}
