//! What this machine must have before a cluster can start, each with its exact fix.
//!
//! All checks run and all that fails is listed at once: a person fixes one list, not one
//! thing after another.

use crate::cluster::Cluster;
use anyhow::{Result, bail};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

/// One thing that is missing and the command or flag that mends it.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    pub what: String,
    pub fix: String,
}

impl Problem {
    pub fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.into(), fix: fix.into() }
    }
}

/// Where the programs and plugins were found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub containerd: PathBuf,
    pub ctr: PathBuf,
    pub cni_bin_dir: PathBuf,
}

pub fn run(cluster: &Cluster) -> Result<Found> {
    let mut problems = Vec::new();
    let facts = Facts::read();
    problems.extend(check_rights(&facts));
    if cluster.role.has_node() {
        problems.extend(check_kernel(&facts));
    }
    problems.extend(check_ports(cluster));
    let found = check_programs(cluster, &mut problems);
    if problems.is_empty() {
        return Ok(found);
    }
    bail!("{}", render(&problems));
}

pub fn render(problems: &[Problem]) -> String {
    let mut out = format!("this machine is not ready, {} to fix:", count(problems.len()));
    for problem in problems {
        out.push_str(&format!("\n  ✗ {}\n    fix: {}", problem.what, problem.fix));
    }
    out
}

fn count(n: usize) -> String {
    if n == 1 { "1 thing".into() } else { format!("{n} things") }
}

/// What the checks look at, read once so that they can be tested without the machine.
#[derive(Debug, Default)]
struct Facts {
    is_root: bool,
    /// The effective capability set of this process.
    capabilities: u64,
    filesystems: String,
    cgroups: Cgroups,
    has_bridge_netfilter: bool,
    /// What `nft list tables` said when it failed.
    nft_error: Option<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Cgroups {
    #[default]
    None,
    V1,
    V2,
}

impl Facts {
    fn read() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let capabilities = status
            .lines()
            .find_map(|line| line.strip_prefix("CapEff:"))
            .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
            .unwrap_or(0);
        let cgroups = if Path::new("/sys/fs/cgroup/cgroup.controllers").exists() {
            Cgroups::V2
        } else if Path::new("/sys/fs/cgroup/memory").exists() && Path::new("/sys/fs/cgroup/cpu").exists() {
            Cgroups::V1
        } else {
            Cgroups::None
        };
        let bridge = Path::new("/proc/sys/net/bridge/bridge-nf-call-iptables");
        if !bridge.exists() {
            // The kernel may have it as a module; loading it is harmless and undone by a reboot.
            let _ = std::process::Command::new("modprobe").arg("br_netfilter").output();
        }
        let nft_error = match std::process::Command::new("nft").args(["list", "tables"]).output() {
            Ok(output) if output.status.success() => None,
            Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            // A missing program is reported with the other programs.
            Err(_) => None,
        };
        Self {
            is_root: nix::unistd::geteuid().is_root(),
            capabilities,
            filesystems: std::fs::read_to_string("/proc/filesystems").unwrap_or_default(),
            cgroups,
            has_bridge_netfilter: bridge.exists(),
            nft_error,
        }
    }
}

/// The capabilities without which no container can be made, by their bit.
const NEEDED: [(u32, &str); 4] =
    [(12, "CAP_NET_ADMIN"), (18, "CAP_SYS_CHROOT"), (21, "CAP_SYS_ADMIN"), (27, "CAP_MKNOD")];

fn check_rights(facts: &Facts) -> Vec<Problem> {
    if !facts.is_root {
        return vec![Problem::new("ferry must run as root", "run the same command with sudo")];
    }
    let missing: Vec<&str> =
        NEEDED.iter().filter(|(bit, _)| facts.capabilities & (1 << bit) == 0).map(|(_, name)| *name).collect();
    if missing.is_empty() {
        return Vec::new();
    }
    vec![Problem::new(
        format!("this process lacks {}", missing.join(", ")),
        "run outside a restricted container, or start that container as privileged",
    )]
}

