//! The node's part of a growing claim: once the controller has grown the volume, its file system
//! is grown where it is mounted, and the claim's capacity follows (upstream:
//! pkg/volume/util/operationexecutor/node_expander.go).
//!
//! A node may read the claims of its pods and not watch them, so they are looked at again by the
//! time of upstream's pod sync.

use super::source::{CsiSource, Lifecycle, staging_directory};
use super::{CsiVolume, MOUNT, NAME, capability, text};
use crate::csi::{Driver, proto};
use crate::volume::VolumeRequest;
use ferry_api::quantity::Quantity;
use ferry_api::rules::volume_match::claim_name;
use ferry_api::view::core::v1::{PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimView};
use ferry_client::{EventType, Patch, SharedObject};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Upstream's sync of a pod.
pub(super) const LOOK_EVERY: Duration = Duration::from_secs(60);

impl CsiVolume {
    /// Whether the volume may come to grow on this node.
    pub(super) fn may_grow(&self, source: &CsiSource) -> bool {
        let driver = self.drivers.find(&source.driver);
        source.lifecycle == Lifecycle::Persistent
            && !source.read_only
            && driver.is_ok_and(|driver| driver.capabilities.expand)
    }

    pub(super) async fn grow(&self, request: &VolumeRequest, source: &CsiSource) -> Result<(), String> {
        let place = request.directory(NAME, &source.spec_name);
        if !self.is_due(&place) {
            return Ok(());
        }
        let driver = self.drivers.find(&source.driver)?;
        let Some(name) = claim_name(request.pod(), request.volume()) else { return Ok(()) };
        let claims = self.client.api::<PersistentVolumeClaim>(request.pod().metadata().namespace());
        let claim = claims.get(&name).await.map_err(|error| format!("cannot read the claim {name}: {error}"))?;
        if !waits_for_node(claim.view()) {
            return Ok(());
        }
        let volume = self.client.api::<PersistentVolume>("").get(&source.spec_name).await;
        let volume = volume.map_err(|error| format!("cannot read the volume {}: {error}", source.spec_name))?;
        let Some(size) = volume.view().spec().capacity().get("storage") else { return Ok(()) };
        let write = async |status: Value| {
            let patch = Patch::Merge(json!({ "status": status }));
            claims.patch_status(&name, &patch).await.map_err(|error| format!("cannot write the claim {name}: {error}"))
        };
        let progress = json!({ "allocatedResourceStatuses": { "storage": "NodeResizeInProgress" } });
        write(progress).await?;
        self.call(request, source, &driver, &place.join(MOUNT), size).await?;
        let claim = write(render_finished(claim.view(), size)).await?;
        self.report(request, source, &claim);
        Ok(())
    }

    fn is_due(&self, place: &std::path::Path) -> bool {
        let mut looked = self.looked.lock();
        looked.retain(|_, at| at.elapsed() < LOOK_EVERY);
        let is_due = !looked.contains_key(place);
        if is_due {
            looked.insert(place.to_owned(), Instant::now());
        }
        is_due
    }

    async fn call(
        &self,
        request: &VolumeRequest,
        source: &CsiSource,
        driver: &Driver,
        target: &std::path::Path,
        size: Quantity,
    ) -> Result<(), String> {
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
        let done = driver.expand(message).await.map_err(text);
        done.map_err(|why| format!("Expander.NodeExpand failed to expand the volume : {why}"))
    }

    fn report(&self, request: &VolumeRequest, source: &CsiSource, claim: &SharedObject<PersistentVolumeClaim>) {
        let (volume, node) = (&source.spec_name, &self.node_name);
        let message = format!("MountVolume.NodeExpandVolume succeeded for volume {volume:?} {node}");
        let reason = "FileSystemResizeSuccessful";
        self.recorder.event(&request.sources().pod, EventType::Normal, reason, message.clone());
        self.recorder.event(claim, EventType::Normal, reason, message);
    }
}

/// The controller has grown the volume and waits for the node.
fn waits_for_node(claim: PersistentVolumeClaimView<'_>) -> bool {
    let state = claim.status().allocated_resource_statuses().get("storage");
    matches!(state, Some("NodeResizePending" | "NodeResizeInProgress"))
}

/// The status of a claim that has grown: conditions of the resize go, others stay.
fn render_finished(claim: PersistentVolumeClaimView<'_>, size: Quantity) -> Value {
    let is_kept = |condition: &Value| {
        let of_resize = ["Resizing", "FileSystemResizePending", "ControllerResizeError", "NodeResizeError"];
        !of_resize.iter().any(|kind| condition["type"] == *kind)
    };
    let status: Value = claim.status().to_owned().into();
    let conditions = status["conditions"].as_array().into_iter().flatten().filter(|own| is_kept(own));
    json!({ "capacity": { "storage": size.to_string() }, "allocatedResourceStatuses": { "storage": null },
        "conditions": conditions.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_that_has_grown_loses_the_conditions_of_its_growth() {
        let claim = json!({ "status": { "allocatedResourceStatuses": { "storage": "NodeResizePending" },
            "conditions": [{ "type": "FileSystemResizePending" }, { "type": "ModifyingVolume" }] } });
        assert!(waits_for_node((&claim).into()));
        let size = Quantity::parse("2Gi").expect("a quantity");
        let finished = render_finished((&claim).into(), size);
        assert_eq!(finished["capacity"]["storage"], "2Gi");
        assert_eq!(finished["conditions"], json!([{ "type": "ModifyingVolume" }]));
        for state in ["ControllerResizeInProgress", "NodeResizeInfeasible"] {
            let other = json!({ "status": { "allocatedResourceStatuses": { "storage": state } } });
            assert!(!waits_for_node((&other).into()), "{state}");
        }
    }
}
