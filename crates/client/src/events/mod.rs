//! Events: what components say about objects, as `kubectl describe` shows it.
//!
//! Recording never waits and never fails the caller: an event goes into a queue of bounded
//! length, and is dropped where the queue is full. correlate.rs decides what becomes of each,
//! and this file sends it. The reference is client-go's tools/record.

mod correlate;

use crate::error::Error;
use crate::object::Reference;
use crate::request::{Client, Patch};
use correlate::{Correlator, Observation};
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{Event, EventSource, ObjectReference};
use ferry_api::view::meta::v1::ObjectMeta;
use futures_util::future::join_all;
use jiff::Timestamp;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;

/// Events that wait to be sent; one more is dropped (upstream's maxQueuedEvents).
const QUEUED: usize = 1000;

/// Events that are sent at the same time, so that their commits share one fsync. Those about
/// one object go one after the other.
const TOGETHER: usize = 32;

/// Attempts to reach the server, and the pause between them (upstream's maxTriesPerEvent and
/// defaultSleepDuration). The first pause is shorter, by chance.
const TRIES: u32 = 12;
const PAUSE: Duration = Duration::from_secs(10);

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
    sender: mpsc::Sender<Said>,
    dropped: Arc<AtomicU64>,
}

/// One call of the recorder.
#[derive(Clone, Debug)]
struct Said {
    object: Reference,
    kind: EventType,
    reason: String,
    message: String,
    annotations: BTreeMap<&'static str, String>,
    at: Timestamp,
}

impl Recorder {
    /// `host` is the node's name for a kubelet, empty for the control plane.
    pub fn new(client: Client, component: &str, host: &str) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUED);
        let source = EventSource::new().with_component(component).with_host(Some(host).filter(|host| !host.is_empty()));
        let dropped = Arc::new(AtomicU64::new(0));
        tokio::spawn(send_queued(Sink { client, source }, receiver, dropped.clone()));
        Self { sender, dropped }
    }

    pub fn event(&self, object: impl Into<Reference>, kind: EventType, reason: &str, message: impl Into<String>) {
        self.annotated_event(object, BTreeMap::new(), kind, reason, message);
    }

    /// An event that carries more than its message, for programs to read.
    pub fn annotated_event(
        &self,
        object: impl Into<Reference>,
        annotations: BTreeMap<&'static str, String>,
        kind: EventType,
        reason: &str,
        message: impl Into<String>,
    ) {
        let said = Said {
            object: object.into(),
            kind,
            reason: reason.to_owned(),
            message: message.into(),
            annotations,
            at: Timestamp::now(),
        };
        // The other end goes away only with the process, so the queue is full.
        if self.sender.try_send(said).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn normal(&self, object: impl Into<Reference>, reason: &str, message: impl Into<String>) {
        self.event(object, EventType::Normal, reason, message);
    }

    pub fn warning(&self, object: impl Into<Reference>, reason: &str, message: impl Into<String>) {
        self.event(object, EventType::Warning, reason, message);
    }
}

async fn send_queued(sink: Sink, mut queue: mpsc::Receiver<Said>, dropped: Arc<AtomicU64>) {
    let mut correlator = Correlator::default();
    let mut batch = Vec::new();
    while queue.recv_many(&mut batch, TOGETHER).await > 0 {
        let mut by_object: HashMap<Reference, Vec<Observation>> = HashMap::new();
        for said in batch.drain(..) {
            let subject =
                Reference { resource_version: String::new(), field_path: String::new(), ..said.object.clone() };
            by_object.entry(subject).or_default().extend(correlator.observe(said));
        }
        join_all(by_object.into_values().map(async |observations| {
            for observation in observations {
                sink.record(&observation).await;
            }
        }))
        .await;
        let missed = dropped.swap(0, Ordering::Relaxed);
        if missed > 0 {
            tracing::warn!(missed, "unable to record events: too many queued events");
        }
    }
}

/// Where the events of one component go.
struct Sink {
    client: Client,
    source: EventSource,
}

impl Sink {
    /// Writes one observation. An answer of the server is final, whatever it is; a server that
    /// cannot be reached is tried again.
    async fn record(&self, observation: &Observation) {
        for attempt in 1..=TRIES {
            let Err(error) = self.write(observation).await else { return };
            let said = &observation.said;
            if error.status().is_some() {
                if !error.is_namespace_terminating() {
                    tracing::warn!(reason = %said.reason, object = %said.object.name, %error, "server rejected event");
                }
                return;
            }
            if attempt == TRIES {
                tracing::warn!(reason = %said.reason, object = %said.object.name, %error, "unable to write event");
                return;
            }
            let by_chance = f64::from(Timestamp::now().subsec_nanosecond()) / 1e9;
            tokio::time::sleep(if attempt == 1 { PAUSE.mul_f64(by_chance) } else { PAUSE }).await;
        }
    }

