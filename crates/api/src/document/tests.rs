//! A text read by its index is the same object as the tree that serde_json makes of it.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e15..1e15_f64).prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(".{0,8}", inner, 0..6).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_text_and_its_tree_read_alike(value in any_json()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).expect("JSON")] {
            let mut index = Index::default();
            let node = index.read(&text).expect("JSON");
            prop_assert_eq!(&node.to_value(), &value);
            for (key, field) in node.entries() {
                prop_assert_eq!(node.get(key).map(Node::to_value), Some(field.to_value()).filter(|v| !v.is_null()));
            }
        }
    }

    #[test]
    fn a_kept_index_reads_like_a_wide_one(value in any_json(), padding in prop_oneof![Just(0_usize), Just(5_000), Just(70_000)]) {
        // A string of 4 KiB or a text of 64 KiB does not fit into narrow entries.
        let value = json!({"padding": "x".repeat(padding), "value": value, "after": ["é", "\n"]});
        let (document, seen) =
            Document::shared(value.to_string().into(), KeepIndex::Yes, |object| object.to_value()).expect("JSON");
        prop_assert_eq!((document.root().to_value(), seen), (value.clone(), value.clone()));
        prop_assert_eq!(&*document.root().to_json(), value.to_string());
    }

    #[test]
    fn no_text_stops_the_process(text in ".{0,80}") {
        let mut index = Index::default();
        let read = index.read(&text).map(Node::to_value);
        if serde_json::from_str::<Value>(&text).is_ok() {
            prop_assert!(read.is_ok());
        }
    }
}

