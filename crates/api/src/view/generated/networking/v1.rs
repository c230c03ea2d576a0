//! Generated from facts/networking.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(HTTPIngressPath, HTTPIngressPathView);
part!(HTTPIngressPath);
impl<'a> HTTPIngressPathView<'a> {
    pub fn path(self) -> &'a str { read(self.0, "path") }
    pub fn path_type(self) -> Option<&'a str> { find(self.0, "pathType") }
    pub fn backend(self) -> g::networking::v1::IngressBackendView<'a> { read(self.0, "backend") }
}
impl HTTPIngressPath {
    pub fn set_path(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "path", value.into_field()) }
    pub fn with_path(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "path", value.into_field()); self }
    pub fn set_path_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "pathType", value.into_field()) }
    pub fn with_path_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "pathType", value.into_field()); self }
    pub fn edit_backend<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::IngressBackend) -> R) -> R { edit(&mut self.0, "backend", change) }
    pub fn set_backend(&mut self, value: impl o::IntoField<g::networking::v1::IngressBackend>) { set(&mut self.0, "backend", value.into_field()) }
    pub fn with_backend(mut self, value: impl o::IntoField<g::networking::v1::IngressBackend>) -> Self { set(&mut self.0, "backend", value.into_field()); self }
}

object!(HTTPIngressRuleValue, HTTPIngressRuleValueView);
part!(HTTPIngressRuleValue);
impl<'a> HTTPIngressRuleValueView<'a> {
    pub fn paths(self) -> r::List<'a, g::networking::v1::HTTPIngressPathView<'a>> { read(self.0, "paths") }
}
impl HTTPIngressRuleValue {
    pub fn push_paths(&mut self, item: impl o::IntoField<g::networking::v1::HTTPIngressPath>) { push(&mut self.0, "paths", item) }
    pub fn set_paths(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::HTTPIngressPath>>) { set_list(&mut self.0, "paths", value) }
    pub fn with_paths(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::HTTPIngressPath>>) -> Self { set_list(&mut self.0, "paths", value); self }
}

object!(IPAddress, IPAddressView);
kind!(IPAddress, "networking.k8s.io", "v1", "networking.k8s.io/v1", "ipaddresses");
impl<'a> IPAddressView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::networking::v1::IPAddressSpecView<'a> { read(self.0, "spec") }
}
impl IPAddress {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::IPAddressSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::networking::v1::IPAddressSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::networking::v1::IPAddressSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(IPAddressList, IPAddressListView);
part!(IPAddressList);
impl<'a> IPAddressListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::networking::v1::IPAddressView<'a>> { read(self.0, "items") }
}
impl IPAddressList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::networking::v1::IPAddress>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::IPAddress>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::IPAddress>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(IPAddressSpec, IPAddressSpecView);
part!(IPAddressSpec);
impl<'a> IPAddressSpecView<'a> {
    pub fn parent_ref(self) -> Option<g::networking::v1::ParentReferenceView<'a>> { find(self.0, "parentRef") }
}
impl IPAddressSpec {
    pub fn edit_parent_ref<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::ParentReference) -> R) -> R { edit(&mut self.0, "parentRef", change) }
    pub fn set_parent_ref(&mut self, value: impl o::IntoField<g::networking::v1::ParentReference>) { set(&mut self.0, "parentRef", value.into_field()) }
    pub fn with_parent_ref(mut self, value: impl o::IntoField<g::networking::v1::ParentReference>) -> Self { set(&mut self.0, "parentRef", value.into_field()); self }
}

object!(IPBlock, IPBlockView);
part!(IPBlock);
impl<'a> IPBlockView<'a> {
    pub fn cidr(self) -> &'a str { read(self.0, "cidr") }
    pub fn except(self) -> r::List<'a, &'a str> { read(self.0, "except") }
}
impl IPBlock {
    pub fn set_cidr(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "cidr", value.into_field()) }
    pub fn with_cidr(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "cidr", value.into_field()); self }
    pub fn push_except(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "except", item) }
    pub fn set_except(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "except", value) }
    pub fn with_except(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "except", value); self }
}

