//! How many replicas bring a metric to its target. Pure; `proposal.rs` calls it with what
//! was measured.
//!
//! Worked example: a target of 50% and three pods that use 90%, 60% and 90% of their requests.
//! The utilization is 80%, the ratio 1.6, and three ready pods become ⌈1.6 · 3⌉ = 5.
//!
//! The reference is upstream's pkg/controller/podautoscaler/replica_calculator.go and
//! metrics/utilization.go.

use ferry_api::rules::pod::{condition, is_ready, is_sidecar};
use ferry_api::rules::pod_requests::{Options, compute_requests, is_pod_level};
use ferry_api::view::autoscaling::v2::HorizontalPodAutoscalerBehaviorView;
use ferry_api::view::core::v1::{Pod, PodView};
use ferry_client::SharedObject;
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// Upstream's --horizontal-pod-autoscaler-tolerance: a ratio this near to 1 changes nothing.
const TOLERANCE: f64 = 0.1;

/// --horizontal-pod-autoscaler-cpu-initialization-period: the CPU of a pod this young counts
/// only when it was measured while the pod was ready.
const CPU_INITIALIZATION_PERIOD: SignedDuration = SignedDuration::from_secs(5 * 60);

/// --horizontal-pod-autoscaler-initial-readiness-delay: a pod that became unready within this
/// of its start has never been ready.
const INITIAL_READINESS_DELAY: SignedDuration = SignedDuration::from_secs(30);

/// One pod's value of a metric, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PodMetric {
    pub value: i64,
    pub time: Timestamp,
    pub window: SignedDuration,
}

/// By the name of the pod.
pub(super) type PodMetrics = BTreeMap<String, PodMetric>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tolerances {
    pub down: f64,
    pub up: f64,
}

impl Tolerances {
    /// The default, but for what the behaviour says (HPAConfigurableTolerance).
    pub(super) fn of(behavior: Option<HorizontalPodAutoscalerBehaviorView<'_>>) -> Self {
        let down = behavior.and_then(|behavior| behavior.scale_down()?.tolerance());
        let up = behavior.and_then(|behavior| behavior.scale_up()?.tolerance());
        Self {
            down: down.map_or(TOLERANCE, |quantity| quantity.as_f64()),
            up: up.map_or(TOLERANCE, |quantity| quantity.as_f64()),
        }
    }

    fn cover(&self, ratio: f64) -> bool {
        (1.0 - self.down) <= ratio && ratio <= (1.0 + self.up)
    }
}

/// Replicas for a target utilization, with the utilization as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Utilization {
    pub replicas: i32,
    /// Percent of the requests.
    pub percent: i32,
    /// The average of the pods, in thousandths.
    pub average: i64,
}

/// Replicas for a target value, with the value as it is, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub replicas: i32,
    pub usage: i64,
}

pub(super) struct ReplicaCalculator<'a> {
    /// The pods that the target's selector matches.
    pub pods: &'a [SharedObject<Pod>],
    /// The scale's spec.replicas.
    pub spec_replicas: i32,
    /// The scale's status.replicas.
    pub status_replicas: i32,
    pub tolerances: Tolerances,
    pub now: Timestamp,
}

#[derive(Debug, Default, PartialEq)]
struct PodGroups {
    ready: usize,
    unready: BTreeSet<String>,
    missing: BTreeSet<String>,
    ignored: BTreeSet<String>,
}

