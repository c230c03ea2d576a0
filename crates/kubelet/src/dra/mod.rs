//! ResourceClaims on the node: drivers prepare the devices of a pod's claims before its sandbox is
//! made, and unprepare them after its end (upstream: pkg/kubelet/cm/dra). Who uses which claim is
//! decided in `ferry_devices::claims` and kept in a file.
//!
//! **Invariant:** a claim is in the file before any driver is called for it, so that a kubelet that
//! is killed in between unprepares it.

mod driver;
pub mod proto;
pub mod registry;
mod resources;

pub use registry::Registry;
pub use resources::render_requests;

use crate::context::Context;
use crate::devices::options::DeviceOptions;
use crate::devices::render_error;
use crate::state_file::StateFile;
use ferry_api::rules::resource_claim::{ClaimName, check_owner, is_reserved_for};
use ferry_api::view::core::v1::{ContainerView, Pod, PodView};
use ferry_api::view::resource::v1::ResourceClaim;
use ferry_client::{Client, SharedObject};
use ferry_devices::claims::{ClaimKey, ClaimRef, Claims, PreparedDevice};
use parking_lot::Mutex;
use proto::ClaimsRequest;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Upstream's name of the file.
const CHECKPOINT: &str = "dra_manager_state";

pub struct DraManager {
    file: StateFile,
    claims: Mutex<Claims>,
    pub(crate) registry: Registry,
}

/// A claim of a pod as the API has it.
struct Demand {
    key: ClaimKey,
    uid: String,
    drivers: BTreeSet<String>,
}

impl DraManager {
    /// Takes over the claims of an earlier kubelet. Blocking.
    pub fn new(root: &Path) -> std::io::Result<Self> {
        let file = StateFile::new(root.to_owned(), CHECKPOINT);
        let claims = match file.load()? {
            Some(text) => Claims::from_checkpoint(&text).map_err(|why| {
                std::io::Error::other(format!(
                    "could not read {CHECKPOINT}, please drain node and remove DRA state file, err: {why}"
                ))
            })?,
            None => Claims::default(),
        };
        Ok(Self { file, claims: Mutex::new(claims), registry: Registry::default() })
    }

    /// Prepares every claim of the pod that is not yet. The error is upstream's sentence.
    pub async fn prepare(&self, client: &Client, pod: &SharedObject<Pod>) -> Result<(), String> {
        let demands = self.demands(client, pod).await?;
        if demands.is_empty() {
            return Ok(());
        }
        let prefix = |why: String| format!("prepare dynamic resources: {why}");
        // Without a driver nothing is noted, so that the pod's end needs none.
        for driver in demands.iter().flat_map(|demand| &demand.drivers) {
            self.registry.get(driver).map_err(prefix)?;
        }
        let mut batches: BTreeMap<String, Vec<ClaimRef>> = BTreeMap::new();
        let mut due = Vec::new();
        for demand in &demands {
            let is_due = self
                .claims
                .lock()
                .refer(demand.key.clone(), &demand.uid, &demand.drivers, pod.uid())
                .map_err(prefix)?;
            if is_due {
                let (namespace, name) = demand.key.clone();
                let own = ClaimRef { namespace, name, uid: demand.uid.clone() };
                demand.drivers.iter().for_each(|driver| batches.entry(driver.clone()).or_default().push(own.clone()));
                due.push(demand.key.clone());
            }
        }
        self.store().await.map_err(|error| prefix(format!("checkpoint ResourceClaim cache: {error}")))?;
        for (driver, claims) in &batches {
            self.prepare_batch(driver, claims).await.map_err(prefix)?;
        }
        if due.is_empty() {
            return Ok(());
        }
        due.iter().for_each(|key| self.claims.lock().set_prepared(key));
        self.store().await.map_err(|error| prefix(format!("checkpoint ResourceClaim state: {error}")))
    }

