//! `kubectl delete`: by file, name, selector or all, with the wait for what is gone.

use super::write::{DryRun, Errors};
use crate::builder::files::FileFlags;
use crate::builder::{Choice, Selectors, Target, list};
use crate::error::{CliError, Result};
use crate::session::Session;
use crate::watch::Watch;
use clap::Args;
use ferry_client::Request;
use serde_json::{Value, json};
use std::time::Duration;

/// Delete resources by file names, stdin, resources and names, or by resources and label selector
#[derive(Args, Debug)]
pub(crate) struct DeleteArgs {
    /// TYPE [NAME …] | TYPE/NAME …
    pub args: Vec<String>,
    #[command(flatten)]
    pub files: FileFlags,
    /// Delete all resources, in the namespace of the specified resource types
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub all: bool,
    /// If present, list the requested object(s) across all namespaces
    #[arg(short = 'A', long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub all_namespaces: bool,
    /// Selector (label query) to filter on
    #[arg(short = 'l', long)]
    pub selector: Option<String>,
    /// Selector (field query) to filter on
    #[arg(long)]
    pub field_selector: Option<String>,
    /// Must be "background", "orphan", or "foreground"
    #[arg(long, default_value = "background", num_args = 0..=1, require_equals = true, default_missing_value = "background")]
    pub cascade: String,
    /// Period of time in seconds given to the resource to terminate gracefully
    #[arg(long, default_value_t = -1, allow_negative_numbers = true)]
    pub grace_period: i64,
    /// If true, resources are signaled for immediate shutdown
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub now: bool,
    /// If true, immediately remove resources from API and bypass graceful deletion
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub force: bool,
    /// Treat "resource not found" as a successful delete
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub ignore_not_found: bool,
    /// If true, wait for resources to be gone before returning
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub wait: bool,
    /// The length of time to wait before giving up on a delete
    #[arg(long, default_value = "0s")]
    pub timeout: String,
    /// Must be "none", "server", or "client"
    #[arg(long, value_enum, default_value = "none", num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    pub dry_run: DryRun,
    /// Output mode. Use "-o name" for shorter output (resource/name)
    #[arg(short, long)]
    pub output: Option<String>,
    /// Raw URI to DELETE to the server
    #[arg(long)]
    pub raw: Option<String>,
}

/// How one object is deleted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub grace_period: Option<i64>,
    /// `Background`, `Foreground`, `Orphan`.
    pub propagation: Option<&'static str>,
    pub dry_run: DryRun,
}

pub(crate) async fn run(args: DeleteArgs, session: &Session) -> Result<()> {
    if let Some(raw) = &args.raw {
        let request = Request { method: http::Method::DELETE, path: raw.clone(), ..Default::default() };
        return session.print_bytes(&session.bytes(request).await?);
    }
    let options = options(&args, session)?;
    let is_selected = args.selector.as_deref().is_some_and(|s| !s.is_empty()) || args.field_selector.is_some();
    if args.all && is_selected {
        return Err("cannot set --all and --selector or --field-selector at the same time".into());
    }
    if args.args.is_empty() && args.files.is_empty() {
        return Err("You must provide one or more resources by argument or filename.\nExample resource specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'".into());
    }
    let choice = Choice {
        args: args.args.clone(),
        files: args.files.clone(),
        selectors: Selectors { labels: args.selector.clone(), fields: args.field_selector.clone() },
        is_all: args.all,
        all_namespaces: args.all_namespaces,
    };
    let mut targets = Vec::new();
    for target in choice.targets(session).await? {
        match target.name {
            Some(_) => targets.push(target),
            None => {
                targets.extend(list(session, &target, &choice.selectors).await?.into_iter().map(|info| info.target))
            }
        }
    }
    // What is listed may be gone by the time it is deleted.
    let ignores_missing = args.ignore_not_found || args.all || is_selected;
    let mut errors = Errors::default();
    let mut deleted: Vec<(Target, String)> = Vec::new();
    for target in &targets {
        let answer = match options.dry_run {
            DryRun::Client => Ok(Value::Null),
            _ => delete_one(session, target, &options).await,
        };
        match answer {
            Ok(answer) => {
                print_deleted(session, &args, target)?;
                let uid = answer.pointer("/details/uid").or_else(|| answer.pointer("/metadata/uid"));
                deleted.push((target.clone(), uid.and_then(Value::as_str).unwrap_or_default().to_owned()));
            }
            Err(error) if ignores_missing && error.is_not_found() => {}
            Err(error) => errors.add(session, error),
        }
    }
    if targets.is_empty() {
        session.print("No resources found\n")?;
    }
    if args.wait && options.dry_run == DryRun::None {
        let timeout = parse_timeout(&args.timeout)?;
        for (target, uid) in &deleted {
            wait_until_gone(session, target, uid, timeout).await?;
        }
    }
    errors.finish()
}

