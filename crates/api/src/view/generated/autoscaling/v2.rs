//! Generated from facts/autoscaling.v2.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(ContainerResourceMetricSource, ContainerResourceMetricSourceView);
part!(ContainerResourceMetricSource);
impl<'a> ContainerResourceMetricSourceView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn target(self) -> g::autoscaling::v2::MetricTargetView<'a> { read(self.0, "target") }
    pub fn container(self) -> &'a str { read(self.0, "container") }
}
impl ContainerResourceMetricSource {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn edit_target<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::MetricTarget) -> R) -> R { edit(&mut self.0, "target", change) }
    pub fn set_target(&mut self, value: impl o::IntoField<g::autoscaling::v2::MetricTarget>) { set(&mut self.0, "target", value.into_field()) }
    pub fn with_target(mut self, value: impl o::IntoField<g::autoscaling::v2::MetricTarget>) -> Self { set(&mut self.0, "target", value.into_field()); self }
    pub fn set_container(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "container", value.into_field()) }
    pub fn with_container(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "container", value.into_field()); self }
}

object!(ContainerResourceMetricStatus, ContainerResourceMetricStatusView);
part!(ContainerResourceMetricStatus);
impl<'a> ContainerResourceMetricStatusView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn current(self) -> g::autoscaling::v2::MetricValueStatusView<'a> { read(self.0, "current") }
    pub fn container(self) -> &'a str { read(self.0, "container") }
}
impl ContainerResourceMetricStatus {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn edit_current<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::MetricValueStatus) -> R) -> R { edit(&mut self.0, "current", change) }
    pub fn set_current(&mut self, value: impl o::IntoField<g::autoscaling::v2::MetricValueStatus>) { set(&mut self.0, "current", value.into_field()) }
    pub fn with_current(mut self, value: impl o::IntoField<g::autoscaling::v2::MetricValueStatus>) -> Self { set(&mut self.0, "current", value.into_field()); self }
    pub fn set_container(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "container", value.into_field()) }
    pub fn with_container(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "container", value.into_field()); self }
}

object!(CrossVersionObjectReference, CrossVersionObjectReferenceView);
part!(CrossVersionObjectReference);
impl<'a> CrossVersionObjectReferenceView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
}
impl CrossVersionObjectReference {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
}

object!(ExternalMetricSource, ExternalMetricSourceView);
part!(ExternalMetricSource);
impl<'a> ExternalMetricSourceView<'a> {
    pub fn metric(self) -> g::autoscaling::v2::MetricIdentifierView<'a> { read(self.0, "metric") }
    pub fn target(self) -> g::autoscaling::v2::MetricTargetView<'a> { read(self.0, "target") }
}
impl ExternalMetricSource {
    pub fn edit_metric<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::MetricIdentifier) -> R) -> R { edit(&mut self.0, "metric", change) }
    pub fn set_metric(&mut self, value: impl o::IntoField<g::autoscaling::v2::MetricIdentifier>) { set(&mut self.0, "metric", value.into_field()) }
    pub fn with_metric(mut self, value: impl o::IntoField<g::autoscaling::v2::MetricIdentifier>) -> Self { set(&mut self.0, "metric", value.into_field()); self }
    pub fn edit_target<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::MetricTarget) -> R) -> R { edit(&mut self.0, "target", change) }
    pub fn set_target(&mut self, value: impl o::IntoField<g::autoscaling::v2::MetricTarget>) { set(&mut self.0, "target", value.into_field()) }
    pub fn with_target(mut self, value: impl o::IntoField<g::autoscaling::v2::MetricTarget>) -> Self { set(&mut self.0, "target", value.into_field()); self }
}

