//! Generated from facts/admissionregistration.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(ApplyConfiguration, ApplyConfigurationView);
part!(ApplyConfiguration);
impl<'a> ApplyConfigurationView<'a> {
    pub fn expression(self) -> &'a str { read(self.0, "expression") }
}
impl ApplyConfiguration {
    pub fn set_expression(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "expression", value.into_field()) }
    pub fn with_expression(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "expression", value.into_field()); self }
}

object!(AuditAnnotation, AuditAnnotationView);
part!(AuditAnnotation);
impl<'a> AuditAnnotationView<'a> {
    pub fn key(self) -> &'a str { read(self.0, "key") }
    pub fn value_expression(self) -> &'a str { read(self.0, "valueExpression") }
}
impl AuditAnnotation {
    pub fn set_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "key", value.into_field()) }
    pub fn with_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "key", value.into_field()); self }
    pub fn set_value_expression(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "valueExpression", value.into_field()) }
    pub fn with_value_expression(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "valueExpression", value.into_field()); self }
}

object!(ExpressionWarning, ExpressionWarningView);
part!(ExpressionWarning);
impl<'a> ExpressionWarningView<'a> {
    pub fn field_ref(self) -> &'a str { read(self.0, "fieldRef") }
    pub fn warning(self) -> &'a str { read(self.0, "warning") }
}
impl ExpressionWarning {
    pub fn set_field_ref(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "fieldRef", value.into_field()) }
    pub fn with_field_ref(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "fieldRef", value.into_field()); self }
    pub fn set_warning(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "warning", value.into_field()) }
    pub fn with_warning(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "warning", value.into_field()); self }
}

object!(JSONPatch, JSONPatchView);
part!(JSONPatch);
impl<'a> JSONPatchView<'a> {
    pub fn expression(self) -> &'a str { read(self.0, "expression") }
}
impl JSONPatch {
    pub fn set_expression(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "expression", value.into_field()) }
    pub fn with_expression(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "expression", value.into_field()); self }
}

object!(MatchCondition, MatchConditionView);
part!(MatchCondition);
impl<'a> MatchConditionView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn expression(self) -> &'a str { read(self.0, "expression") }
}
impl MatchCondition {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_expression(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "expression", value.into_field()) }
    pub fn with_expression(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "expression", value.into_field()); self }
}

object!(MatchResources, MatchResourcesView);
part!(MatchResources);
impl<'a> MatchResourcesView<'a> {
    pub fn namespace_selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "namespaceSelector") }
    pub fn object_selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "objectSelector") }
    pub fn resource_rules(self) -> r::List<'a, g::admissionregistration::v1::NamedRuleWithOperationsView<'a>> { read(self.0, "resourceRules") }
    pub fn exclude_resource_rules(self) -> r::List<'a, g::admissionregistration::v1::NamedRuleWithOperationsView<'a>> { read(self.0, "excludeResourceRules") }
    pub fn match_policy(self) -> Option<&'a str> { find(self.0, "matchPolicy") }
}
impl MatchResources {
    pub fn edit_namespace_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "namespaceSelector", change) }
    pub fn set_namespace_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "namespaceSelector", value.into_field()) }
    pub fn with_namespace_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "namespaceSelector", value.into_field()); self }
    pub fn edit_object_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "objectSelector", change) }
    pub fn set_object_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "objectSelector", value.into_field()) }
    pub fn with_object_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "objectSelector", value.into_field()); self }
    pub fn push_resource_rules(&mut self, item: impl o::IntoField<g::admissionregistration::v1::NamedRuleWithOperations>) { push(&mut self.0, "resourceRules", item) }
    pub fn set_resource_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::NamedRuleWithOperations>>) { set_list(&mut self.0, "resourceRules", value) }
    pub fn with_resource_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::NamedRuleWithOperations>>) -> Self { set_list(&mut self.0, "resourceRules", value); self }
    pub fn push_exclude_resource_rules(&mut self, item: impl o::IntoField<g::admissionregistration::v1::NamedRuleWithOperations>) { push(&mut self.0, "excludeResourceRules", item) }
    pub fn set_exclude_resource_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::NamedRuleWithOperations>>) { set_list(&mut self.0, "excludeResourceRules", value) }
    pub fn with_exclude_resource_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::NamedRuleWithOperations>>) -> Self { set_list(&mut self.0, "excludeResourceRules", value); self }
    pub fn set_match_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "matchPolicy", value.into_field()) }
    pub fn with_match_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "matchPolicy", value.into_field()); self }
}

