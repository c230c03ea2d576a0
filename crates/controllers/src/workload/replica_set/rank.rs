//! Which pods a scale-down takes first.
//!
//! The order is upstream's `ActivePodsWithRanks` (pkg/controller/controller_utils.go):
//! what costs least to lose goes first.

use ferry_api::rules::pod;
use ferry_api::view::core::v1::{Pod, PodView};
use ferry_client::SharedObject;
use jiff::Timestamp;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Chooses `count` of `active`. `related` are the pods whose nodes are to be evened out.
pub(super) fn plan_deletions(
    active: &[SharedObject<Pod>],
    related: &[SharedObject<Pod>],
    count: usize,
    now: Timestamp,
) -> Vec<SharedObject<Pod>> {
    if count >= active.len() {
        return active.to_vec();
    }
    let mut on_node: HashMap<&str, usize> = HashMap::new();
    for pod in related.iter().map(SharedObject::view).filter(|pod| pod::is_active(*pod)) {
        *on_node.entry(pod.spec().node_name()).or_default() += 1;
    }
    let neighbours = |pod: PodView<'_>| on_node.get(pod.spec().node_name()).copied().unwrap_or(0);
    let mut ranked: Vec<(Rank<'_>, &SharedObject<Pod>)> =
        active.iter().map(|pod| (Rank::of(pod.view(), neighbours(pod.view()), now), pod)).collect();
    ranked.sort_by(|(a, _), (b, _)| a.cmp(b));
    ranked.into_iter().take(count).map(|(_, pod)| pod.clone()).collect()
}

/// The sort key of a pod, read once for each pod, the most telling first. Less goes first.
///
/// Upstream lets the uid decide between two ages of one magnitude before it looks at restarts,
/// and looks at restarts where two ages are equal: three pods can so go in a circle. Here
/// restarts count for both, and the uid decides last.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank<'a> {
    assigned: bool,
    phase: u8,
    ready: bool,
    cost: i32,
    neighbours: Reverse<usize>,
    ready_for: Age,
    restarts: Reverse<(i32, i32)>,
    age: Age,
    uid: &'a str,
}

/// The magnitude of an age. Younger goes first, but ages of the same power of two count as equal:
/// always killing the very youngest would keep old pods on few nodes (KEP-2185, logarithmic
/// scale down). An unknown time counts as the youngest.
type Age = Option<i64>;

impl<'a> Rank<'a> {
    fn of(pod: PodView<'a>, neighbours: usize, now: Timestamp) -> Self {
        let ready = pod::is_ready(pod);
        Self {
            assigned: !pod.spec().node_name().is_empty(),
            phase: match pod.status().phase() {
                "Pending" => 0,
                "Unknown" => 1,
                _ => 2,
            },
            ready,
            cost: deletion_cost(pod),
            neighbours: Reverse(neighbours),
            ready_for: pod::ready_since(pod).filter(|_| ready).map(|since| magnitude(since, now)),
            restarts: Reverse(restarts(pod)),
            age: pod.metadata().creation_timestamp().map(|created| magnitude(created, now)),
            uid: pod.metadata().uid(),
        }
    }
}

/// The age's power of two, in nanoseconds; -1 for what has not begun.
fn magnitude(time: Timestamp, now: Timestamp) -> i64 {
    let age = now.duration_since(time).as_nanos();
    u128::try_from(age).ok().filter(|age| *age > 0).map_or(-1, |age| i64::from(age.ilog2()))
}

