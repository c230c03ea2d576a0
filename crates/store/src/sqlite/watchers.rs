//! Who watches what, and how far each has come. The writer publishes durable changes here; each
//! watch takes them from here, or is told to replay them from disk.
//!
//! A watcher is a cursor: everything up to it was delivered or lies outside its prefix. Changes
//! that some watcher still needs are kept in one shared window of bounded size. Whoever falls
//! out of the window, or starts before it, reads history from disk up to where the window takes
//! over. No hand-over can lose or repeat a change, since both sources are asked for "after the
//! cursor"; and the writer's work does not depend on how fast anyone reads.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_util::stream;
use parking_lot::Mutex;

use super::read::{replay, size};
use super::readers::Readers;
use crate::{Error, Event, Revision, Watch};

/// What the window may hold before its oldest changes are dropped. It is empty whenever all
/// watchers keep up.
const WINDOW_BYTES: usize = 2 << 20;

/// The most events handed over in one batch.
const BATCH_EVENTS: usize = 1000;

pub(super) struct Watchers {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// The last revision published.
    head: Revision,
    /// Changes above `floor` that some watcher has not taken yet.
    window: VecDeque<Event>,
    window_bytes: usize,
    /// Changes up to here may have been dropped from the window before everyone had them.
    floor: Revision,
    watchers: HashMap<u64, Watcher>,
    next_id: u64,
    closed: bool,
}

struct Watcher {
    prefix: Arc<str>,
    cursor: Revision,
    /// The head at registration: the window was not kept for this watcher before that.
    since: Revision,
    /// Whether something after the cursor awaits it. While it is not so, publishing moves the
    /// cursor along, so that a quiet prefix never falls out of the window.
    behind: bool,
    waker: Option<Waker>,
}

/// What a watcher does next.
enum Step {
    Deliver(Vec<Event>),
    Replay { after: Revision },
    End,
}

impl Watchers {
    pub(super) fn new(head: Revision) -> Watchers {
        Watchers { table: Mutex::new(Table { head, floor: head, ..Table::default() }) }
    }

    /// Hands durable changes to whoever watches them. `head` is the last revision of the batch.
    pub(super) fn publish(&self, events: Vec<Event>, head: Revision) {
        let woken = self.table.lock().publish(events, head);
        for waker in woken {
            waker.wake();
        }
    }

    /// Sends every watcher to disk for the changes up to `head`, which became durable without
    /// having been published: their batch had failed, and the log had them nevertheless.
    pub(super) fn replay_up_to(&self, head: Revision) {
        let woken = self.table.lock().replay_up_to(head);
        for waker in woken {
            waker.wake();
        }
    }

    /// Ends every watch.
    pub(super) fn close(&self) {
        let woken: Vec<Waker> = {
            let mut table = self.table.lock();
            table.closed = true;
            table.watchers.values_mut().filter_map(|watcher| watcher.waker.take()).collect()
        };
        for waker in woken {
            waker.wake();
        }
    }

    pub(super) fn watch(self: &Arc<Self>, readers: &Arc<Readers>, prefix: &str, from: Revision) -> Watch {
        let prefix: Arc<str> = Arc::from(prefix);
        let id = self.table.lock().register(Arc::clone(&prefix), from);
        let registration = Registration { watchers: Arc::clone(self), readers: Arc::clone(readers), prefix, id };
        Watch::new(stream::unfold(Some(registration), |registration| async {
            let registration = registration?;
            match registration.next().await {
                Some(Ok(events)) => Some((Ok(events), Some(registration))),
                Some(Err(error)) => Some((Err(error), None)),
                None => None,
            }
        }))
    }
}

/// A watcher's place in the table, given up on drop.
struct Registration {
    watchers: Arc<Watchers>,
    readers: Arc<Readers>,
    prefix: Arc<str>,
    id: u64,
}

