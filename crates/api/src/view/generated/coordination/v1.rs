//! Generated from facts/coordination.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(Lease, LeaseView);
kind!(Lease, "coordination.k8s.io", "v1", "coordination.k8s.io/v1", "leases");
impl<'a> LeaseView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::coordination::v1::LeaseSpecView<'a> { read(self.0, "spec") }
}
impl Lease {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::coordination::v1::LeaseSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::coordination::v1::LeaseSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::coordination::v1::LeaseSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(LeaseList, LeaseListView);
part!(LeaseList);
impl<'a> LeaseListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::coordination::v1::LeaseView<'a>> { read(self.0, "items") }
}
impl LeaseList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::coordination::v1::Lease>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::coordination::v1::Lease>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::coordination::v1::Lease>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(LeaseSpec, LeaseSpecView);
part!(LeaseSpec);
impl<'a> LeaseSpecView<'a> {
    pub fn holder_identity(self) -> Option<&'a str> { find(self.0, "holderIdentity") }
    pub fn lease_duration_seconds(self) -> Option<i32> { find(self.0, "leaseDurationSeconds") }
    pub fn acquire_time(self) -> Option<r::Timestamp> { find(self.0, "acquireTime") }
    pub fn renew_time(self) -> Option<r::Timestamp> { find(self.0, "renewTime") }
    pub fn lease_transitions(self) -> Option<i32> { find(self.0, "leaseTransitions") }
    pub fn strategy(self) -> Option<&'a str> { find(self.0, "strategy") }
    pub fn preferred_holder(self) -> Option<&'a str> { find(self.0, "preferredHolder") }
}
impl LeaseSpec {
    pub fn set_holder_identity(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "holderIdentity", value.into_field()) }
    pub fn with_holder_identity(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "holderIdentity", value.into_field()); self }
    pub fn set_lease_duration_seconds(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "leaseDurationSeconds", value.into_field()) }
    pub fn with_lease_duration_seconds(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "leaseDurationSeconds", value.into_field()); self }
    pub fn set_acquire_time(&mut self, value: impl o::IntoField<o::MicroTime>) { set(&mut self.0, "acquireTime", value.into_field()) }
    pub fn with_acquire_time(mut self, value: impl o::IntoField<o::MicroTime>) -> Self { set(&mut self.0, "acquireTime", value.into_field()); self }
    pub fn set_renew_time(&mut self, value: impl o::IntoField<o::MicroTime>) { set(&mut self.0, "renewTime", value.into_field()) }
    pub fn with_renew_time(mut self, value: impl o::IntoField<o::MicroTime>) -> Self { set(&mut self.0, "renewTime", value.into_field()); self }
    pub fn set_lease_transitions(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "leaseTransitions", value.into_field()) }
    pub fn with_lease_transitions(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "leaseTransitions", value.into_field()); self }
    pub fn set_strategy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "strategy", value.into_field()) }
    pub fn with_strategy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "strategy", value.into_field()); self }
    pub fn set_preferred_holder(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "preferredHolder", value.into_field()) }
    pub fn with_preferred_holder(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "preferredHolder", value.into_field()); self }
}
