//! Event: the strategy of a note about what happened to an object. The group
//! events.k8s.io shows the same stock in another shape; see `events/event.rs`.

use crate::read::{Read, ReadNode};
use crate::validation::each;
use crate::{Strategy, names, print};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use jiff::Timestamp;
use serde_json::Value;

pub(crate) struct Event;

impl Strategy for Event {
    fn validate(&self, event: &Value) -> ErrorList {
        validate_event(event, "reportingComponent")
    }

    fn selectable_fields(&self, event: Node<'_>) -> Vec<(&'static str, String)> {
        selectable_fields(event)
    }

    fn computed_cells(&self, event: Node<'_>, now: Timestamp) -> Vec<Value> {
        cells(event, now)
    }
}

/// The rules that both groups share, on an event in the core shape. `reporter` is what
/// the asking group calls the field of the reporting controller.
pub(crate) fn validate_event(event: &Value, reporter: &str) -> ErrorList {
    let mut errors = ErrorList::new();
    let namespace = event.namespace();
    let involved = event.field("involvedObject").text("namespace");
    let mismatch = |errors: &mut ErrorList| {
        let path = Path::new("involvedObject").child("namespace");
        errors.push(Error::invalid(&path, involved, "does not match event.namespace"));
    };
    if !event.has("eventTime") {
        // An event about an object without namespace is kept in "default".
        let matches = if involved.is_empty() { matches!(namespace, "" | "default") } else { namespace == involved };
        if !matches {
            mismatch(&mut errors);
        }
    } else {
        if involved.is_empty() && !matches!(namespace, "default" | "kube-system") {
            mismatch(&mut errors);
        }
        let controller = event.text("reportingComponent");
        if controller.is_empty() {
            errors.push(Error::required(&Path::new(reporter), ""));
        }
        each(&mut errors, &Path::new(reporter), controller, names::is_qualified_name(controller));
        for (key, required, most) in
            [("reportingInstance", true, 128), ("action", true, 128), ("reason", true, 128), ("message", false, 1024)]
        {
            let text = event.text(key);
            if text.is_empty() && required {
                errors.push(Error::required(&Path::new(key), ""));
            }
            if text.len() > most {
                errors.push(Error::invalid(&Path::new(key), "", format!("can have at most {most} characters")));
            }
        }
    }
    each(&mut errors, &Path::new("namespace"), namespace, names::is_dns1123_subdomain(namespace));
    errors
}

pub(crate) fn selectable_fields(event: Node<'_>) -> Vec<(&'static str, String)> {
    let involved = event.field("involvedObject");
    let reporter = event.text("reportingComponent");
    let source = match event.field("source").text("component") {
        "" => reporter,
        component => component,
    };
    vec![
        ("involvedObject.kind", involved.text("kind").into()),
        ("involvedObject.namespace", involved.text("namespace").into()),
        ("involvedObject.name", involved.text("name").into()),
        ("involvedObject.uid", involved.text("uid").into()),
        ("involvedObject.apiVersion", involved.text("apiVersion").into()),
        ("involvedObject.resourceVersion", involved.text("resourceVersion").into()),
        ("involvedObject.fieldPath", involved.text("fieldPath").into()),
        ("reason", event.text("reason").into()),
        ("reportingComponent", reporter.into()),
        ("source", source.into()),
        ("type", event.text("type").into()),
    ]
}

pub(crate) fn cells(event: Node<'_>, now: Timestamp) -> Vec<Value> {
    let first = print::since(event.field("firstTimestamp").or(event.field("eventTime")), now);
    let mut last = match event.field("lastTimestamp") {
        Some(time) => print::since(Some(time), now),
        None => first.clone(),
    };
    let mut count = event.int("count").max(1);
    if let Some(series) = event.field("series") {
        last = print::since(series.field("lastObservedTime"), now);
        count = series.int("count");
    }
    let involved = event.field("involvedObject");
    let kind = involved.text("kind").to_lowercase();
    let target = match involved.text("name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    let source = event.field("source");
    let pick = |own: &str, reported: &str| if own.is_empty() { reported.to_owned() } else { own.to_owned() };
    let component = pick(source.text("component"), event.text("reportingComponent"));
    let host = pick(source.text("host"), event.text("reportingInstance"));
    let source = if host.is_empty() { component } else { format!("{component}, {host}") };
    vec![
        last.into(),
        target.into(),
        involved.text("fieldPath").into(),
        source.into(),
        event.text("message").trim().into(),
        first.into(),
        count.into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;
    use crate::testing::row;
    use serde_json::json;

    fn event() -> Value {
        json!({
            "metadata": {"name": "web.1", "namespace": "default"},
            "involvedObject": {"kind": "Pod", "name": "web", "namespace": "default", "fieldPath": "spec.containers{web}"},
            "reason": "Pulled", "message": " done ", "type": "Normal", "count": 3,
            "source": {"component": "kubelet", "host": "a"},
            "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:09:00Z",
        })
    }

    #[test]
    fn an_event_stands_beside_its_object() {
        check(&Event, event(), &[]);
        let mut other = event();
        other["involvedObject"]["namespace"] = "kube-system".into();
        check(
            &Event,
            other,
            &["involvedObject.namespace: Invalid value: \"kube-system\": does not match event.namespace"],
        );
    }

    #[test]
    fn an_event_is_shown_as_upstream_shows_it() {
        assert_eq!(
            Value::from(row("Event").cells(Node::Value(&event()), crate::testing::now())),
            json!([
                "60s",
                "Normal",
                "Pulled",
                "pod/web",
                "spec.containers{web}",
                "kubelet, a",
                "done",
                "10m",
                3,
                "web.1"
            ])
        );
    }
}
