//! What every implementation of [`Store`] must do: one suite, run for each of them by
//! [`conformance_tests!`](crate::conformance_tests). The checks here are examples of the
//! contract in `lib.rs`; `property.rs` compares random histories with `model.rs`.

mod concurrency;
mod model;
mod property;

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::{Commit, Committed, Entry, Error, Event, EventKind, Expect, Op, RangeOptions, Revision, Store, Watch};

pub use self::concurrency::*;
pub use self::property::random_histories_match_the_model;

/// How the suite gets at an implementation.
#[async_trait]
pub trait Harness: Send + Sync {
    type Store: Store;

    /// A new and empty store, independent of those opened before.
    async fn open(&self) -> Self::Store;

    /// Closes a store and opens it again with the same content.
    async fn restart(&self, store: Self::Store) -> Self::Store;
}

/// Makes one test of each check, for a harness given by an expression.
#[macro_export]
macro_rules! conformance_tests {
    ($harness:expr) => {
        $crate::conformance_tests! { @each $harness;
            a_new_store_is_empty
            revisions_count_changes
            expectations_are_kept
            values_and_keys_are_arbitrary
            old_states_stay_readable
            a_prefix_is_a_prefix
            pages_show_one_state
            a_watch_replays_then_follows
            a_watch_keeps_to_its_prefix
            a_watch_may_start_in_the_future
            compaction_hides_what_is_below_the_horizon
            compaction_keeps_what_is_live
            revisions_survive_a_restart
            counters_lose_no_increment
            watchers_see_the_same_history_whenever_they_start
            a_slow_watcher_holds_nobody_up_and_misses_nothing
            reads_see_what_was_acknowledged
            pages_stay_whole_under_writes
        }

        #[test]
        fn random_histories_match_the_model() {
            $crate::conformance::random_histories_match_the_model(&$harness);
        }
    };
    (@each $harness:expr; $($check:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                $crate::conformance::$check(&$harness).await;
            }
        )*
    };
}

/// No check waits longer than this for something that must come.
const PATIENCE: Duration = Duration::from_secs(30);

pub async fn a_new_store_is_empty(harness: &impl Harness) {
    let store = harness.open().await;
    let revision = store.current_revision();
    assert!(revision > 0, "0 is left to callers");
    assert_eq!(get(&store, "a").await, None);
    let range = store.range("", RangeOptions::default()).await.expect("range");
    assert!(range.entries.is_empty() && !range.more && range.remaining == 0);
    assert_eq!(range.revision, revision);
}

pub async fn revisions_count_changes(harness: &impl Harness) {
    let store = harness.open().await;
    let base = store.current_revision();

    let created = put(&store, "a", "1").await;
    assert_eq!(created, Committed { revision: base + 1, previous: None });
    let first = entry("a", "1", base + 1, base + 1, 1);
    assert_eq!(get(&store, "a").await, Some(first.clone()));

    put(&store, "b", "1").await;
    let updated = put(&store, "a", "2").await;
    assert_eq!(updated, Committed { revision: base + 3, previous: Some(first) });
    let second = entry("a", "2", base + 1, base + 3, 2);
    assert_eq!(get(&store, "a").await, Some(second.clone()));

    let deleted = delete(&store, "a").await;
    assert_eq!(deleted, Committed { revision: base + 4, previous: Some(second) });
    assert_eq!(get(&store, "a").await, None);
    assert_eq!(store.current_revision(), base + 4);

    put(&store, "a", "3").await;
    assert_eq!(get(&store, "a").await, Some(entry("a", "3", base + 5, base + 5, 1)));
}

pub async fn expectations_are_kept(harness: &impl Harness) {
    let store = harness.open().await;
    let value = || Op::Put(Bytes::from_static(b"new"));
    let at = put(&store, "present", "old").await.revision;
    let present = entry("present", "old", at, at, 1);

    for (key, expect, op) in [
        ("present", Expect::Absent, value()),
        ("present", Expect::Absent, Op::Delete),
        ("present", Expect::Revision(at + 1), value()),
        ("present", Expect::Revision(at - 1), Op::Delete),
        ("absent", Expect::Revision(at), value()),
        ("absent", Expect::Revision(at), Op::Delete),
        ("absent", Expect::Any, Op::Delete),
        ("absent", Expect::Absent, Op::Delete),
    ] {
        let met = (key == "present").then(|| present.clone());
        let commit = Commit { key: key.to_string(), expect, op };
        match store.commit(commit.clone()).await {
            Err(Error::Conflict { key: named, current }) => {
                assert_eq!((named.as_str(), current), (key, met), "{commit:?}");
            }
            other => panic!("{commit:?} gave {other:?}"),
        }
    }
    assert_eq!(store.current_revision(), at, "a conflict takes no revision");
    assert_eq!(get(&store, "present").await, Some(present));

    for (key, expect, op) in [
        ("absent", Expect::Absent, value()),
        ("present", Expect::Revision(at), value()),
        ("present", Expect::Any, value()),
        ("other", Expect::Any, value()),
        ("present", Expect::Revision(at + 3), Op::Delete),
        ("other", Expect::Any, Op::Delete),
    ] {
        let commit = Commit { key: key.to_string(), expect, op };
        store.commit(commit.clone()).await.unwrap_or_else(|error| panic!("{commit:?} gave {error}"));
    }
    assert_eq!(store.current_revision(), at + 6);
}

