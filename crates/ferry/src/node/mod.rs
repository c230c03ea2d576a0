//! The parts of a node: kubelet, local volumes, service proxy, policies, pod network and DNS. `server.rs`
//! runs them beside a control plane, `agent.rs` on a machine of their own. They cannot tell:
//! each has a client that speaks in its own name, in memory or over the network.

pub mod identity;
pub mod pod_network;
pub mod settings;

use crate::cluster::Cluster;
use crate::preflight::Found;
use crate::supervise::Supervisor;
use crate::{images, network};
use anyhow::{Context, Result};
use ferry_api::problems::Problems;
use ferry_client::{Client, Informers};
use ferry_pki::LiveIdentity;
use pod_network::PodRange;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::sync::{oneshot, watch};

/// The parts that speak to the API, each with the rights of its own user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    Kubelet,
    LocalVolumes,
    /// Also the pod network, which reads the same Nodes.
    Proxy,
    /// In the rights of the service proxy (`addons.rs`).
    Policies,
    Dns,
}

impl Speaker {
    /// The user agent.
    pub fn component(self) -> &'static str {
        match self {
            Self::Kubelet => "kubelet",
            Self::LocalVolumes => "local-path-provisioner",
            Self::Proxy => "kube-proxy",
            Self::Policies => "network-policies",
            Self::Dns => "coredns",
        }
    }

    /// The user, where it is not the node itself.
    pub fn user(self) -> Option<&'static str> {
        match self {
            Self::Kubelet => None,
            Self::LocalVolumes => Some("system:serviceaccount:kube-system:local-path-provisioner"),
            Self::Proxy | Self::Policies => Some("system:kube-proxy"),
            Self::Dns => Some("system:serviceaccount:kube-system:coredns"),
        }
    }
}

/// Makes the client of a part.
pub type Clients = Arc<dyn Fn(Speaker) -> Client + Send + Sync>;

/// What the parts need of the machine and the cluster.
pub struct NodeParts {
    pub cluster: Cluster,
    pub found: Found,
    pub clients: Clients,
    /// The kubelet's serving certificate.
    pub serving: Arc<LiveIdentity>,
    /// Who vouches for the API server towards the kubelet.
    pub client_ca_pem: String,
    pub queues: ferry_runner::Metrics,
    pub problems: Problems,
}

/// Turn true when a part has done its first work.
pub struct Readiness {
    pub node: watch::Receiver<bool>,
    pub proxy: watch::Receiver<bool>,
    pub policies: watch::Receiver<bool>,
    pub dns: watch::Receiver<bool>,
}

impl NodeParts {
    /// Starts all of them. What a part needs of the API it waits for by itself.
    pub async fn start(&self, parts: &mut Supervisor) -> Result<Readiness> {
        network::allow_forwarding()?;
        // Before the first pod, which may open the bridge to loopback by its hostPort.
        ferry_proxy::guard_loopback(&proxy_config(&self.cluster)).await.context("cannot guard the loopback network")?;
        ferry_policy::guard(&policy_config(&self.cluster)).await.context("cannot close the network to unknown pods")?;
        let mtu = match self.cluster.node.pod_mtu {
            Some(mtu) => Some(mtu),
            None => pod_network::pod_mtu(self.cluster.node_ip, self.cluster.node.pod_network).await,
        };
        let node = self.keep_kubelet(mtu, parts);
        self.keep_local_volumes(parts);
        let proxy = self.keep_proxy(parts)?;
        let range = keep_pod_network(&self.cluster, &self.clients, &self.problems, parts)?;
        let policies = self.keep_policies(range.clone(), parts);
        let dns = self.keep_dns(range, parts);
        Ok(Readiness { node, proxy, policies, dns })
    }

    fn keep_kubelet(&self, mtu: Option<u32>, parts: &mut Supervisor) -> watch::Receiver<bool> {
        let mut config = self.kubelet_config();
        config.cni.mtu = mtu;
        let client = (self.clients)(Speaker::Kubelet);
        let (ready, is_ready) = watch::channel(false);
        parts.keep("kubelet", move |token| {
            let running = ferry_kubelet::run(config.clone(), client.clone(), ready.clone(), token);
            async move { running.await.map_err(Into::into) }
        });
        is_ready
    }

