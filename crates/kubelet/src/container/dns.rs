//! resolv.conf of a pod, and its hostname.

use crate::cri::v1::DnsConfig;
use crate::pod;
use ferry_api::view::core::v1::PodView;

/// The resolver's own limits, kept by upstream's validation.
const MAX_SERVERS: usize = 3;
const MAX_SEARCHES: usize = 32;
const MAX_SEARCH_CHARACTERS: usize = 2048;

/// What the machine's resolv.conf says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostResolver {
    pub servers: Vec<String>,
    pub searches: Vec<String>,
    pub options: Vec<String>,
}

pub fn parse_resolv_conf(text: &str) -> HostResolver {
    let mut host = HostResolver::default();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("nameserver") => host.servers.extend(words.next().map(str::to_string)),
            // The last search line wins, as in the resolver itself.
            Some("search") => {
                host.searches = words.map(|w| if w == "." { w } else { w.trim_end_matches('.') }.to_string()).collect();
            }
            Some("options") => host.options = words.map(str::to_string).collect(),
            _ => {}
        }
    }
    host
}

pub fn compute_dns(pod: PodView<'_>, host: &HostResolver, cluster_dns: &[String], cluster_domain: &str) -> DnsConfig {
    let policy = pod.spec().dns_policy();
    let of_cluster = match policy {
        "ClusterFirstWithHostNet" => true,
        "ClusterFirst" | "" => !pod::is_host_network(pod),
        _ => false,
    };
    let mut dns = match policy {
        "None" => DnsConfig::default(),
        _ if of_cluster && !cluster_dns.is_empty() => {
            let namespace = pod::namespace(pod);
            let own = [
                format!("{namespace}.svc.{cluster_domain}"),
                format!("svc.{cluster_domain}"),
                cluster_domain.to_string(),
            ];
            DnsConfig {
                servers: cluster_dns.to_vec(),
                searches: unique(own.into_iter().chain(host.searches.iter().cloned())),
                options: vec!["ndots:5".into()],
            }
        }
        _ => {
            DnsConfig { servers: host.servers.clone(), searches: host.searches.clone(), options: host.options.clone() }
        }
    };
    if let Some(own) = pod.spec().dns_config() {
        dns.servers = unique(dns.servers.into_iter().chain(own.nameservers().to_vec()));
        dns.searches = unique(dns.searches.into_iter().chain(own.searches().to_vec()));
        for option in own.options() {
            let name = option.name();
            dns.options.retain(|o| o.split(':').next() != Some(name));
            dns.options.push(match option.value_().filter(|v| !v.is_empty()) {
                Some(value) => format!("{name}:{value}"),
                None => name.to_string(),
            });
        }
    }
    dns.servers.truncate(MAX_SERVERS);
    dns.searches.truncate(MAX_SEARCHES);
    while dns.searches.join(" ").len() > MAX_SEARCH_CHARACTERS {
        dns.searches.pop();
    }
    dns
}

fn unique(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for item in items {
        if !out.contains(&item) {
            out.push(item);
        }
    }
    out
}

/// The name inside the pod and the domain it belongs to, which is empty without a subdomain.
pub fn hostname_and_domain(pod: PodView<'_>, cluster_domain: &str) -> (String, String) {
    let spec = pod.spec();
    if let Some(over) = spec.hostname_override().filter(|name| !name.is_empty()) {
        return (over.to_string(), String::new());
    }
    let hostname = match spec.hostname() {
        "" => {
            let mut name: String = pod::name(pod).chars().take(63).collect();
            name.truncate(name.trim_end_matches(['-', '.']).len());
            name
        }
        hostname => hostname.to_string(),
    };
    let domain = match spec.subdomain() {
        "" => String::new(),
        subdomain => format!("{subdomain}.{}.svc.{cluster_domain}", pod::namespace(pod)),
    };
    (hostname, domain)
}

/// What `hostname` prints inside the pod.
pub fn sandbox_hostname(pod: PodView<'_>, cluster_domain: &str) -> String {
    let (hostname, domain) = hostname_and_domain(pod, cluster_domain);
    if pod.spec().set_hostname_as_fqdn() == Some(true) && !domain.is_empty() {
        return format!("{hostname}.{domain}");
    }
    hostname
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use serde_json::json;

    fn check(spec: serde_json::Value) -> DnsConfig {
        let host = parse_resolv_conf("nameserver 192.0.2.53\nsearch corp.example.\noptions timeout:1\n");
        compute_dns(pod(spec).view(), &host, &["10.96.0.10".into()], "cluster.local")
    }

    #[test]
    fn policies() {
        let dns = check(json!({ "containers": [] }));
        assert_eq!(dns.servers, ["10.96.0.10"]);
        assert_eq!(dns.searches, ["default.svc.cluster.local", "svc.cluster.local", "cluster.local", "corp.example"]);
        assert_eq!(dns.options, ["ndots:5"]);
        let host = check(json!({ "containers": [], "dnsPolicy": "Default" }));
        assert_eq!((host.servers, host.options), (vec!["192.0.2.53".to_string()], vec!["timeout:1".to_string()]));
        let host = check(json!({ "containers": [], "hostNetwork": true }));
        assert_eq!(host.servers, ["192.0.2.53"]);
        let dns = check(json!({ "containers": [], "hostNetwork": true, "dnsPolicy": "ClusterFirstWithHostNet" }));
        assert_eq!(dns.servers, ["10.96.0.10"]);
        let dns = check(json!({ "containers": [], "dnsPolicy": "None", "dnsConfig": {
            "nameservers": ["1.1.1.1"], "searches": ["a.b"], "options": [{ "name": "ndots", "value": "2" }, { "name": "debug" }] } }));
        assert_eq!((dns.servers, dns.searches), (vec!["1.1.1.1".to_string()], vec!["a.b".to_string()]));
        assert_eq!(dns.options, ["ndots:2", "debug"]);
    }

    #[test]
    fn names() {
        let named = pod(json!({ "containers": [], "hostname": "h", "subdomain": "s", "setHostnameAsFQDN": true }));
        assert_eq!(sandbox_hostname(named.view(), "cluster.local"), "h.s.default.svc.cluster.local");
        assert_eq!(sandbox_hostname(pod(json!({ "containers": [] })).view(), "cluster.local"), "web");
    }
}
