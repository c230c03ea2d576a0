//! Generated from facts/flowcontrol.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(ExemptPriorityLevelConfiguration, ExemptPriorityLevelConfigurationView);
part!(ExemptPriorityLevelConfiguration);
impl<'a> ExemptPriorityLevelConfigurationView<'a> {
    pub fn nominal_concurrency_shares(self) -> Option<i32> { find(self.0, "nominalConcurrencyShares") }
    pub fn lendable_percent(self) -> Option<i32> { find(self.0, "lendablePercent") }
}
impl ExemptPriorityLevelConfiguration {
    pub fn set_nominal_concurrency_shares(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "nominalConcurrencyShares", value.into_field()) }
    pub fn with_nominal_concurrency_shares(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "nominalConcurrencyShares", value.into_field()); self }
    pub fn set_lendable_percent(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "lendablePercent", value.into_field()) }
    pub fn with_lendable_percent(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "lendablePercent", value.into_field()); self }
}

object!(FlowDistinguisherMethod, FlowDistinguisherMethodView);
part!(FlowDistinguisherMethod);
impl<'a> FlowDistinguisherMethodView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
}
impl FlowDistinguisherMethod {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
}

object!(FlowSchema, FlowSchemaView);
kind!(FlowSchema, "flowcontrol.apiserver.k8s.io", "v1", "flowcontrol.apiserver.k8s.io/v1", "flowschemas");
impl<'a> FlowSchemaView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::flowcontrol::v1::FlowSchemaSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::flowcontrol::v1::FlowSchemaStatusView<'a> { read(self.0, "status") }
}
impl FlowSchema {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::flowcontrol::v1::FlowSchemaSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::flowcontrol::v1::FlowSchemaSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::flowcontrol::v1::FlowSchemaSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::flowcontrol::v1::FlowSchemaStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::flowcontrol::v1::FlowSchemaStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::flowcontrol::v1::FlowSchemaStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(FlowSchemaCondition, FlowSchemaConditionView);
part!(FlowSchemaCondition);
impl<'a> FlowSchemaConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl FlowSchemaCondition {
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

object!(FlowSchemaList, FlowSchemaListView);
part!(FlowSchemaList);
impl<'a> FlowSchemaListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::flowcontrol::v1::FlowSchemaView<'a>> { read(self.0, "items") }
}
impl FlowSchemaList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::flowcontrol::v1::FlowSchema>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::flowcontrol::v1::FlowSchema>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::flowcontrol::v1::FlowSchema>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(FlowSchemaSpec, FlowSchemaSpecView);
part!(FlowSchemaSpec);
impl<'a> FlowSchemaSpecView<'a> {
    pub fn priority_level_configuration(self) -> g::flowcontrol::v1::PriorityLevelConfigurationReferenceView<'a> { read(self.0, "priorityLevelConfiguration") }
    pub fn matching_precedence(self) -> i32 { read(self.0, "matchingPrecedence") }
    pub fn distinguisher_method(self) -> Option<g::flowcontrol::v1::FlowDistinguisherMethodView<'a>> { find(self.0, "distinguisherMethod") }
    pub fn rules(self) -> r::List<'a, g::flowcontrol::v1::PolicyRulesWithSubjectsView<'a>> { read(self.0, "rules") }
}
impl FlowSchemaSpec {
    pub fn edit_priority_level_configuration<R>(&mut self, change: impl FnOnce(&mut g::flowcontrol::v1::PriorityLevelConfigurationReference) -> R) -> R { edit(&mut self.0, "priorityLevelConfiguration", change) }
    pub fn set_priority_level_configuration(&mut self, value: impl o::IntoField<g::flowcontrol::v1::PriorityLevelConfigurationReference>) { set(&mut self.0, "priorityLevelConfiguration", value.into_field()) }
    pub fn with_priority_level_configuration(mut self, value: impl o::IntoField<g::flowcontrol::v1::PriorityLevelConfigurationReference>) -> Self { set(&mut self.0, "priorityLevelConfiguration", value.into_field()); self }
    pub fn set_matching_precedence(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "matchingPrecedence", value.into_field()) }
    pub fn with_matching_precedence(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "matchingPrecedence", value.into_field()); self }
    pub fn edit_distinguisher_method<R>(&mut self, change: impl FnOnce(&mut g::flowcontrol::v1::FlowDistinguisherMethod) -> R) -> R { edit(&mut self.0, "distinguisherMethod", change) }
    pub fn set_distinguisher_method(&mut self, value: impl o::IntoField<g::flowcontrol::v1::FlowDistinguisherMethod>) { set(&mut self.0, "distinguisherMethod", value.into_field()) }
    pub fn with_distinguisher_method(mut self, value: impl o::IntoField<g::flowcontrol::v1::FlowDistinguisherMethod>) -> Self { set(&mut self.0, "distinguisherMethod", value.into_field()); self }
    pub fn push_rules(&mut self, item: impl o::IntoField<g::flowcontrol::v1::PolicyRulesWithSubjects>) { push(&mut self.0, "rules", item) }
    pub fn set_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::flowcontrol::v1::PolicyRulesWithSubjects>>) { set_list(&mut self.0, "rules", value) }
    pub fn with_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::flowcontrol::v1::PolicyRulesWithSubjects>>) -> Self { set_list(&mut self.0, "rules", value); self }
}

