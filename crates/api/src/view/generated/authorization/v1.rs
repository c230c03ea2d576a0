//! Generated from facts/authorization.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(FieldSelectorAttributes, FieldSelectorAttributesView);
part!(FieldSelectorAttributes);
impl<'a> FieldSelectorAttributesView<'a> {
    pub fn raw_selector(self) -> &'a str { read(self.0, "rawSelector") }
    pub fn requirements(self) -> r::List<'a, g::meta::v1::FieldSelectorRequirementView<'a>> { read(self.0, "requirements") }
}
impl FieldSelectorAttributes {
    pub fn set_raw_selector(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "rawSelector", value.into_field()) }
    pub fn with_raw_selector(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "rawSelector", value.into_field()); self }
    pub fn push_requirements(&mut self, item: impl o::IntoField<g::meta::v1::FieldSelectorRequirement>) { push(&mut self.0, "requirements", item) }
    pub fn set_requirements(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::FieldSelectorRequirement>>) { set_list(&mut self.0, "requirements", value) }
    pub fn with_requirements(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::FieldSelectorRequirement>>) -> Self { set_list(&mut self.0, "requirements", value); self }
}

object!(LabelSelectorAttributes, LabelSelectorAttributesView);
part!(LabelSelectorAttributes);
impl<'a> LabelSelectorAttributesView<'a> {
    pub fn raw_selector(self) -> &'a str { read(self.0, "rawSelector") }
    pub fn requirements(self) -> r::List<'a, g::meta::v1::LabelSelectorRequirementView<'a>> { read(self.0, "requirements") }
}
impl LabelSelectorAttributes {
    pub fn set_raw_selector(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "rawSelector", value.into_field()) }
    pub fn with_raw_selector(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "rawSelector", value.into_field()); self }
    pub fn push_requirements(&mut self, item: impl o::IntoField<g::meta::v1::LabelSelectorRequirement>) { push(&mut self.0, "requirements", item) }
    pub fn set_requirements(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::LabelSelectorRequirement>>) { set_list(&mut self.0, "requirements", value) }
    pub fn with_requirements(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::LabelSelectorRequirement>>) -> Self { set_list(&mut self.0, "requirements", value); self }
}

object!(LocalSubjectAccessReview, LocalSubjectAccessReviewView);
kind!(LocalSubjectAccessReview, "authorization.k8s.io", "v1", "authorization.k8s.io/v1", "localsubjectaccessreviews");
impl<'a> LocalSubjectAccessReviewView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::authorization::v1::SubjectAccessReviewSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::authorization::v1::SubjectAccessReviewStatusView<'a> { read(self.0, "status") }
}
impl LocalSubjectAccessReview {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::authorization::v1::SubjectAccessReviewSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::authorization::v1::SubjectAccessReviewSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::authorization::v1::SubjectAccessReviewSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::authorization::v1::SubjectAccessReviewStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::authorization::v1::SubjectAccessReviewStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::authorization::v1::SubjectAccessReviewStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(NonResourceAttributes, NonResourceAttributesView);
part!(NonResourceAttributes);
impl<'a> NonResourceAttributesView<'a> {
    pub fn path(self) -> &'a str { read(self.0, "path") }
    pub fn verb(self) -> &'a str { read(self.0, "verb") }
}
impl NonResourceAttributes {
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
    pub fn set_verb(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "verb", value.into_field()) }
    pub fn with_verb(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "verb", value.into_field()); self }
}

object!(NonResourceRule, NonResourceRuleView);
part!(NonResourceRule);
impl<'a> NonResourceRuleView<'a> {
    pub fn verbs(self) -> r::List<'a, &'a str> { read(self.0, "verbs") }
    pub fn non_resource_urls(self) -> r::List<'a, &'a str> { read(self.0, "nonResourceURLs") }
}
impl NonResourceRule {
    pub fn push_verbs(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "verbs", item) }
    pub fn set_verbs(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "verbs", value) }
    pub fn with_verbs(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "verbs", value); self }
    pub fn push_non_resource_urls(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "nonResourceURLs", item) }
    pub fn set_non_resource_urls(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "nonResourceURLs", value) }
    pub fn with_non_resource_urls(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "nonResourceURLs", value); self }
}

