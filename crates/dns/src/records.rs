//! The cluster's zone: what Services and EndpointSlices mean in DNS.
//!
//! The zone keeps a few words of each object and makes records when asked, so that a
//! change costs nothing but itself and an idle zone is small. Pure; fed by lib.rs and
//! asked by server.rs.
//!
//! | name under the domain | is |
//! |---|---|
//! | `web.default.svc` | the cluster address; of a headless service each ready endpoint |
//! | `_http._tcp.web.default.svc` | SRV of the named port |
//! | `10-244-0-7.web.default.svc`, `db-0.web.default.svc` | one endpoint |
//! | `10-244-0-7.default.pod` | the address it spells |
//! | `7.0.244.10.in-addr.arpa` (not under it) | PTR to a service or an endpoint |

use ferry_api::view::core::v1::{Namespace, Service, ServiceView};
use ferry_api::view::discovery::v1::{EndpointSlice, EndpointSliceView};
use ferry_client::{Event, SharedObject};
use hickory_proto::rr::rdata::{A, AAAA, CNAME, NS, PTR, SOA, SRV, TXT};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{SystemTime, UNIX_EPOCH};

/// How long clients may remember an answer (kubeadm's and CoreDNS' usual setting).
const TTL: u32 = 30;

/// The version of the specification that `dns-version` names.
const SPECIFICATION: &str = "1.1.0";

const SERVICE_NAME: &str = "kubernetes.io/service-name";

#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The name is not under the cluster's domain.
    Elsewhere,
    Found {
        answers: Vec<Record>,
        additionals: Vec<Record>,
    },
    /// The name is another name for `target`, which is to be asked for in its place.
    Alias {
        record: Box<Record>,
        target: Name,
    },
    /// The name exists and has nothing of the type.
    NoData,
    NoSuchName,
}

pub struct Zone {
    domain: Name,
    labels: Vec<String>,
    name_server: Vec<IpAddr>,
    serial: u32,
    namespaces: HashMap<String, NamespaceEntry>,
    reverse: HashMap<IpAddr, Vec<Pointer>>,
}

/// What is known under one namespace's name.
#[derive(Default)]
struct NamespaceEntry {
    exists: bool,
    services: HashMap<String, ServiceEntry>,
    /// By service and by slice. A slice may come before its service.
    slices: HashMap<String, BTreeMap<String, SliceEntry>>,
}

impl NamespaceEntry {
    fn is_empty(&self) -> bool {
        !self.exists && self.services.is_empty() && self.slices.is_empty()
    }
}

#[derive(Default)]
struct ServiceEntry {
    addresses: Vec<IpAddr>,
    alias: Option<String>,
    ports: Vec<Port>,
}

impl ServiceEntry {
    fn is_headless(&self) -> bool {
        self.addresses.is_empty() && self.alias.is_none()
    }
}

struct SliceEntry {
    endpoints: Vec<EndpointEntry>,
    ports: Vec<Port>,
}

struct EndpointEntry {
    address: IpAddr,
    hostname: Option<String>,
}

impl EndpointEntry {
    /// The name of the endpoint within its service.
    fn label(&self) -> String {
        self.hostname.clone().unwrap_or_else(|| self.address.to_string().replace(['.', ':'], "-"))
    }
}

/// A port as SRV names it: both parts without their underscore.
struct Port {
    name: String,
    protocol: String,
    number: u16,
}

impl Port {
    /// An absent protocol is TCP, as the API defaults it.
    fn new(name: &str, protocol: &str, number: i32) -> Self {
        Self {
            name: name.to_lowercase(),
            protocol: if protocol.is_empty() { "tcp".to_owned() } else { protocol.to_lowercase() },
            number: u16::try_from(number).unwrap_or(0),
        }
    }
}

/// Where an address leads back to.
#[derive(Clone, PartialEq)]
struct Pointer {
    namespace: String,
    service: String,
    /// The slice and the endpoint's label, for an endpoint's address.
    endpoint: Option<(String, String)>,
}

