//! Reads the facts files into a [`Table`].
//!
//! The notation, one line a fact:
//!
//! ```text
//! type Probe struct=atomic              a type, then its fields
//! type Limit union=type:queuing         one whose fields exclude each other, told by `type`
//!   <inline> 1 ProbeHandler pb=handler  an embedded struct: its fields stand in Probe's
//!                                       JSON object, in protobuf it is message 1
//!   periodSeconds 4 int32 omitempty     JSON name, protobuf tag (or -), type, attributes
//! enum Protocol string SCTP TCP UDP     a string type with its values ("quoted" if odd)
//! alias ResourceList map[ResourceName]Quantity
//! ```
//!
//! `default=` is a constant that OpenAPI publishes, `fill=` one that only the server fills in
//! (`defaults.rs`); both are JSON without blanks. Rules of validation are the marks of `marks.rs`.

use super::packages::packages;
use super::{Field, ListType, Special, StructType, Table, Type, TypeDef, TypeRef, Union, package_of};
use crate::gvk::GroupVersionKind;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, OnceLock};

static BUILTIN: LazyLock<Table> = LazyLock::new(|| {
    let files: Vec<(&str, &str)> = packages().iter().map(|package| (package.name, package.facts)).collect();
    parse(&files).expect("the builtin facts are tested to parse")
});

/// The table of every builtin type.
pub fn builtin() -> &'static Table {
    &BUILTIN
}

/// The kinds of meta/v1 that upstream registers in every group and version.
const IN_EVERY_GROUP: &[&str] =
    &["CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions", "WatchEvent"];

/// The type of a builtin kind. `v1` also has the kinds of meta/v1 (`Status`, `APIGroup`).
pub fn of_kind(kind: &GroupVersionKind) -> Option<&'static Arc<TypeDef>> {
    let table = builtin();
    table.get(&package_of(kind), &kind.kind).or_else(|| {
        let everywhere = IN_EVERY_GROUP.contains(&kind.kind.as_ref());
        if everywhere || (kind.group.is_empty() && kind.version == "v1") {
            table.get("meta/v1", &kind.kind)
        } else {
            None
        }
    })
}

/// A line of facts that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("facts of {package}, line {line}: {problem}")]
pub struct ParseError {
    package: String,
    line: usize,
    problem: String,
}

/// Reads files given as (package name, text). Types may refer to each other across files.
pub fn parse(files: &[(&str, &str)]) -> Result<Table, ParseError> {
    let mut reader = Reader::default();
    for (package, text) in files {
        reader.scan(package, text)?;
    }
    reader.build()
}