object!(Ingress, IngressView);
kind!(Ingress, "networking.k8s.io", "v1", "networking.k8s.io/v1", "ingresses");
impl<'a> IngressView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::networking::v1::IngressSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::networking::v1::IngressStatusView<'a> { read(self.0, "status") }
}
impl Ingress {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::IngressSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::networking::v1::IngressSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::networking::v1::IngressSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::IngressStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::networking::v1::IngressStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::networking::v1::IngressStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(IngressBackend, IngressBackendView);
part!(IngressBackend);
impl<'a> IngressBackendView<'a> {
    pub fn service(self) -> Option<g::networking::v1::IngressServiceBackendView<'a>> { find(self.0, "service") }
    pub fn resource(self) -> Option<g::core::v1::TypedLocalObjectReferenceView<'a>> { find(self.0, "resource") }
}
impl IngressBackend {
    pub fn edit_service<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::IngressServiceBackend) -> R) -> R { edit(&mut self.0, "service", change) }
    pub fn set_service(&mut self, value: impl o::IntoField<g::networking::v1::IngressServiceBackend>) { set(&mut self.0, "service", value.into_field()) }
    pub fn with_service(mut self, value: impl o::IntoField<g::networking::v1::IngressServiceBackend>) -> Self { set(&mut self.0, "service", value.into_field()); self }
    pub fn edit_resource<R>(&mut self, change: impl FnOnce(&mut g::core::v1::TypedLocalObjectReference) -> R) -> R { edit(&mut self.0, "resource", change) }
    pub fn set_resource(&mut self, value: impl o::IntoField<g::core::v1::TypedLocalObjectReference>) { set(&mut self.0, "resource", value.into_field()) }
    pub fn with_resource(mut self, value: impl o::IntoField<g::core::v1::TypedLocalObjectReference>) -> Self { set(&mut self.0, "resource", value.into_field()); self }
}

object!(IngressClass, IngressClassView);
kind!(IngressClass, "networking.k8s.io", "v1", "networking.k8s.io/v1", "ingressclasses");
impl<'a> IngressClassView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::networking::v1::IngressClassSpecView<'a> { read(self.0, "spec") }
}
impl IngressClass {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::IngressClassSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::networking::v1::IngressClassSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::networking::v1::IngressClassSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(IngressClassList, IngressClassListView);
part!(IngressClassList);
impl<'a> IngressClassListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::networking::v1::IngressClassView<'a>> { read(self.0, "items") }
}
impl IngressClassList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::networking::v1::IngressClass>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::IngressClass>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::IngressClass>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(IngressClassParametersReference, IngressClassParametersReferenceView);
part!(IngressClassParametersReference);
impl<'a> IngressClassParametersReferenceView<'a> {
    pub fn api_group(self) -> Option<&'a str> { find(self.0, "apiGroup") }
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn scope(self) -> Option<&'a str> { find(self.0, "scope") }
    pub fn namespace(self) -> Option<&'a str> { find(self.0, "namespace") }
}
impl IngressClassParametersReference {
    pub fn set_api_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiGroup", value.into_field()) }
    pub fn with_api_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiGroup", value.into_field()); self }
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_scope(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "scope", value.into_field()) }
    pub fn with_scope(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "scope", value.into_field()); self }
    pub fn set_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "namespace", value.into_field()) }
    pub fn with_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "namespace", value.into_field()); self }
}

object!(IngressClassSpec, IngressClassSpecView);
part!(IngressClassSpec);
impl<'a> IngressClassSpecView<'a> {
    pub fn controller(self) -> &'a str { read(self.0, "controller") }
    pub fn parameters(self) -> Option<g::networking::v1::IngressClassParametersReferenceView<'a>> { find(self.0, "parameters") }
}
impl IngressClassSpec {
    pub fn set_controller(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "controller", value.into_field()) }
    pub fn with_controller(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "controller", value.into_field()); self }
    pub fn edit_parameters<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::IngressClassParametersReference) -> R) -> R { edit(&mut self.0, "parameters", change) }
    pub fn set_parameters(&mut self, value: impl o::IntoField<g::networking::v1::IngressClassParametersReference>) { set(&mut self.0, "parameters", value.into_field()) }
    pub fn with_parameters(mut self, value: impl o::IntoField<g::networking::v1::IngressClassParametersReference>) -> Self { set(&mut self.0, "parameters", value.into_field()); self }
}

