//! Writes the EndpointSlices of every Service with a selector: where its pods are.
//!
//! plan.rs decides what the slices are; this file watches, applies and keeps a stale
//! cache from leading to a second set of slices.

mod plan;

use crate::error::{During, Error, Result};
use crate::expectations::{Expectations, Seen};
use crate::runner::{Action, Context, Controller, Key, Watch};
use crate::service_pods;
use async_trait::async_trait;
use ferry_client::{DeleteParams, Event, Informers, reference};
use k8s_openapi::api::core::v1::{Node, Pod, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use plan::{MANAGED_BY, MANAGER, SERVICE_NAME, SlicePlan, plan_slices};
use std::sync::Arc;
use std::time::Duration;

const RECHECK: Duration = Duration::from_secs(5 * 60 + 1);

#[derive(Default)]
pub struct EndpointSliceController {
    expectations: Arc<Expectations>,
}

#[async_trait]
impl Controller for EndpointSliceController {
    fn name(&self) -> &'static str {
        "endpoint-slice-controller"
    }

    fn identity(&self) -> &'static str {
        "endpointslice-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let mut watches = service_pods::watches(informers);
        let expectations = self.expectations.clone();
        watches.push(Watch::new(informers.of::<EndpointSlice>(), move |event, enqueue| {
            let slice = event.object();
            let Some(key) = service_of(slice) else { return };
            if let Event::Deleted(slice) = event {
                expectations.observe_gone(&key, slice.metadata.uid.as_deref().unwrap_or_default());
            }
            enqueue.add(key);
        }));
        watches.push(Watch::cached(informers.of::<Node>()));
        watches
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let slices = ctx.informers.of::<EndpointSlice>();
        let Some(service) = ctx.informers.of::<Service>().get(&key.namespace, &key.name) else {
            // The slices go with their owner by garbage collection.
            self.expectations.forget(key);
            return Ok(Action::Done);
        };
        let Some(pods) = service_pods::selected_pods(&service, &ctx.informers.of::<Pod>()) else {
            return Ok(Action::Done);
        };
        let caught_up = self.expectations.are_met(key, |name, uid| match slices.get(&key.namespace, name) {
            Some(slice) if slice.metadata.uid.as_deref() == Some(uid) => Seen::Alive,
            _ => Seen::Absent,
        });
        if !caught_up {
            return Ok(Action::RequeueAfter(RECHECK));
        }
        let existing: Vec<Arc<EndpointSlice>> = slices
            .list(Some(&key.namespace))
            .into_iter()
            .filter(|slice| service_of(slice).as_ref() == Some(key))
            .collect();
        let nodes = ctx.informers.of::<Node>();
        let plan = plan_slices(&service, &pods, &existing, &|name| nodes.get("", name));
        let nodes_missing = plan.nodes_missing.clone();
        self.expectations.open(key);
        let result = self.execute(ctx, key, plan).await;
        self.expectations.close(key);
        match &result {
            // The cache lags behind our own write; the next try will not.
            Err(Error::Call { source, .. }) if source.is_conflict() || source.is_namespace_terminating() => {}
            Err(error) => {
                let message = format!("Error updating Endpoint Slices for Service {key}: {error}");
                ctx.recorder.warning(&reference(&*service), "FailedToUpdateEndpointSlices", message);
            }
            Ok(()) => {}
        }
        result?;
        match nodes_missing.first() {
            Some(node) => Err(Error::Retry(format!("node {node} of a pod of service {key} is not known yet"))),
            None => Ok(Action::Done),
        }
    }
}

impl EndpointSliceController {
    async fn execute(&self, ctx: &Context, key: &Key, plan: SlicePlan) -> Result<()> {
        for slice in &plan.create {
            let made = ctx.client.create(&key.namespace, slice).await.during("create an endpoint slice of", key)?;
            let (uid, name) = (made.metadata.uid.unwrap_or_default(), made.metadata.name.unwrap_or_default());
            self.expectations.created(key, &uid, &name);
        }
        for slice in &plan.update {
            let name = slice.metadata.name.as_deref().unwrap_or_default();
            ctx.client.replace(&key.namespace, slice).await.during("update the endpoint slice", name)?;
        }
        for slice in &plan.delete {
            let name = slice.metadata.name.as_deref().unwrap_or_default();
            let params = DeleteParams { uid: slice.metadata.uid.clone(), ..Default::default() };
            match ctx.client.delete::<EndpointSlice>(&key.namespace, name, &params).await {
                Err(error) if error.is_not_found() => continue,
                other => other.during("delete the endpoint slice", name)?,
            }
            self.expectations.deleted(key, slice.metadata.uid.as_deref().unwrap_or_default(), name);
        }
        Ok(())
    }
}

/// The service a slice of ours belongs to.
fn service_of(slice: &EndpointSlice) -> Option<Key> {
    let labels = slice.metadata.labels.as_ref()?;
    if labels.get(MANAGED_BY).map(String::as_str) != Some(MANAGER) {
        return None;
    }
    let name = labels.get(SERVICE_NAME)?;
    Some(Key::new(slice.metadata.namespace.clone().unwrap_or_default(), name.clone()))
}
