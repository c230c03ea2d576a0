//! Generated from facts/apiextensions.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(ConversionRequest, ConversionRequestView);
part!(ConversionRequest);
impl<'a> ConversionRequestView<'a> {
    pub fn uid(self) -> &'a str { read(self.0, "uid") }
    pub fn desired_api_version(self) -> &'a str { read(self.0, "desiredAPIVersion") }
    pub fn objects(self) -> r::List<'a, r::Node<'a>> { read(self.0, "objects") }
}
impl ConversionRequest {
    pub fn set_uid(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "uid", value.into_field()) }
    pub fn with_uid(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "uid", value.into_field()); self }
    pub fn set_desired_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "desiredAPIVersion", value.into_field()) }
    pub fn with_desired_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "desiredAPIVersion", value.into_field()); self }
    pub fn push_objects(&mut self, item: impl o::IntoField<o::Any>) { push(&mut self.0, "objects", item) }
    pub fn set_objects(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Any>>) { set_list(&mut self.0, "objects", value) }
    pub fn with_objects(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Any>>) -> Self { set_list(&mut self.0, "objects", value); self }
}

object!(ConversionResponse, ConversionResponseView);
part!(ConversionResponse);
impl<'a> ConversionResponseView<'a> {
    pub fn uid(self) -> &'a str { read(self.0, "uid") }
    pub fn converted_objects(self) -> r::List<'a, r::Node<'a>> { read(self.0, "convertedObjects") }
    pub fn result(self) -> g::meta::v1::StatusView<'a> { read(self.0, "result") }
}
impl ConversionResponse {
    pub fn set_uid(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "uid", value.into_field()) }
    pub fn with_uid(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "uid", value.into_field()); self }
    pub fn push_converted_objects(&mut self, item: impl o::IntoField<o::Any>) { push(&mut self.0, "convertedObjects", item) }
    pub fn set_converted_objects(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Any>>) { set_list(&mut self.0, "convertedObjects", value) }
    pub fn with_converted_objects(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Any>>) -> Self { set_list(&mut self.0, "convertedObjects", value); self }
    pub fn edit_result<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::Status) -> R) -> R { edit(&mut self.0, "result", change) }
    pub fn set_result(&mut self, value: impl o::IntoField<g::meta::v1::Status>) { set(&mut self.0, "result", value.into_field()) }
    pub fn with_result(mut self, value: impl o::IntoField<g::meta::v1::Status>) -> Self { set(&mut self.0, "result", value.into_field()); self }
}

object!(ConversionReview, ConversionReviewView);
part!(ConversionReview);
impl<'a> ConversionReviewView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn request(self) -> Option<g::apiextensions::v1::ConversionRequestView<'a>> { find(self.0, "request") }
    pub fn response(self) -> Option<g::apiextensions::v1::ConversionResponseView<'a>> { find(self.0, "response") }
}
impl ConversionReview {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_request<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::ConversionRequest) -> R) -> R { edit(&mut self.0, "request", change) }
    pub fn set_request(&mut self, value: impl o::IntoField<g::apiextensions::v1::ConversionRequest>) { set(&mut self.0, "request", value.into_field()) }
    pub fn with_request(mut self, value: impl o::IntoField<g::apiextensions::v1::ConversionRequest>) -> Self { set(&mut self.0, "request", value.into_field()); self }
    pub fn edit_response<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::ConversionResponse) -> R) -> R { edit(&mut self.0, "response", change) }
    pub fn set_response(&mut self, value: impl o::IntoField<g::apiextensions::v1::ConversionResponse>) { set(&mut self.0, "response", value.into_field()) }
    pub fn with_response(mut self, value: impl o::IntoField<g::apiextensions::v1::ConversionResponse>) -> Self { set(&mut self.0, "response", value.into_field()); self }
}

object!(CustomResourceColumnDefinition, CustomResourceColumnDefinitionView);
part!(CustomResourceColumnDefinition);
impl<'a> CustomResourceColumnDefinitionView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn format(self) -> &'a str { read(self.0, "format") }
    pub fn description(self) -> &'a str { read(self.0, "description") }
    pub fn priority(self) -> i32 { read(self.0, "priority") }
    pub fn json_path(self) -> &'a str { read(self.0, "jsonPath") }
}
impl CustomResourceColumnDefinition {
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
    pub fn set_json_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "jsonPath", value.into_field()) }
    pub fn with_json_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "jsonPath", value.into_field()); self }
}

object!(CustomResourceConversion, CustomResourceConversionView);
part!(CustomResourceConversion);
impl<'a> CustomResourceConversionView<'a> {
    pub fn strategy(self) -> &'a str { read(self.0, "strategy") }
    pub fn webhook(self) -> Option<g::apiextensions::v1::WebhookConversionView<'a>> { find(self.0, "webhook") }
}
impl CustomResourceConversion {
    pub fn set_strategy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "strategy", value.into_field()) }
    pub fn with_strategy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "strategy", value.into_field()); self }
    pub fn edit_webhook<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::WebhookConversion) -> R) -> R { edit(&mut self.0, "webhook", change) }
    pub fn set_webhook(&mut self, value: impl o::IntoField<g::apiextensions::v1::WebhookConversion>) { set(&mut self.0, "webhook", value.into_field()) }
    pub fn with_webhook(mut self, value: impl o::IntoField<g::apiextensions::v1::WebhookConversion>) -> Self { set(&mut self.0, "webhook", value.into_field()); self }
}

