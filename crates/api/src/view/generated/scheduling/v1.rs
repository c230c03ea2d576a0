//! Generated from facts/scheduling.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(PriorityClass, PriorityClassView);
kind!(PriorityClass, "scheduling.k8s.io", "v1", "scheduling.k8s.io/v1", "priorityclasses");
impl<'a> PriorityClassView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn value_(self) -> i32 { read(self.0, "value") }
    pub fn global_default(self) -> bool { read(self.0, "globalDefault") }
    pub fn description(self) -> &'a str { read(self.0, "description") }
    pub fn preemption_policy(self) -> Option<&'a str> { find(self.0, "preemptionPolicy") }
}
impl PriorityClass {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn set_value(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "value", value.into_field()) }
    pub fn with_value(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "value", value.into_field()); self }
    pub fn set_global_default(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "globalDefault", value.into_field()) }
    pub fn with_global_default(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "globalDefault", value.into_field()); self }
    pub fn set_description(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "description", value.into_field()) }
    pub fn with_description(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "description", value.into_field()); self }
    pub fn set_preemption_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "preemptionPolicy", value.into_field()) }
    pub fn with_preemption_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "preemptionPolicy", value.into_field()); self }
}

object!(PriorityClassList, PriorityClassListView);
part!(PriorityClassList);
impl<'a> PriorityClassListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::scheduling::v1::PriorityClassView<'a>> { read(self.0, "items") }
}
impl PriorityClassList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::scheduling::v1::PriorityClass>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::scheduling::v1::PriorityClass>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::scheduling::v1::PriorityClass>>) -> Self { set_list(&mut self.0, "items", value); self }
}
