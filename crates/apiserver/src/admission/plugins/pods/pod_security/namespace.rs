//! What a namespace is told when its level rises: which of its pods would not be let in
//! any more. They go on running.

use crate::cache::Stored;
use ferry_api::object::Meta;
use ferry_pod_security::evaluate::{Subject, evaluate, render_reasons};
use ferry_pod_security::policy::LevelVersion;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How much is looked at before the answer is given with what was found.
pub(super) struct Limits {
    pub pods: usize,
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { pods: 3000, time: Duration::from_secs(1) }
    }
}

/// The warnings about pods that violate the new level, one for each set of reasons.
pub(super) fn warn_of_pods(
    namespace: &str,
    enforce: LevelVersion,
    pods: &[Arc<Stored>],
    exempt_runtime_classes: &[String],
    limits: Limits,
) -> Vec<String> {
    let deadline = Instant::now() + limits.time;
    let mut survey = Survey { enforce, exempt_runtime_classes, found: BTreeMap::new(), checked: 0, exempt: 0 };
    // The pods of one controller are most often alike, so the first of each comes first.
    let mut controllers = HashSet::new();
    let mut replicas = Vec::new();
    let is_over =
        |survey: &Survey<'_>| survey.checked >= limits.pods || (survey.checked > 0 && Instant::now() >= deadline);
    let mut left = pods.iter();
    while !is_over(&survey)
        && let Some(stored) = left.next()
    {
        let pod = stored.value();
        if controller_of(&pod).is_some_and(|controller| !controllers.insert(controller)) {
            replicas.push(stored);
        } else {
            survey.look_at(&pod);
        }
    }
    for stored in replicas {
        if is_over(&survey) {
            break;
        }
        survey.look_at(&stored.value());
    }
    survey.render(namespace, pods.len())
}

fn controller_of(pod: &Value) -> Option<String> {
    let owners = pod.items_at(&["metadata", "ownerReferences"]);
    let controller = owners.iter().find(|owner| owner.bool_at(&["controller"]) == Some(true))?;
    Some(controller.str_at(&["uid"]).to_owned())
}

struct Survey<'a> {
    enforce: LevelVersion,
    exempt_runtime_classes: &'a [String],
    /// The reasons, the first pod by name that has them, and how many there are.
    found: BTreeMap<String, (String, usize)>,
    checked: usize,
    exempt: usize,
}

impl Survey<'_> {
    fn look_at(&mut self, pod: &Value) {
        let class = pod.str_at(&["spec", "runtimeClassName"]);
        if self.exempt_runtime_classes.iter().any(|exempt| exempt == class) {
            self.exempt += 1;
            return;
        }
        self.checked += 1;
        let violations = evaluate(self.enforce, Subject::new(pod));
        if violations.is_empty() {
            return;
        }
        let (first, count) =
            self.found.entry(render_reasons(&violations)).or_insert_with(|| (pod.name().to_owned(), 0));
        if pod.name() < first.as_str() {
            pod.name().clone_into(first);
        }
        *count += 1;
    }

    fn render(self, namespace: &str, pods: usize) -> Vec<String> {
        let (total, checked) = (pods.saturating_sub(self.exempt), self.checked);
        let mut warnings = Vec::new();
        if checked < total {
            warnings.push(format!(
                "new PodSecurity enforce level only checked against the first {checked} of {total} existing pods"
            ));
        }
        if !self.found.is_empty() {
            warnings.push(format!(
                "existing pods in namespace {namespace:?} violate the new PodSecurity enforce level \"{}\"",
                self.enforce
            ));
        }
        let mut by_pod: Vec<String> = self
            .found
            .into_iter()
            .map(|(reasons, (pod, count))| match count {
                1 => format!("{pod}: {reasons}"),
                2 => format!("{pod} (and 1 other pod): {reasons}"),
                _ => format!("{pod} (and {} other pods): {reasons}", count - 1),
            })
            .collect();
        by_pod.sort_unstable();
        warnings.extend(by_pod);
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_pod_security::policy::{Level, Version};
    use serde_json::json;

    fn stored(name: &str, owner: Option<&str>, spec: Value) -> Arc<Stored> {
        let mut pod =
            json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "ns"}, "spec": spec});
        if let Some(owner) = owner {
            pod["metadata"]["ownerReferences"] = json!([{"uid": owner, "controller": true}]);
        }
        let raw =
            format!(r#"{{"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{}}}"#, pod["metadata"], pod["spec"]);
        let key: Arc<str> = format!("/registry/pods/ns/{name}").into();
        Arc::new(Stored::plain(key, 1, raw.as_bytes()).expect("stored"))
    }

    fn warnings(pods: &[Arc<Stored>], limits: Limits) -> Vec<String> {
        let enforce = LevelVersion { level: Level::Baseline, version: Version::Latest };
        warn_of_pods("ns", enforce, pods, &["kata".to_owned()], limits)
    }

    #[test]
    fn pods_are_counted_by_their_reasons() {
        let host = || json!({"hostNetwork": true, "containers": []});
        let both = json!({"hostPID": true, "containers": [{"name": "c", "securityContext": {"privileged": true}}]});
        let pods = [
            stored("c", None, host()),
            stored("b", None, host()),
            stored("a", None, json!({"containers": []})),
            stored("d", None, host()),
            stored("e", None, both),
            stored("f", None, json!({"hostIPC": true, "runtimeClassName": "kata"})),
        ];
        assert_eq!(
            warnings(&pods, Limits::default()),
            [
                "existing pods in namespace \"ns\" violate the new PodSecurity enforce level \"baseline:latest\"",
                "b (and 2 other pods): host namespaces",
                "e: host namespaces, privileged",
            ]
        );
        assert!(warnings(&pods[2..3], Limits::default()).is_empty());
    }

    #[test]
    fn what_is_over_the_limit_is_said_and_replicas_come_last() {
        let pods = [
            stored("r1", Some("set"), json!({})),
            stored("r2", Some("set"), json!({"hostNetwork": true})),
            stored("single", None, json!({"hostPID": true})),
        ];
        let two = warnings(&pods, Limits { pods: 2, time: Duration::from_secs(60) });
        assert_eq!(two[0], "new PodSecurity enforce level only checked against the first 2 of 3 existing pods");
        assert_eq!(two[2..], ["single: host namespaces"]);
        let late = warnings(&pods, Limits { pods: 3000, time: Duration::ZERO });
        assert_eq!(late, ["new PodSecurity enforce level only checked against the first 1 of 3 existing pods"]);
    }
}
