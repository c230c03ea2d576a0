//! ferry's own containerd: its configuration, its start, its adoption after ferry was
//! killed, and its end. Nothing of it touches a containerd that was there before.

use crate::cluster::Cluster;
use crate::preflight::Found;
use crate::process::{self, Process};
use crate::{images, namespaces, rotating_file};
use anyhow::{Context, Result, bail};
use ferry_kubelet::cri::Runtime;
use ferry_kubelet::cri::grpc::GrpcRuntime;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const START_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a containerd that runs already may take to answer before it is replaced.
const ADOPT_TIMEOUT: Duration = Duration::from_secs(10);
/// containerd writes some lines for a pod; a file of 10 MB does not double in this time.
const LOOK_AT_LOG_EVERY: Duration = Duration::from_secs(10);

/// Starts containerd, or finds the one that outlived the last ferry. One that is there but
/// does not answer is replaced; the pods' shims live on and are found by the next.
pub async fn start(cluster: &Cluster, found: &Found) -> Result<()> {
    let run = cluster.run_dir.join("containerd");
    std::fs::create_dir_all(&run).with_context(|| format!("cannot make {}", run.display()))?;
    std::fs::create_dir_all(cluster.cni_conf_dir()).context("cannot make the CNI configuration directory")?;
    if let Some(process) = running(cluster)? {
        if await_answer(cluster).await {
            return Ok(());
        }
        tracing::warn!(pid = process.pid, "containerd does not answer and is replaced");
        process.kill().await.context("cannot end a containerd that does not answer")?;
    }
    let config = run.join("config.toml");
    std::fs::write(&config, render_config(cluster, found))
        .with_context(|| format!("cannot write {}", config.display()))?;
    let log = cluster.containerd_log_file();
    cut_log(cluster);
    let output = rotating_file::open(&log).with_context(|| format!("cannot open {}", log.display()))?;
    namespaces::share(Path::new(namespaces::DIRECTORY))?;
    let mut command = tokio::process::Command::new(&found.containerd);
    command
        .arg("--config")
        .arg(&config)
        .stdin(Stdio::null())
        .stdout(output.try_clone().context("cannot share the log file")?)
        .stderr(output)
        // In a process group of its own: Ctrl-C is for ferry, which then ends containerd in order.
        .process_group(0);
    let mut child = command.spawn().with_context(|| format!("cannot start {}", found.containerd.display()))?;
    let id = child.id().context("containerd ended at once")?;
    std::fs::write(pid_file(cluster), id.to_string()).context("cannot note containerd's process id")?;
    let (socket, deadline) = (cluster.runtime_socket(), Instant::now() + START_TIMEOUT);
    while tokio::net::UnixStream::connect(&socket).await.is_err() {
        if let Some(status) = child.try_wait().context("cannot watch containerd")? {
            bail!("containerd ended at once ({status}); the reason stands in {}", log.display());
        }
        if Instant::now() > deadline {
            bail!("containerd did not open {} within {START_TIMEOUT:?}; see {}", socket.display(), log.display());
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // It outlives this process on purpose: a killed ferry must not take the pods with it.
    // The task only reaps it should it end first.
    tokio::spawn(async move { child.wait().await });
    Ok(())
}

/// Keeps containerd running until `shutdown`, which leaves it running: an end of containerd
/// is the error of this attempt, and the supervisor makes the next one.
pub async fn keep(cluster: Cluster, found: Found, shutdown: CancellationToken) -> Result<()> {
    start(&cluster, &found).await?;
    let process = running(&cluster)?.context("it ended at once")?;
    let mut ticks = tokio::time::interval(LOOK_AT_LOG_EVERY);
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            () = process.ended() => {
                bail!("process {} ended; its log is {}", process.pid, cluster.containerd_log_file().display());
            }
            _ = ticks.tick() => cut_log(&cluster),
        }
    }
}

/// containerd holds its log open for as long as it lives, across the lives of ferry, so that
/// the file is cut in place.
fn cut_log(cluster: &Cluster) {
    let log = cluster.containerd_log_file();
    if let Err(error) = rotating_file::cut_if_large(&log, rotating_file::MAX_SIZE) {
        tracing::warn!(log = %log.display(), %error, "cannot rotate the log");
    }
}

