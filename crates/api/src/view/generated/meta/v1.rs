//! Generated from facts/meta.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(APIGroup, APIGroupView);
part!(APIGroup);
impl<'a> APIGroupView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn versions(self) -> r::List<'a, g::meta::v1::GroupVersionForDiscoveryView<'a>> { read(self.0, "versions") }
    pub fn preferred_version(self) -> g::meta::v1::GroupVersionForDiscoveryView<'a> { read(self.0, "preferredVersion") }
    pub fn server_address_by_client_cidrs(self) -> r::List<'a, g::meta::v1::ServerAddressByClientCIDRView<'a>> { read(self.0, "serverAddressByClientCIDRs") }
}
impl APIGroup {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn push_versions(&mut self, item: impl o::IntoField<g::meta::v1::GroupVersionForDiscovery>) { push(&mut self.0, "versions", item) }
    pub fn set_versions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::GroupVersionForDiscovery>>) { set_list(&mut self.0, "versions", value) }
    pub fn with_versions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::GroupVersionForDiscovery>>) -> Self { set_list(&mut self.0, "versions", value); self }
    pub fn edit_preferred_version<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::GroupVersionForDiscovery) -> R) -> R { edit(&mut self.0, "preferredVersion", change) }
    pub fn set_preferred_version(&mut self, value: impl o::IntoField<g::meta::v1::GroupVersionForDiscovery>) { set(&mut self.0, "preferredVersion", value.into_field()) }
    pub fn with_preferred_version(mut self, value: impl o::IntoField<g::meta::v1::GroupVersionForDiscovery>) -> Self { set(&mut self.0, "preferredVersion", value.into_field()); self }
    pub fn push_server_address_by_client_cidrs(&mut self, item: impl o::IntoField<g::meta::v1::ServerAddressByClientCIDR>) { push(&mut self.0, "serverAddressByClientCIDRs", item) }
    pub fn set_server_address_by_client_cidrs(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::ServerAddressByClientCIDR>>) { set_list(&mut self.0, "serverAddressByClientCIDRs", value) }
    pub fn with_server_address_by_client_cidrs(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::ServerAddressByClientCIDR>>) -> Self { set_list(&mut self.0, "serverAddressByClientCIDRs", value); self }
}

object!(APIGroupList, APIGroupListView);
part!(APIGroupList);
impl<'a> APIGroupListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn groups(self) -> r::List<'a, g::meta::v1::APIGroupView<'a>> { read(self.0, "groups") }
}
impl APIGroupList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn push_groups(&mut self, item: impl o::IntoField<g::meta::v1::APIGroup>) { push(&mut self.0, "groups", item) }
    pub fn set_groups(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::APIGroup>>) { set_list(&mut self.0, "groups", value) }
    pub fn with_groups(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::APIGroup>>) -> Self { set_list(&mut self.0, "groups", value); self }
}

object!(APIResource, APIResourceView);
part!(APIResource);
impl<'a> APIResourceView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn singular_name(self) -> &'a str { read(self.0, "singularName") }
    pub fn namespaced(self) -> bool { read(self.0, "namespaced") }
    pub fn group(self) -> &'a str { read(self.0, "group") }
    pub fn version(self) -> &'a str { read(self.0, "version") }
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn verbs(self) -> r::List<'a, &'a str> { read(self.0, "verbs") }
    pub fn short_names(self) -> r::List<'a, &'a str> { read(self.0, "shortNames") }
    pub fn categories(self) -> r::List<'a, &'a str> { read(self.0, "categories") }
    pub fn storage_version_hash(self) -> &'a str { read(self.0, "storageVersionHash") }
}
impl APIResource {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_singular_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "singularName", value.into_field()) }
    pub fn with_singular_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "singularName", value.into_field()); self }
    pub fn set_namespaced(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "namespaced", value.into_field()) }
    pub fn with_namespaced(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "namespaced", value.into_field()); self }
    pub fn set_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "group", value.into_field()) }
    pub fn with_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "group", value.into_field()); self }
    pub fn set_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "version", value.into_field()) }
    pub fn with_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "version", value.into_field()); self }
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn push_verbs(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "verbs", item) }
    pub fn set_verbs(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "verbs", value) }
    pub fn with_verbs(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "verbs", value); self }
    pub fn push_short_names(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "shortNames", item) }
    pub fn set_short_names(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "shortNames", value) }
    pub fn with_short_names(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "shortNames", value); self }
    pub fn push_categories(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "categories", item) }
    pub fn set_categories(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "categories", value) }
    pub fn with_categories(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "categories", value); self }
    pub fn set_storage_version_hash(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "storageVersionHash", value.into_field()) }
    pub fn with_storage_version_hash(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "storageVersionHash", value.into_field()); self }
}

