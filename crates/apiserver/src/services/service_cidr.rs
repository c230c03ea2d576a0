//! ServiceCIDRs: the default one that every cluster has, the condition that says whether a
//! range gives addresses, and the finalizer that keeps a range until no Service depends on
//! it (controlplane/controller/defaultservicecidr and pkg/controller/servicecidrs upstream).
//! The allocator itself follows the objects at once (`ip_allocator.rs`), so that a
//! range that is going gives nothing any more when this looks at it.

use super::ip_address::{ALLOCATOR, MANAGED_BY};
use super::ip_allocator::Range;
use crate::ServerState;
use crate::bootstrap;
use crate::registry::{Caller, IfAbsent, Part, Target, Tracking};
use ferry_api::object::{Meta, ensure_object};
use ferry_api::rules::condition;
use ferry_api::status::Status;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::Notify;

const GROUP: &str = "networking.k8s.io";
/// The name of the cluster's own range.
const DEFAULT: &str = "kubernetes";
const FINALIZER: &str = "networking.k8s.io/service-cidr-finalizer";
const READY: &str = "Kubernetes Service CIDR is ready";
const BLOCKED: &str =
    "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR";

/// How long to wait before a write that failed is tried again.
const RETRY: Duration = Duration::from_secs(5);

/// What a ServiceCIDR needs next.
#[derive(Debug, PartialEq)]
enum Step {
    Nothing,
    /// Its metadata, with the finalizer added or removed.
    Metadata(Value),
    Status(Value),
}

/// Makes the default range and starts to look after all of them.
pub(super) async fn start(server: &Arc<ServerState>) -> Result<(), Status> {
    let cidr = server.services.cidr();
    let object = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR",
        "metadata": {"name": DEFAULT}, "spec": {"cidrs": [cidr]},
    });
    bootstrap::create_if_absent(&server.registry, GROUP, "v1", "servicecidrs", "", object).await?;
    let wake = Arc::new(Notify::new());
    for plural in ["servicecidrs", "ipaddresses"] {
        let wake = wake.clone();
        server.lookup.subscribe(GROUP, plural, Box::new(move |_| wake.notify_one()));
    }
    let mut outcome = sync(server).await;
    let server: Weak<ServerState> = Arc::downgrade(server);
    tokio::spawn(async move {
        loop {
            match &outcome {
                Ok(()) => wake.notified().await,
                Err(status) => {
                    tracing::warn!(error = status.message, "a ServiceCIDR could not be written; it is tried again");
                    let _ = tokio::time::timeout(RETRY, wake.notified()).await;
                }
            }
            let Some(server) = server.upgrade() else { return };
            outcome = sync(&server).await;
        }
    });
    Ok(())
}

async fn sync(server: &ServerState) -> Result<(), Status> {
    let registry = &server.registry;
    let Some(row) = registry.rows.find(GROUP, "v1", "servicecidrs") else { return Ok(()) };
    let all: Vec<Value> = server.lookup.list(GROUP, "servicecidrs", None).iter().map(|stored| stored.value()).collect();
    let is_one_going = all.iter().any(|cidr| cidr.is_deleting());
    // Only a range that is going depends on who uses it.
    let addresses: Vec<Ipv4Addr> = if is_one_going {
        let objects = server.lookup.list(GROUP, "ipaddresses", None);
        objects
            .iter()
            .filter(|stored| stored.label(MANAGED_BY) == Some(ALLOCATOR))
            .filter_map(|stored| stored.name().parse().ok())
            .collect()
    } else {
        Vec::new()
    };
    for cidr in &all {
        let (part, wanted) = match plan(cidr, &all, &addresses, Timestamp::now()) {
            Step::Nothing => continue,
            Step::Metadata(object) => (Part::Main, object),
            Step::Status(object) => (Part::Status, object),
        };
        let target = Target { row: &row, namespace: "", name: cidr.name(), part, absent: IfAbsent::AsKind };
        let written = registry.update(&target, Tracking::Update, &Caller::server(), &mut |_| Ok(wanted.clone())).await;
        match written {
            // Whatever was written, or was written by others meanwhile, wakes us again.
            Err(status) if !status.is_conflict() && !status.is_not_found() => return Err(status),
            _ => {}
        }
    }
    Ok(())
}

fn plan(cidr: &Value, all: &[Value], addresses: &[Ipv4Addr], now: Timestamp) -> Step {
    let has_finalizer = cidr.finalizers().contains(&FINALIZER);
    if !cidr.is_deleting() {
        if !has_finalizer {
            let mut finalizers: Vec<String> = cidr.finalizers().iter().map(|name| (*name).to_owned()).collect();
            finalizers.push(FINALIZER.to_owned());
            let mut object = cidr.clone();
            object.set_meta("finalizers", finalizers);
            return Step::Metadata(object);
        }
        return plan_condition(cidr, "True", "", READY, now);
    }
    if is_needed(cidr, all, addresses) {
        return plan_condition(cidr, "False", "Terminating", BLOCKED, now);
    }
    if !has_finalizer {
        return Step::Nothing;
    }
    let others: Vec<String> =
        cidr.finalizers().iter().filter(|name| **name != FINALIZER).map(|name| (*name).to_owned()).collect();
    let mut object = cidr.clone();
    if others.is_empty() {
        object.remove_meta("finalizers");
    } else {
        object.set_meta("finalizers", others);
    }
    Step::Metadata(object)
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

fn plan_condition(cidr: &Value, status: &str, reason: &str, message: &str, now: Timestamp) -> Step {
    let wanted = json!({"type": "Ready", "status": status, "reason": reason, "message": message});
    let mut object = cidr.clone();
    let written = ensure_object(&mut object).entry("status").or_insert(Value::Null);
    if condition::set_value(written, wanted, now) { Step::Status(object) } else { Step::Nothing }
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
        let Step::Metadata(protected) = plan(&bare, &[], &[], now) else { panic!("it has no finalizer") };
        assert_eq!(protected.finalizers(), [FINALIZER]);
        let Step::Status(ready) = plan(&protected, &[], &[], now) else { panic!("it has no condition") };
        assert_eq!(ready["status"]["conditions"][0]["message"], READY);
        assert_eq!(plan(&ready, &[], &[], now), Step::Nothing);
    }

    #[test]
    fn a_range_stays_while_services_depend_on_it() {
        let now = Timestamp::UNIX_EPOCH;
        let gone = going("a", "10.0.0.0/24");
        let used = ["10.0.0.7".parse().expect("an address")];
        let all = [gone.clone()];
        let Step::Status(blocked) = plan(&gone, &all, &used, now) else { panic!("it is in use") };
        assert_eq!(blocked["status"]["conditions"][0]["reason"], "Terminating");
        let Step::Metadata(free) = plan(&gone, &all, &[], now) else { panic!("nobody uses it") };
        assert!(free.finalizers().is_empty());
        // Another range that has the address, or all of them, sets it free too.
        let parent = [gone.clone(), cidr("b", "10.0.0.0/16")];
        assert!(matches!(plan(&gone, &parent, &used, now), Step::Metadata(_)));
        let part = [gone.clone(), cidr("b", "10.0.0.0/28")];
        assert!(matches!(plan(&gone, &part, &used, now), Step::Metadata(_)));
        let elsewhere = [gone.clone(), cidr("b", "10.0.0.128/28")];
        assert!(matches!(plan(&gone, &elsewhere, &used, now), Step::Status(_)));
    }
}
