//! Generated from facts/autoscaling.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(ContainerResourceMetricSource, ContainerResourceMetricSourceView);
part!(ContainerResourceMetricSource);
impl<'a> ContainerResourceMetricSourceView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn target_average_utilization(self) -> Option<i32> { find(self.0, "targetAverageUtilization") }
    pub fn target_average_value(self) -> Option<r::Quantity> { find(self.0, "targetAverageValue") }
    pub fn container(self) -> &'a str { read(self.0, "container") }
}
impl ContainerResourceMetricSource {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_target_average_utilization(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "targetAverageUtilization", value.into_field()) }
    pub fn with_target_average_utilization(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "targetAverageUtilization", value.into_field()); self }
    pub fn set_target_average_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "targetAverageValue", value.into_field()) }
    pub fn with_target_average_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "targetAverageValue", value.into_field()); self }
    pub fn set_container(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "container", value.into_field()) }
    pub fn with_container(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "container", value.into_field()); self }
}

object!(ContainerResourceMetricStatus, ContainerResourceMetricStatusView);
part!(ContainerResourceMetricStatus);
impl<'a> ContainerResourceMetricStatusView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn current_average_utilization(self) -> Option<i32> { find(self.0, "currentAverageUtilization") }
    pub fn current_average_value(self) -> Option<r::Quantity> { find(self.0, "currentAverageValue") }
    pub fn container(self) -> &'a str { read(self.0, "container") }
}
impl ContainerResourceMetricStatus {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_current_average_utilization(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "currentAverageUtilization", value.into_field()) }
    pub fn with_current_average_utilization(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "currentAverageUtilization", value.into_field()); self }
    pub fn set_current_average_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "currentAverageValue", value.into_field()) }
    pub fn with_current_average_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "currentAverageValue", value.into_field()); self }
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
    pub fn metric_name(self) -> &'a str { read(self.0, "metricName") }
    pub fn metric_selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "metricSelector") }
    pub fn target_value(self) -> Option<r::Quantity> { find(self.0, "targetValue") }
    pub fn target_average_value(self) -> Option<r::Quantity> { find(self.0, "targetAverageValue") }
}
impl ExternalMetricSource {
    pub fn set_metric_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "metricName", value.into_field()) }
    pub fn with_metric_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "metricName", value.into_field()); self }
    pub fn edit_metric_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "metricSelector", change) }
    pub fn set_metric_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "metricSelector", value.into_field()) }
    pub fn with_metric_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "metricSelector", value.into_field()); self }
    pub fn set_target_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "targetValue", value.into_field()) }
    pub fn with_target_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "targetValue", value.into_field()); self }
    pub fn set_target_average_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "targetAverageValue", value.into_field()) }
    pub fn with_target_average_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "targetAverageValue", value.into_field()); self }
}

object!(ExternalMetricStatus, ExternalMetricStatusView);
part!(ExternalMetricStatus);
impl<'a> ExternalMetricStatusView<'a> {
    pub fn metric_name(self) -> &'a str { read(self.0, "metricName") }
    pub fn metric_selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "metricSelector") }
    pub fn current_value(self) -> Option<r::Quantity> { find(self.0, "currentValue") }
    pub fn current_average_value(self) -> Option<r::Quantity> { find(self.0, "currentAverageValue") }
}
impl ExternalMetricStatus {
    pub fn set_metric_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "metricName", value.into_field()) }
    pub fn with_metric_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "metricName", value.into_field()); self }
    pub fn edit_metric_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "metricSelector", change) }
    pub fn set_metric_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "metricSelector", value.into_field()) }
    pub fn with_metric_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "metricSelector", value.into_field()); self }
    pub fn set_current_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "currentValue", value.into_field()) }
    pub fn with_current_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "currentValue", value.into_field()); self }
    pub fn set_current_average_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "currentAverageValue", value.into_field()) }
    pub fn with_current_average_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "currentAverageValue", value.into_field()); self }
}

