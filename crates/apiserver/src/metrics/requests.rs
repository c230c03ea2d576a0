//! What is counted of every request: how many, how long, how large, how many at once
//! (apiserver/pkg/endpoints/metrics upstream). The chain begins a request, names what it is
//! about once it has been routed, and attaches the summary to the answer. A request that
//! was refused before it got that far is in no series, as upstream has it; so names that a
//! client makes up do not fill the memory.

use super::family::{Counter, Family, Gauge, Histogram, Instrument, Series, Table, head};
use crate::query::Query;
use crate::request_info::RequestInfo;
use crate::transport::{Body, BoxError, Upgraded};
use bytes::Bytes;
use ferry_resources::Row;
use http::{Response, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Upstream's bounds of durations of requests, in seconds. What the store is asked has the same.
pub static DURATIONS: [f64; 23] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0,
    45.0, 60.0,
];
static SLI_DURATIONS: [f64; 21] =
    [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0];
/// From 50 kB to three megabytes, 100 kB apart.
static BODIES: [f64; 31] = {
    let mut bounds = [50_000.0; 31];
    let mut place = 1;
    while place < bounds.len() {
        bounds[place] = bounds[place - 1] + 100_000.0;
        place += 1;
    }
    bounds
};
static SIZES: [f64; 7] = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

const LABELS: [&str; 8] = ["verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"];
const LABELS_WITHOUT_DRY_RUN: [&str; 7] = ["verb", "group", "version", "resource", "subresource", "scope", "component"];
const APISERVER: &str = "apiserver";

pub struct Requests {
    series: Table<RequestFigures>,
    long_running: Family<Gauge>,
    terminations: Family<Counter>,
    deprecated: Family<Gauge>,
    bodies: Family<Histogram>,
    readonly: Gauge,
    mutating: Gauge,
}

/// Everything that is kept for one set of labels, so that a request finds it all at once.
pub struct RequestFigures {
    /// By status code; a handful.
    codes: Mutex<Vec<(u16, u64)>>,
    durations: Histogram,
    /// Without what was waited for that is not the server's doing; not of dry runs.
    sli: Option<Histogram>,
    /// Of what is read.
    sizes: Option<Histogram>,
}

/// What a request is about, in upstream's words.
pub struct RequestLabels<'a> {
    verb: &'static str,
    group: &'a str,
    version: &'a str,
    resource: &'a str,
    subresource: &'a str,
    scope: &'static str,
    component: &'static str,
}

impl<'a> RequestLabels<'a> {
    pub fn of(info: &RequestInfo, row: &'a Row, is_apply: bool) -> Self {
        let subresource = row.subresource(&info.subresource).map_or("", |subresource| subresource.name.as_ref());
        let verb = match info.verb.as_str() {
            _ if matches!(subresource, "exec" | "attach" | "portforward" | "proxy" | "log") => "CONNECT",
            "create" => "POST",
            "update" => "PUT",
            "patch" if is_apply => "APPLY",
            "patch" => "PATCH",
            "delete" | "deletecollection" => "DELETE",
            "list" => "LIST",
            "watch" => "WATCH",
            "get" => "GET",
            _ => "other",
        };
        let is_collection = matches!(info.verb.as_str(), "list" | "watch" | "deletecollection");
        let scope = if !is_collection || (info.legacy_watch && !info.name.is_empty()) {
            "resource"
        } else if row.is_namespaced() && !info.namespace.is_empty() {
            "namespace"
        } else {
            "cluster"
        };
        let (group, version, resource) = (&*row.group, &*row.version, &*row.plural);
        Self { verb, group, version, resource, subresource, scope, component: APISERVER }
    }

    /// A path that is no resource, if it is one of those that upstream counts.
    pub fn of_path(path: &'a str, answer: &Response<Body>) -> Option<Self> {
        let (subresource, component) = match path {
            "/livez" | "/readyz" | "/healthz" => (path, ""),
            "/openapi/v3" => ("openapi/v3", ""),
            _ if path.starts_with("/openapi/v3/") => ("openapi/v3/", ""),
            // Only the aggregated form is counted there.
            "/api" | "/apis" => {
                let kind = answer.headers().get(http::header::CONTENT_TYPE)?.to_str().ok()?;
                kind.contains("g=apidiscovery.k8s.io").then_some((path, APISERVER))?
            }
            _ => return None,
        };
        Some(Self { verb: "GET", group: "", version: "", resource: "", subresource, scope: "", component })
    }

