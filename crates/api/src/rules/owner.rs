//! The controller of an object: the one owner that creates, counts and deletes it.
//!
//! Upstream: apimachinery/pkg/apis/meta/v1/controller_ref.go.

use crate::view::meta::v1::{ObjectMetaView, OwnerReference, OwnerReferenceView};
use crate::view::{Kind, View};

/// The owner that controls the object.
pub fn controller_of(metadata: ObjectMetaView<'_>) -> Option<OwnerReferenceView<'_>> {
    metadata.owner_references().iter().find(|owner| owner.controller() == Some(true))
}

/// Whether `owner` controls the object. The UID decides, because another object may have
/// taken the name since.
pub fn is_controlled_by(metadata: ObjectMetaView<'_>, owner: ObjectMetaView<'_>) -> bool {
    controller_of(metadata).is_some_and(|controller| controller.uid() == owner.uid())
}

/// The reference that makes `owner` the controller of an object.
pub fn controller_reference<K: Kind>(owner: K::View<'_>) -> OwnerReference {
    let metadata = ObjectMetaView::over(owner.node().get("metadata").unwrap_or_default());
    OwnerReference::new()
        .with_api_version(K::API_VERSION)
        .with_kind(K::KIND)
        .with_name(metadata.name())
        .with_uid(metadata.uid())
        .with_controller(true)
        .with_block_owner_deletion(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::apps::v1::{ReplicaSet, ReplicaSetView};
    use serde_json::{Value, json};

    #[test]
    fn one_owner_controls_by_its_uid() {
        let owner = json!({"metadata": {"name": "web", "uid": "u"}});
        let reference: Value = controller_reference::<ReplicaSet>(ReplicaSetView::from(&owner)).into();
        let expected = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u",
            "controller": true, "blockOwnerDeletion": true});
        assert_eq!(reference, expected);
        let other = json!({"apiVersion": "v1", "kind": "X", "name": "x", "uid": "v"});
        let check = |references: Value, uid: &str, expected: bool| {
            let (object, owner) = (json!({"ownerReferences": references}), json!({"uid": uid}));
            let (object, owner) = (ObjectMetaView::from(&object), ObjectMetaView::from(&owner));
            assert_eq!(is_controlled_by(object, owner), expected, "{references} by {uid}");
        };
        check(json!([other, reference]), "u", true);
        check(json!([other, reference]), "v", false);
        check(json!([other]), "v", false);
        check(Value::Null, "", false);
    }
}
