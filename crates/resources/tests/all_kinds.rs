//! What holds for every builtin kind: a newcomer in `all.rs` is tested on arrival.

mod minimal;

use ferry_api::document::Node;
use ferry_api::object::Meta;
use ferry_resources::{Context, Row, all, validate_metadata, validate_metadata_update};
use minimal::minimal;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

fn context() -> Context<'static> {
    static GROUPS: LazyLock<[String; 1]> = LazyLock::new(|| ["testers".to_owned()]);
    static EXTRA: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let now = "2026-01-01T00:00:00Z".parse().expect("a fixed time");
    Context { now, user: "tester", uid: "", groups: &*GROUPS, extra: &EXTRA }
}

/// What the API server does before it validates and stores.
fn normalize(row: &Row, object: &mut Value) {
    ferry_api::codec::normalize(object, row.schema.as_deref().expect("builtin kinds have a schema"));
}

#[test]
fn every_row_says_what_it_is() {
    let mut seen = HashSet::new();
    for row in all() {
        let what = row.gvk();
        assert!(seen.insert(row.gvr()), "{what} is there twice");
        assert!(row.schema.is_some(), "{what} has a schema");
        assert!(!row.columns.is_empty() && !row.verbs.is_empty(), "{what} has columns and verbs");
        // Metrics are measured when they are asked for.
        let is_measured = row.group == "metrics.k8s.io";
        let is_there = row.is_stored() || is_measured || !row.strategy.constant_objects().is_empty();
        assert_eq!(is_there, row.verbs.iter().any(|verb| verb == "get"), "{what}: what is there can be read");
        assert!(row.storage_prefix.is_empty() || row.storage_prefix.ends_with('/'), "{what}");
        assert!(row.verbs.is_sorted(), "{what}: verbs are in discovery's order");
    }
}

#[test]
fn the_kinds_of_the_first_path_are_there() {
    let names: HashSet<String> = all().iter().map(|row| row.group_resource().to_string()).collect();
    for name in [
        "namespaces",
        "nodes",
        "pods",
        "services",
        "endpoints",
        "endpointslices.discovery.k8s.io",
        "configmaps",
        "secrets",
        "serviceaccounts",
        "events",
        "events.events.k8s.io",
        "leases.coordination.k8s.io",
        "deployments.apps",
        "replicasets.apps",
        "roles.rbac.authorization.k8s.io",
        "rolebindings.rbac.authorization.k8s.io",
        "clusterroles.rbac.authorization.k8s.io",
        "clusterrolebindings.rbac.authorization.k8s.io",
        "priorityclasses.scheduling.k8s.io",
    ] {
        assert!(names.contains(name), "{name}");
    }
}

/// Resources of the table of facts that have no row yet. The list may only shrink.
const KNOWN_GAPS: &[&str] = &[];

#[test]
fn every_resource_of_the_table_has_a_row() {
    let rows: HashSet<String> =
        all().iter().map(|row| format!("{} {} {}", row.group, row.version, row.plural)).collect();
    let table = include_str!("../../api/facts/resources.tsv").lines().skip(1);
    let gaps: Vec<String> = table
        .map(|line| line.split('\t').take(3).collect::<Vec<_>>().join(" "))
        .filter(|name| !name.contains('/') && !rows.contains(name))
        .collect();
    assert_eq!(gaps, KNOWN_GAPS);
}

#[test]
fn cells_are_as_many_as_columns() {
    for row in all() {
        let mut object = minimal(row);
        row.default(&mut object);
        for object in [json!({}), object] {
            let cells = row.cells(Node::Value(&object), context().now);
            assert_eq!(cells.len(), row.columns.len(), "{}", row.gvk());
        }
    }
}

#[test]
fn defaults_are_idempotent() {
    for row in all() {
        for mut object in [json!({}), minimal(row)] {
            row.default(&mut object);
            let once = object.clone();
            row.default(&mut object);
            assert_eq!(object, once, "{}", row.gvk());
        }
    }
}

#[test]
fn minimal_objects_are_created_and_updated() {
    for row in all().iter().filter(|row| row.is_stored()) {
        let (what, strategy) = (row.gvk(), row.strategy.as_ref());
        let mut object = minimal(row);
        row.default(&mut object);
        row.prepare_for_create(&context(), &mut object);
        normalize(row, &mut object);
        assert_eq!(validate_metadata(&object, row), [], "{what}");
        assert_eq!(row.validate(&object), [], "{what}");
        object.set_meta("resourceVersion", "1");
        let mut new = object.clone();
        row.default(&mut new);
        row.prepare_for_update(&context(), "", &mut new, &object);
        normalize(row, &mut new);
        assert_eq!(new, object, "{what}: an update without a change changes nothing");
        assert_eq!(validate_metadata_update(&new, &object), [], "{what}");
        assert_eq!(row.validate_update("", &new, &object), [], "{what}");
        assert!(!row.is_new_generation(&new, &object), "{what}");
        let mut status = object.clone();
        row.prepare_for_update(&context(), "status", &mut status, &object);
        assert_eq!(row.validate_update("status", &status, &object), [], "{what}");
        assert_eq!(strategy.warnings(&object, None), Vec::<String>::new(), "{what}");
        let (mut stored, mut back) = (object.clone(), object.clone());
        strategy.to_stored(&mut stored);
        stored.set_gvk(&row.stored_as);
        back.clone_from(&stored);
        strategy.from_stored(&mut back);
        back.set_gvk(&row.gvk());
        assert_eq!((stored.gvk(), back), (row.stored_as.clone(), object), "{what}: stored and read back");
    }
}

