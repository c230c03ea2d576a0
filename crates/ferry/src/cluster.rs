//! What one cluster is on this machine: its directories, addresses, ports and names.
//!
//! Decided at the first `ferry up` and kept in `cluster.json`, so that every later verb
//! means the same cluster. The cluster in the default directories is number 0 and has
//! upstream's usual numbers; each further cluster takes the next free number, from which
//! its bridge, nft table, cgroup, ports and address ranges follow, so that clusters on
//! one machine never meet. `cluster_registry.rs` keeps the number for it.
//!
//! **Invariant:** flags are remembered by a start that succeeded, never by one that failed.

use crate::access::Access;
use crate::audit::Audit;
use crate::cluster_registry::{ClusterRegistry, Registration, is_same};
use crate::debugging::Debugging;
use crate::node::settings::{NetworkFlags, NodeFlags, NodeSettings};
use crate::resolve::resolve;
use crate::role::{Joined, Role};
use crate::scheduling::Scheduling;
use crate::{Place, cluster_registry};
use anyhow::{Context, Result, bail};
use ferry_api::rules::cidr::masked;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

/// Clusters beyond this number would run out of address ranges.
const MAX_CLUSTERS: u8 = 10;
/// Upstream's maxPods.
const DEFAULT_MAX_PODS: u32 = 110;
/// Upstream's node-cidr-mask-size: the part of the cluster's range that a node gets.
const NODE_MASK_SIZE: u8 = 24;
pub const DEFAULT_DATA_DIR: &str = "/var/lib/ferry";
const DEFAULT_RUN_DIR: &str = "/run/ferry";

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Cluster {
    pub number: u8,
    pub data_dir: PathBuf,
    pub run_dir: PathBuf,
    /// The context in the kubeconfig; also the bridge's, nft table's and cgroup's name.
    pub name: String,
    pub node_name: String,
    pub node_ip: IpAddr,
    pub api_port: u16,
    pub kubelet_port: u16,
    pub pod_cidr: String,
    pub service_cidr: String,
    pub cluster_domain: String,
    /// An existing runtime's socket; `None` when ferry runs its own containerd.
    pub runtime_endpoint: Option<PathBuf>,
    #[serde(default)]
    pub access: Access,
    #[serde(default)]
    pub audit: Audit,
    #[serde(default)]
    pub scheduling: Scheduling,
    #[serde(default)]
    pub debugging: Debugging,
    /// Said for one start, and never remembered.
    #[serde(skip)]
    pub accept_data_loss: bool,
    #[serde(default)]
    pub max_pods: Option<u32>,
    #[serde(default)]
    pub role: Role,
    #[serde(default)]
    pub node: NodeSettings,
    /// The cluster that this machine has joined; empty where the control plane is here.
    #[serde(default)]
    pub joined: Joined,
    /// Has a start succeeded? Until one has, the next may decide everything anew.
    #[serde(default = "has_always_run")]
    pub has_run: bool,
}

/// Clusters that were made before this was noted.
fn has_always_run() -> bool {
    true
}

/// What the user said; everything left out is decided here.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    pub name: Option<String>,
    pub node_name: Option<String>,
    pub node_ip: Option<IpAddr>,
    pub api_port: Option<u16>,
    pub kubelet_port: Option<u16>,
    pub pod_cidr: Option<String>,
    pub service_cidr: Option<String>,
    pub runtime_endpoint: Option<PathBuf>,
    pub access: Access,
    pub audit: Audit,
    pub scheduling: Scheduling,
    pub debugging: Debugging,
    pub max_pods: Option<u32>,
    pub role: Role,
    pub node: NodeFlags,
    pub network: NetworkFlags,
}

