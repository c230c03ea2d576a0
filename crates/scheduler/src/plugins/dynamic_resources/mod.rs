//! DynamicResources: a pod goes where devices for its ResourceClaims are, and the claims are
//! allocated and reserved before it is bound.
//!
//! The filter searches the devices of each node; the reservation takes those of the chosen one
//! in the ledger that all profiles share; before the pod is bound, the allocation is written to
//! the claims. Extended resources that a device class stands behind become a claim of the
//! scheduler's own (`extended.rs`).
//!
//! Upstream: pkg/scheduler/framework/plugins/dynamicresources, with the gates that 1.36 has on:
//! admin access, prioritized lists, partitionable devices, consumable capacity, device taints,
//! binding conditions, extended resources. Claims of pod groups are not (alpha).

mod bind;
mod conditions;
mod extended;

#[cfg(test)]
mod tests;

use crate::Error;
use crate::devices::{Allocation, ClaimRequests, Devices, SearchError, render_allocation, score_of};
use crate::framework::{
    Action, BindContext, Change, ClusterEvent, CycleState, Errand, Failure, Filter, Handle, Hint, Plugin, Points,
    PostFilter, PostFilterResult, PreBind, PreEnqueue, PreFilter, PreFilterResult, PreScore, PreScoreResult, Rejection,
    Reserve, Resource, Scope, Score, Watch, normalize, points,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use async_trait::async_trait;
use bind::ClaimWrite;
use conditions::{Readiness, has_conditions, readiness};
use extended::{ExtendedClaim, NodeClaim};
use ferry_api::rules::key::ObjectKey;
use ferry_api::rules::node_selector::matches_node_selector;
use ferry_api::rules::resource_claim::{ClaimName, check_owner, is_reserved_for};
use ferry_api::view::resource::v1::{AllocationResult, DeviceClass, ResourceClaim, ResourceClaimView, ResourceSlice};
use ferry_api::view::{View, alike};
use ferry_client::{Informer, SharedObject};
use jiff::Timestamp;
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

const NAME: &str = "DynamicResources";

pub struct DynamicResources {
    claims: Informer<ResourceClaim>,
    devices: Arc<Devices>,
    timeouts: Timeouts,
}

/// The arguments of the plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// The longest search on one node; zero for no end.
    pub filter: Duration,
    /// The longest wait for a device's binding conditions.
    pub binding: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { filter: Duration::from_secs(10), binding: Duration::from_secs(600) }
    }
}

/// The claims of a pod, from the start of its cycle to its binding.
struct PodDevices {
    /// The claims as they were found; the claim of extended resources is not among them.
    claims: Vec<SharedObject<ResourceClaim>>,
    /// The claims that have no devices yet, by their position, or what is wrong with one.
    wanted: Result<Vec<(usize, ClaimRequests)>, String>,
    /// The allocated claims whose devices are not for every node.
    restricted: Vec<usize>,
    /// The claims that are allocated, whose devices failed to become ready or took too long.
    failed: BTreeSet<usize>,
    extended: Option<ExtendedClaim>,
    /// A list, because a search adds to it for each node that fits, and one of them is looked up.
    by_node: Mutex<Vec<(Arc<str>, NodeDevices)>>,
    /// The allocated claims that some node does not reach.
    unavailable: Mutex<BTreeSet<usize>>,
    /// The devices that the reservation took and the binding wrote.
    reserved: Mutex<Reserved>,
}

/// The devices of one node that serve a pod.
struct NodeDevices {
    allocation: Allocation,
    extended: Option<Arc<NodeClaim>>,
}

#[derive(Default)]
struct Reserved {
    /// By the position of the claim.
    allocations: HashMap<usize, AllocationResult>,
    extended: Option<(AllocationResult, Arc<NodeClaim>)>,
    /// The claims as they were written.
    written: HashMap<usize, SharedObject<ResourceClaim>>,
    written_extended: Option<SharedObject<ResourceClaim>>,
}

impl PodDevices {
    fn wanted(&self) -> &[(usize, ClaimRequests)] {
        self.wanted.as_deref().unwrap_or_default()
    }

    /// The claims to allocate on a node.
    fn to_allocate<'a>(&'a self, extended: Option<&'a NodeClaim>) -> Vec<&'a ClaimRequests> {
        self.wanted().iter().map(|(_, claim)| claim).chain(extended.map(|own| &own.requests)).collect()
    }

