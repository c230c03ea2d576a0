//! Generated from facts/apps.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(ControllerRevision, ControllerRevisionView);
kind!(ControllerRevision, "apps", "v1", "apps/v1", "controllerrevisions");
impl<'a> ControllerRevisionView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn data(self) -> Option<r::Node<'a>> { find(self.0, "data") }
    pub fn revision(self) -> i64 { read(self.0, "revision") }
}
impl ControllerRevision {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn set_data(&mut self, value: impl o::IntoField<o::Any>) { set(&mut self.0, "data", value.into_field()) }
    pub fn with_data(mut self, value: impl o::IntoField<o::Any>) -> Self { set(&mut self.0, "data", value.into_field()); self }
    pub fn set_revision(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "revision", value.into_field()) }
    pub fn with_revision(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "revision", value.into_field()); self }
}

object!(ControllerRevisionList, ControllerRevisionListView);
part!(ControllerRevisionList);
impl<'a> ControllerRevisionListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::apps::v1::ControllerRevisionView<'a>> { read(self.0, "items") }
}
impl ControllerRevisionList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::apps::v1::ControllerRevision>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::ControllerRevision>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::ControllerRevision>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(DaemonSet, DaemonSetView);
kind!(DaemonSet, "apps", "v1", "apps/v1", "daemonsets");
impl<'a> DaemonSetView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::apps::v1::DaemonSetSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::apps::v1::DaemonSetStatusView<'a> { read(self.0, "status") }
}
impl DaemonSet {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::apps::v1::DaemonSetSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::apps::v1::DaemonSetSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::apps::v1::DaemonSetSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::apps::v1::DaemonSetStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::apps::v1::DaemonSetStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::apps::v1::DaemonSetStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(DaemonSetCondition, DaemonSetConditionView);
part!(DaemonSetCondition);
impl<'a> DaemonSetConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl DaemonSetCondition {
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

object!(DaemonSetList, DaemonSetListView);
part!(DaemonSetList);
impl<'a> DaemonSetListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::apps::v1::DaemonSetView<'a>> { read(self.0, "items") }
}
impl DaemonSetList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::apps::v1::DaemonSet>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::DaemonSet>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::DaemonSet>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(DaemonSetSpec, DaemonSetSpecView);
part!(DaemonSetSpec);
impl<'a> DaemonSetSpecView<'a> {
    pub fn selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "selector") }
    pub fn template(self) -> g::core::v1::PodTemplateSpecView<'a> { read(self.0, "template") }
    pub fn update_strategy(self) -> g::apps::v1::DaemonSetUpdateStrategyView<'a> { read(self.0, "updateStrategy") }
    pub fn min_ready_seconds(self) -> i32 { read(self.0, "minReadySeconds") }
    pub fn revision_history_limit(self) -> Option<i32> { find(self.0, "revisionHistoryLimit") }
}
impl DaemonSetSpec {
    pub fn edit_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "selector", change) }
    pub fn set_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "selector", value.into_field()) }
    pub fn with_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "selector", value.into_field()); self }
    pub fn edit_template<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodTemplateSpec) -> R) -> R { edit(&mut self.0, "template", change) }
    pub fn set_template(&mut self, value: impl o::IntoField<g::core::v1::PodTemplateSpec>) { set(&mut self.0, "template", value.into_field()) }
    pub fn with_template(mut self, value: impl o::IntoField<g::core::v1::PodTemplateSpec>) -> Self { set(&mut self.0, "template", value.into_field()); self }
    pub fn edit_update_strategy<R>(&mut self, change: impl FnOnce(&mut g::apps::v1::DaemonSetUpdateStrategy) -> R) -> R { edit(&mut self.0, "updateStrategy", change) }
    pub fn set_update_strategy(&mut self, value: impl o::IntoField<g::apps::v1::DaemonSetUpdateStrategy>) { set(&mut self.0, "updateStrategy", value.into_field()) }
    pub fn with_update_strategy(mut self, value: impl o::IntoField<g::apps::v1::DaemonSetUpdateStrategy>) -> Self { set(&mut self.0, "updateStrategy", value.into_field()); self }
    pub fn set_min_ready_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "minReadySeconds", value.into_field()) }
    pub fn with_min_ready_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "minReadySeconds", value.into_field()); self }
    pub fn set_revision_history_limit(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "revisionHistoryLimit", value.into_field()) }
    pub fn with_revision_history_limit(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "revisionHistoryLimit", value.into_field()); self }
}

