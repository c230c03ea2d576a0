//! kube-rs: a controller on a custom resource as its users write one, from the derived
//! definition to the finalizer, and its two ways of keeping a copy in step.

use ferry_interop::Server;
use futures_util::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::controller::Action;
use kube::runtime::finalizer::{Event as Finalizer, finalizer};
use kube::runtime::reflector::{self, ObjectRef};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{Controller, WatchStreamExt, watcher};
use kube::{Client, Config, CustomResource, CustomResourceExt, Resource, ResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const FINALIZER: &str = "ships.example.com/harbour";
const PATIENCE: Duration = Duration::from_secs(60);

/// A ship has a log: a ConfigMap that the controller keeps.
#[derive(CustomResource, Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[kube(
    group = "example.com",
    version = "v1",
    kind = "Ship",
    plural = "ships",
    shortname = "sh",
    namespaced,
    status = "ShipStatus",
    selectable = ".spec.flag",
    printcolumn = r#"{"name":"Crew","type":"integer","jsonPath":".spec.crew"}"#
)]
#[serde(rename_all = "camelCase")]
struct ShipSpec {
    #[schemars(range(min = 1, max = 100))]
    crew: i32,
    #[serde(default = "no_flag")]
    flag: String,
    destination: Option<String>,
}

fn no_flag() -> String {
    "none".into()
}

#[derive(Deserialize, Serialize, Clone, Debug, Default, JsonSchema, PartialEq)]
#[serde(rename_all = "camelCase")]
struct ShipStatus {
    log: String,
    observed_generation: i64,
}

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Kube(#[from] kube::Error),
    #[error("finalizer: {0}")]
    Finalizer(#[source] Box<kube::runtime::finalizer::Error<Error>>),
    #[error("a ship without {0}")]
    Without(&'static str),
}

struct Harbour {
    client: Client,
    sunk: AtomicUsize,
}

async fn client(server: &Server) -> Client {
    let kubeconfig = Kubeconfig::read_from(server.kubeconfig()).expect("a kubeconfig");
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.expect("a config");
    Client::try_from(config).expect("a client")
}

async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("waited too long for {what}"))
}

async fn define(client: &Client) {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let apply = PatchParams::apply("harbour").force();
    let made = definitions.patch("ships.example.com", &apply, &Patch::Apply(Ship::crd())).await.expect("a definition");
    assert_eq!(made.spec.names.short_names, Some(vec!["sh".to_owned()]));
    within("the definition", await_condition(definitions, "ships.example.com", conditions::is_crd_established()))
        .await
        .expect("established");
}

fn ship(name: &str, crew: i32) -> Ship {
    Ship::new(name, ShipSpec { crew, flag: no_flag(), destination: Some("Kiel".into()) })
}

async fn reconcile(ship: Arc<Ship>, harbour: Arc<Harbour>) -> Result<Action, Error> {
    let namespace = ship.namespace().ok_or(Error::Without("namespace"))?;
    let ships: Api<Ship> = Api::namespaced(harbour.client.clone(), &namespace);
    finalizer(&ships, FINALIZER, ship, |event| async {
        match event {
            Finalizer::Apply(ship) => keep_log(&ship, &namespace, &harbour).await,
            Finalizer::Cleanup(ship) => {
                let logs: Api<ConfigMap> = Api::namespaced(harbour.client.clone(), &namespace);
                logs.delete(&log_name(&ship), &DeleteParams::default()).await?;
                harbour.sunk.fetch_add(1, Ordering::SeqCst);
                Ok(Action::await_change())
            }
        }
    })
    .await
    .map_err(|error| Error::Finalizer(Box::new(error)))
}

fn log_name(ship: &Ship) -> String {
    format!("{}-log", ship.name_any())
}

