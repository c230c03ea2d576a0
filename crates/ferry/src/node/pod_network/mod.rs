//! The network between the pods of different nodes: each node routes the others' ranges, by
//! the link they share or through a tunnel. Runs on every machine of a cluster, also on a
//! server without a node, which calls webhooks and aggregated servers in pods.
//!
//! ```text
//! Nodes (informer) ──> peers ──> plan.rs ──> apply.rs ──> kernel
//!                        └──> probe.rs: does the link take packets of pods? (host-gw or vxlan)
//! ```
//!
//! A lone node has no peers and gets neither routes nor a tunnel.

mod apply;
mod offload;
mod plan;
pub mod probe;

use crate::network;
use anyhow::{Context, Result};
use apply::{Tunnel, Uplink};
use clap::ValueEnum;
use ferry_api::problems::Problems;
use ferry_api::rules::cidr::Cidr;
use ferry_api::view::core::v1::Node;
use ferry_client::{Event, Informers};
use futures_util::StreamExt;
use plan::{NetworkPlan, Path, Peer, peer_of, plan_network, pod_ranges};
use probe::Carried;
use rtnetlink::packet_core::NetlinkPayload;
use rtnetlink::packet_route::RouteNetlinkMessage;
use rtnetlink::{Handle, MulticastGroup};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use apply::find_uplink;

/// The component under which `ferry status` lists what is wrong with the network.
const REPORTER: &str = "pod network";
/// Nodes come in groups, and a link that comes back changes twice.
const COALESCE: Duration = Duration::from_millis(50);
/// How often a neighbour that answers no packet of pods is asked before the tunnel is used.
/// Its bridge may be a moment younger than its Node.
const PROBE_ROUNDS: usize = 4;
/// The pause before what the kernel refused is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// How packets reach the pods of other nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// By the link that nodes share where it takes packets of pods, else through a tunnel
    #[default]
    Auto,
    /// By the link alone
    HostGw,
    /// Through a tunnel, always
    Vxlan,
}

/// What the network depends on besides the Nodes.
#[derive(Clone, Debug)]
pub struct Config {
    pub node_name: String,
    pub node_ip: Ipv4Addr,
    pub bridge: String,
    /// The name of the tunnel's device.
    pub tunnel: String,
    pub vni: u32,
    pub backend: Backend,
    /// The range of all pods of the cluster; no route outside of it is touched.
    pub cluster_range: Cidr,
}

/// The node's own range, as soon as it has one: the bridge has its first address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PodRange {
    pub gateway: Ipv4Addr,
    pub bits: u8,
}

/// Follows the Nodes until `shutdown`. `own_range` gets this node's range once its bridge is
/// there. The routes stay when it returns: a process that is started again must not cut pods
/// off from each other.
pub async fn run(
    config: Config,
    informers: Informers,
    own_range: watch::Sender<Option<PodRange>>,
    problems: Problems,
    shutdown: CancellationToken,
) -> Result<()> {
    let (connection, handle, _) = rtnetlink::new_connection().context("cannot open a netlink socket")?;
    let connection = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(connection));
    let (losses, mut lost) = mpsc::channel(1);
    let uplink = Arc::new(AtomicU32::new(0));
    let watching = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(watch_kernel(
        losses,
        config.tunnel.clone(),
        uplink.clone(),
    )));
    let nodes = informers.of::<Node>();
    let mut events = nodes.subscribe();
    nodes.synced().await;
    let mut keeper = NetworkKeeper {
        config,
        handle,
        own_range,
        problems,
        uplink,
        range: None,
        peers: BTreeMap::new(),
        paths: BTreeMap::new(),
        probes: JoinSet::new(),
        applied: None,
    };
    // The first application is the whole of it: what an earlier process left is put right.
    let mut due = Some(Instant::now() + COALESCE);
    loop {
        tokio::select! {
            () = shutdown.cancelled() => break,
            event = events.recv() => match event {
                Some(event) => if keeper.observe(&event) { due.get_or_insert(Instant::now() + COALESCE); },
                None => break,
            },
            Some(()) = lost.recv() => {
                keeper.applied = None;
                due.get_or_insert(Instant::now() + COALESCE);
            }
            Some(probed) = keeper.probes.join_next() => if keeper.take_probe(probed.ok()) {
                due.get_or_insert(Instant::now());
            },
            () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                due = match keeper.reconcile().await {
                    Ok(()) => {
                        keeper.problems.resolve(REPORTER, "routes");
                        None
                    }
                    Err(error) => {
                        let why = format!("{error:#}");
                        tracing::warn!(error = why, "cannot set up the network between nodes");
                        keeper.problems.report(REPORTER, "routes", &why);
                        keeper.applied = None;
                        Some(Instant::now() + RETRY_AFTER)
                    }
                };
            }
        }
    }
    drop((connection, watching));
    Ok(())
}