pub async fn values_and_keys_are_arbitrary(harness: &impl Harness) {
    let store = harness.open().await;
    let large = vec![0xa5; 1 << 20];
    let keys = ["é/\u{10ffff}", "a'\"%_;--", " ", "/registry/pods/default/web"];
    for key in keys {
        put(&store, key, "").await;
        put(&store, key, large.clone()).await;
        let stored = get(&store, key).await.expect("stored");
        assert_eq!((&*stored.key, &stored.value[..], stored.version), (key, &large[..], 2));
    }
    let range = store.range("", RangeOptions::default()).await.expect("range");
    let mut sorted = keys;
    sorted.sort_by_key(|key| key.as_bytes());
    assert_eq!(keys_of(&range.entries), sorted);
}

pub async fn old_states_stay_readable(harness: &impl Harness) {
    let store = harness.open().await;
    let base = store.current_revision();
    put(&store, "a", "1").await;
    put(&store, "b", "1").await;
    put(&store, "a", "2").await;
    delete(&store, "a").await;

    let expected: [&[(&str, &str)]; 5] =
        [&[], &[("a", "1")], &[("a", "1"), ("b", "1")], &[("a", "2"), ("b", "1")], &[("b", "1")]];
    for (offset, state) in expected.iter().enumerate() {
        let revision = base + offset as Revision;
        let options = RangeOptions { revision: Some(revision), ..RangeOptions::default() };
        let range = store.range("", options).await.expect("range");
        let found: Vec<(&str, &str)> = range.entries.iter().map(|entry| (&*entry.key, text(&entry.value))).collect();
        assert_eq!((found.as_slice(), range.revision), (*state, revision));
        for key in ["a", "b"] {
            let expected = state.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
            let found = store.get(key, Some(revision)).await.expect("get");
            assert_eq!(found.as_ref().map(|entry| text(&entry.value)), expected);
        }
    }
    let future = base + 5;
    assert!(matches!(store.get("a", Some(future)).await, Err(Error::FutureRevision { requested, current })
        if requested == future && current == base + 4));
    let options = RangeOptions { revision: Some(Revision::MAX), ..RangeOptions::default() };
    assert!(matches!(store.range("", options).await, Err(Error::FutureRevision { .. })));
}

pub async fn a_prefix_is_a_prefix(harness: &impl Harness) {
    let store = harness.open().await;
    for key in ["/pods", "/pods/", "/pods/a", "/pods/a/b", "/pods/é", "/pods0", "/podsets/a", "/PODS/a", "/q"] {
        put(&store, key, "1").await;
    }
    let check = async |prefix: &str, expected: &[&str]| {
        let range = store.range(prefix, RangeOptions::default()).await.expect("range");
        assert_eq!(keys_of(&range.entries), expected, "under {prefix:?}");
    };
    check("/pods/", &["/pods/", "/pods/a", "/pods/a/b", "/pods/é"]).await;
    check("/pods/a", &["/pods/a", "/pods/a/b"]).await;
    check("/pods/é", &["/pods/é"]).await;
    check("/pods", &["/pods", "/pods/", "/pods/a", "/pods/a/b", "/pods/é", "/pods0", "/podsets/a"]).await;
    check("/r", &[]).await;
}

