//! exec, attach and port-forward.
//!
//! The runtime serves SPDY on loopback. A caller that speaks SPDY is connected to it
//! byte by byte; one that speaks WebSocket is translated (`websocket.rs`).

use super::missed_output::MissedOutput;
use super::routes::Query;
use super::{Body, copy, text, websocket};
use crate::context::Context;
use crate::cri::{self, v1};
use crate::observed::{Observer, PodRuntime};
use crate::pod;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use k8s_openapi::api::core::v1::Pod;
use std::sync::Arc;
use std::time::Duration;

/// Which of a process's streams the caller wants.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Wanted {
    pub stdin: bool,
    pub stdout: bool,
    pub stderr: bool,
    pub tty: bool,
}

impl Wanted {
    fn parse(query: &Query) -> Result<Self, Box<Response<Body>>> {
        let wanted = Self {
            stdin: query.flag(&["input", "stdin"]),
            stdout: query.flag(&["output", "stdout"]),
            stderr: query.flag(&["error", "stderr"]),
            tty: query.flag(&["tty"]),
        };
        if !wanted.stdin && !wanted.stdout && !wanted.stderr {
            let message = "you must specify at least 1 of stdin, stdout, stderr";
            return Err(Box::new(text(StatusCode::BAD_REQUEST, message)));
        }
        // A terminal has one output.
        Ok(Self { stderr: wanted.stderr && !wanted.tty, ..wanted })
    }
}

pub(super) async fn exec(
    context: Arc<Context>,
    pod: &Pod,
    container: &str,
    query: &Query,
    request: Request<Incoming>,
) -> Response<Body> {
    let wanted = match Wanted::parse(query) {
        Ok(wanted) => wanted,
        Err(response) => return *response,
    };
    let id = match running_container(&context, pod, container).await {
        Ok(id) => id,
        Err(response) => return *response,
    };
    let url = context
        .runtime
        .exec(v1::ExecRequest {
            container_id: id,
            cmd: query.all("command").to_vec(),
            tty: wanted.tty,
            stdin: wanted.stdin,
            stdout: wanted.stdout,
            stderr: wanted.stderr,
        })
        .await;
    connect(url, wanted, None, request).await
}

pub(super) async fn attach(
    context: Arc<Context>,
    pod: &Pod,
    container: &str,
    query: &Query,
    request: Request<Incoming>,
) -> Response<Body> {
    let mut wanted = match Wanted::parse(query) {
        Ok(wanted) => wanted,
        Err(response) => return *response,
    };
    // Whether there is a terminal is the container's choice, not the caller's.
    let spec = pod::find_container(pod, container).map(|(_, container)| container).unwrap_or_default();
    wanted.tty = spec.tty == Some(true);
    wanted.stderr &= !wanted.tty;
    let id = match running_container(&context, pod, container).await {
        Ok(id) => id,
        Err(response) => return *response,
    };
    let url = context
        .runtime
        .attach(v1::AttachRequest {
            container_id: id.clone(),
            stdin: wanted.stdin,
            tty: wanted.tty,
            stdout: wanted.stdout,
            stderr: wanted.stderr,
        })
        .await;
    let is_first = spec.stdin_once == Some(true);
    let missed = is_first.then(|| MissedOutput { context: context.clone(), container_id: id });
    connect(url, wanted, missed, request).await
}

pub(super) async fn port_forward(
    context: Arc<Context>,
    pod: &Pod,
    query: &Query,
    request: Request<Incoming>,
) -> Response<Body> {
    let observed = match observe(&context, pod).await {
        Ok(observed) => observed,
        Err(response) => return *response,
    };
    let Some(sandbox) = observed.sandboxes.first().filter(|sandbox| sandbox.ready) else {
        return text(StatusCode::INTERNAL_SERVER_ERROR, format!("pod {:?} has no sandbox", pod::name(pod)));
    };
    let ports = query.all("port").iter().chain(query.all("ports")).filter_map(|port| port.parse().ok()).collect();
    let url =
        context.runtime.port_forward(v1::PortForwardRequest { pod_sandbox_id: sandbox.id.clone(), port: ports }).await;
    let url = match url {
        Ok(url) => url,
        Err(error) => return text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    };
    match upgrade(&request) {
        Upgrade::Spdy => pass_through(&url, request).await,
        Upgrade::WebSocket => websocket::tunnel(&url, request).await,
        Upgrade::None => text(StatusCode::BAD_REQUEST, "Upgrade request required"),
    }
}

