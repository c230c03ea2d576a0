//! Probes: is a container started, ready, alive?
//!
//! [`Probes`] runs one task for each probe of each running container of a pod and holds
//! the outcomes. A changed outcome wakes the pod's worker; `plan` kills by them and
//! `status` reports by them. Timing and counting follow upstream's
//! pkg/kubelet/prober/worker.go.

mod exec;
mod grpc;
pub mod http;
mod tcp;

use crate::cri::Runtime;
use crate::plan::Verdicts;
use crate::pod;
use crate::registry::Registry;
use ferry_client::{EventType, Recorder};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Container, ObjectReference, Pod, Probe};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
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

    fn of(self, container: &Container) -> Option<&Probe> {
        match self {
            Self::Startup => container.startup_probe.as_ref(),
            Self::Readiness => container.readiness_probe.as_ref(),
            Self::Liveness => container.liveness_probe.as_ref(),
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
    registry: Arc<Registry>,
    recorder: Recorder,
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
    pub container: &'a Container,
    pub id: &'a str,
    pub started_at: Option<Timestamp>,
    pub pod_ip: &'a str,
    pub reference: &'a ObjectReference,
    /// The status already says that it has started or is ready, from before the kubelet
    /// was restarted; it is taken at its word until a probe says otherwise.
    pub was_started: bool,
    pub was_ready: bool,
}

impl Probes {
    pub fn new(runtime: Arc<dyn Runtime>, registry: Arc<Registry>, recorder: Recorder) -> Self {
        Self {
            runtime,
            registry,
            recorder,
            outcomes: Outcomes::default(),
            changed: Arc::default(),
            running: HashMap::new(),
        }
    }

    pub fn outcome(&self, container_id: &str, kind: ProbeKind) -> Option<Outcome> {
        self.outcomes.lock().get(&(container_id.to_string(), kind)).copied()
    }

    /// Starts what is missing and ends what is no longer wanted.
    pub fn reconcile(&mut self, pod: &Pod, targets: &[Target<'_>]) {
        self.running.retain(|(id, _), _| targets.iter().any(|target| target.id == id));
        self.outcomes.lock().retain(|(id, _), _| targets.iter().any(|target| target.id == id));
        for target in targets {
            for kind in [ProbeKind::Startup, ProbeKind::Readiness, ProbeKind::Liveness] {
                let Some(probe) = kind.of(target.container) else { continue };
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
                    probe: probe.clone(),
                    container: target.container.clone(),
                    id: target.id.to_string(),
                    pod_uid: pod::uid(pod).to_string(),
                    pod_name: pod::full_name(pod),
                    pod_ip: target.pod_ip.to_string(),
                    started_at: target.started_at.unwrap_or_else(Timestamp::now),
                    waits_for_startup: target.container.startup_probe.is_some() && kind != ProbeKind::Startup,
                    reference: target.reference.clone(),
                    runtime: self.runtime.clone(),
                    registry: self.registry.clone(),
                    recorder: self.recorder.clone(),
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
    probe: Probe,
    container: Container,
    id: String,
    pod_uid: String,
    pod_name: String,
    pod_ip: String,
    started_at: Timestamp,
    waits_for_startup: bool,
    reference: ObjectReference,
    runtime: Arc<dyn Runtime>,
    registry: Arc<Registry>,
    recorder: Recorder,
    outcomes: Outcomes,
    changed: Arc<Notify>,
}

impl Worker {
    async fn run(self, adopted: bool) {
        if adopted && self.kind == ProbeKind::Startup {
            return;
        }
        let seconds = |value: Option<i32>, default: i32| {
            Duration::from_secs(u64::try_from(value.unwrap_or(default).max(0)).unwrap_or(0))
        };
        let period = seconds(self.probe.period_seconds, 10).max(Duration::from_secs(1));
        let delay = seconds(self.probe.initial_delay_seconds, 0);
        let since_start = Timestamp::now().duration_since(self.started_at).unsigned_abs();
        tokio::time::sleep(delay.saturating_sub(since_start)).await;
        self.wait_for_startup().await;
        if self.kind != ProbeKind::Liveness {
            self.wait_for_listener(period).await;
        }
        let mut counter =
            Counter::new(self.probe.failure_threshold.unwrap_or(3), self.probe.success_threshold.unwrap_or(1));
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
        let named = |port: &IntOrString| resolve_port(port, &self.container).ok();
        let host = |host: &Option<String>| host.clone().filter(|host| !host.is_empty());
        let (host, port) = if let Some(action) = &self.probe.http_get {
            (host(&action.host), named(&action.port))
        } else if let Some(action) = &self.probe.tcp_socket {
            (host(&action.host), named(&action.port))
        } else if let Some(action) = &self.probe.grpc {
            (None, u16::try_from(action.port).ok())
        } else {
            return;
        };
        let Some(port) = port else { return };
        let host = host.unwrap_or_else(|| self.pod_ip.clone());
        let listening = async {
            let mut pause = FIRST_LOOK;
            while tokio::net::TcpStream::connect((host.as_str(), port)).await.is_err() {
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
            self.registry.wake(&self.pod_uid);
        }
    }

    /// `None` where the probe could not be carried out: upstream counts that as neither.
    async fn probe_once(&self) -> Option<Outcome> {
        let mut answer = Answer::Error(String::new());
        for _ in 0..TRIES {
            answer = self.ask().await;
            if !matches!(answer, Answer::Error(_)) {
                break;
            }
        }
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
        let timeout = Duration::from_secs(u64::try_from(self.probe.timeout_seconds.unwrap_or(1).max(1)).unwrap_or(1));
        if let Some(action) = &self.probe.exec {
            let command = exec::command(action, &self.container);
            return exec::probe(&*self.runtime, &self.id, command, timeout).await;
        }
        if let Some(action) = &self.probe.http_get {
            let url = match http::target(action, &self.container, &self.pod_ip) {
                Ok(url) => url,
                Err(why) => return Answer::Error(why),
            };
            return http::probe(&url, action.http_headers.as_deref().unwrap_or_default(), timeout).await;
        }
        if let Some(action) = &self.probe.tcp_socket {
            let port = match resolve_port(&action.port, &self.container) {
                Ok(port) => port,
                Err(why) => return Answer::Error(why),
            };
            let host = action.host.as_deref().filter(|host| !host.is_empty()).unwrap_or(&self.pod_ip);
            return tcp::probe(host, port, timeout).await;
        }
        if let Some(action) = &self.probe.grpc {
            let service = action.service.as_deref().unwrap_or_default();
            let Ok(port) = u16::try_from(action.port) else {
                return Answer::Error(format!("invalid port number: {}", action.port));
            };
            return grpc::probe(&self.pod_ip, port, service, timeout).await;
        }
        Answer::Error(format!("missing probe handler for {}:{}", self.pod_name, self.container.name))
    }
}

/// A port by number or by the name it has in the container.
pub fn resolve_port(port: &IntOrString, container: &Container) -> Result<u16, String> {
    let number = match port {
        IntOrString::Int(number) => *number,
        IntOrString::String(name) => match container.ports.iter().flatten().find(|p| p.name.as_deref() == Some(name)) {
            Some(port) => port.container_port,
            None => name.parse().map_err(|_| format!("strconv.Atoi: parsing {name:?}: invalid syntax"))?,
        },
    };
    u16::try_from(number).ok().filter(|n| *n > 0).ok_or_else(|| format!("invalid port number: {number}"))
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
        let container: Container = serde_json::from_value(value).expect("a container");
        assert_eq!(resolve_port(&IntOrString::Int(80), &container), Ok(80));
        assert_eq!(resolve_port(&IntOrString::String("http".into()), &container), Ok(8080));
        assert!(resolve_port(&IntOrString::String("none".into()), &container).is_err());
        assert!(resolve_port(&IntOrString::Int(0), &container).is_err());
    }
}
