//! Which objects a list, watch or deletecollection is about.

use super::Call;
use crate::cache::{Filter, Scope, Stored};
use ferry_api::selector::{FieldSelector, Selector};
use ferry_api::status::Status;
use ferry_resources::Row;
use std::sync::Arc;

/// Label and field selectors over cached objects, without decoding them.
#[derive(Debug)]
pub struct Selection {
    labels: Selector,
    fields: FieldSelector,
    namespaced: bool,
}

impl Selection {
    pub fn parse(row: &Row, labels: &str, fields: &str) -> Result<Self, Status> {
        let labels = Selector::parse(labels).map_err(|error| Status::bad_request(error.to_string()))?;
        let mut fields = FieldSelector::parse(fields).map_err(|error| Status::bad_request(error.to_string()))?;
        let known = row.strategy.selectable_fields(&serde_json::Value::Null);
        for requirement in &mut fields.requirements {
            let name = requirement.field.as_str();
            if matches!(name, "metadata.name" | "metadata.namespace") {
                continue;
            }
            if !known.iter().any(|(field, _)| *field == name) {
                return Err(Status::bad_request(if known.is_empty() {
                    format!("{name:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
                } else {
                    format!("field label not supported: {name}")
                }));
            }
            // Two versions that share a stock of objects name some fields differently;
            // the cache knows them under the stored version's names.
            if row.gvk() != row.stored_as {
                requirement.field = match name.strip_prefix("regarding.") {
                    Some(rest) => format!("involvedObject.{rest}"),
                    None if name == "reportingController" => "reportingComponent".into(),
                    None => continue,
                };
            }
        }
        Ok(Self { labels, fields, namespaced: row.is_namespaced() })
    }

    pub fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }
}

impl Filter for Selection {
    fn matches(&self, object: &Stored) -> bool {
        self.labels.matches_with(|key| object.label(key))
            && self.fields.matches(|field| match field {
                "metadata.name" => Some(object.name()),
                "metadata.namespace" => Some(if self.namespaced { object.namespace() } else { "" }),
                other => object.field(other),
            })
    }
}

/// The keys that a request is about. A name in the URL (or pinned by the field selector)
/// narrows it to one key, where the namespace is known.
pub fn scope(call: &Call) -> Scope {
    let namespace = Some(call.namespace()).filter(|namespace| !namespace.is_empty());
    if !call.info.name.is_empty() && (namespace.is_some() || !call.row.is_namespaced()) {
        return Scope::Key(call.row.key(call.namespace(), &call.info.name));
    }
    Scope::Prefix(call.row.key_prefix(namespace))
}

pub fn selection(call: &Call, labels: &str, fields: &str) -> Result<Arc<Selection>, Status> {
    let selection = Selection::parse(&call.row, labels, fields)?;
    if !call.info.name.is_empty()
        && !selection.fields.is_empty()
        && selection.fields.requires_exact_match("metadata.name") != Some(call.info.name.as_str())
    {
        return Err(Status::bad_request("fieldSelector metadata.name doesn't match requested name"));
    }
    Ok(Arc::new(selection))
}
