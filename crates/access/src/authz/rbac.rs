//! RBAC from memory: roles and bindings, indexed by who they are bound to, so that a
//! check looks only at the bindings of the user and of the user's groups. The index is
//! fed change by change and never scans.

use super::rule::{CompiledRule, PolicyRule, verb_bit};
use super::{Attributes, Decision};
use crate::authn::UserInfo;
use crate::authn::user::service_account_user;
use ferry_api::object::Meta;
use ferry_cache::Stored;
use ferry_cache::lookup::{Change, ObjectLookup};
use parking_lot::RwLock;
use serde_json::Value;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

pub(super) const GROUP: &str = "rbac.authorization.k8s.io";

type Rules = Arc<[CompiledRule]>;

/// Everything RBAC knows.
#[derive(Default)]
pub struct RbacIndex {
    state: RwLock<State>,
}

/// Namespaced things are under their namespace, cluster-wide ones under `""`.
#[derive(Default)]
struct State {
    roles: HashMap<String, HashMap<String, Rules>>,
    bindings: HashMap<String, Bindings>,
}

/// The bindings of one scope, and the same by subject, each list in order of name.
#[derive(Default)]
struct Bindings {
    by_name: HashMap<String, Arc<Binding>>,
    by_user: HashMap<String, Vec<Arc<Binding>>>,
    by_group: HashMap<String, Vec<Arc<Binding>>>,
}

#[derive(Debug)]
struct Binding {
    namespace: String,
    name: String,
    role_kind: String,
    role: String,
    subjects: Vec<Subject>,
}

#[derive(Debug)]
struct Subject {
    /// `User`, `Group` or `ServiceAccount`.
    kind: String,
    name: String,
    namespace: String,
    /// The user or group name that it stands for.
    matches: String,
}

impl RbacIndex {
    /// An index that follows the four kinds.
    pub(super) fn follow(lookup: &dyn ObjectLookup) -> Arc<Self> {
        let index = Arc::new(Self::default());
        for plural in ["clusterroles", "roles", "clusterrolebindings", "rolebindings"] {
            let index = index.clone();
            let observer = Box::new(move |change: &Change| index.observe(plural, change));
            lookup.subscribe(GROUP, plural, observer);
        }
        index
    }

    fn observe(&self, plural: &str, change: &Change) {
        let scope = |stored: &Stored| match plural {
            "roles" | "rolebindings" => stored.namespace().to_owned(),
            _ => String::new(),
        };
        let is_role = matches!(plural, "roles" | "clusterroles");
        match change {
            Change::Put(stored) => {
                let (namespace, object) = (scope(stored), stored.value());
                if is_role {
                    self.put_role(namespace, stored.name(), &object);
                } else {
                    self.put_binding(namespace, stored.name(), &object);
                }
            }
            Change::Delete(stored) => {
                let mut state = self.state.write();
                if is_role {
                    if let Some(roles) = state.roles.get_mut(&scope(stored)) {
                        roles.remove(stored.name());
                    }
                } else if let Some(bindings) = state.bindings.get_mut(&scope(stored)) {
                    bindings.remove(stored.name());
                }
            }
        }
    }

    fn put_role(&self, namespace: String, name: &str, object: &Value) {
        let rules: Rules = PolicyRule::list_from(object).into_iter().map(CompiledRule::new).collect();
        self.state.write().roles.entry(namespace).or_default().insert(name.to_owned(), rules);
    }

    fn put_binding(&self, namespace: String, name: &str, object: &Value) {
        let subjects = object.items_at(&["subjects"]).iter().filter_map(|value| Subject::from_value(value, &namespace));
        let binding = Arc::new(Binding {
            name: name.to_owned(),
            role_kind: object.str_at(&["roleRef", "kind"]).to_owned(),
            role: object.str_at(&["roleRef", "name"]).to_owned(),
            subjects: subjects.collect(),
            namespace: namespace.clone(),
        });
        self.state.write().bindings.entry(namespace).or_default().put(binding);
    }

