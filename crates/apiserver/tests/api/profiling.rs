//! /debug: profiles that Go's tool reads, for whom they are, and the refusals.

use crate::server::Server;
use ferry_apiserver::Peer;
use ferry_apiserver::authn::UserInfo;
use flate2::read::GzDecoder;
use parking_lot::Mutex;
use serde_json::Value;
use std::io::Read;
use std::sync::Arc;
use tempfile::TempDir;

fn text(answer: &crate::server::Answer) -> String {
    String::from_utf8_lossy(&answer.bytes).into_owned()
}

/// Goes on until somebody says that it is enough. Never inlined, so that a profile names it.
#[inline(never)]
fn burn_processor_time(enough: &std::sync::atomic::AtomicBool) -> u64 {
    let mut sum = 1u64;
    while !enough.load(std::sync::atomic::Ordering::Relaxed) {
        sum = std::hint::black_box(sum.wrapping_mul(6364136223846793005).rotate_left(7));
    }
    sum
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_names_what_was_busy_and_only_one_runs_at_a_time() {
    let server = Server::start().await;
    let enough = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let busy = std::thread::spawn({
        let enough = enough.clone();
        move || burn_processor_time(&enough)
    });
    let profile = || server.get("/debug/pprof/profile?seconds=1");
    // Both are begun before either ends, so that one of them finds the profiler taken.
    let (one, other) = tokio::join!(profile(), profile());
    enough.store(true, std::sync::atomic::Ordering::Relaxed);
    busy.join().expect("burned");
    let (good, refused) = if one.code == 200 { (one, other) } else { (other, one) };
    assert_eq!((good.code, refused.code), (200, 500));
    assert_eq!(text(&refused), "Could not enable CPU profiling: cpu profiling already in use\n");
    assert_eq!(refused.headers["x-go-pprof"], "1");
    assert_eq!(good.headers["content-type"], "application/octet-stream");
    assert_eq!(good.headers["content-disposition"], "attachment; filename=\"profile\"");
    let mut bytes = Vec::new();
    GzDecoder::new(&good.bytes[..]).read_to_end(&mut bytes).expect("gzip");
    let all = String::from_utf8_lossy(&bytes);
    for part in ["nanoseconds", "burn_processor_time"] {
        assert!(all.contains(part), "{part}");
    }
}

#[tokio::test]
async fn what_is_not_sampled_is_counted_or_refused() {
    let server = Server::start().await;
    let index = server.get("/debug/pprof/").await;
    assert_eq!(
        (index.code, &index.headers["content-type"]),
        (200, &"text/html; charset=utf-8".parse().expect("a type"))
    );
    assert!(text(&index).contains("href=\"profile\""));
    let moved = server.get("/debug/pprof").await;
    assert_eq!((moved.code, moved.headers["location"].to_str().expect("text")), (302, "/debug/pprof/"));
    assert!(text(&server.get("/debug/pprof/goroutine?debug=1").await).starts_with("tasks: total "));
    assert!(text(&server.get("/debug/pprof/heap?debug=1").await).contains("\nVmRSS: "));
    assert!(!server.get("/debug/pprof/cmdline").await.bytes.is_empty());
    assert_eq!(text(&server.get("/debug/pprof/symbol").await), "num_symbols: 0\n");
    for (path, code, why) in [
        ("/debug/pprof/heap", 404, "heap: no samples are taken; debug=1 tells what is counted\n"),
        ("/debug/pprof/nonsense", 404, "Unknown profile\n"),
        ("/debug/pprof/profile?seconds=100000", 400, "profile duration exceeds server's limit of 600 seconds\n"),
    ] {
        let answer = server.get(path).await;
        assert_eq!((answer.code, text(&answer).as_str()), (code, why), "{path}");
    }
}

#[tokio::test]
async fn profiles_are_for_the_administrator_and_can_be_turned_off() {
    let server = Server::start().await;
    let bob = || Peer::InProcess(Arc::new(UserInfo::authenticated("bob", &["system:monitoring"])));
    for path in ["/debug/pprof/", "/debug/pprof/profile", "/debug/flags/v"] {
        assert_eq!(server.ask_as(bob(), "GET", path, &[], &Value::Null).await.code, 403, "{path}");
    }
    let off = Server::start_with(TempDir::new().expect("a directory"), |config| config.profiling = false).await;
    for path in ["/debug/pprof", "/debug/pprof/", "/debug/pprof/profile?seconds=1", "/debug/flags/v"] {
        assert_eq!(off.get(path).await.code, 404, "{path}");
    }
}

#[tokio::test]
async fn the_log_is_made_to_say_more() {
    let levels = Arc::new(Mutex::new(Vec::new()));
    let seen = levels.clone();
    let server = Server::start_with(TempDir::new().expect("a directory"), |config| {
        config.set_verbosity = Some(Arc::new(move |level| {
            seen.lock().push(level);
            Ok(())
        }));
    })
    .await;
    let answer = server.ask("PUT", "/debug/flags/v", &[], "4").await;
    assert_eq!((answer.code, text(&answer).as_str()), (200, "successfully set klog.logging.verbosity to 4\n"));
    assert_eq!(*levels.lock(), [4]);
    let answer = server.ask("PUT", "/debug/flags/v", &[], "loud").await;
    assert_eq!(answer.code, 400);
    assert!(text(&answer).starts_with("failed set klog.logging.verbosity loud: "), "{}", text(&answer));
    let answer = server.get("/debug/flags/v").await;
    assert_eq!((answer.code, text(&answer).as_str()), (406, "unsupported http method\n"));
    assert!(text(&server.get("/debug/flags/").await).contains("v"));
}
