//! VolumeZone: a volume that is labelled with a zone or a region is reached only from nodes
//! there.
//!
//! Upstream: pkg/scheduler/framework/plugins/volumezone.

use crate::framework::{
    Action, Change, ClusterEvent, CycleState, Filter, Handle, Hint, Plugin, Points, PreFilter, PreFilterResult,
    Rejection, Resource, Scope, Watch, points,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use ferry_api::rules::volume_match::{class_of_claim, waits_for_first_consumer};
use ferry_api::view::core::v1::{PersistentVolume, PersistentVolumeClaim, PersistentVolumeView};
use ferry_api::view::storage::v1::StorageClass;
use std::collections::BTreeSet;
use std::sync::Arc;

pub struct VolumeZone {
    handle: Handle,
}

const NAME: &str = "VolumeZone";

/// The labels of places, with the name that a label of before has today.
const PLACES: [(&str, &str); 4] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("topology.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("topology.kubernetes.io/region", "topology.kubernetes.io/region"),
];

/// A volume may be in several zones, which its label separates by this.
const SEPARATOR: &str = "__";

/// The places that a volume can be reached from.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    label: &'static str,
    label_today: &'static str,
    values: BTreeSet<String>,
}

struct Places(Vec<Place>);

fn places(volume: PersistentVolumeView<'_>) -> Vec<Place> {
    let labels = volume.metadata().labels();
    let place = |(label, label_today): (&'static str, &'static str)| {
        let values: BTreeSet<String> =
            labels.get(label)?.split(SEPARATOR).map(|value| value.trim().to_owned()).collect();
        // A list with a gap is not understood, and says nothing.
        (!values.contains("")).then_some(Place { label, label_today, values })
    };
    PLACES.into_iter().filter_map(place).collect()
}

impl VolumeZone {
    pub fn new(handle: &Handle) -> Self {
        Self { handle: handle.clone() }
    }

    fn places_of_pod(&self, pod: &PodInfo) -> Result<Vec<Place>, Rejection> {
        let reject = |reason: String| Err(Rejection::unresolvable(NAME, reason));
        let mut out = Vec::new();
        for volume in pod.spec().volumes() {
            let Some(source) = volume.persistent_volume_claim() else { continue };
            let name = source.claim_name();
            if name.is_empty() {
                return reject("PersistentVolumeClaim had no name".to_owned());
            }
            let Some(claim) = self.handle.claims.get(pod.namespace(), name) else {
                return reject(format!("persistentvolumeclaim {name:?} not found"));
            };
            let volume_name = claim.view().spec().volume_name();
            if volume_name.is_empty() {
                let class_name = class_of_claim(claim.view());
                if class_name.is_empty() {
                    return reject("PersistentVolumeClaim had no pv name and storageClass name".to_owned());
                }
                let Some(class) = self.handle.storage_classes.get("", class_name) else {
                    return reject(format!("storageclass.storage.k8s.io {class_name:?} not found"));
                };
                if class.view().volume_binding_mode().is_none() {
                    return reject(format!("VolumeBindingMode not set for StorageClass {class_name:?}"));
                }
                if waits_for_first_consumer(class.view()) {
                    continue;
                }
                return reject("PersistentVolume had no name".to_owned());
            }
            let Some(volume) = self.handle.volumes.get("", volume_name) else {
                return reject(format!("persistentvolume {volume_name:?} not found"));
            };
            out.extend(places(volume.view()));
        }
        Ok(out)
    }
}

impl Plugin for VolumeZone {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: pre_filter, filter)
    }

    fn watches(&self) -> &'static [Watch] {
        const {
            &[
                Watch::new(Resource::of::<StorageClass>(), &[Action::Add]),
                Watch::new(Resource::NODE, &[Action::Add, Action::Update]),
                Watch::new(Resource::of::<PersistentVolumeClaim>(), &[Action::Add, Action::Update]),
                Watch::new(Resource::of::<PersistentVolume>(), &[Action::Add, Action::Update]),
            ]
        }
    }

    fn scope<'a>(&self, event: &ClusterEvent<'a>) -> Scope<'a> {
        Scope::of_claim(event)
    }

    fn hint(&self, _pod: &PodInfo, event: &ClusterEvent<'_>) -> Hint {
        if let Some(Change::Added(class)) = event.of::<StorageClass>() {
            return Hint::queue_if(waits_for_first_consumer(class));
        }
        if let Some(Change::Updated { old, new }) = event.of::<PersistentVolume>() {
            return Hint::queue_if(places(old) != places(new));
        }
        if let Some(Change::Updated { old, new }) = event.node() {
            return Hint::queue_if(old.view().metadata().labels() != new.view().metadata().labels());
        }
        Hint::Queue
    }
}

