//! Requests about claims: the allocation and reservation that a binding writes, and their
//! taking back.

use crate::Error;
use crate::devices::{Devices, version_number};
use crate::pod_info::PodInfo;
use ferry_api::rules::key::ObjectKey;
use ferry_api::rules::resource_claim::FINALIZER;
use ferry_api::view::Owned;
use ferry_api::view::resource::v1::{AllocationResult, ResourceClaim, ResourceClaimConsumerReference};
use ferry_client::{Client, DeleteParams, Patch, SharedObject};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Attempts at a write that others get in the way of, and the pause between them (upstream's
/// retry.DefaultRetry).
const ATTEMPTS: usize = 5;
const PAUSE: Duration = Duration::from_millis(10);

const NAME: &str = "DynamicResources";

/// The write of one claim for one pod.
pub struct ClaimWrite {
    devices: Arc<Devices>,
    client: Client,
    claim: SharedObject<ResourceClaim>,
    /// The devices that the claim gets; `None` if it has them.
    allocation: Option<AllocationResult>,
    consumer: ResourceClaimConsumerReference,
    /// The claim is not there yet.
    creates: bool,
}

enum WriteError {
    Conflict(String),
    Other(String),
}

impl WriteError {
    fn of(during: String) -> impl Fn(ferry_client::Error) -> Self {
        move |error| {
            let text = format!("{during}: {error}");
            if error.is_conflict() { Self::Conflict(text) } else { Self::Other(text) }
        }
    }
}

impl ClaimWrite {
    pub fn new(
        devices: &Arc<Devices>,
        client: &Client,
        pod: &PodInfo,
        claim: SharedObject<ResourceClaim>,
        allocation: Option<AllocationResult>,
    ) -> Self {
        let consumer =
            ResourceClaimConsumerReference::new().with_resource("pods").with_name(pod.name()).with_uid(&*pod.uid);
        Self { devices: devices.clone(), client: client.clone(), claim, allocation, consumer, creates: false }
    }

    /// The claim is the scheduler's own and has to be created first.
    pub fn of_our_own(mut self) -> Self {
        self.creates = true;
        self
    }

    /// Writes the claim, in a task of its own: when the pod is gone and nobody waits any more,
    /// the ledger must still learn whether the devices were taken.
    pub async fn run(self) -> Result<SharedObject<ResourceClaim>, String> {
        let task = tokio::spawn(async move {
            let before = self.claim.uid().to_owned();
            self.devices.catch_up().ledger.begin_write(&before);
            let result = self.write(&before).await;
            let mut devices = self.devices.catch_up();
            match &result {
                Ok(claim) => {
                    let version = version_number(claim.meta().resource_version());
                    devices.ledger.end_write(claim.uid(), Some(version));
                }
                Err((uid, _)) => devices.ledger.end_write(uid, None),
            }
            drop(devices);
            result.map_err(|(_, reason)| reason)
        });
        task.await.unwrap_or_else(|error| Err(error.to_string()))
    }

    /// An error comes with the uid under which the ledger knows the claim.
    async fn write(&self, uid: &str) -> Result<SharedObject<ResourceClaim>, (String, String)> {
        let mut uid = uid.to_owned();
        let mut claim = self.claim.clone();
        if self.creates {
            claim = self.create().await.map_err(|reason| (uid.clone(), reason))?;
            self.devices.catch_up().ledger.rename(&uid, claim.uid());
            uid = claim.uid().to_owned();
        }
        let api = self.client.api::<ResourceClaim>(claim.namespace());
        let key = ObjectKey::of(claim.meta());
        for attempt in 1.. {
            match self.try_write(&claim).await {
                Ok(written) => return Ok(written),
                Err(WriteError::Conflict(_)) if attempt < ATTEMPTS => {}
                Err(WriteError::Conflict(reason) | WriteError::Other(reason)) => return Err((uid, reason)),
            }
            tokio::time::sleep(PAUSE).await;
            let latest = api.get(claim.name()).await;
            claim =
                latest.map_err(|error| (uid.clone(), format!("get updated claim {key} after conflict: {error}")))?;
        }
        unreachable!("the last attempt returns")
    }

    async fn create(&self) -> Result<SharedObject<ResourceClaim>, String> {
        let mut claim = self.claim.to_owned();
        claim.edit_metadata(|meta| {
            meta.value_mut().as_object_mut().into_iter().for_each(|fields| {
                fields.remove("name");
                fields.remove("uid");
            });
        });
        let api = self.client.api::<ResourceClaim>(self.claim.namespace());
        let key = ObjectKey::of(self.claim.meta());
        api.create(&claim).await.map_err(|error| format!("create claim for extended resources {key}: {error}"))
    }

    async fn try_write(&self, claim: &SharedObject<ResourceClaim>) -> Result<SharedObject<ResourceClaim>, WriteError> {
        let key = ObjectKey::of(claim.meta());
        let api = self.client.api::<ResourceClaim>(claim.namespace());
        if claim.is_deleting() {
            return Err(WriteError::Other(format!("claim {key} got deleted in the meantime")));
        }
        let mut claim = claim.clone();
        if self.allocation.is_some() {
            if claim.view().status().allocation().is_some() {
                return Err(WriteError::Other(format!("claim {key} got allocated elsewhere in the meantime")));
            }
            // The status has no finalizers, so this is a request of its own.
            if !claim.meta().finalizers().contains(FINALIZER) {
                let mut own = claim.to_owned();
                own.edit_metadata(|meta| meta.push_finalizers(FINALIZER));
                claim = api.replace(&own).await.map_err(WriteError::of(format!("add finalizer to claim {key}")))?;
            }
        }
        let mut own = claim.to_owned();
        own.edit_status(|status| {
            if let Some(allocation) = &self.allocation {
                status.set_allocation(allocation.clone());
            }
            status.push_reserved_for(self.consumer.clone());
        });
        let Some(allocation) = own.view().status().allocation() else {
            return Err(WriteError::Other(format!("claim {key} got deallocated elsewhere in the meantime")));
        };
        if allocation.allocation_timestamp().is_none() {
            own.edit_status(|status| {
                status.edit_allocation(|allocation| allocation.set_allocation_timestamp(Timestamp::now()));
            });
        }
        let adds = if self.allocation.is_some() { "allocation and reservation" } else { "reservation" };
        api.replace_status(&own).await.map_err(WriteError::of(format!("add {adds} to claim {key}")))
    }
}

fn failed(source: ferry_client::Error) -> Error {
    Error::Errand { plugin: NAME, source }
}

/// Takes the devices of a claim back, so that it can be allocated elsewhere.
pub async fn deallocate(client: Client, claim: SharedObject<ResourceClaim>) -> Result<(), Error> {
    let mut own = claim.to_owned();
    own.edit_status(|status| {
        if let Value::Object(fields) = status.value_mut() {
            ["allocation", "reservedFor", "devices"].iter().for_each(|field| drop(fields.remove(*field)));
        }
    });
    client.api::<ResourceClaim>(claim.namespace()).replace_status(&own).await.map(drop).map_err(failed)
}

/// Deletes a claim of the scheduler's own; the finalizer goes first.
pub async fn delete(client: Client, claim: SharedObject<ResourceClaim>) -> Result<(), Error> {
    let api = client.api::<ResourceClaim>(claim.namespace());
    let mut current = claim;
    for attempt in 1.. {
        let mut own = current.to_owned();
        let finalizers = current.meta().finalizers().iter().filter(|finalizer| *finalizer != FINALIZER);
        own.edit_metadata(|meta| meta.set_finalizers(finalizers));
        match api.replace(&own).await {
            Ok(_) => break,
            Err(error) if error.is_conflict() && attempt < ATTEMPTS => {}
            Err(error) if error.is_not_found() => return Ok(()),
            Err(error) => return Err(failed(error)),
        }
        tokio::time::sleep(PAUSE).await;
        current = api.get(current.name()).await.map_err(failed)?;
    }
    match api.delete(current.name(), &DeleteParams::default()).await {
        Err(error) if !error.is_not_found() => Err(failed(error)),
        _ => Ok(()),
    }
}

/// Gives reservations back when a pod was not bound after all. A patch of the one entry needs
/// no version of the claim.
pub async fn give_back(
    client: Client,
    claims: Vec<SharedObject<ResourceClaim>>,
    extended: Option<SharedObject<ResourceClaim>>,
    pod: Arc<str>,
) -> Result<(), Error> {
    for claim in claims {
        let patch = json!({"metadata": {"uid": claim.uid()},
            "status": {"reservedFor": [{"$patch": "delete", "uid": &*pod}]}});
        let api = client.api::<ResourceClaim>(claim.namespace());
        match api.patch_status(claim.name(), &Patch::Strategic(patch)).await {
            Err(error) if !error.is_not_found() => return Err(failed(error)),
            _ => {}
        }
    }
    match extended {
        Some(claim) => delete(client, claim).await,
        None => Ok(()),
    }
}
