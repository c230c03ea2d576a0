//! Generated from facts/rbac.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(AggregationRule, AggregationRuleView);
part!(AggregationRule);
impl<'a> AggregationRuleView<'a> {
    pub fn cluster_role_selectors(self) -> r::List<'a, g::meta::v1::LabelSelectorView<'a>> { read(self.0, "clusterRoleSelectors") }
}
impl AggregationRule {
    pub fn push_cluster_role_selectors(&mut self, item: impl o::IntoField<g::meta::v1::LabelSelector>) { push(&mut self.0, "clusterRoleSelectors", item) }
    pub fn set_cluster_role_selectors(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::LabelSelector>>) { set_list(&mut self.0, "clusterRoleSelectors", value) }
    pub fn with_cluster_role_selectors(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::LabelSelector>>) -> Self { set_list(&mut self.0, "clusterRoleSelectors", value); self }
}

object!(ClusterRole, ClusterRoleView);
kind!(ClusterRole, "rbac.authorization.k8s.io", "v1", "rbac.authorization.k8s.io/v1", "clusterroles");
impl<'a> ClusterRoleView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn rules(self) -> r::List<'a, g::rbac::v1::PolicyRuleView<'a>> { read(self.0, "rules") }
    pub fn aggregation_rule(self) -> Option<g::rbac::v1::AggregationRuleView<'a>> { find(self.0, "aggregationRule") }
}
impl ClusterRole {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_rules(&mut self, item: impl o::IntoField<g::rbac::v1::PolicyRule>) { push(&mut self.0, "rules", item) }
    pub fn set_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::rbac::v1::PolicyRule>>) { set_list(&mut self.0, "rules", value) }
    pub fn with_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::rbac::v1::PolicyRule>>) -> Self { set_list(&mut self.0, "rules", value); self }
    pub fn edit_aggregation_rule<R>(&mut self, change: impl FnOnce(&mut g::rbac::v1::AggregationRule) -> R) -> R { edit(&mut self.0, "aggregationRule", change) }
    pub fn set_aggregation_rule(&mut self, value: impl o::IntoField<g::rbac::v1::AggregationRule>) { set(&mut self.0, "aggregationRule", value.into_field()) }
    pub fn with_aggregation_rule(mut self, value: impl o::IntoField<g::rbac::v1::AggregationRule>) -> Self { set(&mut self.0, "aggregationRule", value.into_field()); self }
}

object!(ClusterRoleBinding, ClusterRoleBindingView);
kind!(ClusterRoleBinding, "rbac.authorization.k8s.io", "v1", "rbac.authorization.k8s.io/v1", "clusterrolebindings");
impl<'a> ClusterRoleBindingView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn subjects(self) -> r::List<'a, g::rbac::v1::SubjectView<'a>> { read(self.0, "subjects") }
    pub fn role_ref(self) -> g::rbac::v1::RoleRefView<'a> { read(self.0, "roleRef") }
}
impl ClusterRoleBinding {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_subjects(&mut self, item: impl o::IntoField<g::rbac::v1::Subject>) { push(&mut self.0, "subjects", item) }
    pub fn set_subjects(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::rbac::v1::Subject>>) { set_list(&mut self.0, "subjects", value) }
    pub fn with_subjects(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::rbac::v1::Subject>>) -> Self { set_list(&mut self.0, "subjects", value); self }
    pub fn edit_role_ref<R>(&mut self, change: impl FnOnce(&mut g::rbac::v1::RoleRef) -> R) -> R { edit(&mut self.0, "roleRef", change) }
    pub fn set_role_ref(&mut self, value: impl o::IntoField<g::rbac::v1::RoleRef>) { set(&mut self.0, "roleRef", value.into_field()) }
    pub fn with_role_ref(mut self, value: impl o::IntoField<g::rbac::v1::RoleRef>) -> Self { set(&mut self.0, "roleRef", value.into_field()); self }
}

