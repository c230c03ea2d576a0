//! An identity in use that can be replaced: servers show, and clients prove, whatever it
//! is when a connection is made. Connections that are open go on as they are.

use crate::Error;
use crate::authority::Identity;
use crate::certificate::parse_chain;
use crate::tls::{parse_private_key, provider};
use arc_swap::ArcSwap;
use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::sync::Arc;

pub struct LiveIdentity(ArcSwap<Current>);

struct Current {
    identity: Arc<Identity>,
    key: Arc<CertifiedKey>,
}

impl Current {
    fn parse(identity: Identity) -> Result<Self, Error> {
        let chain = parse_chain("the certificate", &identity.certificate_pem)?;
        let key = parse_private_key("the key", &identity.key_pem)?;
        let key = CertifiedKey::from_der(chain, key, &provider())
            .map_err(|source| Error::Tls { what: "a certificate with its key", source })?;
        Ok(Self { identity: Arc::new(identity), key: Arc::new(key) })
    }
}

impl std::fmt::Debug for LiveIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LiveIdentity").field(&self.0.load().identity).finish()
    }
}

impl LiveIdentity {
    pub fn new(identity: Identity) -> Result<Arc<Self>, Error> {
        Ok(Arc::new(Self(ArcSwap::from_pointee(Current::parse(identity)?))))
    }

    /// Becomes another identity, for everyone who holds it.
    pub fn replace(&self, identity: Identity) -> Result<(), Error> {
        self.0.store(Arc::new(Current::parse(identity)?));
        Ok(())
    }

    /// What it is now.
    pub fn identity(&self) -> Arc<Identity> {
        self.0.load().identity.clone()
    }

    /// Becomes what the other one is, for everyone who holds it.
    pub(crate) fn replaced_by(self: &Arc<Self>, other: &Self) -> Arc<Self> {
        self.0.store(other.0.load_full());
        self.clone()
    }
}

impl ResolvesServerCert for LiveIdentity {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load().key.clone())
    }
}

impl ResolvesClientCert for LiveIdentity {
    fn resolve(&self, _authorities: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load().key.clone())
    }

    fn has_certs(&self) -> bool {
        true
    }
}