    /// The claims of the pod, each of which it may use.
    async fn demands(&self, client: &Client, pod: &SharedObject<Pod>) -> Result<Vec<Demand>, String> {
        let (namespace, view) = (pod.namespace(), pod.view());
        let mut named: Vec<(String, bool)> = Vec::new();
        for entry in view.spec().resource_claims() {
            match ClaimName::of(view, entry) {
                ClaimName::Named(name) => named.push((name.to_owned(), false)),
                ClaimName::Generated(name) => named.push((name.to_owned(), true)),
                ClaimName::NotNeeded => {}
                ClaimName::NotMadeYet => {
                    return Err(format!(
                        "prepare dynamic resources: pod \"{namespace}/{}\": ResourceClaim not created yet",
                        pod.name()
                    ));
                }
            }
        }
        if let Some(extended) = view.status().extended_resource_claim_status() {
            named.push((extended.resource_claim_name().to_owned(), false));
        }
        let mut out = Vec::new();
        for (name, must_be_owned) in named {
            let found = client.api::<ResourceClaim>(namespace).get(&name).await;
            let claim =
                found.map_err(|error| format!("prepare dynamic resources: fetch ResourceClaim {name}: {error}"))?;
            let demand =
                judge(&claim, pod, must_be_owned).map_err(|why| format!("prepare dynamic resources: {why}"))?;
            out.push(demand);
        }
        Ok(out)
    }

    async fn prepare_batch(&self, driver: &str, claims: &[ClaimRef]) -> Result<(), String> {
        let answer = self.registry.get(driver)?.prepare(render_request(claims)).await;
        let answer = answer.map_err(|error| format!("NodePrepareResources: {}", render_error(&error)))?;
        let count = answer.claims.len();
        for (uid, own) in answer.claims {
            let Some(claim) = claims.iter().find(|claim| claim.uid == uid) else {
                return Err(format!("NodePrepareResources returned result for unknown claim UID {uid}"));
            };
            if !own.error.is_empty() {
                return Err(format!("NodePrepareResources failed for ResourceClaim {}: {}", claim.name, own.error));
            }
            let devices = own.devices.into_iter().map(|device| PreparedDevice {
                pool_name: device.pool_name,
                device_name: device.device_name,
                share_id: device.share_id,
                request_names: device.request_names,
                cdi_device_ids: device.cdi_device_ids,
            });
            self.claims.lock().record(&(claim.namespace.clone(), claim.name.clone()), driver, devices.collect());
        }
        match claims.len().saturating_sub(count) {
            0 => Ok(()),
            skipped => Err(format!("NodePrepareResources skipped {skipped} ResourceClaims")),
        }
    }

    /// The pod has ended: its claims that nobody else uses are unprepared. Called again until it
    /// succeeds. The error is upstream's sentence.
    pub async fn unprepare(&self, pod_uid: &str) -> Result<(), String> {
        if !self.claims.lock().has_pod(pod_uid) {
            return Ok(());
        }
        let prefix = |why: String| format!("unprepare dynamic resources: {why}");
        let batches = self.claims.lock().plan_unprepare(pod_uid);
        for (driver, claims) in &batches {
            self.unprepare_batch(driver, claims).await.map_err(prefix)?;
        }
        self.claims.lock().forget(pod_uid);
        self.store().await.map_err(|error| prefix(format!("checkpoint ResourceClaim state: {error}")))
    }

    async fn unprepare_batch(&self, driver: &str, claims: &[ClaimRef]) -> Result<(), String> {
        let answer = self.registry.get(driver)?.unprepare(render_request(claims)).await;
        let answer = answer.map_err(|error| format!("NodeUnprepareResources: {}", render_error(&error)))?;
        for (uid, own) in &answer.claims {
            let Some(claim) = claims.iter().find(|claim| claim.uid == *uid) else {
                return Err(format!("NodeUnprepareResources returned result for unknown claim UID {uid}"));
            };
            if !own.error.is_empty() {
                return Err(format!("NodeUnprepareResources failed for ResourceClaim {}: {}", claim.name, own.error));
            }
        }
        match claims.len().saturating_sub(answer.claims.len()) {
            0 => Ok(()),
            skipped => Err(format!("NodeUnprepareResources skipped {skipped} ResourceClaims")),
        }
    }

    /// Pods that have claims here and that this node no longer has.
    pub fn abandoned(&self, is_active: impl Fn(&str) -> bool) -> Vec<String> {
        let claims = self.claims.lock();
        claims.pods().into_iter().filter(|uid| !is_active(uid)).map(str::to_owned).collect()
    }

