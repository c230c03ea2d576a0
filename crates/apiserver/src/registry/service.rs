//! Gives Services their cluster IPs and node ports as part of the write that needs them.
//!
//! A reservation is made before the object is validated and ends in one of two ways: the
//! commit succeeds and it is kept, or it is dropped and everything it took is free again.
//! What an update no longer needs is freed only once the update is stored. The rules are
//! upstream's (registry/core/service/storage/alloc.go); the state is in memory and rebuilt
//! from the cache at start, so it can never disagree with the stored Services for long.

use super::lookup::{Change, ObjectLookup};
use super::node_port::NodePorts;
use super::service_address::{ALLOCATOR, MANAGED_BY};
use super::service_ip::{Owner, ServiceIps};
use ferry_api::field::{Error, Path};
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use ferry_resources::Row;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Clone)]
pub struct Services(Arc<Mutex<State>>);

struct State {
    ips: ServiceIps,
    ports: NodePorts,
}

/// What one write took and what it will no longer need.
#[must_use]
pub struct Reservation {
    services: Services,
    taken: Vec<Thing>,
    freed: Vec<Thing>,
}

enum Thing {
    Ip(String),
    Port(u16),
}

impl Reservation {
    /// The write is stored: what it took stays taken, what it freed is free.
    pub fn keep(mut self) {
        self.taken.clear();
        let freed = std::mem::take(&mut self.freed);
        self.services.release_all(freed);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let taken = std::mem::take(&mut self.taken);
        self.services.release_all(taken);
    }
}

impl Services {
    pub fn new(ips: ServiceIps) -> Self {
        Self(Arc::new(Mutex::new(State { ips, ports: NodePorts::default() })))
    }

    /// Keeps the ranges, and the addresses that others hold, as the stored objects say.
    pub fn follow(&self, lookup: &dyn ObjectLookup) {
        let ranges = self.clone();
        let observer = move |change: &Change| {
            let mut state = ranges.0.lock();
            match change {
                Change::Put(stored) => state.ips.set_range(stored.name(), Some(&stored.value())),
                Change::Delete(stored) => state.ips.set_range(stored.name(), None),
            }
        };
        lookup.subscribe("networking.k8s.io", "servicecidrs", Box::new(observer));
        let addresses = self.clone();
        let observer = move |change: &Change| {
            let (stored, exists) = match change {
                Change::Put(stored) => (stored, true),
                Change::Delete(stored) => (stored, false),
            };
            let is_foreign = exists && stored.label(MANAGED_BY) != Some(ALLOCATOR);
            addresses.0.lock().ips.set_foreign(stored.name(), is_foreign);
        };
        lookup.subscribe("networking.k8s.io", "ipaddresses", Box::new(observer));
    }

    /// The cluster's own range, as configured.
    pub fn cidr(&self) -> String {
        self.0.lock().ips.cidr().to_owned()
    }

    /// Which Service holds an address.
    pub fn owner(&self, address: &str) -> Option<Owner> {
        self.0.lock().ips.owner(address)
    }

    /// Every address that a Service holds.
    pub fn held(&self) -> Vec<String> {
        self.0.lock().ips.held()
    }

    /// The address of the Service default/kubernetes.
    pub fn first_ip(&self) -> String {
        self.0.lock().ips.first().to_string()
    }

    /// Takes what a stored Service has; called for each one at start.
    pub fn adopt(&self, service: &Value) {
        let mut state = self.0.lock();
        for thing in things_of(service) {
            let taken = match &thing {
                Thing::Ip(ip) => state.ips.adopt(ip, owner_of(service)),
                Thing::Port(port) => state.ports.take(*port),
            };
            if let Err(why) = taken {
                tracing::warn!(
                    namespace = service.namespace(),
                    name = service.name(),
                    why,
                    "a stored Service overlaps"
                );
            }
        }
    }

    pub fn reserve_for_create(&self, row: &Row, service: &mut Value) -> Result<Reservation, Status> {
        let mut reservation = self.empty();
        if !is_service(row) {
            return Ok(reservation);
        }
        init_families(service, None)?;
        let mut state = self.0.lock();
        take_cluster_ip(&mut state, service, &mut reservation.taken)?;
        take_node_ports(&mut state, service, &[], &mut reservation.taken)?;
        if needs_health_check(service) {
            take_health_check_port(&mut state, service, &mut reservation.taken)?;
        }
        drop(state);
        Ok(reservation)
    }

