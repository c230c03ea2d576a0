//! The model in nftables' words. [`render_base`] is the frame that is there once: base chains,
//! maps, and the rules that look services up in the maps. [`render_service`] is what one Service
//! adds: its chains, its elements in the maps. So a change of one Service touches only these.
//! Pure; called by `sync.rs` and `ruleset.rs`.
//!
//! The way of a packet to 10.96.0.1:80 with two endpoints:
//!
//! ```text
//! nat-prerouting -> services: "10.96.0.1 . tcp . 80" in @service-ips4
//!   -> goto cluster4/default/web/tcp/http: dnat to one of 10.244.0.5 . 8080, 10.244.0.6 . 8080
//! nat-postrouting -> masquerading: if the mark says so, or the endpoint called itself
//! ```
//!
//! and without endpoints:
//!
//! ```text
//! filter-forward (or -output, -input) -> no-endpoints: in @no-endpoint-ips4 -> goto refuse
//! ```
//!
//! The semantics follow upstream's pkg/proxy/nftables. Names that end in 4 and 6 belong to one
//! address family; the table is of family inet and holds both.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::IpAddr;

use ferry_api::rules::cidr::Cidr;
use ferry_api::rules::key::ObjectKey;

use crate::Config;
use crate::model::{Endpoint, Family, ServicePort, TrafficPolicy};

/// Everything that one Service adds to the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceRules {
    /// Rules by chain.
    pub chains: BTreeMap<String, Vec<String>>,
    /// Definitions of sets by name. A definition never changes under its name.
    pub sets: BTreeMap<String, String>,
    /// Verdicts by map and key, or nothing for the elements of a set.
    pub elements: BTreeMap<Element, Option<String>>,
}

/// A place in one of the frame's sets and maps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Element {
    pub container: String,
    pub key: String,
}

/// The names that differ between the families.
struct Words {
    suffix: char,
    /// As in `ip daddr`.
    ip: &'static str,
    address: &'static str,
    loopback: &'static str,
    multicast: &'static str,
}

fn words(family: Family) -> Words {
    match family {
        Family::V4 => {
            Words { suffix: '4', ip: "ip", address: "ipv4_addr", loopback: "127.0.0.0/8", multicast: "224.0.0.0/4" }
        }
        Family::V6 => Words { suffix: '6', ip: "ip6", address: "ipv6_addr", loopback: "::1", multicast: "ff00::/8" },
    }
}

