//! Scalars, lists and maps as every generated view reads them out of a [`Node`].

use crate::codec::time::{Precision, parse_time};
pub(super) use crate::document::Node;
use crate::document::{Entries, Items, Shape};
pub(super) use crate::quantity::Quantity;
use base64::Engine;
pub(super) use jiff::Timestamp;
use std::marker::PhantomData;

/// A view of a struct type: a node that is read by the names of the type's fields.
pub trait View<'a>: Copy {
    fn over(node: Node<'a>) -> Self;
    fn node(self) -> Node<'a>;
}

/// Anything that may stand at a place: a scalar, a list, a map or a view.
pub trait Element<'a>: Sized {
    /// `None` if a value of another type stands here.
    fn of(node: Node<'a>) -> Option<Self>;
}

/// The field of that name, or the zero value of its type.
pub(super) fn read<'a, T: Element<'a> + Default>(node: Node<'a>, name: &str) -> T {
    find(node, name).unwrap_or_default()
}

/// The field of that name where it may be absent.
pub(super) fn find<'a, T: Element<'a>>(node: Node<'a>, name: &str) -> Option<T> {
    T::of(node.get(name)?)
}

impl<'a> Element<'a> for Node<'a> {
    fn of(node: Node<'a>) -> Option<Self> {
        Some(node)
    }
}

impl<'a> Element<'a> for &'a str {
    fn of(node: Node<'a>) -> Option<Self> {
        node.as_str()
    }
}

impl<'a> Element<'a> for bool {
    fn of(node: Node<'a>) -> Option<Self> {
        node.as_bool()
    }
}

impl<'a> Element<'a> for i32 {
    fn of(node: Node<'a>) -> Option<Self> {
        node.as_i64().and_then(|number| number.try_into().ok())
    }
}

impl<'a> Element<'a> for i64 {
    fn of(node: Node<'a>) -> Option<Self> {
        node.as_i64()
    }
}

impl<'a> Element<'a> for u32 {
    fn of(node: Node<'a>) -> Option<Self> {
        node.as_u64().and_then(|number| number.try_into().ok())
    }
}

impl<'a> Element<'a> for u64 {
    fn of(node: Node<'a>) -> Option<Self> {
        node.as_u64()
    }
}

impl<'a> Element<'a> for f64 {
    fn of(node: Node<'a>) -> Option<Self> {
        node.as_f64()
    }
}

/// Go's zero time is written as null and reads as absent, and so does year 1.
impl<'a> Element<'a> for Timestamp {
    fn of(node: Node<'a>) -> Option<Self> {
        let moment = parse_time(node.as_str()?, Precision::Seconds).ok().filter(|moment| !moment.is_zero())?;
        Timestamp::new(moment.seconds, moment.nanos).ok()
    }
}

impl<'a> Element<'a> for Quantity {
    fn of(node: Node<'a>) -> Option<Self> {
        match node.shape() {
            Shape::String(text) => Quantity::parse(text).ok(),
            Shape::Number => Quantity::parse(&node.to_json()).ok(),
            _ => None,
        }
    }
}

/// A number of things, or a share of them: `3` or `"25%"`; also a port, or a port's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntOrString<'a> {
    Int(i32),
    String(&'a str),
}

impl<'a> Element<'a> for IntOrString<'a> {
    fn of(node: Node<'a>) -> Option<Self> {
        match node.shape() {
            Shape::String(text) => Some(Self::String(text)),
            Shape::Number => i32::of(node).map(Self::Int),
            _ => None,
        }
    }
}

impl std::fmt::Display for IntOrString<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(number) => number.fmt(f),
            Self::String(text) => text.fmt(f),
        }
    }
}

/// Bytes, which JSON has as base64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Base64<'a>(pub &'a str);

impl Base64<'_> {
    /// The bytes; none of a text that is not base64.
    pub fn decode(self) -> Vec<u8> {
        base64::engine::general_purpose::STANDARD.decode(self.0).unwrap_or_default()
    }
}

impl<'a> Element<'a> for Base64<'a> {
    fn of(node: Node<'a>) -> Option<Self> {
        node.as_str().map(Self)
    }
}

/// The items of a list. Items of another type are passed over.
pub struct List<'a, T> {
    node: Node<'a>,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for List<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for List<'_, T> {}

impl<T> Default for List<'_, T> {
    fn default() -> Self {
        Self { node: Node::NULL, of: PhantomData }
    }
}

impl<'a, T: Element<'a>> Element<'a> for List<'a, T> {
    fn of(node: Node<'a>) -> Option<Self> {
        matches!(node.shape(), Shape::Array).then_some(Self { node, of: PhantomData })
    }
}

