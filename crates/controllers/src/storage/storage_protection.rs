//! Lets claims, volumes and attribute classes go when nobody uses them any more. Admission
//! gives each a finalizer; the three controllers here take it away from what is being
//! deleted, and give it to what came before there was one.
//!
//! The reference is upstream's pkg/controller/volume/{pvc,pv,vac}protection.

use super::pods_by_claim::{by_claim, claims_of, using_claim};
use crate::error::{During, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_api::rules::owner::is_controlled_by;
use ferry_api::rules::pod::is_terminal;
use ferry_api::view::Kind;
use ferry_api::view::core::v1::{PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimView, Pod, PodView};
use ferry_api::view::meta::v1::ObjectMetaView;
use ferry_api::view::storage::v1::VolumeAttributesClass;
use ferry_client::{Event, Informers, ListParams, SharedObject};

const CLAIM_FINALIZER: &str = "kubernetes.io/pvc-protection";
const VOLUME_FINALIZER: &str = "kubernetes.io/pv-protection";
const CLASS_FINALIZER: &str = "kubernetes.io/vac-protection";

/// The index of claims and volumes by the attributes classes that they name.
const BY_CLASS: &str = "attributes-class";

/// A claim stays while a pod that is on a node has it.
pub(crate) struct ClaimProtectionController;

/// A volume stays while it is bound.
pub(crate) struct VolumeProtectionController;

/// An attributes class stays while a claim or a volume names it.
pub(crate) struct AttributesClassProtectionController;

#[async_trait]
impl Controller for ClaimProtectionController {
    fn name(&self) -> &'static str {
        "persistentvolumeclaim-protection-controller"
    }

    fn identity(&self) -> &'static str {
        "pvc-protection-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![
            Watch::itself(informers.of::<PersistentVolumeClaim>()),
            // A pod that ends, or is replaced by another of its name, frees its claims.
            Watch::new(by_claim(informers.of::<Pod>()), |event, enqueue| {
                let (old, new) = event.versions();
                let over = new.is_none_or(|pod| is_shut_down(pod.meta()) || is_terminal(pod.view()));
                let Some(pod) = old.or(new).filter(|_| over) else { return };
                claims_of(pod.view()).into_iter().for_each(|key| enqueue.add(key));
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let informers = &ctx.informers;
        let claims = informers.of::<PersistentVolumeClaim>();
        let Some(claim) = claims.get(&key.namespace, &key.name) else { return Ok(Action::Done) };
        let Some(finalizers) = plan_finalizers(claim.meta(), CLAIM_FINALIZER) else { return Ok(Action::Done) };
        if claim.is_deleting() {
            let uses = |pod: &SharedObject<Pod>| uses_claim(pod.view(), claim.view());
            if using_claim(&informers.of::<Pod>(), key).iter().any(uses) {
                return Ok(Action::Done);
            }
            // Our copy may not show the newest pod yet, and a claim must not go from under it.
            let live = ctx.client.api::<Pod>(&key.namespace).list(&ListParams::default()).await;
            if live.during("list the pods beside claim", key)?.items.iter().any(uses) {
                return Ok(Action::Done);
            }
        }
        write(ctx, key, &claim, finalizers).await
    }
}

#[async_trait]
impl Controller for VolumeProtectionController {
    fn name(&self) -> &'static str {
        "persistentvolume-protection-controller"
    }

    fn identity(&self) -> &'static str {
        "pv-protection-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![Watch::itself(informers.of::<PersistentVolume>())]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let volumes = ctx.informers.of::<PersistentVolume>();
        let Some(volume) = volumes.get("", &key.name) else { return Ok(Action::Done) };
        let Some(finalizers) = plan_finalizers(volume.meta(), VOLUME_FINALIZER) else { return Ok(Action::Done) };
        if volume.is_deleting() && volume.view().status().phase() == "Bound" {
            return Ok(Action::Done);
        }
        write(ctx, key, &volume, finalizers).await
    }
}

