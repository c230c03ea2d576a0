//! The rules of a service (core/validation validateService and what it calls).

use super::prepare::needs_node_port;
use super::{is_externally_accessible, is_headless, needs_health_check};
use crate::names;
use crate::read::Read;
use crate::validation::network::{
    is_dual_stack, validate_cidr, validate_endpoint_ip, validate_ip, validate_port_number,
};
use crate::validation::{each, one_of, shown};
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use ferry_api::rules::cidr::parse_ip_sloppy;
use serde_json::{Value, json};
use std::collections::HashSet;

const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
const ONLY_LOAD_BALANCER: &str = "may only be used when `type` is 'LoadBalancer'";
const MAY_NOT_CHANGE: &str = "may not change once set";
/// One day.
const MAX_AFFINITY_SECONDS: i64 = 86_400;

pub(super) fn validate_service(service: &Value, old: Option<&Value>) -> ErrorList {
    let mut errors = ErrorList::new();
    let empty = json!({});
    let spec = service.field("spec").unwrap_or(&empty);
    let old_spec = old.field("spec");
    let path = Path::new("spec");
    validate_topology_annotations(&mut errors, service);
    let (kind, headless) = (spec.text("type"), is_headless(spec));
    if spec.list("ports").is_empty() && !headless && kind != "ExternalName" {
        errors.push(Error::required(&path.child("ports"), ""));
    }
    match kind {
        "LoadBalancer" | "NodePort" if headless => errors.push(Error::invalid(
            &path.child("clusterIPs").index(0),
            "None",
            format!("may not be set to 'None' for {kind} services"),
        )),
        "ExternalName" => validate_external_name(&mut errors, spec, &path),
        _ => {}
    }
    validate_ports(&mut errors, spec, &path.child("ports"));
    validate_affinity(&mut errors, spec, &path);
    validate_cluster_ips(&mut errors, spec, old_spec, &path);
    for (index, ip) in spec.texts("externalIPs").enumerate() {
        let path = path.child("externalIPs").index(index);
        if validate_ip(&mut errors, ip, old_spec.list("externalIPs"), &path) {
            validate_endpoint_ip(&mut errors, ip, &path);
        }
    }
    validate_duplicate_ports(&mut errors, spec, &path.child("ports"));
    validate_source_ranges(&mut errors, service, spec, old, &path);
    if spec.has("allocateLoadBalancerNodePorts") && kind != "LoadBalancer" {
        errors.push(Error::forbidden(&path.child("allocateLoadBalancerNodePorts"), ONLY_LOAD_BALANCER));
    }
    if kind == "LoadBalancer" && !spec.has("allocateLoadBalancerNodePorts") {
        errors.push(Error::required(&Path::new("allocateLoadBalancerNodePorts"), ""));
    }
    validate_load_balancer_class(&mut errors, spec, &path.child("loadBalancerClass"));
    validate_traffic_policies(&mut errors, spec, &path);
    errors
}

pub(super) fn validate_service_update(new: &Value, old: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    let (path, empty) = (Path::new("spec"), json!({}));
    let (spec, old_spec) = (new.field("spec").unwrap_or(&empty), old.field("spec").unwrap_or(&empty));
    let external = |spec: &Value| spec.text("type") == "ExternalName";
    if !external(spec) && !external(old_spec) {
        validate_cluster_ips_update(&mut errors, spec, old_spec, &path);
        validate_families_update(&mut errors, spec, old_spec, &path);
    }
    let balanced = |spec: &Value| spec.text("type") == "LoadBalancer";
    if balanced(spec)
        && balanced(old_spec)
        && spec.opt_text("loadBalancerClass") != old_spec.opt_text("loadBalancerClass")
    {
        let class = shown(spec.field("loadBalancerClass"));
        errors.push(Error::invalid(&path.child("loadBalancerClass"), class, MAY_NOT_CHANGE));
    }
    if needs_health_check(old_spec)
        && needs_health_check(spec)
        && spec.int("healthCheckNodePort") != old_spec.int("healthCheckNodePort")
    {
        errors.push(Error::forbidden(&path.child("healthCheckNodePort"), "field is immutable"));
    }
    errors.extend(validate_service(new, Some(old)));
    errors
}

