//! Objects from files, folders and standard input, for every command with `-f`.

use crate::error::{CliError, Result};
use crate::session::Session;
use clap::Args;
use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The flags that name files.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FileFlags {
    /// Filename, directory, or - for standard input
    #[arg(short, long = "filename", value_name = "FILE", value_delimiter = ',')]
    pub filename: Vec<String>,
    /// Process the directory used in -f recursively
    #[arg(short = 'R', long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub recursive: bool,
    /// Process the kustomization directory
    #[arg(short, long, value_name = "DIR")]
    pub kustomize: Option<String>,
}

impl FileFlags {
    pub(crate) fn is_empty(&self) -> bool {
        self.filename.is_empty() && self.kustomize.is_none()
    }
}

/// An object with the place that it was read from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SourcedObject {
    pub object: Value,
    /// `web.yaml`, `STDIN`.
    pub source: String,
}

/// All objects in order; lists are taken apart.
pub(crate) fn read(session: &Session, flags: &FileFlags) -> Result<Vec<SourcedObject>> {
    if flags.kustomize.is_some() && !flags.filename.is_empty() {
        return Err("only one of -f or -k can be specified".into());
    }
    let mut objects = Vec::new();
    if let Some(dir) = &flags.kustomize {
        let built = crate::kustomize::build(Path::new(dir))?;
        objects.extend(built.into_iter().map(|object| SourcedObject { object, source: dir.clone() }));
    }
    for name in &flags.filename {
        if name == "-" {
            add_text(&session.read_input()?, "STDIN", &mut objects)?;
        } else if name.starts_with("http://") || name.starts_with("https://") {
            return Err(
                format!("{name}: files are not fetched from other machines; download it and name the file").into()
            );
        } else {
            for path in paths(name, flags.recursive)? {
                let text = std::fs::read(&path)
                    .map_err(|error| CliError::Message(format!("open {}: {}", path.display(), io_reason(&error))))?;
                add_text(&text, &path.display().to_string(), &mut objects)?;
            }
        }
    }
    Ok(objects)
}

fn io_reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file or directory".into(),
        std::io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => error.to_string(),
    }
}

/// The file itself, or the manifests of a folder by name.
fn paths(name: &str, is_recursive: bool) -> Result<Vec<PathBuf>> {
    let path = Path::new(name);
    if !path.exists() {
        return Err(format!("the path \"{name}\" does not exist").into());
    }
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    list_folder(path, is_recursive, &mut found)?;
    if found.is_empty() {
        return Err(format!("error reading [{name}]: recognized file extensions are [.json .yaml .yml]").into());
    }
    Ok(found)
}

fn list_folder(folder: &Path, is_recursive: bool, found: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)?
        .collect::<std::io::Result<Vec<_>>>()?
        .into_iter()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            if is_recursive {
                list_folder(&entry, is_recursive, found)?;
            }
        } else if entry.extension().is_some_and(|ending| matches!(ending.to_str(), Some("json" | "yaml" | "yml"))) {
            found.push(entry);
        }
    }
    Ok(())
}

/// The objects of a YAML or JSON text of any number of documents.
fn add_text(text: &[u8], source: &str, objects: &mut Vec<SourcedObject>) -> Result<()> {
    for document in documents(text, source)? {
        add_object(document, source, objects)?;
    }
    Ok(())
}

fn add_object(object: Value, source: &str, objects: &mut Vec<SourcedObject>) -> Result<()> {
    if object.is_null() {
        return Ok(());
    }
    let text = |key: &str| object.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (kind, version) = (text("kind"), text("apiVersion"));
    let shown = crate::print::json::render_compact(&object);
    let Some(kind) = kind else {
        return Err(format!("unable to decode \"{source}\": Object 'Kind' is missing in '{shown}'").into());
    };
    if version.is_none() {
        return Err(format!("unable to decode \"{source}\": Object 'apiVersion' is missing in '{shown}'").into());
    }
    match object.get("items").and_then(Value::as_array) {
        Some(items) if kind.ends_with("List") => {
            for item in items {
                add_object(item.clone(), source, objects)?;
            }
        }
        _ => objects.push(SourcedObject { object, source: source.to_owned() }),
    }
    Ok(())
}

/// Every document of a YAML stream as JSON; keys that stand twice are an error.
pub(crate) fn documents(text: &[u8], source: &str) -> Result<Vec<Value>> {
    let wrong = |message: String| CliError::Message(format!("error parsing {source}: {message}"));
    let text = std::str::from_utf8(text).map_err(|error| wrong(error.to_string()))?;
    // JSON documents may follow each other without a separator.
    if text.trim_start().starts_with('{') {
        let read: std::result::Result<Vec<Value>, _> = serde_json::Deserializer::from_str(text).into_iter().collect();
        if let Ok(values) = read {
            return Ok(values);
        }
    }
    let mut values = Vec::new();
    for document in serde_yaml_ng::Deserializer::from_str(text) {
        let value = serde_yaml_ng::Value::deserialize(document)
            .map_err(|error| wrong(format!("error converting YAML to JSON: yaml: {error}")))?;
        let value =
            serde_json::to_value(value).map_err(|error| wrong(format!("error converting YAML to JSON: {error}")))?;
        if !value.is_null() {
            values.push(value);
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_text(text: &str) -> Result<Vec<SourcedObject>> {
        let mut objects = Vec::new();
        add_text(text.as_bytes(), "f.yaml", &mut objects)?;
        Ok(objects)
    }

    #[test]
    fn documents_and_lists_are_taken_apart() {
        let objects = read_text(
            "---\napiVersion: v1\nkind: A\n---\n# nothing\n---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: B}\n- {apiVersion: v1, kind: C}\n",
        )
        .expect("read");
        let kinds: Vec<&str> = objects.iter().filter_map(|o| o.object["kind"].as_str()).collect();
        assert_eq!(kinds, ["A", "B", "C"]);
        let two = read_text(r#"{"apiVersion": "v1", "kind": "A"} {"apiVersion": "v1", "kind": "B"}"#).expect("read");
        assert_eq!(two[1].object, json!({"apiVersion": "v1", "kind": "B"}));
    }

    #[test]
    fn mistakes_name_the_file() {
        let missing = read_text("a: 1").expect_err("no kind").render();
        assert_eq!(missing, "error: unable to decode \"f.yaml\": Object 'Kind' is missing in '{\"a\":1}'");
        let broken = read_text("a: [").expect_err("broken").render();
        assert!(broken.starts_with("error: error parsing f.yaml: error converting YAML to JSON: yaml: "), "{broken}");
        let absent = paths("/nonexistent/x.yaml", false).expect_err("absent").render();
        assert_eq!(absent, "error: the path \"/nonexistent/x.yaml\" does not exist");
    }
}
