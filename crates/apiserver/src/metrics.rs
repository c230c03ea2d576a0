//! /metrics: what the server did, under upstream's names, in Prometheus' text format.
//! Counters are kept by label set; the chain counts requests, the watch verb its streams,
//! and the sizes of stocks are read when somebody asks.

use crate::ServerState;
use crate::flow_control::is_readonly;
use crate::request_info::RequestInfo;
use ferry_resources::Row;
use http::StatusCode;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Upstream's bounds for the duration of requests, in seconds.
const BOUNDS: [f64; 24] = [
    0.005,
    0.025,
    0.05,
    0.1,
    0.2,
    0.4,
    0.6,
    0.8,
    1.0,
    1.25,
    1.5,
    2.0,
    3.0,
    4.0,
    5.0,
    6.0,
    8.0,
    10.0,
    15.0,
    20.0,
    30.0,
    45.0,
    60.0,
    f64::INFINITY,
];

#[derive(Default)]
pub struct Metrics(Arc<Inner>);

#[derive(Default)]
struct Inner {
    requests: Mutex<BTreeMap<(Labels, u16), u64>>,
    durations: Mutex<BTreeMap<Labels, Histogram>>,
    long_running: Mutex<BTreeMap<Labels, i64>>,
    readonly: AtomicI64,
    mutating: AtomicI64,
    watches: Mutex<BTreeMap<(String, String, String), Arc<AtomicI64>>>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Labels {
    verb: String,
    group: String,
    version: String,
    resource: String,
    subresource: String,
    scope: &'static str,
}

#[derive(Default)]
struct Histogram {
    buckets: [u64; BOUNDS.len()],
    sum: f64,
    count: u64,
}

impl Labels {
    /// Only what is served becomes a label: a client that makes names up must not fill
    /// the memory with them.
    fn of(info: &RequestInfo, row: Option<&Row>) -> Self {
        let scope = if !info.is_resource {
            ""
        } else if !info.name.is_empty() {
            "resource"
        } else if !info.namespace.is_empty() {
            "namespace"
        } else {
            "cluster"
        };
        let verb = match info.verb.as_str() {
            "create" | "post" => "POST",
            "update" | "put" => "PUT",
            "patch" => "PATCH",
            "delete" => "DELETE",
            "deletecollection" => "DELETECOLLECTION",
            "list" => "LIST",
            "watch" => "WATCH",
            "get" | "head" => "GET",
            "proxy" => "CONNECT",
            _ => "other",
        };
        let verb = if matches!(info.subresource.as_str(), "exec" | "attach" | "portforward" | "proxy" | "log") {
            "CONNECT"
        } else {
            verb
        };
        Self {
            verb: verb.into(),
            group: row.map(|row| row.group.to_string()).unwrap_or_default(),
            version: row.map(|row| row.version.to_string()).unwrap_or_default(),
            resource: row.map(|row| row.plural.to_string()).unwrap_or_default(),
            subresource: row
                .and_then(|row| row.subresource(&info.subresource))
                .map(|subresource| subresource.name.to_string())
                .unwrap_or_default(),
            scope,
        }
    }

    fn render(&self) -> String {
        format!(
            "component=\"apiserver\",group={:?},resource={:?},scope={:?},subresource={:?},verb={:?},version={:?}",
            self.group, self.resource, self.scope, self.subresource, self.verb, self.version
        )
    }
}

/// A request that is being worked on; tells its end by [`Pending::finish`] or by being dropped.
pub struct Pending {
    metrics: Arc<Inner>,
    labels: Labels,
    readonly: bool,
    long_running: bool,
}

impl Metrics {
    pub fn begin(&self, info: &RequestInfo, row: Option<&Row>, long_running: bool) -> Pending {
        let pending = Pending {
            metrics: self.0.clone(),
            labels: Labels::of(info, row),
            readonly: is_readonly(info),
            long_running,
        };
        if long_running {
            *self.0.long_running.lock().entry(pending.labels.clone()).or_default() += 1;
        } else {
            pending.in_flight().fetch_add(1, Ordering::Relaxed);
        }
        pending
    }

    /// Counts one open watch until the returned guard is dropped.
    pub fn watch_opened(&self, row: &Row) -> Gauged {
        let key = (row.group.to_string(), row.version.to_string(), row.kind.to_string());
        let gauge = self.0.watches.lock().entry(key).or_default().clone();
        gauge.fetch_add(1, Ordering::Relaxed);
        Gauged(gauge)
    }

