//! Which slices a service should have, given its pods and the slices it has.
//!
//! Endpoints stay in the slice they are in, so that a change of one pod rewrites one
//! slice; the placement rules are upstream's (staging/src/k8s.io/endpointslice).

use crate::claim::controller_reference;
use crate::pod;
use crate::service_pods::{HEADLESS, addresses, has_place, hostname, is_headless, publishes_not_ready, target_port};
use k8s_openapi::api::core::v1::{Node, ObjectReference, Pod, Service};
use k8s_openapi::api::discovery::v1::{
    Endpoint, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice, ForNode, ForZone,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub const SERVICE_NAME: &str = "kubernetes.io/service-name";
pub const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
pub const MANAGER: &str = "endpointslice-controller.k8s.io";
const ZONE: &str = "topology.kubernetes.io/zone";

/// Upstream's default for --max-endpoints-per-slice.
const MAX_ENDPOINTS: usize = 100;

#[derive(Debug, Default)]
pub struct SlicePlan {
    pub create: Vec<EndpointSlice>,
    pub update: Vec<EndpointSlice>,
    pub delete: Vec<Arc<EndpointSlice>>,
    /// Nodes of pods that are not known; those pods are left out until they are.
    pub nodes_missing: Vec<String>,
}

/// Two slices can hold the same endpoints' ports only if this is equal.
type Ports = Vec<(String, String, Option<i32>, Option<String>)>;

/// What makes an endpoint the same endpoint, however its state changes.
type Identity = (Vec<String>, Option<String>, Option<String>);

pub fn plan_slices(
    service: &Service,
    pods: &[Arc<Pod>],
    existing: &[Arc<EndpointSlice>],
    node_of: &dyn Fn(&str) -> Option<Arc<Node>>,
) -> SlicePlan {
    let mut plan = SlicePlan::default();
    let families = families(service);
    plan.delete.extend(existing.iter().filter(|slice| !families.contains(&slice.address_type.as_str())).cloned());
    for family in families {
        let of_family: Vec<_> = existing.iter().filter(|slice| slice.address_type == family).cloned().collect();
        plan_family(service, pods, of_family, node_of, family, &mut plan);
    }
    plan
}

/// The address types of a service, from the API's decision about its IP families.
fn families(service: &Service) -> Vec<&'static str> {
    let spec = service.spec.as_ref();
    let mut types: Vec<&'static str> = spec
        .and_then(|spec| spec.ip_families.as_ref())
        .into_iter()
        .flatten()
        .filter_map(|family| ["IPv4", "IPv6"].into_iter().find(|known| known == family))
        .collect();
    if types.is_empty() {
        let address = spec.and_then(|spec| spec.cluster_ip.as_deref()).unwrap_or_default();
        types.push(if address.contains(':') { "IPv6" } else { "IPv4" });
    }
    types
}

fn plan_family(
    service: &Service,
    pods: &[Arc<Pod>],
    existing: Vec<Arc<EndpointSlice>>,
    node_of: &dyn Fn(&str) -> Option<Arc<Node>>,
    family: &'static str,
    plan: &mut SlicePlan,
) {
    let mut delete = Vec::new();
    let mut by_ports: BTreeMap<Ports, Vec<Arc<EndpointSlice>>> = BTreeMap::new();
    let count = existing.len();
    for slice in existing {
        let owned = slice.metadata.owner_references.iter().flatten().any(|owner| {
            Some(&owner.uid) == service.metadata.uid.as_ref() && owner.kind == "Service" && owner.api_version == "v1"
        });
        if owned {
            by_ports.entry(ports_key(slice.ports.as_deref().unwrap_or_default())).or_default().push(slice);
        } else {
            // It belongs to a service of the same name that is gone.
            delete.push(slice);
        }
    }
    let mut wanted: BTreeMap<Ports, (Vec<EndpointPort>, Vec<Endpoint>)> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| has_place(pod, true)) {
        let ports = endpoint_ports(service, pod);
        let node_name = pod::node_name(pod);
        let node = node_of(node_name);
        if node.is_none() && !publishes_not_ready(service) {
            plan.nodes_missing.push(node_name.to_owned());
            continue;
        }
        let group = wanted.entry(ports_key(&ports)).or_insert_with(|| (ports, Vec::new()));
        group.1.extend(endpoint(service, pod, node.as_deref(), family));
    }
    let (mut create, mut update) = (Vec::new(), Vec::new());
    for (key, (ports, endpoints)) in wanted {
        let slices = by_ports.remove(&key).unwrap_or_default();
        let placed = place(service, slices, ports, endpoints, family);
        create.extend(placed.create);
        update.extend(placed.update);
        delete.extend(placed.delete);
    }
    delete.extend(by_ports.into_values().flatten());
    if count == delete.len() && create.is_empty() {
        // A service always has a slice, so that readers can tell "no endpoints" from
        // "not looked at yet".
        let placeholder = new_slice(service, Vec::new(), family);
        if let [only] = delete.as_slice()
            && is_placeholder(only, &placeholder)
        {
            delete.clear();
        } else {
            create.push(placeholder);
        }
    }
    // Rewriting a slice is cheaper for every watcher than deleting one and making another.
    delete.retain(|slice| {
        let owned = slice.metadata.owner_references == new_slice(service, Vec::new(), family).metadata.owner_references;
        if !owned {
            return true;
        }
        let Some(mut new) = create.pop() else { return true };
        new.metadata = ObjectMeta { labels: new.metadata.labels, ..slice.metadata.clone() };
        update.push(new);
        false
    });
    plan.create.extend(create);
    plan.update.extend(update);
    plan.delete.extend(delete);
}