object!(MutatingAdmissionPolicy, MutatingAdmissionPolicyView);
kind!(MutatingAdmissionPolicy, "admissionregistration.k8s.io", "v1", "admissionregistration.k8s.io/v1", "mutatingadmissionpolicies");
impl<'a> MutatingAdmissionPolicyView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::admissionregistration::v1::MutatingAdmissionPolicySpecView<'a> { read(self.0, "spec") }
}
impl MutatingAdmissionPolicy {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::MutatingAdmissionPolicySpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::admissionregistration::v1::MutatingAdmissionPolicySpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::admissionregistration::v1::MutatingAdmissionPolicySpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(MutatingAdmissionPolicyBinding, MutatingAdmissionPolicyBindingView);
kind!(MutatingAdmissionPolicyBinding, "admissionregistration.k8s.io", "v1", "admissionregistration.k8s.io/v1", "mutatingadmissionpolicybindings");
impl<'a> MutatingAdmissionPolicyBindingView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::admissionregistration::v1::MutatingAdmissionPolicyBindingSpecView<'a> { read(self.0, "spec") }
}
impl MutatingAdmissionPolicyBinding {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::MutatingAdmissionPolicyBindingSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::admissionregistration::v1::MutatingAdmissionPolicyBindingSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::admissionregistration::v1::MutatingAdmissionPolicyBindingSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(MutatingAdmissionPolicyBindingList, MutatingAdmissionPolicyBindingListView);
part!(MutatingAdmissionPolicyBindingList);
impl<'a> MutatingAdmissionPolicyBindingListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::admissionregistration::v1::MutatingAdmissionPolicyBindingView<'a>> { read(self.0, "items") }
}
impl MutatingAdmissionPolicyBindingList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::admissionregistration::v1::MutatingAdmissionPolicyBinding>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::MutatingAdmissionPolicyBinding>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::MutatingAdmissionPolicyBinding>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(MutatingAdmissionPolicyBindingSpec, MutatingAdmissionPolicyBindingSpecView);
part!(MutatingAdmissionPolicyBindingSpec);
impl<'a> MutatingAdmissionPolicyBindingSpecView<'a> {
    pub fn policy_name(self) -> &'a str { read(self.0, "policyName") }
    pub fn param_ref(self) -> Option<g::admissionregistration::v1::ParamRefView<'a>> { find(self.0, "paramRef") }
    pub fn match_resources(self) -> Option<g::admissionregistration::v1::MatchResourcesView<'a>> { find(self.0, "matchResources") }
}
impl MutatingAdmissionPolicyBindingSpec {
    pub fn set_policy_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "policyName", value.into_field()) }
    pub fn with_policy_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "policyName", value.into_field()); self }
    pub fn edit_param_ref<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::ParamRef) -> R) -> R { edit(&mut self.0, "paramRef", change) }
    pub fn set_param_ref(&mut self, value: impl o::IntoField<g::admissionregistration::v1::ParamRef>) { set(&mut self.0, "paramRef", value.into_field()) }
    pub fn with_param_ref(mut self, value: impl o::IntoField<g::admissionregistration::v1::ParamRef>) -> Self { set(&mut self.0, "paramRef", value.into_field()); self }
    pub fn edit_match_resources<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::MatchResources) -> R) -> R { edit(&mut self.0, "matchResources", change) }
    pub fn set_match_resources(&mut self, value: impl o::IntoField<g::admissionregistration::v1::MatchResources>) { set(&mut self.0, "matchResources", value.into_field()) }
    pub fn with_match_resources(mut self, value: impl o::IntoField<g::admissionregistration::v1::MatchResources>) -> Self { set(&mut self.0, "matchResources", value.into_field()); self }
}

object!(MutatingAdmissionPolicyList, MutatingAdmissionPolicyListView);
part!(MutatingAdmissionPolicyList);
impl<'a> MutatingAdmissionPolicyListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::admissionregistration::v1::MutatingAdmissionPolicyView<'a>> { read(self.0, "items") }
}
impl MutatingAdmissionPolicyList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::admissionregistration::v1::MutatingAdmissionPolicy>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::MutatingAdmissionPolicy>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::MutatingAdmissionPolicy>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(MutatingAdmissionPolicySpec, MutatingAdmissionPolicySpecView);
part!(MutatingAdmissionPolicySpec);
impl<'a> MutatingAdmissionPolicySpecView<'a> {
    pub fn param_kind(self) -> Option<g::admissionregistration::v1::ParamKindView<'a>> { find(self.0, "paramKind") }
    pub fn match_constraints(self) -> Option<g::admissionregistration::v1::MatchResourcesView<'a>> { find(self.0, "matchConstraints") }
    pub fn variables(self) -> r::List<'a, g::admissionregistration::v1::VariableView<'a>> { read(self.0, "variables") }
    pub fn mutations(self) -> r::List<'a, g::admissionregistration::v1::MutationView<'a>> { read(self.0, "mutations") }
    pub fn failure_policy(self) -> Option<&'a str> { find(self.0, "failurePolicy") }
    pub fn match_conditions(self) -> r::List<'a, g::admissionregistration::v1::MatchConditionView<'a>> { read(self.0, "matchConditions") }
    pub fn reinvocation_policy(self) -> &'a str { read(self.0, "reinvocationPolicy") }
}
impl MutatingAdmissionPolicySpec {
    pub fn edit_param_kind<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::ParamKind) -> R) -> R { edit(&mut self.0, "paramKind", change) }
    pub fn set_param_kind(&mut self, value: impl o::IntoField<g::admissionregistration::v1::ParamKind>) { set(&mut self.0, "paramKind", value.into_field()) }
    pub fn with_param_kind(mut self, value: impl o::IntoField<g::admissionregistration::v1::ParamKind>) -> Self { set(&mut self.0, "paramKind", value.into_field()); self }
    pub fn edit_match_constraints<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::MatchResources) -> R) -> R { edit(&mut self.0, "matchConstraints", change) }
    pub fn set_match_constraints(&mut self, value: impl o::IntoField<g::admissionregistration::v1::MatchResources>) { set(&mut self.0, "matchConstraints", value.into_field()) }
    pub fn with_match_constraints(mut self, value: impl o::IntoField<g::admissionregistration::v1::MatchResources>) -> Self { set(&mut self.0, "matchConstraints", value.into_field()); self }
    pub fn push_variables(&mut self, item: impl o::IntoField<g::admissionregistration::v1::Variable>) { push(&mut self.0, "variables", item) }
    pub fn set_variables(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::Variable>>) { set_list(&mut self.0, "variables", value) }
    pub fn with_variables(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::Variable>>) -> Self { set_list(&mut self.0, "variables", value); self }
    pub fn push_mutations(&mut self, item: impl o::IntoField<g::admissionregistration::v1::Mutation>) { push(&mut self.0, "mutations", item) }
    pub fn set_mutations(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::Mutation>>) { set_list(&mut self.0, "mutations", value) }
    pub fn with_mutations(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::Mutation>>) -> Self { set_list(&mut self.0, "mutations", value); self }
    pub fn set_failure_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "failurePolicy", value.into_field()) }
    pub fn with_failure_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "failurePolicy", value.into_field()); self }
    pub fn push_match_conditions(&mut self, item: impl o::IntoField<g::admissionregistration::v1::MatchCondition>) { push(&mut self.0, "matchConditions", item) }
    pub fn set_match_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::MatchCondition>>) { set_list(&mut self.0, "matchConditions", value) }
    pub fn with_match_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::MatchCondition>>) -> Self { set_list(&mut self.0, "matchConditions", value); self }
    pub fn set_reinvocation_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reinvocationPolicy", value.into_field()) }
    pub fn with_reinvocation_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reinvocationPolicy", value.into_field()); self }
}

