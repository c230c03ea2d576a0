//! Generated from facts/storage.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(CSIDriver, CSIDriverView);
kind!(CSIDriver, "storage.k8s.io", "v1", "storage.k8s.io/v1", "csidrivers");
impl<'a> CSIDriverView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::storage::v1::CSIDriverSpecView<'a> { read(self.0, "spec") }
}
impl CSIDriver {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::storage::v1::CSIDriverSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::storage::v1::CSIDriverSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::storage::v1::CSIDriverSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(CSIDriverList, CSIDriverListView);
part!(CSIDriverList);
impl<'a> CSIDriverListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::storage::v1::CSIDriverView<'a>> { read(self.0, "items") }
}
impl CSIDriverList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::storage::v1::CSIDriver>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::storage::v1::CSIDriver>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::storage::v1::CSIDriver>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(CSIDriverSpec, CSIDriverSpecView);
part!(CSIDriverSpec);
impl<'a> CSIDriverSpecView<'a> {
    pub fn attach_required(self) -> Option<bool> { find(self.0, "attachRequired") }
    pub fn pod_info_on_mount(self) -> Option<bool> { find(self.0, "podInfoOnMount") }
    pub fn volume_lifecycle_modes(self) -> r::List<'a, &'a str> { read(self.0, "volumeLifecycleModes") }
    pub fn storage_capacity(self) -> Option<bool> { find(self.0, "storageCapacity") }
    pub fn fs_group_policy(self) -> Option<&'a str> { find(self.0, "fsGroupPolicy") }
    pub fn token_requests(self) -> r::List<'a, g::storage::v1::TokenRequestView<'a>> { read(self.0, "tokenRequests") }
    pub fn requires_republish(self) -> Option<bool> { find(self.0, "requiresRepublish") }
    pub fn se_linux_mount(self) -> Option<bool> { find(self.0, "seLinuxMount") }
    pub fn node_allocatable_update_period_seconds(self) -> Option<i64> { find(self.0, "nodeAllocatableUpdatePeriodSeconds") }
    pub fn service_account_token_in_secrets(self) -> Option<bool> { find(self.0, "serviceAccountTokenInSecrets") }
    pub fn prevent_pod_scheduling_if_missing(self) -> Option<bool> { find(self.0, "preventPodSchedulingIfMissing") }
}
impl CSIDriverSpec {
    pub fn set_attach_required(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "attachRequired", value.into_field()) }
    pub fn with_attach_required(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "attachRequired", value.into_field()); self }
    pub fn set_pod_info_on_mount(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "podInfoOnMount", value.into_field()) }
    pub fn with_pod_info_on_mount(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "podInfoOnMount", value.into_field()); self }
    pub fn push_volume_lifecycle_modes(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "volumeLifecycleModes", item) }
    pub fn set_volume_lifecycle_modes(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "volumeLifecycleModes", value) }
    pub fn with_volume_lifecycle_modes(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "volumeLifecycleModes", value); self }
    pub fn set_storage_capacity(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "storageCapacity", value.into_field()) }
    pub fn with_storage_capacity(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "storageCapacity", value.into_field()); self }
    pub fn set_fs_group_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsGroupPolicy", value.into_field()) }
    pub fn with_fs_group_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsGroupPolicy", value.into_field()); self }
    pub fn push_token_requests(&mut self, item: impl o::IntoField<g::storage::v1::TokenRequest>) { push(&mut self.0, "tokenRequests", item) }
    pub fn set_token_requests(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::storage::v1::TokenRequest>>) { set_list(&mut self.0, "tokenRequests", value) }
    pub fn with_token_requests(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::storage::v1::TokenRequest>>) -> Self { set_list(&mut self.0, "tokenRequests", value); self }
    pub fn set_requires_republish(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "requiresRepublish", value.into_field()) }
    pub fn with_requires_republish(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "requiresRepublish", value.into_field()); self }
    pub fn set_se_linux_mount(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "seLinuxMount", value.into_field()) }
    pub fn with_se_linux_mount(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "seLinuxMount", value.into_field()); self }
    pub fn set_node_allocatable_update_period_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "nodeAllocatableUpdatePeriodSeconds", value.into_field()) }
    pub fn with_node_allocatable_update_period_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "nodeAllocatableUpdatePeriodSeconds", value.into_field()); self }
    pub fn set_service_account_token_in_secrets(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "serviceAccountTokenInSecrets", value.into_field()) }
    pub fn with_service_account_token_in_secrets(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "serviceAccountTokenInSecrets", value.into_field()); self }
    pub fn set_prevent_pod_scheduling_if_missing(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "preventPodSchedulingIfMissing", value.into_field()) }
    pub fn with_prevent_pod_scheduling_if_missing(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "preventPodSchedulingIfMissing", value.into_field()); self }
}

