//! The transport of a machine that knows several API servers, and how a component on another
//! machine speaks in its own name with the machine's certificate.

use crate::tls::TlsTransport;
use crate::transport::{Body, BoxError, Transport};
use async_trait::async_trait;
use http::{HeaderName, HeaderValue};
use parking_lot::Mutex;
use std::sync::Arc;

/// Makes the TLS settings of a connection pool.
pub type TlsSettings = Arc<dyn Fn() -> Result<rustls::ClientConfig, BoxError> + Send + Sync>;

/// Sends requests to one of several servers: the one that answered last, until it no longer
/// does. Shared by every client of a process, so that what one finds out helps the others.
pub struct Servers {
    settings: TlsSettings,
    known: Mutex<Known>,
}

struct Known {
    urls: Vec<String>,
    /// The one in use, with its connections.
    current: Option<(String, Arc<TlsTransport>)>,
}

impl Servers {
    pub fn new(urls: Vec<String>, settings: TlsSettings) -> Arc<Self> {
        Arc::new(Self { settings, known: Mutex::new(Known { urls, current: None }) })
    }

    pub fn urls(&self) -> Vec<String> {
        self.known.lock().urls.clone()
    }

    /// The server that requests go to now.
    pub fn current(&self) -> Option<String> {
        let known = self.known.lock();
        known.current.as_ref().map(|(url, _)| url.clone()).or_else(|| known.urls.first().cloned())
    }

    /// Takes over a new list. The server in use stays in use if it is still there.
    pub fn replace(&self, urls: Vec<String>) {
        let mut known = self.known.lock();
        if known.current.as_ref().is_some_and(|(url, _)| !urls.contains(url)) {
            known.current = None;
        }
        known.urls = urls;
    }

    /// Opens new connections from now on, with the certificates of now. Requests that are
    /// under way go on over the old ones.
    pub fn reconnect(&self) {
        self.known.lock().current = None;
    }

    fn pick(&self) -> Result<(String, Arc<TlsTransport>), BoxError> {
        let mut known = self.known.lock();
        if let Some(current) = &known.current {
            return Ok(current.clone());
        }
        let url = known.urls.first().cloned().ok_or("no API server is known")?;
        let made = (url.clone(), Arc::new(TlsTransport::new(url, (self.settings)()?)));
        known.current = Some(made.clone());
        Ok(made)
    }

    /// The next server's turn, unless another request has moved on already.
    fn give_up(&self, failed: &str) {
        let mut known = self.known.lock();
        if known.current.as_ref().is_some_and(|(url, _)| url == failed) {
            known.current = None;
            known.urls = plan_next(std::mem::take(&mut known.urls), failed);
        }
    }
}

/// The list with the server that failed at its end.
fn plan_next(mut urls: Vec<String>, failed: &str) -> Vec<String> {
    if let Some(place) = urls.iter().position(|url| url == failed) {
        let failed = urls.remove(place);
        urls.push(failed);
    }
    urls
}

#[async_trait]
impl Transport for Arc<Servers> {
    /// A request that failed is not sent to the next server: it may have been carried out. Its
    /// caller retries, as with any failure of the network.
    async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
        let (url, transport) = self.pick()?;
        let answered = transport.send(request).await;
        if answered.is_err() {
            self.give_up(&url);
        }
        answered
    }
}

/// Adds headers to every request: a bearer token, or the user to act as.
pub struct WithHeaders<T> {
    inner: T,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl<T: Transport> WithHeaders<T> {
    pub fn bearer(inner: T, token: &str) -> Result<Self, BoxError> {
        let mut value = HeaderValue::from_str(&format!("Bearer {token}"))?;
        value.set_sensitive(true);
        Ok(Self { inner, headers: vec![(http::header::AUTHORIZATION, value)] })
    }

    /// Acts as another user, if the machine's own may impersonate it.
    pub fn acting_as(inner: T, user: &str) -> Result<Self, BoxError> {
        let name = HeaderName::from_static("impersonate-user");
        Ok(Self { inner, headers: vec![(name, HeaderValue::from_str(user)?)] })
    }
}

#[async_trait]
impl<T: Transport> Transport for WithHeaders<T> {
    async fn send(&self, mut request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
        for (name, value) in &self.headers {
            request.headers_mut().insert(name.clone(), value.clone());
        }
        self.inner.send(request).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| format!("https://{name}:6443")).collect()
    }

    fn servers(names: &[&str]) -> Arc<Servers> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let settings: TlsSettings = Arc::new(move || {
            let config = rustls::ClientConfig::builder_with_provider(provider.clone());
            let config = config.with_safe_default_protocol_versions()?;
            Ok(config.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth())
        });
        Servers::new(urls(names), settings)
    }

    #[test]
    fn the_next_server_gets_its_turn_once_for_each_failure() {
        let servers = servers(&["a", "b", "c"]);
        let (first, _) = servers.pick().expect("a server");
        assert_eq!(first, "https://a:6443");
        // Two requests fail on one server: only one of them moves on.
        servers.give_up(&first);
        servers.give_up(&first);
        assert_eq!(servers.pick().expect("a server").0, "https://b:6443");
        assert_eq!(servers.urls(), urls(&["b", "c", "a"]));
    }

    #[test]
    fn a_new_list_keeps_the_server_in_use() {
        let servers = servers(&["a", "b"]);
        servers.pick().expect("a server");
        servers.replace(urls(&["c", "a"]));
        assert_eq!(servers.current().as_deref(), Some("https://a:6443"));
        servers.replace(urls(&["c"]));
        assert_eq!(servers.current().as_deref(), Some("https://c:6443"));
        servers.replace(Vec::new());
        assert!(servers.pick().is_err());
    }
}
