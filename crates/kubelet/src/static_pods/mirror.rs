//! Mirror pods: for each static pod a pod in the API that shows it. A mirror that is deleted, or
//! of an older manifest, is made anew; one without its static pod goes when that has ended
//! (upstream: tryReconcileMirrorPods of pkg/kubelet/kubelet.go, pkg/kubelet/pod/mirror_client.go).

use super::manifest::{HASH, MIRROR};
use super::{FullName, StaticPods};
use crate::Error;
use crate::context::Context;
use crate::pod;
use ferry_api::view::core::v1::{Node, Pod, PodView};
use ferry_client::{DeleteParams, Event, SharedObject};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A mirror that could not be written is tried again after these.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(30);

/// The uid of the static pod behind a mirror.
pub fn static_uid(mirror: PodView<'_>) -> Option<&str> {
    mirror.metadata().annotations().get(MIRROR)
}

/// The static pod with the status that its mirror has.
pub fn with_status(pod: &SharedObject<Pod>, mirror: &SharedObject<Pod>) -> SharedObject<Pod> {
    let mut own = pod.to_owned();
    own.set_status(mirror.view().status());
    SharedObject::of(own)
}

#[derive(Debug, PartialEq)]
enum MirrorPlan {
    Keep,
    /// Nothing can be written before this node has a uid.
    AwaitNode,
    Create,
    /// The mirror of this uid; where a static pod has the name, a new one follows.
    Delete(String),
}

/// `is_ending` holds while processes of an earlier static pod of this name may still run.
fn plan_mirror(wanted: Option<&str>, mirror: Option<PodView<'_>>, has_node: bool, is_ending: bool) -> MirrorPlan {
    match (wanted, mirror) {
        (None, None) => MirrorPlan::Keep,
        (None, Some(_)) if is_ending => MirrorPlan::Keep,
        (Some(uid), Some(mirror)) if static_uid(mirror) == Some(uid) && !pod::is_deleting(mirror) => MirrorPlan::Keep,
        (_, Some(mirror)) => MirrorPlan::Delete(pod::uid(mirror).to_owned()),
        (Some(_), None) if has_node => MirrorPlan::Create,
        (Some(_), None) => MirrorPlan::AwaitNode,
    }
}

/// The mirror of a static pod, owned by the node as admission asks for.
fn render_mirror(pod: &SharedObject<Pod>, node: &SharedObject<Node>) -> Pod {
    let mut mirror: Value = pod.to_owned().into();
    let uid = pod.meta().annotations().get(HASH).unwrap_or_default().to_owned();
    mirror["metadata"]["annotations"][MIRROR] = json!(uid);
    mirror["metadata"]["ownerReferences"] = json!([{ "apiVersion": "v1", "kind": "Node", "name": node.name(),
        "uid": node.uid(), "controller": true }]);
    if let Some(metadata) = mirror["metadata"].as_object_mut() {
        metadata.remove("uid");
    }
    if let Some(fields) = mirror.as_object_mut() {
        fields.remove("status");
    }
    Pod::from(mirror)
}

/// Keeps the mirrors until `shutdown`.
pub async fn run(context: Arc<Context>, shutdown: CancellationToken) -> Result<(), Error> {
    let static_pods = context.static_pods.clone();
    tokio::select! {
        () = shutdown.cancelled() => return Ok(()),
        () = async {
            static_pods.listed().await;
            context.pods.synced().await;
            context.node.synced().await;
        } => {}
    }
    let mut pods = context.pods.subscribe();
    let mut nodes = context.node.subscribe();
    let mut due: BTreeSet<FullName> = static_pods.names();
    let mut pause = FIRST_RETRY;
    loop {
        let mut failed = BTreeSet::new();
        for name in std::mem::take(&mut due) {
            if let Err(error) = reconcile(&context, &static_pods, &name).await {
                tracing::warn!(pod = %name.1, namespace = %name.0, %error, "cannot write the mirror of a static pod");
                failed.insert(name);
            }
        }
        pause = if failed.is_empty() { FIRST_RETRY } else { (pause * 2).min(LAST_RETRY) };
        let has_failed = !failed.is_empty();
        due = failed;
        tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            event = pods.recv() => match event {
                Some(Event::Added(pod) | Event::Deleted(pod) | Event::Updated { new: pod, .. }) => {
                    if pod::is_mirror(pod.view()) {
                        due.insert((pod.namespace().to_owned(), pod.name().to_owned()));
                    }
                }
                None => return Ok(()),
            },
            // The first version of the node has the uid that mirrors need.
            event = nodes.recv() => match event {
                Some(Event::Added(_)) => due.extend(static_pods.names()),
                Some(_) => {}
                None => return Ok(()),
            },
            changed = static_pods.changed() => due.extend(changed),
            () = tokio::time::sleep(pause), if has_failed => {}
        }
    }
}

