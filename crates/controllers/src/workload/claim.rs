//! Who controls an object: adoption of orphans and release of what no longer matches.
//! Called by the controllers that own others (deployment, replica set, daemon set) before
//! they count.
//!
//! The rules are upstream's (pkg/controller/controller_ref_manager.go): the controller
//! reference decides, the selector only says what may be adopted or must be let go.

use crate::error::{During, Result, is_invalid};
use crate::label_index::{Selecting, pair, unpaired};
use crate::runner::Context;
use ferry_api::rules::owner::{controller_of, controller_reference, is_controlled_by};
use ferry_api::view::Kind;
use ferry_api::view::meta::v1::ObjectMetaView;
use ferry_client::{Informer, Patch, SharedObject};
use serde_json::{Value, json};

/// What a controller does with one object it looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    Keep,
    Adopt,
    Release,
    Ignore,
}

/// The index of the objects that nobody controls.
const ORPHANS: &str = "orphan";

/// Indexes the objects without a controller by their labels, so that an owner looks for
/// orphans without going over its namespace.
pub(crate) fn with_orphans<K: Kind>(informer: Informer<K>) -> Informer<K> {
    informer.indexed(ORPHANS, |object| {
        let meta = object.meta();
        if controller_of(meta).is_some() {
            return Vec::new();
        }
        let pairs = meta.labels().iter().map(|(name, value)| pair(meta.namespace(), name, value));
        pairs.chain([unpaired(meta.namespace())]).collect()
    })
}

/// The objects that the owner controls, and the orphans that its selector may match: all that
/// [`claim`] has to judge.
pub(crate) fn candidates<O: Selecting, K: Kind>(
    informer: &Informer<K>,
    owner: &SharedObject<O>,
) -> Vec<SharedObject<K>> {
    let mut candidates = informer.owned_by(owner.uid());
    candidates.retain(|object| is_controlled_by(object.meta(), owner.meta()));
    candidates.extend(orphans(informer, owner));
    candidates
}

/// The orphans that the owner's selector may match.
fn orphans<O: Selecting, K: Kind>(informer: &Informer<K>, owner: &SharedObject<O>) -> Vec<SharedObject<K>> {
    let namespace = owner.namespace();
    let pairs = O::match_labels(owner).iter().map(|(name, value)| pair(namespace, name, value));
    let rarest = pairs.min_by_key(|pair| informer.count_by_index(ORPHANS, pair));
    informer.by_index(ORPHANS, &rarest.unwrap_or_else(|| unpaired(namespace)))
}

/// `matches` is whether the controller's selector matches the object.
pub(crate) fn plan_claim(controller: ObjectMetaView<'_>, object: ObjectMetaView<'_>, matches: bool) -> Claim {
    let leaving = controller.deletion_timestamp().is_some();
    match controller_of(object) {
        Some(owner) if owner.uid() != controller.uid() => Claim::Ignore,
        Some(_) if matches => Claim::Keep,
        // A controller that is being deleted leaves the cleaning to garbage collection.
        Some(_) if leaving => Claim::Ignore,
        Some(_) => Claim::Release,
        None if leaving || !matches || object.deletion_timestamp().is_some() => Claim::Ignore,
        None => Claim::Adopt,
    }
}

/// Carries out the claims over `objects` and returns those that are ours now.
pub(crate) async fn claim<O: Kind, K: Kind>(
    ctx: &Context,
    owner: &SharedObject<O>,
    objects: Vec<SharedObject<K>>,
    matches: impl Fn(&SharedObject<K>) -> bool,
) -> Result<Vec<SharedObject<K>>> {
    claim_with(ctx, owner, objects, None, matches).await
}

/// [`claim`] for an owner whose objects carry a finalizer: it comes with adoption and goes with
/// release.
pub(crate) async fn claim_tracked<O: Kind, K: Kind>(
    ctx: &Context,
    owner: &SharedObject<O>,
    objects: Vec<SharedObject<K>>,
    finalizer: &str,
    matches: impl Fn(&SharedObject<K>) -> bool,
) -> Result<Vec<SharedObject<K>>> {
    claim_with(ctx, owner, objects, Some(finalizer), matches).await
}

