//! Extenders: schedulers' helpers over HTTP, which filter and score nodes after the plugins,
//! process preemptions, and bind pods in their place. Called by the loop between the steps of a
//! cycle, one pod at a time, as upstream does.
//!
//! Upstream: pkg/scheduler/extender.go, and `callExtenders` of
//! pkg/scheduler/framework/preemption/preemption.go.

mod http;
mod protocol;

pub use http::HttpExtender;

use crate::cycle::Search;
use crate::framework::{Candidate, Code, MAX_NODE_SCORE, Preemption, Reasons, Rejection};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use protocol::{FilterResult, MetaVictims};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// The name under which a rejection by an extender stands. No plugin has it, so that any event
/// wakes the pod: extenders do not say what would help.
const NAME: &str = "Extender";
/// The best score that an extender gives.
const MAX_EXTENDER_SCORE: i64 = 10;

/// An extender as a configuration has it.
#[derive(Clone, Debug, Default)]
pub struct ExtenderConfig {
    pub url: String,
    /// Empty for what the extender does not do.
    pub filter: String,
    pub prioritize: String,
    pub preempt: String,
    pub bind: String,
    pub weight: i64,
    pub timeout: Duration,
    /// Knows the nodes itself, and is sent only their names.
    pub is_node_cache_capable: bool,
    /// The resources of the pods that it is asked about; all pods if empty.
    pub managed_resources: BTreeSet<String>,
    /// Scheduling goes on when it does not answer.
    pub is_ignorable: bool,
    pub tls: TlsConfig,
}

#[derive(Clone, Debug, Default)]
pub struct TlsConfig {
    pub is_insecure: bool,
    pub server_name: String,
    /// PEM.
    pub authorities: Option<Vec<u8>>,
    /// The certificate and the key, in PEM.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
}

/// The extenders of a scheduler, those that may fail last.
#[derive(Clone, Default)]
pub struct Extenders {
    all: Vec<Arc<HttpExtender>>,
}

