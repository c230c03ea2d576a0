//! What kinds the API serves, asked of the API itself. Used by the controllers that act
//! on every kind: garbage collection and namespace deletion.

use crate::error::{During, Result};
use ferry_client::{Client, Request, ResourcePath, read_body};
use serde::Deserialize;
use std::collections::HashSet;

/// One document for all groups, where the server knows it; else one for each.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiResource {
    pub path: ResourcePath,
    pub kind: String,
    pub namespaced: bool,
    pub verbs: Vec<String>,
}

impl ApiResource {
    pub fn has_verbs(&self, verbs: &[&str]) -> bool {
        verbs.iter().all(|verb| self.verbs.iter().any(|has| has == verb))
    }

    pub fn api_version(&self) -> String {
        match self.path.group.as_str() {
            "" => self.path.version.clone(),
            group => format!("{group}/{}", self.path.version),
        }
    }
}

/// Every resource once, in its group's preferred version.
#[derive(Clone, Debug, Default)]
pub struct Discovered {
    pub resources: Vec<ApiResource>,
    /// Group versions that could not be asked, with the reason.
    pub failures: Vec<String>,
}

pub async fn discover(client: &Client) -> Result<Discovered> {
    let mut found = Discovered::default();
    for root in ["/api", "/apis"] {
        let text = fetch(client, root, AGGREGATED).await?;
        match serde_json::from_str::<Document>(&text).unwrap_or_default() {
            document if document.kind == "APIGroupDiscoveryList" => document.add_to(&mut found),
            document => discover_each(client, root, document, &mut found).await?,
        }
    }
    prefer_once(&mut found.resources);
    Ok(found)
}

/// The older way: a document for each group version.
async fn discover_each(client: &Client, root: &str, document: Document, found: &mut Discovered) -> Result<()> {
    let core = document.versions.into_iter().map(|version| (String::new(), version));
    let groups = document.groups.into_iter().flat_map(|group| {
        let mut versions: Vec<String> = group.versions.into_iter().map(|version| version.version).collect();
        let preferred = group.preferred_version.map(|version| version.version).unwrap_or_default();
        versions.sort_by_key(|version| *version != preferred);
        versions.into_iter().map(move |version| (group.name.clone(), version))
    });
    for (group, version) in core.chain(groups) {
        let path = if group.is_empty() { format!("{root}/{version}") } else { format!("{root}/{group}/{version}") };
        let listed = fetch(client, &path, "application/json").await;
        let listed = listed.map(|text| serde_json::from_str::<ResourceList>(&text).unwrap_or_default());
        match listed {
            Err(error) => found.failures.push(format!("{group}/{version}: {error}")),
            Ok(list) => found.resources.extend(list.resources.into_iter().filter(|r| !r.name.contains('/')).map(|r| {
                ApiResource {
                    path: ResourcePath::new(&group, &version, &r.name),
                    kind: r.kind,
                    namespaced: r.namespaced,
                    verbs: r.verbs,
                }
            })),
        }
    }
    Ok(())
}

async fn fetch(client: &Client, path: &str, accept: &str) -> Result<String> {
    let request = Request { path: path.to_owned(), accept: Some(accept.to_owned()), ..Default::default() };
    let response = client.call(request).await.during("discover", path)?;
    let body =
        read_body(response.into_body()).await.map_err(ferry_client::Error::Transport).during("discover", path)?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Groups list their preferred version first, so the first of a name is the one to use.
fn prefer_once(resources: &mut Vec<ApiResource>) {
    let mut seen = HashSet::new();
    resources.retain(|resource| seen.insert((resource.path.group.clone(), resource.path.plural.clone())));
}

/// Any of the documents at the two roots.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    kind: String,
    items: Vec<GroupItem>,
    versions: Vec<String>,
    groups: Vec<Group>,
}

impl Document {
    fn add_to(self, found: &mut Discovered) {
        for group in self.items {
            for version in group.versions {
                if version.freshness == "Stale" {
                    found
                        .failures
                        .push(format!("{}/{}: stale GroupVersion discovery", group.metadata.name, version.version));
                }
                found.resources.extend(version.resources.into_iter().map(|resource| ApiResource {
                    path: ResourcePath::new(&group.metadata.name, &version.version, &resource.resource),
                    kind: resource.response_kind.kind,
                    namespaced: resource.scope == "Namespaced",
                    verbs: resource.verbs,
                }));
            }
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GroupItem {
    metadata: Named,
    versions: Vec<VersionItem>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    name: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct VersionItem {
    version: String,
    freshness: String,
    resources: Vec<ResourceItem>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ResourceItem {
    resource: String,
    response_kind: Kind,
    scope: String,
    verbs: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Kind {
    kind: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Group {
    name: String,
    versions: Vec<GroupVersion>,
    preferred_version: Option<GroupVersion>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GroupVersion {
    version: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ResourceList {
    resources: Vec<LegacyResource>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LegacyResource {
    name: String,
    kind: String,
    namespaced: bool,
    verbs: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_aggregated_document_lists_each_resource_in_its_preferred_version() {
        let resource = |name: &str, kind: &str| {
            json!({"resource": name, "responseKind": {"group": "apps", "version": "v1", "kind": kind},
                "scope": "Namespaced", "verbs": ["list", "delete"], "subresources": [{"subresource": "status"}]})
        };
        let document: Document = serde_json::from_value(json!({"kind": "APIGroupDiscoveryList", "items": [
            {"metadata": {"name": "apps"}, "versions": [
                {"version": "v1", "freshness": "Current", "resources": [resource("deployments", "Deployment")]},
                {"version": "v1beta1", "freshness": "Stale", "resources": [
                    resource("deployments", "Deployment"), resource("olds", "Old")]},
            ]},
        ]}))
        .expect("a document");
        let mut found = Discovered::default();
        document.add_to(&mut found);
        prefer_once(&mut found.resources);
        let texts: Vec<String> =
            found.resources.iter().map(|r| format!("{} {} {}", r.api_version(), r.path.plural, r.kind)).collect();
        assert_eq!(texts, ["apps/v1 deployments Deployment", "apps/v1beta1 olds Old"]);
        assert_eq!(found.failures, ["apps/v1beta1: stale GroupVersion discovery"]);
        assert!(found.resources[0].has_verbs(&["delete"]) && !found.resources[0].has_verbs(&["watch"]));
    }
}
