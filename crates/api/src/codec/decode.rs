//! Strict decoding of a request body against its type, in one pass.
//!
//! Unknown fields and duplicate fields are gathered with their paths, for the caller to
//! refuse, warn of or ignore as `fieldValidation` asks; unknown ones never reach the
//! object. A value of a wrong type ends decoding with the text that Go's decoder gives.
//! What is read has its final form: times in UTC, quantities canonical, zero values as
//! `normalize.rs` has them.

use super::go_type;
use super::json::{self, Kind, Reader, SyntaxError};
use super::normalize::{fill, is_omitted, json_schema_props, zero};
use super::time::{Precision, format_duration, format_time, parse_duration, parse_time};
use crate::gvk::{GroupVersion, GroupVersionKind};
use crate::object::Meta;
use crate::quantity;
use crate::schema::{Field, Special, Type, TypeDef};
use crate::status::Status;
use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// An object with all that strictness has to say about its text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    pub value: Value,
    /// Paths of fields that the type does not have: `spec.foo`.
    pub unknown: Vec<String>,
    /// Paths of fields that stood more than once; the last one counts.
    pub duplicate: Vec<String>,
    /// Both as sentences in the order of the text: `unknown field "spec.foo"`. These are
    /// the warnings of `fieldValidation=Warn`.
    pub violations: Vec<String>,
}

impl Decoded {
    /// The error of `fieldValidation=Strict`, if the text breaks it.
    pub fn strict_error(&self, expected: &GroupVersionKind) -> Option<Status> {
        if self.violations.is_empty() {
            return None;
        }
        let message = format!("strict decoding error: {}", self.violations.join(", "));
        Some(DecodeError { message, found: Some(self.value.gvk()) }.into_status(expected, &[]))
    }
}

/// A body that cannot be decoded at all. The text is that of upstream's decoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    message: String,
    /// The type that the body says it is; `None` when not even that could be read.
    found: Option<GroupVersionKind>,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DecodeError {}

impl DecodeError {
    /// A body of which not even the kind could be read.
    pub fn unrecognized(message: String) -> Self {
        Self { message, found: None }
    }

    pub(crate) fn of_kind(message: String, found: GroupVersionKind) -> Self {
        Self { message, found: Some(found) }
    }

    /// The 400 that upstream answers where an `expected` was to be read from `body`.
    pub fn into_status(self, expected: &GroupVersionKind, body: &[u8]) -> Status {
        let (message, wanted) = (self.message, &expected.kind);
        match self.found {
            Some(found) => Status::bad_request(format!(
                "{} in version {:?} cannot be handled as a {wanted}: {message}",
                found.kind, found.version
            )),
            None => Status::bad_request(format!(
                "the object provided is unrecognized (must be of type {wanted}): {message} ({})",
                summarize(body)
            )),
        }
    }
}

/// Decodes a JSON body that must be of the kind `expected`. A body that leaves out
/// apiVersion or kind is taken to be of that kind; one that names another is refused.
pub fn decode(body: &[u8], definition: &TypeDef, expected: &GroupVersionKind) -> Result<Decoded, DecodeError> {
    let (result, api_version, kind) = walk(body, definition);
    let mut decoded = match result {
        Ok(decoded) => decoded,
        Err(Failure::Unrecognized(message)) => return Err(DecodeError::unrecognized(message)),
        Err(Failure::Type(message)) => {
            let found = check_kind(&api_version, &kind, expected)?;
            return Err(DecodeError::of_kind(message, found));
        }
    };
    let found = check_kind(&api_version, &kind, expected)?;
    decoded.value.set_gvk(&found);
    Ok(decoded)
}

/// Decodes a JSON body against a type whatever kind it names: options of a request, and
/// parts of objects.
pub fn decode_as(body: &[u8], definition: &TypeDef) -> Result<Decoded, DecodeError> {
    match walk(body, definition).0 {
        Ok(decoded) => Ok(decoded),
        Err(Failure::Unrecognized(message) | Failure::Type(message)) => Err(DecodeError::unrecognized(message)),
    }
}

