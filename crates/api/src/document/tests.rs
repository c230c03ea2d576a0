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
        let document = Document::parse(value.to_string().into()).expect("JSON");
        prop_assert_eq!(document.root().to_value(), value.clone());
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
