//! Generated from facts/resource.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(AllocatedDeviceStatus, AllocatedDeviceStatusView);
part!(AllocatedDeviceStatus);
impl<'a> AllocatedDeviceStatusView<'a> {
    pub fn driver(self) -> &'a str { read(self.0, "driver") }
    pub fn pool(self) -> &'a str { read(self.0, "pool") }
    pub fn device(self) -> &'a str { read(self.0, "device") }
    pub fn share_id(self) -> Option<&'a str> { find(self.0, "shareID") }
    pub fn conditions(self) -> r::List<'a, g::meta::v1::ConditionView<'a>> { read(self.0, "conditions") }
    pub fn data(self) -> Option<r::Node<'a>> { find(self.0, "data") }
    pub fn network_data(self) -> Option<g::resource::v1::NetworkDeviceDataView<'a>> { find(self.0, "networkData") }
}
impl AllocatedDeviceStatus {
    pub fn set_driver(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "driver", value.into_field()) }
    pub fn with_driver(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "driver", value.into_field()); self }
    pub fn set_pool(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "pool", value.into_field()) }
    pub fn with_pool(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "pool", value.into_field()); self }
    pub fn set_device(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "device", value.into_field()) }
    pub fn with_device(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "device", value.into_field()); self }
    pub fn set_share_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "shareID", value.into_field()) }
    pub fn with_share_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "shareID", value.into_field()); self }
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::meta::v1::Condition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::Condition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::Condition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
    pub fn set_data(&mut self, value: impl o::IntoField<o::Any>) { set(&mut self.0, "data", value.into_field()) }
    pub fn with_data(mut self, value: impl o::IntoField<o::Any>) -> Self { set(&mut self.0, "data", value.into_field()); self }
    pub fn edit_network_data<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::NetworkDeviceData) -> R) -> R { edit(&mut self.0, "networkData", change) }
    pub fn set_network_data(&mut self, value: impl o::IntoField<g::resource::v1::NetworkDeviceData>) { set(&mut self.0, "networkData", value.into_field()) }
    pub fn with_network_data(mut self, value: impl o::IntoField<g::resource::v1::NetworkDeviceData>) -> Self { set(&mut self.0, "networkData", value.into_field()); self }
}

object!(AllocationResult, AllocationResultView);
part!(AllocationResult);
impl<'a> AllocationResultView<'a> {
    pub fn devices(self) -> g::resource::v1::DeviceAllocationResultView<'a> { read(self.0, "devices") }
    pub fn node_selector(self) -> Option<g::core::v1::NodeSelectorView<'a>> { find(self.0, "nodeSelector") }
    pub fn allocation_timestamp(self) -> Option<r::Timestamp> { find(self.0, "allocationTimestamp") }
}
impl AllocationResult {
    pub fn edit_devices<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::DeviceAllocationResult) -> R) -> R { edit(&mut self.0, "devices", change) }
    pub fn set_devices(&mut self, value: impl o::IntoField<g::resource::v1::DeviceAllocationResult>) { set(&mut self.0, "devices", value.into_field()) }
    pub fn with_devices(mut self, value: impl o::IntoField<g::resource::v1::DeviceAllocationResult>) -> Self { set(&mut self.0, "devices", value.into_field()); self }
    pub fn edit_node_selector<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeSelector) -> R) -> R { edit(&mut self.0, "nodeSelector", change) }
    pub fn set_node_selector(&mut self, value: impl o::IntoField<g::core::v1::NodeSelector>) { set(&mut self.0, "nodeSelector", value.into_field()) }
    pub fn with_node_selector(mut self, value: impl o::IntoField<g::core::v1::NodeSelector>) -> Self { set(&mut self.0, "nodeSelector", value.into_field()); self }
    pub fn set_allocation_timestamp(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "allocationTimestamp", value.into_field()) }
    pub fn with_allocation_timestamp(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "allocationTimestamp", value.into_field()); self }
}

object!(CELDeviceSelector, CELDeviceSelectorView);
part!(CELDeviceSelector);
impl<'a> CELDeviceSelectorView<'a> {
    pub fn expression(self) -> &'a str { read(self.0, "expression") }
}
impl CELDeviceSelector {
    pub fn set_expression(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "expression", value.into_field()) }
    pub fn with_expression(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "expression", value.into_field()); self }
}

object!(CapacityRequestPolicy, CapacityRequestPolicyView);
part!(CapacityRequestPolicy);
impl<'a> CapacityRequestPolicyView<'a> {
    pub fn default(self) -> Option<r::Quantity> { find(self.0, "default") }
    pub fn valid_values(self) -> r::List<'a, r::Quantity> { read(self.0, "validValues") }
    pub fn valid_range(self) -> Option<g::resource::v1::CapacityRequestPolicyRangeView<'a>> { find(self.0, "validRange") }
}
impl CapacityRequestPolicy {
    pub fn set_default(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "default", value.into_field()) }
    pub fn with_default(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "default", value.into_field()); self }
    pub fn push_valid_values(&mut self, item: impl o::IntoField<r::Quantity>) { push(&mut self.0, "validValues", item) }
    pub fn set_valid_values(&mut self, value: impl IntoIterator<Item = impl o::IntoField<r::Quantity>>) { set_list(&mut self.0, "validValues", value) }
    pub fn with_valid_values(mut self, value: impl IntoIterator<Item = impl o::IntoField<r::Quantity>>) -> Self { set_list(&mut self.0, "validValues", value); self }
    pub fn edit_valid_range<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::CapacityRequestPolicyRange) -> R) -> R { edit(&mut self.0, "validRange", change) }
    pub fn set_valid_range(&mut self, value: impl o::IntoField<g::resource::v1::CapacityRequestPolicyRange>) { set(&mut self.0, "validRange", value.into_field()) }
    pub fn with_valid_range(mut self, value: impl o::IntoField<g::resource::v1::CapacityRequestPolicyRange>) -> Self { set(&mut self.0, "validRange", value.into_field()); self }
}

object!(CapacityRequestPolicyRange, CapacityRequestPolicyRangeView);
part!(CapacityRequestPolicyRange);
impl<'a> CapacityRequestPolicyRangeView<'a> {
    pub fn min(self) -> Option<r::Quantity> { find(self.0, "min") }
    pub fn max(self) -> Option<r::Quantity> { find(self.0, "max") }
    pub fn step(self) -> Option<r::Quantity> { find(self.0, "step") }
}
impl CapacityRequestPolicyRange {
    pub fn set_min(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "min", value.into_field()) }
    pub fn with_min(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "min", value.into_field()); self }
    pub fn set_max(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "max", value.into_field()) }
    pub fn with_max(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "max", value.into_field()); self }
    pub fn set_step(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "step", value.into_field()) }
    pub fn with_step(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "step", value.into_field()); self }
}

