//! A containerd of the test's own: its root, state and socket under one temporary
//! directory, with an image the test has packed itself. Dropping it leaves nothing.

use ferry_kubelet::cri::Runtime;
use ferry_kubelet::cri::grpc::GrpcRuntime;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub const IMAGE: &str = "docker.io/test/program:1";

pub struct Machine {
    pub directory: PathBuf,
    containerd: Child,
    bridge: String,
    cgroup: String,
}

impl Machine {
    pub async fn start(name: &str) -> Self {
        // Short, because unix sockets allow little more than a hundred characters.
        let directory = PathBuf::from(format!("/tmp/ferry-kubelet-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(directory.join("cni/net.d")).expect("a directory for the test");
        std::fs::write(directory.join("config.toml"), config(&directory)).expect("containerd's configuration");
        let log = std::fs::File::create(directory.join("containerd.log")).expect("a log");
        let containerd = Command::new("containerd")
            .arg("--config")
            .arg(directory.join("config.toml"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("containerd is installed");
        let bridge = format!("fkt{}", std::process::id() % 100_000);
        let cgroup = format!("ferry-test-{name}-{}", std::process::id());
        let machine = Self { directory, containerd, bridge, cgroup };
        let until = Instant::now() + Duration::from_secs(20);
        while !machine.ctr(&["version"]).status.success() {
            assert!(Instant::now() < until, "containerd answers: {}", machine.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        machine.import_image();
        machine
    }

    pub fn socket(&self) -> String {
        self.directory.join("containerd.sock").to_string_lossy().into_owned()
    }

    pub fn config(&self, node: &str) -> ferry_kubelet::Config {
        let mut config = ferry_kubelet::Config::new(node, "127.0.0.1", &self.directory, &self.socket());
        config.cni.bridge = self.bridge.clone();
        config.cgroup_root = self.cgroup.clone();
        config.pod_cidr =
            Some(format!("10.{}.{}.0/24", 100 + std::process::id() % 100, std::process::id() / 100 % 250));
        config.heartbeat = Duration::from_secs(1);
        // A test does not fail because the disk of the machine under it is full.
        config.settings.eviction.eviction_hard.clear();
        config
    }

    /// The cgroup that all pods are in.
    pub fn cgroup(&self) -> &str {
        &self.cgroup
    }

    /// The cgroup's directory of a controller, made where it is missing.
    pub fn cgroup_directory(&self, controller: &str) -> PathBuf {
        let root = Path::new("/sys/fs/cgroup");
        let is_v2 = root.join("cgroup.controllers").exists();
        let directory = if is_v2 { root.join(&self.cgroup) } else { root.join(controller).join(&self.cgroup) };
        std::fs::create_dir_all(&directory).expect("a cgroup for the test");
        directory
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.join("containerd.log")).unwrap_or_default()
    }

    pub fn ctr(&self, arguments: &[&str]) -> std::process::Output {
        Command::new("ctr")
            .args(["--address", &self.socket(), "--namespace", "k8s.io"])
            .args(arguments)
            .output()
            .expect("ctr is installed")
    }

    pub fn containers(&self) -> Vec<String> {
        let output = self.ctr(&["containers", "list", "--quiet"]);
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect()
    }

    pub fn mounts(&self) -> Vec<String> {
        let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let here = self.directory.to_string_lossy().into_owned();
        let points = table.lines().filter_map(|line| line.split(' ').nth(4).map(str::to_string));
        points.filter(|point| point.starts_with(&here)).collect()
    }

    pub fn cgroups(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut queue: Vec<PathBuf> = std::fs::read_dir("/sys/fs/cgroup")
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path().join(&self.cgroup))
            .chain([Path::new("/sys/fs/cgroup").join(&self.cgroup)])
            .collect();
        while let Some(path) = queue.pop() {
            for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
                if entry.path().is_dir() {
                    queue.push(entry.path());
                    if entry.file_name().to_string_lossy().starts_with("pod") {
                        found.push(entry.path());
                    }
                }
            }
        }
        found
    }

    fn import_image(&self) {
        let program = self.directory.join("program");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/program.rs");
        let compiled = Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into()))
            .args([
                "--edition",
                "2021",
                "-O",
                "-C",
                "target-feature=+crt-static",
                "-C",
                "panic=abort",
                "-C",
                "strip=symbols",
                "-o",
            ])
            .arg(&program)
            .arg(source)
            .status()
            .expect("rustc is installed");
        assert!(compiled.success(), "the test's program compiles");
        let program = std::fs::read(&program).expect("the program");
        self.import("test/program:1", &[&[("program", &program, 0o755)]]);
    }

    /// Packs an image of these layers and imports it.
    pub fn import(&self, name: &str, layers: &[&[LayerFile<'_>]]) {
        let archive = self.directory.join("image.tar");
        pack(name, layers, &archive);
        let path = archive.to_string_lossy().into_owned();
        let imported = self.ctr(&["images", "import", &path]);
        assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    }

    /// The keys of all snapshots.
    pub fn snapshots(&self) -> Vec<String> {
        let output = self.ctr(&["snapshots", "list"]);
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        lines.lines().skip(1).filter_map(|line| line.split_whitespace().next().map(str::to_string)).collect()
    }
}

/// Path, content and mode.
pub type LayerFile<'a> = (&'a str, &'a [u8], u32);

/// A docker archive of layers. Its entrypoint is the /program that some have.
fn pack(name: &str, layers: &[&[LayerFile<'_>]], archive: &Path) {
    let tar = |files: &[LayerFile<'_>]| {
        let mut layer = tar::Builder::new(Vec::new());
        files.iter().for_each(|(path, data, mode)| append(&mut layer, path, data, *mode));
        layer.into_inner().expect("a layer")
    };
    let layers: Vec<Vec<u8>> = layers.iter().map(|files| tar(files)).collect();
    let digest = |layer: &Vec<u8>| -> String {
        let hex: String = Sha256::digest(layer).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256:{hex}")
    };
    let digests: Vec<String> = layers.iter().map(digest).collect();
    let names: Vec<String> = (0..layers.len()).map(|number| format!("layer{number}.tar")).collect();
    let config = serde_json::json!({
        "architecture": if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" },
        "os": "linux",
        "config": { "Entrypoint": ["/program"], "Env": ["PATH=/"] },
        "rootfs": { "type": "layers", "diff_ids": digests },
    });
    let manifest = serde_json::json!([{ "Config": "config.json", "RepoTags": [name], "Layers": names }]);
    let mut image = tar::Builder::new(std::fs::File::create(archive).expect("an archive"));
    append(&mut image, "config.json", config.to_string().as_bytes(), 0o644);
    names.iter().zip(&layers).for_each(|(name, layer)| append(&mut image, name, layer, 0o644));
    append(&mut image, "manifest.json", manifest.to_string().as_bytes(), 0o644);
    image.finish().expect("a whole archive");
}

fn append<W: std::io::Write>(archive: &mut tar::Builder<W>, name: &str, data: &[u8], mode: u32) {
    let mut header = tar::Header::new_gnu();
    header.set_size(data.len() as u64);
    header.set_mode(mode);
    header.set_cksum();
    archive.append_data(&mut header, name, data).expect("an entry");
}

fn config(directory: &Path) -> String {
    let at = |name: &str| directory.join(name).to_string_lossy().into_owned();
    format!(
        r#"version = 2
root = "{root}"
state = "{state}"
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
  address = "{socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{IMAGE}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{conf}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
"#,
        root = at("root"),
        state = at("state"),
        socket = at("containerd.sock"),
        conf = at("cni/net.d"),
    )
}

impl Drop for Machine {
    fn drop(&mut self) {
        // What a failed test has left must not outlive it. The runtime takes its sandboxes
        // down itself, networks included, while there still is one to ask.
        let socket = self.socket();
        let clean = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let Ok(cri) = GrpcRuntime::connect(&socket) else { return };
                for sandbox in cri.list_pod_sandboxes(None).await.unwrap_or_default() {
                    let _ = cri.stop_pod_sandbox(&sandbox.id).await;
                    let _ = cri.remove_pod_sandbox(&sandbox.id).await;
                }
            });
        });
        let _ = clean.join();
        let _ = nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(self.containerd.id() as i32),
            nix::sys::signal::Signal::SIGTERM,
        );
        let _ = self.containerd.wait();
        let mut mounts = self.mounts();
        mounts.sort_by_key(|point| std::cmp::Reverse(point.len()));
        for point in mounts {
            let _ = nix::mount::umount2(point.as_str(), nix::mount::MntFlags::MNT_DETACH);
        }
        let _ = Command::new("ip").args(["link", "delete", &self.bridge]).stderr(Stdio::null()).status();
        for entry in std::fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten() {
            remove_cgroup(&entry.path().join(&self.cgroup));
        }
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn remove_cgroup(path: &Path) {
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            remove_cgroup(&entry.path());
        }
    }
    let _ = std::fs::remove_dir(path);
}
