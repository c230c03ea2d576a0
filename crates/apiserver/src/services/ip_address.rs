//! The IPAddress object of each cluster IP, kept in step with the Service that holds it
//! (service/ipallocator and its repair controller upstream). Every write of a Service ends
//! here, and so does every change that somebody else makes to an IPAddress.

use super::Services;
use super::ip_allocator::Owner;
use crate::ServerState;
use crate::controlplane::{self, Key, ServerController};
use crate::registry::{Caller, DeleteOptions, Registry, Tracking};
use ferry_api::object::Meta;
use ferry_api::status::Status;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

const GROUP: &str = "networking.k8s.io";
const FAMILY: &str = "ipaddress.kubernetes.io/ip-family";
pub(super) const MANAGED_BY: &str = "ipaddress.kubernetes.io/managed-by";
pub(super) const ALLOCATOR: &str = "ipallocator.k8s.io";

/// Whether an IPAddress is the mirror of a Service's cluster IP.
fn is_managed(address: &Value) -> bool {
    address.label(MANAGED_BY) == Some(ALLOCATOR)
}

/// What is done about the object of one address.
#[derive(Debug, PartialEq)]
enum Action {
    Nothing,
    Create(Value),
    /// The parent cannot be changed, so the object is made anew.
    Recreate(Value),
    Delete,
}

fn plan(address: &str, owner: Option<&Owner>, object: Option<&Value>) -> Action {
    let wanted = |(namespace, name): &Owner| {
        json!({
            "apiVersion": "networking.k8s.io/v1", "kind": "IPAddress",
            "metadata": {"name": address, "labels": {FAMILY: "IPv4", MANAGED_BY: ALLOCATOR}},
            "spec": {"parentRef": {"group": "", "resource": "services", "namespace": namespace, "name": name}},
        })
    };
    match (owner, object) {
        (None, None) => Action::Nothing,
        (None, Some(object)) if is_managed(object) => Action::Delete,
        (None, Some(_)) => Action::Nothing,
        (Some(owner), None) => Action::Create(wanted(owner)),
        (Some(owner), Some(object)) => {
            let parent = |key: &str| object.str_at(&["spec", "parentRef", key]);
            let same = parent("group").is_empty()
                && parent("resource") == "services"
                && parent("namespace") == owner.0
                && parent("name") == owner.1
                && is_managed(object);
            if same { Action::Nothing } else { Action::Recreate(wanted(owner)) }
        }
    }
}

impl Services {
    /// Brings the objects of these addresses in step with the Services that hold them. A failure
    /// is the repair controller's to mend. Boxed, because a write of a Service leads here and
    /// this writes.
    pub(super) fn sync_addresses<'a>(&'a self, registry: &'a Registry, addresses: Vec<String>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            for address in addresses {
                if let Err(status) = self.sync_address(registry, &address).await {
                    tracing::warn!(address, error = status.message, "an IPAddress could not be brought in step");
                    if let Some(repairs) = self.repairs.get() {
                        repairs.add(Key::new("", address));
                    }
                }
            }
        })
    }

    async fn sync_address(&self, registry: &Registry, address: &str) -> Result<(), Status> {
        let Some(row) = registry.rows.find(GROUP, "v1", "ipaddresses") else { return Ok(()) };
        let object = registry.current(&row, "", address).await?;
        let owner = self.owner(address);
        let (removes, wanted) = match plan(address, owner.as_ref(), object.as_ref()) {
            Action::Nothing => return Ok(()),
            Action::Delete => (true, None),
            Action::Create(wanted) => (false, Some(wanted)),
            Action::Recreate(wanted) => (true, Some(wanted)),
        };
        let caller = Caller::server();
        if removes {
            let uid = object.as_ref().map(|object| object.uid().to_owned());
            let options = DeleteOptions { uid, ..DeleteOptions::default() };
            match registry.delete(&row, "", address, &options, &caller).await {
                Err(status) if !status.is_not_found() && !status.is_conflict() => return Err(status),
                _ => {}
            }
        }
        if let Some(wanted) = wanted {
            match registry.create(&row, "", wanted, Tracking::Update, &caller).await {
                Err(status) if !status.is_already_exists() => return Err(status),
                _ => {}
            }
        }
        Ok(())
    }
}

struct IpAddressRepair;

/// Mends what is out of step at the start, then whatever somebody changes.
pub(super) async fn start(server: &Arc<ServerState>) {
    let mut addresses: BTreeSet<String> = server.services.held().into_iter().collect();
    let objects = server.lookup.list(GROUP, "ipaddresses", None);
    addresses.extend(objects.iter().map(|stored| stored.name().to_owned()));
    let controller = Arc::new(IpAddressRepair);
    let queue = server.controllers.queue_of::<IpAddressRepair>();
    server.reconcile_first(&controller, &queue, addresses.into_iter().map(|address| Key::new("", address))).await;
    let _ = server.services.repairs.set(queue.clone());
    server.enqueue_changes(GROUP, "ipaddresses", &queue);
    server.run_controller(controller, &queue);
}

impl ServerController for IpAddressRepair {
    const NAME: &'static str = "ipaddress_repair";

    async fn reconcile(&self, server: &Arc<ServerState>, key: &Key) -> Result<controlplane::Action, Status> {
        server.services.sync_address(&server.registry, &key.name).await?;
        Ok(controlplane::Action::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_who_holds_it() {
        let owner: Owner = ("ns".into(), "web".into());
        let Action::Create(object) = plan("10.96.0.9", Some(&owner), None) else { panic!("it is missing") };
        assert_eq!(object["spec"]["parentRef"]["name"], "web");
        assert_eq!(plan("10.96.0.9", Some(&owner), Some(&object)), Action::Nothing);
        let other: Owner = ("ns".into(), "db".into());
        assert!(matches!(plan("10.96.0.9", Some(&other), Some(&object)), Action::Recreate(_)));
        assert_eq!(plan("10.96.0.9", None, Some(&object)), Action::Delete);
        let foreign = json!({"metadata": {"name": "10.96.0.9"}, "spec": {}});
        assert_eq!(plan("10.96.0.9", None, Some(&foreign)), Action::Nothing);
    }
}
