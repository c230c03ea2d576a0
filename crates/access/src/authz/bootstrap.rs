//! The default policy: which roles and bindings every cluster has, and what must be
//! written at start so that it has them. Upstream's facts (1.36) stand in `policy/`, in a
//! notation of one line a rule:
//!
//! ```text
//! clusterrole <name> [+<label it carries>] [<<label of roles it gathers>]
//! role <namespace> <name>
//!   <verbs> <API groups, core for ""> <resources> [=<resource names>]
//!   <verbs> url <paths>
//! clusterrolebinding <name> clusterrole/<role> <subjects>
//! rolebinding <namespace> <name> role/<role> <subjects>      subject: user:x group:y serviceaccount:ns:name
//! ```
//!
//! The API server calls [`plan_reconcile`] after the store is open and before it is ready.

use super::escalation::missing_rules;
use super::rbac::GROUP;
use super::rule::PolicyRule;
use ferry_api::object::{Meta, ensure_object};
use ferry_cache::lookup::ObjectLookup;
use serde_json::{Map, Value, json};

const TABLES: [&str; 4] = [
    include_str!("policy/cluster.policy"),
    include_str!("policy/controllers.policy"),
    include_str!("policy/namespaces.policy"),
    include_str!("policy/ferry.policy"),
];
/// Set to "false" by people who want to keep a default role as they changed it.
const AUTOUPDATE: &str = "rbac.authorization.kubernetes.io/autoupdate";
const CONTROLLER_PREFIX: &str = "system:controller:";

/// One object to write at start.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    pub action: Action,
    pub plural: &'static str,
    pub namespace: String,
    pub name: String,
    pub object: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Create,
    Update,
    /// The role that a binding refers to cannot be changed, so the binding is made anew.
    Replace,
}

/// What must be written so that the default policy holds: missing objects, and missing
/// rules, subjects, labels and annotations of those that are there. Nothing is taken away.
pub fn plan_reconcile(lookup: &dyn ObjectLookup) -> Vec<Write> {
    let mut writes = Vec::new();
    for desired in default_objects() {
        let plural = plural_of(&desired);
        let (namespace, name) = (desired.namespace().to_owned(), desired.name().to_owned());
        let mut push = |action, object| {
            writes.push(Write { action, plural, namespace: namespace.clone(), name: name.clone(), object });
        };
        match lookup.get(GROUP, plural, &namespace, &name) {
            None => push(Action::Create, desired),
            Some(stored) => {
                if let Some((action, object)) = plan_update(&stored.value(), &desired) {
                    push(action, object);
                }
            }
        }
    }
    writes
}

/// The rules of a default cluster role.
pub fn cluster_role_rules(name: &str) -> Vec<PolicyRule> {
    let roles = default_objects();
    let role = roles.iter().find(|object| plural_of(object) == "clusterroles" && object.name() == name);
    role.map(PolicyRule::list_from).unwrap_or_default()
}

/// Every default object, roles before the bindings that need them.
pub fn default_objects() -> Vec<Value> {
    let mut objects: Vec<Value> = TABLES.iter().flat_map(|table| parse(table)).collect();
    let controllers: Vec<String> = objects
        .iter()
        .filter(|object| plural_of(object) == "clusterroles")
        .map(|object| object.name().to_owned())
        .filter(|name| name.starts_with(CONTROLLER_PREFIX))
        .collect();
    for name in controllers {
        let account = format!("serviceaccount:kube-system:{}", &name[CONTROLLER_PREFIX.len()..]);
        objects.push(binding("ClusterRoleBinding", "", &name, &format!("clusterrole/{name}"), &[&account]));
    }
    // Gathering goes on until nothing changes, since admin gathers edit, and edit gathers view.
    loop {
        let changed = super::aggregation::compute_aggregation(&objects);
        if changed.is_empty() {
            break;
        }
        for role in changed {
            if let Some(slot) = objects.iter_mut().find(|o| o.name() == role.name() && plural_of(o) == "clusterroles") {
                *slot = role;
            }
        }
    }
    objects.sort_by_key(|object| plural_of(object).ends_with("bindings"));
    objects
}

fn plural_of(object: &Value) -> &'static str {
    match object.get("kind").and_then(Value::as_str) {
        Some("ClusterRole") => "clusterroles",
        Some("Role") => "roles",
        Some("ClusterRoleBinding") => "clusterrolebindings",
        _ => "rolebindings",
    }
}

