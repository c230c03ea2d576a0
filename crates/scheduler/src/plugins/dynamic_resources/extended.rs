//! Extended resources that a device class stands behind: on a node where no device plugin offers
//! the resource, the pod gets devices of the class, by a claim that the scheduler makes for it.
//!
//! ```text
//! container 0   example.com/gpu: 2        request container-0-request-0, 2 devices of the class
//! init 1        example.com/gpu: 3        1 more device, which init containers share
//! ```
//!
//! Upstream: extendeddynamicresources.go of the plugin.

use super::{DynamicResources, NAME};
use crate::devices::{ClaimRequests, is_device_resource};
use crate::framework::Rejection;
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use ferry_api::rules::owner::controller_of;
use ferry_api::rules::resource_claim::EXTENDED_RESOURCE_CLAIM;
use ferry_api::view::core::v1::{ContainerView, Pod};
use ferry_api::view::resource::v1::ResourceClaim;
use ferry_client::{Client, Patch, SharedObject};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use uuid::Uuid;

/// No claim can have this name, so that it is told from real ones.
const IN_MEMORY: &str = "<extended-resources>";

/// The claim for the extended resources of a pod.
pub struct ExtendedClaim {
    /// One that an earlier attempt has left behind; it has to go before the pod is tried again.
    pub existing: Option<SharedObject<ResourceClaim>>,
    /// The resources that the pod asks for, and the class behind each.
    resources: BTreeMap<String, Option<String>>,
    uid: String,
    /// The claims by the resources that a node leaves to devices: most nodes are alike.
    claims: Mutex<HashMap<Vec<String>, Arc<NodeClaim>>>,
}

/// The claim as one node needs it.
pub struct NodeClaim {
    pub requests: ClaimRequests,
    /// The containers' resources with the request that serves each.
    pub mappings: Vec<Value>,
}

impl DynamicResources {
    /// `None` if no class stands behind a resource of the pod.
    pub(super) fn find_extended(&self, pod: &PodInfo) -> Option<ExtendedClaim> {
        let wanted = pod.requests.scalar.iter().filter(|(name, amount)| **amount != 0 && is_device_resource(name));
        let devices = self.devices.catch_up();
        let class_of = |name: &str| devices.classes.behind(name).map(|class| class.name().to_owned());
        let resources: BTreeMap<String, Option<String>> =
            wanted.map(|(name, _)| (name.clone(), class_of(name))).collect();
        drop(devices);
        if !resources.values().any(Option::is_some) {
            return None;
        }
        let existing = self.claims.owned_by(&pod.uid).into_iter().find(|claim| {
            claim.meta().annotations().get(EXTENDED_RESOURCE_CLAIM) == Some("true")
                && controller_of(claim.meta()).is_some_and(|owner| owner.uid() == &*pod.uid)
        });
        Some(ExtendedClaim { existing, resources, uid: Uuid::new_v4().to_string(), claims: Mutex::default() })
    }

    /// The claim that the pod needs on the node; `None` if device plugins have all of it.
    pub(super) fn claim_on_node(
        &self,
        extended: &ExtendedClaim,
        pod: &PodInfo,
        node: &NodeInfo,
    ) -> Result<Option<Arc<NodeClaim>>, Rejection> {
        if extended.existing.is_some() {
            return Err(Rejection::unresolvable(NAME, "cannot schedule extended resource claim"));
        }
        let mut by_devices = Vec::new();
        for (name, class) in &extended.resources {
            match (class, node.allocatable.scalar.get(name)) {
                (Some(_), None | Some(0)) => by_devices.push(name.clone()),
                (None, None) => return Err(Rejection::unresolvable(NAME, "cannot fit resource")),
                _ => {}
            }
        }
        if by_devices.is_empty() {
            return Ok(None);
        }
        if let Some(claim) = extended.claims.lock().get(&by_devices) {
            return Ok(Some(claim.clone()));
        }
        let classes = by_devices.iter().filter_map(|name| Some((&**name, extended.resources.get(name)?.as_deref()?)));
        let (requests, mappings) = compute_requests(pod, classes);
        let claim = SharedObject::of(render_claim(pod, &extended.uid, requests));
        let requests = self.devices.catch_up().read_requests(claim);
        let requests = requests.map_err(|reason| Rejection::error(NAME, reason))?;
        let claim = Arc::new(NodeClaim { requests, mappings });
        extended.claims.lock().insert(by_devices, claim.clone());
        Ok(Some(claim))
    }
}

fn render_claim(pod: &PodInfo, uid: &str, requests: Vec<Value>) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "name": IN_MEMORY, "namespace": pod.namespace(), "uid": uid,
            "generateName": format!("{}-extended-resources-", pod.name()),
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": pod.name(), "uid": &*pod.uid,
                "controller": true}],
            "annotations": {EXTENDED_RESOURCE_CLAIM: "true"},
        },
        "spec": {"devices": {"requests": requests}},
    })
}

struct DeviceRequest {
    name: String,
    class: String,
    count: i64,
}

