//! The objects under one storage prefix: the present versions, the recent changes, and
//! those who watch. `feed.rs` writes; the verbs read.

use super::stored::Stored;
use super::watcher::{Event, Filter, Offered, Scope, Start, Watcher, WatcherSlot};
use crate::encryption::Unreadable;
use crate::lookup::{Change, Observer};
use ferry_api::document::{KeepIndex, Node};
use ferry_metrics::family::Counter;
use ferry_resources::Row;
use ferry_store::Revision;
use parking_lot::RwLock;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// A change stays in the ring for at least this long, so that a client that was cut off
/// can resume its watch (upstream's eventFreshDuration).
const FRESH: Duration = Duration::from_secs(75);

/// The ring never holds fewer changes than this, however old, and never more than the
/// second number, however young (upstream's bounds of the watch cache).
const RING_MIN: usize = 100;
const RING_MAX: usize = 100 * 1024;

/// What the changes in one ring may keep alive, whatever their number: a burst of large
/// writes must not hold a minute of history in memory, and a hundred definitions of a
/// megabyte each not a hundred megabytes for ever.
const RING_BYTES_MAX: usize = 4 * 1024 * 1024;

pub struct Stock {
    row: Arc<Row>,
    /// Whether informers of this process read every version ([`Stock::follow`]).
    followed: AtomicBool,
    /// The cache's revision: all changes up to it are applied, here and elsewhere.
    applied: Arc<watch::Sender<Revision>>,
    counts: Arc<StockCounts>,
    inner: RwLock<Inner>,
}

/// What happened to a stock, for `metrics/storage.rs` to tell.
#[derive(Default)]
pub struct StockCounts {
    pub received: Counter,
    pub dispatched: Counter,
    pub initializations: Counter,
    pub initial_events: Counter,
    pub terminated: Counter,
    pub undecodable: Counter,
    pub lists: Counter,
    pub fetched: Counter,
    pub returned: Counter,
}

struct Inner {
    objects: BTreeMap<Arc<str>, Arc<Stored>>,
    /// What is in the store and cannot be read, and why.
    unreadable: BTreeMap<Arc<str>, Unreadable>,
    ring: VecDeque<RingEntry>,
    ring_bytes: usize,
    /// Every change after this revision is in the ring; a watch may start here or later.
    window_start: Revision,
    /// The first full read has been made.
    loaded: bool,
    /// Changes that came while a stock that was added later is being read.
    pending: Vec<Pending>,
    /// The kind is no longer served; nobody may begin to watch.
    closed: bool,
    /// The last revision that changed this stock. From it until now the objects are the
    /// same, so a page of an older list can still be read from memory.
    last_modified: Revision,
    watchers: Vec<WatcherSlot>,
    observers: Vec<Observer>,
    counts: Arc<StockCounts>,
}

/// A change, when it came, and the bytes that it kept alive then.
struct RingEntry {
    at: Instant,
    size: usize,
    event: Arc<Event>,
}

enum Pending {
    Put(Stored),
    Unreadable(Arc<str>, Revision, Unreadable),
    Delete(String, Revision),
}

/// Some or all objects as of one revision.
pub struct Listing {
    pub objects: Vec<Arc<Stored>>,
    pub revision: Revision,
}

/// The first objects of a listing, and the number of those after them.
pub struct ListingPage {
    pub objects: Vec<Arc<Stored>>,
    pub rest: usize,
    pub revision: Revision,
}

/// The ring no longer reaches back to where a watch wants to start.
#[derive(Debug, PartialEq, Eq)]
pub struct TooOld {
    pub requested: Revision,
    pub oldest: Revision,
}

impl Stock {
    pub(super) fn new(row: Arc<Row>, applied: Arc<watch::Sender<Revision>>) -> Self {
        let counts = Arc::<StockCounts>::default();
        Self {
            row,
            followed: AtomicBool::new(false),
            applied,
            counts: counts.clone(),
            inner: RwLock::new(Inner {
                objects: BTreeMap::new(),
                unreadable: BTreeMap::new(),
                ring: VecDeque::new(),
                ring_bytes: 0,
                window_start: 0,
                loaded: false,
                pending: Vec::new(),
                closed: false,
                last_modified: 0,
                watchers: Vec::new(),
                observers: Vec::new(),
                counts,
            }),
        }
    }

