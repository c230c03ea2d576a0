//! The end of the node: where the settings give pods time for it, the machine's shutdown is held
//! back until they have ended, the least important first.
//!
//! `lib.rs` runs it. A stop of the kubelet alone ends no pod (docs/design/0003). Upstream:
//! pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go.

pub mod logind;

use crate::Error;
use crate::context::Context;
use crate::pod;
use crate::pod_end::PodEnd;
use ferry_api::view::core::v1::Pod;
use ferry_client::{EventType, SharedObject};
use ferry_eviction::settings::PriorityGracePeriod;
use ferry_eviction::shutdown::{TERMINATED, TERMINATED_MESSAGE, grace_period, group_of, plan_groups, total_period};
use futures_util::future::join_all;
use jiff::Timestamp;
use logind::Logind;
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// After a connection was lost, and after each failure, which doubles it up to the last.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(60);
/// Looks at the delay of logind after a change of it; the pause between them doubles.
const DELAY_LOOKS: u32 = 5;
const FIRST_DELAY_LOOK: Duration = Duration::from_millis(100);
/// The times of the last shutdown, which metrics report after it.
const STATE_FILE: &str = "graceful_node_shutdown_state";

pub async fn run(context: Arc<Context>, shutdown: CancellationToken) -> Result<(), Error> {
    let groups = plan_groups(&context.config.settings.shutdown);
    if groups.is_empty() {
        return Ok(());
    }
    let manager = ShutdownManager { state: context.config.root_dir.join(STATE_FILE), context, groups };
    manager.restore_metrics();
    let mut retry = FIRST_RETRY;
    loop {
        let watched = tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            watched = manager.watch() => watched,
        };
        match watched {
            Ok(()) => retry = FIRST_RETRY,
            Err(error) => {
                tracing::warn!(%error, "the node's shutdown cannot be watched, so that pods would end with it at once");
                retry = (retry * 2).min(LAST_RETRY);
            }
        }
        tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            () = tokio::time::sleep(retry) => {}
        }
    }
}

struct ShutdownManager {
    context: Arc<Context>,
    groups: Vec<PriorityGracePeriod>,
    state: PathBuf,
}

impl ShutdownManager {
    /// Holds a lock and follows the announcements until they end.
    async fn watch(&self) -> io::Result<()> {
        let logind = &self.context.config.settings.logind;
        self.ensure_delay(logind).await?;
        let mut lock = Some(logind.hold().await?);
        let mut events = logind.watch().await?;
        while let Some(is_starting) = events.next().await {
            let (context, node) = (&self.context, self.context.node_reference());
            let what = if is_starting { "event" } else { "cancellation" };
            let message = format!("Shutdown manager detected shutdown {what}");
            context.recorder.event(node, EventType::Normal, "NodeShutdown", message);
            // The node's report wakes by it.
            context.shutting_down.send_replace(is_starting);
            if is_starting {
                self.end_pods().await;
                lock = None;
            } else if lock.is_none() {
                lock = Some(logind.hold().await?);
            }
        }
        Ok(())
    }

    /// Makes logind wait as long as all pods may take.
    async fn ensure_delay(&self, logind: &Logind) -> io::Result<()> {
        let wanted = total_period(&self.groups);
        if logind.inhibit_delay().await? >= wanted {
            return Ok(());
        }
        logind.override_inhibit_delay(wanted).await?;
        // It reads its settings some time after it was asked to.
        let mut pause = FIRST_DELAY_LOOK;
        for _ in 0..DELAY_LOOKS {
            tokio::time::sleep(pause).await;
            if logind.inhibit_delay().await? >= wanted {
                return Ok(());
            }
            pause *= 2;
        }
        let why = format!("logind's InhibitDelayMaxSec did not become {wanted:?}");
        Err(io::Error::new(io::ErrorKind::TimedOut, why))
    }

    async fn end_pods(&self) {
        let start = Timestamp::now();
        self.store_state(start, None);
        let mut pods = Vec::new();
        self.context.pods.for_each(|known| {
            if !pod::is_terminal_phase(pod::phase(known.view())) && !pod::is_mirror(known.view()) {
                pods.push(known.clone());
            }
        });
        for (index, group) in self.groups.iter().enumerate() {
            let of_group = pods.iter().filter(|pod| group_of(&self.groups, pod.view()) == index);
            let limit = Duration::from_secs(u64::try_from(group.shutdown_grace_period_seconds).unwrap_or(0));
            let ends: Vec<_> = of_group.map(|pod| self.end_pod(pod, group, limit)).collect();
            let count = ends.len();
            let ended = join_all(ends).await.into_iter().filter(|ended| *ended).count();
            tracing::info!(priority = group.priority, pods = count, ended, "ended pods with the node");
        }
        self.store_state(start, Some(Timestamp::now()));
    }

    async fn end_pod(&self, pod: &SharedObject<Pod>, group: &PriorityGracePeriod, limit: Duration) -> bool {
        let grace = grace_period(group, pod.view());
        let end = PodEnd::new(TERMINATED, TERMINATED_MESSAGE, grace).with_disruption(true);
        self.context.ends.end(pod.uid(), end, limit).await
    }

    fn store_state(&self, start: Timestamp, end: Option<Timestamp>) {
        let seconds = |time: Timestamp| time.as_millisecond() as f64 / 1000.0;
        self.context.eviction_metrics.set_shutdown(seconds(start), end.map_or(0.0, seconds));
        let text = |time: Timestamp| time.to_string();
        let state = json!({ "startTime": text(start), "endTime": end.map(text) });
        if let Err(error) = std::fs::write(&self.state, state.to_string()) {
            tracing::warn!(path = %self.state.display(), %error, "cannot store the state of the shutdown");
        }
    }

    fn restore_metrics(&self) {
        let Ok(text) = std::fs::read_to_string(&self.state) else { return };
        let state: Value = serde_json::from_str(&text).unwrap_or_default();
        let seconds = |field: &str| {
            let time: Option<Timestamp> = state[field].as_str().and_then(|time| time.parse().ok());
            time.map_or(0.0, |time| time.as_millisecond() as f64 / 1000.0)
        };
        self.context.eviction_metrics.set_shutdown(seconds("startTime"), seconds("endTime"));
    }
}