object!(CSINode, CSINodeView);
kind!(CSINode, "storage.k8s.io", "v1", "storage.k8s.io/v1", "csinodes");
impl<'a> CSINodeView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::storage::v1::CSINodeSpecView<'a> { read(self.0, "spec") }
}
impl CSINode {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::storage::v1::CSINodeSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::storage::v1::CSINodeSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::storage::v1::CSINodeSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(CSINodeDriver, CSINodeDriverView);
part!(CSINodeDriver);
impl<'a> CSINodeDriverView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn node_id(self) -> &'a str { read(self.0, "nodeID") }
    pub fn topology_keys(self) -> r::List<'a, &'a str> { read(self.0, "topologyKeys") }
    pub fn allocatable(self) -> Option<g::storage::v1::VolumeNodeResourcesView<'a>> { find(self.0, "allocatable") }
}
impl CSINodeDriver {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_node_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "nodeID", value.into_field()) }
    pub fn with_node_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "nodeID", value.into_field()); self }
    pub fn push_topology_keys(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "topologyKeys", item) }
    pub fn set_topology_keys(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "topologyKeys", value) }
    pub fn with_topology_keys(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "topologyKeys", value); self }
    pub fn edit_allocatable<R>(&mut self, change: impl FnOnce(&mut g::storage::v1::VolumeNodeResources) -> R) -> R { edit(&mut self.0, "allocatable", change) }
    pub fn set_allocatable(&mut self, value: impl o::IntoField<g::storage::v1::VolumeNodeResources>) { set(&mut self.0, "allocatable", value.into_field()) }
    pub fn with_allocatable(mut self, value: impl o::IntoField<g::storage::v1::VolumeNodeResources>) -> Self { set(&mut self.0, "allocatable", value.into_field()); self }
}

object!(CSINodeList, CSINodeListView);
part!(CSINodeList);
impl<'a> CSINodeListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::storage::v1::CSINodeView<'a>> { read(self.0, "items") }
}
impl CSINodeList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::storage::v1::CSINode>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::storage::v1::CSINode>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::storage::v1::CSINode>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(CSINodeSpec, CSINodeSpecView);
part!(CSINodeSpec);
impl<'a> CSINodeSpecView<'a> {
    pub fn drivers(self) -> r::List<'a, g::storage::v1::CSINodeDriverView<'a>> { read(self.0, "drivers") }
}
impl CSINodeSpec {
    pub fn push_drivers(&mut self, item: impl o::IntoField<g::storage::v1::CSINodeDriver>) { push(&mut self.0, "drivers", item) }
    pub fn set_drivers(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::storage::v1::CSINodeDriver>>) { set_list(&mut self.0, "drivers", value) }
    pub fn with_drivers(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::storage::v1::CSINodeDriver>>) -> Self { set_list(&mut self.0, "drivers", value); self }
}

