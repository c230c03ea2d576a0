//! The nodes that events have named since a set was last reconciled. Filled by the watches of
//! mod.rs, and emptied by each reconcile.

use super::{controlling_set, node::Criteria, node::Fit, pod};
use crate::label_index::may_select;
use crate::runner::Key;
use ferry_api::rules::owner::controller_of;
use ferry_api::view::apps::v1::DaemonSet;
use ferry_api::view::core::v1::{Node, Pod};
use ferry_client::{Event, Informer, SharedObject};
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};

#[derive(Default)]
pub(super) struct ChangedNodes(Mutex<HashMap<Key, Changed>>);

/// The changes of one set's nodes.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Changed {
    nodes: BTreeSet<String>,
    /// Something happened that is about no node in particular.
    is_all: bool,
}

impl Changed {
    /// The nodes to look at; `None` for all of them.
    pub(super) fn nodes(self) -> Option<BTreeSet<String>> {
        (!self.is_all).then_some(self.nodes)
    }
}

impl ChangedNodes {
    pub(super) fn take(&self, set: &Key) -> Changed {
        self.0.lock().remove(set).unwrap_or_default()
    }

    fn note(&self, set: Key, node: Option<&str>) {
        let mut changed = self.0.lock();
        let entry = changed.entry(set).or_default();
        match node {
            Some(node) => drop(entry.nodes.insert(node.to_owned())),
            None => entry.is_all = true,
        }
    }

    /// A pod names its node to its set. One that has no owner may be adopted, and then any node
    /// may be its own.
    pub(super) fn observe_pod(&self, event: &Event<Pod>, sets: &Informer<DaemonSet>) {
        let (old, new) = event.versions();
        for pod in old.into_iter().chain(new) {
            if let Some(key) = controlling_set(pod.meta()) {
                self.note(key, pod::target_node(pod.view()));
            }
        }
        if let Some(orphan) = new.filter(|pod| controller_of(pod.meta()).is_none()) {
            for set in may_select(sets, orphan.namespace(), orphan.meta().labels()) {
                self.note(Key::of(set.meta()), None);
            }
        }
    }

    /// A node that comes or goes is named to every set, and one that is labelled or tainted
    /// otherwise to those that judge it otherwise.
    pub(super) fn observe_node(&self, event: &Event<Node>, sets: &Informer<DaemonSet>) {
        let (old, new) = event.versions();
        if let (Some(old), Some(new)) = (old, new)
            && old.meta().labels() == new.meta().labels()
            && old.view().spec().taints() == new.view().spec().taints()
        {
            return;
        }
        let mut concerned = Vec::new();
        sets.for_each(|set| {
            let criteria = Criteria::of(set.view().spec().template());
            let fit = |node: Option<&SharedObject<Node>>| node.map_or(Fit::NONE, |node| criteria.judge(node.view()));
            if old.is_none() || new.is_none() || fit(old) != fit(new) {
                concerned.push(Key::of(set.meta()));
            }
        });
        concerned.into_iter().for_each(|key| self.note(key, Some(event.object().name())));
    }
}
