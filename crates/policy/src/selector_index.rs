//! Selectors found by the labels that they may match, so that a pod is held against a few of
//! them and not against all. Used by `state.rs` for the policies of a namespace and by
//! `group.rs` for the groups that reach into one.

use std::collections::{BTreeSet, HashMap};

use ferry_api::selector::{Operator, Selector};
use ferry_api::view::Map;

#[derive(Debug)]
pub(crate) struct SelectorIndex<T> {
    places: HashMap<String, BTreeSet<T>>,
}

impl<T> Default for SelectorIndex<T> {
    fn default() -> Self {
        SelectorIndex { places: HashMap::new() }
    }
}

impl<T: Ord + Clone> SelectorIndex<T> {
    pub(crate) fn insert(&mut self, selector: &Selector, owner: &T) {
        for place in places(selector) {
            self.places.entry(place).or_default().insert(owner.clone());
        }
    }

    pub(crate) fn remove(&mut self, selector: &Selector, owner: &T) {
        for place in places(selector) {
            if let Some(owners) = self.places.get_mut(&place) {
                owners.remove(owner);
                if owners.is_empty() {
                    self.places.remove(&place);
                }
            }
        }
    }

    /// Every owner, those of several places more than once.
    pub(crate) fn owners(&self) -> impl Iterator<Item = T> {
        self.places.values().flatten().cloned()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The owners of the selectors that may match; the caller judges the whole selector.
    pub(crate) fn candidates(&self, labels: Map<'_, &str>) -> BTreeSet<T> {
        let mut found: BTreeSet<T> = self.places.get("").into_iter().flatten().cloned().collect();
        for (name, value) in labels.iter() {
            let places = [self.places.get(&pair(name, value)), self.places.get(name)];
            found.extend(places.into_iter().flatten().flatten().cloned());
        }
        found
    }
}

fn pair(name: &str, value: &str) -> String {
    format!("{name}={value}")
}

/// The places of which labels that match have one at least: a value that the selector asks for,
/// the values of which it asks for one, a label that it asks for; failing these, the place of
/// everything.
fn places(selector: &Selector) -> Vec<String> {
    if selector.is_nothing() {
        return Vec::new();
    }
    let valued = |operator| matches!(operator, Operator::Equals | Operator::DoubleEquals | Operator::In);
    let requirements = selector.requirements();
    let fewest = requirements.iter().filter(|one| valued(one.operator)).min_by_key(|one| one.values.len());
    if let Some(one) = fewest {
        return one.values.iter().map(|value| pair(&one.key, value)).collect();
    }
    let named = requirements.iter().find(|one| one.operator == Operator::Exists);
    vec![named.map_or_else(String::new, |one| one.key.clone())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::meta::v1::ObjectMetaView;
    use serde_json::json;

    #[test]
    fn a_selector_is_found_by_labels_that_it_may_match() {
        let mut index = SelectorIndex::default();
        let selectors = ["app=web", "app in (web,db)", "rack", "app!=web", "app=web,rack", ""];
        for text in selectors {
            index.insert(&Selector::parse(text).expect("a selector"), &text);
        }
        let found = |labels| {
            let meta = json!({"labels": labels});
            index.candidates(ObjectMetaView::from(&meta).labels()).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(found(json!({"app": "web"})), ["", "app in (web,db)", "app!=web", "app=web", "app=web,rack"]);
        assert_eq!(found(json!({"app": "db", "rack": "7"})), ["", "app in (web,db)", "app!=web", "rack"]);
        assert_eq!(found(json!({})), ["", "app!=web"]);
        for text in selectors {
            index.remove(&Selector::parse(text).expect("a selector"), &text);
        }
        assert!(index.is_empty());
    }
}
