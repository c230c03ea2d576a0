//! The namespace and name of an object: the key of caches and work queues.
//!
//! Upstream: `ObjectName` of client-go/tools/cache/object-names.go.

use crate::view::meta::v1::ObjectMetaView;
use std::fmt;

/// Displays as `namespace/name`, or as `name` for a cluster-scoped object, whose namespace is
/// empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey {
    pub namespace: String,
    pub name: String,
}

impl ObjectKey {
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }

    pub fn of(metadata: ObjectMetaView<'_>) -> Self {
        Self::new(metadata.namespace(), metadata.name())
    }

    /// Reads what [`fmt::Display`] writes. `None` if there is more than one slash.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        match (parts.next()?, parts.next(), parts.next()) {
            (name, None, _) => Some(Self::new("", name)),
            (namespace, Some(name), None) => Some(Self::new(namespace, name)),
            _ => None,
        }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() { f.write_str(&self.name) } else { write!(f, "{}/{}", self.namespace, self.name) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_key_is_written_and_read_as_upstream_does() {
        let check = |namespace: &str, name: &str, text: &str| {
            let metadata = json!({"namespace": namespace, "name": name});
            let key = ObjectKey::of(ObjectMetaView::from(&metadata));
            assert_eq!(key, ObjectKey::new(namespace, name));
            assert_eq!(key.to_string(), text);
            assert_eq!(ObjectKey::parse(text), Some(key));
        };
        check("default", "web", "default/web");
        check("", "node-1", "node-1");
        assert_eq!(ObjectKey::parse("a/b/c"), None);
    }
}