object!(ResourceAttributes, ResourceAttributesView);
part!(ResourceAttributes);
impl<'a> ResourceAttributesView<'a> {
    pub fn namespace(self) -> &'a str { read(self.0, "namespace") }
    pub fn verb(self) -> &'a str { read(self.0, "verb") }
    pub fn group(self) -> &'a str { read(self.0, "group") }
    pub fn version(self) -> &'a str { read(self.0, "version") }
    pub fn resource(self) -> &'a str { read(self.0, "resource") }
    pub fn subresource(self) -> &'a str { read(self.0, "subresource") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn field_selector(self) -> Option<g::authorization::v1::FieldSelectorAttributesView<'a>> { find(self.0, "fieldSelector") }
    pub fn label_selector(self) -> Option<g::authorization::v1::LabelSelectorAttributesView<'a>> { find(self.0, "labelSelector") }
}
impl ResourceAttributes {
    pub fn set_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "namespace", value.into_field()) }
    pub fn with_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "namespace", value.into_field()); self }
    pub fn set_verb(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "verb", value.into_field()) }
    pub fn with_verb(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "verb", value.into_field()); self }
    pub fn set_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "group", value.into_field()) }
    pub fn with_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "group", value.into_field()); self }
    pub fn set_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "version", value.into_field()) }
    pub fn with_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "version", value.into_field()); self }
    pub fn set_resource(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resource", value.into_field()) }
    pub fn with_resource(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resource", value.into_field()); self }
    pub fn set_subresource(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "subresource", value.into_field()) }
    pub fn with_subresource(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "subresource", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn edit_field_selector<R>(&mut self, change: impl FnOnce(&mut g::authorization::v1::FieldSelectorAttributes) -> R) -> R { edit(&mut self.0, "fieldSelector", change) }
    pub fn set_field_selector(&mut self, value: impl o::IntoField<g::authorization::v1::FieldSelectorAttributes>) { set(&mut self.0, "fieldSelector", value.into_field()) }
    pub fn with_field_selector(mut self, value: impl o::IntoField<g::authorization::v1::FieldSelectorAttributes>) -> Self { set(&mut self.0, "fieldSelector", value.into_field()); self }
    pub fn edit_label_selector<R>(&mut self, change: impl FnOnce(&mut g::authorization::v1::LabelSelectorAttributes) -> R) -> R { edit(&mut self.0, "labelSelector", change) }
    pub fn set_label_selector(&mut self, value: impl o::IntoField<g::authorization::v1::LabelSelectorAttributes>) { set(&mut self.0, "labelSelector", value.into_field()) }
    pub fn with_label_selector(mut self, value: impl o::IntoField<g::authorization::v1::LabelSelectorAttributes>) -> Self { set(&mut self.0, "labelSelector", value.into_field()); self }
}

object!(ResourceRule, ResourceRuleView);
part!(ResourceRule);
impl<'a> ResourceRuleView<'a> {
    pub fn verbs(self) -> r::List<'a, &'a str> { read(self.0, "verbs") }
    pub fn api_groups(self) -> r::List<'a, &'a str> { read(self.0, "apiGroups") }
    pub fn resources(self) -> r::List<'a, &'a str> { read(self.0, "resources") }
    pub fn resource_names(self) -> r::List<'a, &'a str> { read(self.0, "resourceNames") }
}
impl ResourceRule {
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
}

object!(SelfSubjectAccessReview, SelfSubjectAccessReviewView);
kind!(SelfSubjectAccessReview, "authorization.k8s.io", "v1", "authorization.k8s.io/v1", "selfsubjectaccessreviews");
impl<'a> SelfSubjectAccessReviewView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::authorization::v1::SelfSubjectAccessReviewSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::authorization::v1::SubjectAccessReviewStatusView<'a> { read(self.0, "status") }
}
impl SelfSubjectAccessReview {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::authorization::v1::SelfSubjectAccessReviewSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::authorization::v1::SelfSubjectAccessReviewSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::authorization::v1::SelfSubjectAccessReviewSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::authorization::v1::SubjectAccessReviewStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::authorization::v1::SubjectAccessReviewStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::authorization::v1::SubjectAccessReviewStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(SelfSubjectAccessReviewSpec, SelfSubjectAccessReviewSpecView);
part!(SelfSubjectAccessReviewSpec);
impl<'a> SelfSubjectAccessReviewSpecView<'a> {
    pub fn resource_attributes(self) -> Option<g::authorization::v1::ResourceAttributesView<'a>> { find(self.0, "resourceAttributes") }
    pub fn non_resource_attributes(self) -> Option<g::authorization::v1::NonResourceAttributesView<'a>> { find(self.0, "nonResourceAttributes") }
}
impl SelfSubjectAccessReviewSpec {
    pub fn edit_resource_attributes<R>(&mut self, change: impl FnOnce(&mut g::authorization::v1::ResourceAttributes) -> R) -> R { edit(&mut self.0, "resourceAttributes", change) }
    pub fn set_resource_attributes(&mut self, value: impl o::IntoField<g::authorization::v1::ResourceAttributes>) { set(&mut self.0, "resourceAttributes", value.into_field()) }
    pub fn with_resource_attributes(mut self, value: impl o::IntoField<g::authorization::v1::ResourceAttributes>) -> Self { set(&mut self.0, "resourceAttributes", value.into_field()); self }
    pub fn edit_non_resource_attributes<R>(&mut self, change: impl FnOnce(&mut g::authorization::v1::NonResourceAttributes) -> R) -> R { edit(&mut self.0, "nonResourceAttributes", change) }
    pub fn set_non_resource_attributes(&mut self, value: impl o::IntoField<g::authorization::v1::NonResourceAttributes>) { set(&mut self.0, "nonResourceAttributes", value.into_field()) }
    pub fn with_non_resource_attributes(mut self, value: impl o::IntoField<g::authorization::v1::NonResourceAttributes>) -> Self { set(&mut self.0, "nonResourceAttributes", value.into_field()); self }
}

object!(SelfSubjectRulesReview, SelfSubjectRulesReviewView);
kind!(SelfSubjectRulesReview, "authorization.k8s.io", "v1", "authorization.k8s.io/v1", "selfsubjectrulesreviews");
impl<'a> SelfSubjectRulesReviewView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::authorization::v1::SelfSubjectRulesReviewSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::authorization::v1::SubjectRulesReviewStatusView<'a> { read(self.0, "status") }
}
impl SelfSubjectRulesReview {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::authorization::v1::SelfSubjectRulesReviewSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::authorization::v1::SelfSubjectRulesReviewSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::authorization::v1::SelfSubjectRulesReviewSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::authorization::v1::SubjectRulesReviewStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::authorization::v1::SubjectRulesReviewStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::authorization::v1::SubjectRulesReviewStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(SelfSubjectRulesReviewSpec, SelfSubjectRulesReviewSpecView);
part!(SelfSubjectRulesReviewSpec);
impl<'a> SelfSubjectRulesReviewSpecView<'a> {
    pub fn namespace(self) -> &'a str { read(self.0, "namespace") }
}
impl SelfSubjectRulesReviewSpec {
    pub fn set_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "namespace", value.into_field()) }
    pub fn with_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "namespace", value.into_field()); self }
}

