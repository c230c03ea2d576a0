//! Volumes, attachments, nodes and pods by what the controller looks for: no event costs a walk
//! over all of a kind. Used by mod.rs to gather the facts of a volume and to wake volumes.
//!
//! | index | of | by |
//! |---|---|---|
//! | attach-handle | PersistentVolumes of CSI drivers | driver and handle |
//! | attach-driver | the same | driver |
//! | attach-volume | VolumeAttachments | the PersistentVolume that they name |
//! | attach-node | VolumeAttachments | node |
//! | attach-reported | nodes | the volumes that their status lists as attached |
//! | claim, node | pods | claim, node (pods_by_claim.rs, node_index.rs) |

use super::plan::Attachment;
use crate::node_index::{by_node, on_node};
use crate::runner::Key;
use crate::storage::pods_by_claim::{by_claim, claims_of, using_claim};
use ferry_api::rules::csi_volume::CsiVolumeId;
use ferry_api::rules::pod::is_terminal;
use ferry_api::rules::volume_match::{claim_name, not_made_for_pod};
use ferry_api::view::List;
use ferry_api::view::core::v1::{
    ContainerStatusView, Node, PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimView,
    PersistentVolumeView, Pod, PodView,
};
use ferry_api::view::storage::v1::{CSIDriver, VolumeAttachment};
use ferry_client::{Informer, Informers, SharedObject};

const BY_HANDLE: &str = "attach-handle";
const BY_DRIVER: &str = "attach-driver";
const BY_VOLUME: &str = "attach-volume";
const BY_NODE: &str = "attach-node";
const BY_REPORTED: &str = "attach-reported";

#[derive(Clone)]
pub(super) struct Seen {
    pub(super) volumes: Informer<PersistentVolume>,
    pub(super) claims: Informer<PersistentVolumeClaim>,
    pub(super) attachments: Informer<VolumeAttachment>,
    pub(super) nodes: Informer<Node>,
    pub(super) pods: Informer<Pod>,
    pub(super) drivers: Informer<CSIDriver>,
}

impl Seen {
    pub(super) fn new(informers: &Informers) -> Self {
        Self {
            volumes: informers
                .of::<PersistentVolume>()
                .indexed(BY_HANDLE, |volume| {
                    CsiVolumeId::of(volume.view()).iter().map(CsiVolumeId::unique_name).collect()
                })
                .indexed(BY_DRIVER, |volume| CsiVolumeId::of(volume.view()).into_iter().map(|id| id.driver).collect()),
            claims: informers.of(),
            attachments: informers
                .of::<VolumeAttachment>()
                .indexed(BY_VOLUME, |attachment| volume_named(attachment).map(str::to_owned).into_iter().collect())
                .indexed(BY_NODE, |attachment| vec![attachment.view().spec().node_name().to_owned()]),
            nodes: informers.of::<Node>().indexed(BY_REPORTED, |node| {
                node.view().status().volumes_attached().iter().map(|volume| volume.name().to_owned()).collect()
            }),
            pods: by_node(by_claim(informers.of())),
            drivers: informers.of(),
        }
    }

    /// The PersistentVolumes that stand for a volume; two may, by a mistake.
    pub(super) fn volumes_of(&self, id: &CsiVolumeId) -> Vec<SharedObject<PersistentVolume>> {
        self.volumes.by_index(BY_HANDLE, &id.unique_name())
    }

    pub(super) fn volumes_of_driver(&self, driver: &str) -> Vec<SharedObject<PersistentVolume>> {
        self.volumes.by_index(BY_DRIVER, driver)
    }

    pub(super) fn attachments_of(&self, volume: &str) -> Vec<SharedObject<VolumeAttachment>> {
        self.attachments.by_index(BY_VOLUME, volume)
    }

    pub(super) fn attachments_on(&self, node: &str) -> Vec<SharedObject<VolumeAttachment>> {
        self.attachments.by_index(BY_NODE, node)
    }

    pub(super) fn nodes_reporting(&self, id: &CsiVolumeId) -> Vec<SharedObject<Node>> {
        self.nodes.by_index(BY_REPORTED, &id.unique_name())
    }