object!(ExternalMetricStatus, ExternalMetricStatusView);
part!(ExternalMetricStatus);
impl<'a> ExternalMetricStatusView<'a> {
    pub fn metric(self) -> g::autoscaling::v2::MetricIdentifierView<'a> { read(self.0, "metric") }
    pub fn current(self) -> g::autoscaling::v2::MetricValueStatusView<'a> { read(self.0, "current") }
}
impl ExternalMetricStatus {
    pub fn edit_metric<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::MetricIdentifier) -> R) -> R { edit(&mut self.0, "metric", change) }
    pub fn set_metric(&mut self, value: impl o::IntoField<g::autoscaling::v2::MetricIdentifier>) { set(&mut self.0, "metric", value.into_field()) }
    pub fn with_metric(mut self, value: impl o::IntoField<g::autoscaling::v2::MetricIdentifier>) -> Self { set(&mut self.0, "metric", value.into_field()); self }
    pub fn edit_current<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::MetricValueStatus) -> R) -> R { edit(&mut self.0, "current", change) }
    pub fn set_current(&mut self, value: impl o::IntoField<g::autoscaling::v2::MetricValueStatus>) { set(&mut self.0, "current", value.into_field()) }
    pub fn with_current(mut self, value: impl o::IntoField<g::autoscaling::v2::MetricValueStatus>) -> Self { set(&mut self.0, "current", value.into_field()); self }
}

object!(HPAScalingPolicy, HPAScalingPolicyView);
part!(HPAScalingPolicy);
impl<'a> HPAScalingPolicyView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn value_(self) -> i32 { read(self.0, "value") }
    pub fn period_seconds(self) -> i32 { read(self.0, "periodSeconds") }
}
impl HPAScalingPolicy {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_value(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "value", value.into_field()) }
    pub fn with_value(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "value", value.into_field()); self }
    pub fn set_period_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "periodSeconds", value.into_field()) }
    pub fn with_period_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "periodSeconds", value.into_field()); self }
}

object!(HPAScalingRules, HPAScalingRulesView);
part!(HPAScalingRules);
impl<'a> HPAScalingRulesView<'a> {
    pub fn stabilization_window_seconds(self) -> Option<i32> { find(self.0, "stabilizationWindowSeconds") }
    pub fn select_policy(self) -> Option<&'a str> { find(self.0, "selectPolicy") }
    pub fn policies(self) -> r::List<'a, g::autoscaling::v2::HPAScalingPolicyView<'a>> { read(self.0, "policies") }
    pub fn tolerance(self) -> Option<r::Quantity> { find(self.0, "tolerance") }
}
impl HPAScalingRules {
    pub fn set_stabilization_window_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "stabilizationWindowSeconds", value.into_field()) }
    pub fn with_stabilization_window_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "stabilizationWindowSeconds", value.into_field()); self }
    pub fn set_select_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "selectPolicy", value.into_field()) }
    pub fn with_select_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "selectPolicy", value.into_field()); self }
    pub fn push_policies(&mut self, item: impl o::IntoField<g::autoscaling::v2::HPAScalingPolicy>) { push(&mut self.0, "policies", item) }
    pub fn set_policies(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::autoscaling::v2::HPAScalingPolicy>>) { set_list(&mut self.0, "policies", value) }
    pub fn with_policies(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::autoscaling::v2::HPAScalingPolicy>>) -> Self { set_list(&mut self.0, "policies", value); self }
    pub fn set_tolerance(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "tolerance", value.into_field()) }
    pub fn with_tolerance(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "tolerance", value.into_field()); self }
}