async fn keep_log(ship: &Ship, namespace: &str, harbour: &Harbour) -> Result<Action, Error> {
    let apply = PatchParams::apply("harbour").force();
    let log = ConfigMap {
        metadata: ObjectMeta {
            name: Some(log_name(ship)),
            owner_references: ship.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([("crew".to_owned(), ship.spec.crew.to_string())])),
        ..ConfigMap::default()
    };
    let logs: Api<ConfigMap> = Api::namespaced(harbour.client.clone(), namespace);
    let log = logs.patch(&log_name(ship), &apply, &Patch::Apply(&log)).await?;
    let status = json!({
        "apiVersion": Ship::api_version(&()), "kind": Ship::kind(&()),
        "status": ShipStatus { log: log.name_any(), observed_generation: ship.metadata.generation.unwrap_or_default() },
    });
    let ships: Api<Ship> = Api::namespaced(harbour.client.clone(), namespace);
    ships.patch_status(&ship.name_any(), &apply, &Patch::Apply(&status)).await?;
    Ok(Action::await_change())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kube_rs_controller_keeps_custom_resources() {
    let server = Server::start().await.expect("a server");
    let client = client(&server).await;
    define(&client).await;
    let ships: Api<Ship> = Api::namespaced(client.clone(), "default");
    let logs: Api<ConfigMap> = Api::namespaced(client.clone(), "default");

    let harbour = Arc::new(Harbour { client: client.clone(), sunk: AtomicUsize::new(0) });
    let stop = Arc::new(tokio::sync::Notify::new());
    let stopped = stop.clone();
    let controller = Controller::new(ships.clone(), watcher::Config::default())
        .owns(logs.clone(), watcher::Config::default())
        .graceful_shutdown_on(async move { stopped.notified().await })
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_millis(50)), harbour.clone());
    let controller = tokio::spawn(controller.for_each(|_| async {}));

    // The controller takes the ship on: finalizer, child, status.
    ships.create(&PostParams::default(), &ship("aurora", 12)).await.expect("a ship");
    let kept = await_condition(ships.clone(), "aurora", |ship: Option<&Ship>| {
        ship.and_then(|ship| ship.status.as_ref()).is_some_and(|status| status.observed_generation == 1)
    });
    let kept = within("the first status", kept).await.expect("a watch").expect("a ship");
    assert_eq!(kept.status, Some(ShipStatus { log: "aurora-log".into(), observed_generation: 1 }));
    assert_eq!(kept.finalizers(), [FINALIZER]);
    assert_eq!(kept.metadata.generation, Some(1), "a write of the status is no new generation");
    let log = logs.get("aurora-log").await.expect("the log");
    assert_eq!(log.data.as_ref().map(|data| data["crew"].as_str()), Some("12"));
    let owner = &log.owner_references()[0];
    assert_eq!((owner.name.as_str(), Some(&owner.uid)), ("aurora", kept.metadata.uid.as_ref()));

    // A change of the spec reaches child and status; the status cannot be written with it.
    let change = json!({"spec": {"crew": 13}, "status": {"log": "forged", "observedGeneration": 99}});
    let changed = ships.patch("aurora", &PatchParams::default(), &Patch::Merge(&change)).await.expect("changed");
    assert_eq!(changed.metadata.generation, Some(2));
    assert_ne!(changed.status.as_ref().map(|status| status.log.as_str()), Some("forged"));
    let followed = await_condition(logs.clone(), "aurora-log", |log: Option<&ConfigMap>| {
        log.and_then(|log| log.data.as_ref()).is_some_and(|data| data.get("crew").is_some_and(|crew| crew == "13"))
    });
    within("the log to follow", followed).await.expect("a watch");

    // A child that somebody deletes is made again.
    let uid = log.uid().expect("a uid");
    logs.delete("aurora-log", &DeleteParams::default()).await.expect("deleted");
    let again = await_condition(logs.clone(), "aurora-log", |log: Option<&ConfigMap>| {
        log.is_some_and(|log| log.uid().is_some_and(|found| found != uid))
    });
    within("the log to come back", again).await.expect("a watch");

    // The schema that the derive made is obeyed.
    let refused = ships.create(&PostParams::default(), &ship("overfull", 101)).await.expect_err("too many");
    let kube::Error::Api(status) = refused else { panic!("{refused:?}") };
    assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
    assert!(status.message.contains("spec.crew"), "{}", status.message);
    let french = ListParams::default().fields("spec.flag=fr");
    assert_eq!(ships.list(&french).await.expect("a list").items.len(), 0);
    let none = ListParams::default().fields("spec.flag=none");
    assert_eq!(ships.list(&none).await.expect("a list").items.len(), 1);

    // Deletion waits for the finalizer, which cleans up.
    let uid = kept.uid().expect("a uid");
    let deleted = ships.delete("aurora", &DeleteParams::default()).await.expect("deletion begins");
    assert!(deleted.left().is_some_and(|ship| ship.metadata.deletion_timestamp.is_some()), "a finalizer holds it");
    within("the ship to go", await_condition(ships.clone(), "aurora", conditions::is_deleted(&uid)))
        .await
        .expect("gone");
    assert_eq!(harbour.sunk.load(Ordering::SeqCst), 1);
    assert!(logs.get_opt("aurora-log").await.expect("an answer").is_none());
    stop.notify_one();
    within("the controller to stop", controller).await.expect("it stops");
}

/// A copy made by list and watch and one made by a streaming list are the same, and stay so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kube_rs_reflectors_keep_a_true_copy() {
    let server = Server::start().await.expect("a server");
    let client = client(&server).await;
    define(&client).await;
    let ships: Api<Ship> = Api::namespaced(client.clone(), "default");
    for number in 0..25 {
        ships.create(&PostParams::default(), &ship(&format!("ship-{number:02}"), 1)).await.expect("a ship");
    }
    let ways = [watcher::Config::default().page_size(10), watcher::Config::default().streaming_lists()];
    let mut stores = Vec::new();
    for config in ways {
        let (reader, writer) = reflector::store();
        let kept = watcher(ships.clone(), config).reflect(writer).applied_objects();
        tokio::spawn(async move { kept.try_for_each(|_| async { Ok(()) }).await });
        within("the first list", reader.wait_until_ready()).await.expect("a store");
        assert_eq!(reader.len(), 25);
        stores.push(reader);
    }
    ships.delete("ship-03", &DeleteParams::default()).await.expect("deleted");
    let change = Patch::Merge(json!({"spec": {"crew": 7}}));
    ships.patch("ship-04", &PatchParams::default(), &change).await.expect("changed");
    ships.create(&PostParams::default(), &ship("ship-99", 2)).await.expect("a ship");
    let truth: BTreeMap<String, Option<String>> = ships
        .list(&ListParams::default())
        .await
        .expect("a list")
        .iter()
        .map(|ship| (ship.name_any(), ship.resource_version()))
        .collect();
    assert_eq!(truth.len(), 25);
    let last = ObjectRef::new("ship-99").within("default");
    for store in stores {
        within("the copy", async {
            while store.get(&last).is_none() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
        let copy: BTreeMap<_, _> =
            store.state().iter().map(|ship| (ship.name_any(), ship.resource_version())).collect();
        assert_eq!(copy, truth);
    }
}