object!(IngressList, IngressListView);
part!(IngressList);
impl<'a> IngressListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::networking::v1::IngressView<'a>> { read(self.0, "items") }
}
impl IngressList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::networking::v1::Ingress>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::Ingress>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::Ingress>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(IngressLoadBalancerIngress, IngressLoadBalancerIngressView);
part!(IngressLoadBalancerIngress);
impl<'a> IngressLoadBalancerIngressView<'a> {
    pub fn ip(self) -> &'a str { read(self.0, "ip") }
    pub fn hostname(self) -> &'a str { read(self.0, "hostname") }
    pub fn ports(self) -> r::List<'a, g::networking::v1::IngressPortStatusView<'a>> { read(self.0, "ports") }
}
impl IngressLoadBalancerIngress {
    pub fn set_ip(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "ip", value.into_field()) }
    pub fn with_ip(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "ip", value.into_field()); self }
    pub fn set_hostname(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "hostname", value.into_field()) }
    pub fn with_hostname(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "hostname", value.into_field()); self }
    pub fn push_ports(&mut self, item: impl o::IntoField<g::networking::v1::IngressPortStatus>) { push(&mut self.0, "ports", item) }
    pub fn set_ports(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::IngressPortStatus>>) { set_list(&mut self.0, "ports", value) }
    pub fn with_ports(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::IngressPortStatus>>) -> Self { set_list(&mut self.0, "ports", value); self }
}

object!(IngressLoadBalancerStatus, IngressLoadBalancerStatusView);
part!(IngressLoadBalancerStatus);
impl<'a> IngressLoadBalancerStatusView<'a> {
    pub fn ingress(self) -> r::List<'a, g::networking::v1::IngressLoadBalancerIngressView<'a>> { read(self.0, "ingress") }
}
impl IngressLoadBalancerStatus {
    pub fn push_ingress(&mut self, item: impl o::IntoField<g::networking::v1::IngressLoadBalancerIngress>) { push(&mut self.0, "ingress", item) }
    pub fn set_ingress(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::IngressLoadBalancerIngress>>) { set_list(&mut self.0, "ingress", value) }
    pub fn with_ingress(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::IngressLoadBalancerIngress>>) -> Self { set_list(&mut self.0, "ingress", value); self }
}

object!(IngressPortStatus, IngressPortStatusView);
part!(IngressPortStatus);
impl<'a> IngressPortStatusView<'a> {
    pub fn port(self) -> i32 { read(self.0, "port") }
    pub fn protocol(self) -> &'a str { read(self.0, "protocol") }
    pub fn error(self) -> Option<&'a str> { find(self.0, "error") }
}
impl IngressPortStatus {
    pub fn set_port(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "port", value.into_field()) }
    pub fn with_port(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "port", value.into_field()); self }
    pub fn set_protocol(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "protocol", value.into_field()) }
    pub fn with_protocol(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "protocol", value.into_field()); self }
    pub fn set_error(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "error", value.into_field()) }
    pub fn with_error(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "error", value.into_field()); self }
}

object!(IngressRule, IngressRuleView);
part!(IngressRule);
impl<'a> IngressRuleView<'a> {
    pub fn host(self) -> &'a str { read(self.0, "host") }
    pub fn http(self) -> Option<g::networking::v1::HTTPIngressRuleValueView<'a>> { find(self.0, "http") }
}
impl IngressRule {
    pub fn set_host(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "host", value.into_field()) }
    pub fn with_host(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "host", value.into_field()); self }
    pub fn edit_http<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::HTTPIngressRuleValue) -> R) -> R { edit(&mut self.0, "http", change) }
    pub fn set_http(&mut self, value: impl o::IntoField<g::networking::v1::HTTPIngressRuleValue>) { set(&mut self.0, "http", value.into_field()) }
    pub fn with_http(mut self, value: impl o::IntoField<g::networking::v1::HTTPIngressRuleValue>) -> Self { set(&mut self.0, "http", value.into_field()); self }
}

