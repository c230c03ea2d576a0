//! The identity of a node that joined: a client certificate for `system:node:<name>` and a
//! serving certificate for its kubelet. Both are asked for with CertificateSigningRequests, the
//! first one with a bootstrap token and every later one with the certificate before it.
//!
//! ```text
//! pki/ca.crt               the cluster's authority
//! pki/kubelet-client.pem   certificate and key in one file, so that both change at once
//! pki/kubelet-serving.pem
//! ```

use anyhow::{Context, Result, bail};
use ferry_api::rules::condition;
use ferry_api::view::certificates::v1::{
    CertificateSigningRequest, CertificateSigningRequestSpec, CertificateSigningRequestView,
};
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_client::{Client, Informers, ListParams, Servers};
use ferry_pki::files::{self, Mode};
use ferry_pki::request::{RequestedNames, generate_key, render_request};
use ferry_pki::{Authority, Facts, Identity, LiveIdentity, ServingNames};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const SERVING_SIGNER: &str = "kubernetes.io/kubelet-serving";
/// How long a request may stay undecided before another one is made (upstream's csr.go).
const DECISION_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// The clock that timers go by stands still while a machine sleeps.
const LOOK_EVERY: Duration = Duration::from_secs(60 * 60);
const RETRY_AFTER: Duration = Duration::from_secs(5);
const LAST_RETRY: Duration = Duration::from_secs(5 * 60);

pub struct AgentIdentity {
    dir: PathBuf,
    node_name: String,
    pub ca_pem: String,
    pub client: Arc<LiveIdentity>,
    pub serving: Arc<LiveIdentity>,
}

/// What a request is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Client,
    Serving,
}

impl Purpose {
    fn file(self) -> &'static str {
        match self {
            Self::Client => "kubelet-client.pem",
            Self::Serving => "kubelet-serving.pem",
        }
    }

    fn signer(self) -> &'static str {
        match self {
            Self::Client => CLIENT_SIGNER,
            Self::Serving => SERVING_SIGNER,
        }
    }

    fn usages(self) -> [&'static str; 2] {
        ["digital signature", if self == Self::Client { "client auth" } else { "server auth" }]
    }
}

impl AgentIdentity {
    /// The identity that is here; `None` where this machine has none.
    pub fn load(dir: &Path, node_name: &str) -> Result<Option<Self>> {
        let ca_pem = files::read(&dir.join("ca.crt"))?;
        let client = read_pair(&dir.join(Purpose::Client.file()))?;
        let (Some(ca_pem), Some(client)) = (ca_pem, client) else { return Ok(None) };
        let serving = match read_pair(&dir.join(Purpose::Serving.file()))? {
            Some(serving) => serving,
            None => provisional(node_name)?,
        };
        Ok(Some(Self {
            dir: dir.to_owned(),
            node_name: node_name.to_owned(),
            ca_pem,
            client: LiveIdentity::new(client)?,
            serving: LiveIdentity::new(serving)?,
        }))
    }

    /// Asks for the first client certificate. Nothing is written before it is there.
    pub async fn bootstrap(
        dir: &Path,
        node_name: &str,
        ca_pem: &str,
        client: &Client,
        patience: Duration,
    ) -> Result<Self> {
        let issued = request(client, Purpose::Client, &names(Purpose::Client, node_name, &[]), patience).await?;
        files::ensure_directory(dir)?;
        files::replace(&dir.join("ca.crt"), ca_pem, Mode::Public)?;
        write_pair(&dir.join(Purpose::Client.file()), &issued)?;
        Self::load(dir, node_name)?.context("the identity that was just written is gone")
    }

    /// Forgets who this machine was.
    pub fn remove(dir: &Path) {
        for file in ["ca.crt", Purpose::Client.file(), Purpose::Serving.file()] {
            let _ = std::fs::remove_file(dir.join(file));
        }
    }

    /// Until the client certificate ends.
    pub fn is_expired(&self, now: jiff::Timestamp) -> bool {
        Facts::of_pem("client", &self.client.identity().certificate_pem).is_ok_and(|facts| facts.not_after <= now)
    }

