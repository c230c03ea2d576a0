//! Certificates for requests that others wrote (PKCS #10): what the cluster's builtin
//! signers issue. The ferry binary hands [`Authority::sign_request`] to the controllers.
//!
//! The certificate is put together here and not by rcgen, because a subject must come
//! through as it was written: rcgen keeps one organization, and each is a group.

use crate::Error;
use crate::authority::Authority;
use jiff::Timestamp;
use rcgen::SigningKey;
use ring::rand::SecureRandom;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateSigningRequestDer};
use std::time::Duration;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::prelude::{FromDer, X509Certificate, X509CertificationRequest};

/// A machine whose clock is a little behind must accept what was issued just now.
const BACKDATE: Duration = Duration::from_secs(5 * 60);
/// Below this the backdating is no longer taken off the end: it would be more than a
/// hundredth of the certificate's life (upstream's signer.go).
const SHORT: Duration = Duration::from_secs(8 * 60 * 60);

/// What is to be signed.
#[derive(Clone, Debug)]
pub struct SigningOrder {
    /// A PEM block CERTIFICATE REQUEST.
    pub request_pem: Vec<u8>,
    /// The API's words: `client auth`, `digital signature`…
    pub usages: Vec<String>,
    pub lifetime: Duration,
}

impl Authority {
    /// A certificate in PEM for the request's subject, names and key, and for nothing else
    /// that it asks: extensions are dropped and it is never an authority.
    pub fn sign_request(&self, order: &SigningOrder, now: Timestamp) -> Result<String, Error> {
        let refused = |reason: String| Error::Request { reason };
        let der = CertificateSigningRequestDer::from_pem_slice(&order.request_pem)
            .map_err(|error| refused(format!("unable to parse certificate request: {error}")))?;
        let (_, request) = X509CertificationRequest::from_der(&der)
            .map_err(|error| refused(format!("unable to parse certificate request: {error}")))?;
        request
            .verify_signature()
            .map_err(|error| refused(format!("unable to verify certificate request signature: {error}")))?;
        let (from, until) = compute_validity(order.lifetime, self.facts().not_after, now).map_err(refused)?;
        let usages = Usages::parse(&order.usages).map_err(refused)?;
        let names = subject_names(&request).map_err(refused)?;
        let (_, ours) = X509Certificate::from_der(self.certificate_der())
            .map_err(|error| refused(format!("the authority's certificate: {error}")))?;
        let info = &request.certification_request_info;
        let algorithm = algorithm(self.signing_key()).map_err(refused)?;
        let tbs = sequence(&[
            &tlv(0xa0, &tlv(0x02, &[2])),
            &tlv(0x02, &serial()?),
            &algorithm,
            ours.subject().as_raw(),
            &sequence(&[&time(from), &time(until)]),
            info.subject.as_raw(),
            info.subject_pki.raw,
            &tlv(0xa3, &extensions(&usages, &ours, &names, info.subject.iter().next().is_none())),
        ]);
        let signature = self
            .signing_key()
            .sign(&tbs)
            .map_err(|source| Error::Issue { what: "a certificate for a request".into(), source })?;
        let certificate = sequence(&[&tbs, &algorithm, &bit_string(0, &signature)]);
        Ok(crate::certificate::render_pem(&CertificateDer::from(certificate)))
    }
}

/// From when until when. The end is that of the authority at the latest.
fn compute_validity(
    lifetime: Duration,
    signer_ends: Timestamp,
    now: Timestamp,
) -> Result<(Timestamp, Timestamp), String> {
    let from = now.checked_sub(BACKDATE).unwrap_or(now);
    let lifetime = if lifetime < SHORT { lifetime } else { lifetime - BACKDATE };
    let until = now.checked_add(lifetime).unwrap_or(Timestamp::MAX).min(signer_ends);
    if from >= signer_ends {
        return Err(format!("the signer has expired: NotAfter={signer_ends}"));
    }
    if now >= signer_ends {
        return Err(format!("refusing to sign a certificate that expired in the past: NotAfter={signer_ends}"));
    }
    Ok((from, until))
}

/// Bits of the extension KeyUsage, counted from the left.
const KEY_USAGES: [(&str, u16); 10] = [
    ("signing", 0),
    ("digital signature", 0),
    ("content commitment", 1),
    ("key encipherment", 2),
    ("data encipherment", 3),
    ("key agreement", 4),
    ("cert sign", 5),
    ("crl sign", 6),
    ("encipher only", 7),
    ("decipher only", 8),
];

