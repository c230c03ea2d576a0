//! The loop that follows every definition: accepts its names, serves its rows, reports it
//! established, and lets it go when its instances are gone. Level-triggered: each turn reads
//! the definition as it is and narrows the gap; its own writes bring it round again.

use super::conditions::{Condition, plan_established, plan_status, set_condition};
use super::serving::Serving;
use super::{FINALIZER, GROUP, PLURAL, finalizer};
use crate::registry::lookup::Change;
use crate::registry::{Caller, IfAbsent, Part, Target, Tracking};
use crate::{Error, ServerState};
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_resources::Row;
use ferry_resources::custom_resource::is_true;
use ferry_resources::read::Read;
use futures_util::FutureExt;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::mpsc;

/// How long a definition waits whose turn failed. Failures here are the store's.
const RETRY_AFTER: Duration = Duration::from_secs(1);

pub(super) struct Controller {
    server: Weak<ServerState>,
    pub serving: Serving,
    queue: mpsc::UnboundedSender<String>,
    finalizing: Mutex<HashSet<String>>,
}

/// Serves the definitions that are in the store, then follows them until the server goes.
pub async fn start(server: &Arc<ServerState>) -> Result<(), Error> {
    if row(server).is_none() {
        return Ok(());
    }
    let (queue, mut changed) = mpsc::unbounded_channel();
    let controller = Arc::new(Controller {
        server: Arc::downgrade(server),
        serving: Serving::default(),
        queue: queue.clone(),
        finalizing: Mutex::default(),
    });
    // A restarted server must not deny what it served before, not even for a moment.
    for stored in server.lookup.list(GROUP, PLURAL, None) {
        let definition = stored.value();
        if is_served(&definition)
            && let Err(status) = controller.serving.serve(server, &definition).await
        {
            tracing::error!(definition = definition.name(), error = status.message, "a definition cannot be served");
        }
    }
    let observed = Box::new(move |change: &Change| {
        let (Change::Put(stored) | Change::Delete(stored)) = change;
        // The receiver lives as long as the loop, and nobody cares for what comes later.
        let _ = queue.send(stored.name().to_owned());
    });
    server.lookup.subscribe(GROUP, PLURAL, observed);
    let mut stopped = server.stop.subscribe();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = stopped.changed() => return,
                name = changed.recv() => match name {
                    Some(name) => controller.turn(&name).await,
                    None => return,
                },
            }
        }
    });
    Ok(())
}

fn row(server: &ServerState) -> Option<Arc<Row>> {
    server.registry.rows.find(GROUP, "v1", PLURAL)
}

/// Upstream serves a definition from the moment its names are accepted, so that it is
/// there when it is reported established.
fn is_served(definition: &Value) -> bool {
    is_true(definition, "NamesAccepted") || is_true(definition, "Established")
}

impl Controller {
    async fn turn(self: &Arc<Self>, name: &str) {
        let Some(server) = self.server.upgrade() else { return };
        // A definition whose schema makes the compiler panic must not end the loop that
        // serves all others. Trying it again would not help; its next change is looked at.
        match AssertUnwindSafe(self.reconcile(&server, name)).catch_unwind().await {
            Ok(Ok(())) => {}
            Ok(Err(status)) => {
                tracing::warn!(definition = name, error = status.message, "a definition is tried again");
                self.again_later(name);
            }
            Err(_) => tracing::error!(definition = name, "serving a definition panicked"),
        }
    }

    fn again_later(&self, name: &str) {
        let (queue, name) = (self.queue.clone(), name.to_owned());
        tokio::spawn(async move {
            tokio::time::sleep(RETRY_AFTER).await;
            let _ = queue.send(name);
        });
    }

    async fn reconcile(self: &Arc<Self>, server: &Arc<ServerState>, name: &str) -> Result<(), Status> {
        let Some(stored) = server.lookup.get(GROUP, PLURAL, "", name) else {
            self.serving.stop(server, name);
            self.reconsider_group(server, name);
            return Ok(());
        };
        let definition = stored.value();
        let now = Timestamp::now();
        if let Some(planned) = plan_status(&definition, &group_of(server, &definition), now) {
            self.write(server, planned).await?;
            self.reconsider_group(server, name);
            return Ok(());
        }
        if is_served(&definition) {
            self.serving.serve(server, &definition).await?;
        } else {
            self.serving.stop(server, name);
        }
        if let Some(condition) = plan_established(&definition) {
            return self.write_condition(server, definition, &condition).await.map(|_| ());
        }
        if definition.is_deleting() && definition.finalizers().contains(&FINALIZER) {
            self.finalize(name);
        }
        Ok(())
    }

    /// A name that became free may be what another definition of the group waits for.
    fn reconsider_group(&self, server: &ServerState, name: &str) {
        let group = name.split_once('.').map_or("", |(_, group)| group);
        for other in server.lookup.list(GROUP, PLURAL, None) {
            if other.name() != name && other.name().split_once('.').is_some_and(|(_, own)| own == group) {
                let _ = self.queue.send(other.name().to_owned());
            }
        }
    }

    /// Removing instances can take as long as their finalizers like, so it has a task of
    /// its own, one a definition.
    fn finalize(self: &Arc<Self>, name: &str) {
        if !self.finalizing.lock().insert(name.to_owned()) {
            return;
        }
        let (controller, name) = (self.clone(), name.to_owned());
        tokio::spawn(async move {
            let outcome = match controller.server.upgrade() {
                Some(server) => finalizer::finalize(&controller, &server, &name).await,
                None => return,
            };
            controller.finalizing.lock().remove(&name);
            match outcome {
                Ok(()) => {
                    let _ = controller.queue.send(name);
                }
                Err(status) => {
                    tracing::warn!(definition = name, error = status.message, "instances are not gone yet");
                    controller.again_later(&name);
                }
            }
        });
    }

    pub(super) async fn write_condition(
        &self,
        server: &ServerState,
        mut definition: Value,
        condition: &Condition,
    ) -> Result<Option<Value>, Status> {
        set_condition(&mut definition, condition, Timestamp::now());
        self.write(server, definition).await
    }

    /// Writes the status of a definition over the very version it was planned from. `None`
    /// when that is no longer there: the change that replaced it has its own turn.
    pub(super) async fn write(&self, server: &ServerState, definition: Value) -> Result<Option<Value>, Status> {
        let Some(row) = row(server) else { return Ok(None) };
        let name = definition.name().to_owned();
        let target = Target { row: &row, namespace: "", name: &name, part: Part::Status, absent: IfAbsent::AsKind };
        let caller = Caller::server();
        let outcome = server.registry.update(&target, Tracking::Update, &caller, &mut |_| Ok(definition.clone())).await;
        match outcome {
            Ok(updated) => Ok(Some(updated.written.into_object())),
            Err(status) if status.is_conflict() || status.is_not_found() => Ok(None),
            Err(status) => Err(status),
        }
    }
}

/// The other definitions of the same group.
fn group_of(server: &ServerState, definition: &Value) -> Vec<Value> {
    let group = definition.field("spec").text("group");
    let suffix = format!(".{group}");
    let others = server.lookup.list(GROUP, PLURAL, None);
    let others = others.iter().filter(|other| other.name() != definition.name() && other.name().ends_with(&suffix));
    others.map(|other| other.value()).filter(|other| other.field("spec").text("group") == group).collect()
}
