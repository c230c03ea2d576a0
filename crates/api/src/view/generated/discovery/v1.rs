//! Generated from facts/discovery.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(Endpoint, EndpointView);
part!(Endpoint);
impl<'a> EndpointView<'a> {
    pub fn addresses(self) -> r::List<'a, &'a str> { read(self.0, "addresses") }
    pub fn conditions(self) -> g::discovery::v1::EndpointConditionsView<'a> { read(self.0, "conditions") }
    pub fn hostname(self) -> Option<&'a str> { find(self.0, "hostname") }
    pub fn target_ref(self) -> Option<g::core::v1::ObjectReferenceView<'a>> { find(self.0, "targetRef") }
    pub fn deprecated_topology(self) -> r::Map<'a, &'a str> { read(self.0, "deprecatedTopology") }
    pub fn node_name(self) -> Option<&'a str> { find(self.0, "nodeName") }
    pub fn zone(self) -> Option<&'a str> { find(self.0, "zone") }
    pub fn hints(self) -> Option<g::discovery::v1::EndpointHintsView<'a>> { find(self.0, "hints") }
}
impl Endpoint {
    pub fn push_addresses(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "addresses", item) }
    pub fn set_addresses(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "addresses", value) }
    pub fn with_addresses(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "addresses", value); self }
    pub fn edit_conditions<R>(&mut self, change: impl FnOnce(&mut g::discovery::v1::EndpointConditions) -> R) -> R { edit(&mut self.0, "conditions", change) }
    pub fn set_conditions(&mut self, value: impl o::IntoField<g::discovery::v1::EndpointConditions>) { set(&mut self.0, "conditions", value.into_field()) }
    pub fn with_conditions(mut self, value: impl o::IntoField<g::discovery::v1::EndpointConditions>) -> Self { set(&mut self.0, "conditions", value.into_field()); self }
    pub fn set_hostname(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "hostname", value.into_field()) }
    pub fn with_hostname(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "hostname", value.into_field()); self }
    pub fn edit_target_ref<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ObjectReference) -> R) -> R { edit(&mut self.0, "targetRef", change) }
    pub fn set_target_ref(&mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) { set(&mut self.0, "targetRef", value.into_field()) }
    pub fn with_target_ref(mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) -> Self { set(&mut self.0, "targetRef", value.into_field()); self }
    pub fn insert_deprecated_topology(&mut self, key: &str, value: impl o::IntoField<o::Text>) { insert(&mut self.0, "deprecatedTopology", key, value) }
    pub fn set_deprecated_topology(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) { set_map(&mut self.0, "deprecatedTopology", value) }
    pub fn with_deprecated_topology(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<o::Text>)>) -> Self { set_map(&mut self.0, "deprecatedTopology", value); self }
    pub fn set_node_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "nodeName", value.into_field()) }
    pub fn with_node_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "nodeName", value.into_field()); self }
    pub fn set_zone(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "zone", value.into_field()) }
    pub fn with_zone(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "zone", value.into_field()); self }
    pub fn edit_hints<R>(&mut self, change: impl FnOnce(&mut g::discovery::v1::EndpointHints) -> R) -> R { edit(&mut self.0, "hints", change) }
    pub fn set_hints(&mut self, value: impl o::IntoField<g::discovery::v1::EndpointHints>) { set(&mut self.0, "hints", value.into_field()) }
    pub fn with_hints(mut self, value: impl o::IntoField<g::discovery::v1::EndpointHints>) -> Self { set(&mut self.0, "hints", value.into_field()); self }
}

object!(EndpointConditions, EndpointConditionsView);
part!(EndpointConditions);
impl<'a> EndpointConditionsView<'a> {
    pub fn ready(self) -> Option<bool> { find(self.0, "ready") }
    pub fn serving(self) -> Option<bool> { find(self.0, "serving") }
    pub fn terminating(self) -> Option<bool> { find(self.0, "terminating") }
}
impl EndpointConditions {
    pub fn set_ready(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "ready", value.into_field()) }
    pub fn with_ready(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "ready", value.into_field()); self }
    pub fn set_serving(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "serving", value.into_field()) }
    pub fn with_serving(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "serving", value.into_field()); self }
    pub fn set_terminating(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "terminating", value.into_field()) }
    pub fn with_terminating(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "terminating", value.into_field()); self }
}

