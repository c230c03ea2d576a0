//! Binding conditions: a device may have to be prepared for its node before the pod is bound,
//! and says so by conditions in the status of the claim.

use super::DynamicResources;
use ferry_api::rules::condition;
use ferry_api::view::resource::v1::{ResourceClaim, ResourceClaimView};
use ferry_client::SharedObject;
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

#[derive(Debug, PartialEq, Eq)]
pub enum Readiness {
    /// All conditions are met, or there are none.
    Ready,
    Pending,
    /// A device cannot be prepared.
    Failed(String),
}

/// Whether a device of the claim has to be waited for at all.
pub fn has_conditions(claim: ResourceClaimView<'_>) -> bool {
    let allocation = claim.status().allocation();
    allocation.is_some_and(|own| own.devices().results().iter().any(|device| !device.binding_conditions().is_empty()))
}

pub fn readiness(claim: ResourceClaimView<'_>) -> Readiness {
    let Some(allocation) = claim.status().allocation() else { return Readiness::Pending };
    for device in allocation.devices().results().iter().filter(|device| !device.binding_conditions().is_empty()) {
        let identity = (device.driver(), device.pool(), device.device());
        let mut statuses = claim.status().devices().iter();
        let status = statuses.find(|status| (status.driver(), status.pool(), status.device()) == identity);
        let Some(status) = status else { return Readiness::Pending };
        let met = |kind: &str| condition::find(status.conditions(), kind).filter(|found| found.status() == "True");
        if let Some(failure) = device.binding_failure_conditions().iter().find_map(met) {
            let (name, reason, message) = (claim.metadata().name(), failure.reason(), failure.message());
            let text = format!("device binding failed: claim={name}, reason={reason}, message={message:?}");
            return Readiness::Failed(text);
        }
        if !device.binding_conditions().iter().all(|kind| met(kind).is_some()) {
            return Readiness::Pending;
        }
    }
    Readiness::Ready
}

/// Whether the devices have been waited for long enough.
pub fn is_late(claim: ResourceClaimView<'_>, timeout: Duration, now: Timestamp) -> bool {
    let since = claim.status().allocation().and_then(|allocation| allocation.allocation_timestamp());
    let timeout = SignedDuration::try_from(timeout).unwrap_or(SignedDuration::MAX);
    has_conditions(claim) && since.is_some_and(|since| now.duration_since(since) > timeout)
}

impl DynamicResources {
    /// Waits for the devices of all claims; each change of a claim is looked at once.
    pub(super) async fn wait_until_ready(&self, claims: Vec<SharedObject<ResourceClaim>>) -> Result<(), String> {
        let deadline = tokio::time::Instant::now() + self.timeouts.binding;
        for claim in claims.iter().filter(|claim| has_conditions(claim.view())) {
            let interest = self.devices.watch_claim(claim);
            loop {
                // Changes are listened to before the state is read, so that none falls between.
                let mut changed = Box::pin(interest.changed.notified());
                changed.as_mut().enable();
                // The version that was written may not have come back yet.
                let known = self.claims.get(claim.namespace(), claim.name());
                let Some(current) = known.filter(|known| known.uid() == claim.uid()) else {
                    return Err(format!("resourceclaim.resource.k8s.io {:?} not found", claim.name()));
                };
                match readiness(current.view()) {
                    Readiness::Ready => break,
                    Readiness::Failed(reason) => return Err(reason),
                    Readiness::Pending if is_late(current.view(), self.timeouts.binding, Timestamp::now()) => {
                        return Err(format!("device binding timeout: claim={}", claim.name()));
                    }
                    Readiness::Pending => {}
                }
                if tokio::time::timeout_at(deadline, changed).await.is_err() {
                    return Err("device binding timeout: context deadline exceeded".to_owned());
                }
            }
        }
        Ok(())
    }
}
