//! The row: everything the generic layers need to know about a kind, as data.

pub use crate::cell::PathCell;
use crate::custom_resource::Custom;
use crate::names;
use crate::reset::{Generation, ResetFields};
use crate::strategy::Strategy;
use ferry_api::document::Node;
use ferry_api::gvk::{GroupResource, GroupVersion, GroupVersionKind, GroupVersionResource};
use ferry_api::schema::TypeDef;
use std::borrow::Cow;
use std::sync::Arc;

type Name = Cow<'static, str>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Namespaced,
    Cluster,
}

/// One resource in one version.
#[derive(Clone)]
pub struct Row {
    pub group: Name,
    pub version: Name,
    pub kind: Name,
    /// `PodList`.
    pub list_kind: Name,
    pub plural: Name,
    pub singular: Name,
    pub short_names: Vec<Name>,
    pub categories: Vec<Name>,
    pub scope: Scope,
    /// In discovery's order (alphabetical).
    pub verbs: Vec<Name>,
    pub subresources: Vec<Subresource>,
    pub columns: Vec<Column>,
    /// Fields that a create clears.
    pub wiped: Vec<&'static str>,
    /// Fields that an update puts back.
    pub reset: ResetFields,
    pub generation: Generation,
    /// Whether a completed delete is answered with the object's last version instead of a
    /// Status (upstream's ReturnDeletedObject).
    pub returns_deleted_object: bool,
    pub writes: WriteRules,
    /// The fields that `--field-selector` may name besides metadata.name and
    /// metadata.namespace, and where each is read.
    pub selectable: Vec<(&'static str, PathCell)>,
    /// The group, version and kind in which objects are stored; differs from this row's
    /// own where two versions share one stock of objects (events).
    pub stored_as: GroupVersionKind,
    /// The first part of every key: `/registry/pods/`. Rows that share a stock share it;
    /// it is empty for kinds that are never stored (see [`Row::is_stored`]).
    pub storage_prefix: Name,
    /// `None` only for kinds that accept any fields.
    pub schema: Option<Arc<TypeDef>>,
    pub strategy: Arc<dyn Strategy>,
    /// Only for kinds that a CustomResourceDefinition made.
    pub custom: Option<Arc<Custom>>,
}

/// The constants of upstream's strategies: how objects are named, updated and
/// deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteRules {
    pub names: NameRule,
    /// An update without resourceVersion is refused (upstream's AllowUnconditionalUpdate).
    pub versioned: bool,
    /// PUT on an absent name creates it (upstream's AllowCreateOnUpdate).
    pub creates: bool,
    /// Deletion orphans dependents unless the request says otherwise.
    pub orphans: bool,
}

/// The rule that names follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameRule {
    #[default]
    Subdomain,
    Label,
    PathSegment,
    ConfigKey,
    Any,
    /// The strategy's.
    Own,
}

/// `status`, `scale`, `log`… as discovery lists them; the API server has the handlers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subresource {
    pub name: Name,
    /// The kind it takes or gives, which may be another group's (`autoscaling/v1 Scale`).
    pub kind: GroupVersionKind,
    pub verbs: Vec<Name>,
    /// Fields that an update through the subresource puts back.
    pub reset: ResetFields,
}

/// A column of `kubectl get`. Priority 0 always shows; 1 only with `-o wide`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: Name,
    /// `string`, `integer`, `date`, `boolean`, `number`.
    pub column_type: Name,
    /// `name` for the name column, else empty.
    pub format: Name,
    pub description: Name,
    pub priority: i32,
    /// Where the cell is read; `None` where the strategy computes it.
    pub cell: Option<PathCell>,
}

impl Row {
    pub fn group_version(&self) -> GroupVersion {
        GroupVersion::new(self.group.clone(), self.version.clone())
    }

    pub fn gvk(&self) -> GroupVersionKind {
        self.group_version().with_kind(self.kind.clone())
    }

    pub fn gvr(&self) -> GroupVersionResource {
        self.group_version().with_resource(self.plural.clone())
    }

    pub fn group_resource(&self) -> GroupResource {
        GroupResource::new(self.group.clone(), self.plural.clone())
    }

    pub fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    /// False for kinds that are only asked and answered, such as the reviews.
    pub fn is_stored(&self) -> bool {
        !self.storage_prefix.is_empty()
    }

    /// `/registry/pods/default/web`, or `/registry/minions/a` for a cluster-scoped kind.
    pub fn key(&self, namespace: &str, name: &str) -> String {
        match self.scope {
            Scope::Namespaced => [&*self.storage_prefix, namespace, "/", name].concat(),
            Scope::Cluster => [&*self.storage_prefix, name].concat(),
        }
    }

    /// The prefix of all objects, or of those of one namespace.
    pub fn key_prefix(&self, namespace: Option<&str>) -> String {
        match namespace {
            Some(namespace) if self.is_namespaced() => format!("{}{namespace}/", self.storage_prefix),
            _ => self.storage_prefix.to_string(),
        }
    }

    /// Whether objects take this verb. A custom resource whose definition goes still takes
    /// those that discovery no longer shows: finalizers must be removable to the end.
    pub fn serves(&self, verb: &str) -> bool {
        self.verbs.iter().any(|known| *known == verb)
            || (self.custom.is_some() && matches!(verb, "create" | "update" | "patch"))
    }

    /// The mistakes in a name, as sentences without path. `prefix` is true for generateName.
    pub fn validate_name(&self, name: &str, prefix: bool) -> Vec<String> {
        match self.writes.names {
            NameRule::Subdomain => names::dns1123_subdomain(name, prefix),
            NameRule::Label => names::dns1123_label(name, prefix),
            NameRule::PathSegment => names::path_segment(name, prefix),
            NameRule::ConfigKey => names::is_config_map_key(name),
            NameRule::Any => Vec::new(),
            NameRule::Own => self.strategy.validate_name(name, prefix),
        }
    }

    /// The fields that `--field-selector` may name besides metadata.name and
    /// metadata.namespace, with this object's values.
    pub fn selectable_fields(&self, object: Node<'_>) -> Vec<(&'static str, String)> {
        let mut fields: Vec<_> = self.selectable.iter().map(|(name, cell)| (*name, cell.text(object))).collect();
        fields.extend(self.strategy.selectable_fields(object));
        fields
    }

    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|s| s.name == name)
    }
}
