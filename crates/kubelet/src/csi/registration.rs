//! Registration of CSI drivers (upstream: pkg/kubelet/pluginmanager, pkg/volume/csi). A driver's
//! registrar puts a socket into `<root>/plugins_registry`; the kubelet asks it for the driver,
//! asks the driver for this node, tells the cluster, and answers the registrar.

use super::proto::{Empty, PluginInfo, RegistrationStatus};
use super::socket_watch::SocketWatch;
use super::{Driver, node_object};
use crate::Error;
use crate::context::Context;
use crate::unix_grpc;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const DIRECTORY: &str = "plugins_registry";
const KIND: &str = "CSIPlugin";
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
    /// The driver behind each socket, with the socket's inode.
    registered: HashMap<PathBuf, (u64, String)>,
    pause: Duration,
}

impl Registrar {
    /// Returns when to look again although nothing has changed.
    async fn reconcile(&mut self, sockets: BTreeMap<PathBuf, u64>) -> Option<Duration> {
        let gone = |(path, (inode, _)): &(&PathBuf, &(u64, String))| sockets.get(*path) != Some(inode);
        let gone: Vec<PathBuf> = self.registered.iter().filter(gone).map(|(path, _)| path.clone()).collect();
        for path in gone {
            if let Some((_, name)) = self.registered.remove(&path) {
                self.unregister(&name).await;
            }
        }
        let mut has_failed = false;
        for (path, inode) in sockets {
            if self.registered.contains_key(&path) {
                continue;
            }
            match self.register(&path).await {
                Ok(Some(name)) => {
                    self.registered.insert(path, (inode, name));
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

    /// The driver's name; nothing for a plugin of another kind.
    async fn register(&self, socket: &Path) -> Result<Option<String>, String> {
        let channel = unix_grpc::connect(socket.to_owned());
        let info = unix_grpc::call(&channel, "/pluginregistration.Registration/GetInfo", Empty {}, TIMEOUT, None);
        let info: PluginInfo = info.await.map_err(|error| error.to_string())?;
        if info.kind != KIND {
            return Ok(None);
        }
        let done = self.install(&info, socket).await;
        let status = RegistrationStatus {
            plugin_registered: done.is_ok(),
            error: done.as_ref().err().cloned().unwrap_or_default(),
        };
        let path = "/pluginregistration.Registration/NotifyRegistrationStatus";
        let told = unix_grpc::call::<_, Empty>(&channel, path, status, TIMEOUT, None).await;
        done?;
        told.map_err(|error| error.to_string())?;
        tracing::info!(driver = %info.name, "registered a CSI driver");
        Ok(Some(info.name))
    }

    async fn install(&self, info: &PluginInfo, socket: &Path) -> Result<(), String> {
        let endpoint = judge(info)?.map_or_else(|| socket.to_owned(), PathBuf::from);
        let driver = Driver::connect(&info.name, endpoint).await.map_err(|error| error.to_string())?;
        let node = driver.node_info().await.map_err(|error| error.to_string())?;
        node_object::install(&self.context, &info.name, &node).await?;
        self.context.csi.insert(driver);
        // Pods may have waited for it.
        self.context.wakers.wake_all();
        Ok(())
    }

    async fn unregister(&self, name: &str) {
        self.context.csi.remove(name);
        if let Err(error) = node_object::uninstall(&self.context, name).await {
            tracing::warn!(driver = %name, %error, "cannot take a CSI driver off the node");
        }
        tracing::info!(driver = %name, "a CSI driver is gone");
    }
}

/// The driver's socket, if it is another than the registrar's; an error where the driver cannot be
/// used.
fn judge(info: &PluginInfo) -> Result<Option<&str>, String> {
    if info.name.is_empty() {
        return Err("the plugin has no name".to_owned());
    }
    // Any 1.x is compatible; 2.x need not be.
    let is_good = |version: &String| version.trim_start_matches('v').split('.').next() == Some("1");
    if !info.supported_versions.iter().any(is_good) {
        return Err(format!(
            "validation failed for CSI Driver {} at endpoint {}: None of the versions specified {:?} are supported",
            info.name, info.endpoint, info.supported_versions
        ));
    }
    Ok(Some(info.endpoint.as_str()).filter(|endpoint| !endpoint.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_of_the_first_version_are_taken() {
        let info = |versions: &[&str], endpoint: &str| PluginInfo {
            kind: KIND.into(),
            name: "d".into(),
            endpoint: endpoint.into(),
            supported_versions: versions.iter().map(|version| (*version).to_owned()).collect(),
        };
        assert_eq!(judge(&info(&["1.0.0"], "/csi.sock")), Ok(Some("/csi.sock")));
        assert_eq!(judge(&info(&["v1.5"], "")), Ok(None));
        for versions in [&[][..], &["0.3.0"], &["2.0.0", "10.1"]] {
            assert!(judge(&info(versions, "")).is_err(), "{versions:?}");
        }
    }
}