    /// The claims as they are known now, the one of extended resources last.
    fn current(&self) -> Vec<SharedObject<ResourceClaim>> {
        let reserved = self.reserved.lock();
        let claims = self.claims.iter().enumerate().map(|(index, claim)| reserved.written.get(&index).unwrap_or(claim));
        claims.chain(&reserved.written_extended).cloned().collect()
    }
}

impl DynamicResources {
    pub fn new(handle: &Handle, timeouts: Timeouts) -> Self {
        Self { claims: handle.resource_claims.clone(), devices: handle.devices.clone(), timeouts }
    }

    /// The claims of the pod, or why one of them cannot be used yet.
    fn find_claims(&self, pod: &PodInfo) -> Result<Vec<SharedObject<ResourceClaim>>, String> {
        let mut out = Vec::new();
        for entry in pod.spec().resource_claims() {
            let (name, is_own) = match ClaimName::of(pod.view(), entry) {
                ClaimName::Named(name) => (name, false),
                ClaimName::Generated(name) => (name, true),
                ClaimName::NotNeeded => continue,
                ClaimName::NotMadeYet => {
                    return Err(format!("pod \"{}/{}\": ResourceClaim not created yet", pod.namespace(), pod.name()));
                }
            };
            let Some(claim) = self.claims.get(pod.namespace(), name) else {
                return Err(format!("resourceclaim.resource.k8s.io {name:?} not found"));
            };
            if claim.is_deleting() {
                return Err(format!("resourceclaim {name:?} is being deleted"));
            }
            if is_own {
                check_owner(claim.meta(), pod.view().metadata())?;
            }
            out.push(claim);
        }
        Ok(out)
    }

    /// The state of a cycle; `None` if the pod has nothing to do with devices.
    fn prepare(&self, pod: &PodInfo) -> Result<Option<PodDevices>, Rejection> {
        let reject = |reason: String| Rejection::unresolvable(NAME, reason);
        let claims = self.find_claims(pod).map_err(reject)?;
        let extended = self.find_extended(pod);
        if claims.is_empty() && extended.is_none() {
            return Ok(None);
        }
        let mut devices = self.devices.catch_up();
        let (mut failed, mut restricted, mut unallocated) = (BTreeSet::new(), Vec::new(), Vec::new());
        for (index, claim) in claims.iter().enumerate() {
            if let Some(allocation) = claim.view().status().allocation() {
                if allocation.node_selector().is_some() {
                    restricted.push(index);
                }
                if self.has_failed(claim.view()) {
                    failed.insert(index);
                }
                continue;
            }
            if devices.ledger.is_in_flight(claim.uid()) {
                let key = ObjectKey::of(claim.meta());
                return Err(reject(format!("resource claim {key} is in the process of being allocated")));
            }
            check_classes(claim.view(), |class| devices.classes.get(class).is_some())?;
            unallocated.push((index, claim.clone()));
        }
        let read = |(index, claim)| Ok((index, devices.read_requests(claim)?));
        Ok(Some(PodDevices {
            wanted: unallocated.into_iter().map(read).collect(),
            claims,
            restricted,
            failed,
            extended,
            by_node: Mutex::default(),
            unavailable: Mutex::default(),
            reserved: Mutex::default(),
        }))
    }

    /// Whether the devices of the claim will not become ready any more.
    fn has_failed(&self, claim: ResourceClaimView<'_>) -> bool {
        match readiness(claim) {
            Readiness::Ready => false,
            Readiness::Pending => conditions::is_late(claim, self.timeouts.binding, Timestamp::now()),
            Readiness::Failed(_) => true,
        }
    }

    fn search(
        &self,
        own: &PodDevices,
        extended: Option<Arc<NodeClaim>>,
        node: &NodeInfo,
    ) -> Result<Option<NodeDevices>, Rejection> {
        if let Err(error) = &own.wanted {
            return Err(Rejection::error(NAME, error.clone()));
        }
        let claims = own.to_allocate(extended.as_deref());
        if claims.is_empty() {
            return Ok(None);
        }
        let deadline = (!self.timeouts.filter.is_zero()).then(|| Instant::now() + self.timeouts.filter);
        match self.devices.catch_up().allocate(&claims, node, deadline) {
            Ok(Some(allocation)) => Ok(Some(NodeDevices { allocation, extended })),
            Ok(None) => Err(Rejection::unresolvable(NAME, "cannot allocate all claims")),
            Err(SearchError::Node(reason)) => Err(Rejection::unresolvable(NAME, reason)),
            Err(SearchError::Fatal(reason)) => Err(Rejection::error(NAME, reason)),
            Err(SearchError::TimedOut) => {
                Err(Rejection::error(NAME, format!("node {}: timed out trying to allocate devices", node.name())))
            }
        }
    }
}