impl Cluster {
    /// The cluster whose data is here, or `None` if there is none.
    pub fn load(place: &Place) -> Result<Option<Self>> {
        let file = place.data_dir.join("cluster.json");
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
        };
        let mut cluster: Self =
            serde_json::from_str(&text).with_context(|| format!("{} is damaged", file.display()))?;
        // Data that was moved or restored elsewhere may choose its other directory anew.
        let is_moved = !is_same(&cluster.data_dir, &place.data_dir);
        cluster.data_dir.clone_from(&place.data_dir);
        // Clusters that were made before paths were resolved.
        cluster.run_dir = resolve(&cluster.run_dir)
            .with_context(|| format!("cannot use the cluster's run directory {}", cluster.run_dir.display()))?;
        match &place.run_dir {
            Some(given) if is_moved => {
                cluster.run_dir.clone_from(given);
                Ok(Some(cluster))
            }
            Some(given) if !is_same(given, &cluster.run_dir) => bail!(
                "--run-dir: the cluster in {} was made with {}, not {}; leave --run-dir out, or name the other cluster with --data-dir",
                place.data_dir.display(),
                cluster.run_dir.display(),
                given.display(),
            ),
            _ => Ok(Some(cluster)),
        }
    }

    /// Reserves the cluster's number, name and directories on this machine. A cluster that
    /// has never run is saved with it, so that `down` and `uninstall` find what a failed
    /// first start has made.
    pub fn register(&self) -> Result<()> {
        let registry = ClusterRegistry::open()?;
        registry.register(&self.registration())?;
        if self.has_run { Ok(()) } else { self.save() }
    }

    fn registration(&self) -> Registration {
        Registration {
            number: self.number,
            name: self.name.clone(),
            data_dir: self.data_dir.clone(),
            run_dir: self.run_dir.clone(),
        }
    }

    /// Do the bridge, the firewall table and the cgroup of this name belong to this cluster?
    /// A cluster from before the registry may share its number with another.
    pub fn owns_its_name(&self) -> Result<bool> {
        let others = cluster_registry::others(&self.data_dir)?;
        Ok(others.iter().all(|other| other.name != self.name))
    }

    pub fn save(&self) -> Result<()> {
        let file = self.data_dir.join("cluster.json");
        let part = self.data_dir.join("cluster.json.part");
        std::fs::write(&part, serde_json::to_vec_pretty(self)?)
            .with_context(|| format!("cannot write {}", part.display()))?;
        std::fs::rename(&part, &file).with_context(|| format!("cannot write {}", file.display()))
    }

    /// The cluster to start: the one that is here, or a new one. A wish that contradicts
    /// the data is refused rather than ignored; a changed node address is taken over.
    pub fn load_or_decide(place: &Place, wishes: &Wishes) -> Result<Self> {
        let mut cluster = match Self::load(place)? {
            Some(cluster) if cluster.has_run => cluster,
            failed => {
                let others = cluster_registry::others(&place.data_dir)?;
                let run_dir = failed.map(|cluster| cluster.run_dir).or(place.run_dir.clone());
                let place = Place { data_dir: place.data_dir.clone(), run_dir };
                let cluster = Self::decide(&place, wishes, &|number| {
                    others.iter().all(|other| other.number != number) && is_free(number)
                })?;
                // Refused before a directory is made.
                cluster_registry::check(&cluster.registration())?;
                return Ok(cluster);
            }
        };
        let refuse_change = |flag: &str, wish: &Option<String>, have: &str| match wish {
            Some(wish) if wish != have => bail!(
                "{flag}: the cluster here was made with {have:?}, which cannot change; `ferry uninstall{}` starts over",
                cluster.flags()
            ),
            _ => Ok(()),
        };
        if wishes.role != cluster.role {
            bail!(
                "what is here was made with `ferry {0}`; start it with `ferry {0}{1}`, or remove it with `ferry uninstall{1}` first",
                cluster.role.verb(),
                cluster.flags()
            );
        }
        refuse_change("--name", &wishes.name, &cluster.name)?;
        refuse_change("--node-name", &wishes.node_name, &cluster.node_name)?;
        refuse_change("--cluster-cidr", &wishes.pod_cidr, &cluster.pod_cidr)?;
        refuse_change("--service-cidr", &wishes.service_cidr, &cluster.service_cidr)?;
        cluster.api_port = wishes.api_port.unwrap_or(cluster.api_port);
        cluster.kubelet_port = wishes.kubelet_port.unwrap_or(cluster.kubelet_port);
        cluster.runtime_endpoint = wishes.runtime_endpoint.clone().or(cluster.runtime_endpoint);
        cluster.access = wishes.access.or(&cluster.access)?;
        cluster.audit = wishes.audit.or(&cluster.audit)?;
        cluster.scheduling = wishes.scheduling.or(&cluster.scheduling)?;
        cluster.debugging = wishes.debugging.or(&cluster.debugging);
        cluster.max_pods = wishes.max_pods.or(cluster.max_pods);
        cluster.node = cluster.node.with(&wishes.node)?;
        cluster.node.pod_network = wishes.network.pod_network.unwrap_or(cluster.node.pod_network);
        cluster.check()?;
        cluster.node_ip = match wishes.node_ip {
            Some(ip) => ip,
            None if crate::network::has_address(cluster.node_ip) => cluster.node_ip,
            None => crate::network::primary_address()?,
        };
        Ok(cluster)
    }

    fn decide(place: &Place, wishes: &Wishes, is_free: &dyn Fn(u8) -> bool) -> Result<Self> {
        let is_default = is_default(&place.data_dir, DEFAULT_DATA_DIR)
            && place.run_dir.as_ref().is_none_or(|run_dir| is_default(run_dir, DEFAULT_RUN_DIR));
        let number = if is_default { Some(0) } else { (1..MAX_CLUSTERS).find(|&n| is_free(n)) };
        let Some(number) = number else {
            bail!(
                "there are {MAX_CLUSTERS} clusters on this machine already; remove one with `ferry uninstall --data-dir`"
            );
        };
        let node_name = match &wishes.node_name {
            Some(name) => name.clone(),
            None => crate::network::host_name()?,
        };
        let node_ip = match wishes.node_ip {
            Some(ip) => ip,
            None => crate::network::primary_address()?,
        };
        let run_dir = place.run_dir.clone().unwrap_or_else(|| match number {
            0 => DEFAULT_RUN_DIR.into(),
            n => format!("{DEFAULT_RUN_DIR}{n}").into(),
        });
        let step = u16::from(number) * 10;
        let cluster = Self {
            number,
            data_dir: place.data_dir.clone(),
            run_dir: resolve(&run_dir).with_context(|| format!("cannot use {}", run_dir.display()))?,
            name: wishes.name.clone().unwrap_or_else(|| match number {
                0 => "ferry".to_owned(),
                n => format!("ferry{n}"),
            }),
            node_name,
            node_ip,
            api_port: wishes.api_port.unwrap_or(6443 + step),
            kubelet_port: wishes.kubelet_port.unwrap_or(10250 + step),
            pod_cidr: wishes.pod_cidr.clone().unwrap_or_else(|| format!("10.{}.0.0/16", 244 - number)),
            service_cidr: wishes.service_cidr.clone().unwrap_or_else(|| match number {
                0 => "10.96.0.0/12".to_owned(),
                n => format!("10.{}.0.0/16", 112 + n),
            }),
            cluster_domain: "cluster.local".to_owned(),
            runtime_endpoint: wishes.runtime_endpoint.clone(),
            access: wishes.access.or(&Access::default())?,
            audit: wishes.audit.or(&Audit::default())?,
            scheduling: wishes.scheduling.or(&Scheduling::default())?,
            debugging: wishes.debugging.clone(),
            accept_data_loss: false,
            max_pods: wishes.max_pods,
            role: wishes.role,
            node: NodeSettings {
                pod_network: wishes.network.pod_network.unwrap_or_default(),
                // Number 1 is flannel's.
                vni: 4096 + u32::from(number),
                ..NodeSettings::default().with(&wishes.node)?
            },
            joined: Joined::default(),
            has_run: false,
        };
        cluster.check()?;
        Ok(cluster)
    }

    fn check(&self) -> Result<()> {
        // Interface names end at 15 bytes; the name also stands in cgroup and table names.
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        if self.name.is_empty() || self.name.len() > 12 || !self.name.chars().all(plain) {
            bail!("--name: {:?} must be 1 to 12 lower-case letters and digits", self.name);
        }
        let (_, pod_bits) = parse_cidr("--cluster-cidr", &self.pod_cidr)?;
        parse_cidr("--service-cidr", &self.service_cidr)?;
        if let Some(max_pods) = self.max_pods
            && !(1..=pod_addresses(pod_bits)).contains(&max_pods)
        {
            bail!(
                "--max-pods: {max_pods} is not between 1 and {}, the addresses of a node's /{} for pods",
                pod_addresses(pod_bits),
                pod_bits.max(NODE_MASK_SIZE),
            );
        }
        Ok(())
    }

    fn pod_bits(&self) -> u8 {
        parse_cidr("pod range", &self.pod_cidr).expect("checked when the cluster was decided").1
    }

    /// The size of a node's part of the pod range.
    pub fn node_mask_size(&self) -> u8 {
        self.pod_bits().max(NODE_MASK_SIZE)
    }

    pub fn max_pods(&self) -> u32 {
        self.max_pods.unwrap_or_else(|| DEFAULT_MAX_PODS.min(pod_addresses(self.pod_bits())))
    }

    /// The flags by which another command finds this cluster, with a space before each; none
    /// for the default one.
    pub fn flags(&self) -> String {
        if is_default(&self.data_dir, DEFAULT_DATA_DIR) && is_default(&self.run_dir, DEFAULT_RUN_DIR) {
            return String::new();
        }
        format!(" --data-dir {} --run-dir {}", self.data_dir.display(), self.run_dir.display())
    }

    /// The n-th address of the service range: 1 is the API's, 10 is DNS's.
    pub fn service_ip(&self, n: u32) -> Ipv4Addr {
        let (base, _) = parse_cidr("service range", &self.service_cidr).expect("checked when the cluster was decided");
        Ipv4Addr::from(u32::from(base) + n)
    }

    pub fn api_url(&self) -> String {
        format!("https://127.0.0.1:{}", self.api_port)
    }

    pub fn bridge(&self) -> String {
        format!("{}br", self.name)
    }

    /// The device that leads to the pods of nodes on other links.
    pub fn tunnel(&self) -> String {
        format!("{}vx", self.name)
    }

    pub fn runtime_socket(&self) -> PathBuf {
        self.runtime_endpoint.clone().unwrap_or_else(|| self.run_dir.join("containerd/containerd.sock"))
    }

    pub fn pki_dir(&self) -> PathBuf {
        self.data_dir.join("pki")
    }

    pub fn cni_conf_dir(&self) -> PathBuf {
        self.run_dir.join("cni/net.d")
    }

    pub fn log_file(&self) -> PathBuf {
        self.data_dir.join("logs/ferry.log")
    }

    pub fn containerd_log_file(&self) -> PathBuf {
        self.data_dir.join("logs/containerd.log")
    }
}

