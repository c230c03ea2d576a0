//! NodeVolumeLimits: a node attaches only so many volumes of a CSI driver, as its CSINode
//! states.
//!
//! Upstream: pkg/scheduler/framework/plugins/nodevolumelimits/csi.go. Volumes of in-tree
//! plugins are not counted: no node of ours attaches them.

use crate::framework::{
    Action, Change, ClusterEvent, CycleState, Filter, Handle, Hint, Plugin, Points, PreFilter, PreFilterResult,
    Rejection, Resource, Scope, Watch, points,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use ferry_api::rules::volume_match::{class_of_claim, not_made_for_pod};
use ferry_api::view::core::v1::PersistentVolumeClaim;
use ferry_api::view::storage::v1::{CSINode, CSINodeView, VolumeAttachment};
use ferry_client::{Informer, SharedObject};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub struct NodeVolumeLimits {
    handle: Handle,
    attachments: Informer<VolumeAttachment>,
}

const NAME: &str = "NodeVolumeLimits";
const BY_NODE: &str = "scheduler/node";

/// One volume of one driver.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Attachable {
    driver: String,
    handle: String,
}

struct NewVolumes(HashSet<Attachable>);

fn attachment_node(attachment: &SharedObject<VolumeAttachment>) -> Vec<String> {
    vec![attachment.view().spec().node_name().to_owned()]
}

fn limits(node: CSINodeView<'_>) -> HashMap<&str, usize> {
    let drivers = node.spec().drivers();
    let limit = |driver: ferry_api::view::storage::v1::CSINodeDriverView<'_>| driver.allocatable()?.count();
    drivers.iter().filter_map(|driver| Some((driver.name(), usize::try_from(limit(driver)?).ok()?))).collect()
}

impl NodeVolumeLimits {
    pub fn new(handle: &Handle) -> Self {
        let attachments = handle.attachments.clone().indexed(BY_NODE, attachment_node);
        Self { handle: handle.clone(), attachments }
    }

    /// The volume of a claim, or the one that its class will make for it.
    fn attachable(&self, claim: &SharedObject<PersistentVolumeClaim>) -> Option<Attachable> {
        let view = claim.view();
        if let Some(volume) = self.handle.volumes.get("", view.spec().volume_name()) {
            let source = volume.view().spec().csi()?;
            return Some(Attachable { driver: source.driver().to_owned(), handle: source.volume_handle().to_owned() });
        }
        let class = self.handle.storage_classes.get("", class_of_claim(view))?;
        // No handle that a driver gives has the name of a claim.
        let handle = format!("claim {}/{}", claim.namespace(), claim.name());
        Some(Attachable { driver: class.view().provisioner().to_owned(), handle })
    }

    fn volumes_of<'a>(&'a self, pod: &'a PodInfo) -> impl Iterator<Item = Attachable> + 'a {
        let claims = pod.claims.iter().filter_map(|name| self.handle.claims.get(pod.namespace(), name));
        claims.filter_map(|claim| self.attachable(&claim))
    }

    fn new_volumes(&self, pod: &PodInfo) -> Result<HashSet<Attachable>, Rejection> {
        let mut out = HashSet::new();
        for volume in pod.spec().volumes() {
            let Some(name) = ferry_api::rules::volume_match::claim_name(pod.view(), volume) else { continue };
            let Some(claim) = self.handle.claims.get(pod.namespace(), &name) else {
                let reason =
                    format!("looking up PVC {}/{name}: persistentvolumeclaim {name:?} not found", pod.namespace());
                return Err(Rejection::unresolvable(NAME, reason));
            };
            if volume.ephemeral().is_some()
                && let Some(reason) = not_made_for_pod(pod.view(), claim.view())
            {
                return Err(Rejection::unresolvable(NAME, reason));
            }
            out.extend(self.attachable(&claim).filter(|volume| !volume.driver.is_empty() && !volume.handle.is_empty()));
        }
        Ok(out)
    }

    /// The volumes that are attached to the node though no pod there uses them.
    fn attached(&self, node: &str) -> impl Iterator<Item = Attachable> + '_ {
        self.attachments.by_index(BY_NODE, node).into_iter().filter_map(|attachment| {
            let spec = attachment.view().spec();
            let volume = self.handle.volumes.get("", spec.source().persistent_volume_name()?)?;
            let handle = volume.view().spec().csi()?.volume_handle().to_owned();
            Some(Attachable { driver: spec.attacher().to_owned(), handle }).filter(|volume| !volume.driver.is_empty())
        })
    }
}

impl Plugin for NodeVolumeLimits {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: pre_filter, filter)
    }

    fn watches(&self) -> &'static [Watch] {
        const {
            &[
                Watch::new(Resource::of::<CSINode>(), &[Action::Add, Action::Update]),
                Watch::new(Resource::NODE, &[Action::Add]),
                Watch::new(Resource::POD, &[Action::Delete]),
                Watch::new(Resource::of::<PersistentVolumeClaim>(), &[Action::Add]),
                Watch::new(Resource::of::<VolumeAttachment>(), &[Action::Delete]),
            ]
        }
    }

    fn scope<'a>(&self, event: &ClusterEvent<'a>) -> Scope<'a> {
        Scope::of_claim(event)
    }

    fn hint(&self, _pod: &PodInfo, event: &ClusterEvent<'_>) -> Hint {
        if let Some(Change::Updated { old, new }) = event.of::<CSINode>() {
            let before = limits(old);
            return Hint::queue_if(
                limits(new).into_iter().any(|(driver, limit)| limit > before.get(driver).copied().unwrap_or(0)),
            );
        }
        Hint::queue_if(match event.pod() {
            Some(Change::Deleted(gone)) => !gone.claims.is_empty(),
            _ => true,
        })
    }
}

