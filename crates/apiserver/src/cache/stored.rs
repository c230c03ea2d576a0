//! One version of one object as the cache holds it: encoded bytes, and the little that
//! selectors and keys need without decoding them.

use bytes::{BufMut, Bytes, BytesMut};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// What stands before the place where resourceVersion is spliced in. The encoder
/// (`registry/encode.rs`) writes kind, apiVersion and metadata first, and a quote inside
/// a JSON string is always escaped, so the first occurrence is the object's own metadata.
const METADATA: &[u8] = b"\"metadata\":{";
const VERSION: &[u8] = b"\"resourceVersion\":\"";

/// One version of one object. Cheap to share; its bytes are what GET, LIST and WATCH send.
#[derive(Debug)]
pub struct Stored {
    key: Arc<str>,
    revision: u64,
    bytes: Bytes,
    /// Where the digits of resourceVersion stand in `bytes`.
    version_at: Range<usize>,
    labels: Box<[(Box<str>, Box<str>)]>,
    fields: Box<[(&'static str, Box<str>)]>,
    /// The object as rows show it that do not show the stored bytes; most objects have none.
    forms: OnceLock<Box<Forms>>,
}

/// By [`ferry_resources::custom_resource::Custom::form`]; `None` where the stored bytes are
/// that form.
type Forms = Mutex<Vec<(u64, Option<Bytes>)>>;

/// Names and values of an object's fields that selectors may name.
type SelectableFields<'a> = dyn Fn(&Value) -> Vec<(&'static str, String)> + 'a;

impl Stored {
    /// Takes bytes as the store has them (without resourceVersion) into the cache.
    /// `fields` are those that selectors may name, `None` if the kind has none of its own:
    /// then the bytes are only looked through for labels.
    pub fn new(key: Arc<str>, revision: u64, raw: &[u8], fields: Option<&SelectableFields<'_>>) -> Option<Self> {
        let (bytes, version_at) = splice_version(raw, revision)?;
        let (labels, fields) = match fields {
            Some(fields) => {
                let mut object: Value = serde_json::from_slice(raw).ok()?;
                let fields = fields(&object);
                (object.pointer_mut("/metadata/labels").map(Value::take), fields)
            }
            None => {
                let Outline { metadata } = serde_json::from_slice(raw).ok()?;
                (metadata.and_then(|metadata| metadata.labels), Vec::new())
            }
        };
        let labels = match labels {
            Some(Value::Object(map)) => {
                map.iter().filter_map(|(k, v)| Some((k.as_str().into(), v.as_str()?.into()))).collect()
            }
            _ => Box::default(),
        };
        let fields = fields.into_iter().map(|(name, value)| (name, value.into_boxed_str())).collect();
        Some(Self { key, revision, bytes, version_at, labels, fields, forms: OnceLock::new() })
    }

    /// `/registry/pods/default/web`.
    pub fn key(&self) -> &Arc<str> {
        &self.key
    }

    /// The revision of the write that made this version; metadata.resourceVersion.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The object as JSON with its resourceVersion, shared by all who read it.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Whether a text stands anywhere in the object: a no that costs less than decoding it.
    /// The text must be one that JSON writes in one way only.
    pub fn mentions(&self, text: &str) -> bool {
        self.bytes.windows(text.len()).any(|window| window == text.as_bytes())
    }

    /// The object as an item of a list, without its opening brace: upstream's lists say
    /// kind and apiVersion once, for all items.
    pub fn item(&self) -> &[u8] {
        &self.bytes[self.version_at.start - METADATA.len() - VERSION.len()..]
    }

    /// The object decoded. Costs a parse; use it where an object is changed or printed.
    pub fn value(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or(Value::Null)
    }

    pub fn name(&self) -> &str {
        self.key.rsplit('/').next().unwrap_or_default()
    }

    /// Meaningful only for namespaced kinds: the part of the key before the name.
    pub fn namespace(&self) -> &str {
        self.key.rsplit('/').nth(1).unwrap_or_default()
    }

    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels.iter().map(|(k, v)| (&**k, &**v))
    }

    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(k, _)| &**k == key).map(|(_, v)| &**v)
    }

    /// The value of a field that selectors may name (besides metadata.name and
    /// metadata.namespace), as the kind's strategy extracted it.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(n, _)| *n == name).map(|(_, v)| &**v)
    }

    /// The object in a form that was made before.
    pub fn form(&self, form: u64) -> Option<Bytes> {
        let forms = self.forms.get()?.lock();
        let (_, bytes) = forms.iter().find(|(known, _)| *known == form)?;
        Some(bytes.clone().unwrap_or_else(|| self.bytes.clone()))
    }

    /// Keeps a form, so that it is made once however many read it. `None` says that the
    /// stored bytes need no change. Forms of an older definition are of no more use.
    pub fn keep_form(&self, form: u64, bytes: Option<Bytes>) {
        let mut forms = self.forms.get_or_init(Box::default).lock();
        forms.retain(|(known, _)| *known != form && known >> 10 >= form >> 10);
        forms.push((form, bytes));
    }

    /// The same bytes under another resourceVersion: a DELETED event carries the last
    /// version of the object with the revision of its deletion.
    pub fn bytes_at(&self, revision: u64) -> Bytes {
        let digits = revision.to_string();
        let mut bytes = BytesMut::with_capacity(self.bytes.len() + 2);
        bytes.put_slice(&self.bytes[..self.version_at.start]);
        bytes.put_slice(digits.as_bytes());
        bytes.put_slice(&self.bytes[self.version_at.end..]);
        bytes.freeze()
    }
}