    fn kubelet_config(&self) -> ferry_kubelet::Config {
        let cluster = &self.cluster;
        let mut config = ferry_kubelet::Config::new(
            &cluster.node_name,
            &cluster.node_ip.to_string(),
            &cluster.data_dir,
            &cluster.runtime_socket().to_string_lossy(),
        );
        config.log_dir = cluster.data_dir.join("logs/pods");
        config.cni = ferry_kubelet::Cni {
            conf_dir: cluster.cni_conf_dir(),
            bin_dir: self.found.cni_bin_dir.clone(),
            bridge: cluster.bridge(),
            data_dir: cluster.run_dir.join("cni/addresses"),
            mtu: None,
        };
        config.cluster_dns = vec![cluster.service_ip(10).to_string()];
        config.cluster_domain.clone_from(&cluster.cluster_domain);
        config.cgroup_root.clone_from(&cluster.name);
        config.max_pods = cluster.max_pods();
        config.kept_images = images::ALL.map(str::to_owned).to_vec();
        config.labels = cluster.node.labels();
        config.register_taints = cluster.node.taints();
        config.server = Some(ferry_kubelet::ServerConfig {
            address: SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), cluster.kubelet_port),
            certificate: self.serving.clone(),
            client_ca_pem: self.client_ca_pem.clone(),
            allowed_names: vec!["kube-apiserver-kubelet-client".to_owned()],
        });
        config
    }

    /// The directories behind claims of the built-in StorageClass.
    fn keep_local_volumes(&self, parts: &mut Supervisor) {
        let config = ferry_kubelet::local_path::Config {
            node_name: self.cluster.node_name.clone(),
            directory: self.cluster.data_dir.join("volumes"),
            metrics: self.queues.clone(),
        };
        let client = (self.clients)(Speaker::LocalVolumes);
        parts.keep("local-path provisioner", move |token| {
            let running = ferry_kubelet::local_path::run(config.clone(), client.clone(), token);
            async move { running.await.map_err(Into::into) }
        });
    }

    fn keep_proxy(&self, parts: &mut Supervisor) -> Result<watch::Receiver<bool>> {
        let mut config = proxy_config(&self.cluster);
        config.cluster_cidrs = vec![self.cluster.pod_cidr.parse().context("--cluster-cidr")?];
        config.service_cidrs = vec![self.cluster.service_cidr.parse().context("--service-cidr")?];
        let (ready, is_ready) = watch::channel(false);
        let client = (self.clients)(Speaker::Proxy);
        parts.keep("service proxy", move |token| {
            let informers = Informers::with_shutdown(client.clone(), token.clone());
            let running = ferry_proxy::run(informers, config.clone(), ready.clone(), token);
            async move { running.await.map_err(Into::into) }
        });
        Ok(is_ready)
    }

    /// The policies of this node's pods, which may always ask its DNS.
    fn keep_policies(&self, range: watch::Receiver<Option<PodRange>>, parts: &mut Supervisor) -> watch::Receiver<bool> {
        let (ready, is_ready) = watch::channel(false);
        let (config, client) = (policy_config(&self.cluster), (self.clients)(Speaker::Policies));
        parts.keep("network policies", move |token| {
            let (mut config, client, ready, mut range) = (config.clone(), client.clone(), ready.clone(), range.clone());
            async move {
                let known = tokio::select! {
                    () = token.cancelled() => return Ok(()),
                    known = range.wait_for(Option::is_some) => *known.context("the pod network is gone")?,
                };
                config.dns = known.iter().map(|range| range.gateway.into()).collect();
                let informers = Informers::with_shutdown(client, token.clone());
                tokio::select! {
                    ended = ferry_policy::run(informers, config, ready, token.child_token()) => ended.map_err(Into::into),
                    _ = range.wait_for(|now| *now != known) => {
                        anyhow::bail!("the node's range of pod addresses has changed")
                    }
                }
            }
        });
        is_ready
    }

    /// DNS listens on the bridge, which is made again for an attempt if somebody has removed it.
    fn keep_dns(&self, range: watch::Receiver<Option<PodRange>>, parts: &mut Supervisor) -> watch::Receiver<bool> {
        let (ready, is_ready) = watch::channel(false);
        let cluster = self.cluster.clone();
        let client = (self.clients)(Speaker::Dns);
        parts.keep("DNS", move |token| {
            let (cluster, client, ready, mut range) = (cluster.clone(), client.clone(), ready.clone(), range.clone());
            async move {
                let known = tokio::select! {
                    () = token.cancelled() => return Ok(()),
                    known = range.wait_for(Option::is_some) => *known.context("the pod network is gone")?,
                };
                let Some(PodRange { gateway, bits }) = known else { return Ok(()) };
                let (bound, is_bound) = oneshot::channel();
                let config = ferry_dns::Config {
                    bind: vec![SocketAddr::new(gateway.into(), 53)],
                    devices: vec![cluster.bridge(), "lo".to_owned()],
                    domain: cluster.cluster_domain.clone(),
                    cluster_dns: vec![cluster.service_ip(10).into()],
                    ready: Some(bound),
                    ..Default::default()
                };
                network::ensure_bridge(&cluster.bridge(), gateway, bits).await?;
                // A node that was removed and has come back has another range.
                let moved = token.child_token();
                let informers = Informers::with_shutdown(client, moved.clone());
                let report = async {
                    if is_bound.await.is_ok() {
                        ready.send_replace(true);
                    }
                };
                let follow = async {
                    let _ = range.wait_for(|now| *now != known).await;
                    moved.cancel();
                };
                let serve = async {
                    let (served, ()) = tokio::join!(ferry_dns::run(config, informers, moved.clone()), report);
                    served
                };
                tokio::select! {
                    served = serve => served.map_err(Into::into),
                    () = follow => anyhow::bail!("the node's range of pod addresses has changed"),
                }
            }
        });
        is_ready
    }
}