/// The largest packet of this node's pods: what the link of the node's address carries, less
/// the tunnel's header where all of them go through it. `None` leaves the bridge its own.
pub async fn pod_mtu(node_ip: IpAddr, backend: Backend) -> Option<u32> {
    let IpAddr::V4(own) = node_ip else { return None };
    let (connection, handle, _) = rtnetlink::new_connection().ok()?;
    let _connection = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(connection));
    let uplink = apply::find_uplink(&handle, own).await.ok()?;
    let header = if backend == Backend::Vxlan { plan::VXLAN_OVERHEAD } else { 0 };
    // Loopback carries more than any link of a pod can.
    Some(uplink.mtu).filter(|mtu| (576..=9216).contains(mtu)).map(|mtu| mtu - header)
}

/// Takes the routes and the tunnel away, at `ferry down`.
pub async fn remove(tunnel: &str, cluster_range: &Cidr) -> Result<()> {
    let (connection, handle, _) = rtnetlink::new_connection().context("cannot open a netlink socket")?;
    let _connection = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(connection));
    apply::clear(&handle, cluster_range).await?;
    network::remove_link(tunnel).await
}

struct NetworkKeeper {
    config: Config,
    handle: Handle,
    own_range: watch::Sender<Option<PodRange>>,
    problems: Problems,
    /// The index of the link that leads to the others, for [`watch_kernel`].
    uplink: Arc<AtomicU32>,
    range: Option<Cidr>,
    peers: BTreeMap<String, Peer>,
    /// The way to each peer that has been decided.
    paths: BTreeMap<String, Path>,
    probes: JoinSet<Probed>,
    /// What the kernel was given last; `None` where it must be looked at.
    applied: Option<NetworkPlan>,
}

/// The answer of one peer.
struct Probed {
    peer: Peer,
    carried: Carried,
    size: u32,
}

impl NetworkKeeper {
    /// Takes over a change of a Node; `false` where it concerns nothing here.
    fn observe(&mut self, event: &Event<Node>) -> bool {
        let object = event.object();
        let (node, name) = (object.view(), object.name());
        let is_gone = matches!(event, Event::Deleted(_));
        if name == self.config.node_name {
            let range = pod_ranges(node).into_iter().find(Cidr::is_ipv4).filter(|_| !is_gone);
            let has_changed = std::mem::replace(&mut self.range, range) != range;
            if has_changed {
                // The tunnel ends at an address of the range.
                self.applied = None;
            }
            return has_changed;
        }
        let peer = peer_of(node, &self.config.node_name, self.range.as_ref()).filter(|_| !is_gone);
        let before = match &peer {
            Some(peer) => self.peers.insert(name.to_owned(), peer.clone()),
            None => self.peers.remove(name),
        };
        // Another machine under the same name is asked anew.
        let same_place = |a: &Peer, b: &Peer| a.address == b.address && a.range == b.range;
        if !matches!((&before, &peer), (Some(before), Some(peer)) if same_place(before, peer)) {
            self.paths.remove(name);
        }
        before != peer
    }

    async fn reconcile(&mut self) -> Result<()> {
        if let Some(range) = self.range {
            let own = self.ensure_bridge(&range).await?;
            self.own_range.send_if_modified(|known| std::mem::replace(known, Some(own)) != Some(own));
        }
        if self.peers.is_empty() {
            if self.applied.take().is_some_and(|plan| !plan.routes.is_empty()) {
                apply::clear(&self.handle, &self.config.cluster_range).await?;
            }
            self.applied = Some(NetworkPlan::default());
            return Ok(());
        }
        let uplink = apply::find_uplink(&self.handle, self.config.node_ip).await?;
        self.uplink.store(uplink.index, Ordering::Relaxed);
        self.decide_paths(&uplink).await;
        let plan = plan_network(&self.peers.values().cloned().collect::<Vec<_>>(), &self.paths);
        let tunnel = self.ensure_tunnel(&uplink).await?;
        if self.applied.as_ref() != Some(&plan) {
            apply::apply(&self.handle, &plan, tunnel, &self.config.cluster_range).await?;
            tracing::info!(routes = plan.routes.len(), "routed the pods of other nodes");
        }
        self.applied = Some(plan);
        self.start_probes(&uplink);
        Ok(())
    }

    async fn ensure_bridge(&self, range: &Cidr) -> Result<PodRange> {
        let Some(IpAddr::V4(gateway)) = range.nth(1) else { anyhow::bail!("{range} has no room for a bridge") };
        let bits = range.length();
        network::ensure_bridge(&self.config.bridge, gateway, bits).await?;
        Ok(PodRange { gateway, bits })
    }

