//! The loop that follows every definition: accepts its names, serves its rows, reports it
//! established, and lets it go when its instances are gone. Level-triggered: each turn reads
//! the definition as it is and narrows the gap; its own writes bring it round again.

use super::conditions::{Condition, plan_established, plan_status, set_condition};
use super::serving::Serving;
use super::{FINALIZER, GROUP, PLURAL, finalizer};
use crate::controlplane::{Action, Key, ServerController, WorkQueue};
use crate::registry::{Caller, IfAbsent, Part, Target, Tracking};
use crate::{Error, ServerState};
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_resources::Row;
use ferry_resources::custom_resource::is_true;
use ferry_resources::read::Read;
use jiff::Timestamp;
use serde_json::Value;
use std::sync::Arc;

pub(super) struct DefinitionController {
    pub(super) serving: Arc<Serving>,
    queue: WorkQueue,
    /// Definitions that are being deleted, whose instances must go first.
    finalizing: WorkQueue,
}

/// Serves the definitions that are in the store, then follows them until the server goes.
pub(crate) async fn start(server: &Arc<ServerState>) -> Result<(), Error> {
    if row(server).is_none() {
        return Ok(());
    }
    let queue = server.controllers.queue_of::<DefinitionController>();
    let serving = Arc::<Serving>::default();
    let finalizing = finalizer::start(server, serving.clone());
    let controller = Arc::new(DefinitionController { serving, queue: queue.clone(), finalizing });
    // A restarted server must not deny what it served before, not even for a moment.
    for stored in server.lookup.list(GROUP, PLURAL, None) {
        let definition = stored.value();
        if is_served(&definition)
            && let Err(status) = controller.serving.serve(server, &definition).await
        {
            tracing::error!(definition = definition.name(), error = status.message, "a definition cannot be served");
        }
    }
    server.enqueue_changes(GROUP, PLURAL, &queue);
    server.run_controller(controller, &queue);
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

impl ServerController for DefinitionController {
    const NAME: &'static str = "crd_naming_condition_controller";

    async fn reconcile(&self, server: &Arc<ServerState>, key: &Key) -> Result<Action, Status> {
        let name = &key.name;
        let Some(stored) = server.lookup.get(GROUP, PLURAL, "", name) else {
            self.serving.stop(server, name);
            self.reconsider_group(server, name);
            return Ok(Action::Done);
        };
        let definition = stored.value();
        let now = Timestamp::now();
        if let Some(planned) = plan_status(&definition, &group_of(server, &definition), now) {
            write(server, planned).await?;
            self.reconsider_group(server, name);
            return Ok(Action::Done);
        }
        if is_served(&definition) {
            self.serving.serve(server, &definition).await?;
        } else {
            self.serving.stop(server, name);
        }
        if let Some(condition) = plan_established(&definition) {
            write_condition(server, definition, &condition).await?;
        } else if definition.is_deleting() && definition.finalizers().contains(&FINALIZER) {
            self.finalizing.add(key.clone());
        }
        Ok(Action::Done)
    }
}

impl DefinitionController {
    /// A name that became free may be what another definition of the group waits for.
    fn reconsider_group(&self, server: &ServerState, name: &str) {
        let group = name.split_once('.').map_or("", |(_, group)| group);
        for other in server.lookup.list(GROUP, PLURAL, None) {
            if other.name() != name && other.name().split_once('.').is_some_and(|(_, own)| own == group) {
                self.queue.add(Key::new("", other.name()));
            }
        }
    }
}

pub(super) async fn write_condition(
    server: &ServerState,
    mut definition: Value,
    condition: &Condition,
) -> Result<Option<Value>, Status> {
    set_condition(&mut definition, condition, Timestamp::now());
    write(server, definition).await
}

/// Writes the status of a definition over the very version it was planned from. `None`
/// when that is no longer there: the change that replaced it has its own turn.
pub(super) async fn write(server: &ServerState, definition: Value) -> Result<Option<Value>, Status> {
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

/// The other definitions of the same group.
fn group_of(server: &ServerState, definition: &Value) -> Vec<Value> {
    let group = definition.field("spec").text("group");
    let suffix = format!(".{group}");
    let others = server.lookup.list(GROUP, PLURAL, None);
    let others = others.iter().filter(|other| other.name() != definition.name() && other.name().ends_with(&suffix));
    others.map(|other| other.value()).filter(|other| other.field("spec").text("group") == group).collect()
}
