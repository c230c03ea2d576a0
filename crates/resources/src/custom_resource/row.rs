//! From a definition to rows: one for each served version, the preferred one first.

use super::columns::columns;
use super::json_path::JsonPath;
use super::scale::ScalePaths;
use super::strategy::CustomResource;
use super::{Custom, Definition};
use crate::read::Read;
use crate::reset::{Generation, ResetFields};
use crate::row::{Row, Scope, Subresource, WriteRules};
use ferry_api::gvk::GroupVersionKind;
use serde_json::Value;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

/// In the order in which upstream's discovery lists them, which for custom resources is
/// not the alphabetical one.
const VERBS: [&str; 8] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
/// What discovery shows while the definition goes.
const LAST_VERBS: [&str; 5] = ["delete", "deletecollection", "get", "list", "watch"];
const SUBRESOURCE_VERBS: [&str; 3] = ["get", "patch", "update"];

/// The rows of the versions that are served. Names are those that were accepted.
pub fn rows(definition: &Value, compiled: &Arc<Definition>) -> Vec<Row> {
    let spec = definition.field("spec");
    let mut rows: Vec<Row> = spec
        .list("versions")
        .iter()
        .enumerate()
        .filter(|(_, version)| version.flag("served"))
        .filter_map(|(index, version)| row(definition, compiled, version, index))
        .collect();
    rows.sort_by(|a, b| compare_versions(&a.version, &b.version));
    rows
}

/// The row of the version in which objects are stored, whether it is served or not.
pub fn storage_row(definition: &Value, compiled: &Arc<Definition>) -> Option<Row> {
    let versions = definition.field("spec").list("versions");
    let (index, version) = versions.iter().enumerate().find(|(_, version)| version.flag("storage"))?;
    row(definition, compiled, version, index)
}

fn row(definition: &Value, compiled: &Arc<Definition>, version: &Value, index: usize) -> Option<Row> {
    let spec = definition.field("spec");
    let names = definition.field("status").field("acceptedNames");
    let own = |text: &str| -> Cow<'static, str> { Cow::Owned(text.to_owned()) };
    let words = |key: &str| names.texts(key).map(|text| Cow::Owned(text.to_owned())).collect::<Vec<_>>();
    let (group, plural, name) = (spec.text("group"), names.text("plural"), version.text("name"));
    let structural = compiled.version(name)?.clone();
    let (described, cells) = columns(version);
    let subresources = version.field("subresources");
    let scale = subresources.field("scale").map(ScalePaths::of);
    let has_status = subresources.has("status");
    let gvk = compiled.group_version(name).with_kind(names.text("kind").to_owned());
    let verbs = |list: &'static [&'static str]| list.iter().map(|verb| Cow::Borrowed(*verb)).collect::<Vec<_>>();
    let reset = ResetFields::of(if has_status { "status" } else { "-" });
    let mut served = Vec::new();
    if has_status {
        served.push(Subresource {
            name: "status".into(),
            kind: gvk.clone(),
            verbs: verbs(&SUBRESOURCE_VERBS),
            reset: ResetFields::of("metadata,spec"),
        });
    }
    if scale.is_some() {
        let kind = GroupVersionKind::new("autoscaling", "v1", "Scale");
        served.push(Subresource { name: "scale".into(), kind, verbs: verbs(&SUBRESOURCE_VERBS), reset: reset.clone() });
    }
    let selectable = version.list("selectableFields").iter().filter_map(|field| {
        let path = field.text("jsonPath");
        Some((path.strip_prefix('.').unwrap_or(path).to_owned(), JsonPath::parse(path)?))
    });
    let custom = Arc::new(Custom {
        definition: compiled.clone(),
        structural: structural.clone(),
        selectable: selectable.collect(),
        scale,
        has_status,
        deprecation: version.flag("deprecated").then(|| deprecation(definition, version)),
        openapi: version.field("schema").field("openAPIV3Schema").cloned().unwrap_or(Value::Null),
        index: index as u64,
    });
    Some(Row {
        group: own(group),
        version: own(name),
        kind: own(names.text("kind")),
        list_kind: own(names.text("listKind")),
        plural: own(plural),
        singular: own(names.text("singular")),
        short_names: words("shortNames"),
        categories: words("categories"),
        scope: if spec.text("scope") == "Namespaced" { Scope::Namespaced } else { Scope::Cluster },
        verbs: verbs(if compiled.terminating { &LAST_VERBS } else { &VERBS }),
        subresources: served,
        columns: described,
        wiped: if has_status { vec!["status"] } else { Vec::new() },
        reset,
        generation: Generation::Content,
        returns_deleted_object: false,
        writes: WriteRules { versioned: true, ..WriteRules::default() },
        selectable: Vec::new(),
        stored_as: compiled.group_version(&compiled.storage_version).with_kind(names.text("kind").to_owned()),
        storage_prefix: format!("/registry/{group}/{plural}/").into(),
        schema: Some(structural.type_def()),
        strategy: Arc::new(CustomResource::new(custom.clone(), gvk, cells)),
        custom: Some(custom),
    })
}

