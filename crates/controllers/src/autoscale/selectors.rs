//! The pods that each autoscaler scales by, so that two autoscalers of the same pods are
//! found out: they would undo each other's work. An autoscaler is found by one pair of labels
//! that its target's selector wants, so that a pod asks once for each of its labels.

use crate::label_index::{exact_pairs, pair, unpaired};
use crate::runner::Key;
use ferry_api::selector::Selector;
use ferry_api::view::core::v1::Pod;
use ferry_client::SharedObject;
use std::collections::{BTreeSet, HashMap};

#[derive(Default)]
pub(super) struct SelectorIndex {
    selectors: HashMap<Key, (String, Selector)>,
    by_pair: HashMap<String, BTreeSet<Key>>,
}

impl SelectorIndex {
    pub(super) fn put(&mut self, key: &Key, selector: &Selector) {
        if self.selectors.get(key).is_some_and(|(_, known)| known == selector) {
            return;
        }
        self.remove(key);
        let best = exact_pairs(selector).next();
        let place = best.map_or_else(|| unpaired(&key.namespace), |(name, value)| pair(&key.namespace, name, value));
        self.by_pair.entry(place.clone()).or_default().insert(key.clone());
        self.selectors.insert(key.clone(), (place, selector.clone()));
    }

    pub(super) fn remove(&mut self, key: &Key) {
        let Some((place, _)) = self.selectors.remove(key) else { return };
        if let Some(keys) = self.by_pair.get_mut(&place) {
            keys.remove(key);
            if keys.is_empty() {
                self.by_pair.remove(&place);
            }
        }
    }

    /// The autoscalers that scale by some of these pods of one namespace.
    pub(super) fn selecting(&self, namespace: &str, pods: &[SharedObject<Pod>]) -> BTreeSet<Key> {
        let mut found = BTreeSet::new();
        let everywhere = unpaired(namespace);
        for pod in pods {
            let labels = pod.meta().labels();
            let places = labels.iter().map(|(name, value)| pair(namespace, name, value)).chain([everywhere.clone()]);
            for key in places.filter_map(|place| self.by_pair.get(&place)).flatten() {
                let selects =
                    self.selectors.get(key).is_some_and(|(_, selector)| selector.matches_with(|name| labels.get(name)));
                if selects {
                    found.insert(key.clone());
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn autoscalers_of_the_same_pods_find_each_other() {
        let mut index = SelectorIndex::default();
        let put = |index: &mut SelectorIndex, name: &str, selector: &str| {
            index.put(&Key::new("ns", name), &Selector::parse(selector).expect("a selector"));
        };
        let pods = [SharedObject::<Pod>::of(
            json!({"metadata": {"namespace": "ns", "name": "p", "labels": {"app": "web", "tier": "a"}}}),
        )];
        let check = |index: &SelectorIndex, expected: &[&str]| {
            let found = index.selecting("ns", &pods);
            let names: Vec<&str> = found.iter().map(|key| key.name.as_str()).collect();
            assert_eq!(names, expected);
            assert!(index.selecting("other", &pods).is_empty());
        };
        put(&mut index, "web", "app=web");
        put(&mut index, "db", "app=db");
        check(&index, &["web"]);
        put(&mut index, "tier", "app,tier in (a)");
        put(&mut index, "any", "app!=db");
        check(&index, &["any", "tier", "web"]);
        put(&mut index, "web", "app=other");
        index.remove(&Key::new("ns", "any"));
        check(&index, &["tier"]);
    }
}