/// The frame, as the body of the table.
pub fn render_base(config: &Config) -> String {
    let mut frame = Frame::default();
    let mark = config.masquerade_mark;
    for family in Family::ALL {
        let Words { suffix, address, .. } = words(family);
        let service = format!("{address} . inet_proto . inet_service");
        frame.container("set", "cluster-ips", suffix, address);
        frame.container("set", "hairpin", suffix, &format!("{address} . {service}"));
        frame.container("map", "service-ips", suffix, &format!("{service} : verdict"));
        frame.container("map", "service-nodeports", suffix, "inet_proto . inet_service : verdict");
        frame.container("map", "no-endpoint-ips", suffix, &format!("{service} : verdict"));
        frame.container("map", "no-endpoint-nodeports", suffix, "inet_proto . inet_service : verdict");
        frame.container("map", "firewall-ips", suffix, &format!("{service} : verdict"));
    }

    let per_family = |rules: &dyn Fn(Words, Family) -> Vec<String>| -> Vec<String> {
        Family::ALL.into_iter().flat_map(|family| rules(words(family), family)).collect()
    };
    frame.chain("mark-for-masquerade", None, vec![format!("meta mark set meta mark or {mark:#x}")]);
    // A reset reaches a TCP client whatever it thinks of ICMP.
    frame.chain(
        "refuse",
        None,
        vec!["meta l4proto tcp reject with tcp reset".to_string(), "reject with icmpx port-unreachable".to_string()],
    );
    frame.chain(
        "services",
        None,
        per_family(&|Words { suffix, ip, loopback, .. }, family| {
            let mut rules = Vec::new();
            // Whoever is not a pod may have no way back to one other than through this node.
            if let Some(pods) = render_ranges(&config.cluster_cidrs, family) {
                rules.push(format!("{ip} daddr @cluster-ips{suffix} {ip} saddr != {pods} jump mark-for-masquerade"));
            }
            rules.push(format!("{ip} daddr . meta l4proto . th dport vmap @service-ips{suffix}"));
            // Node ports answer on every address of the node except the loopback one, from
            // which the kernel would not let the translated packet leave.
            rules.push(format!(
                "fib daddr type local {ip} daddr != {loopback} meta l4proto . th dport vmap @service-nodeports{suffix}"
            ));
            rules
        }),
    );
    frame.chain("masquerading", None, {
        let mut rules = vec![format!("meta mark and {mark:#x} != 0 meta mark set meta mark xor {mark:#x} masquerade fully-random")];
        rules.extend(per_family(&|Words { suffix, ip, multicast, .. }, family| {
            // An endpoint that reached itself through its Service must not see its own address
            // as the source, or it would answer without passing here.
            let mut rules =
                vec![format!("ct status dnat {ip} saddr . {ip} daddr . meta l4proto . th dport @hairpin{suffix} masquerade fully-random")];
            // Nobody outside knows the way to a pod's address. The CNI plugin could do this
            // too, but through iptables, whose tables it would leave behind.
            if let Some(pods) = render_ranges(&config.cluster_cidrs, family) {
                rules.push(format!(
                    "{ip} saddr {pods} {ip} daddr != {pods} {ip} daddr != {multicast} masquerade fully-random"
                ));
            }
            rules
        }));
        rules
    });
    frame.chain(
        "no-endpoints",
        None,
        per_family(&|Words { suffix, ip, .. }, _| {
            vec![format!("{ip} daddr . meta l4proto . th dport vmap @no-endpoint-ips{suffix}")]
        }),
    );
    frame.chain(
        "no-endpoints-nodeport",
        None,
        per_family(&|Words { suffix, ip, loopback, .. }, _| {
            vec![format!("{ip} daddr != {loopback} meta l4proto . th dport vmap @no-endpoint-nodeports{suffix}")]
        }),
    );
    // What still has a cluster IP for its destination met no port of the Service.
    frame.chain(
        "cluster-ips-check",
        None,
        per_family(&|Words { suffix, ip, .. }, family| {
            let mut rules = vec![format!("{ip} daddr @cluster-ips{suffix} goto refuse")];
            if let Some(services) = render_ranges(&config.service_cidrs, family) {
                rules.push(format!("{ip} daddr {services} drop"));
            }
            rules
        }),
    );
    frame.chain(
        "firewall",
        None,
        per_family(&|Words { suffix, ip, .. }, _| {
            vec![format!("{ip} daddr . meta l4proto . th dport vmap @firewall-ips{suffix}")]
        }),
    );

    // The numbers are the kernel's priorities: -300 comes before connection tracking, -100
    // translates destinations, 100 sources, 0 filters. Source ranges are judged before
    // translation, while the destination still is the load balancer's address.
    let new = |chain: &str| format!("ct state new jump {chain}");
    frame.chain(LOOPBACK_CHAIN, Some(LOOPBACK_HOOK), loopback_rules());
    frame.chain("nat-prerouting", Some("nat hook prerouting priority -100"), vec!["jump services".to_string()]);
    frame.chain("nat-output", Some("nat hook output priority -100"), vec!["jump services".to_string()]);
    frame.chain("nat-postrouting", Some("nat hook postrouting priority 100"), vec!["jump masquerading".to_string()]);
    frame.chain("filter-prerouting", Some("filter hook prerouting priority -110"), vec![new("firewall")]);
    frame.chain("filter-output-early", Some("filter hook output priority -110"), vec![new("firewall")]);
    frame.chain(
        "filter-input",
        Some("filter hook input priority 0"),
        vec![new("no-endpoints-nodeport"), new("no-endpoints")],
    );
    frame.chain(
        "filter-forward",
        Some("filter hook forward priority 0"),
        vec![new("no-endpoints"), new("cluster-ips-check")],
    );
    frame.chain(
        "filter-output",
        Some("filter hook output priority 0"),
        vec![new("no-endpoints"), new("cluster-ips-check")],
    );
    frame.body
}

