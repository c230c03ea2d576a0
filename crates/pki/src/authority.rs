//! A certificate authority and what it issues. Called by `layout.rs` for the files of
//! the cluster; what it signs for others is in `signing.rs`.

use crate::certificate::Facts;
use crate::files::{self, Mode};
use crate::{Error, certificate, signing};
use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PublicKeyData, SanType, SerialNumber,
};
use rustls::pki_types::CertificateDer;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

/// Ten years for an authority and one for what it issues, as kubeadm has them.
const AUTHORITY_LIFETIME: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);
pub const LEAF_LIFETIME: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// A machine whose clock is a little behind must accept what was issued just now.
const BACKDATE: Duration = Duration::from_secs(5 * 60);

/// A certificate with its private key, both as PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    pub certificate_pem: String,
    pub key_pem: String,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("certificate_pem", &self.certificate_pem).finish_non_exhaustive()
    }
}

/// Whom a client certificate names: CN is the user, O the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSubject {
    pub user: String,
    pub group: Option<String>,
}

impl ClientSubject {
    pub fn new(user: impl Into<String>, group: Option<&str>) -> Self {
        Self { user: user.into(), group: group.map(str::to_owned) }
    }
}

/// Under which names and addresses a server is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServingNames {
    pub common_name: String,
    /// Kubelets carry `system:nodes` here, others nothing.
    pub organization: Option<String>,
    pub dns_names: BTreeSet<String>,
    pub ips: BTreeSet<IpAddr>,
}

/// An authority that can sign: its certificate and key.
pub struct Authority {
    certificate_pem: String,
    certificate_der: CertificateDer<'static>,
    facts: Facts,
    issuer: Issuer<'static, KeyPair>,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").field("facts", &self.facts).finish_non_exhaustive()
    }
}

impl Authority {
    /// Reads `<stem>.crt` and `<stem>.key`, or makes them where neither is there. A key
    /// without a certificate is what a crash between the two writes leaves: it is kept
    /// and gets its certificate. The reverse cannot be healed and is an error. A certificate
    /// of the future, made while the clock was wrong, is made anew with the same key: what
    /// it has signed stays signed.
    pub fn ensure(dir: &Path, stem: &str, common_name: &str, now: Timestamp) -> Result<Self, Error> {
        let certificate_path = dir.join(format!("{stem}.crt"));
        let key_path = dir.join(format!("{stem}.key"));
        let certificate = files::read(&certificate_path)?;
        let key_pem = match files::read(&key_path)? {
            Some(pem) => pem,
            None if certificate.is_some() => {
                return Err(Error::HalfAuthority { present: certificate_path, missing: key_path });
            }
            None => files::create_once(&key_path, &generate_key(stem)?.serialize_pem(), Mode::Private)?,
        };
        let key = parse_key(&key_path.display().to_string(), &key_pem)?;
        let is_of_the_future = |pem: &str| {
            let read = certificate::parse_chain(stem, pem).ok();
            read.and_then(|chain| Facts::of(chain.first()?).ok()).is_some_and(|facts| now < facts.not_before)
        };
        let certificate_pem = match certificate {
            Some(pem) if is_of_the_future(&pem) => {
                let made = self_sign(common_name, &key, now)?;
                files::replace(&certificate_path, &made, Mode::Public)?;
                made
            }
            Some(pem) => pem,
            None => {
                let made = self_sign(common_name, &key, now)?;
                files::create_once(&certificate_path, &made, Mode::Public)?
            }
        };
        Self::from_pem(&certificate_path.display().to_string(), &certificate_pem, key)
    }

    /// An authority that lives in memory only.
    pub fn generate(common_name: &str, now: Timestamp) -> Result<Self, Error> {
        let key = generate_key(common_name)?;
        let certificate_pem = self_sign(common_name, &key, now)?;
        Self::from_pem(common_name, &certificate_pem, key)
    }

    fn from_pem(what: &str, certificate_pem: &str, key: KeyPair) -> Result<Self, Error> {
        let certificate_der = certificate::parse_chain(what, certificate_pem)?.swap_remove(0);
        let facts =
            Facts::of(&certificate_der).map_err(|reason| Error::Certificate { what: what.to_owned(), reason })?;
        if facts.public_key != key.subject_public_key_info() {
            return Err(Error::Certificate {
                what: what.to_owned(),
                reason: "its public key is not that of the private key beside it".into(),
            });
        }
        let issuer = Issuer::from_ca_cert_der(&certificate_der, key)
            .map_err(|source| Error::Issue { what: what.to_owned(), source })?;
        Ok(Self { certificate_pem: certificate_pem.to_owned(), certificate_der, facts, issuer })
    }

    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    pub fn certificate_der(&self) -> &CertificateDer<'static> {
        &self.certificate_der
    }

    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// A client certificate with a key of its own.
    pub fn issue_client(&self, subject: &ClientSubject, now: Timestamp) -> Result<Identity, Error> {
        let key = generate_key(&subject.user)?;
        self.identity(&key, client_parameters(subject), now, LEAF_LIFETIME)
    }

    /// A client certificate that lives as long as asked, for tests of expiry and signers.
    pub fn issue_client_for(
        &self,
        subject: &ClientSubject,
        now: Timestamp,
        lifetime: Duration,
    ) -> Result<Identity, Error> {
        let key = generate_key(&subject.user)?;
        self.identity(&key, client_parameters(subject), now, lifetime)
    }

    /// A serving certificate with a key of its own.
    pub fn issue_serving(&self, names: &ServingNames, now: Timestamp) -> Result<Identity, Error> {
        let key = generate_key(&names.common_name)?;
        self.identity(&key, serving_parameters(names)?, now, LEAF_LIFETIME)
    }

    pub(crate) fn issue_client_with(
        &self,
        key: &KeyPair,
        subject: &ClientSubject,
        now: Timestamp,
    ) -> Result<Identity, Error> {
        self.identity(key, client_parameters(subject), now, LEAF_LIFETIME)
    }

    pub(crate) fn issue_serving_with(
        &self,
        key: &KeyPair,
        names: &ServingNames,
        now: Timestamp,
    ) -> Result<Identity, Error> {
        self.identity(key, serving_parameters(names)?, now, LEAF_LIFETIME)
    }

    fn identity(
        &self,
        key: &KeyPair,
        mut parameters: CertificateParams,
        now: Timestamp,
        lifetime: Duration,
    ) -> Result<Identity, Error> {
        // What outlives its authority would be refused anyway, with a worse message.
        set_validity(&mut parameters, backdated(now), later(now, lifetime).min(self.facts.not_after));
        parameters.use_authority_key_identifier_extension = true;
        // rcgen would take it from the key, and a renewed certificate has the same key.
        parameters.serial_number = Some(SerialNumber::from_slice(&signing::serial()?));
        let certificate = parameters
            .signed_by(key, &self.issuer)
            .map_err(|source| Error::Issue { what: "a certificate".into(), source })?;
        Ok(Identity { certificate_pem: certificate.pem(), key_pem: key.serialize_pem() })
    }

    pub(crate) fn signing_key(&self) -> &KeyPair {
        self.issuer.key()
    }

    /// Whether this authority's key signed the certificate.
    pub fn has_signed(&self, certificate: &[u8]) -> bool {
        use x509_parser::prelude::{FromDer, X509Certificate};
        let Ok((_, ours)) = X509Certificate::from_der(&self.certificate_der) else { return false };
        X509Certificate::from_der(certificate)
            .is_ok_and(|(_, leaf)| leaf.verify_signature(Some(ours.public_key())).is_ok())
    }
}

