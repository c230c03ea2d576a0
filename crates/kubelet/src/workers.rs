//! Hands each change of a pod to its worker, and finds pods that the API no longer knows.

use crate::Error;
use crate::context::Context;
use crate::observed::{self, PodIdentity};
use crate::pod;
use crate::pod_end::PodEnd;
use crate::pod_worker::{Desired, PodWorker};
use crate::static_pods::mirror::static_uid;
use crate::static_pods::{FullName, StaticChange};
use crate::status::conditions::OWNED;
use crate::volume;
use crate::{dra, exclusive_cpus};
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
    let Some(mut static_changes) = context.static_pods.take_changes() else { return Ok(()) };
    let Some(mut ends) = context.ends.receiver() else { return Ok(()) };
    context.volumes.reconstruct().await;
    let mut workers = Workers {
        context: context.clone(),
        shutdown: shutdown.clone(),
        running: HashMap::new(),
        tasks: JoinSet::new(),
        waiting: HashMap::new(),
    };
    // Static pods run before the API answers, and without it.
    let synced = async {
        context.pods.synced().await;
        context.node.synced().await;
    };
    tokio::pin!(synced);
    loop {
        tokio::select! {
            () = shutdown.cancelled() => {
                workers.leave().await;
                return Ok(());
            }
            () = &mut synced => break,
            change = static_changes.recv() => workers.apply_static(change).await,
            Some(ended) = workers.tasks.join_next() => workers.ended(ended.as_deref().ok()),
        }
    }
    // Their containers are no orphans.
    tokio::select! {
        () = shutdown.cancelled() => {
            workers.leave().await;
            return Ok(());
        }
        () = context.static_pods.listed() => {}
    }
    while let Ok(change) = static_changes.try_recv() {
        workers.apply_static(Some(change)).await;
    }
    restore_allocations(&context).await;
    let mut events = context.pods.subscribe();
    workers.adopt_orphans().await;
    release_devices(&context).await;
    loop {
        tokio::select! {
            () = shutdown.cancelled() => break,
            event = events.recv() => match event {
                Some(Event::Deleted(pod)) => workers.tell(pod, true),
                Some(Event::Added(pod)) => {
                    // The static pod behind a new mirror has a status to show.
                    if let Some(uid) = static_uid(pod.view()) {
                        workers.context.wakers.wake(uid);
                    }
                    workers.tell(pod, false);
                }
                Some(Event::Updated { new: pod, .. }) => workers.tell(pod, false),
                None => break,
            },
            Some((uid, end)) = ends.recv() => workers.end(&uid, end),
            change = static_changes.recv() => workers.apply_static(change).await,
            Some(ended) = workers.tasks.join_next() => workers.ended(ended.as_deref().ok()),
        }
    }
    workers.leave().await;
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

/// Devices and CPUs of pods that ended while no kubelet looked.
async fn release_devices(context: &Arc<Context>) {
    let active = context.active_pods();
    context.devices.retain_pods(|uid| active.contains(uid)).await;
    context.cpus.retain_pods(|uid| active.contains(uid)).await;
    exclusive_cpus::follow(context).await;
    dra::release_abandoned(context).await;
}

struct Workers {
    context: Arc<Context>,
    shutdown: CancellationToken,
    running: HashMap<String, watch::Sender<Desired>>,
    tasks: JoinSet<String>,
    /// Static pods that wait for an earlier one of their name to end.
    waiting: HashMap<FullName, SharedObject<Pod>>,
}

impl Workers {
    /// Workers leave at the same signal; their containers stay.
    async fn leave(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    /// Starts a static pod, as soon as nothing of its name runs, or ends it.
    async fn apply_static(&mut self, change: Option<StaticChange>) {
        let Some(StaticChange { pod, gone }) = change else { return std::future::pending().await };
        let name = (pod.namespace().to_owned(), pod.name().to_owned());
        if gone {
            let is_waiting = self.waiting.get(&name).is_some_and(|waiting| waiting.uid() == pod.uid());
            match is_waiting {
                true => {
                    self.waiting.remove(&name);
                    self.context.static_pods.note_ended(&pod);
                }
                false => self.tell(pod, true),
            }
            return;
        }
        // Of an earlier kubelet, whose manifest said something else.
        for orphan in observed::list_pods(&*self.context.runtime).await.unwrap_or_default() {
            let has_name = (&orphan.namespace, &orphan.name) == (&name.0, &name.1);
            if has_name && orphan.uid != pod.uid() && !self.running.contains_key(&orphan.uid) {
                self.tell(remembered(orphan).into(), true);
            }
        }
        if self.has_other(&name, pod.uid()) {
            self.waiting.insert(name, pod);
        } else {
            self.tell(pod, false);
        }
    }

    fn has_other(&self, (namespace, name): &FullName, uid: &str) -> bool {
        self.running.iter().any(|(other, sender)| {
            let known = &sender.borrow().pod;
            other != uid && (known.namespace(), known.name()) == (namespace, name)
        })
    }

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

    fn ended(&mut self, uid: Option<&str>) {
        let Some(sender) = uid.and_then(|uid| self.running.remove(uid)) else { return };
        let last = sender.borrow().clone();
        if let Some(end) = &last.end {
            end.finish();
        }
        let (namespace, name) = (last.pod.namespace(), last.pod.name());
        let present = self.context.pod(namespace, name);
        if let Some(pod) = present.filter(|pod| pod.uid() == last.pod.uid())
            && !last.gone
        {
            self.tell(pod, false);
            return;
        }
        if pod::is_static(last.pod.view()) {
            self.context.static_pods.note_ended(&last.pod);
        }
        let name = (namespace.to_owned(), name.to_owned());
        if let Some(next) = self.waiting.get(&name).cloned()
            && !self.has_other(&name, next.uid())
        {
            self.waiting.remove(&name);
            self.tell(next, false);
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
        known.extend(self.context.static_pods.list().iter().map(|pod| pod.uid().to_owned()));
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
        use ferry_api::view::Owned;
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