/// How an object that is there becomes what it should be; `None` if it is already, or if
/// it is protected from updates.
fn plan_update(existing: &Value, desired: &Value) -> Option<(Action, Value)> {
    if existing.annotation(AUTOUPDATE) == Some("false") {
        return None;
    }
    let mut object = existing.clone();
    for key in ["labels", "annotations"] {
        let Some(Value::Object(wanted)) = desired.meta(key) else { continue };
        let have = ensure_object(object.meta_mut().entry(key).or_insert_with(|| json!({})));
        for (name, value) in wanted {
            have.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    if plural_of(desired).ends_with("bindings") {
        if existing.get("roleRef") != desired.get("roleRef") {
            return Some((Action::Replace, desired.clone()));
        }
        append_missing(&mut object, "subjects", desired.items_at(&["subjects"]));
    } else if desired.get("aggregationRule").is_some() {
        // The rules are the aggregation's to write; only the selectors are ours.
        let mut rule = object.get("aggregationRule").cloned().unwrap_or_else(|| json!({}));
        let wanted = desired.items_at(&["aggregationRule", "clusterRoleSelectors"]);
        append_missing(&mut rule, "clusterRoleSelectors", wanted);
        ensure_object(&mut object).insert("aggregationRule".into(), rule);
    } else {
        let missing = missing_rules(&PolicyRule::list_from(existing), &PolicyRule::list_from(desired));
        let missing: Vec<Value> = missing.iter().map(PolicyRule::to_value).collect();
        append_missing(&mut object, "rules", &missing);
    }
    (object != *existing).then_some((Action::Update, object))
}

fn append_missing(object: &mut Value, key: &str, wanted: &[Value]) {
    let have = object.items_at(&[key]);
    let missing: Vec<Value> = wanted.iter().filter(|item| !have.contains(item)).cloned().collect();
    if missing.is_empty() {
        return;
    }
    let slot = ensure_object(object).entry(key).or_insert(Value::Null);
    match slot {
        Value::Array(items) => items.extend(missing),
        other => *other = Value::Array(missing),
    }
}

fn parse(table: &str) -> Vec<Value> {
    let mut objects: Vec<Value> = Vec::new();
    for line in table.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            _ if line.starts_with(' ') => {
                let role = objects.last_mut().expect("a rule stands under its role");
                let rules = role.get_mut("rules").and_then(Value::as_array_mut).expect("roles are made with rules");
                rules.push(rule(&words).to_value());
            }
            ["clusterrole", name, labels @ ..] => objects.push(cluster_role(name, labels)),
            ["role", namespace, name] => {
                let mut role = cluster_role(name, &[]);
                role["kind"] = "Role".into();
                role.set_meta("namespace", *namespace);
                objects.push(role);
            }
            ["clusterrolebinding", name, role, subjects @ ..] => {
                objects.push(binding("ClusterRoleBinding", "", name, role, subjects));
            }
            ["rolebinding", namespace, name, role, subjects @ ..] => {
                objects.push(binding("RoleBinding", namespace, name, role, subjects));
            }
            _ => unreachable!("the tables are part of the program and a test reads them: {line}"),
        }
    }
    objects
}

fn rule(words: &[&str]) -> PolicyRule {
    let list = |at: usize| -> Vec<String> {
        words
            .get(at)
            .map(|word| word.trim_start_matches('=').split(',').map(str::to_owned).collect())
            .unwrap_or_default()
    };
    if words.get(1) == Some(&"url") {
        return PolicyRule { verbs: list(0), non_resource_urls: list(2), ..Default::default() };
    }
    let group = |group: String| if group == "core" { String::new() } else { group };
    PolicyRule {
        verbs: list(0),
        api_groups: list(1).into_iter().map(group).collect(),
        resources: list(2),
        resource_names: list(3),
        non_resource_urls: Vec::new(),
    }
}

fn metadata(namespace: &str, name: &str) -> Value {
    let mut metadata = json!({
        "name": name,
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
        "annotations": {AUTOUPDATE: "true"},
    });
    if !namespace.is_empty() {
        metadata["namespace"] = namespace.into();
    }
    metadata
}

fn cluster_role(name: &str, words: &[&str]) -> Value {
    let mut role = json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": "ClusterRole", "metadata": metadata("", name), "rules": [],
    });
    let mut selectors: Vec<Value> = Vec::new();
    for word in words {
        if let Some(label) = word.strip_prefix('+') {
            role["metadata"]["labels"][label] = "true".into();
        } else if let Some(label) = word.strip_prefix('<') {
            let labels = Map::from_iter([(label.to_owned(), Value::from("true"))]);
            selectors.push(json!({"matchLabels": labels}));
        }
    }
    if !selectors.is_empty() {
        role["aggregationRule"] = json!({"clusterRoleSelectors": selectors});
    }
    role
}