object!(MutatingWebhook, MutatingWebhookView);
part!(MutatingWebhook);
impl<'a> MutatingWebhookView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn client_config(self) -> g::admissionregistration::v1::WebhookClientConfigView<'a> { read(self.0, "clientConfig") }
    pub fn rules(self) -> r::List<'a, g::admissionregistration::v1::RuleWithOperationsView<'a>> { read(self.0, "rules") }
    pub fn failure_policy(self) -> Option<&'a str> { find(self.0, "failurePolicy") }
    pub fn match_policy(self) -> Option<&'a str> { find(self.0, "matchPolicy") }
    pub fn namespace_selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "namespaceSelector") }
    pub fn object_selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "objectSelector") }
    pub fn side_effects(self) -> Option<&'a str> { find(self.0, "sideEffects") }
    pub fn timeout_seconds(self) -> Option<i32> { find(self.0, "timeoutSeconds") }
    pub fn admission_review_versions(self) -> r::List<'a, &'a str> { read(self.0, "admissionReviewVersions") }
    pub fn reinvocation_policy(self) -> Option<&'a str> { find(self.0, "reinvocationPolicy") }
    pub fn match_conditions(self) -> r::List<'a, g::admissionregistration::v1::MatchConditionView<'a>> { read(self.0, "matchConditions") }
}
impl MutatingWebhook {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn edit_client_config<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::WebhookClientConfig) -> R) -> R { edit(&mut self.0, "clientConfig", change) }
    pub fn set_client_config(&mut self, value: impl o::IntoField<g::admissionregistration::v1::WebhookClientConfig>) { set(&mut self.0, "clientConfig", value.into_field()) }
    pub fn with_client_config(mut self, value: impl o::IntoField<g::admissionregistration::v1::WebhookClientConfig>) -> Self { set(&mut self.0, "clientConfig", value.into_field()); self }
    pub fn push_rules(&mut self, item: impl o::IntoField<g::admissionregistration::v1::RuleWithOperations>) { push(&mut self.0, "rules", item) }
    pub fn set_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::RuleWithOperations>>) { set_list(&mut self.0, "rules", value) }
    pub fn with_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::RuleWithOperations>>) -> Self { set_list(&mut self.0, "rules", value); self }
    pub fn set_failure_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "failurePolicy", value.into_field()) }
    pub fn with_failure_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "failurePolicy", value.into_field()); self }
    pub fn set_match_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "matchPolicy", value.into_field()) }
    pub fn with_match_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "matchPolicy", value.into_field()); self }
    pub fn edit_namespace_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "namespaceSelector", change) }
    pub fn set_namespace_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "namespaceSelector", value.into_field()) }
    pub fn with_namespace_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "namespaceSelector", value.into_field()); self }
    pub fn edit_object_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "objectSelector", change) }
    pub fn set_object_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "objectSelector", value.into_field()) }
    pub fn with_object_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "objectSelector", value.into_field()); self }
    pub fn set_side_effects(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "sideEffects", value.into_field()) }
    pub fn with_side_effects(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "sideEffects", value.into_field()); self }
    pub fn set_timeout_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "timeoutSeconds", value.into_field()) }
    pub fn with_timeout_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "timeoutSeconds", value.into_field()); self }
    pub fn push_admission_review_versions(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "admissionReviewVersions", item) }
    pub fn set_admission_review_versions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "admissionReviewVersions", value) }
    pub fn with_admission_review_versions(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "admissionReviewVersions", value); self }
    pub fn set_reinvocation_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reinvocationPolicy", value.into_field()) }
    pub fn with_reinvocation_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reinvocationPolicy", value.into_field()); self }
    pub fn push_match_conditions(&mut self, item: impl o::IntoField<g::admissionregistration::v1::MatchCondition>) { push(&mut self.0, "matchConditions", item) }
    pub fn set_match_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::MatchCondition>>) { set_list(&mut self.0, "matchConditions", value) }
    pub fn with_match_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::MatchCondition>>) -> Self { set_list(&mut self.0, "matchConditions", value); self }
}

