//! Builds rows from the tables of facts: `resources.tsv` says what a resource is called
//! what may be done with it and how it is written, `columns.tsv` what `kubectl get` shows of it. A kind's
//! own file adds only its strategy. Called by `all.rs`, once a kind.

use crate::cell::PathCell;
use crate::reset::{Generation, ResetFields};
use crate::row::{NameRule, WriteRules};
use crate::{Column, Row, Scope, Strategy, Subresource};
use ferry_api::gvk::{GroupVersion, GroupVersionKind};
use ferry_api::schema::{self, TypeDef};
use std::borrow::Cow;
use std::sync::Arc;

static RESOURCES: &str = include_str!("../../api/facts/resources.tsv");
static COLUMNS: &str = include_str!("../../api/facts/columns.tsv");

/// One line of `resources.tsv`; a subresource's line names `resource/subresource`.
struct Fact {
    group: &'static str,
    version: &'static str,
    resource: &'static str,
    kind: &'static str,
    scope: Scope,
    short_names: &'static str,
    categories: &'static str,
    singular: &'static str,
    verbs: &'static str,
    wiped: &'static str,
    reset: &'static str,
    generation: &'static str,
    deleted: &'static str,
    names: &'static str,
    writes: &'static str,
    selectable: &'static str,
}

fn facts() -> impl Iterator<Item = Fact> {
    RESOURCES.lines().skip(1).filter_map(|line| {
        let mut cells = line.split('\t');
        Some(Fact {
            group: cells.next()?,
            version: cells.next()?,
            resource: cells.next()?,
            kind: cells.next()?,
            scope: if cells.next()? == "Namespaced" { Scope::Namespaced } else { Scope::Cluster },
            short_names: cells.next()?,
            categories: cells.next()?,
            singular: cells.next()?,
            verbs: cells.next()?,
            wiped: cells.next()?,
            reset: cells.next()?,
            generation: cells.next()?,
            deleted: cells.next()?,
            names: cells.next()?,
            writes: cells.next()?,
            selectable: cells.next()?,
        })
    })
}

/// The row of a stored kind, all but its strategy read from the tables.
pub(crate) fn kind(group: &'static str, version: &'static str, kind: &'static str, strategy: impl Strategy) -> Row {
    let fact = facts()
        .find(|fact| {
            fact.group == group && fact.version == version && fact.kind == kind && !fact.resource.contains('/')
        })
        .unwrap_or_else(|| panic!("the table of facts has a line for {group}/{version} {kind}"));
    let group_version = GroupVersion::new(group, version);
    let gvk = group_version.with_kind(kind);
    let schema = schema::of_kind(&gvk);
    Row {
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
        list_kind: format!("{kind}List").into(),
        plural: fact.resource.into(),
        singular: fact.singular.into(),
        short_names: words(fact.short_names),
        categories: words(fact.categories),
        scope: fact.scope,
        verbs: words(fact.verbs),
        subresources: subresources(&group_version, fact.resource),
        columns: columns(kind, schema.map(|schema| &**schema)),
        wiped: fact.wiped.split(',').filter(|name| *name != "-").collect(),
        reset: ResetFields::of(fact.reset),
        generation: Generation::of(fact.generation),
        returns_deleted_object: fact.deleted == "object",
        writes: write_rules(&fact),
        selectable: selectable(fact.selectable, schema.map(|schema| &**schema)),
        storage_prefix: storage_prefix(group, fact.resource).into(),
        schema: schema.cloned(),
        stored_as: gvk,
        strategy: Arc::new(strategy),
        custom: None,
    }
}

/// The row of a kind that is never stored: the reviews and Binding, which are only asked and
/// answered, ComponentStatus, which is always the same, and the metrics of nodes and pods,
/// which are measured when they are asked for.
pub(crate) fn review(group: &'static str, version: &'static str, name: &'static str, strategy: impl Strategy) -> Row {
    Row { storage_prefix: "".into(), ..kind(group, version, name, strategy) }
}

impl Row {
    /// The same stock of objects as another row's, seen through this row's version.
    pub fn sharing(self, other: &Row) -> Row {
        Row { stored_as: other.stored_as.clone(), storage_prefix: other.storage_prefix.clone(), ..self }
    }
}

fn words(cell: &'static str) -> Vec<Cow<'static, str>> {
    if cell == "-" { Vec::new() } else { cell.split(',').map(Cow::from).collect() }
}

/// # Panics
/// On a rule that does not exist: the table is compiled in and tested whole.
fn write_rules(fact: &Fact) -> WriteRules {
    let names = match fact.names {
        "-" => NameRule::Subdomain,
        "label" => NameRule::Label,
        "segment" => NameRule::PathSegment,
        "config-key" => NameRule::ConfigKey,
        "any" => NameRule::Any,
        "own" => NameRule::Own,
        other => panic!("{other} is a rule of names"),
    };
    let mut rules = WriteRules { names, ..WriteRules::default() };
    for word in fact.writes.split(',') {
        match word {
            "versioned" => rules.versioned = true,
            "creates" => rules.creates = true,
            "orphans" => rules.orphans = true,
            "-" => {}
            other => panic!("{other} is a rule of writes"),
        }
    }
    rules
}

/// `spec.nodeName`, or `name=metadata.name` for a field that is selected by another name.
fn selectable(list: &'static str, schema: Option<&TypeDef>) -> Vec<(&'static str, PathCell)> {
    let fields = list.split(',').filter(|field| *field != "-");
    let field = |text: &'static str| {
        let (name, path) = text.split_once('=').unwrap_or((text, text));
        (name, PathCell::at(path, schema))
    };
    fields.map(field).collect()
}

