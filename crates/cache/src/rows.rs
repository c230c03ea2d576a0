//! The rows being served, by group, version and plural. Builtin rows are there from the
//! start; custom resources come and go while the server runs (`crd/`), so readers take a
//! snapshot. The chain finds the row of a request here, once.

use crate::Stored;
use arc_swap::ArcSwap;
use ferry_api::object::Meta;
use ferry_resources::Row;
use ferry_resources::custom_resource::compare_versions;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

pub struct Rows(ArcSwap<Index>);

struct Index {
    /// In discovery's order.
    all: Arc<Vec<Arc<Row>>>,
    /// The few rows that share a plural (other versions, other groups), in the order of `all`.
    by_plural: HashMap<String, Vec<Arc<Row>>>,
}

impl Index {
    fn new(rows: Vec<Arc<Row>>) -> Self {
        let mut by_plural: HashMap<String, Vec<Arc<Row>>> = HashMap::with_capacity(rows.len());
        for row in &rows {
            by_plural.entry(row.plural.to_string()).or_default().push(row.clone());
        }
        Self { all: Arc::new(rows), by_plural }
    }

    fn named(&self, plural: &str) -> &[Arc<Row>] {
        self.by_plural.get(plural).map_or(&[], Vec::as_slice)
    }
}

impl Rows {
    pub fn new(rows: Vec<Arc<Row>>) -> Self {
        Self(ArcSwap::from_pointee(Index::new(rows)))
    }

    pub fn all(&self) -> Arc<Vec<Arc<Row>>> {
        self.0.load().all.clone()
    }

    /// Serves these rows in place of those that a definition had before; none to serve it no
    /// more. Builtin kinds come first, so none can be hidden by a definition; the versions
    /// of a group stand together, the preferred one first.
    pub fn replace_custom(&self, definition: &str, rows: &[Arc<Row>]) {
        self.0.rcu(|present| {
            let own = |row: &&Arc<Row>| row.custom.as_ref().is_some_and(|custom| custom.definition.name == definition);
            let mut all: Vec<Arc<Row>> = present.all.iter().filter(|row| !own(row)).chain(rows).cloned().collect();
            let builtin = all.iter().filter(|row| row.custom.is_none()).count();
            all.sort_by_key(|row| row.custom.is_some());
            all[builtin..].sort_by(|a, b| {
                a.group
                    .cmp(&b.group)
                    .then_with(|| compare_versions(&a.version, &b.version))
                    .then_with(|| a.plural.cmp(&b.plural))
            });
            Index::new(all)
        });
    }

    /// Whether a builtin kind has this name.
    pub fn is_builtin(&self, group: &str, plural: &str) -> bool {
        self.0.load().named(plural).iter().any(|row| row.custom.is_none() && row.group == group)
    }

    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Row>> {
        self.0.load().named(plural).iter().find(|row| row.version == version && row.group == group).cloned()
    }

    /// The row of a resource in whichever version comes first (the preferred one).
    pub fn any_version(&self, group: &str, plural: &str) -> Option<Arc<Row>> {
        self.0.load().named(plural).iter().find(|row| row.group == group).cloned()
    }
}

/// An object of the cache in the row's own version.
pub fn decode(row: &Row, stored: &Stored) -> Value {
    let mut object = stored.value();
    if row.gvk() != row.stored_as {
        row.strategy.from_stored(&mut object);
        object.set_gvk(&row.gvk());
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_by_its_name_and_the_preferred_version_first() {
        let rows = Rows::new(ferry_resources::all().to_vec());
        for row in rows.all().iter() {
            let found = rows.find(&row.group, &row.version, &row.plural).expect("it is served");
            assert!(Arc::ptr_eq(&found, row), "{}", row.gvk());
            let first = rows.all().iter().find(|other| other.plural == row.plural && other.group == row.group).cloned();
            let preferred = rows.any_version(&row.group, &row.plural).expect("it is served");
            assert_eq!(preferred.version, first.expect("it is in the list").version, "{}", row.gvk());
        }
        assert!(rows.find("", "v2", "pods").is_none() && rows.any_version("apps", "pods").is_none());
    }
}