/// Every class that the claim names must be there.
fn check_classes(claim: ResourceClaimView<'_>, is_known: impl Fn(&str) -> bool) -> Result<(), Rejection> {
    let check = |class: &str, request: &str| match class {
        "" => Err(Rejection::error(NAME, format!("request {request}: unsupported request type"))),
        class if is_known(class) => Ok(()),
        class => Err(Rejection::unresolvable(NAME, format!("request {request}: device class {class} does not exist"))),
    };
    for request in claim.spec().devices().requests() {
        if let Some(exact) = request.exactly() {
            check(exact.device_class_name(), request.name())?;
        } else if request.first_available().is_empty() {
            let (key, name) = (ObjectKey::of(claim.metadata()), request.name());
            let reason = format!("resource claim {key}, request {name}: unknown request type");
            return Err(Rejection::unresolvable(NAME, reason));
        }
        for own in request.first_available() {
            check(own.device_class_name(), &format!("{}/{}", request.name(), own.name()))?;
        }
    }
    Ok(())
}

impl Plugin for DynamicResources {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: pre_enqueue, pre_filter, filter, post_filter, pre_score, score, reserve, pre_bind)
    }

    fn watches(&self) -> &'static [Watch] {
        const {
            &[
                Watch::new(Resource::NODE, &[Action::Add, Action::Update]),
                Watch::new(Resource::of::<ResourceClaim>(), &[Action::Add, Action::Update]),
                Watch::new(Resource::POD, &[Action::Update]),
                Watch::new(Resource::of::<DeviceClass>(), &[Action::Add, Action::Update]),
                Watch::new(Resource::of::<ResourceSlice>(), &[Action::Add, Action::Update]),
            ]
        }
    }

    fn scope<'a>(&self, event: &ClusterEvent<'a>) -> Scope<'a> {
        match event.of::<ResourceClaim>() {
            Some(Change::Added(claim)) => Scope::users_of::<ResourceClaim>(claim.metadata()),
            Some(Change::Updated { old, new }) if !is_freed(old, new) => {
                Scope::users_of::<ResourceClaim>(new.metadata())
            }
            _ => Scope::All,
        }
    }

    fn hint(&self, pod: &PodInfo, event: &ClusterEvent<'_>) -> Hint {
        if let Some(Change::Updated { old, new }) = event.node() {
            let (old_view, new_view) = (old.view(), new.view());
            return Hint::queue_if(
                old_view.metadata().labels() != new_view.metadata().labels() || old.allocatable != new.allocatable,
            );
        }
        if event.pod().is_some() {
            return Hint::queue_if(event.update_of(pod).is_some_and(|(_, new)| self.find_claims(new).is_ok()));
        }
        let (old, new) = match event.of::<ResourceClaim>() {
            Some(Change::Added(new)) => (None, new),
            Some(Change::Updated { old, new }) => (Some(old), new),
            _ => return Hint::Queue,
        };
        let Ok(claims) = self.find_claims(pod) else { return Hint::Skip };
        let uses = claims.iter().any(|claim| claim.uid() == new.metadata().uid());
        Hint::queue_if(match old {
            Some(old) if is_freed(old, new) => true,
            Some(old) => uses && !alike(old.status().node(), new.status().node()),
            None => uses,
        })
    }
}

/// Whether the claim gave its devices back, which others may want.
fn is_freed(old: ResourceClaimView<'_>, new: ResourceClaimView<'_>) -> bool {
    old.status().allocation().is_some() && new.status().allocation().is_none()
}

impl PreEnqueue for DynamicResources {
    fn pre_enqueue(&self, pod: &PodInfo) -> Result<(), Rejection> {
        if !pod.has_resource_claims {
            return Ok(());
        }
        self.find_claims(pod).map(drop).map_err(|reason| Rejection::unresolvable(NAME, reason))
    }
}

