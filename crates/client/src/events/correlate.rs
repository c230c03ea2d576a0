//! What becomes of an event: the same again raises the count of the one that is there, many
//! that differ in their message alone become one, and too many about one object are dropped.
//! Called by the recorder's loop. The reference is client-go's tools/record/events_cache.go.

use super::Said;
use crate::object::Reference;
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, Hash, RandomState};

/// Events about one object, of one type, that may come at once and then per second.
const BURST: f64 = 25.0;
const REFILL_PER_SECOND: f64 = 1.0 / 300.0;

/// Events alike but for their message become one when there are so many messages, unless
/// none has come for this number of seconds.
const SIMILAR: usize = 10;
const SIMILAR_FOR: i64 = 600;

/// Keys that each of the three memories holds.
const REMEMBERED: usize = 4096;

/// An event as it is to be written.
#[derive(Debug)]
pub(super) struct Observation {
    pub said: Said,
    /// The name of the event object.
    pub name: String,
    pub message: String,
    /// How often it was seen, dropped ones included. The object may be there unless this is 1.
    pub count: i32,
    pub first: Timestamp,
}

/// Keys are hashes: the texts would be most of the memory, and two that collide by chance cost
/// one event its own object.
#[derive(Default)]
pub(super) struct Correlator {
    hasher: RandomState,
    similar: Remembered<Similar>,
    seen: Remembered<Seen>,
    buckets: Remembered<Bucket>,
}

/// The messages of events that are alike otherwise.
#[derive(Default)]
struct Similar {
    messages: HashSet<u64>,
    last: Timestamp,
}

struct Seen {
    name: String,
    count: i32,
    first: Timestamp,
}

struct Bucket {
    tokens: f64,
    at: Timestamp,
}

impl Correlator {
    /// `None` for an event that is dropped.
    pub(super) fn observe(&mut self, said: Said) -> Option<Observation> {
        let (key, message) = self.aggregate(&said);
        let seen = self.seen.entry(key, || Seen { name: name_of(&said), count: 0, first: said.at });
        seen.count = seen.count.saturating_add(1);
        let (name, count, first) = (seen.name.clone(), seen.count, seen.first);
        self.spend(&said).then_some(Observation { said, name, message, count, first })
    }

    /// The key by which the event is the same as another, and its message.
    fn aggregate(&mut self, said: &Said) -> (u64, String) {
        let Said { object, kind, reason, message, at, .. } = said;
        let alike = self.hasher.hash_one((identity(object), kind, reason));
        let own = self.hasher.hash_one((identity(object), &object.field_path, kind, reason, message));
        let similar = self.similar.entry(alike, Similar::default);
        if at.as_second() - similar.last.as_second() > SIMILAR_FOR {
            similar.messages.clear();
        }
        similar.last = *at;
        similar.messages.insert(self.hasher.hash_one(message));
        if similar.messages.len() < SIMILAR {
            return (own, message.clone());
        }
        // The set does not grow beyond what decides.
        let any = similar.messages.iter().next().copied();
        any.map(|any| similar.messages.remove(&any));
        (alike, format!("(combined from similar events): {message}"))
    }

    fn spend(&mut self, said: &Said) -> bool {
        let key = self.hasher.hash_one((identity(&said.object), said.kind));
        let bucket = self.buckets.entry(key, || Bucket { tokens: BURST, at: said.at });
        let idle = said.at.duration_since(bucket.at).as_secs_f64().max(0.0);
        bucket.tokens = (bucket.tokens + idle * REFILL_PER_SECOND).min(BURST);
        bucket.at = said.at;
        let has_token = bucket.tokens >= 1.0;
        if has_token {
            bucket.tokens -= 1.0;
        }
        has_token
    }
}

/// The object that an event is about, whatever its version and the field.
fn identity(object: &Reference) -> impl Hash + '_ {
    (&object.kind, &object.namespace, &object.name, &object.uid, &object.api_version)
}

fn name_of(said: &Said) -> String {
    let subject = if said.object.name.is_empty() { "unknown" } else { &said.object.name };
    format!("{subject}.{:x}", unique_nanos(said.at))
}

/// Two events about one object in the same nanosecond must not share a name.
fn unique_nanos(at: Timestamp) -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static LAST: AtomicU64 = AtomicU64::new(0);
    let nanos = u64::try_from(at.as_nanosecond()).unwrap_or(0);
    LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(nanos.max(last + 1)))
        .map_or(nanos, |last| nanos.max(last + 1))
}

