//! The objects that a cluster is never without: its own namespaces, and the Service
//! default/kubernetes with its endpoints, by which pods find this server. `bootstrap.rs`
//! makes them; this makes them again when someone deletes or changes them, so that
//! `kubectl delete services --all` costs nobody the API (controlplane/controller/
//! kubernetesservice and systemnamespaces upstream, which look every ten seconds).

use crate::registry::lookup::Change;
use crate::{ServerState, bootstrap};
use ferry_api::status::Status;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::Notify;

/// The Service, its Endpoints and its EndpointSlice all have this name.
const NAME: &str = "kubernetes";

/// How long to wait before a write that failed is tried again.
const RETRY: Duration = Duration::from_secs(5);

/// Follows the objects until the server is dropped. Called once, after they were made.
pub fn start(server: &Arc<ServerState>) {
    let wake = Arc::new(Notify::new());
    let kinds = [("", "namespaces"), ("", "services"), ("", "endpoints"), ("discovery.k8s.io", "endpointslices")];
    for (group, plural) in kinds {
        let wake = wake.clone();
        server.lookup.subscribe(group, plural, Box::new(move |change| wake_if_kept(change, &wake)));
    }
    let server: Weak<ServerState> = Arc::downgrade(server);
    tokio::spawn(async move {
        let mut outcome: Result<(), Status> = Ok(());
        loop {
            match &outcome {
                Ok(()) => wake.notified().await,
                Err(status) => {
                    tracing::warn!(error = status.message, "an object of the cluster's own could not be made again");
                    tokio::time::sleep(RETRY).await;
                }
            }
            let Some(server) = server.upgrade() else { return };
            outcome = sync(&server).await;
        }
    });
}

fn wake_if_kept(change: &Change, wake: &Notify) {
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
        wake.notify_one();
    }
}

/// An object that is as it should be is not written, so that this does not wake itself.
async fn sync(server: &ServerState) -> Result<(), Status> {
    bootstrap::ensure_namespaces(&server.registry).await?;
    let address = *server.advertised.borrow();
    match address {
        Some(address) => bootstrap::advertise(server, address).await,
        None => Ok(()),
    }
}
