//! The rules by example; `tests/oracle.rs` holds them against a slow reading of the rules.

use super::*;
use crate::framework::Framework;
use crate::plugins::testing::{changed, holding, node, pod};
use ferry_api::view::apps::v1::ReplicaSet;
use ferry_api::view::core::v1::Service;
use ferry_client::SharedObject;
use serde_json::{Value, json};

fn labelled(name: &str) -> PodInfo {
    changed(&pod(json!({})), json!({"metadata": {"labels": {"app": "web"}, "name": name, "uid": name}}))
}

fn olds(count: usize) -> Vec<PodInfo> {
    (0..count).map(|_| labelled("old")).collect()
}

fn spread(constraints: Value) -> PodInfo {
    changed(&labelled("new"), json!({"spec": {"topologySpreadConstraints": constraints}}))
}

fn constraint(over: Value) -> Value {
    let mut constraint = json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}}});
    for (key, value) in over.as_object().expect("an object") {
        constraint[key] = value.clone();
    }
    constraint
}

/// Nodes by name and zone, with a number of pods of the app each.
fn cluster(nodes: &[(&str, &str, usize)]) -> Vec<NodeInfo> {
    let info = |(name, zone, count): &(&str, &str, usize)| {
        let labels = if zone.is_empty() { json!({}) } else { json!({"zone": zone}) };
        holding(node(name, json!({"metadata": {"labels": labels}})), &olds(*count))
    };
    nodes.iter().map(info).collect()
}

fn plugin(handle: &Handle) -> PodTopologySpread {
    PodTopologySpread::new(handle, Defaults::System)
}

/// The nodes that fit, and the reasons of the others.
#[track_caller]
fn check(nodes: Vec<NodeInfo>, pod: &PodInfo, expected: &[(&str, Result<(), &str>)]) {
    let framework = Framework::new(vec![(Arc::new(plugin(&Handle::default())), 2)]);
    let (mut state, snapshot) = (CycleState::default(), Snapshot::of(nodes));
    framework.pre_filter(&mut state, pod, &snapshot).expect("no rejection");
    let found: Vec<(&str, Result<(), String>)> = snapshot
        .nodes
        .iter()
        .map(|node| (node.name(), framework.filter(&state, pod, node).map_err(|why| why.reasons[0].to_string())))
        .collect();
    let expected: Vec<(&str, Result<(), String>)> =
        expected.iter().map(|(name, result)| (*name, result.map_err(str::to_owned))).collect();
    assert_eq!(found, expected);
}

const OK: Result<(), &str> = Ok(());
const NO: Result<(), &str> = Err(MISMATCH);

#[test]
fn a_domain_may_have_only_so_many_more_pods_than_the_emptiest() {
    let nodes = || cluster(&[("a", "east", 1), ("b", "east", 1), ("c", "west", 1), ("d", "", 0)]);
    check(nodes(), &spread(json!([constraint(json!({}))])), &[("a", NO), ("b", NO), ("c", OK), ("d", Err(NO_LABEL))]);
    let loose = spread(json!([constraint(json!({"maxSkew": 2}))]));
    check(nodes(), &loose, &[("a", OK), ("b", OK), ("c", OK), ("d", Err(NO_LABEL))]);
    let others = spread(json!([constraint(json!({"labelSelector": {"matchLabels": {"app": "other"}}}))]));
    check(nodes(), &others, &[("a", OK), ("b", OK), ("c", OK), ("d", Err(NO_LABEL))]);
}

#[test]
fn too_few_domains_count_as_an_empty_one() {
    let nodes = || cluster(&[("a", "east", 1), ("b", "west", 1)]);
    check(nodes(), &spread(json!([constraint(json!({"minDomains": 2}))])), &[("a", OK), ("b", OK)]);
    check(nodes(), &spread(json!([constraint(json!({"minDomains": 3}))])), &[("a", NO), ("b", NO)]);
}

