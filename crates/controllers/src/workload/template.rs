//! What a pod template is called: when two are the same, and the short hash that names
//! the ReplicaSet or ControllerRevision that stands for one. Used by the deployment and
//! daemon set controllers.

use ferry_api::document::Node;
use ferry_api::view::View;
use ferry_api::view::core::v1::PodTemplateSpecView;
use serde_json::Value;
use std::collections::BTreeMap;

pub(crate) const HASH_LABEL: &str = "pod-template-hash";

/// A name may have this many characters (RFC 1123 subdomain).
const MAX_NAME: usize = 253;

/// A pod template without its hash label and without anything empty: the API may store an
/// absent list as an empty one, and both mean the same. Two of them are equal if they
/// describe the same pods.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CanonicalTemplate(Value);

impl CanonicalTemplate {
    pub(crate) fn of(template: PodTemplateSpecView<'_>) -> Self {
        let mut value = pruned(template.node());
        if let Some(labels) = value.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
            labels.remove(HASH_LABEL);
        }
        Self(value)
    }

    /// A short name for the template, the same for the same template everywhere and always.
    /// `collisions` makes another name when two templates share one.
    pub(crate) fn hash(&self, collisions: Option<i32>) -> String {
        let mut hash = Fnv32::new();
        hash.write(self.0.to_string().as_bytes());
        if let Some(collisions) = collisions {
            hash.write(&i64::from(collisions).to_le_bytes());
        }
        safe_encode(&hash.0.to_string())
    }
}

/// Whether two templates describe the same pods, whatever their hash labels.
pub(crate) fn same_template(a: PodTemplateSpecView<'_>, b: PodTemplateSpecView<'_>) -> bool {
    CanonicalTemplate::of(a) == CanonicalTemplate::of(b)
}

/// A copy without nulls and empty lists, which mean the same as absent fields.
pub(crate) fn pruned(node: Node<'_>) -> Value {
    let mut value = node.to_value();
    prune(&mut value);
    value
}

fn prune(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(prune);
            map.retain(|_, value| match value {
                Value::Null => false,
                // An empty object can be the whole of a volume source (emptyDir: {}).
                Value::Array(items) => !items.is_empty(),
                _ => true,
            });
            map.sort_keys_if_needed();
        }
        Value::Array(items) => items.iter_mut().for_each(prune),
        _ => {}
    }
}

/// JSON objects may keep the order of insertion, depending on how serde_json was built.
trait SortKeys {
    fn sort_keys_if_needed(&mut self);
}

impl SortKeys for serde_json::Map<String, Value> {
    fn sort_keys_if_needed(&mut self) {
        if !self.keys().is_sorted() {
            let sorted: BTreeMap<String, Value> = std::mem::take(self).into_iter().collect();
            self.extend(sorted);
        }
    }
}

struct Fnv32(u32);

impl Fnv32 {
    fn new() -> Self {
        Self(0x811c_9dc5)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    }
}

/// Upstream's alphabet for generated names: no vowels and nothing that reads as one, so
/// that no word comes out by chance.
fn safe_encode(text: &str) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    text.bytes().map(|byte| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()])).collect()
}

pub(crate) fn set_name(deployment: &str, hash: &str) -> String {
    let room = MAX_NAME.saturating_sub(1 + hash.len());
    // Names are ASCII, so any cut is at a character.
    format!("{}-{hash}", deployment.get(..room).unwrap_or(deployment))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn hash(template: &Value, collisions: Option<i32>) -> String {
        CanonicalTemplate::of(template.into()).hash(collisions)
    }

    #[test]
    fn a_hash_names_a_template_and_nothing_else() {
        let web =
            || json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "a"}]}});
        let named = hash(&web(), None);
        assert!((1..=10).contains(&named.len()));
        assert!(named.chars().all(|c| "bcdfghjklmnpqrstvwxz2456789".contains(c)), "{named}");
        let mut same = web();
        same["metadata"]["labels"][HASH_LABEL] = json!("xyz");
        same["metadata"]["creationTimestamp"] = Value::Null;
        same["spec"]["volumes"] = json!([]);
        assert_eq!(hash(&same, None), named);
        let mut other = web();
        other["spec"]["containers"][0]["image"] = json!("b");
        assert_ne!(hash(&other, None), named);
        assert_ne!(hash(&web(), Some(1)), named);
        // The name of a set must not change between two versions of ferry.
        assert_eq!(named, "78dbf6cfb9");
    }

    #[test]
    fn an_empty_volume_source_is_not_nothing() {
        let with = |source: &str| json!({"spec": {"containers": [], "volumes": [{"name": "v", source: {}}]}});
        assert!(!same_template((&with("emptyDir")).into(), (&with("downwardAPI")).into()));
    }

    #[test]
    fn names_stay_within_the_limit() {
        assert_eq!(set_name("web", "abc"), "web-abc");
        assert_eq!(set_name(&"x".repeat(253), "0123456789").len(), 253);
    }
}
