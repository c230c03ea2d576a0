//! exec, attach and port-forward.
//!
//! The runtime serves SPDY and the older WebSocket dialects on loopback. A caller that
//! speaks one of these is connected to it byte by byte; the newer WebSocket dialects are
//! translated (`websocket.rs`). Which it is, `dialect.rs` decides.

use super::dialect::{self, Action, Dialect};
use super::missed_output::MissedOutput;
use super::routes::Query;
use super::{Body, copy, text, websocket};
use crate::context::Context;
use crate::cri::{self, v1};
use crate::observed::{Observer, PodRuntime};
use crate::pod;
use ferry_api::view::core::v1::PodView;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::sync::Arc;
use std::time::Duration;

/// The response to a request, or the one that refuses it.
pub(super) type Answer = Result<Response<Body>, Box<Response<Body>>>;

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

/// A caller's session with a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Session {
    /// A new process.
    Exec,
    /// The container's own.
    Attach,
}

pub(super) async fn open(
    session: Session,
    context: Arc<Context>,
    pod: PodView<'_>,
    container: &str,
    query: &Query,
    request: Request<Incoming>,
) -> Answer {
    let (mut wanted, dialect) = read_process(query, &request)?;
    let spec = pod::find_container(pod, container).map(|(_, container)| container).unwrap_or_default();
    if session == Session::Attach {
        // Whether there is a terminal is the container's choice, not the caller's.
        wanted.tty = spec.tty();
        wanted.stderr &= !wanted.tty;
    }
    let id = running_container(&context, pod, container).await?;
    let Wanted { stdin, stdout, stderr, tty } = wanted;
    let is_first = session == Session::Attach && spec.stdin_once();
    let missed = is_first.then(|| MissedOutput { context: context.clone(), container_id: id.clone() });
    let url = match session {
        Session::Exec => {
            let cmd = query.all("command").to_vec();
            context.runtime.exec(v1::ExecRequest { container_id: id, cmd, tty, stdin, stdout, stderr }).await
        }
        Session::Attach => {
            context.runtime.attach(v1::AttachRequest { container_id: id, stdin, tty, stdout, stderr }).await
        }
    };
    Ok(connect(url, wanted, dialect, missed, request).await)
}

pub(super) async fn port_forward(
    context: Arc<Context>,
    pod: PodView<'_>,
    query: &Query,
    request: Request<Incoming>,
) -> Answer {
    let (ports, dialect) = read_port_forward(query, &request)?;
    let observed = observe(&context, pod).await?;
    let sandbox = observed.sandboxes.first().filter(|sandbox| sandbox.ready);
    let sandbox = sandbox.ok_or_else(|| refusal(format!("pod {:?} has no sandbox", pod::name(pod))))?;
    let url =
        context.runtime.port_forward(v1::PortForwardRequest { pod_sandbox_id: sandbox.id.clone(), port: ports }).await;
    Ok(connect(url, Wanted::default(), dialect, None, request).await)
}

/// `/run`: the command's output as the answer's body.
pub(super) async fn run(context: Arc<Context>, pod: PodView<'_>, container: &str, query: &Query) -> Answer {
    let id = running_container(&context, pod, container).await?;
    let command = query.one("cmd").unwrap_or_default().split(' ').map(str::to_string).collect();
    let run = context.runtime.exec_sync(&id, command, Duration::ZERO).await;
    let output = run.map_err(|error| refusal(error.to_string()))?;
    let said = [output.stdout, output.stderr].concat();
    Ok(text(StatusCode::OK, String::from_utf8_lossy(&said)))
}

fn refusal(why: String) -> Box<Response<Body>> {
    Box::new(text(StatusCode::INTERNAL_SERVER_ERROR, why))
}

async fn observe(context: &Context, pod: PodView<'_>) -> Result<PodRuntime, Box<Response<Body>>> {
    let observed = Observer::new(context.container_files()).observe(&*context.runtime, pod::uid(pod), None).await;
    observed.map_err(|error| refusal(error.to_string()))
}

async fn running_container(
    context: &Context,
    pod: PodView<'_>,
    container: &str,
) -> Result<String, Box<Response<Body>>> {
    let observed = observe(context, pod).await?;
    let found = observed.running().find(|record| record.name == container);
    found.map(|record| record.id.clone()).ok_or_else(|| refusal(format!("container not found ({container:?})")))
}

/// The request of a caller of exec or attach.
fn read_process(query: &Query, request: &Request<Incoming>) -> Result<(Wanted, Dialect), Box<Response<Body>>> {
    Ok((Wanted::parse(query)?, dialect::choose(request.headers(), Action::Process)?))
}

/// The ports are needed by the dialects whose channels are numbered by them; the others name
/// a port with each connection.
fn read_port_forward(query: &Query, request: &Request<Incoming>) -> Result<(Vec<i32>, Dialect), Box<Response<Body>>> {
    let dialect = dialect::choose(request.headers(), Action::PortForward)?;
    let refuse = |why: String| Box::new(text(StatusCode::BAD_REQUEST, why));
    let ports = parse_ports(query.all("port").iter().chain(query.all("ports"))).map_err(refuse)?;
    if ports.is_empty() && dialect == Dialect::RuntimeWebSocket {
        return Err(refuse("query parameter \"port\" is required".to_owned()));
    }
    Ok((ports, dialect))
}

/// Ports may be given one by one or as a list (upstream: cri-streaming, portforward/websocket.go).
fn parse_ports<'a>(values: impl Iterator<Item = &'a String>) -> Result<Vec<i32>, String> {
    let parse = |value: &str| match value.parse::<u16>() {
        Ok(0) => Err(format!("port {value:?} must be > 0")),
        Ok(port) => Ok(i32::from(port)),
        Err(error) => Err(format!("unable to parse {value:?} as a port: {error}")),
    };
    values.flat_map(|value| value.split(',')).map(parse).collect()
}

async fn connect(
    url: cri::Result<String>,
    wanted: Wanted,
    dialect: Dialect,
    missed: Option<MissedOutput>,
    request: Request<Incoming>,
) -> Response<Body> {
    let url = match url {
        Ok(url) => url,
        Err(error) => return text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    };
    match dialect {
        Dialect::Spdy => pass_through(&url, copy::Handshake::spdy(request.headers()), request).await,
        Dialect::RuntimeWebSocket => pass_through(&url, copy::Handshake::websocket(request.headers()), request).await,
        Dialect::Channels => websocket::translate(&url, wanted, missed, request).await,
        Dialect::Tunnel => websocket::tunnel(&url, request).await,
    }
}

/// Both ends speak the same: the handshake is repeated and then only bytes are copied.
async fn pass_through(url: &str, handshake: copy::Handshake, mut request: Request<Incoming>) -> Response<Body> {
    let mut answer = match handshake.send(url).await {
        Ok(answer) => answer,
        Err(error) => return text(StatusCode::BAD_GATEWAY, format!("cannot reach the runtime: {error}")),
    };
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
        return answer.map(|body| body.map_err(Into::into).boxed_unsync());
    }
    let mut response = text(StatusCode::SWITCHING_PROTOCOLS, "");
    response.headers_mut().clear();
    for name in copy::ANSWERED {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_come_one_by_one_or_as_a_list() {
        let parse =
            |values: &[&str]| parse_ports(values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>().iter());
        assert_eq!(parse(&["80", "81,443"]), Ok(vec![80, 81, 443]));
        assert_eq!(parse(&[]), Ok(Vec::new()));
        for wrong in ["", "0", "65536", "-1", "80,", "http"] {
            assert!(parse(&[wrong]).is_err(), "{wrong:?}");
        }
    }
}
