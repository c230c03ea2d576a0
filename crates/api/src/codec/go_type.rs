//! The Go names of types. Decoding errors quote them (`of type v1.RestartPolicy`), and
//! people know these texts by heart.

use crate::schema::{Special, Type};

/// The declaration of the items of a list or of the values of a map; empty where it hides
/// behind an alias.
pub(crate) fn inner(declared: &str) -> &str {
    let declared = declared.trim_start_matches('*');
    if let Some(item) = declared.strip_prefix("[]") {
        return item;
    }
    declared.strip_prefix("map[").and_then(|rest| rest.split_once(']')).map_or("", |(_, value)| value)
}

/// The Go name of what is declared as `declared` in `package`; `ty` stands in where the
/// declaration is not known.
pub(crate) fn name(declared: &str, package: &str, ty: &Type) -> String {
    if declared.is_empty() { of_type(ty) } else { of_declaration(declared, package) }
}

fn of_declaration(declared: &str, package: &str) -> String {
    let declared = declared.trim_start_matches('*');
    if let Some(item) = declared.strip_prefix("[]") {
        return format!("[]{}", of_declaration(item, package));
    }
    if let Some((key, value)) = declared.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
        return format!("map[{}]{}", of_declaration(key, package), of_declaration(value, package));
    }
    let (package, name) = declared.rsplit_once('.').unwrap_or((package, declared));
    match name {
        "bytes" => "[]uint8".to_owned(),
        "any" => "interface {}".to_owned(),
        "Quantity" => "resource.Quantity".to_owned(),
        "IntOrString" => "intstr.IntOrString".to_owned(),
        "RawExtension" => "runtime.RawExtension".to_owned(),
        "UID" | "NodeName" => format!("types.{name}"),
        _ if name.starts_with(|c: char| c.is_ascii_lowercase()) => name.to_owned(),
        _ => format!("{}.{name}", version(package)),
    }
}

fn of_type(ty: &Type) -> String {
    match ty {
        Type::Bool => "bool".to_owned(),
        Type::Int32 => "int32".to_owned(),
        Type::Int64 => "int64".to_owned(),
        Type::Uint32 => "uint32".to_owned(),
        Type::Uint64 => "uint64".to_owned(),
        Type::Float64 => "float64".to_owned(),
        Type::String => "string".to_owned(),
        Type::Bytes => "[]uint8".to_owned(),
        Type::List(item) => format!("[]{}", of_type(item)),
        Type::Map(value) => format!("map[string]{}", of_type(value)),
        Type::Struct(reference) => format!("{}.{}", version(&reference.package), reference.name),
        Type::Special(Special::Quantity) => "resource.Quantity".to_owned(),
        Type::Special(Special::IntOrString) => "intstr.IntOrString".to_owned(),
        Type::Special(Special::RawExtension) => "runtime.RawExtension".to_owned(),
        Type::Special(special) => format!("v1.{special:?}"),
    }
}

/// The Go package is named for the version: `core/v1` is `v1`.
pub(crate) fn version(package: &str) -> &str {
    package.rsplit_once('/').map_or(package, |(_, version)| version)
}
