//! Listens over UDP, and over TCP in `tcp.rs`; answers from the zone or through the forwarder.

use crate::cache::{Cache, Question};
use crate::forward::{Forwarder, Source};
use crate::records::{Answer, Zone};
use crate::{Config, Error, Result, bind, tcp};
use async_trait::async_trait;
use hickory_proto::op::{Edns, Message, MessageType, Metadata, OpCode, Query, ResponseCode};
use hickory_proto::rr::{DNSClass, Name, Record, RecordType};
use hickory_server::Server;
use hickory_server::net::runtime::Time;
use hickory_server::server::{Request, RequestHandler, ResponseHandler, ResponseInfo};
use hickory_server::zone_handler::MessageResponseBuilder;
use parking_lot::RwLock;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_util::sync::CancellationToken;

/// What we accept in one datagram; above it fragments get lost (DNS flag day 2020).
const MAX_DATAGRAM: u16 = 1232;

/// How many aliases are followed before it must be a circle.
const MAX_ALIASES: usize = 8;

/// Listens on every address and serves until `shutdown`.
pub(crate) async fn serve(
    config: Config,
    zone: Arc<RwLock<Zone>>,
    forwarder: Arc<Forwarder>,
    shutdown: CancellationToken,
) -> Result<()> {
    let (mut sockets, mut listeners, mut bound) = (Vec::new(), Vec::new(), Vec::new());
    for address in &config.bind {
        let mut open = |device| {
            let (socket, listener) =
                bind::open(*address, device).map_err(|source| Error::Bind { address: *address, source })?;
            sockets.push(socket);
            listeners.push(listener);
            Ok(())
        };
        match config.devices.as_slice() {
            [] => open(None)?,
            devices => devices.iter().try_for_each(|device| open(Some(device)))?,
        }
        bound.push(*address);
    }
    let handler = Handler { zone, forwarder, cache: Cache::default(), turn: AtomicUsize::new(0) };
    let handler = Arc::new(handler);
    let mut server = Server::new(Shared(handler.clone()));
    sockets.into_iter().for_each(|socket| server.register_socket(socket));
    let tcp = futures_util::future::try_join_all(listeners.into_iter().map(|listener| tcp::serve(listener, &handler)));
    if let Some(ready) = config.ready {
        // Whoever waited may have given up.
        let _ = ready.send(bound);
    }
    tokio::select! {
        () = shutdown.cancelled() => {}
        result = server.block_until_done() => result.map_err(|error| Error::Serve(Box::new(error)))?,
        result = tcp => result.map(drop).map_err(|error| Error::Serve(Box::new(error)))?,
    }
    // Questions under way are dropped; clients ask again.
    let _ = server.shutdown_gracefully().await;
    Ok(())
}

/// Who asks others, and never us.
pub(crate) fn forwarder(config: &Config) -> Forwarder {
    let bound = config.bind.iter().map(SocketAddr::ip).filter(|ip| !ip.is_unspecified());
    let excluded = bound.chain(config.cluster_dns.iter().copied()).collect();
    let source = match &config.resolvers {
        Some(resolvers) => Source::Fixed(Arc::new(resolvers.clone())),
        None => Source::ResolvConf(config.resolv_conf.clone()),
    };
    Forwarder::new(source, excluded)
}

/// Answers questions, whatever they came by.
pub(crate) struct Handler {
    zone: Arc<RwLock<Zone>>,
    forwarder: Arc<Forwarder>,
    cache: Cache,
    /// Whose turn it is to be named first.
    turn: AtomicUsize,
}

/// An answer on its way out.
#[derive(Default)]
struct Reply {
    code: ResponseCode,
    authoritative: bool,
    answers: Vec<Record>,
    authorities: Vec<Record>,
    additionals: Vec<Record>,
}

impl Reply {
    fn failed(code: ResponseCode) -> Self {
        Self { code, ..Default::default() }
    }
}

/// The handler as the UDP server owns it; `tcp.rs` has the same one.
struct Shared(Arc<Handler>);

#[async_trait]
impl RequestHandler for Shared {
    async fn handle_request<R: ResponseHandler, T: Time>(&self, request: &Request, out: R) -> ResponseInfo {
        self.0.handle_request::<R, T>(request, out).await
    }
}