object!(MutatingWebhookConfiguration, MutatingWebhookConfigurationView);
kind!(MutatingWebhookConfiguration, "admissionregistration.k8s.io", "v1", "admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations");
impl<'a> MutatingWebhookConfigurationView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn webhooks(self) -> r::List<'a, g::admissionregistration::v1::MutatingWebhookView<'a>> { read(self.0, "webhooks") }
}
impl MutatingWebhookConfiguration {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_webhooks(&mut self, item: impl o::IntoField<g::admissionregistration::v1::MutatingWebhook>) { push(&mut self.0, "webhooks", item) }
    pub fn set_webhooks(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::MutatingWebhook>>) { set_list(&mut self.0, "webhooks", value) }
    pub fn with_webhooks(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::MutatingWebhook>>) -> Self { set_list(&mut self.0, "webhooks", value); self }
}

object!(MutatingWebhookConfigurationList, MutatingWebhookConfigurationListView);
part!(MutatingWebhookConfigurationList);
impl<'a> MutatingWebhookConfigurationListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::admissionregistration::v1::MutatingWebhookConfigurationView<'a>> { read(self.0, "items") }
}
impl MutatingWebhookConfigurationList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::admissionregistration::v1::MutatingWebhookConfiguration>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::MutatingWebhookConfiguration>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::MutatingWebhookConfiguration>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(Mutation, MutationView);
part!(Mutation);
impl<'a> MutationView<'a> {
    pub fn patch_type(self) -> &'a str { read(self.0, "patchType") }
    pub fn apply_configuration(self) -> Option<g::admissionregistration::v1::ApplyConfigurationView<'a>> { find(self.0, "applyConfiguration") }
    pub fn json_patch(self) -> Option<g::admissionregistration::v1::JSONPatchView<'a>> { find(self.0, "jsonPatch") }
}
impl Mutation {
    pub fn set_patch_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "patchType", value.into_field()) }
    pub fn with_patch_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "patchType", value.into_field()); self }
    pub fn edit_apply_configuration<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::ApplyConfiguration) -> R) -> R { edit(&mut self.0, "applyConfiguration", change) }
    pub fn set_apply_configuration(&mut self, value: impl o::IntoField<g::admissionregistration::v1::ApplyConfiguration>) { set(&mut self.0, "applyConfiguration", value.into_field()) }
    pub fn with_apply_configuration(mut self, value: impl o::IntoField<g::admissionregistration::v1::ApplyConfiguration>) -> Self { set(&mut self.0, "applyConfiguration", value.into_field()); self }
    pub fn edit_json_patch<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::JSONPatch) -> R) -> R { edit(&mut self.0, "jsonPatch", change) }
    pub fn set_json_patch(&mut self, value: impl o::IntoField<g::admissionregistration::v1::JSONPatch>) { set(&mut self.0, "jsonPatch", value.into_field()) }
    pub fn with_json_patch(mut self, value: impl o::IntoField<g::admissionregistration::v1::JSONPatch>) -> Self { set(&mut self.0, "jsonPatch", value.into_field()); self }
}

object!(NamedRuleWithOperations, NamedRuleWithOperationsView);
part!(NamedRuleWithOperations);
impl<'a> NamedRuleWithOperationsView<'a> {
    pub fn resource_names(self) -> r::List<'a, &'a str> { read(self.0, "resourceNames") }
    pub fn operations(self) -> r::List<'a, &'a str> { read(self.0, "operations") }
    pub fn api_groups(self) -> r::List<'a, &'a str> { read(self.0, "apiGroups") }
    pub fn api_versions(self) -> r::List<'a, &'a str> { read(self.0, "apiVersions") }
    pub fn resources(self) -> r::List<'a, &'a str> { read(self.0, "resources") }
    pub fn scope(self) -> Option<&'a str> { find(self.0, "scope") }
}
impl NamedRuleWithOperations {
    pub fn push_resource_names(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "resourceNames", item) }
    pub fn set_resource_names(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "resourceNames", value) }
    pub fn with_resource_names(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "resourceNames", value); self }
    pub fn push_operations(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "operations", item) }
    pub fn set_operations(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "operations", value) }
    pub fn with_operations(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "operations", value); self }
    pub fn push_api_groups(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "apiGroups", item) }
    pub fn set_api_groups(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "apiGroups", value) }
    pub fn with_api_groups(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "apiGroups", value); self }
    pub fn push_api_versions(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "apiVersions", item) }
    pub fn set_api_versions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "apiVersions", value) }
    pub fn with_api_versions(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "apiVersions", value); self }
    pub fn push_resources(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "resources", item) }
    pub fn set_resources(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "resources", value) }
    pub fn with_resources(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "resources", value); self }
    pub fn set_scope(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "scope", value.into_field()) }
    pub fn with_scope(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "scope", value.into_field()); self }
}

object!(ParamKind, ParamKindView);
part!(ParamKind);
impl<'a> ParamKindView<'a> {
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
}
impl ParamKind {
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
}

