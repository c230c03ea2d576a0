//! The end of a pod: stopping it, reporting its end, and leaving nothing behind.

use super::{Next, PodWorker, Stage};
use crate::admit::Rejection;
use crate::cgroup;
use crate::container::sandbox;
use crate::kill;
use crate::observed::{PodRuntime, State};
use crate::plan::KillReason;
use crate::pod;
use crate::pod_end::PodEnd;
use crate::status;
use crate::volume::tree;
use ferry_api::view::core::v1::{
    ContainerState, ContainerStateTerminated, ContainerStateTerminatedView, ContainerStatus, ContainerStatusView, Pod,
    PodStatus,
};
use ferry_api::view::{List, Owned};
use ferry_client::{DeleteParams, EventType};
use jiff::Timestamp;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

impl PodWorker {
    /// An end that the node decides becomes the verdict on a pod that has not ended yet.
    pub(super) fn take_end(&mut self, end: Option<Arc<PodEnd>>) {
        let Some(end) = end.filter(|_| !self.has_end) else { return };
        self.has_end = true;
        if pod::is_terminal_phase(pod::phase(self.pod.view())) || self.is_finished() {
            return end.finish();
        }
        self.verdict = Some(Rejection { reason: end.reason.clone(), message: end.message.clone() });
        self.end = Some(end);
    }

    /// The verdict on a pod of which nothing runs any more. It is not reported before: others would
    /// take the pod's place (upstream: mergePodStatus of pkg/kubelet/status/status_manager.go).
    pub(super) fn conclude(&self, status: &mut PodStatus) {
        if let Some(verdict) = &self.verdict {
            status.set_phase("Failed");
            status.set_reason(&verdict.reason);
            status.set_message(&verdict.message);
        }
        if let Some(end) = self.end.as_ref().filter(|end| end.is_disruption) {
            let (old, generation) = (self.known_status(), self.pod.meta().generation());
            status::conditions::set_disruption_target(status, old, generation, &end.message, Timestamp::now());
        }
        finish(status);
    }

    /// A pod that is to end, or has.
    pub(super) async fn terminate(&mut self, observed: PodRuntime) -> Next {
        let context = self.context.clone();
        let pod = self.pod.clone();
        self.failures.clear();
        self.reconcile_probes(&observed);
        let alive = observed.running().next().is_some() || observed.sandboxes.iter().any(|s| s.ready);
        if alive {
            // The deletion is visible from the first moment, not only when it is over.
            self.write_status(&observed, false).await;
            let force = self.gone && self.grace().is_none();
            let grace = match &self.end {
                Some(end) => Some(self.grace().map_or(end.grace_seconds, |own| own.min(end.grace_seconds))),
                None => force.then_some(kill::grace_period(pod.view(), None, KillReason::PodKilled)),
            };
            if let Err(error) = kill::kill_pod(&context, pod.view(), &observed, grace).await {
                tracing::warn!(pod = %pod::full_name(pod.view()), %error, "cannot kill the pod");
                let message = format!("error killing pod: {error}");
                context.recorder.event(&pod, EventType::Warning, "FailedKillPod", message);
                return self.back_off("kill");
            }
        }
        self.probes.stop();
        let observed = match self.observe().await {
            Ok(observed) => observed,
            Err(_) => return self.back_off("runtime"),
        };
        if !self.write_status(&observed, true).await {
            return self.back_off("status");
        }
        self.release().await;
        if self.gone || pod.is_deleting() {
            return self.remove(observed).await;
        }
        self.stage = Stage::Finished;
        if self.end.as_ref().is_some_and(|end| end.frees_disk) {
            if let Err(error) = self.remove_remains(&observed).await {
                tracing::warn!(pod = %pod::full_name(pod.view()), %error, "cannot remove the remains of an evicted pod");
                return self.back_off("remove");
            }
        } else {
            self.collect_garbage(&observed).await;
        }
        let parents = sandbox::cgroup_parents(&self.uid, &context.machine().cgroup_root);
        let _ = tokio::task::spawn_blocking(move || parents.iter().for_each(|parent| cgroup::remove(parent))).await;
        if let Err(error) = context.volumes.unmount(&self.uid).await {
            tracing::warn!(pod = %pod::full_name(pod.view()), %error, "cannot unmount the volumes of a finished pod");
            return self.back_off("unmount");
        }
        if let Some(end) = &self.end {
            end.finish();
        }
        Next::Wait(None)
    }

    /// Removes everything that an evicted pod still takes room with, as upstream does: its containers
    /// with their logs, and its volumes. The status keeps how the containers ended.
    async fn remove_remains(&self, observed: &PodRuntime) -> std::io::Result<()> {
        let context = &self.context;
        let files = context.container_files();
        for record in &observed.containers {
            context.runtime.remove_container(&record.id).await.map_err(std::io::Error::other)?;
            let _ = files.remove_logs(Path::new(&record.log_path));
        }
        for sandbox in &observed.sandboxes {
            context.runtime.remove_pod_sandbox(&sandbox.id).await.map_err(std::io::Error::other)?;
        }
        context.volumes.tear_down(&self.uid).await
    }

