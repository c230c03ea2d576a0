//! One extender behind its URL: a POST for each verb, within its time, over TLS as configured.

use super::protocol::{
    FilterResult, MetaVictims, read_error, read_filter, read_scores, read_victims, render_binding, render_candidates,
    render_nodes,
};
use super::{ExtenderConfig, TlsConfig};
use crate::framework::Candidate;
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use ferry_client::{Body, full_body};
use ferry_pki::server_trust::ServerTrust;
use http_body_util::{BodyExt, Limited};
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The longest answer: all nodes of a large cluster, each some kilobytes.
const MAX_ANSWER: usize = 256 << 20;

/// The machine's authorities, where Go looks for them.
const SYSTEM_FILES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

pub struct HttpExtender {
    pub config: ExtenderConfig,
    client: Client<HttpsConnector<HttpConnector>, Body>,
}

impl HttpExtender {
    /// An error names a certificate that cannot be read.
    pub fn new(config: ExtenderConfig) -> Result<Self, String> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        let builder = HttpsConnectorBuilder::new().with_tls_config(tls_config(&config.tls)?).https_or_http();
        let builder = if config.tls.server_name.is_empty() {
            builder
        } else {
            let name = ServerName::try_from(config.tls.server_name.clone())
                .map_err(|error| format!("serverName {:?}: {error}", config.tls.server_name))?;
            builder.with_server_name_resolver(FixedServerNameResolver::new(name))
        };
        let connector = builder.enable_http1().wrap_connector(tcp);
        Ok(Self { client: Client::builder(TokioExecutor::new()).build(connector), config })
    }

    pub async fn filter(&self, pod: &PodInfo, nodes: &[&NodeInfo]) -> Result<FilterResult, String> {
        let by_name = self.config.is_node_cache_capable;
        let answer = self.send(&self.config.filter, render_nodes(pod, nodes, by_name)).await?;
        read_filter(&answer, by_name)
    }

    pub async fn prioritize(&self, pod: &PodInfo, nodes: &[&NodeInfo]) -> Result<HashMap<String, i64>, String> {
        let body = render_nodes(pod, nodes, self.config.is_node_cache_capable);
        Ok(read_scores(&self.send(&self.config.prioritize, body).await?))
    }

    pub async fn preempt(
        &self,
        pod: &PodInfo,
        candidates: &[Candidate],
    ) -> Result<BTreeMap<String, MetaVictims>, String> {
        let body = render_candidates(pod, candidates, self.config.is_node_cache_capable);
        Ok(read_victims(&self.send(&self.config.preempt, body).await?))
    }

    pub async fn bind(&self, pod: &PodInfo, node: &str) -> Result<(), String> {
        read_error(&self.send(&self.config.bind, render_binding(pod, node)).await?)
    }

    async fn send(&self, verb: &str, body: Value) -> Result<Value, String> {
        let url = format!("{}/{verb}", self.config.url.trim_end_matches('/'));
        let request = http::Request::post(&url)
            .header(http::header::CONTENT_TYPE, "application/json")
            .body(full_body(body.to_string()))
            .map_err(|error| format!("Post {url:?}: {error}"))?;
        let exchange = async {
            let response = self.client.request(request).await.map_err(|error| format!("Post {url:?}: {error}"))?;
            if response.status() != http::StatusCode::OK {
                let code = response.status().as_u16();
                return Err(format!("failed {verb} with extender at URL {url}, code {code}"));
            }
            let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await;
            let body = body.map_err(|error| format!("Post {url:?}: {error}"))?.to_bytes();
            serde_json::from_slice(&body).map_err(|error| format!("Post {url:?}: {error}"))
        };
        let late = |_| Err(format!("Post {url:?}: context deadline exceeded"));
        tokio::time::timeout(self.config.timeout, exchange).await.unwrap_or_else(late)
    }
}

fn tls_config(tls: &TlsConfig) -> Result<rustls::ClientConfig, String> {
    let builder = rustls::ClientConfig::builder_with_provider(ferry_pki::tls::provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    // `insecure`, or HTTPS without an authority.
    let builder = if tls.is_insecure {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(ServerTrust::anyone()))
    } else {
        builder.with_root_certificates(read_authorities(tls)?)
    };
    let Some((certificate, key)) = &tls.identity else { return Ok(builder.with_no_client_auth()) };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
    let chain = chain.map_err(|error| format!("tls: failed to find any PEM data in certificate input: {error}"))?;
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|error| format!("tls: failed to find any PEM data in key input: {error}"))?;
    builder.with_client_auth_cert(chain, key).map_err(|error| format!("tls: {error}"))
}

fn read_authorities(tls: &TlsConfig) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    match &tls.authorities {
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|error| format!("unable to load root certificates: {error}"))?;
                roots.add(certificate).map_err(|error| format!("unable to load root certificates: {error}"))?;
            }
            if roots.is_empty() {
                return Err("unable to load root certificates: unable to parse bytes as PEM block".to_owned());
            }
        }
        None => {
            let pem = SYSTEM_FILES.iter().find_map(|file| std::fs::read(file).ok()).unwrap_or_default();
            roots.add_parsable_certificates(CertificateDer::pem_slice_iter(&pem).filter_map(Result::ok));
        }
    }
    Ok(roots)
}
