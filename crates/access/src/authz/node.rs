//! The Node authorizer: a kubelet may read the secrets, config maps, claims, volumes and
//! accounts of pods bound to its node, and of no others. Which those are is kept in an
//! index that follows pods, persistent volumes and volume attachments; upstream calls the
//! same thing its graph (plugin/pkg/auth/authorizer/node).

use super::bootstrap;
use super::rule::CompiledRule;
use super::{Attributes, Decision, selectors};
use crate::authn::user::node_name;
use ferry_api::document::Index;
use ferry_api::object::Meta;
use ferry_api::view::View;
use ferry_api::view::core::v1::PodView;
use ferry_cache::Stored;
use ferry_cache::lookup::{Change, ObjectLookup};
use parking_lot::RwLock;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What pods refer to by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Pod,
    Secret,
    ConfigMap,
    Claim,
    ServiceAccount,
    ResourceClaim,
    Volume,
    Attachment,
    Slice,
    CertificateRequest,
}

pub(super) struct NodeAuthorizer {
    graph: RwLock<Graph>,
    /// What every node may do that is not subdivided: the rules of role system:node.
    rules: Vec<CompiledRule>,
}

/// Which nodes reach which objects. Keys of objects are `namespace/name`.
#[derive(Default)]
struct Graph {
    /// How many pods of a node refer to an object.
    nodes_of: HashMap<ObjectKey, HashMap<Arc<str>, usize>>,
    /// The bound pods, and their share of `nodes_of`, so that it can be taken back.
    pods: HashMap<Box<str>, PodEdges>,
    /// The claim that a volume is bound to.
    claim_of: HashMap<String, String>,
    /// The volumes that need a secret.
    volumes_of_secret: HashMap<String, HashSet<String>>,
    /// The node that a volume attachment, resource slice or certificate request names.
    node_of: HashMap<(Kind, String), String>,
}

/// Thousands of pods name the same account and config map: they share the text.
type ObjectKey = (Kind, Arc<str>);

struct PodEdges {
    node: Arc<str>,
    objects: Box<[ObjectKey]>,
}

impl NodeAuthorizer {
    pub(super) fn follow(lookup: &dyn ObjectLookup) -> Arc<Self> {
        let rules = bootstrap::cluster_role_rules("system:node").into_iter().map(CompiledRule::new).collect();
        let authorizer = Arc::new(Self { graph: RwLock::default(), rules });
        type Observe = fn(&mut Graph, &Change);
        let kinds: [(&str, &str, Observe); 5] = [
            ("", "pods", Graph::observe_pod),
            ("", "persistentvolumes", Graph::observe_volume),
            ("storage.k8s.io", "volumeattachments", |graph, change| graph.observe_named(Kind::Attachment, change)),
            ("resource.k8s.io", "resourceslices", |graph, change| graph.observe_named(Kind::Slice, change)),
            ("certificates.k8s.io", "podcertificaterequests", |graph, change| {
                graph.observe_named(Kind::CertificateRequest, change);
            }),
        ];
        for (group, plural, observe) in kinds {
            let authorizer = authorizer.clone();
            let observer = Box::new(move |change: &Change| observe(&mut authorizer.graph.write(), change));
            lookup.subscribe(group, plural, observer);
        }
        authorizer
    }

    /// Allows, or has no opinion and says why.
    pub(super) fn authorize(&self, attributes: &Attributes<'_>) -> Decision {
        let Some(node) = node_name(attributes.user) else { return Decision::no_opinion("") };
        if !attributes.is_resource {
            return self.by_rules(attributes);
        }
        let verb = attributes.verb;
        match (attributes.api_group, attributes.resource) {
            ("", "secrets") => self.read(node, Kind::Secret, attributes),
            ("", "configmaps") => self.read(node, Kind::ConfigMap, attributes),
            ("", "persistentvolumeclaims") if attributes.subresource == "status" => match verb {
                "update" | "patch" => self.related(node, Kind::Claim, attributes),
                _ => Decision::no_opinion("can only get/update/patch this type"),
            },
            // Upstream allows `get` alone, and its kubelet asks again and again; to follow one claim by
            // its name shows nothing more.
            ("", "persistentvolumeclaims") => self.read(node, Kind::Claim, attributes),
            ("", "persistentvolumes") => self.get(node, Kind::Volume, attributes),
            ("resource.k8s.io", "resourceclaims") => self.get(node, Kind::ResourceClaim, attributes),
            ("storage.k8s.io", "volumeattachments") => self.get(node, Kind::Attachment, attributes),
            ("", "serviceaccounts") => self.service_account(node, attributes),
            ("coordination.k8s.io", "leases") => lease(node, attributes),
            ("storage.k8s.io", "csinodes") => csi_node(node, attributes),
            ("", "nodes") => own_node(node, attributes),
            ("", "pods") => self.pod(node, attributes),
            ("resource.k8s.io", "resourceslices") => self.slice(node, attributes),
            ("certificates.k8s.io", "podcertificaterequests") => self.certificate_request(node, attributes),
            _ => self.by_rules(attributes),
        }
    }

