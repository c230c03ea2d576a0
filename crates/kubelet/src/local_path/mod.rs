//! The built-in provisioner `ferry.dev/local-path`: a claim gets a directory of the node that
//! the scheduler chose for its first pod. Run by ferry beside the kubelet of each node, with
//! the rights of a service account of its own.
//!
//! Each node makes and removes its own directories, and the API is where it meets the binder:
//!
//! ```text
//!   scheduler   claim: selected-node = n1
//!   binder      claim: storage-provisioner = ferry.dev/local-path
//!   n1, here    makes the directory, then the volume that points at it and at the claim
//!   binder      claim and volume Bound;  claim deleted: volume Released
//!   n1, here    removes the directory, then the volume, then its finalizer
//! ```
//!
//! **Invariant:** the directory is there before the volume is and as long as the volume is, so
//! that a process killed at any instruction leaves either nothing, an empty directory that the
//! next start removes, or a volume whose next step is still to do (plan.rs). Nothing but an
//! entry of the one directory of volumes is ever removed, and no link is followed
//! (directory.rs). docs/design/0014 has the reasons.

mod directory;
mod plan;

pub use plan::PROVISIONER;

use directory::Directory;
use ferry_api::rules::key::ObjectKey;
use ferry_api::rules::volume_match::class_of_claim;
use ferry_api::view::core::v1::{PersistentVolume, PersistentVolumeClaim};
use ferry_api::view::storage::v1::StorageClass;
use ferry_api::view::{Kind, Owned};
use ferry_client::{Client, DeleteParams, Event, Informer, Informers, Recorder, SharedObject};
use ferry_runner::{Action, Metrics, Queue, Reconciler};
use plan::{Place, Provision, Reclaim};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The queue's name in metrics and logs.
const NAME: &str = "local_path_provisioner";
/// How many claims and volumes are worked on at once; a large directory takes its time to go.
const WORKERS: usize = 4;
/// The longest pause between two attempts at what fails, such as a full disk.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot use {path} for volumes: {source}", path = path.display())]
    Directory {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{operation} {object}: {source}")]
    Call {
        operation: &'static str,
        object: String,
        #[source]
        source: ferry_client::Error,
    },
    #[error("cannot {operation} the directory of volume {volume}: {why}")]
    Files { operation: &'static str, volume: String, why: String },
    #[error("a worker of the local-path provisioner is lost: {0}")]
    Lost(String),
}

type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone)]
pub struct Config {
    pub node_name: String,
    /// The directory that holds one directory for each volume.
    pub directory: PathBuf,
    /// Counts the work of the provisioner's queue.
    pub metrics: Metrics,
}

/// Provisions and reclaims the volumes of one node until `shutdown`.
pub async fn run(config: Config, client: Client, shutdown: CancellationToken) -> Result<()> {
    let failed = |source| Error::Directory { path: config.directory.clone(), source };
    let directory = Directory::open(&config.directory).map_err(failed)?;
    // Ends the informers when this function returns, for whatever reason.
    let shutdown = shutdown.child_token();
    let _ends_all = shutdown.clone().drop_guard();
    let informers = Informers::with_shutdown(client.clone(), shutdown.clone());
    let provisioner = Provisioner {
        place: Place { node_name: config.node_name.clone(), directory: directory.path().to_owned() },
        directory,
        claims: informers.of(),
        volumes: informers.of(),
        classes: informers.of(),
        recorder: Recorder::new(client.clone(), PROVISIONER, &config.node_name),
        client,
    };
    tokio::select! {
        () = shutdown.cancelled() => return Ok(()),
        () = provisioner.synced() => {}
    }
    provisioner.remove_orphans().await?;
    let queue = Queue::new(NAME, &config.metrics);
    let mut tasks = JoinSet::new();
    tasks.spawn(feed(provisioner.claims.clone(), queue.clone()));
    tasks.spawn(feed(provisioner.volumes.clone(), queue.clone()));
    tasks.spawn(wake_by_class(provisioner.clone(), queue.clone()));
    ferry_runner::spawn_workers(&Arc::new(provisioner), &queue, &mut tasks);
    tokio::select! {
        () = shutdown.cancelled() => Ok(()),
        Some(ended) = tasks.join_next() => match (ended, shutdown.is_cancelled()) {
            (Err(panic), _) => Err(Error::Lost(panic.to_string())),
            (Ok(()), true) => Ok(()),
            (Ok(()), false) => Err(Error::Lost("its events have ended".to_owned())),
        },
    }
}

