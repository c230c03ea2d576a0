//! The bodies of requests to extenders and of their answers. Names are read in any case, as Go
//! does.
//!
//! Upstream: k8s.io/kube-scheduler/extender/v1.

use crate::framework::Candidate;
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};

#[derive(Debug, Default)]
pub struct FilterResult {
    /// The nodes that are left.
    pub names: Vec<String>,
    /// Reasons by node.
    pub failed: BTreeMap<String, String>,
    pub unresolvable: BTreeMap<String, String>,
}

pub struct MetaVictims {
    pub uids: Vec<String>,
    pub broken_budgets: usize,
}

fn pod_value(pod: &PodInfo) -> Value {
    pod.pod.document().root().to_value()
}

/// The pod and the nodes, by name where the extender knows them itself.
pub fn render_nodes(pod: &PodInfo, nodes: &[&NodeInfo], by_name: bool) -> Value {
    let names = || nodes.iter().map(|node| node.name()).collect::<Vec<_>>();
    let items = || nodes.iter().map(|node| node.node.document().root().to_value()).collect::<Vec<_>>();
    if by_name {
        json!({"Pod": pod_value(pod), "Nodes": null, "NodeNames": names()})
    } else {
        json!({"Pod": pod_value(pod), "Nodes": {"metadata": {}, "items": items()}, "NodeNames": null})
    }
}

pub fn render_candidates(pod: &PodInfo, candidates: &[Candidate], by_uid: bool) -> Value {
    let mut victims = Map::new();
    for Candidate { preemption, broken_budgets } in candidates {
        let pods: Vec<Value> = preemption
            .victims
            .iter()
            .map(|victim| if by_uid { json!({"UID": &*victim.uid}) } else { pod_value(victim) })
            .collect();
        victims.insert(preemption.node.clone(), json!({"Pods": pods, "NumPDBViolations": broken_budgets}));
    }
    let (whole, meta) = if by_uid { (Value::Null, victims.into()) } else { (Value::Object(victims), Value::Null) };
    json!({"Pod": pod_value(pod), "NodeNameToVictims": whole, "NodeNameToMetaVictims": meta})
}

pub fn render_binding(pod: &PodInfo, node: &str) -> Value {
    json!({"PodName": pod.name(), "PodNamespace": pod.namespace(), "PodUID": &*pod.uid, "Node": node})
}

fn field<'a>(value: &'a Value, name: &str) -> &'a Value {
    let fields = value.as_object();
    let found = fields.and_then(|fields| {
        let other_case = || fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
        fields.get(name).or_else(other_case)
    });
    found.unwrap_or(&Value::Null)
}

/// The error that the extender reports in its answer.
pub fn read_error(answer: &Value) -> Result<(), String> {
    match field(answer, "Error").as_str() {
        None | Some("") => Ok(()),
        Some(error) => Err(error.to_owned()),
    }
}

pub fn read_filter(answer: &Value, by_name: bool) -> Result<FilterResult, String> {
    read_error(answer)?;
    let texts = |value: &Value| {
        let entries = value.as_object().into_iter().flatten();
        entries.map(|(node, reason)| (node.clone(), reason.as_str().unwrap_or_default().to_owned())).collect()
    };
    let names = match field(answer, "NodeNames").as_array().filter(|_| by_name) {
        Some(names) => names.iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect(),
        None => {
            let items = field(field(answer, "Nodes"), "items").as_array();
            let name = |node: &Value| Some(node["metadata"]["name"].as_str()?.to_owned());
            items.into_iter().flatten().filter_map(name).collect()
        }
    };
    Ok(FilterResult {
        names,
        failed: texts(field(answer, "FailedNodes")),
        unresolvable: texts(field(answer, "FailedAndUnresolvableNodes")),
    })
}

pub fn read_scores(answer: &Value) -> HashMap<String, i64> {
    let score =
        |one: &Value| Some((field(one, "Host").as_str()?.to_owned(), field(one, "Score").as_i64().unwrap_or(0)));
    answer.as_array().into_iter().flatten().filter_map(score).collect()
}

pub fn read_victims(answer: &Value) -> BTreeMap<String, MetaVictims> {
    let victims = |(node, own): (&String, &Value)| {
        let pods = field(own, "Pods").as_array().into_iter().flatten();
        let broken = field(own, "NumPDBViolations").as_u64().unwrap_or(0);
        let own = MetaVictims {
            uids: pods.filter_map(|pod| Some(field(pod, "UID").as_str()?.to_owned())).collect(),
            broken_budgets: usize::try_from(broken).unwrap_or(usize::MAX),
        };
        (node.clone(), own)
    };
    field(answer, "NodeNameToMetaVictims").as_object().into_iter().flatten().map(victims).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_in_any_case() {
        let answer = json!({"nodenames": ["a"], "failedNodes": {"b": "no"}, "Error": ""});
        let found = read_filter(&answer, true).expect("no error");
        assert_eq!((found.names, found.failed["b"].as_str()), (vec!["a".to_owned()], "no"));
        let nodes = json!({"Nodes": {"items": [{"metadata": {"name": "c"}}]}});
        assert_eq!(read_filter(&nodes, false).expect("no error").names, ["c"]);
        assert_eq!(read_filter(&json!({"error": "broken"}), true).expect_err("an error"), "broken");
        assert_eq!(read_scores(&json!([{"host": "a", "score": 3}]))["a"], 3);
        let victims =
            read_victims(&json!({"nodeNameToMetaVictims": {"a": {"pods": [{"uid": "x"}], "numPDBViolations": 1}}}));
        assert_eq!((victims["a"].uids.as_slice(), victims["a"].broken_budgets), (&["x".to_owned()][..], 1));
    }
}
