//! Switches the transmit checksum offload of a link off, as `ethtool -K LINK
//! tx-checksum-ip-generic off` does. Kernels with faults there send the packets of a tunnel
//! with checksums that nobody accepts (flannel #1282, #790), and that no packet shows until it
//! is lost.
//!
//! The request goes over generic netlink (linux/ethtool_netlink.h), by hand: it is two
//! messages, and the ioctl of old would need unsafe code.

use anyhow::{Context, Result, bail};
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, send, setsockopt, socket,
    sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike};
use std::os::fd::{AsRawFd, OwnedFd};

const REQUEST: u16 = 1;
const ACK: u16 = 4;
const NESTED: u16 = 1 << 15;

const GENL_ID_CTRL: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;

const ETHTOOL_MSG_FEATURES_SET: u8 = 12;
const FEATURES_HEADER: u16 = 1;
const FEATURES_WANTED: u16 = 3;
const HEADER_DEV_NAME: u16 = 2;
const BITSET_BITS: u16 = 3;
const BITS_BIT: u16 = 1;
const BIT_NAME: u16 = 2;

const NLMSG_ERROR: u16 = 2;

/// The feature behind `ethtool -K LINK tx off` of a vxlan link.
const FEATURE: &str = "tx-checksum-ip-generic";

/// Blocks for as long as the kernel takes.
pub fn switch_off_checksums(link: &str) -> Result<()> {
    let socket = open().context("cannot open a generic netlink socket")?;
    let family = ask_family(&socket).context("the kernel has no ethtool over netlink")?;
    let wanted = attribute(BIT_NAME, &text(FEATURE));
    let wanted = attribute(BITS_BIT | NESTED, &wanted);
    let wanted = attribute(BITSET_BITS | NESTED, &wanted);
    let mut body = attribute(FEATURES_HEADER | NESTED, &attribute(HEADER_DEV_NAME, &text(link)));
    body.extend(attribute(FEATURES_WANTED | NESTED, &wanted));
    let answer = ask(&socket, family, ETHTOOL_MSG_FEATURES_SET, ACK, &body)?;
    check_error(&answer).with_context(|| format!("cannot switch {FEATURE} of {link} off"))
}

fn open() -> nix::Result<OwnedFd> {
    let fd = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkGeneric)?;
    bind(fd.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
    setsockopt(&fd, sockopt::ReceiveTimeout, &TimeVal::seconds(5))?;
    Ok(fd)
}

fn ask_family(socket: &OwnedFd) -> Result<u16> {
    let body = attribute(CTRL_ATTR_FAMILY_NAME, &text("ethtool"));
    let answer = ask(socket, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, &body)?;
    check_error(&answer)?;
    parse_family(&answer).context("an answer without the family's number")
}

fn ask(socket: &OwnedFd, kind: u16, command: u8, flags: u16, body: &[u8]) -> Result<Vec<u8>> {
    let message = render_message(kind, command, flags, body);
    send(socket.as_raw_fd(), &message, MsgFlags::empty()).context("cannot send to the kernel")?;
    let mut buffer = vec![0; 16_384];
    let length = recv(socket.as_raw_fd(), &mut buffer, MsgFlags::empty()).context("the kernel does not answer")?;
    buffer.truncate(length);
    Ok(buffer)
}

/// A netlink header, a generic netlink header, and attributes.
fn render_message(kind: u16, command: u8, flags: u16, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(16 + 4 + body.len()).unwrap_or(u32::MAX);
    let mut out = length.to_ne_bytes().to_vec();
    out.extend(kind.to_ne_bytes());
    out.extend((REQUEST | flags).to_ne_bytes());
    out.extend(1_u32.to_ne_bytes());
    out.extend(0_u32.to_ne_bytes());
    out.extend([command, 1, 0, 0]);
    out.extend(body);
    out
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    let mut out = length.to_ne_bytes().to_vec();
    out.extend(kind.to_ne_bytes());
    out.extend(value);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

fn text(value: &str) -> Vec<u8> {
    [value.as_bytes(), &[0]].concat()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// The kernel's refusal, which is a message of its own kind with a negative errno.
fn check_error(answer: &[u8]) -> Result<()> {
    if u16_at(answer, 4) != Some(NLMSG_ERROR) {
        return Ok(());
    }
    let code = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map_or(0, i32::from_ne_bytes);
    if code != 0 {
        bail!("{}", std::io::Error::from_raw_os_error(-code));
    }
    Ok(())
}

fn parse_family(answer: &[u8]) -> Option<u16> {
    let mut at = 20;
    while let (Some(length), Some(kind)) = (u16_at(answer, at), u16_at(answer, at + 2)) {
        if kind == CTRL_ATTR_FAMILY_ID {
            return u16_at(answer, at + 4);
        }
        at += usize::from(length.max(4)).next_multiple_of(4);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_padded_to_four_bytes() {
        assert_eq!(attribute(2, b"ab\0").len(), 8);
        assert_eq!(attribute(2, b"abc\0"), [&8_u16.to_ne_bytes()[..], &2_u16.to_ne_bytes(), b"abc\0"].concat());
        let message = render_message(16, 3, 0, &attribute(2, &text("ethtool")));
        assert_eq!(message.len(), 32);
        assert_eq!(&message[..4], &32_u32.to_ne_bytes());
    }

    #[test]
    fn an_answer_gives_the_family_or_the_errno() {
        let mut answer = render_message(16, 1, 0, &attribute(2, &text("ethtool")));
        assert_eq!(parse_family(&answer), None);
        answer.extend(attribute(CTRL_ATTR_FAMILY_ID, &21_u16.to_ne_bytes()));
        assert_eq!(parse_family(&answer), Some(21));
        assert!(parse_family(&answer[..21]).is_none() && check_error(&answer).is_ok());
        let mut refusal = render_message(NLMSG_ERROR, 0, 0, &[]);
        refusal[16..20].copy_from_slice(&(-19_i32).to_ne_bytes());
        assert!(format!("{:#}", check_error(&refusal).expect_err("a refusal")).contains("No such device"));
    }
}