/// Drops what claims to be of the host's loopback network and does not come from `lo`.
///
/// A pod with a hostPort makes the CNI plugin portmap set `route_localnet` on the bridge, and
/// from then on the kernel delivers 127.0.0.1 from any pod to servers that trust their loopback
/// (the class of CVE-2020-8558). The chain sees packets as they are on the wire: answers to a
/// connection that portmap or this table translated carry the bridge's address here, so that no
/// such flow is cut. No protocol is named, because none has a reason to be let through.
const LOOPBACK_CHAIN: &str = "loopback";
const LOOPBACK_HOOK: &str = "filter hook prerouting priority -300";

fn loopback_rules() -> Vec<String> {
    let rules = |Words { ip, loopback, .. }: Words| {
        ["daddr", "saddr"].map(|side| format!("iifname != \"lo\" {ip} {side} {loopback} drop"))
    };
    Family::ALL.into_iter().flat_map(|family| rules(words(family))).collect()
}

/// The loopback chain alone, as a script that leaves the rest of the table as it is: what has
/// to be in place before the first pod, whether any Service is known or not.
pub(crate) fn render_loopback_guard(table: &str) -> String {
    let mut script = format!(
        "add table inet {table}\nadd chain inet {table} {LOOPBACK_CHAIN} {{ type {LOOPBACK_HOOK}; policy accept; }}\nflush chain inet {table} {LOOPBACK_CHAIN}\n"
    );
    for rule in loopback_rules() {
        let _ = writeln!(script, "add rule inet {table} {LOOPBACK_CHAIN} {rule}");
    }
    script
}

#[derive(Default)]
struct Frame {
    body: String,
}

impl Frame {
    fn container(&mut self, kind: &str, name: &str, suffix: char, types: &str) {
        self.body.push_str(&format!("\t{kind} {name}{suffix} {{ type {types}; }}\n"));
    }

    fn chain(&mut self, name: &str, base: Option<&str>, rules: Vec<String>) {
        let _ = writeln!(self.body, "\tchain {name} {{");
        if let Some(base) = base {
            let _ = writeln!(self.body, "\t\ttype {base}; policy accept;");
        }
        for rule in rules {
            let _ = writeln!(self.body, "\t\t{rule}");
        }
        self.body.push_str("\t}\n");
    }
}

/// What a Service adds. Nothing, if its names are not such as the API server lets pass: they
/// become part of a script.
pub fn render_service(key: &ObjectKey, ports: &[ServicePort], config: &Config) -> ServiceRules {
    let mut rules = ServiceRules::default();
    for port in ports {
        let id = format!("{}/{}/{}/{}", key.namespace, key.name, port.protocol, port.label);
        if id.chars().all(|character| character.is_ascii_alphanumeric() || "-./_".contains(character)) {
            PortRenderer { port, id: shorten(id), words: words(port.family), config, rules: &mut rules }.render();
        } else {
            tracing::warn!(service = id, "a service with a name that nft cannot take is left out");
        }
    }
    rules
}

/// nft takes names of up to 255 bytes and ours get more parts, so a very long one keeps its
/// beginning and a hash (FNV-1a) of the whole.
fn shorten(id: String) -> String {
    const LIMIT: usize = 150;
    if id.len() <= LIMIT {
        return id;
    }
    let hash = id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{}-{hash:016x}", &id[..LIMIT - 17])
}

