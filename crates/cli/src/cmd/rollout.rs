//! `kubectl rollout`: status, history, undo, restart, pause and resume of Deployments,
//! DaemonSets and StatefulSets.

mod history;
mod status;

use super::write::{self, Errors, WriteFlags};
use crate::builder::files::FileFlags;
use crate::builder::{Choice, Info, Selectors};
use crate::error::Result;
use crate::session::Session;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Manage the rollout of one or many resources
#[derive(Args, Debug)]
pub(crate) struct RolloutArgs {
    #[command(subcommand)]
    pub verb: RolloutVerb,
}

#[derive(Subcommand, Debug)]
pub(crate) enum RolloutVerb {
    /// Show the status of the rollout
    Status(status::StatusArgs),
    /// View rollout history
    History(history::HistoryArgs),
    /// Undo a previous rollout
    Undo(history::UndoArgs),
    /// Restart a resource
    Restart(ChangeArgs),
    /// Mark the provided resource as paused
    Pause(ChangeArgs),
    /// Resume a paused resource
    Resume(ChangeArgs),
}

/// The objects that a rollout's verb is about.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RolloutChoice {
    /// TYPE NAME | TYPE/NAME
    pub args: Vec<String>,
    #[command(flatten)]
    pub files: FileFlags,
    /// Selector (label query) to filter on
    #[arg(short = 'l', long)]
    pub selector: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ChangeArgs {
    #[command(flatten)]
    pub choice: RolloutChoice,
    #[command(flatten)]
    pub write: WriteFlags,
    /// Name of the manager used to track field ownership
    #[arg(long, default_value = "kubectl-rollout")]
    pub field_manager: String,
}

impl RolloutChoice {
    pub(crate) async fn infos(&self, session: &Session) -> Result<Vec<Info>> {
        if self.args.is_empty() && self.files.is_empty() {
            return Err("required resource not specified".into());
        }
        let choice = Choice {
            args: self.args.clone(),
            files: self.files.clone(),
            selectors: Selectors { labels: self.selector.clone(), fields: None },
            is_all: true,
            all_namespaces: false,
        };
        choice.existing(session).await
    }
}

pub(crate) async fn run(args: RolloutArgs, session: &Session) -> Result<()> {
    match args.verb {
        RolloutVerb::Status(args) => status::run(args, session).await,
        RolloutVerb::History(args) => history::history(args, session).await,
        RolloutVerb::Undo(args) => history::undo(args, session).await,
        RolloutVerb::Restart(args) => change(session, &args, "restarted", restart).await,
        RolloutVerb::Pause(args) => change(session, &args, "paused", |info| pause(info, true)).await,
        RolloutVerb::Resume(args) => change(session, &args, "resumed", |info| pause(info, false)).await,
    }
}

async fn change(
    session: &Session,
    args: &ChangeArgs,
    operation: &str,
    plan: impl Fn(&Info) -> Result<Value>,
) -> Result<()> {
    let mut printer = args.write.printer()?;
    let mut errors = Errors::default();
    for info in args.choice.infos(session).await? {
        let done = async {
            let patch = plan(&info)?;
            match args.write.is_client() {
                true => Ok(info.object.clone()),
                false => {
                    let query = args.write.query(Some(&args.field_manager));
                    write::patch(session, &info.target, None, write::STRATEGIC, &patch, query).await
                }
            }
        };
        match done.await {
            Ok(object) => printer.print(session, &info.target, &object, operation)?,
            Err(error) => errors.add(session, error),
        }
    }
    errors.finish()
}

fn is_workload(info: &Info) -> bool {
    info.target.resource.group == "apps" && matches!(info.kind(), "Deployment" | "DaemonSet" | "StatefulSet")
}

fn restart(info: &Info) -> Result<Value> {
    if !is_workload(info) {
        return Err(format!("{} restarting is not supported", info.target.resource.group_resource()).into());
    }
    if info.kind() == "Deployment" && info.object.pointer("/spec/paused") == Some(&Value::Bool(true)) {
        return Err("can't restart paused deployment (run rollout resume first)".into());
    }
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    Ok(json!({"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": now}}}}}))
}

fn pause(info: &Info, is_paused: bool) -> Result<Value> {
    let verb = if is_paused { "pausing" } else { "resuming" };
    if info.kind() != "Deployment" {
        return Err(format!("{} {verb} is not supported", info.target.resource.group_resource()).into());
    }
    let now = info.object.pointer("/spec/paused").and_then(Value::as_bool).unwrap_or(false);
    if now == is_paused {
        let state = if is_paused { "already paused" } else { "not paused" };
        return Err(format!("deployments.apps \"{}\" is {state}", info.name()).into());
    }
    Ok(json!({"spec": {"paused": is_paused.then_some(true)}}))
}
