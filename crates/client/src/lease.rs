//! Leader election by a Lease: of several processes that run a component, one leads. Called by
//! whoever starts controllers and a scheduler beside others; a lone server needs none.
//!
//! The holder renews the Lease; the others take it over when they have seen no renewal for its
//! duration by their own clock, so that clocks need not agree. The reference is upstream's
//! client-go/tools/leaderelection with the defaults of component-base.

use crate::error::Error;
use crate::events::Recorder;
use crate::object::{Reference, SharedObject};
use crate::request::Client;
use ferry_api::view::coordination::v1::{Lease, LeaseSpec, LeaseSpecView};
use ferry_api::view::meta::v1::ObjectMeta;
use jiff::Timestamp;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Upstream's names of the leases.
pub const CONTROLLER_MANAGER_LEASE: &str = "kube-controller-manager";
pub const SCHEDULER_LEASE: &str = "kube-scheduler";

const NAMESPACE: &str = "kube-system";

/// How long a Lease is valid without being renewed.
const LEASE_DURATION: Duration = Duration::from_secs(15);
/// How long the leader tries to renew before it gives up. It is less than the duration, so that
/// a leader stops before another begins.
const RENEW_DEADLINE: Duration = Duration::from_secs(10);
const RETRY_PERIOD: Duration = Duration::from_secs(2);
/// Candidates wait for up to this part of the period longer, so that they do not meet.
const JITTER: f64 = 1.2;

/// Why a leadership is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeadershipEnd {
    /// The caller asked for it, or what was led has ended.
    Stopped,
    /// The Lease could not be renewed in time. Another process leads, or will.
    Lost,
}

/// One candidate for one Lease of kube-system.
pub struct LeaderElection {
    client: Client,
    recorder: Recorder,
    name: String,
    /// Unique among the candidates: `<host>_<random>` as a rule.
    identity: String,
    /// The Lease as it was last read or written, and when its spec was seen to change.
    observed: Option<(SharedObject<Lease>, Instant)>,
}

impl LeaderElection {
    pub fn new(client: Client, recorder: Recorder, name: &str, identity: &str) -> Self {
        Self { client, recorder, name: name.to_owned(), identity: identity.to_owned(), observed: None }
    }

    /// Waits to lead, and then runs `lead` until it ends, `shutdown` is cancelled or the Lease is
    /// lost. The token that `lead` gets is cancelled at the end, and `lead` is dropped: nothing
    /// of it may write once another process may lead.
    pub async fn run<F>(
        mut self,
        shutdown: CancellationToken,
        lead: impl FnOnce(CancellationToken) -> F,
    ) -> LeadershipEnd
    where
        F: Future<Output = ()>,
    {
        tokio::select! {
            () = shutdown.cancelled() => return LeadershipEnd::Stopped,
            () = self.acquire() => {}
        }
        self.report("became leader");
        let stop = shutdown.child_token();
        let end = tokio::select! {
            () = lead(stop.clone()) => LeadershipEnd::Stopped,
            () = shutdown.cancelled() => LeadershipEnd::Stopped,
            () = self.renew_while_possible() => LeadershipEnd::Lost,
        };
        stop.cancel();
        self.report("stopped leading");
        if end == LeadershipEnd::Stopped {
            self.release().await;
        }
        end
    }

    async fn acquire(&mut self) {
        while !self.try_acquire_or_renew().await {
            sleep(RETRY_PERIOD.mul_f64(1.0 + JITTER * random_part())).await;
        }
    }

    /// Ends when the Lease was not renewed for the whole of the deadline.
    async fn renew_while_possible(&mut self) {
        let renew = async |election: &mut Self| {
            while !election.try_acquire_or_renew().await {
                sleep(RETRY_PERIOD).await;
            }
        };
        while timeout(RENEW_DEADLINE, renew(self)).await.is_ok() {
            sleep(RETRY_PERIOD).await;
        }
    }

