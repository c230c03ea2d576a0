//! StatefulSet: the strategy of pods that have names and volumes of their own.

use super::replicas::validate_collision_count;
use crate::apps::replicas::validate_replica_status;
use crate::core::persistent_volume_claim::default_claim;
use crate::pod_spec::template::{default_template, template_warnings, validate_pods_run_forever, validate_template};
use crate::read::{Read, ReadNode, default_value, field_mut, keep, list_mut, remove, set};
use crate::validation::equality::same_at;
use crate::validation::int_or_percent::int_or_percent;
use crate::validation::labels::{is_label_selector, selector_matches};
use crate::validation::marks::validate_marks_of;
use crate::validation::shown;
use crate::validation::volumes::{claim_spec_warnings, validate_claim_spec};
use crate::{Context, Strategy};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::{Meta, ensure_object};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(crate) struct StatefulSet;

/// What an update may change; everything else of the spec decides what the pods are.
const MUTABLE: &[&str] = &[
    "replicas",
    "template",
    "updateStrategy",
    "minReadySeconds",
    "ordinals",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
];

impl Strategy for StatefulSet {
    fn default(&self, stateful_set: &mut Value) {
        let Some(spec) = field_mut(stateful_set, "spec") else { return };
        let strategy = ensure_object(spec).entry("updateStrategy").or_insert_with(|| json!({}));
        if strategy.text("type").is_empty() {
            set(strategy, "type", "RollingUpdate");
            default_value(strategy, "rollingUpdate", json!({}));
        }
        if strategy.text("type") == "RollingUpdate"
            && let Some(rolling) = field_mut(strategy, "rollingUpdate")
        {
            default_value(rolling, "partition", 0);
        }
        if let Some(template) = field_mut(spec, "template") {
            default_template(template);
        }
        for claim in list_mut(spec, "volumeClaimTemplates") {
            default_claim(claim);
            // Upstream names the kind of every claim here, whatever the manifest says.
            set(claim, "apiVersion", "v1");
            set(claim, "kind", "PersistentVolumeClaim");
        }
    }

    fn prepare_for_create(&self, _context: &Context, stateful_set: &mut Value) {
        drop_max_unavailable(stateful_set);
    }

    fn prepare_for_update(&self, _context: &Context, new: &mut Value, old: &Value) {
        let rolling = old.field("spec").field("updateStrategy").field("rollingUpdate");
        if !rolling.has("maxUnavailable") {
            drop_max_unavailable(new);
        }
    }

    fn validate(&self, stateful_set: &Value) -> ErrorList {
        validate_spec(stateful_set, Change::Create)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        // What was let in before the template's rules were kept must not lock its owner out.
        let template = if validate_spec(old, Change::Update { template: true }).is_empty() {
            Change::Update { template: true }
        } else {
            Change::Update { template: false }
        };
        let mut errors = validate_spec(new, template);
        let mut kept = new.clone();
        if let (Some(spec), Some(before)) = (field_mut(&mut kept, "spec"), old.field("spec")) {
            MUTABLE.iter().for_each(|key| keep(spec, before, key));
        }
        if !same_at(&kept, old, &["spec"]) {
            errors.push(Error::forbidden(
                &Path::new("spec"),
                "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
            ));
        }
        errors
    }

    fn validate_status_update(&self, new: &Value, old: &Value) -> ErrorList {
        let parts = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
        let mut errors = validate_replica_status(new, &parts, "status.readyReplicas");
        validate_collision_count(&mut errors, new, old);
        errors
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        let (spec, path) = (new.field("spec"), Path::new("spec"));
        let mut warnings = Vec::new();
        if old.is_none_or(|old| new.generation() != old.generation()) {
            warnings.extend(template_warnings(spec.field("template"), &path.child("template")));
        }
        for (index, claim) in spec.list("volumeClaimTemplates").iter().enumerate() {
            let path = path.child("volumeClaimTemplates").index(index);
            // Upstream names one field more when it warns of an update.
            let path = if old.is_some() { path.child("Spec") } else { path };
            warnings.extend(claim_spec_warnings(claim.field("spec"), &path));
        }
        if spec.int("revisionHistoryLimit") < 0 {
            warnings.push(
                "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
                    .to_owned(),
            );
        }
        warnings
    }

    fn computed_cells(&self, stateful_set: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let (spec, status) = (stateful_set.field("spec"), stateful_set.field("status"));
        vec![format!("{}/{}", status.int("readyReplicas"), spec.int("replicas")).into()]
    }
}

/// The feature behind this field is off in 1.36; who has it already keeps it.
fn drop_max_unavailable(stateful_set: &mut Value) {
    let rolling = field_mut(stateful_set, "spec")
        .and_then(|spec| field_mut(spec, "updateStrategy"))
        .and_then(|strategy| field_mut(strategy, "rollingUpdate"));
    if let Some(rolling) = rolling {
        remove(rolling, "maxUnavailable");
    }
}