object!(DaemonSetStatus, DaemonSetStatusView);
part!(DaemonSetStatus);
impl<'a> DaemonSetStatusView<'a> {
    pub fn current_number_scheduled(self) -> i32 { read(self.0, "currentNumberScheduled") }
    pub fn number_misscheduled(self) -> i32 { read(self.0, "numberMisscheduled") }
    pub fn desired_number_scheduled(self) -> i32 { read(self.0, "desiredNumberScheduled") }
    pub fn number_ready(self) -> i32 { read(self.0, "numberReady") }
    pub fn observed_generation(self) -> i64 { read(self.0, "observedGeneration") }
    pub fn updated_number_scheduled(self) -> i32 { read(self.0, "updatedNumberScheduled") }
    pub fn number_available(self) -> i32 { read(self.0, "numberAvailable") }
    pub fn number_unavailable(self) -> i32 { read(self.0, "numberUnavailable") }
    pub fn collision_count(self) -> Option<i32> { find(self.0, "collisionCount") }
    pub fn conditions(self) -> r::List<'a, g::apps::v1::DaemonSetConditionView<'a>> { read(self.0, "conditions") }
}
impl DaemonSetStatus {
    pub fn set_current_number_scheduled(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "currentNumberScheduled", value.into_field()) }
    pub fn with_current_number_scheduled(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "currentNumberScheduled", value.into_field()); self }
    pub fn set_number_misscheduled(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "numberMisscheduled", value.into_field()) }
    pub fn with_number_misscheduled(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "numberMisscheduled", value.into_field()); self }
    pub fn set_desired_number_scheduled(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "desiredNumberScheduled", value.into_field()) }
    pub fn with_desired_number_scheduled(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "desiredNumberScheduled", value.into_field()); self }
    pub fn set_number_ready(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "numberReady", value.into_field()) }
    pub fn with_number_ready(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "numberReady", value.into_field()); self }
    pub fn set_observed_generation(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "observedGeneration", value.into_field()) }
    pub fn with_observed_generation(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "observedGeneration", value.into_field()); self }
    pub fn set_updated_number_scheduled(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "updatedNumberScheduled", value.into_field()) }
    pub fn with_updated_number_scheduled(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "updatedNumberScheduled", value.into_field()); self }
    pub fn set_number_available(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "numberAvailable", value.into_field()) }
    pub fn with_number_available(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "numberAvailable", value.into_field()); self }
    pub fn set_number_unavailable(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "numberUnavailable", value.into_field()) }
    pub fn with_number_unavailable(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "numberUnavailable", value.into_field()); self }
    pub fn set_collision_count(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "collisionCount", value.into_field()) }
    pub fn with_collision_count(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "collisionCount", value.into_field()); self }
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::apps::v1::DaemonSetCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::DaemonSetCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::DaemonSetCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
}

object!(DaemonSetUpdateStrategy, DaemonSetUpdateStrategyView);
part!(DaemonSetUpdateStrategy);
impl<'a> DaemonSetUpdateStrategyView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn rolling_update(self) -> Option<g::apps::v1::RollingUpdateDaemonSetView<'a>> { find(self.0, "rollingUpdate") }
}
impl DaemonSetUpdateStrategy {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn edit_rolling_update<R>(&mut self, change: impl FnOnce(&mut g::apps::v1::RollingUpdateDaemonSet) -> R) -> R { edit(&mut self.0, "rollingUpdate", change) }
    pub fn set_rolling_update(&mut self, value: impl o::IntoField<g::apps::v1::RollingUpdateDaemonSet>) { set(&mut self.0, "rollingUpdate", value.into_field()) }
    pub fn with_rolling_update(mut self, value: impl o::IntoField<g::apps::v1::RollingUpdateDaemonSet>) -> Self { set(&mut self.0, "rollingUpdate", value.into_field()); self }
}

