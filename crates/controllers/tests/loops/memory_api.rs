//! A small API server in memory, behind the client's transport: enough of the verbs,
//! watches, finalizers and discovery for controllers to run against, and with a hand on
//! the watches, so that a test can let a cache fall behind.

// The API answers with a Status; boxing it would only make the double harder to read.
#![allow(clippy::result_large_err)]

use async_trait::async_trait;
use bytes::Bytes;
use ferry_api::gvk::GroupResource;
use ferry_api::status::{Details, Status};
use ferry_client::{Body, BoxError, Client, Transport, full_body, read_body};
use futures_util::stream;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, StreamBody};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Group, version, plural, kind, namespaced.
const KINDS: &[(&str, &str, &str, &str, bool)] = &[
    ("", "v1", "namespaces", "Namespace", false),
    ("", "v1", "nodes", "Node", false),
    ("", "v1", "pods", "Pod", true),
    ("", "v1", "services", "Service", true),
    ("", "v1", "endpoints", "Endpoints", true),
    ("", "v1", "configmaps", "ConfigMap", true),
    ("", "v1", "serviceaccounts", "ServiceAccount", true),
    ("", "v1", "events", "Event", true),
    ("", "v1", "replicationcontrollers", "ReplicationController", true),
    ("apps", "v1", "deployments", "Deployment", true),
    ("apps", "v1", "replicasets", "ReplicaSet", true),
    ("apps", "v1", "daemonsets", "DaemonSet", true),
    ("apps", "v1", "statefulsets", "StatefulSet", true),
    ("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true),
    ("", "v1", "persistentvolumes", "PersistentVolume", false),
    ("storage.k8s.io", "v1", "storageclasses", "StorageClass", false),
    ("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", false),
    ("storage.k8s.io", "v1", "csidrivers", "CSIDriver", false),
    ("apps", "v1", "controllerrevisions", "ControllerRevision", true),
    ("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", true),
    ("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", true),
    ("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", false),
    ("batch", "v1", "jobs", "Job", true),
    ("batch", "v1", "cronjobs", "CronJob", true),
    ("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true),
    ("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true),
    ("example.com", "v1", "widgets", "Widget", true),
    ("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", true),
    ("coordination.k8s.io", "v1", "leases", "Lease", true),
    ("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false),
    ("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false),
];

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub plural: String,
    pub namespace: String,
    pub name: String,
}

struct Watcher {
    plural: String,
    selector: Option<String>,
    sender: mpsc::UnboundedSender<Bytes>,
}

struct State {
    revision: u64,
    objects: BTreeMap<Place, Value>,
    watchers: Vec<Watcher>,
    history: Vec<(u64, String, String, Value)>,
    held: HashSet<String>,
    backlog: Vec<(String, String, Value)>,
    /// How often each verb was used on each resource.
    calls: HashMap<(String, String), usize>,
    refuse_creates_of: HashSet<String>,
    refuse_deletes_of: HashSet<String>,
    /// A group whose API server does not answer, as an APIService may name one.
    broken_group: Option<String>,
    /// What is answered at paths of API servers that an APIService would name.
    elsewhere: HashMap<String, Value>,
    /// A group that lists null for its resources, as a Go server without any does.
    empty_group: Option<String>,
}

#[derive(Clone)]
pub struct MemoryApi {
    state: Arc<Mutex<State>>,
    changed: Arc<watch::Sender<u64>>,
}

impl MemoryApi {
    pub fn new() -> Self {
        let state = State {
            revision: 1,
            objects: BTreeMap::new(),
            watchers: Vec::new(),
            history: Vec::new(),
            held: HashSet::new(),
            backlog: Vec::new(),
            calls: HashMap::new(),
            refuse_creates_of: HashSet::new(),
            refuse_deletes_of: HashSet::new(),
            broken_group: None,
            elsewhere: HashMap::new(),
            empty_group: None,
        };
        Self { state: Arc::new(Mutex::new(state)), changed: Arc::new(watch::channel(0).0) }
    }

    pub fn client(&self) -> Client {
        Client::new(Arc::new(self.clone()), "test")
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics while it holds the state")
    }

    /// Watches of the resource fall silent until `release`.
    pub fn hold(&self, plural: &str) {
        self.state().held.insert(plural.to_owned());
    }

    pub fn release(&self, plural: &str) {
        let mut state = self.state();
        state.held.remove(plural);
        let (mine, others) = std::mem::take(&mut state.backlog).into_iter().partition(|(of, ..)| of == plural);
        state.backlog = others;
        let mine: Vec<(String, String, Value)> = mine;
        for (plural, kind, object) in mine {
            state.tell(&plural, &kind, &object);
        }
    }

    /// Refuses every deletion of the resource, as an admission webhook may.
    pub fn refuse_deletes_of(&self, plural: &str, refuse: bool) {
        let mut state = self.state();
        if refuse {
            state.refuse_deletes_of.insert(plural.to_owned());
        } else {
            state.refuse_deletes_of.remove(plural);
        }
    }

    pub fn refuse_creates_of(&self, plural: &str, refuse: bool) {
        let mut state = self.state();
        if refuse {
            state.refuse_creates_of.insert(plural.to_owned());
        } else {
            state.refuse_creates_of.remove(plural);
        }
    }

    /// Discovery lists the group, and whatever is asked of it fails; `None` takes it away.
    pub fn break_group(&self, group: Option<&str>) {
        self.state().broken_group = group.map(str::to_owned);
    }

    /// Answers a path as another API server would. Not every binary of tests needs it.
    #[allow(dead_code)]
    pub fn answer_at(&self, path: &str, answer: Value) {
        self.state().elsewhere.insert(path.to_owned(), answer);
    }

    /// Discovery lists the group, and the group lists null for its resources.
    pub fn list_empty_group(&self, group: &str) {
        self.state().empty_group = Some(group.to_owned());
    }

    pub fn calls(&self, method: &str, plural: &str) -> usize {
        self.state().calls.get(&(method.to_owned(), plural.to_owned())).copied().unwrap_or(0)
    }

    /// How often each verb was used on each resource.
    pub fn calls_by_kind(&self) -> BTreeMap<(String, String), usize> {
        self.state().calls.iter().map(|(call, count)| (call.clone(), *count)).collect()
    }

    pub fn all_calls(&self) -> usize {
        self.state().calls.values().sum()
    }

    pub fn create(&self, plural: &str, object: Value) -> Value {
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        let created = self.state().create(plural, &namespace, object).expect("the object can be created");
        self.note();
        created
    }

    pub fn edit(&self, plural: &str, namespace: &str, name: &str, change: impl FnOnce(&mut Value)) {
        let place = Place { plural: plural.into(), namespace: namespace.into(), name: name.into() };
        let mut state = self.state();
        let mut object = state.objects.get(&place).expect("the object exists").clone();
        change(&mut object);
        state.store(place, object);
        drop(state);
        self.note();
    }

    pub fn delete(&self, plural: &str, namespace: &str, name: &str, policy: &str) {
        let place = Place { plural: plural.into(), namespace: namespace.into(), name: name.into() };
        self.state().delete(&place, &json!({"propagationPolicy": policy})).expect("the object can be deleted");
        self.note();
    }

    pub fn list(&self, plural: &str) -> Vec<Value> {
        self.state()
            .objects
            .iter()
            .filter(|(place, _)| place.plural == plural)
            .map(|(_, object)| object.clone())
            .collect()
    }

    pub fn get(&self, plural: &str, namespace: &str, name: &str) -> Option<Value> {
        let place = Place { plural: plural.into(), namespace: namespace.into(), name: name.into() };
        self.state().objects.get(&place).cloned()
    }

    /// Waits until `condition` holds, looking again after every change.
    pub async fn until(&self, what: &str, condition: impl Fn(&Self) -> bool) {
        let mut changed = self.changed.subscribe();
        let wait = async {
            while !condition(self) {
                changed.changed().await.expect("the API lives as long as the test");
            }
        };
        if tokio::time::timeout(Duration::from_secs(30), wait).await.is_err() {
            let places: Vec<Place> =
                self.state().objects.keys().filter(|place| place.plural != "events").cloned().collect();
            panic!("it never came about that {what}; there are {places:#?}");
        }
    }

    fn note(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    fn answer(
        &self,
        method: &Method,
        path: &str,
        query: &HashMap<String, String>,
        body: &Value,
    ) -> Result<Value, Status> {
        if let Some(answer) = self.state().elsewhere.get(path) {
            return Ok(answer.clone());
        }
        if path == "/api" {
            return Ok(json!({"kind": "APIVersions", "versions": ["v1"]}));
        }
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        if path == "/apis" {
            let broken = self.state().broken_group.clone();
            let empty = self.state().empty_group.clone();
            let odd = [broken.as_deref(), empty.as_deref()].into_iter().flatten().map(|group| (group, "v1"));
            let groups = KINDS.iter().map(|kind| (kind.0, kind.1)).chain(odd);
            let groups: HashSet<(&str, &str)> = groups.filter(|(group, _)| !group.is_empty()).collect();
            let groups: Vec<Value> = groups
                .iter()
                .map(|(group, version)| {
                    let version = json!({"version": version});
                    json!({"name": group, "versions": [version], "preferredVersion": version})
                })
                .collect();
            return Ok(json!({"kind": "APIGroupList", "groups": groups}));
        }
        let (group, rest) = match parts.as_slice() {
            ["api", "v1", rest @ ..] => ("", rest),
            ["apis", group, version, rest @ ..]
                if *version == "v1" || KINDS.iter().any(|kind| (kind.0, kind.1) == (*group, *version)) =>
            {
                (*group, rest)
            }
            _ => return Err(Status::no_such_path()),
        };
        if self.state().broken_group.as_deref() == Some(group) {
            return Err(Status::failure(
                503,
                "ServiceUnavailable",
                "the server is currently unable to handle the request",
            ));
        }
        if rest.is_empty() && self.state().empty_group.as_deref() == Some(group) {
            return Ok(json!({"kind": "APIResourceList", "resources": null}));
        }
        if rest.is_empty() {
            let verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
            let resources: Vec<Value> = KINDS
                .iter()
                .filter(|kind| kind.0 == group)
                .map(|kind| json!({"name": kind.2, "kind": kind.3, "namespaced": kind.4, "verbs": verbs}))
                .collect();
            return Ok(json!({"kind": "APIResourceList", "resources": resources}));
        }
        let (namespace, rest) = match rest {
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() && !matches!(rest, ["status" | "finalize"]) => {
                (*namespace, rest)
            }
            rest => ("", rest),
        };
        let plural = rest[0].to_owned();
        let mut state = self.state();
        let called = if rest.get(2) == Some(&"scale") { format!("{plural}/scale") } else { plural.clone() };
        *state.calls.entry((method.to_string(), called)).or_default() += 1;
        let place = |name: &str| Place { plural: plural.clone(), namespace: namespace.into(), name: name.into() };
        match (method.as_str(), &rest[1..]) {
            ("GET", []) => {
                let selector = query.get("fieldSelector");
                let items: Vec<&Value> = state
                    .objects
                    .iter()
                    .filter(|(at, object)| {
                        at.plural == plural && in_namespace(at, namespace) && selected(object, selector)
                    })
                    .map(|(_, object)| object)
                    .collect();
                Ok(json!({"metadata": {"resourceVersion": state.revision.to_string()}, "items": items}))
            }
            ("GET", [name]) => state.objects.get(&place(name)).cloned().ok_or_else(|| not_found(&plural, name)),
            ("GET", [name, "scale"]) => {
                let object = state.objects.get(&place(name)).ok_or_else(|| not_found(&plural, name))?;
                Ok(scale_of(object))
            }
            ("PUT", [name, "scale"]) => {
                let mut object = state.objects.get(&place(name)).cloned().ok_or_else(|| not_found(&plural, name))?;
                object["metadata"]["resourceVersion"] = body["metadata"]["resourceVersion"].clone();
                object["spec"]["replicas"] = body["spec"]["replicas"].clone();
                state.update(place(name), object, None).map(|object| scale_of(&object))
            }
            ("POST", []) => state.create(&plural, namespace, body.clone()),
            ("PUT", [name, ..]) => state.update(place(name), body.clone(), rest.get(2).copied()),
            ("PATCH", [name, ..]) => {
                let mut object = state.objects.get(&place(name)).cloned().ok_or_else(|| not_found(&plural, name))?;
                let live_revision = object["metadata"]["resourceVersion"].clone();
                merge(&mut object, body);
                if body["metadata"].get("resourceVersion").is_none() {
                    object["metadata"]["resourceVersion"] = live_revision;
                }
                state.update(place(name), object, None)
            }
            ("DELETE", _) if state.refuse_deletes_of.contains(&plural) => {
                Err(Status::forbidden(&GroupResource::new("", plural), "", "admission webhook denied the request"))
            }
            ("DELETE", [name]) => state.delete(&place(name), body),
            ("DELETE", []) => {
                let places: Vec<Place> = state
                    .objects
                    .keys()
                    .filter(|at| at.plural == plural && in_namespace(at, namespace))
                    .cloned()
                    .collect();
                for place in places {
                    state.delete(&place, body)?;
                }
                Ok(json!({}))
            }
            _ => Err(Status::no_such_path()),
        }
    }

    fn watch(&self, path: &str, query: &HashMap<String, String>) -> Body {
        let plural = path.rsplit('/').next().unwrap_or_default().to_owned();
        let since: u64 = query.get("resourceVersion").and_then(|text| text.parse().ok()).unwrap_or(0);
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut state = self.state();
        let watcher = Watcher { plural, selector: query.get("fieldSelector").cloned(), sender };
        for (revision, plural, kind, object) in &state.history {
            let is_held = state.backlog.iter().any(|(of, _, held)| of == plural && held == object);
            if *revision > since && !is_held {
                watcher.tell(plural, kind, object);
            }
        }
        state.watchers.push(watcher);
        let lines = stream::unfold(receiver, |mut receiver| async {
            let line = receiver.recv().await?;
            Some((Ok::<_, BoxError>(http_body::Frame::data(line)), receiver))
        });
        StreamBody::new(lines).boxed_unsync()
    }
}

impl Watcher {
    fn tell(&self, plural: &str, kind: &str, object: &Value) -> bool {
        if self.plural == plural && selected(object, self.selector.as_ref()) {
            let line = format!("{}\n", json!({"type": kind, "object": object}));
            return self.sender.send(line.into()).is_ok();
        }
        !self.sender.is_closed()
    }
}

impl State {
    fn tell(&mut self, plural: &str, kind: &str, object: &Value) {
        if self.held.contains(plural) {
            self.backlog.push((plural.to_owned(), kind.to_owned(), object.clone()));
            return;
        }
        self.watchers.retain(|watcher| watcher.tell(plural, kind, object));
    }

    fn record(&mut self, plural: &str, kind: &str, object: &Value) {
        self.history.push((self.revision, plural.to_owned(), kind.to_owned(), object.clone()));
        self.tell(plural, kind, object);
    }

    fn create(&mut self, plural: &str, namespace: &str, mut object: Value) -> Result<Value, Status> {
        if self.refuse_creates_of.contains(plural) {
            return Err(Status::forbidden(&GroupResource::new("", plural.to_owned()), "", "exceeded quota"));
        }
        let home =
            self.objects.get(&Place { plural: "namespaces".into(), namespace: String::new(), name: namespace.into() });
        if home.is_some_and(|home| home["metadata"].get("deletionTimestamp").is_some()) {
            let cause = ferry_api::status::Cause { reason: "NamespaceTerminating".into(), ..Default::default() };
            return Err(Status::failure(403, "Forbidden", "namespace is being terminated")
                .with_details(Details { causes: vec![cause], ..Default::default() }));
        }
        self.revision += 1;
        let revision = self.revision;
        let meta = &mut object["metadata"];
        if meta.get("name").is_none_or(Value::is_null) {
            let prefix = meta["generateName"].as_str().unwrap_or_default().to_owned();
            meta["name"] = json!(format!("{prefix}{revision:05}"));
        }
        let name = meta["name"].as_str().unwrap_or_default().to_owned();
        meta["uid"] = json!(format!("uid-{revision}"));
        meta["generation"] = json!(1);
        meta["creationTimestamp"] = json!("2024-01-01T00:00:00Z");
        if !namespace.is_empty() {
            meta["namespace"] = json!(namespace);
        }
        let place = Place { plural: plural.into(), namespace: namespace.into(), name: name.clone() };
        if self.objects.contains_key(&place) {
            return Err(Status::already_exists(&GroupResource::new("", plural.to_owned()), &name));
        }
        object["metadata"]["resourceVersion"] = json!(revision.to_string());
        self.objects.insert(place, object.clone());
        self.record(plural, "ADDED", &object);
        Ok(object)
    }

    fn update(&mut self, place: Place, mut object: Value, subresource: Option<&str>) -> Result<Value, Status> {
        let Some(live) = self.objects.get(&place) else { return Err(not_found(&place.plural, &place.name)) };
        let conflicts = |key: &str| {
            let sent = object["metadata"].get(key).filter(|value| !value.is_null());
            sent.is_some_and(|sent| *sent != live["metadata"][key])
        };
        if conflicts("resourceVersion") || conflicts("uid") {
            return Err(Status::modified(&GroupResource::new("", place.plural.clone()), &place.name));
        }
        if subresource == Some("status") {
            object["spec"] = live["spec"].clone();
        }
        for key in ["uid", "creationTimestamp", "generation", "deletionTimestamp"] {
            if let Some(value) = live["metadata"].get(key) {
                object["metadata"][key] = value.clone();
            }
        }
        prune(&mut object);
        let mut before = live.clone();
        prune(&mut before);
        object["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"].clone();
        if object == before {
            return Ok(object);
        }
        if object.get("spec") != before.get("spec") {
            object["metadata"]["generation"] = json!(live["metadata"]["generation"].as_i64().unwrap_or(0) + 1);
        }
        Ok(self.store(place, object))
    }

    /// Stores a new version, or removes what was only waiting for its finalizers.
    fn store(&mut self, place: Place, mut object: Value) -> Value {
        self.revision += 1;
        object["metadata"]["resourceVersion"] = json!(self.revision.to_string());
        let waits = |path: &str| object.pointer(path).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        let is_over = object["metadata"].get("deletionTimestamp").is_some()
            && !waits("/metadata/finalizers")
            && !waits("/spec/finalizers");
        if is_over {
            self.objects.remove(&place);
            self.record(&place.plural, "DELETED", &object);
        } else {
            self.objects.insert(place.clone(), object.clone());
            self.record(&place.plural, "MODIFIED", &object);
        }
        object
    }

    fn delete(&mut self, place: &Place, options: &Value) -> Result<Value, Status> {
        let Some(mut object) = self.objects.get(place).cloned() else {
            return Err(not_found(&place.plural, &place.name));
        };
        for key in ["uid", "resourceVersion"] {
            let wanted = &options["preconditions"][key];
            if !wanted.is_null() && *wanted != object["metadata"][key] {
                return Err(Status::conflict(
                    &GroupResource::new("", place.plural.clone()),
                    &place.name,
                    "precondition",
                ));
            }
        }
        let finalizer = match options["propagationPolicy"].as_str() {
            Some("Foreground") => Some("foregroundDeletion"),
            Some("Orphan") => Some("orphan"),
            _ => None,
        };
        if let Some(finalizer) = finalizer {
            let list = object["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
            if !list.contains(&json!(finalizer)) {
                object["metadata"]["finalizers"] = json!([list, vec![json!(finalizer)]].concat());
            }
        }
        object["metadata"]["deletionTimestamp"] = json!("2024-01-01T00:00:00Z");
        Ok(self.store(place.clone(), object))
    }
}

#[async_trait]
impl Transport for MemoryApi {
    async fn send(&self, request: Request<Body>) -> Result<Response<Body>, BoxError> {
        let (parts, body) = request.into_parts();
        let bytes = read_body(body).await?;
        let body: Value = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes)? };
        let query: HashMap<String, String> = parts
            .uri
            .query()
            .unwrap_or_default()
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.replace("%3D", "=")))
            .collect();
        if query.contains_key("watch") {
            return Ok(Response::new(self.watch(parts.uri.path(), &query)));
        }
        let answer = self.answer(&parts.method, parts.uri.path(), &query, &body);
        if parts.method != Method::GET {
            self.note();
        }
        let (code, body) = match answer {
            Ok(body) => (200, body),
            Err(status) => (status.code, serde_json::to_value(&status)?),
        };
        Ok(Response::builder().status(code).body(full_body(body.to_string()))?)
    }
}

/// The scale of an object whose status has its selector as text.
fn scale_of(object: &Value) -> Value {
    let (spec, status) = (&object["spec"], &object["status"]);
    json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": object["metadata"],
        "spec": {"replicas": spec["replicas"]},
        "status": {"replicas": status["replicas"], "selector": status["selector"]}})
}

