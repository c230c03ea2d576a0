//! Makes the ResourceClaims that pods ask for by a template, reports them in the status of the
//! pod, and reserves claims for pods that got a node without the scheduler.
//!
//! Upstream: syncPod of pkg/controller/resourceclaim.

use super::claim_name::{ClaimName, check_owner, indexed, pods_with_claim, pods_with_template};
use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use crate::workload::expectations::{Expectations, Seen};
use async_trait::async_trait;
use ferry_api::rules::owner::controller_reference;
use ferry_api::view::core::v1::{Pod, PodView};
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_api::view::resource::v1::{
    ResourceClaim, ResourceClaimConsumerReference, ResourceClaimTemplate, ResourceClaimTemplateView, ResourceClaimView,
};
use ferry_client::{Event, Informers, Patch, SharedObject};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The entry of the pod that a claim was made for.
const CLAIM_OF_POD: &str = "resource.kubernetes.io/pod-claim-name";

/// A claim serves at most this many consumers.
const MAX_CONSUMERS: usize = 256;

/// A generated name of 63 characters has room for this many before the hyphen and the random part.
const MAX_BASE: usize = 57;

/// How long an unmet expectation may block a pod that nothing else wakes.
const RECHECK: Duration = Duration::from_secs(5 * 60 + 1);

#[derive(Default)]
pub(crate) struct PodClaimsController {
    expectations: Arc<Expectations>,
}

