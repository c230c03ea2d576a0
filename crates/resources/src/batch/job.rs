//! Job: the strategy of pods that run to their end.

use super::job_spec::{default_job_template_spec, is_indexed, job_spec_warnings, validate_job_spec};
use super::job_status::{is_true, validate_job_status};
use crate::apps::replicas::warn_of_unlike_label_name;
use crate::names;
use crate::read::{Read, ReadNode, default_value, field_mut, keep, list_mut, remove, set};
use crate::validation::equality::same_at;
use crate::validation::labels::{is_label_selector, selector_matches};
use crate::validation::{FIELD_IS_IMMUTABLE, shown, validate_immutable};
use crate::{Context, Strategy, print};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::{Meta, ensure_object};
use ferry_api::rules::condition;
use ferry_api::view::View;
use ferry_api::view::batch::v1::JobView;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

pub(crate) struct Job;

const NAME_LABEL: &str = "batch.kubernetes.io/job-name";
const UID_LABEL: &str = "batch.kubernetes.io/controller-uid";
/// The names of the two labels before they had a domain.
const OLD_NAME_LABEL: &str = "job-name";
const OLD_UID_LABEL: &str = "controller-uid";

impl Strategy for Job {
    fn default(&self, job: &mut Value) {
        let Some(spec) = field_mut(job, "spec") else { return };
        if !spec.has("completions") && !spec.has("parallelism") {
            set(spec, "completions", 1);
        }
        default_value(spec, "parallelism", 1);
        let limit = if spec.has("backoffLimitPerIndex") { i64::from(i32::MAX) } else { 6 };
        default_value(spec, "backoffLimit", limit);
        default_value(spec, "completionMode", "NonIndexed");
        default_value(spec, "suspend", false);
        let replacement = if spec.has("podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
        default_value(spec, "podReplacementPolicy", replacement);
        default_value(spec, "manualSelector", false);
        default_job_template_spec(spec);
    }

    fn prepare_for_create(&self, _context: &Context, job: &mut Value) {
        if !job.field("spec").flag("manualSelector") {
            generate_selector(job);
        }
        borrow_labels(job);
    }

    fn prepare_for_update(&self, _context: &Context, new: &mut Value, _old: &Value) {
        borrow_labels(new);
    }

    fn validate(&self, job: &Value) -> ErrorList {
        validate_job(job, LabelsOf::Both)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let labels = old.field("spec").field("template").field("metadata").entries("labels");
        let labels = match (labels.contains_key(NAME_LABEL), labels.contains_key(UID_LABEL)) {
            (true, true) => LabelsOf::Both,
            _ => LabelsOf::OldOnly,
        };
        let mut errors = validate_job(new, labels);
        validate_completions_are_kept(&mut errors, new, old);
        let path = Path::new("spec");
        let mut kept = |key: &str| validate_immutable(&mut errors, new, old, &["spec", key], &path.child(key));
        kept("selector");
        validate_template_is_kept(&mut errors, new, old);
        let mut kept = |key: &str| validate_immutable(&mut errors, new, old, &["spec", key], &path.child(key));
        for key in ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"] {
            kept(key);
        }
        errors
    }

    fn validate_status_update(&self, new: &Value, old: &Value) -> ErrorList {
        validate_job_status(new, old)
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        match old {
            None => warn_of_unlike_label_name(&mut warnings, new),
            Some(old) if new.generation() == old.generation() => return warnings,
            Some(_) => {}
        }
        warnings.extend(job_spec_warnings(new.field("spec"), &Path::new("spec")));
        warnings
    }

    fn computed_cells(&self, job: Node<'_>, now: Timestamp) -> Vec<Value> {
        let (spec, status) = (job.field("spec"), job.field("status"));
        let succeeded = status.int("succeeded");
        let completions = match (spec.opt_int("completions"), spec.int("parallelism")) {
            (Some(completions), _) => format!("{succeeded}/{completions}"),
            (None, parallelism) if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
            (None, _) => format!("{succeeded}/1"),
        };
        let moment = |key: &str| status.field(key).and_then(print::timestamp);
        let duration = match (moment("startTime"), moment("completionTime")) {
            (None, _) => String::new(),
            (Some(start), end) => print::human_duration(end.unwrap_or(now).duration_since(start).as_secs()),
        };
        vec![state(job).into(), completions.into(), duration.into()]
    }

    fn deletion_warnings(&self) -> Vec<String> {
        vec![
            "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"
                .to_owned(),
        ]
    }
}