    pub fn render(&self, server: &ServerState) -> String {
        let mut out = String::with_capacity(16 * 1024);
        let inner = &self.0;
        head(&mut out, "apiserver_request_total", "counter", "Requests by verb, resource and code.");
        for ((labels, code), count) in inner.requests.lock().iter() {
            let _ =
                writeln!(out, "apiserver_request_total{{code=\"{code}\",dry_run=\"\",{}}} {count}", labels.render());
        }
        let name = "apiserver_request_duration_seconds";
        head(&mut out, name, "histogram", "How long requests took, long-running ones left out.");
        for (labels, histogram) in inner.durations.lock().iter() {
            let labels = labels.render();
            let mut sum = 0;
            for (bound, count) in BOUNDS.iter().zip(&histogram.buckets) {
                sum += count;
                let bound = if bound.is_infinite() { "+Inf".to_owned() } else { bound.to_string() };
                let _ = writeln!(out, "{name}_bucket{{dry_run=\"\",{labels},le=\"{bound}\"}} {sum}");
            }
            let _ = writeln!(out, "{name}_sum{{dry_run=\"\",{labels}}} {}", histogram.sum);
            let _ = writeln!(out, "{name}_count{{dry_run=\"\",{labels}}} {}", histogram.count);
        }
        let name = "apiserver_current_inflight_requests";
        head(&mut out, name, "gauge", "Requests being worked on.");
        for (kind, gauge) in [("mutating", &inner.mutating), ("readOnly", &inner.readonly)] {
            let _ = writeln!(out, "{name}{{request_kind=\"{kind}\"}} {}", gauge.load(Ordering::Relaxed));
        }
        head(&mut out, "apiserver_longrunning_requests", "gauge", "Requests that stay open by nature.");
        for (labels, count) in inner.long_running.lock().iter() {
            let _ = writeln!(out, "apiserver_longrunning_requests{{{}}} {count}", labels.render());
        }
        head(&mut out, "apiserver_registered_watchers", "gauge", "Open watches by kind.");
        for ((group, version, kind), gauge) in inner.watches.lock().iter() {
            let count = gauge.load(Ordering::Relaxed);
            let _ = writeln!(
                out,
                "apiserver_registered_watchers{{group={group:?},kind={kind:?},version={version:?}}} {count}"
            );
        }
        server.flow_control.render_metrics(&mut out);
        if let Some(auditor) = &server.config.audit {
            let (events, errors) = auditor.counts();
            head(&mut out, "apiserver_audit_event_total", "counter", "Audit events written.");
            let _ = writeln!(out, "apiserver_audit_event_total {events}");
            head(&mut out, "apiserver_audit_error_total", "counter", "Audit events that a sink did not take.");
            let _ = writeln!(out, "apiserver_audit_error_total {errors}");
        }
        head(&mut out, "apiserver_storage_objects", "gauge", "Objects in the store by resource.");
        let rows = server.registry.rows.all();
        for row in rows.iter().filter(|row| row.gvk() == row.stored_as) {
            if let Some(stock) = server.registry.cache.stock(row) {
                let resource = row.group_resource().to_string();
                let _ = writeln!(out, "apiserver_storage_objects{{resource={resource:?}}} {}", stock.len());
            }
        }
        head(&mut out, "apiserver_cache_revision", "gauge", "The revision up to which the cache has come.");
        let _ = writeln!(out, "apiserver_cache_revision {}", server.registry.cache.revision());
        server.authorizer.render_metrics(&mut out);
        out
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

impl Pending {
    fn in_flight(&self) -> &AtomicI64 {
        if self.readonly { &self.metrics.readonly } else { &self.metrics.mutating }
    }

    pub fn finish(self, code: StatusCode, took: Duration) {
        *self.metrics.requests.lock().entry((self.labels.clone(), code.as_u16())).or_default() += 1;
        if !self.long_running {
            let seconds = took.as_secs_f64();
            let mut durations = self.metrics.durations.lock();
            let histogram = durations.entry(self.labels.clone()).or_default();
            let bucket = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len() - 1);
            histogram.buckets[bucket] += 1;
            histogram.sum += seconds;
            histogram.count += 1;
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.long_running {
            if let Some(count) = self.metrics.long_running.lock().get_mut(&self.labels) {
                *count -= 1;
            }
        } else {
            self.in_flight().fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Holds a gauge up by one.
pub struct Gauged(Arc<AtomicI64>);

impl Drop for Gauged {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
