//! ImageLocality: prefers nodes that have the pod's images already, by their size, and
//! the more so the more nodes have them, lest one node draws all pods.

use crate::framework::{CycleState, MAX_NODE_SCORE, Plugin, Points, PreScore, PreScoreResult, Score, points};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use std::sync::Arc;

pub struct ImageLocality;

const MB: i64 = 1024 * 1024;
/// Below this an image is pulled so fast that it makes no difference.
const MIN: i64 = 23 * MB;
/// Above this for each container it makes all the difference.
const MAX_EACH: i64 = 1000 * MB;

/// The images of the pod that any node has.
struct PodImages {
    /// By name, with the share of the nodes that have it.
    images: Vec<(String, f64)>,
    /// The sum of sizes from which on a node gets the best score.
    max: i64,
}

impl Plugin for ImageLocality {
    fn name(&self) -> &'static str {
        "ImageLocality"
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: pre_score, score)
    }
}

impl PreScore for ImageLocality {
    fn pre_score(
        &self,
        state: &mut CycleState,
        pod: &PodInfo,
        _nodes: &[&NodeInfo],
        snapshot: &Snapshot,
    ) -> PreScoreResult {
        if snapshot.image_nodes.is_empty() {
            return PreScoreResult::Skip;
        }
        let spec = pod.spec();
        let containers = || spec.init_containers().iter().chain(spec.containers());
        let volumes = spec.volumes().iter().filter_map(|volume| Some(volume.image()?.reference()));
        let all = snapshot.len().max(1) as f64;
        let images: Vec<(String, f64)> = containers()
            .map(|container| container.image())
            .chain(volumes)
            .filter_map(|image| {
                let image = normalized(image);
                let nodes = *snapshot.image_nodes.get(&image)?;
                Some((image, nodes as f64 / all))
            })
            .collect();
        if images.is_empty() {
            return PreScoreResult::Skip;
        }
        let max = MAX_EACH * i64::try_from(containers().count().max(1)).unwrap_or(1);
        state.write(PodImages { images, max });
        PreScoreResult::Run
    }
}

impl Score for ImageLocality {
    fn score(&self, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> i64 {
        let Some(PodImages { images, max }) = state.read() else { return 0 };
        let there = images.iter().filter_map(|(image, share)| Some((*node.images.get(image)?, share)));
        let sum: i64 = there.map(|(size, share)| (size as f64 * share) as i64).sum();
        MAX_NODE_SCORE * (sum.clamp(MIN, *max) - MIN) / (max - MIN)
    }
}

/// The name with its tag.
fn normalized(image: &str) -> String {
    let tag = image.rfind(':');
    let has_tag = tag > image.rfind('/') && tag.is_some();
    if has_tag { image.to_owned() } else { format!("{image}:latest") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{holding, node, pod, scores};
    use serde_json::json;

    #[test]
    fn names_get_their_tag() {
        assert_eq!(normalized("nginx"), "nginx:latest");
        assert_eq!(normalized("host:5000/nginx"), "host:5000/nginx:latest");
        assert_eq!(normalized("host:5000/nginx:1"), "host:5000/nginx:1");
    }

    #[test]
    fn images_that_are_there_and_widespread_count() {
        let having = |name: &str, mb: i64| {
            holding(node(name, json!({"status": {"images": [{"names": ["app:1"], "sizeBytes": mb * MB}]}})), &[])
        };
        let nodes = vec![having("a", 511), having("b", 511), holding(node("c", json!({})), &[])];
        // Two of three nodes have it, so two thirds of 511 MB count: (340 - 23) of (1000 - 23).
        assert_eq!(scores(ImageLocality, &pod(json!({})), nodes), [32, 32, 0]);
    }
}