object!(CustomResourceDefinition, CustomResourceDefinitionView);
kind!(CustomResourceDefinition, "apiextensions.k8s.io", "v1", "apiextensions.k8s.io/v1", "customresourcedefinitions");
impl<'a> CustomResourceDefinitionView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::apiextensions::v1::CustomResourceDefinitionSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::apiextensions::v1::CustomResourceDefinitionStatusView<'a> { read(self.0, "status") }
}
impl CustomResourceDefinition {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::CustomResourceDefinitionSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceDefinitionSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceDefinitionSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::CustomResourceDefinitionStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceDefinitionStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceDefinitionStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(CustomResourceDefinitionCondition, CustomResourceDefinitionConditionView);
part!(CustomResourceDefinitionCondition);
impl<'a> CustomResourceDefinitionConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
    pub fn observed_generation(self) -> i64 { read(self.0, "observedGeneration") }
}
impl CustomResourceDefinitionCondition {
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
    pub fn set_observed_generation(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "observedGeneration", value.into_field()) }
    pub fn with_observed_generation(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "observedGeneration", value.into_field()); self }
}

object!(CustomResourceDefinitionList, CustomResourceDefinitionListView);
part!(CustomResourceDefinitionList);
impl<'a> CustomResourceDefinitionListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::apiextensions::v1::CustomResourceDefinitionView<'a>> { read(self.0, "items") }
}
impl CustomResourceDefinitionList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::apiextensions::v1::CustomResourceDefinition>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::CustomResourceDefinition>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::CustomResourceDefinition>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(CustomResourceDefinitionNames, CustomResourceDefinitionNamesView);
part!(CustomResourceDefinitionNames);
impl<'a> CustomResourceDefinitionNamesView<'a> {
    pub fn plural(self) -> &'a str { read(self.0, "plural") }
    pub fn singular(self) -> &'a str { read(self.0, "singular") }
    pub fn short_names(self) -> r::List<'a, &'a str> { read(self.0, "shortNames") }
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn list_kind(self) -> &'a str { read(self.0, "listKind") }
    pub fn categories(self) -> r::List<'a, &'a str> { read(self.0, "categories") }
}
impl CustomResourceDefinitionNames {
    pub fn set_plural(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "plural", value.into_field()) }
    pub fn with_plural(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "plural", value.into_field()); self }
    pub fn set_singular(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "singular", value.into_field()) }
    pub fn with_singular(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "singular", value.into_field()); self }
    pub fn push_short_names(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "shortNames", item) }
    pub fn set_short_names(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "shortNames", value) }
    pub fn with_short_names(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "shortNames", value); self }
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_list_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "listKind", value.into_field()) }
    pub fn with_list_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "listKind", value.into_field()); self }
    pub fn push_categories(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "categories", item) }
    pub fn set_categories(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "categories", value) }
    pub fn with_categories(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "categories", value); self }
}

object!(CustomResourceDefinitionSpec, CustomResourceDefinitionSpecView);
part!(CustomResourceDefinitionSpec);
impl<'a> CustomResourceDefinitionSpecView<'a> {
    pub fn group(self) -> &'a str { read(self.0, "group") }
    pub fn names(self) -> g::apiextensions::v1::CustomResourceDefinitionNamesView<'a> { read(self.0, "names") }
    pub fn scope(self) -> &'a str { read(self.0, "scope") }
    pub fn versions(self) -> r::List<'a, g::apiextensions::v1::CustomResourceDefinitionVersionView<'a>> { read(self.0, "versions") }
    pub fn conversion(self) -> Option<g::apiextensions::v1::CustomResourceConversionView<'a>> { find(self.0, "conversion") }
    pub fn preserve_unknown_fields(self) -> bool { read(self.0, "preserveUnknownFields") }
}
impl CustomResourceDefinitionSpec {
    pub fn set_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "group", value.into_field()) }
    pub fn with_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "group", value.into_field()); self }
    pub fn edit_names<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::CustomResourceDefinitionNames) -> R) -> R { edit(&mut self.0, "names", change) }
    pub fn set_names(&mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceDefinitionNames>) { set(&mut self.0, "names", value.into_field()) }
    pub fn with_names(mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceDefinitionNames>) -> Self { set(&mut self.0, "names", value.into_field()); self }
    pub fn set_scope(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "scope", value.into_field()) }
    pub fn with_scope(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "scope", value.into_field()); self }
    pub fn push_versions(&mut self, item: impl o::IntoField<g::apiextensions::v1::CustomResourceDefinitionVersion>) { push(&mut self.0, "versions", item) }
    pub fn set_versions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::CustomResourceDefinitionVersion>>) { set_list(&mut self.0, "versions", value) }
    pub fn with_versions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::CustomResourceDefinitionVersion>>) -> Self { set_list(&mut self.0, "versions", value); self }
    pub fn edit_conversion<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::CustomResourceConversion) -> R) -> R { edit(&mut self.0, "conversion", change) }
    pub fn set_conversion(&mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceConversion>) { set(&mut self.0, "conversion", value.into_field()) }
    pub fn with_conversion(mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceConversion>) -> Self { set(&mut self.0, "conversion", value.into_field()); self }
    pub fn set_preserve_unknown_fields(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "preserveUnknownFields", value.into_field()) }
    pub fn with_preserve_unknown_fields(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "preserveUnknownFields", value.into_field()); self }
}