#[test]
fn absent_null_and_foreign_fields_read_as_nothing() {
    let text = r#"{"a":null,"b":"x","c":{"d":[1,"two"]},"n":-7,"f":1.5}"#;
    let mut index = Index::default();
    let node = index.read(text).expect("JSON");
    assert!(node.get("a").is_none() && node.get("z").is_none());
    assert_eq!(node.get("b").and_then(Node::as_str), Some("x"));
    assert_eq!(node.get("b").and_then(Node::as_i64), None);
    assert_eq!(node.get("b").map(|b| b.items().count() + b.entries().count()), Some(0));
    assert_eq!(node.get("n").and_then(Node::as_i64), Some(-7));
    assert_eq!((node.get("f").and_then(Node::as_i64), node.get("f").and_then(Node::as_f64)), (None, Some(1.5)));
    assert_eq!(node.get("c").map(|c| c.to_json().into_owned()), Some(r#"{"d":[1,"two"]}"#.to_owned()));
}

#[test]
fn an_index_is_used_again_for_the_next_text() {
    let mut index = Index::default();
    assert_eq!(index.read(r#"{"a":"x\ny"}"#).map(Node::to_value), Ok(json!({"a": "x\ny"})));
    assert_eq!(index.read(r#"["\u00e9"]"#).map(Node::to_value), Ok(json!(["é"])));
    assert!(index.read(r#"{"a":}"#).is_err());
    let text = r#"{"fieldsV1":{"f:a":{"k:{\"b\":\"}\"}":[]}},"fieldsV2":1}"#;
    assert_eq!(index.read(text).map(Node::to_value).ok(), serde_json::from_str(text).ok());
    assert!(index.read(r#"{"fieldsV1":{"a":"#).is_err());
    assert_eq!(index.read("7").map(Node::to_value), Ok(json!(7)));
}

#[test]
fn a_document_reads_text_beyond_ascii_and_bytes_that_are_none_as_nothing() {
    let document = Document::new(r#"{"ä":"ö\u00fc","n":[1.5,"→"]}"#.into());
    let mut scratch = Index::default();
    for root in [document.read(&mut scratch), document.root()] {
        assert_eq!(root.get("ä").and_then(Node::as_str), Some("öü"));
        assert_eq!(root.get("n").map(|n| n.to_json().into_owned()), Some(r#"[1.5,"→"]"#.to_owned()));
    }
    assert_eq!(document.read(&mut Index::default()).to_value(), document.root().to_value());
    for bytes in [&b"{\"a\":\"\xff\"}"[..], b"{\"a\":"] {
        let document = Document::new(bytes.into());
        assert!(document.read(&mut Index::default()).is_null() && document.root().is_null());
        assert!(document.read(&mut Index::default()).is_null());
    }
}

/// A pod with the sets of two writers; uid and address are its own.
fn pod(uid: &str, ip: &str) -> Value {
    let (uid, ip) = (format!(r#"k:{{"uid":"{uid}"}}"#), format!(r#"k:{{"ip":"{ip}"}}"#));
    let labels = json!({".": {}, "f:app": {}, "f:pod-template-hash": {}});
    let container = json!({".": {}, "f:image": {}, "f:imagePullPolicy": {}, "f:name": {}, "f:resources": {}});
    let condition = json!({".": {}, "f:lastProbeTime": {}, "f:status": {}, "f:type": {}});
    json!({
        "metadata": {"name": "é", "managedFields": [
            {"manager": "m", "fieldsV1": {"f:metadata": {"f:labels": labels, "f:ownerReferences": {".": {}, uid: {}}},
                "f:spec": {"f:containers": {r#"k:{"name":"web"}"#: container}, "f:dnsPolicy": {}}}},
            {"manager": "k", "subresource": "status", "fieldsV1": {"f:status": {
                "f:conditions": {".": {}, r#"k:{"type":"Ready"}"#: condition}, "f:podIPs": {".": {}, ip: {"f:ip": {}}},
                "f:startTime": {}, "f:z": {".": {}, "f:a": {}, "f:b": {}, "f:c": {}}}}},
        ]},
        "spec": {"a": [1, "\n"], "fieldsV1": 7},
    })
}

#[test]
fn a_document_in_parts_reads_like_its_text() {
    let mut kept = Vec::new();
    for number in 0..5 {
        let value = pod(&format!("uid-{number}"), &format!("10.0.0.{number}"));
        let text = value.to_string();
        for keep in [KeepIndex::Yes, KeepIndex::No] {
            let (document, name) = Document::shared(text.clone().into(), keep, |object| {
                object.get("metadata").and_then(|m| m.get("name")).and_then(Node::as_str).map(str::to_owned)
            })
            .expect("JSON");
            assert_eq!(name.as_deref(), Some("é"));
            assert_eq!(document.to_bytes(), text.as_bytes());
            assert_eq!(document.text().len(), text.len());
            let mut scratch = Index::default();
            for root in [document.read(&mut scratch), document.root()] {
                assert_eq!(root.to_value(), value);
                assert_eq!(root.to_json(), text);
                let metadata = root.get("metadata").expect("metadata");
                assert_eq!(metadata.to_value(), value["metadata"]);
                assert_eq!(serde_json::from_str::<Value>(&metadata.to_json()).ok().as_ref(), value.get("metadata"));
                for (entry, expected) in metadata.get("managedFields").expect("sets").items().zip(0..) {
                    assert_eq!(entry.to_value(), value["metadata"]["managedFields"][expected]);
                }
                assert_eq!(root.get("spec").map(Node::to_value).as_ref(), value.get("spec"));
            }
            kept.push(document);
        }
    }
    // The first text of its kind stays whole; of the last only what is its own.
    assert_eq!(kept[0].text().pieces().count(), 1);
    let last = kept.last().expect("documents").text();
    assert_eq!(last.pieces().count(), 9);
    let own: usize = last.pieces().step_by(2).map(<[u8]>::len).sum();
    assert!(own < last.len() / 2, "{own} of {}", last.len());
    assert_eq!(last.from(12).to_bytes(), kept[9].to_bytes()[12..]);
    assert!(std::ptr::eq(last.pieces().nth(1).expect("a part"), kept[7].text().pieces().nth(1).expect("a part")));
}
