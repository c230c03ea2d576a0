//! Which identities a cluster has, under which file names (kubeadm's), and when a
//! certificate is made anew. Called by the ferry binary at every start, and while it runs
//! whenever a certificate is due or the host's addresses change.
//!
//! | files | who | names |
//! |---|---|---|
//! | `ca` | the cluster's authority | CN kubernetes-ca |
//! | `front-proxy-ca` | the authority of aggregating proxies | CN front-proxy-ca |
//! | `apiserver` | the API server's serving certificate | SANs, see `apiserver_names` |
//! | `apiserver-kubelet-client` | the API server towards kubelets | a role binding allows it |
//! | `front-proxy-client` | the API server towards aggregated servers | CN front-proxy-client |
//! | `sa.key`, `sa.pub` | signs service account tokens (ES256) | – |
//! | `admin` | the person who started the cluster | O system:masters |
//! | `scheduler`, `controller-manager`, `kube-proxy` | the parts | system:kube-… |
//! | `kubelet-<node>` | a kubelet towards the API server | system:node:<node>, O system:nodes |
//! | `kubelet-serving-<node>` | a kubelet's server | the node's name and addresses |

use crate::authority::{self, Authority, ClientSubject, Identity, ServingNames};
use crate::certificate::{self, Facts};
use crate::files::{self, Mode};
use crate::live::LiveIdentity;
use crate::{Error, tls};
use jiff::Timestamp;
use rcgen::PublicKeyData;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The names and addresses that certificates must carry.
#[derive(Clone, Debug)]
pub struct PkiConfig {
    /// The host's addresses, the advertised one among them.
    pub advertise_ips: Vec<IpAddr>,
    /// The nodes whose kubelets run here.
    pub node_names: Vec<String>,
    /// Further names of the API server, the host's own among them.
    pub dns_sans: Vec<String>,
    /// The address of Service default/kubernetes.
    pub service_ip: IpAddr,
    pub cluster_domain: String,
}

impl Default for PkiConfig {
    fn default() -> Self {
        Self {
            advertise_ips: Vec::new(),
            node_names: Vec::new(),
            dns_sans: Vec::new(),
            service_ip: IpAddr::V4(Ipv4Addr::new(10, 96, 0, 1)),
            cluster_domain: "cluster.local".into(),
        }
    }
}

/// The key pair that signs service account tokens.
#[derive(Clone)]
pub struct ServiceAccountKey {
    pub private_pem: String,
    pub public_pem: String,
}

impl std::fmt::Debug for ServiceAccountKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServiceAccountKey").field("public_pem", &self.public_pem).finish_non_exhaustive()
    }
}

/// A kubelet's two sides: towards the API server, and as a server itself.
#[derive(Clone, Debug)]
pub struct NodeIdentity {
    pub client: Identity,
    pub serving: Arc<LiveIdentity>,
}

/// Everything that [`ensure`] found or made.
#[derive(Clone, Debug)]
pub struct Pki {
    pub dir: PathBuf,
    pub ca: Arc<Authority>,
    pub front_proxy_ca: Arc<Authority>,
    pub apiserver: Arc<LiveIdentity>,
    pub apiserver_kubelet_client: Arc<LiveIdentity>,
    pub front_proxy_client: Arc<LiveIdentity>,
    pub service_account: ServiceAccountKey,
    pub admin: Identity,
    pub scheduler: Identity,
    pub controller_manager: Identity,
    pub kube_proxy: Identity,
    pub nodes: BTreeMap<String, NodeIdentity>,
}

/// Reads the cluster's key material from `dir`, making what is missing and re-issuing
/// certificates that lack a name or have less than a third of their life left.
pub fn ensure(dir: &Path, config: &PkiConfig) -> Result<Pki, Error> {
    ensure_at(dir, config, Timestamp::now())
}