object!(CSIStorageCapacity, CSIStorageCapacityView);
kind!(CSIStorageCapacity, "storage.k8s.io", "v1", "storage.k8s.io/v1", "csistoragecapacities");
impl<'a> CSIStorageCapacityView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn node_topology(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "nodeTopology") }
    pub fn storage_class_name(self) -> &'a str { read(self.0, "storageClassName") }
    pub fn capacity(self) -> Option<r::Quantity> { find(self.0, "capacity") }
    pub fn maximum_volume_size(self) -> Option<r::Quantity> { find(self.0, "maximumVolumeSize") }
}
impl CSIStorageCapacity {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_node_topology<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "nodeTopology", change) }
    pub fn set_node_topology(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "nodeTopology", value.into_field()) }
    pub fn with_node_topology(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "nodeTopology", value.into_field()); self }
    pub fn set_storage_class_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "storageClassName", value.into_field()) }
    pub fn with_storage_class_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "storageClassName", value.into_field()); self }
    pub fn set_capacity(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "capacity", value.into_field()) }
    pub fn with_capacity(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "capacity", value.into_field()); self }
    pub fn set_maximum_volume_size(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "maximumVolumeSize", value.into_field()) }
    pub fn with_maximum_volume_size(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "maximumVolumeSize", value.into_field()); self }
}

object!(CSIStorageCapacityList, CSIStorageCapacityListView);
part!(CSIStorageCapacityList);
impl<'a> CSIStorageCapacityListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::storage::v1::CSIStorageCapacityView<'a>> { read(self.0, "items") }
}
impl CSIStorageCapacityList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::storage::v1::CSIStorageCapacity>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::storage::v1::CSIStorageCapacity>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::storage::v1::CSIStorageCapacity>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(StorageClass, StorageClassView);
kind!(StorageClass, "storage.k8s.io", "v1", "storage.k8s.io/v1", "storageclasses");
impl<'a> StorageClassView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn provisioner(self) -> &'a str { read(self.0, "provisioner") }
    pub fn parameters(self) -> r::Map<'a, &'a str> { read(self.0, "parameters") }
    pub fn reclaim_policy(self) -> Option<&'a str> { find(self.0, "reclaimPolicy") }
    pub fn mount_options(self) -> r::List<'a, &'a str> { read(self.0, "mountOptions") }
    pub fn allow_volume_expansion(self) -> Option<bool> { find(self.0, "allowVolumeExpansion") }
    pub fn volume_binding_mode(self) -> Option<&'a str> { find(self.0, "volumeBindingMode") }
    pub fn allowed_topologies(self) -> r::List<'a, g::core::v1::TopologySelectorTermView<'a>> { read(self.0, "allowedTopologies") }
}
impl StorageClass {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn set_provisioner(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "provisioner", value.into_field()) }
    pub fn with_provisioner(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "provisioner", value.into_field()); self }
    pub fn insert_parameters(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "parameters", key, value) }
    pub fn set_parameters(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "parameters", value) }
    pub fn with_parameters(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "parameters", value); self }
    pub fn set_reclaim_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reclaimPolicy", value.into_field()) }
    pub fn with_reclaim_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reclaimPolicy", value.into_field()); self }
    pub fn push_mount_options(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "mountOptions", item) }
    pub fn set_mount_options(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "mountOptions", value) }
    pub fn with_mount_options(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "mountOptions", value); self }
    pub fn set_allow_volume_expansion(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "allowVolumeExpansion", value.into_field()) }
    pub fn with_allow_volume_expansion(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "allowVolumeExpansion", value.into_field()); self }
    pub fn set_volume_binding_mode(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeBindingMode", value.into_field()) }
    pub fn with_volume_binding_mode(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeBindingMode", value.into_field()); self }
    pub fn push_allowed_topologies(&mut self, item: impl o::IntoField<g::core::v1::TopologySelectorTerm>) { push(&mut self.0, "allowedTopologies", item) }
    pub fn set_allowed_topologies(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::TopologySelectorTerm>>) { set_list(&mut self.0, "allowedTopologies", value) }
    pub fn with_allowed_topologies(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::TopologySelectorTerm>>) -> Self { set_list(&mut self.0, "allowedTopologies", value); self }
}

object!(StorageClassList, StorageClassListView);
part!(StorageClassList);
impl<'a> StorageClassListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::storage::v1::StorageClassView<'a>> { read(self.0, "items") }
}
impl StorageClassList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::storage::v1::StorageClass>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::storage::v1::StorageClass>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::storage::v1::StorageClass>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(TokenRequest, TokenRequestView);
part!(TokenRequest);
impl<'a> TokenRequestView<'a> {
    pub fn audience(self) -> &'a str { read(self.0, "audience") }
    pub fn expiration_seconds(self) -> Option<i64> { find(self.0, "expirationSeconds") }
}
impl TokenRequest {
    pub fn set_audience(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "audience", value.into_field()) }
    pub fn with_audience(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "audience", value.into_field()); self }
    pub fn set_expiration_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "expirationSeconds", value.into_field()) }
    pub fn with_expiration_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "expirationSeconds", value.into_field()); self }
}

