//! Whatever the API accepts, our own components can read: objects of every builtin kind with
//! nulls, zero times, empty, unknown and unusually spelt fields go in through every door, and
//! every informer stays in step with them, before and after a restart. Then the controllers, the
//! scheduler and the kubelet's readers go through them and still do their work.
//!
//! An oddity that Go's decoders do not even see must be accepted; any other may be rejected as
//! invalid, and never ends in a failure of the server. How many of each kind were accepted has
//! a floor, so that the test cannot become empty.

mod broken;
mod components;
mod followers;
#[path = "../../../../resources/tests/minimal/mod.rs"]
mod minimal;
mod places;

use crate::restart::reopened;
use crate::server::{Answer, Server};
use components::Components;
use ferry_api::codec::protobuf;
use ferry_resources::Row;
use followers::{Followers, path_of, rows};
use minimal::minimal;
use places::{ODD, Odd, Place, Step, as_go_reads, change, places};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Rounds of the test; each has a server of its own. `PROPTEST_CASES` asks for more, and
/// `DOORS_SHOW_REJECTED` prints what was rejected, to be held against upstream's validation.
const ROUNDS: u32 = 2;
/// Writes of each kind in a round.
const WRITES: usize = 16;
/// The share of a kind's writes that must be accepted, in per cent.
const FLOOR: usize = 30;

const JSON: &str = "application/json";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The ways into the store that take an object from a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    Create,
    CreateYaml,
    CreateProtobuf,
    Update,
    UpdateProtobuf,
    JsonPatch,
    MergePatch,
    StrategicPatch,
    Apply,
    UpdateStatus,
    UpdateStatusProtobuf,
    PatchStatus,
    ApplyStatus,
}

const DOORS: [Door; 13] = [
    Door::Create,
    Door::CreateYaml,
    Door::CreateProtobuf,
    Door::Update,
    Door::UpdateProtobuf,
    Door::JsonPatch,
    Door::MergePatch,
    Door::StrategicPatch,
    Door::Apply,
    Door::UpdateStatus,
    Door::UpdateStatusProtobuf,
    Door::PatchStatus,
    Door::ApplyStatus,
];

impl Door {
    fn is_status(self) -> bool {
        matches!(self, Self::UpdateStatus | Self::UpdateStatusProtobuf | Self::PatchStatus | Self::ApplyStatus)
    }

    fn is_create(self) -> bool {
        matches!(self, Self::Create | Self::CreateYaml | Self::CreateProtobuf)
    }

    /// Whether null is a value here, and not an order to remove something.
    fn takes_whole_objects(self) -> bool {
        self.is_create() || matches!(self, Self::Update | Self::UpdateStatus)
    }
}

#[derive(Clone, Debug)]
struct Write {
    door: Door,
    reach: Reach,
    changes: Vec<(Index, Odd)>,
}

/// Which places a write changes. Few objects are valid that have an item where there was no
/// list, so most writes stay near what is there.
#[derive(Clone, Copy, Debug)]
enum Reach {
    Near,
    Anywhere,
}

fn any_write() -> impl Strategy<Value = Write> {
    let odd = prop_oneof![2 => Just(Odd::Null), 1 => Just(Odd::UnknownSibling), 2 => select(&ODD[..])];
    let changes = proptest::collection::vec((any::<Index>(), odd), 1..4);
    let reach = prop_oneof![4 => Just(Reach::Near), 1 => Just(Reach::Anywhere)];
    (select(&DOORS[..]), reach, changes).prop_map(|(door, reach, changes)| Write { door, reach, changes })
}

/// Writes of each kind that were accepted, and all of them.
type Tally = BTreeMap<String, (usize, usize)>;

#[test]
fn whatever_is_accepted_every_informer_reads() {
    let config = Config { failure_persistence: None, max_shrink_iters: 0, ..Config::with_cases(rounds()) };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let tally = Mutex::new(Tally::default());
    let writes = proptest::collection::vec(proptest::collection::vec(any_write(), WRITES), rows().count());
    let outcome = runner.run(&writes, |writes| {
        runtime.block_on(round(&writes, &tally));
        Ok(())
    });
    // The writes of a whole round would bury the reason, which names the one that matters.
    if let Err(TestError::Fail(reason, _) | TestError::Abort(reason)) = outcome {
        panic!("{reason}");
    }
    let tally = tally.into_inner().expect("whole");
    let poor: Vec<_> = tally.iter().filter(|(_, (accepted, tried))| accepted * 100 < tried * FLOOR).collect();
    assert!(tally.len() == rows().count() && poor.is_empty(), "too few were accepted: {poor:?}");
}