/// Decodes a value that is JSON already, such as the outcome of a patch.
pub fn decode_value(value: &Value, definition: &TypeDef, expected: &GroupVersionKind) -> Result<Decoded, DecodeError> {
    decode(value.to_string().as_bytes(), definition, expected)
}

/// Decodes a JSON body of no particular type; only duplicate fields break strictness.
pub fn decode_any(body: &[u8]) -> Result<Decoded, DecodeError> {
    let text = text_of(body);
    let mut walk = Walk::new(&text);
    let value = walk.any().and_then(|value| walk.reader.end().map(|()| value));
    match value {
        Ok(value) => Ok(walk.finish(value)),
        Err(error) => Err(DecodeError::unrecognized(json_parse_error(&error.0))),
    }
}

/// Go replaces bytes that are no UTF-8, too. Whether there are any is asked first, which is
/// several times faster than replacing none.
fn text_of(body: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(body) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(body),
    }
}

enum Failure {
    /// The body is no JSON, or its apiVersion and kind are no strings.
    Unrecognized(String),
    Type(String),
}

/// Decodes, and gives apiVersion and kind as far as they were read.
fn walk(body: &[u8], definition: &TypeDef) -> (Result<Decoded, Failure>, String, String) {
    let text = text_of(body);
    let mut walk = Walk::new(&text);
    let value = walk.structure(definition).and_then(|value| walk.reader.end().map(|()| value));
    let value = match value {
        Ok(value) => value,
        Err(error) => return (Err(Failure::Unrecognized(json_parse_error(&error.0))), String::new(), String::new()),
    };
    let member = |key| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind) = (member("apiVersion"), member("kind"));
    let failure = match (walk.identity_error.take(), walk.fatal.take().or(walk.saved.take())) {
        (Some(error), _) => Some(Failure::Unrecognized(json_parse_error(&error))),
        (None, Some(error)) => Some(Failure::Type(error)),
        (None, None) => None,
    };
    match failure {
        Some(failure) => (Err(failure), api_version, kind),
        None => (Ok(walk.finish(value)), api_version, kind),
    }
}

fn json_parse_error(message: &str) -> String {
    format!("couldn't get version/kind; json parse error: {message}")
}

/// The kind that a body says it is, with upstream's rule for what it leaves out; an error
/// if that is another than the expected one.
pub(crate) fn check_kind(
    api_version: &str,
    kind: &str,
    expected: &GroupVersionKind,
) -> Result<GroupVersionKind, DecodeError> {
    let kind = if kind.is_empty() { expected.kind.clone() } else { kind.to_owned().into() };
    let version = if api_version.is_empty() { expected.group_version() } else { GroupVersion::parse(api_version) };
    let found = version.with_kind(kind);
    if found == *expected { Ok(found) } else { Err(DecodeError::of_kind(mismatch(&found, expected), found)) }
}

fn mismatch(found: &GroupVersionKind, expected: &GroupVersionKind) -> String {
    match crate::schema::of_kind(found) {
        None => format!("no kind {:?} is registered for version {:?}", found.kind, found.api_version()),
        Some(_) if found.group_version() != expected.group_version() => format!(
            "the API version in the data ({}) does not match the expected API version ({})",
            found.api_version(),
            expected.api_version()
        ),
        Some(_) => {
            let package = if expected.group.is_empty() { "core" } else { expected.group.as_ref() };
            let package = package.split('.').next().unwrap_or(package);
            format!(
                "converting ({}.{}) to ({package}.{}): unknown conversion",
                found.version, found.kind, expected.kind
            )
        }
    }
}

/// The first bytes of a body, as text if they look like JSON and in hex if not.
fn summarize(body: &[u8]) -> String {
    const MAX: usize = 30;
    let start = &body[..body.len().min(MAX)];
    let more = if body.len() > MAX { " ..." } else { "" };
    match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{more}", String::from_utf8_lossy(start)),
        Some(_) => format!("{}{more}", start.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
    }
}

