//! Paths into a custom object as definitions write them: `.spec.replicas`, and
//! `.metadata.labels['a']` where a rule names a field. A path must lead through the schema.

use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;
use std::collections::HashSet;

const MAX_SELECTABLE_FIELDS: usize = 8;

/// Where a path leads: its steps and the schema at its end.
pub struct FieldPath<'a> {
    pub steps: Vec<String>,
    /// As errors show it: fields after dots, keys of maps in brackets.
    pub path: Path,
    pub schema: Option<&'a Value>,
}

/// Follows a path through a schema; the error is upstream's sentence. `brackets` says
/// whether `['a']` may stand for `.a`.
pub fn resolve<'a>(path: &str, schema: &'a Value, brackets: bool) -> Result<FieldPath<'a>, String> {
    const END: &str = "unexpected end of JSON path";
    let mut here = Some(schema);
    let (mut steps, mut at) = (Vec::new(), Path::root());
    let mut tokens = tokens(path).into_iter();
    while let Some(token) = tokens.next() {
        let name = match token {
            "[" if !brackets => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let quoted = tokens.next().ok_or(END)?;
                let inner =
                    quoted.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).filter(|_| quoted.len() > 1);
                let inner = inner.ok_or_else(|| format!("expected single quoted string but got {quoted}"))?;
                inner.replace("\\'", "'").replace("\\\\", "\\")
            }
            "." => tokens.next().ok_or(END)?.to_owned(),
            other => return Err(format!("expected [ or . but got: {other}")),
        };
        let is_field = !here.entries("properties").is_empty();
        here = Some(step(here, &name)?);
        at = if is_field { at.child(&name) } else { at.key(&name) };
        steps.push(name);
        if token == "[" {
            match tokens.next() {
                None => return Err(END.to_owned()),
                Some("]") => {}
                Some(other) => return Err(format!("expected ] but got {other}")),
            }
        }
    }
    Ok(FieldPath { steps, path: at, schema: here })
}

fn step<'a>(schema: Option<&'a Value>, name: &str) -> Result<&'a Value, String> {
    let properties = schema.entries("properties");
    let found = if properties.is_empty() {
        schema.field("additionalProperties").filter(|value| value.is_object())
    } else {
        properties.get(name)
    };
    found.ok_or_else(|| "does not refer to a valid field".to_owned())
}

/// Dots and brackets are tokens of their own; a quoted string is one token.
fn tokens(path: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = path;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '.' | '[' | ']' => 1,
            '\'' => {
                let bytes = rest.as_bytes();
                let close = (1..bytes.len()).find(|&index| bytes[index] == b'\'' && bytes[index - 1] != b'\\');
                close.map_or(rest.len(), |index| index + 1)
            }
            _ => rest.find(['.', '[', ']']).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(end);
        tokens.push(token);
        rest = after;
    }
    tokens
}

/// The fields that a list may be selected by.
pub(super) fn validate_selectable_fields(
    errors: &mut ErrorList,
    fields: &[Value],
    schema: &Value,
    tolerate: bool,
    path: &Path,
) {
    let mut seen = HashSet::new();
    for (index, field) in fields.iter().enumerate() {
        let (at, text) = (path.index(index).child("jsonPath"), field.text("jsonPath"));
        if text.is_empty() {
            errors.push(Error::required(&at, ""));
            continue;
        }
        let found = match resolve(text, schema, false) {
            Ok(found) => found,
            Err(why) => {
                errors.push(Error::invalid(&at, text, format!("is an invalid path: {why}")));
                continue;
            }
        };
        if found.steps.first().is_some_and(|step| step == "metadata") {
            errors.push(Error::invalid(&at, text, "must not point to fields in metadata"));
        }
        if !matches!(found.schema.text("type"), "string" | "boolean" | "integer") {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
            errors.push(Error::invalid(&at, text, detail));
        }
        if !seen.insert(found.steps) {
            errors.push(Error::duplicate(&at, text));
        }
    }
    if seen.len() > MAX_SELECTABLE_FIELDS && !tolerate {
        errors.push(Error::too_many(path, seen.len(), MAX_SELECTABLE_FIELDS));
    }
}

pub(super) fn validate_columns(errors: &mut ErrorList, columns: &[Value], path: &Path) {
    const TYPES: &[&str] = &["boolean", "date", "integer", "number", "string"];
    const FORMATS: &[&str] = &["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
    for (index, column) in columns.iter().enumerate() {
        let path = path.index(index);
        if column.text("name").is_empty() {
            errors.push(Error::required(&path.child("name"), ""));
        }
        let (kind, format) = (column.text("type"), column.text("format"));
        let detail = format!("must be one of {}", TYPES.join(","));
        if kind.is_empty() {
            errors.push(Error::required(&path.child("type"), detail));
        } else if !TYPES.contains(&kind) {
            errors.push(Error::invalid(&path.child("type"), kind, detail));
        }
        if !format.is_empty() && !FORMATS.contains(&format) {
            let detail = format!("must be one of {}", FORMATS.join(","));
            errors.push(Error::invalid(&path.child("format"), format, detail));
        }
        let (text, at) = (column.text("jsonPath"), path.child("JSONPath"));
        if text.is_empty() {
            errors.push(Error::required(&at, ""));
        } else {
            validate_simple_path(errors, text, &at);
        }
    }
}

pub(super) fn validate_subresources(errors: &mut ErrorList, subresources: Option<&Value>, path: &Path) {
    let Some(scale) = subresources.field("scale") else { return };
    for (key, required, under, detail) in [
        ("specReplicasPath", true, &[".spec."][..], "should be a json path under .spec"),
        ("statusReplicasPath", true, &[".status."][..], "should be a json path under .status"),
        (
            "labelSelectorPath",
            false,
            &[".spec.", ".status."][..],
            "should be a json path under either .spec or .status",
        ),
    ] {
        let (text, at) = (scale.text(key), path.child(&format!("scale.{key}")));
        if text.is_empty() {
            if required {
                errors.push(Error::required(&at, ""));
            }
        } else if validate_simple_path(errors, text, &at) && !under.iter().any(|prefix| text.starts_with(prefix)) {
            errors.push(Error::invalid(&at, text, detail));
        }
    }
}

fn validate_simple_path(errors: &mut ErrorList, text: &str, path: &Path) -> bool {
    let good = text.starts_with('.');
    if !good {
        errors.push(Error::invalid(path, text, "must be a simple json path starting with ."));
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_lead_through_the_schema() {
        let schema = json!({"properties": {"spec": {"properties": {"a": {"type": "string"},
            "b.c": {"type": "integer"}, "m": {"additionalProperties": {"type": "string"}}}}}});
        let kind = |path: &str, brackets: bool| {
            resolve(path, &schema, brackets).map(|found| found.schema.text("type").to_owned())
        };
        assert_eq!(kind(".spec.a", false), Ok("string".into()));
        assert_eq!(kind(".spec['b.c']", true), Ok("integer".into()));
        assert_eq!(kind(".spec.m['x']", true), Ok("string".into()));
        assert_eq!(kind(".spec['a']", false), Err("array notation is not allowed".into()));
        assert_eq!(kind(".spec.z", false), Err("does not refer to a valid field".into()));
        assert_eq!(kind("spec", false), Err("expected [ or . but got: spec".into()));
        assert_eq!(kind(".", false), Err("unexpected end of JSON path".into()));
        assert_eq!(kind(".spec['a", true), Err("expected single quoted string but got 'a".into()));
    }
}
