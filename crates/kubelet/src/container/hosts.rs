//! The /etc/hosts that the kubelet keeps for a pod.

use super::dns::hostname_and_domain;
use crate::pod;
use ferry_api::view::core::v1::PodView;
use std::fmt::Write;

/// The file's text. A pod on the host's network gets the host's own entries.
pub fn render_hosts(pod: PodView<'_>, pod_ips: &[String], host_file: &str, cluster_domain: &str) -> String {
    let mut out = String::new();
    if pod::is_host_network(pod) {
        out.push_str("# Kubernetes-managed hosts file (host network).\n");
        out.push_str(host_file);
    } else {
        out.push_str("# Kubernetes-managed hosts file.\n");
        out.push_str("127.0.0.1\tlocalhost\n");
        out.push_str("::1\tlocalhost ip6-localhost ip6-loopback\n");
        out.push_str("fe00::0\tip6-localnet\n");
        out.push_str("fe00::0\tip6-mcastprefix\n");
        out.push_str("fe00::1\tip6-allnodes\n");
        out.push_str("fe00::2\tip6-allrouters\n");
        let (hostname, domain) = hostname_and_domain(pod, cluster_domain);
        for ip in pod_ips {
            let _ = match domain.is_empty() {
                true => writeln!(out, "{ip}\t{hostname}"),
                false => writeln!(out, "{ip}\t{hostname}.{domain}\t{hostname}"),
            };
        }
    }
    let aliases = pod.spec().host_aliases();
    if !aliases.is_empty() {
        out.push_str("\n# Entries added by HostAliases.\n");
        for alias in aliases {
            let _ = writeln!(out, "{}\t{}", alias.ip(), alias.hostnames().to_vec().join("\t"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use serde_json::json;

    #[test]
    fn a_pod_finds_itself_and_its_aliases() {
        let pod = pod(json!({ "containers": [], "hostname": "h", "subdomain": "s",
            "hostAliases": [{ "ip": "192.0.2.9", "hostnames": ["x", "y"] }] }));
        let text = render_hosts(pod.view(), &["10.0.0.2".into()], "", "cluster.local");
        assert!(text.starts_with("# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n"));
        assert!(text.contains("\n10.0.0.2\th.s.default.svc.cluster.local\th\n"));
        assert!(text.ends_with("\n# Entries added by HostAliases.\n192.0.2.9\tx\ty\n"));
    }
}