object!(HorizontalPodAutoscaler, HorizontalPodAutoscalerView);
kind!(HorizontalPodAutoscaler, "autoscaling", "v2", "autoscaling/v2", "horizontalpodautoscalers");
impl<'a> HorizontalPodAutoscalerView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::autoscaling::v2::HorizontalPodAutoscalerSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::autoscaling::v2::HorizontalPodAutoscalerStatusView<'a> { read(self.0, "status") }
}
impl HorizontalPodAutoscaler {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::HorizontalPodAutoscalerSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::autoscaling::v2::HorizontalPodAutoscalerSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::autoscaling::v2::HorizontalPodAutoscalerSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::HorizontalPodAutoscalerStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::autoscaling::v2::HorizontalPodAutoscalerStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::autoscaling::v2::HorizontalPodAutoscalerStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(HorizontalPodAutoscalerBehavior, HorizontalPodAutoscalerBehaviorView);
part!(HorizontalPodAutoscalerBehavior);
impl<'a> HorizontalPodAutoscalerBehaviorView<'a> {
    pub fn scale_up(self) -> Option<g::autoscaling::v2::HPAScalingRulesView<'a>> { find(self.0, "scaleUp") }
    pub fn scale_down(self) -> Option<g::autoscaling::v2::HPAScalingRulesView<'a>> { find(self.0, "scaleDown") }
}
impl HorizontalPodAutoscalerBehavior {
    pub fn edit_scale_up<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::HPAScalingRules) -> R) -> R { edit(&mut self.0, "scaleUp", change) }
    pub fn set_scale_up(&mut self, value: impl o::IntoField<g::autoscaling::v2::HPAScalingRules>) { set(&mut self.0, "scaleUp", value.into_field()) }
    pub fn with_scale_up(mut self, value: impl o::IntoField<g::autoscaling::v2::HPAScalingRules>) -> Self { set(&mut self.0, "scaleUp", value.into_field()); self }
    pub fn edit_scale_down<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::HPAScalingRules) -> R) -> R { edit(&mut self.0, "scaleDown", change) }
    pub fn set_scale_down(&mut self, value: impl o::IntoField<g::autoscaling::v2::HPAScalingRules>) { set(&mut self.0, "scaleDown", value.into_field()) }
    pub fn with_scale_down(mut self, value: impl o::IntoField<g::autoscaling::v2::HPAScalingRules>) -> Self { set(&mut self.0, "scaleDown", value.into_field()); self }
}

object!(HorizontalPodAutoscalerCondition, HorizontalPodAutoscalerConditionView);
part!(HorizontalPodAutoscalerCondition);
impl<'a> HorizontalPodAutoscalerConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl HorizontalPodAutoscalerCondition {
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

object!(HorizontalPodAutoscalerList, HorizontalPodAutoscalerListView);
part!(HorizontalPodAutoscalerList);
impl<'a> HorizontalPodAutoscalerListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::autoscaling::v2::HorizontalPodAutoscalerView<'a>> { read(self.0, "items") }
}
impl HorizontalPodAutoscalerList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::autoscaling::v2::HorizontalPodAutoscaler>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::autoscaling::v2::HorizontalPodAutoscaler>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::autoscaling::v2::HorizontalPodAutoscaler>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerSpecView);
part!(HorizontalPodAutoscalerSpec);
impl<'a> HorizontalPodAutoscalerSpecView<'a> {
    pub fn scale_target_ref(self) -> g::autoscaling::v2::CrossVersionObjectReferenceView<'a> { read(self.0, "scaleTargetRef") }
    pub fn min_replicas(self) -> Option<i32> { find(self.0, "minReplicas") }
    pub fn max_replicas(self) -> i32 { read(self.0, "maxReplicas") }
    pub fn metrics(self) -> r::List<'a, g::autoscaling::v2::MetricSpecView<'a>> { read(self.0, "metrics") }
    pub fn behavior(self) -> Option<g::autoscaling::v2::HorizontalPodAutoscalerBehaviorView<'a>> { find(self.0, "behavior") }
}
impl HorizontalPodAutoscalerSpec {
    pub fn edit_scale_target_ref<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::CrossVersionObjectReference) -> R) -> R { edit(&mut self.0, "scaleTargetRef", change) }
    pub fn set_scale_target_ref(&mut self, value: impl o::IntoField<g::autoscaling::v2::CrossVersionObjectReference>) { set(&mut self.0, "scaleTargetRef", value.into_field()) }
    pub fn with_scale_target_ref(mut self, value: impl o::IntoField<g::autoscaling::v2::CrossVersionObjectReference>) -> Self { set(&mut self.0, "scaleTargetRef", value.into_field()); self }
    pub fn set_min_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "minReplicas", value.into_field()) }
    pub fn with_min_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "minReplicas", value.into_field()); self }
    pub fn set_max_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "maxReplicas", value.into_field()) }
    pub fn with_max_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "maxReplicas", value.into_field()); self }
    pub fn push_metrics(&mut self, item: impl o::IntoField<g::autoscaling::v2::MetricSpec>) { push(&mut self.0, "metrics", item) }
    pub fn set_metrics(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::autoscaling::v2::MetricSpec>>) { set_list(&mut self.0, "metrics", value) }
    pub fn with_metrics(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::autoscaling::v2::MetricSpec>>) -> Self { set_list(&mut self.0, "metrics", value); self }
    pub fn edit_behavior<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::HorizontalPodAutoscalerBehavior) -> R) -> R { edit(&mut self.0, "behavior", change) }
    pub fn set_behavior(&mut self, value: impl o::IntoField<g::autoscaling::v2::HorizontalPodAutoscalerBehavior>) { set(&mut self.0, "behavior", value.into_field()) }
    pub fn with_behavior(mut self, value: impl o::IntoField<g::autoscaling::v2::HorizontalPodAutoscalerBehavior>) -> Self { set(&mut self.0, "behavior", value.into_field()); self }
}