object!(VolumeAttachment, VolumeAttachmentView);
kind!(VolumeAttachment, "storage.k8s.io", "v1", "storage.k8s.io/v1", "volumeattachments");
impl<'a> VolumeAttachmentView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::storage::v1::VolumeAttachmentSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::storage::v1::VolumeAttachmentStatusView<'a> { read(self.0, "status") }
}
impl VolumeAttachment {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::storage::v1::VolumeAttachmentSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::storage::v1::VolumeAttachmentSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::storage::v1::VolumeAttachmentSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::storage::v1::VolumeAttachmentStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::storage::v1::VolumeAttachmentStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::storage::v1::VolumeAttachmentStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(VolumeAttachmentList, VolumeAttachmentListView);
part!(VolumeAttachmentList);
impl<'a> VolumeAttachmentListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::storage::v1::VolumeAttachmentView<'a>> { read(self.0, "items") }
}
impl VolumeAttachmentList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::storage::v1::VolumeAttachment>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::storage::v1::VolumeAttachment>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::storage::v1::VolumeAttachment>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(VolumeAttachmentSource, VolumeAttachmentSourceView);
part!(VolumeAttachmentSource);
impl<'a> VolumeAttachmentSourceView<'a> {
    pub fn persistent_volume_name(self) -> Option<&'a str> { find(self.0, "persistentVolumeName") }
    pub fn inline_volume_spec(self) -> Option<g::core::v1::PersistentVolumeSpecView<'a>> { find(self.0, "inlineVolumeSpec") }
}
impl VolumeAttachmentSource {
    pub fn set_persistent_volume_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "persistentVolumeName", value.into_field()) }
    pub fn with_persistent_volume_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "persistentVolumeName", value.into_field()); self }
    pub fn edit_inline_volume_spec<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PersistentVolumeSpec) -> R) -> R { edit(&mut self.0, "inlineVolumeSpec", change) }
    pub fn set_inline_volume_spec(&mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeSpec>) { set(&mut self.0, "inlineVolumeSpec", value.into_field()) }
    pub fn with_inline_volume_spec(mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeSpec>) -> Self { set(&mut self.0, "inlineVolumeSpec", value.into_field()); self }
}

object!(VolumeAttachmentSpec, VolumeAttachmentSpecView);
part!(VolumeAttachmentSpec);
impl<'a> VolumeAttachmentSpecView<'a> {
    pub fn attacher(self) -> &'a str { read(self.0, "attacher") }
    pub fn source(self) -> g::storage::v1::VolumeAttachmentSourceView<'a> { read(self.0, "source") }
    pub fn node_name(self) -> &'a str { read(self.0, "nodeName") }
}
impl VolumeAttachmentSpec {
    pub fn set_attacher(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "attacher", value.into_field()) }
    pub fn with_attacher(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "attacher", value.into_field()); self }
    pub fn edit_source<R>(&mut self, change: impl FnOnce(&mut g::storage::v1::VolumeAttachmentSource) -> R) -> R { edit(&mut self.0, "source", change) }
    pub fn set_source(&mut self, value: impl o::IntoField<g::storage::v1::VolumeAttachmentSource>) { set(&mut self.0, "source", value.into_field()) }
    pub fn with_source(mut self, value: impl o::IntoField<g::storage::v1::VolumeAttachmentSource>) -> Self { set(&mut self.0, "source", value.into_field()); self }
    pub fn set_node_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "nodeName", value.into_field()) }
    pub fn with_node_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "nodeName", value.into_field()); self }
}

