//! Changes of the cluster that may make a waiting pod schedulable, and the plugins' interest
//! in them. The queue asks a plugin about a change only if the plugin watches it.

use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use ferry_api::view::core::v1::{Node, PersistentVolumeClaim, Pod};
use ferry_api::view::meta::v1::ObjectMetaView;
use ferry_api::view::{Kind, View};

/// A kind of object. Any kind will do: a plugin names its own with [`Resource::of`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Resource {
    pub api_version: &'static str,
    pub kind: &'static str,
}

impl Resource {
    pub const POD: Self = Self::of::<Pod>();
    pub const NODE: Self = Self::of::<Node>();

    pub const fn of<K: Kind>() -> Self {
        Self { api_version: K::API_VERSION, kind: K::KIND }
    }
}

/// For pods, `Delete` is also the end of its containers, and `Update` also the change of the
/// waiting pod itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Add,
    Update,
    Delete,
}

/// A plugin's interest in the changes of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    pub resource: Resource,
    pub actions: &'static [Action],
}

impl Watch {
    pub const fn new(resource: Resource, actions: &'static [Action]) -> Self {
        Self { resource, actions }
    }

    pub fn covers(&self, event: &ClusterEvent<'_>) -> bool {
        self.resource == event.resource && self.actions.contains(&event.action)
    }
}

/// One version of a changed object. Pods and nodes come with the facts that the cache has
/// computed of them, other kinds as they stand.
#[derive(Clone, Copy, Debug)]
pub enum Version<'a> {
    Pod(&'a PodInfo),
    Node(&'a NodeInfo),
    Other(ferry_api::document::Node<'a>),
}

/// One change of one object: `Add` has no old version and `Delete` no new one.
#[derive(Clone, Copy, Debug)]
pub struct ClusterEvent<'a> {
    pub resource: Resource,
    pub action: Action,
    pub old: Option<Version<'a>>,
    pub new: Option<Version<'a>>,
}

/// The versions of a change, in the type that the reader asked for.
#[derive(Clone, Copy, Debug)]
pub enum Change<T> {
    Added(T),
    Updated { old: T, new: T },
    Deleted(T),
}

impl<'a> ClusterEvent<'a> {
    pub fn node_added(node: &'a NodeInfo) -> Self {
        Self { resource: Resource::NODE, action: Action::Add, old: None, new: Some(Version::Node(node)) }
    }

    pub fn node_updated(old: &'a NodeInfo, new: &'a NodeInfo) -> Self {
        let (old, new) = (Some(Version::Node(old)), Some(Version::Node(new)));
        Self { resource: Resource::NODE, action: Action::Update, old, new }
    }

    pub fn node_removed(node: &'a NodeInfo) -> Self {
        Self { resource: Resource::NODE, action: Action::Delete, old: Some(Version::Node(node)), new: None }
    }

    /// A pod came to a node.
    pub fn pod_added(pod: &'a PodInfo) -> Self {
        Self { resource: Resource::POD, action: Action::Add, old: None, new: Some(Version::Pod(pod)) }
    }

    /// A pod left its node.
    pub fn pod_removed(pod: &'a PodInfo) -> Self {
        Self { resource: Resource::POD, action: Action::Delete, old: Some(Version::Pod(pod)), new: None }
    }

    /// A pod changed, be it the waiting one or one on a node.
    pub fn pod_updated(old: &'a PodInfo, new: &'a PodInfo) -> Self {
        let (old, new) = (Some(Version::Pod(old)), Some(Version::Pod(new)));
        Self { resource: Resource::POD, action: Action::Update, old, new }
    }

    /// The change of a node; `None` for another kind.
    pub fn node(&self) -> Option<Change<&'a NodeInfo>> {
        self.change(|version| match version {
            Version::Node(node) => Some(node),
            _ => None,
        })
    }

    /// The change of a pod; `None` for another kind.
    pub fn pod(&self) -> Option<Change<&'a PodInfo>> {
        self.change(|version| match version {
            Version::Pod(pod) => Some(pod),
            _ => None,
        })
    }

    /// The waiting pod before and after its own change.
    pub fn update_of(&self, pod: &PodInfo) -> Option<(&'a PodInfo, &'a PodInfo)> {
        match self.pod()? {
            Change::Updated { old, new } if new.uid == pod.uid => Some((old, new)),
            _ => None,
        }
    }

    /// The change of an object of kind `K`; `None` for another kind.
    pub fn of<K: Kind>(&self) -> Option<Change<K::View<'a>>> {
        if self.resource != Resource::of::<K>() {
            return None;
        }
        self.change(|version| {
            Some(K::View::over(match version {
                Version::Pod(pod) => pod.pod.document().root(),
                Version::Node(node) => node.node.document().root(),
                Version::Other(node) => node,
            }))
        })
    }

    fn change<T>(&self, read: impl Fn(Version<'a>) -> Option<T>) -> Option<Change<T>> {
        let (old, new) = (self.old.and_then(&read), self.new.and_then(&read));
        match (old, new) {
            (None, Some(new)) => Some(Change::Added(new)),
            (Some(old), Some(new)) => Some(Change::Updated { old, new }),
            (Some(old), None) => Some(Change::Deleted(old)),
            (None, None) => None,
        }
    }
}

/// The waiting pods that a change can concern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    All,
    /// Those that name the object in their spec or status ([`PodInfo::names`]).
    Users {
        resource: Resource,
        namespace: &'a str,
        name: &'a str,
    },
}

impl<'a> Scope<'a> {
    pub fn users_of<K: Kind>(object: ObjectMetaView<'a>) -> Self {
        Self::Users { resource: Resource::of::<K>(), namespace: object.namespace(), name: object.name() }
    }

    /// A PersistentVolumeClaim concerns the pods that use it; other changes may concern all.
    pub fn of_claim(event: &ClusterEvent<'a>) -> Self {
        match event.of::<PersistentVolumeClaim>() {
            Some(Change::Added(claim) | Change::Updated { new: claim, .. } | Change::Deleted(claim)) => {
                Self::users_of::<PersistentVolumeClaim>(claim.metadata())
            }
            None => Self::All,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The change may have removed the reason: try the pod again.
    Queue,
    Skip,
}

impl Hint {
    pub fn queue_if(condition: bool) -> Self {
        if condition { Self::Queue } else { Self::Skip }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::pod;
    use serde_json::json;

    #[test]
    fn a_plugin_can_watch_a_kind_that_the_framework_does_not_know() {
        const CLAIMS: Watch = Watch::new(Resource::of::<PersistentVolumeClaim>(), &[Action::Add]);
        let claim = json!({"metadata": {"name": "data"}, "spec": {"volumeName": "v"}});
        let event = ClusterEvent {
            resource: Resource::of::<PersistentVolumeClaim>(),
            action: Action::Add,
            old: None,
            new: Some(Version::Other((&claim).into())),
        };
        assert!(CLAIMS.covers(&event));
        assert!(event.pod().is_none() && event.of::<Pod>().is_none());
        let Some(Change::Added(claim)) = event.of::<PersistentVolumeClaim>() else { panic!("an added claim") };
        assert_eq!(claim.spec().volume_name(), "v");

        let removed = pod(json!({}));
        let event = ClusterEvent::pod_removed(&removed);
        assert!(!CLAIMS.covers(&event));
        let Some(Change::Deleted(view)) = event.of::<Pod>() else { panic!("a deleted pod") };
        assert_eq!(view.metadata().name(), "web");
    }
}