object!(ParamRef, ParamRefView);
part!(ParamRef);
impl<'a> ParamRefView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn namespace(self) -> &'a str { read(self.0, "namespace") }
    pub fn selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "selector") }
    pub fn parameter_not_found_action(self) -> Option<&'a str> { find(self.0, "parameterNotFoundAction") }
}
impl ParamRef {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "namespace", value.into_field()) }
    pub fn with_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "namespace", value.into_field()); self }
    pub fn edit_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "selector", change) }
    pub fn set_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "selector", value.into_field()) }
    pub fn with_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "selector", value.into_field()); self }
    pub fn set_parameter_not_found_action(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "parameterNotFoundAction", value.into_field()) }
    pub fn with_parameter_not_found_action(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "parameterNotFoundAction", value.into_field()); self }
}

object!(Rule, RuleView);
part!(Rule);
impl<'a> RuleView<'a> {
    pub fn api_groups(self) -> r::List<'a, &'a str> { read(self.0, "apiGroups") }
    pub fn api_versions(self) -> r::List<'a, &'a str> { read(self.0, "apiVersions") }
    pub fn resources(self) -> r::List<'a, &'a str> { read(self.0, "resources") }
    pub fn scope(self) -> Option<&'a str> { find(self.0, "scope") }
}
impl Rule {
    pub fn push_api_groups(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "apiGroups", item) }
    pub fn set_api_groups(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "apiGroups", value) }
    pub fn with_api_groups(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "apiGroups", value); self }
    pub fn push_api_versions(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "apiVersions", item) }
    pub fn set_api_versions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "apiVersions", value) }
    pub fn with_api_versions(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "apiVersions", value); self }
    pub fn push_resources(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "resources", item) }
    pub fn set_resources(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "resources", value) }
    pub fn with_resources(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "resources", value); self }
    pub fn set_scope(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "scope", value.into_field()) }
    pub fn with_scope(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "scope", value.into_field()); self }
}

object!(RuleWithOperations, RuleWithOperationsView);
part!(RuleWithOperations);
impl<'a> RuleWithOperationsView<'a> {
    pub fn operations(self) -> r::List<'a, &'a str> { read(self.0, "operations") }
    pub fn api_groups(self) -> r::List<'a, &'a str> { read(self.0, "apiGroups") }
    pub fn api_versions(self) -> r::List<'a, &'a str> { read(self.0, "apiVersions") }
    pub fn resources(self) -> r::List<'a, &'a str> { read(self.0, "resources") }
    pub fn scope(self) -> Option<&'a str> { find(self.0, "scope") }
}
impl RuleWithOperations {
    pub fn push_operations(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "operations", item) }
    pub fn set_operations(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "operations", value) }
    pub fn with_operations(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "operations", value); self }
    pub fn push_api_groups(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "apiGroups", item) }
    pub fn set_api_groups(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "apiGroups", value) }
    pub fn with_api_groups(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "apiGroups", value); self }
    pub fn push_api_versions(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "apiVersions", item) }
    pub fn set_api_versions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "apiVersions", value) }
    pub fn with_api_versions(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "apiVersions", value); self }
    pub fn push_resources(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "resources", item) }
    pub fn set_resources(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "resources", value) }
    pub fn with_resources(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "resources", value); self }
    pub fn set_scope(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "scope", value.into_field()) }
    pub fn with_scope(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "scope", value.into_field()); self }
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

object!(TypeChecking, TypeCheckingView);
part!(TypeChecking);
impl<'a> TypeCheckingView<'a> {
    pub fn expression_warnings(self) -> r::List<'a, g::admissionregistration::v1::ExpressionWarningView<'a>> { read(self.0, "expressionWarnings") }
}
impl TypeChecking {
    pub fn push_expression_warnings(&mut self, item: impl o::IntoField<g::admissionregistration::v1::ExpressionWarning>) { push(&mut self.0, "expressionWarnings", item) }
    pub fn set_expression_warnings(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::ExpressionWarning>>) { set_list(&mut self.0, "expressionWarnings", value) }
    pub fn with_expression_warnings(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::ExpressionWarning>>) -> Self { set_list(&mut self.0, "expressionWarnings", value); self }
}