/// The requests of one container for one resource: those of others that it can use, and one of
/// its own for the rest.
fn request_of(
    index: usize,
    container: ContainerView<'_>,
    resource: &str,
    class: &str,
    reusable: &[Option<DeviceRequest>],
    mappings: &mut Vec<Value>,
) -> Option<DeviceRequest> {
    let requests = container.resources().requests();
    let wanted = requests.get(resource).map(|amount| amount.value()).filter(|amount| *amount != 0)?;
    let mut map = |name: &str| {
        mappings.push(json!({"containerName": container.name(), "resourceName": resource, "requestName": name}));
    };
    let mut found = 0;
    for other in reusable.iter().flatten() {
        found += other.count;
        map(&other.name);
        if found >= wanted {
            return None;
        }
    }
    let names: BTreeSet<&str> = requests.keys().collect();
    let position = names.iter().position(|name| *name == resource).unwrap_or(0);
    let name = format!("container-{index}-request-{position}");
    map(&name);
    Some(DeviceRequest { name, class: class.to_owned(), count: wanted - found })
}

/// The requests for the resources of all containers, and the request that serves each. An init
/// container that ends before the others start uses their devices, and all of those share the
/// devices that they need beyond.
fn compute_requests<'a>(
    pod: &PodInfo,
    resources: impl Iterator<Item = (&'a str, &'a str)>,
) -> (Vec<Value>, Vec<Value>) {
    let spec = pod.spec();
    let init = spec.init_containers().len();
    let containers: Vec<ContainerView<'_>> = spec.init_containers().iter().chain(spec.containers()).collect();
    let is_short = |index: usize| index < init && containers[index].restart_policy() != Some("Always");
    let (mut requests, mut mappings): (Vec<DeviceRequest>, Vec<Value>) = Default::default();
    for (resource, class) in resources {
        let mut long: Vec<Option<DeviceRequest>> = Vec::new();
        for (index, container) in containers.iter().enumerate() {
            let own =
                if is_short(index) { None } else { request_of(index, *container, resource, class, &[], &mut mappings) };
            long.push(own);
        }
        let (mut largest, mut short_mappings): (Option<DeviceRequest>, Vec<Value>) = Default::default();
        let mut short_names = BTreeSet::new();
        for index in (0..containers.len()).filter(|index| is_short(*index)) {
            let own = request_of(index, containers[index], resource, class, &long[index..], &mut short_mappings);
            if let Some(own) = own {
                short_names.insert(own.name.clone());
                if largest.as_ref().is_none_or(|largest| largest.count < own.count) {
                    largest = Some(own);
                }
            }
        }
        if let Some(largest) = &largest {
            for mapping in &mut short_mappings {
                if mapping["requestName"].as_str().is_some_and(|name| short_names.contains(name)) {
                    mapping["requestName"] = largest.name.as_str().into();
                }
            }
        }
        requests.extend(largest.into_iter().chain(long.into_iter().flatten()));
        mappings.extend(short_mappings);
    }
    requests.sort_by(|a, b| a.name.cmp(&b.name));
    let render = |request: DeviceRequest| {
        json!({"name": request.name, "exactly": {"deviceClassName": request.class, "allocationMode": "ExactCount",
            "count": request.count}})
    };
    (requests.into_iter().map(render).collect(), mappings)
}

/// Names the claim and the requests that serve each container in the status of the pod.
pub async fn report(
    client: &Client,
    pod: &PodInfo,
    claim: &SharedObject<ResourceClaim>,
    mappings: &[Value],
) -> Result<(), String> {
    let status = json!({"resourceClaimName": claim.name(), "requestMappings": mappings});
    let patch = json!({"metadata": {"uid": &*pod.uid}, "status": {"extendedResourceClaimStatus": status}});
    let api = client.api::<Pod>(pod.namespace());
    let written = api.patch_status(pod.name(), &Patch::Strategic(patch)).await;
    let (namespace, name) = (pod.namespace(), pod.name());
    written.map(drop).map_err(|error| format!("update pod {namespace}/{name} ExtendedResourceClaimStatus: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::pod;

    #[test]
    fn init_containers_use_the_devices_of_those_that_come_after() {
        let asking = |name: &str, gpus: u32| json!({"name": name, "resources": {"requests": {"cpu": "1", "example.com/gpu": gpus.to_string()}}});
        let mut sidecar = asking("side", 1);
        sidecar["restartPolicy"] = "Always".into();
        let pod = pod(json!({
            "initContainers": [asking("first", 5), sidecar, asking("second", 2)],
            "containers": [asking("main", 2)],
        }));
        let (requests, mappings) = compute_requests(&pod, [("example.com/gpu", "gpus")].into_iter());
        let found: Vec<(&str, i64)> = requests
            .iter()
            .filter_map(|request| Some((request["name"].as_str()?, request["exactly"]["count"].as_i64()?)))
            .collect();
        // 5 of the first are 1 of the sidecar, 2 of the main container and 2 more.
        let expected = [("container-0-request-1", 2), ("container-1-request-1", 1), ("container-3-request-1", 2)];
        assert_eq!(found, expected);
        let of = |container: &str| {
            let own = mappings.iter().filter(|mapping| mapping["containerName"] == container);
            own.filter_map(|mapping| mapping["requestName"].as_str()).collect::<Vec<_>>()
        };
        assert_eq!(of("first"), ["container-1-request-1", "container-3-request-1", "container-0-request-1"]);
        assert_eq!(of("second"), ["container-3-request-1"]);
    }
}
