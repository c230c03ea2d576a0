//! A process that writes to a store is killed without warning, again and again, on the same
//! directory. What it had acknowledged must be there each time, and no revision may ever stand
//! for two changes.
//!
//! The test runs its own executable again as the victim, told so by an environment variable.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use bytes::Bytes;
use ferry_store::sqlite::SqliteStore;
use ferry_store::{Commit, Error, Event, EventKind, Expect, Op, RangeOptions, Revision, Store};
use rand::Rng;

const KILLS: usize = 200;
const TASKS: usize = 6;
const KEYS: u32 = 8;

/// Tells the executable that it is the victim, and where to write.
const VICTIM: &str = "FERRY_STORE_VICTIM";

#[test]
fn nothing_acknowledged_is_lost_to_kill_9() {
    if let Ok(directory) = std::env::var(VICTIM) {
        write_until_killed(Path::new(&directory));
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut ledger = Ledger::default();
    let mut acknowledged_in_all = 0;
    for _ in 0..KILLS {
        let acknowledged = run_victim(directory.path());
        acknowledged_in_all += acknowledged.len();
        ledger.check_round(directory.path(), acknowledged);
    }
    assert!(acknowledged_in_all > KILLS * 5, "the victims did too little: {acknowledged_in_all} writes");
}

/// One acknowledged change: what was committed, and the revision that it got.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Acknowledged {
    revision: Revision,
    key: String,
    /// `None` for a deletion.
    value: Option<String>,
}

/// Starts a victim, lets it work for a random while, kills it, and returns what it had said.
fn run_victim(directory: &Path) -> Vec<Acknowledged> {
    let mut victim = Command::new(std::env::current_exe().expect("the test's own path"))
        .args(["--exact", "nothing_acknowledged_is_lost_to_kill_9", "--nocapture"])
        .env(VICTIM, directory)
        .stdout(Stdio::piped())
        .spawn()
        .expect("start a victim");
    let output = victim.stdout.take().expect("its output is piped");
    let (sender, lines) = channel();
    let reader = std::thread::spawn(move || {
        // The last line may have been cut off by the kill, and then it says nothing.
        let mut output = BufReader::new(output);
        let mut line = String::new();
        while output.read_line(&mut line).is_ok_and(|read| read > 0) && line.ends_with('\n') {
            if let Some(acknowledged) = parse(&line) {
                let _ = sender.send(acknowledged);
            }
            line.clear();
        }
    });
    // The clock starts with the first write, so that a slow start is not mistaken for work.
    let mut acknowledged = vec![lines.recv_timeout(Duration::from_secs(30)).expect("the victim starts to write")];
    let end = Instant::now() + Duration::from_micros(rand::rng().random_range(0..50_000));
    loop {
        match lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => acknowledged.push(line),
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => panic!("the victim ended by itself"),
        }
    }
    victim.kill().expect("SIGKILL");
    victim.wait().expect("the victim is gone");
    reader.join().expect("reader");
    acknowledged.extend(lines);
    acknowledged
}

fn parse(line: &str) -> Option<Acknowledged> {
    let mut words = line.strip_prefix("ACK ")?.split_whitespace();
    let revision = words.next()?.parse().ok()?;
    let key = words.next()?.to_string();
    Some(Acknowledged { revision, key, value: words.next().map(str::to_string) })
}

/// What is known of the store from all rounds so far.
#[derive(Default)]
struct Ledger {
    /// Every change ever seen, by its revision.
    changes: HashMap<Revision, Acknowledged>,
    latest: Revision,
}

impl Ledger {
    fn check_round(&mut self, directory: &Path, acknowledged: Vec<Acknowledged>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let store = SqliteStore::open(directory).expect("the store opens after a kill");
        let latest = store.current_revision();
        for change in &acknowledged {
            assert!(change.revision <= latest, "{change:?} is lost: the store stands at {latest}");
            assert!(change.revision > self.latest, "{change:?} reuses a revision: {} was the last", self.latest);
        }
        // The history of this round, as the store has it. The victim may have compacted away a
        // part of it, but never what came after the horizon.
        let (horizon, events) = runtime.block_on(history(&store, self.latest, latest));
        let revisions: Vec<Revision> = events.iter().map(|event| event.revision).collect();
        assert_eq!(revisions, (horizon + 1..=latest).collect::<Vec<_>>(), "the history has gaps");
        let written: HashMap<Revision, Acknowledged> = events.into_iter().map(described).collect();
        for change in acknowledged {
            if change.revision > horizon {
                assert_eq!(written.get(&change.revision), Some(&change), "the store has something else");
            }
            self.record(change);
        }
        for change in written.into_values() {
            self.record(change);
        }
        self.latest = latest;
        self.check_state(&runtime.block_on(store.range("", RangeOptions::default())).expect("range").entries);
    }