object!(CustomResourceDefinitionStatus, CustomResourceDefinitionStatusView);
part!(CustomResourceDefinitionStatus);
impl<'a> CustomResourceDefinitionStatusView<'a> {
    pub fn conditions(self) -> r::List<'a, g::apiextensions::v1::CustomResourceDefinitionConditionView<'a>> { read(self.0, "conditions") }
    pub fn accepted_names(self) -> g::apiextensions::v1::CustomResourceDefinitionNamesView<'a> { read(self.0, "acceptedNames") }
    pub fn stored_versions(self) -> r::List<'a, &'a str> { read(self.0, "storedVersions") }
    pub fn observed_generation(self) -> i64 { read(self.0, "observedGeneration") }
}
impl CustomResourceDefinitionStatus {
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::apiextensions::v1::CustomResourceDefinitionCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::CustomResourceDefinitionCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::CustomResourceDefinitionCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
    pub fn edit_accepted_names<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::CustomResourceDefinitionNames) -> R) -> R { edit(&mut self.0, "acceptedNames", change) }
    pub fn set_accepted_names(&mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceDefinitionNames>) { set(&mut self.0, "acceptedNames", value.into_field()) }
    pub fn with_accepted_names(mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceDefinitionNames>) -> Self { set(&mut self.0, "acceptedNames", value.into_field()); self }
    pub fn push_stored_versions(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "storedVersions", item) }
    pub fn set_stored_versions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "storedVersions", value) }
    pub fn with_stored_versions(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "storedVersions", value); self }
    pub fn set_observed_generation(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "observedGeneration", value.into_field()) }
    pub fn with_observed_generation(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "observedGeneration", value.into_field()); self }
}

object!(CustomResourceDefinitionVersion, CustomResourceDefinitionVersionView);
part!(CustomResourceDefinitionVersion);
impl<'a> CustomResourceDefinitionVersionView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn served(self) -> bool { read(self.0, "served") }
    pub fn storage(self) -> bool { read(self.0, "storage") }
    pub fn deprecated(self) -> bool { read(self.0, "deprecated") }
    pub fn deprecation_warning(self) -> Option<&'a str> { find(self.0, "deprecationWarning") }
    pub fn schema(self) -> Option<g::apiextensions::v1::CustomResourceValidationView<'a>> { find(self.0, "schema") }
    pub fn subresources(self) -> Option<g::apiextensions::v1::CustomResourceSubresourcesView<'a>> { find(self.0, "subresources") }
    pub fn additional_printer_columns(self) -> r::List<'a, g::apiextensions::v1::CustomResourceColumnDefinitionView<'a>> { read(self.0, "additionalPrinterColumns") }
    pub fn selectable_fields(self) -> r::List<'a, g::apiextensions::v1::SelectableFieldView<'a>> { read(self.0, "selectableFields") }
}
impl CustomResourceDefinitionVersion {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_served(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "served", value.into_field()) }
    pub fn with_served(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "served", value.into_field()); self }
    pub fn set_storage(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "storage", value.into_field()) }
    pub fn with_storage(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "storage", value.into_field()); self }
    pub fn set_deprecated(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "deprecated", value.into_field()) }
    pub fn with_deprecated(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "deprecated", value.into_field()); self }
    pub fn set_deprecation_warning(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "deprecationWarning", value.into_field()) }
    pub fn with_deprecation_warning(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "deprecationWarning", value.into_field()); self }
    pub fn edit_schema<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::CustomResourceValidation) -> R) -> R { edit(&mut self.0, "schema", change) }
    pub fn set_schema(&mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceValidation>) { set(&mut self.0, "schema", value.into_field()) }
    pub fn with_schema(mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceValidation>) -> Self { set(&mut self.0, "schema", value.into_field()); self }
    pub fn edit_subresources<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::CustomResourceSubresources) -> R) -> R { edit(&mut self.0, "subresources", change) }
    pub fn set_subresources(&mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceSubresources>) { set(&mut self.0, "subresources", value.into_field()) }
    pub fn with_subresources(mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceSubresources>) -> Self { set(&mut self.0, "subresources", value.into_field()); self }
    pub fn push_additional_printer_columns(&mut self, item: impl o::IntoField<g::apiextensions::v1::CustomResourceColumnDefinition>) { push(&mut self.0, "additionalPrinterColumns", item) }
    pub fn set_additional_printer_columns(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::CustomResourceColumnDefinition>>) { set_list(&mut self.0, "additionalPrinterColumns", value) }
    pub fn with_additional_printer_columns(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::CustomResourceColumnDefinition>>) -> Self { set_list(&mut self.0, "additionalPrinterColumns", value); self }
    pub fn push_selectable_fields(&mut self, item: impl o::IntoField<g::apiextensions::v1::SelectableField>) { push(&mut self.0, "selectableFields", item) }
    pub fn set_selectable_fields(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::SelectableField>>) { set_list(&mut self.0, "selectableFields", value) }
    pub fn with_selectable_fields(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::SelectableField>>) -> Self { set_list(&mut self.0, "selectableFields", value); self }
}