object!(APIResourceList, APIResourceListView);
part!(APIResourceList);
impl<'a> APIResourceListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn group_version(self) -> &'a str { read(self.0, "groupVersion") }
    pub fn resources(self) -> r::List<'a, g::meta::v1::APIResourceView<'a>> { read(self.0, "resources") }
}
impl APIResourceList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_group_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "groupVersion", value.into_field()) }
    pub fn with_group_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "groupVersion", value.into_field()); self }
    pub fn push_resources(&mut self, item: impl o::IntoField<g::meta::v1::APIResource>) { push(&mut self.0, "resources", item) }
    pub fn set_resources(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::APIResource>>) { set_list(&mut self.0, "resources", value) }
    pub fn with_resources(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::APIResource>>) -> Self { set_list(&mut self.0, "resources", value); self }
}

object!(APIVersions, APIVersionsView);
part!(APIVersions);
impl<'a> APIVersionsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn versions(self) -> r::List<'a, &'a str> { read(self.0, "versions") }
    pub fn server_address_by_client_cidrs(self) -> r::List<'a, g::meta::v1::ServerAddressByClientCIDRView<'a>> { read(self.0, "serverAddressByClientCIDRs") }
}
impl APIVersions {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn push_versions(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "versions", item) }
    pub fn set_versions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "versions", value) }
    pub fn with_versions(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "versions", value); self }
    pub fn push_server_address_by_client_cidrs(&mut self, item: impl o::IntoField<g::meta::v1::ServerAddressByClientCIDR>) { push(&mut self.0, "serverAddressByClientCIDRs", item) }
    pub fn set_server_address_by_client_cidrs(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::ServerAddressByClientCIDR>>) { set_list(&mut self.0, "serverAddressByClientCIDRs", value) }
    pub fn with_server_address_by_client_cidrs(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::ServerAddressByClientCIDR>>) -> Self { set_list(&mut self.0, "serverAddressByClientCIDRs", value); self }
}

object!(ApplyOptions, ApplyOptionsView);
part!(ApplyOptions);
impl<'a> ApplyOptionsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn dry_run(self) -> r::List<'a, &'a str> { read(self.0, "dryRun") }
    pub fn force(self) -> bool { read(self.0, "force") }
    pub fn field_manager(self) -> &'a str { read(self.0, "fieldManager") }
}
impl ApplyOptions {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn push_dry_run(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "dryRun", item) }
    pub fn set_dry_run(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "dryRun", value) }
    pub fn with_dry_run(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "dryRun", value); self }
    pub fn set_force(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "force", value.into_field()) }
    pub fn with_force(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "force", value.into_field()); self }
    pub fn set_field_manager(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fieldManager", value.into_field()) }
    pub fn with_field_manager(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fieldManager", value.into_field()); self }
}

object!(Condition, ConditionView);
part!(Condition);
impl<'a> ConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn observed_generation(self) -> i64 { read(self.0, "observedGeneration") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl Condition {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_status(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "status", value.into_field()); self }
    pub fn set_observed_generation(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "observedGeneration", value.into_field()) }
    pub fn with_observed_generation(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "observedGeneration", value.into_field()); self }
    pub fn set_last_transition_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastTransitionTime", value.into_field()) }
    pub fn with_last_transition_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastTransitionTime", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
}

object!(CreateOptions, CreateOptionsView);
part!(CreateOptions);
impl<'a> CreateOptionsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn dry_run(self) -> r::List<'a, &'a str> { read(self.0, "dryRun") }
    pub fn field_manager(self) -> &'a str { read(self.0, "fieldManager") }
    pub fn field_validation(self) -> &'a str { read(self.0, "fieldValidation") }
}
impl CreateOptions {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn push_dry_run(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "dryRun", item) }
    pub fn set_dry_run(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "dryRun", value) }
    pub fn with_dry_run(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "dryRun", value); self }
    pub fn set_field_manager(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fieldManager", value.into_field()) }
    pub fn with_field_manager(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fieldManager", value.into_field()); self }
    pub fn set_field_validation(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fieldValidation", value.into_field()) }
    pub fn with_field_validation(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fieldValidation", value.into_field()); self }
}

object!(DeleteOptions, DeleteOptionsView);
part!(DeleteOptions);
impl<'a> DeleteOptionsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn grace_period_seconds(self) -> Option<i64> { find(self.0, "gracePeriodSeconds") }
    pub fn preconditions(self) -> Option<g::meta::v1::PreconditionsView<'a>> { find(self.0, "preconditions") }
    pub fn orphan_dependents(self) -> Option<bool> { find(self.0, "orphanDependents") }
    pub fn propagation_policy(self) -> Option<&'a str> { find(self.0, "propagationPolicy") }
    pub fn dry_run(self) -> r::List<'a, &'a str> { read(self.0, "dryRun") }
    pub fn ignore_store_read_error_with_cluster_breaking_potential(self) -> Option<bool> { find(self.0, "ignoreStoreReadErrorWithClusterBreakingPotential") }
}
impl DeleteOptions {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_grace_period_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "gracePeriodSeconds", value.into_field()) }
    pub fn with_grace_period_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "gracePeriodSeconds", value.into_field()); self }
    pub fn edit_preconditions<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::Preconditions) -> R) -> R { edit(&mut self.0, "preconditions", change) }
    pub fn set_preconditions(&mut self, value: impl o::IntoField<g::meta::v1::Preconditions>) { set(&mut self.0, "preconditions", value.into_field()) }
    pub fn with_preconditions(mut self, value: impl o::IntoField<g::meta::v1::Preconditions>) -> Self { set(&mut self.0, "preconditions", value.into_field()); self }
    pub fn set_orphan_dependents(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "orphanDependents", value.into_field()) }
    pub fn with_orphan_dependents(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "orphanDependents", value.into_field()); self }
    pub fn set_propagation_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "propagationPolicy", value.into_field()) }
    pub fn with_propagation_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "propagationPolicy", value.into_field()); self }
    pub fn push_dry_run(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "dryRun", item) }
    pub fn set_dry_run(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "dryRun", value) }
    pub fn with_dry_run(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "dryRun", value); self }
    pub fn set_ignore_store_read_error_with_cluster_breaking_potential(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "ignoreStoreReadErrorWithClusterBreakingPotential", value.into_field()) }
    pub fn with_ignore_store_read_error_with_cluster_breaking_potential(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "ignoreStoreReadErrorWithClusterBreakingPotential", value.into_field()); self }
}