object!(FlowSchemaStatus, FlowSchemaStatusView);
part!(FlowSchemaStatus);
impl<'a> FlowSchemaStatusView<'a> {
    pub fn conditions(self) -> r::List<'a, g::flowcontrol::v1::FlowSchemaConditionView<'a>> { read(self.0, "conditions") }
}
impl FlowSchemaStatus {
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::flowcontrol::v1::FlowSchemaCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::flowcontrol::v1::FlowSchemaCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::flowcontrol::v1::FlowSchemaCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
}

object!(GroupSubject, GroupSubjectView);
part!(GroupSubject);
impl<'a> GroupSubjectView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
}
impl GroupSubject {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
}

object!(LimitResponse, LimitResponseView);
part!(LimitResponse);
impl<'a> LimitResponseView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn queuing(self) -> Option<g::flowcontrol::v1::QueuingConfigurationView<'a>> { find(self.0, "queuing") }
}
impl LimitResponse {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn edit_queuing<R>(&mut self, change: impl FnOnce(&mut g::flowcontrol::v1::QueuingConfiguration) -> R) -> R { edit(&mut self.0, "queuing", change) }
    pub fn set_queuing(&mut self, value: impl o::IntoField<g::flowcontrol::v1::QueuingConfiguration>) { set(&mut self.0, "queuing", value.into_field()) }
    pub fn with_queuing(mut self, value: impl o::IntoField<g::flowcontrol::v1::QueuingConfiguration>) -> Self { set(&mut self.0, "queuing", value.into_field()); self }
}

object!(LimitedPriorityLevelConfiguration, LimitedPriorityLevelConfigurationView);
part!(LimitedPriorityLevelConfiguration);
impl<'a> LimitedPriorityLevelConfigurationView<'a> {
    pub fn nominal_concurrency_shares(self) -> Option<i32> { find(self.0, "nominalConcurrencyShares") }
    pub fn limit_response(self) -> g::flowcontrol::v1::LimitResponseView<'a> { read(self.0, "limitResponse") }
    pub fn lendable_percent(self) -> Option<i32> { find(self.0, "lendablePercent") }
    pub fn borrowing_limit_percent(self) -> Option<i32> { find(self.0, "borrowingLimitPercent") }
}
impl LimitedPriorityLevelConfiguration {
    pub fn set_nominal_concurrency_shares(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "nominalConcurrencyShares", value.into_field()) }
    pub fn with_nominal_concurrency_shares(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "nominalConcurrencyShares", value.into_field()); self }
    pub fn edit_limit_response<R>(&mut self, change: impl FnOnce(&mut g::flowcontrol::v1::LimitResponse) -> R) -> R { edit(&mut self.0, "limitResponse", change) }
    pub fn set_limit_response(&mut self, value: impl o::IntoField<g::flowcontrol::v1::LimitResponse>) { set(&mut self.0, "limitResponse", value.into_field()) }
    pub fn with_limit_response(mut self, value: impl o::IntoField<g::flowcontrol::v1::LimitResponse>) -> Self { set(&mut self.0, "limitResponse", value.into_field()); self }
    pub fn set_lendable_percent(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "lendablePercent", value.into_field()) }
    pub fn with_lendable_percent(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "lendablePercent", value.into_field()); self }
    pub fn set_borrowing_limit_percent(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "borrowingLimitPercent", value.into_field()) }
    pub fn with_borrowing_limit_percent(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "borrowingLimitPercent", value.into_field()); self }
}

