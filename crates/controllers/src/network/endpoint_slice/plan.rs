//! Which slices a service should have, given its pods and the slices it has.
//!
//! Endpoints stay in the slice they are in, so that a change of one pod rewrites one
//! slice; the placement rules are upstream's (staging/src/k8s.io/endpointslice).

use super::writer::{MANAGED_BY, SERVICE_NAME, SlicePlan};
use crate::network::service_pods::{
    HEADLESS, addresses, has_place, hostname, is_headless, node_name, protocol_or_tcp, publishes_not_ready,
    target_port, target_ref,
};
use ferry_api::rules::owner::controller_reference;
use ferry_api::rules::pod;
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{Node, NodeView, Pod, PodView, Service, ServiceView};
use ferry_api::view::discovery::v1::{
    Endpoint, EndpointConditions, EndpointHints, EndpointPort, EndpointPortView, EndpointSlice, EndpointSliceView,
    EndpointView, ForNode, ForZone,
};
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_client::SharedObject;
use std::collections::{BTreeMap, HashMap};

pub(super) const MANAGER: &str = "endpointslice-controller.k8s.io";
const ZONE: &str = "topology.kubernetes.io/zone";

/// Upstream's default for --max-endpoints-per-slice.
const MAX_ENDPOINTS: usize = 100;

/// Two slices can hold the same endpoints' ports only if this is equal.
type Ports = Vec<(String, String, Option<i32>, Option<String>)>;

/// Addresses, hostname and pod: equal for the same endpoint, however its state changes.
type Identity = (Vec<String>, String, String);

pub(super) fn plan_slices(
    service: ServiceView<'_>,
    pods: &[SharedObject<Pod>],
    existing: &[SharedObject<EndpointSlice>],
    node_of: &dyn Fn(&str) -> Option<SharedObject<Node>>,
) -> SlicePlan {
    let mut plan = SlicePlan::default();
    let families = families(service);
    let is_of_none = |slice: &&SharedObject<EndpointSlice>| !families.contains(&slice.view().address_type());
    plan.delete.extend(existing.iter().filter(is_of_none).cloned());
    for family in families {
        let of_family = existing.iter().filter(|slice| slice.view().address_type() == family).cloned().collect();
        plan_family(service, pods, of_family, node_of, family, &mut plan);
    }
    plan
}

