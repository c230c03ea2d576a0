//! Objects as clients that print want them: Table rows with the kind's columns, or
//! metadata alone (PartialObjectMetadata). Called by get, list, watch and the writes.

use crate::door::negotiate::{Accepted, Shape};
use crate::verbs::Call;
use bytes::{BufMut, Bytes, BytesMut};
use ferry_api::document::Node;
use ferry_resources::{Column, Row};
use jiff::Timestamp;
use serde_json::{Value, json};

/// One object in the shape that was asked for.
pub(crate) fn shape_one(call: &Call, object: &Value, accepted: &Accepted) -> Value {
    match accepted.shape {
        Shape::Object => object.clone(),
        Shape::Metadata => partial(object, accepted),
        Shape::Table => table(&call.row, std::slice::from_ref(object), accepted, include_object(call)),
    }
}

pub(crate) fn include_object(call: &Call) -> &str {
    call.query.text("includeObject").unwrap_or_default()
}

/// The metadata of an object as an object of its own.
pub(crate) fn partial(object: &Value, accepted: &Accepted) -> Value {
    json!({
        "kind": "PartialObjectMetadata", "apiVersion": accepted.meta_version(),
        "metadata": object.get("metadata").cloned().unwrap_or_else(|| json!({})),
    })
}

/// The same from and to bytes: the metadata is found and copied, nothing is decoded.
pub(crate) fn partial_bytes(object: &[u8], accepted: &Accepted) -> Bytes {
    let mut out = BytesMut::with_capacity(object.len().min(4096));
    write_partial(object, accepted, &mut out);
    out.freeze()
}

/// The same of an object that is indexed already.
pub(crate) fn write_partial_of(object: Node<'_>, accepted: &Accepted, out: &mut BytesMut) {
    let metadata = object.get("metadata").map_or("{}".into(), Node::to_json);
    put_partial(metadata.as_bytes(), accepted, out);
}

/// The same at the end of a buffer.
pub(crate) fn write_partial(object: &[u8], accepted: &Accepted, out: &mut BytesMut) {
    let text = std::str::from_utf8(object).unwrap_or_default();
    put_partial(ferry_api::codec::metadata::text(text).unwrap_or("{}").as_bytes(), accepted, out);
}

fn put_partial(metadata: &[u8], accepted: &Accepted, out: &mut BytesMut) {
    out.put_slice(b"{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"");
    out.put_slice(accepted.meta_version().as_bytes());
    out.put_slice(b"\",\"metadata\":");
    out.put_slice(metadata);
    out.put_u8(b'}');
}

/// A Table of these objects. `include` is the client's includeObject: `None`, `Metadata`
/// (the default) or `Object`.
pub(crate) fn table(row: &Row, objects: &[Value], accepted: &Accepted, include: &str) -> Value {
    let now = Timestamp::now();
    let rows: Vec<Value> = objects.iter().map(|object| table_row(row, object, accepted, include, now)).collect();
    let version = match objects {
        [one] => one.get("metadata").and_then(|m| m.get("resourceVersion")).cloned().unwrap_or_else(|| json!("")),
        _ => json!(""),
    };
    json!({
        "kind": "Table", "apiVersion": accepted.meta_version(),
        "metadata": {"resourceVersion": version},
        "columnDefinitions": columns(row),
        "rows": rows,
    })
}

/// The row of one object in a Table.
pub(crate) fn table_row(row: &Row, object: &Value, accepted: &Accepted, include: &str, now: Timestamp) -> Value {
    let node = Node::Value(object);
    let mut line = json!({"cells": row.cells(node, now)});
    let conditions = row.strategy.row_conditions(node);
    if !conditions.is_empty() {
        line["conditions"] = conditions.into();
    }
    match include {
        "None" => {}
        "Object" => line["object"] = object.clone(),
        _ => line["object"] = partial(object, accepted),
    }
    line
}

/// The definitions of a row's columns.
pub(crate) fn columns(row: &Row) -> Value {
    row.columns.iter().map(column).collect()
}

fn column(column: &Column) -> Value {
    json!({
        "name": column.name, "type": column.column_type, "format": column.format,
        "description": column.description, "priority": column.priority,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_the_same_whether_decoded_or_not() {
        let accepted = Accepted { shape: Shape::Metadata, ..Accepted::JSON };
        for object in [
            json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a\"b", "labels": {"x": "y"}},
                "data": {"metadata": "another"}}),
            json!({"kind": "ConfigMap", "apiVersion": "v1"}),
        ] {
            let bytes = partial_bytes(object.to_string().as_bytes(), &accepted);
            let read: Value = serde_json::from_slice(&bytes).expect("JSON");
            assert_eq!(read, partial(&object, &accepted));
        }
    }
}