#[async_trait]
impl Controller for AttributesClassProtectionController {
    fn name(&self) -> &'static str {
        "volumeattributesclass-protection-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let claims = informers.of::<PersistentVolumeClaim>().indexed(BY_CLASS, classes_of_claim);
        let volumes = informers.of::<PersistentVolume>().indexed(BY_CLASS, classes_of_volume);
        vec![
            Watch::itself(informers.of::<VolumeAttributesClass>()),
            Watch::new(claims, |event, enqueue| {
                freed(event, classes_of_claim).into_iter().for_each(|name| enqueue.add(Key::new("", name)));
            }),
            Watch::new(volumes, |event, enqueue| {
                freed(event, classes_of_volume).into_iter().for_each(|name| enqueue.add(Key::new("", name)));
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let informers = &ctx.informers;
        let classes = informers.of::<VolumeAttributesClass>();
        let Some(class) = classes.get("", &key.name) else { return Ok(Action::Done) };
        let Some(finalizers) = plan_finalizers(class.meta(), CLASS_FINALIZER) else { return Ok(Action::Done) };
        let is_used = informers.of::<PersistentVolumeClaim>().count_by_index(BY_CLASS, &key.name) > 0
            || informers.of::<PersistentVolume>().count_by_index(BY_CLASS, &key.name) > 0;
        if class.is_deleting() && is_used {
            return Ok(Action::Done);
        }
        write(ctx, key, &class, finalizers).await
    }
}

/// The finalizers as they are to be: without ours when the object is being deleted, with it
/// when not. `None` where they already are.
fn plan_finalizers(meta: ObjectMetaView<'_>, finalizer: &str) -> Option<Vec<String>> {
    let mut finalizers = meta.finalizers().to_vec();
    match (meta.deletion_timestamp().is_some(), meta.finalizers().contains(finalizer)) {
        (true, true) => finalizers.retain(|has| has != finalizer),
        (false, false) => finalizers.push(finalizer.to_owned()),
        _ => return None,
    }
    Some(finalizers)
}

async fn write<K: Kind>(ctx: &Context, key: &Key, object: &SharedObject<K>, finalizers: Vec<String>) -> Result<Action> {
    let mut changed = object.to_owned();
    let metadata = object.meta().to_owned().with_finalizers(finalizers);
    ferry_api::object::ensure_object(changed.value_mut()).insert("metadata".to_owned(), metadata.into());
    match ctx.client.api::<K>(&key.namespace).replace(&changed).await {
        // Somebody else changed it; that change comes as an event and wakes us again.
        Err(error) if error.is_not_found() || error.is_conflict() => Ok(Action::Done),
        other => other.during("change the finalizers of", key).map(|_| Action::Done),
    }
}

/// Whether a pod holds the claim. One that is on no node holds nothing: no kubelet starts
/// a pod whose claim is being deleted.
fn uses_claim(pod: PodView<'_>, claim: PersistentVolumeClaimView<'_>) -> bool {
    let spec = pod.spec();
    if spec.node_name().is_empty() {
        return false;
    }
    let (name, owner) = (claim.metadata().name(), pod.metadata().name());
    spec.volumes().iter().any(|volume| {
        let named = volume.persistent_volume_claim().is_some_and(|claim| claim.claim_name() == name);
        // What waits for nothing but its finalizers has let go of its own claims; to wait
        // for it could be to wait for each other.
        let made = || {
            volume.ephemeral().is_some()
                && !is_shut_down(pod.metadata())
                && format!("{owner}-{}", volume.name()) == name
                && is_controlled_by(claim.metadata(), pod.metadata())
        };
        named || made()
    })
}

fn is_shut_down(meta: ObjectMetaView<'_>) -> bool {
    meta.deletion_timestamp().is_some() && meta.deletion_grace_period_seconds() == Some(0)
}

fn classes_of_claim(claim: &SharedObject<PersistentVolumeClaim>) -> Vec<String> {
    let (spec, status) = (claim.view().spec(), claim.view().status());
    let target = status.modify_volume_status().map(|modify| modify.target_volume_attributes_class_name());
    let named = [spec.volume_attributes_class_name(), status.current_volume_attributes_class_name(), target];
    named.into_iter().flatten().filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn classes_of_volume(volume: &SharedObject<PersistentVolume>) -> Vec<String> {
    volume.view().spec().volume_attributes_class_name().into_iter().map(str::to_owned).collect()
}

/// The classes that an object named before an event and names no longer.
fn freed<K>(event: &Event<K>, classes: fn(&SharedObject<K>) -> Vec<String>) -> Vec<String> {
    let (old, new) = event.versions();
    let now = new.map(classes).unwrap_or_default();
    let before = old.map(classes).unwrap_or_default();
    before.into_iter().filter(|name| !now.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn pod(node: &str, volume: Value, metadata: Value) -> SharedObject<Pod> {
        let mut pod = json!({"metadata": metadata, "spec": {"nodeName": node, "containers": [], "volumes": [volume]}});
        pod["metadata"]["name"] = "p".into();
        pod["metadata"]["uid"] = "u".into();
        SharedObject::of(pod)
    }

    fn claim(name: &str, owner: &str) -> SharedObject<PersistentVolumeClaim> {
        SharedObject::of(json!({"metadata": {"name": name, "ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": owner, "controller": true}]}}))
    }

    fn uses_claim(pod: SharedObject<Pod>, claim: SharedObject<PersistentVolumeClaim>) -> bool {
        super::uses_claim(pod.view(), claim.view())
    }

    #[test]
    fn a_pod_on_a_node_holds_its_claims() {
        let named = || json!({"name": "v", "persistentVolumeClaim": {"claimName": "c"}});
        assert!(uses_claim(pod("n", named(), json!({})), claim("c", "x")));
        assert!(!uses_claim(pod("", named(), json!({})), claim("c", "x")));
        assert!(!uses_claim(pod("n", named(), json!({})), claim("d", "x")));
        let made = || json!({"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}});
        assert!(uses_claim(pod("n", made(), json!({})), claim("p-v", "u")));
        assert!(!uses_claim(pod("n", made(), json!({})), claim("p-v", "another")));
        let over = json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0});
        assert!(!uses_claim(pod("n", made(), over.clone()), claim("p-v", "u")));
        assert!(uses_claim(pod("n", named(), over), claim("c", "x")));
    }

    #[test]
    fn finalizers_come_and_go() {
        let plan = |meta: Value| plan_finalizers((&meta).into(), CLAIM_FINALIZER);
        assert_eq!(plan(json!({})), Some(vec![CLAIM_FINALIZER.to_owned()]));
        assert_eq!(plan(json!({"finalizers": [CLAIM_FINALIZER]})), None);
        let deleted = "2026-01-01T00:00:00Z";
        assert_eq!(
            plan(json!({"deletionTimestamp": deleted, "finalizers": ["mine", CLAIM_FINALIZER]})),
            Some(vec!["mine".to_owned()])
        );
        assert_eq!(plan(json!({"deletionTimestamp": deleted, "finalizers": ["mine"]})), None);
    }
}
