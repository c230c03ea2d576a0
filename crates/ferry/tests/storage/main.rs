//! Must-show of volumes: a CSI driver in a process of its own, with external provisioning over the
//! API, carries a StatefulSet from its first claim to the last unmount, over the death of ferry and
//! of containerd.

#[path = "../cluster/mod.rs"]
mod cluster;
#[path = "../../../kubelet/examples/csi_driver/controller.rs"]
mod messages;
mod sidecar;

use cluster::{TestCluster, pause, text};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use sidecar::Sidecar;
use std::path::PathBuf;
use std::process::{Child, Command};

const DRIVER: &str = "csi.test";
const PODS: [&str; 2] = ["db-0", "db-1"];

struct Driver {
    process: Child,
    directory: PathBuf,
}

impl Driver {
    /// The example of this package, which cargo builds with its tests.
    fn start(cluster: &TestCluster) -> Self {
        let test = std::env::current_exe().expect("the test's own path");
        let program = test.ancestors().nth(2).expect("the build directory").join("examples/csi_test_driver");
        let directory = cluster.path("csi");
        std::fs::create_dir_all(directory.join("volumes")).expect("made");
        let process = Command::new(&program)
            .arg(DRIVER)
            .arg(cluster.data_dir().join("kubelet/plugins_registry/test-reg.sock"))
            .args([directory.join("csi.sock"), directory.join("volumes"), directory.join("calls")])
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        Self { process, directory }
    }

    fn calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.directory.join("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn count(&self, method: &str) -> usize {
        self.calls().iter().filter(|call| call.split(' ').next() == Some(method)).count()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn manifests() -> String {
    let driver = json!({ "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": { "name": DRIVER },
        "spec": { "attachRequired": true, "podInfoOnMount": true, "fsGroupPolicy": "File" } });
    let class = json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": "test" },
        "provisioner": DRIVER, "volumeBindingMode": "WaitForFirstConsumer", "allowVolumeExpansion": true });
    let service = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "db" },
        "spec": { "clusterIP": "None", "selector": { "app": "db" }, "ports": [{ "port": 80 }] } });
    let script = "echo $HOSTNAME >> /data/starts; exec /busybox sleep 100000";
    let container = json!({ "name": "db", "image": "localhost/ferry/client:1",
        "command": ["/busybox", "sh", "-c", script],
        "volumeMounts": [{ "name": "data", "mountPath": "/data" }, { "name": "busybox", "mountPath": "/busybox" }] });
    let template = json!({ "metadata": { "labels": { "app": "db" } }, "spec": {
        "terminationGracePeriodSeconds": 1, "securityContext": { "fsGroup": 77 }, "containers": [container],
        "volumes": [{ "name": "busybox", "hostPath": { "path": "/bin/busybox", "type": "File" } }] } });
    let claim = json!({ "metadata": { "name": "data" }, "spec": { "accessModes": ["ReadWriteOnce"],
        "storageClassName": "test", "resources": { "requests": { "storage": "1Gi" } } } });
    let set = json!({ "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": { "name": "db" },
        "spec": { "serviceName": "db", "replicas": PODS.len(), "selector": { "matchLabels": { "app": "db" } },
            "template": template, "volumeClaimTemplates": [claim] } });
    json!({ "apiVersion": "v1", "kind": "List", "items": [driver, class, service, set] }).to_string()
}

/// The containers of the set's pods with their restarts.
fn containers(cluster: &TestCluster) -> Vec<String> {
    let status = |pod: &Value| {
        let own = &pod["status"]["containerStatuses"][0];
        format!("{} {} {}", pod["metadata"]["name"], own["containerID"], own["restartCount"])
    };
    cluster.json("get pods -l app=db")["items"].as_array().into_iter().flatten().map(status).collect()
}

/// The mounts of the driver's volumes, in the pods' directories and staged.
fn mounts(cluster: &TestCluster) -> Vec<String> {
    let table = std::fs::read_to_string("/proc/self/mountinfo").expect("the mount table");
    let root = std::fs::canonicalize(cluster.data_dir()).expect("there").to_string_lossy().into_owned();
    let points = table.lines().filter_map(|line| line.split(' ').nth(4));
    points.filter(|point| point.starts_with(&root) && point.contains("csi")).map(str::to_owned).collect()
}

fn claims(cluster: &TestCluster) -> Vec<Value> {
    cluster.json("get pvc")["items"].as_array().cloned().unwrap_or_default()
}

fn starts(cluster: &TestCluster, pod: &str) -> String {
    cluster.kubectl(&format!("exec {pod} -- /busybox cat /data/starts"))
}

