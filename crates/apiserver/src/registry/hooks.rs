//! Hooks of a kind around the write of its objects, after upstream's BeginCreate, BeginUpdate
//! and AfterDelete (registry/generic/registry/store.go). A kind that must take something which
//! no object of its own holds (the cluster IP of a Service) registers one beside its row;
//! create, update and delete call it at one fixed place each and know no kind by name.

use super::Registry;
use ferry_api::status::Status;
use ferry_resources::Row;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

pub trait Hooks: Send + Sync + 'static {
    /// Called once for each attempt to create, after `prepare` and before validation; it may
    /// fill in fields. The object is not stored yet and may never be.
    fn begin_create(&self, object: &mut Value) -> Result<Box<dyn Finish>, Status>;

    /// As [`Hooks::begin_create`], for each attempt to change the object, through any door.
    fn begin_update(&self, new: &mut Value, old: &Value) -> Result<Box<dyn Finish>, Status>;

    /// Called when an object is gone from the store, with its last version, before the caller
    /// of the delete is answered.
    fn after_delete<'a>(&'a self, registry: &'a Registry, object: &'a Value) -> BoxFuture<'a, ()>;
}

/// The end of a write that a hook has begun (upstream's FinishFunc): `keep` when the object is
/// stored. One that is dropped instead gives back what the hook took.
#[must_use]
pub trait Finish: Send {
    fn keep<'a>(self: Box<Self>, registry: &'a Registry) -> BoxFuture<'a, ()>;
}

/// The hooks by group and plural. Few kinds have any.
#[derive(Default)]
pub struct HookTable(Vec<(&'static str, &'static str, Arc<dyn Hooks>)>);

impl HookTable {
    pub fn with(mut self, group: &'static str, plural: &'static str, hooks: Arc<dyn Hooks>) -> Self {
        self.0.push((group, plural, hooks));
        self
    }

    fn of(&self, row: &Row) -> Option<&dyn Hooks> {
        let mut own = self.0.iter().filter(|(group, plural, _)| row.plural == *plural && row.group == *group);
        own.next().map(|(_, _, hooks)| &**hooks)
    }
}

/// A write that a hook has begun; nothing for most kinds.
#[must_use]
pub(super) struct Begun(Option<Box<dyn Finish>>);

impl Begun {
    pub(super) async fn keep(self, registry: &Registry) {
        if let Some(finish) = self.0 {
            finish.keep(registry).await;
        }
    }
}

impl Registry {
    pub(super) fn begin_create(&self, row: &Row, object: &mut Value) -> Result<Begun, Status> {
        self.hooks.of(row).map(|hooks| hooks.begin_create(object)).transpose().map(Begun)
    }

    pub(super) fn begin_update(&self, row: &Row, new: &mut Value, old: &Value) -> Result<Begun, Status> {
        self.hooks.of(row).map(|hooks| hooks.begin_update(new, old)).transpose().map(Begun)
    }

    pub(super) async fn after_delete(&self, row: &Row, object: &Value) {
        if let Some(hooks) = self.hooks.of(row) {
            hooks.after_delete(self, object).await;
        }
    }
}