object!(ClusterRoleBindingList, ClusterRoleBindingListView);
part!(ClusterRoleBindingList);
impl<'a> ClusterRoleBindingListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::rbac::v1::ClusterRoleBindingView<'a>> { read(self.0, "items") }
}
impl ClusterRoleBindingList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::rbac::v1::ClusterRoleBinding>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::rbac::v1::ClusterRoleBinding>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::rbac::v1::ClusterRoleBinding>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(ClusterRoleList, ClusterRoleListView);
part!(ClusterRoleList);
impl<'a> ClusterRoleListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::rbac::v1::ClusterRoleView<'a>> { read(self.0, "items") }
}
impl ClusterRoleList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::rbac::v1::ClusterRole>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::rbac::v1::ClusterRole>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::rbac::v1::ClusterRole>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(PolicyRule, PolicyRuleView);
part!(PolicyRule);
impl<'a> PolicyRuleView<'a> {
    pub fn verbs(self) -> r::List<'a, &'a str> { read(self.0, "verbs") }
    pub fn api_groups(self) -> r::List<'a, &'a str> { read(self.0, "apiGroups") }
    pub fn resources(self) -> r::List<'a, &'a str> { read(self.0, "resources") }
    pub fn resource_names(self) -> r::List<'a, &'a str> { read(self.0, "resourceNames") }
    pub fn non_resource_urls(self) -> r::List<'a, &'a str> { read(self.0, "nonResourceURLs") }
}
impl PolicyRule {
    pub fn push_verbs(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "verbs", item) }
    pub fn set_verbs(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "verbs", value) }
    pub fn with_verbs(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "verbs", value); self }
    pub fn push_api_groups(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "apiGroups", item) }
    pub fn set_api_groups(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "apiGroups", value) }
    pub fn with_api_groups(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "apiGroups", value); self }
    pub fn push_resources(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "resources", item) }
    pub fn set_resources(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "resources", value) }
    pub fn with_resources(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "resources", value); self }
    pub fn push_resource_names(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "resourceNames", item) }
    pub fn set_resource_names(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "resourceNames", value) }
    pub fn with_resource_names(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "resourceNames", value); self }
    pub fn push_non_resource_urls(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "nonResourceURLs", item) }
    pub fn set_non_resource_urls(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "nonResourceURLs", value) }
    pub fn with_non_resource_urls(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "nonResourceURLs", value); self }
}

object!(Role, RoleView);
kind!(Role, "rbac.authorization.k8s.io", "v1", "rbac.authorization.k8s.io/v1", "roles");
impl<'a> RoleView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn rules(self) -> r::List<'a, g::rbac::v1::PolicyRuleView<'a>> { read(self.0, "rules") }
}
impl Role {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_rules(&mut self, item: impl o::IntoField<g::rbac::v1::PolicyRule>) { push(&mut self.0, "rules", item) }
    pub fn set_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::rbac::v1::PolicyRule>>) { set_list(&mut self.0, "rules", value) }
    pub fn with_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::rbac::v1::PolicyRule>>) -> Self { set_list(&mut self.0, "rules", value); self }
}

object!(RoleBinding, RoleBindingView);
kind!(RoleBinding, "rbac.authorization.k8s.io", "v1", "rbac.authorization.k8s.io/v1", "rolebindings");
impl<'a> RoleBindingView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn subjects(self) -> r::List<'a, g::rbac::v1::SubjectView<'a>> { read(self.0, "subjects") }
    pub fn role_ref(self) -> g::rbac::v1::RoleRefView<'a> { read(self.0, "roleRef") }
}
impl RoleBinding {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_subjects(&mut self, item: impl o::IntoField<g::rbac::v1::Subject>) { push(&mut self.0, "subjects", item) }
    pub fn set_subjects(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::rbac::v1::Subject>>) { set_list(&mut self.0, "subjects", value) }
    pub fn with_subjects(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::rbac::v1::Subject>>) -> Self { set_list(&mut self.0, "subjects", value); self }
    pub fn edit_role_ref<R>(&mut self, change: impl FnOnce(&mut g::rbac::v1::RoleRef) -> R) -> R { edit(&mut self.0, "roleRef", change) }
    pub fn set_role_ref(&mut self, value: impl o::IntoField<g::rbac::v1::RoleRef>) { set(&mut self.0, "roleRef", value.into_field()) }
    pub fn with_role_ref(mut self, value: impl o::IntoField<g::rbac::v1::RoleRef>) -> Self { set(&mut self.0, "roleRef", value.into_field()); self }
}

object!(RoleBindingList, RoleBindingListView);
part!(RoleBindingList);
impl<'a> RoleBindingListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::rbac::v1::RoleBindingView<'a>> { read(self.0, "items") }
}
impl RoleBindingList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::rbac::v1::RoleBinding>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::rbac::v1::RoleBinding>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::rbac::v1::RoleBinding>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(RoleList, RoleListView);
part!(RoleList);
impl<'a> RoleListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::rbac::v1::RoleView<'a>> { read(self.0, "items") }
}
impl RoleList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::rbac::v1::Role>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::rbac::v1::Role>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::rbac::v1::Role>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(RoleRef, RoleRefView);
part!(RoleRef);
impl<'a> RoleRefView<'a> {
    pub fn api_group(self) -> &'a str { read(self.0, "apiGroup") }
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
}
impl RoleRef {
    pub fn set_api_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiGroup", value.into_field()) }
    pub fn with_api_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiGroup", value.into_field()); self }
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
}

object!(Subject, SubjectView);
part!(Subject);
impl<'a> SubjectView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_group(self) -> &'a str { read(self.0, "apiGroup") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn namespace(self) -> &'a str { read(self.0, "namespace") }
}
impl Subject {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiGroup", value.into_field()) }
    pub fn with_api_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiGroup", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "namespace", value.into_field()) }
    pub fn with_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "namespace", value.into_field()); self }
}
