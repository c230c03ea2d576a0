//! TLS settings for servers and clients: ring's provider named explicitly, so that no
//! process-wide default is needed, and upstream's way with client certificates.

use crate::authority::Identity;
use crate::certificate::parse_chain;
use crate::live::LiveIdentity;
use crate::{Error, certificate};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{ClientConfig, DigitallySignedStruct, DistinguishedName, RootCertStore, ServerConfig, SignatureScheme};
use std::sync::{Arc, LazyLock};

static PROVIDER: LazyLock<Arc<CryptoProvider>> = LazyLock::new(|| Arc::new(rustls::crypto::ring::default_provider()));

/// The one provider that every TLS setting of ferry uses.
pub fn provider() -> Arc<CryptoProvider> {
    PROVIDER.clone()
}

/// Makes it the process's default, for libraries that build TLS settings of their own.
/// Called once at the start of each binary; a second call changes nothing.
pub fn install_provider() {
    // An error only says that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// HTTP/2 first, as Go's servers and clients offer it.
pub fn alpn() -> Vec<Vec<u8>> {
    vec![b"h2".to_vec(), b"http/1.1".to_vec()]
}

/// What a server does with the certificates of its clients.
#[derive(Clone, Copy, Debug)]
pub enum ClientCertificates<'a> {
    /// None is asked for.
    Ignored,
    /// One is asked for, and that the client holds its key is checked; who vouches for it is left to
    /// authentication, so that a stranger's certificate is answered with 401 and not with
    /// a broken handshake. `hints` are the authorities named to the client.
    Requested { hints: &'a [CertificateDer<'static>] },
}

/// A server that speaks as `identity`.
pub fn server_config(identity: &Identity, clients: ClientCertificates<'_>) -> Result<ServerConfig, Error> {
    live_server_config(LiveIdentity::new(identity.clone())?, clients)
}

/// A server that speaks as whatever `identity` is when a connection is made.
pub fn live_server_config(identity: Arc<LiveIdentity>, clients: ClientCertificates<'_>) -> Result<ServerConfig, Error> {
    let refused = |source| Error::Tls { what: "a server", source };
    let builder =
        ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().map_err(refused)?;
    let builder = match clients {
        ClientCertificates::Ignored => builder.with_no_client_auth(),
        ClientCertificates::Requested { hints } => {
            let hints = roots(hints)?.subjects();
            builder.with_client_cert_verifier(Arc::new(AnyCertificate { hints }))
        }
    };
    let mut config = builder.with_cert_resolver(identity);
    config.alpn_protocols = alpn();
    Ok(config)
}

/// A client that trusts the authorities of `ca_pem` and shows `identity` if asked. ALPN is
/// left empty, because hyper's connector sets it and refuses one that is set already;
/// others take [`alpn`].
pub fn client_config(ca_pem: &str, identity: Option<&Identity>) -> Result<ClientConfig, Error> {
    let refused = |source| Error::Tls { what: "a client", source };
    let trusted = roots(&parse_chain("the authority", ca_pem)?)?;
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(refused)?
        .with_root_certificates(trusted);
    match identity {
        None => Ok(builder.with_no_client_auth()),
        Some(identity) => {
            let chain = parse_chain("the client certificate", &identity.certificate_pem)?;
            let key = parse_private_key("the client key", &identity.key_pem)?;
            builder.with_client_auth_cert(chain, key).map_err(refused)
        }
    }
}

/// As [`client_config`], showing whatever `identity` is when a connection is made.
pub fn live_client_config(ca_pem: &str, identity: Arc<LiveIdentity>) -> Result<ClientConfig, Error> {
    let mut config = client_config(ca_pem, None)?;
    config.client_auth_cert_resolver = identity;
    Ok(config)
}

/// Judges whether one of the authorities vouches for a client certificate now: chain,
/// validity and the purpose clientAuth. What authentication asks after the handshake.
pub fn client_verifier(authorities: &[CertificateDer<'static>]) -> Result<Arc<dyn ClientCertVerifier>, Error> {
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots(authorities)?), provider())
        .build()
        .map_err(|e| Error::Tls { what: "client certificates", source: rustls::Error::General(e.to_string()) })
}

pub fn parse_private_key(what: &str, pem: &str) -> Result<PrivateKeyDer<'static>, Error> {
    PrivateKeyDer::from_pem_slice(pem.as_bytes())
        .map_err(|e| Error::PrivateKey { what: what.to_owned(), reason: e.to_string() })
}

