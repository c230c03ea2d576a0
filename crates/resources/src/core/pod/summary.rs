//! What `kubectl get pods` tells of a pod: upstream's printPod, which boils the states of
//! all containers down to one word, a fraction and a count.

use crate::print;
use crate::read::ReadNode;
use ferry_api::document::Node;
use ferry_api::rules::pod::is_sidecar;
use ferry_api::view::View;
use ferry_api::view::core::v1::ContainerView;
use jiff::Timestamp;
use serde_json::Value;

pub(super) fn cells(pod: Node<'_>, now: Timestamp) -> Vec<Value> {
    let (_spec, status) = (pod.field("spec"), pod.field("status"));
    let summary = summarize(pod);
    let restarts = match summary.last_restart {
        Some(last) if summary.restarts != 0 => {
            format!("{} ({} ago)", summary.restarts, print::human_duration(now.duration_since(last).as_secs()))
        }
        _ => summary.restarts.to_string(),
    };
    let or_none = |text: &str| print::or_none(text.to_owned());
    vec![
        format!("{}/{}", summary.ready, summary.total).into(),
        summary.reason.into(),
        restarts.into(),
        or_none(status.list("podIPs").first().text("ip")).into(),
        readiness_gates(pod).into(),
    ]
}

/// What `kubectl get pods` tells of a pod's containers.
struct Summary {
    reason: String,
    ready: usize,
    total: usize,
    restarts: i64,
    last_restart: Option<Timestamp>,
}

/// Upstream's printPod: the phase, unless some container has more to say.
fn summarize(pod: Node<'_>) -> Summary {
    let (spec, status) = (pod.field("spec"), pod.field("status"));
    let phase = status.text("phase");
    let mut reason = match status.text("reason") {
        "" => phase.to_owned(),
        reason => reason.to_owned(),
    };
    let conditions = status.list("conditions");
    let is_true = |kind: &str| conditions.iter().any(|c| c.text("type") == kind && c.text("status") == "True");
    let gated = |c: Node<'_>| c.text("type") == "PodScheduled" && c.text("reason") == "SchedulingGated";
    if conditions.iter().any(gated) {
        reason = "SchedulingGated".to_owned();
    }
    let init_containers = spec.list("initContainers");
    let is_sidecar_name =
        |name: &str| init_containers.iter().any(|c| c.text("name") == name && is_sidecar(ContainerView::over(c)));
    let sidecars = init_containers.iter().filter(|c| is_sidecar(ContainerView::over(*c))).count();
    let mut summary = Summary {
        reason: String::new(),
        ready: 0,
        total: spec.list("containers").len() + sidecars,
        restarts: 0,
        last_restart: None,
    };
    let (mut sidecar_restarts, mut sidecar_last) = (0, None);
    let mut initializing = false;
    for (index, container) in status.list("initContainerStatuses").iter().enumerate() {
        summary.restarts += container.int("restartCount");
        summary.last_restart = summary.last_restart.max(last_end(container));
        let sidecar = is_sidecar_name(container.text("name"));
        if sidecar {
            sidecar_restarts += container.int("restartCount");
            sidecar_last = sidecar_last.max(last_end(container));
        }
        let state = container.field("state");
        let waiting = state.field("waiting").text("reason");
        match state.field("terminated") {
            Some(ended) if ended.int("exitCode") == 0 => continue,
            _ if sidecar && container.flag("started") => {
                summary.ready += usize::from(container.flag("ready"));
                continue;
            }
            Some(ended) => reason = format!("Init:{}", why_ended(ended)),
            None if !waiting.is_empty() && waiting != "PodInitializing" => reason = format!("Init:{waiting}"),
            None => reason = format!("Init:{index}/{}", init_containers.len()),
        }
        initializing = true;
        break;
    }
    if !initializing || is_true("Initialized") {
        summary.restarts = sidecar_restarts;
        summary.last_restart = sidecar_last;
        let (mut running, mut error) = (false, None);
        for container in status.list("containerStatuses").iter().collect::<Vec<_>>().into_iter().rev() {
            summary.restarts += container.int("restartCount");
            summary.last_restart = summary.last_restart.max(last_end(container));
            let state = container.field("state");
            let waiting = state.field("waiting").text("reason");
            if !waiting.is_empty() {
                reason = waiting.to_owned();
            } else if let Some(ended) = state.field("terminated") {
                reason = why_ended(ended);
                if ended.int("exitCode") != 0 {
                    error = Some(reason.clone());
                }
            } else if container.flag("ready") && state.has("running") {
                running = true;
                summary.ready += 1;
            }
        }
        // One container that ended well does not make the pod complete.
        if reason == "Completed" {
            if running && is_true("Ready") {
                reason = "Running".to_owned();
            } else if let Some(error) = error {
                reason = error;
            } else if running {
                reason = "NotReady".to_owned();
            }
        }
    }
    if pod.is_deleting() {
        if status.text("reason") == "NodeLost" {
            reason = "Unknown".to_owned();
        } else if !matches!(phase, "Failed" | "Succeeded") {
            reason = "Terminating".to_owned();
        }
    }
    summary.reason = reason;
    summary
}