object!(FieldSelectorRequirement, FieldSelectorRequirementView);
part!(FieldSelectorRequirement);
impl<'a> FieldSelectorRequirementView<'a> {
    pub fn key(self) -> &'a str { read(self.0, "key") }
    pub fn operator(self) -> &'a str { read(self.0, "operator") }
    pub fn values(self) -> r::List<'a, &'a str> { read(self.0, "values") }
}
impl FieldSelectorRequirement {
    pub fn set_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "key", value.into_field()) }
    pub fn with_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "key", value.into_field()); self }
    pub fn set_operator(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "operator", value.into_field()) }
    pub fn with_operator(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "operator", value.into_field()); self }
    pub fn push_values(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "values", item) }
    pub fn set_values(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "values", value) }
    pub fn with_values(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "values", value); self }
}

object!(GetOptions, GetOptionsView);
part!(GetOptions);
impl<'a> GetOptionsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn resource_version(self) -> &'a str { read(self.0, "resourceVersion") }
}
impl GetOptions {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_resource_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resourceVersion", value.into_field()) }
    pub fn with_resource_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resourceVersion", value.into_field()); self }
}

object!(GroupKind, GroupKindView);
part!(GroupKind);
impl<'a> GroupKindView<'a> {
    pub fn group(self) -> &'a str { read(self.0, "group") }
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
}
impl GroupKind {
    pub fn set_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "group", value.into_field()) }
    pub fn with_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "group", value.into_field()); self }
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
}

object!(GroupResource, GroupResourceView);
part!(GroupResource);
impl<'a> GroupResourceView<'a> {
    pub fn group(self) -> &'a str { read(self.0, "group") }
    pub fn resource(self) -> &'a str { read(self.0, "resource") }
}
impl GroupResource {
    pub fn set_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "group", value.into_field()) }
    pub fn with_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "group", value.into_field()); self }
    pub fn set_resource(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resource", value.into_field()) }
    pub fn with_resource(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resource", value.into_field()); self }
}

object!(GroupVersion, GroupVersionView);
part!(GroupVersion);
impl<'a> GroupVersionView<'a> {
    pub fn group(self) -> &'a str { read(self.0, "group") }
    pub fn version(self) -> &'a str { read(self.0, "version") }
}
impl GroupVersion {
    pub fn set_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "group", value.into_field()) }
    pub fn with_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "group", value.into_field()); self }
    pub fn set_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "version", value.into_field()) }
    pub fn with_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "version", value.into_field()); self }
}

object!(GroupVersionForDiscovery, GroupVersionForDiscoveryView);
part!(GroupVersionForDiscovery);
impl<'a> GroupVersionForDiscoveryView<'a> {
    pub fn group_version(self) -> &'a str { read(self.0, "groupVersion") }
    pub fn version(self) -> &'a str { read(self.0, "version") }
}
impl GroupVersionForDiscovery {
    pub fn set_group_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "groupVersion", value.into_field()) }
    pub fn with_group_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "groupVersion", value.into_field()); self }
    pub fn set_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "version", value.into_field()) }
    pub fn with_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "version", value.into_field()); self }
}

object!(GroupVersionKind, GroupVersionKindView);
part!(GroupVersionKind);
impl<'a> GroupVersionKindView<'a> {
    pub fn group(self) -> &'a str { read(self.0, "group") }
    pub fn version(self) -> &'a str { read(self.0, "version") }
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
}
impl GroupVersionKind {
    pub fn set_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "group", value.into_field()) }
    pub fn with_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "group", value.into_field()); self }
    pub fn set_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "version", value.into_field()) }
    pub fn with_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "version", value.into_field()); self }
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
}

