//! Where quotas are read and their use is written down.

use crate::registry::lookup::ObjectLookup;
use crate::registry::{Caller, IfAbsent, Part, Registry, Target, Tracking};
use async_trait::async_trait;
use ferry_api::gvk::GroupResource;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use serde_json::Value;
use std::sync::{Arc, Weak};

#[async_trait]
pub(super) trait Ledger: Send + Sync {
    /// Cheap; asked for every write in a namespace.
    fn has_quotas(&self, namespace: &str) -> bool;

    /// The quotas of a namespace with their resourceVersion.
    fn quotas(&self, namespace: &str) -> Vec<Value>;

    /// Stores `status.used` of the quota, if it is still at its resourceVersion; fails
    /// with a conflict otherwise. When it returns, `quotas` shows the new use.
    async fn record(&self, quota: Value) -> Result<(), Status>;
}

/// Reads from the cache, writes as the server itself.
pub(super) struct RegistryLedger {
    pub lookup: Arc<dyn ObjectLookup>,
    pub registry: Weak<Registry>,
}

#[async_trait]
impl Ledger for RegistryLedger {
    fn has_quotas(&self, namespace: &str) -> bool {
        !self.lookup.list("", "resourcequotas", Some(namespace)).is_empty()
    }

    fn quotas(&self, namespace: &str) -> Vec<Value> {
        let stored = self.lookup.list("", "resourcequotas", Some(namespace));
        stored.iter().map(|stored| stored.value()).collect()
    }

    async fn record(&self, quota: Value) -> Result<(), Status> {
        let registry = self.registry.upgrade().ok_or_else(|| Status::service_unavailable("the server is stopping"))?;
        let row = registry.rows.find("", "v1", "resourcequotas").ok_or_else(Status::no_such_path)?;
        let target = Target {
            row: &row,
            namespace: quota.namespace(),
            name: quota.name(),
            part: Part::Status,
            absent: IfAbsent::AsKind,
        };
        let used = quota.at(&["status", "used"]).cloned().unwrap_or_default();
        let mut change = |current: Option<&Value>| {
            let resource = || GroupResource::new("", "resourcequotas");
            let current = current.ok_or_else(|| Status::not_found(&resource(), quota.name()))?;
            if current.resource_version() != quota.resource_version() || current.uid() != quota.uid() {
                return Err(Status::modified(&resource(), quota.name()));
            }
            let mut new = current.clone();
            let status = ensure_object(&mut new).entry("status").or_insert(Value::Null);
            ensure_object(status).insert("used".into(), used.clone());
            Ok(new)
        };
        registry.update(&target, Tracking::Update, &Caller::server(), &mut change).await.map(drop)
    }
}
