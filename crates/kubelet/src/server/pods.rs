//! /pods and /runningpods: the pods that the API has bound to this node, and those that the runtime
//! knows, whatever the API says.

use super::routes::json;
use super::{Body, text};
use crate::context::Context;
use crate::cri::{RuntimeError, v1};
use crate::observed::{CONTAINER_NAME_LABEL, PodIdentity};
use http::{Response, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The pods as the API server sent them; nothing of them is read for this.
pub(super) fn bound(context: &Context) -> String {
    let pods = context.pods.list(None);
    let items: Vec<_> = pods.iter().map(|pod| pod.document().root().to_json()).collect();
    render_list(&items.join(","))
}

pub(super) async fn running(context: &Context) -> Response<Body> {
    match read_running(context).await {
        Ok(pods) => json(render_list(&pods.iter().map(Value::to_string).collect::<Vec<_>>().join(","))),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

fn render_list(items: &str) -> String {
    format!(r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{}},"items":[{items}]}}"#)
}

async fn read_running(context: &Context) -> Result<Vec<Value>, RuntimeError> {
    let running = v1::ContainerStateValue { state: v1::ContainerState::ContainerRunning as i32 };
    let filter = v1::ContainerFilter { state: Some(running), ..Default::default() };
    let ready = v1::PodSandboxStateValue { state: v1::PodSandboxState::SandboxReady as i32 };
    let sandboxes = v1::PodSandboxFilter { state: Some(ready), ..Default::default() };
    let (containers, sandboxes) = tokio::try_join!(
        context.runtime.list_containers(Some(filter)),
        context.runtime.list_pod_sandboxes(Some(sandboxes))
    )?;
    Ok(render_running(&containers, &sandboxes))
}

/// As much of a pod as the runtime knows (upstream: kubecontainer.Pod.ToAPIPod). Pure.
fn render_running(containers: &[v1::Container], sandboxes: &[v1::PodSandbox]) -> Vec<Value> {
    let mut pods: BTreeMap<String, (PodIdentity, Vec<Value>)> = BTreeMap::new();
    for identity in sandboxes.iter().filter_map(|sandbox| PodIdentity::from_labels(&sandbox.labels)) {
        pods.entry(identity.uid.clone()).or_insert_with(|| (identity, Vec::new()));
    }
    for container in containers {
        let Some(identity) = PodIdentity::from_labels(&container.labels) else { continue };
        let image = container.image.as_ref().map(|image| image.image.as_str()).unwrap_or_default();
        let name = container.labels.get(CONTAINER_NAME_LABEL).map(String::as_str).unwrap_or_default();
        let own = pods.entry(identity.uid.clone()).or_insert_with(|| (identity, Vec::new()));
        own.1.push(json!({ "name": name, "image": image, "resources": {} }));
    }
    let render = |(identity, containers): (PodIdentity, Vec<Value>)| {
        json!({ "metadata": { "name": identity.name, "namespace": identity.namespace, "uid": identity.uid },
            "spec": { "containers": containers }, "status": {} })
    };
    pods.into_values().map(render).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn a_pod_is_its_sandbox_with_its_containers() {
        let labels = |container: Option<&str>| {
            let own = [("pod.name", "web"), ("pod.namespace", "ns"), ("pod.uid", "u")];
            let own = own.map(|(key, value)| (format!("io.kubernetes.{key}"), value.to_owned()));
            let container = container.map(|name| (CONTAINER_NAME_LABEL.to_owned(), name.to_owned()));
            own.into_iter().chain(container).collect::<HashMap<_, _>>()
        };
        let sandbox = v1::PodSandbox { labels: labels(None), ..Default::default() };
        let image = v1::ImageSpec { image: "i:1".into(), ..Default::default() };
        let container = v1::Container { labels: labels(Some("c")), image: Some(image), ..Default::default() };
        let pods = render_running(&[container], &[sandbox]);
        let expected = json!([{ "metadata": { "name": "web", "namespace": "ns", "uid": "u" },
            "spec": { "containers": [{ "name": "c", "image": "i:1", "resources": {} }] }, "status": {} }]);
        assert_eq!(Value::from(pods), expected);
    }
}
