//! Writes the EndpointSlices of one manager, and keeps a stale cache from leading to a
//! second set of them. Used by the two controllers that fill slices: one from the pods of
//! services, one from Endpoints.

use crate::error::{During, Result};
use crate::runner::{Context, Key, Watch};
use crate::workload::expectations::{Expectations, Seen};
use ferry_api::view::discovery::v1::EndpointSlice;
use ferry_api::view::{Kind, Owned};
use ferry_client::{DeleteParams, Event, Informers, SharedObject};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const SERVICE_NAME: &str = "kubernetes.io/service-name";
pub(crate) const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";

/// A key whose writes the cache has not shown yet is looked at again after this time, if no
/// event wakes it before.
pub(crate) const RECHECK: Duration = Duration::from_secs(5 * 60 + 1);

/// The index of slices by manager, namespace and service.
const BY_SERVICE: &str = "service";

/// The slices to write for one service.
#[derive(Debug, Default)]
pub(crate) struct SlicePlan {
    pub create: Vec<EndpointSlice>,
    pub update: Vec<EndpointSlice>,
    pub delete: Vec<SharedObject<EndpointSlice>>,
    /// Nodes of pods that are not known; those pods are left out until they are.
    pub nodes_missing: Vec<String>,
}

pub(crate) struct SliceWriter {
    manager: &'static str,
    expectations: Arc<Expectations>,
}

impl SliceWriter {
    /// `manager` is the value of the label by which the controller knows its slices.
    pub(crate) fn new(manager: &'static str) -> Self {
        Self { manager, expectations: Arc::default() }
    }

    /// A watch that wakes the service of each slice of this manager.
    pub(crate) fn watch(&self, informers: &Informers) -> Watch {
        let slices = informers.of::<EndpointSlice>().indexed(BY_SERVICE, |slice| {
            let manager = slice.meta().labels().get(MANAGED_BY).unwrap_or_default();
            service_of(slice, manager).map(|key| index_value(manager, &key)).into_iter().collect()
        });
        let (manager, expectations) = (self.manager, self.expectations.clone());
        Watch::new(slices, move |event, enqueue| {
            let slice = event.object();
            let Some(key) = service_of(slice, manager) else { return };
            if matches!(event, Event::Deleted(_)) {
                expectations.observe_gone(&key, slice.uid());
            }
            enqueue.add(key);
        })
    }

    /// The slices of a service; `None` while the cache lags behind what was written for it.
    pub(crate) fn existing(&self, ctx: &Context, key: &Key) -> Option<Vec<SharedObject<EndpointSlice>>> {
        let slices = ctx.informers.of::<EndpointSlice>();
        let caught_up = self.expectations.are_met(key, |name, uid| match slices.get(&key.namespace, name) {
            Some(slice) if slice.uid() == uid => Seen::Alive,
            _ => Seen::Absent,
        });
        caught_up.then(|| slices.by_index(BY_SERVICE, &index_value(self.manager, key)))
    }

    /// Carries a plan out and remembers what the cache must show before the next.
    pub(crate) async fn execute(&self, ctx: &Context, key: &Key, plan: &SlicePlan) -> Result<()> {
        self.expectations.open(key);
        let result = self.write(ctx, key, plan).await;
        self.expectations.close(key);
        result
    }

    async fn write(&self, ctx: &Context, key: &Key, plan: &SlicePlan) -> Result<()> {
        let slices = ctx.client.api::<EndpointSlice>(&key.namespace);
        for slice in &plan.create {
            let made = slices.create(slice).await.during("create an endpoint slice of", key)?;
            self.expectations.created(key, made.uid(), made.name());
        }
        for slice in &plan.update {
            let name = EndpointSlice::metadata(slice.view()).name();
            slices.replace(slice).await.during("update the endpoint slice", name)?;
        }
        for slice in &plan.delete {
            let params = DeleteParams { uid: Some(slice.uid().to_owned()), ..Default::default() };
            match slices.delete(slice.name(), &params).await {
                Err(error) if error.is_not_found() => continue,
                other => other.during("delete the endpoint slice", slice.name())?,
            }
            self.expectations.deleted(key, slice.uid(), slice.name());
        }
        Ok(())
    }

    /// Forgets a service that is gone; its slices go with it by garbage collection.
    pub(crate) fn forget(&self, key: &Key) {
        self.expectations.forget(key);
    }
}

/// The service that a slice of this manager belongs to.
fn service_of(slice: &SharedObject<EndpointSlice>, manager: &str) -> Option<Key> {
    let labels = slice.meta().labels();
    labels.get(MANAGED_BY).filter(|own| *own == manager)?;
    Some(Key::new(slice.namespace(), labels.get(SERVICE_NAME)?))
}

fn index_value(manager: &str, service: &Key) -> String {
    format!("{manager}/{service}")
}