async fn claim_with<O: Kind, K: Kind>(
    ctx: &Context,
    owner: &SharedObject<O>,
    objects: Vec<SharedObject<K>>,
    finalizer: Option<&str>,
    matches: impl Fn(&SharedObject<K>) -> bool,
) -> Result<Vec<SharedObject<K>>> {
    let api = ctx.client.api::<K>(owner.namespace());
    let mut may_adopt = None;
    let mut claimed = Vec::with_capacity(objects.len());
    for object in objects {
        match plan_claim(owner.meta(), object.meta(), matches(&object)) {
            Claim::Keep => claimed.push(object),
            Claim::Ignore => {}
            Claim::Release => {
                let mut patch = json!({"metadata": {
                    "uid": object.uid(),
                    "ownerReferences": [{"$patch": "delete", "uid": owner.uid()}],
                }});
                if let Some(finalizer) = finalizer {
                    patch["metadata"]["$deleteFromPrimitiveList/finalizers"] = json!([finalizer]);
                }
                match api.patch(object.name(), &Patch::Strategic(patch)).await {
                    Err(error) if error.is_not_found() || is_invalid(&error) => {}
                    other => drop(other.during("release", object.name())?),
                }
            }
            Claim::Adopt => {
                // The cache may lag behind a deletion of the owner, so it is asked for
                // anew once before the first adoption (kubernetes/kubernetes#42639).
                let may = match may_adopt {
                    Some(may) => may,
                    None => *may_adopt.insert(is_still_wanted(ctx, owner).await?),
                };
                if !may {
                    let (owner, object) = (owner.name(), object.name());
                    tracing::debug!(owner, object, "not adopting for an owner that is going away");
                    continue;
                }
                let reference: Value = controller_reference::<O>(owner.view()).into();
                let mut patch = json!({"metadata": {"uid": object.uid(), "ownerReferences": [reference]}});
                if let Some(finalizer) = finalizer {
                    patch["metadata"]["finalizers"] = json!([finalizer]);
                }
                match api.patch(object.name(), &Patch::Strategic(patch)).await {
                    Err(error) if error.is_not_found() => {}
                    other => claimed.push(other.during("adopt", object.name())?),
                }
            }
        }
    }
    Ok(claimed)
}

async fn is_still_wanted<O: Kind>(ctx: &Context, owner: &SharedObject<O>) -> Result<bool> {
    match ctx.client.api::<O>(owner.namespace()).get(owner.name()).await {
        Ok(live) => Ok(live.uid() == owner.uid() && !live.is_deleting()),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error).during("recheck the owner", owner.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::apps::v1::ReplicaSet;
    use ferry_api::view::core::v1::Pod;

    #[test]
    fn the_controller_reference_decides_and_the_selector_adopts_or_releases() {
        let owner = json!({"uid": "u"});
        let leaving = json!({"uid": "u", "deletionTimestamp": "2024-01-01T00:00:00Z"});
        let owned_by = |uid: &str| json!({"ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "x", "uid": uid, "controller": true}]});
        let orphan = json!({});
        let dying = json!({"deletionTimestamp": "2024-01-01T00:00:00Z"});
        let check = |owner: &Value, object: &Value, matches: bool, expected: Claim| {
            assert_eq!(plan_claim(owner.into(), object.into(), matches), expected);
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

    #[test]
    fn candidates_are_the_owners_own_and_orphans_with_its_labels() {
        let pod = |name: &str, app: &str, owner: Option<&str>| {
            let owners: Vec<_> = owner.into_iter().map(|uid| json!({"uid": uid, "controller": true})).collect();
            SharedObject::<Pod>::of(json!({"metadata": {"namespace": "ns", "name": name, "labels": {"app": app},
                "ownerReferences": owners}}))
        };
        let pods = with_orphans(Informer::fixed([
            pod("own", "web", Some("u")),
            pod("strayed", "db", Some("u")),
            pod("another's", "web", Some("x")),
            pod("orphan", "web", None),
            pod("unrelated", "db", None),
        ]));
        let set = |selector: Value| {
            SharedObject::<ReplicaSet>::of(
                json!({"metadata": {"namespace": "ns", "name": "s", "uid": "u"}, "spec": {"selector": selector}}),
            )
        };
        let names = |selector: Value| -> Vec<String> {
            candidates(&pods, &set(selector)).iter().map(|pod| pod.name().to_owned()).collect()
        };
        assert_eq!(names(json!({"matchLabels": {"app": "web"}})), ["own", "strayed", "orphan"]);
        let by_expression = json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]});
        assert_eq!(names(by_expression), ["own", "strayed", "orphan", "unrelated"]);
    }
}
