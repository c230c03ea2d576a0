//! What a certificate says: the facts by which `layout.rs` decides whether it still
//! serves, and by which the API server names its bearer.

use crate::Error;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::collections::BTreeSet;
use std::net::IpAddr;
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

/// The facts of one certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    pub common_name: String,
    pub organizations: Vec<String>,
    pub dns_names: BTreeSet<String>,
    pub ips: BTreeSet<IpAddr>,
    pub not_before: Timestamp,
    pub not_after: Timestamp,
    pub is_ca: bool,
    /// The DER of the subject public key info.
    pub public_key: Vec<u8>,
    /// Hex, colons between bytes.
    pub serial: String,
}

impl Facts {
    /// Reads a certificate that may come from anyone.
    pub fn of(der: &[u8]) -> Result<Self, String> {
        let (rest, parsed) = X509Certificate::from_der(der).map_err(|e| e.to_string())?;
        if !rest.is_empty() {
            return Err("bytes follow the certificate".into());
        }
        let subject = parsed.subject();
        let text = |value: &x509_parser::x509::AttributeTypeAndValue<'_>| {
            value.as_str().map(str::to_owned).map_err(|e| format!("subject: {e}"))
        };
        // Go takes the last common name where there are several.
        let common_name = subject.iter_common_name().last().map(text).transpose()?.unwrap_or_default();
        let organizations = subject.iter_organization().map(text).collect::<Result<Vec<_>, _>>()?;
        let mut dns_names = BTreeSet::new();
        let mut ips = BTreeSet::new();
        if let Some(names) = parsed.subject_alternative_name().map_err(|e| e.to_string())? {
            for name in &names.value.general_names {
                match name {
                    GeneralName::DNSName(name) => {
                        dns_names.insert((*name).to_owned());
                    }
                    GeneralName::IPAddress(bytes) => {
                        ips.extend(ip_from(bytes));
                    }
                    _ => {}
                }
            }
        }
        let instant = |seconds: i64| Timestamp::from_second(seconds).map_err(|e| e.to_string());
        Ok(Self {
            common_name,
            organizations,
            dns_names,
            ips,
            not_before: instant(parsed.validity().not_before.timestamp())?,
            not_after: instant(parsed.validity().not_after.timestamp())?,
            is_ca: parsed.is_ca(),
            public_key: parsed.public_key().raw.to_vec(),
            serial: parsed.raw_serial_as_string(),
        })
    }

    /// The facts of the first certificate of a PEM chain; `what` names it in errors.
    pub fn of_pem(what: &str, pem: &str) -> Result<Self, Error> {
        let chain = parse_chain(what, pem)?;
        Self::of(&chain[0]).map_err(|reason| Error::Certificate { what: what.to_owned(), reason })
    }

    /// The first second at which [`Facts::is_due_for_renewal`] says so.
    pub fn renewal(&self) -> Timestamp {
        let lifetime = self.not_after.as_second() - self.not_before.as_second();
        Timestamp::from_second(self.not_after.as_second() - lifetime / 3 + 1).unwrap_or(self.not_after)
    }

    /// Whether less than a third of the lifetime is left, so that a cluster that is
    /// started once in a few months never meets an expired certificate.
    pub fn is_due_for_renewal(&self, now: Timestamp) -> bool {
        let lifetime = self.not_after.as_second() - self.not_before.as_second();
        let left = self.not_after.as_second() - now.as_second();
        left * 3 < lifetime || now < self.not_before
    }
}

/// Every certificate of a PEM text, leaf first; at least one.
pub fn parse_chain(what: &str, pem: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let bad = |reason: String| Error::Certificate { what: what.to_owned(), reason };
    let chain = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| bad(e.to_string()))?;
    if chain.is_empty() { Err(bad("it holds no certificate".into())) } else { Ok(chain) }
}

/// A certificate as PEM, in lines of 64 as everybody writes them.
pub fn render_pem(certificate: &CertificateDer<'_>) -> String {
    let text = BASE64.encode(certificate);
    let mut pem = String::from("-----BEGIN CERTIFICATE-----\n");
    for line in text.as_bytes().chunks(64) {
        pem.extend(line.iter().map(|byte| char::from(*byte)));
        pem.push('\n');
    }
    pem.push_str("-----END CERTIFICATE-----\n");
    pem
}

fn ip_from(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(v4) = <[u8; 4]>::try_from(bytes) {
        return Some(IpAddr::from(v4));
    }
    <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anything_but_a_certificate_is_refused() {
        for bad in ["", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            assert!(Facts::of_pem("x", bad).is_err(), "{bad:?}");
        }
        assert!(Facts::of(&[0x30, 0x03, 0x02, 0x01, 0x01]).is_err());
    }

    #[test]
    fn renewal_starts_when_a_third_is_left() {
        let at = |second| Timestamp::from_second(second).expect("in range");
        let facts = Facts {
            common_name: String::new(),
            organizations: vec![],
            dns_names: BTreeSet::new(),
            ips: BTreeSet::new(),
            not_before: at(0),
            not_after: at(900),
            is_ca: false,
            public_key: vec![],
            serial: String::new(),
        };
        for (now, due) in [(0, false), (599, false), (600, false), (601, true), (901, true), (-1, true)] {
            assert_eq!(facts.is_due_for_renewal(at(now)), due, "at {now}");
        }
        assert_eq!(facts.renewal(), at(601));
    }
}
