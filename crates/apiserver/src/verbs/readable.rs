//! Lists for people's eyes, pretty JSON and YAML, item by item: the text of each is what it
//! would be if the whole list were written at once. `list_body.rs` asks for one after the
//! other.

use super::list_body::Item;
use crate::cache::rows::decode;
use crate::door::negotiate::{Accepted, Format, Shape};
use crate::door::table;
use crate::transport::BoxError;
use bytes::{BufMut, BytesMut};
use ferry_api::status::Status;
use ferry_resources::Row;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What stands around the one item of an indented document that has nothing else.
const PRETTY_HEAD: usize = "{\n  \"items\": [".len();
const PRETTY_TAIL: &str = "\n  ]\n}";

pub(super) struct Readable {
    row: Arc<Row>,
    accepted: Accepted,
    /// The client's includeObject.
    include: String,
    now: Timestamp,
}

impl Readable {
    pub(super) fn new(row: Arc<Row>, accepted: Accepted, include: String) -> Self {
        Self { row, accepted, include, now: Timestamp::now() }
    }

    /// The texts before and after the items of a list, of which `document` has all the rest.
    pub(super) fn frame(&self, mut document: Value, is_empty: bool) -> Result<(String, String), Status> {
        let key = if self.accepted.shape == Shape::Table { "rows" } else { "items" };
        document[key] = json!([]);
        let is_yaml = self.accepted.format == Format::Yaml;
        let text = if is_yaml {
            serde_yaml_ng::to_string(&document).map_err(Status::internal)?
        } else {
            serde_json::to_string_pretty(&document).map_err(Status::internal)?
        };
        // No string has a bare quote or begins a line of YAML, so this is the key itself.
        let empty = if is_yaml { format!("\n{key}: []\n") } else { format!("\"{key}\": []") };
        match text.split_once(empty.as_str()) {
            Some((before, after)) if !is_empty && is_yaml => Ok((format!("{before}\n{key}:\n"), after.to_owned())),
            Some((before, after)) if !is_empty => Ok((format!("{before}\"{key}\": ["), format!("\n  ]{after}"))),
            _ => Ok((text, String::new())),
        }
    }

    pub(super) fn separator(&self) -> &'static [u8] {
        if self.accepted.format == Format::Yaml { b"" } else { b"," }
    }

    pub(super) fn write(&self, item: &Item, out: &mut BytesMut) -> Result<(), BoxError> {
        let object = match item {
            Item::Stored(stored) => decode(&self.row, stored),
            Item::Whole(bytes) | Item::Message(bytes) => serde_json::from_slice(bytes)?,
        };
        let shaped = match self.accepted.shape {
            Shape::Object => object,
            Shape::Metadata => table::partial(&object, &self.accepted),
            Shape::Table => table::table_row(&self.row, &object, &self.accepted, &self.include, self.now),
        };
        if self.accepted.format == Format::Yaml {
            // A sequence is not indented below its key.
            out.put_slice(serde_yaml_ng::to_string(&[shaped])?.as_bytes());
            return Ok(());
        }
        let text = serde_json::to_string_pretty(&BTreeMap::from([("items", [shaped])]))?;
        let item = text.get(PRETTY_HEAD..text.len() - PRETTY_TAIL.len()).unwrap_or_default();
        out.put_slice(item.as_bytes());
        Ok(())
    }
}
