//! NetworkPolicies to nftables: this node's share of every policy, in one table of our own.
//!
//! ```text
//! NetworkPolicies, Pods, Namespaces --> state.rs --> render.rs --> ferry-nftables
//!           (informers)                 (who is      (chains,      (one transaction
//!                                       whose peer)  elements)      a change)
//! ```
//!
//! A policy is a chain, a group of peers a set of addresses, and a pod of this node an element
//! that leads to the chains of the policies that select it. So a pod that comes or goes costs
//! elements only, whatever the number of policies.
//!
//! The way of the first packet of a connection from 10.244.0.5 to 10.244.0.6, both of this node:
//!
//! ```text
//! egress (forward, 0): 10.244.0.5 in @egress4 -> goto stack/3
//!   -> jump egress/default/web: ip daddr @peers4/7 meta l4proto tcp th dport 80 accept
//!   -> drop, if no policy has accepted
//! ingress (forward, 1): 10.244.0.6 in @ingress4 -> … the same by source
//! ```
//!
//! The hooks see a packet after its destination is translated and before its source is, so that
//! pods are seen by their own addresses whichever Service the connection goes to. Answers belong
//! to a connection and pass. Traffic of the node's own passes other hooks and is not judged, as
//! upstream promises kubelets' probes.
//!
//! **Fail closed:** a pod has its address some milliseconds before this table knows of it. While
//! there is any policy, packets of the pods' bridge from or to an address that is no known pod's
//! are dropped. [`guard`] makes that so before the first pod of a boot.
//!
//! **Invariant:** nothing outside the configured table is ever read or changed.

#![warn(unreachable_pub)]

mod group;
mod policy;
mod render;
mod selector_index;
mod state;
mod sync;

use std::net::IpAddr;

use ferry_client::Informers;
use ferry_nftables::{Error, Kernel, Nft, Transaction, check_table, removal, table_in_use};
use futures_util::future::{BoxFuture, FutureExt};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use self::state::{Changes, State};
pub use self::sync::Owner;

/// What the rules depend on besides the API's objects.
#[derive(Clone, Debug)]
pub struct Config {
    /// The name of our table; clusters that share a network namespace need different ones.
    pub table: String,
    /// Pods with this `nodeName` are guarded here.
    pub node_name: String,
    /// The interface behind which all pods of this node are, if there is one. Without it nothing
    /// is known of a pod before the API has its address.
    pub bridge: Option<String>,
    /// Where the cluster's DNS answers on this node: for policies, a pod of kube-system with the
    /// label `k8s-app: kube-dns`.
    pub dns: Vec<IpAddr>,
}

/// Keeps the table in step with the cluster until `shutdown`. `ready` turns true once the first
/// full set of rules is in place. The rules stay when it returns.
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
        sync::run(&informers, &config, &kernel, ready, shutdown).await;
        Ok(())
    }
    .boxed()
}

/// Puts the frame in place, closed to pods that are not known, and leaves the pods and policies
/// of an earlier run as they are. [`run`] replaces it.
pub async fn guard(config: &Config) -> Result<(), Error> {
    check_table(&config.table)?;
    let kernel = Kernel::open()?;
    let table = table_in_use(&kernel, &config.table).await?.to_string();
    kernel.apply(&render::render_guard(&Config { table, ..config.clone() })).await
}

/// Removes the table with all that is in it, if it is there.
pub async fn cleanup(config: &Config) -> Result<(), Error> {
    check_table(&config.table)?;
    Kernel::open()?.apply(&removal(&config.table)).await
}

/// Replaces the table with its frame, for tests that drive [`State`] by hand.
pub fn render_frame(config: &Config) -> Transaction {
    render::render_frame(config)
}
