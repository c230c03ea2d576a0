//! A running node whose control plane is elsewhere: the node's parts over mutual TLS, its
//! identity kept current, the list of servers kept true, and the end when it is removed.

use crate::cluster::Cluster;
use crate::join::settings::{self, removed_at};
use crate::node::identity::AgentIdentity;
use crate::node::{Clients, NodeParts, Speaker};
use crate::preflight::Found;
use crate::progress::{Progress, say};
use crate::server::{END_TIMEOUT, await_stage};
use crate::supervise::Supervisor;
use crate::{containerd, images, network, renewal};
use anyhow::{Context, Result};
use ferry_api::problems::Problems;
use ferry_api::view::core::v1::ConfigMap;
use ferry_api::view::discovery::v1::{EndpointSlice, EndpointSliceView};
use ferry_client::{BoxError, Client, Event, Informers, ListParams, Servers, TlsSettings, Transport, WithHeaders};
use ferry_pki::LiveIdentity;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The reason why an agent ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentEnd {
    /// Its node was removed from the cluster.
    Removed,
    /// The machine has lost the node's address; it starts again with the new one.
    Moved,
}

pub struct Agent {
    /// Has the cluster answered? Where it has not, the node goes on trying.
    pub is_ready: bool,
    parts: Supervisor,
    shutdown: CancellationToken,
    ends: mpsc::Receiver<AgentEnd>,
}

impl Agent {
    /// Starts everything. A node that has run before does not wait for a server that is away:
    /// its pods run, and the rest heals when the server comes back.
    pub async fn start(
        cluster: &Cluster,
        found: &Found,
        identity: AgentIdentity,
        progress: &mut Progress,
        shutdown: CancellationToken,
    ) -> Result<Self> {
        let identity = Arc::new(identity);
        let servers = connect(cluster, &identity.ca_pem, &identity.client)?;
        let clients = clients(&servers)?;
        let problems = Problems::default();
        let mut parts = Supervisor::new(problems.clone(), shutdown.clone());
        if cluster.runtime_endpoint.is_none() {
            containerd::start(cluster, found).await?;
            progress.done("containerd");
            let (own, own_found) = (cluster.clone(), found.clone());
            parts.keep("containerd", move |token| containerd::keep(own.clone(), own_found.clone(), token));
            images::import(cluster, &found.ctr).await?;
            progress.done("images");
        }
        let (end, ends) = mpsc::channel(1);
        keep_servers(cluster, &clients, &servers, &mut parts);
        keep_membership(cluster, &clients, &end, &mut parts);
        keep_address(cluster, end, &mut parts);
        keep_identity(cluster, &identity, &clients, &servers, &mut parts);
        let node = NodeParts {
            cluster: cluster.clone(),
            found: found.clone(),
            clients,
            serving: identity.serving.clone(),
            client_ca_pem: identity.ca_pem.clone(),
            queues: ferry_runner::Metrics::default(),
            problems,
        };
        let ready = node.start(&mut parts).await?;
        if cluster.has_run {
            // A part that is lost while a server is away is started again like at any time.
            parts.report_ready()?;
        }
        let wait = async {
            await_stage("the node to be Ready", ready.node, &mut parts).await?;
            progress.done("node Ready");
            await_stage("the service rules", ready.proxy, &mut parts).await?;
            await_stage("the network policies", ready.policies, &mut parts).await?;
            await_stage("DNS to answer", ready.dns, &mut parts).await?;
            progress.done("services and DNS");
            anyhow::Ok(())
        };
        let is_ready = match wait.await {
            Ok(()) => true,
            Err(error) if cluster.has_run => {
                tracing::warn!(error = format!("{error:#}"), "the cluster does not answer yet");
                say(&format!("  ! {error:#}; this node goes on trying"));
                false
            }
            Err(error) => return Err(error),
        };
        parts.report_ready()?;
        Ok(Self { is_ready, parts, shutdown, ends })
    }

    /// Waits until there is a reason to end.
    pub async fn ended(&mut self) -> AgentEnd {
        match self.ends.recv().await {
            Some(end) => end,
            None => std::future::pending().await,
        }
    }

    /// Ends every part and leaves the pods as they are.
    pub async fn stop(self) {
        self.shutdown.cancel();
        self.parts.join(END_TIMEOUT).await;
    }
}

