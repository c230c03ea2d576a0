//! The CSINode object, the node's annotation and its topology labels, which tell the cluster of the
//! drivers of this node (upstream: pkg/volume/csi/nodeinfomanager).

use super::proto::NodeInfo;
use crate::context::Context;
use ferry_api::view::Kind;
use ferry_api::view::core::v1::{Node, NodeView};
use ferry_api::view::storage::v1::{CSINode, CSINodeView};
use ferry_client::{Patch, SharedObject};
use serde_json::{Map, Value, json};

const ID_ANNOTATION: &str = "csi.volume.kubernetes.io/nodeid";
/// Writers of one object that meet try again this often.
const ATTEMPTS: usize = 5;

/// Adds the driver. Refused where a topology key has another value already.
pub async fn install(context: &Context, driver: &str, info: &NodeInfo) -> Result<(), String> {
    let node = find_node(context)?;
    let patch = render_node_patch(node.view(), driver, Some(info))?;
    write_node(context, patch).await?;
    write_csi_node(context, &node, |drivers| {
        drivers.retain(|own| own["name"] != driver);
        drivers.push(render_driver(driver, info));
    })
    .await
}

/// Takes the driver away. Topology labels stay, because volumes may still be bound by them.
pub async fn uninstall(context: &Context, driver: &str) -> Result<(), String> {
    let node = find_node(context)?;
    write_csi_node(context, &node, |drivers| drivers.retain(|own| own["name"] != driver)).await?;
    write_node(context, render_node_patch(node.view(), driver, None)?).await
}

fn find_node(context: &Context) -> Result<SharedObject<Node>, String> {
    let node = context.node.get("", &context.config.node_name);
    node.ok_or_else(|| format!("node {} is not registered yet", context.config.node_name))
}

async fn write_node(context: &Context, patch: Option<Value>) -> Result<(), String> {
    let Some(patch) = patch else { return Ok(()) };
    let nodes = context.client.api::<Node>("");
    let done = nodes.patch(&context.config.node_name, &Patch::Merge(patch)).await;
    done.map(drop).map_err(|error| format!("error updating node: {error}"))
}

async fn write_csi_node(
    context: &Context,
    node: &SharedObject<Node>,
    edit: impl Fn(&mut Vec<Value>),
) -> Result<(), String> {
    let objects = context.client.api::<CSINode>("");
    let name = &context.config.node_name;
    let mut last = String::new();
    for _ in 0..ATTEMPTS {
        let written = match objects.get(name).await {
            Ok(found) => match render_csi_node(found.view(), &edit) {
                Some(changed) => objects.replace(&CSINode::from(changed)).await.map(drop),
                None => return Ok(()),
            },
            Err(error) if error.is_not_found() => {
                let mut drivers = Vec::new();
                edit(&mut drivers);
                objects.create(&CSINode::from(render_new(node.view(), drivers))).await.map(drop)
            }
            Err(error) => Err(error),
        };
        match written {
            Ok(()) => return Ok(()),
            Err(error) => last = format!("error updating CSINode: {error}"),
        }
    }
    Err(last)
}

fn render_new(node: NodeView<'_>, drivers: Vec<Value>) -> Value {
    let owner = json!({ "apiVersion": Node::API_VERSION, "kind": Node::KIND,
        "name": node.metadata().name(), "uid": node.metadata().uid() });
    json!({ "apiVersion": CSINode::API_VERSION, "kind": CSINode::KIND,
        "metadata": { "name": node.metadata().name(), "ownerReferences": [owner] }, "spec": { "drivers": drivers } })
}

/// Nothing where the drivers stay as they are.
fn render_csi_node(found: CSINodeView<'_>, edit: &impl Fn(&mut Vec<Value>)) -> Option<Value> {
    let mut object: Value = found.to_owned().into();
    let before = object["spec"]["drivers"].as_array().cloned().unwrap_or_default();
    let mut drivers = before.clone();
    edit(&mut drivers);
    if drivers == before {
        return None;
    }
    object["spec"]["drivers"] = Value::Array(drivers);
    Some(object)
}