impl Zone {
    /// None when `domain` is no domain name.
    pub fn new(domain: &str, name_server: &[IpAddr]) -> Option<Self> {
        let domain = Name::from_ascii(format!("{}.", domain.trim_end_matches('.'))).ok()?.to_lowercase();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Some(Self {
            labels: labels(&domain),
            domain,
            name_server: name_server.to_vec(),
            // Serial numbers wrap around; only that they grow matters.
            serial: now as u32,
            namespaces: HashMap::new(),
            reverse: HashMap::new(),
        })
    }

    pub fn on_namespace(&mut self, event: &Event<Namespace>) {
        let name = event.object().name().to_owned();
        self.change(name, |namespace| namespace.exists = !matches!(event, Event::Deleted(_)));
    }

    pub fn on_service(&mut self, event: &Event<Service>) {
        let service = event.object();
        let (namespace, name) = (service.namespace().to_owned(), service.name().to_owned());
        let entry = event.versions().1.map(|service| service_entry(service.view()));
        let pointer = Pointer { namespace: namespace.clone(), service: name.clone(), endpoint: None };
        let after = entry.as_ref().map(|entry| entry.addresses.clone()).unwrap_or_default();
        let mut before = Vec::new();
        self.change(namespace, |namespace| {
            let old = match entry {
                Some(entry) => namespace.services.insert(name, entry),
                None => namespace.services.remove(&name),
            };
            before = old.map(|old| old.addresses).unwrap_or_default();
        });
        self.repoint(before.into_iter().map(|address| (address, pointer.clone())), false);
        self.repoint(after.into_iter().map(|address| (address, pointer.clone())), true);
    }

    pub fn on_slice(&mut self, event: &Event<EndpointSlice>) {
        // A slice may be given to another service; then it leaves the first.
        if let Event::Updated { old, new } = event
            && service_of(old) != service_of(new)
        {
            self.set_slice(old, None);
        }
        self.set_slice(event.object(), event.versions().1.map(|slice| slice_entry(slice.view())));
    }

    fn set_slice(&mut self, slice: &SharedObject<EndpointSlice>, entry: Option<SliceEntry>) {
        let Some(service) = service_of(slice).map(str::to_owned) else { return };
        let (namespace, slice_name) = (slice.namespace().to_owned(), slice.name().to_owned());
        let pointers = |entry: Option<&SliceEntry>| -> Vec<(IpAddr, Pointer)> {
            let point = |endpoint: &EndpointEntry| {
                let endpoint_of = Some((slice_name.clone(), endpoint.label()));
                let (namespace, service) = (namespace.clone(), service.clone());
                (endpoint.address, Pointer { namespace, service, endpoint: endpoint_of })
            };
            entry.into_iter().flat_map(|entry| &entry.endpoints).map(point).collect()
        };
        let after = pointers(entry.as_ref());
        let mut before = Vec::new();
        self.change(namespace.clone(), |namespace| {
            let of_service = namespace.slices.entry(service.clone()).or_default();
            let old = match entry {
                Some(entry) => of_service.insert(slice_name.clone(), entry),
                None => of_service.remove(&slice_name),
            };
            before = pointers(old.as_ref());
            if of_service.is_empty() {
                namespace.slices.remove(&service);
            }
        });
        self.repoint(before, false);
        self.repoint(after, true);
    }

    fn change(&mut self, namespace: String, change: impl FnOnce(&mut NamespaceEntry)) {
        self.serial = self.serial.wrapping_add(1);
        let entry = self.namespaces.entry(namespace.clone()).or_default();
        change(entry);
        if entry.is_empty() {
            self.namespaces.remove(&namespace);
        }
    }

