//! Writes `generated/` from the facts: for each type a view and a value of one's own, for
//! each field what reads and what sets it. Runs as a test, which compares what is checked in
//! and writes it anew under `UPDATE_VIEWS=1`.

use crate::schema::{Field, Special, Type, TypeDef, builtin, packages};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// The packages that components read and write. Older versions of a kind are converted by
/// the API server, and nobody else meets them.
fn is_viewed(package: &str) -> bool {
    !package.contains("beta") && !package.starts_with("apidiscovery/") && !package.starts_with("admission/")
        || package == "metrics/v1beta1"
}

const RESERVED: &[&str] = &[
    "as",
    "async",
    "await",
    "break",
    "const",
    "continue",
    "dyn",
    "else",
    "enum",
    "false",
    "fn",
    "for",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "match",
    "mod",
    "move",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "trait",
    "true",
    "type",
    "use",
    "where",
    "while",
    "node",
    "over",
    "to_owned",
    "view",
    "value",
    "value_mut",
    "new",
];

/// `hostIPC` to `host_ipc`, `podIPs` to `pod_ips`, `type` to `type_`.
fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            if !out.is_empty() {
                out.push('_');
            }
            continue;
        }
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let after = letters.get(at + 1);
        // The s of `podIPs` belongs to the word before it.
        let plural = after == Some(&'s') && letters.get(at + 2).is_none_or(|next| next.is_uppercase());
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_numeric()
                    || (before.is_uppercase() && after.is_some_and(|after| after.is_lowercase()) && !plural)
            });
        if begins && !out.ends_with('_') {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    if RESERVED.contains(&out.as_str()) {
        out.push('_');
    }
    out
}

fn module(package: &str) -> String {
    package.replace('/', "::")
}

/// The name of a struct type, from anywhere below `view`.
fn path(definition: &TypeDef, suffix: &str) -> String {
    format!("g::{}::{}{suffix}", module(&definition.package), definition.name)
}

/// The Rust type that a place of this type reads as.
fn read_type(ty: &Type) -> String {
    match ty {
        Type::Bool => "bool".into(),
        Type::Int32 => "i32".into(),
        Type::Int64 => "i64".into(),
        Type::Uint32 => "u32".into(),
        Type::Uint64 => "u64".into(),
        Type::Float64 => "f64".into(),
        Type::String | Type::Special(Special::Duration) => "&'a str".into(),
        Type::Bytes => "r::Base64<'a>".into(),
        Type::List(item) => format!("r::List<'a, {}>", read_type(item)),
        Type::Map(item) => format!("r::Map<'a, {}>", read_type(item)),
        Type::Struct(reference) if is_viewed(&reference.get().package) => {
            format!("{}<'a>", path(reference.get(), "View"))
        }
        Type::Special(Special::Time | Special::MicroTime) => "r::Timestamp".into(),
        Type::Special(Special::Quantity) => "r::Quantity".into(),
        Type::Special(Special::IntOrString) => "r::IntOrString<'a>".into(),
        Type::Struct(_) | Type::Special(_) => "r::Node<'a>".into(),
    }
}

fn set_type(ty: &Type) -> String {
    match ty {
        Type::String | Type::Special(Special::Duration) => "o::Text".into(),
        Type::Bytes => "o::Bytes".into(),
        Type::Struct(reference) if is_viewed(&reference.get().package) => path(reference.get(), ""),
        Type::Special(Special::Time) => "o::Time".into(),
        Type::Special(Special::MicroTime) => "o::MicroTime".into(),
        Type::Special(Special::Quantity) => "r::Quantity".into(),
        Type::Special(Special::IntOrString) => "r::IntOrString<'static>".into(),
        Type::Bool | Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 | Type::Float64 => read_type(ty),
        Type::List(_) | Type::Map(_) | Type::Struct(_) | Type::Special(_) => "o::Any".into(),
    }
}

/// Whether a place that is absent reads as `None` and not as a zero value.
fn is_optional(field: &Field) -> bool {
    match &field.ty {
        Type::List(_) | Type::Map(_) => false,
        Type::Special(Special::Duration) => field.pointer,
        Type::Special(_) => true,
        _ => field.pointer,
    }
}

