//! Ingress: the strategy of routes from outside to services, by host and path.

use crate::read::{Read, ReadNode};
use crate::validation::domains::{is_host, validate_typed_reference};
use crate::validation::each;
use crate::validation::network::{validate_ip, validate_port_number};
use crate::{Strategy, names};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use ferry_api::rules::cidr::parse_ip_sloppy;
use ferry_api::view::List;
use jiff::Timestamp;
use serde_json::Value;

pub(crate) struct Ingress;

/// How a class was named before there was a field for it.
const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";
const NOT_AN_ADDRESS: &str = "must be a DNS name, not an IP address";
const BAD_SEQUENCES: &[&str] = &["//", "/./", "/../", "%2f", "%2F"];
const BAD_ENDINGS: &[&str] = &["/..", "/."];

/// What an update lets pass because the old object had it.
#[derive(Clone, Copy, Default)]
struct Tolerance {
    secret_names: bool,
    wildcard_rules: bool,
}

impl Strategy for Ingress {
    fn validate(&self, ingress: &Value) -> ErrorList {
        let mut errors = validate_spec(ingress, Tolerance::default());
        if let (Some(annotation), Some(class)) =
            (ingress.annotation(CLASS_ANNOTATION), ingress.field("spec").opt_text("ingressClassName"))
            && annotation != class
        {
            let path = Path::new("annotations").child(CLASS_ANNOTATION);
            errors.push(Error::invalid(&path, annotation, "must match `ingressClassName` when both are specified"));
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let spec = old.field("spec");
        let tolerance = Tolerance {
            secret_names: spec.list("tls").iter().any(|tls| !secret_name(tls.text("secretName")).is_empty()),
            wildcard_rules: spec.list("rules").iter().any(|rule| {
                let mut errors = ErrorList::new();
                validate_rule_value(&mut errors, rule, &Path::root());
                rule.text("host").contains('*') && !errors.is_empty()
            }),
        };
        validate_spec(new, tolerance)
    }

    fn validate_status_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let addresses = |ingress: &Value| -> Vec<Value> {
            let points = ingress.field("status").field("loadBalancer").list("ingress");
            points.iter().filter_map(|point| point.field("ip").cloned()).collect()
        };
        let (kept, path) = (addresses(old), Path::new("status").child("loadBalancer").child("ingress"));
        for (index, point) in new.field("status").field("loadBalancer").list("ingress").iter().enumerate() {
            let (path, ip, host) = (path.index(index), point.text("ip"), point.text("hostname"));
            if !ip.is_empty() {
                validate_ip(&mut errors, ip, &kept, &path.child("ip"));
            }
            if !host.is_empty() {
                let path = path.child("hostname");
                each(&mut errors, &path, host, names::is_dns1123_subdomain(host));
                if parse_ip_sloppy(host).is_some() {
                    errors.push(Error::invalid(&path, host, NOT_AN_ADDRESS));
                }
            }
        }
        errors
    }

    fn warnings(&self, ingress: &Value, old: Option<&Value>) -> Vec<String> {
        let deprecated = old.is_none()
            && ingress.annotation(CLASS_ANNOTATION).is_some()
            && !ingress.field("spec").has("ingressClassName");
        if !deprecated {
            return Vec::new();
        }
        vec![format!("annotation {CLASS_ANNOTATION:?} is deprecated, please use 'spec.ingressClassName' instead")]
    }

    fn computed_cells(&self, ingress: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let spec = ingress.field("spec");
        let ports = if spec.list("tls").is_empty() { "80" } else { "80, 443" };
        vec![
            hosts(spec.list("rules")).into(),
            addresses(ingress.field("status").field("loadBalancer").list("ingress")).into(),
            ports.into(),
        ]
    }
}

/// The first three hosts; a rule without a host is for all of them.
fn hosts(rules: List<'_, Node<'_>>) -> String {
    const MOST: usize = 3;
    let mut shown: Vec<&str> = Vec::new();
    let mut more = false;
    for rule in rules {
        more = more || shown.len() == MOST;
        if !more && !rule.text("host").is_empty() {
            shown.push(rule.text("host"));
        }
    }
    match (shown.is_empty(), more) {
        (true, _) => "*".to_owned(),
        (false, false) => shown.join(","),
        (false, true) => format!("{} + {} more...", shown.join(","), rules.len() - MOST),
    }
}

/// The addresses of the balancer, cut to 16 characters.
fn addresses(points: List<'_, Node<'_>>) -> String {
    const WIDTH: usize = 16;
    let mut addresses: Vec<&str> = points
        .iter()
        .map(|point| match point.text("ip") {
            "" => point.text("hostname"),
            ip => ip,
        })
        .filter(|address| !address.is_empty())
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    let all = addresses.join(",");
    if all.len() <= WIDTH {
        return all;
    }
    let cut: String = all.chars().take(WIDTH - 3).collect();
    format!("{cut}...")
}

