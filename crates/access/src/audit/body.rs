//! Bodies of requests and answers as the audit log shows them. Called by `record.rs`.

use ferry_api::codec;
use ferry_api::gvk::{GroupVersion, GroupVersionKind};
use ferry_api::object::Meta;
use ferry_api::schema::TypeDef;
use serde_json::Value;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// Four times the largest body that is read: aliases in YAML make its JSON longer.
const YAML_MAX: usize = 12 * 1024 * 1024;

/// A body of any format as a value, for records of requests; `None` if it is no object.
pub(super) fn to_value(body: &[u8], content_type: &str) -> Option<Value> {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    if media_type == PROTOBUF {
        let envelope = codec::protobuf::open(body).ok()?;
        let kind = GroupVersion::parse(&envelope.api_version).with_kind(envelope.kind.clone());
        let mut value = codec::protobuf::decode_message(envelope.raw, definition_of(&kind)?).ok()?;
        value.set_gvk(&kind);
        return Some(value);
    }
    if media_type.ends_with("yaml") {
        let json = codec::yaml::to_json(body, YAML_MAX).ok()?;
        return serde_json::from_str(&json).ok();
    }
    serde_json::from_slice(body).ok()
}

/// The type of a kind. A few kinds of meta/v1 are written as if they were the core group's.
fn definition_of(kind: &GroupVersionKind) -> Option<&'static TypeDef> {
    let meta = || ferry_api::schema::builtin().get("meta/v1", &kind.kind).map(|definition| &**definition);
    ferry_api::schema::of_kind(kind).map(|definition| &**definition).or_else(|| kind.group.is_empty().then(meta)?)
}
