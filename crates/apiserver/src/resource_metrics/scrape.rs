//! When kubelets are asked. Nobody asks, nothing is done: each request for metrics reads
//! the kubelets of the nodes that it is about, unless they were read a moment ago. A node of
//! which nothing is known, or nothing recent, is read twice with a pause of a second between,
//! so that the first answer is a right one.

use super::page::{PodKey, UsagePage};
use super::samples::{NodeSamples, Usage};
use crate::ServerState;
use ferry_api::object::Meta;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Samples are this old at most when they are shown. Below upstream's resync of 15 seconds,
/// so that an autoscaler gets a new one each time.
const RESOLUTION: Duration = Duration::from_secs(10);

/// Samples older than this say nothing of the present: a rate since then would be an
/// average over idle hours.
const MEMORY: Duration = Duration::from_secs(120);

/// Between the two readings of a node that nothing is known of, and between those of one
/// whose samples lack a pod.
const PAUSE: Duration = Duration::from_secs(1);

/// metrics-server's --kubelet-request-timeout.
const TIMEOUT: Duration = Duration::from_secs(10);

/// No kubelet is begun with after this. A request about many nodes of which most are out of
/// reach is answered with what the others say, and before its client gives up.
const BUDGET: Duration = Duration::from_secs(20);

const AT_ONCE: usize = 64;

/// A page of a node with 1,000 containers has 0.5 MB.
const PAGE_MAX: usize = 16 << 20;

const PATH: &str = "/metrics/resource";

/// The samples of one node.
#[derive(Default)]
struct NodeRecord {
    samples: NodeSamples,
    read: Option<Instant>,
    failed: Option<Instant>,
}

/// The readings that a node needs before it can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readings {
    None,
    One,
    Two,
}

impl NodeRecord {
    /// `complete` tells whether the samples have all that was asked for.
    fn plan_readings(&self, now: Instant, complete: bool) -> Readings {
        let age = |at: Option<Instant>| at.map(|at| now.duration_since(at));
        if age(self.failed).is_some_and(|age| age < RESOLUTION) {
            return Readings::None;
        }
        match age(self.read) {
            None => Readings::Two,
            Some(age) if age > MEMORY => Readings::Two,
            Some(age) if age >= RESOLUTION || (!complete && age >= PAUSE) => Readings::One,
            Some(_) => Readings::None,
        }
    }
}

/// The nodes that somebody asked for lately. Each has a lock of its own, held while its
/// kubelet is read: whoever asks meanwhile waits for that reading.
#[derive(Default)]
pub(crate) struct Records(Mutex<HashMap<String, Arc<tokio::sync::Mutex<NodeRecord>>>>);

impl Records {
    fn of(&self, node: &str) -> Arc<tokio::sync::Mutex<NodeRecord>> {
        self.0.lock().entry(node.to_owned()).or_default().clone()
    }

    /// Drops the samples of nodes that nobody has asked for lately.
    fn forget_old(&self, now: Instant) {
        self.0.lock().retain(|_, record| match record.try_lock() {
            Ok(record) => [record.read, record.failed].iter().flatten().any(|at| now.duration_since(*at) <= MEMORY),
            Err(_) => true,
        });
    }
}

/// A node to read, and the pods on it that are asked for; none where the node itself is.
pub(crate) struct AskedNode {
    pub node: Value,
    pub pods: Vec<PodKey>,
}

/// The usage of a node and of its pods that were asked for, each container by its name, as
/// far as it is known.
#[derive(Default)]
pub(crate) struct NodeUsage {
    pub node: Option<Usage>,
    pub pods: Vec<(PodKey, Vec<(String, Usage)>)>,
}

/// Reads these nodes as far as needed; the answers have their order.
pub(crate) async fn read_nodes(server: &ServerState, asked: Vec<AskedNode>) -> Vec<NodeUsage> {
    let began = Instant::now();
    server.resource_metrics.records.forget_old(began);
    let read = |asked| read_asked(server, asked, began + BUDGET).boxed();
    let reads: Vec<BoxFuture<'_, NodeUsage>> = asked.into_iter().map(read).collect();
    stream::iter(reads).buffered(AT_ONCE).collect().await
}

async fn read_asked(server: &ServerState, AskedNode { node, pods }: AskedNode, deadline: Instant) -> NodeUsage {
    let record = server.resource_metrics.records.of(node.name());
    let mut record = record.lock().await;
    let complete =
        record.samples.node_usage().is_some() && pods.iter().all(|pod| record.samples.pod_usage(pod).is_some());
    let readings = record.plan_readings(Instant::now(), complete);
    if Instant::now() < deadline {
        read_node(server, &node, &mut record, readings).await;
    }
    let samples = &record.samples;
    let pods = pods.into_iter().filter_map(|pod| samples.pod_usage(&pod).map(|usage| (pod, usage)));
    NodeUsage { node: samples.node_usage(), pods: pods.collect() }
}

async fn read_node(server: &ServerState, node: &Value, record: &mut NodeRecord, readings: Readings) {
    let count = match readings {
        Readings::None => return,
        Readings::One => 1,
        Readings::Two => {
            record.samples = NodeSamples::default();
            2
        }
    };
    for reading in 0..count {
        if reading > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        match read_page(server, node).await {
            Ok(page) => record.samples.add(page),
            Err(why) => {
                tracing::debug!(node = node.name(), why, "the usage of a node cannot be read");
                *record = NodeRecord { failed: Some(Instant::now()), ..NodeRecord::default() };
                return;
            }
        }
    }
    record.read = Some(Instant::now());
    record.failed = None;
}

async fn read_page(server: &ServerState, node: &Value) -> Result<UsagePage, String> {
    let read = server.backends.read_from_kubelet(node, PATH, PAGE_MAX);
    let bytes = match tokio::time::timeout(TIMEOUT, read).await {
        Ok(read) => read.map_err(|status| status.message)?,
        Err(_) => return Err("context deadline exceeded".to_owned()),
    };
    Ok(UsagePage::parse(&String::from_utf8_lossy(&bytes), Timestamp::now().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubelets_are_read_no_oftener_than_needed() {
        let check = |read: Option<u64>, failed: Option<u64>, complete: bool, expected: Readings| {
            let now = Instant::now() + Duration::from_secs(1000);
            let ago = |seconds: Option<u64>| seconds.map(|seconds| now - Duration::from_secs(seconds));
            let record = NodeRecord { samples: NodeSamples::default(), read: ago(read), failed: ago(failed) };
            assert_eq!(record.plan_readings(now, complete), expected, "{read:?} {failed:?} {complete}");
        };
        check(None, None, false, Readings::Two);
        check(Some(0), None, false, Readings::None);
        check(Some(5), None, true, Readings::None);
        check(Some(5), None, false, Readings::One);
        check(Some(15), None, true, Readings::One);
        check(Some(121), None, true, Readings::Two);
        check(None, Some(5), false, Readings::None);
        check(None, Some(15), false, Readings::Two);
    }
}
