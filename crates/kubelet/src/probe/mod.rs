//! Probes: is a container started, ready, alive?
//!
//! [`Probes`] runs one task for each probe of each running container of a pod and holds
//! the outcomes. A changed outcome wakes the pod's worker; `plan` kills by them and
//! `status` reports by them. Timing and counting follow upstream's
//! pkg/kubelet/prober/worker.go.

mod exec;
mod grpc;
pub mod http;
pub mod metrics;
mod tcp;

use crate::cri::Runtime;
use crate::plan::Verdicts;
use crate::pod;
use crate::wakers::Wakers;
use ferry_api::view::core::v1::{Container, ContainerView, PodView, ProbeView};
use ferry_api::view::{IntOrString, Owned};
use ferry_client::{EventType, Recorder, Reference};
use jiff::Timestamp;
use metrics::{CountedProbe, ProbeMetrics};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// An erring probe is repeated at once this often before it counts.
const TRIES: usize = 3;
/// Pauses between looks for a listener.
const FIRST_LOOK: Duration = Duration::from_millis(10);
const LAST_LOOK: Duration = Duration::from_millis(250);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Success,
    Failure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProbeKind {
    Startup,
    Readiness,
    Liveness,
}

impl ProbeKind {
    fn name(self) -> &'static str {
        match self {
            Self::Startup => "Startup",
            Self::Readiness => "Readiness",
            Self::Liveness => "Liveness",
        }
    }

    fn of(self, container: ContainerView<'_>) -> Option<ProbeView<'_>> {
        match self {
            Self::Startup => container.startup_probe(),
            Self::Readiness => container.readiness_probe(),
            Self::Liveness => container.liveness_probe(),
        }
    }
}

/// What one try of a probe says.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Success,
    /// A success with something to say about it.
    Warning(String),
    Failure(String),
    /// The probe itself could not be carried out.
    Error(String),
}

pub(crate) type Outcomes = Arc<Mutex<HashMap<(String, ProbeKind), Outcome>>>;

/// All probes of one pod.
pub struct Probes {
    runtime: Arc<dyn Runtime>,
    wakers: Arc<Wakers>,
    recorder: Recorder,
    metrics: Arc<ProbeMetrics>,
    outcomes: Outcomes,
    /// Told whenever an outcome turns.
    changed: Arc<Notify>,
    running: HashMap<(String, ProbeKind), tokio_util::sync::DropGuard>,
}

impl Verdicts for Probes {
    fn liveness(&self, container_id: &str) -> Option<Outcome> {
        self.outcome(container_id, ProbeKind::Liveness)
    }

    fn startup(&self, container_id: &str) -> Option<Outcome> {
        self.outcome(container_id, ProbeKind::Startup)
    }
}

/// A container to be probed, with what its probes need to know.
pub struct Target<'a> {
    pub container: ContainerView<'a>,
    pub id: &'a str,
    pub started_at: Option<Timestamp>,
    pub pod_ip: &'a str,
    pub reference: &'a Reference,
    /// The status already says that it has started or is ready, from before the kubelet
    /// was restarted; it is taken at its word until a probe says otherwise.
    pub was_started: bool,
    pub was_ready: bool,
}

impl Probes {
    pub fn new(runtime: Arc<dyn Runtime>, wakers: Arc<Wakers>, recorder: Recorder, metrics: Arc<ProbeMetrics>) -> Self {
        Self {
            runtime,
            wakers,
            recorder,
            metrics,
            outcomes: Outcomes::default(),
            changed: Arc::default(),
            running: HashMap::new(),
        }
    }

    pub fn outcome(&self, container_id: &str, kind: ProbeKind) -> Option<Outcome> {
        self.outcomes.lock().get(&(container_id.to_string(), kind)).copied()
    }

