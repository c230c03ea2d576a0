//! What every cluster has from the start besides the API's own objects: the name
//! service's Service with a slice for each node that answers, what a machine that joins must
//! know, the right of nodes to renew their client certificates, that of the service proxy to
//! read what policies need and of DNS to read its ConfigMap, and a default StorageClass.

use crate::cluster::Cluster;
use crate::join::settings::ClusterSettings;
use anyhow::{Context, Result};
use ferry_api::rules::cidr::Cidr;
use ferry_api::view::core::v1::{Namespace, Node, NodeView};
use ferry_api::view::discovery::v1::EndpointSlice;
use ferry_api::view::storage::v1::StorageClass;
use ferry_client::{Client, DeleteParams, Informers, Patch, ResourcePath};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Declares all of it but the slices.
pub async fn apply(client: &Client, cluster: &Cluster, settings: &ClusterSettings) -> Result<()> {
    for (group, plural, document) in documents(cluster, settings)? {
        declare(client, group, plural, document).await?;
    }
    // Clusters of one node had one slice with the one node's DNS.
    let slices = client.api::<EndpointSlice>("kube-system");
    match slices.delete("kube-dns", &DeleteParams::default()).await {
        Err(error) if !error.is_not_found() => return Err(error).context("cannot remove endpointslices kube-dns"),
        _ => {}
    }
    create_storage_class(client).await
}

async fn declare(client: &Client, group: &str, plural: &str, document: Value) -> Result<()> {
    let text = |key: &str| document["metadata"][key].as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (text("namespace"), text("name"));
    let patch = Patch::Apply { manager: "ferry".into(), force: true, body: document };
    let path = ResourcePath::new(group, "v1", plural);
    let _: Value = client
        .patch_at(&path, &namespace, &name, None, &patch)
        .await
        .with_context(|| format!("cannot declare {plural} {name}"))?;
    Ok(())
}

/// Shows in `kubectl get nodes` which node the control plane is on. A node may not give
/// itself a role.
pub async fn label_control_plane(client: &Client, node_name: &str) -> Result<()> {
    let patch = Patch::Merge(json!({"metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}}}));
    client.api::<Node>("").patch(node_name, &patch).await.context("cannot label the node").map(drop)
}

/// Keeps a slice for each node's DNS, which answers that node alone (the Service's
/// internalTrafficPolicy is Local). A slice belongs to its Node and goes with it.
pub async fn keep_dns_endpoints(client: Client, informers: Informers, shutdown: CancellationToken) -> Result<()> {
    let nodes = informers.of::<Node>();
    let mut events = nodes.subscribe();
    loop {
        let event = tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            event = events.recv() => event.context("the informer of nodes has ended")?,
        };
        let (before, Some(node)) = event.versions() else { continue };
        let slice = render_dns_slice(node.view());
        let is_known = before.is_some_and(|before| render_dns_slice(before.view()) == slice);
        if let (Some(slice), false) = (slice, is_known) {
            declare(&client, "discovery.k8s.io", "endpointslices", slice).await?;
        }
    }
}

/// The DNS of a node answers on its bridge, which has the first address of its pods' range.
fn render_dns_slice(node: NodeView<'_>) -> Option<Value> {
    let range: Cidr = node.spec().pod_cidr().parse().ok()?;
    let address = range.nth(1)?;
    let (name, uid) = (node.metadata().name(), node.metadata().uid());
    Some(json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": format!("kube-dns-{uid}"),
            "namespace": "kube-system",
            "labels": {"kubernetes.io/service-name": "kube-dns", "endpointslice.kubernetes.io/managed-by": "ferry"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}],
        },
        "addressType": if range.is_ipv4() { "IPv4" } else { "IPv6" },
        "endpoints": [{"addresses": [address.to_string()], "conditions": {"ready": true}, "nodeName": name}],
        "ports": [
            {"name": "dns", "port": 53, "protocol": "UDP"},
            {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
        ],
    }))
}