/// The values of the keys that were used last.
struct Remembered<V> {
    values: HashMap<u64, (u64, V)>,
    /// Keys by the time of their last use.
    uses: BTreeMap<u64, u64>,
    now: u64,
}

impl<V> Default for Remembered<V> {
    fn default() -> Self {
        Self { values: HashMap::new(), uses: BTreeMap::new(), now: 0 }
    }
}

impl<V> Remembered<V> {
    fn entry(&mut self, key: u64, make: impl FnOnce() -> V) -> &mut V {
        self.now += 1;
        if let Some((used, _)) = self.values.get(&key) {
            self.uses.remove(used);
        } else if self.values.len() >= REMEMBERED
            && let Some((_, oldest)) = self.uses.pop_first()
        {
            self.values.remove(&oldest);
        }
        self.uses.insert(self.now, key);
        let (used, value) = self.values.entry(key).or_insert_with(|| (0, make()));
        *used = self.now;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventType;

    fn said(reason: &str, message: &str, at: i64) -> Said {
        Said {
            object: Reference { name: "web".into(), uid: "u".into(), ..Default::default() },
            kind: EventType::Normal,
            reason: reason.into(),
            message: message.into(),
            annotations: std::collections::BTreeMap::new(),
            at: Timestamp::from_second(at).expect("a valid second"),
        }
    }

    fn observe(correlator: &mut Correlator, said: Said) -> (String, i32, String) {
        let Observation { name, count, message, .. } = correlator.observe(said).expect("it is written");
        (name, count, message)
    }

    #[test]
    fn the_same_again_raises_the_count() {
        let mut correlator = Correlator::default();
        let (name, count, _) = observe(&mut correlator, said("Pulled", "m", 1));
        assert_eq!(count, 1);
        let again = correlator.observe(said("Pulled", "m", 2)).expect("it is written");
        assert_eq!((&again.name, again.count, again.first.as_second()), (&name, 2, 1));
        let (other, count, _) = observe(&mut correlator, said("Created", "m", 2));
        assert!(count == 1 && other != name);
        let mut of_another_container = said("Pulled", "m", 3);
        of_another_container.object.field_path = "spec.containers{b}".into();
        assert_eq!(observe(&mut correlator, of_another_container).1, 1);
    }

    #[test]
    fn ten_messages_of_one_reason_become_one_event() {
        let mut correlator = Correlator::default();
        for n in 1..10 {
            let (_, count, message) = observe(&mut correlator, said("Failed", &format!("try {n}"), n));
            assert_eq!((count, message), (1, format!("try {n}")));
        }
        let (name, count, message) = observe(&mut correlator, said("Failed", "try 10", 10));
        assert_eq!((count, &*message), (1, "(combined from similar events): try 10"));
        let (same, count, message) = observe(&mut correlator, said("Failed", "try 11", 11));
        assert_eq!((same, count, &*message), (name, 2, "(combined from similar events): try 11"));
        // After ten quiet minutes a message is worth an event of its own.
        let (_, count, message) = observe(&mut correlator, said("Failed", "try 12", 11 + SIMILAR_FOR + 1));
        assert_eq!((count, &*message), (1, "try 12"));
    }

    #[test]
    fn an_object_that_is_spoken_of_too_much_is_silenced_and_then_heard_again() {
        let mut correlator = Correlator::default();
        let heard = (0..100).filter(|_| correlator.observe(said("BackOff", "m", 5)).is_some()).count();
        assert_eq!(heard, 25);
        // Other fields of the object are the same object; warnings are counted for themselves.
        let mut of_a_field = said("Pulled", "m", 5);
        of_a_field.object.field_path = "spec.containers{a}".into();
        assert!(correlator.observe(of_a_field).is_none());
        assert!(correlator.observe(Said { kind: EventType::Warning, ..said("Failed", "m", 5) }).is_some());
        assert!(correlator.observe(said("BackOff", "m", 5 + 299)).is_none());
        // Those that were dropped count.
        assert_eq!(observe(&mut correlator, said("BackOff", "m", 5 + 301)).1, 102);
    }

    #[test]
    fn the_memory_is_bounded_and_keeps_what_is_used() {
        let mut memory = Remembered::default();
        for key in 0..10 * REMEMBERED as u64 {
            *memory.entry(key, || 0) += 1;
            *memory.entry(0, || 0) += 1;
        }
        assert_eq!((memory.values.len(), memory.uses.len()), (REMEMBERED, REMEMBERED));
        assert_eq!(*memory.entry(0, || 0), 10 * REMEMBERED + 1);
    }
}