/// A step from the root to where the walk is.
enum Segment<'a, 't> {
    Field(&'t TypeDef, &'t Field),
    Key(Cow<'a, str>),
    Index(usize),
}

struct Walk<'a, 't> {
    reader: Reader<'a>,
    path: Vec<Segment<'a, 't>>,
    found: Decoded,
    /// More than zero inside of values whose strictness upstream does not check.
    quiet: usize,
    /// The first type error; Go reads on and reports it at the end.
    saved: Option<String>,
    /// The first error of a type with a reader of its own, which Go reports before others.
    fatal: Option<String>,
    /// apiVersion or kind of a wrong type: upstream reads those two before all else.
    identity_error: Option<String>,
}

/// Upstream gathers no more than these.
const MAX_VIOLATIONS: usize = 100;

impl<'a, 't> Walk<'a, 't> {
    fn new(text: &'a str) -> Self {
        Self {
            reader: Reader::new(text),
            path: Vec::new(),
            found: Decoded::default(),
            quiet: 0,
            saved: None,
            fatal: None,
            identity_error: None,
        }
    }

    fn finish(self, value: Value) -> Decoded {
        Decoded { value, ..self.found }
    }

    fn structure(&mut self, definition: &'t TypeDef) -> Result<Value, SyntaxError> {
        self.structure_over(definition, Map::new())
    }

    /// Reads a struct on top of what an earlier field of the same name has set, as Go does.
    fn structure_over(&mut self, definition: &'t TypeDef, mut map: Map<String, Value>) -> Result<Value, SyntaxError> {
        let kind = self.reader.peek()?;
        match kind {
            Kind::Object => self.fields(definition, &mut map)?,
            Kind::Null => self.reader.null()?,
            other => {
                let name = format!("{}.{}", go_type::version(&definition.package), definition.name);
                self.type_error(other.name(), &name);
                self.reader.skip()?;
            }
        }
        fill(&mut map, definition);
        Ok(Value::Object(map))
    }

    fn fields(&mut self, definition: &'t TypeDef, map: &mut Map<String, Value>) -> Result<(), SyntaxError> {
        self.reader.open()?;
        let mut seen = Seen::default();
        let mut first = true;
        while let Some(key) = self.reader.next_key(&mut first)? {
            let Some(index) = definition.field_index(&key) else {
                if definition.preserve_unknown {
                    if map.contains_key(key.as_ref()) {
                        self.violation("duplicate field", &key);
                    }
                    self.path.push(Segment::Key(key.clone()));
                    let value = self.any()?;
                    self.path.pop();
                    map.insert(key.into_owned(), value);
                } else {
                    self.violation("unknown field", &key);
                    self.reader.skip()?;
                }
                continue;
            };
            let field = &definition.fields[index];
            let again = seen.insert(index);
            if again {
                self.violation("duplicate field", &key);
            }
            self.path.push(Segment::Field(definition, field));
            let null = self.reader.peek()? == Kind::Null;
            if null {
                self.reader.null()?;
                // Null empties what can be nil and leaves the rest as it was.
                if field.pointer || matches!(field.ty, Type::List(_) | Type::Map(_) | Type::Bytes) {
                    map.remove(field.name.as_ref());
                }
            } else {
                let earlier = if again { map.remove(field.name.as_ref()) } else { None };
                let value = match (&field.ty, earlier) {
                    (Type::Struct(reference), Some(Value::Object(earlier))) => {
                        self.structure_over(reference.get(), earlier)?
                    }
                    (Type::Map(_), Some(Value::Object(mut earlier))) => {
                        match self.value(&field.ty, &field.declared, &field.declared_in)? {
                            Value::Object(later) => {
                                earlier.extend(later);
                                Value::Object(earlier)
                            }
                            other => other,
                        }
                    }
                    _ => self.value(&field.ty, &field.declared, &field.declared_in)?,
                };
                if is_omitted(field, &value) {
                    map.remove(field.name.as_ref());
                } else {
                    map.insert(field.name.to_string(), value);
                }
            }
            self.path.pop();
        }
        Ok(())
    }

