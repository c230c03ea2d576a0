//! Whether a backend answers, told as the condition Available of its APIService
//! (kube-aggregator/pkg/controllers/status). A backend is asked when its APIService, Service
//! or EndpointSlices change, and now and then by the clock, because the way to a backend can
//! break without any object changing.

use super::index::{Entry, Remote};
use crate::ServerState;
use crate::controlplane::{Action, Key, ServerController, WorkQueue, key_of};
use crate::registry::lookup::{Change, ObjectLookup};
use crate::registry::{Caller, IfAbsent, Part, Target, Tracking};
use ferry_api::object::{Meta, ensure_object};
use ferry_api::rules::condition;
use ferry_api::status::Status;
use futures_util::stream::{FuturesUnordered, StreamExt};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The label by which EndpointSlices name their Service.
const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// How often a backend is asked although nothing changed.
const RECHECK: Duration = Duration::from_secs(30);

/// What is learned of a backend's documents is renewed this often.
const REFRESH: Duration = Duration::from_secs(60);

/// As many requests are made at once, and one success is enough: a Service may have
/// several endpoints, of which some are just going.
const ATTEMPTS: usize = 5;

/// What is found out about a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    status: &'static str,
    reason: &'static str,
    message: String,
}

impl Finding {
    fn no(reason: &'static str, message: String) -> Self {
        Self { status: "False", reason, message }
    }

    fn passed() -> Self {
        Self { status: "True", reason: "Passed", message: "all checks passed".into() }
    }

    fn local() -> Self {
        Self { status: "True", reason: "Local", message: "Local APIServices are always available".into() }
    }
}

struct Availability;

pub(super) fn start(server: &Arc<ServerState>) {
    let queue = server.controllers.queue_of::<Availability>();
    server.enqueue_changes("apiregistration.k8s.io", "apiservices", &queue);
    let (state, enqueue) = (Arc::downgrade(server), queue.clone());
    let observer = move |change: &Change| {
        let key = key_of(change);
        enqueue_backends(&state, &key.namespace, &key.name, &enqueue);
    };
    server.lookup.subscribe("", "services", Box::new(observer));
    let (state, enqueue) = (Arc::downgrade(server), queue.clone());
    let observer = move |change: &Change| {
        let (Change::Put(stored) | Change::Delete(stored)) = change;
        if let Some(service) = stored.label(SERVICE_NAME) {
            enqueue_backends(&state, stored.namespace(), service, &enqueue);
        }
    };
    server.lookup.subscribe("discovery.k8s.io", "endpointslices", Box::new(observer));
    server.run_controller(Arc::new(Availability), &queue);
}

/// Wakes the APIServices that a Service answers for. Most Services answer for none, and there
/// are few APIServices.
fn enqueue_backends(server: &Weak<ServerState>, namespace: &str, service: &str, queue: &WorkQueue) {
    let Some(server) = server.upgrade() else { return };
    for entry in server.aggregator.index.all().iter() {
        let remote = entry.remote.as_ref();
        if remote.is_some_and(|remote| remote.namespace == namespace && remote.service == service) {
            queue.add(Key::new("", &*entry.name));
        }
    }
}

impl ServerController for Availability {
    const NAME: &'static str = "RemoteAvailabilityController";
    /// A backend that does not answer holds its worker until the attempts time out.
    const WORKERS: usize = 5;

    async fn reconcile(&self, server: &Arc<ServerState>, key: &Key) -> Result<Action, Status> {
        let entry = server.aggregator.index.get(&key.name);
        let Some(entry) = entry.filter(|entry| entry.remote.is_some() || !entry.available) else {
            server.aggregator.documents.forget(&key.name);
            return Ok(Action::Done);
        };
        let finding = check(server, &entry).await;
        // What the backend serves is known before anyone is told that it does.
        server.aggregator.refresh_documents(&entry, finding.status == "True", REFRESH).await;
        match write(server, &key.name, &finding).await {
            Err(status) if !status.is_not_found() => return Err(status),
            _ => {}
        }
        if finding.reason == "FailedDiscoveryCheck" {
            return Err(Status::service_unavailable(finding.message));
        }
        // An APIService that names no backend is as it is until it changes.
        Ok(if entry.remote.is_some() { Action::RequeueAfter(RECHECK) } else { Action::Done })
    }
}

