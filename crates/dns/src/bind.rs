//! The sockets that DNS listens on. `server.rs` opens them here.
//!
//! The kernel delivers a packet for any of the node's addresses whatever interface it came by.
//! So a listener on the bridge's address alone would also answer a neighbour that routes the pod
//! range to this node, and containers on other bridges of the machine. A socket that is bound
//! to an interface is given only what came by it: one for the pod bridge, one for `lo`, by which
//! the node's own questions come.

use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockProtocol, SockType, SockaddrStorage, bind, listen, setsockopt, socket,
    sockopt,
};
use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use tokio::net::{TcpListener, UdpSocket};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 128;

/// A pair of sockets on one address, for packets that come by this interface, or by any.
pub(crate) fn open(address: SocketAddr, device: Option<&str>) -> io::Result<(UdpSocket, TcpListener)> {
    let udp = open_socket(address, device, SockType::Datagram, None)?;
    let tcp = open_socket(address, device, SockType::Stream, Some(SockProtocol::Tcp))?;
    listen(&tcp, Backlog::new(BACKLOG)?)?;
    Ok((UdpSocket::from_std(udp.into())?, TcpListener::from_std(tcp.into())?))
}

fn open_socket(
    address: SocketAddr,
    device: Option<&str>,
    kind: SockType,
    protocol: Option<SockProtocol>,
) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let fd = socket(family, kind, SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC, protocol)?;
    if kind == SockType::Stream {
        // A restart need not wait for connections of the earlier run to be forgotten.
        setsockopt(&fd, sockopt::ReuseAddr, &true)?;
    }
    // Before the address: two sockets may share one only if each has an interface of its own.
    if let Some(device) = device {
        setsockopt(&fd, sockopt::BindToDevice, &OsString::from(device))?;
    }
    bind(fd.as_raw_fd(), &SockaddrStorage::from(address))?;
    Ok(fd)
}
