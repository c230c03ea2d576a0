//! Real queries over loopback: UDP, TCP, EDNS, truncation, forwarding and change.

mod forwarding;
mod reach;

use async_trait::async_trait;
use bytes::Bytes;
use ferry_client::{Body, BoxError, Client, Informers, Transport, full_body};
use ferry_dns::Config;
use hickory_proto::op::{Edns, Message, Query, ResponseCode};
use hickory_proto::rr::rdata::A;
use hickory_proto::rr::{Name, RData, Record, RecordType};
use http_body_util::{BodyExt, StreamBody};
use serde_json::{Value, json};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

/// The path that is watched, and the way to the watcher.
type Watcher = (String, mpsc::UnboundedSender<Bytes>);

/// Lists what it was given and streams what it is told.
#[derive(Clone, Default)]
struct StaticApi {
    objects: Arc<Vec<(&'static str, Value)>>,
    watchers: Arc<Mutex<Vec<Watcher>>>,
}

impl StaticApi {
    fn tell(&self, plural: &str, kind: &str, object: &Value) {
        let line = format!("{}\n", json!({"type": kind, "object": object}));
        for (path, watcher) in self.watchers.lock().expect("no panic under the lock").iter() {
            if path.ends_with(plural) {
                // A watcher that is gone needs no news.
                let _ = watcher.send(line.clone().into());
            }
        }
    }

    fn is_watched(&self, plural: &str) -> bool {
        self.watchers.lock().expect("no panic under the lock").iter().any(|(path, _)| path.ends_with(plural))
    }
}

#[async_trait]
impl Transport for StaticApi {
    async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
        let path = request.uri().path().to_owned();
        if request.uri().query().unwrap_or_default().contains("watch=true") {
            let (sender, receiver) = mpsc::unbounded_channel();
            self.watchers.lock().expect("no panic under the lock").push((path, sender));
            let lines = futures_util::stream::unfold(receiver, |mut receiver| async {
                let line: Bytes = receiver.recv().await?;
                Some((Ok::<_, BoxError>(http_body::Frame::data(line)), receiver))
            });
            return Ok(http::Response::new(StreamBody::new(lines).boxed_unsync()));
        }
        let items: Vec<&Value> =
            self.objects.iter().filter(|(plural, _)| path.ends_with(plural)).map(|(_, object)| object).collect();
        Ok(http::Response::new(full_body(json!({"metadata": {"resourceVersion": "1"}, "items": items}).to_string())))
    }
}

fn service(name: &str, spec: Value) -> (&'static str, Value) {
    ("services", json!({"metadata": {"name": name, "namespace": "default", "resourceVersion": "1"}, "spec": spec}))
}