    /// Starts what is missing and ends what is no longer wanted.
    pub fn reconcile(&mut self, pod: PodView<'_>, targets: &[Target<'_>]) {
        self.running.retain(|(id, _), _| targets.iter().any(|target| target.id == id));
        self.outcomes.lock().retain(|(id, _), _| targets.iter().any(|target| target.id == id));
        for target in targets {
            for kind in [ProbeKind::Startup, ProbeKind::Readiness, ProbeKind::Liveness] {
                if kind.of(target.container).is_none() {
                    continue;
                }
                // A pod on its way out is neither started anew nor killed for its health.
                if pod::is_deleting(pod) && kind != ProbeKind::Readiness {
                    self.running.remove(&(target.id.to_string(), kind));
                    continue;
                }
                let key = (target.id.to_string(), kind);
                if self.running.contains_key(&key) {
                    continue;
                }
                let adopted = match kind {
                    ProbeKind::Startup => target.was_started,
                    ProbeKind::Readiness => target.was_ready,
                    ProbeKind::Liveness => false,
                };
                if adopted {
                    self.outcomes.lock().insert(key.clone(), Outcome::Success);
                }
                let stop = CancellationToken::new();
                let worker = Worker {
                    kind,
                    container: target.container.to_owned(),
                    id: target.id.to_string(),
                    pod_uid: pod::uid(pod).to_string(),
                    pod_name: pod::full_name(pod),
                    pod_ip: target.pod_ip.to_string(),
                    started_at: target.started_at.unwrap_or_else(Timestamp::now),
                    waits_for_startup: target.container.startup_probe().is_some() && kind != ProbeKind::Startup,
                    reference: target.reference.clone(),
                    runtime: self.runtime.clone(),
                    wakers: self.wakers.clone(),
                    recorder: self.recorder.clone(),
                    counted: CountedProbe::new(self.metrics.clone(), pod, target.container.name(), kind),
                    outcomes: self.outcomes.clone(),
                    changed: self.changed.clone(),
                };
                let stopped = stop.clone();
                tokio::spawn(async move {
                    tokio::select! {
                        () = worker.run(adopted) => {}
                        () = stopped.cancelled() => {}
                    }
                });
                self.running.insert(key, stop.drop_guard());
            }
        }
    }

    pub fn stop(&mut self) {
        self.running.clear();
    }
}

struct Worker {
    kind: ProbeKind,
    container: Container,
    id: String,
    pod_uid: String,
    pod_name: String,
    pod_ip: String,
    started_at: Timestamp,
    waits_for_startup: bool,
    reference: Reference,
    runtime: Arc<dyn Runtime>,
    wakers: Arc<Wakers>,
    recorder: Recorder,
    counted: CountedProbe,
    outcomes: Outcomes,
    changed: Arc<Notify>,
}

