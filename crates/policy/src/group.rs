//! Groups of peers: the pods that one `namespaceSelector` and `podSelector` mean together.
//! Policies that name the same pods share a group, and so one set of addresses. Kept by
//! `state.rs`.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use ferry_api::rules::key::ObjectKey;
use ferry_api::selector::Selector;
use ferry_api::view::Map;
use ferry_api::view::core::v1::Namespace;
use ferry_client::{Informer, labels};

use crate::selector_index::SelectorIndex;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// A peer without a `namespaceSelector` means its policy's own namespace.
    Namespace(String),
    Selected(Selector),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupKey {
    pub(crate) scope: Scope,
    pub(crate) pods: Selector,
}

impl GroupKey {
    /// Equal for peers that mean the same.
    fn text(&self) -> String {
        let selector = |selector: &Selector| if selector.is_nothing() { "!".to_owned() } else { selector.to_string() };
        match &self.scope {
            Scope::Namespace(name) => format!("{name}|{}", selector(&self.pods)),
            Scope::Selected(namespaces) => format!("{{{}}}|{}", selector(namespaces), selector(&self.pods)),
        }
    }
}

/// A group's number is never used again, and so no set of that name.
pub(crate) type GroupId = u64;

#[derive(Debug)]
pub(crate) struct Group {
    key: GroupKey,
    /// The rules that name it.
    uses: usize,
    pub(crate) namespaces: BTreeSet<String>,
    pub(crate) members: HashSet<Arc<ObjectKey>>,
}

#[derive(Debug, Default)]
pub(crate) struct Groups {
    by_text: HashMap<String, GroupId>,
    all: HashMap<GroupId, Group>,
    /// By namespace: the groups that reach into it, by the pods they select.
    reaching: HashMap<String, SelectorIndex<GroupId>>,
    /// Those that select namespaces.
    selecting: SelectorIndex<GroupId>,
    last: GroupId,
}

impl Groups {
    pub(crate) fn id(&self, key: &GroupKey) -> Option<GroupId> {
        self.by_text.get(&key.text()).copied()
    }

    pub(crate) fn get(&self, id: GroupId) -> Option<&Group> {
        self.all.get(&id)
    }

    /// Counts one more use. Returns the group's number if it is a new one, whose pods are to be
    /// looked at.
    pub(crate) fn acquire(&mut self, key: &GroupKey, namespaces: &Informer<Namespace>) -> Option<GroupId> {
        let text = key.text();
        if let Some(group) = self.by_text.get(&text).and_then(|id| self.all.get_mut(id)) {
            group.uses += 1;
            return None;
        }
        self.last += 1;
        let id = self.last;
        let reached = match &key.scope {
            Scope::Namespace(name) => BTreeSet::from([name.clone()]),
            Scope::Selected(selector) => {
                self.selecting.insert(selector, &id);
                let found = labels::selected(namespaces, "", selector);
                found.iter().map(|namespace| namespace.name().to_owned()).collect()
            }
        };
        for namespace in &reached {
            self.reaching.entry(namespace.clone()).or_default().insert(&key.pods, &id);
        }
        self.by_text.insert(text, id);
        self.all.insert(id, Group { key: key.clone(), uses: 1, namespaces: reached, members: HashSet::new() });
        Some(id)
    }

    /// Counts one use less. Returns the group that nobody names any more.
    pub(crate) fn release(&mut self, key: &GroupKey) -> Option<(GroupId, Group)> {
        let text = key.text();
        let id = *self.by_text.get(&text)?;
        let group = self.all.get_mut(&id)?;
        group.uses -= 1;
        if group.uses > 0 {
            return None;
        }
        self.by_text.remove(&text);
        let group = self.all.remove(&id)?;
        if let Scope::Selected(selector) = &group.key.scope {
            self.selecting.remove(selector, &id);
        }
        for namespace in &group.namespaces {
            self.leave(namespace, &group.key.pods, id);
        }
        Some((id, group))
    }

    fn leave(&mut self, namespace: &str, pods: &Selector, id: GroupId) {
        if let Some(index) = self.reaching.get_mut(namespace) {
            index.remove(pods, &id);
            if index.is_empty() {
                self.reaching.remove(namespace);
            }
        }
    }

    /// Brings a namespace's groups up to date with its labels; `None` if it is gone. Returns
    /// whether they have changed.
    pub(crate) fn relabel(&mut self, namespace: &str, labels: Option<Map<'_, &str>>) -> bool {
        let candidates = labels.map(|labels| self.selecting.candidates(labels)).unwrap_or_default();
        let reaches = |group: &Group| match (&group.key.scope, labels) {
            (Scope::Selected(selector), Some(labels)) => selector.matches_with(|name| labels.get(name)),
            _ => false,
        };
        let wanted: BTreeSet<GroupId> =
            candidates.into_iter().filter(|id| self.all.get(id).is_some_and(reaches)).collect();
        let mut changed = false;
        let ids: Vec<GroupId> = self.reached_by_selector(namespace).chain(wanted.iter().copied()).collect();
        for id in ids {
            let Some(group) = self.all.get_mut(&id) else { continue };
            let (is, should) = (group.namespaces.contains(namespace), wanted.contains(&id));
            let pods = group.key.pods.clone();
            if is && !should {
                group.namespaces.remove(namespace);
                self.leave(namespace, &pods, id);
                changed = true;
            } else if should && !is {
                group.namespaces.insert(namespace.to_owned());
                self.reaching.entry(namespace.to_owned()).or_default().insert(&pods, &id);
                changed = true;
            }
        }
        changed
    }

    fn reached_by_selector<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = GroupId> + 'a {
        let ids = self.reaching.get(namespace).into_iter().flat_map(SelectorIndex::owners);
        ids.filter(|id| self.all.get(id).is_some_and(|group| matches!(group.key.scope, Scope::Selected(_))))
    }

    /// The groups that a pod with these labels belongs to.
    pub(crate) fn of_pod(&self, namespace: &str, labels: Map<'_, &str>) -> BTreeSet<GroupId> {
        let Some(index) = self.reaching.get(namespace) else { return BTreeSet::new() };
        let mut found = index.candidates(labels);
        found.retain(|id| self.all.get(id).is_some_and(|group| group.key.pods.matches_with(|name| labels.get(name))));
        found
    }

    pub(crate) fn join(&mut self, id: GroupId, pod: &Arc<ObjectKey>) {
        if let Some(group) = self.all.get_mut(&id) {
            group.members.insert(Arc::clone(pod));
        }
    }

    pub(crate) fn part(&mut self, id: GroupId, pod: &Arc<ObjectKey>) {
        if let Some(group) = self.all.get_mut(&id) {
            group.members.remove(pod);
        }
    }

    /// The selector of a group's pods.
    pub(crate) fn pods(&self, id: GroupId) -> Option<&Selector> {
        self.all.get(&id).map(|group| &group.key.pods)
    }
}
