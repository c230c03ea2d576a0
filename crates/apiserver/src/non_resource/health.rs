//! /livez, /readyz and /healthz: whether the process should go on, and whether it should
//! get traffic (apiserver/pkg/server/healthz upstream). Checks have upstream's names where
//! ferry has the part that the name stands for, and none where it has not.

use crate::ServerState;
use crate::door::answer;
use crate::query::Query;
use crate::transport::Body;
use http::header::{HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::{Response, StatusCode};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::Ordering;

struct Check {
    name: &'static str,
    /// Asked by readyz only: not being ready is no reason to be restarted.
    only_ready: bool,
    /// The error is for those who may ask for the single check.
    passes: fn(&ServerState) -> Result<(), String>,
}

const KMS: &str = "kms-providers";

/// In the order in which they are told.
const CHECKS: [Check; 31] = [
    Check { name: "ping", only_ready: false, passes: |_| Ok(()) },
    Check { name: "log", only_ready: false, passes: |_| Ok(()) },
    Check { name: "etcd", only_ready: false, passes: store_is_reachable },
    // Shown only where there is a KMS; the name is upstream's for all of them together.
    Check { name: KMS, only_ready: false, passes: |server| server.registry.encryption.kms_health().unwrap_or(Ok(())) },
    Check { name: "etcd-readiness", only_ready: true, passes: store_is_reachable },
    Check { name: "informer-sync", only_ready: true, passes: has_started },
    hook("poststarthook/start-apiserver-admission-initializer"),
    hook("poststarthook/generic-apiserver-start-informers"),
    hook("poststarthook/priority-and-fairness-config-consumer"),
    hook("poststarthook/priority-and-fairness-filter"),
    hook("poststarthook/start-apiextensions-informers"),
    hook("poststarthook/start-apiextensions-controllers"),
    hook("poststarthook/crd-informer-synced"),
    hook("poststarthook/start-system-namespaces-controller"),
    hook("poststarthook/start-cluster-authentication-info-controller"),
    hook("poststarthook/start-legacy-token-tracking-controller"),
    hook("poststarthook/start-service-ip-repair-controllers"),
    hook("poststarthook/start-kubernetes-service-cidr-controller"),
    hook("poststarthook/rbac/bootstrap-roles"),
    hook("poststarthook/scheduling/bootstrap-system-priority-classes"),
    hook("poststarthook/priority-and-fairness-config-producer"),
    hook("poststarthook/bootstrap-controller"),
    hook("poststarthook/aggregator-reload-proxy-client-cert"),
    hook("poststarthook/start-kube-aggregator-informers"),
    hook("poststarthook/apiservice-status-local-available-controller"),
    hook("poststarthook/apiservice-status-remote-available-controller"),
    hook("poststarthook/apiservice-registration-controller"),
    hook("poststarthook/kube-apiserver-autoregistration"),
    hook("autoregister-completion"),
    hook("poststarthook/apiservice-openapi-controller"),
    Check { name: "shutdown", only_ready: true, passes: is_staying },
];

/// What the server makes or starts before it answers anybody.
const fn hook(name: &'static str) -> Check {
    Check { name, only_ready: false, passes: has_started }
}

fn has_started(server: &ServerState) -> Result<(), String> {
    if server.bootstrapped.load(Ordering::Acquire) { Ok(()) } else { Err("not finished".into()) }
}

fn is_staying(server: &ServerState) -> Result<(), String> {
    if server.stopping.load(Ordering::Acquire) { Err("process is shutting down".into()) } else { Ok(()) }
}

/// A store that takes no writes fails livez too, as upstream's does when etcd is out of space:
/// nothing that a client asks for can be done. The cache follows the store; one that has fallen
/// behind has lost its watch.
fn store_is_reachable(server: &ServerState) -> Result<(), String> {
    server.registry.store.health().map_err(|error| error.to_string())?;
    let (store, cache) = (server.registry.store.current_revision(), server.registry.cache.revision());
    let behind = store.saturating_sub(cache);
    // A batch may be on its way; a thousand changes behind is no longer that.
    if behind < 1000 { Ok(()) } else { Err(format!("the cache is {behind} changes behind the store")) }
}

/// Brings the list of problems up to date with what the store knows of its disk.
pub(crate) fn report_store(server: &ServerState) {
    let problems = &server.config.problems;
    match server.registry.store.health() {
        Ok(()) => problems.resolve("store", "disk"),
        Err(error) => problems.report("store", "disk", &error.to_string()),
    }
}

/// Splits `/readyz/ping` into the endpoint and the one check that is asked for.
pub(crate) fn split(path: &str) -> Option<(&'static str, Option<&str>)> {
    ["livez", "readyz", "healthz"].into_iter().find_map(|endpoint| {
        let rest = path.strip_prefix('/')?.strip_prefix(endpoint)?;
        if rest.is_empty() { Some((endpoint, None)) } else { Some((endpoint, Some(rest.strip_prefix('/')?))) }
    })
}

pub(crate) fn answer(server: &ServerState, endpoint: &str, only: Option<&str>, query: &Query) -> Response<Body> {
    let has_kms = server.registry.encryption.kms_health().is_some();
    let asked = |check: &&Check| (endpoint == "readyz" || !check.only_ready) && (check.name != KMS || has_kms);
    if let Some(name) = only {
        return match CHECKS.iter().filter(asked).find(|check| check.name == name) {
            None => answer::text(StatusCode::NOT_FOUND, "404 page not found\n"),
            Some(check) => match (check.passes)(server) {
                Ok(()) => answer::text(StatusCode::OK, "ok"),
                Err(why) => answer::text(StatusCode::INTERNAL_SERVER_ERROR, format!("internal server error: {why}\n")),
            },
        };
    }
    let mut results = Vec::new();
    let excluded: BTreeSet<&str> = query.all("exclude").collect();
    for check in CHECKS.iter().filter(asked) {
        let passed = (!excluded.contains(check.name)).then(|| {
            let outcome = (check.passes)(server);
            if let Err(why) = &outcome {
                tracing::warn!(endpoint, check = check.name, why, "a health check failed");
            }
            server.metrics.health.checked(check.name, endpoint, outcome.is_ok());
            outcome.is_ok()
        });
        results.push((check.name, passed));
    }
    let (passed, lines) = render(endpoint, &results, &excluded);
    let mut response = match (passed, query.get("verbose").is_some()) {
        (false, _) => answer::text(StatusCode::INTERNAL_SERVER_ERROR, lines),
        (true, true) => answer::text(StatusCode::OK, lines),
        (true, false) => answer::text(StatusCode::OK, "ok"),
    };
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Whether all is well, and a line for each check; `None` is one that was left out. The
/// reasons of failures are not for everybody.
fn render(endpoint: &str, results: &[(&str, Option<bool>)], excluded: &BTreeSet<&str>) -> (bool, String) {
    let mut lines = String::new();
    for (name, passed) in results {
        let _ = match passed {
            None => writeln!(lines, "[+]{name} excluded: ok"),
            Some(true) => writeln!(lines, "[+]{name} ok"),
            Some(false) => writeln!(lines, "[-]{name} failed: reason withheld"),
        };
    }
    let known = |wanted: &&&str| !results.iter().any(|(name, _)| name == *wanted);
    let unknown: Vec<String> = excluded.iter().filter(known).map(|name| format!("{name:?}")).collect();
    if !unknown.is_empty() {
        let names = unknown.join(",");
        let _ = writeln!(lines, "warn: some health checks cannot be excluded: no matches for {names}");
    }
    let passed = results.iter().all(|(_, passed)| *passed != Some(false));
    let _ = writeln!(lines, "{endpoint} check {}", if passed { "passed" } else { "failed" });
    (passed, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_single_checks_are_split() {
        assert_eq!(split("/livez"), Some(("livez", None)));
        assert_eq!(split("/readyz/ping"), Some(("readyz", Some("ping"))));
        assert_eq!(
            split("/readyz/poststarthook/rbac/bootstrap-roles"),
            Some(("readyz", Some("poststarthook/rbac/bootstrap-roles")))
        );
        assert_eq!(split("/healthzy"), None);
    }

    #[test]
    fn one_failure_fails_all_and_what_is_left_out_does_not_count() {
        let excluded = BTreeSet::from(["etcd", "nonsense", "other"]);
        let results = [("ping", Some(true)), ("etcd", None), ("log", Some(false))];
        let (passed, text) = render("livez", &results, &excluded);
        assert!(!passed);
        assert_eq!(
            text,
            "[+]ping ok\n[+]etcd excluded: ok\n[-]log failed: reason withheld\n\
             warn: some health checks cannot be excluded: no matches for \"nonsense\",\"other\"\nlivez check failed\n"
        );
        let (passed, text) = render("livez", &results[..2], &BTreeSet::from(["etcd"]));
        assert!(passed && text.ends_with("[+]etcd excluded: ok\nlivez check passed\n"), "{text}");
    }

    #[test]
    fn names_are_told_once() {
        let names: BTreeSet<&str> = CHECKS.iter().map(|check| check.name).collect();
        assert_eq!(names.len(), CHECKS.len());
    }
}