fn is_placeholder(slice: &EndpointSlice, placeholder: &EndpointSlice) -> bool {
    slice.endpoints.as_ref().is_none_or(Vec::is_empty)
        && slice.ports.as_ref().is_none_or(Vec::is_empty)
        && slice.metadata.labels == placeholder.metadata.labels
        && slice.metadata.owner_references == placeholder.metadata.owner_references
}

/// Puts `endpoints` into slices that share their ports.
fn place(
    service: &Service,
    slices: Vec<Arc<EndpointSlice>>,
    ports: Vec<EndpointPort>,
    endpoints: Vec<Endpoint>,
    family: &'static str,
) -> SlicePlan {
    let mut plan = SlicePlan::default();
    let mut left: HashMap<Identity, (usize, Endpoint)> =
        endpoints.into_iter().enumerate().map(|(order, endpoint)| (identity(&endpoint), (order, endpoint))).collect();
    let labels = slice_labels(service);
    let (mut changed, mut unchanged) = (Vec::new(), Vec::new());
    for slice in slices {
        let before = slice.endpoints.as_deref().unwrap_or_default();
        let kept: Vec<Endpoint> =
            before.iter().filter_map(|old| left.remove(&identity(old))).map(|(_, endpoint)| endpoint).collect();
        if kept.is_empty() {
            plan.delete.push(slice);
        } else if kept != before || slice.metadata.labels.as_ref() != Some(&labels) {
            let mut slice = EndpointSlice::clone(&slice);
            slice.endpoints = Some(kept);
            slice.metadata.labels = Some(labels.clone());
            changed.push(slice);
        } else {
            unchanged.push(slice);
        }
    }
    let mut left: Vec<(usize, Endpoint)> = left.into_values().collect();
    left.sort_by_key(|(order, _)| *order);
    let mut left: Vec<Endpoint> = left.into_iter().map(|(_, endpoint)| endpoint).collect();
    // Slices that are written anyway are filled first, the fullest before the others.
    changed.sort_by_key(|slice| std::cmp::Reverse(size(slice)));
    for slice in &mut changed {
        fill(slice, &mut left);
    }
    while !left.is_empty() {
        // What remains goes into the one slice it fits best, or else into a new one.
        let best = unchanged
            .iter()
            .enumerate()
            .filter(|(_, slice)| size(slice) + left.len() <= MAX_ENDPOINTS)
            .max_by_key(|(_, slice)| size(slice))
            .map(|(index, _)| index);
        match best {
            Some(index) => {
                let mut slice = EndpointSlice::clone(&unchanged.swap_remove(index));
                fill(&mut slice, &mut left);
                changed.push(slice);
            }
            None => {
                let mut slice = new_slice(service, ports.clone(), family);
                fill(&mut slice, &mut left);
                plan.create.push(slice);
            }
        }
    }
    plan.update = changed;
    plan
}

fn size(slice: &EndpointSlice) -> usize {
    slice.endpoints.as_ref().map_or(0, Vec::len)
}

fn fill(slice: &mut EndpointSlice, left: &mut Vec<Endpoint>) {
    let endpoints = slice.endpoints.get_or_insert_default();
    let room = MAX_ENDPOINTS.saturating_sub(endpoints.len()).min(left.len());
    endpoints.extend(left.drain(..room));
}

fn identity(endpoint: &Endpoint) -> Identity {
    let target = endpoint.target_ref.as_ref().and_then(|target| target.name.clone());
    (endpoint.addresses.clone(), endpoint.hostname.clone(), target)
}