/// [`ensure`] with the clock given.
pub fn ensure_at(dir: &Path, config: &PkiConfig, now: Timestamp) -> Result<Pki, Error> {
    files::ensure_directory(dir)?;
    let ca = Arc::new(Authority::ensure(dir, "ca", "kubernetes-ca", now)?);
    let front_proxy_ca = Arc::new(Authority::ensure(dir, "front-proxy-ca", "front-proxy-ca", now)?);
    let client = |stem: &str, user: &str, group: Option<&str>| {
        ensure_leaf(dir, stem, &ca, &Leaf::Client(ClientSubject::new(user, group)), now)
    };
    let mut nodes = BTreeMap::new();
    for name in &config.node_names {
        nodes.insert(name.clone(), ensure_node(dir, &ca, name, &config.advertise_ips, now)?);
    }
    let apiserver_leaf = Leaf::Serving(apiserver_names(config));
    let front_proxy_subject = Leaf::Client(ClientSubject::new("front-proxy-client", None));
    Ok(Pki {
        dir: dir.to_owned(),
        apiserver: LiveIdentity::new(with_authority(ensure_leaf(dir, "apiserver", &ca, &apiserver_leaf, now)?, &ca))?,
        apiserver_kubelet_client: LiveIdentity::new(client(
            "apiserver-kubelet-client",
            "kube-apiserver-kubelet-client",
            None,
        )?)?,
        front_proxy_client: LiveIdentity::new(ensure_leaf(
            dir,
            "front-proxy-client",
            &front_proxy_ca,
            &front_proxy_subject,
            now,
        )?)?,
        service_account: ensure_service_account_key(dir)?,
        admin: client("admin", "kubernetes-admin", Some("system:masters"))?,
        scheduler: client("scheduler", "system:kube-scheduler", None)?,
        controller_manager: client("controller-manager", "system:kube-controller-manager", None)?,
        kube_proxy: client("kube-proxy", "system:kube-proxy", None)?,
        nodes,
        ca,
        front_proxy_ca,
    })
}

impl Pki {
    /// The identity of a node that joined after the start.
    pub fn ensure_node(&self, name: &str, ips: &[IpAddr], now: Timestamp) -> Result<NodeIdentity, Error> {
        ensure_node(&self.dir, &self.ca, name, ips, now)
    }

    /// The API server's TLS side: any client certificate is taken in the handshake, and
    /// authentication judges it; the cluster's authority is named as a hint to clients.
    pub fn apiserver_tls(&self) -> Result<rustls::ServerConfig, Error> {
        let hints = [self.ca.certificate_der().clone(), self.front_proxy_ca.certificate_der().clone()];
        tls::live_server_config(self.apiserver.clone(), tls::ClientCertificates::Requested { hints: &hints })
    }

    /// Makes anew what is due or lacks a name by now, as at a start. Whoever holds one of
    /// the live identities uses the new certificate from the next connection on. Gives the
    /// names of the files that changed beside what is there now.
    pub fn renew(&self, config: &PkiConfig, now: Timestamp) -> Result<(Self, Vec<String>), Error> {
        let mut fresh = ensure_at(&self.dir, config, now)?;
        let before: BTreeMap<String, String> = self.leaves().into_iter().collect();
        let changed = fresh.leaves().into_iter().filter(|(stem, pem)| before.get(stem) != Some(pem));
        let changed = changed.map(|(stem, _)| stem).collect();
        fresh.apiserver = self.apiserver.replaced_by(&fresh.apiserver);
        fresh.apiserver_kubelet_client = self.apiserver_kubelet_client.replaced_by(&fresh.apiserver_kubelet_client);
        fresh.front_proxy_client = self.front_proxy_client.replaced_by(&fresh.front_proxy_client);
        for (name, node) in &mut fresh.nodes {
            if let Some(known) = self.nodes.get(name) {
                node.serving = known.serving.replaced_by(&node.serving);
            }
        }
        Ok((fresh, changed))
    }