fn roots(authorities: &[CertificateDer<'static>]) -> Result<RootCertStore, Error> {
    let mut store = RootCertStore::empty();
    for authority in authorities {
        store.add(authority.clone()).map_err(|source| Error::Tls { what: "an authority", source })?;
    }
    Ok(store)
}

/// Whether the other end holds the key of its certificate, in TLS 1.2.
pub(crate) fn verify_tls12_signature(
    message: &[u8],
    cert: &CertificateDer<'_>,
    signature: &DigitallySignedStruct,
) -> Result<HandshakeSignatureValid, rustls::Error> {
    rustls::crypto::verify_tls12_signature(message, cert, signature, &PROVIDER.signature_verification_algorithms)
}

/// The same in TLS 1.3.
pub(crate) fn verify_tls13_signature(
    message: &[u8],
    cert: &CertificateDer<'_>,
    signature: &DigitallySignedStruct,
) -> Result<HandshakeSignatureValid, rustls::Error> {
    rustls::crypto::verify_tls13_signature(message, cert, signature, &PROVIDER.signature_verification_algorithms)
}

pub(crate) fn supported_schemes() -> Vec<SignatureScheme> {
    PROVIDER.signature_verification_algorithms.supported_schemes()
}

/// Takes any certificate whose key the client proves to hold.
#[derive(Debug)]
struct AnyCertificate {
    hints: Vec<DistinguishedName>,
}

impl ClientCertVerifier for AnyCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.hints
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        match certificate::Facts::of(end_entity) {
            Ok(_) => Ok(ClientCertVerified::assertion()),
            Err(_) => Err(rustls::CertificateError::BadEncoding.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::{Authority, ClientSubject, ServingNames};
    use jiff::Timestamp;
    use rustls::{ClientConnection, ServerConnection};

    /// Carries bytes between the two ends in memory until both are done, and gives the
    /// certificates that the server saw.
    fn handshake(server: ServerConfig, client: ClientConfig, name: &str) -> Result<usize, rustls::Error> {
        let mut server = ServerConnection::new(Arc::new(server)).expect("a server");
        let name = name.to_owned().try_into().expect("a name");
        let mut client = ClientConnection::new(Arc::new(client), name).expect("a client");
        while server.is_handshaking() || client.is_handshaking() {
            let mut wire = Vec::new();
            client.write_tls(&mut wire).expect("memory takes it");
            server.read_tls(&mut wire.as_slice()).expect("memory gives it");
            server.process_new_packets()?;
            let mut wire = Vec::new();
            server.write_tls(&mut wire).expect("memory takes it");
            client.read_tls(&mut wire.as_slice()).expect("memory gives it");
            client.process_new_packets()?;
        }
        Ok(server.peer_certificates().map_or(0, <[_]>::len))
    }

    #[test]
    fn strangers_shake_hands_and_wrong_servers_do_not() {
        let now = Timestamp::now();
        let ours = Authority::generate("ours", now).expect("an authority");
        let other = Authority::generate("other", now).expect("an authority");
        let names = ServingNames { dns_names: ["localhost".to_owned()].into(), ..Default::default() };
        let serving = ours.issue_serving(&names, now).expect("issued");
        let client = other.issue_client(&ClientSubject::new("eve", Some("system:masters")), now).expect("issued");
        let hints = [ours.certificate_der().clone()];
        let server = || server_config(&serving, ClientCertificates::Requested { hints: &hints }).expect("a server");

        // rustls, unlike curl, keeps back a certificate of an authority not hinted at, so
        // the stranger is let through by hinting at nothing.
        let open = server_config(&serving, ClientCertificates::Requested { hints: &[] }).expect("a server");
        let shown = client_config(ours.certificate_pem(), Some(&client)).expect("a client");
        assert_eq!(handshake(open, shown, "localhost"), Ok(1));

        let own = ours.issue_client(&ClientSubject::new("alice", None), now).expect("issued");
        let with = client_config(ours.certificate_pem(), Some(&own)).expect("a client");
        assert_eq!(handshake(server(), with, "localhost"), Ok(1));
        let without = client_config(ours.certificate_pem(), None).expect("a client");
        assert_eq!(handshake(server(), without.clone(), "localhost"), Ok(0));
        assert!(handshake(server(), without, "elsewhere").is_err());
        let distrusting = client_config(other.certificate_pem(), None).expect("a client");
        assert!(handshake(server(), distrusting, "localhost").is_err());
    }
}