struct PortRenderer<'a> {
    port: &'a ServicePort,
    id: String,
    words: Words,
    config: &'a Config,
    rules: &'a mut ServiceRules,
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
        self.element("cluster-ips", address.to_string(), None);
        if !port.endpoints(port.internal_policy).is_empty() {
            let chain = self.policy_chain(port.internal_policy);
            self.element("service-ips", self.service_key(address), Some(format!("goto {chain}")));
        } else {
            self.element("no-endpoint-ips", self.service_key(address), Some(self.refusal()));
        }
    }

    /// Node port, external IPs and load balancer.
    fn render_external(&mut self) {
        let port = self.port;
        let ways_in: Vec<IpAddr> = port.external_ips.iter().chain(&port.load_balancer_ips).copied().collect();
        let external_chain = self.chain_name("external");
        // Even with nothing for the outside, this node and its pods may be served.
        if port.has_endpoints {
            let rules = self.external_rules();
            self.rules.chains.insert(external_chain.clone(), rules);
            let verdict = Some(format!("goto {external_chain}"));
            for address in &ways_in {
                self.element("service-ips", self.service_key(*address), verdict.clone());
            }
            if let Some(node_port) = port.node_port {
                self.element("service-nodeports", format!("{} . {node_port}", port.protocol), verdict);
            }
        }
        if port.endpoints(port.external_policy).is_empty() {
            for address in &ways_in {
                self.element("no-endpoint-ips", self.service_key(*address), Some(self.refusal()));
            }
            if let Some(node_port) = port.node_port {
                let key = format!("{} . {node_port}", port.protocol);
                self.element("no-endpoint-nodeports", key, Some(self.refusal()));
            }
        }
        if !port.load_balancer_ips.is_empty() && !port.source_ranges.is_empty() {
            self.render_firewall();
        }
    }

    fn external_rules(&self) -> Vec<String> {
        let port = self.port;
        let mut rules = Vec::new();
        match port.external_policy {
            // The endpoint may be on another node, which has to answer through this one.
            TrafficPolicy::Cluster => rules.push("jump mark-for-masquerade".to_string()),
            TrafficPolicy::Local => {
                let cluster_chain = self.policy_chain(TrafficPolicy::Cluster);
                let ip = self.words.ip;
                if let Some(pods) = render_ranges(&self.config.cluster_cidrs, port.family) {
                    rules.push(format!("{ip} saddr {pods} goto {cluster_chain}"));
                }
                rules.push("fib saddr type local jump mark-for-masquerade".to_string());
                rules.push(format!("fib saddr type local goto {cluster_chain}"));
            }
        }
        if !port.endpoints(port.external_policy).is_empty() {
            rules.push(format!("goto {}", self.policy_chain(port.external_policy)));
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
        let Some(sources) = render_ranges(&sources, port.family) else { return };
        let chain = self.chain_name("firewall");
        let rule = format!("{} saddr != {sources} drop", self.words.ip);
        self.rules.chains.insert(chain.clone(), vec![rule]);
        for address in &port.load_balancer_ips {
            self.element("firewall-ips", self.service_key(*address), Some(format!("goto {chain}")));
        }
    }

    /// The chain that picks an endpoint.
    fn render_policy(&mut self, policy: TrafficPolicy) {
        let port = self.port;
        let endpoints = port.endpoints(policy);
        let count = endpoints.len();
        let choices = |describe: &dyn Fn(&Endpoint) -> String| -> String {
            let choices: Vec<String> = endpoints
                .iter()
                .enumerate()
                .map(|(index, endpoint)| format!("{index} : {}", describe(endpoint)))
                .collect();
            choices.join(", ")
        };
        let mut rules = Vec::new();
        if port.affinity_seconds.is_some() {
            for endpoint in endpoints {
                let (set, chain) = (self.affinity_set(endpoint), self.endpoint_chain(endpoint));
                rules.push(format!("{} saddr @{set} goto {chain}", self.words.ip));
            }
            let jumps = choices(&|endpoint| format!("goto {}", self.endpoint_chain(endpoint)));
            rules.push(format!("numgen random mod {count} vmap {{ {jumps} }}"));
        } else {
            let targets = choices(&|endpoint| format!("{} . {}", endpoint.address, endpoint.port));
            rules.push(format!(
                "meta l4proto {} dnat {} addr . port to numgen random mod {count} map {{ {targets} }}",
                port.protocol, self.words.ip
            ));
        }
        let chain = self.policy_chain(policy);
        self.rules.chains.insert(chain, rules);
    }

    fn render_endpoint(&mut self, endpoint: &Endpoint) {
        let port = self.port;
        let Words { ip, address, .. } = self.words;
        if endpoint.local {
            let at = endpoint.address;
            self.element("hairpin", format!("{at} . {at} . {} . {}", port.protocol, endpoint.port), None);
        }
        if let Some(seconds) = port.affinity_seconds {
            let set = self.affinity_set(endpoint);
            let target = match port.family {
                Family::V4 => format!("{}:{}", endpoint.address, endpoint.port),
                Family::V6 => format!("[{}]:{}", endpoint.address, endpoint.port),
            };
            let rules = vec![
                format!("update @{set} {{ {ip} saddr }}"),
                format!("meta l4proto {} dnat {ip} to {target}", port.protocol),
            ];
            self.rules.chains.insert(self.endpoint_chain(endpoint), rules);
            let definition = format!("type {address}; flags dynamic, timeout; timeout {seconds}s;");
            self.rules.sets.insert(set, definition);
        }
    }

    /// A Service without any endpoint refuses; one that has some, only not for this traffic
    /// here, stays silent.
    fn refusal(&self) -> String {
        if self.port.has_endpoints { "drop".to_string() } else { "goto refuse".to_string() }
    }

    fn service_key(&self, address: IpAddr) -> String {
        format!("{address} . {} . {}", self.port.protocol, self.port.port)
    }

    fn chain_name(&self, kind: &str) -> String {
        format!("{kind}{}/{}", self.words.suffix, self.id)
    }

    fn policy_chain(&self, policy: TrafficPolicy) -> String {
        self.chain_name(match policy {
            TrafficPolicy::Cluster => "cluster",
            TrafficPolicy::Local => "local",
        })
    }

    fn endpoint_chain(&self, endpoint: &Endpoint) -> String {
        format!("{}/{}", self.chain_name("endpoint"), endpoint_name(endpoint))
    }

    /// The timeout is part of the name because a set cannot change its own.
    fn affinity_set(&self, endpoint: &Endpoint) -> String {
        let seconds = self.port.affinity_seconds.unwrap_or_default();
        format!("{}/{}/{seconds}s", self.chain_name("affinity"), endpoint_name(endpoint))
    }

    fn element(&mut self, container: &str, key: String, verdict: Option<String>) {
        let element = Element { container: format!("{container}{}", self.words.suffix), key };
        self.rules.elements.insert(element, verdict);
    }
}

/// A colon cannot be part of a name.
fn endpoint_name(endpoint: &Endpoint) -> String {
    format!("{}/{}", endpoint.address.to_string().replace(':', "."), endpoint.port)
}

/// The ranges of a family as an anonymous set, if there are any. nft refuses a set whose ranges
/// overlap, so those within others are left out.
fn render_ranges(ranges: &[Cidr], family: Family) -> Option<String> {
    let mut chosen: Vec<Cidr> = ranges.iter().filter(|range| Family::of(range.network()) == family).copied().collect();
    chosen.sort();
    chosen.dedup();
    let all = chosen.clone();
    chosen.retain(|range| !all.iter().any(|other| other != range && other.covers(range)));
    let chosen: Vec<String> = chosen.iter().map(Cidr::to_string).collect();
    (!chosen.is_empty()).then(|| format!("{{ {} }}", chosen.join(", ")))
}

#[cfg(test)]
mod tests;
