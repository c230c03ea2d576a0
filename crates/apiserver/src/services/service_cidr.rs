//! ServiceCIDRs: the default one that every cluster has, the condition that says whether a
//! range gives addresses, and the finalizer that keeps a range until no Service depends on
//! it (controlplane/controller/defaultservicecidr and pkg/controller/servicecidrs upstream).
//! The allocator itself follows the objects at once (`ip_allocator.rs`), so that a
//! range that is going gives nothing any more when this looks at it.

use super::ip_address::{ALLOCATOR, MANAGED_BY};
use super::ip_allocator::Range;
use crate::ServerState;
use crate::controlplane::loopback::{Loopback, PatchType};
use crate::controlplane::{Action, Key, ServerController, bootstrap, key_of};
use crate::registry::lookup::Change;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::rules::condition;
use ferry_api::status::Status;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

const GROUP: &str = "networking.k8s.io";
const PLURAL: &str = "servicecidrs";
/// The name of the cluster's own range.
const DEFAULT: &str = "kubernetes";
const FINALIZER: &str = "networking.k8s.io/service-cidr-finalizer";
const READY: &str = "Kubernetes Service CIDR is ready";
const BLOCKED: &str =
    "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR";

/// The role of the controller that upstream runs outside of the API server.
const LOOPBACK: Loopback = Loopback { manager: "service-cidr-controller", account: "service-cidrs-controller" };

/// The next step of a ServiceCIDR.
#[derive(Debug, PartialEq)]
enum Step {
    Nothing,
    AddFinalizer,
    RemoveFinalizer,
    /// The conditions of its status.
    Status(Value),
}

/// The ranges that are being deleted: they alone depend on who uses them.
#[derive(Default)]
struct ServiceCidrs {
    going: Mutex<HashMap<Key, Vec<Range>>>,
}

/// Makes the default range and starts to look after all of them.
pub(super) async fn start(server: &Arc<ServerState>) -> Result<(), Status> {
    let cidr = server.services.cidr();
    let object = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR",
        "metadata": {"name": DEFAULT}, "spec": {"cidrs": [cidr]},
    });
    bootstrap::create_if_absent(&server.registry, GROUP, "v1", PLURAL, "", object).await?;
    let queue = server.controllers.queue_of::<ServiceCidrs>();
    let controller = Arc::<ServiceCidrs>::default();
    let (enqueue, of_ranges) = (queue.clone(), controller.clone());
    let observer = move |change: &Change| {
        let mut going = of_ranges.going.lock();
        match change {
            Change::Put(stored) if stored.value().is_deleting() => {
                going.insert(key_of(change), ranges_of(&stored.value()));
            }
            _ => {
                going.remove(&key_of(change));
            }
        }
        enqueue.add(key_of(change));
        // Another range may have what keeps one from going.
        going.keys().for_each(|key| enqueue.add(key.clone()));
    };
    server.lookup.subscribe(GROUP, PLURAL, Box::new(observer));
    let (enqueue, of_addresses) = (queue.clone(), controller.clone());
    let observer = move |change: &Change| {
        let Ok(address) = key_of(change).name.parse::<Ipv4Addr>() else { return };
        let going = of_addresses.going.lock();
        let containing = going.iter().filter(|(_, ranges)| ranges.iter().any(|range| range.contains(address)));
        containing.for_each(|(key, _)| enqueue.add(key.clone()));
    };
    server.lookup.subscribe(GROUP, "ipaddresses", Box::new(observer));
    server.run_controller(controller, &queue);
    Ok(())
}

impl ServerController for ServiceCidrs {
    const NAME: &'static str = "service-cidr-controller";

    async fn reconcile(&self, server: &Arc<ServerState>, key: &Key) -> Result<Action, Status> {
        let all: Vec<Value> = server.lookup.list(GROUP, PLURAL, None).iter().map(|stored| stored.value()).collect();
        let Some(cidr) = all.iter().find(|cidr| cidr.name() == key.name) else { return Ok(Action::Done) };
        let addresses = if cidr.is_deleting() { managed_addresses(server) } else { Vec::new() };
        let path = format!("/apis/{GROUP}/v1/{PLURAL}/{}", key.name);
        let written = match plan(cidr, &all, &addresses, Timestamp::now()) {
            Step::Nothing => return Ok(Action::Done),
            Step::AddFinalizer => {
                let patch = json!({"metadata": {"uid": cidr.uid(), "finalizers": [FINALIZER]}});
                LOOPBACK.patch(server, &path, PatchType::Strategic, &patch).await
            }
            Step::RemoveFinalizer => {
                let patch =
                    json!({"metadata": {"uid": cidr.uid(), "$deleteFromPrimitiveList/finalizers": [FINALIZER]}});
                LOOPBACK.patch(server, &path, PatchType::Strategic, &patch).await
            }
            Step::Status(condition) => {
                let applied = json!({
                    "apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR", "metadata": {"name": key.name},
                    "status": {"conditions": [condition]},
                });
                LOOPBACK.patch(server, &format!("{path}/status"), PatchType::Apply, &applied).await
            }
        };
        match written {
            // Whatever was written, or was written by others meanwhile, brings the key back.
            Err(status) if !status.is_conflict() && !status.is_not_found() => Err(status),
            _ => Ok(Action::Done),
        }
    }
}