pub async fn pages_show_one_state(harness: &impl Harness) {
    let store = harness.open().await;
    for number in 0..10 {
        put(&store, &format!("/p/{number}"), "old").await;
    }
    put(&store, "/q/0", "old").await;

    let first = page(&store, 4, None, None).await;
    assert_eq!((first.entries.len(), first.more, first.remaining), (4, true, 6));
    // What happens between two pages does not show.
    put(&store, "/p/5", "new").await;
    delete(&store, "/p/6").await;
    put(&store, "/p/55", "new").await;

    let mut seen = keys_owned(&first.entries);
    let mut more = first.more;
    while more {
        let next = page(&store, 4, seen.last().cloned(), Some(first.revision)).await;
        assert_eq!(next.revision, first.revision);
        assert!(next.entries.iter().all(|entry| text(&entry.value) == "old"));
        seen.extend(keys_owned(&next.entries));
        assert_eq!(next.remaining as usize, 10 - seen.len());
        more = next.more;
    }
    assert_eq!(seen, (0..10).map(|number| format!("/p/{number}")).collect::<Vec<_>>());

    // A limit that is met exactly leaves nothing.
    let whole = page(&store, 10, None, None).await;
    assert_eq!((whole.entries.len(), whole.more, whole.remaining), (10, false, 0));
    // Whether there is more is known without a count.
    let options = RangeOptions { limit: 4, ..RangeOptions::default() };
    let uncounted = store.range("/p/", options).await.expect("range");
    assert_eq!((uncounted.entries.len(), uncounted.more, uncounted.remaining), (4, true, 0));
    // The key to continue after need not exist any more, nor lie within the prefix.
    let rest = page(&store, 0, Some("/p/6".to_string()), None).await;
    assert_eq!(keys_of(&rest.entries), ["/p/7", "/p/8", "/p/9"]);
    assert_eq!(page(&store, 0, Some("/a".to_string()), None).await.entries.len(), 10);
    assert!(page(&store, 0, Some("/q".to_string()), None).await.entries.is_empty());
}

pub async fn a_watch_replays_then_follows(harness: &impl Harness) {
    let store = harness.open().await;
    let base = store.current_revision();
    put(&store, "a", "1").await;
    put(&store, "a", "2").await;
    let mut watch = store.watch("", base + 1).await.expect("watch");
    delete(&store, "a").await;
    let seen = take(&mut watch, 2).await;
    put(&store, "a", "3").await;
    let live = take(&mut watch, 1).await;

    let event = |revision, kind, value: &str, previous: Option<&str>, create_revision| Event {
        key: "a".into(),
        revision,
        kind,
        value: Bytes::copy_from_slice(value.as_bytes()),
        previous: previous.map(|value| Bytes::copy_from_slice(value.as_bytes())),
        create_revision,
    };
    assert_eq!(
        seen,
        [
            event(base + 2, EventKind::Put, "2", Some("1"), base + 1),
            event(base + 3, EventKind::Delete, "2", Some("2"), base + 1),
        ]
    );
    assert_eq!(live, [event(base + 4, EventKind::Put, "3", None, base + 4)]);
    // The same again, all from the past.
    let mut replay = store.watch("", base + 1).await.expect("watch");
    assert_eq!(take(&mut replay, 3).await, [seen, live].concat());
}

pub async fn a_watch_keeps_to_its_prefix(harness: &impl Harness) {
    let store = harness.open().await;
    let base = store.current_revision();
    put(&store, "/p/a", "1").await;
    put(&store, "/pa", "1").await;
    let mut replayed = store.watch("/p/", base).await.expect("watch");
    let mut live = store.watch("/p/", store.current_revision()).await.expect("watch");
    put(&store, "/q/a", "1").await;
    put(&store, "/p", "1").await;
    put(&store, "/p/b", "1").await;
    let keys = |events: &[Event]| events.iter().map(|event| event.key.to_string()).collect::<Vec<_>>();
    assert_eq!(keys(&take(&mut replayed, 2).await), ["/p/a", "/p/b"]);
    assert_eq!(keys(&take(&mut live, 1).await), ["/p/b"]);
}

pub async fn a_watch_may_start_in_the_future(harness: &impl Harness) {
    let store = harness.open().await;
    let base = store.current_revision();
    let mut watch = store.watch("", base + 2).await.expect("watch");
    for value in ["1", "2", "3"] {
        put(&store, "a", value).await;
    }
    let seen = take(&mut watch, 1).await;
    assert_eq!((seen[0].revision, text(&seen[0].value)), (base + 3, "3"));
}

pub async fn compaction_hides_what_is_below_the_horizon(harness: &impl Harness) {
    let store = harness.open().await;
    let base = store.current_revision();
    for value in ["1", "2", "3", "4"] {
        put(&store, "a", value).await;
    }
    let horizon = base + 3;
    store.compact(horizon).await.expect("compact");

    let compacted = |result: Error| matches!(result, Error::Compacted { horizon: answered } if answered == horizon);
    for revision in [base, base + 2] {
        assert!(compacted(store.get("a", Some(revision)).await.expect_err("compacted")));
        let options = RangeOptions { revision: Some(revision), ..RangeOptions::default() };
        assert!(compacted(store.range("", options).await.expect_err("compacted")));
        let watched = match store.watch("", revision).await {
            Ok(mut watch) => next(&mut watch).await.expect("an answer").expect_err("compacted"),
            Err(error) => error,
        };
        assert!(compacted(watched));
    }
    let at_horizon = store.get("a", Some(horizon)).await.expect("get").expect("present");
    assert_eq!((text(&at_horizon.value), at_horizon.version), ("3", 3));
    let mut watch = store.watch("", horizon).await.expect("watch");
    let seen = take(&mut watch, 1).await;
    assert_eq!((text(&seen[0].value), seen[0].previous.as_deref()), ("4", Some(&b"3"[..])));

    // A lower or equal horizon changes nothing, one in the future is an error.
    store.compact(base + 1).await.expect("compact again");
    store.compact(horizon).await.expect("compact again");
    assert!(matches!(store.compact(base + 9).await, Err(Error::FutureRevision { .. })));
    assert!(store.get("a", Some(horizon)).await.is_ok());
}