object!(SubjectAccessReview, SubjectAccessReviewView);
kind!(SubjectAccessReview, "authorization.k8s.io", "v1", "authorization.k8s.io/v1", "subjectaccessreviews");
impl<'a> SubjectAccessReviewView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::authorization::v1::SubjectAccessReviewSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::authorization::v1::SubjectAccessReviewStatusView<'a> { read(self.0, "status") }
}
impl SubjectAccessReview {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::authorization::v1::SubjectAccessReviewSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::authorization::v1::SubjectAccessReviewSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::authorization::v1::SubjectAccessReviewSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::authorization::v1::SubjectAccessReviewStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::authorization::v1::SubjectAccessReviewStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::authorization::v1::SubjectAccessReviewStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(SubjectAccessReviewSpec, SubjectAccessReviewSpecView);
part!(SubjectAccessReviewSpec);
impl<'a> SubjectAccessReviewSpecView<'a> {
    pub fn resource_attributes(self) -> Option<g::authorization::v1::ResourceAttributesView<'a>> { find(self.0, "resourceAttributes") }
    pub fn non_resource_attributes(self) -> Option<g::authorization::v1::NonResourceAttributesView<'a>> { find(self.0, "nonResourceAttributes") }
    pub fn user(self) -> &'a str { read(self.0, "user") }
    pub fn groups(self) -> r::List<'a, &'a str> { read(self.0, "groups") }
    pub fn extra(self) -> r::Map<'a, r::List<'a, &'a str>> { read(self.0, "extra") }
    pub fn uid(self) -> &'a str { read(self.0, "uid") }
}
impl SubjectAccessReviewSpec {
    pub fn edit_resource_attributes<R>(&mut self, change: impl FnOnce(&mut g::authorization::v1::ResourceAttributes) -> R) -> R { edit(&mut self.0, "resourceAttributes", change) }
    pub fn set_resource_attributes(&mut self, value: impl o::IntoField<g::authorization::v1::ResourceAttributes>) { set(&mut self.0, "resourceAttributes", value.into_field()) }
    pub fn with_resource_attributes(mut self, value: impl o::IntoField<g::authorization::v1::ResourceAttributes>) -> Self { set(&mut self.0, "resourceAttributes", value.into_field()); self }
    pub fn edit_non_resource_attributes<R>(&mut self, change: impl FnOnce(&mut g::authorization::v1::NonResourceAttributes) -> R) -> R { edit(&mut self.0, "nonResourceAttributes", change) }
    pub fn set_non_resource_attributes(&mut self, value: impl o::IntoField<g::authorization::v1::NonResourceAttributes>) { set(&mut self.0, "nonResourceAttributes", value.into_field()) }
    pub fn with_non_resource_attributes(mut self, value: impl o::IntoField<g::authorization::v1::NonResourceAttributes>) -> Self { set(&mut self.0, "nonResourceAttributes", value.into_field()); self }
    pub fn set_user(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "user", value.into_field()) }
    pub fn with_user(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "user", value.into_field()); self }
    pub fn push_groups(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "groups", item) }
    pub fn set_groups(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "groups", value) }
    pub fn with_groups(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "groups", value); self }
    pub fn insert_extra(&mut self, key: &str, value: impl o::IntoField<o::Any>) { insert(&mut self.0, "extra", key, value) }
    pub fn set_extra(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Any>)>) { set_map(&mut self.0, "extra", value) }
    pub fn with_extra(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Any>)>) -> Self { set_map(&mut self.0, "extra", value); self }
    pub fn set_uid(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "uid", value.into_field()) }
    pub fn with_uid(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "uid", value.into_field()); self }
}

