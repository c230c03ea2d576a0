//! The PersistentVolume binder: claims and volumes find each other, a claim without a volume
//! asks its provisioner for one, and a volume whose claim is gone is released.
//!
//! A binding is two pointers, `volume.spec.claimRef` and `claim.spec.volumeName`, and two
//! phases: four writes, the volume's first. A process killed between any two of them leaves a
//! state whose next step is the next write, so that claim.rs and volume.rs need no memory.
//! Two claims that want one volume meet in the version of its first write, and one loses.
//!
//! One controller has both kinds of keys: those of claims have a namespace, those of volumes
//! none. Nothing is looked at again by the clock, where upstream resyncs every 15 seconds: the
//! watches below wake whatever an event can help.
//!
//! Upstream: pkg/controller/volume/persistentvolume.

mod claim;
mod index;
mod own_writes;
mod volume;

use super::pods_by_claim::{by_claim, claims_of, using_claim};
use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use async_trait::async_trait;
use claim::{ClaimFacts, ClaimPlan, bind_claim, bound_status, plan_claim, unbound_status};
use ferry_api::rules::pod::is_terminal;
use ferry_api::rules::volume_match::{
    BETA_STORAGE_PROVISIONER, MIGRATED_TO, STORAGE_PROVISIONER, Search, bind_volume, class_of_claim, default_class,
    find_volume, names_class, waits_for_first_consumer,
};
use ferry_api::view::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod};
use ferry_api::view::storage::v1::StorageClass;
use ferry_client::{Event, Informer, Informers, Recorder, Reference, SharedObject};
use index::Indexes;
use own_writes::{OwnWrites, Part};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::OnceLock;
use volume::{Reclaim, VolumePlan, in_phase, plan_volume, unbind_volume};

type Claim = SharedObject<PersistentVolumeClaim>;
type Volume = SharedObject<PersistentVolume>;

/// An event that a plan wants sent.
#[derive(Debug, PartialEq)]
struct EventNote {
    is_warning: bool,
    reason: &'static str,
    message: String,
}

impl EventNote {
    fn normal(reason: &'static str, message: impl Into<String>) -> Self {
        Self { is_warning: false, reason, message: message.into() }
    }

    fn warning(reason: &'static str, message: impl Into<String>) -> Self {
        Self { is_warning: true, reason, message: message.into() }
    }

    fn send(self, recorder: &Recorder, object: impl Into<Reference>) {
        match self.is_warning {
            true => recorder.warning(object, self.reason, self.message),
            false => recorder.normal(object, self.reason, self.message),
        }
    }
}

#[derive(Default)]
pub(crate) struct PersistentVolumeBinder {
    indexes: OnceLock<Indexes>,
    volumes: OwnWrites<PersistentVolume>,
    claims: OwnWrites<PersistentVolumeClaim>,
    /// The volumes that a worker is binding at this moment.
    taken: Mutex<HashSet<String>>,
}

