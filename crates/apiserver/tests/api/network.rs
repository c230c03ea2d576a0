//! Over real sockets: TLS, certificates, both versions of HTTP.

use crate::server::{CONFIG_MAPS, Server, config_map};
use bytes::Bytes;
use ferry_pki::{Authority, ClientSubject, Identity};
use http::{Request, Version};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

type HttpsClient = Client<hyper_rustls::HttpsConnector<HttpConnector>, Full<Bytes>>;

async fn serving(server: &Server) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let (api, tls) = (server.api.clone(), Arc::new(server.pki.apiserver_tls().expect("a serving certificate")));
    tokio::spawn(async move { api.serve(listener, tls).await });
    address
}

fn client(server: &Server, identity: Option<&Identity>, http2: bool) -> HttpsClient {
    let tls = ferry_pki::tls::client_config(server.pki.ca.certificate_pem(), identity).expect("a client");
    let builder = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(tls).https_only();
    let connector = if http2 { builder.enable_http2().build() } else { builder.enable_http1().build() };
    Client::builder(TokioExecutor::new()).http2_only(http2).build(connector)
}

async fn get(client: &HttpsClient, address: SocketAddr, path: &str) -> (u16, Version, Bytes) {
    let request = Request::get(format!("https://{address}{path}")).body(Full::default()).expect("a request");
    let response = client.request(request).await.expect("an answer");
    let (code, version) = (response.status().as_u16(), response.version());
    (code, version, response.into_body().collect().await.expect("a body").to_bytes())
}

#[tokio::test]
async fn both_versions_of_http_serve_the_admin() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let address = serving(&server).await;
    for (http2, version) in [(false, Version::HTTP_11), (true, Version::HTTP_2)] {
        let client = client(&server, Some(&server.pki.admin), http2);
        let (code, spoken, body) = get(&client, address, &format!("{CONFIG_MAPS}/a")).await;
        assert_eq!((code, spoken), (200, version));
        assert_eq!(body, server.get(&format!("{CONFIG_MAPS}/a")).await.bytes);
    }
}

#[tokio::test]
async fn who_shows_nothing_or_the_wrong_thing_is_a_stranger() {
    let server = Server::start().await;
    let address = serving(&server).await;
    let nobody = client(&server, None, false);
    let (code, _, body) = get(&nobody, address, CONFIG_MAPS).await;
    assert_eq!(code, 401);
    let status: serde_json::Value = serde_json::from_slice(&body).expect("a Status");
    assert_eq!((&status["message"], &status["reason"]), (&"Unauthorized".into(), &"Unauthorized".into()));
    assert_eq!(get(&nobody, address, "/livez").await.0, 200);

    let other = Authority::generate("another-ca", jiff::Timestamp::now()).expect("an authority");
    let subject = ClientSubject::new("kubernetes-admin", Some("system:masters"));
    let forged = other.issue_client(&subject, jiff::Timestamp::now()).expect("a certificate");
    assert_eq!(get(&client(&server, Some(&forged), false), address, CONFIG_MAPS).await.0, 401);

    let known = server.pki.ca.issue_client(&ClientSubject::new("bob", None), jiff::Timestamp::now()).expect("one");
    let (code, _, body) = get(&client(&server, Some(&known), true), address, CONFIG_MAPS).await;
    let status: serde_json::Value = serde_json::from_slice(&body).expect("a Status");
    assert_eq!(code, 403);
    assert_eq!(
        status["message"],
        "configmaps is forbidden: User \"bob\" cannot list resource \"configmaps\" in API group \"\" in the namespace \"default\""
    );
}

#[tokio::test]
async fn an_expired_client_certificate_gets_401() {
    let server = Server::start().await;
    let address = serving(&server).await;
    let now = jiff::Timestamp::now();
    let subject = ClientSubject::new("kubernetes-admin", Some("system:masters"));
    let hour = std::time::Duration::from_secs(3600);
    let issue = |at: jiff::Timestamp| server.pki.ca.issue_client_for(&subject, at, hour).expect("a certificate");
    for http2 in [false, true] {
        for wrong in [issue(now - 24 * hour), issue(now + 24 * hour)] {
            let client = client(&server, Some(&wrong), http2);
            let (code, _, body) = get(&client, address, CONFIG_MAPS).await;
            let status: serde_json::Value = serde_json::from_slice(&body).expect("a Status");
            assert_eq!((code, status["message"].as_str()), (401, Some("Unauthorized")));
            // Not even what is open to strangers: who shows a bad proof is told so.
            assert_eq!(get(&client, address, "/livez").await.0, 401);
        }
        assert_eq!(get(&client(&server, Some(&issue(now)), http2), address, CONFIG_MAPS).await.0, 200);
    }
}

