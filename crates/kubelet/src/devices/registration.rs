//! Registration of device plugins: the kubelet's own socket in the directory of device plugins, and
//! the stream of devices of each plugin (upstream: pkg/kubelet/cm/devicemanager/plugin/v1beta1).

use super::DeviceManager;
use super::plugin::{Plugin, render_error};
use super::proto::{Empty, HEALTHY, ListAndWatchResponse, RegisterRequest, VERSION};
use crate::Error;
use crate::context::Context;
use crate::unix_grpc::serve::{Reply, serve};
use ferry_api::rules::resource_name;
use ferry_devices::plugin::Device;
use parking_lot::Mutex;
use prost::Message;
use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::UnixListener;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use tonic::Status;

pub const SOCKET: &str = "kubelet.sock";

/// Serves registrations until `shutdown`.
pub async fn run(context: Arc<Context>, shutdown: CancellationToken) -> Result<(), Error> {
    let directory = context.config.device_plugin_dir();
    let failed = |source| Error::Directory { path: directory.clone(), source };
    std::fs::create_dir_all(&directory).map_err(failed)?;
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o750)).map_err(failed)?;
    // Plugins watch for the kubelet's socket to be made anew, and then register anew.
    remove_sockets(&directory);
    let listener = UnixListener::bind(directory.join(SOCKET)).map_err(failed)?;
    let registrar = Arc::new(Registrar { context, directory, watches: Mutex::default() });
    tokio::select! {
        () = shutdown.cancelled() => {}
        () = serve(listener, move |path, message| {
            let registrar = registrar.clone();
            async move { registrar.answer(&path, &message).await }
        }) => {}
    }
    Ok(())
}

fn remove_sockets(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_socket()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

struct Registrar {
    context: Arc<Context>,
    directory: PathBuf,
    /// The task that follows each resource's plugin.
    watches: Mutex<HashMap<String, AbortHandle>>,
}

impl Drop for Registrar {
    fn drop(&mut self) {
        self.watches.lock().values().for_each(AbortHandle::abort);
    }
}

impl Registrar {
    async fn answer(&self, path: &str, message: &[u8]) -> Result<Reply, Status> {
        if path != "/v1beta1.Registration/Register" {
            return Err(Status::unimplemented(format!("unknown method {path}")));
        }
        let request = RegisterRequest::decode(message).map_err(|error| Status::invalid_argument(error.to_string()))?;
        judge(&request).map_err(Status::unknown)?;
        let follow = follow(self.context.clone(), &request.resource_name, self.directory.join(&request.endpoint)).await;
        let watch = follow.map_err(|error| {
            Status::unknown(format!("failed to get device plugin options: {}", render_error(&error)))
        })?;
        if let Some(before) = self.watches.lock().insert(request.resource_name, watch) {
            before.abort();
        }
        Ok(Reply::of(&Empty {}))
    }
}

/// Upstream's sentences for a registration that is refused.
fn judge(request: &RegisterRequest) -> Result<(), String> {
    if request.version != VERSION {
        return Err(format!(
            "requested API version {:?} is not supported by kubelet. Supported versions are [{VERSION:?}]",
            request.version
        ));
    }
    if !resource_name::is_extended(&request.resource_name) {
        return Err(format!("the ResourceName {:?} is invalid", request.resource_name));
    }
    // The socket stands in the kubelet's own directory.
    if request.endpoint.is_empty() || request.endpoint.contains('/') || request.endpoint.starts_with("..") {
        return Err(format!("bad socketPath, must be a name: {:?}", request.endpoint));
    }
    Ok(())
}

/// Connects the plugin and follows its devices for as long as its stream lasts.
pub async fn follow(context: Arc<Context>, resource: &str, socket: PathBuf) -> Result<AbortHandle, Status> {
    let plugin = Plugin::connect(socket).await?;
    context.devices.connect(resource, plugin.clone());
    tracing::info!(%resource, "a device plugin has registered");
    let resource = resource.to_owned();
    let task = tokio::spawn(async move {
        let ended = watch(&context.devices, &context, &plugin, &resource).await;
        let why = ended.err().map(|error| render_error(&error)).unwrap_or_default();
        tracing::info!(%resource, %why, "the device plugin is gone");
        context.devices.disconnect(&resource);
    });
    Ok(task.abort_handle())
}

async fn watch(devices: &DeviceManager, context: &Context, plugin: &Plugin, resource: &str) -> Result<(), Status> {
    let mut lists = plugin.watch().await?;
    while let Some(list) = lists.message().await? {
        let changed = devices.update(resource, read_devices(list)).await;
        changed.iter().for_each(|uid| context.wakers.wake(uid));
    }
    Ok(())
}

fn read_devices(list: ListAndWatchResponse) -> BTreeMap<String, Device> {
    let read = |device: super::proto::Device| {
        let nodes = device.topology.into_iter().flat_map(|topology| topology.nodes);
        let numa_nodes = nodes.filter_map(|node| usize::try_from(node.id).ok()).collect();
        (device.id, Device { is_healthy: device.health == HEALTHY, numa_nodes })
    };
    list.devices.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registrations_are_judged() {
        let request = |version: &str, resource: &str, endpoint: &str| RegisterRequest {
            version: version.into(),
            resource_name: resource.into(),
            endpoint: endpoint.into(),
            options: None,
        };
        assert_eq!(judge(&request("v1beta1", "vendor.test/gpu", "gpu.sock")), Ok(()));
        let version = judge(&request("v1alpha", "vendor.test/gpu", "g")).expect_err("old");
        assert!(version.starts_with("requested API version \"v1alpha\" is not supported by kubelet."), "{version}");
        for name in ["gpu", "kubernetes.io/gpu", "cpu", "requests.vendor.test/gpu"] {
            assert_eq!(judge(&request("v1beta1", name, "g")), Err(format!("the ResourceName {name:?} is invalid")));
        }
        assert!(judge(&request("v1beta1", "vendor.test/gpu", "../x")).is_err());
    }
}