object!(HorizontalPodAutoscaler, HorizontalPodAutoscalerView);
kind!(HorizontalPodAutoscaler, "autoscaling", "v1", "autoscaling/v1", "horizontalpodautoscalers");
impl<'a> HorizontalPodAutoscalerView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::autoscaling::v1::HorizontalPodAutoscalerSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::autoscaling::v1::HorizontalPodAutoscalerStatusView<'a> { read(self.0, "status") }
}
impl HorizontalPodAutoscaler {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::HorizontalPodAutoscalerSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::autoscaling::v1::HorizontalPodAutoscalerSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::autoscaling::v1::HorizontalPodAutoscalerSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::HorizontalPodAutoscalerStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::autoscaling::v1::HorizontalPodAutoscalerStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::autoscaling::v1::HorizontalPodAutoscalerStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
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
    pub fn items(self) -> r::List<'a, g::autoscaling::v1::HorizontalPodAutoscalerView<'a>> { read(self.0, "items") }
}
impl HorizontalPodAutoscalerList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::autoscaling::v1::HorizontalPodAutoscaler>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::autoscaling::v1::HorizontalPodAutoscaler>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::autoscaling::v1::HorizontalPodAutoscaler>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerSpecView);
part!(HorizontalPodAutoscalerSpec);
impl<'a> HorizontalPodAutoscalerSpecView<'a> {
    pub fn scale_target_ref(self) -> g::autoscaling::v1::CrossVersionObjectReferenceView<'a> { read(self.0, "scaleTargetRef") }
    pub fn min_replicas(self) -> Option<i32> { find(self.0, "minReplicas") }
    pub fn max_replicas(self) -> i32 { read(self.0, "maxReplicas") }
    pub fn target_cpu_utilization_percentage(self) -> Option<i32> { find(self.0, "targetCPUUtilizationPercentage") }
}
impl HorizontalPodAutoscalerSpec {
    pub fn edit_scale_target_ref<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::CrossVersionObjectReference) -> R) -> R { edit(&mut self.0, "scaleTargetRef", change) }
    pub fn set_scale_target_ref(&mut self, value: impl o::IntoField<g::autoscaling::v1::CrossVersionObjectReference>) { set(&mut self.0, "scaleTargetRef", value.into_field()) }
    pub fn with_scale_target_ref(mut self, value: impl o::IntoField<g::autoscaling::v1::CrossVersionObjectReference>) -> Self { set(&mut self.0, "scaleTargetRef", value.into_field()); self }
    pub fn set_min_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "minReplicas", value.into_field()) }
    pub fn with_min_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "minReplicas", value.into_field()); self }
    pub fn set_max_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "maxReplicas", value.into_field()) }
    pub fn with_max_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "maxReplicas", value.into_field()); self }
    pub fn set_target_cpu_utilization_percentage(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "targetCPUUtilizationPercentage", value.into_field()) }
    pub fn with_target_cpu_utilization_percentage(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "targetCPUUtilizationPercentage", value.into_field()); self }
}

object!(HorizontalPodAutoscalerStatus, HorizontalPodAutoscalerStatusView);
part!(HorizontalPodAutoscalerStatus);
impl<'a> HorizontalPodAutoscalerStatusView<'a> {
    pub fn observed_generation(self) -> Option<i64> { find(self.0, "observedGeneration") }
    pub fn last_scale_time(self) -> Option<r::Timestamp> { find(self.0, "lastScaleTime") }
    pub fn current_replicas(self) -> i32 { read(self.0, "currentReplicas") }
    pub fn desired_replicas(self) -> i32 { read(self.0, "desiredReplicas") }
    pub fn current_cpu_utilization_percentage(self) -> Option<i32> { find(self.0, "currentCPUUtilizationPercentage") }
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
    pub fn set_current_cpu_utilization_percentage(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "currentCPUUtilizationPercentage", value.into_field()) }
    pub fn with_current_cpu_utilization_percentage(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "currentCPUUtilizationPercentage", value.into_field()); self }
}

