//! Tables, metadata alone, protobuf, indentation.

use crate::server::{CONFIG_MAPS, Server, config_map};
use http::Request;
use http_body_util::BodyExt;
use serde_json::json;

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const METADATA: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

#[tokio::test]
async fn a_table_has_the_columns_of_its_kind() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let table = server.ask("GET", CONFIG_MAPS, &[("accept", TABLE)], "").await.ok();
    assert_eq!((&table["kind"], &table["apiVersion"]), (&json!("Table"), &json!("meta.k8s.io/v1")));
    let columns: Vec<&str> =
        table["columnDefinitions"].as_array().expect("columns").iter().filter_map(|c| c["name"].as_str()).collect();
    assert_eq!(columns, ["Name", "Data", "Age"]);
    assert_eq!(table["rows"][0]["cells"][0], "a");
    assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(table["rows"][0]["object"]["metadata"]["name"], "a");
    let one = server.ask("GET", &format!("{CONFIG_MAPS}/a?includeObject=Object"), &[("accept", TABLE)], "").await.ok();
    assert_eq!(one["rows"][0]["object"]["data"]["key"], "value");
    let none = server.ask("GET", &format!("{CONFIG_MAPS}?includeObject=None"), &[("accept", TABLE)], "").await.ok();
    assert!(none["rows"][0].get("object").is_none());
}

#[tokio::test]
async fn a_watch_of_tables_describes_its_columns_once() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    server.post(CONFIG_MAPS, &config_map("b")).await.ok();
    let request = Request::get(format!("{CONFIG_MAPS}?watch=true&timeoutSeconds=1"))
        .header("accept", TABLE)
        .body(ferry_apiserver::transport::empty())
        .expect("a request");
    let body = server.send(request, crate::server::admin()).await.into_body();
    let bytes = body.collect().await.expect("a stream that ends").to_bytes();
    let events: Vec<serde_json::Value> = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).expect("an event"))
        .collect();
    assert!(events[0]["object"]["columnDefinitions"].is_array());
    assert!(events[1]["object"]["columnDefinitions"].is_null());
    assert_eq!(events[1]["object"]["rows"][0]["cells"][0], "b");
}

#[tokio::test]
async fn metadata_comes_alone_when_asked_for() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let one = server.ask("GET", &format!("{CONFIG_MAPS}/a"), &[("accept", METADATA)], "").await.ok();
    assert_eq!((&one["kind"], &one["metadata"]["name"]), (&json!("PartialObjectMetadata"), &json!("a")));
    assert!(one.get("data").is_none());
    let list = server.ask("GET", CONFIG_MAPS, &[("accept", METADATA_LIST)], "").await.ok();
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert_eq!(list["items"][0]["metadata"]["name"], "a");
}

#[tokio::test]
async fn protobuf_goes_both_ways() {
    let server = Server::start().await;
    let gvk = ferry_api::gvk::GroupVersionKind::new("", "v1", "ConfigMap");
    let definition = ferry_api::schema::of_kind(&gvk).expect("a schema");
    let body = ferry_api::codec::protobuf::encode(&config_map("p"), definition).expect("encodes");
    let headers = [("content-type", PROTOBUF), ("accept", PROTOBUF)];
    let created = server.ask("POST", CONFIG_MAPS, &headers, body).await;
    assert_eq!((created.code, &created.headers["content-type"]), (201, &http::HeaderValue::from_static(PROTOBUF)));
    let decoded = ferry_api::codec::protobuf::decode(&created.bytes, definition, &gvk).expect("decodes").value;
    assert_eq!(decoded["data"]["key"], "value");
    assert!(decoded["metadata"]["uid"].is_string());
    let list = server.ask("GET", CONFIG_MAPS, &[("accept", PROTOBUF)], "").await;
    assert!(list.bytes.starts_with(b"k8s\0"));
    let missing = server.ask("GET", &format!("{CONFIG_MAPS}/none"), &[("accept", PROTOBUF)], "").await;
    assert_eq!(missing.code, 404);
    assert!(missing.bytes.starts_with(b"k8s\0"), "failures speak the client's format too");
}

#[tokio::test]
async fn people_get_indented_json() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let curl = server.ask("GET", &format!("{CONFIG_MAPS}/a"), &[("user-agent", "curl/8.0")], "").await;
    assert!(String::from_utf8_lossy(&curl.bytes).contains("\n  \"kind\": \"ConfigMap\""));
    let plain = server.get(&format!("{CONFIG_MAPS}/a")).await;
    assert!(!plain.bytes.trim_ascii_end().contains(&b'\n'));
}