#[tokio::test]
async fn a_large_list_and_a_watch_stream_over_http2() {
    let server = Server::start().await;
    for index in 0..300 {
        let mut object = config_map(&format!("c{index:03}"));
        object["data"]["key"] = "x".repeat(2000).into();
        server.post(CONFIG_MAPS, &object).await.ok();
    }
    let address = serving(&server).await;
    let client = client(&server, Some(&server.pki.admin), true);
    let (code, _, body) = get(&client, address, CONFIG_MAPS).await;
    assert_eq!((code, &body), (200, &server.get(CONFIG_MAPS).await.bytes));

    let url = format!("https://{address}{CONFIG_MAPS}?watch=true&resourceVersion=0&fieldSelector=metadata.name%3Dnew");
    let response = client.request(Request::get(url).body(Full::default()).expect("a request")).await.expect("a stream");
    server.post(CONFIG_MAPS, &config_map("new")).await.ok();
    let mut body = response.into_body();
    let frame = body.frame().await.expect("an event").expect("a frame").into_data().expect("data");
    assert!(frame.starts_with(b"{\"type\":\"ADDED\""));
}

#[tokio::test]
async fn a_stopped_server_takes_no_more_connections() {
    let server = Server::start().await;
    let address = serving(&server).await;
    let client = client(&server, Some(&server.pki.admin), false);
    assert_eq!(get(&client, address, "/readyz").await.0, 200);
    server.api.stop();
    assert_eq!(server.get("/readyz").await.code, 500);
    while tokio::net::TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_renewed_certificate_is_shown_from_the_next_connection_on() {
    use ferry_pki::{Facts, PkiConfig};
    let server = Server::start().await;
    let address = serving(&server).await;
    let connect = async || {
        let tls = ferry_pki::tls::client_config(server.pki.ca.certificate_pem(), Some(&server.pki.admin));
        let mut tls = tls.expect("a client");
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let stream = tokio::net::TcpStream::connect(address).await.expect("connected");
        let connector = tokio_rustls::TlsConnector::from(Arc::new(tls));
        let stream = connector.connect("127.0.0.1".try_into().expect("a name"), stream).await.expect("TLS");
        let shown = stream.get_ref().1.peer_certificates().expect("a certificate")[0].clone();
        (stream, Facts::of(&shown).expect("readable"))
    };
    let (mut old, before) = connect().await;

    // The host has a new address, and the server goes on.
    let address: std::net::IpAddr = "192.0.2.77".parse().expect("an address");
    let moved =
        PkiConfig { advertise_ips: vec!["127.0.0.1".parse().expect("an address"), address], ..PkiConfig::default() };
    let (_, changed) = server.pki.renew(&moved, jiff::Timestamp::now()).expect("renewed");
    assert_eq!(changed, ["apiserver"]);
    let (mut new, after) = connect().await;
    assert_ne!(before.serial, after.serial);
    assert!(after.ips.contains(&address) && !before.ips.contains(&address));

    for stream in [&mut old, &mut new] {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
        let mut answer = [0; 15];
        stream.read_exact(&mut answer).await.expect("answered");
        assert_eq!(&answer, b"HTTP/1.1 200 OK");
    }
}

#[tokio::test]
async fn an_expired_certificate_on_disk_is_replaced_at_the_start() {
    use ferry_pki::Facts;
    let directory = tempfile::TempDir::new().expect("a directory");
    let long_ago = jiff::Timestamp::now() - std::time::Duration::from_secs(400 * 86_400);
    let expired = ferry_pki::ensure_at(&directory.path().join("pki"), &ferry_pki::PkiConfig::default(), long_ago);
    let expired = expired.expect("key material");
    assert!(
        Facts::of_pem("admin", &expired.admin.certificate_pem).expect("readable").not_after < jiff::Timestamp::now()
    );
    let server = Server::start_in(directory).await;
    let address = serving(&server).await;
    let (code, ..) = get(&client(&server, Some(&server.pki.admin), false), address, CONFIG_MAPS).await;
    assert_eq!(code, 200);
}
