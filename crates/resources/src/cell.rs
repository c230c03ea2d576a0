//! Cells of `kubectl get` that the table of facts describes: a path to a field and how it
//! is shown. The paths are resolved against the kind's schema when its row is built
//! (`facts_row.rs`), so that a Table list only follows them. Cells that need more than one
//! field are computed by the strategy.
//!
//! The notation of `columns.tsv`: `[form ].path[|fallback]`, and `age` for the time since
//! the object was made. `.spec.replicas` is shown as its type is, with the zero value where
//! it is absent; a fallback stands for an absent field, and for an empty text that is no
//! pointer. `count .spec.drivers`, `labels .spec.selector`, `selector .spec.selector`,
//! `names .spec.containers`, `images .spec.containers`, `join .spec.cidrs` and
//! `since .status.lastScheduleTime` are shown as upstream's printers show them.

use crate::print;
use crate::read::ReadNode;
use crate::row::Row;
use ferry_api::document::Node;
use ferry_api::schema::{Field, Special, Type, TypeDef};
use ferry_api::view::{Element, List};
use jiff::Timestamp;
use serde_json::Value;

/// How one cell is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathCell {
    path: Box<[&'static str]>,
    form: Form,
    /// Upstream's field is a pointer, where an empty text is not absent.
    pointer: bool,
    fallback: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Int,
    Flag,
    IntOrString,
    /// A time as it stands.
    Moment,
    Since,
    Count,
    Labels,
    Selector,
    Names,
    Images,
    Join,
}

impl PathCell {
    /// Reads the notation; `None` for `-`, a cell that the strategy computes.
    ///
    /// # Panics
    /// On a form or a path that does not exist: the table is compiled in and tested whole.
    pub(crate) fn parse(text: &'static str, schema: Option<&TypeDef>) -> Option<Self> {
        let (text, fallback) = match text.split_once('|') {
            _ if text == "-" => return None,
            Some((text, fallback)) => (text, Some(fallback)),
            None if text == "age" => ("since .metadata.creationTimestamp", None),
            None => (text, None),
        };
        let (form, path) = text.split_once(' ').unwrap_or(("", text));
        let path: Box<[&str]> = path.split('.').skip(1).collect();
        let field = schema.and_then(|schema| field_at(schema, &path));
        let field = field.unwrap_or_else(|| panic!("the schema has the field of the cell {text}"));
        let form = match form {
            "" => Form::of(&field.ty),
            "since" => Some(Form::Since),
            "count" => Some(Form::Count),
            "labels" => Some(Form::Labels),
            "selector" => Some(Form::Selector),
            "names" => Some(Form::Names),
            "images" => Some(Form::Images),
            "join" => Some(Form::Join),
            _ => None,
        };
        let form = form.unwrap_or_else(|| panic!("the cell {text} has a form that can be shown"));
        let fallback = fallback.map(|text| match (form, text) {
            (Form::Flag, "true") => true.into(),
            (_, text) => text.into(),
        });
        Some(Self { path, form, pointer: field.pointer, fallback })
    }

    /// The field at `spec.nodeName` as it is.
    ///
    /// # Panics
    /// On a path that does not exist or that holds no text, number or flag.
    pub(crate) fn at(path: &'static str, schema: Option<&TypeDef>) -> Self {
        let path: Box<[&str]> = path.split('.').collect();
        let field = schema.and_then(|schema| field_at(schema, &path));
        let shown = field.and_then(|field| Some((Form::of(&field.ty)?, field.pointer)));
        let (form, pointer) = shown.unwrap_or_else(|| panic!("the schema has the field {path:?}"));
        Self { path, form, pointer, fallback: None }
    }

    /// A text, number or flag as a field selector compares it.
    pub(crate) fn text(&self, object: Node<'_>) -> String {
        match self.show(object, Timestamp::UNIX_EPOCH) {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }

    fn show(&self, object: Node<'_>, now: Timestamp) -> Value {
        let found = self.path.iter().try_fold(object, |node, key| node.field(key));
        match self.form {
            Form::Text => match found.and_then(Node::as_str) {
                Some(text) if self.pointer || !text.is_empty() => text.into(),
                _ => self.or_fallback(""),
            },
            Form::Int => found.and_then(Node::as_i64).map_or_else(|| self.or_fallback(0), Value::from),
            Form::Flag => found.and_then(Node::as_bool).map_or_else(|| self.or_fallback(false), Value::from),
            Form::IntOrString => match found {
                Some(node) => node.as_str().map_or_else(|| node.to_value().to_string(), str::to_owned).into(),
                None => self.or_fallback(""),
            },
            Form::Moment => found.map_or(Value::Null, Node::to_value),
            Form::Since if found.is_none() && self.fallback.is_some() => self.or_fallback(""),
            Form::Since => print::since(found, now).into(),
            Form::Count => found.map_or(0, count).into(),
            Form::Labels => print::labels(found.unwrap_or_default().entries()).into(),
            Form::Selector => self.unless_empty(print::selector(found)),
            Form::Names => join(found, |container| container.text("name")),
            Form::Images => join(found, |container| container.text("image")),
            Form::Join => join(found, |item| item.as_str().unwrap_or_default()),
        }
    }

    fn or_fallback(&self, zero: impl Into<Value>) -> Value {
        self.fallback.clone().unwrap_or_else(|| zero.into())
    }

    fn unless_empty(&self, text: String) -> Value {
        if text.is_empty() { self.or_fallback("") } else { text.into() }
    }
}

impl Form {
    /// The form in which a value of this type is shown as it is.
    fn of(ty: &Type) -> Option<Self> {
        match ty {
            // A duration is text on the wire (15s).
            Type::String | Type::Special(Special::Duration) => Some(Self::Text),
            Type::Int32 | Type::Int64 => Some(Self::Int),
            Type::Bool => Some(Self::Flag),
            Type::Special(Special::IntOrString) => Some(Self::IntOrString),
            Type::Special(Special::Time) => Some(Self::Moment),
            _ => None,
        }
    }
}

impl Row {
    /// The cells of an object's row of a table, in the order of the columns.
    pub fn cells(&self, object: Node<'_>, now: Timestamp) -> Vec<Value> {
        let mut computed = self.strategy.computed_cells(object, now).into_iter();
        let show = |cell: &Option<PathCell>| match cell {
            Some(cell) => cell.show(object, now),
            None => computed.next().unwrap_or_default(),
        };
        self.columns.iter().map(|column| &column.cell).map(show).collect()
    }
}

fn field_at<'a>(schema: &'a TypeDef, path: &[&str]) -> Option<&'a Field> {
    let (last, parents) = path.split_last()?;
    let holder = parents.iter().try_fold(schema, |holder, key| match &holder.field(key)?.ty {
        Type::Struct(reference) => Some(&**reference.get()),
        _ => None,
    })?;
    holder.field(last)
}

