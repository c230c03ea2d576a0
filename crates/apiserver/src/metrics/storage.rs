//! What is counted of the store and of the cache before it, under the names that upstream
//! gives to etcd and its watch cache. Questions to the store are counted when they are
//! asked; what the cache holds is read when somebody asks for the figures.

use super::family::{Counter, Family, Gauge, Histogram, Instrument, Series, Table, head, line, render_labels};
use super::requests::DURATIONS;
use crate::ServerState;
use crate::cache::{Stock, StockCounts};
use ferry_store::{Commit, Expect, Op};
use std::sync::Arc;
use std::time::Duration;

pub struct StorageFigures {
    requests: Table<Questions>,
}

struct Questions {
    durations: Histogram,
    errors: Counter,
}

impl Default for StorageFigures {
    fn default() -> Self {
        Self { requests: Table::new(&["operation", "group", "resource"]) }
    }
}

impl StorageFigures {
    /// One question to the store about an object of this stock.
    pub fn asked(&self, operation: &str, stock: &Stock, failed: bool, took: Duration) {
        let row = stock.row();
        let find = || Questions { durations: Histogram::new(&DURATIONS), errors: Counter::default() };
        let questions = self.requests.find(&[operation, &row.stored_as.group, &row.plural], find);
        questions.durations.observe_time(took);
        if failed {
            questions.errors.count();
        }
    }

    /// A custom resource is served no more.
    pub fn forget(&self, resource: &[(&str, &str)]) {
        self.requests.forget(resource);
    }

    pub(crate) fn render(&self, server: &ServerState, out: &mut String) {
        let all = self.requests.all();
        let name = "etcd_request_duration_seconds";
        head(out, name, Histogram::KIND, "How long the store took to answer.");
        all.iter().for_each(|series| series.durations.render(name, &series.labels, out));
        let name = "etcd_requests_total";
        head(out, name, Counter::KIND, "Questions to the store.");
        all.iter().for_each(|series| line(out, name, &series.labels, series.durations.count()));
        let name = "etcd_request_errors_total";
        head(out, name, Counter::KIND, "Questions to the store that failed.");
        let failed = all.iter().filter(|series| series.errors.get() > 0);
        failed.for_each(|series| series.errors.render(name, &series.labels, out));
        if let Some(size) = server.registry.store.size_bytes() {
            let name = "apiserver_storage_size_bytes";
            head(out, name, Gauge::KIND, "Size of the store on disk.");
            line(out, name, "storage_cluster_id=\"etcd-0\"", size);
        }
        render_stocks(server, out);
    }
}

/// What the store is asked by a commit, in upstream's word.
pub fn operation(commit: &Commit) -> &'static str {
    match (&commit.op, commit.expect) {
        (Op::Delete, _) => "delete",
        (Op::Put(_), Expect::Absent) => "create",
        (Op::Put(_), _) => "update",
    }
}

fn render_stocks(server: &ServerState, out: &mut String) {
    let mut stocks: Vec<(String, Arc<Stock>)> = server
        .registry
        .cache
        .all_stocks()
        .into_iter()
        .map(|stock| {
            let row = stock.row();
            (render_labels(&["group", "resource"], &[&*row.stored_as.group, &*row.plural]), stock)
        })
        .collect();
    stocks.sort_by(|a, b| a.0.cmp(&b.0));
    let name = "apiserver_storage_objects";
    head(out, name, Gauge::KIND, "Objects in the store by resource; apiserver_resource_objects says the same.");
    for (_, stock) in &stocks {
        let resource = stock.row().group_resource().to_string();
        line(out, name, &render_labels(&["resource"], &[resource]), stock.len());
    }
    let name = "apiserver_resource_objects";
    head(out, name, Gauge::KIND, "Objects in the store by resource.");
    stocks.iter().for_each(|(labels, stock)| line(out, name, labels, stock.len()));
    let name = "apiserver_watch_cache_resource_version";
    head(out, name, Gauge::KIND, "The revision up to which the cache has come.");
    let revision = server.registry.cache.revision();
    stocks.iter().for_each(|(labels, _)| line(out, name, labels, revision));

    type Part = fn(&StockCounts) -> &Counter;
    let counts: [(&str, &str, Part); 8] = [
        ("apiserver_storage_events_received_total", "Changes that the store told.", |counts| &counts.received),
        ("apiserver_watch_cache_events_received_total", "Changes that reached the cache.", |counts| &counts.received),
        ("apiserver_watch_cache_events_dispatched_total", "Changes that were passed to watches.", |counts| {
            &counts.dispatched
        }),
        ("apiserver_watch_cache_initializations_total", "Full reads of the store.", |counts| &counts.initializations),
        ("apiserver_init_events_total", "Events that watches began with.", |counts| &counts.initial_events),
        ("apiserver_terminated_watchers_total", "Watches that ended because their client was too slow.", |counts| {
            &counts.terminated
        }),
        ("apiserver_storage_decode_errors_total", "Objects in the store that could not be read.", |counts| {
            &counts.undecodable
        }),
        (
            "apiserver_cache_list_returned_objects_total",
            "Objects in lists that were answered from the cache.",
            |counts| &counts.returned,
        ),
    ];
    for (name, help, part) in counts {
        let seen = stocks.iter().filter(|(_, stock)| part(stock.counts()).get() > 0);
        let mut seen = seen.peekable();
        if seen.peek().is_some() {
            head(out, name, Counter::KIND, help);
        }
        seen.for_each(|(labels, stock)| part(stock.counts()).render(name, labels, out));
    }
    // There is one index, that of the names, which upstream leaves unnamed.
    let indexed: [(&str, &str, Part); 2] = [
        ("apiserver_cache_list_total", "Lists that were answered from the cache.", |counts| &counts.lists),
        ("apiserver_cache_list_fetched_objects_total", "Objects that lists went through.", |counts| &counts.fetched),
    ];
    for (name, help, part) in indexed {
        head(out, name, Counter::KIND, help);
        for (_, stock) in stocks.iter().filter(|(_, stock)| stock.counts().lists.get() > 0) {
            let row = stock.row();
            let labels = render_labels(&["group", "resource", "index"], &[&*row.stored_as.group, &*row.plural, ""]);
            part(stock.counts()).render(name, &labels, out);
        }
    }
}