object!(CapacityRequirements, CapacityRequirementsView);
part!(CapacityRequirements);
impl<'a> CapacityRequirementsView<'a> {
    pub fn requests(self) -> r::Map<'a, r::Quantity> { read(self.0, "requests") }
}
impl CapacityRequirements {
    pub fn insert_requests(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "requests", key, value) }
    pub fn set_requests(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "requests", value) }
    pub fn with_requests(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "requests", value); self }
}

object!(Counter, CounterView);
part!(Counter);
impl<'a> CounterView<'a> {
    pub fn value_(self) -> Option<r::Quantity> { find(self.0, "value") }
}
impl Counter {
    pub fn set_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "value", value.into_field()) }
    pub fn with_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "value", value.into_field()); self }
}

object!(CounterSet, CounterSetView);
part!(CounterSet);
impl<'a> CounterSetView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn counters(self) -> r::Map<'a, g::resource::v1::CounterView<'a>> { read(self.0, "counters") }
}
impl CounterSet {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn insert_counters(&mut self, key: &str, value: impl o::IntoField<g::resource::v1::Counter>) { insert(&mut self.0, "counters", key, value) }
    pub fn set_counters(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<g::resource::v1::Counter>)>) { set_map(&mut self.0, "counters", value) }
    pub fn with_counters(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<g::resource::v1::Counter>)>) -> Self { set_map(&mut self.0, "counters", value); self }
}

object!(Device, DeviceView);
part!(Device);
impl<'a> DeviceView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn attributes(self) -> r::Map<'a, g::resource::v1::DeviceAttributeView<'a>> { read(self.0, "attributes") }
    pub fn capacity(self) -> r::Map<'a, g::resource::v1::DeviceCapacityView<'a>> { read(self.0, "capacity") }
    pub fn consumes_counters(self) -> r::List<'a, g::resource::v1::DeviceCounterConsumptionView<'a>> { read(self.0, "consumesCounters") }
    pub fn node_name(self) -> Option<&'a str> { find(self.0, "nodeName") }
    pub fn node_selector(self) -> Option<g::core::v1::NodeSelectorView<'a>> { find(self.0, "nodeSelector") }
    pub fn all_nodes(self) -> Option<bool> { find(self.0, "allNodes") }
    pub fn taints(self) -> r::List<'a, g::resource::v1::DeviceTaintView<'a>> { read(self.0, "taints") }
    pub fn binds_to_node(self) -> Option<bool> { find(self.0, "bindsToNode") }
    pub fn binding_conditions(self) -> r::List<'a, &'a str> { read(self.0, "bindingConditions") }
    pub fn binding_failure_conditions(self) -> r::List<'a, &'a str> { read(self.0, "bindingFailureConditions") }
    pub fn allow_multiple_allocations(self) -> Option<bool> { find(self.0, "allowMultipleAllocations") }
    pub fn node_allocatable_resource_mappings(self) -> r::Map<'a, g::resource::v1::NodeAllocatableResourceMappingView<'a>> { read(self.0, "nodeAllocatableResourceMappings") }
}
impl Device {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn insert_attributes(&mut self, key: &str, value: impl o::IntoField<g::resource::v1::DeviceAttribute>) { insert(&mut self.0, "attributes", key, value) }
    pub fn set_attributes(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<g::resource::v1::DeviceAttribute>)>) { set_map(&mut self.0, "attributes", value) }
    pub fn with_attributes(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<g::resource::v1::DeviceAttribute>)>) -> Self { set_map(&mut self.0, "attributes", value); self }
    pub fn insert_capacity(&mut self, key: &str, value: impl o::IntoField<g::resource::v1::DeviceCapacity>) { insert(&mut self.0, "capacity", key, value) }
    pub fn set_capacity(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<g::resource::v1::DeviceCapacity>)>) { set_map(&mut self.0, "capacity", value) }
    pub fn with_capacity(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<g::resource::v1::DeviceCapacity>)>) -> Self { set_map(&mut self.0, "capacity", value); self }
    pub fn push_consumes_counters(&mut self, item: impl o::IntoField<g::resource::v1::DeviceCounterConsumption>) { push(&mut self.0, "consumesCounters", item) }
    pub fn set_consumes_counters(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceCounterConsumption>>) { set_list(&mut self.0, "consumesCounters", value) }
    pub fn with_consumes_counters(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceCounterConsumption>>) -> Self { set_list(&mut self.0, "consumesCounters", value); self }
    pub fn set_node_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "nodeName", value.into_field()) }
    pub fn with_node_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "nodeName", value.into_field()); self }
    pub fn edit_node_selector<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeSelector) -> R) -> R { edit(&mut self.0, "nodeSelector", change) }
    pub fn set_node_selector(&mut self, value: impl o::IntoField<g::core::v1::NodeSelector>) { set(&mut self.0, "nodeSelector", value.into_field()) }
    pub fn with_node_selector(mut self, value: impl o::IntoField<g::core::v1::NodeSelector>) -> Self { set(&mut self.0, "nodeSelector", value.into_field()); self }
    pub fn set_all_nodes(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "allNodes", value.into_field()) }
    pub fn with_all_nodes(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "allNodes", value.into_field()); self }
    pub fn push_taints(&mut self, item: impl o::IntoField<g::resource::v1::DeviceTaint>) { push(&mut self.0, "taints", item) }
    pub fn set_taints(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceTaint>>) { set_list(&mut self.0, "taints", value) }
    pub fn with_taints(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceTaint>>) -> Self { set_list(&mut self.0, "taints", value); self }
    pub fn set_binds_to_node(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "bindsToNode", value.into_field()) }
    pub fn with_binds_to_node(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "bindsToNode", value.into_field()); self }
    pub fn push_binding_conditions(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "bindingConditions", item) }
    pub fn set_binding_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "bindingConditions", value) }
    pub fn with_binding_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "bindingConditions", value); self }
    pub fn push_binding_failure_conditions(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "bindingFailureConditions", item) }
    pub fn set_binding_failure_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "bindingFailureConditions", value) }
    pub fn with_binding_failure_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "bindingFailureConditions", value); self }
    pub fn set_allow_multiple_allocations(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "allowMultipleAllocations", value.into_field()) }
    pub fn with_allow_multiple_allocations(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "allowMultipleAllocations", value.into_field()); self }
    pub fn insert_node_allocatable_resource_mappings(&mut self, key: &str, value: impl o::IntoField<g::resource::v1::NodeAllocatableResourceMapping>) { insert(&mut self.0, "nodeAllocatableResourceMappings", key, value) }
    pub fn set_node_allocatable_resource_mappings(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<g::resource::v1::NodeAllocatableResourceMapping>)>) { set_map(&mut self.0, "nodeAllocatableResourceMappings", value) }
    pub fn with_node_allocatable_resource_mappings(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<g::resource::v1::NodeAllocatableResourceMapping>)>) -> Self { set_map(&mut self.0, "nodeAllocatableResourceMappings", value); self }
}

