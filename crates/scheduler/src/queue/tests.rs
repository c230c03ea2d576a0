//! Pods that wait, back off, are woken and kept out, by a clock of the tests' own.

use super::*;
use crate::framework::{Framework, Handle};
use crate::node_info::NodeInfo;
use crate::plugins::all::all;
use crate::plugins::testing::node;
use ferry_client::SharedObject;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone)]
struct FakeClock {
    start: Instant,
    elapsed_ms: Arc<AtomicU64>,
}

impl FakeClock {
    fn advance(&self, by: Duration) {
        let millis = u64::try_from(by.as_millis()).expect("a short time");
        self.elapsed_ms.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Instant {
        self.start + Duration::from_millis(self.elapsed_ms.load(Ordering::Relaxed))
    }
}

fn queue() -> (SchedulingQueue<FakeClock>, FakeClock) {
    let clock = FakeClock { start: Instant::now(), elapsed_ms: Arc::default() };
    (SchedulingQueue::new(clock.clone(), Arc::new(Framework::new(all(&Handle::default())).into())), clock)
}

fn pod(name: &str, spec: Value) -> Arc<PodInfo> {
    let pod = json!({"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": spec});
    Arc::new(PodInfo::of(SharedObject::of(pod)))
}

fn node_info(over: Value) -> NodeInfo {
    NodeInfo::of(node("n", over))
}

fn popped(queue: &mut SchedulingQueue<FakeClock>) -> Option<String> {
    queue.pop().map(|queued| queued.pod.name().to_owned())
}

fn unfit(plugin: &'static str) -> Outcome {
    Outcome::Unschedulable(BTreeSet::from([plugin]))
}

#[test]
fn the_important_and_then_the_oldest_come_first() {
    let (mut queue, _) = queue();
    queue.add(pod("a", json!({})));
    queue.add(pod("b", json!({})));
    queue.add(pod("vip", json!({"priority": 1000})));
    let order: Vec<_> = std::iter::from_fn(|| popped(&mut queue)).collect();
    assert_eq!(order, ["vip", "a", "b"]);
}

#[test]
fn errors_back_off_one_second_doubling_to_ten() {
    let (mut queue, clock) = queue();
    queue.add(pod("a", json!({})));
    for seconds in [1, 2, 4, 8, 10, 10] {
        assert_eq!(popped(&mut queue).as_deref(), Some("a"));
        assert!(queue.put_back("a", Outcome::Error));
        assert_eq!(queue.next_deadline(), Some(clock.now() + Duration::from_secs(seconds)));
        clock.advance(Duration::from_secs(seconds) - Duration::from_millis(1));
        queue.flush();
        assert!(!queue.has_active());
        clock.advance(Duration::from_millis(1));
        queue.flush();
    }
}

#[test]
fn only_an_event_that_may_help_wakes_a_pod() {
    let (mut queue, clock) = queue();
    queue.add(pod("a", json!({"nodeSelector": {"zone": "x"}})));
    popped(&mut queue);
    assert!(queue.put_back("a", unfit("NodeAffinity")));
    clock.advance(Duration::from_secs(60));
    let (other, right) = (node_info(json!({})), node_info(json!({"metadata": {"labels": {"zone": "x"}}})));
    queue.wake(&ClusterEvent::node_added(&other));
    assert!(!queue.has_active());
    queue.wake(&ClusterEvent::node_updated(&other, &right));
    assert_eq!(popped(&mut queue).as_deref(), Some("a"));
}

#[test]
fn a_woken_pod_serves_its_backoff_while_there_are_others_to_try() {
    let (mut queue, clock) = queue();
    let priorities = [("low", 1), ("late", 2), ("high", 3)];
    for (name, priority) in priorities {
        queue.add(pod(name, json!({"priority": priority})));
    }
    for _ in priorities {
        let name = popped(&mut queue).expect("a pod");
        queue.put_back(&name, unfit("NodeName"));
        if name == "high" {
            clock.advance(Duration::from_millis(10));
        }
    }
    // A second failure backs off for longer.
    queue.retry("late");
    assert_eq!(popped(&mut queue).as_deref(), Some("late"));
    queue.put_back("late", unfit("NodeName"));
    queue.wake(&ClusterEvent::node_added(&node_info(json!({}))));
    queue.add(pod("new", json!({})));
    let order: Vec<_> = std::iter::from_fn(|| popped(&mut queue)).collect();
    assert_eq!(order, ["new", "high", "low", "late"], "the active, then by second and priority");
    assert!(queue.backoff.is_empty() && queue.early.is_empty());
}

#[test]
fn five_minutes_wake_a_pod_in_any_case() {
    let (mut queue, clock) = queue();
    queue.add(pod("a", json!({})));
    popped(&mut queue);
    queue.put_back("a", unfit("NodeAffinity"));
    assert_eq!(queue.next_deadline(), Some(clock.now() + Duration::from_secs(300)));
    clock.advance(Duration::from_secs(300));
    queue.flush();
    assert_eq!(popped(&mut queue).as_deref(), Some("a"));
}

#[test]
fn without_a_reason_anything_wakes_a_pod() {
    let (mut queue, clock) = queue();
    queue.add(pod("a", json!({})));
    popped(&mut queue);
    queue.put_back("a", Outcome::Unschedulable(BTreeSet::new()));
    clock.advance(Duration::from_secs(1));
    queue.wake(&ClusterEvent::node_added(&node_info(json!({"spec": {"unschedulable": true}}))));
    assert!(queue.has_active());
}

#[test]
fn gated_pods_wait_for_their_gates() {
    let (mut queue, _) = queue();
    queue.add(pod("a", json!({"schedulingGates": [{"name": "g"}]})));
    assert!(!queue.has_active() && queue.next_deadline().is_none());
    queue.update(pod("a", json!({})));
    assert_eq!(popped(&mut queue).as_deref(), Some("a"));
}

#[test]
fn a_pod_that_changes_in_its_favour_is_tried_again() {
    let (mut queue, clock) = queue();
    queue.add(pod("a", json!({})));
    popped(&mut queue);
    queue.put_back("a", unfit("TaintToleration"));
    clock.advance(Duration::from_secs(2));
    queue.update(pod("a", json!({})));
    assert!(!queue.has_active());
    queue.update(pod("a", json!({"tolerations": [{"operator": "Exists"}]})));
    assert!(queue.has_active());
}

#[test]
fn a_pod_that_goes_away_in_flight_does_not_come_back() {
    let (mut queue, _) = queue();
    queue.add(pod("a", json!({})));
    popped(&mut queue);
    queue.remove("a");
    assert!(!queue.put_back("a", Outcome::Error));
    assert!(queue.pods.is_empty() && queue.in_flight.is_empty());
}

#[test]
fn a_pod_that_leaves_leaves_no_entry_behind() {
    let (mut queue, clock) = queue();
    for name in ["a", "b", "c"] {
        queue.add(pod(name, json!({})));
        popped(&mut queue);
    }
    queue.put_back("a", Outcome::Unschedulable(BTreeSet::from(["NodeAffinity", "TaintToleration"])));
    queue.put_back("b", Outcome::Unschedulable(BTreeSet::new()));
    queue.put_back("c", unfit("elsewhere"));
    clock.advance(Duration::from_secs(60));
    queue.wake(&ClusterEvent::pod_removed(&pod("x", json!({}))));
    let woken: BTreeSet<_> = std::iter::from_fn(|| popped(&mut queue)).collect();
    assert_eq!(woken, BTreeSet::from(["b".to_owned(), "c".to_owned()]), "nobody knows what helps these");
    queue.remove("a");
    assert!(queue.flushes.is_empty() && queue.unexplained.is_empty());
    assert!(queue.rejected.values().all(HashSet::is_empty));
}
