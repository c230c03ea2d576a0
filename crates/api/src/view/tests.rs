//! Views read alike from a tree and from a text, and no value stops them.

use super::core::v1::{Container, Pod, PodSpec, PodView};
use super::meta::v1::ObjectMeta;
use super::*;
use crate::document::{Document, Node};
use crate::quantity::Quantity;
use serde_json::{Value, json};

/// Runs a check on an object in both forms.
fn both(value: &Value, check: impl Fn(PodView<'_>)) {
    check(PodView::over(Node::Value(value)));
    let document = Document::new(value.to_string().into_bytes().into());
    check(PodView::over(document.root()));
}

#[test]
fn a_pod_reads_alike_from_a_tree_and_from_a_text() {
    let pod = json!({
        "metadata": {"name": "a\"b", "labels": {"app": "web"}, "creationTimestamp": "2026-01-02T03:04:05Z"},
        "spec": {"priority": 0, "hostNetwork": true, "nodeSelector": {"disk": "ssd"}, "overhead": {"cpu": "250m"},
            "containers": [{"name": "c", "ports": [{"containerPort": 80}],
                "livenessProbe": {"httpGet": {"port": "web"}, "periodSeconds": 3}}]},
        "status": {"podIPs": [{"ip": "10.0.0.1"}]},
    });
    both(&pod, |pod| {
        assert_eq!(pod.metadata().name(), "a\"b");
        assert_eq!(pod.metadata().labels().get("app"), Some("web"));
        assert_eq!(pod.metadata().creation_timestamp().map(|at| at.to_string()), Some("2026-01-02T03:04:05Z".into()));
        assert_eq!((pod.spec().priority(), pod.spec().host_network(), pod.spec().node_name()), (Some(0), true, ""));
        assert_eq!(pod.spec().overhead().get("cpu"), Quantity::parse("250m").ok());
        let container = pod.spec().containers().first().expect("a container");
        assert_eq!(container.ports().iter().map(|port| port.container_port()).collect::<Vec<_>>(), [80]);
        let probe = container.liveness_probe().expect("a probe");
        assert_eq!(probe.http_get().and_then(|get| get.port()), Some(IntOrString::String("web")));
        assert_eq!(probe.period_seconds(), 3);
        assert_eq!(pod.status().pod_ips().first().map(|ip| ip.ip()), Some("10.0.0.1"));
    });
}

#[test]
fn null_absent_and_foreign_values_read_as_nothing() {
    for spec in [json!(null), json!(7), json!([]), json!({"containers": null, "nodeName": 3, "affinity": "none"})] {
        both(&json!({"metadata": null, "spec": spec}), |pod| {
            assert_eq!((pod.metadata().name(), pod.spec().node_name()), ("", ""));
            assert!(pod.spec().containers().is_empty() && pod.spec().affinity().is_none());
            assert!(pod.metadata().creation_timestamp().is_none());
        });
    }
    both(&json!({"spec": {"containers": [null, "x", {"name": "c"}]}}), |pod| {
        assert_eq!(pod.spec().containers().iter().map(|c| c.name()).collect::<Vec<_>>(), ["c"]);
    });
}

#[test]
fn an_own_object_is_filled_in_by_its_setters() {
    let mut pod = Pod::new()
        .with_metadata(ObjectMeta::new().with_name("web").with_labels([("app", "web")]))
        .with_spec(PodSpec::new().with_containers([Container::new().with_name("c")]));
    pod.edit_spec(|spec| {
        spec.set_priority(3);
        spec.set_tolerations(None::<super::core::v1::Toleration>);
        spec.push_containers(Container::new().with_name("d").with_stdin(true));
    });
    pod.edit_metadata(|meta| {
        meta.insert_labels("tier", "front");
        meta.insert_labels("app", None::<&str>);
    });
    pod.edit_status(|_| ());
    assert_eq!(
        *pod.value(),
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "labels": {"tier": "front"}},
            "spec": {"priority": 3, "containers": [{"name": "c"}, {"name": "d", "stdin": true}]}})
    );
    assert_eq!((Pod::KIND, Pod::PLURAL, Pod::API_VERSION), ("Pod", "pods", "v1"));
    let below_an_account = super::authentication::v1::TokenRequest::PLURAL;
    assert_eq!(below_an_account, "", "a token request has no collection of its own");
    assert_eq!(pod.view().spec().to_owned().view().priority(), Some(3));
}

#[test]
fn what_go_takes_for_equal_is_alike() {
    let check = |a: Value, b: Value, expected: bool| {
        assert_eq!(alike(Node::Value(&a), Node::Value(&b)), expected, "{a} and {b}");
    };
    check(json!({"a": 0, "b": [], "c": {"d": null}}), json!({}), true);
    check(json!({"a": 1}), json!({}), false);
    check(json!({"a": [{"x": ""}]}), json!({"a": [{}]}), true);
    check(json!({"a": [1, 2]}), json!({"a": [2, 1]}), false);
}