object!(IngressRuleValue, IngressRuleValueView);
part!(IngressRuleValue);
impl<'a> IngressRuleValueView<'a> {
    pub fn http(self) -> Option<g::networking::v1::HTTPIngressRuleValueView<'a>> { find(self.0, "http") }
}
impl IngressRuleValue {
    pub fn edit_http<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::HTTPIngressRuleValue) -> R) -> R { edit(&mut self.0, "http", change) }
    pub fn set_http(&mut self, value: impl o::IntoField<g::networking::v1::HTTPIngressRuleValue>) { set(&mut self.0, "http", value.into_field()) }
    pub fn with_http(mut self, value: impl o::IntoField<g::networking::v1::HTTPIngressRuleValue>) -> Self { set(&mut self.0, "http", value.into_field()); self }
}

object!(IngressServiceBackend, IngressServiceBackendView);
part!(IngressServiceBackend);
impl<'a> IngressServiceBackendView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn port(self) -> g::networking::v1::ServiceBackendPortView<'a> { read(self.0, "port") }
}
impl IngressServiceBackend {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn edit_port<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::ServiceBackendPort) -> R) -> R { edit(&mut self.0, "port", change) }
    pub fn set_port(&mut self, value: impl o::IntoField<g::networking::v1::ServiceBackendPort>) { set(&mut self.0, "port", value.into_field()) }
    pub fn with_port(mut self, value: impl o::IntoField<g::networking::v1::ServiceBackendPort>) -> Self { set(&mut self.0, "port", value.into_field()); self }
}

object!(IngressSpec, IngressSpecView);
part!(IngressSpec);
impl<'a> IngressSpecView<'a> {
    pub fn ingress_class_name(self) -> Option<&'a str> { find(self.0, "ingressClassName") }
    pub fn default_backend(self) -> Option<g::networking::v1::IngressBackendView<'a>> { find(self.0, "defaultBackend") }
    pub fn tls(self) -> r::List<'a, g::networking::v1::IngressTLSView<'a>> { read(self.0, "tls") }
    pub fn rules(self) -> r::List<'a, g::networking::v1::IngressRuleView<'a>> { read(self.0, "rules") }
}
impl IngressSpec {
    pub fn set_ingress_class_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "ingressClassName", value.into_field()) }
    pub fn with_ingress_class_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "ingressClassName", value.into_field()); self }
    pub fn edit_default_backend<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::IngressBackend) -> R) -> R { edit(&mut self.0, "defaultBackend", change) }
    pub fn set_default_backend(&mut self, value: impl o::IntoField<g::networking::v1::IngressBackend>) { set(&mut self.0, "defaultBackend", value.into_field()) }
    pub fn with_default_backend(mut self, value: impl o::IntoField<g::networking::v1::IngressBackend>) -> Self { set(&mut self.0, "defaultBackend", value.into_field()); self }
    pub fn push_tls(&mut self, item: impl o::IntoField<g::networking::v1::IngressTLS>) { push(&mut self.0, "tls", item) }
    pub fn set_tls(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::IngressTLS>>) { set_list(&mut self.0, "tls", value) }
    pub fn with_tls(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::IngressTLS>>) -> Self { set_list(&mut self.0, "tls", value); self }
    pub fn push_rules(&mut self, item: impl o::IntoField<g::networking::v1::IngressRule>) { push(&mut self.0, "rules", item) }
    pub fn set_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::IngressRule>>) { set_list(&mut self.0, "rules", value) }
    pub fn with_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::IngressRule>>) -> Self { set_list(&mut self.0, "rules", value); self }
}

