//! Ownership through the life of objects, as a client reads it in `managedFields`.

use super::*;
use crate::gvk::GroupVersionKind;
use crate::object::Meta;
use crate::schema::{TypeDef, of_kind};
use crate::status::Status;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// One object and everyone who writes it; each write happens a second after the last.
struct Story {
    kind: GroupVersionKind,
    definition: Option<&'static TypeDef>,
    live: Option<Value>,
    second: i64,
}

impl Story {
    fn of(group: &'static str, version: &'static str, kind: &'static str) -> Self {
        let kind = GroupVersionKind::new(group, version, kind);
        let definition = of_kind(&kind).map(|definition| &**definition);
        Self { kind, definition, live: None, second: 1_577_836_800 }
    }

    fn deployment() -> Self {
        Self::of("apps", "v1", "Deployment")
    }

    fn options<'a>(&'a self, manager: &'a str, subresource: &'a str) -> WriteOptions<'a> {
        WriteOptions {
            manager,
            kind: &self.kind,
            subresource,
            now: jiff::Timestamp::from_second(self.second).expect("a time"),
            reset_fields: None,
        }
    }

    fn write(&mut self, manager: &str, subresource: &str, mut new: Value) {
        new.set_gvk(&self.kind);
        update(self.live.as_ref(), &mut new, self.definition, &self.options(manager, subresource));
        new.set_meta("uid", "u");
        self.live = Some(new);
        self.second += 1;
    }

    fn change(&mut self, manager: &str, subresource: &str, change: impl FnOnce(&mut Value)) {
        let mut new = self.live.clone().expect("an object");
        change(&mut new);
        self.write(manager, subresource, new);
    }

    fn apply(&mut self, manager: &str, force: bool, config: Value) -> Result<(), Status> {
        let mut config = config;
        config.set_gvk(&self.kind);
        let options = ApplyOptions { write: self.options(manager, ""), force };
        let mut new = apply(self.live.as_ref(), &config, self.definition, &options)?;
        new.set_meta("uid", "u");
        self.live = Some(new);
        self.second += 1;
        Ok(())
    }

    fn applied(&mut self, manager: &str, config: Value) {
        self.apply(manager, false, config).expect("no conflict");
    }

    fn at(&self, path: &str) -> Value {
        self.live.as_ref().and_then(|live| live.pointer(path)).cloned().unwrap_or(Value::Null)
    }

    /// `manager operation[/subresource] @second {fields}`, a line an entry.
    fn owners(&self) -> Vec<String> {
        let fields = self.live.as_ref().and_then(|live| live.meta("managedFields")).and_then(Value::as_array);
        let line = |entry: &Value| {
            let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
            let subresource =
                if text("subresource").is_empty() { String::new() } else { format!("/{}", text("subresource")) };
            let time = text("time").parse::<jiff::Timestamp>().map(|t| (t.as_second() - 1_577_836_800).to_string());
            let fields = Set::from_value(&entry["fieldsV1"]).expect("FieldsV1").to_json();
            format!(
                "{} {}{subresource} @{} {fields}",
                text("manager"),
                text("operation"),
                time.unwrap_or_else(|_| "-".into())
            )
        };
        fields.into_iter().flatten().map(line).collect()
    }

    fn check_owners(&self, expected: &[&str]) {
        assert_eq!(self.owners(), expected);
    }
}

fn web(replicas: u32, image: &str) -> Value {
    json!({
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": image, "ports": [{"containerPort": 80, "protocol": "TCP"}]}]},
            },
        },
    })
}

#[test]
fn a_deployment_from_kubectl_and_its_status() {
    let mut story = Story::deployment();
    story.write("kubectl-create", "", web(3, "a:1"));
    let created = r#"{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:replicas":{},"f:selector":{},"f:template":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:protocol":{}}},"f:resources":{}}}}}}}"#;
    story.check_owners(&[&format!("kubectl-create Update @0 {created}")]);

    story.change("kube-controller-manager", "status", |new| {
        new["status"] = json!({"observedGeneration": 1, "conditions": [{"type": "Available", "status": "True"}]});
    });
    let status = r#"{"f:status":{"f:conditions":{".":{},"k:{\"type\":\"Available\"}":{".":{},"f:lastTransitionTime":{},"f:lastUpdateTime":{},"f:status":{},"f:type":{}}},"f:observedGeneration":{}}}"#;
    story.check_owners(&[
        &format!("kubectl-create Update @0 {created}"),
        &format!("kube-controller-manager Update/status @1 {status}"),
    ]);

    // A write that changes nothing moves no time.
    story.change("kube-controller-manager", "status", |_| {});
    story.check_owners(&[
        &format!("kubectl-create Update @0 {created}"),
        &format!("kube-controller-manager Update/status @1 {status}"),
    ]);
}

