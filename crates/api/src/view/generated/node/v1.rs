//! Generated from facts/node.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(Overhead, OverheadView);
part!(Overhead);
impl<'a> OverheadView<'a> {
    pub fn pod_fixed(self) -> r::Map<'a, r::Quantity> { read(self.0, "podFixed") }
}
impl Overhead {
    pub fn insert_pod_fixed(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "podFixed", key, value) }
    pub fn set_pod_fixed(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "podFixed", value) }
    pub fn with_pod_fixed(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "podFixed", value); self }
}

object!(RuntimeClass, RuntimeClassView);
kind!(RuntimeClass, "node.k8s.io", "v1", "node.k8s.io/v1", "runtimeclasses");
impl<'a> RuntimeClassView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn handler(self) -> &'a str { read(self.0, "handler") }
    pub fn overhead(self) -> Option<g::node::v1::OverheadView<'a>> { find(self.0, "overhead") }
    pub fn scheduling(self) -> Option<g::node::v1::SchedulingView<'a>> { find(self.0, "scheduling") }
}
impl RuntimeClass {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn set_handler(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "handler", value.into_field()) }
    pub fn with_handler(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "handler", value.into_field()); self }
    pub fn edit_overhead<R>(&mut self, change: impl FnOnce(&mut g::node::v1::Overhead) -> R) -> R { edit(&mut self.0, "overhead", change) }
    pub fn set_overhead(&mut self, value: impl o::IntoField<g::node::v1::Overhead>) { set(&mut self.0, "overhead", value.into_field()) }
    pub fn with_overhead(mut self, value: impl o::IntoField<g::node::v1::Overhead>) -> Self { set(&mut self.0, "overhead", value.into_field()); self }
    pub fn edit_scheduling<R>(&mut self, change: impl FnOnce(&mut g::node::v1::Scheduling) -> R) -> R { edit(&mut self.0, "scheduling", change) }
    pub fn set_scheduling(&mut self, value: impl o::IntoField<g::node::v1::Scheduling>) { set(&mut self.0, "scheduling", value.into_field()) }
    pub fn with_scheduling(mut self, value: impl o::IntoField<g::node::v1::Scheduling>) -> Self { set(&mut self.0, "scheduling", value.into_field()); self }
}

object!(RuntimeClassList, RuntimeClassListView);
part!(RuntimeClassList);
impl<'a> RuntimeClassListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::node::v1::RuntimeClassView<'a>> { read(self.0, "items") }
}
impl RuntimeClassList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::node::v1::RuntimeClass>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::node::v1::RuntimeClass>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::node::v1::RuntimeClass>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(Scheduling, SchedulingView);
part!(Scheduling);
impl<'a> SchedulingView<'a> {
    pub fn node_selector(self) -> r::Map<'a, &'a str> { read(self.0, "nodeSelector") }
    pub fn tolerations(self) -> r::List<'a, g::core::v1::TolerationView<'a>> { read(self.0, "tolerations") }
}
impl Scheduling {
    pub fn insert_node_selector(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "nodeSelector", key, value) }
    pub fn set_node_selector(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "nodeSelector", value) }
    pub fn with_node_selector(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "nodeSelector", value); self }
    pub fn push_tolerations(&mut self, item: impl o::IntoField<g::core::v1::Toleration>) { push(&mut self.0, "tolerations", item) }
    pub fn set_tolerations(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Toleration>>) { set_list(&mut self.0, "tolerations", value) }
    pub fn with_tolerations(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::Toleration>>) -> Self { set_list(&mut self.0, "tolerations", value); self }
}
