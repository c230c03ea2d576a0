//! PrioritySort: the more important pod goes first, of equals the one that waits longer.

use crate::framework::{Plugin, Points, QueueSort, points};
use crate::queue::QueuedPod;
use std::sync::Arc;

pub struct PrioritySort;

impl Plugin for PrioritySort {
    fn name(&self) -> &'static str {
        "PrioritySort"
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: queue_sort)
    }
}

impl QueueSort for PrioritySort {
    fn sort_key(&self, pod: &QueuedPod) -> (i64, u64) {
        (-i64::from(pod.pod.priority), pod.order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::pod;
    use serde_json::json;

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