    pub fn subresource(&self) -> &str {
        self.subresource
    }

    fn values(&self) -> [&str; 7] {
        [self.verb, self.group, self.version, self.resource, self.subresource, self.scope, self.component]
    }
}

/// The label of `dryRun`, which clients may set to anything.
fn dry_run(query: &Query) -> &'static str {
    let mut values = query.all("dryRun").peekable();
    if values.peek().is_none() {
        ""
    } else if values.all(|value| value == "All") {
        "All"
    } else {
        "invalid"
    }
}

impl Default for Requests {
    fn default() -> Self {
        let name = "apiserver_requested_deprecated_apis";
        let labels = &["group", "version", "resource", "subresource", "removed_release"];
        let deprecated = Family::new(name, "1 for each deprecated API that was asked for.", labels, Gauge::default);
        let name = "apiserver_longrunning_requests";
        let help = "Requests that stay open by nature and are open.";
        let long_running = Family::new(name, help, &LABELS_WITHOUT_DRY_RUN, Gauge::default);
        let name = "apiserver_request_terminations_total";
        let help = "Requests that the server ended in self-defence.";
        static WITH_CODE: [&str; 8] =
            ["verb", "group", "version", "resource", "subresource", "scope", "component", "code"];
        let terminations = Family::new(name, help, &WITH_CODE, Counter::default);
        Self {
            series: Table::new(&LABELS),
            long_running,
            terminations,
            deprecated,
            bodies: Family::new(
                "apiserver_request_body_size_bytes",
                "How large the bodies of writes are.",
                &["group", "resource", "verb"],
                || Histogram::new(&BODIES),
            ),
            readonly: Gauge::default(),
            mutating: Gauge::default(),
        }
    }
}

impl Requests {
    /// Where a request is counted.
    pub fn find(&self, subject: &RequestLabels<'_>, query: &Query) -> Arc<Series<RequestFigures>> {
        let dry_run = dry_run(query);
        let [verb, group, version, resource, subresource, scope, component] = subject.values();
        let values = [verb, dry_run, group, version, resource, subresource, scope, component];
        self.series.find(&values, || RequestFigures {
            codes: Mutex::default(),
            durations: Histogram::new(&DURATIONS),
            sli: dry_run.is_empty().then(|| Histogram::new(&SLI_DURATIONS)),
            sizes: (matches!(verb, "GET" | "LIST") && dry_run.is_empty()).then(|| Histogram::new(&SIZES)),
        })
    }

    pub fn long_running(&self, subject: &RequestLabels<'_>) -> Arc<Series<Gauge>> {
        self.long_running.of(&subject.values())
    }

    pub fn terminated(&self, subject: &RequestLabels<'_>, code: StatusCode) {
        let [verb, group, version, resource, subresource, scope, component] = subject.values();
        let values = [verb, group, version, resource, subresource, scope, component, code.as_str()];
        self.terminations.of(&values).count();
    }

    pub fn deprecated(&self, row: &Row, subresource: &str, removed_release: &str) {
        self.deprecated.of(&[&row.group, &row.version, &row.plural, subresource, removed_release]).set(1);
    }

    /// The body of a write, which is one of the API's verbs.
    pub fn body(&self, row: &Row, verb: &str, size: usize) {
        let verb = if verb == "deletecollection" { "delete_collection" } else { verb };
        self.bodies.of(&[&row.group, &row.plural, verb]).observe(size as f64);
    }

    /// A custom resource is served no more.
    pub fn forget(&self, resource: &[(&str, &str)]) {
        self.series.forget(resource);
        self.long_running.forget(resource);
        self.terminations.forget(resource);
        self.deprecated.forget(resource);
        self.bodies.forget(resource);
    }

    pub fn in_flight(&self, is_readonly: bool) -> &Gauge {
        if is_readonly { &self.readonly } else { &self.mutating }
    }

