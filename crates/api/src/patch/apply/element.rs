//! One step of a path to a field: a field name, the keys of a list item, the value of a
//! set's item, or an index; its order, its wire form (`f:name`, `k:{…}`, `v:…`, `i:3`)
//! and its form in conflict messages (`.name`, `[name="a"]`).

use serde_json::Value;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub enum PathElement {
    Field(Arc<str>),
    /// The keys of an item of a list of type map, in the order of their names.
    Key(Vec<(Arc<str>, Value)>),
    /// An item of a list of type set.
    Value(Value),
    Index(i64),
}

impl PathElement {
    pub fn field(name: impl Into<Arc<str>>) -> Self {
        Self::Field(name.into())
    }

    pub fn key(mut keys: Vec<(Arc<str>, Value)>) -> Self {
        keys.sort_by(|a, b| a.0.cmp(&b.0));
        Self::Key(keys)
    }

    /// Reads the wire form. `Ok(None)` is an element of a kind that is not known: a newer
    /// version wrote it, and upstream drops it.
    pub fn parse(text: &str) -> Result<Option<Self>, String> {
        let (kind, content) = match text.as_bytes() {
            [kind, b':', ..] => (*kind, &text[2..]),
            [] | [_] => return Err("key must be 2 characters long:".to_owned()),
            _ => return Err(format!("missing colon: {text}")),
        };
        Ok(Some(match kind {
            b'f' => Self::Field(content.into()),
            b'v' => Self::Value(serde_json::from_str(content).map_err(|error| error.to_string())?),
            b'k' => match serde_json::from_str(content).map_err(|error| error.to_string())? {
                Value::Object(map) => Self::key(map.into_iter().map(|(name, value)| (name.into(), value)).collect()),
                _ => return Err(format!("expected an object in {text}")),
            },
            b'i' => Self::Index(content.parse().map_err(|_| format!("invalid index in {text}"))?),
            _ => return Ok(None),
        }))
    }

    /// Appends the wire form.
    pub fn write(&self, out: &mut String) {
        match self {
            Self::Field(name) => {
                out.push_str("f:");
                out.push_str(name);
            }
            Self::Key(keys) => {
                out.push_str("k:{");
                for (index, (name, value)) in keys.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_json_string(name, out);
                    out.push(':');
                    write_json(value, out);
                }
                out.push('}');
            }
            Self::Value(value) => {
                out.push_str("v:");
                write_json(value, out);
            }
            Self::Index(index) => {
                out.push_str("i:");
                out.push_str(&index.to_string());
            }
        }
    }

    pub fn wire(&self) -> String {
        let mut out = match self {
            Self::Field(name) => String::with_capacity(name.len() + 2),
            _ => String::with_capacity(32),
        };
        self.write(&mut out);
        out
    }
}

/// Go's encoder writes `<`, `>` and `&` as escapes; ownership written by either side must
/// be the same text, since it is the key of a map.
fn write_json_string(text: &str, out: &mut String) {
    let is_plain = |byte: u8| (0x20..0x7f).contains(&byte) && !matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'&');
    if text.bytes().all(is_plain) {
        out.push('"');
        out.push_str(text);
        out.push('"');
        return;
    }
    for char in Value::String(text.to_owned()).to_string().chars() {
        match char {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            other => out.push(other),
        }
    }
}

fn write_json(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => write_json_string(text, out),
        other => out.push_str(&other.to_string()),
    }
}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(keys) => {
                f.write_str("[")?;
                for (index, (name, value)) in keys.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    write!(f, "{comma}{name}={value}")?;
                }
                f.write_str("]")
            }
            Self::Value(value) => write!(f, "[={value}]"),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for PathElement {}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PathElement {
    /// Fields before keys before values before indices, each in its own order; sets are
    /// written in this order.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(a), Self::Field(b)) => a.cmp(b),
            (Self::Key(a), Self::Key(b)) => {
                for ((name, value), (other_name, other_value)) in a.iter().zip(b) {
                    let order = name.cmp(other_name).then_with(|| compare_values(value, other_value));
                    if order != Ordering::Equal {
                        return order;
                    }
                }
                a.len().cmp(&b.len())
            }
            (Self::Value(a), Self::Value(b)) => compare_values(a, b),
            (Self::Index(a), Self::Index(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PathElement {
    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

/// A total order over JSON values: numbers, strings, booleans, lists, maps, null.
pub(super) fn compare_values(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.as_f64().unwrap_or(0.0).total_cmp(&b.as_f64().unwrap_or(0.0)),
        },
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            for (a, b) in a.iter().zip(b) {
                let order = compare_values(a, b);
                if order != Ordering::Equal {
                    return order;
                }
            }
            a.len().cmp(&b.len())
        }
        (Value::Object(a), Value::Object(b)) => {
            for ((a_key, a_value), (b_key, b_value)) in a.iter().zip(b) {
                let order = a_key.cmp(b_key).then_with(|| compare_values(a_value, b_value));
                if order != Ordering::Equal {
                    return order;
                }
            }
            a.len().cmp(&b.len())
        }
        _ => value_rank(left).cmp(&value_rank(right)),
    }
}

fn value_rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

/// Whether two values are the same to Kubernetes: 1 and 1.0 are.
pub(in crate::patch) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(_), Value::Number(_)) => compare_values(left, right) == Ordering::Equal,
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wire: &str, shown: &str) {
        let element = PathElement::parse(wire).expect("valid").expect("known");
        assert_eq!((element.wire().as_str(), element.to_string().as_str()), (wire, shown));
    }

    #[test]
    fn elements_are_read_and_written_in_both_forms() {
        check("f:spec", ".spec");
        check("f:app.kubernetes.io/name", ".app.kubernetes.io/name");
        check(r#"k:{"name":"web"}"#, r#"[name="web"]"#);
        check(r#"k:{"containerPort":80,"protocol":"TCP"}"#, r#"[containerPort=80,protocol="TCP"]"#);
        check(r#"v:"a""#, r#"[="a"]"#);
        check(r#"v:"a\u003cb""#, r#"[="a<b"]"#);
        check("i:3", "[3]");
        assert_eq!(PathElement::parse("x:new"), Ok(None));
        assert!(PathElement::parse("f").is_err() && PathElement::parse("fspec").is_err());
        assert!(PathElement::parse("k:[1]").is_err() && PathElement::parse("i:x").is_err());
    }

    #[test]
    fn numbers_in_keys_are_ordered_as_numbers() {
        let port = |port: u16| PathElement::key(vec![("port".into(), port.into())]);
        assert!(port(80) < port(443));
        assert!(PathElement::field("z") < port(80));
        assert!(port(80) < PathElement::Value("a".into()));
        assert!(PathElement::Value("a".into()) < PathElement::Index(0));
    }
}