object!(DeviceAllocationConfiguration, DeviceAllocationConfigurationView);
part!(DeviceAllocationConfiguration);
impl<'a> DeviceAllocationConfigurationView<'a> {
    pub fn source(self) -> &'a str { read(self.0, "source") }
    pub fn requests(self) -> r::List<'a, &'a str> { read(self.0, "requests") }
    pub fn opaque(self) -> Option<g::resource::v1::OpaqueDeviceConfigurationView<'a>> { find(self.0, "opaque") }
}
impl DeviceAllocationConfiguration {
    pub fn set_source(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "source", value.into_field()) }
    pub fn with_source(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "source", value.into_field()); self }
    pub fn push_requests(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "requests", item) }
    pub fn set_requests(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "requests", value) }
    pub fn with_requests(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "requests", value); self }
    pub fn edit_opaque<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::OpaqueDeviceConfiguration) -> R) -> R { edit(&mut self.0, "opaque", change) }
    pub fn set_opaque(&mut self, value: impl o::IntoField<g::resource::v1::OpaqueDeviceConfiguration>) { set(&mut self.0, "opaque", value.into_field()) }
    pub fn with_opaque(mut self, value: impl o::IntoField<g::resource::v1::OpaqueDeviceConfiguration>) -> Self { set(&mut self.0, "opaque", value.into_field()); self }
}

object!(DeviceAllocationResult, DeviceAllocationResultView);
part!(DeviceAllocationResult);
impl<'a> DeviceAllocationResultView<'a> {
    pub fn results(self) -> r::List<'a, g::resource::v1::DeviceRequestAllocationResultView<'a>> { read(self.0, "results") }
    pub fn config(self) -> r::List<'a, g::resource::v1::DeviceAllocationConfigurationView<'a>> { read(self.0, "config") }
}
impl DeviceAllocationResult {
    pub fn push_results(&mut self, item: impl o::IntoField<g::resource::v1::DeviceRequestAllocationResult>) { push(&mut self.0, "results", item) }
    pub fn set_results(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceRequestAllocationResult>>) { set_list(&mut self.0, "results", value) }
    pub fn with_results(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceRequestAllocationResult>>) -> Self { set_list(&mut self.0, "results", value); self }
    pub fn push_config(&mut self, item: impl o::IntoField<g::resource::v1::DeviceAllocationConfiguration>) { push(&mut self.0, "config", item) }
    pub fn set_config(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceAllocationConfiguration>>) { set_list(&mut self.0, "config", value) }
    pub fn with_config(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceAllocationConfiguration>>) -> Self { set_list(&mut self.0, "config", value); self }
}

object!(DeviceAttribute, DeviceAttributeView);
part!(DeviceAttribute);
impl<'a> DeviceAttributeView<'a> {
    pub fn int(self) -> Option<i64> { find(self.0, "int") }
    pub fn bool(self) -> Option<bool> { find(self.0, "bool") }
    pub fn string(self) -> Option<&'a str> { find(self.0, "string") }
    pub fn version(self) -> Option<&'a str> { find(self.0, "version") }
    pub fn ints(self) -> r::List<'a, i64> { read(self.0, "ints") }
    pub fn bools(self) -> r::List<'a, bool> { read(self.0, "bools") }
    pub fn strings(self) -> r::List<'a, &'a str> { read(self.0, "strings") }
    pub fn versions(self) -> r::List<'a, &'a str> { read(self.0, "versions") }
}
impl DeviceAttribute {
    pub fn set_int(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "int", value.into_field()) }
    pub fn with_int(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "int", value.into_field()); self }
    pub fn set_bool(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "bool", value.into_field()) }
    pub fn with_bool(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "bool", value.into_field()); self }
    pub fn set_string(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "string", value.into_field()) }
    pub fn with_string(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "string", value.into_field()); self }
    pub fn set_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "version", value.into_field()) }
    pub fn with_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "version", value.into_field()); self }
    pub fn push_ints(&mut self, item: impl o::IntoField<i64>) { push(&mut self.0, "ints", item) }
    pub fn set_ints(&mut self, value: impl IntoIterator<Item = impl o::IntoField<i64>>) { set_list(&mut self.0, "ints", value) }
    pub fn with_ints(mut self, value: impl IntoIterator<Item = impl o::IntoField<i64>>) -> Self { set_list(&mut self.0, "ints", value); self }
    pub fn push_bools(&mut self, item: impl o::IntoField<bool>) { push(&mut self.0, "bools", item) }
    pub fn set_bools(&mut self, value: impl IntoIterator<Item = impl o::IntoField<bool>>) { set_list(&mut self.0, "bools", value) }
    pub fn with_bools(mut self, value: impl IntoIterator<Item = impl o::IntoField<bool>>) -> Self { set_list(&mut self.0, "bools", value); self }
    pub fn push_strings(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "strings", item) }
    pub fn set_strings(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "strings", value) }
    pub fn with_strings(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "strings", value); self }
    pub fn push_versions(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "versions", item) }
    pub fn set_versions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "versions", value) }
    pub fn with_versions(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "versions", value); self }
}

object!(DeviceCapacity, DeviceCapacityView);
part!(DeviceCapacity);
impl<'a> DeviceCapacityView<'a> {
    pub fn value_(self) -> Option<r::Quantity> { find(self.0, "value") }
    pub fn request_policy(self) -> Option<g::resource::v1::CapacityRequestPolicyView<'a>> { find(self.0, "requestPolicy") }
}
impl DeviceCapacity {
    pub fn set_value(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "value", value.into_field()) }
    pub fn with_value(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "value", value.into_field()); self }
    pub fn edit_request_policy<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::CapacityRequestPolicy) -> R) -> R { edit(&mut self.0, "requestPolicy", change) }
    pub fn set_request_policy(&mut self, value: impl o::IntoField<g::resource::v1::CapacityRequestPolicy>) { set(&mut self.0, "requestPolicy", value.into_field()) }
    pub fn with_request_policy(mut self, value: impl o::IntoField<g::resource::v1::CapacityRequestPolicy>) -> Self { set(&mut self.0, "requestPolicy", value.into_field()); self }
}