    /// Whether this candidate holds the Lease now.
    async fn try_acquire_or_renew(&mut self) -> bool {
        // The leader expects the Lease to be as it left it, and saves reading it.
        if let Some((lease, seen)) = &self.observed
            && self.is_holder(lease.view().spec())
            && is_valid(lease.view().spec(), *seen)
            && let Ok(written) = self.write(Some(lease)).await
        {
            return self.observe_own(written);
        }
        let api = self.client.api::<Lease>(NAMESPACE);
        let live = match api.get(&self.name).await {
            Ok(live) => live,
            Err(error) if error.is_not_found() => match self.write(None).await {
                Ok(written) => return self.observe_own(written),
                Err(error) => return self.has_failed("create", &error),
            },
            Err(error) => return self.has_failed("read", &error),
        };
        let seen = match &self.observed {
            Some((lease, seen)) if lease.view().spec() == live.view().spec() => *seen,
            _ => Instant::now(),
        };
        let spec = live.view().spec();
        let is_held = spec.holder_identity().is_some_and(|holder| !holder.is_empty());
        let is_blocked = is_held && !self.is_holder(spec) && is_valid(spec, seen);
        self.observed = Some((live.clone(), seen));
        if is_blocked {
            return false;
        }
        match self.write(Some(&live)).await {
            Ok(written) => self.observe_own(written),
            Err(error) => self.has_failed("update", &error),
        }
    }

    /// Creates the Lease, or replaces the version `before` of it; a conflict is an error.
    async fn write(&self, before: Option<&SharedObject<Lease>>) -> Result<SharedObject<Lease>, Error> {
        let spec = plan_spec(before.map(|lease| lease.view().spec()), &self.identity, Timestamp::now());
        let api = self.client.api::<Lease>(NAMESPACE);
        match before {
            Some(before) => api.replace(&before.to_owned().with_spec(spec)).await,
            None => {
                let metadata = ObjectMeta::new().with_name(self.name.as_str()).with_namespace(NAMESPACE);
                api.create(&Lease::new().with_metadata(metadata).with_spec(spec)).await
            }
        }
    }

    /// Gives the Lease up, so that another candidate need not wait for its end.
    async fn release(&mut self) {
        let Some((lease, _)) = self.observed.take().filter(|(lease, _)| self.is_holder(lease.view().spec())) else {
            return;
        };
        let now = Timestamp::now();
        let spec = lease.view().spec().to_owned();
        let spec = spec.with_holder_identity("").with_lease_duration_seconds(1).with_renew_time(now);
        let released = lease.to_owned().with_spec(spec.with_acquire_time(now));
        let api = self.client.api::<Lease>(NAMESPACE);
        match timeout(RENEW_DEADLINE, api.replace(&released)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => drop(self.has_failed("release", &error)),
            Err(_) => tracing::warn!(lease = self.name, "the lease was not released in time"),
        }
    }

    fn observe_own(&mut self, written: SharedObject<Lease>) -> bool {
        self.observed = Some((written, Instant::now()));
        true
    }

    fn is_holder(&self, spec: LeaseSpecView<'_>) -> bool {
        spec.holder_identity() == Some(&self.identity)
    }

    fn has_failed(&self, operation: &str, error: &Error) -> bool {
        tracing::debug!(lease = self.name, operation, %error, "leader election will try again");
        false
    }

    fn report(&self, message: &str) {
        let lease = self.observed.as_ref().map(|(lease, _)| lease.reference()).unwrap_or_else(|| Reference {
            namespace: NAMESPACE.to_owned(),
            name: self.name.clone(),
            ..Default::default()
        });
        self.recorder.normal(lease, "LeaderElection", format!("{} {message}", self.identity));
    }
}

