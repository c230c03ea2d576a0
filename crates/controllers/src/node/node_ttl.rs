//! Tells kubelets by an annotation of their Node for how long they may keep Secrets and
//! ConfigMaps without asking again: the more nodes, the longer.
//!
//! Upstream: pkg/controller/ttl.

use crate::error::{During, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_api::view::core::v1::{Node, NodeView};
use ferry_client::{Event, Informers, Patch};
use parking_lot::Mutex;
use serde_json::json;
use std::sync::Arc;

const TTL_ANNOTATION: &str = "node.alpha.kubernetes.io/ttl";

/// From so many nodes, to so many, and the seconds. The ranges overlap, so that a cluster at a
/// border does not change its mind with every node.
const STEPS: [(usize, usize, u32); 5] =
    [(0, 100, 0), (90, 500, 15), (450, 1000, 30), (900, 2000, 60), (1800, usize::MAX, 300)];

#[derive(Default)]
pub(crate) struct NodeTtlController {
    size: Arc<Mutex<ClusterSize>>,
}

#[async_trait]
impl Controller for NodeTtlController {
    fn name(&self) -> &'static str {
        "ttl-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let (size, nodes) = (self.size.clone(), informers.of::<Node>());
        vec![Watch::new(nodes.clone(), move |event, enqueue| {
            let has_step_changed = match event {
                Event::Added(_) => size.lock().change(1),
                Event::Deleted(_) => size.lock().change(-1),
                Event::Updated { .. } => false,
            };
            if has_step_changed {
                nodes.for_each(|node| enqueue.add_object(node.meta()));
            } else if ttl_of(event.object().view()) != Some(size.lock().ttl()) {
                enqueue.add_object(event.object().meta());
            }
        })]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(node) = ctx.informers.of::<Node>().get("", &key.name) else { return Ok(Action::Done) };
        let ttl = self.size.lock().ttl();
        if ttl_of(node.view()) == Some(ttl) {
            return Ok(Action::Done);
        }
        let patch = json!({"metadata": {"annotations": {TTL_ANNOTATION: ttl.to_string()}}});
        match ctx.client.api::<Node>("").patch(&key.name, &Patch::Strategic(patch)).await {
            Err(error) if error.is_not_found() => Ok(Action::Done),
            other => other.during("set the ttl of node", key).map(|_| Action::Done),
        }
    }
}

fn ttl_of(node: NodeView<'_>) -> Option<u32> {
    node.metadata().annotations().get(TTL_ANNOTATION)?.parse().ok()
}

/// The number of nodes, and the step that it has led to.
#[derive(Default)]
struct ClusterSize {
    nodes: usize,
    step: usize,
}

impl ClusterSize {
    /// Counts a node more or less, and returns whether that changed the step.
    fn change(&mut self, by: isize) -> bool {
        self.nodes = self.nodes.saturating_add_signed(by);
        let (least, most, _) = STEPS[self.step];
        let before = self.step;
        if self.nodes > most {
            self.step += 1;
        } else if self.nodes < least {
            self.step -= 1;
        }
        self.step != before
    }

    fn ttl(&self) -> u32 {
        STEPS[self.step].2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ttl_grows_with_the_cluster_and_shrinks_later() {
        let mut size = ClusterSize::default();
        let mut check = |nodes: usize, expected: u32| {
            while size.nodes != nodes {
                size.change(if size.nodes < nodes { 1 } else { -1 });
            }
            assert_eq!(size.ttl(), expected, "{nodes} nodes");
        };
        check(0, 0);
        check(100, 0);
        check(101, 15);
        check(90, 15);
        check(89, 0);
        check(500, 15);
        check(501, 30);
        check(1001, 60);
        check(5000, 300);
        check(1800, 300);
        check(1799, 60);
        check(0, 0);
    }

    #[test]
    fn a_ttl_that_is_no_number_is_none() {
        let check = |annotation: serde_json::Value, expected: Option<u32>| {
            let node = json!({"metadata": {"annotations": {TTL_ANNOTATION: annotation}}});
            assert_eq!(ttl_of((&node).into()), expected);
        };
        check(json!("15"), Some(15));
        check(json!("soon"), None);
        check(json!(null), None);
    }
}
