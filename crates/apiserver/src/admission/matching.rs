//! Whether a write is one that a webhook or a policy is about: rules, selectors, and the
//! versions of a resource that stand for each other. The order is such that a write that
//! is about something else costs a few comparisons of names.
//!
//! The rules are upstream's (apiserver/pkg/admission/plugin/webhook/predicates and
//! plugin/policy/matching). Called by `webhook/` and `policy/`.

use super::{AdmissionRequest, Operation};
use crate::registry::Rows;
use crate::registry::lookup::ObjectLookup;
use ferry_api::gvk::{GroupResource, GroupVersionKind, GroupVersionResource};
use ferry_api::object::Meta;
use ferry_api::selector::Selector;
use ferry_api::status::Status;
use ferry_resources::Row;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// What a webhook or policy is about.
#[derive(Clone, Debug)]
pub struct Criteria {
    /// `None` is about everything, as a policy without rules is.
    rules: Option<Vec<Rule>>,
    exclude: Vec<Rule>,
    /// Whether a rule for another version of the same resource counts.
    equivalent: bool,
    /// A selector that does not parse is an error of every write that the rules match.
    namespaces: Result<Selector, String>,
    objects: Result<Selector, String>,
}

/// The resource under which a write was matched; not the one that was asked for where an
/// equivalent version was.
#[derive(Clone)]
pub struct Matched {
    pub row: Arc<Row>,
    pub kind: GroupVersionKind,
}

impl Matched {
    pub fn resource(&self) -> GroupVersionResource {
        self.row.gvr()
    }
}

/// One rule of `rules`, `resourceRules` or `excludeResourceRules`.
#[derive(Clone, Debug, Default)]
struct Rule {
    operations: Vec<String>,
    groups: Vec<String>,
    versions: Vec<String>,
    /// `pods` to (`pods`, ``), `pods/*` to (`pods`, `*`).
    resources: Vec<(String, String)>,
    names: Vec<String>,
    scope: Scope,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Scope {
    #[default]
    All,
    Namespaced,
    Cluster,
}

impl Criteria {
    /// Of one entry of `webhooks`.
    pub fn of_webhook(webhook: &Value) -> Self {
        Self {
            rules: Some(Rule::all_of(webhook.items_at(&["rules"]))),
            exclude: Vec::new(),
            equivalent: webhook.str_at(&["matchPolicy"]) == "Equivalent",
            namespaces: selector(webhook, "namespaceSelector"),
            objects: selector(webhook, "objectSelector"),
        }
    }

    /// Of a policy's `matchConstraints` or a binding's `matchResources`. Where there are
    /// none, everything matches.
    pub fn of_match_resources(resources: Option<&Value>) -> Self {
        let nothing = Value::Null;
        let resources = resources.unwrap_or(&nothing);
        let rules = Rule::all_of(resources.items_at(&["resourceRules"]));
        Self {
            rules: (!rules.is_empty()).then_some(rules),
            exclude: Rule::all_of(resources.items_at(&["excludeResourceRules"])),
            equivalent: resources.str_at(&["matchPolicy"]) == "Equivalent",
            namespaces: selector(resources, "namespaceSelector"),
            objects: selector(resources, "objectSelector"),
        }
    }

    /// Whether the write is meant, and as which resource. An error is one of the write,
    /// such as a namespace that is not there.
    pub fn find(
        &self,
        request: &AdmissionRequest<'_>,
        rows: &Rows,
        lookup: &dyn ObjectLookup,
    ) -> Result<Option<Matched>, Status> {
        let found = match &self.rules {
            None => Some(Matched { row: request.row.clone(), kind: request.kind() }),
            Some(rules) => self.find_rule(rules, request, rows),
        };
        let Some(found) = found else { return Ok(None) };
        if !self.exclude.is_empty() && self.find_rule(&self.exclude, request, rows).is_some() {
            return Ok(None);
        }
        // A selector that says no is an answer even where the other one cannot be read.
        let in_namespace = self.selects_namespace(request, lookup);
        let of_object = self.selects_object(request);
        if matches!(in_namespace, Ok(false)) || matches!(of_object, Ok(false)) {
            return Ok(None);
        }
        in_namespace?;
        of_object?;
        Ok(Some(found))
    }

    fn find_rule(&self, rules: &[Rule], request: &AdmissionRequest<'_>, rows: &Rows) -> Option<Matched> {
        if rules.iter().any(|rule| rule.matches(request, &request.row)) {
            return Some(Matched { row: request.row.clone(), kind: request.kind() });
        }
        if !self.equivalent {
            return None;
        }
        let others = equivalents(&request.row, &request.subresource, rows);
        rules.iter().find_map(|rule| {
            let row = others.iter().find(|other| rule.matches(request, other))?;
            Some(Matched { row: row.clone(), kind: kind_of(row, &request.subresource) })
        })
    }

