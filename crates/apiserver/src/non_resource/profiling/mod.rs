//! /debug/pprof and /debug/flags: where the process spends its time, and how much it says
//! in its log. Paths, parameters and refusals are those of Go's net/http/pprof, as upstream
//! serves them with `--profiling` (apiserver/pkg/server/routes); `non_resource/mod.rs` calls this for
//! whoever may ask for the path, which by default is the administrator alone.
//!
//! The CPU profile is a real one, in the form that `go tool pprof` reads. What nothing
//! counts is not made up: the allocator takes no samples, so there is no heap profile, only
//! the kernel's account of the memory; a goroutine is a task here, and tasks are counted
//! and not listed.

mod profile;

use crate::ServerState;
use crate::door::answer;
use crate::query::Query;
use crate::transport::{Body, full, read_limited};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, X_CONTENT_TYPE_OPTIONS};
use http::{Method, Response, StatusCode};
use pprof::{ProfilerGuard, ProfilerGuardBuilder};
use profile::{Call, Sampled, Stack, compute_profile};
use prost::Message;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// Requests below it stay open for as long as they are asked to, as upstream lets them.
pub(crate) const PREFIX: &str = crate::request_info::PROFILING;

/// Go's rate of samples, in Hertz.
const FREQUENCY: i32 = 100;

/// Go's length of a profile of which nobody says how long it shall be.
const SECONDS: u64 = 30;

/// A profile costs a little for as long as it runs, so nobody starts one and forgets it.
const MAX_SECONDS: u64 = 600;

/// A verbosity is a number; nobody needs more room for it.
const FLAG_MAX: usize = 64;

const GO_PPROF: HeaderName = HeaderName::from_static("x-go-pprof");

/// Sets how much is logged, by klog's numbers; the binary, which owns the log, gives it.
pub(crate) type SetVerbosity = Arc<dyn Fn(u32) -> Result<(), String> + Send + Sync>;

/// What is answered at one of these paths; `None` for all others, and where profiling is off.
pub(crate) async fn serve(
    server: &ServerState,
    method: &Method,
    path: &str,
    query: &Query,
    body: Body,
) -> Option<Response<Body>> {
    if !server.config.profiling {
        return None;
    }
    if path == "/debug/flags/v" {
        return Some(set_verbosity(server, method, body).await);
    }
    if path == "/debug/flags" || path.starts_with("/debug/flags/") {
        return Some(page("/debug/flags/", "flags", &["v"]));
    }
    if path == "/debug/pprof" {
        let mut response = answer::text(StatusCode::FOUND, "");
        response.headers_mut().insert(LOCATION, HeaderValue::from_static(PREFIX));
        return Some(response);
    }
    let name = path.strip_prefix(PREFIX)?;
    let in_words = query.get("debug").and_then(|text| text.parse::<u32>().ok()).unwrap_or(0) > 0;
    Some(match name {
        "" => page(PREFIX, "profiles", &["cmdline", "goroutine?debug=1", "heap?debug=1", "profile"]),
        "profile" => match cpu(query).await {
            Ok(bytes) => download(bytes),
            Err((code, why)) => refuse(code, &why),
        },
        "cmdline" => match std::fs::read("/proc/self/cmdline") {
            Ok(line) => plain(StatusCode::OK, line.strip_suffix(&[0]).unwrap_or(&line).to_vec()),
            Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        },
        // A profile carries its symbols; there are none to ask for by address.
        "symbol" => plain(StatusCode::OK, "num_symbols: 0\n"),
        "goroutine" if in_words => plain(StatusCode::OK, render_tasks(&tokio::runtime::Handle::current().metrics())),
        "heap" | "allocs" if in_words => match memory() {
            Ok(text) => plain(StatusCode::OK, text),
            Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        },
        "goroutine" | "heap" | "allocs" => {
            refuse(StatusCode::NOT_FOUND, &format!("{name}: no samples are taken; debug=1 tells what is counted"))
        }
        _ => refuse(StatusCode::NOT_FOUND, "Unknown profile"),
    })
}

/// Samples the whole process, and answers gzipped protobuf.
async fn cpu(query: &Query) -> Result<Vec<u8>, (StatusCode, String)> {
    let internal = |why: String| (StatusCode::INTERNAL_SERVER_ERROR, why);
    let seconds = query.get("seconds").and_then(|text| text.parse().ok()).filter(|seconds| *seconds > 0);
    let seconds = seconds.unwrap_or(SECONDS);
    if seconds > MAX_SECONDS {
        let why = format!("profile duration exceeds server's limit of {MAX_SECONDS} seconds");
        return Err((StatusCode::BAD_REQUEST, why));
    }
    // The kernel's page of clock functions cannot be unwound everywhere; all else can.
    let guard = ProfilerGuardBuilder::default().frequency(FREQUENCY).blocklist(&["vdso"]).build();
    let guard = guard.map_err(|error| {
        let why = match error {
            pprof::Error::Running => "cpu profiling already in use".to_owned(),
            other => other.to_string(),
        };
        internal(format!("Could not enable CPU profiling: {why}"))
    })?;
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    // Finding names for addresses reads the whole table of symbols.
    let read = tokio::task::spawn_blocking(move || read(&guard)).await;
    read.map_err(|error| internal(error.to_string()))?.map_err(internal)
}