    pub fn render(&self, out: &mut String) {
        let all = self.series.all();
        let name = "apiserver_request_total";
        head(out, name, "counter", "Requests by verb, resource and code.");
        for series in &all {
            let mut codes = series.codes.lock().clone();
            codes.sort_unstable();
            for (code, count) in codes {
                super::family::line(out, name, &format!("code=\"{code}\",{}", series.labels), count);
            }
        }
        let name = "apiserver_request_duration_seconds";
        head(out, name, Histogram::KIND, "How long requests took.");
        for series in &all {
            series.durations.render(name, &series.labels, out);
        }
        type Part = fn(&RequestFigures) -> Option<&Histogram>;
        let parts: [(&str, &str, Part); 2] = [
            (
                "apiserver_request_sli_duration_seconds",
                "How long requests took, without webhooks and the wait for a seat.",
                |figures| figures.sli.as_ref(),
            ),
            ("apiserver_response_sizes", "How large the answers to reads are, in bytes.", |figures| {
                figures.sizes.as_ref()
            }),
        ];
        for (name, help, part) in parts {
            head(out, name, Histogram::KIND, help);
            for series in &all {
                if let Some(histogram) = part(series) {
                    histogram.render(name, &series.labels.replace("dry_run=\"\",", ""), out);
                }
            }
        }
        let name = "apiserver_current_inflight_requests";
        head(out, name, Gauge::KIND, "Requests being worked on.");
        self.mutating.render(name, "request_kind=\"mutating\"", out);
        self.readonly.render(name, "request_kind=\"readOnly\"", out);
        self.long_running.render(out);
        self.terminations.render(out);
        self.deprecated.render(out);
        self.bodies.render(out);
    }
}

impl RequestFigures {
    fn finish(&self, code: StatusCode, took: Duration, waited: Duration, size: u64) {
        {
            let mut codes = self.codes.lock();
            match codes.iter_mut().find(|(known, _)| *known == code.as_u16()) {
                Some((_, count)) => *count += 1,
                None => codes.push((code.as_u16(), 1)),
            }
        }
        self.durations.observe_time(took);
        if let Some(sli) = &self.sli {
            sli.observe_time(took.saturating_sub(waited));
        }
        if let Some(sizes) = &self.sizes {
            sizes.observe(size as f64);
        }
    }
}

/// A request among those being worked on, until it is dropped.
pub struct InFlight<'a>(&'a Gauge);

impl<'a> InFlight<'a> {
    pub fn new(gauge: &'a Gauge) -> Self {
        gauge.add(1);
        Self(gauge)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.add(-1);
    }
}

/// A routed request, counted when its answer has been sent.
pub struct FinishedRequest {
    pub figures: Arc<Series<RequestFigures>>,
    pub started: Instant,
    /// How long others were waited for: webhooks, a seat.
    pub waited: Duration,
    /// Held up for as long as a long-running request is open.
    pub open: Option<LongRunning>,
}

/// Holds a gauge up by one.
pub struct LongRunning(Arc<Series<Gauge>>);

impl LongRunning {
    pub fn new(gauge: Arc<Series<Gauge>>) -> Self {
        gauge.add(1);
        Self(gauge)
    }
}

impl Drop for LongRunning {
    fn drop(&mut self) {
        self.0.add(-1);
    }
}

impl FinishedRequest {
    /// Counts an answer whose length is known at once, and any other when its body ends.
    pub fn attach(self, response: Response<Body>) -> Response<Body> {
        let code = response.status();
        if let Some(Upgraded(mut over)) = response.extensions().get().cloned() {
            // What was opened goes on without this request.
            tokio::spawn(async move {
                // All of it is moved here, the gauge too that is held up until the end.
                let summary = self;
                let _ = over.changed().await;
                summary.figures.finish(code, summary.started.elapsed(), summary.waited, 0);
            });
            return response;
        }
        match response.body().size_hint().exact() {
            Some(size) => {
                self.figures.finish(code, self.started.elapsed(), self.waited, size);
                response
            }
            None => response.map(|body| Counted { body, code, size: 0, summary: self }.boxed_unsync()),
        }
    }
}

/// A body that tells how large it was when it is over, or when nobody wants the rest.
struct Counted {
    body: Body,
    code: StatusCode,
    size: u64,
    summary: FinishedRequest,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            self.size += frame.data_ref().map_or(0, Bytes::len) as u64;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let summary = &self.summary;
        summary.figures.finish(self.code, summary.started.elapsed(), summary.waited, self.size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request_info;
    use http::Method;

    fn row(plural: &str) -> &'static Row {
        ferry_resources::all().iter().find(|row| row.plural == plural).expect("a builtin kind")
    }

