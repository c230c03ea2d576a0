//! Which objects a list, watch or deletecollection is about.

use super::Call;
use crate::cache::{Filter, Scope, Stored};
use crate::registry::Registry;
use ferry_api::document::Node;
use ferry_api::object::Meta;
use ferry_api::selector::{FieldSelector, Selector};
use ferry_api::status::Status;
use ferry_resources::Row;
use ferry_resources::custom_resource::Custom;
use serde_json::Value;
use std::sync::Arc;

/// Label and field selectors over cached objects, without decoding them where the cache
/// knows enough.
pub(crate) struct Selection {
    labels: Selector,
    fields: FieldSelector,
    namespaced: bool,
    /// The row whose own form of an object must be judged, because the cache cannot tell:
    /// fields and labels of a custom resource may be others in each version.
    form: Option<Arc<Custom>>,
}

impl Selection {
    pub(crate) fn parse(row: &Row, labels: &str, fields: &str) -> Result<Self, Status> {
        let labels = Selector::parse(labels).map_err(|error| Status::bad_request(error.to_string()))?;
        let fields = FieldSelector::parse(fields).map_err(|error| Status::bad_request(error.to_string()))?;
        let mut selection = Self { labels, fields, namespaced: row.is_namespaced(), form: None };
        match &row.custom {
            Some(custom) => selection.check_custom_fields(custom)?,
            None => selection.check_fields(row)?,
        }
        Ok(selection)
    }

    fn check_fields(&mut self, row: &Row) -> Result<(), Status> {
        let known = row.selectable_fields(Node::NULL);
        for requirement in &mut self.fields.requirements {
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
        Ok(())
    }

    fn check_custom_fields(&mut self, custom: &Arc<Custom>) -> Result<(), Status> {
        let mut judges_form = !self.labels.is_empty() && custom.definition.converter.changes_labels();
        for requirement in &self.fields.requirements {
            match requirement.field.as_str() {
                "metadata.name" => {}
                "metadata.namespace" if self.namespaced => {}
                name if custom.selectable.iter().any(|(known, _)| known == name) => judges_form = true,
                name => return Err(Status::bad_request(format!("field label not supported: {name}"))),
            }
        }
        self.form = judges_form.then(|| custom.clone());
        Ok(())
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether [`Filter::matches`] lets pass what [`Selection::among`] has to judge.
    pub(crate) fn judges_form(&self) -> bool {
        self.form.is_some()
    }

    /// Of objects that match as far as the cache can tell, those that match.
    pub(crate) async fn among(&self, call: &Call, objects: Vec<Arc<Stored>>) -> Result<Vec<Arc<Stored>>, Status> {
        if self.form.is_none() {
            return Ok(objects);
        }
        let forms = call.server.registry.served_values(&call.row, &objects).await?;
        let matching = objects.into_iter().zip(forms).filter(|(_, form)| self.matches_form(form));
        Ok(matching.map(|(object, _)| object).collect())
    }

    /// Whether one object matches, whatever it takes to know.
    pub(crate) async fn holds(&self, registry: &Registry, row: &Row, object: &Arc<Stored>) -> Result<bool, Status> {
        if !self.matches(object) {
            return Ok(false);
        }
        if self.form.is_none() {
            return Ok(true);
        }
        let forms = registry.served_values(row, std::slice::from_ref(object)).await?;
        Ok(forms.iter().all(|form| self.matches_form(form)))
    }

    fn matches_form(&self, object: &Value) -> bool {
        let Some(custom) = &self.form else { return true };
        let named: Vec<(&str, String)> = custom
            .selectable
            .iter()
            .map(|(name, _)| (name.as_str(), custom.selectable_field(name, object).unwrap_or_default()))
            .collect();
        self.labels.matches_with(|key| object.label(key))
            && self.fields.matches(|field| match field {
                "metadata.name" => Some(object.name()),
                "metadata.namespace" => Some(if self.namespaced { object.namespace() } else { "" }),
                other => named.iter().find(|(name, _)| *name == other).map(|(_, value)| value.as_str()),
            })
    }
}

impl Filter for Selection {
    /// Where the form of an object must be judged, only what its key tells is judged here.
    fn matches(&self, object: &Stored) -> bool {
        if self.form.is_some() {
            return self.fields.requirements.iter().all(|term| match term.field.as_str() {
                "metadata.name" => (object.name() == term.value) == term.equal,
                "metadata.namespace" => (object.namespace() == term.value) == term.equal,
                _ => true,
            });
        }
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
pub(crate) fn scope(call: &Call) -> Scope {
    let namespace = Some(call.namespace()).filter(|namespace| !namespace.is_empty());
    if !call.info.name.is_empty() && (namespace.is_some() || !call.row.is_namespaced()) {
        return Scope::Key(call.row.key(call.namespace(), &call.info.name));
    }
    Scope::Prefix(call.row.key_prefix(namespace))
}

pub(crate) fn selection(call: &Call, labels: &str, fields: &str) -> Result<Arc<Selection>, Status> {
    let selection = Selection::parse(&call.row, labels, fields)?;
    if !call.info.name.is_empty()
        && !selection.fields.is_empty()
        && selection.fields.requires_exact_match("metadata.name") != Some(call.info.name.as_str())
    {
        return Err(Status::bad_request("fieldSelector metadata.name doesn't match requested name"));
    }
    Ok(Arc::new(selection))
}
