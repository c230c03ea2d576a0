//! /checkpoint: a running container's state as a file of the kubelet's
//! (upstream: Server.checkpoint and Kubelet.CheckpointContainer).

use super::routes::{Query, json};
use super::{Body, text};
use crate::context::Context;
use crate::observed::Observer;
use crate::pod;
use http::{Response, StatusCode};
use jiff::Timestamp;
use serde_json::json;
use std::os::unix::fs::DirBuilderExt;
use std::time::Duration;

const DIRECTORY: &str = "checkpoints";

pub(super) async fn serve(
    context: &Context,
    namespace: &str,
    name: &str,
    container: &str,
    query: &Query,
) -> Response<Body> {
    let Some(found) = context.pods.get(namespace, name) else {
        return text(StatusCode::NOT_FOUND, "pod does not exist");
    };
    if pod::find_container(found.view(), container).is_none() {
        return text(StatusCode::NOT_FOUND, format!("container {container} does not exist"));
    }
    let timeout = match query.all("timeout").last().map(|value| value.parse::<u64>()) {
        None => Duration::ZERO,
        Some(Ok(seconds)) => Duration::from_secs(seconds),
        Some(Err(_)) => return text(StatusCode::NOT_FOUND, "cannot parse value of timeout parameter"),
    };
    match take(context, found.view(), container, timeout).await {
        Ok(path) => json(json!({ "items": [path] }).to_string()),
        Err(why) => {
            let why = format!("checkpointing of {namespace}/{name}/{container} failed ({why})");
            text(StatusCode::INTERNAL_SERVER_ERROR, why)
        }
    }
}

async fn take(
    context: &Context,
    pod: ferry_api::view::core::v1::PodView<'_>,
    container: &str,
    timeout: Duration,
) -> Result<String, String> {
    let observed = Observer::new(context.container_files()).observe(&*context.runtime, pod::uid(pod), None).await;
    let observed = observed.map_err(|error| error.to_string())?;
    let record = observed.running().find(|record| record.name == container);
    let record = record.ok_or_else(|| format!("container {container} not found"))?;
    let directory = context.config.root_dir.join(DIRECTORY);
    // The file holds the memory of the container.
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    made.map_err(|error| error.to_string())?;
    let at = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
    let path = directory.join(format!("checkpoint-{}-{container}-{at}.tar", pod::full_name(pod)));
    let path = path.to_string_lossy().into_owned();
    let taken = context.runtime.checkpoint_container(&record.id, &path, timeout).await;
    taken.map(|()| path).map_err(|error| error.to_string())
}
