//! The content of a certificate request, and whether one of the builtin signers may sign
//! it (the rules of upstream's pkg/apis/certificates/helpers.go). Called by the
//! approver and the signer.

use super::{KUBE_APISERVER_CLIENT, KUBELET_CLIENT, KUBELET_SERVING, LEGACY_UNKNOWN};
use std::collections::BTreeSet;
use std::net::IpAddr;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::pem::Pem;
use x509_parser::prelude::{FromDer, X509CertificationRequest};

/// Subject and further names of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub common_name: String,
    organizations: Vec<String>,
    pub dns_names: Vec<String>,
    emails: usize,
    pub ips: Vec<IpAddr>,
    uris: usize,
}

impl Asked {
    pub(super) fn parse(pem: &[u8]) -> Result<Self, String> {
        const EXPECTED: &str = "PEM block type must be CERTIFICATE REQUEST";
        let block = Pem::iter_from_buffer(pem).next().and_then(Result::ok).ok_or(EXPECTED)?;
        if block.label != "CERTIFICATE REQUEST" {
            return Err(EXPECTED.to_owned());
        }
        let (_, request) = X509CertificationRequest::from_der(&block.contents).map_err(|error| error.to_string())?;
        let subject = &request.certification_request_info.subject;
        let texts = |values: Vec<Result<&str, _>>| -> Result<Vec<String>, String> {
            values
                .into_iter()
                .map(|text| text.map(str::to_owned).map_err(|error: x509_parser::error::X509Error| error.to_string()))
                .collect()
        };
        let common_names = texts(subject.iter_common_name().map(|name| name.as_str()).collect())?;
        let organizations = texts(subject.iter_organization().map(|name| name.as_str()).collect())?;
        // Go takes the last common name where there are several.
        let mut asked = Self {
            common_name: common_names.into_iter().next_back().unwrap_or_default(),
            organizations,
            ..Default::default()
        };
        for extension in request.requested_extensions().into_iter().flatten() {
            let ParsedExtension::SubjectAlternativeName(names) = extension else { continue };
            for name in &names.general_names {
                match name {
                    GeneralName::DNSName(name) => asked.dns_names.push((*name).to_owned()),
                    GeneralName::RFC822Name(_) => asked.emails += 1,
                    GeneralName::IPAddress(bytes) => asked.ips.push(parse_ip(bytes)?),
                    GeneralName::URI(_) => asked.uris += 1,
                    _ => {}
                }
            }
        }
        Ok(asked)
    }

    /// `None` where the signer is none of the builtin ones, else whether it may sign this.
    pub(super) fn check(&self, signer: &str, usages: &[String]) -> Option<Result<(), String>> {
        match signer {
            KUBELET_SERVING => Some(self.check_kubelet_serving(usages)),
            KUBELET_CLIENT => Some(self.check_kubelet_client(usages)),
            KUBE_APISERVER_CLIENT => Some(check_client_usages(usages)),
            // Anything goes, as it always did.
            LEGACY_UNKNOWN => Some(Ok(())),
            _ => None,
        }
    }

    pub(super) fn check_kubelet_serving(&self, usages: &[String]) -> Result<(), String> {
        self.check_organization()?;
        if self.dns_names.is_empty() && self.ips.is_empty() {
            return Err("DNS or IP subjectAltName is required".into());
        }
        none(self.emails, "Email")?;
        none(self.uris, "URI")?;
        check_kubelet_usages(usages, "server auth")?;
        self.check_node_name()
    }

    pub(super) fn check_kubelet_client(&self, usages: &[String]) -> Result<(), String> {
        self.check_organization()?;
        none(self.dns_names.len(), "DNS")?;
        none(self.emails, "Email")?;
        none(self.ips.len(), "IP")?;
        none(self.uris, "URI")?;
        self.check_node_name()?;
        check_kubelet_usages(usages, "client auth")
    }

    fn check_organization(&self) -> Result<(), String> {
        if self.organizations == ["system:nodes"] {
            Ok(())
        } else {
            Err("subject organization is not system:nodes".into())
        }
    }

    fn check_node_name(&self) -> Result<(), String> {
        if self.common_name.starts_with("system:node:") {
            Ok(())
        } else {
            Err("subject common name does not begin with system:node:".into())
        }
    }
}

fn parse_ip(bytes: &[u8]) -> Result<IpAddr, String> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from))
        .map_err(|_| "an IP subjectAltName is no address".into())
}

fn none(count: usize, kind: &str) -> Result<(), String> {
    if count == 0 { Ok(()) } else { Err(format!("{kind} subjectAltNames are not allowed")) }
}

/// Signing and the purpose, and encipherment for those whose keys are RSA.
fn check_kubelet_usages(usages: &[String], purpose: &str) -> Result<(), String> {
    let usages: BTreeSet<&str> = usages.iter().map(String::as_str).collect();
    let needed = BTreeSet::from(["digital signature", purpose]);
    let mut with_rsa = needed.clone();
    with_rsa.insert("key encipherment");
    if usages == needed || usages == with_rsa {
        return Ok(());
    }
    let list: Vec<&str> = with_rsa.into_iter().collect();
    Err(format!("usages did not match [{}]", list.join(" ")))
}