object!(DeviceClaim, DeviceClaimView);
part!(DeviceClaim);
impl<'a> DeviceClaimView<'a> {
    pub fn requests(self) -> r::List<'a, g::resource::v1::DeviceRequestView<'a>> { read(self.0, "requests") }
    pub fn constraints(self) -> r::List<'a, g::resource::v1::DeviceConstraintView<'a>> { read(self.0, "constraints") }
    pub fn config(self) -> r::List<'a, g::resource::v1::DeviceClaimConfigurationView<'a>> { read(self.0, "config") }
}
impl DeviceClaim {
    pub fn push_requests(&mut self, item: impl o::IntoField<g::resource::v1::DeviceRequest>) { push(&mut self.0, "requests", item) }
    pub fn set_requests(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceRequest>>) { set_list(&mut self.0, "requests", value) }
    pub fn with_requests(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceRequest>>) -> Self { set_list(&mut self.0, "requests", value); self }
    pub fn push_constraints(&mut self, item: impl o::IntoField<g::resource::v1::DeviceConstraint>) { push(&mut self.0, "constraints", item) }
    pub fn set_constraints(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceConstraint>>) { set_list(&mut self.0, "constraints", value) }
    pub fn with_constraints(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceConstraint>>) -> Self { set_list(&mut self.0, "constraints", value); self }
    pub fn push_config(&mut self, item: impl o::IntoField<g::resource::v1::DeviceClaimConfiguration>) { push(&mut self.0, "config", item) }
    pub fn set_config(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceClaimConfiguration>>) { set_list(&mut self.0, "config", value) }
    pub fn with_config(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceClaimConfiguration>>) -> Self { set_list(&mut self.0, "config", value); self }
}

object!(DeviceClaimConfiguration, DeviceClaimConfigurationView);
part!(DeviceClaimConfiguration);
impl<'a> DeviceClaimConfigurationView<'a> {
    pub fn requests(self) -> r::List<'a, &'a str> { read(self.0, "requests") }
    pub fn opaque(self) -> Option<g::resource::v1::OpaqueDeviceConfigurationView<'a>> { find(self.0, "opaque") }
}
impl DeviceClaimConfiguration {
    pub fn push_requests(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "requests", item) }
    pub fn set_requests(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "requests", value) }
    pub fn with_requests(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "requests", value); self }
    pub fn edit_opaque<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::OpaqueDeviceConfiguration) -> R) -> R { edit(&mut self.0, "opaque", change) }
    pub fn set_opaque(&mut self, value: impl o::IntoField<g::resource::v1::OpaqueDeviceConfiguration>) { set(&mut self.0, "opaque", value.into_field()) }
    pub fn with_opaque(mut self, value: impl o::IntoField<g::resource::v1::OpaqueDeviceConfiguration>) -> Self { set(&mut self.0, "opaque", value.into_field()); self }
}

object!(DeviceClass, DeviceClassView);
kind!(DeviceClass, "resource.k8s.io", "v1", "resource.k8s.io/v1", "deviceclasses");
impl<'a> DeviceClassView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::resource::v1::DeviceClassSpecView<'a> { read(self.0, "spec") }
}
impl DeviceClass {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::DeviceClassSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::resource::v1::DeviceClassSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::resource::v1::DeviceClassSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(DeviceClassConfiguration, DeviceClassConfigurationView);
part!(DeviceClassConfiguration);
impl<'a> DeviceClassConfigurationView<'a> {
    pub fn opaque(self) -> Option<g::resource::v1::OpaqueDeviceConfigurationView<'a>> { find(self.0, "opaque") }
}
impl DeviceClassConfiguration {
    pub fn edit_opaque<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::OpaqueDeviceConfiguration) -> R) -> R { edit(&mut self.0, "opaque", change) }
    pub fn set_opaque(&mut self, value: impl o::IntoField<g::resource::v1::OpaqueDeviceConfiguration>) { set(&mut self.0, "opaque", value.into_field()) }
    pub fn with_opaque(mut self, value: impl o::IntoField<g::resource::v1::OpaqueDeviceConfiguration>) -> Self { set(&mut self.0, "opaque", value.into_field()); self }
}

object!(DeviceClassList, DeviceClassListView);
part!(DeviceClassList);
impl<'a> DeviceClassListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::resource::v1::DeviceClassView<'a>> { read(self.0, "items") }
}
impl DeviceClassList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::resource::v1::DeviceClass>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceClass>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceClass>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(DeviceClassSpec, DeviceClassSpecView);
part!(DeviceClassSpec);
impl<'a> DeviceClassSpecView<'a> {
    pub fn selectors(self) -> r::List<'a, g::resource::v1::DeviceSelectorView<'a>> { read(self.0, "selectors") }
    pub fn config(self) -> r::List<'a, g::resource::v1::DeviceClassConfigurationView<'a>> { read(self.0, "config") }
    pub fn extended_resource_name(self) -> Option<&'a str> { find(self.0, "extendedResourceName") }
}
impl DeviceClassSpec {
    pub fn push_selectors(&mut self, item: impl o::IntoField<g::resource::v1::DeviceSelector>) { push(&mut self.0, "selectors", item) }
    pub fn set_selectors(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceSelector>>) { set_list(&mut self.0, "selectors", value) }
    pub fn with_selectors(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceSelector>>) -> Self { set_list(&mut self.0, "selectors", value); self }
    pub fn push_config(&mut self, item: impl o::IntoField<g::resource::v1::DeviceClassConfiguration>) { push(&mut self.0, "config", item) }
    pub fn set_config(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceClassConfiguration>>) { set_list(&mut self.0, "config", value) }
    pub fn with_config(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceClassConfiguration>>) -> Self { set_list(&mut self.0, "config", value); self }
    pub fn set_extended_resource_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "extendedResourceName", value.into_field()) }
    pub fn with_extended_resource_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "extendedResourceName", value.into_field()); self }
}

object!(DeviceConfiguration, DeviceConfigurationView);
part!(DeviceConfiguration);
impl<'a> DeviceConfigurationView<'a> {
    pub fn opaque(self) -> Option<g::resource::v1::OpaqueDeviceConfigurationView<'a>> { find(self.0, "opaque") }
}
impl DeviceConfiguration {
    pub fn edit_opaque<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::OpaqueDeviceConfiguration) -> R) -> R { edit(&mut self.0, "opaque", change) }
    pub fn set_opaque(&mut self, value: impl o::IntoField<g::resource::v1::OpaqueDeviceConfiguration>) { set(&mut self.0, "opaque", value.into_field()) }
    pub fn with_opaque(mut self, value: impl o::IntoField<g::resource::v1::OpaqueDeviceConfiguration>) -> Self { set(&mut self.0, "opaque", value.into_field()); self }
}

object!(DeviceConstraint, DeviceConstraintView);
part!(DeviceConstraint);
impl<'a> DeviceConstraintView<'a> {
    pub fn requests(self) -> r::List<'a, &'a str> { read(self.0, "requests") }
    pub fn match_attribute(self) -> Option<&'a str> { find(self.0, "matchAttribute") }
    pub fn distinct_attribute(self) -> Option<&'a str> { find(self.0, "distinctAttribute") }
}
impl DeviceConstraint {
    pub fn push_requests(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "requests", item) }
    pub fn set_requests(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "requests", value) }
    pub fn with_requests(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "requests", value); self }
    pub fn set_match_attribute(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "matchAttribute", value.into_field()) }
    pub fn with_match_attribute(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "matchAttribute", value.into_field()); self }
    pub fn set_distinct_attribute(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "distinctAttribute", value.into_field()) }
    pub fn with_distinct_attribute(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "distinctAttribute", value.into_field()); self }
}

