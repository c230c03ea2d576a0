//! Which flow a request belongs to: the FlowSchema that matches first, in the order of
//! matchingPrecedence and then name, and what sets one flow of it apart from another
//! (apiserver/pkg/util/flowcontrol/rule.go upstream).

use crate::authn::UserInfo;
use crate::authn::user::service_account_user;
use crate::request_info::RequestInfo;
use ferry_api::object::Meta;
use ferry_metrics::family::{Gauge, Histogram};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A FlowSchema, read once.
#[derive(Clone, Debug)]
pub(super) struct Schema {
    pub name: String,
    pub uid: Arc<str>,
    pub level: Arc<str>,
    pub counts: Arc<Counts>,
    precedence: i64,
    distinguisher: Distinguisher,
    rules: Vec<Rule>,
}

/// What became of a schema's requests. Kept when the schema changes.
#[derive(Debug)]
pub(super) struct Counts {
    pub dispatched: AtomicU64,
    pub queue_full: AtomicU64,
    pub concurrency_limit: AtomicU64,
    pub time_out: AtomicU64,
    pub cancelled: AtomicU64,
    pub executing: Gauge,
    pub seats: Gauge,
    pub waiting: Gauge,
    /// How long requests waited that were worked on, and those that were not.
    pub waits: [Histogram; 2],
    pub executions: Histogram,
}

/// Upstream's bounds of what requests wait and take here, in seconds.
static DURATIONS: [f64; 13] = [0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0];

