//! Services to nftables: this node's share of every Service, in one table of our own.
//!
//! ```text
//! Services, EndpointSlices --> model.rs --> render.rs, frame.rs --> ferry-nftables
//!        (informers)           (who gets    (chains, map            (what has changed, in
//!                              traffic)      elements)               one transaction)
//! ```
//!
//! The first are pure; `sync.rs` is the loop that drives them. Beside the table it keeps the
//! ports by which load balancers ask for endpoints (`health_check.rs`) and ends UDP flows whose
//! endpoint is gone (`stale_flows.rs`). The binary calls
//! [`guard_loopback`] before the first pod starts, [`run`] on each node and [`cleanup`] when the
//! node is uninstalled.
//!
//! **Invariant:** nothing outside the configured table is ever read or changed.

#![warn(unreachable_pub)]

#[cfg(test)]
mod changes;
#[cfg(test)]
mod fixtures;
mod frame;
mod health_check;
mod model;
mod render;
mod stale_flows;
mod sync;

use std::net::IpAddr;

use ferry_api::rules::cidr::Cidr;
use ferry_client::Informers;
use ferry_nftables::{Conntrack, Error, Kernel, Nft, Transaction, check_table, removal, table_in_use};
use futures_util::future::{BoxFuture, FutureExt};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use self::model::{
    Endpoint, HealthCheck, NodePlace, ServicePort, TrafficPolicy, compute_health_check, compute_service,
};
pub use self::render::render_service;

/// What the rules depend on besides the Services.
#[derive(Clone, Debug)]
pub struct Config {
    /// The name of our table; clusters that share a network namespace need different ones.
    pub table: String,
    /// Endpoints with this `nodeName` are local.
    pub node_name: String,
    /// This node's own addresses, one of a family: where node ports and health checks answer. A
    /// load balancer's source ranges that hold one of them let the node itself in.
    pub node_ips: Vec<IpAddr>,
    /// Where pods live. Traffic to a cluster IP from elsewhere is masqueraded, so that the
    /// answer comes back through this node.
    pub cluster_cidrs: Vec<Cidr>,
    /// Where cluster IPs are allocated from. Traffic to those that no Service has is dropped
    /// rather than sent to the default gateway.
    pub service_cidrs: Vec<Cidr>,
    /// The bit of the packet mark that asks for masquerading. Upstream's default is 0x4000.
    pub masquerade_mark: u32,
}

impl Config {
    pub fn new(node_name: impl Into<String>) -> Config {
        Config {
            table: "ferry".to_string(),
            node_name: node_name.into(),
            node_ips: Vec::new(),
            cluster_cidrs: Vec::new(),
            service_cidrs: Vec::new(),
            masquerade_mark: 0x4000,
        }
    }
}

/// Keeps the table in step with the cluster until `shutdown`. `ready` turns true once the first
/// full set of rules is in place. The rules stay when it returns: a proxy that is restarted
/// must not cut the traffic off.
pub fn run(
    informers: Informers,
    config: Config,
    ready: watch::Sender<bool>,
    shutdown: CancellationToken,
) -> BoxFuture<'static, Result<(), Error>> {
    // Boxed here, so that the loop is compiled in this crate and not once more in the binary.
    async move {
        check_table(&config.table)?;
        let kernel = Kernel::open()?;
        let conntrack = Conntrack::open()?;
        sync::run(&informers, &config, (&kernel, &conntrack), ready, shutdown).await;
        Ok(())
    }
    .boxed()
}

/// Puts the chain in place that keeps pods and neighbours from the host's loopback network.
/// The rest of the table stays as it is: traffic of an earlier run goes on. [`run`] keeps the
/// chain, [`cleanup`] removes it with the table.
pub async fn guard_loopback(config: &Config) -> Result<(), Error> {
    check_table(&config.table)?;
    let kernel = Kernel::open()?;
    let table = table_in_use(&kernel, &config.table).await?;
    kernel.apply(&frame::render_loopback_guard(&table)).await
}

/// Removes the table with all that is in it, if it is there.
pub async fn cleanup(config: &Config) -> Result<(), Error> {
    check_table(&config.table)?;
    Kernel::open()?.apply(&removal(&config.table)).await
}

/// Replaces the table with its frame: what is there without any Service.
pub fn render_frame(config: &Config) -> Transaction {
    frame::render_frame(config)
}