object!(SubjectAccessReviewStatus, SubjectAccessReviewStatusView);
part!(SubjectAccessReviewStatus);
impl<'a> SubjectAccessReviewStatusView<'a> {
    pub fn allowed(self) -> bool { read(self.0, "allowed") }
    pub fn denied(self) -> bool { read(self.0, "denied") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn evaluation_error(self) -> &'a str { read(self.0, "evaluationError") }
}
impl SubjectAccessReviewStatus {
    pub fn set_allowed(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "allowed", value.into_field()) }
    pub fn with_allowed(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "allowed", value.into_field()); self }
    pub fn set_denied(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "denied", value.into_field()) }
    pub fn with_denied(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "denied", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_evaluation_error(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "evaluationError", value.into_field()) }
    pub fn with_evaluation_error(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "evaluationError", value.into_field()); self }
}

object!(SubjectRulesReviewStatus, SubjectRulesReviewStatusView);
part!(SubjectRulesReviewStatus);
impl<'a> SubjectRulesReviewStatusView<'a> {
    pub fn resource_rules(self) -> r::List<'a, g::authorization::v1::ResourceRuleView<'a>> { read(self.0, "resourceRules") }
    pub fn non_resource_rules(self) -> r::List<'a, g::authorization::v1::NonResourceRuleView<'a>> { read(self.0, "nonResourceRules") }
    pub fn incomplete(self) -> bool { read(self.0, "incomplete") }
    pub fn evaluation_error(self) -> &'a str { read(self.0, "evaluationError") }
}
impl SubjectRulesReviewStatus {
    pub fn push_resource_rules(&mut self, item: impl o::IntoField<g::authorization::v1::ResourceRule>) { push(&mut self.0, "resourceRules", item) }
    pub fn set_resource_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::authorization::v1::ResourceRule>>) { set_list(&mut self.0, "resourceRules", value) }
    pub fn with_resource_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::authorization::v1::ResourceRule>>) -> Self { set_list(&mut self.0, "resourceRules", value); self }
    pub fn push_non_resource_rules(&mut self, item: impl o::IntoField<g::authorization::v1::NonResourceRule>) { push(&mut self.0, "nonResourceRules", item) }
    pub fn set_non_resource_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::authorization::v1::NonResourceRule>>) { set_list(&mut self.0, "nonResourceRules", value) }
    pub fn with_non_resource_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::authorization::v1::NonResourceRule>>) -> Self { set_list(&mut self.0, "nonResourceRules", value); self }
    pub fn set_incomplete(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "incomplete", value.into_field()) }
    pub fn with_incomplete(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "incomplete", value.into_field()); self }
    pub fn set_evaluation_error(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "evaluationError", value.into_field()) }
    pub fn with_evaluation_error(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "evaluationError", value.into_field()); self }
}
