//! Lets claims, volumes and attribute classes go when nobody uses them any more. Admission
//! gives each a finalizer; the three controllers here take it away from what is being
//! deleted, and give it to what came before there was one.
//!
//! The reference is upstream's pkg/controller/volume/{pvc,pv,vac}protection.

use crate::error::{During, Result};
use crate::runner::{Action, Context, Controller, Key, Watch, event_versions};
use async_trait::async_trait;
use ferry_client::{Event, Informers, ListParams, Object};
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod};
use k8s_openapi::api::storage::v1::VolumeAttributesClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

const CLAIM_FINALIZER: &str = "kubernetes.io/pvc-protection";
const VOLUME_FINALIZER: &str = "kubernetes.io/pv-protection";
const CLASS_FINALIZER: &str = "kubernetes.io/vac-protection";

/// A claim stays while a pod that is on a node has it.
pub struct ClaimProtectionController;

/// A volume stays while it is bound.
pub struct VolumeProtectionController;

/// An attributes class stays while a claim or a volume names it.
pub struct AttributesClassProtectionController;

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
            Watch::new(informers.of::<Pod>(), |event, enqueue| {
                let (old, new) = event_versions(event);
                let over = new.is_none_or(|pod| is_shut_down(&pod.metadata) || crate::pod::is_terminal(pod));
                let Some(pod) = old.or(new).filter(|_| over) else { return };
                let namespace = pod.metadata.namespace.clone().unwrap_or_default();
                claim_names(pod).into_iter().for_each(|name| enqueue.add(Key::new(namespace.clone(), name)));
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let claims = ctx.informers.of::<PersistentVolumeClaim>();
        let Some(claim) = claims.get(&key.namespace, &key.name) else { return Ok(Action::Done) };
        let Some(finalizers) = plan_finalizers(&claim.metadata, CLAIM_FINALIZER) else { return Ok(Action::Done) };
        if claim.metadata.deletion_timestamp.is_some() {
            let pods = ctx.informers.of::<Pod>().list(Some(&key.namespace));
            if pods.iter().any(|pod| uses_claim(pod, &claim)) {
                return Ok(Action::Done);
            }
            // Our copy may not show the newest pod yet, and a claim must not go from under it.
            let live = ctx.client.list::<Pod>(&key.namespace, &ListParams::default()).await;
            if live.during("list the pods beside claim", key)?.items.iter().any(|pod| uses_claim(pod, &claim)) {
                return Ok(Action::Done);
            }
        }
        let mut claim = (*claim).clone();
        claim.metadata.finalizers = Some(finalizers);
        write(ctx, key, &claim).await
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
        let Some(volume) = ctx.informers.of::<PersistentVolume>().get("", &key.name) else { return Ok(Action::Done) };
        let Some(finalizers) = plan_finalizers(&volume.metadata, VOLUME_FINALIZER) else { return Ok(Action::Done) };
        let is_bound = volume.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Bound");
        if volume.metadata.deletion_timestamp.is_some() && is_bound {
            return Ok(Action::Done);
        }
        let mut volume = (*volume).clone();
        volume.metadata.finalizers = Some(finalizers);
        write(ctx, key, &volume).await
    }
}

