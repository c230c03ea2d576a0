//! When the pods whose local storage is limited are measured. Walking files costs, so that a pod
//! is measured once a minute as upstream does, and at every look while it is near its limit or new.

use ferry_api::quantity::Quantity;
use ferry_api::rules::pod_requests::spec_limits;
use ferry_api::view::core::v1::{Pod, PodView};
use ferry_client::SharedObject;
use ferry_eviction::usage::PodUsage;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The index of the pods that have such a limit, and its one value.
pub const INDEX: &str = "limited-local-storage";
pub const LIMITED: &str = "true";

/// Upstream's volumeStatsAggPeriod.
const EVERY: Duration = Duration::from_secs(60);

pub fn index(pod: &SharedObject<Pod>) -> Vec<String> {
    let view = pod.view();
    let counts = !crate::pod::is_mirror(view)
        && !crate::pod::is_terminal_phase(crate::pod::phase(view))
        && ferry_eviction::local_storage::is_limited(view);
    if counts { vec![LIMITED.to_owned()] } else { Vec::new() }
}

#[derive(Debug, Default)]
pub struct LimitSchedule(HashMap<String, Instant>);

impl LimitSchedule {
    /// The pods to measure now. Those that are gone are forgotten.
    pub fn take_due(&mut self, pods: Vec<SharedObject<Pod>>, now: Instant) -> Vec<SharedObject<Pod>> {
        let before = std::mem::take(&mut self.0);
        for pod in &pods {
            if let Some(at) = before.get(pod.uid()) {
                self.0.insert(pod.uid().to_owned(), *at);
            }
        }
        pods.into_iter().filter(|pod| self.0.get(pod.uid()).is_none_or(|at| *at <= now)).collect()
    }

    /// Notes a measurement; a pod near a limit stays due.
    pub fn note(&mut self, pod: PodView<'_>, usage: Option<&PodUsage>, now: Instant) {
        let is_near = usage.is_none_or(|usage| is_near(pod, usage));
        let next = if is_near { now } else { now + EVERY };
        self.0.insert(pod.metadata().uid().to_owned(), next);
    }
}

/// Whether more than half of any limit is used.
fn is_near(pod: PodView<'_>, usage: &PodUsage) -> bool {
    let is_half = |used: u64, limit: Quantity| i64::try_from(used).unwrap_or(i64::MAX) > limit.value() / 2;
    let near_volume = pod.spec().volumes().iter().any(|volume| {
        let limit = volume.empty_dir().and_then(|source| source.size_limit());
        let used = usage.volumes.get(volume.name());
        limit.zip(used).is_some_and(|(limit, used)| !limit.is_zero() && is_half(used.bytes, limit))
    });
    let whole = usage.ephemeral_storage(pod).bytes;
    let mut limits: Vec<Quantity> = spec_limits(pod.spec()).remove("ephemeral-storage").into_iter().collect();
    limits.extend(pod.spec().containers().iter().filter_map(|container| {
        container.resources().limits().get("ephemeral-storage").filter(|limit| !limit.is_zero())
    }));
    near_volume || limits.into_iter().any(|limit| is_half(whole, limit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_eviction::usage::DiskUsage;
    use serde_json::json;

    fn pod(uid: &str) -> SharedObject<Pod> {
        SharedObject::of(json!({ "metadata": { "uid": uid }, "spec": { "containers": [{ "name": "c" }],
            "volumes": [{ "name": "v", "emptyDir": { "sizeLimit": "1000" } }] } }))
    }

    fn usage(bytes: u64) -> PodUsage {
        PodUsage { volumes: [("v".to_owned(), DiskUsage { bytes, inodes: 1 })].into(), ..PodUsage::default() }
    }

    #[test]
    fn a_pod_is_measured_each_minute_and_more_often_near_its_limit() {
        let (mut schedule, start) = (LimitSchedule::default(), Instant::now());
        let mut due = |second, usage: Option<PodUsage>| {
            let now = start + Duration::from_secs(second);
            let found = schedule.take_due(vec![pod("a")], now);
            found.iter().for_each(|pod| schedule.note(pod.view(), usage.as_ref(), now));
            found.len()
        };
        assert_eq!(due(0, None), 1, "a new pod");
        assert_eq!(due(10, Some(usage(10))), 1, "nothing was known of it");
        assert_eq!(due(20, None), 0);
        assert_eq!(due(70, Some(usage(501))), 1, "a minute has passed");
        assert_eq!(due(80, Some(usage(501))), 1, "it is near its limit");
    }

    #[test]
    fn only_pods_that_run_and_are_limited_are_in_the_index() {
        assert_eq!(index(&pod("a")), [LIMITED]);
        let over = SharedObject::of(json!({ "status": { "phase": "Failed" },
            "spec": { "volumes": [{ "name": "v", "emptyDir": { "sizeLimit": "1000" } }] } }));
        assert!(index(&over).is_empty());
        assert!(index(&SharedObject::of(json!({ "spec": { "volumes": [{ "emptyDir": {} }] } }))).is_empty());
    }
}
