//! The part of a driver that runs beside it in a real cluster, over the API alone: it provisions
//! volumes for claims, attaches them by VolumeAttachments, grows and deletes them, as
//! external-provisioner, external-attacher and external-resizer do.

use super::messages;
use ferry_kubelet::csi::proto::CapacityRange;
use ferry_kubelet::unix_grpc;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const PROVISIONER: &str = "volume.kubernetes.io/storage-provisioner";
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
const VOLUME_FINALIZER: &str = "external-provisioner.volume.kubernetes.io/finalizer";
const ATTACHER_FINALIZER: &str = "external-attacher/csi-test";
const CALL_TIMEOUT: Duration = Duration::from_secs(10);

/// One pass over what there is, and again until it is dropped.
pub struct Sidecar {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Sidecar {
    pub fn start(driver: &str, socket: PathBuf, kubeconfig: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (own, driver) = (stop.clone(), driver.to_owned());
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let _entered = runtime.enter();
            let worker = Worker { driver, kubeconfig, channel: unix_grpc::connect(socket) };
            while !own.load(Ordering::Relaxed) {
                runtime.block_on(worker.pass());
                super::pause();
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

struct Worker {
    driver: String,
    kubeconfig: PathBuf,
    channel: tonic::transport::Channel,
}

type Done = Result<(), String>;

impl Worker {
    /// Nothing is remembered: whatever fails now is seen again in the next pass.
    async fn pass(&self) {
        let Ok(list) = self.kubectl(&["get", "pvc,pv,volumeattachments,csinodes", "-A", "-o", "json"], None) else {
            return;
        };
        let list: Value = serde_json::from_str(&list).unwrap_or_default();
        let all: Vec<Value> = list["items"].as_array().cloned().unwrap_or_default();
        for object in &all {
            let done = match text(&object["kind"]) {
                "PersistentVolumeClaim" => self.claim(object, &all).await,
                "PersistentVolume" => self.volume(object, &all).await,
                "VolumeAttachment" => self.attachment(object, &all).await,
                _ => Ok(()),
            };
            if let Err(why) = done {
                eprintln!("sidecar: {} {}: {why}", object["kind"], object["metadata"]["name"]);
            }
        }
    }

    async fn claim(&self, claim: &Value, all: &[Value]) -> Done {
        let annotations = &claim["metadata"]["annotations"];
        if annotations[PROVISIONER] != self.driver {
            return Ok(());
        }
        if !text(&claim["spec"]["volumeName"]).is_empty() {
            return self.grow(claim, all).await;
        }
        let node = text(&annotations[SELECTED_NODE]);
        let name = format!("pvc-{}", text(&claim["metadata"]["uid"]));
        if node.is_empty() || find(all, "PersistentVolume", &name).is_some() {
            return Ok(());
        }
        let size = text(&claim["spec"]["resources"]["requests"]["storage"]).to_owned();
        let message = messages::CreateVolume {
            name: name.clone(),
            capacity_range: Some(CapacityRange { required_bytes: bytes(&size) }),
        };
        let made: messages::CreatedVolume = self.call("/csi.v1.Controller/CreateVolume", message).await?;
        let made = made.volume.unwrap_or_default();
        let volume = json!({ "apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": { "name": name, "annotations": { PROVISIONED_BY: self.driver }, "finalizers": [VOLUME_FINALIZER] },
            "spec": { "capacity": { "storage": size }, "accessModes": claim["spec"]["accessModes"],
                "persistentVolumeReclaimPolicy": "Delete", "storageClassName": claim["spec"]["storageClassName"],
                "claimRef": { "apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": claim["metadata"]["name"],
                    "namespace": claim["metadata"]["namespace"], "uid": claim["metadata"]["uid"] },
                "csi": { "driver": self.driver, "volumeHandle": made.volume_id, "volumeAttributes": made.volume_context },
                "nodeAffinity": { "required": { "nodeSelectorTerms": [{ "matchExpressions": [
                    { "key": "topology.test/zone", "operator": "In", "values": ["a"] }] }] } } } });
        self.kubectl(&["create", "-f", "-"], Some(&volume.to_string())).map(drop)
    }

    /// external-resizer: the volume first, then the claim waits for its node.
    async fn grow(&self, claim: &Value, all: &[Value]) -> Done {
        let Some(volume) = find(all, "PersistentVolume", text(&claim["spec"]["volumeName"])) else { return Ok(()) };
        let wanted = text(&claim["spec"]["resources"]["requests"]["storage"]);
        if text(&claim["status"]["phase"]) != "Bound"
            || bytes(wanted) <= bytes(text(&volume["spec"]["capacity"]["storage"]))
        {
            return Ok(());
        }
        let message = messages::ExpandVolume {
            volume_id: text(&volume["spec"]["csi"]["volumeHandle"]).to_owned(),
            capacity_range: Some(CapacityRange { required_bytes: bytes(wanted) }),
        };
        let grown: messages::ExpandedVolume = self.call("/csi.v1.Controller/ControllerExpandVolume", message).await?;
        assert!(grown.node_expansion_required && grown.capacity_bytes == bytes(wanted));
        let (name, namespace) = (text(&claim["metadata"]["name"]), text(&claim["metadata"]["namespace"]));
        let size = json!({ "spec": { "capacity": { "storage": wanted } } });
        self.patch("pv", text(&volume["metadata"]["name"]), "", false, &size)?;
        let status = json!({ "status": { "allocatedResourceStatuses": { "storage": "NodeResizePending" },
            "allocatedResources": { "storage": wanted },
            "conditions": [{ "type": "FileSystemResizePending", "status": "True", "lastProbeTime": null,
                "lastTransitionTime": null, "message": "" }] } });
        self.patch("pvc", name, namespace, true, &status)
    }

    /// Deletes the volume of a claim that is gone, once nothing is attached any more.
    async fn volume(&self, volume: &Value, all: &[Value]) -> Done {
        let name = text(&volume["metadata"]["name"]);
        let is_ours = volume["metadata"]["annotations"][PROVISIONED_BY] == self.driver;
        let is_released = text(&volume["status"]["phase"]) == "Released";
        let is_attached = all.iter().any(|object| {
            text(&object["kind"]) == "VolumeAttachment" && object["spec"]["source"]["persistentVolumeName"] == name
        });
        if !is_ours || !is_released || is_attached {
            return Ok(());
        }
        let message = messages::DeleteVolume { volume_id: text(&volume["spec"]["csi"]["volumeHandle"]).to_owned() };
        let _: messages::PublishedOnNode = self.call("/csi.v1.Controller/DeleteVolume", message).await?;
        if volume["metadata"]["deletionTimestamp"].is_null() {
            self.kubectl(&["delete", "pv", name, "--wait=false"], None)?;
        }
        self.patch("pv", name, "", false, &json!({ "metadata": { "finalizers": null } }))
    }

    async fn attachment(&self, attachment: &Value, all: &[Value]) -> Done {
        let name = text(&attachment["metadata"]["name"]);
        if attachment["spec"]["attacher"] != self.driver {
            return Ok(());
        }
        let source = text(&attachment["spec"]["source"]["persistentVolumeName"]);
        let volume = find(all, "PersistentVolume", source).ok_or("its volume is gone")?;
        let csi_node = find(all, "CSINode", text(&attachment["spec"]["nodeName"])).ok_or("its node has no drivers")?;
        let drivers = csi_node["spec"]["drivers"].as_array().into_iter().flatten();
        let mut ids = drivers.filter(|own| own["name"] == self.driver).map(|own| text(&own["nodeID"]));
        let message = messages::PublishOnNode {
            volume_id: text(&volume["spec"]["csi"]["volumeHandle"]).to_owned(),
            node_id: ids.next().ok_or("the node does not have the driver")?.to_owned(),
        };
        if !attachment["metadata"]["deletionTimestamp"].is_null() {
            let _: messages::PublishedOnNode =
                self.call("/csi.v1.Controller/ControllerUnpublishVolume", message).await?;
            return self.patch("volumeattachment", name, "", false, &json!({ "metadata": { "finalizers": null } }));
        }
        if attachment["status"]["attached"] == true {
            return Ok(());
        }
        let finalizers = json!({ "metadata": { "finalizers": [ATTACHER_FINALIZER] } });
        self.patch("volumeattachment", name, "", false, &finalizers)?;
        let attached: messages::PublishedOnNode =
            self.call("/csi.v1.Controller/ControllerPublishVolume", message).await?;
        let status = json!({ "status": { "attached": true, "attachmentMetadata": attached.publish_context } });
        self.patch("volumeattachment", name, "", true, &status)
    }

    async fn call<Q, A>(&self, path: &'static str, message: Q) -> Result<A, String>
    where
        Q: prost::Message + Default + 'static,
        A: prost::Message + Default + 'static,
    {
        unix_grpc::call(&self.channel, path, message, CALL_TIMEOUT, None).await.map_err(|status| status.to_string())
    }

    fn patch(&self, kind: &str, name: &str, namespace: &str, is_status: bool, patch: &Value) -> Done {
        let patch = patch.to_string();
        let mut words = vec!["patch", kind, name, "--type=merge", "-p", &patch];
        if !namespace.is_empty() {
            words.extend(["-n", namespace]);
        }
        if is_status {
            words.push("--subresource=status");
        }
        self.kubectl(&words, None).map(drop)
    }

    fn kubectl(&self, words: &[&str], input: Option<&str>) -> Result<String, String> {
        let mut command = Command::new("kubectl");
        command.env("KUBECONFIG", &self.kubeconfig).args(words).args(["--request-timeout=10s"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        if let Some(mut stdin) = child.stdin.take() {
            let _ = std::io::Write::write_all(&mut stdin, input.unwrap_or_default().as_bytes());
        }
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn bytes(quantity: &str) -> i64 {
    ferry_api::quantity::Quantity::parse(quantity).map(|quantity| quantity.value()).unwrap_or_default()
}

fn find<'a>(all: &'a [Value], kind: &str, name: &str) -> Option<&'a Value> {
    all.iter().find(|object| text(&object["kind"]) == kind && text(&object["metadata"]["name"]) == name)
}