impl PreFilter for DynamicResources {
    fn pre_filter(&self, state: &mut CycleState, pod: &PodInfo, _snapshot: &Snapshot) -> PreFilterResult {
        if !pod.has_resource_claims && pod.requests.scalar.is_empty() {
            return PreFilterResult::Skip;
        }
        PreFilterResult::keep(state, self.prepare(pod))
    }
}

impl Filter for DynamicResources {
    fn filter(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
        let Some(own) = state.read::<PodDevices>() else { return Ok(()) };
        let extended = match &own.extended {
            Some(extended) => self.claim_on_node(extended, pod, node)?,
            None => None,
        };
        let is_out_of_reach = |index: &&usize| {
            let allocation = own.claims.get(**index).and_then(|claim| claim.view().status().allocation());
            let selector = allocation.and_then(|allocation| allocation.node_selector());
            selector.is_some_and(|selector| !matches_node_selector(selector, node.view()))
        };
        let out_of_reach = own.restricted.iter().filter(is_out_of_reach);
        let unavailable: BTreeSet<usize> = own.failed.iter().chain(out_of_reach).copied().collect();
        let found = self.search(own, extended, node)?;
        if !unavailable.is_empty() {
            own.unavailable.lock().extend(unavailable);
            return Err(Rejection::unresolvable(NAME, "resourceclaim not available on the node"));
        }
        if let Some(found) = found {
            own.by_node.lock().push((node.shared_name().clone(), found));
        }
        Ok(())
    }
}

impl PostFilter for DynamicResources {
    /// Frees a claim that keeps the pod from the nodes that have room for it.
    fn post_filter(&self, failure: &Failure<'_>) -> PostFilterResult {
        let Some(own) = failure.state.read::<PodDevices>() else {
            return PostFilterResult::rejected("no new claims to deallocate");
        };
        let is_free = |claim: &SharedObject<ResourceClaim>| {
            claim.view().status().reserved_for().iter().all(|consumer| consumer.uid() == &*failure.pod.uid)
        };
        let unavailable = own.unavailable.lock();
        let mut claims = unavailable.iter().filter_map(|index| own.claims.get(*index));
        if let Some(claim) = claims.find(|claim| is_free(claim)).cloned() {
            let errand: Errand = Box::new(move |client| Box::pin(bind::deallocate(client, claim)));
            return PostFilterResult {
                errand: Some(errand),
                ..PostFilterResult::rejected("deallocation of ResourceClaim completed")
            };
        }
        if let Some(claim) = own.extended.as_ref().and_then(|extended| extended.existing.clone()) {
            let errand: Errand = Box::new(move |client| Box::pin(bind::delete(client, claim)));
            return PostFilterResult {
                errand: Some(errand),
                ..PostFilterResult::rejected("deletion of ResourceClaim completed")
            };
        }
        PostFilterResult::rejected("still not schedulable")
    }
}

impl PreScore for DynamicResources {
    fn pre_score(&self, state: &mut CycleState, _: &PodInfo, _: &[&NodeInfo], _: &Snapshot) -> PreScoreResult {
        let has_lists = |own: &PodDevices| {
            let requests = own.claims.iter().flat_map(|claim| claim.view().spec().devices().requests());
            requests.into_iter().any(|request| !request.first_available().is_empty())
        };
        if state.read::<PodDevices>().is_some_and(has_lists) { PreScoreResult::Run } else { PreScoreResult::Skip }
    }
}

