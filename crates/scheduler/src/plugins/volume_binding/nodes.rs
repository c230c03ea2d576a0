//! The volumes that a pod would get on a node, or the reason why it cannot have them there.
//!
//! Upstream: `FindPodVolumes` of pkg/scheduler/framework/plugins/volumebinding/binder.go.

use super::VolumeBinding;
use crate::framework::{Code, Reasons, Rejection};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use ferry_api::rules::label_selector;
use ferry_api::rules::volume_match::{
    NO_PROVISIONER, SELECTED_NODE, Search, class_of_claim, class_of_volume, find_volume, is_bound_to, is_fully_bound,
    matches_node_affinity, not_made_for_pod, requested_storage, waits_for_first_consumer,
};
use ferry_api::view::core::v1::{NodeView, PersistentVolume, PersistentVolumeClaim};
use ferry_api::view::storage::v1::{CSIStorageCapacity, CSIStorageCapacityView, StorageClassView};
use ferry_client::SharedObject;
use std::collections::{BTreeMap, BTreeSet};

type Claim = SharedObject<PersistentVolumeClaim>;
type Volume = SharedObject<PersistentVolume>;

/// The claims of a pod, sorted out before any node is looked at.
#[derive(Default)]
pub struct PodClaims {
    /// The volumes of bound claims that are tied to nodes; `None` for one that does not exist.
    pub bound: Vec<Option<Volume>>,
    /// Claims that wait for a node, the smallest first.
    pub delayed: Vec<Claim>,
    /// Volumes that may serve those, by class.
    pub candidates: BTreeMap<String, Vec<Volume>>,
}

/// The steps that give the pod its volumes on one node.
#[derive(Clone, Default)]
pub struct VolumePlan {
    pub bindings: Vec<(Volume, Claim)>,
    pub provisions: Vec<Claim>,
}

const NO_VOLUME: &str = "node(s) didn't find available persistent volumes to bind";
const WRONG_NODE: &str = "node(s) didn't match PersistentVolume's node affinity";
const NO_SPACE: &str = "node(s) did not have enough free storage";
const NO_SUCH_VOLUME: &str = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

impl VolumeBinding {
    /// The claims, or the reason for which no node can do.
    pub(super) fn sort_out(&self, pod: &PodInfo) -> Result<PodClaims, String> {
        let mut out = PodClaims::default();
        let mut has_unbound = false;
        for volume in pod.spec().volumes() {
            let Some(name) = ferry_api::rules::volume_match::claim_name(pod.view(), volume) else { continue };
            let is_ephemeral = volume.ephemeral().is_some();
            let Some(claim) = self.claims.get(pod.namespace(), &name) else {
                return Err(if is_ephemeral {
                    format!("waiting for ephemeral volume controller to create the persistentvolumeclaim {name:?}")
                } else {
                    format!("persistentvolumeclaim {name:?} not found")
                });
            };
            let view = claim.view();
            if view.status().phase() == "Lost" {
                let volume = view.spec().volume_name();
                return Err(format!(
                    "persistentvolumeclaim {name:?} bound to non-existent persistentvolume {volume:?}"
                ));
            }
            if claim.is_deleting() {
                return Err(format!("persistentvolumeclaim {name:?} is being deleted"));
            }
            if is_ephemeral && let Some(reason) = not_made_for_pod(pod.view(), view) {
                return Err(reason);
            }
            if is_fully_bound(view) {
                match self.volumes.get("", view.spec().volume_name()) {
                    Some(volume) if volume.view().spec().node_affinity().is_none() => {}
                    volume => out.bound.push(volume),
                }
            } else if view.spec().volume_name().is_empty() && self.is_delayed(&claim)? {
                out.delayed.push(claim);
            } else {
                has_unbound = true;
            }
        }
        if has_unbound {
            return Err("pod has unbound immediate PersistentVolumeClaims".to_owned());
        }
        out.delayed.sort_by_key(|claim| requested_storage(claim.view()));
        let classes: BTreeSet<String> =
            out.delayed.iter().map(|claim| class_of_claim(claim.view()).to_owned()).collect();
        for class in classes {
            let volumes = self.volumes_of_class(&class).filter(|volume| {
                let view = volume.view();
                view.spec().claim_ref().is_none() || out.delayed.iter().any(|claim| is_bound_to(view, claim.view()))
            });
            out.candidates.insert(class, volumes.collect());
        }
        Ok(out)
    }

    fn is_delayed(&self, claim: &Claim) -> Result<bool, String> {
        let name = class_of_claim(claim.view());
        let Some(class) = self.handle.storage_classes.get("", name) else { return Ok(false) };
        if class.view().volume_binding_mode().is_none() {
            return Err(format!("VolumeBindingMode not set for StorageClass {name:?}"));
        }
        Ok(waits_for_first_consumer(class.view()))
    }

