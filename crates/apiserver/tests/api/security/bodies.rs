//! What a body costs is bounded by its size. Aliases that multiply (CVE-2019-11253), nesting
//! without end, copies of copies in a patch (CVE-2019-1002100) and bodies that never stop
//! are refused before they have cost much more than an honest body of the same length.
//!
//! Costs are the processor time of this thread, on which the server's handlers run, and the
//! growth of the process's memory at its peak; nextest gives each test a process.

use super::Verdict;
use crate::server::{CONFIG_MAPS, Server, admin, config_map};
use bytes::Bytes;
use ferry_apiserver::Body;
use http::Request;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::convert::Infallible;

/// The size of the bodies: large enough for an honest one to cost something.
const SIZE: usize = 200_000;
/// How much dearer than an honest body a hostile one may be, and how much memory it may take
/// beyond it.
const TIMES: i64 = 10;
const MEMORY: usize = 48 << 20;

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const APPLY: &str = "application/apply-patch+yaml";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";

struct Hostile {
    what: &'static str,
    content_type: &'static str,
    body: String,
}

/// Ten lists of ten, each of the one before.
fn billion_laughs() -> String {
    let mut bomb = format!("a: &a [{}]\n", vec!["x".repeat(64); 10].join(", "));
    for (this, before) in ('b'..='k').zip('a'..='j') {
        bomb.push_str(&format!("{this}: &{this} [{}]\n", vec![format!("*{before}"); 10].join(", ")));
    }
    bomb
}

fn hostiles() -> Vec<Hostile> {
    let half = "x".repeat(SIZE / 2);
    let many = vec!["*a"; SIZE / 8].join(", ");
    let (lists, maps) = ("[".repeat(SIZE), "{\"a\":".repeat(SIZE / 5));
    let closed = format!("{{\"a\":{}{}}}", "[".repeat(SIZE / 2), "]".repeat(SIZE / 2));
    let copies = vec![json!({"op": "copy", "from": "/data", "path": "/data/x"}); 60];
    let mut copy: Vec<Value> = vec![json!({"op": "add", "path": "/data/y", "value": half})];
    copy.extend(copies);
    let mut all = vec![
        ("copies of copies", JSON_PATCH, Value::from(copy).to_string()),
        ("nested values", JSON_PATCH, format!("[{{\"op\":\"add\",\"path\":\"/data\",\"value\":{lists}")),
        ("nested maps", MERGE, format!("{{\"data\":{maps}")),
        ("nested maps", STRATEGIC, format!("{{\"data\":{maps}")),
        ("nested lists", JSON, format!("{{\"metadata\":{{\"name\":\"a\"}},\"data\":{lists}")),
        ("nested maps", JSON, maps.clone()),
        ("nested lists that are closed", JSON, closed.clone()),
        ("nested lists that are closed", MERGE, closed),
    ];
    for content_type in [YAML, APPLY] {
        all.extend([
            ("aliases of aliases", content_type, billion_laughs()),
            ("aliases of something long", content_type, format!("a: &a {half}\nb: [{many}]\n")),
            ("nested lists", content_type, lists.clone()),
            ("lists nested to the limit", content_type, format!("{}x", "[".repeat(9_999))),
            ("nested maps", content_type, maps.clone()),
            ("nested items", content_type, format!("a:\n{}x", "- ".repeat(SIZE / 2))),
        ]);
    }
    let all = all.into_iter().map(|(what, content_type, body)| Hostile { what, content_type, body });
    all.map(|hostile| Hostile { body: pad(hostile.content_type, hostile.body), ..hostile }).collect()
}

/// Space where it means nothing, to a body of full size.
fn pad(content_type: &str, mut body: String) -> String {
    let is_yaml = matches!(content_type, YAML | APPLY);
    let missing = SIZE.saturating_sub(body.len());
    if is_yaml {
        body.insert_str(0, &format!("# {}\n", " ".repeat(missing)));
    } else {
        body.insert_str(0, &" ".repeat(missing));
    }
    body
}

