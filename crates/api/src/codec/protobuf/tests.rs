//! Vectors worked out by hand, and round trips over every type of the table.

use super::*;
use crate::codec::zero_struct;
use crate::document::Index;
use crate::schema::{Special, Type};
use proptest::prelude::*;
use serde_json::json;

fn kind(api_version: &str, kind: &'static str) -> GroupVersionKind {
    GroupVersion::parse(api_version).with_kind(kind)
}

/// The bytes that the encoder of trees writes.
fn reference_message(value: &Value, definition: &TypeDef) -> Result<Vec<u8>, ProtobufError> {
    let mut writer = Writer::default();
    reference::message(&mut writer, Some(value.into()), definition)?;
    Ok(writer.finish())
}

fn round_trip(kind: &GroupVersionKind, value: &Value) -> Value {
    let definition = of_kind(kind).expect("a builtin kind");
    let body = encode(value, definition).unwrap_or_else(|error| panic!("{value}: {error}"));
    let (text, mut index, own) = (value.to_string(), Index::default(), value.gvk());
    let node = index.read(&text).expect("JSON");
    let from_text = encode_as(node, &own.api_version(), &own.kind, definition);
    assert_eq!(from_text.as_deref(), Ok(&*body), "the text and the tree of {value}");
    let expected = reference_message(value, definition).map(|message| seal(&own.api_version(), &own.kind, &message));
    assert_eq!(Ok(body.as_slice()), expected.as_deref(), "the plan and the reference of {value}");
    decode(&body, definition, kind).unwrap_or_else(|error| panic!("{value}: {error}")).value
}

#[test]
fn small_messages_are_the_bytes_go_writes() {
    let check = |package: &str, name: &str, value: Value, bytes: &[u8]| {
        let definition = builtin().get(package, name).expect("a type");
        assert_eq!(encode_message(&value, definition).as_deref(), Ok(bytes), "{name}");
        let mut normal = value;
        normalize(&mut normal, definition);
        assert_eq!(decode_message(bytes, definition), Ok(normal), "{name}");
    };
    // Strings and numbers that are no pointers are written even when they are zero.
    check("core/v1", "EnvVar", json!({"name": "A", "value": ""}), &[0x0a, 1, b'A', 0x12, 0]);
    check(
        "core/v1",
        "Toleration",
        json!({"key": "k", "tolerationSeconds": -1}),
        &[0x0a, 1, b'k', 0x12, 0, 0x1a, 0, 0x22, 0, 0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
    );
    // Maps are entries sorted by key; a quantity is a message around its string.
    check(
        "core/v1",
        "ResourceRequirements",
        json!({"limits": {"cpu": "1", "memory": "1Mi"}}),
        &[
            0x0a, 10, 0x0a, 3, b'c', b'p', b'u', 0x12, 3, 0x0a, 1, b'1', //
            0x0a, 15, 0x0a, 6, b'm', b'e', b'm', b'o', b'r', b'y', 0x12, 5, 0x0a, 3, b'1', b'M', b'i',
        ],
    );
    // An embedded struct is a message of its own: Probe.handler.tcpSocket.port.
    check(
        "core/v1",
        "Probe",
        json!({"tcpSocket": {"port": 80}, "periodSeconds": 10}),
        &[
            0x0a, 12, 0x1a, 10, 0x0a, 6, 0x08, 0, 0x10, 80, 0x1a, 0, 0x12, 0, //
            0x10, 0, 0x18, 0, 0x20, 10, 0x28, 0, 0x30, 0,
        ],
    );
    // A time is seconds and nanoseconds; an unset one an empty message.
    check(
        "coordination/v1",
        "LeaseSpec",
        json!({"renewTime": "1970-01-01T00:00:01.000002Z"}),
        &[0x22, 5, 0x08, 1, 0x10, 0xd0, 0x0f],
    );
    check(
        "core/v1",
        "NodeCondition",
        json!({"type": "R", "status": "T", "lastHeartbeatTime": null,
        "lastTransitionTime": "1970-01-01T00:00:02Z"}),
        &[0x0a, 1, b'R', 0x12, 1, b'T', 0x1a, 0, 0x22, 4, 0x08, 2, 0x10, 0, 0x2a, 0, 0x32, 0],
    );
    // A list with a name of its own is a message around its items.
    check(
        "authentication/v1",
        "UserInfo",
        json!({"extra": {"a": ["b"]}}),
        &[0x0a, 0, 0x12, 0, 0x22, 8, 0x0a, 1, b'a', 0x12, 3, 0x0a, 1, b'b'],
    );
}

#[test]
fn the_envelope_is_upstreams() {
    let body = seal("v1", "Pod", &[0x0a, 0]);
    assert_eq!(
        body,
        [
            b'k', b'8', b's', 0, 0x0a, 9, 0x0a, 2, b'v', b'1', 0x12, 3, b'P', b'o', b'd', 0x12, 2, 0x0a, 0, 0x1a, 0,
            0x22, 0
        ]
    );
    let envelope = open(&body).expect("an envelope");
    assert_eq!((envelope.api_version.as_str(), envelope.kind.as_str(), envelope.raw), ("v1", "Pod", &[0x0a, 0][..]));
    assert_eq!(open(b"{}"), Err(ProtobufError::Magic));
}

#[test]
fn objects_come_back_as_they_went() {
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "labels": {"a": "b"}, "generation": 3, "creationTimestamp": "2024-01-01T00:00:00Z",
            "managedFields": [{"manager": "m", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}}]},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i",
                "resources": {"requests": {"cpu": "100m"}}, "livenessProbe": {"httpGet": {"port": "http", "path": "/"}},
                "env": [{"name": "E", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]}],
                "volumes": [{"name": "v", "configMap": {"name": "cm", "items": [{"key": "k", "path": "p"}]}}],
                "terminationGracePeriodSeconds": 0, "hostNetwork": true}}},
        "status": {"conditions": [{"type": "Available", "status": "True", "lastUpdateTime": "2024-01-01T00:00:00Z", "lastTransitionTime": null}]}});
    let kind_of = kind("apps/v1", "Deployment");
    assert_eq!(round_trip(&kind_of, &deployment), deployment);

    let secret =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "YQ==", "b": ""}});
    assert_eq!(round_trip(&kind("v1", "Secret"), &secret), secret);

    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {},
        "spec": {"group": "g", "names": {"kind": "K", "plural": "ks"}, "scope": "Namespaced", "versions": [{"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object", "maximum": 1.5, "default": {"a": [1]}, "enum": [1, "x"],
                "items": {"type": "string"}, "additionalProperties": false, "properties": {"p": {"items": [{"type": "a"}, {"type": "b"}]}},
                "dependencies": {"d": ["x", "y"], "e": {"type": "object"}}}}}]},
        "status": {"acceptedNames": {"kind": "", "plural": ""}, "conditions": null, "storedVersions": null}});
    assert_eq!(round_trip(&kind("apiextensions.k8s.io/v1", "CustomResourceDefinition"), &definition), definition);
}