/// The addresses that Services hold.
fn managed_addresses(server: &ServerState) -> Vec<Ipv4Addr> {
    let objects = server.lookup.list(GROUP, "ipaddresses", None);
    let managed = objects.iter().filter(|stored| stored.label(MANAGED_BY) == Some(ALLOCATOR));
    managed.filter_map(|stored| stored.name().parse().ok()).collect()
}

fn plan(cidr: &Value, all: &[Value], addresses: &[Ipv4Addr], now: Timestamp) -> Step {
    let has_finalizer = cidr.finalizers().contains(&FINALIZER);
    match (cidr.is_deleting(), has_finalizer) {
        (false, false) => Step::AddFinalizer,
        (false, true) => plan_condition(cidr, "True", "", READY, now),
        (true, _) if is_needed(cidr, all, addresses) => plan_condition(cidr, "False", "Terminating", BLOCKED, now),
        (true, true) => Step::RemoveFinalizer,
        (true, false) => Step::Nothing,
    }
}

/// Whether some address of a Service would be in no range any more without this one.
fn is_needed(cidr: &Value, all: &[Value], addresses: &[Ipv4Addr]) -> bool {
    let others: Vec<Range> = all.iter().filter(|other| other.name() != cidr.name()).flat_map(ranges_of).collect();
    let own = ranges_of(cidr);
    if own.iter().all(|own| others.iter().any(|other| other.covers(*own))) {
        return false;
    }
    addresses.iter().any(|address| {
        own.iter().any(|own| own.contains(*address)) && !others.iter().any(|other| other.contains(*address))
    })
}

fn ranges_of(cidr: &Value) -> Vec<Range> {
    cidr.items_at(&["spec", "cidrs"]).iter().filter_map(Value::as_str).filter_map(Range::parse).collect()
}

/// The condition Ready as it should be written; nothing where it is so already.
fn plan_condition(cidr: &Value, status: &str, reason: &str, message: &str, now: Timestamp) -> Step {
    let wanted = json!({"type": "Ready", "status": status, "reason": reason, "message": message});
    let mut object = cidr.clone();
    let written = ensure_object(&mut object).entry("status").or_insert(Value::Null);
    if !condition::set_value(written, wanted, now) {
        return Step::Nothing;
    }
    let set = written.items_at(&["conditions"]).iter().find(|condition| condition["type"] == "Ready");
    Step::Status(set.cloned().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cidr(name: &str, range: &str) -> Value {
        json!({"metadata": {"name": name, "finalizers": [FINALIZER]}, "spec": {"cidrs": [range]}})
    }

    fn going(name: &str, range: &str) -> Value {
        let mut object = cidr(name, range);
        object.set_meta("deletionTimestamp", "2026-01-01T00:00:00Z");
        object
    }

    #[test]
    fn a_new_range_is_protected_then_ready() {
        let now = Timestamp::UNIX_EPOCH;
        let bare = json!({"metadata": {"name": "a"}, "spec": {"cidrs": ["10.0.0.0/24"]}});
        assert_eq!(plan(&bare, &[], &[], now), Step::AddFinalizer);
        let mut protected = cidr("a", "10.0.0.0/24");
        let Step::Status(ready) = plan(&protected, &[], &[], now) else { panic!("it has no condition") };
        assert_eq!(ready["message"], READY);
        protected["status"] = json!({"conditions": [ready]});
        assert_eq!(plan(&protected, &[], &[], now), Step::Nothing);
    }

    #[test]
    fn a_range_stays_while_services_depend_on_it() {
        let now = Timestamp::UNIX_EPOCH;
        let gone = going("a", "10.0.0.0/24");
        let used = ["10.0.0.7".parse().expect("an address")];
        let all = [gone.clone()];
        let Step::Status(blocked) = plan(&gone, &all, &used, now) else { panic!("it is in use") };
        assert_eq!(blocked["reason"], "Terminating");
        assert_eq!(plan(&gone, &all, &[], now), Step::RemoveFinalizer, "nobody uses it");
        // Another range that has the address, or all of them, sets it free too.
        let parent = [gone.clone(), cidr("b", "10.0.0.0/16")];
        assert_eq!(plan(&gone, &parent, &used, now), Step::RemoveFinalizer);
        let part = [gone.clone(), cidr("b", "10.0.0.0/28")];
        assert_eq!(plan(&gone, &part, &used, now), Step::RemoveFinalizer);
        let elsewhere = [gone.clone(), cidr("b", "10.0.0.128/28")];
        assert!(matches!(plan(&gone, &elsewhere, &used, now), Step::Status(_)));
    }
}