    fn repoint(&mut self, pointers: impl IntoIterator<Item = (IpAddr, Pointer)>, add: bool) {
        for (address, pointer) in pointers {
            let list = self.reverse.entry(address).or_default();
            list.retain(|other| *other != pointer);
            if add {
                list.push(pointer);
            } else if list.is_empty() {
                self.reverse.remove(&address);
            }
        }
    }

    /// What the zone says about `name`, in any case of letters.
    pub fn answer(&self, name: &Name, kind: RecordType) -> Answer {
        let asked = labels(name);
        if let Some(rest) = asked.strip_suffix(self.labels.as_slice()) {
            let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
            return self.answer_under_domain(name, &rest, kind);
        }
        self.answer_reverse(name, kind)
    }

    /// The record that accompanies "no": how long it may be remembered.
    pub fn soa(&self) -> Option<Record> {
        let at = |label: &str| Name::from_ascii(format!("{label}.{}", self.domain)).ok();
        let soa = SOA::new(at("ns.dns")?, at("hostmaster")?, self.serial, 7200, 1800, 86400, TTL);
        Some(Record::from_rdata(self.domain.clone(), TTL, RData::SOA(soa)))
    }

    fn answer_under_domain(&self, name: &Name, rest: &[&str], kind: RecordType) -> Answer {
        match rest {
            [] => match kind {
                RecordType::SOA => found(self.soa()),
                RecordType::NS => {
                    let server = Name::from_ascii(format!("ns.dns.{}", self.domain)).ok();
                    found(server.map(|server| Record::from_rdata(name.clone(), TTL, RData::NS(NS(server)))))
                }
                _ => Answer::NoData,
            },
            ["dns-version"] => match kind {
                RecordType::TXT => {
                    let text = TXT::new(vec![SPECIFICATION.to_owned()]);
                    found([Record::from_rdata(name.clone(), TTL, RData::TXT(text))])
                }
                _ => Answer::NoData,
            },
            ["ns", "dns"] => addresses(name, &self.name_server, kind),
            ["svc" | "pod" | "dns"] => Answer::NoData,
            [namespace, "svc" | "pod"] if self.namespaces.contains_key(*namespace) => Answer::NoData,
            [address, namespace, "pod"] if self.namespaces.contains_key(*namespace) => {
                spelled(address).map_or(Answer::NoSuchName, |address| addresses(name, &[address], kind))
            }
            [inner @ .., service, namespace, "svc"] => {
                let Some(namespace_entry) = self.namespaces.get(*namespace) else { return Answer::NoSuchName };
                let Some(entry) = namespace_entry.services.get(*service) else { return Answer::NoSuchName };
                let slices = namespace_entry.slices.get(*service);
                let slices: Vec<&SliceEntry> = slices.into_iter().flat_map(BTreeMap::values).collect();
                let host = format!("{service}.{namespace}.svc.{}", self.domain);
                Lookup { name, host, entry, slices }.answer(inner, kind)
            }
            _ => Answer::NoSuchName,
        }
    }

    /// Addresses that are not ours are for others to know.
    fn answer_reverse(&self, name: &Name, kind: RecordType) -> Answer {
        let Ok(network) = name.parse_arpa_name() else { return Answer::Elsewhere };
        if network.prefix_len() != network.max_prefix_len() {
            return Answer::Elsewhere;
        }
        let Some(pointers) = self.reverse.get(&network.addr()) else { return Answer::Elsewhere };
        if kind != RecordType::PTR {
            return Answer::NoData;
        }
        // A cluster address is the service's alone.
        let of_services = pointers.iter().any(|pointer| pointer.endpoint.is_none());
        let mut names: Vec<String> = pointers
            .iter()
            .filter(|pointer| pointer.endpoint.is_none() == of_services)
            .map(|pointer| {
                let label = pointer.endpoint.as_ref().map_or(String::new(), |(_, label)| format!("{label}."));
                format!("{label}{}.{}.svc.{}", pointer.service, pointer.namespace, self.domain)
            })
            .collect();
        names.sort();
        names.dedup();
        let targets = names.iter().filter_map(|target| Name::from_ascii(target).ok());
        found(targets.map(|target| Record::from_rdata(name.clone(), TTL, RData::PTR(PTR(target)))))
    }
}

