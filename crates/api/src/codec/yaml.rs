//! YAML bodies. A document becomes JSON text, duplicate keys included, and then takes the
//! same way as JSON; aliases may not blow it up.

use super::decode::DecodeError;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;

/// How deep brackets may nest (upstream's limit). The scanner's work grows with the square
/// of it, so that a body of a megabyte of brackets would keep a thread for minutes.
const FLOW_DEPTH_MAX: usize = 10_000;

/// How much longer than YAML its JSON may be: by this factor, which no notation exceeds,
/// and by what a document may gain by honest use of aliases.
const GROWTH_MAX: usize = 8;
const ALIASES_MAX: usize = 1 << 20;

/// Converts one YAML document to JSON text of at most `max_bytes`, and of no more than the
/// document's own size warrants, which bounds what aliases can expand to. A second document
/// is a mistake.
pub fn to_json(body: &[u8], max_bytes: usize) -> Result<String, DecodeError> {
    let text = text_of(body)?;
    let max_bytes = max_bytes.min(body.len() * GROWTH_MAX + ALIASES_MAX);
    let mut documents = serde_yaml_ng::Deserializer::from_str(text);
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    match documents.next() {
        Some(document) => Writer { out: &mut out, max_bytes, is_key: false }
            .deserialize(document)
            .map_err(|error| mistake(error.to_string()))?,
        None => out.push_str("null"),
    }
    for rest in documents {
        let extra = serde_yaml_ng::Value::deserialize(rest).map_err(|error| mistake(error.to_string()))?;
        // A trailing "---" starts a document of nothing.
        if !extra.is_null() {
            return Err(mistake("expected a single document in the stream"));
        }
    }
    Ok(out)
}

/// The text of a body that may be given to the scanner.
fn text_of(body: &[u8]) -> Result<&str, DecodeError> {
    if flow_depth(body) > FLOW_DEPTH_MAX {
        return Err(mistake(format!("exceeded max depth of {FLOW_DEPTH_MAX}")));
    }
    std::str::from_utf8(body).map_err(|error| mistake(error.to_string()))
}

/// The deepest nesting of brackets, taken without regard to quotes: text with ten thousand
/// brackets more opened than closed is no object that anyone means.
fn flow_depth(body: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in body {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// An object as a YAML document.
pub fn encode(value: &Value) -> String {
    serde_yaml_ng::to_string(value).expect("a JSON value has only string keys and is always writable as YAML")
}

/// The first key that stands twice in one map, in the words of Go's YAML reader:
/// `line 9: key "foo" already set in map`. `None` for a document that has none or is none.
pub fn duplicate_key(body: &[u8]) -> Option<String> {
    let text = text_of(body).ok()?;
    let document = serde_yaml_ng::Deserializer::from_str(text).next()?;
    let mut found = None;
    let error = Unique { found: &mut found }.deserialize(document).err()?;
    let (key, line) = (found?, error.location()?.line());
    Some(format!(
        "error converting YAML to JSON: yaml: unmarshal errors:\n  line {line}: key {key:?} already set in map"
    ))
}

/// Walks a document and fails at a key that stands twice, so that the error tells its line.
struct Unique<'a> {
    found: &'a mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for Unique<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Unique { found: self.found })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while entries.next_key_seed(NewKey { seen: &mut seen, found: self.found })?.is_some() {
            entries.next_value_seed(Unique { found: self.found })?;
        }
        Ok(())
    }
}

/// A key that has not been seen in its map.
struct NewKey<'a> {
    seen: &'a mut HashSet<String>,
    found: &'a mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for NewKey<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NewKey<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_bool<E: serde::de::Error>(self, key: bool) -> Result<(), E> {
        self.visit_str(&key.to_string())
    }

    fn visit_i64<E: serde::de::Error>(self, key: i64) -> Result<(), E> {
        self.visit_str(&key.to_string())
    }

    fn visit_u64<E: serde::de::Error>(self, key: u64) -> Result<(), E> {
        self.visit_str(&key.to_string())
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<(), E> {
        if self.seen.insert(key.to_owned()) {
            return Ok(());
        }
        *self.found = Some(key.to_owned());
        Err(E::custom("a key stands twice"))
    }
}

fn mistake(message: impl fmt::Display) -> DecodeError {
    DecodeError::unrecognized(format!("error converting YAML to JSON: yaml: {message}"))
}

/// Writes the JSON of what it is given; a scalar that is a key is written as a string.
struct Writer<'a> {
    out: &'a mut String,
    max_bytes: usize,
    is_key: bool,
}