object!(Deployment, DeploymentView);
kind!(Deployment, "apps", "v1", "apps/v1", "deployments");
impl<'a> DeploymentView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::apps::v1::DeploymentSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::apps::v1::DeploymentStatusView<'a> { read(self.0, "status") }
}
impl Deployment {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::apps::v1::DeploymentSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::apps::v1::DeploymentSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::apps::v1::DeploymentSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::apps::v1::DeploymentStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::apps::v1::DeploymentStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::apps::v1::DeploymentStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(DeploymentCondition, DeploymentConditionView);
part!(DeploymentCondition);
impl<'a> DeploymentConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn last_update_time(self) -> Option<r::Timestamp> { find(self.0, "lastUpdateTime") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl DeploymentCondition {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_status(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "status", value.into_field()); self }
    pub fn set_last_update_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastUpdateTime", value.into_field()) }
    pub fn with_last_update_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastUpdateTime", value.into_field()); self }
    pub fn set_last_transition_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastTransitionTime", value.into_field()) }
    pub fn with_last_transition_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastTransitionTime", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
}

object!(DeploymentList, DeploymentListView);
part!(DeploymentList);
impl<'a> DeploymentListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::apps::v1::DeploymentView<'a>> { read(self.0, "items") }
}
impl DeploymentList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::apps::v1::Deployment>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::Deployment>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::Deployment>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(DeploymentSpec, DeploymentSpecView);
part!(DeploymentSpec);
impl<'a> DeploymentSpecView<'a> {
    pub fn replicas(self) -> Option<i32> { find(self.0, "replicas") }
    pub fn selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "selector") }
    pub fn template(self) -> g::core::v1::PodTemplateSpecView<'a> { read(self.0, "template") }
    pub fn strategy(self) -> g::apps::v1::DeploymentStrategyView<'a> { read(self.0, "strategy") }
    pub fn min_ready_seconds(self) -> i32 { read(self.0, "minReadySeconds") }
    pub fn revision_history_limit(self) -> Option<i32> { find(self.0, "revisionHistoryLimit") }
    pub fn paused(self) -> bool { read(self.0, "paused") }
    pub fn progress_deadline_seconds(self) -> Option<i32> { find(self.0, "progressDeadlineSeconds") }
}
impl DeploymentSpec {
    pub fn set_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "replicas", value.into_field()) }
    pub fn with_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "replicas", value.into_field()); self }
    pub fn edit_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "selector", change) }
    pub fn set_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "selector", value.into_field()) }
    pub fn with_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "selector", value.into_field()); self }
    pub fn edit_template<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodTemplateSpec) -> R) -> R { edit(&mut self.0, "template", change) }
    pub fn set_template(&mut self, value: impl o::IntoField<g::core::v1::PodTemplateSpec>) { set(&mut self.0, "template", value.into_field()) }
    pub fn with_template(mut self, value: impl o::IntoField<g::core::v1::PodTemplateSpec>) -> Self { set(&mut self.0, "template", value.into_field()); self }
    pub fn edit_strategy<R>(&mut self, change: impl FnOnce(&mut g::apps::v1::DeploymentStrategy) -> R) -> R { edit(&mut self.0, "strategy", change) }
    pub fn set_strategy(&mut self, value: impl o::IntoField<g::apps::v1::DeploymentStrategy>) { set(&mut self.0, "strategy", value.into_field()) }
    pub fn with_strategy(mut self, value: impl o::IntoField<g::apps::v1::DeploymentStrategy>) -> Self { set(&mut self.0, "strategy", value.into_field()); self }
    pub fn set_min_ready_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "minReadySeconds", value.into_field()) }
    pub fn with_min_ready_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "minReadySeconds", value.into_field()); self }
    pub fn set_revision_history_limit(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "revisionHistoryLimit", value.into_field()) }
    pub fn with_revision_history_limit(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "revisionHistoryLimit", value.into_field()); self }
    pub fn set_paused(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "paused", value.into_field()) }
    pub fn with_paused(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "paused", value.into_field()); self }
    pub fn set_progress_deadline_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "progressDeadlineSeconds", value.into_field()) }
    pub fn with_progress_deadline_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "progressDeadlineSeconds", value.into_field()); self }
}