impl Registration {
    async fn next(&self) -> Option<Result<Vec<Event>, Error>> {
        loop {
            let step = std::future::poll_fn(|context| self.watchers.table.lock().poll_step(self.id, context)).await;
            let after = match step {
                Step::Deliver(events) => return Some(Ok(events)),
                Step::Replay { after } => after,
                Step::End => return None,
            };
            let prefix = Arc::clone(&self.prefix);
            match self.readers.run(move |connection, durable| replay(connection, durable, &prefix, after)).await {
                Ok(page) => {
                    self.watchers.table.lock().advance(self.id, page.through);
                    if !page.events.is_empty() {
                        return Some(Ok(page.events));
                    }
                }
                // A store that is being closed ends its watches without an error.
                Err(Error::Closed) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut table = self.watchers.table.lock();
        table.watchers.remove(&self.id);
        table.trim();
    }
}

impl Table {
    fn register(&mut self, prefix: Arc<str>, from: Revision) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let watcher = Watcher { prefix, cursor: from, since: self.head, behind: from < self.head, waker: None };
        self.watchers.insert(id, watcher);
        id
    }

    fn publish(&mut self, events: Vec<Event>, head: Revision) -> Vec<Waker> {
        let mut woken = Vec::new();
        let mut needed = vec![false; events.len()];
        for watcher in self.watchers.values_mut() {
            let mut first = None;
            for (event, needed) in events.iter().zip(&mut needed) {
                if event.revision > watcher.cursor && event.key.starts_with(&*watcher.prefix) {
                    *needed = true;
                    first = first.or(Some(event.revision));
                }
            }
            if watcher.behind {
                continue;
            }
            match first {
                Some(revision) => {
                    watcher.cursor = revision - 1;
                    watcher.behind = true;
                    woken.extend(watcher.waker.take());
                }
                None => watcher.cursor = watcher.cursor.max(head),
            }
        }
        self.head = head;
        for (event, needed) in events.into_iter().zip(needed) {
            if needed {
                self.window_bytes += size(&event);
                self.window.push_back(event);
            }
        }
        while self.window_bytes > WINDOW_BYTES {
            self.drop_oldest();
        }
        woken
    }

    fn replay_up_to(&mut self, head: Revision) -> Vec<Waker> {
        self.window.clear();
        self.window_bytes = 0;
        self.head = head;
        self.floor = head;
        let behind = self.watchers.values_mut().filter(|watcher| watcher.cursor < head);
        behind
            .filter_map(|watcher| {
                watcher.behind = true;
                watcher.waker.take()
            })
            .collect()
    }

    fn poll_step(&mut self, id: u64, context: &mut Context<'_>) -> Poll<Step> {
        let (floor, head, closed) = (self.floor, self.head, self.closed);
        let Some(watcher) = self.watchers.get_mut(&id) else { return Poll::Ready(Step::End) };
        if closed {
            return Poll::Ready(Step::End);
        }
        if watcher.behind {
            if watcher.cursor < floor.max(watcher.since) {
                return Poll::Ready(Step::Replay { after: watcher.cursor });
            }
            let start = self.window.partition_point(|event| event.revision <= watcher.cursor);
            let mut events = Vec::new();
            watcher.behind = false;
            for event in self.window.range(start..) {
                if event.key.starts_with(&*watcher.prefix) {
                    if events.len() == BATCH_EVENTS {
                        watcher.behind = true;
                        break;
                    }
                    watcher.cursor = event.revision;
                    events.push(event.clone());
                }
            }
            if !watcher.behind {
                watcher.cursor = watcher.cursor.max(head);
            }
            self.trim();
            if !events.is_empty() {
                return Poll::Ready(Step::Deliver(events));
            }
        }
        if let Some(watcher) = self.watchers.get_mut(&id) {
            watcher.waker = Some(context.waker().clone());
        }
        Poll::Pending
    }

    /// Notes what a replay covered. The watcher stays "behind" until it has looked at the
    /// window, since changes may have been published in the meantime.
    fn advance(&mut self, id: u64, through: Revision) {
        if let Some(watcher) = self.watchers.get_mut(&id) {
            watcher.cursor = watcher.cursor.max(through);
        }
        self.trim();
    }

    /// Forgets the changes that every watcher has behind it.
    fn trim(&mut self) {
        let slowest = self.watchers.values().map(|watcher| watcher.cursor).min().unwrap_or(self.head);
        while self.window.front().is_some_and(|event| event.revision <= slowest) {
            if let Some(event) = self.window.pop_front() {
                self.window_bytes -= size(&event);
            }
        }
        if self.window.is_empty() {
            // A burst may have left a large buffer behind.
            self.window.shrink_to(64);
        }
    }

    fn drop_oldest(&mut self) {
        if let Some(event) = self.window.pop_front() {
            self.window_bytes -= size(&event);
            self.floor = event.revision;
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::EventKind;

    fn put(key: &str, revision: Revision, value_bytes: usize) -> Event {
        Event {
            key: Arc::from(key),
            revision,
            kind: EventKind::Put,
            value: Bytes::from(vec![0; value_bytes]),
            previous: None,
            create_revision: revision,
        }
    }

    fn poll(table: &mut Table, id: u64) -> Poll<Step> {
        table.poll_step(id, &mut Context::from_waker(Waker::noop()))
    }

    #[track_caller]
    fn check_delivers(table: &mut Table, id: u64, revisions: &[Revision]) {
        match poll(table, id) {
            Poll::Ready(Step::Deliver(events)) => {
                assert_eq!(events.iter().map(|event| event.revision).collect::<Vec<_>>(), revisions)
            }
            _ => panic!("nothing was delivered"),
        }
    }

    fn table(head: Revision) -> Table {
        Table { head, floor: head, ..Table::default() }
    }

    #[test]
    fn a_quiet_watcher_moves_along_and_the_window_stays_empty() {
        let mut table = table(1);
        let quiet = table.register(Arc::from("/q/"), 1);
        table.publish(vec![put("/p/a", 2, 10), put("/p/b", 3, 10)], 3);
        assert!(table.window.is_empty());
        assert_eq!(table.watchers[&quiet].cursor, 3);
        table.publish(vec![put("/p/a", 4, 10), put("/q/a", 5, 10)], 5);
        check_delivers(&mut table, quiet, &[5]);
        assert!(table.window.is_empty());
        assert!(poll(&mut table, quiet).is_pending());
    }

    #[test]
    fn a_watcher_that_starts_in_the_past_replays_then_joins_the_window() {
        let mut table = table(10);
        let late = table.register(Arc::from(""), 7);
        assert!(matches!(poll(&mut table, late), Poll::Ready(Step::Replay { after: 7 })));
        // Published while the replay is under way: partly seen by it, partly not.
        table.publish(vec![put("a", 11, 1), put("a", 12, 1)], 12);
        table.advance(late, 11);
        check_delivers(&mut table, late, &[12]);
    }

    #[test]
    fn a_slow_watcher_falls_out_of_the_window_and_is_sent_to_disk() {
        let mut table = table(1);
        let slow = table.register(Arc::from(""), 1);
        for revision in 2..=6 {
            table.publish(vec![put("a", revision, WINDOW_BYTES / 3)], revision);
        }
        assert!(table.window_bytes <= WINDOW_BYTES);
        assert!(matches!(poll(&mut table, slow), Poll::Ready(Step::Replay { after: 1 })));
        table.advance(slow, 6);
        assert!(poll(&mut table, slow).is_pending());
        assert!(table.window.is_empty());
    }

    #[test]
    fn a_watcher_from_the_future_sees_nothing_before_it() {
        let mut table = table(1);
        let future = table.register(Arc::from(""), 3);
        table.publish(vec![put("a", 2, 1), put("a", 3, 1)], 3);
        assert!(poll(&mut table, future).is_pending());
        table.publish(vec![put("a", 4, 1)], 4);
        check_delivers(&mut table, future, &[4]);
    }
}
