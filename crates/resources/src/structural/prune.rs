//! Removes what the schema does not know (pkg/apiserver/schema/pruning).

use super::node::{Additional, Node};
use serde_json::Value;

/// Prunes a value. `is_root` is for the root of a resource, whose apiVersion, kind and
/// metadata are kept whatever the schema says. Returns the paths of what was unknown.
pub(super) fn prune(value: &mut Value, node: &Node, is_root: bool) -> Vec<String> {
    let mut pruner = Pruner { path: String::new(), unknown: Vec::new() };
    pruner.prune(value, Some(node), is_root);
    pruner.unknown.sort();
    pruner.unknown
}

impl Node {
    /// Defaults say only what the schema knows: old definitions may have others.
    pub fn prune_defaults(&mut self) {
        if let Some(mut default) = self.default.take() {
            prune(&mut default, self, self.embedded);
            self.default = Some(default);
        }
        if let Some(items) = &mut self.items {
            items.prune_defaults();
        }
        self.properties.values_mut().for_each(Node::prune_defaults);
        if let Additional::Schema(part) = &mut self.additional {
            part.prune_defaults();
        }
    }
}

fn is_meta(name: &str) -> bool {
    matches!(name, "apiVersion" | "kind" | "metadata")
}

struct Pruner {
    path: String,
    unknown: Vec<String>,
}

impl Pruner {
    /// Runs `visit` with a step more in the path.
    fn at(&mut self, name: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        visit(self);
        self.path.truncate(length);
    }

    fn at_index(&mut self, index: usize, visit: impl FnOnce(&mut Self)) {
        use std::fmt::Write;
        let length = self.path.len();
        let _ = write!(self.path, "[{index}]");
        visit(self);
        self.path.truncate(length);
    }

    fn record(&mut self, name: &str) {
        self.at(name, |pruner| pruner.unknown.push(pruner.path.clone()));
    }

    fn prune(&mut self, value: &mut Value, node: Option<&Node>, is_resource: bool) {
        if let Some(node) = node.filter(|node| node.preserves_unknown) {
            return self.pass(value, node, is_resource);
        }
        match value {
            Value::Object(map) => map.retain(|name, value| {
                let Some(node) = node else {
                    self.record(name);
                    return false;
                };
                if (is_resource || node.embedded) && is_meta(name) {
                    return true;
                }
                let part = match (node.properties.get(name.as_str()), &node.additional) {
                    (Some(part), _) => Some(part),
                    (None, Additional::Schema(part)) => Some(&**part),
                    (None, Additional::Any | Additional::Forbidden) => None,
                    (None, Additional::Unsaid) => {
                        if !is_meta(name) || !self.path.is_empty() {
                            self.record(name);
                        }
                        return false;
                    }
                };
                self.at(name, |pruner| pruner.prune(value, part, false));
                true
            }),
            Value::Array(items) => {
                let part = node.and_then(|node| node.items.as_deref());
                for (index, item) in items.iter_mut().enumerate() {
                    self.at_index(index, |pruner| pruner.prune(item, part, false));
                }
            }
            _ => {}
        }
    }

    /// Keeps everything here, and prunes below what the schema does describe.
    fn pass(&mut self, value: &mut Value, node: &Node, is_resource: bool) {
        match value {
            Value::Object(map) => {
                for (name, value) in map.iter_mut() {
                    if (is_resource || node.embedded) && is_meta(name) {
                        continue;
                    }
                    let part = match (node.properties.get(name.as_str()), &node.additional) {
                        (Some(part), _) => Some(part),
                        (None, Additional::Unsaid) => continue,
                        (None, Additional::Schema(part)) => Some(&**part),
                        (None, Additional::Any | Additional::Forbidden) => None,
                    };
                    self.at(name, |pruner| pruner.prune(value, part, false));
                }
            }
            Value::Array(items) => {
                let Some(part) = node.items.as_deref() else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    self.at_index(index, |pruner| pruner.pass(item, part, false));
                }
            }
            _ => {}
        }
    }
}