object!(ValidatingAdmissionPolicy, ValidatingAdmissionPolicyView);
kind!(ValidatingAdmissionPolicy, "admissionregistration.k8s.io", "v1", "admissionregistration.k8s.io/v1", "validatingadmissionpolicies");
impl<'a> ValidatingAdmissionPolicyView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::admissionregistration::v1::ValidatingAdmissionPolicySpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::admissionregistration::v1::ValidatingAdmissionPolicyStatusView<'a> { read(self.0, "status") }
}
impl ValidatingAdmissionPolicy {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::ValidatingAdmissionPolicySpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::admissionregistration::v1::ValidatingAdmissionPolicySpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::admissionregistration::v1::ValidatingAdmissionPolicySpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::ValidatingAdmissionPolicyStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::admissionregistration::v1::ValidatingAdmissionPolicyStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::admissionregistration::v1::ValidatingAdmissionPolicyStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(ValidatingAdmissionPolicyBinding, ValidatingAdmissionPolicyBindingView);
kind!(ValidatingAdmissionPolicyBinding, "admissionregistration.k8s.io", "v1", "admissionregistration.k8s.io/v1", "validatingadmissionpolicybindings");
impl<'a> ValidatingAdmissionPolicyBindingView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::admissionregistration::v1::ValidatingAdmissionPolicyBindingSpecView<'a> { read(self.0, "spec") }
}
impl ValidatingAdmissionPolicyBinding {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::ValidatingAdmissionPolicyBindingSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::admissionregistration::v1::ValidatingAdmissionPolicyBindingSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::admissionregistration::v1::ValidatingAdmissionPolicyBindingSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(ValidatingAdmissionPolicyBindingList, ValidatingAdmissionPolicyBindingListView);
part!(ValidatingAdmissionPolicyBindingList);
impl<'a> ValidatingAdmissionPolicyBindingListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::admissionregistration::v1::ValidatingAdmissionPolicyBindingView<'a>> { read(self.0, "items") }
}
impl ValidatingAdmissionPolicyBindingList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::admissionregistration::v1::ValidatingAdmissionPolicyBinding>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::ValidatingAdmissionPolicyBinding>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::ValidatingAdmissionPolicyBinding>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(ValidatingAdmissionPolicyBindingSpec, ValidatingAdmissionPolicyBindingSpecView);
part!(ValidatingAdmissionPolicyBindingSpec);
impl<'a> ValidatingAdmissionPolicyBindingSpecView<'a> {
    pub fn policy_name(self) -> &'a str { read(self.0, "policyName") }
    pub fn param_ref(self) -> Option<g::admissionregistration::v1::ParamRefView<'a>> { find(self.0, "paramRef") }
    pub fn match_resources(self) -> Option<g::admissionregistration::v1::MatchResourcesView<'a>> { find(self.0, "matchResources") }
    pub fn validation_actions(self) -> r::List<'a, &'a str> { read(self.0, "validationActions") }
}
impl ValidatingAdmissionPolicyBindingSpec {
    pub fn set_policy_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "policyName", value.into_field()) }
    pub fn with_policy_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "policyName", value.into_field()); self }
    pub fn edit_param_ref<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::ParamRef) -> R) -> R { edit(&mut self.0, "paramRef", change) }
    pub fn set_param_ref(&mut self, value: impl o::IntoField<g::admissionregistration::v1::ParamRef>) { set(&mut self.0, "paramRef", value.into_field()) }
    pub fn with_param_ref(mut self, value: impl o::IntoField<g::admissionregistration::v1::ParamRef>) -> Self { set(&mut self.0, "paramRef", value.into_field()); self }
    pub fn edit_match_resources<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::MatchResources) -> R) -> R { edit(&mut self.0, "matchResources", change) }
    pub fn set_match_resources(&mut self, value: impl o::IntoField<g::admissionregistration::v1::MatchResources>) { set(&mut self.0, "matchResources", value.into_field()) }
    pub fn with_match_resources(mut self, value: impl o::IntoField<g::admissionregistration::v1::MatchResources>) -> Self { set(&mut self.0, "matchResources", value.into_field()); self }
    pub fn push_validation_actions(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "validationActions", item) }
    pub fn set_validation_actions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "validationActions", value) }
    pub fn with_validation_actions(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "validationActions", value); self }
}

object!(ValidatingAdmissionPolicyList, ValidatingAdmissionPolicyListView);
part!(ValidatingAdmissionPolicyList);
impl<'a> ValidatingAdmissionPolicyListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::admissionregistration::v1::ValidatingAdmissionPolicyView<'a>> { read(self.0, "items") }
}
impl ValidatingAdmissionPolicyList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::admissionregistration::v1::ValidatingAdmissionPolicy>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::ValidatingAdmissionPolicy>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::ValidatingAdmissionPolicy>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(ValidatingAdmissionPolicySpec, ValidatingAdmissionPolicySpecView);
part!(ValidatingAdmissionPolicySpec);
impl<'a> ValidatingAdmissionPolicySpecView<'a> {
    pub fn param_kind(self) -> Option<g::admissionregistration::v1::ParamKindView<'a>> { find(self.0, "paramKind") }
    pub fn match_constraints(self) -> Option<g::admissionregistration::v1::MatchResourcesView<'a>> { find(self.0, "matchConstraints") }
    pub fn validations(self) -> r::List<'a, g::admissionregistration::v1::ValidationView<'a>> { read(self.0, "validations") }
    pub fn failure_policy(self) -> Option<&'a str> { find(self.0, "failurePolicy") }
    pub fn audit_annotations(self) -> r::List<'a, g::admissionregistration::v1::AuditAnnotationView<'a>> { read(self.0, "auditAnnotations") }
    pub fn match_conditions(self) -> r::List<'a, g::admissionregistration::v1::MatchConditionView<'a>> { read(self.0, "matchConditions") }
    pub fn variables(self) -> r::List<'a, g::admissionregistration::v1::VariableView<'a>> { read(self.0, "variables") }
}
impl ValidatingAdmissionPolicySpec {
    pub fn edit_param_kind<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::ParamKind) -> R) -> R { edit(&mut self.0, "paramKind", change) }
    pub fn set_param_kind(&mut self, value: impl o::IntoField<g::admissionregistration::v1::ParamKind>) { set(&mut self.0, "paramKind", value.into_field()) }
    pub fn with_param_kind(mut self, value: impl o::IntoField<g::admissionregistration::v1::ParamKind>) -> Self { set(&mut self.0, "paramKind", value.into_field()); self }
    pub fn edit_match_constraints<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::MatchResources) -> R) -> R { edit(&mut self.0, "matchConstraints", change) }
    pub fn set_match_constraints(&mut self, value: impl o::IntoField<g::admissionregistration::v1::MatchResources>) { set(&mut self.0, "matchConstraints", value.into_field()) }
    pub fn with_match_constraints(mut self, value: impl o::IntoField<g::admissionregistration::v1::MatchResources>) -> Self { set(&mut self.0, "matchConstraints", value.into_field()); self }
    pub fn push_validations(&mut self, item: impl o::IntoField<g::admissionregistration::v1::Validation>) { push(&mut self.0, "validations", item) }
    pub fn set_validations(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::Validation>>) { set_list(&mut self.0, "validations", value) }
    pub fn with_validations(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::Validation>>) -> Self { set_list(&mut self.0, "validations", value); self }
    pub fn set_failure_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "failurePolicy", value.into_field()) }
    pub fn with_failure_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "failurePolicy", value.into_field()); self }
    pub fn push_audit_annotations(&mut self, item: impl o::IntoField<g::admissionregistration::v1::AuditAnnotation>) { push(&mut self.0, "auditAnnotations", item) }
    pub fn set_audit_annotations(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::AuditAnnotation>>) { set_list(&mut self.0, "auditAnnotations", value) }
    pub fn with_audit_annotations(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::AuditAnnotation>>) -> Self { set_list(&mut self.0, "auditAnnotations", value); self }
    pub fn push_match_conditions(&mut self, item: impl o::IntoField<g::admissionregistration::v1::MatchCondition>) { push(&mut self.0, "matchConditions", item) }
    pub fn set_match_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::MatchCondition>>) { set_list(&mut self.0, "matchConditions", value) }
    pub fn with_match_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::MatchCondition>>) -> Self { set_list(&mut self.0, "matchConditions", value); self }
    pub fn push_variables(&mut self, item: impl o::IntoField<g::admissionregistration::v1::Variable>) { push(&mut self.0, "variables", item) }
    pub fn set_variables(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::Variable>>) { set_list(&mut self.0, "variables", value) }
    pub fn with_variables(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::Variable>>) -> Self { set_list(&mut self.0, "variables", value); self }
}