object!(DeviceCounterConsumption, DeviceCounterConsumptionView);
part!(DeviceCounterConsumption);
impl<'a> DeviceCounterConsumptionView<'a> {
    pub fn counter_set(self) -> &'a str { read(self.0, "counterSet") }
    pub fn counters(self) -> r::Map<'a, g::resource::v1::CounterView<'a>> { read(self.0, "counters") }
}
impl DeviceCounterConsumption {
    pub fn set_counter_set(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "counterSet", value.into_field()) }
    pub fn with_counter_set(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "counterSet", value.into_field()); self }
    pub fn insert_counters(&mut self, key: &str, value: impl o::IntoField<g::resource::v1::Counter>) { insert(&mut self.0, "counters", key, value) }
    pub fn set_counters(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<g::resource::v1::Counter>)>) { set_map(&mut self.0, "counters", value) }
    pub fn with_counters(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<g::resource::v1::Counter>)>) -> Self { set_map(&mut self.0, "counters", value); self }
}

object!(DeviceRequest, DeviceRequestView);
part!(DeviceRequest);
impl<'a> DeviceRequestView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn exactly(self) -> Option<g::resource::v1::ExactDeviceRequestView<'a>> { find(self.0, "exactly") }
    pub fn first_available(self) -> r::List<'a, g::resource::v1::DeviceSubRequestView<'a>> { read(self.0, "firstAvailable") }
}
impl DeviceRequest {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn edit_exactly<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::ExactDeviceRequest) -> R) -> R { edit(&mut self.0, "exactly", change) }
    pub fn set_exactly(&mut self, value: impl o::IntoField<g::resource::v1::ExactDeviceRequest>) { set(&mut self.0, "exactly", value.into_field()) }
    pub fn with_exactly(mut self, value: impl o::IntoField<g::resource::v1::ExactDeviceRequest>) -> Self { set(&mut self.0, "exactly", value.into_field()); self }
    pub fn push_first_available(&mut self, item: impl o::IntoField<g::resource::v1::DeviceSubRequest>) { push(&mut self.0, "firstAvailable", item) }
    pub fn set_first_available(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceSubRequest>>) { set_list(&mut self.0, "firstAvailable", value) }
    pub fn with_first_available(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceSubRequest>>) -> Self { set_list(&mut self.0, "firstAvailable", value); self }
}

object!(DeviceRequestAllocationResult, DeviceRequestAllocationResultView);
part!(DeviceRequestAllocationResult);
impl<'a> DeviceRequestAllocationResultView<'a> {
    pub fn request(self) -> &'a str { read(self.0, "request") }
    pub fn driver(self) -> &'a str { read(self.0, "driver") }
    pub fn pool(self) -> &'a str { read(self.0, "pool") }
    pub fn device(self) -> &'a str { read(self.0, "device") }
    pub fn admin_access(self) -> Option<bool> { find(self.0, "adminAccess") }
    pub fn tolerations(self) -> r::List<'a, g::resource::v1::DeviceTolerationView<'a>> { read(self.0, "tolerations") }
    pub fn binding_conditions(self) -> r::List<'a, &'a str> { read(self.0, "bindingConditions") }
    pub fn binding_failure_conditions(self) -> r::List<'a, &'a str> { read(self.0, "bindingFailureConditions") }
    pub fn share_id(self) -> Option<&'a str> { find(self.0, "shareID") }
    pub fn consumed_capacity(self) -> r::Map<'a, r::Quantity> { read(self.0, "consumedCapacity") }
}
impl DeviceRequestAllocationResult {
    pub fn set_request(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "request", value.into_field()) }
    pub fn with_request(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "request", value.into_field()); self }
    pub fn set_driver(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "driver", value.into_field()) }
    pub fn with_driver(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "driver", value.into_field()); self }
    pub fn set_pool(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "pool", value.into_field()) }
    pub fn with_pool(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "pool", value.into_field()); self }
    pub fn set_device(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "device", value.into_field()) }
    pub fn with_device(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "device", value.into_field()); self }
    pub fn set_admin_access(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "adminAccess", value.into_field()) }
    pub fn with_admin_access(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "adminAccess", value.into_field()); self }
    pub fn push_tolerations(&mut self, item: impl o::IntoField<g::resource::v1::DeviceToleration>) { push(&mut self.0, "tolerations", item) }
    pub fn set_tolerations(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceToleration>>) { set_list(&mut self.0, "tolerations", value) }
    pub fn with_tolerations(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceToleration>>) -> Self { set_list(&mut self.0, "tolerations", value); self }
    pub fn push_binding_conditions(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "bindingConditions", item) }
    pub fn set_binding_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "bindingConditions", value) }
    pub fn with_binding_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "bindingConditions", value); self }
    pub fn push_binding_failure_conditions(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "bindingFailureConditions", item) }
    pub fn set_binding_failure_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "bindingFailureConditions", value) }
    pub fn with_binding_failure_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "bindingFailureConditions", value); self }
    pub fn set_share_id(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "shareID", value.into_field()) }
    pub fn with_share_id(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "shareID", value.into_field()); self }
    pub fn insert_consumed_capacity(&mut self, key: &str, value: impl o::IntoField<r::Quantity>) { insert(&mut self.0, "consumedCapacity", key, value) }
    pub fn set_consumed_capacity(&mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) { set_map(&mut self.0, "consumedCapacity", value) }
    pub fn with_consumed_capacity(mut self, value: impl IntoIterator<Item = (impl Into<String>, impl o::IntoField<r::Quantity>)>) -> Self { set_map(&mut self.0, "consumedCapacity", value); self }
}

object!(DeviceSelector, DeviceSelectorView);
part!(DeviceSelector);
impl<'a> DeviceSelectorView<'a> {
    pub fn cel(self) -> Option<g::resource::v1::CELDeviceSelectorView<'a>> { find(self.0, "cel") }
}
impl DeviceSelector {
    pub fn edit_cel<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::CELDeviceSelector) -> R) -> R { edit(&mut self.0, "cel", change) }
    pub fn set_cel(&mut self, value: impl o::IntoField<g::resource::v1::CELDeviceSelector>) { set(&mut self.0, "cel", value.into_field()) }
    pub fn with_cel(mut self, value: impl o::IntoField<g::resource::v1::CELDeviceSelector>) -> Self { set(&mut self.0, "cel", value.into_field()); self }
}

