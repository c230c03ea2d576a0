//! An authority that is known by the hash of its public key alone: how a machine that joins
//! trusts the API server before it has anything of the cluster (`ferry join`).
//!
//! The server shows its authority behind its own certificate. The hash is that of kubeadm's
//! `--discovery-token-ca-cert-hash`: SHA-256 over the subject public key info. Nothing is
//! sent before the handshake has proven it, so that a server in between learns no token.

use crate::certificate::{Facts, render_pem};
use crate::tls::{alpn, provider};
use crate::{Authority, Error};
use ring::digest::{SHA256, digest};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::fmt::{self, Display, Formatter, Write};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

/// The hash of an authority's public key, written as `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthorityPin([u8; 32]);

impl AuthorityPin {
    pub fn of(authority: &Authority) -> Self {
        Self::of_key(&authority.facts().public_key)
    }

    /// The same for an authority of which only the certificate is here.
    pub fn of_pem(pem: &str) -> Result<Self, Error> {
        Ok(Self::of_key(&Facts::of_pem("the authority", pem)?.public_key))
    }

    fn of_key(public_key: &[u8]) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, public_key).as_ref());
        Self(bytes)
    }

    pub fn hex(&self) -> String {
        self.0.iter().fold(String::new(), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
    }
}

impl Display for AuthorityPin {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl FromStr for AuthorityPin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let hex = text.strip_prefix("sha256:").unwrap_or(text);
        let wrong = || format!("{text:?} is not of the form sha256:<64 hexadecimal digits>");
        if hex.len() != 64 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| wrong())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

/// The authority with a pin, as soon as a server has shown it.
#[derive(Debug)]
pub struct PinnedAuthority {
    pin: AuthorityPin,
    shown: Mutex<Shown>,
}

#[derive(Debug, Default)]
struct Shown {
    authority: Option<CertificateDer<'static>>,
    /// The hash of an authority that is another one.
    other: Option<AuthorityPin>,
}

impl PinnedAuthority {
    pub fn new(pin: AuthorityPin) -> Arc<Self> {
        Arc::new(Self { pin, shown: Mutex::default() })
    }

    /// A client that trusts the authority with the pin and shows no certificate.
    pub fn client_config(self: &Arc<Self>) -> Result<ClientConfig, Error> {
        let mut config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|source| Error::Tls { what: "a client", source })?
            .dangerous()
            .with_custom_certificate_verifier(self.clone())
            .with_no_client_auth();
        config.alpn_protocols = alpn();
        Ok(config)
    }

    /// The PEM of the authority, once a handshake has succeeded.
    pub fn authority_pem(&self) -> Option<String> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).authority.as_ref().map(render_pem)
    }

    /// The hash of the authority that a server showed in place of the right one.
    pub fn other(&self) -> Option<AuthorityPin> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).other
    }
}

impl ServerCertVerifier for PinnedAuthority {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let mut shown = Shown::default();
        for certificate in intermediates {
            let Ok(facts) = Facts::of(certificate) else { continue };
            let pin = AuthorityPin::of_key(&facts.public_key);
            if !facts.is_ca {
                continue;
            }
            if pin == self.pin {
                shown.authority = Some(certificate.clone().into_owned());
            } else {
                shown.other = Some(pin);
            }
        }
        let authority = shown.authority.clone();
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = shown;
        let authority = authority.ok_or(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer))?;
        let mut roots = RootCertStore::empty();
        roots.add(authority)?;
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
            .build()
            .map_err(|error| rustls::Error::General(error.to_string()))?;
        verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &provider().signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &provider().signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        provider().signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PkiConfig;
    use jiff::Timestamp;
    use std::time::Duration;

    #[test]
    fn a_pin_reads_as_it_is_written() {
        let authority = Authority::generate("a", Timestamp::now()).expect("an authority");
        let pin = AuthorityPin::of(&authority);
        assert_eq!(pin.to_string().parse(), Ok(pin));
        assert_eq!(pin.hex().parse(), Ok(pin));
        for wrong in ["", "sha256:", "sha256:00", &format!("sha256:{}", "g".repeat(64)), &"é".repeat(32)] {
            assert!(wrong.parse::<AuthorityPin>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_server_is_trusted_by_its_authoritys_hash_name_and_time() {
        let dir = tempfile::tempdir().expect("a directory");
        let pki = crate::ensure(dir.path(), &PkiConfig::default()).expect("key material");
        let chain = crate::certificate::parse_chain("server", &pki.apiserver.identity().certificate_pem);
        let chain = chain.expect("a chain");
        assert_eq!(chain.len(), 2, "the authority is shown");
        let now = UnixTime::since_unix_epoch(Duration::from_secs(Timestamp::now().as_second().unsigned_abs()));
        let verify = |pin: AuthorityPin, name: &'static str, now: UnixTime| {
            let pinned = PinnedAuthority::new(pin);
            let name = ServerName::try_from(name).expect("a name");
            let verified = pinned.verify_server_cert(&chain[0], &chain[1..], &name, &[], now);
            (verified.map(drop).map_err(|error| error.to_string()), pinned)
        };
        let right = AuthorityPin::of(&pki.ca);
        let (verified, pinned) = verify(right, "127.0.0.1", now);
        assert_eq!(verified, Ok(()));
        assert_eq!(pinned.authority_pem().as_deref(), Some(pki.ca.certificate_pem()));

        let (verified, pinned) = verify(AuthorityPin([0; 32]), "127.0.0.1", now);
        assert!(verified.is_err());
        assert_eq!(pinned.other(), Some(right), "for the message");
        assert!(verify(right, "192.0.2.1", now).0.is_err(), "another server of the cluster's names");
        let yesterday = UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs() - 86_400));
        assert!(verify(right, "127.0.0.1", yesterday).0.is_err());

        // A hash names a key, not a certificate that anybody made.
        let other = Authority::generate("kubernetes-ca", Timestamp::now()).expect("an authority");
        let pinned = PinnedAuthority::new(right);
        let name = ServerName::try_from("127.0.0.1").expect("a name");
        let forged = other.issue_serving(&Default::default(), Timestamp::now()).expect("a certificate");
        let forged = crate::certificate::parse_chain("forged", &forged.certificate_pem).expect("a chain");
        assert!(pinned.verify_server_cert(&forged[0], &chain[1..], &name, &[], now).is_err());
    }
}
