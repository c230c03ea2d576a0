//! Which cluster IPs and node ports a Service needs, and how the fields that show them are
//! filled in: upstream's rules (registry/core/service/storage/alloc.go). Called by the hooks of
//! `mod.rs` with the allocators locked.

use super::State;
use super::ip_allocator::Owner;
use ferry_api::field::{Error, Path};
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use serde_json::{Value, json};

/// An address or a port that a Service holds.
#[derive(Debug, PartialEq)]
pub(super) enum Allocated {
    Ip(String),
    Port(u16),
}

/// What one write takes and what it will no longer need.
#[derive(Default)]
pub(super) struct Plan {
    pub taken: Vec<Allocated>,
    pub freed: Vec<Allocated>,
}

/// What fails half-way leaves in the plan what it took, for the caller to give back.
pub(super) fn allocate_create(state: &mut State, service: &mut Value, plan: &mut Plan) -> Result<(), Status> {
    init_families(service, None)?;
    take_cluster_ip(state, service, &mut plan.taken)?;
    take_node_ports(state, service, &[], &mut plan.taken)?;
    if needs_health_check(service) {
        take_health_check_port(state, service, &mut plan.taken)?;
    }
    Ok(())
}

/// As [`allocate_create`], for a Service that is there.
pub(super) fn allocate_update(state: &mut State, new: &mut Value, old: &Value, plan: &mut Plan) -> Result<(), Status> {
    keep_allocated(new, old);
    init_families(new, Some(old))?;
    let (was_external, is_external) = (kind_of(old) == "ExternalName", kind_of(new) == "ExternalName");
    if was_external && !is_external {
        take_cluster_ip(state, new, &mut plan.taken)?;
    } else if !was_external && is_external {
        plan.freed.extend(cluster_ips(old).map(|ip| Allocated::Ip(ip.to_owned())));
    }
    let before = node_ports(old);
    if has_node_ports(new) {
        take_node_ports(state, new, &before, &mut plan.taken)?;
    }
    let after = if has_node_ports(new) { node_ports(new) } else { Vec::new() };
    if has_node_ports(old) {
        let gone = before.into_iter().filter(|port| !after.contains(port));
        plan.freed.extend(gone.map(Allocated::Port));
    }
    match (needs_health_check(old), needs_health_check(new)) {
        (false, true) => take_health_check_port(state, new, &mut plan.taken)?,
        (true, false) => plan.freed.extend(health_check_port(old).map(Allocated::Port)),
        _ => {}
    }
    Ok(())
}

/// Everything that a stored Service holds.
pub(super) fn allocated_to(service: &Value) -> Vec<Allocated> {
    let mut all: Vec<Allocated> = cluster_ips(service).map(|ip| Allocated::Ip(ip.to_owned())).collect();
    let mut ports = node_ports(service);
    ports.sort_unstable();
    ports.dedup();
    all.extend(ports.into_iter().map(Allocated::Port));
    if needs_health_check(service) {
        all.extend(health_check_port(service).map(Allocated::Port));
    }
    all
}

/// The addresses that a Service holds; none where it is headless or has another's name.
pub(super) fn cluster_ips(service: &Value) -> impl Iterator<Item = &str> {
    let has_any = kind_of(service) != "ExternalName" && !is_headless(service);
    let ips = if has_any { service.items_at(&["spec", "clusterIPs"]) } else { &[] };
    ips.iter().filter_map(Value::as_str).filter(|ip| !ip.is_empty())
}

pub(super) fn owner_of(service: &Value) -> Owner {
    (service.namespace().to_owned(), service.name().to_owned())
}

fn kind_of(service: &Value) -> &str {
    match service.str_at(&["spec", "type"]) {
        "" => "ClusterIP",
        kind => kind,
    }
}

fn is_headless(service: &Value) -> bool {
    service.str_at(&["spec", "clusterIP"]) == "None"
        || service.items_at(&["spec", "clusterIPs"]).first().and_then(Value::as_str) == Some("None")
}

fn has_node_ports(service: &Value) -> bool {
    matches!(kind_of(service), "NodePort" | "LoadBalancer")
}

fn needs_health_check(service: &Value) -> bool {
    kind_of(service) == "LoadBalancer" && service.str_at(&["spec", "externalTrafficPolicy"]) == "Local"
}

fn health_check_port(service: &Value) -> Option<u16> {
    service.i64_at(&["spec", "healthCheckNodePort"]).and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0)
}

fn node_ports(service: &Value) -> Vec<u16> {
    service.items_at(&["spec", "ports"]).iter().filter_map(|port| number(port, "nodePort")).collect()
}