object!(IngressStatus, IngressStatusView);
part!(IngressStatus);
impl<'a> IngressStatusView<'a> {
    pub fn load_balancer(self) -> g::networking::v1::IngressLoadBalancerStatusView<'a> { read(self.0, "loadBalancer") }
}
impl IngressStatus {
    pub fn edit_load_balancer<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::IngressLoadBalancerStatus) -> R) -> R { edit(&mut self.0, "loadBalancer", change) }
    pub fn set_load_balancer(&mut self, value: impl o::IntoField<g::networking::v1::IngressLoadBalancerStatus>) { set(&mut self.0, "loadBalancer", value.into_field()) }
    pub fn with_load_balancer(mut self, value: impl o::IntoField<g::networking::v1::IngressLoadBalancerStatus>) -> Self { set(&mut self.0, "loadBalancer", value.into_field()); self }
}

object!(IngressTLS, IngressTLSView);
part!(IngressTLS);
impl<'a> IngressTLSView<'a> {
    pub fn hosts(self) -> r::List<'a, &'a str> { read(self.0, "hosts") }
    pub fn secret_name(self) -> &'a str { read(self.0, "secretName") }
}
impl IngressTLS {
    pub fn push_hosts(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "hosts", item) }
    pub fn set_hosts(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "hosts", value) }
    pub fn with_hosts(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "hosts", value); self }
    pub fn set_secret_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "secretName", value.into_field()) }
    pub fn with_secret_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "secretName", value.into_field()); self }
}

object!(NetworkPolicy, NetworkPolicyView);
kind!(NetworkPolicy, "networking.k8s.io", "v1", "networking.k8s.io/v1", "networkpolicies");
impl<'a> NetworkPolicyView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::networking::v1::NetworkPolicySpecView<'a> { read(self.0, "spec") }
}
impl NetworkPolicy {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::NetworkPolicySpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::networking::v1::NetworkPolicySpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::networking::v1::NetworkPolicySpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(NetworkPolicyEgressRule, NetworkPolicyEgressRuleView);
part!(NetworkPolicyEgressRule);
impl<'a> NetworkPolicyEgressRuleView<'a> {
    pub fn ports(self) -> r::List<'a, g::networking::v1::NetworkPolicyPortView<'a>> { read(self.0, "ports") }
    pub fn to(self) -> r::List<'a, g::networking::v1::NetworkPolicyPeerView<'a>> { read(self.0, "to") }
}
impl NetworkPolicyEgressRule {
    pub fn push_ports(&mut self, item: impl o::IntoField<g::networking::v1::NetworkPolicyPort>) { push(&mut self.0, "ports", item) }
    pub fn set_ports(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::NetworkPolicyPort>>) { set_list(&mut self.0, "ports", value) }
    pub fn with_ports(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::NetworkPolicyPort>>) -> Self { set_list(&mut self.0, "ports", value); self }
    pub fn push_to(&mut self, item: impl o::IntoField<g::networking::v1::NetworkPolicyPeer>) { push(&mut self.0, "to", item) }
    pub fn set_to(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::NetworkPolicyPeer>>) { set_list(&mut self.0, "to", value) }
    pub fn with_to(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::NetworkPolicyPeer>>) -> Self { set_list(&mut self.0, "to", value); self }
}

object!(NetworkPolicyIngressRule, NetworkPolicyIngressRuleView);
part!(NetworkPolicyIngressRule);
impl<'a> NetworkPolicyIngressRuleView<'a> {
    pub fn ports(self) -> r::List<'a, g::networking::v1::NetworkPolicyPortView<'a>> { read(self.0, "ports") }
    pub fn from(self) -> r::List<'a, g::networking::v1::NetworkPolicyPeerView<'a>> { read(self.0, "from") }
}
impl NetworkPolicyIngressRule {
    pub fn push_ports(&mut self, item: impl o::IntoField<g::networking::v1::NetworkPolicyPort>) { push(&mut self.0, "ports", item) }
    pub fn set_ports(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::NetworkPolicyPort>>) { set_list(&mut self.0, "ports", value) }
    pub fn with_ports(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::NetworkPolicyPort>>) -> Self { set_list(&mut self.0, "ports", value); self }
    pub fn push_from(&mut self, item: impl o::IntoField<g::networking::v1::NetworkPolicyPeer>) { push(&mut self.0, "from", item) }
    pub fn set_from(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::NetworkPolicyPeer>>) { set_list(&mut self.0, "from", value) }
    pub fn with_from(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::NetworkPolicyPeer>>) -> Self { set_list(&mut self.0, "from", value); self }
}

object!(NetworkPolicyList, NetworkPolicyListView);
part!(NetworkPolicyList);
impl<'a> NetworkPolicyListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::networking::v1::NetworkPolicyView<'a>> { read(self.0, "items") }
}
impl NetworkPolicyList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::networking::v1::NetworkPolicy>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::NetworkPolicy>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::NetworkPolicy>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(NetworkPolicyPeer, NetworkPolicyPeerView);
part!(NetworkPolicyPeer);
impl<'a> NetworkPolicyPeerView<'a> {
    pub fn pod_selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "podSelector") }
    pub fn namespace_selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "namespaceSelector") }
    pub fn ip_block(self) -> Option<g::networking::v1::IPBlockView<'a>> { find(self.0, "ipBlock") }
}
impl NetworkPolicyPeer {
    pub fn edit_pod_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "podSelector", change) }
    pub fn set_pod_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "podSelector", value.into_field()) }
    pub fn with_pod_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "podSelector", value.into_field()); self }
    pub fn edit_namespace_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "namespaceSelector", change) }
    pub fn set_namespace_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "namespaceSelector", value.into_field()) }
    pub fn with_namespace_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "namespaceSelector", value.into_field()); self }
    pub fn edit_ip_block<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::IPBlock) -> R) -> R { edit(&mut self.0, "ipBlock", change) }
    pub fn set_ip_block(&mut self, value: impl o::IntoField<g::networking::v1::IPBlock>) { set(&mut self.0, "ipBlock", value.into_field()) }
    pub fn with_ip_block(mut self, value: impl o::IntoField<g::networking::v1::IPBlock>) -> Self { set(&mut self.0, "ipBlock", value.into_field()); self }
}