object!(DeploymentStatus, DeploymentStatusView);
part!(DeploymentStatus);
impl<'a> DeploymentStatusView<'a> {
    pub fn observed_generation(self) -> i64 { read(self.0, "observedGeneration") }
    pub fn replicas(self) -> i32 { read(self.0, "replicas") }
    pub fn updated_replicas(self) -> i32 { read(self.0, "updatedReplicas") }
    pub fn ready_replicas(self) -> i32 { read(self.0, "readyReplicas") }
    pub fn available_replicas(self) -> i32 { read(self.0, "availableReplicas") }
    pub fn unavailable_replicas(self) -> i32 { read(self.0, "unavailableReplicas") }
    pub fn terminating_replicas(self) -> Option<i32> { find(self.0, "terminatingReplicas") }
    pub fn conditions(self) -> r::List<'a, g::apps::v1::DeploymentConditionView<'a>> { read(self.0, "conditions") }
    pub fn collision_count(self) -> Option<i32> { find(self.0, "collisionCount") }
}
impl DeploymentStatus {
    pub fn set_observed_generation(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "observedGeneration", value.into_field()) }
    pub fn with_observed_generation(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "observedGeneration", value.into_field()); self }
    pub fn set_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "replicas", value.into_field()) }
    pub fn with_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "replicas", value.into_field()); self }
    pub fn set_updated_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "updatedReplicas", value.into_field()) }
    pub fn with_updated_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "updatedReplicas", value.into_field()); self }
    pub fn set_ready_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "readyReplicas", value.into_field()) }
    pub fn with_ready_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "readyReplicas", value.into_field()); self }
    pub fn set_available_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "availableReplicas", value.into_field()) }
    pub fn with_available_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "availableReplicas", value.into_field()); self }
    pub fn set_unavailable_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "unavailableReplicas", value.into_field()) }
    pub fn with_unavailable_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "unavailableReplicas", value.into_field()); self }
    pub fn set_terminating_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "terminatingReplicas", value.into_field()) }
    pub fn with_terminating_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "terminatingReplicas", value.into_field()); self }
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::apps::v1::DeploymentCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::DeploymentCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::DeploymentCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
    pub fn set_collision_count(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "collisionCount", value.into_field()) }
    pub fn with_collision_count(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "collisionCount", value.into_field()); self }
}

object!(DeploymentStrategy, DeploymentStrategyView);
part!(DeploymentStrategy);
impl<'a> DeploymentStrategyView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn rolling_update(self) -> Option<g::apps::v1::RollingUpdateDeploymentView<'a>> { find(self.0, "rollingUpdate") }
}
impl DeploymentStrategy {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn edit_rolling_update<R>(&mut self, change: impl FnOnce(&mut g::apps::v1::RollingUpdateDeployment) -> R) -> R { edit(&mut self.0, "rollingUpdate", change) }
    pub fn set_rolling_update(&mut self, value: impl o::IntoField<g::apps::v1::RollingUpdateDeployment>) { set(&mut self.0, "rollingUpdate", value.into_field()) }
    pub fn with_rolling_update(mut self, value: impl o::IntoField<g::apps::v1::RollingUpdateDeployment>) -> Self { set(&mut self.0, "rollingUpdate", value.into_field()); self }
}

object!(ReplicaSet, ReplicaSetView);
kind!(ReplicaSet, "apps", "v1", "apps/v1", "replicasets");
impl<'a> ReplicaSetView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::apps::v1::ReplicaSetSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::apps::v1::ReplicaSetStatusView<'a> { read(self.0, "status") }
}
impl ReplicaSet {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::apps::v1::ReplicaSetSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::apps::v1::ReplicaSetSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::apps::v1::ReplicaSetSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::apps::v1::ReplicaSetStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::apps::v1::ReplicaSetStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::apps::v1::ReplicaSetStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(ReplicaSetCondition, ReplicaSetConditionView);
part!(ReplicaSetCondition);
impl<'a> ReplicaSetConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl ReplicaSetCondition {
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

object!(ReplicaSetList, ReplicaSetListView);
part!(ReplicaSetList);
impl<'a> ReplicaSetListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::apps::v1::ReplicaSetView<'a>> { read(self.0, "items") }
}
impl ReplicaSetList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::apps::v1::ReplicaSet>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::ReplicaSet>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::ReplicaSet>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(ReplicaSetSpec, ReplicaSetSpecView);
part!(ReplicaSetSpec);
impl<'a> ReplicaSetSpecView<'a> {
    pub fn replicas(self) -> Option<i32> { find(self.0, "replicas") }
    pub fn min_ready_seconds(self) -> i32 { read(self.0, "minReadySeconds") }
    pub fn selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "selector") }
    pub fn template(self) -> g::core::v1::PodTemplateSpecView<'a> { read(self.0, "template") }
}
impl ReplicaSetSpec {
    pub fn set_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "replicas", value.into_field()) }
    pub fn with_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "replicas", value.into_field()); self }
    pub fn set_min_ready_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "minReadySeconds", value.into_field()) }
    pub fn with_min_ready_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "minReadySeconds", value.into_field()); self }
    pub fn edit_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "selector", change) }
    pub fn set_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "selector", value.into_field()) }
    pub fn with_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "selector", value.into_field()); self }
    pub fn edit_template<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodTemplateSpec) -> R) -> R { edit(&mut self.0, "template", change) }
    pub fn set_template(&mut self, value: impl o::IntoField<g::core::v1::PodTemplateSpec>) { set(&mut self.0, "template", value.into_field()) }
    pub fn with_template(mut self, value: impl o::IntoField<g::core::v1::PodTemplateSpec>) -> Self { set(&mut self.0, "template", value.into_field()); self }
}

