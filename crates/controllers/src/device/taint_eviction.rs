//! Deletes pods that use a device with a NoExecute taint which their claim does not tolerate,
//! at once or when its tolerationSeconds are over.
//!
//! Upstream: pkg/controller/devicetainteviction, without the DeviceTaintRules that 1.36 leaves
//! off.

use super::claim_name::{ClaimName, check_owner, indexed, pods_with_claim};
use crate::error::Result;
use crate::runner::{Action, Context, Controller, Key, Watch};
use crate::workload::pod_control::disrupt;
use async_trait::async_trait;
use ferry_api::view::core::v1::Pod;
use ferry_api::view::resource::v1::{
    DeviceTaintView, DeviceTolerationView, ResourceClaim, ResourceClaimView, ResourceSlice,
};
use ferry_client::{Event, Informer, Informers, SharedObject};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// The index of slices by the pool that they describe, and of claims by allocated device.
const BY_POOL: &str = "pool";
const BY_DEVICE: &str = "device";

#[derive(Default)]
pub(crate) struct DeviceTaintEvictionController {
    /// Since when an eviction is pending, by pod.
    pending: Mutex<HashMap<Key, Timestamp>>,
}

#[async_trait]
impl Controller for DeviceTaintEvictionController {
    fn name(&self) -> &'static str {
        "device-taint-eviction-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let pods = indexed(informers.of::<Pod>());
        let claims = informers.of::<ResourceClaim>().indexed(BY_DEVICE, |claim| {
            let results = claim.view().status().allocation().map(|allocation| allocation.devices().results());
            let devices = results.iter().flat_map(|results| results.iter());
            devices.map(|device| device_key(&pool_key(device.driver(), device.pool()), device.device())).collect()
        });
        let slices = by_pool(informers.of::<ResourceSlice>());
        let (for_claims, for_slices, known) = (pods.clone(), pods.clone(), slices.clone());
        let claims_by_device = claims.clone();
        vec![
            Watch::new(pods, |event, enqueue| {
                let pod = event.object();
                if !pod.view().spec().resource_claims().is_empty() {
                    enqueue.add_object(pod.meta());
                }
            }),
            Watch::new(claims, move |event, enqueue| {
                for pod in pods_with_claim(&for_claims, &Key::of(event.object().meta())) {
                    enqueue.add_object(pod.meta());
                }
            }),
            Watch::new(slices, move |event, enqueue| {
                for device in touched_devices(event, &known) {
                    for claim in claims_by_device.by_index(BY_DEVICE, &device) {
                        for pod in pods_with_claim(&for_slices, &Key::of(claim.meta())) {
                            enqueue.add_object(pod.meta());
                        }
                    }
                }
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let pod = ctx.informers.of::<Pod>().get(&key.namespace, &key.name);
        let Some(pod) = pod.filter(|pod| !pod.is_deleting()) else {
            self.pending.lock().remove(key);
            return Ok(Action::Done);
        };
        let now = ctx.now();
        let since = self.pending.lock().get(key).copied().unwrap_or(now);
        let Some(time) = eviction_time(&ctx.informers, &pod, since) else {
            if self.pending.lock().remove(key).is_some() {
                ctx.recorder.normal(&pod, "DeviceTaintManagerEviction", "Cancelling deletion");
            }
            return Ok(Action::Done);
        };
        if time > now {
            self.pending.lock().insert(key.clone(), since);
            return Ok(Action::RequeueAfter(Duration::try_from(time.duration_since(now)).unwrap_or_default()));
        }
        ctx.recorder.normal(&pod, "DeviceTaintManagerEviction", "Marking for deletion");
        let message = "Device Taint manager: deleting due to NoExecute taint";
        disrupt(ctx, &pod, "DeletionByDeviceTaintManager", message).await?;
        self.pending.lock().remove(key);
        Ok(Action::Done)
    }
}

/// The earliest end that a claim of the pod brings. Only a pod on a node has to leave one.
fn eviction_time(informers: &Informers, pod: &SharedObject<Pod>, since: Timestamp) -> Option<Timestamp> {
    let (claims, slices) = (informers.of::<ResourceClaim>(), informers.of::<ResourceSlice>());
    let view = pod.view();
    let entries = view.spec().resource_claims().iter().filter(|_| !view.spec().node_name().is_empty());
    let times = entries.filter_map(|entry| {
        let name = ClaimName::of(view, entry);
        let claim = claims.get(pod.namespace(), name.known()?)?;
        let is_foreign = matches!(name, ClaimName::Generated(_)) && check_owner(claim.meta(), pod.meta()).is_err();
        let mut consumers = claim.view().status().reserved_for().iter();
        if is_foreign || !consumers.any(|consumer| consumer.uid() == pod.uid()) {
            return None;
        }
        claim_eviction_time(claim.view(), &slices, since)
    });
    times.min()
}

fn claim_eviction_time(
    claim: ResourceClaimView<'_>,
    slices: &Informer<ResourceSlice>,
    since: Timestamp,
) -> Option<Timestamp> {
    let mut earliest: Option<Timestamp> = None;
    for allocated in claim.status().allocation()?.devices().results().iter() {
        for slice in present_slices(slices, &pool_key(allocated.driver(), allocated.pool())) {
            let mut devices = slice.view().spec().devices().iter();
            let Some(device) = devices.find(|device| device.name() == allocated.device()) else { continue };
            let taints = device.taints().iter().filter(|taint| evicts(*taint));
            let ends = taints.filter_map(|taint| taint_end(taint, allocated.tolerations(), since));
            earliest = ends.chain(earliest).min();
        }
    }
    earliest
}

/// The end of the time that the tolerations grant; `None` where they tolerate the taint for good.
fn taint_end<'t>(
    taint: DeviceTaintView<'_>,
    tolerations: impl IntoIterator<Item = DeviceTolerationView<'t>>,
    since: Timestamp,
) -> Option<Timestamp> {
    let mut granted: Option<i64> = None;
    for toleration in tolerations.into_iter().filter(|toleration| tolerates(*toleration, taint)) {
        let seconds = toleration.toleration_seconds()?.max(0);
        granted = Some(granted.map_or(seconds, |granted| granted.min(seconds)));
    }
    let added = taint.time_added().unwrap_or(since);
    Some(added.checked_add(SignedDuration::from_secs(granted.unwrap_or(0))).unwrap_or(Timestamp::MAX))
}

fn evicts(taint: DeviceTaintView<'_>) -> bool {
    taint.effect() == "NoExecute"
}

/// An empty key matches every taint, and an empty operator is Equal. Unlike the scheduler's, the
/// effect must be stated.
fn tolerates(toleration: DeviceTolerationView<'_>, taint: DeviceTaintView<'_>) -> bool {
    toleration.effect() == taint.effect()
        && (toleration.key().is_empty() || toleration.key() == taint.key())
        && match toleration.operator() {
            "" | "Equal" => toleration.value_() == taint.value_(),
            "Exists" => true,
            _ => false,
        }
}

/// The slices of a pool's latest generation; a driver replaces the others bit by bit.
fn present_slices(slices: &Informer<ResourceSlice>, pool: &str) -> Vec<SharedObject<ResourceSlice>> {
    let mut found = slices.by_index(BY_POOL, pool);
    let generation = |slice: &SharedObject<ResourceSlice>| slice.view().spec().pool().generation();
    let latest = found.iter().map(generation).max();
    found.retain(|slice| Some(generation(slice)) == latest);
    found
}

/// The devices whose evicting taints a change of a slice may have changed. A new generation
/// makes the devices of every other slice of the pool come or go.
fn touched_devices(event: &Event<ResourceSlice>, slices: &Informer<ResourceSlice>) -> BTreeSet<String> {
    let (old, new) = event.versions();
    let mut touched = BTreeSet::new();
    let mut collect = |slice: &SharedObject<ResourceSlice>| {
        let pool = pool_of(slice);
        let devices = slice.view().spec().devices();
        let tainted = devices.iter().filter(|device| device.taints().iter().any(evicts));
        touched.extend(tainted.map(|device| device_key(&pool, device.name())));
    };
    old.into_iter().chain(new).for_each(&mut collect);
    let place = |slice: &SharedObject<ResourceSlice>| (pool_of(slice), slice.view().spec().pool().generation());
    if old.map(place) != new.map(place) {
        for pool in old.into_iter().chain(new).map(pool_of) {
            slices.by_index(BY_POOL, &pool).iter().for_each(&mut collect);
        }
    }
    touched
}

fn by_pool(slices: Informer<ResourceSlice>) -> Informer<ResourceSlice> {
    slices.indexed(BY_POOL, |slice| vec![pool_of(slice)])
}

fn pool_of(slice: &SharedObject<ResourceSlice>) -> String {
    let spec = slice.view().spec();
    pool_key(spec.driver(), spec.pool().name())
}

/// The name of a pool may have slashes, that of a driver or a device has none.
fn pool_key(driver: &str, pool: &str) -> String {
    format!("{driver}/{pool}")
}

fn device_key(pool: &str, device: &str) -> String {
    format!("{pool}/{device}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const ADDED: &str = "2026-01-01T00:00:00Z";

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn slice(name: &str, generation: i64, taints: Value) -> SharedObject<ResourceSlice> {
        SharedObject::of(
            json!({"metadata": {"name": name}, "spec": {"driver": "d", "pool": {"name": "p", "generation": generation},
            "devices": [{"name": "gpu", "taints": taints}, {"name": "other"}]}}),
        )
    }

    fn taint(effect: &str) -> Value {
        json!([{"key": "broken", "value": "yes", "effect": effect, "timeAdded": ADDED}])
    }

    #[test]
    fn a_claim_ends_by_the_taints_that_it_does_not_tolerate() {
        let check = |tolerations: Value, taints: Value, expected: Option<&str>| {
            let claim = json!({"status": {"allocation": {"devices": {"results": [
                {"driver": "d", "pool": "p", "device": "gpu", "tolerations": tolerations}]}}}});
            let slices = by_pool(Informer::fixed([slice("s", 1, taints.clone())]));
            let time = claim_eviction_time((&claim).into(), &slices, at("2026-01-01T00:09:00Z"));
            assert_eq!(time, expected.map(at), "{tolerations} of {taints}");
        };
        let none = || json!([]);
        check(none(), none(), None);
        check(none(), taint("NoSchedule"), None);
        check(none(), taint("NoExecute"), Some(ADDED));
        check(none(), json!([{"key": "broken", "effect": "NoExecute"}]), Some("2026-01-01T00:09:00Z"));
        let tolerate = |change: Value| {
            let mut toleration = json!({"key": "broken", "operator": "Exists", "effect": "NoExecute"});
            for (key, value) in change.as_object().expect("fields") {
                toleration[key] = value.clone();
            }
            json!([toleration])
        };
        check(tolerate(json!({})), taint("NoExecute"), None);
        check(tolerate(json!({"tolerationSeconds": 60})), taint("NoExecute"), Some("2026-01-01T00:01:00Z"));
        check(tolerate(json!({"tolerationSeconds": -5})), taint("NoExecute"), Some(ADDED));
        check(tolerate(json!({"key": "else"})), taint("NoExecute"), Some(ADDED));
        check(tolerate(json!({"key": ""})), taint("NoExecute"), None);
        check(tolerate(json!({"effect": ""})), taint("NoExecute"), Some(ADDED));
        check(tolerate(json!({"operator": "Equal", "value": "yes"})), taint("NoExecute"), None);
        check(tolerate(json!({"operator": "", "value": "no"})), taint("NoExecute"), Some(ADDED));
    }

    #[test]
    fn the_latest_generation_of_a_pool_counts() {
        let slices = by_pool(Informer::fixed([slice("old", 1, taint("NoExecute")), slice("new", 2, json!([]))]));
        let names: Vec<String> = present_slices(&slices, "d/p").iter().map(|slice| slice.name().to_owned()).collect();
        assert_eq!(names, ["new"]);
        let check = |event: Event<ResourceSlice>, expected: &[&str]| {
            assert_eq!(touched_devices(&event, &slices).into_iter().collect::<Vec<_>>(), expected, "{event:?}");
        };
        let clean = || slice("new", 2, json!([]));
        check(Event::Updated { old: clean(), new: clean() }, &[]);
        check(Event::Updated { old: clean(), new: slice("new", 2, taint("NoExecute")) }, &["d/p/gpu"]);
        check(Event::Updated { old: clean(), new: slice("new", 2, taint("NoSchedule")) }, &[]);
        check(Event::Added(clean()), &["d/p/gpu"]);
        check(Event::Updated { old: slice("new", 1, json!([])), new: clean() }, &["d/p/gpu"]);
    }
}