/// The servers that are known, the one of `ferry join` among them.
pub fn connect(cluster: &Cluster, ca_pem: &str, identity: &Arc<LiveIdentity>) -> Result<Arc<Servers>> {
    let mut urls = read_servers(&servers_file(cluster));
    if !urls.contains(&cluster.joined.server) {
        urls.push(cluster.joined.server.clone());
    }
    let (ca_pem, identity) = (ca_pem.to_owned(), identity.clone());
    let settings: TlsSettings = Arc::new(move || {
        ferry_pki::tls::live_client_config(&ca_pem, identity.clone()).map_err(|error| -> BoxError { error.into() })
    });
    // Told at once where the identity is of no use.
    settings().map_err(|error| anyhow::anyhow!("{error}")).context("cannot use this node's certificate")?;
    Ok(Servers::new(urls, settings))
}

/// The client of each part: the kubelet is the node, the others act as who they are.
pub fn clients(servers: &Arc<Servers>) -> Result<Clients> {
    let make = |speaker: Speaker| -> Result<Client> {
        let transport: Arc<dyn Transport> = match speaker.user() {
            None => Arc::new(servers.clone()),
            Some(user) => {
                let acting = WithHeaders::acting_as(servers.clone(), user);
                Arc::new(acting.map_err(|error| anyhow::anyhow!("{error}"))?)
            }
        };
        Ok(Client::new(transport, &format!("{}/v1.36.4 (ferry)", speaker.component())))
    };
    let all = [Speaker::Kubelet, Speaker::LocalVolumes, Speaker::Proxy, Speaker::Policies, Speaker::Dns];
    let made = all.into_iter().map(|speaker| Ok((speaker, make(speaker)?))).collect::<Result<Vec<_>>>()?;
    let first = made[0].1.clone();
    Ok(Arc::new(move |speaker| {
        made.iter().find(|(known, _)| *known == speaker).map_or_else(|| first.clone(), |(_, client)| client.clone())
    }))
}

fn servers_file(cluster: &Cluster) -> PathBuf {
    cluster.data_dir.join("servers.json")
}

