//! A map made by an expression. Keys are booleans, numbers or strings; `1`, `1u` and `1.0`
//! are the same key.

use std::collections::HashMap;

use super::{Text, Value};

#[derive(Clone, Debug, Default)]
pub struct OwnedMap<'v> {
    entries: Vec<(Value<'v>, Value<'v>)>,
    index: HashMap<Key<'v>, usize>,
    /// The value that selecting an absent key gives; the key is absent all the same.
    absent: Option<Box<Value<'v>>>,
}

#[derive(Clone, Debug)]
enum Key<'v> {
    Bool(bool),
    Int(i64),
    Uint(u64),
    String(Text<'v>),
}

impl Key<'_> {
    /// Something that can be hashed and compared whatever owns the text.
    fn view(&self) -> (u8, u64, &str) {
        match self {
            Key::Bool(value) => (0, u64::from(*value), ""),
            Key::Int(value) => (1, *value as u64, ""),
            Key::Uint(value) => (2, *value, ""),
            Key::String(text) => (3, 0, text),
        }
    }
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.view() == other.view()
    }
}

impl Eq for Key<'_> {}

impl std::hash::Hash for Key<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.view().hash(state);
    }
}

fn key<'v>(value: &Value<'v>) -> Option<Key<'v>> {
    Some(match value {
        Value::Bool(value) => Key::Bool(*value),
        Value::Int(value) => Key::Int(*value),
        Value::Uint(value) => i64::try_from(*value).map_or(Key::Uint(*value), Key::Int),
        Value::Double(value) if value.fract() == 0.0 && value.abs() < i64::MAX as f64 => Key::Int(*value as i64),
        Value::String(text) => Key::String(text.clone()),
        _ => return None,
    })
}

impl<'v> OwnedMap<'v> {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Value<'v>, &Value<'v>)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    pub fn get(&self, wanted: &Value<'v>) -> Option<&Value<'v>> {
        let at = self.index.get(&key(wanted)?)?;
        Some(&self.entries[*at].1)
    }

    pub fn get_str(&self, wanted: &str) -> Option<&Value<'v>> {
        // A few entries are found sooner by looking than by hashing.
        if self.entries.len() <= 4 {
            return self.entries.iter().find(|(key, _)| key.as_str() == Some(wanted)).map(|(_, value)| value);
        }
        find(self, wanted).map(|at| &self.entries[at].1)
    }

    /// With a value for keys that are absent, instead of an error.
    pub fn with_absent(mut self, value: Value<'v>) -> Self {
        self.absent = Some(Box::new(value));
        self
    }

    pub(crate) fn absent(&self) -> Option<&Value<'v>> {
        self.absent.as_deref()
    }

    /// Puts or replaces; false if the value cannot be a key.
    pub fn insert(&mut self, at: Value<'v>, value: Value<'v>) -> bool {
        let Some(hashed) = key(&at) else { return false };
        match self.index.get(&hashed) {
            Some(found) => self.entries[*found].1 = value,
            None => {
                self.index.insert(hashed, self.entries.len());
                self.entries.push((at, value));
            }
        }
        true
    }
}

fn find<'a>(map: &OwnedMap<'a>, wanted: &'a str) -> Option<usize> {
    map.index.get(&Key::String(Text::Borrowed(wanted))).copied()
}
