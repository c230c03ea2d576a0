//! An API server of a few dozen lines: collections of JSON in memory with revisions,
//! watches, the selectors and patches the kubelet uses. No schemas, no admission.

use async_trait::async_trait;
use bytes::Bytes;
use ferry_client::{Body, BoxError, Transport, full_body, read_body};
use http_body_util::{BodyExt, StreamBody};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::broadcast;

#[derive(Clone)]
pub struct FakeApi {
    state: Arc<Mutex<State>>,
    changes: broadcast::Sender<Change>,
}

#[derive(Default)]
struct State {
    revision: u64,
    objects: BTreeMap<Key, Value>,
    log: Vec<Change>,
}

/// Plural, namespace, name.
type Key = (String, String, String);

#[derive(Clone)]
struct Change {
    revision: u64,
    kind: &'static str,
    key: Key,
    object: Value,
}

impl FakeApi {
    pub fn new() -> Self {
        Self { state: Arc::default(), changes: broadcast::channel(4096).0 }
    }

    pub fn get(&self, plural: &str, namespace: &str, name: &str) -> Option<Value> {
        self.state.lock().objects.get(&(plural.into(), namespace.into(), name.into())).cloned()
    }

    pub fn list(&self, plural: &str) -> Vec<Value> {
        let state = self.state.lock();
        state.objects.iter().filter(|((p, _, _), _)| p == plural).map(|(_, object)| object.clone()).collect()
    }

    /// Creates or replaces an object, as some other client would.
    pub fn put(&self, plural: &str, object: Value) -> Value {
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default().to_string();
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_string();
        self.store((plural.into(), namespace, name), object)
    }

    /// Removes an object at once, as a forced deletion does while no kubelet runs.
    pub fn forget(&self, plural: &str, namespace: &str, name: &str) {
        self.remove(&(plural.into(), namespace.into(), name.into()));
    }

