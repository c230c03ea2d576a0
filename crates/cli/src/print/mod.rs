//! Output formats: the flags that choose one, and objects printed in it. Every verb that
//! prints objects uses [`Printer`]; tables of `get` are in `table.rs`.

pub(crate) mod columns;
mod custom_columns;
pub(crate) mod json;
pub(crate) mod number;
pub(crate) mod table;
pub(crate) mod yaml;

use crate::error::{CliError, Result};
use crate::jsonpath::{Evaluation, JsonPath};
use clap::Args;
use custom_columns::CustomColumns;
use serde_json::{Value, json};

/// The flags of every command that prints objects.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct OutputFlags {
    /// Output format: json, yaml, name, wide, jsonpath=…, go-template=…, custom-columns=…, and their -file forms
    #[arg(short, long)]
    pub output: Option<String>,
    /// Template string or path to template file to use when -o=go-template, -o=go-template-file
    #[arg(long)]
    pub template: Option<String>,
    /// If true, ignore any errors in templates when a field or map key is missing
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub allow_missing_template_keys: bool,
    /// If true, keep the managedFields when printing objects in JSON or YAML format
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub show_managed_fields: bool,
}

/// A format that prints whole objects.
#[derive(Debug)]
pub(crate) enum Format {
    Json,
    Yaml,
    Name,
    JsonPath(JsonPath, Evaluation),
    JsonPathAsJson(JsonPath),
    CustomColumns(CustomColumns),
    GoTemplate(crate::gotemplate::Template),
}

const FORMATS: &str = "custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,wide,yaml";

impl OutputFlags {
    /// `None`: what the command prints by itself. `wide` is a table's own.
    pub(crate) fn format(&self) -> Result<Option<Format>> {
        let missing = if self.allow_missing_template_keys { Evaluation::AllowMissing } else { Evaluation::Strict };
        let output = match (self.output.as_deref(), &self.template) {
            (None | Some(""), Some(_)) => "go-template",
            (None | Some("" | "wide"), None) => return Ok(None),
            (Some(output), _) => output,
        };
        let (name, value) = output.split_once('=').map_or((output, None), |(n, v)| (n, Some(v.to_owned())));
        let value = value.or_else(|| self.template.clone()).filter(|value| !value.is_empty());
        let argument = |what: &str| {
            value.clone().ok_or_else(|| CliError::Message(format!("{what} format specified but no {what} given")))
        };
        let file = |what: &str| -> Result<String> {
            let path = argument(what)?;
            std::fs::read_to_string(&path).map_err(|error| format!("error reading --template {path}, {error}\n").into())
        };
        let jsonpath = |text: &str| {
            JsonPath::template(text)
                .map_err(|error| CliError::Message(format!("error parsing jsonpath {text}, {error}")))
        };
        Ok(Some(match name {
            "json" => Format::Json,
            "yaml" => Format::Yaml,
            "name" => Format::Name,
            "jsonpath" => Format::JsonPath(jsonpath(&argument("template")?)?, missing),
            "jsonpath-file" => Format::JsonPath(jsonpath(&file("template")?)?, missing),
            "jsonpath-as-json" => Format::JsonPathAsJson(jsonpath(&argument("template")?)?),
            "custom-columns" => Format::CustomColumns(CustomColumns::of_spec(&argument("custom-columns")?)?),
            "custom-columns-file" => Format::CustomColumns(CustomColumns::of_file(&file("custom-columns")?)?),
            "go-template" | "template" => Format::GoTemplate(crate::gotemplate::Template::parse(
                &argument("template")?,
                self.allow_missing_template_keys,
            )?),
            "go-template-file" | "templatefile" => Format::GoTemplate(crate::gotemplate::Template::parse(
                &file("template")?,
                self.allow_missing_template_keys,
            )?),
            _ => return Err(format!(
                "unable to match a printer suitable for the output format \"{output}\", allowed formats are: {FORMATS}"
            )
            .into()),
        }))
    }

