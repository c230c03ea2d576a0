//! metrics.k8s.io/v1beta1: what nodes and pods use, for `kubectl top` and for autoscalers.
//! Answered as metrics-server does, from the kubelets' /metrics/resource; `verbs/mod.rs`
//! calls [`read`]. A metrics-server that a user installs takes over by its APIService
//! (`aggregation/register.rs`), and nothing here is asked any more.
//!
//! ```text
//! scrape.rs   when a kubelet is read
//! page.rs     what it says
//! samples.rs  two points for each container, and the usage between them
//! ```

pub mod page;
mod samples;
mod scrape;

use crate::cache::{Filter, Stored};
use crate::transport::Body;
use crate::verbs::options::ListOptions;
use crate::verbs::selection::selection;
use crate::verbs::{Call, unstored};
use ferry_api::gvk::GroupResource;
use ferry_api::quantity::canonicalize;
use ferry_api::rules::duration;
use ferry_api::status::Status;
use ferry_api::view::View;
use ferry_api::view::core::v1::{NodeView, PodView};
use ferry_resources::Row;
use http::Response;
use jiff::Timestamp;
use page::PodKey;
use samples::Usage;
use scrape::{AskedNode, Records};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

const GROUP: &str = "metrics.k8s.io";

/// The samples that are kept while somebody asks.
#[derive(Default)]
pub(crate) struct ResourceMetrics {
    records: Records,
}

/// Whether a row is answered here.
pub(crate) fn are_asked(row: &Row) -> bool {
    row.group == GROUP && row.custom.is_none()
}

/// GET and LIST of NodeMetrics and PodMetrics.
pub(crate) async fn read(call: &Call) -> Result<Response<Body>, Status> {
    let of_pods = call.row.is_namespaced();
    let (source, described) = if of_pods { ("pods", "podmetrics") } else { ("nodes", "nodemetrics") };
    if call.info.verb == "get" {
        let name = if of_pods { format!("{}/{}", call.namespace(), call.info.name) } else { call.info.name.clone() };
        let not_found = || Status::not_found(&GroupResource::new(GROUP, described), &name);
        let object = call.server.lookup.get("", source, call.namespace(), &call.info.name).ok_or_else(not_found)?;
        let found = measure(call, vec![object]).await;
        return unstored::show_one(call, found.first().ok_or_else(not_found)?);
    }
    let options = ListOptions::parse(&call.query, false)?;
    let selection = selection(call, &options.label_selector, &options.field_selector)?;
    let namespace = Some(call.namespace()).filter(|namespace| !namespace.is_empty());
    let mut objects = call.server.lookup.list("", source, namespace);
    objects.retain(|object| selection.matches(object));
    unstored::show_list(call, &measure(call, objects).await)
}

/// The metrics of these nodes or pods, without those of which nothing is known.
async fn measure(call: &Call, objects: Vec<Arc<Stored>>) -> Vec<Value> {
    if call.row.is_namespaced() { measure_pods(call, objects).await } else { measure_nodes(call, objects).await }
}

async fn measure_nodes(call: &Call, mut nodes: Vec<Arc<Stored>>) -> Vec<Value> {
    nodes.retain(|node| is_in_touch(node));
    let asked = nodes.iter().map(|node| AskedNode { node: node.value(), pods: Vec::new() }).collect();
    let usages = scrape::read_nodes(&call.server, asked).await;
    let mut found = Vec::with_capacity(nodes.len());
    for (node, usage) in nodes.iter().zip(usages) {
        let Some(usage) = usage.node else { continue };
        let mut metrics = render_head(call, node, &usage);
        metrics.insert("usage".into(), render_usage(&usage));
        found.push(metrics.into());
    }
    found
}

async fn measure_pods(call: &Call, mut pods: Vec<Arc<Stored>>) -> Vec<Value> {
    let mut by_node: BTreeMap<String, Vec<PodKey>> = BTreeMap::new();
    // A pod that is not running uses nothing.
    pods.retain(|pod| {
        let view = PodView::over(pod.document().root());
        let runs = view.status().phase() == "Running";
        if runs {
            let key = (pod.namespace().to_owned(), pod.name().to_owned());
            by_node.entry(view.spec().node_name().to_owned()).or_default().push(key);
        }
        runs
    });
    let mut asked = Vec::with_capacity(by_node.len());
    for (name, pods) in by_node {
        if let Some(node) = call.server.lookup.get("", "nodes", "", &name).filter(|node| is_in_touch(node)) {
            asked.push(AskedNode { node: node.value(), pods });
        }
    }
    let usages = scrape::read_nodes(&call.server, asked).await;
    let usages: HashMap<PodKey, Vec<(String, Usage)>> = usages.into_iter().flat_map(|usage| usage.pods).collect();
    let mut found = Vec::with_capacity(pods.len());
    for pod in &pods {
        let Some(containers) = usages.get(&(pod.namespace().to_owned(), pod.name().to_owned())) else { continue };
        // The oldest of the readings dates the pod, as metrics-server does it.
        let Some((_, oldest)) = containers.iter().min_by_key(|(_, usage)| usage.time) else { continue };
        let mut metrics = render_head(call, pod, oldest);
        let containers: Vec<Value> =
            containers.iter().map(|(name, usage)| json!({"name": name, "usage": render_usage(usage)})).collect();
        metrics.insert("containers".into(), containers.into());
        found.push(metrics.into());
    }
    found
}

/// Whether a node's kubelet has been heard of lately; one that has not would only be waited
/// for.
fn is_in_touch(node: &Stored) -> bool {
    let view = NodeView::over(node.document().root());
    !view.status().conditions().iter().any(|condition| condition.type_() == "Ready" && condition.status() == "Unknown")
}

fn render_head(call: &Call, of: &Stored, usage: &Usage) -> Map<String, Value> {
    let mut metadata = Map::new();
    metadata.insert("name".into(), of.name().into());
    if call.row.is_namespaced() {
        metadata.insert("namespace".into(), of.namespace().into());
    }
    metadata.insert("creationTimestamp".into(), seconds(call.now));
    let labels: Map<String, Value> = of.labels().map(|(key, value)| (key.to_owned(), value.into())).collect();
    if !labels.is_empty() {
        metadata.insert("labels".into(), labels.into());
    }
    let mut metrics = Map::new();
    metrics.insert("kind".into(), call.row.kind.as_ref().into());
    metrics.insert("apiVersion".into(), call.row.group_version().to_string().into());
    metrics.insert("metadata".into(), metadata.into());
    metrics.insert("timestamp".into(), Timestamp::from_millisecond(usage.time).map_or(Value::Null, seconds));
    metrics.insert("window".into(), duration::format(usage.window).into());
    metrics
}

fn seconds(time: Timestamp) -> Value {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into()
}

fn render_usage(usage: &Usage) -> Value {
    let quantity = |text: String| canonicalize(&text).map(|text| text.into_owned()).unwrap_or_default();
    // Bytes that are whole kibibytes are shown as such, as metrics-server's binary quantities are.
    let memory = match usage.memory_bytes {
        bytes if bytes % 1024 == 0 && bytes > 0 => format!("{}Ki", bytes / 1024),
        bytes => bytes.to_string(),
    };
    json!({"cpu": quantity(format!("{}n", usage.cpu_nanocores)), "memory": quantity(memory)})
}
