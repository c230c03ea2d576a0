//! The rows being served, by group, version and plural. Builtin rows are there from the
//! start; custom resources come and go while the server runs (`crd/`), so readers take a
//! snapshot.

use arc_swap::ArcSwap;
use ferry_resources::Row;
use ferry_resources::custom_resource::compare_versions;
use std::sync::Arc;

pub struct Rows(ArcSwap<Vec<Arc<Row>>>);

impl Rows {
    pub fn new(rows: Vec<Arc<Row>>) -> Self {
        Self(ArcSwap::from_pointee(rows))
    }

    pub fn all(&self) -> Arc<Vec<Arc<Row>>> {
        self.0.load_full()
    }

    /// Serves these rows in place of what a definition was served as; none to serve it no
    /// more. Builtin kinds come first, so none can be hidden by a definition; the versions
    /// of a group stand together, the preferred one first.
    pub fn replace_custom(&self, definition: &str, rows: &[Arc<Row>]) {
        self.0.rcu(|present| {
            let own = |row: &&Arc<Row>| row.custom.as_ref().is_some_and(|custom| custom.definition.name == definition);
            let mut all: Vec<Arc<Row>> = present.iter().filter(|row| !own(row)).chain(rows).cloned().collect();
            let builtin = all.iter().filter(|row| row.custom.is_none()).count();
            all.sort_by_key(|row| row.custom.is_some());
            all[builtin..].sort_by(|a, b| {
                a.group
                    .cmp(&b.group)
                    .then_with(|| compare_versions(&a.version, &b.version))
                    .then_with(|| a.plural.cmp(&b.plural))
            });
            all
        });
    }

    /// Whether a builtin kind has this name.
    pub fn is_builtin(&self, group: &str, plural: &str) -> bool {
        self.0.load().iter().any(|row| row.custom.is_none() && row.plural == plural && row.group == group)
    }

    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Row>> {
        self.0.load().iter().find(|r| r.plural == plural && r.version == version && r.group == group).cloned()
    }

    /// The row of a resource in whichever version comes first (the preferred one).
    pub fn any_version(&self, group: &str, plural: &str) -> Option<Arc<Row>> {
        self.0.load().iter().find(|r| r.plural == plural && r.group == group).cloned()
    }
}