impl Extenders {
    pub fn new(configs: &[ExtenderConfig]) -> Result<Self, String> {
        let mut all = Vec::new();
        for config in configs {
            all.push(Arc::new(HttpExtender::new(config.clone())?));
        }
        all.sort_by_key(|extender| extender.config.is_ignorable);
        Ok(Self { all })
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    fn interested<'a>(&'a self, pod: &PodInfo) -> impl Iterator<Item = &'a Arc<HttpExtender>> {
        let resources = requested_resources(pod, self.all.iter().any(|own| !own.config.managed_resources.is_empty()));
        self.all.iter().filter(move |extender| {
            let managed = &extender.config.managed_resources;
            managed.is_empty() || managed.iter().any(|name| resources.contains(name))
        })
    }

    /// Takes the nodes out of a search that an extender rejects.
    pub async fn filter(&self, pod: &PodInfo, search: &mut Search<'_>) -> Result<(), String> {
        let found = search.feasible.len();
        for extender in self.interested(pod).filter(|extender| !extender.config.filter.is_empty()) {
            if search.feasible.is_empty() {
                break;
            }
            let result = match extender.filter(pod, &search.feasible).await {
                Ok(result) => result,
                Err(error) if extender.config.is_ignorable => {
                    tracing::info!(extender = extender.config.url, %error, "an extender is passed over");
                    continue;
                }
                Err(error) => return Err(error),
            };
            let FilterResult { names, failed, unresolvable } = result;
            let mut kept = Vec::with_capacity(names.len());
            for name in names {
                let node = search.feasible.iter().find(|node| node.name() == name);
                kept.push(*node.ok_or_else(|| {
                    format!(
                        "extender {:?} claims a filtered node {name:?} which is not found in the input node list",
                        extender.config.url
                    )
                })?);
            }
            let slots: HashMap<&str, u32> = search.feasible.iter().map(|node| (node.name(), node.slot)).collect();
            let reject =
                |code: Code, reason: String| Rejection { plugin: NAME, code, reasons: Reasons::One(reason.into()) };
            let failed = failed.into_iter().filter(|(node, _)| !unresolvable.contains_key(node));
            let failed = failed.map(|(node, reason)| (node, reject(Code::Unschedulable, reason)));
            let unresolvable =
                unresolvable.iter().map(|(node, reason)| (node.clone(), reject(Code::Unresolvable, reason.clone())));
            for (node, rejection) in failed.chain(unresolvable) {
                if let Some(slot) = slots.get(&*node) {
                    search.diagnosis.reject(*slot, rejection);
                }
            }
            search.feasible = kept;
        }
        if search.feasible.len() != found {
            search.diagnosis.plugins.insert(NAME);
        }
        Ok(())
    }

    /// Adds the scores of all extenders, whose failures are passed over.
    pub async fn prioritize(&self, pod: &PodInfo, nodes: &[&NodeInfo], totals: &mut [i64]) {
        for extender in self.interested(pod).filter(|extender| !extender.config.prioritize.is_empty()) {
            let scores: HashMap<String, i64> = match extender.prioritize(pod, nodes).await {
                Ok(scores) => scores,
                Err(error) => {
                    tracing::debug!(extender = extender.config.url, %error, "no score is given by an extender");
                    continue;
                }
            };
            let factor = extender.config.weight * (MAX_NODE_SCORE / MAX_EXTENDER_SCORE);
            for (node, total) in nodes.iter().zip(totals.iter_mut()) {
                *total += scores.get(node.name()).map_or(0, |score| score * factor);
            }
        }
    }

    /// Whether an extender has a say in preemptions for the pod.
    pub fn process_preemptions(&self, pod: &PodInfo) -> bool {
        self.interested(pod).any(|extender| !extender.config.preempt.is_empty())
    }

    /// The preemptions that the extenders leave, with the victims that they name.
    pub async fn preempt(
        &self,
        pod: &PodInfo,
        mut candidates: Vec<Candidate>,
        snapshot: &Snapshot,
    ) -> Result<Vec<Candidate>, String> {
        for extender in self.interested(pod).filter(|extender| !extender.config.preempt.is_empty()) {
            if candidates.is_empty() {
                break;
            }
            match extender.preempt(pod, &candidates).await.and_then(|left| find_victims(extender, left, snapshot)) {
                Ok(left) => candidates = left,
                Err(error) if extender.config.is_ignorable => {
                    tracing::info!(extender = extender.config.url, %error, "an extender is passed over");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(candidates)
    }

    /// Binds the pod, if an extender does that; `None` if none does.
    pub async fn bind(&self, pod: &PodInfo, node: &str) -> Option<Result<(), String>> {
        for extender in self.interested(pod).filter(|extender| !extender.config.bind.is_empty()) {
            match extender.bind(pod, node).await {
                Err(error) if extender.config.is_ignorable => {
                    tracing::info!(extender = extender.config.url, %error, "an extender is passed over");
                }
                result => return Some(result),
            }
        }
        None
    }
}

/// The resources that containers of the pod name, if anybody asks.
fn requested_resources(pod: &PodInfo, is_asked: bool) -> BTreeSet<String> {
    if !is_asked {
        return BTreeSet::new();
    }
    let spec = pod.spec();
    let containers = spec.containers().iter().chain(spec.init_containers());
    let names = containers.flat_map(|container| {
        let resources = container.resources();
        resources.requests().keys().chain(resources.limits().keys()).map(str::to_owned).collect::<Vec<_>>()
    });
    names.collect()
}

/// The pods behind the uids that an extender has answered with.
fn find_victims(
    extender: &HttpExtender,
    left: BTreeMap<String, MetaVictims>,
    snapshot: &Snapshot,
) -> Result<Vec<Candidate>, String> {
    let mut out = Vec::new();
    for (node, victims) in left {
        let Some(info) = snapshot.get(&node) else { return Err(format!("nodeinfo not found for node name {node:?}")) };
        if victims.uids.is_empty() {
            if extender.config.is_ignorable {
                continue;
            }
            return Err(format!("expected at least one victim pod on node {node:?}"));
        }
        let find = |uid: &String| {
            let pod = info.pods.iter().find(|pod| *pod.uid == **uid);
            pod.cloned().ok_or_else(|| {
                let url = &extender.config.url;
                format!(
                    "extender: {url} claims to preempt pod (UID: {uid}) on node: {node}, but the pod is not found on that node"
                )
            })
        };
        let pods: Result<Vec<_>, String> = victims.uids.iter().map(find).collect();
        out.push(Candidate {
            preemption: Preemption { node: node.clone(), victims: pods? },
            broken_budgets: victims.broken_budgets,
        });
    }
    Ok(out)
}