    pub(super) fn plan_volumes(&self, claims: &PodClaims, node: &NodeInfo) -> Result<VolumePlan, Rejection> {
        let mut reasons: Vec<&'static str> = Vec::new();
        for volume in &claims.bound {
            match volume {
                None => reasons.push(NO_SUCH_VOLUME),
                Some(volume) if !matches_node_affinity(volume.view(), node.view()) => reasons.push(WRONG_NODE),
                Some(_) => continue,
            }
            break;
        }
        let plan = self.plan_delayed(claims, node);
        reasons.extend(plan.as_ref().err());
        // In upstream's order.
        reasons.sort_by_key(|reason| {
            [WRONG_NODE, NO_VOLUME, NO_SPACE, NO_SUCH_VOLUME].iter().position(|own| own == reason)
        });
        match (plan, reasons.as_slice()) {
            (Ok(plan), []) => Ok(plan),
            _ => Err(Rejection {
                plugin: super::NAME,
                code: Code::Unresolvable,
                reasons: Reasons::Several(reasons.into_iter().map(Into::into).collect()),
            }),
        }
    }

    fn plan_delayed(&self, claims: &PodClaims, node: &NodeInfo) -> Result<VolumePlan, &'static str> {
        let mut plan = VolumePlan::default();
        for claim in &claims.delayed {
            let view = claim.view();
            if let Some(selected) = view.metadata().annotations().get(SELECTED_NODE) {
                if selected != node.name() {
                    return Err(NO_VOLUME);
                }
                plan.provisions.push(claim.clone());
                continue;
            }
            let candidates = claims.candidates.get(class_of_claim(view)).into_iter().flatten();
            let free =
                candidates.filter(|volume| !plan.bindings.iter().any(|(taken, _)| taken.name() == volume.name()));
            let found = find_volume(view, free.map(|volume| volume.view()), Search::OnNode(node.view()));
            let found = found.map(|volume| volume.metadata().name().to_owned());
            let volume = found
                .and_then(|name| claims.candidates.values().flatten().find(|volume| *volume.name() == *name).cloned());
            match volume {
                Some(volume) => plan.bindings.push((volume, claim.clone())),
                None => plan.provisions.push(claim.clone()),
            }
        }
        plan.provisions.iter().try_for_each(|claim| self.check_provision(claim, node.view()))?;
        Ok(plan)
    }

    /// Whether the claim's class can make a volume for the node.
    fn check_provision(&self, claim: &Claim, node: NodeView<'_>) -> Result<(), &'static str> {
        let Some(class) = self.handle.storage_classes.get("", class_of_claim(claim.view())) else {
            return Err(NO_VOLUME);
        };
        let class = class.view();
        if matches!(class.provisioner(), "" | NO_PROVISIONER) || !allows_topology(class, node) {
            return Err(NO_VOLUME);
        }
        if self.has_capacity(claim, class, node) { Ok(()) } else { Err(NO_SPACE) }
    }

    /// Drivers that report their capacity must have enough of it within reach of the node.
    fn has_capacity(&self, claim: &Claim, class: StorageClassView<'_>, node: NodeView<'_>) -> bool {
        if !claim.view().spec().resources().requests().contains_key("storage") {
            return true;
        }
        let driver = self.handle.csi_drivers.get("", class.provisioner());
        if driver.is_none_or(|driver| driver.view().spec().storage_capacity() != Some(true)) {
            return true;
        }
        let wanted = requested_storage(claim.view()).value();
        self.capacities.by_index(BY_CLASS, class.metadata().name()).iter().any(|capacity| {
            let capacity = capacity.view();
            volume_limit(capacity).is_some_and(|limit| limit >= wanted)
                && label_selector::matches(capacity.node_topology(), node.metadata().labels())
        })
    }

    fn volumes_of_class(&self, class: &str) -> impl Iterator<Item = Volume> + '_ {
        self.handle.volumes.by_index(BY_CLASS, class).into_iter().map(|volume| self.volumes.over(volume))
    }
}

pub const BY_CLASS: &str = "scheduler/class";

pub fn volume_class(volume: &Volume) -> Vec<String> {
    vec![class_of_volume(volume.view()).to_owned()]
}

pub fn capacity_class(capacity: &SharedObject<CSIStorageCapacity>) -> Vec<String> {
    vec![capacity.view().storage_class_name().to_owned()]
}

/// The largest volume that can be made, in bytes.
pub fn volume_limit(capacity: CSIStorageCapacityView<'_>) -> Option<i64> {
    capacity.maximum_volume_size().or(capacity.capacity()).map(|amount| amount.value())
}

/// Whether the class makes volumes where the node is. No terms allow every node, and a term
/// without expressions none.
fn allows_topology(class: StorageClassView<'_>, node: NodeView<'_>) -> bool {
    let (terms, labels) = (class.allowed_topologies(), node.metadata().labels());
    terms.is_empty()
        || terms.iter().any(|term| {
            let expressions = term.match_label_expressions();
            !expressions.is_empty()
                && expressions.iter().all(|expression| {
                    labels.get(expression.key()).is_some_and(|value| expression.values().contains(value))
                })
        })
}
