//! Who owns whom, over every kind: built from watches, asked by the collector.
//!
//! **Invariant:** the graph only says where to look. Nothing is deleted on its word; the
//! collector asks the API for each owner before it acts.

use super::Kind;
use ferry_client::Event;
use ferry_client::ObjectMetadata;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub const FOREGROUND: &str = "foregroundDeletion";
pub const ORPHAN: &str = "orphan";

type Uid = String;

/// What the graph keeps of an object.
#[derive(Clone, Debug)]
pub struct Node {
    pub kind: Arc<Kind>,
    pub namespace: String,
    pub name: String,
    pub owners: Vec<OwnerReference>,
    pub is_deleting: bool,
    /// It waits for its dependents to be deleted.
    pub is_foreground: bool,
    /// It waits for its dependents to be let go.
    pub is_orphaning: bool,
}

#[derive(Default)]
pub struct Graph {
    nodes: HashMap<Uid, Node>,
    /// By the owner's uid, whether the owner was seen or not.
    dependents: HashMap<Uid, HashSet<Uid>>,
}

impl Graph {
    /// Takes an event in and says which objects to look at because of it.
    pub fn observe(&mut self, kind: &Arc<Kind>, event: &Event<ObjectMetadata>) -> Vec<Uid> {
        match event {
            Event::Added(object) | Event::Updated { new: object, .. } => self.put(kind, &object.metadata),
            Event::Deleted(object) => self.remove(object.metadata.uid.as_deref().unwrap_or_default()),
        }
    }

    fn put(&mut self, kind: &Arc<Kind>, meta: &ObjectMeta) -> Vec<Uid> {
        let Some(uid) = meta.uid.clone() else { return Vec::new() };
        let has = |finalizer: &str| meta.finalizers.iter().flatten().any(|has| has == finalizer);
        let is_deleting = meta.deletion_timestamp.is_some();
        let node = Node {
            kind: kind.clone(),
            namespace: meta.namespace.clone().unwrap_or_default(),
            name: meta.name.clone().unwrap_or_default(),
            owners: meta.owner_references.clone().unwrap_or_default(),
            is_deleting,
            is_foreground: is_deleting && has(FOREGROUND),
            is_orphaning: is_deleting && has(ORPHAN),
        };
        let mut wake = Vec::new();
        let before = self.nodes.get(&uid);
        let old_owners = before.map(|before| before.owners.clone()).unwrap_or_default();
        for old in old_owners.iter().filter(|old| !node.owners.iter().any(|new| new.uid == old.uid)) {
            self.disown(&old.uid, &uid);
        }
        // An owner that waits for us may go on when we no longer hold it up.
        let blocked = |owners: &[OwnerReference], owner: &str| {
            owners.iter().any(|reference| reference.uid == owner && reference.block_owner_deletion == Some(true))
        };
        wake.extend(
            old_owners
                .iter()
                .map(|owner| &owner.uid)
                .filter(|owner| blocked(&old_owners, owner) && !blocked(&node.owners, owner))
                .filter(|owner| self.nodes.get(*owner).is_some_and(|owner| owner.is_foreground))
                .cloned(),
        );
        for owner in &node.owners {
            self.dependents.entry(owner.uid.clone()).or_default().insert(uid.clone());
        }
        let is_new_reference = node.owners != old_owners;
        if is_new_reference && !self.has_sound_owners(&node) {
            wake.push(uid.clone());
        }
        let starts = |was: fn(&Node) -> bool| was(&node) && !self.nodes.get(&uid).is_some_and(was);
        if starts(|node| node.is_foreground) {
            wake.extend(self.dependents.get(&uid).into_iter().flatten().cloned());
            wake.push(uid.clone());
        } else if starts(|node| node.is_orphaning) {
            wake.push(uid.clone());
        }
        self.nodes.insert(uid, node);
        wake
    }

    /// Also called for an object that turned out to be gone.
    pub fn remove(&mut self, uid: &str) -> Vec<Uid> {
        let mut wake: Vec<Uid> = self.dependents.get(uid).into_iter().flatten().cloned().collect();
        if let Some(node) = self.nodes.remove(uid) {
            for owner in &node.owners {
                self.disown(&owner.uid, uid);
                if self.nodes.get(&owner.uid).is_some_and(|owner| owner.is_foreground) {
                    wake.push(owner.uid.clone());
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

    pub fn get(&self, uid: &str) -> Option<&Node> {
        self.nodes.get(uid)
    }

    pub fn dependents(&self, uid: &str) -> impl Iterator<Item = (&Uid, &Node)> {
        let uids = self.dependents.get(uid).into_iter().flatten();
        uids.filter_map(|uid| Some((uid, self.nodes.get(uid)?)))
    }

    /// The dependents that the owner must wait for.
    pub fn blocking(&self, uid: &str) -> Vec<(Uid, Node)> {
        self.dependents(uid)
            .filter(|(_, node)| {
                node.owners.iter().any(|owner| owner.uid == uid && owner.block_owner_deletion == Some(true))
            })
            .map(|(uid, node)| (uid.clone(), node.clone()))
            .collect()
    }

    /// Whether every owner was seen under the name the object gives it and none of them
    /// waits for it to go. Then there is nothing to collect, and no need to ask the API.
    pub fn has_sound_owners(&self, node: &Node) -> bool {
        node.owners.iter().all(|reference| {
            self.nodes
                .get(&reference.uid)
                .is_some_and(|owner| !owner.is_foreground && owner.is_named(reference) && owner.is_in_reach_of(node))
        })
    }
}

impl Node {
    fn is_named(&self, reference: &OwnerReference) -> bool {
        let group =
            |api_version: &str| api_version.rsplit_once('/').map_or(String::new(), |(group, _)| group.to_owned());
        self.name == reference.name
            && self.kind.name == reference.kind
            && self.kind.path.group == group(&reference.api_version)
    }

    /// An owner is in the object's own namespace or in none.
    fn is_in_reach_of(&self, dependent: &Node) -> bool {
        self.namespace.is_empty() || self.namespace == dependent.namespace
    }
}
