//! Hands each change of a pod to its worker, and finds pods that the API no longer knows.

use crate::Error;
use crate::context::Context;
use crate::observed::{self, PodIdentity};
use crate::pod;
use crate::pod_end::PodEnd;
use crate::pod_worker::{Desired, PodWorker};
use crate::status::conditions::OWNED;
use crate::volume;
use ferry_api::rules::backoff::Backoff;
use ferry_api::rules::condition;
use ferry_api::view::core::v1::{Pod, PodSpec, PodView};
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_client::{Event, SharedObject};
use futures_util::FutureExt;
use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

const FIRST_RETRY: Duration = Duration::from_millis(100);
const LAST_RETRY: Duration = Duration::from_secs(5);

pub async fn run(context: Arc<Context>, shutdown: CancellationToken) -> Result<(), Error> {
    tokio::select! {
        () = shutdown.cancelled() => return Ok(()),
        () = async {
            context.pods.synced().await;
            context.node.synced().await;
        } => {}
    }
    context.volumes.reconstruct().await;
    restore_allocations(&context).await;
    let mut events = context.pods.subscribe();
    let Some(mut ends) = context.ends.receiver() else { return Ok(()) };
    let mut workers = Workers { context, shutdown: shutdown.clone(), running: HashMap::new(), tasks: JoinSet::new() };
    workers.adopt_orphans().await;
    loop {
        tokio::select! {
            () = shutdown.cancelled() => break,
            event = events.recv() => match event {
                Some(Event::Deleted(pod)) => workers.tell(pod, true),
                Some(Event::Added(pod) | Event::Updated { new: pod, .. }) => workers.tell(pod, false),
                None => break,
            },
            Some((uid, end)) = ends.recv() => workers.end(&uid, end),
            Some(ended) = workers.tasks.join_next() => {
                if let Ok(uid) = ended {
                    workers.ended(&uid);
                }
            }
        }
    }
    // Workers leave at the same signal; their containers stay.
    while workers.tasks.join_next().await.is_some() {}
    Ok(())
}

/// Allocations of all pods are known before any worker decides on a resize.
async fn restore_allocations(context: &Arc<Context>) {
    let mut pods = Vec::new();
    context.pods.for_each(|pod| {
        if !pod::is_terminal_phase(pod::phase(pod.view())) {
            pods.push(pod.clone());
        }
    });
    let allocations = context.allocations.clone();
    let _ = tokio::task::spawn_blocking(move || allocations.restore(pods)).await;
}

struct Workers {
    context: Arc<Context>,
    shutdown: CancellationToken,
    running: HashMap<String, watch::Sender<Desired>>,
    tasks: JoinSet<String>,
}

impl Workers {
    fn tell(&mut self, pod: SharedObject<Pod>, gone: bool) {
        let uid = pod.uid().to_string();
        if uid.is_empty() || pod::is_mirror(pod.view()) {
            return;
        }
        let mut desired = Desired { pod, gone, end: None };
        if let Some(sender) = self.running.get(&uid) {
            sender.send_if_modified(|known| {
                desired.end = known.end.take();
                let matters = concerns_worker(known, &desired);
                *known = desired;
                matters
            });
            return;
        }
        let (sender, receiver) = watch::channel(desired);
        let worker = PodWorker::new(self.context.clone(), receiver);
        let shutdown = self.shutdown.clone();
        self.running.insert(uid.clone(), sender);
        self.tasks.spawn(async move {
            // A defect in one pod's handling must not end the others'.
            if AssertUnwindSafe(worker.run(shutdown)).catch_unwind().await.is_err() {
                tracing::error!(%uid, "the pod's worker failed; it will be started again");
            }
            uid
        });
    }

    /// The node's own decision; a pod without a worker has ended already.
    fn end(&self, uid: &str, end: Arc<PodEnd>) {
        match self.running.get(uid) {
            Some(sender) => sender.send_modify(|known| {
                known.end.get_or_insert(end);
            }),
            None => end.finish(),
        }
    }

    fn ended(&mut self, uid: &str) {
        let Some(sender) = self.running.remove(uid) else { return };
        let last = sender.borrow().clone();
        if let Some(end) = &last.end {
            end.finish();
        }
        let present = self.context.pods.get(last.pod.namespace(), last.pod.name());
        if let Some(pod) = present.filter(|pod| pod.uid() == uid)
            && !last.gone
        {
            self.tell(pod, false);
        }
    }