/// Keys of claims have a namespace, keys of volumes none.
async fn feed<K: Kind>(informer: Informer<K>, queue: Queue<ObjectKey>) {
    let mut events = informer.subscribe();
    while let Some(event) = events.recv().await {
        queue.add(ObjectKey::of(event.object().meta()));
    }
}

/// A class that is made after its claims wakes them; classes are few and seldom change.
async fn wake_by_class(provisioner: Provisioner, queue: Queue<ObjectKey>) {
    let mut events = provisioner.classes.subscribe();
    while let Some(event) = events.recv().await {
        let (Event::Added(class) | Event::Updated { new: class, .. }) = event else { continue };
        if class.view().provisioner() == PROVISIONER {
            provisioner.claims.for_each(|claim| {
                if claim.view().spec().volume_name().is_empty() && class_of_claim(claim.view()) == class.name() {
                    queue.add(ObjectKey::of(claim.meta()));
                }
            });
        }
    }
}

#[derive(Clone)]
struct Provisioner {
    place: Place,
    directory: Directory,
    claims: Informer<PersistentVolumeClaim>,
    volumes: Informer<PersistentVolume>,
    classes: Informer<StorageClass>,
    recorder: Recorder,
    client: Client,
}

impl Reconciler for Provisioner {
    type Error = Error;

    fn name(&self) -> &'static str {
        NAME
    }

    fn workers(&self) -> usize {
        WORKERS
    }

    fn longest_pause(&self) -> Duration {
        LONGEST_PAUSE
    }

    fn is_final(&self, _error: &Error) -> bool {
        false
    }

    async fn reconcile(&self, key: &ObjectKey) -> Result<Action> {
        match key.namespace.is_empty() {
            true => self.sync_volume(&key.name).await?,
            false => self.sync_claim(key).await?,
        }
        Ok(Action::Done)
    }
}

impl Provisioner {
    async fn synced(&self) {
        tokio::join!(self.claims.synced(), self.volumes.synced(), self.classes.synced());
    }

    async fn sync_claim(&self, key: &ObjectKey) -> Result<()> {
        let Some(claim) = self.claims.get(&key.namespace, &key.name) else { return Ok(()) };
        if !claim.view().spec().volume_name().is_empty() {
            return self.expand(&claim).await;
        }
        let class = self.classes.get("", class_of_claim(claim.view()));
        match plan::plan_provision(claim.view(), class.as_ref().map(SharedObject::view), &self.place) {
            Provision::Leave => Ok(()),
            Provision::Refuse(why) => {
                self.recorder.warning(&claim, "ProvisioningFailed", why);
                Ok(())
            }
            Provision::Make(volume) => self.provision(&claim, &volume).await,
        }
    }

    async fn provision(&self, claim: &SharedObject<PersistentVolumeClaim>, volume: &PersistentVolume) -> Result<()> {
        let name = volume.view().metadata().name();
        if self.volumes.get("", name).is_some() {
            return Ok(());
        }
        let full_name = format!("{}/{}", claim.namespace(), claim.name());
        let message = format!("External provisioner is provisioning volume for claim {full_name:?}");
        self.recorder.normal(claim, "Provisioning", message);
        if let Err(error) = self.on_disk("make", name, |directory, name| directory.make(name)).await {
            let class = class_of_claim(claim.view());
            let why = format!("failed to provision volume with StorageClass {class:?}: {error}");
            self.recorder.warning(claim, "ProvisioningFailed", why);
            return Err(error);
        }
        match self.client.api::<PersistentVolume>("").create(volume).await {
            Ok(_) => {
                let message = format!("Successfully provisioned volume {name}");
                self.recorder.normal(claim, "ProvisioningSucceeded", message);
                Ok(())
            }
            // Another node was faster, or this one before it was killed.
            Err(error) if error.is_already_exists() => self.remove_unless_ours(name).await,
            Err(source) => Err(call("create volume", name, source)),
        }
    }

    /// Removes the directory that was made for a volume which another node has made.
    async fn remove_unless_ours(&self, name: &str) -> Result<()> {
        let live = self.client.api::<PersistentVolume>("").get(name).await;
        let live = live.map_err(|source| call("read volume", name, source))?;
        match plan::is_ours(live.view(), &self.place) {
            true => Ok(()),
            false => self.on_disk("remove", name, |directory, name| directory.remove_empty(name)).await,
        }
    }