object!(CustomResourceSubresourceScale, CustomResourceSubresourceScaleView);
part!(CustomResourceSubresourceScale);
impl<'a> CustomResourceSubresourceScaleView<'a> {
    pub fn spec_replicas_path(self) -> &'a str { read(self.0, "specReplicasPath") }
    pub fn status_replicas_path(self) -> &'a str { read(self.0, "statusReplicasPath") }
    pub fn label_selector_path(self) -> Option<&'a str> { find(self.0, "labelSelectorPath") }
}
impl CustomResourceSubresourceScale {
    pub fn set_spec_replicas_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "specReplicasPath", value.into_field()) }
    pub fn with_spec_replicas_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "specReplicasPath", value.into_field()); self }
    pub fn set_status_replicas_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "statusReplicasPath", value.into_field()) }
    pub fn with_status_replicas_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "statusReplicasPath", value.into_field()); self }
    pub fn set_label_selector_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "labelSelectorPath", value.into_field()) }
    pub fn with_label_selector_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "labelSelectorPath", value.into_field()); self }
}

object!(CustomResourceSubresourceStatus, CustomResourceSubresourceStatusView);
part!(CustomResourceSubresourceStatus);
impl<'a> CustomResourceSubresourceStatusView<'a> {
}
impl CustomResourceSubresourceStatus {
}

object!(CustomResourceSubresources, CustomResourceSubresourcesView);
part!(CustomResourceSubresources);
impl<'a> CustomResourceSubresourcesView<'a> {
    pub fn status(self) -> Option<g::apiextensions::v1::CustomResourceSubresourceStatusView<'a>> { find(self.0, "status") }
    pub fn scale(self) -> Option<g::apiextensions::v1::CustomResourceSubresourceScaleView<'a>> { find(self.0, "scale") }
}
impl CustomResourceSubresources {
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::CustomResourceSubresourceStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceSubresourceStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceSubresourceStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
    pub fn edit_scale<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::CustomResourceSubresourceScale) -> R) -> R { edit(&mut self.0, "scale", change) }
    pub fn set_scale(&mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceSubresourceScale>) { set(&mut self.0, "scale", value.into_field()) }
    pub fn with_scale(mut self, value: impl o::IntoField<g::apiextensions::v1::CustomResourceSubresourceScale>) -> Self { set(&mut self.0, "scale", value.into_field()); self }
}

object!(CustomResourceValidation, CustomResourceValidationView);
part!(CustomResourceValidation);
impl<'a> CustomResourceValidationView<'a> {
    pub fn open_apiv3_schema(self) -> Option<g::apiextensions::v1::JSONSchemaPropsView<'a>> { find(self.0, "openAPIV3Schema") }
}
impl CustomResourceValidation {
    pub fn edit_open_apiv3_schema<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::JSONSchemaProps) -> R) -> R { edit(&mut self.0, "openAPIV3Schema", change) }
    pub fn set_open_apiv3_schema(&mut self, value: impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>) { set(&mut self.0, "openAPIV3Schema", value.into_field()) }
    pub fn with_open_apiv3_schema(mut self, value: impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>) -> Self { set(&mut self.0, "openAPIV3Schema", value.into_field()); self }
}

object!(ExternalDocumentation, ExternalDocumentationView);
part!(ExternalDocumentation);
impl<'a> ExternalDocumentationView<'a> {
    pub fn description(self) -> &'a str { read(self.0, "description") }
    pub fn url(self) -> &'a str { read(self.0, "url") }
}
impl ExternalDocumentation {
    pub fn set_description(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "description", value.into_field()) }
    pub fn with_description(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "description", value.into_field()); self }
    pub fn set_url(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "url", value.into_field()) }
    pub fn with_url(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "url", value.into_field()); self }
}

