//! `kubectl patch`: a JSON, merge or strategic merge patch of objects.

use super::write::{self, Errors, WriteFlags};
use crate::builder::files::FileFlags;
use crate::builder::{Choice, Selectors};
use crate::error::Result;
use crate::session::Session;
use clap::Args;
use ferry_api::gvk::GroupVersion;
use serde_json::Value;
use std::path::PathBuf;

/// Update fields of a resource
#[derive(Args, Debug)]
pub(crate) struct PatchArgs {
    /// TYPE NAME | TYPE/NAME
    pub args: Vec<String>,
    #[command(flatten)]
    pub files: FileFlags,
    #[command(flatten)]
    pub write: WriteFlags,
    /// The patch to be applied to the resource JSON file
    #[arg(short, long)]
    pub patch: Option<String>,
    /// A file containing a patch to be applied to the resource
    #[arg(long)]
    pub patch_file: Option<PathBuf>,
    /// The type of patch being provided; one of [json merge strategic]
    #[arg(long = "type", default_value = "strategic")]
    pub patch_type: String,
    /// If specified, patch will operate on the subresource of the requested object
    #[arg(long)]
    pub subresource: Option<String>,
    /// Name of the manager used to track field ownership
    #[arg(long, default_value = "kubectl-patch")]
    pub field_manager: String,
}

pub(crate) async fn run(args: PatchArgs, session: &Session) -> Result<()> {
    let content_type = match args.patch_type.to_lowercase().as_str() {
        "json" => write::JSON_PATCH,
        "merge" => write::MERGE,
        "strategic" => write::STRATEGIC,
        _ => return Err(format!("--type must be one of [json merge strategic], not {:?}", args.patch_type).into()),
    };
    let text = match (&args.patch, &args.patch_file) {
        (Some(_), Some(_)) => return Err("cannot specify --patch and --patch-file together".into()),
        (Some(text), None) if !text.is_empty() => text.clone().into_bytes(),
        (None, Some(path)) => std::fs::read(path).map_err(|error| format!("unable to read patch file: {error}"))?,
        _ => return Err("must specify --patch or --patch-file containing the contents of the patch".into()),
    };
    let documents = crate::builder::files::documents(&text, "patch")
        .map_err(|error| format!("unable to parse \"{}\": {}", String::from_utf8_lossy(&text), error.render()))?;
    let [patch] = &documents[..] else { return Err("a patch is one document".into()) };
    let choice = Choice {
        args: args.args.clone(),
        files: args.files.clone(),
        selectors: Selectors::default(),
        ..Default::default()
    };
    let mut printer = args.write.printer()?;
    let mut errors = Errors::default();
    for info in choice.existing(session).await? {
        let query = args.write.query(Some(&args.field_manager));
        let kind = GroupVersion::parse(&info.target.resource.api_version()).with_kind(info.kind().to_owned());
        let patched = match args.write.is_client() {
            true => ferry_api::schema::of_kind(&kind).map_or_else(
                || Err("--dry-run=client does not work for custom resources; use --dry-run=server".into()),
                |definition| patch_here(&info.object, patch, content_type, definition),
            ),
            false => write::patch(session, &info.target, args.subresource.as_deref(), content_type, patch, query).await,
        };
        match patched {
            Ok(object) => {
                let is_same = object.pointer("/metadata/resourceVersion")
                    == info.object.pointer("/metadata/resourceVersion")
                    && object == info.object;
                printer.print(
                    session,
                    &info.target,
                    &object,
                    if is_same { "patched (no change)" } else { "patched" },
                )?;
            }
            Err(error) => errors.add(session, error),
        }
    }
    errors.finish()
}

fn patch_here(
    object: &Value,
    patch: &Value,
    content_type: &str,
    definition: &ferry_api::schema::TypeDef,
) -> Result<Value> {
    let mut patched = object.clone();
    let done = match content_type {
        write::STRATEGIC => ferry_api::patch::strategic::apply(&mut patched, patch.clone(), definition),
        write::MERGE => ferry_api::patch::merge::apply(&mut patched, patch.clone()),
        _ => return Err("--dry-run=client does not work with --type=json; use --dry-run=server".into()),
    };
    done.map_err(|status| status.message)?;
    Ok(patched)
}