object!(NonResourcePolicyRule, NonResourcePolicyRuleView);
part!(NonResourcePolicyRule);
impl<'a> NonResourcePolicyRuleView<'a> {
    pub fn verbs(self) -> r::List<'a, &'a str> { read(self.0, "verbs") }
    pub fn non_resource_urls(self) -> r::List<'a, &'a str> { read(self.0, "nonResourceURLs") }
}
impl NonResourcePolicyRule {
    pub fn push_verbs(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "verbs", item) }
    pub fn set_verbs(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "verbs", value) }
    pub fn with_verbs(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "verbs", value); self }
    pub fn push_non_resource_urls(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "nonResourceURLs", item) }
    pub fn set_non_resource_urls(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "nonResourceURLs", value) }
    pub fn with_non_resource_urls(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "nonResourceURLs", value); self }
}

object!(PolicyRulesWithSubjects, PolicyRulesWithSubjectsView);
part!(PolicyRulesWithSubjects);
impl<'a> PolicyRulesWithSubjectsView<'a> {
    pub fn subjects(self) -> r::List<'a, g::flowcontrol::v1::SubjectView<'a>> { read(self.0, "subjects") }
    pub fn resource_rules(self) -> r::List<'a, g::flowcontrol::v1::ResourcePolicyRuleView<'a>> { read(self.0, "resourceRules") }
    pub fn non_resource_rules(self) -> r::List<'a, g::flowcontrol::v1::NonResourcePolicyRuleView<'a>> { read(self.0, "nonResourceRules") }
}
impl PolicyRulesWithSubjects {
    pub fn push_subjects(&mut self, item: impl o::IntoField<g::flowcontrol::v1::Subject>) { push(&mut self.0, "subjects", item) }
    pub fn set_subjects(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::flowcontrol::v1::Subject>>) { set_list(&mut self.0, "subjects", value) }
    pub fn with_subjects(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::flowcontrol::v1::Subject>>) -> Self { set_list(&mut self.0, "subjects", value); self }
    pub fn push_resource_rules(&mut self, item: impl o::IntoField<g::flowcontrol::v1::ResourcePolicyRule>) { push(&mut self.0, "resourceRules", item) }
    pub fn set_resource_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::flowcontrol::v1::ResourcePolicyRule>>) { set_list(&mut self.0, "resourceRules", value) }
    pub fn with_resource_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::flowcontrol::v1::ResourcePolicyRule>>) -> Self { set_list(&mut self.0, "resourceRules", value); self }
    pub fn push_non_resource_rules(&mut self, item: impl o::IntoField<g::flowcontrol::v1::NonResourcePolicyRule>) { push(&mut self.0, "nonResourceRules", item) }
    pub fn set_non_resource_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::flowcontrol::v1::NonResourcePolicyRule>>) { set_list(&mut self.0, "nonResourceRules", value) }
    pub fn with_non_resource_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::flowcontrol::v1::NonResourcePolicyRule>>) -> Self { set_list(&mut self.0, "nonResourceRules", value); self }
}

object!(PriorityLevelConfiguration, PriorityLevelConfigurationView);
kind!(PriorityLevelConfiguration, "flowcontrol.apiserver.k8s.io", "v1", "flowcontrol.apiserver.k8s.io/v1", "prioritylevelconfigurations");
impl<'a> PriorityLevelConfigurationView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::flowcontrol::v1::PriorityLevelConfigurationSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::flowcontrol::v1::PriorityLevelConfigurationStatusView<'a> { read(self.0, "status") }
}
impl PriorityLevelConfiguration {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::flowcontrol::v1::PriorityLevelConfigurationSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::flowcontrol::v1::PriorityLevelConfigurationSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::flowcontrol::v1::PriorityLevelConfigurationSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::flowcontrol::v1::PriorityLevelConfigurationStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::flowcontrol::v1::PriorityLevelConfigurationStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::flowcontrol::v1::PriorityLevelConfigurationStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(PriorityLevelConfigurationCondition, PriorityLevelConfigurationConditionView);
part!(PriorityLevelConfigurationCondition);
impl<'a> PriorityLevelConfigurationConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl PriorityLevelConfigurationCondition {
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

object!(PriorityLevelConfigurationList, PriorityLevelConfigurationListView);
part!(PriorityLevelConfigurationList);
impl<'a> PriorityLevelConfigurationListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::flowcontrol::v1::PriorityLevelConfigurationView<'a>> { read(self.0, "items") }
}
impl PriorityLevelConfigurationList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::flowcontrol::v1::PriorityLevelConfiguration>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::flowcontrol::v1::PriorityLevelConfiguration>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::flowcontrol::v1::PriorityLevelConfiguration>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(PriorityLevelConfigurationReference, PriorityLevelConfigurationReferenceView);
part!(PriorityLevelConfigurationReference);
impl<'a> PriorityLevelConfigurationReferenceView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
}
impl PriorityLevelConfigurationReference {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
}

