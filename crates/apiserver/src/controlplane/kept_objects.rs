//! The objects that a cluster is never without: its own namespaces, and the Service
//! default/kubernetes with its endpoints, by which pods find this server. `bootstrap.rs`
//! makes them; this makes them again when someone deletes or changes them, so that
//! `kubectl delete services --all` costs nobody the API (controlplane/controller/
//! kubernetesservice and systemnamespaces upstream, which look every ten seconds).

use super::{Action, Key, ServerController, WorkQueue, bootstrap};
use crate::ServerState;
use crate::registry::lookup::Change;
use ferry_api::status::Status;
use std::sync::Arc;

/// The Service, its Endpoints and its EndpointSlice all have this name.
const NAME: &str = "kubernetes";

struct KeptObjects;

/// Follows the objects until the server is dropped. Called once, after they were made.
pub(crate) fn start(server: &Arc<ServerState>) {
    let queue = server.controllers.queue_of::<KeptObjects>();
    let kinds = [("", "namespaces"), ("", "services"), ("", "endpoints"), ("discovery.k8s.io", "endpointslices")];
    for (group, plural) in kinds {
        let queue = queue.clone();
        server.lookup.subscribe(group, plural, Box::new(move |change| enqueue_if_kept(change, &queue)));
    }
    server.run_controller(Arc::new(KeptObjects), &queue);
}

fn enqueue_if_kept(change: &Change, queue: &WorkQueue) {
    let (stored, is_deleted) = match change {
        Change::Put(stored) => (stored, false),
        Change::Delete(stored) => (stored, true),
    };
    // A namespace is somebody's to label; only its end concerns the cluster.
    let is_kept = match stored.namespace() {
        "" => is_deleted && bootstrap::NAMESPACES.contains(&stored.name()),
        "default" => stored.name() == NAME,
        _ => false,
    };
    if is_kept {
        // The objects are few and depend on each other, so that they are looked at together.
        queue.add(Key::new("", NAME));
    }
}

impl ServerController for KeptObjects {
    const NAME: &'static str = "kubernetesservice";

    /// An object that is as it should be is not written, so that this does not wake itself.
    async fn reconcile(&self, server: &Arc<ServerState>, _: &Key) -> Result<Action, Status> {
        bootstrap::ensure_namespaces(&server.registry).await?;
        let address = *server.advertised.borrow();
        if let Some(address) = address {
            bootstrap::advertise(server, address).await?;
        }
        Ok(Action::Done)
    }
}