    async fn write(&self, observation: &Observation) -> Result<(), Error> {
        let Observation { said, name, message, count, .. } = observation;
        let namespace = match said.object.namespace.as_str() {
            "" => "default",
            namespace => namespace,
        };
        let api = self.client.api::<Event>(namespace);
        if *count > 1 {
            let last = ferry_api::codec::time::format_seconds(said.at);
            let patch = Patch::Merge(json!({"count": count, "lastTimestamp": last, "message": message}));
            match api.patch(name, &patch).await {
                // It aged out, and is said anew.
                Err(error) if error.is_not_found() => {}
                other => return other.map(drop),
            }
        }
        api.create(&self.event(observation, namespace)).await.map(drop)
    }

    fn event(&self, observation: &Observation, namespace: &str) -> Event {
        let Observation { said, name, message, count, first } = observation;
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let object = ObjectReference::new()
            .with_api_version(text(&said.object.api_version))
            .with_kind(text(&said.object.kind))
            .with_namespace(text(&said.object.namespace))
            .with_name(text(&said.object.name))
            .with_uid(text(&said.object.uid))
            .with_resource_version(text(&said.object.resource_version))
            .with_field_path(text(&said.object.field_path));
        let source = self.source.view();
        let mut metadata = ObjectMeta::new().with_name(name.as_str()).with_namespace(namespace);
        if !said.annotations.is_empty() {
            metadata.set_annotations(said.annotations.iter().map(|(key, value)| (*key, value)));
        }
        Event::new()
            .with_metadata(metadata)
            .with_involved_object(object)
            .with_reason(said.reason.as_str())
            .with_message(message.as_str())
            .with_source(source)
            .with_first_timestamp(*first)
            .with_last_timestamp(said.at)
            .with_count(*count)
            .with_type(said.kind.as_str())
            .with_reporting_component(source.component())
            .with_reporting_instance(text(source.host()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{Body, BoxError, Transport, full_body, read_body};
    use async_trait::async_trait;
    use parking_lot::Mutex;
    use serde_json::Value;
    use tokio::sync::Semaphore;

    /// A server that answers as many requests as it has leave for.
    struct Slow {
        leave: Semaphore,
        asked: Mutex<Vec<(String, Value)>>,
    }

    #[async_trait]
    impl Transport for Slow {
        async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
            self.leave.acquire().await?.forget();
            let (parts, body) = request.into_parts();
            let body: Value = serde_json::from_slice(&read_body(body).await?)?;
            self.asked.lock().push((parts.method.to_string(), body));
            Ok(http::Response::new(full_body("{}")))
        }
    }

    fn slow_server() -> (Arc<Slow>, Recorder) {
        let server = Arc::new(Slow { leave: Semaphore::new(0), asked: Mutex::default() });
        (server.clone(), Recorder::new(Client::new(server, "test"), "test", ""))
    }

    fn pod(name: &str) -> Reference {
        Reference { kind: "Pod".into(), namespace: "ns".into(), name: name.into(), ..Default::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_drops_events_and_a_component_never_waits() {
        let (server, recorder) = slow_server();
        for n in 0..2 * QUEUED {
            recorder.normal(pod(&n.to_string()), "Pulled", "m");
        }
        let dropped = recorder.dropped.load(Ordering::Relaxed);
        assert_eq!(dropped, QUEUED as u64);
        server.leave.add_permits(Semaphore::MAX_PERMITS);
        // The clock stands while anything is to be done.
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!((server.asked.lock().len(), recorder.dropped.load(Ordering::Relaxed)), (QUEUED, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn events_of_one_object_arrive_in_order_and_repeats_raise_the_count() {
        let (server, recorder) = slow_server();
        server.leave.add_permits(Semaphore::MAX_PERMITS);
        for reason in ["Pulled", "Created", "Pulled"] {
            recorder.normal(pod("a"), reason, "m");
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        let asked = server.asked.lock();
        let asked: Vec<_> =
            asked.iter().map(|(method, body)| (method.as_str(), &body["reason"], &body["count"])).collect();
        let expected = [
            ("POST", &json!("Pulled"), &json!(1)),
            ("POST", &json!("Created"), &json!(1)),
            ("PATCH", &Value::Null, &json!(2)),
        ];
        assert_eq!(asked, expected);
    }
}