    /// When the first certificate is due to be made anew.
    pub fn next_renewal(&self) -> Timestamp {
        let leaves = self.leaves();
        let due = leaves.iter().filter_map(|(stem, pem)| Some(Facts::of_pem(stem, pem).ok()?.renewal()));
        due.min().unwrap_or(Timestamp::MAX)
    }

    /// Every certificate but those of the authorities, by the name of its file.
    fn leaves(&self) -> Vec<(String, String)> {
        let plain = [
            ("admin", &self.admin),
            ("scheduler", &self.scheduler),
            ("controller-manager", &self.controller_manager),
            ("kube-proxy", &self.kube_proxy),
        ];
        let live = [
            ("apiserver", &self.apiserver),
            ("apiserver-kubelet-client", &self.apiserver_kubelet_client),
            ("front-proxy-client", &self.front_proxy_client),
        ];
        let plain = plain.into_iter().map(|(stem, identity)| (stem.to_owned(), identity.certificate_pem.clone()));
        let live = live.into_iter().map(|(stem, live)| (stem.to_owned(), live.identity().certificate_pem.clone()));
        let nodes = self.nodes.iter().flat_map(|(name, node)| {
            let serving = node.serving.identity().certificate_pem.clone();
            let client = node.client.certificate_pem.clone();
            [(format!("kubelet-{name}"), client), (format!("kubelet-serving-{name}"), serving)]
        });
        plain.chain(live).chain(nodes).collect()
    }
}

/// Every name under which a client reaches the API server.
fn apiserver_names(config: &PkiConfig) -> ServingNames {
    let mut dns_names: BTreeSet<String> =
        ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"].map(str::to_owned).into();
    dns_names.insert(format!("kubernetes.default.svc.{}", config.cluster_domain));
    dns_names.extend(config.dns_sans.iter().chain(&config.node_names).filter(|name| !name.is_empty()).cloned());
    let mut ips = loopback();
    ips.insert(config.service_ip);
    ips.extend(&config.advertise_ips);
    ServingNames { common_name: "kube-apiserver".into(), organization: None, dns_names, ips }
}

/// The API server shows its authority too: a machine that joins knows the authority's hash
/// alone (`pin.rs`).
fn with_authority(leaf: Identity, ca: &Authority) -> Identity {
    Identity { certificate_pem: leaf.certificate_pem + ca.certificate_pem(), ..leaf }
}

fn loopback() -> BTreeSet<IpAddr> {
    [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)].into()
}

fn ensure_node(dir: &Path, ca: &Authority, name: &str, ips: &[IpAddr], now: Timestamp) -> Result<NodeIdentity, Error> {
    let user = format!("system:node:{name}");
    let mut addresses = loopback();
    addresses.extend(ips);
    let serving = ServingNames {
        common_name: user.clone(),
        organization: Some("system:nodes".into()),
        dns_names: ["localhost".to_owned(), name.to_owned()].into(),
        ips: addresses,
    };
    let client = Leaf::Client(ClientSubject::new(user, Some("system:nodes")));
    Ok(NodeIdentity {
        client: ensure_leaf(dir, &format!("kubelet-{name}"), ca, &client, now)?,
        serving: LiveIdentity::new(ensure_leaf(
            dir,
            &format!("kubelet-serving-{name}"),
            ca,
            &Leaf::Serving(serving),
            now,
        )?)?,
    })
}

/// What a certificate is to be.
enum Leaf {
    Client(ClientSubject),
    Serving(ServingNames),
}

