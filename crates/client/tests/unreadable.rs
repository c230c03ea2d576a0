//! An informer whose API server sends whatever it likes: fields of any type are read, what is
//! no object is skipped and reported, and the collection stays in step.

use async_trait::async_trait;
use ferry_api::problems::Problems;
use ferry_api::view::core::v1::Service;
use ferry_client::{Body, BoxError, Client, Event, Informer, Informers, ResourcePath, Transport, full_body};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
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
        self.services.list(None).iter().map(|service| service.name().to_owned()).collect()
    }

    fn subjects(&self) -> Vec<String> {
        self.problems.list().into_iter().map(|p| format!("{} {} {}", p.component, p.subject, p.count)).collect()
    }
}

fn service(name: &str, uid: &str, revision: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": "default", "uid": uid, "resourceVersion": revision}})
}

/// Fields of other types than the API has, and null where it has an object.
fn foreign(name: &str, uid: &str, revision: &str) -> Value {
    let mut object = service(name, uid, revision);
    object["spec"] = json!({"healthCheckNodePort": "many", "ports": {"no": "list"}, "selector": null});
    object["status"] = json!({"conditions": [{"type": "A", "lastTransitionTime": null}, 7]});
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
    let meta = event.object().meta();
    format!("{kind} {} {}", meta.name(), meta.resource_version())
}

#[tokio::test]
async fn no_object_of_a_list_keeps_an_informer_from_starting() {
    let items = vec![service("a", "1", "3"), foreign("b", "2", "4"), json!(17), json!({"metadata": null}), json!(null)];
    let scene = Scene::start(vec![list("5", items)]).await;
    assert_eq!(scene.names(), ["a", "b"]);
    assert_eq!(scene.subjects(), ["kube-proxy services 3"]);
    let b = scene.services.get("default", "b").expect("b is read");
    assert_eq!((b.view().spec().health_check_node_port(), b.view().spec().ports().len()), (0, 0));
    assert!(b.view().status().conditions().first().is_some_and(|a| a.last_transition_time().is_none()));
}

#[tokio::test]
async fn no_object_stops_a_watch() {
    let scene = Scene::start(vec![list("5", vec![service("a", "1", "3")])]).await;
    let mut events = scene.services.subscribe();
    assert_eq!(next(&mut events).await, "added a 3");
    scene.send(0, "MODIFIED", foreign("a", "1", "6"));
    assert_eq!(next(&mut events).await, "updated a 6");
    scene.send(0, "ADDED", json!(17));
    scene.send(0, "ODD", service("z", "9", "7"));
    scene.send(0, "ADDED", json!({"metadata": {"resourceVersion": "8"}}));
    scene.send(0, "ADDED", service("d", "4", "9"));
    assert_eq!(next(&mut events).await, "added d 9");
    assert_eq!((scene.names(), scene.subjects()), (vec!["a".into(), "d".into()], vec!["kube-proxy services 2".into()]));
    scene.send(0, "DELETED", foreign("a", "1", "11"));
    assert_eq!(next(&mut events).await, "deleted a 11");
}

#[tokio::test(start_paused = true)]
async fn a_watch_resumes_after_the_revision_of_an_object_that_was_skipped() {
    let mut scene = Scene::start(vec![list("5", vec![]), list("unused", vec![])]).await;
    let mut events = scene.services.subscribe();
    scene.send(0, "ADDED", json!({"metadata": {"resourceVersion": "6"}}));
    scene.events.remove(0);
    scene.send(0, "ADDED", service("d", "4", "9"));
    assert_eq!(next(&mut events).await, "added d 9");
    let asked = scene.server.asked.lock().expect("whole").clone();
    assert!(asked.last().is_some_and(|query| query.contains("resourceVersion=6")), "{asked:?}");
}

/// The newest version is refused while an object of it cannot be read; any version is not.
#[tokio::test(start_paused = true)]
async fn a_list_may_be_of_any_version_and_is_never_older_than_what_was_seen() {
    let mut scene = Scene::start(vec![list("5", vec![]), list("9", vec![service("d", "4", "9")])]).await;
    let mut events = scene.services.subscribe();
    scene.send(0, "BOOKMARK", json!({"metadata": {"resourceVersion": "7"}}));
    let expired =
        json!({"kind": "Status", "status": "Failure", "reason": "Expired", "code": 410, "message": "too old"});
    scene.send(0, "ERROR", expired);
    scene.events.remove(0);
    assert_eq!(next(&mut events).await, "added d 9");
    let asked = scene.server.asked.lock().expect("whole").clone();
    let lists: Vec<&String> = asked.iter().filter(|query| !query.contains("watch=true")).collect();
    assert_eq!(lists, ["resourceVersion=0", "resourceVersion=7"]);
}

#[tokio::test]
async fn a_forgotten_collection_ends_and_can_be_followed_anew() {
    let scene = Scene::start(vec![list("5", vec![]), list("6", vec![service("a", "1", "6")])]).await;
    let mut events = scene.services.subscribe();
    scene.informers.forget(&ResourcePath::new("example.com", "v1", "services"));
    assert!(events.try_recv().is_err_and(|error| error == mpsc::error::TryRecvError::Empty));
    scene.informers.forget(&ResourcePath::of::<Service>());
    assert!(events.recv().await.is_none(), "the events end");
    assert!(scene.services.subscribe().recv().await.is_none(), "a late subscriber does not wait for ever");
    let anew = scene.informers.of::<Service>();
    tokio::time::timeout(Duration::from_secs(20), anew.synced()).await.expect("the informer starts again");
    assert_eq!(anew.len(), 1);
}
