//! Whom a hook's client trusts: the bundle it was given and nobody else, or, without one,
//! whom the machine trusts. What does not verify is told in the words of Go's crypto/tls.

use super::Error;
use base64::Engine as _;
use ferry_pki::server_trust::ServerTrust;
use ferry_pki::tls::provider;
use ferry_pki::{Identity, certificate};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CertificateError, ClientConfig};
use std::sync::Arc;

/// Where Go looks for the machine's authorities (crypto/x509/root_linux.go).
const SYSTEM_FILES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocols {
    Http1,
    /// HTTP/2 where the server offers it.
    Http2,
}

/// `caBundle`: PEM in base64, as bytes stand in JSON.
pub(super) fn decode_bundle(text: &str) -> Result<String, Error> {
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_err(|error| Error::Config(format!("unable to load root certificates: {error}")))?;
    String::from_utf8(bytes)
        .map_err(|_| Error::Config("unable to load root certificates: unable to parse bytes as PEM block".into()))
}

/// TLS towards a server that `bundle` vouches for, showing `identity` if asked.
pub fn client_config(
    bundle: Option<&str>,
    identity: Option<&Identity>,
    protocols: Protocols,
) -> Result<Arc<ClientConfig>, Error> {
    let verifier = match bundle {
        Some(pem) => ServerTrust::of(authorities(pem)?),
        None => ServerTrust::of(system_authorities()),
    };
    with_verifier(Arc::new(verifier), identity, protocols)
}

/// TLS towards whoever answers, for kubeconfigs that ask for that.
pub fn unverified_config(identity: Option<&Identity>, protocols: Protocols) -> Result<Arc<ClientConfig>, Error> {
    with_verifier(Arc::new(ServerTrust::anyone()), identity, protocols)
}

fn with_verifier(
    verifier: Arc<ServerTrust>,
    identity: Option<&Identity>,
    protocols: Protocols,
) -> Result<Arc<ClientConfig>, Error> {
    let refused = |error: &dyn std::fmt::Display| Error::Config(error.to_string());
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| refused(&error))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let chain = certificate::parse_chain("the client certificate", &identity.certificate_pem)
                .map_err(|error| refused(&error))?;
            let key = ferry_pki::tls::parse_private_key("the client key", &identity.key_pem)
                .map_err(|error| refused(&error))?;
            builder.with_client_auth_cert(chain, key).map_err(|error| refused(&error))?
        }
    };
    config.alpn_protocols = match protocols {
        Protocols::Http1 => vec![b"http/1.1".to_vec()],
        Protocols::Http2 => ferry_pki::tls::alpn(),
    };
    Ok(Arc::new(config))
}

fn authorities(pem: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let unreadable = |why: &str| Error::Config(format!("unable to load root certificates: {why}"));
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|error| unreadable(&error.to_string()))?;
    if found.is_empty() { Err(unreadable("unable to parse bytes as PEM block")) } else { Ok(found) }
}

fn system_authorities() -> Vec<CertificateDer<'static>> {
    let named = std::env::var_os("SSL_CERT_FILE").map(std::path::PathBuf::from);
    let files = named.into_iter().chain(SYSTEM_FILES.iter().map(std::path::PathBuf::from));
    let pem = files.into_iter().find_map(|file| std::fs::read(file).ok()).unwrap_or_default();
    CertificateDer::pem_slice_iter(&pem).filter_map(Result::ok).collect()
}

/// What a failed handshake is to users, in Go's words.
pub fn explain(error: &std::io::Error, host: &str) -> String {
    let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) else {
        return error.to_string();
    };
    let why = match error {
        rustls::Error::InvalidCertificate(reason) => match reason {
            // A bad signature is an authority of the same name with another key.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                "certificate signed by unknown authority".to_owned()
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "certificate has expired or is not yet valid: the certificate has expired".to_owned()
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "certificate has expired or is not yet valid: the certificate is not valid yet".to_owned()
            }
            CertificateError::NotValidForNameContext { presented, .. } if presented.is_empty() => {
                "certificate relies on legacy Common Name field, use SANs instead".to_owned()
            }
            CertificateError::NotValidForNameContext { presented, .. } => {
                let names: Vec<&str> = presented.iter().map(|name| plain_name(name)).collect();
                format!("certificate is valid for {}, not {host}", names.join(", "))
            }
            CertificateError::NotValidForName => format!("certificate is not valid for {host}"),
            other => format!("{other:?}"),
        },
        rustls::Error::InvalidMessage(_) => return "tls: first record does not look like a TLS handshake".into(),
        other => return format!("tls: {other}"),
    };
    format!("tls: failed to verify certificate: x509: {why}")
}

/// `DnsName("a")` as rustls shows a presented name, without its dress.
fn plain_name(shown: &str) -> &str {
    let inner = shown.split_once('(').map_or(shown, |(_, rest)| rest.trim_end_matches(')'));
    inner.trim_matches('"')
}
