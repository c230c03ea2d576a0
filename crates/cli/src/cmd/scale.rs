//! `kubectl scale`: the replicas of a workload, through its scale subresource.

use super::write::{self, Errors, WriteFlags};
use crate::builder::files::FileFlags;
use crate::builder::{Choice, Info, Selectors};
use crate::error::Result;
use crate::session::Session;
use clap::Args;
use ferry_client::Request;
use serde_json::{Value, json};

/// Set a new size for a deployment, replica set, or replication controller
#[derive(Args, Debug)]
pub(crate) struct ScaleArgs {
    /// TYPE NAME | TYPE/NAME …
    pub args: Vec<String>,
    #[command(flatten)]
    pub files: FileFlags,
    #[command(flatten)]
    pub write: WriteFlags,
    /// The new desired number of replicas. Required
    #[arg(long, required = true, allow_negative_numbers = true)]
    pub replicas: i32,
    /// Precondition for current size
    #[arg(long, default_value_t = -1, allow_negative_numbers = true)]
    pub current_replicas: i32,
    /// Precondition for resource version
    #[arg(long)]
    pub resource_version: Option<String>,
    /// The length of time to wait before giving up on a scale operation, zero means don't wait
    #[arg(long, default_value = "0s")]
    pub timeout: String,
    /// Selector (label query) to filter on
    #[arg(short = 'l', long)]
    pub selector: Option<String>,
    /// Select all resources in the namespace of the specified resource types
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub all: bool,
}

pub(crate) async fn run(args: ScaleArgs, session: &Session) -> Result<()> {
    let replicas = args.replicas;
    if replicas < 0 {
        return Err("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0".into());
    }
    let choice = Choice {
        args: args.args.clone(),
        files: args.files.clone(),
        selectors: Selectors { labels: args.selector.clone(), fields: None },
        is_all: args.all,
        all_namespaces: false,
    };
    let infos = choice.existing(session).await?;
    if args.resource_version.is_some() && infos.len() > 1 {
        return Err("cannot use --resource-version with multiple resources".into());
    }
    let mut printer = args.write.printer()?;
    let mut errors = Errors::default();
    for info in infos {
        match scale(session, &args, &info, replicas).await {
            Ok(()) => printer.print(session, &info.target, &info.object, "scaled")?,
            Err(error) => errors.add(session, error),
        }
    }
    errors.finish()
}

async fn scale(session: &Session, args: &ScaleArgs, info: &Info, replicas: i32) -> Result<()> {
    if args.current_replicas >= 0 {
        let scale = session.json(Request { path: info.target.subresource_url("scale"), ..Default::default() }).await?;
        let now = scale.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or_default();
        if now != i64::from(args.current_replicas) {
            return Err(format!("Expected replicas to be {}, was {now}", args.current_replicas).into());
        }
    }
    if args.write.is_client() {
        return Ok(());
    }
    let mut patch = json!({ "spec": { "replicas": replicas } });
    if let Some(revision) = &args.resource_version {
        patch["metadata"] = json!({ "resourceVersion": revision });
    }
    let query = args.write.query(Some("kubectl-scale"));
    write::patch(session, &info.target, Some("scale"), write::MERGE, &patch, query).await?;
    Ok(())
}