/// Keeps the routes to the other nodes' pods, and this node's bridge.
pub fn keep_pod_network(
    cluster: &Cluster,
    clients: &Clients,
    problems: &Problems,
    parts: &mut Supervisor,
) -> Result<watch::Receiver<Option<PodRange>>> {
    let IpAddr::V4(node_ip) = cluster.node_ip else {
        anyhow::bail!("--node-ip: {} is no IPv4 address, and pods have IPv4 addresses", cluster.node_ip);
    };
    let config = pod_network::Config {
        node_name: cluster.node_name.clone(),
        node_ip,
        bridge: cluster.bridge(),
        tunnel: cluster.tunnel(),
        vni: cluster.node.vni,
        backend: cluster.node.pod_network,
        cluster_range: cluster.pod_cidr.parse().context("--cluster-cidr")?,
    };
    let (range, is_known) = watch::channel(None);
    let (client, problems) = (clients(Speaker::Proxy), problems.clone());
    parts.keep("pod network", move |token| {
        let informers = Informers::with_shutdown(client.clone(), token.clone());
        pod_network::run(config.clone(), informers, range.clone(), problems.clone(), token)
    });
    Ok(is_known)
}

/// The name of the proxy's table on this machine; also what removes it.
pub fn proxy_config(cluster: &Cluster) -> ferry_proxy::Config {
    let mut config = ferry_proxy::Config::new(&cluster.node_name);
    config.table.clone_from(&cluster.name);
    config.node_ips = vec![cluster.node_ip];
    config
}

/// What names the policies' table on this machine; also what removes it.
pub fn policy_config(cluster: &Cluster) -> ferry_policy::Config {
    ferry_policy::Config {
        table: format!("{}-policies", cluster.name),
        node_name: cluster.node_name.clone(),
        bridge: Some(cluster.bridge()),
        dns: Vec::new(),
    }
}
