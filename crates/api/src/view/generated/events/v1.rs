//! Generated from facts/events.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(Event, EventView);
kind!(Event, "events.k8s.io", "v1", "events.k8s.io/v1", "events");
impl<'a> EventView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn event_time(self) -> Option<r::Timestamp> { find(self.0, "eventTime") }
    pub fn series(self) -> Option<g::events::v1::EventSeriesView<'a>> { find(self.0, "series") }
    pub fn reporting_controller(self) -> &'a str { read(self.0, "reportingController") }
    pub fn reporting_instance(self) -> &'a str { read(self.0, "reportingInstance") }
    pub fn action(self) -> &'a str { read(self.0, "action") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn regarding(self) -> g::core::v1::ObjectReferenceView<'a> { read(self.0, "regarding") }
    pub fn related(self) -> Option<g::core::v1::ObjectReferenceView<'a>> { find(self.0, "related") }
    pub fn note(self) -> &'a str { read(self.0, "note") }
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn deprecated_source(self) -> g::core::v1::EventSourceView<'a> { read(self.0, "deprecatedSource") }
    pub fn deprecated_first_timestamp(self) -> Option<r::Timestamp> { find(self.0, "deprecatedFirstTimestamp") }
    pub fn deprecated_last_timestamp(self) -> Option<r::Timestamp> { find(self.0, "deprecatedLastTimestamp") }
    pub fn deprecated_count(self) -> i32 { read(self.0, "deprecatedCount") }
}
impl Event {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn set_event_time(&mut self, value: impl o::IntoField<o::MicroTime>) { set(&mut self.0, "eventTime", value.into_field()) }
    pub fn with_event_time(mut self, value: impl o::IntoField<o::MicroTime>) -> Self { set(&mut self.0, "eventTime", value.into_field()); self }
    pub fn edit_series<R>(&mut self, change: impl FnOnce(&mut g::events::v1::EventSeries) -> R) -> R { edit(&mut self.0, "series", change) }
    pub fn set_series(&mut self, value: impl o::IntoField<g::events::v1::EventSeries>) { set(&mut self.0, "series", value.into_field()) }
    pub fn with_series(mut self, value: impl o::IntoField<g::events::v1::EventSeries>) -> Self { set(&mut self.0, "series", value.into_field()); self }
    pub fn set_reporting_controller(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reportingController", value.into_field()) }
    pub fn with_reporting_controller(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reportingController", value.into_field()); self }
    pub fn set_reporting_instance(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reportingInstance", value.into_field()) }
    pub fn with_reporting_instance(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reportingInstance", value.into_field()); self }
    pub fn set_action(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "action", value.into_field()) }
    pub fn with_action(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "action", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn edit_regarding<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ObjectReference) -> R) -> R { edit(&mut self.0, "regarding", change) }
    pub fn set_regarding(&mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) { set(&mut self.0, "regarding", value.into_field()) }
    pub fn with_regarding(mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) -> Self { set(&mut self.0, "regarding", value.into_field()); self }
    pub fn edit_related<R>(&mut self, change: impl FnOnce(&mut g::core::v1::ObjectReference) -> R) -> R { edit(&mut self.0, "related", change) }
    pub fn set_related(&mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) { set(&mut self.0, "related", value.into_field()) }
    pub fn with_related(mut self, value: impl o::IntoField<g::core::v1::ObjectReference>) -> Self { set(&mut self.0, "related", value.into_field()); self }
    pub fn set_note(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "note", value.into_field()) }
    pub fn with_note(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "note", value.into_field()); self }
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn edit_deprecated_source<R>(&mut self, change: impl FnOnce(&mut g::core::v1::EventSource) -> R) -> R { edit(&mut self.0, "deprecatedSource", change) }
    pub fn set_deprecated_source(&mut self, value: impl o::IntoField<g::core::v1::EventSource>) { set(&mut self.0, "deprecatedSource", value.into_field()) }
    pub fn with_deprecated_source(mut self, value: impl o::IntoField<g::core::v1::EventSource>) -> Self { set(&mut self.0, "deprecatedSource", value.into_field()); self }
    pub fn set_deprecated_first_timestamp(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "deprecatedFirstTimestamp", value.into_field()) }
    pub fn with_deprecated_first_timestamp(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "deprecatedFirstTimestamp", value.into_field()); self }
    pub fn set_deprecated_last_timestamp(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "deprecatedLastTimestamp", value.into_field()) }
    pub fn with_deprecated_last_timestamp(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "deprecatedLastTimestamp", value.into_field()); self }
    pub fn set_deprecated_count(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "deprecatedCount", value.into_field()) }
    pub fn with_deprecated_count(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "deprecatedCount", value.into_field()); self }
}

object!(EventList, EventListView);
part!(EventList);
impl<'a> EventListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::events::v1::EventView<'a>> { read(self.0, "items") }
}
impl EventList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::events::v1::Event>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::events::v1::Event>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::events::v1::Event>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(EventSeries, EventSeriesView);
part!(EventSeries);
impl<'a> EventSeriesView<'a> {
    pub fn count(self) -> i32 { read(self.0, "count") }
    pub fn last_observed_time(self) -> Option<r::Timestamp> { find(self.0, "lastObservedTime") }
}
impl EventSeries {
    pub fn set_count(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "count", value.into_field()) }
    pub fn with_count(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "count", value.into_field()); self }
    pub fn set_last_observed_time(&mut self, value: impl o::IntoField<o::MicroTime>) { set(&mut self.0, "lastObservedTime", value.into_field()) }
    pub fn with_last_observed_time(mut self, value: impl o::IntoField<o::MicroTime>) -> Self { set(&mut self.0, "lastObservedTime", value.into_field()); self }
}