impl Score for DynamicResources {
    /// The better the alternatives that the node has for requests with a list, the more.
    fn score(&self, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> i64 {
        let Some(own) = state.read::<PodDevices>() else { return 0 };
        let by_node = own.by_node.lock();
        let found = by_node.iter().rfind(|(name, _)| Arc::ptr_eq(name, node.shared_name()));
        let Some((_, NodeDevices { allocation, .. })) = found else { return 0 };
        let score = |(position, (_, claim)): (usize, &(usize, ClaimRequests))| {
            score_of(claim.claim.view(), |name| {
                let mut picks = allocation.picks_of(position);
                picks.any(|pick| *claim.requests[pick.request].alternatives[pick.alternative].full_name == *name)
            })
        };
        let of_allocated = own.claims.iter().filter_map(|claim| {
            let results = claim.view().status().allocation()?.devices().results();
            Some(score_of(claim.view(), |name| results.iter().any(|result| result.request() == name)))
        });
        own.wanted().iter().enumerate().map(score).chain(of_allocated).sum()
    }

    fn normalize(&self, scores: &mut [i64]) {
        normalize(scores);
    }
}

impl Reserve for DynamicResources {
    fn reserve(&self, state: &CycleState, _pod: &PodInfo, node: &str) -> Result<(), Rejection> {
        let Some(own) = state.read::<PodDevices>() else { return Ok(()) };
        let by_node = own.by_node.lock();
        let found = by_node.iter().rfind(|(name, _)| **name == *node);
        let Some((_, NodeDevices { allocation, extended })) = found else {
            return match own.wanted() {
                [] => Ok(()),
                _ => Err(Rejection::error(NAME, "claim allocation not found for node")),
            };
        };
        let claims = own.to_allocate(extended.as_deref());
        let render = |position: usize| render_allocation(allocation, position, claims[position], node);
        let rendered: Result<Vec<AllocationResult>, String> = (0..claims.len()).map(render).collect();
        let mut rendered = rendered.map_err(|reason| Rejection::error(NAME, reason))?;
        let mut devices = self.devices.catch_up();
        for (position, claim) in claims.iter().enumerate() {
            devices.ledger.reserve(claim.claim.uid(), allocation.taken_by(position, &claims));
        }
        drop(devices);
        let mut reserved = own.reserved.lock();
        reserved.extended = extended.clone().and_then(|extended| Some((rendered.pop()?, extended)));
        reserved.allocations = own.wanted().iter().map(|(index, _)| *index).zip(rendered).collect();
        Ok(())
    }

    fn unreserve(&self, state: &CycleState, pod: &PodInfo, _node: &str) -> Option<Errand> {
        let own = state.read::<PodDevices>()?;
        let reserved = own.reserved.lock();
        let mut devices = self.devices.catch_up();
        reserved.allocations.keys().for_each(|index| devices.ledger.release(own.claims[*index].uid()));
        if let Some((_, extended)) = &reserved.extended {
            devices.ledger.release(extended.requests.claim.uid());
        }
        drop(devices);
        let extended = reserved.written_extended.clone();
        drop(reserved);
        let uid = pod.uid.clone();
        let is_reserved = |claim: &SharedObject<ResourceClaim>| {
            claim.view().status().allocation().is_some() && is_reserved_for(claim.view(), &uid)
        };
        let mut claims = own.current();
        claims.truncate(own.claims.len());
        claims.retain(is_reserved);
        if claims.is_empty() && extended.is_none() {
            return None;
        }
        Some(Box::new(move |client| Box::pin(bind::give_back(client, claims, extended, uid))))
    }
}

#[async_trait]
impl PreBind for DynamicResources {
    fn has_work(&self, state: &CycleState, _pod: &PodInfo, _node: &str) -> bool {
        state.read::<PodDevices>().is_some()
    }

    async fn pre_bind(
        &self,
        context: &BindContext<'_>,
        state: &CycleState,
        pod: &PodInfo,
        node: &str,
    ) -> Result<(), Error> {
        let Some(own) = state.read::<PodDevices>() else { return Ok(()) };
        let error = |reason: String| Error::PreBind { plugin: NAME, reason };
        for (index, claim) in own.claims.iter().enumerate() {
            if is_reserved_for(claim.view(), &pod.uid) {
                continue;
            }
            let allocation = own.reserved.lock().allocations.get(&index).cloned();
            let write = ClaimWrite::new(&self.devices, context.client, pod, claim.clone(), allocation);
            let written = write.run().await.map_err(error)?;
            own.reserved.lock().written.insert(index, written);
        }
        let extended = own.reserved.lock().extended.clone();
        if let Some((allocation, extended)) = extended {
            let (claim, devices) = (extended.requests.claim.clone(), &self.devices);
            let write = ClaimWrite::new(devices, context.client, pod, claim, Some(allocation)).of_our_own();
            let written = write.run().await.map_err(error)?;
            own.reserved.lock().written_extended = Some(written.clone());
            extended::report(context.client, pod, &written, &extended.mappings).await.map_err(error)?;
        }
        if own.current().iter().any(|claim| has_conditions(claim.view())) {
            let message = format!("waiting for binding conditions for device on node {node}");
            context.recorder.iter().for_each(|recorder| {
                recorder.normal(&pod.pod, "BindingConditionsPending", message.clone());
            });
            self.wait_until_ready(own.current()).await.map_err(error)?;
        }
        Ok(())
    }
}
