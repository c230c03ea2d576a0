//! Custom resources from the definition to the last instance: as clients meet them.

use crate::server::{Answer, Server};
use serde_json::{Value, json};

pub const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
pub const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

/// A version of a definition with a schema of its own.
pub fn version(name: &str, storage: bool, schema: Value) -> Value {
    json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": schema}})
}

pub fn definition(plural: &str, kind: &str, scope: &str, versions: Vec<Value>) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {"group": "example.com", "scope": scope, "versions": versions,
            "names": {"plural": plural, "kind": kind}},
    })
}

pub fn widget_schema() -> Value {
    json!({
        "type": "object", "description": "A widget.",
        "properties": {
            "spec": {"type": "object", "description": "What it should be.", "properties": {
                "size": {"type": "integer", "minimum": 0}, "color": {"type": "string", "default": "red"},
                "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port"],
                    "items": {"type": "object", "required": ["port"], "properties": {
                        "port": {"type": "integer"}, "name": {"type": "string"}}}},
            }},
            "status": {"type": "object", "properties": {"size": {"type": "integer"}, "selector": {"type": "string"}}},
        },
    })
}

pub fn widgets() -> Value {
    let mut version = version("v1", true, widget_schema());
    version["subresources"] = json!({"status": {}, "scale": {
        "specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size", "labelSelectorPath": ".status.selector"}});
    version["additionalPrinterColumns"] = json!([{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]);
    version["selectableFields"] = json!([{"jsonPath": ".spec.color"}]);
    let mut widgets = definition("widgets", "Widget", "Namespaced", vec![version]);
    widgets["spec"]["names"]["shortNames"] = json!(["wd"]);
    widgets["spec"]["names"]["categories"] = json!(["all"]);
    widgets
}

pub fn widget(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec})
}

impl Server {
    /// Creates a definition and waits until it says what the test waits for.
    pub async fn define(&self, definition: &Value) -> Value {
        self.post(DEFINITIONS, definition).await.ok();
        self.definition_with(definition["metadata"]["name"].as_str().expect("a name"), "Established", "True").await
    }

    pub async fn definition_with(&self, name: &str, condition: &str, status: &str) -> Value {
        self.definition_when(name, |definition| {
            let conditions = definition["status"]["conditions"].as_array().cloned().unwrap_or_default();
            conditions.iter().any(|found| found["type"] == condition && found["status"] == status)
        })
        .await
    }

    pub async fn definition_when(&self, name: &str, ready: impl Fn(&Value) -> bool) -> Value {
        let mut events = self.watch(&format!("{DEFINITIONS}?watch=1&fieldSelector=metadata.name={name}")).await;
        loop {
            let event = events.next().await.expect("the definition changes");
            if event["type"] != "DELETED" && ready(&event["object"]) {
                return event["object"].clone();
            }
        }
    }

    /// Waits until a definition is gone.
    pub async fn undefined(&self, name: &str) {
        let list = self.get(&format!("{DEFINITIONS}?fieldSelector=metadata.name={name}")).await.ok();
        if list["items"].as_array().is_some_and(Vec::is_empty) {
            return;
        }
        let revision = list["metadata"]["resourceVersion"].as_str().expect("a revision").to_owned();
        let path = format!("{DEFINITIONS}?watch=1&fieldSelector=metadata.name={name}&resourceVersion={revision}");
        let mut events = self.watch(&path).await;
        while events.next().await.expect("the definition goes")["type"] != "DELETED" {}
    }

    async fn apply(&self, path: &str, query: &str, body: &str) -> Answer {
        let path = format!("{path}?fieldManager=me{query}");
        self.ask("PATCH", &path, &[("content-type", "application/apply-patch+yaml")], body.to_owned()).await
    }
}

