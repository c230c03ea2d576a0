//! The node's part of a growing claim: once the controller has grown the volume, its file system
//! is grown where it is mounted, and the claim's capacity follows. The pod is woken by its claim
//! (`config_cache`), and by the back-off of a growth that failed.
//!
//! Upstream: pkg/volume/util/operationexecutor/node_expander.go.

use super::source::{CsiSource, Lifecycle, staging_directory};
use super::users::Growth;
use super::{CsiVolume, MOUNT, NAME, capability, text};
use crate::csi::{Driver, proto};
use crate::volume::VolumeRequest;
use ferry_api::quantity::Quantity;
use ferry_api::rules::csi_volume::CsiVolumeId;
use ferry_api::view::core::v1::{PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimView};
use ferry_client::{EventType, Patch, SharedObject};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::path::Path;
use tonic::{Code, Status};

/// On a claim: its driver grows volumes without the nodes.
const NOT_REQUIRED: &str = "volume.kubernetes.io/node-expansion-not-required";
const RESIZE_CONDITIONS: [&str; 4] =
    ["Resizing", "FileSystemResizePending", "ControllerResizeError", "NodeResizeError"];

/// The growth that is due on this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GrowthPlan {
    /// The claim waits for it.
    OfClaim,
    /// Another node has finished the claim; a volume that several nodes write to is grown on each.
    OfThisNode,
}

/// Pure.
fn plan_growth(claim: PersistentVolumeClaimView<'_>, growth: &Growth) -> Option<GrowthPlan> {
    let version = claim.metadata().resource_version().parse::<u64>().ok();
    // The cache may not have the last growth's own write yet.
    if growth.is_refused || (version.is_some() && version < growth.version) {
        return None;
    }
    let status = claim.status();
    if matches!(status.allocated_resource_statuses().get("storage"), Some("NodeResizePending" | "NodeResizeInProgress"))
    {
        return Some(GrowthPlan::OfClaim);
    }
    let is_larger = growth.size.is_some() && status.capacity().get("storage") > growth.size;
    let is_shared = claim.spec().access_modes().contains("ReadWriteMany");
    let is_needed = claim.metadata().annotations().get(NOT_REQUIRED).is_none();
    (is_larger && is_shared && is_needed).then_some(GrowthPlan::OfThisNode)
}

impl CsiVolume {
    /// Whether the volume may come to grow on this node.
    pub(super) fn may_grow(&self, source: &CsiSource) -> bool {
        let driver = self.drivers.find(&source.driver);
        source.lifecycle == Lifecycle::Persistent
            && !source.read_only
            && driver.is_ok_and(|driver| driver.capabilities.expand)
    }

    /// An error keeps the pod from starting; a volume that is in use already is tried again later.
    pub(super) async fn grow(&self, request: &VolumeRequest, source: &CsiSource) -> Result<(), String> {
        let id = source.id();
        let growth = self.users.growth(&id);
        if growth.retry_at(Timestamp::now()).is_some() {
            return Ok(());
        }
        let Some(claim) = request.claim() else { return Ok(()) };
        let Some(plan) = plan_growth(claim.view(), &growth) else {
            self.users.note_mounted(&id, claim.view().status().capacity().get("storage"));
            return Ok(());
        };
        match self.grow_now(request, source, claim, plan).await {
            Ok(()) => Ok(()),
            Err(why) => {
                self.users.note_failed_growth(&id, Timestamp::now());
                if !growth.is_mounted {
                    return Err(format!("MountVolume.Setup failed while expanding volume: {why}"));
                }
                let name = &source.spec_name;
                let message = format!("NodeExpandVolume.NodeExpandVolume failed for volume {name:?} : {why}");
                self.recorder.event(&request.sources().pod, EventType::Warning, "VolumeResizeFailed", message);
                Ok(())
            }
        }
    }