    pub fn prefix(&self) -> &str {
        &self.row.storage_prefix
    }

    /// Makes a cache entry of stored bytes.
    pub fn admit(&self, key: Arc<str>, revision: Revision, raw: &[u8]) -> Option<Stored> {
        let keep = if self.followed.load(Ordering::Relaxed) { KeepIndex::Yes } else { KeepIndex::No };
        let fields = |object: Node<'_>| self.row.selectable_fields(object);
        Stored::new(key, revision, raw, keep, &fields)
    }

    /// From now on somebody in this process reads every version.
    pub fn follow(&self) {
        self.followed.store(true, Ordering::Relaxed);
    }

    pub fn counts(&self) -> &StockCounts {
        &self.counts
    }

    pub fn row(&self) -> &Arc<Row> {
        &self.row
    }

    pub fn get(&self, key: &str) -> Option<Arc<Stored>> {
        self.inner.read().objects.get(key).cloned()
    }

    /// Why the object under a key cannot be read, if it is one that cannot.
    pub fn unreadable(&self, key: &str) -> Option<Unreadable> {
        self.inner.read().unreadable.get(key).cloned()
    }

    /// What cannot be read below a prefix.
    pub fn all_unreadable(&self, prefix: &str) -> Vec<Unreadable> {
        let inner = self.inner.read();
        if inner.unreadable.is_empty() {
            return Vec::new();
        }
        inner.unreadable.iter().filter(|(key, _)| key.starts_with(prefix)).map(|(_, why)| why.clone()).collect()
    }

