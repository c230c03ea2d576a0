//! GET and LIST of kinds that are never stored: their objects are always the same
//! (ComponentStatus) or made when somebody asks (resource metrics). Such objects have no
//! resourceVersion and nobody can watch them.

use super::Call;
use super::options::ListOptions;
use super::selection::selection;
use crate::cache::{Filter, Stored};
use crate::door::answer;
use crate::door::negotiate::Shape;
use crate::door::table;
use crate::registry::encode;
use crate::transport::Body;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use http::{Response, StatusCode};
use serde_json::{Value, json};

pub(super) fn read(call: &Call) -> Result<Response<Body>, Status> {
    let objects = call.row.strategy.constant_objects();
    if call.info.verb == "get" {
        let object = objects
            .iter()
            .find(|object| object.name() == call.info.name)
            .ok_or_else(|| Status::not_found(&call.row.group_resource(), &call.info.name))?;
        return show_one(call, object);
    }
    show_list(call, &selected(call, objects)?)
}

/// One object that is not stored.
pub(crate) fn show_one(call: &Call, object: &Value) -> Result<Response<Body>, Status> {
    let accepted = call.accepted()?;
    Ok(answer::document(StatusCode::OK, &table::shape_one(call, object, &accepted), &accepted))
}

/// A list of objects that are not stored.
pub(crate) fn show_list(call: &Call, objects: &[Value]) -> Result<Response<Body>, Status> {
    let accepted = call.accepted()?;
    let include = table::include_object(call);
    let document = match accepted.shape {
        Shape::Table => table::table(&call.row, objects, &accepted, include),
        Shape::Metadata => {
            let items: Vec<Value> = objects.iter().map(|object| table::partial(object, &accepted)).collect();
            let version = accepted.meta_version();
            json!({"kind": "PartialObjectMetadataList", "apiVersion": version, "metadata": {}, "items": items})
        }
        Shape::Object => json!({
            "kind": call.row.list_kind, "apiVersion": call.row.group_version().to_string(),
            "metadata": {}, "items": objects,
        }),
    };
    Ok(answer::document(StatusCode::OK, &document, &accepted))
}

/// The selectors of the request judge stored objects, so each object is made to look
/// like one for them.
fn selected(call: &Call, mut objects: Vec<Value>) -> Result<Vec<Value>, Status> {
    let options = ListOptions::parse(&call.query, false)?;
    let selection = selection(call, &options.label_selector, &options.field_selector)?;
    objects.retain(|object| {
        let raw = encode::encode_unversioned(object);
        let stored = Stored::plain(object.name().into(), 0, raw.as_ref());
        stored.is_some_and(|stored| selection.matches(&stored))
    });
    Ok(objects)
}
