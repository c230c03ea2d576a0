use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::json;

use super::*;
use crate::fixtures::{config, key, service, slice};

/// Records the scripts, and fails as often as it is told to.
#[derive(Default)]
struct Recorder {
    scripts: Mutex<Vec<String>>,
    failures: Mutex<u32>,
    ran: tokio::sync::Notify,
}

#[async_trait]
impl Nft for Recorder {
    async fn run(&self, script: &str) -> Result<(), Error> {
        self.scripts.lock().push(script.to_string());
        self.ran.notify_one();
        let mut failures = self.failures.lock();
        if *failures > 0 {
            *failures -= 1;
            return Err(Error::Talk { command: "nft".to_string(), source: std::io::ErrorKind::BrokenPipe.into() });
        }
        Ok(())
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

/// A syncer at work, with the channels that feed it.
struct Running {
    nft: Arc<Recorder>,
    services: Arc<Mutex<BTreeMap<ServiceKey, Arc<Service>>>>,
    service_events: mpsc::UnboundedSender<Event<Service>>,
    slice_events: mpsc::UnboundedSender<Event<EndpointSlice>>,
    ready: watch::Receiver<bool>,
    shutdown: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl Running {
    fn start(failures: u32) -> Running {
        let nft = Arc::new(Recorder { failures: Mutex::new(failures), ..Recorder::default() });
        let services = Arc::new(Mutex::new(BTreeMap::new()));
        let (service_events, service_receiver) = mpsc::unbounded_channel();
        let (slice_events, slice_receiver) = mpsc::unbounded_channel();
        let (ready_sender, ready) = watch::channel(false);
        let shutdown = CancellationToken::new();
        let task = {
            let (nft, services, shutdown) = (Arc::clone(&nft), Arc::clone(&services), shutdown.clone());
            tokio::spawn(async move {
                let config = config();
                let mut syncer = Syncer::new(&config, &*nft, Services::Given(services));
                syncer.run(service_receiver, slice_receiver, ready_sender, shutdown).await;
            })
        };
        Running { nft, services, service_events, slice_events, ready, shutdown, task }
    }

    fn add_service(&self, name: &str) {
        let service = Arc::new(service(name, json!({})));
        self.services.lock().insert(key(name), Arc::clone(&service));
        self.service_events.send(Event::Added(service)).expect("the syncer listens");
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.task.await.expect("the syncer ends");
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_sync_is_full_and_the_next_ones_carry_the_change() {
    let mut running = Running::start(0);
    running.add_service("web");
    running.ready.wait_for(|ready| *ready).await.expect("ready");
    let scripts = running.nft.scripts_after(1).await;
    assert!(scripts[0].starts_with("add table inet ferry\ndelete table inet ferry\ntable inet ferry {"));
    let known = scripts.len();

    let first = slice("web", "a", &[("10.244.0.5", "r")]);
    running.slice_events.send(Event::Added(Arc::clone(&first))).expect("the syncer listens");
    let scripts = running.nft.scripts_after(known + 1).await;
    assert!(scripts[known].starts_with("add chain inet ferry cluster4/default/web/tcp/http\n"), "{}", scripts[known]);

    // The label moves the slice to another Service: the first one loses it.
    let moved = slice("other", "a", &[("10.244.0.5", "r")]);
    running.slice_events.send(Event::Updated { old: first, new: moved }).expect("the syncer listens");
    let scripts = running.nft.scripts_after(known + 2).await;
    assert!(scripts[known + 1].contains("add element inet ferry no-endpoint-ips4"), "{}", scripts[known + 1]);

    // The chain that nothing leads to any more goes a little later.
    let scripts = running.nft.scripts_after(known + 3).await;
    assert_eq!(scripts[known + 2], "delete chain inet ferry cluster4/default/web/tcp/http\n");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_failure_leads_to_a_full_sync_later() {
    let mut running = Running::start(2);
    running.add_service("web");
    let started = Instant::now();
    running.ready.wait_for(|ready| *ready).await.expect("ready");
    assert!(started.elapsed() >= compute_retry(0) + compute_retry(1));
    let scripts = running.nft.scripts_after(3).await;
    assert!(scripts.iter().all(|script| script.contains("delete table")));
    assert!(scripts[2].contains("10.96.0.1 . tcp . 80"));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_that_alters_nothing_runs_nothing() {
    let mut running = Running::start(0);
    running.add_service("web");
    running.ready.wait_for(|ready| *ready).await.expect("ready");
    let known = running.nft.scripts.lock().len();
    running.add_service("web");
    let relevant = slice("web", "a", &[("10.244.0.5", "r")]);
    running.slice_events.send(Event::Added(relevant)).expect("the syncer listens");
    let scripts = running.nft.scripts_after(known + 1).await;
    assert_eq!(scripts.len(), known + 1);
    running.stop().await;
}

#[test]
fn retries_slow_down_to_a_limit() {
    let waits: Vec<u128> = [0, 1, 2, 5, 6, 60, u32::MAX].map(|failures| compute_retry(failures).as_millis()).to_vec();
    assert_eq!(waits, [500, 1000, 2000, 16_000, 30_000, 30_000, 30_000]);
}
