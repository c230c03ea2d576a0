//! Events: what components say about objects, as `kubectl describe` shows it.
//!
//! Saying the same again raises the count of the event that is there; saying too much
//! about one object is dropped (after client-go's correlator: a burst of 25, then one
//! every five minutes). Recording never waits and never fails the caller.

use crate::object::Reference;
use crate::request::{Client, Patch};
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{Event, EventSource, ObjectReference};
use ferry_api::view::meta::v1::ObjectMeta;
use jiff::Timestamp;
use serde_json::json;
use std::collections::{HashMap, VecDeque};
use tokio::sync::mpsc;

const BURST: f64 = 25.0;
const REFILL_PER_SECOND: f64 = 1.0 / 300.0;
/// How many events are remembered to raise their counts.
const REMEMBERED: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    Normal,
    Warning,
}

impl EventType {
    fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

#[derive(Clone)]
pub struct Recorder {
    sender: mpsc::UnboundedSender<Said>,
}

struct Said {
    object: Reference,
    kind: EventType,
    reason: String,
    message: String,
    at: Timestamp,
}

impl Recorder {
    /// `host` is the node's name for a kubelet, empty for the control plane.
    pub fn new(client: Client, component: &str, host: &str) -> Self {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let mut correlator = Correlator::default();
        let source = EventSource::new().with_component(component).with_host(Some(host).filter(|host| !host.is_empty()));
        tokio::spawn(async move {
            while let Some(said) = receiver.recv().await {
                record(&client, &source, &mut correlator, said).await;
            }
        });
        Self { sender }
    }

    pub fn event(&self, object: impl Into<Reference>, kind: EventType, reason: &str, message: impl Into<String>) {
        let said = Said {
            object: object.into(),
            kind,
            reason: reason.to_owned(),
            message: message.into(),
            at: Timestamp::now(),
        };
        // The other end goes away only with the process.
        let _ = self.sender.send(said);
    }

    pub fn normal(&self, object: impl Into<Reference>, reason: &str, message: impl Into<String>) {
        self.event(object, EventType::Normal, reason, message);
    }

    pub fn warning(&self, object: impl Into<Reference>, reason: &str, message: impl Into<String>) {
        self.event(object, EventType::Warning, reason, message);
    }
}

async fn record(client: &Client, source: &EventSource, correlator: &mut Correlator, said: Said) {
    let Some(decision) = correlator.decide(&said) else { return };
    let namespace = match said.object.namespace.as_str() {
        "" => "default".to_owned(),
        namespace => namespace.to_owned(),
    };
    let result = match decision {
        Decision::Again { name, count } => {
            let patch = Patch::Merge(json!({"count": count, "lastTimestamp": rfc3339(said.at)}));
            match client.api::<Event>(&namespace).patch(&name, &patch).await {
                // It aged out; say it anew.
                Err(error) if error.is_not_found() => create(client, source, &namespace, &name, count, &said).await,
                other => other.map(drop),
            }
        }
        Decision::First { name } => create(client, source, &namespace, &name, 1, &said).await,
    };
    if let Err(error) = result
        && !error.is_namespace_terminating()
    {
        tracing::warn!(reason = %said.reason, object = ?said.object.name, %error, "cannot record event");
    }
}

async fn create(
    client: &Client,
    source: &EventSource,
    namespace: &str,
    name: &str,
    count: i32,
    said: &Said,
) -> Result<(), crate::Error> {
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let object = ObjectReference::new()
        .with_api_version(text(&said.object.api_version))
        .with_kind(text(&said.object.kind))
        .with_namespace(text(&said.object.namespace))
        .with_name(text(&said.object.name))
        .with_uid(text(&said.object.uid))
        .with_resource_version(text(&said.object.resource_version))
        .with_field_path(text(&said.object.field_path));
    let event = Event::new()
        .with_metadata(ObjectMeta::new().with_name(name).with_namespace(namespace))
        .with_involved_object(object)
        .with_reason(said.reason.as_str())
        .with_message(said.message.as_str())
        .with_source(source.view())
        .with_first_timestamp(said.at)
        .with_last_timestamp(said.at)
        .with_count(count)
        .with_type(said.kind.as_str())
        .with_reporting_component(source.view().component())
        .with_reporting_instance(text(source.view().host()));
    client.api::<Event>(namespace).create(&event).await.map(drop)
}

fn rfc3339(at: Timestamp) -> String {
    ferry_api::codec::time::format_seconds(at)
}

enum Decision {
    First { name: String },
    Again { name: String, count: i32 },
}

type Sameness = (String, String, String, EventType);

#[derive(Default)]
struct Correlator {
    seen: HashMap<Sameness, (String, i32)>,
    /// The order in which `seen` is forgotten.
    age: VecDeque<Sameness>,
    buckets: HashMap<String, (f64, Timestamp)>,
}

impl Correlator {
    /// `None` where the object has been spoken of too much.
    fn decide(&mut self, said: &Said) -> Option<Decision> {
        let Reference { uid, kind, namespace, name, field_path, .. } = &said.object;
        let subject = match uid.as_str() {
            "" => format!("{kind}/{namespace}/{name}"),
            uid => format!("{uid}/{field_path}"),
        };
        if !self.spend(&subject, said.at) {
            return None;
        }
        let key = (subject, said.reason.clone(), said.message.clone(), said.kind);
        if let Some((name, count)) = self.seen.get_mut(&key) {
            *count += 1;
            return Some(Decision::Again { name: name.clone(), count: *count });
        }
        if self.age.len() >= REMEMBERED
            && let Some(oldest) = self.age.pop_front()
        {
            self.seen.remove(&oldest);
        }
        let subject = if name.is_empty() { "unknown" } else { name };
        let name = format!("{subject}.{:x}", unique_nanos(said.at));
        self.age.push_back(key.clone());
        self.seen.insert(key, (name.clone(), 1));
        Some(Decision::First { name })
    }

