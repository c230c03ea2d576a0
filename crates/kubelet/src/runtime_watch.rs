//! Notices what happens to containers, and wakes their pods' workers.
//!
//! The runtime's event stream tells at once. Behind it stands a list of all containers,
//! seldom while the stream is alive and every second where the runtime has none.

use crate::Error;
use crate::context::Context;
use crate::cri::v1;
use ferry_api::rules::backoff::Backoff;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const SELDOM: Duration = Duration::from_secs(60);
const OFTEN: Duration = Duration::from_secs(1);
const FIRST_STEP: Duration = Duration::from_millis(10);
const LAST_STEP: Duration = Duration::from_millis(250);

pub async fn run(context: Arc<Context>, shutdown: CancellationToken) -> Result<(), Error> {
    tokio::select! {
        () = shutdown.cancelled() => Ok(()),
        never = watch(context) => never,
    }
}

async fn watch(context: Arc<Context>) -> Result<(), Error> {
    let mut listed = Listed::default();
    loop {
        follow(&context, &mut listed).await;
        // A runtime that ends the stream at once must not be asked in a circle.
        tokio::time::sleep(OFTEN).await;
    }
}

/// Follows one stream of events to its end. The runtime answers the subscription together with
/// its first event, which may be long in coming, so that the lists do not wait for it.
async fn follow(context: &Arc<Context>, listed: &mut Listed) {
    let runtime = context.runtime.clone();
    let mut subscription = Some(tokio::spawn(async move { runtime.events().await }));
    let mut events = None;
    // A second list soon after the first finds what happened before the subscription was known.
    let mut looks = [Duration::ZERO, OFTEN].into_iter();
    let mut pause = SELDOM;
    let look = tokio::time::sleep(looks.next().unwrap_or_default());
    tokio::pin!(look);
    let mut rounds = 0;
    // Without a stream one is asked for again now and then: the runtime may be back.
    while rounds < 10 {
        tokio::select! {
            subscribed = async {
                match &mut subscription {
                    Some(task) => task.await,
                    None => std::future::pending().await,
                }
            } => {
                subscription = None;
                match subscribed {
                    Ok(Ok(stream)) => events = Some(stream),
                    Ok(Err(error)) => {
                        tracing::debug!(%error, "no events from the runtime; listing instead");
                        pause = OFTEN;
                        look.as_mut().reset(tokio::time::Instant::now());
                    }
                    Err(_) => return,
                }
            }
            event = async {
                match &mut events {
                    Some(events) => mpsc::Receiver::recv(events).await,
                    None => std::future::pending().await,
                }
            } => match event {
                Some(event) if event.exited && context.wakers.has_owner(&event.id) => {
                    let context = context.clone();
                    tokio::spawn(async move {
                        settle(&context, &event.id).await;
                        context.wakers.wake_owner(&event.id);
                    });
                }
                Some(event) => context.wakers.wake_owner(&event.id),
                None => return,
            },
            () = &mut look => {
                rounds += u32::from(pause == OFTEN);
                listed.refresh(context).await;
                look.as_mut().reset(tokio::time::Instant::now() + looks.next().unwrap_or(pause));
            }
        }
    }
}

/// The process is dead, but the runtime takes a moment longer to say so of its
/// container: it may still call it running, or, if it died at its start, not even that.
/// Looking earlier would find it alive, and nobody would look again.
async fn settle(context: &Context, id: &str) {
    let until = tokio::time::Instant::now() + SELDOM;
    let mut backoff = Backoff::new(FIRST_STEP, LAST_STEP);
    while tokio::time::Instant::now() < until {
        let dead = match context.runtime.container_status(id).await {
            Ok(status) => status.state == v1::ContainerState::ContainerExited as i32,
            Err(error) if error.is_not_found() => match context.runtime.pod_sandbox_status(id).await {
                Ok(status) => status.state == v1::PodSandboxState::SandboxNotready as i32,
                Err(error) => error.is_not_found(),
            },
            Err(_) => false,
        };
        if dead {
            return;
        }
        tokio::time::sleep(backoff.next_pause()).await;
    }
}

/// States at the last listing, to find what has changed.
#[derive(Default)]
struct Listed(HashMap<String, i32>);

impl Listed {
    async fn refresh(&mut self, context: &Context) {
        let (Ok(containers), Ok(sandboxes)) =
            (context.runtime.list_containers(None).await, context.runtime.list_pod_sandboxes(None).await)
        else {
            return;
        };
        let containers = containers.into_iter().map(|container| (container.id, container.state));
        let sandboxes = sandboxes.into_iter().map(|sandbox| (sandbox.id, sandbox.state));
        let now: HashMap<String, i32> = containers.chain(sandboxes).collect();
        for (id, state) in &now {
            if self.0.get(id) != Some(state) {
                context.wakers.wake_owner(id);
            }
        }
        for id in self.0.keys().filter(|id| !now.contains_key(*id)) {
            context.wakers.wake_owner(id);
        }
        self.0 = now;
    }
}