    fn by_rules(&self, attributes: &Attributes<'_>) -> Decision {
        let allowed = self.rules.iter().any(|compiled| compiled.rule.allows(attributes));
        if allowed { Decision::allow() } else { Decision::no_opinion("") }
    }

    fn read(&self, node: &str, kind: Kind, attributes: &Attributes<'_>) -> Decision {
        if !matches!(attributes.verb, "get" | "list" | "watch") {
            Decision::no_opinion("can only read resources of this type")
        } else if !attributes.subresource.is_empty() {
            Decision::no_opinion("cannot read subresource")
        } else if attributes.namespace.is_empty() {
            Decision::no_opinion("can only read namespaced object of this type")
        } else {
            self.related(node, kind, attributes)
        }
    }

    fn get(&self, node: &str, kind: Kind, attributes: &Attributes<'_>) -> Decision {
        if attributes.verb != "get" {
            Decision::no_opinion("can only get individual resources of this type")
        } else if !attributes.subresource.is_empty() {
            Decision::no_opinion("cannot get subresource")
        } else {
            self.related(node, kind, attributes)
        }
    }

    fn related(&self, node: &str, kind: Kind, attributes: &Attributes<'_>) -> Decision {
        if attributes.name.is_empty() {
            return Decision::no_opinion("No Object name found");
        }
        let key = match kind {
            Kind::Volume | Kind::Attachment | Kind::Slice => attributes.name.to_owned(),
            _ => key(attributes.namespace, attributes.name),
        };
        if self.graph.read().reaches(node, kind, &key) { Decision::allow() } else { unrelated(node) }
    }

    fn service_account(&self, node: &str, attributes: &Attributes<'_>) -> Decision {
        if attributes.verb == "get" && attributes.subresource.is_empty() {
            return self.read(node, Kind::ServiceAccount, attributes);
        }
        if attributes.verb != "create" || attributes.name.is_empty() {
            return Decision::no_opinion("can only create tokens for individual service accounts");
        }
        if attributes.subresource != "token" {
            return Decision::no_opinion("can only create token subresource of serviceaccount");
        }
        self.related(node, Kind::ServiceAccount, attributes)
    }

    fn pod(&self, node: &str, attributes: &Attributes<'_>) -> Decision {
        match (attributes.subresource, attributes.verb) {
            ("", "get") => self.get(node, Kind::Pod, attributes),
            ("", "list" | "watch") => {
                if selectors::pins(attributes.field_selector, "spec.nodeName", node) {
                    return Decision::allow();
                }
                if !attributes.name.is_empty() {
                    return self.related(node, Kind::Pod, attributes);
                }
                Decision::no_opinion("can only list/watch pods with spec.nodeName field selector")
            }
            // Mirror pods, status and evictions of its own pods: admission knows which those are.
            ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create") => Decision::allow(),
            _ => Decision::no_opinion(""),
        }
    }
}

impl NodeAuthorizer {
    fn slice(&self, node: &str, attributes: &Attributes<'_>) -> Decision {
        if !attributes.subresource.is_empty() {
            return Decision::no_opinion("cannot authorize ResourceSlice subresources");
        }
        match attributes.verb {
            // Admission sees the content, and with it the node that the slice names.
            "create" => Decision::allow(),
            "get" | "update" | "patch" | "delete" => self.related(node, Kind::Slice, attributes),
            "watch" | "list" | "deletecollection"
                if selectors::pins(attributes.field_selector, "spec.nodeName", node) =>
            {
                Decision::allow()
            }
            "watch" | "list" | "deletecollection" => {
                Decision::no_opinion("can only list/watch/deletecollection resourceslices with nodeName field selector")
            }
            _ => Decision::no_opinion(
                "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection",
            ),
        }
    }