object!(GroupVersionResource, GroupVersionResourceView);
part!(GroupVersionResource);
impl<'a> GroupVersionResourceView<'a> {
    pub fn group(self) -> &'a str { read(self.0, "group") }
    pub fn version(self) -> &'a str { read(self.0, "version") }
    pub fn resource(self) -> &'a str { read(self.0, "resource") }
}
impl GroupVersionResource {
    pub fn set_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "group", value.into_field()) }
    pub fn with_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "group", value.into_field()); self }
    pub fn set_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "version", value.into_field()) }
    pub fn with_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "version", value.into_field()); self }
    pub fn set_resource(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resource", value.into_field()) }
    pub fn with_resource(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resource", value.into_field()); self }
}

object!(LabelSelector, LabelSelectorView);
part!(LabelSelector);
impl<'a> LabelSelectorView<'a> {
    pub fn match_labels(self) -> r::Map<'a, &'a str> { read(self.0, "matchLabels") }
    pub fn match_expressions(self) -> r::List<'a, g::meta::v1::LabelSelectorRequirementView<'a>> { read(self.0, "matchExpressions") }
}
impl LabelSelector {
    pub fn insert_match_labels(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "matchLabels", key, value) }
    pub fn set_match_labels(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "matchLabels", value) }
    pub fn with_match_labels(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "matchLabels", value); self }
    pub fn push_match_expressions(&mut self, item: impl o::IntoField<g::meta::v1::LabelSelectorRequirement>) { push(&mut self.0, "matchExpressions", item) }
    pub fn set_match_expressions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::LabelSelectorRequirement>>) { set_list(&mut self.0, "matchExpressions", value) }
    pub fn with_match_expressions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::LabelSelectorRequirement>>) -> Self { set_list(&mut self.0, "matchExpressions", value); self }
}

object!(LabelSelectorRequirement, LabelSelectorRequirementView);
part!(LabelSelectorRequirement);
impl<'a> LabelSelectorRequirementView<'a> {
    pub fn key(self) -> &'a str { read(self.0, "key") }
    pub fn operator(self) -> &'a str { read(self.0, "operator") }
    pub fn values(self) -> r::List<'a, &'a str> { read(self.0, "values") }
}
impl LabelSelectorRequirement {
    pub fn set_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "key", value.into_field()) }
    pub fn with_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "key", value.into_field()); self }
    pub fn set_operator(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "operator", value.into_field()) }
    pub fn with_operator(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "operator", value.into_field()); self }
    pub fn push_values(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "values", item) }
    pub fn set_values(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "values", value) }
    pub fn with_values(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "values", value); self }
}

object!(List, ListView);
part!(List);
impl<'a> ListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, r::Node<'a>> { read(self.0, "items") }
}
impl List {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<o::Any>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Any>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Any>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(ListMeta, ListMetaView);
part!(ListMeta);
impl<'a> ListMetaView<'a> {
    pub fn self_link(self) -> &'a str { read(self.0, "selfLink") }
    pub fn resource_version(self) -> &'a str { read(self.0, "resourceVersion") }
    pub fn continue_(self) -> &'a str { read(self.0, "continue") }
    pub fn remaining_item_count(self) -> Option<i64> { find(self.0, "remainingItemCount") }
    pub fn shard_info(self) -> Option<g::meta::v1::ShardInfoView<'a>> { find(self.0, "shardInfo") }
}
impl ListMeta {
    pub fn set_self_link(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "selfLink", value.into_field()) }
    pub fn with_self_link(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "selfLink", value.into_field()); self }
    pub fn set_resource_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resourceVersion", value.into_field()) }
    pub fn with_resource_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resourceVersion", value.into_field()); self }
    pub fn set_continue(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "continue", value.into_field()) }
    pub fn with_continue(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "continue", value.into_field()); self }
    pub fn set_remaining_item_count(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "remainingItemCount", value.into_field()) }
    pub fn with_remaining_item_count(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "remainingItemCount", value.into_field()); self }
    pub fn edit_shard_info<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ShardInfo) -> R) -> R { edit(&mut self.0, "shardInfo", change) }
    pub fn set_shard_info(&mut self, value: impl o::IntoField<g::meta::v1::ShardInfo>) { set(&mut self.0, "shardInfo", value.into_field()) }
    pub fn with_shard_info(mut self, value: impl o::IntoField<g::meta::v1::ShardInfo>) -> Self { set(&mut self.0, "shardInfo", value.into_field()); self }
}

