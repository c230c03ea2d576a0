//! Whether a node is alive: when it was last heard of, and what follows when it was not.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Node, NodeCondition, NodeStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, Time};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Duration;

/// The conditions a kubelet reports, and nobody can vouch for once it is silent.
const REPORTED: [&str; 4] = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/// When each node was last heard of, by our clock: a node's own clock may be wrong, so
/// only that its times change counts.
#[derive(Default)]
pub struct Heartbeats(Mutex<HashMap<String, Heartbeat>>);

#[derive(Default)]
struct Heartbeat {
    renewed: Option<MicroTime>,
    reported: Option<Time>,
    seen: Option<Timestamp>,
}

impl Heartbeats {
    /// Called with every event about a lease; only a new time of renewal is a beat.
    pub fn lease_renewed(&self, node: &str, renewed: Option<MicroTime>, now: Timestamp) {
        let mut beats = self.0.lock();
        let beat = beats.entry(node.to_owned()).or_default();
        if renewed.is_some() && beat.renewed != renewed {
            beat.renewed = renewed;
            beat.seen = Some(now);
        }
    }

    pub fn forget(&self, node: &str) {
        self.0.lock().remove(node);
    }

    /// A node seen for the first time counts as just heard of, unless it never reported.
    pub fn last_seen(&self, node: &Node, now: Timestamp) -> Timestamp {
        let name = node.metadata.name.clone().unwrap_or_default();
        let mut beats = self.0.lock();
        let beat = beats.entry(name).or_default();
        let ready = condition(node, "Ready");
        let reported = ready.and_then(|ready| ready.last_heartbeat_time.clone());
        if beat.reported != reported {
            beat.reported = reported;
            beat.seen = Some(now);
        }
        let created = || node.metadata.creation_timestamp.as_ref().map(|time| time.0);
        let first = || if ready.is_none() { created().unwrap_or(now) } else { now };
        *beat.seen.get_or_insert_with(first)
    }
}

#[derive(Debug, PartialEq)]
pub enum Judgement {
    /// Its time is up after this much more silence; none when it is Unknown already and
    /// only a sign of life can change that.
    Alive { for_another: Option<Duration> },
    /// The status to write; none when it is written already.
    Silent { status: Option<Box<NodeStatus>> },
}

pub fn judge(node: &Node, seen: Timestamp, grace: Duration, now: Timestamp) -> Judgement {
    let silent_for = Duration::try_from(now.duration_since(seen)).unwrap_or_default();
    if silent_for <= grace {
        // A moment more, because the clock has whole seconds.
        return Judgement::Alive { for_another: Some(grace - silent_for + Duration::from_secs(1)) };
    }
    let mut status = node.status.clone().unwrap_or_default();
    let conditions = status.conditions.get_or_insert_default();
    let mut changed = false;
    for kind in REPORTED {
        match conditions.iter_mut().find(|condition| condition.type_ == kind) {
            Some(condition) if condition.status == "Unknown" => {}
            Some(condition) => {
                condition.status = "Unknown".to_owned();
                condition.reason = Some("NodeStatusUnknown".to_owned());
                condition.message = Some("Kubelet stopped posting node status.".to_owned());
                condition.last_transition_time = Some(Time(now));
                changed = true;
            }
            None => {
                conditions.push(NodeCondition {
                    type_: kind.to_owned(),
                    status: "Unknown".to_owned(),
                    reason: Some("NodeStatusNeverUpdated".to_owned()),
                    message: Some("Kubelet never posted node status.".to_owned()),
                    last_heartbeat_time: node.metadata.creation_timestamp.clone(),
                    last_transition_time: Some(Time(now)),
                });
                changed = true;
            }
        }
    }
    Judgement::Silent { status: changed.then(|| Box::new(status)) }
}

pub fn condition<'a>(node: &'a Node, kind: &str) -> Option<&'a NodeCondition> {
    node.status.as_ref()?.conditions.as_ref()?.iter().find(|condition| condition.type_ == kind)
}

/// "True", "False" or "Unknown"; none before the kubelet's first report.
pub fn ready_status(node: &Node) -> Option<&str> {
    condition(node, "Ready").map(|condition| condition.status.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn time(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn node(heartbeat: &str) -> Node {
        serde_json::from_value(json!({
            "metadata": {"name": "n1", "creationTimestamp": "2024-01-01T00:00:00Z"},
            "status": {"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": heartbeat}]},
        }))
        .expect("a node")
    }

    #[test]
    fn a_silent_node_becomes_unknown_in_all_it_reports() {
        let grace = Duration::from_secs(40);
        let node = node("2024-01-01T00:00:00Z");
        let seen = time("2024-01-01T00:00:00Z");
        let alive = judge(&node, seen, grace, time("2024-01-01T00:00:10Z"));
        assert_eq!(alive, Judgement::Alive { for_another: Some(Duration::from_secs(31)) });
        let Judgement::Silent { status: Some(status) } = judge(&node, seen, grace, time("2024-01-01T00:00:41Z")) else {
            panic!("41 seconds are too long");
        };
        let texts: Vec<String> = status
            .conditions
            .iter()
            .flatten()
            .map(|c| format!("{} {} {}", c.type_, c.status, c.reason.as_deref().unwrap_or_default()))
            .collect();
        assert_eq!(
            texts,
            [
                "Ready Unknown NodeStatusUnknown",
                "MemoryPressure Unknown NodeStatusNeverUpdated",
                "DiskPressure Unknown NodeStatusNeverUpdated",
                "PIDPressure Unknown NodeStatusNeverUpdated",
            ]
        );
        let mut written = node;
        written.status = Some(*status);
        let again = judge(&written, seen, grace, time("2024-01-01T00:01:00Z"));
        assert_eq!(again, Judgement::Silent { status: None }, "it is said once");
    }

    #[test]
    fn only_a_change_is_a_sign_of_life() {
        let beats = Heartbeats::default();
        let first = node("2024-01-01T00:00:00Z");
        assert_eq!(beats.last_seen(&first, time("2024-01-01T10:00:00Z")), time("2024-01-01T10:00:00Z"));
        assert_eq!(beats.last_seen(&first, time("2024-01-01T10:00:30Z")), time("2024-01-01T10:00:00Z"));
        let renewed = || Some(MicroTime(time("2024-01-01T00:00:10Z")));
        beats.lease_renewed("n1", renewed(), time("2024-01-01T10:00:31Z"));
        beats.lease_renewed("n1", renewed(), time("2024-01-01T10:00:35Z"));
        assert_eq!(beats.last_seen(&first, time("2024-01-01T10:00:39Z")), time("2024-01-01T10:00:31Z"));
        let reported = node("2024-01-01T00:00:20Z");
        assert_eq!(beats.last_seen(&reported, time("2024-01-01T10:00:40Z")), time("2024-01-01T10:00:40Z"));
    }

    #[test]
    fn a_node_that_never_reported_counts_from_its_creation() {
        let node: Node =
            serde_json::from_value(json!({"metadata": {"name": "n1", "creationTimestamp": "2024-01-01T00:00:00Z"}}))
                .expect("a node");
        let seen = Heartbeats::default().last_seen(&node, time("2024-01-01T00:00:30Z"));
        assert_eq!(seen, time("2024-01-01T00:00:00Z"));
    }
}