    fn certificate_request(&self, node: &str, attributes: &Attributes<'_>) -> Decision {
        if !attributes.subresource.is_empty() {
            return Decision::no_opinion("nodes may not access the status subresource of PodCertificateRequests");
        }
        match attributes.verb {
            // Admission sees whom it is for.
            "create" => Decision::allow(),
            "get" => self.related(node, Kind::CertificateRequest, attributes),
            "list" | "watch" if selectors::pins(attributes.field_selector, "spec.nodeName", node) => Decision::allow(),
            "list" | "watch" => {
                Decision::no_opinion("can only list/watch podcertificaterequests with nodeName field selector")
            }
            verb => Decision::no_opinion(format!("nodes may not {verb} podcertificaterequests")),
        }
    }
}

fn unrelated(node: &str) -> Decision {
    Decision::no_opinion(format!("no relationship found between node '{node}' and this object"))
}

fn lease(node: &str, attributes: &Attributes<'_>) -> Decision {
    if !matches!(attributes.verb, "get" | "create" | "update" | "patch" | "delete") {
        return Decision::no_opinion("can only get, create, update, patch, or delete a node lease");
    }
    if attributes.namespace != "kube-node-lease" {
        return Decision::no_opinion("can only access leases in the \"kube-node-lease\" system namespace");
    }
    // On create the name is not in the request's path; admission checks it.
    if attributes.verb != "create" && attributes.name != node {
        return Decision::no_opinion("can only access node lease with the same name as the requesting node");
    }
    Decision::allow()
}

fn csi_node(node: &str, attributes: &Attributes<'_>) -> Decision {
    if !matches!(attributes.verb, "get" | "create" | "update" | "patch" | "delete") {
        return Decision::no_opinion("can only get, create, update, patch, or delete a CSINode");
    }
    if !attributes.subresource.is_empty() {
        return Decision::no_opinion("cannot authorize CSINode subresources");
    }
    if attributes.verb != "create" && attributes.name != node {
        return Decision::no_opinion("can only access CSINode with the same name as the requesting node");
    }
    Decision::allow()
}

fn own_node(node: &str, attributes: &Attributes<'_>) -> Decision {
    match (attributes.subresource, attributes.verb) {
        // Admission limits writes to the node's own object.
        ("", "create" | "update" | "patch") | ("status", "update" | "patch") => Decision::allow(),
        // The name is compared and not looked up: a kubelet asks for its node before it exists.
        ("", "get" | "list" | "watch") => match attributes.name {
            name if name == node => Decision::allow(),
            "" => Decision::no_opinion(format!("node '{node}' cannot read all nodes, only its own Node object")),
            name => Decision::no_opinion(format!("node '{node}' cannot read '{name}', only its own Node object")),
        },
        _ => Decision::no_opinion(""),
    }
}

