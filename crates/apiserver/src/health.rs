//! /livez, /readyz and /healthz: whether the process should go on, and whether it should
//! get traffic (apiserver/pkg/server/healthz upstream).

use crate::ServerState;
use crate::answer;
use crate::query::Query;
use crate::transport::Body;
use http::{Response, StatusCode};
use std::fmt::Write;
use std::sync::atomic::Ordering;

struct Check {
    name: &'static str,
    /// Asked by readyz only: not being ready is no reason to be restarted.
    only_ready: bool,
    passes: fn(&ServerState) -> bool,
}

const KMS: &str = "kms-providers";

const CHECKS: [Check; 7] = [
    Check { name: "ping", only_ready: false, passes: |_| true },
    Check { name: "log", only_ready: false, passes: |_| true },
    Check { name: "etcd", only_ready: false, passes: store_is_reachable },
    // Shown only where there is a KMS; the name is upstream's for all of them together.
    Check {
        name: KMS,
        only_ready: false,
        passes: |server| !matches!(server.registry.encryption.kms_health(), Some(Err(_))),
    },
    Check { name: "etcd-readiness", only_ready: true, passes: store_is_reachable },
    Check {
        name: "poststarthook/rbac/bootstrap-roles",
        only_ready: true,
        passes: |server| server.bootstrapped.load(Ordering::Acquire),
    },
    Check { name: "shutdown", only_ready: true, passes: |server| !server.stopping.load(Ordering::Acquire) },
];

/// The cache follows the store; one that has fallen behind has lost its watch.
fn store_is_reachable(server: &ServerState) -> bool {
    let (store, cache) = (server.registry.store.current_revision(), server.registry.cache.revision());
    // A batch may be on its way; a thousand changes behind is no longer that.
    store.saturating_sub(cache) < 1000
}

/// Splits `/readyz/ping` into the endpoint and the one check that is asked for.
pub fn split(path: &str) -> Option<(&'static str, Option<&str>)> {
    ["livez", "readyz", "healthz"].into_iter().find_map(|endpoint| {
        let rest = path.strip_prefix('/')?.strip_prefix(endpoint)?;
        if rest.is_empty() { Some((endpoint, None)) } else { Some((endpoint, Some(rest.strip_prefix('/')?))) }
    })
}

pub fn answer(server: &ServerState, endpoint: &str, only: Option<&str>, query: &Query) -> Response<Body> {
    let has_kms = server.registry.encryption.kms_health().is_some();
    let asked = |check: &&Check| (endpoint == "readyz" || !check.only_ready) && (check.name != KMS || has_kms);
    if let Some(name) = only {
        return match CHECKS.iter().filter(asked).find(|check| check.name == name) {
            None => answer::text(StatusCode::NOT_FOUND, "404 page not found\n"),
            Some(check) if (check.passes)(server) => answer::text(StatusCode::OK, "ok"),
            Some(_) => {
                answer::text(StatusCode::INTERNAL_SERVER_ERROR, "internal server error: reason withheld\n".to_owned())
            }
        };
    }
    let excluded: Vec<&str> = query.all("exclude").collect();
    let mut lines = String::new();
    let mut passed = true;
    for check in CHECKS.iter().filter(asked) {
        let name = check.name;
        if excluded.contains(&name) {
            let _ = writeln!(lines, "[+]{name} excluded: ok");
            continue;
        }
        let passes = (check.passes)(server);
        server.metrics.health.checked(name, endpoint, passes);
        if passes {
            let _ = writeln!(lines, "[+]{name} ok");
        } else {
            passed = false;
            let _ = writeln!(lines, "[-]{name} failed: reason withheld");
        }
    }
    if !passed {
        let _ = writeln!(lines, "{endpoint} check failed");
        return answer::text(StatusCode::INTERNAL_SERVER_ERROR, lines);
    }
    if query.get("verbose").is_some() {
        let _ = writeln!(lines, "{endpoint} check passed");
        return answer::text(StatusCode::OK, lines);
    }
    answer::text(StatusCode::OK, "ok")
}

#[cfg(test)]
mod tests {
    use super::split;

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
}