/// The number of items of a list or of entries of a map.
fn count(node: Node<'_>) -> usize {
    List::<Node<'_>>::of(node).map_or_else(|| node.entries().count(), |items| items.len())
}

fn join<'a>(list: Option<Node<'a>>, text: impl Fn(Node<'a>) -> &'a str) -> Value {
    let items = list.and_then(List::of).unwrap_or_default();
    items.iter().map(text).collect::<Vec<_>>().join(",").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::gvk::GroupVersionKind;
    use ferry_api::schema;
    use serde_json::json;

    fn check(kind: &'static str, cell: &'static str, object: Value, expected: Value) {
        let schema = schema::of_kind(&GroupVersionKind::new("apps", "v1", kind))
            .or_else(|| schema::of_kind(&GroupVersionKind::new("", "v1", kind)))
            .or_else(|| schema::of_kind(&GroupVersionKind::new("policy", "v1", kind)));
        let cell_plan = PathCell::parse(cell, schema.map(|schema| &**schema)).expect("a cell with a path");
        assert_eq!(cell_plan.show(Node::Value(&object), crate::testing::now()), expected, "{cell} of {object}");
    }

    #[test]
    fn an_absent_field_shows_its_zero_value_or_the_fallback() {
        check("Deployment", ".status.updatedReplicas", json!({"status": {"updatedReplicas": 3}}), json!(3));
        check("Deployment", ".status.updatedReplicas", json!({"status": null}), json!(0));
        check("Pod", ".spec.nodeName|<none>", json!({"spec": {"nodeName": ""}}), json!("<none>"));
        check("Pod", ".spec.nodeName", json!({}), json!(""));
        check("Pod", ".spec.hostNetwork", json!({}), json!(false));
        check("Pod", ".spec.enableServiceLinks|true", json!({}), json!(true));
        check("PersistentVolumeClaim", ".spec.volumeMode|<unset>", json!({"spec": {"volumeMode": ""}}), json!(""));
        check("PersistentVolumeClaim", ".spec.volumeMode|<unset>", json!({"spec": {}}), json!("<unset>"));
    }

    #[test]
    fn forms_show_what_is_no_plain_value() {
        check("Pod", "age", json!({"metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}}), json!("10m"));
        check("Pod", "age", json!({}), json!("<unknown>"));
        check("Pod", "since .status.startTime|<none>", json!({}), json!("<none>"));
        check("Pod", ".metadata.creationTimestamp", json!({}), json!(null));
        check("Secret", "count .data", json!({"data": {"a": "", "b": ""}}), json!(2));
        check("Pod", "count .spec.containers", json!({"spec": {"containers": [{}]}}), json!(1));
        check("Pod", "count .spec.containers", json!({"spec": {}}), json!(0));
        check(
            "Pod",
            "names .spec.containers",
            json!({"spec": {"containers": [{"name": "a"}, {"name": "b"}]}}),
            json!("a,b"),
        );
        check("Pod", "join .spec.containers", json!({"spec": {"containers": ["x", "y"]}}), json!("x,y"));
        check("Pod", "labels .spec.nodeSelector", json!({}), json!("<none>"));
        check("Deployment", "selector .spec.selector|<none>", json!({"spec": {"selector": {}}}), json!("<none>"));
        let budget = |value: Value| json!({"spec": {"maxUnavailable": value}});
        check("PodDisruptionBudget", ".spec.maxUnavailable|N/A", budget(json!("25%")), json!("25%"));
        check("PodDisruptionBudget", ".spec.maxUnavailable|N/A", budget(json!(2)), json!("2"));
        check("PodDisruptionBudget", ".spec.maxUnavailable|N/A", json!({}), json!("N/A"));
    }
}
