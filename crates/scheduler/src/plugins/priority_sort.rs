//! PrioritySort: the more important pod goes first, of equals the one that waits longer.

use crate::framework::{ClusterEvent, Hint, Plugin, QueueSort};
use crate::queue::QueuedPod;
use crate::view::Pod;

pub struct PrioritySort;

impl Plugin for PrioritySort {
    fn name(&self) -> &'static str {
        "PrioritySort"
    }

    fn hint(&self, _pod: &Pod, _event: &ClusterEvent<'_>) -> Hint {
        Hint::Skip
    }

    fn as_queue_sort(&self) -> Option<&dyn QueueSort> {
        Some(self)
    }
}

impl QueueSort for PrioritySort {
    fn sort_key(&self, pod: &QueuedPod) -> (i64, u64) {
        (-i64::from(pod.pod.spec.priority), pod.order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::pod;
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn priority_comes_before_age() {
        let key = |priority: i32, order: u64| {
            let queued = QueuedPod::new(Arc::new(pod(json!({"priority": priority}))), order);
            PrioritySort.sort_key(&queued)
        };
        assert!(key(10, 2) < key(0, 1));
        assert!(key(0, 1) < key(0, 2));
    }
}
