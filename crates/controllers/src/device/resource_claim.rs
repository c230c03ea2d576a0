//! Takes back the reservations of pods that are done with a ResourceClaim, deallocates a claim
//! that nobody uses any more, and deletes one that was made for a pod that has ended.
//!
//! Upstream: syncClaim of pkg/controller/resourceclaim.

use super::claim_name::{claims_of, indexed, is_done};
use crate::error::{During, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_api::rules::owner::controller_of;
use ferry_api::view::Owned;
use ferry_api::view::core::v1::Pod;
use ferry_api::view::resource::v1::{AllocationResult, ResourceClaim, ResourceClaimView};
use ferry_client::{DeleteParams, Event, Informers, SharedObject};
use std::collections::HashSet;

/// Set by the scheduler on a claim that it has allocated.
const ALLOCATED_FINALIZER: &str = "resource.kubernetes.io/delete-protection";

pub(crate) struct ResourceClaimController;

#[async_trait]
impl Controller for ResourceClaimController {
    fn name(&self) -> &'static str {
        "resourceclaim-controller"
    }

    fn identity(&self) -> &'static str {
        "resource-claim-controller"
    }

    /// Upstream's ConcurrentSyncs of the ResourceClaim controller.
    fn workers(&self) -> usize {
        50
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![
            Watch::new(indexed(informers.of::<Pod>()), |event, enqueue| {
                let pod = event.object();
                if matches!(event, Event::Deleted(_)) || is_done(pod.view()) {
                    for claim in claims_of(pod.view()) {
                        enqueue.add(Key::new(pod.namespace(), claim));
                    }
                }
            }),
            Watch::itself(informers.of::<ResourceClaim>()),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(claim) = ctx.informers.of::<ResourceClaim>().get(&key.namespace, &key.name) else {
            return Ok(Action::Done);
        };
        let done = find_done(ctx, &claim).await?;
        let plan = plan_claim(claim.view(), &done);
        let api = ctx.client.api::<ResourceClaim>(&key.namespace);
        let mut present = claim.clone();
        if let Some(status) = plan.status {
            // A conflict fails: whatever changed meanwhile must be looked at first.
            let changed = present.to_owned().with_status(status);
            present = api.replace_status(&changed).await.during("release the claim", key)?;
        }
        if plan.unprotects {
            let mut unprotected = present.to_owned();
            let finalizers = present.meta().finalizers().to_vec();
            let left = finalizers.into_iter().filter(|finalizer| finalizer != ALLOCATED_FINALIZER);
            unprotected.edit_metadata(|meta| meta.set_finalizers(left));
            match api.replace(&unprotected).await {
                Err(error) if error.is_not_found() => return Ok(Action::Done),
                other => drop(other.during("remove the finalizer of the claim", key)?),
            }
        }
        if plan.is_unused && is_owner_done(ctx, &claim) {
            let params = DeleteParams { uid: Some(claim.uid().to_owned()), ..Default::default() };
            match api.delete(&key.name, &params).await {
                Err(error) if error.is_not_found() || error.is_conflict() => {}
                other => other.during("delete unused generated claim", key)?,
            }
        }
        Ok(Action::Done)
    }
}

/// The uids of consumers that no longer need the claim. The cache may not have a pod yet that
/// the scheduler has just reserved the claim for, so that the API server is asked.
async fn find_done(ctx: &Context, claim: &SharedObject<ResourceClaim>) -> Result<HashSet<String>> {
    let pods = ctx.informers.of::<Pod>();
    let mut done = HashSet::new();
    for consumer in claim.view().status().reserved_for().iter() {
        // Other kinds of consumers are not known here, and stay.
        if !consumer.api_group().is_empty() || consumer.resource() != "pods" {
            continue;
        }
        let is_over = match pods.get(claim.namespace(), consumer.name()) {
            Some(pod) => pod.uid() != consumer.uid() || is_done(pod.view()),
            None => match ctx.client.api::<Pod>(claim.namespace()).get(consumer.name()).await {
                Err(error) if error.is_not_found() => true,
                other => other.during("look for pod", consumer.name())?.uid() != consumer.uid(),
            },
        };
        if is_over {
            done.insert(consumer.uid().to_owned());
        }
    }
    Ok(done)
}

