//! The loop's own requests about pods: the end of a victim, and the node that a pod is expected
//! on. Called beside the loop.

use crate::pod_info::PodInfo;
use crate::report::render_victim_patch;
use ferry_api::view::core::v1::Pod;
use ferry_client::{Client, DeleteParams, Patch, Recorder};
use jiff::Timestamp;
use serde_json::json;

/// Asks a victim to go. Returns whether it goes, or is gone.
pub async fn evict(
    client: &Client,
    recorder: Option<&Recorder>,
    preemptor: &PodInfo,
    victim: &PodInfo,
    node: &str,
) -> bool {
    let api = client.api::<Pod>(victim.namespace());
    let patch = render_victim_patch(&victim.uid, preemptor.view(), Timestamp::now());
    let pod = match api.patch_status(victim.name(), &Patch::Strategic(patch)).await {
        Ok(pod) => pod,
        Err(error) if error.is_not_found() => return true,
        Err(error) => {
            tracing::warn!(victim = victim.name(), %error, "cannot report a preemption to its victim");
            return false;
        }
    };
    let params = DeleteParams { uid: Some(victim.uid.to_string()), ..Default::default() };
    match api.delete(victim.name(), &params).await {
        Ok(()) => {
            let message = format!("Preempted by pod {} on node {node}", preemptor.uid);
            recorder.into_iter().for_each(|recorder| recorder.normal(&pod, "Preempted", message.clone()));
            true
        }
        Err(error) if error.is_not_found() => true,
        Err(error) => {
            tracing::warn!(victim = victim.name(), %error, "cannot preempt a pod");
            false
        }
    }
}

/// Writes or takes back the node that a pod is expected on.
pub async fn nominate(client: &Client, pod: &PodInfo, node: Option<&str>) {
    let patch = json!({"metadata": {"uid": &*pod.uid}, "status": {"nominatedNodeName": node}});
    let result = client.api::<Pod>(pod.namespace()).patch_status(pod.name(), &Patch::Strategic(patch)).await;
    if let Err(error) = result
        && !error.is_not_found()
    {
        tracing::warn!(pod = pod.name(), %error, "cannot nominate a node");
    }
}
