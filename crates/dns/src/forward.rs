//! Asks the host's resolvers, or those of `upstreams.rs`, about names that are not the cluster's.
//!
//! The question goes on as it came, with an identity of our own, to each resolver in turn
//! until one answers. Resolvers are read from resolv.conf, again when it has changed.

use crate::upstreams::Upstreams;
use hickory_proto::op::Message;
use hickory_proto::rr::Name;
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::sync::Semaphore;

/// How long one resolver has for one answer, and how often all are tried.
const TIMEOUT: Duration = Duration::from_secs(2);
const ROUNDS: usize = 2;

/// Questions under way at most; more means that the resolvers are stuck, and each would
/// cost a socket (CoreDNS' max_concurrent).
const MAX_CONCURRENT: usize = 1000;

/// How often the file's time of change is looked at most.
const RECHECK: Duration = Duration::from_secs(5);

/// The share of one client of these, so that a storm from one leaves room for the others.
const MAX_OF_CLIENT: usize = MAX_CONCURRENT / 8;

/// The largest datagram.
const MAX_MESSAGE: usize = 65_535;

pub(crate) struct Forwarder {
    source: Source,
    excluded: Vec<IpAddr>,
    known: Mutex<Known>,
    permits: Semaphore,
    /// Questions under way by the address of their client.
    clients: Mutex<HashMap<IpAddr, usize>>,
    upstreams: RwLock<Upstreams>,
}

/// Where resolvers are named.
pub(crate) enum Source {
    ResolvConf(PathBuf),
    Fixed(Arc<Vec<SocketAddr>>),
}

#[derive(Default)]
struct Known {
    checked: Option<Instant>,
    changed: Option<SystemTime>,
    resolvers: Arc<Vec<SocketAddr>>,
}

impl Forwarder {
    /// `excluded` are our own addresses; asking them would go round in circles.
    pub(crate) fn new(source: Source, excluded: Vec<IpAddr>) -> Self {
        Self {
            source,
            excluded,
            known: Mutex::default(),
            permits: Semaphore::new(MAX_CONCURRENT),
            clients: Mutex::default(),
            upstreams: RwLock::default(),
        }
    }

    /// Takes over a ConfigMap's upstreams; returns what it could not.
    pub(crate) fn read_upstreams<'a>(&self, data: impl Fn(&str) -> Option<&'a str>) -> Vec<String> {
        self.upstreams.write().read(data)
    }

    /// The answer to a question in wire format about a name; none when nobody answers in time.
    pub(crate) async fn ask(&self, client: IpAddr, name: &Name, question: &[u8]) -> Option<Message> {
        let _permit = self.permits.try_acquire().ok()?;
        let _share = Share::take(&self.clients, client)?;
        let chosen = self.upstreams.read().of(name);
        let resolvers = chosen.unwrap_or_else(|| self.resolvers());
        for _ in 0..ROUNDS {
            for resolver in resolvers.iter() {
                match tokio::time::timeout(TIMEOUT, ask_one(*resolver, question)).await {
                    Ok(Ok(answer)) => return Some(answer),
                    Ok(Err(error)) => tracing::debug!(%resolver, %error, "a resolver failed"),
                    Err(_) => tracing::debug!(%resolver, "a resolver did not answer in time"),
                }
            }
        }
        None
    }

    fn resolvers(&self) -> Arc<Vec<SocketAddr>> {
        let resolv_conf = match &self.source {
            Source::Fixed(resolvers) => return resolvers.clone(),
            Source::ResolvConf(path) => path,
        };
        let mut known = self.known.lock();
        if known.checked.is_some_and(|checked| checked.elapsed() < RECHECK) {
            return known.resolvers.clone();
        }
        let is_first = known.checked.is_none();
        known.checked = Some(Instant::now());
        let changed = std::fs::metadata(resolv_conf).and_then(|meta| meta.modified()).ok();
        if is_first || changed != known.changed {
            known.changed = changed;
            let text = std::fs::read_to_string(resolv_conf).unwrap_or_default();
            known.resolvers = Arc::new(parse_resolvers(&text, &self.excluded));
            tracing::debug!(resolvers = ?known.resolvers, "names of others are asked of these");
        }
        known.resolvers.clone()
    }
}

/// One of a client's questions under way.
struct Share<'a> {
    clients: &'a Mutex<HashMap<IpAddr, usize>>,
    client: IpAddr,
}

