//! The attach/detach controller: volumes of CSI drivers are attached to the nodes whose pods use
//! them, by VolumeAttachments that the driver's attacher acts on, and detached when nobody does.
//! The nodes' `status.volumesAttached` tells kubelets which volumes are safe to mount.
//!
//! plan.rs decides for one volume, over what seen.rs finds; here it is done. One controller has
//! two kinds of keys: those of volumes are driver and handle, those of nodes have no namespace.
//! A volume has one worker at a time, so that an exclusive one is never given to two nodes.
//!
//! The order of a detach is what keeps data safe: the volume goes off the node's report, the API
//! server is asked whether the kubelet still uses it, and then the attachment is deleted. A
//! kubelet mounts nothing that is not reported, and reports what it uses before it mounts.
//!
//! Everything but the times in memory.rs is read from objects, so that a restart goes on where
//! it was: attachments that no pod wants are found by the volumes that they name. An attachment
//! whose PersistentVolume is gone cannot be told from another's and is left alone, as upstream
//! leaves it, unless a node reports the volume. Volumes of in-tree plugins are not translated to
//! those of their CSI drivers.
//!
//! Upstream: pkg/controller/volume/attachdetach.

mod memory;
mod plan;
mod report;
mod seen;
mod volume_id;

use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use async_trait::async_trait;
use ferry_api::rules::condition;
use ferry_api::rules::csi_volume::CsiVolumeId;
use ferry_api::view::List;
use ferry_api::view::core::v1::{Node, NodeView, PersistentVolume, PersistentVolumeClaim, Pod};
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_api::view::storage::v1::{CSIDriver, VolumeAttachment, VolumeAttachmentSource, VolumeAttachmentSpec};
use ferry_client::{DeleteParams, Event, Informers, SharedObject};
use memory::Memory;
use plan::{NodeFacts, Presence, Step, VolumeFacts, plan_volume};
use report::Reports;
use seen::{Seen, attachment_state, holds_volumes};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// On a node whose kubelet leaves attaching to this controller.
const MANAGED: &str = "volumes.kubernetes.io/controller-managed-attach-detach";
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

#[derive(Default)]
pub(crate) struct AttachDetachController {
    seen: OnceLock<Seen>,
    memory: Arc<Memory>,
    reports: Arc<Reports>,
}