pub(crate) fn generate_key(what: &str) -> Result<KeyPair, Error> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)
        .map_err(|source| Error::Issue { what: format!("a key for {what}"), source })
}

pub(crate) fn parse_key(what: &str, pem: &str) -> Result<KeyPair, Error> {
    KeyPair::from_pem(pem).map_err(|e| Error::PrivateKey { what: what.to_owned(), reason: e.to_string() })
}

fn self_sign(common_name: &str, key: &KeyPair, now: Timestamp) -> Result<String, Error> {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = distinguished_name(common_name, None);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.key_usages =
        vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    set_validity(&mut parameters, backdated(now), later(now, AUTHORITY_LIFETIME));
    let certificate = parameters
        .self_signed(key)
        .map_err(|source| Error::Issue { what: format!("the authority {common_name}"), source })?;
    Ok(certificate.pem())
}

fn client_parameters(subject: &ClientSubject) -> CertificateParams {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = distinguished_name(&subject.user, subject.group.as_deref());
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    parameters
}

fn serving_parameters(names: &ServingNames) -> Result<CertificateParams, Error> {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = distinguished_name(&names.common_name, names.organization.as_deref());
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    for name in &names.dns_names {
        let name = name
            .as_str()
            .try_into()
            .map_err(|source| Error::Issue { what: format!("a certificate for {name}"), source })?;
        parameters.subject_alt_names.push(SanType::DnsName(name));
    }
    parameters.subject_alt_names.extend(names.ips.iter().copied().map(SanType::IpAddress));
    Ok(parameters)
}

fn distinguished_name(common_name: &str, organization: Option<&str>) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    if let Some(organization) = organization {
        name.push(DnType::OrganizationName, organization);
    }
    name.push(DnType::CommonName, common_name);
    name
}

/// rcgen speaks the `time` crate's instants; they are reached from its own epoch helper
/// so that the crate is no dependency of ours. Times before 1970 become 1970.
fn set_validity(parameters: &mut CertificateParams, from: Timestamp, until: Timestamp) {
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    let since_epoch = |at: Timestamp| Duration::from_secs(u64::try_from(at.as_second()).unwrap_or(0));
    parameters.not_before = epoch + since_epoch(from);
    parameters.not_after = epoch + since_epoch(until);
}

fn later(now: Timestamp, by: Duration) -> Timestamp {
    now.checked_add(by).unwrap_or(Timestamp::MAX)
}

fn backdated(now: Timestamp) -> Timestamp {
    now.checked_sub(BACKDATE).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).expect("in range")
    }

    #[test]
    fn a_client_certificate_names_user_and_group() {
        let authority = Authority::generate("test-ca", now()).expect("an authority");
        let issued = authority.issue_client(&ClientSubject::new("alice", Some("dev")), now()).expect("issued");
        let facts = Facts::of_pem("client", &issued.certificate_pem).expect("readable");
        assert_eq!((facts.common_name.as_str(), facts.organizations.as_slice()), ("alice", &["dev".to_owned()][..]));
        assert!(!facts.is_ca);
        assert!(authority.facts().is_ca);
        let der = certificate::parse_chain("client", &issued.certificate_pem).expect("a chain");
        assert!(authority.has_signed(&der[0]));
        let other = Authority::generate("test-ca", now()).expect("an authority");
        assert!(!other.has_signed(&der[0]), "the same name with another key has signed nothing");
    }

    #[test]
    fn a_leaf_never_outlives_its_authority() {
        let authority = Authority::generate("test-ca", now()).expect("an authority");
        let late = later(now(), Duration::from_secs(9 * 365 * 24 * 60 * 60 + 200 * 24 * 60 * 60));
        let issued = authority.issue_client(&ClientSubject::new("alice", None), late).expect("issued");
        let facts = Facts::of_pem("client", &issued.certificate_pem).expect("readable");
        assert_eq!(facts.not_after, authority.facts().not_after);
    }
}