    /// Deletes a pod as the API does: marked first, with its grace period.
    pub fn delete_pod(&self, namespace: &str, name: &str, grace: i64) {
        let key = ("pods".into(), namespace.into(), name.into());
        self.change(&key, |pod| {
            pod["metadata"]["deletionTimestamp"] = json!(now());
            pod["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
        });
    }

    /// Messages of all events about an object, oldest first, as `Reason: message`.
    pub fn events(&self, name: &str) -> Vec<String> {
        self.events_of(name).iter().map(said).collect()
    }

    /// The same with how often and until when each was said, to understand what went wrong.
    pub fn history(&self, name: &str) -> Vec<String> {
        let times = |event: &Value| format!("{}x until {} {}", event["count"], event["lastTimestamp"], said(event));
        self.events_of(name).iter().map(times).collect()
    }

    fn events_of(&self, name: &str) -> Vec<Value> {
        let mut events = self.list("events");
        events.retain(|event| event["involvedObject"]["name"] == name);
        events.sort_by_key(|event| event["metadata"]["creationRevision"].as_u64());
        events
    }

    fn store(&self, key: Key, object: Value) -> Value {
        self.store_in(&mut self.state.lock(), key, object)
    }

    /// Changes an object that is there. Read and written under one lock, so that of two
    /// changes at once neither is lost.
    fn change(&self, key: &Key, edit: impl FnOnce(&mut Value)) -> Option<Value> {
        let mut state = self.state.lock();
        let mut object = state.objects.get(key)?.clone();
        edit(&mut object);
        Some(self.store_in(&mut state, key.clone(), object))
    }

    fn store_in(&self, state: &mut State, key: Key, mut object: Value) -> Value {
        state.revision += 1;
        let revision = state.revision;
        object["metadata"]["resourceVersion"] = json!(revision.to_string());
        let old = state.objects.get(&key).cloned();
        if object["metadata"]["uid"].is_null() {
            object["metadata"]["uid"] = json!(uuid::Uuid::new_v4().to_string());
        }
        if old.is_none() {
            object["metadata"]["creationTimestamp"] = json!(now());
            object["metadata"]["creationRevision"] = json!(revision);
        }
        let kind = if old.is_some() { "MODIFIED" } else { "ADDED" };
        state.objects.insert(key.clone(), object.clone());
        self.announce(state, Change { revision, kind, key, object: object.clone() });
        object
    }

    fn remove(&self, key: &Key) -> Option<Value> {
        let mut state = self.state.lock();
        let mut object = state.objects.remove(key)?;
        state.revision += 1;
        let revision = state.revision;
        object["metadata"]["resourceVersion"] = json!(revision.to_string());
        self.announce(&mut state, Change { revision, kind: "DELETED", key: key.clone(), object: object.clone() });
        Some(object)
    }

    fn announce(&self, state: &mut State, change: Change) {
        state.log.push(change.clone());
        let _ = self.changes.send(change);
    }

    fn watch(&self, plural: String, namespace: String, selector: String, since: u64) -> Body {
        let (sender, receiver) = tokio::sync::mpsc::unbounded_channel::<Result<_, BoxError>>();
        let (past, mut live) = {
            let state = self.state.lock();
            let past: Vec<Change> = state.log.iter().filter(|change| change.revision > since).cloned().collect();
            (past, self.changes.subscribe())
        };
        tokio::spawn(async move {
            let mut last = since;
            let mut tell = |change: &Change| {
                let wanted = change.revision > last
                    && change.key.0 == plural
                    && (namespace.is_empty() || change.key.1 == namespace)
                    && selects(&selector, &change.object);
                last = last.max(change.revision);
                if !wanted {
                    return !sender.is_closed();
                }
                let line = format!("{}\n", json!({ "type": change.kind, "object": change.object }));
                sender.send(Ok(http_body::Frame::data(Bytes::from(line)))).is_ok()
            };
            if !past.iter().all(&mut tell) {
                return;
            }
            while let Ok(change) = live.recv().await {
                if !tell(&change) {
                    return;
                }
            }
        });
        StreamBody::new(tokio_stream::wrappers::UnboundedReceiverStream::new(receiver)).boxed_unsync()
    }

    fn answer(
        &self,
        method: &str,
        path: &str,
        query: BTreeMap<String, String>,
        content: &str,
        body: Value,
    ) -> (u16, Result<Value, Body>) {
        let Some((plural, namespace, name, sub)) = split(path) else { return status(404, "NotFound", path) };
        let key = (plural.clone(), namespace.clone(), name.clone().unwrap_or_default());
        let selector = query.get("fieldSelector").cloned().unwrap_or_default();
        match (method, name) {
            ("GET", None) if query.get("watch").is_some_and(|watch| watch == "true") => {
                let since = query.get("resourceVersion").and_then(|r| r.parse().ok()).unwrap_or(0);
                (200, Err(self.watch(plural, namespace, selector, since)))
            }
            ("GET", None) => {
                let state = self.state.lock();
                let items: Vec<&Value> = state
                    .objects
                    .iter()
                    .filter(|((p, n, _), object)| {
                        *p == plural && (namespace.is_empty() || *n == namespace) && selects(&selector, object)
                    })
                    .map(|(_, object)| object)
                    .collect();
                let list = json!({ "metadata": { "resourceVersion": state.revision.to_string() }, "items": items });
                (200, Ok(list))
            }
            ("GET", Some(name)) => match self.state.lock().objects.get(&key) {
                Some(object) => (200, Ok(object.clone())),
                None => status(404, "NotFound", &name),
            },
            ("POST", None) => {
                let name = body["metadata"]["name"].as_str().unwrap_or_default().to_string();
                let key = (plural, namespace, name.clone());
                if self.state.lock().objects.contains_key(&key) {
                    return status(409, "AlreadyExists", &name);
                }
                (201, Ok(self.store(key, body)))
            }
            ("POST", Some(_)) if sub.as_deref() == Some("token") => {
                let later = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1);
                let mut answer = body;
                answer["status"] = json!({ "token": "a.b.c", "expirationTimestamp": later.to_string() });
                (201, Ok(answer))
            }
            ("PUT", Some(_)) => (200, Ok(self.store(key, body))),
            ("PATCH", Some(name)) => {
                let uid = &body["metadata"]["uid"];
                let other = |object: Value| !uid.is_null() && *uid != object["metadata"]["uid"];
                if self.get(&key.0, &key.1, &key.2).is_some_and(other) {
                    return status(409, "Conflict", &name);
                }
                match self.change(&key, |object| merge(object, &body, content.contains("strategic"))) {
                    Some(object) => (200, Ok(object)),
                    None => status(404, "NotFound", &name),
                }
            }
            ("DELETE", Some(name)) => match self.remove(&key) {
                Some(object) => (200, Ok(object)),
                None => status(404, "NotFound", &name),
            },
            _ => status(405, "MethodNotAllowed", path),
        }
    }
}