fn state(job: Node<'_>) -> &'static str {
    let conditions = JobView::over(job).status().conditions();
    let is_true = |kind: &str| condition::is_true(conditions, kind);
    if is_true("Complete") {
        return "Complete";
    }
    if is_true("Failed") {
        return "Failed";
    }
    if job.is_deleting() {
        return "Terminating";
    }
    ["Suspended", "FailureTarget", "SuccessCriteriaMet"].into_iter().find(|kind| is_true(kind)).unwrap_or("Running")
}

/// Labels by which the pods of this Job, and of no other, are recognized. Those that the
/// user gave stay, and are refused later if they say something else.
fn generate_selector(job: &mut Value) {
    let (name, uid) = (job.name().to_owned(), job.uid().to_owned());
    let Some(spec) = field_mut(job, "spec") else { return };
    let spec = ensure_object(spec);
    let template = ensure_object(spec.entry("template").or_insert(Value::Null));
    let metadata = ensure_object(template.entry("metadata").or_insert(Value::Null));
    let labels = ensure_object(metadata.entry("labels").or_insert(Value::Null));
    for (key, value) in [(OLD_NAME_LABEL, &name), (NAME_LABEL, &name), (OLD_UID_LABEL, &uid), (UID_LABEL, &uid)] {
        labels.entry(key).or_insert_with(|| value.as_str().into());
    }
    let selector = ensure_object(spec.entry("selector").or_insert(Value::Null));
    let labels = ensure_object(selector.entry("matchLabels").or_insert(Value::Null));
    labels.entry(UID_LABEL).or_insert_with(|| uid.into());
}

/// A Job without labels has those of its pods. Upstream's default does this whenever it
/// reads a Job, and so also after the labels above were added.
fn borrow_labels(job: &mut Value) {
    let labels = job.field("spec").field("template").field("metadata").entries("labels");
    if !labels.is_empty() && job.field("metadata").entries("labels").is_empty() {
        let labels = labels.clone();
        job.set_meta("labels", labels);
    }
}

/// Which of the generated labels a Job must have: one from before they had a domain has
/// only the old ones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LabelsOf {
    Both,
    OldOnly,
}

fn validate_job(job: &Value, labels: LabelsOf) -> ErrorList {
    let mut errors = ErrorList::new();
    let (path, empty) = (Path::new("spec"), json!({}));
    let spec = job.field("spec").unwrap_or(&empty);
    validate_generated_selector(&mut errors, job, labels);
    validate_job_spec(&mut errors, spec, &path);
    let (selector, at) = (spec.field("selector"), path.child("selector"));
    if selector.is_none() {
        errors.push(Error::required(&at, ""));
    }
    let metadata = spec.field("template").field("metadata");
    let is_wrong = selector.is_some_and(|selector| !is_label_selector(selector));
    if !is_wrong && !selector.is_some_and(|selector| selector_matches(selector, metadata.entries("labels"))) {
        errors.push(Error::invalid(
            &path.child("template").child("metadata").child("labels"),
            shown(metadata.field("labels")),
            "`selector` does not match template `labels`",
        ));
    }
    // The pods of an Indexed Job have their index in their host name.
    let completions = spec.int("completions");
    if is_indexed(Some(spec)) && completions > 0 {
        let hostname = format!("{}-{}", job.name(), completions - 1);
        if !names::is_dns1123_label(&hostname).is_empty() {
            errors.push(Error::invalid(
                &Path::new("metadata").child("name"),
                job.name(),
                format!("will not able to create pod with invalid DNS label: {hostname}"),
            ));
        }
    }
    errors
}

fn validate_generated_selector(errors: &mut ErrorList, job: &Value, labels: LabelsOf) {
    let spec = job.field("spec");
    let Some(selector) = spec.field("selector") else { return };
    if spec.flag("manualSelector") {
        return;
    }
    if job.uid().is_empty() {
        errors.push(Error::required(&Path::new("metadata").child("uid"), ""));
    }
    let metadata = spec.field("template").field("metadata");
    let path = Path::new("spec").child("template").child("metadata").child("labels");
    let mut expected: Vec<(&str, &str)> = vec![(OLD_UID_LABEL, job.uid()), (OLD_NAME_LABEL, job.name())];
    if labels == LabelsOf::Both {
        expected.extend([(UID_LABEL, job.uid()), (NAME_LABEL, job.name())]);
    }
    for (key, value) in &expected {
        let detail = format!("must be '{value}'");
        match metadata.entries("labels").get(*key) {
            None => errors.push(Error::required(&path.key(key), detail)),
            Some(found) if found != value => {
                errors.push(Error::invalid(&path.key(key), shown(metadata.field("labels")), detail));
            }
            Some(_) => {}
        }
    }
    let expected: Map<String, Value> =
        expected.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
    if is_label_selector(selector) && !selector_matches(selector, &expected) {
        let path = Path::new("spec").child("selector");
        errors.push(Error::invalid(&path, selector.clone(), "`selector` not auto-generated"));
    }
}

