//! The mounts of one container: its volumes, the hosts file and the file for its
//! termination message. Called by `sync` before a container is created.

use super::PodSync;
use crate::container::{ConfigError, config, expand, hosts};
use crate::cri::v1;
use crate::pod;
use crate::volume::beneath::Dir;
use crate::volume::{self, Mounted, VolumeMode, subpath};
use ferry_api::view::core::v1::{ContainerView, Pod, VolumeDeviceView, VolumeMountView};
use ferry_client::SharedObject;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

impl PodSync<'_> {
    /// The mounts of a container, with everything on the host that they need.
    pub(super) async fn mounts(
        &self,
        container: ContainerView<'_>,
        mounted: &Mounted,
        env: &BTreeMap<String, String>,
        ips: &[String],
    ) -> Result<Vec<v1::Mount>, ConfigError> {
        let config = &self.context.config;
        let preparation = Preparation {
            root: config.root_dir.clone(),
            log_root: config.log_dir.clone(),
            cluster_domain: config.cluster_domain.clone(),
            pod: self.pod.clone(),
            container: container.name().to_owned(),
            mounted: mounted.clone(),
            env: env.clone(),
            ips: ips.to_vec(),
        };
        let prepared = tokio::task::spawn_blocking(move || preparation.run()).await;
        prepared.map_err(|error| ConfigError(error.to_string()))?
    }
}

/// Everything the mounts of one container depend on.
struct Preparation {
    root: PathBuf,
    log_root: PathBuf,
    cluster_domain: String,
    pod: SharedObject<Pod>,
    /// The name of the container.
    container: String,
    mounted: Mounted,
    env: BTreeMap<String, String>,
    ips: Vec<String>,
}

impl Preparation {
    /// Blocking.
    fn run(&self) -> Result<Vec<v1::Mount>, ConfigError> {
        let found = pod::find_container(self.pod.view(), &self.container);
        let (_, container) = found.ok_or_else(|| ConfigError(format!("container {} not found", self.container)))?;
        let mut mounts = Vec::new();
        for (index, wanted) in container.volume_mounts().iter().enumerate() {
            mounts.push(self.volume(index, wanted)?);
        }
        let own = |what: &str, error: io::Error| {
            let directory = volume::pod_directory(&self.root, self.pod.uid());
            ConfigError(format!("cannot make the {what} under {}: {error}", directory.display()))
        };
        if !mounts.iter().any(|mount| mount.container_path == "/etc/hosts") {
            let path = self.write_hosts().map_err(|error| own("hosts file", error))?;
            mounts.push(plain("/etc/hosts", &path));
        }
        let termination_path = config::termination_path(container);
        if !termination_path.is_empty() {
            let path = self.make_termination_file().map_err(|error| own("termination message file", error))?;
            mounts.push(plain(termination_path, &path));
        }
        self.make_log_directory().map_err(|error| {
            let name = &self.container;
            ConfigError(format!("create container log directory for container {name} failed: {error}"))
        })?;
        Ok(mounts)
    }

    fn volume(&self, index: usize, wanted: VolumeMountView<'_>) -> Result<v1::Mount, ConfigError> {
        let (container, name) = (&self.container, wanted.name());
        let Some(volume) = self.mounted.volumes.get(name) else {
            return Err(ConfigError(format!("cannot find volume {name:?} to mount into container {container:?}")));
        };
        let sub_path = self.sub_path(wanted)?;
        let host_path = match sub_path.is_empty() {
            true => volume.path.clone(),
            false => subpath::prepare(&subpath::Wanted {
                root: &self.root,
                uid: self.pod.uid(),
                volume: name,
                volume_path: &volume.path,
                container,
                index,
                sub_path: &sub_path,
            })
            .map_err(|why| {
                ConfigError(format!(
                    "failed to prepare subPath for volumeMount {name:?} of container {container:?}: {why}"
                ))
            })?,
        };
        Ok(render_mount(wanted, &host_path, volume.must_be_read_only))
    }

    fn sub_path(&self, wanted: VolumeMountView<'_>) -> Result<String, ConfigError> {
        let text = wanted.sub_path_expr();
        if text.is_empty() {
            return Ok(wanted.sub_path().to_owned());
        }
        let missing = expand::unresolved(text, |name| self.env.get(name).cloned());
        if !missing.is_empty() {
            return Err(ConfigError(format!("missing value for {missing:?}")));
        }
        Ok(expand::expand(text, |name| self.env.get(name).cloned()))
    }

    fn pod_directory(&self) -> io::Result<Dir> {
        Dir::open(&self.root)?.make_dirs(&Path::new("pods").join(self.pod.uid()), 0o755)
    }

    fn write_hosts(&self) -> io::Result<PathBuf> {
        let host_file = match pod::is_host_network(self.pod.view()) {
            true => std::fs::read_to_string("/etc/hosts").unwrap_or_default(),
            false => String::new(),
        };
        let text = hosts::render_hosts(self.pod.view(), &self.ips, &host_file, &self.cluster_domain);
        self.pod_directory()?.overwrite_file(OsStr::new("etc-hosts"), text.as_bytes(), 0o644)?;
        Ok(volume::pod_directory(&self.root, self.pod.uid()).join("etc-hosts"))
    }

