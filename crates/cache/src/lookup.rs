//! What authentication, authorization and admission may ask of the objects in memory.
//! The cache answers; nothing here touches the disk, so every call is cheap and synchronous.

use crate::rows::Rows;
use crate::{Cache, Stock, Stored};
use ferry_resources::Row;
use std::sync::Arc;

/// One change to one object, in commit order.
#[derive(Clone, Debug)]
pub enum Change {
    /// The object is new or has a new version.
    Put(Arc<Stored>),
    /// The object is gone; this is its last version.
    Delete(Arc<Stored>),
}

/// Called for each change; it must not block and must not call back into the lookup.
pub type Observer = Box<dyn Fn(&Change) + Send + Sync>;

/// Reads of any kind by group and plural (`""`, `"namespaces"`). Kinds that are not
/// served answer as if they had no objects.
pub trait ObjectLookup: Send + Sync + 'static {
    /// The namespace is `""` for cluster-scoped kinds.
    fn get(&self, group: &str, plural: &str, namespace: &str, name: &str) -> Option<Arc<Stored>>;

    /// All objects of one namespace, or of all namespaces, in the order of their keys.
    fn list(&self, group: &str, plural: &str, namespace: Option<&str>) -> Vec<Arc<Stored>>;

    /// Calls the observer once for every object there is (as `Put`), then for every
    /// change in commit order. A change is observed before the write that made it is
    /// acknowledged, so an index built this way is never older than what a caller has seen.
    fn subscribe(&self, group: &str, plural: &str, observer: Observer);
}

/// The cache seen through the rows. Apart from the registry, because admission keeps one
/// and the registry keeps admission.
pub struct CacheLookup {
    pub cache: Arc<Cache>,
    pub rows: Arc<Rows>,
}

impl CacheLookup {
    fn stock(&self, group: &str, plural: &str) -> Option<(Arc<Row>, Arc<Stock>)> {
        let row = self.rows.any_version(group, plural)?;
        let stock = self.cache.stock(&row)?;
        Some((row, stock))
    }
}

impl ObjectLookup for CacheLookup {
    fn get(&self, group: &str, plural: &str, namespace: &str, name: &str) -> Option<Arc<Stored>> {
        let (row, stock) = self.stock(group, plural)?;
        stock.get(&row.key(namespace, name))
    }

    fn list(&self, group: &str, plural: &str, namespace: Option<&str>) -> Vec<Arc<Stored>> {
        match self.stock(group, plural) {
            Some((row, stock)) => stock.list(&row.key_prefix(namespace)).objects,
            None => Vec::new(),
        }
    }

    fn subscribe(&self, group: &str, plural: &str, observer: Observer) {
        if let Some((_, stock)) = self.stock(group, plural) {
            stock.observe(observer);
        }
    }
}