fn validate_topology_annotations(errors: &mut ErrorList, service: &Value) {
    let (hints, mode) = ("service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode");
    if let (Some(old), Some(new)) = (service.annotation(hints), service.annotation(mode))
        && old != new
    {
        errors.push(Error::invalid(
            &Path::new("metadata").child("annotations").key(mode),
            new,
            format!("must match annotations[{hints}] when both are specified"),
        ));
    }
}

fn validate_external_name(errors: &mut ErrorList, spec: &Value, path: &Path) {
    const NOT_HERE: &str = "may not be set for ExternalName services";
    for key in ["clusterIPs", "ipFamilies"] {
        if !spec.list(key).is_empty() {
            errors.push(Error::forbidden(&path.child(key), NOT_HERE));
        }
    }
    if spec.has("ipFamilyPolicy") {
        errors.push(Error::forbidden(&path.child("ipFamilyPolicy"), NOT_HERE));
    }
    let name = spec.text("externalName");
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.is_empty() {
        errors.push(Error::required(&path.child("externalName"), ""));
    } else {
        each(errors, &path.child("externalName"), name, names::is_dns1123_subdomain(name));
    }
}

fn validate_ports(errors: &mut ErrorList, spec: &Value, path: &Path) {
    let ports = spec.list("ports");
    let mut names_seen = HashSet::new();
    for (index, port) in ports.iter().enumerate() {
        let (path, name) = (path.index(index), port.text("name"));
        if name.is_empty() {
            if ports.len() > 1 {
                errors.push(Error::required(&path.child("name"), ""));
            }
        } else if !names_seen.insert(name) {
            errors.push(Error::duplicate(&path.child("name"), name));
        }
    }
}

fn validate_duplicate_ports(errors: &mut ErrorList, spec: &Value, path: &Path) {
    let ports = spec.list("ports");
    if spec.text("type") == "ClusterIP" {
        for (index, port) in ports.iter().enumerate() {
            if port.int("nodePort") != 0 {
                errors.push(Error::forbidden(
                    &path.index(index).child("nodePort"),
                    "may not be used when `type` is 'ClusterIP'",
                ));
            }
        }
    }
    let (mut node_ports, mut numbers) = (HashSet::new(), HashSet::new());
    for (index, port) in ports.iter().enumerate() {
        let number = port.int("nodePort");
        if number != 0 && !node_ports.insert((port.text("protocol"), number)) {
            errors.push(Error::duplicate(&path.index(index).child("nodePort"), number));
        }
    }
    for (index, port) in ports.iter().enumerate() {
        if !numbers.insert((port.text("protocol"), port.int("port"))) {
            // Upstream shows its internal struct here, with the fields that were not compared.
            let shown = json!({
                "Name": "", "Protocol": port.text("protocol"), "AppProtocol": null,
                "Port": port.int("port"), "TargetPort": 0, "NodePort": 0,
            });
            errors.push(Error::duplicate(&path.index(index), shown));
        }
    }
}

fn validate_affinity(errors: &mut ErrorList, spec: &Value, path: &Path) {
    let (affinity, path) = (spec.text("sessionAffinity"), path.child("sessionAffinityConfig"));
    let config = spec.field("sessionAffinityConfig");
    match affinity {
        "ClientIP" => {
            const WHEN: &str = "when session affinity type is ClientIP";
            let client = config.field("clientIP");
            let at = path.child("clientIP").child("timeoutSeconds");
            match (config, client, client.opt_int("timeoutSeconds")) {
                (None, _, _) => errors.push(Error::required(&path, WHEN)),
                (_, None, _) => errors.push(Error::required(&path.child("clientIP"), WHEN)),
                (_, _, None) => errors.push(Error::required(&at, WHEN)),
                (_, _, Some(seconds)) if !(1..=MAX_AFFINITY_SECONDS).contains(&seconds) => {
                    let detail = format!("must be greater than 0 and less than {MAX_AFFINITY_SECONDS}");
                    errors.push(Error::invalid(&at, seconds, detail));
                }
                _ => {}
            }
        }
        "None" if config.is_some() => {
            errors.push(Error::forbidden(&path, "must not be set when session affinity is None"));
        }
        _ => {}
    }
}

