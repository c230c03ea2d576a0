//! How much history the store keeps: five minutes, as upstream's API server has etcd keep
//! it. Older states can no longer be listed or watched from; the present is never touched.

use super::{Action, Key, ServerController};
use crate::ServerState;
use ferry_api::status::Status;
use ferry_store::Revision;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(5 * 60);

/// Compacts, at each turn, to where the store stood one turn before.
struct Compaction {
    horizon: Mutex<Revision>,
}

/// Ends with the server.
pub(crate) fn start(server: &Arc<ServerState>) {
    let horizon = Mutex::new(server.registry.store.current_revision());
    let queue = server.controllers.queue_of::<Compaction>();
    queue.add_after(Key::new("", "store"), EVERY);
    server.run_controller(Arc::new(Compaction { horizon }), &queue);
}

impl ServerController for Compaction {
    const NAME: &'static str = "compactor";

    async fn reconcile(&self, server: &Arc<ServerState>, _: &Key) -> Result<Action, Status> {
        let store = &server.registry.store;
        let (horizon, now) = (*self.horizon.lock(), store.current_revision());
        if now > horizon {
            let failed = |error| Status::internal(format!("compacting the store to {horizon} failed: {error}"));
            store.compact(horizon).await.map_err(failed)?;
        }
        *self.horizon.lock() = now;
        Ok(Action::RequeueAfter(EVERY))
    }
}
