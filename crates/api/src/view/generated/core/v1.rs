//! Generated from facts/core.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(AWSElasticBlockStoreVolumeSource, AWSElasticBlockStoreVolumeSourceView);
part!(AWSElasticBlockStoreVolumeSource);
impl<'a> AWSElasticBlockStoreVolumeSourceView<'a> {
    pub fn volume_id(self) -> &'a str { read(self.0, "volumeID") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn partition(self) -> i32 { read(self.0, "partition") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
}
impl AWSElasticBlockStoreVolumeSource {
    pub fn set_volume_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeID", value.into_field()) }
    pub fn with_volume_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeID", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn set_partition(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "partition", value.into_field()) }
    pub fn with_partition(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "partition", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
}

object!(Affinity, AffinityView);
part!(Affinity);
impl<'a> AffinityView<'a> {
    pub fn node_affinity(self) -> Option<g::core::v1::NodeAffinityView<'a>> { find(self.0, "nodeAffinity") }
    pub fn pod_affinity(self) -> Option<g::core::v1::PodAffinityView<'a>> { find(self.0, "podAffinity") }
    pub fn pod_anti_affinity(self) -> Option<g::core::v1::PodAntiAffinityView<'a>> { find(self.0, "podAntiAffinity") }
}
impl Affinity {
    pub fn edit_node_affinity<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeAffinity) -> R) -> R { edit(&mut self.0, "nodeAffinity", change) }
    pub fn set_node_affinity(&mut self, value: impl o::IntoField<g::core::v1::NodeAffinity>) { set(&mut self.0, "nodeAffinity", value.into_field()) }
    pub fn with_node_affinity(mut self, value: impl o::IntoField<g::core::v1::NodeAffinity>) -> Self { set(&mut self.0, "nodeAffinity", value.into_field()); self }
    pub fn edit_pod_affinity<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodAffinity) -> R) -> R { edit(&mut self.0, "podAffinity", change) }
    pub fn set_pod_affinity(&mut self, value: impl o::IntoField<g::core::v1::PodAffinity>) { set(&mut self.0, "podAffinity", value.into_field()) }
    pub fn with_pod_affinity(mut self, value: impl o::IntoField<g::core::v1::PodAffinity>) -> Self { set(&mut self.0, "podAffinity", value.into_field()); self }
    pub fn edit_pod_anti_affinity<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodAntiAffinity) -> R) -> R { edit(&mut self.0, "podAntiAffinity", change) }
    pub fn set_pod_anti_affinity(&mut self, value: impl o::IntoField<g::core::v1::PodAntiAffinity>) { set(&mut self.0, "podAntiAffinity", value.into_field()) }
    pub fn with_pod_anti_affinity(mut self, value: impl o::IntoField<g::core::v1::PodAntiAffinity>) -> Self { set(&mut self.0, "podAntiAffinity", value.into_field()); self }
}

object!(AppArmorProfile, AppArmorProfileView);
part!(AppArmorProfile);
impl<'a> AppArmorProfileView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn localhost_profile(self) -> Option<&'a str> { find(self.0, "localhostProfile") }
}
impl AppArmorProfile {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_localhost_profile(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "localhostProfile", value.into_field()) }
    pub fn with_localhost_profile(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "localhostProfile", value.into_field()); self }
}

object!(AttachedVolume, AttachedVolumeView);
part!(AttachedVolume);
impl<'a> AttachedVolumeView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn device_path(self) -> &'a str { read(self.0, "devicePath") }
}
impl AttachedVolume {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_device_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "devicePath", value.into_field()) }
    pub fn with_device_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "devicePath", value.into_field()); self }
}

object!(AvoidPods, AvoidPodsView);
part!(AvoidPods);
impl<'a> AvoidPodsView<'a> {
    pub fn prefer_avoid_pods(self) -> r::List<'a, g::core::v1::PreferAvoidPodsEntryView<'a>> { read(self.0, "preferAvoidPods") }
}
impl AvoidPods {
    pub fn push_prefer_avoid_pods(&mut self, item: impl o::IntoField<g::core::v1::PreferAvoidPodsEntry>) { push(&mut self.0, "preferAvoidPods", item) }
    pub fn set_prefer_avoid_pods(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PreferAvoidPodsEntry>>) { set_list(&mut self.0, "preferAvoidPods", value) }
    pub fn with_prefer_avoid_pods(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PreferAvoidPodsEntry>>) -> Self { set_list(&mut self.0, "preferAvoidPods", value); self }
}

object!(AzureDiskVolumeSource, AzureDiskVolumeSourceView);
part!(AzureDiskVolumeSource);
impl<'a> AzureDiskVolumeSourceView<'a> {
    pub fn disk_name(self) -> &'a str { read(self.0, "diskName") }
    pub fn disk_uri(self) -> &'a str { read(self.0, "diskURI") }
    pub fn caching_mode(self) -> Option<&'a str> { find(self.0, "cachingMode") }
    pub fn fs_type(self) -> Option<&'a str> { find(self.0, "fsType") }
    pub fn read_only(self) -> Option<bool> { find(self.0, "readOnly") }
    pub fn kind(self) -> Option<&'a str> { find(self.0, "kind") }
}
impl AzureDiskVolumeSource {
    pub fn set_disk_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "diskName", value.into_field()) }
    pub fn with_disk_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "diskName", value.into_field()); self }
    pub fn set_disk_uri(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "diskURI", value.into_field()) }
    pub fn with_disk_uri(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "diskURI", value.into_field()); self }
    pub fn set_caching_mode(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "cachingMode", value.into_field()) }
    pub fn with_caching_mode(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "cachingMode", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
}

object!(AzureFilePersistentVolumeSource, AzureFilePersistentVolumeSourceView);
part!(AzureFilePersistentVolumeSource);
impl<'a> AzureFilePersistentVolumeSourceView<'a> {
    pub fn secret_name(self) -> &'a str { read(self.0, "secretName") }
    pub fn share_name(self) -> &'a str { read(self.0, "shareName") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
    pub fn secret_namespace(self) -> Option<&'a str> { find(self.0, "secretNamespace") }
}
impl AzureFilePersistentVolumeSource {
    pub fn set_secret_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "secretName", value.into_field()) }
    pub fn with_secret_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "secretName", value.into_field()); self }
    pub fn set_share_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "shareName", value.into_field()) }
    pub fn with_share_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "shareName", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn set_secret_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "secretNamespace", value.into_field()) }
    pub fn with_secret_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "secretNamespace", value.into_field()); self }
}

object!(AzureFileVolumeSource, AzureFileVolumeSourceView);
part!(AzureFileVolumeSource);
impl<'a> AzureFileVolumeSourceView<'a> {
    pub fn secret_name(self) -> &'a str { read(self.0, "secretName") }
    pub fn share_name(self) -> &'a str { read(self.0, "shareName") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
}
impl AzureFileVolumeSource {
    pub fn set_secret_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "secretName", value.into_field()) }
    pub fn with_secret_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "secretName", value.into_field()); self }
    pub fn set_share_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "shareName", value.into_field()) }
    pub fn with_share_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "shareName", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
}

object!(Binding, BindingView);
kind!(Binding, "", "v1", "v1", "bindings");
impl<'a> BindingView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn target(self) -> g::core::v1::ObjectReferenceView<'a> { read(self.0, "target") }
}
impl Binding {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_target<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ObjectReference) -> R) -> R { edit(&mut self.0, "target", change) }
    pub fn set_target(&mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) { set(&mut self.0, "target", value.into_field()) }
    pub fn with_target(mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) -> Self { set(&mut self.0, "target", value.into_field()); self }
}

object!(CSIPersistentVolumeSource, CSIPersistentVolumeSourceView);
part!(CSIPersistentVolumeSource);
impl<'a> CSIPersistentVolumeSourceView<'a> {
    pub fn driver(self) -> &'a str { read(self.0, "driver") }
    pub fn volume_handle(self) -> &'a str { read(self.0, "volumeHandle") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn volume_attributes(self) -> r::Map<'a, &'a str> { read(self.0, "volumeAttributes") }
    pub fn controller_publish_secret_ref(self) -> Option<g::core::v1::SecretReferenceView<'a>> { find(self.0, "controllerPublishSecretRef") }
    pub fn node_stage_secret_ref(self) -> Option<g::core::v1::SecretReferenceView<'a>> { find(self.0, "nodeStageSecretRef") }
    pub fn node_publish_secret_ref(self) -> Option<g::core::v1::SecretReferenceView<'a>> { find(self.0, "nodePublishSecretRef") }
    pub fn controller_expand_secret_ref(self) -> Option<g::core::v1::SecretReferenceView<'a>> { find(self.0, "controllerExpandSecretRef") }
    pub fn node_expand_secret_ref(self) -> Option<g::core::v1::SecretReferenceView<'a>> { find(self.0, "nodeExpandSecretRef") }
}
impl CSIPersistentVolumeSource {
    pub fn set_driver(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "driver", value.into_field()) }
    pub fn with_driver(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "driver", value.into_field()); self }
    pub fn set_volume_handle(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeHandle", value.into_field()) }
    pub fn with_volume_handle(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeHandle", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn insert_volume_attributes(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "volumeAttributes", key, value) }
    pub fn set_volume_attributes(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "volumeAttributes", value) }
    pub fn with_volume_attributes(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "volumeAttributes", value); self }
    pub fn edit_controller_publish_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecretReference) -> R) -> R { edit(&mut self.0, "controllerPublishSecretRef", change) }
    pub fn set_controller_publish_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::SecretReference>) { set(&mut self.0, "controllerPublishSecretRef", value.into_field()) }
    pub fn with_controller_publish_secret_ref(mut self, value: impl o::IntoField<g::core::v1::SecretReference>) -> Self { set(&mut self.0, "controllerPublishSecretRef", value.into_field()); self }
    pub fn edit_node_stage_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecretReference) -> R) -> R { edit(&mut self.0, "nodeStageSecretRef", change) }
    pub fn set_node_stage_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::SecretReference>) { set(&mut self.0, "nodeStageSecretRef", value.into_field()) }
    pub fn with_node_stage_secret_ref(mut self, value: impl o::IntoField<g::core::v1::SecretReference>) -> Self { set(&mut self.0, "nodeStageSecretRef", value.into_field()); self }
    pub fn edit_node_publish_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecretReference) -> R) -> R { edit(&mut self.0, "nodePublishSecretRef", change) }
    pub fn set_node_publish_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::SecretReference>) { set(&mut self.0, "nodePublishSecretRef", value.into_field()) }
    pub fn with_node_publish_secret_ref(mut self, value: impl o::IntoField<g::core::v1::SecretReference>) -> Self { set(&mut self.0, "nodePublishSecretRef", value.into_field()); self }
    pub fn edit_controller_expand_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecretReference) -> R) -> R { edit(&mut self.0, "controllerExpandSecretRef", change) }
    pub fn set_controller_expand_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::SecretReference>) { set(&mut self.0, "controllerExpandSecretRef", value.into_field()) }
    pub fn with_controller_expand_secret_ref(mut self, value: impl o::IntoField<g::core::v1::SecretReference>) -> Self { set(&mut self.0, "controllerExpandSecretRef", value.into_field()); self }
    pub fn edit_node_expand_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecretReference) -> R) -> R { edit(&mut self.0, "nodeExpandSecretRef", change) }
    pub fn set_node_expand_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::SecretReference>) { set(&mut self.0, "nodeExpandSecretRef", value.into_field()) }
    pub fn with_node_expand_secret_ref(mut self, value: impl o::IntoField<g::core::v1::SecretReference>) -> Self { set(&mut self.0, "nodeExpandSecretRef", value.into_field()); self }
}

object!(CSIVolumeSource, CSIVolumeSourceView);
part!(CSIVolumeSource);
impl<'a> CSIVolumeSourceView<'a> {
    pub fn driver(self) -> &'a str { read(self.0, "driver") }
    pub fn read_only(self) -> Option<bool> { find(self.0, "readOnly") }
    pub fn fs_type(self) -> Option<&'a str> { find(self.0, "fsType") }
    pub fn volume_attributes(self) -> r::Map<'a, &'a str> { read(self.0, "volumeAttributes") }
    pub fn node_publish_secret_ref(self) -> Option<g::core::v1::LocalObjectReferenceView<'a>> { find(self.0, "nodePublishSecretRef") }
}
impl CSIVolumeSource {
    pub fn set_driver(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "driver", value.into_field()) }
    pub fn with_driver(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "driver", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn insert_volume_attributes(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "volumeAttributes", key, value) }
    pub fn set_volume_attributes(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "volumeAttributes", value) }
    pub fn with_volume_attributes(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "volumeAttributes", value); self }
    pub fn edit_node_publish_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::LocalObjectReference) -> R) -> R { edit(&mut self.0, "nodePublishSecretRef", change) }
    pub fn set_node_publish_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::LocalObjectReference>) { set(&mut self.0, "nodePublishSecretRef", value.into_field()) }
    pub fn with_node_publish_secret_ref(mut self, value: impl o::IntoField<g::core::v1::LocalObjectReference>) -> Self { set(&mut self.0, "nodePublishSecretRef", value.into_field()); self }
}

object!(Capabilities, CapabilitiesView);
part!(Capabilities);
impl<'a> CapabilitiesView<'a> {
    pub fn add(self) -> r::List<'a, &'a str> { read(self.0, "add") }
    pub fn drop(self) -> r::List<'a, &'a str> { read(self.0, "drop") }
}
impl Capabilities {
    pub fn push_add(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "add", item) }
    pub fn set_add(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "add", value) }
    pub fn with_add(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "add", value); self }
    pub fn push_drop(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "drop", item) }
    pub fn set_drop(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "drop", value) }
    pub fn with_drop(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "drop", value); self }
}

object!(CephFSPersistentVolumeSource, CephFSPersistentVolumeSourceView);
part!(CephFSPersistentVolumeSource);
impl<'a> CephFSPersistentVolumeSourceView<'a> {
    pub fn monitors(self) -> r::List<'a, &'a str> { read(self.0, "monitors") }
    pub fn path(self) -> &'a str { read(self.0, "path") }
    pub fn user(self) -> &'a str { read(self.0, "user") }
    pub fn secret_file(self) -> &'a str { read(self.0, "secretFile") }
    pub fn secret_ref(self) -> Option<g::core::v1::SecretReferenceView<'a>> { find(self.0, "secretRef") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
}
impl CephFSPersistentVolumeSource {
    pub fn push_monitors(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "monitors", item) }
    pub fn set_monitors(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "monitors", value) }
    pub fn with_monitors(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "monitors", value); self }
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
    pub fn set_user(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "user", value.into_field()) }
    pub fn with_user(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "user", value.into_field()); self }
    pub fn set_secret_file(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "secretFile", value.into_field()) }
    pub fn with_secret_file(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "secretFile", value.into_field()); self }
    pub fn edit_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecretReference) -> R) -> R { edit(&mut self.0, "secretRef", change) }
    pub fn set_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::SecretReference>) { set(&mut self.0, "secretRef", value.into_field()) }
    pub fn with_secret_ref(mut self, value: impl o::IntoField<g::core::v1::SecretReference>) -> Self { set(&mut self.0, "secretRef", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
}

object!(CephFSVolumeSource, CephFSVolumeSourceView);
part!(CephFSVolumeSource);
impl<'a> CephFSVolumeSourceView<'a> {
    pub fn monitors(self) -> r::List<'a, &'a str> { read(self.0, "monitors") }
    pub fn path(self) -> &'a str { read(self.0, "path") }
    pub fn user(self) -> &'a str { read(self.0, "user") }
    pub fn secret_file(self) -> &'a str { read(self.0, "secretFile") }
    pub fn secret_ref(self) -> Option<g::core::v1::LocalObjectReferenceView<'a>> { find(self.0, "secretRef") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
}
impl CephFSVolumeSource {
    pub fn push_monitors(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "monitors", item) }
    pub fn set_monitors(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "monitors", value) }
    pub fn with_monitors(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "monitors", value); self }
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
    pub fn set_user(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "user", value.into_field()) }
    pub fn with_user(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "user", value.into_field()); self }
    pub fn set_secret_file(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "secretFile", value.into_field()) }
    pub fn with_secret_file(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "secretFile", value.into_field()); self }
    pub fn edit_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::LocalObjectReference) -> R) -> R { edit(&mut self.0, "secretRef", change) }
    pub fn set_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::LocalObjectReference>) { set(&mut self.0, "secretRef", value.into_field()) }
    pub fn with_secret_ref(mut self, value: impl o::IntoField<g::core::v1::LocalObjectReference>) -> Self { set(&mut self.0, "secretRef", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
}

object!(CinderPersistentVolumeSource, CinderPersistentVolumeSourceView);
part!(CinderPersistentVolumeSource);
impl<'a> CinderPersistentVolumeSourceView<'a> {
    pub fn volume_id(self) -> &'a str { read(self.0, "volumeID") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
    pub fn secret_ref(self) -> Option<g::core::v1::SecretReferenceView<'a>> { find(self.0, "secretRef") }
}
impl CinderPersistentVolumeSource {
    pub fn set_volume_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeID", value.into_field()) }
    pub fn with_volume_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeID", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn edit_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecretReference) -> R) -> R { edit(&mut self.0, "secretRef", change) }
    pub fn set_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::SecretReference>) { set(&mut self.0, "secretRef", value.into_field()) }
    pub fn with_secret_ref(mut self, value: impl o::IntoField<g::core::v1::SecretReference>) -> Self { set(&mut self.0, "secretRef", value.into_field()); self }
}

object!(CinderVolumeSource, CinderVolumeSourceView);
part!(CinderVolumeSource);
impl<'a> CinderVolumeSourceView<'a> {
    pub fn volume_id(self) -> &'a str { read(self.0, "volumeID") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
    pub fn secret_ref(self) -> Option<g::core::v1::LocalObjectReferenceView<'a>> { find(self.0, "secretRef") }
}
impl CinderVolumeSource {
    pub fn set_volume_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeID", value.into_field()) }
    pub fn with_volume_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeID", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn edit_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::LocalObjectReference) -> R) -> R { edit(&mut self.0, "secretRef", change) }
    pub fn set_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::LocalObjectReference>) { set(&mut self.0, "secretRef", value.into_field()) }
    pub fn with_secret_ref(mut self, value: impl o::IntoField<g::core::v1::LocalObjectReference>) -> Self { set(&mut self.0, "secretRef", value.into_field()); self }
}

object!(ClientIPConfig, ClientIPConfigView);
part!(ClientIPConfig);
impl<'a> ClientIPConfigView<'a> {
    pub fn timeout_seconds(self) -> Option<i32> { find(self.0, "timeoutSeconds") }
}
impl ClientIPConfig {
    pub fn set_timeout_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "timeoutSeconds", value.into_field()) }
    pub fn with_timeout_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "timeoutSeconds", value.into_field()); self }
}

object!(ClusterTrustBundleProjection, ClusterTrustBundleProjectionView);
part!(ClusterTrustBundleProjection);
impl<'a> ClusterTrustBundleProjectionView<'a> {
    pub fn name(self) -> Option<&'a str> { find(self.0, "name") }
    pub fn signer_name(self) -> Option<&'a str> { find(self.0, "signerName") }
    pub fn label_selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "labelSelector") }
    pub fn optional(self) -> Option<bool> { find(self.0, "optional") }
    pub fn path(self) -> &'a str { read(self.0, "path") }
}
impl ClusterTrustBundleProjection {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_signer_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "signerName", value.into_field()) }
    pub fn with_signer_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "signerName", value.into_field()); self }
    pub fn edit_label_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "labelSelector", change) }
    pub fn set_label_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "labelSelector", value.into_field()) }
    pub fn with_label_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "labelSelector", value.into_field()); self }
    pub fn set_optional(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "optional", value.into_field()) }
    pub fn with_optional(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "optional", value.into_field()); self }
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
}

object!(ComponentCondition, ComponentConditionView);
part!(ComponentCondition);
impl<'a> ComponentConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
    pub fn error(self) -> &'a str { read(self.0, "error") }
}
impl ComponentCondition {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_status(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "status", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
    pub fn set_error(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "error", value.into_field()) }
    pub fn with_error(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "error", value.into_field()); self }
}

object!(ComponentStatus, ComponentStatusView);
kind!(ComponentStatus, "", "v1", "v1", "componentstatuses");
impl<'a> ComponentStatusView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn conditions(self) -> r::List<'a, g::core::v1::ComponentConditionView<'a>> { read(self.0, "conditions") }
}
impl ComponentStatus {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::core::v1::ComponentCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ComponentCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ComponentCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
}

object!(ComponentStatusList, ComponentStatusListView);
part!(ComponentStatusList);
impl<'a> ComponentStatusListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::core::v1::ComponentStatusView<'a>> { read(self.0, "items") }
}
impl ComponentStatusList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::ComponentStatus>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ComponentStatus>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ComponentStatus>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(ConfigMap, ConfigMapView);
kind!(ConfigMap, "", "v1", "v1", "configmaps");
impl<'a> ConfigMapView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn immutable(self) -> Option<bool> { find(self.0, "immutable") }
    pub fn data(self) -> r::Map<'a, &'a str> { read(self.0, "data") }
    pub fn binary_data(self) -> r::Map<'a, r::Base64<'a>> { read(self.0, "binaryData") }
}
impl ConfigMap {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn set_immutable(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "immutable", value.into_field()) }
    pub fn with_immutable(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "immutable", value.into_field()); self }
    pub fn insert_data(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "data", key, value) }
    pub fn set_data(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "data", value) }
    pub fn with_data(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "data", value); self }
    pub fn insert_binary_data(&mut self, key: &str, value: impl o::IntoField<o::Bytes>) { insert(&mut self.0, "binaryData", key, value) }
    pub fn set_binary_data(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Bytes>)>) { set_map(&mut self.0, "binaryData", value) }
    pub fn with_binary_data(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Bytes>)>) -> Self { set_map(&mut self.0, "binaryData", value); self }
}

object!(ConfigMapEnvSource, ConfigMapEnvSourceView);
part!(ConfigMapEnvSource);
impl<'a> ConfigMapEnvSourceView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn optional(self) -> Option<bool> { find(self.0, "optional") }
}
impl ConfigMapEnvSource {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_optional(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "optional", value.into_field()) }
    pub fn with_optional(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "optional", value.into_field()); self }
}

object!(ConfigMapKeySelector, ConfigMapKeySelectorView);
part!(ConfigMapKeySelector);
impl<'a> ConfigMapKeySelectorView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn key(self) -> &'a str { read(self.0, "key") }
    pub fn optional(self) -> Option<bool> { find(self.0, "optional") }
}
impl ConfigMapKeySelector {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "key", value.into_field()) }
    pub fn with_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "key", value.into_field()); self }
    pub fn set_optional(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "optional", value.into_field()) }
    pub fn with_optional(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "optional", value.into_field()); self }
}

object!(ConfigMapList, ConfigMapListView);
part!(ConfigMapList);
impl<'a> ConfigMapListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::core::v1::ConfigMapView<'a>> { read(self.0, "items") }
}
impl ConfigMapList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::ConfigMap>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ConfigMap>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ConfigMap>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(ConfigMapNodeConfigSource, ConfigMapNodeConfigSourceView);
part!(ConfigMapNodeConfigSource);
impl<'a> ConfigMapNodeConfigSourceView<'a> {
    pub fn namespace(self) -> &'a str { read(self.0, "namespace") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn uid(self) -> &'a str { read(self.0, "uid") }
    pub fn resource_version(self) -> &'a str { read(self.0, "resourceVersion") }
    pub fn kubelet_config_key(self) -> &'a str { read(self.0, "kubeletConfigKey") }
}
impl ConfigMapNodeConfigSource {
    pub fn set_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "namespace", value.into_field()) }
    pub fn with_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "namespace", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_uid(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "uid", value.into_field()) }
    pub fn with_uid(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "uid", value.into_field()); self }
    pub fn set_resource_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resourceVersion", value.into_field()) }
    pub fn with_resource_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resourceVersion", value.into_field()); self }
    pub fn set_kubelet_config_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kubeletConfigKey", value.into_field()) }
    pub fn with_kubelet_config_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kubeletConfigKey", value.into_field()); self }
}

object!(ConfigMapProjection, ConfigMapProjectionView);
part!(ConfigMapProjection);
impl<'a> ConfigMapProjectionView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn items(self) -> r::List<'a, g::core::v1::KeyToPathView<'a>> { read(self.0, "items") }
    pub fn optional(self) -> Option<bool> { find(self.0, "optional") }
}
impl ConfigMapProjection {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::KeyToPath>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::KeyToPath>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::KeyToPath>>) -> Self { set_list(&mut self.0, "items", value); self }
    pub fn set_optional(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "optional", value.into_field()) }
    pub fn with_optional(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "optional", value.into_field()); self }
}

object!(ConfigMapVolumeSource, ConfigMapVolumeSourceView);
part!(ConfigMapVolumeSource);
impl<'a> ConfigMapVolumeSourceView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn items(self) -> r::List<'a, g::core::v1::KeyToPathView<'a>> { read(self.0, "items") }
    pub fn default_mode(self) -> Option<i32> { find(self.0, "defaultMode") }
    pub fn optional(self) -> Option<bool> { find(self.0, "optional") }
}
impl ConfigMapVolumeSource {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::KeyToPath>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::KeyToPath>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::KeyToPath>>) -> Self { set_list(&mut self.0, "items", value); self }
    pub fn set_default_mode(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "defaultMode", value.into_field()) }
    pub fn with_default_mode(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "defaultMode", value.into_field()); self }
    pub fn set_optional(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "optional", value.into_field()) }
    pub fn with_optional(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "optional", value.into_field()); self }
}

object!(Container, ContainerView);
part!(Container);
impl<'a> ContainerView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn image(self) -> &'a str { read(self.0, "image") }
    pub fn command(self) -> r::List<'a, &'a str> { read(self.0, "command") }
    pub fn args(self) -> r::List<'a, &'a str> { read(self.0, "args") }
    pub fn working_dir(self) -> &'a str { read(self.0, "workingDir") }
    pub fn ports(self) -> r::List<'a, g::core::v1::ContainerPortView<'a>> { read(self.0, "ports") }
    pub fn env_from(self) -> r::List<'a, g::core::v1::EnvFromSourceView<'a>> { read(self.0, "envFrom") }
    pub fn env(self) -> r::List<'a, g::core::v1::EnvVarView<'a>> { read(self.0, "env") }
    pub fn resources(self) -> g::core::v1::ResourceRequirementsView<'a> { read(self.0, "resources") }
    pub fn resize_policy(self) -> r::List<'a, g::core::v1::ContainerResizePolicyView<'a>> { read(self.0, "resizePolicy") }
    pub fn restart_policy(self) -> Option<&'a str> { find(self.0, "restartPolicy") }
    pub fn restart_policy_rules(self) -> r::List<'a, g::core::v1::ContainerRestartRuleView<'a>> { read(self.0, "restartPolicyRules") }
    pub fn volume_mounts(self) -> r::List<'a, g::core::v1::VolumeMountView<'a>> { read(self.0, "volumeMounts") }
    pub fn volume_devices(self) -> r::List<'a, g::core::v1::VolumeDeviceView<'a>> { read(self.0, "volumeDevices") }
    pub fn liveness_probe(self) -> Option<g::core::v1::ProbeView<'a>> { find(self.0, "livenessProbe") }
    pub fn readiness_probe(self) -> Option<g::core::v1::ProbeView<'a>> { find(self.0, "readinessProbe") }
    pub fn startup_probe(self) -> Option<g::core::v1::ProbeView<'a>> { find(self.0, "startupProbe") }
    pub fn lifecycle(self) -> Option<g::core::v1::LifecycleView<'a>> { find(self.0, "lifecycle") }
    pub fn termination_message_path(self) -> &'a str { read(self.0, "terminationMessagePath") }
    pub fn termination_message_policy(self) -> &'a str { read(self.0, "terminationMessagePolicy") }
    pub fn image_pull_policy(self) -> &'a str { read(self.0, "imagePullPolicy") }
    pub fn security_context(self) -> Option<g::core::v1::SecurityContextView<'a>> { find(self.0, "securityContext") }
    pub fn stdin(self) -> bool { read(self.0, "stdin") }
    pub fn stdin_once(self) -> bool { read(self.0, "stdinOnce") }
    pub fn tty(self) -> bool { read(self.0, "tty") }
}
impl Container {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_image(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "image", value.into_field()) }
    pub fn with_image(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "image", value.into_field()); self }
    pub fn push_command(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "command", item) }
    pub fn set_command(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "command", value) }
    pub fn with_command(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "command", value); self }
    pub fn push_args(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "args", item) }
    pub fn set_args(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "args", value) }
    pub fn with_args(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "args", value); self }
    pub fn set_working_dir(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "workingDir", value.into_field()) }
    pub fn with_working_dir(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "workingDir", value.into_field()); self }
    pub fn push_ports(&mut self, item: impl o::IntoField<g::core::v1::ContainerPort>) { push(&mut self.0, "ports", item) }
    pub fn set_ports(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerPort>>) { set_list(&mut self.0, "ports", value) }
    pub fn with_ports(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerPort>>) -> Self { set_list(&mut self.0, "ports", value); self }
    pub fn push_env_from(&mut self, item: impl o::IntoField<g::core::v1::EnvFromSource>) { push(&mut self.0, "envFrom", item) }
    pub fn set_env_from(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EnvFromSource>>) { set_list(&mut self.0, "envFrom", value) }
    pub fn with_env_from(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EnvFromSource>>) -> Self { set_list(&mut self.0, "envFrom", value); self }
    pub fn push_env(&mut self, item: impl o::IntoField<g::core::v1::EnvVar>) { push(&mut self.0, "env", item) }
    pub fn set_env(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EnvVar>>) { set_list(&mut self.0, "env", value) }
    pub fn with_env(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EnvVar>>) -> Self { set_list(&mut self.0, "env", value); self }
    pub fn edit_resources<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ResourceRequirements) -> R) -> R { edit(&mut self.0, "resources", change) }
    pub fn set_resources(&mut self, value: impl o::IntoField<g::core::v1::ResourceRequirements>) { set(&mut self.0, "resources", value.into_field()) }
    pub fn with_resources(mut self, value: impl o::IntoField<g::core::v1::ResourceRequirements>) -> Self { set(&mut self.0, "resources", value.into_field()); self }
    pub fn push_resize_policy(&mut self, item: impl o::IntoField<g::core::v1::ContainerResizePolicy>) { push(&mut self.0, "resizePolicy", item) }
    pub fn set_resize_policy(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerResizePolicy>>) { set_list(&mut self.0, "resizePolicy", value) }
    pub fn with_resize_policy(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerResizePolicy>>) -> Self { set_list(&mut self.0, "resizePolicy", value); self }
    pub fn set_restart_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "restartPolicy", value.into_field()) }
    pub fn with_restart_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "restartPolicy", value.into_field()); self }
    pub fn push_restart_policy_rules(&mut self, item: impl o::IntoField<g::core::v1::ContainerRestartRule>) { push(&mut self.0, "restartPolicyRules", item) }
    pub fn set_restart_policy_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerRestartRule>>) { set_list(&mut self.0, "restartPolicyRules", value) }
    pub fn with_restart_policy_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerRestartRule>>) -> Self { set_list(&mut self.0, "restartPolicyRules", value); self }
    pub fn push_volume_mounts(&mut self, item: impl o::IntoField<g::core::v1::VolumeMount>) { push(&mut self.0, "volumeMounts", item) }
    pub fn set_volume_mounts(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::VolumeMount>>) { set_list(&mut self.0, "volumeMounts", value) }
    pub fn with_volume_mounts(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::VolumeMount>>) -> Self { set_list(&mut self.0, "volumeMounts", value); self }
    pub fn push_volume_devices(&mut self, item: impl o::IntoField<g::core::v1::VolumeDevice>) { push(&mut self.0, "volumeDevices", item) }
    pub fn set_volume_devices(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::VolumeDevice>>) { set_list(&mut self.0, "volumeDevices", value) }
    pub fn with_volume_devices(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::VolumeDevice>>) -> Self { set_list(&mut self.0, "volumeDevices", value); self }
    pub fn edit_liveness_probe<R>(&mut self, change: impl FnOnce(&mut g::core::v1::Probe) -> R) -> R { edit(&mut self.0, "livenessProbe", change) }
    pub fn set_liveness_probe(&mut self, value: impl o::IntoField<g::core::v1::Probe>) { set(&mut self.0, "livenessProbe", value.into_field()) }
    pub fn with_liveness_probe(mut self, value: impl o::IntoField<g::core::v1::Probe>) -> Self { set(&mut self.0, "livenessProbe", value.into_field()); self }
    pub fn edit_readiness_probe<R>(&mut self, change: impl FnOnce(&mut g::core::v1::Probe) -> R) -> R { edit(&mut self.0, "readinessProbe", change) }
    pub fn set_readiness_probe(&mut self, value: impl o::IntoField<g::core::v1::Probe>) { set(&mut self.0, "readinessProbe", value.into_field()) }
    pub fn with_readiness_probe(mut self, value: impl o::IntoField<g::core::v1::Probe>) -> Self { set(&mut self.0, "readinessProbe", value.into_field()); self }
    pub fn edit_startup_probe<R>(&mut self, change: impl FnOnce(&mut g::core::v1::Probe) -> R) -> R { edit(&mut self.0, "startupProbe", change) }
    pub fn set_startup_probe(&mut self, value: impl o::IntoField<g::core::v1::Probe>) { set(&mut self.0, "startupProbe", value.into_field()) }
    pub fn with_startup_probe(mut self, value: impl o::IntoField<g::core::v1::Probe>) -> Self { set(&mut self.0, "startupProbe", value.into_field()); self }
    pub fn edit_lifecycle<R>(&mut self, change: impl FnOnce(&mut g::core::v1::Lifecycle) -> R) -> R { edit(&mut self.0, "lifecycle", change) }
    pub fn set_lifecycle(&mut self, value: impl o::IntoField<g::core::v1::Lifecycle>) { set(&mut self.0, "lifecycle", value.into_field()) }
    pub fn with_lifecycle(mut self, value: impl o::IntoField<g::core::v1::Lifecycle>) -> Self { set(&mut self.0, "lifecycle", value.into_field()); self }
    pub fn set_termination_message_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "terminationMessagePath", value.into_field()) }
    pub fn with_termination_message_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "terminationMessagePath", value.into_field()); self }
    pub fn set_termination_message_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "terminationMessagePolicy", value.into_field()) }
    pub fn with_termination_message_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "terminationMessagePolicy", value.into_field()); self }
    pub fn set_image_pull_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "imagePullPolicy", value.into_field()) }
    pub fn with_image_pull_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "imagePullPolicy", value.into_field()); self }
    pub fn edit_security_context<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecurityContext) -> R) -> R { edit(&mut self.0, "securityContext", change) }
    pub fn set_security_context(&mut self, value: impl o::IntoField<g::core::v1::SecurityContext>) { set(&mut self.0, "securityContext", value.into_field()) }
    pub fn with_security_context(mut self, value: impl o::IntoField<g::core::v1::SecurityContext>) -> Self { set(&mut self.0, "securityContext", value.into_field()); self }
    pub fn set_stdin(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "stdin", value.into_field()) }
    pub fn with_stdin(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "stdin", value.into_field()); self }
    pub fn set_stdin_once(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "stdinOnce", value.into_field()) }
    pub fn with_stdin_once(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "stdinOnce", value.into_field()); self }
    pub fn set_tty(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "tty", value.into_field()) }
    pub fn with_tty(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "tty", value.into_field()); self }
}

object!(ContainerExtendedResourceRequest, ContainerExtendedResourceRequestView);
part!(ContainerExtendedResourceRequest);
impl<'a> ContainerExtendedResourceRequestView<'a> {
    pub fn container_name(self) -> &'a str { read(self.0, "containerName") }
    pub fn resource_name(self) -> &'a str { read(self.0, "resourceName") }
    pub fn request_name(self) -> &'a str { read(self.0, "requestName") }
}
impl ContainerExtendedResourceRequest {
    pub fn set_container_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "containerName", value.into_field()) }
    pub fn with_container_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "containerName", value.into_field()); self }
    pub fn set_resource_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resourceName", value.into_field()) }
    pub fn with_resource_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resourceName", value.into_field()); self }
    pub fn set_request_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "requestName", value.into_field()) }
    pub fn with_request_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "requestName", value.into_field()); self }
}

object!(ContainerImage, ContainerImageView);
part!(ContainerImage);
impl<'a> ContainerImageView<'a> {
    pub fn names(self) -> r::List<'a, &'a str> { read(self.0, "names") }
    pub fn size_bytes(self) -> i64 { read(self.0, "sizeBytes") }
}
impl ContainerImage {
    pub fn push_names(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "names", item) }
    pub fn set_names(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "names", value) }
    pub fn with_names(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "names", value); self }
    pub fn set_size_bytes(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "sizeBytes", value.into_field()) }
    pub fn with_size_bytes(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "sizeBytes", value.into_field()); self }
}

object!(ContainerPort, ContainerPortView);
part!(ContainerPort);
impl<'a> ContainerPortView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn host_port(self) -> i32 { read(self.0, "hostPort") }
    pub fn container_port(self) -> i32 { read(self.0, "containerPort") }
    pub fn protocol(self) -> &'a str { read(self.0, "protocol") }
    pub fn host_ip(self) -> &'a str { read(self.0, "hostIP") }
}
impl ContainerPort {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_host_port(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "hostPort", value.into_field()) }
    pub fn with_host_port(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "hostPort", value.into_field()); self }
    pub fn set_container_port(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "containerPort", value.into_field()) }
    pub fn with_container_port(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "containerPort", value.into_field()); self }
    pub fn set_protocol(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "protocol", value.into_field()) }
    pub fn with_protocol(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "protocol", value.into_field()); self }
    pub fn set_host_ip(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "hostIP", value.into_field()) }
    pub fn with_host_ip(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "hostIP", value.into_field()); self }
}

object!(ContainerResizePolicy, ContainerResizePolicyView);
part!(ContainerResizePolicy);
impl<'a> ContainerResizePolicyView<'a> {
    pub fn resource_name(self) -> &'a str { read(self.0, "resourceName") }
    pub fn restart_policy(self) -> &'a str { read(self.0, "restartPolicy") }
}
impl ContainerResizePolicy {
    pub fn set_resource_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resourceName", value.into_field()) }
    pub fn with_resource_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resourceName", value.into_field()); self }
    pub fn set_restart_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "restartPolicy", value.into_field()) }
    pub fn with_restart_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "restartPolicy", value.into_field()); self }
}

object!(ContainerRestartRule, ContainerRestartRuleView);
part!(ContainerRestartRule);
impl<'a> ContainerRestartRuleView<'a> {
    pub fn action(self) -> &'a str { read(self.0, "action") }
    pub fn exit_codes(self) -> Option<g::core::v1::ContainerRestartRuleOnExitCodesView<'a>> { find(self.0, "exitCodes") }
}
impl ContainerRestartRule {
    pub fn set_action(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "action", value.into_field()) }
    pub fn with_action(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "action", value.into_field()); self }
    pub fn edit_exit_codes<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ContainerRestartRuleOnExitCodes) -> R) -> R { edit(&mut self.0, "exitCodes", change) }
    pub fn set_exit_codes(&mut self, value: impl o::IntoField<g::core::v1::ContainerRestartRuleOnExitCodes>) { set(&mut self.0, "exitCodes", value.into_field()) }
    pub fn with_exit_codes(mut self, value: impl o::IntoField<g::core::v1::ContainerRestartRuleOnExitCodes>) -> Self { set(&mut self.0, "exitCodes", value.into_field()); self }
}

object!(ContainerRestartRuleOnExitCodes, ContainerRestartRuleOnExitCodesView);
part!(ContainerRestartRuleOnExitCodes);
impl<'a> ContainerRestartRuleOnExitCodesView<'a> {
    pub fn operator(self) -> &'a str { read(self.0, "operator") }
    pub fn values(self) -> r::List<'a, i32> { read(self.0, "values") }
}
impl ContainerRestartRuleOnExitCodes {
    pub fn set_operator(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "operator", value.into_field()) }
    pub fn with_operator(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "operator", value.into_field()); self }
    pub fn push_values(&mut self, item: impl o::IntoField<i32>) { push(&mut self.0, "values", item) }
    pub fn set_values(&mut self, value: impl IntoIterator<Item = impl o::IntoField<i32>>) { set_list(&mut self.0, "values", value) }
    pub fn with_values(mut self, value: impl IntoIterator<Item = impl o::IntoField<i32>>) -> Self { set_list(&mut self.0, "values", value); self }
}

object!(ContainerState, ContainerStateView);
part!(ContainerState);
impl<'a> ContainerStateView<'a> {
    pub fn waiting(self) -> Option<g::core::v1::ContainerStateWaitingView<'a>> { find(self.0, "waiting") }
    pub fn running(self) -> Option<g::core::v1::ContainerStateRunningView<'a>> { find(self.0, "running") }
    pub fn terminated(self) -> Option<g::core::v1::ContainerStateTerminatedView<'a>> { find(self.0, "terminated") }
}
impl ContainerState {
    pub fn edit_waiting<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ContainerStateWaiting) -> R) -> R { edit(&mut self.0, "waiting", change) }
    pub fn set_waiting(&mut self, value: impl o::IntoField<g::core::v1::ContainerStateWaiting>) { set(&mut self.0, "waiting", value.into_field()) }
    pub fn with_waiting(mut self, value: impl o::IntoField<g::core::v1::ContainerStateWaiting>) -> Self { set(&mut self.0, "waiting", value.into_field()); self }
    pub fn edit_running<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ContainerStateRunning) -> R) -> R { edit(&mut self.0, "running", change) }
    pub fn set_running(&mut self, value: impl o::IntoField<g::core::v1::ContainerStateRunning>) { set(&mut self.0, "running", value.into_field()) }
    pub fn with_running(mut self, value: impl o::IntoField<g::core::v1::ContainerStateRunning>) -> Self { set(&mut self.0, "running", value.into_field()); self }
    pub fn edit_terminated<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ContainerStateTerminated) -> R) -> R { edit(&mut self.0, "terminated", change) }
    pub fn set_terminated(&mut self, value: impl o::IntoField<g::core::v1::ContainerStateTerminated>) { set(&mut self.0, "terminated", value.into_field()) }
    pub fn with_terminated(mut self, value: impl o::IntoField<g::core::v1::ContainerStateTerminated>) -> Self { set(&mut self.0, "terminated", value.into_field()); self }
}

object!(ContainerStateRunning, ContainerStateRunningView);
part!(ContainerStateRunning);
impl<'a> ContainerStateRunningView<'a> {
    pub fn started_at(self) -> Option<r::Timestamp> { find(self.0, "startedAt") }
}
impl ContainerStateRunning {
    pub fn set_started_at(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "startedAt", value.into_field()) }
    pub fn with_started_at(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "startedAt", value.into_field()); self }
}

object!(ContainerStateTerminated, ContainerStateTerminatedView);
part!(ContainerStateTerminated);
impl<'a> ContainerStateTerminatedView<'a> {
    pub fn exit_code(self) -> i32 { read(self.0, "exitCode") }
    pub fn signal(self) -> i32 { read(self.0, "signal") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
    pub fn started_at(self) -> Option<r::Timestamp> { find(self.0, "startedAt") }
    pub fn finished_at(self) -> Option<r::Timestamp> { find(self.0, "finishedAt") }
    pub fn container_id(self) -> &'a str { read(self.0, "containerID") }
}
impl ContainerStateTerminated {
    pub fn set_exit_code(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "exitCode", value.into_field()) }
    pub fn with_exit_code(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "exitCode", value.into_field()); self }
    pub fn set_signal(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "signal", value.into_field()) }
    pub fn with_signal(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "signal", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
    pub fn set_started_at(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "startedAt", value.into_field()) }
    pub fn with_started_at(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "startedAt", value.into_field()); self }
    pub fn set_finished_at(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "finishedAt", value.into_field()) }
    pub fn with_finished_at(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "finishedAt", value.into_field()); self }
    pub fn set_container_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "containerID", value.into_field()) }
    pub fn with_container_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "containerID", value.into_field()); self }
}

object!(ContainerStateWaiting, ContainerStateWaitingView);
part!(ContainerStateWaiting);
impl<'a> ContainerStateWaitingView<'a> {
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl ContainerStateWaiting {
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
}

object!(ContainerStatus, ContainerStatusView);
part!(ContainerStatus);
impl<'a> ContainerStatusView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn state(self) -> g::core::v1::ContainerStateView<'a> { read(self.0, "state") }
    pub fn last_state(self) -> g::core::v1::ContainerStateView<'a> { read(self.0, "lastState") }
    pub fn ready(self) -> bool { read(self.0, "ready") }
    pub fn restart_count(self) -> i32 { read(self.0, "restartCount") }
    pub fn image(self) -> &'a str { read(self.0, "image") }
    pub fn image_id(self) -> &'a str { read(self.0, "imageID") }
    pub fn container_id(self) -> &'a str { read(self.0, "containerID") }
    pub fn started(self) -> Option<bool> { find(self.0, "started") }
    pub fn allocated_resources(self) -> r::Map<'a, r::Quantity> { read(self.0, "allocatedResources") }
    pub fn resources(self) -> Option<g::core::v1::ResourceRequirementsView<'a>> { find(self.0, "resources") }
    pub fn volume_mounts(self) -> r::List<'a, g::core::v1::VolumeMountStatusView<'a>> { read(self.0, "volumeMounts") }
    pub fn user(self) -> Option<g::core::v1::ContainerUserView<'a>> { find(self.0, "user") }
    pub fn allocated_resources_status(self) -> r::List<'a, g::core::v1::ResourceStatusView<'a>> { read(self.0, "allocatedResourcesStatus") }
    pub fn stop_signal(self) -> Option<&'a str> { find(self.0, "stopSignal") }
}
impl ContainerStatus {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn edit_state<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ContainerState) -> R) -> R { edit(&mut self.0, "state", change) }
    pub fn set_state(&mut self, value: impl o::IntoField<g::core::v1::ContainerState>) { set(&mut self.0, "state", value.into_field()) }
    pub fn with_state(mut self, value: impl o::IntoField<g::core::v1::ContainerState>) -> Self { set(&mut self.0, "state", value.into_field()); self }
    pub fn edit_last_state<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ContainerState) -> R) -> R { edit(&mut self.0, "lastState", change) }
    pub fn set_last_state(&mut self, value: impl o::IntoField<g::core::v1::ContainerState>) { set(&mut self.0, "lastState", value.into_field()) }
    pub fn with_last_state(mut self, value: impl o::IntoField<g::core::v1::ContainerState>) -> Self { set(&mut self.0, "lastState", value.into_field()); self }
    pub fn set_ready(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "ready", value.into_field()) }
    pub fn with_ready(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "ready", value.into_field()); self }
    pub fn set_restart_count(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "restartCount", value.into_field()) }
    pub fn with_restart_count(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "restartCount", value.into_field()); self }
    pub fn set_image(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "image", value.into_field()) }
    pub fn with_image(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "image", value.into_field()); self }
    pub fn set_image_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "imageID", value.into_field()) }
    pub fn with_image_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "imageID", value.into_field()); self }
    pub fn set_container_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "containerID", value.into_field()) }
    pub fn with_container_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "containerID", value.into_field()); self }
    pub fn set_started(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "started", value.into_field()) }
    pub fn with_started(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "started", value.into_field()); self }
    pub fn insert_allocated_resources(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "allocatedResources", key, value) }
    pub fn set_allocated_resources(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "allocatedResources", value) }
    pub fn with_allocated_resources(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "allocatedResources", value); self }
    pub fn edit_resources<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ResourceRequirements) -> R) -> R { edit(&mut self.0, "resources", change) }
    pub fn set_resources(&mut self, value: impl o::IntoField<g::core::v1::ResourceRequirements>) { set(&mut self.0, "resources", value.into_field()) }
    pub fn with_resources(mut self, value: impl o::IntoField<g::core::v1::ResourceRequirements>) -> Self { set(&mut self.0, "resources", value.into_field()); self }
    pub fn push_volume_mounts(&mut self, item: impl o::IntoField<g::core::v1::VolumeMountStatus>) { push(&mut self.0, "volumeMounts", item) }
    pub fn set_volume_mounts(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::VolumeMountStatus>>) { set_list(&mut self.0, "volumeMounts", value) }
    pub fn with_volume_mounts(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::VolumeMountStatus>>) -> Self { set_list(&mut self.0, "volumeMounts", value); self }
    pub fn edit_user<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ContainerUser) -> R) -> R { edit(&mut self.0, "user", change) }
    pub fn set_user(&mut self, value: impl o::IntoField<g::core::v1::ContainerUser>) { set(&mut self.0, "user", value.into_field()) }
    pub fn with_user(mut self, value: impl o::IntoField<g::core::v1::ContainerUser>) -> Self { set(&mut self.0, "user", value.into_field()); self }
    pub fn push_allocated_resources_status(&mut self, item: impl o::IntoField<g::core::v1::ResourceStatus>) { push(&mut self.0, "allocatedResourcesStatus", item) }
    pub fn set_allocated_resources_status(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ResourceStatus>>) { set_list(&mut self.0, "allocatedResourcesStatus", value) }
    pub fn with_allocated_resources_status(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ResourceStatus>>) -> Self { set_list(&mut self.0, "allocatedResourcesStatus", value); self }
    pub fn set_stop_signal(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "stopSignal", value.into_field()) }
    pub fn with_stop_signal(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "stopSignal", value.into_field()); self }
}

object!(ContainerUser, ContainerUserView);
part!(ContainerUser);
impl<'a> ContainerUserView<'a> {
    pub fn linux(self) -> Option<g::core::v1::LinuxContainerUserView<'a>> { find(self.0, "linux") }
}
impl ContainerUser {
    pub fn edit_linux<R>(&mut self, change: impl FnOnce(&mut g::core::v1::LinuxContainerUser) -> R) -> R { edit(&mut self.0, "linux", change) }
    pub fn set_linux(&mut self, value: impl o::IntoField<g::core::v1::LinuxContainerUser>) { set(&mut self.0, "linux", value.into_field()) }
    pub fn with_linux(mut self, value: impl o::IntoField<g::core::v1::LinuxContainerUser>) -> Self { set(&mut self.0, "linux", value.into_field()); self }
}

object!(DaemonEndpoint, DaemonEndpointView);
part!(DaemonEndpoint);
impl<'a> DaemonEndpointView<'a> {
    pub fn port(self) -> i32 { read(self.0, "Port") }
}
impl DaemonEndpoint {
    pub fn set_port(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "Port", value.into_field()) }
    pub fn with_port(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "Port", value.into_field()); self }
}

object!(DownwardAPIProjection, DownwardAPIProjectionView);
part!(DownwardAPIProjection);
impl<'a> DownwardAPIProjectionView<'a> {
    pub fn items(self) -> r::List<'a, g::core::v1::DownwardAPIVolumeFileView<'a>> { read(self.0, "items") }
}
impl DownwardAPIProjection {
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::DownwardAPIVolumeFile>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::DownwardAPIVolumeFile>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::DownwardAPIVolumeFile>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(DownwardAPIVolumeFile, DownwardAPIVolumeFileView);
part!(DownwardAPIVolumeFile);
impl<'a> DownwardAPIVolumeFileView<'a> {
    pub fn path(self) -> &'a str { read(self.0, "path") }
    pub fn field_ref(self) -> Option<g::core::v1::ObjectFieldSelectorView<'a>> { find(self.0, "fieldRef") }
    pub fn resource_field_ref(self) -> Option<g::core::v1::ResourceFieldSelectorView<'a>> { find(self.0, "resourceFieldRef") }
    pub fn mode(self) -> Option<i32> { find(self.0, "mode") }
}
impl DownwardAPIVolumeFile {
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
    pub fn edit_field_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ObjectFieldSelector) -> R) -> R { edit(&mut self.0, "fieldRef", change) }
    pub fn set_field_ref(&mut self, value: impl o::IntoField<g::core::v1::ObjectFieldSelector>) { set(&mut self.0, "fieldRef", value.into_field()) }
    pub fn with_field_ref(mut self, value: impl o::IntoField<g::core::v1::ObjectFieldSelector>) -> Self { set(&mut self.0, "fieldRef", value.into_field()); self }
    pub fn edit_resource_field_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ResourceFieldSelector) -> R) -> R { edit(&mut self.0, "resourceFieldRef", change) }
    pub fn set_resource_field_ref(&mut self, value: impl o::IntoField<g::core::v1::ResourceFieldSelector>) { set(&mut self.0, "resourceFieldRef", value.into_field()) }
    pub fn with_resource_field_ref(mut self, value: impl o::IntoField<g::core::v1::ResourceFieldSelector>) -> Self { set(&mut self.0, "resourceFieldRef", value.into_field()); self }
    pub fn set_mode(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "mode", value.into_field()) }
    pub fn with_mode(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "mode", value.into_field()); self }
}

object!(DownwardAPIVolumeSource, DownwardAPIVolumeSourceView);
part!(DownwardAPIVolumeSource);
impl<'a> DownwardAPIVolumeSourceView<'a> {
    pub fn items(self) -> r::List<'a, g::core::v1::DownwardAPIVolumeFileView<'a>> { read(self.0, "items") }
    pub fn default_mode(self) -> Option<i32> { find(self.0, "defaultMode") }
}
impl DownwardAPIVolumeSource {
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::DownwardAPIVolumeFile>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::DownwardAPIVolumeFile>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::DownwardAPIVolumeFile>>) -> Self { set_list(&mut self.0, "items", value); self }
    pub fn set_default_mode(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "defaultMode", value.into_field()) }
    pub fn with_default_mode(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "defaultMode", value.into_field()); self }
}

object!(EmptyDirVolumeSource, EmptyDirVolumeSourceView);
part!(EmptyDirVolumeSource);
impl<'a> EmptyDirVolumeSourceView<'a> {
    pub fn medium(self) -> &'a str { read(self.0, "medium") }
    pub fn size_limit(self) -> Option<r::Quantity> { find(self.0, "sizeLimit") }
}
impl EmptyDirVolumeSource {
    pub fn set_medium(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "medium", value.into_field()) }
    pub fn with_medium(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "medium", value.into_field()); self }
    pub fn set_size_limit(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "sizeLimit", value.into_field()) }
    pub fn with_size_limit(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "sizeLimit", value.into_field()); self }
}

object!(EndpointAddress, EndpointAddressView);
part!(EndpointAddress);
impl<'a> EndpointAddressView<'a> {
    pub fn ip(self) -> &'a str { read(self.0, "ip") }
    pub fn hostname(self) -> &'a str { read(self.0, "hostname") }
    pub fn node_name(self) -> Option<&'a str> { find(self.0, "nodeName") }
    pub fn target_ref(self) -> Option<g::core::v1::ObjectReferenceView<'a>> { find(self.0, "targetRef") }
}
impl EndpointAddress {
    pub fn set_ip(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "ip", value.into_field()) }
    pub fn with_ip(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "ip", value.into_field()); self }
    pub fn set_hostname(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "hostname", value.into_field()) }
    pub fn with_hostname(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "hostname", value.into_field()); self }
    pub fn set_node_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "nodeName", value.into_field()) }
    pub fn with_node_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "nodeName", value.into_field()); self }
    pub fn edit_target_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ObjectReference) -> R) -> R { edit(&mut self.0, "targetRef", change) }
    pub fn set_target_ref(&mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) { set(&mut self.0, "targetRef", value.into_field()) }
    pub fn with_target_ref(mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) -> Self { set(&mut self.0, "targetRef", value.into_field()); self }
}

object!(EndpointPort, EndpointPortView);
part!(EndpointPort);
impl<'a> EndpointPortView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn port(self) -> i32 { read(self.0, "port") }
    pub fn protocol(self) -> &'a str { read(self.0, "protocol") }
    pub fn app_protocol(self) -> Option<&'a str> { find(self.0, "appProtocol") }
}
impl EndpointPort {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_port(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "port", value.into_field()) }
    pub fn with_port(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "port", value.into_field()); self }
    pub fn set_protocol(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "protocol", value.into_field()) }
    pub fn with_protocol(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "protocol", value.into_field()); self }
    pub fn set_app_protocol(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "appProtocol", value.into_field()) }
    pub fn with_app_protocol(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "appProtocol", value.into_field()); self }
}

object!(EndpointSubset, EndpointSubsetView);
part!(EndpointSubset);
impl<'a> EndpointSubsetView<'a> {
    pub fn addresses(self) -> r::List<'a, g::core::v1::EndpointAddressView<'a>> { read(self.0, "addresses") }
    pub fn not_ready_addresses(self) -> r::List<'a, g::core::v1::EndpointAddressView<'a>> { read(self.0, "notReadyAddresses") }
    pub fn ports(self) -> r::List<'a, g::core::v1::EndpointPortView<'a>> { read(self.0, "ports") }
}
impl EndpointSubset {
    pub fn push_addresses(&mut self, item: impl o::IntoField<g::core::v1::EndpointAddress>) { push(&mut self.0, "addresses", item) }
    pub fn set_addresses(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EndpointAddress>>) { set_list(&mut self.0, "addresses", value) }
    pub fn with_addresses(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EndpointAddress>>) -> Self { set_list(&mut self.0, "addresses", value); self }
    pub fn push_not_ready_addresses(&mut self, item: impl o::IntoField<g::core::v1::EndpointAddress>) { push(&mut self.0, "notReadyAddresses", item) }
    pub fn set_not_ready_addresses(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EndpointAddress>>) { set_list(&mut self.0, "notReadyAddresses", value) }
    pub fn with_not_ready_addresses(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EndpointAddress>>) -> Self { set_list(&mut self.0, "notReadyAddresses", value); self }
    pub fn push_ports(&mut self, item: impl o::IntoField<g::core::v1::EndpointPort>) { push(&mut self.0, "ports", item) }
    pub fn set_ports(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EndpointPort>>) { set_list(&mut self.0, "ports", value) }
    pub fn with_ports(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EndpointPort>>) -> Self { set_list(&mut self.0, "ports", value); self }
}

object!(Endpoints, EndpointsView);
kind!(Endpoints, "", "v1", "v1", "endpoints");
impl<'a> EndpointsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn subsets(self) -> r::List<'a, g::core::v1::EndpointSubsetView<'a>> { read(self.0, "subsets") }
}
impl Endpoints {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_subsets(&mut self, item: impl o::IntoField<g::core::v1::EndpointSubset>) { push(&mut self.0, "subsets", item) }
    pub fn set_subsets(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EndpointSubset>>) { set_list(&mut self.0, "subsets", value) }
    pub fn with_subsets(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EndpointSubset>>) -> Self { set_list(&mut self.0, "subsets", value); self }
}

object!(EndpointsList, EndpointsListView);
part!(EndpointsList);
impl<'a> EndpointsListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::core::v1::EndpointsView<'a>> { read(self.0, "items") }
}
impl EndpointsList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::Endpoints>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Endpoints>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Endpoints>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(EnvFromSource, EnvFromSourceView);
part!(EnvFromSource);
impl<'a> EnvFromSourceView<'a> {
    pub fn prefix(self) -> &'a str { read(self.0, "prefix") }
    pub fn config_map_ref(self) -> Option<g::core::v1::ConfigMapEnvSourceView<'a>> { find(self.0, "configMapRef") }
    pub fn secret_ref(self) -> Option<g::core::v1::SecretEnvSourceView<'a>> { find(self.0, "secretRef") }
}
impl EnvFromSource {
    pub fn set_prefix(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "prefix", value.into_field()) }
    pub fn with_prefix(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "prefix", value.into_field()); self }
    pub fn edit_config_map_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ConfigMapEnvSource) -> R) -> R { edit(&mut self.0, "configMapRef", change) }
    pub fn set_config_map_ref(&mut self, value: impl o::IntoField<g::core::v1::ConfigMapEnvSource>) { set(&mut self.0, "configMapRef", value.into_field()) }
    pub fn with_config_map_ref(mut self, value: impl o::IntoField<g::core::v1::ConfigMapEnvSource>) -> Self { set(&mut self.0, "configMapRef", value.into_field()); self }
    pub fn edit_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecretEnvSource) -> R) -> R { edit(&mut self.0, "secretRef", change) }
    pub fn set_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::SecretEnvSource>) { set(&mut self.0, "secretRef", value.into_field()) }
    pub fn with_secret_ref(mut self, value: impl o::IntoField<g::core::v1::SecretEnvSource>) -> Self { set(&mut self.0, "secretRef", value.into_field()); self }
}

object!(EnvVar, EnvVarView);
part!(EnvVar);
impl<'a> EnvVarView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn value_(self) -> &'a str { read(self.0, "value") }
    pub fn value_from(self) -> Option<g::core::v1::EnvVarSourceView<'a>> { find(self.0, "valueFrom") }
}
impl EnvVar {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_value(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "value", value.into_field()) }
    pub fn with_value(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "value", value.into_field()); self }
    pub fn edit_value_from<R>(&mut self, change: impl FnOnce(&mut g::core::v1::EnvVarSource) -> R) -> R { edit(&mut self.0, "valueFrom", change) }
    pub fn set_value_from(&mut self, value: impl o::IntoField<g::core::v1::EnvVarSource>) { set(&mut self.0, "valueFrom", value.into_field()) }
    pub fn with_value_from(mut self, value: impl o::IntoField<g::core::v1::EnvVarSource>) -> Self { set(&mut self.0, "valueFrom", value.into_field()); self }
}

object!(EnvVarSource, EnvVarSourceView);
part!(EnvVarSource);
impl<'a> EnvVarSourceView<'a> {
    pub fn field_ref(self) -> Option<g::core::v1::ObjectFieldSelectorView<'a>> { find(self.0, "fieldRef") }
    pub fn resource_field_ref(self) -> Option<g::core::v1::ResourceFieldSelectorView<'a>> { find(self.0, "resourceFieldRef") }
    pub fn config_map_key_ref(self) -> Option<g::core::v1::ConfigMapKeySelectorView<'a>> { find(self.0, "configMapKeyRef") }
    pub fn secret_key_ref(self) -> Option<g::core::v1::SecretKeySelectorView<'a>> { find(self.0, "secretKeyRef") }
    pub fn file_key_ref(self) -> Option<g::core::v1::FileKeySelectorView<'a>> { find(self.0, "fileKeyRef") }
}
impl EnvVarSource {
    pub fn edit_field_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ObjectFieldSelector) -> R) -> R { edit(&mut self.0, "fieldRef", change) }
    pub fn set_field_ref(&mut self, value: impl o::IntoField<g::core::v1::ObjectFieldSelector>) { set(&mut self.0, "fieldRef", value.into_field()) }
    pub fn with_field_ref(mut self, value: impl o::IntoField<g::core::v1::ObjectFieldSelector>) -> Self { set(&mut self.0, "fieldRef", value.into_field()); self }
    pub fn edit_resource_field_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ResourceFieldSelector) -> R) -> R { edit(&mut self.0, "resourceFieldRef", change) }
    pub fn set_resource_field_ref(&mut self, value: impl o::IntoField<g::core::v1::ResourceFieldSelector>) { set(&mut self.0, "resourceFieldRef", value.into_field()) }
    pub fn with_resource_field_ref(mut self, value: impl o::IntoField<g::core::v1::ResourceFieldSelector>) -> Self { set(&mut self.0, "resourceFieldRef", value.into_field()); self }
    pub fn edit_config_map_key_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ConfigMapKeySelector) -> R) -> R { edit(&mut self.0, "configMapKeyRef", change) }
    pub fn set_config_map_key_ref(&mut self, value: impl o::IntoField<g::core::v1::ConfigMapKeySelector>) { set(&mut self.0, "configMapKeyRef", value.into_field()) }
    pub fn with_config_map_key_ref(mut self, value: impl o::IntoField<g::core::v1::ConfigMapKeySelector>) -> Self { set(&mut self.0, "configMapKeyRef", value.into_field()); self }
    pub fn edit_secret_key_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecretKeySelector) -> R) -> R { edit(&mut self.0, "secretKeyRef", change) }
    pub fn set_secret_key_ref(&mut self, value: impl o::IntoField<g::core::v1::SecretKeySelector>) { set(&mut self.0, "secretKeyRef", value.into_field()) }
    pub fn with_secret_key_ref(mut self, value: impl o::IntoField<g::core::v1::SecretKeySelector>) -> Self { set(&mut self.0, "secretKeyRef", value.into_field()); self }
    pub fn edit_file_key_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::FileKeySelector) -> R) -> R { edit(&mut self.0, "fileKeyRef", change) }
    pub fn set_file_key_ref(&mut self, value: impl o::IntoField<g::core::v1::FileKeySelector>) { set(&mut self.0, "fileKeyRef", value.into_field()) }
    pub fn with_file_key_ref(mut self, value: impl o::IntoField<g::core::v1::FileKeySelector>) -> Self { set(&mut self.0, "fileKeyRef", value.into_field()); self }
}

object!(EphemeralContainer, EphemeralContainerView);
part!(EphemeralContainer);
impl<'a> EphemeralContainerView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn image(self) -> &'a str { read(self.0, "image") }
    pub fn command(self) -> r::List<'a, &'a str> { read(self.0, "command") }
    pub fn args(self) -> r::List<'a, &'a str> { read(self.0, "args") }
    pub fn working_dir(self) -> &'a str { read(self.0, "workingDir") }
    pub fn ports(self) -> r::List<'a, g::core::v1::ContainerPortView<'a>> { read(self.0, "ports") }
    pub fn env_from(self) -> r::List<'a, g::core::v1::EnvFromSourceView<'a>> { read(self.0, "envFrom") }
    pub fn env(self) -> r::List<'a, g::core::v1::EnvVarView<'a>> { read(self.0, "env") }
    pub fn resources(self) -> g::core::v1::ResourceRequirementsView<'a> { read(self.0, "resources") }
    pub fn resize_policy(self) -> r::List<'a, g::core::v1::ContainerResizePolicyView<'a>> { read(self.0, "resizePolicy") }
    pub fn restart_policy(self) -> Option<&'a str> { find(self.0, "restartPolicy") }
    pub fn restart_policy_rules(self) -> r::List<'a, g::core::v1::ContainerRestartRuleView<'a>> { read(self.0, "restartPolicyRules") }
    pub fn volume_mounts(self) -> r::List<'a, g::core::v1::VolumeMountView<'a>> { read(self.0, "volumeMounts") }
    pub fn volume_devices(self) -> r::List<'a, g::core::v1::VolumeDeviceView<'a>> { read(self.0, "volumeDevices") }
    pub fn liveness_probe(self) -> Option<g::core::v1::ProbeView<'a>> { find(self.0, "livenessProbe") }
    pub fn readiness_probe(self) -> Option<g::core::v1::ProbeView<'a>> { find(self.0, "readinessProbe") }
    pub fn startup_probe(self) -> Option<g::core::v1::ProbeView<'a>> { find(self.0, "startupProbe") }
    pub fn lifecycle(self) -> Option<g::core::v1::LifecycleView<'a>> { find(self.0, "lifecycle") }
    pub fn termination_message_path(self) -> &'a str { read(self.0, "terminationMessagePath") }
    pub fn termination_message_policy(self) -> &'a str { read(self.0, "terminationMessagePolicy") }
    pub fn image_pull_policy(self) -> &'a str { read(self.0, "imagePullPolicy") }
    pub fn security_context(self) -> Option<g::core::v1::SecurityContextView<'a>> { find(self.0, "securityContext") }
    pub fn stdin(self) -> bool { read(self.0, "stdin") }
    pub fn stdin_once(self) -> bool { read(self.0, "stdinOnce") }
    pub fn tty(self) -> bool { read(self.0, "tty") }
    pub fn target_container_name(self) -> &'a str { read(self.0, "targetContainerName") }
}
impl EphemeralContainer {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_image(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "image", value.into_field()) }
    pub fn with_image(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "image", value.into_field()); self }
    pub fn push_command(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "command", item) }
    pub fn set_command(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "command", value) }
    pub fn with_command(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "command", value); self }
    pub fn push_args(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "args", item) }
    pub fn set_args(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "args", value) }
    pub fn with_args(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "args", value); self }
    pub fn set_working_dir(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "workingDir", value.into_field()) }
    pub fn with_working_dir(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "workingDir", value.into_field()); self }
    pub fn push_ports(&mut self, item: impl o::IntoField<g::core::v1::ContainerPort>) { push(&mut self.0, "ports", item) }
    pub fn set_ports(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerPort>>) { set_list(&mut self.0, "ports", value) }
    pub fn with_ports(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerPort>>) -> Self { set_list(&mut self.0, "ports", value); self }
    pub fn push_env_from(&mut self, item: impl o::IntoField<g::core::v1::EnvFromSource>) { push(&mut self.0, "envFrom", item) }
    pub fn set_env_from(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EnvFromSource>>) { set_list(&mut self.0, "envFrom", value) }
    pub fn with_env_from(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EnvFromSource>>) -> Self { set_list(&mut self.0, "envFrom", value); self }
    pub fn push_env(&mut self, item: impl o::IntoField<g::core::v1::EnvVar>) { push(&mut self.0, "env", item) }
    pub fn set_env(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EnvVar>>) { set_list(&mut self.0, "env", value) }
    pub fn with_env(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EnvVar>>) -> Self { set_list(&mut self.0, "env", value); self }
    pub fn edit_resources<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ResourceRequirements) -> R) -> R { edit(&mut self.0, "resources", change) }
    pub fn set_resources(&mut self, value: impl o::IntoField<g::core::v1::ResourceRequirements>) { set(&mut self.0, "resources", value.into_field()) }
    pub fn with_resources(mut self, value: impl o::IntoField<g::core::v1::ResourceRequirements>) -> Self { set(&mut self.0, "resources", value.into_field()); self }
    pub fn push_resize_policy(&mut self, item: impl o::IntoField<g::core::v1::ContainerResizePolicy>) { push(&mut self.0, "resizePolicy", item) }
    pub fn set_resize_policy(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerResizePolicy>>) { set_list(&mut self.0, "resizePolicy", value) }
    pub fn with_resize_policy(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerResizePolicy>>) -> Self { set_list(&mut self.0, "resizePolicy", value); self }
    pub fn set_restart_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "restartPolicy", value.into_field()) }
    pub fn with_restart_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "restartPolicy", value.into_field()); self }
    pub fn push_restart_policy_rules(&mut self, item: impl o::IntoField<g::core::v1::ContainerRestartRule>) { push(&mut self.0, "restartPolicyRules", item) }
    pub fn set_restart_policy_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerRestartRule>>) { set_list(&mut self.0, "restartPolicyRules", value) }
    pub fn with_restart_policy_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerRestartRule>>) -> Self { set_list(&mut self.0, "restartPolicyRules", value); self }
    pub fn push_volume_mounts(&mut self, item: impl o::IntoField<g::core::v1::VolumeMount>) { push(&mut self.0, "volumeMounts", item) }
    pub fn set_volume_mounts(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::VolumeMount>>) { set_list(&mut self.0, "volumeMounts", value) }
    pub fn with_volume_mounts(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::VolumeMount>>) -> Self { set_list(&mut self.0, "volumeMounts", value); self }
    pub fn push_volume_devices(&mut self, item: impl o::IntoField<g::core::v1::VolumeDevice>) { push(&mut self.0, "volumeDevices", item) }
    pub fn set_volume_devices(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::VolumeDevice>>) { set_list(&mut self.0, "volumeDevices", value) }
    pub fn with_volume_devices(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::VolumeDevice>>) -> Self { set_list(&mut self.0, "volumeDevices", value); self }
    pub fn edit_liveness_probe<R>(&mut self, change: impl FnOnce(&mut g::core::v1::Probe) -> R) -> R { edit(&mut self.0, "livenessProbe", change) }
    pub fn set_liveness_probe(&mut self, value: impl o::IntoField<g::core::v1::Probe>) { set(&mut self.0, "livenessProbe", value.into_field()) }
    pub fn with_liveness_probe(mut self, value: impl o::IntoField<g::core::v1::Probe>) -> Self { set(&mut self.0, "livenessProbe", value.into_field()); self }
    pub fn edit_readiness_probe<R>(&mut self, change: impl FnOnce(&mut g::core::v1::Probe) -> R) -> R { edit(&mut self.0, "readinessProbe", change) }
    pub fn set_readiness_probe(&mut self, value: impl o::IntoField<g::core::v1::Probe>) { set(&mut self.0, "readinessProbe", value.into_field()) }
    pub fn with_readiness_probe(mut self, value: impl o::IntoField<g::core::v1::Probe>) -> Self { set(&mut self.0, "readinessProbe", value.into_field()); self }
    pub fn edit_startup_probe<R>(&mut self, change: impl FnOnce(&mut g::core::v1::Probe) -> R) -> R { edit(&mut self.0, "startupProbe", change) }
    pub fn set_startup_probe(&mut self, value: impl o::IntoField<g::core::v1::Probe>) { set(&mut self.0, "startupProbe", value.into_field()) }
    pub fn with_startup_probe(mut self, value: impl o::IntoField<g::core::v1::Probe>) -> Self { set(&mut self.0, "startupProbe", value.into_field()); self }
    pub fn edit_lifecycle<R>(&mut self, change: impl FnOnce(&mut g::core::v1::Lifecycle) -> R) -> R { edit(&mut self.0, "lifecycle", change) }
    pub fn set_lifecycle(&mut self, value: impl o::IntoField<g::core::v1::Lifecycle>) { set(&mut self.0, "lifecycle", value.into_field()) }
    pub fn with_lifecycle(mut self, value: impl o::IntoField<g::core::v1::Lifecycle>) -> Self { set(&mut self.0, "lifecycle", value.into_field()); self }
    pub fn set_termination_message_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "terminationMessagePath", value.into_field()) }
    pub fn with_termination_message_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "terminationMessagePath", value.into_field()); self }
    pub fn set_termination_message_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "terminationMessagePolicy", value.into_field()) }
    pub fn with_termination_message_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "terminationMessagePolicy", value.into_field()); self }
    pub fn set_image_pull_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "imagePullPolicy", value.into_field()) }
    pub fn with_image_pull_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "imagePullPolicy", value.into_field()); self }
    pub fn edit_security_context<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecurityContext) -> R) -> R { edit(&mut self.0, "securityContext", change) }
    pub fn set_security_context(&mut self, value: impl o::IntoField<g::core::v1::SecurityContext>) { set(&mut self.0, "securityContext", value.into_field()) }
    pub fn with_security_context(mut self, value: impl o::IntoField<g::core::v1::SecurityContext>) -> Self { set(&mut self.0, "securityContext", value.into_field()); self }
    pub fn set_stdin(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "stdin", value.into_field()) }
    pub fn with_stdin(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "stdin", value.into_field()); self }
    pub fn set_stdin_once(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "stdinOnce", value.into_field()) }
    pub fn with_stdin_once(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "stdinOnce", value.into_field()); self }
    pub fn set_tty(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "tty", value.into_field()) }
    pub fn with_tty(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "tty", value.into_field()); self }
    pub fn set_target_container_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "targetContainerName", value.into_field()) }
    pub fn with_target_container_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "targetContainerName", value.into_field()); self }
}

object!(EphemeralContainerCommon, EphemeralContainerCommonView);
part!(EphemeralContainerCommon);
impl<'a> EphemeralContainerCommonView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn image(self) -> &'a str { read(self.0, "image") }
    pub fn command(self) -> r::List<'a, &'a str> { read(self.0, "command") }
    pub fn args(self) -> r::List<'a, &'a str> { read(self.0, "args") }
    pub fn working_dir(self) -> &'a str { read(self.0, "workingDir") }
    pub fn ports(self) -> r::List<'a, g::core::v1::ContainerPortView<'a>> { read(self.0, "ports") }
    pub fn env_from(self) -> r::List<'a, g::core::v1::EnvFromSourceView<'a>> { read(self.0, "envFrom") }
    pub fn env(self) -> r::List<'a, g::core::v1::EnvVarView<'a>> { read(self.0, "env") }
    pub fn resources(self) -> g::core::v1::ResourceRequirementsView<'a> { read(self.0, "resources") }
    pub fn resize_policy(self) -> r::List<'a, g::core::v1::ContainerResizePolicyView<'a>> { read(self.0, "resizePolicy") }
    pub fn restart_policy(self) -> Option<&'a str> { find(self.0, "restartPolicy") }
    pub fn restart_policy_rules(self) -> r::List<'a, g::core::v1::ContainerRestartRuleView<'a>> { read(self.0, "restartPolicyRules") }
    pub fn volume_mounts(self) -> r::List<'a, g::core::v1::VolumeMountView<'a>> { read(self.0, "volumeMounts") }
    pub fn volume_devices(self) -> r::List<'a, g::core::v1::VolumeDeviceView<'a>> { read(self.0, "volumeDevices") }
    pub fn liveness_probe(self) -> Option<g::core::v1::ProbeView<'a>> { find(self.0, "livenessProbe") }
    pub fn readiness_probe(self) -> Option<g::core::v1::ProbeView<'a>> { find(self.0, "readinessProbe") }
    pub fn startup_probe(self) -> Option<g::core::v1::ProbeView<'a>> { find(self.0, "startupProbe") }
    pub fn lifecycle(self) -> Option<g::core::v1::LifecycleView<'a>> { find(self.0, "lifecycle") }
    pub fn termination_message_path(self) -> &'a str { read(self.0, "terminationMessagePath") }
    pub fn termination_message_policy(self) -> &'a str { read(self.0, "terminationMessagePolicy") }
    pub fn image_pull_policy(self) -> &'a str { read(self.0, "imagePullPolicy") }
    pub fn security_context(self) -> Option<g::core::v1::SecurityContextView<'a>> { find(self.0, "securityContext") }
    pub fn stdin(self) -> bool { read(self.0, "stdin") }
    pub fn stdin_once(self) -> bool { read(self.0, "stdinOnce") }
    pub fn tty(self) -> bool { read(self.0, "tty") }
}
impl EphemeralContainerCommon {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_image(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "image", value.into_field()) }
    pub fn with_image(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "image", value.into_field()); self }
    pub fn push_command(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "command", item) }
    pub fn set_command(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "command", value) }
    pub fn with_command(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "command", value); self }
    pub fn push_args(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "args", item) }
    pub fn set_args(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "args", value) }
    pub fn with_args(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "args", value); self }
    pub fn set_working_dir(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "workingDir", value.into_field()) }
    pub fn with_working_dir(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "workingDir", value.into_field()); self }
    pub fn push_ports(&mut self, item: impl o::IntoField<g::core::v1::ContainerPort>) { push(&mut self.0, "ports", item) }
    pub fn set_ports(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerPort>>) { set_list(&mut self.0, "ports", value) }
    pub fn with_ports(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerPort>>) -> Self { set_list(&mut self.0, "ports", value); self }
    pub fn push_env_from(&mut self, item: impl o::IntoField<g::core::v1::EnvFromSource>) { push(&mut self.0, "envFrom", item) }
    pub fn set_env_from(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EnvFromSource>>) { set_list(&mut self.0, "envFrom", value) }
    pub fn with_env_from(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EnvFromSource>>) -> Self { set_list(&mut self.0, "envFrom", value); self }
    pub fn push_env(&mut self, item: impl o::IntoField<g::core::v1::EnvVar>) { push(&mut self.0, "env", item) }
    pub fn set_env(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EnvVar>>) { set_list(&mut self.0, "env", value) }
    pub fn with_env(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EnvVar>>) -> Self { set_list(&mut self.0, "env", value); self }
    pub fn edit_resources<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ResourceRequirements) -> R) -> R { edit(&mut self.0, "resources", change) }
    pub fn set_resources(&mut self, value: impl o::IntoField<g::core::v1::ResourceRequirements>) { set(&mut self.0, "resources", value.into_field()) }
    pub fn with_resources(mut self, value: impl o::IntoField<g::core::v1::ResourceRequirements>) -> Self { set(&mut self.0, "resources", value.into_field()); self }
    pub fn push_resize_policy(&mut self, item: impl o::IntoField<g::core::v1::ContainerResizePolicy>) { push(&mut self.0, "resizePolicy", item) }
    pub fn set_resize_policy(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerResizePolicy>>) { set_list(&mut self.0, "resizePolicy", value) }
    pub fn with_resize_policy(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerResizePolicy>>) -> Self { set_list(&mut self.0, "resizePolicy", value); self }
    pub fn set_restart_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "restartPolicy", value.into_field()) }
    pub fn with_restart_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "restartPolicy", value.into_field()); self }
    pub fn push_restart_policy_rules(&mut self, item: impl o::IntoField<g::core::v1::ContainerRestartRule>) { push(&mut self.0, "restartPolicyRules", item) }
    pub fn set_restart_policy_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerRestartRule>>) { set_list(&mut self.0, "restartPolicyRules", value) }
    pub fn with_restart_policy_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerRestartRule>>) -> Self { set_list(&mut self.0, "restartPolicyRules", value); self }
    pub fn push_volume_mounts(&mut self, item: impl o::IntoField<g::core::v1::VolumeMount>) { push(&mut self.0, "volumeMounts", item) }
    pub fn set_volume_mounts(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::VolumeMount>>) { set_list(&mut self.0, "volumeMounts", value) }
    pub fn with_volume_mounts(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::VolumeMount>>) -> Self { set_list(&mut self.0, "volumeMounts", value); self }
    pub fn push_volume_devices(&mut self, item: impl o::IntoField<g::core::v1::VolumeDevice>) { push(&mut self.0, "volumeDevices", item) }
    pub fn set_volume_devices(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::VolumeDevice>>) { set_list(&mut self.0, "volumeDevices", value) }
    pub fn with_volume_devices(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::VolumeDevice>>) -> Self { set_list(&mut self.0, "volumeDevices", value); self }
    pub fn edit_liveness_probe<R>(&mut self, change: impl FnOnce(&mut g::core::v1::Probe) -> R) -> R { edit(&mut self.0, "livenessProbe", change) }
    pub fn set_liveness_probe(&mut self, value: impl o::IntoField<g::core::v1::Probe>) { set(&mut self.0, "livenessProbe", value.into_field()) }
    pub fn with_liveness_probe(mut self, value: impl o::IntoField<g::core::v1::Probe>) -> Self { set(&mut self.0, "livenessProbe", value.into_field()); self }
    pub fn edit_readiness_probe<R>(&mut self, change: impl FnOnce(&mut g::core::v1::Probe) -> R) -> R { edit(&mut self.0, "readinessProbe", change) }
    pub fn set_readiness_probe(&mut self, value: impl o::IntoField<g::core::v1::Probe>) { set(&mut self.0, "readinessProbe", value.into_field()) }
    pub fn with_readiness_probe(mut self, value: impl o::IntoField<g::core::v1::Probe>) -> Self { set(&mut self.0, "readinessProbe", value.into_field()); self }
    pub fn edit_startup_probe<R>(&mut self, change: impl FnOnce(&mut g::core::v1::Probe) -> R) -> R { edit(&mut self.0, "startupProbe", change) }
    pub fn set_startup_probe(&mut self, value: impl o::IntoField<g::core::v1::Probe>) { set(&mut self.0, "startupProbe", value.into_field()) }
    pub fn with_startup_probe(mut self, value: impl o::IntoField<g::core::v1::Probe>) -> Self { set(&mut self.0, "startupProbe", value.into_field()); self }
    pub fn edit_lifecycle<R>(&mut self, change: impl FnOnce(&mut g::core::v1::Lifecycle) -> R) -> R { edit(&mut self.0, "lifecycle", change) }
    pub fn set_lifecycle(&mut self, value: impl o::IntoField<g::core::v1::Lifecycle>) { set(&mut self.0, "lifecycle", value.into_field()) }
    pub fn with_lifecycle(mut self, value: impl o::IntoField<g::core::v1::Lifecycle>) -> Self { set(&mut self.0, "lifecycle", value.into_field()); self }
    pub fn set_termination_message_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "terminationMessagePath", value.into_field()) }
    pub fn with_termination_message_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "terminationMessagePath", value.into_field()); self }
    pub fn set_termination_message_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "terminationMessagePolicy", value.into_field()) }
    pub fn with_termination_message_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "terminationMessagePolicy", value.into_field()); self }
    pub fn set_image_pull_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "imagePullPolicy", value.into_field()) }
    pub fn with_image_pull_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "imagePullPolicy", value.into_field()); self }
    pub fn edit_security_context<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecurityContext) -> R) -> R { edit(&mut self.0, "securityContext", change) }
    pub fn set_security_context(&mut self, value: impl o::IntoField<g::core::v1::SecurityContext>) { set(&mut self.0, "securityContext", value.into_field()) }
    pub fn with_security_context(mut self, value: impl o::IntoField<g::core::v1::SecurityContext>) -> Self { set(&mut self.0, "securityContext", value.into_field()); self }
    pub fn set_stdin(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "stdin", value.into_field()) }
    pub fn with_stdin(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "stdin", value.into_field()); self }
    pub fn set_stdin_once(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "stdinOnce", value.into_field()) }
    pub fn with_stdin_once(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "stdinOnce", value.into_field()); self }
    pub fn set_tty(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "tty", value.into_field()) }
    pub fn with_tty(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "tty", value.into_field()); self }
}

object!(EphemeralVolumeSource, EphemeralVolumeSourceView);
part!(EphemeralVolumeSource);
impl<'a> EphemeralVolumeSourceView<'a> {
    pub fn volume_claim_template(self) -> Option<g::core::v1::PersistentVolumeClaimTemplateView<'a>> { find(self.0, "volumeClaimTemplate") }
}
impl EphemeralVolumeSource {
    pub fn edit_volume_claim_template<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PersistentVolumeClaimTemplate) -> R) -> R { edit(&mut self.0, "volumeClaimTemplate", change) }
    pub fn set_volume_claim_template(&mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeClaimTemplate>) { set(&mut self.0, "volumeClaimTemplate", value.into_field()) }
    pub fn with_volume_claim_template(mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeClaimTemplate>) -> Self { set(&mut self.0, "volumeClaimTemplate", value.into_field()); self }
}

object!(Event, EventView);
kind!(Event, "", "v1", "v1", "events");
impl<'a> EventView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn involved_object(self) -> g::core::v1::ObjectReferenceView<'a> { read(self.0, "involvedObject") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
    pub fn source(self) -> g::core::v1::EventSourceView<'a> { read(self.0, "source") }
    pub fn first_timestamp(self) -> Option<r::Timestamp> { find(self.0, "firstTimestamp") }
    pub fn last_timestamp(self) -> Option<r::Timestamp> { find(self.0, "lastTimestamp") }
    pub fn count(self) -> i32 { read(self.0, "count") }
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn event_time(self) -> Option<r::Timestamp> { find(self.0, "eventTime") }
    pub fn series(self) -> Option<g::core::v1::EventSeriesView<'a>> { find(self.0, "series") }
    pub fn action(self) -> &'a str { read(self.0, "action") }
    pub fn related(self) -> Option<g::core::v1::ObjectReferenceView<'a>> { find(self.0, "related") }
    pub fn reporting_component(self) -> &'a str { read(self.0, "reportingComponent") }
    pub fn reporting_instance(self) -> &'a str { read(self.0, "reportingInstance") }
}
impl Event {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_involved_object<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ObjectReference) -> R) -> R { edit(&mut self.0, "involvedObject", change) }
    pub fn set_involved_object(&mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) { set(&mut self.0, "involvedObject", value.into_field()) }
    pub fn with_involved_object(mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) -> Self { set(&mut self.0, "involvedObject", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
    pub fn edit_source<R>(&mut self, change: impl FnOnce(&mut g::core::v1::EventSource) -> R) -> R { edit(&mut self.0, "source", change) }
    pub fn set_source(&mut self, value: impl o::IntoField<g::core::v1::EventSource>) { set(&mut self.0, "source", value.into_field()) }
    pub fn with_source(mut self, value: impl o::IntoField<g::core::v1::EventSource>) -> Self { set(&mut self.0, "source", value.into_field()); self }
    pub fn set_first_timestamp(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "firstTimestamp", value.into_field()) }
    pub fn with_first_timestamp(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "firstTimestamp", value.into_field()); self }
    pub fn set_last_timestamp(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastTimestamp", value.into_field()) }
    pub fn with_last_timestamp(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastTimestamp", value.into_field()); self }
    pub fn set_count(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "count", value.into_field()) }
    pub fn with_count(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "count", value.into_field()); self }
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_event_time(&mut self, value: impl o::IntoField<o::MicroTime>) { set(&mut self.0, "eventTime", value.into_field()) }
    pub fn with_event_time(mut self, value: impl o::IntoField<o::MicroTime>) -> Self { set(&mut self.0, "eventTime", value.into_field()); self }
    pub fn edit_series<R>(&mut self, change: impl FnOnce(&mut g::core::v1::EventSeries) -> R) -> R { edit(&mut self.0, "series", change) }
    pub fn set_series(&mut self, value: impl o::IntoField<g::core::v1::EventSeries>) { set(&mut self.0, "series", value.into_field()) }
    pub fn with_series(mut self, value: impl o::IntoField<g::core::v1::EventSeries>) -> Self { set(&mut self.0, "series", value.into_field()); self }
    pub fn set_action(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "action", value.into_field()) }
    pub fn with_action(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "action", value.into_field()); self }
    pub fn edit_related<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ObjectReference) -> R) -> R { edit(&mut self.0, "related", change) }
    pub fn set_related(&mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) { set(&mut self.0, "related", value.into_field()) }
    pub fn with_related(mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) -> Self { set(&mut self.0, "related", value.into_field()); self }
    pub fn set_reporting_component(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reportingComponent", value.into_field()) }
    pub fn with_reporting_component(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reportingComponent", value.into_field()); self }
    pub fn set_reporting_instance(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reportingInstance", value.into_field()) }
    pub fn with_reporting_instance(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reportingInstance", value.into_field()); self }
}

object!(EventList, EventListView);
part!(EventList);
impl<'a> EventListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::core::v1::EventView<'a>> { read(self.0, "items") }
}
impl EventList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::Event>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Event>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Event>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(EventSeries, EventSeriesView);
part!(EventSeries);
impl<'a> EventSeriesView<'a> {
    pub fn count(self) -> i32 { read(self.0, "count") }
    pub fn last_observed_time(self) -> Option<r::Timestamp> { find(self.0, "lastObservedTime") }
}
impl EventSeries {
    pub fn set_count(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "count", value.into_field()) }
    pub fn with_count(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "count", value.into_field()); self }
    pub fn set_last_observed_time(&mut self, value: impl o::IntoField<o::MicroTime>) { set(&mut self.0, "lastObservedTime", value.into_field()) }
    pub fn with_last_observed_time(mut self, value: impl o::IntoField<o::MicroTime>) -> Self { set(&mut self.0, "lastObservedTime", value.into_field()); self }
}

object!(EventSource, EventSourceView);
part!(EventSource);
impl<'a> EventSourceView<'a> {
    pub fn component(self) -> &'a str { read(self.0, "component") }
    pub fn host(self) -> &'a str { read(self.0, "host") }
}
impl EventSource {
    pub fn set_component(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "component", value.into_field()) }
    pub fn with_component(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "component", value.into_field()); self }
    pub fn set_host(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "host", value.into_field()) }
    pub fn with_host(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "host", value.into_field()); self }
}

object!(ExecAction, ExecActionView);
part!(ExecAction);
impl<'a> ExecActionView<'a> {
    pub fn command(self) -> r::List<'a, &'a str> { read(self.0, "command") }
}
impl ExecAction {
    pub fn push_command(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "command", item) }
    pub fn set_command(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "command", value) }
    pub fn with_command(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "command", value); self }
}

object!(FCVolumeSource, FCVolumeSourceView);
part!(FCVolumeSource);
impl<'a> FCVolumeSourceView<'a> {
    pub fn target_wwns(self) -> r::List<'a, &'a str> { read(self.0, "targetWWNs") }
    pub fn lun(self) -> Option<i32> { find(self.0, "lun") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
    pub fn wwids(self) -> r::List<'a, &'a str> { read(self.0, "wwids") }
}
impl FCVolumeSource {
    pub fn push_target_wwns(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "targetWWNs", item) }
    pub fn set_target_wwns(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "targetWWNs", value) }
    pub fn with_target_wwns(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "targetWWNs", value); self }
    pub fn set_lun(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "lun", value.into_field()) }
    pub fn with_lun(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "lun", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn push_wwids(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "wwids", item) }
    pub fn set_wwids(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "wwids", value) }
    pub fn with_wwids(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "wwids", value); self }
}

object!(FileKeySelector, FileKeySelectorView);
part!(FileKeySelector);
impl<'a> FileKeySelectorView<'a> {
    pub fn volume_name(self) -> &'a str { read(self.0, "volumeName") }
    pub fn path(self) -> &'a str { read(self.0, "path") }
    pub fn key(self) -> &'a str { read(self.0, "key") }
    pub fn optional(self) -> Option<bool> { find(self.0, "optional") }
}
impl FileKeySelector {
    pub fn set_volume_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeName", value.into_field()) }
    pub fn with_volume_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeName", value.into_field()); self }
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
    pub fn set_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "key", value.into_field()) }
    pub fn with_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "key", value.into_field()); self }
    pub fn set_optional(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "optional", value.into_field()) }
    pub fn with_optional(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "optional", value.into_field()); self }
}

object!(FlexPersistentVolumeSource, FlexPersistentVolumeSourceView);
part!(FlexPersistentVolumeSource);
impl<'a> FlexPersistentVolumeSourceView<'a> {
    pub fn driver(self) -> &'a str { read(self.0, "driver") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn secret_ref(self) -> Option<g::core::v1::SecretReferenceView<'a>> { find(self.0, "secretRef") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
    pub fn options(self) -> r::Map<'a, &'a str> { read(self.0, "options") }
}
impl FlexPersistentVolumeSource {
    pub fn set_driver(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "driver", value.into_field()) }
    pub fn with_driver(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "driver", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn edit_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecretReference) -> R) -> R { edit(&mut self.0, "secretRef", change) }
    pub fn set_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::SecretReference>) { set(&mut self.0, "secretRef", value.into_field()) }
    pub fn with_secret_ref(mut self, value: impl o::IntoField<g::core::v1::SecretReference>) -> Self { set(&mut self.0, "secretRef", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn insert_options(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "options", key, value) }
    pub fn set_options(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "options", value) }
    pub fn with_options(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "options", value); self }
}

object!(FlexVolumeSource, FlexVolumeSourceView);
part!(FlexVolumeSource);
impl<'a> FlexVolumeSourceView<'a> {
    pub fn driver(self) -> &'a str { read(self.0, "driver") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn secret_ref(self) -> Option<g::core::v1::LocalObjectReferenceView<'a>> { find(self.0, "secretRef") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
    pub fn options(self) -> r::Map<'a, &'a str> { read(self.0, "options") }
}
impl FlexVolumeSource {
    pub fn set_driver(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "driver", value.into_field()) }
    pub fn with_driver(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "driver", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn edit_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::LocalObjectReference) -> R) -> R { edit(&mut self.0, "secretRef", change) }
    pub fn set_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::LocalObjectReference>) { set(&mut self.0, "secretRef", value.into_field()) }
    pub fn with_secret_ref(mut self, value: impl o::IntoField<g::core::v1::LocalObjectReference>) -> Self { set(&mut self.0, "secretRef", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn insert_options(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "options", key, value) }
    pub fn set_options(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "options", value) }
    pub fn with_options(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "options", value); self }
}

object!(FlockerVolumeSource, FlockerVolumeSourceView);
part!(FlockerVolumeSource);
impl<'a> FlockerVolumeSourceView<'a> {
    pub fn dataset_name(self) -> &'a str { read(self.0, "datasetName") }
    pub fn dataset_uuid(self) -> &'a str { read(self.0, "datasetUUID") }
}
impl FlockerVolumeSource {
    pub fn set_dataset_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "datasetName", value.into_field()) }
    pub fn with_dataset_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "datasetName", value.into_field()); self }
    pub fn set_dataset_uuid(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "datasetUUID", value.into_field()) }
    pub fn with_dataset_uuid(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "datasetUUID", value.into_field()); self }
}

object!(GCEPersistentDiskVolumeSource, GCEPersistentDiskVolumeSourceView);
part!(GCEPersistentDiskVolumeSource);
impl<'a> GCEPersistentDiskVolumeSourceView<'a> {
    pub fn pd_name(self) -> &'a str { read(self.0, "pdName") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn partition(self) -> i32 { read(self.0, "partition") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
}
impl GCEPersistentDiskVolumeSource {
    pub fn set_pd_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "pdName", value.into_field()) }
    pub fn with_pd_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "pdName", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn set_partition(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "partition", value.into_field()) }
    pub fn with_partition(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "partition", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
}

object!(GRPCAction, GRPCActionView);
part!(GRPCAction);
impl<'a> GRPCActionView<'a> {
    pub fn port(self) -> i32 { read(self.0, "port") }
    pub fn service(self) -> Option<&'a str> { find(self.0, "service") }
}
impl GRPCAction {
    pub fn set_port(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "port", value.into_field()) }
    pub fn with_port(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "port", value.into_field()); self }
    pub fn set_service(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "service", value.into_field()) }
    pub fn with_service(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "service", value.into_field()); self }
}

object!(GitRepoVolumeSource, GitRepoVolumeSourceView);
part!(GitRepoVolumeSource);
impl<'a> GitRepoVolumeSourceView<'a> {
    pub fn repository(self) -> &'a str { read(self.0, "repository") }
    pub fn revision(self) -> &'a str { read(self.0, "revision") }
    pub fn directory(self) -> &'a str { read(self.0, "directory") }
}
impl GitRepoVolumeSource {
    pub fn set_repository(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "repository", value.into_field()) }
    pub fn with_repository(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "repository", value.into_field()); self }
    pub fn set_revision(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "revision", value.into_field()) }
    pub fn with_revision(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "revision", value.into_field()); self }
    pub fn set_directory(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "directory", value.into_field()) }
    pub fn with_directory(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "directory", value.into_field()); self }
}

object!(GlusterfsPersistentVolumeSource, GlusterfsPersistentVolumeSourceView);
part!(GlusterfsPersistentVolumeSource);
impl<'a> GlusterfsPersistentVolumeSourceView<'a> {
    pub fn endpoints(self) -> &'a str { read(self.0, "endpoints") }
    pub fn path(self) -> &'a str { read(self.0, "path") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
    pub fn endpoints_namespace(self) -> Option<&'a str> { find(self.0, "endpointsNamespace") }
}
impl GlusterfsPersistentVolumeSource {
    pub fn set_endpoints(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "endpoints", value.into_field()) }
    pub fn with_endpoints(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "endpoints", value.into_field()); self }
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn set_endpoints_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "endpointsNamespace", value.into_field()) }
    pub fn with_endpoints_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "endpointsNamespace", value.into_field()); self }
}

object!(GlusterfsVolumeSource, GlusterfsVolumeSourceView);
part!(GlusterfsVolumeSource);
impl<'a> GlusterfsVolumeSourceView<'a> {
    pub fn endpoints(self) -> &'a str { read(self.0, "endpoints") }
    pub fn path(self) -> &'a str { read(self.0, "path") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
}
impl GlusterfsVolumeSource {
    pub fn set_endpoints(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "endpoints", value.into_field()) }
    pub fn with_endpoints(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "endpoints", value.into_field()); self }
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
}

object!(HTTPGetAction, HTTPGetActionView);
part!(HTTPGetAction);
impl<'a> HTTPGetActionView<'a> {
    pub fn path(self) -> &'a str { read(self.0, "path") }
    pub fn port(self) -> Option<r::IntOrString<'a>> { find(self.0, "port") }
    pub fn host(self) -> &'a str { read(self.0, "host") }
    pub fn scheme(self) -> &'a str { read(self.0, "scheme") }
    pub fn http_headers(self) -> r::List<'a, g::core::v1::HTTPHeaderView<'a>> { read(self.0, "httpHeaders") }
}
impl HTTPGetAction {
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
    pub fn set_port(&mut self, value: impl o::IntoField<r::IntOrString<'static>>) { set(&mut self.0, "port", value.into_field()) }
    pub fn with_port(mut self, value: impl o::IntoField<r::IntOrString<'static>>) -> Self { set(&mut self.0, "port", value.into_field()); self }
    pub fn set_host(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "host", value.into_field()) }
    pub fn with_host(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "host", value.into_field()); self }
    pub fn set_scheme(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "scheme", value.into_field()) }
    pub fn with_scheme(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "scheme", value.into_field()); self }
    pub fn push_http_headers(&mut self, item: impl o::IntoField<g::core::v1::HTTPHeader>) { push(&mut self.0, "httpHeaders", item) }
    pub fn set_http_headers(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::HTTPHeader>>) { set_list(&mut self.0, "httpHeaders", value) }
    pub fn with_http_headers(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::HTTPHeader>>) -> Self { set_list(&mut self.0, "httpHeaders", value); self }
}

object!(HTTPHeader, HTTPHeaderView);
part!(HTTPHeader);
impl<'a> HTTPHeaderView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn value_(self) -> &'a str { read(self.0, "value") }
}
impl HTTPHeader {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_value(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "value", value.into_field()) }
    pub fn with_value(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "value", value.into_field()); self }
}

object!(HostAlias, HostAliasView);
part!(HostAlias);
impl<'a> HostAliasView<'a> {
    pub fn ip(self) -> &'a str { read(self.0, "ip") }
    pub fn hostnames(self) -> r::List<'a, &'a str> { read(self.0, "hostnames") }
}
impl HostAlias {
    pub fn set_ip(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "ip", value.into_field()) }
    pub fn with_ip(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "ip", value.into_field()); self }
    pub fn push_hostnames(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "hostnames", item) }
    pub fn set_hostnames(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "hostnames", value) }
    pub fn with_hostnames(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "hostnames", value); self }
}

object!(HostIP, HostIPView);
part!(HostIP);
impl<'a> HostIPView<'a> {
    pub fn ip(self) -> &'a str { read(self.0, "ip") }
}
impl HostIP {
    pub fn set_ip(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "ip", value.into_field()) }
    pub fn with_ip(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "ip", value.into_field()); self }
}

object!(HostPathVolumeSource, HostPathVolumeSourceView);
part!(HostPathVolumeSource);
impl<'a> HostPathVolumeSourceView<'a> {
    pub fn path(self) -> &'a str { read(self.0, "path") }
    pub fn type_(self) -> Option<&'a str> { find(self.0, "type") }
}
impl HostPathVolumeSource {
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
}

object!(ISCSIPersistentVolumeSource, ISCSIPersistentVolumeSourceView);
part!(ISCSIPersistentVolumeSource);
impl<'a> ISCSIPersistentVolumeSourceView<'a> {
    pub fn target_portal(self) -> &'a str { read(self.0, "targetPortal") }
    pub fn iqn(self) -> &'a str { read(self.0, "iqn") }
    pub fn lun(self) -> i32 { read(self.0, "lun") }
    pub fn iscsi_interface(self) -> &'a str { read(self.0, "iscsiInterface") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
    pub fn portals(self) -> r::List<'a, &'a str> { read(self.0, "portals") }
    pub fn chap_auth_discovery(self) -> bool { read(self.0, "chapAuthDiscovery") }
    pub fn chap_auth_session(self) -> bool { read(self.0, "chapAuthSession") }
    pub fn secret_ref(self) -> Option<g::core::v1::SecretReferenceView<'a>> { find(self.0, "secretRef") }
    pub fn initiator_name(self) -> Option<&'a str> { find(self.0, "initiatorName") }
}
impl ISCSIPersistentVolumeSource {
    pub fn set_target_portal(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "targetPortal", value.into_field()) }
    pub fn with_target_portal(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "targetPortal", value.into_field()); self }
    pub fn set_iqn(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "iqn", value.into_field()) }
    pub fn with_iqn(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "iqn", value.into_field()); self }
    pub fn set_lun(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "lun", value.into_field()) }
    pub fn with_lun(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "lun", value.into_field()); self }
    pub fn set_iscsi_interface(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "iscsiInterface", value.into_field()) }
    pub fn with_iscsi_interface(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "iscsiInterface", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn push_portals(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "portals", item) }
    pub fn set_portals(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "portals", value) }
    pub fn with_portals(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "portals", value); self }
    pub fn set_chap_auth_discovery(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "chapAuthDiscovery", value.into_field()) }
    pub fn with_chap_auth_discovery(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "chapAuthDiscovery", value.into_field()); self }
    pub fn set_chap_auth_session(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "chapAuthSession", value.into_field()) }
    pub fn with_chap_auth_session(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "chapAuthSession", value.into_field()); self }
    pub fn edit_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecretReference) -> R) -> R { edit(&mut self.0, "secretRef", change) }
    pub fn set_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::SecretReference>) { set(&mut self.0, "secretRef", value.into_field()) }
    pub fn with_secret_ref(mut self, value: impl o::IntoField<g::core::v1::SecretReference>) -> Self { set(&mut self.0, "secretRef", value.into_field()); self }
    pub fn set_initiator_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "initiatorName", value.into_field()) }
    pub fn with_initiator_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "initiatorName", value.into_field()); self }
}

object!(ISCSIVolumeSource, ISCSIVolumeSourceView);
part!(ISCSIVolumeSource);
impl<'a> ISCSIVolumeSourceView<'a> {
    pub fn target_portal(self) -> &'a str { read(self.0, "targetPortal") }
    pub fn iqn(self) -> &'a str { read(self.0, "iqn") }
    pub fn lun(self) -> i32 { read(self.0, "lun") }
    pub fn iscsi_interface(self) -> &'a str { read(self.0, "iscsiInterface") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
    pub fn portals(self) -> r::List<'a, &'a str> { read(self.0, "portals") }
    pub fn chap_auth_discovery(self) -> bool { read(self.0, "chapAuthDiscovery") }
    pub fn chap_auth_session(self) -> bool { read(self.0, "chapAuthSession") }
    pub fn secret_ref(self) -> Option<g::core::v1::LocalObjectReferenceView<'a>> { find(self.0, "secretRef") }
    pub fn initiator_name(self) -> Option<&'a str> { find(self.0, "initiatorName") }
}
impl ISCSIVolumeSource {
    pub fn set_target_portal(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "targetPortal", value.into_field()) }
    pub fn with_target_portal(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "targetPortal", value.into_field()); self }
    pub fn set_iqn(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "iqn", value.into_field()) }
    pub fn with_iqn(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "iqn", value.into_field()); self }
    pub fn set_lun(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "lun", value.into_field()) }
    pub fn with_lun(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "lun", value.into_field()); self }
    pub fn set_iscsi_interface(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "iscsiInterface", value.into_field()) }
    pub fn with_iscsi_interface(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "iscsiInterface", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn push_portals(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "portals", item) }
    pub fn set_portals(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "portals", value) }
    pub fn with_portals(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "portals", value); self }
    pub fn set_chap_auth_discovery(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "chapAuthDiscovery", value.into_field()) }
    pub fn with_chap_auth_discovery(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "chapAuthDiscovery", value.into_field()); self }
    pub fn set_chap_auth_session(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "chapAuthSession", value.into_field()) }
    pub fn with_chap_auth_session(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "chapAuthSession", value.into_field()); self }
    pub fn edit_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::LocalObjectReference) -> R) -> R { edit(&mut self.0, "secretRef", change) }
    pub fn set_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::LocalObjectReference>) { set(&mut self.0, "secretRef", value.into_field()) }
    pub fn with_secret_ref(mut self, value: impl o::IntoField<g::core::v1::LocalObjectReference>) -> Self { set(&mut self.0, "secretRef", value.into_field()); self }
    pub fn set_initiator_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "initiatorName", value.into_field()) }
    pub fn with_initiator_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "initiatorName", value.into_field()); self }
}

object!(ImageVolumeSource, ImageVolumeSourceView);
part!(ImageVolumeSource);
impl<'a> ImageVolumeSourceView<'a> {
    pub fn reference(self) -> &'a str { read(self.0, "reference") }
    pub fn pull_policy(self) -> &'a str { read(self.0, "pullPolicy") }
}
impl ImageVolumeSource {
    pub fn set_reference(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reference", value.into_field()) }
    pub fn with_reference(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reference", value.into_field()); self }
    pub fn set_pull_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "pullPolicy", value.into_field()) }
    pub fn with_pull_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "pullPolicy", value.into_field()); self }
}

object!(ImageVolumeStatus, ImageVolumeStatusView);
part!(ImageVolumeStatus);
impl<'a> ImageVolumeStatusView<'a> {
    pub fn image_ref(self) -> &'a str { read(self.0, "imageRef") }
}
impl ImageVolumeStatus {
    pub fn set_image_ref(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "imageRef", value.into_field()) }
    pub fn with_image_ref(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "imageRef", value.into_field()); self }
}

object!(KeyToPath, KeyToPathView);
part!(KeyToPath);
impl<'a> KeyToPathView<'a> {
    pub fn key(self) -> &'a str { read(self.0, "key") }
    pub fn path(self) -> &'a str { read(self.0, "path") }
    pub fn mode(self) -> Option<i32> { find(self.0, "mode") }
}
impl KeyToPath {
    pub fn set_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "key", value.into_field()) }
    pub fn with_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "key", value.into_field()); self }
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
    pub fn set_mode(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "mode", value.into_field()) }
    pub fn with_mode(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "mode", value.into_field()); self }
}

object!(Lifecycle, LifecycleView);
part!(Lifecycle);
impl<'a> LifecycleView<'a> {
    pub fn post_start(self) -> Option<g::core::v1::LifecycleHandlerView<'a>> { find(self.0, "postStart") }
    pub fn pre_stop(self) -> Option<g::core::v1::LifecycleHandlerView<'a>> { find(self.0, "preStop") }
    pub fn stop_signal(self) -> Option<&'a str> { find(self.0, "stopSignal") }
}
impl Lifecycle {
    pub fn edit_post_start<R>(&mut self, change: impl FnOnce(&mut g::core::v1::LifecycleHandler) -> R) -> R { edit(&mut self.0, "postStart", change) }
    pub fn set_post_start(&mut self, value: impl o::IntoField<g::core::v1::LifecycleHandler>) { set(&mut self.0, "postStart", value.into_field()) }
    pub fn with_post_start(mut self, value: impl o::IntoField<g::core::v1::LifecycleHandler>) -> Self { set(&mut self.0, "postStart", value.into_field()); self }
    pub fn edit_pre_stop<R>(&mut self, change: impl FnOnce(&mut g::core::v1::LifecycleHandler) -> R) -> R { edit(&mut self.0, "preStop", change) }
    pub fn set_pre_stop(&mut self, value: impl o::IntoField<g::core::v1::LifecycleHandler>) { set(&mut self.0, "preStop", value.into_field()) }
    pub fn with_pre_stop(mut self, value: impl o::IntoField<g::core::v1::LifecycleHandler>) -> Self { set(&mut self.0, "preStop", value.into_field()); self }
    pub fn set_stop_signal(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "stopSignal", value.into_field()) }
    pub fn with_stop_signal(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "stopSignal", value.into_field()); self }
}

object!(LifecycleHandler, LifecycleHandlerView);
part!(LifecycleHandler);
impl<'a> LifecycleHandlerView<'a> {
    pub fn exec(self) -> Option<g::core::v1::ExecActionView<'a>> { find(self.0, "exec") }
    pub fn http_get(self) -> Option<g::core::v1::HTTPGetActionView<'a>> { find(self.0, "httpGet") }
    pub fn tcp_socket(self) -> Option<g::core::v1::TCPSocketActionView<'a>> { find(self.0, "tcpSocket") }
    pub fn sleep(self) -> Option<g::core::v1::SleepActionView<'a>> { find(self.0, "sleep") }
}
impl LifecycleHandler {
    pub fn edit_exec<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ExecAction) -> R) -> R { edit(&mut self.0, "exec", change) }
    pub fn set_exec(&mut self, value: impl o::IntoField<g::core::v1::ExecAction>) { set(&mut self.0, "exec", value.into_field()) }
    pub fn with_exec(mut self, value: impl o::IntoField<g::core::v1::ExecAction>) -> Self { set(&mut self.0, "exec", value.into_field()); self }
    pub fn edit_http_get<R>(&mut self, change: impl FnOnce(&mut g::core::v1::HTTPGetAction) -> R) -> R { edit(&mut self.0, "httpGet", change) }
    pub fn set_http_get(&mut self, value: impl o::IntoField<g::core::v1::HTTPGetAction>) { set(&mut self.0, "httpGet", value.into_field()) }
    pub fn with_http_get(mut self, value: impl o::IntoField<g::core::v1::HTTPGetAction>) -> Self { set(&mut self.0, "httpGet", value.into_field()); self }
    pub fn edit_tcp_socket<R>(&mut self, change: impl FnOnce(&mut g::core::v1::TCPSocketAction) -> R) -> R { edit(&mut self.0, "tcpSocket", change) }
    pub fn set_tcp_socket(&mut self, value: impl o::IntoField<g::core::v1::TCPSocketAction>) { set(&mut self.0, "tcpSocket", value.into_field()) }
    pub fn with_tcp_socket(mut self, value: impl o::IntoField<g::core::v1::TCPSocketAction>) -> Self { set(&mut self.0, "tcpSocket", value.into_field()); self }
    pub fn edit_sleep<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SleepAction) -> R) -> R { edit(&mut self.0, "sleep", change) }
    pub fn set_sleep(&mut self, value: impl o::IntoField<g::core::v1::SleepAction>) { set(&mut self.0, "sleep", value.into_field()) }
    pub fn with_sleep(mut self, value: impl o::IntoField<g::core::v1::SleepAction>) -> Self { set(&mut self.0, "sleep", value.into_field()); self }
}

object!(LimitRange, LimitRangeView);
kind!(LimitRange, "", "v1", "v1", "limitranges");
impl<'a> LimitRangeView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::core::v1::LimitRangeSpecView<'a> { read(self.0, "spec") }
}
impl LimitRange {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::core::v1::LimitRangeSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::core::v1::LimitRangeSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::core::v1::LimitRangeSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(LimitRangeItem, LimitRangeItemView);
part!(LimitRangeItem);
impl<'a> LimitRangeItemView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn max(self) -> r::Map<'a, r::Quantity> { read(self.0, "max") }
    pub fn min(self) -> r::Map<'a, r::Quantity> { read(self.0, "min") }
    pub fn default(self) -> r::Map<'a, r::Quantity> { read(self.0, "default") }
    pub fn default_request(self) -> r::Map<'a, r::Quantity> { read(self.0, "defaultRequest") }
    pub fn max_limit_request_ratio(self) -> r::Map<'a, r::Quantity> { read(self.0, "maxLimitRequestRatio") }
}
impl LimitRangeItem {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn insert_max(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "max", key, value) }
    pub fn set_max(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "max", value) }
    pub fn with_max(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "max", value); self }
    pub fn insert_min(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "min", key, value) }
    pub fn set_min(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "min", value) }
    pub fn with_min(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "min", value); self }
    pub fn insert_default(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "default", key, value) }
    pub fn set_default(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "default", value) }
    pub fn with_default(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "default", value); self }
    pub fn insert_default_request(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "defaultRequest", key, value) }
    pub fn set_default_request(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "defaultRequest", value) }
    pub fn with_default_request(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "defaultRequest", value); self }
    pub fn insert_max_limit_request_ratio(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "maxLimitRequestRatio", key, value) }
    pub fn set_max_limit_request_ratio(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "maxLimitRequestRatio", value) }
    pub fn with_max_limit_request_ratio(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "maxLimitRequestRatio", value); self }
}

object!(LimitRangeList, LimitRangeListView);
part!(LimitRangeList);
impl<'a> LimitRangeListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::core::v1::LimitRangeView<'a>> { read(self.0, "items") }
}
impl LimitRangeList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::LimitRange>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::LimitRange>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::LimitRange>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(LimitRangeSpec, LimitRangeSpecView);
part!(LimitRangeSpec);
impl<'a> LimitRangeSpecView<'a> {
    pub fn limits(self) -> r::List<'a, g::core::v1::LimitRangeItemView<'a>> { read(self.0, "limits") }
}
impl LimitRangeSpec {
    pub fn push_limits(&mut self, item: impl o::IntoField<g::core::v1::LimitRangeItem>) { push(&mut self.0, "limits", item) }
    pub fn set_limits(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::LimitRangeItem>>) { set_list(&mut self.0, "limits", value) }
    pub fn with_limits(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::LimitRangeItem>>) -> Self { set_list(&mut self.0, "limits", value); self }
}

object!(LinuxContainerUser, LinuxContainerUserView);
part!(LinuxContainerUser);
impl<'a> LinuxContainerUserView<'a> {
    pub fn uid(self) -> i64 { read(self.0, "uid") }
    pub fn gid(self) -> i64 { read(self.0, "gid") }
    pub fn supplemental_groups(self) -> r::List<'a, i64> { read(self.0, "supplementalGroups") }
}
impl LinuxContainerUser {
    pub fn set_uid(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "uid", value.into_field()) }
    pub fn with_uid(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "uid", value.into_field()); self }
    pub fn set_gid(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "gid", value.into_field()) }
    pub fn with_gid(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "gid", value.into_field()); self }
    pub fn push_supplemental_groups(&mut self, item: impl o::IntoField<i64>) { push(&mut self.0, "supplementalGroups", item) }
    pub fn set_supplemental_groups(&mut self, value: impl IntoIterator<Item = impl o::IntoField<i64>>) { set_list(&mut self.0, "supplementalGroups", value) }
    pub fn with_supplemental_groups(mut self, value: impl IntoIterator<Item = impl o::IntoField<i64>>) -> Self { set_list(&mut self.0, "supplementalGroups", value); self }
}

object!(LoadBalancerIngress, LoadBalancerIngressView);
part!(LoadBalancerIngress);
impl<'a> LoadBalancerIngressView<'a> {
    pub fn ip(self) -> &'a str { read(self.0, "ip") }
    pub fn hostname(self) -> &'a str { read(self.0, "hostname") }
    pub fn ip_mode(self) -> Option<&'a str> { find(self.0, "ipMode") }
    pub fn ports(self) -> r::List<'a, g::core::v1::PortStatusView<'a>> { read(self.0, "ports") }
}
impl LoadBalancerIngress {
    pub fn set_ip(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "ip", value.into_field()) }
    pub fn with_ip(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "ip", value.into_field()); self }
    pub fn set_hostname(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "hostname", value.into_field()) }
    pub fn with_hostname(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "hostname", value.into_field()); self }
    pub fn set_ip_mode(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "ipMode", value.into_field()) }
    pub fn with_ip_mode(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "ipMode", value.into_field()); self }
    pub fn push_ports(&mut self, item: impl o::IntoField<g::core::v1::PortStatus>) { push(&mut self.0, "ports", item) }
    pub fn set_ports(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PortStatus>>) { set_list(&mut self.0, "ports", value) }
    pub fn with_ports(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PortStatus>>) -> Self { set_list(&mut self.0, "ports", value); self }
}

object!(LoadBalancerStatus, LoadBalancerStatusView);
part!(LoadBalancerStatus);
impl<'a> LoadBalancerStatusView<'a> {
    pub fn ingress(self) -> r::List<'a, g::core::v1::LoadBalancerIngressView<'a>> { read(self.0, "ingress") }
}
impl LoadBalancerStatus {
    pub fn push_ingress(&mut self, item: impl o::IntoField<g::core::v1::LoadBalancerIngress>) { push(&mut self.0, "ingress", item) }
    pub fn set_ingress(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::LoadBalancerIngress>>) { set_list(&mut self.0, "ingress", value) }
    pub fn with_ingress(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::LoadBalancerIngress>>) -> Self { set_list(&mut self.0, "ingress", value); self }
}

object!(LocalObjectReference, LocalObjectReferenceView);
part!(LocalObjectReference);
impl<'a> LocalObjectReferenceView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
}
impl LocalObjectReference {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
}

object!(LocalVolumeSource, LocalVolumeSourceView);
part!(LocalVolumeSource);
impl<'a> LocalVolumeSourceView<'a> {
    pub fn path(self) -> &'a str { read(self.0, "path") }
    pub fn fs_type(self) -> Option<&'a str> { find(self.0, "fsType") }
}
impl LocalVolumeSource {
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
}

object!(ModifyVolumeStatus, ModifyVolumeStatusView);
part!(ModifyVolumeStatus);
impl<'a> ModifyVolumeStatusView<'a> {
    pub fn target_volume_attributes_class_name(self) -> &'a str { read(self.0, "targetVolumeAttributesClassName") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
}
impl ModifyVolumeStatus {
    pub fn set_target_volume_attributes_class_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "targetVolumeAttributesClassName", value.into_field()) }
    pub fn with_target_volume_attributes_class_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "targetVolumeAttributesClassName", value.into_field()); self }
    pub fn set_status(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(NFSVolumeSource, NFSVolumeSourceView);
part!(NFSVolumeSource);
impl<'a> NFSVolumeSourceView<'a> {
    pub fn server(self) -> &'a str { read(self.0, "server") }
    pub fn path(self) -> &'a str { read(self.0, "path") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
}
impl NFSVolumeSource {
    pub fn set_server(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "server", value.into_field()) }
    pub fn with_server(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "server", value.into_field()); self }
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
}

object!(Namespace, NamespaceView);
kind!(Namespace, "", "v1", "v1", "namespaces");
impl<'a> NamespaceView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::core::v1::NamespaceSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::core::v1::NamespaceStatusView<'a> { read(self.0, "status") }
}
impl Namespace {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NamespaceSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::core::v1::NamespaceSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::core::v1::NamespaceSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NamespaceStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::core::v1::NamespaceStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::core::v1::NamespaceStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(NamespaceCondition, NamespaceConditionView);
part!(NamespaceCondition);
impl<'a> NamespaceConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl NamespaceCondition {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_status(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "status", value.into_field()); self }
    pub fn set_last_transition_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastTransitionTime", value.into_field()) }
    pub fn with_last_transition_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastTransitionTime", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
}

object!(NamespaceList, NamespaceListView);
part!(NamespaceList);
impl<'a> NamespaceListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::core::v1::NamespaceView<'a>> { read(self.0, "items") }
}
impl NamespaceList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::Namespace>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Namespace>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Namespace>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(NamespaceSpec, NamespaceSpecView);
part!(NamespaceSpec);
impl<'a> NamespaceSpecView<'a> {
    pub fn finalizers(self) -> r::List<'a, &'a str> { read(self.0, "finalizers") }
}
impl NamespaceSpec {
    pub fn push_finalizers(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "finalizers", item) }
    pub fn set_finalizers(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "finalizers", value) }
    pub fn with_finalizers(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "finalizers", value); self }
}

object!(NamespaceStatus, NamespaceStatusView);
part!(NamespaceStatus);
impl<'a> NamespaceStatusView<'a> {
    pub fn phase(self) -> &'a str { read(self.0, "phase") }
    pub fn conditions(self) -> r::List<'a, g::core::v1::NamespaceConditionView<'a>> { read(self.0, "conditions") }
}
impl NamespaceStatus {
    pub fn set_phase(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "phase", value.into_field()) }
    pub fn with_phase(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "phase", value.into_field()); self }
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::core::v1::NamespaceCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::NamespaceCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::NamespaceCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
}

object!(Node, NodeView);
kind!(Node, "", "v1", "v1", "nodes");
impl<'a> NodeView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::core::v1::NodeSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::core::v1::NodeStatusView<'a> { read(self.0, "status") }
}
impl Node {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::core::v1::NodeSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::core::v1::NodeSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::core::v1::NodeStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::core::v1::NodeStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(NodeAddress, NodeAddressView);
part!(NodeAddress);
impl<'a> NodeAddressView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn address(self) -> &'a str { read(self.0, "address") }
}
impl NodeAddress {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_address(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "address", value.into_field()) }
    pub fn with_address(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "address", value.into_field()); self }
}

object!(NodeAffinity, NodeAffinityView);
part!(NodeAffinity);
impl<'a> NodeAffinityView<'a> {
    pub fn required_during_scheduling_ignored_during_execution(self) -> Option<g::core::v1::NodeSelectorView<'a>> { find(self.0, "requiredDuringSchedulingIgnoredDuringExecution") }
    pub fn preferred_during_scheduling_ignored_during_execution(self) -> r::List<'a, g::core::v1::PreferredSchedulingTermView<'a>> { read(self.0, "preferredDuringSchedulingIgnoredDuringExecution") }
}
impl NodeAffinity {
    pub fn edit_required_during_scheduling_ignored_during_execution<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeSelector) -> R) -> R { edit(&mut self.0, "requiredDuringSchedulingIgnoredDuringExecution", change) }
    pub fn set_required_during_scheduling_ignored_during_execution(&mut self, value: impl o::IntoField<g::core::v1::NodeSelector>) { set(&mut self.0, "requiredDuringSchedulingIgnoredDuringExecution", value.into_field()) }
    pub fn with_required_during_scheduling_ignored_during_execution(mut self, value: impl o::IntoField<g::core::v1::NodeSelector>) -> Self { set(&mut self.0, "requiredDuringSchedulingIgnoredDuringExecution", value.into_field()); self }
    pub fn push_preferred_during_scheduling_ignored_during_execution(&mut self, item: impl o::IntoField<g::core::v1::PreferredSchedulingTerm>) { push(&mut self.0, "preferredDuringSchedulingIgnoredDuringExecution", item) }
    pub fn set_preferred_during_scheduling_ignored_during_execution(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PreferredSchedulingTerm>>) { set_list(&mut self.0, "preferredDuringSchedulingIgnoredDuringExecution", value) }
    pub fn with_preferred_during_scheduling_ignored_during_execution(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PreferredSchedulingTerm>>) -> Self { set_list(&mut self.0, "preferredDuringSchedulingIgnoredDuringExecution", value); self }
}

object!(NodeAllocatableResourceClaimStatus, NodeAllocatableResourceClaimStatusView);
part!(NodeAllocatableResourceClaimStatus);
impl<'a> NodeAllocatableResourceClaimStatusView<'a> {
    pub fn resource_claim_name(self) -> &'a str { read(self.0, "resourceClaimName") }
    pub fn containers(self) -> r::List<'a, &'a str> { read(self.0, "containers") }
    pub fn resources(self) -> r::Map<'a, r::Quantity> { read(self.0, "resources") }
}
impl NodeAllocatableResourceClaimStatus {
    pub fn set_resource_claim_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resourceClaimName", value.into_field()) }
    pub fn with_resource_claim_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resourceClaimName", value.into_field()); self }
    pub fn push_containers(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "containers", item) }
    pub fn set_containers(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "containers", value) }
    pub fn with_containers(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "containers", value); self }
    pub fn insert_resources(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "resources", key, value) }
    pub fn set_resources(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "resources", value) }
    pub fn with_resources(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "resources", value); self }
}

object!(NodeCondition, NodeConditionView);
part!(NodeCondition);
impl<'a> NodeConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn last_heartbeat_time(self) -> Option<r::Timestamp> { find(self.0, "lastHeartbeatTime") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl NodeCondition {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_status(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "status", value.into_field()); self }
    pub fn set_last_heartbeat_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastHeartbeatTime", value.into_field()) }
    pub fn with_last_heartbeat_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastHeartbeatTime", value.into_field()); self }
    pub fn set_last_transition_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastTransitionTime", value.into_field()) }
    pub fn with_last_transition_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastTransitionTime", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
}

object!(NodeConfigSource, NodeConfigSourceView);
part!(NodeConfigSource);
impl<'a> NodeConfigSourceView<'a> {
    pub fn config_map(self) -> Option<g::core::v1::ConfigMapNodeConfigSourceView<'a>> { find(self.0, "configMap") }
}
impl NodeConfigSource {
    pub fn edit_config_map<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ConfigMapNodeConfigSource) -> R) -> R { edit(&mut self.0, "configMap", change) }
    pub fn set_config_map(&mut self, value: impl o::IntoField<g::core::v1::ConfigMapNodeConfigSource>) { set(&mut self.0, "configMap", value.into_field()) }
    pub fn with_config_map(mut self, value: impl o::IntoField<g::core::v1::ConfigMapNodeConfigSource>) -> Self { set(&mut self.0, "configMap", value.into_field()); self }
}

object!(NodeConfigStatus, NodeConfigStatusView);
part!(NodeConfigStatus);
impl<'a> NodeConfigStatusView<'a> {
    pub fn assigned(self) -> Option<g::core::v1::NodeConfigSourceView<'a>> { find(self.0, "assigned") }
    pub fn active(self) -> Option<g::core::v1::NodeConfigSourceView<'a>> { find(self.0, "active") }
    pub fn last_known_good(self) -> Option<g::core::v1::NodeConfigSourceView<'a>> { find(self.0, "lastKnownGood") }
    pub fn error(self) -> &'a str { read(self.0, "error") }
}
impl NodeConfigStatus {
    pub fn edit_assigned<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeConfigSource) -> R) -> R { edit(&mut self.0, "assigned", change) }
    pub fn set_assigned(&mut self, value: impl o::IntoField<g::core::v1::NodeConfigSource>) { set(&mut self.0, "assigned", value.into_field()) }
    pub fn with_assigned(mut self, value: impl o::IntoField<g::core::v1::NodeConfigSource>) -> Self { set(&mut self.0, "assigned", value.into_field()); self }
    pub fn edit_active<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeConfigSource) -> R) -> R { edit(&mut self.0, "active", change) }
    pub fn set_active(&mut self, value: impl o::IntoField<g::core::v1::NodeConfigSource>) { set(&mut self.0, "active", value.into_field()) }
    pub fn with_active(mut self, value: impl o::IntoField<g::core::v1::NodeConfigSource>) -> Self { set(&mut self.0, "active", value.into_field()); self }
    pub fn edit_last_known_good<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeConfigSource) -> R) -> R { edit(&mut self.0, "lastKnownGood", change) }
    pub fn set_last_known_good(&mut self, value: impl o::IntoField<g::core::v1::NodeConfigSource>) { set(&mut self.0, "lastKnownGood", value.into_field()) }
    pub fn with_last_known_good(mut self, value: impl o::IntoField<g::core::v1::NodeConfigSource>) -> Self { set(&mut self.0, "lastKnownGood", value.into_field()); self }
    pub fn set_error(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "error", value.into_field()) }
    pub fn with_error(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "error", value.into_field()); self }
}

object!(NodeDaemonEndpoints, NodeDaemonEndpointsView);
part!(NodeDaemonEndpoints);
impl<'a> NodeDaemonEndpointsView<'a> {
    pub fn kubelet_endpoint(self) -> g::core::v1::DaemonEndpointView<'a> { read(self.0, "kubeletEndpoint") }
}
impl NodeDaemonEndpoints {
    pub fn edit_kubelet_endpoint<R>(&mut self, change: impl FnOnce(&mut g::core::v1::DaemonEndpoint) -> R) -> R { edit(&mut self.0, "kubeletEndpoint", change) }
    pub fn set_kubelet_endpoint(&mut self, value: impl o::IntoField<g::core::v1::DaemonEndpoint>) { set(&mut self.0, "kubeletEndpoint", value.into_field()) }
    pub fn with_kubelet_endpoint(mut self, value: impl o::IntoField<g::core::v1::DaemonEndpoint>) -> Self { set(&mut self.0, "kubeletEndpoint", value.into_field()); self }
}

object!(NodeFeatures, NodeFeaturesView);
part!(NodeFeatures);
impl<'a> NodeFeaturesView<'a> {
    pub fn supplemental_groups_policy(self) -> Option<bool> { find(self.0, "supplementalGroupsPolicy") }
}
impl NodeFeatures {
    pub fn set_supplemental_groups_policy(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "supplementalGroupsPolicy", value.into_field()) }
    pub fn with_supplemental_groups_policy(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "supplementalGroupsPolicy", value.into_field()); self }
}

object!(NodeList, NodeListView);
part!(NodeList);
impl<'a> NodeListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::core::v1::NodeView<'a>> { read(self.0, "items") }
}
impl NodeList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::Node>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Node>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Node>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(NodeProxyOptions, NodeProxyOptionsView);
part!(NodeProxyOptions);
impl<'a> NodeProxyOptionsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn path(self) -> &'a str { read(self.0, "path") }
}
impl NodeProxyOptions {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
}

object!(NodeRuntimeHandler, NodeRuntimeHandlerView);
part!(NodeRuntimeHandler);
impl<'a> NodeRuntimeHandlerView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn features(self) -> Option<g::core::v1::NodeRuntimeHandlerFeaturesView<'a>> { find(self.0, "features") }
}
impl NodeRuntimeHandler {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn edit_features<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeRuntimeHandlerFeatures) -> R) -> R { edit(&mut self.0, "features", change) }
    pub fn set_features(&mut self, value: impl o::IntoField<g::core::v1::NodeRuntimeHandlerFeatures>) { set(&mut self.0, "features", value.into_field()) }
    pub fn with_features(mut self, value: impl o::IntoField<g::core::v1::NodeRuntimeHandlerFeatures>) -> Self { set(&mut self.0, "features", value.into_field()); self }
}

object!(NodeRuntimeHandlerFeatures, NodeRuntimeHandlerFeaturesView);
part!(NodeRuntimeHandlerFeatures);
impl<'a> NodeRuntimeHandlerFeaturesView<'a> {
    pub fn recursive_read_only_mounts(self) -> Option<bool> { find(self.0, "recursiveReadOnlyMounts") }
    pub fn user_namespaces(self) -> Option<bool> { find(self.0, "userNamespaces") }
}
impl NodeRuntimeHandlerFeatures {
    pub fn set_recursive_read_only_mounts(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "recursiveReadOnlyMounts", value.into_field()) }
    pub fn with_recursive_read_only_mounts(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "recursiveReadOnlyMounts", value.into_field()); self }
    pub fn set_user_namespaces(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "userNamespaces", value.into_field()) }
    pub fn with_user_namespaces(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "userNamespaces", value.into_field()); self }
}

object!(NodeSelector, NodeSelectorView);
part!(NodeSelector);
impl<'a> NodeSelectorView<'a> {
    pub fn node_selector_terms(self) -> r::List<'a, g::core::v1::NodeSelectorTermView<'a>> { read(self.0, "nodeSelectorTerms") }
}
impl NodeSelector {
    pub fn push_node_selector_terms(&mut self, item: impl o::IntoField<g::core::v1::NodeSelectorTerm>) { push(&mut self.0, "nodeSelectorTerms", item) }
    pub fn set_node_selector_terms(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::NodeSelectorTerm>>) { set_list(&mut self.0, "nodeSelectorTerms", value) }
    pub fn with_node_selector_terms(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::NodeSelectorTerm>>) -> Self { set_list(&mut self.0, "nodeSelectorTerms", value); self }
}

object!(NodeSelectorRequirement, NodeSelectorRequirementView);
part!(NodeSelectorRequirement);
impl<'a> NodeSelectorRequirementView<'a> {
    pub fn key(self) -> &'a str { read(self.0, "key") }
    pub fn operator(self) -> &'a str { read(self.0, "operator") }
    pub fn values(self) -> r::List<'a, &'a str> { read(self.0, "values") }
}
impl NodeSelectorRequirement {
    pub fn set_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "key", value.into_field()) }
    pub fn with_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "key", value.into_field()); self }
    pub fn set_operator(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "operator", value.into_field()) }
    pub fn with_operator(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "operator", value.into_field()); self }
    pub fn push_values(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "values", item) }
    pub fn set_values(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "values", value) }
    pub fn with_values(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "values", value); self }
}

object!(NodeSelectorTerm, NodeSelectorTermView);
part!(NodeSelectorTerm);
impl<'a> NodeSelectorTermView<'a> {
    pub fn match_expressions(self) -> r::List<'a, g::core::v1::NodeSelectorRequirementView<'a>> { read(self.0, "matchExpressions") }
    pub fn match_fields(self) -> r::List<'a, g::core::v1::NodeSelectorRequirementView<'a>> { read(self.0, "matchFields") }
}
impl NodeSelectorTerm {
    pub fn push_match_expressions(&mut self, item: impl o::IntoField<g::core::v1::NodeSelectorRequirement>) { push(&mut self.0, "matchExpressions", item) }
    pub fn set_match_expressions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::NodeSelectorRequirement>>) { set_list(&mut self.0, "matchExpressions", value) }
    pub fn with_match_expressions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::NodeSelectorRequirement>>) -> Self { set_list(&mut self.0, "matchExpressions", value); self }
    pub fn push_match_fields(&mut self, item: impl o::IntoField<g::core::v1::NodeSelectorRequirement>) { push(&mut self.0, "matchFields", item) }
    pub fn set_match_fields(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::NodeSelectorRequirement>>) { set_list(&mut self.0, "matchFields", value) }
    pub fn with_match_fields(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::NodeSelectorRequirement>>) -> Self { set_list(&mut self.0, "matchFields", value); self }
}

object!(NodeSpec, NodeSpecView);
part!(NodeSpec);
impl<'a> NodeSpecView<'a> {
    pub fn pod_cidr(self) -> &'a str { read(self.0, "podCIDR") }
    pub fn pod_cidrs(self) -> r::List<'a, &'a str> { read(self.0, "podCIDRs") }
    pub fn provider_id(self) -> &'a str { read(self.0, "providerID") }
    pub fn unschedulable(self) -> bool { read(self.0, "unschedulable") }
    pub fn taints(self) -> r::List<'a, g::core::v1::TaintView<'a>> { read(self.0, "taints") }
    pub fn config_source(self) -> Option<g::core::v1::NodeConfigSourceView<'a>> { find(self.0, "configSource") }
    pub fn external_id(self) -> &'a str { read(self.0, "externalID") }
}
impl NodeSpec {
    pub fn set_pod_cidr(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "podCIDR", value.into_field()) }
    pub fn with_pod_cidr(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "podCIDR", value.into_field()); self }
    pub fn push_pod_cidrs(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "podCIDRs", item) }
    pub fn set_pod_cidrs(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "podCIDRs", value) }
    pub fn with_pod_cidrs(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "podCIDRs", value); self }
    pub fn set_provider_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "providerID", value.into_field()) }
    pub fn with_provider_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "providerID", value.into_field()); self }
    pub fn set_unschedulable(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "unschedulable", value.into_field()) }
    pub fn with_unschedulable(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "unschedulable", value.into_field()); self }
    pub fn push_taints(&mut self, item: impl o::IntoField<g::core::v1::Taint>) { push(&mut self.0, "taints", item) }
    pub fn set_taints(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Taint>>) { set_list(&mut self.0, "taints", value) }
    pub fn with_taints(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Taint>>) -> Self { set_list(&mut self.0, "taints", value); self }
    pub fn edit_config_source<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeConfigSource) -> R) -> R { edit(&mut self.0, "configSource", change) }
    pub fn set_config_source(&mut self, value: impl o::IntoField<g::core::v1::NodeConfigSource>) { set(&mut self.0, "configSource", value.into_field()) }
    pub fn with_config_source(mut self, value: impl o::IntoField<g::core::v1::NodeConfigSource>) -> Self { set(&mut self.0, "configSource", value.into_field()); self }
    pub fn set_external_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "externalID", value.into_field()) }
    pub fn with_external_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "externalID", value.into_field()); self }
}

object!(NodeStatus, NodeStatusView);
part!(NodeStatus);
impl<'a> NodeStatusView<'a> {
    pub fn capacity(self) -> r::Map<'a, r::Quantity> { read(self.0, "capacity") }
    pub fn allocatable(self) -> r::Map<'a, r::Quantity> { read(self.0, "allocatable") }
    pub fn phase(self) -> &'a str { read(self.0, "phase") }
    pub fn conditions(self) -> r::List<'a, g::core::v1::NodeConditionView<'a>> { read(self.0, "conditions") }
    pub fn addresses(self) -> r::List<'a, g::core::v1::NodeAddressView<'a>> { read(self.0, "addresses") }
    pub fn daemon_endpoints(self) -> g::core::v1::NodeDaemonEndpointsView<'a> { read(self.0, "daemonEndpoints") }
    pub fn node_info(self) -> g::core::v1::NodeSystemInfoView<'a> { read(self.0, "nodeInfo") }
    pub fn images(self) -> r::List<'a, g::core::v1::ContainerImageView<'a>> { read(self.0, "images") }
    pub fn volumes_in_use(self) -> r::List<'a, &'a str> { read(self.0, "volumesInUse") }
    pub fn volumes_attached(self) -> r::List<'a, g::core::v1::AttachedVolumeView<'a>> { read(self.0, "volumesAttached") }
    pub fn config(self) -> Option<g::core::v1::NodeConfigStatusView<'a>> { find(self.0, "config") }
    pub fn runtime_handlers(self) -> r::List<'a, g::core::v1::NodeRuntimeHandlerView<'a>> { read(self.0, "runtimeHandlers") }
    pub fn features(self) -> Option<g::core::v1::NodeFeaturesView<'a>> { find(self.0, "features") }
    pub fn declared_features(self) -> r::List<'a, &'a str> { read(self.0, "declaredFeatures") }
}
impl NodeStatus {
    pub fn insert_capacity(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "capacity", key, value) }
    pub fn set_capacity(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "capacity", value) }
    pub fn with_capacity(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "capacity", value); self }
    pub fn insert_allocatable(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "allocatable", key, value) }
    pub fn set_allocatable(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "allocatable", value) }
    pub fn with_allocatable(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "allocatable", value); self }
    pub fn set_phase(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "phase", value.into_field()) }
    pub fn with_phase(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "phase", value.into_field()); self }
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::core::v1::NodeCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::NodeCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::NodeCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
    pub fn push_addresses(&mut self, item: impl o::IntoField<g::core::v1::NodeAddress>) { push(&mut self.0, "addresses", item) }
    pub fn set_addresses(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::NodeAddress>>) { set_list(&mut self.0, "addresses", value) }
    pub fn with_addresses(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::NodeAddress>>) -> Self { set_list(&mut self.0, "addresses", value); self }
    pub fn edit_daemon_endpoints<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeDaemonEndpoints) -> R) -> R { edit(&mut self.0, "daemonEndpoints", change) }
    pub fn set_daemon_endpoints(&mut self, value: impl o::IntoField<g::core::v1::NodeDaemonEndpoints>) { set(&mut self.0, "daemonEndpoints", value.into_field()) }
    pub fn with_daemon_endpoints(mut self, value: impl o::IntoField<g::core::v1::NodeDaemonEndpoints>) -> Self { set(&mut self.0, "daemonEndpoints", value.into_field()); self }
    pub fn edit_node_info<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeSystemInfo) -> R) -> R { edit(&mut self.0, "nodeInfo", change) }
    pub fn set_node_info(&mut self, value: impl o::IntoField<g::core::v1::NodeSystemInfo>) { set(&mut self.0, "nodeInfo", value.into_field()) }
    pub fn with_node_info(mut self, value: impl o::IntoField<g::core::v1::NodeSystemInfo>) -> Self { set(&mut self.0, "nodeInfo", value.into_field()); self }
    pub fn push_images(&mut self, item: impl o::IntoField<g::core::v1::ContainerImage>) { push(&mut self.0, "images", item) }
    pub fn set_images(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerImage>>) { set_list(&mut self.0, "images", value) }
    pub fn with_images(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerImage>>) -> Self { set_list(&mut self.0, "images", value); self }
    pub fn push_volumes_in_use(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "volumesInUse", item) }
    pub fn set_volumes_in_use(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "volumesInUse", value) }
    pub fn with_volumes_in_use(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "volumesInUse", value); self }
    pub fn push_volumes_attached(&mut self, item: impl o::IntoField<g::core::v1::AttachedVolume>) { push(&mut self.0, "volumesAttached", item) }
    pub fn set_volumes_attached(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::AttachedVolume>>) { set_list(&mut self.0, "volumesAttached", value) }
    pub fn with_volumes_attached(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::AttachedVolume>>) -> Self { set_list(&mut self.0, "volumesAttached", value); self }
    pub fn edit_config<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeConfigStatus) -> R) -> R { edit(&mut self.0, "config", change) }
    pub fn set_config(&mut self, value: impl o::IntoField<g::core::v1::NodeConfigStatus>) { set(&mut self.0, "config", value.into_field()) }
    pub fn with_config(mut self, value: impl o::IntoField<g::core::v1::NodeConfigStatus>) -> Self { set(&mut self.0, "config", value.into_field()); self }
    pub fn push_runtime_handlers(&mut self, item: impl o::IntoField<g::core::v1::NodeRuntimeHandler>) { push(&mut self.0, "runtimeHandlers", item) }
    pub fn set_runtime_handlers(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::NodeRuntimeHandler>>) { set_list(&mut self.0, "runtimeHandlers", value) }
    pub fn with_runtime_handlers(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::NodeRuntimeHandler>>) -> Self { set_list(&mut self.0, "runtimeHandlers", value); self }
    pub fn edit_features<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeFeatures) -> R) -> R { edit(&mut self.0, "features", change) }
    pub fn set_features(&mut self, value: impl o::IntoField<g::core::v1::NodeFeatures>) { set(&mut self.0, "features", value.into_field()) }
    pub fn with_features(mut self, value: impl o::IntoField<g::core::v1::NodeFeatures>) -> Self { set(&mut self.0, "features", value.into_field()); self }
    pub fn push_declared_features(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "declaredFeatures", item) }
    pub fn set_declared_features(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "declaredFeatures", value) }
    pub fn with_declared_features(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "declaredFeatures", value); self }
}

object!(NodeSwapStatus, NodeSwapStatusView);
part!(NodeSwapStatus);
impl<'a> NodeSwapStatusView<'a> {
    pub fn capacity(self) -> Option<i64> { find(self.0, "capacity") }
}
impl NodeSwapStatus {
    pub fn set_capacity(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "capacity", value.into_field()) }
    pub fn with_capacity(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "capacity", value.into_field()); self }
}

object!(NodeSystemInfo, NodeSystemInfoView);
part!(NodeSystemInfo);
impl<'a> NodeSystemInfoView<'a> {
    pub fn machine_id(self) -> &'a str { read(self.0, "machineID") }
    pub fn system_uuid(self) -> &'a str { read(self.0, "systemUUID") }
    pub fn boot_id(self) -> &'a str { read(self.0, "bootID") }
    pub fn kernel_version(self) -> &'a str { read(self.0, "kernelVersion") }
    pub fn os_image(self) -> &'a str { read(self.0, "osImage") }
    pub fn container_runtime_version(self) -> &'a str { read(self.0, "containerRuntimeVersion") }
    pub fn kubelet_version(self) -> &'a str { read(self.0, "kubeletVersion") }
    pub fn kube_proxy_version(self) -> &'a str { read(self.0, "kubeProxyVersion") }
    pub fn operating_system(self) -> &'a str { read(self.0, "operatingSystem") }
    pub fn architecture(self) -> &'a str { read(self.0, "architecture") }
    pub fn swap(self) -> Option<g::core::v1::NodeSwapStatusView<'a>> { find(self.0, "swap") }
}
impl NodeSystemInfo {
    pub fn set_machine_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "machineID", value.into_field()) }
    pub fn with_machine_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "machineID", value.into_field()); self }
    pub fn set_system_uuid(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "systemUUID", value.into_field()) }
    pub fn with_system_uuid(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "systemUUID", value.into_field()); self }
    pub fn set_boot_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "bootID", value.into_field()) }
    pub fn with_boot_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "bootID", value.into_field()); self }
    pub fn set_kernel_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kernelVersion", value.into_field()) }
    pub fn with_kernel_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kernelVersion", value.into_field()); self }
    pub fn set_os_image(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "osImage", value.into_field()) }
    pub fn with_os_image(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "osImage", value.into_field()); self }
    pub fn set_container_runtime_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "containerRuntimeVersion", value.into_field()) }
    pub fn with_container_runtime_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "containerRuntimeVersion", value.into_field()); self }
    pub fn set_kubelet_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kubeletVersion", value.into_field()) }
    pub fn with_kubelet_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kubeletVersion", value.into_field()); self }
    pub fn set_kube_proxy_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kubeProxyVersion", value.into_field()) }
    pub fn with_kube_proxy_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kubeProxyVersion", value.into_field()); self }
    pub fn set_operating_system(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "operatingSystem", value.into_field()) }
    pub fn with_operating_system(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "operatingSystem", value.into_field()); self }
    pub fn set_architecture(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "architecture", value.into_field()) }
    pub fn with_architecture(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "architecture", value.into_field()); self }
    pub fn edit_swap<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeSwapStatus) -> R) -> R { edit(&mut self.0, "swap", change) }
    pub fn set_swap(&mut self, value: impl o::IntoField<g::core::v1::NodeSwapStatus>) { set(&mut self.0, "swap", value.into_field()) }
    pub fn with_swap(mut self, value: impl o::IntoField<g::core::v1::NodeSwapStatus>) -> Self { set(&mut self.0, "swap", value.into_field()); self }
}

object!(ObjectFieldSelector, ObjectFieldSelectorView);
part!(ObjectFieldSelector);
impl<'a> ObjectFieldSelectorView<'a> {
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn field_path(self) -> &'a str { read(self.0, "fieldPath") }
}
impl ObjectFieldSelector {
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_field_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fieldPath", value.into_field()) }
    pub fn with_field_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fieldPath", value.into_field()); self }
}

object!(ObjectReference, ObjectReferenceView);
part!(ObjectReference);
impl<'a> ObjectReferenceView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn namespace(self) -> &'a str { read(self.0, "namespace") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn uid(self) -> &'a str { read(self.0, "uid") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn resource_version(self) -> &'a str { read(self.0, "resourceVersion") }
    pub fn field_path(self) -> &'a str { read(self.0, "fieldPath") }
}
impl ObjectReference {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "namespace", value.into_field()) }
    pub fn with_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "namespace", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_uid(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "uid", value.into_field()) }
    pub fn with_uid(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "uid", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_resource_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resourceVersion", value.into_field()) }
    pub fn with_resource_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resourceVersion", value.into_field()); self }
    pub fn set_field_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fieldPath", value.into_field()) }
    pub fn with_field_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fieldPath", value.into_field()); self }
}

object!(PersistentVolume, PersistentVolumeView);
kind!(PersistentVolume, "", "v1", "v1", "persistentvolumes");
impl<'a> PersistentVolumeView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::core::v1::PersistentVolumeSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::core::v1::PersistentVolumeStatusView<'a> { read(self.0, "status") }
}
impl PersistentVolume {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PersistentVolumeSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PersistentVolumeStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(PersistentVolumeClaim, PersistentVolumeClaimView);
kind!(PersistentVolumeClaim, "", "v1", "v1", "persistentvolumeclaims");
impl<'a> PersistentVolumeClaimView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::core::v1::PersistentVolumeClaimSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::core::v1::PersistentVolumeClaimStatusView<'a> { read(self.0, "status") }
}
impl PersistentVolumeClaim {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PersistentVolumeClaimSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeClaimSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeClaimSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PersistentVolumeClaimStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeClaimStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeClaimStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(PersistentVolumeClaimCondition, PersistentVolumeClaimConditionView);
part!(PersistentVolumeClaimCondition);
impl<'a> PersistentVolumeClaimConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn last_probe_time(self) -> Option<r::Timestamp> { find(self.0, "lastProbeTime") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl PersistentVolumeClaimCondition {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_status(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "status", value.into_field()); self }
    pub fn set_last_probe_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastProbeTime", value.into_field()) }
    pub fn with_last_probe_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastProbeTime", value.into_field()); self }
    pub fn set_last_transition_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastTransitionTime", value.into_field()) }
    pub fn with_last_transition_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastTransitionTime", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
}

object!(PersistentVolumeClaimList, PersistentVolumeClaimListView);
part!(PersistentVolumeClaimList);
impl<'a> PersistentVolumeClaimListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::core::v1::PersistentVolumeClaimView<'a>> { read(self.0, "items") }
}
impl PersistentVolumeClaimList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::PersistentVolumeClaim>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PersistentVolumeClaim>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PersistentVolumeClaim>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(PersistentVolumeClaimSpec, PersistentVolumeClaimSpecView);
part!(PersistentVolumeClaimSpec);
impl<'a> PersistentVolumeClaimSpecView<'a> {
    pub fn access_modes(self) -> r::List<'a, &'a str> { read(self.0, "accessModes") }
    pub fn selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "selector") }
    pub fn resources(self) -> g::core::v1::VolumeResourceRequirementsView<'a> { read(self.0, "resources") }
    pub fn volume_name(self) -> &'a str { read(self.0, "volumeName") }
    pub fn storage_class_name(self) -> Option<&'a str> { find(self.0, "storageClassName") }
    pub fn volume_mode(self) -> Option<&'a str> { find(self.0, "volumeMode") }
    pub fn data_source(self) -> Option<g::core::v1::TypedLocalObjectReferenceView<'a>> { find(self.0, "dataSource") }
    pub fn data_source_ref(self) -> Option<g::core::v1::TypedObjectReferenceView<'a>> { find(self.0, "dataSourceRef") }
    pub fn volume_attributes_class_name(self) -> Option<&'a str> { find(self.0, "volumeAttributesClassName") }
}
impl PersistentVolumeClaimSpec {
    pub fn push_access_modes(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "accessModes", item) }
    pub fn set_access_modes(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "accessModes", value) }
    pub fn with_access_modes(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "accessModes", value); self }
    pub fn edit_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "selector", change) }
    pub fn set_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "selector", value.into_field()) }
    pub fn with_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "selector", value.into_field()); self }
    pub fn edit_resources<R>(&mut self, change: impl FnOnce(&mut g::core::v1::VolumeResourceRequirements) -> R) -> R { edit(&mut self.0, "resources", change) }
    pub fn set_resources(&mut self, value: impl o::IntoField<g::core::v1::VolumeResourceRequirements>) { set(&mut self.0, "resources", value.into_field()) }
    pub fn with_resources(mut self, value: impl o::IntoField<g::core::v1::VolumeResourceRequirements>) -> Self { set(&mut self.0, "resources", value.into_field()); self }
    pub fn set_volume_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeName", value.into_field()) }
    pub fn with_volume_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeName", value.into_field()); self }
    pub fn set_storage_class_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "storageClassName", value.into_field()) }
    pub fn with_storage_class_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "storageClassName", value.into_field()); self }
    pub fn set_volume_mode(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeMode", value.into_field()) }
    pub fn with_volume_mode(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeMode", value.into_field()); self }
    pub fn edit_data_source<R>(&mut self, change: impl FnOnce(&mut g::core::v1::TypedLocalObjectReference) -> R) -> R { edit(&mut self.0, "dataSource", change) }
    pub fn set_data_source(&mut self, value: impl o::IntoField<g::core::v1::TypedLocalObjectReference>) { set(&mut self.0, "dataSource", value.into_field()) }
    pub fn with_data_source(mut self, value: impl o::IntoField<g::core::v1::TypedLocalObjectReference>) -> Self { set(&mut self.0, "dataSource", value.into_field()); self }
    pub fn edit_data_source_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::TypedObjectReference) -> R) -> R { edit(&mut self.0, "dataSourceRef", change) }
    pub fn set_data_source_ref(&mut self, value: impl o::IntoField<g::core::v1::TypedObjectReference>) { set(&mut self.0, "dataSourceRef", value.into_field()) }
    pub fn with_data_source_ref(mut self, value: impl o::IntoField<g::core::v1::TypedObjectReference>) -> Self { set(&mut self.0, "dataSourceRef", value.into_field()); self }
    pub fn set_volume_attributes_class_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeAttributesClassName", value.into_field()) }
    pub fn with_volume_attributes_class_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeAttributesClassName", value.into_field()); self }
}

object!(PersistentVolumeClaimStatus, PersistentVolumeClaimStatusView);
part!(PersistentVolumeClaimStatus);
impl<'a> PersistentVolumeClaimStatusView<'a> {
    pub fn phase(self) -> &'a str { read(self.0, "phase") }
    pub fn access_modes(self) -> r::List<'a, &'a str> { read(self.0, "accessModes") }
    pub fn capacity(self) -> r::Map<'a, r::Quantity> { read(self.0, "capacity") }
    pub fn conditions(self) -> r::List<'a, g::core::v1::PersistentVolumeClaimConditionView<'a>> { read(self.0, "conditions") }
    pub fn allocated_resources(self) -> r::Map<'a, r::Quantity> { read(self.0, "allocatedResources") }
    pub fn allocated_resource_statuses(self) -> r::Map<'a, &'a str> { read(self.0, "allocatedResourceStatuses") }
    pub fn current_volume_attributes_class_name(self) -> Option<&'a str> { find(self.0, "currentVolumeAttributesClassName") }
    pub fn modify_volume_status(self) -> Option<g::core::v1::ModifyVolumeStatusView<'a>> { find(self.0, "modifyVolumeStatus") }
}
impl PersistentVolumeClaimStatus {
    pub fn set_phase(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "phase", value.into_field()) }
    pub fn with_phase(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "phase", value.into_field()); self }
    pub fn push_access_modes(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "accessModes", item) }
    pub fn set_access_modes(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "accessModes", value) }
    pub fn with_access_modes(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "accessModes", value); self }
    pub fn insert_capacity(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "capacity", key, value) }
    pub fn set_capacity(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "capacity", value) }
    pub fn with_capacity(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "capacity", value); self }
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::core::v1::PersistentVolumeClaimCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PersistentVolumeClaimCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PersistentVolumeClaimCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
    pub fn insert_allocated_resources(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "allocatedResources", key, value) }
    pub fn set_allocated_resources(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "allocatedResources", value) }
    pub fn with_allocated_resources(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "allocatedResources", value); self }
    pub fn insert_allocated_resource_statuses(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "allocatedResourceStatuses", key, value) }
    pub fn set_allocated_resource_statuses(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "allocatedResourceStatuses", value) }
    pub fn with_allocated_resource_statuses(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "allocatedResourceStatuses", value); self }
    pub fn set_current_volume_attributes_class_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "currentVolumeAttributesClassName", value.into_field()) }
    pub fn with_current_volume_attributes_class_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "currentVolumeAttributesClassName", value.into_field()); self }
    pub fn edit_modify_volume_status<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ModifyVolumeStatus) -> R) -> R { edit(&mut self.0, "modifyVolumeStatus", change) }
    pub fn set_modify_volume_status(&mut self, value: impl o::IntoField<g::core::v1::ModifyVolumeStatus>) { set(&mut self.0, "modifyVolumeStatus", value.into_field()) }
    pub fn with_modify_volume_status(mut self, value: impl o::IntoField<g::core::v1::ModifyVolumeStatus>) -> Self { set(&mut self.0, "modifyVolumeStatus", value.into_field()); self }
}

object!(PersistentVolumeClaimTemplate, PersistentVolumeClaimTemplateView);
part!(PersistentVolumeClaimTemplate);
impl<'a> PersistentVolumeClaimTemplateView<'a> {
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::core::v1::PersistentVolumeClaimSpecView<'a> { read(self.0, "spec") }
}
impl PersistentVolumeClaimTemplate {
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PersistentVolumeClaimSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeClaimSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeClaimSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(PersistentVolumeClaimVolumeSource, PersistentVolumeClaimVolumeSourceView);
part!(PersistentVolumeClaimVolumeSource);
impl<'a> PersistentVolumeClaimVolumeSourceView<'a> {
    pub fn claim_name(self) -> &'a str { read(self.0, "claimName") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
}
impl PersistentVolumeClaimVolumeSource {
    pub fn set_claim_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "claimName", value.into_field()) }
    pub fn with_claim_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "claimName", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
}

object!(PersistentVolumeList, PersistentVolumeListView);
part!(PersistentVolumeList);
impl<'a> PersistentVolumeListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::core::v1::PersistentVolumeView<'a>> { read(self.0, "items") }
}
impl PersistentVolumeList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::PersistentVolume>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PersistentVolume>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PersistentVolume>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(PersistentVolumeSource, PersistentVolumeSourceView);
part!(PersistentVolumeSource);
impl<'a> PersistentVolumeSourceView<'a> {
    pub fn gce_persistent_disk(self) -> Option<g::core::v1::GCEPersistentDiskVolumeSourceView<'a>> { find(self.0, "gcePersistentDisk") }
    pub fn aws_elastic_block_store(self) -> Option<g::core::v1::AWSElasticBlockStoreVolumeSourceView<'a>> { find(self.0, "awsElasticBlockStore") }
    pub fn host_path(self) -> Option<g::core::v1::HostPathVolumeSourceView<'a>> { find(self.0, "hostPath") }
    pub fn glusterfs(self) -> Option<g::core::v1::GlusterfsPersistentVolumeSourceView<'a>> { find(self.0, "glusterfs") }
    pub fn nfs(self) -> Option<g::core::v1::NFSVolumeSourceView<'a>> { find(self.0, "nfs") }
    pub fn rbd(self) -> Option<g::core::v1::RBDPersistentVolumeSourceView<'a>> { find(self.0, "rbd") }
    pub fn iscsi(self) -> Option<g::core::v1::ISCSIPersistentVolumeSourceView<'a>> { find(self.0, "iscsi") }
    pub fn cinder(self) -> Option<g::core::v1::CinderPersistentVolumeSourceView<'a>> { find(self.0, "cinder") }
    pub fn cephfs(self) -> Option<g::core::v1::CephFSPersistentVolumeSourceView<'a>> { find(self.0, "cephfs") }
    pub fn fc(self) -> Option<g::core::v1::FCVolumeSourceView<'a>> { find(self.0, "fc") }
    pub fn flocker(self) -> Option<g::core::v1::FlockerVolumeSourceView<'a>> { find(self.0, "flocker") }
    pub fn flex_volume(self) -> Option<g::core::v1::FlexPersistentVolumeSourceView<'a>> { find(self.0, "flexVolume") }
    pub fn azure_file(self) -> Option<g::core::v1::AzureFilePersistentVolumeSourceView<'a>> { find(self.0, "azureFile") }
    pub fn vsphere_volume(self) -> Option<g::core::v1::VsphereVirtualDiskVolumeSourceView<'a>> { find(self.0, "vsphereVolume") }
    pub fn quobyte(self) -> Option<g::core::v1::QuobyteVolumeSourceView<'a>> { find(self.0, "quobyte") }
    pub fn azure_disk(self) -> Option<g::core::v1::AzureDiskVolumeSourceView<'a>> { find(self.0, "azureDisk") }
    pub fn photon_persistent_disk(self) -> Option<g::core::v1::PhotonPersistentDiskVolumeSourceView<'a>> { find(self.0, "photonPersistentDisk") }
    pub fn portworx_volume(self) -> Option<g::core::v1::PortworxVolumeSourceView<'a>> { find(self.0, "portworxVolume") }
    pub fn scale_io(self) -> Option<g::core::v1::ScaleIOPersistentVolumeSourceView<'a>> { find(self.0, "scaleIO") }
    pub fn local(self) -> Option<g::core::v1::LocalVolumeSourceView<'a>> { find(self.0, "local") }
    pub fn storageos(self) -> Option<g::core::v1::StorageOSPersistentVolumeSourceView<'a>> { find(self.0, "storageos") }
    pub fn csi(self) -> Option<g::core::v1::CSIPersistentVolumeSourceView<'a>> { find(self.0, "csi") }
}
impl PersistentVolumeSource {
    pub fn edit_gce_persistent_disk<R>(&mut self, change: impl FnOnce(&mut g::core::v1::GCEPersistentDiskVolumeSource) -> R) -> R { edit(&mut self.0, "gcePersistentDisk", change) }
    pub fn set_gce_persistent_disk(&mut self, value: impl o::IntoField<g::core::v1::GCEPersistentDiskVolumeSource>) { set(&mut self.0, "gcePersistentDisk", value.into_field()) }
    pub fn with_gce_persistent_disk(mut self, value: impl o::IntoField<g::core::v1::GCEPersistentDiskVolumeSource>) -> Self { set(&mut self.0, "gcePersistentDisk", value.into_field()); self }
    pub fn edit_aws_elastic_block_store<R>(&mut self, change: impl FnOnce(&mut g::core::v1::AWSElasticBlockStoreVolumeSource) -> R) -> R { edit(&mut self.0, "awsElasticBlockStore", change) }
    pub fn set_aws_elastic_block_store(&mut self, value: impl o::IntoField<g::core::v1::AWSElasticBlockStoreVolumeSource>) { set(&mut self.0, "awsElasticBlockStore", value.into_field()) }
    pub fn with_aws_elastic_block_store(mut self, value: impl o::IntoField<g::core::v1::AWSElasticBlockStoreVolumeSource>) -> Self { set(&mut self.0, "awsElasticBlockStore", value.into_field()); self }
    pub fn edit_host_path<R>(&mut self, change: impl FnOnce(&mut g::core::v1::HostPathVolumeSource) -> R) -> R { edit(&mut self.0, "hostPath", change) }
    pub fn set_host_path(&mut self, value: impl o::IntoField<g::core::v1::HostPathVolumeSource>) { set(&mut self.0, "hostPath", value.into_field()) }
    pub fn with_host_path(mut self, value: impl o::IntoField<g::core::v1::HostPathVolumeSource>) -> Self { set(&mut self.0, "hostPath", value.into_field()); self }
    pub fn edit_glusterfs<R>(&mut self, change: impl FnOnce(&mut g::core::v1::GlusterfsPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "glusterfs", change) }
    pub fn set_glusterfs(&mut self, value: impl o::IntoField<g::core::v1::GlusterfsPersistentVolumeSource>) { set(&mut self.0, "glusterfs", value.into_field()) }
    pub fn with_glusterfs(mut self, value: impl o::IntoField<g::core::v1::GlusterfsPersistentVolumeSource>) -> Self { set(&mut self.0, "glusterfs", value.into_field()); self }
    pub fn edit_nfs<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NFSVolumeSource) -> R) -> R { edit(&mut self.0, "nfs", change) }
    pub fn set_nfs(&mut self, value: impl o::IntoField<g::core::v1::NFSVolumeSource>) { set(&mut self.0, "nfs", value.into_field()) }
    pub fn with_nfs(mut self, value: impl o::IntoField<g::core::v1::NFSVolumeSource>) -> Self { set(&mut self.0, "nfs", value.into_field()); self }
    pub fn edit_rbd<R>(&mut self, change: impl FnOnce(&mut g::core::v1::RBDPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "rbd", change) }
    pub fn set_rbd(&mut self, value: impl o::IntoField<g::core::v1::RBDPersistentVolumeSource>) { set(&mut self.0, "rbd", value.into_field()) }
    pub fn with_rbd(mut self, value: impl o::IntoField<g::core::v1::RBDPersistentVolumeSource>) -> Self { set(&mut self.0, "rbd", value.into_field()); self }
    pub fn edit_iscsi<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ISCSIPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "iscsi", change) }
    pub fn set_iscsi(&mut self, value: impl o::IntoField<g::core::v1::ISCSIPersistentVolumeSource>) { set(&mut self.0, "iscsi", value.into_field()) }
    pub fn with_iscsi(mut self, value: impl o::IntoField<g::core::v1::ISCSIPersistentVolumeSource>) -> Self { set(&mut self.0, "iscsi", value.into_field()); self }
    pub fn edit_cinder<R>(&mut self, change: impl FnOnce(&mut g::core::v1::CinderPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "cinder", change) }
    pub fn set_cinder(&mut self, value: impl o::IntoField<g::core::v1::CinderPersistentVolumeSource>) { set(&mut self.0, "cinder", value.into_field()) }
    pub fn with_cinder(mut self, value: impl o::IntoField<g::core::v1::CinderPersistentVolumeSource>) -> Self { set(&mut self.0, "cinder", value.into_field()); self }
    pub fn edit_cephfs<R>(&mut self, change: impl FnOnce(&mut g::core::v1::CephFSPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "cephfs", change) }
    pub fn set_cephfs(&mut self, value: impl o::IntoField<g::core::v1::CephFSPersistentVolumeSource>) { set(&mut self.0, "cephfs", value.into_field()) }
    pub fn with_cephfs(mut self, value: impl o::IntoField<g::core::v1::CephFSPersistentVolumeSource>) -> Self { set(&mut self.0, "cephfs", value.into_field()); self }
    pub fn edit_fc<R>(&mut self, change: impl FnOnce(&mut g::core::v1::FCVolumeSource) -> R) -> R { edit(&mut self.0, "fc", change) }
    pub fn set_fc(&mut self, value: impl o::IntoField<g::core::v1::FCVolumeSource>) { set(&mut self.0, "fc", value.into_field()) }
    pub fn with_fc(mut self, value: impl o::IntoField<g::core::v1::FCVolumeSource>) -> Self { set(&mut self.0, "fc", value.into_field()); self }
    pub fn edit_flocker<R>(&mut self, change: impl FnOnce(&mut g::core::v1::FlockerVolumeSource) -> R) -> R { edit(&mut self.0, "flocker", change) }
    pub fn set_flocker(&mut self, value: impl o::IntoField<g::core::v1::FlockerVolumeSource>) { set(&mut self.0, "flocker", value.into_field()) }
    pub fn with_flocker(mut self, value: impl o::IntoField<g::core::v1::FlockerVolumeSource>) -> Self { set(&mut self.0, "flocker", value.into_field()); self }
    pub fn edit_flex_volume<R>(&mut self, change: impl FnOnce(&mut g::core::v1::FlexPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "flexVolume", change) }
    pub fn set_flex_volume(&mut self, value: impl o::IntoField<g::core::v1::FlexPersistentVolumeSource>) { set(&mut self.0, "flexVolume", value.into_field()) }
    pub fn with_flex_volume(mut self, value: impl o::IntoField<g::core::v1::FlexPersistentVolumeSource>) -> Self { set(&mut self.0, "flexVolume", value.into_field()); self }
    pub fn edit_azure_file<R>(&mut self, change: impl FnOnce(&mut g::core::v1::AzureFilePersistentVolumeSource) -> R) -> R { edit(&mut self.0, "azureFile", change) }
    pub fn set_azure_file(&mut self, value: impl o::IntoField<g::core::v1::AzureFilePersistentVolumeSource>) { set(&mut self.0, "azureFile", value.into_field()) }
    pub fn with_azure_file(mut self, value: impl o::IntoField<g::core::v1::AzureFilePersistentVolumeSource>) -> Self { set(&mut self.0, "azureFile", value.into_field()); self }
    pub fn edit_vsphere_volume<R>(&mut self, change: impl FnOnce(&mut g::core::v1::VsphereVirtualDiskVolumeSource) -> R) -> R { edit(&mut self.0, "vsphereVolume", change) }
    pub fn set_vsphere_volume(&mut self, value: impl o::IntoField<g::core::v1::VsphereVirtualDiskVolumeSource>) { set(&mut self.0, "vsphereVolume", value.into_field()) }
    pub fn with_vsphere_volume(mut self, value: impl o::IntoField<g::core::v1::VsphereVirtualDiskVolumeSource>) -> Self { set(&mut self.0, "vsphereVolume", value.into_field()); self }
    pub fn edit_quobyte<R>(&mut self, change: impl FnOnce(&mut g::core::v1::QuobyteVolumeSource) -> R) -> R { edit(&mut self.0, "quobyte", change) }
    pub fn set_quobyte(&mut self, value: impl o::IntoField<g::core::v1::QuobyteVolumeSource>) { set(&mut self.0, "quobyte", value.into_field()) }
    pub fn with_quobyte(mut self, value: impl o::IntoField<g::core::v1::QuobyteVolumeSource>) -> Self { set(&mut self.0, "quobyte", value.into_field()); self }
    pub fn edit_azure_disk<R>(&mut self, change: impl FnOnce(&mut g::core::v1::AzureDiskVolumeSource) -> R) -> R { edit(&mut self.0, "azureDisk", change) }
    pub fn set_azure_disk(&mut self, value: impl o::IntoField<g::core::v1::AzureDiskVolumeSource>) { set(&mut self.0, "azureDisk", value.into_field()) }
    pub fn with_azure_disk(mut self, value: impl o::IntoField<g::core::v1::AzureDiskVolumeSource>) -> Self { set(&mut self.0, "azureDisk", value.into_field()); self }
    pub fn edit_photon_persistent_disk<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PhotonPersistentDiskVolumeSource) -> R) -> R { edit(&mut self.0, "photonPersistentDisk", change) }
    pub fn set_photon_persistent_disk(&mut self, value: impl o::IntoField<g::core::v1::PhotonPersistentDiskVolumeSource>) { set(&mut self.0, "photonPersistentDisk", value.into_field()) }
    pub fn with_photon_persistent_disk(mut self, value: impl o::IntoField<g::core::v1::PhotonPersistentDiskVolumeSource>) -> Self { set(&mut self.0, "photonPersistentDisk", value.into_field()); self }
    pub fn edit_portworx_volume<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PortworxVolumeSource) -> R) -> R { edit(&mut self.0, "portworxVolume", change) }
    pub fn set_portworx_volume(&mut self, value: impl o::IntoField<g::core::v1::PortworxVolumeSource>) { set(&mut self.0, "portworxVolume", value.into_field()) }
    pub fn with_portworx_volume(mut self, value: impl o::IntoField<g::core::v1::PortworxVolumeSource>) -> Self { set(&mut self.0, "portworxVolume", value.into_field()); self }
    pub fn edit_scale_io<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ScaleIOPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "scaleIO", change) }
    pub fn set_scale_io(&mut self, value: impl o::IntoField<g::core::v1::ScaleIOPersistentVolumeSource>) { set(&mut self.0, "scaleIO", value.into_field()) }
    pub fn with_scale_io(mut self, value: impl o::IntoField<g::core::v1::ScaleIOPersistentVolumeSource>) -> Self { set(&mut self.0, "scaleIO", value.into_field()); self }
    pub fn edit_local<R>(&mut self, change: impl FnOnce(&mut g::core::v1::LocalVolumeSource) -> R) -> R { edit(&mut self.0, "local", change) }
    pub fn set_local(&mut self, value: impl o::IntoField<g::core::v1::LocalVolumeSource>) { set(&mut self.0, "local", value.into_field()) }
    pub fn with_local(mut self, value: impl o::IntoField<g::core::v1::LocalVolumeSource>) -> Self { set(&mut self.0, "local", value.into_field()); self }
    pub fn edit_storageos<R>(&mut self, change: impl FnOnce(&mut g::core::v1::StorageOSPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "storageos", change) }
    pub fn set_storageos(&mut self, value: impl o::IntoField<g::core::v1::StorageOSPersistentVolumeSource>) { set(&mut self.0, "storageos", value.into_field()) }
    pub fn with_storageos(mut self, value: impl o::IntoField<g::core::v1::StorageOSPersistentVolumeSource>) -> Self { set(&mut self.0, "storageos", value.into_field()); self }
    pub fn edit_csi<R>(&mut self, change: impl FnOnce(&mut g::core::v1::CSIPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "csi", change) }
    pub fn set_csi(&mut self, value: impl o::IntoField<g::core::v1::CSIPersistentVolumeSource>) { set(&mut self.0, "csi", value.into_field()) }
    pub fn with_csi(mut self, value: impl o::IntoField<g::core::v1::CSIPersistentVolumeSource>) -> Self { set(&mut self.0, "csi", value.into_field()); self }
}

object!(PersistentVolumeSpec, PersistentVolumeSpecView);
part!(PersistentVolumeSpec);
impl<'a> PersistentVolumeSpecView<'a> {
    pub fn capacity(self) -> r::Map<'a, r::Quantity> { read(self.0, "capacity") }
    pub fn gce_persistent_disk(self) -> Option<g::core::v1::GCEPersistentDiskVolumeSourceView<'a>> { find(self.0, "gcePersistentDisk") }
    pub fn aws_elastic_block_store(self) -> Option<g::core::v1::AWSElasticBlockStoreVolumeSourceView<'a>> { find(self.0, "awsElasticBlockStore") }
    pub fn host_path(self) -> Option<g::core::v1::HostPathVolumeSourceView<'a>> { find(self.0, "hostPath") }
    pub fn glusterfs(self) -> Option<g::core::v1::GlusterfsPersistentVolumeSourceView<'a>> { find(self.0, "glusterfs") }
    pub fn nfs(self) -> Option<g::core::v1::NFSVolumeSourceView<'a>> { find(self.0, "nfs") }
    pub fn rbd(self) -> Option<g::core::v1::RBDPersistentVolumeSourceView<'a>> { find(self.0, "rbd") }
    pub fn iscsi(self) -> Option<g::core::v1::ISCSIPersistentVolumeSourceView<'a>> { find(self.0, "iscsi") }
    pub fn cinder(self) -> Option<g::core::v1::CinderPersistentVolumeSourceView<'a>> { find(self.0, "cinder") }
    pub fn cephfs(self) -> Option<g::core::v1::CephFSPersistentVolumeSourceView<'a>> { find(self.0, "cephfs") }
    pub fn fc(self) -> Option<g::core::v1::FCVolumeSourceView<'a>> { find(self.0, "fc") }
    pub fn flocker(self) -> Option<g::core::v1::FlockerVolumeSourceView<'a>> { find(self.0, "flocker") }
    pub fn flex_volume(self) -> Option<g::core::v1::FlexPersistentVolumeSourceView<'a>> { find(self.0, "flexVolume") }
    pub fn azure_file(self) -> Option<g::core::v1::AzureFilePersistentVolumeSourceView<'a>> { find(self.0, "azureFile") }
    pub fn vsphere_volume(self) -> Option<g::core::v1::VsphereVirtualDiskVolumeSourceView<'a>> { find(self.0, "vsphereVolume") }
    pub fn quobyte(self) -> Option<g::core::v1::QuobyteVolumeSourceView<'a>> { find(self.0, "quobyte") }
    pub fn azure_disk(self) -> Option<g::core::v1::AzureDiskVolumeSourceView<'a>> { find(self.0, "azureDisk") }
    pub fn photon_persistent_disk(self) -> Option<g::core::v1::PhotonPersistentDiskVolumeSourceView<'a>> { find(self.0, "photonPersistentDisk") }
    pub fn portworx_volume(self) -> Option<g::core::v1::PortworxVolumeSourceView<'a>> { find(self.0, "portworxVolume") }
    pub fn scale_io(self) -> Option<g::core::v1::ScaleIOPersistentVolumeSourceView<'a>> { find(self.0, "scaleIO") }
    pub fn local(self) -> Option<g::core::v1::LocalVolumeSourceView<'a>> { find(self.0, "local") }
    pub fn storageos(self) -> Option<g::core::v1::StorageOSPersistentVolumeSourceView<'a>> { find(self.0, "storageos") }
    pub fn csi(self) -> Option<g::core::v1::CSIPersistentVolumeSourceView<'a>> { find(self.0, "csi") }
    pub fn access_modes(self) -> r::List<'a, &'a str> { read(self.0, "accessModes") }
    pub fn claim_ref(self) -> Option<g::core::v1::ObjectReferenceView<'a>> { find(self.0, "claimRef") }
    pub fn persistent_volume_reclaim_policy(self) -> &'a str { read(self.0, "persistentVolumeReclaimPolicy") }
    pub fn storage_class_name(self) -> &'a str { read(self.0, "storageClassName") }
    pub fn mount_options(self) -> r::List<'a, &'a str> { read(self.0, "mountOptions") }
    pub fn volume_mode(self) -> Option<&'a str> { find(self.0, "volumeMode") }
    pub fn node_affinity(self) -> Option<g::core::v1::VolumeNodeAffinityView<'a>> { find(self.0, "nodeAffinity") }
    pub fn volume_attributes_class_name(self) -> Option<&'a str> { find(self.0, "volumeAttributesClassName") }
}
impl PersistentVolumeSpec {
    pub fn insert_capacity(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "capacity", key, value) }
    pub fn set_capacity(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "capacity", value) }
    pub fn with_capacity(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "capacity", value); self }
    pub fn edit_gce_persistent_disk<R>(&mut self, change: impl FnOnce(&mut g::core::v1::GCEPersistentDiskVolumeSource) -> R) -> R { edit(&mut self.0, "gcePersistentDisk", change) }
    pub fn set_gce_persistent_disk(&mut self, value: impl o::IntoField<g::core::v1::GCEPersistentDiskVolumeSource>) { set(&mut self.0, "gcePersistentDisk", value.into_field()) }
    pub fn with_gce_persistent_disk(mut self, value: impl o::IntoField<g::core::v1::GCEPersistentDiskVolumeSource>) -> Self { set(&mut self.0, "gcePersistentDisk", value.into_field()); self }
    pub fn edit_aws_elastic_block_store<R>(&mut self, change: impl FnOnce(&mut g::core::v1::AWSElasticBlockStoreVolumeSource) -> R) -> R { edit(&mut self.0, "awsElasticBlockStore", change) }
    pub fn set_aws_elastic_block_store(&mut self, value: impl o::IntoField<g::core::v1::AWSElasticBlockStoreVolumeSource>) { set(&mut self.0, "awsElasticBlockStore", value.into_field()) }
    pub fn with_aws_elastic_block_store(mut self, value: impl o::IntoField<g::core::v1::AWSElasticBlockStoreVolumeSource>) -> Self { set(&mut self.0, "awsElasticBlockStore", value.into_field()); self }
    pub fn edit_host_path<R>(&mut self, change: impl FnOnce(&mut g::core::v1::HostPathVolumeSource) -> R) -> R { edit(&mut self.0, "hostPath", change) }
    pub fn set_host_path(&mut self, value: impl o::IntoField<g::core::v1::HostPathVolumeSource>) { set(&mut self.0, "hostPath", value.into_field()) }
    pub fn with_host_path(mut self, value: impl o::IntoField<g::core::v1::HostPathVolumeSource>) -> Self { set(&mut self.0, "hostPath", value.into_field()); self }
    pub fn edit_glusterfs<R>(&mut self, change: impl FnOnce(&mut g::core::v1::GlusterfsPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "glusterfs", change) }
    pub fn set_glusterfs(&mut self, value: impl o::IntoField<g::core::v1::GlusterfsPersistentVolumeSource>) { set(&mut self.0, "glusterfs", value.into_field()) }
    pub fn with_glusterfs(mut self, value: impl o::IntoField<g::core::v1::GlusterfsPersistentVolumeSource>) -> Self { set(&mut self.0, "glusterfs", value.into_field()); self }
    pub fn edit_nfs<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NFSVolumeSource) -> R) -> R { edit(&mut self.0, "nfs", change) }
    pub fn set_nfs(&mut self, value: impl o::IntoField<g::core::v1::NFSVolumeSource>) { set(&mut self.0, "nfs", value.into_field()) }
    pub fn with_nfs(mut self, value: impl o::IntoField<g::core::v1::NFSVolumeSource>) -> Self { set(&mut self.0, "nfs", value.into_field()); self }
    pub fn edit_rbd<R>(&mut self, change: impl FnOnce(&mut g::core::v1::RBDPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "rbd", change) }
    pub fn set_rbd(&mut self, value: impl o::IntoField<g::core::v1::RBDPersistentVolumeSource>) { set(&mut self.0, "rbd", value.into_field()) }
    pub fn with_rbd(mut self, value: impl o::IntoField<g::core::v1::RBDPersistentVolumeSource>) -> Self { set(&mut self.0, "rbd", value.into_field()); self }
    pub fn edit_iscsi<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ISCSIPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "iscsi", change) }
    pub fn set_iscsi(&mut self, value: impl o::IntoField<g::core::v1::ISCSIPersistentVolumeSource>) { set(&mut self.0, "iscsi", value.into_field()) }
    pub fn with_iscsi(mut self, value: impl o::IntoField<g::core::v1::ISCSIPersistentVolumeSource>) -> Self { set(&mut self.0, "iscsi", value.into_field()); self }
    pub fn edit_cinder<R>(&mut self, change: impl FnOnce(&mut g::core::v1::CinderPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "cinder", change) }
    pub fn set_cinder(&mut self, value: impl o::IntoField<g::core::v1::CinderPersistentVolumeSource>) { set(&mut self.0, "cinder", value.into_field()) }
    pub fn with_cinder(mut self, value: impl o::IntoField<g::core::v1::CinderPersistentVolumeSource>) -> Self { set(&mut self.0, "cinder", value.into_field()); self }
    pub fn edit_cephfs<R>(&mut self, change: impl FnOnce(&mut g::core::v1::CephFSPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "cephfs", change) }
    pub fn set_cephfs(&mut self, value: impl o::IntoField<g::core::v1::CephFSPersistentVolumeSource>) { set(&mut self.0, "cephfs", value.into_field()) }
    pub fn with_cephfs(mut self, value: impl o::IntoField<g::core::v1::CephFSPersistentVolumeSource>) -> Self { set(&mut self.0, "cephfs", value.into_field()); self }
    pub fn edit_fc<R>(&mut self, change: impl FnOnce(&mut g::core::v1::FCVolumeSource) -> R) -> R { edit(&mut self.0, "fc", change) }
    pub fn set_fc(&mut self, value: impl o::IntoField<g::core::v1::FCVolumeSource>) { set(&mut self.0, "fc", value.into_field()) }
    pub fn with_fc(mut self, value: impl o::IntoField<g::core::v1::FCVolumeSource>) -> Self { set(&mut self.0, "fc", value.into_field()); self }
    pub fn edit_flocker<R>(&mut self, change: impl FnOnce(&mut g::core::v1::FlockerVolumeSource) -> R) -> R { edit(&mut self.0, "flocker", change) }
    pub fn set_flocker(&mut self, value: impl o::IntoField<g::core::v1::FlockerVolumeSource>) { set(&mut self.0, "flocker", value.into_field()) }
    pub fn with_flocker(mut self, value: impl o::IntoField<g::core::v1::FlockerVolumeSource>) -> Self { set(&mut self.0, "flocker", value.into_field()); self }
    pub fn edit_flex_volume<R>(&mut self, change: impl FnOnce(&mut g::core::v1::FlexPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "flexVolume", change) }
    pub fn set_flex_volume(&mut self, value: impl o::IntoField<g::core::v1::FlexPersistentVolumeSource>) { set(&mut self.0, "flexVolume", value.into_field()) }
    pub fn with_flex_volume(mut self, value: impl o::IntoField<g::core::v1::FlexPersistentVolumeSource>) -> Self { set(&mut self.0, "flexVolume", value.into_field()); self }
    pub fn edit_azure_file<R>(&mut self, change: impl FnOnce(&mut g::core::v1::AzureFilePersistentVolumeSource) -> R) -> R { edit(&mut self.0, "azureFile", change) }
    pub fn set_azure_file(&mut self, value: impl o::IntoField<g::core::v1::AzureFilePersistentVolumeSource>) { set(&mut self.0, "azureFile", value.into_field()) }
    pub fn with_azure_file(mut self, value: impl o::IntoField<g::core::v1::AzureFilePersistentVolumeSource>) -> Self { set(&mut self.0, "azureFile", value.into_field()); self }
    pub fn edit_vsphere_volume<R>(&mut self, change: impl FnOnce(&mut g::core::v1::VsphereVirtualDiskVolumeSource) -> R) -> R { edit(&mut self.0, "vsphereVolume", change) }
    pub fn set_vsphere_volume(&mut self, value: impl o::IntoField<g::core::v1::VsphereVirtualDiskVolumeSource>) { set(&mut self.0, "vsphereVolume", value.into_field()) }
    pub fn with_vsphere_volume(mut self, value: impl o::IntoField<g::core::v1::VsphereVirtualDiskVolumeSource>) -> Self { set(&mut self.0, "vsphereVolume", value.into_field()); self }
    pub fn edit_quobyte<R>(&mut self, change: impl FnOnce(&mut g::core::v1::QuobyteVolumeSource) -> R) -> R { edit(&mut self.0, "quobyte", change) }
    pub fn set_quobyte(&mut self, value: impl o::IntoField<g::core::v1::QuobyteVolumeSource>) { set(&mut self.0, "quobyte", value.into_field()) }
    pub fn with_quobyte(mut self, value: impl o::IntoField<g::core::v1::QuobyteVolumeSource>) -> Self { set(&mut self.0, "quobyte", value.into_field()); self }
    pub fn edit_azure_disk<R>(&mut self, change: impl FnOnce(&mut g::core::v1::AzureDiskVolumeSource) -> R) -> R { edit(&mut self.0, "azureDisk", change) }
    pub fn set_azure_disk(&mut self, value: impl o::IntoField<g::core::v1::AzureDiskVolumeSource>) { set(&mut self.0, "azureDisk", value.into_field()) }
    pub fn with_azure_disk(mut self, value: impl o::IntoField<g::core::v1::AzureDiskVolumeSource>) -> Self { set(&mut self.0, "azureDisk", value.into_field()); self }
    pub fn edit_photon_persistent_disk<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PhotonPersistentDiskVolumeSource) -> R) -> R { edit(&mut self.0, "photonPersistentDisk", change) }
    pub fn set_photon_persistent_disk(&mut self, value: impl o::IntoField<g::core::v1::PhotonPersistentDiskVolumeSource>) { set(&mut self.0, "photonPersistentDisk", value.into_field()) }
    pub fn with_photon_persistent_disk(mut self, value: impl o::IntoField<g::core::v1::PhotonPersistentDiskVolumeSource>) -> Self { set(&mut self.0, "photonPersistentDisk", value.into_field()); self }
    pub fn edit_portworx_volume<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PortworxVolumeSource) -> R) -> R { edit(&mut self.0, "portworxVolume", change) }
    pub fn set_portworx_volume(&mut self, value: impl o::IntoField<g::core::v1::PortworxVolumeSource>) { set(&mut self.0, "portworxVolume", value.into_field()) }
    pub fn with_portworx_volume(mut self, value: impl o::IntoField<g::core::v1::PortworxVolumeSource>) -> Self { set(&mut self.0, "portworxVolume", value.into_field()); self }
    pub fn edit_scale_io<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ScaleIOPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "scaleIO", change) }
    pub fn set_scale_io(&mut self, value: impl o::IntoField<g::core::v1::ScaleIOPersistentVolumeSource>) { set(&mut self.0, "scaleIO", value.into_field()) }
    pub fn with_scale_io(mut self, value: impl o::IntoField<g::core::v1::ScaleIOPersistentVolumeSource>) -> Self { set(&mut self.0, "scaleIO", value.into_field()); self }
    pub fn edit_local<R>(&mut self, change: impl FnOnce(&mut g::core::v1::LocalVolumeSource) -> R) -> R { edit(&mut self.0, "local", change) }
    pub fn set_local(&mut self, value: impl o::IntoField<g::core::v1::LocalVolumeSource>) { set(&mut self.0, "local", value.into_field()) }
    pub fn with_local(mut self, value: impl o::IntoField<g::core::v1::LocalVolumeSource>) -> Self { set(&mut self.0, "local", value.into_field()); self }
    pub fn edit_storageos<R>(&mut self, change: impl FnOnce(&mut g::core::v1::StorageOSPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "storageos", change) }
    pub fn set_storageos(&mut self, value: impl o::IntoField<g::core::v1::StorageOSPersistentVolumeSource>) { set(&mut self.0, "storageos", value.into_field()) }
    pub fn with_storageos(mut self, value: impl o::IntoField<g::core::v1::StorageOSPersistentVolumeSource>) -> Self { set(&mut self.0, "storageos", value.into_field()); self }
    pub fn edit_csi<R>(&mut self, change: impl FnOnce(&mut g::core::v1::CSIPersistentVolumeSource) -> R) -> R { edit(&mut self.0, "csi", change) }
    pub fn set_csi(&mut self, value: impl o::IntoField<g::core::v1::CSIPersistentVolumeSource>) { set(&mut self.0, "csi", value.into_field()) }
    pub fn with_csi(mut self, value: impl o::IntoField<g::core::v1::CSIPersistentVolumeSource>) -> Self { set(&mut self.0, "csi", value.into_field()); self }
    pub fn push_access_modes(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "accessModes", item) }
    pub fn set_access_modes(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "accessModes", value) }
    pub fn with_access_modes(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "accessModes", value); self }
    pub fn edit_claim_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ObjectReference) -> R) -> R { edit(&mut self.0, "claimRef", change) }
    pub fn set_claim_ref(&mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) { set(&mut self.0, "claimRef", value.into_field()) }
    pub fn with_claim_ref(mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) -> Self { set(&mut self.0, "claimRef", value.into_field()); self }
    pub fn set_persistent_volume_reclaim_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "persistentVolumeReclaimPolicy", value.into_field()) }
    pub fn with_persistent_volume_reclaim_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "persistentVolumeReclaimPolicy", value.into_field()); self }
    pub fn set_storage_class_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "storageClassName", value.into_field()) }
    pub fn with_storage_class_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "storageClassName", value.into_field()); self }
    pub fn push_mount_options(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "mountOptions", item) }
    pub fn set_mount_options(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "mountOptions", value) }
    pub fn with_mount_options(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "mountOptions", value); self }
    pub fn set_volume_mode(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeMode", value.into_field()) }
    pub fn with_volume_mode(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeMode", value.into_field()); self }
    pub fn edit_node_affinity<R>(&mut self, change: impl FnOnce(&mut g::core::v1::VolumeNodeAffinity) -> R) -> R { edit(&mut self.0, "nodeAffinity", change) }
    pub fn set_node_affinity(&mut self, value: impl o::IntoField<g::core::v1::VolumeNodeAffinity>) { set(&mut self.0, "nodeAffinity", value.into_field()) }
    pub fn with_node_affinity(mut self, value: impl o::IntoField<g::core::v1::VolumeNodeAffinity>) -> Self { set(&mut self.0, "nodeAffinity", value.into_field()); self }
    pub fn set_volume_attributes_class_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeAttributesClassName", value.into_field()) }
    pub fn with_volume_attributes_class_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeAttributesClassName", value.into_field()); self }
}

object!(PersistentVolumeStatus, PersistentVolumeStatusView);
part!(PersistentVolumeStatus);
impl<'a> PersistentVolumeStatusView<'a> {
    pub fn phase(self) -> &'a str { read(self.0, "phase") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn last_phase_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastPhaseTransitionTime") }
}
impl PersistentVolumeStatus {
    pub fn set_phase(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "phase", value.into_field()) }
    pub fn with_phase(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "phase", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_last_phase_transition_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastPhaseTransitionTime", value.into_field()) }
    pub fn with_last_phase_transition_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastPhaseTransitionTime", value.into_field()); self }
}

object!(PhotonPersistentDiskVolumeSource, PhotonPersistentDiskVolumeSourceView);
part!(PhotonPersistentDiskVolumeSource);
impl<'a> PhotonPersistentDiskVolumeSourceView<'a> {
    pub fn pd_id(self) -> &'a str { read(self.0, "pdID") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
}
impl PhotonPersistentDiskVolumeSource {
    pub fn set_pd_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "pdID", value.into_field()) }
    pub fn with_pd_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "pdID", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
}

object!(Pod, PodView);
kind!(Pod, "", "v1", "v1", "pods");
impl<'a> PodView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::core::v1::PodSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::core::v1::PodStatusView<'a> { read(self.0, "status") }
}
impl Pod {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::core::v1::PodSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::core::v1::PodSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::core::v1::PodStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::core::v1::PodStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(PodAffinity, PodAffinityView);
part!(PodAffinity);
impl<'a> PodAffinityView<'a> {
    pub fn required_during_scheduling_ignored_during_execution(self) -> r::List<'a, g::core::v1::PodAffinityTermView<'a>> { read(self.0, "requiredDuringSchedulingIgnoredDuringExecution") }
    pub fn preferred_during_scheduling_ignored_during_execution(self) -> r::List<'a, g::core::v1::WeightedPodAffinityTermView<'a>> { read(self.0, "preferredDuringSchedulingIgnoredDuringExecution") }
}
impl PodAffinity {
    pub fn push_required_during_scheduling_ignored_during_execution(&mut self, item: impl o::IntoField<g::core::v1::PodAffinityTerm>) { push(&mut self.0, "requiredDuringSchedulingIgnoredDuringExecution", item) }
    pub fn set_required_during_scheduling_ignored_during_execution(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodAffinityTerm>>) { set_list(&mut self.0, "requiredDuringSchedulingIgnoredDuringExecution", value) }
    pub fn with_required_during_scheduling_ignored_during_execution(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodAffinityTerm>>) -> Self { set_list(&mut self.0, "requiredDuringSchedulingIgnoredDuringExecution", value); self }
    pub fn push_preferred_during_scheduling_ignored_during_execution(&mut self, item: impl o::IntoField<g::core::v1::WeightedPodAffinityTerm>) { push(&mut self.0, "preferredDuringSchedulingIgnoredDuringExecution", item) }
    pub fn set_preferred_during_scheduling_ignored_during_execution(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::WeightedPodAffinityTerm>>) { set_list(&mut self.0, "preferredDuringSchedulingIgnoredDuringExecution", value) }
    pub fn with_preferred_during_scheduling_ignored_during_execution(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::WeightedPodAffinityTerm>>) -> Self { set_list(&mut self.0, "preferredDuringSchedulingIgnoredDuringExecution", value); self }
}

object!(PodAffinityTerm, PodAffinityTermView);
part!(PodAffinityTerm);
impl<'a> PodAffinityTermView<'a> {
    pub fn label_selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "labelSelector") }
    pub fn namespaces(self) -> r::List<'a, &'a str> { read(self.0, "namespaces") }
    pub fn topology_key(self) -> &'a str { read(self.0, "topologyKey") }
    pub fn namespace_selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "namespaceSelector") }
    pub fn match_label_keys(self) -> r::List<'a, &'a str> { read(self.0, "matchLabelKeys") }
    pub fn mismatch_label_keys(self) -> r::List<'a, &'a str> { read(self.0, "mismatchLabelKeys") }
}
impl PodAffinityTerm {
    pub fn edit_label_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "labelSelector", change) }
    pub fn set_label_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "labelSelector", value.into_field()) }
    pub fn with_label_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "labelSelector", value.into_field()); self }
    pub fn push_namespaces(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "namespaces", item) }
    pub fn set_namespaces(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "namespaces", value) }
    pub fn with_namespaces(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "namespaces", value); self }
    pub fn set_topology_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "topologyKey", value.into_field()) }
    pub fn with_topology_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "topologyKey", value.into_field()); self }
    pub fn edit_namespace_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "namespaceSelector", change) }
    pub fn set_namespace_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "namespaceSelector", value.into_field()) }
    pub fn with_namespace_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "namespaceSelector", value.into_field()); self }
    pub fn push_match_label_keys(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "matchLabelKeys", item) }
    pub fn set_match_label_keys(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "matchLabelKeys", value) }
    pub fn with_match_label_keys(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "matchLabelKeys", value); self }
    pub fn push_mismatch_label_keys(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "mismatchLabelKeys", item) }
    pub fn set_mismatch_label_keys(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "mismatchLabelKeys", value) }
    pub fn with_mismatch_label_keys(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "mismatchLabelKeys", value); self }
}

object!(PodAntiAffinity, PodAntiAffinityView);
part!(PodAntiAffinity);
impl<'a> PodAntiAffinityView<'a> {
    pub fn required_during_scheduling_ignored_during_execution(self) -> r::List<'a, g::core::v1::PodAffinityTermView<'a>> { read(self.0, "requiredDuringSchedulingIgnoredDuringExecution") }
    pub fn preferred_during_scheduling_ignored_during_execution(self) -> r::List<'a, g::core::v1::WeightedPodAffinityTermView<'a>> { read(self.0, "preferredDuringSchedulingIgnoredDuringExecution") }
}
impl PodAntiAffinity {
    pub fn push_required_during_scheduling_ignored_during_execution(&mut self, item: impl o::IntoField<g::core::v1::PodAffinityTerm>) { push(&mut self.0, "requiredDuringSchedulingIgnoredDuringExecution", item) }
    pub fn set_required_during_scheduling_ignored_during_execution(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodAffinityTerm>>) { set_list(&mut self.0, "requiredDuringSchedulingIgnoredDuringExecution", value) }
    pub fn with_required_during_scheduling_ignored_during_execution(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodAffinityTerm>>) -> Self { set_list(&mut self.0, "requiredDuringSchedulingIgnoredDuringExecution", value); self }
    pub fn push_preferred_during_scheduling_ignored_during_execution(&mut self, item: impl o::IntoField<g::core::v1::WeightedPodAffinityTerm>) { push(&mut self.0, "preferredDuringSchedulingIgnoredDuringExecution", item) }
    pub fn set_preferred_during_scheduling_ignored_during_execution(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::WeightedPodAffinityTerm>>) { set_list(&mut self.0, "preferredDuringSchedulingIgnoredDuringExecution", value) }
    pub fn with_preferred_during_scheduling_ignored_during_execution(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::WeightedPodAffinityTerm>>) -> Self { set_list(&mut self.0, "preferredDuringSchedulingIgnoredDuringExecution", value); self }
}

object!(PodAttachOptions, PodAttachOptionsView);
part!(PodAttachOptions);
impl<'a> PodAttachOptionsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn stdin(self) -> bool { read(self.0, "stdin") }
    pub fn stdout(self) -> bool { read(self.0, "stdout") }
    pub fn stderr(self) -> bool { read(self.0, "stderr") }
    pub fn tty(self) -> bool { read(self.0, "tty") }
    pub fn container(self) -> &'a str { read(self.0, "container") }
}
impl PodAttachOptions {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_stdin(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "stdin", value.into_field()) }
    pub fn with_stdin(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "stdin", value.into_field()); self }
    pub fn set_stdout(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "stdout", value.into_field()) }
    pub fn with_stdout(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "stdout", value.into_field()); self }
    pub fn set_stderr(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "stderr", value.into_field()) }
    pub fn with_stderr(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "stderr", value.into_field()); self }
    pub fn set_tty(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "tty", value.into_field()) }
    pub fn with_tty(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "tty", value.into_field()); self }
    pub fn set_container(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "container", value.into_field()) }
    pub fn with_container(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "container", value.into_field()); self }
}

object!(PodCertificateProjection, PodCertificateProjectionView);
part!(PodCertificateProjection);
impl<'a> PodCertificateProjectionView<'a> {
    pub fn signer_name(self) -> &'a str { read(self.0, "signerName") }
    pub fn key_type(self) -> &'a str { read(self.0, "keyType") }
    pub fn max_expiration_seconds(self) -> Option<i32> { find(self.0, "maxExpirationSeconds") }
    pub fn credential_bundle_path(self) -> &'a str { read(self.0, "credentialBundlePath") }
    pub fn key_path(self) -> &'a str { read(self.0, "keyPath") }
    pub fn certificate_chain_path(self) -> &'a str { read(self.0, "certificateChainPath") }
    pub fn user_annotations(self) -> r::Map<'a, &'a str> { read(self.0, "userAnnotations") }
}
impl PodCertificateProjection {
    pub fn set_signer_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "signerName", value.into_field()) }
    pub fn with_signer_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "signerName", value.into_field()); self }
    pub fn set_key_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "keyType", value.into_field()) }
    pub fn with_key_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "keyType", value.into_field()); self }
    pub fn set_max_expiration_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "maxExpirationSeconds", value.into_field()) }
    pub fn with_max_expiration_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "maxExpirationSeconds", value.into_field()); self }
    pub fn set_credential_bundle_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "credentialBundlePath", value.into_field()) }
    pub fn with_credential_bundle_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "credentialBundlePath", value.into_field()); self }
    pub fn set_key_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "keyPath", value.into_field()) }
    pub fn with_key_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "keyPath", value.into_field()); self }
    pub fn set_certificate_chain_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "certificateChainPath", value.into_field()) }
    pub fn with_certificate_chain_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "certificateChainPath", value.into_field()); self }
    pub fn insert_user_annotations(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "userAnnotations", key, value) }
    pub fn set_user_annotations(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "userAnnotations", value) }
    pub fn with_user_annotations(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "userAnnotations", value); self }
}

object!(PodCondition, PodConditionView);
part!(PodCondition);
impl<'a> PodConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn observed_generation(self) -> i64 { read(self.0, "observedGeneration") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn last_probe_time(self) -> Option<r::Timestamp> { find(self.0, "lastProbeTime") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl PodCondition {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_observed_generation(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "observedGeneration", value.into_field()) }
    pub fn with_observed_generation(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "observedGeneration", value.into_field()); self }
    pub fn set_status(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "status", value.into_field()); self }
    pub fn set_last_probe_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastProbeTime", value.into_field()) }
    pub fn with_last_probe_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastProbeTime", value.into_field()); self }
    pub fn set_last_transition_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastTransitionTime", value.into_field()) }
    pub fn with_last_transition_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastTransitionTime", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
}

object!(PodDNSConfig, PodDNSConfigView);
part!(PodDNSConfig);
impl<'a> PodDNSConfigView<'a> {
    pub fn nameservers(self) -> r::List<'a, &'a str> { read(self.0, "nameservers") }
    pub fn searches(self) -> r::List<'a, &'a str> { read(self.0, "searches") }
    pub fn options(self) -> r::List<'a, g::core::v1::PodDNSConfigOptionView<'a>> { read(self.0, "options") }
}
impl PodDNSConfig {
    pub fn push_nameservers(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "nameservers", item) }
    pub fn set_nameservers(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "nameservers", value) }
    pub fn with_nameservers(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "nameservers", value); self }
    pub fn push_searches(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "searches", item) }
    pub fn set_searches(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "searches", value) }
    pub fn with_searches(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "searches", value); self }
    pub fn push_options(&mut self, item: impl o::IntoField<g::core::v1::PodDNSConfigOption>) { push(&mut self.0, "options", item) }
    pub fn set_options(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodDNSConfigOption>>) { set_list(&mut self.0, "options", value) }
    pub fn with_options(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodDNSConfigOption>>) -> Self { set_list(&mut self.0, "options", value); self }
}

object!(PodDNSConfigOption, PodDNSConfigOptionView);
part!(PodDNSConfigOption);
impl<'a> PodDNSConfigOptionView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn value_(self) -> Option<&'a str> { find(self.0, "value") }
}
impl PodDNSConfigOption {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_value(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "value", value.into_field()) }
    pub fn with_value(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "value", value.into_field()); self }
}

object!(PodExecOptions, PodExecOptionsView);
part!(PodExecOptions);
impl<'a> PodExecOptionsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn stdin(self) -> bool { read(self.0, "stdin") }
    pub fn stdout(self) -> bool { read(self.0, "stdout") }
    pub fn stderr(self) -> bool { read(self.0, "stderr") }
    pub fn tty(self) -> bool { read(self.0, "tty") }
    pub fn container(self) -> &'a str { read(self.0, "container") }
    pub fn command(self) -> r::List<'a, &'a str> { read(self.0, "command") }
}
impl PodExecOptions {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_stdin(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "stdin", value.into_field()) }
    pub fn with_stdin(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "stdin", value.into_field()); self }
    pub fn set_stdout(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "stdout", value.into_field()) }
    pub fn with_stdout(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "stdout", value.into_field()); self }
    pub fn set_stderr(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "stderr", value.into_field()) }
    pub fn with_stderr(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "stderr", value.into_field()); self }
    pub fn set_tty(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "tty", value.into_field()) }
    pub fn with_tty(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "tty", value.into_field()); self }
    pub fn set_container(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "container", value.into_field()) }
    pub fn with_container(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "container", value.into_field()); self }
    pub fn push_command(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "command", item) }
    pub fn set_command(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "command", value) }
    pub fn with_command(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "command", value); self }
}

object!(PodExtendedResourceClaimStatus, PodExtendedResourceClaimStatusView);
part!(PodExtendedResourceClaimStatus);
impl<'a> PodExtendedResourceClaimStatusView<'a> {
    pub fn request_mappings(self) -> r::List<'a, g::core::v1::ContainerExtendedResourceRequestView<'a>> { read(self.0, "requestMappings") }
    pub fn resource_claim_name(self) -> &'a str { read(self.0, "resourceClaimName") }
}
impl PodExtendedResourceClaimStatus {
    pub fn push_request_mappings(&mut self, item: impl o::IntoField<g::core::v1::ContainerExtendedResourceRequest>) { push(&mut self.0, "requestMappings", item) }
    pub fn set_request_mappings(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerExtendedResourceRequest>>) { set_list(&mut self.0, "requestMappings", value) }
    pub fn with_request_mappings(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerExtendedResourceRequest>>) -> Self { set_list(&mut self.0, "requestMappings", value); self }
    pub fn set_resource_claim_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resourceClaimName", value.into_field()) }
    pub fn with_resource_claim_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resourceClaimName", value.into_field()); self }
}

object!(PodIP, PodIPView);
part!(PodIP);
impl<'a> PodIPView<'a> {
    pub fn ip(self) -> &'a str { read(self.0, "ip") }
}
impl PodIP {
    pub fn set_ip(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "ip", value.into_field()) }
    pub fn with_ip(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "ip", value.into_field()); self }
}

object!(PodList, PodListView);
part!(PodList);
impl<'a> PodListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::core::v1::PodView<'a>> { read(self.0, "items") }
}
impl PodList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::Pod>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Pod>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Pod>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(PodLogOptions, PodLogOptionsView);
part!(PodLogOptions);
impl<'a> PodLogOptionsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn container(self) -> &'a str { read(self.0, "container") }
    pub fn follow(self) -> bool { read(self.0, "follow") }
    pub fn previous(self) -> bool { read(self.0, "previous") }
    pub fn since_seconds(self) -> Option<i64> { find(self.0, "sinceSeconds") }
    pub fn since_time(self) -> Option<r::Timestamp> { find(self.0, "sinceTime") }
    pub fn timestamps(self) -> bool { read(self.0, "timestamps") }
    pub fn tail_lines(self) -> Option<i64> { find(self.0, "tailLines") }
    pub fn limit_bytes(self) -> Option<i64> { find(self.0, "limitBytes") }
    pub fn insecure_skip_tls_verify_backend(self) -> bool { read(self.0, "insecureSkipTLSVerifyBackend") }
    pub fn stream(self) -> Option<&'a str> { find(self.0, "stream") }
}
impl PodLogOptions {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_container(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "container", value.into_field()) }
    pub fn with_container(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "container", value.into_field()); self }
    pub fn set_follow(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "follow", value.into_field()) }
    pub fn with_follow(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "follow", value.into_field()); self }
    pub fn set_previous(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "previous", value.into_field()) }
    pub fn with_previous(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "previous", value.into_field()); self }
    pub fn set_since_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "sinceSeconds", value.into_field()) }
    pub fn with_since_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "sinceSeconds", value.into_field()); self }
    pub fn set_since_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "sinceTime", value.into_field()) }
    pub fn with_since_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "sinceTime", value.into_field()); self }
    pub fn set_timestamps(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "timestamps", value.into_field()) }
    pub fn with_timestamps(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "timestamps", value.into_field()); self }
    pub fn set_tail_lines(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "tailLines", value.into_field()) }
    pub fn with_tail_lines(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "tailLines", value.into_field()); self }
    pub fn set_limit_bytes(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "limitBytes", value.into_field()) }
    pub fn with_limit_bytes(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "limitBytes", value.into_field()); self }
    pub fn set_insecure_skip_tls_verify_backend(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "insecureSkipTLSVerifyBackend", value.into_field()) }
    pub fn with_insecure_skip_tls_verify_backend(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "insecureSkipTLSVerifyBackend", value.into_field()); self }
    pub fn set_stream(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "stream", value.into_field()) }
    pub fn with_stream(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "stream", value.into_field()); self }
}

object!(PodOS, PodOSView);
part!(PodOS);
impl<'a> PodOSView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
}
impl PodOS {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
}

object!(PodPortForwardOptions, PodPortForwardOptionsView);
part!(PodPortForwardOptions);
impl<'a> PodPortForwardOptionsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn ports(self) -> r::List<'a, i32> { read(self.0, "ports") }
}
impl PodPortForwardOptions {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn push_ports(&mut self, item: impl o::IntoField<i32>) { push(&mut self.0, "ports", item) }
    pub fn set_ports(&mut self, value: impl IntoIterator<Item = impl o::IntoField<i32>>) { set_list(&mut self.0, "ports", value) }
    pub fn with_ports(mut self, value: impl IntoIterator<Item = impl o::IntoField<i32>>) -> Self { set_list(&mut self.0, "ports", value); self }
}

object!(PodProxyOptions, PodProxyOptionsView);
part!(PodProxyOptions);
impl<'a> PodProxyOptionsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn path(self) -> &'a str { read(self.0, "path") }
}
impl PodProxyOptions {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
}

object!(PodReadinessGate, PodReadinessGateView);
part!(PodReadinessGate);
impl<'a> PodReadinessGateView<'a> {
    pub fn condition_type(self) -> &'a str { read(self.0, "conditionType") }
}
impl PodReadinessGate {
    pub fn set_condition_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "conditionType", value.into_field()) }
    pub fn with_condition_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "conditionType", value.into_field()); self }
}

object!(PodResourceClaim, PodResourceClaimView);
part!(PodResourceClaim);
impl<'a> PodResourceClaimView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn resource_claim_name(self) -> Option<&'a str> { find(self.0, "resourceClaimName") }
    pub fn resource_claim_template_name(self) -> Option<&'a str> { find(self.0, "resourceClaimTemplateName") }
}
impl PodResourceClaim {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_resource_claim_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resourceClaimName", value.into_field()) }
    pub fn with_resource_claim_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resourceClaimName", value.into_field()); self }
    pub fn set_resource_claim_template_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resourceClaimTemplateName", value.into_field()) }
    pub fn with_resource_claim_template_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resourceClaimTemplateName", value.into_field()); self }
}

object!(PodResourceClaimStatus, PodResourceClaimStatusView);
part!(PodResourceClaimStatus);
impl<'a> PodResourceClaimStatusView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn resource_claim_name(self) -> Option<&'a str> { find(self.0, "resourceClaimName") }
}
impl PodResourceClaimStatus {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_resource_claim_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resourceClaimName", value.into_field()) }
    pub fn with_resource_claim_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resourceClaimName", value.into_field()); self }
}

object!(PodSchedulingGate, PodSchedulingGateView);
part!(PodSchedulingGate);
impl<'a> PodSchedulingGateView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
}
impl PodSchedulingGate {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
}

object!(PodSchedulingGroup, PodSchedulingGroupView);
part!(PodSchedulingGroup);
impl<'a> PodSchedulingGroupView<'a> {
    pub fn pod_group_name(self) -> Option<&'a str> { find(self.0, "podGroupName") }
}
impl PodSchedulingGroup {
    pub fn set_pod_group_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "podGroupName", value.into_field()) }
    pub fn with_pod_group_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "podGroupName", value.into_field()); self }
}

object!(PodSecurityContext, PodSecurityContextView);
part!(PodSecurityContext);
impl<'a> PodSecurityContextView<'a> {
    pub fn se_linux_options(self) -> Option<g::core::v1::SELinuxOptionsView<'a>> { find(self.0, "seLinuxOptions") }
    pub fn windows_options(self) -> Option<g::core::v1::WindowsSecurityContextOptionsView<'a>> { find(self.0, "windowsOptions") }
    pub fn run_as_user(self) -> Option<i64> { find(self.0, "runAsUser") }
    pub fn run_as_group(self) -> Option<i64> { find(self.0, "runAsGroup") }
    pub fn run_as_non_root(self) -> Option<bool> { find(self.0, "runAsNonRoot") }
    pub fn supplemental_groups(self) -> r::List<'a, i64> { read(self.0, "supplementalGroups") }
    pub fn supplemental_groups_policy(self) -> Option<&'a str> { find(self.0, "supplementalGroupsPolicy") }
    pub fn fs_group(self) -> Option<i64> { find(self.0, "fsGroup") }
    pub fn sysctls(self) -> r::List<'a, g::core::v1::SysctlView<'a>> { read(self.0, "sysctls") }
    pub fn fs_group_change_policy(self) -> Option<&'a str> { find(self.0, "fsGroupChangePolicy") }
    pub fn seccomp_profile(self) -> Option<g::core::v1::SeccompProfileView<'a>> { find(self.0, "seccompProfile") }
    pub fn app_armor_profile(self) -> Option<g::core::v1::AppArmorProfileView<'a>> { find(self.0, "appArmorProfile") }
    pub fn se_linux_change_policy(self) -> Option<&'a str> { find(self.0, "seLinuxChangePolicy") }
}
impl PodSecurityContext {
    pub fn edit_se_linux_options<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SELinuxOptions) -> R) -> R { edit(&mut self.0, "seLinuxOptions", change) }
    pub fn set_se_linux_options(&mut self, value: impl o::IntoField<g::core::v1::SELinuxOptions>) { set(&mut self.0, "seLinuxOptions", value.into_field()) }
    pub fn with_se_linux_options(mut self, value: impl o::IntoField<g::core::v1::SELinuxOptions>) -> Self { set(&mut self.0, "seLinuxOptions", value.into_field()); self }
    pub fn edit_windows_options<R>(&mut self, change: impl FnOnce(&mut g::core::v1::WindowsSecurityContextOptions) -> R) -> R { edit(&mut self.0, "windowsOptions", change) }
    pub fn set_windows_options(&mut self, value: impl o::IntoField<g::core::v1::WindowsSecurityContextOptions>) { set(&mut self.0, "windowsOptions", value.into_field()) }
    pub fn with_windows_options(mut self, value: impl o::IntoField<g::core::v1::WindowsSecurityContextOptions>) -> Self { set(&mut self.0, "windowsOptions", value.into_field()); self }
    pub fn set_run_as_user(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "runAsUser", value.into_field()) }
    pub fn with_run_as_user(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "runAsUser", value.into_field()); self }
    pub fn set_run_as_group(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "runAsGroup", value.into_field()) }
    pub fn with_run_as_group(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "runAsGroup", value.into_field()); self }
    pub fn set_run_as_non_root(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "runAsNonRoot", value.into_field()) }
    pub fn with_run_as_non_root(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "runAsNonRoot", value.into_field()); self }
    pub fn push_supplemental_groups(&mut self, item: impl o::IntoField<i64>) { push(&mut self.0, "supplementalGroups", item) }
    pub fn set_supplemental_groups(&mut self, value: impl IntoIterator<Item = impl o::IntoField<i64>>) { set_list(&mut self.0, "supplementalGroups", value) }
    pub fn with_supplemental_groups(mut self, value: impl IntoIterator<Item = impl o::IntoField<i64>>) -> Self { set_list(&mut self.0, "supplementalGroups", value); self }
    pub fn set_supplemental_groups_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "supplementalGroupsPolicy", value.into_field()) }
    pub fn with_supplemental_groups_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "supplementalGroupsPolicy", value.into_field()); self }
    pub fn set_fs_group(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "fsGroup", value.into_field()) }
    pub fn with_fs_group(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "fsGroup", value.into_field()); self }
    pub fn push_sysctls(&mut self, item: impl o::IntoField<g::core::v1::Sysctl>) { push(&mut self.0, "sysctls", item) }
    pub fn set_sysctls(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Sysctl>>) { set_list(&mut self.0, "sysctls", value) }
    pub fn with_sysctls(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Sysctl>>) -> Self { set_list(&mut self.0, "sysctls", value); self }
    pub fn set_fs_group_change_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsGroupChangePolicy", value.into_field()) }
    pub fn with_fs_group_change_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsGroupChangePolicy", value.into_field()); self }
    pub fn edit_seccomp_profile<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SeccompProfile) -> R) -> R { edit(&mut self.0, "seccompProfile", change) }
    pub fn set_seccomp_profile(&mut self, value: impl o::IntoField<g::core::v1::SeccompProfile>) { set(&mut self.0, "seccompProfile", value.into_field()) }
    pub fn with_seccomp_profile(mut self, value: impl o::IntoField<g::core::v1::SeccompProfile>) -> Self { set(&mut self.0, "seccompProfile", value.into_field()); self }
    pub fn edit_app_armor_profile<R>(&mut self, change: impl FnOnce(&mut g::core::v1::AppArmorProfile) -> R) -> R { edit(&mut self.0, "appArmorProfile", change) }
    pub fn set_app_armor_profile(&mut self, value: impl o::IntoField<g::core::v1::AppArmorProfile>) { set(&mut self.0, "appArmorProfile", value.into_field()) }
    pub fn with_app_armor_profile(mut self, value: impl o::IntoField<g::core::v1::AppArmorProfile>) -> Self { set(&mut self.0, "appArmorProfile", value.into_field()); self }
    pub fn set_se_linux_change_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "seLinuxChangePolicy", value.into_field()) }
    pub fn with_se_linux_change_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "seLinuxChangePolicy", value.into_field()); self }
}

object!(PodSignature, PodSignatureView);
part!(PodSignature);
impl<'a> PodSignatureView<'a> {
    pub fn pod_controller(self) -> Option<g::meta::v1::OwnerReferenceView<'a>> { find(self.0, "podController") }
}
impl PodSignature {
    pub fn edit_pod_controller<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::OwnerReference) -> R) -> R { edit(&mut self.0, "podController", change) }
    pub fn set_pod_controller(&mut self, value: impl o::IntoField<g::meta::v1::OwnerReference>) { set(&mut self.0, "podController", value.into_field()) }
    pub fn with_pod_controller(mut self, value: impl o::IntoField<g::meta::v1::OwnerReference>) -> Self { set(&mut self.0, "podController", value.into_field()); self }
}

object!(PodSpec, PodSpecView);
part!(PodSpec);
impl<'a> PodSpecView<'a> {
    pub fn volumes(self) -> r::List<'a, g::core::v1::VolumeView<'a>> { read(self.0, "volumes") }
    pub fn init_containers(self) -> r::List<'a, g::core::v1::ContainerView<'a>> { read(self.0, "initContainers") }
    pub fn containers(self) -> r::List<'a, g::core::v1::ContainerView<'a>> { read(self.0, "containers") }
    pub fn ephemeral_containers(self) -> r::List<'a, g::core::v1::EphemeralContainerView<'a>> { read(self.0, "ephemeralContainers") }
    pub fn restart_policy(self) -> &'a str { read(self.0, "restartPolicy") }
    pub fn termination_grace_period_seconds(self) -> Option<i64> { find(self.0, "terminationGracePeriodSeconds") }
    pub fn active_deadline_seconds(self) -> Option<i64> { find(self.0, "activeDeadlineSeconds") }
    pub fn dns_policy(self) -> &'a str { read(self.0, "dnsPolicy") }
    pub fn node_selector(self) -> r::Map<'a, &'a str> { read(self.0, "nodeSelector") }
    pub fn service_account_name(self) -> &'a str { read(self.0, "serviceAccountName") }
    pub fn service_account(self) -> &'a str { read(self.0, "serviceAccount") }
    pub fn automount_service_account_token(self) -> Option<bool> { find(self.0, "automountServiceAccountToken") }
    pub fn node_name(self) -> &'a str { read(self.0, "nodeName") }
    pub fn host_network(self) -> bool { read(self.0, "hostNetwork") }
    pub fn host_pid(self) -> bool { read(self.0, "hostPID") }
    pub fn host_ipc(self) -> bool { read(self.0, "hostIPC") }
    pub fn share_process_namespace(self) -> Option<bool> { find(self.0, "shareProcessNamespace") }
    pub fn security_context(self) -> Option<g::core::v1::PodSecurityContextView<'a>> { find(self.0, "securityContext") }
    pub fn image_pull_secrets(self) -> r::List<'a, g::core::v1::LocalObjectReferenceView<'a>> { read(self.0, "imagePullSecrets") }
    pub fn hostname(self) -> &'a str { read(self.0, "hostname") }
    pub fn subdomain(self) -> &'a str { read(self.0, "subdomain") }
    pub fn affinity(self) -> Option<g::core::v1::AffinityView<'a>> { find(self.0, "affinity") }
    pub fn scheduler_name(self) -> &'a str { read(self.0, "schedulerName") }
    pub fn tolerations(self) -> r::List<'a, g::core::v1::TolerationView<'a>> { read(self.0, "tolerations") }
    pub fn host_aliases(self) -> r::List<'a, g::core::v1::HostAliasView<'a>> { read(self.0, "hostAliases") }
    pub fn priority_class_name(self) -> &'a str { read(self.0, "priorityClassName") }
    pub fn priority(self) -> Option<i32> { find(self.0, "priority") }
    pub fn dns_config(self) -> Option<g::core::v1::PodDNSConfigView<'a>> { find(self.0, "dnsConfig") }
    pub fn readiness_gates(self) -> r::List<'a, g::core::v1::PodReadinessGateView<'a>> { read(self.0, "readinessGates") }
    pub fn runtime_class_name(self) -> Option<&'a str> { find(self.0, "runtimeClassName") }
    pub fn enable_service_links(self) -> Option<bool> { find(self.0, "enableServiceLinks") }
    pub fn preemption_policy(self) -> Option<&'a str> { find(self.0, "preemptionPolicy") }
    pub fn overhead(self) -> r::Map<'a, r::Quantity> { read(self.0, "overhead") }
    pub fn topology_spread_constraints(self) -> r::List<'a, g::core::v1::TopologySpreadConstraintView<'a>> { read(self.0, "topologySpreadConstraints") }
    pub fn set_hostname_as_fqdn(self) -> Option<bool> { find(self.0, "setHostnameAsFQDN") }
    pub fn os(self) -> Option<g::core::v1::PodOSView<'a>> { find(self.0, "os") }
    pub fn host_users(self) -> Option<bool> { find(self.0, "hostUsers") }
    pub fn scheduling_gates(self) -> r::List<'a, g::core::v1::PodSchedulingGateView<'a>> { read(self.0, "schedulingGates") }
    pub fn resource_claims(self) -> r::List<'a, g::core::v1::PodResourceClaimView<'a>> { read(self.0, "resourceClaims") }
    pub fn resources(self) -> Option<g::core::v1::ResourceRequirementsView<'a>> { find(self.0, "resources") }
    pub fn hostname_override(self) -> Option<&'a str> { find(self.0, "hostnameOverride") }
    pub fn scheduling_group(self) -> Option<g::core::v1::PodSchedulingGroupView<'a>> { find(self.0, "schedulingGroup") }
}
impl PodSpec {
    pub fn push_volumes(&mut self, item: impl o::IntoField<g::core::v1::Volume>) { push(&mut self.0, "volumes", item) }
    pub fn set_volumes(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Volume>>) { set_list(&mut self.0, "volumes", value) }
    pub fn with_volumes(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Volume>>) -> Self { set_list(&mut self.0, "volumes", value); self }
    pub fn push_init_containers(&mut self, item: impl o::IntoField<g::core::v1::Container>) { push(&mut self.0, "initContainers", item) }
    pub fn set_init_containers(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Container>>) { set_list(&mut self.0, "initContainers", value) }
    pub fn with_init_containers(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Container>>) -> Self { set_list(&mut self.0, "initContainers", value); self }
    pub fn push_containers(&mut self, item: impl o::IntoField<g::core::v1::Container>) { push(&mut self.0, "containers", item) }
    pub fn set_containers(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Container>>) { set_list(&mut self.0, "containers", value) }
    pub fn with_containers(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Container>>) -> Self { set_list(&mut self.0, "containers", value); self }
    pub fn push_ephemeral_containers(&mut self, item: impl o::IntoField<g::core::v1::EphemeralContainer>) { push(&mut self.0, "ephemeralContainers", item) }
    pub fn set_ephemeral_containers(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EphemeralContainer>>) { set_list(&mut self.0, "ephemeralContainers", value) }
    pub fn with_ephemeral_containers(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::EphemeralContainer>>) -> Self { set_list(&mut self.0, "ephemeralContainers", value); self }
    pub fn set_restart_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "restartPolicy", value.into_field()) }
    pub fn with_restart_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "restartPolicy", value.into_field()); self }
    pub fn set_termination_grace_period_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "terminationGracePeriodSeconds", value.into_field()) }
    pub fn with_termination_grace_period_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "terminationGracePeriodSeconds", value.into_field()); self }
    pub fn set_active_deadline_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "activeDeadlineSeconds", value.into_field()) }
    pub fn with_active_deadline_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "activeDeadlineSeconds", value.into_field()); self }
    pub fn set_dns_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "dnsPolicy", value.into_field()) }
    pub fn with_dns_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "dnsPolicy", value.into_field()); self }
    pub fn insert_node_selector(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "nodeSelector", key, value) }
    pub fn set_node_selector(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "nodeSelector", value) }
    pub fn with_node_selector(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "nodeSelector", value); self }
    pub fn set_service_account_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "serviceAccountName", value.into_field()) }
    pub fn with_service_account_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "serviceAccountName", value.into_field()); self }
    pub fn set_service_account(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "serviceAccount", value.into_field()) }
    pub fn with_service_account(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "serviceAccount", value.into_field()); self }
    pub fn set_automount_service_account_token(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "automountServiceAccountToken", value.into_field()) }
    pub fn with_automount_service_account_token(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "automountServiceAccountToken", value.into_field()); self }
    pub fn set_node_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "nodeName", value.into_field()) }
    pub fn with_node_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "nodeName", value.into_field()); self }
    pub fn set_host_network(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "hostNetwork", value.into_field()) }
    pub fn with_host_network(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "hostNetwork", value.into_field()); self }
    pub fn set_host_pid(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "hostPID", value.into_field()) }
    pub fn with_host_pid(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "hostPID", value.into_field()); self }
    pub fn set_host_ipc(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "hostIPC", value.into_field()) }
    pub fn with_host_ipc(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "hostIPC", value.into_field()); self }
    pub fn set_share_process_namespace(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "shareProcessNamespace", value.into_field()) }
    pub fn with_share_process_namespace(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "shareProcessNamespace", value.into_field()); self }
    pub fn edit_security_context<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodSecurityContext) -> R) -> R { edit(&mut self.0, "securityContext", change) }
    pub fn set_security_context(&mut self, value: impl o::IntoField<g::core::v1::PodSecurityContext>) { set(&mut self.0, "securityContext", value.into_field()) }
    pub fn with_security_context(mut self, value: impl o::IntoField<g::core::v1::PodSecurityContext>) -> Self { set(&mut self.0, "securityContext", value.into_field()); self }
    pub fn push_image_pull_secrets(&mut self, item: impl o::IntoField<g::core::v1::LocalObjectReference>) { push(&mut self.0, "imagePullSecrets", item) }
    pub fn set_image_pull_secrets(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::LocalObjectReference>>) { set_list(&mut self.0, "imagePullSecrets", value) }
    pub fn with_image_pull_secrets(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::LocalObjectReference>>) -> Self { set_list(&mut self.0, "imagePullSecrets", value); self }
    pub fn set_hostname(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "hostname", value.into_field()) }
    pub fn with_hostname(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "hostname", value.into_field()); self }
    pub fn set_subdomain(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "subdomain", value.into_field()) }
    pub fn with_subdomain(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "subdomain", value.into_field()); self }
    pub fn edit_affinity<R>(&mut self, change: impl FnOnce(&mut g::core::v1::Affinity) -> R) -> R { edit(&mut self.0, "affinity", change) }
    pub fn set_affinity(&mut self, value: impl o::IntoField<g::core::v1::Affinity>) { set(&mut self.0, "affinity", value.into_field()) }
    pub fn with_affinity(mut self, value: impl o::IntoField<g::core::v1::Affinity>) -> Self { set(&mut self.0, "affinity", value.into_field()); self }
    pub fn set_scheduler_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "schedulerName", value.into_field()) }
    pub fn with_scheduler_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "schedulerName", value.into_field()); self }
    pub fn push_tolerations(&mut self, item: impl o::IntoField<g::core::v1::Toleration>) { push(&mut self.0, "tolerations", item) }
    pub fn set_tolerations(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Toleration>>) { set_list(&mut self.0, "tolerations", value) }
    pub fn with_tolerations(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Toleration>>) -> Self { set_list(&mut self.0, "tolerations", value); self }
    pub fn push_host_aliases(&mut self, item: impl o::IntoField<g::core::v1::HostAlias>) { push(&mut self.0, "hostAliases", item) }
    pub fn set_host_aliases(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::HostAlias>>) { set_list(&mut self.0, "hostAliases", value) }
    pub fn with_host_aliases(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::HostAlias>>) -> Self { set_list(&mut self.0, "hostAliases", value); self }
    pub fn set_priority_class_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "priorityClassName", value.into_field()) }
    pub fn with_priority_class_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "priorityClassName", value.into_field()); self }
    pub fn set_priority(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "priority", value.into_field()) }
    pub fn with_priority(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "priority", value.into_field()); self }
    pub fn edit_dns_config<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodDNSConfig) -> R) -> R { edit(&mut self.0, "dnsConfig", change) }
    pub fn set_dns_config(&mut self, value: impl o::IntoField<g::core::v1::PodDNSConfig>) { set(&mut self.0, "dnsConfig", value.into_field()) }
    pub fn with_dns_config(mut self, value: impl o::IntoField<g::core::v1::PodDNSConfig>) -> Self { set(&mut self.0, "dnsConfig", value.into_field()); self }
    pub fn push_readiness_gates(&mut self, item: impl o::IntoField<g::core::v1::PodReadinessGate>) { push(&mut self.0, "readinessGates", item) }
    pub fn set_readiness_gates(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodReadinessGate>>) { set_list(&mut self.0, "readinessGates", value) }
    pub fn with_readiness_gates(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodReadinessGate>>) -> Self { set_list(&mut self.0, "readinessGates", value); self }
    pub fn set_runtime_class_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "runtimeClassName", value.into_field()) }
    pub fn with_runtime_class_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "runtimeClassName", value.into_field()); self }
    pub fn set_enable_service_links(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "enableServiceLinks", value.into_field()) }
    pub fn with_enable_service_links(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "enableServiceLinks", value.into_field()); self }
    pub fn set_preemption_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "preemptionPolicy", value.into_field()) }
    pub fn with_preemption_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "preemptionPolicy", value.into_field()); self }
    pub fn insert_overhead(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "overhead", key, value) }
    pub fn set_overhead(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "overhead", value) }
    pub fn with_overhead(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "overhead", value); self }
    pub fn push_topology_spread_constraints(&mut self, item: impl o::IntoField<g::core::v1::TopologySpreadConstraint>) { push(&mut self.0, "topologySpreadConstraints", item) }
    pub fn set_topology_spread_constraints(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::TopologySpreadConstraint>>) { set_list(&mut self.0, "topologySpreadConstraints", value) }
    pub fn with_topology_spread_constraints(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::TopologySpreadConstraint>>) -> Self { set_list(&mut self.0, "topologySpreadConstraints", value); self }
    pub fn set_set_hostname_as_fqdn(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "setHostnameAsFQDN", value.into_field()) }
    pub fn with_set_hostname_as_fqdn(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "setHostnameAsFQDN", value.into_field()); self }
    pub fn edit_os<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodOS) -> R) -> R { edit(&mut self.0, "os", change) }
    pub fn set_os(&mut self, value: impl o::IntoField<g::core::v1::PodOS>) { set(&mut self.0, "os", value.into_field()) }
    pub fn with_os(mut self, value: impl o::IntoField<g::core::v1::PodOS>) -> Self { set(&mut self.0, "os", value.into_field()); self }
    pub fn set_host_users(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "hostUsers", value.into_field()) }
    pub fn with_host_users(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "hostUsers", value.into_field()); self }
    pub fn push_scheduling_gates(&mut self, item: impl o::IntoField<g::core::v1::PodSchedulingGate>) { push(&mut self.0, "schedulingGates", item) }
    pub fn set_scheduling_gates(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodSchedulingGate>>) { set_list(&mut self.0, "schedulingGates", value) }
    pub fn with_scheduling_gates(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodSchedulingGate>>) -> Self { set_list(&mut self.0, "schedulingGates", value); self }
    pub fn push_resource_claims(&mut self, item: impl o::IntoField<g::core::v1::PodResourceClaim>) { push(&mut self.0, "resourceClaims", item) }
    pub fn set_resource_claims(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodResourceClaim>>) { set_list(&mut self.0, "resourceClaims", value) }
    pub fn with_resource_claims(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodResourceClaim>>) -> Self { set_list(&mut self.0, "resourceClaims", value); self }
    pub fn edit_resources<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ResourceRequirements) -> R) -> R { edit(&mut self.0, "resources", change) }
    pub fn set_resources(&mut self, value: impl o::IntoField<g::core::v1::ResourceRequirements>) { set(&mut self.0, "resources", value.into_field()) }
    pub fn with_resources(mut self, value: impl o::IntoField<g::core::v1::ResourceRequirements>) -> Self { set(&mut self.0, "resources", value.into_field()); self }
    pub fn set_hostname_override(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "hostnameOverride", value.into_field()) }
    pub fn with_hostname_override(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "hostnameOverride", value.into_field()); self }
    pub fn edit_scheduling_group<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodSchedulingGroup) -> R) -> R { edit(&mut self.0, "schedulingGroup", change) }
    pub fn set_scheduling_group(&mut self, value: impl o::IntoField<g::core::v1::PodSchedulingGroup>) { set(&mut self.0, "schedulingGroup", value.into_field()) }
    pub fn with_scheduling_group(mut self, value: impl o::IntoField<g::core::v1::PodSchedulingGroup>) -> Self { set(&mut self.0, "schedulingGroup", value.into_field()); self }
}

object!(PodStatus, PodStatusView);
part!(PodStatus);
impl<'a> PodStatusView<'a> {
    pub fn observed_generation(self) -> i64 { read(self.0, "observedGeneration") }
    pub fn phase(self) -> &'a str { read(self.0, "phase") }
    pub fn conditions(self) -> r::List<'a, g::core::v1::PodConditionView<'a>> { read(self.0, "conditions") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn nominated_node_name(self) -> &'a str { read(self.0, "nominatedNodeName") }
    pub fn host_ip(self) -> &'a str { read(self.0, "hostIP") }
    pub fn host_ips(self) -> r::List<'a, g::core::v1::HostIPView<'a>> { read(self.0, "hostIPs") }
    pub fn pod_ip(self) -> &'a str { read(self.0, "podIP") }
    pub fn pod_ips(self) -> r::List<'a, g::core::v1::PodIPView<'a>> { read(self.0, "podIPs") }
    pub fn start_time(self) -> Option<r::Timestamp> { find(self.0, "startTime") }
    pub fn init_container_statuses(self) -> r::List<'a, g::core::v1::ContainerStatusView<'a>> { read(self.0, "initContainerStatuses") }
    pub fn container_statuses(self) -> r::List<'a, g::core::v1::ContainerStatusView<'a>> { read(self.0, "containerStatuses") }
    pub fn qos_class(self) -> &'a str { read(self.0, "qosClass") }
    pub fn ephemeral_container_statuses(self) -> r::List<'a, g::core::v1::ContainerStatusView<'a>> { read(self.0, "ephemeralContainerStatuses") }
    pub fn resize(self) -> &'a str { read(self.0, "resize") }
    pub fn resource_claim_statuses(self) -> r::List<'a, g::core::v1::PodResourceClaimStatusView<'a>> { read(self.0, "resourceClaimStatuses") }
    pub fn extended_resource_claim_status(self) -> Option<g::core::v1::PodExtendedResourceClaimStatusView<'a>> { find(self.0, "extendedResourceClaimStatus") }
    pub fn allocated_resources(self) -> r::Map<'a, r::Quantity> { read(self.0, "allocatedResources") }
    pub fn resources(self) -> Option<g::core::v1::ResourceRequirementsView<'a>> { find(self.0, "resources") }
    pub fn node_allocatable_resource_claim_statuses(self) -> r::List<'a, g::core::v1::NodeAllocatableResourceClaimStatusView<'a>> { read(self.0, "nodeAllocatableResourceClaimStatuses") }
}
impl PodStatus {
    pub fn set_observed_generation(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "observedGeneration", value.into_field()) }
    pub fn with_observed_generation(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "observedGeneration", value.into_field()); self }
    pub fn set_phase(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "phase", value.into_field()) }
    pub fn with_phase(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "phase", value.into_field()); self }
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::core::v1::PodCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_nominated_node_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "nominatedNodeName", value.into_field()) }
    pub fn with_nominated_node_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "nominatedNodeName", value.into_field()); self }
    pub fn set_host_ip(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "hostIP", value.into_field()) }
    pub fn with_host_ip(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "hostIP", value.into_field()); self }
    pub fn push_host_ips(&mut self, item: impl o::IntoField<g::core::v1::HostIP>) { push(&mut self.0, "hostIPs", item) }
    pub fn set_host_ips(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::HostIP>>) { set_list(&mut self.0, "hostIPs", value) }
    pub fn with_host_ips(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::HostIP>>) -> Self { set_list(&mut self.0, "hostIPs", value); self }
    pub fn set_pod_ip(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "podIP", value.into_field()) }
    pub fn with_pod_ip(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "podIP", value.into_field()); self }
    pub fn push_pod_ips(&mut self, item: impl o::IntoField<g::core::v1::PodIP>) { push(&mut self.0, "podIPs", item) }
    pub fn set_pod_ips(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodIP>>) { set_list(&mut self.0, "podIPs", value) }
    pub fn with_pod_ips(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodIP>>) -> Self { set_list(&mut self.0, "podIPs", value); self }
    pub fn set_start_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "startTime", value.into_field()) }
    pub fn with_start_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "startTime", value.into_field()); self }
    pub fn push_init_container_statuses(&mut self, item: impl o::IntoField<g::core::v1::ContainerStatus>) { push(&mut self.0, "initContainerStatuses", item) }
    pub fn set_init_container_statuses(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerStatus>>) { set_list(&mut self.0, "initContainerStatuses", value) }
    pub fn with_init_container_statuses(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerStatus>>) -> Self { set_list(&mut self.0, "initContainerStatuses", value); self }
    pub fn push_container_statuses(&mut self, item: impl o::IntoField<g::core::v1::ContainerStatus>) { push(&mut self.0, "containerStatuses", item) }
    pub fn set_container_statuses(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerStatus>>) { set_list(&mut self.0, "containerStatuses", value) }
    pub fn with_container_statuses(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerStatus>>) -> Self { set_list(&mut self.0, "containerStatuses", value); self }
    pub fn set_qos_class(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "qosClass", value.into_field()) }
    pub fn with_qos_class(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "qosClass", value.into_field()); self }
    pub fn push_ephemeral_container_statuses(&mut self, item: impl o::IntoField<g::core::v1::ContainerStatus>) { push(&mut self.0, "ephemeralContainerStatuses", item) }
    pub fn set_ephemeral_container_statuses(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerStatus>>) { set_list(&mut self.0, "ephemeralContainerStatuses", value) }
    pub fn with_ephemeral_container_statuses(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ContainerStatus>>) -> Self { set_list(&mut self.0, "ephemeralContainerStatuses", value); self }
    pub fn set_resize(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resize", value.into_field()) }
    pub fn with_resize(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resize", value.into_field()); self }
    pub fn push_resource_claim_statuses(&mut self, item: impl o::IntoField<g::core::v1::PodResourceClaimStatus>) { push(&mut self.0, "resourceClaimStatuses", item) }
    pub fn set_resource_claim_statuses(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodResourceClaimStatus>>) { set_list(&mut self.0, "resourceClaimStatuses", value) }
    pub fn with_resource_claim_statuses(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodResourceClaimStatus>>) -> Self { set_list(&mut self.0, "resourceClaimStatuses", value); self }
    pub fn edit_extended_resource_claim_status<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodExtendedResourceClaimStatus) -> R) -> R { edit(&mut self.0, "extendedResourceClaimStatus", change) }
    pub fn set_extended_resource_claim_status(&mut self, value: impl o::IntoField<g::core::v1::PodExtendedResourceClaimStatus>) { set(&mut self.0, "extendedResourceClaimStatus", value.into_field()) }
    pub fn with_extended_resource_claim_status(mut self, value: impl o::IntoField<g::core::v1::PodExtendedResourceClaimStatus>) -> Self { set(&mut self.0, "extendedResourceClaimStatus", value.into_field()); self }
    pub fn insert_allocated_resources(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "allocatedResources", key, value) }
    pub fn set_allocated_resources(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "allocatedResources", value) }
    pub fn with_allocated_resources(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "allocatedResources", value); self }
    pub fn edit_resources<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ResourceRequirements) -> R) -> R { edit(&mut self.0, "resources", change) }
    pub fn set_resources(&mut self, value: impl o::IntoField<g::core::v1::ResourceRequirements>) { set(&mut self.0, "resources", value.into_field()) }
    pub fn with_resources(mut self, value: impl o::IntoField<g::core::v1::ResourceRequirements>) -> Self { set(&mut self.0, "resources", value.into_field()); self }
    pub fn push_node_allocatable_resource_claim_statuses(&mut self, item: impl o::IntoField<g::core::v1::NodeAllocatableResourceClaimStatus>) { push(&mut self.0, "nodeAllocatableResourceClaimStatuses", item) }
    pub fn set_node_allocatable_resource_claim_statuses(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::NodeAllocatableResourceClaimStatus>>) { set_list(&mut self.0, "nodeAllocatableResourceClaimStatuses", value) }
    pub fn with_node_allocatable_resource_claim_statuses(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::NodeAllocatableResourceClaimStatus>>) -> Self { set_list(&mut self.0, "nodeAllocatableResourceClaimStatuses", value); self }
}

object!(PodStatusResult, PodStatusResultView);
part!(PodStatusResult);
impl<'a> PodStatusResultView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn status(self) -> g::core::v1::PodStatusView<'a> { read(self.0, "status") }
}
impl PodStatusResult {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::core::v1::PodStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::core::v1::PodStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(PodTemplate, PodTemplateView);
kind!(PodTemplate, "", "v1", "v1", "podtemplates");
impl<'a> PodTemplateView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn template(self) -> g::core::v1::PodTemplateSpecView<'a> { read(self.0, "template") }
}
impl PodTemplate {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_template<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodTemplateSpec) -> R) -> R { edit(&mut self.0, "template", change) }
    pub fn set_template(&mut self, value: impl o::IntoField<g::core::v1::PodTemplateSpec>) { set(&mut self.0, "template", value.into_field()) }
    pub fn with_template(mut self, value: impl o::IntoField<g::core::v1::PodTemplateSpec>) -> Self { set(&mut self.0, "template", value.into_field()); self }
}

object!(PodTemplateList, PodTemplateListView);
part!(PodTemplateList);
impl<'a> PodTemplateListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::core::v1::PodTemplateView<'a>> { read(self.0, "items") }
}
impl PodTemplateList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::PodTemplate>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodTemplate>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PodTemplate>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(PodTemplateSpec, PodTemplateSpecView);
part!(PodTemplateSpec);
impl<'a> PodTemplateSpecView<'a> {
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::core::v1::PodSpecView<'a> { read(self.0, "spec") }
}
impl PodTemplateSpec {
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::core::v1::PodSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::core::v1::PodSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(PortStatus, PortStatusView);
part!(PortStatus);
impl<'a> PortStatusView<'a> {
    pub fn port(self) -> i32 { read(self.0, "port") }
    pub fn protocol(self) -> &'a str { read(self.0, "protocol") }
    pub fn error(self) -> Option<&'a str> { find(self.0, "error") }
}
impl PortStatus {
    pub fn set_port(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "port", value.into_field()) }
    pub fn with_port(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "port", value.into_field()); self }
    pub fn set_protocol(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "protocol", value.into_field()) }
    pub fn with_protocol(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "protocol", value.into_field()); self }
    pub fn set_error(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "error", value.into_field()) }
    pub fn with_error(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "error", value.into_field()); self }
}

object!(PortworxVolumeSource, PortworxVolumeSourceView);
part!(PortworxVolumeSource);
impl<'a> PortworxVolumeSourceView<'a> {
    pub fn volume_id(self) -> &'a str { read(self.0, "volumeID") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
}
impl PortworxVolumeSource {
    pub fn set_volume_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeID", value.into_field()) }
    pub fn with_volume_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeID", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
}

object!(Preconditions, PreconditionsView);
part!(Preconditions);
impl<'a> PreconditionsView<'a> {
    pub fn uid(self) -> Option<&'a str> { find(self.0, "uid") }
}
impl Preconditions {
    pub fn set_uid(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "uid", value.into_field()) }
    pub fn with_uid(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "uid", value.into_field()); self }
}

object!(PreferAvoidPodsEntry, PreferAvoidPodsEntryView);
part!(PreferAvoidPodsEntry);
impl<'a> PreferAvoidPodsEntryView<'a> {
    pub fn pod_signature(self) -> g::core::v1::PodSignatureView<'a> { read(self.0, "podSignature") }
    pub fn eviction_time(self) -> Option<r::Timestamp> { find(self.0, "evictionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl PreferAvoidPodsEntry {
    pub fn edit_pod_signature<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodSignature) -> R) -> R { edit(&mut self.0, "podSignature", change) }
    pub fn set_pod_signature(&mut self, value: impl o::IntoField<g::core::v1::PodSignature>) { set(&mut self.0, "podSignature", value.into_field()) }
    pub fn with_pod_signature(mut self, value: impl o::IntoField<g::core::v1::PodSignature>) -> Self { set(&mut self.0, "podSignature", value.into_field()); self }
    pub fn set_eviction_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "evictionTime", value.into_field()) }
    pub fn with_eviction_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "evictionTime", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
}

object!(PreferredSchedulingTerm, PreferredSchedulingTermView);
part!(PreferredSchedulingTerm);
impl<'a> PreferredSchedulingTermView<'a> {
    pub fn weight(self) -> i32 { read(self.0, "weight") }
    pub fn preference(self) -> g::core::v1::NodeSelectorTermView<'a> { read(self.0, "preference") }
}
impl PreferredSchedulingTerm {
    pub fn set_weight(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "weight", value.into_field()) }
    pub fn with_weight(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "weight", value.into_field()); self }
    pub fn edit_preference<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeSelectorTerm) -> R) -> R { edit(&mut self.0, "preference", change) }
    pub fn set_preference(&mut self, value: impl o::IntoField<g::core::v1::NodeSelectorTerm>) { set(&mut self.0, "preference", value.into_field()) }
    pub fn with_preference(mut self, value: impl o::IntoField<g::core::v1::NodeSelectorTerm>) -> Self { set(&mut self.0, "preference", value.into_field()); self }
}

object!(Probe, ProbeView);
part!(Probe);
impl<'a> ProbeView<'a> {
    pub fn exec(self) -> Option<g::core::v1::ExecActionView<'a>> { find(self.0, "exec") }
    pub fn http_get(self) -> Option<g::core::v1::HTTPGetActionView<'a>> { find(self.0, "httpGet") }
    pub fn tcp_socket(self) -> Option<g::core::v1::TCPSocketActionView<'a>> { find(self.0, "tcpSocket") }
    pub fn grpc(self) -> Option<g::core::v1::GRPCActionView<'a>> { find(self.0, "grpc") }
    pub fn initial_delay_seconds(self) -> i32 { read(self.0, "initialDelaySeconds") }
    pub fn timeout_seconds(self) -> i32 { read(self.0, "timeoutSeconds") }
    pub fn period_seconds(self) -> i32 { read(self.0, "periodSeconds") }
    pub fn success_threshold(self) -> i32 { read(self.0, "successThreshold") }
    pub fn failure_threshold(self) -> i32 { read(self.0, "failureThreshold") }
    pub fn termination_grace_period_seconds(self) -> Option<i64> { find(self.0, "terminationGracePeriodSeconds") }
}
impl Probe {
    pub fn edit_exec<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ExecAction) -> R) -> R { edit(&mut self.0, "exec", change) }
    pub fn set_exec(&mut self, value: impl o::IntoField<g::core::v1::ExecAction>) { set(&mut self.0, "exec", value.into_field()) }
    pub fn with_exec(mut self, value: impl o::IntoField<g::core::v1::ExecAction>) -> Self { set(&mut self.0, "exec", value.into_field()); self }
    pub fn edit_http_get<R>(&mut self, change: impl FnOnce(&mut g::core::v1::HTTPGetAction) -> R) -> R { edit(&mut self.0, "httpGet", change) }
    pub fn set_http_get(&mut self, value: impl o::IntoField<g::core::v1::HTTPGetAction>) { set(&mut self.0, "httpGet", value.into_field()) }
    pub fn with_http_get(mut self, value: impl o::IntoField<g::core::v1::HTTPGetAction>) -> Self { set(&mut self.0, "httpGet", value.into_field()); self }
    pub fn edit_tcp_socket<R>(&mut self, change: impl FnOnce(&mut g::core::v1::TCPSocketAction) -> R) -> R { edit(&mut self.0, "tcpSocket", change) }
    pub fn set_tcp_socket(&mut self, value: impl o::IntoField<g::core::v1::TCPSocketAction>) { set(&mut self.0, "tcpSocket", value.into_field()) }
    pub fn with_tcp_socket(mut self, value: impl o::IntoField<g::core::v1::TCPSocketAction>) -> Self { set(&mut self.0, "tcpSocket", value.into_field()); self }
    pub fn edit_grpc<R>(&mut self, change: impl FnOnce(&mut g::core::v1::GRPCAction) -> R) -> R { edit(&mut self.0, "grpc", change) }
    pub fn set_grpc(&mut self, value: impl o::IntoField<g::core::v1::GRPCAction>) { set(&mut self.0, "grpc", value.into_field()) }
    pub fn with_grpc(mut self, value: impl o::IntoField<g::core::v1::GRPCAction>) -> Self { set(&mut self.0, "grpc", value.into_field()); self }
    pub fn set_initial_delay_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "initialDelaySeconds", value.into_field()) }
    pub fn with_initial_delay_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "initialDelaySeconds", value.into_field()); self }
    pub fn set_timeout_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "timeoutSeconds", value.into_field()) }
    pub fn with_timeout_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "timeoutSeconds", value.into_field()); self }
    pub fn set_period_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "periodSeconds", value.into_field()) }
    pub fn with_period_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "periodSeconds", value.into_field()); self }
    pub fn set_success_threshold(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "successThreshold", value.into_field()) }
    pub fn with_success_threshold(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "successThreshold", value.into_field()); self }
    pub fn set_failure_threshold(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "failureThreshold", value.into_field()) }
    pub fn with_failure_threshold(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "failureThreshold", value.into_field()); self }
    pub fn set_termination_grace_period_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "terminationGracePeriodSeconds", value.into_field()) }
    pub fn with_termination_grace_period_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "terminationGracePeriodSeconds", value.into_field()); self }
}

object!(ProbeHandler, ProbeHandlerView);
part!(ProbeHandler);
impl<'a> ProbeHandlerView<'a> {
    pub fn exec(self) -> Option<g::core::v1::ExecActionView<'a>> { find(self.0, "exec") }
    pub fn http_get(self) -> Option<g::core::v1::HTTPGetActionView<'a>> { find(self.0, "httpGet") }
    pub fn tcp_socket(self) -> Option<g::core::v1::TCPSocketActionView<'a>> { find(self.0, "tcpSocket") }
    pub fn grpc(self) -> Option<g::core::v1::GRPCActionView<'a>> { find(self.0, "grpc") }
}
impl ProbeHandler {
    pub fn edit_exec<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ExecAction) -> R) -> R { edit(&mut self.0, "exec", change) }
    pub fn set_exec(&mut self, value: impl o::IntoField<g::core::v1::ExecAction>) { set(&mut self.0, "exec", value.into_field()) }
    pub fn with_exec(mut self, value: impl o::IntoField<g::core::v1::ExecAction>) -> Self { set(&mut self.0, "exec", value.into_field()); self }
    pub fn edit_http_get<R>(&mut self, change: impl FnOnce(&mut g::core::v1::HTTPGetAction) -> R) -> R { edit(&mut self.0, "httpGet", change) }
    pub fn set_http_get(&mut self, value: impl o::IntoField<g::core::v1::HTTPGetAction>) { set(&mut self.0, "httpGet", value.into_field()) }
    pub fn with_http_get(mut self, value: impl o::IntoField<g::core::v1::HTTPGetAction>) -> Self { set(&mut self.0, "httpGet", value.into_field()); self }
    pub fn edit_tcp_socket<R>(&mut self, change: impl FnOnce(&mut g::core::v1::TCPSocketAction) -> R) -> R { edit(&mut self.0, "tcpSocket", change) }
    pub fn set_tcp_socket(&mut self, value: impl o::IntoField<g::core::v1::TCPSocketAction>) { set(&mut self.0, "tcpSocket", value.into_field()) }
    pub fn with_tcp_socket(mut self, value: impl o::IntoField<g::core::v1::TCPSocketAction>) -> Self { set(&mut self.0, "tcpSocket", value.into_field()); self }
    pub fn edit_grpc<R>(&mut self, change: impl FnOnce(&mut g::core::v1::GRPCAction) -> R) -> R { edit(&mut self.0, "grpc", change) }
    pub fn set_grpc(&mut self, value: impl o::IntoField<g::core::v1::GRPCAction>) { set(&mut self.0, "grpc", value.into_field()) }
    pub fn with_grpc(mut self, value: impl o::IntoField<g::core::v1::GRPCAction>) -> Self { set(&mut self.0, "grpc", value.into_field()); self }
}

object!(ProjectedVolumeSource, ProjectedVolumeSourceView);
part!(ProjectedVolumeSource);
impl<'a> ProjectedVolumeSourceView<'a> {
    pub fn sources(self) -> r::List<'a, g::core::v1::VolumeProjectionView<'a>> { read(self.0, "sources") }
    pub fn default_mode(self) -> Option<i32> { find(self.0, "defaultMode") }
}
impl ProjectedVolumeSource {
    pub fn push_sources(&mut self, item: impl o::IntoField<g::core::v1::VolumeProjection>) { push(&mut self.0, "sources", item) }
    pub fn set_sources(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::VolumeProjection>>) { set_list(&mut self.0, "sources", value) }
    pub fn with_sources(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::VolumeProjection>>) -> Self { set_list(&mut self.0, "sources", value); self }
    pub fn set_default_mode(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "defaultMode", value.into_field()) }
    pub fn with_default_mode(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "defaultMode", value.into_field()); self }
}

object!(QuobyteVolumeSource, QuobyteVolumeSourceView);
part!(QuobyteVolumeSource);
impl<'a> QuobyteVolumeSourceView<'a> {
    pub fn registry(self) -> &'a str { read(self.0, "registry") }
    pub fn volume(self) -> &'a str { read(self.0, "volume") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
    pub fn user(self) -> &'a str { read(self.0, "user") }
    pub fn group(self) -> &'a str { read(self.0, "group") }
    pub fn tenant(self) -> &'a str { read(self.0, "tenant") }
}
impl QuobyteVolumeSource {
    pub fn set_registry(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "registry", value.into_field()) }
    pub fn with_registry(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "registry", value.into_field()); self }
    pub fn set_volume(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volume", value.into_field()) }
    pub fn with_volume(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volume", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn set_user(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "user", value.into_field()) }
    pub fn with_user(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "user", value.into_field()); self }
    pub fn set_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "group", value.into_field()) }
    pub fn with_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "group", value.into_field()); self }
    pub fn set_tenant(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "tenant", value.into_field()) }
    pub fn with_tenant(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "tenant", value.into_field()); self }
}

object!(RBDPersistentVolumeSource, RBDPersistentVolumeSourceView);
part!(RBDPersistentVolumeSource);
impl<'a> RBDPersistentVolumeSourceView<'a> {
    pub fn monitors(self) -> r::List<'a, &'a str> { read(self.0, "monitors") }
    pub fn image(self) -> &'a str { read(self.0, "image") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn pool(self) -> &'a str { read(self.0, "pool") }
    pub fn user(self) -> &'a str { read(self.0, "user") }
    pub fn keyring(self) -> &'a str { read(self.0, "keyring") }
    pub fn secret_ref(self) -> Option<g::core::v1::SecretReferenceView<'a>> { find(self.0, "secretRef") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
}
impl RBDPersistentVolumeSource {
    pub fn push_monitors(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "monitors", item) }
    pub fn set_monitors(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "monitors", value) }
    pub fn with_monitors(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "monitors", value); self }
    pub fn set_image(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "image", value.into_field()) }
    pub fn with_image(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "image", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn set_pool(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "pool", value.into_field()) }
    pub fn with_pool(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "pool", value.into_field()); self }
    pub fn set_user(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "user", value.into_field()) }
    pub fn with_user(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "user", value.into_field()); self }
    pub fn set_keyring(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "keyring", value.into_field()) }
    pub fn with_keyring(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "keyring", value.into_field()); self }
    pub fn edit_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecretReference) -> R) -> R { edit(&mut self.0, "secretRef", change) }
    pub fn set_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::SecretReference>) { set(&mut self.0, "secretRef", value.into_field()) }
    pub fn with_secret_ref(mut self, value: impl o::IntoField<g::core::v1::SecretReference>) -> Self { set(&mut self.0, "secretRef", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
}

object!(RBDVolumeSource, RBDVolumeSourceView);
part!(RBDVolumeSource);
impl<'a> RBDVolumeSourceView<'a> {
    pub fn monitors(self) -> r::List<'a, &'a str> { read(self.0, "monitors") }
    pub fn image(self) -> &'a str { read(self.0, "image") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn pool(self) -> &'a str { read(self.0, "pool") }
    pub fn user(self) -> &'a str { read(self.0, "user") }
    pub fn keyring(self) -> &'a str { read(self.0, "keyring") }
    pub fn secret_ref(self) -> Option<g::core::v1::LocalObjectReferenceView<'a>> { find(self.0, "secretRef") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
}
impl RBDVolumeSource {
    pub fn push_monitors(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "monitors", item) }
    pub fn set_monitors(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "monitors", value) }
    pub fn with_monitors(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "monitors", value); self }
    pub fn set_image(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "image", value.into_field()) }
    pub fn with_image(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "image", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn set_pool(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "pool", value.into_field()) }
    pub fn with_pool(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "pool", value.into_field()); self }
    pub fn set_user(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "user", value.into_field()) }
    pub fn with_user(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "user", value.into_field()); self }
    pub fn set_keyring(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "keyring", value.into_field()) }
    pub fn with_keyring(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "keyring", value.into_field()); self }
    pub fn edit_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::LocalObjectReference) -> R) -> R { edit(&mut self.0, "secretRef", change) }
    pub fn set_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::LocalObjectReference>) { set(&mut self.0, "secretRef", value.into_field()) }
    pub fn with_secret_ref(mut self, value: impl o::IntoField<g::core::v1::LocalObjectReference>) -> Self { set(&mut self.0, "secretRef", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
}

object!(RangeAllocation, RangeAllocationView);
part!(RangeAllocation);
impl<'a> RangeAllocationView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn range(self) -> &'a str { read(self.0, "range") }
    pub fn data(self) -> r::Base64<'a> { read(self.0, "data") }
}
impl RangeAllocation {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn set_range(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "range", value.into_field()) }
    pub fn with_range(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "range", value.into_field()); self }
    pub fn set_data(&mut self, value: impl o::IntoField<o::Bytes>) { set(&mut self.0, "data", value.into_field()) }
    pub fn with_data(mut self, value: impl o::IntoField<o::Bytes>) -> Self { set(&mut self.0, "data", value.into_field()); self }
}

object!(ReplicationController, ReplicationControllerView);
kind!(ReplicationController, "", "v1", "v1", "replicationcontrollers");
impl<'a> ReplicationControllerView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::core::v1::ReplicationControllerSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::core::v1::ReplicationControllerStatusView<'a> { read(self.0, "status") }
}
impl ReplicationController {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ReplicationControllerSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::core::v1::ReplicationControllerSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::core::v1::ReplicationControllerSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ReplicationControllerStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::core::v1::ReplicationControllerStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::core::v1::ReplicationControllerStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(ReplicationControllerCondition, ReplicationControllerConditionView);
part!(ReplicationControllerCondition);
impl<'a> ReplicationControllerConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl ReplicationControllerCondition {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_status(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "status", value.into_field()); self }
    pub fn set_last_transition_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastTransitionTime", value.into_field()) }
    pub fn with_last_transition_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastTransitionTime", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
}

object!(ReplicationControllerList, ReplicationControllerListView);
part!(ReplicationControllerList);
impl<'a> ReplicationControllerListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::core::v1::ReplicationControllerView<'a>> { read(self.0, "items") }
}
impl ReplicationControllerList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::ReplicationController>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ReplicationController>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ReplicationController>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(ReplicationControllerSpec, ReplicationControllerSpecView);
part!(ReplicationControllerSpec);
impl<'a> ReplicationControllerSpecView<'a> {
    pub fn replicas(self) -> Option<i32> { find(self.0, "replicas") }
    pub fn min_ready_seconds(self) -> i32 { read(self.0, "minReadySeconds") }
    pub fn selector(self) -> r::Map<'a, &'a str> { read(self.0, "selector") }
    pub fn template(self) -> Option<g::core::v1::PodTemplateSpecView<'a>> { find(self.0, "template") }
}
impl ReplicationControllerSpec {
    pub fn set_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "replicas", value.into_field()) }
    pub fn with_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "replicas", value.into_field()); self }
    pub fn set_min_ready_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "minReadySeconds", value.into_field()) }
    pub fn with_min_ready_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "minReadySeconds", value.into_field()); self }
    pub fn insert_selector(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "selector", key, value) }
    pub fn set_selector(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "selector", value) }
    pub fn with_selector(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "selector", value); self }
    pub fn edit_template<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodTemplateSpec) -> R) -> R { edit(&mut self.0, "template", change) }
    pub fn set_template(&mut self, value: impl o::IntoField<g::core::v1::PodTemplateSpec>) { set(&mut self.0, "template", value.into_field()) }
    pub fn with_template(mut self, value: impl o::IntoField<g::core::v1::PodTemplateSpec>) -> Self { set(&mut self.0, "template", value.into_field()); self }
}

object!(ReplicationControllerStatus, ReplicationControllerStatusView);
part!(ReplicationControllerStatus);
impl<'a> ReplicationControllerStatusView<'a> {
    pub fn replicas(self) -> i32 { read(self.0, "replicas") }
    pub fn fully_labeled_replicas(self) -> i32 { read(self.0, "fullyLabeledReplicas") }
    pub fn ready_replicas(self) -> i32 { read(self.0, "readyReplicas") }
    pub fn available_replicas(self) -> i32 { read(self.0, "availableReplicas") }
    pub fn observed_generation(self) -> i64 { read(self.0, "observedGeneration") }
    pub fn conditions(self) -> r::List<'a, g::core::v1::ReplicationControllerConditionView<'a>> { read(self.0, "conditions") }
}
impl ReplicationControllerStatus {
    pub fn set_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "replicas", value.into_field()) }
    pub fn with_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "replicas", value.into_field()); self }
    pub fn set_fully_labeled_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "fullyLabeledReplicas", value.into_field()) }
    pub fn with_fully_labeled_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "fullyLabeledReplicas", value.into_field()); self }
    pub fn set_ready_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "readyReplicas", value.into_field()) }
    pub fn with_ready_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "readyReplicas", value.into_field()); self }
    pub fn set_available_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "availableReplicas", value.into_field()) }
    pub fn with_available_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "availableReplicas", value.into_field()); self }
    pub fn set_observed_generation(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "observedGeneration", value.into_field()) }
    pub fn with_observed_generation(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "observedGeneration", value.into_field()); self }
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::core::v1::ReplicationControllerCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ReplicationControllerCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ReplicationControllerCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
}

object!(ResourceClaim, ResourceClaimView);
part!(ResourceClaim);
impl<'a> ResourceClaimView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn request(self) -> &'a str { read(self.0, "request") }
}
impl ResourceClaim {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_request(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "request", value.into_field()) }
    pub fn with_request(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "request", value.into_field()); self }
}

object!(ResourceFieldSelector, ResourceFieldSelectorView);
part!(ResourceFieldSelector);
impl<'a> ResourceFieldSelectorView<'a> {
    pub fn container_name(self) -> &'a str { read(self.0, "containerName") }
    pub fn resource(self) -> &'a str { read(self.0, "resource") }
    pub fn divisor(self) -> Option<r::Quantity> { find(self.0, "divisor") }
}
impl ResourceFieldSelector {
    pub fn set_container_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "containerName", value.into_field()) }
    pub fn with_container_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "containerName", value.into_field()); self }
    pub fn set_resource(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resource", value.into_field()) }
    pub fn with_resource(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resource", value.into_field()); self }
    pub fn set_divisor(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "divisor", value.into_field()) }
    pub fn with_divisor(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "divisor", value.into_field()); self }
}

object!(ResourceHealth, ResourceHealthView);
part!(ResourceHealth);
impl<'a> ResourceHealthView<'a> {
    pub fn resource_id(self) -> &'a str { read(self.0, "resourceID") }
    pub fn health(self) -> &'a str { read(self.0, "health") }
    pub fn message(self) -> Option<&'a str> { find(self.0, "message") }
}
impl ResourceHealth {
    pub fn set_resource_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resourceID", value.into_field()) }
    pub fn with_resource_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resourceID", value.into_field()); self }
    pub fn set_health(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "health", value.into_field()) }
    pub fn with_health(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "health", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
}

object!(ResourceQuota, ResourceQuotaView);
kind!(ResourceQuota, "", "v1", "v1", "resourcequotas");
impl<'a> ResourceQuotaView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::core::v1::ResourceQuotaSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::core::v1::ResourceQuotaStatusView<'a> { read(self.0, "status") }
}
impl ResourceQuota {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ResourceQuotaSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::core::v1::ResourceQuotaSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::core::v1::ResourceQuotaSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ResourceQuotaStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::core::v1::ResourceQuotaStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::core::v1::ResourceQuotaStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(ResourceQuotaList, ResourceQuotaListView);
part!(ResourceQuotaList);
impl<'a> ResourceQuotaListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::core::v1::ResourceQuotaView<'a>> { read(self.0, "items") }
}
impl ResourceQuotaList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::ResourceQuota>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ResourceQuota>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ResourceQuota>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(ResourceQuotaSpec, ResourceQuotaSpecView);
part!(ResourceQuotaSpec);
impl<'a> ResourceQuotaSpecView<'a> {
    pub fn hard(self) -> r::Map<'a, r::Quantity> { read(self.0, "hard") }
    pub fn scopes(self) -> r::List<'a, &'a str> { read(self.0, "scopes") }
    pub fn scope_selector(self) -> Option<g::core::v1::ScopeSelectorView<'a>> { find(self.0, "scopeSelector") }
}
impl ResourceQuotaSpec {
    pub fn insert_hard(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "hard", key, value) }
    pub fn set_hard(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "hard", value) }
    pub fn with_hard(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "hard", value); self }
    pub fn push_scopes(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "scopes", item) }
    pub fn set_scopes(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "scopes", value) }
    pub fn with_scopes(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "scopes", value); self }
    pub fn edit_scope_selector<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ScopeSelector) -> R) -> R { edit(&mut self.0, "scopeSelector", change) }
    pub fn set_scope_selector(&mut self, value: impl o::IntoField<g::core::v1::ScopeSelector>) { set(&mut self.0, "scopeSelector", value.into_field()) }
    pub fn with_scope_selector(mut self, value: impl o::IntoField<g::core::v1::ScopeSelector>) -> Self { set(&mut self.0, "scopeSelector", value.into_field()); self }
}

object!(ResourceQuotaStatus, ResourceQuotaStatusView);
part!(ResourceQuotaStatus);
impl<'a> ResourceQuotaStatusView<'a> {
    pub fn hard(self) -> r::Map<'a, r::Quantity> { read(self.0, "hard") }
    pub fn used(self) -> r::Map<'a, r::Quantity> { read(self.0, "used") }
}
impl ResourceQuotaStatus {
    pub fn insert_hard(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "hard", key, value) }
    pub fn set_hard(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "hard", value) }
    pub fn with_hard(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "hard", value); self }
    pub fn insert_used(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "used", key, value) }
    pub fn set_used(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "used", value) }
    pub fn with_used(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "used", value); self }
}

object!(ResourceRequirements, ResourceRequirementsView);
part!(ResourceRequirements);
impl<'a> ResourceRequirementsView<'a> {
    pub fn limits(self) -> r::Map<'a, r::Quantity> { read(self.0, "limits") }
    pub fn requests(self) -> r::Map<'a, r::Quantity> { read(self.0, "requests") }
    pub fn claims(self) -> r::List<'a, g::core::v1::ResourceClaimView<'a>> { read(self.0, "claims") }
}
impl ResourceRequirements {
    pub fn insert_limits(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "limits", key, value) }
    pub fn set_limits(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "limits", value) }
    pub fn with_limits(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "limits", value); self }
    pub fn insert_requests(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "requests", key, value) }
    pub fn set_requests(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "requests", value) }
    pub fn with_requests(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "requests", value); self }
    pub fn push_claims(&mut self, item: impl o::IntoField<g::core::v1::ResourceClaim>) { push(&mut self.0, "claims", item) }
    pub fn set_claims(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ResourceClaim>>) { set_list(&mut self.0, "claims", value) }
    pub fn with_claims(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ResourceClaim>>) -> Self { set_list(&mut self.0, "claims", value); self }
}

object!(ResourceStatus, ResourceStatusView);
part!(ResourceStatus);
impl<'a> ResourceStatusView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn resources(self) -> r::List<'a, g::core::v1::ResourceHealthView<'a>> { read(self.0, "resources") }
}
impl ResourceStatus {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn push_resources(&mut self, item: impl o::IntoField<g::core::v1::ResourceHealth>) { push(&mut self.0, "resources", item) }
    pub fn set_resources(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ResourceHealth>>) { set_list(&mut self.0, "resources", value) }
    pub fn with_resources(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ResourceHealth>>) -> Self { set_list(&mut self.0, "resources", value); self }
}

object!(SELinuxOptions, SELinuxOptionsView);
part!(SELinuxOptions);
impl<'a> SELinuxOptionsView<'a> {
    pub fn user(self) -> &'a str { read(self.0, "user") }
    pub fn role(self) -> &'a str { read(self.0, "role") }
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn level(self) -> &'a str { read(self.0, "level") }
}
impl SELinuxOptions {
    pub fn set_user(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "user", value.into_field()) }
    pub fn with_user(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "user", value.into_field()); self }
    pub fn set_role(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "role", value.into_field()) }
    pub fn with_role(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "role", value.into_field()); self }
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_level(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "level", value.into_field()) }
    pub fn with_level(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "level", value.into_field()); self }
}

object!(ScaleIOPersistentVolumeSource, ScaleIOPersistentVolumeSourceView);
part!(ScaleIOPersistentVolumeSource);
impl<'a> ScaleIOPersistentVolumeSourceView<'a> {
    pub fn gateway(self) -> &'a str { read(self.0, "gateway") }
    pub fn system(self) -> &'a str { read(self.0, "system") }
    pub fn secret_ref(self) -> Option<g::core::v1::SecretReferenceView<'a>> { find(self.0, "secretRef") }
    pub fn ssl_enabled(self) -> bool { read(self.0, "sslEnabled") }
    pub fn protection_domain(self) -> &'a str { read(self.0, "protectionDomain") }
    pub fn storage_pool(self) -> &'a str { read(self.0, "storagePool") }
    pub fn storage_mode(self) -> &'a str { read(self.0, "storageMode") }
    pub fn volume_name(self) -> &'a str { read(self.0, "volumeName") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
}
impl ScaleIOPersistentVolumeSource {
    pub fn set_gateway(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "gateway", value.into_field()) }
    pub fn with_gateway(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "gateway", value.into_field()); self }
    pub fn set_system(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "system", value.into_field()) }
    pub fn with_system(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "system", value.into_field()); self }
    pub fn edit_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecretReference) -> R) -> R { edit(&mut self.0, "secretRef", change) }
    pub fn set_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::SecretReference>) { set(&mut self.0, "secretRef", value.into_field()) }
    pub fn with_secret_ref(mut self, value: impl o::IntoField<g::core::v1::SecretReference>) -> Self { set(&mut self.0, "secretRef", value.into_field()); self }
    pub fn set_ssl_enabled(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "sslEnabled", value.into_field()) }
    pub fn with_ssl_enabled(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "sslEnabled", value.into_field()); self }
    pub fn set_protection_domain(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "protectionDomain", value.into_field()) }
    pub fn with_protection_domain(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "protectionDomain", value.into_field()); self }
    pub fn set_storage_pool(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "storagePool", value.into_field()) }
    pub fn with_storage_pool(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "storagePool", value.into_field()); self }
    pub fn set_storage_mode(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "storageMode", value.into_field()) }
    pub fn with_storage_mode(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "storageMode", value.into_field()); self }
    pub fn set_volume_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeName", value.into_field()) }
    pub fn with_volume_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeName", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
}

object!(ScaleIOVolumeSource, ScaleIOVolumeSourceView);
part!(ScaleIOVolumeSource);
impl<'a> ScaleIOVolumeSourceView<'a> {
    pub fn gateway(self) -> &'a str { read(self.0, "gateway") }
    pub fn system(self) -> &'a str { read(self.0, "system") }
    pub fn secret_ref(self) -> Option<g::core::v1::LocalObjectReferenceView<'a>> { find(self.0, "secretRef") }
    pub fn ssl_enabled(self) -> bool { read(self.0, "sslEnabled") }
    pub fn protection_domain(self) -> &'a str { read(self.0, "protectionDomain") }
    pub fn storage_pool(self) -> &'a str { read(self.0, "storagePool") }
    pub fn storage_mode(self) -> &'a str { read(self.0, "storageMode") }
    pub fn volume_name(self) -> &'a str { read(self.0, "volumeName") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
}
impl ScaleIOVolumeSource {
    pub fn set_gateway(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "gateway", value.into_field()) }
    pub fn with_gateway(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "gateway", value.into_field()); self }
    pub fn set_system(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "system", value.into_field()) }
    pub fn with_system(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "system", value.into_field()); self }
    pub fn edit_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::LocalObjectReference) -> R) -> R { edit(&mut self.0, "secretRef", change) }
    pub fn set_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::LocalObjectReference>) { set(&mut self.0, "secretRef", value.into_field()) }
    pub fn with_secret_ref(mut self, value: impl o::IntoField<g::core::v1::LocalObjectReference>) -> Self { set(&mut self.0, "secretRef", value.into_field()); self }
    pub fn set_ssl_enabled(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "sslEnabled", value.into_field()) }
    pub fn with_ssl_enabled(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "sslEnabled", value.into_field()); self }
    pub fn set_protection_domain(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "protectionDomain", value.into_field()) }
    pub fn with_protection_domain(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "protectionDomain", value.into_field()); self }
    pub fn set_storage_pool(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "storagePool", value.into_field()) }
    pub fn with_storage_pool(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "storagePool", value.into_field()); self }
    pub fn set_storage_mode(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "storageMode", value.into_field()) }
    pub fn with_storage_mode(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "storageMode", value.into_field()); self }
    pub fn set_volume_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeName", value.into_field()) }
    pub fn with_volume_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeName", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
}

object!(ScopeSelector, ScopeSelectorView);
part!(ScopeSelector);
impl<'a> ScopeSelectorView<'a> {
    pub fn match_expressions(self) -> r::List<'a, g::core::v1::ScopedResourceSelectorRequirementView<'a>> { read(self.0, "matchExpressions") }
}
impl ScopeSelector {
    pub fn push_match_expressions(&mut self, item: impl o::IntoField<g::core::v1::ScopedResourceSelectorRequirement>) { push(&mut self.0, "matchExpressions", item) }
    pub fn set_match_expressions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ScopedResourceSelectorRequirement>>) { set_list(&mut self.0, "matchExpressions", value) }
    pub fn with_match_expressions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ScopedResourceSelectorRequirement>>) -> Self { set_list(&mut self.0, "matchExpressions", value); self }
}

object!(ScopedResourceSelectorRequirement, ScopedResourceSelectorRequirementView);
part!(ScopedResourceSelectorRequirement);
impl<'a> ScopedResourceSelectorRequirementView<'a> {
    pub fn scope_name(self) -> &'a str { read(self.0, "scopeName") }
    pub fn operator(self) -> &'a str { read(self.0, "operator") }
    pub fn values(self) -> r::List<'a, &'a str> { read(self.0, "values") }
}
impl ScopedResourceSelectorRequirement {
    pub fn set_scope_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "scopeName", value.into_field()) }
    pub fn with_scope_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "scopeName", value.into_field()); self }
    pub fn set_operator(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "operator", value.into_field()) }
    pub fn with_operator(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "operator", value.into_field()); self }
    pub fn push_values(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "values", item) }
    pub fn set_values(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "values", value) }
    pub fn with_values(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "values", value); self }
}

object!(SeccompProfile, SeccompProfileView);
part!(SeccompProfile);
impl<'a> SeccompProfileView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn localhost_profile(self) -> Option<&'a str> { find(self.0, "localhostProfile") }
}
impl SeccompProfile {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_localhost_profile(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "localhostProfile", value.into_field()) }
    pub fn with_localhost_profile(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "localhostProfile", value.into_field()); self }
}

object!(Secret, SecretView);
kind!(Secret, "", "v1", "v1", "secrets");
impl<'a> SecretView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn immutable(self) -> Option<bool> { find(self.0, "immutable") }
    pub fn data(self) -> r::Map<'a, r::Base64<'a>> { read(self.0, "data") }
    pub fn string_data(self) -> r::Map<'a, &'a str> { read(self.0, "stringData") }
    pub fn type_(self) -> &'a str { read(self.0, "type") }
}
impl Secret {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn set_immutable(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "immutable", value.into_field()) }
    pub fn with_immutable(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "immutable", value.into_field()); self }
    pub fn insert_data(&mut self, key: &str, value: impl o::IntoField<o::Bytes>) { insert(&mut self.0, "data", key, value) }
    pub fn set_data(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Bytes>)>) { set_map(&mut self.0, "data", value) }
    pub fn with_data(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Bytes>)>) -> Self { set_map(&mut self.0, "data", value); self }
    pub fn insert_string_data(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "stringData", key, value) }
    pub fn set_string_data(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "stringData", value) }
    pub fn with_string_data(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "stringData", value); self }
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
}

object!(SecretEnvSource, SecretEnvSourceView);
part!(SecretEnvSource);
impl<'a> SecretEnvSourceView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn optional(self) -> Option<bool> { find(self.0, "optional") }
}
impl SecretEnvSource {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_optional(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "optional", value.into_field()) }
    pub fn with_optional(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "optional", value.into_field()); self }
}

object!(SecretKeySelector, SecretKeySelectorView);
part!(SecretKeySelector);
impl<'a> SecretKeySelectorView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn key(self) -> &'a str { read(self.0, "key") }
    pub fn optional(self) -> Option<bool> { find(self.0, "optional") }
}
impl SecretKeySelector {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "key", value.into_field()) }
    pub fn with_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "key", value.into_field()); self }
    pub fn set_optional(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "optional", value.into_field()) }
    pub fn with_optional(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "optional", value.into_field()); self }
}

object!(SecretList, SecretListView);
part!(SecretList);
impl<'a> SecretListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::core::v1::SecretView<'a>> { read(self.0, "items") }
}
impl SecretList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::Secret>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Secret>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Secret>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(SecretProjection, SecretProjectionView);
part!(SecretProjection);
impl<'a> SecretProjectionView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn items(self) -> r::List<'a, g::core::v1::KeyToPathView<'a>> { read(self.0, "items") }
    pub fn optional(self) -> Option<bool> { find(self.0, "optional") }
}
impl SecretProjection {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::KeyToPath>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::KeyToPath>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::KeyToPath>>) -> Self { set_list(&mut self.0, "items", value); self }
    pub fn set_optional(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "optional", value.into_field()) }
    pub fn with_optional(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "optional", value.into_field()); self }
}

object!(SecretReference, SecretReferenceView);
part!(SecretReference);
impl<'a> SecretReferenceView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn namespace(self) -> &'a str { read(self.0, "namespace") }
}
impl SecretReference {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "namespace", value.into_field()) }
    pub fn with_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "namespace", value.into_field()); self }
}

object!(SecretVolumeSource, SecretVolumeSourceView);
part!(SecretVolumeSource);
impl<'a> SecretVolumeSourceView<'a> {
    pub fn secret_name(self) -> &'a str { read(self.0, "secretName") }
    pub fn items(self) -> r::List<'a, g::core::v1::KeyToPathView<'a>> { read(self.0, "items") }
    pub fn default_mode(self) -> Option<i32> { find(self.0, "defaultMode") }
    pub fn optional(self) -> Option<bool> { find(self.0, "optional") }
}
impl SecretVolumeSource {
    pub fn set_secret_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "secretName", value.into_field()) }
    pub fn with_secret_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "secretName", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::KeyToPath>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::KeyToPath>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::KeyToPath>>) -> Self { set_list(&mut self.0, "items", value); self }
    pub fn set_default_mode(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "defaultMode", value.into_field()) }
    pub fn with_default_mode(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "defaultMode", value.into_field()); self }
    pub fn set_optional(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "optional", value.into_field()) }
    pub fn with_optional(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "optional", value.into_field()); self }
}

object!(SecurityContext, SecurityContextView);
part!(SecurityContext);
impl<'a> SecurityContextView<'a> {
    pub fn capabilities(self) -> Option<g::core::v1::CapabilitiesView<'a>> { find(self.0, "capabilities") }
    pub fn privileged(self) -> Option<bool> { find(self.0, "privileged") }
    pub fn se_linux_options(self) -> Option<g::core::v1::SELinuxOptionsView<'a>> { find(self.0, "seLinuxOptions") }
    pub fn windows_options(self) -> Option<g::core::v1::WindowsSecurityContextOptionsView<'a>> { find(self.0, "windowsOptions") }
    pub fn run_as_user(self) -> Option<i64> { find(self.0, "runAsUser") }
    pub fn run_as_group(self) -> Option<i64> { find(self.0, "runAsGroup") }
    pub fn run_as_non_root(self) -> Option<bool> { find(self.0, "runAsNonRoot") }
    pub fn read_only_root_filesystem(self) -> Option<bool> { find(self.0, "readOnlyRootFilesystem") }
    pub fn allow_privilege_escalation(self) -> Option<bool> { find(self.0, "allowPrivilegeEscalation") }
    pub fn proc_mount(self) -> Option<&'a str> { find(self.0, "procMount") }
    pub fn seccomp_profile(self) -> Option<g::core::v1::SeccompProfileView<'a>> { find(self.0, "seccompProfile") }
    pub fn app_armor_profile(self) -> Option<g::core::v1::AppArmorProfileView<'a>> { find(self.0, "appArmorProfile") }
}
impl SecurityContext {
    pub fn edit_capabilities<R>(&mut self, change: impl FnOnce(&mut g::core::v1::Capabilities) -> R) -> R { edit(&mut self.0, "capabilities", change) }
    pub fn set_capabilities(&mut self, value: impl o::IntoField<g::core::v1::Capabilities>) { set(&mut self.0, "capabilities", value.into_field()) }
    pub fn with_capabilities(mut self, value: impl o::IntoField<g::core::v1::Capabilities>) -> Self { set(&mut self.0, "capabilities", value.into_field()); self }
    pub fn set_privileged(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "privileged", value.into_field()) }
    pub fn with_privileged(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "privileged", value.into_field()); self }
    pub fn edit_se_linux_options<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SELinuxOptions) -> R) -> R { edit(&mut self.0, "seLinuxOptions", change) }
    pub fn set_se_linux_options(&mut self, value: impl o::IntoField<g::core::v1::SELinuxOptions>) { set(&mut self.0, "seLinuxOptions", value.into_field()) }
    pub fn with_se_linux_options(mut self, value: impl o::IntoField<g::core::v1::SELinuxOptions>) -> Self { set(&mut self.0, "seLinuxOptions", value.into_field()); self }
    pub fn edit_windows_options<R>(&mut self, change: impl FnOnce(&mut g::core::v1::WindowsSecurityContextOptions) -> R) -> R { edit(&mut self.0, "windowsOptions", change) }
    pub fn set_windows_options(&mut self, value: impl o::IntoField<g::core::v1::WindowsSecurityContextOptions>) { set(&mut self.0, "windowsOptions", value.into_field()) }
    pub fn with_windows_options(mut self, value: impl o::IntoField<g::core::v1::WindowsSecurityContextOptions>) -> Self { set(&mut self.0, "windowsOptions", value.into_field()); self }
    pub fn set_run_as_user(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "runAsUser", value.into_field()) }
    pub fn with_run_as_user(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "runAsUser", value.into_field()); self }
    pub fn set_run_as_group(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "runAsGroup", value.into_field()) }
    pub fn with_run_as_group(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "runAsGroup", value.into_field()); self }
    pub fn set_run_as_non_root(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "runAsNonRoot", value.into_field()) }
    pub fn with_run_as_non_root(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "runAsNonRoot", value.into_field()); self }
    pub fn set_read_only_root_filesystem(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnlyRootFilesystem", value.into_field()) }
    pub fn with_read_only_root_filesystem(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnlyRootFilesystem", value.into_field()); self }
    pub fn set_allow_privilege_escalation(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "allowPrivilegeEscalation", value.into_field()) }
    pub fn with_allow_privilege_escalation(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "allowPrivilegeEscalation", value.into_field()); self }
    pub fn set_proc_mount(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "procMount", value.into_field()) }
    pub fn with_proc_mount(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "procMount", value.into_field()); self }
    pub fn edit_seccomp_profile<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SeccompProfile) -> R) -> R { edit(&mut self.0, "seccompProfile", change) }
    pub fn set_seccomp_profile(&mut self, value: impl o::IntoField<g::core::v1::SeccompProfile>) { set(&mut self.0, "seccompProfile", value.into_field()) }
    pub fn with_seccomp_profile(mut self, value: impl o::IntoField<g::core::v1::SeccompProfile>) -> Self { set(&mut self.0, "seccompProfile", value.into_field()); self }
    pub fn edit_app_armor_profile<R>(&mut self, change: impl FnOnce(&mut g::core::v1::AppArmorProfile) -> R) -> R { edit(&mut self.0, "appArmorProfile", change) }
    pub fn set_app_armor_profile(&mut self, value: impl o::IntoField<g::core::v1::AppArmorProfile>) { set(&mut self.0, "appArmorProfile", value.into_field()) }
    pub fn with_app_armor_profile(mut self, value: impl o::IntoField<g::core::v1::AppArmorProfile>) -> Self { set(&mut self.0, "appArmorProfile", value.into_field()); self }
}

object!(SerializedReference, SerializedReferenceView);
part!(SerializedReference);
impl<'a> SerializedReferenceView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn reference(self) -> g::core::v1::ObjectReferenceView<'a> { read(self.0, "reference") }
}
impl SerializedReference {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_reference<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ObjectReference) -> R) -> R { edit(&mut self.0, "reference", change) }
    pub fn set_reference(&mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) { set(&mut self.0, "reference", value.into_field()) }
    pub fn with_reference(mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) -> Self { set(&mut self.0, "reference", value.into_field()); self }
}

object!(Service, ServiceView);
kind!(Service, "", "v1", "v1", "services");
impl<'a> ServiceView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::core::v1::ServiceSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::core::v1::ServiceStatusView<'a> { read(self.0, "status") }
}
impl Service {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ServiceSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::core::v1::ServiceSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::core::v1::ServiceSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ServiceStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::core::v1::ServiceStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::core::v1::ServiceStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(ServiceAccount, ServiceAccountView);
kind!(ServiceAccount, "", "v1", "v1", "serviceaccounts");
impl<'a> ServiceAccountView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn secrets(self) -> r::List<'a, g::core::v1::ObjectReferenceView<'a>> { read(self.0, "secrets") }
    pub fn image_pull_secrets(self) -> r::List<'a, g::core::v1::LocalObjectReferenceView<'a>> { read(self.0, "imagePullSecrets") }
    pub fn automount_service_account_token(self) -> Option<bool> { find(self.0, "automountServiceAccountToken") }
}
impl ServiceAccount {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_secrets(&mut self, item: impl o::IntoField<g::core::v1::ObjectReference>) { push(&mut self.0, "secrets", item) }
    pub fn set_secrets(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ObjectReference>>) { set_list(&mut self.0, "secrets", value) }
    pub fn with_secrets(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ObjectReference>>) -> Self { set_list(&mut self.0, "secrets", value); self }
    pub fn push_image_pull_secrets(&mut self, item: impl o::IntoField<g::core::v1::LocalObjectReference>) { push(&mut self.0, "imagePullSecrets", item) }
    pub fn set_image_pull_secrets(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::LocalObjectReference>>) { set_list(&mut self.0, "imagePullSecrets", value) }
    pub fn with_image_pull_secrets(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::LocalObjectReference>>) -> Self { set_list(&mut self.0, "imagePullSecrets", value); self }
    pub fn set_automount_service_account_token(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "automountServiceAccountToken", value.into_field()) }
    pub fn with_automount_service_account_token(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "automountServiceAccountToken", value.into_field()); self }
}

object!(ServiceAccountList, ServiceAccountListView);
part!(ServiceAccountList);
impl<'a> ServiceAccountListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::core::v1::ServiceAccountView<'a>> { read(self.0, "items") }
}
impl ServiceAccountList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::ServiceAccount>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ServiceAccount>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ServiceAccount>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(ServiceAccountTokenProjection, ServiceAccountTokenProjectionView);
part!(ServiceAccountTokenProjection);
impl<'a> ServiceAccountTokenProjectionView<'a> {
    pub fn audience(self) -> &'a str { read(self.0, "audience") }
    pub fn expiration_seconds(self) -> Option<i64> { find(self.0, "expirationSeconds") }
    pub fn path(self) -> &'a str { read(self.0, "path") }
}
impl ServiceAccountTokenProjection {
    pub fn set_audience(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "audience", value.into_field()) }
    pub fn with_audience(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "audience", value.into_field()); self }
    pub fn set_expiration_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "expirationSeconds", value.into_field()) }
    pub fn with_expiration_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "expirationSeconds", value.into_field()); self }
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
}

object!(ServiceList, ServiceListView);
part!(ServiceList);
impl<'a> ServiceListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::core::v1::ServiceView<'a>> { read(self.0, "items") }
}
impl ServiceList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::core::v1::Service>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Service>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Service>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(ServicePort, ServicePortView);
part!(ServicePort);
impl<'a> ServicePortView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn protocol(self) -> &'a str { read(self.0, "protocol") }
    pub fn app_protocol(self) -> Option<&'a str> { find(self.0, "appProtocol") }
    pub fn port(self) -> i32 { read(self.0, "port") }
    pub fn target_port(self) -> Option<r::IntOrString<'a>> { find(self.0, "targetPort") }
    pub fn node_port(self) -> i32 { read(self.0, "nodePort") }
}
impl ServicePort {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_protocol(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "protocol", value.into_field()) }
    pub fn with_protocol(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "protocol", value.into_field()); self }
    pub fn set_app_protocol(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "appProtocol", value.into_field()) }
    pub fn with_app_protocol(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "appProtocol", value.into_field()); self }
    pub fn set_port(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "port", value.into_field()) }
    pub fn with_port(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "port", value.into_field()); self }
    pub fn set_target_port(&mut self, value: impl o::IntoField<r::IntOrString<'static>>) { set(&mut self.0, "targetPort", value.into_field()) }
    pub fn with_target_port(mut self, value: impl o::IntoField<r::IntOrString<'static>>) -> Self { set(&mut self.0, "targetPort", value.into_field()); self }
    pub fn set_node_port(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "nodePort", value.into_field()) }
    pub fn with_node_port(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "nodePort", value.into_field()); self }
}

object!(ServiceProxyOptions, ServiceProxyOptionsView);
part!(ServiceProxyOptions);
impl<'a> ServiceProxyOptionsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn path(self) -> &'a str { read(self.0, "path") }
}
impl ServiceProxyOptions {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
}

object!(ServiceSpec, ServiceSpecView);
part!(ServiceSpec);
impl<'a> ServiceSpecView<'a> {
    pub fn ports(self) -> r::List<'a, g::core::v1::ServicePortView<'a>> { read(self.0, "ports") }
    pub fn selector(self) -> r::Map<'a, &'a str> { read(self.0, "selector") }
    pub fn cluster_ip(self) -> &'a str { read(self.0, "clusterIP") }
    pub fn cluster_ips(self) -> r::List<'a, &'a str> { read(self.0, "clusterIPs") }
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn external_ips(self) -> r::List<'a, &'a str> { read(self.0, "externalIPs") }
    pub fn session_affinity(self) -> &'a str { read(self.0, "sessionAffinity") }
    pub fn load_balancer_ip(self) -> &'a str { read(self.0, "loadBalancerIP") }
    pub fn load_balancer_source_ranges(self) -> r::List<'a, &'a str> { read(self.0, "loadBalancerSourceRanges") }
    pub fn external_name(self) -> &'a str { read(self.0, "externalName") }
    pub fn external_traffic_policy(self) -> &'a str { read(self.0, "externalTrafficPolicy") }
    pub fn health_check_node_port(self) -> i32 { read(self.0, "healthCheckNodePort") }
    pub fn publish_not_ready_addresses(self) -> bool { read(self.0, "publishNotReadyAddresses") }
    pub fn session_affinity_config(self) -> Option<g::core::v1::SessionAffinityConfigView<'a>> { find(self.0, "sessionAffinityConfig") }
    pub fn ip_families(self) -> r::List<'a, &'a str> { read(self.0, "ipFamilies") }
    pub fn ip_family_policy(self) -> Option<&'a str> { find(self.0, "ipFamilyPolicy") }
    pub fn allocate_load_balancer_node_ports(self) -> Option<bool> { find(self.0, "allocateLoadBalancerNodePorts") }
    pub fn load_balancer_class(self) -> Option<&'a str> { find(self.0, "loadBalancerClass") }
    pub fn internal_traffic_policy(self) -> Option<&'a str> { find(self.0, "internalTrafficPolicy") }
    pub fn traffic_distribution(self) -> Option<&'a str> { find(self.0, "trafficDistribution") }
}
impl ServiceSpec {
    pub fn push_ports(&mut self, item: impl o::IntoField<g::core::v1::ServicePort>) { push(&mut self.0, "ports", item) }
    pub fn set_ports(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ServicePort>>) { set_list(&mut self.0, "ports", value) }
    pub fn with_ports(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ServicePort>>) -> Self { set_list(&mut self.0, "ports", value); self }
    pub fn insert_selector(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "selector", key, value) }
    pub fn set_selector(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "selector", value) }
    pub fn with_selector(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "selector", value); self }
    pub fn set_cluster_ip(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "clusterIP", value.into_field()) }
    pub fn with_cluster_ip(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "clusterIP", value.into_field()); self }
    pub fn push_cluster_ips(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "clusterIPs", item) }
    pub fn set_cluster_ips(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "clusterIPs", value) }
    pub fn with_cluster_ips(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "clusterIPs", value); self }
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn push_external_ips(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "externalIPs", item) }
    pub fn set_external_ips(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "externalIPs", value) }
    pub fn with_external_ips(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "externalIPs", value); self }
    pub fn set_session_affinity(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "sessionAffinity", value.into_field()) }
    pub fn with_session_affinity(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "sessionAffinity", value.into_field()); self }
    pub fn set_load_balancer_ip(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "loadBalancerIP", value.into_field()) }
    pub fn with_load_balancer_ip(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "loadBalancerIP", value.into_field()); self }
    pub fn push_load_balancer_source_ranges(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "loadBalancerSourceRanges", item) }
    pub fn set_load_balancer_source_ranges(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "loadBalancerSourceRanges", value) }
    pub fn with_load_balancer_source_ranges(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "loadBalancerSourceRanges", value); self }
    pub fn set_external_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "externalName", value.into_field()) }
    pub fn with_external_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "externalName", value.into_field()); self }
    pub fn set_external_traffic_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "externalTrafficPolicy", value.into_field()) }
    pub fn with_external_traffic_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "externalTrafficPolicy", value.into_field()); self }
    pub fn set_health_check_node_port(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "healthCheckNodePort", value.into_field()) }
    pub fn with_health_check_node_port(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "healthCheckNodePort", value.into_field()); self }
    pub fn set_publish_not_ready_addresses(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "publishNotReadyAddresses", value.into_field()) }
    pub fn with_publish_not_ready_addresses(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "publishNotReadyAddresses", value.into_field()); self }
    pub fn edit_session_affinity_config<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SessionAffinityConfig) -> R) -> R { edit(&mut self.0, "sessionAffinityConfig", change) }
    pub fn set_session_affinity_config(&mut self, value: impl o::IntoField<g::core::v1::SessionAffinityConfig>) { set(&mut self.0, "sessionAffinityConfig", value.into_field()) }
    pub fn with_session_affinity_config(mut self, value: impl o::IntoField<g::core::v1::SessionAffinityConfig>) -> Self { set(&mut self.0, "sessionAffinityConfig", value.into_field()); self }
    pub fn push_ip_families(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "ipFamilies", item) }
    pub fn set_ip_families(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "ipFamilies", value) }
    pub fn with_ip_families(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "ipFamilies", value); self }
    pub fn set_ip_family_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "ipFamilyPolicy", value.into_field()) }
    pub fn with_ip_family_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "ipFamilyPolicy", value.into_field()); self }
    pub fn set_allocate_load_balancer_node_ports(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "allocateLoadBalancerNodePorts", value.into_field()) }
    pub fn with_allocate_load_balancer_node_ports(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "allocateLoadBalancerNodePorts", value.into_field()); self }
    pub fn set_load_balancer_class(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "loadBalancerClass", value.into_field()) }
    pub fn with_load_balancer_class(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "loadBalancerClass", value.into_field()); self }
    pub fn set_internal_traffic_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "internalTrafficPolicy", value.into_field()) }
    pub fn with_internal_traffic_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "internalTrafficPolicy", value.into_field()); self }
    pub fn set_traffic_distribution(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "trafficDistribution", value.into_field()) }
    pub fn with_traffic_distribution(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "trafficDistribution", value.into_field()); self }
}

object!(ServiceStatus, ServiceStatusView);
part!(ServiceStatus);
impl<'a> ServiceStatusView<'a> {
    pub fn load_balancer(self) -> g::core::v1::LoadBalancerStatusView<'a> { read(self.0, "loadBalancer") }
    pub fn conditions(self) -> r::List<'a, g::meta::v1::ConditionView<'a>> { read(self.0, "conditions") }
}
impl ServiceStatus {
    pub fn edit_load_balancer<R>(&mut self, change: impl FnOnce(&mut g::core::v1::LoadBalancerStatus) -> R) -> R { edit(&mut self.0, "loadBalancer", change) }
    pub fn set_load_balancer(&mut self, value: impl o::IntoField<g::core::v1::LoadBalancerStatus>) { set(&mut self.0, "loadBalancer", value.into_field()) }
    pub fn with_load_balancer(mut self, value: impl o::IntoField<g::core::v1::LoadBalancerStatus>) -> Self { set(&mut self.0, "loadBalancer", value.into_field()); self }
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::meta::v1::Condition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::Condition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::Condition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
}

object!(SessionAffinityConfig, SessionAffinityConfigView);
part!(SessionAffinityConfig);
impl<'a> SessionAffinityConfigView<'a> {
    pub fn client_ip(self) -> Option<g::core::v1::ClientIPConfigView<'a>> { find(self.0, "clientIP") }
}
impl SessionAffinityConfig {
    pub fn edit_client_ip<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ClientIPConfig) -> R) -> R { edit(&mut self.0, "clientIP", change) }
    pub fn set_client_ip(&mut self, value: impl o::IntoField<g::core::v1::ClientIPConfig>) { set(&mut self.0, "clientIP", value.into_field()) }
    pub fn with_client_ip(mut self, value: impl o::IntoField<g::core::v1::ClientIPConfig>) -> Self { set(&mut self.0, "clientIP", value.into_field()); self }
}

object!(SleepAction, SleepActionView);
part!(SleepAction);
impl<'a> SleepActionView<'a> {
    pub fn seconds(self) -> i64 { read(self.0, "seconds") }
}
impl SleepAction {
    pub fn set_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "seconds", value.into_field()) }
    pub fn with_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "seconds", value.into_field()); self }
}

object!(StorageOSPersistentVolumeSource, StorageOSPersistentVolumeSourceView);
part!(StorageOSPersistentVolumeSource);
impl<'a> StorageOSPersistentVolumeSourceView<'a> {
    pub fn volume_name(self) -> &'a str { read(self.0, "volumeName") }
    pub fn volume_namespace(self) -> &'a str { read(self.0, "volumeNamespace") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
    pub fn secret_ref(self) -> Option<g::core::v1::ObjectReferenceView<'a>> { find(self.0, "secretRef") }
}
impl StorageOSPersistentVolumeSource {
    pub fn set_volume_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeName", value.into_field()) }
    pub fn with_volume_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeName", value.into_field()); self }
    pub fn set_volume_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeNamespace", value.into_field()) }
    pub fn with_volume_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeNamespace", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn edit_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ObjectReference) -> R) -> R { edit(&mut self.0, "secretRef", change) }
    pub fn set_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) { set(&mut self.0, "secretRef", value.into_field()) }
    pub fn with_secret_ref(mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) -> Self { set(&mut self.0, "secretRef", value.into_field()); self }
}

object!(StorageOSVolumeSource, StorageOSVolumeSourceView);
part!(StorageOSVolumeSource);
impl<'a> StorageOSVolumeSourceView<'a> {
    pub fn volume_name(self) -> &'a str { read(self.0, "volumeName") }
    pub fn volume_namespace(self) -> &'a str { read(self.0, "volumeNamespace") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
    pub fn secret_ref(self) -> Option<g::core::v1::LocalObjectReferenceView<'a>> { find(self.0, "secretRef") }
}
impl StorageOSVolumeSource {
    pub fn set_volume_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeName", value.into_field()) }
    pub fn with_volume_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeName", value.into_field()); self }
    pub fn set_volume_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumeNamespace", value.into_field()) }
    pub fn with_volume_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumeNamespace", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn edit_secret_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::LocalObjectReference) -> R) -> R { edit(&mut self.0, "secretRef", change) }
    pub fn set_secret_ref(&mut self, value: impl o::IntoField<g::core::v1::LocalObjectReference>) { set(&mut self.0, "secretRef", value.into_field()) }
    pub fn with_secret_ref(mut self, value: impl o::IntoField<g::core::v1::LocalObjectReference>) -> Self { set(&mut self.0, "secretRef", value.into_field()); self }
}

object!(Sysctl, SysctlView);
part!(Sysctl);
impl<'a> SysctlView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn value_(self) -> &'a str { read(self.0, "value") }
}
impl Sysctl {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_value(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "value", value.into_field()) }
    pub fn with_value(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "value", value.into_field()); self }
}

object!(TCPSocketAction, TCPSocketActionView);
part!(TCPSocketAction);
impl<'a> TCPSocketActionView<'a> {
    pub fn port(self) -> Option<r::IntOrString<'a>> { find(self.0, "port") }
    pub fn host(self) -> &'a str { read(self.0, "host") }
}
impl TCPSocketAction {
    pub fn set_port(&mut self, value: impl o::IntoField<r::IntOrString<'static>>) { set(&mut self.0, "port", value.into_field()) }
    pub fn with_port(mut self, value: impl o::IntoField<r::IntOrString<'static>>) -> Self { set(&mut self.0, "port", value.into_field()); self }
    pub fn set_host(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "host", value.into_field()) }
    pub fn with_host(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "host", value.into_field()); self }
}

object!(Taint, TaintView);
part!(Taint);
impl<'a> TaintView<'a> {
    pub fn key(self) -> &'a str { read(self.0, "key") }
    pub fn value_(self) -> &'a str { read(self.0, "value") }
    pub fn effect(self) -> &'a str { read(self.0, "effect") }
    pub fn time_added(self) -> Option<r::Timestamp> { find(self.0, "timeAdded") }
}
impl Taint {
    pub fn set_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "key", value.into_field()) }
    pub fn with_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "key", value.into_field()); self }
    pub fn set_value(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "value", value.into_field()) }
    pub fn with_value(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "value", value.into_field()); self }
    pub fn set_effect(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "effect", value.into_field()) }
    pub fn with_effect(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "effect", value.into_field()); self }
    pub fn set_time_added(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "timeAdded", value.into_field()) }
    pub fn with_time_added(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "timeAdded", value.into_field()); self }
}

object!(Toleration, TolerationView);
part!(Toleration);
impl<'a> TolerationView<'a> {
    pub fn key(self) -> &'a str { read(self.0, "key") }
    pub fn operator(self) -> &'a str { read(self.0, "operator") }
    pub fn value_(self) -> &'a str { read(self.0, "value") }
    pub fn effect(self) -> &'a str { read(self.0, "effect") }
    pub fn toleration_seconds(self) -> Option<i64> { find(self.0, "tolerationSeconds") }
}
impl Toleration {
    pub fn set_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "key", value.into_field()) }
    pub fn with_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "key", value.into_field()); self }
    pub fn set_operator(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "operator", value.into_field()) }
    pub fn with_operator(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "operator", value.into_field()); self }
    pub fn set_value(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "value", value.into_field()) }
    pub fn with_value(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "value", value.into_field()); self }
    pub fn set_effect(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "effect", value.into_field()) }
    pub fn with_effect(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "effect", value.into_field()); self }
    pub fn set_toleration_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "tolerationSeconds", value.into_field()) }
    pub fn with_toleration_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "tolerationSeconds", value.into_field()); self }
}

object!(TopologySelectorLabelRequirement, TopologySelectorLabelRequirementView);
part!(TopologySelectorLabelRequirement);
impl<'a> TopologySelectorLabelRequirementView<'a> {
    pub fn key(self) -> &'a str { read(self.0, "key") }
    pub fn values(self) -> r::List<'a, &'a str> { read(self.0, "values") }
}
impl TopologySelectorLabelRequirement {
    pub fn set_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "key", value.into_field()) }
    pub fn with_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "key", value.into_field()); self }
    pub fn push_values(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "values", item) }
    pub fn set_values(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "values", value) }
    pub fn with_values(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "values", value); self }
}

object!(TopologySelectorTerm, TopologySelectorTermView);
part!(TopologySelectorTerm);
impl<'a> TopologySelectorTermView<'a> {
    pub fn match_label_expressions(self) -> r::List<'a, g::core::v1::TopologySelectorLabelRequirementView<'a>> { read(self.0, "matchLabelExpressions") }
}
impl TopologySelectorTerm {
    pub fn push_match_label_expressions(&mut self, item: impl o::IntoField<g::core::v1::TopologySelectorLabelRequirement>) { push(&mut self.0, "matchLabelExpressions", item) }
    pub fn set_match_label_expressions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::TopologySelectorLabelRequirement>>) { set_list(&mut self.0, "matchLabelExpressions", value) }
    pub fn with_match_label_expressions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::TopologySelectorLabelRequirement>>) -> Self { set_list(&mut self.0, "matchLabelExpressions", value); self }
}

object!(TopologySpreadConstraint, TopologySpreadConstraintView);
part!(TopologySpreadConstraint);
impl<'a> TopologySpreadConstraintView<'a> {
    pub fn max_skew(self) -> i32 { read(self.0, "maxSkew") }
    pub fn topology_key(self) -> &'a str { read(self.0, "topologyKey") }
    pub fn when_unsatisfiable(self) -> &'a str { read(self.0, "whenUnsatisfiable") }
    pub fn label_selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "labelSelector") }
    pub fn min_domains(self) -> Option<i32> { find(self.0, "minDomains") }
    pub fn node_affinity_policy(self) -> Option<&'a str> { find(self.0, "nodeAffinityPolicy") }
    pub fn node_taints_policy(self) -> Option<&'a str> { find(self.0, "nodeTaintsPolicy") }
    pub fn match_label_keys(self) -> r::List<'a, &'a str> { read(self.0, "matchLabelKeys") }
}
impl TopologySpreadConstraint {
    pub fn set_max_skew(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "maxSkew", value.into_field()) }
    pub fn with_max_skew(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "maxSkew", value.into_field()); self }
    pub fn set_topology_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "topologyKey", value.into_field()) }
    pub fn with_topology_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "topologyKey", value.into_field()); self }
    pub fn set_when_unsatisfiable(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "whenUnsatisfiable", value.into_field()) }
    pub fn with_when_unsatisfiable(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "whenUnsatisfiable", value.into_field()); self }
    pub fn edit_label_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "labelSelector", change) }
    pub fn set_label_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "labelSelector", value.into_field()) }
    pub fn with_label_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "labelSelector", value.into_field()); self }
    pub fn set_min_domains(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "minDomains", value.into_field()) }
    pub fn with_min_domains(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "minDomains", value.into_field()); self }
    pub fn set_node_affinity_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "nodeAffinityPolicy", value.into_field()) }
    pub fn with_node_affinity_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "nodeAffinityPolicy", value.into_field()); self }
    pub fn set_node_taints_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "nodeTaintsPolicy", value.into_field()) }
    pub fn with_node_taints_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "nodeTaintsPolicy", value.into_field()); self }
    pub fn push_match_label_keys(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "matchLabelKeys", item) }
    pub fn set_match_label_keys(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "matchLabelKeys", value) }
    pub fn with_match_label_keys(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "matchLabelKeys", value); self }
}

object!(TypedLocalObjectReference, TypedLocalObjectReferenceView);
part!(TypedLocalObjectReference);
impl<'a> TypedLocalObjectReferenceView<'a> {
    pub fn api_group(self) -> Option<&'a str> { find(self.0, "apiGroup") }
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
}
impl TypedLocalObjectReference {
    pub fn set_api_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiGroup", value.into_field()) }
    pub fn with_api_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiGroup", value.into_field()); self }
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
}

object!(TypedObjectReference, TypedObjectReferenceView);
part!(TypedObjectReference);
impl<'a> TypedObjectReferenceView<'a> {
    pub fn api_group(self) -> Option<&'a str> { find(self.0, "apiGroup") }
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn namespace(self) -> Option<&'a str> { find(self.0, "namespace") }
}
impl TypedObjectReference {
    pub fn set_api_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiGroup", value.into_field()) }
    pub fn with_api_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiGroup", value.into_field()); self }
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "namespace", value.into_field()) }
    pub fn with_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "namespace", value.into_field()); self }
}

object!(Volume, VolumeView);
part!(Volume);
impl<'a> VolumeView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn host_path(self) -> Option<g::core::v1::HostPathVolumeSourceView<'a>> { find(self.0, "hostPath") }
    pub fn empty_dir(self) -> Option<g::core::v1::EmptyDirVolumeSourceView<'a>> { find(self.0, "emptyDir") }
    pub fn gce_persistent_disk(self) -> Option<g::core::v1::GCEPersistentDiskVolumeSourceView<'a>> { find(self.0, "gcePersistentDisk") }
    pub fn aws_elastic_block_store(self) -> Option<g::core::v1::AWSElasticBlockStoreVolumeSourceView<'a>> { find(self.0, "awsElasticBlockStore") }
    pub fn git_repo(self) -> Option<g::core::v1::GitRepoVolumeSourceView<'a>> { find(self.0, "gitRepo") }
    pub fn secret(self) -> Option<g::core::v1::SecretVolumeSourceView<'a>> { find(self.0, "secret") }
    pub fn nfs(self) -> Option<g::core::v1::NFSVolumeSourceView<'a>> { find(self.0, "nfs") }
    pub fn iscsi(self) -> Option<g::core::v1::ISCSIVolumeSourceView<'a>> { find(self.0, "iscsi") }
    pub fn glusterfs(self) -> Option<g::core::v1::GlusterfsVolumeSourceView<'a>> { find(self.0, "glusterfs") }
    pub fn persistent_volume_claim(self) -> Option<g::core::v1::PersistentVolumeClaimVolumeSourceView<'a>> { find(self.0, "persistentVolumeClaim") }
    pub fn rbd(self) -> Option<g::core::v1::RBDVolumeSourceView<'a>> { find(self.0, "rbd") }
    pub fn flex_volume(self) -> Option<g::core::v1::FlexVolumeSourceView<'a>> { find(self.0, "flexVolume") }
    pub fn cinder(self) -> Option<g::core::v1::CinderVolumeSourceView<'a>> { find(self.0, "cinder") }
    pub fn cephfs(self) -> Option<g::core::v1::CephFSVolumeSourceView<'a>> { find(self.0, "cephfs") }
    pub fn flocker(self) -> Option<g::core::v1::FlockerVolumeSourceView<'a>> { find(self.0, "flocker") }
    pub fn downward_api(self) -> Option<g::core::v1::DownwardAPIVolumeSourceView<'a>> { find(self.0, "downwardAPI") }
    pub fn fc(self) -> Option<g::core::v1::FCVolumeSourceView<'a>> { find(self.0, "fc") }
    pub fn azure_file(self) -> Option<g::core::v1::AzureFileVolumeSourceView<'a>> { find(self.0, "azureFile") }
    pub fn config_map(self) -> Option<g::core::v1::ConfigMapVolumeSourceView<'a>> { find(self.0, "configMap") }
    pub fn vsphere_volume(self) -> Option<g::core::v1::VsphereVirtualDiskVolumeSourceView<'a>> { find(self.0, "vsphereVolume") }
    pub fn quobyte(self) -> Option<g::core::v1::QuobyteVolumeSourceView<'a>> { find(self.0, "quobyte") }
    pub fn azure_disk(self) -> Option<g::core::v1::AzureDiskVolumeSourceView<'a>> { find(self.0, "azureDisk") }
    pub fn photon_persistent_disk(self) -> Option<g::core::v1::PhotonPersistentDiskVolumeSourceView<'a>> { find(self.0, "photonPersistentDisk") }
    pub fn projected(self) -> Option<g::core::v1::ProjectedVolumeSourceView<'a>> { find(self.0, "projected") }
    pub fn portworx_volume(self) -> Option<g::core::v1::PortworxVolumeSourceView<'a>> { find(self.0, "portworxVolume") }
    pub fn scale_io(self) -> Option<g::core::v1::ScaleIOVolumeSourceView<'a>> { find(self.0, "scaleIO") }
    pub fn storageos(self) -> Option<g::core::v1::StorageOSVolumeSourceView<'a>> { find(self.0, "storageos") }
    pub fn csi(self) -> Option<g::core::v1::CSIVolumeSourceView<'a>> { find(self.0, "csi") }
    pub fn ephemeral(self) -> Option<g::core::v1::EphemeralVolumeSourceView<'a>> { find(self.0, "ephemeral") }
    pub fn image(self) -> Option<g::core::v1::ImageVolumeSourceView<'a>> { find(self.0, "image") }
}
impl Volume {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn edit_host_path<R>(&mut self, change: impl FnOnce(&mut g::core::v1::HostPathVolumeSource) -> R) -> R { edit(&mut self.0, "hostPath", change) }
    pub fn set_host_path(&mut self, value: impl o::IntoField<g::core::v1::HostPathVolumeSource>) { set(&mut self.0, "hostPath", value.into_field()) }
    pub fn with_host_path(mut self, value: impl o::IntoField<g::core::v1::HostPathVolumeSource>) -> Self { set(&mut self.0, "hostPath", value.into_field()); self }
    pub fn edit_empty_dir<R>(&mut self, change: impl FnOnce(&mut g::core::v1::EmptyDirVolumeSource) -> R) -> R { edit(&mut self.0, "emptyDir", change) }
    pub fn set_empty_dir(&mut self, value: impl o::IntoField<g::core::v1::EmptyDirVolumeSource>) { set(&mut self.0, "emptyDir", value.into_field()) }
    pub fn with_empty_dir(mut self, value: impl o::IntoField<g::core::v1::EmptyDirVolumeSource>) -> Self { set(&mut self.0, "emptyDir", value.into_field()); self }
    pub fn edit_gce_persistent_disk<R>(&mut self, change: impl FnOnce(&mut g::core::v1::GCEPersistentDiskVolumeSource) -> R) -> R { edit(&mut self.0, "gcePersistentDisk", change) }
    pub fn set_gce_persistent_disk(&mut self, value: impl o::IntoField<g::core::v1::GCEPersistentDiskVolumeSource>) { set(&mut self.0, "gcePersistentDisk", value.into_field()) }
    pub fn with_gce_persistent_disk(mut self, value: impl o::IntoField<g::core::v1::GCEPersistentDiskVolumeSource>) -> Self { set(&mut self.0, "gcePersistentDisk", value.into_field()); self }
    pub fn edit_aws_elastic_block_store<R>(&mut self, change: impl FnOnce(&mut g::core::v1::AWSElasticBlockStoreVolumeSource) -> R) -> R { edit(&mut self.0, "awsElasticBlockStore", change) }
    pub fn set_aws_elastic_block_store(&mut self, value: impl o::IntoField<g::core::v1::AWSElasticBlockStoreVolumeSource>) { set(&mut self.0, "awsElasticBlockStore", value.into_field()) }
    pub fn with_aws_elastic_block_store(mut self, value: impl o::IntoField<g::core::v1::AWSElasticBlockStoreVolumeSource>) -> Self { set(&mut self.0, "awsElasticBlockStore", value.into_field()); self }
    pub fn edit_git_repo<R>(&mut self, change: impl FnOnce(&mut g::core::v1::GitRepoVolumeSource) -> R) -> R { edit(&mut self.0, "gitRepo", change) }
    pub fn set_git_repo(&mut self, value: impl o::IntoField<g::core::v1::GitRepoVolumeSource>) { set(&mut self.0, "gitRepo", value.into_field()) }
    pub fn with_git_repo(mut self, value: impl o::IntoField<g::core::v1::GitRepoVolumeSource>) -> Self { set(&mut self.0, "gitRepo", value.into_field()); self }
    pub fn edit_secret<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecretVolumeSource) -> R) -> R { edit(&mut self.0, "secret", change) }
    pub fn set_secret(&mut self, value: impl o::IntoField<g::core::v1::SecretVolumeSource>) { set(&mut self.0, "secret", value.into_field()) }
    pub fn with_secret(mut self, value: impl o::IntoField<g::core::v1::SecretVolumeSource>) -> Self { set(&mut self.0, "secret", value.into_field()); self }
    pub fn edit_nfs<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NFSVolumeSource) -> R) -> R { edit(&mut self.0, "nfs", change) }
    pub fn set_nfs(&mut self, value: impl o::IntoField<g::core::v1::NFSVolumeSource>) { set(&mut self.0, "nfs", value.into_field()) }
    pub fn with_nfs(mut self, value: impl o::IntoField<g::core::v1::NFSVolumeSource>) -> Self { set(&mut self.0, "nfs", value.into_field()); self }
    pub fn edit_iscsi<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ISCSIVolumeSource) -> R) -> R { edit(&mut self.0, "iscsi", change) }
    pub fn set_iscsi(&mut self, value: impl o::IntoField<g::core::v1::ISCSIVolumeSource>) { set(&mut self.0, "iscsi", value.into_field()) }
    pub fn with_iscsi(mut self, value: impl o::IntoField<g::core::v1::ISCSIVolumeSource>) -> Self { set(&mut self.0, "iscsi", value.into_field()); self }
    pub fn edit_glusterfs<R>(&mut self, change: impl FnOnce(&mut g::core::v1::GlusterfsVolumeSource) -> R) -> R { edit(&mut self.0, "glusterfs", change) }
    pub fn set_glusterfs(&mut self, value: impl o::IntoField<g::core::v1::GlusterfsVolumeSource>) { set(&mut self.0, "glusterfs", value.into_field()) }
    pub fn with_glusterfs(mut self, value: impl o::IntoField<g::core::v1::GlusterfsVolumeSource>) -> Self { set(&mut self.0, "glusterfs", value.into_field()); self }
    pub fn edit_persistent_volume_claim<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PersistentVolumeClaimVolumeSource) -> R) -> R { edit(&mut self.0, "persistentVolumeClaim", change) }
    pub fn set_persistent_volume_claim(&mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeClaimVolumeSource>) { set(&mut self.0, "persistentVolumeClaim", value.into_field()) }
    pub fn with_persistent_volume_claim(mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeClaimVolumeSource>) -> Self { set(&mut self.0, "persistentVolumeClaim", value.into_field()); self }
    pub fn edit_rbd<R>(&mut self, change: impl FnOnce(&mut g::core::v1::RBDVolumeSource) -> R) -> R { edit(&mut self.0, "rbd", change) }
    pub fn set_rbd(&mut self, value: impl o::IntoField<g::core::v1::RBDVolumeSource>) { set(&mut self.0, "rbd", value.into_field()) }
    pub fn with_rbd(mut self, value: impl o::IntoField<g::core::v1::RBDVolumeSource>) -> Self { set(&mut self.0, "rbd", value.into_field()); self }
    pub fn edit_flex_volume<R>(&mut self, change: impl FnOnce(&mut g::core::v1::FlexVolumeSource) -> R) -> R { edit(&mut self.0, "flexVolume", change) }
    pub fn set_flex_volume(&mut self, value: impl o::IntoField<g::core::v1::FlexVolumeSource>) { set(&mut self.0, "flexVolume", value.into_field()) }
    pub fn with_flex_volume(mut self, value: impl o::IntoField<g::core::v1::FlexVolumeSource>) -> Self { set(&mut self.0, "flexVolume", value.into_field()); self }
    pub fn edit_cinder<R>(&mut self, change: impl FnOnce(&mut g::core::v1::CinderVolumeSource) -> R) -> R { edit(&mut self.0, "cinder", change) }
    pub fn set_cinder(&mut self, value: impl o::IntoField<g::core::v1::CinderVolumeSource>) { set(&mut self.0, "cinder", value.into_field()) }
    pub fn with_cinder(mut self, value: impl o::IntoField<g::core::v1::CinderVolumeSource>) -> Self { set(&mut self.0, "cinder", value.into_field()); self }
    pub fn edit_cephfs<R>(&mut self, change: impl FnOnce(&mut g::core::v1::CephFSVolumeSource) -> R) -> R { edit(&mut self.0, "cephfs", change) }
    pub fn set_cephfs(&mut self, value: impl o::IntoField<g::core::v1::CephFSVolumeSource>) { set(&mut self.0, "cephfs", value.into_field()) }
    pub fn with_cephfs(mut self, value: impl o::IntoField<g::core::v1::CephFSVolumeSource>) -> Self { set(&mut self.0, "cephfs", value.into_field()); self }
    pub fn edit_flocker<R>(&mut self, change: impl FnOnce(&mut g::core::v1::FlockerVolumeSource) -> R) -> R { edit(&mut self.0, "flocker", change) }
    pub fn set_flocker(&mut self, value: impl o::IntoField<g::core::v1::FlockerVolumeSource>) { set(&mut self.0, "flocker", value.into_field()) }
    pub fn with_flocker(mut self, value: impl o::IntoField<g::core::v1::FlockerVolumeSource>) -> Self { set(&mut self.0, "flocker", value.into_field()); self }
    pub fn edit_downward_api<R>(&mut self, change: impl FnOnce(&mut g::core::v1::DownwardAPIVolumeSource) -> R) -> R { edit(&mut self.0, "downwardAPI", change) }
    pub fn set_downward_api(&mut self, value: impl o::IntoField<g::core::v1::DownwardAPIVolumeSource>) { set(&mut self.0, "downwardAPI", value.into_field()) }
    pub fn with_downward_api(mut self, value: impl o::IntoField<g::core::v1::DownwardAPIVolumeSource>) -> Self { set(&mut self.0, "downwardAPI", value.into_field()); self }
    pub fn edit_fc<R>(&mut self, change: impl FnOnce(&mut g::core::v1::FCVolumeSource) -> R) -> R { edit(&mut self.0, "fc", change) }
    pub fn set_fc(&mut self, value: impl o::IntoField<g::core::v1::FCVolumeSource>) { set(&mut self.0, "fc", value.into_field()) }
    pub fn with_fc(mut self, value: impl o::IntoField<g::core::v1::FCVolumeSource>) -> Self { set(&mut self.0, "fc", value.into_field()); self }
    pub fn edit_azure_file<R>(&mut self, change: impl FnOnce(&mut g::core::v1::AzureFileVolumeSource) -> R) -> R { edit(&mut self.0, "azureFile", change) }
    pub fn set_azure_file(&mut self, value: impl o::IntoField<g::core::v1::AzureFileVolumeSource>) { set(&mut self.0, "azureFile", value.into_field()) }
    pub fn with_azure_file(mut self, value: impl o::IntoField<g::core::v1::AzureFileVolumeSource>) -> Self { set(&mut self.0, "azureFile", value.into_field()); self }
    pub fn edit_config_map<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ConfigMapVolumeSource) -> R) -> R { edit(&mut self.0, "configMap", change) }
    pub fn set_config_map(&mut self, value: impl o::IntoField<g::core::v1::ConfigMapVolumeSource>) { set(&mut self.0, "configMap", value.into_field()) }
    pub fn with_config_map(mut self, value: impl o::IntoField<g::core::v1::ConfigMapVolumeSource>) -> Self { set(&mut self.0, "configMap", value.into_field()); self }
    pub fn edit_vsphere_volume<R>(&mut self, change: impl FnOnce(&mut g::core::v1::VsphereVirtualDiskVolumeSource) -> R) -> R { edit(&mut self.0, "vsphereVolume", change) }
    pub fn set_vsphere_volume(&mut self, value: impl o::IntoField<g::core::v1::VsphereVirtualDiskVolumeSource>) { set(&mut self.0, "vsphereVolume", value.into_field()) }
    pub fn with_vsphere_volume(mut self, value: impl o::IntoField<g::core::v1::VsphereVirtualDiskVolumeSource>) -> Self { set(&mut self.0, "vsphereVolume", value.into_field()); self }
    pub fn edit_quobyte<R>(&mut self, change: impl FnOnce(&mut g::core::v1::QuobyteVolumeSource) -> R) -> R { edit(&mut self.0, "quobyte", change) }
    pub fn set_quobyte(&mut self, value: impl o::IntoField<g::core::v1::QuobyteVolumeSource>) { set(&mut self.0, "quobyte", value.into_field()) }
    pub fn with_quobyte(mut self, value: impl o::IntoField<g::core::v1::QuobyteVolumeSource>) -> Self { set(&mut self.0, "quobyte", value.into_field()); self }
    pub fn edit_azure_disk<R>(&mut self, change: impl FnOnce(&mut g::core::v1::AzureDiskVolumeSource) -> R) -> R { edit(&mut self.0, "azureDisk", change) }
    pub fn set_azure_disk(&mut self, value: impl o::IntoField<g::core::v1::AzureDiskVolumeSource>) { set(&mut self.0, "azureDisk", value.into_field()) }
    pub fn with_azure_disk(mut self, value: impl o::IntoField<g::core::v1::AzureDiskVolumeSource>) -> Self { set(&mut self.0, "azureDisk", value.into_field()); self }
    pub fn edit_photon_persistent_disk<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PhotonPersistentDiskVolumeSource) -> R) -> R { edit(&mut self.0, "photonPersistentDisk", change) }
    pub fn set_photon_persistent_disk(&mut self, value: impl o::IntoField<g::core::v1::PhotonPersistentDiskVolumeSource>) { set(&mut self.0, "photonPersistentDisk", value.into_field()) }
    pub fn with_photon_persistent_disk(mut self, value: impl o::IntoField<g::core::v1::PhotonPersistentDiskVolumeSource>) -> Self { set(&mut self.0, "photonPersistentDisk", value.into_field()); self }
    pub fn edit_projected<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ProjectedVolumeSource) -> R) -> R { edit(&mut self.0, "projected", change) }
    pub fn set_projected(&mut self, value: impl o::IntoField<g::core::v1::ProjectedVolumeSource>) { set(&mut self.0, "projected", value.into_field()) }
    pub fn with_projected(mut self, value: impl o::IntoField<g::core::v1::ProjectedVolumeSource>) -> Self { set(&mut self.0, "projected", value.into_field()); self }
    pub fn edit_portworx_volume<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PortworxVolumeSource) -> R) -> R { edit(&mut self.0, "portworxVolume", change) }
    pub fn set_portworx_volume(&mut self, value: impl o::IntoField<g::core::v1::PortworxVolumeSource>) { set(&mut self.0, "portworxVolume", value.into_field()) }
    pub fn with_portworx_volume(mut self, value: impl o::IntoField<g::core::v1::PortworxVolumeSource>) -> Self { set(&mut self.0, "portworxVolume", value.into_field()); self }
    pub fn edit_scale_io<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ScaleIOVolumeSource) -> R) -> R { edit(&mut self.0, "scaleIO", change) }
    pub fn set_scale_io(&mut self, value: impl o::IntoField<g::core::v1::ScaleIOVolumeSource>) { set(&mut self.0, "scaleIO", value.into_field()) }
    pub fn with_scale_io(mut self, value: impl o::IntoField<g::core::v1::ScaleIOVolumeSource>) -> Self { set(&mut self.0, "scaleIO", value.into_field()); self }
    pub fn edit_storageos<R>(&mut self, change: impl FnOnce(&mut g::core::v1::StorageOSVolumeSource) -> R) -> R { edit(&mut self.0, "storageos", change) }
    pub fn set_storageos(&mut self, value: impl o::IntoField<g::core::v1::StorageOSVolumeSource>) { set(&mut self.0, "storageos", value.into_field()) }
    pub fn with_storageos(mut self, value: impl o::IntoField<g::core::v1::StorageOSVolumeSource>) -> Self { set(&mut self.0, "storageos", value.into_field()); self }
    pub fn edit_csi<R>(&mut self, change: impl FnOnce(&mut g::core::v1::CSIVolumeSource) -> R) -> R { edit(&mut self.0, "csi", change) }
    pub fn set_csi(&mut self, value: impl o::IntoField<g::core::v1::CSIVolumeSource>) { set(&mut self.0, "csi", value.into_field()) }
    pub fn with_csi(mut self, value: impl o::IntoField<g::core::v1::CSIVolumeSource>) -> Self { set(&mut self.0, "csi", value.into_field()); self }
    pub fn edit_ephemeral<R>(&mut self, change: impl FnOnce(&mut g::core::v1::EphemeralVolumeSource) -> R) -> R { edit(&mut self.0, "ephemeral", change) }
    pub fn set_ephemeral(&mut self, value: impl o::IntoField<g::core::v1::EphemeralVolumeSource>) { set(&mut self.0, "ephemeral", value.into_field()) }
    pub fn with_ephemeral(mut self, value: impl o::IntoField<g::core::v1::EphemeralVolumeSource>) -> Self { set(&mut self.0, "ephemeral", value.into_field()); self }
    pub fn edit_image<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ImageVolumeSource) -> R) -> R { edit(&mut self.0, "image", change) }
    pub fn set_image(&mut self, value: impl o::IntoField<g::core::v1::ImageVolumeSource>) { set(&mut self.0, "image", value.into_field()) }
    pub fn with_image(mut self, value: impl o::IntoField<g::core::v1::ImageVolumeSource>) -> Self { set(&mut self.0, "image", value.into_field()); self }
}

object!(VolumeDevice, VolumeDeviceView);
part!(VolumeDevice);
impl<'a> VolumeDeviceView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn device_path(self) -> &'a str { read(self.0, "devicePath") }
}
impl VolumeDevice {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_device_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "devicePath", value.into_field()) }
    pub fn with_device_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "devicePath", value.into_field()); self }
}

object!(VolumeMount, VolumeMountView);
part!(VolumeMount);
impl<'a> VolumeMountView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
    pub fn recursive_read_only(self) -> Option<&'a str> { find(self.0, "recursiveReadOnly") }
    pub fn mount_path(self) -> &'a str { read(self.0, "mountPath") }
    pub fn sub_path(self) -> &'a str { read(self.0, "subPath") }
    pub fn mount_propagation(self) -> Option<&'a str> { find(self.0, "mountPropagation") }
    pub fn sub_path_expr(self) -> &'a str { read(self.0, "subPathExpr") }
}
impl VolumeMount {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn set_recursive_read_only(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "recursiveReadOnly", value.into_field()) }
    pub fn with_recursive_read_only(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "recursiveReadOnly", value.into_field()); self }
    pub fn set_mount_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "mountPath", value.into_field()) }
    pub fn with_mount_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "mountPath", value.into_field()); self }
    pub fn set_sub_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "subPath", value.into_field()) }
    pub fn with_sub_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "subPath", value.into_field()); self }
    pub fn set_mount_propagation(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "mountPropagation", value.into_field()) }
    pub fn with_mount_propagation(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "mountPropagation", value.into_field()); self }
    pub fn set_sub_path_expr(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "subPathExpr", value.into_field()) }
    pub fn with_sub_path_expr(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "subPathExpr", value.into_field()); self }
}

object!(VolumeMountStatus, VolumeMountStatusView);
part!(VolumeMountStatus);
impl<'a> VolumeMountStatusView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn mount_path(self) -> &'a str { read(self.0, "mountPath") }
    pub fn read_only(self) -> bool { read(self.0, "readOnly") }
    pub fn recursive_read_only(self) -> Option<&'a str> { find(self.0, "recursiveReadOnly") }
    pub fn volume_status(self) -> Option<g::core::v1::VolumeStatusView<'a>> { find(self.0, "volumeStatus") }
}
impl VolumeMountStatus {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_mount_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "mountPath", value.into_field()) }
    pub fn with_mount_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "mountPath", value.into_field()); self }
    pub fn set_read_only(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "readOnly", value.into_field()) }
    pub fn with_read_only(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "readOnly", value.into_field()); self }
    pub fn set_recursive_read_only(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "recursiveReadOnly", value.into_field()) }
    pub fn with_recursive_read_only(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "recursiveReadOnly", value.into_field()); self }
    pub fn edit_volume_status<R>(&mut self, change: impl FnOnce(&mut g::core::v1::VolumeStatus) -> R) -> R { edit(&mut self.0, "volumeStatus", change) }
    pub fn set_volume_status(&mut self, value: impl o::IntoField<g::core::v1::VolumeStatus>) { set(&mut self.0, "volumeStatus", value.into_field()) }
    pub fn with_volume_status(mut self, value: impl o::IntoField<g::core::v1::VolumeStatus>) -> Self { set(&mut self.0, "volumeStatus", value.into_field()); self }
}

object!(VolumeNodeAffinity, VolumeNodeAffinityView);
part!(VolumeNodeAffinity);
impl<'a> VolumeNodeAffinityView<'a> {
    pub fn required(self) -> Option<g::core::v1::NodeSelectorView<'a>> { find(self.0, "required") }
}
impl VolumeNodeAffinity {
    pub fn edit_required<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeSelector) -> R) -> R { edit(&mut self.0, "required", change) }
    pub fn set_required(&mut self, value: impl o::IntoField<g::core::v1::NodeSelector>) { set(&mut self.0, "required", value.into_field()) }
    pub fn with_required(mut self, value: impl o::IntoField<g::core::v1::NodeSelector>) -> Self { set(&mut self.0, "required", value.into_field()); self }
}

object!(VolumeProjection, VolumeProjectionView);
part!(VolumeProjection);
impl<'a> VolumeProjectionView<'a> {
    pub fn secret(self) -> Option<g::core::v1::SecretProjectionView<'a>> { find(self.0, "secret") }
    pub fn downward_api(self) -> Option<g::core::v1::DownwardAPIProjectionView<'a>> { find(self.0, "downwardAPI") }
    pub fn config_map(self) -> Option<g::core::v1::ConfigMapProjectionView<'a>> { find(self.0, "configMap") }
    pub fn service_account_token(self) -> Option<g::core::v1::ServiceAccountTokenProjectionView<'a>> { find(self.0, "serviceAccountToken") }
    pub fn cluster_trust_bundle(self) -> Option<g::core::v1::ClusterTrustBundleProjectionView<'a>> { find(self.0, "clusterTrustBundle") }
    pub fn pod_certificate(self) -> Option<g::core::v1::PodCertificateProjectionView<'a>> { find(self.0, "podCertificate") }
}
impl VolumeProjection {
    pub fn edit_secret<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecretProjection) -> R) -> R { edit(&mut self.0, "secret", change) }
    pub fn set_secret(&mut self, value: impl o::IntoField<g::core::v1::SecretProjection>) { set(&mut self.0, "secret", value.into_field()) }
    pub fn with_secret(mut self, value: impl o::IntoField<g::core::v1::SecretProjection>) -> Self { set(&mut self.0, "secret", value.into_field()); self }
    pub fn edit_downward_api<R>(&mut self, change: impl FnOnce(&mut g::core::v1::DownwardAPIProjection) -> R) -> R { edit(&mut self.0, "downwardAPI", change) }
    pub fn set_downward_api(&mut self, value: impl o::IntoField<g::core::v1::DownwardAPIProjection>) { set(&mut self.0, "downwardAPI", value.into_field()) }
    pub fn with_downward_api(mut self, value: impl o::IntoField<g::core::v1::DownwardAPIProjection>) -> Self { set(&mut self.0, "downwardAPI", value.into_field()); self }
    pub fn edit_config_map<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ConfigMapProjection) -> R) -> R { edit(&mut self.0, "configMap", change) }
    pub fn set_config_map(&mut self, value: impl o::IntoField<g::core::v1::ConfigMapProjection>) { set(&mut self.0, "configMap", value.into_field()) }
    pub fn with_config_map(mut self, value: impl o::IntoField<g::core::v1::ConfigMapProjection>) -> Self { set(&mut self.0, "configMap", value.into_field()); self }
    pub fn edit_service_account_token<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ServiceAccountTokenProjection) -> R) -> R { edit(&mut self.0, "serviceAccountToken", change) }
    pub fn set_service_account_token(&mut self, value: impl o::IntoField<g::core::v1::ServiceAccountTokenProjection>) { set(&mut self.0, "serviceAccountToken", value.into_field()) }
    pub fn with_service_account_token(mut self, value: impl o::IntoField<g::core::v1::ServiceAccountTokenProjection>) -> Self { set(&mut self.0, "serviceAccountToken", value.into_field()); self }
    pub fn edit_cluster_trust_bundle<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ClusterTrustBundleProjection) -> R) -> R { edit(&mut self.0, "clusterTrustBundle", change) }
    pub fn set_cluster_trust_bundle(&mut self, value: impl o::IntoField<g::core::v1::ClusterTrustBundleProjection>) { set(&mut self.0, "clusterTrustBundle", value.into_field()) }
    pub fn with_cluster_trust_bundle(mut self, value: impl o::IntoField<g::core::v1::ClusterTrustBundleProjection>) -> Self { set(&mut self.0, "clusterTrustBundle", value.into_field()); self }
    pub fn edit_pod_certificate<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodCertificateProjection) -> R) -> R { edit(&mut self.0, "podCertificate", change) }
    pub fn set_pod_certificate(&mut self, value: impl o::IntoField<g::core::v1::PodCertificateProjection>) { set(&mut self.0, "podCertificate", value.into_field()) }
    pub fn with_pod_certificate(mut self, value: impl o::IntoField<g::core::v1::PodCertificateProjection>) -> Self { set(&mut self.0, "podCertificate", value.into_field()); self }
}

object!(VolumeResourceRequirements, VolumeResourceRequirementsView);
part!(VolumeResourceRequirements);
impl<'a> VolumeResourceRequirementsView<'a> {
    pub fn limits(self) -> r::Map<'a, r::Quantity> { read(self.0, "limits") }
    pub fn requests(self) -> r::Map<'a, r::Quantity> { read(self.0, "requests") }
}
impl VolumeResourceRequirements {
    pub fn insert_limits(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "limits", key, value) }
    pub fn set_limits(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "limits", value) }
    pub fn with_limits(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "limits", value); self }
    pub fn insert_requests(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "requests", key, value) }
    pub fn set_requests(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "requests", value) }
    pub fn with_requests(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "requests", value); self }
}

object!(VolumeSource, VolumeSourceView);
part!(VolumeSource);
impl<'a> VolumeSourceView<'a> {
    pub fn host_path(self) -> Option<g::core::v1::HostPathVolumeSourceView<'a>> { find(self.0, "hostPath") }
    pub fn empty_dir(self) -> Option<g::core::v1::EmptyDirVolumeSourceView<'a>> { find(self.0, "emptyDir") }
    pub fn gce_persistent_disk(self) -> Option<g::core::v1::GCEPersistentDiskVolumeSourceView<'a>> { find(self.0, "gcePersistentDisk") }
    pub fn aws_elastic_block_store(self) -> Option<g::core::v1::AWSElasticBlockStoreVolumeSourceView<'a>> { find(self.0, "awsElasticBlockStore") }
    pub fn git_repo(self) -> Option<g::core::v1::GitRepoVolumeSourceView<'a>> { find(self.0, "gitRepo") }
    pub fn secret(self) -> Option<g::core::v1::SecretVolumeSourceView<'a>> { find(self.0, "secret") }
    pub fn nfs(self) -> Option<g::core::v1::NFSVolumeSourceView<'a>> { find(self.0, "nfs") }
    pub fn iscsi(self) -> Option<g::core::v1::ISCSIVolumeSourceView<'a>> { find(self.0, "iscsi") }
    pub fn glusterfs(self) -> Option<g::core::v1::GlusterfsVolumeSourceView<'a>> { find(self.0, "glusterfs") }
    pub fn persistent_volume_claim(self) -> Option<g::core::v1::PersistentVolumeClaimVolumeSourceView<'a>> { find(self.0, "persistentVolumeClaim") }
    pub fn rbd(self) -> Option<g::core::v1::RBDVolumeSourceView<'a>> { find(self.0, "rbd") }
    pub fn flex_volume(self) -> Option<g::core::v1::FlexVolumeSourceView<'a>> { find(self.0, "flexVolume") }
    pub fn cinder(self) -> Option<g::core::v1::CinderVolumeSourceView<'a>> { find(self.0, "cinder") }
    pub fn cephfs(self) -> Option<g::core::v1::CephFSVolumeSourceView<'a>> { find(self.0, "cephfs") }
    pub fn flocker(self) -> Option<g::core::v1::FlockerVolumeSourceView<'a>> { find(self.0, "flocker") }
    pub fn downward_api(self) -> Option<g::core::v1::DownwardAPIVolumeSourceView<'a>> { find(self.0, "downwardAPI") }
    pub fn fc(self) -> Option<g::core::v1::FCVolumeSourceView<'a>> { find(self.0, "fc") }
    pub fn azure_file(self) -> Option<g::core::v1::AzureFileVolumeSourceView<'a>> { find(self.0, "azureFile") }
    pub fn config_map(self) -> Option<g::core::v1::ConfigMapVolumeSourceView<'a>> { find(self.0, "configMap") }
    pub fn vsphere_volume(self) -> Option<g::core::v1::VsphereVirtualDiskVolumeSourceView<'a>> { find(self.0, "vsphereVolume") }
    pub fn quobyte(self) -> Option<g::core::v1::QuobyteVolumeSourceView<'a>> { find(self.0, "quobyte") }
    pub fn azure_disk(self) -> Option<g::core::v1::AzureDiskVolumeSourceView<'a>> { find(self.0, "azureDisk") }
    pub fn photon_persistent_disk(self) -> Option<g::core::v1::PhotonPersistentDiskVolumeSourceView<'a>> { find(self.0, "photonPersistentDisk") }
    pub fn projected(self) -> Option<g::core::v1::ProjectedVolumeSourceView<'a>> { find(self.0, "projected") }
    pub fn portworx_volume(self) -> Option<g::core::v1::PortworxVolumeSourceView<'a>> { find(self.0, "portworxVolume") }
    pub fn scale_io(self) -> Option<g::core::v1::ScaleIOVolumeSourceView<'a>> { find(self.0, "scaleIO") }
    pub fn storageos(self) -> Option<g::core::v1::StorageOSVolumeSourceView<'a>> { find(self.0, "storageos") }
    pub fn csi(self) -> Option<g::core::v1::CSIVolumeSourceView<'a>> { find(self.0, "csi") }
    pub fn ephemeral(self) -> Option<g::core::v1::EphemeralVolumeSourceView<'a>> { find(self.0, "ephemeral") }
    pub fn image(self) -> Option<g::core::v1::ImageVolumeSourceView<'a>> { find(self.0, "image") }
}
impl VolumeSource {
    pub fn edit_host_path<R>(&mut self, change: impl FnOnce(&mut g::core::v1::HostPathVolumeSource) -> R) -> R { edit(&mut self.0, "hostPath", change) }
    pub fn set_host_path(&mut self, value: impl o::IntoField<g::core::v1::HostPathVolumeSource>) { set(&mut self.0, "hostPath", value.into_field()) }
    pub fn with_host_path(mut self, value: impl o::IntoField<g::core::v1::HostPathVolumeSource>) -> Self { set(&mut self.0, "hostPath", value.into_field()); self }
    pub fn edit_empty_dir<R>(&mut self, change: impl FnOnce(&mut g::core::v1::EmptyDirVolumeSource) -> R) -> R { edit(&mut self.0, "emptyDir", change) }
    pub fn set_empty_dir(&mut self, value: impl o::IntoField<g::core::v1::EmptyDirVolumeSource>) { set(&mut self.0, "emptyDir", value.into_field()) }
    pub fn with_empty_dir(mut self, value: impl o::IntoField<g::core::v1::EmptyDirVolumeSource>) -> Self { set(&mut self.0, "emptyDir", value.into_field()); self }
    pub fn edit_gce_persistent_disk<R>(&mut self, change: impl FnOnce(&mut g::core::v1::GCEPersistentDiskVolumeSource) -> R) -> R { edit(&mut self.0, "gcePersistentDisk", change) }
    pub fn set_gce_persistent_disk(&mut self, value: impl o::IntoField<g::core::v1::GCEPersistentDiskVolumeSource>) { set(&mut self.0, "gcePersistentDisk", value.into_field()) }
    pub fn with_gce_persistent_disk(mut self, value: impl o::IntoField<g::core::v1::GCEPersistentDiskVolumeSource>) -> Self { set(&mut self.0, "gcePersistentDisk", value.into_field()); self }
    pub fn edit_aws_elastic_block_store<R>(&mut self, change: impl FnOnce(&mut g::core::v1::AWSElasticBlockStoreVolumeSource) -> R) -> R { edit(&mut self.0, "awsElasticBlockStore", change) }
    pub fn set_aws_elastic_block_store(&mut self, value: impl o::IntoField<g::core::v1::AWSElasticBlockStoreVolumeSource>) { set(&mut self.0, "awsElasticBlockStore", value.into_field()) }
    pub fn with_aws_elastic_block_store(mut self, value: impl o::IntoField<g::core::v1::AWSElasticBlockStoreVolumeSource>) -> Self { set(&mut self.0, "awsElasticBlockStore", value.into_field()); self }
    pub fn edit_git_repo<R>(&mut self, change: impl FnOnce(&mut g::core::v1::GitRepoVolumeSource) -> R) -> R { edit(&mut self.0, "gitRepo", change) }
    pub fn set_git_repo(&mut self, value: impl o::IntoField<g::core::v1::GitRepoVolumeSource>) { set(&mut self.0, "gitRepo", value.into_field()) }
    pub fn with_git_repo(mut self, value: impl o::IntoField<g::core::v1::GitRepoVolumeSource>) -> Self { set(&mut self.0, "gitRepo", value.into_field()); self }
    pub fn edit_secret<R>(&mut self, change: impl FnOnce(&mut g::core::v1::SecretVolumeSource) -> R) -> R { edit(&mut self.0, "secret", change) }
    pub fn set_secret(&mut self, value: impl o::IntoField<g::core::v1::SecretVolumeSource>) { set(&mut self.0, "secret", value.into_field()) }
    pub fn with_secret(mut self, value: impl o::IntoField<g::core::v1::SecretVolumeSource>) -> Self { set(&mut self.0, "secret", value.into_field()); self }
    pub fn edit_nfs<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NFSVolumeSource) -> R) -> R { edit(&mut self.0, "nfs", change) }
    pub fn set_nfs(&mut self, value: impl o::IntoField<g::core::v1::NFSVolumeSource>) { set(&mut self.0, "nfs", value.into_field()) }
    pub fn with_nfs(mut self, value: impl o::IntoField<g::core::v1::NFSVolumeSource>) -> Self { set(&mut self.0, "nfs", value.into_field()); self }
    pub fn edit_iscsi<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ISCSIVolumeSource) -> R) -> R { edit(&mut self.0, "iscsi", change) }
    pub fn set_iscsi(&mut self, value: impl o::IntoField<g::core::v1::ISCSIVolumeSource>) { set(&mut self.0, "iscsi", value.into_field()) }
    pub fn with_iscsi(mut self, value: impl o::IntoField<g::core::v1::ISCSIVolumeSource>) -> Self { set(&mut self.0, "iscsi", value.into_field()); self }
    pub fn edit_glusterfs<R>(&mut self, change: impl FnOnce(&mut g::core::v1::GlusterfsVolumeSource) -> R) -> R { edit(&mut self.0, "glusterfs", change) }
    pub fn set_glusterfs(&mut self, value: impl o::IntoField<g::core::v1::GlusterfsVolumeSource>) { set(&mut self.0, "glusterfs", value.into_field()) }
    pub fn with_glusterfs(mut self, value: impl o::IntoField<g::core::v1::GlusterfsVolumeSource>) -> Self { set(&mut self.0, "glusterfs", value.into_field()); self }
    pub fn edit_persistent_volume_claim<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PersistentVolumeClaimVolumeSource) -> R) -> R { edit(&mut self.0, "persistentVolumeClaim", change) }
    pub fn set_persistent_volume_claim(&mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeClaimVolumeSource>) { set(&mut self.0, "persistentVolumeClaim", value.into_field()) }
    pub fn with_persistent_volume_claim(mut self, value: impl o::IntoField<g::core::v1::PersistentVolumeClaimVolumeSource>) -> Self { set(&mut self.0, "persistentVolumeClaim", value.into_field()); self }
    pub fn edit_rbd<R>(&mut self, change: impl FnOnce(&mut g::core::v1::RBDVolumeSource) -> R) -> R { edit(&mut self.0, "rbd", change) }
    pub fn set_rbd(&mut self, value: impl o::IntoField<g::core::v1::RBDVolumeSource>) { set(&mut self.0, "rbd", value.into_field()) }
    pub fn with_rbd(mut self, value: impl o::IntoField<g::core::v1::RBDVolumeSource>) -> Self { set(&mut self.0, "rbd", value.into_field()); self }
    pub fn edit_flex_volume<R>(&mut self, change: impl FnOnce(&mut g::core::v1::FlexVolumeSource) -> R) -> R { edit(&mut self.0, "flexVolume", change) }
    pub fn set_flex_volume(&mut self, value: impl o::IntoField<g::core::v1::FlexVolumeSource>) { set(&mut self.0, "flexVolume", value.into_field()) }
    pub fn with_flex_volume(mut self, value: impl o::IntoField<g::core::v1::FlexVolumeSource>) -> Self { set(&mut self.0, "flexVolume", value.into_field()); self }
    pub fn edit_cinder<R>(&mut self, change: impl FnOnce(&mut g::core::v1::CinderVolumeSource) -> R) -> R { edit(&mut self.0, "cinder", change) }
    pub fn set_cinder(&mut self, value: impl o::IntoField<g::core::v1::CinderVolumeSource>) { set(&mut self.0, "cinder", value.into_field()) }
    pub fn with_cinder(mut self, value: impl o::IntoField<g::core::v1::CinderVolumeSource>) -> Self { set(&mut self.0, "cinder", value.into_field()); self }
    pub fn edit_cephfs<R>(&mut self, change: impl FnOnce(&mut g::core::v1::CephFSVolumeSource) -> R) -> R { edit(&mut self.0, "cephfs", change) }
    pub fn set_cephfs(&mut self, value: impl o::IntoField<g::core::v1::CephFSVolumeSource>) { set(&mut self.0, "cephfs", value.into_field()) }
    pub fn with_cephfs(mut self, value: impl o::IntoField<g::core::v1::CephFSVolumeSource>) -> Self { set(&mut self.0, "cephfs", value.into_field()); self }
    pub fn edit_flocker<R>(&mut self, change: impl FnOnce(&mut g::core::v1::FlockerVolumeSource) -> R) -> R { edit(&mut self.0, "flocker", change) }
    pub fn set_flocker(&mut self, value: impl o::IntoField<g::core::v1::FlockerVolumeSource>) { set(&mut self.0, "flocker", value.into_field()) }
    pub fn with_flocker(mut self, value: impl o::IntoField<g::core::v1::FlockerVolumeSource>) -> Self { set(&mut self.0, "flocker", value.into_field()); self }
    pub fn edit_downward_api<R>(&mut self, change: impl FnOnce(&mut g::core::v1::DownwardAPIVolumeSource) -> R) -> R { edit(&mut self.0, "downwardAPI", change) }
    pub fn set_downward_api(&mut self, value: impl o::IntoField<g::core::v1::DownwardAPIVolumeSource>) { set(&mut self.0, "downwardAPI", value.into_field()) }
    pub fn with_downward_api(mut self, value: impl o::IntoField<g::core::v1::DownwardAPIVolumeSource>) -> Self { set(&mut self.0, "downwardAPI", value.into_field()); self }
    pub fn edit_fc<R>(&mut self, change: impl FnOnce(&mut g::core::v1::FCVolumeSource) -> R) -> R { edit(&mut self.0, "fc", change) }
    pub fn set_fc(&mut self, value: impl o::IntoField<g::core::v1::FCVolumeSource>) { set(&mut self.0, "fc", value.into_field()) }
    pub fn with_fc(mut self, value: impl o::IntoField<g::core::v1::FCVolumeSource>) -> Self { set(&mut self.0, "fc", value.into_field()); self }
    pub fn edit_azure_file<R>(&mut self, change: impl FnOnce(&mut g::core::v1::AzureFileVolumeSource) -> R) -> R { edit(&mut self.0, "azureFile", change) }
    pub fn set_azure_file(&mut self, value: impl o::IntoField<g::core::v1::AzureFileVolumeSource>) { set(&mut self.0, "azureFile", value.into_field()) }
    pub fn with_azure_file(mut self, value: impl o::IntoField<g::core::v1::AzureFileVolumeSource>) -> Self { set(&mut self.0, "azureFile", value.into_field()); self }
    pub fn edit_config_map<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ConfigMapVolumeSource) -> R) -> R { edit(&mut self.0, "configMap", change) }
    pub fn set_config_map(&mut self, value: impl o::IntoField<g::core::v1::ConfigMapVolumeSource>) { set(&mut self.0, "configMap", value.into_field()) }
    pub fn with_config_map(mut self, value: impl o::IntoField<g::core::v1::ConfigMapVolumeSource>) -> Self { set(&mut self.0, "configMap", value.into_field()); self }
    pub fn edit_vsphere_volume<R>(&mut self, change: impl FnOnce(&mut g::core::v1::VsphereVirtualDiskVolumeSource) -> R) -> R { edit(&mut self.0, "vsphereVolume", change) }
    pub fn set_vsphere_volume(&mut self, value: impl o::IntoField<g::core::v1::VsphereVirtualDiskVolumeSource>) { set(&mut self.0, "vsphereVolume", value.into_field()) }
    pub fn with_vsphere_volume(mut self, value: impl o::IntoField<g::core::v1::VsphereVirtualDiskVolumeSource>) -> Self { set(&mut self.0, "vsphereVolume", value.into_field()); self }
    pub fn edit_quobyte<R>(&mut self, change: impl FnOnce(&mut g::core::v1::QuobyteVolumeSource) -> R) -> R { edit(&mut self.0, "quobyte", change) }
    pub fn set_quobyte(&mut self, value: impl o::IntoField<g::core::v1::QuobyteVolumeSource>) { set(&mut self.0, "quobyte", value.into_field()) }
    pub fn with_quobyte(mut self, value: impl o::IntoField<g::core::v1::QuobyteVolumeSource>) -> Self { set(&mut self.0, "quobyte", value.into_field()); self }
    pub fn edit_azure_disk<R>(&mut self, change: impl FnOnce(&mut g::core::v1::AzureDiskVolumeSource) -> R) -> R { edit(&mut self.0, "azureDisk", change) }
    pub fn set_azure_disk(&mut self, value: impl o::IntoField<g::core::v1::AzureDiskVolumeSource>) { set(&mut self.0, "azureDisk", value.into_field()) }
    pub fn with_azure_disk(mut self, value: impl o::IntoField<g::core::v1::AzureDiskVolumeSource>) -> Self { set(&mut self.0, "azureDisk", value.into_field()); self }
    pub fn edit_photon_persistent_disk<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PhotonPersistentDiskVolumeSource) -> R) -> R { edit(&mut self.0, "photonPersistentDisk", change) }
    pub fn set_photon_persistent_disk(&mut self, value: impl o::IntoField<g::core::v1::PhotonPersistentDiskVolumeSource>) { set(&mut self.0, "photonPersistentDisk", value.into_field()) }
    pub fn with_photon_persistent_disk(mut self, value: impl o::IntoField<g::core::v1::PhotonPersistentDiskVolumeSource>) -> Self { set(&mut self.0, "photonPersistentDisk", value.into_field()); self }
    pub fn edit_projected<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ProjectedVolumeSource) -> R) -> R { edit(&mut self.0, "projected", change) }
    pub fn set_projected(&mut self, value: impl o::IntoField<g::core::v1::ProjectedVolumeSource>) { set(&mut self.0, "projected", value.into_field()) }
    pub fn with_projected(mut self, value: impl o::IntoField<g::core::v1::ProjectedVolumeSource>) -> Self { set(&mut self.0, "projected", value.into_field()); self }
    pub fn edit_portworx_volume<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PortworxVolumeSource) -> R) -> R { edit(&mut self.0, "portworxVolume", change) }
    pub fn set_portworx_volume(&mut self, value: impl o::IntoField<g::core::v1::PortworxVolumeSource>) { set(&mut self.0, "portworxVolume", value.into_field()) }
    pub fn with_portworx_volume(mut self, value: impl o::IntoField<g::core::v1::PortworxVolumeSource>) -> Self { set(&mut self.0, "portworxVolume", value.into_field()); self }
    pub fn edit_scale_io<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ScaleIOVolumeSource) -> R) -> R { edit(&mut self.0, "scaleIO", change) }
    pub fn set_scale_io(&mut self, value: impl o::IntoField<g::core::v1::ScaleIOVolumeSource>) { set(&mut self.0, "scaleIO", value.into_field()) }
    pub fn with_scale_io(mut self, value: impl o::IntoField<g::core::v1::ScaleIOVolumeSource>) -> Self { set(&mut self.0, "scaleIO", value.into_field()); self }
    pub fn edit_storageos<R>(&mut self, change: impl FnOnce(&mut g::core::v1::StorageOSVolumeSource) -> R) -> R { edit(&mut self.0, "storageos", change) }
    pub fn set_storageos(&mut self, value: impl o::IntoField<g::core::v1::StorageOSVolumeSource>) { set(&mut self.0, "storageos", value.into_field()) }
    pub fn with_storageos(mut self, value: impl o::IntoField<g::core::v1::StorageOSVolumeSource>) -> Self { set(&mut self.0, "storageos", value.into_field()); self }
    pub fn edit_csi<R>(&mut self, change: impl FnOnce(&mut g::core::v1::CSIVolumeSource) -> R) -> R { edit(&mut self.0, "csi", change) }
    pub fn set_csi(&mut self, value: impl o::IntoField<g::core::v1::CSIVolumeSource>) { set(&mut self.0, "csi", value.into_field()) }
    pub fn with_csi(mut self, value: impl o::IntoField<g::core::v1::CSIVolumeSource>) -> Self { set(&mut self.0, "csi", value.into_field()); self }
    pub fn edit_ephemeral<R>(&mut self, change: impl FnOnce(&mut g::core::v1::EphemeralVolumeSource) -> R) -> R { edit(&mut self.0, "ephemeral", change) }
    pub fn set_ephemeral(&mut self, value: impl o::IntoField<g::core::v1::EphemeralVolumeSource>) { set(&mut self.0, "ephemeral", value.into_field()) }
    pub fn with_ephemeral(mut self, value: impl o::IntoField<g::core::v1::EphemeralVolumeSource>) -> Self { set(&mut self.0, "ephemeral", value.into_field()); self }
    pub fn edit_image<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ImageVolumeSource) -> R) -> R { edit(&mut self.0, "image", change) }
    pub fn set_image(&mut self, value: impl o::IntoField<g::core::v1::ImageVolumeSource>) { set(&mut self.0, "image", value.into_field()) }
    pub fn with_image(mut self, value: impl o::IntoField<g::core::v1::ImageVolumeSource>) -> Self { set(&mut self.0, "image", value.into_field()); self }
}

object!(VolumeStatus, VolumeStatusView);
part!(VolumeStatus);
impl<'a> VolumeStatusView<'a> {
    pub fn image(self) -> Option<g::core::v1::ImageVolumeStatusView<'a>> { find(self.0, "image") }
}
impl VolumeStatus {
    pub fn edit_image<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ImageVolumeStatus) -> R) -> R { edit(&mut self.0, "image", change) }
    pub fn set_image(&mut self, value: impl o::IntoField<g::core::v1::ImageVolumeStatus>) { set(&mut self.0, "image", value.into_field()) }
    pub fn with_image(mut self, value: impl o::IntoField<g::core::v1::ImageVolumeStatus>) -> Self { set(&mut self.0, "image", value.into_field()); self }
}

object!(VsphereVirtualDiskVolumeSource, VsphereVirtualDiskVolumeSourceView);
part!(VsphereVirtualDiskVolumeSource);
impl<'a> VsphereVirtualDiskVolumeSourceView<'a> {
    pub fn volume_path(self) -> &'a str { read(self.0, "volumePath") }
    pub fn fs_type(self) -> &'a str { read(self.0, "fsType") }
    pub fn storage_policy_name(self) -> &'a str { read(self.0, "storagePolicyName") }
    pub fn storage_policy_id(self) -> &'a str { read(self.0, "storagePolicyID") }
}
impl VsphereVirtualDiskVolumeSource {
    pub fn set_volume_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "volumePath", value.into_field()) }
    pub fn with_volume_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "volumePath", value.into_field()); self }
    pub fn set_fs_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fsType", value.into_field()) }
    pub fn with_fs_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fsType", value.into_field()); self }
    pub fn set_storage_policy_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "storagePolicyName", value.into_field()) }
    pub fn with_storage_policy_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "storagePolicyName", value.into_field()); self }
    pub fn set_storage_policy_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "storagePolicyID", value.into_field()) }
    pub fn with_storage_policy_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "storagePolicyID", value.into_field()); self }
}

object!(WeightedPodAffinityTerm, WeightedPodAffinityTermView);
part!(WeightedPodAffinityTerm);
impl<'a> WeightedPodAffinityTermView<'a> {
    pub fn weight(self) -> i32 { read(self.0, "weight") }
    pub fn pod_affinity_term(self) -> g::core::v1::PodAffinityTermView<'a> { read(self.0, "podAffinityTerm") }
}
impl WeightedPodAffinityTerm {
    pub fn set_weight(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "weight", value.into_field()) }
    pub fn with_weight(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "weight", value.into_field()); self }
    pub fn edit_pod_affinity_term<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodAffinityTerm) -> R) -> R { edit(&mut self.0, "podAffinityTerm", change) }
    pub fn set_pod_affinity_term(&mut self, value: impl o::IntoField<g::core::v1::PodAffinityTerm>) { set(&mut self.0, "podAffinityTerm", value.into_field()) }
    pub fn with_pod_affinity_term(mut self, value: impl o::IntoField<g::core::v1::PodAffinityTerm>) -> Self { set(&mut self.0, "podAffinityTerm", value.into_field()); self }
}

object!(WindowsSecurityContextOptions, WindowsSecurityContextOptionsView);
part!(WindowsSecurityContextOptions);
impl<'a> WindowsSecurityContextOptionsView<'a> {
    pub fn gmsa_credential_spec_name(self) -> Option<&'a str> { find(self.0, "gmsaCredentialSpecName") }
    pub fn gmsa_credential_spec(self) -> Option<&'a str> { find(self.0, "gmsaCredentialSpec") }
    pub fn run_as_user_name(self) -> Option<&'a str> { find(self.0, "runAsUserName") }
    pub fn host_process(self) -> Option<bool> { find(self.0, "hostProcess") }
}
impl WindowsSecurityContextOptions {
    pub fn set_gmsa_credential_spec_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "gmsaCredentialSpecName", value.into_field()) }
    pub fn with_gmsa_credential_spec_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "gmsaCredentialSpecName", value.into_field()); self }
    pub fn set_gmsa_credential_spec(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "gmsaCredentialSpec", value.into_field()) }
    pub fn with_gmsa_credential_spec(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "gmsaCredentialSpec", value.into_field()); self }
    pub fn set_run_as_user_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "runAsUserName", value.into_field()) }
    pub fn with_run_as_user_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "runAsUserName", value.into_field()); self }
    pub fn set_host_process(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "hostProcess", value.into_field()) }
    pub fn with_host_process(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "hostProcess", value.into_field()); self }
}
