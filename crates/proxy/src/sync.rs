//! The loop: changes come in from the informers, the Services they concern are computed anew,
//! and the difference goes to the kernel. Called by [`crate::run`].
//!
//! While one transaction runs, changes queue up and make the next one, so that a burst becomes
//! a few transactions without a timer. After a failure the kernel's content is in doubt, hence
//! the next attempt replaces all of it, later and later until one succeeds.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use ferry_client::{Event, Informer, Informers};
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::apply::Nft;
use crate::model::{ServiceKey, compute_service};
use crate::render::render_service;
use crate::ruleset::{Ruleset, Transaction, render_stale_removal};
use crate::{Config, Error};

/// Names the Service that a slice belongs to.
const SERVICE_NAME_LABEL: &str = "kubernetes.io/service-name";

/// The first and the longest wait after a failure.
const RETRY_FIRST: Duration = Duration::from_millis(500);
const RETRY_LAST: Duration = Duration::from_secs(30);

/// How long a stale chain is left to be let go by the kernel.
const STALE_AFTER: Duration = Duration::from_secs(2);

pub(crate) async fn run(
    informers: &Informers,
    config: &Config,
    nft: &dyn Nft,
    ready: watch::Sender<bool>,
    shutdown: CancellationToken,
) {
    let services = informers.of::<Service>();
    let slices = informers.of::<EndpointSlice>();
    tokio::select! {
        () = async { services.synced().await; slices.synced().await } => {}
        () = shutdown.cancelled() => return,
    }
    let (service_events, slice_events) = (services.subscribe(), slices.subscribe());
    let mut syncer = Syncer::new(config, nft, Services::Informer(services));
    syncer.run(service_events, slice_events, ready, shutdown).await;
}

/// Where a Service is looked up; tests bring their own.
enum Services {
    Informer(Informer<Service>),
    #[cfg(test)]
    Given(Arc<parking_lot::Mutex<BTreeMap<ServiceKey, Arc<Service>>>>),
}

impl Services {
    fn get(&self, key: &ServiceKey) -> Option<Arc<Service>> {
        match self {
            Services::Informer(informer) => informer.get(&key.namespace, &key.name),
            #[cfg(test)]
            Services::Given(services) => services.lock().get(key).cloned(),
        }
    }
}

struct Syncer<'a> {
    config: &'a Config,
    nft: &'a dyn Nft,
    services: Services,
    slices: SliceIndex,
    ruleset: Ruleset,
    /// Services whose rules may have to change.
    dirty: BTreeSet<ServiceKey>,
    /// The kernel's content is not known: at the start, and after a failure.
    needs_full: bool,
    failures: u32,
    /// When to try again, or to remove stale chains.
    retry_at: Option<Instant>,
    stale_at: Option<Instant>,
}