/// What immutable fields hold is not judged again by an update.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Create,
    Update { template: bool },
}

fn validate_spec(stateful_set: &Value, change: Change) -> ErrorList {
    let mut errors = ErrorList::new();
    let (path, empty) = (Path::new("spec"), json!({}));
    let spec = stateful_set.field("spec").unwrap_or(&empty);
    let (policy, at) = (spec.text("podManagementPolicy"), path.child("podManagementPolicy"));
    match policy {
        "" => errors.push(Error::required(&at, "")),
        "OrderedReady" | "Parallel" => {}
        _ => errors.push(Error::invalid(&at, policy, "must be 'OrderedReady' or 'Parallel'")),
    }
    validate_update_strategy(&mut errors, spec.field("updateStrategy"), &path.child("updateStrategy"));
    if change == Change::Create {
        for (index, claim) in spec.list("volumeClaimTemplates").iter().enumerate() {
            let path = path.child("volumeClaimTemplates").index(index).child("spec");
            validate_claim_spec(&mut errors, claim.field("spec"), &path);
        }
    }
    let template_is_judged = change != Change::Update { template: false };
    validate_selector_and_template(&mut errors, spec, template_is_judged, &path);
    errors
}

fn validate_update_strategy(errors: &mut ErrorList, strategy: Option<&Value>, path: &Path) {
    let (rolling, at) = (strategy.field("rollingUpdate"), path.child("rollingUpdate"));
    match (strategy.text("type"), rolling) {
        ("", _) => errors.push(Error::required(path, "")),
        ("OnDelete", Some(rolling)) => {
            errors.push(Error::invalid(&at, rolling.clone(), "only allowed for updateStrategy 'RollingUpdate'"));
        }
        ("RollingUpdate", Some(rolling)) => {
            let (unavailable, at) = (rolling.field("maxUnavailable"), at.child("maxUnavailable"));
            if unavailable.is_some() && int_or_percent(unavailable) == 0 {
                errors.push(Error::invalid(&at, shown(unavailable), "cannot be 0"));
            }
        }
        ("OnDelete" | "RollingUpdate", None) => {}
        _ => errors.push(Error::invalid(path, shown(strategy), "must be 'RollingUpdate' or 'OnDelete'")),
    }
}

fn validate_selector_and_template(errors: &mut ErrorList, spec: &Value, template_is_judged: bool, path: &Path) {
    let (selector, at) = (spec.field("selector"), path.child("selector"));
    let is_wrong = selector.is_some_and(|selector| !is_label_selector(selector));
    let is_empty = selector.is_some_and(|selector| {
        selector.entries("matchLabels").is_empty() && selector.list("matchExpressions").is_empty()
    });
    if is_empty {
        errors.push(Error::invalid(&at, shown(selector), "empty selector is invalid for statefulset"));
    }
    let path = path.child("template");
    let template = template_of_pods(spec);
    if is_wrong {
        errors.push(Error::invalid(&at, shown(selector), ""));
    } else {
        let metadata = template.field("metadata");
        let matches = selector.is_some_and(|selector| selector_matches(selector, metadata.entries("labels")));
        if !is_empty && !matches {
            errors.push(Error::invalid(
                &path.child("metadata").child("labels"),
                shown(metadata.field("labels")),
                "`selector` does not match template `labels`",
            ));
        }
        if template_is_judged {
            validate_marks_of(errors, "core/v1", "PodTemplateSpec", &template, &path);
            validate_template(errors, &template, &path);
        }
    }
    validate_pods_run_forever(errors, &template, "StatefulSet", &path);
}