/// Only an Indexed Job that runs all its pods at once may be made larger or smaller.
fn validate_completions_are_kept(errors: &mut ErrorList, new: &Value, old: &Value) {
    let (spec, path) = (new.field("spec"), Path::new("spec").child("completions"));
    if !is_indexed(spec) {
        validate_immutable(errors, new, old, &["spec", "completions"], &path);
        return;
    }
    let completions = spec.opt_int("completions");
    if let Some(count) = completions
        && completions != old.field("spec").opt_int("completions")
        && completions != spec.opt_int("parallelism")
    {
        errors.push(Error::invalid(&path, count, "can only be modified in tandem with spec.parallelism"));
    }
}

/// The template is what the Job is. While a Job is suspended and nothing of it runs, its
/// scheduling directives and the resources of its containers may still change.
fn validate_template_is_kept(errors: &mut ErrorList, new: &Value, old: &Value) {
    let path = Path::new("spec").child("template");
    let (old_spec, old_status) = (old.field("spec"), old.field("status"));
    let suspended = old_spec.flag("suspend");
    let may_change =
        suspended && (!old_status.has("startTime") || is_true(old, "Suspended")) && old_status.int("active") == 0;
    if !may_change {
        validate_immutable(errors, new, old, &["spec", "template"], &path);
        return;
    }
    let template = new.field("spec").field("template").cloned().unwrap_or(Value::Null);
    let mut before = old.clone();
    let old_template = field_mut(&mut before, "spec").and_then(|spec| field_mut(spec, "template"));
    if let Some(old_template) = old_template {
        allow_scheduling_directives(old_template, &template);
        let pod = template.field("spec");
        if let Some(old_pod) = field_mut(old_template, "spec") {
            for list in ["containers", "initContainers"] {
                allow_resources(list_mut(old_pod, list), pod.list(list));
            }
        }
    }
    // Upstream compares only the pod's spec here, and says so.
    if !same_at(new, &before, &["spec", "template", "spec"]) {
        let value = shown(template.field("spec"));
        errors.push(Error::invalid(&Path::new("spec").child("template.spec"), value, FIELD_IS_IMMUTABLE));
    }
}

fn allow_scheduling_directives(old: &mut Value, new: &Value) {
    let Some(pod) = field_mut(old, "spec") else { return };
    let empty = json!({});
    let new_pod = new.field("spec").unwrap_or(&empty);
    let affinity = new_pod.field("affinity");
    match (affinity, field_mut(pod, "affinity")) {
        (None, Some(before)) => {
            remove(before, "nodeAffinity");
            if before.as_object().is_some_and(Map::is_empty) {
                remove(pod, "affinity");
            }
        }
        (Some(affinity), None) => {
            let mut given = json!({});
            keep(&mut given, affinity, "nodeAffinity");
            set(pod, "affinity", given);
        }
        (Some(affinity), Some(before)) => keep(before, affinity, "nodeAffinity"),
        (None, None) => {}
    }
    for key in ["nodeSelector", "tolerations", "schedulingGates"] {
        keep(pod, new_pod, key);
    }
}

