//! What a hook's JSON patch makes of an object: patched, read as its kind, defaulted, as
//! if a client had sent it. Pure.

use crate::admission::matching::Matched;
use ferry_api::patch::json;
use ferry_api::schema::{self, TypeDef};
use ferry_api::status::Status;
use ferry_api::{codec, gvk::GroupVersionKind};
use serde_json::Value;

/// The object after the patch, or `None` where it says the same as before. Both are in
/// the version under which the hook was asked.
pub(super) fn patched(before: &Value, patch: &Value, matched: &Matched) -> Result<Option<Value>, Status> {
    let mut after = before.clone();
    json::apply(&mut after, patch).map_err(|status| Status::internal(status.message))?;
    let after = settle(after, matched)?;
    // A patch that only spells out a default, or what is empty, has changed nothing.
    let is_same = after == settle(before.clone(), matched)?;
    Ok((!is_same).then_some(after))
}

/// An object as decoding leaves it: unknown fields gone, types checked, defaults set.
fn settle(object: Value, matched: &Matched) -> Result<Value, Status> {
    let is_own_kind = matched.kind == matched.row.gvk();
    if let Some(custom) = matched.row.custom.as_ref().filter(|_| is_own_kind) {
        let mut object = object;
        custom.prune(&mut object).map_err(Status::internal)?;
        matched.row.default(&mut object);
        return Ok(object);
    }
    let schema = if is_own_kind { matched.row.schema.as_deref() } else { of_kind(&matched.kind) };
    let mut object = match schema {
        Some(schema) => codec::decode_value(&object, schema, &matched.kind).map_err(Status::internal)?.value,
        None if object.is_object() => object,
        None => return Err(Status::internal("the patched document is no object")),
    };
    if is_own_kind {
        matched.row.default(&mut object);
    }
    if let Some(schema) = schema {
        codec::normalize(&mut object, schema);
    }
    Ok(object)
}

fn of_kind(kind: &GroupVersionKind) -> Option<&'static TypeDef> {
    schema::of_kind(kind).map(|definition| &**definition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Rows;
    use serde_json::json;

    fn matched() -> Matched {
        let row = Rows::new(ferry_resources::all().to_vec()).find("", "v1", "configmaps").expect("builtin");
        Matched { kind: row.gvk(), row }
    }

    #[test]
    fn a_patch_is_read_as_the_kind() {
        let before = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "b"}});
        let check = |patch: Value| patched(&before, &patch, &matched());
        let after = check(json!([{"op": "add", "path": "/data/x", "value": "y"}])).expect("applies").expect("changes");
        assert_eq!(after["data"], json!({"a": "b", "x": "y"}));
        assert!(check(json!([{"op": "add", "path": "/unknown", "value": 1}])).expect("applies").is_none());
        assert!(check(json!([{"op": "add", "path": "/binaryData", "value": {}}])).expect("applies").is_none());
        let status = check(json!([{"op": "add", "path": "/data/x", "value": 7}])).expect_err("a number");
        assert_eq!((status.code, status.reason.as_str()), (500, "InternalError"));
        let status = check(json!([{"op": "remove", "path": "/nowhere"}])).expect_err("no such path");
        assert_eq!(status.code, 500);
    }
}
