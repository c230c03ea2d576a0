//! DaemonSet: the strategy of one pod on every node.

use super::replicas::validate_collision_count;
use crate::pod_spec::template::{default_template, template_warnings, validate_pods_run_forever, validate_template};
use crate::read::{Read, default_value, field_mut};
use crate::validation::equality::same_at;
use crate::validation::int_or_percent::{int_or_percent, validate_at_most_100_percent, validate_int_or_percent};
use crate::validation::labels::{is_label_selector, selector_matches};
use crate::validation::{nonnegative, shown};
use crate::{Context, Strategy};
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::{Meta, ensure_object};
use serde_json::{Value, json};

pub(crate) struct DaemonSet;

/// How often the template has changed. Upstream kept it as a field once and shows it as
/// an annotation since; users cannot set it.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

impl Strategy for DaemonSet {
    fn default(&self, daemon_set: &mut Value) {
        let Some(spec) = field_mut(daemon_set, "spec") else { return };
        if let Some(strategy) = field_mut(spec, "updateStrategy")
            && strategy.text("type") == "RollingUpdate"
        {
            let rolling = ensure_object(strategy).entry("rollingUpdate").or_insert_with(|| json!({}));
            default_value(rolling, "maxUnavailable", 1);
            default_value(rolling, "maxSurge", 0);
        }
        if let Some(template) = field_mut(spec, "template") {
            default_template(template);
        }
    }

    fn prepare_for_create(&self, _context: &Context, daemon_set: &mut Value) {
        let generation = template_generation(daemon_set).max(1);
        set_template_generation(daemon_set, generation);
    }

    fn prepare_for_update(&self, _context: &Context, new: &mut Value, old: &Value) {
        let changed = !same_at(new, old, &["spec", "template"]);
        set_template_generation(new, template_generation(old).saturating_add(i64::from(changed)));
    }

    /// The generation of the template stays out of reach of a status update too.
    fn prepare_for_status_update(&self, _context: &Context, new: &mut Value, old: &Value) {
        set_template_generation(new, template_generation(old));
    }

    fn validate(&self, daemon_set: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (path, empty) = (Path::new("spec"), json!({}));
        let spec = daemon_set.field("spec").unwrap_or(&empty);
        validate_selector_and_template(&mut errors, spec, &path);
        nonnegative(&mut errors, &path.child("templateGeneration"), template_generation(daemon_set));
        validate_update_strategy(&mut errors, spec.field("updateStrategy"), &path.child("updateStrategy"));
        errors
    }

    fn validate_status_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        validate_collision_count(&mut errors, new, old);
        errors
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        if old.is_some_and(|old| template_generation(new) == template_generation(old)) {
            return Vec::new();
        }
        template_warnings(new.field("spec").field("template"), &Path::new("spec").child("template"))
    }
}

