//! Who owns whom, over every kind: built from watches, asked by the collector.
//!
//! **Invariant:** the graph only says where to look. Nothing is deleted on its word; the
//! collector asks the API for each owner before it acts.
//!
//! A node shares the document that the informer of its kind holds, so an object's metadata
//! are in memory once.

use super::Kind;
use ferry_api::view::meta::v1::{ObjectMetaView, OwnerReferenceView, PartialObjectMetadata};
use ferry_client::{Event, SharedObject};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub(super) const FOREGROUND: &str = "foregroundDeletion";
pub(super) const ORPHAN: &str = "orphan";

pub(super) type Uid = Arc<str>;

/// An object as it was last seen.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub kind: Arc<Kind>,
    object: SharedObject<PartialObjectMetadata>,
}

#[derive(Default)]
pub(super) struct Graph {
    nodes: HashMap<Uid, Node>,
    /// By the owner's uid, whether the owner was seen or not.
    dependents: HashMap<Uid, HashSet<Uid>>,
}

impl Graph {
    /// Takes an event in and returns the objects to look at because of it.
    pub(super) fn observe(&mut self, kind: &Arc<Kind>, event: &Event<PartialObjectMetadata>) -> Vec<Uid> {
        match event {
            Event::Added(object) | Event::Updated { new: object, .. } => {
                self.put(Node { kind: kind.clone(), object: object.clone() })
            }
            Event::Deleted(object) => self.remove(object.uid()),
        }
    }

    fn put(&mut self, node: Node) -> Vec<Uid> {
        if node.uid().is_empty() {
            return Vec::new();
        }
        let uid = self.shared_uid(node.uid());
        let before = self.nodes.get(&uid).cloned();
        let mut wake = Vec::new();
        for old in before.iter().flat_map(Node::owners) {
            if !node.owners().any(|new| new.uid() == old.uid()) {
                self.disown(old.uid(), &uid);
            }
            // An owner that waits for us may go on when we no longer hold it up.
            let is_freed = before.as_ref().is_some_and(|before| before.blocks(old.uid())) && !node.blocks(old.uid());
            if is_freed && self.nodes.get(old.uid()).is_some_and(Node::is_foreground) {
                wake.push(old.uid().into());
            }
        }
        for owner in node.owners() {
            let owner = self.shared_uid(owner.uid());
            self.dependents.entry(owner).or_default().insert(uid.clone());
        }
        let has_new_references = match &before {
            Some(before) => node.meta().owner_references() != before.meta().owner_references(),
            None => node.owners().next().is_some(),
        };
        if has_new_references && !self.has_sound_owners(&node) {
            wake.push(uid.clone());
        }
        let starts = |is: fn(&Node) -> bool| is(&node) && !before.as_ref().is_some_and(is);
        if starts(Node::is_foreground) {
            wake.extend(self.dependents.get(&uid).into_iter().flatten().cloned());
            wake.push(uid.clone());
        } else if starts(Node::is_orphaning) {
            wake.push(uid.clone());
        }
        self.nodes.insert(uid, node);
        wake
    }

    /// Also called for an object that turned out to be gone.
    pub(super) fn remove(&mut self, uid: &str) -> Vec<Uid> {
        let mut wake: Vec<Uid> = self.dependents.get(uid).into_iter().flatten().cloned().collect();
        if let Some(node) = self.nodes.remove(uid) {
            for owner in node.owners() {
                self.disown(owner.uid(), uid);
                if self.nodes.get(owner.uid()).is_some_and(Node::is_foreground) {
                    wake.push(owner.uid().into());
                }
            }
        }
        wake
    }

    fn disown(&mut self, owner: &str, dependent: &str) {
        if let Some(dependents) = self.dependents.get_mut(owner) {
            dependents.remove(dependent);
            if dependents.is_empty() {
                self.dependents.remove(owner);
            }
        }
    }

    /// The uid as the graph already holds it, so that both maps share one text.
    fn shared_uid(&self, uid: &str) -> Uid {
        let held = self.nodes.get_key_value(uid).map(|(uid, _)| uid);
        let held = held.or_else(|| self.dependents.get_key_value(uid).map(|(uid, _)| uid));
        held.map_or_else(|| uid.into(), Uid::clone)
    }

    pub(super) fn get(&self, uid: &str) -> Option<&Node> {
        self.nodes.get(uid)
    }

    pub(super) fn dependents(&self, uid: &str) -> impl Iterator<Item = &Node> {
        let uids = self.dependents.get(uid).into_iter().flatten();
        uids.filter_map(|uid| self.nodes.get(uid))
    }

    /// The dependents that the owner must wait for.
    pub(super) fn blocking(&self, uid: &str) -> Vec<Node> {
        self.dependents(uid).filter(|node| node.blocks(uid)).cloned().collect()
    }

    /// Whether every owner was seen under the name the object gives it and none of them
    /// waits for it to go. Then there is nothing to collect, and no need to ask the API.
    pub(super) fn has_sound_owners(&self, node: &Node) -> bool {
        node.owners().all(|reference| {
            self.nodes
                .get(reference.uid())
                .is_some_and(|owner| !owner.is_foreground() && owner.is_named(reference) && owner.is_in_reach_of(node))
        })
    }
}

impl Node {
    fn meta(&self) -> ObjectMetaView<'_> {
        self.object.meta()
    }

    pub(super) fn uid(&self) -> &str {
        self.object.uid()
    }

    pub(super) fn namespace(&self) -> &str {
        self.object.namespace()
    }

    pub(super) fn name(&self) -> &str {
        self.object.name()
    }

    fn owners(&self) -> impl Iterator<Item = OwnerReferenceView<'_>> {
        self.meta().owner_references().iter()
    }

    /// Whether the owner of this uid must wait for the object to go.
    fn blocks(&self, owner: &str) -> bool {
        self.owners().any(|reference| reference.uid() == owner && reference.block_owner_deletion() == Some(true))
    }

    pub(super) fn is_deleting(&self) -> bool {
        self.object.is_deleting()
    }

    /// It waits for its dependents to be deleted.
    pub(super) fn is_foreground(&self) -> bool {
        self.is_deleting() && self.meta().finalizers().contains(FOREGROUND)
    }

    /// It waits for its dependents to be let go.
    pub(super) fn is_orphaning(&self) -> bool {
        self.is_deleting() && self.meta().finalizers().contains(ORPHAN)
    }

    fn is_named(&self, reference: OwnerReferenceView<'_>) -> bool {
        self.name() == reference.name()
            && self.kind.name == reference.kind()
            && self.kind.path.group == super::group_of(reference)
    }

    /// An owner is in the object's own namespace or in none.
    fn is_in_reach_of(&self, dependent: &Node) -> bool {
        self.namespace().is_empty() || self.namespace() == dependent.namespace()
    }
}