fn render_driver(name: &str, info: &NodeInfo) -> Value {
    let mut keys: Vec<&String> =
        info.accessible_topology.iter().flat_map(|topology| topology.segments.keys()).collect();
    keys.sort();
    let mut driver = json!({ "name": name, "nodeID": info.node_id, "topologyKeys": keys });
    if info.max_volumes_per_node > 0 {
        driver["allocatable"] = json!({ "count": info.max_volumes_per_node.min(i64::from(i32::MAX)) });
    }
    driver
}

/// The annotation with the ids of this node by driver, and the labels of its topology. `info` is
/// nothing for a driver that is gone. Pure.
fn render_node_patch(node: NodeView<'_>, driver: &str, info: Option<&NodeInfo>) -> Result<Option<Value>, String> {
    let text = node.metadata().annotations().get(ID_ANNOTATION).unwrap_or("{}");
    let before: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    let mut ids = before.clone();
    match info {
        Some(info) => drop(ids.insert(driver.to_owned(), info.node_id.clone().into())),
        None => drop(ids.remove(driver)),
    }
    let mut labels = Map::new();
    for (key, value) in info.and_then(|info| info.accessible_topology.as_ref()).iter().flat_map(|own| &own.segments) {
        match node.metadata().labels().get(key) {
            Some(present) if present != value => {
                return Err(format!(
                    "detected topology value collision: driver reported {key:?}:{value:?} but existing label is {key:?}:{present:?}"
                ));
            }
            Some(_) => {}
            None => drop(labels.insert(key.clone(), value.clone().into())),
        }
    }
    if ids == before && labels.is_empty() {
        return Ok(None);
    }
    let annotation = match ids.is_empty() {
        true => Value::Null,
        false => Value::Object(ids).to_string().into(),
    };
    Ok(Some(json!({ "metadata": { "annotations": { ID_ANNOTATION: annotation }, "labels": labels } })))
}

#[cfg(test)]
mod tests {
    use super::super::proto::Topology;
    use super::*;
    use std::collections::HashMap;

    fn info(zone: &str) -> NodeInfo {
        let segments = HashMap::from([("zone".to_owned(), zone.to_owned())]);
        NodeInfo { node_id: "n7".into(), max_volumes_per_node: 4, accessible_topology: Some(Topology { segments }) }
    }

    #[test]
    fn ids_and_topology_are_written_to_the_node() {
        let node = json!({ "metadata": { "name": "a" } });
        let patch = render_node_patch((&node).into(), "d", Some(&info("x"))).expect("agrees").expect("a change");
        assert_eq!(patch["metadata"]["annotations"][ID_ANNOTATION], "{\"d\":\"n7\"}");
        assert_eq!(patch["metadata"]["labels"], json!({ "zone": "x" }));
        let known =
            json!({ "metadata": { "labels": { "zone": "x" }, "annotations": { ID_ANNOTATION: "{\"d\":\"n7\"}" } } });
        assert_eq!(render_node_patch((&known).into(), "d", Some(&info("x"))), Ok(None));
        assert!(render_node_patch((&known).into(), "e", Some(&info("y"))).is_err());
        let gone = render_node_patch((&known).into(), "d", None).expect("agrees").expect("a change");
        assert_eq!(gone["metadata"]["annotations"][ID_ANNOTATION], Value::Null);
    }

    #[test]
    fn a_driver_replaces_itself_and_no_other() {
        let found = json!({ "metadata": { "name": "a" }, "spec": { "drivers": [{ "name": "e" }, { "name": "d" }] } });
        let edit = |drivers: &mut Vec<Value>| {
            drivers.retain(|own| own["name"] != "d");
            drivers.push(render_driver("d", &info("x")));
        };
        let changed = render_csi_node((&found).into(), &edit).expect("changed");
        let expected = json!({ "name": "d", "nodeID": "n7", "topologyKeys": ["zone"], "allocatable": { "count": 4 } });
        assert_eq!(changed["spec"]["drivers"], json!([{ "name": "e" }, expected]));
        assert_eq!(render_csi_node((&changed).into(), &edit), None);
    }
}