    /// Adds the CDI devices of the container's claims.
    pub fn add_devices(
        &self,
        pod: PodView<'_>,
        container: ContainerView<'_>,
        options: &mut DeviceOptions,
    ) -> Result<(), String> {
        let namespace = pod.metadata().namespace();
        for (name, request) in render_requests(pod, container) {
            let devices = self.claims.lock().cdi_devices(&(namespace.to_owned(), name.clone()), &request);
            options.add_cdi(devices.ok_or_else(|| {
                format!("internal error: unable to get claim info for ResourceClaim {name} in namespace {namespace}")
            })?);
        }
        Ok(())
    }

    /// The pods that use a device.
    fn users(&self, driver: &str, pool: &str, device: &str) -> BTreeSet<String> {
        self.claims.lock().users(driver, pool, device)
    }

    async fn store(&self) -> std::io::Result<()> {
        self.file.store(|| self.claims.lock().to_checkpoint()).await
    }
}

/// Unprepares the claims of pods that ended while no kubelet looked. Those whose driver is not there
/// yet are tried again when one registers.
pub async fn release_abandoned(context: &Context) {
    if !context.pods.has_synced() {
        return;
    }
    let active = context.active_pods();
    for uid in context.dra.abandoned(|uid| active.contains(uid) || context.wakers.has(uid)) {
        if let Err(error) = context.dra.unprepare(&uid).await {
            tracing::warn!(%uid, %error, "cannot unprepare the claims of a pod that is gone");
        }
    }
}

fn render_request(claims: &[ClaimRef]) -> ClaimsRequest {
    let claim = |own: &ClaimRef| proto::Claim {
        namespace: own.namespace.clone(),
        uid: own.uid.clone(),
        name: own.name.clone(),
    };
    ClaimsRequest { claims: claims.iter().map(claim).collect() }
}

/// Whether the pod may use the claim, and which drivers it has.
fn judge(claim: &SharedObject<ResourceClaim>, pod: &SharedObject<Pod>, must_be_owned: bool) -> Result<Demand, String> {
    if must_be_owned {
        check_owner(claim.meta(), pod.meta())?;
    }
    if !is_reserved_for(claim.view(), pod.uid()) {
        return Err(format!(
            "pod {} ({}) is not allowed to use ResourceClaim {} ({})",
            pod.name(),
            pod.uid(),
            claim.name(),
            claim.uid()
        ));
    }
    let Some(allocation) = claim.view().status().allocation() else {
        return Err(format!("ResourceClaim {}: not allocated", claim.name()));
    };
    let drivers = allocation.devices().results().iter().map(|result| result.driver().to_owned()).collect();
    Ok(Demand { key: (claim.namespace().to_owned(), claim.name().to_owned()), uid: claim.uid().to_owned(), drivers })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_pod_that_the_claim_is_reserved_for_may_use_it() {
        let pod = SharedObject::of(json!({ "metadata": { "name": "p", "namespace": "ns", "uid": "u1" } }));
        let claim = |reserved: &str| {
            SharedObject::of(json!({ "metadata": { "name": "c", "namespace": "ns", "uid": "c1" }, "status": {
                "reservedFor": [{ "resource": "pods", "name": "p", "uid": reserved }],
                "allocation": { "devices": { "results": [{ "driver": "d.test", "pool": "p", "device": "x", "request": "r" }] } } } }))
        };
        let demand = judge(&claim("u1"), &pod, false).expect("reserved");
        assert_eq!((demand.key.1.as_str(), demand.drivers.len()), ("c", 1));
        let refused = judge(&claim("u2"), &pod, false).err().expect("of another pod");
        assert_eq!(refused, "pod p (u1) is not allowed to use ResourceClaim c (c1)");
        let owned = judge(&claim("u1"), &pod, true).err().expect("not made for the pod");
        assert!(owned.contains("was not created for Pod"), "{owned}");
        let bare = SharedObject::of(json!({ "metadata": { "name": "c", "uid": "c1" },
            "status": { "reservedFor": [{ "uid": "u1" }] } }));
        assert_eq!(judge(&bare, &pod, false).err().as_deref(), Some("ResourceClaim c: not allocated"));
    }

    #[test]
    fn a_broken_file_stops_the_kubelet() {
        let root = tempfile::tempdir().expect("a directory");
        assert!(DraManager::new(root.path()).is_ok());
        std::fs::write(root.path().join(CHECKPOINT), "{").expect("written");
        let error = DraManager::new(root.path()).err().expect("broken").to_string();
        assert!(error.contains("please drain node and remove DRA state file"), "{error}");
    }
}
