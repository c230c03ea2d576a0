//! What every cluster has from its first second: four namespaces, the default roles and
//! bindings, and the Service under which pods find this server. Run before the first
//! request is taken; everything goes through the registry like any other write.

use crate::ServerState;
use crate::admission::plugins::pods::priority::system_priority_classes;
use crate::authz::bootstrap::{Action, Write, plan_reconcile};
use crate::registry::{Caller, DeleteOptions, IfAbsent, Part, Registry, Target, Tracking};
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_resources::Row;
use ferry_resources::flowcontrol::defaults as flowcontrol;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;

/// How many of the default roles are written at a time.
const AT_ONCE: usize = 64;

pub(crate) const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

pub(crate) async fn run(server: &ServerState) -> Result<(), Status> {
    let registry = &server.registry;
    ensure_namespaces(registry).await?;
    // Since when the uses of tokens in Secrets are noted, for whoever removes unused ones.
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y-%m-%d").to_string();
    let tracking = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"since": today},
        "metadata": {"name": "kube-apiserver-legacy-service-account-token-tracking", "namespace": "kube-system"}});
    create_if_absent(registry, "", "v1", "configmaps", "kube-system", tracking).await?;
    for class in system_priority_classes() {
        create_if_absent(registry, "scheduling.k8s.io", "v1", "priorityclasses", "", class).await?;
    }
    // The writes do not depend on each other, so they share commits: one fsync for many.
    let flows = flowcontrol::mandatory().into_iter().chain(flowcontrol::suggested());
    let flows: Vec<_> = flows.map(|object| ensure_flow(registry.clone(), object)).collect();
    stream::iter(flows).buffered(AT_ONCE).try_collect::<Vec<()>>().await?;
    let writes: Vec<_> =
        plan_reconcile(&*server.lookup).into_iter().map(|write| reconcile(registry.clone(), write)).collect();
    stream::iter(writes).buffered(AT_ONCE).try_collect::<Vec<()>>().await?;
    let address = *server.advertised.borrow();
    match address {
        Some(address) => advertise(server, address).await,
        None => Ok(()),
    }
}

pub(crate) async fn ensure_namespaces(registry: &Registry) -> Result<(), Status> {
    for name in NAMESPACES {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        create_if_absent(registry, "", "v1", "namespaces", "", namespace).await?;
    }
    Ok(())
}

/// One of the objects that divide the server between its clients.
async fn ensure_flow(registry: Arc<Registry>, object: Value) -> Result<(), Status> {
    let plural = if object.gvk().kind == "FlowSchema" { "flowschemas" } else { "prioritylevelconfigurations" };
    create_if_absent(&registry, "flowcontrol.apiserver.k8s.io", "v1", plural, "", object).await
}

async fn reconcile(registry: Arc<Registry>, write: Write) -> Result<(), Status> {
    let Ok(row) = row(&registry, "rbac.authorization.k8s.io", "v1", write.plural) else { return Ok(()) };
    match write.action {
        Action::Create => create(&registry, &row, &write.namespace, write.object).await,
        Action::Update => replace(&registry, &row, &write.namespace, write.object).await,
        Action::Replace => {
            registry.delete(&row, &write.namespace, &write.name, &DeleteOptions::default(), &Caller::server()).await?;
            create(&registry, &row, &write.namespace, write.object).await
        }
    }
}

/// The Service default/kubernetes and its endpoints at this address.
pub(crate) async fn advertise(server: &ServerState, address: SocketAddr) -> Result<(), Status> {
    let registry = &server.registry;
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "kubernetes", "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"}},
        "spec": {
            "clusterIP": server.services.first_ip(), "type": "ClusterIP", "sessionAffinity": "None",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": address.port()}],
        },
    });
    put(registry, "", "v1", "services", service).await?;
    // No pod could reach a loopback address, and no endpoint may be one.
    if address.ip().is_loopback() {
        return Ok(());
    }
    let ip = address.ip().to_string();
    let endpoints = json!({
        "apiVersion": "v1", "kind": "Endpoints",
        "metadata": {"name": "kubernetes", "namespace": "default",
            "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}},
        "subsets": [{
            "addresses": [{"ip": ip}],
            "ports": [{"name": "https", "port": address.port(), "protocol": "TCP"}],
        }],
    });
    put(registry, "", "v1", "endpoints", endpoints).await?;
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"name": "kubernetes", "namespace": "default",
            "labels": {"kubernetes.io/service-name": "kubernetes"}},
        "addressType": if address.is_ipv4() { "IPv4" } else { "IPv6" },
        "endpoints": [{"addresses": [ip], "conditions": {"ready": true}}],
        "ports": [{"name": "https", "port": address.port(), "protocol": "TCP"}],
    });
    put(registry, "discovery.k8s.io", "v1", "endpointslices", slice).await
}

/// Creates an object, or makes the one that is there say the same.
pub(crate) async fn put(
    registry: &Registry,
    group: &str,
    version: &str,
    plural: &str,
    object: Value,
) -> Result<(), Status> {
    let Ok(row) = row(registry, group, version, plural) else { return Ok(()) };
    let (namespace, name) = (object.namespace().to_owned(), object.name().to_owned());
    let Some(present) = registry.current(&row, &namespace, &name).await? else {
        return create(registry, &row, &namespace, object).await;
    };
    let mut wanted = present.clone();
    if let (Some(to), Some(from)) = (wanted.as_object_mut(), object.as_object()) {
        for (key, value) in from.iter().filter(|(key, _)| *key != "metadata") {
            match (to.get_mut(key), value) {
                // What others filled in beside our fields stays.
                (Some(Value::Object(old)), Value::Object(new)) => {
                    old.extend(new.iter().map(|(k, v)| (k.clone(), v.clone())));
                }
                _ => {
                    to.insert(key.clone(), value.clone());
                }
            }
        }
    }
    replace(registry, &row, &namespace, wanted).await
}

pub(crate) async fn create_if_absent(
    registry: &Registry,
    group: &str,
    version: &str,
    plural: &str,
    namespace: &str,
    object: Value,
) -> Result<(), Status> {
    // A server that is given other kinds than the builtin ones makes what it can.
    let Ok(row) = row(registry, group, version, plural) else { return Ok(()) };
    if registry.stored(&row, namespace, object.name()).is_some() {
        return Ok(());
    }
    create(registry, &row, namespace, object).await
}

async fn create(registry: &Registry, row: &Arc<Row>, namespace: &str, mut object: Value) -> Result<(), Status> {
    row.default(&mut object);
    match registry.create(row, namespace, object, Tracking::Update, &Caller::server()).await {
        Ok(_) => Ok(()),
        Err(status) if status.is_already_exists() => Ok(()),
        Err(status) => Err(status),
    }
}

async fn replace(registry: &Registry, row: &Arc<Row>, namespace: &str, mut object: Value) -> Result<(), Status> {
    row.default(&mut object);
    object.remove_meta("resourceVersion");
    let name = object.name().to_owned();
    let target = Target { row, namespace, name: &name, part: Part::Main, absent: IfAbsent::AsKind };
    registry.update(&target, Tracking::Update, &Caller::server(), &mut |_| Ok(object.clone())).await.map(|_| ())
}

fn row(registry: &Registry, group: &str, version: &str, plural: &str) -> Result<Arc<Row>, Status> {
    registry.rows.find(group, version, plural).ok_or_else(Status::no_such_path)
}
