//! An informer of every kind, on each of the ways that components have to the API server, and
//! whether they are in step with it.

use crate::loopback::eventually;
use crate::server::{Server, admin};
use async_trait::async_trait;
use ferry_api::view::{self, Kind};
use ferry_apiserver::{ApiServer, Peer};
use ferry_client::{Body, BoxError, Client, Informer, Informers, ResourcePath, TlsTransport, Transport};
use ferry_resources::{Row, all};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Objects by namespace and name.
type Objects = BTreeMap<String, Value>;

struct Follower {
    path: ResourcePath,
    /// The kind's view and transport, for messages.
    what: String,
    snapshot: Box<dyn Fn() -> Objects + Send + Sync>,
    metadata_only: bool,
}

/// The informers of one run of the server.
pub struct Followers {
    followers: Vec<Follower>,
    shutdown: CancellationToken,
    listener: tokio::task::JoinHandle<()>,
}

/// The way of the components that run in the server's process.
pub struct InProcess {
    pub api: ApiServer,
    pub user: Peer,
}

#[async_trait]
impl Transport for InProcess {
    async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
        Ok(self.api.handle(request, self.user.clone()).await)
    }
}

impl Followers {
    pub async fn start(server: &Server) -> Self {
        let shutdown = CancellationToken::new();
        let inside = Informers::with_shutdown(in_process(server), shutdown.child_token());
        let (outside, listener) = over_tls(server).await;
        let outside = Informers::with_shutdown(outside, shutdown.child_token());
        let mut followers = typed(&inside, "in process");
        followers.extend(typed(&outside, "over TLS"));
        followers.extend(rows().map(|row| {
            let path = path_of(row);
            let metadata_only = true;
            Follower { metadata_only, ..follower(inside.metadata(&path), path, "metadata in process") }
        }));
        Self { followers, shutdown, listener }
    }

    /// Waits until every informer has what the server has: the same objects in the same versions.
    pub async fn in_step(&self, server: &Server, when: &str) {
        for row in rows() {
            let path = path_of(row);
            for follower in self.followers.iter().filter(|follower| follower.path == path) {
                eventually(&format!("{} of {} are in step {when}", follower.what, path.plural), || async {
                    let listed = list(server, row).await;
                    let mut held = (follower.snapshot)();
                    if follower.metadata_only {
                        return versions(&listed) == versions(&held);
                    }
                    held.values_mut().for_each(remove_type);
                    listed == held
                })
                .await;
            }
        }
    }

    /// Ends the informers and their connections, so that the server can go.
    pub async fn stop(self) {
        self.shutdown.cancel();
        self.listener.abort();
        let _ = self.listener.await;
    }
}

pub fn in_process(server: &Server) -> Client {
    Client::new(Arc::new(InProcess { api: server.api.clone(), user: admin() }), "in-process")
}

/// The way of a node's components on another machine.
pub async fn over_tls(server: &Server) -> (Client, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("https://{}", listener.local_addr().expect("an address"));
    let (api, tls) = (server.api.clone(), Arc::new(server.pki.apiserver_tls().expect("a serving certificate")));
    let serving = tokio::spawn(async move { api.serve(listener, tls).await.expect("it serves") });
    let identity = Some(&server.pki.admin);
    let mut config = ferry_pki::tls::client_config(server.pki.ca.certificate_pem(), identity).expect("a client");
    config.alpn_protocols.clear();
    (Client::new(Arc::new(TlsTransport::new(url, config)), "over-tls"), serving)
}

fn follower<K: Kind>(informer: Informer<K>, path: ResourcePath, way: &str) -> Follower {
    let snapshot = move || {
        let objects = informer.list(None);
        let key = |namespace: &str, name: &str| format!("{namespace}/{name}");
        objects.iter().map(|o| (key(o.namespace(), o.name()), o.document().root().to_value())).collect()
    };
    Follower {
        what: format!("informers of {} {way}", K::KIND),
        path,
        snapshot: Box::new(snapshot),
        metadata_only: false,
    }
}

/// Every kind that is stored, in every version.
pub fn rows() -> impl Iterator<Item = &'static Arc<Row>> {
    all().iter().filter(|row| row.is_stored() && row.serves("watch"))
}

pub fn path_of(row: &Row) -> ResourcePath {
    ResourcePath::new(&row.group, &row.version, &row.plural)
}

pub async fn list(server: &Server, row: &Row) -> Objects {
    let mut list = server.get(&path_of(row).url("", None, None)).await.ok();
    let items = list["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let key =
        |object: &Value| format!("{}/{}", text(&object["metadata"]["namespace"]), text(&object["metadata"]["name"]));
    items
        .into_iter()
        .map(|mut object| {
            remove_type(&mut object);
            (key(&object), object)
        })
        .collect()
}

/// The objects and their versions. Annotations may differ from version to version of a kind.
fn versions(objects: &Objects) -> Vec<(&String, &Value, &Value)> {
    let metadata = objects.iter().map(|(key, object)| (key, &object["metadata"]));
    metadata.map(|(key, metadata)| (key, &metadata["uid"], &metadata["resourceVersion"])).collect()
}

/// The items of a list do not repeat their type.
fn remove_type(object: &mut Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|name, _| name != "kind" && name != "apiVersion");
    }
}

macro_rules! kinds {
    ($($group:ident::$version:ident: $($kind:ident)+;)+) => {
        /// What the client hands out for each kind that has a view.
        fn typed(informers: &Informers, way: &str) -> Vec<Follower> {
            vec![$($({
                type Viewed = view::$group::$version::$kind;
                follower::<Viewed>(informers.of(), ResourcePath::of::<Viewed>(), way)
            },)+)+]
        }

        fn viewed() -> Vec<ResourcePath> {
            vec![$($(ResourcePath::of::<view::$group::$version::$kind>(),)+)+]
        }
    };
}

kinds! {
    core::v1: ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod
        PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount;
    admissionregistration::v1: MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration
        ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration;
    apiextensions::v1: CustomResourceDefinition;
    apiregistration::v1: APIService;
    apps::v1: ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet;
    autoscaling::v1: HorizontalPodAutoscaler;
    autoscaling::v2: HorizontalPodAutoscaler;
    batch::v1: CronJob Job;
    certificates::v1: CertificateSigningRequest;
    coordination::v1: Lease;
    discovery::v1: EndpointSlice;
    events::v1: Event;
    flowcontrol::v1: FlowSchema PriorityLevelConfiguration;
    networking::v1: IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR;
    node::v1: RuntimeClass;
    policy::v1: PodDisruptionBudget;
    rbac::v1: ClusterRole ClusterRoleBinding Role RoleBinding;
    resource::v1: DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice;
    scheduling::v1: PriorityClass;
    storage::v1: CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass;
}

#[test]
fn every_kind_that_has_a_view_is_followed() {
    let viewed: HashSet<ResourcePath> = viewed().into_iter().collect();
    // Views are generated of versions that are neither alpha nor beta.
    let settled = rows().filter(|row| !row.version.contains("beta") && !row.version.contains("alpha"));
    let missed: Vec<_> = settled.filter(|row| !viewed.contains(&path_of(row))).map(|row| row.gvk()).collect();
    assert_eq!(missed, []);
}