    pub fn reserve_for_update(&self, row: &Row, new: &mut Value, old: &Value) -> Result<Reservation, Status> {
        let mut reservation = self.empty();
        if !is_service(row) {
            return Ok(reservation);
        }
        keep_allocated(new, old);
        init_families(new, Some(old))?;
        let mut state = self.0.lock();
        let (was_external, is_external) = (kind_of(old) == "ExternalName", kind_of(new) == "ExternalName");
        if was_external && !is_external {
            take_cluster_ip(&mut state, new, &mut reservation.taken)?;
        } else if !was_external && is_external {
            reservation.freed.extend(things_of(old).into_iter().filter(|thing| matches!(thing, Thing::Ip(_))));
        }
        let before = node_ports(old);
        if has_node_ports(new) {
            take_node_ports(&mut state, new, &before, &mut reservation.taken)?;
        }
        let after = if has_node_ports(new) { node_ports(new) } else { Vec::new() };
        if has_node_ports(old) {
            let gone = before.into_iter().filter(|port| !after.contains(port));
            reservation.freed.extend(gone.map(Thing::Port));
        }
        match (needs_health_check(old), needs_health_check(new)) {
            (false, true) => take_health_check_port(&mut state, new, &mut reservation.taken)?,
            (true, false) => reservation.freed.extend(health_check_port(old).map(Thing::Port)),
            _ => {}
        }
        drop(state);
        Ok(reservation)
    }

    /// A Service is gone.
    pub fn release(&self, row: &Row, service: &Value) {
        if is_service(row) {
            self.release_all(things_of(service));
        }
    }

    fn empty(&self) -> Reservation {
        Reservation { services: self.clone(), taken: Vec::new(), freed: Vec::new() }
    }

    fn release_all(&self, things: Vec<Thing>) {
        if things.is_empty() {
            return;
        }
        let mut state = self.0.lock();
        for thing in things {
            match thing {
                Thing::Ip(ip) => state.ips.release(&ip),
                Thing::Port(port) => state.ports.release(port),
            }
        }
    }
}

/// The cluster IPs that a write gave or took: those that one of the two has alone.
pub fn changed_addresses(row: &Row, before: Option<&Value>, after: Option<&Value>) -> Vec<String> {
    if !is_service(row) {
        return Vec::new();
    }
    let ips = |service: Option<&Value>| -> Vec<String> {
        let things = service.map(things_of).unwrap_or_default().into_iter();
        things.filter_map(|thing| if let Thing::Ip(ip) = thing { Some(ip) } else { None }).collect()
    };
    let (before, after) = (ips(before), ips(after));
    let gone = before.iter().filter(|ip| !after.contains(ip)).cloned();
    gone.chain(after.iter().filter(|ip| !before.contains(ip)).cloned()).collect()
}

fn owner_of(service: &Value) -> Owner {
    (service.namespace().to_owned(), service.name().to_owned())
}