/// The content of the object identifiers of ExtendedKeyUsage, in the order in which they
/// are written.
const PURPOSES: [(&str, &[u8]); 13] = [
    ("any", &[0x55, 0x1d, 0x25, 0x00]),
    ("server auth", &[0x2b, 6, 1, 5, 5, 7, 3, 1]),
    ("client auth", &[0x2b, 6, 1, 5, 5, 7, 3, 2]),
    ("code signing", &[0x2b, 6, 1, 5, 5, 7, 3, 3]),
    ("email protection", &[0x2b, 6, 1, 5, 5, 7, 3, 4]),
    ("s/mime", &[0x2b, 6, 1, 5, 5, 7, 3, 4]),
    ("ipsec end system", &[0x2b, 6, 1, 5, 5, 7, 3, 5]),
    ("ipsec tunnel", &[0x2b, 6, 1, 5, 5, 7, 3, 6]),
    ("ipsec user", &[0x2b, 6, 1, 5, 5, 7, 3, 7]),
    ("timestamping", &[0x2b, 6, 1, 5, 5, 7, 3, 8]),
    ("ocsp signing", &[0x2b, 6, 1, 5, 5, 7, 3, 9]),
    ("microsoft sgc", &[0x2b, 6, 1, 4, 1, 0x82, 0x37, 10, 3, 3]),
    ("netscape sgc", &[0x60, 0x86, 0x48, 1, 0x86, 0xf8, 0x42, 4, 1]),
];

#[derive(Debug, Default, PartialEq, Eq)]
struct Usages {
    key: u16,
    purposes: Vec<&'static [u8]>,
}

impl Usages {
    fn parse(words: &[String]) -> Result<Self, String> {
        let mut usages = Self::default();
        let is_known = |word: &&String| {
            KEY_USAGES.iter().any(|(name, _)| name == word) || PURPOSES.iter().any(|(name, _)| name == word)
        };
        let unknown: Vec<String> =
            words.iter().filter(|word| !is_known(word)).map(|word| format!("{word:?}")).collect();
        if !unknown.is_empty() {
            return Err(format!("unrecognized usage values: [{}]", unknown.join(" ")));
        }
        let is_wanted = |name: &str| words.iter().any(|word| word == name);
        for (_, bit) in KEY_USAGES.iter().filter(|(name, _)| is_wanted(name)) {
            usages.key |= 0x8000 >> bit;
        }
        for (_, identifier) in PURPOSES.iter().filter(|(name, _)| is_wanted(name)) {
            if !usages.purposes.contains(identifier) {
                usages.purposes.push(identifier);
            }
        }
        Ok(usages)
    }
}

/// The subject's further names as they are written in a certificate: DNS names, mail
/// addresses, IP addresses, URIs. Other kinds are dropped.
fn subject_names(request: &X509CertificationRequest<'_>) -> Result<Vec<u8>, String> {
    let mut by_kind: [Vec<u8>; 4] = Default::default();
    for extension in request.requested_extensions().into_iter().flatten() {
        let names = match extension {
            ParsedExtension::SubjectAlternativeName(names) => names,
            ParsedExtension::ParseError { error } => return Err(format!("malformed extension: {error}")),
            _ => continue,
        };
        for name in &names.general_names {
            let (kind, tag, bytes) = match name {
                GeneralName::DNSName(name) => (0, 0x82, name.as_bytes()),
                GeneralName::RFC822Name(name) => (1, 0x81, name.as_bytes()),
                GeneralName::IPAddress(bytes) => (2, 0x87, *bytes),
                GeneralName::URI(name) => (3, 0x86, name.as_bytes()),
                GeneralName::Invalid(..) => return Err("malformed subject alternative name".into()),
                _ => continue,
            };
            let is_wrong = if tag == 0x87 { !matches!(bytes.len(), 4 | 16) } else { !bytes.is_ascii() };
            if is_wrong {
                return Err("malformed subject alternative name".into());
            }
            by_kind[kind].extend(tlv(tag, bytes));
        }
    }
    Ok(by_kind.concat())
}

