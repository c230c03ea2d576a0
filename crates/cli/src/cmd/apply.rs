//! `kubectl apply`: objects of files brought into the cluster, by a patch made here against the
//! annotation of the last apply, or by the server (`--server-side`).

mod prune;

use super::write::{self, DryRun, Errors, LAST_APPLIED, ResultPrinter, WriteFlags, with_last_applied};
use crate::builder::files::FileFlags;
use crate::builder::{Info, infos_of_files};
use crate::error::{CliError, Result};
use crate::session::Session;
use crate::three_way::{plan_merge, plan_strategic};
use clap::Args;
use ferry_api::gvk::GroupVersion;
use serde_json::{Value, json};

/// Apply a configuration to a resource by file name or stdin
#[derive(Args, Debug)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub files: FileFlags,
    #[command(flatten)]
    pub write: WriteFlags,
    /// If true, apply runs in the server instead of the client
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub server_side: bool,
    /// If true, server-side apply will force the changes against conflicts
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub force_conflicts: bool,
    /// Name of the manager used to track field ownership
    #[arg(long)]
    pub field_manager: Option<String>,
    /// Automatically resolve conflicts between the modified and live configuration
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub overwrite: bool,
    /// Immediately remove resources from API and bypass graceful deletion, to create them anew
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub force: bool,
    /// Automatically delete resource objects that do not appear in the configs
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub prune: bool,
    /// Overwrite the default allowlist with <group/version/kind> for --prune
    #[arg(long)]
    pub prune_allowlist: Vec<String>,
    /// Select all resources in the namespace of the specified resource types
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub all: bool,
    /// Selector (label query) to filter on
    #[arg(short = 'l', long)]
    pub selector: Option<String>,
    /// Must be one of: strict, warn, ignore
    #[arg(long, num_args = 0..=1, default_value = "strict", default_missing_value = "strict", require_equals = true)]
    pub validate: String,
    /// If true, wait for resources to be gone before returning
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub wait: bool,
}

/// How often a patch is made anew when somebody else has changed the object meanwhile.
const MAX_RETRIES: u32 = 5;

pub(crate) async fn run(args: ApplyArgs, session: &Session) -> Result<()> {
    if args.files.is_empty() {
        return Err("must specify one of -f and -k".into());
    }
    if args.force_conflicts && !args.server_side {
        return Err("--force-conflicts only works with --server-side".into());
    }
    if args.server_side && args.write.is_client() {
        return Err("--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)".into());
    }
    if args.prune && args.selector.is_none() && !args.all {
        return Err("all resources selected for prune without explicitly passing --all. To prune all resources, pass the --all flag. If you did not mean to prune all resources, specify a label selector".into());
    }
    let infos = infos_of_files(session, &args.files).await?;
    let infos = selected(infos, args.selector.as_deref())?;
    if infos.is_empty() {
        return Err("no objects passed to apply".into());
    }
    let mut printer = args.write.printer()?;
    let mut errors = Errors::default();
    let mut applied = Vec::new();
    for info in infos {
        let done = match args.server_side {
            true => apply_by_server(session, &args, &info, &mut printer).await,
            false => apply_here(session, &args, &info, &mut printer).await,
        };
        match done {
            Ok(object) => applied.push((info, object)),
            Err(error) => errors.add(session, error),
        }
    }
    if args.prune {
        prune::run(session, &args, &applied, &mut printer).await?;
    }
    errors.finish()
}

fn selected(infos: Vec<Info>, selector: Option<&str>) -> Result<Vec<Info>> {
    let Some(text) = selector.filter(|text| !text.is_empty()) else { return Ok(infos) };
    let selector = ferry_api::selector::Selector::parse(text).map_err(|error| error.to_string())?;
    let fits = |info: &Info| {
        let labels = info.object.pointer("/metadata/labels").and_then(Value::as_object);
        let pairs = labels.into_iter().flatten().filter_map(|(k, v)| Some((k.as_str(), v.as_str()?)));
        selector.matches(pairs.collect::<Vec<_>>())
    };
    Ok(infos.into_iter().filter(fits).collect())
}

fn validation(args: &ApplyArgs) -> Result<(String, String)> {
    let value = match args.validate.as_str() {
        "true" | "strict" => "Strict",
        "warn" => "Warn",
        "false" | "ignore" => "Ignore",
        other => {
            return Err(format!(
                "invalid validation option {other:?}; must be one of: strict (or true), warn, ignore (or false)"
            )
            .into());
        }
    };
    Ok(("fieldValidation".into(), value.into()))
}

async fn apply_by_server(
    session: &Session,
    args: &ApplyArgs,
    info: &Info,
    printer: &mut ResultPrinter,
) -> Result<Value> {
    let manager = args.field_manager.clone().unwrap_or_else(|| "kubectl".into());
    let mut query = args.write.query(Some(&manager));
    query.push(validation(args)?);
    query.push(("force".into(), args.force_conflicts.to_string()));
    if info.target.name.is_none() {
        return Err("metadata.name is required when using server-side apply".into());
    }
    let object =
        write::patch(session, &info.target, None, write::APPLY, &info.object, query).await.map_err(explain_conflict)?;
    printer.print(session, &info.target, &object, "serverside-applied")?;
    Ok(object)
}