impl Writer<'_> {
    fn put<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        if self.out.len() + text.len() > self.max_bytes {
            return Err(E::custom("document contains excessive aliasing"));
        }
        if self.is_key {
            self.out.push('"');
        }
        self.out.push_str(text);
        if self.is_key {
            self.out.push('"');
        }
        Ok(())
    }

    fn inner(&mut self, is_key: bool) -> Writer<'_> {
        Writer { out: self.out, max_bytes: self.max_bytes, is_key }
    }
}

impl<'de> DeserializeSeed<'de> for Writer<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Writer<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML value")
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.put(if value { "true" } else { "false" })
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.put(&value.to_string())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.put(&value.to_string())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        if !value.is_finite() {
            return Err(E::custom(format!("{value} is no JSON number")));
        }
        self.put(&super::json::float_value(value).to_string())
    }

    fn visit_str<E: serde::de::Error>(mut self, value: &str) -> Result<(), E> {
        let quoted = Value::from(value).to_string();
        self.is_key = false;
        self.put(&quoted)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.put("null")
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<(), E> {
        self.put("null")
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        if self.is_key {
            return Err(serde::de::Error::custom("a list cannot be a key"));
        }
        self.inner(false).put("[")?;
        let start = self.out.len();
        loop {
            let comma = self.out.len();
            if comma > start {
                self.inner(false).put(",")?;
            }
            if items.next_element_seed(self.inner(false))?.is_none() {
                self.out.truncate(comma);
                return self.put("]");
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        if self.is_key {
            return Err(serde::de::Error::custom("a map cannot be a key"));
        }
        self.inner(false).put("{")?;
        let start = self.out.len();
        loop {
            let comma = self.out.len();
            if comma > start {
                self.inner(false).put(",")?;
            }
            if entries.next_key_seed(self.inner(true))?.is_none() {
                self.out.truncate(comma);
                return self.put("}");
            }
            self.inner(false).put(":")?;
            entries.next_value_seed(self.inner(false))?;
        }
    }

    /// A tagged value is taken for what it holds.
    fn visit_enum<A: serde::de::EnumAccess<'de>>(self, data: A) -> Result<(), A::Error> {
        use serde::de::VariantAccess;
        let (_, value) = data.variant::<serde::de::IgnoredAny>()?;
        value.newtype_variant_seed(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Result<String, String> {
        to_json(text.as_bytes(), 10_000).map_err(|error| error.to_string())
    }

    #[test]
    fn deep_brackets_never_reach_the_scanner() {
        // A megabyte of them would keep it busy for minutes.
        let deep = "[".repeat(1 << 20);
        assert_eq!(
            json(&deep).expect_err("too deep"),
            "error converting YAML to JSON: yaml: exceeded max depth of 10000"
        );
        assert_eq!(duplicate_key(deep.as_bytes()), None);
    }

    #[test]
    fn a_key_that_stands_twice_is_told_with_its_line() {
        let text = "\na: 1\nspec:\n  foo: 1\n  list:\n  - x: 1\n  foo: 2\n";
        assert_eq!(
            duplicate_key(text.as_bytes()).expect("a duplicate"),
            "error converting YAML to JSON: yaml: unmarshal errors:\n  line 7: key \"foo\" already set in map"
        );
        assert_eq!(duplicate_key(b"{\"a\": 1, \"b\": {\"a\": null}}"), None);
        assert_eq!(duplicate_key(b"a: [1, a: 2"), None);
    }

    #[test]
    fn documents_become_json() {
        assert_eq!(
            json("a: 1\nb: [x, null, 1.5, true]\n1: {}"),
            Ok(r#"{"a":1,"b":["x",null,1.5,true],"1":{}}"#.into())
        );
        assert_eq!(json("x: &a {k: v}\ny: *a"), Ok(r#"{"x":{"k":"v"},"y":{"k":"v"}}"#.into()));
        assert_eq!(json("a: 1\na: 2"), Ok(r#"{"a":1,"a":2}"#.into()));
        assert_eq!(json("---\na: \"1\"\n---\n"), Ok(r#"{"a":"1"}"#.into()));
        assert_eq!(json(""), Ok("null".into()));
    }

    #[test]
    fn several_documents_are_refused() {
        assert!(json("a: 1\n---\nb: 2").is_err());
        assert!(json("a: [").is_err() && json("{a: }}").is_err());
    }

    #[test]
    fn aliases_cannot_blow_a_document_up() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let previous = level - 1;
            let items = vec![format!("*a{previous}"); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{items}]\n"));
        }
        assert!(to_json(text.as_bytes(), 1 << 20).is_err());
    }
}
