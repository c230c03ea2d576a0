//! Devices of device plugins on this node (upstream: pkg/kubelet/cm/devicemanager). Who has which is
//! decided in `ferry_devices::plugin`; here the plugins are asked, the assignments kept in a file, and
//! containers given what a plugin answered.
//!
//! **Invariant:** an assignment is on the disk before a container gets the device.

pub mod options;
mod plugin;
pub mod proto;
pub mod registration;

pub use plugin::render_error;

use crate::state_file::StateFile;
use ferry_api::view::core::v1::{ContainerView, PodView};
use ferry_devices::CpuSet;
use ferry_devices::plugin::{Choice, Device, DeviceHealth, PluginDevices, ResourceCount};
use ferry_devices::topology::Hints;
use options::DeviceOptions;
use parking_lot::Mutex;
use plugin::Plugin;
use prost::Message;
use proto::ContainerAllocateResponse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Notify;

/// Upstream's name of the file.
const CHECKPOINT: &str = "kubelet_internal_checkpoint";

/// Devices of init containers that have ended by the time the next container starts, by resource.
#[derive(Clone, Debug, Default)]
pub struct Reusable(BTreeMap<String, BTreeSet<String>>);

impl Reusable {
    fn of(&self, resource: &str) -> BTreeSet<String> {
        self.0.get(resource).cloned().unwrap_or_default()
    }
}

pub struct DeviceManager {
    file: StateFile,
    inner: Mutex<PluginDevices>,
    plugins: Mutex<HashMap<String, Plugin>>,
    /// Counts of the node's status have changed.
    node_changed: Arc<Notify>,
}

impl DeviceManager {
    /// Takes over the assignments of an earlier kubelet. Blocking.
    pub fn new(directory: PathBuf, node_changed: Arc<Notify>) -> Self {
        let file = StateFile::new(directory, CHECKPOINT);
        let inner = match file.load() {
            Ok(Some(text)) => PluginDevices::from_checkpoint(&text, Instant::now()).unwrap_or_else(|error| {
                tracing::error!(%error, "Continue after failing to read checkpoint file. Device allocation info may NOT be up-to-date");
                PluginDevices::default()
            }),
            Ok(None) => PluginDevices::default(),
            Err(error) => {
                tracing::error!(%error, "Continue after failing to read checkpoint file. Device allocation info may NOT be up-to-date");
                PluginDevices::default()
            }
        };
        Self { file, inner: Mutex::new(inner), plugins: Mutex::default(), node_changed }
    }

    fn connect(&self, resource: &str, plugin: Plugin) {
        self.inner.lock().connect(resource);
        self.plugins.lock().insert(resource.to_owned(), plugin);
    }

    pub fn disconnect(&self, resource: &str) {
        self.inner.lock().disconnect(resource, Instant::now());
        self.node_changed.notify_one();
    }

    /// Takes over a plugin's list and returns the pods whose devices have changed.
    async fn update(&self, resource: &str, devices: BTreeMap<String, Device>) -> BTreeSet<String> {
        let changed = self.inner.lock().update(resource, devices);
        self.node_changed.notify_one();
        if let Err(error) = self.store().await {
            tracing::error!(%error, "cannot store the assignments of devices");
        }
        changed
    }

    /// The extended resources of this node for its status.
    pub fn counts(&self) -> BTreeMap<String, ResourceCount> {
        self.inner.lock().counts(Instant::now())
    }

    /// The health of a container's devices for its status.
    pub fn health(&self, uid: &str, container: &str) -> BTreeMap<String, Vec<DeviceHealth>> {
        self.inner.lock().health(uid, container)
    }

    /// Gives the container its devices, near the NUMA nodes of `affinity`; `ends` holds for an init
    /// container that is no sidecar. Returns whether something was assigned anew, which
    /// [`Self::store_assignments`] keeps. The error is the sentence behind upstream's `Allocate failed
    /// due to`.
    pub async fn admit(
        &self,
        pod: PodView<'_>,
        container: ContainerView<'_>,
        ends: bool,
        reusable: &mut Reusable,
        affinity: Option<&CpuSet>,
    ) -> Result<bool, String> {
        let uid = pod.metadata().uid();
        let mut is_changed = false;
        for (resource, required) in self.demands(pod, container) {
            let ids = reusable.of(&resource);
            is_changed |= self.allocate(uid, container.name(), &resource, required, &ids, affinity).await?;
        }
        for (resource, own) in self.inner.lock().of_container(uid, container.name()) {
            let ids: BTreeSet<String> = own.ids().into_iter().map(str::to_owned).collect();
            let reusable = reusable.0.entry(resource.to_owned()).or_default();
            match ends {
                true => reusable.extend(ids),
                false => reusable.retain(|id| !ids.contains(id)),
            }
        }
        Ok(is_changed)
    }

    /// Returns when the assignments of an admission are on the disk.
    pub async fn store_assignments(&self) -> Result<(), String> {
        self.store().await.map_err(|error| format!("failed to write checkpoint file {CHECKPOINT:?}: {error}"))
    }

    /// The NUMA nodes that each resource of the container could come from.
    pub fn hints(
        &self,
        pod: PodView<'_>,
        container: ContainerView<'_>,
        reusable: &Reusable,
        numa_nodes: &CpuSet,
    ) -> Vec<Hints> {
        let demands = self.demands(pod, container);
        let (uid, inner) = (pod.metadata().uid(), self.inner.lock());
        let hints = demands.into_iter().map(|(resource, required)| {
            inner.hints(uid, container.name(), &resource, required, &reusable.of(&resource), numa_nodes)
        });
        hints.collect()
    }