#[test]
fn a_list_of_items_made_one_by_one_is_the_list_encoded_whole() {
    let config_map = builtin().get("core/v1", "ConfigMap").expect("ConfigMap");
    let texts = ["a", "b"].map(|name| json!({"metadata": {"name": name}, "data": {"k": name}}).to_string());
    let (mut index, mut encoder, mut items) = (Index::default(), MessageEncoder::default(), Vec::new());
    for text in &texts {
        let message = encoder.encode(index.read(text).expect("JSON"), config_map).expect("bytes");
        items.extend_from_slice(&item_prefix(message.len()));
        items.extend_from_slice(message);
    }
    let list = kind("v1", "ConfigMapList");
    let frame = list_frame(&list, &json!({"resourceVersion": "9"}), items.len()).expect("bytes");
    let body = [&frame.head, &items, frame.tail].concat();
    let decoded = decode(&body, of_kind(&list).expect("a kind"), &list).expect("a list").value;
    assert_eq!(decoded["metadata"], json!({"resourceVersion": "9"}));
    assert_eq!(decoded["items"][1], json!({"metadata": {"name": "b"}, "data": {"k": "b"}}));
    let whole = encode(&decoded, of_kind(&list).expect("a kind")).expect("bytes");
    assert_eq!(whole, body);
}

#[test]
fn watch_frames_are_read_back() {
    let object = seal("v1", "Pod", b"");
    let mut stream = watch_frame("ADDED", "v1", "Pod", b"");
    let first = stream.len();
    stream.extend(watch_frame("BOOKMARK", "v1", "Pod", b""));
    let frame = read_watch_frame(&stream).expect("a frame").expect("all of it");
    assert_eq!((frame.event_type.as_str(), frame.object, frame.length), ("ADDED", object.as_slice(), first));
    assert_eq!(read_watch_frame(&stream[..first - 1]), Ok(None));
    let second = read_watch_frame(&stream[first..]).expect("a frame").expect("all of it");
    assert_eq!(second.event_type, "BOOKMARK");
}

