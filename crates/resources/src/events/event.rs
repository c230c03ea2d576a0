//! Event of events.k8s.io: the same stock as the core group's, under newer names
//! (upstream's pkg/apis/events/v1/conversion.go), with stricter rules on writing.

use crate::Strategy;
use crate::core::event;
use crate::read::Read;
use crate::validation::{FIELD_IS_IMMUTABLE, semantically_equal, shown};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::gvk::GroupVersionKind;
use ferry_api::object::Meta;
use jiff::Timestamp;
use serde_json::Value;

pub(crate) struct Event;

/// What this group calls a field, and what the core group, in which events are stored, does.
const RENAMED: &[(&str, &str)] = &[
    ("regarding", "involvedObject"),
    ("note", "message"),
    ("reportingController", "reportingComponent"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
];

impl Strategy for Event {
    fn to_stored(&self, object: &mut Value) {
        object.set_gvk(&GroupVersionKind::new("", "v1", "Event"));
        rename(object, RENAMED.iter().copied());
    }

    fn from_stored(&self, object: &mut Value) {
        object.set_gvk(&GroupVersionKind::new("events.k8s.io", "v1", "Event"));
        rename(object, RENAMED.iter().map(|(ours, stored)| (*stored, *ours)));
    }

    fn validate(&self, object: &Value) -> ErrorList {
        let stored = stored(object);
        let mut errors = event::validate_event(&stored, "reportingController");
        validate_series(&mut errors, &stored);
        if !stored.has("eventTime") {
            errors.push(Error::required(&Path::new("eventTime"), ""));
        }
        let kind = stored.text("type");
        if !matches!(kind, "Normal" | "Warning") {
            errors.push(Error::invalid(&Path::new("type"), "", format!("has invalid value: {kind}")));
        }
        const UNSET: &str = "needs to be unset";
        for key in ["firstTimestamp", "lastTimestamp"] {
            if stored.has(key) {
                errors.push(Error::invalid(&Path::new(key), "", UNSET));
            }
        }
        if stored.int("count") != 0 {
            errors.push(Error::invalid(&Path::new("count"), "", UNSET));
        }
        let source = stored.field("source");
        if !source.text("component").is_empty() || !source.text("host").is_empty() {
            errors.push(Error::invalid(&Path::new("source"), "", UNSET));
        }
        errors
    }

    /// An event tells what was; only its series goes on.
    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let (new, old) = (stored(new), stored(old));
        let mut errors = event::validate_event(&new, "reportingController");
        if new.field("series") != old.field("series") {
            validate_series(&mut errors, &new);
        }
        for (key, shown_as) in [
            ("involvedObject", "involvedObject"),
            ("reason", "reason"),
            ("message", "message"),
            ("source", "source"),
            ("firstTimestamp", "firstTimestamp"),
            ("lastTimestamp", "lastTimestamp"),
            ("count", "count"),
            ("type", "type"),
            ("eventTime", "eventTime"),
            ("action", "action"),
            ("related", "related"),
            ("reportingComponent", "reportingController"),
            ("reportingInstance", "reportingInstance"),
        ] {
            if !semantically_equal(new.field(key), old.field(key), None, false) {
                errors.push(Error::invalid(&Path::new(shown_as), shown(new.field(key)), FIELD_IS_IMMUTABLE));
            }
        }
        errors
    }

    /// Under this group's names and under those of the stock, which watches compare.
    fn selectable_fields(&self, object: Node<'_>) -> Vec<(&'static str, String)> {
        let mut fields = event::selectable_fields(Node::Value(&stored(&object.to_value())));
        let ours = [
            ("regarding.kind", "involvedObject.kind"),
            ("regarding.namespace", "involvedObject.namespace"),
            ("regarding.name", "involvedObject.name"),
            ("regarding.uid", "involvedObject.uid"),
            ("regarding.apiVersion", "involvedObject.apiVersion"),
            ("regarding.resourceVersion", "involvedObject.resourceVersion"),
            ("regarding.fieldPath", "involvedObject.fieldPath"),
            ("reportingController", "reportingComponent"),
        ];
        for (name, stored) in ours {
            if let Some((_, value)) = fields.iter().find(|(key, _)| *key == stored) {
                let value = value.clone();
                fields.push((name, value));
            }
        }
        fields
    }

    fn computed_cells(&self, object: Node<'_>, now: Timestamp) -> Vec<Value> {
        event::cells(Node::Value(&stored(&object.to_value())), now)
    }
}

/// The event in the core shape, in which the rules are written.
fn stored(object: &Value) -> Value {
    let mut copy = object.clone();
    Event.to_stored(&mut copy);
    copy
}

fn rename<'a>(object: &mut Value, names: impl Iterator<Item = (&'a str, &'a str)>) {
    let Some(fields) = object.as_object_mut() else { return };
    for (from, to) in names {
        if let Some(value) = fields.remove(from) {
            fields.insert(to.to_owned(), value);
        }
    }
}

fn validate_series(errors: &mut ErrorList, event: &Value) {
    let Some(series) = event.field("series") else { return };
    if series.int("count") < 2 {
        errors.push(Error::invalid(&Path::new("series.count"), "", "should be at least 2"));
    }
    if !series.has("lastObservedTime") {
        errors.push(Error::required(&Path::new("series.lastObservedTime"), ""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, check_update};
    use serde_json::json;

    fn event() -> Value {
        json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"name": "web.1", "namespace": "default"},
            "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "ferry.io/scheduler",
            "reportingInstance": "a", "action": "Binding", "reason": "Scheduled", "type": "Normal",
            "note": "done", "regarding": {"kind": "Pod", "name": "web", "namespace": "default"},
        })
    }

    #[test]
    fn the_stock_is_the_core_groups_and_back() {
        let mut object = event();
        Event.to_stored(&mut object);
        assert_eq!(object["apiVersion"], "v1");
        assert_eq!((&object["message"], &object["involvedObject"]["name"]), (&json!("done"), &json!("web")));
        Event.from_stored(&mut object);
        assert_eq!(object, event());
    }

    #[test]
    fn writing_is_strict() {
        check(&Event, event(), &[]);
        let mut old_style = event();
        old_style["deprecatedCount"] = 1.into();
        old_style["type"] = "Odd".into();
        check(
            &Event,
            old_style,
            &["type: Invalid value: \"\": has invalid value: Odd", "count: Invalid value: \"\": needs to be unset"],
        );
    }

    #[test]
    fn only_the_series_goes_on() {
        let mut new = event();
        new["series"] = json!({"count": 2, "lastObservedTime": "2026-01-01T00:01:00.000000Z"});
        check_update(&Event, event(), new, &[]);
        let mut new = event();
        new["note"] = "other".into();
        check_update(&Event, event(), new, &["message: Invalid value: \"other\": field is immutable"]);
    }

    #[test]
    fn fields_are_selectable_under_both_names() {
        let fields = Event.selectable_fields(Node::Value(&event()));
        for name in ["regarding.name", "involvedObject.name"] {
            assert!(fields.contains(&(name, "web".to_owned())), "{name}");
        }
    }
}
