//! Registration of CSI drivers, DRA drivers and device plugins over one directory (upstream:
//! pkg/kubelet/pluginmanager, pkg/volume/csi, pkg/kubelet/cm). A registrar puts a socket into
//! `<root>/plugins_registry`; the kubelet asks it for the plugin, takes the plugin on by its kind, and
//! answers the registrar.

use super::proto::{Empty, PluginInfo, RegistrationStatus};
use super::socket_watch::SocketWatch;
use super::{Driver, node_object};
use crate::context::Context;
use crate::{Error, devices, dra, unix_grpc};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

const DIRECTORY: &str = "plugins_registry";
const CSI: &str = "CSIPlugin";
const DRA: &str = "DRAPlugin";
const DEVICE: &str = "DevicePlugin";
const TIMEOUT: Duration = Duration::from_secs(10);
/// A registrar that failed is asked again after these.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(60);

/// Registers drivers as they come and go, until `shutdown`.
pub async fn run(context: Arc<Context>, shutdown: CancellationToken) -> Result<(), Error> {
    let directory = context.config.root_dir.join(DIRECTORY);
    let watch = SocketWatch::new(&directory).map_err(|source| Error::Directory { path: directory.clone(), source })?;
    tokio::select! {
        () = shutdown.cancelled() => return Ok(()),
        () = context.node.synced() => {}
    }
    let mut registrar = Registrar { context, registered: HashMap::new(), pause: FIRST_RETRY };
    loop {
        let retry = tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            retry = registrar.reconcile(watch.list()) => retry,
        };
        tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            () = watch.changed() => registrar.pause = FIRST_RETRY,
            () = pause(retry) => {}
        }
    }
}