object!(ListOptions, ListOptionsView);
part!(ListOptions);
impl<'a> ListOptionsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn label_selector(self) -> &'a str { read(self.0, "labelSelector") }
    pub fn field_selector(self) -> &'a str { read(self.0, "fieldSelector") }
    pub fn watch(self) -> bool { read(self.0, "watch") }
    pub fn allow_watch_bookmarks(self) -> bool { read(self.0, "allowWatchBookmarks") }
    pub fn resource_version(self) -> &'a str { read(self.0, "resourceVersion") }
    pub fn resource_version_match(self) -> &'a str { read(self.0, "resourceVersionMatch") }
    pub fn timeout_seconds(self) -> Option<i64> { find(self.0, "timeoutSeconds") }
    pub fn limit(self) -> i64 { read(self.0, "limit") }
    pub fn continue_(self) -> &'a str { read(self.0, "continue") }
    pub fn send_initial_events(self) -> Option<bool> { find(self.0, "sendInitialEvents") }
    pub fn shard_selector(self) -> &'a str { read(self.0, "shardSelector") }
}
impl ListOptions {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_label_selector(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "labelSelector", value.into_field()) }
    pub fn with_label_selector(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "labelSelector", value.into_field()); self }
    pub fn set_field_selector(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fieldSelector", value.into_field()) }
    pub fn with_field_selector(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fieldSelector", value.into_field()); self }
    pub fn set_watch(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "watch", value.into_field()) }
    pub fn with_watch(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "watch", value.into_field()); self }
    pub fn set_allow_watch_bookmarks(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "allowWatchBookmarks", value.into_field()) }
    pub fn with_allow_watch_bookmarks(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "allowWatchBookmarks", value.into_field()); self }
    pub fn set_resource_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resourceVersion", value.into_field()) }
    pub fn with_resource_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resourceVersion", value.into_field()); self }
    pub fn set_resource_version_match(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resourceVersionMatch", value.into_field()) }
    pub fn with_resource_version_match(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resourceVersionMatch", value.into_field()); self }
    pub fn set_timeout_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "timeoutSeconds", value.into_field()) }
    pub fn with_timeout_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "timeoutSeconds", value.into_field()); self }
    pub fn set_limit(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "limit", value.into_field()) }
    pub fn with_limit(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "limit", value.into_field()); self }
    pub fn set_continue(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "continue", value.into_field()) }
    pub fn with_continue(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "continue", value.into_field()); self }
    pub fn set_send_initial_events(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "sendInitialEvents", value.into_field()) }
    pub fn with_send_initial_events(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "sendInitialEvents", value.into_field()); self }
    pub fn set_shard_selector(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "shardSelector", value.into_field()) }
    pub fn with_shard_selector(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "shardSelector", value.into_field()); self }
}

object!(ManagedFieldsEntry, ManagedFieldsEntryView);
part!(ManagedFieldsEntry);
impl<'a> ManagedFieldsEntryView<'a> {
    pub fn manager(self) -> &'a str { read(self.0, "manager") }
    pub fn operation(self) -> &'a str { read(self.0, "operation") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn time(self) -> Option<r::Timestamp> { find(self.0, "time") }
    pub fn fields_type(self) -> &'a str { read(self.0, "fieldsType") }
    pub fn fields_v1(self) -> Option<r::Node<'a>> { find(self.0, "fieldsV1") }
    pub fn subresource(self) -> &'a str { read(self.0, "subresource") }
}
impl ManagedFieldsEntry {
    pub fn set_manager(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "manager", value.into_field()) }
    pub fn with_manager(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "manager", value.into_field()); self }
    pub fn set_operation(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "operation", value.into_field()) }
    pub fn with_operation(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "operation", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "time", value.into_field()) }
    pub fn with_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "time", value.into_field()); self }
    pub fn set_fields_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fieldsType", value.into_field()) }
    pub fn with_fields_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fieldsType", value.into_field()); self }
    pub fn set_fields_v1(&mut self, value: impl o::IntoField<o::Any>) { set(&mut self.0, "fieldsV1", value.into_field()) }
    pub fn with_fields_v1(mut self, value: impl o::IntoField<o::Any>) -> Self { set(&mut self.0, "fieldsV1", value.into_field()); self }
    pub fn set_subresource(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "subresource", value.into_field()) }
    pub fn with_subresource(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "subresource", value.into_field()); self }
}