object!(HorizontalPodAutoscalerStatus, HorizontalPodAutoscalerStatusView);
part!(HorizontalPodAutoscalerStatus);
impl<'a> HorizontalPodAutoscalerStatusView<'a> {
    pub fn observed_generation(self) -> Option<i64> { find(self.0, "observedGeneration") }
    pub fn last_scale_time(self) -> Option<r::Timestamp> { find(self.0, "lastScaleTime") }
    pub fn current_replicas(self) -> i32 { read(self.0, "currentReplicas") }
    pub fn desired_replicas(self) -> i32 { read(self.0, "desiredReplicas") }
    pub fn current_metrics(self) -> r::List<'a, g::autoscaling::v2::MetricStatusView<'a>> { read(self.0, "currentMetrics") }
    pub fn conditions(self) -> r::List<'a, g::autoscaling::v2::HorizontalPodAutoscalerConditionView<'a>> { read(self.0, "conditions") }
}
impl HorizontalPodAutoscalerStatus {
    pub fn set_observed_generation(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "observedGeneration", value.into_field()) }
    pub fn with_observed_generation(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "observedGeneration", value.into_field()); self }
    pub fn set_last_scale_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastScaleTime", value.into_field()) }
    pub fn with_last_scale_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastScaleTime", value.into_field()); self }
    pub fn set_current_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "currentReplicas", value.into_field()) }
    pub fn with_current_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "currentReplicas", value.into_field()); self }
    pub fn set_desired_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "desiredReplicas", value.into_field()) }
    pub fn with_desired_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "desiredReplicas", value.into_field()); self }
    pub fn push_current_metrics(&mut self, item: impl o::IntoField<g::autoscaling::v2::MetricStatus>) { push(&mut self.0, "currentMetrics", item) }
    pub fn set_current_metrics(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::autoscaling::v2::MetricStatus>>) { set_list(&mut self.0, "currentMetrics", value) }
    pub fn with_current_metrics(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::autoscaling::v2::MetricStatus>>) -> Self { set_list(&mut self.0, "currentMetrics", value); self }
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::autoscaling::v2::HorizontalPodAutoscalerCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::autoscaling::v2::HorizontalPodAutoscalerCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::autoscaling::v2::HorizontalPodAutoscalerCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
}

object!(MetricIdentifier, MetricIdentifierView);
part!(MetricIdentifier);
impl<'a> MetricIdentifierView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "selector") }
}
impl MetricIdentifier {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn edit_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "selector", change) }
    pub fn set_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "selector", value.into_field()) }
    pub fn with_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "selector", value.into_field()); self }
}