#[test]
fn nodes_that_the_pod_cannot_go_to_are_no_domain_unless_the_policy_says_so() {
    let nodes = || cluster(&[("a", "east", 1), ("b", "west", 0)]);
    let bound =
        |over: Value| changed(&spread(json!([constraint(over)])), json!({"spec": {"nodeSelector": {"zone": "east"}}}));
    check(nodes(), &bound(json!({})), &[("a", OK), ("b", OK)]);
    check(nodes(), &bound(json!({"nodeAffinityPolicy": "Ignore"})), &[("a", NO), ("b", OK)]);

    let tainted = || {
        let taints = json!({"metadata": {"labels": {"zone": "west"}}, "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}});
        vec![cluster(&[("a", "east", 1)]).remove(0), holding(node("b", taints), &[])]
    };
    check(tainted(), &spread(json!([constraint(json!({}))])), &[("a", NO), ("b", OK)]);
    check(tainted(), &spread(json!([constraint(json!({"nodeTaintsPolicy": "Honor"}))])), &[("a", OK), ("b", OK)]);
}

#[test]
fn match_label_keys_narrow_the_selector_to_pods_like_this_one() {
    let other_version = changed(&labelled("old"), json!({"metadata": {"labels": {"hash": "1"}}}));
    let nodes = || {
        vec![
            holding(node("a", json!({"metadata": {"labels": {"zone": "east"}}})), std::slice::from_ref(&other_version)),
            cluster(&[("b", "west", 0)]).remove(0),
        ]
    };
    let new = |constraint: Value| changed(&spread(json!([constraint])), json!({"metadata": {"labels": {"hash": "2"}}}));
    check(nodes(), &new(constraint(json!({}))), &[("a", NO), ("b", OK)]);
    check(nodes(), &new(constraint(json!({"matchLabelKeys": ["hash"]}))), &[("a", OK), ("b", OK)]);
}

#[test]
fn trials_move_the_counts() {
    let framework = Framework::new(vec![(Arc::new(plugin(&Handle::default())), 2)]);
    let snapshot = Snapshot::of(cluster(&[("a", "east", 2), ("b", "west", 1)]));
    let (pod, mut state) = (spread(json!([constraint(json!({}))])), CycleState::default());
    framework.pre_filter(&mut state, &pod, &snapshot).expect("no rejection");
    let node = snapshot.get("a").expect("a node");
    assert!(framework.filter(&state, &pod, node).is_err());
    let (mut trial, mut without) = (state.clone(), NodeInfo::clone(node));
    framework.remove_pod(&mut trial, &pod, &node.pods[0], &mut without);
    assert_eq!(framework.filter(&trial, &pod, &without), Ok(()));
    framework.add_pod(&mut trial, &pod, node.pods[0].clone(), &mut without);
    assert!(framework.filter(&trial, &pod, &without).is_err());
}

#[test]
fn fewer_pods_in_the_domain_score_more() {
    let scores = |pod: &PodInfo, handle: &Handle, nodes: Vec<NodeInfo>| {
        crate::plugins::testing::scores(plugin(handle), pod, nodes)
    };
    let soft = spread(json!([constraint(json!({"whenUnsatisfiable": "ScheduleAnyway"}))]));
    // Two domains weigh ln 4: three pods round to 4 and one to 1.
    let nodes = || cluster(&[("a", "east", 2), ("b", "east", 1), ("c", "west", 1), ("d", "", 0)]);
    assert_eq!(scores(&soft, &Handle::default(), nodes()), [25, 25, 100, 0]);
    assert_eq!(scores(&labelled("plain"), &Handle::default(), nodes()), [0, 0, 0, 0], "no constraints, no opinion");
}

#[test]
fn pods_of_a_service_or_a_controller_are_spread_by_default() {
    let nodes = || {
        let info = |name: &str, count: usize| holding(node(name, json!({})), &olds(count));
        vec![info("a", 3), info("b", 0)]
    };
    let handle = Handle::default();
    let scores = |pod: &PodInfo| crate::plugins::testing::scores(plugin(&handle), pod, nodes());
    assert_eq!(scores(&labelled("new")), [0, 0]);
    handle.services.put(SharedObject::<Service>::of(json!({
        "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "web"}},
    })));
    // Two hosts weigh ln 4, and a skew of 2 is tolerated: round(3 ln 4 + 2) = 6 and 2.
    assert_eq!(scores(&labelled("new")), [33, 100]);
    let foreign = changed(&labelled("new"), json!({"metadata": {"labels": {"app": "other"}}}));
    assert_eq!(scores(&foreign), [0, 0]);

    handle.services.remove("default", "s");
    handle.replica_sets.put(SharedObject::<ReplicaSet>::of(json!({
        "metadata": {"name": "r", "namespace": "default"}, "spec": {"selector": {"matchLabels": {"app": "web"}}},
    })));
    let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "r", "controller": true});
    let owned = changed(&labelled("new"), json!({"metadata": {"ownerReferences": [owner]}}));
    assert_eq!(scores(&owned), [33, 100]);
}

#[test]
fn a_change_that_moves_a_count_or_a_domain_wakes_the_pod() {
    let (plugin, waiting) = (plugin(&Handle::default()), spread(json!([constraint(json!({}))])));
    let on_node = |over: Value| changed(&changed(&labelled("other"), json!({"spec": {"nodeName": "a"}})), over);
    let hint = |event: &ClusterEvent<'_>| plugin.hint(&waiting, event);
    assert_eq!(hint(&ClusterEvent::pod_removed(&on_node(json!({})))), Hint::Queue);
    assert_eq!(hint(&ClusterEvent::pod_added(&on_node(json!({})))), Hint::Queue);
    assert_eq!(hint(&ClusterEvent::pod_removed(&on_node(json!({"metadata": {"labels": {"app": "x"}}})))), Hint::Skip);
    assert_eq!(hint(&ClusterEvent::pod_removed(&on_node(json!({"metadata": {"namespace": "x"}})))), Hint::Skip);
    let (old, new) = (on_node(json!({})), on_node(json!({"metadata": {"labels": {"app": "x"}}})));
    assert_eq!(hint(&ClusterEvent::pod_updated(&old, &new)), Hint::Queue);
    assert_eq!(hint(&ClusterEvent::pod_updated(&old, &old)), Hint::Skip);

    let nodes = cluster(&[("a", "east", 0), ("b", "west", 0), ("c", "", 0)]);
    assert_eq!(hint(&ClusterEvent::node_added(&nodes[0])), Hint::Queue);
    assert_eq!(hint(&ClusterEvent::node_added(&nodes[2])), Hint::Skip);
    assert_eq!(hint(&ClusterEvent::node_updated(&nodes[0], &nodes[1])), Hint::Queue);
    assert_eq!(hint(&ClusterEvent::node_updated(&nodes[0], &nodes[0])), Hint::Skip);
    assert_eq!(hint(&ClusterEvent::node_removed(&nodes[0])), Hint::Queue);
}