object!(MetricSpec, MetricSpecView);
part!(MetricSpec);
impl<'a> MetricSpecView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn object(self) -> Option<g::autoscaling::v1::ObjectMetricSourceView<'a>> { find(self.0, "object") }
    pub fn pods(self) -> Option<g::autoscaling::v1::PodsMetricSourceView<'a>> { find(self.0, "pods") }
    pub fn resource(self) -> Option<g::autoscaling::v1::ResourceMetricSourceView<'a>> { find(self.0, "resource") }
    pub fn container_resource(self) -> Option<g::autoscaling::v1::ContainerResourceMetricSourceView<'a>> { find(self.0, "containerResource") }
    pub fn external(self) -> Option<g::autoscaling::v1::ExternalMetricSourceView<'a>> { find(self.0, "external") }
}
impl MetricSpec {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn edit_object<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::ObjectMetricSource) -> R) -> R { edit(&mut self.0, "object", change) }
    pub fn set_object(&mut self, value: impl o::IntoField<g::autoscaling::v1::ObjectMetricSource>) { set(&mut self.0, "object", value.into_field()) }
    pub fn with_object(mut self, value: impl o::IntoField<g::autoscaling::v1::ObjectMetricSource>) -> Self { set(&mut self.0, "object", value.into_field()); self }
    pub fn edit_pods<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::PodsMetricSource) -> R) -> R { edit(&mut self.0, "pods", change) }
    pub fn set_pods(&mut self, value: impl o::IntoField<g::autoscaling::v1::PodsMetricSource>) { set(&mut self.0, "pods", value.into_field()) }
    pub fn with_pods(mut self, value: impl o::IntoField<g::autoscaling::v1::PodsMetricSource>) -> Self { set(&mut self.0, "pods", value.into_field()); self }
    pub fn edit_resource<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::ResourceMetricSource) -> R) -> R { edit(&mut self.0, "resource", change) }
    pub fn set_resource(&mut self, value: impl o::IntoField<g::autoscaling::v1::ResourceMetricSource>) { set(&mut self.0, "resource", value.into_field()) }
    pub fn with_resource(mut self, value: impl o::IntoField<g::autoscaling::v1::ResourceMetricSource>) -> Self { set(&mut self.0, "resource", value.into_field()); self }
    pub fn edit_container_resource<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::ContainerResourceMetricSource) -> R) -> R { edit(&mut self.0, "containerResource", change) }
    pub fn set_container_resource(&mut self, value: impl o::IntoField<g::autoscaling::v1::ContainerResourceMetricSource>) { set(&mut self.0, "containerResource", value.into_field()) }
    pub fn with_container_resource(mut self, value: impl o::IntoField<g::autoscaling::v1::ContainerResourceMetricSource>) -> Self { set(&mut self.0, "containerResource", value.into_field()); self }
    pub fn edit_external<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::ExternalMetricSource) -> R) -> R { edit(&mut self.0, "external", change) }
    pub fn set_external(&mut self, value: impl o::IntoField<g::autoscaling::v1::ExternalMetricSource>) { set(&mut self.0, "external", value.into_field()) }
    pub fn with_external(mut self, value: impl o::IntoField<g::autoscaling::v1::ExternalMetricSource>) -> Self { set(&mut self.0, "external", value.into_field()); self }
}

object!(MetricStatus, MetricStatusView);
part!(MetricStatus);
impl<'a> MetricStatusView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn object(self) -> Option<g::autoscaling::v1::ObjectMetricStatusView<'a>> { find(self.0, "object") }
    pub fn pods(self) -> Option<g::autoscaling::v1::PodsMetricStatusView<'a>> { find(self.0, "pods") }
    pub fn resource(self) -> Option<g::autoscaling::v1::ResourceMetricStatusView<'a>> { find(self.0, "resource") }
    pub fn container_resource(self) -> Option<g::autoscaling::v1::ContainerResourceMetricStatusView<'a>> { find(self.0, "containerResource") }
    pub fn external(self) -> Option<g::autoscaling::v1::ExternalMetricStatusView<'a>> { find(self.0, "external") }
}
impl MetricStatus {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn edit_object<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::ObjectMetricStatus) -> R) -> R { edit(&mut self.0, "object", change) }
    pub fn set_object(&mut self, value: impl o::IntoField<g::autoscaling::v1::ObjectMetricStatus>) { set(&mut self.0, "object", value.into_field()) }
    pub fn with_object(mut self, value: impl o::IntoField<g::autoscaling::v1::ObjectMetricStatus>) -> Self { set(&mut self.0, "object", value.into_field()); self }
    pub fn edit_pods<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::PodsMetricStatus) -> R) -> R { edit(&mut self.0, "pods", change) }
    pub fn set_pods(&mut self, value: impl o::IntoField<g::autoscaling::v1::PodsMetricStatus>) { set(&mut self.0, "pods", value.into_field()) }
    pub fn with_pods(mut self, value: impl o::IntoField<g::autoscaling::v1::PodsMetricStatus>) -> Self { set(&mut self.0, "pods", value.into_field()); self }
    pub fn edit_resource<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::ResourceMetricStatus) -> R) -> R { edit(&mut self.0, "resource", change) }
    pub fn set_resource(&mut self, value: impl o::IntoField<g::autoscaling::v1::ResourceMetricStatus>) { set(&mut self.0, "resource", value.into_field()) }
    pub fn with_resource(mut self, value: impl o::IntoField<g::autoscaling::v1::ResourceMetricStatus>) -> Self { set(&mut self.0, "resource", value.into_field()); self }
    pub fn edit_container_resource<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::ContainerResourceMetricStatus) -> R) -> R { edit(&mut self.0, "containerResource", change) }
    pub fn set_container_resource(&mut self, value: impl o::IntoField<g::autoscaling::v1::ContainerResourceMetricStatus>) { set(&mut self.0, "containerResource", value.into_field()) }
    pub fn with_container_resource(mut self, value: impl o::IntoField<g::autoscaling::v1::ContainerResourceMetricStatus>) -> Self { set(&mut self.0, "containerResource", value.into_field()); self }
    pub fn edit_external<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::ExternalMetricStatus) -> R) -> R { edit(&mut self.0, "external", change) }
    pub fn set_external(&mut self, value: impl o::IntoField<g::autoscaling::v1::ExternalMetricStatus>) { set(&mut self.0, "external", value.into_field()) }
    pub fn with_external(mut self, value: impl o::IntoField<g::autoscaling::v1::ExternalMetricStatus>) -> Self { set(&mut self.0, "external", value.into_field()); self }
}