/// A body of the same size that says something: text under many keys.
fn honest(content_type: &str) -> String {
    let data: serde_json::Map<String, Value> =
        (0..SIZE / 40).map(|index| (format!("key-{index:06}"), Value::from("x".repeat(20)))).collect();
    let mut object = config_map("honest");
    object["data"] = data.into();
    match content_type {
        JSON_PATCH => json!([{"op": "add", "path": "/data", "value": object["data"]}]).to_string(),
        YAML | APPLY => serde_yaml_ng::to_string(&object).expect("YAML"),
        _ => object.to_string(),
    }
}

struct Cost {
    time: i64,
    memory: usize,
}

/// What it costs this thread and this process to do something.
async fn cost<T>(work: impl Future<Output = T>) -> (T, Cost) {
    let time = || {
        let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("usage");
        usage.user_time().num_microseconds() + usage.system_time().num_microseconds()
    };
    // From here on the peak is counted anew.
    std::fs::write("/proc/self/clear_refs", "5").expect("Linux resets the peak");
    let (began, before) = (time(), memory("VmHWM:"));
    let outcome = work.await;
    let cost = Cost { time: time() - began, memory: memory("VmHWM:").saturating_sub(before) };
    (outcome, cost)
}

fn memory(line: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let value = status.lines().find_map(|text| text.strip_prefix(line)).unwrap_or_default();
    value.trim().trim_end_matches(" kB").parse::<usize>().expect("a size") * 1024
}

/// Sends every hostile body, and before it an honest one of the same kind and length.
/// `ask` gives the code of the answer.
async fn attack(ask: impl AsyncFn(&'static str, String) -> u16, verdict: &mut Verdict) {
    for hostile in hostiles() {
        let content_type = hostile.content_type;
        let (code, fair) = cost(ask(content_type, honest(content_type))).await;
        assert!(code < 300, "an honest {content_type}: {code}");
        let (code, taken) = cost(ask(content_type, hostile.body)).await;
        let dear = taken.time > TIMES * fair.time.max(1) || taken.memory > fair.memory + MEMORY;
        let what = format!(
            "{} in {content_type}: {code}, {} µs for {} µs, {} KiB for {} KiB",
            hostile.what,
            taken.time,
            fair.time,
            taken.memory / 1024,
            fair.memory / 1024
        );
        verdict.tried(what, dear || !(400..500).contains(&code));
    }
}

#[tokio::test]
async fn ferry_pays_no_more_than_a_body_is_worth() {
    let server = Server::start().await;
    let mut verdict = Verdict::default();
    let ask = async |content_type: &'static str, body: String| {
        server.delete(&format!("{CONFIG_MAPS}/honest")).await;
        if !matches!(content_type, JSON | YAML) {
            server.post(CONFIG_MAPS, &config_map("honest")).await.ok();
        }
        let headers = [("content-type", content_type)];
        match content_type {
            JSON | YAML => server.ask("POST", CONFIG_MAPS, &headers, body).await.code,
            _ => {
                let path = format!("{CONFIG_MAPS}/honest?fieldManager=m&force={}", content_type == APPLY);
                let path = if content_type == APPLY { path } else { path.replace("&force=false", "") };
                server.ask("PATCH", &path, &headers, body).await.code
            }
        }
    };
    attack(ask, &mut verdict).await;
    verdict.assert_held();
    let protobuf = [("content-type", "application/vnd.kubernetes.protobuf")];
    for body in [&b"k8s\0"[..], &b"k8s\0\xff\xff\xff\xff\xff"[..], &b"nonsense"[..]] {
        let code = server.ask("POST", CONFIG_MAPS, &protobuf, body.to_vec()).await.code;
        assert!(matches!(code, 400 | 422), "{code}");
    }
    assert_eq!(server.get("/livez").await.code, 200);
}

/// Takes a body as far as it goes, with the memory that takes. It ends only to spare the
/// machine.
mod careless {
    use super::*;

    const ENOUGH: usize = 64 << 20;

    pub fn take(content_type: &str, body: &str) -> usize {
        match content_type {
            JSON_PATCH if body.contains("\"copy\"") => copy(body),
            YAML | APPLY if body.contains('*') => expand_all(body),
            _ => remember_paths(body),
        }
    }

    /// Writes out every alias.
    fn expand_all(body: &str) -> usize {
        let lines = body.lines().filter_map(|line| line.split_once(": "));
        let anchors: HashMap<&str, &str> =
            lines.filter_map(|(name, value)| Some((name, value.strip_prefix('&')?.split_once(' ')?.1))).collect();
        let mut out = String::new();
        for line in body.lines() {
            expand(line, &anchors, &mut out);
        }
        out.len()
    }