/// On the namespace kube-system: the default StorageClass was made, and is the users' since.
const CLASS_CREATED: &str = "ferry.dev/storage-class-created";

/// Makes the default StorageClass once in the life of a cluster, so that a user's change or
/// deletion of it stays. A ferry killed before the mark is written finds the class there.
async fn create_storage_class(client: &Client) -> Result<()> {
    let namespaces = client.api::<Namespace>("");
    let system = namespaces.get("kube-system").await.context("cannot read namespace kube-system")?;
    if system.meta().annotations().contains_key(CLASS_CREATED) {
        return Ok(());
    }
    match client.api::<StorageClass>("").create(&storage_class()).await {
        Err(error) if !error.is_already_exists() => {
            return Err(error).context("cannot create the default StorageClass");
        }
        _ => {}
    }
    let mark = Patch::Merge(json!({"metadata": {"annotations": {CLASS_CREATED: "true"}}}));
    namespaces.patch("kube-system", &mark).await.context("cannot annotate namespace kube-system").map(drop)
}

fn storage_class() -> StorageClass {
    StorageClass::from(json!({
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {
            "name": "local-path",
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        "provisioner": ferry_kubelet::local_path::PROVISIONER,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": true,
    }))
}

type Document = (&'static str, &'static str, Value);

fn documents(cluster: &Cluster, settings: &ClusterSettings) -> Result<[Document; 7]> {
    let labels =
        json!({"k8s-app": "kube-dns", "kubernetes.io/cluster-service": "true", "kubernetes.io/name": "CoreDNS"});
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kube-dns", "namespace": "kube-system", "labels": labels},
        "spec": {
            "clusterIP": cluster.service_ip(10).to_string(),
            "internalTrafficPolicy": "Local",
            "ports": [
                {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53},
                {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 53},
            ],
        },
    });
    Ok([
        ("", "services", service),
        ("", "configmaps", settings.render()?),
        ("rbac.authorization.k8s.io", "clusterrolebindings", node_certificates()),
        ("rbac.authorization.k8s.io", "clusterroles", network_policy_role()),
        ("rbac.authorization.k8s.io", "clusterrolebindings", network_policy_binding()),
        ("rbac.authorization.k8s.io", "clusterroles", dns_config_role()),
        ("rbac.authorization.k8s.io", "clusterrolebindings", dns_config_binding()),
    ])
}

const DNS_CONFIG_ROLE: &str = "ferry:dns-config";

/// Reading the one ConfigMap that names stub domains and resolvers.
fn dns_config_role() -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": DNS_CONFIG_ROLE},
        "rules": [{
            "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["kube-dns"], "verbs": ["get", "list", "watch"],
        }],
    })
}

fn dns_config_binding() -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": DNS_CONFIG_ROLE},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": DNS_CONFIG_ROLE},
        "subjects": [{"kind": "ServiceAccount", "name": "coredns", "namespace": "kube-system"}],
    })
}

const NETWORK_POLICY_ROLE: &str = "ferry:network-policies";

/// Reading what policies are about, which the service proxy's own role lacks.
fn network_policy_role() -> Value {
    let verbs = json!(["get", "list", "watch"]);
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": NETWORK_POLICY_ROLE},
        "rules": [
            {"apiGroups": [""], "resources": ["pods", "namespaces"], "verbs": verbs},
            {"apiGroups": ["networking.k8s.io"], "resources": ["networkpolicies"], "verbs": verbs},
        ],
    })
}

fn network_policy_binding() -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": NETWORK_POLICY_ROLE},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NETWORK_POLICY_ROLE},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:kube-proxy"}],
    })
}

/// A node may ask for the next client certificate in its own name, and gets it unasked
/// (kubeadm's kubeadm:node-autoapprove-certificate-rotation).
pub fn node_certificates() -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "ferry:node-autoapprove-certificate-rotation"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
        },
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:nodes"}],
    })
}