    /// How many objects there are, for metrics and remainingItemCount.
    pub fn len(&self) -> usize {
        self.inner.read().objects.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The objects whose key begins with `prefix`, as of now.
    pub fn list(&self, prefix: &str) -> Listing {
        let inner = self.inner.read();
        Listing { objects: inner.range(prefix, None), revision: self.revision(&inner) }
    }

    /// The objects after a key as of an older revision, if nothing has changed since then.
    pub fn list_unchanged_since(&self, prefix: &str, after: &str, revision: Revision) -> Option<Listing> {
        let inner = self.inner.read();
        (inner.last_modified <= revision && revision <= self.revision(&inner))
            .then(|| Listing { objects: inner.range(prefix, Some(after)), revision })
    }

    /// The first `limit` objects below `prefix`, which ends with a slash, as of now. Those after
    /// them are counted and not touched.
    pub fn page(&self, prefix: &str, limit: usize) -> ListingPage {
        let inner = self.inner.read();
        let (objects, rest) = inner.first(prefix, None, limit);
        ListingPage { objects, rest, revision: self.revision(&inner) }
    }

    /// The page after a key as of an older revision, if nothing has changed since then.
    pub fn page_unchanged_since(
        &self,
        prefix: &str,
        after: &str,
        revision: Revision,
        limit: usize,
    ) -> Option<ListingPage> {
        let inner = self.inner.read();
        (inner.last_modified <= revision && revision <= self.revision(&inner)).then(|| {
            let (objects, rest) = inner.first(prefix, Some(after), limit);
            ListingPage { objects, rest, revision }
        })
    }

    /// Registers a watcher and gives it what it has to show first. Both happen under one
    /// lock, so nothing is missed and nothing is shown twice.
    pub fn watch(&self, scope: Scope, filter: Arc<dyn Filter>, start: Start) -> Result<Watcher, TooOld> {
        let mut inner = self.inner.write();
        let mut initial = VecDeque::new();
        let initial_revision = self.revision(&inner);
        match start {
            Start::Now => {}
            Start::InitialState => {
                for object in inner.range(scope.prefix(), None) {
                    if scope.contains(object.key()) && filter.matches(&object) {
                        initial.push_back(Arc::new(Event::put(object, None)));
                    }
                }
            }
            Start::After(revision) => {
                if revision < inner.window_start {
                    return Err(TooOld { requested: revision, oldest: inner.window_start });
                }
                let skip = inner.ring.partition_point(|entry| entry.event.revision() <= revision);
                for RingEntry { event, .. } in inner.ring.iter().skip(skip) {
                    if scope.contains(event.key()) && event.concerns(&*filter) {
                        initial.push_back(event.clone());
                    }
                }
            }
        }
        self.counts.initial_events.add(initial.len() as u64);
        let (slot, watcher) = WatcherSlot::new(
            scope,
            filter,
            initial,
            initial_revision,
            match start {
                // A watch from a revision yet to come shows nothing before it.
                Start::After(revision) => revision,
                _ => 0,
            },
        );
        inner.watchers.retain(|slot| !slot.is_closed());
        if !inner.closed {
            inner.watchers.push(slot);
        }
        Ok(watcher)
    }

    pub fn observe(&self, observer: Observer) {
        let mut inner = self.inner.write();
        for object in inner.objects.values() {
            observer(&Change::Put(object.clone()));
        }
        inner.observers.push(observer);
    }

    /// Drops the changes that are old by now. Whether there are more that will be.
    pub(super) fn sweep(&self, now: Instant) -> bool {
        if self.inner.read().ring.len() <= RING_MIN {
            return false;
        }
        let mut inner = self.inner.write();
        inner.drop_surplus(now);
        if inner.ring.len() < inner.ring.capacity() / 4 {
            inner.ring.shrink_to_fit();
        }
        inner.ring.len() > RING_MIN
    }

    pub fn watcher_count(&self) -> usize {
        self.inner.read().watchers.iter().filter(|slot| !slot.is_closed()).count()
    }

    /// Ends every watch: what the watchers were shown is no longer what the kind is. They
    /// come back and see it anew.
    pub fn disconnect(&self) {
        self.inner.write().watchers.clear();
    }

    /// Ends every watch for good.
    pub(super) fn close(&self) {
        let mut inner = self.inner.write();
        inner.closed = true;
        inner.watchers.clear();
    }

    /// Completes a stock that was added while the cache runs: what was read at one revision,
    /// then what the feeder has brought since. A full reload that came first has done it all.
    pub(super) fn complete(&self, found: Vec<Stored>, unreadable: Vec<(Arc<str>, Unreadable)>, revision: Revision) {
        let mut inner = self.inner.write();
        if inner.loaded {
            return;
        }
        self.counts.initializations.count();
        inner.load(found, revision);
        inner.unreadable = unreadable.into_iter().collect();
        for change in std::mem::take(&mut inner.pending) {
            match change {
                Pending::Put(stored) if stored.revision() > revision => inner.put(stored),
                Pending::Unreadable(key, at, why) if at > revision => inner.put_unreadable(&key, at, why),
                Pending::Delete(key, at) if at > revision => inner.delete(&key, at),
                _ => {}
            }
        }
    }

    pub(super) fn put(&self, stored: Stored) {
        self.counts.received.count();
        let mut inner = self.inner.write();
        if inner.loaded {
            inner.put(stored);
        } else {
            inner.pending.push(Pending::Put(stored));
        }
    }

    /// The object under a key cannot be read: it is not served, not even its older version.
    pub(super) fn put_unreadable(&self, key: &Arc<str>, revision: Revision, why: Unreadable) {
        self.counts.undecodable.count();
        let mut inner = self.inner.write();
        if inner.loaded {
            inner.put_unreadable(key, revision, why);
        } else {
            inner.pending.push(Pending::Unreadable(key.clone(), revision, why));
        }
    }

    pub(super) fn delete(&self, key: &str, revision: Revision) {
        self.counts.received.count();
        let mut inner = self.inner.write();
        if inner.loaded {
            inner.delete(key, revision);
        } else {
            inner.pending.push(Pending::Delete(key.to_owned(), revision));
        }
    }

    /// The revision that the objects show. A batch may be half applied, so this stock can
    /// be ahead of the cache, but never behind it.
    fn revision(&self, inner: &Inner) -> Revision {
        inner.last_modified.max(*self.applied.borrow())
    }

    /// Makes the stock equal to a full read. The first one is the starting point; a later
    /// one, after a broken watch, is turned into the changes that must have been missed.
    pub(super) fn replace(&self, found: Vec<Stored>, unreadable: Vec<(Arc<str>, Unreadable)>, revision: Revision) {
        self.counts.initializations.count();
        let mut inner = self.inner.write();
        inner.pending.clear();
        inner.unreadable = unreadable.into_iter().collect();
        if !inner.loaded {
            inner.load(found, revision);
        } else {
            let mut changes: Vec<Event> = Vec::new();
            let mut gone = std::mem::take(&mut inner.objects);
            for stored in found {
                let stored = Arc::new(stored);
                let old = gone.remove(stored.key());
                if old.as_ref().is_none_or(|old| old.revision() != stored.revision()) {
                    changes.push(Event::put(stored.clone(), old));
                }
                inner.objects.insert(stored.key().clone(), stored);
            }
            changes.extend(gone.into_values().map(|old| Event::delete(old, revision)));
            changes.sort_by_key(Event::revision);
            // A version between two that were seen may be missing, so no watch may start
            // inside the gap; those that run on see the sum of what happened.
            inner.ring.clear();
            inner.ring_bytes = 0;
            for change in changes {
                inner.publish(change);
            }
        }
        inner.last_modified = revision;
        inner.window_start = revision;
    }
}

impl Inner {
    /// The starting point of the stock.
    fn load(&mut self, found: Vec<Stored>, revision: Revision) {
        self.loaded = true;
        self.objects = found.into_iter().map(|stored| (stored.key().clone(), Arc::new(stored))).collect();
        for observer in &self.observers {
            self.objects.values().for_each(|object| observer(&Change::Put(object.clone())));
        }
        self.last_modified = revision;
        self.window_start = revision;
    }

