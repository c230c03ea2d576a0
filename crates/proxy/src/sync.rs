//! The loop: changes come in from the informers, the Services they concern are computed anew,
//! and the difference goes to the kernel. Called by [`crate::run`].

use std::collections::BTreeSet;
use std::sync::Arc;

use ferry_api::rules::key::ObjectKey;
use ferry_api::view::core::v1::{Node, Service};
use ferry_api::view::discovery::v1::EndpointSlice;
use ferry_client::{Event, Informer, Informers, ListParams, SharedObject};
use ferry_nftables::{Flows, LiveTable, Nft};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::Config;
use crate::frame::render_frame;
use crate::health_check::HealthChecks;
use crate::model::{NodePlace, compute_health_check, compute_service};
use crate::render::render_service;
use crate::stale_flows::StaleFlows;

/// Names the Service that a slice belongs to.
const SERVICE_NAME_LABEL: &str = "kubernetes.io/service-name";
const ZONE_LABEL: &str = "topology.kubernetes.io/zone";

/// The index of slices by the namespace and name of their Service.
const BY_SERVICE: &str = "service";

pub(crate) async fn run(
    informers: &Informers,
    config: &Config,
    (nft, flows): (&dyn Nft, &dyn Flows),
    ready: watch::Sender<bool>,
    shutdown: CancellationToken,
) {
    let own_node =
        ListParams { field_selector: Some(format!("metadata.name={}", config.node_name)), ..Default::default() };
    let informers = Followed { services: informers.of(), slices: informers.of(), nodes: informers.with(own_node) };
    let Followed { services, slices, nodes } = &informers;
    tokio::select! {
        () = async { services.synced().await; slices.synced().await; nodes.synced().await } => {}
        () = shutdown.cancelled() => return,
    }
    Syncer::new(config, nft, flows, informers).run(ready, shutdown).await;
}

/// What the rules are made of.
struct Followed {
    services: Informer<Service>,
    slices: Informer<EndpointSlice>,
    /// This node alone.
    nodes: Informer<Node>,
}

struct Syncer<'a> {
    config: &'a Config,
    flows: &'a dyn Flows,
    followed: Followed,
    table: LiveTable<'a, Arc<ObjectKey>>,
    /// Services whose rules may have to change.
    dirty: BTreeSet<ObjectKey>,
    zone: String,
    health_checks: HealthChecks,
    stale_flows: StaleFlows,
}

impl<'a> Syncer<'a> {
    fn new(config: &'a Config, nft: &'a dyn Nft, flows: &'a dyn Flows, followed: Followed) -> Syncer<'a> {
        let Followed { services, slices, nodes } = followed;
        let slices = slices.indexed(BY_SERVICE, |slice| service_of(slice).iter().map(ObjectKey::to_string).collect());
        Syncer {
            config,
            flows,
            followed: Followed { services, slices, nodes },
            table: LiveTable::new(nft, render_frame(config)),
            dirty: BTreeSet::new(),
            zone: String::new(),
            health_checks: HealthChecks::new(config.node_ips.clone()),
            stale_flows: StaleFlows::new(config.node_ips.clone()),
        }
    }

    async fn run(&mut self, ready: watch::Sender<bool>, shutdown: CancellationToken) {
        let mut service_events = self.followed.services.subscribe();
        let mut slice_events = self.followed.slices.subscribe();
        let mut node_events = self.followed.nodes.subscribe();
        loop {
            while let Ok(event) = node_events.try_recv() {
                self.note_node(&event);
            }
            while let Ok(event) = service_events.try_recv() {
                self.note_service(&event);
            }
            while let Ok(event) = slice_events.try_recv() {
                self.note_slice(&event);
            }
            // What waits for another attempt is computed once, however often it has changed.
            if !self.table.is_waiting() && !self.dirty.is_empty() {
                self.compute();
            }
            if self.table.is_due() {
                self.table.sync().await;
                self.health_checks.set_healthy(self.table.is_complete());
                if self.table.is_complete() {
                    self.end_stale_flows().await;
                    ready.send_replace(true);
                }
                continue;
            }
            self.table.remove_stale().await;
            tokio::select! {
                event = service_events.recv() => match event {
                    Some(event) => self.note_service(&event),
                    None => return,
                },
                event = slice_events.recv() => match event {
                    Some(event) => self.note_slice(&event),
                    None => return,
                },
                event = node_events.recv() => match event {
                    Some(event) => self.note_node(&event),
                    None => return,
                },
                () = self.table.woken() => {}
                () = shutdown.cancelled() => return,
            }
        }
    }

    fn note_service(&mut self, event: &Event<Service>) {
        self.dirty.insert(ObjectKey::of(event.object().meta()));
    }

    /// The label that names the Service may have changed, which then concerns both.
    fn note_slice(&mut self, event: &Event<EndpointSlice>) {
        let (old, new) = event.versions();
        self.dirty.extend([old, new].into_iter().flatten().filter_map(service_of));
    }

    /// Another zone, which a node gets once in its life, may be another choice for every Service.
    fn note_node(&mut self, event: &Event<Node>) {
        let zone = event.object().meta().labels().get(ZONE_LABEL).unwrap_or_default();
        if zone != self.zone {
            self.zone = zone.to_owned();
            self.followed.services.for_each(|service| {
                self.dirty.insert(ObjectKey::of(service.meta()));
            });
        }
    }

    fn compute(&mut self) {
        for key in std::mem::take(&mut self.dirty) {
            self.compute_service(key);
        }
    }

    /// The Service as the informers have it now. Costs as much as it has endpoints.
    fn compute_service(&mut self, key: ObjectKey) {
        let service = self.followed.services.get(&key.namespace, &key.name);
        let slices = self.followed.slices.by_index(BY_SERVICE, &key.to_string());
        let views = || slices.iter().map(SharedObject::view);
        let node = NodePlace { name: &self.config.node_name, zone: &self.zone };
        let ports = service.as_ref().map(|service| compute_service(service.view(), views(), node)).unwrap_or_default();
        let check = service.as_ref().and_then(|service| compute_health_check(service.view(), views(), node.name));
        let rules = render_service(&key, &ports, self.config);
        let key = Arc::new(key);
        self.health_checks.replace(&key, check);
        self.stale_flows.replace(&key, &ports);
        self.table.replace(&key, rules);
    }

    /// After the rules: what is still on its way to an endpoint that is gone would make the flow anew.
    async fn end_stale_flows(&mut self) {
        let Some(stale) = self.stale_flows.take() else { return };
        match self.flows.end_udp(stale).await {
            Ok(count) => tracing::debug!(count, "UDP flows to endpoints that are gone have ended"),
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "UDP flows may still go to endpoints that are gone"
                );
            }
        }
    }
}

/// The Service that a slice belongs to.
fn service_of(slice: &SharedObject<EndpointSlice>) -> Option<ObjectKey> {
    let service = slice.meta().labels().get(SERVICE_NAME_LABEL)?;
    Some(ObjectKey::new(slice.namespace(), service))
}

#[cfg(test)]
mod tests;