object!(ReplicaSetStatus, ReplicaSetStatusView);
part!(ReplicaSetStatus);
impl<'a> ReplicaSetStatusView<'a> {
    pub fn replicas(self) -> i32 { read(self.0, "replicas") }
    pub fn fully_labeled_replicas(self) -> i32 { read(self.0, "fullyLabeledReplicas") }
    pub fn ready_replicas(self) -> i32 { read(self.0, "readyReplicas") }
    pub fn available_replicas(self) -> i32 { read(self.0, "availableReplicas") }
    pub fn terminating_replicas(self) -> Option<i32> { find(self.0, "terminatingReplicas") }
    pub fn observed_generation(self) -> i64 { read(self.0, "observedGeneration") }
    pub fn conditions(self) -> r::List<'a, g::apps::v1::ReplicaSetConditionView<'a>> { read(self.0, "conditions") }
}
impl ReplicaSetStatus {
    pub fn set_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "replicas", value.into_field()) }
    pub fn with_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "replicas", value.into_field()); self }
    pub fn set_fully_labeled_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "fullyLabeledReplicas", value.into_field()) }
    pub fn with_fully_labeled_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "fullyLabeledReplicas", value.into_field()); self }
    pub fn set_ready_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "readyReplicas", value.into_field()) }
    pub fn with_ready_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "readyReplicas", value.into_field()); self }
    pub fn set_available_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "availableReplicas", value.into_field()) }
    pub fn with_available_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "availableReplicas", value.into_field()); self }
    pub fn set_terminating_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "terminatingReplicas", value.into_field()) }
    pub fn with_terminating_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "terminatingReplicas", value.into_field()); self }
    pub fn set_observed_generation(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "observedGeneration", value.into_field()) }
    pub fn with_observed_generation(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "observedGeneration", value.into_field()); self }
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::apps::v1::ReplicaSetCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::ReplicaSetCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::ReplicaSetCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
}

