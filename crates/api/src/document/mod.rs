//! An object read where it stands: [`Node`] is one value of it, either a `serde_json` value
//! (where an object is changed) or a place in the JSON text of a stored object (where it is
//! only read). The protobuf encoder and the Table printers read nodes, so that an answer in
//! another format than JSON needs no tree of values.
//!
//! ```text
//! text   {"metadata":{"name":"a"},"n":[1,2]}
//! index  Object Key(metadata) Object Key(name) Str(a) End Key(n) Array Num(1) Num(2) End End
//!          |                     `---- closes at -----^             `---- closes at --^    ^
//!          `------------------------------- closes at --------------------------------------'
//! ```
//!
//! **Invariant:** reading never fails. A field that is absent, null or of another type than
//! the caller expects reads as nothing, as Go's zero value would.

mod index;
mod own;
mod place;
mod shapes;
mod shared;
mod text;

pub use index::Index;
pub use place::Place;
pub(crate) use place::Token;
pub use shared::{
    Document, DocumentEvent, DocumentList, DocumentStream, DocumentWatch, EventType, KeepIndex, ValuePlace,
    WantsDocuments,
};
pub use text::Text;

use serde_json::Value;

/// One value of an object. Copying it copies a few words.
#[derive(Clone, Copy)]
pub enum Node<'a> {
    Value(&'a Value),
    Text(Place<'a>),
}

/// The JSON type of a node, with what a scalar holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape<'a> {
    Null,
    Bool(bool),
    /// The digits as they stand; [`Node::as_i64`] and its siblings read them.
    Number,
    String(&'a str),
    Array,
    Object,
}

impl Default for Node<'_> {
    fn default() -> Self {
        Self::NULL
    }
}

/// Two nodes are equal when their JSON is, whatever they are read from.
impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self.shape(), other.shape()) {
            (Shape::Array, Shape::Array) => self.items().eq(other.items()),
            (Shape::Object, Shape::Object) => {
                if matches!((self, other), (Self::Text(a), Self::Text(b)) if a.is_raw() || b.is_raw()) {
                    return self.to_value() == other.to_value();
                }
                let mut mine = self.entries();
                mine.all(|(key, value)| other.field(key).is_some_and(|theirs| theirs == value))
                    && self.entries().count() == other.entries().count()
            }
            (Shape::Number, Shape::Number) => match (self.as_i64(), other.as_i64()) {
                (None, None) => self.as_f64() == other.as_f64(),
                (mine, theirs) => mine == theirs,
            },
            (mine, theirs) => mine == theirs,
        }
    }
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_json())
    }
}

impl<'a> From<&'a Value> for Node<'a> {
    fn from(value: &'a Value) -> Self {
        Self::Value(value)
    }
}

impl<'a> Node<'a> {
    /// The node of a field that is not there.
    pub const NULL: Node<'static> = Node::Value(&Value::Null);