object!(MetricSpec, MetricSpecView);
part!(MetricSpec);
impl<'a> MetricSpecView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn object(self) -> Option<g::autoscaling::v2::ObjectMetricSourceView<'a>> { find(self.0, "object") }
    pub fn pods(self) -> Option<g::autoscaling::v2::PodsMetricSourceView<'a>> { find(self.0, "pods") }
    pub fn resource(self) -> Option<g::autoscaling::v2::ResourceMetricSourceView<'a>> { find(self.0, "resource") }
    pub fn container_resource(self) -> Option<g::autoscaling::v2::ContainerResourceMetricSourceView<'a>> { find(self.0, "containerResource") }
    pub fn external(self) -> Option<g::autoscaling::v2::ExternalMetricSourceView<'a>> { find(self.0, "external") }
}
impl MetricSpec {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn edit_object<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::ObjectMetricSource) -> R) -> R { edit(&mut self.0, "object", change) }
    pub fn set_object(&mut self, value: impl o::IntoField<g::autoscaling::v2::ObjectMetricSource>) { set(&mut self.0, "object", value.into_field()) }
    pub fn with_object(mut self, value: impl o::IntoField<g::autoscaling::v2::ObjectMetricSource>) -> Self { set(&mut self.0, "object", value.into_field()); self }
    pub fn edit_pods<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::PodsMetricSource) -> R) -> R { edit(&mut self.0, "pods", change) }
    pub fn set_pods(&mut self, value: impl o::IntoField<g::autoscaling::v2::PodsMetricSource>) { set(&mut self.0, "pods", value.into_field()) }
    pub fn with_pods(mut self, value: impl o::IntoField<g::autoscaling::v2::PodsMetricSource>) -> Self { set(&mut self.0, "pods", value.into_field()); self }
    pub fn edit_resource<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::ResourceMetricSource) -> R) -> R { edit(&mut self.0, "resource", change) }
    pub fn set_resource(&mut self, value: impl o::IntoField<g::autoscaling::v2::ResourceMetricSource>) { set(&mut self.0, "resource", value.into_field()) }
    pub fn with_resource(mut self, value: impl o::IntoField<g::autoscaling::v2::ResourceMetricSource>) -> Self { set(&mut self.0, "resource", value.into_field()); self }
    pub fn edit_container_resource<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::ContainerResourceMetricSource) -> R) -> R { edit(&mut self.0, "containerResource", change) }
    pub fn set_container_resource(&mut self, value: impl o::IntoField<g::autoscaling::v2::ContainerResourceMetricSource>) { set(&mut self.0, "containerResource", value.into_field()) }
    pub fn with_container_resource(mut self, value: impl o::IntoField<g::autoscaling::v2::ContainerResourceMetricSource>) -> Self { set(&mut self.0, "containerResource", value.into_field()); self }
    pub fn edit_external<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::ExternalMetricSource) -> R) -> R { edit(&mut self.0, "external", change) }
    pub fn set_external(&mut self, value: impl o::IntoField<g::autoscaling::v2::ExternalMetricSource>) { set(&mut self.0, "external", value.into_field()) }
    pub fn with_external(mut self, value: impl o::IntoField<g::autoscaling::v2::ExternalMetricSource>) -> Self { set(&mut self.0, "external", value.into_field()); self }
}