/// Whether the claim was made for a pod that has ended or was replaced. A pod that is not
/// known is left to the garbage collector.
fn is_owner_done(ctx: &Context, claim: &SharedObject<ResourceClaim>) -> bool {
    let owner = controller_of(claim.meta()).filter(|owner| (owner.api_version(), owner.kind()) == ("v1", "Pod"));
    let Some(owner) = owner else { return false };
    let pod = ctx.informers.of::<Pod>().get(claim.namespace(), owner.name());
    pod.is_some_and(|pod| pod.uid() != owner.uid() || is_done(pod.view()))
}

#[derive(Debug, Default)]
struct ClaimPlan {
    status: Option<ferry_api::view::resource::v1::ResourceClaimStatus>,
    /// The finalizer of the allocation goes.
    unprotects: bool,
    is_unused: bool,
}

fn plan_claim(claim: ResourceClaimView<'_>, done: &HashSet<String>) -> ClaimPlan {
    let status = claim.status();
    let left: Vec<_> = status.reserved_for().iter().filter(|consumer| !done.contains(consumer.uid())).collect();
    let has_lost_consumers = left.len() < status.reserved_for().len();
    let is_protected = claim.metadata().finalizers().contains(ALLOCATED_FINALIZER);
    let is_deleting = claim.metadata().deletion_timestamp().is_some();
    let is_unused = left.is_empty();
    // A claim loses its allocation with the last consumer, so that the next one may run elsewhere.
    // One that has none yet keeps it, unless it is to go.
    let deallocates = is_protected && is_unused && (has_lost_consumers || is_deleting);
    let changes = has_lost_consumers || (deallocates && status.allocation().is_some());
    let changed = changes.then(|| {
        let mut changed = status.to_owned();
        changed.set_reserved_for(left.iter().map(|consumer| consumer.to_owned()));
        if deallocates { changed.with_allocation(None::<AllocationResult>) } else { changed }
    });
    let keeps_allocation =
        changed.as_ref().map_or(status.allocation(), |changed| changed.view().allocation()).is_some();
    let unprotects = is_protected && !keeps_allocation && (has_lost_consumers || (is_deleting && is_unused));
    ClaimPlan { status: changed, unprotects, is_unused }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_claim_is_freed_by_its_last_consumer() {
        let check =
            |consumers: &[&str], done: &[&str], change: &dyn Fn(&mut Value), expected: (Option<usize>, bool, bool)| {
                let reserved: Vec<Value> =
                    consumers.iter().map(|uid| json!({"resource": "pods", "name": uid, "uid": uid})).collect();
                let mut claim = json!({"metadata": {"finalizers": [ALLOCATED_FINALIZER]},
                "status": {"allocation": {"devices": {}}, "reservedFor": reserved}});
                change(&mut claim);
                let plan = plan_claim((&claim).into(), &done.iter().map(|uid| (*uid).to_owned()).collect());
                let allocated = plan.status.as_ref().map(|status| status.view().allocation().is_some());
                let left = plan.status.as_ref().map(|status| status.view().reserved_for().len());
                let seen = (left, allocated == Some(false), plan.unprotects);
                assert_eq!(seen, expected, "{claim} without {done:?}");
            };
        let same = |_: &mut Value| {};
        let deleting = |claim: &mut Value| claim["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        let foreign = |claim: &mut Value| claim["metadata"]["finalizers"] = json!([]);
        check(&["a", "b"], &[], &same, (None, false, false));
        check(&["a", "b"], &["a"], &same, (Some(1), false, false));
        check(&["a", "b"], &["a", "b"], &same, (Some(0), true, true));
        check(&["a"], &["a"], &foreign, (Some(0), false, false));
        check(&[], &[], &same, (None, false, false));
        check(&[], &[], &deleting, (Some(0), true, true));
        check(&["a"], &[], &deleting, (None, false, false));
        let unallocated = |claim: &mut Value| {
            deleting(claim);
            claim["status"]["allocation"] = Value::Null;
        };
        check(&[], &[], &unallocated, (None, false, true));
    }
}
