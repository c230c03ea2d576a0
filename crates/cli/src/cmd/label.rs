//! `kubectl label` and `kubectl annotate`: keys of metadata set with `key=value` and removed
//! with `key-`.

use super::write::{self, Errors, WriteFlags};
use crate::builder::files::FileFlags;
use crate::builder::{Choice, Info, Selectors};
use crate::error::{CliError, Result};
use crate::session::Session;
use clap::Args;
use serde_json::{Map, Value, json};

/// Update the labels or annotations on a resource
#[derive(Args, Debug)]
pub(crate) struct LabelArgs {
    /// TYPE NAME KEY=VALUE … KEY-
    pub args: Vec<String>,
    #[command(flatten)]
    pub files: FileFlags,
    #[command(flatten)]
    pub write: WriteFlags,
    /// If true, allow values to be overwritten, otherwise reject updates that overwrite existing ones
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub overwrite: bool,
    /// Select all resources, in the namespace of the specified resource types
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub all: bool,
    /// If true, check the specified action in all namespaces
    #[arg(short = 'A', long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub all_namespaces: bool,
    /// Selector (label query) to filter on
    #[arg(short = 'l', long)]
    pub selector: Option<String>,
    /// Selector (field query) to filter on
    #[arg(long)]
    pub field_selector: Option<String>,
    /// If true, display the labels or annotations for a given resource
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub list: bool,
    /// If non-empty, the update will only succeed if this is the current resource-version for the object
    #[arg(long)]
    pub resource_version: Option<String>,
    /// Name of the manager used to track field ownership
    #[arg(long)]
    pub field_manager: Option<String>,
}

/// The map of metadata that a verb changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetadataMap {
    Labels,
    Annotations,
}

impl MetadataMap {
    fn field(self) -> &'static str {
        match self {
            Self::Labels => "labels",
            Self::Annotations => "annotations",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Labels => "label",
            Self::Annotations => "annotation",
        }
    }
}

/// `key=value` sets, `key-` removes.
#[derive(Debug, Default, PartialEq)]
struct Changes {
    set: Vec<(String, String)>,
    removed: Vec<String>,
}

pub(crate) async fn run(args: LabelArgs, session: &Session, map: MetadataMap) -> Result<()> {
    let is_change = |arg: &String| arg.contains('=') || arg.ends_with('-');
    let at = args.args.iter().position(is_change).unwrap_or(args.args.len());
    let (resources, changes) = args.args.split_at(at);
    if resources.is_empty() && args.files.is_empty() {
        return Err("one or more resources must be specified as <resource> <name> or <resource>/<name>".into());
    }
    let changes = parse(changes, map)?;
    if changes == Changes::default() && !args.list {
        return Err(format!("at least one {} update is required", map.word()).into());
    }
    let choice = Choice {
        args: resources.to_vec(),
        files: args.files.clone(),
        selectors: Selectors { labels: args.selector.clone(), fields: args.field_selector.clone() },
        is_all: args.all,
        all_namespaces: args.all_namespaces,
    };
    let mut printer = args.write.printer()?;
    let mut errors = Errors::default();
    for info in choice.existing(session).await? {
        if changes == Changes::default() {
            print_list(session, &info, map)?;
            continue;
        }
        match change(session, &args, &info, &changes, map).await {
            Ok((object, operation)) => printer.print(session, &info.target, &object, operation)?,
            Err(error) => errors.add(session, error),
        }
    }
    errors.finish()
}

