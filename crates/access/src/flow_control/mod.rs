//! Who is served next when all want to be: API priority and fairness. Every request
//! belongs to a flow (`schema.rs`) of a priority level (`level.rs`), takes seats there or
//! waits in one of the level's queues (`queue.rs`). What finds no place, or waits too
//! long, is refused with 429 and may come again; the levels keep a flood of one kind of
//! request from starving another.
//!
//! The objects that configure it are followed as they change; the server's
//! `dangling_flow_schema.rs` reports in a schema's status that its level is missing.

mod level;
mod queue;
mod schema;

use crate::authn::UserInfo;
use crate::request_info::RequestInfo;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_cache::lookup::{Change, ObjectLookup};
use ferry_metrics::family::{Gauge, Histogram, Instrument, head, line};
use ferry_resources::flowcontrol::defaults;
use level::{Level, Limits, compute_free, compute_limits};
use parking_lot::Mutex;
use queue::Queues;
use schema::{Counts, Schema};
use serde_json::Value;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

pub const GROUP: &str = "flowcontrol.apiserver.k8s.io";

/// All seats: upstream's --max-requests-inflight plus --max-mutating-requests-inflight.
const SERVER_SEATS: u32 = 600;
/// How long a request may wait: a quarter of what it may take in all.
const WAIT_MAX: Duration = Duration::from_secs(15);
/// A list takes a seat for so many objects, and never more than so many seats.
const OBJECTS_A_SEAT: usize = 100;
const WIDTH_MAX: usize = 10;

pub struct FlowControl(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    epoch: Instant,
    /// Mixes the names of flows; its own for each server, so that nobody can aim at a queue.
    hasher: std::hash::RandomState,
}

#[derive(Default)]
struct State {
    schemas: Vec<Arc<Schema>>,
    levels: BTreeMap<Arc<str>, Standing>,
}

/// A level and what goes on in it.
struct Standing {
    level: Level,
    limits: Limits,
    in_use: u32,
    executing: u32,
    queues: Option<Queues<oneshot::Sender<Admitted>>>,
    /// Counts the divisions into queues, so that a seat of an old one is not given to a new.
    division: u64,
}

/// The answer to one that waited.
struct Admitted {
    queue: usize,
}

/// A place among the requests being worked on, given back when it is dropped.
pub struct Seat {
    shared: Arc<Shared>,
    /// The schema and level that decided, for the answer's headers.
    pub schema_uid: Arc<str>,
    pub level_uid: Arc<str>,
    /// Empty when the seat is not to be given back.
    level: Arc<str>,
    width: u32,
    queue: Option<usize>,
    division: u64,
    since: Instant,
    /// How long it was waited for.
    pub waited: Duration,
    counts: Arc<Counts>,
    /// Whether somebody sits on it.
    is_taken: bool,
}

/// A request that found no place; it carries the headers all the same.
pub struct Refused {
    pub schema_uid: Arc<str>,
    pub level_uid: Arc<str>,
    pub status: Status,
}

impl FlowControl {
    /// Follows the schemas and levels. Until the store has them, the defaults hold.
    pub fn follow(lookup: &dyn ObjectLookup) -> Self {
        let mut state = State::default();
        for object in defaults::mandatory().into_iter().chain(defaults::suggested()) {
            state.put(&object);
        }
        state.divide();
        let shared = Arc::new(Shared { state: Mutex::new(state), epoch: Instant::now(), hasher: Default::default() });
        for plural in ["prioritylevelconfigurations", "flowschemas"] {
            let shared = shared.clone();
            lookup.subscribe(GROUP, plural, Box::new(move |change| shared.observe(change)));
        }
        Self(shared)
    }

    /// A seat, at once or after a wait. `objects` is how many a list will go through.
    pub async fn enter(&self, info: &RequestInfo, user: &UserInfo, objects: usize) -> Result<Seat, Box<Refused>> {
        let mut wait = match self.arrive(info, user, objects) {
            Arrival::Seated(seat) => return Ok(seat),
            Arrival::Refused(refused) => return Err(refused),
            Arrival::Waits(wait) => wait,
        };
        match tokio::time::timeout(WAIT_MAX, &mut wait.waiter).await {
            Ok(Ok(admitted)) => match wait.seated(&admitted) {
                Some(seat) => Ok(seat),
                None => Err(wait.refuse(|counts| &counts.cancelled)),
            },
            // The level was divided anew or removed while the request waited.
            Ok(Err(_)) => Err(wait.refuse(|counts| &counts.cancelled)),
            Err(_) => Err(wait.refuse(|counts| &counts.time_out)),
        }
    }

