//! `ferry status`: does it run, is it well, what is on it.

use crate::cluster::Cluster;
use crate::node::Speaker;
use crate::node::identity::AgentIdentity;
use crate::progress::say;
use crate::role::Role;
use crate::{Place, agent, daemon, unsupported};
use anyhow::{Context, Result, bail};
use ferry_api::problems::{self, Problem};
use ferry_api::rules::condition;
use ferry_api::view::core::v1::{Node, NodeView, Pod};
use ferry_client::{Client, ListParams, Request, TlsTransport};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How long a person waits for a server that may be away.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

pub async fn run(place: &Place) -> Result<()> {
    let Some(cluster) = Cluster::load(place)? else {
        bail!("there is no cluster in {}; `ferry up` makes one", place.data_dir.display());
    };
    let Some(pid) = daemon::running_pid(&cluster)? else {
        let (verb, flags) = (cluster.role.verb(), cluster.flags());
        say(&format!("cluster   {} is stopped; `ferry {verb} -d{flags}` brings it back", cluster.name));
        say(&format!("data      {}", cluster.data_dir.display()));
        bail!("not running");
    };
    if cluster.role == Role::Node {
        return describe_agent(&cluster, pid).await;
    }
    say(&format!("cluster   {} runs as process {pid}", cluster.name));
    say(&format!("server    {}", cluster.api_url()));
    say(&format!("data      {}", cluster.data_dir.display()));
    if let Some(memory) = proportional_memory(pid) {
        say(&format!("memory    {} MB (PSS, without containerd and pods)", memory / 1024));
    }
    say(&format!("logs      {}", cluster.data_dir.join("logs").display()));
    let client = admin_client(&cluster)?;
    let ready = client.call(Request { path: "/readyz".into(), ..Default::default() }).await;
    say(&format!("api       {}", ready.map_or_else(|error| format!("not ready: {error}"), |_| "ready".to_owned())));
    for problem in problems(&client).await? {
        say(&format!("problem   {}", render_problem(&problem)));
    }
    for node in client.api::<Node>("").list(&ListParams::default()).await.context("cannot list nodes")?.items {
        say(&format!("node      {}", render_node(node.view())));
    }
    let mut phases: BTreeMap<String, usize> = BTreeMap::new();
    for pod in client.api::<Pod>("").list(&ListParams::default()).await.context("cannot list pods")?.items {
        let phase = pod.view().status().phase();
        *phases.entry(if phase.is_empty() { "Unknown" } else { phase }.to_owned()).or_default() += 1;
    }
    let phases: Vec<String> = phases.into_iter().map(|(phase, n)| format!("{n} {phase}")).collect();
    for line in unsupported::lines(&client).await? {
        say(&format!("ignored   {line}"));
    }
    say(&format!("pods      {}", if phases.is_empty() { "none".to_owned() } else { phases.join(", ") }));
    Ok(())
}

/// A node alone: its process, the servers that it knows, and what the cluster says of it.
async fn describe_agent(cluster: &Cluster, pid: i32) -> Result<()> {
    say(&format!("node      {} runs as process {pid}", cluster.node_name));
    say(&format!("data      {}", cluster.data_dir.display()));
    if let Some(memory) = proportional_memory(pid) {
        say(&format!("memory    {} MB (PSS, without containerd and pods)", memory / 1024));
    }
    say(&format!("logs      {}", cluster.data_dir.join("logs").display()));
    let Some(identity) = AgentIdentity::load(&cluster.pki_dir(), &cluster.node_name)? else {
        bail!("this node has no certificate; `ferry token create` on the server prints how it joins again");
    };
    let servers = agent::connect(cluster, &identity.ca_pem, &identity.client)?;
    for server in servers.urls() {
        say(&format!("server    {server}"));
    }
    let client = agent::clients(&servers)?(Speaker::Kubelet);
    let asked = tokio::time::timeout(ANSWER_TIMEOUT, client.api::<Node>("").get(&cluster.node_name)).await;
    let state = match asked {
        Ok(Ok(node)) => render_node(node.view()),
        Ok(Err(error)) => format!("{} is not known: {error}", cluster.node_name),
        Err(_) => format!("{}: no server answers; its pods go on", cluster.node_name),
    };
    say(&format!("state     {state}"));
    Ok(())
}

/// A node in one line: its state, its address and its range of pods.
fn render_node(node: NodeView<'_>) -> String {
    let addresses = node.status().addresses();
    let address = addresses.iter().find(|address| address.type_() == "InternalIP");
    let parts = [address.map_or("", |address| address.address()), node.spec().pod_cidr()];
    let place: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let cordoned = if node.spec().unschedulable() { ", takes no new pods" } else { "" };
    let name = node.metadata().name();
    format!("{name} is {}{cordoned} ({})", describe_node(node), place.join(", "))
}

/// Succeeds when the API answers at all, be it that it is not well.
pub async fn ask_livez(cluster: &Cluster) -> Result<()> {
    let asked = admin_client(cluster)?.call(Request { path: "/livez".into(), ..Default::default() }).await;
    match asked {
        Err(error) if error.status().is_none() => Err(error.into()),
        _ => Ok(()),
    }
}

/// A client that speaks as the cluster's administrator over the network, as kubectl does.
pub fn admin_client(cluster: &Cluster) -> Result<Client> {
    let read = |file: &str| {
        let path = cluster.pki_dir().join(file);
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let identity = ferry_pki::Identity { certificate_pem: read("admin.crt")?, key_pem: read("admin.key")? };
    let mut config = ferry_pki::tls::client_config(&read("ca.crt")?, Some(&identity))?;
    // The connector chooses the protocols itself.
    config.alpn_protocols.clear();
    Ok(Client::new(Arc::new(TlsTransport::new(cluster.api_url(), config)), "ferry"))
}

async fn problems(client: &Client) -> Result<Vec<Problem>> {
    #[derive(serde::Deserialize)]
    struct Listed {
        problems: Vec<Problem>,
    }
    let request = Request { path: problems::PATH.into(), ..Default::default() };
    let listed: Listed = client.decode(request).await.context("cannot read the list of problems")?;
    Ok(listed.problems)
}

fn render_problem(problem: &Problem) -> String {
    let Problem { component, subject, message, count } = problem;
    let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
    format!("{component}: {subject}: {message}{times}")
}

/// Ready, or the reason the kubelet gives for not being so.
fn describe_node(node: NodeView<'_>) -> String {
    match condition::find(node.status().conditions(), "Ready") {
        Some(ready) if ready.status() == "True" => "Ready".to_owned(),
        Some(ready) if ready.message().is_empty() => "not Ready: no reason given".to_owned(),
        Some(ready) => format!("not Ready: {}", ready.message()),
        None => "not Ready: it has not reported yet".to_owned(),
    }
}

/// In KiB. The share of memory that is this process's own.
pub fn proportional_memory(pid: i32) -> Option<u64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_named_with_its_object_its_reason_and_how_often() {
        let problem = |count| Problem {
            component: "store".into(),
            subject: "/registry/configmaps/default/a".into(),
            message: "object not decodable".into(),
            count,
        };
        let line = "store: /registry/configmaps/default/a: object not decodable";
        assert_eq!(render_problem(&problem(1)), line);
        assert_eq!(render_problem(&problem(3)), format!("{line} (3 times)"));
    }
}