object!(NetworkPolicyPort, NetworkPolicyPortView);
part!(NetworkPolicyPort);
impl<'a> NetworkPolicyPortView<'a> {
    pub fn protocol(self) -> Option<&'a str> { find(self.0, "protocol") }
    pub fn port(self) -> Option<r::IntOrString<'a>> { find(self.0, "port") }
    pub fn end_port(self) -> Option<i32> { find(self.0, "endPort") }
}
impl NetworkPolicyPort {
    pub fn set_protocol(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "protocol", value.into_field()) }
    pub fn with_protocol(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "protocol", value.into_field()); self }
    pub fn set_port(&mut self, value: impl o::IntoField<r::IntOrString<'static>>) { set(&mut self.0, "port", value.into_field()) }
    pub fn with_port(mut self, value: impl o::IntoField<r::IntOrString<'static>>) -> Self { set(&mut self.0, "port", value.into_field()); self }
    pub fn set_end_port(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "endPort", value.into_field()) }
    pub fn with_end_port(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "endPort", value.into_field()); self }
}

object!(NetworkPolicySpec, NetworkPolicySpecView);
part!(NetworkPolicySpec);
impl<'a> NetworkPolicySpecView<'a> {
    pub fn pod_selector(self) -> g::meta::v1::LabelSelectorView<'a> { read(self.0, "podSelector") }
    pub fn ingress(self) -> r::List<'a, g::networking::v1::NetworkPolicyIngressRuleView<'a>> { read(self.0, "ingress") }
    pub fn egress(self) -> r::List<'a, g::networking::v1::NetworkPolicyEgressRuleView<'a>> { read(self.0, "egress") }
    pub fn policy_types(self) -> r::List<'a, &'a str> { read(self.0, "policyTypes") }
}
impl NetworkPolicySpec {
    pub fn edit_pod_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "podSelector", change) }
    pub fn set_pod_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "podSelector", value.into_field()) }
    pub fn with_pod_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "podSelector", value.into_field()); self }
    pub fn push_ingress(&mut self, item: impl o::IntoField<g::networking::v1::NetworkPolicyIngressRule>) { push(&mut self.0, "ingress", item) }
    pub fn set_ingress(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::NetworkPolicyIngressRule>>) { set_list(&mut self.0, "ingress", value) }
    pub fn with_ingress(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::NetworkPolicyIngressRule>>) -> Self { set_list(&mut self.0, "ingress", value); self }
    pub fn push_egress(&mut self, item: impl o::IntoField<g::networking::v1::NetworkPolicyEgressRule>) { push(&mut self.0, "egress", item) }
    pub fn set_egress(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::NetworkPolicyEgressRule>>) { set_list(&mut self.0, "egress", value) }
    pub fn with_egress(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::NetworkPolicyEgressRule>>) -> Self { set_list(&mut self.0, "egress", value); self }
    pub fn push_policy_types(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "policyTypes", item) }
    pub fn set_policy_types(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "policyTypes", value) }
    pub fn with_policy_types(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "policyTypes", value); self }
}