fn write_field(out: &mut (String, String), field: &Field) {
    let name = snake(&field.name);
    let bare = name.strip_suffix('_').unwrap_or(&name);
    let json = &*field.name;
    let reads = read_type(&field.ty);
    if is_optional(field) {
        let _ = writeln!(out.0, "    pub fn {name}(self) -> Option<{reads}> {{ find(self.0, {json:?}) }}");
    } else {
        let _ = writeln!(out.0, "    pub fn {name}(self) -> {reads} {{ read(self.0, {json:?}) }}");
    }
    let (parameter, call) = match &field.ty {
        Type::List(item) => {
            let sets = set_type(item);
            let _ = writeln!(
                out.1,
                "    pub fn push_{bare}(&mut self, item: impl o::IntoField<{sets}>) {{ push(&mut self.0, {json:?}, item) }}"
            );
            (format!("impl IntoIterator<Item = impl o::IntoField<{sets}>>"), "set_list")
        }
        Type::Map(item) => {
            let sets = set_type(item);
            let _ = writeln!(
                out.1,
                "    pub fn insert_{bare}(&mut self, key: &str, value: impl o::IntoField<{sets}>) {{ insert(&mut self.0, {json:?}, key, value) }}"
            );
            (format!("impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<{sets}>)>"), "set_map")
        }
        ty => {
            let sets = set_type(ty);
            if matches!(ty, Type::Struct(reference) if is_viewed(&reference.get().package)) {
                let _ = writeln!(
                    out.1,
                    "    pub fn edit_{bare}<R>(&mut self, change: impl FnOnce(&mut {sets}) -> R) -> R {{ edit(&mut self.0, {json:?}, change) }}"
                );
            }
            (format!("impl o::IntoField<{sets}>"), "set")
        }
    };
    let value = if call == "set" { "value.into_field()" } else { "value" };
    let _ = writeln!(
        out.1,
        "    pub fn set_{bare}(&mut self, value: {parameter}) {{ {call}(&mut self.0, {json:?}, {value}) }}"
    );
    let _ = writeln!(
        out.1,
        "    pub fn with_{bare}(mut self, value: {parameter}) -> Self {{ {call}(&mut self.0, {json:?}, {value}); self }}"
    );
}

/// Kind and plural by group and version, of what is a resource and no subresource.
fn resources() -> BTreeMap<(String, String, String), String> {
    let rows = include_str!("../../facts/resources.tsv").lines().skip(1).map(|line| line.split('\t').collect());
    rows.filter(|row: &Vec<&str>| !row[2].contains('/'))
        .map(|row| ((row[0].to_owned(), row[1].to_owned(), row[3].to_owned()), row[2].to_owned()))
        .collect()
}

/// Every file of `generated/` with its text.
fn render() -> BTreeMap<String, String> {
    let resources = resources();
    let mut files = BTreeMap::new();
    let mut modules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages().iter().filter(|package| is_viewed(package.name)) {
        let (group, version) = package.name.split_once('/').expect("a package is group/version");
        modules.entry(group).or_default().push(version);
        let mut types: BTreeMap<&str, &TypeDef> = BTreeMap::new();
        for definition in builtin().iter().filter(|definition| &*definition.package == package.name) {
            types.insert(&definition.name, definition);
        }
        let mut text = format!(
            "//! Generated from facts/{group}.{version}.facts; see view/generate.rs.\n\nuse crate::view::{{generated as g, owned as o, read as r}};\nuse o::{{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map}};\nuse r::{{find, read}};\n"
        );
        for (name, definition) in types {
            let mut both = (String::new(), String::new());
            for field in &definition.fields {
                write_field(&mut both, field);
            }
            let of_kind = resources.get(&(package.group.to_owned(), package.version.to_owned(), name.to_owned()));
            let declared = match of_kind {
                Some(plural) => {
                    let api_version = match package.group {
                        "" => package.version.to_owned(),
                        group => format!("{group}/{}", package.version),
                    };
                    format!("kind!({name}, {:?}, {:?}, {api_version:?}, {plural:?});", package.group, package.version)
                }
                None => format!("part!({name});"),
            };
            let _ = write!(
                text,
                "\nobject!({name}, {name}View);\n{declared}\nimpl<'a> {name}View<'a> {{\n{}}}\nimpl {name} {{\n{}}}\n",
                both.0, both.1
            );
        }
        files.insert(format!("{group}/{version}.rs"), text);
    }
    let mut index = "//! Generated from the facts; see view/generate.rs.\n".to_owned();
    for (group, versions) in modules {
        let _ = writeln!(index, "pub mod {group} {{");
        for version in versions {
            let _ = writeln!(index, "    pub mod {version};");
        }
        let _ = writeln!(index, "}}");
    }
    files.insert("mod.rs".to_owned(), index);
    files
}

#[test]
fn views_are_what_the_facts_say() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/view/generated");
    let update = std::env::var_os("UPDATE_VIEWS").is_some();
    for (name, text) in render() {
        let file = folder.join(&name);
        if update {
            std::fs::create_dir_all(file.parent().unwrap_or(&folder)).expect("the folder can be made");
            std::fs::write(&file, &text).expect("the folder can be written to");
        }
        let found = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(found == text, "{name} differs from the facts; run UPDATE_VIEWS=1 cargo test -p ferry-api views");
    }
}

#[test]
fn names_follow_rust() {
    for (json, rust) in [
        ("hostIPC", "host_ipc"),
        ("podIPs", "pod_ips"),
        ("clusterIP", "cluster_ip"),
        ("podCIDRs", "pod_cidrs"),
        ("type", "type_"),
        ("externalIPs", "external_ips"),
        ("nodeName", "node_name"),
        ("volumeID", "volume_id"),
        ("x-kubernetes-list-type", "x_kubernetes_list_type"),
        ("$ref", "ref_"),
        ("httpGet", "http_get"),
        ("fieldsV1", "fields_v1"),
        ("caBundle", "ca_bundle"),
        ("unhealthyPodEvictionPolicy", "unhealthy_pod_eviction_policy"),
    ] {
        assert_eq!(snake(json), rust);
    }
}
