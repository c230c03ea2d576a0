//! What every cluster has from the start besides the API's own objects: the name
//! service's Service, the slice that says where it is answered, the right of nodes to
//! renew their client certificates, that of the service proxy to read what policies need, and a default StorageClass.

use crate::cluster::Cluster;
use anyhow::{Context, Result};
use ferry_api::view::core::v1::Namespace;
use ferry_api::view::storage::v1::StorageClass;
use ferry_client::{Client, Patch, ResourcePath};
use serde_json::{Value, json};
use std::net::Ipv4Addr;

/// Declares all of it, with the answers of kube-dns coming from `dns_address`.
pub async fn apply(client: &Client, cluster: &Cluster, dns_address: Ipv4Addr) -> Result<()> {
    for (group, plural, document) in documents(cluster, dns_address) {
        let text = |key: &str| document["metadata"][key].as_str().unwrap_or_default().to_owned();
        let (namespace, name) = (text("namespace"), text("name"));
        let patch = Patch::Apply { manager: "ferry".into(), force: true, body: document };
        let path = ResourcePath::new(group, "v1", plural);
        let _: Value = client
            .patch_at(&path, &namespace, &name, None, &patch)
            .await
            .with_context(|| format!("cannot declare {plural} {name}"))?;
    }
    create_storage_class(client).await
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

fn documents(cluster: &Cluster, dns_address: Ipv4Addr) -> [(&'static str, &'static str, Value); 5] {
    let labels =
        json!({"k8s-app": "kube-dns", "kubernetes.io/cluster-service": "true", "kubernetes.io/name": "CoreDNS"});
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kube-dns", "namespace": "kube-system", "labels": labels},
        "spec": {
            "clusterIP": cluster.service_ip(10).to_string(),
            "ports": [
                {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53},
                {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 53},
            ],
        },
    });
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "kube-dns",
            "namespace": "kube-system",
            "labels": {"kubernetes.io/service-name": "kube-dns", "endpointslice.kubernetes.io/managed-by": "ferry"},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [dns_address.to_string()], "conditions": {"ready": true}, "nodeName": cluster.node_name}],
        "ports": [
            {"name": "dns", "port": 53, "protocol": "UDP"},
            {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
        ],
    });
    [
        ("", "services", service),
        ("discovery.k8s.io", "endpointslices", slice),
        ("rbac.authorization.k8s.io", "clusterrolebindings", node_certificates()),
        ("rbac.authorization.k8s.io", "clusterroles", network_policy_role()),
        ("rbac.authorization.k8s.io", "clusterrolebindings", network_policy_binding()),
    ]
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
