//! The rules by example; `tests/oracle.rs` holds them against a slow reading of the rules.

use super::*;
use crate::framework::Framework;
use crate::plugins::testing::{changed, holding, node, pod};
use serde_json::{Value, json};

fn term(app: &str, key: &str) -> Value {
    json!({"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key})
}

fn required(kind: &str, terms: Value) -> Value {
    json!({kind: {"requiredDuringSchedulingIgnoredDuringExecution": terms}})
}

fn preferred(kind: &str, weight: i32, term: Value) -> Value {
    json!({kind: {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": weight, "podAffinityTerm": term}]}})
}

fn app(name: &str, affinity: Value) -> PodInfo {
    let over =
        json!({"metadata": {"labels": {"app": name}, "name": name, "uid": name}, "spec": {"affinity": affinity}});
    changed(&pod(json!({})), over)
}

/// Nodes `a` and `b` in zone east and `c` in west, with these pods, and `d` without a zone.
fn cluster(a: &[PodInfo], b: &[PodInfo], c: &[PodInfo]) -> Vec<NodeInfo> {
    let info = |name: &str, zone: Option<&str>, pods: &[PodInfo]| {
        holding(
            node(name, json!({"metadata": {"labels": zone.map(|zone| json!({"zone": zone})).unwrap_or(json!({}))}})),
            pods,
        )
    };
    vec![info("a", Some("east"), a), info("b", Some("east"), b), info("c", Some("west"), c), info("d", None, &[])]
}

const NEAR: &str = "node(s) didn't match pod affinity rules";
const AWAY: &str = "node(s) didn't match pod anti-affinity rules";
const KEPT_OUT: &str = "node(s) didn't satisfy existing pods anti-affinity rules";

/// The reason for which each node is refused, empty for those that fit.
#[track_caller]
fn check(nodes: Vec<NodeInfo>, pod: &PodInfo, expected: [&str; 4]) {
    let framework = Framework::new(vec![(Arc::new(InterPodAffinity::new(1, false)), 2)]);
    let (mut state, snapshot) = (CycleState::default(), Snapshot::of(nodes));
    framework.pre_filter(&mut state, pod, &snapshot).expect("no rejection");
    let found: Vec<String> = snapshot
        .nodes
        .iter()
        .map(|node| {
            framework.filter(&state, pod, node).map_or_else(|why| why.reasons[0].to_string(), |()| String::new())
        })
        .collect();
    assert_eq!(found, expected);
}

fn scores(pod: &PodInfo, nodes: Vec<NodeInfo>) -> Vec<i64> {
    crate::plugins::testing::scores(InterPodAffinity::new(1, false), pod, nodes)
}

#[test]
fn a_pod_goes_where_the_pods_are_that_it_wants() {
    let wants = |name: &str| app(name, required("podAffinity", json!([term("db", "zone")])));
    check(cluster(&[app("db", json!({}))], &[], &[]), &wants("web"), ["", "", NEAR, NEAR]);
    check(cluster(&[], &[], &[]), &wants("web"), [NEAR, NEAR, NEAR, NEAR]);
    check(cluster(&[], &[], &[]), &wants("db"), ["", "", "", NEAR]);
    check(cluster(&[], &[], &[app("db", json!({}))]), &wants("db"), [NEAR, NEAR, "", NEAR]);
}

#[test]
fn one_pod_must_satisfy_all_terms() {
    let both = app("web", required("podAffinity", json!([term("db", "zone"), term("cache", "zone")])));
    check(cluster(&[app("db", json!({}))], &[app("cache", json!({}))], &[]), &both, [NEAR, NEAR, NEAR, NEAR]);
}

#[test]
fn a_pod_stays_away_from_those_that_it_does_not_want_and_they_from_it() {
    let avoids = |key: &str| app("web", required("podAntiAffinity", json!([term("db", key)])));
    check(cluster(&[app("db", json!({}))], &[], &[]), &avoids("zone"), [AWAY, AWAY, "", ""]);
    check(cluster(&[app("db", json!({}))], &[], &[]), &avoids("kubernetes.io/hostname"), [AWAY, "", "", ""]);
    let plain = app("db", json!({}));
    check(cluster(&[avoids("zone")], &[], &[]), &plain, [KEPT_OUT, KEPT_OUT, "", ""]);
    check(cluster(&[avoids("zone")], &[], &[]), &app("other", json!({})), ["", "", "", ""]);
}

#[test]
fn trials_move_the_counts() {
    let framework = Framework::new(vec![(Arc::new(InterPodAffinity::new(1, false)), 2)]);
    let avoids = app("web", required("podAntiAffinity", json!([term("web", "zone")])));
    let snapshot = Snapshot::of(cluster(std::slice::from_ref(&avoids), &[], &[]));
    let node = snapshot.get("a").expect("a node");
    for pod in [&avoids, &app("web", json!({}))] {
        let mut state = CycleState::default();
        framework.pre_filter(&mut state, pod, &snapshot).expect("no rejection");
        let (mut trial, mut without) = (state.clone(), NodeInfo::clone(node));
        assert!(framework.filter(&trial, pod, node).is_err());
        framework.remove_pod(&mut trial, pod, &node.pods[0], &mut without);
        assert_eq!(framework.filter(&trial, pod, &without), Ok(()));
        let promised =
            Arc::new(app("web", required("podAntiAffinity", json!([term("web", "kubernetes.io/hostname")]))));
        framework.add_pod(&mut trial, pod, promised, &mut without);
        assert!(framework.filter(&trial, pod, &without).is_err(), "a label that no term named before");
        assert!(framework.filter(&state, pod, node).is_err(), "the cycle's own state stays");
    }
}

#[test]
fn preferences_of_both_sides_add_up() {
    let db = || app("db", json!({}));
    let near = app("web", preferred("podAffinity", 10, term("db", "zone")));
    assert_eq!(scores(&near, cluster(&[db()], &[], &[])), [100, 100, 0, 0]);
    let away = app("web", preferred("podAntiAffinity", 10, term("db", "zone")));
    assert_eq!(scores(&away, cluster(&[db()], &[], &[])), [0, 0, 100, 100]);
    // Two dbs near for 10 each, one that does not want us for 5.
    let shy = app("db", preferred("podAntiAffinity", 5, term("web", "zone")));
    assert_eq!(scores(&near, cluster(&[db(), db()], &[], &[shy])), [100, 100, 25, 0]);
    // A required term of a pod that is there weighs 1.
    let wants_web = app("db", required("podAffinity", json!([term("web", "zone")])));
    assert_eq!(scores(&app("web", json!({})), cluster(&[wants_web], &[], &[])), [100, 100, 0, 0]);
    assert_eq!(scores(&app("web", json!({})), cluster(&[db()], &[], &[])), [0, 0, 0, 0]);
}

#[test]
fn a_change_that_may_let_the_pod_in_wakes_it() {
    let on_node = |pod: &PodInfo| changed(pod, json!({"spec": {"nodeName": "a"}, "metadata": {"uid": "other"}}));
    let (db, other) = (on_node(&app("db", json!({}))), on_node(&app("other", json!({}))));
    let wants = app("web", required("podAffinity", json!([term("db", "zone")])));
    let avoids = app("web", required("podAntiAffinity", json!([term("db", "zone")])));
    let hint = |pod: &PodInfo, event: &ClusterEvent<'_>| InterPodAffinity::new(1, false).hint(pod, event);
    assert_eq!(hint(&wants, &ClusterEvent::pod_added(&db)), Hint::Queue);
    assert_eq!(hint(&wants, &ClusterEvent::pod_added(&other)), Hint::Skip);
    assert_eq!(hint(&wants, &ClusterEvent::pod_updated(&other, &db)), Hint::Queue);
    assert_eq!(hint(&avoids, &ClusterEvent::pod_removed(&db)), Hint::Queue);
    assert_eq!(hint(&avoids, &ClusterEvent::pod_removed(&other)), Hint::Skip);
    assert_eq!(hint(&avoids, &ClusterEvent::pod_updated(&db, &other)), Hint::Queue);
    let keeps_out = on_node(&app("db", required("podAntiAffinity", json!([term("web", "zone")]))));
    assert_eq!(hint(&app("web", json!({})), &ClusterEvent::pod_removed(&keeps_out)), Hint::Queue);

    let nodes = cluster(&[], &[], &[]);
    assert_eq!(hint(&wants, &ClusterEvent::node_added(&nodes[0])), Hint::Queue);
    assert_eq!(hint(&wants, &ClusterEvent::node_added(&nodes[3])), Hint::Skip);
    assert_eq!(hint(&avoids, &ClusterEvent::node_added(&nodes[3])), Hint::Queue);
    assert_eq!(hint(&wants, &ClusterEvent::node_updated(&nodes[3], &nodes[0])), Hint::Queue);
    assert_eq!(hint(&avoids, &ClusterEvent::node_updated(&nodes[0], &nodes[3])), Hint::Queue);
    assert_eq!(hint(&avoids, &ClusterEvent::node_updated(&nodes[0], &nodes[0])), Hint::Skip);
}