object!(ObjectMetricSource, ObjectMetricSourceView);
part!(ObjectMetricSource);
impl<'a> ObjectMetricSourceView<'a> {
    pub fn target(self) -> g::autoscaling::v1::CrossVersionObjectReferenceView<'a> { read(self.0, "target") }
    pub fn metric_name(self) -> &'a str { read(self.0, "metricName") }
    pub fn target_value(self) -> Option<r::Quantity> { find(self.0, "targetValue") }
    pub fn selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "selector") }
    pub fn average_value(self) -> Option<r::Quantity> { find(self.0, "averageValue") }
}
impl ObjectMetricSource {
    pub fn edit_target<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::CrossVersionObjectReference) -> R) -> R { edit(&mut self.0, "target", change) }
    pub fn set_target(&mut self, value: impl o::IntoField<g::autoscaling::v1::CrossVersionObjectReference>) { set(&mut self.0, "target", value.into_field()) }
    pub fn with_target(mut self, value: impl o::IntoField<g::autoscaling::v1::CrossVersionObjectReference>) -> Self { set(&mut self.0, "target", value.into_field()); self }
    pub fn set_metric_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "metricName", value.into_field()) }
    pub fn with_metric_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "metricName", value.into_field()); self }
    pub fn set_target_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "targetValue", value.into_field()) }
    pub fn with_target_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "targetValue", value.into_field()); self }
    pub fn edit_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "selector", change) }
    pub fn set_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "selector", value.into_field()) }
    pub fn with_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "selector", value.into_field()); self }
    pub fn set_average_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "averageValue", value.into_field()) }
    pub fn with_average_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "averageValue", value.into_field()); self }
}

object!(ObjectMetricStatus, ObjectMetricStatusView);
part!(ObjectMetricStatus);
impl<'a> ObjectMetricStatusView<'a> {
    pub fn target(self) -> g::autoscaling::v1::CrossVersionObjectReferenceView<'a> { read(self.0, "target") }
    pub fn metric_name(self) -> &'a str { read(self.0, "metricName") }
    pub fn current_value(self) -> Option<r::Quantity> { find(self.0, "currentValue") }
    pub fn selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "selector") }
    pub fn average_value(self) -> Option<r::Quantity> { find(self.0, "averageValue") }
}
impl ObjectMetricStatus {
    pub fn edit_target<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::CrossVersionObjectReference) -> R) -> R { edit(&mut self.0, "target", change) }
    pub fn set_target(&mut self, value: impl o::IntoField<g::autoscaling::v1::CrossVersionObjectReference>) { set(&mut self.0, "target", value.into_field()) }
    pub fn with_target(mut self, value: impl o::IntoField<g::autoscaling::v1::CrossVersionObjectReference>) -> Self { set(&mut self.0, "target", value.into_field()); self }
    pub fn set_metric_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "metricName", value.into_field()) }
    pub fn with_metric_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "metricName", value.into_field()); self }
    pub fn set_current_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "currentValue", value.into_field()) }
    pub fn with_current_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "currentValue", value.into_field()); self }
    pub fn edit_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "selector", change) }
    pub fn set_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "selector", value.into_field()) }
    pub fn with_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "selector", value.into_field()); self }
    pub fn set_average_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "averageValue", value.into_field()) }
    pub fn with_average_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "averageValue", value.into_field()); self }
}

