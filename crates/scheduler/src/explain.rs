//! The last decisions with their reasons: for each node the filter that refused it and the
//! amounts it lacks, or the score that each plugin gave it.
//!
//! The loop records, a handle reads: the binary serves [`Decisions::render`] as JSON.

use crate::fit_error::Diagnosis;
use crate::framework::Rejection;
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::resources::Resources;
use crate::snapshot::Snapshot;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;

/// Decisions that are kept. One on 5,000 nodes is some 10 KB when the pod has found a node,
/// and half a megabyte when it has not.
const CAPACITY: usize = 256;
/// Refusals by node that are kept of one decision.
const MAX_REFUSED: usize = 5000;

/// The scores of one plugin for the nodes that fit, in their order.
#[derive(Clone, Debug)]
pub struct PluginScores {
    pub plugin: &'static str,
    pub weight: i64,
    /// From 0 to 100.
    pub scores: Vec<u8>,
}

/// The nodes that fit and their scores, by slot.
#[derive(Clone, Debug, Default)]
pub struct Scored {
    pub slots: Vec<u32>,
    pub plugins: Vec<PluginScores>,
}

/// The nodes that did not fit: slots, the position of the rejection of each, and the amounts
/// that each lacks, which are worked out only for a pod that fits nowhere.
#[derive(Default)]
struct Refused {
    nodes: Vec<(u32, u32)>,
    rejections: Vec<Rejection>,
    lacks: Vec<Vec<Lack>>,
}

/// A resource of which a node has less than the pod asks for.
struct Lack {
    resource: String,
    wanted: i64,
    free: i64,
}

struct Decided {
    namespace: Box<str>,
    name: String,
    uid: Arc<str>,
    at: Timestamp,
    outcome: Result<Arc<str>, String>,
    scored: Scored,
    names: Arc<[Arc<str>]>,
    refused: Refused,
    all_nodes: usize,
}

/// The ring of the last decisions; clones share it.
#[derive(Clone, Default)]
pub struct Decisions {
    ring: Arc<Mutex<VecDeque<Arc<Decided>>>>,
}

impl Decisions {
    /// Keeps a decision for a node.
    pub(crate) fn placed(
        &self,
        pod: &PodInfo,
        node: &Arc<str>,
        scored: Scored,
        diagnosis: Diagnosis,
        snapshot: &Snapshot,
    ) {
        let mut nodes = diagnosis.nodes;
        nodes.truncate(MAX_REFUSED);
        let refused = Refused { nodes, rejections: diagnosis.rejections, lacks: Vec::new() };
        self.keep(pod, Ok(node.clone()), scored, refused, snapshot);
    }

    /// Keeps a decision against all nodes, with the amounts that each lacks.
    pub(crate) fn refused(&self, pod: &PodInfo, message: &str, diagnosis: &Diagnosis, snapshot: &Snapshot) {
        let nodes: Vec<(u32, u32)> = diagnosis.nodes.iter().take(MAX_REFUSED).copied().collect();
        let node = |slot: u32| snapshot.get(snapshot.names_by_slot.get(slot as usize)?);
        let lacks = nodes.iter().map(|(slot, _)| node(*slot).map(|node| compute_lacks(pod, node)).unwrap_or_default());
        let refused = Refused { lacks: lacks.collect(), rejections: diagnosis.rejections.clone(), nodes };
        self.keep(pod, Err(message.to_owned()), Scored::default(), refused, snapshot);
    }

    fn keep(
        &self,
        pod: &PodInfo,
        outcome: Result<Arc<str>, String>,
        scored: Scored,
        refused: Refused,
        snapshot: &Snapshot,
    ) {
        let decided = Decided {
            namespace: pod.namespace.clone(),
            name: pod.name().to_owned(),
            uid: pod.uid.clone(),
            at: Timestamp::now(),
            outcome,
            scored,
            names: snapshot.names_by_slot.clone(),
            refused,
            all_nodes: snapshot.len(),
        };
        let mut ring = self.ring.lock();
        if ring.len() >= CAPACITY {
            ring.pop_front();
        }
        ring.push_back(Arc::new(decided));
    }

    /// The decisions that are kept about a pod, or about all where `pod` is `None` (without
    /// their nodes), the newest first.
    pub fn render(&self, pod: Option<(&str, &str)>) -> Value {
        let kept: Vec<Arc<Decided>> = self.ring.lock().iter().rev().cloned().collect();
        let wanted = kept.iter().filter(|decided| {
            pod.is_none_or(|(namespace, name)| *decided.namespace == *namespace && decided.name == name)
        });
        let items: Vec<Value> = wanted.map(|decided| decided.render(pod.is_some())).collect();
        json!({"decisions": items})
    }
}

impl Decided {
    fn render(&self, with_nodes: bool) -> Value {
        let mut out = json!({
            "namespace": self.namespace, "name": self.name, "uid": &*self.uid, "time": self.at.to_string(),
            "nodes": self.all_nodes, "feasible": self.scored.slots.len(), "refused": self.refused.nodes.len(),
        });
        match &self.outcome {
            Ok(node) => out["node"] = (**node).into(),
            Err(message) => out["message"] = message.as_str().into(),
        }
        if with_nodes {
            let scored = self.scored.slots.iter().enumerate().map(|(index, slot)| self.render_scored(index, *slot));
            let refused = (0..self.refused.nodes.len()).filter_map(|index| self.render_refused(index));
            out["byNode"] = scored.chain(refused).collect();
        }
        out
    }

