//! The server's own controllers (pkg/controlplane/controller upstream): what every cluster has
//! from its first second, and what keeps it true. They read the server's memory and write
//! through its registry, or through the whole chain where a role bounds them (`loopback.rs`).
//! Queue, workers, back-off and metrics are those of the crate `runner`, as for every other
//! controller of ferry.
//!
//! ```text
//! bootstrap.rs             namespaces, roles, the Service default/kubernetes    before the first request
//! kept_objects.rs          makes them again when somebody deletes them
//! dangling_flow_schema.rs  the condition Dangling of FlowSchemas
//! legacy_token_use.rs      the day of a token's last use, on its Secret
//! compaction.rs            how much history the store keeps
//! event_ttl.rs             the end of Events
//! loopback.rs              requests of a controller through the chain
//! ```
//!
//! The others stand beside what they look after: `crd/`, `aggregation/`, `services/`,
//! `admission/policy/status.rs`.

pub(crate) mod bootstrap;
pub(crate) mod compaction;
pub(crate) mod dangling_flow_schema;
pub(crate) mod event_ttl;
pub(crate) mod kept_objects;
pub(crate) mod legacy_token_use;
pub(crate) mod loopback;

use crate::ServerState;
use crate::registry::lookup::Change;
use ferry_api::status::Status;
pub(crate) use ferry_runner::{Action, Key};
use ferry_runner::{Metrics, Queue, Reconciler, spawn_workers};
use futures_util::stream::{self, StreamExt};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::task::JoinSet;

/// The longest pause between two attempts of the server's own controllers. Their failures are
/// those of the store or of an aggregated server, which both come back by themselves; upstream
/// has the same for the latter.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How many keys of the first pass are reconciled at a time; their writes share commits.
const AT_ONCE: usize = 64;

/// The queue that a controller of the server is fed by.
pub(crate) type WorkQueue = Queue<Key>;

/// A controller inside the server. It works on the server as long as that lives.
pub(crate) trait ServerController: Send + Sync + 'static {
    /// Upstream's name of the queue, where it has one.
    const NAME: &'static str;
    /// How many keys may be reconciled at once.
    const WORKERS: usize = 1;

    /// Reads the present state and narrows the gap; called again with back-off after a failure.
    fn reconcile(&self, server: &Arc<ServerState>, key: &Key) -> impl Future<Output = Result<Action, Status>> + Send;
}

/// The running controllers. They end with the server: dropping this aborts them.
pub(crate) struct Controllers {
    metrics: Metrics,
    queues: Mutex<Vec<WorkQueue>>,
    tasks: Mutex<JoinSet<()>>,
}

impl Controllers {
    pub(crate) fn new(metrics: Metrics) -> Self {
        Self { metrics, queues: Mutex::default(), tasks: Mutex::default() }
    }

    /// The queue of a controller that is about to run.
    pub(crate) fn queue_of<C: ServerController>(&self) -> WorkQueue {
        let queue = Queue::new(C::NAME, &self.metrics);
        self.queues.lock().push(queue.clone());
        queue
    }

    /// A source of keys that is no observer of objects.
    pub(crate) fn spawn(&self, source: impl Future<Output = ()> + Send + 'static) {
        self.tasks.lock().spawn(source);
    }

    /// Lets each worker finish the key that it has in hand.
    pub(crate) fn close(&self) {
        self.queues.lock().iter().for_each(Queue::close);
    }
}

impl ServerState {
    /// Runs a controller from now on.
    pub(crate) fn run_controller<C: ServerController>(self: &Arc<Self>, controller: Arc<C>, queue: &WorkQueue) {
        let reconciler = Arc::new(InServer { server: Arc::downgrade(self), controller });
        spawn_workers(&reconciler, queue, &mut self.controllers.tasks.lock());
    }

    /// Reconciles these keys before the server goes on with its start. Those that fail come
    /// again by the rules of the queue.
    pub(crate) async fn reconcile_first<C: ServerController>(
        self: &Arc<Self>,
        controller: &Arc<C>,
        queue: &WorkQueue,
        keys: impl IntoIterator<Item = Key>,
    ) {
        let attempts: Vec<_> = keys
            .into_iter()
            .map(|key| {
                let (server, controller) = (self.clone(), controller.clone());
                async move {
                    let outcome = controller.reconcile(&server, &key).await;
                    (key, outcome)
                }
            })
            .collect();
        let outcomes: Vec<_> = stream::iter(attempts).buffer_unordered(AT_ONCE).collect().await;
        for (key, outcome) in outcomes {
            match outcome {
                Ok(Action::Done) => {}
                Ok(Action::RequeueAfter(delay)) => queue.add_after(key, delay),
                Err(error) => {
                    tracing::warn!(controller = C::NAME, %key, %error, "reconcile failed and will be tried again");
                    queue.add_rate_limited(key, LONGEST_PAUSE);
                }
            }
        }
    }

    /// Every change of an object of this kind wakes the object's own key.
    pub(crate) fn enqueue_changes(&self, group: &str, plural: &str, queue: &WorkQueue) {
        let queue = queue.clone();
        let observer = move |change: &Change| queue.add(key_of(change));
        self.lookup.subscribe(group, plural, Box::new(observer));
    }
}

/// The key of the object that a change is about.
pub(crate) fn key_of(change: &Change) -> Key {
    let (Change::Put(stored) | Change::Delete(stored)) = change;
    Key::new(stored.namespace(), stored.name())
}

/// A controller with the server that it works on, which it does not keep alive.
struct InServer<C> {
    server: Weak<ServerState>,
    controller: Arc<C>,
}

impl<C: ServerController> Reconciler for InServer<C> {
    type Error = Status;

    fn name(&self) -> &'static str {
        C::NAME
    }

    fn workers(&self) -> usize {
        C::WORKERS
    }

    fn longest_pause(&self) -> Duration {
        LONGEST_PAUSE
    }

    fn is_final(&self, _: &Status) -> bool {
        false
    }

    async fn reconcile(&self, key: &Key) -> Result<Action, Status> {
        match self.server.upgrade() {
            Some(server) => self.controller.reconcile(&server, key).await,
            None => Ok(Action::Done),
        }
    }
}