impl<'a> Syncer<'a> {
    fn new(config: &'a Config, nft: &'a dyn Nft, services: Services) -> Syncer<'a> {
        Syncer {
            config,
            nft,
            services,
            slices: SliceIndex::default(),
            ruleset: Ruleset::default(),
            dirty: BTreeSet::new(),
            needs_full: true,
            failures: 0,
            retry_at: None,
            stale_at: None,
        }
    }

    async fn run(
        &mut self,
        mut service_events: mpsc::UnboundedReceiver<Event<Service>>,
        mut slice_events: mpsc::UnboundedReceiver<Event<EndpointSlice>>,
        ready: watch::Sender<bool>,
        shutdown: CancellationToken,
    ) {
        loop {
            while let Ok(event) = service_events.try_recv() {
                self.note_service(event);
            }
            while let Ok(event) = slice_events.try_recv() {
                self.note_slice(event);
            }
            let now = Instant::now();
            let waiting = self.retry_at.is_some_and(|at| now < at);
            if !waiting && (self.needs_full || !self.dirty.is_empty()) {
                self.sync().await;
                if !self.needs_full {
                    ready.send_replace(true);
                }
                continue;
            }
            if self.stale_at.is_some_and(|at| now >= at) {
                self.remove_stale().await;
                continue;
            }
            tokio::select! {
                event = service_events.recv() => match event {
                    Some(event) => self.note_service(event),
                    None => return,
                },
                event = slice_events.recv() => match event {
                    Some(event) => self.note_slice(event),
                    None => return,
                },
                () = until(self.retry_at.filter(|_| waiting)) => {}
                () = until(self.stale_at) => {}
                () = shutdown.cancelled() => return,
            }
        }
    }

    fn note_service(&mut self, event: Event<Service>) {
        if let Some(key) = key_of(&event.object().metadata, None) {
            self.dirty.insert(key);
        }
    }

    fn note_slice(&mut self, event: Event<EndpointSlice>) {
        self.slices.note(event, &mut self.dirty);
    }

    async fn sync(&mut self) {
        let dirty = std::mem::take(&mut self.dirty);
        let mut transaction = Transaction::default();
        for key in &dirty {
            let ports = match self.services.get(key) {
                Some(service) => compute_service(&service, self.slices.of(key), &self.config.node_name),
                None => Vec::new(),
            };
            self.ruleset.replace(key, render_service(key, &ports, self.config), &mut transaction);
        }
        let script = if self.needs_full {
            self.ruleset.render_full(self.config)
        } else if transaction.is_empty() {
            return;
        } else {
            transaction.render(&self.config.table)
        };
        let started = Instant::now();
        match self.nft.run(&script).await {
            Ok(()) => {
                tracing::debug!(services = dirty.len(), full = self.needs_full, elapsed = ?started.elapsed(), "rules are in place");
                self.needs_full = false;
                self.failures = 0;
                self.retry_at = None;
                self.stale_at = self.ruleset.has_stale().then(|| Instant::now() + STALE_AFTER);
            }
            Err(error) => self.fail(&error),
        }
    }

    fn fail(&mut self, error: &Error) {
        let wait = compute_retry(self.failures);
        tracing::error!(error = error as &dyn std::error::Error, retry_in = ?wait, "the rules could not be set");
        self.failures = self.failures.saturating_add(1);
        self.needs_full = true;
        self.retry_at = Some(Instant::now() + wait);
        self.stale_at = None;
    }

    async fn remove_stale(&mut self) {
        self.stale_at = None;
        let chains = self.ruleset.take_stale();
        if chains.is_empty() {
            return;
        }
        let script = render_stale_removal(&self.config.table, &chains);
        if let Err(error) = self.nft.run(&script).await {
            // They are empty and nothing leads to them, so there is no hurry.
            tracing::debug!(error = &error as &dyn std::error::Error, "stale chains are still in use");
            self.ruleset.keep_stale(chains);
            self.stale_at = Some(Instant::now() + RETRY_LAST);
        }
    }
}

fn compute_retry(failures: u32) -> Duration {
    RETRY_FIRST.saturating_mul(1 << failures.min(10)).min(RETRY_LAST)
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// The slices of each Service.
#[derive(Default)]
struct SliceIndex {
    by_service: HashMap<ServiceKey, BTreeMap<String, Arc<EndpointSlice>>>,
}

impl SliceIndex {
    fn note(&mut self, event: Event<EndpointSlice>, dirty: &mut BTreeSet<ServiceKey>) {
        match event {
            Event::Added(slice) => self.add(slice, dirty),
            Event::Updated { old, new } => {
                // The label that names the Service may have changed.
                self.remove(&old, dirty);
                self.add(new, dirty);
            }
            Event::Deleted(slice) => self.remove(&slice, dirty),
        }
    }

    fn add(&mut self, slice: Arc<EndpointSlice>, dirty: &mut BTreeSet<ServiceKey>) {
        if let Some((service, name)) = owner_of(&slice) {
            self.by_service.entry(service.clone()).or_default().insert(name, slice);
            dirty.insert(service);
        }
    }

    fn remove(&mut self, slice: &EndpointSlice, dirty: &mut BTreeSet<ServiceKey>) {
        let Some((service, name)) = owner_of(slice) else { return };
        if let Some(slices) = self.by_service.get_mut(&service) {
            slices.remove(&name);
            if slices.is_empty() {
                self.by_service.remove(&service);
            }
        }
        dirty.insert(service);
    }

    fn of(&self, key: &ServiceKey) -> impl Iterator<Item = &EndpointSlice> {
        self.by_service.get(key).into_iter().flat_map(BTreeMap::values).map(Arc::as_ref)
    }
}

/// The Service of a slice, and the slice's own name.
fn owner_of(slice: &EndpointSlice) -> Option<(ServiceKey, String)> {
    let service = slice.metadata.labels.as_ref()?.get(SERVICE_NAME_LABEL)?;
    Some((key_of(&slice.metadata, Some(service))?, slice.metadata.name.clone()?))
}

fn key_of(metadata: &ObjectMeta, name: Option<&String>) -> Option<ServiceKey> {
    let name = name.or(metadata.name.as_ref())?.clone();
    Some(ServiceKey { namespace: metadata.namespace.clone()?, name })
}

#[cfg(test)]
mod tests;