    fn record(&mut self, change: Acknowledged) {
        if let Some(before) = self.changes.insert(change.revision, change.clone()) {
            assert_eq!(before, change, "a revision stands for two changes");
        }
    }

    /// The live entries are those that the known changes lead to. Below a horizon not every
    /// change is known (those never acknowledged), but an entry names its revision, and nothing
    /// known may be newer than it.
    fn check_state(&self, entries: &[ferry_store::Entry]) {
        let live: HashMap<&str, &ferry_store::Entry> = entries.iter().map(|entry| (&*entry.key, entry)).collect();
        let mut newest: HashMap<&str, &Acknowledged> = HashMap::new();
        for change in self.changes.values() {
            let known = newest.entry(&change.key).or_insert(change);
            if change.revision > known.revision {
                *known = change;
            }
        }
        for (key, change) in newest {
            match (live.get(key), &change.value) {
                (Some(entry), Some(value)) if entry.revision == change.revision => {
                    assert_eq!(entry.value, value.as_bytes(), "{change:?} is not what is stored");
                }
                (Some(entry), _) => assert!(entry.revision > change.revision, "{change:?} is lost to {entry:?}"),
                (None, Some(_)) => panic!("{change:?} is lost: the key is gone"),
                (None, None) => {}
            }
        }
    }
}

/// The changes after `from`, or after the horizon if that is higher.
async fn history(store: &SqliteStore, from: Revision, latest: Revision) -> (Revision, Vec<Event>) {
    let (from, mut watch) = match store.watch("", from).await {
        Ok(watch) => (from.max(1), watch),
        Err(Error::Compacted { horizon }) => (horizon, store.watch("", horizon).await.expect("watch")),
        Err(error) => panic!("{error}"),
    };
    let mut events: Vec<Event> = Vec::new();
    while ((events.len()) as Revision) < latest - from {
        events.extend(watch.next().await.expect("the watch goes on").expect("the watch is well"));
    }
    (from, events)
}

fn described(event: Event) -> (Revision, Acknowledged) {
    let value = match event.kind {
        EventKind::Put => Some(String::from_utf8_lossy(&event.value).into_owned()),
        EventKind::Delete => None,
    };
    (event.revision, Acknowledged { revision: event.revision, key: event.key.to_string(), value })
}

/// The victim: several tasks put and delete keys of their own, one compacts now and then, and
/// each prints what was acknowledged to it. It never returns.
fn write_until_killed(directory: &Path) -> ! {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("runtime");
    let store = Arc::new(SqliteStore::open(directory).expect("open"));
    for task in 0..TASKS {
        runtime.spawn(write_forever(Arc::clone(&store), task));
    }
    loop {
        std::thread::park();
    }
}

async fn write_forever(store: Arc<SqliteStore>, task: usize) {
    for count in 0u64.. {
        let (number, delete, compact, padding) = {
            let mut random = rand::rng();
            (
                random.random_range(0..KEYS),
                random.random_bool(0.2),
                random.random_bool(0.02),
                random.random_range(0..3000),
            )
        };
        if compact {
            store.compact(store.current_revision().saturating_sub(20)).await.expect("compact");
        }
        let key = format!("/{task}/{number}");
        let value = format!("{count}-{}", "x".repeat(padding));
        let op = if delete { Op::Delete } else { Op::Put(Bytes::from(value.clone())) };
        match store.commit(Commit { key: key.clone(), expect: Expect::Any, op }).await {
            Ok(committed) => {
                let value = if delete { "" } else { &value };
                let line = format!("ACK {} {key} {value}\n", committed.revision);
                std::io::stdout().lock().write_all(line.as_bytes()).expect("say so");
            }
            Err(Error::Conflict { .. }) if delete => {}
            Err(error) => panic!("{error}"),
        }
    }
}