    fn put(&mut self, stored: Stored) {
        let stored = Arc::new(stored);
        self.unreadable.remove(stored.key());
        let old = self.objects.insert(stored.key().clone(), stored.clone());
        self.publish(Event::put(stored, old));
    }

    fn put_unreadable(&mut self, key: &Arc<str>, revision: Revision, why: Unreadable) {
        self.delete(key, revision);
        self.unreadable.insert(key.clone(), why);
    }

    fn delete(&mut self, key: &str, revision: Revision) {
        self.unreadable.remove(key);
        if let Some(old) = self.objects.remove(key) {
            self.publish(Event::delete(old, revision));
        }
    }

    fn range(&self, prefix: &str, after: Option<&str>) -> Vec<Arc<Stored>> {
        let from = match after {
            Some(after) => Bound::Excluded(after),
            None => Bound::Included(prefix),
        };
        self.objects
            .range::<str, _>((from, Bound::Unbounded))
            .take_while(|(key, _)| key.starts_with(prefix))
            .map(|(_, object)| object.clone())
            .collect()
    }

    fn first(&self, prefix: &str, after: Option<&str>, limit: usize) -> (Vec<Arc<Stored>>, usize) {
        // Everything below a slash is before what follows the slash in its place: a count by this
        // end compares no key.
        let end = prefix.strip_suffix('/').map(|stem| format!("{stem}0")).unwrap_or_default();
        if after.unwrap_or(prefix) >= end.as_str() {
            return (Vec::new(), 0);
        }
        let from = after.map_or(Bound::Included(prefix), Bound::Excluded);
        let mut range = self.objects.range::<str, _>((from, Bound::Excluded(end.as_str())));
        let objects = range.by_ref().take(limit).map(|(_, object)| object.clone()).collect();
        (objects, range.count())
    }

