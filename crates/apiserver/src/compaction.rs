//! How much history the store keeps: five minutes, as upstream's API server has etcd keep
//! it. Older states can no longer be listed or watched from; the present is never touched.

use crate::ServerState;
use ferry_store::Revision;
use std::sync::{Arc, Weak};
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(5 * 60);

/// Compacts, at each turn, to where the store stood one turn before. Ends with the server.
pub fn start(server: &Arc<ServerState>) {
    let mut horizon = server.registry.store.current_revision();
    let server: Weak<ServerState> = Arc::downgrade(server);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(EVERY).await;
            let Some(server) = server.upgrade() else { return };
            horizon = turn(&server, horizon).await;
        }
    });
}

async fn turn(server: &ServerState, horizon: Revision) -> Revision {
    let store = &server.registry.store;
    let now = store.current_revision();
    if now > horizon
        && let Err(error) = store.compact(horizon).await
    {
        tracing::warn!(%error, horizon, "compacting the store failed; it is tried again later");
        return horizon;
    }
    now
}