async fn pause(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

struct Registrar {
    context: Arc<Context>,
    /// The plugin behind each socket, with the socket's inode.
    registered: HashMap<PathBuf, (u64, Plugin)>,
    pause: Duration,
}

/// A plugin that was taken on.
struct Plugin {
    kind: String,
    name: String,
    /// The task that follows a device plugin's devices.
    task: Option<AbortHandle>,
}

impl Registrar {
    /// Returns when to look again although nothing has changed.
    async fn reconcile(&mut self, sockets: BTreeMap<PathBuf, u64>) -> Option<Duration> {
        let gone = |(path, (inode, _)): &(&PathBuf, &(u64, Plugin))| sockets.get(*path) != Some(inode);
        let gone: Vec<PathBuf> = self.registered.iter().filter(gone).map(|(path, _)| path.clone()).collect();
        for path in gone {
            if let Some((_, plugin)) = self.registered.remove(&path) {
                self.unregister(&plugin, &path).await;
            }
        }
        let mut has_failed = false;
        for (path, inode) in sockets {
            if self.registered.contains_key(&path) {
                continue;
            }
            match self.register(&path).await {
                Ok(Some(plugin)) => {
                    self.registered.insert(path, (inode, plugin));
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(socket = %path.display(), %error, "cannot register a plugin");
                    has_failed = true;
                }
            }
        }
        let pause = has_failed.then_some(self.pause);
        self.pause = (self.pause * 2).min(LAST_RETRY);
        pause
    }

    /// Nothing for a plugin of an unknown kind.
    async fn register(&self, socket: &Path) -> Result<Option<Plugin>, String> {
        let channel = unix_grpc::connect(socket.to_owned());
        let info = unix_grpc::call(&channel, "/pluginregistration.Registration/GetInfo", Empty {}, TIMEOUT, None);
        let info: PluginInfo = info.await.map_err(|error| error.to_string())?;
        if ![CSI, DRA, DEVICE].contains(&info.kind.as_str()) {
            return Ok(None);
        }
        let done = self.install(&info, socket).await;
        let status = RegistrationStatus {
            plugin_registered: done.is_ok(),
            error: done.as_ref().err().cloned().unwrap_or_default(),
        };
        let path = "/pluginregistration.Registration/NotifyRegistrationStatus";
        let told = unix_grpc::call::<_, Empty>(&channel, path, status, TIMEOUT, None).await;
        let task = done?;
        told.map_err(|error| error.to_string())?;
        tracing::info!(kind = %info.kind, name = %info.name, "registered a plugin");
        Ok(Some(Plugin { kind: info.kind, name: info.name, task }))
    }

    async fn install(&self, info: &PluginInfo, socket: &Path) -> Result<Option<AbortHandle>, String> {
        let endpoint = find_endpoint(info, socket)?;
        match info.kind.as_str() {
            DRA => {
                let versions = &info.supported_versions;
                dra::registry::install(&self.context, &info.name, socket.to_owned(), endpoint, versions)?;
                // Pods may have waited for it, and the claims of those that are gone.
                self.context.wakers.wake_all();
                dra::release_abandoned(&self.context).await;
                Ok(None)
            }
            DEVICE => {
                let following = devices::registration::follow(self.context.clone(), &info.name, endpoint).await;
                following.map(Some).map_err(|error| devices::render_error(&error))
            }
            _ => self.install_csi(info, endpoint).await.map(|()| None),
        }
    }

    async fn install_csi(&self, info: &PluginInfo, endpoint: PathBuf) -> Result<(), String> {
        judge(info)?;
        let driver = Driver::connect(&info.name, endpoint).await.map_err(|error| error.to_string())?;
        let node = driver.node_info().await.map_err(|error| error.to_string())?;
        node_object::install(&self.context, &info.name, &node).await?;
        self.context.csi.insert(driver);
        // Pods may have waited for it.
        self.context.wakers.wake_all();
        Ok(())
    }

    async fn unregister(&self, plugin: &Plugin, socket: &Path) {
        let name = plugin.name.as_str();
        match plugin.kind.as_str() {
            DRA => return dra::registry::uninstall(&self.context, name, socket),
            DEVICE => {
                if let Some(task) = &plugin.task {
                    task.abort();
                }
                return self.context.devices.disconnect(name);
            }
            _ => {}
        }
        self.context.csi.remove(name);
        if let Err(error) = node_object::uninstall(&self.context, name).await {
            tracing::warn!(driver = %name, %error, "cannot take a CSI driver off the node");
        }
        tracing::info!(driver = %name, "a CSI driver is gone");
    }
}

/// The plugin's socket, which may be the registrar's.
fn find_endpoint(info: &PluginInfo, socket: &Path) -> Result<PathBuf, String> {
    if info.name.is_empty() {
        return Err("the plugin has no name".to_owned());
    }
    Ok(if info.endpoint.is_empty() { socket.to_owned() } else { PathBuf::from(&info.endpoint) })
}

/// An error where a CSI driver cannot be used.
fn judge(info: &PluginInfo) -> Result<(), String> {
    // Any 1.x is compatible; 2.x need not be.
    let is_good = |version: &String| version.trim_start_matches('v').split('.').next() == Some("1");
    if !info.supported_versions.iter().any(is_good) {
        return Err(format!(
            "validation failed for CSI Driver {} at endpoint {}: None of the versions specified {:?} are supported",
            info.name, info.endpoint, info.supported_versions
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_of_the_first_version_are_taken() {
        let info = |versions: &[&str], endpoint: &str| PluginInfo {
            kind: CSI.into(),
            name: "d".into(),
            endpoint: endpoint.into(),
            supported_versions: versions.iter().map(|version| (*version).to_owned()).collect(),
        };
        assert_eq!(judge(&info(&["1.0.0"], "/csi.sock")), Ok(()));
        assert_eq!(judge(&info(&["v1.5"], "")), Ok(()));
        let at = |endpoint: &str| find_endpoint(&info(&["1.0.0"], endpoint), Path::new("/reg.sock"));
        assert_eq!((at("/csi.sock"), at("")), (Ok("/csi.sock".into()), Ok("/reg.sock".into())));
        for versions in [&[][..], &["0.3.0"], &["2.0.0", "10.1"]] {
            assert!(judge(&info(versions, "")).is_err(), "{versions:?}");
        }
    }
}