    /// The pods that the runtime knows of. A runtime that does not answer is asked until it does:
    /// nobody looks for orphans a second time.
    async fn list_pods(&self) -> Vec<PodIdentity> {
        let mut backoff = Backoff::new(FIRST_RETRY, LAST_RETRY);
        loop {
            match observed::list_pods(&*self.context.runtime).await {
                Ok(pods) => return pods,
                Err(error) => tracing::warn!(%error, "cannot list the pods of the runtime"),
            }
            tokio::select! {
                () = self.shutdown.cancelled() => return Vec::new(),
                () = tokio::time::sleep(backoff.next_pause()) => {}
            }
        }
    }

    /// Pods of the runtime, and directories of pods, that the API knows nothing of: they
    /// were deleted while no kubelet was looking.
    async fn adopt_orphans(&mut self) {
        let mut known = HashSet::new();
        self.context.pods.for_each(|pod| known.extend([pod.uid().to_string()]));
        let mut orphans = self.list_pods().await;
        let directories = std::fs::read_dir(volume::pod_directory(&self.context.config.root_dir, ""));
        for entry in directories.into_iter().flatten().flatten() {
            let uid = entry.file_name().to_string_lossy().into_owned();
            if !orphans.iter().any(|orphan| orphan.uid == uid) {
                orphans.push(PodIdentity { uid, ..Default::default() });
            }
        }
        let logs = std::fs::read_dir(&self.context.config.log_dir);
        for entry in logs.into_iter().flatten().flatten() {
            if let Some(identity) = PodIdentity::from_log_directory(&entry.file_name().to_string_lossy())
                && !orphans.iter().any(|orphan| orphan.uid == identity.uid && !orphan.name.is_empty())
            {
                orphans.retain(|orphan| orphan.uid != identity.uid);
                orphans.push(identity);
            }
        }
        for orphan in orphans.into_iter().filter(|orphan| !known.contains(&orphan.uid)) {
            tracing::info!(pod = %orphan.name, namespace = %orphan.namespace, uid = %orphan.uid, "cleaning up after a pod that is gone");
            self.tell(remembered(orphan).into(), true);
        }
    }
}

/// Is there anything new for the worker? The status is its own writing and no reason to
/// look again, but for conditions of others (readiness gates), an end that others have
/// decided on, and a readiness that others took away while this node was silent.
fn concerns_worker(known: &Desired, new: &Desired) -> bool {
    let (before, after) = (known.pod.view(), new.pod.view());
    let is_over = |pod: PodView<'_>| pod::is_terminal_phase(pod::phase(pod));
    known.gone != new.gone
        || before.spec() != after.spec()
        || before.metadata().deletion_timestamp() != after.metadata().deletion_timestamp()
        || before.metadata().deletion_grace_period_seconds() != after.metadata().deletion_grace_period_seconds()
        || before.metadata().labels() != after.metadata().labels()
        || before.metadata().annotations() != after.metadata().annotations()
        || foreign_conditions(before) != foreign_conditions(after)
        || is_over(before) != is_over(after)
        || lost_readiness(before, after)
}

/// The node lifecycle controller takes Ready from the pods of a node that is silent, and the
/// kubelet gives it back once it can (upstream's needsReconcile in pkg/kubelet/status). What
/// the kubelet writes itself differs in ContainersReady too, or by a gate of others.
fn lost_readiness(before: PodView<'_>, after: PodView<'_>) -> bool {
    let is_true = |pod: PodView<'_>, kind: &str| condition::is_true(pod.status().conditions(), kind);
    is_true(before, "Ready") && !is_true(after, "Ready") && is_true(after, "ContainersReady")
}

/// The types and statuses of the conditions that others decide.
fn foreign_conditions(pod: PodView<'_>) -> Vec<(&str, &str)> {
    let conditions = pod.status().conditions().iter().map(|condition| (condition.type_(), condition.status()));
    conditions.filter(|(kind, _)| !OWNED.contains(kind)).collect()
}

/// As much of a pod as the runtime's labels keep.
fn remembered(identity: PodIdentity) -> Pod {
    let PodIdentity { uid, namespace, name } = identity;
    Pod::new()
        .with_metadata(ObjectMeta::new().with_name(name).with_namespace(namespace).with_uid(uid))
        .with_spec(PodSpec::new().with_termination_grace_period_seconds(30))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pod_whose_node_was_silent_becomes_ready_again() {
        let pod = |ready: &str, containers_ready: &str| {
            Pod::from(json!({"status": {"conditions": [
                {"type": "Ready", "status": ready}, {"type": "ContainersReady", "status": containers_ready}]}}))
        };
        let check = |before: &Pod, after: &Pod| lost_readiness(before.view(), after.view());
        let ready = pod("True", "True");
        assert!(check(&ready, &pod("False", "True")), "somebody else has taken it");
        assert!(!check(&ready, &pod("False", "False")), "our own report");
        assert!(!check(&ready, &ready) && !check(&pod("False", "True"), &ready));
    }
}
