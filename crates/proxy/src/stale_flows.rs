//! UDP flows that go on to an endpoint that is gone: connection tracking keeps the translation
//! for as long as the client sends, whatever the rules say by then. `sync.rs` notes the ports of
//! each Service that it computes and ends the flows when the new rules are in place.
//!
//! Upstream: `CleanStaleEntries` of pkg/proxy/conntrack/cleanup.go.

use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use ferry_api::rules::key::ObjectKey;
use ferry_nftables::{EndFlow, Family, Flow, Protocol};

use crate::model::ServicePort;

/// The endpoints that packets to an address may go to.
type Ways = HashMap<SocketAddr, BTreeSet<SocketAddr>>;

#[derive(Debug)]
pub(crate) struct StaleFlows {
    node_ips: Vec<IpAddr>,
    /// Of Services with UDP ports, as they were computed last.
    known: HashMap<Arc<ObjectKey>, Ways>,
    /// The addresses whose endpoints have changed since flows were ended last.
    changed: Ways,
}

impl StaleFlows {
    pub(crate) fn new(node_ips: Vec<IpAddr>) -> StaleFlows {
        StaleFlows { node_ips, known: HashMap::new(), changed: HashMap::new() }
    }

    /// Notes a Service's ports as they are now. Flows may be stale where an endpoint has gone,
    /// and where the first has come: until then they went to the address itself.
    pub(crate) fn replace(&mut self, key: &Arc<ObjectKey>, ports: &[ServicePort]) {
        let mut now = Ways::new();
        for port in ports.iter().filter(|port| port.protocol == Protocol::Udp) {
            let endpoints: BTreeSet<SocketAddr> = port
                .reachable_endpoints()
                .into_iter()
                .map(|endpoint| SocketAddr::new(endpoint.address, endpoint.port))
                .collect();
            for way in self.ways_in(port) {
                now.entry(way).or_default().extend(endpoints.iter().copied());
            }
        }
        let before = self.known.remove(key).unwrap_or_default();
        for (way, endpoints) in &before {
            let left = now.get(way).cloned().unwrap_or_default();
            if endpoints.iter().any(|endpoint| !left.contains(endpoint)) {
                self.changed.insert(*way, left);
            }
        }
        for (way, endpoints) in &now {
            if !endpoints.is_empty() && before.get(way).is_none_or(BTreeSet::is_empty) {
                self.changed.insert(*way, endpoints.clone());
            }
        }
        if !now.is_empty() {
            self.known.insert(Arc::clone(key), now);
        }
    }

    fn ways_in(&self, port: &ServicePort) -> Vec<SocketAddr> {
        let addresses = port.external_ips.iter().chain(&port.load_balancer_ips).chain([&port.cluster_ip]);
        let mut ways: Vec<SocketAddr> = addresses.map(|address| SocketAddr::new(*address, port.port)).collect();
        if let Some(node_port) = port.node_port {
            let own = self.node_ips.iter().filter(|address| Family::of(**address) == port.family);
            ways.extend(own.map(|address| SocketAddr::new(*address, node_port)));
        }
        ways
    }

    /// Which flows to end, if any may have to.
    pub(crate) fn take(&mut self) -> Option<EndFlow> {
        if self.changed.is_empty() {
            return None;
        }
        let changed = std::mem::take(&mut self.changed);
        Some(Arc::new(move |flow: &Flow| {
            changed.get(&flow.to).is_some_and(|endpoints| !endpoints.contains(&flow.answered_by))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{key, service, slice};
    use crate::model::compute_service;
    use ferry_api::view::Owned;
    use serde_json::json;

    fn address(text: &str) -> SocketAddr {
        text.parse().expect("an address and a port")
    }

    #[test]
    fn flows_end_whose_endpoint_is_gone_or_never_was() {
        let mut stale = StaleFlows::new(vec!["192.0.2.1".parse().expect("an address")]);
        let key = Arc::new(key("dns"));
        let mut note = |pods: &[(&str, &str)]| {
            let spec = json!({"type": "NodePort", "ports": [{"name": "http", "port": 53, "protocol": "UDP", "nodePort": 30053}]});
            let mut slice = slice("dns", "dns-1", pods);
            slice.value_mut()["ports"][0]["protocol"] = json!("UDP");
            let ports = compute_service(service("dns", spec).view(), [slice.view()], "here");
            stale.replace(&key, &ports);
            stale.take().map(|ends| {
                move |to: &str, answered_by: &str| ends(&Flow { to: address(to), answered_by: address(answered_by) })
            })
        };
        assert!(note(&[]).is_none());
        let ends = note(&[("10.244.0.5", "rl"), ("10.244.0.6", "rl")]).expect("the first endpoints");
        assert!(ends("10.96.0.1:53", "10.96.0.1:53"), "it went to the cluster IP itself");
        assert!(!ends("10.96.0.1:53", "10.244.0.5:8080"));
        assert!(note(&[("10.244.0.5", "rl"), ("10.244.0.6", "rl"), ("10.244.0.7", "r")]).is_none());
        let ends = note(&[("10.244.0.6", "rl"), ("10.244.0.7", "r")]).expect("one is gone");
        assert!(ends("10.96.0.1:53", "10.244.0.5:8080") && ends("192.0.2.1:30053", "10.244.0.5:8080"));
        assert!(!ends("10.96.0.1:53", "10.244.0.7:8080") && !ends("10.96.0.2:53", "10.244.0.5:8080"));
    }
}