/// A pod that uses most of what a pod can say.
fn rich_pod() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"a": "b"}, "annotations": {"a": "b"}},
        "spec": {
            "containers": [{
                "name": "a", "image": "web:v1", "command": ["a"], "ports": [{"containerPort": 80, "name": "http", "hostPort": 80}],
                "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a']"}}},
                        {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}}],
                "envFrom": [{"prefix": "P", "secretRef": {"name": "s"}}],
                "resources": {"limits": {"cpu": "1", "hugepages-2Mi": "4Mi"}, "requests": {"memory": "1Gi"}},
                "volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "x", "mountPropagation": "None"}],
                "livenessProbe": {"httpGet": {"port": "http", "httpHeaders": [{"name": "H", "value": "v"}]}},
                "lifecycle": {"postStart": {"exec": {"command": ["a"]}}},
                "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
                "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}, "capabilities": {"add": ["X"]}},
            }],
            "initContainers": [{"name": "i", "image": "x", "restartPolicy": "Always"}],
            "volumes": [{"name": "v", "projected": {"sources": [{"configMap": {"name": "c", "items": [{"key": "k", "path": "p"}]}},
                {"downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]}}]}}],
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]}},
                "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm":
                    {"topologyKey": "z", "labelSelector": {"matchLabels": {"a": "b"}}, "matchLabelKeys": ["a"]}}]}},
            "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}],
            "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 1}],
            "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}],
            "dnsConfig": {"nameservers": ["10.0.0.1"], "searches": ["a"], "options": [{"name": "n"}]},
            "resources": {"limits": {"cpu": "2", "memory": "2Gi"}},
        },
        "status": {"phase": "Running", "podIP": "10.0.0.1", "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "a", "restartCount": 1, "state": {"running": {}},
                "lastState": {"terminated": {"exitCode": 1, "finishedAt": "2026-01-01T00:00:00Z"}}}]},
    })
}

/// Replaces the value that comes at `at` in a walk over all values; says whether there was one.
fn replace(value: &mut Value, at: &mut usize, with: &Value) -> bool {
    if *at == 0 {
        *value = with.clone();
        return true;
    }
    *at -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|item| replace(item, at, with)),
        Value::Object(fields) => fields.values_mut().any(|field| replace(field, at, with)),
        _ => false,
    }
}

/// Decoding refuses values of the wrong type, and yet no rule may panic over one.
#[test]
fn nothing_panics_wherever_a_value_is_odd() {
    let odd =
        [json!(null), json!(-1), json!("\u{e9}/.."), json!([null]), json!({"": ["x"]}), json!(i64::MAX), json!("1Ei")];
    for row in all() {
        // Also objects that are no objects at all.
        for shape in [json!(null), json!([]), json!({"spec": [], "metadata": 1, "status": "x"})] {
            exercise(row, &shape, &shape);
        }
        let whole = if row.kind == "Pod" { rich_pod() } else { minimal(row) };
        for with in &odd {
            for place in 0.. {
                let mut object = whole.clone();
                if !replace(&mut object, &mut place.clone(), with) {
                    break;
                }
                exercise(row, &object, &whole);
                exercise(row, &whole, &object);
            }
        }
    }
}

fn exercise(row: &Row, object: &Value, old: &Value) {
    let (strategy, mut new) = (row.strategy.as_ref(), object.clone());
    row.default(&mut new);
    row.prepare_for_create(&context(), &mut new);
    row.validate(&new);
    row.prepare_for_update(&context(), "", &mut new, old);
    row.validate_update("", &new, old);
    row.is_new_generation(&new, old);
    for subresource in ["ephemeralcontainers", "resize", "finalize", "approval"] {
        row.prepare_for_update(&context(), subresource, &mut new, old);
        row.validate_update(subresource, &new, old);
    }
    row.prepare_for_update(&context(), "status", &mut new, old);
    row.validate_update("status", &new, old);
    strategy.warnings(object, None);
    row.cells(Node::Value(object), context().now);
    row.selectable_fields(Node::Value(object));
    strategy.row_conditions(Node::Value(object));
    strategy.grace_period(object, None);
    strategy.to_stored(&mut new);
    strategy.from_stored(&mut new);
    validate_metadata(object, row);
    validate_metadata_update(object, old);
}

/// What `kubectl get -o yaml` shows of the smallest manifests. Regenerate with
/// `INSTA_UPDATE=always cargo nextest run -p ferry-resources`.
#[test]
fn golden_defaults() {
    for kind in [
        "Pod",
        "Deployment",
        "Service",
        "Ingress",
        "NetworkPolicy",
        "CustomResourceDefinition",
        "CertificateSigningRequest",
        "MutatingWebhookConfiguration",
        "ResourceClaim",
        "Job",
        "CronJob",
        "StatefulSet",
        "DaemonSet",
        "PersistentVolumeClaim",
        "HorizontalPodAutoscaler",
    ] {
        let row = all().iter().find(|row| row.kind == kind).expect("the kind is there");
        let mut object = minimal(row);
        row.default(&mut object);
        row.prepare_for_create(&context(), &mut object);
        normalize(row, &mut object);
        insta::assert_json_snapshot!(kind, object);
    }
}