    /// Allows, or has no opinion; RBAC never denies. The reason of no opinion names the
    /// roles that bindings refer to in vain.
    pub(super) fn authorize(&self, attributes: &Attributes<'_>) -> Decision {
        let bit = verb_bit(attributes.verb);
        let state = self.state.read();
        let mut reason = String::new();
        let found = state.visit(attributes.user, attributes.namespace, |binding, subject, rules| {
            if rules.is_some_and(|rules| rules.iter().any(|rule| rule.allows(attributes, bit))) {
                reason = format!("RBAC: allowed by {}", binding.describe(subject));
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        if found {
            return Decision::Allow { reason };
        }
        let mut missing: Vec<String> = Vec::new();
        state.visit(attributes.user, attributes.namespace, |binding, _, rules| {
            if rules.is_none() {
                let text = binding.missing_role();
                if !missing.contains(&text) {
                    missing.push(text);
                }
            }
            ControlFlow::Continue(())
        });
        Decision::no_opinion(match missing.as_slice() {
            [] => String::new(),
            [one] => format!("RBAC: {one}"),
            many => format!("RBAC: [{}]", many.join(", ")),
        })
    }

    /// Every rule that holds for the user in the namespace (`""`: cluster-wide only).
    pub fn rules_for(&self, user: &UserInfo, namespace: &str) -> Vec<PolicyRule> {
        let mut out = Vec::new();
        let mut seen: Vec<(String, String)> = Vec::new();
        self.state.read().visit(user, namespace, |binding, _, rules| {
            // A binding may be met by the user's name and again by a group.
            let key = (binding.namespace.clone(), binding.name.clone());
            if !seen.contains(&key) {
                seen.push(key);
                out.extend(rules.into_iter().flat_map(|rules| rules.iter()).map(|compiled| compiled.rule.clone()));
            }
            ControlFlow::Continue(())
        });
        out
    }

    /// The rules of the role that a binding in `namespace` refers to.
    pub fn role_rules(&self, kind: &str, name: &str, namespace: &str) -> Option<Vec<PolicyRule>> {
        let state = self.state.read();
        let rules = state.role(kind, name, namespace)?;
        Some(rules.iter().map(|compiled| compiled.rule.clone()).collect())
    }
}

impl State {
    fn role(&self, kind: &str, name: &str, namespace: &str) -> Option<&Rules> {
        let scope = match kind {
            "ClusterRole" => "",
            "Role" if !namespace.is_empty() => namespace,
            _ => return None,
        };
        self.roles.get(scope)?.get(name)
    }

    /// Calls `visit` for each binding of the user, cluster-wide ones first. Gives whether
    /// it was told to stop.
    fn visit(
        &self,
        user: &UserInfo,
        namespace: &str,
        mut visit: impl FnMut(&Binding, &Subject, Option<&Rules>) -> ControlFlow<()>,
    ) -> bool {
        let scopes = [Some(""), Some(namespace).filter(|namespace| !namespace.is_empty())];
        for bindings in scopes.into_iter().flatten().filter_map(|scope| self.bindings.get(scope)) {
            let by_user = bindings.by_user.get(&user.name).map(|list| (user.name.as_str(), false, list));
            let by_group = user.groups.iter().filter_map(|g| Some((g.as_str(), true, bindings.by_group.get(g)?)));
            for (matched, is_group, list) in by_user.into_iter().chain(by_group) {
                for binding in list {
                    let Some(subject) =
                        binding.subjects.iter().find(|s| s.is_group() == is_group && s.matches == matched)
                    else {
                        continue;
                    };
                    let rules = self.role(&binding.role_kind, &binding.role, &binding.namespace);
                    if visit(binding, subject, rules).is_break() {
                        return true;
                    }
                }
            }
        }
        false
    }
}

impl Bindings {
    fn put(&mut self, binding: Arc<Binding>) {
        self.remove(&binding.name);
        for subject in &binding.subjects {
            let index = if subject.is_group() { &mut self.by_group } else { &mut self.by_user };
            let list = index.entry(subject.matches.clone()).or_default();
            if let Err(at) = list.binary_search_by(|other| other.name.cmp(&binding.name)) {
                list.insert(at, binding.clone());
            }
        }
        self.by_name.insert(binding.name.clone(), binding);
    }

    fn remove(&mut self, name: &str) {
        let Some(binding) = self.by_name.remove(name) else { return };
        for subject in &binding.subjects {
            let index = if subject.is_group() { &mut self.by_group } else { &mut self.by_user };
            if let Some(list) = index.get_mut(&subject.matches) {
                list.retain(|other| other.name != name);
                if list.is_empty() {
                    index.remove(&subject.matches);
                }
            }
        }
    }
}

impl Binding {
    fn describe(&self, subject: &Subject) -> String {
        let who = match subject.kind.as_str() {
            "ServiceAccount" => format!("{:?}", format!("{}/{}", subject.name, subject.namespace)),
            _ => format!("{:?}", subject.name),
        };
        let (kind, name) = match self.namespace.as_str() {
            "" => ("ClusterRoleBinding", self.name.clone()),
            namespace => ("RoleBinding", format!("{}/{namespace}", self.name)),
        };
        format!("{kind} {name:?} of {} {:?} to {} {who}", self.role_kind, self.role, subject.kind)
    }

    fn missing_role(&self) -> String {
        match self.role_kind.as_str() {
            "ClusterRole" | "Role" => {
                format!("{}.{GROUP} {:?} not found", self.role_kind.to_ascii_lowercase(), self.role)
            }
            other => format!("unsupported role reference kind: {other:?}"),
        }
    }
}

impl Subject {
    /// `None` for a subject that can match nobody.
    fn from_value(value: &Value, binding_namespace: &str) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        let (kind, name) = (text("kind"), text("name"));
        let mut namespace = text("namespace");
        let matches = match kind {
            "User" | "Group" => name.to_owned(),
            "ServiceAccount" => {
                // A role binding may leave out the namespace of an account beside it.
                if namespace.is_empty() {
                    namespace = binding_namespace;
                }
                if namespace.is_empty() {
                    return None;
                }
                service_account_user(namespace, name)
            }
            _ => return None,
        };
        Some(Self { kind: kind.to_owned(), name: name.to_owned(), namespace: namespace.to_owned(), matches })
    }

    fn is_group(&self) -> bool {
        self.kind == "Group"
    }
}