object!(JSONSchemaProps, JSONSchemaPropsView);
part!(JSONSchemaProps);
impl<'a> JSONSchemaPropsView<'a> {
    pub fn id(self) -> &'a str { read(self.0, "id") }
    pub fn schema(self) -> &'a str { read(self.0, "$schema") }
    pub fn ref_(self) -> Option<&'a str> { find(self.0, "$ref") }
    pub fn description(self) -> &'a str { read(self.0, "description") }
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn format(self) -> &'a str { read(self.0, "format") }
    pub fn title(self) -> &'a str { read(self.0, "title") }
    pub fn default(self) -> Option<r::Node<'a>> { find(self.0, "default") }
    pub fn maximum(self) -> Option<f64> { find(self.0, "maximum") }
    pub fn exclusive_maximum(self) -> bool { read(self.0, "exclusiveMaximum") }
    pub fn minimum(self) -> Option<f64> { find(self.0, "minimum") }
    pub fn exclusive_minimum(self) -> bool { read(self.0, "exclusiveMinimum") }
    pub fn max_length(self) -> Option<i64> { find(self.0, "maxLength") }
    pub fn min_length(self) -> Option<i64> { find(self.0, "minLength") }
    pub fn pattern(self) -> &'a str { read(self.0, "pattern") }
    pub fn max_items(self) -> Option<i64> { find(self.0, "maxItems") }
    pub fn min_items(self) -> Option<i64> { find(self.0, "minItems") }
    pub fn unique_items(self) -> bool { read(self.0, "uniqueItems") }
    pub fn multiple_of(self) -> Option<f64> { find(self.0, "multipleOf") }
    pub fn enum_(self) -> r::List<'a, r::Node<'a>> { read(self.0, "enum") }
    pub fn max_properties(self) -> Option<i64> { find(self.0, "maxProperties") }
    pub fn min_properties(self) -> Option<i64> { find(self.0, "minProperties") }
    pub fn required(self) -> r::List<'a, &'a str> { read(self.0, "required") }
    pub fn items(self) -> Option<r::Node<'a>> { find(self.0, "items") }
    pub fn all_of(self) -> r::List<'a, g::apiextensions::v1::JSONSchemaPropsView<'a>> { read(self.0, "allOf") }
    pub fn one_of(self) -> r::List<'a, g::apiextensions::v1::JSONSchemaPropsView<'a>> { read(self.0, "oneOf") }
    pub fn any_of(self) -> r::List<'a, g::apiextensions::v1::JSONSchemaPropsView<'a>> { read(self.0, "anyOf") }
    pub fn not(self) -> Option<g::apiextensions::v1::JSONSchemaPropsView<'a>> { find(self.0, "not") }
    pub fn properties(self) -> r::Map<'a, g::apiextensions::v1::JSONSchemaPropsView<'a>> { read(self.0, "properties") }
    pub fn additional_properties(self) -> Option<r::Node<'a>> { find(self.0, "additionalProperties") }
    pub fn pattern_properties(self) -> r::Map<'a, g::apiextensions::v1::JSONSchemaPropsView<'a>> { read(self.0, "patternProperties") }
    pub fn dependencies(self) -> r::Map<'a, r::Node<'a>> { read(self.0, "dependencies") }
    pub fn additional_items(self) -> Option<r::Node<'a>> { find(self.0, "additionalItems") }
    pub fn definitions(self) -> r::Map<'a, g::apiextensions::v1::JSONSchemaPropsView<'a>> { read(self.0, "definitions") }
    pub fn external_docs(self) -> Option<g::apiextensions::v1::ExternalDocumentationView<'a>> { find(self.0, "externalDocs") }
    pub fn example(self) -> Option<r::Node<'a>> { find(self.0, "example") }
    pub fn nullable(self) -> bool { read(self.0, "nullable") }
    pub fn x_kubernetes_preserve_unknown_fields(self) -> Option<bool> { find(self.0, "x-kubernetes-preserve-unknown-fields") }
    pub fn x_kubernetes_embedded_resource(self) -> bool { read(self.0, "x-kubernetes-embedded-resource") }
    pub fn x_kubernetes_int_or_string(self) -> bool { read(self.0, "x-kubernetes-int-or-string") }
    pub fn x_kubernetes_list_map_keys(self) -> r::List<'a, &'a str> { read(self.0, "x-kubernetes-list-map-keys") }
    pub fn x_kubernetes_list_type(self) -> Option<&'a str> { find(self.0, "x-kubernetes-list-type") }
    pub fn x_kubernetes_map_type(self) -> Option<&'a str> { find(self.0, "x-kubernetes-map-type") }
    pub fn x_kubernetes_validations(self) -> r::List<'a, g::apiextensions::v1::ValidationRuleView<'a>> { read(self.0, "x-kubernetes-validations") }
}
impl JSONSchemaProps {
    pub fn set_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "id", value.into_field()) }
    pub fn with_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "id", value.into_field()); self }
    pub fn set_schema(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "$schema", value.into_field()) }
    pub fn with_schema(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "$schema", value.into_field()); self }
    pub fn set_ref(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "$ref", value.into_field()) }
    pub fn with_ref(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "$ref", value.into_field()); self }
    pub fn set_description(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "description", value.into_field()) }
    pub fn with_description(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "description", value.into_field()); self }
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_format(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "format", value.into_field()) }
    pub fn with_format(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "format", value.into_field()); self }
    pub fn set_title(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "title", value.into_field()) }
    pub fn with_title(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "title", value.into_field()); self }
    pub fn set_default(&mut self, value: impl o::IntoField<o::Any>) { set(&mut self.0, "default", value.into_field()) }
    pub fn with_default(mut self, value: impl o::IntoField<o::Any>) -> Self { set(&mut self.0, "default", value.into_field()); self }
    pub fn set_maximum(&mut self, value: impl o::IntoField<f64>) { set(&mut self.0, "maximum", value.into_field()) }
    pub fn with_maximum(mut self, value: impl o::IntoField<f64>) -> Self { set(&mut self.0, "maximum", value.into_field()); self }
    pub fn set_exclusive_maximum(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "exclusiveMaximum", value.into_field()) }
    pub fn with_exclusive_maximum(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "exclusiveMaximum", value.into_field()); self }
    pub fn set_minimum(&mut self, value: impl o::IntoField<f64>) { set(&mut self.0, "minimum", value.into_field()) }
    pub fn with_minimum(mut self, value: impl o::IntoField<f64>) -> Self { set(&mut self.0, "minimum", value.into_field()); self }
    pub fn set_exclusive_minimum(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "exclusiveMinimum", value.into_field()) }
    pub fn with_exclusive_minimum(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "exclusiveMinimum", value.into_field()); self }
    pub fn set_max_length(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "maxLength", value.into_field()) }
    pub fn with_max_length(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "maxLength", value.into_field()); self }
    pub fn set_min_length(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "minLength", value.into_field()) }
    pub fn with_min_length(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "minLength", value.into_field()); self }
    pub fn set_pattern(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "pattern", value.into_field()) }
    pub fn with_pattern(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "pattern", value.into_field()); self }
    pub fn set_max_items(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "maxItems", value.into_field()) }
    pub fn with_max_items(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "maxItems", value.into_field()); self }
    pub fn set_min_items(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "minItems", value.into_field()) }
    pub fn with_min_items(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "minItems", value.into_field()); self }
    pub fn set_unique_items(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "uniqueItems", value.into_field()) }
    pub fn with_unique_items(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "uniqueItems", value.into_field()); self }
    pub fn set_multiple_of(&mut self, value: impl o::IntoField<f64>) { set(&mut self.0, "multipleOf", value.into_field()) }
    pub fn with_multiple_of(mut self, value: impl o::IntoField<f64>) -> Self { set(&mut self.0, "multipleOf", value.into_field()); self }
    pub fn push_enum(&mut self, item: impl o::IntoField<o::Any>) { push(&mut self.0, "enum", item) }
    pub fn set_enum(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Any>>) { set_list(&mut self.0, "enum", value) }
    pub fn with_enum(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Any>>) -> Self { set_list(&mut self.0, "enum", value); self }
    pub fn set_max_properties(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "maxProperties", value.into_field()) }
    pub fn with_max_properties(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "maxProperties", value.into_field()); self }
    pub fn set_min_properties(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "minProperties", value.into_field()) }
    pub fn with_min_properties(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "minProperties", value.into_field()); self }
    pub fn push_required(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "required", item) }
    pub fn set_required(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "required", value) }
    pub fn with_required(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "required", value); self }
    pub fn set_items(&mut self, value: impl o::IntoField<o::Any>) { set(&mut self.0, "items", value.into_field()) }
    pub fn with_items(mut self, value: impl o::IntoField<o::Any>) -> Self { set(&mut self.0, "items", value.into_field()); self }
    pub fn push_all_of(&mut self, item: impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>) { push(&mut self.0, "allOf", item) }
    pub fn set_all_of(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>>) { set_list(&mut self.0, "allOf", value) }
    pub fn with_all_of(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>>) -> Self { set_list(&mut self.0, "allOf", value); self }
    pub fn push_one_of(&mut self, item: impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>) { push(&mut self.0, "oneOf", item) }
    pub fn set_one_of(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>>) { set_list(&mut self.0, "oneOf", value) }
    pub fn with_one_of(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>>) -> Self { set_list(&mut self.0, "oneOf", value); self }
    pub fn push_any_of(&mut self, item: impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>) { push(&mut self.0, "anyOf", item) }
    pub fn set_any_of(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>>) { set_list(&mut self.0, "anyOf", value) }
    pub fn with_any_of(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>>) -> Self { set_list(&mut self.0, "anyOf", value); self }
    pub fn edit_not<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::JSONSchemaProps) -> R) -> R { edit(&mut self.0, "not", change) }
    pub fn set_not(&mut self, value: impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>) { set(&mut self.0, "not", value.into_field()) }
    pub fn with_not(mut self, value: impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>) -> Self { set(&mut self.0, "not", value.into_field()); self }
    pub fn insert_properties(&mut self, key: &str, value: impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>) { insert(&mut self.0, "properties", key, value) }
    pub fn set_properties(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>)>) { set_map(&mut self.0, "properties", value) }
    pub fn with_properties(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>)>) -> Self { set_map(&mut self.0, "properties", value); self }
    pub fn set_additional_properties(&mut self, value: impl o::IntoField<o::Any>) { set(&mut self.0, "additionalProperties", value.into_field()) }
    pub fn with_additional_properties(mut self, value: impl o::IntoField<o::Any>) -> Self { set(&mut self.0, "additionalProperties", value.into_field()); self }
    pub fn insert_pattern_properties(&mut self, key: &str, value: impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>) { insert(&mut self.0, "patternProperties", key, value) }
    pub fn set_pattern_properties(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>)>) { set_map(&mut self.0, "patternProperties", value) }
    pub fn with_pattern_properties(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>)>) -> Self { set_map(&mut self.0, "patternProperties", value); self }
    pub fn insert_dependencies(&mut self, key: &str, value: impl o::IntoField<o::Any>) { insert(&mut self.0, "dependencies", key, value) }
    pub fn set_dependencies(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Any>)>) { set_map(&mut self.0, "dependencies", value) }
    pub fn with_dependencies(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Any>)>) -> Self { set_map(&mut self.0, "dependencies", value); self }
    pub fn set_additional_items(&mut self, value: impl o::IntoField<o::Any>) { set(&mut self.0, "additionalItems", value.into_field()) }
    pub fn with_additional_items(mut self, value: impl o::IntoField<o::Any>) -> Self { set(&mut self.0, "additionalItems", value.into_field()); self }
    pub fn insert_definitions(&mut self, key: &str, value: impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>) { insert(&mut self.0, "definitions", key, value) }
    pub fn set_definitions(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>)>) { set_map(&mut self.0, "definitions", value) }
    pub fn with_definitions(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<g::apiextensions::v1::JSONSchemaProps>)>) -> Self { set_map(&mut self.0, "definitions", value); self }
    pub fn edit_external_docs<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::ExternalDocumentation) -> R) -> R { edit(&mut self.0, "externalDocs", change) }
    pub fn set_external_docs(&mut self, value: impl o::IntoField<g::apiextensions::v1::ExternalDocumentation>) { set(&mut self.0, "externalDocs", value.into_field()) }
    pub fn with_external_docs(mut self, value: impl o::IntoField<g::apiextensions::v1::ExternalDocumentation>) -> Self { set(&mut self.0, "externalDocs", value.into_field()); self }
    pub fn set_example(&mut self, value: impl o::IntoField<o::Any>) { set(&mut self.0, "example", value.into_field()) }
    pub fn with_example(mut self, value: impl o::IntoField<o::Any>) -> Self { set(&mut self.0, "example", value.into_field()); self }
    pub fn set_nullable(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "nullable", value.into_field()) }
    pub fn with_nullable(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "nullable", value.into_field()); self }
    pub fn set_x_kubernetes_preserve_unknown_fields(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "x-kubernetes-preserve-unknown-fields", value.into_field()) }
    pub fn with_x_kubernetes_preserve_unknown_fields(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "x-kubernetes-preserve-unknown-fields", value.into_field()); self }
    pub fn set_x_kubernetes_embedded_resource(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "x-kubernetes-embedded-resource", value.into_field()) }
    pub fn with_x_kubernetes_embedded_resource(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "x-kubernetes-embedded-resource", value.into_field()); self }
    pub fn set_x_kubernetes_int_or_string(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "x-kubernetes-int-or-string", value.into_field()) }
    pub fn with_x_kubernetes_int_or_string(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "x-kubernetes-int-or-string", value.into_field()); self }
    pub fn push_x_kubernetes_list_map_keys(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "x-kubernetes-list-map-keys", item) }
    pub fn set_x_kubernetes_list_map_keys(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "x-kubernetes-list-map-keys", value) }
    pub fn with_x_kubernetes_list_map_keys(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "x-kubernetes-list-map-keys", value); self }
    pub fn set_x_kubernetes_list_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "x-kubernetes-list-type", value.into_field()) }
    pub fn with_x_kubernetes_list_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "x-kubernetes-list-type", value.into_field()); self }
    pub fn set_x_kubernetes_map_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "x-kubernetes-map-type", value.into_field()) }
    pub fn with_x_kubernetes_map_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "x-kubernetes-map-type", value.into_field()); self }
    pub fn push_x_kubernetes_validations(&mut self, item: impl o::IntoField<g::apiextensions::v1::ValidationRule>) { push(&mut self.0, "x-kubernetes-validations", item) }
    pub fn set_x_kubernetes_validations(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::ValidationRule>>) { set_list(&mut self.0, "x-kubernetes-validations", value) }
    pub fn with_x_kubernetes_validations(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apiextensions::v1::ValidationRule>>) -> Self { set_list(&mut self.0, "x-kubernetes-validations", value); self }
}