fn said(event: &Value) -> String {
    let text = |field: &str| event[field].as_str().unwrap_or_default();
    format!("{}: {}", text("reason"), text("message"))
}

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn status(code: u16, reason: &str, name: &str) -> (u16, Result<Value, Body>) {
    let message = format!("{name}: {reason}");
    (
        code,
        Ok(
            json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message, "code": code }),
        ),
    )
}

fn split(path: &str) -> Option<(String, String, Option<String>, Option<String>)> {
    let mut parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    parts.drain(..if parts.first() == Some(&"api") { 2 } else { 3 }.min(parts.len()));
    let namespace = match parts.as_slice() {
        ["namespaces", namespace, _, ..] => {
            let namespace = namespace.to_string();
            parts.drain(..2);
            namespace
        }
        _ => String::new(),
    };
    let mut parts = parts.into_iter().map(str::to_string);
    Some((parts.next()?, namespace, parts.next(), parts.next()))
}

fn selects(selector: &str, object: &Value) -> bool {
    selector.split(',').filter(|term| !term.is_empty()).all(|term| {
        let Some((field, wanted)) = term.split_once('=') else { return false };
        let value = field.split('.').fold(object, |value, part| &value[part]);
        value.as_str().unwrap_or_default() == wanted
    })
}

/// Merge patch; strategic in so far as conditions are merged by their type.
fn merge(target: &mut Value, patch: &Value, strategic: bool) {
    let Value::Object(patch) = patch else { return };
    if !target.is_object() {
        *target = json!({});
    }
    for (key, value) in patch {
        match value {
            Value::Null => {
                target.as_object_mut().map(|map| map.remove(key));
            }
            Value::Object(_) => merge(&mut target[key.as_str()], value, strategic),
            Value::Array(items) if strategic && key == "conditions" => {
                let mut list = target[key.as_str()].as_array().cloned().unwrap_or_default();
                for item in items {
                    if item["$patch"] == "delete" {
                        list.retain(|old| old["type"] != item["type"]);
                        continue;
                    }
                    match list.iter_mut().find(|old| old["type"] == item["type"]) {
                        Some(old) => merge(old, item, strategic),
                        None => list.push(item.clone()),
                    }
                }
                target[key.as_str()] = Value::Array(list);
            }
            Value::Array(items) => {
                let items = items.iter().filter(|item| item["$patch"].is_null()).cloned().collect();
                target[key.as_str()] = Value::Array(items);
            }
            other => target[key.as_str()] = other.clone(),
        }
    }
}

#[async_trait]
impl Transport for FakeApi {
    async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
        let (parts, body) = request.into_parts();
        let query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
        let content = parts.headers.get("content-type").and_then(|v| v.to_str().ok()).unwrap_or_default().to_string();
        let body = serde_json::from_slice(&read_body(body).await?).unwrap_or(Value::Null);
        let (code, answer) = self.answer(parts.method.as_str(), parts.uri.path(), query, &content, body);
        let body = match answer {
            Ok(value) => full_body(value.to_string()),
            Err(stream) => stream,
        };
        Ok(http::Response::builder().status(code).body(body)?)
    }
}
