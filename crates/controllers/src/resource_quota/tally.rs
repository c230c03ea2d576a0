//! The use of a namespace, kept object by object, so that a recount costs what has changed since
//! the last one and not what the namespace has. Filled and asked by the quota controller.
//!
//! Worked example: a quota of `pods` in a namespace of 10,000. The first count goes over all of
//! them and keeps what each one uses. A pod ends: its event names it, and the next count takes
//! its old use from the sum and adds the new one, which is nothing.
//!
//! Some use ends by time alone (a pod that outlives its grace period), and limits change; so a
//! tally is made anew when the quota's spec is another, and with every resync.

use super::RESYNC;
use crate::runner::Key;
use ferry_api::quota::{Amounts, Evaluator, add, subtract};
use ferry_api::view::Kind;
use ferry_client::{Informer, SharedObject};
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use tokio::time::Instant;

/// The tallies of every quota, one for each kind whose objects have a size.
#[derive(Default)]
pub(super) struct Tallies(Mutex<HashMap<(Key, &'static str), Tally>>);

struct Tally {
    /// The spec of the quota that the objects were measured for.
    spec: Value,
    made: Instant,
    uses: HashMap<String, Amounts>,
    total: Amounts,
    /// Objects that have changed since they were measured.
    changed: HashSet<String>,
    /// Whether every object has been measured once.
    is_complete: bool,
}

impl Tallies {
    /// An object of a quota's namespace is new, another or gone.
    pub(super) fn note(&self, quota: &Key, plural: &'static str, name: &str) {
        if let Some(tally) = self.0.lock().get_mut(&(quota.clone(), plural)) {
            tally.changed.insert(name.to_owned());
        }
    }

    pub(super) fn forget(&self, quota: &Key) {
        self.0.lock().retain(|(key, _), _| key != quota);
    }

    /// The use of all objects of the quota's namespace.
    pub(super) fn count<K: Kind>(
        &self,
        evaluator: &Evaluator,
        quota: &Value,
        key: &Key,
        informer: &Informer<K>,
        now: Timestamp,
    ) -> Amounts {
        let place = (key.clone(), K::PLURAL);
        let measure = |object: &SharedObject<K>| {
            let object = super::value_of(object);
            evaluator.recount(quota, std::iter::once(&object), now)
        };
        if !self.is_usable(&place, &quota["spec"]) {
            let nothing = evaluator.recount(quota, std::iter::empty(), now);
            // Changes are noted from here on, so that none falls between the list and the sum.
            self.0.lock().insert(place.clone(), Tally::new(&quota["spec"], nothing));
            let objects = informer.list(Some(&key.namespace));
            let uses: Vec<(String, Amounts)> =
                objects.iter().map(|object| (object.name().to_owned(), measure(object))).collect();
            if let Some(tally) = self.0.lock().get_mut(&place) {
                uses.into_iter().for_each(|(name, uses)| tally.set(name, Some(uses)));
                tally.is_complete = true;
            }
        }
        let changed: Vec<String> = match self.0.lock().get_mut(&place) {
            Some(tally) => tally.changed.drain().collect(),
            None => Vec::new(),
        };
        let measured: Vec<(String, Option<Amounts>)> = changed
            .into_iter()
            .map(|name| {
                let uses = informer.get(&key.namespace, &name).as_ref().map(measure);
                (name, uses)
            })
            .collect();
        let mut tallies = self.0.lock();
        let Some(tally) = tallies.get_mut(&place) else { return Amounts::new() };
        measured.into_iter().for_each(|(name, uses)| tally.set(name, uses));
        tally.total.clone()
    }

    fn is_usable(&self, place: &(Key, &'static str), spec: &Value) -> bool {
        let is_current = |tally: &Tally| tally.is_complete && tally.spec == *spec && tally.made.elapsed() < RESYNC;
        self.0.lock().get(place).is_some_and(is_current)
    }
}

impl Tally {
    fn new(spec: &Value, nothing: Amounts) -> Self {
        Self {
            spec: spec.clone(),
            made: Instant::now(),
            uses: HashMap::new(),
            total: nothing,
            changed: HashSet::new(),
            is_complete: false,
        }
    }

    /// Puts what an object uses in the place of what it used before.
    fn set(&mut self, name: String, uses: Option<Amounts>) {
        let before = match &uses {
            Some(uses) => {
                self.total = add(&self.total, uses);
                self.uses.insert(name, uses.clone())
            }
            None => self.uses.remove(&name),
        };
        if let Some(before) = before {
            self.total = subtract(&self.total, &before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::core::v1::Pod;
    use proptest::prelude::*;
    use serde_json::json;

    fn pod(name: usize, cpu: u64, phase: &str) -> SharedObject<Pod> {
        SharedObject::of(json!({"metadata": {"namespace": "ns", "name": name.to_string()}, "status": {"phase": phase},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": format!("{cpu}m"), "memory": "1Gi"}}}]}}))
    }

    fn quota() -> Value {
        json!({"metadata": {"namespace": "ns", "name": "q"},
            "spec": {"hard": {"pods": "9", "requests.cpu": "9", "requests.memory": "9Gi", "count/pods": "9"}}})
    }

    /// The count that goes over everything.
    fn whole(pods: &Informer<Pod>) -> Amounts {
        let objects: Vec<Value> = pods.list(Some("ns")).iter().map(super::super::value_of).collect();
        Evaluator::Pod.recount(&quota(), objects.iter(), Timestamp::UNIX_EPOCH)
    }

    fn counted(tallies: &Tallies, pods: &Informer<Pod>) -> Amounts {
        tallies.count(&Evaluator::Pod, &quota(), &Key::new("ns", "q"), pods, Timestamp::UNIX_EPOCH)
    }

    proptest! {
        #[test]
        fn a_tally_is_the_count_of_everything(steps in prop::collection::vec((0_usize..8, 0_u64..900, 0_u8..4), 1..60)) {
            let (tallies, pods) = (Tallies::default(), Informer::fixed([pod(0, 100, "Running")]));
            for (name, cpu, action) in steps {
                match action {
                    0 => pods.remove("ns", &name.to_string()),
                    1 => pods.put(pod(name, cpu, "Succeeded")),
                    _ => pods.put(pod(name, cpu, "Running")),
                }
                tallies.note(&Key::new("ns", "q"), Pod::PLURAL, &name.to_string());
                if cpu % 3 == 0 {
                    prop_assert_eq!(counted(&tallies, &pods), whole(&pods));
                }
            }
            prop_assert_eq!(counted(&tallies, &pods), whole(&pods));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_what_has_changed_is_measured_until_the_resync() {
        let (tallies, pods) = (Tallies::default(), Informer::fixed([pod(0, 100, "Running")]));
        let amount = |amounts: &Amounts| amounts.get("pods").expect("counted").value();
        assert_eq!(amount(&counted(&tallies, &pods)), 1);
        // A change that nobody has noted is not looked for.
        pods.put(pod(1, 100, "Running"));
        assert_eq!(amount(&counted(&tallies, &pods)), 1);
        tallies.note(&Key::new("ns", "q"), Pod::PLURAL, "1");
        assert_eq!(amount(&counted(&tallies, &pods)), 2);
        pods.put(pod(2, 100, "Running"));
        tokio::time::advance(RESYNC).await;
        assert_eq!(amount(&counted(&tallies, &pods)), 3);
    }
}
