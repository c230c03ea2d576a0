//! VolumeRestrictions: a disk that only one node or one pod may have at a time keeps other
//! pods away, by node for disks that pods name themselves and everywhere for claims of mode
//! ReadWriteOncePod.
//!
//! Upstream: pkg/scheduler/framework/plugins/volumerestrictions.

use crate::framework::{
    Action, Change, ClusterEvent, CycleState, Filter, Handle, Hint, Plugin, Points, PreFilter, PreFilterResult,
    Rejection, Resource, Watch, points,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use ferry_api::view::core::v1::{PersistentVolumeClaim, VolumeView};
use ferry_client::Informer;
use std::sync::Arc;

pub struct VolumeRestrictions {
    claims: Informer<PersistentVolumeClaim>,
}

const NAME: &str = "VolumeRestrictions";

/// The claims of the cycle's pod that only one pod may use.
#[derive(Clone)]
struct ExclusiveClaims {
    names: Arc<[String]>,
    /// Uses of them by pods on nodes.
    in_use: i64,
}

impl VolumeRestrictions {
    pub fn new(handle: &Handle) -> Self {
        Self { claims: handle.claims.clone() }
    }
}

/// The claims that the pod names; those of ephemeral volumes are its own alone.
fn named_claims(pod: &PodInfo) -> impl Iterator<Item = &str> {
    pod.spec().volumes().iter().filter_map(|volume| Some(volume.persistent_volume_claim()?.claim_name()))
}

fn is_restricted(volume: VolumeView<'_>) -> bool {
    volume.gce_persistent_disk().is_some()
        || volume.aws_elastic_block_store().is_some()
        || volume.rbd().is_some()
        || volume.iscsi().is_some()
}

/// Whether both name one disk that cannot be shared in the way they want it.
fn conflict(a: VolumeView<'_>, b: VolumeView<'_>) -> bool {
    let gce = a.gce_persistent_disk().zip(b.gce_persistent_disk());
    let aws = a.aws_elastic_block_store().zip(b.aws_elastic_block_store());
    let iscsi = a.iscsi().zip(b.iscsi());
    let rbd = a.rbd().zip(b.rbd());
    gce.is_some_and(|(a, b)| a.pd_name() == b.pd_name() && !(a.read_only() && b.read_only()))
        || aws.is_some_and(|(a, b)| a.volume_id() == b.volume_id())
        || iscsi.is_some_and(|(a, b)| a.iqn() == b.iqn() && !(a.read_only() && b.read_only()))
        || rbd.is_some_and(|(a, b)| {
            a.monitors().iter().any(|monitor| b.monitors().contains(monitor))
                && a.pool() == b.pool()
                && a.image() == b.image()
                && !(a.read_only() && b.read_only())
        })
}

fn pods_conflict(pod: &PodInfo, other: &PodInfo) -> bool {
    let restricted = pod.spec().volumes().iter().filter(|volume| is_restricted(*volume));
    restricted.into_iter().any(|volume| other.spec().volumes().iter().any(|other| conflict(volume, other)))
}

impl Plugin for VolumeRestrictions {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: pre_filter, filter)
    }

    fn watches(&self) -> &'static [Watch] {
        const {
            &[
                Watch::new(Resource::POD, &[Action::Delete]),
                Watch::new(Resource::NODE, &[Action::Add]),
                Watch::new(Resource::of::<PersistentVolumeClaim>(), &[Action::Add]),
            ]
        }
    }

    fn hint(&self, pod: &PodInfo, event: &ClusterEvent<'_>) -> Hint {
        if let Some(Change::Added(claim)) = event.of::<PersistentVolumeClaim>() {
            let meta = claim.metadata();
            return Hint::queue_if(
                meta.namespace() == pod.namespace() && named_claims(pod).any(|name| name == meta.name()),
            );
        }
        Hint::queue_if(match event.pod() {
            Some(Change::Deleted(gone)) => {
                gone.namespace == pod.namespace
                    && (pods_conflict(pod, gone)
                        || named_claims(gone).any(|claim| named_claims(pod).any(|own| own == claim)))
            }
            _ => true,
        })
    }
}

impl PreFilter for VolumeRestrictions {
    fn pre_filter(&self, state: &mut CycleState, pod: &PodInfo, snapshot: &Snapshot) -> PreFilterResult {
        let volumes = pod.spec().volumes();
        if volumes.is_empty() {
            return PreFilterResult::Skip;
        }
        let mut names = Vec::new();
        for name in named_claims(pod) {
            match self.claims.get(pod.namespace(), name) {
                None => {
                    let reason = format!("persistentvolumeclaim {name:?} not found");
                    return PreFilterResult::Reject(Rejection::unresolvable(NAME, reason));
                }
                Some(claim) if claim.view().spec().access_modes().contains("ReadWriteOncePod") => {
                    names.push(name.to_owned());
                }
                Some(_) => {}
            }
        }
        let index = snapshot.topology();
        let in_use = names.iter().filter(|name| index.claim_users(pod.namespace(), name) > 0).count();
        if in_use == 0 && !volumes.iter().any(is_restricted) {
            return PreFilterResult::Skip;
        }
        state.write(ExclusiveClaims { names: names.into(), in_use: i64::try_from(in_use).unwrap_or(i64::MAX) });
        PreFilterResult::AllNodes
    }