object!(DeviceSubRequest, DeviceSubRequestView);
part!(DeviceSubRequest);
impl<'a> DeviceSubRequestView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn device_class_name(self) -> &'a str { read(self.0, "deviceClassName") }
    pub fn selectors(self) -> r::List<'a, g::resource::v1::DeviceSelectorView<'a>> { read(self.0, "selectors") }
    pub fn allocation_mode(self) -> &'a str { read(self.0, "allocationMode") }
    pub fn count(self) -> i64 { read(self.0, "count") }
    pub fn tolerations(self) -> r::List<'a, g::resource::v1::DeviceTolerationView<'a>> { read(self.0, "tolerations") }
    pub fn capacity(self) -> Option<g::resource::v1::CapacityRequirementsView<'a>> { find(self.0, "capacity") }
}
impl DeviceSubRequest {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_device_class_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "deviceClassName", value.into_field()) }
    pub fn with_device_class_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "deviceClassName", value.into_field()); self }
    pub fn push_selectors(&mut self, item: impl o::IntoField<g::resource::v1::DeviceSelector>) { push(&mut self.0, "selectors", item) }
    pub fn set_selectors(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceSelector>>) { set_list(&mut self.0, "selectors", value) }
    pub fn with_selectors(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceSelector>>) -> Self { set_list(&mut self.0, "selectors", value); self }
    pub fn set_allocation_mode(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "allocationMode", value.into_field()) }
    pub fn with_allocation_mode(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "allocationMode", value.into_field()); self }
    pub fn set_count(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "count", value.into_field()) }
    pub fn with_count(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "count", value.into_field()); self }
    pub fn push_tolerations(&mut self, item: impl o::IntoField<g::resource::v1::DeviceToleration>) { push(&mut self.0, "tolerations", item) }
    pub fn set_tolerations(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceToleration>>) { set_list(&mut self.0, "tolerations", value) }
    pub fn with_tolerations(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceToleration>>) -> Self { set_list(&mut self.0, "tolerations", value); self }
    pub fn edit_capacity<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::CapacityRequirements) -> R) -> R { edit(&mut self.0, "capacity", change) }
    pub fn set_capacity(&mut self, value: impl o::IntoField<g::resource::v1::CapacityRequirements>) { set(&mut self.0, "capacity", value.into_field()) }
    pub fn with_capacity(mut self, value: impl o::IntoField<g::resource::v1::CapacityRequirements>) -> Self { set(&mut self.0, "capacity", value.into_field()); self }
}

object!(DeviceTaint, DeviceTaintView);
part!(DeviceTaint);
impl<'a> DeviceTaintView<'a> {
    pub fn key(self) -> &'a str { read(self.0, "key") }
    pub fn value_(self) -> &'a str { read(self.0, "value") }
    pub fn effect(self) -> &'a str { read(self.0, "effect") }
    pub fn time_added(self) -> Option<r::Timestamp> { find(self.0, "timeAdded") }
}
impl DeviceTaint {
    pub fn set_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "key", value.into_field()) }
    pub fn with_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "key", value.into_field()); self }
    pub fn set_value(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "value", value.into_field()) }
    pub fn with_value(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "value", value.into_field()); self }
    pub fn set_effect(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "effect", value.into_field()) }
    pub fn with_effect(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "effect", value.into_field()); self }
    pub fn set_time_added(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "timeAdded", value.into_field()) }
    pub fn with_time_added(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "timeAdded", value.into_field()); self }
}

object!(DeviceToleration, DeviceTolerationView);
part!(DeviceToleration);
impl<'a> DeviceTolerationView<'a> {
    pub fn key(self) -> &'a str { read(self.0, "key") }
    pub fn operator(self) -> &'a str { read(self.0, "operator") }
    pub fn value_(self) -> &'a str { read(self.0, "value") }
    pub fn effect(self) -> &'a str { read(self.0, "effect") }
    pub fn toleration_seconds(self) -> Option<i64> { find(self.0, "tolerationSeconds") }
}
impl DeviceToleration {
    pub fn set_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "key", value.into_field()) }
    pub fn with_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "key", value.into_field()); self }
    pub fn set_operator(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "operator", value.into_field()) }
    pub fn with_operator(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "operator", value.into_field()); self }
    pub fn set_value(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "value", value.into_field()) }
    pub fn with_value(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "value", value.into_field()); self }
    pub fn set_effect(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "effect", value.into_field()) }
    pub fn with_effect(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "effect", value.into_field()); self }
    pub fn set_toleration_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "tolerationSeconds", value.into_field()) }
    pub fn with_toleration_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "tolerationSeconds", value.into_field()); self }
}

object!(ExactDeviceRequest, ExactDeviceRequestView);
part!(ExactDeviceRequest);
impl<'a> ExactDeviceRequestView<'a> {
    pub fn device_class_name(self) -> &'a str { read(self.0, "deviceClassName") }
    pub fn selectors(self) -> r::List<'a, g::resource::v1::DeviceSelectorView<'a>> { read(self.0, "selectors") }
    pub fn allocation_mode(self) -> &'a str { read(self.0, "allocationMode") }
    pub fn count(self) -> i64 { read(self.0, "count") }
    pub fn admin_access(self) -> Option<bool> { find(self.0, "adminAccess") }
    pub fn tolerations(self) -> r::List<'a, g::resource::v1::DeviceTolerationView<'a>> { read(self.0, "tolerations") }
    pub fn capacity(self) -> Option<g::resource::v1::CapacityRequirementsView<'a>> { find(self.0, "capacity") }
}
impl ExactDeviceRequest {
    pub fn set_device_class_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "deviceClassName", value.into_field()) }
    pub fn with_device_class_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "deviceClassName", value.into_field()); self }
    pub fn push_selectors(&mut self, item: impl o::IntoField<g::resource::v1::DeviceSelector>) { push(&mut self.0, "selectors", item) }
    pub fn set_selectors(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceSelector>>) { set_list(&mut self.0, "selectors", value) }
    pub fn with_selectors(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceSelector>>) -> Self { set_list(&mut self.0, "selectors", value); self }
    pub fn set_allocation_mode(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "allocationMode", value.into_field()) }
    pub fn with_allocation_mode(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "allocationMode", value.into_field()); self }
    pub fn set_count(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "count", value.into_field()) }
    pub fn with_count(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "count", value.into_field()); self }
    pub fn set_admin_access(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "adminAccess", value.into_field()) }
    pub fn with_admin_access(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "adminAccess", value.into_field()); self }
    pub fn push_tolerations(&mut self, item: impl o::IntoField<g::resource::v1::DeviceToleration>) { push(&mut self.0, "tolerations", item) }
    pub fn set_tolerations(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceToleration>>) { set_list(&mut self.0, "tolerations", value) }
    pub fn with_tolerations(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::DeviceToleration>>) -> Self { set_list(&mut self.0, "tolerations", value); self }
    pub fn edit_capacity<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::CapacityRequirements) -> R) -> R { edit(&mut self.0, "capacity", change) }
    pub fn set_capacity(&mut self, value: impl o::IntoField<g::resource::v1::CapacityRequirements>) { set(&mut self.0, "capacity", value.into_field()) }
    pub fn with_capacity(mut self, value: impl o::IntoField<g::resource::v1::CapacityRequirements>) -> Self { set(&mut self.0, "capacity", value.into_field()); self }
}

