//! What a NetworkPolicy means, read once from its object: whom it selects, and what it lets
//! through in each direction it isolates. Called by `state.rs` for each policy that changed.
//!
//! Upstream: the types of networking.k8s.io/v1 and `SetDefaults_NetworkPolicy` of
//! pkg/apis/networking/v1/defaults.go.

use ferry_api::rules::cidr::Cidr;
use ferry_api::rules::label_selector;
use ferry_api::selector::Selector;
use ferry_api::view::meta::v1::LabelSelectorView;
use ferry_api::view::networking::v1::{NetworkPolicyPeerView, NetworkPolicyPortView, NetworkPolicyView};
use ferry_api::view::{IntOrString, List};
use ferry_nftables::Protocol;

use crate::group::{GroupKey, Scope};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Direction {
    Ingress,
    Egress,
}

impl Direction {
    pub(crate) const BOTH: [Direction; 2] = [Direction::Ingress, Direction::Egress];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Direction::Ingress => "ingress",
            Direction::Egress => "egress",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Policy {
    pub(crate) pods: Selector,
    /// `None`: the policy does not isolate its pods in this direction.
    pub(crate) ingress: Option<Vec<Rule>>,
    pub(crate) egress: Option<Vec<Rule>>,
}

impl Policy {
    pub(crate) fn rules(&self, direction: Direction) -> Option<&[Rule]> {
        match direction {
            Direction::Ingress => self.ingress.as_deref(),
            Direction::Egress => self.egress.as_deref(),
        }
    }

    fn all_rules(&self) -> impl Iterator<Item = &Rule> {
        self.ingress.iter().chain(&self.egress).flatten()
    }

    /// The groups of pods that the rules name, as often as they name them.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &GroupKey> {
        let peers = self.all_rules().flat_map(|rule| &rule.peers);
        peers.filter_map(|peer| match peer {
            Peer::Pods(group) => Some(group),
            Peer::Block { .. } => None,
        })
    }

    pub(crate) fn port_names(&self) -> impl Iterator<Item = &str> {
        let ports = self.all_rules().flat_map(|rule| &rule.ports);
        ports.filter_map(|port| match &port.numbers {
            Numbers::Named(name) => Some(name.as_str()),
            Numbers::All | Numbers::Between(..) => None,
        })
    }
}

/// Traffic that meets one of the peers and one of the ports passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Empty: everyone.
    pub(crate) peers: Vec<Peer>,
    /// Empty: every port of every protocol.
    pub(crate) ports: Vec<Port>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    Pods(GroupKey),
    Block { cidr: Cidr, except: Vec<Cidr> },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    pub(crate) protocol: Protocol,
    pub(crate) numbers: Numbers,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    All,
    Between(u16, u16),
    /// The number that the receiving pod gives to the name.
    Named(String),
}

/// Reads a policy. Parts that the API server would not have let through match nothing.
pub(crate) fn compile_policy(policy: NetworkPolicyView<'_>) -> Policy {
    let spec = policy.spec();
    let namespace = policy.metadata().namespace();
    let types = spec.policy_types();
    let isolates = |kind: &str, default: bool| if types.is_empty() { default } else { types.contains(kind) };
    let ingress = isolates("Ingress", true).then(|| {
        let rules = spec.ingress().iter();
        rules.map(|rule| compile_rule(namespace, rule.from(), rule.ports())).collect()
    });
    let egress = isolates("Egress", !spec.egress().is_empty()).then(|| {
        let rules = spec.egress().iter();
        rules.map(|rule| compile_rule(namespace, rule.to(), rule.ports())).collect()
    });
    let pods = selector(Some(spec.pod_selector()));
    Policy { pods, ingress, egress }.without_empty_rules()
}

impl Policy {
    /// A rule all of whose peers or ports are invalid matches nothing, and not everything.
    fn without_empty_rules(mut self) -> Policy {
        let nobody = |rule: &Rule| matches!(rule.peers.as_slice(), [Peer::Pods(group)] if group.pods.is_nothing());
        for rules in [&mut self.ingress, &mut self.egress].into_iter().flatten() {
            rules.retain(|rule| !nobody(rule));
        }
        self
    }
}

fn compile_rule(
    namespace: &str,
    peers: List<'_, NetworkPolicyPeerView<'_>>,
    ports: List<'_, NetworkPolicyPortView<'_>>,
) -> Rule {
    let nobody = || Peer::Pods(GroupKey { scope: Scope::Namespace(namespace.to_owned()), pods: Selector::nothing() });
    let mut compiled = Rule {
        peers: peers.iter().filter_map(|peer| compile_peer(namespace, peer)).collect(),
        ports: ports.iter().filter_map(compile_port).collect(),
    };
    let invalid_peers = !peers.is_empty() && compiled.peers.is_empty();
    let invalid_ports = !ports.is_empty() && compiled.ports.is_empty();
    if invalid_peers || invalid_ports {
        compiled.peers = vec![nobody()];
    }
    compiled
}

fn compile_peer(namespace: &str, peer: NetworkPolicyPeerView<'_>) -> Option<Peer> {
    if let Some(block) = peer.ip_block() {
        let cidr = block.cidr().parse().ok()?;
        let except = block.except().iter().filter_map(|range| range.parse().ok()).collect();
        return Some(Peer::Block { cidr, except });
    }
    let scope = match peer.namespace_selector() {
        Some(namespaces) => Scope::Selected(selector(Some(namespaces))),
        None => Scope::Namespace(namespace.to_owned()),
    };
    let pods = match (peer.pod_selector(), &scope) {
        (Some(pods), _) => selector(Some(pods)),
        (None, Scope::Selected(_)) => Selector::everything(),
        (None, Scope::Namespace(_)) => return None,
    };
    Some(Peer::Pods(GroupKey { scope, pods }))
}

fn compile_port(port: NetworkPolicyPortView<'_>) -> Option<Port> {
    let protocol = Protocol::parse(port.protocol().unwrap_or_default())?;
    let number = |number: i32| u16::try_from(number).ok();
    let numbers = match port.port() {
        None => Numbers::All,
        Some(IntOrString::String(name)) => Numbers::Named(name.to_owned()),
        Some(IntOrString::Int(first)) => {
            let last = port.end_port().unwrap_or(first);
            Numbers::Between(number(first)?, number(last)?)
        }
    };
    Some(Port { protocol, numbers })
}

fn selector(selector: Option<LabelSelectorView<'_>>) -> Selector {
    label_selector::to_selector(selector).unwrap_or_else(|_| Selector::nothing())
}