fn secret_name(name: &str) -> Vec<String> {
    if name.is_empty() { Vec::new() } else { names::dns1123_subdomain(name, false) }
}

fn validate_spec(ingress: &Value, tolerance: Tolerance) -> ErrorList {
    let mut errors = ErrorList::new();
    let (spec, path) = (ingress.field("spec"), Path::new("spec"));
    let (rules, default_backend) = (spec.list("rules"), spec.field("defaultBackend"));
    if rules.is_empty() && default_backend.is_none() {
        errors.push(Error::invalid(&path, Value::Null, "either `defaultBackend` or `rules` must be specified"));
    }
    if let Some(backend) = default_backend {
        validate_backend(&mut errors, Some(backend), &path.child("defaultBackend"));
    }
    for (index, rule) in rules.iter().enumerate() {
        let (path, host) = (path.child("rules").index(index), rule.text("host"));
        if !host.is_empty() {
            if parse_ip_sloppy(host).is_some() {
                errors.push(Error::invalid(&path.child("host"), host, NOT_AN_ADDRESS));
            }
            each(&mut errors, &path.child("host"), host, is_host(host));
        }
        if !(host.contains('*') && tolerance.wildcard_rules) {
            validate_rule_value(&mut errors, rule, &path);
        }
    }
    for (index, tls) in spec.list("tls").iter().enumerate() {
        let path = path.child("tls").index(index);
        let secret = tls.text("secretName");
        if !tolerance.secret_names {
            each(&mut errors, &path.child("secretName"), secret, secret_name(secret));
        }
    }
    errors
}

fn validate_rule_value(errors: &mut ErrorList, rule: &Value, path: &Path) {
    let Some(http) = rule.field("http") else { return };
    let path = path.child("http").child("paths");
    if http.list("paths").is_empty() {
        errors.push(Error::required(&path, ""));
    }
    for (index, rule) in http.list("paths").iter().enumerate() {
        validate_path(errors, rule, &path.index(index));
    }
}

fn validate_path(errors: &mut ErrorList, rule: &Value, path: &Path) {
    const ABSOLUTE: &str = "must be an absolute path";
    let (at, value) = (path.child("path"), rule.text("path"));
    match rule.opt_text("pathType") {
        None => {
            errors.push(Error::required(&path.child("pathType"), "pathType must be specified"));
            return;
        }
        Some("Exact" | "Prefix") => {
            if !value.starts_with('/') {
                errors.push(Error::invalid(&at, value, ABSOLUTE));
            }
            for bad in BAD_SEQUENCES.iter().filter(|bad| value.contains(**bad)) {
                errors.push(Error::invalid(&at, value, format!("must not contain '{bad}'")));
            }
            for bad in BAD_ENDINGS.iter().filter(|bad| value.ends_with(**bad)) {
                errors.push(Error::invalid(&at, value, format!("cannot end with '{bad}'")));
            }
        }
        Some("ImplementationSpecific") => {
            if !value.is_empty() && !value.starts_with('/') {
                errors.push(Error::invalid(&at, value, ABSOLUTE));
            }
        }
        Some(other) => {
            let supported = ["Exact", "ImplementationSpecific", "Prefix"];
            errors.push(Error::not_supported(&path.child("pathType"), other, &supported));
        }
    }
    validate_backend(errors, rule.field("backend"), &path.child("backend"));
}

