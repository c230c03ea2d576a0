//! Whom to ask about names that are not the cluster's: the resolvers of a stub domain, those that
//! replace the host's, or the host's. Read from the ConfigMap `kube-dns` in namespace
//! `kube-system`, in the form that upstream documents for it:
//!
//! ```yaml
//! data:
//!   stubDomains: |
//!     {"acme.local": ["10.150.0.1", "10.150.0.2:5353"]}
//!   upstreamNameservers: |
//!     ["198.51.100.53"]
//! ```
//!
//! A part that cannot be read is logged by its key, and stays as it was.

use hickory_proto::rr::Name;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

pub(crate) const NAMESPACE: &str = "kube-system";
pub(crate) const CONFIG_MAP: &str = "kube-dns";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Upstreams {
    /// The longest domains first.
    stub_domains: Vec<(Name, Arc<Vec<SocketAddr>>)>,
    /// In place of the host's resolvers.
    instead: Option<Arc<Vec<SocketAddr>>>,
}

impl Upstreams {
    /// The resolvers of a name; none means the host's.
    pub(crate) fn of(&self, name: &Name) -> Option<Arc<Vec<SocketAddr>>> {
        let stub = self.stub_domains.iter().find(|(domain, _)| domain.zone_of(name));
        stub.map(|(_, resolvers)| resolvers.clone()).or_else(|| self.instead.clone())
    }

    /// Takes over what the ConfigMap says. Returns a sentence for each part that it cannot.
    pub(crate) fn read<'a>(&mut self, data: impl Fn(&str) -> Option<&'a str>) -> Vec<String> {
        let mut problems = Vec::new();
        match data("stubDomains").map_or(Ok(Vec::new()), read_stub_domains) {
            Ok(domains) => self.stub_domains = domains,
            Err(problem) => problems.push(format!("data[stubDomains]: {problem}")),
        }
        match data("upstreamNameservers").map(read_upstreams).transpose() {
            Ok(instead) => self.instead = instead.filter(|resolvers| !resolvers.is_empty()).map(Arc::new),
            Err(problem) => problems.push(format!("data[upstreamNameservers]: {problem}")),
        }
        problems
    }
}

fn read_stub_domains(text: &str) -> Result<Vec<(Name, Arc<Vec<SocketAddr>>)>, String> {
    let read: BTreeMap<String, Vec<String>> =
        serde_json::from_str(text).map_err(|error| format!("must be a JSON map from domains to lists: {error}"))?;
    let mut domains = Vec::new();
    for (domain, resolvers) in read {
        let name = Name::from_ascii(format!("{}.", domain.trim_end_matches('.')))
            .map_err(|error| format!("{domain:?} is no domain: {error}"))?;
        let resolvers: Vec<SocketAddr> = resolvers.iter().map(|text| read_resolver(text)).collect::<Result<_, _>>()?;
        if resolvers.is_empty() {
            return Err(format!("{domain:?} needs a resolver"));
        }
        domains.push((name.to_lowercase(), Arc::new(resolvers)));
    }
    domains.sort_by_key(|(domain, _)| std::cmp::Reverse(domain.num_labels()));
    Ok(domains)
}

fn read_upstreams(text: &str) -> Result<Vec<SocketAddr>, String> {
    let read: Vec<String> =
        serde_json::from_str(text).map_err(|error| format!("must be a JSON list of addresses: {error}"))?;
    read.iter().map(|text| read_resolver(text)).collect()
}

/// An address, with a port where it is not 53.
fn read_resolver(text: &str) -> Result<SocketAddr, String> {
    let plain = text.parse::<IpAddr>().map(|address| SocketAddr::new(address, 53));
    plain.or_else(|_| text.parse()).map_err(|_| format!("{text:?} is no address of a resolver"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stub_domains: &'static str, instead: Option<&'static str>) -> (Upstreams, Vec<String>) {
        let mut upstreams = Upstreams::default();
        let problems = upstreams.read(|key| if key == "stubDomains" { Some(stub_domains) } else { instead });
        (upstreams, problems)
    }

    fn asked(upstreams: &Upstreams, name: &str) -> Vec<String> {
        let resolvers = upstreams.of(&Name::from_ascii(name).expect("a name"));
        resolvers.map(|resolvers| resolvers.iter().map(SocketAddr::to_string).collect()).unwrap_or_default()
    }

    #[test]
    fn the_longest_domain_decides_then_what_replaces_the_hosts_resolvers() {
        let (upstreams, problems) = read(
            r#"{"acme.local": ["10.150.0.1"], "deep.acme.local": ["10.150.0.2:5353", "fd00::1"]}"#,
            Some(r#"["198.51.100.53"]"#),
        );
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(asked(&upstreams, "www.acme.local."), ["10.150.0.1:53"]);
        assert_eq!(asked(&upstreams, "a.deep.ACME.local."), ["10.150.0.2:5353", "[fd00::1]:53"]);
        assert_eq!(asked(&upstreams, "notacme.local."), ["198.51.100.53:53"]);
        assert_eq!(asked(&read("{}", None).0, "example.com."), Vec::<String>::new());
    }

    #[test]
    fn mistakes_are_named_and_change_nothing() {
        let (mut upstreams, _) = read(r#"{"acme.local": ["10.150.0.1"]}"#, None);
        for (text, expected) in [
            ("[]", "data[stubDomains]: must be a JSON map from domains to lists"),
            (r#"{"acme.local": ["nonsense"]}"#, "data[stubDomains]: \"nonsense\" is no address of a resolver"),
            (r#"{"acme.local": []}"#, "data[stubDomains]: \"acme.local\" needs a resolver"),
        ] {
            let problems = upstreams.read(|key| (key == "stubDomains").then_some(text));
            assert!(problems.len() == 1 && problems[0].starts_with(expected), "{problems:?}");
            assert_eq!(asked(&upstreams, "www.acme.local."), ["10.150.0.1:53"]);
        }
    }
}