    #[test]
    fn requests_are_named_as_upstream_names_them() {
        let check = |method: Method, url: &str, plural: &str, is_apply: bool, expected: [&str; 7]| {
            let (path, query) = url.split_once('?').unwrap_or((url, ""));
            let info = request_info::resolve(&method, path, &Query::parse(query));
            assert_eq!(RequestLabels::of(&info, row(plural), is_apply).values(), expected, "{method} {url}");
        };
        let pods = |verb, subresource, scope| [verb, "", "v1", "pods", subresource, scope, "apiserver"];
        let base = "/api/v1/namespaces/a/pods";
        check(Method::GET, base, "pods", false, pods("LIST", "", "namespace"));
        check(Method::GET, "/api/v1/pods", "pods", false, pods("LIST", "", "cluster"));
        check(Method::GET, "/api/v1/pods?watch=1", "pods", false, pods("WATCH", "", "cluster"));
        check(
            Method::GET,
            &format!("{base}?fieldSelector=metadata.name=x"),
            "pods",
            false,
            pods("LIST", "", "namespace"),
        );
        check(Method::POST, base, "pods", false, pods("POST", "", "resource"));
        check(Method::DELETE, base, "pods", false, pods("DELETE", "", "namespace"));
        check(Method::GET, &format!("{base}/x"), "pods", false, pods("GET", "", "resource"));
        check(Method::PATCH, &format!("{base}/x"), "pods", false, pods("PATCH", "", "resource"));
        check(Method::PATCH, &format!("{base}/x/status"), "pods", true, pods("APPLY", "status", "resource"));
        check(Method::GET, &format!("{base}/x/log"), "pods", false, pods("CONNECT", "log", "resource"));
        check(Method::GET, &format!("{base}/x/made-up"), "pods", false, pods("GET", "", "resource"));
        let namespaces = ["GET", "", "v1", "namespaces", "", "resource", "apiserver"];
        check(Method::GET, "/api/v1/namespaces/a", "namespaces", false, namespaces);
    }

    #[test]
    fn dry_runs_have_three_names() {
        let check = |query: &str| dry_run(&Query::parse(query));
        assert_eq!(
            [check("a=b"), check("dryRun=All"), check("dryRun=All&dryRun=All"), check("dryRun="), check("dryRun=x")],
            ["", "All", "All", "invalid", "invalid"]
        );
    }

    #[test]
    fn an_answer_is_counted_when_it_is_over() {
        let requests = Requests::default();
        let info = request_info::resolve(&Method::GET, "/api/v1/pods", &Query::default());
        let subject = RequestLabels::of(&info, row("pods"), false);
        let summary = || FinishedRequest {
            figures: requests.find(&subject, &Query::default()),
            started: Instant::now(),
            waited: Duration::ZERO,
            open: Some(LongRunning::new(requests.long_running(&subject))),
        };
        let text = || {
            let mut out = String::new();
            requests.render(&mut out);
            out
        };
        let labels = "component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"pods\",scope=\"cluster\",subresource=\"\",verb=\"LIST\",version=\"v1\"";
        let total = |count: u32| format!("apiserver_request_total{{code=\"200\",{labels}}} {count}\n");
        let _ = summary().attach(Response::new(crate::transport::full("whole")));
        assert!(text().contains(&total(1)), "{}", text());
        let body = http_body_util::StreamBody::new(futures_util::stream::pending::<Result<Frame<Bytes>, BoxError>>());
        let open = summary().attach(Response::new(body.boxed_unsync()));
        let labels = labels.replace("dry_run=\"\",", "");
        assert!(text().contains(&total(1)), "not over yet");
        assert!(text().contains(&format!("apiserver_longrunning_requests{{{labels}}} 1\n")), "{}", text());
        drop(open);
        assert!(text().contains(&total(2)));
        assert!(text().contains(&format!("apiserver_longrunning_requests{{{labels}}} 0\n")));
        assert!(text().contains(&format!("apiserver_response_sizes_count{{{labels}}} 2\n")));
        assert!(text().contains(&format!("apiserver_response_sizes_sum{{{labels}}} 5\n")));
    }
}