object!(ParentReference, ParentReferenceView);
part!(ParentReference);
impl<'a> ParentReferenceView<'a> {
    pub fn group(self) -> &'a str { read(self.0, "group") }
    pub fn resource(self) -> &'a str { read(self.0, "resource") }
    pub fn namespace(self) -> &'a str { read(self.0, "namespace") }
    pub fn name(self) -> &'a str { read(self.0, "name") }
}
impl ParentReference {
    pub fn set_group(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "group", value.into_field()) }
    pub fn with_group(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "group", value.into_field()); self }
    pub fn set_resource(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "resource", value.into_field()) }
    pub fn with_resource(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "resource", value.into_field()); self }
    pub fn set_namespace(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "namespace", value.into_field()) }
    pub fn with_namespace(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "namespace", value.into_field()); self }
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
}

object!(ServiceBackendPort, ServiceBackendPortView);
part!(ServiceBackendPort);
impl<'a> ServiceBackendPortView<'a> {
    pub fn name(self) -> &'a str { read(self.0, "name") }
    pub fn number(self) -> i32 { read(self.0, "number") }
}
impl ServiceBackendPort {
    pub fn set_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "name", value.into_field()) }
    pub fn with_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "name", value.into_field()); self }
    pub fn set_number(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "number", value.into_field()) }
    pub fn with_number(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "number", value.into_field()); self }
}

object!(ServiceCIDR, ServiceCIDRView);
kind!(ServiceCIDR, "networking.k8s.io", "v1", "networking.k8s.io/v1", "servicecidrs");
impl<'a> ServiceCIDRView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::networking::v1::ServiceCIDRSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::networking::v1::ServiceCIDRStatusView<'a> { read(self.0, "status") }
}
impl ServiceCIDR {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::ServiceCIDRSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::networking::v1::ServiceCIDRSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::networking::v1::ServiceCIDRSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::networking::v1::ServiceCIDRStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::networking::v1::ServiceCIDRStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::networking::v1::ServiceCIDRStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(ServiceCIDRList, ServiceCIDRListView);
part!(ServiceCIDRList);
impl<'a> ServiceCIDRListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::networking::v1::ServiceCIDRView<'a>> { read(self.0, "items") }
}
impl ServiceCIDRList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::networking::v1::ServiceCIDR>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::ServiceCIDR>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::networking::v1::ServiceCIDR>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(ServiceCIDRSpec, ServiceCIDRSpecView);
part!(ServiceCIDRSpec);
impl<'a> ServiceCIDRSpecView<'a> {
    pub fn cidrs(self) -> r::List<'a, &'a str> { read(self.0, "cidrs") }
}
impl ServiceCIDRSpec {
    pub fn push_cidrs(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "cidrs", item) }
    pub fn set_cidrs(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "cidrs", value) }
    pub fn with_cidrs(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "cidrs", value); self }
}

object!(ServiceCIDRStatus, ServiceCIDRStatusView);
part!(ServiceCIDRStatus);
impl<'a> ServiceCIDRStatusView<'a> {
    pub fn conditions(self) -> r::List<'a, g::meta::v1::ConditionView<'a>> { read(self.0, "conditions") }
}
impl ServiceCIDRStatus {
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::meta::v1::Condition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::Condition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::meta::v1::Condition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
}
