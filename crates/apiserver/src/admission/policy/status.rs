//! Writes down what type checking finds: upstream's validatingadmissionpolicy-status
//! controller. It is part of the API server here, because the schemas are.

use super::source::GROUP;
use super::type_check::compute_warnings;
use crate::ServerState;
use crate::authn::UserInfo;
use crate::registry::lookup::Change;
use crate::registry::{Caller, IfAbsent, Part, Target, Tracking};
use ferry_api::object::Meta;
use ferry_api::patch::apply::{ApplyOptions, WriteOptions, apply};
use ferry_api::status::Status;
use ferry_resources::read::Read;
use ferry_resources::reset::ResetFields;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::mpsc;

const PLURAL: &str = "validatingadmissionpolicies";
const MANAGER: &str = "validatingadmissionpolicy-status";

/// After a write that failed for a reason of the store's.
const RETRY: Duration = Duration::from_secs(1);

/// Ends with the server.
pub(crate) fn start(server: &Arc<ServerState>) {
    let (changed, names) = mpsc::unbounded_channel();
    let retry = changed.clone();
    server.lookup.subscribe(
        GROUP,
        PLURAL,
        Box::new(move |change| {
            if let Change::Put(stored) = change {
                // Nobody listens only once the server has ended.
                let _ = changed.send(stored.name().to_owned());
            }
        }),
    );
    tokio::spawn(run(Arc::downgrade(server), names, retry));
}

async fn run(
    server: Weak<ServerState>,
    mut names: mpsc::UnboundedReceiver<String>,
    retry: mpsc::UnboundedSender<String>,
) {
    while let Some(first) = names.recv().await {
        let mut waiting = BTreeSet::from([first]);
        while let Ok(name) = names.try_recv() {
            waiting.insert(name);
        }
        for name in waiting {
            let Some(server) = server.upgrade() else { return };
            if let Err(error) = reconcile(&server, &name).await
                && !error.is_not_found()
            {
                tracing::warn!(policy = name, %error, "the result of type checking could not be written; trying again");
                let retry = retry.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(RETRY).await;
                    let _ = retry.send(name);
                });
            }
        }
    }
}

async fn reconcile(server: &ServerState, name: &str) -> Result<(), Status> {
    let registry = &server.registry;
    let Some(row) = registry.rows.any_version(GROUP, PLURAL) else { return Ok(()) };
    let Some(policy) = registry.current(&row, "", name).await? else { return Ok(()) };
    if policy.generation() <= policy.field("status").int("observedGeneration") {
        return Ok(());
    }
    let configuration = render_status(&policy, compute_warnings(&policy, &registry.rows));
    let user = UserInfo::service_account("kube-system", "validatingadmissionpolicy-status-controller");
    let caller = Caller {
        user: Arc::new(user),
        field_manager: MANAGER.to_owned(),
        options:
            json!({"kind": "PatchOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": MANAGER, "force": true})
                .into(),
        ..Caller::server()
    };
    let target = Target { row: &row, namespace: "", name, part: Part::Status, absent: IfAbsent::AsKind };
    let kind = row.gvk();
    let write = WriteOptions {
        manager: MANAGER,
        kind: &kind,
        subresource: "status",
        now: caller.now,
        reset_fields: row.reset_fields("status").and_then(ResetFields::set),
    };
    registry
        .update(&target, Tracking::Applied, &caller, &mut |old| {
            apply(old, &configuration, row.schema.as_deref(), &ApplyOptions { write, force: true })
        })
        .await
        .map(drop)
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
