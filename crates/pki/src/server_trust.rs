//! Which servers a client trusts that was given authorities, or told to trust anyone: the clients of
//! webhooks, of kubeconfigs and of scheduler extenders.

use crate::certificate;
use crate::tls::{self, provider};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::sync::Arc;

/// Verifies as webpki does, and besides takes a certificate that is itself one of the
/// authorities: people serve hooks with a self-signed certificate that they also put into
/// the bundle, which Go's verifier accepts and webpki, for certificates of an authority,
/// does not.
#[derive(Debug)]
pub struct ServerTrust {
    roots: Vec<CertificateDer<'static>>,
    inner: Option<Arc<WebPkiServerVerifier>>,
    anyone: bool,
}

impl ServerTrust {
    /// Takes the servers that one of these authorities vouches for.
    pub fn of(roots: Vec<CertificateDer<'static>>) -> Self {
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(roots.iter().cloned());
        let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider()).build().ok();
        Self { roots, inner, anyone: false }
    }

    /// Takes any server that proves to hold the key of its certificate.
    pub fn anyone() -> Self {
        Self { roots: Vec::new(), inner: None, anyone: true }
    }

    fn is_a_root(&self, certificate: &CertificateDer<'_>) -> bool {
        self.roots.iter().any(|root| root.as_ref() == certificate.as_ref())
    }
}

impl ServerCertVerifier for ServerTrust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.anyone {
            return Ok(ServerCertVerified::assertion());
        }
        let outcome = match &self.inner {
            Some(inner) => inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now),
            None => Err(CertificateError::UnknownIssuer.into()),
        };
        match outcome {
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(_) | CertificateError::UnknownIssuer))
                if self.is_a_root(end_entity) =>
            {
                let facts = certificate::Facts::of(end_entity).map_err(|_| CertificateError::BadEncoding)?;
                let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
                if now < facts.not_before.as_second() {
                    return Err(CertificateError::NotValidYet.into());
                }
                if now > facts.not_after.as_second() {
                    return Err(CertificateError::Expired.into());
                }
                rustls::client::verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        tls::verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        tls::verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        tls::supported_schemes()
    }
}
