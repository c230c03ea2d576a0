//! Generated from facts/authentication.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(BoundObjectReference, BoundObjectReferenceView);
part!(BoundObjectReference);
impl<'a> BoundObjectReferenceView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn uid(self) -> &'a str { read(self.0, "uid") }
}
impl BoundObjectReference {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_uid(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "uid", value.into_field()) }
    pub fn with_uid(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "uid", value.into_field()); self }
}

object!(SelfSubjectReview, SelfSubjectReviewView);
kind!(SelfSubjectReview, "authentication.k8s.io", "v1", "authentication.k8s.io/v1", "selfsubjectreviews");
impl<'a> SelfSubjectReviewView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn status(self) -> g::authentication::v1::SelfSubjectReviewStatusView<'a> { read(self.0, "status") }
}
impl SelfSubjectReview {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::authentication::v1::SelfSubjectReviewStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::authentication::v1::SelfSubjectReviewStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::authentication::v1::SelfSubjectReviewStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(SelfSubjectReviewStatus, SelfSubjectReviewStatusView);
part!(SelfSubjectReviewStatus);
impl<'a> SelfSubjectReviewStatusView<'a> {
    pub fn user_info(self) -> g::authentication::v1::UserInfoView<'a> { read(self.0, "userInfo") }
}
impl SelfSubjectReviewStatus {
    pub fn edit_user_info<R>(&mut self, change: impl FnOnce(&mut g::authentication::v1::UserInfo) -> R) -> R { edit(&mut self.0, "userInfo", change) }
    pub fn set_user_info(&mut self, value: impl o::IntoField<g::authentication::v1::UserInfo>) { set(&mut self.0, "userInfo", value.into_field()) }
    pub fn with_user_info(mut self, value: impl o::IntoField<g::authentication::v1::UserInfo>) -> Self { set(&mut self.0, "userInfo", value.into_field()); self }
}

object!(TokenRequest, TokenRequestView);
part!(TokenRequest);
impl<'a> TokenRequestView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::authentication::v1::TokenRequestSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::authentication::v1::TokenRequestStatusView<'a> { read(self.0, "status") }
}
impl TokenRequest {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::authentication::v1::TokenRequestSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::authentication::v1::TokenRequestSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::authentication::v1::TokenRequestSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::authentication::v1::TokenRequestStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::authentication::v1::TokenRequestStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::authentication::v1::TokenRequestStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(TokenRequestSpec, TokenRequestSpecView);
part!(TokenRequestSpec);
impl<'a> TokenRequestSpecView<'a> {
    pub fn audiences(self) -> r::List<'a, &'a str> { read(self.0, "audiences") }
    pub fn expiration_seconds(self) -> Option<i64> { find(self.0, "expirationSeconds") }
    pub fn bound_object_ref(self) -> Option<g::authentication::v1::BoundObjectReferenceView<'a>> { find(self.0, "boundObjectRef") }
}
impl TokenRequestSpec {
    pub fn push_audiences(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "audiences", item) }
    pub fn set_audiences(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "audiences", value) }
    pub fn with_audiences(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "audiences", value); self }
    pub fn set_expiration_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "expirationSeconds", value.into_field()) }
    pub fn with_expiration_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "expirationSeconds", value.into_field()); self }
    pub fn edit_bound_object_ref<R>(&mut self, change: impl FnOnce(&mut g::authentication::v1::BoundObjectReference) -> R) -> R { edit(&mut self.0, "boundObjectRef", change) }
    pub fn set_bound_object_ref(&mut self, value: impl o::IntoField<g::authentication::v1::BoundObjectReference>) { set(&mut self.0, "boundObjectRef", value.into_field()) }
    pub fn with_bound_object_ref(mut self, value: impl o::IntoField<g::authentication::v1::BoundObjectReference>) -> Self { set(&mut self.0, "boundObjectRef", value.into_field()); self }
}