    /// Reads a value of a type; a null is the zero value, as for elements of lists and maps.
    fn value(&mut self, ty: &'t Type, declared: &'t str, package: &'t str) -> Result<Value, SyntaxError> {
        let kind = self.reader.peek()?;
        if let Type::Special(special) = ty {
            return self.special(*special, kind);
        }
        if kind == Kind::Null {
            self.reader.null()?;
            return Ok(zero(ty));
        }
        match (ty, kind) {
            (Type::Struct(reference), Kind::Object) => self.structure(reference.get()),
            (Type::Bool, Kind::Bool) => Ok(self.reader.bool()?.into()),
            (Type::String, Kind::String) => Ok(Value::String(self.reader.string()?.into_owned())),
            (Type::Bytes, Kind::String) => self.bytes(),
            (Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 | Type::Float64, Kind::Number) => {
                self.number(ty, declared, package)
            }
            (Type::List(item), Kind::Array) => {
                self.reader.open()?;
                let inner = go_type::inner(declared);
                let (mut first, mut items) = (true, Vec::new());
                while self.reader.next_item(&mut first)? {
                    self.path.push(Segment::Index(items.len()));
                    items.push(self.value(item, inner, package)?);
                    self.path.pop();
                }
                Ok(Value::Array(items))
            }
            (Type::Map(item), Kind::Object) => {
                self.reader.open()?;
                let inner = go_type::inner(declared);
                let (mut first, mut entries) = (true, Map::new());
                while let Some(key) = self.reader.next_key(&mut first)? {
                    if entries.contains_key(key.as_ref()) {
                        self.violation("duplicate field", &key);
                    }
                    self.path.push(Segment::Key(key.clone()));
                    let value = self.value(item, inner, package)?;
                    self.path.pop();
                    entries.insert(key.into_owned(), value);
                }
                Ok(Value::Object(entries))
            }
            (_, kind) => {
                self.type_error(kind.name(), &go_type::name(declared, package, ty));
                self.reader.skip()?;
                Ok(zero(ty))
            }
        }
    }

    fn number(&mut self, ty: &Type, declared: &str, package: &str) -> Result<Value, SyntaxError> {
        let text = self.reader.number()?;
        let value = match ty {
            Type::Int32 => text.parse::<i32>().ok().map(Value::from),
            Type::Int64 => text.parse::<i64>().ok().map(Value::from),
            Type::Uint32 => text.parse::<u32>().ok().map(Value::from),
            Type::Uint64 => text.parse::<u64>().ok().map(Value::from),
            _ => text.parse::<f64>().ok().filter(|float| float.is_finite()).map(json::float_value),
        };
        Ok(value.unwrap_or_else(|| {
            self.type_error(&format!("number {text}"), &go_type::name(declared, package, ty));
            Value::from(0)
        }))
    }

    /// Base64 as Go reads it: line breaks count for nothing, loose bits at the end are let go.
    fn bytes(&mut self) -> Result<Value, SyntaxError> {
        const ENGINE: GeneralPurpose = GeneralPurpose::new(
            &base64::alphabet::STANDARD,
            GeneralPurposeConfig::new()
                .with_decode_allow_trailing_bits(true)
                .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
        );
        let text = self.reader.string()?;
        let text: Cow<'_, str> = if text.contains(['\r', '\n']) { text.replace(['\r', '\n'], "").into() } else { text };
        match ENGINE.decode(text.as_bytes()) {
            Ok(bytes) => Ok(Value::String(ENGINE.encode(bytes))),
            Err(error) => {
                let offset = match error {
                    base64::DecodeError::InvalidByte(offset, _) | base64::DecodeError::InvalidLastSymbol(offset, _) => {
                        offset
                    }
                    _ => text.len(),
                };
                if self.saved.is_none() {
                    self.saved = Some(format!("illegal base64 data at input byte {offset}"));
                }
                Ok(Value::String(String::new()))
            }
        }
    }

