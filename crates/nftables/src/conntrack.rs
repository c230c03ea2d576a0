//! Flows that the kernel tracks, listed and ended by ctnetlink. The service proxy ends UDP flows
//! whose endpoint is gone.
//!
//! The numbers are those of the kernel's include/uapi/linux/netfilter/nfnetlink_conntrack.h.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_NETFILTER;
use parking_lot::Mutex;

use crate::Error;
use crate::encode::{Writer, attributes};
use crate::kernel::{answers, split_message};

/// A flow as its client sees it, and the endpoint that answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    pub to: SocketAddr,
    pub answered_by: SocketAddr,
}

/// Whether to end a flow.
pub type EndFlow = Arc<dyn Fn(&Flow) -> bool + Send + Sync>;

#[async_trait]
pub trait Flows: Send + Sync {
    /// Ends the UDP flows that `ends` holds for; returns their number. Costs as much as there
    /// are UDP flows. Not retried here.
    async fn end_udp(&self, ends: EndFlow) -> Result<usize, Error>;
}

/// The flows of the network namespace in which it was opened.
#[derive(Clone)]
pub struct Conntrack {
    socket: Arc<Mutex<Socket>>,
}

const CONNTRACK_SUBSYSTEM: u16 = 1;
const GET: u16 = 1;
const DELETE: u16 = 2;
const REQUEST: u16 = 1;
const ACK: u16 = 4;
const DUMP: u16 = 0x300;
const DONE_MESSAGE: u16 = 3;
const UDP: u8 = 17;

impl Conntrack {
    pub fn open() -> Result<Conntrack, Error> {
        let mut socket = Socket::new(NETLINK_NETFILTER).map_err(Error::Open)?;
        socket.bind_auto().map_err(Error::Open)?;
        Ok(Conntrack { socket: Arc::new(Mutex::new(socket)) })
    }

    /// The same on the calling thread.
    pub fn end_udp_blocking(&self, ends: &EndFlow) -> Result<usize, Error> {
        let socket = self.socket.lock();
        let mut count = 0;
        for family in [2, 10] {
            for original in list_udp(&socket, family, ends)? {
                count += usize::from(delete(&socket, family, &original)?);
            }
        }
        Ok(count)
    }
}

#[async_trait]
impl Flows for Conntrack {
    async fn end_udp(&self, ends: EndFlow) -> Result<usize, Error> {
        let conntrack = self.clone();
        let ended = tokio::task::spawn_blocking(move || conntrack.end_udp_blocking(&ends));
        ended.await.map_err(|_| Error::Ended)?
    }
}

fn send(socket: &Socket, kind: u16, flags: u16, family: u8, body: impl FnOnce(&mut Writer<'_>)) -> Result<(), Error> {
    let mut bytes = Vec::new();
    Writer::new(&mut bytes).message(CONNTRACK_SUBSYSTEM << 8 | kind, REQUEST | flags, 1, family, 0, body);
    socket.send(&bytes, 0).map(drop).map_err(Error::Send)
}

fn receive(socket: &Socket) -> Result<Vec<u8>, Error> {
    loop {
        match socket.recv_from_full() {
            Ok((bytes, _)) => return Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::Answer(error)),
        }
    }
}

/// The original direction, as the kernel wrote it, of the flows to be ended.
fn list_udp(socket: &Socket, family: u8, ends: &EndFlow) -> Result<Vec<Vec<u8>>, Error> {
    send(socket, GET, DUMP, family, |_| {})?;
    let mut found = Vec::new();
    loop {
        let bytes = receive(socket)?;
        let mut rest = bytes.as_slice();
        while let Some((message, after)) = split_message(rest) {
            rest = after;
            match message.get(4..6).map(|kind| u16::from_ne_bytes([kind[0], kind[1]])) {
                Some(DONE_MESSAGE) => return Ok(found),
                // An error ends the list: there is no conntrack of this family.
                Some(2) => return Ok(found),
                _ => found.extend(
                    message.get(20..).and_then(read_flow).filter(|(flow, _)| ends(flow)).map(|(_, original)| original),
                ),
            }
        }
    }
}

fn read_flow(body: &[u8]) -> Option<(Flow, Vec<u8>)> {
    let tuple = |wanted: u16| attributes(body).find(|(_, kind, _)| *kind == wanted).map(|(_, _, value)| value);
    let (original, reply) = (tuple(1)?, tuple(2)?);
    let flow = Flow { to: end(original, 2)?, answered_by: end(reply, 1)? };
    Some((flow, original.to_vec()))
}

/// The source (1) or destination (2) of a tuple of UDP.
fn end(tuple: &[u8], which: u16) -> Option<SocketAddr> {
    let part = |within: &'static [u16], of: &[u8]| {
        attributes(of).find(|(_, kind, _)| within.contains(kind)).map(|(_, _, value)| value.to_vec())
    };
    let addresses = part(&[1], tuple)?;
    let protocol = part(&[2], tuple)?;
    if part(&[1], &protocol)? != [UDP] {
        return None;
    }
    let (four, six) = if which == 1 { (1, 3) } else { (2, 4) };
    let address = attributes(&addresses).find_map(|(_, kind, value)| match kind {
        kind if kind == four => <[u8; 4]>::try_from(value).ok().map(|octets| IpAddr::from(Ipv4Addr::from(octets))),
        kind if kind == six => <[u8; 16]>::try_from(value).ok().map(|octets| IpAddr::from(Ipv6Addr::from(octets))),
        _ => None,
    })?;
    let port = attributes(&protocol).find(|(_, kind, _)| *kind == which + 1).map(|(_, _, value)| value)?;
    Some(SocketAddr::new(address, u16::from_be_bytes(port.try_into().ok()?)))
}

/// Returns whether the flow was still there.
fn delete(socket: &Socket, family: u8, original: &[u8]) -> Result<bool, Error> {
    send(socket, DELETE, ACK, family, |message| message.nested_bytes(1, original))?;
    let bytes = receive(socket)?;
    match answers(&bytes).into_iter().next() {
        Some((_, None)) => Ok(true),
        Some((_, Some(rejection))) if rejection.is_absence() => Ok(false),
        Some((_, Some(rejection))) => Err(Error::Answer(rejection.io_error())),
        None => Err(Error::Answer(io::ErrorKind::UnexpectedEof.into())),
    }
}