fn allow_resources(old: &mut [Value], new: &[Value]) {
    if old.len() != new.len() {
        return;
    }
    for (old, new) in old.iter_mut().zip(new) {
        if old.text("name") == new.text("name") {
            keep(old, new, "resources");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, context, texts};

    fn job() -> Value {
        json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "pi", "namespace": "default", "uid": "1"},
            "spec": {"template": {"spec": {
                "restartPolicy": "Never", "containers": [{"name": "pi", "image": "perl:5"}],
            }}},
        })
    }

    fn created(mut job: Value) -> Value {
        crate::testing::default(&Job, &mut job);
        Job.prepare_for_create(&context(), &mut job);
        job
    }

    fn with(key: &str, value: Value) -> Value {
        let mut object = job();
        object["spec"][key] = value;
        object
    }

    #[track_caller]
    fn check(object: Value, expected: &[&str]) {
        assert_eq!(texts(&crate::testing::errors(&Job, &created(object))), expected);
    }

    #[track_caller]
    fn check_update(old: Value, change: impl Fn(&mut Value), expected: &[&str]) {
        let old = created(old);
        let mut new = old.clone();
        change(&mut new);
        crate::testing::default(&Job, &mut new);
        Job.prepare_for_update(&context(), &mut new, &old);
        assert_eq!(texts(&crate::testing::update_errors(&Job, "", &new, &old)), expected);
    }

    #[test]
    fn a_job_knows_its_pods_by_its_uid() {
        let labels = json!({
            "job-name": "pi", "batch.kubernetes.io/job-name": "pi",
            "controller-uid": "1", "batch.kubernetes.io/controller-uid": "1",
        });
        let object = created(job());
        assert_eq!(object["spec"]["selector"], json!({"matchLabels": {"batch.kubernetes.io/controller-uid": "1"}}));
        assert_eq!(object["spec"]["template"]["metadata"]["labels"], labels);
        assert_eq!(object["metadata"]["labels"], labels);
        check(job(), &[]);
        let mut object = job();
        object["spec"]["template"]["metadata"] = json!({"labels": {"job-name": "e"}});
        assert_eq!(
            texts(&crate::testing::errors(&Job, &created(object)))[0],
            "spec.template.metadata.labels[job-name]: Invalid value: {\"batch.kubernetes.io/controller-uid\":\"1\",\"batch.kubernetes.io/job-name\":\"pi\",\"controller-uid\":\"1\",\"job-name\":\"e\"}: must be 'pi'"
        );
        let mut object = with("manualSelector", true.into());
        check(
            object.clone(),
            &[
                "spec.selector: Required value",
                "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
            ],
        );
        object["spec"]["selector"] = json!({"matchLabels": {"a": "b"}});
        object["spec"]["template"]["metadata"] = json!({"labels": {"a": "b"}});
        check(object, &[]);
    }

    #[test]
    fn a_job_ends() {
        let mut object = job();
        object["spec"]["template"]["spec"]["restartPolicy"] = "Always".into();
        check(object, &["spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\""]);
        check(
            with("backoffLimit", (-1).into()),
            &["spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0"],
        );
        check(
            with("managedBy", "me".into()),
            &["spec.managedBy: Invalid value: \"me\": must be a domain-prefixed path (such as \"acme.io/foo\")"],
        );
    }

    #[test]
    fn indexes_need_an_indexed_job() {
        check(
            with("backoffLimitPerIndex", 1.into()),
            &["spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"],
        );
        let mut object = with("completionMode", "Indexed".into());
        object["spec"]["parallelism"] = 2.into();
        check(object.clone(), &["spec.completions: Required value: when completion mode is Indexed"]);
        object["spec"]["completions"] = 3.into();
        check(object.clone(), &[]);
        object["spec"]["successPolicy"] = json!({"rules": [{"succeededIndexes": "0-3"}, {"succeededCount": 4}, {}]});
        check(
            object.clone(),
            &[
                "spec.successPolicy.rules[0].succeededIndexes: Invalid value: \"0-3\": error parsing succeededIndexes: too large index: \"3\"",
                "spec.successPolicy.rules[1].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of specified completions)",
                "spec.successPolicy.rules[2]: Required value: at least one of succeededCount or succeededIndexes must be specified",
            ],
        );
    }

    #[test]
    fn failures_are_judged_by_rules() {
        let rules = |rules: Value| with("podFailurePolicy", json!({"rules": rules}));
        check(rules(json!([{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1, 2]}}])), &[]);
        check(
            rules(json!([{"onPodConditions": [{"type": "DisruptionTarget"}]}, {"action": "FailIndex"}])),
            &[
                "spec.podFailurePolicy.rules[0].action: Required value: valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]",
                "spec.podFailurePolicy.rules[1].action: Invalid value: \"FailIndex\": requires the backoffLimitPerIndex to be set",
                "spec.podFailurePolicy.rules[1]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
            ],
        );
        check(
            rules(
                json!([{"action": "Count", "onExitCodes": {"containerName": "x", "operator": "In", "values": [3, 0, 3]}}]),
            ),
            &[
                "spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: \"x\": must be one of the container or initContainer names in the pod template",
                "spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator",
                "spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 3",
                "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,0,3]: must be ordered",
            ],
        );
    }

    #[test]
    fn what_a_job_does_never_changes() {
        check_update(job(), |new| new["spec"]["parallelism"] = 5.into(), &[]);
        check_update(
            job(),
            |new| new["spec"]["completions"] = 5.into(),
            &["spec.completions: Invalid value: 5: field is immutable"],
        );
        let image = |new: &mut Value| new["spec"]["template"]["spec"]["containers"][0]["image"] = "perl:6".into();
        let old = created(job());
        let mut new = old.clone();
        image(&mut new);
        let errors = texts(&crate::testing::update_errors(&Job, "", &new, &old));
        assert_eq!(errors.len(), 1);
        assert!(
            errors[0].starts_with("spec.template: Invalid value: {") && errors[0].ends_with(": field is immutable")
        );
        let suspended = with("suspend", true.into());
        let resources = |new: &mut Value| {
            new["spec"]["template"]["spec"]["nodeSelector"] = json!({"a": "b"});
            new["spec"]["template"]["spec"]["affinity"] = json!({"nodeAffinity": {}});
            new["spec"]["template"]["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
        };
        check_update(suspended.clone(), resources, &[]);
        let old = created(suspended);
        let mut new = old.clone();
        image(&mut new);
        assert!(
            texts(&crate::testing::update_errors(&Job, "", &new, &old))[0]
                .starts_with("spec.template.spec: Invalid value: {")
        );
    }

    #[track_caller]
    fn check_status(old: Value, new: Value, expected: &[&str]) {
        let object = |status: Value| {
            let mut object = created(job());
            object["status"] = status;
            object
        };
        assert_eq!(texts(&crate::testing::update_errors(&Job, "status", &object(new), &object(old))), expected);
    }

    #[test]
    fn a_finished_job_stays_finished() {
        let conditions = |names: &[&str]| -> Value {
            names.iter().map(|name| json!({"type": name, "status": "True"})).collect::<Vec<_>>().into()
        };
        let (start, end) = ("2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z");
        let complete = json!({"startTime": start, "completionTime": end, "succeeded": 1,
            "conditions": conditions(&["SuccessCriteriaMet", "Complete"])});
        check_status(json!({"startTime": start}), complete.clone(), &[]);
        check_status(
            complete.clone(),
            json!({"startTime": start}),
            &[
                "status.conditions: Invalid value: cannot disable the terminal Complete=True condition",
                "status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition",
                "status.succeeded: Invalid value: 0: cannot decrease the succeeded counter",
            ],
        );
        check_status(
            json!({}),
            json!({"active": 1, "conditions": conditions(&["Complete"])}),
            &[
                "status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
                "status.completionTime: Required value: completionTime is required for Complete jobs",
                "status.active: Invalid value: 1: active>0 is invalid for finished job",
                "status.startTime: Required value: startTime is required for finished job",
            ],
        );
        check_status(
            json!({}),
            json!({"conditions": conditions(&["Failed"]), "startTime": start, "ready": 1, "completedIndexes": "0"}),
            &[
                "status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition",
                "status.ready: Invalid value: 1: cannot set more ready pods than active",
                "status.completedIndexes: Invalid value: \"0\": cannot set non-empty completedIndexes when non-indexed completion mode",
            ],
        );
        check_status(
            json!({"startTime": start}),
            json!({"startTime": end}),
            &[
                "status.startTime: Invalid value: \"2026-01-01T00:01:00Z\": field is immutable for unsuspended job once set",
            ],
        );
    }

    #[test]
    fn a_job_shows_how_far_it_is() {
        let mut object = created(job());
        object["status"] = json!({"startTime": "2026-01-01T00:00:00Z"});
        let selector = "batch.kubernetes.io/controller-uid=1";
        assert_eq!(
            Value::from(cells("Job", object.clone())),
            json!(["pi", "Running", "0/1", "10m", "10m", "pi", "perl:5", selector])
        );
        object["status"] = json!({"startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:07Z",
            "succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]});
        assert_eq!(
            Value::from(cells("Job", object)),
            json!(["pi", "Complete", "1/1", "7s", "10m", "pi", "perl:5", selector])
        );
        let mut object = created(job());
        object["spec"]["completions"] = Value::Null;
        object["spec"]["parallelism"] = 3.into();
        assert_eq!(cells("Job", object)[2], "0/1 of 3");
    }
}
