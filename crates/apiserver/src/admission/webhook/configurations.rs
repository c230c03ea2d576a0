//! The webhook configurations of the cluster, compiled when they change and shared by all
//! writes: with none, a write costs one look at an empty list.

use super::super::cel::MatchConditions;
use super::super::matching::Criteria;
use crate::registry::lookup::{Change, ObjectLookup};
use crate::webhook::Hook;
use arc_swap::ArcSwap;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// One entry of `webhooks`.
pub(super) struct Webhook {
    /// Unique in the cluster, for what is remembered between rounds.
    pub id: String,
    pub configuration: String,
    pub name: String,
    pub criteria: Criteria,
    pub conditions: MatchConditions,
    /// Whether a hook that cannot be asked is passed over.
    pub fails_open: bool,
    pub has_side_effects: bool,
    pub is_reinvoked: bool,
    pub timeout: Duration,
    pub review_versions: Vec<String>,
    client_config: Value,
    /// Made when it is first needed: reading authorities is nothing for the path on which
    /// changes are observed.
    client: OnceLock<Result<Hook, String>>,
}

impl Webhook {
    pub(super) fn of(configuration: &str, id: String, hook: &Value) -> Self {
        Self {
            id,
            configuration: configuration.to_owned(),
            name: hook.str_at(&["name"]).to_owned(),
            criteria: Criteria::of_webhook(hook),
            conditions: MatchConditions::of_webhook(hook.items_at(&["matchConditions"])),
            fails_open: hook.str_at(&["failurePolicy"]) == "Ignore",
            has_side_effects: !matches!(hook.str_at(&["sideEffects"]), "None" | "NoneOnDryRun"),
            is_reinvoked: hook.str_at(&["reinvocationPolicy"]) == "IfNeeded",
            timeout: match hook.i64_at(&["timeoutSeconds"]).and_then(|seconds| u64::try_from(seconds).ok()) {
                Some(seconds) => Duration::from_secs(seconds),
                None => crate::webhook::DEFAULT_TIMEOUT,
            },
            review_versions: hook
                .items_at(&["admissionReviewVersions"])
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            client_config: hook.get("clientConfig").cloned().unwrap_or(Value::Null),
            client: OnceLock::new(),
        }
    }

    pub(super) fn client(&self, lookup: &Arc<dyn ObjectLookup>) -> Result<&Hook, &str> {
        let made = self.client.get_or_init(|| {
            Hook::from_client_config(&self.client_config, lookup.clone()).map_err(|error| error.to_string())
        });
        made.as_ref().map_err(String::as_str)
    }

    /// The answer to a write whose hook could not be asked.
    pub(super) fn failed(&self, why: &str) -> Status {
        Status::internal(format!("failed calling webhook {:?}: {why}", self.name))
    }
}

#[derive(Default)]
pub(super) struct Configurations {
    by_name: Mutex<BTreeMap<String, Vec<Arc<Webhook>>>>,
    /// All of them in the order in which they are asked: configurations by name.
    hooks: ArcSwap<Vec<Arc<Webhook>>>,
}

impl Configurations {
    /// All configurations of a kind, kept in step with what is stored.
    pub(super) fn subscribed(plural: &str, lookup: &dyn ObjectLookup) -> Arc<Self> {
        let configurations = Arc::new(Self::default());
        // The observer lives as long as the cache does; hooks keep the cache alive through
        // their lookup, so the observer must not keep the hooks.
        let weak = Arc::downgrade(&configurations);
        let observer = move |change: &Change| {
            let Some(configurations) = weak.upgrade() else { return };
            match change {
                Change::Put(stored) => configurations.put(stored.name(), &stored.value()),
                Change::Delete(stored) => configurations.remove(stored.name()),
            }
        };
        lookup.subscribe("admissionregistration.k8s.io", plural, Box::new(observer));
        configurations
    }

    pub(super) fn is_empty(&self) -> bool {
        self.hooks.load().is_empty()
    }

    pub(super) fn hooks(&self) -> Arc<Vec<Arc<Webhook>>> {
        self.hooks.load_full()
    }

    fn put(&self, name: &str, configuration: &Value) {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let compile = |hook: &'_ Value, count: usize| {
            let id = format!("{name}/{}/{count}", hook.str_at(&["name"]));
            Arc::new(Webhook::of(name, id, hook))
        };
        let mut hooks = Vec::new();
        for hook in configuration.items_at(&["webhooks"]) {
            let count = seen.entry(hook.str_at(&["name"])).or_default();
            hooks.push(compile(hook, *count));
            *count += 1;
        }
        let mut by_name = self.by_name.lock();
        by_name.insert(name.to_owned(), hooks);
        self.publish(&by_name);
    }

    fn remove(&self, name: &str) {
        let mut by_name = self.by_name.lock();
        by_name.remove(name);
        self.publish(&by_name);
    }

    fn publish(&self, by_name: &BTreeMap<String, Vec<Arc<Webhook>>>) {
        self.hooks.store(Arc::new(by_name.values().flatten().cloned().collect()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hooks_are_asked_by_the_names_of_their_configurations() {
        let configurations = Configurations::default();
        assert!(configurations.is_empty());
        configurations.put("b", &json!({"webhooks": [{"name": "x"}, {"name": "x"}]}));
        configurations.put("a", &json!({"webhooks": [{"name": "z"}, {"name": "y"}]}));
        let ids = || configurations.hooks().iter().map(|hook| hook.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(), ["a/z/0", "a/y/0", "b/x/0", "b/x/1"]);
        configurations.put("a", &json!({"webhooks": [{"name": "y"}]}));
        configurations.remove("b");
        assert_eq!(ids(), ["a/y/0"]);
    }
}