    fn spend(&mut self, subject: &str, now: Timestamp) -> bool {
        if self.buckets.len() > REMEMBERED {
            // A full bucket carries no memory worth keeping.
            self.buckets.retain(|_, (tokens, at)| {
                let idle = now.duration_since(*at).as_secs_f64();
                *tokens + idle * REFILL_PER_SECOND < BURST
            });
        }
        let (tokens, at) = self.buckets.entry(subject.to_owned()).or_insert((BURST, now));
        let refilled = (*tokens + now.duration_since(*at).as_secs_f64() * REFILL_PER_SECOND).min(BURST);
        *at = now;
        let heard = refilled >= 1.0;
        *tokens = if heard { refilled - 1.0 } else { refilled };
        heard
    }
}

/// Two events about one object in the same nanosecond must not share a name.
fn unique_nanos(at: Timestamp) -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static LAST: AtomicU64 = AtomicU64::new(0);
    let nanos = u64::try_from(at.as_nanosecond()).unwrap_or(0);
    LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(nanos.max(last + 1)))
        .map_or(nanos, |last| nanos.max(last + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(reason: &str, at: i64) -> Said {
        Said {
            object: Reference { name: "web".into(), uid: "u".into(), ..Default::default() },
            kind: EventType::Normal,
            reason: reason.into(),
            message: "m".into(),
            at: Timestamp::from_second(at).expect("a valid second"),
        }
    }

    #[test]
    fn the_same_again_raises_the_count() {
        let mut correlator = Correlator::default();
        let Some(Decision::First { name }) = correlator.decide(&said("Pulled", 1)) else { panic!("first") };
        let Some(Decision::Again { name: again, count }) = correlator.decide(&said("Pulled", 2)) else {
            panic!("again")
        };
        assert_eq!((again, count), (name, 2));
        assert!(matches!(correlator.decide(&said("Created", 2)), Some(Decision::First { .. })));
    }

    #[test]
    fn a_chatterer_is_silenced_and_then_heard_again() {
        let mut correlator = Correlator::default();
        let heard = (0..100).filter(|_| correlator.decide(&said("BackOff", 5)).is_some()).count();
        assert_eq!(heard, 25);
        assert!(correlator.decide(&said("BackOff", 5 + 299)).is_none());
        assert!(correlator.decide(&said("BackOff", 5 + 301)).is_some());
    }
}