object!(MetricStatus, MetricStatusView);
part!(MetricStatus);
impl<'a> MetricStatusView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn object(self) -> Option<g::autoscaling::v2::ObjectMetricStatusView<'a>> { find(self.0, "object") }
    pub fn pods(self) -> Option<g::autoscaling::v2::PodsMetricStatusView<'a>> { find(self.0, "pods") }
    pub fn resource(self) -> Option<g::autoscaling::v2::ResourceMetricStatusView<'a>> { find(self.0, "resource") }
    pub fn container_resource(self) -> Option<g::autoscaling::v2::ContainerResourceMetricStatusView<'a>> { find(self.0, "containerResource") }
    pub fn external(self) -> Option<g::autoscaling::v2::ExternalMetricStatusView<'a>> { find(self.0, "external") }
}
impl MetricStatus {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn edit_object<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::ObjectMetricStatus) -> R) -> R { edit(&mut self.0, "object", change) }
    pub fn set_object(&mut self, value: impl o::IntoField<g::autoscaling::v2::ObjectMetricStatus>) { set(&mut self.0, "object", value.into_field()) }
    pub fn with_object(mut self, value: impl o::IntoField<g::autoscaling::v2::ObjectMetricStatus>) -> Self { set(&mut self.0, "object", value.into_field()); self }
    pub fn edit_pods<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::PodsMetricStatus) -> R) -> R { edit(&mut self.0, "pods", change) }
    pub fn set_pods(&mut self, value: impl o::IntoField<g::autoscaling::v2::PodsMetricStatus>) { set(&mut self.0, "pods", value.into_field()) }
    pub fn with_pods(mut self, value: impl o::IntoField<g::autoscaling::v2::PodsMetricStatus>) -> Self { set(&mut self.0, "pods", value.into_field()); self }
    pub fn edit_resource<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::ResourceMetricStatus) -> R) -> R { edit(&mut self.0, "resource", change) }
    pub fn set_resource(&mut self, value: impl o::IntoField<g::autoscaling::v2::ResourceMetricStatus>) { set(&mut self.0, "resource", value.into_field()) }
    pub fn with_resource(mut self, value: impl o::IntoField<g::autoscaling::v2::ResourceMetricStatus>) -> Self { set(&mut self.0, "resource", value.into_field()); self }
    pub fn edit_container_resource<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::ContainerResourceMetricStatus) -> R) -> R { edit(&mut self.0, "containerResource", change) }
    pub fn set_container_resource(&mut self, value: impl o::IntoField<g::autoscaling::v2::ContainerResourceMetricStatus>) { set(&mut self.0, "containerResource", value.into_field()) }
    pub fn with_container_resource(mut self, value: impl o::IntoField<g::autoscaling::v2::ContainerResourceMetricStatus>) -> Self { set(&mut self.0, "containerResource", value.into_field()); self }
    pub fn edit_external<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::ExternalMetricStatus) -> R) -> R { edit(&mut self.0, "external", change) }
    pub fn set_external(&mut self, value: impl o::IntoField<g::autoscaling::v2::ExternalMetricStatus>) { set(&mut self.0, "external", value.into_field()) }
    pub fn with_external(mut self, value: impl o::IntoField<g::autoscaling::v2::ExternalMetricStatus>) -> Self { set(&mut self.0, "external", value.into_field()); self }
}

object!(MetricTarget, MetricTargetView);
part!(MetricTarget);
impl<'a> MetricTargetView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn value_(self) -> Option<r::Quantity> { find(self.0, "value") }
    pub fn average_value(self) -> Option<r::Quantity> { find(self.0, "averageValue") }
    pub fn average_utilization(self) -> Option<i32> { find(self.0, "averageUtilization") }
}
impl MetricTarget {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "value", value.into_field()) }
    pub fn with_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "value", value.into_field()); self }
    pub fn set_average_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "averageValue", value.into_field()) }
    pub fn with_average_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "averageValue", value.into_field()); self }
    pub fn set_average_utilization(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "averageUtilization", value.into_field()) }
    pub fn with_average_utilization(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "averageUtilization", value.into_field()); self }
}

object!(MetricValueStatus, MetricValueStatusView);
part!(MetricValueStatus);
impl<'a> MetricValueStatusView<'a> {
    pub fn value_(self) -> Option<r::Quantity> { find(self.0, "value") }
    pub fn average_value(self) -> Option<r::Quantity> { find(self.0, "averageValue") }
    pub fn average_utilization(self) -> Option<i32> { find(self.0, "averageUtilization") }
}
impl MetricValueStatus {
    pub fn set_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "value", value.into_field()) }
    pub fn with_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "value", value.into_field()); self }
    pub fn set_average_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "averageValue", value.into_field()) }
    pub fn with_average_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "averageValue", value.into_field()); self }
    pub fn set_average_utilization(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "averageUtilization", value.into_field()) }
    pub fn with_average_utilization(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "averageUtilization", value.into_field()); self }
}