    fn render_scored(&self, index: usize, slot: u32) -> Value {
        let name = self.names.get(slot as usize).map_or("", |name| &**name);
        let mut scores = json!({});
        let mut total = 0;
        for PluginScores { plugin, weight, scores: own } in &self.scored.plugins {
            let score = own.get(index).copied().unwrap_or(0);
            total += i64::from(score) * weight;
            scores[*plugin] = json!({"score": score, "weight": weight});
        }
        json!({"node": name, "total": total, "scores": scores})
    }

    fn render_refused(&self, index: usize) -> Option<Value> {
        let Refused { nodes, rejections, lacks } = &self.refused;
        let (slot, position) = nodes.get(index)?;
        let Rejection { plugin, reasons, .. } = rejections.get(*position as usize)?;
        let name = self.names.get(*slot as usize).map_or("", |name| &**name);
        let mut out = json!({"node": name, "filter": plugin, "reasons": &reasons[..]});
        let lacks = lacks.get(index).map(Vec::as_slice).unwrap_or_default();
        if !lacks.is_empty() {
            let lacks = lacks.iter().map(|Lack { resource, wanted, free }| {
                json!({"resource": resource, "requested": wanted, "free": free, "missing": wanted - free})
            });
            out["lacks"] = lacks.collect();
        }
        Some(out)
    }
}

/// The resources that the node has too little of. Cpu is in thousandths, all else in units.
fn compute_lacks(pod: &PodInfo, node: &NodeInfo) -> Vec<Lack> {
    let Resources { milli_cpu, memory, ephemeral_storage, scalar, .. } = &pod.requests;
    let (total, used) = (&node.allocatable, &node.requested);
    let amounts = [
        ("cpu", *milli_cpu, total.milli_cpu - used.milli_cpu),
        ("memory", *memory, total.memory - used.memory),
        ("ephemeral-storage", *ephemeral_storage, total.ephemeral_storage - used.ephemeral_storage),
        ("pods", 1, total.pods - i64::try_from(node.pods.len()).unwrap_or(i64::MAX)),
    ];
    let named = amounts.into_iter().map(|(name, wanted, free)| (name.to_owned(), wanted, free));
    let others = scalar.iter().map(|(name, wanted)| (name.clone(), *wanted, total.scalar(name) - used.scalar(name)));
    let lacking = named.chain(others).filter(|(_, wanted, free)| *wanted > 0 && wanted > free);
    lacking.map(|(resource, wanted, free)| Lack { resource, wanted, free }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle::{NoFit, decide};
    use crate::framework::{Framework, Handle, Nominated};
    use crate::plugins::all::all;
    use crate::plugins::testing::{asking, holding, node};
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    fn decide_on(nodes: Vec<NodeInfo>, pod: &PodInfo, decisions: &Decisions) {
        let (framework, snapshot) = (Framework::new(all(&Handle::default())), Snapshot::of(nodes));
        match decide(&framework, &snapshot, pod, &Nominated::default(), &mut 0, &mut StdRng::seed_from_u64(1)) {
            Ok(decision) => decisions.placed(pod, &decision.node, decision.scored, decision.diagnosis, &snapshot),
            Err(refusal) => match &refusal.why {
                NoFit::Unfit(error) => decisions.refused(pod, &refusal.why.to_string(), &error.diagnosis, &snapshot),
                other => panic!("{other}"),
            },
        }
    }

    #[test]
    fn a_placement_tells_the_score_of_each_plugin_and_who_refused() {
        let decisions = Decisions::default();
        let full = holding(node("full", json!({})), &[asking(json!({"cpu": "4"}))]);
        let nodes = vec![
            holding(node("a", json!({})), &[]),
            holding(node("b", json!({})), &[asking(json!({"cpu": "2"}))]),
            full,
        ];
        decide_on(nodes, &asking(json!({"cpu": "1"})), &decisions);
        let rendered = decisions.render(Some(("default", "web")));
        let decision = &rendered["decisions"][0];
        assert_eq!(
            (&decision["node"], &decision["feasible"], &decision["refused"]),
            (&json!("a"), &json!(2), &json!(1))
        );
        let by_node = decision["byNode"].as_array().expect("a list");
        assert_eq!(by_node[0]["node"], "a");
        assert_eq!(by_node[0]["scores"]["NodeResourcesFit"], json!({"score": 86, "weight": 1}));
        assert!(by_node[0]["total"].as_i64() > by_node[1]["total"].as_i64());
        assert_eq!(by_node[2], json!({"node": "full", "filter": "NodeResourcesFit", "reasons": ["Insufficient cpu"]}));
        assert_eq!(decisions.render(None)["decisions"][0]["byNode"], Value::Null);
        assert_eq!(decisions.render(Some(("default", "other")))["decisions"], json!([]));
    }

    #[test]
    fn a_refusal_tells_the_shortfall_and_old_decisions_are_dropped() {
        let decisions = Decisions::default();
        for _ in 0..CAPACITY + 1 {
            let nodes = vec![holding(node("a", json!({})), &[asking(json!({"cpu": "3"}))])];
            decide_on(nodes, &asking(json!({"cpu": "2"})), &decisions);
        }
        let rendered = decisions.render(Some(("default", "web")));
        assert_eq!(rendered["decisions"].as_array().map(Vec::len), Some(CAPACITY));
        let decision = &rendered["decisions"][0];
        assert!(decision["message"].as_str().is_some_and(|text| text.starts_with("0/1 nodes are available")));
        let lack = json!([{"resource": "cpu", "requested": 2000, "free": 1000, "missing": 1000}]);
        assert_eq!(decision["byNode"][0]["lacks"], lack);
    }
}