fn why_ended(ended: Node<'_>) -> String {
    match (ended.text("reason"), ended.int("signal")) {
        ("", 0) => format!("ExitCode:{}", ended.int("exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

fn last_end(container: Node<'_>) -> Option<Timestamp> {
    container.field("lastState").field("terminated").field("finishedAt").and_then(print::timestamp)
}

fn readiness_gates(pod: Node<'_>) -> String {
    let gates = pod.field("spec").list("readinessGates");
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let conditions = pod.field("status").list("conditions");
    let is_true = |gate: &Node<'_>| {
        let kind = gate.text("conditionType");
        conditions.iter().find(|c| c.text("type") == kind).is_some_and(|c| c.text("status") == "True")
    };
    format!("{}/{}", gates.iter().filter(is_true).count(), gates.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::row;
    use serde_json::json;

    /// Ready, status and restarts of a pod with this spec and status.
    #[track_caller]
    fn check(spec: Value, status: Value, expected: [&str; 3]) {
        let pod = json!({"metadata": {"name": "a"}, "spec": spec, "status": status});
        let cells = row("Pod").cells(Node::Value(&pod), crate::testing::now());
        let shown: Vec<&str> = cells[1..4].iter().filter_map(Value::as_str).collect();
        assert_eq!(shown, expected);
    }

    fn one() -> Value {
        json!({"containers": [{"name": "a"}]})
    }

    fn state(state: Value) -> Value {
        json!({"phase": "Running", "containerStatuses": [{"name": "a", "state": state}]})
    }

    #[test]
    fn a_pod_is_as_its_containers_are() {
        check(one(), json!({"phase": "Pending"}), ["0/1", "Pending", "0"]);
        check(one(), state(json!({"waiting": {"reason": "ContainerCreating"}})), ["0/1", "ContainerCreating", "0"]);
        check(one(), state(json!({"waiting": {"reason": "ImagePullBackOff"}})), ["0/1", "ImagePullBackOff", "0"]);
        check(one(), state(json!({"terminated": {"exitCode": 0, "reason": "Completed"}})), ["0/1", "Completed", "0"]);
        check(one(), state(json!({"terminated": {"exitCode": 1, "reason": "Error"}})), ["0/1", "Error", "0"]);
        check(one(), state(json!({"terminated": {"exitCode": 3}})), ["0/1", "ExitCode:3", "0"]);
        check(one(), state(json!({"terminated": {"exitCode": 137, "signal": 9}})), ["0/1", "Signal:9", "0"]);
        let running =
            json!({"phase": "Running", "containerStatuses": [{"name": "a", "ready": true, "state": {"running": {}}}]});
        check(one(), running, ["1/1", "Running", "0"]);
        check(one(), json!({"phase": "Failed", "reason": "Evicted"}), ["0/1", "Evicted", "0"]);
    }

    #[test]
    fn restarts_tell_when_the_last_was() {
        let status = json!({"phase": "Running", "containerStatuses": [{
            "name": "a", "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": {"terminated": {"exitCode": 1, "finishedAt": "2026-01-01T00:05:00Z"}},
        }]});
        check(one(), status, ["0/1", "CrashLoopBackOff", "3 (5m ago)"]);
    }

    #[test]
    fn init_containers_come_first() {
        let spec = json!({"containers": [{"name": "a"}], "initContainers": [{"name": "i"}, {"name": "j"}]});
        let with = |states: Value| json!({"phase": "Pending", "initContainerStatuses": states});
        let done = json!({"name": "i", "state": {"terminated": {"exitCode": 0}}});
        check(spec.clone(), with(json!([{"name": "i", "state": {"running": {}}}])), ["0/1", "Init:0/2", "0"]);
        check(
            spec.clone(),
            with(json!([done, {"name": "j", "restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}])),
            ["0/1", "Init:CrashLoopBackOff", "2"],
        );
        check(
            spec.clone(),
            with(json!([{"name": "i", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}])),
            ["0/1", "Init:Error", "0"],
        );
        let mut sidecar = spec;
        sidecar["initContainers"] = json!([{"name": "i", "restartPolicy": "Always"}]);
        let status = json!({"phase": "Running",
            "initContainerStatuses": [{"name": "i", "started": true, "ready": true, "state": {"running": {}}}],
            "containerStatuses": [{"name": "a", "ready": true, "state": {"running": {}}}]});
        check(sidecar, status, ["2/2", "Running", "0"]);
    }

    #[test]
    fn a_dying_pod_is_terminating() {
        let pod = |phase: &str| json!({"metadata": {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {"phase": phase}});
        assert_eq!(row("Pod").cells(Node::Value(&pod("Running")), crate::testing::now())[2], "Terminating");
        assert_eq!(row("Pod").cells(Node::Value(&pod("Succeeded")), crate::testing::now())[2], "Succeeded");
    }

    #[test]
    fn a_gated_pod_says_so() {
        let status = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]});
        check(one(), status, ["0/1", "SchedulingGated", "0"]);
    }
}