pub(super) fn number(port: &Value, key: &str) -> Option<u16> {
    port.get(key).and_then(Value::as_u64).and_then(|n| u16::try_from(n).ok()).filter(|n| *n > 0)
}

fn spec(service: &mut Value) -> &mut ferry_api::object::Object {
    let root = ensure_object(service);
    ensure_object(root.entry("spec").or_insert_with(|| json!({})))
}

fn invalid(service: &Value, error: Error) -> Status {
    Status::invalid(&ferry_api::gvk::GroupVersionKind::new("", "v1", "Service"), service.name(), vec![error])
}

/// clusterIP and clusterIPs say the same; whichever the user gave fills the other. Then
/// the families, of which this cluster has one.
fn init_families(service: &mut Value, old: Option<&Value>) -> Result<(), Status> {
    if kind_of(service) == "ExternalName" {
        for key in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            // An update away from a cluster IP drops what was allocated.
            if old.is_some() || service.str_at(&["spec", key]).is_empty() {
                spec(service).remove(key);
            }
        }
        return Ok(());
    }
    let single = service.str_at(&["spec", "clusterIP"]).to_owned();
    let several = service.items_at(&["spec", "clusterIPs"]).to_vec();
    if !single.is_empty() && several.is_empty() {
        spec(service).insert("clusterIPs".into(), json!([single]));
    } else if single.is_empty()
        && let Some(first) = several.first()
    {
        spec(service).insert("clusterIP".into(), first.clone());
    }
    let loose = is_headless(service)
        && service.at(&["spec", "selector"]).and_then(Value::as_object).is_none_or(|selector| selector.is_empty());
    let policy = match service.str_at(&["spec", "ipFamilyPolicy"]) {
        "" => {
            let before = old.map(|old| old.str_at(&["spec", "ipFamilyPolicy"])).unwrap_or_default();
            let policy = match before {
                "" if loose => "RequireDualStack",
                "" => "SingleStack",
                before => before,
            };
            spec(service).insert("ipFamilyPolicy".into(), policy.into());
            policy.to_owned()
        }
        given => given.to_owned(),
    };
    let families = service.items_at(&["spec", "ipFamilies"]).to_vec();
    if loose {
        // A Service without a selector names addresses of any family by hand.
        let mut families = if families.is_empty() { vec![json!("IPv4")] } else { families };
        if families.len() == 1 && policy != "SingleStack" {
            let other = if families[0] == "IPv4" { "IPv6" } else { "IPv4" };
            families.push(other.into());
        }
        spec(service).insert("ipFamilies".into(), families.into());
        return Ok(());
    }
    if policy == "RequireDualStack" {
        let path = Path::new("spec").child("ipFamilyPolicy");
        let error = Error::invalid(&path, policy, "this cluster is not configured for dual-stack services");
        return Err(invalid(service, error));
    }
    for (index, family) in families.iter().enumerate() {
        if family != "IPv4" {
            let path = Path::new("spec").child("ipFamilies").index(index);
            return Err(invalid(service, Error::invalid(&path, family.clone(), "not configured on this cluster")));
        }
    }
    if families.is_empty() {
        spec(service).insert("ipFamilies".into(), json!(["IPv4"]));
    }
    Ok(())
}

fn take_cluster_ip(state: &mut State, service: &mut Value, taken: &mut Vec<Allocated>) -> Result<(), Status> {
    if kind_of(service) == "ExternalName" || is_headless(service) {
        return Ok(());
    }
    let asked =
        service.items_at(&["spec", "clusterIPs"]).first().and_then(Value::as_str).unwrap_or_default().to_owned();
    if !asked.is_empty() {
        if let Err(why) = state.ips.take(&asked, owner_of(service)) {
            let path = Path::new("spec").child("clusterIPs");
            let error = Error::invalid(&path, json!([asked]), format!("failed to allocate IP {asked}: {why}"));
            return Err(invalid(service, error));
        }
        taken.push(Allocated::Ip(asked));
        return Ok(());
    }
    let ip = state.ips.take_any(owner_of(service)).map_err(|why| {
        Status::internal(format!("failed to allocate a serviceIP for Service {:?}: {why}", service.name()))
    })?;
    taken.push(Allocated::Ip(ip.clone()));
    let spec = spec(service);
    spec.insert("clusterIPs".into(), json!([ip]));
    spec.insert("clusterIP".into(), ip.into());
    Ok(())
}

