use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use ferry_api::rules::backoff::Backoff;
use ferry_api::view::Kind;
use ferry_nftables::{EndFlow, Error, RETRY_FIRST, RETRY_LAST, Transaction};
use parking_lot::Mutex;
use serde_json::json;
use tokio::time::Instant;

use super::*;
use crate::fixtures::{config, service, slice};

/// Records the scripts, and fails as often as it is told to.
#[derive(Default)]
struct Recorder {
    scripts: Mutex<Vec<String>>,
    failures: Mutex<u32>,
    ran: tokio::sync::Notify,
}

#[async_trait]
impl Nft for Recorder {
    async fn apply(&self, transaction: &Transaction) -> Result<(), Error> {
        self.scripts.lock().push(transaction.script());
        self.ran.notify_one();
        let mut failures = self.failures.lock();
        if *failures > 0 {
            *failures -= 1;
            return Err(Error::Send(std::io::ErrorKind::BrokenPipe.into()));
        }
        Ok(())
    }

    async fn is_active(&self, _: &str) -> Result<bool, Error> {
        Ok(false)
    }
}

/// A kernel without flows.
struct NoFlows;

#[async_trait]
impl Flows for NoFlows {
    async fn end_udp(&self, _: EndFlow) -> Result<usize, Error> {
        Ok(0)
    }
}

impl Recorder {
    async fn scripts_after(&self, count: usize) -> Vec<String> {
        loop {
            let notified = self.ran.notified();
            if self.scripts.lock().len() >= count {
                return self.scripts.lock().clone();
            }
            notified.await;
        }
    }
}

/// A syncer at work, with the informers that feed it.
struct Running {
    nft: Arc<Recorder>,
    services: Informer<Service>,
    slices: Informer<EndpointSlice>,
    /// The resource version of the last object.
    revision: AtomicU64,
    ready: watch::Receiver<bool>,
    shutdown: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl Running {
    fn start(failures: u32) -> Running {
        let nft = Arc::new(Recorder { failures: Mutex::new(failures), ..Recorder::default() });
        let (services, slices) = (Informer::fixed([]), Informer::fixed([]));
        let (ready_sender, ready) = watch::channel(false);
        let shutdown = CancellationToken::new();
        let task = {
            let (nft, shutdown) = (Arc::clone(&nft), shutdown.clone());
            let followed = Followed { services: services.clone(), slices: slices.clone(), nodes: Informer::fixed([]) };
            tokio::spawn(async move {
                let config = config();
                Syncer::new(&config, &*nft, &NoFlows, followed).run(ready_sender, shutdown).await;
            })
        };
        Running { nft, services, slices, revision: AtomicU64::new(0), ready, shutdown, task }
    }

    fn put_service(&self, name: &str) {
        self.services.put(self.next_version(service(name, json!({}))));
    }

    fn put_slice(&self, slice: EndpointSlice) {
        self.slices.put(self.next_version(slice));
    }

    fn next_version<K: Kind>(&self, mut object: K) -> SharedObject<K> {
        let revision = self.revision.fetch_add(1, Ordering::Relaxed) + 1;
        object.value_mut()["metadata"]["resourceVersion"] = json!(revision.to_string());
        SharedObject::<K>::from(object)
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.task.await.expect("the syncer ends");
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_sync_is_full_and_the_next_ones_carry_the_change() {
    let mut running = Running::start(0);
    running.put_service("web");
    running.ready.wait_for(|ready| *ready).await.expect("ready");
    let scripts = running.nft.scripts_after(1).await;
    assert!(scripts[0].starts_with("add table inet ferry\ndelete table inet ferry\nadd table inet ferry\n"));
    let known = scripts.len();

    running.put_slice(slice("web", "a", &[("10.244.0.5", "r")]));
    // The chain is there before anything leads to it.
    let scripts = running.nft.scripts_after(known + 2).await;
    assert!(scripts[known].starts_with("add chain inet ferry cluster4/default/web/tcp/http\n"), "{}", scripts[known]);
    assert!(!scripts[known].contains("element"), "{}", scripts[known]);
    assert!(scripts[known + 1].contains("delete element inet ferry no-endpoint-ips4"), "{}", scripts[known + 1]);

    // The label moves the slice to another Service: the first one loses it.
    running.put_slice(slice("other", "a", &[("10.244.0.5", "r")]));
    let scripts = running.nft.scripts_after(known + 3).await;
    assert!(scripts[known + 2].contains("add element inet ferry no-endpoint-ips4"), "{}", scripts[known + 2]);

    // The chain that nothing leads to any more goes a little later.
    let scripts = running.nft.scripts_after(known + 4).await;
    assert_eq!(scripts[known + 3], "delete chain inet ferry cluster4/default/web/tcp/http\n");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_failure_leads_to_a_full_sync_later() {
    let mut running = Running::start(2);
    running.put_service("web");
    let started = Instant::now();
    running.ready.wait_for(|ready| *ready).await.expect("ready");
    assert!(started.elapsed() >= RETRY_FIRST + 2 * RETRY_FIRST);
    let scripts = running.nft.scripts_after(3).await;
    assert!(scripts.iter().all(|script| script.contains("delete table")));
    assert!(scripts[2].contains("10.96.0.1 . tcp . 80"));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_that_alters_nothing_runs_nothing() {
    let mut running = Running::start(0);
    running.put_service("web");
    running.ready.wait_for(|ready| *ready).await.expect("ready");
    let known = running.nft.scripts.lock().len();
    running.put_service("web");
    running.put_slice(slice("web", "a", &[("10.244.0.5", "r")]));
    // A chain, and the element that leads to it.
    let scripts = running.nft.scripts_after(known + 2).await;
    assert_eq!(scripts.len(), known + 2);
    running.stop().await;
}

#[test]
fn retries_slow_down_to_a_limit() {
    let backoff = Backoff::new(RETRY_FIRST, RETRY_LAST);
    let waits = [0, 1, 2, 5, 6, 60, u32::MAX].map(|failures| backoff.pause_after(failures).as_millis());
    assert_eq!(waits, [500, 1000, 2000, 16_000, 30_000, 30_000, 30_000]);
}
