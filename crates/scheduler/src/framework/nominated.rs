//! Promises of nodes to pods that have preempted others and wait for them to go.

use crate::pod_info::PodInfo;
use std::collections::HashMap;
use std::sync::Arc;

/// Pods that have been promised a node, by node: those that are at least as important as the
/// pod in question count as if they were there already.
#[derive(Default)]
pub struct Nominated {
    by_node: HashMap<String, Vec<Arc<PodInfo>>>,
    /// The node of each pod, by uid.
    nodes: HashMap<Arc<str>, String>,
}

impl Nominated {
    /// Promises the node to the pod, and no other any more; an empty name promises none.
    pub fn set(&mut self, pod: &Arc<PodInfo>, node: &str) {
        self.remove(&pod.uid);
        if !node.is_empty() {
            self.by_node.entry(node.to_owned()).or_default().push(pod.clone());
            self.nodes.insert(pod.uid.clone(), node.to_owned());
        }
    }

    pub fn remove(&mut self, uid: &str) {
        let Some(node) = self.nodes.remove(uid) else { return };
        if let Some(pods) = self.by_node.get_mut(&node) {
            pods.retain(|pod| &*pod.uid != uid);
            if pods.is_empty() {
                self.by_node.remove(&node);
            }
        }
    }

    /// The pods that are promised the node and are less important than this.
    pub fn less_important(&self, node: &str, priority: i32) -> Vec<Arc<PodInfo>> {
        let pods = self.by_node.get(node).into_iter().flatten();
        pods.filter(|pod| pod.priority < priority).cloned().collect()
    }

    /// The pods that are promised the node and go before `pod`.
    pub(super) fn before<'a>(&'a self, node: &str, pod: &'a PodInfo) -> impl Iterator<Item = &'a Arc<PodInfo>> {
        // Nearly always nobody is promised anything, and the search asks for every node.
        let pods = if self.by_node.is_empty() { None } else { self.by_node.get(node) };
        let pods = pods.map(Vec::as_slice).unwrap_or_default();
        pods.iter().filter(|other| other.uid != pod.uid && other.priority >= pod.priority)
    }
}