impl PreFilter for VolumeZone {
    fn pre_filter(&self, state: &mut CycleState, pod: &PodInfo, _snapshot: &Snapshot) -> PreFilterResult {
        if pod.claims.is_empty() {
            return PreFilterResult::Skip;
        }
        let found = self.places_of_pod(pod).map(|places| (!places.is_empty()).then_some(Places(places)));
        PreFilterResult::keep(state, found)
    }
}

impl Filter for VolumeZone {
    fn filter(&self, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
        let Some(Places(places)) = state.read() else { return Ok(()) };
        let labels = node.view().metadata().labels();
        // A cluster without zones has no wrong ones.
        if !PLACES.iter().any(|(label, _)| labels.contains_key(label)) {
            return Ok(());
        }
        let is_reached = |place: &Place| {
            let own = labels.get(place.label).or_else(|| labels.get(place.label_today));
            own.is_some_and(|own| place.values.contains(own))
        };
        if places.iter().all(is_reached) {
            return Ok(());
        }
        Err(Rejection::unresolvable(NAME, "node(s) had no available volume zone"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{holding, node, pod, reasons};
    use ferry_client::SharedObject;
    use serde_json::{Value, json};

    fn handle(volume_labels: Value, claim_spec: Value) -> Handle {
        let handle = Handle::default();
        handle.volumes.put(SharedObject::of(json!({"metadata": {"name": "vol", "labels": volume_labels}})));
        let claim = json!({"metadata": {"name": "data", "namespace": "default"}, "spec": claim_spec});
        handle.claims.put(SharedObject::of(claim));
        let class = json!({"metadata": {"name": "later"}, "volumeBindingMode": "WaitForFirstConsumer"});
        handle.storage_classes.put(SharedObject::of(class));
        handle
            .storage_classes
            .put(SharedObject::of(json!({"metadata": {"name": "now"}, "volumeBindingMode": "Immediate"})));
        handle
    }

    #[track_caller]
    fn check(volume_labels: Value, claim_spec: Value, node_labels: Value, expected: &[&str]) {
        let pod = pod(json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}));
        let info = holding(node("a", json!({"metadata": {"labels": node_labels}})), &[]);
        let plugin = VolumeZone::new(&handle(volume_labels, claim_spec));
        assert_eq!(reasons(plugin, &pod, &info), expected);
    }

    const CONFLICT: &[&str] = &["node(s) had no available volume zone"];

    #[test]
    fn a_volume_is_reached_from_its_zones_only() {
        let zone = |value: &str| json!({"topology.kubernetes.io/zone": value});
        let bound = || json!({"volumeName": "vol"});
        check(zone("east"), bound(), zone("east"), &[]);
        check(zone("east"), bound(), zone("west"), CONFLICT);
        check(zone("east__west"), bound(), zone("west"), &[]);
        check(zone("east"), bound(), json!({}), &[]);
        check(json!({}), bound(), zone("west"), &[]);
        check(json!({"failure-domain.beta.kubernetes.io/zone": "east"}), bound(), zone("east"), &[]);
        check(json!({"failure-domain.beta.kubernetes.io/zone": "east"}), bound(), zone("west"), CONFLICT);
        check(zone("east"), bound(), json!({"topology.kubernetes.io/region": "r"}), CONFLICT);
    }

    #[test]
    fn a_claim_without_a_volume_says_why() {
        check(json!({}), json!({"volumeName": "gone"}), json!({}), &["persistentvolume \"gone\" not found"]);
        check(json!({}), json!({"storageClassName": "later"}), json!({}), &[]);
        check(json!({}), json!({"storageClassName": "now"}), json!({}), &["PersistentVolume had no name"]);
        check(
            json!({}),
            json!({"storageClassName": "none"}),
            json!({}),
            &["storageclass.storage.k8s.io \"none\" not found"],
        );
        check(json!({}), json!({}), json!({}), &["PersistentVolumeClaim had no pv name and storageClass name"]);
    }
}