object!(ObjectMeta, ObjectMetaView);
part!(ObjectMeta);
impl<'a> ObjectMetaView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn generate_name(self) -> &'a str { read(self.0, "generateName") }
    pub fn namespace(self) -> &'a str { read(self.0, "namespace") }
    pub fn self_link(self) -> &'a str { read(self.0, "selfLink") }
    pub fn uid(self) -> &'a str { read(self.0, "uid") }
    pub fn resource_version(self) -> &'a str { read(self.0, "resourceVersion") }
    pub fn generation(self) -> i64 { read(self.0, "generation") }
    pub fn creation_timestamp(self) -> Option<r::Timestamp> { find(self.0, "creationTimestamp") }
    pub fn deletion_timestamp(self) -> Option<r::Timestamp> { find(self.0, "deletionTimestamp") }
    pub fn deletion_grace_period_seconds(self) -> Option<i64> { find(self.0, "deletionGracePeriodSeconds") }
    pub fn labels(self) -> r::Map<'a, &'a str> { read(self.0, "labels") }
    pub fn annotations(self) -> r::Map<'a, &'a str> { read(self.0, "annotations") }
    pub fn owner_references(self) -> r::List<'a, g::meta::v1::OwnerReferenceView<'a>> { read(self.0, "ownerReferences") }
    pub fn finalizers(self) -> r::List<'a, &'a str> { read(self.0, "finalizers") }
    pub fn managed_fields(self) -> r::List<'a, g::meta::v1::ManagedFieldsEntryView<'a>> { read(self.0, "managedFields") }
}
impl ObjectMeta {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_generate_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "generateName", value.into_field()) }
    pub fn with_generate_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "generateName", value.into_field()); self }
    pub fn set_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "namespace", value.into_field()) }
    pub fn with_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "namespace", value.into_field()); self }
    pub fn set_self_link(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "selfLink", value.into_field()) }
    pub fn with_self_link(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "selfLink", value.into_field()); self }
    pub fn set_uid(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "uid", value.into_field()) }
    pub fn with_uid(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "uid", value.into_field()); self }
    pub fn set_resource_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resourceVersion", value.into_field()) }
    pub fn with_resource_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resourceVersion", value.into_field()); self }
    pub fn set_generation(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "generation", value.into_field()) }
    pub fn with_generation(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "generation", value.into_field()); self }
    pub fn set_creation_timestamp(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "creationTimestamp", value.into_field()) }
    pub fn with_creation_timestamp(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "creationTimestamp", value.into_field()); self }
    pub fn set_deletion_timestamp(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "deletionTimestamp", value.into_field()) }
    pub fn with_deletion_timestamp(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "deletionTimestamp", value.into_field()); self }
    pub fn set_deletion_grace_period_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "deletionGracePeriodSeconds", value.into_field()) }
    pub fn with_deletion_grace_period_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "deletionGracePeriodSeconds", value.into_field()); self }
    pub fn insert_labels(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "labels", key, value) }
    pub fn set_labels(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "labels", value) }
    pub fn with_labels(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "labels", value); self }
    pub fn insert_annotations(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "annotations", key, value) }
    pub fn set_annotations(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "annotations", value) }
    pub fn with_annotations(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "annotations", value); self }
    pub fn push_owner_references(&mut self, item: impl o::IntoField<g::meta::v1::OwnerReference>) { push(&mut self.0, "ownerReferences", item) }
    pub fn set_owner_references(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::OwnerReference>>) { set_list(&mut self.0, "ownerReferences", value) }
    pub fn with_owner_references(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::OwnerReference>>) -> Self { set_list(&mut self.0, "ownerReferences", value); self }
    pub fn push_finalizers(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "finalizers", item) }
    pub fn set_finalizers(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "finalizers", value) }
    pub fn with_finalizers(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "finalizers", value); self }
    pub fn push_managed_fields(&mut self, item: impl o::IntoField<g::meta::v1::ManagedFieldsEntry>) { push(&mut self.0, "managedFields", item) }
    pub fn set_managed_fields(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::ManagedFieldsEntry>>) { set_list(&mut self.0, "managedFields", value) }
    pub fn with_managed_fields(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::ManagedFieldsEntry>>) -> Self { set_list(&mut self.0, "managedFields", value); self }
}

object!(OwnerReference, OwnerReferenceView);
part!(OwnerReference);
impl<'a> OwnerReferenceView<'a> {
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn uid(self) -> &'a str { read(self.0, "uid") }
    pub fn controller(self) -> Option<bool> { find(self.0, "controller") }
    pub fn block_owner_deletion(self) -> Option<bool> { find(self.0, "blockOwnerDeletion") }
}
impl OwnerReference {
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_uid(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "uid", value.into_field()) }
    pub fn with_uid(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "uid", value.into_field()); self }
    pub fn set_controller(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "controller", value.into_field()) }
    pub fn with_controller(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "controller", value.into_field()); self }
    pub fn set_block_owner_deletion(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "blockOwnerDeletion", value.into_field()) }
    pub fn with_block_owner_deletion(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "blockOwnerDeletion", value.into_field()); self }
}

object!(PartialObjectMetadata, PartialObjectMetadataView);
part!(PartialObjectMetadata);
impl<'a> PartialObjectMetadataView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
}
impl PartialObjectMetadata {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
}

object!(PartialObjectMetadataList, PartialObjectMetadataListView);
part!(PartialObjectMetadataList);
impl<'a> PartialObjectMetadataListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::meta::v1::PartialObjectMetadataView<'a>> { read(self.0, "items") }
}
impl PartialObjectMetadataList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::meta::v1::PartialObjectMetadata>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::PartialObjectMetadata>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::PartialObjectMetadata>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(PatchOptions, PatchOptionsView);
part!(PatchOptions);
impl<'a> PatchOptionsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn dry_run(self) -> r::List<'a, &'a str> { read(self.0, "dryRun") }
    pub fn force(self) -> Option<bool> { find(self.0, "force") }
    pub fn field_manager(self) -> &'a str { read(self.0, "fieldManager") }
    pub fn field_validation(self) -> &'a str { read(self.0, "fieldValidation") }
}
impl PatchOptions {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn push_dry_run(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "dryRun", item) }
    pub fn set_dry_run(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "dryRun", value) }
    pub fn with_dry_run(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "dryRun", value); self }
    pub fn set_force(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "force", value.into_field()) }
    pub fn with_force(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "force", value.into_field()); self }
    pub fn set_field_manager(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fieldManager", value.into_field()) }
    pub fn with_field_manager(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fieldManager", value.into_field()); self }
    pub fn set_field_validation(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fieldValidation", value.into_field()) }
    pub fn with_field_validation(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fieldValidation", value.into_field()); self }
}

object!(Preconditions, PreconditionsView);
part!(Preconditions);
impl<'a> PreconditionsView<'a> {
    pub fn uid(self) -> Option<&'a str> { find(self.0, "uid") }
    pub fn resource_version(self) -> Option<&'a str> { find(self.0, "resourceVersion") }
}
impl Preconditions {
    pub fn set_uid(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "uid", value.into_field()) }
    pub fn with_uid(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "uid", value.into_field()); self }
    pub fn set_resource_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resourceVersion", value.into_field()) }
    pub fn with_resource_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resourceVersion", value.into_field()); self }
}

object!(RootPaths, RootPathsView);
part!(RootPaths);
impl<'a> RootPathsView<'a> {
    pub fn paths(self) -> r::List<'a, &'a str> { read(self.0, "paths") }
}
impl RootPaths {
    pub fn push_paths(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "paths", item) }
    pub fn set_paths(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "paths", value) }
    pub fn with_paths(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "paths", value); self }
}

