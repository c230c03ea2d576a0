//! What one Service adds to the table: its chains, its elements in the maps of the frame
//! (`frame.rs`). So a change of one Service touches only these. Pure; called by `sync.rs`.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use ferry_api::rules::cidr::Cidr;
use ferry_api::rules::key::ObjectKey;
use ferry_nftables::{Field, Key, KeyType, Name, OwnedRules, Set, Side, Statement, Verdict, short_name};

use crate::Config;
use crate::frame::{MARK_FOR_MASQUERADE, REFUSE, goto, jump, outside, ranges_of, suffixed};
use crate::model::{Endpoint, ServicePort, TrafficPolicy};

/// What a Service adds.
pub fn render_service(key: &ObjectKey, ports: &[ServicePort], config: &Config) -> OwnedRules {
    let mut rules = OwnedRules::default();
    for port in ports {
        let id = short_name(&format!("{}/{}/{}/{}", key.namespace, key.name, port.protocol, port.label));
        PortRenderer { port, id, config, rules: &mut rules }.render();
    }
    rules
}

struct PortRenderer<'a> {
    port: &'a ServicePort,
    id: Name,
    config: &'a Config,
    rules: &'a mut OwnedRules,
}

impl PortRenderer<'_> {
    fn render(mut self) {
        let port = self.port;
        for endpoint in port.reachable_endpoints() {
            self.render_endpoint(endpoint);
        }
        for policy in [TrafficPolicy::Cluster, TrafficPolicy::Local] {
            if !port.endpoints(policy).is_empty() {
                self.render_policy(policy);
            }
        }
        self.render_internal();
        if port.is_external() {
            self.render_external();
        }
    }

    /// The cluster IP. Under policy Local without a local endpoint its traffic is dropped, as
    /// upstream does: the Service exists, this node just has nothing for it.
    fn render_internal(&mut self) {
        let port = self.port;
        let address = port.cluster_ip;
        self.element("cluster-ips", Key::of(address), None);
        if !port.endpoints(port.internal_policy).is_empty() {
            let chain = self.policy_chain(port.internal_policy);
            self.element("service-ips", self.service_key(address), Some(Verdict::Goto(chain)));
        } else {
            self.element("no-endpoint-ips", self.service_key(address), Some(self.refusal()));
        }
    }

    /// Node port, external IPs and load balancer.
    fn render_external(&mut self) {
        let port = self.port;
        let ways_in: Vec<IpAddr> = port.external_ips.iter().chain(&port.load_balancer_ips).copied().collect();
        let node_port = port.node_port.map(|number| Key::default().protocol(port.protocol).port(number));
        // Even with nothing for the outside, this node and its pods may be served.
        if port.has_endpoints {
            let chain = self.chain_name("external");
            let rules = self.external_rules();
            self.rules.chains.insert(chain.clone(), rules);
            for address in &ways_in {
                self.element("service-ips", self.service_key(*address), Some(Verdict::Goto(chain.clone())));
            }
            if let Some(key) = &node_port {
                self.element("service-nodeports", key.clone(), Some(Verdict::Goto(chain)));
            }
        }
        if port.endpoints(port.external_policy).is_empty() {
            for address in &ways_in {
                self.element("no-endpoint-ips", self.service_key(*address), Some(self.refusal()));
            }
            if let Some(key) = node_port {
                self.element("no-endpoint-nodeports", key, Some(self.refusal()));
            }
        }
        if !port.load_balancer_ips.is_empty() && !port.source_ranges.is_empty() {
            self.render_firewall();
        }
    }

    fn external_rules(&self) -> Vec<Vec<Statement>> {
        let port = self.port;
        let mut rules = Vec::new();
        match port.external_policy {
            // The endpoint may be on another node, which has to answer through this one.
            TrafficPolicy::Cluster => rules.push(vec![jump(MARK_FOR_MASQUERADE)]),
            TrafficPolicy::Local => {
                let cluster_chain = self.policy_chain(TrafficPolicy::Cluster);
                for cidr in ranges_of(&self.config.cluster_cidrs, port.family) {
                    rules.push(vec![Statement::Range { side: Side::Source, cidr, within: true }, goto(&cluster_chain)]);
                }
                rules.push(vec![Statement::Local(Side::Source), jump(MARK_FOR_MASQUERADE)]);
                rules.push(vec![Statement::Local(Side::Source), goto(&cluster_chain)]);
            }
        }
        if !port.endpoints(port.external_policy).is_empty() {
            rules.push(vec![goto(&self.policy_chain(port.external_policy))]);
        }
        rules
    }

    fn render_firewall(&mut self) {
        let port = self.port;
        let mut sources = port.source_ranges.clone();
        // The load balancer's address may be one of the node's own, and a request to it from
        // the node then carries it as its source.
        let admits_node = |range: &Cidr| self.config.node_ips.iter().any(|address| range.contains(*address));
        if port.source_ranges.iter().any(admits_node) {
            sources.extend(port.load_balancer_ips.iter().copied().map(Cidr::of));
        }
        let sources = ranges_of(&sources, port.family);
        if sources.is_empty() {
            return;
        }
        let chain = self.chain_name("firewall");
        let rule = [outside(Side::Source, &sources), vec![Statement::Verdict(Verdict::Drop)]].concat();
        self.rules.chains.insert(chain.clone(), vec![rule]);
        for address in &port.load_balancer_ips {
            self.element("firewall-ips", self.service_key(*address), Some(Verdict::Goto(chain.clone())));
        }
    }

    /// The chain that picks an endpoint.
    fn render_policy(&mut self, policy: TrafficPolicy) {
        let port = self.port;
        let endpoints = port.endpoints(policy);
        let mut rules = Vec::new();
        if port.affinity_seconds.is_some() {
            let chains: Vec<Name> = endpoints.iter().map(|endpoint| self.endpoint_chain(endpoint)).collect();
            for (endpoint, chain) in endpoints.iter().zip(&chains) {
                let set = self.affinity_set(endpoint);
                rules.push(vec![Statement::Member { key: self.source(), set }, goto(chain)]);
            }
            rules.push(vec![Statement::GotoRandom(chains)]);
        } else {
            let targets = endpoints.iter().map(|endpoint| SocketAddr::new(endpoint.address, endpoint.port)).collect();
            rules.push(vec![Statement::Protocol(port.protocol), Statement::DnatRandom(targets)]);
        }
        let chain = self.policy_chain(policy);
        self.rules.chains.insert(chain, rules);
    }

    fn render_endpoint(&mut self, endpoint: &Endpoint) {
        let port = self.port;
        let Endpoint { address, port: number, .. } = *endpoint;
        if endpoint.local {
            self.element("hairpin", Key::of(address).address(address).protocol(port.protocol).port(number), None);
        }
        if let Some(seconds) = port.affinity_seconds {
            let set = self.affinity_set(endpoint);
            let rules = vec![
                vec![Statement::Remember { key: self.source(), set: set.clone() }],
                vec![Statement::Protocol(port.protocol), Statement::Dnat(SocketAddr::new(address, number))],
            ];
            self.rules.chains.insert(self.endpoint_chain(endpoint), rules);
            let timeout = Some(Duration::from_secs(seconds.into()));
            let definition = Set { timeout, ..Set::new(set.clone(), [KeyType::Address(port.family)]) };
            self.rules.sets.insert(set, definition);
        }
    }

    /// A Service without any endpoint refuses; one that has some, only not for this traffic
    /// here, stays silent.
    fn refusal(&self) -> Verdict {
        if self.port.has_endpoints { Verdict::Drop } else { Verdict::Goto(REFUSE.into()) }
    }

    fn source(&self) -> Vec<Field> {
        vec![Field::Address(Side::Source, self.port.family)]
    }

    fn service_key(&self, address: IpAddr) -> Key {
        Key::service(address, self.port.protocol, self.port.port)
    }

    fn chain_name(&self, kind: &str) -> Name {
        format!("{}/{}", suffixed(kind, self.port.family), self.id).into()
    }

    fn policy_chain(&self, policy: TrafficPolicy) -> Name {
        self.chain_name(match policy {
            TrafficPolicy::Cluster => "cluster",
            TrafficPolicy::Local => "local",
        })
    }

    fn endpoint_chain(&self, endpoint: &Endpoint) -> Name {
        format!("{}/{}", self.chain_name("endpoint"), endpoint_name(endpoint)).into()
    }

    /// The timeout is part of the name because a set cannot change its own.
    fn affinity_set(&self, endpoint: &Endpoint) -> Name {
        let seconds = self.port.affinity_seconds.unwrap_or_default();
        format!("{}/{}/{seconds}s", self.chain_name("affinity"), endpoint_name(endpoint)).into()
    }

    fn element(&mut self, set: &str, key: Key, verdict: Option<Verdict>) {
        self.rules.add_element(suffixed(set, self.port.family), key, verdict);
    }
}

/// A colon cannot be part of a name.
fn endpoint_name(endpoint: &Endpoint) -> String {
    format!("{}/{}", endpoint.address.to_string().replace(':', "."), endpoint.port)
}

#[cfg(test)]
mod tests;