fn binding(kind: &str, namespace: &str, name: &str, role: &str, subjects: &[&str]) -> Value {
    let (role_kind, role) = match role.split_once('/') {
        Some(("clusterrole", role)) => ("ClusterRole", role),
        Some((_, role)) => ("Role", role),
        None => ("Role", role),
    };
    let subject = |text: &&str| match text.split_once(':') {
        Some(("serviceaccount", account)) => {
            let (namespace, name) = account.split_once(':').unwrap_or(("", account));
            json!({"kind": "ServiceAccount", "name": name, "namespace": namespace})
        }
        Some(("group", name)) => json!({"apiGroup": GROUP, "kind": "Group", "name": name}),
        Some((_, name)) => json!({"apiGroup": GROUP, "kind": "User", "name": name}),
        None => json!({"apiGroup": GROUP, "kind": "User", "name": text}),
    };
    let mut out = json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": kind, "metadata": metadata(namespace, name),
        "roleRef": {"apiGroup": GROUP, "kind": role_kind, "name": role},
    });
    if !subjects.is_empty() {
        out["subjects"] = subjects.iter().map(subject).collect();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::aggregation::aggregated_rules;
    use super::*;
    use crate::authn::testing::Objects;

    fn named<'a>(objects: &'a [Value], plural: &str, name: &str) -> &'a Value {
        objects.iter().find(|o| plural_of(o) == plural && o.name() == name).expect(name)
    }

    #[test]
    fn the_tables_hold_upstreams_policy_and_ours() {
        let objects = default_objects();
        let count = |plural: &str| objects.iter().filter(|object| plural_of(object) == plural).count();
        // 31 and 38 cluster roles of upstream, seven of ours; 12 and 38 bindings, nine of ours.
        assert_eq!((count("clusterroles"), count("clusterrolebindings")), (31 + 38 + 7, 12 + 38 + 9));
        assert_eq!((count("roles"), count("rolebindings")), (7 + 1, 7 + 1));
        for object in &objects {
            for rule in PolicyRule::list_from(object) {
                assert!(!rule.verbs.is_empty(), "{}", object.name());
                assert_ne!(rule.resources.is_empty(), rule.non_resource_urls.is_empty(), "{}", object.name());
            }
        }
        let bound = |plural: &'static str| {
            objects.iter().filter(move |o| plural_of(o) == plural).map(|o| o.str_at(&["roleRef", "name"]))
        };
        for role in bound("clusterrolebindings") {
            named(&objects, "clusterroles", role);
        }
        for role in bound("rolebindings") {
            named(&objects, "roles", role);
        }
    }

    #[test]
    fn admin_gathers_edit_and_edit_gathers_view() {
        let objects = default_objects();
        let rules = |name: &str| PolicyRule::list_from(named(&objects, "clusterroles", name));
        let (admin, edit, view) = (rules("admin"), rules("edit"), rules("view"));
        assert!(view.len() > 10 && edit.len() > view.len() && admin.len() > edit.len());
        assert!(missing_rules(&admin, &edit).is_empty() && missing_rules(&edit, &view).is_empty());
        assert!(aggregated_rules(named(&objects, "clusterroles", "cluster-admin"), &objects).is_none());
    }

    #[test]
    fn a_first_start_creates_and_a_second_changes_nothing() {
        let objects = Objects::of(&[]);
        let writes = plan_reconcile(&*objects);
        assert!(writes.iter().all(|write| write.action == Action::Create));
        for write in writes {
            objects.put(write.object);
        }
        assert_eq!(plan_reconcile(&*objects), []);
    }

    #[test]
    fn what_was_taken_away_comes_back_and_what_was_added_stays() {
        let objects = Objects::of(&default_objects());
        let own = json!({"verbs": ["get"], "apiGroups": ["example.com"], "resources": ["things"]});
        let mut role = named(&default_objects(), "clusterroles", "system:basic-user").clone();
        role["rules"] = json!([own]);
        objects.put(role.clone());
        let mut binding = named(&default_objects(), "clusterrolebindings", "system:discovery").clone();
        binding["subjects"] = json!([{"kind": "User", "name": "me", "apiGroup": GROUP}]);
        objects.put(binding.clone());
        let mut moved = named(&default_objects(), "clusterrolebindings", "system:kube-dns").clone();
        moved["roleRef"]["name"] = "other".into();
        objects.put(moved);

        let writes = plan_reconcile(&*objects);
        let outcome: Vec<(Action, &str)> = writes.iter().map(|w| (w.action, w.name.as_str())).collect();
        assert_eq!(
            outcome,
            [
                (Action::Update, "system:basic-user"),
                (Action::Update, "system:discovery"),
                (Action::Replace, "system:kube-dns")
            ]
        );
        assert_eq!(writes[0].object["rules"][0], own);
        assert_eq!(writes[0].object["rules"].as_array().map(Vec::len), Some(4));
        assert_eq!(writes[1].object["subjects"].as_array().map(Vec::len), Some(2));

        role.meta_mut().insert("annotations".into(), json!({AUTOUPDATE: "false"}));
        objects.put(role);
        assert!(plan_reconcile(&*objects).iter().all(|write| write.name != "system:basic-user"), "protected");
    }
}