    fn selects_namespace(&self, request: &AdmissionRequest<'_>, lookup: &dyn ObjectLookup) -> Result<bool, Status> {
        let namespace = request.namespace_attribute();
        // Nobody selects among objects that are in no namespace.
        if namespace.is_empty() && request.row.plural != "namespaces" {
            return Ok(true);
        }
        let selector = self.namespaces.as_ref().map_err(Status::internal)?;
        if selector.is_empty() {
            return Ok(true);
        }
        // A namespace that is being written has no version in memory yet, or an old one.
        let is_written = matches!(request.operation, Operation::Create | Operation::Update);
        if request.row.plural == "namespaces"
            && request.subresource.is_empty()
            && is_written
            && let Some(object) = request.object.as_deref()
        {
            return Ok(selector.matches_with(|key| object.label(key)));
        }
        match lookup.get("", "namespaces", "", namespace) {
            Some(stored) => Ok(selector.matches_with(|key| stored.label(key))),
            None => Err(Status::not_found(&GroupResource::new("", "namespaces"), namespace)),
        }
    }

    fn selects_object(&self, request: &AdmissionRequest<'_>) -> Result<bool, Status> {
        let selector = self.objects.as_ref().map_err(Status::internal)?;
        if selector.is_empty() {
            return Ok(true);
        }
        // Options of a connection have no metadata and are never selected.
        let selected = |object: Option<&Value>| {
            object
                .filter(|object| object.get("metadata").is_some())
                .is_some_and(|object| selector.matches_with(|key| object.label(key)))
        };
        Ok(selected(request.object.as_deref()) || selected(request.old_object))
    }
}

impl Rule {
    fn all_of(rules: &[Value]) -> Vec<Self> {
        rules.iter().map(Self::of).collect()
    }

    fn of(rule: &Value) -> Self {
        let texts = |key: &str| -> Vec<String> {
            rule.items_at(&[key]).iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let split = |text: String| match text.split_once('/') {
            Some((resource, subresource)) => (resource.to_owned(), subresource.to_owned()),
            None => (text, String::new()),
        };
        Self {
            operations: texts("operations"),
            groups: texts("apiGroups"),
            versions: texts("apiVersions"),
            resources: texts("resources").into_iter().map(split).collect(),
            names: texts("resourceNames"),
            scope: match rule.str_at(&["scope"]) {
                "Namespaced" => Scope::Namespaced,
                "Cluster" => Scope::Cluster,
                _ => Scope::All,
            },
        }
    }

    /// Whether the rule is about the request, were it one for this row.
    fn matches(&self, request: &AdmissionRequest<'_>, row: &Row) -> bool {
        let any = |items: &[String], wanted: &str| items.iter().any(|item| item == "*" || item == wanted);
        self.resources.iter().any(|(resource, subresource)| {
            (resource == "*" || *resource == row.plural) && (subresource == "*" || *subresource == request.subresource)
        }) && any(&self.groups, &row.group)
            && any(&self.versions, &row.version)
            && any(&self.operations, request.operation.as_str())
            && self.in_scope(request, row)
            && (self.names.is_empty() || self.names.contains(&request.name))
    }

    fn in_scope(&self, request: &AdmissionRequest<'_>, row: &Row) -> bool {
        let is_cluster = request.namespace.is_empty() || (row.group.is_empty() && row.plural == "namespaces");
        match self.scope {
            Scope::All => true,
            Scope::Namespaced => !is_cluster,
            Scope::Cluster => is_cluster,
        }
    }
}

fn selector(owner: &Value, key: &str) -> Result<Selector, String> {
    match owner.get(key) {
        // An absent selector selects everything here, where elsewhere it selects nothing.
        None | Some(Value::Null) => Ok(Selector::everything()),
        present => Selector::from_object(present).map_err(|error| error.to_string()),
    }
}

/// The other rows that share a row's objects and have the subresource too.
fn equivalents(row: &Row, subresource: &str, rows: &Rows) -> Vec<Arc<Row>> {
    if !row.is_stored() {
        return Vec::new();
    }
    let mut found: Vec<Arc<Row>> = rows
        .all()
        .iter()
        .filter(|other| other.storage_prefix == row.storage_prefix && other.gvr() != row.gvr())
        .filter(|other| subresource.is_empty() || other.subresource(subresource).is_some())
        .cloned()
        .collect();
    found.sort_by(|a, b| (&a.group, &a.version).cmp(&(&b.group, &b.version)));
    found
}

/// The kind that a row's subresource takes; the row's own for the object itself.
pub(super) fn kind_of(row: &Row, subresource: &str) -> GroupVersionKind {
    match row.subresource(subresource) {
        Some(found) if !subresource.is_empty() => found.kind.clone(),
        _ => row.gvk(),
    }
}

/// An object in the version of another row that shares the stock; the object itself where
/// the row is the same, or where a subresource's kind is no version of the row's.
pub fn convert<'a>(object: &'a Value, from: &Row, to: &Row) -> Cow<'a, Value> {
    if from.gvk() == to.gvk() || object.gvk() != from.gvk() {
        return Cow::Borrowed(object);
    }
    let mut converted = object.clone();
    if from.gvk() != from.stored_as {
        from.strategy.to_stored(&mut converted);
        converted.set_gvk(&from.stored_as);
    }
    if to.gvk() != to.stored_as {
        to.strategy.from_stored(&mut converted);
    }
    converted.set_gvk(&to.gvk());
    Cow::Owned(converted)
}