    fn special(&mut self, special: Special, kind: Kind) -> Result<Value, SyntaxError> {
        let zero = zero(&Type::Special(special));
        match special {
            Special::RawExtension | Special::FieldsV1 | Special::Json => {
                self.quiet += 1;
                let value = self.any();
                self.quiet -= 1;
                value
            }
            Special::JsonSchemaPropsOrBool
            | Special::JsonSchemaPropsOrArray
            | Special::JsonSchemaPropsOrStringArray => self.schema_or(special, kind),
            _ if kind == Kind::Null && special != Special::Duration => {
                self.reader.null()?;
                Ok(zero)
            }
            Special::Quantity => {
                let text = match kind {
                    Kind::String => self.reader.string()?,
                    Kind::Number => Cow::Borrowed(self.reader.number()?),
                    _ => {
                        self.reader.skip()?;
                        Cow::Borrowed("x")
                    }
                };
                match quantity::canonicalize(text.trim()) {
                    Ok(canonical) => Ok(Value::String(canonical.into_owned())),
                    Err(error) => Ok(self.fatal(error.to_string(), zero)),
                }
            }
            Special::IntOrString => match kind {
                Kind::String => Ok(Value::String(self.reader.string()?.into_owned())),
                Kind::Number => {
                    let text = self.reader.number()?;
                    match text.parse::<i32>() {
                        Ok(number) => Ok(number.into()),
                        Err(_) => Ok(self.inner_type_error(&format!("number {text}"), "int32", zero)),
                    }
                }
                other => {
                    self.reader.skip()?;
                    Ok(self.inner_type_error(other.name(), "int32", zero))
                }
            },
            Special::Time | Special::MicroTime | Special::Duration => {
                if kind != Kind::String && kind != Kind::Null {
                    self.reader.skip()?;
                    return Ok(self.inner_type_error(kind.name(), "string", zero));
                }
                let text = if kind == Kind::Null {
                    self.reader.null()?;
                    Cow::Borrowed("")
                } else {
                    self.reader.string()?
                };
                let read = match special {
                    Special::Duration => parse_duration(&text).map(|nanos| Some(format_duration(nanos))),
                    Special::Time => {
                        parse_time(&text, Precision::Seconds).map(|time| format_time(time, Precision::Seconds))
                    }
                    _ => parse_time(&text, Precision::Micros).map(|time| format_time(time, Precision::Micros)),
                };
                match read {
                    Ok(text) => Ok(text.map_or(Value::Null, Value::String)),
                    Err(error) => Ok(self.fatal(error, zero)),
                }
            }
        }
    }

    /// A schema, or what may stand in its place. Upstream reads these with a decoder of
    /// their own that is not strict, so unknown fields inside are dropped in silence.
    fn schema_or(&mut self, special: Special, kind: Kind) -> Result<Value, SyntaxError> {
        let Some(props) = json_schema_props() else { return self.any() };
        self.quiet += 1;
        let value = match (special, kind) {
            (_, Kind::Object) => self.structure(props)?,
            (Special::JsonSchemaPropsOrBool, Kind::Bool) => self.reader.bool()?.into(),
            (Special::JsonSchemaPropsOrArray | Special::JsonSchemaPropsOrStringArray, Kind::Array) => {
                self.reader.open()?;
                let (mut first, mut items) = (true, Vec::new());
                while self.reader.next_item(&mut first)? {
                    items.push(if special == Special::JsonSchemaPropsOrArray {
                        self.structure(props)?
                    } else {
                        self.value(&Type::String, "string", "")?
                    });
                }
                Value::Array(items)
            }
            (Special::JsonSchemaPropsOrBool, _) => {
                self.reader.skip()?;
                self.fatal("boolean or JSON schema expected".to_owned(), Value::Bool(false))
            }
            (_, _) => {
                self.reader.skip()?;
                Value::Null
            }
        };
        self.quiet -= 1;
        Ok(value)
    }

