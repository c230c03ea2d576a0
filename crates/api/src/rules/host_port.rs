//! The ports of the node that a pod takes, and whether two of them conflict: the scheduler
//! filters nodes by it and the kubelet admits pods by it.
//!
//! Upstream: `GetHostPorts` of pkg/scheduler/util/utils.go and `HostPortInfo` of
//! kube-scheduler/framework/types.go.

use super::pod::is_sidecar;
use crate::view::core::v1::{ContainerPortView, PodSpecView};
use std::borrow::Cow;

/// A port of the node. Its address and protocol are never empty: [`ANY_ADDRESS`] and `TCP`
/// stand for those that are not stated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPort<'a> {
    pub ip: Cow<'a, str>,
    pub protocol: Cow<'a, str>,
    pub port: i32,
}

/// Every address of the node.
pub const ANY_ADDRESS: &str = "0.0.0.0";

impl<'a> HostPort<'a> {
    /// `None` for a container port that takes none of the node's.
    pub fn of(port: ContainerPortView<'a>) -> Option<Self> {
        let or = |text: &'a str, default: &'static str| Cow::Borrowed(if text.is_empty() { default } else { text });
        let number = port.host_port();
        (number > 0).then(|| Self {
            ip: or(port.host_ip(), ANY_ADDRESS),
            protocol: or(port.protocol(), "TCP"),
            port: number,
        })
    }

    /// Whether both cannot be taken at once: the same port and protocol, and the same
    /// address or any. `::` is an address like others to upstream, and conflicts with itself
    /// and with `0.0.0.0` only.
    pub fn conflicts_with(&self, other: &HostPort<'_>) -> bool {
        self.port == other.port
            && self.protocol == other.protocol
            && (self.ip == other.ip || self.ip == ANY_ADDRESS || other.ip == ANY_ADDRESS)
    }

    /// A copy that outlives the pod.
    pub fn into_owned(self) -> HostPort<'static> {
        HostPort {
            ip: Cow::Owned(self.ip.into_owned()),
            protocol: Cow::Owned(self.protocol.into_owned()),
            port: self.port,
        }
    }
}

/// The host ports of the sidecars and of the containers. Other init containers are over
/// before theirs matter.
pub fn host_ports(spec: PodSpecView<'_>) -> impl Iterator<Item = HostPort<'_>> {
    let sidecars = spec.init_containers().iter().filter(|container| is_sidecar(*container));
    sidecars.chain(spec.containers()).flat_map(|container| container.ports()).filter_map(HostPort::of)
}

/// Whether a port of `wanted` conflicts with one that is taken.
pub fn conflict<'a>(wanted: &[HostPort<'_>], taken: impl IntoIterator<Item = &'a HostPort<'a>>) -> bool {
    taken.into_iter().any(|taken| wanted.iter().any(|wanted| wanted.conflicts_with(taken)))
}