#[tokio::test]
async fn a_definition_makes_a_kind_like_any_other() {
    let server = Server::start().await;
    assert_eq!(server.get(WIDGETS).await.code, 404);
    let made = server.define(&widgets()).await;
    assert_eq!(made["status"]["acceptedNames"]["listKind"], "WidgetList");
    assert_eq!(made["status"]["storedVersions"], json!(["v1"]));

    let created = server.post(WIDGETS, &widget("a", json!({"size": 2}))).await.ok();
    assert_eq!(created["spec"], json!({"size": 2, "color": "red"}));
    assert_eq!(created["metadata"]["generation"], 1);
    let path = format!("{WIDGETS}/a");
    assert_eq!(server.get(&path).await.ok(), created);

    let list = server.get(WIDGETS).await.ok();
    assert_eq!((list["kind"].clone(), list["apiVersion"].clone()), (json!("WidgetList"), json!("example.com/v1")));
    assert_eq!(list["items"], json!([created]), "items of custom resources tell their kind");

    let mut changed = created.clone();
    changed["spec"]["size"] = json!(3);
    let updated = server.put(&path, &changed).await.ok();
    assert_eq!(updated["metadata"]["generation"], 2);
    let same = server.put(&path, &updated).await.ok();
    assert_eq!(same["metadata"]["resourceVersion"], updated["metadata"]["resourceVersion"], "nothing changed");
    let mut blind = updated.clone();
    blind["metadata"]["resourceVersion"] = Value::Null;
    assert!(server.put(&path, &blind).await.message().contains("must be specified for an update"));

    let merged = server.patch("application/merge-patch+json", &path, &json!({"spec": {"size": 4}})).await.ok();
    assert_eq!((merged["spec"]["size"].clone(), merged["metadata"]["generation"].clone()), (json!(4), json!(3)));
    let strategic = server.patch("application/strategic-merge-patch+json", &path, &json!({})).await;
    assert_eq!(strategic.code, 415);
    assert_eq!(
        strategic.message(),
        "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    );
    let bad = server.patch("application/merge-patch+json", &path, &json!({"spec": {"size": -1}})).await;
    assert_eq!(bad.code, 422);
    let told = bad.message();
    assert!(told.starts_with("Widget.example.com \"a\" is invalid: [spec.size: Invalid value: -1"), "{told}");

    assert_eq!(server.delete(&path).await.ok()["status"], "Success");
    assert_eq!(server.get(&path).await.code, 404);
}

#[tokio::test]
async fn status_and_scale_have_doors_of_their_own() {
    let server = Server::start().await;
    server.define(&widgets()).await;
    let mut sent = widget("a", json!({"size": 2}));
    sent["status"] = json!({"size": 9});
    let created = server.post(WIDGETS, &sent).await.ok();
    assert_eq!(created.get("status"), None, "create cannot set status");
    let path = format!("{WIDGETS}/a");
    let mut with_status = created.clone();
    with_status["status"] = json!({"size": 1, "selector": "app=a"});
    with_status["spec"]["size"] = json!(7);
    let updated = server.put(&format!("{path}/status"), &with_status).await.ok();
    assert_eq!((updated["spec"]["size"].clone(), updated["status"]["size"].clone()), (json!(2), json!(1)));
    assert_eq!(updated["metadata"]["generation"], 1);
    let managers: Vec<&Value> =
        updated["metadata"]["managedFields"].as_array().expect("fields").iter().map(|m| &m["subresource"]).collect();
    assert!(managers.contains(&&json!("status")));
    let mut main = updated.clone();
    main["status"]["size"] = json!(5);
    assert_eq!(server.put(&path, &main).await.ok()["status"]["size"], 1);
    let wrong = server
        .patch("application/merge-patch+json", &format!("{path}/status"), &json!({"status": {"size": "x"}}))
        .await;
    assert_eq!(wrong.code, 422);
    assert!(wrong.message().contains("status.size"), "{}", wrong.message());

    let scale = server.get(&format!("{path}/scale")).await.ok();
    assert_eq!(scale["spec"], json!({"replicas": 2}));
    assert_eq!(scale["status"], json!({"replicas": 1, "selector": "app=a"}));
    let mut wanted = scale.clone();
    wanted["spec"]["replicas"] = json!(5);
    assert_eq!(server.put(&format!("{path}/scale"), &wanted).await.ok()["spec"]["replicas"], 5);
    let scaled = server.get(&path).await.ok();
    assert_eq!((scaled["spec"]["size"].clone(), scaled["metadata"]["generation"].clone()), (json!(5), json!(2)));
    let negative = server
        .patch("application/merge-patch+json", &format!("{path}/scale"), &json!({"spec": {"replicas": -1}}))
        .await;
    assert_eq!(negative.code, 422);
    assert!(negative.message().contains("should be a non-negative integer"), "{}", negative.message());
    server.post(WIDGETS, &widget("b", json!({}))).await.ok();
    assert_eq!(
        server.get(&format!("{WIDGETS}/b/scale")).await.message(),
        "Internal error occurred: the spec replicas field \".spec.size\" does not exist"
    );
}

#[tokio::test]
async fn unknown_and_duplicate_fields_are_told_as_upstream_tells_them() {
    let server = Server::start().await;
    server.define(&widgets()).await;
    let body = r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","foo":1},
        "spec":{"size":1,"size":2,"nope":true}}"#;
    let json = [("content-type", "application/json")];
    let strict = server.ask("POST", &format!("{WIDGETS}?fieldValidation=Strict"), &json, body).await;
    assert_eq!(strict.code, 400);
    assert_eq!(
        strict.message(),
        "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: duplicate field \"spec.size\", unknown field \"metadata.foo\", unknown field \"spec.nope\""
    );
    let warned = server.ask("POST", WIDGETS, &json, body).await;
    let warnings: Vec<&str> = warned.headers.get_all("warning").iter().filter_map(|v| v.to_str().ok()).collect();
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    let made = warned.ok();
    assert_eq!(made["spec"], json!({"size": 2, "color": "red"}));
    let patch = server
        .ask(
            "PATCH",
            &format!("{WIDGETS}/a?fieldValidation=Strict"),
            &[("content-type", "application/merge-patch+json")],
            r#"{"spec":{"nope":1}}"#,
        )
        .await;
    assert_eq!(patch.code, 422);
    assert!(patch.message().contains("strict decoding error: unknown field \"spec.nope\""), "{}", patch.message());

    // The conformance tests of field validation look for these words.
    let yaml = "\napiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: b\nspec:\n  size: 1\n  color: red\n  color: blue\n";
    let path = format!("{WIDGETS}/b");
    let twice = server.apply(&path, "&fieldValidation=Strict", yaml).await;
    assert_eq!(twice.code, 400);
    assert!(twice.message().contains("line 9: key \"color\" already set in map"), "{}", twice.message());
    let undeclared = "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: b\nunknownField: x\n";
    let answer = server.apply(&path, "&fieldValidation=Strict", undeclared).await;
    assert!(answer.message().contains(".unknownField: field not declared in schema"), "{}", answer.message());
    let meta = "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: b\n  unknownMeta: x\n";
    let answer = server.apply(&path, "&fieldValidation=Strict", meta).await;
    assert!(answer.message().contains(".metadata.unknownMeta: field not declared in schema"), "{}", answer.message());

    let missing = server.post(WIDGETS, &json!({"metadata": {"name": "x"}})).await;
    assert_eq!(missing.code, 400);
    assert!(missing.message().contains("Object 'Kind' is missing in"), "{}", missing.message());
    let other = server.post(WIDGETS, &json!({"apiVersion": "example.com/v2", "kind": "Widget"})).await;
    assert_eq!(
        other.message(),
        "the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)"
    );
}