    /// Keeps both certificates current until `shutdown`: asked for anew in the last third of
    /// their life, and the serving one when it does not name an address of the node.
    pub async fn keep_current(
        self: Arc<Self>,
        client: Client,
        servers: Arc<Servers>,
        addresses: Vec<IpAddr>,
        shutdown: CancellationToken,
    ) -> Result<()> {
        let mut failures = 0;
        loop {
            let now = jiff::Timestamp::now();
            let renewed = tokio::select! {
                () = shutdown.cancelled() => return Ok(()),
                renewed = self.renew_due(&client, &servers, &addresses, now) => renewed,
            };
            let pause = match renewed {
                Ok(()) => {
                    failures = 0;
                    self.next_renewal(now).clamp(RETRY_AFTER, LOOK_EVERY)
                }
                Err(error) => {
                    tracing::warn!(error = format!("{error:#}"), "cannot renew a certificate, and will try again");
                    failures += 1;
                    RETRY_AFTER.saturating_mul(1 << failures.min(6)).min(LAST_RETRY)
                }
            };
            tokio::select! {
                () = shutdown.cancelled() => return Ok(()),
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    async fn renew_due(
        &self,
        client: &Client,
        servers: &Servers,
        addresses: &[IpAddr],
        now: jiff::Timestamp,
    ) -> Result<()> {
        if is_due(&self.client, &self.ca_pem, &[], now) {
            self.renew(client, Purpose::Client, &[]).await?;
            // From now on with the new certificate.
            servers.reconnect();
        }
        if is_due(&self.serving, &self.ca_pem, addresses, now) {
            self.renew(client, Purpose::Serving, addresses).await?;
        }
        Ok(())
    }

    async fn renew(&self, client: &Client, purpose: Purpose, addresses: &[IpAddr]) -> Result<()> {
        let names = names(purpose, &self.node_name, addresses);
        let issued = request(client, purpose, &names, DECISION_TIMEOUT).await?;
        write_pair(&self.dir.join(purpose.file()), &issued)?;
        let live = if purpose == Purpose::Client { &self.client } else { &self.serving };
        live.replace(issued)?;
        tracing::info!(signer = purpose.signer(), "renewed a certificate of this node");
        Ok(())
    }

    fn next_renewal(&self, now: jiff::Timestamp) -> Duration {
        let due = [&self.client, &self.serving].into_iter().filter_map(|live| {
            Facts::of_pem("ours", &live.identity().certificate_pem).ok().map(|facts| facts.renewal())
        });
        due.min().map_or(Duration::ZERO, |at| Duration::try_from(at.duration_since(now)).unwrap_or_default())
    }
}

fn is_due(live: &LiveIdentity, ca_pem: &str, addresses: &[IpAddr], now: jiff::Timestamp) -> bool {
    let (Ok(facts), Ok(ca)) =
        (Facts::of_pem("ours", &live.identity().certificate_pem), Facts::of_pem("the authority", ca_pem))
    else {
        return true;
    };
    // The provisional one is its own authority's.
    let is_provisional = facts.organizations.is_empty() || ca.public_key == facts.public_key;
    is_provisional || facts.is_due_for_renewal(now) || addresses.iter().any(|ip| !facts.ips.contains(ip))
}

/// Shown until the cluster has signed a better one, which needs the Node to be there; the API
/// server takes no answer under it.
fn provisional(node_name: &str) -> Result<Identity> {
    let now = jiff::Timestamp::now();
    let names = ServingNames { common_name: node_name.to_owned(), ..Default::default() };
    Ok(Authority::generate("provisional", now)?.issue_serving(&names, now)?)
}

fn names(purpose: Purpose, node_name: &str, addresses: &[IpAddr]) -> RequestedNames {
    let serves = purpose == Purpose::Serving;
    RequestedNames {
        common_name: format!("system:node:{node_name}"),
        organization: "system:nodes".to_owned(),
        dns_names: if serves { vec![node_name.to_owned()] } else { Vec::new() },
        ips: addresses.to_vec(),
    }
}

/// Makes a key, asks for its certificate and waits for the answer.
async fn request(client: &Client, purpose: Purpose, names: &RequestedNames, patience: Duration) -> Result<Identity> {
    let key_pem = generate_key(&names.common_name)?;
    let spec = CertificateSigningRequestSpec::new()
        .with_request(render_request(names, &key_pem)?.into_bytes())
        .with_signer_name(purpose.signer())
        .with_usages(purpose.usages());
    let metadata = ObjectMeta::new().with_generate_name("csr-");
    let asked = CertificateSigningRequest::new().with_metadata(metadata).with_spec(spec);
    let requests = client.api::<CertificateSigningRequest>("");
    let created = requests.create(&asked).await.context("cannot ask for a certificate")?;
    let name = created.name().to_owned();
    match tokio::time::timeout(patience, await_certificate(client, &name)).await {
        Ok(issued) => Ok(Identity { certificate_pem: issued?, key_pem }),
        Err(_) => bail!(
            "certificatesigningrequest {name} was not decided within {patience:?}; `kubectl describe csr {name}` says more"
        ),
    }
}

async fn await_certificate(client: &Client, name: &str) -> Result<String> {
    let stop = CancellationToken::new();
    let _stops = stop.clone().drop_guard();
    let informers = Informers::with_shutdown(client.clone(), stop);
    let field_selector = Some(format!("metadata.name={name}"));
    let informer = informers.with::<CertificateSigningRequest>(ListParams { field_selector, ..Default::default() });
    let mut events = informer.subscribe();
    while let Some(event) = events.recv().await {
        if let Some(issued) = decision(event.object().view())? {
            return Ok(issued);
        }
    }
    bail!("the watch of certificatesigningrequest {name} has ended")
}

fn decision(request: CertificateSigningRequestView<'_>) -> Result<Option<String>> {
    for kind in ["Denied", "Failed"] {
        if let Some(condition) = condition::find(request.status().conditions(), kind) {
            bail!("the request for a certificate is {kind}: {}: {}", condition.reason(), condition.message());
        }
    }
    let issued = String::from_utf8(request.status().certificate().decode()).context("the certificate is no PEM")?;
    Ok(Some(issued).filter(|pem| !pem.is_empty()))
}

fn write_pair(path: &Path, identity: &Identity) -> Result<()> {
    Ok(files::replace(path, &format!("{}{}", identity.certificate_pem, identity.key_pem), Mode::Private)?)
}

fn read_pair(path: &Path) -> Result<Option<Identity>> {
    let Some(text) = files::read(path)? else { return Ok(None) };
    let Some(at) = text.find("-----BEGIN PRIVATE KEY-----") else {
        bail!("{} holds no private key; remove it, and this node asks for another", path.display());
    };
    let (certificate, key) = text.split_at(at);
    Ok(Some(Identity { certificate_pem: certificate.to_owned(), key_pem: key.to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use serde_json::json;

    #[test]
    fn a_pair_survives_the_disk() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("pair.pem");
        assert!(read_pair(&path).expect("read").is_none());
        let identity = provisional("a").expect("made");
        write_pair(&path, &identity).expect("written");
        assert!(read_pair(&path).expect("read") == Some(identity));
        std::fs::write(&path, "torn").expect("written");
        assert!(read_pair(&path).is_err());
    }

    #[test]
    fn a_provisional_certificate_and_one_without_an_address_are_due() {
        let now = jiff::Timestamp::now();
        let ca = Authority::generate("kubernetes-ca", now).expect("an authority");
        let address: IpAddr = "192.0.2.7".parse().expect("an address");
        let live = LiveIdentity::new(provisional("a").expect("made")).expect("live");
        assert!(is_due(&live, ca.certificate_pem(), &[], now));
        let names = ServingNames {
            common_name: "system:node:a".into(),
            organization: Some("system:nodes".into()),
            ips: [address].into(),
            ..Default::default()
        };
        live.replace(ca.issue_serving(&names, now).expect("issued")).expect("replaced");
        assert!(!is_due(&live, ca.certificate_pem(), &[address], now));
        assert!(is_due(&live, ca.certificate_pem(), &["192.0.2.8".parse().expect("an address")], now));
        let late = now + Duration::from_secs(300 * 86_400);
        assert!(is_due(&live, ca.certificate_pem(), &[address], late));
    }

    #[test]
    fn a_refusal_is_an_error_with_its_reason() {
        let request = |conditions: serde_json::Value, certificate: &str| {
            CertificateSigningRequest::from(json!({"status": {"conditions": conditions, "certificate": certificate}}))
        };
        assert!(decision(request(json!([]), "").view()).expect("undecided").is_none());
        let approved = request(json!([{"type": "Approved", "status": "True"}]), "UEVN");
        assert_eq!(decision(approved.view()).expect("issued").as_deref(), Some("PEM"));
        let denied = request(json!([{"type": "Denied", "status": "True", "reason": "No", "message": "not you"}]), "");
        assert!(decision(denied.view()).expect_err("denied").to_string().contains("Denied: No: not you"));
    }
}