object!(EndpointHints, EndpointHintsView);
part!(EndpointHints);
impl<'a> EndpointHintsView<'a> {
    pub fn for_zones(self) -> r::List<'a, g::discovery::v1::ForZoneView<'a>> { read(self.0, "forZones") }
    pub fn for_nodes(self) -> r::List<'a, g::discovery::v1::ForNodeView<'a>> { read(self.0, "forNodes") }
}
impl EndpointHints {
    pub fn push_for_zones(&mut self, item: impl o::IntoField<g::discovery::v1::ForZone>) { push(&mut self.0, "forZones", item) }
    pub fn set_for_zones(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::discovery::v1::ForZone>>) { set_list(&mut self.0, "forZones", value) }
    pub fn with_for_zones(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::discovery::v1::ForZone>>) -> Self { set_list(&mut self.0, "forZones", value); self }
    pub fn push_for_nodes(&mut self, item: impl o::IntoField<g::discovery::v1::ForNode>) { push(&mut self.0, "forNodes", item) }
    pub fn set_for_nodes(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::discovery::v1::ForNode>>) { set_list(&mut self.0, "forNodes", value) }
    pub fn with_for_nodes(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::discovery::v1::ForNode>>) -> Self { set_list(&mut self.0, "forNodes", value); self }
}

object!(EndpointPort, EndpointPortView);
part!(EndpointPort);
impl<'a> EndpointPortView<'a> {
    pub fn name(self) -> Option<&'a str> { find(self.0, "name") }
    pub fn protocol(self) -> Option<&'a str> { find(self.0, "protocol") }
    pub fn port(self) -> Option<i32> { find(self.0, "port") }
    pub fn app_protocol(self) -> Option<&'a str> { find(self.0, "appProtocol") }
}
impl EndpointPort {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_protocol(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "protocol", value.into_field()) }
    pub fn with_protocol(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "protocol", value.into_field()); self }
    pub fn set_port(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "port", value.into_field()) }
    pub fn with_port(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "port", value.into_field()); self }
    pub fn set_app_protocol(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "appProtocol", value.into_field()) }
    pub fn with_app_protocol(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "appProtocol", value.into_field()); self }
}

object!(EndpointSlice, EndpointSliceView);
kind!(EndpointSlice, "discovery.k8s.io", "v1", "discovery.k8s.io/v1", "endpointslices");
impl<'a> EndpointSliceView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn address_type(self) -> &'a str { read(self.0, "addressType") }
    pub fn endpoints(self) -> r::List<'a, g::discovery::v1::EndpointView<'a>> { read(self.0, "endpoints") }
    pub fn ports(self) -> r::List<'a, g::discovery::v1::EndpointPortView<'a>> { read(self.0, "ports") }
}
impl EndpointSlice {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn set_address_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "addressType", value.into_field()) }
    pub fn with_address_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "addressType", value.into_field()); self }
    pub fn push_endpoints(&mut self, item: impl o::IntoField<g::discovery::v1::Endpoint>) { push(&mut self.0, "endpoints", item) }
    pub fn set_endpoints(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::discovery::v1::Endpoint>>) { set_list(&mut self.0, "endpoints", value) }
    pub fn with_endpoints(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::discovery::v1::Endpoint>>) -> Self { set_list(&mut self.0, "endpoints", value); self }
    pub fn push_ports(&mut self, item: impl o::IntoField<g::discovery::v1::EndpointPort>) { push(&mut self.0, "ports", item) }
    pub fn set_ports(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::discovery::v1::EndpointPort>>) { set_list(&mut self.0, "ports", value) }
    pub fn with_ports(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::discovery::v1::EndpointPort>>) -> Self { set_list(&mut self.0, "ports", value); self }
}

object!(EndpointSliceList, EndpointSliceListView);
part!(EndpointSliceList);
impl<'a> EndpointSliceListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::discovery::v1::EndpointSliceView<'a>> { read(self.0, "items") }
}
impl EndpointSliceList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::discovery::v1::EndpointSlice>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::discovery::v1::EndpointSlice>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::discovery::v1::EndpointSlice>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(ForNode, ForNodeView);
part!(ForNode);
impl<'a> ForNodeView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
}
impl ForNode {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
}

object!(ForZone, ForZoneView);
part!(ForZone);
impl<'a> ForZoneView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
}
impl ForZone {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
}