/// The little that is built of an object whose labels alone are wanted; the rest of it is
/// checked to be JSON and passed over.
#[derive(Deserialize)]
struct Outline {
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
struct Metadata {
    labels: Option<Value>,
}

/// Stored bytes with their resourceVersion, and where it stands. `None` for bytes that the
/// encoder did not write.
pub fn splice_version(raw: &[u8], revision: u64) -> Option<(Bytes, Range<usize>)> {
    let start = find(raw, METADATA)? + METADATA.len();
    let digits = revision.to_string();
    let mut bytes = BytesMut::with_capacity(raw.len() + VERSION.len() + digits.len() + 2);
    bytes.put_slice(&raw[..start]);
    bytes.put_slice(VERSION);
    let version_at = bytes.len()..bytes.len() + digits.len();
    bytes.put_slice(digits.as_bytes());
    bytes.put_u8(b'"');
    if raw.get(start) != Some(&b'}') {
        bytes.put_u8(b',');
    }
    bytes.put_slice(&raw[start..]);
    Some((bytes.freeze(), version_at))
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_version_is_spliced_without_a_decode() {
        let raw = br#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{"x":"y"}},"spec":{}}"#;
        let stored = Stored::new("/registry/pods/ns/a".into(), 42, raw, None).expect("has metadata");
        assert_eq!(
            stored.bytes(),
            &br#"{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"42","name":"a","labels":{"x":"y"}},"spec":{}}"#[..]
        );
        assert!(stored.item().starts_with(b"\"metadata\":{\"resourceVersion\":\"42\",\"name\""));
        assert!(stored.bytes_at(100).windows(7).any(|w| w == b":\"100\","));
        assert_eq!((stored.name(), stored.namespace(), stored.label("x")), ("a", "ns", Some("y")));
    }

    #[test]
    fn labels_are_the_same_with_and_without_fields() {
        let raw = br#"{"metadata":{"name":"a","labels":{"x":"y","":"z"}},"spec":{"labels":{"no":"one"},"node":"n"}}"#;
        let fields =
            |object: &Value| vec![("spec.node", object["spec"]["node"].as_str().unwrap_or_default().to_owned())];
        let with = Stored::new("k".into(), 1, raw, Some(&fields)).expect("has metadata");
        let without = Stored::new("k".into(), 1, raw, None).expect("has metadata");
        assert_eq!(with.labels().collect::<Vec<_>>(), [("", "z"), ("x", "y")]);
        assert_eq!(without.labels().collect::<Vec<_>>(), [("", "z"), ("x", "y")]);
        assert_eq!((with.field("spec.node"), without.field("spec.node")), (Some("n"), None));
    }

    #[test]
    fn what_is_no_json_is_refused_with_and_without_fields() {
        for raw in [&br#"{"metadata":{},"data":{"a":1}"#[..], br#"{"metadata":{},"data":tru}"#] {
            assert!(Stored::new("k".into(), 1, raw, None).is_none());
            assert!(Stored::new("k".into(), 1, raw, Some(&|_| Vec::new())).is_none());
        }
        for labels in ["null", "[]", "{\"a\":1}"] {
            let raw = format!(r#"{{"metadata":{{"labels":{labels}}}}}"#);
            assert_eq!(Stored::new("k".into(), 1, raw.as_bytes(), None).expect("JSON").labels().count(), 0);
        }
    }

    #[test]
    fn empty_metadata_needs_no_comma() {
        let raw = br#"{"metadata":{}}"#;
        let stored = Stored::new("k".into(), 1, raw, None).expect("has metadata");
        assert_eq!(stored.bytes(), &br#"{"metadata":{"resourceVersion":"1"}}"#[..]);
    }

    proptest::proptest! {
        #[test]
        fn whatever_users_write_the_splice_finds_the_objects_own_metadata(key in ".{0,30}", value in ".{0,60}", revision in 1..u64::MAX) {
            let object = serde_json::json!({
                "kind": "ConfigMap", "apiVersion": "v1",
                "metadata": {"name": "a", "annotations": {key.clone(): value.clone()}},
                "data": {key: value},
            });
            let raw = crate::registry::encode::encode_unversioned(&object);
            let (bytes, at) = splice_version(&raw, revision).expect("has metadata");
            let digits = revision.to_string();
            proptest::prop_assert_eq!(&bytes[at], digits.as_bytes());
            let mut expected = object;
            expected["metadata"]["resourceVersion"] = revision.to_string().into();
            proptest::prop_assert_eq!(serde_json::from_slice::<Value>(&bytes).expect("JSON"), expected);
        }
    }
}
