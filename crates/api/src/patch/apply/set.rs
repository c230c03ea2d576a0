//! Sets of fields: who owns what, as a tree of path elements, and its wire form FieldsV1.
//!
//! A field is in the set when its node is a member; a node that only leads to members is
//! not. For the owner of `spec.replicas` and of all of `metadata.labels`:
//!
//! ```text
//! {"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:replicas":{}}}
//! ```
//!
//! `labels` is a member with children, hence the `.`; `replicas` a member without, hence
//! `{}`; `metadata` and `spec` are only on the way.

use super::element::PathElement;
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::fmt;

/// **Invariant:** nodes are in the order of their elements, and none is empty: each is a
/// member or has children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    pub(super) nodes: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) element: PathElement,
    pub(super) member: bool,
    pub(super) children: Set,
}

impl Node {
    fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }
}

/// A path to a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path(pub Vec<PathElement>);

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|element| element.fmt(f))
    }
}

impl Set {
    pub fn new() -> Self {
        Self::default()
    }

    /// The set of these paths of field names: `["metadata", "labels"]`.
    pub fn of_fields(paths: &[&[&str]]) -> Self {
        let mut set = Self::new();
        for path in paths {
            set.insert(path.iter().map(|name| PathElement::field(*name)));
        }
        set
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// How many fields are in the set.
    pub fn len(&self) -> usize {
        self.nodes.iter().map(|node| usize::from(node.member) + node.children.len()).sum()
    }

    /// Adds the field at `path`; its parents are not added. The empty path is the whole
    /// object, which nobody owns.
    pub fn insert(&mut self, path: impl IntoIterator<Item = PathElement>) {
        let mut path = path.into_iter().peekable();
        let mut set = self;
        while let Some(element) = path.next() {
            let node = set.node_mut(element);
            if path.peek().is_none() {
                node.member = true;
                return;
            }
            set = &mut node.children;
        }
    }

    fn node_mut(&mut self, element: PathElement) -> &mut Node {
        let index = match self.nodes.binary_search_by(|node| node.element.cmp(&element)) {
            Ok(index) => index,
            Err(index) => {
                self.nodes.insert(index, Node { element, member: false, children: Self::new() });
                index
            }
        };
        &mut self.nodes[index]
    }

    /// Adds a node that comes after all others in most cases; callers that add out of
    /// order call [`Self::restore_order`] when done.
    pub(super) fn push(&mut self, element: PathElement, member: bool, children: Set) {
        if member || !children.is_empty() {
            self.nodes.push(Node { element, member, children });
        }
    }

    pub(super) fn restore_order(&mut self) {
        if !self.nodes.is_sorted_by(|a, b| a.element < b.element) {
            self.nodes.sort_by(|a, b| a.element.cmp(&b.element));
        }
    }

    pub(super) fn get(&self, element: &PathElement) -> Option<&Node> {
        let index = self.nodes.binary_search_by(|node| node.element.cmp(element)).ok()?;
        self.nodes.get(index)
    }

    /// The node of a field name, without making an element of it.
    pub(super) fn get_field(&self, name: &str) -> Option<&Node> {
        let index = self
            .nodes
            .binary_search_by(|node| match &node.element {
                PathElement::Field(own) => own.as_ref().cmp(name),
                _ => Ordering::Greater,
            })
            .ok()?;
        self.nodes.get(index)
    }

    pub fn has(&self, path: &[PathElement]) -> bool {
        let Some((last, parents)) = path.split_last() else { return false };
        let mut set = self;
        for element in parents {
            match set.get(element) {
                Some(node) => set = &node.children,
                None => return false,
            }
        }
        set.get(last).is_some_and(|node| node.member)
    }

    pub fn union(&self, other: &Self) -> Self {
        let mut out = Self { nodes: Vec::with_capacity(self.nodes.len().max(other.nodes.len())) };
        for pair in zip(&self.nodes, &other.nodes) {
            out.nodes.push(match pair {
                (Some(left), Some(right)) => Node {
                    element: left.element.clone(),
                    member: left.member || right.member,
                    children: left.children.union(&right.children),
                },
                (Some(one), None) | (None, Some(one)) => one.clone(),
                (None, None) => continue,
            });
        }
        out
    }

    /// Takes in the fields of `other`; see [`Self::union`].
    pub(super) fn absorb(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
            return;
        }
        for node in other.nodes {
            match self.nodes.binary_search_by(|own| own.element.cmp(&node.element)) {
                Ok(index) => {
                    let own = &mut self.nodes[index];
                    own.member |= node.member;
                    own.children.absorb(node.children);
                }
                Err(index) => self.nodes.insert(index, node),
            }
        }
    }