#[test]
fn a_stateful_set_lives_on_a_csi_driver() {
    let cluster = TestCluster::up();
    let driver = Driver::start(&cluster);
    let sidecar = Sidecar::start(DRIVER, driver.directory.join("csi.sock"), cluster.kubeconfig());
    cluster.apply(&manifests());
    cluster.kubectl("rollout status statefulset/db --timeout=90s");

    // Provisioned, attached and mounted once each, and in use while they are.
    let steps = ["CreateVolume", "ControllerPublishVolume", "NodeStageVolume", "NodePublishVolume"];
    for step in steps {
        assert_eq!(driver.count(step), PODS.len(), "{step}: {:#?}", driver.calls());
    }
    assert_eq!(mounts(&cluster).len(), 2 * PODS.len(), "{:#?}", mounts(&cluster));
    let node = cluster.json("get nodes")["items"][0].clone();
    let names = |list: &Value| -> Vec<String> {
        let names = list.as_array().into_iter().flatten();
        let mut names: Vec<String> =
            names.filter_map(|own| own.as_str().or(own["name"].as_str())).map(str::to_owned).collect();
        names.sort();
        names
    };
    let in_use = names(&node["status"]["volumesInUse"]);
    assert_eq!((in_use.len(), &in_use), (PODS.len(), &names(&node["status"]["volumesAttached"])));
    for pod in PODS {
        assert_eq!(starts(&cluster, pod), format!("{pod}\n"));
    }

    // Grown while they are in use.
    for pod in PODS {
        let patch = r#"{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}"#;
        cluster.kubectl(&format!("patch pvc data-{pod} -p {patch}"));
    }
    cluster.eventually("the claims have grown", || {
        let sizes: Vec<Value> =
            claims(&cluster).iter().map(|claim| claim["status"]["capacity"]["storage"].clone()).collect();
        if sizes == ["2Gi", "2Gi"] { Ok(()) } else { Err(format!("{sizes:?}")) }
    });
    assert_eq!((driver.count("ControllerExpandVolume"), driver.count("NodeExpandVolume")), (2, 2));
    for claim in claims(&cluster) {
        assert_eq!(claim["status"]["conditions"], Value::Null, "{claim}");
    }

    // Their figures are the driver's.
    let name = node["metadata"]["name"].as_str().expect("a name");
    cluster.eventually("the figures of the grown volumes", || {
        let summary: Value =
            serde_json::from_str(&cluster.kubectl(&format!("get --raw /api/v1/nodes/{name}/proxy/stats/summary")))
                .expect("JSON");
        let pods = summary["pods"].as_array().into_iter().flatten();
        let volumes: Vec<&Value> = pods.flat_map(|pod| pod["volume"].as_array().into_iter().flatten()).collect();
        let of_claims: Vec<&&Value> = volumes.iter().filter(|own| own["pvcRef"]["namespace"] == "default").collect();
        let is_right =
            |own: &&&Value| own["capacityBytes"] == 2i64 << 30 && own["usedBytes"] == 5 && own["inodes"] == 100;
        if of_claims.len() == 2 && of_claims.iter().all(is_right) { Ok(()) } else { Err(format!("{volumes:#?}")) }
    });
    let metrics = cluster.kubectl(&format!("get --raw /api/v1/nodes/{name}/proxy/metrics"));
    let line = "kubelet_volume_stats_used_bytes{namespace=\"default\",persistentvolumeclaim=\"data-db-0\"} 5";
    assert!(metrics.contains(line), "{metrics}");

    // ferry and containerd die; nothing is mounted or called again, and no container starts anew.
    let (before, calls) = (containers(&cluster), driver.calls());
    let containerd = std::fs::read_to_string(cluster.run_dir().join("containerd/containerd.pid")).expect("a pid");
    kill(Pid::from_raw(containerd.trim().parse().expect("a pid")), Signal::SIGKILL).expect("killed");
    cluster.kill();
    cluster.start();
    assert_eq!(containers(&cluster), before);
    for pod in PODS {
        cluster.eventually("the volume to be read", || {
            let said = cluster.try_kubectl(&format!("exec {pod} -- /busybox cat /data/starts"));
            if said.status.success() { Ok(()) } else { Err(text(&said)) }
        });
        assert_eq!(starts(&cluster, pod), format!("{pod}\n"));
    }
    let again: Vec<String> =
        driver.calls()[calls.len()..].iter().filter(|call| !call.starts_with("NotifyRegistration")).cloned().collect();
    assert_eq!(again, Vec::<String>::new());
    assert_eq!(mounts(&cluster).len(), 2 * PODS.len());

    // A pod that is replaced finds its data, on a volume that was unmounted in between.
    cluster.kubectl("delete pod db-0 --wait=true");
    cluster.kubectl("rollout status statefulset/db --timeout=90s");
    assert_eq!(starts(&cluster, "db-0"), "db-0\ndb-0\n");

    // A pod that was deleted while no kubelet looked leaves nothing either.
    cluster.kubectl("delete statefulset db --wait=false");
    cluster.kill();
    cluster.start();
    cluster.eventually("nothing to be mounted", || match mounts(&cluster) {
        left if left.is_empty() => Ok(()),
        left => Err(format!("{left:#?}")),
    });
    cluster.kubectl("delete pvc --all --timeout=60s");
    cluster.eventually("the volumes to be deleted", || {
        let left = cluster.kubectl("get pv,volumeattachments -o name");
        if left.trim().is_empty() { Ok(()) } else { Err(left) }
    });
    let balance = [
        ("CreateVolume", "DeleteVolume"),
        ("ControllerPublishVolume", "ControllerUnpublishVolume"),
        ("NodeStageVolume", "NodeUnstageVolume"),
        ("NodePublishVolume", "NodeUnpublishVolume"),
    ];
    for (done, undone) in balance {
        assert_eq!(driver.count(done), driver.count(undone), "{done} {undone}: {:#?}", driver.calls());
    }
    assert_eq!(driver.count("Violation"), 0, "{:#?}", driver.calls());
    let left: Vec<_> = std::fs::read_dir(driver.directory.join("volumes")).expect("there").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    cluster.eventually("the node to use no volume", || {
        let status = cluster.json("get nodes")["items"][0]["status"].clone();
        let left = [names(&status["volumesInUse"]), names(&status["volumesAttached"])].concat();
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    });
    drop(sidecar);
}