object!(RollingUpdateDaemonSet, RollingUpdateDaemonSetView);
part!(RollingUpdateDaemonSet);
impl<'a> RollingUpdateDaemonSetView<'a> {
    pub fn max_unavailable(self) -> Option<r::IntOrString<'a>> { find(self.0, "maxUnavailable") }
    pub fn max_surge(self) -> Option<r::IntOrString<'a>> { find(self.0, "maxSurge") }
}
impl RollingUpdateDaemonSet {
    pub fn set_max_unavailable(&mut self, value: impl o::IntoField<r::IntOrString<'static>>) { set(&mut self.0, "maxUnavailable", value.into_field()) }
    pub fn with_max_unavailable(mut self, value: impl o::IntoField<r::IntOrString<'static>>) -> Self { set(&mut self.0, "maxUnavailable", value.into_field()); self }
    pub fn set_max_surge(&mut self, value: impl o::IntoField<r::IntOrString<'static>>) { set(&mut self.0, "maxSurge", value.into_field()) }
    pub fn with_max_surge(mut self, value: impl o::IntoField<r::IntOrString<'static>>) -> Self { set(&mut self.0, "maxSurge", value.into_field()); self }
}

object!(RollingUpdateDeployment, RollingUpdateDeploymentView);
part!(RollingUpdateDeployment);
impl<'a> RollingUpdateDeploymentView<'a> {
    pub fn max_unavailable(self) -> Option<r::IntOrString<'a>> { find(self.0, "maxUnavailable") }
    pub fn max_surge(self) -> Option<r::IntOrString<'a>> { find(self.0, "maxSurge") }
}
impl RollingUpdateDeployment {
    pub fn set_max_unavailable(&mut self, value: impl o::IntoField<r::IntOrString<'static>>) { set(&mut self.0, "maxUnavailable", value.into_field()) }
    pub fn with_max_unavailable(mut self, value: impl o::IntoField<r::IntOrString<'static>>) -> Self { set(&mut self.0, "maxUnavailable", value.into_field()); self }
    pub fn set_max_surge(&mut self, value: impl o::IntoField<r::IntOrString<'static>>) { set(&mut self.0, "maxSurge", value.into_field()) }
    pub fn with_max_surge(mut self, value: impl o::IntoField<r::IntOrString<'static>>) -> Self { set(&mut self.0, "maxSurge", value.into_field()); self }
}

object!(RollingUpdateStatefulSetStrategy, RollingUpdateStatefulSetStrategyView);
part!(RollingUpdateStatefulSetStrategy);
impl<'a> RollingUpdateStatefulSetStrategyView<'a> {
    pub fn partition(self) -> Option<i32> { find(self.0, "partition") }
    pub fn max_unavailable(self) -> Option<r::IntOrString<'a>> { find(self.0, "maxUnavailable") }
}
impl RollingUpdateStatefulSetStrategy {
    pub fn set_partition(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "partition", value.into_field()) }
    pub fn with_partition(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "partition", value.into_field()); self }
    pub fn set_max_unavailable(&mut self, value: impl o::IntoField<r::IntOrString<'static>>) { set(&mut self.0, "maxUnavailable", value.into_field()) }
    pub fn with_max_unavailable(mut self, value: impl o::IntoField<r::IntOrString<'static>>) -> Self { set(&mut self.0, "maxUnavailable", value.into_field()); self }
}

object!(StatefulSet, StatefulSetView);
kind!(StatefulSet, "apps", "v1", "apps/v1", "statefulsets");
impl<'a> StatefulSetView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::apps::v1::StatefulSetSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::apps::v1::StatefulSetStatusView<'a> { read(self.0, "status") }
}
impl StatefulSet {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::apps::v1::StatefulSetSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::apps::v1::StatefulSetSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::apps::v1::StatefulSetSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::apps::v1::StatefulSetStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::apps::v1::StatefulSetStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::apps::v1::StatefulSetStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(StatefulSetCondition, StatefulSetConditionView);
part!(StatefulSetCondition);
impl<'a> StatefulSetConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl StatefulSetCondition {
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

object!(StatefulSetList, StatefulSetListView);
part!(StatefulSetList);
impl<'a> StatefulSetListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::apps::v1::StatefulSetView<'a>> { read(self.0, "items") }
}
impl StatefulSetList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::apps::v1::StatefulSet>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::StatefulSet>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::StatefulSet>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(StatefulSetOrdinals, StatefulSetOrdinalsView);
part!(StatefulSetOrdinals);
impl<'a> StatefulSetOrdinalsView<'a> {
    pub fn start(self) -> i32 { read(self.0, "start") }
}
impl StatefulSetOrdinals {
    pub fn set_start(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "start", value.into_field()) }
    pub fn with_start(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "start", value.into_field()); self }
}

object!(StatefulSetPersistentVolumeClaimRetentionPolicy, StatefulSetPersistentVolumeClaimRetentionPolicyView);
part!(StatefulSetPersistentVolumeClaimRetentionPolicy);
impl<'a> StatefulSetPersistentVolumeClaimRetentionPolicyView<'a> {
    pub fn when_deleted(self) -> &'a str { read(self.0, "whenDeleted") }
    pub fn when_scaled(self) -> &'a str { read(self.0, "whenScaled") }
}
impl StatefulSetPersistentVolumeClaimRetentionPolicy {
    pub fn set_when_deleted(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "whenDeleted", value.into_field()) }
    pub fn with_when_deleted(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "whenDeleted", value.into_field()); self }
    pub fn set_when_scaled(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "whenScaled", value.into_field()) }
    pub fn with_when_scaled(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "whenScaled", value.into_field()); self }
}

object!(StatefulSetSpec, StatefulSetSpecView);
part!(StatefulSetSpec);
impl<'a> StatefulSetSpecView<'a> {
    pub fn replicas(self) -> Option<i32> { find(self.0, "replicas") }
    pub fn selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "selector") }
    pub fn template(self) -> g::core::v1::PodTemplateSpecView<'a> { read(self.0, "template") }
    pub fn volume_claim_templates(self) -> r::List<'a, g::core::v1::PersistentVolumeClaimView<'a>> { read(self.0, "volumeClaimTemplates") }
    pub fn service_name(self) -> &'a str { read(self.0, "serviceName") }
    pub fn pod_management_policy(self) -> &'a str { read(self.0, "podManagementPolicy") }
    pub fn update_strategy(self) -> g::apps::v1::StatefulSetUpdateStrategyView<'a> { read(self.0, "updateStrategy") }
    pub fn revision_history_limit(self) -> Option<i32> { find(self.0, "revisionHistoryLimit") }
    pub fn min_ready_seconds(self) -> i32 { read(self.0, "minReadySeconds") }
    pub fn persistent_volume_claim_retention_policy(self) -> Option<g::apps::v1::StatefulSetPersistentVolumeClaimRetentionPolicyView<'a>> { find(self.0, "persistentVolumeClaimRetentionPolicy") }
    pub fn ordinals(self) -> Option<g::apps::v1::StatefulSetOrdinalsView<'a>> { find(self.0, "ordinals") }
}
impl StatefulSetSpec {
    pub fn set_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "replicas", value.into_field()) }
    pub fn with_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "replicas", value.into_field()); self }
    pub fn edit_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "selector", change) }
    pub fn set_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "selector", value.into_field()) }
    pub fn with_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "selector", value.into_field()); self }
    pub fn edit_template<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodTemplateSpec) -> R) -> R { edit(&mut self.0, "template", change) }
    pub fn set_template(&mut self, value: impl o::IntoField<g::core::v1::PodTemplateSpec>) { set(&mut self.0, "template", value.into_field()) }
    pub fn with_template(mut self, value: impl o::IntoField<g::core::v1::PodTemplateSpec>) -> Self { set(&mut self.0, "template", value.into_field()); self }
    pub fn push_volume_claim_templates(&mut self, item: impl o::IntoField<g::core::v1::PersistentVolumeClaim>) { push(&mut self.0, "volumeClaimTemplates", item) }
    pub fn set_volume_claim_templates(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PersistentVolumeClaim>>) { set_list(&mut self.0, "volumeClaimTemplates", value) }
    pub fn with_volume_claim_templates(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::PersistentVolumeClaim>>) -> Self { set_list(&mut self.0, "volumeClaimTemplates", value); self }
    pub fn set_service_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "serviceName", value.into_field()) }
    pub fn with_service_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "serviceName", value.into_field()); self }
    pub fn set_pod_management_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "podManagementPolicy", value.into_field()) }
    pub fn with_pod_management_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "podManagementPolicy", value.into_field()); self }
    pub fn edit_update_strategy<R>(&mut self, change: impl FnOnce(&mut g::apps::v1::StatefulSetUpdateStrategy) -> R) -> R { edit(&mut self.0, "updateStrategy", change) }
    pub fn set_update_strategy(&mut self, value: impl o::IntoField<g::apps::v1::StatefulSetUpdateStrategy>) { set(&mut self.0, "updateStrategy", value.into_field()) }
    pub fn with_update_strategy(mut self, value: impl o::IntoField<g::apps::v1::StatefulSetUpdateStrategy>) -> Self { set(&mut self.0, "updateStrategy", value.into_field()); self }
    pub fn set_revision_history_limit(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "revisionHistoryLimit", value.into_field()) }
    pub fn with_revision_history_limit(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "revisionHistoryLimit", value.into_field()); self }
    pub fn set_min_ready_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "minReadySeconds", value.into_field()) }
    pub fn with_min_ready_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "minReadySeconds", value.into_field()); self }
    pub fn edit_persistent_volume_claim_retention_policy<R>(&mut self, change: impl FnOnce(&mut g::apps::v1::StatefulSetPersistentVolumeClaimRetentionPolicy) -> R) -> R { edit(&mut self.0, "persistentVolumeClaimRetentionPolicy", change) }
    pub fn set_persistent_volume_claim_retention_policy(&mut self, value: impl o::IntoField<g::apps::v1::StatefulSetPersistentVolumeClaimRetentionPolicy>) { set(&mut self.0, "persistentVolumeClaimRetentionPolicy", value.into_field()) }
    pub fn with_persistent_volume_claim_retention_policy(mut self, value: impl o::IntoField<g::apps::v1::StatefulSetPersistentVolumeClaimRetentionPolicy>) -> Self { set(&mut self.0, "persistentVolumeClaimRetentionPolicy", value.into_field()); self }
    pub fn edit_ordinals<R>(&mut self, change: impl FnOnce(&mut g::apps::v1::StatefulSetOrdinals) -> R) -> R { edit(&mut self.0, "ordinals", change) }
    pub fn set_ordinals(&mut self, value: impl o::IntoField<g::apps::v1::StatefulSetOrdinals>) { set(&mut self.0, "ordinals", value.into_field()) }
    pub fn with_ordinals(mut self, value: impl o::IntoField<g::apps::v1::StatefulSetOrdinals>) -> Self { set(&mut self.0, "ordinals", value.into_field()); self }
}