impl ReplicaCalculator<'_> {
    /// For a percentage of the pods' requests, or of one container's.
    pub(super) fn for_utilization(
        &self,
        metrics: PodMetrics,
        resource: &str,
        container: Option<&str>,
        target: i32,
    ) -> Result<Utilization, String> {
        let (groups, metrics) = self.usable(metrics, resource)?;
        let requests = requests(self.pods, resource, container)?;
        let (ratio, percent, average) = utilization_ratio(&metrics, &requests, target)?;
        // A pod that nothing is known of may use all of its request, or the target above that.
        let fallback = i64::from(target.max(100));
        let missing = |pod: &str| requests.get(pod).map_or(0, |request| request.saturating_mul(fallback) / 100);
        let measure = |metrics: &PodMetrics| utilization_ratio(metrics, &requests, target).map(|(ratio, ..)| ratio);
        let replicas = self.settle(ratio, metrics, &groups, missing, measure)?;
        Ok(Utilization { replicas, percent, average })
    }

    /// For an average of the pods' own values. `resource` is empty for metrics that are none.
    pub(super) fn for_average(&self, metrics: PodMetrics, resource: &str, target: i64) -> Result<Value, String> {
        let (groups, metrics) = self.usable(metrics, resource)?;
        let (ratio, usage) = usage_ratio(&metrics, target);
        let measure = |metrics: &PodMetrics| Ok(usage_ratio(metrics, target).0);
        let replicas = self.settle(ratio, metrics, &groups, |_| target, measure)?;
        Ok(Value { replicas, usage })
    }

    /// For a value that all pods share, such as the length of a queue.
    pub(super) fn for_value(&self, usage: i64, target: i64) -> Result<Value, String> {
        let ratio = usage as f64 / target as f64;
        if self.spec_replicas == 0 {
            return Ok(Value { replicas: ratio.ceil() as i32, usage });
        }
        if self.tolerances.cover(ratio) {
            return Ok(Value { replicas: self.spec_replicas, usage });
        }
        let ready = self.ready_pods().map_err(|why| format!("unable to calculate ready pods: {why}"))?;
        Ok(Value { replicas: (ratio * ready as f64).ceil() as i32, usage })
    }

    /// For a value of which each pod shall have so much.
    pub(super) fn for_value_per_pod(&self, usage: i64, target: i64) -> Value {
        let per_pod = usage as f64 / target as f64;
        let ratio = per_pod / f64::from(self.status_replicas);
        let replicas = if self.tolerances.cover(ratio) { self.status_replicas } else { per_pod.ceil() as i32 };
        let usage = match usage {
            i64::MAX => i64::MAX,
            usage => (usage as f64 / f64::from(self.status_replicas)).ceil() as i64,
        };
        Value { replicas, usage }
    }

    fn ready_pods(&self) -> Result<usize, String> {
        self.check_pods()?;
        let ready = |pod: &&SharedObject<Pod>| pod.view().status().phase() == "Running" && is_ready(pod.view());
        Ok(self.pods.iter().filter(ready).count())
    }

    fn check_pods(&self) -> Result<(), String> {
        if self.pods.is_empty() {
            return Err("no pods returned by selector while calculating replica count".to_owned());
        }
        Ok(())
    }

    /// The metrics of ready pods.
    fn usable(&self, mut metrics: PodMetrics, resource: &str) -> Result<(PodGroups, PodMetrics), String> {
        self.check_pods()?;
        let groups = self.group(&metrics, resource);
        metrics.retain(|pod, _| !groups.ignored.contains(pod) && !groups.unready.contains(pod));
        if metrics.is_empty() {
            return Err("did not receive metrics for targeted pods (pods might be unready)".to_owned());
        }
        Ok((groups, metrics))
    }

    fn group(&self, metrics: &PodMetrics, resource: &str) -> PodGroups {
        let mut groups = PodGroups::default();
        for pod in self.pods {
            let name = pod.name().to_owned();
            let phase = pod.view().status().phase();
            if pod.is_deleting() || phase == "Failed" {
                groups.ignored.insert(name);
            } else if phase == "Pending" {
                groups.unready.insert(name);
            } else if let Some(metric) = metrics.get(&name) {
                if resource == "cpu" && self.is_cpu_unready(pod.view(), metric) {
                    groups.unready.insert(name);
                } else {
                    groups.ready += 1;
                }
            } else {
                groups.missing.insert(name);
            }
        }
        groups
    }

    /// Whether the CPU of a pod says nothing of its load, because the pod is still starting.
    fn is_cpu_unready(&self, pod: PodView<'_>, metric: &PodMetric) -> bool {
        let (Some(ready), Some(started)) = (condition(pod, "Ready"), pod.status().start_time()) else { return true };
        let changed = ready.last_transition_time().unwrap_or(Timestamp::UNIX_EPOCH);
        let is_unready = ready.status() == "False";
        if after(started, CPU_INITIALIZATION_PERIOD) > self.now {
            return is_unready || metric.time < after(changed, metric.window);
        }
        is_unready && after(started, INITIAL_READINESS_DELAY) > changed
    }

    /// The replicas for a ratio, after the pods that nothing is known of were counted against
    /// a change: as idle where more are wanted, and as busy where fewer are.
    fn settle(
        &self,
        ratio: f64,
        mut metrics: PodMetrics,
        groups: &PodGroups,
        missing_usage: impl Fn(&str) -> i64,
        measure: impl Fn(&PodMetrics) -> Result<f64, String>,
    ) -> Result<i32, String> {
        let current = self.spec_replicas;
        let grows_with_unready = !groups.unready.is_empty() && ratio > 1.0;
        if !grows_with_unready && groups.missing.is_empty() {
            if self.tolerances.cover(ratio) {
                return Ok(current);
            }
            return Ok((ratio * groups.ready as f64).ceil() as i32);
        }
        let assumed = |value| PodMetric { value, time: self.now, window: SignedDuration::ZERO };
        if ratio < 1.0 {
            metrics.extend(groups.missing.iter().map(|pod| (pod.clone(), assumed(missing_usage(pod)))));
        } else if ratio > 1.0 {
            metrics.extend(groups.missing.iter().map(|pod| (pod.clone(), assumed(0))));
        }
        if grows_with_unready {
            metrics.extend(groups.unready.iter().map(|pod| (pod.clone(), assumed(0))));
        }
        let settled = measure(&metrics)?;
        let turns = (ratio < 1.0 && settled > 1.0) || (ratio > 1.0 && settled < 1.0);
        if self.tolerances.cover(settled) || turns {
            return Ok(current);
        }
        let replicas = (settled * metrics.len() as f64).ceil() as i32;
        // More pods were counted than there are replicas, or fewer: never scale the other way.
        if (settled < 1.0 && replicas > current) || (settled > 1.0 && replicas < current) {
            return Ok(current);
        }
        Ok(replicas)
    }
}

