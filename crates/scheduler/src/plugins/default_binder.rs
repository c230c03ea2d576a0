//! DefaultBinder: tells the API the pod's node.

use crate::Error;
use crate::framework::{Bind, ClusterEvent, Hint, Plugin};
use crate::view::Pod;
use async_trait::async_trait;
use ferry_client::Client;
use k8s_openapi::api::core::v1::Pod as ApiPod;
use serde_json::{Value, json};

pub struct DefaultBinder;

const NAME: &str = "DefaultBinder";

impl Plugin for DefaultBinder {
    fn name(&self) -> &'static str {
        NAME
    }

    fn hint(&self, _pod: &Pod, _event: &ClusterEvent<'_>) -> Hint {
        Hint::Skip
    }

    fn as_bind(&self) -> Option<&dyn Bind> {
        Some(self)
    }
}

/// The uid keeps a pod that was deleted and made anew from being bound in its place.
fn render_binding(pod: &Pod, node: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod.name(), "namespace": pod.namespace(), "uid": pod.uid()},
        "target": {"kind": "Node", "name": node},
    })
}

#[async_trait]
impl Bind for DefaultBinder {
    async fn bind(&self, client: &Client, pod: &Pod, node: &str) -> Result<(), Error> {
        let binding = render_binding(pod, node);
        client
            .create_subresource::<ApiPod, Value, Value>(pod.namespace(), pod.name(), "binding", &binding)
            .await
            .map(drop)
            .map_err(|source| Error::Bind { plugin: NAME, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::pod;

    #[test]
    fn a_binding_names_pod_and_node() {
        let binding = render_binding(&pod(json!({})), "node-a");
        assert_eq!(binding["metadata"], json!({"name": "web", "namespace": "default", "uid": "web"}));
        assert_eq!(binding["target"], json!({"kind": "Node", "name": "node-a"}));
    }
}
