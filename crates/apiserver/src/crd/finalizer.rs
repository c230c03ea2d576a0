//! What happens between the deletion of a definition and its end: its instances are deleted
//! like any other objects, and it waits for the last of them
//! (apiextensions-apiserver's pkg/controller/finalizer).

use super::conditions::{Condition, set_condition};
use super::controller::{write, write_condition};
use super::serving::Serving;
use super::{FINALIZER, GROUP, PLURAL};
use crate::ServerState;
use crate::cache::Stored;
use crate::controlplane::{Action, Key, ServerController, WorkQueue};
use crate::registry::{Caller, DeleteOptions};
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_resources::Row;
use ferry_resources::custom_resource::is_true;
use ferry_resources::read::Read;
use futures_util::stream::{self, StreamExt};
use jiff::Timestamp;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// After this long without an end the definition says that it still waits, and another gets the
/// worker (upstream: crd_finalizer.go, one minute).
const PATIENCE: Duration = Duration::from_secs(60);

/// How many instances are deleted at a time: enough to share commits.
const AT_ONCE: usize = 64;

struct InstanceFinalizer {
    serving: Arc<Serving>,
}

/// Starts the controller; the loop over definitions gives it those that are being deleted.
pub(super) fn start(server: &Arc<ServerState>, serving: Arc<Serving>) -> WorkQueue {
    let queue = server.controllers.queue_of::<InstanceFinalizer>();
    server.run_controller(Arc::new(InstanceFinalizer { serving }), &queue);
    queue
}

impl ServerController for InstanceFinalizer {
    const NAME: &'static str = "crd_finalizer";
    /// A worker waits for the finalizers of instances, so that a few definitions whose instances
    /// do not go must not keep all others from going.
    const WORKERS: usize = 16;

    async fn reconcile(&self, server: &Arc<ServerState>, key: &Key) -> Result<Action, Status> {
        finalize(&self.serving, server, &key.name).await.map(|()| Action::Done)
    }
}

/// Deletes the instances of a definition that is being deleted, then lets it go. May be
/// repeated at any point.
async fn finalize(serving: &Serving, server: &Arc<ServerState>, name: &str) -> Result<(), Status> {
    let Some(definition) = current(server, name) else { return Ok(()) };
    let begun =
        Condition::new("Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress");
    if write_condition(server, definition, &begun).await?.is_none() {
        return Ok(());
    }
    let Some(definition) = current(server, name) else { return Ok(()) };
    let spec = definition.field("spec");
    let (group, plural) = (spec.text("group"), spec.field("names").text("plural"));
    let condition = if server.registry.rows.is_builtin(group, plural) {
        let text = "instances overlap with built-in resources in storage";
        Condition::new("Terminating", "False", "OverlappingBuiltInResource", text)
    } else if is_true(&definition, "Established") {
        // The rows that refuse creation must be there before the instances are counted.
        serving.serve(server, &definition).await?;
        match serving.storage_row(name) {
            Some(row) => delete_instances(server, name, &row).await?,
            None => return Ok(()),
        }
        Condition::new("Terminating", "False", "InstanceDeletionCompleted", "removed all instances")
    } else {
        Condition::new("Terminating", "False", "NeverEstablished", "resource was never established")
    };
    let Some(mut last) = current(server, name) else { return Ok(()) };
    set_condition(&mut last, &condition, Timestamp::now());
    let kept: Vec<Value> =
        last.finalizers().into_iter().filter(|finalizer| *finalizer != FINALIZER).map(Value::from).collect();
    last.set_meta("finalizers", kept);
    write(server, last).await?;
    Ok(())
}

fn current(server: &ServerState, name: &str) -> Option<Value> {
    let definition = server.lookup.get(GROUP, PLURAL, "", name)?.value();
    (definition.is_deleting() && definition.finalizers().contains(&FINALIZER)).then_some(definition)
}

/// Returns when no instance is left. Those with finalizers of their own go when others
/// remove them; every change that is applied is a reason to look again.
async fn delete_instances(server: &Arc<ServerState>, name: &str, row: &Arc<Row>) -> Result<(), Status> {
    let cache = &server.registry.cache;
    let mut applied = cache.subscribe_applied();
    let mut stopped = server.stop.subscribe();
    loop {
        applied.mark_unchanged();
        let Some(stock) = cache.stock(row) else { return Ok(()) };
        let left = stock.list(stock.prefix()).objects;
        if left.is_empty() {
            return Ok(());
        }
        let deletions: Vec<_> =
            left.into_iter().map(|object| delete_one(server.clone(), row.clone(), object)).collect();
        let outcomes: Vec<Result<(), Status>> = stream::iter(deletions).buffer_unordered(AT_ONCE).collect().await;
        if let Some(Err(failure)) = outcomes.into_iter().find(Result::is_err) {
            let text = format!("could not issue all deletes: {}", failure.message);
            report(server, name, "InstanceDeletionFailed", text).await?;
            return Err(failure);
        }
        tokio::select! {
            changed = applied.changed() => if changed.is_err() { return Ok(()) },
            _ = stopped.changed() => return Ok(()),
            () = tokio::time::sleep(PATIENCE) => {
                let text = "could not confirm zero CustomResources remaining: context deadline exceeded";
                report(server, name, "InstanceDeletionCheck", text.to_owned()).await?;
                return Err(Status::service_unavailable(text));
            }
        }
    }
}

async fn delete_one(server: Arc<ServerState>, row: Arc<Row>, object: Arc<Stored>) -> Result<(), Status> {
    // What waits for its finalizers has been deleted already.
    if object.value().is_deleting() {
        return Ok(());
    }
    server.registry.clone().delete_stored(row, object, DeleteOptions::default(), Caller::server()).await
}

async fn report(server: &ServerState, name: &str, reason: &'static str, text: String) -> Result<(), Status> {
    if let Some(definition) = current(server, name) {
        write_condition(server, definition, &Condition::new("Terminating", "True", reason, text)).await?;
    }
    Ok(())
}