    async fn grow_now(
        &self,
        request: &VolumeRequest,
        source: &CsiSource,
        claim: &SharedObject<PersistentVolumeClaim>,
        plan: GrowthPlan,
    ) -> Result<(), String> {
        let id = source.id();
        let driver = self.drivers.find(&source.driver)?;
        let volume = self.client.api::<PersistentVolume>("").get(&source.spec_name).await;
        let volume = volume.map_err(|error| format!("cannot read the volume {}: {error}", source.spec_name))?;
        let Some(size) = volume.view().spec().capacity().get("storage") else { return Ok(()) };
        if plan == GrowthPlan::OfClaim {
            self.write_claim(&id, claim, json!({ "allocatedResourceStatuses": { "storage": "NodeResizeInProgress" } }))
                .await?;
        }
        let target = request.directory(NAME, &source.spec_name).join(MOUNT);
        if let Err(status) = self.call(request, source, &driver, &target, size).await? {
            let why = format!("Expander.NodeExpand failed to expand the volume : {}", text(status.clone()));
            if plan == GrowthPlan::OfClaim && is_final(&status) {
                self.write_claim(&id, claim, render_failed(claim.view(), &status, &why)).await?;
            }
            if status.code() == Code::FailedPrecondition {
                self.users.note_refused_growth(&id);
                return Ok(());
            }
            return Err(why);
        }
        self.users.note_grown(&id, size);
        if plan == GrowthPlan::OfClaim {
            self.write_claim(&id, claim, render_finished(claim.view(), size)).await?;
        }
        self.report(request, source, claim);
        Ok(())
    }

    async fn write_claim(
        &self,
        id: &CsiVolumeId,
        claim: &SharedObject<PersistentVolumeClaim>,
        status: Value,
    ) -> Result<(), String> {
        let claims = self.client.api::<PersistentVolumeClaim>(claim.namespace());
        let written = claims.patch_status(claim.name(), &Patch::Merge(json!({ "status": status }))).await;
        let written = written.map_err(|error| format!("cannot write the claim {}: {error}", claim.name()))?;
        self.users.note_claim_version(id, written.meta().resource_version().parse().ok());
        Ok(())
    }

    async fn call(
        &self,
        request: &VolumeRequest,
        source: &CsiSource,
        driver: &Driver,
        target: &Path,
        size: Quantity,
    ) -> Result<Result<(), Status>, String> {
        let staging = staging_directory(&self.root, &source.driver, &source.handle);
        let staging = driver.capabilities.stage.then(|| staging.to_string_lossy().into_owned());
        let message = proto::ExpandVolume {
            volume_id: source.handle.clone(),
            volume_path: target.to_string_lossy().into_owned(),
            capacity_range: Some(proto::CapacityRange { required_bytes: size.value() }),
            staging_target_path: staging.unwrap_or_default(),
            volume_capability: Some(capability(request, source, driver.capabilities)),
            secrets: self.secrets(source.expand_secret.as_ref()).await?,
        };
        Ok(driver.expand(message).await)
    }

    fn report(&self, request: &VolumeRequest, source: &CsiSource, claim: &SharedObject<PersistentVolumeClaim>) {
        let (volume, node) = (&source.spec_name, &self.node_name);
        let message = format!("MountVolume.NodeExpandVolume succeeded for volume {volume:?} {node}");
        let reason = "FileSystemResizeSuccessful";
        self.recorder.event(&request.sources().pod, EventType::Normal, reason, message.clone());
        self.recorder.event(claim, EventType::Normal, reason, message);
    }
}

/// Whether the driver is surely done with the call (upstream: isFinalError).
fn is_final(status: &Status) -> bool {
    use Code::{Aborted, Cancelled, DeadlineExceeded, ResourceExhausted, Unavailable};
    !matches!(status.code(), Cancelled | DeadlineExceeded | Unavailable | ResourceExhausted | Aborted)
}

/// The status of a claim whose growth failed for good. A driver that can never grow it so far gives
/// it back to the controller. Pure.
fn render_failed(claim: PersistentVolumeClaimView<'_>, status: &Status, why: &str) -> Value {
    let is_infeasible = matches!(status.code(), Code::InvalidArgument | Code::OutOfRange | Code::NotFound);
    let state = if is_infeasible { "NodeResizeInfeasible" } else { "NodeResizeInProgress" };
    let mut conditions = conditions_but(claim, &["NodeResizeError"]);
    conditions.push(json!({ "type": "NodeResizeError", "status": "True", "lastProbeTime": null,
        "lastTransitionTime": Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "message": format!("failed to expand pvc with {why}") }));
    json!({ "allocatedResourceStatuses": { "storage": state }, "conditions": conditions })
}

