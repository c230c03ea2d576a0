//! From a manifest in staticPodPath to the pod that runs: names, UID, annotations, tolerations
//! (upstream: pkg/kubelet/config/{common,file}.go). Pure.

use super::references::api_reference;
use ferry_api::codec::{decode, yaml};
use ferry_api::gvk::GroupVersionKind;
use ferry_api::schema::of_kind;
use ferry_api::view::Owned;
use ferry_api::view::core::v1::Pod;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;

pub const HASH: &str = "kubernetes.io/config.hash";
pub const SOURCE: &str = "kubernetes.io/config.source";
pub const SEEN: &str = "kubernetes.io/config.seen";
pub const MIRROR: &str = "kubernetes.io/config.mirror";
/// Manifests are no longer than this.
pub const MAX_BYTES: usize = 10 << 20;

/// Defaults and rules of pods, which the API server has otherwise. `ferry` passes those of its
/// registry.
pub trait PodRules: Send + Sync + std::fmt::Debug {
    /// Fills in the defaults and returns every mistake.
    fn complete(&self, pod: &mut Value) -> Vec<String>;
}

/// The pod of one file, without the time at which it was seen.
pub fn read_manifest(text: &[u8], path: &Path, node_name: &str, rules: &dyn PodRules) -> Result<Pod, String> {
    let unreadable = |why: &dyn std::fmt::Display| {
        format!("{}: couldn't parse as pod({why}), please check config file", path.display())
    };
    let kind = GroupVersionKind::new("", "v1", "Pod");
    let json = yaml::to_json(text, MAX_BYTES).map_err(|error| unreadable(&error))?;
    let named: Value = serde_json::from_str(&json).map_err(|error| unreadable(&error))?;
    if named["kind"].as_str().unwrap_or_default().is_empty() {
        return Err(unreadable(&"Object 'Kind' is missing"));
    }
    let definition = of_kind(&kind).ok_or("no facts of pods")?;
    let decoded = decode(json.as_bytes(), definition, &kind).map_err(|error| unreadable(&error))?;
    let mut pod = decoded.value;
    let Some(name) = pod["metadata"]["name"].as_str().filter(|name| !name.is_empty()).map(str::to_owned) else {
        return Err("invalid pod: name is needed for the pod".into());
    };
    complete(&mut pod, &name, path, node_name);
    let mistakes = rules.complete(&mut pod);
    if !mistakes.is_empty() {
        return Err(format!("invalid pod: [{}]", mistakes.join(", ")));
    }
    let pod = Pod::from(pod);
    if let Some(kind) = api_reference(pod.view()) {
        return Err(format!("static pods may not reference {kind}"));
    }
    Ok(pod)
}

fn complete(pod: &mut Value, name: &str, path: &Path, node_name: &str) {
    let uid = match pod["metadata"]["uid"].as_str().filter(|uid| !uid.is_empty()) {
        Some(uid) => uid.to_owned(),
        None => hash(pod, path, node_name),
    };
    let metadata = &mut pod["metadata"];
    metadata["uid"] = json!(uid);
    metadata["name"] = json!(format!("{name}-{}", node_name.to_lowercase()));
    if metadata["namespace"].as_str().unwrap_or_default().is_empty() {
        metadata["namespace"] = json!("default");
    }
    if !metadata["annotations"].is_object() {
        metadata["annotations"] = json!({});
    }
    metadata["annotations"][HASH] = json!(uid);
    metadata["annotations"][SOURCE] = json!("file");
    pod["spec"]["nodeName"] = json!(node_name);
    tolerate_node_problems(&mut pod["spec"]);
    pod["status"] = json!({ "phase": "Pending" });
}

/// No taint of the node drives a static pod away.
fn tolerate_node_problems(spec: &mut Value) {
    let toleration = json!({ "operator": "Exists", "effect": "NoExecute" });
    if !spec["tolerations"].is_array() {
        spec["tolerations"] = json!([]);
    }
    if let Some(all) = spec["tolerations"].as_array_mut() {
        let is_same = |own: &Value| {
            own["operator"] == "Exists"
                && own["effect"] == "NoExecute"
                && own["key"].as_str().unwrap_or_default().is_empty()
        };
        all.retain(|own| !is_same(own));
        all.push(toleration);
    }
}

/// A file that says the same has the same pod; another path or node has another.
fn hash(pod: &Value, path: &Path, node_name: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(pod.to_string());
    hasher.update(format!("host:{node_name}file:{}", path.display()));
    hasher.finalize()[..16].iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Rules that find every pod good.
    #[derive(Debug)]
    pub(crate) struct NoRules;

    impl PodRules for NoRules {
        fn complete(&self, _: &mut Value) -> Vec<String> {
            Vec::new()
        }
    }

    const WEB: &str =
        "apiVersion: v1\nkind: Pod\nmetadata: { name: web }\nspec: { containers: [{ name: a, image: i }] }\n";

    fn read(text: &str, path: &str) -> Result<Value, String> {
        read_manifest(text.as_bytes(), Path::new(path), "Node-A", &NoRules).map(Value::from)
    }

    #[test]
    fn a_manifest_becomes_a_pod_of_this_node() {
        let pod = read(WEB, "/m/web.yaml").expect("a good manifest");
        let metadata = &pod["metadata"];
        assert_eq!((metadata["name"].as_str(), metadata["namespace"].as_str()), (Some("web-node-a"), Some("default")));
        let uid = metadata["uid"].as_str().expect("a uid");
        assert_eq!((uid.len(), &metadata["annotations"][HASH]), (32, &metadata["uid"]));
        assert_eq!(metadata["annotations"][SOURCE], "file");
        assert_eq!(pod["spec"]["nodeName"], "Node-A");
        assert_eq!(pod["spec"]["tolerations"], json!([{ "operator": "Exists", "effect": "NoExecute" }]));
        assert_eq!(read(WEB, "/m/web.yaml").expect("again")["metadata"]["uid"], uid);
        assert_ne!(read(WEB, "/m/other.yaml").expect("another path")["metadata"]["uid"], uid);
        assert_ne!(read(&WEB.replace("image: i", "image: j"), "/m/web.yaml").expect("changed")["metadata"]["uid"], uid);
        let json =
            json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "web", "uid": "own" }, "spec": {} });
        assert_eq!(read(&json.to_string(), "/m/web.json").expect("JSON")["metadata"]["annotations"][HASH], "own");
    }

    #[test]
    fn bad_manifests_are_named() {
        let check = |text: &str, expected: &str| {
            let error = read(text, "/m/x").expect_err(text);
            assert!(error.contains(expected), "{error}");
        };
        check(": {", "/m/x: couldn't parse as pod(");
        check("a: b", "Object 'Kind' is missing");
        check("apiVersion: v1\nkind: Service\n", "couldn't parse as pod(");
        check("apiVersion: v1\nkind: Pod\nmetadata: {}\n", "invalid pod: name is needed for the pod");
        check(
            &WEB.replace("spec: {", "spec: { serviceAccountName: s,"),
            "static pods may not reference serviceaccounts",
        );
    }

    #[test]
    fn mistakes_of_a_pod_are_gathered() {
        #[derive(Debug)]
        struct Strict;
        impl PodRules for Strict {
            fn complete(&self, _: &mut Value) -> Vec<String> {
                vec!["spec.a: bad".into(), "spec.b: bad".into()]
            }
        }
        let error = read_manifest(WEB.as_bytes(), Path::new("/m/x"), "a", &Strict).expect_err("two mistakes");
        assert_eq!(error, "invalid pod: [spec.a: bad, spec.b: bad]");
    }
}