object!(ObjectMetricSource, ObjectMetricSourceView);
part!(ObjectMetricSource);
impl<'a> ObjectMetricSourceView<'a> {
    pub fn described_object(self) -> g::autoscaling::v2::CrossVersionObjectReferenceView<'a> { read(self.0, "describedObject") }
    pub fn target(self) -> g::autoscaling::v2::MetricTargetView<'a> { read(self.0, "target") }
    pub fn metric(self) -> g::autoscaling::v2::MetricIdentifierView<'a> { read(self.0, "metric") }
}
impl ObjectMetricSource {
    pub fn edit_described_object<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::CrossVersionObjectReference) -> R) -> R { edit(&mut self.0, "describedObject", change) }
    pub fn set_described_object(&mut self, value: impl o::IntoField<g::autoscaling::v2::CrossVersionObjectReference>) { set(&mut self.0, "describedObject", value.into_field()) }
    pub fn with_described_object(mut self, value: impl o::IntoField<g::autoscaling::v2::CrossVersionObjectReference>) -> Self { set(&mut self.0, "describedObject", value.into_field()); self }
    pub fn edit_target<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::MetricTarget) -> R) -> R { edit(&mut self.0, "target", change) }
    pub fn set_target(&mut self, value: impl o::IntoField<g::autoscaling::v2::MetricTarget>) { set(&mut self.0, "target", value.into_field()) }
    pub fn with_target(mut self, value: impl o::IntoField<g::autoscaling::v2::MetricTarget>) -> Self { set(&mut self.0, "target", value.into_field()); self }
    pub fn edit_metric<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::MetricIdentifier) -> R) -> R { edit(&mut self.0, "metric", change) }
    pub fn set_metric(&mut self, value: impl o::IntoField<g::autoscaling::v2::MetricIdentifier>) { set(&mut self.0, "metric", value.into_field()) }
    pub fn with_metric(mut self, value: impl o::IntoField<g::autoscaling::v2::MetricIdentifier>) -> Self { set(&mut self.0, "metric", value.into_field()); self }
}

object!(ObjectMetricStatus, ObjectMetricStatusView);
part!(ObjectMetricStatus);
impl<'a> ObjectMetricStatusView<'a> {
    pub fn metric(self) -> g::autoscaling::v2::MetricIdentifierView<'a> { read(self.0, "metric") }
    pub fn current(self) -> g::autoscaling::v2::MetricValueStatusView<'a> { read(self.0, "current") }
    pub fn described_object(self) -> g::autoscaling::v2::CrossVersionObjectReferenceView<'a> { read(self.0, "describedObject") }
}
impl ObjectMetricStatus {
    pub fn edit_metric<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::MetricIdentifier) -> R) -> R { edit(&mut self.0, "metric", change) }
    pub fn set_metric(&mut self, value: impl o::IntoField<g::autoscaling::v2::MetricIdentifier>) { set(&mut self.0, "metric", value.into_field()) }
    pub fn with_metric(mut self, value: impl o::IntoField<g::autoscaling::v2::MetricIdentifier>) -> Self { set(&mut self.0, "metric", value.into_field()); self }
    pub fn edit_current<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::MetricValueStatus) -> R) -> R { edit(&mut self.0, "current", change) }
    pub fn set_current(&mut self, value: impl o::IntoField<g::autoscaling::v2::MetricValueStatus>) { set(&mut self.0, "current", value.into_field()) }
    pub fn with_current(mut self, value: impl o::IntoField<g::autoscaling::v2::MetricValueStatus>) -> Self { set(&mut self.0, "current", value.into_field()); self }
    pub fn edit_described_object<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::CrossVersionObjectReference) -> R) -> R { edit(&mut self.0, "describedObject", change) }
    pub fn set_described_object(&mut self, value: impl o::IntoField<g::autoscaling::v2::CrossVersionObjectReference>) { set(&mut self.0, "describedObject", value.into_field()) }
    pub fn with_described_object(mut self, value: impl o::IntoField<g::autoscaling::v2::CrossVersionObjectReference>) -> Self { set(&mut self.0, "describedObject", value.into_field()); self }
}

