//! Probes and lifecycle hooks: what may be done to a container to see or to warn it.

use crate::names;
use crate::read::Read;
use crate::validation::network::{validate_port_number, validate_port_number_or_name};
use crate::validation::{each, nonnegative, shown};
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

/// All three probes of a container that may have them.
pub fn validate_probes(errors: &mut ErrorList, container: &Value, path: &Path) {
    for key in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = container.field(key) else { continue };
        let path = path.child(key);
        validate_probe(errors, probe, &path);
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

fn validate_probe(errors: &mut ErrorList, probe: &Value, path: &Path) {
    validate_handler(errors, probe, &["exec", "httpGet", "tcpSocket", "grpc"], None, path);
    for key in ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] {
        nonnegative(errors, &path.child(key), probe.int(key));
    }
    if let Some(period) = probe.opt_int("terminationGracePeriodSeconds")
        && period <= 0
    {
        let path = path.child("terminationGracePeriodSeconds");
        errors.push(Error::invalid(&path, period, "must be greater than 0"));
    }
}

pub fn validate_lifecycle(
    errors: &mut ErrorList,
    lifecycle: Option<&Value>,
    grace_period: Option<i64>,
    os: Option<&Value>,
    path: &Path,
) {
    for hook in ["postStart", "preStop"] {
        if let Some(handler) = lifecycle.field(hook) {
            let path = path.child(hook);
            validate_handler(errors, handler, &["exec", "httpGet", "tcpSocket", "sleep"], grace_period, &path);
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

/// One action of the kinds that are possible here, and only one.
fn validate_handler(errors: &mut ErrorList, handler: &Value, kinds: &[&str], grace_period: Option<i64>, path: &Path) {
    let mut count = 0;
    for kind in kinds {
        let Some(action) = handler.field(kind) else { continue };
        let path = path.child(kind);
        if count > 0 {
            errors.push(Error::forbidden(&path, "may not specify more than 1 handler type"));
            continue;
        }
        count += 1;
        match *kind {
            "exec" => {
                if action.list("command").is_empty() {
                    errors.push(Error::required(&path.child("command"), ""));
                }
            }
            "httpGet" => validate_http_get(errors, action, &path),
            "tcpSocket" => validate_port_number_or_name(errors, action.field("port"), &path.child("port")),
            "grpc" => validate_port_number(errors, action.int("port"), &path.child("port")),
            "sleep" => {
                let seconds = action.int("seconds");
                if let Some(period) = grace_period
                    && (seconds < 0 || seconds > period)
                {
                    let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({period})");
                    errors.push(Error::invalid(&path, seconds, detail));
                }
            }
            other => errors.push(Error::internal(&path, format!("unknown handler {other}"))),
        }
    }
    if count == 0 {
        errors.push(Error::required(path, "must specify a handler type"));
    }
}

fn validate_http_get(errors: &mut ErrorList, action: &Value, path: &Path) {
    if action.text("path").is_empty() {
        errors.push(Error::required(&path.child("path"), ""));
    }
    validate_port_number_or_name(errors, action.field("port"), &path.child("port"));
    let scheme = action.text("scheme");
    if !matches!(scheme, "HTTP" | "HTTPS") {
        errors.push(Error::not_supported(&path.child("scheme"), shown(action.field("scheme")), &["HTTP", "HTTPS"]));
    }
    for header in action.list("httpHeaders") {
        let name = header.text("name");
        each(errors, &path.child("httpHeaders"), name, names::is_http_header_name(name));
    }
}