/// What a name stands for.
enum Entry<'a> {
    Struct { fields: Vec<(usize, &'a str)>, attributes: &'a str, slot: Arc<OnceLock<Arc<TypeDef>>>, line: usize },
    Enum { base: &'a str, values: Arc<[Arc<str>]> },
    Alias { target: &'a str, message: bool },
}

#[derive(Default)]
struct Reader<'a> {
    entries: HashMap<&'a str, HashMap<&'a str, Entry<'a>>>,
    /// Equal texts share one allocation: a few hundred names cover thousands of fields.
    strings: HashSet<Arc<str>>,
}

/// A type expression with its names resolved.
struct Resolved {
    ty: Type,
    enum_values: Option<Arc<[Arc<str>]>>,
    list_message: bool,
}

impl From<Type> for Resolved {
    fn from(ty: Type) -> Self {
        Self { ty, enum_values: None, list_message: false }
    }
}

/// Where an embedded struct stands within the type that is being flattened.
#[derive(Default)]
struct Embedding {
    depth: usize,
    name: String,
    tags: Vec<u32>,
    outside_protobuf: bool,
}

impl Embedding {
    fn within(&self, declared: &str, tag: Option<u32>) -> Self {
        let own = declared.rsplit_once('.').map_or(declared, |(_, name)| name);
        let name = if self.depth == 0 { own.to_owned() } else { format!("{}.{own}", self.name) };
        let tags = self.tags.iter().copied().chain(tag).collect();
        Self { depth: self.depth + 1, name, tags, outside_protobuf: self.outside_protobuf || tag.is_none() }
    }
}

fn fail<T>(package: &str, line: usize, problem: impl Into<String>) -> Result<T, ParseError> {
    Err(ParseError { package: package.to_owned(), line, problem: problem.into() })
}

impl<'a> Reader<'a> {
    /// Collects the names of a file without resolving any.
    fn scan(&mut self, package: &'a str, text: &'a str) -> Result<(), ParseError> {
        let mut names: HashMap<&str, Entry> = HashMap::new();
        let mut current: Option<&str> = None;
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(field) = line.strip_prefix("  ") {
                match current.and_then(|name| names.get_mut(name)) {
                    Some(Entry::Struct { fields, .. }) => fields.push((number, field)),
                    _ => return fail(package, number, "a field outside of a type"),
                }
                continue;
            }
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            current = None;
            let entry = match word {
                "type" => {
                    current = Some(name);
                    Entry::Struct { fields: Vec::new(), attributes: rest, slot: Arc::default(), line: number }
                }
                "enum" => {
                    let (base, values) = rest.split_once(' ').unwrap_or((rest, ""));
                    let values = words(values).map(|value| self.intern(value)).collect();
                    Entry::Enum { base, values }
                }
                "alias" => {
                    let (target, attribute) = rest.split_once(' ').unwrap_or((rest, ""));
                    Entry::Alias { target, message: attribute == "message" }
                }
                other => return fail(package, number, format!("unknown word {other:?}")),
            };
            if names.insert(name, entry).is_some() {
                return fail(package, number, format!("{name} is declared twice"));
            }
        }
        self.entries.insert(package, names);
        Ok(())
    }

    fn build(mut self) -> Result<Table, ParseError> {
        let entries = std::mem::take(&mut self.entries);
        let mut table = Table::default();
        for (package, names) in &entries {
            let package_name = self.intern(package);
            let types = table.types.entry(package_name.clone()).or_default();
            for (name, entry) in names {
                let Entry::Struct { fields, attributes, slot, line } = entry else { continue };
                let name = self.intern(name);
                let mut flat = Vec::with_capacity(fields.len());
                self.flatten(&entries, package, fields, &Embedding::default(), &mut flat)?;
                let mut definition = TypeDef::new(package_name.clone(), name.clone(), flat);
                for attribute in words(attributes) {
                    match attribute.split_once('=') {
                        Some(("struct", "atomic")) => definition.struct_type = Some(StructType::Atomic),
                        Some(("union", fields)) => definition.union = Some(Box::new(self.union(fields))),
                        Some((key @ ("single" | "none" | "many"), value)) => {
                            let single = definition.single.get_or_insert_default();
                            match key {
                                "single" => single.members = value.split(',').map(|name| self.intern(name)).collect(),
                                "none" => single.none = self.intern(value.trim_matches('"')),
                                _ => single.many = self.intern(value.trim_matches('"')),
                            }
                        }
                        _ => return fail(package, *line, format!("unknown attribute {attribute:?}")),
                    }
                }
                let definition = Arc::new(definition);
                if slot.set(definition.clone()).is_err() {
                    return fail(package, *line, "built twice");
                }
                types.insert(name, definition);
            }
        }
        // A struct that another package names by an alias is found under both names.
        for (package, names) in &entries {
            for (name, entry) in names {
                let Entry::Alias { target, .. } = entry else { continue };
                if let Type::Struct(reference) = self.resolve(&entries, package, target, 0)?.ty {
                    let definition = reference.get().clone();
                    let name = self.intern(name);
                    table.types.entry(self.intern(package)).or_default().insert(name, definition);
                }
            }
        }
        Ok(table)
    }

    fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.strings.get(text) {
            return known.clone();
        }
        let new: Arc<str> = Arc::from(text);
        self.strings.insert(new.clone());
        new
    }

    /// `type:queuing,other` or, without a discriminator, `:one,other`.
    fn union(&mut self, text: &str) -> Union {
        let (discriminator, members) = text.split_once(':').unwrap_or(("", text));
        let discriminator = Some(discriminator).filter(|name| !name.is_empty()).map(|name| self.intern(name));
        Union { discriminator, members: members.split(',').map(|name| self.intern(name)).collect() }
    }

    /// Appends the fields of a struct, those of embedded structs in their place.
    fn flatten(
        &mut self,
        entries: &HashMap<&'a str, HashMap<&'a str, Entry<'a>>>,
        package: &str,
        lines: &[(usize, &'a str)],
        embedding: &Embedding,
        out: &mut Vec<Field>,
    ) -> Result<(), ParseError> {
        for &(number, line) in lines {
            let mut parts = words(line);
            let (Some(name), Some(tag), Some(declared)) = (parts.next(), parts.next(), parts.next()) else {
                return fail(package, number, "a field has a name, a tag and a type");
            };
            let tag = match tag {
                "-" => None,
                digits => match digits.parse::<u32>() {
                    Ok(tag) => Some(tag),
                    Err(_) => return fail(package, number, format!("bad tag {digits:?}")),
                },
            };
            if name == "<inline>" {
                if embedding.depth > 8 {
                    return fail(package, number, "structs embed each other");
                }
                let (package, inner) = match find(entries, package, declared) {
                    Some((package, Entry::Struct { fields, .. })) => (package, fields),
                    Some((package, Entry::Alias { target, .. })) => match find(entries, package, target) {
                        Some((package, Entry::Struct { fields, .. })) => (package, fields),
                        _ => return fail(package, number, format!("{declared} cannot be embedded")),
                    },
                    _ => return fail(package, number, format!("{declared} cannot be embedded")),
                };
                self.flatten(entries, package, inner, &embedding.within(declared, tag), out)?;
                continue;
            }
            let resolved = match self.resolve(entries, package, declared, 0) {
                Ok(resolved) => resolved,
                Err(error) => return Err(ParseError { line: number, ..error }),
            };
            let mut field = Field::new(self.intern(name), resolved.ty);
            field.tag = if embedding.outside_protobuf { None } else { tag };
            field.embedded_in = if field.tag.is_some() { embedding.tags.clone() } else { Vec::new() };
            field.embedded_name = if embedding.depth == 0 { None } else { Some(self.intern(&embedding.name)) };
            (field.omitempty, field.optional) = (false, false);
            field.declared = self.intern(declared);
            field.declared_in = self.intern(package);
            field.pointer = declared.starts_with('*');
            field.enum_values = resolved.enum_values;
            field.list_message = resolved.list_message;
            for attribute in parts {
                if let Err(problem) = self.attribute(&mut field, attribute) {
                    return fail(package, number, problem);
                }
            }
            // An outer field shadows one of the same name in an embedded struct, as in Go.
            match out.iter_mut().find(|known| known.name == field.name) {
                Some(known) if known.embedded_name.is_some() && embedding.depth == 0 => *known = field,
                Some(_) => {}
                None => out.push(field),
            }
        }
        Ok(())
    }

    fn attribute(&mut self, field: &mut Field, attribute: &str) -> Result<(), String> {
        let (key, value) = attribute.split_once('=').unwrap_or((attribute, ""));
        match (key, value) {
            ("required", "") => field.required = true,
            ("omitempty", "") => field.omitempty = true,
            ("omitzero", "") => field.omitzero = true,
            ("optional", "") => field.optional = true,
            ("patch", strategies) => {
                for strategy in strategies.split(',') {
                    match strategy {
                        "merge" => field.patch.merge = true,
                        "replace" => field.patch.replace = true,
                        "retainKeys" => field.patch.retain_keys = true,
                        other => return Err(format!("unknown patch strategy {other:?}")),
                    }
                }
            }
            ("mergekey", key) => field.merge_key = Some(self.intern(key)),
            ("list", "atomic") => field.list_type = Some(ListType::Atomic),
            ("list", "set") => field.list_type = Some(ListType::Set),
            ("list", "map") => field.list_type = Some(ListType::Map),
            ("keys", keys) => field.list_map_keys = keys.split(',').map(|key| self.intern(key)).collect(),
            ("map", "atomic") => field.map_type = Some(StructType::Atomic),
            ("map", "granular") => field.map_type = Some(StructType::Granular),
            ("struct", "atomic") => field.struct_type = Some(StructType::Atomic),
            ("struct", "granular") => field.struct_type = Some(StructType::Granular),
            ("default", text) => {
                let value = serde_json::from_str(text).map_err(|error| format!("default {text}: {error}"))?;
                field.default = Some(value);
            }
            ("fill", text) => {
                let value = serde_json::from_str(text).map_err(|error| format!("fill {text}: {error}"))?;
                field.fill = Some(value);
            }
            _ => {
                let values = field.enum_values.clone();
                if !field.marks.get_or_insert_default().read(attribute, values.as_ref())? {
                    return Err(format!("unknown attribute {attribute:?}"));
                }
            }
        }
        Ok(())
    }

    fn resolve(
        &mut self,
        entries: &HashMap<&'a str, HashMap<&'a str, Entry<'a>>>,
        package: &str,
        expression: &str,
        depth: usize,
    ) -> Result<Resolved, ParseError> {
        if depth > 16 {
            return fail(package, 0, format!("{expression} never ends"));
        }
        if let Some(inner) = expression.strip_prefix('*') {
            return self.resolve(entries, package, inner, depth + 1);
        }
        if let Some(inner) = expression.strip_prefix("[]") {
            let item = self.resolve(entries, package, inner, depth + 1)?;
            return Ok(Resolved { ty: Type::List(Arc::new(item.ty)), ..item });
        }
        if let Some(rest) = expression.strip_prefix("map[") {
            // Keys are strings, or aliases of strings, throughout the API.
            let Some((_, value)) = rest.split_once(']') else {
                return fail(package, 0, format!("bad map {expression:?}"));
            };
            let value = self.resolve(entries, package, value, depth + 1)?;
            return Ok(Resolved { ty: Type::Map(Arc::new(value.ty)), ..value });
        }
        let primitive = match expression {
            "bool" => Some(Type::Bool),
            "int32" => Some(Type::Int32),
            "int64" => Some(Type::Int64),
            "uint32" => Some(Type::Uint32),
            "uint64" => Some(Type::Uint64),
            "float64" => Some(Type::Float64),
            "string" => Some(Type::String),
            "bytes" => Some(Type::Bytes),
            "any" => Some(Type::Special(Special::Json)),
            _ => None,
        };
        if let Some(ty) = primitive {
            return Ok(ty.into());
        }
        match find(entries, package, expression) {
            Some((package, Entry::Alias { target, message })) => {
                let target = self.resolve(entries, package, target, depth + 1)?;
                Ok(Resolved { list_message: target.list_message || *message, ..target })
            }
            Some((package, Entry::Enum { base, values })) => {
                let base = self.resolve(entries, package, base, depth + 1)?;
                let own = if values.is_empty() { None } else { Some(values.clone()) };
                Ok(Resolved { enum_values: own.or(base.enum_values), ..base })
            }
            Some((package, Entry::Struct { slot, .. })) => {
                let name = expression.rsplit_once('.').map_or(expression, |(_, name)| name);
                let reference = TypeRef { package: self.intern(package), name: self.intern(name), slot: slot.clone() };
                Ok(Type::Struct(reference).into())
            }
            None => {
                // Types that have an encoding of their own stand in no file.
                let name = expression.rsplit_once('.').map_or(expression, |(_, name)| name);
                let special = match name {
                    "Time" => Special::Time,
                    "MicroTime" => Special::MicroTime,
                    "Duration" => Special::Duration,
                    "Quantity" => Special::Quantity,
                    "IntOrString" => Special::IntOrString,
                    "RawExtension" => Special::RawExtension,
                    "FieldsV1" => Special::FieldsV1,
                    "JSON" => Special::Json,
                    "JSONSchemaPropsOrBool" => Special::JsonSchemaPropsOrBool,
                    "JSONSchemaPropsOrArray" => Special::JsonSchemaPropsOrArray,
                    "JSONSchemaPropsOrStringArray" => Special::JsonSchemaPropsOrStringArray,
                    "UID" | "NodeName" => return Ok(Type::String.into()),
                    _ => return fail(package, 0, format!("no type {expression}")),
                };
                Ok(Type::Special(special).into())
            }
        }
    }
}

/// Looks up `Name` in its own package or `group/version.Name` in that one.
fn find<'e, 'a>(
    entries: &'e HashMap<&'a str, HashMap<&'a str, Entry<'a>>>,
    package: &str,
    name: &str,
) -> Option<(&'a str, &'e Entry<'a>)> {
    let (package, name) = name.rsplit_once('.').unwrap_or((package, name));
    let (&package, names) = entries.get_key_value(package)?;
    Some((package, names.get(name)?))
}

/// Words between spaces; a word in double quotes may hold spaces and loses the quotes,
/// while quotes inside of a word (`default="a"`) stay, with the spaces between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(' ');
        if rest.is_empty() {
            return None;
        }
        if let Some((word, after)) = rest.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
            rest = after;
            return Some(word);
        }
        let mut end = rest.find(' ');
        // A space between quotes does not end the word; few words have quotes.
        if rest[..end.unwrap_or(rest.len())].contains('"') {
            let mut quoted = false;
            end = rest.find(|letter| {
                quoted ^= letter == '"';
                letter == ' ' && !quoted
            });
        }
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_type(ty: &Type, seen: &mut usize) {
        match ty {
            Type::List(inner) | Type::Map(inner) => check_type(inner, seen),
            Type::Struct(reference) => {
                assert_eq!(reference.get().name, reference.name, "{reference:?}");
                *seen += 1;
            }
            _ => {}
        }
    }

    #[test]
    fn every_reference_of_every_type_resolves() {
        let (mut types, mut references) = (0, 0);
        for definition in builtin().iter() {
            types += 1;
            for member in definition.union.iter().flat_map(|union| union.members.iter().chain(&union.discriminator)) {
                assert!(definition.field(member).is_some(), "{} has no {member}", definition.name);
            }
            for field in &definition.fields {
                check_type(&field.ty, &mut references);
                let found = definition.field(&field.name).expect("a field is found by its name");
                assert_eq!(found.name, field.name);
                for key in &field.list_map_keys {
                    let Type::List(item) = &field.ty else { panic!("{}.{}", definition.name, field.name) };
                    if let Type::Struct(item) = item.as_ref() {
                        assert!(item.get().field(key).is_some(), "{}.{} has no {key}", item.name, field.name);
                    }
                }
                assert_eq!(field.list_type == Some(ListType::Map), !field.list_map_keys.is_empty());
                if let Some(key) = &field.merge_key {
                    assert!(field.patch.merge, "{}.{} has merge key {key}", definition.name, field.name);
                }
            }
        }
        assert!(types > 800 && references > 1200, "{types} types, {references} references");
    }

    #[test]
    fn every_resource_of_the_list_has_its_type() {
        let resources = include_str!("../../facts/resources.tsv");
        let mut missing = Vec::new();
        for line in resources.lines().skip(1) {
            let columns: Vec<&str> = line.split('\t').collect();
            // Options of connections (exec, proxy) are query strings and have no body.
            if columns[3].ends_with("Options") || columns[2].contains('/') {
                continue;
            }
            let kind = GroupVersionKind::new(columns[0].to_owned(), columns[1].to_owned(), columns[3].to_owned());
            if of_kind(&kind).is_none() {
                missing.push(kind.to_string());
            }
        }
        assert_eq!(missing, Vec::<String>::new());
    }

    #[test]
    fn embedded_structs_are_flattened_and_remember_their_message() {
        let table = builtin();
        let probe = table.get("core/v1", "Probe").expect("Probe");
        let exec = probe.field("exec").expect("exec");
        assert_eq!((exec.tag, exec.embedded_in.as_slice()), (Some(1), &[1][..]));
        let pod = table.get("core/v1", "Pod").expect("Pod");
        assert_eq!(pod.field("apiVersion").expect("apiVersion").tag, None);
        let named = table.get("admissionregistration/v1", "NamedRuleWithOperations").expect("type");
        assert_eq!(named.field("apiGroups").expect("apiGroups").embedded_in, [2, 2]);
        let alias = table.get("core/v1", "List").expect("an alias of meta/v1.List");
        assert_eq!(alias.package.as_ref(), "meta/v1");
    }

    #[test]
    fn attributes_are_read() {
        let table = builtin();
        let service = table.get("core/v1", "ServiceSpec").expect("ServiceSpec");
        let ports = service.field("ports").expect("ports");
        assert_eq!(ports.list_type, Some(ListType::Map));
        let keys: Vec<&str> = ports.list_map_keys.iter().map(AsRef::as_ref).collect();
        assert_eq!(keys, ["port", "protocol"]);
        assert_eq!(ports.merge_key.as_deref(), Some("port"));
        let port = table.get("core/v1", "ServicePort").expect("ServicePort");
        let protocol = port.field("protocol").expect("protocol");
        assert_eq!(protocol.default, Some("TCP".into()));
        let values: Vec<&str> = protocol.enum_values.as_ref().expect("an enum").iter().map(AsRef::as_ref).collect();
        assert_eq!(values, ["SCTP", "TCP", "UDP"]);
        let usages = table.get("certificates/v1", "CertificateSigningRequestSpec").expect("type");
        let usages = usages.field("usages").expect("usages").enum_values.clone().expect("an enum");
        assert!(usages.iter().any(|usage| usage.as_ref() == "client auth"));
        let reference = table.get("core/v1", "PersistentVolumeSpec").expect("type");
        assert_eq!(reference.field("claimRef").expect("claimRef").apply_struct_type(), StructType::Granular);
        let event = table.get("core/v1", "Event").expect("Event");
        assert_eq!(event.field("involvedObject").expect("field").apply_struct_type(), StructType::Atomic);
        let extra = table.get("authentication/v1", "UserInfo").expect("UserInfo");
        assert!(extra.field("extra").expect("extra").list_message);
        let subject = table.get("flowcontrol/v1", "Subject").expect("Subject");
        let union = subject.union.as_ref().expect("a union");
        assert_eq!((union.discriminator.as_deref(), union.members.len()), (Some("kind"), 3));
    }

    #[test]
    fn bad_facts_are_refused_with_their_line() {
        let error = parse(&[("x/v1", "type A\n  b 1 NoSuch required\n")]).expect_err("no such type");
        assert_eq!(error.to_string(), "facts of x/v1, line 2: no type NoSuch");
        assert!(parse(&[("x/v1", "type A\n  <inline> 1 A\n")]).is_err());
        assert!(parse(&[("x/v1", "alias A A\ntype B\n  c 1 A\n")]).is_err());
    }

    #[test]
    fn parsing_is_quick() {
        let files: Vec<(&str, &str)> = packages().iter().map(|package| (package.name, package.facts)).collect();
        let start = std::time::Instant::now();
        let table = parse(&files).expect("the builtin facts");
        // A release build takes 2 ms; the bound leaves room for an unoptimised, busy machine.
        assert!(start.elapsed() < std::time::Duration::from_secs(1), "{:?}", start.elapsed());
        drop(table);
        println!("parsed in {:?}, {} bytes a field", start.elapsed(), std::mem::size_of::<Field>());
    }
}