fn template_generation(daemon_set: &Value) -> i64 {
    daemon_set.annotation(TEMPLATE_GENERATION).and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn set_template_generation(daemon_set: &mut Value, generation: i64) {
    let mut annotations = daemon_set.meta("annotations").cloned().unwrap_or(Value::Null);
    ensure_object(&mut annotations).insert(TEMPLATE_GENERATION.to_owned(), generation.to_string().into());
    daemon_set.set_meta("annotations", annotations);
}

fn validate_selector_and_template(errors: &mut ErrorList, spec: &Value, path: &Path) {
    let at = path.child("selector");
    let selector = spec.field("selector");
    let template_path = path.child("template");
    let empty = json!({});
    let template = spec.field("template").unwrap_or(&empty);
    let labels = template.field("metadata");
    // A selector that is absent selects nothing, one that is wrong is not tried.
    let matches = selector.is_some_and(|selector| selector_matches(selector, labels.entries("labels")));
    if selector.is_none_or(is_label_selector) && !matches {
        errors.push(Error::invalid(
            &template_path.child("metadata").child("labels"),
            shown(labels.field("labels")),
            "`selector` does not match template `labels`",
        ));
    }
    if let Some(selector) = selector
        && selector.entries("matchLabels").is_empty()
        && selector.list("matchExpressions").is_empty()
    {
        errors.push(Error::invalid(&at, selector.clone(), "empty selector is invalid for daemonset"));
    }
    validate_template(errors, template, &template_path);
    validate_pods_run_forever(errors, template, "DaemonSet", &template_path);
}

fn validate_update_strategy(errors: &mut ErrorList, strategy: Option<&Value>, path: &Path) {
    match strategy.text("type") {
        "OnDelete" => {}
        "RollingUpdate" => match strategy.field("rollingUpdate") {
            None => errors.push(Error::required(&path.child("rollingUpdate"), "")),
            Some(rolling) => validate_rolling_update(errors, rolling, &path.child("rollingUpdate")),
        },
        _ => errors.push(Error::not_supported(path, shown(strategy), &["RollingUpdate", "OnDelete"])),
    }
}

/// Either old pods go before new ones come, or new ones come first: exactly one of the two.
fn validate_rolling_update(errors: &mut ErrorList, rolling: &Value, path: &Path) {
    let (unavailable, surge) = (rolling.field("maxUnavailable"), rolling.field("maxSurge"));
    let (unavailable_path, surge_path) = (path.child("maxUnavailable"), path.child("maxSurge"));
    validate_int_or_percent(errors, unavailable, &unavailable_path);
    validate_int_or_percent(errors, surge, &surge_path);
    validate_at_most_100_percent(errors, unavailable, &unavailable_path);
    validate_at_most_100_percent(errors, surge, &surge_path);
    match (int_or_percent(unavailable) != 0, int_or_percent(surge) != 0) {
        (true, true) => {
            let detail = "may not be set when maxUnavailable is non-zero";
            errors.push(Error::invalid(&surge_path, shown(surge), detail));
        }
        (false, false) => errors.push(Error::required(&unavailable_path, "cannot be 0 when maxSurge is 0")),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update, context, row, texts};

    fn daemon_set() -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": {"name": "agent", "namespace": "default"},
            "spec": {
                "selector": {"matchLabels": {"app": "agent"}},
                "template": {
                    "metadata": {"labels": {"app": "agent"}},
                    "spec": {"containers": [{"name": "agent", "image": "agent:v1"}]},
                },
            },
        })
    }

    #[track_caller]
    fn check_spec(key: &str, value: Value, expected: &[&str]) {
        let mut object = daemon_set();
        object["spec"][key] = value;
        check(&DaemonSet, object, expected);
    }

    #[test]
    fn a_daemon_set_recognizes_its_pods() {
        check(&DaemonSet, daemon_set(), &[]);
        let unlike = "spec.template.metadata.labels: Invalid value: {\"app\":\"agent\"}: `selector` does not match template `labels`";
        check_spec("selector", json!({"matchLabels": {"app": "b"}}), &[unlike]);
        check_spec("selector", Value::Null, &[unlike]);
        check_spec(
            "selector",
            json!({}),
            &["spec.selector: Invalid value: {}: empty selector is invalid for daemonset"],
        );
        let mut object = daemon_set();
        object["spec"]["template"]["spec"]["restartPolicy"] = "Never".into();
        object["spec"]["template"]["spec"]["activeDeadlineSeconds"] = 5.into();
        check(
            &DaemonSet,
            object,
            &[
                "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\"",
                "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported",
            ],
        );
    }

    #[test]
    fn rollouts_move_in_one_way() {
        check_spec("updateStrategy", json!({"type": "OnDelete"}), &[]);
        check_spec(
            "updateStrategy",
            json!({"type": "Never"}),
            &[
                "spec.updateStrategy: Unsupported value: {\"type\":\"Never\"}: supported values: \"RollingUpdate\", \"OnDelete\"",
            ],
        );
        check_spec(
            "updateStrategy",
            json!({"rollingUpdate": {"maxUnavailable": 0}}),
            &["spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"],
        );
        check_spec(
            "updateStrategy",
            json!({"rollingUpdate": {"maxSurge": "101%"}}),
            &[
                "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: \"101%\": must not be greater than 100%",
                "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: \"101%\": may not be set when maxUnavailable is non-zero",
            ],
        );
    }

    #[test]
    fn the_template_has_a_generation_of_its_own() {
        let mut old = daemon_set();
        crate::testing::default(&DaemonSet, &mut old);
        DaemonSet.prepare_for_create(&context(), &mut old);
        assert_eq!(template_generation(&old), 1);
        let mut new = old.clone();
        set_template_generation(&mut new, 7);
        new["spec"]["minReadySeconds"] = 1.into();
        DaemonSet.prepare_for_update(&context(), &mut new, &old);
        assert_eq!(template_generation(&new), 1, "users cannot set it");
        new["spec"]["template"]["spec"]["containers"][0]["image"] = "agent:v2".into();
        DaemonSet.prepare_for_update(&context(), &mut new, &old);
        assert_eq!(template_generation(&new), 2);
        assert!(row("DaemonSet").is_new_generation(&new, &old));
    }

    #[test]
    fn the_selector_never_changes() {
        let mut new = daemon_set();
        new["spec"]["selector"] = json!({"matchLabels": {"app": "b"}});
        new["spec"]["template"]["metadata"]["labels"] = json!({"app": "b"});
        check_update(
            &DaemonSet,
            daemon_set(),
            new,
            &["spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"b\"}}: field is immutable"],
        );
    }

    #[test]
    fn counts_are_not_negative() {
        let old = json!({"status": {"collisionCount": 2}});
        let new = json!({"status": {"numberReady": -1, "collisionCount": 1}});
        assert_eq!(
            texts(&crate::testing::update_errors(&DaemonSet, "status", &new, &old)),
            [
                "status.numberReady: Invalid value: -1: must be greater than or equal to 0",
                "status.collisionCount: Invalid value: 1: cannot be decremented",
            ]
        );
    }

    #[test]
    fn a_daemon_set_shows_where_it_runs() {
        let mut object = daemon_set();
        object["spec"]["template"]["spec"]["nodeSelector"] = json!({"disk": "ssd"});
        object["status"] = json!({"desiredNumberScheduled": 2, "currentNumberScheduled": 2, "numberReady": 1});
        assert_eq!(
            Value::from(cells("DaemonSet", object)),
            json!(["agent", 2, 2, 1, 0, 0, "disk=ssd", "10m", "agent", "agent:v1", "app=agent"])
        );
    }
}