/// The status of a claim that has grown: conditions of the resize go, others stay. Pure.
fn render_finished(claim: PersistentVolumeClaimView<'_>, size: Quantity) -> Value {
    json!({ "capacity": { "storage": size.to_string() }, "allocatedResourceStatuses": { "storage": null },
        "conditions": conditions_but(claim, &RESIZE_CONDITIONS) })
}

fn conditions_but(claim: PersistentVolumeClaimView<'_>, kinds: &[&str]) -> Vec<Value> {
    let status: Value = claim.status().to_owned().into();
    let kept = |condition: &&Value| !kinds.iter().any(|kind| condition["type"] == *kind);
    status["conditions"].as_array().into_iter().flatten().filter(kept).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(text: &str) -> Option<Quantity> {
        Quantity::parse(text).ok()
    }

    #[test]
    fn a_growth_is_due_where_the_claim_or_another_node_asks_for_it() {
        let check = |claim: Value, size: Option<&str>, version: Option<u64>, expected| {
            let growth = Growth { size: size.and_then(quantity), version, ..Growth::default() };
            assert_eq!(plan_growth((&claim).into(), &growth), expected, "{claim}");
        };
        let waiting = |state: &str| {
            json!({ "metadata": { "resourceVersion": "7" },
            "status": { "allocatedResourceStatuses": { "storage": state } } })
        };
        check(waiting("NodeResizePending"), None, None, Some(GrowthPlan::OfClaim));
        check(waiting("NodeResizeInProgress"), None, Some(7), Some(GrowthPlan::OfClaim));
        check(waiting("NodeResizeInProgress"), None, Some(8), None);
        for state in ["ControllerResizeInProgress", "NodeResizeInfeasible"] {
            check(waiting(state), None, None, None);
        }
        let finished = |modes: Value, annotations: Value| {
            json!({ "metadata": { "annotations": annotations },
            "spec": { "accessModes": modes }, "status": { "capacity": { "storage": "2Gi" } } })
        };
        let many = || json!(["ReadWriteMany"]);
        check(finished(many(), json!({})), Some("1Gi"), None, Some(GrowthPlan::OfThisNode));
        check(finished(many(), json!({})), Some("2Gi"), None, None);
        check(finished(many(), json!({})), None, None, None);
        check(finished(many(), json!({ NOT_REQUIRED: "true" })), Some("1Gi"), None, None);
        check(finished(json!(["ReadWriteOnce"]), json!({})), Some("1Gi"), None, None);
    }

    #[test]
    fn a_claim_that_has_grown_loses_the_conditions_of_its_growth() {
        let claim = json!({ "status": { "allocatedResourceStatuses": { "storage": "NodeResizePending" },
            "conditions": [{ "type": "FileSystemResizePending" }, { "type": "ModifyingVolume" }] } });
        let finished = render_finished((&claim).into(), quantity("2Gi").expect("a quantity"));
        assert_eq!(finished["capacity"]["storage"], "2Gi");
        assert_eq!(finished["conditions"], json!([{ "type": "ModifyingVolume" }]));
    }

    #[test]
    fn a_growth_that_can_never_succeed_is_given_back_to_the_controller() {
        let claim = json!({ "status": { "conditions": [{ "type": "FileSystemResizePending" }] } });
        for (code, state) in [(Code::OutOfRange, "NodeResizeInfeasible"), (Code::Internal, "NodeResizeInProgress")] {
            let failed = render_failed((&claim).into(), &Status::new(code, "x"), "x");
            assert_eq!(failed["allocatedResourceStatuses"]["storage"], state);
            assert_eq!(failed["conditions"][0]["type"], "FileSystemResizePending");
            assert_eq!(failed["conditions"][1]["message"], "failed to expand pvc with x");
        }
        assert!(is_final(&Status::internal("x")) && !is_final(&Status::unavailable("x")));
    }
}