/// A question about a service that exists.
struct Lookup<'a> {
    name: &'a Name,
    host: String,
    entry: &'a ServiceEntry,
    slices: Vec<&'a SliceEntry>,
}

impl Lookup<'_> {
    fn answer(&self, inner: &[&str], kind: RecordType) -> Answer {
        match inner {
            [] => self.answer_service(kind),
            [port, protocol] if port.starts_with('_') && protocol.starts_with('_') => {
                let records = self.srv(Some((&port[1..], &protocol[1..])));
                match records {
                    Answer::NoData => Answer::NoSuchName,
                    // Only SRV lives here.
                    _ if kind != RecordType::SRV => Answer::NoData,
                    records => records,
                }
            }
            // `_tcp` above a port's name is no name of its own, but something is below it.
            [protocol] if protocol.starts_with('_') => {
                let mut ports = self.entry.ports.iter();
                if ports.any(|port| port.protocol == protocol[1..]) { Answer::NoData } else { Answer::NoSuchName }
            }
            [label] => {
                let endpoints = self.slices.iter().flat_map(|slice| &slice.endpoints);
                let found: Vec<IpAddr> =
                    endpoints.filter(|endpoint| endpoint.label() == *label).map(|endpoint| endpoint.address).collect();
                if found.is_empty() { Answer::NoSuchName } else { addresses(self.name, &found, kind) }
            }
            _ => Answer::NoSuchName,
        }
    }

    fn answer_service(&self, kind: RecordType) -> Answer {
        if let Some(alias) = &self.entry.alias {
            let Ok(target) = Name::from_ascii(format!("{}.", alias.trim_end_matches('.'))) else {
                return Answer::NoData;
            };
            let record = Record::from_rdata(self.name.clone(), TTL, RData::CNAME(CNAME(target.clone())));
            return match kind {
                RecordType::CNAME => found([record]),
                _ => Answer::Alias { record: Box::new(record), target },
            };
        }
        if kind == RecordType::SRV {
            return match self.srv(None) {
                Answer::NoData if self.entry.is_headless() => Answer::NoSuchName,
                answer => answer,
            };
        }
        if !self.entry.is_headless() {
            return addresses(self.name, &self.entry.addresses, kind);
        }
        let all: Vec<IpAddr> =
            self.slices.iter().flat_map(|slice| &slice.endpoints).map(|endpoint| endpoint.address).collect();
        // A headless service is its endpoints; without any it is not there.
        if all.is_empty() { Answer::NoSuchName } else { addresses(self.name, &all, kind) }
    }

    /// The ports of that name and protocol, or all of them.
    fn srv(&self, wanted: Option<(&str, &str)>) -> Answer {
        let fits = |port: &&Port| wanted.is_none_or(|(name, protocol)| port.name == name && port.protocol == protocol);
        let mut targets: Vec<(String, u16, Vec<IpAddr>)> = Vec::new();
        if self.entry.is_headless() {
            for slice in &self.slices {
                for port in slice.ports.iter().filter(fits) {
                    for endpoint in &slice.endpoints {
                        let target = format!("{}.{}", endpoint.label(), self.host);
                        targets.push((target, port.number, vec![endpoint.address]));
                    }
                }
            }
        } else {
            let ports = self.entry.ports.iter().filter(fits);
            targets.extend(ports.map(|port| (self.host.clone(), port.number, self.entry.addresses.clone())));
        }
        targets.sort();
        targets.dedup();
        // Weights share out a hundred, as CoreDNS does it.
        let weight = u16::try_from(100 / targets.len().max(1)).unwrap_or(1).max(1);
        let (mut answers, mut additionals) = (Vec::new(), Vec::new());
        for (target, port, of_target) in targets {
            let Ok(target) = Name::from_ascii(&target) else { continue };
            for address in of_target {
                let record = Record::from_rdata(target.clone(), TTL, rdata(address));
                if !additionals.contains(&record) {
                    additionals.push(record);
                }
            }
            let srv = SRV::new(0, weight, port, target);
            answers.push(Record::from_rdata(self.name.clone(), TTL, RData::SRV(srv)));
        }
        if answers.is_empty() { Answer::NoData } else { Answer::Found { answers, additionals } }
    }
}

