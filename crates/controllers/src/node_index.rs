//! The pods of a node, found without going over all pods. Used by the controllers that act
//! when a node changes or goes.

use ferry_api::view::core::v1::Pod;
use ferry_client::{Informer, SharedObject};

const BY_NODE: &str = "node";

/// Indexes pods by the node that they are bound to.
pub(crate) fn by_node(pods: Informer<Pod>) -> Informer<Pod> {
    pods.indexed(BY_NODE, |pod| {
        let node = pod.view().spec().node_name();
        if node.is_empty() { Vec::new() } else { vec![node.to_owned()] }
    })
}

/// The pods that are bound to a node, by namespace and name.
pub(crate) fn on_node(pods: &Informer<Pod>, node: &str) -> Vec<SharedObject<Pod>> {
    pods.by_index(BY_NODE, node)
}