/// Takes the samples out of a profiler. It goes on until the guard is dropped by this.
fn read(guard: &ProfilerGuard<'static>) -> Result<Vec<u8>, String> {
    let report = guard.report().build().map_err(|error| error.to_string())?;
    let stacks = report.data.iter().map(|(frames, count)| Stack {
        thread: frames.thread_name_or_id(),
        // A frame is one address; inlined calls make several functions of it.
        frames: frames.frames.iter().map(|symbols| symbols.iter().map(call).collect()).collect(),
        count: i64::try_from(*count).unwrap_or(i64::MAX),
    });
    let sampled = Sampled {
        started: report.timing.start_time.duration_since(UNIX_EPOCH).unwrap_or_default(),
        took: report.timing.duration,
        period: Duration::from_secs(1) / FREQUENCY.unsigned_abs(),
    };
    let bytes = compute_profile(stacks, &sampled).encode_to_vec();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&bytes).and_then(|()| gzip.finish()).map_err(|error| error.to_string())
}

fn call(symbol: &pprof::Symbol) -> Call {
    let file = symbol.filename.as_ref().map(|file| file.to_string_lossy().into_owned());
    Call {
        name: symbol.name(),
        system_name: symbol.sys_name().into_owned(),
        file: file.unwrap_or_default(),
        line: symbol.lineno(),
    }
}

fn render_tasks(metrics: &tokio::runtime::RuntimeMetrics) -> String {
    format!(
        "tasks: total {}\nworkers: {}\ntasks waiting for a worker: {}\n",
        metrics.num_alive_tasks(),
        metrics.num_workers(),
        metrics.global_queue_depth()
    )
}

/// What the kernel counts for this process.
fn memory() -> std::io::Result<String> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    // Not every kernel has the sum; the status alone says the main things.
    let maps = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    Ok(render_memory(&status, &maps))
}

fn render_memory(status: &str, maps: &str) -> String {
    let mut out = String::from("# The allocator keeps no account; this is the kernel's, of the whole process.\n");
    let of_memory = |line: &&str| line.starts_with("Vm") || line.starts_with("Rss") || line.starts_with("Threads:");
    for line in status.lines().filter(of_memory).chain(maps.lines().skip(1)) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let _ = writeln!(out, "{name}: {}", value.trim());
    }
    out
}

async fn set_verbosity(server: &ServerState, method: &Method, body: Body) -> Response<Body> {
    let refused = |code: StatusCode, why: String| plain(code, why + "\n");
    if *method != Method::PUT {
        return refused(StatusCode::NOT_ACCEPTABLE, "unsupported http method".into());
    }
    let body = match read_limited(body, FLAG_MAX).await {
        Ok(body) => body.unwrap_or_default(),
        Err(error) => return refused(StatusCode::BAD_REQUEST, format!("error reading request body: {error}")),
    };
    let text = String::from_utf8_lossy(&body).into_owned();
    let set = match (text.parse::<u32>(), &server.config.set_verbosity) {
        (Err(error), _) => Err(error.to_string()),
        (Ok(_), None) => Err("this server's log cannot be changed".to_owned()),
        (Ok(level), Some(set)) => set(level),
    };
    match set {
        Ok(()) => plain(StatusCode::OK, format!("successfully set klog.logging.verbosity to {text}\n")),
        Err(why) => refused(
            StatusCode::BAD_REQUEST,
            format!("failed set klog.logging.verbosity {}: {why}", text.escape_debug()),
        ),
    }
}

fn page(path: &str, what: &str, names: &[&str]) -> Response<Body> {
    let mut html = format!("<html>\n<head><title>{path}</title></head>\n<body>\n{path}<br>\n<br>\n{what}:<br>\n");
    for name in names {
        let _ = writeln!(html, "<a href=\"{name}\">{name}</a><br>");
    }
    html.push_str("</body>\n</html>\n");
    with_type("text/html; charset=utf-8", StatusCode::OK, full(html))
}

fn plain(code: StatusCode, body: impl Into<bytes::Bytes>) -> Response<Body> {
    with_type("text/plain; charset=utf-8", code, full(body))
}

fn download(bytes: Vec<u8>) -> Response<Body> {
    let mut response = with_type("application/octet-stream", StatusCode::OK, full(bytes));
    let disposition = HeaderValue::from_static("attachment; filename=\"profile\"");
    response.headers_mut().insert(CONTENT_DISPOSITION, disposition);
    response
}

/// A refusal as Go's package says it: a line of text, marked as its own.
fn refuse(code: StatusCode, why: &str) -> Response<Body> {
    let mut response = plain(code, format!("{why}\n"));
    response.headers_mut().insert(GO_PPROF, HeaderValue::from_static("1"));
    response
}

fn with_type(content_type: &'static str, code: StatusCode, body: Body) -> Response<Body> {
    let mut response = answer::stream(code, content_type, body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told_as_the_kernel_counts_it() {
        let status = "Name:\tferry\nVmRSS:\t  1234 kB\nRssAnon:\t 1000 kB\nThreads:\t7\nNoNewPrivs:\t0\n";
        let maps = "55d0-7ffc ---p 00000000 00:00 0  [rollup]\nRss:  1234 kB\nPss:  1200 kB\n";
        let text = render_memory(status, maps);
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines, ["VmRSS: 1234 kB", "RssAnon: 1000 kB", "Threads: 7", "Rss: 1234 kB", "Pss: 1200 kB"]);
        assert!(render_memory(status, "").ends_with("Threads: 7\n"), "a kernel without the sum");
    }
}
