//! Generated from facts/apiregistration.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(APIService, APIServiceView);
kind!(APIService, "apiregistration.k8s.io", "v1", "apiregistration.k8s.io/v1", "apiservices");
impl<'a> APIServiceView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::apiregistration::v1::APIServiceSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::apiregistration::v1::APIServiceStatusView<'a> { read(self.0, "status") }
}
impl APIService {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::apiregistration::v1::APIServiceSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::apiregistration::v1::APIServiceSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::apiregistration::v1::APIServiceSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::apiregistration::v1::APIServiceStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::apiregistration::v1::APIServiceStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::apiregistration::v1::APIServiceStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(APIServiceCondition, APIServiceConditionView);
part!(APIServiceCondition);
impl<'a> APIServiceConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl APIServiceCondition {
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

object!(APIServiceList, APIServiceListView);
part!(APIServiceList);
impl<'a> APIServiceListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::apiregistration::v1::APIServiceView<'a>> { read(self.0, "items") }
}
impl APIServiceList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::apiregistration::v1::APIService>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiregistration::v1::APIService>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiregistration::v1::APIService>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(APIServiceSpec, APIServiceSpecView);
part!(APIServiceSpec);
impl<'a> APIServiceSpecView<'a> {
    pub fn service(self) -> Option<g::apiregistration::v1::ServiceReferenceView<'a>> { find(self.0, "service") }
    pub fn group(self) -> &'a str { read(self.0, "group") }
    pub fn version(self) -> &'a str { read(self.0, "version") }
    pub fn insecure_skip_tls_verify(self) -> bool { read(self.0, "insecureSkipTLSVerify") }
    pub fn ca_bundle(self) -> r::Base64<'a> { read(self.0, "caBundle") }
    pub fn group_priority_minimum(self) -> i32 { read(self.0, "groupPriorityMinimum") }
    pub fn version_priority(self) -> i32 { read(self.0, "versionPriority") }
}
impl APIServiceSpec {
    pub fn edit_service<R>(&mut self, change: impl FnOnce(&mut g::apiregistration::v1::ServiceReference) -> R) -> R { edit(&mut self.0, "service", change) }
    pub fn set_service(&mut self, value: impl o::IntoField<g::apiregistration::v1::ServiceReference>) { set(&mut self.0, "service", value.into_field()) }
    pub fn with_service(mut self, value: impl o::IntoField<g::apiregistration::v1::ServiceReference>) -> Self { set(&mut self.0, "service", value.into_field()); self }
    pub fn set_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "group", value.into_field()) }
    pub fn with_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "group", value.into_field()); self }
    pub fn set_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "version", value.into_field()) }
    pub fn with_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "version", value.into_field()); self }
    pub fn set_insecure_skip_tls_verify(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "insecureSkipTLSVerify", value.into_field()) }
    pub fn with_insecure_skip_tls_verify(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "insecureSkipTLSVerify", value.into_field()); self }
    pub fn set_ca_bundle(&mut self, value: impl o::IntoField<o::Bytes>) { set(&mut self.0, "caBundle", value.into_field()) }
    pub fn with_ca_bundle(mut self, value: impl o::IntoField<o::Bytes>) -> Self { set(&mut self.0, "caBundle", value.into_field()); self }
    pub fn set_group_priority_minimum(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "groupPriorityMinimum", value.into_field()) }
    pub fn with_group_priority_minimum(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "groupPriorityMinimum", value.into_field()); self }
    pub fn set_version_priority(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "versionPriority", value.into_field()) }
    pub fn with_version_priority(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "versionPriority", value.into_field()); self }
}

object!(APIServiceStatus, APIServiceStatusView);
part!(APIServiceStatus);
impl<'a> APIServiceStatusView<'a> {
    pub fn conditions(self) -> r::List<'a, g::apiregistration::v1::APIServiceConditionView<'a>> { read(self.0, "conditions") }
}
impl APIServiceStatus {
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::apiregistration::v1::APIServiceCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiregistration::v1::APIServiceCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiregistration::v1::APIServiceCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
}

object!(ServiceReference, ServiceReferenceView);
part!(ServiceReference);
impl<'a> ServiceReferenceView<'a> {
    pub fn namespace(self) -> &'a str { read(self.0, "namespace") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn port(self) -> Option<i32> { find(self.0, "port") }
}
impl ServiceReference {
    pub fn set_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "namespace", value.into_field()) }
    pub fn with_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "namespace", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_port(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "port", value.into_field()) }
    pub fn with_port(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "port", value.into_field()); self }
}