object!(NetworkDeviceData, NetworkDeviceDataView);
part!(NetworkDeviceData);
impl<'a> NetworkDeviceDataView<'a> {
    pub fn interface_name(self) -> &'a str { read(self.0, "interfaceName") }
    pub fn ips(self) -> r::List<'a, &'a str> { read(self.0, "ips") }
    pub fn hardware_address(self) -> &'a str { read(self.0, "hardwareAddress") }
}
impl NetworkDeviceData {
    pub fn set_interface_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "interfaceName", value.into_field()) }
    pub fn with_interface_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "interfaceName", value.into_field()); self }
    pub fn push_ips(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "ips", item) }
    pub fn set_ips(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "ips", value) }
    pub fn with_ips(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "ips", value); self }
    pub fn set_hardware_address(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "hardwareAddress", value.into_field()) }
    pub fn with_hardware_address(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "hardwareAddress", value.into_field()); self }
}

object!(NodeAllocatableResourceMapping, NodeAllocatableResourceMappingView);
part!(NodeAllocatableResourceMapping);
impl<'a> NodeAllocatableResourceMappingView<'a> {
    pub fn capacity_key(self) -> Option<&'a str> { find(self.0, "capacityKey") }
    pub fn allocation_multiplier(self) -> Option<r::Quantity> { find(self.0, "allocationMultiplier") }
}
impl NodeAllocatableResourceMapping {
    pub fn set_capacity_key(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "capacityKey", value.into_field()) }
    pub fn with_capacity_key(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "capacityKey", value.into_field()); self }
    pub fn set_allocation_multiplier(&mut self, value: impl o::IntoField<r::Quantity>) { set(&mut self.0, "allocationMultiplier", value.into_field()) }
    pub fn with_allocation_multiplier(mut self, value: impl o::IntoField<r::Quantity>) -> Self { set(&mut self.0, "allocationMultiplier", value.into_field()); self }
}

object!(OpaqueDeviceConfiguration, OpaqueDeviceConfigurationView);
part!(OpaqueDeviceConfiguration);
impl<'a> OpaqueDeviceConfigurationView<'a> {
    pub fn driver(self) -> &'a str { read(self.0, "driver") }
    pub fn parameters(self) -> Option<r::Node<'a>> { find(self.0, "parameters") }
}
impl OpaqueDeviceConfiguration {
    pub fn set_driver(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "driver", value.into_field()) }
    pub fn with_driver(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "driver", value.into_field()); self }
    pub fn set_parameters(&mut self, value: impl o::IntoField<o::Any>) { set(&mut self.0, "parameters", value.into_field()) }
    pub fn with_parameters(mut self, value: impl o::IntoField<o::Any>) -> Self { set(&mut self.0, "parameters", value.into_field()); self }
}

object!(ResourceClaim, ResourceClaimView);
kind!(ResourceClaim, "resource.k8s.io", "v1", "resource.k8s.io/v1", "resourceclaims");
impl<'a> ResourceClaimView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::resource::v1::ResourceClaimSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::resource::v1::ResourceClaimStatusView<'a> { read(self.0, "status") }
}
impl ResourceClaim {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::ResourceClaimSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::resource::v1::ResourceClaimSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::resource::v1::ResourceClaimSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::ResourceClaimStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::resource::v1::ResourceClaimStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::resource::v1::ResourceClaimStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(ResourceClaimConsumerReference, ResourceClaimConsumerReferenceView);
part!(ResourceClaimConsumerReference);
impl<'a> ResourceClaimConsumerReferenceView<'a> {
    pub fn api_group(self) -> &'a str { read(self.0, "apiGroup") }
    pub fn resource(self) -> &'a str { read(self.0, "resource") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn uid(self) -> &'a str { read(self.0, "uid") }
}
impl ResourceClaimConsumerReference {
    pub fn set_api_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiGroup", value.into_field()) }
    pub fn with_api_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiGroup", value.into_field()); self }
    pub fn set_resource(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resource", value.into_field()) }
    pub fn with_resource(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resource", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_uid(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "uid", value.into_field()) }
    pub fn with_uid(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "uid", value.into_field()); self }
}

object!(ResourceClaimList, ResourceClaimListView);
part!(ResourceClaimList);
impl<'a> ResourceClaimListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::resource::v1::ResourceClaimView<'a>> { read(self.0, "items") }
}
impl ResourceClaimList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::resource::v1::ResourceClaim>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::ResourceClaim>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::ResourceClaim>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(ResourceClaimSpec, ResourceClaimSpecView);
part!(ResourceClaimSpec);
impl<'a> ResourceClaimSpecView<'a> {
    pub fn devices(self) -> g::resource::v1::DeviceClaimView<'a> { read(self.0, "devices") }
}
impl ResourceClaimSpec {
    pub fn edit_devices<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::DeviceClaim) -> R) -> R { edit(&mut self.0, "devices", change) }
    pub fn set_devices(&mut self, value: impl o::IntoField<g::resource::v1::DeviceClaim>) { set(&mut self.0, "devices", value.into_field()) }
    pub fn with_devices(mut self, value: impl o::IntoField<g::resource::v1::DeviceClaim>) -> Self { set(&mut self.0, "devices", value.into_field()); self }
}

object!(ResourceClaimStatus, ResourceClaimStatusView);
part!(ResourceClaimStatus);
impl<'a> ResourceClaimStatusView<'a> {
    pub fn allocation(self) -> Option<g::resource::v1::AllocationResultView<'a>> { find(self.0, "allocation") }
    pub fn reserved_for(self) -> r::List<'a, g::resource::v1::ResourceClaimConsumerReferenceView<'a>> { read(self.0, "reservedFor") }
    pub fn devices(self) -> r::List<'a, g::resource::v1::AllocatedDeviceStatusView<'a>> { read(self.0, "devices") }
}
impl ResourceClaimStatus {
    pub fn edit_allocation<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::AllocationResult) -> R) -> R { edit(&mut self.0, "allocation", change) }
    pub fn set_allocation(&mut self, value: impl o::IntoField<g::resource::v1::AllocationResult>) { set(&mut self.0, "allocation", value.into_field()) }
    pub fn with_allocation(mut self, value: impl o::IntoField<g::resource::v1::AllocationResult>) -> Self { set(&mut self.0, "allocation", value.into_field()); self }
    pub fn push_reserved_for(&mut self, item: impl o::IntoField<g::resource::v1::ResourceClaimConsumerReference>) { push(&mut self.0, "reservedFor", item) }
    pub fn set_reserved_for(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::ResourceClaimConsumerReference>>) { set_list(&mut self.0, "reservedFor", value) }
    pub fn with_reserved_for(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::ResourceClaimConsumerReference>>) -> Self { set_list(&mut self.0, "reservedFor", value); self }
    pub fn push_devices(&mut self, item: impl o::IntoField<g::resource::v1::AllocatedDeviceStatus>) { push(&mut self.0, "devices", item) }
    pub fn set_devices(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::AllocatedDeviceStatus>>) { set_list(&mut self.0, "devices", value) }
    pub fn with_devices(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::AllocatedDeviceStatus>>) -> Self { set_list(&mut self.0, "devices", value); self }
}