object!(PriorityLevelConfigurationSpec, PriorityLevelConfigurationSpecView);
part!(PriorityLevelConfigurationSpec);
impl<'a> PriorityLevelConfigurationSpecView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn limited(self) -> Option<g::flowcontrol::v1::LimitedPriorityLevelConfigurationView<'a>> { find(self.0, "limited") }
    pub fn exempt(self) -> Option<g::flowcontrol::v1::ExemptPriorityLevelConfigurationView<'a>> { find(self.0, "exempt") }
}
impl PriorityLevelConfigurationSpec {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn edit_limited<R>(&mut self, change: impl FnOnce(&mut g::flowcontrol::v1::LimitedPriorityLevelConfiguration) -> R) -> R { edit(&mut self.0, "limited", change) }
    pub fn set_limited(&mut self, value: impl o::IntoField<g::flowcontrol::v1::LimitedPriorityLevelConfiguration>) { set(&mut self.0, "limited", value.into_field()) }
    pub fn with_limited(mut self, value: impl o::IntoField<g::flowcontrol::v1::LimitedPriorityLevelConfiguration>) -> Self { set(&mut self.0, "limited", value.into_field()); self }
    pub fn edit_exempt<R>(&mut self, change: impl FnOnce(&mut g::flowcontrol::v1::ExemptPriorityLevelConfiguration) -> R) -> R { edit(&mut self.0, "exempt", change) }
    pub fn set_exempt(&mut self, value: impl o::IntoField<g::flowcontrol::v1::ExemptPriorityLevelConfiguration>) { set(&mut self.0, "exempt", value.into_field()) }
    pub fn with_exempt(mut self, value: impl o::IntoField<g::flowcontrol::v1::ExemptPriorityLevelConfiguration>) -> Self { set(&mut self.0, "exempt", value.into_field()); self }
}

object!(PriorityLevelConfigurationStatus, PriorityLevelConfigurationStatusView);
part!(PriorityLevelConfigurationStatus);
impl<'a> PriorityLevelConfigurationStatusView<'a> {
    pub fn conditions(self) -> r::List<'a, g::flowcontrol::v1::PriorityLevelConfigurationConditionView<'a>> { read(self.0, "conditions") }
}
impl PriorityLevelConfigurationStatus {
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::flowcontrol::v1::PriorityLevelConfigurationCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::flowcontrol::v1::PriorityLevelConfigurationCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::flowcontrol::v1::PriorityLevelConfigurationCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
}

object!(QueuingConfiguration, QueuingConfigurationView);
part!(QueuingConfiguration);
impl<'a> QueuingConfigurationView<'a> {
    pub fn queues(self) -> i32 { read(self.0, "queues") }
    pub fn hand_size(self) -> i32 { read(self.0, "handSize") }
    pub fn queue_length_limit(self) -> i32 { read(self.0, "queueLengthLimit") }
}
impl QueuingConfiguration {
    pub fn set_queues(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "queues", value.into_field()) }
    pub fn with_queues(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "queues", value.into_field()); self }
    pub fn set_hand_size(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "handSize", value.into_field()) }
    pub fn with_hand_size(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "handSize", value.into_field()); self }
    pub fn set_queue_length_limit(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "queueLengthLimit", value.into_field()) }
    pub fn with_queue_length_limit(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "queueLengthLimit", value.into_field()); self }
}