fn check_kernel(facts: &Facts) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !facts.filesystems.lines().any(|line| line.trim_start_matches("nodev").trim() == "overlay") {
        problems
            .push(Problem::new("the kernel has no overlayfs", "modprobe overlay (or a kernel with CONFIG_OVERLAY_FS)"));
    }
    if facts.cgroups == Cgroups::None {
        problems.push(Problem::new(
            "no cgroups are mounted at /sys/fs/cgroup",
            "mount -t cgroup2 none /sys/fs/cgroup (version 1, hybrid and version 2 all work)",
        ));
    }
    if !facts.has_bridge_netfilter {
        problems.push(Problem::new(
            "the kernel does not show bridged traffic to the firewall",
            "modprobe br_netfilter (or a kernel with CONFIG_BRIDGE_NETFILTER)",
        ));
    }
    if let Some(error) = &facts.nft_error {
        problems.push(Problem::new(
            format!("nftables does not work: {error}"),
            "modprobe nf_tables (or a kernel with CONFIG_NF_TABLES)",
        ));
    }
    problems
}

fn check_ports(cluster: &Cluster) -> Vec<Problem> {
    let api = cluster.role.has_server().then_some(("--port", cluster.api_port, "the API"));
    let kubelet = cluster.role.has_node().then_some(("--kubelet-port", cluster.kubelet_port, "the kubelet"));
    [api, kubelet]
        .into_iter()
        .flatten()
        .filter_map(|(flag, port, whose)| {
            let error = TcpListener::bind(("0.0.0.0", port)).err()?;
            Some(Problem::new(
                format!("port {port} for {whose} cannot be had: {error}"),
                format!("stop what listens there (ss -ltnp 'sport = :{port}'), or choose another with {flag}"),
            ))
        })
        .collect()
}

fn check_programs(cluster: &Cluster, problems: &mut Vec<Problem>) -> Found {
    let mut need = |program: &str, package: &str| {
        find_program(program).unwrap_or_else(|| {
            problems.push(Problem::new(format!("{program} is not installed"), format!("apt-get install -y {package}")));
            PathBuf::from(program)
        })
    };
    if !cluster.role.has_node() {
        return Found::default();
    }
    need("nft", "nftables");
    let own = cluster.runtime_endpoint.is_none();
    let containerd = if own { need("containerd", "containerd") } else { PathBuf::new() };
    let ctr = if own { need("ctr", "containerd") } else { PathBuf::new() };
    if own {
        need("runc", "runc");
    }
    let plugins = ["/usr/lib/cni", "/opt/cni/bin"].map(PathBuf::from);
    let has_all = |dir: &&PathBuf| ["bridge", "host-local", "portmap", "loopback"].iter().all(|p| dir.join(p).exists());
    let cni_bin_dir = plugins.iter().find(has_all).cloned().unwrap_or_else(|| {
        problems.push(Problem::new(
            "the CNI plugins bridge, host-local, portmap and loopback are not in /usr/lib/cni or /opt/cni/bin",
            "apt-get install -y containernetworking-plugins",
        ));
        PathBuf::from("/usr/lib/cni")
    });
    Found { containerd, ctr, cni_bin_dir }
}

/// Looks along PATH, and where root's PATH may not reach.
fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/bin", "/sbin", "/usr/local/bin", "/usr/local/sbin"].map(PathBuf::from))
        .map(|dir| dir.join(name))
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Facts {
        Facts {
            is_root: true,
            capabilities: u64::MAX,
            filesystems: "nodev\ttmpfs\nnodev\toverlay\n\text4\n".into(),
            cgroups: Cgroups::V1,
            has_bridge_netfilter: true,
            nft_error: None,
        }
    }

    fn check(facts: &Facts) -> Vec<String> {
        check_rights(facts).into_iter().chain(check_kernel(facts)).map(|p| format!("{} => {}", p.what, p.fix)).collect()
    }

    #[test]
    fn a_good_machine_has_no_problem() {
        assert_eq!(check(&good()), Vec::<String>::new());
    }

    #[test]
    fn each_missing_thing_is_named_with_its_fix() {
        let facts = Facts { capabilities: !(1 << 21), filesystems: "ext4".into(), cgroups: Cgroups::None, ..good() };
        let got = check(&facts);
        assert_eq!(got.len(), 3, "{got:?}");
        assert!(got[0].contains("CAP_SYS_ADMIN") && got[1].contains("modprobe overlay") && got[2].contains("cgroup2"));
        assert_eq!(
            check(&Facts { is_root: false, ..good() }),
            ["ferry must run as root => run the same command with sudo"]
        );
    }

    #[test]
    fn problems_come_as_one_list() {
        let text = render(&[Problem::new("a is missing", "get a"), Problem::new("b is missing", "get b")]);
        assert_eq!(
            text,
            "this machine is not ready, 2 things to fix:\n  ✗ a is missing\n    fix: get a\n  ✗ b is missing\n    fix: get b"
        );
    }
}