object!(TokenRequestStatus, TokenRequestStatusView);
part!(TokenRequestStatus);
impl<'a> TokenRequestStatusView<'a> {
    pub fn token(self) -> &'a str { read(self.0, "token") }
    pub fn expiration_timestamp(self) -> Option<r::Timestamp> { find(self.0, "expirationTimestamp") }
}
impl TokenRequestStatus {
    pub fn set_token(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "token", value.into_field()) }
    pub fn with_token(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "token", value.into_field()); self }
    pub fn set_expiration_timestamp(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "expirationTimestamp", value.into_field()) }
    pub fn with_expiration_timestamp(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "expirationTimestamp", value.into_field()); self }
}

object!(TokenReview, TokenReviewView);
kind!(TokenReview, "authentication.k8s.io", "v1", "authentication.k8s.io/v1", "tokenreviews");
impl<'a> TokenReviewView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::authentication::v1::TokenReviewSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::authentication::v1::TokenReviewStatusView<'a> { read(self.0, "status") }
}
impl TokenReview {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::authentication::v1::TokenReviewSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::authentication::v1::TokenReviewSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::authentication::v1::TokenReviewSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::authentication::v1::TokenReviewStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::authentication::v1::TokenReviewStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::authentication::v1::TokenReviewStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(TokenReviewSpec, TokenReviewSpecView);
part!(TokenReviewSpec);
impl<'a> TokenReviewSpecView<'a> {
    pub fn token(self) -> &'a str { read(self.0, "token") }
    pub fn audiences(self) -> r::List<'a, &'a str> { read(self.0, "audiences") }
}
impl TokenReviewSpec {
    pub fn set_token(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "token", value.into_field()) }
    pub fn with_token(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "token", value.into_field()); self }
    pub fn push_audiences(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "audiences", item) }
    pub fn set_audiences(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "audiences", value) }
    pub fn with_audiences(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "audiences", value); self }
}

object!(TokenReviewStatus, TokenReviewStatusView);
part!(TokenReviewStatus);
impl<'a> TokenReviewStatusView<'a> {
    pub fn authenticated(self) -> bool { read(self.0, "authenticated") }
    pub fn user(self) -> g::authentication::v1::UserInfoView<'a> { read(self.0, "user") }
    pub fn audiences(self) -> r::List<'a, &'a str> { read(self.0, "audiences") }
    pub fn error(self) -> &'a str { read(self.0, "error") }
}
impl TokenReviewStatus {
    pub fn set_authenticated(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "authenticated", value.into_field()) }
    pub fn with_authenticated(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "authenticated", value.into_field()); self }
    pub fn edit_user<R>(&mut self, change: impl FnOnce(&mut g::authentication::v1::UserInfo) -> R) -> R { edit(&mut self.0, "user", change) }
    pub fn set_user(&mut self, value: impl o::IntoField<g::authentication::v1::UserInfo>) { set(&mut self.0, "user", value.into_field()) }
    pub fn with_user(mut self, value: impl o::IntoField<g::authentication::v1::UserInfo>) -> Self { set(&mut self.0, "user", value.into_field()); self }
    pub fn push_audiences(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "audiences", item) }
    pub fn set_audiences(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "audiences", value) }
    pub fn with_audiences(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "audiences", value); self }
    pub fn set_error(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "error", value.into_field()) }
    pub fn with_error(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "error", value.into_field()); self }
}

object!(UserInfo, UserInfoView);
part!(UserInfo);
impl<'a> UserInfoView<'a> {
    pub fn username(self) -> &'a str { read(self.0, "username") }
    pub fn uid(self) -> &'a str { read(self.0, "uid") }
    pub fn groups(self) -> r::List<'a, &'a str> { read(self.0, "groups") }
    pub fn extra(self) -> r::Map<'a, r::List<'a, &'a str>> { read(self.0, "extra") }
}
impl UserInfo {
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