object!(ServerAddressByClientCIDR, ServerAddressByClientCIDRView);
part!(ServerAddressByClientCIDR);
impl<'a> ServerAddressByClientCIDRView<'a> {
    pub fn client_cidr(self) -> &'a str { read(self.0, "clientCIDR") }
    pub fn server_address(self) -> &'a str { read(self.0, "serverAddress") }
}
impl ServerAddressByClientCIDR {
    pub fn set_client_cidr(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "clientCIDR", value.into_field()) }
    pub fn with_client_cidr(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "clientCIDR", value.into_field()); self }
    pub fn set_server_address(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "serverAddress", value.into_field()) }
    pub fn with_server_address(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "serverAddress", value.into_field()); self }
}

object!(ShardInfo, ShardInfoView);
part!(ShardInfo);
impl<'a> ShardInfoView<'a> {
    pub fn selector(self) -> &'a str { read(self.0, "selector") }
}
impl ShardInfo {
    pub fn set_selector(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "selector", value.into_field()) }
    pub fn with_selector(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "selector", value.into_field()); self }
}

object!(Status, StatusView);
part!(Status);
impl<'a> StatusView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn details(self) -> Option<g::meta::v1::StatusDetailsView<'a>> { find(self.0, "details") }
    pub fn code(self) -> i32 { read(self.0, "code") }
}
impl Status {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn set_status(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "status", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn edit_details<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::StatusDetails) -> R) -> R { edit(&mut self.0, "details", change) }
    pub fn set_details(&mut self, value: impl o::IntoField<g::meta::v1::StatusDetails>) { set(&mut self.0, "details", value.into_field()) }
    pub fn with_details(mut self, value: impl o::IntoField<g::meta::v1::StatusDetails>) -> Self { set(&mut self.0, "details", value.into_field()); self }
    pub fn set_code(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "code", value.into_field()) }
    pub fn with_code(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "code", value.into_field()); self }
}

object!(StatusCause, StatusCauseView);
part!(StatusCause);
impl<'a> StatusCauseView<'a> {
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
    pub fn field(self) -> &'a str { read(self.0, "field") }
}
impl StatusCause {
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
    pub fn set_field(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "field", value.into_field()) }
    pub fn with_field(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "field", value.into_field()); self }
}

object!(StatusDetails, StatusDetailsView);
part!(StatusDetails);
impl<'a> StatusDetailsView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn group(self) -> &'a str { read(self.0, "group") }
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn uid(self) -> &'a str { read(self.0, "uid") }
    pub fn causes(self) -> r::List<'a, g::meta::v1::StatusCauseView<'a>> { read(self.0, "causes") }
    pub fn retry_after_seconds(self) -> i32 { read(self.0, "retryAfterSeconds") }
}
impl StatusDetails {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "group", value.into_field()) }
    pub fn with_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "group", value.into_field()); self }
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_uid(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "uid", value.into_field()) }
    pub fn with_uid(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "uid", value.into_field()); self }
    pub fn push_causes(&mut self, item: impl o::IntoField<g::meta::v1::StatusCause>) { push(&mut self.0, "causes", item) }
    pub fn set_causes(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::StatusCause>>) { set_list(&mut self.0, "causes", value) }
    pub fn with_causes(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::StatusCause>>) -> Self { set_list(&mut self.0, "causes", value); self }
    pub fn set_retry_after_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "retryAfterSeconds", value.into_field()) }
    pub fn with_retry_after_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "retryAfterSeconds", value.into_field()); self }
}