#[async_trait]
impl Controller for AttributesClassProtectionController {
    fn name(&self) -> &'static str {
        "volumeattributesclass-protection-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![
            Watch::itself(informers.of::<VolumeAttributesClass>()),
            Watch::new(informers.of::<PersistentVolumeClaim>(), |event, enqueue| {
                for name in freed(event, classes_of_claim) {
                    enqueue.add(Key::new("", name));
                }
            }),
            Watch::new(informers.of::<PersistentVolume>(), |event, enqueue| {
                for name in freed(event, classes_of_volume) {
                    enqueue.add(Key::new("", name));
                }
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let classes = ctx.informers.of::<VolumeAttributesClass>();
        let Some(class) = classes.get("", &key.name) else { return Ok(Action::Done) };
        let Some(finalizers) = plan_finalizers(&class.metadata, CLASS_FINALIZER) else { return Ok(Action::Done) };
        if class.metadata.deletion_timestamp.is_some() {
            let claims = ctx.informers.of::<PersistentVolumeClaim>().list(None);
            let volumes = ctx.informers.of::<PersistentVolume>().list(None);
            let is_used = claims.iter().any(|claim| classes_of_claim(claim).contains(&key.name))
                || volumes.iter().any(|volume| classes_of_volume(volume).contains(&key.name));
            if is_used {
                return Ok(Action::Done);
            }
        }
        let mut class = (*class).clone();
        class.metadata.finalizers = Some(finalizers);
        write(ctx, key, &class).await
    }
}

/// The finalizers as they are to be: without ours when the object is being deleted, with it
/// when not. `None` where they already are.
fn plan_finalizers(meta: &ObjectMeta, finalizer: &str) -> Option<Vec<String>> {
    let mut finalizers = meta.finalizers.clone().unwrap_or_default();
    let has = finalizers.iter().any(|has| has == finalizer);
    match (meta.deletion_timestamp.is_some(), has) {
        (true, true) => finalizers.retain(|has| has != finalizer),
        (false, false) => finalizers.push(finalizer.to_owned()),
        _ => return None,
    }
    Some(finalizers)
}

async fn write<K: Object>(ctx: &Context, key: &Key, object: &K) -> Result<Action> {
    match ctx.client.replace(&key.namespace, object).await {
        // Somebody else changed it; that change comes as an event and wakes us again.
        Err(error) if error.is_not_found() || error.is_conflict() => Ok(Action::Done),
        other => other.during("change the finalizers of", key).map(|_| Action::Done),
    }
}

/// The claims that a pod names or owns through its ephemeral volumes.
fn claim_names(pod: &Pod) -> Vec<String> {
    let owner = pod.metadata.name.as_deref().unwrap_or_default();
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    volumes
        .filter_map(|volume| match (&volume.persistent_volume_claim, &volume.ephemeral) {
            (Some(claim), _) => Some(claim.claim_name.clone()),
            (None, Some(_)) => Some(format!("{owner}-{}", volume.name)),
            (None, None) => None,
        })
        .collect()
}

/// Whether a pod holds the claim. One that is on no node holds nothing: no kubelet starts
/// a pod whose claim is being deleted.
fn uses_claim(pod: &Pod, claim: &PersistentVolumeClaim) -> bool {
    let Some(spec) = pod.spec.as_ref().filter(|spec| spec.node_name.as_deref().is_some_and(|name| !name.is_empty()))
    else {
        return false;
    };
    let name = claim.metadata.name.as_deref().unwrap_or_default();
    let owner = pod.metadata.name.as_deref().unwrap_or_default();
    let is_owned = || {
        let owners = claim.metadata.owner_references.iter().flatten();
        owners.into_iter().any(|owner| owner.controller == Some(true) && Some(&owner.uid) == pod.metadata.uid.as_ref())
    };
    spec.volumes.iter().flatten().any(|volume| {
        let named = volume.persistent_volume_claim.as_ref().is_some_and(|claim| claim.claim_name == name);
        // What waits for nothing but its finalizers has let go of its own claims; to wait
        // for it could be to wait for each other.
        let made = || {
            volume.ephemeral.is_some()
                && !is_shut_down(&pod.metadata)
                && format!("{owner}-{}", volume.name) == name
                && is_owned()
        };
        named || made()
    })
}

fn is_shut_down(meta: &ObjectMeta) -> bool {
    meta.deletion_timestamp.is_some() && meta.deletion_grace_period_seconds == Some(0)
}

fn classes_of_claim(claim: &PersistentVolumeClaim) -> Vec<String> {
    let asked = claim.spec.as_ref().and_then(|spec| spec.volume_attributes_class_name.clone());
    let status = claim.status.as_ref();
    let current = status.and_then(|status| status.current_volume_attributes_class_name.clone());
    let target = status
        .and_then(|status| status.modify_volume_status.as_ref())
        .and_then(|modify| modify.target_volume_attributes_class_name.clone());
    [asked, current, target].into_iter().flatten().filter(|name| !name.is_empty()).collect()
}

fn classes_of_volume(volume: &PersistentVolume) -> Vec<String> {
    volume.spec.iter().filter_map(|spec| spec.volume_attributes_class_name.clone()).collect()
}

/// The classes that an object named before an event and names no longer.
fn freed<K>(event: &Event<K>, classes: impl Fn(&K) -> Vec<String>) -> Vec<String> {
    let (old, new) = event_versions(event);
    let now = new.map(|new| classes(new)).unwrap_or_default();
    let before = old.map(|old| classes(old)).unwrap_or_default();
    before.into_iter().filter(|name| !now.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn pod(node: &str, volume: Value, metadata: Value) -> Pod {
        let mut pod = json!({"metadata": metadata, "spec": {"nodeName": node, "containers": [], "volumes": [volume]}});
        pod["metadata"]["name"] = "p".into();
        pod["metadata"]["uid"] = "u".into();
        serde_json::from_value(pod).expect("a pod")
    }

    fn claim(name: &str, owner: &str) -> PersistentVolumeClaim {
        serde_json::from_value(json!({"metadata": {"name": name, "ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": owner, "controller": true}]}}))
        .expect("a claim")
    }

    #[test]
    fn a_pod_on_a_node_holds_its_claims() {
        let named = || json!({"name": "v", "persistentVolumeClaim": {"claimName": "c"}});
        assert!(uses_claim(&pod("n", named(), json!({})), &claim("c", "x")));
        assert!(!uses_claim(&pod("", named(), json!({})), &claim("c", "x")));
        assert!(!uses_claim(&pod("n", named(), json!({})), &claim("d", "x")));
        let made = || json!({"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}});
        assert!(uses_claim(&pod("n", made(), json!({})), &claim("p-v", "u")));
        assert!(!uses_claim(&pod("n", made(), json!({})), &claim("p-v", "another")));
        let over = json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0});
        assert!(!uses_claim(&pod("n", made(), over.clone()), &claim("p-v", "u")));
        assert!(uses_claim(&pod("n", named(), over), &claim("c", "x")));
    }

    #[test]
    fn finalizers_come_and_go() {
        let plan = |meta: Value| plan_finalizers(&serde_json::from_value(meta).expect("metadata"), CLAIM_FINALIZER);
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