#[cfg(test)]
mod tests {
    use super::super::testing::row;
    use super::*;
    use crate::authn::UserInfo;
    use crate::authn::testing::Objects;
    use crate::registry::Caller;
    use ferry_resources::Scope as RowScope;
    use serde_json::json;

    fn rows() -> Rows {
        Rows::new(ferry_resources::all().to_vec())
    }

    fn find(group: &str, version: &str, plural: &str) -> Arc<Row> {
        rows().find(group, version, plural).expect("a builtin kind")
    }

    fn webhook(rule: Value, more: Value) -> Criteria {
        let mut webhook = json!({"rules": [rule]});
        if let (Value::Object(webhook), Value::Object(more)) = (&mut webhook, more) {
            webhook.extend(more);
        }
        Criteria::of_webhook(&webhook)
    }

    fn rule(resources: &[&str]) -> Value {
        json!({"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": resources})
    }

    struct Write {
        operation: Operation,
        row: Arc<Row>,
        namespace: &'static str,
        subresource: &'static str,
        object: Option<Value>,
        old: Option<Value>,
    }

    impl Write {
        fn of(row: Arc<Row>, namespace: &'static str) -> Self {
            let object = json!({"metadata": {"name": "x"}});
            Self { operation: Operation::Create, row, namespace, subresource: "", object: Some(object), old: None }
        }

        fn find(&mut self, criteria: &Criteria) -> Result<Option<Matched>, Status> {
            let lookup = Objects::of(&[
                json!({"kind": "Namespace", "metadata": {"name": "red", "labels": {"color": "red"}}}),
                json!({"kind": "Namespace", "metadata": {"name": "blue", "labels": {"color": "blue"}}}),
            ]);
            let caller = Caller::testing(UserInfo::default());
            let mut request =
                AdmissionRequest::new(self.operation, &self.row, self.namespace, "x", self.subresource, &caller);
            request.object = self.object.as_mut();
            request.old_object = self.old.as_ref();
            criteria.find(&request, &rows(), &*lookup)
        }

        fn matches(mut self, criteria: &Criteria) -> bool {
            self.find(criteria).expect("readable").is_some()
        }
    }