fn subresources(of: &GroupVersion, resource: &str) -> Vec<Subresource> {
    facts()
        .filter(|fact| fact.group == of.group && fact.version == of.version)
        .filter_map(|fact| {
            let name = fact.resource.strip_prefix(resource)?.strip_prefix('/')?;
            Some(Subresource {
                name: name.into(),
                kind: qualified_kind(of, fact.kind),
                verbs: words(fact.verbs),
                reset: ResetFields::of(fact.reset),
            })
        })
        .collect()
}

/// `autoscaling/v1.Scale` names another group's kind, `Pod` one of the row's own group.
fn qualified_kind(of: &GroupVersion, text: &'static str) -> GroupVersionKind {
    match text.split_once('/') {
        Some((group, rest)) => {
            let (version, kind) = rest.split_once('.').unwrap_or(("", rest));
            GroupVersionKind::new(group, version, kind)
        }
        None => of.with_kind(text),
    }
}

/// The columns of a kind; one without columns of its own shows its name and when it was
/// made, as upstream's default table does.
fn columns(kind: &str, schema: Option<&TypeDef>) -> Vec<Column> {
    const DEFAULT: [&str; 2] =
        ["Name\tstring\tname\t0\t.metadata.name", "Created At\tdate\t-\t0\t.metadata.creationTimestamp"];
    let column = |facts: &'static str| {
        let mut cells = facts.split('\t');
        let (name, column_type, format) = (cells.next()?, cells.next()?, cells.next()?);
        Some(Column {
            name: name.into(),
            column_type: column_type.into(),
            format: if format == "-" { "" } else { format }.into(),
            description: "".into(),
            priority: cells.next()?.parse().unwrap_or(0),
            cell: PathCell::parse(cells.next()?, schema),
        })
    };
    let lines = COLUMNS.lines().skip(1);
    let own: Vec<Column> =
        lines.filter_map(|line| line.strip_prefix(kind)?.strip_prefix('\t')).filter_map(column).collect();
    if own.is_empty() { DEFAULT.into_iter().filter_map(column).collect() } else { own }
}

/// Where upstream keeps a resource: under its plural, but for a few old names
/// (pkg/kubeapiserver/default_storage_factory_builder.go).
fn storage_prefix(group: &str, resource: &str) -> String {
    let place = match (group, resource) {
        ("", "replicationcontrollers") => "controllers",
        ("", "endpoints") => "services/endpoints",
        ("", "nodes") => "minions",
        ("", "services") => "services/specs",
        ("networking.k8s.io", "ingresses") => "ingress",
        ("apiextensions.k8s.io" | "apiregistration.k8s.io", _) => return format!("/registry/{group}/{resource}/"),
        _ => resource,
    };
    format!("/registry/{place}/")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain;
    impl Strategy for Plain {}

    #[test]
    fn a_row_carries_what_the_tables_say() {
        let pods = kind("", "v1", "Pod", Plain);
        assert_eq!((pods.plural.as_ref(), pods.singular.as_ref(), pods.list_kind.as_ref()), ("pods", "pod", "PodList"));
        assert_eq!(pods.short_names, ["po"]);
        assert_eq!(pods.categories, ["all"]);
        assert!(pods.is_namespaced());
        assert_eq!(pods.columns.len(), 9);
        assert_eq!(pods.key("default", "web"), "/registry/pods/default/web");
        let eviction = pods.subresource("eviction").expect("pods have an eviction");
        assert_eq!(eviction.kind, GroupVersionKind::new("policy", "v1", "Eviction"));
        assert_eq!(pods.subresource("status").map(|s| s.kind.clone()), Some(pods.gvk()));
    }

    #[test]
    fn old_names_of_storage_are_kept() {
        for (name, key) in [
            ("Service", "/registry/services/specs/n/a"),
            ("Endpoints", "/registry/services/endpoints/n/a"),
            ("Node", "/registry/minions/a"),
            ("ConfigMap", "/registry/configmaps/n/a"),
        ] {
            assert_eq!(kind("", "v1", name, Plain).key("n", "a"), key);
        }
    }

    #[test]
    fn a_kind_without_columns_shows_when_it_was_made() {
        let roles = kind("rbac.authorization.k8s.io", "v1", "Role", Plain);
        let names: Vec<&str> = roles.columns.iter().map(|c| c.name.as_ref()).collect();
        assert_eq!(names, ["Name", "Created At"]);
    }
}