/// Does our containerd run and answer over CRI?
pub async fn answers(cluster: &Cluster) -> bool {
    if pid(cluster).is_none() {
        return false;
    }
    let Ok(runtime) = GrpcRuntime::connect(&cluster.runtime_socket().to_string_lossy()) else { return false };
    matches!(tokio::time::timeout(Duration::from_secs(2), runtime.version()).await, Ok(Ok(_)))
}

/// One that has just been started by a ferry that was killed takes a moment.
async fn await_answer(cluster: &Cluster) -> bool {
    let deadline = Instant::now() + ADOPT_TIMEOUT;
    while pid(cluster).is_some() && Instant::now() < deadline {
        if answers(cluster).await {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

/// Our containerd, held by a descriptor.
pub fn running(cluster: &Cluster) -> Result<Option<Process>> {
    let Some(id) = pid(cluster) else { return Ok(None) };
    let process = Process::open(id)?;
    Ok(process.filter(|process| pid(cluster) == Some(process.pid)))
}

fn pid_file(cluster: &Cluster) -> PathBuf {
    cluster.run_dir.join("containerd/containerd.pid")
}

/// The process id of our containerd if it runs. A reused id is told by the command line.
fn pid(cluster: &Cluster) -> Option<i32> {
    let id: i32 = std::fs::read_to_string(pid_file(cluster)).ok()?.trim().parse().ok()?;
    let config = cluster.run_dir.join("containerd/config.toml");
    process::command_line(id).iter().any(|word| Path::new(word) == config).then_some(id)
}

fn render_config(cluster: &Cluster, found: &Found) -> String {
    let run = cluster.run_dir.join("containerd");
    let root = cluster.data_dir.join("containerd");
    format!(
        r#"# Written by ferry at each start; changes here are lost.
version = 2
root = "{root}"
state = "{state}"
disabled_plugins = [
  "io.containerd.internal.v1.opt", "io.containerd.internal.v1.tracing", "io.containerd.tracing.processor.v1.otlp",
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs",
]

[grpc]
  address = "{socket}"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  # A machine without CAP_SYS_RESOURCE cannot lower the score; every sandbox would fail.
  restrict_oom_score_adj = true
  max_container_log_line_size = 16384

  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
{crun}
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{cni_bin}"
    conf_dir = "{cni_conf}"

  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "{registries}:{rendered}"
"#,
        root = root.display(),
        state = run.join("state").display(),
        socket = run.join("containerd.sock").display(),
        pause = images::PAUSE,
        cni_bin = found.cni_bin_dir.display(),
        crun = found.crun.as_deref().map(render_crun).unwrap_or_default(),
        cni_conf = cluster.cni_conf_dir().display(),
        // Directories that users have made by hand come first.
        registries = cluster.data_dir.join("registries").display(),
        rendered = cluster.registries().hosts.display(),
    )
}

/// The handler `crun`: the same shim with another program.
fn render_crun(program: &Path) -> String {
    let handler = r#"[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun"#;
    format!(
        "    {handler}]\n      runtime_type = \"io.containerd.runc.v2\"\n      {handler}.options]\n        \
         BinaryName = \"{}\"\n        SystemdCgroup = false\n",
        program.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_keeps_to_the_clusters_own_directories() {
        let dir = tempfile::tempdir().expect("a directory");
        let place = crate::Place { data_dir: dir.path().join("data"), run_dir: Some(dir.path().join("run")) };
        let wishes = crate::cluster::Wishes {
            node_name: Some("a".into()),
            node_ip: Some("192.0.2.7".parse().expect("an address")),
            ..Default::default()
        };
        let cluster = Cluster::load_or_decide(&place, &wishes).expect("decided");
        let mut found = Found {
            containerd: "containerd".into(),
            ctr: "ctr".into(),
            cni_bin_dir: "/usr/lib/cni".into(),
            crun: None,
        };
        let config = render_config(&cluster, &found);
        assert!(!config.contains("crun"));
        found.crun = Some("/usr/bin/crun".into());
        let with_crun = render_config(&cluster, &found);
        assert!(with_crun.contains("containerd.runtimes.crun.options]\n        BinaryName = \"/usr/bin/crun\"\n"));
        assert!(config.contains("restrict_oom_score_adj = true"));
        for key in ["root", "state", "  address", "    conf_dir"] {
            let line = config.lines().find(|l| l.starts_with(&format!("{key} ="))).unwrap_or_default();
            assert!(line.contains(&*dir.path().to_string_lossy()), "{key}: {line}");
        }
    }
}