fn extensions(usages: &Usages, issuer: &X509Certificate<'_>, names: &[u8], is_nameless: bool) -> Vec<u8> {
    // Each identifier is one of 2.5.29, of which the last number tells them apart.
    let extension = |number: u8, is_critical: bool, value: &[u8]| {
        let critical = if is_critical { tlv(0x01, &[0xff]) } else { Vec::new() };
        sequence(&[&tlv(0x06, &[0x55, 0x1d, number]), &critical, &tlv(0x04, value)])
    };
    let mut all = Vec::new();
    if usages.key != 0 {
        let bytes = usages.key.to_be_bytes();
        let used = if bytes[1] == 0 { &bytes[..1] } else { &bytes[..] };
        let unused = used.last().map_or(0, |last| last.trailing_zeros());
        all.extend(extension(15, true, &bit_string(u8::try_from(unused).unwrap_or(0), used)));
    }
    if !usages.purposes.is_empty() {
        let list: Vec<u8> = usages.purposes.iter().flat_map(|purpose| tlv(0x06, purpose)).collect();
        all.extend(extension(37, false, &tlv(0x30, &list)));
    }
    all.extend(extension(19, true, &tlv(0x30, &[])));
    let key_identifier = issuer.extensions().iter().find_map(|extension| match extension.parsed_extension() {
        ParsedExtension::SubjectKeyIdentifier(identifier) => Some(identifier.0),
        _ => None,
    });
    if let Some(identifier) = key_identifier {
        all.extend(extension(35, false, &tlv(0x30, &tlv(0x80, identifier))));
    }
    if !names.is_empty() {
        all.extend(extension(17, is_nameless, &tlv(0x30, names)));
    }
    tlv(0x30, &all)
}

/// How the authority's signatures are named.
fn algorithm(key: &rcgen::KeyPair) -> Result<Vec<u8>, String> {
    let ecdsa = |last: u8| sequence(&[&tlv(0x06, &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, last])]);
    let algorithm = key.algorithm();
    if algorithm == &rcgen::PKCS_ECDSA_P256_SHA256 {
        Ok(ecdsa(2))
    } else if algorithm == &rcgen::PKCS_ECDSA_P384_SHA384 {
        Ok(ecdsa(3))
    } else if algorithm == &rcgen::PKCS_ED25519 {
        Ok(sequence(&[&tlv(0x06, &[0x2b, 0x65, 0x70])]))
    } else if algorithm == &rcgen::PKCS_RSA_SHA256 {
        Ok(sequence(&[&tlv(0x06, &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11]), &tlv(0x05, &[])]))
    } else {
        Err("the authority's key is of a kind that signs no requests".into())
    }
}

/// 126 random bits; the top two say that it is positive and that no byte is for nothing.
pub(crate) fn serial() -> Result<[u8; 16], Error> {
    let mut bytes = [0; 16];
    ring::rand::SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| Error::Request { reason: "unable to generate a serial number".into() })?;
    bytes[0] = (bytes[0] & 0x3f) | 0x40;
    Ok(bytes)
}

/// Two digits of the year up to 2049, four from then on, as RFC 5280 has it.
fn time(at: Timestamp) -> Vec<u8> {
    let at = at.to_zoned(jiff::tz::TimeZone::UTC);
    if at.year() < 2050 {
        tlv(0x17, at.strftime("%y%m%d%H%M%SZ").to_string().as_bytes())
    } else {
        tlv(0x18, at.strftime("%Y%m%d%H%M%SZ").to_string().as_bytes())
    }
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tlv(0x30, &parts.concat())
}

fn bit_string(unused: u8, bytes: &[u8]) -> Vec<u8> {
    tlv(0x03, &[&[unused], bytes].concat())
}

