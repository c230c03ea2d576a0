//! The plans for nodes, the assumptions, and the wait for the binder.

use super::*;
use crate::extender::Extenders;
use crate::framework::Framework;
use crate::plugins::testing::{node, pod};
use bytes::Bytes;
use ferry_client::{Body, BoxError, Transport, full_body, read_body};
use serde_json::{Value, json};

fn claim(name: &str, over: Value) -> SharedObject<PersistentVolumeClaim> {
    let mut claim = json!({"metadata": {"name": name, "namespace": "default", "uid": name, "resourceVersion": "1"},
        "spec": {"storageClassName": "local", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "5Gi"}}}});
    merge(&mut claim, over);
    SharedObject::of(claim)
}

fn volume(name: &str, size: &str, zone: &str) -> SharedObject<PersistentVolume> {
    let terms = json!([{"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}]);
    SharedObject::of(json!({"metadata": {"name": name, "resourceVersion": "1"}, "status": {"phase": "Available"},
        "spec": {"storageClassName": "local", "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"],
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}}))
}

fn merge(into: &mut Value, over: Value) {
    match (into, over) {
        (Value::Object(into), Value::Object(over)) => {
            over.into_iter().for_each(|(key, value)| merge(into.entry(key).or_insert(Value::Null), value));
        }
        (into, over) => *into = over,
    }
}

fn class(name: &str, over: Value) -> SharedObject<StorageClass> {
    let mut class = json!({"metadata": {"name": name}, "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer"});
    merge(&mut class, over);
    SharedObject::of(class)
}

fn claiming(names: &[&str]) -> PodInfo {
    let volumes: Vec<Value> =
        names.iter().map(|name| json!({"name": name, "persistentVolumeClaim": {"claimName": name}})).collect();
    pod(json!({"volumes": volumes}))
}

fn handle() -> Handle {
    let handle = Handle::default();
    handle.storage_classes.put(class("local", json!({})));
    handle.storage_classes.put(class("now", json!({"volumeBindingMode": "Immediate"})));
    handle
}

fn nodes() -> Snapshot {
    let info = |name: &str, zone: &str| NodeInfo::of(node(name, json!({"metadata": {"labels": {"zone": zone}}})));
    Snapshot::of(vec![info("a", "east"), info("b", "west")])
}

/// The reasons of nodes `a` and `b`, or of the search as a whole.
#[track_caller]
fn check(handle: &Handle, pod: &PodInfo, expected: Result<[&[&str]; 2], &str>) {
    let framework = Framework::new(vec![(Arc::new(VolumeBinding::new(handle, DEFAULT_TIMEOUT)), 0)]);
    let (mut state, snapshot) = (CycleState::default(), nodes());
    let found = framework.pre_filter(&mut state, pod, &snapshot).map(|_| {
        let reasons = |node: &Arc<NodeInfo>| {
            framework.filter(&state, pod, node).map_or_else(|why| why.reasons.to_vec(), |()| Vec::new())
        };
        snapshot.nodes.iter().map(reasons).collect::<Vec<_>>()
    });
    match expected {
        Ok(expected) => assert_eq!(found.expect("no rejection"), expected),
        Err(reason) => assert_eq!(found.expect_err("a rejection").reasons[0], reason),
    }
}

const NO_VOLUME: &[&str] = &["node(s) didn't find available persistent volumes to bind"];
const WRONG_NODE: &[&str] = &["node(s) didn't match PersistentVolume's node affinity"];

#[test]
fn a_pod_goes_where_its_bound_volumes_are() {
    let handle = handle();
    handle.volumes.put(volume("v", "5Gi", "east"));
    let bound =
        json!({"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}, "spec": {"volumeName": "v"}});
    handle.claims.put(claim("data", bound.clone()));
    check(&handle, &claiming(&["data"]), Ok([&[], WRONG_NODE]));
    handle.volumes.remove("", "v");
    let gone = &["node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"];
    check(&handle, &claiming(&["data"]), Ok([gone, gone]));
}

#[test]
fn a_claim_that_waits_takes_a_volume_of_the_node() {
    let handle = handle();
    handle.claims.put(claim("data", json!({})));
    check(&handle, &claiming(&["data"]), Ok([NO_VOLUME, NO_VOLUME]));
    handle.volumes.put(volume("v", "5Gi", "west"));
    check(&handle, &claiming(&["data"]), Ok([NO_VOLUME, &[]]));
    handle.claims.put(claim("more", json!({})));
    check(&handle, &claiming(&["data", "more"]), Ok([NO_VOLUME, NO_VOLUME]));
    handle.volumes.put(volume("w", "9Gi", "west"));
    check(&handle, &claiming(&["data", "more"]), Ok([NO_VOLUME, &[]]));
}

#[test]
fn a_claim_that_waits_is_provisioned_where_the_class_and_its_capacity_allow() {
    let handle = handle();
    let topologies = json!([{"matchLabelExpressions": [{"key": "zone", "values": ["east"]}]}]);
    handle.storage_classes.put(class("made", json!({"provisioner": "disk", "allowedTopologies": topologies})));
    handle.claims.put(claim("data", json!({"spec": {"storageClassName": "made"}})));
    check(&handle, &claiming(&["data"]), Ok([&[], NO_VOLUME]));
    handle.csi_drivers.put(SharedObject::of(json!({"metadata": {"name": "disk"}, "spec": {"storageCapacity": true}})));
    check(&handle, &claiming(&["data"]), Ok([&["node(s) did not have enough free storage"], NO_VOLUME]));
    let capacity = json!({"metadata": {"name": "c", "namespace": "default"}, "storageClassName": "made",
        "capacity": "5Gi", "nodeTopology": {"matchLabels": {"zone": "east"}}});
    handle.csi_capacities.put(SharedObject::of(capacity));
    check(&handle, &claiming(&["data"]), Ok([&[], NO_VOLUME]));
    let selected = json!({"metadata": {"annotations": {SELECTED_NODE: "b"}}, "spec": {"storageClassName": "made"}});
    handle.claims.put(claim("data", selected));
    check(&handle, &claiming(&["data"]), Ok([NO_VOLUME, NO_VOLUME]));
}

#[test]
fn a_claim_that_can_never_do_is_named() {
    let handle = handle();
    check(&handle, &claiming(&["data"]), Err("persistentvolumeclaim \"data\" not found"));
    handle.claims.put(claim("data", json!({"spec": {"storageClassName": "now"}})));
    check(&handle, &claiming(&["data"]), Err("pod has unbound immediate PersistentVolumeClaims"));
    handle.claims.put(claim("data", json!({"spec": {"volumeName": "v"}, "status": {"phase": "Lost"}})));
    check(
        &handle,
        &claiming(&["data"]),
        Err("persistentvolumeclaim \"data\" bound to non-existent persistentvolume \"v\""),
    );
    handle.claims.put(claim("data", json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})));
    check(&handle, &claiming(&["data"]), Err("persistentvolumeclaim \"data\" is being deleted"));
    let ephemeral = pod(json!({"volumes": [{"name": "tmp", "ephemeral": {"volumeClaimTemplate": {}}}]}));
    check(
        &handle,
        &ephemeral,
        Err("waiting for ephemeral volume controller to create the persistentvolumeclaim \"web-tmp\""),
    );
}

#[test]
fn a_volume_that_was_taken_is_not_given_away_before_the_api_says_so() {
    let handle = handle();
    handle.volumes.put(volume("v", "5Gi", "east"));
    handle.claims.put(claim("data", json!({})));
    handle.claims.put(claim("other", json!({})));
    let framework = Framework::new(vec![(Arc::new(VolumeBinding::new(&handle, DEFAULT_TIMEOUT)), 0)]);
    let snapshot = nodes();
    let search = |pod: &PodInfo| {
        let mut state = CycleState::default();
        framework.pre_filter(&mut state, pod, &snapshot).expect("no rejection");
        let fits = framework.filter(&state, pod, &snapshot.nodes[0]).is_ok();
        (state, fits)
    };
    let (first, second) = (claiming(&["data"]), claiming(&["other"]));
    let (state, fits) = search(&first);
    assert!(fits && search(&second).1);
    framework.reserve(&state, &first, "a").expect("no rejection");
    assert!(!search(&second).1, "the volume is taken");
    framework.unreserve(&state, &first, "a");
    assert!(search(&second).1, "the volume is free again");
    framework.reserve(&state, &first, "a").expect("no rejection");
    let mut newer: Value = volume("v", "5Gi", "east").to_owned().into();
    newer["metadata"]["resourceVersion"] = "2".into();
    handle.volumes.put(SharedObject::of(newer));
    assert!(search(&second).1, "the API has another word");
}

/// The part that the binder and the provisioner play.
#[derive(Clone, Copy)]
enum Part {
    Binds,
    Fails,
    Sleeps,
}

/// Plays the API, and the binder after it.
struct Binder {
    handle: Handle,
    part: Part,
}

#[async_trait]
impl Transport for Binder {
    async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
        let body: Bytes = read_body(request.into_body()).await?;
        let mut sent: Value = serde_json::from_slice(&body)?;
        sent["metadata"]["resourceVersion"] = "2".into();
        let (handle, part, written) = (self.handle.clone(), self.part, sent.clone());
        // The news come after the answer.
        tokio::spawn(async move {
            tokio::task::yield_now().await;
            let is_volume = written["spec"]["claimRef"].is_object();
            let name = written["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let mut bound = json!({"metadata": {"resourceVersion": "3", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}}});
            if is_volume {
                handle.volumes.put(SharedObject::of(written.clone()));
            }
            match part {
                Part::Binds if is_volume => {
                    bound["spec"] = json!({"volumeName": name});
                    handle.claims.put(claim("data", bound));
                }
                Part::Binds => {
                    handle.volumes.put(volume("made", "5Gi", "east"));
                    let mut claim = written.clone();
                    merge(&mut claim, bound);
                    claim["spec"]["volumeName"] = "made".into();
                    handle.claims.put(SharedObject::of(claim));
                }
                Part::Fails => {
                    let mut reset = written.clone();
                    reset["metadata"]["annotations"] = json!({"other": "x"});
                    handle.claims.put(SharedObject::of(reset));
                }
                Part::Sleeps => {}
            }
        });
        Ok(http::Response::new(full_body(sent.to_string())))
    }
}

async fn bind(handle: &Handle, part: Part, timeout: Duration, is_gone: bool) -> Result<(), String> {
    let framework = Framework::new(vec![(Arc::new(VolumeBinding::new(handle, timeout)), 0)]);
    let (pod, snapshot, mut state) = (claiming(&["data"]), nodes(), CycleState::default());
    snapshot.nodes.iter().for_each(|node| handle.nodes.put(node.node.clone()));
    framework.pre_filter(&mut state, &pod, &snapshot).expect("no rejection");
    framework.filter(&state, &pod, &snapshot.nodes[0]).expect("it fits");
    framework.reserve(&state, &pod, "a").expect("no rejection");
    let client = Client::new(Arc::new(Binder { handle: handle.clone(), part }), "test");
    let gone = tokio_util::sync::CancellationToken::new();
    if is_gone {
        gone.cancel();
    }
    let context = BindContext { client: &client, recorder: None, extenders: &Extenders::default() };
    framework.bind(&context, &state, &pod, "a", &gone).await.map_err(|error| error.to_string())
}

fn with_volume() -> Handle {
    let handle = handle();
    handle.volumes.put(volume("v", "5Gi", "east"));
    handle.claims.put(claim("data", json!({})));
    handle
}

#[tokio::test]
async fn binding_waits_for_the_binder() {
    let handle = with_volume();
    assert_eq!(bind(&handle, Part::Binds, DEFAULT_TIMEOUT, false).await, Ok(()));
    let volume = handle.volumes.get("", "v").expect("a volume");
    assert_eq!(volume.view().spec().claim_ref().map(|claim| claim.uid()), Some("data"));
}

#[tokio::test]
async fn binding_waits_for_the_provisioner_and_hears_that_it_failed() {
    let provisioned = || {
        let handle = handle();
        handle.storage_classes.put(class("made", json!({"provisioner": "disk"})));
        handle.claims.put(claim("data", json!({"spec": {"storageClassName": "made"}})));
        handle
    };
    assert_eq!(bind(&provisioned(), Part::Binds, DEFAULT_TIMEOUT, false).await, Ok(()));
    let failed = "running PreBind plugin \"VolumeBinding\": binding volumes: provisioning failed for PVC \"data\"";
    assert_eq!(bind(&provisioned(), Part::Fails, DEFAULT_TIMEOUT, false).await, Err(failed.to_owned()));
}

#[tokio::test]
async fn binding_gives_up_in_the_end_and_when_the_pod_is_gone() {
    let late = "running PreBind plugin \"VolumeBinding\": binding volumes: context deadline exceeded";
    let timeout = Duration::from_millis(10);
    assert_eq!(bind(&with_volume(), Part::Sleeps, timeout, false).await, Err(late.to_owned()));
    let gone = "pod does not exist any more: pod \"web\" not found";
    assert_eq!(bind(&with_volume(), Part::Sleeps, DEFAULT_TIMEOUT, true).await, Err(gone.to_owned()));
}