#[async_trait]
impl Controller for PodClaimsController {
    fn name(&self) -> &'static str {
        "resource_claim"
    }

    fn identity(&self) -> &'static str {
        "resource-claim-controller"
    }

    /// Upstream's ConcurrentSyncs of the ResourceClaim controller.
    fn workers(&self) -> usize {
        50
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let pods = indexed(informers.of::<Pod>());
        let (for_claims, for_templates, expectations) = (pods.clone(), pods.clone(), self.expectations.clone());
        vec![
            Watch::new(pods, |event, enqueue| {
                let pod = event.object();
                if !pod.view().spec().resource_claims().is_empty() {
                    enqueue.add_object(pod.meta());
                }
            }),
            Watch::new(informers.of::<ResourceClaim>(), move |event, enqueue| {
                let claim = event.object();
                for pod in pods_with_claim(&for_claims, &Key::of(claim.meta())) {
                    enqueue.add_object(pod.meta());
                }
                // A claim that its pod does not know yet, or no longer.
                if let Some(owner) = claim.meta().owner_references().iter().find(|owner| owner.kind() == "Pod") {
                    let key = Key::new(claim.namespace(), owner.name());
                    if matches!(event, Event::Deleted(_)) {
                        expectations.observe_gone(&key, claim.uid());
                    }
                    enqueue.add(key);
                }
            }),
            Watch::new(informers.of::<ResourceClaimTemplate>(), move |event, enqueue| {
                for pod in pods_with_template(&for_templates, &Key::of(event.object().meta())) {
                    enqueue.add_object(pod.meta());
                }
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(pod) = ctx.informers.of::<Pod>().get(&key.namespace, &key.name) else {
            self.expectations.forget(key);
            return Ok(Action::Done);
        };
        if pod.is_deleting() || pod.view().spec().resource_claims().is_empty() {
            return Ok(Action::Done);
        }
        let claims = ctx.informers.of::<ResourceClaim>();
        let is_seen = |name: &str, uid: &str| match claims.get(&key.namespace, name) {
            Some(claim) if claim.uid() == uid => Seen::Alive,
            _ => Seen::Absent,
        };
        if !self.expectations.are_met(key, is_seen) {
            return Ok(Action::RequeueAfter(RECHECK));
        }
        self.expectations.open(key);
        let made = self.make_claims(ctx, key, &pod).await;
        self.expectations.close(key);
        made?;
        if !pod.view().spec().node_name().is_empty() {
            reserve_claims(ctx, &pod).await?;
        }
        Ok(Action::Done)
    }
}

impl PodClaimsController {
    async fn make_claims(&self, ctx: &Context, key: &Key, pod: &SharedObject<Pod>) -> Result<()> {
        let mut new = Vec::new();
        for entry in pod.view().spec().resource_claims().iter() {
            match self.make_claim(ctx, key, pod, entry.name()).await {
                Ok(None) => {}
                Ok(Some(claim)) => new.push(json!({"name": entry.name(), "resourceClaimName": claim})),
                Err(error) => {
                    let message = format!("PodResourceClaim {}: {}", entry.name(), error.cause());
                    ctx.recorder.warning(pod, "FailedResourceClaimCreation", message);
                    return Err(error);
                }
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let patch = json!({"metadata": {"uid": pod.uid()}, "status": {"resourceClaimStatuses": Value::Array(new)}});
        match ctx.client.api::<Pod>(&key.namespace).patch_status(&key.name, &Patch::Strategic(patch)).await {
            Err(error) if error.is_not_found() => Ok(()),
            other => other.during("report the claims of pod", key).map(drop),
        }
    }

    /// The name of the claim that the status of the pod is to show for an entry, where it does
    /// not show it yet.
    async fn make_claim(
        &self,
        ctx: &Context,
        key: &Key,
        pod: &SharedObject<Pod>,
        entry: &str,
    ) -> Result<Option<String>> {
        let view = pod.view();
        let claims = ctx.informers.of::<ResourceClaim>();
        let Some(wanted) = view.spec().resource_claims().iter().find(|claim| claim.name() == entry) else {
            return Ok(None);
        };
        // A generated claim that somebody deleted is made again.
        let is_there = match ClaimName::of(view, wanted) {
            ClaimName::Named(_) | ClaimName::NotNeeded => true,
            ClaimName::Generated(name) => {
                let there = claims.get(&key.namespace, name);
                there.is_some_and(|claim| check_owner(claim.meta(), pod.meta()).is_ok())
            }
            ClaimName::NotMadeYet => false,
        };
        let Some(template_name) = wanted.resource_claim_template_name().filter(|_| !is_there) else { return Ok(None) };
        // An earlier reconcile may have made the claim and not reported it.
        let is_for_entry = |claim: &SharedObject<ResourceClaim>| {
            check_owner(claim.meta(), pod.meta()).is_ok() && claim.meta().annotations().get(CLAIM_OF_POD) == Some(entry)
        };
        if let Some(claim) = claims.owned_by(pod.uid()).into_iter().find(is_for_entry) {
            return Ok(Some(claim.name().to_owned()));
        }
        let Some(template) = ctx.informers.of::<ResourceClaimTemplate>().get(&key.namespace, template_name) else {
            return Err(Error::Retry(format!(
                "resource claim template {template_name:?}: resourceclaimtemplate.resource.k8s.io {template_name:?} not found"
            )));
        };
        let claim = render_claim(view, entry, template.view());
        let made = ctx.client.api::<ResourceClaim>(&key.namespace).create(&claim).await;
        let made = made.during("create ResourceClaim for", entry)?;
        self.expectations.created(key, made.uid(), made.name());
        Ok(Some(made.name().to_owned()))
    }
}

/// A pod that a user gave a node was never seen by the scheduler, which reserves claims else.
async fn reserve_claims(ctx: &Context, pod: &SharedObject<Pod>) -> Result<()> {
    let claims = ctx.informers.of::<ResourceClaim>();
    for entry in pod.view().spec().resource_claims().iter() {
        let name = ClaimName::of(pod.view(), entry);
        let Some(claim) = name.known().and_then(|name| claims.get(pod.namespace(), name)) else { continue };
        if matches!(name, ClaimName::Generated(_)) {
            check_owner(claim.meta(), pod.meta()).map_err(Error::Retry)?;
        }
        if !must_reserve(claim.view(), pod.uid()) {
            continue;
        }
        let mut reserved = claim.to_owned();
        let consumer =
            ResourceClaimConsumerReference::new().with_resource("pods").with_name(pod.name()).with_uid(pod.uid());
        reserved.edit_status(|status| status.push_reserved_for(consumer));
        let api = ctx.client.api::<ResourceClaim>(claim.namespace());
        api.replace_status(&reserved).await.during("reserve the claim", claim.name())?;
    }
    Ok(())
}

fn must_reserve(claim: ResourceClaimView<'_>, pod_uid: &str) -> bool {
    let status = claim.status();
    let consumers = status.reserved_for();
    status.allocation().is_some()
        && consumers.len() < MAX_CONSUMERS
        && !consumers.iter().any(|consumer| consumer.uid() == pod_uid)
}

fn render_claim(pod: PodView<'_>, entry: &str, template: ResourceClaimTemplateView<'_>) -> ResourceClaim {
    let template = template.spec();
    let owner = controller_reference::<Pod>(pod).with_block_owner_deletion(None::<bool>);
    let mut metadata = ObjectMeta::new()
        .with_generate_name(name_prefix(pod.metadata().name(), entry))
        .with_namespace(pod.metadata().namespace())
        .with_labels(template.metadata().labels().iter())
        .with_annotations(template.metadata().annotations().iter())
        .with_owner_references([owner]);
    metadata.insert_annotations(CLAIM_OF_POD, entry);
    ResourceClaim::new().with_metadata(metadata).with_spec(template.spec().to_owned())
}

/// The names of the pod and of its entry, both cut in proportion where they are too long.
fn name_prefix(pod: &str, entry: &str) -> String {
    let whole = format!("{pod}-{entry}-");
    if whole.len() <= MAX_BASE {
        return whole;
    }
    // Names are ASCII, so any cut is at a character.
    let cut = |name: &str| name.get(..name.len() * MAX_BASE / whole.len()).unwrap_or(name).to_owned();
    format!("{}-{}", cut(pod), cut(entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;

    #[test]
    fn a_claim_is_the_template_with_its_pod_as_owner() {
        let pod = json!({"metadata": {"name": "web", "namespace": "ns", "uid": "u"}});
        let template = json!({"spec": {"metadata": {"labels": {"l": "1"}, "annotations": {"a": "2"}},
            "spec": {"devices": {"requests": [{"name": "gpu"}]}}}});
        let claim = render_claim((&pod).into(), "gpu", (&template).into());
        let expected = json!({
            "metadata": {"generateName": "web-gpu-", "namespace": "ns", "labels": {"l": "1"},
                "annotations": {"a": "2", CLAIM_OF_POD: "gpu"},
                "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": "u", "controller": true}]},
            "spec": {"devices": {"requests": [{"name": "gpu"}]}}});
        assert_eq!((&claim.value()["metadata"], &claim.value()["spec"]), (&expected["metadata"], &expected["spec"]));
    }

    #[test]
    fn long_names_are_cut_in_proportion() {
        let check = |pod: usize, entry: usize, expected: (usize, usize)| {
            let prefix = name_prefix(&"p".repeat(pod), &"e".repeat(entry));
            let count = |letter: char| prefix.chars().filter(|character| *character == letter).count();
            assert_eq!((count('p'), count('e')), expected, "{prefix}");
            assert!(prefix.len() <= MAX_BASE, "{prefix}");
        };
        check(30, 25, (30, 25));
        check(60, 38, (34, 21));
        check(253, 63, (45, 11));
    }

    #[test]
    fn an_allocated_claim_is_reserved_once_and_for_so_many() {
        let check = |status: Value, expected: bool| {
            let claim = json!({"status": status});
            assert_eq!(must_reserve((&claim).into(), "u"), expected, "{claim}");
        };
        let consumers = |count: usize| -> Vec<Value> {
            (0..count).map(|number| json!({"resource": "pods", "uid": number.to_string()})).collect()
        };
        check(json!({}), false);
        check(json!({"allocation": {}}), true);
        check(json!({"allocation": {}, "reservedFor": [{"uid": "u"}]}), false);
        check(json!({"allocation": {}, "reservedFor": consumers(255)}), true);
        check(json!({"allocation": {}, "reservedFor": consumers(256)}), false);
    }
}
