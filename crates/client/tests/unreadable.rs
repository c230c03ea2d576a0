//! An informer whose API server has objects that do not decode: the collection stays in
//! step, and the objects are named in the list of problems.

use async_trait::async_trait;
use ferry_api::problems::Problems;
use ferry_client::{Body, BoxError, Client, Event, Informer, Informers, Transport, full_body};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use k8s_openapi::api::core::v1::Service;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;

/// Answers each list with the next of its lists, and every watch with what the test sends.
struct Scripted {
    lists: Mutex<VecDeque<Value>>,
    watches: Mutex<VecDeque<mpsc::UnboundedReceiver<String>>>,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Transport for Scripted {
    async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
        let query = request.uri().query().unwrap_or_default().to_owned();
        let is_watch = query.contains("watch=true");
        self.asked.lock().expect("whole").push(query);
        if !is_watch {
            let list = self.lists.lock().expect("whole").pop_front().ok_or("no more lists")?;
            return Ok(http::Response::new(full_body(list.to_string())));
        }
        let Some(lines) = self.watches.lock().expect("whole").pop_front() else { std::future::pending().await };
        let frames = futures_util::stream::unfold(lines, async |mut lines: mpsc::UnboundedReceiver<String>| {
            lines.recv().await.map(|line| (Ok::<_, BoxError>(Frame::data(line.into())), lines))
        });
        Ok(http::Response::new(StreamBody::new(Box::pin(frames)).boxed_unsync()))
    }
}

struct Scene {
    server: Arc<Scripted>,
    services: Informer<Service>,
    informers: Informers,
    problems: Problems,
    events: Vec<mpsc::UnboundedSender<String>>,
}

impl Scene {
    async fn start(lists: Vec<Value>) -> Self {
        let (events, watches): (Vec<_>, VecDeque<_>) = lists.iter().map(|_| mpsc::unbounded_channel()).unzip();
        let server = Arc::new(Scripted {
            lists: Mutex::new(lists.into()),
            watches: Mutex::new(watches),
            asked: Mutex::default(),
        });
        let problems = Problems::default();
        let client = Client::new(server.clone(), "kube-proxy/v1").with_problems(problems.clone());
        let informers = Informers::new(client);
        let services = informers.of::<Service>();
        tokio::time::timeout(Duration::from_secs(20), services.synced()).await.expect("the informer starts");
        Self { server, services, informers, problems, events }
    }

    fn send(&self, watch: usize, kind: &str, object: Value) {
        self.events[watch].send(format!("{}\n", json!({"type": kind, "object": object}))).expect("a watch");
    }

    fn names(&self) -> Vec<String> {
        self.services.list(None).iter().filter_map(|service| service.metadata.name.clone()).collect()
    }

    fn subjects(&self) -> Vec<String> {
        self.problems.list().into_iter().map(|p| format!("{} {} {}", p.component, p.subject, p.count)).collect()
    }
}

fn service(name: &str, uid: &str, revision: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": "default", "uid": uid, "resourceVersion": revision}})
}

/// No reading of nulls makes a number of a text.
fn unreadable(name: &str, uid: &str, revision: &str) -> Value {
    let mut object = service(name, uid, revision);
    object["spec"] = json!({"healthCheckNodePort": "many"});
    object
}

fn list(revision: &str, items: Vec<Value>) -> Value {
    json!({"kind": "ServiceList", "metadata": {"resourceVersion": revision}, "items": items})
}

async fn next(events: &mut mpsc::UnboundedReceiver<Event<Service>>) -> String {
    let event = tokio::time::timeout(Duration::from_secs(20), events.recv()).await.expect("an event").expect("open");
    let kind = match &event {
        Event::Added(_) => "added",
        Event::Updated { .. } => "updated",
        Event::Deleted(_) => "deleted",
    };
    let meta = &event.object().metadata;
    format!("{kind} {} {}", meta.name.as_deref().unwrap_or_default(), meta.resource_version.as_deref().unwrap_or("-"))
}