/// The warning of a deprecated version, made up where the definition gives none.
fn deprecation(definition: &Value, version: &Value) -> String {
    if let Some(text) = version.opt_text("deprecationWarning") {
        return text.to_owned();
    }
    let spec = definition.field("spec");
    let (group, kind, name) = (spec.text("group"), spec.field("names").text("kind"), version.text("name"));
    let better = spec
        .list("versions")
        .iter()
        .filter(|other| other.flag("served") && !other.flag("deprecated"))
        .map(|other| other.text("name"))
        .filter(|other| compare_versions(other, name) == Ordering::Less)
        .min_by(|a, b| compare_versions(a, b));
    match better {
        Some(better) => format!("{group}/{name} {kind} is deprecated; use {group}/{better} {kind}"),
        None => format!("{group}/{name} {kind} is deprecated"),
    }
}

/// Upstream's order of versions, the most preferred first: `v2`, `v1`, `v2beta1`,
/// `v1beta2`, `v1alpha1`, then whatever has another form, by name.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    match (parse(a), parse(b)) {
        (Some(a), Some(b)) => b.cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// Stability, major and minor of a version of the usual form.
fn parse(version: &str) -> Option<(u8, u64, u64)> {
    let number = |text: &str| {
        let good = !text.is_empty() && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
        if good { text.parse::<u64>().ok() } else { None }
    };
    let rest = version.strip_prefix('v')?;
    for (word, stability) in [("alpha", 0), ("beta", 1)] {
        if let Some((major, minor)) = rest.split_once(word) {
            let minor = if minor.is_empty() { 0 } else { number(minor)? };
            return Some((stability, number(major)?, minor));
        }
    }
    Some((2, number(rest)?, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn versions_are_ordered_as_upstream_prefers_them() {
        let mut versions = ["foo10", "v1", "v2beta1", "v10", "v11alpha2", "v1alpha1", "foo1", "v11beta2", "v2"];
        versions.sort_by(|a, b| compare_versions(a, b));
        assert_eq!(versions, ["v10", "v2", "v1", "v11beta2", "v2beta1", "v11alpha2", "v1alpha1", "foo1", "foo10"]);
    }

    #[test]
    fn a_deprecated_version_names_a_better_one() {
        let version = |name: &str, deprecated: bool| json!({"name": name, "served": true, "deprecated": deprecated});
        let mut definition = json!({"spec": {"group": "example.com", "names": {"kind": "Widget"},
            "versions": [version("v1beta1", true), version("v1", false), version("v2", false), version("v1alpha1", false)]}});
        let deprecated = version("v1beta1", true);
        assert_eq!(
            deprecation(&definition, &deprecated),
            "example.com/v1beta1 Widget is deprecated; use example.com/v2 Widget"
        );
        definition["spec"]["versions"] = json!([deprecated]);
        assert_eq!(deprecation(&definition, &deprecated), "example.com/v1beta1 Widget is deprecated");
    }
}