/// The identity in `<stem>.crt` and `<stem>.key`. The key stays for ever; the certificate
/// is replaced when it no longer is what it should be.
fn ensure_leaf(dir: &Path, stem: &str, ca: &Authority, leaf: &Leaf, now: Timestamp) -> Result<Identity, Error> {
    let certificate_path = dir.join(format!("{stem}.crt"));
    let key_path = dir.join(format!("{stem}.key"));
    let key_pem = match files::read(&key_path)? {
        Some(pem) => pem,
        None => files::create_once(&key_path, &authority::generate_key(stem)?.serialize_pem(), Mode::Private)?,
    };
    let key = authority::parse_key(&key_path.display().to_string(), &key_pem)?;
    if let Some(pem) = files::read(&certificate_path)?
        && let Ok(chain) = certificate::parse_chain(stem, &pem)
        && ca.has_signed(&chain[0])
        && let Ok(facts) = Facts::of(&chain[0])
        && facts.public_key == key.subject_public_key_info()
        && is_current(&facts, leaf, now)
    {
        return Ok(Identity { certificate_pem: pem, key_pem });
    }
    let issued = match leaf {
        Leaf::Client(subject) => ca.issue_client_with(&key, subject, now)?,
        Leaf::Serving(names) => ca.issue_serving_with(&key, names, now)?,
    };
    files::replace(&certificate_path, &issued.certificate_pem, Mode::Public)?;
    Ok(Identity { certificate_pem: issued.certificate_pem, key_pem })
}

/// A serving certificate may name more than is asked for: an address that a host has lost
/// does no harm, while re-issuing at every change of a DHCP lease would.
fn is_current(facts: &Facts, leaf: &Leaf, now: Timestamp) -> bool {
    if facts.is_due_for_renewal(now) {
        return false;
    }
    match leaf {
        Leaf::Client(subject) => {
            facts.common_name == subject.user
                && facts.organizations.iter().map(String::as_str).eq(subject.group.as_deref())
        }
        Leaf::Serving(names) => names.dns_names.is_subset(&facts.dns_names) && names.ips.is_subset(&facts.ips),
    }
}