/// Ports of the same number (TCP and UDP of one service) share one node port.
fn take_node_ports(
    state: &mut State,
    service: &mut Value,
    owned: &[u16],
    taken: &mut Vec<Allocated>,
) -> Result<(), Status> {
    if !has_node_ports(service) {
        return Ok(());
    }
    let automatic =
        kind_of(service) == "NodePort" || service.bool_at(&["spec", "allocateLoadBalancerNodePorts"]).unwrap_or(true);
    let mut ports = service.items_at(&["spec", "ports"]).to_vec();
    let requested: Vec<(Option<u16>, Option<u16>)> =
        ports.iter().map(|port| (number(port, "port"), number(port, "nodePort"))).collect();
    let mut shared: Vec<(Option<u16>, u16)> = Vec::new();
    let mut mine: Vec<u16> = owned.to_vec();
    for (index, port) in ports.iter_mut().enumerate() {
        let (service_port, node_port) = requested[index];
        if node_port.is_none() && !automatic {
            continue;
        }
        let wanted = node_port
            .or_else(|| shared.iter().find(|(number, _)| *number == service_port).map(|(_, given)| *given))
            .or_else(|| requested.iter().find(|(p, n)| *p == service_port && n.is_some()).and_then(|(_, n)| *n));
        let given = match wanted {
            Some(wanted) if mine.contains(&wanted) => wanted,
            Some(wanted) => {
                if let Err(why) = state.ports.take(wanted) {
                    let path = Path::new("spec").child("ports").index(index).child("nodePort");
                    return Err(invalid(service, Error::invalid(&path, wanted, why)));
                }
                taken.push(Allocated::Port(wanted));
                wanted
            }
            None => {
                let fresh = state
                    .ports
                    .take_any()
                    .map_err(|why| Status::internal(format!("failed to allocate a nodePort: {why}")))?;
                taken.push(Allocated::Port(fresh));
                fresh
            }
        };
        mine.push(given);
        shared.push((service_port, given));
        ensure_object(port).insert("nodePort".into(), given.into());
    }
    if !ports.is_empty() {
        spec(service).insert("ports".into(), ports.into());
    }
    Ok(())
}

fn take_health_check_port(state: &mut State, service: &mut Value, taken: &mut Vec<Allocated>) -> Result<(), Status> {
    let port = match health_check_port(service) {
        Some(asked) => {
            state.ports.take(asked).map_err(|why| {
                Status::internal(format!("failed to allocate requested HealthCheck NodePort {asked}: {why}"))
            })?;
            asked
        }
        None => state
            .ports
            .take_any()
            .map_err(|why| Status::internal(format!("failed to allocate a HealthCheck NodePort 0: {why}")))?,
    };
    taken.push(Allocated::Port(port));
    spec(service).insert("healthCheckNodePort".into(), port.into());
    Ok(())
}

/// An update that leaves out what the server once filled in means to keep it.
fn keep_allocated(new: &mut Value, old: &Value) {
    if kind_of(new) != "ExternalName"
        && kind_of(old) != "ExternalName"
        && new.str_at(&["spec", "clusterIP"]).is_empty()
        && new.items_at(&["spec", "clusterIPs"]).is_empty()
    {
        for key in ["clusterIP", "clusterIPs"] {
            if let Some(value) = old.at(&["spec", key]) {
                spec(new).insert(key.into(), value.clone());
            }
        }
    }
    if has_node_ports(new) && has_node_ports(old) {
        let before = old.items_at(&["spec", "ports"]);
        let same = |a: &Value, b: &Value| {
            a.get("port") == b.get("port")
                && a.get("protocol").and_then(Value::as_str).unwrap_or("TCP")
                    == b.get("protocol").and_then(Value::as_str).unwrap_or("TCP")
        };
        let mut ports = new.items_at(&["spec", "ports"]).to_vec();
        let used: Vec<u16> = ports.iter().filter_map(|port| number(port, "nodePort")).collect();
        for port in ports.iter_mut().filter(|port| number(port, "nodePort").is_none()) {
            let kept =
                before.iter().find(|earlier| same(earlier, port)).and_then(|earlier| number(earlier, "nodePort"));
            if let Some(kept) = kept.filter(|kept| !used.contains(kept)) {
                ensure_object(port).insert("nodePort".into(), kept.into());
            }
        }
        if !ports.is_empty() {
            spec(new).insert("ports".into(), ports.into());
        }
    }
    if needs_health_check(new)
        && needs_health_check(old)
        && health_check_port(new).is_none()
        && let Some(port) = health_check_port(old)
    {
        spec(new).insert("healthCheckNodePort".into(), port.into());
    }
}
