//! Whether a node is alive: when it was last heard of, and what follows when it was not.

use ferry_api::rules::condition;
use ferry_api::view::core::v1::{NodeCondition, NodeStatus, NodeView};
use jiff::Timestamp;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Duration;

/// The conditions a kubelet reports, and nobody can vouch for once it is silent.
const REPORTED: [&str; 4] = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/// When each node was last heard of, by our clock: a node's own clock may be wrong, so
/// only that its times change counts.
#[derive(Default)]
pub(super) struct Heartbeats(Mutex<HashMap<String, Heartbeat>>);

#[derive(Default)]
struct Heartbeat {
    renewed: Option<Timestamp>,
    reported: Option<Timestamp>,
    seen: Option<Timestamp>,
}

impl Heartbeats {
    /// Called with every event about a lease; only a new time of renewal is a beat.
    pub(super) fn lease_renewed(&self, node: &str, renewed: Option<Timestamp>, now: Timestamp) {
        let mut beats = self.0.lock();
        let beat = beats.entry(node.to_owned()).or_default();
        if renewed.is_some() && beat.renewed != renewed {
            beat.renewed = renewed;
            beat.seen = Some(now);
        }
    }

    pub(super) fn forget(&self, node: &str) {
        self.0.lock().remove(node);
    }

    /// A node seen for the first time counts as just heard of, unless it never reported.
    pub(super) fn last_seen(&self, node: NodeView<'_>, now: Timestamp) -> Timestamp {
        let metadata = node.metadata();
        let mut beats = self.0.lock();
        let beat = beats.entry(metadata.name().to_owned()).or_default();
        let ready = condition::find(node.status().conditions(), "Ready");
        let reported = ready.and_then(|ready| ready.last_heartbeat_time());
        if beat.reported != reported {
            beat.reported = reported;
            beat.seen = Some(now);
        }
        let first = || if ready.is_none() { metadata.creation_timestamp().unwrap_or(now) } else { now };
        *beat.seen.get_or_insert_with(first)
    }
}

#[derive(Debug, PartialEq)]
pub(super) enum Judgement {
    /// Its time is up after this much more silence; none when it is Unknown already and
    /// only a sign of life can change that.
    Alive { for_another: Option<Duration> },
    /// The status to write; none when it is written already.
    Silent { status: Option<NodeStatus> },
}

pub(super) fn judge(node: NodeView<'_>, seen: Timestamp, grace: Duration, now: Timestamp) -> Judgement {
    let silent_for = Duration::try_from(now.duration_since(seen)).unwrap_or_default();
    if silent_for <= grace {
        // A moment more, because the clock has whole seconds.
        return Judgement::Alive { for_another: Some(grace - silent_for + Duration::from_secs(1)) };
    }
    let current = node.status().conditions();
    let is_unknown = |kind: &str| condition::find(current, kind).is_some_and(|own| own.status() == "Unknown");
    let mut stale = REPORTED.into_iter().filter(|kind| !is_unknown(kind)).peekable();
    if stale.peek().is_none() {
        return Judgement::Silent { status: None };
    }
    let mut status = node.status().to_owned();
    for kind in stale {
        let unknown = match condition::find(current, kind) {
            Some(reported) => reported
                .to_owned()
                .with_reason("NodeStatusUnknown")
                .with_message("Kubelet stopped posting node status."),
            None => NodeCondition::new()
                .with_type(kind)
                .with_reason("NodeStatusNeverUpdated")
                .with_message("Kubelet never posted node status.")
                .with_last_heartbeat_time(node.metadata().creation_timestamp()),
        };
        condition::set(&mut status, unknown.with_status("Unknown").with_last_transition_time(now), now);
    }
    Judgement::Silent { status: Some(status) }
}

/// "True", "False" or "Unknown"; none before the kubelet's first report.
pub(super) fn ready_status(node: NodeView<'_>) -> Option<&str> {
    condition::find(node.status().conditions(), "Ready").map(|ready| ready.status())
}

/// Whether the node was found silent, and that is written.
pub(super) fn is_silent(node: NodeView<'_>) -> bool {
    ready_status(node) == Some("Unknown")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::Node;
    use serde_json::json;

    fn time(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn node(heartbeat: &str) -> Node {
        Node::from(json!({
            "metadata": {"name": "n1", "creationTimestamp": "2024-01-01T00:00:00Z"},
            "status": {"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": heartbeat}]},
        }))
    }

    #[test]
    fn a_silent_node_becomes_unknown_in_all_it_reports() {
        let grace = Duration::from_secs(40);
        let node = node("2024-01-01T00:00:00Z");
        let seen = time("2024-01-01T00:00:00Z");
        let alive = judge(node.view(), seen, grace, time("2024-01-01T00:00:10Z"));
        assert_eq!(alive, Judgement::Alive { for_another: Some(Duration::from_secs(31)) });
        let Judgement::Silent { status: Some(status) } = judge(node.view(), seen, grace, time("2024-01-01T00:00:41Z"))
        else {
            panic!("41 seconds are too long");
        };
        let texts: Vec<String> =
            status.view().conditions().iter().map(|c| format!("{} {} {}", c.type_(), c.status(), c.reason())).collect();
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
        written.set_status(status);
        let again = judge(written.view(), seen, grace, time("2024-01-01T00:01:00Z"));
        assert_eq!(again, Judgement::Silent { status: None }, "it is said once");
    }

    #[test]
    fn only_a_change_is_a_sign_of_life() {
        let beats = Heartbeats::default();
        let first = node("2024-01-01T00:00:00Z");
        assert_eq!(beats.last_seen(first.view(), time("2024-01-01T10:00:00Z")), time("2024-01-01T10:00:00Z"));
        assert_eq!(beats.last_seen(first.view(), time("2024-01-01T10:00:30Z")), time("2024-01-01T10:00:00Z"));
        let renewed = || Some(time("2024-01-01T00:00:10Z"));
        beats.lease_renewed("n1", renewed(), time("2024-01-01T10:00:31Z"));
        beats.lease_renewed("n1", renewed(), time("2024-01-01T10:00:35Z"));
        assert_eq!(beats.last_seen(first.view(), time("2024-01-01T10:00:39Z")), time("2024-01-01T10:00:31Z"));
        let reported = node("2024-01-01T00:00:20Z");
        assert_eq!(beats.last_seen(reported.view(), time("2024-01-01T10:00:40Z")), time("2024-01-01T10:00:40Z"));
    }

    #[test]
    fn a_node_that_never_reported_counts_from_its_creation() {
        let node = Node::from(json!({"metadata": {"name": "n1", "creationTimestamp": "2024-01-01T00:00:00Z"}}));
        let seen = Heartbeats::default().last_seen(node.view(), time("2024-01-01T00:00:30Z"));
        assert_eq!(seen, time("2024-01-01T00:00:00Z"));
    }
}