    /// Fields that are in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        let mut out = Self::new();
        for pair in zip(&self.nodes, &other.nodes) {
            if let (Some(left), Some(right)) = pair {
                out.push(
                    left.element.clone(),
                    left.member && right.member,
                    left.children.intersection(&right.children),
                );
            }
        }
        out
    }

    /// Fields that are in this set only. A field goes only when it is itself in `other`:
    /// a parent in `other` leaves its children.
    pub fn difference(&self, other: &Self) -> Self {
        let mut out = Self::new();
        for pair in zip(&self.nodes, &other.nodes) {
            match pair {
                (Some(left), Some(right)) => out.push(
                    left.element.clone(),
                    left.member && !right.member,
                    left.children.difference(&right.children),
                ),
                (Some(left), None) => out.nodes.push(left.clone()),
                _ => {}
            }
        }
        out
    }

    /// Takes out the fields of `other` in place; see [`Self::difference`].
    pub(super) fn subtract(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        self.nodes.retain_mut(|node| {
            if let Some(right) = other.get(&node.element) {
                node.member &= !right.member;
                node.children.subtract(&right.children);
            }
            !node.is_empty()
        });
    }

    /// Fields that are neither in `other` nor below a field of `other`.
    pub fn recursive_difference(&self, other: &Self) -> Self {
        let mut out = Self::new();
        for pair in zip(&self.nodes, &other.nodes) {
            match pair {
                (Some(left), Some(right)) if !right.member => {
                    out.push(left.element.clone(), left.member, left.children.recursive_difference(&right.children));
                }
                (Some(left), None) => out.nodes.push(left.clone()),
                _ => {}
            }
        }
        out
    }

    /// Only the members below which there are none.
    pub fn leaves(&self) -> Self {
        let mut out = Self::new();
        for node in &self.nodes {
            out.push(node.element.clone(), node.member && node.children.is_empty(), node.children.leaves());
        }
        out
    }

    /// Whether the sets have a field in common.
    pub fn intersects(&self, other: &Self) -> bool {
        zip(&self.nodes, &other.nodes).any(|pair| match pair {
            (Some(left), Some(right)) => (left.member && right.member) || left.children.intersects(&right.children),
            _ => false,
        })
    }

    /// Every field, at each level the members first and then what is below: the order in
    /// which upstream lists conflicts.
    pub fn paths(&self) -> Vec<Path> {
        let mut out = Vec::new();
        self.collect_paths(&mut Vec::new(), &mut out);
        out
    }

    fn collect_paths(&self, prefix: &mut Vec<PathElement>, out: &mut Vec<Path>) {
        for node in self.nodes.iter().filter(|node| node.member) {
            prefix.push(node.element.clone());
            out.push(Path(prefix.clone()));
            prefix.pop();
        }
        for node in &self.nodes {
            prefix.push(node.element.clone());
            node.children.collect_paths(prefix, out);
            prefix.pop();
        }
    }

    /// FieldsV1 as upstream writes it, byte for byte.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(false, &mut out);
        out
    }

    fn write_json(&self, is_member: bool, out: &mut String) {
        out.push('{');
        let mut first = true;
        if is_member && !self.is_empty() {
            out.push_str("\".\":{}");
            first = false;
        }
        for node in &self.nodes {
            if !first {
                out.push(',');
            }
            first = false;
            out.push_str(&Value::String(node.element.wire()).to_string());
            out.push(':');
            node.children.write_json(node.member, out);
        }
        out.push('}');
    }

    /// FieldsV1 as a value.
    pub fn to_value(&self) -> Value {
        Value::Object(self.to_map(false))
    }

    fn to_map(&self, is_member: bool) -> Map<String, Value> {
        let own = (is_member && !self.is_empty()).then(|| (".".to_owned(), Value::Object(Map::new())));
        let below =
            self.nodes.iter().map(|node| (node.element.wire(), Value::Object(node.children.to_map(node.member))));
        own.into_iter().chain(below).collect()
    }

    /// Reads FieldsV1.
    pub fn from_value(value: &Value) -> Result<Self, String> {
        match value {
            Value::Object(map) => Self::from_map(map),
            Value::Null => Ok(Self::new()),
            _ => Err("expected an object".to_owned()),
        }
    }

    fn from_map(map: &Map<String, Value>) -> Result<Self, String> {
        let mut set = Self { nodes: Vec::with_capacity(map.len()) };
        for (key, value) in map {
            if key == "." {
                continue;
            }
            let Some(element) = PathElement::parse(key)? else { continue };
            let children = Self::from_value(value)?;
            let member = children.is_empty() || value.get(".").is_some();
            set.nodes.push(Node { element, member, children });
        }
        set.restore_order();
        Ok(set)
    }

    /// Whether a field of this set is in the set that `fields` is the wire form of; told
    /// without reading the latter.
    pub(super) fn intersects_wire(&self, fields: &Value) -> bool {
        let Value::Object(map) = fields else { return false };
        let mut key = String::new();
        self.nodes.iter().any(|node| {
            key.clear();
            node.element.write(&mut key);
            map.get(&key).and_then(Value::as_object).is_some_and(|found| {
                let is_member = found.is_empty() || found.contains_key(".");
                (node.member && is_member) || map.get(&key).is_some_and(|found| node.children.intersects_wire(found))
            })
        })
    }
}