object!(Table, TableView);
part!(Table);
impl<'a> TableView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn column_definitions(self) -> r::List<'a, g::meta::v1::TableColumnDefinitionView<'a>> { read(self.0, "columnDefinitions") }
    pub fn rows(self) -> r::List<'a, g::meta::v1::TableRowView<'a>> { read(self.0, "rows") }
}
impl Table {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_column_definitions(&mut self, item: impl o::IntoField<g::meta::v1::TableColumnDefinition>) { push(&mut self.0, "columnDefinitions", item) }
    pub fn set_column_definitions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::TableColumnDefinition>>) { set_list(&mut self.0, "columnDefinitions", value) }
    pub fn with_column_definitions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::TableColumnDefinition>>) -> Self { set_list(&mut self.0, "columnDefinitions", value); self }
    pub fn push_rows(&mut self, item: impl o::IntoField<g::meta::v1::TableRow>) { push(&mut self.0, "rows", item) }
    pub fn set_rows(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::TableRow>>) { set_list(&mut self.0, "rows", value) }
    pub fn with_rows(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::TableRow>>) -> Self { set_list(&mut self.0, "rows", value); self }
}

object!(TableColumnDefinition, TableColumnDefinitionView);
part!(TableColumnDefinition);
impl<'a> TableColumnDefinitionView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn format(self) -> &'a str { read(self.0, "format") }
    pub fn description(self) -> &'a str { read(self.0, "description") }
    pub fn priority(self) -> i32 { read(self.0, "priority") }
}
impl TableColumnDefinition {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_format(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "format", value.into_field()) }
    pub fn with_format(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "format", value.into_field()); self }
    pub fn set_description(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "description", value.into_field()) }
    pub fn with_description(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "description", value.into_field()); self }
    pub fn set_priority(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "priority", value.into_field()) }
    pub fn with_priority(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "priority", value.into_field()); self }
}

object!(TableOptions, TableOptionsView);
part!(TableOptions);
impl<'a> TableOptionsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn include_object(self) -> &'a str { read(self.0, "includeObject") }
}
impl TableOptions {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_include_object(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "includeObject", value.into_field()) }
    pub fn with_include_object(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "includeObject", value.into_field()); self }
}

object!(TableRow, TableRowView);
part!(TableRow);
impl<'a> TableRowView<'a> {
    pub fn cells(self) -> r::List<'a, r::Node<'a>> { read(self.0, "cells") }
    pub fn conditions(self) -> r::List<'a, g::meta::v1::TableRowConditionView<'a>> { read(self.0, "conditions") }
    pub fn object(self) -> Option<r::Node<'a>> { find(self.0, "object") }
}
impl TableRow {
    pub fn push_cells(&mut self, item: impl o::IntoField<o::Any>) { push(&mut self.0, "cells", item) }
    pub fn set_cells(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Any>>) { set_list(&mut self.0, "cells", value) }
    pub fn with_cells(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Any>>) -> Self { set_list(&mut self.0, "cells", value); self }
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::meta::v1::TableRowCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::TableRowCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::TableRowCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
    pub fn set_object(&mut self, value: impl o::IntoField<o::Any>) { set(&mut self.0, "object", value.into_field()) }
    pub fn with_object(mut self, value: impl o::IntoField<o::Any>) -> Self { set(&mut self.0, "object", value.into_field()); self }
}

object!(TableRowCondition, TableRowConditionView);
part!(TableRowCondition);
impl<'a> TableRowConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl TableRowCondition {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_status(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "status", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
}

object!(Timestamp, TimestampView);
part!(Timestamp);
impl<'a> TimestampView<'a> {
    pub fn seconds(self) -> i64 { read(self.0, "seconds") }
    pub fn nanos(self) -> i32 { read(self.0, "nanos") }
}
impl Timestamp {
    pub fn set_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "seconds", value.into_field()) }
    pub fn with_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "seconds", value.into_field()); self }
    pub fn set_nanos(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "nanos", value.into_field()) }
    pub fn with_nanos(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "nanos", value.into_field()); self }
}

object!(TypeMeta, TypeMetaView);
part!(TypeMeta);
impl<'a> TypeMetaView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
}
impl TypeMeta {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
}

object!(UpdateOptions, UpdateOptionsView);
part!(UpdateOptions);
impl<'a> UpdateOptionsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn dry_run(self) -> r::List<'a, &'a str> { read(self.0, "dryRun") }
    pub fn field_manager(self) -> &'a str { read(self.0, "fieldManager") }
    pub fn field_validation(self) -> &'a str { read(self.0, "fieldValidation") }
}
impl UpdateOptions {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn push_dry_run(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "dryRun", item) }
    pub fn set_dry_run(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "dryRun", value) }
    pub fn with_dry_run(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "dryRun", value); self }
    pub fn set_field_manager(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fieldManager", value.into_field()) }
    pub fn with_field_manager(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fieldManager", value.into_field()); self }
    pub fn set_field_validation(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fieldValidation", value.into_field()) }
    pub fn with_field_validation(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fieldValidation", value.into_field()); self }
}

object!(WatchEvent, WatchEventView);
part!(WatchEvent);
impl<'a> WatchEventView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn object(self) -> Option<r::Node<'a>> { find(self.0, "object") }
}
impl WatchEvent {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_object(&mut self, value: impl o::IntoField<o::Any>) { set(&mut self.0, "object", value.into_field()) }
    pub fn with_object(mut self, value: impl o::IntoField<o::Any>) -> Self { set(&mut self.0, "object", value.into_field()); self }
}