#[async_trait]
impl RequestHandler for Handler {
    async fn handle_request<R: ResponseHandler, T: Time>(&self, request: &Request, mut out: R) -> ResponseInfo {
        let reply = self.reply(request).await;
        let mut metadata = Metadata::response_from_request(&request.metadata);
        metadata.response_code = reply.code;
        metadata.authoritative = reply.authoritative;
        metadata.recursion_available = true;
        let edns = request.edns.as_ref().map(|asked| {
            let mut edns = Edns::new();
            edns.set_max_payload(asked.max_payload().clamp(512, MAX_DATAGRAM)).set_version(0);
            edns
        });
        let response = MessageResponseBuilder::new(&request.queries, edns.as_ref());
        let response = response.build(metadata, &reply.answers, &reply.authorities, [].iter(), &reply.additionals);
        match out.send_response(response).await {
            Ok(info) => info,
            Err(error) => {
                tracing::debug!(%error, "cannot send an answer");
                let mut metadata = Metadata::response_from_request(&request.metadata);
                metadata.response_code = ResponseCode::ServFail;
                hickory_proto::op::Header { metadata, counts: Default::default() }.into()
            }
        }
    }
}

impl Handler {
    async fn reply(&self, request: &Request) -> Reply {
        if request.metadata.message_type != MessageType::Query {
            return Reply::failed(ResponseCode::FormErr);
        }
        if request.metadata.op_code != OpCode::Query {
            return Reply::failed(ResponseCode::NotImp);
        }
        if request.version() > 0 {
            return Reply::failed(ResponseCode::BADVERS);
        }
        let Ok(info) = request.request_info() else { return Reply::failed(ResponseCode::FormErr) };
        let query = info.query.original();
        if query.query_class() != DNSClass::IN {
            return Reply::failed(ResponseCode::Refused);
        }
        let mut reply =
            self.resolve(query.name().clone(), query.query_type(), (request.src().ip(), request.as_slice())).await;
        // Clients take the first address; turning the list shares the load.
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        rotate_addresses(&mut reply.answers, turn);
        reply
    }

    /// Follows aliases through the zone and out of it.
    async fn resolve(&self, name: Name, kind: RecordType, (client, question): (IpAddr, &[u8])) -> Reply {
        let mut reply = Reply { authoritative: true, ..Default::default() };
        let mut name = name;
        for followed in 0..MAX_ALIASES {
            let (answer, soa) = {
                let zone = self.zone.read();
                (zone.answer(&name, kind), zone.soa())
            };
            match answer {
                Answer::Found { answers, additionals } => {
                    reply.answers.extend(answers);
                    reply.additionals.extend(additionals);
                    return reply;
                }
                Answer::NoData => {
                    reply.authorities.extend(soa);
                    return reply;
                }
                Answer::NoSuchName => {
                    reply.code = ResponseCode::NXDomain;
                    reply.authorities.extend(soa);
                    return reply;
                }
                Answer::Alias { record, target } => {
                    reply.answers.push(*record);
                    name = target;
                }
                Answer::Elsewhere if followed == 0 => return self.forward(client, question).await,
                Answer::Elsewhere => return self.forward_alias(reply, client, name, kind).await,
            }
        }
        Reply::failed(ResponseCode::ServFail)
    }

    /// From memory, or from a resolver.
    async fn ask_others(&self, client: IpAddr, question: &[u8]) -> Option<Message> {
        let message = Message::from_vec(question).ok()?;
        let name = message.queries.first()?.name().clone();
        let alike = Question::of(&message)?;
        self.cache.answer(alike, self.forwarder.ask(client, &name, question)).await
    }

    async fn forward(&self, client: IpAddr, question: &[u8]) -> Reply {
        match self.ask_others(client, question).await {
            None => Reply::failed(ResponseCode::ServFail),
            Some(answer) => Reply {
                code: answer.metadata.response_code,
                authoritative: false,
                answers: answer.answers,
                authorities: answer.authorities,
                additionals: answer.additionals,
            },
        }
    }

    /// The alias itself is worth telling even if nobody knows its target.
    async fn forward_alias(&self, mut reply: Reply, client: IpAddr, target: Name, kind: RecordType) -> Reply {
        let mut question = Message::query();
        question.metadata.recursion_desired = true;
        question.add_query(Query::query(target, kind));
        let Ok(question) = question.to_vec() else { return Reply::failed(ResponseCode::ServFail) };
        if let Some(answer) = self.ask_others(client, &question).await {
            reply.answers.extend(answer.answers);
            reply.code = answer.metadata.response_code;
        }
        reply
    }
}

/// Turns the run of addresses at the end of an answer; an alias before it stays first.
fn rotate_addresses(answers: &mut [Record], turn: usize) {
    let is_address = |record: &Record| matches!(record.record_type(), RecordType::A | RecordType::AAAA);
    let start = answers.iter().position(is_address).unwrap_or(answers.len());
    let run = &mut answers[start..];
    if run.len() > 1 && run.iter().all(is_address) {
        let turn = turn % run.len();
        run.rotate_left(turn);
    }
}
