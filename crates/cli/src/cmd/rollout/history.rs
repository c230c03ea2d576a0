//! `rollout history` and `rollout undo`: revisions of a Deployment are its ReplicaSets, those
//! of a DaemonSet and a StatefulSet are ControllerRevisions.

use super::RolloutChoice;
use crate::builder::{Info, Selectors, Target, list};
use crate::cmd::logs::selector_of;
use crate::cmd::write::{self, WriteFlags};
use crate::error::Result;
use crate::print::columns::Columns;
use crate::session::Session;
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Args, Debug)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    choice: RolloutChoice,
    /// See the details, including podTemplate of the revision specified
    #[arg(long, default_value_t = 0)]
    revision: i64,
    #[command(flatten)]
    output: crate::print::OutputFlags,
}

#[derive(Args, Debug)]
pub(crate) struct UndoArgs {
    #[command(flatten)]
    choice: RolloutChoice,
    #[command(flatten)]
    write: WriteFlags,
    /// The revision to rollback to. Default to 0 (last revision)
    #[arg(long, default_value_t = 0)]
    to_revision: i64,
}

const REVISION: &str = "deployment.kubernetes.io/revision";
const CAUSE: &str = "kubernetes.io/change-cause";

/// The objects that hold the revisions, by number.
async fn revisions(session: &Session, info: &Info) -> Result<BTreeMap<i64, Value>> {
    let word = match info.kind() {
        "Deployment" => "replicasets.apps",
        "DaemonSet" | "StatefulSet" => "controllerrevisions.apps",
        other => return Err(format!("no history viewer has been implemented for \"{other}\"").into()),
    };
    let resource = session.discovery().await?.resolve(word)?.clone();
    let collection = Target { resource, namespace: info.target.namespace.clone(), name: None };
    let selectors = Selectors { labels: selector_of(&info.object), fields: None };
    let uid = info.object.pointer("/metadata/uid");
    let is_owned = |object: &Value| {
        let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
        owners.into_iter().flatten().any(|owner| owner["controller"] == true && Some(&owner["uid"]) == uid)
    };
    let found = list(session, &collection, &selectors).await?.into_iter().map(|found| found.object).filter(is_owned);
    Ok(found
        .filter_map(|object| {
            let number = match object.get("revision").and_then(Value::as_i64) {
                Some(number) => number,
                None => object.pointer("/metadata/annotations")?.get(REVISION)?.as_str()?.parse().ok()?,
            };
            Some((number, object))
        })
        .collect())
}

pub(super) async fn history(args: HistoryArgs, session: &Session) -> Result<()> {
    for info in args.choice.infos(session).await? {
        let revisions = revisions(session, &info).await?;
        if let Some(format) = args.output.format()? {
            let mut printer = crate::print::Printer::new(format, &args.output);
            let chosen = match args.revision {
                0 => revisions.values().next_back(),
                number => revisions.get(&number),
            };
            if let Some(object) = chosen {
                session.print(&printer.render(object)?)?;
            }
            continue;
        }
        let name = format!("{} ", info.target.printed_name());
        if args.revision > 0 {
            let Some(object) = revisions.get(&args.revision) else {
                return Err(format!("unable to find the specified revision: {}", args.revision).into());
            };
            let template = object.pointer("/spec/template").or_else(|| object.pointer("/data/spec/template"));
            session.print(&format!("{name}with revision #{}\n", args.revision))?;
            session.print(&crate::describe::pod_template(template.unwrap_or(&Value::Null)))?;
            continue;
        }
        let mut columns = Columns::default();
        columns.row(["REVISION", "CHANGE-CAUSE"]);
        for (number, object) in &revisions {
            let cause = object.pointer("/metadata/annotations").and_then(|a| a.get(CAUSE)).and_then(Value::as_str);
            columns.row([number.to_string(), cause.filter(|c| !c.is_empty()).unwrap_or("<none>").to_owned()]);
        }
        session.print(&format!("{name}\n{}\n", columns.take()))?;
    }
    Ok(())
}

pub(super) async fn undo(args: UndoArgs, session: &Session) -> Result<()> {
    let mut printer = args.write.printer()?;
    for info in args.choice.infos(session).await? {
        if info.object.pointer("/spec/paused") == Some(&Value::Bool(true)) {
            return Err(format!("you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume deployment/{}' and try again", info.name()).into());
        }
        let revisions = revisions(session, &info).await?;
        let chosen = match args.to_revision {
            0 => revisions.iter().rev().nth(1),
            number => revisions.iter().find(|(own, _)| **own == number),
        };
        let Some((_, object)) = chosen else {
            return Err(match args.to_revision {
                0 => {
                    format!("no rollout history found for {} \"{}\"", info.target.resource.singular, info.name()).into()
                }
                number => format!("unable to find specified revision {number} in history").into(),
            });
        };
        let (content_type, patch) = undo_patch(&info, object);
        if is_there(&info.object, &patch) {
            printer.print(
                session,
                &info.target,
                &info.object,
                &format!("skipped rollback (current template already matches revision {})", args.to_revision),
            )?;
            continue;
        }
        let object = match args.write.is_client() {
            true => info.object.clone(),
            false => {
                let query = args.write.query(Some("kubectl-rollout"));
                write::patch(session, &info.target, None, content_type, &patch, query).await?
            }
        };
        printer.print(session, &info.target, &object, "rolled back")?;
    }
    Ok(())
}

/// The change that brings the template of a revision back.
fn undo_patch(info: &Info, revision: &Value) -> (&'static str, Value) {
    if info.kind() != "Deployment" {
        // A ControllerRevision's data is the patch.
        return (write::STRATEGIC, revision.get("data").cloned().unwrap_or_default());
    }
    let mut template = revision.pointer("/spec/template").cloned().unwrap_or_default();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove("pod-template-hash");
    }
    (write::JSON_PATCH, json!([{ "op": "replace", "path": "/spec/template", "value": template }]))
}

fn is_there(object: &Value, patch: &Value) -> bool {
    match patch.pointer("/0/value") {
        Some(template) => object.pointer("/spec/template") == Some(template),
        None => patch.pointer("/spec/template").is_some_and(|template| {
            let mut template = template.clone();
            if let Some(map) = template.as_object_mut() {
                map.remove("$patch");
            }
            object.pointer("/spec/template") == Some(&template)
        }),
    }
}