fn read_servers(file: &Path) -> Vec<String> {
    let text = std::fs::read(file).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Follows the endpoints of Service default/kubernetes, and keeps them on the disk for a
/// start at which the server of `ferry join` is the one that is away.
fn keep_servers(cluster: &Cluster, clients: &Clients, servers: &Arc<Servers>, parts: &mut Supervisor) {
    let (client, servers) = (clients(Speaker::Proxy), servers.clone());
    let (file, joined) = (servers_file(cluster), cluster.joined.server.clone());
    parts.keep("list of servers", move |token| {
        let (client, servers, file, joined) = (client.clone(), servers.clone(), file.clone(), joined.clone());
        async move {
            let informers = Informers::with_shutdown(client, token.clone());
            let label_selector = Some("kubernetes.io/service-name=kubernetes".to_owned());
            let slices = informers.with::<EndpointSlice>(ListParams { label_selector, ..Default::default() });
            let mut events = slices.subscribe();
            loop {
                let event: Event<EndpointSlice> = tokio::select! {
                    () = token.cancelled() => return Ok(()),
                    event = events.recv() => event.context("the informer of endpoint slices has ended")?,
                };
                let object = event.object();
                if object.namespace() != "default" || matches!(event, Event::Deleted(_)) {
                    continue;
                }
                let urls = plan_servers(object.view(), &joined);
                // A slice without endpoints is one whose server is about to write it.
                if object.view().endpoints().iter().next().is_some() && urls != servers.urls() {
                    write_servers(&file, &urls)?;
                    servers.replace(urls);
                }
            }
        }
    });
}

/// The servers by their addresses, and the one of `ferry join` among them.
fn plan_servers(slice: EndpointSliceView<'_>, joined: &str) -> Vec<String> {
    let port = slice.ports().iter().next().and_then(|port| port.port()).unwrap_or(6443);
    let url = |address: &str| match address.contains(':') {
        true => format!("https://[{address}]:{port}"),
        false => format!("https://{address}:{port}"),
    };
    let endpoints = slice.endpoints();
    let mut urls: Vec<String> =
        endpoints.iter().flat_map(|endpoint| endpoint.addresses().to_vec()).map(|a| url(&a)).collect();
    urls.sort();
    urls.dedup();
    if !urls.iter().any(|url| url == joined) {
        urls.push(joined.to_owned());
    }
    urls
}

fn write_servers(file: &Path, urls: &[String]) -> Result<()> {
    let part = file.with_extension("part");
    std::fs::write(&part, serde_json::to_vec(urls)?).with_context(|| format!("cannot write {}", part.display()))?;
    std::fs::rename(&part, file).with_context(|| format!("cannot write {}", file.display()))
}

/// Ends the agent when its node is removed, also when that happened while it was off.
fn keep_membership(cluster: &Cluster, clients: &Clients, end: &mpsc::Sender<AgentEnd>, parts: &mut Supervisor) {
    let (client, end) = (clients(Speaker::Kubelet), end.clone());
    let (node_name, joined_at) = (cluster.node_name.clone(), cluster.joined.at);
    parts.keep("membership", move |token| {
        let (client, end, node_name) = (client.clone(), end.clone(), node_name.clone());
        async move {
            let informers = Informers::with_shutdown(client, token.clone());
            let field_selector = Some(format!("metadata.name={}", settings::NAME));
            let maps = informers.with::<ConfigMap>(ListParams { field_selector, ..Default::default() });
            let mut events = maps.subscribe();
            loop {
                let event = tokio::select! {
                    () = token.cancelled() => return Ok(()),
                    event = events.recv() => event.context("the informer of the cluster's settings has ended")?,
                };
                let map = event.object();
                let is_ours = map.namespace() == settings::NAMESPACE;
                if is_ours && removed_at(map.view(), &node_name).is_some_and(|at| at > joined_at) {
                    let _ = end.try_send(AgentEnd::Removed);
                }
            }
        }
    });
}

/// Ends the agent when the machine has another address, as after a new lease.
fn keep_address(cluster: &Cluster, end: mpsc::Sender<AgentEnd>, parts: &mut Supervisor) {
    let own = cluster.node_ip;
    parts.keep("node address", move |token| {
        let end = end.clone();
        async move {
            let mut changes = renewal::watch_addresses().context("cannot follow this machine's addresses")?;
            loop {
                tokio::select! {
                    () = token.cancelled() => return Ok(()),
                    change = changes.recv() => change.context("the kernel no longer reports addresses")?,
                }
                // An address goes before the next one comes.
                let has_other = network::primary_address().is_ok_and(|address| address != own);
                if !network::has_address(own) && has_other {
                    let _ = end.try_send(AgentEnd::Moved);
                }
            }
        }
    });
}

fn keep_identity(
    cluster: &Cluster,
    identity: &Arc<AgentIdentity>,
    clients: &Clients,
    servers: &Arc<Servers>,
    parts: &mut Supervisor,
) {
    let (identity, client, servers) = (identity.clone(), clients(Speaker::Kubelet), servers.clone());
    let addresses = vec![cluster.node_ip];
    parts.keep("node certificates", move |token| {
        identity.clone().keep_current(client.clone(), servers.clone(), addresses.clone(), token)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use serde_json::json;

    #[test]
    fn the_list_of_servers_keeps_the_one_that_was_named() {
        let slice = |addresses: &[&str]| {
            EndpointSlice::from(json!({"endpoints": [{"addresses": addresses}], "ports": [{"port": 6443}]}))
        };
        let of = |addresses: &[&str], joined: &str| plan_servers(slice(addresses).view(), joined);
        let named = "https://control.example:6443";
        assert_eq!(of(&["192.0.2.2", "192.0.2.1"], named), ["https://192.0.2.1:6443", "https://192.0.2.2:6443", named]);
        assert_eq!(of(&["fd00::1"], named), ["https://[fd00::1]:6443", named]);
        assert_eq!(of(&[], named), [named]);
    }

    #[test]
    fn the_list_survives_a_restart_and_a_torn_file_is_none() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("servers.json");
        assert!(read_servers(&file).is_empty());
        let urls = vec!["https://192.0.2.1:6443".to_owned()];
        write_servers(&file, &urls).expect("written");
        assert_eq!(read_servers(&file), urls);
        std::fs::write(&file, "[\"ht").expect("written");
        assert!(read_servers(&file).is_empty());
    }
}
