//! The controllers of a test: started over an API in memory, ended with a guard.

use crate::memory_api::MemoryApi;
use ferry_client::Informers;
use ferry_controllers::Config;
use ferry_controllers::runner::Clock;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

/// An API that has the namespace `default`.
pub fn new_api() -> MemoryApi {
    let api = MemoryApi::new();
    namespace(&api, "default");
    api
}

pub fn namespace(api: &MemoryApi, name: &str) {
    api.create(
        "namespaces",
        json!({"metadata": {"name": name}, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}),
    );
}

pub fn config() -> Config {
    Config { root_ca: "PEM".to_owned(), ..Default::default() }
}

/// The time of day at which tests with a paused clock begin.
pub const BEGINNING: i64 = 1_800_000_000;

/// A time of day that moves with the paused clock of a test from its first use on.
pub fn paused_clock() -> Config {
    let (start, began) = (Instant::now(), Timestamp::from_second(BEGINNING).expect("a time"));
    let now = move || began + SignedDuration::try_from(start.elapsed()).expect("a short test");
    Config { clock: Clock::from_fn(now), ..config() }
}

/// Starts every controller; they are killed with the guard.
pub fn start(api: &MemoryApi) -> DropGuard {
    start_with(api, config()).0
}

/// Also returns the informers that the controllers share.
pub fn start_with(api: &MemoryApi, config: Config) -> (DropGuard, Informers) {
    let shutdown = CancellationToken::new();
    let client = api.client();
    let informers = Informers::with_shutdown(client.clone(), shutdown.clone());
    let run = ferry_controllers::run(config, Arc::new(move |_| client.clone()), informers.clone(), shutdown.clone());
    tokio::spawn(async move { run.await.expect("the configuration is valid") });
    (shutdown.drop_guard(), informers)
}

/// Whether an event of this reason has a message that contains the text.
pub fn has_event(api: &MemoryApi, reason: &str, text: &str) -> bool {
    let says = |event: &Value| event["message"].as_str().is_some_and(|message| message.contains(text));
    api.list("events").iter().any(|event| event["reason"] == reason && says(event))
}

/// Numbers that are the same in every run.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> u64 {
        // A linear congruential generator; its high bits are random enough for a test.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// How often each reconciler was called, by the metrics of its queue.
pub fn reconciles_by_name(config: &Config) -> BTreeMap<String, usize> {
    let mut text = String::new();
    config.metrics.render(&mut text);
    let counts = text.lines().filter_map(|line| line.strip_prefix("workqueue_work_duration_seconds_count"));
    let pairs = counts.filter_map(|line| line.rsplit_once(' '));
    pairs.filter_map(|(name, count)| Some((name.to_owned(), count.parse().ok()?))).collect()
}

pub fn reconciles(config: &Config) -> usize {
    reconciles_by_name(config).values().sum()
}