/// A conflict of managers, with the ways out of it.
fn explain_conflict(error: CliError) -> CliError {
    let Some(status) = error.status().filter(|status| status.is_conflict()) else { return error };
    CliError::Message(format!(
        "{}\nPlease review the fields above--they currently have other managers. Here\nare the ways you can resolve this warning:\n* If you intend to manage all of these fields, please re-run the apply\n  command with the `--force-conflicts` flag.\n* If you do not intend to manage all of the fields, please edit your\n  manifest to remove references to the fields that should keep their\n  current managers.\n* You may co-own fields by updating your manifest to match the existing\n  value; in this case, you'll become the manager if the other manager(s)\n  stop managing the field (remove it from their configuration).\nSee https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts",
        status.message
    ))
}

async fn apply_here(session: &Session, args: &ApplyArgs, info: &Info, printer: &mut ResultPrinter) -> Result<Value> {
    let target = &info.target;
    if target.name.is_none() {
        return Err(match info.object.pointer("/metadata/generateName") {
            Some(name) => {
                format!("from {}: cannot use generate name with apply", name.as_str().unwrap_or_default()).into()
            }
            None => CliError::Message(format!(
                "error when retrieving current configuration of:\nfrom server for: \"{}\": resource name may not be empty",
                info.source
            )),
        });
    }
    let manager = args.field_manager.clone().unwrap_or_else(|| "kubectl-client-side-apply".into());
    let mut query = args.write.query(Some(&manager));
    query.push(validation(args)?);
    let modified = with_last_applied(&info.object);
    let mut retries = 0;
    loop {
        let live = match write::get(session, target).await {
            Ok(live) => live,
            Err(error) if error.is_not_found() => {
                let created = match args.write.is_client() {
                    true => modified.clone(),
                    false => write::create(session, target, &modified, query.clone())
                        .await
                        .map_err(|error| about(error, "creating", info))?,
                };
                printer.print(session, target, &created, "created")?;
                return Ok(created);
            }
            Err(error) => return Err(error),
        };
        warn_of_missing_annotation(session, info, &live);
        let (content_type, patch) = plan(info, &modified, &live)?;
        if patch.as_object().is_some_and(serde_json::Map::is_empty) {
            printer.print(session, target, &live, "unchanged")?;
            return Ok(live);
        }
        if args.write.dry_run == DryRun::Client {
            printer.print(session, target, &live, "configured")?;
            return Ok(live);
        }
        match write::patch(session, target, None, content_type, &patch, query.clone()).await {
            Ok(object) => {
                printer.print(session, target, &object, "configured")?;
                return Ok(object);
            }
            Err(error) if error.is_conflict() && retries < MAX_RETRIES => retries += 1,
            Err(error)
                if args.force
                    && error.status().is_some_and(|s| matches!(s.reason.as_str(), "Invalid" | "Conflict")) =>
            {
                super::delete::delete_and_wait(session, target).await?;
                let created = write::create(session, target, &modified, query.clone())
                    .await
                    .map_err(|error| about(error, "creating", info))?;
                printer.print(session, target, &created, "configured")?;
                return Ok(created);
            }
            Err(error) => return Err(about_patch(error, &patch, info)),
        }
    }
}

/// The sentence names what was done to which file.
fn about(error: CliError, doing: &str, info: &Info) -> CliError {
    match error {
        CliError::Api(status) if status.reason != "Invalid" => {
            CliError::Plain(crate::error::render_status(&status, &format!("error when {doing} \"{}\": ", info.source)))
        }
        other => other,
    }
}

fn about_patch(error: CliError, patch: &Value, info: &Info) -> CliError {
    let text = crate::print::json::render_compact(patch);
    match error {
        CliError::Api(status) if status.reason != "Invalid" => {
            let resource = &info.target.resource;
            let gvr = format!("{}/{}, Resource={}", resource.group, resource.version, resource.plural);
            let gvk = format!("{}/{}, Kind={}", resource.group, resource.version, resource.kind);
            let about = format!(
                "error when applying patch:\n{text}\nto:\nResource: \"{gvr}\", GroupVersionKind: \"{gvk}\"\nName: \"{}\", Namespace: \"{}\"\nfor: \"{}\": error when patching \"{}\": ",
                info.name(),
                info.target.namespace,
                info.source,
                info.source
            );
            CliError::Plain(crate::error::render_status(&status, &about))
        }
        other => other,
    }
}

fn warn_of_missing_annotation(session: &Session, info: &Info, live: &Value) {
    let annotations = live.pointer("/metadata/annotations");
    if annotations.and_then(|annotations| annotations.get(LAST_APPLIED)).is_none() {
        session.note(&format!(
            "Warning: resource {}/{} is missing the {LAST_APPLIED} annotation which is required by kubectl apply. kubectl apply should only be used on resources created declaratively by either kubectl create --save-config or kubectl apply. The missing annotation will be patched automatically.",
            info.target.resource.plural, info.name()
        ));
    }
}

/// The patch with its media type: strategic for builtin kinds, merge for all others.
pub(crate) fn plan(info: &Info, modified: &Value, live: &Value) -> Result<(&'static str, Value)> {
    let text = live.pointer("/metadata/annotations").and_then(|a| a.get(LAST_APPLIED)).and_then(Value::as_str);
    let original: Value = match text {
        Some(text) => serde_json::from_str(text).map_err(|error| {
            format!("cannot read the annotation {LAST_APPLIED} of {}: {error}", info.target.printed_name())
        })?,
        None => json!({}),
    };
    let kind = GroupVersion::parse(&info.target.resource.api_version()).with_kind(info.kind().to_owned());
    Ok(match ferry_api::schema::of_kind(&kind) {
        Some(definition) => (write::STRATEGIC, plan_strategic(&original, modified, live, definition)),
        None => (write::MERGE, plan_merge(&original, modified, live)),
    })
}
