//! Measures what ownership costs a write: the microseconds that `update` takes on a pod
//! of about 4 KB. Run with `cargo run --release -p ferry-api --example managed_fields`.

use ferry_api::gvk::GroupVersionKind;
use ferry_api::patch::apply::{ApplyOptions, WriteOptions, apply, update};
use ferry_api::schema::of_kind;
use serde_json::{Value, json};
use std::time::Instant;

fn pod() -> Value {
    let container = |name: &str| {
        json!({
            "name": name, "image": format!("registry.example/{name}:1.2.3"), "imagePullPolicy": "IfNotPresent",
            "args": ["--port=8080", "--verbose"],
            "env": (0..8).map(|n| json!({"name": format!("SETTING_{n}"), "value": format!("value-{n}")})).collect::<Vec<_>>(),
            "ports": [{"containerPort": 8080, "protocol": "TCP", "name": "http"}, {"containerPort": 9090, "protocol": "TCP"}],
            "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
            "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10, "timeoutSeconds": 1, "successThreshold": 1, "failureThreshold": 3},
            "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10, "timeoutSeconds": 1, "successThreshold": 1, "failureThreshold": 3},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            "volumeMounts": [{"mountPath": "/data", "name": "data"}, {"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "token", "readOnly": true}],
        })
    };
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "web-5d4f8c7b9-abcde", "generateName": "web-5d4f8c7b9-", "namespace": "default", "uid": "u",
            "labels": {"app": "web", "pod-template-hash": "5d4f8c7b9"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d4f8c7b9", "uid": "r", "controller": true, "blockOwnerDeletion": true}],
        },
        "spec": {
            "containers": [container("web"), container("sidecar")],
            "dnsPolicy": "ClusterFirst", "enableServiceLinks": true, "nodeName": "node-a", "restartPolicy": "Always",
            "schedulerName": "default-scheduler", "securityContext": {}, "serviceAccountName": "default",
            "terminationGracePeriodSeconds": 30,
            "tolerations": [{"effect": "NoExecute", "key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300}],
            "volumes": [{"name": "data", "emptyDir": {}}, {"name": "token", "projected": {"defaultMode": 420, "sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}]}}],
        },
        "status": {"phase": "Pending", "qosClass": "Burstable"},
    })
}

fn measure(name: &str, rounds: u32, mut prepare: impl FnMut(u32) -> Value, mut run: impl FnMut(Value) -> Value) {
    // Each input is made just before it is used, as a request's object is, and the output
    // is dropped outside the clock.
    let mut times = Vec::with_capacity(rounds as usize);
    for round in 0..rounds {
        let input = prepare(round);
        let start = Instant::now();
        let output = run(input);
        times.push(start.elapsed());
        drop(output);
    }
    // The median: the machine may be busy with other things.
    times.sort();
    let micros = times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1e6);
    println!("{name:40} {micros:8.1} us");
}

fn main() {
    let kind = GroupVersionKind::new("", "v1", "Pod");
    let definition = of_kind(&kind).map(|definition| &**definition);
    let options = |manager, subresource| WriteOptions {
        manager,
        kind: &kind,
        subresource,
        now: jiff::Timestamp::now(),
        reset_fields: None,
    };
    let status = |round: u32| {
        let condition = |name: &str| json!({"type": name, "status": "True", "lastProbeTime": null, "lastTransitionTime": format!("2026-01-01T00:00:{:02}Z", round % 60)});
        json!({
            "phase": "Running", "podIP": format!("10.244.0.{}", round % 250), "qosClass": "Burstable",
            "podIPs": [{"ip": format!("10.244.0.{}", round % 250)}], "hostIP": "10.0.0.1", "startTime": "2026-01-01T00:00:00Z",
            "conditions": Value::from(["PodScheduled", "Initialized", "ContainersReady", "Ready"].map(condition).to_vec()),
            "containerStatuses": [{"name": "web", "ready": true, "restartCount": round, "image": "i", "imageID": "i"}],
        })
    };

    let mut created = pod();
    created["metadata"]["uid"] = "".into();
    println!("pod of {} bytes", created.to_string().len());
    measure(
        "create",
        2000,
        |_| created.clone(),
        |mut new| {
            update(None, &mut new, definition, &options("kube-controller-manager", ""));
            new
        },
    );
    let mut live = pod();
    update(None, &mut live, definition, &options("kube-controller-manager", ""));
    let mut running = live.clone();
    running["status"] = status(0);
    update(Some(&live), &mut running, definition, &options("kubelet", "status"));
    println!("stored with ownership: {} bytes", running.to_string().len());
    measure(
        "status update",
        2000,
        |round| {
            let mut new = running.clone();
            new["status"] = status(round + 1);
            new
        },
        |mut new| {
            update(Some(&running), &mut new, definition, &options("kubelet", "status"));
            new
        },
    );
    measure(
        "no change",
        2000,
        |_| running.clone(),
        |mut new| {
            update(Some(&running), &mut new, definition, &options("kubelet", ""));
            new
        },
    );
    measure(
        "label added",
        2000,
        |_| {
            let mut new = running.clone();
            new["metadata"]["labels"]["tier"] = "front".into();
            new
        },
        |mut new| {
            update(Some(&running), &mut new, definition, &options("kubectl-label", ""));
            new
        },
    );
    let mut config = pod();
    config["metadata"].as_object_mut().map(|metadata| metadata.remove("uid"));
    config.as_object_mut().map(|config| config.remove("status"));
    let forced = ApplyOptions { write: options("applier", ""), force: true };
    measure(
        "apply",
        500,
        |_| config.clone(),
        |config| apply(Some(&running), &config, definition, &forced).unwrap_or(Value::Null),
    );
}