static WATCH_LIST_DURATIONS: [f64; 17] =
    [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0];
/// From one KiB to 128, each twice the one before.
static EVENT_SIZES: [f64; 8] = [1024.0, 2048.0, 4096.0, 8192.0, 16384.0, 32768.0, 65536.0, 131072.0];

/// What is counted of open watches.
pub struct WatchFigures {
    events: Family<Counter>,
    sizes: Family<Histogram>,
    lists: Family<Histogram>,
}

impl Default for WatchFigures {
    fn default() -> Self {
        Self {
            events: Family::new(
                "apiserver_watch_events_total",
                "Events sent to watches.",
                &["group", "version", "resource"],
                Counter::default,
            ),
            sizes: Family::new(
                "apiserver_watch_events_sizes",
                "How large events are, in bytes.",
                &["group", "version", "resource"],
                || Histogram::new(&EVENT_SIZES),
            ),
            lists: Family::new(
                "apiserver_watch_list_duration_seconds",
                "How long it took to send what a watch begins with.",
                &["group", "version", "resource", "scope"],
                || Histogram::new(&WATCH_LIST_DURATIONS),
            ),
        }
    }
}

impl WatchFigures {
    pub fn begin(&self, row: &ferry_resources::Row) -> WatchTally {
        let labels = [&*row.group, &*row.version, &*row.plural];
        WatchTally { events: self.events.of(&labels), sizes: self.sizes.of(&labels), sent: Sizes::default() }
    }

    /// A custom resource is served no more.
    pub fn forget(&self, resource: &[(&str, &str)]) {
        self.events.forget(resource);
        self.sizes.forget(resource);
        self.lists.forget(resource);
    }

    pub fn listed(&self, row: &ferry_resources::Row, scope: &str, took: Duration) {
        self.lists.of(&[&row.group, &row.version, &row.plural, scope]).observe_time(took);
    }

    pub fn render(&self, out: &mut String) {
        self.events.render(out);
        self.sizes.render(out);
        self.lists.render(out);
    }
}

/// Counts the events of one watch, first for itself: a thousand watches that get the same
/// event must not all reach for the same figures each time.
pub struct WatchTally {
    events: Arc<Series<Counter>>,
    sizes: Arc<Series<Histogram>>,
    sent: Sizes,
}

/// Sizes that have not been told yet, by bucket.
#[derive(Default)]
struct Sizes {
    buckets: [u64; EVENT_SIZES.len() + 1],
    sum: usize,
}

impl WatchTally {
    pub fn sent(&mut self, size: usize) {
        let place = EVENT_SIZES.iter().position(|bound| size as f64 <= *bound);
        self.sent.buckets[place.unwrap_or(EVENT_SIZES.len())] += 1;
        self.sent.sum += size;
    }

    /// Tells what was sent since the last time.
    pub fn flush(&mut self) {
        let sent = std::mem::take(&mut self.sent);
        let count = sent.buckets.iter().sum();
        if count > 0 {
            self.events.add(count);
            self.sizes.add_all(&sent.buckets, sent.sum as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_tells_its_events_together() {
        let figures = WatchFigures::default();
        let row = ferry_resources::all().iter().find(|row| row.plural == "pods").expect("a builtin kind");
        let mut tally = figures.begin(row);
        [100, 3000, 1 << 20].into_iter().for_each(|size| tally.sent(size));
        let text = || {
            let mut out = String::new();
            figures.render(&mut out);
            out
        };
        let labels = "group=\"\",resource=\"pods\",version=\"v1\"";
        assert!(text().contains(&format!("apiserver_watch_events_total{{{labels}}} 0\n")), "{}", text());
        tally.flush();
        tally.flush();
        for line in [
            format!("apiserver_watch_events_total{{{labels}}} 3"),
            format!("apiserver_watch_events_sizes_bucket{{{labels},le=\"1024\"}} 1"),
            format!("apiserver_watch_events_sizes_bucket{{{labels},le=\"4096\"}} 2"),
            format!("apiserver_watch_events_sizes_bucket{{{labels},le=\"+Inf\"}} 3"),
            format!("apiserver_watch_events_sizes_sum{{{labels}}} 1051676"),
        ] {
            assert!(text().contains(&format!("{line}\n")), "{line}\n{}", text());
        }
    }

    #[test]
    fn commits_are_named_by_what_they_expect() {
        let check = |expect, op| operation(&Commit { key: "k".into(), expect, op });
        assert_eq!(check(Expect::Absent, Op::Put("{}".into())), "create");
        assert_eq!(check(Expect::Revision(3), Op::Put("{}".into())), "update");
        assert_eq!(check(Expect::Any, Op::Delete), "delete");
    }
}