/// A headless service with this many endpoints.
fn crowd(name: &str, size: usize) -> [(&'static str, Value); 2] {
    let endpoints: Vec<Value> =
        (0..size).map(|n| json!({"addresses": [format!("10.244.{}.{}", n / 250, n % 250 + 1)]})).collect();
    let slice = json!({"metadata": {"name": format!("{name}-1"), "namespace": "default", "resourceVersion": "1",
        "labels": {"kubernetes.io/service-name": name}}, "addressType": "IPv4", "endpoints": endpoints, "ports": []});
    [service(name, json!({"clusterIP": "None"})), ("endpointslices", slice)]
}

struct Running {
    address: SocketAddr,
    api: StaticApi,
    _guard: DropGuard,
}

async fn start(objects: Vec<(&'static str, Value)>, resolvers: Vec<SocketAddr>) -> Running {
    let bind = vec![bind_both().await.0.local_addr().expect("an address")];
    serve_with(Config { bind, ..Default::default() }, objects, resolvers).await
}

async fn serve_with(config: Config, objects: Vec<(&'static str, Value)>, resolvers: Vec<SocketAddr>) -> Running {
    let api = StaticApi { objects: Arc::new(objects), ..Default::default() };
    let shutdown = CancellationToken::new();
    let client = Client::new(Arc::new(api.clone()), "dns");
    let informers = Informers::with_shutdown(client, shutdown.clone());
    let (ready, is_ready) = oneshot::channel();
    let config = Config { resolvers: Some(resolvers), ready: Some(ready), ..config };
    let run = ferry_dns::run(config, informers, shutdown.clone());
    tokio::spawn(async move { run.await.expect("the server runs") });
    let address = is_ready.await.expect("the server comes up")[0];
    Running { address, api, _guard: shutdown.drop_guard() }
}

fn question(name: &str, kind: RecordType) -> Message {
    let mut message = Message::query();
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(Name::from_ascii(name).expect("a name"), kind));
    message
}

async fn ask(server: SocketAddr, message: &Message) -> Message {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a socket");
    socket.send_to(&message.to_vec().expect("bytes"), server).await.expect("sent");
    let mut buffer = [0; 65_535];
    let received = tokio::time::timeout(Duration::from_secs(20), socket.recv(&mut buffer)).await;
    let length = received.expect("an answer in time").expect("an answer");
    let answer = Message::from_vec(&buffer[..length]).expect("a message");
    assert_eq!(answer.metadata.id, message.metadata.id);
    answer
}

async fn ask_over_tcp(server: SocketAddr, message: &Message) -> Message {
    let mut stream = TcpStream::connect(server).await.expect("a connection");
    let bytes = message.to_vec().expect("bytes");
    let length = u16::try_from(bytes.len()).expect("a short question").to_be_bytes();
    stream.write_all(&[&length[..], &bytes].concat()).await.expect("sent");
    let length = stream.read_u16().await.expect("a length");
    let mut buffer = vec![0; usize::from(length)];
    stream.read_exact(&mut buffer).await.expect("an answer");
    Message::from_vec(&buffer).expect("a message")
}

fn data(message: &Message) -> Vec<String> {
    message.answers.iter().map(|record| record.data.to_string()).collect()
}

/// A port that is free for UDP may be somebody's for TCP; another is tried then.
async fn bind_both() -> (UdpSocket, TcpListener) {
    loop {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a socket");
        match TcpListener::bind(socket.local_addr().expect("an address")).await {
            Ok(listener) => return (socket, listener),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse),
        }
    }
}

/// A resolver that knows one name, and says more than fits when asked for `large.test`.
async fn resolver() -> SocketAddr {
    let (socket, listener) = bind_both().await;
    let address = socket.local_addr().expect("an address");
    fn answer(bytes: &[u8], over_tcp: bool) -> Vec<u8> {
        let mut message = Message::from_vec(bytes).expect("a question").into_response();
        let name = message.queries[0].name().clone();
        let count = if name.to_ascii() == "large.test." { 100 } else { 1 };
        if name.to_ascii() == "none.test." {
            message.metadata.response_code = ResponseCode::NXDomain;
        } else if count > 1 && !over_tcp {
            message.metadata.truncation = true;
        } else {
            for n in 1..=count {
                message.add_answer(Record::from_rdata(name.clone(), 60, RData::A(A(Ipv4Addr::new(192, 0, 2, n)))));
            }
        }
        message.to_vec().expect("bytes")
    }
    tokio::spawn(async move {
        let mut buffer = [0; 4096];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            socket.send_to(&answer(&buffer[..length], false), from).await.expect("sent");
        }
    });
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let length = stream.read_u16().await.expect("a length");
            let mut buffer = vec![0; usize::from(length)];
            stream.read_exact(&mut buffer).await.expect("a question");
            let bytes = answer(&buffer, true);
            stream.write_u16(u16::try_from(bytes.len()).expect("it fits")).await.expect("sent");
            stream.write_all(&bytes).await.expect("sent");
        }
    });
    address
}

#[tokio::test]
async fn a_service_is_found_over_both_protocols() {
    let server = start(vec![service("web", json!({"clusterIP": "10.96.0.9"}))], vec![]).await;
    let asked = question("WEB.default.svc.cluster.local.", RecordType::A);
    for answer in [ask(server.address, &asked).await, ask_over_tcp(server.address, &asked).await] {
        assert_eq!(data(&answer), ["10.96.0.9"]);
        assert_eq!(answer.answers[0].ttl, 30);
        assert_eq!(answer.answers[0].name.to_ascii(), "WEB.default.svc.cluster.local.", "the case is the asker's");
        assert!(answer.metadata.authoritative && answer.metadata.recursion_available);
        assert!(answer.edns.is_none());
    }
}

#[tokio::test]
async fn no_is_said_with_the_start_of_authority() {
    let server = start(vec![service("web", json!({"clusterIP": "10.96.0.9"}))], vec![]).await;
    let check = async |name: &str, kind: RecordType, code: ResponseCode| {
        let answer = ask(server.address, &question(name, kind)).await;
        assert_eq!((answer.metadata.response_code, answer.answers.len()), (code, 0), "{name} {kind}");
        assert_eq!(answer.authorities[0].record_type(), RecordType::SOA);
    };
    check("none.default.svc.cluster.local.", RecordType::A, ResponseCode::NXDomain).await;
    check("web.default.svc.cluster.local.", RecordType::AAAA, ResponseCode::NoError).await;
}