    /// The same for the pod as a whole: the devices of its containers together, and no fewer than any
    /// init container has.
    pub fn pod_hints(&self, pod: PodView<'_>, numa_nodes: &CpuSet) -> Vec<Hints> {
        let mut total: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for container in pod.spec().init_containers() {
            for (resource, required) in self.demands(pod, container) {
                let (beside, most) = total.entry(resource).or_default();
                *most = (*most).max(*beside + required);
                if crate::pod::is_sidecar(container) {
                    *beside += required;
                }
            }
        }
        for container in pod.spec().containers() {
            for (resource, required) in self.demands(pod, container) {
                total.entry(resource).or_default().0 += required;
            }
        }
        let (uid, inner) = (pod.metadata().uid(), self.inner.lock());
        let hints = total.into_iter().map(|(resource, (beside, most))| {
            inner.hints(uid, "", &resource, beside.max(most), &BTreeSet::new(), numa_nodes)
        });
        hints.collect()
    }

    /// Whether the container asks for a device of a plugin.
    pub fn is_asked(&self, pod: PodView<'_>, container: ContainerView<'_>) -> bool {
        !self.demands(pod, container).is_empty()
    }

    pub fn has_pod(&self, uid: &str) -> bool {
        self.inner.lock().has_pod(uid)
    }

    /// The limits of the container that device plugins answer for.
    fn demands(&self, pod: PodView<'_>, container: ContainerView<'_>) -> Vec<(String, usize)> {
        let inner = self.inner.lock();
        let limits = container.resources().limits();
        let own = limits
            .iter()
            .filter(|(name, _)| inner.is_plugin_resource(name) && !is_of_claim(pod, container.name(), name));
        own.map(|(name, amount)| (name.to_owned(), usize::try_from(amount.value()).unwrap_or(0))).collect()
    }

    /// Returns whether something was assigned anew.
    async fn allocate(
        &self,
        uid: &str,
        container: &str,
        resource: &str,
        required: usize,
        reusable: &BTreeSet<String>,
        affinity: Option<&CpuSet>,
    ) -> Result<bool, String> {
        let choice = self.inner.lock().begin(uid, container, resource, required, reusable, affinity)?;
        let plugin = self.plugins.lock().get(resource).cloned();
        let plugin = plugin.ok_or_else(|| format!("unknown Device Plugin {resource}"));
        let devices = match choice {
            Choice::Unchanged => return Ok(false),
            Choice::Devices(devices) => devices,
            Choice::Ask(preference) => {
                let preferred = plugin.as_ref().map_err(Clone::clone)?.prefer(&preference).await.map_err(|error| {
                    format!(
                        "device plugin GetPreferredAllocation rpc failed with err: {}",
                        plugin::render_error(&error)
                    )
                })?;
                self.inner.lock().finish(resource, preference, &preferred)?
            }
        };
        let answer = match plugin {
            Ok(plugin) => plugin.allocate(&devices).await,
            Err(error) => Err(error),
        };
        let mut inner = self.inner.lock();
        match answer {
            Ok(answer) => {
                inner.record(uid, container, resource, &devices, answer.encode_to_vec());
                Ok(true)
            }
            Err(error) => {
                inner.take_back(resource, &devices);
                Err(error)
            }
        }
    }

    /// What the container's devices add to its configuration. Plugins that ask for it are told of the
    /// start first.
    pub async fn container_options(
        &self,
        pod: PodView<'_>,
        container: ContainerView<'_>,
    ) -> Result<DeviceOptions, String> {
        let uid = pod.metadata().uid();
        for (resource, required) in self.demands(pod, container) {
            if required == 0 {
                continue;
            }
            let plugin = self.plugins.lock().get(&resource).cloned();
            let ids: Vec<String> = {
                let inner = self.inner.lock();
                let own = inner.of_container(uid, container.name()).find(|(name, _)| *name == resource);
                own.map(|(_, own)| own.ids().into_iter().map(str::to_owned).collect()).unwrap_or_default()
            };
            let Some(plugin) = plugin.filter(|plugin| plugin.options.pre_start_required) else { continue };
            if ids.is_empty() {
                let container = container.name();
                return Err(format!(
                    "no devices found allocated in local cache for pod {uid}, container {container}, resource {resource}"
                ));
            }
            plugin.pre_start(ids).await.map_err(|error| {
                format!("device plugin PreStartContainer rpc failed with err: {}", plugin::render_error(&error))
            })?;
        }
        let mut options = DeviceOptions::default();
        for (_, own) in self.inner.lock().of_container(uid, container.name()) {
            if let Ok(answer) = ContainerAllocateResponse::decode(own.response.as_slice()) {
                options.add(answer);
            }
        }
        Ok(options)
    }

    /// Frees the devices of a pod that has ended.
    pub async fn release(&self, uid: &str) {
        if self.inner.lock().remove_pod(uid)
            && let Err(error) = self.store().await
        {
            tracing::error!(%error, "cannot store the assignments of devices");
        }
    }

    /// Frees the devices of pods that this node no longer has.
    pub async fn retain_pods(&self, is_active: impl Fn(&str) -> bool) {
        if self.inner.lock().retain_pods(is_active)
            && let Err(error) = self.store().await
        {
            tracing::error!(%error, "cannot store the assignments of devices");
        }
    }

    /// Returns when the assignments are on the disk.
    async fn store(&self) -> std::io::Result<()> {
        self.file.store(|| self.inner.lock().to_checkpoint()).await
    }
}

/// The resource comes from a claim that the scheduler made for it, and not from a plugin.
fn is_of_claim(pod: PodView<'_>, container: &str, resource: &str) -> bool {
    let status = pod.status().extended_resource_claim_status();
    status.is_some_and(|status| {
        status.request_mappings().iter().any(|own| own.container_name() == container && own.resource_name() == resource)
    })
}