/// The address types of a service, from the API's decision about its IP families.
fn families(service: ServiceView<'_>) -> Vec<&'static str> {
    let listed = service.spec().ip_families().iter();
    let known = listed.filter_map(|family| ["IPv4", "IPv6"].into_iter().find(|known| *known == family));
    let mut types: Vec<&'static str> = known.collect();
    if types.is_empty() {
        types.push(if service.spec().cluster_ip().contains(':') { "IPv6" } else { "IPv4" });
    }
    types
}

fn plan_family(
    service: ServiceView<'_>,
    pods: &[SharedObject<Pod>],
    existing: Vec<SharedObject<EndpointSlice>>,
    node_of: &dyn Fn(&str) -> Option<SharedObject<Node>>,
    family: &'static str,
    plan: &mut SlicePlan,
) {
    let mut delete = Vec::new();
    let mut by_ports: BTreeMap<Ports, Vec<SharedObject<EndpointSlice>>> = BTreeMap::new();
    let count = existing.len();
    for slice in existing {
        let owned = slice.meta().owner_references().iter().any(|owner| {
            owner.uid() == service.metadata().uid() && owner.kind() == "Service" && owner.api_version() == "v1"
        });
        if owned {
            by_ports.entry(ports_key(slice.view().ports())).or_default().push(slice);
        } else {
            // It belongs to a service of the same name that is gone.
            delete.push(slice);
        }
    }
    let mut wanted: BTreeMap<Ports, (Vec<EndpointPort>, Vec<Endpoint>)> = BTreeMap::new();
    for pod in pods.iter().map(SharedObject::view).filter(|pod| has_place(*pod, true)) {
        let ports = endpoint_ports(service, pod);
        let node = node_of(pod.spec().node_name());
        if node.is_none() && !publishes_not_ready(service) {
            plan.nodes_missing.push(pod.spec().node_name().to_owned());
            continue;
        }
        let key = ports_key(ports.iter().map(Owned::view));
        let (_, endpoints) = wanted.entry(key).or_insert_with(|| (ports, Vec::new()));
        endpoints.extend(endpoint(service, pod, node.as_ref().map(SharedObject::view), family));
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
    let placeholder = new_slice(service, Vec::new(), family);
    if count == delete.len() && create.is_empty() {
        // A service always has a slice, so that readers know "no endpoints" from
        // "not reconciled yet".
        if let [only] = delete.as_slice()
            && is_placeholder(only.view(), placeholder.view())
        {
            delete.clear();
        } else {
            create.push(placeholder.clone());
        }
    }
    // Rewriting a slice is cheaper for every watcher than deleting one and making another.
    delete.retain(|slice| {
        if slice.meta().owner_references() != placeholder.view().metadata().owner_references() {
            return true;
        }
        let Some(mut new) = create.pop() else { return true };
        let mut metadata = slice.meta().to_owned();
        metadata.set_labels(new.view().metadata().labels());
        new.set_metadata(metadata);
        update.push(new);
        false
    });
    plan.create.extend(create);
    plan.update.extend(update);
    plan.delete.extend(delete);
}

fn is_placeholder(slice: EndpointSliceView<'_>, placeholder: EndpointSliceView<'_>) -> bool {
    slice.endpoints().is_empty()
        && slice.ports().is_empty()
        && slice.metadata().labels() == placeholder.metadata().labels()
        && slice.metadata().owner_references() == placeholder.metadata().owner_references()
}

/// Puts `endpoints` into slices that share their ports.
fn place(
    service: ServiceView<'_>,
    slices: Vec<SharedObject<EndpointSlice>>,
    ports: Vec<EndpointPort>,
    endpoints: Vec<Endpoint>,
    family: &'static str,
) -> SlicePlan {
    let mut plan = SlicePlan::default();
    let numbered = endpoints.into_iter().enumerate();
    let mut left: HashMap<Identity, (usize, Endpoint)> =
        numbered.map(|(order, endpoint)| (identity(endpoint.view()), (order, endpoint))).collect();
    let labels = slice_labels(service);
    let (mut changed, mut unchanged) = (Vec::new(), Vec::new());
    for slice in slices {
        let before = slice.view().endpoints();
        let kept = before.iter().filter_map(|old| left.remove(&identity(old)));
        let kept: Vec<Endpoint> = kept.map(|(_, endpoint)| endpoint).collect();
        if kept.is_empty() {
            plan.delete.push(slice);
        } else if !before.iter().eq(kept.iter().map(Owned::view)) || slice.meta().labels().to_map() != labels {
            let mut slice = slice.to_owned();
            slice.set_endpoints(kept);
            slice.edit_metadata(|metadata| metadata.set_labels(&labels));
            changed.push(slice);
        } else {
            unchanged.push(slice);
        }
    }
    let mut left: Vec<(usize, Endpoint)> = left.into_values().collect();
    left.sort_by_key(|(order, _)| *order);
    let mut left: Vec<Endpoint> = left.into_iter().map(|(_, endpoint)| endpoint).collect();
    // Slices that are written anyway are filled first, the fullest before the others.
    changed.sort_by_key(|slice| std::cmp::Reverse(size(slice.view())));
    for slice in &mut changed {
        fill(slice, &mut left);
    }
    while !left.is_empty() {
        // The rest goes into the one slice that it fits best, or else into a new one.
        let best = unchanged
            .iter()
            .enumerate()
            .map(|(index, slice)| (index, size(slice.view())))
            .filter(|(_, size)| size + left.len() <= MAX_ENDPOINTS)
            .max_by_key(|(_, size)| *size);
        match best {
            Some((index, _)) => {
                let mut slice = unchanged.swap_remove(index).to_owned();
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

fn size(slice: EndpointSliceView<'_>) -> usize {
    slice.endpoints().len()
}

fn fill(slice: &mut EndpointSlice, left: &mut Vec<Endpoint>) {
    let room = MAX_ENDPOINTS.saturating_sub(size(slice.view())).min(left.len());
    left.drain(..room).for_each(|endpoint| slice.push_endpoints(endpoint));
}

fn identity(endpoint: EndpointView<'_>) -> Identity {
    let target = endpoint.target_ref().unwrap_or_default();
    (endpoint.addresses().to_vec(), endpoint.hostname().unwrap_or_default().to_owned(), target.name().to_owned())
}

fn ports_key<'a>(ports: impl IntoIterator<Item = EndpointPortView<'a>>) -> Ports {
    let mut key: Ports = ports
        .into_iter()
        .map(|port| {
            let protocol = protocol_or_tcp(port.protocol().unwrap_or_default());
            let app_protocol = port.app_protocol().map(str::to_owned);
            (port.name().unwrap_or_default().to_owned(), protocol.to_owned(), port.port(), app_protocol)
        })
        .collect();
    key.sort();
    key
}

fn endpoint_ports(service: ServiceView<'_>, pod: PodView<'_>) -> Vec<EndpointPort> {
    let ports = service.spec().ports().iter();
    let reached = ports.filter_map(|port| Some((port, target_port(pod, port)?)));
    reached
        .map(|(port, number)| {
            EndpointPort::new()
                .with_name(port.name())
                .with_port(number)
                .with_protocol(protocol_or_tcp(port.protocol()))
                .with_app_protocol(port.app_protocol())
        })
        .collect()
}

fn endpoint(service: ServiceView<'_>, pod: PodView<'_>, node: Option<NodeView<'_>>, family: &str) -> Option<Endpoint> {
    let of_family = addresses(pod).into_iter().filter(|address| address.is_ipv6() == (family == "IPv6"));
    let addresses: Vec<String> = of_family.map(|address| address.to_string()).collect();
    if addresses.is_empty() {
        return None;
    }
    let (serving, terminating) = (pod::is_ready(pod), pod::is_deleting(pod));
    let ready = publishes_not_ready(service) || (serving && !terminating);
    let zone = node.and_then(|node| node.metadata().labels().get(ZONE)).filter(|zone| !zone.is_empty());
    let conditions = EndpointConditions::new().with_ready(ready).with_serving(serving).with_terminating(terminating);
    Some(
        Endpoint::new()
            .with_addresses(addresses)
            .with_conditions(conditions)
            .with_hints(hints(service, ready, zone, node_name(pod)))
            .with_hostname(hostname(pod, service))
            .with_node_name(node_name(pod))
            .with_target_ref(target_ref(pod))
            .with_zone(zone),
    )
}

/// The zones and nodes that should prefer the endpoint, by the service's trafficDistribution.
fn hints(service: ServiceView<'_>, ready: bool, zone: Option<&str>, node: Option<&str>) -> Option<EndpointHints> {
    let by_node = match service.spec().traffic_distribution()? {
        "PreferClose" | "PreferSameZone" => false,
        "PreferSameNode" => true,
        _ => return None,
    };
    if !ready {
        return None;
    }
    let node = node.filter(|_| by_node);
    let hints = EndpointHints::new()
        .with_for_zones(zone.map(|name| ForZone::new().with_name(name)))
        .with_for_nodes(node.map(|name| ForNode::new().with_name(name)));
    (zone.is_some() || node.is_some()).then_some(hints)
}

fn slice_labels(service: ServiceView<'_>) -> BTreeMap<String, String> {
    let reserved = [SERVICE_NAME, MANAGED_BY, HEADLESS];
    let mut labels = service.metadata().labels().to_map();
    labels.retain(|key, _| !reserved.contains(&key.as_str()));
    if is_headless(service) {
        labels.insert(HEADLESS.to_owned(), String::new());
    }
    labels.insert(SERVICE_NAME.to_owned(), service.metadata().name().to_owned());
    labels.insert(MANAGED_BY.to_owned(), MANAGER.to_owned());
    labels
}

fn new_slice(service: ServiceView<'_>, ports: Vec<EndpointPort>, family: &str) -> EndpointSlice {
    let metadata = ObjectMeta::new()
        .with_generate_name(format!("{}-", service.metadata().name()))
        .with_namespace(service.metadata().namespace())
        .with_labels(slice_labels(service))
        .with_owner_references([controller_reference::<Service>(service)]);
    EndpointSlice::new().with_metadata(metadata).with_address_type(family).with_ports(ports)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn service(spec: Value) -> Service {
        Service::from(json!({"metadata": {"name": "web", "namespace": "default", "uid": "s",
            "labels": {"team": "a"}}, "spec": spec}))
    }

    fn web() -> Service {
        service(json!({"clusterIP": "10.96.0.5", "ipFamilies": ["IPv4"], "selector": {"app": "web"},
            "ports": [{"port": 80, "targetPort": 8080, "protocol": "TCP"}]}))
    }

    fn pod(number: usize, change: Value) -> SharedObject<Pod> {
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
        SharedObject::of(pod)
    }

    fn node(_: &str) -> Option<SharedObject<Node>> {
        Some(SharedObject::of(json!({"metadata": {"labels": {ZONE: "a"}}})))
    }

    /// Carries a plan out over slices that live in memory.
    fn apply(existing: &mut Vec<SharedObject<EndpointSlice>>, plan: SlicePlan) -> (usize, usize, usize) {
        let counts = (plan.create.len(), plan.update.len(), plan.delete.len());
        for mut slice in plan.create {
            let name = format!("web-s{}", existing.len() + 100 * counts.0);
            slice.edit_metadata(|metadata| {
                metadata.set_uid(&name);
                metadata.set_name(format!("{name}-{}", existing.len()));
            });
            existing.push(SharedObject::of(slice));
        }
        for slice in plan.update {
            let slice = SharedObject::<EndpointSlice>::of(slice);
            let found = existing.iter_mut().find(|old| old.name() == slice.name());
            *found.expect("an update is of a slice that exists") = slice;
        }
        for slice in plan.delete {
            existing.retain(|old| old.name() != slice.name());
        }
        counts
    }

    fn sizes(existing: &[SharedObject<EndpointSlice>]) -> Vec<usize> {
        let mut sizes: Vec<usize> = existing.iter().map(|slice| size(slice.view())).collect();
        sizes.sort_unstable();
        sizes
    }

    #[test]
    fn an_endpoint_says_all_there_is_to_say() {
        let plan = plan_slices(web().view(), &[pod(0, json!({}))], &[], &node);
        assert_eq!(
            *plan.create[0].value(),
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
            let plan = plan_slices(service.view(), &[pod(0, change)], &[], &node);
            let endpoint = plan.create[0].view().endpoints().first();
            let conditions = endpoint.map(|endpoint| endpoint.conditions());
            let found =
                conditions.map(|c| (c.ready() == Some(true), c.serving() == Some(true), c.terminating() == Some(true)));
            assert_eq!(found, expected);
        };
        let not_ready = json!({"/status/conditions": []});
        let leaving = json!({"/metadata/deletionTimestamp": "2024-01-01T00:00:00Z"});
        check(&web(), not_ready.clone(), Some((false, false, false)));
        check(&web(), leaving.clone(), Some((false, true, true)));
        check(&web(), json!({"/status/phase": "Failed"}), None);
        check(&web(), json!({"/status/podIPs": []}), None);
        let mut all = web();
        all.edit_spec(|spec| spec.set_publish_not_ready_addresses(true));
        check(&all, not_ready, Some((true, false, false)));
        check(&all, leaving, Some((true, true, true)));
    }

    #[test]
    fn a_service_without_endpoints_has_one_empty_slice() {
        let mut slices = Vec::new();
        assert_eq!(apply(&mut slices, plan_slices(web().view(), &[], &[], &node)), (1, 0, 0));
        assert_eq!(apply(&mut slices.clone(), plan_slices(web().view(), &[], &slices, &node)), (0, 0, 0));
        // Its first pod rewrites the slice rather than making another.
        let plan = plan_slices(web().view(), &[pod(0, json!({}))], &slices, &node);
        assert_eq!(apply(&mut slices, plan), (0, 1, 0));
        let plan = plan_slices(web().view(), &[], &slices, &node);
        assert_eq!(apply(&mut slices, plan), (0, 1, 0));
        assert_eq!(sizes(&slices), [0]);
    }

    #[test]
    fn endpoints_stay_where_they_are() {
        let mut slices = Vec::new();
        let pods: Vec<_> = (0..250).map(|n| pod(n, json!({}))).collect();
        apply(&mut slices, plan_slices(web().view(), &pods, &[], &node));
        assert_eq!(sizes(&slices), [50, 100, 100]);
        assert_eq!(apply(&mut slices.clone(), plan_slices(web().view(), &pods, &slices, &node)), (0, 0, 0));
        // One pod goes and one comes: the slice that lost one takes it.
        let mut next = pods.clone();
        next.remove(3);
        next.push(pod(300, json!({})));
        let plan = plan_slices(web().view(), &next, &slices, &node);
        assert_eq!(apply(&mut slices, plan), (0, 1, 0));
        assert_eq!(sizes(&slices), [50, 100, 100]);
        // Sixty more fit into no one slice beside others: the half-full one takes none of
        // a part, a new slice is made.
        next.extend((400..460).map(|n| pod(n, json!({}))));
        let plan = plan_slices(web().view(), &next, &slices, &node);
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
        let plan = plan_slices(service.view(), &[with_port(0, 80), with_port(1, 8080), with_port(2, 80)], &[], &node);
        assert_eq!(plan.create.iter().map(|slice| size(slice.view())).collect::<Vec<_>>(), [2, 1]);
        let slice = plan.create[0].view();
        assert!(slice.metadata().labels().contains_key(HEADLESS));
        assert_eq!(slice.endpoints().first().expect("endpoints").hostname(), Some("one"));
    }

    #[test]
    fn a_pod_of_an_unknown_node_waits() {
        let plan = plan_slices(web().view(), &[pod(0, json!({}))], &[], &|_| None);
        assert_eq!(plan.nodes_missing, ["n1"]);
        assert_eq!(size(plan.create[0].view()), 0);
    }

    #[test]
    fn traffic_distribution_becomes_hints() {
        let mut near = web();
        near.edit_spec(|spec| spec.set_traffic_distribution("PreferSameNode"));
        let plan = plan_slices(near.view(), &[pod(0, json!({}))], &[], &node);
        assert_eq!(
            plan.create[0].value()["endpoints"][0]["hints"],
            json!({"forNodes": [{"name": "n1"}], "forZones": [{"name": "a"}]})
        );
    }

    #[test]
    fn slices_of_a_former_service_of_the_name_are_removed() {
        let mut slices = Vec::new();
        apply(&mut slices, plan_slices(web().view(), &[pod(0, json!({}))], &[], &node));
        let mut successor = web();
        successor.edit_metadata(|metadata| metadata.set_uid("other"));
        let plan = plan_slices(successor.view(), &[pod(0, json!({}))], &slices, &node);
        assert_eq!(apply(&mut slices, plan), (1, 0, 1));
    }
}
