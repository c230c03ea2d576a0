//! One version of one object as the cache holds it: a document that everybody shares, and
//! the little that selectors and keys need without reading it.

use crate::selectable::Selectable;
use crate::wire_form::WireForm;
use bytes::{BufMut, Bytes, BytesMut};
use ferry_api::document::{Document, KeepIndex, Node, Text, ValuePlace};
use parking_lot::Mutex;
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
    document: Arc<Document>,
    /// Where the digits of resourceVersion stand in the document.
    version: ValuePlace,
    selectable: Selectable,
    /// The object as rows show it that do not show the stored bytes; most objects have none.
    forms: OnceLock<Box<Forms>>,
    protobuf: WireForm,
}

/// By [`ferry_resources::custom_resource::Custom::form`]; `None` where the stored bytes are
/// that form.
type Forms = Mutex<Vec<(u64, Option<Bytes>)>>;

/// Names and values of an object's fields that selectors may name.
type SelectableFields<'a> = dyn Fn(Node<'_>) -> Vec<(&'static str, String)> + 'a;

impl Stored {
    /// Takes bytes as the store has them (without resourceVersion) into the cache.
    /// `fields` are those that selectors may name; none for a kind that has none.
    pub fn new(
        key: Arc<str>,
        revision: u64,
        raw: &[u8],
        keep: KeepIndex,
        fields: &SelectableFields<'_>,
    ) -> Option<Self> {
        let (bytes, version_at) = splice_version(raw, revision)?;
        let version = |object: Node<'_>| object.get("metadata")?.get("resourceVersion")?.entry();
        let (document, (selectable, entry)) =
            Document::shared(bytes, keep, |object| (Selectable::of(object, fields(object)), version(object))).ok()?;
        let version = document.value_place(entry?, version_at);
        let forms = OnceLock::new();
        let document = Arc::new(document);
        Some(Self { key, revision, document, version, selectable, forms, protobuf: WireForm::default() })
    }

    /// An object of no kind in particular: nobody follows it, and selectors name its labels only.
    pub fn plain(key: Arc<str>, revision: u64, raw: &[u8]) -> Option<Self> {
        Self::new(key, revision, raw, KeepIndex::No, &|_| Vec::new())
    }

    /// `/registry/pods/default/web`.
    pub fn key(&self) -> &Arc<str> {
        &self.key
    }

    /// The revision of the write that made this version; metadata.resourceVersion.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The object as JSON with its resourceVersion.
    pub fn text(&self) -> Text<'_> {
        self.document.text()
    }

    /// The same in one stretch.
    pub fn to_bytes(&self) -> Bytes {
        self.document.to_bytes()
    }

    /// The bytes that this version keeps in memory, but for what others asked for it to keep.
    pub fn size(&self) -> usize {
        size_of::<Self>() + size_of::<Document>() + self.document.own_size() + self.selectable.size()
    }

    pub fn document(&self) -> &Arc<Document> {
        &self.document
    }

    /// Whether a key stands anywhere in the object, or a key with the literal that is its
    /// value: a no that costs less than decoding it. The text must be one that JSON writes in
    /// one way only.
    pub fn mentions(&self, text: &str) -> bool {
        self.text().pieces().any(|piece| std::str::from_utf8(piece).is_ok_and(|piece| piece.contains(text)))
    }

    /// The object as an item of a list, without its opening brace: upstream's lists say
    /// kind and apiVersion once, for all items.
    pub fn item(&self) -> Text<'_> {
        self.document.text_from(self.version, METADATA.len() + VERSION.len())
    }

    /// The object decoded. Costs a parse; use it where an object is changed or printed.
    pub fn value(&self) -> Value {
        serde_json::from_slice(&self.text().to_cow()).unwrap_or(Value::Null)
    }

    pub fn name(&self) -> &str {
        self.key.rsplit('/').next().unwrap_or_default()
    }

    /// Meaningful only for namespaced kinds: the part of the key before the name.
    pub fn namespace(&self) -> &str {
        self.key.rsplit('/').nth(1).unwrap_or_default()
    }

    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.selectable.labels()
    }

    pub fn label(&self, key: &str) -> Option<&str> {
        self.selectable.labels().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// The value of a field that selectors may name (besides metadata.name and
    /// metadata.namespace), as the kind's strategy extracted it.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.selectable.field(name)
    }

    /// The message of the stored object in protobuf, if somebody asked for it.
    pub fn protobuf(&self) -> &WireForm {
        &self.protobuf
    }

    /// The object in a form that was made before.
    pub fn form(&self, form: u64) -> Option<Bytes> {
        let forms = self.forms.get()?.lock();
        let (_, bytes) = forms.iter().find(|(known, _)| *known == form)?;
        Some(bytes.clone().unwrap_or_else(|| self.to_bytes()))
    }

    /// Keeps a form, so that it is made once however many read it. `None` says that the
    /// stored bytes need no change. Forms of an older definition are of no more use.
    pub fn keep_form(&self, form: u64, bytes: Option<Bytes>) {
        let mut forms = self.forms.get_or_init(Box::default).lock();
        forms.retain(|(known, _)| *known != form && known >> 10 >= form >> 10);
        forms.push((form, bytes));
    }

    /// The same object under another resourceVersion: a DELETED event carries the last
    /// version of the object with the revision of its deletion.
    pub fn document_at(&self, revision: u64) -> Document {
        self.document.with_value(self.version, &revision.to_string())
    }
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
    use serde_json::json;

    #[test]
    fn resource_version_is_spliced_without_a_decode() {
        let raw = br#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{"x":"y"}},"spec":{}}"#;
        let stored = stored("/registry/pods/ns/a", 42, raw).expect("has metadata");
        assert_eq!(
            stored.to_bytes(),
            &br#"{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"42","name":"a","labels":{"x":"y"}},"spec":{}}"#[..]
        );
        assert!(stored.item().to_bytes().starts_with(b"\"metadata\":{\"resourceVersion\":\"42\",\"name\""));
        assert!(stored.document_at(100).to_bytes().windows(7).any(|w| w == b":\"100\","));
        assert_eq!((stored.name(), stored.namespace(), stored.label("x")), ("a", "ns", Some("y")));
    }

    fn stored(key: &str, revision: u64, raw: &[u8]) -> Option<Stored> {
        Stored::plain(key.into(), revision, raw)
    }

    #[test]
    fn labels_and_fields_are_the_same_whether_or_not_the_index_stays() {
        let raw = br#"{"metadata":{"name":"a","labels":{"x":"y","":"z"}},"spec":{"labels":{"no":"one"},"node":"n"}}"#;
        let fields = |object: Node<'_>| {
            let node = object.get("spec").and_then(|spec| spec.get("node")).and_then(Node::as_str);
            vec![("spec.node", node.unwrap_or_default().to_owned())]
        };
        for keep in [KeepIndex::Yes, KeepIndex::No] {
            let stored = Stored::new("k".into(), 1, raw, keep, &fields).expect("has metadata");
            assert_eq!(stored.labels().collect::<Vec<_>>(), [("x", "y"), ("", "z")]);
            assert_eq!((stored.field("spec.node"), stored.field("spec.no")), (Some("n"), None));
            assert_eq!(stored.document().root().to_value(), stored.value());
        }
    }

    #[test]
    fn pods_of_one_template_keep_what_is_their_own() {
        let pod = |n: usize| {
            let uid = format!("00000000-0000-4000-8000-{n:012x}");
            let condition = |kind: &str| {
                json!({"type": kind, "status": "True", "observedGeneration": 1, "lastProbeTime": null,
                    "lastTransitionTime": "2026-01-02T03:04:05Z"})
            };
            let conditions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map(condition);
            let owner = format!(r#"k:{{"uid":"{uid}"}}"#);
            let sets = json!({"f:metadata": {"f:labels": {".": {}, "f:app": {}}, "f:ownerReferences": {".": {}, owner: {}}},
                "f:spec": {"f:containers": {r#"k:{"name":"web"}"#: {".": {}, "f:image": {}, "f:name": {}}}}});
            json!({"kind": "Pod", "apiVersion": "v1",
                "metadata": {"name": format!("web-{n:05}"), "namespace": "default", "uid": uid, "labels": {"app": "web"},
                    "managedFields": [{"manager": "kubelet", "operation": "Update", "fieldsV1": sets}]},
                "spec": {"nodeName": format!("node-{}", n % 7), "containers": [{"name": "web", "image": "registry.example/web:1"}]},
                "status": {"phase": "Running", "podIP": format!("10.0.{}.{}", n / 250, n % 250),
                    "conditions": conditions}})
        };
        let fields = |_: Node<'_>| vec![("spec.nodeName", "node".to_owned())];
        let stored = |n: usize| {
            let raw = crate::encode::encode_unversioned(&pod(n));
            let key = format!("/registry/pods/default/web-{n:05}");
            Stored::new(key.as_str().into(), 1_000 + n as u64, &raw, KeepIndex::Yes, &fields).expect("has metadata")
        };
        let pods: Vec<Stored> = (0..300).map(stored).collect();
        for (n, stored) in pods.iter().enumerate() {
            let mut expected = pod(n);
            expected["metadata"]["resourceVersion"] = (1_000 + n).to_string().into();
            assert_eq!(stored.document().root().to_value(), expected);
            expected["metadata"]["resourceVersion"] = "7".into();
            assert_eq!(stored.document_at(7).root().to_value(), expected);
        }
        let (whole, own) = (pods[299].text().len(), pods[299].size());
        assert!(own < 400 && whole > 1_000, "{own} of {whole}");
    }

    #[test]
    fn bytes_that_are_no_json_are_refused() {
        for raw in [&br#"{"metadata":{},"data":{"a":1}"#[..], br#"{"metadata":{},"data":tru}"#] {
            for keep in [KeepIndex::Yes, KeepIndex::No] {
                assert!(Stored::new("k".into(), 1, raw, keep, &|_| Vec::new()).is_none());
            }
        }
        for labels in ["null", "[]", "{\"a\":1}"] {
            let raw = format!(r#"{{"metadata":{{"labels":{labels}}}}}"#);
            assert_eq!(stored("k", 1, raw.as_bytes()).expect("JSON").labels().count(), 0);
        }
    }

    #[test]
    fn empty_metadata_needs_no_comma() {
        let raw = br#"{"metadata":{}}"#;
        let stored = stored("k", 1, raw).expect("has metadata");
        assert_eq!(stored.to_bytes(), &br#"{"metadata":{"resourceVersion":"1"}}"#[..]);
    }

    proptest::proptest! {
        #[test]
        fn whatever_users_write_the_splice_finds_the_objects_own_metadata(key in ".{0,30}", value in ".{0,60}", revision in 1..u64::MAX) {
            let object = json!({
                "kind": "ConfigMap", "apiVersion": "v1",
                "metadata": {"name": "a", "annotations": {key.clone(): value.clone()}},
                "data": {key: value},
            });
            let raw = crate::encode::encode_unversioned(&object);
            let (bytes, at) = splice_version(&raw, revision).expect("has metadata");
            let digits = revision.to_string();
            proptest::prop_assert_eq!(&bytes[at], digits.as_bytes());
            let mut expected = object;
            expected["metadata"]["resourceVersion"] = revision.to_string().into();
            proptest::prop_assert_eq!(serde_json::from_slice::<Value>(&bytes).expect("JSON"), expected);
        }
    }
}