#[tokio::test]
async fn a_service_that_cannot_be_read_does_not_keep_an_informer_from_starting() {
    let scene = Scene::start(vec![list("5", vec![service("a", "1", "3"), unreadable("b", "2", "4")])]).await;
    assert_eq!(scene.names(), ["a"]);
    assert_eq!(scene.subjects(), ["kube-proxy services default/b 1"]);
}

#[tokio::test]
async fn a_service_that_cannot_be_read_does_not_stop_the_watch() {
    let lists = vec![list("5", vec![service("a", "1", "3"), service("b", "2", "4")])];
    let scene = Scene::start(lists).await;
    let mut events = scene.services.subscribe();
    assert_eq!((next(&mut events).await, next(&mut events).await), ("added a 3".into(), "added b 4".into()));
    scene.send(0, "MODIFIED", unreadable("b", "2", "6"));
    scene.send(0, "MODIFIED", unreadable("b", "2", "7"));
    scene.send(0, "ADDED", unreadable("c", "3", "8"));
    scene.send(0, "ADDED", service("d", "4", "9"));
    assert_eq!(next(&mut events).await, "added d 9");
    // The last version that could be read stays, so that nobody acts on the absence of b.
    assert_eq!(scene.names(), ["a", "b", "d"]);
    assert_eq!(scene.subjects(), ["kube-proxy services default/b 2", "kube-proxy services default/c 1"]);
    // Readable again, deleted, and replaced by another object.
    scene.send(0, "MODIFIED", service("b", "2", "10"));
    assert_eq!(next(&mut events).await, "updated b 10");
    assert_eq!(scene.subjects(), ["kube-proxy services default/c 1"]);
    scene.send(0, "DELETED", unreadable("a", "1", "11"));
    assert_eq!(next(&mut events).await, "deleted a 3");
    scene.send(0, "ADDED", unreadable("d", "other", "12"));
    assert_eq!(next(&mut events).await, "deleted d 9");
    assert_eq!(scene.names(), ["b"]);
    scene.send(0, "DELETED", unreadable("c", "3", "13"));
    scene.send(0, "DELETED", unreadable("d", "other", "14"));
    scene.send(0, "ADDED", service("e", "5", "15"));
    assert_eq!(next(&mut events).await, "added e 15");
    assert!(scene.problems.list().is_empty(), "{:?}", scene.problems.list());
}

#[tokio::test(start_paused = true)]
async fn a_watch_resumes_after_the_revision_of_an_object_that_cannot_be_read() {
    let mut scene = Scene::start(vec![list("5", vec![]), list("unused", vec![])]).await;
    let mut events = scene.services.subscribe();
    scene.send(0, "ADDED", unreadable("b", "2", "6"));
    scene.events.remove(0);
    scene.send(0, "ADDED", service("d", "4", "9"));
    assert_eq!(next(&mut events).await, "added d 9");
    let asked = scene.server.asked.lock().expect("whole").clone();
    assert!(asked.last().is_some_and(|query| query.contains("resourceVersion=6")), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_no_event_is_answered_with_a_fresh_list() {
    let lists = vec![
        list("5", vec![service("a", "1", "3"), unreadable("b", "2", "4"), unreadable("c", "3", "4")]),
        list("8", vec![service("b", "2", "7"), unreadable("c", "3", "4")]),
    ];
    let scene = Scene::start(lists).await;
    let mut events = scene.services.subscribe();
    assert_eq!(next(&mut events).await, "added a 3");
    scene.events[0].send("{\"type\":\"ADDED\"}\n".into()).expect("a watch");
    assert_eq!((next(&mut events).await, next(&mut events).await), ("deleted a 3".into(), "added b 7".into()));
    assert_eq!(scene.subjects(), ["kube-proxy services default/c 1"], "reported once for one revision");
}

#[tokio::test]
async fn the_problems_of_a_collection_that_is_forgotten_are_resolved() {
    let scene = Scene::start(vec![list("5", vec![unreadable("b", "2", "4")])]).await;
    let mut events = scene.services.subscribe();
    assert_eq!(scene.problems.list().len(), 1);
    scene.informers.forget(&ferry_client::ResourcePath::of::<Service>());
    assert!(events.recv().await.is_none());
    assert!(scene.problems.list().is_empty());
}
