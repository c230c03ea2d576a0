//! VolumeBinding: a pod goes where its volumes are, and claims that wait for their first
//! consumer are bound, or given to a provisioner, for the node that was chosen.
//!
//! The filter plans the volumes of each node; the reservation assumes those of the chosen one;
//! before the pod is bound, the plan is written to the API and its end is waited for.
//!
//! Upstream: pkg/scheduler/framework/plugins/volumebinding. In-tree volumes are not translated
//! to CSI, and nodes are not scored by capacity (both are off or empty here).

mod assumed;
mod nodes;
mod signals;

use crate::Error;
use crate::framework::{
    Action, BindContext, Change, ClusterEvent, CycleState, Errand, Filter, Handle, Hint, Plugin, Points, PreBind,
    PreFilter, PreFilterResult, Rejection, Reserve, Resource, Scope, Watch, points,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use assumed::Assumed;
use async_trait::async_trait;
use ferry_api::rules::volume_match::{SELECTED_NODE, bind_volume, is_fully_bound, matches_node_affinity};
use ferry_api::view::core::v1::{Node, PersistentVolume, PersistentVolumeClaim};
use ferry_api::view::storage::v1::{CSIDriver, CSINode, CSIStorageCapacity, StorageClass};
use ferry_client::{Client, Informer, SharedObject};
use nodes::{BY_CLASS, PodClaims, VolumePlan, capacity_class, volume_class, volume_limit};
use parking_lot::Mutex;
use signals::ClaimSignals;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

pub struct VolumeBinding {
    handle: Handle,
    volumes: Assumed<PersistentVolume>,
    claims: Assumed<PersistentVolumeClaim>,
    capacities: Informer<CSIStorageCapacity>,
    signals: ClaimSignals,
    timeout: Duration,
}

const NAME: &str = "VolumeBinding";
/// The longest that a provisioner is waited for.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// The plans of a cycle, by node.
struct Plans {
    claims: PodClaims,
    by_node: Mutex<HashMap<Arc<str>, VolumePlan>>,
}

impl VolumeBinding {
    pub fn new(handle: &Handle, timeout: Duration) -> Self {
        Self {
            volumes: Assumed::new(handle.volumes.clone().indexed(BY_CLASS, volume_class)),
            claims: Assumed::new(handle.claims.clone()),
            capacities: handle.csi_capacities.clone().indexed(BY_CLASS, capacity_class),
            signals: ClaimSignals::default(),
            handle: handle.clone(),
            timeout,
        }
    }

    fn plan_for(&self, state: &CycleState, node: &str) -> Option<VolumePlan> {
        state.read::<Plans>()?.by_node.lock().get(node).cloned()
    }

    fn forget(&self, plan: &VolumePlan) {
        plan.bindings.iter().for_each(|(volume, _)| self.volumes.restore(volume));
        plan.provisions.iter().for_each(|claim| self.claims.restore(claim));
    }

    /// Whether everything that was asked for is there; an error if it never will be.
    fn check_done(&self, pod: &PodInfo, node: &SharedObject<Node>, plan: &VolumePlan) -> Result<bool, String> {
        let reaches = |volume: &SharedObject<PersistentVolume>| {
            if matches_node_affinity(volume.view(), node.view()) {
                return Ok(());
            }
            Err(format!(
                "pv {:?} node affinity doesn't match node {:?}: no matching NodeSelectorTerms",
                volume.name(),
                node.name()
            ))
        };
        for (asked, claim) in &plan.bindings {
            let Some(volume) = self.volumes.confirmed("", asked.name()) else {
                return Err(format!("failed to check binding: persistentvolume {:?} not found", asked.name()));
            };
            let Some(claim) = self.claims.confirmed(pod.namespace(), claim.name()) else {
                return Err(format!("failed to check binding: persistentvolumeclaim {:?} not found", claim.name()));
            };
            if is_older(volume.meta().resource_version(), asked.meta().resource_version()) {
                return Ok(false);
            }
            reaches(&volume)?;
            if volume.view().spec().claim_ref().is_none_or(|claim| claim.uid().is_empty()) {
                return Err(format!("ClaimRef got reset for pv {:?}", volume.name()));
            }
            if !is_fully_bound(claim.view()) {
                return Ok(false);
            }
        }
        for asked in &plan.provisions {
            let Some(claim) = self.claims.confirmed(pod.namespace(), asked.name()) else {
                return Err(format!(
                    "failed to check provisioning pvc: persistentvolumeclaim {:?} not found",
                    asked.name()
                ));
            };
            if is_older(claim.meta().resource_version(), asked.meta().resource_version()) {
                return Ok(false);
            }
            let annotations = claim.meta().annotations();
            if annotations.is_empty() {
                return Err(format!("selectedNode annotation reset for PVC {:?}", claim.name()));
            }
            if annotations.get(SELECTED_NODE) != Some(node.name()) {
                return Err(format!("provisioning failed for PVC {:?}", claim.name()));
            }
            let name = claim.view().spec().volume_name();
            if !name.is_empty() {
                let Some(volume) = self.volumes.confirmed("", name) else { return Ok(false) };
                reaches(&volume)?;
            }
            if !is_fully_bound(claim.view()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Writes the plan to the API, and returns it as the API has it.
    async fn write(&self, client: &Client, plan: &VolumePlan) -> Result<VolumePlan, ferry_client::Error> {
        let mut written = VolumePlan::default();
        for (volume, claim) in &plan.bindings {
            let volume = client.api::<PersistentVolume>("").replace(&volume.to_owned()).await?;
            written.bindings.push((volume, claim.clone()));
        }
        for claim in &plan.provisions {
            let api = client.api::<PersistentVolumeClaim>(claim.namespace());
            written.provisions.push(api.replace(&claim.to_owned()).await?);
        }
        Ok(written)
    }

    /// Waits until the binder and the provisioners have done their part.
    async fn wait(&self, pod: &PodInfo, node: &str, plan: &VolumePlan) -> Result<(), String> {
        let claims = plan.bindings.iter().map(|(_, claim)| claim).chain(&plan.provisions);
        let interests: Vec<_> =
            claims.map(|claim| self.signals.watch(&self.handle, claim.namespace(), claim.name())).collect();
        loop {
            // Changes are listened to before the state is read, so that none falls between.
            let mut changes: Vec<_> = interests.iter().map(|interest| Box::pin(interest.changed.notified())).collect();
            for change in &mut changes {
                change.as_mut().enable();
            }
            let Some(node) = self.handle.nodes.get("", node) else {
                return Err(format!("failed to get node {node:?}: node {node:?} not found"));
            };
            if self.check_done(pod, &node, plan)? {
                return Ok(());
            }
            if changes.is_empty() {
                return Ok(());
            }
            futures_util::future::select_all(changes).await;
        }
    }
}

/// Whether one version of an object is from before another; versions are numbers.
fn is_older(own: &str, other: &str) -> bool {
    let number = |version: &str| version.parse::<u64>().unwrap_or(0);
    number(own) < number(other)
}

impl Plugin for VolumeBinding {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: pre_filter, filter, reserve, pre_bind)
    }

    fn watches(&self) -> &'static [Watch] {
        const {
            &[
                Watch::new(Resource::of::<StorageClass>(), &[Action::Add, Action::Update]),
                Watch::new(Resource::of::<PersistentVolumeClaim>(), &[Action::Add, Action::Update]),
                Watch::new(Resource::of::<PersistentVolume>(), &[Action::Add, Action::Update]),
                Watch::new(Resource::NODE, &[Action::Add, Action::Update]),
                Watch::new(Resource::of::<CSINode>(), &[Action::Add]),
                Watch::new(Resource::of::<CSIDriver>(), &[Action::Update]),
                Watch::new(Resource::of::<CSIStorageCapacity>(), &[Action::Add, Action::Update]),
            ]
        }
    }

    fn scope<'a>(&self, event: &ClusterEvent<'a>) -> Scope<'a> {
        Scope::of_claim(event)
    }

    fn hint(&self, _pod: &PodInfo, event: &ClusterEvent<'_>) -> Hint {
        if let Some(Change::Updated { old, new }) = event.of::<StorageClass>() {
            return Hint::queue_if(old.allowed_topologies() != new.allowed_topologies());
        }
        if let Some(Change::Updated { old, new }) = event.node() {
            return Hint::queue_if(old.view().metadata().labels() != new.view().metadata().labels());
        }
        if let Some(Change::Updated { old, new }) = event.of::<CSIDriver>() {
            let reports = |driver: ferry_api::view::storage::v1::CSIDriverView<'_>| {
                driver.spec().storage_capacity() == Some(true)
            };
            return Hint::queue_if(reports(old) && !reports(new));
        }
        if let Some(Change::Updated { old, new }) = event.of::<CSIStorageCapacity>() {
            return Hint::queue_if(volume_limit(new) > volume_limit(old));
        }
        Hint::Queue
    }
}