fn ports_key(ports: &[EndpointPort]) -> Ports {
    let mut key: Ports = ports
        .iter()
        .map(|port| {
            let protocol = port.protocol.clone().unwrap_or_else(|| "TCP".to_owned());
            (port.name.clone().unwrap_or_default(), protocol, port.port, port.app_protocol.clone())
        })
        .collect();
    key.sort();
    key
}

fn endpoint_ports(service: &Service, pod: &Pod) -> Vec<EndpointPort> {
    let ports = service.spec.iter().flat_map(|spec| spec.ports.iter().flatten());
    ports
        .filter_map(|port| {
            Some(EndpointPort {
                name: Some(port.name.clone().unwrap_or_default()),
                port: Some(target_port(pod, port)?),
                protocol: Some(port.protocol.clone().unwrap_or_else(|| "TCP".to_owned())),
                app_protocol: port.app_protocol.clone(),
            })
        })
        .collect()
}

fn endpoint(service: &Service, pod: &Pod, node: Option<&Node>, family: &str) -> Option<Endpoint> {
    let addresses: Vec<String> = addresses(pod)
        .into_iter()
        .filter(|address| address.is_ipv6() == (family == "IPv6"))
        .map(|address| address.to_string())
        .collect();
    if addresses.is_empty() {
        return None;
    }
    let serving = pod::is_ready(pod);
    let terminating = pod.metadata.deletion_timestamp.is_some();
    let ready = publishes_not_ready(service) || (serving && !terminating);
    let zone = node.and_then(|node| node.metadata.labels.as_ref()?.get(ZONE)).filter(|zone| !zone.is_empty()).cloned();
    let node_name = Some(pod::node_name(pod).to_owned()).filter(|name| !name.is_empty());
    Some(Endpoint {
        addresses,
        conditions: Some(EndpointConditions {
            ready: Some(ready),
            serving: Some(serving),
            terminating: Some(terminating),
        }),
        hints: hints(service, ready, zone.as_deref(), node_name.as_deref()),
        hostname: hostname(pod, service),
        node_name,
        target_ref: Some(ObjectReference {
            kind: Some("Pod".to_owned()),
            namespace: pod.metadata.namespace.clone(),
            name: pod.metadata.name.clone(),
            uid: pod.metadata.uid.clone(),
            ..Default::default()
        }),
        zone,
        deprecated_topology: None,
    })
}

/// Who should prefer the endpoint, by the service's trafficDistribution.
fn hints(service: &Service, ready: bool, zone: Option<&str>, node: Option<&str>) -> Option<EndpointHints> {
    let preference = service.spec.as_ref()?.traffic_distribution.as_deref()?;
    let by_node = match preference {
        "PreferClose" | "PreferSameZone" => false,
        "PreferSameNode" => true,
        _ => return None,
    };
    if !ready {
        return None;
    }
    let for_zones = zone.map(|name| vec![ForZone { name: name.to_owned() }]);
    let for_nodes = node.filter(|_| by_node).map(|name| vec![ForNode { name: name.to_owned() }]);
    (for_zones.is_some() || for_nodes.is_some()).then_some(EndpointHints { for_zones, for_nodes })
}

fn slice_labels(service: &Service) -> BTreeMap<String, String> {
    let reserved = [SERVICE_NAME, MANAGED_BY, HEADLESS];
    let mut labels: BTreeMap<String, String> = service.metadata.labels.clone().unwrap_or_default();
    labels.retain(|key, _| !reserved.contains(&key.as_str()));
    if is_headless(service) {
        labels.insert(HEADLESS.to_owned(), String::new());
    }
    labels.insert(SERVICE_NAME.to_owned(), service.metadata.name.clone().unwrap_or_default());
    labels.insert(MANAGED_BY.to_owned(), MANAGER.to_owned());
    labels
}

