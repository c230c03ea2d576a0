//! Services beyond their objects: the cluster IPs and node ports that they hold, the
//! IPAddress objects that show the addresses, and the ServiceCIDRs that the addresses come from.
//!
//! The registry knows none of this: [`Services`] is the hook of the row `services`
//! (`registry/hooks.rs`). A write reserves what it needs before the object is validated. The
//! reservation ends in one of two ways: the commit succeeds and it is kept, or it is dropped and
//! everything it took is free again. An update frees what it no longer needs only once it is
//! stored. The state is in memory and rebuilt from the cache at start, so that it cannot
//! disagree with the stored Services for long.

mod alloc;
mod allocation;
mod ip_address;
mod ip_allocator;
mod port_allocator;
mod service_cidr;

use crate::ServerState;
use crate::controlplane::WorkQueue;
use crate::registry::lookup::{Change, ObjectLookup};
use crate::registry::{Finish, Hooks, Registry};
use alloc::{Allocated, Plan};
use ferry_api::object::Meta;
use ferry_api::status::Status;
use futures_util::future::BoxFuture;
use ip_address::{ALLOCATOR, MANAGED_BY};
use ip_allocator::{Owner, ServiceIps};
use parking_lot::Mutex;
use port_allocator::NodePorts;
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// The allocators. Cheap to clone; every clone is the same.
#[derive(Clone)]
pub(crate) struct Services {
    state: Arc<Mutex<State>>,
    /// Set when the controller runs that repairs IPAddress objects.
    repairs: Arc<OnceLock<WorkQueue>>,
}

struct State {
    ips: ServiceIps,
    ports: NodePorts,
}

/// Makes the default ServiceCIDR, and keeps ServiceCIDRs and IPAddresses in step with the
/// Services until the server ends. Called once, when the server has its first objects.
pub(crate) async fn start(server: &Arc<ServerState>) -> Result<(), Status> {
    service_cidr::start(server).await?;
    ip_address::start(server).await;
    Ok(())
}

impl Services {
    /// `None` for a range of addresses that Services cannot have.
    pub(crate) fn new(cidr: &str) -> Option<Self> {
        let ips = ServiceIps::new(cidr)?;
        let state = State { ips, ports: NodePorts::default() };
        Some(Self { state: Arc::new(Mutex::new(state)), repairs: Arc::default() })
    }

    /// Takes what the stored Services have, then follows the ranges and the addresses that
    /// others hold.
    pub(crate) fn follow(&self, lookup: &dyn ObjectLookup) {
        lookup.list("", "services", None).iter().for_each(|stored| self.adopt(&stored.value()));
        let ranges = self.clone();
        let observer = move |change: &Change| {
            let mut state = ranges.state.lock();
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
            addresses.state.lock().ips.set_foreign(stored.name(), is_foreign);
        };
        lookup.subscribe("networking.k8s.io", "ipaddresses", Box::new(observer));
    }

    /// The address of the Service default/kubernetes.
    pub(crate) fn first_ip(&self) -> String {
        self.state.lock().ips.first().to_string()
    }

    /// The cluster's own range, as configured.
    fn cidr(&self) -> String {
        self.state.lock().ips.cidr().to_owned()
    }

    /// The Service that holds an address.
    fn owner(&self, address: &str) -> Option<Owner> {
        self.state.lock().ips.owner(address)
    }

    /// Every address that a Service holds.
    fn held(&self) -> Vec<String> {
        self.state.lock().ips.held()
    }

    fn adopt(&self, service: &Value) {
        let mut state = self.state.lock();
        for allocated in alloc::allocated_to(service) {
            let taken = match &allocated {
                Allocated::Ip(ip) => state.ips.adopt(ip, alloc::owner_of(service)),
                Allocated::Port(port) => state.ports.take(*port),
            };
            if let Err(why) = taken {
                let (namespace, name) = (service.namespace(), service.name());
                tracing::warn!(namespace, name, why, "a stored Service overlaps");
            }
        }
    }

    fn release(&self, all: Vec<Allocated>) {
        if all.is_empty() {
            return;
        }
        let mut state = self.state.lock();
        for allocated in all {
            match allocated {
                Allocated::Ip(ip) => state.ips.release(&ip),
                Allocated::Port(port) => state.ports.release(port),
            }
        }
    }

    fn reserve_for_create(&self, service: &mut Value) -> Result<Reservation, Status> {
        let mut reservation = Reservation::new(self);
        alloc::allocate_create(&mut self.state.lock(), service, &mut reservation.plan)?;
        reservation.changed = alloc::cluster_ips(service).map(str::to_owned).collect();
        Ok(reservation)
    }

    fn reserve_for_update(&self, new: &mut Value, old: &Value) -> Result<Reservation, Status> {
        let mut reservation = Reservation::new(self);
        alloc::allocate_update(&mut self.state.lock(), new, old, &mut reservation.plan)?;
        let (before, after): (Vec<&str>, Vec<&str>) =
            (alloc::cluster_ips(old).collect(), alloc::cluster_ips(new).collect());
        let gone = before.iter().filter(|ip| !after.contains(ip));
        let come = after.iter().filter(|ip| !before.contains(ip));
        reservation.changed = gone.chain(come).map(|ip| (*ip).to_owned()).collect();
        Ok(reservation)
    }
}