impl PreFilter for VolumeBinding {
    fn pre_filter(&self, state: &mut CycleState, pod: &PodInfo, _snapshot: &Snapshot) -> PreFilterResult {
        if pod.claims.is_empty() {
            return PreFilterResult::Skip;
        }
        let found = self.sort_out(pod).map_err(|reason| Rejection::unresolvable(NAME, reason)).map(|claims| {
            let is_needed = !claims.bound.is_empty() || !claims.delayed.is_empty();
            is_needed.then(|| Plans { claims, by_node: Mutex::default() })
        });
        PreFilterResult::keep(state, found)
    }
}

impl Filter for VolumeBinding {
    fn filter(&self, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
        let Some(plans) = state.read::<Plans>() else { return Ok(()) };
        let plan = self.plan_volumes(&plans.claims, node)?;
        if !plans.claims.delayed.is_empty() {
            plans.by_node.lock().insert(node.shared_name().clone(), plan);
        }
        Ok(())
    }
}

impl Reserve for VolumeBinding {
    /// Puts the volumes as they will be in the place of those of the plan.
    fn reserve(&self, state: &CycleState, _pod: &PodInfo, node: &str) -> Result<(), Rejection> {
        let Some(plans) = state.read::<Plans>() else { return Ok(()) };
        let mut by_node = plans.by_node.lock();
        let Some(plan) = by_node.get_mut(node) else { return Ok(()) };
        for (volume, claim) in &mut plan.bindings {
            if let Some(bound) = bind_volume(volume.view(), claim.view()) {
                *volume = SharedObject::of(bound);
                self.volumes.assume(volume.clone());
            }
        }
        for claim in &mut plan.provisions {
            let mut selected = claim.to_owned();
            selected.edit_metadata(|meta| meta.insert_annotations(SELECTED_NODE, node));
            *claim = SharedObject::of(selected);
            self.claims.assume(claim.clone());
        }
        Ok(())
    }

    fn unreserve(&self, state: &CycleState, _pod: &PodInfo, node: &str) -> Option<Errand> {
        self.plan_for(state, node).iter().for_each(|plan| self.forget(plan));
        None
    }
}

#[async_trait]
impl PreBind for VolumeBinding {
    fn has_work(&self, state: &CycleState, _pod: &PodInfo, node: &str) -> bool {
        self.plan_for(state, node).is_some()
    }

    async fn pre_bind(
        &self,
        context: &BindContext<'_>,
        state: &CycleState,
        pod: &PodInfo,
        node: &str,
    ) -> Result<(), Error> {
        let Some(plan) = self.plan_for(state, node) else { return Ok(()) };
        let error = |reason: String| Error::PreBind { plugin: NAME, reason };
        let written = self.write(context.client, &plan).await.map_err(|source| error(source.to_string()))?;
        match tokio::time::timeout(self.timeout, self.wait(pod, node, &written)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(reason)) => Err(error(format!("binding volumes: {reason}"))),
            Err(_) => Err(error("binding volumes: context deadline exceeded".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests;
