//! What kinds the API serves, asked of the API itself. Used by the controllers that act
//! on every kind: garbage collection and namespace deletion.

use crate::error::{During, Result};
use ferry_client::{Client, Error, Request, ResourcePath, decode, read_body};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashSet;

/// One document for all groups, where the server knows it; else one for each.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiResource {
    pub path: ResourcePath,
    pub kind: String,
    pub namespaced: bool,
    pub verbs: Vec<String>,
}

impl ApiResource {
    pub(crate) fn has_verbs(&self, verbs: &[&str]) -> bool {
        verbs.iter().all(|verb| self.verbs.iter().any(|has| has == verb))
    }

    pub(crate) fn api_version(&self) -> String {
        match self.path.group.as_str() {
            "" => self.path.version.clone(),
            group => format!("{group}/{}", self.path.version),
        }
    }
}

/// Every resource once, in its group's preferred version.
#[derive(Clone, Debug, Default)]
pub(crate) struct Discovered {
    pub resources: Vec<ApiResource>,
    /// Group versions that could not be asked or whose answer does not decode, with the
    /// reason. Of their kinds nothing is known; they may well have objects.
    pub failures: Vec<String>,
}

/// Fails if one of the two roots cannot be read: then nothing is known of any group.
pub(crate) async fn discover(client: &Client) -> Result<Discovered> {
    let mut found = Discovered::default();
    for root in ["/api", "/apis"] {
        match fetch::<Document>(client, root, AGGREGATED).await? {
            document if document.kind == "APIGroupDiscoveryList" => document.add_to(&mut found),
            document if matches!(document.kind.as_str(), "APIVersions" | "APIGroupList") => {
                discover_each(client, root, document, &mut found).await;
            }
            document => return Err(unexpected(&document.kind)).during("discover", root),
        }
    }
    prefer_once(&mut found.resources);
    Ok(found)
}

/// The older way: a document for each group version.
async fn discover_each(client: &Client, root: &str, document: Document, found: &mut Discovered) {
    let core = document.versions.into_iter().map(|version| (String::new(), version));
    let groups = document.groups.into_iter().flat_map(|group| {
        let mut versions: Vec<String> = group.versions.into_iter().map(|version| version.version).collect();
        let preferred = group.preferred_version.map(|version| version.version).unwrap_or_default();
        versions.sort_by_key(|version| *version != preferred);
        versions.into_iter().map(move |version| (group.name.clone(), version))
    });
    for (group, version) in core.chain(groups) {
        let path = if group.is_empty() { format!("{root}/{version}") } else { format!("{root}/{group}/{version}") };
        let listed = fetch::<ResourceList>(client, &path, "application/json").await.and_then(|list| {
            if list.kind == "APIResourceList" {
                Ok(list)
            } else {
                Err(unexpected(&list.kind)).during("discover", &path)
            }
        });
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
}

/// The error for a document of another kind: what it lists is not what was asked for.
fn unexpected(kind: &str) -> Error {
    let source = serde::de::Error::custom(format!("a document of kind {kind:?} is no discovery document"));
    Error::Decode { what: "discovery".into(), source }
}

/// A null is an empty list here, as it is to Go; anything else that is not what the document
/// should hold is an error and never "nothing".
async fn fetch<T: DeserializeOwned>(client: &Client, path: &str, accept: &str) -> Result<T> {
    let request = Request { path: path.to_owned(), accept: Some(accept.to_owned()), ..Default::default() };
    let response = client.call(request).await.during("discover", path)?;
    let body = read_body(response.into_body()).await.map_err(Error::Transport).during("discover", path)?;
    let read = decode(&body).map_err(|source| Error::Decode { what: path.to_owned(), source });
    read.during("discover", path)
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
    kind: String,
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
    use async_trait::async_trait;
    use ferry_client::{Body, BoxError, Transport, full_body};
    use serde_json::json;
    use std::sync::Arc;

    /// Answers the two roots and one group version with these texts.
    struct Texts {
        api: &'static str,
        apis: &'static str,
        version: &'static str,
    }

    #[async_trait]
    impl Transport for Texts {
        async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
            let text = match request.uri().path() {
                "/api" => self.api,
                "/apis" => self.apis,
                _ => self.version,
            };
            Ok(http::Response::new(full_body(text)))
        }
    }

    const NO_VERSIONS: &str = r#"{"kind":"APIVersions","versions":[]}"#;
    const ONE_GROUP: &str = r#"{"kind":"APIGroupList","groups":[{"name":"a.b","versions":[{"version":"v1"}]}]}"#;

    async fn ask(api: &'static str, apis: &'static str, version: &'static str) -> Result<Discovered> {
        discover(&Client::new(Arc::new(Texts { api, apis, version }), "test")).await
    }

    #[tokio::test]
    async fn a_root_that_does_not_decode_is_a_failure_and_not_an_empty_cluster() {
        for bad in ["", "[]", "{}", "null", "<html>", r#"{"kind":"Status"}"#, r#"{"kind":"APIGroupList","groups":7}"#] {
            assert!(ask(NO_VERSIONS, bad, "").await.is_err(), "/apis: {bad}");
            assert!(ask(bad, ONE_GROUP, "").await.is_err(), "/api: {bad}");
        }
    }

    #[tokio::test]
    async fn a_group_version_that_does_not_decode_is_a_failure_and_not_without_kinds() {
        for bad in ["", "[]", "{}", "null", "<html>", r#"{"kind":"APIResourceList","resources":{}}"#] {
            let found = ask(NO_VERSIONS, ONE_GROUP, bad).await.expect("the roots are well");
            assert!(found.resources.is_empty() && found.failures.len() == 1, "{bad}: {found:?}");
            assert!(found.failures[0].starts_with("a.b/v1: "), "{found:?}");
        }
    }

    #[tokio::test]
    async fn nulls_in_discovery_are_empty_as_they_are_to_go() {
        let found = ask(NO_VERSIONS, ONE_GROUP, r#"{"kind":"APIResourceList","resources":null}"#).await.expect("nulls");
        assert!(found.resources.is_empty() && found.failures.is_empty(), "{found:?}");
        let aggregated = r#"{"kind":"APIGroupDiscoveryList","items":[
            {"metadata":{"name":"a.b"},"versions":[{"version":"v1","resources":null}]},
            {"metadata":{"name":"c.d"},"versions":null},
            {"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[
                {"resource":"deployments","responseKind":{"kind":"Deployment"},"scope":"Namespaced","verbs":null}]}]}]}"#;
        let found = ask(NO_VERSIONS, aggregated, "").await.expect("nulls");
        let plurals: Vec<_> = found.resources.iter().map(|resource| resource.path.plural.as_str()).collect();
        assert_eq!((plurals, found.failures.len()), (vec!["deployments"], 0));
    }

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