#[test]
fn another_kind_is_refused() {
    let kind = kind("v1", "Pod");
    let definition = of_kind(&kind).expect("a kind");
    let error = decode(&seal("v1", "Service", b""), definition, &kind).expect_err("another kind");
    assert!(error.to_string().contains("unknown conversion"), "{error}");
    assert!(decode(&seal("v1", "Pod", &[0x0a, 200]), definition, &kind).is_err());
}

/// A value with every field of a type set, to a depth.
fn full(definition: &TypeDef, depth: usize) -> Value {
    let mut map = Map::new();
    for field in definition.fields.iter().filter(|field| field.tag.is_some()) {
        if let Some(value) = full_type(&field.ty, depth) {
            map.insert(field.name.to_string(), value);
        }
    }
    Value::Object(map)
}

fn full_type(ty: &Type, depth: usize) -> Option<Value> {
    Some(match ty {
        Type::Bool => true.into(),
        Type::Int32 => (-7).into(),
        Type::Int64 => (1_i64 << 40).into(),
        Type::Uint32 | Type::Uint64 => 7.into(),
        Type::Float64 => 1.5.into(),
        Type::String => "text".into(),
        Type::Bytes => "Ynl0ZXM=".into(),
        Type::List(item) => Value::Array(vec![full_type(item, depth)?; 2]),
        Type::Map(item) => json!({"a": full_type(item, depth)?, "b": full_type(item, depth)?}),
        Type::Struct(_) if depth == 0 => return None,
        Type::Struct(reference) => full(reference.get(), depth - 1),
        Type::Special(special) => match special {
            Special::Time => "2024-02-29T01:02:03Z".into(),
            Special::MicroTime => "2024-02-29T01:02:03.000004Z".into(),
            Special::Duration => "1m30s".into(),
            Special::Quantity => "1500m".into(),
            Special::IntOrString => "http".into(),
            Special::RawExtension | Special::FieldsV1 => json!({"f:x": {}}),
            Special::Json => json!([1, "x", null]),
            Special::JsonSchemaPropsOrBool => true.into(),
            Special::JsonSchemaPropsOrArray => json!([{"type": "a"}]),
            Special::JsonSchemaPropsOrStringArray => json!(["a"]),
        },
    })
}

#[test]
fn every_type_round_trips_full_and_empty() {
    for definition in builtin().iter().filter(|definition| definition.fields.iter().any(|field| field.tag.is_some())) {
        for mut value in [full(definition, 2), zero_struct(definition)] {
            normalize(&mut value, definition);
            let bytes = encode_message(&value, definition)
                .unwrap_or_else(|error| panic!("{}.{}: {error}", definition.package, definition.name));
            let again = decode_message(&bytes, definition)
                .unwrap_or_else(|error| panic!("{}.{}: {error}", definition.package, definition.name));
            assert_eq!(Ok(bytes), reference_message(&value, definition), "{}.{}", definition.package, definition.name);
            // Fields that protobuf does not have cannot come back.
            if definition.fields.iter().all(|field| field.tag.is_some() || field.embedded_name.is_some()) {
                assert_eq!(again, value, "{}.{}", definition.package, definition.name);
            }
        }
    }
}

/// A value of a type with some of its fields, some of them null, and now and then one of
/// another type than the field has.
fn some(definition: &TypeDef, random: &mut impl FnMut() -> u64, depth: usize) -> Value {
    let mut map = Map::new();
    for field in &definition.fields {
        let value = match random() % 8 {
            0..4 => continue,
            4 => Value::Null,
            5 if random().is_multiple_of(200) => json!([7, "x"]),
            _ => match some_type(&field.ty, random, depth) {
                Some(value) => value,
                None => continue,
            },
        };
        map.insert(field.name.to_string(), value);
    }
    map.insert("unknown".into(), json!({"a": [1]}));
    Value::Object(map)
}

