//! A disk that fails under a store, at every single call that changes a file: with an error, with
//! half a write, with a sync that loses what it was to keep, with a power cut. Whatever was
//! acknowledged or read before must be there afterwards, no revision may stand for two changes,
//! and a store whose disk works again takes writes again without being opened anew.
//!
//! The faults are made by `faulty_disk.c`, which is compiled here and preloaded into a process
//! that writes (the same executable, told so by an environment variable). Call 1 fails in the
//! first run, call 2 in the second, until a run ends before its call came.

use std::collections::HashMap;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use ferry_store::sqlite::SqliteStore;
use ferry_store::{Commit, Error, EventKind, Expect, Op, Revision, Store};

const VICTIM: &str = "FERRY_STORE_FAULTS_VICTIM";

/// How long a victim may need to recover and write on.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a_failing_call_loses_nothing_and_the_store_recovers() {
    if let Ok(directory) = std::env::var(VICTIM) {
        write_and_report(Path::new(&directory));
        std::process::exit(0);
    }
    let disk = FaultyDisk::build();
    for kind in ["eio", "enospc", "edquot", "torn", "dropped"] {
        disk.run_over_every_call(kind, |call, output, report| {
            let error = String::from_utf8_lossy(&output.stderr);
            // A store that cannot be opened is no store that recovers: whoever opens it sees why.
            if report.failed_open {
                return;
            }
            assert!(output.status.success(), "{kind} at call {call}: {error}");
            assert_eq!(report.last_write.as_deref(), Some("/last"), "{kind} at call {call}: {error}");
            for reason in &report.refusals {
                let named = ["disk is full", "input/output error", "disk quota exceeded", "working on the database"];
                assert!(named.iter().any(|name| reason.contains(name)), "{kind} at call {call}: {reason}");
            }
        });
    }
}

#[test]
fn a_power_cut_at_any_call_takes_back_nothing_that_was_told() {
    if let Ok(directory) = std::env::var(VICTIM) {
        write_and_report(Path::new(&directory));
        std::process::exit(0);
    }
    FaultyDisk::build().run_over_every_call("cut", |call, output, _| {
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 99)), "cut at call {call}: {error}");
    });
}

/// The library of faults, compiled into a directory of its own.
struct FaultyDisk {
    directory: tempfile::TempDir,
    library: PathBuf,
}

/// The lines that a victim printed.
#[derive(Default)]
struct Report {
    /// Every change that it asked for, whether or not it was answered.
    tried: Vec<(String, Option<String>)>,
    /// Acknowledged changes, and entries that it has read: key and value by revision.
    told: HashMap<Revision, (String, Option<String>)>,
    refusals: Vec<String>,
    failed_open: bool,
    last_write: Option<String>,
}

impl FaultyDisk {
    fn build() -> FaultyDisk {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let library = directory.path().join("faulty_disk.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faulty_disk.c");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .output()
            .expect("a C compiler, which SQLite needs too");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        FaultyDisk { directory, library }
    }