async fn check(server: &ServerState, entry: &Entry) -> Finding {
    let Some(remote) = &entry.remote else { return Finding::local() };
    if let Some(finding) = check_objects(&*server.lookup, remote) {
        return finding;
    }
    let path = if entry.group.is_empty() {
        format!("/api/{}", entry.version)
    } else {
        format!("/apis/{}/{}", entry.group, entry.version)
    };
    let mut attempts: FuturesUnordered<_> = (0..ATTEMPTS).map(|_| attempt(server, entry, &path)).collect();
    let mut last = String::new();
    while let Some(outcome) = attempts.next().await {
        match outcome {
            Ok(()) => return Finding::passed(),
            Err(why) => last = why,
        }
    }
    Finding::no("FailedDiscoveryCheck", last)
}

async fn attempt(server: &ServerState, entry: &Entry, path: &str) -> Result<(), String> {
    let target = server.aggregator.target(entry).map_err(|error| error.to_string())?;
    let url = format!("https://{}{path}", target.authority());
    let failing = |why: String| format!("failing or missing response from {url}: {why}");
    let fetched = server.aggregator.fetch(entry, path, "", "").await.map_err(failing)?;
    if fetched.code.is_success() {
        Ok(())
    } else {
        Err(failing(format!("bad status from {url}: {}", fetched.code.as_u16())))
    }
}

/// What the Service and its EndpointSlices say; `None` when they leave nothing to wish.
fn check_objects(lookup: &dyn ObjectLookup, remote: &Remote) -> Option<Finding> {
    let (namespace, name) = (&remote.namespace, &remote.service);
    let Some(service) = lookup.get("", "services", namespace, name) else {
        return Some(Finding::no("ServiceNotFound", format!("service/{name} in {namespace:?} is not present")));
    };
    let slices = lookup.list("discovery.k8s.io", "endpointslices", Some(namespace));
    let own = slices.iter().filter(|stored| stored.label(SERVICE_NAME) == Some(name));
    let own: Vec<Value> = own.map(|stored| stored.value()).collect();
    judge(remote, &service.value(), &own)
}

fn judge(remote: &Remote, service: &Value, slices: &[Value]) -> Option<Finding> {
    let Remote { namespace, service: name, port, .. } = remote;
    if !matches!(service.str_at(&["spec", "type"]), "" | "ClusterIP") {
        return None;
    }
    let mut ports = service.items_at(&["spec", "ports"]).iter();
    let Some(found) = ports.find(|own| own.i64_at(&["port"]) == Some(i64::from(*port))) else {
        let message = format!("service/{name} in {namespace:?} is not listening on port {port}");
        return Some(Finding::no("ServicePortError", message));
    };
    let port_name = found.str_at(&["name"]);
    if slices.is_empty() {
        let message = format!("cannot find endpointslices for service/{name} in {namespace:?}");
        return Some(Finding::no("EndpointsNotFound", message));
    }
    let has_endpoint = slices.iter().any(|slice| {
        let mut endpoints = slice.items_at(&["endpoints"]).iter();
        let mut ports = slice.items_at(&["ports"]).iter();
        // An endpoint that says nothing of its readiness is ready.
        endpoints.any(|endpoint| endpoint.bool_at(&["conditions", "ready"]).unwrap_or(true))
            && ports.any(|port| port.str_at(&["name"]) == port_name && port.at(&["port"]).is_some())
    });
    if has_endpoint {
        return None;
    }
    let message =
        format!("endpointslices for service/{name} in {namespace:?} have no addresses with port name {port_name:?}");
    Some(Finding::no("MissingEndpoints", message))
}