object!(ResourceClaimTemplate, ResourceClaimTemplateView);
kind!(ResourceClaimTemplate, "resource.k8s.io", "v1", "resource.k8s.io/v1", "resourceclaimtemplates");
impl<'a> ResourceClaimTemplateView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::resource::v1::ResourceClaimTemplateSpecView<'a> { read(self.0, "spec") }
}
impl ResourceClaimTemplate {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::ResourceClaimTemplateSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::resource::v1::ResourceClaimTemplateSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::resource::v1::ResourceClaimTemplateSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(ResourceClaimTemplateList, ResourceClaimTemplateListView);
part!(ResourceClaimTemplateList);
impl<'a> ResourceClaimTemplateListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::resource::v1::ResourceClaimTemplateView<'a>> { read(self.0, "items") }
}
impl ResourceClaimTemplateList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::resource::v1::ResourceClaimTemplate>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::ResourceClaimTemplate>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::ResourceClaimTemplate>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(ResourceClaimTemplateSpec, ResourceClaimTemplateSpecView);
part!(ResourceClaimTemplateSpec);
impl<'a> ResourceClaimTemplateSpecView<'a> {
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::resource::v1::ResourceClaimSpecView<'a> { read(self.0, "spec") }
}
impl ResourceClaimTemplateSpec {
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::ResourceClaimSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::resource::v1::ResourceClaimSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::resource::v1::ResourceClaimSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(ResourcePool, ResourcePoolView);
part!(ResourcePool);
impl<'a> ResourcePoolView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn generation(self) -> i64 { read(self.0, "generation") }
    pub fn resource_slice_count(self) -> i64 { read(self.0, "resourceSliceCount") }
}
impl ResourcePool {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_generation(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "generation", value.into_field()) }
    pub fn with_generation(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "generation", value.into_field()); self }
    pub fn set_resource_slice_count(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "resourceSliceCount", value.into_field()) }
    pub fn with_resource_slice_count(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "resourceSliceCount", value.into_field()); self }
}

object!(ResourceSlice, ResourceSliceView);
kind!(ResourceSlice, "resource.k8s.io", "v1", "resource.k8s.io/v1", "resourceslices");
impl<'a> ResourceSliceView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::resource::v1::ResourceSliceSpecView<'a> { read(self.0, "spec") }
}
impl ResourceSlice {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::ResourceSliceSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::resource::v1::ResourceSliceSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::resource::v1::ResourceSliceSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(ResourceSliceList, ResourceSliceListView);
part!(ResourceSliceList);
impl<'a> ResourceSliceListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::resource::v1::ResourceSliceView<'a>> { read(self.0, "items") }
}
impl ResourceSliceList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::resource::v1::ResourceSlice>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::ResourceSlice>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::ResourceSlice>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(ResourceSliceSpec, ResourceSliceSpecView);
part!(ResourceSliceSpec);
impl<'a> ResourceSliceSpecView<'a> {
    pub fn driver(self) -> &'a str { read(self.0, "driver") }
    pub fn pool(self) -> g::resource::v1::ResourcePoolView<'a> { read(self.0, "pool") }
    pub fn node_name(self) -> Option<&'a str> { find(self.0, "nodeName") }
    pub fn node_selector(self) -> Option<g::core::v1::NodeSelectorView<'a>> { find(self.0, "nodeSelector") }
    pub fn all_nodes(self) -> Option<bool> { find(self.0, "allNodes") }
    pub fn devices(self) -> r::List<'a, g::resource::v1::DeviceView<'a>> { read(self.0, "devices") }
    pub fn per_device_node_selection(self) -> Option<bool> { find(self.0, "perDeviceNodeSelection") }
    pub fn shared_counters(self) -> r::List<'a, g::resource::v1::CounterSetView<'a>> { read(self.0, "sharedCounters") }
}
impl ResourceSliceSpec {
    pub fn set_driver(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "driver", value.into_field()) }
    pub fn with_driver(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "driver", value.into_field()); self }
    pub fn edit_pool<R>(&mut self, change: impl FnOnce(&mut g::resource::v1::ResourcePool) -> R) -> R { edit(&mut self.0, "pool", change) }
    pub fn set_pool(&mut self, value: impl o::IntoField<g::resource::v1::ResourcePool>) { set(&mut self.0, "pool", value.into_field()) }
    pub fn with_pool(mut self, value: impl o::IntoField<g::resource::v1::ResourcePool>) -> Self { set(&mut self.0, "pool", value.into_field()); self }
    pub fn set_node_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "nodeName", value.into_field()) }
    pub fn with_node_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "nodeName", value.into_field()); self }
    pub fn edit_node_selector<R>(&mut self, change: impl FnOnce(&mut g::core::v1::NodeSelector) -> R) -> R { edit(&mut self.0, "nodeSelector", change) }
    pub fn set_node_selector(&mut self, value: impl o::IntoField<g::core::v1::NodeSelector>) { set(&mut self.0, "nodeSelector", value.into_field()) }
    pub fn with_node_selector(mut self, value: impl o::IntoField<g::core::v1::NodeSelector>) -> Self { set(&mut self.0, "nodeSelector", value.into_field()); self }
    pub fn set_all_nodes(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "allNodes", value.into_field()) }
    pub fn with_all_nodes(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "allNodes", value.into_field()); self }
    pub fn push_devices(&mut self, item: impl o::IntoField<g::resource::v1::Device>) { push(&mut self.0, "devices", item) }
    pub fn set_devices(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::Device>>) { set_list(&mut self.0, "devices", value) }
    pub fn with_devices(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::Device>>) -> Self { set_list(&mut self.0, "devices", value); self }
    pub fn set_per_device_node_selection(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "perDeviceNodeSelection", value.into_field()) }
    pub fn with_per_device_node_selection(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "perDeviceNodeSelection", value.into_field()); self }
    pub fn push_shared_counters(&mut self, item: impl o::IntoField<g::resource::v1::CounterSet>) { push(&mut self.0, "sharedCounters", item) }
    pub fn set_shared_counters(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::CounterSet>>) { set_list(&mut self.0, "sharedCounters", value) }
    pub fn with_shared_counters(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::resource::v1::CounterSet>>) -> Self { set_list(&mut self.0, "sharedCounters", value); self }
}
