//! `ferry demo`: the documents of `examples/` brought to life, and what came of them
//! shown: three pods, one name, answers from each.

use crate::progress::{Progress, say};
use crate::status::admin_client;
use crate::{Place, daemon};
use anyhow::{Context, Result, bail};
use clap::Args;
use ferry_api::view::Kind;
use ferry_api::view::apps::v1::Deployment;
use ferry_api::view::core::v1::{Pod, Service};
use ferry_client::{Client, DeleteParams, ListParams, Patch, Request, ResourcePath, read_body};
use serde::Deserialize;
use serde_json::Value;
use std::time::{Duration, Instant};

const WEB: &str = include_str!("../../../examples/web.yaml");
const CLIENT: &str = include_str!("../../../examples/client.yaml");
const NAMESPACE: &str = "default";
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Args)]
pub struct DemoArgs {
    #[command(flatten)]
    place: Place,
    /// Take the demo's objects away again at the end
    #[arg(long)]
    clean: bool,
}

pub async fn run(args: DemoArgs) -> Result<()> {
    let cluster = daemon::running_cluster(&args.place)?;
    let client = admin_client(&cluster)?;
    let mut progress = Progress::new();
    for document in serde_yaml_ng::Deserializer::from_str(WEB) {
        apply(&client, Value::deserialize(document).context("examples/web.yaml")?).await?;
    }
    progress.done("applied examples/web.yaml");
    wait("the three web servers to be ready", || async {
        let deployment = client.api::<Deployment>(NAMESPACE).get("web").await?;
        Ok(deployment.view().status().ready_replicas() >= 3)
    })
    .await?;
    progress.done("rolled out");
    show_pods(&client).await?;

    // A client pod that has finished its work once does not do it again.
    let at_once = DeleteParams { grace_period_seconds: Some(0), ..Default::default() };
    if let Err(error) = client.api::<Pod>(NAMESPACE).delete("client", &at_once).await
        && !error.is_not_found()
    {
        return Err(error.into());
    }
    wait("the last client to be gone", || async {
        match client.api::<Pod>(NAMESPACE).get("client").await {
            Err(error) if error.is_not_found() => Ok(true),
            other => other.map(|_| false),
        }
    })
    .await?;
    let document = Value::deserialize(serde_yaml_ng::Deserializer::from_str(CLIENT)).context("examples/client.yaml")?;
    apply(&client, document).await?;
    wait("the client pod to finish", || async {
        let pod = client.api::<Pod>(NAMESPACE).get("client").await?;
        Ok(matches!(pod.view().status().phase(), "Succeeded" | "Failed"))
    })
    .await?;
    progress.done("asked http://web thirty times from another pod");
    let log = logs(&client).await?;
    say(&format!("\n{}", log.trim_end()));
    let answered = log.lines().filter(|line| line.contains(" x web-")).count();
    if answered < 3 {
        bail!("only {answered} of 3 web servers answered; see `kubectl describe pods`");
    }
    say("\nall three answered. Look around:");
    say("  kubectl get pods,services,endpointslices -o wide");
    say("  kubectl delete pod -l app=web     # and watch them come back: kubectl get pods -w");
    if args.clean {
        clean(&client).await?;
    }
    Ok(())
}

async fn apply(client: &Client, document: Value) -> Result<()> {
    let kind = document["kind"].as_str().unwrap_or_default().to_owned();
    let name = document["metadata"]["name"].as_str().context("a document without a name")?.to_owned();
    let patch = Patch::Apply { manager: "ferry-demo".into(), force: true, body: document };
    let applied = match kind.as_str() {
        Deployment::KIND => client.api::<Deployment>(NAMESPACE).patch(&name, &patch).await.map(drop),
        Service::KIND => client.api::<Service>(NAMESPACE).patch(&name, &patch).await.map(drop),
        Pod::KIND => client.api::<Pod>(NAMESPACE).patch(&name, &patch).await.map(drop),
        other => bail!("the demo does not know the kind {other:?}"),
    };
    applied.with_context(|| format!("cannot apply {kind} {name}"))
}

async fn wait<F>(what: &str, mut done: impl FnMut() -> F) -> Result<()>
where
    F: Future<Output = Result<bool, ferry_client::Error>>,
{
    let deadline = Instant::now() + PATIENCE;
    while !done().await? {
        if Instant::now() > deadline {
            bail!("gave up waiting for {what} after {} s; see `kubectl describe pods`", PATIENCE.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

async fn show_pods(client: &Client) -> Result<()> {
    let params = ListParams { label_selector: Some("app=web".into()), ..Default::default() };
    say("");
    for pod in client.api::<Pod>(NAMESPACE).list(&params).await?.items {
        let status = pod.view().status();
        say(&format!("    {:<24} {:<10} {}", pod.name(), status.phase(), status.pod_ip()));
    }
    say("");
    Ok(())
}

async fn logs(client: &Client) -> Result<String> {
    let path = ResourcePath::new(Pod::GROUP, Pod::VERSION, Pod::PLURAL).url(NAMESPACE, Some("client"), Some("log"));
    let response = client.call(Request { path, accept: Some("*/*".into()), ..Default::default() }).await?;
    let body = read_body(response.into_body()).await.map_err(ferry_client::Error::Transport)?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

async fn clean(client: &Client) -> Result<()> {
    let params = DeleteParams::default();
    client.api::<Pod>(NAMESPACE).delete("client", &params).await?;
    client.api::<Service>(NAMESPACE).delete("web", &params).await?;
    client.api::<Deployment>(NAMESPACE).delete("web", &params).await?;
    Ok(())
}