/// Stores a finding, if it is news.
async fn write(server: &ServerState, name: &str, finding: &Finding) -> Result<(), Status> {
    let registry = &server.registry;
    let Some(row) = registry.rows.find("apiregistration.k8s.io", "v1", "apiservices") else { return Ok(()) };
    let Some(present) = registry.current(&row, "", name).await? else { return Ok(()) };
    if plan_condition(&present, finding, Timestamp::now()).is_none() {
        return Ok(());
    }
    if finding.status != "True" {
        let counter = "aggregator_unavailable_apiservice_total";
        let help = "How often an APIService became unavailable, and why.";
        let labels = [("name", name), ("reason", finding.reason)];
        server.aggregator.counters.count(counter, help, &labels);
    }
    let target = Target { row: &row, namespace: "", name, part: Part::Status, absent: IfAbsent::AsKind };
    let mut change = |object: Option<&Value>| {
        let object = object.cloned().unwrap_or_default();
        Ok(plan_condition(&object, finding, Timestamp::now()).unwrap_or(object))
    };
    registry.update(&target, Tracking::Update, &Caller::server(), &mut change).await.map(|_| ())
}

/// The object with the condition set; `None` if it has it already.
fn plan_condition(object: &Value, finding: &Finding, now: Timestamp) -> Option<Value> {
    let wanted = json!({
        "type": "Available", "status": finding.status, "reason": finding.reason, "message": finding.message,
    });
    let mut object = object.clone();
    let status = ensure_object(&mut object).entry("status").or_insert(Value::Null);
    condition::set_value(status, wanted, now).then_some(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_judgement(service: Value, slices: &[Value], expect: Option<(&str, &str)>) {
        let remote = Remote {
            namespace: "n".into(),
            service: "s".into(),
            port: 443,
            skip_verify: false,
            ca_bundle: String::new(),
        };
        let found = judge(&remote, &service, slices);
        assert_eq!(found.as_ref().map(|finding| (finding.reason, finding.message.as_str())), expect);
    }

    #[test]
    fn objects_alone_can_tell_that_a_backend_is_not_there() {
        let service = json!({"spec": {"type": "ClusterIP", "ports": [{"name": "https", "port": 443}]}});
        let slice = |ready: bool, port: &str| json!({"ports": [{"name": port, "port": 1}], "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": ready}}]});
        check_judgement(
            json!({"spec": {"ports": [{"port": 80}]}}),
            &[],
            Some(("ServicePortError", "service/s in \"n\" is not listening on port 443")),
        );
        check_judgement(
            service.clone(),
            &[],
            Some(("EndpointsNotFound", "cannot find endpointslices for service/s in \"n\"")),
        );
        let missing = "endpointslices for service/s in \"n\" have no addresses with port name \"https\"";
        check_judgement(service.clone(), &[slice(false, "https")], Some(("MissingEndpoints", missing)));
        check_judgement(service.clone(), &[slice(true, "other")], Some(("MissingEndpoints", missing)));
        check_judgement(service, &[slice(true, "https")], None);
        check_judgement(json!({"spec": {"type": "ExternalName"}}), &[], None);
    }

    #[test]
    fn a_condition_is_written_once_and_keeps_its_time() {
        let at = |text: &str| text.parse::<Timestamp>().expect("a time");
        let (early, late) = (at("2026-01-01T00:00:00Z"), at("2026-01-02T00:00:00Z"));
        let no = Finding::no("MissingEndpoints", "m".into());
        let first = plan_condition(&json!({}), &no, early).expect("news");
        assert_eq!(plan_condition(&first, &no, late), None);
        let other = plan_condition(&first, &Finding::no("ServiceNotFound", "n".into()), late).expect("news");
        assert_eq!(other["status"]["conditions"][0]["lastTransitionTime"], "2026-01-01T00:00:00Z");
        let passed = plan_condition(&other, &Finding::passed(), late).expect("news");
        assert_eq!(
            passed["status"]["conditions"],
            json!([{"type": "Available", "status": "True", "lastTransitionTime": "2026-01-02T00:00:00Z",
                "reason": "Passed", "message": "all checks passed"}])
        );
    }
}