    fn arrive(&self, info: &RequestInfo, user: &UserInfo, objects: usize) -> Arrival {
        let shared = &self.0;
        let now = shared.now();
        let mut state = shared.state.lock();
        let Some(schema) = state.classify(info, user) else {
            // Only a configuration without its mandatory part leads here.
            return Arrival::Refused(Refused::of(&"".into(), &"".into()));
        };
        let free = state.free_seats(&schema.level);
        let Some(standing) = state.levels.get_mut(&schema.level) else {
            return Arrival::Refused(Refused::of(&schema.uid, &"".into()));
        };
        // No request may be so wide that it would need the level to itself.
        let most = (standing.limits.nominal / 2).max(1);
        let width = u32::try_from(objects.div_ceil(OBJECTS_A_SEAT).clamp(1, WIDTH_MAX)).unwrap_or(1).min(most);
        let mut seat = Seat {
            shared: shared.clone(),
            schema_uid: schema.uid.clone(),
            level_uid: standing.level.uid.clone(),
            level: schema.level.clone(),
            width,
            queue: None,
            division: standing.division,
            since: Instant::now(),
            waited: Duration::ZERO,
            counts: schema.counts.clone(),
            is_taken: false,
        };
        if standing.level.is_exempt {
            standing.begin(width);
            return Arrival::Seated(seat.taken());
        }
        let fits = width <= free;
        let Some(queues) = &mut standing.queues else {
            if fits {
                standing.begin(width);
                return Arrival::Seated(seat.taken());
            }
            count(&schema.counts.concurrency_limit);
            return Arrival::Refused(seat.refuse());
        };
        let mut hasher = shared.hasher.build_hasher();
        hasher.write(schema.name.as_bytes());
        hasher.write_u8(0);
        hasher.write(schema.distinguish(info, user).as_bytes());
        let queue = queues.choose(hasher.finish());
        if fits && queues.waiting() == 0 {
            queues.begin(now, queue, width);
            standing.begin(width);
            seat.queue = Some(queue);
            return Arrival::Seated(seat.taken());
        }
        let (ticket, waiter) = oneshot::channel();
        match queues.enqueue(now, queue, width, ticket) {
            Ok(number) => {
                schema.counts.waiting.add(1);
                Arrival::Waits(Wait { seat: Some(seat), schema, queue, number, waiter })
            }
            Err(_) => {
                count(&schema.counts.queue_full);
                Arrival::Refused(seat.refuse())
            }
        }
    }

    /// The part of /metrics that is about priority and fairness.
    pub fn render_metrics(&self, out: &mut String) {
        use std::fmt::Write;
        let state = self.0.state.lock();
        let name = "apiserver_flowcontrol_dispatched_requests_total";
        let _ = writeln!(out, "# HELP {name} Requests that got a seat.\n# TYPE {name} counter");
        let labels = |schema: &Schema| format!("flow_schema={:?},priority_level={:?}", schema.name, schema.level);
        for schema in &state.schemas {
            let count = schema.counts.dispatched.load(Ordering::Relaxed);
            let _ = writeln!(out, "{name}{{{}}} {count}", labels(schema));
        }
        let name = "apiserver_flowcontrol_rejected_requests_total";
        let _ = writeln!(out, "# HELP {name} Requests that found no place.\n# TYPE {name} counter");
        for schema in &state.schemas {
            let counts = &schema.counts;
            for (reason, counter) in [
                ("queue-full", &counts.queue_full),
                ("concurrency-limit", &counts.concurrency_limit),
                ("time-out", &counts.time_out),
                ("cancelled", &counts.cancelled),
            ] {
                let count = counter.load(Ordering::Relaxed);
                if count > 0 {
                    let _ = writeln!(out, "{name}{{{},reason={reason:?}}} {count}", labels(schema));
                }
            }
        }
        type OfSchema = (&'static str, &'static str, fn(&Counts) -> &Gauge);
        let gauges: [OfSchema; 3] = [
            ("current_executing_seats", "Seats in use.", |counts| &counts.seats),
            ("current_executing_requests", "Requests being worked on.", |counts| &counts.executing),
            ("current_inqueue_requests", "Requests that wait.", |counts| &counts.waiting),
        ];
        for (name, help, read) in gauges {
            let name = format!("apiserver_flowcontrol_{name}");
            head(out, &name, Gauge::KIND, help);
            for schema in &state.schemas {
                read(&schema.counts).render(&name, &labels(schema), out);
            }
        }
        let name = "apiserver_flowcontrol_request_wait_duration_seconds";
        head(out, name, Histogram::KIND, "How long requests waited for a seat.");
        for schema in &state.schemas {
            for (execute, waits) in ["true", "false"].into_iter().zip(&schema.counts.waits) {
                if waits.count() > 0 {
                    waits.render(name, &format!("execute={execute:?},{}", labels(schema)), out);
                }
            }
        }
        let name = "apiserver_flowcontrol_request_execution_seconds";
        head(out, name, Histogram::KIND, "How long requests had a seat.");
        for schema in state.schemas.iter().filter(|schema| schema.counts.executions.count() > 0) {
            schema.counts.executions.render(name, &format!("{},type=\"regular\"", labels(schema)), out);
        }
        type OfLevel = (&'static str, &'static str, fn(&Limits) -> u32);
        let limits: [OfLevel; 3] = [
            ("nominal_limit_seats", "A level's own share of the seats.", |limits| limits.nominal),
            ("lower_limit_seats", "What a level keeps for itself at least.", |limits| limits.minimum),
            ("upper_limit_seats", "What a level may have with what others lend it.", |limits| limits.maximum),
        ];
        for (name, help, read) in limits {
            let name = format!("apiserver_flowcontrol_{name}");
            head(out, &name, Gauge::KIND, help);
            for (level, standing) in &state.levels {
                line(out, &name, &format!("priority_level={level:?}"), read(&standing.limits));
            }
        }
    }
}

