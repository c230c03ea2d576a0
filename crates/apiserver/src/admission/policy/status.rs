//! The findings of type checking, applied to a policy's status: upstream's
//! validatingadmissionpolicy-status controller. It is part of the API server here, because the
//! schemas are, and writes with the rights of the role that upstream's has.

use super::source::GROUP;
use super::type_check::compute_warnings;
use crate::ServerState;
use crate::controlplane::loopback::{Loopback, PatchType};
use crate::controlplane::{Action, Key, ServerController};
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_resources::read::Read;
use serde_json::{Map, Value, json};
use std::sync::Arc;

const PLURAL: &str = "validatingadmissionpolicies";
const LOOPBACK: Loopback =
    Loopback { manager: "validatingadmissionpolicy-status", account: "validatingadmissionpolicy-status-controller" };

struct PolicyStatus;

/// Ends with the server.
pub(crate) fn start(server: &Arc<ServerState>) {
    let queue = server.controllers.queue_of::<PolicyStatus>();
    server.enqueue_changes(GROUP, PLURAL, &queue);
    server.run_controller(Arc::new(PolicyStatus), &queue);
}

impl ServerController for PolicyStatus {
    const NAME: &'static str = "validatingadmissionpolicy-status";

    async fn reconcile(&self, server: &Arc<ServerState>, key: &Key) -> Result<Action, Status> {
        let Some(stored) = server.lookup.get(GROUP, PLURAL, "", &key.name) else { return Ok(Action::Done) };
        let policy = stored.value();
        if policy.generation() <= policy.field("status").int("observedGeneration") {
            return Ok(Action::Done);
        }
        let status = render_status(&policy, compute_warnings(&policy, &server.registry.rows));
        let path = format!("/apis/{}/{PLURAL}/{}/status", policy.text("apiVersion"), key.name);
        match LOOPBACK.patch(server, &path, PatchType::Apply, &status).await {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(Action::Done),
        }
    }
}

/// What is applied to the status: that the generation was looked at, and what was found.
/// That there is a `typeChecking` at all tells that it is done.
fn render_status(policy: &Value, warnings: Vec<Value>) -> Value {
    let mut type_checking = Map::new();
    if !warnings.is_empty() {
        type_checking.insert("expressionWarnings".to_owned(), warnings.into());
    }
    json!({
        "apiVersion": policy.text("apiVersion"), "kind": policy.text("kind"),
        "metadata": {"name": policy.name()},
        "status": {"observedGeneration": policy.generation(), "typeChecking": type_checking},
    })
}
