//! The resources of a pod on this node: admission, resizes that wait for room, and what containers
//! have by now.

use super::{PodWorker, revision};
use crate::admit::{self, Rejection};
use crate::allocation::Arrival;
use crate::container::sandbox;
use crate::observed::PodRuntime;
use crate::unsupported;
use ferry_api::rules::qos::{QosClass, qos_class};
use ferry_api::view::core::v1::Node;
use ferry_client::SharedObject;

impl PodWorker {
    /// `None` where it cannot be judged now, as when the process is ending: a rejection is for good.
    pub(super) async fn admit(&mut self, observed: &PodRuntime) -> Option<Result<(), Rejection>> {
        // Also of a pod that an earlier kubelet admitted: running it on without what its
        // fields promise is no better than starting it.
        let judgement = unsupported::judge(self.pod.view());
        self.missing_volumes = judgement.missing_volumes;
        if let Some(rejection) = judgement.rejection {
            return Some(Err(rejection));
        }
        // A pod that already has something here was admitted by an earlier kubelet.
        let is_new = observed.sandboxes.is_empty() && observed.containers.is_empty();
        if is_new {
            let (pressure, is_ending) = (self.context.pressure.borrow().clone(), *self.context.shutting_down.borrow());
            if let Err(rejection) = admit::admit_in_state(self.wanted.view(), &pressure, is_ending) {
                return Some(Err(rejection));
            }
        }
        let arrival = if is_new { Arrival::New } else { Arrival::Adopted };
        let (allocations, pod, node) = (self.context.allocations.clone(), self.wanted.clone(), self.node());
        let judged = tokio::task::spawn_blocking(move || allocations.admit(&pod, node.as_ref(), arrival)).await;
        judged.ok()
    }

    fn node(&self) -> Option<SharedObject<Node>> {
        self.context.node.get("", &self.context.config.node_name)
    }

    /// Gives the pod the resources that it asks for, as far as the node has room.
    pub(super) async fn allocate(&mut self) {
        let allocations = self.context.allocations.clone();
        // The newest status counts with the newest spec.
        let newest = if revision(&self.known) > revision(&self.wanted) { &self.known } else { &self.wanted };
        if allocations.note(newest) {
            self.retry_resizes().await;
        }
        self.pod = allocations.allocated(&self.wanted);
    }

    async fn retry_resizes(&self) {
        let Some(node) = self.node() else { return };
        let allocations = self.context.allocations.clone();
        let _ = tokio::task::spawn_blocking(move || allocations.retry(&node)).await;
    }

    /// Frees what the pod has of the node, for new pods and for resizes that wait.
    pub(super) async fn release(&self) {
        if self.context.allocations.remove(&self.uid) {
            self.retry_resizes().await;
        }
    }

    /// The amounts that containers have been resized to since they were made, and what the kernel
    /// holds them to. Only pods with resources are looked at.
    pub(super) fn with_cgroups(&self, mut observed: PodRuntime) -> PodRuntime {
        if qos_class(self.pod.view()) == QosClass::BestEffort {
            return observed;
        }
        let actuated = self.context.allocations.actuated(&self.uid);
        for record in &mut observed.containers {
            record.actuated = actuated.get(&record.id).copied().or(record.actuated);
        }
        observed.read_cgroups(&sandbox::cgroup_parent(self.pod.view(), &self.context.machine().cgroup_root));
        observed
    }
}