fn validate_backend(errors: &mut ErrorList, backend: Option<&Value>, path: &Path) {
    match (backend.field("resource"), backend.field("service")) {
        (Some(_), Some(_)) => errors.push(Error::invalid(path, "", "cannot set both resource and service backends")),
        (Some(resource), None) => validate_typed_reference(errors, Some(resource), &path.child("resource")),
        (None, Some(service)) => {
            let (at, name) = (path.child("service"), service.text("name"));
            if name.is_empty() {
                errors.push(Error::required(&at.child("name"), ""));
            } else {
                each(errors, &at.child("name"), name, names::dns1123_label(name, false));
            }
            let port = service.field("port");
            let (name, number) = (port.text("name"), port.int("number"));
            match (name.is_empty(), number == 0) {
                (false, false) => errors.push(Error::invalid(path, "", "cannot set both port name & port number")),
                (false, true) => each(errors, &at.child("port").child("name"), name, names::is_port_name(name)),
                (true, false) => validate_port_number(errors, number, &at.child("port").child("number")),
                (true, true) => errors.push(Error::required(path, "port name or number is required")),
            }
        }
        (None, None) => errors.push(Error::invalid(path, "", "resource or service backend is required")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update, texts};
    use serde_json::json;

    fn service() -> Value {
        json!({"service": {"name": "web", "port": {"number": 80}}})
    }

    fn ingress(spec: Value) -> Value {
        json!({"metadata": {"name": "a", "namespace": "default"}, "spec": spec})
    }

    fn with_path(path: Value) -> Value {
        ingress(json!({"rules": [{"host": "a.b", "http": {"paths": [path]}}]}))
    }

    #[test]
    fn routes_lead_somewhere() {
        check(&Ingress, ingress(json!({"defaultBackend": service()})), &[]);
        check(&Ingress, with_path(json!({"path": "/", "pathType": "Prefix", "backend": service()})), &[]);
        check(
            &Ingress,
            ingress(json!({})),
            &["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"],
        );
        check(
            &Ingress,
            with_path(json!({"path": "a//", "pathType": "Exact", "backend": {}})),
            &[
                "spec.rules[0].http.paths[0].path: Invalid value: \"a//\": must be an absolute path",
                "spec.rules[0].http.paths[0].path: Invalid value: \"a//\": must not contain '//'",
                "spec.rules[0].http.paths[0].backend: Invalid value: \"\": resource or service backend is required",
            ],
        );
        check(
            &Ingress,
            with_path(json!({"path": "/"})),
            &["spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified"],
        );
        check(
            &Ingress,
            with_path(json!({"pathType": "Near", "backend": {"service": {"name": "A", "port": {}}}})),
            &[
                "spec.rules[0].http.paths[0].pathType: Unsupported value: \"Near\": supported values: \"Exact\", \"ImplementationSpecific\", \"Prefix\"",
                "spec.rules[0].http.paths[0].backend.service.name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
                "spec.rules[0].http.paths[0].backend: Required value: port name or number is required",
            ],
        );
        check(
            &Ingress,
            ingress(json!({"rules": [{"host": "10.0.0.1"}]})),
            &["spec.rules[0].host: Invalid value: \"10.0.0.1\": must be a DNS name, not an IP address"],
        );
        check(
            &Ingress,
            ingress(json!({"defaultBackend": {"resource": {"kind": "", "name": "a/b"}, "service": null}})),
            &[
                "spec.defaultBackend.resource.kind: Required value",
                "spec.defaultBackend.resource.name: Invalid value: \"a/b\": may not contain '/'",
            ],
        );
    }

    #[test]
    fn a_class_is_named_once() {
        let mut both = ingress(json!({"defaultBackend": service(), "ingressClassName": "a"}));
        both.set_meta("annotations", json!({"kubernetes.io/ingress.class": "b"}));
        check(
            &Ingress,
            both.clone(),
            &[
                "annotations.kubernetes.io/ingress.class: Invalid value: \"b\": must match `ingressClassName` when both are specified",
            ],
        );
        both["spec"]["ingressClassName"] = Value::Null;
        assert_eq!(
            Ingress.warnings(&both, None),
            ["annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"]
        );
    }

    #[test]
    fn what_was_let_in_may_stay() {
        let bad = ingress(json!({"defaultBackend": service(), "tls": [{"secretName": "A"}]}));
        check_update(&Ingress, bad.clone(), bad, &[]);
    }

    #[test]
    fn addresses_of_balancers_are_checked() {
        let with = |point: Value| json!({"status": {"loadBalancer": {"ingress": [point]}}});
        let errors = |point: Value| texts(&crate::testing::update_errors(&Ingress, "status", &with(point), &json!({})));
        assert_eq!(errors(json!({"ip": "10.0.0.1"})), Vec::<String>::new());
        assert_eq!(
            errors(json!({"hostname": "10.0.0.1"})),
            [
                "status.loadBalancer.ingress[0].hostname: Invalid value: \"10.0.0.1\": must be a DNS name, not an IP address"
            ]
        );
    }

    #[test]
    fn hosts_and_addresses_are_shown() {
        let rules: Vec<Value> = ["a", "b", "c", "d"].iter().map(|host| json!({"host": host})).collect();
        let mut shown = ingress(json!({"rules": rules, "tls": [{}], "ingressClassName": "x"}));
        shown["status"] = json!({"loadBalancer": {"ingress": [{"ip": "10.0.0.2"}, {"hostname": "b.example.com"}]}});
        assert_eq!(
            Value::from(cells("Ingress", shown)),
            json!(["a", "x", "a,b,c + 1 more...", "10.0.0.2,b.ex...", "80, 443", "10m"])
        );
        assert_eq!(
            Value::from(cells("Ingress", ingress(json!({"defaultBackend": service()})))),
            json!(["a", "<none>", "*", "", "80", "10m"])
        );
    }
}