#[async_trait]
impl Controller for PersistentVolumeBinder {
    fn name(&self) -> &'static str {
        "persistentvolume-binder-controller"
    }

    fn identity(&self) -> &'static str {
        "persistent-volume-binder"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let indexes = self.indexes.get_or_init(|| Indexes::new(informers)).clone();
        let (of_claim, of_class, of_pod) = (indexes.clone(), indexes.clone(), indexes.clone());
        vec![
            Watch::new(indexes.claims.clone(), move |event, enqueue| claim_changed(&of_claim, event, enqueue)),
            Watch::new(indexes.volumes.clone(), move |event, enqueue| volume_changed(&indexes, event, enqueue)),
            Watch::new(informers.of::<StorageClass>(), move |event, enqueue| {
                let class = event.object();
                of_class.pending_in_class(class.name()).iter().for_each(|claim| enqueue.add_object(claim.meta()));
                if default_class([class.view()]).is_some() {
                    of_class.pending_without_class().iter().for_each(|claim| enqueue.add_object(claim.meta()));
                }
            }),
            // A claim that waits for its first consumer reports which pods it is waiting for.
            Watch::new(by_claim(informers.of::<Pod>()), move |event, enqueue| {
                let Event::Added(pod) = event else { return };
                if pod.view().spec().node_name().is_empty() {
                    claims_of(pod.view())
                        .into_iter()
                        .filter(|key| of_pod.is_pending(key))
                        .for_each(|key| enqueue.add(key));
                }
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        // A conflict is tried again like any failure: a claim that lost its volume to another
        // must look for the next, and no event about that volume would wake it.
        match key.namespace.is_empty() {
            true => self.sync_volume(ctx, key).await?,
            false => self.sync_claim(ctx, key).await?,
        }
        Ok(Action::Done)
    }
}

/// Wakes the claim, and when it goes or takes a volume, those that point at it.
fn claim_changed(indexes: &Indexes, event: &Event<PersistentVolumeClaim>, enqueue: &Enqueue) {
    let claim = event.object();
    enqueue.add_object(claim.meta());
    let (old, new) = event.versions();
    let named = |claim: &Claim| claim.view().spec().volume_name().to_owned();
    if new.is_none() || old.map(named) != new.map(named) {
        let pointing = indexes.volumes_of_claim(&Key::of(claim.meta()));
        pointing.iter().for_each(|volume| enqueue.add_object(volume.meta()));
    }
}

/// Wakes the volume and the claims at both ends of its reference; one that has become free
/// also wakes the claims that it could serve.
fn volume_changed(indexes: &Indexes, event: &Event<PersistentVolume>, enqueue: &Enqueue) {
    enqueue.add_object(event.object().meta());
    let (old, new) = event.versions();
    for volume in old.into_iter().chain(new) {
        index::claim_key(volume).into_iter().for_each(|key| enqueue.add(key));
        // A claim may name a volume that does not point back.
        indexes.claims_of_volume(volume.name()).iter().for_each(|claim| enqueue.add_object(claim.meta()));
    }
    let Some(volume) = new.filter(|volume| index::is_free(volume)) else { return };
    for claim in indexes.pending_in_class(index::class_of(volume)) {
        if find_volume(claim.view(), [volume.view()], Search::Immediate).is_some() {
            enqueue.add_object(claim.meta());
        }
    }
}

impl PersistentVolumeBinder {
    async fn sync_claim(&self, ctx: &Context, key: &Key) -> Result<()> {
        let indexes = self.indexes.get_or_init(|| Indexes::new(&ctx.informers));
        let Some(claim) = indexes.claims.get(&key.namespace, &key.name) else {
            self.claims.forget(key);
            return Ok(());
        };
        let claim = self.claims.newest(claim);
        let classes = ctx.informers.of::<StorageClass>();
        let class = classes.get("", class_of_claim(claim.view()));
        let named = claim.view().spec().volume_name();
        let (volume, _reservation) = match named {
            "" => {
                let waits = class.as_ref().is_some_and(|class| waits_for_first_consumer(class.view()));
                self.reserve(indexes, &claim, if waits { Search::WaitForFirstConsumer } else { Search::Immediate })
            }
            name => (indexes.volumes.get("", name).map(|volume| self.volumes.newest(volume)), None),
        };
        let defaults = if names_class(claim.view()) { Vec::new() } else { classes.list(None) };
        let default_class = default_class(defaults.iter().map(SharedObject::view));
        let waiting_pods = waiting_pods(&ctx.informers.of::<Pod>(), key);
        let plan = plan_claim(&ClaimFacts {
            claim: claim.view(),
            volume: volume.as_ref().map(SharedObject::view),
            class: class.as_ref().map(SharedObject::view),
            default_class: default_class.map(|class| class.metadata().name()),
            waiting_pods: &waiting_pods,
        });
        let note = |note: Option<EventNote>| note.into_iter().for_each(|note| note.send(&ctx.recorder, &claim));
        match (plan, volume) {
            (ClaimPlan::Bind, Some(volume)) => self.bind(ctx, claim, volume).await,
            (ClaimPlan::Bind, None) => Ok(()),
            (ClaimPlan::AssignClass(class), _) => {
                let mut changed = claim.to_owned();
                changed.edit_spec(|spec| spec.set_storage_class_name(class));
                self.write_claim(ctx, changed).await.map(drop)
            }
            (ClaimPlan::AskProvisioner { provisioner, migrated_to, note: event }, _) => {
                let is_asked = claim.meta().annotations().get(STORAGE_PROVISIONER) == Some(provisioner.as_str());
                if !is_asked {
                    let mut changed = claim.to_owned();
                    changed.edit_metadata(|meta| {
                        meta.insert_annotations(BETA_STORAGE_PROVISIONER, provisioner.as_str());
                        meta.insert_annotations(STORAGE_PROVISIONER, provisioner.as_str());
                        meta.insert_annotations(MIGRATED_TO, migrated_to);
                    });
                    self.write_claim(ctx, changed).await?;
                }
                note(Some(event));
                Ok(())
            }
            (ClaimPlan::Wait(event), _) => {
                note(event);
                Ok(())
            }
            (ClaimPlan::Pending(event), _) => {
                note(event);
                self.write_claim_status(ctx, unbound_status(claim.view(), "Pending")).await.map(drop)
            }
            (ClaimPlan::Lost(event), _) => {
                if claim.view().status().phase() != "Lost" {
                    self.write_claim_status(ctx, unbound_status(claim.view(), "Lost")).await?;
                    note(Some(event));
                }
                Ok(())
            }
            (ClaimPlan::Invalid { note: event, why }, _) => {
                note(Some(event));
                Err(Error::Retry(why))
            }
        }
    }

    /// The best volume for a claim, which no other worker binds until the reservation ends.
    fn reserve(
        &self,
        indexes: &Indexes,
        claim: &Claim,
        search: Search<'_>,
    ) -> (Option<Volume>, Option<Reservation<'_>>) {
        let mut taken = self.taken.lock();
        for offered in indexes.volumes_for(claim, search) {
            let offered = offered.into_iter().map(|volume| self.volumes.newest(volume));
            let offered: Vec<Volume> = offered.filter(|volume| !taken.contains(volume.name())).collect();
            let Some(found) = find_volume(claim.view(), offered.iter().map(SharedObject::view), search) else {
                continue;
            };
            let name = found.metadata().name().to_owned();
            let volume = offered.iter().find(|volume| volume.name() == name).cloned();
            taken.insert(name.clone());
            return (volume, Some(Reservation { taken: &self.taken, name }));
        }
        (None, None)
    }

    /// Writes whatever of the four is missing, the volume's side first.
    async fn bind(&self, ctx: &Context, claim: Claim, volume: Volume) -> Result<()> {
        let volume = match bind_volume(volume.view(), claim.view()) {
            Some(bound) => self.write_volume(ctx, bound).await?,
            None => volume,
        };
        let volume = match in_phase(volume.view(), "Bound", "") {
            Some(changed) => self.write_volume_status(ctx, changed).await?,
            None => volume,
        };
        let claim = match bind_claim(claim.view(), volume.name()) {
            Some(bound) => self.write_claim(ctx, bound).await?,
            None => claim,
        };
        self.write_claim_status(ctx, bound_status(claim.view(), volume.view())).await.map(drop)
    }

    async fn sync_volume(&self, ctx: &Context, key: &Key) -> Result<()> {
        let volumes = ctx.informers.of::<PersistentVolume>();
        let Some(volume) = volumes.get("", &key.name) else {
            self.volumes.forget(key);
            return Ok(());
        };
        let volume = self.volumes.newest(volume);
        let claim = self.claim_of(ctx, &volume).await?;
        match plan_volume(volume.view(), claim.as_ref().map(SharedObject::view)) {
            VolumePlan::LeaveToClaim => Ok(()),
            VolumePlan::Phase(phase) => self.set_phase(ctx, volume, phase, "").await.map(drop),
            VolumePlan::Mismatch { on_volume, on_claim } => {
                on_volume.send(&ctx.recorder, &volume);
                if let Some(claim) = claim {
                    on_claim.send(&ctx.recorder, &claim);
                }
                Ok(())
            }
            VolumePlan::Unbind => {
                let free = self.write_volume(ctx, unbind_volume(volume.view())).await?;
                self.set_phase(ctx, free, "Available", "").await.map(drop)
            }
            VolumePlan::Release(reclaim) => {
                // Failed stays visible until somebody has reclaimed the volume.
                let is_over = matches!(volume.view().status().phase(), "Released" | "Failed");
                let volume = if is_over { volume } else { self.set_phase(ctx, volume, "Released", "").await? };
                let Reclaim::Fail(note) = reclaim else { return Ok(()) };
                if volume.view().status().phase() != "Failed" {
                    let failed = self.set_phase(ctx, volume, "Failed", &note.message).await?;
                    note.send(&ctx.recorder, &failed);
                }
                Ok(())
            }
        }
    }

    /// The claim that a volume's reference means. A volume must not be released because our
    /// copy is late, so the API server has the last word on a claim that seems to be gone.
    async fn claim_of(&self, ctx: &Context, volume: &Volume) -> Result<Option<Claim>> {
        let Some(reference) = volume.view().spec().claim_ref().filter(|reference| !reference.uid().is_empty()) else {
            return Ok(None);
        };
        let (namespace, name, uid) = (reference.namespace(), reference.name(), reference.uid());
        let seen = ctx.informers.of::<PersistentVolumeClaim>().get(namespace, name);
        let seen = seen.map(|claim| self.claims.newest(claim));
        let is_over = matches!(volume.view().status().phase(), "Released" | "Failed");
        match seen {
            Some(claim) if claim.uid() == uid => return Ok(Some(claim)),
            None if is_over => return Ok(None),
            _ => {}
        }
        match ctx.client.api::<PersistentVolumeClaim>(namespace).get(name).await {
            Err(error) if error.is_not_found() => Ok(None),
            live => Ok(Some(live.during("read claim", Key::new(namespace, name))?).filter(|live| live.uid() == uid)),
        }
    }

    async fn set_phase(&self, ctx: &Context, volume: Volume, phase: &str, message: &str) -> Result<Volume> {
        match in_phase(volume.view(), phase, message) {
            Some(changed) => self.write_volume_status(ctx, changed).await,
            None => Ok(volume),
        }
    }

    async fn write_volume(&self, ctx: &Context, volume: PersistentVolume) -> Result<Volume> {
        self.volumes.write(ctx, Part::Spec, &volume).await
    }

    async fn write_volume_status(&self, ctx: &Context, volume: PersistentVolume) -> Result<Volume> {
        self.volumes.write(ctx, Part::Status, &volume).await
    }

    async fn write_claim(&self, ctx: &Context, claim: PersistentVolumeClaim) -> Result<Claim> {
        self.claims.write(ctx, Part::Spec, &claim).await
    }

    async fn write_claim_status(&self, ctx: &Context, claim: Option<PersistentVolumeClaim>) -> Result<()> {
        match claim {
            Some(claim) => self.claims.write(ctx, Part::Status, &claim).await.map(drop),
            None => Ok(()),
        }
    }
}

/// The names of the pods that use a claim, have not ended and are on no node.
fn waiting_pods(pods: &Informer<Pod>, claim: &Key) -> Vec<String> {
    let waits = |pod: &SharedObject<Pod>| pod.view().spec().node_name().is_empty() && !is_terminal(pod.view());
    using_claim(pods, claim).iter().filter(|pod| waits(pod)).map(|pod| pod.name().to_owned()).collect()
}

/// Keeps a volume for one worker.
struct Reservation<'a> {
    taken: &'a Mutex<HashSet<String>>,
    name: String,
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.taken.lock().remove(&self.name);
    }
}
