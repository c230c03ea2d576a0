//! A controller, and how it is fed: watches over informers put keys into its queue. The queue,
//! the workers, the back-off and the metrics are those of the crate `runner`, which the API
//! server's own loops use too. Called by `run` in lib.rs with the list of all.rs.
//!
//! **Invariant:** a controller never owns a queue, a worker or a timer. It declares what
//! it watches and narrows the gap for one key.

use crate::error::{Error, Result};
use async_trait::async_trait;
use ferry_api::view::Kind;
use ferry_client::{Client, Event, Informer, Informers, Recorder};
use ferry_runner::{Metrics, Queue, Reconciler, spawn_workers};
use futures_util::future::{BoxFuture, FutureExt, join_all};
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// One object to reconcile. Cluster-scoped objects have an empty namespace.
pub use ferry_runner::Key;

pub use ferry_runner::Action;

/// The queue, as watches see it.
pub type Enqueue = Queue<Key>;

/// A reconciler. One value lives as long as the process.
#[async_trait]
pub trait Controller: Send + Sync + 'static {
    /// Upstream's name; it is also the component that events come from.
    fn name(&self) -> &'static str;

    /// The service account of kube-system whose rights the controller uses.
    fn identity(&self) -> &'static str {
        self.name()
    }

    /// How many keys may be reconciled at once; never the same key twice.
    fn workers(&self) -> usize {
        4
    }

    /// The longest pause between two attempts at a key that fails; the pauses double up to it.
    fn longest_pause(&self) -> Duration {
        Queue::<Key>::LONGEST_PAUSE
    }

    /// Called once before the first reconcile: which objects matter, and which keys an
    /// event about one of them wakes. The functions run in order of events and must not
    /// block.
    fn watches(&self, informers: &Informers) -> Vec<Watch>;

    /// Reads the present state and narrows the gap. It is retried with back-off when it
    /// fails and may be called at any time for any key, whether or not the object exists.
    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action>;
}

/// What a reconcile works with.
#[derive(Clone)]
pub struct Context {
    pub client: Client,
    pub informers: Informers,
    pub recorder: Recorder,
    pub clock: Clock,
}

impl Context {
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// The wall clock, or one that a test turns.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    pub fn system() -> Self {
        // Kubernetes' times have whole seconds on the wire. Cutting here keeps what we
        // compare equal to what we will read back.
        Self::from_fn(|| {
            let now = Timestamp::now();
            Timestamp::from_second(now.as_second()).unwrap_or(now)
        })
    }

    pub fn from_fn(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

/// A source of keys: an informer with a function over its events, or a task of its own.
pub struct Watch(Box<dyn FnOnce(Start) -> BoxFuture<'static, ()> + Send>);

/// What a watch is started with. `ready` must be called once, when all that was known at
/// the start has been seen; no worker runs before every watch has said so.
pub struct Start {
    pub enqueue: Enqueue,
    pub context: Context,
    pub ready: tokio::sync::oneshot::Sender<()>,
}

impl Watch {
    /// The function is called for each event, in order.
    pub fn new<K: Kind>(informer: Informer<K>, map: impl Fn(&Event<K>, &Enqueue) + Send + 'static) -> Self {
        Self::task(move |start| async move {
            // The subscription begins after the first list, so that everything known by
            // then is already in the channel and can be worked off before a worker runs.
            informer.synced().await;
            let mut events = informer.subscribe();
            while let Ok(event) = events.try_recv() {
                map(&event, &start.enqueue);
            }
            // A runner that has gone away no longer needs to know.
            let _ = start.ready.send(());
            while let Some(event) = events.recv().await {
                map(&event, &start.enqueue);
            }
        })
    }

    /// Every event about an object wakes the object itself.
    pub fn itself<K: Kind>(informer: Informer<K>) -> Self {
        Self::new(informer, |event, enqueue| enqueue.add_object(event.object().meta()))
    }

    /// The objects are needed in the cache, their events are not.
    pub fn cached<K: Kind>(informer: Informer<K>) -> Self {
        Self::task(move |start| async move {
            informer.synced().await;
            let _ = start.ready.send(());
        })
    }

    pub fn task<F>(run: impl FnOnce(Start) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self(Box::new(move |start| run(start).boxed()))
    }
}

/// Runs one controller until `shutdown`. A watch or a worker that panics is an error: the
/// controller would be deaf from then on.
pub async fn run_controller(
    controller: Arc<dyn Controller>,
    context: Context,
    metrics: Metrics,
    shutdown: CancellationToken,
) -> Result<()> {
    let name = controller.name();
    let queue = Queue::new(name, &metrics);
    let mut tasks = JoinSet::new();
    let mut ready = Vec::new();
    for Watch(start) in controller.watches(&context.informers) {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        ready.push(receiver);
        tasks.spawn(start(Start { enqueue: queue.clone(), context: context.clone(), ready: sender }));
    }
    tokio::select! {
        _ = shutdown.cancelled() => return Ok(()),
        _ = join_all(ready) => {}
    }
    tracing::debug!(controller = name, "caches are filled");
    spawn_workers(&Arc::new(InContext { controller, context }), &queue, &mut tasks);
    // A watch that only fills a cache ends by itself.
    let lost = loop {
        tokio::select! {
            () = shutdown.cancelled() => break None,
            Some(ended) = tasks.join_next() => if let Err(panic) = ended {
                break Some(panic.to_string());
            },
        }
    };
    // Dropping the set ends watches and workers; a write in flight is either durable or
    // was never made, and the next start reads the state anew.
    tasks.shutdown().await;
    match lost {
        Some(why) => Err(Error::Lost { controller: name, why }),
        None => Ok(()),
    }
}

/// A controller with the context that its reconciles work in.
struct InContext {
    controller: Arc<dyn Controller>,
    context: Context,
}

impl Reconciler for InContext {
    type Error = Error;

    fn name(&self) -> &'static str {
        self.controller.name()
    }

    fn workers(&self) -> usize {
        self.controller.workers()
    }

    fn longest_pause(&self) -> Duration {
        self.controller.longest_pause()
    }

    fn is_final(&self, error: &Error) -> bool {
        error.is_namespace_terminating()
    }

    async fn reconcile(&self, key: &Key) -> Result<Action> {
        self.controller.reconcile(&self.context, key).await
    }
}