fn after(time: Timestamp, span: SignedDuration) -> Timestamp {
    time.checked_add(span).unwrap_or(Timestamp::MAX)
}

/// The pods' requests of a resource in thousandths, by name. A pod that requests none cannot
/// be measured by its request.
fn requests(
    pods: &[SharedObject<Pod>],
    resource: &str,
    container: Option<&str>,
) -> Result<BTreeMap<String, i64>, String> {
    pods.iter().map(|pod| Ok((pod.name().to_owned(), request(pod, resource, container)?))).collect()
}

fn request(pod: &SharedObject<Pod>, resource: &str, container: Option<&str>) -> Result<i64, String> {
    let (spec, name) = (pod.view().spec(), pod.name());
    let states_own = spec.resources().is_some_and(|own| own.requests().iter().any(|(name, _)| is_pod_level(name)));
    if container.is_none() && states_own {
        let whole = compute_requests(spec, pod.view().status(), &Options::SPEC);
        let request = whole.get(resource).map(|quantity| quantity.milli_value());
        return request.ok_or_else(|| format!("missing pod-level request for {resource} in Pod {name}"));
    }
    let sidecars = spec.init_containers().iter().filter(|container| is_sidecar(*container));
    let mut sum: i64 = 0;
    let mut found = container.is_none();
    for each in spec.containers().iter().chain(sidecars) {
        if container.is_some_and(|wanted| wanted != each.name()) {
            continue;
        }
        let request = each
            .resources()
            .requests()
            .get(resource)
            .ok_or_else(|| format!("missing request for {resource} in container {} of Pod {name}", each.name()))?;
        sum = sum.saturating_add(request.milli_value());
        found = true;
    }
    match container {
        Some(wanted) if !found => Err(format!("container {wanted} not found in Pod {name}")),
        _ => Ok(sum),
    }
}

