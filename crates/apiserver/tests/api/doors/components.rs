//! The components that read the odd objects: every controller and the scheduler run over them,
//! and the kubelet's readers take each odd pod. A component must not end or panic, and must
//! still do its work for an ordinary object afterwards.

use super::followers::InProcess;
use crate::loopback::eventually;
use crate::server::Server;
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{Node, Pod};
use ferry_apiserver::Peer;
use ferry_apiserver::authn::UserInfo;
use ferry_client::{Client, Informers, SharedObject};
use ferry_kubelet::admit::admit;
use ferry_kubelet::observed::PodRuntime;
use ferry_kubelet::plan::{Verdicts, plan_pod};
use ferry_kubelet::probe::{Outcome, ProbeKind};
use ferry_kubelet::status::patch::status_patch;
use ferry_kubelet::status::{Inputs, ProbeOutcomes, compute_status};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const NAMESPACE: &str = "ordinary";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/ordinary/deployments";
const PODS: &str = "/api/v1/namespaces/ordinary/pods";

/// A task that panics ends alone, and its panic is seen nowhere else.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());
static HOOK: Once = Once::new();

fn remember_panics() {
    HOOK.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            PANICS.lock().unwrap_or_else(PoisonError::into_inner).push(info.to_string());
            others(info);
        }));
    });
}

fn panics() -> Vec<String> {
    PANICS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The controllers and the scheduler of one run of the server.
pub struct Components {
    controllers: JoinHandle<ferry_controllers::Result<()>>,
    scheduler: JoinHandle<()>,
    informers: Informers,
    shutdown: CancellationToken,
}

impl Components {
    pub fn start(server: &Server) -> Self {
        remember_panics();
        let shutdown = CancellationToken::new();
        let api = server.api.clone();
        let client = move |user: UserInfo| {
            let way = InProcess { api: api.clone(), user: Peer::InProcess(Arc::new(user)) };
            Client::new(Arc::new(way), "component")
        };
        let manager = client(UserInfo::authenticated("system:kube-controller-manager", &[]));
        let informers = Informers::with_shutdown(manager, shutdown.clone());
        // The nodes of the test send no heartbeats.
        let config = ferry_controllers::Config {
            root_ca: "PEM".to_owned(),
            node_monitor_grace_period: Duration::from_secs(3_600),
            ..Default::default()
        };
        let for_controllers = client.clone();
        let client_for = move |name: &str| for_controllers(UserInfo::service_account("kube-system", name));
        let controllers =
            tokio::spawn(ferry_controllers::run(config, Arc::new(client_for), informers.clone(), shutdown.clone()));
        let for_scheduler = client(UserInfo::authenticated("system:kube-scheduler", &[]));
        let following = Informers::with_shutdown(for_scheduler.clone(), shutdown.clone());
        let scheduler = tokio::spawn(ferry_scheduler::run(for_scheduler, following, shutdown.clone()));
        Self { controllers, scheduler, informers, shutdown }
    }

    /// Gives the components ordinary work, which they do after they have gone through the odd
    /// objects that they follow.
    pub async fn do_ordinary_work(&self, server: &Server) {
        server.post("/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}})).await.ok();
        server.post("/api/v1/nodes", &node(NAMESPACE, &json!([{"key": NAMESPACE, "effect": "NoSchedule"}]))).await.ok();
        server.post("/api/v1/nodes", &node("of-odd-pods", &json!([]))).await.ok();
        eventually("the controllers make the account of a new namespace", || async {
            server.get(&format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default")).await.code == 200
        })
        .await;
        server.post(DEPLOYMENTS, &deployment()).await.ok();
        eventually("the controllers make its pods, and the scheduler binds them", || async {
            let pods = server.get(PODS).await.ok();
            let bound = |pod: &Value| pod["spec"]["nodeName"] == NAMESPACE;
            pods["items"].as_array().is_some_and(|pods| pods.len() == 2 && pods.iter().all(bound))
        })
        .await;
        self.read_as_kubelet().await;
        server.delete(&format!("{DEPLOYMENTS}/web")).await.ok();
        eventually("the garbage collector removes its ReplicaSet", || async {
            let left = server.get("/apis/apps/v1/namespaces/ordinary/replicasets").await.ok();
            left["items"].as_array().is_some_and(Vec::is_empty)
        })
        .await;
        assert_eq!(panics(), Vec::<String>::new());
        assert!(!self.controllers.is_finished() && !self.scheduler.is_finished(), "no component ends");
    }

    /// Each pod as the kubelet of each node would take it.
    async fn read_as_kubelet(&self) {
        let (pods, nodes) = (self.informers.of::<Pod>(), self.informers.of::<Node>());
        pods.synced().await;
        nodes.synced().await;
        let (pods, nodes) = (pods.list(None), nodes.list(None));
        assert!(pods.len() > 2 && nodes.len() > 1, "there are odd ones");
        let admitted = pods.iter().flat_map(|pod| nodes.iter().map(move |node| (pod, node)));
        let admitted = admitted.filter(|(pod, node)| admit(pod.view(), node.view(), &pods).is_ok()).count();
        assert!(admitted > 0, "some node takes some pod");
        pods.iter().for_each(start_and_report);
    }

    pub async fn stop(self) {
        self.shutdown.cancel();
        let _ = self.controllers.await;
        let _ = self.scheduler.await;
    }
}

/// What the kubelet does for a pod that it has not seen before, up to the patch of its status.
fn start_and_report(pod: &SharedObject<Pod>) {
    let view = pod.view();
    let runtime = PodRuntime::default();
    let plan = plan_pod(view, &runtime, &NotProbed);
    assert!(plan.create_sandbox, "a pod that is new gets a sandbox");
    let status = compute_status(&Inputs {
        pod: view,
        runtime: &runtime,
        failures: &HashMap::new(),
        probes: &NotProbed,
        old: view.status(),
        node_ips: &["192.0.2.1".to_owned()],
        resize: &Default::default(),
        terminal: false,
        now: jiff::Timestamp::UNIX_EPOCH,
    });
    let patch = status_patch(pod.uid(), view.status(), status.view());
    assert!(patch.is_none_or(|patch| patch["metadata"]["uid"] == pod.uid()));
}

struct NotProbed;

impl Verdicts for NotProbed {
    fn liveness(&self, _: &str) -> Option<Outcome> {
        None
    }

    fn startup(&self, _: &str) -> Option<Outcome> {
        None
    }
}

impl ProbeOutcomes for NotProbed {
    fn outcome(&self, _: &str, _: ProbeKind) -> Option<Outcome> {
        None
    }
}

/// The odd workloads have more pods than a node has room for. Those go to a node of their own,
/// and the ordinary pods alone tolerate the taint of the other.
fn node(name: &str, taints: &Value) -> Value {
    let room = json!({"cpu": "4", "memory": "8Gi", "pods": "110"});
    json!({"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}, "spec": {"taints": taints},
        "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}})
}

fn deployment() -> Value {
    let container = json!({"name": "c", "image": "i"});
    let spec = json!({"nodeSelector": {"kubernetes.io/hostname": NAMESPACE}, "containers": [container],
        "tolerations": [{"operator": "Exists"}]});
    json!({"metadata": {"name": "web"}, "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec}}})
}