impl<'a, T: Element<'a>> List<'a, T> {
    pub fn iter(self) -> ListIter<'a, T> {
        ListIter { items: self.node.items(), of: PhantomData }
    }

    /// Counts the items, so it costs as much as going over them.
    pub fn len(self) -> usize {
        self.iter().count()
    }

    pub fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }

    pub fn first(self) -> Option<T> {
        self.iter().next()
    }

    pub fn get(self, position: usize) -> Option<T> {
        self.iter().nth(position)
    }

    pub fn node(self) -> Node<'a> {
        self.node
    }
}

impl<'a> List<'a, &'a str> {
    pub fn contains(self, text: &str) -> bool {
        self.iter().any(|item| item == text)
    }

    pub fn to_vec(self) -> Vec<String> {
        self.iter().map(str::to_owned).collect()
    }
}

impl<'a, T: Element<'a> + PartialEq> PartialEq for List<'a, T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'a, T: Element<'a> + std::fmt::Debug> std::fmt::Debug for List<'a, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, T: Element<'a>> IntoIterator for List<'a, T> {
    type Item = T;
    type IntoIter = ListIter<'a, T>;

    fn into_iter(self) -> ListIter<'a, T> {
        self.iter()
    }
}

pub struct ListIter<'a, T> {
    items: Items<'a>,
    of: PhantomData<fn() -> T>,
}

impl<'a, T: Element<'a>> Iterator for ListIter<'a, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.items.by_ref().find_map(T::of)
    }
}

/// A map by name, in the order it stands. Values of another type are passed over.
pub struct Map<'a, T> {
    node: Node<'a>,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Map<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Map<'_, T> {}

impl<T> Default for Map<'_, T> {
    fn default() -> Self {
        Self { node: Node::NULL, of: PhantomData }
    }
}

impl<'a, T: Element<'a>> Element<'a> for Map<'a, T> {
    fn of(node: Node<'a>) -> Option<Self> {
        matches!(node.shape(), Shape::Object).then_some(Self { node, of: PhantomData })
    }
}

impl<'a, T: Element<'a>> Map<'a, T> {
    pub fn get(self, name: &str) -> Option<T> {
        find(self.node, name)
    }

    pub fn contains_key(self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub fn iter(self) -> MapIter<'a, T> {
        MapIter { entries: self.node.entries(), of: PhantomData }
    }

    pub fn keys(self) -> impl Iterator<Item = &'a str> {
        self.iter().map(|(name, _)| name)
    }

    pub fn values(self) -> impl Iterator<Item = T> {
        self.iter().map(|(_, value)| value)
    }

    pub fn len(self) -> usize {
        self.iter().count()
    }

    pub fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }

    pub fn node(self) -> Node<'a> {
        self.node
    }
}

impl<'a> Map<'a, &'a str> {
    pub fn to_map(self) -> std::collections::BTreeMap<String, String> {
        self.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

/// Equal whatever the order.
impl<'a, T: Element<'a> + PartialEq> PartialEq for Map<'a, T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name).is_some_and(|v| v == value))
    }
}

impl<'a, T: Element<'a> + std::fmt::Debug> std::fmt::Debug for Map<'a, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<'a, T: Element<'a>> IntoIterator for Map<'a, T> {
    type Item = (&'a str, T);
    type IntoIter = MapIter<'a, T>;

    fn into_iter(self) -> MapIter<'a, T> {
        self.iter()
    }
}

pub struct MapIter<'a, T> {
    entries: Entries<'a>,
    of: PhantomData<fn() -> T>,
}

impl<'a, T: Element<'a>> Iterator for MapIter<'a, T> {
    type Item = (&'a str, T);

    fn next(&mut self) -> Option<(&'a str, T)> {
        self.entries.by_ref().find_map(|(name, value)| Some((name, T::of(value)?)))
    }
}

/// Whether two values mean the same to Go: a field that is absent, null, false, 0, "" or
/// empty equals any other of these. For a status that a controller has computed and the one
/// that is stored; not for specs, where a pointer to zero differs from none.
pub fn alike(a: Node<'_>, b: Node<'_>) -> bool {
    match (a.shape(), b.shape()) {
        (Shape::Object, Shape::Object) => {
            let covers = |a: Node<'_>, b: Node<'_>| {
                a.entries().all(|(name, value)| alike(value, b.get(name).unwrap_or_default()))
            };
            covers(a, b) && covers(b, a)
        }
        (Shape::Array, Shape::Array) => {
            let (mut left, mut right) = (a.items(), b.items());
            loop {
                match (left.next(), right.next()) {
                    (None, None) => return true,
                    (Some(a), Some(b)) if alike(a, b) => {}
                    _ => return false,
                }
            }
        }
        _ => a == b || (is_zero(a) && is_zero(b)),
    }
}

fn is_zero(node: Node<'_>) -> bool {
    match node.shape() {
        Shape::Null | Shape::Bool(false) | Shape::String("") => true,
        Shape::Number => node.as_f64() == Some(0.0),
        Shape::Array => node.items().next().is_none(),
        Shape::Object => node.entries().all(|(_, value)| is_zero(value)),
        _ => false,
    }
}