/// `/run`: the command's output as the answer's body.
pub(super) async fn run(context: Arc<Context>, pod: &Pod, container: &str, query: &Query) -> Response<Body> {
    let id = match running_container(&context, pod, container).await {
        Ok(id) => id,
        Err(response) => return *response,
    };
    let command = query.one("cmd").unwrap_or_default().split(' ').map(str::to_string).collect();
    match context.runtime.exec_sync(&id, command, Duration::ZERO).await {
        Ok(output) => {
            let said = [output.stdout, output.stderr].concat();
            text(StatusCode::OK, String::from_utf8_lossy(&said))
        }
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

async fn observe(context: &Context, pod: &Pod) -> Result<PodRuntime, Box<Response<Body>>> {
    let observed = Observer::new(context.container_files()).observe(&*context.runtime, pod::uid(pod), None).await;
    observed.map_err(|error| Box::new(text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())))
}

async fn running_container(context: &Context, pod: &Pod, container: &str) -> Result<String, Box<Response<Body>>> {
    let observed = observe(context, pod).await?;
    let found = observed.running().find(|record| record.name == container);
    found.map(|record| record.id.clone()).ok_or_else(|| {
        Box::new(text(StatusCode::INTERNAL_SERVER_ERROR, format!("container not found ({container:?})")))
    })
}

enum Upgrade {
    Spdy,
    WebSocket,
    None,
}

fn upgrade(request: &Request<Incoming>) -> Upgrade {
    let wanted = copy::list(request.headers(), "upgrade");
    if wanted.iter().any(|name| name.eq_ignore_ascii_case("websocket")) {
        Upgrade::WebSocket
    } else if wanted.iter().any(|name| name.eq_ignore_ascii_case("spdy/3.1")) {
        Upgrade::Spdy
    } else {
        Upgrade::None
    }
}

async fn connect(
    url: cri::Result<String>,
    wanted: Wanted,
    missed: Option<MissedOutput>,
    request: Request<Incoming>,
) -> Response<Body> {
    let url = match url {
        Ok(url) => url,
        Err(error) => return text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    };
    match upgrade(&request) {
        Upgrade::Spdy => pass_through(&url, request).await,
        Upgrade::WebSocket => websocket::translate(&url, wanted, missed, request).await,
        Upgrade::None => text(StatusCode::BAD_REQUEST, "Upgrade request required"),
    }
}

/// Both ends speak SPDY: the handshake is repeated and then only bytes are copied.
async fn pass_through(url: &str, mut request: Request<Incoming>) -> Response<Body> {
    let protocols = copy::list(request.headers(), "x-stream-protocol-version");
    let mut answer = match copy::request_upgrade(url, "SPDY/3.1", &protocols).await {
        Ok(answer) => answer,
        Err(error) => return text(StatusCode::BAD_GATEWAY, format!("cannot reach the runtime: {error}")),
    };
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
        return answer.map(|body| body.map_err(Into::into).boxed_unsync());
    }
    let mut response = text(StatusCode::SWITCHING_PROTOCOLS, "");
    response.headers_mut().clear();
    for name in ["connection", "upgrade", "x-stream-protocol-version"] {
        if let Some(value) = answer.headers().get(name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    let (caller, runtime) = (hyper::upgrade::on(&mut request), hyper::upgrade::on(&mut answer));
    tokio::spawn(async move {
        if let (Ok(caller), Ok(runtime)) = tokio::join!(caller, runtime) {
            copy::join(caller, runtime).await;
        }
    });
    response
}
