//! Ends that the node itself decides for a pod: an eviction, or the node's own shutdown. The
//! deciding part hands an order to the pod's worker and waits until nothing of the pod runs.

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// The end of one pod, as its worker carries it out.
#[derive(Debug)]
pub struct PodEnd {
    /// Reason and message of the pod's status.
    pub reason: String,
    pub message: String,
    /// In seconds; a shorter grace of the pod's own deletion wins.
    pub grace_seconds: i64,
    /// Whether the pod gets the condition DisruptionTarget with the same message.
    pub is_disruption: bool,
    /// The pod's containers, logs and volumes go at once: they are why it has to end.
    pub frees_disk: bool,
    done: watch::Sender<bool>,
}

impl PodEnd {
    pub fn new(reason: &str, message: impl Into<String>, grace_seconds: i64) -> Self {
        Self {
            reason: reason.to_owned(),
            message: message.into(),
            grace_seconds,
            is_disruption: false,
            frees_disk: false,
            done: watch::Sender::new(false),
        }
    }

    /// Marks the pod as disrupted by its node.
    pub fn with_disruption(self, is_disruption: bool) -> Self {
        Self { is_disruption, ..self }
    }

    /// Removes the pod's remains at once.
    pub fn with_freed_disk(self) -> Self {
        Self { frees_disk: true, ..self }
    }

    /// Nothing of the pod runs any more. May be repeated.
    pub fn finish(&self) {
        self.done.send_replace(true);
    }
}

pub type EndOrder = (String, Arc<PodEnd>);

/// The way from those who decide to the workers.
pub struct PodEnds {
    sender: mpsc::UnboundedSender<EndOrder>,
    receiver: Mutex<Option<mpsc::UnboundedReceiver<EndOrder>>>,
}

impl Default for PodEnds {
    fn default() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        Self { sender, receiver: Mutex::new(Some(receiver)) }
    }
}

impl PodEnds {
    /// The orders, for the one who runs the workers.
    pub fn receiver(&self) -> Option<mpsc::UnboundedReceiver<EndOrder>> {
        self.receiver.lock().take()
    }

    /// Ends a pod and returns whether it has ended within the limit. A pod that has no worker has
    /// ended already.
    pub async fn end(&self, uid: &str, end: PodEnd, limit: Duration) -> bool {
        let mut done = end.done.subscribe();
        if self.sender.send((uid.to_owned(), Arc::new(end))).is_err() {
            return false;
        }
        // An order that is dropped belonged to a pod that is gone.
        tokio::time::timeout(limit, done.wait_for(|done| *done)).await.is_ok()
    }
}
