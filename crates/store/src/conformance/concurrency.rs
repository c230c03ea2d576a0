//! The part of the suite in which many tasks use the store at once.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use super::{Harness, PATIENCE, delete, get, next, put, take};
use crate::{Commit, Error, Event, Expect, Op, RangeOptions, Revision, Store};

/// Optimistic concurrency: each task reads, adds one and commits with the revision it read.
pub async fn counters_lose_no_increment(harness: &impl Harness) {
    const TASKS: u64 = 16;
    const INCREMENTS: u64 = 25;
    let store = Arc::new(harness.open().await);
    put(&*store, "counter", "0").await;
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let mut revisions = Vec::new();
                let mut current = get(&*store, "counter").await.expect("present");
                while (revisions.len() as u64) < INCREMENTS {
                    let op = Op::Put(Bytes::from((number(&current.value) + 1).to_string()));
                    let expect = Expect::Revision(current.revision);
                    match store.commit(Commit { key: "counter".to_string(), expect, op }).await {
                        Ok(committed) => {
                            revisions.push(committed.revision);
                            current = get(&*store, "counter").await.expect("present");
                        }
                        // The conflict says what to try next.
                        Err(Error::Conflict { current: Some(met), .. }) => current = met,
                        Err(error) => panic!("{error}"),
                    }
                }
                revisions
            })
        })
        .collect();
    let mut revisions = HashSet::new();
    for task in tasks {
        for revision in task.await.expect("task") {
            assert!(revisions.insert(revision), "revision {revision} was given twice");
        }
    }
    let counter = get(&*store, "counter").await.expect("present");
    assert_eq!(number(&counter.value), TASKS * INCREMENTS);
    assert_eq!(counter.version, TASKS * INCREMENTS + 1);
}

/// Watchers that start at all sorts of moments, from the beginning or from the present, while
/// several tasks write. What each sees must be the same history, without gaps or repetitions.
pub async fn watchers_see_the_same_history_whenever_they_start(harness: &impl Harness) {
    const WRITERS: usize = 8;
    const WRITES: usize = 60;
    let store = Arc::new(harness.open().await);
    let base = store.current_revision();
    let end = base + (WRITERS * WRITES) as Revision;

    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for write in 0..WRITES {
                    let key = format!("/{}/{writer}", write % 3);
                    if write % 7 == 6 && get(&*store, &key).await.is_some() {
                        delete(&*store, &key).await;
                    } else {
                        put(&*store, &key, write.to_string()).await;
                    }
                }
            })
        })
        .collect();
    let mut watchers = Vec::new();
    while watchers.len() < 40 {
        let prefix = ["", "/0/", "/1/", "/2/"][watchers.len() % 4];
        let now = store.current_revision();
        let from = if watchers.len() % 3 == 0 { base } else { now };
        let mut watch = store.watch(prefix, from).await.expect("watch");
        watchers.push(tokio::spawn(async move {
            let mut events: Vec<Event> = Vec::new();
            // The last write to each prefix is known only later, so a marker ends the history.
            while !events.last().is_some_and(|event| event.key.ends_with("/end")) {
                events.extend(next(&mut watch).await.expect("the watch goes on").expect("the watch is well"));
            }
            (prefix, from, events)
        }));
        tokio::task::yield_now().await;
        if now < end {
            // Spread the starts over the time that the writers take.
            let _ = get(&*store, "/0/0").await;
        }
    }
    for writer in writers {
        writer.await.expect("writer");
    }
    assert_eq!(store.current_revision(), end);
    for prefix in ["/0/", "/1/", "/2/"] {
        put(&*store, &format!("{prefix}end"), "").await;
    }

    let mut history = store.watch("", base).await.expect("watch");
    let history = take(&mut history, (end + 3 - base) as usize).await;
    let revisions: Vec<Revision> = history.iter().map(|event| event.revision).collect();
    assert_eq!(revisions, (base + 1..=end + 3).collect::<Vec<_>>());
    for watcher in watchers {
        let (prefix, from, events) = watcher.await.expect("watcher");
        let expected = history.iter().filter(|event| event.revision > from && event.key.starts_with(prefix));
        let expected: Vec<&Event> = expected.take(events.len()).collect();
        assert_eq!(events.iter().collect::<Vec<_>>(), expected, "under {prefix:?} from {from}");
    }
}