object!(ResourcePolicyRule, ResourcePolicyRuleView);
part!(ResourcePolicyRule);
impl<'a> ResourcePolicyRuleView<'a> {
    pub fn verbs(self) -> r::List<'a, &'a str> { read(self.0, "verbs") }
    pub fn api_groups(self) -> r::List<'a, &'a str> { read(self.0, "apiGroups") }
    pub fn resources(self) -> r::List<'a, &'a str> { read(self.0, "resources") }
    pub fn cluster_scope(self) -> bool { read(self.0, "clusterScope") }
    pub fn namespaces(self) -> r::List<'a, &'a str> { read(self.0, "namespaces") }
}
impl ResourcePolicyRule {
    pub fn push_verbs(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "verbs", item) }
    pub fn set_verbs(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "verbs", value) }
    pub fn with_verbs(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "verbs", value); self }
    pub fn push_api_groups(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "apiGroups", item) }
    pub fn set_api_groups(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "apiGroups", value) }
    pub fn with_api_groups(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "apiGroups", value); self }
    pub fn push_resources(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "resources", item) }
    pub fn set_resources(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "resources", value) }
    pub fn with_resources(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "resources", value); self }
    pub fn set_cluster_scope(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "clusterScope", value.into_field()) }
    pub fn with_cluster_scope(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "clusterScope", value.into_field()); self }
    pub fn push_namespaces(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "namespaces", item) }
    pub fn set_namespaces(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "namespaces", value) }
    pub fn with_namespaces(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "namespaces", value); self }
}

object!(ServiceAccountSubject, ServiceAccountSubjectView);
part!(ServiceAccountSubject);
impl<'a> ServiceAccountSubjectView<'a> {
    pub fn namespace(self) -> &'a str { read(self.0, "namespace") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
}
impl ServiceAccountSubject {
    pub fn set_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "namespace", value.into_field()) }
    pub fn with_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "namespace", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
}

object!(Subject, SubjectView);
part!(Subject);
impl<'a> SubjectView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn user(self) -> Option<g::flowcontrol::v1::UserSubjectView<'a>> { find(self.0, "user") }
    pub fn group(self) -> Option<g::flowcontrol::v1::GroupSubjectView<'a>> { find(self.0, "group") }
    pub fn service_account(self) -> Option<g::flowcontrol::v1::ServiceAccountSubjectView<'a>> { find(self.0, "serviceAccount") }
}
impl Subject {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn edit_user<R>(&mut self, change: impl FnOnce(&mut g::flowcontrol::v1::UserSubject) -> R) -> R { edit(&mut self.0, "user", change) }
    pub fn set_user(&mut self, value: impl o::IntoField<g::flowcontrol::v1::UserSubject>) { set(&mut self.0, "user", value.into_field()) }
    pub fn with_user(mut self, value: impl o::IntoField<g::flowcontrol::v1::UserSubject>) -> Self { set(&mut self.0, "user", value.into_field()); self }
    pub fn edit_group<R>(&mut self, change: impl FnOnce(&mut g::flowcontrol::v1::GroupSubject) -> R) -> R { edit(&mut self.0, "group", change) }
    pub fn set_group(&mut self, value: impl o::IntoField<g::flowcontrol::v1::GroupSubject>) { set(&mut self.0, "group", value.into_field()) }
    pub fn with_group(mut self, value: impl o::IntoField<g::flowcontrol::v1::GroupSubject>) -> Self { set(&mut self.0, "group", value.into_field()); self }
    pub fn edit_service_account<R>(&mut self, change: impl FnOnce(&mut g::flowcontrol::v1::ServiceAccountSubject) -> R) -> R { edit(&mut self.0, "serviceAccount", change) }
    pub fn set_service_account(&mut self, value: impl o::IntoField<g::flowcontrol::v1::ServiceAccountSubject>) { set(&mut self.0, "serviceAccount", value.into_field()) }
    pub fn with_service_account(mut self, value: impl o::IntoField<g::flowcontrol::v1::ServiceAccountSubject>) -> Self { set(&mut self.0, "serviceAccount", value.into_field()); self }
}

object!(UserSubject, UserSubjectView);
part!(UserSubject);
impl<'a> UserSubjectView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
}
impl UserSubject {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
}