fn rounds() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(ROUNDS)
}

async fn round(writes: &[Vec<Write>], tally: &Mutex<Tally>) {
    let server = Server::start().await;
    let followers = Followers::start(&server).await;
    prepare_namespaces(&server).await;
    let (mut number, mut wrong) = (0, Vec::new());
    for (row, writes) in rows().zip(writes) {
        let places = places(row.schema.as_deref().expect("builtin kinds have a schema"));
        for write in writes {
            number += 1;
            let accepted = perform(&server, row, &places, write, number).await;
            let mut tally = tally.lock().expect("whole");
            let (count, tried) = tally.entry(row.gvk().to_string()).or_default();
            *tried += 1;
            *count += usize::from(accepted.as_ref().is_ok_and(|accepted| *accepted));
            wrong.extend(accepted.err());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    followers.in_step(&server, "while they watch").await;
    followers.stop().await;

    let Server { api, directory, store, .. } = server;
    api.stop();
    drop((api, store));
    let server = reopened(directory).await;
    let followers = Followers::start(&server).await;
    followers.in_step(&server, "after a restart").await;
    for row in rows() {
        number += 1;
        let (object, namespace) = numbered(row, number);
        server.post(&path_of(row).url(&namespace, None, None), &object).await.ok();
    }
    followers.in_step(&server, "after a later change").await;
    assert_eq!(server.get(ferry_api::problems::PATH).await.ok()["problems"], json!([]));
    followers.stop().await;

    let components = Components::start(&server);
    components.do_ordinary_work(&server).await;
    components.stop().await;
}

/// Each kind has a namespace, because a quota or a limit would concern the others.
async fn prepare_namespaces(server: &Server) {
    for row in rows().filter(|row| row.is_namespaced()) {
        let namespace = namespace_of(row);
        // Two versions of a kind share theirs.
        server.post("/api/v1/namespaces", &json!({"metadata": {"name": namespace}})).await;
        let accounts = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
        server.post(&accounts, &json!({"metadata": {"name": "default"}})).await;
    }
}

fn namespace_of(row: &Row) -> String {
    if row.is_namespaced() { format!("of-{}", row.plural) } else { String::new() }
}

/// The least object of a kind, under a name that no other has.
fn numbered(row: &Row, number: usize) -> (Value, String) {
    let mut object = minimal(row);
    let namespace = namespace_of(row);
    let mut name = format!("a-{number}");
    match (&*row.group, &*row.kind) {
        ("apiextensions.k8s.io", _) => {
            let (plural, kind) = (format!("foos{number}"), format!("Foo{number}"));
            name = format!("{plural}.example.com");
            object["spec"]["names"] = json!({"plural": plural, "kind": kind});
        }
        ("apiregistration.k8s.io", _) => {
            name = format!("v{number}.example.com");
            object["spec"]["version"] = format!("v{number}").into();
        }
        ("networking.k8s.io", "IPAddress") => name = format!("10.200.{}.{}", number / 250, number % 250),
        ("", "Event") => object["involvedObject"]["namespace"] = namespace.clone().into(),
        ("events.k8s.io", _) => object["regarding"]["namespace"] = namespace.clone().into(),
        // Hooks and policies must not concern the other writes.
        ("admissionregistration.k8s.io", _) => {
            let rule = json!({"operations": ["CREATE"], "apiGroups": ["example.com"], "apiVersions": ["v1"],
                "resources": ["foos"]});
            for pointer in ["/webhooks/0/rules/0", "/spec/matchConstraints/resourceRules/0"] {
                object.pointer_mut(pointer).into_iter().for_each(|place| *place = rule.clone());
            }
        }
        _ => {}
    }
    object["metadata"] = json!({"name": name});
    if row.is_namespaced() {
        object["metadata"]["namespace"] = namespace.clone().into();
    }
    (object, namespace)
}

/// Sends one write and returns whether it was accepted; an error is an answer that upstream
/// does not give.
async fn perform(server: &Server, row: &Row, places: &[Place], write: &Write, number: usize) -> Result<bool, String> {
    let Write { mut door, reach, changes } = write.clone();
    if door.is_status() && row.subresource("status").is_none() {
        door = Door::Update;
    }
    let schema = row.schema.as_deref().expect("builtin kinds have a schema");
    let (least, namespace) = numbered(row, number);
    let collection = path_of(row).url(&namespace, None, None);
    let mut path = path_of(row).url(&namespace, least["metadata"]["name"].as_str(), None);
    if door.is_status() {
        path.push_str("/status");
    }
    let mut base = least.clone();
    if !door.is_create() {
        let created = server.post(&collection, &least).await;
        if created.code >= 300 {
            return Err(format!("the least {} is rejected: {}", row.gvk(), created.message()));
        }
    }
    let (object, answer) = loop {
        // An update sends the object that was read; a patch, what its author knows.
        if matches!(door, Door::Update | Door::UpdateProtobuf | Door::UpdateStatus | Door::UpdateStatusProtobuf) {
            base = server.get(&path).await.ok();
        }
        let object = changed(&base, door, reach, places, &changes);
        let Some(answer) = send(server, row, door, &collection, &path, &object).await else { return Ok(false) };
        // The server's own controllers write some kinds too.
        if answer.code != 409 || door.is_create() {
            break (object, answer);
        }
    };
    let (code, message) = (answer.code, answer.message());
    let what = || format!("{} by {door:?}: {code} {message}\n{object}", row.gvk());
    // Upstream has no better code for an applied object that does not fit the schema, nor for an
    // item of a strategic patch that has no merge key.
    let is_upstreams = message.starts_with("failed to create typed patch object")
        || message.contains("does not contain declared merge key");
    if code >= 500 && !is_upstreams {
        return Err(format!("the server fails: {}", what()));
    }
    let is_plain = door.takes_whole_objects() && as_go_reads(&object, schema) == as_go_reads(&base, schema);
    if is_plain && code >= 300 {
        return Err(format!("an object like any other is rejected: {}", what()));
    }
    if code >= 300 && std::env::var_os("DOORS_SHOW_REJECTED").is_some() {
        eprintln!("{}", what());
    }
    Ok(code < 300)
}

/// The object with every change of a write that its door is for.
fn changed(base: &Value, door: Door, reach: Reach, places: &[Place], changes: &[(Index, Odd)]) -> Value {
    let status = Step::Field("status".into());
    let is_eligible = |place: &&Place| match reach {
        _ if door.is_status() => place.way[0] == status,
        Reach::Near => place.is_near(base),
        Reach::Anywhere => true,
    };
    let eligible: Vec<&Place> = places.iter().filter(is_eligible).collect();
    let mut object = base.clone();
    for (index, odd) in changes {
        change(&mut object, index.get::<&Place>(&eligible), *odd);
    }
    object
}

/// `None` for an object that has no form at this door.
async fn send(server: &Server, row: &Row, door: Door, collection: &str, path: &str, object: &Value) -> Option<Answer> {
    let schema = row.schema.as_deref().expect("builtin kinds have a schema");
    let text = object.to_string();
    let apply = format!("{path}?fieldManager=doors&force=true");
    let (method, path, content_type, body) = match door {
        Door::Create => ("POST", collection, JSON, text.into_bytes()),
        Door::CreateYaml => {
            ("POST", collection, "application/yaml", serde_yaml_ng::to_string(object).ok()?.into_bytes())
        }
        Door::CreateProtobuf => ("POST", collection, PROTOBUF, protobuf::encode(object, schema).ok()?),
        Door::Update | Door::UpdateStatus => ("PUT", path, JSON, text.into_bytes()),
        Door::UpdateProtobuf | Door::UpdateStatusProtobuf => {
            ("PUT", path, PROTOBUF, protobuf::encode(object, schema).ok()?)
        }
        Door::JsonPatch => ("PATCH", path, "application/json-patch+json", json_patch(object).to_string().into_bytes()),
        Door::MergePatch | Door::PatchStatus => ("PATCH", path, "application/merge-patch+json", text.into_bytes()),
        Door::StrategicPatch => ("PATCH", path, "application/strategic-merge-patch+json", text.into_bytes()),
        Door::Apply | Door::ApplyStatus => ("PATCH", &*apply, "application/apply-patch+yaml", text.into_bytes()),
    };
    Some(server.ask(method, path, &[("content-type", content_type)], body).await)
}

/// Sets everything that an object has but its identity.
fn json_patch(object: &Value) -> Value {
    let set = |path: String, value: &Value| json!({"op": "add", "path": path, "value": value});
    let fields = object.as_object().into_iter().flatten();
    let fields = fields.filter(|(name, _)| !matches!(name.as_str(), "apiVersion" | "kind" | "metadata"));
    let metadata = object["metadata"].as_object().into_iter().flatten();
    let metadata = metadata.filter(|(name, _)| !matches!(name.as_str(), "name" | "namespace"));
    let mut operations: Vec<Value> = fields.map(|(name, value)| set(format!("/{name}"), value)).collect();
    operations.extend(metadata.map(|(name, value)| set(format!("/metadata/{name}"), value)));
    operations.into()
}