    fn publish(&mut self, event: Event) {
        self.last_modified = self.last_modified.max(event.revision());
        let change = event.change();
        self.observers.iter().for_each(|observer| observer(&change));
        let event = Arc::new(event);
        self.counts.dispatched.count();
        let counts = &self.counts;
        self.watchers.retain(|slot| match slot.offer(&event) {
            Offered::Kept => true,
            Offered::Left => false,
            Offered::TooSlow => {
                counts.terminated.count();
                false
            }
        });
        let (now, size) = (Instant::now(), event.size());
        self.ring_bytes += size;
        self.ring.push_back(RingEntry { at: now, size, event });
        self.drop_surplus(now);
    }

    fn drop_surplus(&mut self, now: Instant) {
        while self.ring.front().is_some_and(|oldest| self.is_surplus(now - oldest.at)) {
            if let Some(dropped) = self.ring.pop_front() {
                self.ring_bytes -= dropped.size;
                self.window_start = dropped.event.revision();
            }
        }
    }

    /// Whether the ring can do without its oldest change, which is this old.
    fn is_surplus(&self, age: Duration) -> bool {
        let count = self.ring.len();
        count > RING_MAX || self.ring_bytes > RING_BYTES_MAX || (count > RING_MIN && age > FRESH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct All;
    impl Filter for All {
        fn matches(&self, _: &Stored) -> bool {
            true
        }
    }

    fn stock() -> Stock {
        let row = ferry_resources::all().iter().find(|row| row.plural == "configmaps").expect("a builtin kind").clone();
        let stock = Stock::new(row, Arc::new(watch::Sender::new(1)));
        stock.replace(Vec::new(), Vec::new(), 1);
        stock
    }

    fn put(stock: &Stock, name: &str, revision: Revision, size: usize) {
        let raw = format!("{{\"metadata\":{{\"name\":\"{name}\"}},\"data\":{{\"a\":\"{}\"}}}}", "x".repeat(size));
        let key = format!("/registry/configmaps/default/{name}");
        stock.put(stock.admit(key.into(), revision, raw.as_bytes()).expect("decodes"));
    }

    fn start(stock: &Stock, start: Start) -> Result<Watcher, TooOld> {
        stock.watch(Scope::Prefix("/registry/configmaps/".into()), Arc::new(All), start)
    }

    #[test]
    fn the_ring_is_bounded_by_what_it_keeps_alive() {
        let stock = stock();
        for revision in 2..1000 {
            put(&stock, "a", revision, 200 * 1024);
        }
        let inner = stock.inner.read();
        assert!(inner.ring_bytes <= RING_BYTES_MAX, "{}", inner.ring_bytes);
        assert_eq!(inner.window_start + inner.ring.len() as u64, 999);
        let oldest = inner.window_start;
        drop(inner);
        assert!(start(&stock, Start::After(oldest)).is_ok());
        assert_eq!(start(&stock, Start::After(oldest - 1)).err(), Some(TooOld { requested: oldest - 1, oldest }));
    }

    #[test]
    fn a_stock_that_is_added_later_misses_nothing_and_shows_nothing_twice() {
        let row = ferry_resources::all().iter().find(|row| row.plural == "configmaps").expect("a builtin kind").clone();
        let stock = Stock::new(row, Arc::new(watch::Sender::new(1)));
        let admit = |name: &str, revision| {
            let raw = format!("{{\"metadata\":{{\"name\":\"{name}\"}}}}");
            let key = format!("/registry/configmaps/default/{name}");
            stock.admit(key.into(), revision, raw.as_bytes()).expect("decodes")
        };
        // The feeder is both behind and ahead of the read at revision 5.
        stock.put(admit("old", 4));
        stock.delete("/registry/configmaps/default/gone", 6);
        stock.put(admit("new", 7));
        stock.complete(vec![admit("gone", 2), admit("old", 4)], Vec::new(), 5);
        stock.complete(Vec::new(), Vec::new(), 9);
        let names: Vec<String> =
            stock.list("/registry/configmaps/").objects.iter().map(|object| object.name().to_owned()).collect();
        assert_eq!(names, ["new", "old"]);
        let mut watcher = start(&stock, Start::After(5)).expect("the read is where the window begins");
        let seen: Vec<u64> = std::iter::from_fn(|| watcher.next_initial()).map(|(_, event)| event.revision()).collect();
        assert_eq!(seen, [6, 7]);
        stock.close();
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(matches!(watcher.poll_next(&mut context), std::task::Poll::Ready(None)), "the watch is over");
    }

    #[test]
    fn a_watch_joins_past_and_present_without_a_seam() {
        let stock = stock();
        (2..6).for_each(|revision| put(&stock, &format!("c{revision}"), revision, 1));
        let mut watcher = start(&stock, Start::After(3)).expect("in the window");
        put(&stock, "c6", 6, 1);
        stock.delete("/registry/configmaps/default/c2", 7);
        let mut seen = Vec::new();
        while let Some((_, event)) = watcher.next_initial() {
            seen.push(event.revision());
        }
        let waker = std::task::Waker::noop();
        let mut context = std::task::Context::from_waker(waker);
        while let std::task::Poll::Ready(Some((_, event))) = watcher.poll_next(&mut context) {
            seen.push(event.revision());
        }
        assert_eq!(seen, [4, 5, 6, 7]);
        assert_eq!(stock.list("/registry/configmaps/").objects.len(), 4);
    }

    #[test]
    fn a_page_has_the_first_objects_and_counts_the_rest() {
        let stock = stock();
        (1..6).for_each(|revision| put(&stock, &format!("c{revision}"), revision, 1));
        let check = |page: ListingPage, expected: &[&str], rest: usize| {
            let names: Vec<&str> = page.objects.iter().map(|object| object.name()).collect();
            assert_eq!((names, page.rest), (expected.to_vec(), rest));
        };
        let (all, namespace) = ("/registry/configmaps/", "/registry/configmaps/default/");
        check(stock.page(all, 2), &["c1", "c2"], 3);
        check(stock.page(namespace, 9), &["c1", "c2", "c3", "c4", "c5"], 0);
        check(stock.page("/registry/configmaps/def/", 9), &[], 0);
        check(stock.page("", 9), &[], 0);
        let after = |name: &str| {
            let page = stock.page_unchanged_since(namespace, &format!("{namespace}{name}"), 5, 2);
            page.expect("nothing has changed")
        };
        check(after("c2"), &["c3", "c4"], 1);
        check(after("c5"), &[], 0);
        check(stock.page_unchanged_since(namespace, "/registry/secrets/", 5, 2).expect("unchanged"), &[], 0);
        assert!(stock.page_unchanged_since(namespace, namespace, 4, 2).is_none(), "c5 came later");
    }

    #[test]
    fn a_full_read_after_a_broken_watch_becomes_the_changes_that_were_missed() {
        let stock = stock();
        put(&stock, "kept", 2, 1);
        put(&stock, "gone", 3, 1);
        let mut watcher = start(&stock, Start::After(3)).expect("in the window");
        let admit = |name: &str, revision| {
            let raw = format!("{{\"metadata\":{{\"name\":\"{name}\"}}}}");
            stock
                .admit(format!("/registry/configmaps/default/{name}").into(), revision, raw.as_bytes())
                .expect("decodes")
        };
        stock.replace(vec![admit("kept", 2), admit("new", 9)], Vec::new(), 10);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let mut seen = Vec::new();
        while let std::task::Poll::Ready(Some((seen_as, event))) = watcher.poll_next(&mut context) {
            seen.push((seen_as, event.key().rsplit('/').next().unwrap_or_default().to_owned()));
        }
        use crate::Seen;
        assert_eq!(seen, [(Seen::Added, "new".into()), (Seen::Deleted, "gone".into())]);
        assert!(start(&stock, Start::After(9)).is_err(), "the gap cannot be watched from");
    }
}