/// One value in DER: what it is, how long it is, and itself.
fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match u8::try_from(content.len()) {
        Ok(short) if short < 0x80 => out.push(short),
        _ => {
            let length = content.len().to_be_bytes();
            let used = &length[length.iter().take_while(|byte| **byte == 0).count()..];
            out.push(0x80 | u8::try_from(used.len()).unwrap_or(8));
            out.extend(used);
        }
    }
    out.extend(content);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::{Facts, parse_chain};
    use crate::tls;
    use rcgen::{CertificateParams, DnType, KeyPair, PublicKeyData, SanType};

    fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).expect("in range")
    }

    fn order(request_pem: String, usages: &[&str], seconds: u64) -> SigningOrder {
        let usages = usages.iter().map(|usage| (*usage).to_owned()).collect();
        SigningOrder { request_pem: request_pem.into_bytes(), usages, lifetime: Duration::from_secs(seconds) }
    }

    fn request(key: &KeyPair, names: &[SanType]) -> String {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::OrganizationName, "system:nodes");
        parameters.distinguished_name.push(DnType::CommonName, "system:node:a");
        parameters.subject_alt_names = names.to_vec();
        parameters.serialize_request(key).expect("a request").pem().expect("PEM")
    }

    #[test]
    fn a_request_becomes_a_certificate_that_the_authority_vouches_for() {
        let authority = Authority::generate("kubernetes-ca", now()).expect("an authority");
        let key = KeyPair::generate().expect("a key");
        let order = order(request(&key, &[]), &["client auth", "digital signature"], 3600);
        let pem = authority.sign_request(&order, now()).expect("signed");
        let chain = parse_chain("signed", &pem).expect("a chain");
        let facts = Facts::of(&chain[0]).expect("readable");
        assert_eq!((facts.common_name.as_str(), facts.organizations.len()), ("system:node:a", 1));
        assert_eq!(facts.public_key, key.subject_public_key_info());
        assert_eq!(facts.not_before.as_second(), now().as_second() - 300);
        assert_eq!(facts.not_after.as_second(), now().as_second() + 3600, "a short life is not shortened");
        assert!(!facts.is_ca && authority.has_signed(&chain[0]));
        let verifier = tls::client_verifier(&[authority.certificate_der().clone()]).expect("a verifier");
        let at = rustls::pki_types::UnixTime::since_unix_epoch(Duration::from_secs(1_800_000_100));
        verifier.verify_client_cert(&chain[0], &[], at).expect("it is one for clients");
        let again = authority.sign_request(&order, now()).expect("signed");
        assert_ne!(Facts::of_pem("again", &again).expect("readable").serial, facts.serial);
    }

    #[test]
    fn names_come_through_and_a_server_shows_them() {
        let authority = Authority::generate("kubernetes-ca", now()).expect("an authority");
        let key = KeyPair::generate().expect("a key");
        let names = [
            SanType::DnsName("a.example".try_into().expect("a name")),
            SanType::IpAddress("192.0.2.7".parse().expect("an address")),
            SanType::IpAddress("2001:db8::7".parse().expect("an address")),
        ];
        let order = order(request(&key, &names), &["server auth", "digital signature", "key encipherment"], 86_400);
        let facts = Facts::of_pem("signed", &authority.sign_request(&order, now()).expect("signed")).expect("readable");
        assert_eq!(facts.dns_names, ["a.example".to_owned()].into());
        assert_eq!(facts.ips.len(), 2);
        assert_eq!(facts.not_after.as_second(), now().as_second() + 86_400 - 300);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let authority = Authority::generate("kubernetes-ca", now()).expect("an authority");
        let key = KeyPair::generate().expect("a key");
        let good = request(&key, &[]);
        let check = |order: &SigningOrder, now: Timestamp, why: &str| {
            let error = authority.sign_request(order, now).expect_err("refused").to_string();
            assert!(error.contains(why), "{why} in {error}");
        };
        check(&order(good.clone(), &["client auth", "fly"], 600), now(), "unrecognized usage values: [\"fly\"]");
        check(&order("nothing".into(), &[], 600), now(), "unable to parse certificate request");
        let late = authority.facts().not_after + Duration::from_secs(1);
        check(&order(good.clone(), &[], 600), late, "refusing to sign a certificate that expired in the past");
        check(&order(good.clone(), &[], 600), late + Duration::from_secs(600), "the signer has expired");
        // One bit of the signature is another.
        let der = CertificateSigningRequestDer::from_pem_slice(good.as_bytes()).expect("DER");
        let mut forged = der.to_vec();
        *forged.last_mut().expect("bytes") ^= 1;
        let mut pem = crate::certificate::render_pem(&CertificateDer::from(forged));
        pem = pem.replace("CERTIFICATE", "CERTIFICATE REQUEST");
        check(&order(pem, &[], 600), now(), "unable to verify certificate request signature");
        let long = order(good, &["client auth"], 100 * 365 * 86_400);
        let facts = Facts::of_pem("long", &authority.sign_request(&long, now()).expect("signed")).expect("readable");
        assert_eq!(facts.not_after, authority.facts().not_after);
    }

    #[test]
    fn usages_are_bits_and_purposes() {
        let parse = |words: &[&str]| {
            Usages::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).expect("known")
        };
        assert_eq!(parse(&["signing", "digital signature", "decipher only"]).key, 0x8080);
        assert_eq!(parse(&["s/mime", "email protection", "any"]).purposes.len(), 2);
        assert_eq!(tlv(0x04, &[0; 200])[..3], [0x04, 0x81, 200]);
        assert_eq!(tlv(0x04, &[0; 300])[..4], [0x04, 0x82, 1, 44]);
    }
}
