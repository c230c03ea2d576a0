//! The plugin on a cluster of informers: what it rejects, reserves and gives back.

use super::*;
use crate::framework::Framework;
use crate::plugins::testing::{changed, node, pod};
use ferry_client::SharedObject;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

fn slice(handle: &Handle, node: &str, devices: &[&str]) {
    let devices: Vec<Value> = devices.iter().map(|name| json!({"name": name})).collect();
    handle.resource_slices.put(SharedObject::of(json!({"metadata": {"name": node}, "spec": {
        "driver": "d", "nodeName": node, "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
        "devices": devices}})));
}

fn claim(name: &str, status: Value) -> SharedObject<ResourceClaim> {
    let request =
        json!({"name": "r", "exactly": {"deviceClassName": "gpus", "allocationMode": "ExactCount", "count": 1}});
    static VERSION: AtomicU64 = AtomicU64::new(1);
    let version = VERSION.fetch_add(1, Ordering::Relaxed);
    SharedObject::of(json!({
        "metadata": {"name": name, "namespace": "default", "uid": name, "resourceVersion": version.to_string()},
        "spec": {"devices": {"requests": [request]}}, "status": status,
    }))
}

fn handle() -> Handle {
    let handle = Handle::default();
    handle.device_classes.put(SharedObject::of(json!({"metadata": {"name": "gpus"}})));
    handle
}

fn using(claim: &str) -> PodInfo {
    pod(json!({"resourceClaims": [{"name": "gpu", "resourceClaimName": claim}]}))
}

fn framework(handle: &Handle) -> Framework {
    Framework::new(vec![(Arc::new(DynamicResources::new(handle, Timeouts::default())), 2)])
}

/// The outcome of the filters on a node, with the state of the cycle.
fn try_on(framework: &Framework, pod: &PodInfo, node: &NodeInfo) -> (CycleState, Result<(), String>) {
    let (mut state, snapshot) = (CycleState::default(), Snapshot::of(vec![node.clone()]));
    let result = framework.pre_filter(&mut state, pod, &snapshot).and_then(|_| framework.filter(&state, pod, node));
    (state, result.map_err(|rejection| rejection.reasons.join(", ")))
}

#[track_caller]
fn check(handle: &Handle, pod: &PodInfo, on: &str, expected: Result<(), &str>) {
    let info = NodeInfo::of(node(on, json!({})));
    let (_, result) = try_on(&framework(handle), pod, &info);
    assert_eq!(result, expected.map_err(str::to_owned));
}