/// For metrics and limits alike.
pub fn is_readonly(info: &RequestInfo) -> bool {
    matches!(info.verb.as_str(), "get" | "list" | "watch" | "head" | "options")
}

enum Arrival {
    Seated(Seat),
    Waits(Wait),
    Refused(Box<Refused>),
}

/// A request in a queue. Dropped before its turn, because its client left, it goes.
struct Wait {
    seat: Option<Seat>,
    schema: Arc<Schema>,
    queue: usize,
    number: u64,
    waiter: oneshot::Receiver<Admitted>,
}

impl Wait {
    fn seated(&mut self, admitted: &Admitted) -> Option<Seat> {
        let mut seat = self.seat.take()?;
        seat.queue = Some(admitted.queue);
        seat.waited = seat.since.elapsed();
        seat.since = Instant::now();
        self.schema.counts.waiting.add(-1);
        Some(seat.taken())
    }

    fn refuse(&mut self, counter: fn(&Counts) -> &AtomicU64) -> Box<Refused> {
        count(counter(&self.schema.counts));
        match self.give_up() {
            Some(seat) => seat.refuse(),
            None => Refused::of(&self.schema.uid, &"".into()),
        }
    }

    /// Leaves the queue. A seat that was given in the same moment is given back when the
    /// result is dropped.
    fn give_up(&mut self) -> Option<Seat> {
        let mut seat = self.seat.take()?;
        self.schema.counts.waiting.add(-1);
        self.schema.counts.waits[1].observe_time(seat.since.elapsed());
        {
            let mut state = seat.shared.state.lock();
            if let Some(standing) = state.levels.get_mut(&seat.level)
                && standing.division == seat.division
                && let Some(queues) = &mut standing.queues
            {
                queues.leave(self.queue, self.number);
            }
        }
        // Seats are given under the lock, so after it the answer is final.
        match self.waiter.try_recv() {
            Ok(admitted) => seat.queue = Some(admitted.queue),
            Err(_) => seat.level = "".into(),
        }
        Some(seat)
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.give_up();
    }
}

impl Seat {
    /// Somebody sits on it from now on.
    fn taken(mut self) -> Self {
        count(&self.counts.dispatched);
        self.counts.waits[0].observe_time(self.waited);
        self.counts.executing.add(1);
        self.counts.seats.add(self.width.into());
        self.is_taken = true;
        self
    }

    /// Refuses a request for which this seat was not to be had.
    fn refuse(mut self) -> Box<Refused> {
        if self.queue.is_none() {
            self.level = "".into();
        }
        Refused::of(&self.schema_uid, &self.level_uid)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let took = self.since.elapsed();
        if self.is_taken {
            self.counts.executing.add(-1);
            self.counts.seats.add(-i64::from(self.width));
            self.counts.executions.observe_time(took);
        }
        if self.level.is_empty() {
            return;
        }
        let now = self.shared.now();
        let took = took.as_secs_f64();
        let mut state = self.shared.state.lock();
        if let Some(standing) = state.levels.get_mut(&self.level) {
            standing.in_use = standing.in_use.saturating_sub(self.width);
            standing.executing = standing.executing.saturating_sub(1);
            if let (Some(queue), Some(queues), true) =
                (self.queue, &mut standing.queues, standing.division == self.division)
            {
                queues.finish(now, queue, self.width, took);
            }
        }
        state.dispatch(now);
    }
}

