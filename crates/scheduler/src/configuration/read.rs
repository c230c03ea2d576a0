//! Reads a tree of values strictly: a field that nobody reads is an error, and so is one of
//! another type.

use ferry_api::field::{ErrorList, Path};
use ferry_api::rules::duration::{GoDuration, parse_duration};
use serde_json::{Map, Value};

/// The mistakes found so far: of the text, and of its meaning.
#[derive(Default)]
pub struct Mistakes {
    /// `unknown field "profiles[0].plugin"`, as a strict decoder has them.
    pub decoding: Vec<String>,
    pub validation: ErrorList,
}

/// An object and the place where it stands.
pub struct Object<'a> {
    fields: Option<&'a Map<String, Value>>,
    pub path: Path,
}

/// The path without the dot that an empty root leaves.
fn text(path: &Path) -> &str {
    path.as_str().trim_start_matches('.')
}

impl<'a> Object<'a> {
    /// `known` are the fields that there are; an absent object has none of them.
    pub fn new(value: Option<&'a Value>, path: Path, known: &[&str], mistakes: &mut Mistakes) -> Self {
        let fields = match value {
            None | Some(Value::Null) => None,
            Some(Value::Object(fields)) => Some(fields),
            Some(_) => {
                mistakes.decoding.push(format!("{}: expected an object", text(&path)));
                None
            }
        };
        for name in fields.into_iter().flat_map(Map::keys).filter(|name| !known.contains(&name.as_str())) {
            mistakes.decoding.push(format!("unknown field {:?}", text(&path.child(name))));
        }
        Self { fields, path }
    }

    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.fields?.get(name).filter(|value| !value.is_null())
    }

    pub fn object(&self, name: &str, known: &[&str], mistakes: &mut Mistakes) -> Object<'a> {
        Object::new(self.get(name), self.path.child(name), known, mistakes)
    }

    /// The objects of a list, all with the same fields.
    pub fn objects(&self, name: &str, known: &[&str], mistakes: &mut Mistakes) -> Vec<Object<'a>> {
        let path = self.path.child(name);
        let items = self.list(name, mistakes).iter().enumerate();
        items.map(|(index, item)| Object::new(Some(item), path.index(index), known, mistakes)).collect()
    }

    pub fn list(&self, name: &str, mistakes: &mut Mistakes) -> &'a [Value] {
        match self.get(name) {
            None => &[],
            Some(Value::Array(items)) => items,
            Some(_) => {
                mistakes.decoding.push(format!("{}: expected a list", text(&self.path.child(name))));
                &[]
            }
        }
    }

    pub fn text(&self, name: &str, mistakes: &mut Mistakes) -> Option<&'a str> {
        self.typed(name, "a text", Value::as_str, mistakes)
    }

    pub fn number(&self, name: &str, mistakes: &mut Mistakes) -> Option<i64> {
        self.typed(name, "an integer", Value::as_i64, mistakes)
    }

    /// A duration as Go writes it.
    pub fn duration(&self, name: &str, mistakes: &mut Mistakes) -> Option<GoDuration> {
        let nanos = parse_duration(self.text(name, mistakes)?);
        nanos
            .map_err(|error| mistakes.decoding.push(format!("{}: {error}", text(&self.path.child(name)))))
            .ok()
            .map(GoDuration)
    }

    pub fn flag(&self, name: &str, mistakes: &mut Mistakes) -> Option<bool> {
        self.typed(name, "a boolean", Value::as_bool, mistakes)
    }

    fn typed<T>(
        &self,
        name: &str,
        what: &str,
        read: impl Fn(&'a Value) -> Option<T>,
        mistakes: &mut Mistakes,
    ) -> Option<T> {
        let value = self.get(name)?;
        let found = read(value);
        if found.is_none() {
            mistakes.decoding.push(format!("{}: expected {what}", text(&self.path.child(name))));
        }
        found
    }
}