/// The spec that makes the candidate the holder. A holder keeps the time at which it began, and a
/// new one counts as a transition.
fn plan_spec(before: Option<LeaseSpecView<'_>>, identity: &str, now: Timestamp) -> LeaseSpec {
    let is_holder = before.is_some_and(|spec| spec.holder_identity() == Some(identity));
    let transitions = before.map_or(0, |spec| {
        let transitions = spec.lease_transitions().unwrap_or(0);
        if is_holder { transitions } else { transitions.saturating_add(1) }
    });
    let acquired = before.filter(|_| is_holder).and_then(|spec| spec.acquire_time());
    before
        .map_or_else(LeaseSpec::new, |spec| spec.to_owned())
        .with_holder_identity(identity)
        .with_lease_duration_seconds(i32::try_from(LEASE_DURATION.as_secs()).unwrap_or(i32::MAX))
        .with_acquire_time(acquired.unwrap_or(now))
        .with_renew_time(now)
        .with_lease_transitions(transitions)
}

/// Whether the Lease holds still, for one who saw its last change at `seen`.
fn is_valid(spec: LeaseSpecView<'_>, seen: Instant) -> bool {
    let seconds = u64::try_from(spec.lease_duration_seconds().unwrap_or(0)).unwrap_or(0);
    seen.elapsed() < Duration::from_secs(seconds)
}

