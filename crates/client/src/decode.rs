//! JSON of the API server to Rust types, as forgiving as upstream's Go types are. Every
//! answer and every watch event that a component reads is decoded here.
//!
//! Go reads `null` as the zero value of any field and writes a zero time as `null`; the
//! types of k8s-openapi fail on some of both. A document is first decoded as it stands,
//! which costs nothing extra. Only one that fails is mended and decoded once more.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

/// Required times, the only fields that k8s-openapi does not default when they are absent.
const REQUIRED_TIMES: [&str; 2] = ["lastTransitionTime", "lastObservedTime"];

/// The zero time of Go, which upstream's encoder writes as `null`.
const ZERO_TIME: &str = "0001-01-01T00:00:00Z";

/// Decodes one document. The error is that of the document as it came.
pub fn decode<T: DeserializeOwned>(document: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(document).or_else(|error| {
        let Ok(mut value) = serde_json::from_slice::<Value>(document) else { return Err(error) };
        mend(&mut value);
        // A struct of ours whose time is optional takes what is given; the types of
        // k8s-openapi whose time is not need one.
        T::deserialize(&value).or_else(|_| {
            add_required_times(&mut value);
            T::deserialize(&value).map_err(|_| error)
        })
    })
}

/// Removes every `null`: an absent field is what all types agree on.
fn mend(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(mend);
        }
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(mend);
        }
        _ => {}
    }
}

/// Gives every entry of a list named `conditions` the times that it lacks. Entries of other
/// types ignore the field that they do not know.
fn add_required_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                if let ("conditions", Value::Array(conditions)) = (name.as_str(), &mut *field) {
                    for condition in conditions.iter_mut().filter_map(Value::as_object_mut) {
                        for time in REQUIRED_TIMES {
                            condition.entry(time).or_insert_with(|| ZERO_TIME.into());
                        }
                    }
                }
                add_required_times(field);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(add_required_times),
        _ => {}
    }
}

/// An object that does not decode, with as much of its identity as can be read.
#[derive(Debug)]
pub struct Unreadable {
    pub namespace: String,
    pub name: String,
    pub uid: String,
    /// Empty if the object has none.
    pub resource_version: String,
    pub error: serde_json::Error,
}

impl Unreadable {
    fn new(document: &RawValue, error: serde_json::Error) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Wire {
            metadata: Value,
        }
        let metadata = serde_json::from_str::<Wire>(document.get()).unwrap_or_default().metadata;
        let text = |field: &str| metadata[field].as_str().unwrap_or_default().to_owned();
        Self {
            namespace: text("namespace"),
            name: text("name"),
            uid: text("uid"),
            resource_version: text("resourceVersion"),
            error,
        }
    }
}

/// Decodes an object of a list or a watch, or identifies the one that does not decode.
pub(crate) fn decode_object<T: DeserializeOwned>(document: &RawValue) -> Result<T, Box<Unreadable>> {
    decode(document.get().as_bytes()).map_err(|error| Box::new(Unreadable::new(document, error)))
}

/// A page of a list: the objects that decode, and those that do not.
#[derive(Debug)]
pub(crate) struct Page<T> {
    pub items: Vec<T>,
    pub unreadable: Vec<Unreadable>,
    pub resource_version: String,
    pub continue_token: Option<String>,
}

/// Decodes a list whole; only if that fails, item by item.
pub(crate) fn decode_page<T: DeserializeOwned>(document: &[u8]) -> Result<Page<T>, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "I: Deserialize<'de>"))]
    struct Wire<I> {
        metadata: Option<WireMeta>,
        // Upstream writes null where a list is empty and was never made.
        #[serde(default = "Option::default")]
        items: Option<Vec<I>>,
    }
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct WireMeta {
        resource_version: Option<String>,
        #[serde(rename = "continue")]
        continue_token: Option<String>,
    }
    let page = |metadata: Option<WireMeta>, items, unreadable| {
        let metadata = metadata.unwrap_or_default();
        Page {
            items,
            unreadable,
            resource_version: metadata.resource_version.unwrap_or_default(),
            continue_token: metadata.continue_token.filter(|token| !token.is_empty()),
        }
    };
    if let Ok(wire) = serde_json::from_slice::<Wire<T>>(document) {
        return Ok(page(wire.metadata, wire.items.unwrap_or_default(), Vec::new()));
    }
    let wire: Wire<&RawValue> = serde_json::from_slice(document)?;
    let (mut items, mut unreadable) = (Vec::new(), Vec::new());
    for item in wire.items.unwrap_or_default() {
        match decode_object(item) {
            Ok(object) => items.push(object),
            Err(failed) => unreadable.push(*failed),
        }
    }
    Ok(page(wire.metadata, items, unreadable))
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::{Namespace, Node, Service};

    #[test]
    fn a_service_with_a_null_last_transition_time_is_read() {
        for condition in [r#"{"type":"A","status":"True","lastTransitionTime":null}"#, r#"{"type":"A"}"#] {
            let document = format!(r#"{{"metadata":{{"name":"web"}},"status":{{"conditions":[{condition}]}}}}"#);
            let service: Service = decode(document.as_bytes()).expect(condition);
            let conditions = service.status.and_then(|status| status.conditions).expect("conditions");
            assert_eq!(
                (conditions[0].type_.as_str(), conditions[0].last_transition_time.0.to_string().as_str()),
                ("A", ZERO_TIME)
            );
        }
    }

    #[test]
    fn nulls_are_absent_wherever_they_stand() {
        let node: Node = decode(
            br#"{"metadata":{"name":"n","labels":{"a":null,"b":"c"},"finalizers":[null,"f"]},"spec":null,
                "status":{"images":[{"names":null,"sizeBytes":null},null],"conditions":[{"type":null}]}}"#,
        )
        .expect("a node");
        assert_eq!(node.metadata.finalizers.as_deref(), Some(["f".to_owned()].as_slice()));
        assert_eq!(node.metadata.labels.map(|labels| labels.len()), Some(1));
        assert_eq!(node.status.and_then(|status| status.images).map(|images| images.len()), Some(1));
    }

    #[test]
    fn one_bad_item_does_not_fail_a_list() {
        let page = decode_page::<Namespace>(
            br#"{"metadata":{"resourceVersion":"9","continue":""},"items":[
                {"metadata":{"name":"a"}},
                {"metadata":{"name":"b","uid":"u","resourceVersion":"7","labels":"none"}},
                {"metadata":{"name":"c","generation":null}},
                17]}"#,
        )
        .expect("a page");
        let names: Vec<_> = page.items.iter().filter_map(|item| item.metadata.name.as_deref()).collect();
        assert_eq!(names, ["a", "c"]);
        let bad: Vec<_> = page.unreadable.iter().map(|u| (&*u.name, &*u.uid, &*u.resource_version)).collect();
        assert_eq!(bad, [("b", "u", "7"), ("", "", "")]);
        assert_eq!((page.resource_version.as_str(), page.continue_token), ("9", None));
    }

    #[test]
    fn a_list_that_is_no_list_fails() {
        for document in ["[]", r#"{"items":"none"}"#, "null", "{"] {
            assert!(decode_page::<Namespace>(document.as_bytes()).is_err(), "{document}");
        }
    }
}
