//! Does a link carry packets between two addresses, and how large may they be? ICMP echoes
//! that the kernel at the other end answers by itself. Used by `mod.rs` to find out whether a
//! neighbour takes packets of pods, and by `join/` to prove the link's MTU.

use anyhow::{Context, Result};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, bind, connect, getsockopt, recv, send,
    socket, sockopt,
};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// IPv4 without options, and ICMP's own.
const HEADERS: u32 = 20 + 8;
/// The payload that any link carries.
const SMALL: u32 = 100;
const ANSWER_TIMEOUT: Duration = Duration::from_millis(400);
/// A link that loses a fifth of its packets answers one of six with certainty enough.
const ATTEMPTS: u16 = 6;

/// The answer about one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    Yes,
    /// A router on the way said that it is too large, and how large one may be.
    TooLarge(u32),
    NoAnswer,
}

/// The largest packet that reaches an address, beside the one that should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkSize {
    Full,
    /// Larger ones get lost.
    Only(u32),
    /// Not even a small one is answered: ICMP is dropped on the way, so nothing is proven.
    Unknown,
}

/// Sends a packet of the whole size `mtu`, and searches for the largest one that arrives if
/// that does not.
pub async fn prove_mtu(from: Ipv4Addr, to: Ipv4Addr, mtu: u32) -> Result<LinkSize> {
    match carries(from, to, mtu).await? {
        Carried::Yes => return Ok(LinkSize::Full),
        Carried::TooLarge(size) => return Ok(LinkSize::Only(size)),
        Carried::NoAnswer => {}
    }
    if carries(from, to, SMALL).await? != Carried::Yes {
        return Ok(LinkSize::Unknown);
    }
    let (mut good, mut bad) = (SMALL, mtu);
    // Eight rounds find the size to within six bytes of 1,500.
    for _ in 0..8 {
        let size = good.midpoint(bad);
        match carries(from, to, size).await? {
            Carried::Yes => good = size,
            _ => bad = size,
        }
    }
    Ok(LinkSize::Only(good))
}

/// Is a packet of this size, headers included, answered? It is not to be fragmented.
pub async fn carries(from: Ipv4Addr, to: Ipv4Addr, size: u32) -> Result<Carried> {
    let socket = open(from, to).with_context(|| format!("cannot open an ICMP socket from {from} to {to}"))?;
    #[expect(deprecated, reason = "its successor is unsafe; this owns its descriptor as long as it lives")]
    let watched = AsyncFd::with_interest(socket, Interest::READABLE);
    let socket = watched.context("cannot watch an ICMP socket")?;
    let id: u16 = rand::random();
    for sequence in 0..ATTEMPTS {
        let packet = render_echo(id, sequence, size.saturating_sub(HEADERS));
        match send(socket.as_raw_fd(), &packet, MsgFlags::empty()) {
            Ok(_) => {}
            Err(nix::errno::Errno::EMSGSIZE) => return Ok(Carried::TooLarge(path_mtu(socket.get_ref(), size))),
            // No route or no neighbour yet: as good as no answer.
            Err(_) => {
                tokio::time::sleep(ANSWER_TIMEOUT).await;
                continue;
            }
        }
        if tokio::time::timeout(ANSWER_TIMEOUT, await_reply(&socket, id)).await.is_ok() {
            // An answer to fragments proves nothing: the kernel has learned of a smaller link.
            let known = path_mtu(socket.get_ref(), size);
            return Ok(if known < size { Carried::TooLarge(known) } else { Carried::Yes });
        }
    }
    let known = path_mtu(socket.get_ref(), size);
    Ok(if known < size { Carried::TooLarge(known) } else { Carried::NoAnswer })
}

fn open(from: Ipv4Addr, to: Ipv4Addr) -> nix::Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let fd = socket(AddressFamily::Inet, SockType::Raw, flags, SockProtocol::Icmp)?;
    bind(fd.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(from, 0)))?;
    connect(fd.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(to, 0)))?;
    Ok(fd)
}

fn path_mtu(socket: &OwnedFd, otherwise: u32) -> u32 {
    getsockopt(socket, sockopt::IpMtu).ok().and_then(|mtu| u32::try_from(mtu).ok()).unwrap_or(otherwise)
}

async fn await_reply(socket: &AsyncFd<OwnedFd>, id: u16) {
    let mut buffer = vec![0; 65_536];
    loop {
        let Ok(mut guard) = socket.readable().await else { return std::future::pending().await };
        match recv(socket.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
            Ok(length) if is_reply(&buffer[..length], id) => return,
            Ok(_) => {}
            Err(nix::errno::Errno::EAGAIN) => guard.clear_ready(),
            // What ICMP says about an earlier packet stands at the socket as an error.
            Err(_) => {}
        }
    }
}

/// A raw socket gives the packet with its IP header.
fn is_reply(packet: &[u8], id: u16) -> bool {
    let header = packet.first().map_or(0, |first| usize::from(first & 0x0f) * 4);
    let Some([kind, _, _, _, high, low, ..]) = packet.get(header..) else { return false };
    *kind == 0 && u16::from_be_bytes([*high, *low]) == id
}

fn render_echo(id: u16, sequence: u16, payload: u32) -> Vec<u8> {
    let mut packet = vec![8, 0, 0, 0];
    packet.extend(id.to_be_bytes());
    packet.extend(sequence.to_be_bytes());
    packet.resize(8 + payload as usize, 0x66);
    let sum = checksum(&packet);
    packet[2..4].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// RFC 1071.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_has_its_checksum_and_its_size() {
        let packet = render_echo(0x1234, 1, 1472);
        assert_eq!(packet.len() + 20, 1500);
        assert_eq!(checksum(&packet), 0, "the sum over a packet with its checksum");
        assert_eq!(checksum(&[0x01]), !0x0100);
    }

    #[test]
    fn a_reply_is_told_from_other_packets() {
        let mut reply = vec![0x45; 20];
        reply.extend([0, 0, 0, 0, 0x12, 0x34, 0, 1]);
        assert!(is_reply(&reply, 0x1234) && !is_reply(&reply, 0x1235));
        reply[20] = 8;
        assert!(!is_reply(&reply, 0x1234), "an echo of another's");
        assert!(!is_reply(&[], 0) && !is_reply(&[0x4f, 0], 0));
    }

    #[tokio::test]
    async fn the_loopback_link_carries_what_it_says() {
        let own = Ipv4Addr::LOCALHOST;
        assert_eq!(prove_mtu(own, own, 1500).await.expect("as root"), LinkSize::Full);
    }
}
