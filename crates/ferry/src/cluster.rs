//! What one cluster is on this machine: its directories, addresses, ports and names.
//!
//! Decided at the first `ferry up` and kept in `cluster.json`, so that every later verb
//! means the same cluster. The cluster in the default directories is number 0 and has
//! upstream's usual numbers; each further cluster takes the next free number, from which
//! its bridge, nft table, cgroup, ports and address ranges follow, so that clusters on
//! one machine never meet.

use crate::Place;
use crate::access::Access;
use crate::audit::Audit;
use crate::debugging::Debugging;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

/// Clusters beyond this number would run out of address ranges.
const MAX_CLUSTERS: u8 = 10;

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
    pub debugging: Debugging,
    /// Said for one start, and never remembered.
    #[serde(skip)]
    pub accept_data_loss: bool,
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
    pub debugging: Debugging,
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
        cluster.data_dir.clone_from(&place.data_dir);
        cluster.run_dir.clone_from(&place.run_dir);
        Ok(Some(cluster))
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
        let Some(mut cluster) = Self::load(place)? else {
            return Self::decide(place, wishes, &is_free);
        };
        refuse_change("--name", wishes.name.as_ref(), &cluster.name)?;
        refuse_change("--node-name", wishes.node_name.as_ref(), &cluster.node_name)?;
        refuse_change("--cluster-cidr", wishes.pod_cidr.as_ref(), &cluster.pod_cidr)?;
        refuse_change("--service-cidr", wishes.service_cidr.as_ref(), &cluster.service_cidr)?;
        cluster.api_port = wishes.api_port.unwrap_or(cluster.api_port);
        cluster.kubelet_port = wishes.kubelet_port.unwrap_or(cluster.kubelet_port);
        cluster.runtime_endpoint = wishes.runtime_endpoint.clone().or(cluster.runtime_endpoint);
        cluster.access = wishes.access.or(&cluster.access)?;
        cluster.audit = wishes.audit.or(&cluster.audit)?;
        cluster.debugging = wishes.debugging.or(&cluster.debugging);
        cluster.node_ip = match wishes.node_ip {
            Some(ip) => ip,
            None if crate::network::has_address(cluster.node_ip) => cluster.node_ip,
            None => crate::network::primary_address()?,
        };
        Ok(cluster)
    }

    fn decide(place: &Place, wishes: &Wishes, is_free: &dyn Fn(u8) -> bool) -> Result<Self> {
        let is_default = place.data_dir == Path::new("/var/lib/ferry") && place.run_dir == Path::new("/run/ferry");
        let number = if is_default { Some(0) } else { (1..MAX_CLUSTERS).find(|&n| is_free(n)) };
        let Some(number) = number else {
            bail!("there are {MAX_CLUSTERS} clusters on this machine already; remove one with `ferry uninstall`");
        };
        let node_name = match &wishes.node_name {
            Some(name) => name.clone(),
            None => crate::network::host_name()?,
        };
        let node_ip = match wishes.node_ip {
            Some(ip) => ip,
            None => crate::network::primary_address()?,
        };
        let step = u16::from(number) * 10;
        let cluster = Self {
            number,
            data_dir: place.data_dir.clone(),
            run_dir: place.run_dir.clone(),
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
            debugging: wishes.debugging.clone(),
            accept_data_loss: false,
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
        parse_cidr("--cluster-cidr", &self.pod_cidr)?;
        parse_cidr("--service-cidr", &self.service_cidr)?;
        Ok(())
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
}

fn refuse_change(flag: &str, wish: Option<&String>, have: &str) -> Result<()> {
    match wish {
        Some(wish) if wish != have => {
            bail!("{flag}: the cluster here was made with {have:?}, which cannot change; `ferry uninstall` starts over")
        }
        _ => Ok(()),
    }
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
    if u32::from(address) & (u32::MAX >> bits) != 0 {
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
        Place { data_dir: format!("{dir}/data").into(), run_dir: format!("{dir}/run").into() }
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
        let place = Place { data_dir: "/var/lib/ferry".into(), run_dir: "/run/ferry".into() };
        let cluster = Cluster::decide(&place, &wishes(), &|_| true).expect("decided");
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

    #[test]
    fn the_same_data_is_the_same_cluster() {
        let dir = tempfile::tempdir().expect("a directory");
        let place = place(dir.path().to_str().expect("utf-8"));
        std::fs::create_dir_all(&place.data_dir).expect("made");
        let cluster = Cluster::decide(&place, &wishes(), &|_| true).expect("decided");
        cluster.save().expect("saved");
        assert_eq!(Cluster::load_or_decide(&place, &wishes()).expect("loaded"), cluster);
        let other = Wishes { pod_cidr: Some("10.9.0.0/16".into()), ..wishes() };
        let error = Cluster::load_or_decide(&place, &other).expect_err("refused").to_string();
        assert!(error.contains("--cluster-cidr"), "{error}");
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
