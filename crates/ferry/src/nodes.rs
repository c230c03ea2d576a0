//! `ferry node drain` and `ferry node remove`. A node is emptied as `kubectl drain` does it, by
//! evictions that respect disruption budgets; a removal is noted in the cluster's settings
//! before the Node goes, so that the machine ends also where it is off at the moment.

use crate::join::settings;
use crate::progress::say;
use crate::status::admin_client;
use crate::{Place, daemon};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use ferry_api::rules::{condition, owner};
use ferry_api::view::core::v1::{ConfigMap, Node, Pod, PodView};
use ferry_client::{Client, DeleteParams, ListParams, Patch, Request};
use http::Method;
use serde_json::json;
use std::time::{Duration, Instant};

/// The pause before an eviction that a budget refused is tried again, as kubectl's.
const EVICTION_PAUSE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(250);
const MIRROR: &str = "kubernetes.io/config.mirror";

#[derive(Subcommand)]
pub enum Verb {
    /// Move a node's pods elsewhere and keep new ones from it, as `kubectl drain` does
    Drain(DrainArgs),
    /// Empty a node, if it lives, and remove it from the cluster
    Remove(RemoveArgs),
}

#[derive(Args)]
pub struct DrainArgs {
    #[command(flatten)]
    place: Place,
    /// The node's name
    node: String,
    #[command(flatten)]
    options: DrainOptions,
}

#[derive(Args)]
pub struct RemoveArgs {
    #[command(flatten)]
    place: Place,
    /// The node's name
    node: String,
    /// Remove it with its pods as they are
    #[arg(long)]
    now: bool,
    #[command(flatten)]
    options: DrainOptions,
}

#[derive(Args)]
struct DrainOptions {
    /// Also pods that no controller makes anew elsewhere
    #[arg(long)]
    force: bool,
    /// Also pods whose emptyDir volumes are lost with them
    #[arg(long)]
    delete_emptydir_data: bool,
    /// How long it may take, in seconds
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    timeout: u64,
}

pub async fn run(verb: Verb) -> Result<()> {
    let (place, name) = match &verb {
        Verb::Drain(args) => (&args.place, &args.node),
        Verb::Remove(args) => (&args.place, &args.node),
    };
    let cluster = daemon::running_cluster(place)?;
    let client = admin_client(&cluster)?;
    let node = match client.api::<Node>("").get(name).await {
        Err(error) if error.is_not_found() => bail!("there is no node {name:?}; `ferry status` shows those there are"),
        other => other.context("cannot read the node")?,
    };
    match &verb {
        Verb::Drain(args) => drain(&client, &args.node, &args.options).await,
        Verb::Remove(args) => {
            if cluster.role.has_node() && args.node == cluster.node_name {
                bail!("{name:?} is the server's own node; `ferry uninstall` removes the cluster");
            }
            let lives = condition::is_true(node.view().status().conditions(), "Ready");
            if lives && !args.now {
                drain(&client, &args.node, &args.options).await?;
            }
            remove(&client, &args.node).await
        }
    }
}

async fn remove(client: &Client, name: &str) -> Result<()> {
    let note = Patch::Merge(settings::render_removal(name, jiff::Timestamp::now().as_second()));
    let maps = client.api::<ConfigMap>(settings::NAMESPACE);
    maps.patch(settings::NAME, &note).await.context("cannot note the removal")?;
    match client.api::<Node>("").delete(name, &DeleteParams::default()).await {
        Err(error) if !error.is_not_found() => return Err(error).context("cannot delete the node"),
        _ => {}
    }
    say(&format!(
        "node {name:?} is removed; its machine stops its pods. It joins again with a new token (`ferry token create`); `ferry uninstall` there removes the rest"
    ));
    Ok(())
}

async fn drain(client: &Client, name: &str, options: &DrainOptions) -> Result<()> {
    let cordon = Patch::Merge(json!({"spec": {"unschedulable": true}}));
    client.api::<Node>("").patch(name, &cordon).await.context("cannot cordon the node")?;
    let pods = pods_of(client, name).await?;
    let plan = pods.iter().map(|pod| (pod, plan_pod(pod.view(), options))).collect::<Vec<_>>();
    let refused: Vec<String> = plan
        .iter()
        .filter_map(|(pod, fate)| match fate {
            Fate::Refuse(why) => Some(format!("  {}/{}: {why}", pod.namespace(), pod.name())),
            _ => None,
        })
        .collect();
    if !refused.is_empty() {
        bail!("node {name:?} takes no new pods, but these stand in the way:\n{}", refused.join("\n"));
    }
    let deadline = Instant::now() + Duration::from_secs(options.timeout);
    let evicted: Vec<_> = plan.into_iter().filter(|(_, fate)| *fate == Fate::Evict).map(|(pod, _)| pod).collect();
    for pod in &evicted {
        evict(client, pod.namespace(), pod.name(), deadline).await?;
    }
    for pod in &evicted {
        await_end(client, pod.namespace(), pod.name(), pod.uid(), deadline).await?;
    }
    say(&format!("node {name:?} is drained: {} moved, and it takes no new ones", count(evicted.len())));
    Ok(())
}

