//! What a URL asks for, before anything looks at it: verb, group, version, resource,
//! subresource, namespace, name. Authorization and routing both decide on this alone,
//! so they cannot disagree about what a request is. The rules are upstream's
//! (apiserver/pkg/endpoints/request/requestinfo.go), including the legacy
//! `/api/v1/watch/…` paths.

use crate::query::Query;
use http::Method;

/// Below this path profiles are taken, for as long as a client asks.
pub const PROFILING: &str = "/debug/pprof/";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestInfo {
    pub is_resource: bool,
    pub path: String,
    /// The API's verb for a resource request, the lower-case method for any other.
    pub verb: String,
    pub api_group: String,
    pub api_version: String,
    pub namespace: String,
    pub resource: String,
    pub subresource: String,
    pub name: String,
    /// What follows the subresource: the path that a proxy passes on.
    pub rest: Vec<String>,
    /// The verb stood in the path (`/api/v1/watch/pods`).
    pub legacy_watch: bool,
}

impl RequestInfo {
    /// `pods` or `pods/status`.
    pub fn resource_and_subresource(&self) -> String {
        if self.subresource.is_empty() {
            self.resource.clone()
        } else {
            format!("{}/{}", self.resource, self.subresource)
        }
    }

    /// Requests that stay open by nature are not counted against the limit of requests
    /// in flight and have no deadline.
    pub fn is_long_running(&self) -> bool {
        if !self.is_resource {
            return self.path.starts_with(PROFILING);
        }
        matches!(self.verb.as_str(), "watch" | "proxy")
            || matches!(self.subresource.as_str(), "attach" | "exec" | "proxy" | "log" | "portforward")
    }
}

/// Reads a request's method, path and query. `path` is percent-decoded segment by
/// segment, so an encoded slash inside a name cannot shift the parts.
pub fn resolve(method: &Method, path: &str, query: &Query) -> RequestInfo {
    let mut info =
        RequestInfo { path: path.to_owned(), verb: method.as_str().to_ascii_lowercase(), ..RequestInfo::default() };
    let decoded: Vec<String> = path
        .trim_matches('/')
        .split('/')
        .filter(|_| !path.trim_matches('/').is_empty())
        .map(|part| percent_encoding::percent_decode_str(part).decode_utf8_lossy().into_owned())
        .collect();
    let mut parts: &[String] = &decoded;
    let needed = match parts.first().map(String::as_str) {
        Some("api") => 3,
        Some("apis") => 4,
        _ => return info,
    };
    if parts.len() < needed {
        return info;
    }
    if needed == 4 {
        info.api_group = parts[1].clone();
        parts = &parts[1..];
    }
    info.is_resource = true;
    info.api_version = parts[1].clone();
    parts = &parts[2..];

    if matches!(parts[0].as_str(), "watch" | "proxy") && parts.len() > 1 {
        info.verb = parts[0].clone();
        info.legacy_watch = info.verb == "watch";
        parts = &parts[1..];
    } else {
        info.verb = match *method {
            Method::POST => "create",
            Method::GET | Method::HEAD => "get",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE => "delete",
            _ => "",
        }
        .into();
    }

    if parts[0] == "namespaces" && parts.len() > 1 {
        info.namespace = parts[1].clone();
        // `namespaces/a/pods` is about pods; `namespaces/a/status` is about the namespace.
        if parts.len() > 2 && !matches!(parts[2].as_str(), "status" | "finalize") {
            parts = &parts[2..];
        }
    }
    info.resource = parts[0].clone();
    if let Some(name) = parts.get(1) {
        info.name = name.clone();
    }
    if info.verb != "proxy"
        && let Some(subresource) = parts.get(2)
    {
        info.subresource = subresource.clone();
        info.rest = parts[3..].to_vec();
    }

    if info.name.is_empty() && info.verb == "get" {
        info.verb = if query.flag("watch") { "watch" } else { "list" }.into();
        // A list of exactly one name is authorized like a get of that name.
        if let Some(name) = query.get("fieldSelector").and_then(exact_name) {
            info.name = name;
        }
    }
    if info.name.is_empty() && info.verb == "delete" {
        info.verb = "deletecollection".into();
    }
    info
}

/// The name that a field selector pins, if it pins one and it could be a path segment.
fn exact_name(selector: &str) -> Option<String> {
    selector.split(',').find_map(|term| {
        let (key, value) = term.split_once("==").or_else(|| term.split_once('='))?;
        let name = value.trim();
        (key.trim() == "metadata.name" && !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '%']))
            .then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: Method, url: &str, expect: [&str; 7]) {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let info = resolve(&method, path, &Query::parse(query));
        let got = [
            info.verb.as_str(),
            &info.api_group,
            &info.api_version,
            &info.namespace,
            &info.resource,
            &info.subresource,
            &info.name,
        ];
        assert_eq!(got, expect, "{method} {url}");
        assert!(info.is_resource, "{url}");
    }

    #[test]
    fn urls_resolve_as_upstream_resolves_them() {
        let get = || Method::GET;
        check(get(), "/api/v1/namespaces", ["list", "", "v1", "", "namespaces", "", ""]);
        check(get(), "/api/v1/namespaces/other", ["get", "", "v1", "other", "namespaces", "", "other"]);
        check(get(), "/api/v1/namespaces/other/pods", ["list", "", "v1", "other", "pods", "", ""]);
        check(get(), "/api/v1/namespaces/other/pods/foo", ["get", "", "v1", "other", "pods", "", "foo"]);
        check(get(), "/api/v1/pods?watch=true", ["watch", "", "v1", "", "pods", "", ""]);
        check(get(), "/api/v1/pods?watch=0", ["list", "", "v1", "", "pods", "", ""]);
        check(get(), "/api/v1/watch/namespaces/other/pods", ["watch", "", "v1", "other", "pods", "", ""]);
        check(get(), "/api/v1/namespaces/other/status", ["get", "", "v1", "other", "namespaces", "status", "other"]);
        check(Method::PUT, "/api/v1/namespaces/o/finalize", ["update", "", "v1", "o", "namespaces", "finalize", "o"]);
        check(
            Method::DELETE,
            "/apis/apps/v1/namespaces/a/deployments",
            ["deletecollection", "apps", "v1", "a", "deployments", "", ""],
        );
        check(
            get(),
            "/apis/apps/v1/namespaces/a/deployments/d/scale",
            ["get", "apps", "v1", "a", "deployments", "scale", "d"],
        );
        check(get(), "/api/v1/pods?fieldSelector=metadata.name=x", ["list", "", "v1", "", "pods", "", "x"]);
    }

    #[test]
    fn short_paths_are_no_resources() {
        for path in ["/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz", "/version"] {
            assert!(!resolve(&Method::GET, path, &Query::default()).is_resource, "{path}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_url_breaks_the_reading_of_it(path in ".{0,80}", api in "/(api|apis)(/[a-z%0-9]{0,8}){0,9}", query in ".{0,40}") {
            for path in [path, api] {
                for method in [Method::GET, Method::POST, Method::DELETE, Method::OPTIONS] {
                    let info = resolve(&method, &path, &Query::parse(&query));
                    proptest::prop_assert!(!info.is_resource || !info.api_version.is_empty() || path.contains("//"));
                }
            }
        }
    }
}
