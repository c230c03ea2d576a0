//! Undoing what `up` did: `down` stops everything and keeps the data, `uninstall` leaves
//! nothing. Both work whether ferry ended well, was killed, or runs still: every step
//! looks at what is there and takes it away.

use crate::cluster::Cluster;
use crate::cluster_registry::ClusterRegistry;
use crate::process::{self, Process};
use crate::progress::say;
use crate::{Place, containerd, daemon, kubeconfig, namespaces, network, node};
use anyhow::{Context, Result};
use ferry_kubelet::cri::Runtime;
use ferry_kubelet::cri::grpc::GrpcRuntime;
use ferry_kubelet::volume::{mounts, tree};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a pod may take to end before it is killed, whatever its own grace period.
const POD_GRACE: Duration = Duration::from_secs(10);
/// How long a process may take to end before it is killed.
const PROCESS_GRACE: Duration = Duration::from_secs(15);

pub async fn down(place: &Place) -> Result<()> {
    let Some(cluster) = Cluster::load(place)? else {
        say(&format!("there is no cluster in {}", place.data_dir.display()));
        return Ok(());
    };
    stop_ferry(&cluster).await?;
    stop(&cluster).await?;
    let (verb, flags) = (cluster.role.verb(), cluster.flags());
    say(&format!("cluster {:?} is stopped; `ferry {verb} -d{flags}` brings it back", cluster.name));
    Ok(())
}

pub async fn uninstall(place: &Place) -> Result<()> {
    let Some(cluster) = Cluster::load(place)? else {
        say(&format!("there is no cluster in {}", place.data_dir.display()));
        return Ok(());
    };
    stop_ferry(&cluster).await?;
    remove_pods(&cluster).await;
    stop(&cluster).await?;
    kubeconfig::remove(&cluster)?;
    for dir in [&cluster.run_dir, &cluster.data_dir] {
        remove_dir(dir)?;
    }
    let registry = ClusterRegistry::open()?;
    registry.remove(&cluster.data_dir)?;
    registry.tidy()?;
    // The CNI library's cache has a fixed place, shared with whoever else uses it; the
    // directories go only if nothing of anyone is left in them.
    for dir in ["/var/lib/cni/results", "/var/lib/cni/networks", "/var/lib/cni"] {
        let _ = std::fs::remove_dir(dir);
    }
    say(&format!("cluster {:?} is gone, and everything it made on this machine", cluster.name));
    Ok(())
}

/// Ends the ferry process that runs the cluster; its pods are stopped afterwards. One that
/// stands still is killed, because it would not see the signal.
async fn stop_ferry(cluster: &Cluster) -> Result<()> {
    let Some(pid) = daemon::running_pid(cluster)? else { return Ok(()) };
    let process = Process::open(pid)?;
    // Looked at again: the number may have changed hands before the process was opened.
    let Some(process) = process.filter(|_| matches!(daemon::running_pid(cluster), Ok(Some(still)) if still == pid))
    else {
        return Ok(());
    };
    let grace = if process::is_stopped(pid) { Duration::ZERO } else { PROCESS_GRACE };
    process.end(grace).await.with_context(|| format!("cannot stop ferry (process {pid})"))
}

/// Everything but the data: pods, containerd, shims, mounts, firewall, links, cgroups.
pub async fn stop(cluster: &Cluster) -> Result<()> {
    stop_pods(cluster).await;
    if cluster.runtime_endpoint.is_none() {
        if let Some(process) = containerd::running(cluster)? {
            process.end(PROCESS_GRACE).await.context("cannot stop containerd")?;
        }
        for pid in shims(cluster) {
            if let Some(process) = Process::open(pid)? {
                process.kill().await.context("cannot stop a container shim")?;
            }
        }
    }
    for dir in [&cluster.run_dir, &cluster.data_dir] {
        mounts::unmount_below(dir).with_context(|| format!("cannot unmount what is below {}", dir.display()))?;
    }
    if !cluster.owns_its_name()? {
        say(&format!("another cluster is called {:?}: its bridge, firewall table and cgroup stay", cluster.name));
        return Ok(());
    }
    if cluster.role.has_node() {
        ferry_proxy::cleanup(&node::proxy_config(cluster)).await.context("cannot remove the nft table")?;
        ferry_policy::cleanup(&node::policy_config(cluster)).await.context("cannot remove the policies' table")?;
    }
    let pods = cluster.pod_cidr.parse().context("the range of pod addresses")?;
    node::pod_network::remove(&cluster.tunnel(), &pods).await?;
    network::remove_link(&cluster.bridge()).await?;
    remove_cgroups(&cluster.name);
    namespaces::release(Path::new(namespaces::DIRECTORY));
    Ok(())
}