impl Worker {
    async fn run(self, adopted: bool) {
        if adopted && self.kind == ProbeKind::Startup {
            return;
        }
        let timing = Timing::of(self.probe());
        let period = timing.period;
        let since_start = Timestamp::now().duration_since(self.started_at).unsigned_abs();
        tokio::time::sleep(timing.initial_delay.saturating_sub(since_start)).await;
        self.wait_for_startup().await;
        if self.kind != ProbeKind::Liveness {
            self.wait_for_listener(period).await;
        }
        let mut counter = Counter::new(timing.failure_threshold, timing.success_threshold);
        let mut ticks = tokio::time::interval(period);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let Some(result) = self.probe_once().await else { continue };
            let Some(outcome) = counter.count(result) else { continue };
            self.publish(outcome);
            // A dead or just started container has nothing more to tell until it is another one.
            if self.kind == ProbeKind::Startup || (self.kind == ProbeKind::Liveness && outcome == Outcome::Failure) {
                return;
            }
        }
    }

    /// The probe in the container's spec. A worker runs only for a container that has it, so
    /// the default is never read.
    fn probe(&self) -> ProbeView<'_> {
        self.kind.of(self.container.view()).unwrap_or_default()
    }

    /// Nothing else is asked of a container before it has started.
    async fn wait_for_startup(&self) {
        if !self.waits_for_startup {
            return;
        }
        loop {
            let changed = self.changed.notified();
            if self.has_started() {
                return;
            }
            changed.await;
        }
    }

    /// The first probe may come at any moment of the first period. The best one is when
    /// something listens: earlier fails for nothing, later makes the pod wait.
    async fn wait_for_listener(&self, limit: Duration) {
        let named = |port: Option<IntOrString<'_>>| resolve_port(port, self.container.view()).ok();
        let probe = self.probe();
        let (host, port) = if let Some(action) = probe.http_get() {
            (action.host(), named(action.port()))
        } else if let Some(action) = probe.tcp_socket() {
            (action.host(), named(action.port()))
        } else if let Some(action) = probe.grpc() {
            ("", u16::try_from(action.port()).ok())
        } else {
            return;
        };
        let Some(port) = port else { return };
        let host = host_or(host, &self.pod_ip);
        let listening = async {
            let mut pause = FIRST_LOOK;
            while tokio::net::TcpStream::connect((host, port)).await.is_err() {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LAST_LOOK);
            }
        };
        let _ = tokio::time::timeout(limit, listening).await;
    }

    fn has_started(&self) -> bool {
        self.outcomes.lock().get(&(self.id.clone(), ProbeKind::Startup)) == Some(&Outcome::Success)
    }

    fn publish(&self, outcome: Outcome) {
        let before = self.outcomes.lock().insert((self.id.clone(), self.kind), outcome);
        if before != Some(outcome) {
            self.changed.notify_waiters();
            self.wakers.wake(&self.pod_uid);
        }
    }

    /// `None` where the probe could not be carried out: upstream counts that as neither.
    async fn probe_once(&self) -> Option<Outcome> {
        let began = std::time::Instant::now();
        let mut answer = Answer::Error(String::new());
        for _ in 0..TRIES {
            answer = self.ask().await;
            if !matches!(answer, Answer::Error(_)) {
                break;
            }
        }
        self.counted.count(&answer, began.elapsed());
        let name = self.kind.name();
        let say = |kind, reason: &str, message: String| self.recorder.event(&self.reference, kind, reason, message);
        match answer {
            Answer::Success => Some(Outcome::Success),
            Answer::Warning(text) => {
                say(EventType::Warning, "ProbeWarning", format!("{name} probe warning: {text}"));
                Some(Outcome::Success)
            }
            Answer::Failure(text) => {
                say(EventType::Warning, "Unhealthy", format!("{name} probe failed: {text}"));
                Some(Outcome::Failure)
            }
            Answer::Error(text) => {
                let message = format!("{name} probe errored and resulted in unknown state: {text}");
                say(EventType::Warning, "Unhealthy", message);
                None
            }
        }
    }

    async fn ask(&self) -> Answer {
        let (probe, container) = (self.probe(), self.container.view());
        let timeout = Timing::of(probe).timeout;
        if let Some(action) = probe.exec() {
            let command = exec::command(action, container);
            return exec::probe(&*self.runtime, &self.id, command, timeout).await;
        }
        if let Some(action) = probe.http_get() {
            let url = match http::target(action, container, &self.pod_ip) {
                Ok(url) => url,
                Err(why) => return Answer::Error(why),
            };
            return http::probe(&url, action.http_headers(), timeout).await;
        }
        if let Some(action) = probe.tcp_socket() {
            let port = match resolve_port(action.port(), container) {
                Ok(port) => port,
                Err(why) => return Answer::Error(why),
            };
            return tcp::probe(host_or(action.host(), &self.pod_ip), port, timeout).await;
        }
        if let Some(action) = probe.grpc() {
            let Ok(port) = u16::try_from(action.port()) else {
                return Answer::Error(format!("invalid port number: {}", action.port()));
            };
            return grpc::probe(&self.pod_ip, port, action.service().unwrap_or_default(), timeout).await;
        }
        Answer::Error(format!("missing probe handler for {}:{}", self.pod_name, container.name()))
    }
}