object!(VolumeAttachmentStatus, VolumeAttachmentStatusView);
part!(VolumeAttachmentStatus);
impl<'a> VolumeAttachmentStatusView<'a> {
    pub fn attached(self) -> bool { read(self.0, "attached") }
    pub fn attachment_metadata(self) -> r::Map<'a, &'a str> { read(self.0, "attachmentMetadata") }
    pub fn attach_error(self) -> Option<g::storage::v1::VolumeErrorView<'a>> { find(self.0, "attachError") }
    pub fn detach_error(self) -> Option<g::storage::v1::VolumeErrorView<'a>> { find(self.0, "detachError") }
}
impl VolumeAttachmentStatus {
    pub fn set_attached(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "attached", value.into_field()) }
    pub fn with_attached(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "attached", value.into_field()); self }
    pub fn insert_attachment_metadata(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "attachmentMetadata", key, value) }
    pub fn set_attachment_metadata(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "attachmentMetadata", value) }
    pub fn with_attachment_metadata(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "attachmentMetadata", value); self }
    pub fn edit_attach_error<R>(&mut self, change: impl FnOnce(&mut g::storage::v1::VolumeError) -> R) -> R { edit(&mut self.0, "attachError", change) }
    pub fn set_attach_error(&mut self, value: impl o::IntoField<g::storage::v1::VolumeError>) { set(&mut self.0, "attachError", value.into_field()) }
    pub fn with_attach_error(mut self, value: impl o::IntoField<g::storage::v1::VolumeError>) -> Self { set(&mut self.0, "attachError", value.into_field()); self }
    pub fn edit_detach_error<R>(&mut self, change: impl FnOnce(&mut g::storage::v1::VolumeError) -> R) -> R { edit(&mut self.0, "detachError", change) }
    pub fn set_detach_error(&mut self, value: impl o::IntoField<g::storage::v1::VolumeError>) { set(&mut self.0, "detachError", value.into_field()) }
    pub fn with_detach_error(mut self, value: impl o::IntoField<g::storage::v1::VolumeError>) -> Self { set(&mut self.0, "detachError", value.into_field()); self }
}

object!(VolumeAttributesClass, VolumeAttributesClassView);
kind!(VolumeAttributesClass, "storage.k8s.io", "v1", "storage.k8s.io/v1", "volumeattributesclasses");
impl<'a> VolumeAttributesClassView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn driver_name(self) -> &'a str { read(self.0, "driverName") }
    pub fn parameters(self) -> r::Map<'a, &'a str> { read(self.0, "parameters") }
}
impl VolumeAttributesClass {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn set_driver_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "driverName", value.into_field()) }
    pub fn with_driver_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "driverName", value.into_field()); self }
    pub fn insert_parameters(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "parameters", key, value) }
    pub fn set_parameters(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "parameters", value) }
    pub fn with_parameters(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "parameters", value); self }
}

object!(VolumeAttributesClassList, VolumeAttributesClassListView);
part!(VolumeAttributesClassList);
impl<'a> VolumeAttributesClassListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::storage::v1::VolumeAttributesClassView<'a>> { read(self.0, "items") }
}
impl VolumeAttributesClassList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::storage::v1::VolumeAttributesClass>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::storage::v1::VolumeAttributesClass>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::storage::v1::VolumeAttributesClass>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(VolumeError, VolumeErrorView);
part!(VolumeError);
impl<'a> VolumeErrorView<'a> {
    pub fn time(self) -> Option<r::Timestamp> { find(self.0, "time") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
    pub fn error_code(self) -> Option<i32> { find(self.0, "errorCode") }
}
impl VolumeError {
    pub fn set_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "time", value.into_field()) }
    pub fn with_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "time", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
    pub fn set_error_code(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "errorCode", value.into_field()) }
    pub fn with_error_code(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "errorCode", value.into_field()); self }
}

object!(VolumeNodeResources, VolumeNodeResourcesView);
part!(VolumeNodeResources);
impl<'a> VolumeNodeResourcesView<'a> {
    pub fn count(self) -> Option<i32> { find(self.0, "count") }
}
impl VolumeNodeResources {
    pub fn set_count(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "count", value.into_field()) }
    pub fn with_count(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "count", value.into_field()); self }
}