fn count(pods: usize) -> String {
    if pods == 1 { "1 pod".to_owned() } else { format!("{pods} pods") }
}

async fn pods_of(client: &Client, node: &str) -> Result<Vec<ferry_client::SharedObject<Pod>>> {
    let params = ListParams { field_selector: Some(format!("spec.nodeName={node}")), ..Default::default() };
    Ok(client.api::<Pod>("").list(&params).await.context("cannot list the node's pods")?.items)
}

#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Evict,
    /// It belongs on the node, or is none of the API server's.
    Leave,
    Refuse(&'static str),
}

/// kubectl's filters (staging/src/k8s.io/kubectl/pkg/drain/filters.go).
fn plan_pod(pod: PodView<'_>, options: &DrainOptions) -> Fate {
    let metadata = pod.metadata();
    let controller = owner::controller_of(metadata);
    let is_over = matches!(pod.status().phase(), "Succeeded" | "Failed");
    if metadata.annotations().contains_key(MIRROR) || controller.is_some_and(|owner| owner.kind() == "DaemonSet") {
        return Fate::Leave;
    }
    if is_over || !metadata.deletion_timestamp().is_none() {
        return Fate::Evict;
    }
    if controller.is_none() && !options.force {
        return Fate::Refuse("no controller makes it anew elsewhere (--force)");
    }
    let has_scratch = pod.spec().volumes().iter().any(|volume| volume.empty_dir().is_some());
    if has_scratch && !options.delete_emptydir_data {
        return Fate::Refuse("its emptyDir volumes would be lost (--delete-emptydir-data)");
    }
    Fate::Evict
}

async fn evict(client: &Client, namespace: &str, name: &str, deadline: Instant) -> Result<()> {
    let body = json!({
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": namespace},
    });
    loop {
        let request = Request {
            method: Method::POST,
            path: format!("/api/v1/namespaces/{namespace}/pods/{name}/eviction"),
            body: Some(serde_json::to_vec(&body)?),
            ..Default::default()
        };
        match client.call(request).await {
            Ok(_) => return Ok(()),
            Err(error) if error.is_not_found() => return Ok(()),
            // A budget that is used up at the moment.
            Err(error) if error.status().is_some_and(|status| status.code == 429) => {
                if Instant::now() > deadline {
                    return Err(error).with_context(|| format!("cannot evict pod {namespace}/{name} in time"));
                }
                tokio::time::sleep(EVICTION_PAUSE).await;
            }
            Err(error) => return Err(error).with_context(|| format!("cannot evict pod {namespace}/{name}")),
        }
    }
}

async fn await_end(client: &Client, namespace: &str, name: &str, uid: &str, deadline: Instant) -> Result<()> {
    loop {
        match client.api::<Pod>(namespace).get(name).await {
            Err(error) if error.is_not_found() => return Ok(()),
            Err(error) => return Err(error).context("cannot read a pod"),
            Ok(pod) if pod.uid() != uid => return Ok(()),
            Ok(_) if Instant::now() > deadline => bail!("pod {namespace}/{name} does not end in time (--timeout)"),
            Ok(_) => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use serde_json::Value;

    fn plan(pod: Value, force: bool, delete_emptydir_data: bool) -> Fate {
        plan_pod(Pod::from(pod).view(), &DrainOptions { force, delete_emptydir_data, timeout: 1 })
    }

    fn owned(kind: &str, volumes: Value) -> Value {
        json!({"metadata": {"ownerReferences": [{"kind": kind, "name": "o", "uid": "u", "controller": true}]},
            "spec": {"volumes": volumes}})
    }

    #[test]
    fn pods_are_moved_left_or_stand_in_the_way() {
        let scratch = json!([{"name": "v", "emptyDir": {}}]);
        assert_eq!(plan(owned("ReplicaSet", json!([])), false, false), Fate::Evict);
        assert_eq!(plan(owned("DaemonSet", json!([])), false, false), Fate::Leave);
        let mirror = json!({"metadata": {"annotations": {MIRROR: "x"}}});
        assert_eq!(plan(mirror, false, false), Fate::Leave);
        assert!(matches!(plan(json!({}), false, false), Fate::Refuse(why) if why.contains("--force")));
        assert_eq!(plan(json!({}), true, false), Fate::Evict);
        let lost = plan(owned("ReplicaSet", scratch.clone()), false, false);
        assert!(matches!(lost, Fate::Refuse(why) if why.contains("--delete-emptydir-data")));
        assert_eq!(plan(owned("ReplicaSet", scratch), false, true), Fate::Evict);
        assert_eq!(plan(json!({"status": {"phase": "Succeeded"}}), false, false), Fate::Evict);
    }
}