fn deletion_cost(pod: PodView<'_>) -> i32 {
    pod.metadata()
        .annotations()
        .get("controller.kubernetes.io/pod-deletion-cost")
        // Upstream accepts a sign and digits without leading zeros; anything else is 0.
        .filter(|text| *text == "0" || !text.trim_start_matches('-').starts_with(['0', '+']))
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

/// The most restarts of a container, and of a restartable init container.
fn restarts(pod: PodView<'_>) -> (i32, i32) {
    let status = pod.status();
    let containers = status.container_statuses().iter().map(|status| status.restart_count()).max();
    let is_sidecar = |name: &str| {
        pod.spec().init_containers().iter().any(|container| container.name() == name && pod::is_sidecar(container))
    };
    let sidecars = status.init_container_statuses().iter().filter(|status| is_sidecar(status.name()));
    (containers.unwrap_or(0), sidecars.map(|status| status.restart_count()).max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const NOW: &str = "2024-01-01T12:00:00Z";

    fn pod(name: &str, change: Value) -> SharedObject<Pod> {
        let mut value = json!({
            "metadata": {"name": name, "uid": name, "creationTimestamp": "2024-01-01T00:00:00Z"},
            "spec": {"nodeName": "n1", "containers": []},
            "status": {"phase": "Running", "conditions": [
                {"type": "Ready", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z"}]},
        });
        for (path, new) in change.as_object().expect("an object") {
            *value.pointer_mut(path).expect("a path") = new.clone();
        }
        SharedObject::of(value)
    }

    /// The pod named "victim" must be chosen over the plain one, whatever their order.
    fn check(what: &str, victim: Value) {
        let now = NOW.parse().expect("a time");
        let (victim, plain) = (pod("victim", victim), pod("plain", json!({})));
        for pods in [[victim.clone(), plain.clone()], [plain, victim]] {
            let chosen = plan_deletions(&pods, &pods, 1, now);
            assert_eq!(chosen[0].name(), "victim", "{what}");
        }
    }

    #[test]
    fn what_costs_least_goes_first() {
        check("unassigned", json!({"/spec/nodeName": ""}));
        check("pending", json!({"/status/phase": "Pending"}));
        check("not ready", json!({"/status/conditions/0/status": "False"}));
        check(
            "cheap",
            json!({"/metadata": {"name": "victim", "uid": "z", "annotations":
            {"controller.kubernetes.io/pod-deletion-cost": "-5"}}}),
        );
        check("ready for less time", json!({"/status/conditions/0/lastTransitionTime": "2024-01-01T11:59:00Z"}));
        check(
            "more restarts",
            json!({"/status": {"phase": "Running", "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z"}],
            "containerStatuses": [{"name": "c", "restartCount": 3, "ready": true, "image": "", "imageID": ""}]}}),
        );
        check("younger", json!({"/metadata/creationTimestamp": "2024-01-01T11:59:59Z"}));
        check("of unknown age", json!({"/metadata/creationTimestamp": null}));
    }

    #[test]
    fn crowded_nodes_are_thinned_first() {
        let now = NOW.parse().expect("a time");
        let pods =
            [pod("alone", json!({"/spec/nodeName": "n2"})), pod("crowded-1", json!({})), pod("crowded-2", json!({}))];
        let chosen = plan_deletions(&pods, &pods, 1, now);
        assert_ne!(chosen[0].name(), "alone");
    }

    #[test]
    fn ages_of_one_magnitude_count_as_equal() {
        let now = NOW.parse().expect("a time");
        let younger = pod("b", json!({"/status/conditions/0/lastTransitionTime": "2024-01-01T00:10:00Z"}));
        let older = pod("a", json!({}));
        let chosen = plan_deletions(&[younger, older], &[], 1, now);
        assert_eq!(chosen[0].name(), "a", "the uid decides");
    }

    #[test]
    fn a_thousand_pods_have_one_order_however_they_are_listed() {
        let now = NOW.parse().expect("a time");
        let mut pods: Vec<SharedObject<Pod>> = (0..1_000_u32)
            .map(|n| {
                let scattered = n.wrapping_mul(2_654_435_761) >> 8;
                // Ages of one magnitude and a few restarts, which go in a circle by upstream's order.
                let since = format!("2024-01-01T0{}:00:{:02}Z", scattered % 3, scattered / 3 % 60);
                let restarts = scattered / 7 % 4;
                pod(
                    &format!("{scattered:08x}"),
                    json!({"/status": {"phase": "Running",
                        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": since}],
                        "containerStatuses": [{"name": "c", "restartCount": restarts}]}}),
                )
            })
            .collect();
        let chosen = |pods: &[SharedObject<Pod>]| -> Vec<String> {
            plan_deletions(pods, &[], 500, now).iter().map(|pod| pod.name().to_owned()).collect()
        };
        let first = chosen(&pods);
        pods.reverse();
        assert_eq!(chosen(&pods), first);
        pods.rotate_left(333);
        assert_eq!(chosen(&pods), first);
    }
}