/// Our sandboxes: those whose pod has a directory below our kubelet's.
async fn our_sandboxes(cluster: &Cluster, runtime: &GrpcRuntime) -> Vec<String> {
    let Ok(sandboxes) = runtime.list_pod_sandboxes(None).await else { return Vec::new() };
    let own = cluster.runtime_endpoint.is_none();
    let pods = cluster.data_dir.join("kubelet/pods");
    let is_ours = |uid: &str| own || (!uid.is_empty() && pods.join(uid).exists());
    sandboxes.into_iter().filter(|s| s.metadata.as_ref().is_some_and(|m| is_ours(&m.uid))).map(|s| s.id).collect()
}

async fn connect(cluster: &Cluster) -> Option<GrpcRuntime> {
    let socket = cluster.runtime_socket();
    tokio::net::UnixStream::connect(&socket).await.ok()?;
    GrpcRuntime::connect(&socket.to_string_lossy()).ok()
}

/// Asks every container to end, all at once, then takes the sandboxes and with them the
/// pods' network. A runtime that does not answer is ended with its shims later.
async fn stop_pods(cluster: &Cluster) {
    let Some(runtime) = connect(cluster).await else { return };
    let sandboxes = our_sandboxes(cluster, &runtime).await;
    let containers = runtime.list_containers(None).await.unwrap_or_default();
    let running = containers.iter().filter(|c| sandboxes.contains(&c.pod_sandbox_id) && c.state == 1);
    futures_util::future::join_all(running.map(|c| runtime.stop_container(&c.id, POD_GRACE))).await;
    for result in futures_util::future::join_all(sandboxes.iter().map(|id| runtime.stop_pod_sandbox(id))).await {
        if let Err(error) = result {
            tracing::warn!(%error, "cannot stop a pod");
        }
    }
}

async fn remove_pods(cluster: &Cluster) {
    stop_pods(cluster).await;
    let Some(runtime) = connect(cluster).await else { return };
    let sandboxes = our_sandboxes(cluster, &runtime).await;
    futures_util::future::join_all(sandboxes.iter().map(|id| runtime.remove_pod_sandbox(id))).await;
}

/// The shims of our containerd, told by its socket on their command line.
fn shims(cluster: &Cluster) -> Vec<i32> {
    let socket = cluster.runtime_socket();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let mut words = line.split(|&b| b == 0);
            words.next().is_some_and(|program| program.ends_with(b"containerd-shim-runc-v2"))
                && words.any(|word| word == socket.as_os_str().as_encoded_bytes())
        })
        .collect()
}

/// Removes our cgroup in every hierarchy. One that still has a process stays, and the
/// next `up` uses it again; that is not worth failing over.
fn remove_cgroups(name: &str) {
    let mut roots = vec![PathBuf::from("/sys/fs/cgroup")];
    roots.extend(std::fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten().map(|entry| entry.path()));
    for root in roots {
        remove_cgroup(&root.join(name));
    }
}

fn remove_cgroup(dir: &Path) {
    if !dir.is_dir() {
        return;
    }
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_cgroup(&entry.path());
        }
    }
    if let Err(error) = std::fs::remove_dir(dir) {
        tracing::debug!(cgroup = %dir.display(), %error, "a cgroup stays");
    }
}

/// Removes a directory of ours; one that is a disk of its own is emptied and stays. What is
/// mounted below and could not be unmounted is somebody's data, and ends this with an error.
fn remove_dir(dir: &Path) -> Result<()> {
    let is_disk = mounts::is_mount_point(dir).context("cannot read the mount table")?;
    let removed = if is_disk { tree::empty_tree(dir) } else { tree::remove_tree(dir) };
    removed.with_context(|| format!("cannot remove {}", dir.display()))
}