object!(StatefulSetStatus, StatefulSetStatusView);
part!(StatefulSetStatus);
impl<'a> StatefulSetStatusView<'a> {
    pub fn observed_generation(self) -> i64 { read(self.0, "observedGeneration") }
    pub fn replicas(self) -> i32 { read(self.0, "replicas") }
    pub fn ready_replicas(self) -> i32 { read(self.0, "readyReplicas") }
    pub fn current_replicas(self) -> i32 { read(self.0, "currentReplicas") }
    pub fn updated_replicas(self) -> i32 { read(self.0, "updatedReplicas") }
    pub fn current_revision(self) -> &'a str { read(self.0, "currentRevision") }
    pub fn update_revision(self) -> &'a str { read(self.0, "updateRevision") }
    pub fn collision_count(self) -> Option<i32> { find(self.0, "collisionCount") }
    pub fn conditions(self) -> r::List<'a, g::apps::v1::StatefulSetConditionView<'a>> { read(self.0, "conditions") }
    pub fn available_replicas(self) -> i32 { read(self.0, "availableReplicas") }
}
impl StatefulSetStatus {
    pub fn set_observed_generation(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "observedGeneration", value.into_field()) }
    pub fn with_observed_generation(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "observedGeneration", value.into_field()); self }
    pub fn set_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "replicas", value.into_field()) }
    pub fn with_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "replicas", value.into_field()); self }
    pub fn set_ready_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "readyReplicas", value.into_field()) }
    pub fn with_ready_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "readyReplicas", value.into_field()); self }
    pub fn set_current_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "currentReplicas", value.into_field()) }
    pub fn with_current_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "currentReplicas", value.into_field()); self }
    pub fn set_updated_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "updatedReplicas", value.into_field()) }
    pub fn with_updated_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "updatedReplicas", value.into_field()); self }
    pub fn set_current_revision(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "currentRevision", value.into_field()) }
    pub fn with_current_revision(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "currentRevision", value.into_field()); self }
    pub fn set_update_revision(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "updateRevision", value.into_field()) }
    pub fn with_update_revision(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "updateRevision", value.into_field()); self }
    pub fn set_collision_count(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "collisionCount", value.into_field()) }
    pub fn with_collision_count(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "collisionCount", value.into_field()); self }
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::apps::v1::StatefulSetCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::StatefulSetCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::apps::v1::StatefulSetCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
    pub fn set_available_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "availableReplicas", value.into_field()) }
    pub fn with_available_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "availableReplicas", value.into_field()); self }
}

object!(StatefulSetUpdateStrategy, StatefulSetUpdateStrategyView);
part!(StatefulSetUpdateStrategy);
impl<'a> StatefulSetUpdateStrategyView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn rolling_update(self) -> Option<g::apps::v1::RollingUpdateStatefulSetStrategyView<'a>> { find(self.0, "rollingUpdate") }
}
impl StatefulSetUpdateStrategy {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn edit_rolling_update<R>(&mut self, change: impl FnOnce(&mut g::apps::v1::RollingUpdateStatefulSetStrategy) -> R) -> R { edit(&mut self.0, "rollingUpdate", change) }
    pub fn set_rolling_update(&mut self, value: impl o::IntoField<g::apps::v1::RollingUpdateStatefulSetStrategy>) { set(&mut self.0, "rollingUpdate", value.into_field()) }
    pub fn with_rolling_update(mut self, value: impl o::IntoField<g::apps::v1::RollingUpdateStatefulSetStrategy>) -> Self { set(&mut self.0, "rollingUpdate", value.into_field()); self }
}