#[test]
fn whoever_changes_a_field_takes_it() {
    let mut story = Story::of("", "v1", "ConfigMap");
    story.write("a", "", json!({"metadata": {"name": "c"}, "data": {"x": "1", "y": "1"}}));
    story.change("b", "", |new| new["data"]["x"] = "2".into());
    story.check_owners(&[r#"a Update @0 {"f:data":{".":{},"f:y":{}}}"#, r#"b Update @1 {"f:data":{"f:x":{}}}"#]);
    // A field that is removed is nobody's, and who owns nothing has no entry.
    story.change("a", "", |new| {
        new["data"].as_object_mut().expect("a map").remove("x");
        new["data"]["z"] = "1".into();
    });
    story.check_owners(&[r#"a Update @2 {"f:data":{".":{},"f:y":{},"f:z":{}}}"#]);
}

#[test]
fn clients_may_edit_and_reset_the_entries() {
    let mut story = Story::of("", "v1", "ConfigMap");
    story.write("a", "", json!({"metadata": {"name": "c"}, "data": {"x": "1"}}));
    // Without the field, or with a broken one, the live entries stand.
    story.change("b", "", |new| new.remove_meta("managedFields"));
    story.change("b", "", |new| new.set_meta("managedFields", json!([{"manager": "b", "operation": "Nope"}])));
    story.check_owners(&[r#"a Update @0 {"f:data":{".":{},"f:x":{}}}"#]);
    story.change("b", "", |new| new["metadata"]["managedFields"][0]["manager"] = "renamed".into());
    story.check_owners(&[r#"renamed Update @0 {"f:data":{".":{},"f:x":{}}}"#]);
    // A subresource cannot edit them.
    story.change("b", "status", |new| new.set_meta("managedFields", json!([])));
    story.check_owners(&[r#"renamed Update @0 {"f:data":{".":{},"f:x":{}}}"#]);
    for reset in [json!([]), json!([{}])] {
        story.change("b", "", |new| new.set_meta("managedFields", reset));
        story.check_owners(&[]);
    }
    // Once reset, updates are not tracked until someone applies.
    story.change("b", "", |new| new["data"]["x"] = "2".into());
    story.check_owners(&[]);
    story.applied("c", json!({"metadata": {"name": "c"}, "data": {"y": "1"}}));
    story.check_owners(&[
        r#"c Apply @8 {"f:data":{"f:y":{}}}"#,
        r#"before-first-apply Update @8 {"f:data":{".":{},"f:x":{}}}"#,
    ]);
}

#[test]
fn reset_fields_are_nobodys() {
    let reset = Set::of_fields(&[&["status"]]);
    let kind = GroupVersionKind::new("apps", "v1", "Deployment");
    let options = WriteOptions {
        manager: "a",
        kind: &kind,
        subresource: "",
        now: jiff::Timestamp::UNIX_EPOCH,
        reset_fields: Some(&reset),
    };
    let mut new = json!({"metadata": {"name": "w"}, "spec": {"paused": true}, "status": {"replicas": 1}});
    update(None, &mut new, of_kind(&kind).map(|d| &**d), &options);
    assert_eq!(new["metadata"]["managedFields"][0]["fieldsV1"], json!({"f:spec": {"f:paused": {}}}));
}

#[test]
fn more_than_ten_updaters_are_merged() {
    let mut story = Story::of("", "v1", "ConfigMap");
    story.write("m0", "", json!({"metadata": {"name": "c"}, "data": {"0": "x"}}));
    for n in 1..12 {
        story.change(&format!("m{n}"), "", |new| new["data"][n.to_string()] = "x".into());
    }
    let owners = story.owners();
    assert_eq!(owners.len(), 10);
    assert_eq!(owners[0], r#"ancient-changes Update @2 {"f:data":{".":{},"f:0":{},"f:1":{},"f:2":{}}}"#);
}

#[test]
fn two_appliers_conflict_share_and_force() {
    let mut story = Story::deployment();
    story.applied("first", web(3, "a:1"));
    let first = r#"{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:replicas":{},"f:selector":{},"f:template":{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:protocol":{}}}}}}}}}"#;
    story.check_owners(&[&format!("first Apply @0 {first}")]);

    let conflict = story.apply("second", false, json!({"metadata": {"name": "web"}, "spec": {"replicas": 5}}));
    let status = conflict.expect_err("a conflict");
    assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
    assert_eq!(status.message, "Apply failed with 1 conflict: conflict with \"first\": .spec.replicas");
    let causes = status.details.expect("details").causes;
    assert_eq!(
        (causes[0].reason.as_str(), causes[0].message.as_str(), causes[0].field.as_str()),
        ("FieldManagerConflict", "conflict with \"first\"", ".spec.replicas")
    );
    assert_eq!(story.at("/spec/replicas"), json!(3));

    // The same value is no conflict: both own it, and no time is set as nothing changed.
    story.applied("second", json!({"metadata": {"name": "web"}, "spec": {"replicas": 3}}));
    story.check_owners(&[r#"second Apply @- {"f:spec":{"f:replicas":{}}}"#, &format!("first Apply @0 {first}")]);

    // What is shared stays when one of the owners lets go.
    let mut without = web(3, "a:1");
    without["spec"].as_object_mut().expect("a map").remove("replicas");
    story.applied("first", without);
    assert_eq!(story.at("/spec/replicas"), json!(3));
    story.apply("third", true, json!({"metadata": {"name": "web"}, "spec": {"replicas": 7}})).expect("forced");
    assert_eq!(story.at("/spec/replicas"), json!(7));
    let owners = story.owners();
    assert_eq!(owners.len(), 2, "{owners:?}");
    assert_eq!(owners[1], r#"third Apply @3 {"f:spec":{"f:replicas":{}}}"#);
}

#[test]
fn conflicts_with_updaters_name_their_version_and_subresource() {
    let mut story = Story::deployment();
    story.write("kubectl-client-side-apply", "", web(3, "a:1"));
    let status =
        story.apply("x", false, json!({"metadata": {"name": "web"}, "spec": {"replicas": 5}})).expect_err("a conflict");
    assert_eq!(
        status.message,
        "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using apps/v1: .spec.replicas"
    );
    story.change("hpa", "scale", |new| new["spec"]["replicas"] = 4.into());
    let status = story.apply("x", false, web(5, "b:2")).expect_err("conflicts");
    assert_eq!(
        status.message,
        "Apply failed with 2 conflicts: conflicts with \"hpa\" with subresource \"scale\" using apps/v1:\n- .spec.replicas\nconflicts with \"kubectl-client-side-apply\" using apps/v1:\n- .spec.template.spec.containers[name=\"c\"].image"
    );
}

#[test]
fn a_field_no_longer_applied_goes_unless_someone_owns_it() {
    let mut story = Story::of("", "v1", "ConfigMap");
    let config = |data: Value| json!({"metadata": {"name": "c", "labels": {"l": "1"}}, "data": data});
    story.applied("a", config(json!({"x": "1", "y": "1", "z": "1"})));
    story.change("editor", "", |new| new["data"]["y"] = "2".into());
    story.applied("b", json!({"metadata": {"name": "c"}, "data": {"z": "1"}}));
    story.applied("a", json!({"metadata": {"name": "c"}, "data": {}}));
    assert_eq!(story.at("/data"), json!({"y": "2", "z": "1"}));
    assert_eq!(story.at("/metadata/labels"), Value::Null);
    assert_eq!(story.at("/metadata/name"), json!("c"));
}

#[test]
fn items_of_lists_go_with_their_last_owner() {
    let mut story = Story::deployment();
    let with = |containers: Value| json!({"metadata": {"name": "web"}, "spec": {"template": {"spec": {"containers": containers}}}});
    story.applied("a", with(json!([{"name": "one", "image": "1"}, {"name": "two", "image": "1"}])));
    story.applied("b", with(json!([{"name": "three", "image": "1"}])));
    story.applied("a", with(json!([{"name": "two", "image": "2"}])));
    let names: Vec<Value> = story
        .at("/spec/template/spec/containers")
        .as_array()
        .expect("a list")
        .iter()
        .map(|c| c["name"].clone())
        .collect();
    assert_eq!(names, ["two", "three"]);
    assert_eq!(story.at("/spec/template/spec/containers/0/image"), json!("2"));

    // The item goes with whoever applied it as an item, even where another set a field in
    // it: that one never owned the item itself.
    story.change("editor", "", |new| new["spec"]["template"]["spec"]["containers"][0]["tty"] = true.into());
    story.applied("a", json!({"metadata": {"name": "web"}}));
    assert_eq!(story.at("/spec/template/spec/containers"), json!([{"name": "three", "image": "1"}]));
    story.check_owners(&[
        r#"b Apply @1 {"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"three\"}":{".":{},"f:image":{},"f:name":{}}}}}}}"#,
    ]);
}

#[test]
fn sets_and_atomic_lists() {
    let mut story = Story::of("", "v1", "Pod");
    let with = |finalizers: Value, tolerations: Value| json!({"metadata": {"name": "p", "finalizers": finalizers}, "spec": {"tolerations": tolerations}});
    story.applied("a", with(json!(["a/x", "a/y"]), json!([{"key": "1"}])));
    story.change("b", "", |new| new["metadata"]["finalizers"] = json!(["a/x", "a/y", "b/z"]));
    story.applied("a", with(json!(["a/y"]), json!([{"key": "2"}])));
    assert_eq!(story.at("/metadata/finalizers"), json!(["a/y", "b/z"]));
    assert_eq!(story.at("/spec/tolerations"), json!([{"key": "2"}]));
    story.check_owners(&[
        r#"a Apply @2 {"f:metadata":{"f:finalizers":{"v:\"a/y\"":{}}},"f:spec":{"f:tolerations":{}}}"#,
        r#"b Update @1 {"f:metadata":{"f:finalizers":{"v:\"b/z\"":{}}}}"#,
    ]);
    let status = story.apply("c", false, with(json!(["a/y"]), json!([{"key": "3"}]))).expect_err("a conflict");
    assert_eq!(status.message, "Apply failed with 1 conflict: conflict with \"a\": .spec.tolerations");
}

#[test]
fn kubectl_moves_from_client_side_to_server_side() {
    let annotation = "kubectl.kubernetes.io/last-applied-configuration";
    let mut story = Story::deployment();
    let mut config = web(3, "a:1");
    config.set_gvk(&story.kind);
    let mut created = config.clone();
    created["metadata"]["annotations"] = json!({annotation: config.to_string()});
    story.write("kubectl-client-side-apply", "", created);
    // Fields that still are as client-side apply left them may be taken,
    story.apply("kubectl", false, web(3, "a:2")).expect("allowed");
    assert_eq!(story.at("/spec/template/spec/containers/0/image"), json!("a:2"));
    let kept = story.live.as_ref().and_then(|live| live.annotation(annotation)).expect("kept").to_owned();
    assert_eq!(
        serde_json::from_str::<Value>(&kept).expect("JSON")["spec"]["template"]["spec"]["containers"][0]["image"],
        "a:2"
    );
    // others may not.
    story.change("editor", "", |new| new["spec"]["replicas"] = 9.into());
    let status = story.apply("kubectl", false, web(4, "a:3")).expect_err("a conflict");
    assert_eq!(status.message, "Apply failed with 1 conflict: conflict with \"editor\" using apps/v1: .spec.replicas");
}

#[test]
fn objects_without_a_schema_have_their_types_deduced() {
    let mut story = Story::of("example.com", "v1", "Widget");
    let with = |spec: Value| json!({"metadata": {"name": "w"}, "spec": spec});
    story.applied("a", with(json!({"size": 1, "tags": ["x"], "opts": {"k": "v"}})));
    story.check_owners(&[r#"a Apply @0 {"f:spec":{".":{},"f:opts":{".":{},"f:k":{}},"f:size":{},"f:tags":{}}}"#]);
    story.change("b", "", |new| new["spec"]["opts"]["l"] = "w".into());
    story.applied("a", with(json!({"size": 1, "opts": {"k": "v"}})));
    assert_eq!(story.at("/spec"), json!({"size": 1, "opts": {"k": "v", "l": "w"}}));
}

#[test]
fn configurations_that_do_not_fit_are_refused() {
    let mut story = Story::deployment();
    let status = story
        .apply("a", false, json!({"metadata": {"name": "w", "namespace": "n"}, "spec": {"nope": 1}}))
        .expect_err("unknown");
    assert_eq!(
        status.message,
        "failed to create typed patch object (n/w; apps/v1, Kind=Deployment): .spec.nope: field not declared in schema"
    );
    let status = story.apply("a", false, json!({"metadata": {"name": "w", "managedFields": []}})).expect_err("fields");
    assert_eq!((status.code, status.message.as_str()), (400, "metadata.managedFields must be nil"));
    let kind = GroupVersionKind::new("apps", "v1", "Deployment");
    let options = ApplyOptions { write: story.options("a", ""), force: false };
    let other = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}});
    let status = apply(None, &other, of_kind(&kind).map(|d| &**d), &options).expect_err("another kind");
    assert_eq!((status.code, status.message.as_str()), (400, "invalid object type: /v1, Kind=Pod"));
}

#[test]
fn times_of_a_write_that_changes_nothing_are_taken_back() {
    let mut story = Story::of("", "v1", "ConfigMap");
    story.applied("a", json!({"metadata": {"name": "c"}, "data": {"x": "1"}}));
    let old = story.live.clone().expect("an object");
    let mut new = old.clone();
    new["metadata"]["managedFields"][0]["time"] = "2030-01-01T00:00:00Z".into();
    let mut changed = new.clone();
    keep_times_of_unchanged(&old, &mut new);
    assert_eq!(new, old);
    changed["data"]["x"] = "2".into();
    keep_times_of_unchanged(&old, &mut changed);
    assert_eq!(changed["metadata"]["managedFields"][0]["time"], "2030-01-01T00:00:00Z");
}

fn any_container() -> impl Strategy<Value = Value> {
    (0u8..3, 0u8..3, prop::collection::btree_map("[a-c]", "[xy]", 0..3), prop::collection::vec("[a-c]", 0..3)).prop_map(
        |(name, image, env, args)| {
            let env: Vec<Value> = env.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
            let mut container = json!({"name": format!("c{name}"), "image": format!("i{image}")});
            if !env.is_empty() {
                container["env"] = env.into();
            }
            if !args.is_empty() {
                container["args"] = args.into();
            }
            container
        },
    )
}

fn any_config() -> impl Strategy<Value = Value> {
    (
        prop::collection::btree_map("[a-c]", "[xy]", 1..3),
        prop::option::of(1u8..4),
        prop::collection::vec(any_container(), 0..4),
    )
        .prop_map(|(labels, replicas, containers)| {
            let labels: Map<String, Value> = labels.into_iter().map(|(key, value)| (key, value.into())).collect();
            let mut seen: Vec<Value> = Vec::new();
            for container in containers {
                if !seen.iter().any(|other| other["name"] == container["name"]) {
                    seen.push(container);
                }
            }
            let mut config = json!({"metadata": {"name": "web", "labels": labels}});
            if let Some(replicas) = replicas {
                config["spec"]["replicas"] = replicas.into();
            }
            if !seen.is_empty() {
                config["spec"]["template"]["spec"]["containers"] = seen.into();
            }
            config
        })
}

proptest! {
    #[test]
    fn applying_twice_is_applying_once(first in any_config(), second in any_config()) {
        let mut story = Story::deployment();
        story.applied("a", first);
        story.applied("a", second.clone());
        let once = story.live.clone();
        story.applied("a", second);
        prop_assert_eq!(story.live, once);
    }

    #[test]
    fn applying_what_is_there_shares_it(config in any_config()) {
        let mut story = Story::deployment();
        story.applied("a", config.clone());
        story.applied("b", config);
        let owners = story.owners();
        prop_assert_eq!(owners.len(), 2);
        let fields = |line: &String| line.split_once('{').map(|(_, fields)| fields.to_owned());
        prop_assert_eq!(fields(&owners[0]), fields(&owners[1]));
    }

    #[test]
    fn after_a_change_of_configuration_only_it_is_left(first in any_config(), second in any_config()) {
        let mut story = Story::deployment();
        story.applied("a", first);
        story.applied("a", second.clone());
        let mut alone = Story::deployment();
        alone.applied("a", second);
        let strip = |story: &Story| {
            let mut object = story.live.clone().expect("an object");
            object.remove_meta("managedFields");
            // What is empty now was there before, and no one says that it should go.
            fn prune(value: &mut Value) {
                if let Value::Object(map) = value {
                    map.values_mut().for_each(prune);
                    map.retain(|_, value| value != &json!({}) && value != &json!([]));
                }
            }
            prune(&mut object);
            object
        };
        let sorted = |mut object: Value| {
            if let Some(containers) = object.pointer_mut("/spec/template/spec/containers").and_then(Value::as_array_mut) {
                containers.sort_by_key(|container| container["name"].to_string());
                for container in containers {
                    if let Some(env) = container.get_mut("env").and_then(Value::as_array_mut) {
                        env.sort_by_key(|env| env["name"].to_string());
                    }
                }
            }
            object
        };
        prop_assert_eq!(sorted(strip(&story)), sorted(strip(&alone)));
    }
}