fn parse(texts: &[String], map: MetadataMap) -> Result<Changes> {
    let mut changes = Changes::default();
    for text in texts {
        match text.split_once('=') {
            Some((key, value)) => {
                if map == MetadataMap::Labels {
                    if value.contains('=') {
                        return Err(format!("invalid label spec: {text}").into());
                    }
                    let wrong = ferry_api::selector::label_value_errors(value);
                    if !wrong.is_empty() {
                        return Err(format!("invalid label value: {text:?}: {}", wrong.join(";")).into());
                    }
                }
                changes.set.push((key.to_owned(), value.to_owned()));
            }
            None => match text.strip_suffix('-') {
                Some(key) if !key.is_empty() => changes.removed.push(key.to_owned()),
                _ => return Err(format!("unknown {} spec: {text}", map.word()).into()),
            },
        }
    }
    if let Some((key, _)) = changes.set.iter().find(|(key, _)| changes.removed.contains(key)) {
        return Err(format!("can not both modify and remove a {} in the same command: {key}", map.word()).into());
    }
    Ok(changes)
}

fn entries(info: &Info, map: MetadataMap) -> Map<String, Value> {
    info.object.pointer(&format!("/metadata/{}", map.field())).and_then(Value::as_object).cloned().unwrap_or_default()
}

fn print_list(session: &Session, info: &Info, map: MetadataMap) -> Result<()> {
    let lines: String = entries(info, map)
        .iter()
        .map(|(key, value)| format!("{key}={}\n", value.as_str().unwrap_or_default()))
        .collect();
    session.print(&lines)
}

async fn change(
    session: &Session,
    args: &LabelArgs,
    info: &Info,
    changes: &Changes,
    map: MetadataMap,
) -> Result<(Value, &'static str)> {
    let before = entries(info, map);
    let mut patch = Map::new();
    for (key, value) in &changes.set {
        let present = before.get(key).and_then(Value::as_str);
        if let Some(present) = present.filter(|present| !args.overwrite && present != value) {
            return Err(match map {
                MetadataMap::Labels => {
                    CliError::Message(format!("'{key}' already has a value ({present}), and --overwrite is false"))
                }
                MetadataMap::Annotations => CliError::Message(format!(
                    "--overwrite is false but found the following declared annotation(s): '{key}' already has a value ({present})"
                )),
            });
        }
        if present != Some(value) {
            patch.insert(key.clone(), value.as_str().into());
        }
    }
    for key in &changes.removed {
        match before.contains_key(key) {
            true => {
                patch.insert(key.clone(), Value::Null);
            }
            false if map == MetadataMap::Labels => session.print(&format!("label \"{key}\" not found.\n"))?,
            false => {}
        }
    }
    let (sets, removes) = (patch.values().any(Value::is_string), patch.values().any(Value::is_null));
    let operation = match (map, sets, removes) {
        (MetadataMap::Annotations, ..) => "annotated",
        (_, false, true) => "unlabeled",
        (_, true, _) => "labeled",
        (_, false, false) => "not labeled",
    };
    if patch.is_empty() || args.write.is_client() {
        return Ok((info.object.clone(), operation));
    }
    let mut body = json!({ "metadata": { map.field(): patch } });
    if let Some(revision) = &args.resource_version {
        body["metadata"]["resourceVersion"] = revision.as_str().into();
    }
    let manager = args
        .field_manager
        .clone()
        .unwrap_or_else(|| format!("kubectl-{}", if map == MetadataMap::Labels { "label" } else { "annotate" }));
    let query = args.write.query(Some(&manager));
    let object = write::patch(session, &info.target, None, write::MERGE, &body, query).await?;
    Ok((object, operation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_set_and_remove_keys() {
        let read = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            parse(&texts, MetadataMap::Labels).map_err(|error| error.render())
        };
        let changes = read(&["a=b", "c-"]).expect("read");
        assert_eq!(changes, Changes { set: vec![("a".into(), "b".into())], removed: vec!["c".into()] });
        assert_eq!(
            read(&["a=b", "a-"]),
            Err("error: can not both modify and remove a label in the same command: a".into())
        );
        assert_eq!(read(&["-"]), Err("error: unknown label spec: -".into()));
        assert!(read(&["a=b c"]).is_err_and(|error| error.starts_with("error: invalid label value: \"a=b c\": ")));
    }
}
