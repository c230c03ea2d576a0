//! The audit webhook: events gathered into lists and sent to a server outside. Requests
//! never wait for it: an event goes into a buffer, and what does not fit is counted and
//! dropped. The numbers are upstream's defaults (plugin/buffered and webhook).

use super::{Error, Sink};
use crate::transport::BoxError;
use crate::webhook::{self, Hook};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// Sends one EventList; called again with the same list after a failure.
#[async_trait]
pub trait Deliver: Send + Sync + 'static {
    async fn deliver(&self, list: &Value) -> Result<(), BoxError>;
}

#[derive(Clone, Copy, Debug)]
pub struct Batching {
    /// How many events may wait.
    pub buffer: usize,
    /// How many go into one list.
    pub max_size: usize,
    /// How long the first of a list waits for others.
    pub max_wait: Duration,
    /// How many lists a second.
    pub lists_per_second: f64,
    pub first_backoff: Duration,
}

impl Default for Batching {
    fn default() -> Self {
        Self {
            buffer: 10_000,
            max_size: 400,
            max_wait: Duration::from_secs(30),
            lists_per_second: 10.0,
            first_backoff: Duration::from_secs(10),
        }
    }
}

/// How often a list is tried before it is given up.
const ATTEMPTS: u32 = 5;

/// How long one list may take.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(30);

#[async_trait]
impl Deliver for Hook {
    async fn deliver(&self, list: &Value) -> Result<(), BoxError> {
        match self.post(list, DELIVERY_TIMEOUT).await {
            // The list was taken; nothing is expected back, and nothing need be understood.
            Ok(_) | Err(webhook::Error::Garbage(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

pub struct Batch {
    queue: mpsc::Sender<Value>,
    buffer: usize,
}

impl Batch {
    /// Starts the task that sends; it ends when the server is dropped.
    pub fn start(receiver: Arc<dyn Deliver>, batching: Batching) -> Self {
        let (queue, events) = mpsc::channel(batching.buffer);
        tokio::spawn(run(events, receiver, batching));
        Self { queue, buffer: batching.buffer }
    }
}

impl Sink for Batch {
    fn emit(&self, event: &Value) -> Result<(), Error> {
        self.queue.try_send(event.clone()).map_err(|_| Error::Full(self.buffer))
    }
}

async fn run(mut events: mpsc::Receiver<Value>, receiver: Arc<dyn Deliver>, batching: Batching) {
    let pace = Duration::from_secs_f64(1.0 / batching.lists_per_second);
    while let Some(first) = events.recv().await {
        let mut items = vec![first];
        let full_at = Instant::now() + batching.max_wait;
        while items.len() < batching.max_size {
            tokio::select! {
                next = events.recv() => match next {
                    Some(event) => items.push(event),
                    None => break,
                },
                () = sleep_until(full_at) => break,
            }
        }
        let next = Instant::now() + pace;
        let count = items.len();
        let list = json!({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": items});
        if let Err(error) = send(&*receiver, &list, batching.first_backoff).await {
            tracing::error!(count, error, "audit events could not be sent and are lost");
        }
        sleep_until(next).await;
    }
}

async fn send(receiver: &dyn Deliver, list: &Value, first_backoff: Duration) -> Result<(), BoxError> {
    let mut backoff = first_backoff;
    let mut attempt = 1;
    loop {
        match receiver.deliver(list).await {
            Err(error) if attempt < ATTEMPTS => {
                tracing::warn!(attempt, error, "audit events could not be sent; trying again");
                tokio::time::sleep(backoff).await;
                backoff = backoff.mul_f64(1.5);
                attempt += 1;
            }
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;

    /// Takes lists and fails the first few times.
    struct Recording {
        failures: Mutex<u32>,
        lists: mpsc::UnboundedSender<usize>,
    }

    #[async_trait]
    impl Deliver for Recording {
        async fn deliver(&self, list: &Value) -> Result<(), BoxError> {
            let mut failures = self.failures.lock();
            if *failures > 0 {
                *failures -= 1;
                return Err("not now".into());
            }
            let count = list["items"].as_array().map_or(0, Vec::len);
            self.lists.send(count).map_err(Into::into)
        }
    }

    #[tokio::test]
    async fn events_travel_in_lists_and_failures_are_tried_again() {
        let (lists, mut seen) = mpsc::unbounded_channel();
        let receiver = Arc::new(Recording { failures: Mutex::new(2), lists });
        let tick = Duration::from_millis(1);
        let batch = Batch::start(
            receiver,
            Batching { max_size: 3, max_wait: tick, first_backoff: tick, ..Batching::default() },
        );
        for number in 0..4 {
            batch.emit(&json!({"n": number})).expect("room");
        }
        assert_eq!(seen.recv().await, Some(3));
        assert_eq!(seen.recv().await, Some(1));
    }

    #[tokio::test]
    async fn what_does_not_fit_is_refused_at_once() {
        let (lists, _seen) = mpsc::unbounded_channel();
        let receiver = Arc::new(Recording { failures: Mutex::new(0), lists });
        let batch = Batch::start(receiver, Batching { buffer: 1, ..Batching::default() });
        batch.emit(&json!({})).expect("room");
        assert!(matches!(batch.emit(&json!({})), Err(Error::Full(1))));
    }
}