/// A watcher that reads nothing for a long while, with more changes than any buffer takes.
pub async fn a_slow_watcher_holds_nobody_up_and_misses_nothing(harness: &impl Harness) {
    const WRITES: usize = 150;
    let store = harness.open().await;
    let base = store.current_revision();
    let mut slow = store.watch("/slow/", base).await.expect("watch");
    let mut never_read = store.watch("", base).await.expect("watch");
    let value = vec![7; 64 << 10];
    let started = Instant::now();
    for write in 0..WRITES {
        put(&store, &format!("/slow/{write}"), value.clone()).await;
        put(&store, "/else", "1").await;
    }
    assert!(started.elapsed() < PATIENCE, "writers were held up");
    let mut events = Vec::new();
    while events.len() < WRITES {
        events.extend(next(&mut slow).await.expect("the watch goes on").expect("the watch is well"));
    }
    for (write, event) in events.iter().enumerate() {
        assert_eq!((&*event.key, event.revision), (&*format!("/slow/{write}"), base + 1 + 2 * write as Revision));
        assert_eq!(event.value, value);
    }
    // Having caught up, it follows again.
    put(&store, "/slow/last", "1").await;
    assert_eq!(&*take(&mut slow, 1).await[0].key, "/slow/last");
    let first = next(&mut never_read).await.expect("the watch goes on").expect("the watch is well");
    assert_eq!(first[0].revision, base + 1);
}

/// Whatever a commit acknowledged, every read and the current revision know from then on.
pub async fn reads_see_what_was_acknowledged(harness: &impl Harness) {
    let store = Arc::new(harness.open().await);
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let key = format!("/{task}");
                for write in 0..30 {
                    let revision = put(&*store, &key, write.to_string()).await.revision;
                    assert!(store.current_revision() >= revision);
                    assert_eq!(get(&*store, &key).await.expect("present").revision, revision);
                    let range = store.range(&key, RangeOptions::default()).await.expect("range");
                    assert!(range.revision >= revision);
                    assert_eq!(range.entries[0].revision, revision);
                    let then = store.get(&key, Some(revision)).await.expect("get").expect("present");
                    assert_eq!(number(&then.value), write);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("task");
    }
}

/// Pairs of keys are always written a, then b. A reader may see a ahead of b by one step, but
/// never behind it, however its pages fall between the writes.
pub async fn pages_stay_whole_under_writes(harness: &impl Harness) {
    let store = Arc::new(harness.open().await);
    put(&*store, "/a", "0").await;
    put(&*store, "/b", "0").await;
    let writer = {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            for step in 1..=150 {
                put(&*store, "/a", step.to_string()).await;
                put(&*store, "/b", step.to_string()).await;
            }
        })
    };
    while !writer.is_finished() {
        let first = RangeOptions { limit: 1, count_remaining: true, ..RangeOptions::default() };
        let first = store.range("/", first).await.expect("range");
        let second =
            RangeOptions { start_after: Some("/a".to_string()), revision: Some(first.revision), ..Default::default() };
        let second = store.range("/", second).await.expect("range");
        let (a, b) = (number(&first.entries[0].value), number(&second.entries[0].value));
        assert!(a == b || a == b + 1, "a is {a} while b is {b} at {}", first.revision);
        assert_eq!((first.remaining, second.remaining), (1, 0));
    }
    writer.await.expect("writer");
}

fn number(value: &Bytes) -> u64 {
    std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()).expect("the suite writes numbers here")
}
