//! The resources that a server has, from its aggregated discovery, and the one that a person
//! means by `deploy`, `po` or `deployments.v1.apps`. `session.rs` reads it once a command.

use crate::error::{CliError, Result};
use serde::Deserialize;
use serde_json::Value;

/// One resource of one group version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Resource {
    pub group: String,
    pub version: String,
    pub plural: String,
    pub singular: String,
    pub kind: String,
    pub is_namespaced: bool,
    pub short_names: Vec<String>,
    pub verbs: Vec<String>,
    pub categories: Vec<String>,
}

impl Resource {
    pub(crate) fn path(&self) -> ferry_client::ResourcePath {
        ferry_client::ResourcePath::new(&self.group, &self.version, &self.plural)
    }

    /// `deployments.apps`, `pods`.
    pub(crate) fn group_resource(&self) -> String {
        with_group(&self.plural, &self.group)
    }

    /// `deployment.apps`, `pod`: the first part of a name that kubectl prints.
    pub(crate) fn singular_with_group(&self) -> String {
        with_group(&self.kind.to_lowercase(), &self.group)
    }

    pub(crate) fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    pub(crate) fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|v| v == verb)
    }

    /// A kind of the core or apps group, by which commands choose what they do.
    pub(crate) fn is(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kind == kind
    }
}

fn with_group(name: &str, group: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}

