//! What `kubectl get` shows of a custom resource: the columns that its definition names
//! (apiextensions-apiserver's registry/customresource/tableconvertor).

use super::json_path::JsonPath;
use crate::print::since;
use crate::read::{Read, ReadNode};
use crate::row::Column;
use ferry_api::document::Node;
use jiff::Timestamp;
use serde_json::Value;

/// Columns beside the name.
pub(super) struct Columns(Vec<(JsonPath, String)>);

/// The columns of a version, as rows describe them and as cells are made. A definition
/// that names none shows the age; one with a path that is none shows the name alone.
pub(super) fn columns(version: &Value) -> (Vec<Column>, Columns) {
    let name = Column {
        name: "Name".into(),
        column_type: "string".into(),
        format: "name".into(),
        description: "".into(),
        priority: 0,
        cell: None,
    };
    let mut described = vec![name];
    let mut paths = Vec::new();
    let declared = version.list("additionalPrinterColumns");
    if declared.is_empty() {
        described.push(Column {
            name: "Age".into(),
            column_type: "date".into(),
            format: "".into(),
            description: "".into(),
            priority: 0,
            cell: None,
        });
        paths.extend(JsonPath::parse(".metadata.creationTimestamp").map(|path| (path, "date".to_owned())));
        return (described, Columns(paths));
    }
    for column in declared {
        let path = column.text("jsonPath");
        let Some(parsed) = JsonPath::parse(path) else {
            described.truncate(1);
            return (described, Columns(Vec::new()));
        };
        let description = match column.text("description") {
            "" => format!("Custom resource definition column (in JSONPath format): {path}"),
            text => text.to_owned(),
        };
        described.push(Column {
            name: column.text("name").to_owned().into(),
            column_type: column.text("type").to_owned().into(),
            format: column.text("format").to_owned().into(),
            description: description.into(),
            priority: i32::try_from(column.int("priority")).unwrap_or_default(),
            cell: None,
        });
        paths.push((parsed, column.text("type").to_owned()));
    }
    (described, Columns(paths))
}

impl Columns {
    pub(super) fn cells(&self, object: Node<'_>, now: Timestamp) -> Vec<Value> {
        let mut cells = vec![object.name().into()];
        // A path may lead anywhere; it is followed in a tree.
        let object = object.to_value();
        cells.extend(self.0.iter().map(|(path, kind)| match path.find(&object).first() {
            Some(value) => cell(kind, value, now),
            None => Value::Null,
        }));
        cells
    }
}

/// A value that does not have the column's type is not shown.
fn cell(kind: &str, value: &Value, now: Timestamp) -> Value {
    match kind {
        "string" => text(value).into(),
        "integer" => match value {
            Value::Number(number) => {
                number.as_i64().or_else(|| number.as_f64().map(|number| number as i64)).map_or(Value::Null, Value::from)
            }
            _ => Value::Null,
        },
        "number" if value.is_number() => value.clone(),
        "boolean" if value.is_boolean() => value.clone(),
        "date" => match value.as_str() {
            Some(text) if text.parse::<Timestamp>().is_ok() => since(Some(Node::Value(value)), now).into(),
            Some(_) => "<invalid>".into(),
            None => Value::Null,
        },
        _ => Value::Null,
    }
}

/// A value as Go prints it: text as it is, everything with parts as JSON.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cells_have_the_types_of_their_columns() {
        let now: Timestamp = "2026-01-01T00:05:00Z".parse().expect("a time");
        let (described, columns) = columns(&json!({"additionalPrinterColumns": [
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "Text", "type": "string", "jsonPath": ".spec.size", "description": "how large"},
            {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
            {"name": "Wrong", "type": "boolean", "jsonPath": ".spec.size"},
            {"name": "Since", "type": "date", "jsonPath": ".status.since", "priority": 1},
        ]}));
        let object = json!({
            "metadata": {"name": "a"}, "spec": {"size": 3},
            "status": {"since": "2026-01-01T00:00:00Z", "conditions": [{"type": "Ready", "status": "True"}]},
        });
        assert_eq!(
            columns.cells(Node::Value(&object), now),
            [json!("a"), json!(3), json!("3"), json!("True"), json!(null), json!("5m")]
        );
        assert_eq!(described[1].description, "Custom resource definition column (in JSONPath format): .spec.size");
        assert_eq!((described[2].description.as_ref(), described[5].priority), ("how large", 1));
    }

    #[test]
    fn a_definition_without_columns_shows_the_age() {
        let (described, columns) = columns(&json!({}));
        assert_eq!(described[1].name, "Age");
        let now: Timestamp = "2026-01-01T00:05:00Z".parse().expect("a time");
        let object = json!({"metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:04:00Z"}});
        assert_eq!(columns.cells(Node::Value(&object), now), [json!("a"), json!("60s")]);
    }
}