    /// A directory has no size of its own, so a larger request is met at once.
    async fn expand(&self, claim: &SharedObject<PersistentVolumeClaim>) -> Result<()> {
        let name = claim.view().spec().volume_name();
        let Some(volume) = self.volumes.get("", name) else { return Ok(()) };
        let Some(expansion) = plan::plan_expansion(claim.view(), volume.view(), &self.place) else { return Ok(()) };
        if let Some(volume) = &expansion.volume {
            ignore_conflict(self.client.api("").replace(volume).await, "expand volume", name)?;
        }
        if let Some(larger) = &expansion.claim {
            let api = self.client.api::<PersistentVolumeClaim>(claim.namespace());
            let written = api.replace_status(larger).await;
            if ignore_conflict(written, "expand claim", claim.name())? {
                self.recorder.normal(claim, "VolumeResizeSuccessful", "Resize volume succeeded");
            }
        }
        Ok(())
    }

    async fn sync_volume(&self, name: &str) -> Result<()> {
        let Some(seen) = self.volumes.get("", name) else { return Ok(()) };
        // A claim may have waited for its volume to grow.
        if let Some(reference) = seen.view().spec().claim_ref()
            && let Some(claim) = self.claims.get(reference.namespace(), reference.name())
            && claim.view().spec().volume_name() == name
        {
            self.expand(&claim).await?;
        }
        match plan::plan_reclaim(seen.view(), &self.place) {
            Reclaim::Leave => Ok(()),
            Reclaim::SetFinalizers(changed) => {
                ignore_conflict(self.client.api::<PersistentVolume>("").replace(&changed).await, "write volume", name)
                    .map(drop)
            }
            Reclaim::RemoveData => self.reclaim(name).await,
        }
    }

    async fn reclaim(&self, name: &str) -> Result<()> {
        let api = self.client.api::<PersistentVolume>("");
        // Our copy may be late: the policy may say Retain by now, or another claim have it.
        let live = match api.get(name).await {
            Err(error) if error.is_not_found() => return Ok(()),
            live => live.map_err(|source| call("read volume", name, source))?,
        };
        if plan::plan_reclaim(live.view(), &self.place) != Reclaim::RemoveData {
            return Ok(());
        }
        if let Err(error) = self.on_disk("remove", name, |directory, name| directory.remove(name)).await {
            self.recorder.warning(&live, "VolumeFailedDelete", error.to_string());
            return Err(error);
        }
        let params = DeleteParams { uid: Some(live.uid().to_owned()), ..Default::default() };
        match api.delete(name, &params).await {
            Err(error) if error.is_not_found() => return Ok(()),
            other => other.map_err(|source| call("delete volume", name, source))?,
        }
        let live = match api.get(name).await {
            Err(error) if error.is_not_found() => return Ok(()),
            live => live.map_err(|source| call("read volume", name, source))?,
        };
        match plan::without_finalizer(live.view()) {
            Some(changed) => ignore_conflict(api.replace(&changed).await, "write volume", name).map(drop),
            None => Ok(()),
        }
    }

    /// Removes the empty directories that neither a volume nor a claim accounts for: a node
    /// was stopped after it had made one, and meanwhile the claim went. One with data in it
    /// stays, because its volume may have been retained and deleted by an administrator.
    async fn remove_orphans(&self) -> Result<()> {
        let mut waiting = HashSet::new();
        self.claims.for_each(|claim| {
            waiting.insert(plan::volume_name(claim.view()));
        });
        let (directory, volumes) = (self.directory.clone(), self.volumes.clone());
        let removal = tokio::task::spawn_blocking(move || {
            for name in directory.names()? {
                if volumes.get("", &name).is_none() && !waiting.contains(&name) {
                    directory.remove_empty(&name)?;
                }
            }
            Ok::<(), std::io::Error>(())
        });
        let failed = |source| Error::Directory { path: self.place.directory.clone(), source };
        removal.await.map_err(|error| Error::Lost(error.to_string()))?.map_err(failed)
    }

    async fn on_disk<E: std::fmt::Display + Send + 'static>(
        &self,
        operation: &'static str,
        name: &str,
        act: fn(&Directory, &str) -> std::result::Result<(), E>,
    ) -> Result<()> {
        let (directory, name) = (self.directory.clone(), name.to_owned());
        let failed = |why: String| Error::Files { operation, volume: name.clone(), why };
        let own = name.clone();
        let done = tokio::task::spawn_blocking(move || act(&directory, &own)).await;
        done.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(error.to_string()))
    }
}

fn call(operation: &'static str, object: &str, source: ferry_client::Error) -> Error {
    Error::Call { operation, object: object.to_owned(), source }
}

/// Whether the write was made. Somebody else's change comes as an event and wakes the key.
fn ignore_conflict<T>(written: Result<T, ferry_client::Error>, operation: &'static str, object: &str) -> Result<bool> {
    match written {
        Ok(_) => Ok(true),
        Err(error) if error.is_conflict() || error.is_not_found() => Ok(false),
        Err(source) => Err(call(operation, object, source)),
    }
}