impl Hooks for Services {
    fn begin_create(&self, service: &mut Value) -> Result<Box<dyn Finish>, Status> {
        Ok(Box::new(self.reserve_for_create(service)?))
    }

    fn begin_update(&self, new: &mut Value, old: &Value) -> Result<Box<dyn Finish>, Status> {
        Ok(Box::new(self.reserve_for_update(new, old)?))
    }

    fn after_delete<'a>(&'a self, registry: &'a Registry, service: &'a Value) -> BoxFuture<'a, ()> {
        self.release(alloc::allocated_to(service));
        let addresses = alloc::cluster_ips(service).map(str::to_owned).collect();
        self.sync_addresses(registry, addresses)
    }
}

/// What one write took and what it will no longer need.
#[must_use]
struct Reservation {
    services: Services,
    plan: Plan,
    /// The addresses that the write gives or takes, whose IPAddress objects follow.
    changed: Vec<String>,
}

impl Reservation {
    fn new(services: &Services) -> Self {
        Self { services: services.clone(), plan: Plan::default(), changed: Vec::new() }
    }

    /// The write is stored: what it took stays taken, what it freed is free.
    fn commit(mut self) -> Vec<String> {
        self.plan.taken.clear();
        self.services.release(std::mem::take(&mut self.plan.freed));
        std::mem::take(&mut self.changed)
    }
}

impl Finish for Reservation {
    fn keep<'a>(self: Box<Self>, registry: &'a Registry) -> BoxFuture<'a, ()> {
        let services = self.services.clone();
        let changed = self.commit();
        Box::pin(async move { services.sync_addresses(registry, changed).await })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.services.release(std::mem::take(&mut self.plan.taken));
    }
}

#[cfg(test)]
mod tests {
    use super::alloc::number;
    use super::*;
    use serde_json::json;

    fn services() -> Services {
        Services::new("10.96.0.0/24").expect("a range")
    }

    #[test]
    fn a_reservation_that_is_not_kept_gives_everything_back() {
        let services = services();
        let mut service = json!({"metadata": {"name": "a"}, "spec": {"clusterIP": "10.96.0.9", "type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}]}});
        drop(services.reserve_for_create(&mut service.clone()).expect("free"));
        services.reserve_for_create(&mut service).expect("free again").commit();
        let refused = services.reserve_for_create(&mut service.clone()).err().expect("taken");
        assert_eq!(
            refused.message,
            "Service \"a\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.0.9\"]: failed to allocate IP 10.96.0.9: provided IP is already allocated"
        );
        services.release(alloc::allocated_to(&service));
        services.reserve_for_create(&mut service).expect("released").commit();
    }

    #[test]
    fn a_port_that_is_taken_gives_the_address_back() {
        let services = services();
        let mut first = json!({"metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}]}});
        services.reserve_for_create(&mut first).expect("free").commit();
        let mut second = first.clone();
        second["spec"]["clusterIP"] = "10.96.0.9".into();
        second["spec"]["clusterIPs"] = json!(["10.96.0.9"]);
        let refused = services.reserve_for_create(&mut second).err().expect("taken");
        assert!(refused.message.ends_with("provided port is already allocated"), "{}", refused.message);
        assert_eq!(services.owner("10.96.0.9"), None);
    }

    #[test]
    fn a_plain_service_gets_an_address_and_families() {
        let mut service = json!({"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}});
        services().reserve_for_create(&mut service).expect("room").commit();
        assert!(service["spec"]["clusterIP"].as_str().is_some_and(|ip| ip.starts_with("10.96.0.")));
        assert_eq!(service["spec"]["clusterIPs"][0], service["spec"]["clusterIP"]);
        assert_eq!(service["spec"]["ipFamilies"], json!(["IPv4"]));
        assert_eq!(service["spec"]["ipFamilyPolicy"], "SingleStack");
    }

    #[test]
    fn an_update_keeps_its_address_and_frees_the_ports_it_gives_up() {
        let services = services();
        let mut old = json!({"metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
        services.reserve_for_create(&mut old).expect("room").commit();
        let port = number(&old["spec"]["ports"][0], "nodePort").expect("given");
        let mut same = json!({"metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
        services.reserve_for_update(&mut same, &old).expect("nothing new").commit();
        assert_eq!(same["spec"]["clusterIP"], old["spec"]["clusterIP"]);
        assert_eq!(number(&same["spec"]["ports"][0], "nodePort"), Some(port));
        let mut plain = json!({"metadata": {"name": "a"}, "spec": {"type": "ClusterIP", "ports": [{"port": 80}]}});
        services.reserve_for_update(&mut plain, &same).expect("gives up").commit();
        assert_eq!(services.state.lock().ports.take(port), Ok(()));
    }

    #[test]
    fn headless_without_selector_may_have_both_families() {
        let mut service = json!({"metadata": {"name": "a"}, "spec": {"clusterIP": "None"}});
        services().reserve_for_create(&mut service).expect("nothing to take").commit();
        assert_eq!(service["spec"]["clusterIPs"], json!(["None"]));
        assert_eq!(service["spec"]["ipFamilies"], json!(["IPv4", "IPv6"]));
        assert_eq!(service["spec"]["ipFamilyPolicy"], "RequireDualStack");
    }
}