object!(PodsMetricSource, PodsMetricSourceView);
part!(PodsMetricSource);
impl<'a> PodsMetricSourceView<'a> {
    pub fn metric(self) -> g::autoscaling::v2::MetricIdentifierView<'a> { read(self.0, "metric") }
    pub fn target(self) -> g::autoscaling::v2::MetricTargetView<'a> { read(self.0, "target") }
}
impl PodsMetricSource {
    pub fn edit_metric<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::MetricIdentifier) -> R) -> R { edit(&mut self.0, "metric", change) }
    pub fn set_metric(&mut self, value: impl o::IntoField<g::autoscaling::v2::MetricIdentifier>) { set(&mut self.0, "metric", value.into_field()) }
    pub fn with_metric(mut self, value: impl o::IntoField<g::autoscaling::v2::MetricIdentifier>) -> Self { set(&mut self.0, "metric", value.into_field()); self }
    pub fn edit_target<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::MetricTarget) -> R) -> R { edit(&mut self.0, "target", change) }
    pub fn set_target(&mut self, value: impl o::IntoField<g::autoscaling::v2::MetricTarget>) { set(&mut self.0, "target", value.into_field()) }
    pub fn with_target(mut self, value: impl o::IntoField<g::autoscaling::v2::MetricTarget>) -> Self { set(&mut self.0, "target", value.into_field()); self }
}

object!(PodsMetricStatus, PodsMetricStatusView);
part!(PodsMetricStatus);
impl<'a> PodsMetricStatusView<'a> {
    pub fn metric(self) -> g::autoscaling::v2::MetricIdentifierView<'a> { read(self.0, "metric") }
    pub fn current(self) -> g::autoscaling::v2::MetricValueStatusView<'a> { read(self.0, "current") }
}
impl PodsMetricStatus {
    pub fn edit_metric<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::MetricIdentifier) -> R) -> R { edit(&mut self.0, "metric", change) }
    pub fn set_metric(&mut self, value: impl o::IntoField<g::autoscaling::v2::MetricIdentifier>) { set(&mut self.0, "metric", value.into_field()) }
    pub fn with_metric(mut self, value: impl o::IntoField<g::autoscaling::v2::MetricIdentifier>) -> Self { set(&mut self.0, "metric", value.into_field()); self }
    pub fn edit_current<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::MetricValueStatus) -> R) -> R { edit(&mut self.0, "current", change) }
    pub fn set_current(&mut self, value: impl o::IntoField<g::autoscaling::v2::MetricValueStatus>) { set(&mut self.0, "current", value.into_field()) }
    pub fn with_current(mut self, value: impl o::IntoField<g::autoscaling::v2::MetricValueStatus>) -> Self { set(&mut self.0, "current", value.into_field()); self }
}

object!(ResourceMetricSource, ResourceMetricSourceView);
part!(ResourceMetricSource);
impl<'a> ResourceMetricSourceView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn target(self) -> g::autoscaling::v2::MetricTargetView<'a> { read(self.0, "target") }
}
impl ResourceMetricSource {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn edit_target<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::MetricTarget) -> R) -> R { edit(&mut self.0, "target", change) }
    pub fn set_target(&mut self, value: impl o::IntoField<g::autoscaling::v2::MetricTarget>) { set(&mut self.0, "target", value.into_field()) }
    pub fn with_target(mut self, value: impl o::IntoField<g::autoscaling::v2::MetricTarget>) -> Self { set(&mut self.0, "target", value.into_field()); self }
}

object!(ResourceMetricStatus, ResourceMetricStatusView);
part!(ResourceMetricStatus);
impl<'a> ResourceMetricStatusView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn current(self) -> g::autoscaling::v2::MetricValueStatusView<'a> { read(self.0, "current") }
}
impl ResourceMetricStatus {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn edit_current<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v2::MetricValueStatus) -> R) -> R { edit(&mut self.0, "current", change) }
    pub fn set_current(&mut self, value: impl o::IntoField<g::autoscaling::v2::MetricValueStatus>) { set(&mut self.0, "current", value.into_field()) }
    pub fn with_current(mut self, value: impl o::IntoField<g::autoscaling::v2::MetricValueStatus>) -> Self { set(&mut self.0, "current", value.into_field()); self }
}
