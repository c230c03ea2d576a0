//! Everything that the scheduler's loop reacts to, in the order in which it is taken: changes of
//! the cluster, and the ends of work that was done beside the loop.

use crate::Error;
use crate::framework::{CycleState, ObjectEvent};
use crate::pod_info::PodInfo;
use ferry_api::view::core::v1::{Namespace, Node, Pod};
use ferry_client::Event;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The result of a binding.
pub struct Binding {
    pub pod: Arc<PodInfo>,
    pub node: Arc<str>,
    pub state: CycleState,
    pub result: Result<(), Error>,
}

/// Work that was done beside the loop.
pub enum Finished {
    Binding(Binding),
    /// Requests for a pod that failed.
    Errand {
        pod: Arc<str>,
    },
    /// All victims have been asked to go, or one could not be.
    Preemption {
        preemptor: Arc<str>,
        is_complete: bool,
    },
}

/// Anything that the loop reacts to.
pub enum Input {
    Namespace(Event<Namespace>),
    Node(Event<Node>),
    Pod(Event<Pod>),
    Object(ObjectEvent),
    Finished(Finished),
}

pub struct Inputs {
    pub namespaces: mpsc::UnboundedReceiver<Event<Namespace>>,
    pub nodes: mpsc::UnboundedReceiver<Event<Node>>,
    pub pods: mpsc::UnboundedReceiver<Event<Pod>>,
    pub objects: mpsc::UnboundedReceiver<ObjectEvent>,
    pub finished: mpsc::UnboundedReceiver<Finished>,
}

impl Inputs {
    /// Waits for an input; `None` when an informer has ended. Namespaces and nodes come before
    /// the pods that may go to them.
    pub async fn next(&mut self) -> Option<Input> {
        tokio::select! {
            biased;
            event = self.namespaces.recv() => event.map(Input::Namespace),
            event = self.nodes.recv() => event.map(Input::Node),
            event = self.pods.recv() => event.map(Input::Pod),
            event = self.objects.recv() => event.map(Input::Object),
            work = self.finished.recv() => work.map(Input::Finished),
        }
    }

    /// An input that is there already.
    pub fn try_next(&mut self) -> Result<Input, mpsc::error::TryRecvError> {
        use mpsc::error::TryRecvError::Empty;
        match self.namespaces.try_recv() {
            Err(Empty) => {}
            event => return event.map(Input::Namespace),
        }
        match self.nodes.try_recv() {
            Err(Empty) => {}
            event => return event.map(Input::Node),
        }
        match self.pods.try_recv() {
            Err(Empty) => {}
            event => return event.map(Input::Pod),
        }
        match self.objects.try_recv() {
            Err(Empty) => {}
            event => return event.map(Input::Object),
        }
        self.finished.try_recv().map(Input::Finished)
    }
}