fn ensure_service_account_key(dir: &Path) -> Result<ServiceAccountKey, Error> {
    let path = dir.join("sa.key");
    let private_pem = match files::read(&path)? {
        Some(pem) => pem,
        None => files::create_once(&path, &authority::generate_key("sa")?.serialize_pem(), Mode::Private)?,
    };
    // The public half follows from the private one, so it is rewritten when it differs.
    let public_pem = authority::parse_key(&path.display().to_string(), &private_pem)?.public_key_pem();
    let public_path = dir.join("sa.pub");
    if files::read(&public_path)?.as_deref() != Some(&public_pem) {
        files::replace(&public_path, &public_pem, Mode::Public)?;
    }
    Ok(ServiceAccountKey { private_pem, public_pem })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    fn at(days: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + days * 86_400).expect("in range")
    }

    fn config() -> PkiConfig {
        PkiConfig {
            advertise_ips: vec!["192.0.2.7".parse().expect("an address")],
            node_names: vec!["a".into()],
            dns_sans: vec!["host.example".into()],
            ..Default::default()
        }
    }

    fn contents(dir: &Path) -> BTreeMap<String, String> {
        std::fs::read_dir(dir)
            .expect("listed")
            .map(|entry| entry.expect("an entry"))
            .map(|entry| {
                let text = std::fs::read_to_string(entry.path()).expect("text");
                (entry.file_name().to_string_lossy().into_owned(), text)
            })
            .collect()
    }

    /// The names of the files that differ between two states of the directory.
    fn changed(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
        after.iter().filter(|(name, text)| before.get(*name) != Some(text)).map(|(name, _)| name.clone()).collect()
    }

    #[test]
    fn a_second_start_changes_nothing() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        ensure_at(dir.path(), &config(), at(0)).expect("made");
        let before = contents(dir.path());
        ensure_at(dir.path(), &config(), at(1)).expect("read");
        assert_eq!(changed(&before, &contents(dir.path())), Vec::<String>::new());
        assert_eq!(before.len(), 24, "{:?}", before.keys());
    }

    #[test]
    fn keys_are_private_and_certificates_are_not() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        ensure_at(dir.path(), &config(), at(0)).expect("made");
        for entry in std::fs::read_dir(dir.path()).expect("listed") {
            let entry = entry.expect("an entry");
            let mode = entry.metadata().expect("there").permissions().mode() & 0o777;
            let name = entry.file_name().to_string_lossy().into_owned();
            assert_eq!(mode, if name.ends_with(".key") { 0o600 } else { 0o644 }, "{name}");
        }
    }

    #[test]
    fn a_new_address_reissues_serving_certificates_only() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        ensure_at(dir.path(), &config(), at(0)).expect("made");
        let before = contents(dir.path());
        let mut moved = config();
        moved.advertise_ips = vec!["192.0.2.8".parse().expect("an address")];
        let pki = ensure_at(dir.path(), &moved, at(1)).expect("read");
        assert_eq!(changed(&before, &contents(dir.path())), ["apiserver.crt", "kubelet-serving-a.crt"]);
        let facts = Facts::of_pem("apiserver", &pki.apiserver.identity().certificate_pem).expect("readable");
        assert!(facts.ips.contains(&moved.advertise_ips[0]));
        // The address that went away asks for nothing.
        let before = contents(dir.path());
        moved.advertise_ips.clear();
        ensure_at(dir.path(), &moved, at(1)).expect("read");
        assert_eq!(changed(&before, &contents(dir.path())), Vec::<String>::new());
    }

    #[test]
    fn certificates_are_renewed_in_their_last_third_and_keys_stay() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        ensure_at(dir.path(), &config(), at(0)).expect("made");
        let before = contents(dir.path());
        ensure_at(dir.path(), &config(), at(240)).expect("read");
        assert_eq!(changed(&before, &contents(dir.path())), Vec::<String>::new());
        ensure_at(dir.path(), &config(), at(250)).expect("read");
        let changed = changed(&before, &contents(dir.path()));
        assert_eq!(changed.len(), 9, "{changed:?}");
        assert!(changed.iter().all(|name| name.ends_with(".crt") && !name.contains("ca.crt")), "{changed:?}");
    }

    /// A year ahead when the cluster was made, or a year back: all that others look at is
    /// valid at the first start with the right clock, and the keys are the same.
    #[test]
    fn a_cluster_that_was_made_with_a_clock_a_year_off_is_valid_by_the_right_one() {
        for off in [-366, 366] {
            let dir = tempfile::tempdir().expect("a temporary directory");
            let key = ensure_at(dir.path(), &config(), at(1000 + off)).expect("made").ca.facts().public_key.clone();
            let now = at(1000);
            let pki = ensure_at(dir.path(), &config(), now).expect("healed");
            assert_eq!(pki.ca.facts().public_key, key);
            for (name, text) in contents(dir.path()).into_iter().filter(|(name, _)| name.ends_with(".crt")) {
                let facts = Facts::of_pem(&name, &text).expect("readable");
                assert!(facts.not_before <= now && now < facts.not_after, "{name} with the clock {off} days off");
            }
        }
    }

    #[test]
    fn a_crash_between_key_and_certificate_is_healed_and_a_lost_authority_key_is_named() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        ensure_at(dir.path(), &config(), at(0)).expect("made");
        let key = std::fs::read_to_string(dir.path().join("ca.key")).expect("the key");
        std::fs::remove_file(dir.path().join("ca.crt")).expect("removed");
        std::fs::write(dir.path().join("admin.crt"), "torn").expect("written");
        let pki = ensure_at(dir.path(), &config(), at(0)).expect("healed");
        assert_eq!(std::fs::read_to_string(dir.path().join("ca.key")).expect("the key"), key);
        assert!(pki.admin.certificate_pem.starts_with("-----BEGIN CERTIFICATE-----"));

        std::fs::remove_file(dir.path().join("ca.key")).expect("removed");
        let error = ensure_at(dir.path(), &config(), at(0)).expect_err("no key").to_string();
        assert!(error.contains("ca.crt is there but") && error.contains("ca.key is missing"), "{error}");
    }

    #[test]
    fn renewal_reaches_those_who_hold_an_identity() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let pki = ensure_at(dir.path(), &config(), at(0)).expect("made");
        let held = pki.apiserver.clone();
        let facts = |held: &LiveIdentity| Facts::of_pem("held", &held.identity().certificate_pem).expect("readable");
        let first = facts(&held);

        let (pki, changed) = pki.renew(&config(), at(1)).expect("looked at");
        assert_eq!((changed, facts(&held)), (vec![], first.clone()), "nothing is due");

        let mut moved = config();
        moved.advertise_ips.push("192.0.2.8".parse().expect("an address"));
        let (pki, changed) = pki.renew(&moved, at(1)).expect("renewed");
        assert_eq!(changed, ["apiserver", "kubelet-serving-a"]);
        assert!(facts(&held).ips.contains(&"192.0.2.8".parse().expect("an address")));

        let due = pki.next_renewal();
        assert_eq!(due, Facts::of_pem("admin", &pki.admin.certificate_pem).expect("readable").renewal());
        let (pki, changed) = pki.renew(&moved, due).expect("renewed");
        assert!(changed.contains(&"admin".to_owned()) && !changed.contains(&"apiserver".to_owned()), "{changed:?}");
        assert!(pki.next_renewal() > due);
        let (_, changed) = pki.renew(&moved, at(1000)).expect("what is over is renewed too");
        assert_eq!(changed.len(), 9, "{changed:?}");
        assert_eq!(facts(&held).public_key, first.public_key, "the key stays");
    }

    #[test]
    fn every_identity_is_what_the_table_says() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let pki = ensure_at(dir.path(), &config(), at(0)).expect("made");
        let cases = [
            (&pki.admin, "kubernetes-admin", &["system:masters"][..]),
            (&pki.scheduler, "system:kube-scheduler", &[]),
            (&pki.controller_manager, "system:kube-controller-manager", &[]),
            (&pki.kube_proxy, "system:kube-proxy", &[]),
            (&*pki.apiserver_kubelet_client.identity(), "kube-apiserver-kubelet-client", &[]),
            (&pki.nodes["a"].client, "system:node:a", &["system:nodes"]),
        ];
        let verifier = tls::client_verifier(std::slice::from_ref(pki.ca.certificate_der())).expect("a verifier");
        let now = rustls::pki_types::UnixTime::since_unix_epoch(Duration::from_secs(1_800_000_000));
        for (identity, user, groups) in cases {
            let chain = certificate::parse_chain(user, &identity.certificate_pem).expect("a chain");
            let facts = Facts::of(&chain[0]).expect("readable");
            assert_eq!(
                (facts.common_name.as_str(), facts.organizations.as_slice()),
                (user, &groups.map_to_owned()[..])
            );
            verifier.verify_client_cert(&chain[0], &[], now).expect("the authority vouches for it");
        }
        let proxy =
            certificate::parse_chain("proxy", &pki.front_proxy_client.identity().certificate_pem).expect("a chain");
        assert!(verifier.verify_client_cert(&proxy[0], &[], now).is_err(), "another authority's");
        let server = certificate::parse_chain("server", &pki.apiserver.identity().certificate_pem).expect("a chain");
        assert!(verifier.verify_client_cert(&server[0], &[], now).is_err(), "not for clients");
        let names = Facts::of(&server[0]).expect("readable");
        for name in ["localhost", "kubernetes", "kubernetes.default.svc.cluster.local", "host.example", "a"] {
            assert!(names.dns_names.contains(name), "{name}");
        }
        for ip in ["127.0.0.1", "::1", "10.96.0.1", "192.0.2.7"] {
            assert!(names.ips.contains(&ip.parse().expect("an address")), "{ip}");
        }
    }

    trait MapToOwned {
        fn map_to_owned(&self) -> Vec<String>;
    }

    impl MapToOwned for [&str] {
        fn map_to_owned(&self) -> Vec<String> {
            self.iter().map(|text| (*text).to_owned()).collect()
        }
    }
}
