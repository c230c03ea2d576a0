//! ImageLocality: prefers nodes that have the pod's images already, by their size, and
//! the more so the more nodes have them, lest one node draws all pods.

use crate::framework::{ClusterEvent, CycleState, Hint, MAX_NODE_SCORE, Plugin, Score};
use crate::snapshot::{NodeInfo, Snapshot};
use crate::view::Pod;

pub struct ImageLocality;

const MB: i64 = 1024 * 1024;
/// Below this an image is pulled so fast that it makes no difference.
const MIN: i64 = 23 * MB;
/// Above this for each container it makes all the difference.
const MAX_EACH: i64 = 1000 * MB;

impl Plugin for ImageLocality {
    fn name(&self) -> &'static str {
        "ImageLocality"
    }

    fn hint(&self, _pod: &Pod, _event: &ClusterEvent<'_>) -> Hint {
        Hint::Skip
    }

    fn as_score(&self) -> Option<&dyn Score> {
        Some(self)
    }
}

impl Score for ImageLocality {
    fn score(&self, _state: &CycleState, pod: &Pod, node: &NodeInfo, snapshot: &Snapshot) -> i64 {
        let containers = pod.spec.init_containers.iter().chain(&pod.spec.containers);
        let volumes = pod.spec.volumes.iter().filter_map(|volume| Some(&volume.image.as_ref()?.reference));
        let count = pod.spec.init_containers.len() + pod.spec.containers.len();
        let images = containers.map(|container| &container.image).chain(volumes);
        let sum: i64 = images
            .filter_map(|image| {
                let image = normalized(image);
                let size = *node.images.get(&image)?;
                let nodes = snapshot.image_nodes.get(&image).copied().unwrap_or(0);
                Some((size as f64 * (nodes as f64 / snapshot.len().max(1) as f64)) as i64)
            })
            .sum();
        let max = MAX_EACH * i64::try_from(count.max(1)).unwrap_or(1);
        MAX_NODE_SCORE * (sum.clamp(MIN, max) - MIN) / (max - MIN)
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