pub async fn compaction_keeps_what_is_live(harness: &impl Harness) {
    let store = harness.open().await;
    let old = put(&store, "old", "1").await.revision;
    for round in 0..200 {
        put(&store, "busy", round.to_string()).await;
        put(&store, "gone", "1").await;
        delete(&store, "gone").await;
    }
    let latest = store.current_revision();
    store.compact(latest).await.expect("compact");
    let store = harness.restart(store).await;

    assert_eq!(store.current_revision(), latest);
    assert_eq!(get(&store, "old").await, Some(entry("old", "1", old, old, 1)));
    let busy = get(&store, "busy").await.expect("present");
    assert_eq!((text(&busy.value), busy.version), ("199", 200));
    assert_eq!(get(&store, "gone").await, None);
    let range = store.range("", RangeOptions::default()).await.expect("range");
    assert_eq!(keys_of(&range.entries), ["busy", "old"]);
    // The history goes on as if nothing had been removed.
    let updated = put(&store, "old", "2").await;
    assert_eq!((updated.revision, updated.previous.map(|entry| entry.revision)), (latest + 1, Some(old)));
    assert_eq!(put(&store, "gone", "2").await.previous, None);
}

pub async fn revisions_survive_a_restart(harness: &impl Harness) {
    let mut store = harness.open().await;
    for _ in 0..3 {
        put(&store, "a", "1").await;
        let deleted = delete(&store, "a").await.revision;
        store = harness.restart(store).await;
        assert_eq!(store.current_revision(), deleted);
        // Even when the last change itself has been compacted away.
        store.compact(deleted).await.expect("compact");
        store = harness.restart(store).await;
        assert_eq!(store.current_revision(), deleted);
        assert!(
            matches!(store.get("a", Some(deleted - 1)).await, Err(Error::Compacted { horizon }) if horizon == deleted)
        );
        let mut watch = store.watch("", deleted).await.expect("watch");
        assert_eq!(put(&store, "b", "1").await.revision, deleted + 1);
        assert_eq!(take(&mut watch, 1).await[0].revision, deleted + 1);
    }
}

pub(crate) async fn put(store: &impl Store, key: &str, value: impl Into<Vec<u8>>) -> Committed {
    let op = Op::Put(Bytes::from(value.into()));
    store.commit(Commit { key: key.to_string(), expect: Expect::Any, op }).await.expect("put")
}

pub(crate) async fn delete(store: &impl Store, key: &str) -> Committed {
    store.commit(Commit { key: key.to_string(), expect: Expect::Any, op: Op::Delete }).await.expect("delete")
}

pub(crate) async fn get(store: &impl Store, key: &str) -> Option<Entry> {
    store.get(key, None).await.expect("get")
}

async fn page(
    store: &impl Store,
    limit: usize,
    start_after: Option<String>,
    revision: Option<Revision>,
) -> crate::Range {
    store.range("/p/", RangeOptions { limit, start_after, revision, count_remaining: true }).await.expect("range")
}

pub(crate) async fn next(watch: &mut Watch) -> Option<Result<Vec<Event>, Error>> {
    tokio::time::timeout(PATIENCE, watch.next()).await.expect("the watch delivers in time")
}

/// Exactly `count` events: more in the last batch is a failure.
pub(crate) async fn take(watch: &mut Watch, count: usize) -> Vec<Event> {
    let mut events = Vec::new();
    while events.len() < count {
        let batch = next(watch).await.expect("the watch goes on").expect("the watch is well");
        assert!(!batch.is_empty(), "an empty batch says nothing");
        events.extend(batch);
    }
    assert_eq!(events.len(), count, "{events:?}");
    events
}

fn entry(key: &str, value: &str, create_revision: Revision, revision: Revision, version: u64) -> Entry {
    Entry { key: key.into(), value: Bytes::copy_from_slice(value.as_bytes()), create_revision, revision, version }
}

fn text(value: &Bytes) -> &str {
    std::str::from_utf8(value).expect("the suite writes text here")
}

fn keys_of(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| &*entry.key).collect()
}

fn keys_owned(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|entry| entry.key.to_string()).collect()
}