fn some_type(ty: &Type, random: &mut impl FnMut() -> u64, depth: usize) -> Option<Value> {
    Some(match ty {
        Type::List(item) => (0..random() % 4).filter_map(|_| some_type(item, random, depth)).collect(),
        Type::Map(item) => {
            let keys =
                ["b", "a\"é", "fieldsV1", "zz"].into_iter().filter(|_| random().is_multiple_of(2)).collect::<Vec<_>>();
            keys.into_iter().filter_map(|key| Some((key.to_owned(), some_type(item, random, depth)?))).collect()
        }
        Type::Struct(_) if depth == 0 => return None,
        Type::Struct(reference) => some(reference.get(), random, depth - 1),
        Type::String => ["", "text", "line\nbreak", "é"][(random() % 4) as usize].into(),
        Type::Int32 | Type::Int64 => ((random() as i64) >> (random() % 64)).into(),
        Type::Special(Special::IntOrString) if random().is_multiple_of(2) => 80.into(),
        Type::Special(Special::JsonSchemaPropsOrBool | Special::JsonSchemaPropsOrArray) if depth > 0 => {
            some(crate::codec::normalize::json_schema_props()?, random, depth - 1)
        }
        Type::Special(Special::Json) => json!({"a": [1, null, "x\ty"]}),
        _ => full_type(ty, depth)?,
    })
}

#[test]
fn every_type_fits_a_plan() {
    for definition in builtin().iter() {
        assert!(definition.plan().is_some(), "{}.{}", definition.package, definition.name);
    }
}

/// Both encoders agree on every type, on what they write and on what they refuse.
#[test]
fn the_text_of_every_type_becomes_what_its_tree_becomes() {
    let mut state = 7_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    for definition in builtin().iter() {
        for _ in 0..12 {
            let value = some(definition, &mut random, 3);
            let (text, mut index, mut encoder) = (value.to_string(), Index::default(), MessageEncoder::default());
            let from_text = encoder.encode(index.read(&text).expect("JSON"), definition).map(<[u8]>::to_vec);
            let expected = reference_message(&value, definition);
            match (&from_text, &expected) {
                (Err(_), Err(_)) => {}
                _ => assert_eq!(from_text, expected, "{}.{}: {text}", definition.package, definition.name),
            }
        }
    }
}

#[test]
fn the_metadata_of_a_message_is_its_first_field() {
    let pod = json!({"metadata": {"name": "a", "labels": {"x": "y"}}, "spec": {"nodeName": "n"}});
    let message = encode_message(&pod, builtin().get("core/v1", "Pod").expect("Pod")).expect("bytes");
    let partial = builtin().get("meta/v1", "PartialObjectMetadata").expect("PartialObjectMetadata");
    let expected = encode_message(&json!({"metadata": pod["metadata"]}), partial).expect("bytes");
    assert_eq!(metadata_of(&message), Some(&*expected));
    assert_eq!((metadata_of(b""), metadata_of(&[0x12, 0]), metadata_of(&[0x0a, 5])), (None, None, None));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let definition = builtin().get("core/v1", "Pod").expect("Pod");
        let _ = decode_message(&bytes, definition);
        let _ = open(&bytes);
        let _ = read_watch_frame(&bytes);
    }

    /// Bytes that begin as a message does go deeper than random ones.
    #[test]
    fn damaged_messages_do_not_panic(position in 0_usize..2000, byte: u8) {
        let definition = builtin().get("core/v1", "PodSpec").expect("PodSpec");
        static WHOLE: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| {
            let definition = builtin().get("core/v1", "PodSpec").expect("PodSpec");
            encode_message(&full(definition, 2), definition).expect("bytes")
        });
        let mut bytes = WHOLE.clone();
        let index = position % bytes.len();
        bytes[index] = byte;
        let _ = decode_message(&bytes, definition);
    }

    #[test]
    fn services_round_trip(
        name in "[a-z]{1,8}", port in 1..65536, target in prop_oneof![(1..65536).prop_map(|n| json!(n)), "[a-z]{1,5}".prop_map(|s| json!(s))],
        labels in prop::collection::btree_map("[a-z]{1,3}", "[a-z]{0,3}", 1..4), timeout in prop::option::of(any::<i32>()),
    ) {
        let config = timeout.map_or(Value::Null, |seconds| json!({"clientIP": {"timeoutSeconds": seconds}}));
        let mut service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "labels": labels},
            "spec": {"ports": [{"port": port, "targetPort": target}], "sessionAffinityConfig": config}, "status": {"loadBalancer": {}}});
        let kind = kind("v1", "Service");
        normalize(&mut service, of_kind(&kind).expect("a kind"));
        prop_assert_eq!(round_trip(&kind, &service), service);
    }
}

#[test]
fn an_entry_of_bytes_without_a_value_is_empty() {
    let definition = of_kind(&kind("v1", "ConfigMap")).expect("a builtin kind");
    // binaryData (3) with one entry that has only its key.
    let decoded = decode_message(&[0x1a, 3, 0x0a, 1, b'k'], definition).expect("a message");
    assert_eq!(decoded["binaryData"], json!({"k": ""}));
}