object!(PodsMetricSource, PodsMetricSourceView);
part!(PodsMetricSource);
impl<'a> PodsMetricSourceView<'a> {
    pub fn metric_name(self) -> &'a str { read(self.0, "metricName") }
    pub fn target_average_value(self) -> Option<r::Quantity> { find(self.0, "targetAverageValue") }
    pub fn selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "selector") }
}
impl PodsMetricSource {
    pub fn set_metric_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "metricName", value.into_field()) }
    pub fn with_metric_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "metricName", value.into_field()); self }
    pub fn set_target_average_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "targetAverageValue", value.into_field()) }
    pub fn with_target_average_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "targetAverageValue", value.into_field()); self }
    pub fn edit_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "selector", change) }
    pub fn set_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "selector", value.into_field()) }
    pub fn with_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "selector", value.into_field()); self }
}

object!(PodsMetricStatus, PodsMetricStatusView);
part!(PodsMetricStatus);
impl<'a> PodsMetricStatusView<'a> {
    pub fn metric_name(self) -> &'a str { read(self.0, "metricName") }
    pub fn current_average_value(self) -> Option<r::Quantity> { find(self.0, "currentAverageValue") }
    pub fn selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "selector") }
}
impl PodsMetricStatus {
    pub fn set_metric_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "metricName", value.into_field()) }
    pub fn with_metric_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "metricName", value.into_field()); self }
    pub fn set_current_average_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "currentAverageValue", value.into_field()) }
    pub fn with_current_average_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "currentAverageValue", value.into_field()); self }
    pub fn edit_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "selector", change) }
    pub fn set_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "selector", value.into_field()) }
    pub fn with_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "selector", value.into_field()); self }
}

object!(ResourceMetricSource, ResourceMetricSourceView);
part!(ResourceMetricSource);
impl<'a> ResourceMetricSourceView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn target_average_utilization(self) -> Option<i32> { find(self.0, "targetAverageUtilization") }
    pub fn target_average_value(self) -> Option<r::Quantity> { find(self.0, "targetAverageValue") }
}
impl ResourceMetricSource {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_target_average_utilization(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "targetAverageUtilization", value.into_field()) }
    pub fn with_target_average_utilization(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "targetAverageUtilization", value.into_field()); self }
    pub fn set_target_average_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "targetAverageValue", value.into_field()) }
    pub fn with_target_average_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "targetAverageValue", value.into_field()); self }
}

object!(ResourceMetricStatus, ResourceMetricStatusView);
part!(ResourceMetricStatus);
impl<'a> ResourceMetricStatusView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn current_average_utilization(self) -> Option<i32> { find(self.0, "currentAverageUtilization") }
    pub fn current_average_value(self) -> Option<r::Quantity> { find(self.0, "currentAverageValue") }
}
impl ResourceMetricStatus {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_current_average_utilization(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "currentAverageUtilization", value.into_field()) }
    pub fn with_current_average_utilization(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "currentAverageUtilization", value.into_field()); self }
    pub fn set_current_average_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "currentAverageValue", value.into_field()) }
    pub fn with_current_average_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "currentAverageValue", value.into_field()); self }
}

object!(Scale, ScaleView);
part!(Scale);
impl<'a> ScaleView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::autoscaling::v1::ScaleSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::autoscaling::v1::ScaleStatusView<'a> { read(self.0, "status") }
}
impl Scale {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::ScaleSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::autoscaling::v1::ScaleSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::autoscaling::v1::ScaleSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::autoscaling::v1::ScaleStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::autoscaling::v1::ScaleStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::autoscaling::v1::ScaleStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(ScaleSpec, ScaleSpecView);
part!(ScaleSpec);
impl<'a> ScaleSpecView<'a> {
    pub fn replicas(self) -> i32 { read(self.0, "replicas") }
}
impl ScaleSpec {
    pub fn set_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "replicas", value.into_field()) }
    pub fn with_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "replicas", value.into_field()); self }
}

object!(ScaleStatus, ScaleStatusView);
part!(ScaleStatus);
impl<'a> ScaleStatusView<'a> {
    pub fn replicas(self) -> i32 { read(self.0, "replicas") }
    pub fn selector(self) -> &'a str { read(self.0, "selector") }
}
impl ScaleStatus {
    pub fn set_replicas(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "replicas", value.into_field()) }
    pub fn with_replicas(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "replicas", value.into_field()); self }
    pub fn set_selector(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "selector", value.into_field()) }
    pub fn with_selector(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "selector", value.into_field()); self }
}
