//! The day on which the token of a Secret was last used, as a label of the Secret, so that tokens
//! which nobody uses any more can be found and removed. Authentication sends the uses; the write
//! is a controller's, because no request should wait for it.

use super::{Action, Key, ServerController};
use crate::ServerState;
use crate::authn::legacy_token::{LAST_USED, Used};
use crate::registry::{Caller, IfAbsent, Part, Target, Tracking};
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The uses that are not written yet, by the key of their Secret.
#[derive(Default)]
struct LegacyTokenUses(Mutex<HashMap<Key, Used>>);

/// Ends with the server.
pub(crate) fn start(server: &Arc<ServerState>, mut uses: mpsc::Receiver<Used>) {
    let queue = server.controllers.queue_of::<LegacyTokenUses>();
    let controller = Arc::<LegacyTokenUses>::default();
    server.run_controller(controller.clone(), &queue);
    server.controllers.spawn(async move {
        while let Some(used) = uses.recv().await {
            let key = Key::new(&*used.namespace, &*used.secret);
            controller.0.lock().insert(key.clone(), used);
            queue.add(key);
        }
    });
}

impl ServerController for LegacyTokenUses {
    const NAME: &'static str = "legacy_token_tracking_controller";

    async fn reconcile(&self, server: &Arc<ServerState>, key: &Key) -> Result<Action, Status> {
        let Some(used) = self.0.lock().remove(key) else { return Ok(Action::Done) };
        if let Err(status) = note(server, &used).await {
            // A later use says the same or more.
            self.0.lock().entry(key.clone()).or_insert(used);
            return Err(status);
        }
        Ok(Action::Done)
    }
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