object!(SelectableField, SelectableFieldView);
part!(SelectableField);
impl<'a> SelectableFieldView<'a> {
    pub fn json_path(self) -> &'a str { read(self.0, "jsonPath") }
}
impl SelectableField {
    pub fn set_json_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "jsonPath", value.into_field()) }
    pub fn with_json_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "jsonPath", value.into_field()); self }
}

object!(ServiceReference, ServiceReferenceView);
part!(ServiceReference);
impl<'a> ServiceReferenceView<'a> {
    pub fn namespace(self) -> &'a str { read(self.0, "namespace") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn path(self) -> Option<&'a str> { find(self.0, "path") }
    pub fn port(self) -> Option<i32> { find(self.0, "port") }
}
impl ServiceReference {
    pub fn set_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "namespace", value.into_field()) }
    pub fn with_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "namespace", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
    pub fn set_port(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "port", value.into_field()) }
    pub fn with_port(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "port", value.into_field()); self }
}

object!(ValidationRule, ValidationRuleView);
part!(ValidationRule);
impl<'a> ValidationRuleView<'a> {
    pub fn rule(self) -> &'a str { read(self.0, "rule") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
    pub fn message_expression(self) -> &'a str { read(self.0, "messageExpression") }
    pub fn reason(self) -> Option<&'a str> { find(self.0, "reason") }
    pub fn field_path(self) -> &'a str { read(self.0, "fieldPath") }
    pub fn optional_old_self(self) -> Option<bool> { find(self.0, "optionalOldSelf") }
}
impl ValidationRule {
    pub fn set_rule(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "rule", value.into_field()) }
    pub fn with_rule(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "rule", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
    pub fn set_message_expression(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "messageExpression", value.into_field()) }
    pub fn with_message_expression(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "messageExpression", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_field_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fieldPath", value.into_field()) }
    pub fn with_field_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fieldPath", value.into_field()); self }
    pub fn set_optional_old_self(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "optionalOldSelf", value.into_field()) }
    pub fn with_optional_old_self(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "optionalOldSelf", value.into_field()); self }
}