/// A list as protobuf, decoded.
fn decoded(bytes: &[u8], group: &'static str, kind: &'static str) -> serde_json::Value {
    let gvk = ferry_api::gvk::GroupVersionKind::new(group, "v1", kind);
    let definition = match group {
        "" => ferry_api::schema::of_kind(&gvk),
        _ => ferry_api::schema::builtin().get("meta/v1", kind),
    };
    ferry_api::codec::protobuf::decode(bytes, definition.expect("a schema"), &gvk).expect("decodes").value
}

#[tokio::test]
async fn a_list_holds_the_same_objects_in_every_format() {
    let server = Server::start().await;
    for name in ["a", "b", "c"] {
        let mut object = config_map(name);
        object["metadata"]["annotations"] = json!({"quoted": "\"metadata\":{", "line": "one\ntwo"});
        server.post(CONFIG_MAPS, &object).await.ok();
    }
    let plain = server.get(CONFIG_MAPS).await.ok();
    let binary = server.ask("GET", CONFIG_MAPS, &[("accept", PROTOBUF)], "").await;
    assert_eq!(decoded(&binary.bytes, "", "ConfigMapList")["items"], plain["items"]);
    let of_metadata = format!("{PROTOBUF};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
    let binary = server.ask("GET", CONFIG_MAPS, &[("accept", of_metadata.as_str())], "").await;
    let binary = decoded(&binary.bytes, "meta.k8s.io", "PartialObjectMetadataList");
    let table = server.ask("GET", CONFIG_MAPS, &[("accept", TABLE)], "").await.ok();
    let metadata = server.ask("GET", CONFIG_MAPS, &[("accept", METADATA_LIST)], "").await.ok();
    for (number, item) in plain["items"].as_array().expect("items").iter().enumerate() {
        assert_eq!(binary["items"][number]["metadata"], item["metadata"]);
        assert_eq!(metadata["items"][number]["metadata"], item["metadata"]);
        assert_eq!(table["rows"][number]["object"]["metadata"], item["metadata"]);
        assert_eq!(table["rows"][number]["cells"][0], item["metadata"]["name"]);
    }
    // The server's own writes go on meanwhile, so each list has a version of its own.
    for list in [&binary, &metadata, &table] {
        let version = list["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse::<u64>().ok());
        assert!(version.is_some_and(|version| version > 0), "{}", list["metadata"]);
    }
}

#[tokio::test]
async fn a_protobuf_list_too_large_to_be_kept_is_whole() {
    let server = Server::start().await;
    let half_a_megabyte = "x".repeat(512 * 1024);
    // More than the 24 MB that are kept while their lengths are found.
    for number in 0..52 {
        let mut object = config_map(&format!("large-{number:02}"));
        object["data"] = json!({"k": half_a_megabyte});
        server.post(CONFIG_MAPS, &object).await.ok();
    }
    let list = server.ask("GET", CONFIG_MAPS, &[("accept", PROTOBUF)], "").await;
    let list = decoded(&list.bytes, "", "ConfigMapList");
    let items = list["items"].as_array().expect("items");
    assert_eq!(items.len(), 52);
    for (number, item) in items.iter().enumerate() {
        assert_eq!(item["metadata"]["name"], format!("large-{number:02}"));
        assert_eq!(item["data"]["k"].as_str().map(str::len), Some(half_a_megabyte.len()));
    }
}

/// The objects of a watch in protobuf that ends by itself.
async fn watched(server: &Server, path: &str, accept: &str) -> Vec<(String, String)> {
    let request =
        Request::get(path).header("accept", accept).body(ferry_apiserver::transport::empty()).expect("a request");
    let body = server.send(request, crate::server::admin()).await.into_body();
    let bytes = body.collect().await.expect("a stream that ends").to_bytes();
    let (mut rest, mut events) = (&bytes[..], Vec::new());
    while let Some(frame) = ferry_api::codec::protobuf::read_watch_frame(rest).expect("a frame") {
        let envelope = ferry_api::codec::protobuf::open(frame.object).expect("an envelope");
        events.push((frame.event_type.clone(), envelope.kind));
        rest = &rest[frame.length..];
    }
    events
}

#[tokio::test]
async fn a_version_becomes_protobuf_once_however_many_ask_for_it() {
    let server = Server::start().await;
    let created = server.post(CONFIG_MAPS, &config_map("shared")).await.ok();
    let version = created["metadata"]["resourceVersion"].as_str().expect("a version").parse::<u64>().expect("a number");
    server.delete(&format!("{CONFIG_MAPS}/shared")).await.ok();
    let created = server.post(CONFIG_MAPS, &config_map("other")).await.ok();
    assert_eq!(created["metadata"]["name"], "other");
    let encoded = ferry_apiserver::cache::wire_form::encoded;
    let before = encoded();
    let selected = "fieldSelector=metadata.name%3Dshared";
    let path = format!("{CONFIG_MAPS}?watch=true&timeoutSeconds=1&resourceVersion={}&{selected}", version - 1);
    let metadata = format!("{PROTOBUF};as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
    let (first, second, third) = tokio::join!(
        watched(&server, &path, PROTOBUF),
        watched(&server, &path, PROTOBUF),
        watched(&server, &path, &metadata)
    );
    let expected = |kind: &str| vec![("ADDED".to_owned(), kind.to_owned()), ("DELETED".to_owned(), kind.to_owned())];
    assert_eq!((&first, &second), (&expected("ConfigMap"), &expected("ConfigMap")));
    assert_eq!(third, expected("PartialObjectMetadata"));
    assert_eq!(encoded() - before, 2, "the version and the end of it, once each for three watchers");
    let one = server.ask("GET", &format!("{CONFIG_MAPS}/other"), &[("accept", PROTOBUF)], "").await;
    let again = server.ask("GET", &format!("{CONFIG_MAPS}/other"), &[("accept", PROTOBUF)], "").await;
    assert_eq!(one.bytes, again.bytes);
    assert_eq!(encoded() - before, 3);
    let of_one = format!("{CONFIG_MAPS}?fieldSelector=metadata.name%3Dother");
    let list = server.ask("GET", &of_one, &[("accept", PROTOBUF)], "").await;
    assert_eq!(decoded(&list.bytes, "", "ConfigMapList")["items"][0]["metadata"]["name"], "other");
    assert_eq!(encoded() - before, 3, "the list has what the GET left");
}

/// The metadata of a message is taken for its first field.
#[test]
fn the_metadata_of_every_stored_kind_has_the_first_tag() {
    for row in ferry_resources::all().iter().filter(|row| row.is_stored()) {
        let Some(definition) = ferry_api::schema::of_kind(&row.gvk()) else { continue };
        let first = match definition.layout().find(1) {
            Some(ferry_api::schema::Entry::Field(index)) => &*definition.fields[usize::from(*index)].name,
            _ => "",
        };
        assert_eq!(first, "metadata", "{}", row.gvk());
    }
}

/// What the whole list would be, written at once.
#[tokio::test]
async fn lists_for_people_are_the_text_of_the_whole_list() {
    let server = Server::start().await;
    let awkward = [
        "",
        " leading",
        "trailing ",
        "two\nlines",
        "two\nlines\n",
        "\n\nblank",
        "a: b # c",
        "'\"\\",
        "é→\t",
        "yes",
        "- x",
        "  deep\n   er\n",
        "null",
        "1e3",
        "\u{0}\u{7f}",
    ];
    for (number, text) in awkward.iter().enumerate() {
        let mut object = config_map(&format!("p{number}"));
        object["data"] = json!({"text": text, "list": format!("- {text}")});
        object["metadata"]["annotations"] = json!({"text": text});
        server.post(CONFIG_MAPS, &object).await.ok();
    }
    let empty = format!("{CONFIG_MAPS}?fieldSelector=metadata.name%3Dnobody");
    for shape in ["", ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", ";as=Table;v=v1;g=meta.k8s.io"] {
        for path in [CONFIG_MAPS, empty.as_str()] {
            let pretty = [("accept", format!("application/json{shape}")), ("user-agent", "curl/8.0".to_owned())];
            let pretty = pretty.each_ref().map(|(name, value)| (*name, value.as_str()));
            let text = server.ask("GET", path, &pretty, "").await.bytes;
            let value: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
            assert_eq!(String::from_utf8_lossy(&text), serde_json::to_string_pretty(&value).expect("JSON"), "{shape}");
            let yaml = server.ask("GET", path, &[("accept", &format!("application/yaml{shape}"))], "").await.bytes;
            let value: serde_json::Value = serde_yaml_ng::from_slice(&yaml).expect("YAML");
            assert_eq!(String::from_utf8_lossy(&yaml), serde_yaml_ng::to_string(&value).expect("YAML"), "{shape}");
            assert_eq!(
                value["items"].as_array().or(value["rows"].as_array()).map(Vec::len).unwrap_or_default() > 1,
                path == CONFIG_MAPS
            );
        }
    }
}
