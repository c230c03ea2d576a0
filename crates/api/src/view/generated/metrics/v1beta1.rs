//! Generated from facts/metrics.v1beta1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(ContainerMetrics, ContainerMetricsView);
part!(ContainerMetrics);
impl<'a> ContainerMetricsView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn usage(self) -> r::Map<'a, r::Quantity> { read(self.0, "usage") }
}
impl ContainerMetrics {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn insert_usage(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "usage", key, value) }
    pub fn set_usage(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "usage", value) }
    pub fn with_usage(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "usage", value); self }
}

object!(NodeMetrics, NodeMetricsView);
kind!(NodeMetrics, "metrics.k8s.io", "v1beta1", "metrics.k8s.io/v1beta1", "nodes");
impl<'a> NodeMetricsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn timestamp(self) -> Option<r::Timestamp> { find(self.0, "timestamp") }
    pub fn window(self) -> &'a str { read(self.0, "window") }
    pub fn usage(self) -> r::Map<'a, r::Quantity> { read(self.0, "usage") }
}
impl NodeMetrics {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn set_timestamp(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "timestamp", value.into_field()) }
    pub fn with_timestamp(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "timestamp", value.into_field()); self }
    pub fn set_window(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "window", value.into_field()) }
    pub fn with_window(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "window", value.into_field()); self }
    pub fn insert_usage(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "usage", key, value) }
    pub fn set_usage(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "usage", value) }
    pub fn with_usage(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "usage", value); self }
}

object!(NodeMetricsList, NodeMetricsListView);
part!(NodeMetricsList);
impl<'a> NodeMetricsListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::metrics::v1beta1::NodeMetricsView<'a>> { read(self.0, "items") }
}
impl NodeMetricsList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::metrics::v1beta1::NodeMetrics>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::metrics::v1beta1::NodeMetrics>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::metrics::v1beta1::NodeMetrics>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(PodMetrics, PodMetricsView);
kind!(PodMetrics, "metrics.k8s.io", "v1beta1", "metrics.k8s.io/v1beta1", "pods");
impl<'a> PodMetricsView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn timestamp(self) -> Option<r::Timestamp> { find(self.0, "timestamp") }
    pub fn window(self) -> &'a str { read(self.0, "window") }
    pub fn containers(self) -> r::List<'a, g::metrics::v1beta1::ContainerMetricsView<'a>> { read(self.0, "containers") }
}
impl PodMetrics {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn set_timestamp(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "timestamp", value.into_field()) }
    pub fn with_timestamp(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "timestamp", value.into_field()); self }
    pub fn set_window(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "window", value.into_field()) }
    pub fn with_window(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "window", value.into_field()); self }
    pub fn push_containers(&mut self, item: impl o::IntoField<g::metrics::v1beta1::ContainerMetrics>) { push(&mut self.0, "containers", item) }
    pub fn set_containers(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::metrics::v1beta1::ContainerMetrics>>) { set_list(&mut self.0, "containers", value) }
    pub fn with_containers(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::metrics::v1beta1::ContainerMetrics>>) -> Self { set_list(&mut self.0, "containers", value); self }
}

object!(PodMetricsList, PodMetricsListView);
part!(PodMetricsList);
impl<'a> PodMetricsListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::metrics::v1beta1::PodMetricsView<'a>> { read(self.0, "items") }
}
impl PodMetricsList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::metrics::v1beta1::PodMetrics>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::metrics::v1beta1::PodMetrics>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::metrics::v1beta1::PodMetrics>>) -> Self { set_list(&mut self.0, "items", value); self }
}