/// The template as its pods will have it: the controller gives each a host name of its
/// own and a volume for each claim, in place of the template's of the same name.
fn template_of_pods(spec: &Value) -> Value {
    let mut template = spec.field("template").cloned().unwrap_or_else(|| json!({}));
    let claims: BTreeSet<&str> =
        spec.list("volumeClaimTemplates").iter().map(|claim| claim.field("metadata").text("name")).collect();
    let Some(pod) = field_mut(&mut template, "spec") else { return template };
    remove(pod, "subdomain");
    remove(pod, "hostname");
    if !claims.is_empty() {
        let from_claims = claims.iter().map(|name| json!({"name": name, "persistentVolumeClaim": {"claimName": name}}));
        let others = pod.list("volumes").iter().filter(|volume| !claims.contains(volume.text("name"))).cloned();
        let volumes: Vec<Value> = from_claims.chain(others).collect();
        set(pod, "volumes", volumes);
    }
    template
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update, context, texts};

    fn stateful_set() -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "StatefulSet",
            "metadata": {"name": "db", "namespace": "default"},
            "spec": {
                "serviceName": "db",
                "selector": {"matchLabels": {"app": "db"}},
                "template": {
                    "metadata": {"labels": {"app": "db"}},
                    "spec": {"containers": [{
                        "name": "db", "image": "db:v1", "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                    }]},
                },
                "volumeClaimTemplates": [{
                    "metadata": {"name": "data"},
                    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                }],
            },
        })
    }

    #[track_caller]
    fn check_spec(key: &str, value: Value, expected: &[&str]) {
        let mut object = stateful_set();
        object["spec"][key] = value;
        check(&StatefulSet, object, expected);
    }

    #[test]
    fn claims_are_volumes_of_the_pods() {
        check(&StatefulSet, stateful_set(), &[]);
        check_spec(
            "volumeClaimTemplates",
            json!([]),
            &["spec.template.spec.containers[0].volumeMounts[0].name: Not found: \"data\""],
        );
        check_spec(
            "volumeClaimTemplates",
            json!([{"metadata": {"name": "data"}, "spec": {"accessModes": ["Some"]}}]),
            &[
                "spec.volumeClaimTemplates[0].spec.accessModes: Unsupported value: \"Some\": supported values: \"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"",
                "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value",
            ],
        );
    }

    #[test]
    fn a_stateful_set_recognizes_its_pods() {
        check_spec(
            "selector",
            json!({}),
            &["spec.selector: Invalid value: {}: empty selector is invalid for statefulset"],
        );
        check_spec(
            "selector",
            Value::Null,
            &[
                "spec.selector: Required value",
                "spec.template.metadata.labels: Invalid value: {\"app\":\"db\"}: `selector` does not match template `labels`",
            ],
        );
    }

    #[test]
    fn policies_are_known_ones() {
        check_spec(
            "podManagementPolicy",
            "Some".into(),
            &["spec.podManagementPolicy: Invalid value: \"Some\": must be 'OrderedReady' or 'Parallel'"],
        );
        check_spec(
            "updateStrategy",
            json!({"type": "OnDelete", "rollingUpdate": {"partition": 1}}),
            &[
                "spec.updateStrategy.rollingUpdate: Invalid value: {\"partition\":1}: only allowed for updateStrategy 'RollingUpdate'",
            ],
        );
        check_spec(
            "updateStrategy",
            json!({"type": "Some"}),
            &["spec.updateStrategy: Invalid value: {\"type\":\"Some\"}: must be 'RollingUpdate' or 'OnDelete'"],
        );
        check_spec(
            "persistentVolumeClaimRetentionPolicy",
            json!({"whenDeleted": "Some"}),
            &[
                "spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: \"Some\": supported values: \"Retain\", \"Delete\"",
            ],
        );
        check_spec(
            "ordinals",
            json!({"start": -1}),
            &["spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0"],
        );
        assert_eq!(crate::testing::row("StatefulSet").validate_name("a.b", false), ["must not contain dots"]);
    }

    #[test]
    fn what_the_pods_are_never_changes() {
        let mut new = stateful_set();
        new["spec"]["replicas"] = 3.into();
        new["spec"]["template"]["spec"]["containers"][0]["image"] = "db:v2".into();
        new["spec"]["persistentVolumeClaimRetentionPolicy"] = json!({"whenScaled": "Delete"});
        check_update(&StatefulSet, stateful_set(), new.clone(), &[]);
        new["spec"]["serviceName"] = "other".into();
        check_update(
            &StatefulSet,
            stateful_set(),
            new,
            &[
                "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
            ],
        );
    }

    #[test]
    fn a_feature_that_is_off_leaves_nothing_behind() {
        let mut object = stateful_set();
        object["spec"]["updateStrategy"] = json!({"rollingUpdate": {"maxUnavailable": 2}});
        crate::testing::default(&StatefulSet, &mut object);
        StatefulSet.prepare_for_create(&context(), &mut object);
        assert_eq!(
            object["spec"]["updateStrategy"],
            json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})
        );
    }

    #[test]
    fn parts_are_not_above_the_whole() {
        let new = json!({"status": {"replicas": 1, "readyReplicas": 1, "currentReplicas": 2}});
        assert_eq!(
            texts(&crate::testing::update_errors(&StatefulSet, "status", &new, &json!({}))),
            ["status.currentReplicas: Invalid value: 2: cannot be greater than status.replicas"]
        );
    }

    #[test]
    fn a_stateful_set_shows_how_far_it_is() {
        let mut object = stateful_set();
        object["status"] = json!({"readyReplicas": 1});
        assert_eq!(Value::from(cells("StatefulSet", object)), json!(["db", "1/1", "10m", "db", "db:v1"]));
        let mut object = stateful_set();
        object["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] = "500m".into();
        assert_eq!(
            StatefulSet.warnings(&object, None),
            [
                "spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value \"500m\" is invalid, must be an integer"
            ]
        );
    }
}