/// A number from 0 to 1, from the seed that every hash map of the standard library gets.
fn random_part() -> f64 {
    let bits = RandomState::new().build_hasher().finish();
    bits as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{Body, BoxError, Transport, full_body, read_body};
    use async_trait::async_trait;
    use ferry_api::view::Owned;
    use parking_lot::Mutex;
    use serde_json::{Value, json};
    use std::sync::Arc;

    /// A server of one Lease that takes events, and may be cut off from candidates by name.
    #[derive(Default)]
    struct State {
        lease: Option<Value>,
        revision: u64,
        cut_off: Vec<&'static str>,
        events: Vec<String>,
    }

    #[derive(Clone)]
    struct Server {
        state: Arc<Mutex<State>>,
        caller: &'static str,
    }

    #[async_trait]
    impl Transport for Server {
        async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
            let (parts, body) = request.into_parts();
            let body: Value = serde_json::from_slice(&read_body(body).await?).unwrap_or_default();
            let mut state = self.state.lock();
            if state.cut_off.contains(&self.caller) {
                return Err("no route".into());
            }
            let failure = |code: u16, reason: &str| {
                let status = json!({"kind": "Status", "status": "Failure", "code": code, "reason": reason});
                (code, status)
            };
            let (code, answer) = if parts.uri.path().ends_with("/events") {
                state.events.push(body["message"].as_str().unwrap_or_default().to_owned());
                (201, body)
            } else {
                let live = state.lease.clone();
                let is_stale =
                    |live: &Value| body["metadata"]["resourceVersion"] != live["metadata"]["resourceVersion"];
                match (parts.method.as_str(), live) {
                    ("GET", Some(lease)) => (200, lease),
                    ("GET" | "PUT", None) => failure(404, "NotFound"),
                    ("POST", Some(_)) => failure(409, "AlreadyExists"),
                    ("PUT", Some(live)) if is_stale(&live) => failure(409, "Conflict"),
                    _ => {
                        let mut lease = body;
                        state.revision += 1;
                        lease["metadata"]["resourceVersion"] = json!(state.revision.to_string());
                        state.lease = Some(lease.clone());
                        (200, lease)
                    }
                }
            };
            Ok(http::Response::builder().status(code).body(full_body(answer.to_string()))?)
        }
    }

    struct Candidate {
        leads: tokio::sync::watch::Receiver<bool>,
        shutdown: CancellationToken,
        end: tokio::task::JoinHandle<LeadershipEnd>,
    }

    impl Candidate {
        async fn until_leading(&mut self) {
            self.leads.wait_for(|leads| *leads).await.expect("the candidate lives");
        }
    }

    fn candidate(state: &Arc<Mutex<State>>, name: &'static str) -> Candidate {
        let client = Client::new(Arc::new(Server { state: state.clone(), caller: name }), "test");
        let recorder = Recorder::new(client.clone(), "test", "");
        let election = LeaderElection::new(client, recorder, SCHEDULER_LEASE, name);
        let (sender, leads) = tokio::sync::watch::channel(false);
        let shutdown = CancellationToken::new();
        let lead = async move |stop: CancellationToken| {
            sender.send_replace(true);
            stop.cancelled().await;
        };
        let end = tokio::spawn(election.run(shutdown.clone(), lead));
        Candidate { leads, shutdown, end }
    }

    fn spec(state: &Mutex<State>) -> Value {
        state.lock().lease.as_ref().map(|lease| lease["spec"].clone()).unwrap_or_default()
    }

    #[tokio::test(start_paused = true)]
    async fn a_leader_that_dies_is_followed_after_its_lease() {
        let state = Arc::default();
        let mut first = candidate(&state, "first");
        first.until_leading().await;
        assert_eq!((&spec(&state)["holderIdentity"], &spec(&state)["leaseTransitions"]), (&json!("first"), &json!(0)));
        assert_eq!(spec(&state)["leaseDurationSeconds"], json!(15));
        let mut second = candidate(&state, "second");
        sleep(Duration::from_secs(60)).await;
        assert!(!*second.leads.borrow(), "the first one renews");
        let died = Instant::now();
        first.end.abort();
        second.until_leading().await;
        let waited = died.elapsed();
        // The last renewal was up to two seconds before, and the candidate looks every 2 to 4.4.
        assert!(waited >= Duration::from_secs(13) && waited <= Duration::from_secs(20), "{waited:?}");
        assert_eq!((&spec(&state)["holderIdentity"], &spec(&state)["leaseTransitions"]), (&json!("second"), &json!(1)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_leader_that_cannot_renew_stops_before_another_begins() {
        let state: Arc<Mutex<State>> = Arc::default();
        let mut first = candidate(&state, "first");
        first.until_leading().await;
        let mut second = candidate(&state, "second");
        sleep(Duration::from_secs(5)).await;
        let cut_off = Instant::now();
        state.lock().cut_off.push("first");
        assert_eq!(first.end.await.expect("no panic"), LeadershipEnd::Lost);
        assert!(cut_off.elapsed() <= Duration::from_secs(13), "{:?}", cut_off.elapsed());
        assert!(!*second.leads.borrow());
        second.until_leading().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_leader_that_stops_gives_the_lease_up() {
        let state: Arc<Mutex<State>> = Arc::default();
        let mut first = candidate(&state, "first");
        first.until_leading().await;
        let mut second = candidate(&state, "second");
        sleep(Duration::from_secs(5)).await;
        first.shutdown.cancel();
        assert_eq!(first.end.await.expect("no panic"), LeadershipEnd::Stopped);
        let stopped = Instant::now();
        second.until_leading().await;
        assert!(stopped.elapsed() <= Duration::from_secs(5), "{:?}", stopped.elapsed());
        second.shutdown.cancel();
        assert_eq!(second.end.await.expect("no panic"), LeadershipEnd::Stopped);
        sleep(Duration::from_secs(1)).await;
        let events = state.lock().events.clone();
        assert_eq!(
            events,
            ["first became leader", "first stopped leading", "second became leader", "second stopped leading"]
        );
    }

    #[test]
    fn a_holder_keeps_its_time_and_a_new_one_counts() {
        let now: Timestamp = "2026-01-01T00:01:00Z".parse().expect("a time");
        let before =
            json!({"holderIdentity": "a", "leaseTransitions": 3, "acquireTime": "2026-01-01T00:00:00.000000Z"});
        let check = |identity: &str, transitions: i32, acquired: &str| {
            let spec = plan_spec(Some((&before).into()), identity, now);
            assert_eq!(spec.view().lease_transitions(), Some(transitions));
            assert_eq!(spec.view().acquire_time(), acquired.parse().ok());
            assert_eq!(spec.view().renew_time(), Some(now));
        };
        check("a", 3, "2026-01-01T00:00:00Z");
        check("b", 4, "2026-01-01T00:01:00Z");
    }
}
