//! Who controls an object: adoption of orphans and release of what no longer matches.
//! Called by the controllers that own others (deployment, replica set) before they count.
//!
//! The rules are upstream's (pkg/controller/controller_ref_manager.go): the controller
//! reference decides, the selector only says what may be adopted or must be let go.

use crate::error::{During, Result, is_invalid};
use crate::runner::Context;
use ferry_client::{Object, Patch};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use serde_json::json;
use std::sync::Arc;

/// What a controller does with one object it looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    Keep,
    Adopt,
    Release,
    Ignore,
}

pub fn controller_of(meta: &ObjectMeta) -> Option<&OwnerReference> {
    meta.owner_references.iter().flatten().find(|owner| owner.controller == Some(true))
}

pub fn is_controlled_by(meta: &ObjectMeta, owner: &ObjectMeta) -> bool {
    controller_of(meta).is_some_and(|controller| Some(&controller.uid) == owner.uid.as_ref())
}

/// The reference that makes `owner` the controller, as `metav1.NewControllerRef`.
pub fn controller_reference<K: Object>(owner: &K) -> OwnerReference {
    let meta = owner.metadata();
    OwnerReference {
        api_version: K::API_VERSION.to_owned(),
        kind: K::KIND.to_owned(),
        name: meta.name.clone().unwrap_or_default(),
        uid: meta.uid.clone().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

/// `matches` is whether the controller's selector matches the object.
pub fn plan_claim(controller: &ObjectMeta, object: &ObjectMeta, matches: bool) -> Claim {
    let leaving = controller.deletion_timestamp.is_some();
    match controller_of(object) {
        Some(owner) if Some(&owner.uid) != controller.uid.as_ref() => Claim::Ignore,
        Some(_) if matches => Claim::Keep,
        // A controller that is being deleted leaves the cleaning to garbage collection.
        Some(_) if leaving => Claim::Ignore,
        Some(_) => Claim::Release,
        None if leaving || !matches || object.deletion_timestamp.is_some() => Claim::Ignore,
        None => Claim::Adopt,
    }
}

/// Carries out the claims over `objects` and returns those that are ours now.
pub async fn claim<O: Object, K: Object>(
    ctx: &Context,
    owner: &O,
    objects: Vec<Arc<K>>,
    matches: impl Fn(&K) -> bool,
) -> Result<Vec<Arc<K>>> {
    let owner_meta = owner.metadata();
    let namespace = owner_meta.namespace.as_deref().unwrap_or_default();
    let owner_name = owner_meta.name.as_deref().unwrap_or_default();
    let mut may_adopt = None;
    let mut claimed = Vec::with_capacity(objects.len());
    for object in objects {
        let meta = object.metadata();
        let name = meta.name.as_deref().unwrap_or_default();
        match plan_claim(owner_meta, meta, matches(&object)) {
            Claim::Keep => claimed.push(object),
            Claim::Ignore => {}
            Claim::Release => {
                let patch = json!({"metadata": {
                    "uid": meta.uid,
                    "ownerReferences": [{"$patch": "delete", "uid": owner_meta.uid}],
                }});
                match ctx.client.patch::<K>(namespace, name, &Patch::Strategic(patch)).await {
                    Err(error) if error.is_not_found() || is_invalid(&error) => {}
                    other => drop(other.during("release", name)?),
                }
            }
            Claim::Adopt => {
                // The cache may lag behind a deletion of the owner, so it is asked for
                // anew once before the first adoption (kubernetes/kubernetes#42639).
                let may = match may_adopt {
                    Some(may) => may,
                    None => *may_adopt.insert(is_still_wanted::<O>(ctx, owner_meta).await?),
                };
                if !may {
                    tracing::debug!(owner = owner_name, object = name, "not adopting for an owner that is going away");
                    continue;
                }
                let patch = json!({"metadata": {
                    "uid": meta.uid,
                    "ownerReferences": [controller_reference(owner)],
                }});
                match ctx.client.patch::<K>(namespace, name, &Patch::Strategic(patch)).await {
                    Err(error) if error.is_not_found() => {}
                    other => {
                        other.during("adopt", name)?;
                        claimed.push(object);
                    }
                }
            }
        }
    }
    Ok(claimed)
}

async fn is_still_wanted<O: Object>(ctx: &Context, owner: &ObjectMeta) -> Result<bool> {
    let name = owner.name.as_deref().unwrap_or_default();
    match ctx.client.get::<O>(owner.namespace.as_deref().unwrap_or_default(), name).await {
        Ok(live) => Ok(live.metadata().uid == owner.uid && live.metadata().deletion_timestamp.is_none()),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error).during("recheck the owner", name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(value: serde_json::Value) -> ObjectMeta {
        serde_json::from_value(value).expect("metadata")
    }

    #[test]
    fn the_controller_reference_decides_and_the_selector_adopts_or_releases() {
        let owner = meta(json!({"uid": "u"}));
        let leaving = meta(json!({"uid": "u", "deletionTimestamp": "2024-01-01T00:00:00Z"}));
        let owned_by = |uid: &str| {
            meta(
                json!({"ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "x", "uid": uid, "controller": true}]}),
            )
        };
        let orphan = meta(json!({}));
        let dying = meta(json!({"deletionTimestamp": "2024-01-01T00:00:00Z"}));
        let check = |owner: &ObjectMeta, object: &ObjectMeta, matches: bool, expected: Claim| {
            assert_eq!(plan_claim(owner, object, matches), expected);
        };
        check(&owner, &owned_by("u"), true, Claim::Keep);
        check(&owner, &owned_by("u"), false, Claim::Release);
        check(&owner, &owned_by("other"), true, Claim::Ignore);
        check(&owner, &orphan, true, Claim::Adopt);
        check(&owner, &orphan, false, Claim::Ignore);
        check(&owner, &dying, true, Claim::Ignore);
        check(&leaving, &owned_by("u"), true, Claim::Keep);
        check(&leaving, &owned_by("u"), false, Claim::Ignore);
        check(&leaving, &orphan, true, Claim::Ignore);
    }
}