fn not_found(plural: &str, name: &str) -> Status {
    Status::not_found(&GroupResource::new("", plural.to_owned()), name)
}

fn in_namespace(place: &Place, namespace: &str) -> bool {
    namespace.is_empty() || place.namespace == namespace
}

fn selected(object: &Value, selector: Option<&String>) -> bool {
    let Some((field, value)) = selector.and_then(|selector| selector.split_once('=')) else { return true };
    let path = format!("/{}", field.replace('.', "/"));
    object.pointer(&path).and_then(Value::as_str) == Some(value)
}

/// Merge patches, and of strategic ones what controllers use: lists with a key.
fn merge(target: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (key, change) in patch {
        if let Some(list) = key.strip_prefix("$deleteFromPrimitiveList/") {
            let gone = change.as_array().cloned().unwrap_or_default();
            if let Some(list) = target[list].as_array_mut() {
                list.retain(|item| !gone.contains(item));
            }
            continue;
        }
        let list_key = match key.as_str() {
            "ownerReferences" => Some("uid"),
            "conditions" => Some("type"),
            _ => None,
        };
        match (list_key, change) {
            (_, Value::Null) => {
                if let Some(map) = target.as_object_mut() {
                    map.remove(key);
                }
            }
            (Some(list_key), Value::Array(items))
                if items.iter().any(|item| item.get("$patch").is_some()) || list_key == "type" =>
            {
                let mut list = target[key].as_array().cloned().unwrap_or_default();
                for item in items {
                    let found = list.iter().position(|old| old[list_key] == item[list_key]);
                    match (found, item.get("$patch").is_some()) {
                        (Some(index), true) => drop(list.remove(index)),
                        (Some(index), false) => merge(&mut list[index], item),
                        (None, true) => {}
                        (None, false) => list.push(item.clone()),
                    }
                }
                target[key] = json!(list);
            }
            _ => merge(&mut target[key], change),
        }
    }
}

fn prune(value: &mut Value) {
    if let Some(map) = value.as_object_mut() {
        map.values_mut().for_each(prune);
        map.retain(|_, value| !value.is_null());
    }
}