/// The host that an action names, or else the pod's address.
fn host_or<'a>(host: &'a str, pod_ip: &'a str) -> &'a str {
    if host.is_empty() { pod_ip } else { host }
}

/// A port by number or by the name it has in the container; an absent one is 0.
pub fn resolve_port(port: Option<IntOrString<'_>>, container: ContainerView<'_>) -> Result<u16, String> {
    let number = match port.unwrap_or(IntOrString::Int(0)) {
        IntOrString::Int(number) => number,
        IntOrString::String(name) => match container.ports().iter().find(|port| port.name() == name) {
            Some(port) => port.container_port(),
            None => name.parse().map_err(|_| format!("strconv.Atoi: parsing {name:?}: invalid syntax"))?,
        },
    };
    u16::try_from(number).ok().filter(|n| *n > 0).ok_or_else(|| format!("invalid port number: {number}"))
}

/// The numbers of a probe, with the API server's defaults for those that are not stated
/// (upstream: pkg/apis/core/v1/defaults.go SetDefaults_Probe).
struct Timing {
    initial_delay: Duration,
    period: Duration,
    timeout: Duration,
    failure_threshold: i32,
    success_threshold: i32,
}

impl Timing {
    fn of(probe: ProbeView<'_>) -> Self {
        let stated = |value: i32, default: i32| if value == 0 { default } else { value };
        let seconds = |value: i32| Duration::from_secs(u64::try_from(value).unwrap_or(0));
        Self {
            initial_delay: seconds(probe.initial_delay_seconds()),
            period: seconds(stated(probe.period_seconds(), 10).max(1)),
            timeout: seconds(stated(probe.timeout_seconds(), 1).max(1)),
            failure_threshold: stated(probe.failure_threshold(), 3),
            success_threshold: stated(probe.success_threshold(), 1),
        }
    }
}

/// Turns single results into outcomes: as many in a row as the threshold says.
struct Counter {
    failures: i32,
    successes: i32,
    last: Option<Outcome>,
    run: i32,
}

impl Counter {
    fn new(failures: i32, successes: i32) -> Self {
        Self { failures: failures.max(1), successes: successes.max(1), last: None, run: 0 }
    }

    fn count(&mut self, result: Outcome) -> Option<Outcome> {
        if self.last == Some(result) {
            self.run = self.run.saturating_add(1);
        } else {
            self.last = Some(result);
            self.run = 1;
        }
        let needed = match result {
            Outcome::Success => self.successes,
            Outcome::Failure => self.failures,
        };
        (self.run >= needed).then_some(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_need_as_many_results_in_a_row_as_their_threshold() {
        let mut counter = Counter::new(3, 2);
        let mut count = |result| counter.count(result);
        assert_eq!(count(Outcome::Failure), None);
        assert_eq!(count(Outcome::Failure), None);
        assert_eq!(count(Outcome::Success), None);
        assert_eq!(count(Outcome::Success), Some(Outcome::Success));
        assert_eq!(count(Outcome::Failure), None);
        assert_eq!(count(Outcome::Failure), None);
        assert_eq!(count(Outcome::Failure), Some(Outcome::Failure));
        assert_eq!(count(Outcome::Failure), Some(Outcome::Failure));
    }

    #[test]
    fn ports_by_number_and_by_name() {
        let value = serde_json::json!({ "name": "a", "ports": [{ "name": "http", "containerPort": 8080 }] });
        let resolve = |port| resolve_port(Some(port), ContainerView::from(&value));
        assert_eq!(resolve(IntOrString::Int(80)), Ok(80));
        assert_eq!(resolve(IntOrString::String("http")), Ok(8080));
        assert!(resolve(IntOrString::String("none")).is_err());
        assert!(resolve(IntOrString::Int(0)).is_err());
        assert!(resolve_port(None, ContainerView::from(&value)).is_err());
    }
}