    /// One file for each start, because the last one's message is still being read.
    fn make_termination_file(&self) -> io::Result<PathBuf> {
        let name = format!("{:08x}", rand::random::<u32>());
        let directory = Path::new("containers").join(&self.container);
        // Any user of the container may write to it, whatever the kubelet's umask.
        self.pod_directory()?.make_dirs(&directory, 0o755)?.create_file(OsStr::new(&name), 0o666)?;
        Ok(volume::pod_directory(&self.root, self.pod.uid()).join(directory).join(name))
    }

    fn make_log_directory(&self) -> io::Result<()> {
        let pod = crate::container::sandbox::pod_log_directory(
            &self.log_root,
            self.pod.namespace(),
            self.pod.name(),
            self.pod.uid(),
        );
        let relative = pod.strip_prefix(&self.log_root).map_err(io::Error::other)?.join(&self.container);
        Dir::open(&self.log_root)?.make_dirs(&relative, 0o755).map(drop)
    }
}

/// The volumes that the container gets as devices. Pure.
pub(crate) fn render_devices(container: ContainerView<'_>, mounted: &Mounted) -> Result<Vec<v1::Device>, ConfigError> {
    let render = |wanted: VolumeDeviceView<'_>| {
        let volume = mounted.volumes.get(wanted.name()).filter(|volume| volume.mode == VolumeMode::Block);
        let Some(volume) = volume else {
            let (name, container) = (wanted.name(), container.name());
            return Err(ConfigError(format!("cannot find volume {name:?} to pass into container {container:?}")));
        };
        Ok(v1::Device {
            container_path: wanted.device_path().to_owned(),
            host_path: volume.path.to_string_lossy().into_owned(),
            permissions: if volume.must_be_read_only { "r" } else { "mrw" }.to_owned(),
        })
    };
    container.volume_devices().iter().map(render).collect()
}

/// One volumeMount as the runtime is told of it. Pure.
fn render_mount(wanted: VolumeMountView<'_>, host_path: &Path, must_be_read_only: bool) -> v1::Mount {
    let container_path = match wanted.mount_path() {
        path if path.starts_with('/') => path.to_owned(),
        path => format!("/{path}"),
    };
    let propagation = match wanted.mount_propagation() {
        Some("HostToContainer") => v1::MountPropagation::PropagationHostToContainer,
        Some("Bidirectional") => v1::MountPropagation::PropagationBidirectional,
        _ => v1::MountPropagation::PropagationPrivate,
    };
    v1::Mount {
        container_path,
        host_path: host_path.to_string_lossy().into_owned(),
        readonly: must_be_read_only || wanted.read_only(),
        propagation: propagation as i32,
        ..Default::default()
    }
}

fn plain(container_path: &str, host_path: &Path) -> v1::Mount {
    v1::Mount {
        container_path: container_path.into(),
        host_path: host_path.to_string_lossy().into_owned(),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::References;
    use crate::volume::{PodVolumes, Volumes};
    use serde_json::json;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;

    /// The mounts of a container that asks to write into one volume of each kind.
    async fn check(volumes: serde_json::Value) -> Vec<v1::Mount> {
        let place = tempfile::tempdir().expect("a temporary directory");
        let names = volumes.as_array().expect("a list").iter().map(|volume| volume["name"].clone());
        let wanted: Vec<_> = names.map(|name| json!({ "name": name, "mountPath": name, "readOnly": false })).collect();
        let mut pod = crate::pod::tests::pod(json!({ "volumes": volumes,
            "containers": [{ "name": "a", "volumeMounts": wanted }] }));
        pod.edit_metadata(|meta| meta.set_uid("u"));
        let pod = SharedObject::of(pod);
        let references = References {
            config_maps: [("cm".to_string(), SharedObject::of(json!({})))].into(),
            secrets: [("s".to_string(), SharedObject::of(json!({})))].into(),
            ..Default::default()
        };
        let mut own = PodVolumes::new(place.path(), pod.clone());
        own.references = Arc::new(references);
        let volumes = Volumes::of_machine(place.path());
        let mounted = volumes.set_up(&Arc::new(own)).await;
        let preparation = Preparation {
            root: place.path().into(),
            log_root: place.path().into(),
            cluster_domain: "cluster.local".into(),
            container: "a".into(),
            pod,
            mounted: mounted.expect("set up"),
            env: BTreeMap::new(),
            ips: vec![],
        };
        let mounts = preparation.run().expect("prepared");
        let last = mounts.last().expect("the termination file");
        assert_eq!(std::fs::metadata(&last.host_path).expect("there").permissions().mode() & 0o777, 0o666);
        volumes.tear_down("u").await.expect("torn down");
        mounts
    }

    #[tokio::test]
    async fn what_the_kubelet_writes_is_read_only_for_containers() {
        let mounts = check(json!([
            { "name": "config", "configMap": { "name": "cm" } },
            { "name": "secret", "secret": { "secretName": "s" } },
            { "name": "downward", "downwardAPI": { "items": [] } },
            { "name": "projected", "projected": { "sources": [] } },
            { "name": "scratch", "emptyDir": {} },
            { "name": "host", "hostPath": { "path": "/" } },
        ]))
        .await;
        let seen: Vec<_> = mounts.iter().map(|mount| (mount.container_path.as_str(), mount.readonly)).collect();
        let expected = [
            ("/config", true),
            ("/secret", true),
            ("/downward", true),
            ("/projected", true),
            ("/scratch", false),
            ("/host", false),
            ("/etc/hosts", false),
            ("/dev/termination-log", false),
        ];
        assert_eq!(seen, expected);
    }
}