    fn expand(text: &str, anchors: &HashMap<&str, &str>, out: &mut String) {
        if !text.contains('*') {
            return out.push_str(text);
        }
        for word in text.split([' ', ',', '[', ']']) {
            if out.len() > ENOUGH {
                return;
            }
            match word.strip_prefix('*').and_then(|name| anchors.get(name)) {
                Some(value) => expand(value, anchors, out),
                None => out.push_str(word),
            }
        }
    }

    /// Remembers for everything that begins where it stands.
    fn remember_paths(body: &str) -> usize {
        let (mut path, mut paths, mut total) = (String::new(), Vec::new(), 0);
        for character in body.chars() {
            match character {
                '[' | '{' | '-' => path.push(character),
                ']' | '}' | '\n' => drop(path.pop()),
                _ => continue,
            }
            total += path.len();
            paths.push(path.clone());
            if total > ENOUGH {
                break;
            }
        }
        paths.len()
    }

    /// Copies what it is told to copy.
    fn copy(body: &str) -> usize {
        let operations: Value = serde_json::from_str(body).expect("a patch");
        let mut size = 0;
        let mut document: Vec<String> = Vec::new();
        for operation in operations.as_array().expect("operations") {
            match operation["value"].as_str() {
                Some(text) => document.push(text.to_owned()),
                None => document.extend(document.clone()),
            }
            size = document.iter().map(String::len).sum();
            if size > ENOUGH {
                break;
            }
        }
        size
    }
}

#[tokio::test]
async fn a_server_that_takes_everything_is_found_out() {
    let mut verdict = Verdict::default();
    let ask = async |content_type: &'static str, body: String| {
        std::hint::black_box(careless::take(content_type, &body));
        200
    };
    attack(ask, &mut verdict).await;
    verdict.assert_breached();
}

/// Sends without end, or nearly: pieces of the same memory, so that only who keeps them
/// needs more.
async fn attack_with_length(ask: impl AsyncFn(Body) -> u16, verdict: &mut Verdict) {
    const PIECES: usize = 2048;
    let piece = Bytes::from(vec![b'x'; 64 * 1024]);
    let pieces = futures_util::stream::iter((0..PIECES).map(move |_| Ok::<_, Infallible>(Frame::data(piece.clone()))));
    let body = StreamBody::new(pieces).map_err(|never| match never {}).boxed_unsync();
    let (code, taken) = cost(ask(body)).await;
    let what = format!("{} MiB: {code}, {} KiB", PIECES / 16, taken.memory / 1024);
    verdict.tried(what, code != 413 || taken.memory > MEMORY);
}

#[tokio::test]
async fn ferry_reads_no_more_than_it_takes() {
    let server = Server::start().await;
    let mut verdict = Verdict::default();
    for (method, path, content_type) in [
        ("POST", CONFIG_MAPS.to_owned(), JSON),
        ("PATCH", format!("{CONFIG_MAPS}/a"), MERGE),
        ("DELETE", format!("{CONFIG_MAPS}/a"), JSON),
    ] {
        let ask = async |body: Body| {
            let request = Request::builder().method(method).uri(&path).header("content-type", content_type);
            server.send(request.body(body).expect("a request"), admin()).await.status().as_u16()
        };
        attack_with_length(ask, &mut verdict).await;
    }
    verdict.assert_held();
    let mut object = config_map("big");
    object["data"]["key"] = "x".repeat(4 * 1024 * 1024).into();
    let refused = server.post(CONFIG_MAPS, &object).await;
    assert_eq!((refused.code, refused.message().as_str()), (413, "Request entity too large: limit is 3145728"));
    assert_eq!(refused.json()["reason"], "RequestEntityTooLarge");
}

#[tokio::test]
async fn a_server_that_reads_to_the_end_is_found_out() {
    let mut verdict = Verdict::default();
    let careless = async |body: Body| {
        let whole = body.collect().await.expect("a body").to_bytes();
        assert!(!whole.is_empty());
        413
    };
    attack_with_length(careless, &mut verdict).await;
    verdict.assert_breached();
}