impl<'a> Share<'a> {
    fn take(clients: &'a Mutex<HashMap<IpAddr, usize>>, client: IpAddr) -> Option<Self> {
        let mut counts = clients.lock();
        let count = counts.entry(client).or_default();
        if *count >= MAX_OF_CLIENT {
            return None;
        }
        *count += 1;
        Some(Self { clients, client })
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut counts = self.clients.lock();
        if let Some(count) = counts.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.client);
            }
        }
    }
}

/// The `nameserver` lines of a resolv.conf, without ourselves.
fn parse_resolvers(text: &str, excluded: &[IpAddr]) -> Vec<SocketAddr> {
    text.lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some("nameserver")).then(|| words.next()).flatten()
        })
        // An IPv6 address may name its interface, which a socket address cannot say here.
        .filter_map(|word| word.split('%').next()?.parse::<IpAddr>().ok())
        .filter(|address| !excluded.contains(address))
        .map(|address| SocketAddr::new(address, 53))
        .collect()
}

async fn ask_one(resolver: SocketAddr, question: &[u8]) -> std::io::Result<Message> {
    let here: SocketAddr = match resolver {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(here).await?;
    // A connected socket hears only from the resolver.
    socket.connect(resolver).await?;
    // An identity of our own keeps apart two clients that chose the same.
    let identity: [u8; 2] = rand::random();
    let mut question = question.to_vec();
    if let Some(place) = question.get_mut(..2) {
        place.copy_from_slice(&identity);
    }
    socket.send(&question).await?;
    let mut buffer = vec![0; MAX_MESSAGE];
    loop {
        let length = socket.recv(&mut buffer).await?;
        let Ok(answer) = Message::from_vec(&buffer[..length]) else { continue };
        if !is_answer_to(&answer, &question) {
            continue;
        }
        if answer.metadata.truncation {
            return ask_over_tcp(resolver, &question).await;
        }
        return Ok(answer);
    }
}

async fn ask_over_tcp(resolver: SocketAddr, question: &[u8]) -> std::io::Result<Message> {
    let wrong = |what: &str| std::io::Error::other(what.to_owned());
    let mut stream = TcpStream::connect(resolver).await?;
    let length = u16::try_from(question.len()).map_err(|_| wrong("the question is too long"))?;
    stream.write_all(&[&length.to_be_bytes(), question].concat()).await?;
    let length = stream.read_u16().await?;
    let mut buffer = vec![0; usize::from(length)];
    stream.read_exact(&mut buffer).await?;
    let answer = Message::from_vec(&buffer).map_err(|error| wrong(&error.to_string()))?;
    if is_answer_to(&answer, question) { Ok(answer) } else { Err(wrong("the answer is to another question")) }
}

/// Whoever guesses the port must also guess the identity and the name.
fn is_answer_to(answer: &Message, question: &[u8]) -> bool {
    let Ok(question) = Message::from_vec(question) else { return false };
    answer.metadata.id == question.metadata.id && answer.queries == question.queries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_its_share_and_others_theirs() {
        let clients = Mutex::default();
        let (one, other) = (IpAddr::from([10, 244, 0, 1]), IpAddr::from([10, 244, 0, 2]));
        let mut held: Vec<Share<'_>> = (0..MAX_OF_CLIENT).filter_map(|_| Share::take(&clients, one)).collect();
        assert_eq!(held.len(), MAX_OF_CLIENT);
        assert!(Share::take(&clients, one).is_none());
        assert!(Share::take(&clients, other).is_some());
        held.pop();
        assert!(Share::take(&clients, one).is_some());
        drop(held);
        assert!(clients.lock().is_empty());
    }

    #[test]
    fn resolvers_are_read_without_ourselves() {
        let text = "# made by hand\nsearch example.com\nnameserver 192.0.2.1\nnameserver 10.96.0.10\n nameserver  2001:db8::1 \nnameserver fe80::1%eth0\nnameserver nonsense\noptions ndots:5\n";
        let found = parse_resolvers(text, &[IpAddr::from([10, 96, 0, 10])]);
        let expected =
            ["192.0.2.1:53", "[2001:db8::1]:53", "[fe80::1]:53"].map(|text| text.parse().expect("an address"));
        assert_eq!(found, expected);
    }
}
