//! Bytes in the store that are no object, put there underneath the API: each is skipped,
//! counted, named in the log and in the list that `ferry status` prints, and stops neither a
//! watch nor a start.

use super::followers::{in_process, over_tls};
use crate::loopback::eventually;
use crate::restart::reopened;
use crate::server::{CONFIG_MAPS, Server, config_map};
use bytes::Bytes;
use ferry_api::view::core::v1::ConfigMap;
use ferry_client::{Informer, Informers};
use ferry_store::{Commit, Expect, Op, Store};
use parking_lot::Mutex;
use std::io::Write;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const BROKEN: [&[u8]; 5] =
    [b"{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":", b"no JSON", b"[]", b"{\"metadata\":{\"name\":\"\xff\"}}", b""];

/// The log lines of the process.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The informers of a component of this process and of one on another machine.
struct Components {
    informers: Vec<Informer<ConfigMap>>,
    shutdown: CancellationToken,
    listener: tokio::task::JoinHandle<()>,
}

impl Components {
    async fn start(server: &Server) -> Self {
        let shutdown = CancellationToken::new();
        let (outside, listener) = over_tls(server).await;
        let clients = [in_process(server), outside];
        let clients = clients.map(|client| client.with_problems(server.api.problems().clone()));
        let informers =
            clients.map(|client| Informers::with_shutdown(client, shutdown.child_token()).of::<ConfigMap>()).into();
        Self { informers, shutdown, listener }
    }

    async fn see(&self, name: &str) {
        for informer in &self.informers {
            eventually(&format!("{name} is seen"), || async { informer.get("default", name).is_some() }).await;
        }
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.listener.abort();
        let _ = self.listener.await;
    }
}

fn key(number: usize) -> String {
    format!("/registry/configmaps/default/broken-{number}")
}

async fn subjects(server: &Server, component: &str) -> Vec<String> {
    let problems = server.get(ferry_api::problems::PATH).await.ok();
    let problems = problems["problems"].as_array().cloned().unwrap_or_default();
    let of_component = problems.iter().filter(|problem| problem["component"] == component);
    of_component.map(|problem| problem["subject"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn bytes_that_are_no_object_are_skipped_counted_and_named_and_stop_nobody() {
    let log = Log::default();
    let written = log.clone();
    tracing_subscriber::fmt().with_ansi(false).with_writer(move || written.clone()).init();
    let server = Server::start().await;
    let components = Components::start(&server).await;
    server.post(CONFIG_MAPS, &config_map("before")).await.ok();
    components.see("before").await;
    for (number, bytes) in BROKEN.iter().enumerate() {
        let op = Op::Put(Bytes::from_static(bytes));
        server.store.commit(Commit { key: key(number), expect: Expect::Any, op }).await.expect("a commit");
    }
    let nameless = Op::Put(Bytes::from_static(b"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{}}"));
    let at = "/registry/configmaps/default/nameless".to_owned();
    server.store.commit(Commit { key: at, expect: Expect::Any, op: nameless }).await.expect("a commit");
    server.post(CONFIG_MAPS, &config_map("behind")).await.ok();
    components.see("behind").await;
    let all: Vec<String> = (0..BROKEN.len()).map(key).collect();
    assert_eq!(subjects(&server, "store").await, all);
    assert_eq!(subjects(&server, "in-process").await, ["configmaps"]);
    components.stop().await;

    let Server { api, directory, store, .. } = server;
    api.stop();
    drop((api, store));
    let server = reopened(directory).await;
    assert_eq!(server.get("/readyz").await.code, 200);
    assert_eq!(subjects(&server, "store").await, all);
    let components = Components::start(&server).await;
    components.see("before").await;
    components.see("behind").await;
    server.post(CONFIG_MAPS, &config_map("after")).await.ok();
    components.see("after").await;
    let metrics = String::from_utf8_lossy(&server.get("/metrics").await.bytes).into_owned();
    let counted = format!("ferry_problem_reports_total{{component=\"store\"}} {}", BROKEN.len());
    assert!(metrics.contains(&counted), "{metrics}");
    // An administrator deletes what is named, and nothing is left to name.
    for number in 0..BROKEN.len() {
        let path = format!("{CONFIG_MAPS}/broken-{number}?ignoreStoreReadErrorWithClusterBreakingPotential=true");
        server.delete(&path).await.ok();
    }
    assert_eq!(subjects(&server, "store").await, Vec::<String>::new());
    components.stop().await;
    let log = String::from_utf8_lossy(&log.0.lock()).into_owned();
    for key in &all {
        assert!(log.lines().any(|line| line.contains(" WARN ") && line.contains(key.as_str())), "{key}: {log}");
    }
    assert!(log.lines().any(|line| line.contains(" WARN ") && line.contains("without a name")), "{log}");
}