fn is_service(row: &Row) -> bool {
    row.group.is_empty() && row.plural == "services"
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

fn number(port: &Value, key: &str) -> Option<u16> {
    port.get(key).and_then(Value::as_u64).and_then(|n| u16::try_from(n).ok()).filter(|n| *n > 0)
}

fn things_of(service: &Value) -> Vec<Thing> {
    let mut things = Vec::new();
    if kind_of(service) != "ExternalName" && !is_headless(service) {
        let ips = service.items_at(&["spec", "clusterIPs"]).iter().filter_map(Value::as_str);
        things.extend(ips.filter(|ip| !ip.is_empty()).map(|ip| Thing::Ip(ip.to_owned())));
    }
    let mut ports = node_ports(service);
    ports.sort_unstable();
    ports.dedup();
    things.extend(ports.into_iter().map(Thing::Port));
    if needs_health_check(service) {
        things.extend(health_check_port(service).map(Thing::Port));
    }
    things
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
        // Who has no selector names addresses of any family by hand.
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

fn take_cluster_ip(state: &mut State, service: &mut Value, taken: &mut Vec<Thing>) -> Result<(), Status> {
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
        taken.push(Thing::Ip(asked));
        return Ok(());
    }
    let ip = state.ips.take_any(owner_of(service)).map_err(|why| {
        Status::internal(format!("failed to allocate a serviceIP for Service {:?}: {why}", service.name()))
    })?;
    taken.push(Thing::Ip(ip.clone()));
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
    taken: &mut Vec<Thing>,
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
                taken.push(Thing::Port(wanted));
                wanted
            }
            None => {
                let fresh = state
                    .ports
                    .take_any()
                    .map_err(|why| Status::internal(format!("failed to allocate a nodePort: {why}")))?;
                taken.push(Thing::Port(fresh));
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

fn take_health_check_port(state: &mut State, service: &mut Value, taken: &mut Vec<Thing>) -> Result<(), Status> {
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
    taken.push(Thing::Port(port));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn services() -> Services {
        Services::new(ServiceIps::new("10.96.0.0/24").expect("a range"))
    }

    fn row() -> Row {
        (*ferry_resources::all().iter().find(|row| row.plural == "services").expect("services are builtin"))
            .as_ref()
            .clone()
    }

    #[test]
    fn a_reservation_that_is_not_kept_gives_everything_back() {
        let (services, row) = (services(), row());
        let mut service = json!({"metadata": {"name": "a"}, "spec": {"clusterIP": "10.96.0.9", "type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}]}});
        drop(services.reserve_for_create(&row, &mut service.clone()).expect("free"));
        services.reserve_for_create(&row, &mut service).expect("free again").keep();
        let refused = services.reserve_for_create(&row, &mut service.clone()).err().expect("taken");
        assert_eq!(
            refused.message,
            "Service \"a\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.0.9\"]: failed to allocate IP 10.96.0.9: provided IP is already allocated"
        );
        services.release(&row, &service);
        services.reserve_for_create(&row, &mut service).expect("released").keep();
    }

    #[test]
    fn a_plain_service_gets_an_address_and_families() {
        let mut service = json!({"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}});
        services().reserve_for_create(&row(), &mut service).expect("room").keep();
        assert!(service["spec"]["clusterIP"].as_str().is_some_and(|ip| ip.starts_with("10.96.0.")));
        assert_eq!(service["spec"]["clusterIPs"][0], service["spec"]["clusterIP"]);
        assert_eq!(service["spec"]["ipFamilies"], json!(["IPv4"]));
        assert_eq!(service["spec"]["ipFamilyPolicy"], "SingleStack");
    }

    #[test]
    fn an_update_keeps_its_address_and_frees_the_ports_it_gives_up() {
        let (services, row) = (services(), row());
        let mut old = json!({"metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
        services.reserve_for_create(&row, &mut old).expect("room").keep();
        let port = number(&old["spec"]["ports"][0], "nodePort").expect("given");
        let mut same = json!({"metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
        services.reserve_for_update(&row, &mut same, &old).expect("nothing new").keep();
        assert_eq!(same["spec"]["clusterIP"], old["spec"]["clusterIP"]);
        assert_eq!(number(&same["spec"]["ports"][0], "nodePort"), Some(port));
        let mut plain = json!({"metadata": {"name": "a"}, "spec": {"type": "ClusterIP", "ports": [{"port": 80}]}});
        services.reserve_for_update(&row, &mut plain, &same).expect("gives up").keep();
        assert_eq!(services.0.lock().ports.take(port), Ok(()));
    }

    #[test]
    fn headless_without_selector_may_have_both_families() {
        let mut service = json!({"metadata": {"name": "a"}, "spec": {"clusterIP": "None"}});
        services().reserve_for_create(&row(), &mut service).expect("nothing to take").keep();
        assert_eq!(service["spec"]["clusterIPs"], json!(["None"]));
        assert_eq!(service["spec"]["ipFamilies"], json!(["IPv4", "IPv6"]));
        assert_eq!(service["spec"]["ipFamilyPolicy"], "RequireDualStack");
    }
}