    /// The volume of an attachment; none when its PersistentVolume is gone, or when it is not
    /// one that this controller would make.
    pub(super) fn volume_of(&self, attachment: &SharedObject<VolumeAttachment>) -> Option<CsiVolumeId> {
        let volume = self.volumes.get("", volume_named(attachment)?)?;
        let id = CsiVolumeId::of(volume.view())?;
        let is_ours = id.attachment_name(attachment.view().spec().node_name()) == attachment.name();
        is_ours.then_some(id)
    }

    /// The volumes of a pod, by the claims that are bound.
    pub(super) fn volumes_of_pod(&self, pod: PodView<'_>) -> Vec<CsiVolumeId> {
        claims_of(pod).iter().filter_map(|claim| self.volume_of_claim(claim)).collect()
    }

    pub(super) fn volume_of_claim(&self, claim: &Key) -> Option<CsiVolumeId> {
        let claim = self.claims.get(&claim.namespace, &claim.name)?;
        let volume = self.volumes.get("", claim.view().spec().volume_name())?;
        CsiVolumeId::of(volume.view())
    }

    /// Every volume that has to do with a node.
    pub(super) fn volumes_on(&self, node: &SharedObject<Node>) -> Vec<CsiVolumeId> {
        let attached = self.attachments_on(node.name());
        let attached = attached.iter().filter_map(|attachment| self.volume_of(attachment));
        let pods = on_node(&self.pods, node.name());
        let used = pods.iter().flat_map(|pod| self.volumes_of_pod(pod.view()));
        let reported = node.view().status().volumes_attached();
        let reported = reported.iter().filter_map(|volume| CsiVolumeId::parse(volume.name()));
        attached.chain(used).chain(reported).collect()
    }

    /// The pods that use a PersistentVolume and are on a node.
    pub(super) fn pods_of(&self, volume: PersistentVolumeView<'_>) -> Vec<SharedObject<Pod>> {
        let Some(reference) = volume.spec().claim_ref() else { return Vec::new() };
        let claim = self.claims.get(reference.namespace(), reference.name());
        let Some(claim) = claim.filter(|claim| {
            let view = claim.view();
            let names = view.spec().volume_name() == volume.metadata().name();
            claim.uid() == reference.uid() && names && view.status().phase() == "Bound"
        }) else {
            return Vec::new();
        };
        let mut pods = using_claim(&self.pods, &Key::of(claim.meta()));
        pods.retain(|pod| holds_volumes(pod.view()) && may_use(pod.view(), claim.view()));
        pods
    }

    /// Whether the driver wants its volumes to be attached. One that has not said is taken to.
    pub(super) fn is_attachable(&self, driver: &str) -> bool {
        self.drivers.get("", driver).is_none_or(|driver| driver.view().spec().attach_required() != Some(false))
    }
}

fn volume_named(attachment: &SharedObject<VolumeAttachment>) -> Option<&str> {
    attachment.view().spec().source().persistent_volume_name()
}

/// Whether a pod is on a node and may have containers there (`IsPodTerminated` of
/// pkg/volume/util).
pub(super) fn holds_volumes(pod: PodView<'_>) -> bool {
    let status = pod.status();
    let is_running = |statuses: List<'_, ContainerStatusView<'_>>| {
        statuses.iter().any(|status| status.state().terminated().is_none() && status.state().waiting().is_none())
    };
    let is_over = is_terminal(pod)
        || (pod.metadata().deletion_timestamp().is_some()
            && !is_running(status.init_container_statuses())
            && !is_running(status.container_statuses())
            && !is_running(status.ephemeral_container_statuses()));
    !pod.spec().node_name().is_empty() && !is_over
}

/// A claim made for an ephemeral volume serves its own pod only.
fn may_use(pod: PodView<'_>, claim: PersistentVolumeClaimView<'_>) -> bool {
    pod.spec().volumes().iter().any(|volume| {
        claim_name(pod, volume).is_some_and(|name| name == claim.metadata().name())
            && (volume.ephemeral().is_none() || not_made_for_pod(pod, claim).is_none())
    })
}

/// The state of an attachment (`verifyAttachmentStatus` of pkg/volume/csi).
pub(super) fn attachment_state(attachment: Option<&SharedObject<VolumeAttachment>>) -> Attachment {
    let Some(attachment) = attachment else { return Attachment::None };
    let status = attachment.view().status();
    if attachment.is_deleting() {
        Attachment::Leaving
    } else if status.attached() {
        Attachment::Attached
    } else {
        status.attach_error().map_or(Attachment::Waiting, |error| Attachment::Failed(error.message().to_owned()))
    }
}