fn options(args: &DeleteArgs, session: &Session) -> Result<Options> {
    let mut grace_period = Some(args.grace_period).filter(|seconds| *seconds >= 0);
    if args.now {
        if grace_period.is_some() {
            return Err("--now and --grace-period cannot be specified together".into());
        }
        grace_period = Some(1);
    }
    if args.force {
        match grace_period {
            Some(seconds) if seconds > 0 => {
                return Err("--force and --grace-period greater than 0 cannot be specified together".into());
            }
            _ => grace_period = Some(0),
        }
        session.note("Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.");
    } else if grace_period == Some(0) {
        // Without --force an object is not taken out of the API before its pod has ended.
        grace_period = Some(1);
    }
    let propagation = match args.cascade.as_str() {
        "background" | "true" => "Background",
        "foreground" => "Foreground",
        "orphan" | "false" => "Orphan",
        other => {
            return Err(format!(
                "invalid cascade value ({other}). Must be \"background\", \"foreground\", or \"orphan\""
            )
            .into());
        }
    };
    Ok(Options { grace_period, propagation: Some(propagation), dry_run: args.dry_run })
}

fn print_deleted(session: &Session, args: &DeleteArgs, target: &Target) -> Result<()> {
    let name = target.name.as_deref().unwrap_or_default();
    if args.output.as_deref() == Some("name") {
        return session.print(&format!("{}\n", target.printed_name()));
    }
    let verb = if args.force { "force deleted" } else { "deleted" };
    let namespace = match target.namespace.as_str() {
        "" => String::new(),
        namespace => format!(" from {namespace} namespace"),
    };
    let suffix = match args.dry_run {
        DryRun::None => "",
        DryRun::Client => " (dry run)",
        DryRun::Server => " (server dry run)",
    };
    session.print(&format!("{} \"{name}\" {verb}{namespace}{suffix}\n", target.resource.singular_with_group()))
}

pub(crate) async fn delete_one(session: &Session, target: &Target, options: &Options) -> Result<Value> {
    let mut body = json!({ "apiVersion": "v1", "kind": "DeleteOptions" });
    if let Some(seconds) = options.grace_period {
        body["gracePeriodSeconds"] = seconds.into();
    }
    if let Some(policy) = options.propagation {
        body["propagationPolicy"] = policy.into();
    }
    if options.dry_run == DryRun::Server {
        body["dryRun"] = json!(["All"]);
    }
    let request = Request {
        method: http::Method::DELETE,
        path: target.url(),
        body: Some(body.to_string().into_bytes()),
        ..Default::default()
    };
    session.json(request).await
}

/// Deletes at once and returns when the object is gone.
pub(crate) async fn delete_and_wait(session: &Session, target: &Target) -> Result<()> {
    let options = Options { grace_period: Some(0), propagation: Some("Background"), ..Default::default() };
    let answer = delete_one(session, target, &options).await?;
    let uid = answer.pointer("/details/uid").and_then(Value::as_str).unwrap_or_default().to_owned();
    wait_until_gone(session, target, &uid, None).await
}

/// `None`: a week, as upstream waits.
pub(crate) fn parse_timeout(text: &str) -> Result<Option<Duration>> {
    let timeout = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => ferry_api::rules::duration::parse(text).map_err(|error| {
            CliError::Message(format!("invalid argument \"{text}\" for \"--timeout\" flag: {error}"))
        })?,
    };
    Ok(Some(timeout).filter(|timeout| !timeout.is_zero()))
}

/// Returns when the object with this uid is not there any more.
pub(crate) async fn wait_until_gone(
    session: &Session,
    target: &Target,
    uid: &str,
    timeout: Option<Duration>,
) -> Result<()> {
    let is_other =
        |object: &Value| !uid.is_empty() && object.pointer("/metadata/uid").and_then(Value::as_str) != Some(uid);
    let gone = async {
        loop {
            let object = match super::write::get(session, target).await {
                Ok(object) if is_other(&object) => return Ok(()),
                Ok(object) => object,
                Err(error) if error.is_not_found() => return Ok(()),
                Err(error) => return Err(error),
            };
            let revision = object.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default();
            let collection = Target { name: None, ..target.clone() };
            let name = target.name.as_deref().unwrap_or_default();
            let query = vec![("fieldSelector".to_owned(), format!("metadata.name={name}"))];
            let mut watch = match Watch::open(session, collection.url(), query, revision, None).await {
                Ok(watch) => watch,
                // The revision may be compacted by now: the next read decides.
                Err(CliError::Api(status)) if status.code == 410 => continue,
                Err(error) => return Err(error),
            };
            while let Ok(Some(event)) = watch.next().await {
                if event.event_type == "DELETED" || is_other(&event.object) {
                    return Ok(());
                }
            }
        }
    };
    match timeout {
        None => gone.await,
        Some(timeout) => tokio::time::timeout(timeout, gone).await.unwrap_or_else(|_| {
            Err(format!(
                "timed out waiting for the condition on {}/{}",
                target.resource.plural,
                target.name.as_deref().unwrap_or_default()
            )
            .into())
        }),
    }
}