/// Walks two ordered lists of nodes together: the nodes of an element that both have come
/// as a pair, the others alone.
fn zip<'a>(left: &'a [Node], right: &'a [Node]) -> impl Iterator<Item = (Option<&'a Node>, Option<&'a Node>)> {
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    std::iter::from_fn(move || {
        let order = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) => a.element.cmp(&b.element),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return None,
        };
        Some(match order {
            Ordering::Less => (left.next(), None),
            Ordering::Greater => (None, right.next()),
            Ordering::Equal => (left.next(), right.next()),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn set(text: &str) -> Set {
        Set::from_value(&serde_json::from_str(text).expect("JSON")).expect("FieldsV1")
    }

    #[test]
    fn the_wire_form_is_upstreams() {
        let text = r#"{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:ports":{"k:{\"port\":80}":{".":{},"f:name":{}},"k:{\"port\":443}":{}},"f:replicas":{}}}"#;
        assert_eq!(set(text).to_json(), text);
        assert_eq!(set(text).to_value(), serde_json::from_str::<Value>(text).expect("JSON"));
        assert_eq!(set(text).len(), 6);
        assert_eq!(set("{}").to_json(), "{}");
        assert_eq!(set(r#"{"x:new":{},"f:a":{}}"#).to_json(), r#"{"f:a":{}}"#);
        assert!(Set::from_value(&json!({"bad": {}})).is_err());
        assert!(Set::from_value(&json!([])).is_err());
    }

    #[test]
    fn the_algebra_follows_membership() {
        let left = set(r#"{"f:a":{".":{},"f:x":{},"f:y":{}},"f:b":{}}"#);
        let right = set(r#"{"f:a":{".":{},"f:x":{}},"f:c":{}}"#);
        assert_eq!(left.union(&right).to_json(), r#"{"f:a":{".":{},"f:x":{},"f:y":{}},"f:b":{},"f:c":{}}"#);
        assert_eq!(left.intersection(&right).to_json(), r#"{"f:a":{".":{},"f:x":{}}}"#);
        assert_eq!(left.difference(&right).to_json(), r#"{"f:a":{"f:y":{}},"f:b":{}}"#);
        assert_eq!(left.recursive_difference(&right).to_json(), r#"{"f:b":{}}"#);
        assert_eq!(left.leaves().to_json(), r#"{"f:a":{"f:x":{},"f:y":{}},"f:b":{}}"#);
        // A parent does not take its children with it, unless asked to.
        let child = set(r#"{"f:a":{"f:x":{}}}"#);
        assert_eq!(child.difference(&set(r#"{"f:a":{}}"#)), child);
        assert!(child.recursive_difference(&set(r#"{"f:a":{}}"#)).is_empty());
    }

    #[test]
    fn paths_list_members_before_what_is_below() {
        let paths: Vec<String> =
            set(r#"{"f:a":{"f:x":{}},"f:b":{".":{},"f:y":{}}}"#).paths().iter().map(ToString::to_string).collect();
        assert_eq!(paths, [".b", ".a.x", ".b.y"]);
    }

    fn any_element() -> impl Strategy<Value = PathElement> {
        prop_oneof![
            "[a-c.<&\"]{1,3}".prop_map(PathElement::field),
            (0u8..3).prop_map(|n| PathElement::key(vec![("name".into(), json!(format!("n{n}")))])),
            (0u16..3, any::<bool>()).prop_map(|(port, tcp)| PathElement::key(vec![
                ("port".into(), port.into()),
                ("protocol".into(), if tcp { "TCP".into() } else { "UDP".into() }),
            ])),
            "[a-c]".prop_map(|text| PathElement::Value(text.into())),
            (0i64..4).prop_map(PathElement::Index),
        ]
    }

    fn any_set() -> impl Strategy<Value = Set> {
        prop::collection::vec(prop::collection::vec(any_element(), 1..4), 0..12).prop_map(|paths| {
            let mut set = Set::new();
            paths.into_iter().for_each(|path| set.insert(path));
            set
        })
    }

    proptest! {
        #[test]
        fn written_and_read_again_a_set_is_the_same(set in any_set()) {
            prop_assert_eq!(&Set::from_value(&set.to_value()).expect("ours"), &set);
            let parsed: Value = serde_json::from_str(&set.to_json()).expect("JSON");
            prop_assert_eq!(parsed, set.to_value());
        }

        #[test]
        fn the_operations_agree_with_each_other(a in any_set(), b in any_set()) {
            let union = a.union(&b);
            let (common, only_a, only_b) = (a.intersection(&b), a.difference(&b), b.difference(&a));
            prop_assert_eq!(&only_a.union(&common).union(&only_b), &union);
            prop_assert!(only_a.intersection(&b).is_empty());
            prop_assert_eq!(a.intersects(&b), !common.is_empty());
            prop_assert_eq!(a.intersects_wire(&b.to_value()), !common.is_empty());
            let mut subtracted = a.clone();
            subtracted.subtract(&b);
            prop_assert_eq!(&subtracted, &only_a);
            let mut absorbed = a.clone();
            absorbed.absorb(b.clone());
            prop_assert_eq!(&absorbed, &union);
            prop_assert_eq!(only_a.len() + common.len(), a.len());
        }
    }
}