    #[test]
    fn resources_and_subresources_are_matched_apart() {
        let check = |resources: &[&str], subresource: &'static str, expected: bool| {
            let mut write = Write::of(find("", "v1", "pods"), "red");
            write.subresource = subresource;
            assert_eq!(write.matches(&webhook(rule(resources), json!({}))), expected, "{resources:?} {subresource}");
        };
        check(&["pods"], "", true);
        check(&["pods"], "status", false);
        check(&["*"], "", true);
        check(&["*"], "status", false);
        check(&["*/*"], "", true);
        check(&["*/*"], "status", true);
        check(&["pods/*"], "status", true);
        check(&["*/status"], "status", true);
        check(&["*/status"], "", false);
        check(&["services", "pods/exec"], "exec", true);
    }

    #[test]
    fn operations_groups_and_versions_are_matched() {
        let check = |key: &str, value: &str, expected: bool| {
            let mut rule = rule(&["deployments"]);
            rule[key] = json!([value]);
            let write = Write::of(find("apps", "v1", "deployments"), "red");
            assert_eq!(write.matches(&webhook(rule, json!({}))), expected, "{key} {value}");
        };
        check("operations", "CREATE", true);
        check("operations", "UPDATE", false);
        check("apiGroups", "apps", true);
        check("apiGroups", "", false);
        check("apiVersions", "v1", true);
        check("apiVersions", "v1beta1", false);
    }

    #[test]
    fn the_scope_of_a_namespace_is_the_cluster() {
        let check = |plural: &str, namespace: &'static str, scope: &str, expected: bool| {
            let mut rule = rule(&["*"]);
            rule["scope"] = scope.into();
            let write = Write::of(find("", "v1", plural), namespace);
            assert_eq!(write.matches(&webhook(rule, json!({}))), expected, "{plural} {scope}");
        };
        check("pods", "red", "Namespaced", true);
        check("pods", "red", "Cluster", false);
        check("nodes", "", "Cluster", true);
        check("nodes", "", "Namespaced", false);
        check("namespaces", "", "Cluster", true);
        check("namespaces", "", "Namespaced", false);
        check("namespaces", "", "*", true);
    }

    #[test]
    fn a_namespace_is_selected_by_the_labels_it_will_have() {
        let red = webhook(rule(&["*"]), json!({"namespaceSelector": {"matchLabels": {"color": "red"}}}));
        assert!(Write::of(find("", "v1", "pods"), "red").matches(&red));
        assert!(!Write::of(find("", "v1", "pods"), "blue").matches(&red));
        assert!(Write::of(find("", "v1", "nodes"), "").matches(&red));
        assert!(!Write::of(find("", "v1", "namespaces"), "").matches(&red));
        let mut write = Write::of(find("", "v1", "namespaces"), "");
        write.object = Some(json!({"metadata": {"name": "x", "labels": {"color": "red"}}}));
        assert!(write.matches(&red));
        let error = Write::of(find("", "v1", "pods"), "gone").find(&red).err().expect("no such namespace");
        assert_eq!((error.code, error.message.as_str()), (404, "namespaces \"gone\" not found"));
        // What the rules do not match is no error, whatever the namespace.
        let services = webhook(rule(&["services"]), json!({"namespaceSelector": {"matchLabels": {"color": "red"}}}));
        assert!(!Write::of(find("", "v1", "pods"), "gone").matches(&services));
    }

    #[test]
    fn either_the_new_or_the_old_object_is_selected() {
        let app = webhook(rule(&["*"]), json!({"objectSelector": {"matchLabels": {"app": "a"}}}));
        let labelled = || Some(json!({"metadata": {"name": "x", "labels": {"app": "a"}}}));
        let mut write = Write::of(find("", "v1", "pods"), "red");
        assert!(!Write::of(find("", "v1", "pods"), "red").matches(&app));
        write.old = labelled();
        assert!(write.matches(&app));
        let without = webhook(
            rule(&["*/*"]),
            json!({"objectSelector": {"matchExpressions": [
            {"key": "app", "operator": "DoesNotExist"}]}}),
        );
        let mut connect = Write::of(find("", "v1", "pods"), "red");
        connect.object = Some(json!({"kind": "PodExecOptions", "apiVersion": "v1"}));
        assert!(!connect.matches(&without));
    }

    #[test]
    fn another_version_stands_for_the_same_objects() {
        let mut v1 = rule(&["horizontalpodautoscalers"]);
        v1["apiVersions"] = json!(["v1"]);
        let v2 = || Write::of(find("autoscaling", "v2", "horizontalpodautoscalers"), "red");
        assert!(!v2().matches(&webhook(v1.clone(), json!({"matchPolicy": "Exact"}))));
        let found = v2().find(&webhook(v1, json!({"matchPolicy": "Equivalent"}))).expect("readable").expect("matched");
        assert_eq!((found.row.version.as_ref(), found.kind.version.as_ref()), ("v1", "v1"));
    }

    #[test]
    fn an_object_is_converted_between_versions() {
        let (v1, v2) = (
            find("autoscaling", "v1", "horizontalpodautoscalers"),
            find("autoscaling", "v2", "horizontalpodautoscalers"),
        );
        let object = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "h"}, "spec": {"maxReplicas": 3, "metrics": [{"type": "Resource", "resource":
                {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]}});
        let converted = convert(&object, &v2, &v1);
        assert_eq!(converted["apiVersion"], "autoscaling/v1");
        assert_eq!(converted["spec"]["targetCPUUtilizationPercentage"], 80);
        assert_eq!(convert(&converted, &v1, &v2)["spec"]["metrics"], object["spec"]["metrics"]);
    }

    #[test]
    fn policies_exclude_and_name() {
        let criteria = |more: Value| Criteria::of_match_resources(Some(&more));
        let pods = || Write::of(row("", "Pod", "pods", RowScope::Namespaced), "red");
        assert!(pods().matches(&Criteria::of_match_resources(None)));
        assert!(!pods().matches(&criteria(json!({"excludeResourceRules": [rule(&["pods"])]}))));
        let mut named = rule(&["pods"]);
        named["resourceNames"] = json!(["y"]);
        assert!(!pods().matches(&criteria(json!({"resourceRules": [named.clone()]}))));
        named["resourceNames"] = json!(["y", "x"]);
        assert!(pods().matches(&criteria(json!({"resourceRules": [named]}))));
    }
}