    /// Leaves nothing of the pod on this machine and tells the API so.
    async fn remove(&mut self, observed: PodRuntime) -> Next {
        let context = self.context.clone();
        let pod = self.pod.clone();
        for record in &observed.containers {
            if let Err(error) = context.runtime.remove_container(&record.id).await {
                tracing::warn!(container = %record.id, %error, "cannot remove container");
                return self.back_off("remove");
            }
        }
        for sandbox in &observed.sandboxes {
            if let Err(error) = context.runtime.remove_pod_sandbox(&sandbox.id).await {
                tracing::warn!(sandbox = %sandbox.id, %error, "cannot remove sandbox");
                return self.back_off("remove");
            }
        }
        let parents = sandbox::cgroup_parents(&self.uid, &context.machine().cgroup_root);
        let logs = sandbox::pod_log_directory(&context.config.log_dir, pod.namespace(), pod.name(), &self.uid);
        let cleaned = tokio::task::spawn_blocking(move || {
            parents.iter().for_each(|parent| cgroup::remove(parent));
            tree::remove_tree(&logs).map_err(std::io::Error::other)
        })
        .await;
        let cleaned = match cleaned {
            Ok(Ok(())) => context.volumes.tear_down(&self.uid).await,
            Ok(failed) => failed,
            Err(error) => Err(std::io::Error::other(error)),
        };
        let subject = format!("pod {} ({})", pod::full_name(pod.view()), self.uid);
        if let Err(error) = cleaned {
            tracing::warn!(pod = %pod::full_name(pod.view()), %error, "cannot remove the pod's files");
            let message = format!("the pod's files cannot be removed: {error}");
            context.client.problems().report("kubelet", &subject, &message);
            return self.back_off("remove");
        }
        context.client.problems().resolve("kubelet", &subject);
        if !self.gone {
            let params =
                DeleteParams { grace_period_seconds: Some(0), uid: Some(self.uid.clone()), ..Default::default() };
            match context.client.api::<Pod>(pod.namespace()).delete(pod.name(), &params).await {
                Ok(()) => {}
                Err(error) if error.is_not_found() || error.is_conflict() => {}
                Err(error) => {
                    tracing::warn!(pod = %pod::full_name(pod.view()), %error, "cannot delete the pod");
                    return self.back_off("delete");
                }
            }
        }
        self.stage = Stage::Removed;
        if let Some(end) = &self.end {
            end.finish();
        }
        if self.gone { Next::End } else { Next::Wait(None) }
    }

    /// Keeps one dead container of each name, for `logs --previous`, and the newest sandbox. One
    /// that was made and never started is dead as soon as there is a newer one: its start failed,
    /// or the answer to its creation was lost.
    pub(super) async fn collect_garbage(&mut self, observed: &PodRuntime) {
        let files = self.context.container_files();
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for record in &observed.containers {
            let is_newest = !seen.contains_key(record.name.as_str());
            let count = seen.entry(&record.name).or_default();
            let is_stillborn = record.state == State::Created && !is_newest;
            if record.state == State::Exited || is_stillborn {
                *count += usize::from(!is_stillborn);
                if (*count > 1 || is_stillborn) && self.context.runtime.remove_container(&record.id).await.is_ok() {
                    let _ = files.remove_logs(Path::new(&record.log_path));
                }
            }
        }
        for sandbox in observed.sandboxes.iter().skip(1).filter(|sandbox| !sandbox.ready) {
            if !observed.containers.iter().any(|record| record.sandbox_id == sandbox.id) {
                let _ = self.context.runtime.remove_pod_sandbox(&sandbox.id).await;
            }
        }
    }
}

/// Nothing will run again: what never ran or was lost is said to have ended, so that the
/// pod's end is the end of all its containers.
fn finish(status: &mut PodStatus) {
    let never_ran = status.view().phase() == "Pending";
    let end_all = |statuses: List<'_, ContainerStatusView<'_>>| -> Vec<ContainerStatus> {
        statuses.iter().map(|status| end(status.to_owned(), never_ran)).collect()
    };
    let regular = end_all(status.view().container_statuses());
    let init = end_all(status.view().init_container_statuses());
    status.set_container_statuses(regular);
    status.set_init_container_statuses(init);
    if never_ran {
        status.set_phase("Failed");
    }
}

fn end(mut status: ContainerStatus, never_ran: bool) -> ContainerStatus {
    status.set_ready(false);
    status.set_started(false);
    if status.view().state().terminated().is_some() {
        return status;
    }
    let last = status.view().last_state().terminated().map(ContainerStateTerminatedView::to_owned);
    let unknown = || {
        ContainerStateTerminated::new()
            .with_reason("ContainerStatusUnknown")
            .with_message("The container could not be located when the pod was terminated")
            .with_exit_code(137)
    };
    if let Some(end) = last.or_else(|| never_ran.then(unknown)) {
        status.set_state(ContainerState::new().with_terminated(end));
    }
    status
}