/// The media type of aggregated discovery.
pub(crate) const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// All resources, in the server's order of groups; the first version of a group is preferred.
#[derive(Clone, Debug, Default)]
pub(crate) struct Discovery {
    pub resources: Vec<Resource>,
    /// Group versions in the server's order, preferred ones first within a group.
    pub group_versions: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WireList {
    kind: String,
    items: Option<Vec<WireGroup>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WireGroup {
    metadata: Value,
    versions: Option<Vec<WireVersion>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WireVersion {
    version: String,
    resources: Option<Vec<WireResource>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WireResource {
    resource: String,
    response_kind: Option<Value>,
    scope: String,
    singular_resource: String,
    verbs: Option<Vec<String>>,
    short_names: Option<Vec<String>>,
    categories: Option<Vec<String>>,
}

impl Discovery {
    /// Adds one answer: that of `/api` or of `/apis`.
    pub(crate) fn add(&mut self, body: &[u8]) -> Result<()> {
        let list: WireList =
            serde_json::from_slice(body).map_err(|e| format!("cannot read the server's discovery: {e}"))?;
        if list.kind != "APIGroupDiscoveryList" {
            return Err("the server has no aggregated discovery; Kubernetes 1.27 or newer is needed".into());
        }
        for group in list.items.unwrap_or_default() {
            let name = group.metadata["name"].as_str().unwrap_or_default().to_owned();
            for version in group.versions.unwrap_or_default() {
                self.group_versions.push(match name.as_str() {
                    "" => version.version.clone(),
                    group => format!("{group}/{}", version.version),
                });
                for wire in version.resources.unwrap_or_default() {
                    self.resources.push(read_resource(&name, &version.version, wire));
                }
            }
        }
        Ok(())
    }

    /// The resource of a kind, as an object names it.
    pub(crate) fn of_kind(&self, api_version: &str, kind: &str) -> Option<&Resource> {
        self.resources.iter().find(|r| r.kind == kind && r.api_version() == api_version)
    }

    /// The resource that a word means: plural, singular, short name or kind, with `.group` or
    /// `.version.group` behind it. Several groups may have one: the server's first counts.
    pub(crate) fn resolve(&self, word: &str) -> Result<&Resource> {
        let lower = word.to_lowercase();
        self.find(&lower)
            .ok_or_else(|| CliError::Message(format!("the server doesn't have a resource type \"{word}\"")))
    }

    fn find(&self, word: &str) -> Option<&Resource> {
        let (name, rest) = word.split_once('.').map_or((word, None), |(name, rest)| (name, Some(rest)));
        let in_group = |resource: &&Resource| match rest {
            None => true,
            Some(rest) => {
                resource.group == rest
                    || rest
                        .split_once('.')
                        .is_some_and(|(version, group)| resource.version == version && resource.group == group)
                    || (resource.group.is_empty() && resource.version == rest)
                    || (!rest.is_empty() && resource.group.starts_with(&format!("{rest}.")))
            }
        };
        let by = |fits: &dyn Fn(&Resource) -> bool| self.resources.iter().filter(in_group).find(|r| fits(r));
        by(&|r| r.plural == name)
            .or_else(|| by(&|r| r.singular == name))
            .or_else(|| by(&|r| r.kind.to_lowercase() == name))
            .or_else(|| by(&|r| r.short_names.iter().any(|short| short == name)))
    }

    /// The resources of a category such as `all`, the preferred version of each group.
    pub(crate) fn of_category(&self, category: &str) -> Vec<&Resource> {
        let mut found: Vec<&Resource> = Vec::new();
        for resource in &self.resources {
            let is_known = |r: &&&Resource| r.group == resource.group && r.plural == resource.plural;
            if resource.categories.iter().any(|c| c == category) && found.iter().find(is_known).is_none() {
                found.push(resource);
            }
        }
        found
    }

    /// Every resource once, in its group's preferred version.
    pub(crate) fn preferred(&self) -> Vec<&Resource> {
        let mut seen = std::collections::HashSet::new();
        self.resources.iter().filter(|r| seen.insert((r.group.as_str(), r.plural.as_str()))).collect()
    }
}

fn read_resource(group: &str, version: &str, wire: WireResource) -> Resource {
    Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        plural: wire.resource,
        singular: wire.singular_resource,
        kind: wire.response_kind.and_then(|kind| kind["kind"].as_str().map(str::to_owned)).unwrap_or_default(),
        is_namespaced: wire.scope == "Namespaced",
        short_names: wire.short_names.unwrap_or_default(),
        verbs: wire.verbs.unwrap_or_default(),
        categories: wire.categories.unwrap_or_default(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    pub(crate) fn sample() -> Discovery {
        let resource = |plural: &str, kind: &str, short: &[&str], categories: &[&str]| {
            json!({"resource": plural, "responseKind": {"kind": kind}, "scope": "Namespaced",
                "singularResource": kind.to_lowercase(), "verbs": ["get", "list"], "shortNames": short, "categories": categories,
                "subresources": [{"subresource": "status"}]})
        };
        let mut discovery = Discovery::default();
        let core = json!({"kind": "APIGroupDiscoveryList", "items": [{"metadata": {}, "versions": [{"version": "v1",
            "resources": [resource("pods", "Pod", &["po"], &["all"]), resource("events", "Event", &["ev"], &[]),
                {"resource": "nodes", "responseKind": {"kind": "Node"}, "scope": "Cluster", "singularResource": "node", "shortNames": ["no"]}]}]}]});
        discovery.add(core.to_string().as_bytes()).expect("read");
        let apps = json!({"kind": "APIGroupDiscoveryList", "items": [
            {"metadata": {"name": "apps"}, "versions": [{"version": "v1", "resources": [resource("deployments", "Deployment", &["deploy"], &["all"])]}]},
            {"metadata": {"name": "events.k8s.io"}, "versions": [{"version": "v1", "resources": [resource("events", "Event", &["ev"], &[])]}]}]});
        discovery.add(apps.to_string().as_bytes()).expect("read");
        discovery
    }

    #[test]
    fn words_find_their_resource() {
        let discovery = sample();
        let plural = |word: &str| discovery.resolve(word).map(Resource::group_resource);
        for word in ["po", "pod", "pods", "Pod", "pods.v1", "pods.v1."] {
            assert_eq!(plural(word).ok().as_deref(), Some("pods"), "{word}");
        }
        for word in ["deploy", "deployments.apps", "deployment.v1.apps"] {
            assert_eq!(plural(word).ok().as_deref(), Some("deployments.apps"), "{word}");
        }
        assert_eq!(plural("events").ok().as_deref(), Some("events"));
        assert_eq!(plural("events.events.k8s.io").ok().as_deref(), Some("events.events.k8s.io"));
        let unknown = discovery.resolve("Foo").expect_err("unknown").render();
        assert_eq!(unknown, "error: the server doesn't have a resource type \"Foo\"");
        let all: Vec<String> = discovery.of_category("all").into_iter().map(Resource::group_resource).collect();
        assert_eq!(all, ["pods", "deployments.apps"]);
    }
}