impl Refused {
    fn of(schema_uid: &Arc<str>, level_uid: &Arc<str>) -> Box<Self> {
        let status = Status::too_many_requests("Too many requests, please try again later.", 1);
        Box::new(Self { schema_uid: schema_uid.clone(), level_uid: level_uid.clone(), status })
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Shared {
    fn now(&self) -> f64 {
        self.epoch.elapsed().as_secs_f64()
    }

    fn observe(&self, change: &Change) {
        let mut state = self.state.lock();
        match change {
            Change::Put(stored) => state.put(&stored.value()),
            Change::Delete(stored) => state.remove(&stored.value()),
        }
        state.divide();
        state.dispatch(self.now());
    }
}

impl Standing {
    fn begin(&mut self, width: u32) {
        self.in_use += width;
        self.executing += 1;
    }
}

impl State {
    fn classify(&self, info: &RequestInfo, user: &UserInfo) -> Option<Arc<Schema>> {
        let resource = info.resource_and_subresource();
        // A schema whose level is missing takes nothing.
        let fits =
            |schema: &&Arc<Schema>| self.levels.contains_key(&schema.level) && schema.matches(info, &resource, user);
        self.schemas.iter().find(fits).cloned()
    }

    fn free_seats(&self, name: &str) -> u32 {
        let Some(own) = self.levels.get(name) else { return 0 };
        let others = self.levels.iter().filter(|(other, standing)| &***other != name && !standing.level.is_exempt);
        compute_free(SERVER_SEATS, own.limits, own.in_use, others.map(|(_, s)| (s.in_use, s.limits)))
    }

    /// Gives free seats to those who wait.
    fn dispatch(&mut self, now: f64) {
        let waiting = |standing: &Standing| standing.queues.as_ref().is_some_and(|queues| queues.waiting() > 0);
        let names: Vec<Arc<str>> =
            self.levels.iter().filter(|(_, standing)| waiting(standing)).map(|(name, _)| name.clone()).collect();
        for name in names {
            loop {
                let free = self.free_seats(&name);
                let Some(standing) = self.levels.get_mut(&name) else { break };
                let Some((queue, next)) = standing.queues.as_mut().and_then(|queues| queues.next(now, free)) else {
                    break;
                };
                standing.begin(next.width);
                // Whoever left in this moment gives the seat back when it is dropped.
                let _ = next.ticket.send(Admitted { queue });
            }
        }
    }

    fn put(&mut self, object: &Value) {
        if object["kind"] == "FlowSchema" {
            let mut schema = Schema::read(object);
            if let Some(at) = self.schemas.iter().position(|known| known.name == schema.name) {
                schema.counts = self.schemas.swap_remove(at).counts.clone();
            }
            self.schemas.push(Arc::new(schema));
            self.schemas.sort_by(|a, b| a.order().cmp(&b.order()));
            return;
        }
        let level = Level::read(object);
        let queues = level.queuing.map(Queues::new);
        match self.levels.get_mut(&level.name) {
            Some(standing) => {
                if standing.level.queuing != level.queuing {
                    standing.queues = queues;
                    standing.division += 1;
                }
                standing.level = level;
            }
            None => {
                let limits = Limits { nominal: 0, minimum: 0, maximum: 0 };
                let name = level.name.clone();
                let standing = Standing { level, limits, in_use: 0, executing: 0, queues, division: 0 };
                self.levels.insert(name, standing);
            }
        }
    }

    fn remove(&mut self, object: &Value) {
        if object["kind"] == "FlowSchema" {
            self.schemas.retain(|schema| schema.name != object.name());
        } else {
            self.levels.remove(object.name());
        }
    }

    /// Divides the server's seats among the levels that there are.
    fn divide(&mut self) {
        let levels: Vec<Level> = self.levels.values().map(|standing| standing.level.clone()).collect();
        for (standing, limits) in self.levels.values_mut().zip(compute_limits(SERVER_SEATS, &levels)) {
            standing.limits = limits;
        }
    }
}

#[cfg(test)]
mod tests;
