//! The next steps of one volume, decided from the nodes that want it and those that have it.
//! Called by the executor in mod.rs; pure.
//!
//! | node | attachment | step |
//! |---|---|---|
//! | wants it | none, and nobody else holds an exclusive volume | attach |
//! | | none, and another node holds it | report, and wait for the other's end |
//! | | waiting | report a failure when the driver does not answer in time |
//! | | failed | report the driver's message once |
//! | | attached | report the success once |
//! | does not | any, and the node still has it mounted | wait; from a node that is not well detach after six minutes |
//! | | any, and not mounted, or the node is out of service | detach |
//!
//! Upstream: `reconcile` and `reportMultiAttachError` of
//! pkg/controller/volume/attachdetach/reconciler/reconciler.go.

use ferry_client::Reference;
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

/// Upstream's `ReconcilerMaxWaitForUnmountDuration`.
const MAX_WAIT_FOR_UNMOUNT: Duration = Duration::from_secs(6 * 60);

/// Upstream's `csiTimeout`: how long a driver may take before a pod is told.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(2 * 60);

/// A volume and every node that has to do with it.
#[derive(Debug)]
pub(super) struct VolumeFacts {
    /// The handle, for messages.
    pub(super) handle: String,
    pub(super) driver: String,
    /// Whether the driver has a notion of attaching at all (`CSIDriver.spec.attachRequired`).
    pub(super) is_attachable: bool,
    /// Whether the access modes allow one node at a time only.
    pub(super) is_exclusive: bool,
    pub(super) nodes: Vec<NodeFacts>,
}

/// One node, as far as the volume is concerned.
#[derive(Debug)]
pub(super) struct NodeFacts {
    pub(super) name: String,
    pub(super) presence: Presence,
    pub(super) is_ready: bool,
    pub(super) is_out_of_service: bool,
    /// The kubelet has it mounted, or nobody knows.
    pub(super) is_in_use: bool,
    /// The node's status lists it as attached.
    pub(super) is_reported: bool,
    /// The pods of the node that use it.
    pub(super) pods: Vec<Reference>,
    /// The PersistentVolume that the pods claim; empty without pods.
    pub(super) volume_name: String,
    pub(super) attachment: Attachment,
    pub(super) memory: NodeMemory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Gone,
    /// The kubelet attaches by itself, and its pods are none of ours.
    Unmanaged,
    Managed,
}

/// A VolumeAttachment, as far as its status goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Attachment {
    None,
    Waiting,
    /// The driver's message.
    Failed(String),
    Attached,
    /// It is being deleted: the driver detaches.
    Leaving,
}

