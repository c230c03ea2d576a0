//! A text read by its index is the same object as the tree that serde_json makes of it.

use super::*;
use bytes::Bytes;
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
    // The first text of its shape stays whole; of the others only what is their own.
    assert_eq!(kept[0].text().pieces().count(), 1);
    let last = kept.last().expect("documents");
    assert_eq!(last.text().pieces().count(), 5, "its uid and its address");
    assert_eq!(last.own_size(), 8 + 2 * 2 + "uid-410.0.0.4".len());
    assert!(std::ptr::eq(
        last.text().pieces().next().expect("a piece"),
        kept[7].text().pieces().next().expect("a piece")
    ));
}

proptest! {
    #[test]
    fn objects_of_one_shape_read_like_their_own_texts(
        values in prop::collection::vec((".{0,6}", any::<i32>(), any::<bool>(), ".{0,4}", r#"[a-z\\"]{0,9}"#), 1..6),
        tail in any_json(),
    ) {
        // What is alike makes the texts long enough to be shared.
        let alike = "alike ".repeat(60);
        let object = |(text, number, flag, item, inner): &(String, i32, bool, String, String)| {
            let (uid, name) = (format!(r#"k:{{"uid":"{inner}"}}"#), format!(r#"k:{{"name":"{item}"}}"#));
            json!({"alike": alike, "fieldsV1": {"f:a": {uid: {}, "f:x": {name: {}}}}, "flag": flag,
                "items": [text, number, {"item": item}, inner, null, text], "tail": tail, "z": item})
        };
        let mut documents = Vec::new();
        for value in values.iter().map(object) {
            let text = value.to_string();
            let (document, seen) =
                Document::shared(text.clone().into(), KeepIndex::No, |object| object.to_value()).expect("JSON");
            prop_assert_eq!(&seen, &value);
            documents.push((document, text, value));
        }
        let mut scratch = Index::default();
        for (document, text, value) in &documents {
            prop_assert_eq!(&document.to_bytes()[..], text.as_bytes());
            prop_assert_eq!(document.text().len(), text.len());
            for root in [document.read(&mut scratch), document.root()] {
                prop_assert_eq!(&root.to_value(), value);
                prop_assert_eq!(&*root.to_json(), text);
                for (key, field) in root.entries() {
                    prop_assert_eq!(&field.to_value(), &value[key]);
                    prop_assert_eq!(&*field.to_json(), value[key].to_string());
                }
                let items: Vec<Value> = root.get("items").expect("items").items().map(Node::to_value).collect();
                prop_assert_eq!(Some(&items), value["items"].as_array());
                if let Some(Node::Text(items)) = root.get("items") {
                    let mut backwards: Vec<Value> = items.backwards().map(|item| Node::Text(item).to_value()).collect();
                    backwards.reverse();
                    prop_assert_eq!(Some(&backwards), value["items"].as_array());
                }
            }
            let z = document.root().get("z").expect("z");
            let at = text.len() - 2 - serde_json::to_string(&value["z"]).expect("JSON").len() + 2;
            let place = document.value_place(z.entry().expect("in a text"), at..text.len() - 2);
            if value["z"].as_str().is_some_and(|z| Value::from(z).to_string().len() == z.len() + 2) {
                let (mut changed, other) = (value.clone(), document.with_value(place, "other"));
                changed["z"] = "other".into();
                prop_assert_eq!(&other.root().to_value(), &changed);
                let changed = changed.to_string();
                prop_assert_eq!(&other.to_bytes()[..], changed.as_bytes());
                prop_assert_eq!(document.text_from(place, 4).to_bytes(), text.as_bytes()[at - 4..].to_vec());
            }
        }
    }
}

#[test]
fn a_small_object_keeps_no_large_one_alive() {
    let text = |size: usize| Bytes::from(json!({"a": "x".repeat(size), "b": "y".repeat(300)}).to_string());
    let document = |text: Bytes| Document::shared(text, KeepIndex::Yes, |_| ()).expect("JSON").0;
    let large = document(text(5_000));
    let small = document(text(3));
    assert!(small.own_size() > 300 && large.own_size() > 5_000, "nothing is shared");
    let like_it = document(text(4));
    assert!(like_it.own_size() < 100);
    drop(small);
    assert_eq!(like_it.to_bytes(), text(4));
}