#[test]
fn a_pod_waits_until_its_claims_are_there() {
    let handle = handle();
    let plugin = DynamicResources::new(&handle, Timeouts::default());
    let check = |pod: &PodInfo, expected: Result<(), &str>| {
        let found = plugin.pre_enqueue(pod).map_err(|rejection| rejection.reasons.join(", "));
        assert_eq!(found, expected.map_err(str::to_owned));
    };
    check(&pod(json!({})), Ok(()));
    check(&using("c"), Err("resourceclaim.resource.k8s.io \"c\" not found"));
    handle.resource_claims.put(claim("c", json!({})));
    check(&using("c"), Ok(()));
    let templated = pod(json!({"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}));
    check(&templated, Err("pod \"default/web\": ResourceClaim not created yet"));
    let named =
        changed(&templated, json!({"status": {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "c"}]}}));
    check(&named, Err("ResourceClaim default/c was not created for Pod default/web (Pod is not owner)"));

    let event = ClusterEvent::pod_updated(&templated, &named);
    assert_eq!(plugin.hint(&named, &event), Hint::Skip, "the claim is another's");
    let mut own: Value = claim("c", json!({})).to_owned().into();
    own["metadata"]["ownerReferences"] = json!([{"uid": "web", "controller": true}]);
    handle.resource_claims.put(SharedObject::of(own));
    assert_eq!(plugin.hint(&named, &ClusterEvent::pod_updated(&templated, &named)), Hint::Queue);
}

#[test]
fn a_pod_goes_where_devices_are_and_no_device_goes_to_two() {
    let handle = handle();
    slice(&handle, "a", &["gpu-0"]);
    handle.resource_claims.put(claim("one", json!({})));
    handle.resource_claims.put(claim("two", json!({})));
    check(&handle, &using("one"), "b", Err("cannot allocate all claims"));
    check(&handle, &using("one"), "a", Ok(()));

    // Two profiles share what is in flight.
    let (first, second) = (framework(&handle), framework(&handle));
    let info = NodeInfo::of(node("a", json!({})));
    let (state, result) = try_on(&first, &using("one"), &info);
    assert_eq!(result, Ok(()));
    first.reserve(&state, &using("one"), "a").expect("a reservation");
    assert_eq!(try_on(&second, &using("two"), &info).1, Err("cannot allocate all claims".to_owned()));
    let in_flight = "resource claim default/one is in the process of being allocated";
    assert_eq!(try_on(&second, &using("one"), &info).1, Err(in_flight.to_owned()));
    assert!(first.unreserve(&state, &using("one"), "a").is_empty(), "nothing was written");
    assert_eq!(try_on(&second, &using("two"), &info).1, Ok(()));

    let devices = json!({"results": [{"request": "r", "driver": "d", "pool": "a", "device": "gpu-0"}]});
    let on_a =
        json!({"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]});
    handle.resource_claims.put(claim("one", json!({"allocation": {"devices": devices, "nodeSelector": on_a}})));
    check(&handle, &using("two"), "a", Err("cannot allocate all claims"));
    check(&handle, &using("one"), "a", Ok(()));
    check(&handle, &using("one"), "b", Err("resourceclaim not available on the node"));
}

#[test]
fn a_class_that_is_missing_is_named_and_its_coming_wakes_the_pod() {
    let handle = Handle::default();
    handle.resource_claims.put(claim("c", json!({})));
    check(&handle, &using("c"), "a", Err("request r: device class gpus does not exist"));
    let class = json!({"metadata": {"name": "gpus"}});
    let event = ClusterEvent {
        resource: Resource::of::<DeviceClass>(),
        action: Action::Add,
        old: None,
        new: Some(crate::framework::Version::Other((&class).into())),
    };
    assert_eq!(framework(&handle).hint(NAME, &using("c"), &event), Hint::Queue);
}

#[test]
fn a_claim_that_keeps_its_pod_from_every_node_is_freed() {
    let handle = handle();
    let on_gone = json!({"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]});
    let allocation = json!({"devices": {"results": []}, "nodeSelector": on_gone});
    let check = |reserved_for: Value, expected: &str, has_errand: bool| {
        handle.resource_claims.put(claim("c", json!({"allocation": allocation, "reservedFor": reserved_for})));
        let (framework, pod) = (framework(&handle), using("c"));
        let info = NodeInfo::of(node("a", json!({})));
        let (state, result) = try_on(&framework, &pod, &info);
        assert!(result.is_err());
        let (snapshot, nominated) = (Snapshot::of(vec![info]), crate::framework::Nominated::default());
        let diagnosis = crate::fit_error::Diagnosis::default();
        let failure = Failure {
            framework: &framework,
            state: &state,
            pod: &pod,
            snapshot: &snapshot,
            diagnosis: &diagnosis,
            nominated: &nominated,
        };
        let found = framework.post_filter(&failure).expect("a plugin");
        assert_eq!((&*found.message, found.errand.is_some()), (expected, has_errand));
    };
    check(json!([]), "deallocation of ResourceClaim completed", true);
    check(json!([{"resource": "pods", "uid": "web"}]), "deallocation of ResourceClaim completed", true);
    check(json!([{"resource": "pods", "uid": "other"}]), "still not schedulable", false);
}

#[test]
fn better_alternatives_score_higher() {
    let handle = handle();
    slice(&handle, "one", &["x"]);
    slice(&handle, "two", &["x", "y"]);
    let mut list: Value = claim("c", json!({})).to_owned().into();
    let exact = |name: &str, count: i64| json!({"name": name, "deviceClassName": "gpus", "allocationMode": "ExactCount", "count": count});
    list["spec"]["devices"]["requests"] =
        json!([{"name": "r", "firstAvailable": [exact("big", 2), exact("small", 1)]}]);
    handle.resource_claims.put(SharedObject::of(list));
    let (framework, pod) = (framework(&handle), using("c"));
    let nodes: Vec<NodeInfo> = ["one", "two"].iter().map(|name| NodeInfo::of(node(name, json!({})))).collect();
    let snapshot = Snapshot::of(nodes);
    let mut state = CycleState::default();
    framework.pre_filter(&mut state, &pod, &snapshot).expect("claims");
    let nodes: Vec<&NodeInfo> = snapshot.nodes.iter().map(|node| &**node).collect();
    nodes.iter().for_each(|node| framework.filter(&state, &pod, node).expect("devices"));
    // 7 of 8 in hundredths, twice.
    assert_eq!(framework.score(&mut state, &pod, &nodes, &snapshot), [2 * 87, 2 * 100]);
}

#[test]
fn an_extended_resource_is_served_by_devices_where_no_plugin_offers_it() {
    let handle = Handle::default();
    handle.device_classes.put(SharedObject::of(json!({"metadata": {"name": "gpus"},
        "spec": {"extendedResourceName": "example.com/gpu"}})));
    slice(&handle, "a", &["x"]);
    let asking =
        |gpus: &str| pod(json!({"containers": [{"name": "c", "resources": {"requests": {"example.com/gpu": gpus}}}]}));
    let profile = || {
        let args = crate::plugins::node_resources_fit::FitArgs::default();
        let fit = crate::plugins::node_resources_fit::NodeResourcesFit::new(&handle, args);
        Framework::new(vec![(Arc::new(fit), 1), (Arc::new(DynamicResources::new(&handle, Timeouts::default())), 2)])
    };
    let on = |name: &str, gpus: Option<&str>| {
        let over = gpus.map_or(json!({}), |gpus| json!({"status": {"allocatable": {"example.com/gpu": gpus}}}));
        NodeInfo::of(node(name, over))
    };
    let check = |gpus: &str, node: &NodeInfo, expected: Result<(), &str>| {
        let (_, result) = try_on(&profile(), &asking(gpus), node);
        assert_eq!(result, expected.map_err(str::to_owned));
    };
    check("1", &on("a", None), Ok(()));
    check("2", &on("a", None), Err("cannot allocate all claims"));
    check("1", &on("b", None), Err("cannot allocate all claims"));
    check("2", &on("b", Some("2")), Ok(()));
    check("3", &on("b", Some("2")), Err("Insufficient example.com/gpu"));
    handle.device_classes.remove("", "gpus");
    check("1", &on("a", None), Err("Insufficient example.com/gpu"));
}

#[test]
fn devices_that_are_not_ready_in_time_count_as_unavailable() {
    let now = Timestamp::now();
    let claimed = |since: Timestamp, conditions: Value| {
        let result = json!({"driver": "d", "pool": "p", "device": "x", "bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]});
        let status = json!({"driver": "d", "pool": "p", "device": "x", "conditions": conditions});
        claim(
            "c",
            json!({"allocation": {"devices": {"results": [result]}, "allocationTimestamp": since.to_string()},
            "devices": [status]}),
        )
    };
    let condition = |kind: &str| json!([{"type": kind, "status": "True", "reason": "R", "message": "m"}]);
    assert_eq!(readiness(claimed(now, json!([])).view()), Readiness::Pending);
    assert_eq!(readiness(claimed(now, condition("Ready")).view()), Readiness::Ready);
    let failed = Readiness::Failed("device binding failed: claim=c, reason=R, message=\"m\"".to_owned());
    assert_eq!(readiness(claimed(now, condition("Broken")).view()), failed);
    let plugin = DynamicResources::new(&handle(), Timeouts::default());
    assert!(!plugin.has_failed(claimed(now, json!([])).view()));
    assert!(plugin.has_failed(claimed(now - jiff::SignedDuration::from_secs(601), json!([])).view()));
    assert!(plugin.has_failed(claimed(now, condition("Broken")).view()));
}
