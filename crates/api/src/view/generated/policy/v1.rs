//! Generated from facts/policy.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(Eviction, EvictionView);
part!(Eviction);
impl<'a> EvictionView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn delete_options(self) -> Option<g::meta::v1::DeleteOptionsView<'a>> { find(self.0, "deleteOptions") }
}
impl Eviction {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_delete_options<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::DeleteOptions) -> R) -> R { edit(&mut self.0, "deleteOptions", change) }
    pub fn set_delete_options(&mut self, value: impl o::IntoField<g::meta::v1::DeleteOptions>) { set(&mut self.0, "deleteOptions", value.into_field()) }
    pub fn with_delete_options(mut self, value: impl o::IntoField<g::meta::v1::DeleteOptions>) -> Self { set(&mut self.0, "deleteOptions", value.into_field()); self }
}

object!(PodDisruptionBudget, PodDisruptionBudgetView);
kind!(PodDisruptionBudget, "policy", "v1", "policy/v1", "poddisruptionbudgets");
impl<'a> PodDisruptionBudgetView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::policy::v1::PodDisruptionBudgetSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::policy::v1::PodDisruptionBudgetStatusView<'a> { read(self.0, "status") }
}
impl PodDisruptionBudget {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::policy::v1::PodDisruptionBudgetSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::policy::v1::PodDisruptionBudgetSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::policy::v1::PodDisruptionBudgetSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::policy::v1::PodDisruptionBudgetStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::policy::v1::PodDisruptionBudgetStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::policy::v1::PodDisruptionBudgetStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(PodDisruptionBudgetList, PodDisruptionBudgetListView);
part!(PodDisruptionBudgetList);
impl<'a> PodDisruptionBudgetListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::policy::v1::PodDisruptionBudgetView<'a>> { read(self.0, "items") }
}
impl PodDisruptionBudgetList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::policy::v1::PodDisruptionBudget>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::policy::v1::PodDisruptionBudget>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::policy::v1::PodDisruptionBudget>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(PodDisruptionBudgetSpec, PodDisruptionBudgetSpecView);
part!(PodDisruptionBudgetSpec);
impl<'a> PodDisruptionBudgetSpecView<'a> {
    pub fn min_available(self) -> Option<r::IntOrString<'a>> { find(self.0, "minAvailable") }
    pub fn selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "selector") }
    pub fn max_unavailable(self) -> Option<r::IntOrString<'a>> { find(self.0, "maxUnavailable") }
    pub fn unhealthy_pod_eviction_policy(self) -> Option<&'a str> { find(self.0, "unhealthyPodEvictionPolicy") }
}
impl PodDisruptionBudgetSpec {
    pub fn set_min_available(&mut self, value: impl o::IntoField<r::IntOrString<'static>>) { set(&mut self.0, "minAvailable", value.into_field()) }
    pub fn with_min_available(mut self, value: impl o::IntoField<r::IntOrString<'static>>) -> Self { set(&mut self.0, "minAvailable", value.into_field()); self }
    pub fn edit_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "selector", change) }
    pub fn set_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "selector", value.into_field()) }
    pub fn with_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "selector", value.into_field()); self }
    pub fn set_max_unavailable(&mut self, value: impl o::IntoField<r::IntOrString<'static>>) { set(&mut self.0, "maxUnavailable", value.into_field()) }
    pub fn with_max_unavailable(mut self, value: impl o::IntoField<r::IntOrString<'static>>) -> Self { set(&mut self.0, "maxUnavailable", value.into_field()); self }
    pub fn set_unhealthy_pod_eviction_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "unhealthyPodEvictionPolicy", value.into_field()) }
    pub fn with_unhealthy_pod_eviction_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "unhealthyPodEvictionPolicy", value.into_field()); self }
}

object!(PodDisruptionBudgetStatus, PodDisruptionBudgetStatusView);
part!(PodDisruptionBudgetStatus);
impl<'a> PodDisruptionBudgetStatusView<'a> {
    pub fn observed_generation(self) -> i64 { read(self.0, "observedGeneration") }
    pub fn disrupted_pods(self) -> r::Map<'a, r::Timestamp> { read(self.0, "disruptedPods") }
    pub fn disruptions_allowed(self) -> i32 { read(self.0, "disruptionsAllowed") }
    pub fn current_healthy(self) -> i32 { read(self.0, "currentHealthy") }
    pub fn desired_healthy(self) -> i32 { read(self.0, "desiredHealthy") }
    pub fn expected_pods(self) -> i32 { read(self.0, "expectedPods") }
    pub fn conditions(self) -> r::List<'a, g::meta::v1::ConditionView<'a>> { read(self.0, "conditions") }
}
impl PodDisruptionBudgetStatus {
    pub fn set_observed_generation(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "observedGeneration", value.into_field()) }
    pub fn with_observed_generation(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "observedGeneration", value.into_field()); self }
    pub fn insert_disrupted_pods(&mut self, key: &str, value: impl o::IntoField<o::Time>) { insert(&mut self.0, "disruptedPods", key, value) }
    pub fn set_disrupted_pods(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Time>)>) { set_map(&mut self.0, "disruptedPods", value) }
    pub fn with_disrupted_pods(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Time>)>) -> Self { set_map(&mut self.0, "disruptedPods", value); self }
    pub fn set_disruptions_allowed(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "disruptionsAllowed", value.into_field()) }
    pub fn with_disruptions_allowed(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "disruptionsAllowed", value.into_field()); self }
    pub fn set_current_healthy(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "currentHealthy", value.into_field()) }
    pub fn with_current_healthy(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "currentHealthy", value.into_field()); self }
    pub fn set_desired_healthy(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "desiredHealthy", value.into_field()) }
    pub fn with_desired_healthy(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "desiredHealthy", value.into_field()); self }
    pub fn set_expected_pods(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "expectedPods", value.into_field()) }
    pub fn with_expected_pods(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "expectedPods", value.into_field()); self }
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::meta::v1::Condition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::Condition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::Condition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
}
