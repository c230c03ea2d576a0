//! Writes on a Secret on which day its token was last used, so that tokens which nobody
//! uses any more can be found and removed. Authentication sends the uses; this is a task of
//! its own, because no request should wait for such a write.

use crate::ServerState;
use crate::authn::legacy_token::{LAST_USED, Used};
use crate::registry::{Caller, IfAbsent, Part, Target, Tracking};
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use serde_json::Value;
use std::sync::{Arc, Weak};
use tokio::sync::mpsc;

/// Ends with the server.
pub fn start(server: &Arc<ServerState>, mut uses: mpsc::Receiver<Used>) {
    let server: Weak<ServerState> = Arc::downgrade(server);
    tokio::spawn(async move {
        while let Some(used) = uses.recv().await {
            let Some(server) = server.upgrade() else { return };
            if let Err(status) = note(&server, &used).await {
                tracing::warn!(
                    secret = used.secret,
                    namespace = used.namespace,
                    why = status.message,
                    "the last use of a token is not noted"
                );
            }
        }
    });
}

async fn note(server: &ServerState, used: &Used) -> Result<(), Status> {
    let registry = &server.registry;
    let Some(row) = registry.rows.find("", "v1", "secrets") else { return Ok(()) };
    // Requests that came together all report the same day.
    let noted = registry.current(&row, &used.namespace, &used.secret).await?;
    if noted.is_none_or(|secret| secret.uid() != used.uid || secret.label(LAST_USED) == Some(&used.day)) {
        return Ok(());
    }
    let target = Target {
        row: &row,
        namespace: &used.namespace,
        name: &used.secret,
        part: Part::Main,
        absent: IfAbsent::AsKind,
    };
    let mut label = |old: Option<&Value>| {
        let mut secret = old.cloned().unwrap_or_default();
        secret.remove_meta("resourceVersion");
        let labels = ensure_object(secret.meta_mut().entry("labels").or_insert(Value::Null));
        labels.insert(LAST_USED.into(), used.day.clone().into());
        Ok(secret)
    };
    match registry.update(&target, Tracking::Update, &Caller::server(), &mut label).await {
        Ok(_) => Ok(()),
        Err(status) if status.is_not_found() => Ok(()),
        Err(status) => Err(status),
    }
}
