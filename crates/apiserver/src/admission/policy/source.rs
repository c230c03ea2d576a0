//! The policies that hold: every policy that a binding names, with its bindings, kept up
//! to date from the objects in memory. A policy is compiled when it is first asked, once
//! for as long as its spec stays (upstream's policy/generic/policy_source.go).

use super::params::{ParamRef, param_kind};
use crate::admission::matching::Criteria;
use crate::registry::lookup::{Change, ObjectLookup};
use arc_swap::ArcSwap;
use ferry_api::gvk::GroupVersionKind;
use ferry_api::object::Meta;
use ferry_resources::read::Read;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

pub(super) const GROUP: &str = "admissionregistration.k8s.io";

/// A policy, with what it was compiled to.
pub(super) struct Policy<C> {
    pub name: String,
    pub spec: Value,
    pub constraints: Criteria,
    pub param_kind: Option<GroupVersionKind>,
    /// Whether errors refuse the request, which they do unless the policy says otherwise.
    pub fails: bool,
    compile: fn(&Value) -> C,
    compiled: OnceLock<C>,
}

impl<C> Policy<C> {
    fn new(policy: &Value, compile: fn(&Value) -> C) -> Self {
        let spec = policy.get("spec").cloned().unwrap_or_default();
        Self {
            name: policy.name().to_owned(),
            constraints: Criteria::of_match_resources(spec.field("matchConstraints")),
            param_kind: param_kind(&spec),
            fails: spec.text("failurePolicy") != "Ignore",
            spec,
            compile,
            compiled: OnceLock::new(),
        }
    }

    pub(super) fn compiled(&self) -> &C {
        self.compiled.get_or_init(|| (self.compile)(&self.spec))
    }
}

pub(super) struct Binding {
    pub name: String,
    pub policy_name: String,
    /// None matches whatever the policy does.
    pub resources: Option<Criteria>,
    pub params: Option<ParamRef>,
    pub actions: Vec<String>,
}

impl Binding {
    fn new(binding: &Value) -> Self {
        let spec = binding.field("spec");
        Self {
            name: binding.name().to_owned(),
            policy_name: spec.text("policyName").to_owned(),
            resources: spec.field("matchResources").map(|resources| Criteria::of_match_resources(Some(resources))),
            params: spec.field("paramRef").map(ParamRef::of),
            actions: spec.texts("validationActions").map(str::to_owned).collect(),
        }
    }
}

/// A policy and the bindings that name it.
pub(super) struct Hook<C> {
    pub policy: Arc<Policy<C>>,
    pub bindings: Vec<Arc<Binding>>,
}

/// All hooks, in the order of the policies' names.
pub(super) struct Source<C> {
    known: Mutex<Known<C>>,
    hooks: ArcSwap<Vec<Hook<C>>>,
}

struct Known<C> {
    policies: BTreeMap<String, Arc<Policy<C>>>,
    bindings: BTreeMap<String, Arc<Binding>>,
}

impl<C: Send + Sync + 'static> Source<C> {
    /// Follows the policies and bindings of these resources.
    pub(super) fn follow(
        lookup: &dyn ObjectLookup,
        policies: &str,
        bindings: &str,
        compile: fn(&Value) -> C,
    ) -> Arc<Self> {
        let known = Known { policies: BTreeMap::new(), bindings: BTreeMap::new() };
        let source = Arc::new(Self { known: Mutex::new(known), hooks: ArcSwap::default() });
        let own = source.clone();
        lookup.subscribe(
            GROUP,
            policies,
            Box::new(move |change| own.change(|known| known.change_policy(change, compile))),
        );
        let own = source.clone();
        lookup.subscribe(GROUP, bindings, Box::new(move |change| own.change(|known| known.change_binding(change))));
        source
    }

    /// The hooks as of now; empty in most clusters, and then nothing else is looked at.
    pub(super) fn hooks(&self) -> arc_swap::Guard<Arc<Vec<Hook<C>>>> {
        self.hooks.load()
    }

    fn change(&self, change: impl FnOnce(&mut Known<C>)) {
        let mut known = self.known.lock();
        change(&mut known);
        self.hooks.store(Arc::new(known.hooks()));
    }
}

impl<C> Known<C> {
    fn change_policy(&mut self, change: &Change, compile: fn(&Value) -> C) {
        match change {
            Change::Put(stored) => {
                let object = stored.value();
                // A new status or label leaves the policy as it was compiled.
                let same = self.policies.get(object.name()).is_some_and(|old| Some(&old.spec) == object.get("spec"));
                if !same {
                    self.policies.insert(object.name().to_owned(), Arc::new(Policy::new(&object, compile)));
                }
            }
            Change::Delete(stored) => {
                self.policies.remove(stored.name());
            }
        }
    }

    fn change_binding(&mut self, change: &Change) {
        match change {
            Change::Put(stored) => {
                let object = stored.value();
                self.bindings.insert(object.name().to_owned(), Arc::new(Binding::new(&object)));
            }
            Change::Delete(stored) => {
                self.bindings.remove(stored.name());
            }
        }
    }

    /// A policy without bindings does nothing, and so does a binding without its policy.
    fn hooks(&self) -> Vec<Hook<C>> {
        let mut by_policy: BTreeMap<&str, Vec<Arc<Binding>>> = BTreeMap::new();
        for binding in self.bindings.values() {
            by_policy.entry(&binding.policy_name).or_default().push(binding.clone());
        }
        let hooks = by_policy.into_iter().filter_map(|(name, bindings)| {
            let policy = self.policies.get(name)?.clone();
            Some(Hook { policy, bindings })
        });
        hooks.collect()
    }
}