object!(ValidatingAdmissionPolicyStatus, ValidatingAdmissionPolicyStatusView);
part!(ValidatingAdmissionPolicyStatus);
impl<'a> ValidatingAdmissionPolicyStatusView<'a> {
    pub fn observed_generation(self) -> i64 { read(self.0, "observedGeneration") }
    pub fn type_checking(self) -> Option<g::admissionregistration::v1::TypeCheckingView<'a>> { find(self.0, "typeChecking") }
    pub fn conditions(self) -> r::List<'a, g::meta::v1::ConditionView<'a>> { read(self.0, "conditions") }
}
impl ValidatingAdmissionPolicyStatus {
    pub fn set_observed_generation(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "observedGeneration", value.into_field()) }
    pub fn with_observed_generation(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "observedGeneration", value.into_field()); self }
    pub fn edit_type_checking<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::TypeChecking) -> R) -> R { edit(&mut self.0, "typeChecking", change) }
    pub fn set_type_checking(&mut self, value: impl o::IntoField<g::admissionregistration::v1::TypeChecking>) { set(&mut self.0, "typeChecking", value.into_field()) }
    pub fn with_type_checking(mut self, value: impl o::IntoField<g::admissionregistration::v1::TypeChecking>) -> Self { set(&mut self.0, "typeChecking", value.into_field()); self }
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::meta::v1::Condition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::Condition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::Condition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
}

object!(ValidatingWebhook, ValidatingWebhookView);
part!(ValidatingWebhook);
impl<'a> ValidatingWebhookView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn client_config(self) -> g::admissionregistration::v1::WebhookClientConfigView<'a> { read(self.0, "clientConfig") }
    pub fn rules(self) -> r::List<'a, g::admissionregistration::v1::RuleWithOperationsView<'a>> { read(self.0, "rules") }
    pub fn failure_policy(self) -> Option<&'a str> { find(self.0, "failurePolicy") }
    pub fn match_policy(self) -> Option<&'a str> { find(self.0, "matchPolicy") }
    pub fn namespace_selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "namespaceSelector") }
    pub fn object_selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "objectSelector") }
    pub fn side_effects(self) -> Option<&'a str> { find(self.0, "sideEffects") }
    pub fn timeout_seconds(self) -> Option<i32> { find(self.0, "timeoutSeconds") }
    pub fn admission_review_versions(self) -> r::List<'a, &'a str> { read(self.0, "admissionReviewVersions") }
    pub fn match_conditions(self) -> r::List<'a, g::admissionregistration::v1::MatchConditionView<'a>> { read(self.0, "matchConditions") }
}
impl ValidatingWebhook {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn edit_client_config<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::WebhookClientConfig) -> R) -> R { edit(&mut self.0, "clientConfig", change) }
    pub fn set_client_config(&mut self, value: impl o::IntoField<g::admissionregistration::v1::WebhookClientConfig>) { set(&mut self.0, "clientConfig", value.into_field()) }
    pub fn with_client_config(mut self, value: impl o::IntoField<g::admissionregistration::v1::WebhookClientConfig>) -> Self { set(&mut self.0, "clientConfig", value.into_field()); self }
    pub fn push_rules(&mut self, item: impl o::IntoField<g::admissionregistration::v1::RuleWithOperations>) { push(&mut self.0, "rules", item) }
    pub fn set_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::RuleWithOperations>>) { set_list(&mut self.0, "rules", value) }
    pub fn with_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::RuleWithOperations>>) -> Self { set_list(&mut self.0, "rules", value); self }
    pub fn set_failure_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "failurePolicy", value.into_field()) }
    pub fn with_failure_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "failurePolicy", value.into_field()); self }
    pub fn set_match_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "matchPolicy", value.into_field()) }
    pub fn with_match_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "matchPolicy", value.into_field()); self }
    pub fn edit_namespace_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "namespaceSelector", change) }
    pub fn set_namespace_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "namespaceSelector", value.into_field()) }
    pub fn with_namespace_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "namespaceSelector", value.into_field()); self }
    pub fn edit_object_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "objectSelector", change) }
    pub fn set_object_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "objectSelector", value.into_field()) }
    pub fn with_object_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "objectSelector", value.into_field()); self }
    pub fn set_side_effects(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "sideEffects", value.into_field()) }
    pub fn with_side_effects(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "sideEffects", value.into_field()); self }
    pub fn set_timeout_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "timeoutSeconds", value.into_field()) }
    pub fn with_timeout_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "timeoutSeconds", value.into_field()); self }
    pub fn push_admission_review_versions(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "admissionReviewVersions", item) }
    pub fn set_admission_review_versions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "admissionReviewVersions", value) }
    pub fn with_admission_review_versions(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "admissionReviewVersions", value); self }
    pub fn push_match_conditions(&mut self, item: impl o::IntoField<g::admissionregistration::v1::MatchCondition>) { push(&mut self.0, "matchConditions", item) }
    pub fn set_match_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::MatchCondition>>) { set_list(&mut self.0, "matchConditions", value) }
    pub fn with_match_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::MatchCondition>>) -> Self { set_list(&mut self.0, "matchConditions", value); self }
}

