//! DefaultBinder: sends the pod's node to the API.

use crate::Error;
use crate::framework::{Bind, Plugin, Points, points};
use crate::pod_info::PodInfo;
use async_trait::async_trait;
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{Binding, ObjectReference, Pod};
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_client::Client;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Requests under way at once. A namespace's requests of the scheduler wait in six queues of
/// 50 for a seat (the priority level `workload-high`), and one that finds them full is
/// rejected and comes back a second later.
const REQUESTS_AT_ONCE: usize = 256;

pub struct DefaultBinder {
    requests: Semaphore,
}

impl Default for DefaultBinder {
    fn default() -> Self {
        Self { requests: Semaphore::new(REQUESTS_AT_ONCE) }
    }
}

const NAME: &str = "DefaultBinder";

impl Plugin for DefaultBinder {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: bind)
    }
}

/// The uid keeps a pod that was deleted and made anew from being bound in its place.
fn render_binding(pod: &PodInfo, node: &str) -> Binding {
    let meta = ObjectMeta::new().with_name(pod.name()).with_namespace(pod.namespace()).with_uid(&*pod.uid);
    Binding::new().with_metadata(meta).with_target(ObjectReference::new().with_kind("Node").with_name(node))
}

#[async_trait]
impl Bind for DefaultBinder {
    async fn bind(&self, client: &Client, pod: &PodInfo, node: &str) -> Result<(), Error> {
        // Nobody closes the semaphore, and without a permit the request would only wait elsewhere.
        let _permit = self.requests.acquire().await;
        let binding = render_binding(pod, node);
        // The answer is a status, which nobody reads.
        client
            .api::<Pod>(pod.namespace())
            .create_subresource::<Binding>(pod.name(), "binding", binding.value())
            .await
            .map(drop)
            .map_err(|source| Error::Bind { plugin: NAME, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::pod;
    use serde_json::json;

    #[test]
    fn a_binding_names_pod_and_node() {
        let binding: serde_json::Value = render_binding(&pod(json!({})), "node-a").into();
        assert_eq!(binding["metadata"], json!({"name": "web", "namespace": "default", "uid": "web"}));
        assert_eq!(binding["target"], json!({"kind": "Node", "name": "node-a"}));
    }
}
