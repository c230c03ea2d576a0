//! The ports by which load balancers ask whether this node has endpoints of a Service with
//! external policy Local. `sync.rs` replaces a Service's check when it has computed it anew.
//!
//! Upstream: pkg/proxy/healthcheck/service_health.go; the answer and its headers are its.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use ferry_api::rules::key::ObjectKey;
use ferry_listen::{Connection, Limits, Listener};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::model::HealthCheck;

/// A load balancer asks on few connections; the share of all of them of the process's descriptors.
const DESCRIPTOR_SHARE: usize = 64;
const CONNECTIONS_MAX: usize = 64;
const REQUEST_BYTES: usize = 8 * 1024;
const PATIENCE: Duration = Duration::from_secs(5);
/// An address may be in use for a moment by whoever had the port before.
const BIND_AGAIN: Duration = Duration::from_secs(1);

pub(crate) struct HealthChecks {
    addresses: Vec<IpAddr>,
    healthy: Arc<AtomicBool>,
    served: HashMap<Arc<ObjectKey>, Served>,
}

struct Served {
    port: u16,
    answer: Arc<Answer>,
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl HealthChecks {
    pub(crate) fn new(addresses: Vec<IpAddr>) -> HealthChecks {
        HealthChecks { addresses, healthy: Arc::default(), served: HashMap::new() }
    }

    /// Whether the rules are in place.
    pub(crate) fn set_healthy(&self, healthy: bool) {
        self.healthy.store(healthy, Ordering::Relaxed);
    }

    /// Opens, changes or closes the port of a Service.
    pub(crate) fn replace(&mut self, key: &Arc<ObjectKey>, check: Option<HealthCheck>) {
        let Some(check) = check else {
            self.served.remove(key);
            return;
        };
        if let Some(served) = self.served.get(key).filter(|served| served.port == check.port) {
            served.answer.local_endpoints.store(check.local_endpoints, Ordering::Relaxed);
            return;
        }
        let answer = Arc::new(Answer {
            service: Arc::clone(key),
            local_endpoints: AtomicUsize::new(check.local_endpoints),
            healthy: Arc::clone(&self.healthy),
        });
        let serve = |address: &IpAddr| tokio::spawn(serve(SocketAddr::new(*address, check.port), Arc::clone(&answer)));
        let tasks = self.addresses.iter().map(serve).collect();
        self.served.insert(Arc::clone(key), Served { port: check.port, answer, tasks });
    }
}

#[derive(Debug)]
struct Answer {
    service: Arc<ObjectKey>,
    local_endpoints: AtomicUsize,
    healthy: Arc<AtomicBool>,
}

impl Answer {
    /// The whole response; its body is laid out as upstream's.
    fn render(&self) -> String {
        let count = self.local_endpoints.load(Ordering::Relaxed);
        let healthy = self.healthy.load(Ordering::Relaxed);
        let status = if count > 0 && healthy { "200 OK" } else { "503 Service Unavailable" };
        let ObjectKey { namespace, name } = &*self.service;
        let body = format!(
            "{{\n\t\"service\": {{\n\t\t\"namespace\": {namespace:?},\n\t\t\"name\": {name:?}\n\t}},\n\t\"localEndpoints\": {count},\n\t\"serviceProxyHealthy\": {healthy}\n}}"
        );
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nX-Load-Balancing-Endpoint-Weight: {count}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    }
}

/// Serves until it is dropped.
async fn serve(address: SocketAddr, answer: Arc<Answer>) {
    loop {
        match TcpListener::bind(address).await {
            Ok(socket) => {
                let error = accept(socket, &answer).await;
                tracing::error!(%address, %error, "a health check port is lost");
            }
            Err(error) => {
                tracing::error!(%address, %error, service = %answer.service, "failed to start a health check")
            }
        }
        tokio::time::sleep(BIND_AGAIN).await;
    }
}

/// Returns why the socket is of no use any more.
async fn accept(socket: TcpListener, answer: &Arc<Answer>) -> io::Error {
    let listener = Listener::new(socket, Limits::of_share(DESCRIPTOR_SHARE, CONNECTIONS_MAX));
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(connection) => {
                    let (activity, answer) = (connection.activity(), Arc::clone(answer));
                    connections.spawn(async move {
                        tokio::select! {
                            _ = tokio::time::timeout(PATIENCE, respond(connection, &answer)) => {}
                            () = activity.evicted() => {}
                        }
                    });
                }
                Err(error) => return error,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Answers one request, whatever it asks, as upstream does.
async fn respond(mut connection: Connection, answer: &Answer) -> io::Result<()> {
    let activity = connection.activity();
    let mut request: Vec<u8> = Vec::new();
    let mut part = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = connection.read(&mut part).await?;
        if count == 0 || request.len() + count > REQUEST_BYTES {
            return Ok(());
        }
        request.extend(&part[..count]);
    }
    let _serving = activity.serve();
    connection.write_all(answer.render().as_bytes()).await?;
    connection.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::key;
    use tokio::net::TcpStream;

    async fn ask(port: u16) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
        stream.write_all(b"GET /anything HTTP/1.1\r\nHost: node\r\n\r\n").await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        Some(answer)
    }

    async fn ask_until(port: u16, holds: impl Fn(Option<&str>) -> bool) -> Option<String> {
        loop {
            let answer = ask(port).await;
            if holds(answer.as_deref()) {
                return answer;
            }
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_load_balancer_learns_whether_there_are_endpoints() {
        let free = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = free.local_addr().expect("its address").port();
        drop(free);
        let mut checks = HealthChecks::new(vec!["127.0.0.1".parse().expect("an address")]);
        let key = Arc::new(key("web"));
        checks.replace(&key, Some(HealthCheck { port, local_endpoints: 2 }));
        let answer = ask_until(port, |answer| answer.is_some()).await.expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "the rules are not in place: {answer}");
        checks.set_healthy(true);
        let answer = ask(port).await.expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a body");
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        for header in
            ["Content-Type: application/json", "X-Content-Type-Options: nosniff", "X-Load-Balancing-Endpoint-Weight: 2"]
        {
            assert!(head.contains(header), "{head}");
        }
        let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
        let expected = serde_json::json!({"service": {"namespace": "default", "name": "web"}, "localEndpoints": 2, "serviceProxyHealthy": true});
        assert_eq!(body, expected);
        checks.replace(&key, Some(HealthCheck { port, local_endpoints: 0 }));
        let answer = ask(port).await.expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("\"localEndpoints\": 0"), "{answer}");
        checks.replace(&key, None);
        assert_eq!(ask_until(port, |answer| answer.is_none()).await, None);
    }
}