    fn add_pod(&self, state: &mut CycleState, pod: &PodInfo, added: &PodInfo, _node: &NodeInfo) {
        trial(state, pod, added, 1);
    }

    fn remove_pod(&self, state: &mut CycleState, pod: &PodInfo, removed: &PodInfo, _node: &NodeInfo) {
        trial(state, pod, removed, -1);
    }
}

fn trial(state: &mut CycleState, pod: &PodInfo, other: &PodInfo, delta: i64) {
    if let Some(exclusive) = state.edit::<ExclusiveClaims>()
        && other.namespace == pod.namespace
    {
        let names = exclusive.names.clone();
        let uses = named_claims(other).filter(|claim| names.iter().any(|name| name == claim)).count();
        exclusive.in_use += delta * i64::try_from(uses).unwrap_or(0);
    }
}

impl Filter for VolumeRestrictions {
    fn filter(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
        if node.pods.iter().any(|other| other.has_volumes && pods_conflict(pod, other)) {
            return Err(Rejection::unschedulable(NAME, "node(s) had no available disk"));
        }
        if state.read().is_some_and(|exclusive: &ExclusiveClaims| exclusive.in_use > 0) {
            return Err(Rejection::unschedulable(
                NAME,
                "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::Framework;
    use crate::plugins::testing::{changed, holding, node, pod, reasons};
    use ferry_client::SharedObject;
    use serde_json::{Value, json};

    fn with_volume(volume: Value) -> PodInfo {
        pod(json!({"volumes": [volume]}))
    }

    fn claiming(name: &str) -> PodInfo {
        with_volume(json!({"name": "data", "persistentVolumeClaim": {"claimName": name}}))
    }

    fn handle(mode: &str) -> Handle {
        let handle = Handle::default();
        let claim = json!({"metadata": {"name": "data", "namespace": "default"}, "spec": {"accessModes": [mode]}});
        handle.claims.put(SharedObject::of(claim));
        handle
    }

    fn check(wanted: Value, used: Value, fits: bool) {
        let info = holding(node("a", json!({})), &[with_volume(used.clone())]);
        let expected: &[&str] = if fits { &[] } else { &["node(s) had no available disk"] };
        let plugin = VolumeRestrictions::new(&Handle::default());
        assert_eq!(reasons(plugin, &with_volume(wanted.clone()), &info), expected, "{wanted} beside {used}");
    }

    #[test]
    fn a_disk_is_not_mounted_twice_on_a_node() {
        let gce = |name: &str, read_only: bool| json!({"gcePersistentDisk": {"pdName": name, "readOnly": read_only}});
        check(gce("d", false), gce("d", false), false);
        check(gce("d", true), gce("d", true), true);
        check(gce("d", false), gce("e", false), true);
        let aws = |id: &str| json!({"awsElasticBlockStore": {"volumeID": id}});
        check(aws("v"), aws("v"), false);
        check(aws("v"), aws("w"), true);
        let iscsi = |read_only: bool| json!({"iscsi": {"iqn": "q", "readOnly": read_only}});
        check(iscsi(true), iscsi(false), false);
        let rbd = |monitors: Value| json!({"rbd": {"monitors": monitors, "pool": "p", "image": "i"}});
        check(rbd(json!(["a", "b"])), rbd(json!(["b"])), false);
        check(rbd(json!(["a"])), rbd(json!(["b"])), true);
        check(json!({"emptyDir": {}}), json!({"emptyDir": {}}), true);
    }

    #[test]
    fn a_claim_for_one_pod_keeps_the_second_waiting_on_every_node() {
        let reason = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";
        let check = |mode: &str, expected: &[&str]| {
            let framework = Framework::new(vec![(Arc::new(VolumeRestrictions::new(&handle(mode))), 0)]);
            let snapshot = Snapshot::of(vec![
                holding(node("a", json!({})), &[claiming("data")]),
                holding(node("b", json!({})), &[]),
            ]);
            let (second, mut state) = (claiming("data"), CycleState::default());
            framework.pre_filter(&mut state, &second, &snapshot).expect("no rejection");
            for node in &snapshot.nodes {
                let why =
                    framework.filter(&state, &second, node).map_or_else(|why| why.reasons.to_vec(), |()| Vec::new());
                assert_eq!(why, expected, "{mode} on {}", node.name());
            }
            if !expected.is_empty() {
                let node = snapshot.get("a").expect("a node");
                let mut without = NodeInfo::clone(node);
                framework.remove_pod(&mut state, &second, &node.pods[0], &mut without);
                assert_eq!(framework.filter(&state, &second, &without), Ok(()), "a preemption makes room");
            }
        };
        check("ReadWriteOncePod", &[reason]);
        check("ReadWriteOnce", &[]);
    }

    #[test]
    fn a_claim_that_is_not_there_is_named() {
        let info = holding(node("a", json!({})), &[]);
        let plugin = || VolumeRestrictions::new(&handle("ReadWriteOnce"));
        assert_eq!(reasons(plugin(), &claiming("other"), &info), ["persistentvolumeclaim \"other\" not found"]);
        let gone = changed(&claiming("other"), json!({"spec": {"nodeName": "a"}}));
        assert_eq!(plugin().hint(&claiming("other"), &ClusterEvent::pod_removed(&gone)), Hint::Queue);
        assert_eq!(plugin().hint(&claiming("data"), &ClusterEvent::pod_removed(&gone)), Hint::Skip);
    }
}