    pub fn shape(self) -> Shape<'a> {
        match self {
            Self::Value(Value::Null) => Shape::Null,
            Self::Value(Value::Bool(flag)) => Shape::Bool(*flag),
            Self::Value(Value::Number(_)) => Shape::Number,
            Self::Value(Value::String(text)) => Shape::String(text),
            Self::Value(Value::Array(_)) => Shape::Array,
            Self::Value(Value::Object(_)) => Shape::Object,
            Self::Text(place) => place.shape(),
        }
    }

    pub fn is_null(self) -> bool {
        match self {
            Self::Value(value) => value.is_null(),
            Self::Text(place) => place.is_null(),
        }
    }

    /// The field of an object, unless absent or null.
    pub fn get(self, key: &str) -> Option<Self> {
        self.field(key).filter(|node| !node.is_null())
    }

    /// The field of an object, null or not.
    fn field(self, key: &str) -> Option<Self> {
        match self {
            Self::Value(value) => value.get(key).map(Self::Value),
            Self::Text(place) => place.get(key).map(Self::Text),
        }
    }

    pub fn as_str(self) -> Option<&'a str> {
        match self.shape() {
            Shape::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_bool(self) -> Option<bool> {
        match self.shape() {
            Shape::Bool(flag) => Some(flag),
            _ => None,
        }
    }

    pub fn as_i64(self) -> Option<i64> {
        match self {
            Self::Value(value) => value.as_i64(),
            Self::Text(place) => place.number()?.parse().ok(),
        }
    }

    pub fn as_u64(self) -> Option<u64> {
        match self {
            Self::Value(value) => value.as_u64(),
            Self::Text(place) => place.number()?.parse().ok(),
        }
    }

    pub fn as_f64(self) -> Option<f64> {
        match self {
            Self::Value(value) => value.as_f64(),
            Self::Text(place) => place.number()?.parse().ok(),
        }
    }

    /// The items of an array; nothing for any other value.
    pub fn items(self) -> Items<'a> {
        match self {
            Self::Value(Value::Array(items)) => Items::Values(items.iter()),
            Self::Text(place) if matches!(place.shape(), Shape::Array) => Items::Places(place.children()),
            _ => Items::Values([].iter()),
        }
    }

    /// The fields of an object in the order they stand; nothing for any other value, and
    /// nothing for `fieldsV1` of a text, which is read by [`Node::to_value`] alone.
    pub fn entries(self) -> Entries<'a> {
        match self {
            Self::Value(Value::Object(map)) => Entries::Values(map.iter()),
            Self::Text(place) if matches!(place.shape(), Shape::Object) => Entries::Places(place.children()),
            Self::Value(_) | Self::Text(_) => Entries::Empty,
        }
    }

    /// The number by which the index of a text knows the value.
    pub fn entry(self) -> Option<u32> {
        match self {
            Self::Value(_) => None,
            Self::Text(place) => Some(place.number_of_entry()),
        }
    }

    /// The value as JSON text.
    pub fn to_json(self) -> std::borrow::Cow<'a, str> {
        match self {
            Self::Value(value) => value.to_string().into(),
            Self::Text(place) => place.to_json(),
        }
    }

    /// The value as a tree of its own.
    pub fn to_value(self) -> Value {
        if let Self::Value(value) = self {
            return value.clone();
        }
        if let Self::Text(place) = self
            && let Some(value) = place.raw_value()
        {
            return value;
        }
        match self.shape() {
            Shape::Null => Value::Null,
            Shape::Bool(flag) => flag.into(),
            Shape::String(text) => text.into(),
            Shape::Array => self.items().map(Self::to_value).collect(),
            Shape::Object => self.entries().map(|(key, value)| (key.to_owned(), value.to_value())).collect(),
            Shape::Number => match (self.as_i64(), self.as_u64()) {
                (Some(number), _) => number.into(),
                (None, Some(number)) => number.into(),
                (None, None) => self.as_f64().into(),
            },
        }
    }
}

pub enum Items<'a> {
    Values(std::slice::Iter<'a, Value>),
    Places(place::Children<'a>),
}

impl<'a> Iterator for Items<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        match self {
            Self::Values(values) => values.next().map(Node::Value),
            Self::Places(places) => places.next().map(Node::Text),
        }
    }
}

pub enum Entries<'a> {
    Values(serde_json::map::Iter<'a>),
    Places(place::Children<'a>),
    Empty,
}

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a str, Node<'a>);

    fn next(&mut self) -> Option<(&'a str, Node<'a>)> {
        match self {
            Self::Values(values) => values.next().map(|(key, value)| (key.as_str(), Node::Value(value))),
            Self::Places(places) => {
                let key = places.next()?.text_of_key();
                Some((key, Node::Text(places.next()?)))
            }
            Self::Empty => None,
        }
    }
}

#[cfg(test)]
mod tests;
