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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn ports(value: &Value) -> Vec<HostPort<'_>> {
        host_ports(PodSpecView::from(value)).collect()
    }

    #[test]
    fn containers_and_sidecars_take_ports_and_init_containers_do_not() {
        let with = |port: i32| json!({"ports": [{"hostPort": port}, {"containerPort": 80}]});
        let mut sidecar = with(2);
        sidecar["restartPolicy"] = "Always".into();
        let spec = json!({"containers": [with(1)], "initContainers": [sidecar, with(3)]});
        assert_eq!(ports(&spec).iter().map(|port| port.port).collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn ports_conflict_by_number_protocol_and_address() {
        let check = |own: Value, other: Value, expected: bool| {
            let spec = |port: &Value| json!({"containers": [{"ports": [port]}]});
            let (own, other) = (spec(&own), spec(&other));
            let (own, other) = (ports(&own), ports(&other));
            assert_eq!(conflict(&own, &other), expected, "{own:?} {other:?}");
            assert_eq!(conflict(&other, &own), expected, "{other:?} {own:?}");
        };
        let at = |ip: &str| json!({"hostIP": ip, "hostPort": 80, "protocol": "TCP"});
        check(json!({"hostPort": 80}), at(""), true);
        check(json!({"hostPort": 80}), json!({"hostPort": 81}), false);
        check(json!({"hostPort": 80}), json!({"hostPort": 80, "protocol": "UDP"}), false);
        check(json!({"containerPort": 80}), json!({"containerPort": 80}), false);
        check(at("127.0.0.1"), at("127.0.0.1"), true);
        check(at("127.0.0.1"), at("127.0.0.2"), false);
        check(at("127.0.0.1"), at("0.0.0.0"), true);
        check(at("127.0.0.1"), at(""), true);
        check(at("0.0.0.0"), at(""), true);
        check(at("::"), at(""), true);
        check(at("::"), at("::"), true);
        check(at("::"), at("::1"), false);
    }
}