/// The ratio of the utilization to its target, the utilization in percent, and the average.
fn utilization_ratio(
    metrics: &PodMetrics,
    requests: &BTreeMap<String, i64>,
    target: i32,
) -> Result<(f64, i32, i64), String> {
    let (mut used, mut requested, mut count): (i64, i64, i64) = (0, 0, 0);
    for (pod, metric) in metrics {
        // A metric of a pod that is gone has no request.
        let Some(request) = requests.get(pod) else { continue };
        used = used.saturating_add(metric.value);
        requested = requested.saturating_add(*request);
        count += 1;
    }
    if requested == 0 {
        return Err("no metrics returned matched known pods".to_owned());
    }
    let percent = i32::try_from(i128::from(used) * 100 / i128::from(requested)).unwrap_or(i32::MAX);
    Ok((f64::from(percent) / f64::from(target), percent, used / count.max(1)))
}

/// The ratio of the pods' average to its target, and the average.
fn usage_ratio(metrics: &PodMetrics, target: i64) -> (f64, i64) {
    let sum = metrics.values().fold(0i64, |sum, metric| sum.saturating_add(metric.value));
    let average = sum / i64::try_from(metrics.len().max(1)).unwrap_or(i64::MAX);
    (average as f64 / target as f64, average)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    const NOW: &str = "2026-01-01T12:00:00Z";

    fn now() -> Timestamp {
        NOW.parse().expect("a time")
    }

    /// A pod of one container: its phase, the status of its Ready condition and when that and
    /// the pod began.
    fn pod(name: &str, phase: &str, ready: &str, started: &str, changed: &str) -> SharedObject<Pod> {
        SharedObject::of(json!({
            "metadata": {"name": name, "namespace": "ns"},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "memory": "100"}}}]},
            "status": {"phase": phase, "startTime": started,
                "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": changed}]},
        }))
    }

    fn running(name: &str) -> SharedObject<Pod> {
        pod(name, "Running", "True", "2026-01-01T11:00:00Z", "2026-01-01T11:00:00Z")
    }

    fn metrics(values: &[(&str, i64)]) -> PodMetrics {
        let metric = |value| PodMetric { value, time: now(), window: SignedDuration::from_secs(60) };
        values.iter().map(|(pod, value)| ((*pod).to_owned(), metric(*value))).collect()
    }

    fn calculator(pods: &[SharedObject<Pod>], replicas: i32) -> ReplicaCalculator<'_> {
        let tolerances = Tolerances { down: TOLERANCE, up: TOLERANCE };
        ReplicaCalculator { pods, spec_replicas: replicas, status_replicas: replicas, tolerances, now: now() }
    }

    fn named(count: usize) -> Vec<SharedObject<Pod>> {
        (0..count).map(|at| running(&format!("p{at}"))).collect()
    }

    /// Values of p0, p1, … in thousandths of a core, each with a request of one core.
    fn check_cpu(pods: &[SharedObject<Pod>], replicas: i32, values: &[i64], target: i32, expected: (i32, i32, i64)) {
        let names: Vec<String> = (0..values.len()).map(|at| format!("p{at}")).collect();
        let values: Vec<(&str, i64)> = names.iter().map(String::as_str).zip(values.iter().copied()).collect();
        let found = calculator(pods, replicas).for_utilization(metrics(&values), "cpu", None, target);
        let found = found.map(|found| (found.replicas, found.percent, found.average));
        assert_eq!(found, Ok(expected), "{values:?} of {replicas} at {target}%");
    }

    #[test]
    fn utilization_decides_the_replicas() {
        check_cpu(&named(3), 3, &[300, 500, 700], 30, (5, 50, 500));
        check_cpu(&named(5), 5, &[100, 300, 500, 250, 250], 50, (3, 28, 280));
        check_cpu(&named(3), 3, &[1010, 1030, 1020], 100, (3, 102, 1020));
        check_cpu(&named(3), 3, &[900, 905, 895], 100, (3, 90, 900));
        check_cpu(&named(2), 2, &[2000, 2000], 100, (4, 200, 2000));
    }

    #[test]
    fn missing_pods_are_counted_against_a_change() {
        // Up: idle. Down: using all of their request, or the target above that.
        check_cpu(&named(4), 4, &[1000, 1000], 50, (4, 100, 1000));
        check_cpu(&named(4), 4, &[2000, 2000], 50, (8, 200, 2000));
        check_cpu(&named(4), 4, &[100, 100, 100], 80, (2, 10, 100));
        check_cpu(&named(4), 4, &[600, 600, 600], 80, (4, 60, 600));
        check_cpu(&named(2), 2, &[1000], 200, (2, 100, 1000));
    }

    #[test]
    fn unready_pods_are_idle_when_more_are_wanted_and_nothing_when_fewer_are() {
        let unready = |name| pod(name, "Running", "False", "2026-01-01T11:59:00Z", "2026-01-01T11:59:10Z");
        let two_of_three = [running("p0"), running("p1"), unready("p2")];
        check_cpu(&two_of_three, 3, &[1200, 1200, 10], 50, (5, 120, 1200));
        check_cpu(&two_of_three, 3, &[600, 600, 10], 50, (3, 60, 600));
        check_cpu(&two_of_three, 3, &[100, 100, 4000], 50, (1, 10, 100));
        let pending = [running("p0"), running("p1"), pod("p2", "Pending", "False", NOW, NOW)];
        check_cpu(&pending, 3, &[1200, 1200], 50, (5, 120, 1200));
        let failed = [running("p0"), pod("p1", "Failed", "False", NOW, NOW)];
        check_cpu(&failed, 2, &[1000, 9000], 50, (2, 100, 1000));
        let none = [unready("p0")];
        let error = calculator(&none, 1).for_utilization(metrics(&[("p0", 1)]), "cpu", None, 50);
        assert_eq!(error, Err("did not receive metrics for targeted pods (pods might be unready)".to_owned()));
    }

    #[test]
    fn cpu_of_a_starting_pod_says_nothing_of_its_load() {
        let check = |ready: &str, started: &str, changed: &str, counts: bool| {
            let pods = [pod("p0", "Running", ready, started, changed)];
            let groups = calculator(&pods, 1).group(&metrics(&[("p0", 1)]), "cpu");
            assert_eq!(groups.ready == 1, counts, "{ready}, started {started}, changed {changed}");
            let groups = calculator(&pods, 1).group(&metrics(&[("p0", 1)]), "memory");
            assert_eq!(groups.ready, 1, "memory counts from the start");
        };
        // Within five minutes of its start: ready for as long as the metric's window.
        check("True", "2026-01-01T11:58:00Z", "2026-01-01T11:58:10Z", true);
        check("True", "2026-01-01T11:58:00Z", "2026-01-01T11:59:30Z", false);
        check("False", "2026-01-01T11:58:00Z", "2026-01-01T11:58:10Z", false);
        // Later: ready, or ready at some time.
        check("True", "2026-01-01T11:50:00Z", "2026-01-01T11:59:59Z", true);
        check("False", "2026-01-01T11:50:00Z", "2026-01-01T11:59:00Z", true);
        check("False", "2026-01-01T11:50:00Z", "2026-01-01T11:50:10Z", false);
    }

    #[test]
    fn averages_decide_the_replicas() {
        let check = |replicas: i32, values: &[(&str, i64)], target: i64, expected: (i32, i64)| {
            let pods = named(3);
            let found = calculator(&pods, replicas).for_average(metrics(values), "", target);
            assert_eq!(found.map(|found| (found.replicas, found.usage)), Ok(expected), "{values:?} to {target}");
        };
        check(3, &[("p0", 20_000), ("p1", 10_000), ("p2", 30_000)], 15_000, (4, 20_000));
        check(3, &[("p0", 5_000), ("p1", 5_000), ("p2", 5_000)], 15_000, (1, 5_000));
        check(3, &[("p0", 15_500), ("p1", 15_500), ("p2", 15_500)], 15_000, (3, 15_500));
        // p2 is missing.
        check(3, &[("p0", 30_000), ("p1", 30_000)], 15_000, (4, 30_000));
        check(3, &[("p0", 5_000), ("p1", 5_000)], 15_000, (2, 5_000));
    }

    #[test]
    fn shared_values_decide_the_replicas() {
        let pods = [running("p0"), running("p1"), pod("p2", "Running", "False", NOW, NOW)];
        let of = |replicas: i32, usage: i64, target: i64| {
            calculator(&pods, replicas).for_value(usage, target).map(|found| found.replicas)
        };
        assert_eq!(of(3, 40_000, 10_000), Ok(8), "by the pods that are ready");
        assert_eq!(of(3, 10_500, 10_000), Ok(3), "within the tolerance");
        assert_eq!(of(3, i64::MAX, 1), Ok(i32::MAX));
        assert_eq!(of(0, 25_000, 10_000), Ok(3));
        let error = calculator(&[], 1).for_value(40, 10);
        assert_eq!(
            error,
            Err("unable to calculate ready pods: no pods returned by selector while calculating replica count"
                .to_owned())
        );
        let per_pod = |status: i32, usage: i64, target: i64| {
            let found = calculator(&pods, status).for_value_per_pod(usage, target);
            (found.replicas, found.usage)
        };
        assert_eq!(per_pod(3, 400_000, 100_000), (4, 133_334));
        assert_eq!(per_pod(3, 310_000, 100_000), (3, 103_334));
        assert_eq!(per_pod(0, 310_000, 100_000), (4, i64::MAX));
        assert_eq!(per_pod(1, i64::MAX, 1), (i32::MAX, i64::MAX));
    }

    #[test]
    fn tolerances_are_those_of_the_behaviour() {
        let check = |behavior: Json, down: f64, up: f64| {
            let hpa = ferry_api::view::autoscaling::v2::HorizontalPodAutoscaler::from(
                json!({"spec": {"behavior": behavior}}),
            );
            use ferry_api::view::Owned;
            assert_eq!(Tolerances::of(hpa.view().spec().behavior()), Tolerances { down, up }, "{behavior}");
        };
        check(json!(null), 0.1, 0.1);
        check(json!({"scaleUp": {"tolerance": "0.01"}}), 0.1, 0.01);
        check(json!({"scaleUp": {}, "scaleDown": {"tolerance": "500m"}}), 0.5, 0.1);
        let pods = named(1);
        let mut calculator = calculator(&pods, 1);
        calculator.tolerances = Tolerances { down: 0.5, up: 0.01 };
        let replicas =
            |value: i64| calculator.for_average(metrics(&[("p0", value)]), "", 1000).map(|found| found.replicas);
        assert_eq!((replicas(1020), replicas(600)), (Ok(2), Ok(1)));
    }

    #[test]
    fn requests_are_those_of_all_containers_of_one_or_of_the_pod() {
        let check = |spec: Json, container: Option<&str>, expected: Result<i64, &str>| {
            let pod = SharedObject::<Pod>::of(json!({"metadata": {"name": "p"}, "spec": spec}));
            assert_eq!(request(&pod, "cpu", container), expected.map_err(str::to_owned), "{spec} {container:?}");
        };
        let cpu = |name: &str, amount: &str| json!({"name": name, "resources": {"requests": {"cpu": amount}}});
        let mut sidecar = cpu("s", "50m");
        sidecar["restartPolicy"] = "Always".into();
        let both = json!({"containers": [cpu("a", "1"), cpu("b", "200m")], "initContainers": [cpu("i", "9"), sidecar]});
        check(both.clone(), None, Ok(1250));
        check(both.clone(), Some("b"), Ok(200));
        check(both.clone(), Some("s"), Ok(50));
        check(both.clone(), Some("x"), Err("container x not found in Pod p"));
        let mut own = both;
        own["resources"] = json!({"requests": {"cpu": "3"}});
        check(own.clone(), None, Ok(3000));
        check(own, Some("a"), Ok(1000));
        let bare = json!({"containers": [cpu("a", "1"), {"name": "b"}]});
        check(bare.clone(), None, Err("missing request for cpu in container b of Pod p"));
        check(bare, Some("a"), Ok(1000));
        let memory = json!({"containers": [{"name": "a"}], "resources": {"requests": {"memory": "1Gi"}}});
        check(memory, None, Err("missing pod-level request for cpu in Pod p"));
    }
}