    pub(crate) fn is_wide(&self) -> bool {
        self.output.as_deref() == Some("wide")
    }
}

/// Prints objects one after another.
#[derive(Debug)]
pub(crate) struct Printer {
    format: Format,
    keeps_managed_fields: bool,
    printed: usize,
}

impl Printer {
    pub(crate) fn new(format: Format, flags: &OutputFlags) -> Self {
        Self { format, keeps_managed_fields: flags.show_managed_fields, printed: 0 }
    }

    pub(crate) fn prints_lists_item_by_item(&self) -> bool {
        matches!(self.format, Format::Name | Format::CustomColumns(_))
    }

    /// The text of one object; documents of YAML are divided.
    pub(crate) fn render(&mut self, object: &Value) -> Result<String> {
        let stripped;
        let object = if self.keeps_managed_fields {
            object
        } else {
            stripped = without_managed_fields(object.clone());
            &stripped
        };
        self.printed += 1;
        Ok(match &mut self.format {
            Format::Json => json::render(object) + "\n",
            Format::Yaml if self.printed > 1 => format!("---\n{}", yaml::render(object)),
            Format::Yaml => yaml::render(object),
            Format::Name => name_of(object),
            Format::JsonPath(path, missing) => path.render(object, *missing).map_err(|error| {
                CliError::Message(format!(
                    "error executing jsonpath: {error}. Printing more information for debugging the template:"
                ))
            })?,
            Format::JsonPathAsJson(path) => {
                let found: Vec<Value> = path
                    .results(object, Evaluation::AllowMissing)
                    .map_err(|error| CliError::Message(format!("error executing jsonpath: {error}")))?
                    .into_iter()
                    .flatten()
                    .collect();
                json::render(&Value::Array(found)) + "\n"
            }
            Format::CustomColumns(columns) => columns.render(object)?,
            Format::GoTemplate(template) => template.render(object)?,
        })
    }
}

/// `deployment.apps/web`, a line for each item of a list.
fn name_of(object: &Value) -> String {
    if let Some(items) = object.get("items").and_then(Value::as_array) {
        return items.iter().map(name_of).collect();
    }
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let kind = text("/kind").to_lowercase();
    let kind = match text("/apiVersion").split_once('/') {
        Some((group, _)) => format!("{kind}.{group}"),
        None => kind,
    };
    format!("{kind}/{}\n", text("/metadata/name"))
}

pub(crate) fn without_managed_fields(mut object: Value) -> Value {
    if let Some(items) = object.get_mut("items").and_then(Value::as_array_mut) {
        for item in items {
            *item = without_managed_fields(item.take());
        }
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    object
}

/// Objects of any kinds as one.
pub(crate) fn list_of(items: Vec<Value>) -> Value {
    json!({ "apiVersion": "v1", "kind": "List", "metadata": { "resourceVersion": "" }, "items": items })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(output: &str, object: &Value) -> String {
        let flags =
            OutputFlags { output: Some(output.into()), allow_missing_template_keys: true, ..Default::default() };
        match flags.format() {
            Ok(format) => Printer::new(format.expect("a format"), &flags).render(object).unwrap_or_else(|e| e.render()),
            Err(error) => error.render(),
        }
    }

    #[test]
    fn each_format_prints_its_text() {
        let object =
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "managedFields": []}});
        assert_eq!(render("name", &object), "deployment.apps/web\n");
        assert_eq!(render("jsonpath={.metadata.name}", &object), "web");
        assert_eq!(render("yaml", &object), "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n");
        assert_eq!(render("custom-columns=N:.metadata.name,X:.spec.x", &object), "N     X\nweb   <none>\n");
        assert!(render("json", &object).contains("\"name\": \"web\"\n"));
        let unknown = render("xml", &object);
        assert!(unknown.starts_with(
            "error: unable to match a printer suitable for the output format \"xml\", allowed formats are: "
        ));
        assert_eq!(render("jsonpath", &object), "error: template format specified but no template given");
    }
}