fn validate_cluster_ips(errors: &mut ErrorList, spec: &Value, old: Option<&Value>, path: &Path) {
    if spec.text("type") == "ExternalName" {
        return;
    }
    let addresses = spec.list("clusterIPs");
    let at = path.child("clusterIPs");
    let single = spec.text("clusterIP");
    if !single.is_empty() {
        match addresses.first() {
            None => errors.push(Error::required(&at, "")),
            Some(first) if first != single => {
                errors.push(Error::invalid(&at, addresses, "first value must match `clusterIP`"));
            }
            Some(_) => {}
        }
    } else if !addresses.is_empty() {
        errors.push(Error::invalid(&at, addresses, "must be empty when `clusterIP` is not specified"));
    }
    let families: Vec<&str> = spec.texts("ipFamilies").collect();
    let mut good = true;
    for (index, address) in spec.texts("clusterIPs").enumerate() {
        if index == 0 && address == "None" {
            if addresses.len() > 1 {
                good = false;
                errors.push(Error::invalid(&at, addresses, "'None' must be the first and only value"));
            }
            continue;
        }
        good &= validate_ip(errors, address, old.list("clusterIPs"), &at.index(index));
    }
    if addresses.len() > 2 {
        errors.push(Error::invalid(&at, addresses, "may only hold up to 2 values"));
    }
    // Bad addresses would only confuse what follows.
    if !good {
        return;
    }
    if addresses.len() > 1 && !is_dual_stack(spec.texts("clusterIPs")) {
        errors.push(Error::invalid(&at, addresses, "may specify no more than one IP for each IP family"));
    }
    if is_headless(spec) {
        return;
    }
    for (index, (address, family)) in spec.texts("clusterIPs").zip(&families).enumerate() {
        let is_six = parse_ip_sloppy(address).is_some_and(|ip| ip.is_ipv6());
        if (*family == "IPv4" && is_six) || (*family == "IPv6" && !is_six) {
            let detail = format!("expected an {family} value as indicated by `ipFamilies[{index}]`");
            errors.push(Error::invalid(&at.index(index), address, detail));
        }
    }
}

fn validate_cluster_ips_update(errors: &mut ErrorList, new: &Value, old: &Value, path: &Path) {
    if is_headless(new) && is_headless(old) {
        return;
    }
    let at = path.child("clusterIPs");
    let (now, before) = (new.list("clusterIPs"), old.list("clusterIPs"));
    if now.len() == before.len() {
        for (index, (now_ip, before_ip)) in now.iter().zip(before).enumerate() {
            if now_ip != before_ip {
                errors.push(Error::invalid(&at.index(index), now, MAY_NOT_CHANGE));
            }
        }
        return;
    }
    if now.is_empty() {
        errors.push(Error::invalid(&at.index(0), now, "primary clusterIP can not be unset"));
    }
    if let (Some(now_ip), Some(before_ip)) = (now.first(), before.first())
        && now_ip != before_ip
    {
        errors.push(Error::invalid(&at.index(0), now, MAY_NOT_CHANGE));
    }
    if before.len() > now.len() && now.len() == 1 && new.text("ipFamilyPolicy") != "SingleStack" {
        errors.push(Error::invalid(
            &path.child("ipFamilyPolicy"),
            shown(new.field("ipFamilyPolicy")),
            "must be set to 'SingleStack' when releasing the secondary clusterIP",
        ));
    }
}

fn validate_families_update(errors: &mut ErrorList, new: &Value, old: &Value, path: &Path) {
    if is_headless(new) || is_headless(old) {
        return;
    }
    let at = path.child("ipFamilies").index(0);
    let (now, before) = (new.list("ipFamilies"), old.list("ipFamilies"));
    if now.len() == before.len() {
        for (now_family, before_family) in now.iter().zip(before) {
            if now_family != before_family {
                errors.push(Error::invalid(&at, now, MAY_NOT_CHANGE));
            }
        }
        return;
    }
    if before.len() > now.len() && new.list("clusterIPs").is_empty() {
        errors.push(Error::invalid(&at, now, "primary ipFamily can not be unset"));
    }
    if let (Some(now_family), Some(before_family)) = (now.first(), before.first())
        && now_family != before_family
    {
        errors.push(Error::invalid(&at, new.list("clusterIPs"), MAY_NOT_CHANGE));
    }
    if before.len() > now.len() && now.len() == 1 && new.text("ipFamilyPolicy") != "SingleStack" {
        errors.push(Error::invalid(
            &path.child("ipFamilyPolicy"),
            shown(new.field("ipFamilyPolicy")),
            "must be set to 'SingleStack' when releasing the secondary ipFamily",
        ));
    }
}