fn new_slice(service: &Service, ports: Vec<EndpointPort>, family: &str) -> EndpointSlice {
    EndpointSlice {
        metadata: ObjectMeta {
            generate_name: Some(format!("{}-", service.metadata.name.as_deref().unwrap_or_default())),
            namespace: service.metadata.namespace.clone(),
            labels: Some(slice_labels(service)),
            owner_references: Some(vec![controller_reference(service)]),
            ..Default::default()
        },
        address_type: family.to_owned(),
        endpoints: Some(Vec::new()),
        ports: Some(ports),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn service(spec: Value) -> Service {
        serde_json::from_value(json!({"metadata": {"name": "web", "namespace": "default", "uid": "s",
            "labels": {"team": "a"}}, "spec": spec}))
        .expect("a service")
    }

    fn web() -> Service {
        service(json!({"clusterIP": "10.96.0.5", "ipFamilies": ["IPv4"], "selector": {"app": "web"},
            "ports": [{"port": 80, "targetPort": 8080, "protocol": "TCP"}]}))
    }

    fn pod(number: usize, change: Value) -> Arc<Pod> {
        let mut pod = json!({
            "metadata": {"name": format!("web-{number}"), "namespace": "default", "uid": format!("u{number}")},
            "spec": {"nodeName": "n1", "containers": []},
            "status": {"phase": "Running", "podIPs": [{"ip": format!("10.244.{}.{}", number / 250, number % 250 + 1)}],
                "conditions": [{"type": "Ready", "status": "True"}]},
        });
        for (path, value) in change.as_object().expect("an object") {
            let (parent, key) = path.rsplit_once('/').expect("a path");
            pod.pointer_mut(parent).expect("a parent")[key] = value.clone();
        }
        Arc::new(serde_json::from_value(pod).expect("a pod"))
    }

    fn node(_: &str) -> Option<Arc<Node>> {
        Some(Arc::new(serde_json::from_value(json!({"metadata": {"labels": {ZONE: "a"}}})).expect("a node")))
    }

    /// Carries a plan out over slices that live in memory.
    fn apply(existing: &mut Vec<Arc<EndpointSlice>>, plan: SlicePlan) -> (usize, usize, usize) {
        let counts = (plan.create.len(), plan.update.len(), plan.delete.len());
        for mut slice in plan.create {
            let name = format!("web-s{}", existing.len() + 100 * counts.0);
            slice.metadata.uid = Some(name.clone());
            slice.metadata.name = Some(format!("{name}-{}", existing.len()));
            existing.push(Arc::new(slice));
        }
        for slice in plan.update {
            let found = existing.iter_mut().find(|old| old.metadata.name == slice.metadata.name);
            *found.expect("an update is of a slice that exists") = Arc::new(slice);
        }
        for slice in plan.delete {
            existing.retain(|old| old.metadata.name != slice.metadata.name);
        }
        counts
    }

    fn sizes(existing: &[Arc<EndpointSlice>]) -> Vec<usize> {
        let mut sizes: Vec<usize> = existing.iter().map(|slice| size(slice)).collect();
        sizes.sort_unstable();
        sizes
    }

    #[test]
    fn an_endpoint_says_all_there_is_to_say() {
        let plan = plan_slices(&web(), &[pod(0, json!({}))], &[], &node);
        let slice = serde_json::to_value(&plan.create[0]).expect("JSON");
        assert_eq!(
            slice,
            json!({
                "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
                "metadata": {
                    "generateName": "web-", "namespace": "default",
                    "labels": {"team": "a", SERVICE_NAME: "web", MANAGED_BY: MANAGER},
                    "ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": "web", "uid": "s",
                        "controller": true, "blockOwnerDeletion": true}],
                },
                "endpoints": [{
                    "addresses": ["10.244.0.1"], "nodeName": "n1", "zone": "a",
                    "conditions": {"ready": true, "serving": true, "terminating": false},
                    "targetRef": {"kind": "Pod", "namespace": "default", "name": "web-0", "uid": "u0"},
                }],
                "ports": [{"name": "", "port": 8080, "protocol": "TCP"}],
            })
        );
    }

    #[test]
    fn conditions_follow_readiness_and_termination() {
        let check = |service: &Service, change: Value, expected: Option<(bool, bool, bool)>| {
            let plan = plan_slices(service, &[pod(0, change)], &[], &node);
            let endpoint = plan.create[0].endpoints.as_ref().and_then(|endpoints| endpoints.first());
            let conditions = endpoint.and_then(|endpoint| endpoint.conditions.clone());
            let found =
                conditions.map(|c| (c.ready == Some(true), c.serving == Some(true), c.terminating == Some(true)));
            assert_eq!(found, expected);
        };
        let not_ready = json!({"/status/conditions": []});
        let leaving = json!({"/metadata/deletionTimestamp": "2024-01-01T00:00:00Z"});
        check(&web(), not_ready.clone(), Some((false, false, false)));
        check(&web(), leaving.clone(), Some((false, true, true)));
        check(&web(), json!({"/status/phase": "Failed"}), None);
        check(&web(), json!({"/status/podIPs": []}), None);
        let mut all = web();
        all.spec.as_mut().expect("a spec").publish_not_ready_addresses = Some(true);
        check(&all, not_ready, Some((true, false, false)));
        check(&all, leaving, Some((true, true, true)));
    }

    #[test]
    fn a_service_without_endpoints_has_one_empty_slice() {
        let mut slices = Vec::new();
        assert_eq!(apply(&mut slices, plan_slices(&web(), &[], &[], &node)), (1, 0, 0));
        assert_eq!(apply(&mut slices.clone(), plan_slices(&web(), &[], &slices, &node)), (0, 0, 0));
        // Its first pod rewrites the slice rather than making another.
        let plan = plan_slices(&web(), &[pod(0, json!({}))], &slices, &node);
        assert_eq!(apply(&mut slices, plan), (0, 1, 0));
        let plan = plan_slices(&web(), &[], &slices, &node);
        assert_eq!(apply(&mut slices, plan), (0, 1, 0));
        assert_eq!(sizes(&slices), [0]);
    }

    #[test]
    fn endpoints_stay_where_they_are() {
        let mut slices = Vec::new();
        let pods: Vec<_> = (0..250).map(|n| pod(n, json!({}))).collect();
        apply(&mut slices, plan_slices(&web(), &pods, &[], &node));
        assert_eq!(sizes(&slices), [50, 100, 100]);
        assert_eq!(apply(&mut slices.clone(), plan_slices(&web(), &pods, &slices, &node)), (0, 0, 0));
        // One pod goes and one comes: the slice that lost one takes it.
        let mut next = pods.clone();
        next.remove(3);
        next.push(pod(300, json!({})));
        let plan = plan_slices(&web(), &next, &slices, &node);
        assert_eq!(apply(&mut slices, plan), (0, 1, 0));
        assert_eq!(sizes(&slices), [50, 100, 100]);
        // Sixty more fit into no one slice beside others: the half-full one takes none of
        // a part, a new slice is made.
        next.extend((400..460).map(|n| pod(n, json!({}))));
        let plan = plan_slices(&web(), &next, &slices, &node);
        assert_eq!(apply(&mut slices, plan), (1, 0, 0));
        assert_eq!(sizes(&slices), [50, 60, 100, 100]);
    }

    #[test]
    fn pods_with_other_numbers_behind_a_name_get_their_own_slice() {
        let service = service(json!({"clusterIP": "None", "ipFamilies": ["IPv4"], "selector": {"app": "web"},
            "ports": [{"name": "http", "port": 80, "targetPort": "http"}]}));
        let with_port = |number: usize, port: i32| {
            pod(
                number,
                json!({"/spec/containers": [{"name": "c", "ports": [{"name": "http", "containerPort": port}]}],
                "/spec/hostname": "one", "/spec/subdomain": "web"}),
            )
        };
        let plan = plan_slices(&service, &[with_port(0, 80), with_port(1, 8080), with_port(2, 80)], &[], &node);
        assert_eq!(plan.create.iter().map(size).collect::<Vec<_>>(), [2, 1]);
        let slice = &plan.create[0];
        assert!(slice.metadata.labels.as_ref().expect("labels").contains_key(HEADLESS));
        assert_eq!(slice.endpoints.as_ref().expect("endpoints")[0].hostname.as_deref(), Some("one"));
    }

    #[test]
    fn a_pod_of_an_unknown_node_waits() {
        let plan = plan_slices(&web(), &[pod(0, json!({}))], &[], &|_| None);
        assert_eq!(plan.nodes_missing, ["n1"]);
        assert_eq!(size(&plan.create[0]), 0);
    }

    #[test]
    fn traffic_distribution_becomes_hints() {
        let mut near = web();
        near.spec.as_mut().expect("a spec").traffic_distribution = Some("PreferSameNode".into());
        let plan = plan_slices(&near, &[pod(0, json!({}))], &[], &node);
        let hints =
            serde_json::to_value(&plan.create[0].endpoints.as_ref().expect("endpoints")[0].hints).expect("JSON");
        assert_eq!(hints, json!({"forNodes": [{"name": "n1"}], "forZones": [{"name": "a"}]}));
    }

    #[test]
    fn slices_of_a_former_service_of_the_name_are_removed() {
        let mut slices = Vec::new();
        apply(&mut slices, plan_slices(&web(), &[pod(0, json!({}))], &[], &node));
        let mut successor = web();
        successor.metadata.uid = Some("other".into());
        let plan = plan_slices(&successor, &[pod(0, json!({}))], &slices, &node);
        assert_eq!(apply(&mut slices, plan), (1, 0, 1));
    }
}