    /// The tunnel is there as soon as a peer may use it, whatever this node uses itself.
    async fn ensure_tunnel(&self, uplink: &Uplink) -> Result<Option<u32>> {
        if self.config.backend == Backend::HostGw {
            return Ok(None);
        }
        let tunnel = Tunnel { name: self.config.tunnel.clone(), vni: self.config.vni, local: self.config.node_ip };
        if self.applied.is_some()
            && let Some(index) = network::link_index(&tunnel.name).await
        {
            return Ok(Some(index));
        }
        apply::ensure_tunnel(&self.handle, &tunnel, self.range.as_ref(), uplink).await.map(Some)
    }

    /// A peer behind a router is reached through the tunnel; one on the link stays undecided
    /// until it has answered.
    async fn decide_paths(&mut self, uplink: &Uplink) {
        for (name, peer) in &self.peers {
            let decided = match self.config.backend {
                Backend::HostGw => Path::HostGateway,
                Backend::Vxlan => Path::Tunnel,
                Backend::Auto if self.paths.contains_key(name) => continue,
                Backend::Auto => match apply::find_hop(&self.handle, peer.address).await {
                    Some(hop) if !hop.has_gateway && hop.link == uplink.index => continue,
                    _ => Path::Tunnel,
                },
            };
            self.paths.insert(name.clone(), decided);
        }
    }

    /// Asks the peers on the link that are undecided: from our bridge to theirs, as pods would.
    fn start_probes(&mut self, uplink: &Uplink) {
        let Some(IpAddr::V4(from)) = self.range.and_then(|range| range.nth(1)) else { return };
        let undecided = self.peers.values().filter(|peer| peer.is_ready && !self.paths.contains_key(&peer.name));
        for peer in undecided.cloned().collect::<Vec<_>>() {
            let Some(IpAddr::V4(to)) = peer.range.nth(1) else { continue };
            self.paths.insert(peer.name.clone(), Path::HostGateway);
            let size = uplink.mtu;
            self.probes.spawn(async move {
                let mut carried = Carried::NoAnswer;
                for _ in 0..PROBE_ROUNDS {
                    carried = probe::carries(from, to, 100).await.unwrap_or(Carried::NoAnswer);
                    if carried == Carried::Yes {
                        carried = probe::carries(from, to, size).await.unwrap_or(Carried::NoAnswer);
                        let kept = if carried == Carried::NoAnswer { Carried::TooLarge(0) } else { carried };
                        return Probed { peer, carried: kept, size };
                    }
                }
                Probed { peer, carried, size }
            });
        }
    }

    /// `true` where a route must change.
    fn take_probe(&mut self, probed: Option<Probed>) -> bool {
        let Some(Probed { peer, carried, size }) = probed else { return false };
        let is_current = self.peers.get(&peer.name).is_some_and(|now| now.address == peer.address);
        if !is_current {
            return false;
        }
        let subject = format!("node {}", peer.name);
        match carried {
            Carried::Yes => self.problems.resolve(REPORTER, &subject),
            Carried::TooLarge(_) => {
                let why = format!(
                    "the link to {} ({}) loses packets of {size} bytes, its MTU here; give every machine on it the same MTU",
                    peer.name, peer.address
                );
                tracing::warn!(why);
                self.problems.report(REPORTER, &subject, &why);
            }
            Carried::NoAnswer => {
                tracing::info!(node = peer.name, "the link takes no packets of pods; they go through the tunnel");
                self.paths.insert(peer.name, Path::Tunnel);
                return true;
            }
        }
        false
    }
}

/// Reports that a route, the tunnel or the link to the others is lost or has come back, so
/// that the kernel is looked at again.
async fn watch_kernel(lost: mpsc::Sender<()>, tunnel: String, uplink: Arc<AtomicU32>) {
    let opened = rtnetlink::new_multicast_connection(&[MulticastGroup::Link, MulticastGroup::Ipv4Route]);
    let Ok((connection, _handle, mut messages)) = opened else { return };
    let _connection = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(connection));
    while let Some((message, _)) = messages.next().await {
        let is_loss = match message.payload {
            NetlinkPayload::InnerMessage(RouteNetlinkMessage::DelRoute(route)) => apply::is_ours(&route),
            NetlinkPayload::InnerMessage(RouteNetlinkMessage::DelLink(link)) => network::is_named(&link, &tunnel),
            // The links of pods come and go all the time; the one that leads out does not.
            NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewLink(link)) => {
                link.header.index == uplink.load(Ordering::Relaxed) && !link.header.change_mask.is_empty()
            }
            _ => false,
        };
        if is_loss && matches!(lost.try_send(()), Err(mpsc::error::TrySendError::Closed(()))) {
            return;
        }
    }
}
