//! Generated from facts/certificates.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(CertificateSigningRequest, CertificateSigningRequestView);
kind!(CertificateSigningRequest, "certificates.k8s.io", "v1", "certificates.k8s.io/v1", "certificatesigningrequests");
impl<'a> CertificateSigningRequestView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::certificates::v1::CertificateSigningRequestSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::certificates::v1::CertificateSigningRequestStatusView<'a> { read(self.0, "status") }
}
impl CertificateSigningRequest {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::certificates::v1::CertificateSigningRequestSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::certificates::v1::CertificateSigningRequestSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::certificates::v1::CertificateSigningRequestSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::certificates::v1::CertificateSigningRequestStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::certificates::v1::CertificateSigningRequestStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::certificates::v1::CertificateSigningRequestStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(CertificateSigningRequestCondition, CertificateSigningRequestConditionView);
part!(CertificateSigningRequestCondition);
impl<'a> CertificateSigningRequestConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
    pub fn last_update_time(self) -> Option<r::Timestamp> { find(self.0, "lastUpdateTime") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
}
impl CertificateSigningRequestCondition {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_status(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "status", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
    pub fn set_last_update_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastUpdateTime", value.into_field()) }
    pub fn with_last_update_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastUpdateTime", value.into_field()); self }
    pub fn set_last_transition_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastTransitionTime", value.into_field()) }
    pub fn with_last_transition_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastTransitionTime", value.into_field()); self }
}

object!(CertificateSigningRequestList, CertificateSigningRequestListView);
part!(CertificateSigningRequestList);
impl<'a> CertificateSigningRequestListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::certificates::v1::CertificateSigningRequestView<'a>> { read(self.0, "items") }
}
impl CertificateSigningRequestList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::certificates::v1::CertificateSigningRequest>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::certificates::v1::CertificateSigningRequest>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::certificates::v1::CertificateSigningRequest>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(CertificateSigningRequestSpec, CertificateSigningRequestSpecView);
part!(CertificateSigningRequestSpec);
impl<'a> CertificateSigningRequestSpecView<'a> {
    pub fn request(self) -> r::Base64<'a> { read(self.0, "request") }
    pub fn signer_name(self) -> &'a str { read(self.0, "signerName") }
    pub fn expiration_seconds(self) -> Option<i32> { find(self.0, "expirationSeconds") }
    pub fn usages(self) -> r::List<'a, &'a str> { read(self.0, "usages") }
    pub fn username(self) -> &'a str { read(self.0, "username") }
    pub fn uid(self) -> &'a str { read(self.0, "uid") }
    pub fn groups(self) -> r::List<'a, &'a str> { read(self.0, "groups") }
    pub fn extra(self) -> r::Map<'a, r::List<'a, &'a str>> { read(self.0, "extra") }
}
impl CertificateSigningRequestSpec {
    pub fn set_request(&mut self, value: impl o::IntoField<o::Bytes>) { set(&mut self.0, "request", value.into_field()) }
    pub fn with_request(mut self, value: impl o::IntoField<o::Bytes>) -> Self { set(&mut self.0, "request", value.into_field()); self }
    pub fn set_signer_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "signerName", value.into_field()) }
    pub fn with_signer_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "signerName", value.into_field()); self }
    pub fn set_expiration_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "expirationSeconds", value.into_field()) }
    pub fn with_expiration_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "expirationSeconds", value.into_field()); self }
    pub fn push_usages(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "usages", item) }
    pub fn set_usages(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "usages", value) }
    pub fn with_usages(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "usages", value); self }
    pub fn set_username(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "username", value.into_field()) }
    pub fn with_username(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "username", value.into_field()); self }
    pub fn set_uid(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "uid", value.into_field()) }
    pub fn with_uid(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "uid", value.into_field()); self }
    pub fn push_groups(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "groups", item) }
    pub fn set_groups(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "groups", value) }
    pub fn with_groups(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "groups", value); self }
    pub fn insert_extra(&mut self, key: &str, value: impl o::IntoField<o::Any>) { insert(&mut self.0, "extra", key, value) }
    pub fn set_extra(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Any>)>) { set_map(&mut self.0, "extra", value) }
    pub fn with_extra(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Any>)>) -> Self { set_map(&mut self.0, "extra", value); self }
}

object!(CertificateSigningRequestStatus, CertificateSigningRequestStatusView);
part!(CertificateSigningRequestStatus);
impl<'a> CertificateSigningRequestStatusView<'a> {
    pub fn conditions(self) -> r::List<'a, g::certificates::v1::CertificateSigningRequestConditionView<'a>> { read(self.0, "conditions") }
    pub fn certificate(self) -> r::Base64<'a> { read(self.0, "certificate") }
}
impl CertificateSigningRequestStatus {
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::certificates::v1::CertificateSigningRequestCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::certificates::v1::CertificateSigningRequestCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::certificates::v1::CertificateSigningRequestCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
    pub fn set_certificate(&mut self, value: impl o::IntoField<o::Bytes>) { set(&mut self.0, "certificate", value.into_field()) }
    pub fn with_certificate(mut self, value: impl o::IntoField<o::Bytes>) -> Self { set(&mut self.0, "certificate", value.into_field()); self }
}
