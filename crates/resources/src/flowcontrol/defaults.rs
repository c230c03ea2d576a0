//! The priority levels and flow schemas that every cluster has (upstream's
//! apis/flowcontrol/bootstrap). The API server writes them when it starts: the mandatory
//! ones always as they are here, the suggested ones until somebody changes them.

use serde_json::{Value, json};

/// While this annotation is "true", the server keeps an object as it is here.
pub const AUTO_UPDATE: &str = "apf.kubernetes.io/autoupdate-spec";

/// Levels and schemas that cannot be otherwise: without them some request would have no
/// place, and the server's own could starve.
pub fn mandatory() -> Vec<Value> {
    vec![
        level("catch-all", limited(5, 0, None)),
        level("exempt", json!({"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}})),
        schema("exempt", "exempt", 1, None, rules(groups(&["system:masters"]), vec![everything()], vec![all_paths()])),
        schema("catch-all", "catch-all", 10_000, Some("ByUser"), for_all(groups(EVERYONE))),
    ]
}

/// A sensible division for most clusters.
pub fn suggested() -> Vec<Value> {
    let leases = |verbs: &[&str]| resource(verbs, "coordination.k8s.io", &["leases"], false);
    let mut elects = users(&["system:kube-controller-manager", "system:kube-scheduler"]);
    elects.push(kube_system_accounts());
    vec![
        level("system", limited(30, 33, Some((64, 6)))),
        level("node-high", limited(40, 25, Some((64, 6)))),
        level("leader-election", limited(10, 0, Some((16, 4)))),
        level("workload-high", limited(40, 50, Some((128, 6)))),
        level("workload-low", limited(100, 90, Some((128, 6)))),
        level("global-default", limited(20, 50, Some((128, 6)))),
        schema("system-nodes", "system", 500, Some("ByUser"), for_all(groups(&["system:nodes"]))),
        schema(
            "system-node-high",
            "node-high",
            400,
            Some("ByUser"),
            rules(
                groups(&["system:nodes"]),
                vec![resource(&["*"], "", &["nodes", "nodes/status"], true), leases(&["*"])],
                vec![],
            ),
        ),
        schema(
            "probes",
            "exempt",
            2,
            None,
            rules(groups(EVERYONE), vec![], vec![paths(&["get"], &["/healthz", "/readyz", "/livez"])]),
        ),
        schema(
            "system-leader-election",
            "leader-election",
            100,
            Some("ByUser"),
            rules(elects, vec![leases(&["get", "create", "update"])], vec![]),
        ),
        schema(
            "kube-controller-manager",
            "workload-high",
            800,
            Some("ByNamespace"),
            for_all(users(&["system:kube-controller-manager"])),
        ),
        schema("kube-scheduler", "workload-high", 800, Some("ByNamespace"), for_all(users(&["system:kube-scheduler"]))),
        schema(
            "kube-system-service-accounts",
            "workload-high",
            900,
            Some("ByNamespace"),
            for_all(vec![kube_system_accounts()]),
        ),
        schema("service-accounts", "workload-low", 9000, Some("ByUser"), for_all(groups(&["system:serviceaccounts"]))),
        schema("global-default", "global-default", 9900, Some("ByUser"), for_all(groups(EVERYONE))),
    ]
}

const EVERYONE: &[&str] = &["system:unauthenticated", "system:authenticated"];

fn object(kind: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": kind,
        "metadata": {"name": name, "annotations": {AUTO_UPDATE: "true"}},
        "spec": spec,
    })
}

fn level(name: &str, spec: Value) -> Value {
    object("PriorityLevelConfiguration", name, spec)
}

/// `queues` and the size of a hand, or requests beyond the limit are turned away.
fn limited(shares: i64, lendable: i64, queues: Option<(i64, i64)>) -> Value {
    let response = match queues {
        None => json!({"type": "Reject"}),
        Some((queues, hand)) => {
            json!({"type": "Queue", "queuing": {"queues": queues, "handSize": hand, "queueLengthLimit": 50}})
        }
    };
    let limited = json!({"nominalConcurrencyShares": shares, "lendablePercent": lendable, "limitResponse": response});
    json!({"type": "Limited", "limited": limited})
}

fn schema(name: &str, level: &str, precedence: i64, distinguish: Option<&str>, rule: Value) -> Value {
    let mut spec = json!({
        "priorityLevelConfiguration": {"name": level}, "matchingPrecedence": precedence, "rules": [rule],
    });
    if let Some(method) = distinguish {
        spec["distinguisherMethod"] = json!({"type": method});
    }
    object("FlowSchema", name, spec)
}

fn rules(subjects: Vec<Value>, resources: Vec<Value>, paths: Vec<Value>) -> Value {
    let mut rule = json!({"subjects": subjects});
    for (key, rules) in [("resourceRules", resources), ("nonResourceRules", paths)] {
        if !rules.is_empty() {
            rule[key] = rules.into();
        }
    }
    rule
}

fn for_all(subjects: Vec<Value>) -> Value {
    rules(subjects, vec![everything()], vec![all_paths()])
}

fn everything() -> Value {
    resource(&["*"], "*", &["*"], true)
}

fn all_paths() -> Value {
    paths(&["*"], &["*"])
}

fn resource(verbs: &[&str], group: &str, resources: &[&str], cluster: bool) -> Value {
    let mut rule = json!({"verbs": verbs, "apiGroups": [group], "resources": resources, "namespaces": ["*"]});
    if cluster {
        rule["clusterScope"] = true.into();
    }
    rule
}

fn paths(verbs: &[&str], paths: &[&str]) -> Value {
    json!({"verbs": verbs, "nonResourceURLs": paths})
}

fn groups(names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| json!({"kind": "Group", "group": {"name": name}})).collect()
}

fn users(names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| json!({"kind": "User", "user": {"name": name}})).collect()
}

fn kube_system_accounts() -> Value {
    json!({"kind": "ServiceAccount", "serviceAccount": {"name": "*", "namespace": "kube-system"}})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flowcontrol::flow_schema::FlowSchema;
    use crate::flowcontrol::priority_level_configuration::PriorityLevelConfiguration;
    use crate::testing::check;

    #[test]
    fn every_default_is_valid_and_complete() {
        let all: Vec<Value> = mandatory().into_iter().chain(suggested()).collect();
        assert_eq!(all.len(), 19);
        for object in all {
            let strategy: &dyn crate::Strategy = match object["kind"].as_str() {
                Some("FlowSchema") => &FlowSchema,
                _ => &PriorityLevelConfiguration,
            };
            let mut defaulted = object.clone();
            crate::testing::default(strategy, &mut defaulted);
            assert_eq!(defaulted, object);
            check(strategy, object, &[]);
        }
    }
}