#[tokio::test]
async fn apply_merges_lists_by_the_keys_of_the_schema() {
    let server = Server::start().await;
    server.define(&widgets()).await;
    let path = format!("{WIDGETS}/a");
    let config = |port: u16| {
        format!("apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: a}}\nspec:\n  ports: [{{port: {port}}}]\n")
    };
    let first = server.apply(&path, "", &config(80)).await;
    assert_eq!(first.code, 201, "{}", first.message());
    let other = format!("{path}?fieldManager=you");
    let second =
        server.ask("PATCH", &other, &[("content-type", "application/apply-patch+yaml")], config(81)).await.ok();
    assert_eq!(second["spec"]["ports"], json!([{"port": 80}, {"port": 81}]));
    let gone = server.apply(&path, "", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n").await.ok();
    assert_eq!(gone["spec"]["ports"], json!([{"port": 81}]));
}

#[tokio::test]
async fn custom_kinds_are_discovered_and_forgotten() {
    let server = Server::start().await;
    server.define(&widgets()).await;
    let group = server.get("/apis/example.com").await.ok();
    assert_eq!(group["preferredVersion"]["groupVersion"], "example.com/v1");
    let resources = server.get("/apis/example.com/v1").await.ok();
    let names: Vec<&Value> = resources["resources"].as_array().expect("resources").iter().map(|r| &r["name"]).collect();
    assert_eq!(names, ["widgets", "widgets/scale", "widgets/status"]);
    assert_eq!(resources["resources"][0]["shortNames"], json!(["wd"]));
    assert_eq!(resources["resources"][0]["singularName"], "widget");
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let aggregated = server.ask("GET", "/apis", &[("accept", accept)], "").await;
    let etag = aggregated.headers["etag"].to_str().expect("text").to_owned();
    let known = server.ask("GET", "/apis", &[("accept", accept), ("if-none-match", &etag)], "").await;
    assert_eq!(known.code, 304);

    server.delete(&format!("{DEFINITIONS}/widgets.example.com")).await.ok();
    server.undefined("widgets.example.com").await;
    // Rows go with the turn that follows the deletion.
    let after = server.ask("GET", "/apis", &[("accept", accept), ("if-none-match", &etag)], "").await;
    assert_eq!(after.code, 200);
    server.until("/apis/example.com/v1", 404).await;
    assert_eq!(server.get(WIDGETS).await.code, 404);
}

impl Server {
    /// Asks until the answer has this code; each question lets the server's tasks run.
    pub async fn until(&self, path: &str, code: u16) {
        let waits = async {
            while self.get(path).await.code != code {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(20), waits).await.expect("the code comes");
    }
}

#[tokio::test]
async fn tables_and_selectors_follow_the_definition() {
    let server = Server::start().await;
    server.define(&widgets()).await;
    for (name, color) in [("a", "red"), ("b", "blue")] {
        server.post(WIDGETS, &widget(name, json!({"size": 3, "color": color}))).await.ok();
    }
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let shown = server.ask("GET", WIDGETS, &[("accept", table)], "").await.ok();
    let columns: Vec<&Value> =
        shown["columnDefinitions"].as_array().expect("columns").iter().map(|column| &column["name"]).collect();
    assert_eq!(columns, ["Name", "Size"]);
    assert_eq!(shown["rows"][0]["cells"], json!(["a", 3]));
    let names = |list: &Value| -> Vec<String> {
        let items = list["items"].as_array().expect("items");
        items.iter().map(|item| item["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let selected = server.get(&format!("{WIDGETS}?fieldSelector=spec.color=blue")).await.ok();
    assert_eq!(names(&selected), ["b"]);
    let pages = server.get(&format!("{WIDGETS}?fieldSelector=spec.color!=green&limit=1")).await.ok();
    assert_eq!(names(&pages), ["a"]);
    let token = pages["metadata"]["continue"].as_str().expect("more");
    let rest = server.get(&format!("{WIDGETS}?fieldSelector=spec.color!=green&limit=1&continue={token}")).await.ok();
    assert_eq!(names(&rest), ["b"]);
    let unknown = server.get(&format!("{WIDGETS}?fieldSelector=spec.size=3")).await;
    assert_eq!((unknown.code, unknown.message().as_str()), (400, "field label not supported: spec.size"));

    let revision = rest["metadata"]["resourceVersion"].as_str().expect("a revision");
    let mut events =
        server.watch(&format!("{WIDGETS}?watch=1&resourceVersion={revision}&fieldSelector=spec.color=blue")).await;
    let paint = |color: &str| json!({"spec": {"color": color}});
    server.patch("application/merge-patch+json", &format!("{WIDGETS}/a"), &paint("blue")).await.ok();
    assert_eq!(events.next_name().await, ("ADDED".to_owned(), "a".to_owned()));
    server.patch("application/merge-patch+json", &format!("{WIDGETS}/b"), &paint("red")).await.ok();
    assert_eq!(events.next_name().await, ("DELETED".to_owned(), "b".to_owned()));

    let protobuf = [("accept", "application/vnd.kubernetes.protobuf")];
    assert_eq!(server.ask("GET", WIDGETS, &protobuf, "").await.code, 406);
    let metadata = [("accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")];
    assert_eq!(server.ask("GET", WIDGETS, &metadata, "").await.ok()["items"][0]["kind"], "PartialObjectMetadata");
}

#[tokio::test]
async fn documents_publish_a_kind_while_it_is_there() {
    let server = Server::start().await;
    let before = server.get("/openapi/v2").await;
    assert!(before.json()["definitions"].get("com.example.v1.Widget").is_none());
    server.define(&widgets()).await;
    let v2 = server.get("/openapi/v2").await;
    assert_ne!(v2.headers["etag"], before.headers["etag"]);
    let schema = v2.json()["definitions"]["com.example.v1.Widget"].clone();
    assert_eq!(schema["properties"]["spec"]["properties"]["color"], json!({"type": "string", "default": "red"}));
    assert_eq!(
        schema["x-kubernetes-group-version-kind"],
        json!([{"group": "example.com", "version": "v1", "kind": "Widget"}])
    );
    assert!(schema["properties"]["metadata"]["$ref"].as_str().is_some_and(|text| text.ends_with("ObjectMeta")));
    let etag = v2.headers["etag"].to_str().expect("text").to_owned();
    assert_eq!(server.ask("GET", "/openapi/v2", &[("if-none-match", &etag)], "").await.code, 304);
    let paths = v2.json()["paths"].clone();
    let item = &paths["/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"];
    assert_eq!(item["put"]["consumes"], json!(["application/json", "application/yaml"]));
    assert_eq!(
        item["patch"]["consumes"],
        json!(["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"])
    );
    let scale = &paths["/apis/example.com/v1/namespaces/{namespace}/widgets/{name}/scale"]["get"];
    assert_eq!(scale["x-kubernetes-group-version-kind"]["kind"], "Widget", "as upstream has it");
    for absent in ["/apis/example.com/", "/apis/example.com/v1/", "/apis/example.com/v1/watch/widgets"] {
        assert!(paths.get(absent).is_none(), "{absent} is for builtin groups");
    }

    let index = server.get("/openapi/v3").await.ok();
    let url = index["paths"]["apis/example.com/v1"]["serverRelativeURL"].as_str().expect("a document").to_owned();
    let v3 = server.get(&url).await.ok();
    assert!(v3["paths"].get("/apis/example.com/v1/namespaces/{namespace}/widgets/{name}/scale").is_some());
    assert_eq!(v3["components"]["schemas"]["com.example.v1.WidgetList"]["required"], json!(["items"]));

    server
        .patch(
            "application/json-patch+json",
            &format!("{DEFINITIONS}/widgets.example.com"),
            &json!([{"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/extra",
                "value": {"type": "string"}}]),
        )
        .await
        .ok();
    let changed = async {
        loop {
            let schemas = server.get("/openapi/v3/apis/example.com/v1").await.ok();
            if schemas["components"]["schemas"]["com.example.v1.Widget"]["properties"].get("extra").is_some() {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), changed).await.expect("the new schema is published");
    let index = server.get("/openapi/v3").await.ok();
    assert_ne!(index["paths"]["apis/example.com/v1"]["serverRelativeURL"], url);
    server.delete(&format!("{DEFINITIONS}/widgets.example.com")).await.ok();
    server.undefined("widgets.example.com").await;
    server.until("/openapi/v3/apis/example.com/v1", 404).await;
    assert!(server.get("/openapi/v2").await.json()["definitions"].get("com.example.v1.Widget").is_none());
}

#[tokio::test]
async fn a_definition_waits_for_its_instances() {
    let server = Server::start().await;
    server.define(&widgets()).await;
    server.post(WIDGETS, &widget("plain", json!({}))).await.ok();
    let mut held = widget("held", json!({}));
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    let answer = server.post(WIDGETS, &held).await;
    assert!(answer.headers.get("warning").is_none());
    let path = format!("{DEFINITIONS}/widgets.example.com");
    let marked = server.delete(&path).await.ok();
    assert_eq!(marked["metadata"]["finalizers"], json!(["customresourcecleanup.apiextensions.k8s.io"]));
    let terminating = |reason: &'static str| {
        move |definition: &Value| {
            let conditions = definition["status"]["conditions"].as_array().cloned().unwrap_or_default();
            conditions.iter().any(|found| found["type"] == "Terminating" && found["reason"] == reason)
        }
    };
    server.definition_when("widgets.example.com", terminating("InstanceDeletionInProgress")).await;
    server.until(&format!("{WIDGETS}/plain"), 404).await;
    let refused = server.post(WIDGETS, &widget("late", json!({}))).await;
    assert_eq!(refused.code, 403);
    assert_eq!(
        refused.message(),
        "widgets.example.com \"late\" is forbidden: create not allowed while custom resource definition is terminating"
    );
    let verbs = server.get("/apis/example.com/v1").await.ok()["resources"][0]["verbs"].clone();
    assert_eq!(verbs, json!(["delete", "deletecollection", "get", "list", "watch"]));
    server
        .patch("application/merge-patch+json", &format!("{WIDGETS}/held"), &json!({"metadata": {"finalizers": []}}))
        .await
        .ok();
    server.undefined("widgets.example.com").await;
    server.until(WIDGETS, 404).await;
    // The same name can be defined anew, with nothing of the old.
    server.define(&widgets()).await;
    assert_eq!(server.get(WIDGETS).await.ok()["items"], json!([]));
}

#[tokio::test]
async fn names_belong_to_who_came_first() {
    let server = Server::start().await;
    server.define(&widgets()).await;
    let mut other = definition("gadgets", "Gadget", "Cluster", vec![version("v1", true, json!({"type": "object"}))]);
    other["spec"]["names"]["shortNames"] = json!(["wd"]);
    server.post(DEFINITIONS, &other).await.ok();
    let refused = server.definition_with("gadgets.example.com", "NamesAccepted", "False").await;
    let conditions = refused["status"]["conditions"].as_array().expect("conditions");
    let accepted = conditions.iter().find(|found| found["type"] == "NamesAccepted").expect("the condition");
    assert_eq!(accepted["reason"], "ShortNamesConflict");
    assert_eq!(accepted["message"], "\"wd\" is already in use");
    assert_eq!(server.get("/apis/example.com/v1/gadgets").await.code, 404);
    server.delete(&format!("{DEFINITIONS}/widgets.example.com")).await.ok();
    server.definition_with("gadgets.example.com", "Established", "True").await;
    assert_eq!(server.get("/apis/example.com/v1/gadgets").await.code, 200);
    // CVE-2019-11247: a cluster-scoped object has no namespace to be reached through.
    server
        .post(
            "/apis/example.com/v1/gadgets",
            &json!({"apiVersion": "example.com/v1", "kind": "Gadget",
            "metadata": {"name": "a"}}),
        )
        .await
        .ok();
    assert_eq!(server.get("/apis/example.com/v1/namespaces/default/gadgets/a").await.code, 404);
    assert_eq!(server.get("/apis/example.com/v1/namespaces/default/gadgets").await.code, 404);
}

#[tokio::test]
async fn versions_share_objects_and_defaults_come_from_storage() {
    let server = Server::start().await;
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
    let versions = vec![version("v1", true, schema.clone()), version("v1beta1", false, schema.clone())];
    server.define(&definition("things", "Thing", "Cluster", versions)).await;
    let path = |version: &str, name: &str| format!("/apis/example.com/{version}/things{name}");
    let thing = |version: &str, name: &str| json!({"apiVersion": format!("example.com/{version}"), "kind": "Thing", "metadata": {"name": name}, "a": "1"});
    server.post(&path("v1", ""), &thing("v1", "one")).await.ok();
    let made = server.post(&path("v1beta1", ""), &thing("v1beta1", "two")).await.ok();
    assert_eq!(made["apiVersion"], "example.com/v1beta1");
    assert_eq!(server.get(&path("v1", "/two")).await.ok()["apiVersion"], "example.com/v1");
    let list = server.get(&path("v1beta1", "")).await.ok();
    assert!(list["items"].as_array().expect("items").iter().all(|item| item["apiVersion"] == "example.com/v1beta1"));
    let mut events = server.watch(&format!("{}?watch=1", path("v1beta1", ""))).await;
    assert_eq!(events.next().await.expect("an event")["object"]["apiVersion"], "example.com/v1beta1");

    let defaulted =
        json!([{"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/b/default", "value": "B"}]);
    let definition = format!("{DEFINITIONS}/things.example.com");
    server.patch("application/json-patch+json", &definition, &defaulted).await.ok();
    let seen = async {
        while server.get(&path("v1", "/one")).await.ok()["b"] != "B" {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), seen).await.expect("the default shows");
    let one = server.get(&path("v1", "/one")).await.ok();
    let written = server.put(&path("v1", "/one"), &one).await.ok();
    assert_ne!(written["metadata"]["resourceVersion"], one["metadata"]["resourceVersion"], "the default is stored now");

    // What the schema no longer knows is not shown, though it is stored.
    let dropped = json!([{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/a"}]);
    server.patch("application/json-patch+json", &definition, &dropped).await.ok();
    let seen = async {
        while server.get(&path("v1", "/one")).await.ok().get("a").is_some() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), seen).await.expect("the field is gone");
}

#[tokio::test]
async fn a_version_that_is_not_served_is_not_there_and_a_deprecated_one_warns() {
    let server = Server::start().await;
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut old = version("v1beta1", false, open.clone());
    old["deprecated"] = true.into();
    let mut unserved = version("v1alpha1", false, open.clone());
    unserved["served"] = false.into();
    server.define(&definition("things", "Thing", "Cluster", vec![unserved, old, version("v1", true, open)])).await;
    assert_eq!(server.get("/apis/example.com/v1alpha1/things").await.code, 404);
    let answer = server.get("/apis/example.com/v1beta1/things").await;
    assert_eq!(
        answer.headers["warning"],
        "299 - \"example.com/v1beta1 Thing is deprecated; use example.com/v1 Thing\""
    );
    let group = server.get("/apis/example.com").await.ok();
    let versions: Vec<&Value> = group["versions"].as_array().expect("versions").iter().map(|v| &v["version"]).collect();
    assert_eq!(versions, ["v1", "v1beta1"]);
    let thing =
        json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "any": {"thing": null}});
    assert_eq!(server.post("/apis/example.com/v1/things", &thing).await.ok()["any"], json!({"thing": null}));
}

#[tokio::test]
async fn a_restart_brings_kinds_and_objects_back() {
    let server = Server::start().await;
    server.define(&widgets()).await;
    let made = server.post(WIDGETS, &widget("a", json!({"size": 1}))).await.ok();
    let Server { api, directory, store, .. } = server;
    drop((api, store));
    let again = crate::restart::reopened(directory).await;
    assert_eq!(again.get(&format!("{WIDGETS}/a")).await.ok(), made);
    again.post(WIDGETS, &widget("b", json!({}))).await.ok();
}

#[tokio::test]
async fn large_limits_of_a_schema_are_the_same_after_create_and_apply() {
    let server = Server::start().await;
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "a": {"type": "integer", "maximum": 9223372036854775000_i64, "minimum": -9223372036854775808_i64},
        "b": {"type": "integer", "maximum": 9223372036854775807_i64, "default": 9223372036854775807_i64},
        "c": {"type": "number", "maximum": 18446744073709551615_u64, "multipleOf": 0.1},
        "d": {"type": "number", "maximum": 0.30000000000000004, "minimum": 1.7976931348623157e-300,
            "enum": [1.5, 9007199254740993_i64]},
    }}}});
    let definition = definition("limits", "Limit", "Namespaced", vec![version("v1", true, schema)]);
    let created = server.define(&definition).await;
    let path = format!("{DEFINITIONS}/limits.example.com");
    let limits = |object: &Value| {
        object["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"].clone()
    };
    let shown = limits(&created);
    assert_eq!(shown["a"]["maximum"].to_string(), "9223372036854775000");
    assert_eq!(shown["b"]["maximum"].to_string(), "9223372036854776000");
    assert_eq!(shown["b"]["default"].to_string(), "9223372036854775807");
    assert_eq!(shown["d"]["enum"][1].to_string(), "9007199254740993");
    // Written again as it was sent, and as it is shown, it is the same.
    for (body, manager) in [(definition.clone(), "me"), (definition, "you"), (created.clone(), "them")] {
        let mut body = body;
        body["metadata"] = json!({"name": "limits.example.com"});
        body.as_object_mut().expect("an object").remove("status");
        let query = format!("?fieldManager={manager}");
        let content_type = [("content-type", "application/apply-patch+yaml")];
        let applied = server.ask("PATCH", &format!("{path}{query}"), &content_type, body.to_string()).await.ok();
        assert_eq!(limits(&applied), shown, "{manager}");
        assert_eq!(applied["metadata"]["generation"], 1, "{manager}");
    }
    let replaced = server.put(&path, &created).await;
    assert!(replaced.code == 409 || replaced.ok()["metadata"]["generation"] == 1);
}
