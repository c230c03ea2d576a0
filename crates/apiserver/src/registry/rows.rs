//! The rows being served, by group, version and plural. Builtin rows are there from the
//! start; custom resources come and go while the server runs, so readers take a snapshot.

use arc_swap::ArcSwap;
use ferry_resources::Row;
use std::sync::Arc;

pub struct Rows(ArcSwap<Vec<Arc<Row>>>);

impl Rows {
    pub fn new(rows: Vec<Arc<Row>>) -> Self {
        Self(ArcSwap::from_pointee(rows))
    }

    pub fn all(&self) -> Arc<Vec<Arc<Row>>> {
        self.0.load_full()
    }

    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Row>> {
        self.0.load().iter().find(|r| r.plural == plural && r.version == version && r.group == group).cloned()
    }

    /// The row of a resource in whichever version comes first (the preferred one).
    pub fn any_version(&self, group: &str, plural: &str) -> Option<Arc<Row>> {
        self.0.load().iter().find(|r| r.plural == plural && r.group == group).cloned()
    }
}