#[async_trait]
impl Controller for AttachDetachController {
    fn name(&self) -> &'static str {
        "attachdetach-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let seen = self.seen.get_or_init(|| Seen::new(informers)).clone();
        let (of_pod, of_claim, of_attachment, of_node, of_driver) =
            (seen.clone(), seen.clone(), seen.clone(), seen.clone(), seen.clone());
        let (memory, reports) = (self.memory.clone(), self.reports.clone());
        vec![
            Watch::new(seen.volumes.clone(), |event, enqueue| {
                let (old, new) = event.versions();
                wake(enqueue, old.into_iter().chain(new).filter_map(|volume| CsiVolumeId::of(volume.view())));
            }),
            Watch::new(seen.claims.clone(), move |event, enqueue| claim_changed(&of_claim, event, enqueue)),
            Watch::new(seen.attachments.clone(), move |event, enqueue| {
                let attachment = event.object();
                enqueue.add(Key::new("", attachment.view().spec().node_name()));
                wake(enqueue, of_attachment.volume_of(attachment));
            }),
            Watch::new(seen.pods.clone(), move |event, enqueue| pod_changed(&of_pod, event, enqueue)),
            Watch::new(seen.drivers.clone(), move |event, enqueue| {
                let requires = |driver: &SharedObject<CSIDriver>| driver.view().spec().attach_required() != Some(false);
                let (old, new) = event.versions();
                // A driver that has said nothing wants its volumes attached.
                if old.is_none_or(requires) != new.is_none_or(requires) {
                    let volumes = of_driver.volumes_of_driver(event.object().name());
                    wake(enqueue, volumes.iter().filter_map(|volume| CsiVolumeId::of(volume.view())));
                }
            }),
            Watch::new(seen.nodes.clone(), move |event, enqueue| {
                if let Event::Deleted(node) = event {
                    let is_used = !of_node.attachments_on(node.name()).is_empty();
                    memory.node_gone(node.name(), node.view().status().volumes_in_use().to_vec(), is_used);
                    reports.forget(node.name());
                }
                node_changed(&of_node, event, enqueue);
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let seen = self.seen.get_or_init(|| Seen::new(&ctx.informers));
        if key.namespace.is_empty() {
            return self.reports.report(ctx, seen, &self.memory, &key.name).await.map(|()| Action::Done);
        }
        self.sync_volume(ctx, seen, &volume_id::of_key(key)).await
    }
}

fn wake(enqueue: &Enqueue, volumes: impl IntoIterator<Item = CsiVolumeId>) {
    volumes.into_iter().for_each(|id| enqueue.add(volume_id::key(&id)));
}

/// A claim that is bound, or is gone, changes what its pods want.
fn claim_changed(seen: &Seen, event: &Event<PersistentVolumeClaim>, enqueue: &Enqueue) {
    let (old, new) = event.versions();
    let bound = |claim: &SharedObject<PersistentVolumeClaim>| {
        let view = claim.view();
        (view.status().phase() == "Bound").then(|| view.spec().volume_name().to_owned())
    };
    let (old, new) = (old.and_then(bound), new.and_then(bound));
    if old != new {
        let volumes = old.iter().chain(&new).filter_map(|name| seen.volumes.get("", name));
        wake(enqueue, volumes.filter_map(|volume| CsiVolumeId::of(volume.view())));
    }
}

fn pod_changed(seen: &Seen, event: &Event<Pod>, enqueue: &Enqueue) {
    let holds = |pod: Option<&SharedObject<Pod>>| pod.is_some_and(|pod| holds_volumes(pod.view()));
    let (old, new) = event.versions();
    if holds(old) != holds(new) {
        wake(enqueue, seen.volumes_of_pod(event.object().view()));
    }
}

/// A heartbeat wakes nothing: only the volumes whose place in the status has changed, and all of
/// a node that has become well, ill, out of service, managed or another.
fn node_changed(seen: &Seen, event: &Event<Node>, enqueue: &Enqueue) {
    let (Some(old), Some(new)) = event.versions() else {
        enqueue.add(Key::new("", event.object().name()));
        return wake(enqueue, seen.volumes_on(event.object()));
    };
    let state = |node: NodeView<'_>| (is_ready(node), is_out_of_service(node), presence(Some(node)));
    if state(old.view()) != state(new.view()) {
        return wake(enqueue, seen.volumes_on(new));
    }
    let (old, new) = (old.view().status(), new.view().status());
    if old.volumes_in_use() != new.volumes_in_use() {
        let gone = |of: List<'_, &str>, from: List<'_, &str>| -> Vec<CsiVolumeId> {
            of.iter().filter(|name| !from.contains(name)).filter_map(CsiVolumeId::parse).collect()
        };
        wake(enqueue, gone(old.volumes_in_use(), new.volumes_in_use()));
        wake(enqueue, gone(new.volumes_in_use(), old.volumes_in_use()));
    }
    if old.volumes_attached() != new.volumes_attached() {
        enqueue.add(Key::new("", event.object().name()));
        let both = old.volumes_attached().iter().chain(new.volumes_attached().iter());
        wake(enqueue, both.filter_map(|volume| CsiVolumeId::parse(volume.name())));
    }
}

fn is_ready(node: NodeView<'_>) -> bool {
    condition::find(node.status().conditions(), "Ready").is_some_and(|ready| ready.status() == "True")
}

fn is_out_of_service(node: NodeView<'_>) -> bool {
    node.spec().taints().iter().any(|taint| taint.key() == OUT_OF_SERVICE)
}

fn presence(node: Option<NodeView<'_>>) -> Presence {
    match node {
        None => Presence::Gone,
        Some(node) if node.metadata().annotations().contains_key(MANAGED) => Presence::Managed,
        Some(_) => Presence::Unmanaged,
    }
}

impl AttachDetachController {
    async fn sync_volume(&self, ctx: &Context, seen: &Seen, id: &CsiVolumeId) -> Result<Action> {
        let facts = self.gather(ctx, seen, id).await?;
        let plan = plan_volume(&facts, ctx.now());
        for (node, memory) in facts.nodes.iter().zip(plan.memories) {
            self.memory.set(id, &node.name, memory);
        }
        for step in plan.steps {
            match step {
                Step::Attach { node, volume } => self.attach(ctx, id, &node, &volume, &facts).await?,
                Step::Detach { node, verify } => self.detach(ctx, seen, id, &node, verify).await?,
                Step::Tell { pod, is_warning: false, message } => {
                    ctx.recorder.normal(pod, "SuccessfulAttachVolume", message);
                }
                Step::Tell { pod, is_warning: true, message } => {
                    ctx.recorder.warning(pod, "FailedAttachVolume", message);
                }
            }
        }
        Ok(Action::after(plan.look_again))
    }

    /// The volume and its nodes, with our own writes that the caches do not show yet.
    async fn gather(&self, ctx: &Context, seen: &Seen, id: &CsiVolumeId) -> Result<VolumeFacts> {
        let volumes = seen.volumes_of(id);
        let mut nodes: BTreeMap<String, Vec<(String, SharedObject<Pod>)>> = BTreeMap::new();
        for volume in &volumes {
            for pod in seen.pods_of(volume.view()) {
                let node = pod.view().spec().node_name().to_owned();
                nodes.entry(node).or_default().push((volume.name().to_owned(), pod));
            }
            for attachment in seen.attachments_of(volume.name()) {
                let node = attachment.view().spec().node_name();
                if id.attachment_name(node) == attachment.name() {
                    nodes.entry(node.to_owned()).or_default();
                }
            }
        }
        for node in seen
            .nodes_reporting(id)
            .iter()
            .map(SharedObject::name)
            .chain(self.memory.nodes_of(id).iter().map(String::as_str))
        {
            nodes.entry(node.to_owned()).or_default();
        }
        let mut facts = VolumeFacts {
            handle: id.handle.clone(),
            driver: id.driver.clone(),
            is_attachable: seen.is_attachable(&id.driver),
            is_exclusive: volumes.iter().any(is_exclusive),
            nodes: Vec::new(),
        };
        for (name, pods) in nodes {
            facts.nodes.push(self.gather_node(ctx, seen, id, name, pods).await?);
        }
        Ok(facts)
    }

    async fn gather_node(
        &self,
        ctx: &Context,
        seen: &Seen,
        id: &CsiVolumeId,
        name: String,
        pods: Vec<(String, SharedObject<Pod>)>,
    ) -> Result<NodeFacts> {
        let unique_name = id.unique_name();
        let attachment_name = id.attachment_name(&name);
        let mut memory = self.memory.get(id, &name);
        let mut attachment = seen.attachments.get("", &attachment_name);
        if memory.created.is_some() && attachment.is_none() {
            // Created by us, and not in the cache yet, or gone before it was.
            match ctx.client.api::<VolumeAttachment>("").get(&attachment_name).await {
                Err(error) if error.is_not_found() => memory.created = None,
                live => attachment = Some(live.during("read attachment", &attachment_name)?),
            }
        } else {
            memory.created = None;
        }
        memory.detaching = memory.detaching.filter(|uid| attachment.as_ref().is_some_and(|has| has.uid() == uid));
        let state = match &memory.detaching {
            Some(_) => plan::Attachment::Leaving,
            None => attachment_state(attachment.as_ref()),
        };
        let node = seen.nodes.get("", &name);
        let view = node.as_ref().map(SharedObject::view);
        Ok(NodeFacts {
            presence: presence(view),
            is_ready: view.is_some_and(is_ready),
            is_out_of_service: view.is_some_and(is_out_of_service),
            is_in_use: match view {
                Some(node) => node.status().volumes_in_use().contains(&unique_name),
                None => self.memory.was_in_use(&name, &unique_name),
            },
            is_reported: view
                .is_some_and(|node| node.status().volumes_attached().iter().any(|volume| volume.name() == unique_name)),
            volume_name: pods.first().map(|(volume, _)| volume.clone()).unwrap_or_default(),
            pods: pods.iter().map(|(_, pod)| pod.reference()).collect(),
            attachment: state,
            memory,
            name,
        })
    }

    async fn attach(
        &self,
        ctx: &Context,
        id: &CsiVolumeId,
        node: &str,
        volume: &str,
        facts: &VolumeFacts,
    ) -> Result<()> {
        let name = id.attachment_name(node);
        let source = VolumeAttachmentSource::new().with_persistent_volume_name(volume);
        let attachment = VolumeAttachment::new().with_metadata(ObjectMeta::new().with_name(name.as_str())).with_spec(
            VolumeAttachmentSpec::new().with_attacher(id.driver.as_str()).with_node_name(node).with_source(source),
        );
        match ctx.client.api::<VolumeAttachment>("").create(&attachment).await {
            Ok(created) => {
                let uid = created.uid().to_owned();
                self.memory.edit(id, node, |memory| memory.created = Some(uid));
                Ok(())
            }
            // The cache is about to show it.
            Err(error) if error.is_already_exists() => Ok(()),
            Err(error) => {
                let message = format!("AttachVolume.Attach failed for volume {volume:?} : {error}");
                for pod in facts.nodes.iter().filter(|has| has.name == node).flat_map(|has| &has.pods) {
                    ctx.recorder.warning(pod.clone(), "FailedAttachVolume", message.as_str());
                }
                Err(error).during("create attachment", name)
            }
        }
    }

    async fn detach(&self, ctx: &Context, seen: &Seen, id: &CsiVolumeId, node: &str, verify: bool) -> Result<()> {
        let name = id.attachment_name(node);
        let uid = match seen.attachments.get("", &name) {
            Some(attachment) => Some(attachment.uid().to_owned()),
            None => self.memory.get(id, node).created,
        };
        let detaching = self.memory.detaching(id, node, uid.clone().unwrap_or_default());
        self.reports.report(ctx, seen, &self.memory, node).await?;
        if verify && is_used_now(ctx, id, node).await? {
            return Err(Error::Retry(format!("volume {} is still in use by node {node}", id.unique_name())));
        }
        let params = DeleteParams { uid, ..Default::default() };
        match ctx.client.api::<VolumeAttachment>("").delete(&name, &params).await {
            Err(error) if error.is_not_found() => {}
            other => other.during("delete attachment", &name)?,
        }
        detaching.keep();
        Ok(())
    }
}

/// Whether the API server knows the node to use the volume; our copy may be late.
async fn is_used_now(ctx: &Context, id: &CsiVolumeId, node: &str) -> Result<bool> {
    match ctx.client.api::<Node>("").get(node).await {
        Err(error) if error.is_not_found() => Ok(false),
        live => {
            let live = live.during("read node", node)?;
            Ok(live.view().status().volumes_in_use().contains(&id.unique_name()))
        }
    }
}

/// Whether one node at a time may have the volume (`IsMultiAttachAllowed` of pkg/volume/util).
fn is_exclusive(volume: &SharedObject<PersistentVolume>) -> bool {
    let modes = volume.view().spec().access_modes();
    !modes.is_empty() && !modes.contains("ReadWriteMany") && !modes.contains("ReadOnlyMany")
}