impl Default for Counts {
    fn default() -> Self {
        Self {
            dispatched: AtomicU64::default(),
            queue_full: AtomicU64::default(),
            concurrency_limit: AtomicU64::default(),
            time_out: AtomicU64::default(),
            cancelled: AtomicU64::default(),
            executing: Gauge::default(),
            seats: Gauge::default(),
            waiting: Gauge::default(),
            waits: [Histogram::new(&DURATIONS), Histogram::new(&DURATIONS)],
            executions: Histogram::new(&DURATIONS),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Distinguisher {
    None,
    User,
    Namespace,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Rule {
    subjects: Vec<Subject>,
    resource_rules: Vec<ResourceRule>,
    non_resource_rules: Vec<PathRule>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Subject {
    kind: String,
    user: Named,
    group: Named,
    service_account: Named,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Named {
    namespace: String,
    name: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ResourceRule {
    verbs: Vec<String>,
    api_groups: Vec<String>,
    resources: Vec<String>,
    cluster_scope: bool,
    namespaces: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct PathRule {
    verbs: Vec<String>,
    #[serde(rename = "nonResourceURLs")]
    paths: Vec<String>,
}

impl Schema {
    /// The defaults of the kind were applied when the object was written.
    pub(super) fn read(object: &Value) -> Self {
        let spec = &object["spec"];
        Self {
            name: object.name().to_owned(),
            uid: object.uid().into(),
            level: object.str_at(&["spec", "priorityLevelConfiguration", "name"]).into(),
            counts: Arc::default(),
            precedence: spec["matchingPrecedence"].as_i64().unwrap_or(1000),
            distinguisher: match object.str_at(&["spec", "distinguisherMethod", "type"]) {
                "ByUser" => Distinguisher::User,
                "ByNamespace" => Distinguisher::Namespace,
                _ => Distinguisher::None,
            },
            rules: Vec::deserialize(&spec["rules"]).unwrap_or_default(),
        }
    }

    /// The order in which schemas are tried.
    pub(super) fn order(&self) -> (i64, &str) {
        (self.precedence, &self.name)
    }

    /// `resource` is the request's resource with its subresource, made once for all schemas.
    pub(super) fn matches(&self, info: &RequestInfo, resource: &str, user: &UserInfo) -> bool {
        self.rules.iter().any(|rule| {
            rule.subjects.iter().any(|subject| subject.matches(user))
                && if info.is_resource {
                    rule.resource_rules.iter().any(|rule| rule.matches(info, resource))
                } else {
                    rule.non_resource_rules.iter().any(|rule| rule.matches(info))
                }
        })
    }

    /// What tells the flows of this schema apart.
    pub(super) fn distinguish<'a>(&self, info: &'a RequestInfo, user: &'a UserInfo) -> &'a str {
        match self.distinguisher {
            Distinguisher::None => "",
            Distinguisher::User => &user.name,
            Distinguisher::Namespace => &info.namespace,
        }
    }
}

impl Subject {
    fn matches(&self, user: &UserInfo) -> bool {
        match self.kind.as_str() {
            "User" => self.user.name == "*" || self.user.name == user.name,
            "Group" => self.group.name == "*" || user.in_group(&self.group.name),
            "ServiceAccount" => {
                let account = &self.service_account;
                match account.name.as_str() {
                    "*" => user.name.starts_with(&service_account_user(&account.namespace, "")),
                    name => user.name == service_account_user(&account.namespace, name),
                }
            }
            _ => false,
        }
    }
}

impl ResourceRule {
    fn matches(&self, info: &RequestInfo, resource: &str) -> bool {
        has(&self.verbs, &info.verb)
            && has(&self.api_groups, &info.api_group)
            && has(&self.resources, resource)
            && match info.namespace.as_str() {
                "" => self.cluster_scope,
                namespace => has(&self.namespaces, namespace),
            }
    }
}

impl PathRule {
    fn matches(&self, info: &RequestInfo) -> bool {
        let prefix = |path: &String| path.strip_suffix('*').is_some_and(|prefix| info.path.starts_with(prefix));
        has(&self.verbs, &info.verb) && (has(&self.paths, &info.path) || self.paths.iter().any(prefix))
    }
}

fn has(list: &[String], value: &str) -> bool {
    list.iter().any(|entry| entry == "*" || entry == value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;
    use ferry_resources::flowcontrol::defaults;
    use http::Method;

    /// The schema of the default configuration that takes a request, and its flow.
    fn classify(user: &str, groups: &[&str], method: Method, path: &str) -> (String, String) {
        let objects = defaults::mandatory().into_iter().chain(defaults::suggested());
        let mut schemas: Vec<Schema> =
            objects.filter(|o| o["kind"] == "FlowSchema").map(|o| Schema::read(&o)).collect();
        schemas.sort_by(|a, b| a.order().cmp(&b.order()));
        let user = UserInfo::authenticated(user, groups);
        let info = crate::request_info::resolve(&method, path, &Query::default());
        let found = schemas
            .iter()
            .find(|schema| schema.matches(&info, &info.resource_and_subresource(), &user))
            .expect("the last one takes all");
        (found.name.clone(), found.distinguish(&info, &user).to_owned())
    }

    #[test]
    fn the_default_schemas_take_what_upstreams_take() {
        let check = |user: &str, groups: &[&str], method, path: &str, schema: &str, flow: &str| {
            let found = classify(user, groups, method, path);
            assert_eq!((found.0.as_str(), found.1.as_str()), (schema, flow), "{user} {path}");
        };
        let (get, put) = (|| Method::GET, || Method::PUT);
        check("a", &["system:masters"], get(), "/api/v1/pods", "exempt", "");
        check("a", &[], get(), "/readyz", "probes", "");
        check("a", &[], get(), "/api/v1/namespaces/x/pods", "global-default", "a");
        let nodes = &["system:nodes"][..];
        check("system:node:n", nodes, put(), "/api/v1/nodes/n/status", "system-node-high", "system:node:n");
        check("system:node:n", nodes, get(), "/api/v1/namespaces/x/pods/p", "system-nodes", "system:node:n");
        let lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/l";
        check("system:kube-scheduler", &[], put(), lease, "system-leader-election", "system:kube-scheduler");
        let pods = "/api/v1/namespaces/x/pods";
        check("system:kube-scheduler", &[], get(), pods, "kube-scheduler", "x");
        let accounts = &["system:serviceaccounts"][..];
        let own = "system:serviceaccount:kube-system:c";
        check(own, accounts, get(), pods, "kube-system-service-accounts", "x");
        let other = "system:serviceaccount:team:c";
        check(other, accounts, get(), pods, "service-accounts", other);
    }
}