fn check_client_usages(usages: &[String]) -> Result<(), String> {
    let is_allowed = |usage: &str| matches!(usage, "digital signature" | "key encipherment" | "client auth");
    if let Some(wrong) = usages.iter().find(|usage| !is_allowed(usage)) {
        return Err(format!("invalid usage for client certificate: {wrong}"));
    }
    if usages.iter().any(|usage| usage == "client auth") {
        Ok(())
    } else {
        Err("missing required usage for client certificate: client auth".into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::pem;
    use super::*;
    use rcgen::SanType;

    fn verdict(signer: &str, usages: &[&str], pem: &[u8]) -> Option<Result<(), String>> {
        let usages: Vec<String> = usages.iter().map(|usage| (*usage).to_owned()).collect();
        Asked::parse(pem).expect("a request").check(signer, &usages)
    }

    fn refused(signer: &str, usages: &[&str], pem: &[u8], why: &str) {
        assert_eq!(verdict(signer, usages, pem), Some(Err(why.to_owned())));
    }

    const CLIENT: &[&str] = &["digital signature", "client auth"];
    const SERVING: &[&str] = &["server auth", "digital signature", "key encipherment"];

    #[test]
    fn a_kubelets_client_certificate_names_the_node_and_nothing_else() {
        let good = pem("system:node:a", "system:nodes", &[]);
        assert_eq!(verdict(KUBELET_CLIENT, CLIENT, &good), Some(Ok(())));
        let with_rsa = &["key encipherment", "digital signature", "client auth"];
        assert_eq!(verdict(KUBELET_CLIENT, with_rsa, &good), Some(Ok(())));
        let check = |usages: &[&str], pem: &[u8], why: &str| refused(KUBELET_CLIENT, usages, pem, why);
        check(CLIENT, &pem("system:node:a", "system:masters", &[]), "subject organization is not system:nodes");
        check(CLIENT, &pem("a", "system:nodes", &[]), "subject common name does not begin with system:node:");
        check(SERVING, &good, "usages did not match [client auth digital signature key encipherment]");
        let named = [SanType::DnsName("a".try_into().expect("a name"))];
        check(CLIENT, &pem("system:node:a", "system:nodes", &named), "DNS subjectAltNames are not allowed");
        let addressed = [SanType::IpAddress("192.0.2.1".parse().expect("an address"))];
        check(CLIENT, &pem("system:node:a", "system:nodes", &addressed), "IP subjectAltNames are not allowed");
    }

    #[test]
    fn a_kubelets_serving_certificate_names_hosts() {
        let addressed = [SanType::IpAddress("192.0.2.1".parse().expect("an address"))];
        let good = pem("system:node:a", "system:nodes", &addressed);
        assert_eq!(verdict(KUBELET_SERVING, SERVING, &good), Some(Ok(())));
        let check = |usages: &[&str], pem: &[u8], why: &str| refused(KUBELET_SERVING, usages, pem, why);
        check(SERVING, &pem("system:node:a", "system:nodes", &[]), "DNS or IP subjectAltName is required");
        check(CLIENT, &good, "usages did not match [digital signature key encipherment server auth]");
        let mut mailed = addressed.to_vec();
        mailed.push(SanType::Rfc822Name("a@example.com".try_into().expect("an address")));
        check(SERVING, &pem("system:node:a", "system:nodes", &mailed), "Email subjectAltNames are not allowed");
        check(SERVING, &pem("a", "system:nodes", &addressed), "subject common name does not begin with system:node:");
    }

    #[test]
    fn clients_of_the_api_may_only_be_clients() {
        let anyone = pem("alice", "dev", &[]);
        assert_eq!(verdict(KUBE_APISERVER_CLIENT, &["client auth"], &anyone), Some(Ok(())));
        let check = |usages: &[&str], why: &str| refused(KUBE_APISERVER_CLIENT, usages, &anyone, why);
        check(&["client auth", "server auth"], "invalid usage for client certificate: server auth");
        check(&["digital signature"], "missing required usage for client certificate: client auth");
        assert_eq!(verdict(LEGACY_UNKNOWN, &["cert sign"], &anyone), Some(Ok(())));
        assert_eq!(verdict("example.com/mine", &[], &anyone), None);
    }

    #[test]
    fn what_is_no_request_is_said() {
        assert_eq!(Asked::parse(b"hello").expect_err("refused"), "PEM block type must be CERTIFICATE REQUEST");
        let other = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert_eq!(Asked::parse(other).expect_err("refused"), "PEM block type must be CERTIFICATE REQUEST");
        let torn = b"-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n";
        assert!(Asked::parse(torn).is_err());
    }
}