async fn reconcile(
    context: &Context,
    static_pods: &StaticPods,
    (namespace, name): &FullName,
) -> Result<(), ferry_client::Error> {
    let wanted = static_pods.get(namespace, name);
    let mirror = context.pods.get(namespace, name).filter(|pod| pod::is_mirror(pod.view()));
    let node =
        context.node.get("", &context.config.node_name).filter(|node| !node.uid().is_empty() && !node.is_deleting());
    let api = context.client.api::<Pod>(namespace);
    let is_ending = static_pods.is_ending(namespace, name);
    let plan = plan_mirror(
        wanted.as_ref().map(SharedObject::uid),
        mirror.as_ref().map(SharedObject::view),
        node.is_some(),
        is_ending,
    );
    match (plan, wanted, node) {
        (MirrorPlan::Delete(uid), ..) => {
            let params = DeleteParams { grace_period_seconds: Some(0), uid: Some(uid), ..Default::default() };
            match api.delete(name, &params).await {
                Err(error) if !error.is_not_found() && !error.is_conflict() => Err(error),
                _ => Ok(()),
            }
        }
        (MirrorPlan::Create, Some(pod), Some(node)) => match api.create(&render_mirror(&pod, &node)).await {
            // The cache has yet to show it, or its owner is told of the pod in its way.
            Err(error) if error.is_already_exists() => match api.get(name).await {
                Ok(found) if static_uid(found.view()) == Some(pod.uid()) => Ok(()),
                _ => Err(error),
            },
            created => created.map(drop),
        },
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mirror(hash: &str, deleting: bool) -> SharedObject<Pod> {
        let mut pod = json!({ "metadata": { "name": "web-a", "namespace": "default", "uid": "m1",
            "annotations": { MIRROR: hash } } });
        if deleting {
            pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        }
        SharedObject::of(pod)
    }

    #[test]
    fn a_mirror_follows_its_static_pod() {
        let good = mirror("h", false);
        let plan = |wanted, mirror: Option<&SharedObject<Pod>>, ending| {
            plan_mirror(wanted, mirror.map(SharedObject::view), true, ending)
        };
        assert_eq!(plan(Some("h"), None, false), MirrorPlan::Create);
        assert_eq!(plan(Some("h"), Some(&good), false), MirrorPlan::Keep);
        assert_eq!(plan(Some("other"), Some(&good), false), MirrorPlan::Delete("m1".into()));
        assert_eq!(plan(Some("h"), Some(&mirror("h", true)), false), MirrorPlan::Delete("m1".into()));
        assert_eq!(plan(None, Some(&good), true), MirrorPlan::Keep);
        assert_eq!(plan(None, Some(&good), false), MirrorPlan::Delete("m1".into()));
        assert_eq!(plan_mirror(Some("h"), None, false, false), MirrorPlan::AwaitNode);
    }

    #[test]
    fn a_mirror_is_owned_by_its_node() {
        let pod = SharedObject::of(json!({ "metadata": { "name": "web-a", "namespace": "default", "uid": "h",
            "annotations": { HASH: "h" } }, "spec": { "nodeName": "a" }, "status": { "phase": "Pending" } }));
        let node = SharedObject::of(json!({ "metadata": { "name": "a", "uid": "n1" } }));
        let rendered: Value = render_mirror(&pod, &node).into();
        assert_eq!(rendered["metadata"]["annotations"][MIRROR], "h");
        assert_eq!(rendered["metadata"]["ownerReferences"][0]["uid"], "n1");
        assert_eq!((&rendered["metadata"]["uid"], &rendered["status"]), (&Value::Null, &Value::Null));
    }
}
