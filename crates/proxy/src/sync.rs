//! The loop: changes come in from the informers, the Services they concern are computed anew,
//! and the difference goes to the kernel. Called by [`crate::run`].
//!
//! While one transaction runs, changes queue up and make the next one, so that a burst becomes
//! a few transactions without a timer. After a failure the kernel's content is in doubt, hence
//! the next attempt replaces all of it, later and later until one succeeds.

use std::collections::BTreeSet;
use std::time::Duration;

use ferry_api::rules::backoff::Backoff;
use ferry_api::rules::key::ObjectKey;
use ferry_api::view::core::v1::Service;
use ferry_api::view::discovery::v1::EndpointSlice;
use ferry_client::{Event, Informer, Informers, SharedObject};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::apply::Nft;
use crate::model::{ServicePort, compute_service};
use crate::render::render_service;
use crate::ruleset::{Ruleset, Transaction, render_stale_removal};
use crate::{Config, Error};

/// Names the Service that a slice belongs to.
const SERVICE_NAME_LABEL: &str = "kubernetes.io/service-name";

/// The index of slices by the namespace and name of their Service.
const BY_SERVICE: &str = "service";

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
    Syncer::new(config, nft, services, slices).run(ready, shutdown).await;
}

struct Syncer<'a> {
    config: &'a Config,
    nft: &'a dyn Nft,
    services: Informer<Service>,
    slices: Informer<EndpointSlice>,
    ruleset: Ruleset,
    /// Services whose rules may have to change.
    dirty: BTreeSet<ObjectKey>,
    /// The kernel's content is not known: at the start, and after a failure.
    needs_full: bool,
    backoff: Backoff,
    /// When to try again, or to remove stale chains.
    retry_at: Option<Instant>,
    stale_at: Option<Instant>,
}

impl<'a> Syncer<'a> {
    fn new(
        config: &'a Config,
        nft: &'a dyn Nft,
        services: Informer<Service>,
        slices: Informer<EndpointSlice>,
    ) -> Syncer<'a> {
        let slices = slices.indexed(BY_SERVICE, |slice| service_of(slice).iter().map(ObjectKey::to_string).collect());
        Syncer {
            config,
            nft,
            services,
            slices,
            ruleset: Ruleset::default(),
            dirty: BTreeSet::new(),
            needs_full: true,
            backoff: Backoff::new(RETRY_FIRST, RETRY_LAST),
            retry_at: None,
            stale_at: None,
        }
    }

    async fn run(&mut self, ready: watch::Sender<bool>, shutdown: CancellationToken) {
        let (mut service_events, mut slice_events) = (self.services.subscribe(), self.slices.subscribe());
        loop {
            while let Ok(event) = service_events.try_recv() {
                self.note_service(&event);
            }
            while let Ok(event) = slice_events.try_recv() {
                self.note_slice(&event);
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
                    Some(event) => self.note_service(&event),
                    None => return,
                },
                event = slice_events.recv() => match event {
                    Some(event) => self.note_slice(&event),
                    None => return,
                },
                () = until(self.retry_at.filter(|_| waiting)) => {}
                () = until(self.stale_at) => {}
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

    async fn sync(&mut self) {
        let dirty = std::mem::take(&mut self.dirty);
        let mut transaction = Transaction::default();
        for key in &dirty {
            let rules = render_service(key, &self.compute_ports(key), self.config);
            self.ruleset.replace(key, rules, &mut transaction);
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
                self.backoff.reset();
                self.retry_at = None;
                self.stale_at = self.ruleset.has_stale().then(|| Instant::now() + STALE_AFTER);
            }
            Err(error) => self.fail(&error),
        }
    }

    /// The ports of the Service as the informers have it now; none if it is gone. Costs as much
    /// as the Service has endpoints.
    fn compute_ports(&self, key: &ObjectKey) -> Vec<ServicePort> {
        let Some(service) = self.services.get(&key.namespace, &key.name) else { return Vec::new() };
        let slices = self.slices.by_index(BY_SERVICE, &key.to_string());
        compute_service(service.view(), slices.iter().map(SharedObject::view), &self.config.node_name)
    }

    fn fail(&mut self, error: &Error) {
        let wait = self.backoff.next_pause();
        tracing::error!(error = error as &dyn std::error::Error, retry_in = ?wait, "the rules could not be set");
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

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// The Service that a slice belongs to.
fn service_of(slice: &SharedObject<EndpointSlice>) -> Option<ObjectKey> {
    let service = slice.meta().labels().get(SERVICE_NAME_LABEL)?;
    Some(ObjectKey::new(slice.namespace(), service))
}

#[cfg(test)]
mod tests;
