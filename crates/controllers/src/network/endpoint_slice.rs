//! Writes the EndpointSlices of every Service with a selector: where its pods are.
//!
//! plan.rs decides what the slices are, writer.rs writes them; this file watches.

mod plan;
pub(crate) mod writer;

use crate::error::{Error, Result};
use crate::network::service_pods;
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_api::view::core::v1::{Node, Pod, Service};
use ferry_client::Informers;
use plan::{MANAGER, plan_slices};
use writer::{RECHECK, SliceWriter};

pub(crate) struct EndpointSliceController {
    slices: SliceWriter,
}

impl Default for EndpointSliceController {
    fn default() -> Self {
        Self { slices: SliceWriter::new(MANAGER) }
    }
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
        watches.push(self.slices.watch(informers));
        watches.push(Watch::cached(informers.of::<Node>()));
        watches
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let informers = &ctx.informers;
        let Some(service) = informers.of::<Service>().get(&key.namespace, &key.name) else {
            self.slices.forget(key);
            return Ok(Action::Done);
        };
        let Some(pods) = service_pods::selected_pods(&service, &informers.of::<Pod>()) else {
            return Ok(Action::Done);
        };
        let Some(existing) = self.slices.existing(ctx, key) else { return Ok(Action::RequeueAfter(RECHECK)) };
        let nodes = informers.of::<Node>();
        let plan = plan_slices(service.view(), &pods, &existing, &|name| nodes.get("", name));
        let result = self.slices.execute(ctx, key, &plan).await;
        match &result {
            // The cache lags behind our own write; the next try will not.
            Err(Error::Call { source, .. }) if source.is_conflict() || source.is_namespace_terminating() => {}
            Err(error) => {
                let message = format!("Error updating Endpoint Slices for Service {key}: {error}");
                ctx.recorder.warning(&service, "FailedToUpdateEndpointSlices", message);
            }
            Ok(()) => {}
        }
        result?;
        match plan.nodes_missing.first() {
            Some(node) => Err(Error::Retry(format!("node {node} of a pod of service {key} is not known yet"))),
            None => Ok(Action::Done),
        }
    }
}