object!(WebhookClientConfig, WebhookClientConfigView);
part!(WebhookClientConfig);
impl<'a> WebhookClientConfigView<'a> {
    pub fn url(self) -> Option<&'a str> { find(self.0, "url") }
    pub fn service(self) -> Option<g::apiextensions::v1::ServiceReferenceView<'a>> { find(self.0, "service") }
    pub fn ca_bundle(self) -> r::Base64<'a> { read(self.0, "caBundle") }
}
impl WebhookClientConfig {
    pub fn set_url(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "url", value.into_field()) }
    pub fn with_url(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "url", value.into_field()); self }
    pub fn edit_service<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::ServiceReference) -> R) -> R { edit(&mut self.0, "service", change) }
    pub fn set_service(&mut self, value: impl o::IntoField<g::apiextensions::v1::ServiceReference>) { set(&mut self.0, "service", value.into_field()) }
    pub fn with_service(mut self, value: impl o::IntoField<g::apiextensions::v1::ServiceReference>) -> Self { set(&mut self.0, "service", value.into_field()); self }
    pub fn set_ca_bundle(&mut self, value: impl o::IntoField<o::Bytes>) { set(&mut self.0, "caBundle", value.into_field()) }
    pub fn with_ca_bundle(mut self, value: impl o::IntoField<o::Bytes>) -> Self { set(&mut self.0, "caBundle", value.into_field()); self }
}

object!(WebhookConversion, WebhookConversionView);
part!(WebhookConversion);
impl<'a> WebhookConversionView<'a> {
    pub fn client_config(self) -> Option<g::apiextensions::v1::WebhookClientConfigView<'a>> { find(self.0, "clientConfig") }
    pub fn conversion_review_versions(self) -> r::List<'a, &'a str> { read(self.0, "conversionReviewVersions") }
}
impl WebhookConversion {
    pub fn edit_client_config<R>(&mut self, change: impl FnOnce(&mut g::apiextensions::v1::WebhookClientConfig) -> R) -> R { edit(&mut self.0, "clientConfig", change) }
    pub fn set_client_config(&mut self, value: impl o::IntoField<g::apiextensions::v1::WebhookClientConfig>) { set(&mut self.0, "clientConfig", value.into_field()) }
    pub fn with_client_config(mut self, value: impl o::IntoField<g::apiextensions::v1::WebhookClientConfig>) -> Self { set(&mut self.0, "clientConfig", value.into_field()); self }
    pub fn push_conversion_review_versions(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "conversionReviewVersions", item) }
    pub fn set_conversion_review_versions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "conversionReviewVersions", value) }
    pub fn with_conversion_review_versions(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "conversionReviewVersions", value); self }
}
