//! Services to nftables: this node's share of every Service, in one table of our own.
//!
//! ```text
//! Services, EndpointSlices --> model.rs --> render.rs --> ruleset.rs --> apply.rs --> nft
//!        (informers)           (who gets    (chains, map   (what has      (one atomic
//!                              traffic)      elements)      changed)       transaction)
//! ```
//!
//! The first four are pure; `sync.rs` is the loop that drives them. The binary calls
//! [`guard_loopback`] before the first pod starts, [`run`] on each node and [`cleanup`] when the
//! node is uninstalled.
//!
//! **Invariant:** nothing outside the configured table is ever read or changed.

#![warn(unreachable_pub)]

mod apply;
#[cfg(test)]
mod fixtures;
mod model;
mod render;
mod ruleset;
mod sync;

use std::ffi::OsString;
use std::net::IpAddr;

use ferry_api::rules::cidr::Cidr;
use ferry_client::Informers;
use futures_util::future::{BoxFuture, FutureExt};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use self::apply::{Nft, NftCommand};
pub use self::model::{Endpoint, Family, Protocol, ServicePort, TrafficPolicy, compute_service};
pub use self::render::{ServiceRules, render_base, render_service};
pub use self::ruleset::{Ruleset, Transaction};

/// What the rules depend on besides the Services.
#[derive(Clone, Debug)]
pub struct Config {
    /// The name of our table; clusters that share a network namespace need different ones.
    pub table: String,
    /// Endpoints with this `nodeName` are local.
    pub node_name: String,
    /// This node's own addresses: a load balancer's source ranges that hold one of them let
    /// the node itself in, as upstream does.
    pub node_ips: Vec<IpAddr>,
    /// Where pods live. Traffic to a cluster IP from elsewhere is masqueraded, so that the
    /// answer comes back through this node.
    pub cluster_cidrs: Vec<Cidr>,
    /// Where cluster IPs are allocated from. Traffic to those that no Service has is dropped
    /// rather than sent to the default gateway.
    pub service_cidrs: Vec<Cidr>,
    /// The bit of the packet mark that asks for masquerading. Upstream's default is 0x4000.
    pub masquerade_mark: u32,
    /// The command that runs nft, with leading arguments if it takes some to get there.
    pub nft: Vec<OsString>,
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
            nft: vec![OsString::from("nft")],
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("starting {command}")]
    Start { command: String, source: std::io::Error },
    #[error("talking to {command}")]
    Talk { command: String, source: std::io::Error },
    #[error("{command} refused the transaction ({status}): {output}")]
    Refused { command: String, status: std::process::ExitStatus, output: String },
    #[error("{0:?} cannot name a table: use letters, digits, '-' and '_', starting with a letter")]
    Table(String),
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
        let nft = NftCommand::new(config.nft.clone());
        sync::run(&informers, &config, &nft, ready, shutdown).await;
        Ok(())
    }
    .boxed()
}

/// Puts the chain in place that keeps pods and neighbours from the host's loopback network.
/// The rest of the table stays as it is: traffic of an earlier run goes on. [`run`] keeps the
/// chain, [`cleanup`] removes it with the table.
pub async fn guard_loopback(config: &Config) -> Result<(), Error> {
    check_table(&config.table)?;
    NftCommand::new(config.nft.clone()).run(&render::render_loopback_guard(&config.table)).await
}

/// Removes the table with all that is in it, if it is there.
pub async fn cleanup(config: &Config) -> Result<(), Error> {
    check_table(&config.table)?;
    NftCommand::new(config.nft.clone()).run(&ruleset::render_removal(&config.table)).await
}

/// The table's name goes into scripts for nft as it is.
fn check_table(table: &str) -> Result<(), Error> {
    let fits = table.chars().all(|character| character.is_ascii_alphanumeric() || "-_".contains(character));
    match table.chars().next() {
        Some(first) if first.is_ascii_alphabetic() && fits => Ok(()),
        _ => Err(Error::Table(table.to_string())),
    }
}