    fn any(&mut self) -> Result<Value, SyntaxError> {
        // Without strictness there is nothing to watch for on the way.
        if self.quiet > 0 {
            return self.reader.any();
        }
        match self.reader.peek()? {
            Kind::Object => {
                self.reader.open()?;
                let (mut first, mut map) = (true, Map::new());
                while let Some(key) = self.reader.next_key(&mut first)? {
                    if map.contains_key(key.as_ref()) {
                        self.violation("duplicate field", &key);
                    }
                    self.path.push(Segment::Key(key.clone()));
                    let value = self.any()?;
                    self.path.pop();
                    map.insert(key.into_owned(), value);
                }
                Ok(Value::Object(map))
            }
            Kind::Array => {
                self.reader.open()?;
                let (mut first, mut items) = (true, Vec::new());
                while self.reader.next_item(&mut first)? {
                    self.path.push(Segment::Index(items.len()));
                    items.push(self.any()?);
                    self.path.pop();
                }
                Ok(Value::Array(items))
            }
            _ => self.reader.any(),
        }
    }

    fn violation(&mut self, what: &str, field: &str) {
        if self.quiet > 0 || self.found.violations.len() >= MAX_VIOLATIONS {
            return;
        }
        let mut path = String::new();
        for segment in &self.path {
            match segment {
                Segment::Index(index) => path.push_str(&format!("[{index}]")),
                Segment::Field(_, Field { name, .. }) => push_name(&mut path, name),
                Segment::Key(key) => push_name(&mut path, key),
            }
        }
        push_name(&mut path, field);
        let sentence = format!("{what} {path:?}");
        if !self.found.violations.contains(&sentence) {
            self.found.violations.push(sentence);
            let list = if what == "unknown field" { &mut self.found.unknown } else { &mut self.found.duplicate };
            list.push(path);
        }
    }

    fn type_error(&mut self, value: &str, go_type: &str) {
        let error = self.type_error_text(value, go_type);
        let root_name = match self.path.as_slice() {
            [Segment::Field(_, field)] => field.name.as_ref(),
            _ => "",
        };
        if matches!(root_name, "apiVersion" | "kind") && self.identity_error.is_none() {
            let text = format!("json: cannot unmarshal {value} into Go struct field .{root_name} of type {go_type}");
            self.identity_error = Some(text);
        }
        if self.saved.is_none() {
            self.saved = Some(error);
        }
    }

    /// A type error inside of a type that reads itself.
    fn inner_type_error(&mut self, value: &str, go_type: &str, instead: Value) -> Value {
        let error = self.type_error_text(value, go_type);
        self.fatal(error, instead)
    }

    fn fatal(&mut self, error: String, instead: Value) -> Value {
        if self.fatal.is_none() {
            self.fatal = Some(error);
        }
        instead
    }

    fn type_error_text(&self, value: &str, go_type: &str) -> String {
        let mut path = String::new();
        let mut holder = None;
        for segment in &self.path {
            if let Segment::Field(definition, field) = segment {
                holder = Some(&definition.name);
                if let Some(embedded) = &field.embedded_name {
                    push_name(&mut path, embedded);
                }
                push_name(&mut path, &field.name);
            }
        }
        match holder {
            Some(holder) => {
                format!("json: cannot unmarshal {value} into Go struct field {holder}.{path} of type {go_type}")
            }
            None => format!("json: cannot unmarshal {value} into Go value of type {go_type}"),
        }
    }
}

fn push_name(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

/// Which fields of a struct have been read: a bit each, in words for the long structs.
#[derive(Default)]
struct Seen {
    low: u64,
    high: Vec<u64>,
}

impl Seen {
    /// Marks a field; true if it was marked before.
    fn insert(&mut self, index: usize) -> bool {
        let (word, bit) = (index / 64, 1_u64 << (index % 64));
        let slot = match word {
            0 => &mut self.low,
            _ => {
                if self.high.len() < word {
                    self.high.resize(word, 0);
                }
                &mut self.high[word - 1]
            }
        };
        let again = *slot & bit != 0;
        *slot |= bit;
        again
    }
}

#[cfg(test)]
mod tests;