/// The past of a volume on a node, which no object tells. A restart begins anew.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NodeMemory {
    /// Since when the volume should be detached.
    pub(super) detach_asked: Option<Timestamp>,
    /// Since when the driver is waited for.
    pub(super) attach_asked: Option<Timestamp>,
    /// The pods have been told that another node has the volume.
    pub(super) told_multi_attach: bool,
    /// The last failure that the pods have been told.
    pub(super) told_failure: Option<String>,
    /// The pods have been told that the volume is attached.
    pub(super) told_attached: bool,
    /// The uid of an attachment that was created and may not be seen yet.
    pub(super) created: Option<String>,
    /// The attachment that is deleted, by uid, until the cache has lost it.
    pub(super) detaching: Option<String>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Step {
    Attach {
        node: String,
        volume: String,
    },
    /// Takes the volume off the node's report, and then deletes the attachment. `verify` asks
    /// the API server first whether the node still uses it.
    Detach {
        node: String,
        verify: bool,
    },
    Tell {
        pod: Reference,
        is_warning: bool,
        message: String,
    },
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct VolumePlan {
    /// Detaches come first, so that pods that have moved wait for one round less.
    pub(super) steps: Vec<Step>,
    /// The memories of the nodes, in their order, once the steps are done.
    pub(super) memories: Vec<NodeMemory>,
    pub(super) look_again: Option<Duration>,
}

impl NodeFacts {
    fn is_wanted(&self, is_attachable: bool) -> bool {
        is_attachable && !self.pods.is_empty() && self.presence != Presence::Unmanaged
    }
}

pub(super) fn plan_volume(volume: &VolumeFacts, now: Timestamp) -> VolumePlan {
    let mut plan = VolumePlan::default();
    let mut attaches = Vec::new();
    // Of the nodes before this one: whether the plan attaches or detaches there.
    let mut acting = Vec::new();
    for node in &volume.nodes {
        let mut memory = node.memory.clone();
        let is_wanted = node.is_wanted(volume.is_attachable);
        let detaches = if is_wanted {
            memory.detach_asked = None;
            false
        } else {
            let NodeMemory { detach_asked, created, detaching, .. } = memory;
            memory = NodeMemory { detach_asked, created, detaching, ..Default::default() };
            plan_detach(node, now, &mut memory, &mut plan)
        };
        acting.push(detaches);
        plan.memories.push(memory);
    }
    for (at, node) in volume.nodes.iter().enumerate() {
        if !node.is_wanted(volume.is_attachable) {
            continue;
        }
        let memory = &mut plan.memories[at];
        let holds = |other: usize| {
            let attachment = &volume.nodes[other].attachment;
            acting[other] || matches!(attachment, Attachment::Attached | Attachment::Leaving | Attachment::Waiting)
        };
        let is_held = volume.is_exclusive && (0..volume.nodes.len()).any(|other| other != at && holds(other));
        if node.attachment == Attachment::None && is_held {
            if !memory.told_multi_attach {
                let others: Vec<&NodeFacts> = (0..volume.nodes.len())
                    .filter(|other| *other != at && !acting[*other])
                    .map(|other| &volume.nodes[other])
                    .filter(|other| other.attachment == Attachment::Attached)
                    .collect();
                memory.told_multi_attach = !others.is_empty();
                attaches.extend(multi_attach_errors(node, &others, volume.is_attachable));
            }
            continue;
        }
        let (steps, look_again) = plan_attach(volume, node, now, memory);
        acting[at] = steps.iter().any(|step| matches!(step, Step::Attach { .. }));
        attaches.extend(steps);
        plan.look_again = plan.look_again.into_iter().chain(look_again).min();
    }
    plan.steps.extend(attaches);
    plan
}

/// Returns whether a detach is begun or under way.
fn plan_detach(node: &NodeFacts, now: Timestamp, memory: &mut NodeMemory, plan: &mut VolumePlan) -> bool {
    if node.attachment == Attachment::None && !node.is_reported {
        memory.detach_asked = None;
        return false;
    }
    if node.attachment == Attachment::Leaving {
        return true;
    }
    let since = *memory.detach_asked.get_or_insert(now);
    let left = left_of(MAX_WAIT_FOR_UNMOUNT, since, now);
    let may_force = !node.is_ready && left.is_none();
    if node.is_in_use && !may_force && !node.is_out_of_service {
        if !node.is_ready {
            plan.look_again = plan.look_again.into_iter().chain(left).min();
        }
        return false;
    }
    let verify = left.is_some() && !node.is_out_of_service;
    plan.steps.push(Step::Detach { node: node.name.clone(), verify });
    true
}

fn plan_attach(
    volume: &VolumeFacts,
    node: &NodeFacts,
    now: Timestamp,
    memory: &mut NodeMemory,
) -> (Vec<Step>, Option<Duration>) {
    let name = &node.volume_name;
    let tell = |is_warning: bool, message: String| {
        let pods = node.pods.iter().cloned();
        pods.map(|pod| Step::Tell { pod, is_warning, message: message.clone() }).collect::<Vec<_>>()
    };
    let fail = |memory: &mut NodeMemory, why: String| {
        let message = format!("AttachVolume.Attach failed for volume {name:?} : {why}");
        if memory.told_failure.as_ref() == Some(&message) {
            return Vec::new();
        }
        memory.told_failure = Some(message.clone());
        tell(true, message)
    };
    match &node.attachment {
        Attachment::None if node.presence == Presence::Gone => (Vec::new(), None),
        Attachment::None => {
            memory.attach_asked = Some(now);
            memory.told_attached = false;
            let attach = Step::Attach { node: node.name.clone(), volume: name.clone() };
            (vec![attach], Some(ATTACH_TIMEOUT))
        }
        Attachment::Waiting => {
            let since = *memory.attach_asked.get_or_insert(now);
            match left_of(ATTACH_TIMEOUT, since, now) {
                Some(left) => (Vec::new(), Some(left)),
                None => {
                    memory.attach_asked = Some(now);
                    // The pods are told each time, as nothing else happens for them to see.
                    memory.told_failure = None;
                    let why = format!(
                        "timed out waiting for external-attacher of {} CSI driver to attach volume {}",
                        volume.driver, volume.handle
                    );
                    (fail(memory, why), Some(ATTACH_TIMEOUT))
                }
            }
        }
        Attachment::Failed(why) => {
            memory.attach_asked = None;
            (fail(memory, why.clone()), None)
        }
        Attachment::Leaving if memory.detaching.is_some() => (Vec::new(), None),
        Attachment::Leaving => (fail(memory, "volume attachment is being deleted".to_owned()), None),
        Attachment::Attached => {
            let is_news = !memory.told_attached && !node.is_reported;
            *memory = NodeMemory { told_attached: true, ..Default::default() };
            let message = format!("AttachVolume.Attach succeeded for volume {name:?} ");
            (if is_news { tell(false, message) } else { Vec::new() }, None)
        }
    }
}

/// Tells the pods of a node that other nodes have their volume. Pods of other namespaces are
/// counted and not named.
fn multi_attach_errors(node: &NodeFacts, others: &[&NodeFacts], is_attachable: bool) -> Vec<Step> {
    if others.is_empty() {
        return Vec::new();
    }
    let blocking: Vec<&Reference> =
        others.iter().filter(|other| other.is_wanted(is_attachable)).flat_map(|other| &other.pods).collect();
    let tell = |pod: &Reference| {
        let local: Vec<&str> =
            blocking.iter().filter(|other| other.namespace == pod.namespace).map(|other| other.name.as_str()).collect();
        let elsewhere = blocking.len() - local.len();
        let why = match (local.is_empty(), elsewhere) {
            (true, 0) => "Volume is already exclusively attached to one node, waiting on detach before it can be \
                          attached to another node"
                .to_owned(),
            (true, count) => format!("Volume is already used by {count} pod(s) in different namespaces"),
            (false, 0) => format!("Volume is already used by pod(s) {}", local.join(", ")),
            (false, count) => {
                let local = local.join(", ");
                format!("Volume is already used by pod(s) {local} and {count} pod(s) in different namespaces")
            }
        };
        let message = format!("Waiting for detach for volume {:?} {why}", node.volume_name);
        Step::Tell { pod: pod.clone(), is_warning: true, message }
    };
    node.pods.iter().map(tell).collect()
}

/// The rest of a time that began at `since`; none when it is over.
fn left_of(whole: Duration, since: Timestamp, now: Timestamp) -> Option<Duration> {
    let elapsed = now.duration_since(since).max(SignedDuration::ZERO);
    let left = whole.checked_sub(Duration::try_from(elapsed).unwrap_or_default());
    left.filter(|left| !left.is_zero())
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