#[tokio::test]
async fn what_does_not_fit_is_cut_and_whole_over_tcp() {
    let server = start(crowd("many", 200).into(), vec![]).await;
    let mut asked = question("many.default.svc.cluster.local.", RecordType::A);
    let plain = ask(server.address, &asked).await;
    assert!(plain.metadata.truncation && plain.answers.len() < 200);
    let mut edns = Edns::new();
    edns.set_max_payload(4096).set_version(0);
    asked.set_edns(edns);
    let wider = ask(server.address, &asked).await;
    assert!(wider.metadata.truncation && wider.answers.len() > plain.answers.len());
    assert_eq!(wider.edns.as_ref().map(Edns::max_payload), Some(1232), "a question with EDNS is answered with it");
    assert_eq!(ask_over_tcp(server.address, &asked).await.answers.len(), 200);
}

#[tokio::test]
async fn addresses_take_turns() {
    let server = start(crowd("three", 3).into(), vec![]).await;
    let mut first = std::collections::HashSet::new();
    for _ in 0..3 {
        let answer = ask(server.address, &question("three.default.svc.cluster.local.", RecordType::A)).await;
        assert_eq!(answer.answers.len(), 3);
        first.insert(data(&answer).remove(0));
    }
    assert_eq!(first.len(), 3);
}

#[tokio::test]
async fn the_rest_of_the_world_is_forwarded() {
    // A resolver that is down does not keep the next from being asked.
    let dead = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a socket").local_addr().expect("an address");
    let objects = vec![
        service("far", json!({"type": "ExternalName", "externalName": "host.test"})),
        service("near", json!({"type": "ExternalName", "externalName": "web.default.svc.cluster.local"})),
        service("web", json!({"clusterIP": "10.96.0.9"})),
        service("circle", json!({"type": "ExternalName", "externalName": "circle.default.svc.cluster.local"})),
    ];
    let server = start(objects, vec![dead, resolver().await]).await;
    let check = async |name: &str, code: ResponseCode, expected: &[&str]| {
        let answer = ask(server.address, &question(name, RecordType::A)).await;
        assert_eq!(
            (answer.metadata.response_code, data(&answer)),
            (code, expected.iter().map(|t| (*t).to_owned()).collect()),
            "{name}"
        );
    };
    check("host.test.", ResponseCode::NoError, &["192.0.2.1"]).await;
    check("none.test.", ResponseCode::NXDomain, &[]).await;
    check("far.default.svc.cluster.local.", ResponseCode::NoError, &["host.test.", "192.0.2.1"]).await;
    check("near.default.svc.cluster.local.", ResponseCode::NoError, &["web.default.svc.cluster.local.", "10.96.0.9"])
        .await;
    check("circle.default.svc.cluster.local.", ResponseCode::ServFail, &[]).await;
    let large = ask_over_tcp(server.address, &question("large.test.", RecordType::A)).await;
    assert_eq!(large.answers.len(), 100, "a cut answer is asked for again over TCP");
}

#[tokio::test]
async fn without_resolvers_others_names_fail() {
    let server = start(vec![], vec![]).await;
    let answer = ask(server.address, &question("example.com.", RecordType::A)).await;
    assert_eq!(answer.metadata.response_code, ResponseCode::ServFail);
}

#[tokio::test]
async fn changes_are_seen_at_once() {
    let server = start(vec![], vec![]).await;
    while !server.api.is_watched("services") {
        tokio::task::yield_now().await;
    }
    let asked = question("late.default.svc.cluster.local.", RecordType::A);
    assert_eq!(ask(server.address, &asked).await.metadata.response_code, ResponseCode::NXDomain);
    let (_, mut object) = service("late", json!({"clusterIP": "10.96.0.77"}));
    object["metadata"]["resourceVersion"] = json!("2");
    server.api.tell("services", "ADDED", &object);
    let appeared =
        async { while data(&ask(server.address, &asked).await) != [IpAddr::from([10, 96, 0, 77]).to_string()] {} };
    tokio::time::timeout(Duration::from_secs(10), appeared).await.expect("the service appears");
}

#[tokio::test]
async fn nonsense_is_refused_and_harms_nothing() {
    let server = start(vec![service("web", json!({"clusterIP": "10.96.0.9"}))], vec![]).await;
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a socket");
    for bytes in [&b""[..], b"x", b"\x00\x01\x02\x03", &[0xff; 600]] {
        socket.send_to(bytes, server.address).await.expect("sent");
    }
    let mut chaos = question("version.bind.", RecordType::TXT);
    chaos.queries[0].set_query_class(hickory_proto::rr::DNSClass::CH);
    assert_eq!(ask(server.address, &chaos).await.metadata.response_code, ResponseCode::Refused);
    let answer = ask(server.address, &question("web.default.svc.cluster.local.", RecordType::A)).await;
    assert_eq!(data(&answer), ["10.96.0.9"]);
}