fn key(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

impl Graph {
    fn reaches(&self, node: &str, kind: Kind, object: &str) -> bool {
        match kind {
            Kind::Volume => {
                self.claim_of.get(object).is_some_and(|claim| self.reaches_directly(node, Kind::Claim, claim))
            }
            Kind::Attachment | Kind::Slice | Kind::CertificateRequest => {
                self.node_of.get(&(kind, object.to_owned())).is_some_and(|named| named == node)
            }
            Kind::Secret => {
                self.reaches_directly(node, Kind::Secret, object)
                    || self
                        .volumes_of_secret
                        .get(object)
                        .is_some_and(|volumes| volumes.iter().any(|volume| self.reaches(node, Kind::Volume, volume)))
            }
            _ => self.reaches_directly(node, kind, object),
        }
    }

    fn reaches_directly(&self, node: &str, kind: Kind, object: &str) -> bool {
        if kind == Kind::Pod {
            return self.pods.get(object).is_some_and(|edges| *edges.node == *node);
        }
        // The key is borrowed as a pair only by making one; objects' names are short.
        self.nodes_of.get(&(kind, object.into())).is_some_and(|nodes| nodes.contains_key(node))
    }

    fn observe_pod(&mut self, change: &Change) {
        match change {
            Change::Put(stored) => {
                let pod_key = key(stored.namespace(), stored.name());
                // What a bound pod refers to hardly ever changes, so its many status updates
                // need no second look; a pod of the same name is deleted before.
                let is_known = self.pods.contains_key(&*pod_key);
                if (is_known && !may_refer_to_more(stored)) || stored.field("spec.nodeName") == Some("") {
                    return;
                }
                self.forget_pod(&pod_key);
                let mut scratch = Index::default();
                let pod = PodView::over(stored.document().read(&mut scratch));
                let node = pod.spec().node_name();
                if node.is_empty() {
                    return;
                }
                let node: Arc<str> = node.into();
                let mut objects = Vec::new();
                // A node makes its mirror pods itself, so these must grant it nothing.
                if pod.metadata().annotations().get("kubernetes.io/config.mirror").is_none() {
                    let namespace = stored.namespace();
                    let named = pod_references(pod).into_iter();
                    for (kind, name) in named {
                        let entry = self.nodes_of.entry((kind, key(namespace, &name).into()));
                        objects.push(entry.key().clone());
                        *entry.or_default().entry(node.clone()).or_default() += 1;
                    }
                }
                self.pods.insert(pod_key.into(), PodEdges { node, objects: objects.into() });
            }
            Change::Delete(stored) => {
                self.forget_pod(&key(stored.namespace(), stored.name()));
            }
        }
    }

    fn forget_pod(&mut self, pod_key: &str) {
        let Some(edges) = self.pods.remove(pod_key) else { return };
        for object in edges.objects {
            let Some(nodes) = self.nodes_of.get_mut(&object) else { continue };
            if let Some(count) = nodes.get_mut(&edges.node) {
                *count -= 1;
                if *count == 0 {
                    nodes.remove(&edges.node);
                }
            }
            if nodes.is_empty() {
                self.nodes_of.remove(&object);
            }
        }
    }

    fn observe_volume(&mut self, change: &Change) {
        let (Change::Put(stored) | Change::Delete(stored)) = change;
        self.forget_volume(stored);
        if !matches!(change, Change::Put(_)) {
            return;
        }
        let volume = stored.value();
        let Some(claim) = volume.at(&["spec", "claimRef"]).filter(|value| value.is_object()) else { return };
        let claim_namespace = claim.str_at(&["namespace"]);
        self.claim_of.insert(stored.name().to_owned(), key(claim_namespace, claim.str_at(&["name"])));
        for (namespace, secret) in volume_secrets(&volume, claim_namespace) {
            let volumes = self.volumes_of_secret.entry(key(&namespace, &secret)).or_default();
            volumes.insert(stored.name().to_owned());
        }
    }

    fn forget_volume(&mut self, stored: &Stored) {
        if self.claim_of.remove(stored.name()).is_some() {
            self.volumes_of_secret.retain(|_, volumes| {
                volumes.remove(stored.name());
                !volumes.is_empty()
            });
        }
    }

    /// Objects that name their node in `spec.nodeName`.
    fn observe_named(&mut self, kind: Kind, change: &Change) {
        let (Change::Put(stored) | Change::Delete(stored)) = change;
        let object = match kind {
            Kind::CertificateRequest => key(stored.namespace(), stored.name()),
            _ => stored.name().to_owned(),
        };
        match change {
            Change::Put(stored) => {
                let node = stored.value().str_at(&["spec", "nodeName"]).to_owned();
                self.node_of.insert((kind, object), node);
            }
            Change::Delete(_) => {
                self.node_of.remove(&(kind, object));
            }
        }
    }
}

/// Whether a bound pod has what can be added to it: containers that join it, and claims that
/// are made for it. Looked for in its text, so that other pods are not decoded.
fn may_refer_to_more(pod: &Stored) -> bool {
    ["\"ephemeralContainers\":", "\"resourceClaimStatuses\":"].iter().any(|key| pod.mentions(key))
}

/// The objects that a pod names: its account, and what its containers and volumes take.
fn pod_references(pod: PodView<'_>) -> HashSet<(Kind, String)> {
    let mut out = HashSet::new();
    let mut add = |kind: Kind, name: &str| {
        if !name.is_empty() {
            out.insert((kind, name.to_owned()));
        }
    };
    let spec = pod.spec();
    add(Kind::ServiceAccount, spec.service_account_name());
    spec.image_pull_secrets().iter().for_each(|secret| add(Kind::Secret, secret.name()));
    // Variables stand under the same names in all three kinds of containers.
    let ephemeral = spec.ephemeral_containers().iter().map(|container| (container.env(), container.env_from()));
    let containers = spec.init_containers().iter().chain(spec.containers().iter());
    for (env, env_from) in containers.map(|container| (container.env(), container.env_from())).chain(ephemeral) {
        for source in env_from.iter() {
            add(Kind::Secret, source.secret_ref().unwrap_or_default().name());
            add(Kind::ConfigMap, source.config_map_ref().unwrap_or_default().name());
        }
        for variable in env.iter() {
            add(Kind::Secret, variable.value_from().unwrap_or_default().secret_key_ref().unwrap_or_default().name());
            add(
                Kind::ConfigMap,
                variable.value_from().unwrap_or_default().config_map_key_ref().unwrap_or_default().name(),
            );
        }
    }
    for volume in spec.volumes().iter() {
        add(Kind::Secret, volume.secret().unwrap_or_default().secret_name());
        add(Kind::ConfigMap, volume.config_map().unwrap_or_default().name());
        add(Kind::Claim, volume.persistent_volume_claim().unwrap_or_default().claim_name());
        if volume.ephemeral().is_some() {
            add(Kind::Claim, &format!("{}-{}", pod.metadata().name(), volume.name()));
        }
        for source in volume.projected().unwrap_or_default().sources().iter() {
            add(Kind::Secret, source.secret().unwrap_or_default().name());
            add(Kind::ConfigMap, source.config_map().unwrap_or_default().name());
        }
        add(Kind::Secret, volume.azure_file().unwrap_or_default().secret_name());
        add(Kind::Secret, volume.csi().unwrap_or_default().node_publish_secret_ref().unwrap_or_default().name());
        add(Kind::Secret, volume.cephfs().unwrap_or_default().secret_ref().unwrap_or_default().name());
        add(Kind::Secret, volume.cinder().unwrap_or_default().secret_ref().unwrap_or_default().name());
        add(Kind::Secret, volume.flex_volume().unwrap_or_default().secret_ref().unwrap_or_default().name());
        add(Kind::Secret, volume.iscsi().unwrap_or_default().secret_ref().unwrap_or_default().name());
        add(Kind::Secret, volume.rbd().unwrap_or_default().secret_ref().unwrap_or_default().name());
        add(Kind::Secret, volume.scale_io().unwrap_or_default().secret_ref().unwrap_or_default().name());
        add(Kind::Secret, volume.storageos().unwrap_or_default().secret_ref().unwrap_or_default().name());
    }
    for status in pod.status().resource_claim_statuses().iter() {
        add(Kind::ResourceClaim, status.resource_claim_name().unwrap_or_default());
    }
    for claim in spec.resource_claims().iter() {
        add(Kind::ResourceClaim, claim.resource_claim_name().unwrap_or_default());
    }
    out
}

/// The secrets that a kubelet needs for a volume, each with its namespace.
fn volume_secrets(volume: &Value, claim_namespace: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut add = |namespace: &str, name: &str| {
        if !name.is_empty() {
            let namespace = if namespace.is_empty() { claim_namespace } else { namespace };
            out.push((namespace.to_owned(), name.to_owned()));
        }
    };
    let source = |path: &[&str]| volume.at(&["spec"]).map(|spec| spec.str_at(path).to_owned()).unwrap_or_default();
    add(&source(&["azureFile", "secretNamespace"]), &source(&["azureFile", "secretName"]));
    for driver in ["cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"] {
        add(&source(&[driver, "secretRef", "namespace"]), &source(&[driver, "secretRef", "name"]));
    }
    for reference in ["nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef"] {
        add(&source(&["csi", reference, "namespace"]), &source(&["csi", reference, "name"]));
    }
    out
}