    /// Lets each call of the victim's fail in turn. Two victims run at a time, because they
    /// mostly wait for the disk.
    fn run_over_every_call(&self, kind: &str, check: impl Fn(usize, &Output, &Report) + Sync) {
        let next = AtomicUsize::new(1);
        let calls = AtomicUsize::new(usize::MAX);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    loop {
                        let call = next.fetch_add(1, Ordering::SeqCst);
                        if call > calls.load(Ordering::SeqCst) {
                            break;
                        }
                        let made = self.run(kind, call, &check);
                        if made < call {
                            calls.fetch_min(made, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        let calls = calls.into_inner();
        assert!((30..3000).contains(&calls), "{kind}: the victims made {calls} calls");
    }

    /// One victim in a new directory; returns how many calls it made.
    fn run(&self, kind: &str, call: usize, check: &impl Fn(usize, &Output, &Report)) -> usize {
        let own = tempfile::tempdir_in(self.directory.path()).expect("a temporary directory");
        let (store, synced, count) = (own.path().join("store"), own.path().join("synced"), own.path().join("count"));
        std::fs::create_dir(&store).and_then(|()| std::fs::create_dir(&synced)).expect("directories");
        let output = Command::new(std::env::current_exe().expect("the test's own path"))
            .args(["--exact", victim_of(kind), "--nocapture", "--test-threads=1"])
            .env(VICTIM, &store)
            .env("LD_PRELOAD", &self.library)
            .env("FAULTY_DIR", &store)
            .env("FAULTY_SYNCED", &synced)
            .env("FAULTY_COUNT", &count)
            .env("FAULTY_KIND", kind)
            .env("FAULTY_CALL", call.to_string())
            .process_group(0)
            .output()
            .expect("start a victim");
        let report = Report::parse(&String::from_utf8_lossy(&output.stdout));
        check(call, &output, &report);
        report.check(&format!("{kind} at call {call}"), &store);
        std::fs::read_to_string(&count).expect("a count").trim().parse().expect("a number")
    }
}

fn victim_of(kind: &str) -> &'static str {
    match kind {
        "cut" => "a_power_cut_at_any_call_takes_back_nothing_that_was_told",
        _ => "a_failing_call_loses_nothing_and_the_store_recovers",
    }
}

impl Report {
    fn parse(text: &str) -> Report {
        let mut report = Report::default();
        // A line without its end was cut off and says nothing.
        for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            let Some((word, rest)) = line.split_once(' ') else { continue };
            let mut words = rest.split(' ');
            match word {
                "TRY" => report.tried.push((words.next().unwrap_or_default().into(), words.next().map(Into::into))),
                "ACK" | "SAW" => {
                    let revision = words.next().and_then(|word| word.parse().ok()).expect("a revision");
                    let change = (words.next().unwrap_or_default().to_owned(), words.next().map(str::to_owned));
                    if word == "ACK" {
                        report.last_write = Some(change.0.clone());
                    }
                    let known = report.told.insert(revision, change.clone());
                    assert!(known.is_none_or(|known| known == change), "revision {revision} stands for two changes");
                }
                "REFUSED" => report.refusals.push(rest.to_owned()),
                "UNOPENED" => report.failed_open = true,
                _ => {}
            }
        }
        report
    }

    /// Opens the store on a disk that works and compares its history with what was told of it.
    fn check(&self, context: &str, directory: &Path) {
        let store = SqliteStore::open(directory).unwrap_or_else(|error| panic!("{context}: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let latest = store.current_revision();
        let mut history = HashMap::new();
        runtime.block_on(async {
            let mut watch = store.watch("", 1).await.expect("watch");
            while (history.len() as Revision) < latest - 1 {
                for event in watch.next().await.expect("the watch goes on").expect("the watch is well") {
                    let value = String::from_utf8_lossy(&event.value).into_owned();
                    let value = (event.kind == EventKind::Put).then_some(value);
                    history.insert(event.revision, (event.key.to_string(), value));
                }
            }
        });
        for (revision, change) in &self.told {
            assert_eq!(history.get(revision), Some(change), "{context}: what was told of revision {revision} is gone");
        }
        for (revision, change) in &history {
            assert!(self.tried.contains(change), "{context}: nobody asked for {change:?} at {revision}");
        }
    }
}

/// The victim: opens a store, writes, closes it (which writes the log back), opens it again and
/// writes on. A write that is refused is tried again until it is taken.
fn write_and_report(directory: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    // The test harness has begun a line of its own.
    println!();
    let large = "x".repeat(9000);
    let rounds: [&[(&str, Option<&str>)]; 2] = [
        &[("/a", Some("1")), ("/b", Some("1")), ("/a", Some("2")), ("/b", None)],
        &[("/c", Some(&large)), ("/a", Some("3")), ("/last", Some("1"))],
    ];
    for writes in rounds {
        let store = match SqliteStore::open(directory) {
            Ok(store) => store,
            Err(error) => return println!("UNOPENED {error}"),
        };
        for (key, value) in writes {
            runtime.block_on(write(&store, key, *value));
        }
    }
}

async fn write(store: &SqliteStore, key: &str, value: Option<&str>) {
    let line = |word: &str, revision: &str, value: Option<&str>| {
        let words = [Some(word), Some(revision).filter(|text| !text.is_empty()), Some(key), value];
        println!("{}", words.into_iter().flatten().collect::<Vec<_>>().join(" "));
    };
    let begun = Instant::now();
    loop {
        line("TRY", "", value);
        let op = value.map_or(Op::Delete, |value| Op::Put(Bytes::copy_from_slice(value.as_bytes())));
        let outcome = store.commit(Commit { key: key.to_owned(), expect: Expect::Any, op }).await;
        if let Some(entry) = store.get(key, None).await.ok().flatten() {
            line("SAW", &entry.revision.to_string(), Some(&String::from_utf8_lossy(&entry.value)));
        }
        match outcome {
            Ok(done) => return line("ACK", &done.revision.to_string(), value),
            // The refused deletion had taken place.
            Err(Error::Conflict { current: None, .. }) if value.is_none() => return,
            Err(Error::Halted { reason }) => println!("REFUSED {reason}"),
            Err(error) => panic!("{error}"),
        }
        assert!(begun.elapsed() < PATIENCE, "the store does not recover");
        while store.health().is_err() && begun.elapsed() < PATIENCE {
            std::thread::yield_now();
        }
    }
}
