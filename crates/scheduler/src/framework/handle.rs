//! The objects beside pods and snapshots that plugins read: each plugin takes the informers it
//! needs when the profile is made.

use super::{Action, ClusterEvent, Resource, Version};
use crate::devices::Devices;
use ferry_api::document::Document;
use ferry_api::view::Kind;
use ferry_api::view::apps::v1::{ReplicaSet, StatefulSet};
use ferry_api::view::core::v1::{Node, PersistentVolume, PersistentVolumeClaim, ReplicationController, Service};
use ferry_api::view::policy::v1::PodDisruptionBudget;
use ferry_api::view::resource::v1::{DeviceClass, ResourceClaim, ResourceSlice};
use ferry_api::view::storage::v1::{CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment};
use ferry_client::{Event, Informer, Informers};
use std::sync::Arc;
use tokio::sync::mpsc;

macro_rules! kinds {
    ($($field:ident: $kind:ty),* $(,)?) => {
        /// The informers of all kinds that a plugin reads.
        #[derive(Clone)]
        pub struct KindInformers {
            $(pub $field: Informer<$kind>,)*
        }

        impl KindInformers {
            fn new(informers: &Informers) -> Self {
                Self { $($field: informers.of(),)* }
            }

            /// Waits until all informers have been filled once.
            pub async fn synced(&self) {
                $(self.$field.synced().await;)*
            }

            /// Sends the changes of those kinds that `is_watched` from now on, but of nodes.
            pub fn subscribe(&self, is_watched: impl Fn(Resource) -> bool, sender: &mpsc::UnboundedSender<ObjectEvent>) {
                $(if is_watched(Resource::of::<$kind>()) && Resource::of::<$kind>() != Resource::NODE {
                    forward(self.$field.subscribe(), sender.clone());
                })*
            }
        }

        impl Default for KindInformers {
            /// Informers without objects, for tests to fill.
            fn default() -> Self {
                Self { $($field: Informer::fixed([]),)* }
            }
        }
    };
}

kinds! {
    nodes: Node,
    services: Service,
    replication_controllers: ReplicationController,
    replica_sets: ReplicaSet,
    stateful_sets: StatefulSet,
    budgets: PodDisruptionBudget,
    claims: PersistentVolumeClaim,
    volumes: PersistentVolume,
    storage_classes: StorageClass,
    csi_nodes: CSINode,
    csi_drivers: CSIDriver,
    csi_capacities: CSIStorageCapacity,
    attachments: VolumeAttachment,
    resource_claims: ResourceClaim,
    resource_slices: ResourceSlice,
    device_classes: DeviceClass,
}

/// The informers, and the state that the plugins of all profiles share.
#[derive(Clone)]
pub struct Handle {
    informers: KindInformers,
    pub devices: Arc<Devices>,
}

impl Handle {
    pub fn new(informers: &Informers) -> Self {
        Self::over(KindInformers::new(informers))
    }

    fn over(informers: KindInformers) -> Self {
        let KindInformers { resource_claims, resource_slices, device_classes, .. } = &informers;
        Self { devices: Arc::new(Devices::new(resource_claims, resource_slices, device_classes)), informers }
    }
}

impl Default for Handle {
    fn default() -> Self {
        Self::over(KindInformers::default())
    }
}

impl std::ops::Deref for Handle {
    type Target = KindInformers;

    fn deref(&self) -> &KindInformers {
        &self.informers
    }
}

/// A change of an object that is neither a pod nor a node.
pub struct ObjectEvent {
    resource: Resource,
    old: Option<Arc<Document>>,
    new: Option<Arc<Document>>,
}

impl ObjectEvent {
    fn of<K: Kind>(event: &Event<K>) -> Self {
        let (old, new) = event.versions();
        let document = |object: Option<&ferry_client::SharedObject<K>>| object.map(|object| object.document().clone());
        Self { resource: Resource::of::<K>(), old: document(old), new: document(new) }
    }

    pub fn cluster_event(&self) -> ClusterEvent<'_> {
        let (old, new) =
            (self.old.as_ref().map(|document| document.root()), self.new.as_ref().map(|document| document.root()));
        let action = match (&old, &new) {
            (None, _) => Action::Add,
            (Some(_), Some(_)) => Action::Update,
            (Some(_), None) => Action::Delete,
        };
        ClusterEvent { resource: self.resource, action, old: old.map(Version::Other), new: new.map(Version::Other) }
    }
}

/// Ends with the informer, or with the scheduler.
fn forward<K: Kind>(mut events: mpsc::UnboundedReceiver<Event<K>>, sender: mpsc::UnboundedSender<ObjectEvent>) {
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            if sender.send(ObjectEvent::of(&event)).is_err() {
                return;
            }
        }
    });
}