fn found(records: impl IntoIterator<Item = Record>) -> Answer {
    let answers: Vec<Record> = records.into_iter().collect();
    if answers.is_empty() { Answer::NoData } else { Answer::Found { answers, additionals: Vec::new() } }
}

fn rdata(address: IpAddr) -> RData {
    match address {
        IpAddr::V4(address) => RData::A(A(address)),
        IpAddr::V6(address) => RData::AAAA(AAAA(address)),
    }
}

/// The addresses of the family asked for. Having only others is still having the name.
fn addresses(name: &Name, all: &[IpAddr], kind: RecordType) -> Answer {
    let mut fitting: Vec<IpAddr> = all
        .iter()
        .copied()
        .filter(|address| match kind {
            RecordType::A => address.is_ipv4(),
            RecordType::AAAA => address.is_ipv6(),
            _ => false,
        })
        .collect();
    fitting.sort_unstable();
    fitting.dedup();
    found(fitting.into_iter().map(|address| Record::from_rdata(name.clone(), TTL, rdata(address))))
}

/// The address that a pod's name spells with dashes.
fn spelled(label: &str) -> Option<IpAddr> {
    let v4 = label.replace('-', ".").parse::<Ipv4Addr>().map(IpAddr::from);
    v4.or_else(|_| label.replace('-', ":").parse::<Ipv6Addr>().map(IpAddr::from)).ok()
}

fn labels(name: &Name) -> Vec<String> {
    name.iter().map(|label| String::from_utf8_lossy(label).to_lowercase()).collect()
}

fn service_of(slice: &SharedObject<EndpointSlice>) -> Option<&str> {
    slice.meta().labels().get(SERVICE_NAME)
}

fn service_entry(service: ServiceView<'_>) -> ServiceEntry {
    let spec = service.spec();
    let is_alias = spec.type_() == "ExternalName" && !spec.external_name().is_empty();
    let single = spec.cluster_ips().is_empty().then(|| spec.cluster_ip());
    let addresses = spec.cluster_ips().iter().chain(single);
    ServiceEntry {
        addresses: addresses.filter_map(|address| address.parse().ok()).collect(),
        alias: is_alias.then(|| spec.external_name().to_lowercase()),
        ports: spec.ports().iter().map(|port| Port::new(port.name(), port.protocol(), port.port())).collect(),
    }
}

/// Only endpoints that take traffic are in DNS.
fn slice_entry(slice: EndpointSliceView<'_>) -> SliceEntry {
    // A condition that is not given counts as met.
    let ready = slice.endpoints().iter().filter(|endpoint| endpoint.conditions().ready() != Some(false));
    let endpoints = ready.flat_map(|endpoint| {
        let hostname = endpoint.hostname().filter(|hostname| !hostname.is_empty()).map(str::to_lowercase);
        let addresses = endpoint.addresses().iter().filter_map(|address| address.parse().ok());
        addresses.map(move |address| EndpointEntry { address, hostname: hostname.clone() })
    });
    let ports = slice.ports().iter().filter_map(|port| {
        Some(Port::new(port.name().unwrap_or_default(), port.protocol().unwrap_or_default(), port.port()?))
    });
    SliceEntry { endpoints: endpoints.collect(), ports: ports.collect() }
}

#[cfg(test)]
mod tests;