/// Is this the default directory, also where that one is a link?
fn is_default(directory: &Path, default: &str) -> bool {
    directory == Path::new(default) || resolve(Path::new(default)).is_ok_and(|usual| directory == usual)
}

/// The addresses for pods in a node's part of a range: all but its own, its last and the
/// bridge's.
fn pod_addresses(pod_bits: u8) -> u32 {
    (1 << (32 - pod_bits.max(NODE_MASK_SIZE))) - 3
}

/// A range whose base has no host bits set.
pub fn parse_cidr(what: &str, text: &str) -> Result<(Ipv4Addr, u8)> {
    let (address, bits) =
        text.split_once('/').with_context(|| format!("{what}: {text:?} is not of the form 10.0.0.0/16"))?;
    let address: Ipv4Addr = address.parse().with_context(|| format!("{what}: {address:?} is not an IPv4 address"))?;
    let bits: u8 = bits
        .parse()
        .ok()
        .filter(|b| (8..=28).contains(b))
        .with_context(|| format!("{what}: /{bits} is not between /8 and /28"))?;
    if masked(address.into(), bits) != address {
        bail!("{what}: {text:?} has host bits set");
    }
    Ok((address, bits))
}

/// A number is free if no bridge and no listener of another cluster has it.
fn is_free(number: u8) -> bool {
    let step = u16::from(number) * 10;
    !Path::new(&format!("/sys/class/net/ferry{number}br")).exists()
        && [6443 + step, 10250 + step].into_iter().all(|port| TcpListener::bind(("0.0.0.0", port)).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(dir: &str) -> Place {
        Place { data_dir: format!("{dir}/data").into(), run_dir: Some(format!("{dir}/run").into()) }
    }

    fn wishes() -> Wishes {
        Wishes {
            node_name: Some("a".into()),
            node_ip: Some("192.0.2.7".parse().expect("an address")),
            ..Default::default()
        }
    }

    #[test]
    fn the_default_cluster_has_the_usual_numbers() {
        let place = Place { data_dir: "/var/lib/ferry".into(), run_dir: None };
        let cluster = Cluster::decide(&place, &wishes(), &|_| true).expect("decided");
        assert_eq!((cluster.run_dir.as_path(), cluster.flags().as_str()), (Path::new("/run/ferry"), ""));
        assert_eq!((cluster.api_port, cluster.kubelet_port, cluster.name.as_str()), (6443, 10250, "ferry"));
        assert_eq!(cluster.service_ip(1).to_string(), "10.96.0.1");
        assert_eq!(cluster.service_ip(10).to_string(), "10.96.0.10");
    }

    #[test]
    fn a_further_cluster_takes_the_next_free_number() {
        let cluster = Cluster::decide(&place("/tmp/x"), &wishes(), &|n| n > 1).expect("decided");
        assert_eq!((cluster.number, cluster.api_port, cluster.bridge().as_str()), (2, 6463, "ferry2br"));
        assert_eq!((cluster.pod_cidr.as_str(), cluster.service_cidr.as_str()), ("10.242.0.0/16", "10.114.0.0/16"));
        assert!(Cluster::decide(&place("/tmp/x"), &wishes(), &|_| false).is_err());
    }

    /// A cluster that has run, in a directory of its own.
    fn saved(dir: &tempfile::TempDir) -> (Place, Cluster) {
        let place = place(dir.path().to_str().expect("utf-8"));
        std::fs::create_dir_all(&place.data_dir).expect("made");
        let mut cluster = Cluster::decide(&place, &wishes(), &|_| true).expect("decided");
        cluster.has_run = true;
        cluster.save().expect("saved");
        (place, cluster)
    }

    #[test]
    fn the_same_data_is_the_same_cluster() {
        let dir = tempfile::tempdir().expect("a directory");
        let (place, cluster) = saved(&dir);
        assert_eq!(Cluster::load_or_decide(&place, &wishes()).expect("loaded"), cluster);
        let other = Wishes { pod_cidr: Some("10.9.0.0/16".into()), ..wishes() };
        let error = Cluster::load_or_decide(&place, &other).expect_err("refused").to_string();
        assert!(error.contains("--cluster-cidr"), "{error}");
    }

    #[test]
    fn one_directory_of_two_never_means_another_cluster() {
        let dir = tempfile::tempdir().expect("a directory");
        let (place, cluster) = saved(&dir);
        let only_data = Place { run_dir: None, ..place.clone() };
        assert_eq!(Cluster::load(&only_data).expect("loaded").expect("there").run_dir, cluster.run_dir);
        let wrong = Place { run_dir: Some("/run/ferry".into()), ..place };
        let error = Cluster::load(&wrong).expect_err("refused").to_string();
        assert!(error.starts_with("--run-dir") && error.contains(&*cluster.run_dir.to_string_lossy()), "{error}");
        assert!(cluster.flags().contains("--data-dir") && cluster.flags().contains("--run-dir"));

        let moved = Place { data_dir: dir.path().join("moved"), run_dir: Some("/run/moved".into()) };
        std::fs::rename(&cluster.data_dir, &moved.data_dir).expect("moved");
        assert_eq!(Cluster::load(&moved).expect("loaded").expect("there").run_dir, Path::new("/run/moved"));
    }

    #[test]
    fn a_first_start_that_failed_is_decided_anew() {
        let dir = tempfile::tempdir().expect("a directory");
        let place = place(dir.path().to_str().expect("utf-8"));
        std::fs::create_dir_all(&place.data_dir).expect("made");
        let bad = Wishes { pod_cidr: Some("10.9.0.0/16".into()), api_port: Some(1), ..wishes() };
        Cluster::decide(&place, &bad, &|_| true).expect("decided").save().expect("saved");
        let cluster = Cluster::load_or_decide(&place, &wishes()).expect("decided");
        assert!(cluster.pod_cidr != "10.9.0.0/16" && cluster.api_port != 1, "{cluster:?}");
    }

    #[test]
    fn an_address_that_this_machine_no_longer_has_is_replaced() {
        let dir = tempfile::tempdir().expect("a directory");
        let (place, cluster) = saved(&dir);
        assert_eq!(cluster.node_ip.to_string(), "192.0.2.7");
        let later = Wishes { node_name: Some("a".into()), ..Default::default() };
        let again = Cluster::load_or_decide(&place, &later).expect("loaded");
        assert!(crate::network::has_address(again.node_ip), "{}", again.node_ip);
        assert_eq!(Cluster { node_ip: cluster.node_ip, ..again }, cluster, "and nothing else");
    }

    #[test]
    fn more_pods_than_a_node_has_addresses_for_are_refused() {
        let decide = |cidr: &str, max_pods| {
            let wishes = Wishes { pod_cidr: Some(cidr.into()), max_pods, ..wishes() };
            Cluster::decide(&place("/tmp/x"), &wishes, &|_| true).map(|c| (c.max_pods(), c.node_mask_size()))
        };
        assert_eq!(decide("10.9.0.0/16", None).expect("decided"), (110, 24));
        assert_eq!(decide("10.9.0.0/16", Some(253)).expect("decided"), (253, 24));
        assert_eq!(decide("10.9.0.0/28", None).expect("decided"), (13, 28));
        for (cidr, max_pods) in [("10.9.0.0/16", 0), ("10.9.0.0/16", 254), ("10.9.0.0/28", 14)] {
            let error = decide(cidr, Some(max_pods)).expect_err("refused").to_string();
            assert!(error.starts_with("--max-pods"), "{error}");
        }
    }

    #[test]
    fn bad_ranges_are_named() {
        for (text, why) in
            [("10.0.0.0", "form"), ("10.0.0.1/16", "host bits"), ("10.0.0.0/31", "/31"), ("x/16", "IPv4")]
        {
            let error = format!("{:#}", parse_cidr("--cluster-cidr", text).expect_err(text));
            assert!(error.contains(why) && error.contains("--cluster-cidr"), "{error}");
        }
    }
}
