//! Probes and lifecycle hooks: what may be done to a container to see or to warn it.

use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

/// All three probes of a container that may have them.
pub(crate) fn validate_probes(errors: &mut ErrorList, container: &Value, path: &Path) {
    for key in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = container.field(key) else { continue };
        let path = path.child(key);
        if key == "readinessProbe" {
            if let Some(period) = probe.field("terminationGracePeriodSeconds") {
                errors.push(Error::invalid(
                    &path.child("terminationGracePeriodSeconds"),
                    period.clone(),
                    "must not be set for readinessProbes",
                ));
            }
        } else if probe.int("successThreshold") != 1 {
            let threshold = probe.int("successThreshold");
            errors.push(Error::invalid(&path.child("successThreshold"), threshold, "must be 1"));
        }
    }
}

pub(crate) fn validate_lifecycle(
    errors: &mut ErrorList,
    lifecycle: Option<&Value>,
    grace_period: Option<i64>,
    os: Option<&Value>,
    path: &Path,
) {
    for hook in ["postStart", "preStop"] {
        let handler = lifecycle.field(hook);
        // Upstream looks for the other kinds of handler first, and at one of them only.
        let others = ["exec", "httpGet", "tcpSocket"].iter().any(|kind| handler.has(kind));
        if let (Some(sleep), Some(period)) = (handler.field("sleep").filter(|_| !others), grace_period)
            && !(0..=period).contains(&sleep.int("seconds"))
        {
            let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({period})");
            errors.push(Error::invalid(&path.child(hook).child("sleep"), sleep.int("seconds"), detail));
        }
    }
    if let Some(signal) = lifecycle.opt_text("stopSignal") {
        let path = path.child("stopSignal");
        match os.text("name") {
            "" => errors.push(Error::forbidden(&path, "may not be set for containers with empty `spec.os.name`")),
            "windows" if !matches!(signal, "SIGKILL" | "SIGTERM") => {
                errors.push(Error::not_supported(&path, signal, &["SIGKILL", "SIGTERM"]));
            }
            "linux" => {
                let supported = linux_signals();
                if !supported.iter().any(|name| name == signal) {
                    let supported: Vec<&str> = supported.iter().map(String::as_str).collect();
                    errors.push(Error::not_supported(&path, signal, &supported));
                }
            }
            _ => {}
        }
    }
}

/// Every signal by name, in upstream's (alphabetical) order.
fn linux_signals() -> Vec<String> {
    let plain = [
        "ABRT", "ALRM", "BUS", "CHLD", "CLD", "CONT", "FPE", "HUP", "ILL", "INT", "IO", "IOT", "KILL", "PIPE", "POLL",
        "PROF", "PWR", "QUIT", "RTMAX", "RTMIN", "SEGV", "STKFLT", "STOP", "SYS", "TERM", "TRAP", "TSTP", "TTIN",
        "TTOU", "URG", "USR1", "USR2", "VTALRM", "WINCH", "XCPU", "XFSZ",
    ];
    let mut names: Vec<String> = plain.iter().map(|name| format!("SIG{name}")).collect();
    names.extend((1..=14).map(|n| format!("SIGRTMAX-{n}")));
    names.extend((1..=15).map(|n| format!("SIGRTMIN+{n}")));
    names.sort();
    names
}
