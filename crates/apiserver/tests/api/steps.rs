//! The steps of one create, recorded where they happen and compared with the list in
//! ARCHITECTURE.md: the page cannot tell another order than the code's.

use crate::hook_server::{HookServer, allow};
use crate::server::{SERVICES, Server, service};
use crate::webhooks::{MUTATING, VALIDATING, configure, hook, rule};
use ferry_api::field::ErrorList;
use ferry_apiserver::cache::lookup::Change;
use ferry_resources::strategy::Context;
use ferry_resources::{Row, Strategy};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ARCHITECTURE.md"));

#[derive(Clone, Default)]
struct Steps(Arc<Mutex<Vec<&'static str>>>);

impl Steps {
    fn note(&self, step: &'static str) {
        self.0.lock().expect("no step panics").push(step);
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().expect("no step panics"))
    }
}

/// The strategy of Services, which notes what it is asked for.
struct Recording {
    of_services: Arc<dyn Strategy>,
    steps: Steps,
}

impl Strategy for Recording {
    fn default(&self, object: &mut Value) {
        self.steps.note("defaults");
        self.of_services.default(object);
    }

    fn prepare_for_create(&self, context: &Context, object: &mut Value) {
        self.steps.note("prepare");
        let is_bootstrapped = object["metadata"]["name"] == "kubernetes";
        assert!(is_bootstrapped || object["spec"].get("clusterIP").is_none(), "the hook comes later");
        self.of_services.prepare_for_create(context, object);
    }

    fn validate(&self, object: &Value) -> ErrorList {
        // The hook of Services has no strategy to note it; the address that it took is its trace.
        if object["spec"].get("clusterIP").is_some() {
            self.steps.note("hook");
        }
        self.steps.note("validation");
        self.of_services.validate(object)
    }
}

/// The numbered lines below the heading of the list.
fn listed() -> Vec<&'static str> {
    let (_, list) = PAGE.split_once("The steps of a create:\n").expect("the page has the list");
    let lines = list.lines().map(str::trim).skip_while(|line| !line.starts_with("1 "));
    let numbered = lines.take_while(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    numbered.filter_map(|line| line.split_once(' ')?.1.split("  ").next()).collect()
}

#[tokio::test]
async fn a_create_takes_the_steps_of_the_architecture_page_in_their_order() {
    let steps = Steps::default();
    let rows: Vec<Arc<Row>> = ferry_resources::all()
        .iter()
        .map(|row| {
            let mut row = Row::clone(row);
            if row.group.is_empty() && row.plural == "services" {
                row.strategy = Arc::new(Recording { of_services: row.strategy.clone(), steps: steps.clone() });
            }
            Arc::new(row)
        })
        .collect();
    let directory = TempDir::new().expect("a directory");
    let server = Server::start_with_rows(directory, rows, |_| ()).await;
    let mut asked = Vec::new();
    for (path, step) in [(MUTATING, "mutating admission"), (VALIDATING, "validating admission")] {
        let steps = steps.clone();
        let hooks = HookServer::reviewing(move |review| {
            steps.note(step);
            allow(review)
        })
        .await;
        configure(&server, path, "steps", &[hook(&hooks, "steps", rule(&["CREATE"], &["services"]))]).await;
        asked.push(hooks);
    }
    let cached = steps.clone();
    let observer = move |change: &Change| {
        if matches!(change, Change::Put(stored) if stored.name() == "a") {
            cached.note("watch cache");
        }
    };
    server.api.lookup().subscribe("", "services", Box::new(observer));
    // The start wrote default/kubernetes.
    steps.take();
    let answer = server.post(SERVICES, &service("a")).await;
    steps.note("answer");
    assert_eq!(answer.code, 201, "{}", answer.message());
    assert_eq!(answer.json()["metadata"]["name"], json!("a"));
    assert_eq!(steps.take(), listed());
}