object!(ValidatingWebhookConfiguration, ValidatingWebhookConfigurationView);
kind!(ValidatingWebhookConfiguration, "admissionregistration.k8s.io", "v1", "admissionregistration.k8s.io/v1", "validatingwebhookconfigurations");
impl<'a> ValidatingWebhookConfigurationView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn webhooks(self) -> r::List<'a, g::admissionregistration::v1::ValidatingWebhookView<'a>> { read(self.0, "webhooks") }
}
impl ValidatingWebhookConfiguration {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_webhooks(&mut self, item: impl o::IntoField<g::admissionregistration::v1::ValidatingWebhook>) { push(&mut self.0, "webhooks", item) }
    pub fn set_webhooks(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::ValidatingWebhook>>) { set_list(&mut self.0, "webhooks", value) }
    pub fn with_webhooks(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::ValidatingWebhook>>) -> Self { set_list(&mut self.0, "webhooks", value); self }
}

object!(ValidatingWebhookConfigurationList, ValidatingWebhookConfigurationListView);
part!(ValidatingWebhookConfigurationList);
impl<'a> ValidatingWebhookConfigurationListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::admissionregistration::v1::ValidatingWebhookConfigurationView<'a>> { read(self.0, "items") }
}
impl ValidatingWebhookConfigurationList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::admissionregistration::v1::ValidatingWebhookConfiguration>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::ValidatingWebhookConfiguration>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::admissionregistration::v1::ValidatingWebhookConfiguration>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(Validation, ValidationView);
part!(Validation);
impl<'a> ValidationView<'a> {
    pub fn expression(self) -> &'a str { read(self.0, "expression") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
    pub fn reason(self) -> Option<&'a str> { find(self.0, "reason") }
    pub fn message_expression(self) -> &'a str { read(self.0, "messageExpression") }
}
impl Validation {
    pub fn set_expression(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "expression", value.into_field()) }
    pub fn with_expression(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "expression", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_message_expression(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "messageExpression", value.into_field()) }
    pub fn with_message_expression(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "messageExpression", value.into_field()); self }
}

object!(Variable, VariableView);
part!(Variable);
impl<'a> VariableView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn expression(self) -> &'a str { read(self.0, "expression") }
}
impl Variable {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_expression(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "expression", value.into_field()) }
    pub fn with_expression(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "expression", value.into_field()); self }
}

object!(WebhookClientConfig, WebhookClientConfigView);
part!(WebhookClientConfig);
impl<'a> WebhookClientConfigView<'a> {
    pub fn url(self) -> Option<&'a str> { find(self.0, "url") }
    pub fn service(self) -> Option<g::admissionregistration::v1::ServiceReferenceView<'a>> { find(self.0, "service") }
    pub fn ca_bundle(self) -> r::Base64<'a> { read(self.0, "caBundle") }
}
impl WebhookClientConfig {
    pub fn set_url(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "url", value.into_field()) }
    pub fn with_url(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "url", value.into_field()); self }
    pub fn edit_service<R>(&mut self, change: impl FnOnce(&mut g::admissionregistration::v1::ServiceReference) -> R) -> R { edit(&mut self.0, "service", change) }
    pub fn set_service(&mut self, value: impl o::IntoField<g::admissionregistration::v1::ServiceReference>) { set(&mut self.0, "service", value.into_field()) }
    pub fn with_service(mut self, value: impl o::IntoField<g::admissionregistration::v1::ServiceReference>) -> Self { set(&mut self.0, "service", value.into_field()); self }
    pub fn set_ca_bundle(&mut self, value: impl o::IntoField<o::Bytes>) { set(&mut self.0, "caBundle", value.into_field()) }
    pub fn with_ca_bundle(mut self, value: impl o::IntoField<o::Bytes>) -> Self { set(&mut self.0, "caBundle", value.into_field()); self }
}