impl PreFilter for NodeVolumeLimits {
    fn pre_filter(&self, state: &mut CycleState, pod: &PodInfo, _snapshot: &Snapshot) -> PreFilterResult {
        if pod.claims.is_empty() {
            return PreFilterResult::Skip;
        }
        let found = self.new_volumes(pod).map(|volumes| (!volumes.is_empty()).then_some(NewVolumes(volumes)));
        PreFilterResult::keep(state, found)
    }
}

impl Filter for NodeVolumeLimits {
    fn filter(&self, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
        let Some(NewVolumes(wanted)) = state.read() else { return Ok(()) };
        let Some(csi_node) = self.handle.csi_nodes.get("", node.name()) else { return Ok(()) };
        let limits = limits(csi_node.view());
        let Some(least) = wanted.iter().filter_map(|volume| limits.get(volume.driver.as_str())).min() else {
            return Ok(());
        };
        // As many volumes as there could be at most, which is mostly few enough.
        let claims: usize = node.pods.iter().map(|pod| pod.claims.len()).sum();
        if claims + self.attachments.count_by_index(BY_NODE, node.name()) + wanted.len() <= *least {
            return Ok(());
        }
        let used: HashSet<Attachable> =
            node.pods.iter().flat_map(|pod| self.volumes_of(pod)).chain(self.attached(node.name())).collect();
        let exceeds = |(driver, limit): (&&str, &usize)| {
            let count =
                |volumes: &HashSet<Attachable>| volumes.iter().filter(|volume| volume.driver == **driver).count();
            let added = wanted.difference(&used).filter(|volume| volume.driver == **driver).count();
            added > 0 && count(&used) + added > *limit
        };
        if limits.iter().any(exceeds) {
            return Err(Rejection::unschedulable(NAME, "node(s) exceed max volume count"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{changed, holding, node, pod, reasons};
    use serde_json::json;

    fn claiming(claim: &str) -> PodInfo {
        pod(json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]}))
    }

    /// Claims `a` to `d`, bound to volumes of a driver of which the node takes `limit`.
    fn handle(limit: i32) -> Handle {
        let handle = Handle::default();
        for name in ["a", "b", "c", "d"] {
            let claim = json!({"metadata": {"name": name, "namespace": "default"}, "spec": {"volumeName": name}});
            handle.claims.put(SharedObject::of(claim));
            let volume = json!({"metadata": {"name": name}, "spec": {"csi": {"driver": "disk", "volumeHandle": name}}});
            handle.volumes.put(SharedObject::of(volume));
        }
        let driver = json!({"name": "disk", "nodeID": "n", "allocatable": {"count": limit}});
        handle.csi_nodes.put(SharedObject::of(json!({"metadata": {"name": "n"}, "spec": {"drivers": [driver]}})));
        handle
    }

    #[track_caller]
    fn check(handle: &Handle, used: &[&str], wanted: &str, expected: &[&str]) {
        let pods: Vec<PodInfo> = used.iter().map(|claim| claiming(claim)).collect();
        let info = holding(node("n", json!({})), &pods);
        assert_eq!(reasons(NodeVolumeLimits::new(handle), &claiming(wanted), &info), expected, "{used:?} and {wanted}");
    }

    const FULL: &[&str] = &["node(s) exceed max volume count"];

    #[test]
    fn a_node_attaches_only_so_many_volumes_of_a_driver() {
        check(&handle(2), &["a"], "b", &[]);
        check(&handle(2), &["a", "b"], "c", FULL);
        check(&handle(2), &["a", "b"], "b", &[]);
        check(&handle(2), &["a", "a", "a"], "b", &[]);
        check(&handle(0), &[], "a", FULL);
        check(&handle(2), &[], "none", &["looking up PVC default/none: persistentvolumeclaim \"none\" not found"]);
    }

    #[test]
    fn a_volume_that_is_attached_counts_though_no_pod_uses_it() {
        let handle = handle(2);
        let attach = |volume: &str| {
            let spec = json!({"attacher": "disk", "nodeName": "n", "source": {"persistentVolumeName": volume}});
            handle.attachments.put(SharedObject::of(json!({"metadata": {"name": volume}, "spec": spec})));
        };
        attach("a");
        check(&handle, &["a"], "c", &[]);
        attach("b");
        check(&handle, &["a"], "c", FULL);
        check(&handle, &["a"], "b", &[]);
    }

    #[test]
    fn a_volume_that_will_be_made_counts_too() {
        let handle = handle(1);
        let claim = json!({"metadata": {"name": "new", "namespace": "default"}, "spec": {"storageClassName": "disks"}});
        handle.claims.put(SharedObject::of(claim));
        handle.storage_classes.put(SharedObject::of(json!({"metadata": {"name": "disks"}, "provisioner": "disk"})));
        check(&handle, &[], "new", &[]);
        check(&handle, &["a"], "new", FULL);
    }

    #[test]
    fn a_pod_with_volumes_that_goes_wakes_the_pod() {
        let plugin = NodeVolumeLimits::new(&handle(1));
        let hint = |gone: &PodInfo| plugin.hint(&claiming("a"), &ClusterEvent::pod_removed(gone));
        assert_eq!(hint(&changed(&claiming("b"), json!({"spec": {"nodeName": "n"}}))), Hint::Queue);
        assert_eq!(hint(&pod(json!({}))), Hint::Skip);
    }
}