fn validate_source_ranges(errors: &mut ErrorList, service: &Value, spec: &Value, old: Option<&Value>, path: &Path) {
    let balanced = spec.text("type") == "LoadBalancer";
    let ranges = spec.list("loadBalancerSourceRanges");
    if !ranges.is_empty() {
        let path = path.child("LoadBalancerSourceRanges");
        if !balanced {
            errors.push(Error::forbidden(&path, ONLY_LOAD_BALANCER));
        }
        let kept = old.field("spec").list("loadBalancerSourceRanges");
        for (index, range) in spec.texts("loadBalancerSourceRanges").enumerate() {
            validate_cidr(errors, range.trim(), kept, &path.index(index));
        }
    } else if let Some(ranges) = service.annotation(SOURCE_RANGES) {
        let path = Path::new("metadata").child("annotations").key(SOURCE_RANGES);
        if !balanced {
            errors.push(Error::forbidden(&path, ONLY_LOAD_BALANCER));
        }
        let unchanged = old.is_some_and(|old| old.annotation(SOURCE_RANGES) == Some(ranges));
        if !unchanged && !ranges.trim().is_empty() {
            for range in ranges.split(',') {
                validate_cidr(errors, range.trim(), &[], &path);
            }
        }
    }
}

fn validate_load_balancer_class(errors: &mut ErrorList, spec: &Value, path: &Path) {
    let Some(class) = spec.opt_text("loadBalancerClass") else { return };
    if spec.text("type") == "LoadBalancer" {
        each(errors, path, class, names::is_qualified_name(class));
    } else {
        errors.push(Error::forbidden(path, ONLY_LOAD_BALANCER));
    }
}

fn validate_traffic_policies(errors: &mut ErrorList, spec: &Value, path: &Path) {
    let policy = spec.text("externalTrafficPolicy");
    let at = path.child("externalTrafficPolicy");
    if is_externally_accessible(spec) {
        one_of(errors, &at, policy, &["Cluster", "Local"]);
    } else if !policy.is_empty() {
        errors.push(Error::invalid(&at, policy, "may only be set for externally-accessible services"));
    }
    let port = spec.int("healthCheckNodePort");
    let at = path.child("healthCheckNodePort");
    if needs_health_check(spec) {
        if port == 0 {
            errors.push(Error::required(&at, ""));
        } else {
            validate_port_number(errors, port, &at);
        }
    } else if port != 0 {
        errors.push(Error::invalid(
            &at,
            port,
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
        ));
    }
    let is_routed = needs_node_port(spec) || spec.text("type") == "ClusterIP";
    if is_routed && !spec.has("internalTrafficPolicy") {
        errors.push(Error::required(&path.child("internalTrafficPolicy"), ""));
    }
}

pub(super) fn validate_load_balancer_status(new: &Value, old: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    let path = Path::new("status").child("loadBalancer").child("ingress");
    let ingress =
        |service: &Value| -> Vec<Value> { service.field("status").field("loadBalancer").list("ingress").to_vec() };
    let now = ingress(new);
    if new.field("spec").text("type") != "LoadBalancer" {
        if !now.is_empty() {
            errors.push(Error::forbidden(&path, "may only be used when `spec.type` is 'LoadBalancer'"));
        }
        return errors;
    }
    let kept: Vec<Value> = ingress(old).iter().map(|point| point.text("ip").into()).collect();
    for (index, point) in now.iter().enumerate() {
        let path = path.index(index);
        let (ip, hostname) = (point.text("ip"), point.text("hostname"));
        if !ip.is_empty() {
            validate_ip(&mut errors, ip, &kept, &path.child("ip"));
        }
        let at = path.child("ipMode");
        match point.opt_text("ipMode") {
            None if !ip.is_empty() => errors.push(Error::required(&at, "must be specified when `ip` is set")),
            Some(_) if ip.is_empty() => {
                errors.push(Error::forbidden(&at, "may not be specified when `ip` is not set"));
            }
            Some(mode) if !matches!(mode, "Proxy" | "VIP") => {
                errors.push(Error::not_supported(&at, mode, &["Proxy", "VIP"]));
            }
            _ => {}
        }
        if !hostname.is_empty() {
            each(&mut errors, &path.child("hostname"), hostname, names::is_dns1123_subdomain(hostname));
            if parse_ip_sloppy(hostname).is_some() {
                let detail = "must be a DNS name, not an IP address";
                errors.push(Error::invalid(&path.child("hostname"), hostname, detail));
            }
        }
    }
    errors
}
