//! Deletes objects whose owners are gone, and helps owners that wait for their dependents.
//!
//! Every kind that can be listed, watched and deleted is followed, also those that appear
//! later. graph.rs says where to look, the API is asked how things are, collect.rs
//! decides. The reference is upstream's pkg/controller/garbagecollector.

mod collect;
mod graph;

use crate::discovery::{ApiResource, discover};
use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Start, Watch};
use async_trait::async_trait;
use collect::{Dependents, Owner, Policy, Verdict, plan_collection};
use ferry_client::{DeleteParams, Event, Informers, ObjectMetadata, Patch, ResourcePath};
use graph::{FOREGROUND, Graph, Node, ORPHAN};
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use parking_lot::{Mutex, RwLock};
use serde_json::json;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;

/// A kind that cannot be listed must not hold up the collection of all others.
const SYNC_TIMEOUT: Duration = Duration::from_secs(30);

/// Changes of kinds come in bursts; one look at discovery serves them all.
const SETTLE: Duration = Duration::from_secs(1);

/// How many absent owners are remembered (upstream's absentOwnerCache).
const ABSENT_REMEMBERED: usize = 500;

/// One kind that is followed.
#[derive(Debug)]
pub struct Kind {
    pub path: ResourcePath,
    pub name: String,
    pub api_version: String,
    pub namespaced: bool,
}

#[derive(Default)]
pub struct GarbageCollector {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    graph: Mutex<Graph>,
    /// By group and kind, as owner references name them.
    kinds: RwLock<HashMap<(String, String), Arc<Kind>>>,
    rediscover: Notify,
    enqueue: OnceLock<Enqueue>,
    /// Owners that the API said do not exist: uid, and the namespace that was asked.
    absent: Mutex<VecDeque<(String, String)>>,
}

#[async_trait]
impl Controller for GarbageCollector {
    fn name(&self) -> &'static str {
        "garbage-collector-controller"
    }

    fn identity(&self) -> &'static str {
        "generic-garbage-collector"
    }

    fn workers(&self) -> usize {
        20
    }

    fn watches(&self, _informers: &Informers) -> Vec<Watch> {
        let shared = self.shared.clone();
        vec![Watch::task(move |start| follow_kinds(shared, start))]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let uid = key.name.as_str();
        let (node, is_sound) = {
            let graph = self.shared.graph.lock();
            let Some(node) = graph.get(uid) else { return Ok(Action::Done) };
            (node.clone(), graph.has_sound_owners(node))
        };
        if node.is_orphaning {
            return self.orphan(ctx, uid, &node).await.map(|()| Action::Done);
        }
        if node.is_foreground {
            return self.await_dependents(ctx, uid, &node).await.map(|()| Action::Done);
        }
        if node.is_deleting || is_sound {
            return Ok(Action::Done);
        }
        self.collect(ctx, uid, &node).await.map(|()| Action::Done)
    }
}

impl GarbageCollector {
    async fn collect(&self, ctx: &Context, uid: &str, node: &Node) -> Result<()> {
        let Some(latest) = self.live(ctx, uid, node).await? else { return Ok(()) };
        let mut owners = Vec::new();
        let mut unseen = None;
        for reference in latest.owner_references.iter().flatten() {
            let Some(owner) = self.look_up(ctx, node, reference).await? else {
                // An owner in a namespace cannot own what is in none. It is not for us to
                // say what was meant, so the object stays.
                tracing::debug!(object = %node.name, owner = %reference.name, "a cluster-scoped object names a namespaced owner");
                return Ok(());
            };
            if owner == Owner::Solid && self.shared.graph.lock().get(&reference.uid).is_none() {
                unseen = Some(reference.name.clone());
            }
            owners.push((reference.clone(), owner));
        }
        let dependents = {
            let graph = self.shared.graph.lock();
            let mut all = graph.dependents(uid).map(|(_, node)| node.is_foreground).peekable();
            match (all.peek().is_some(), all.any(|is_foreground| is_foreground)) {
                (false, _) => Dependents::None,
                (true, false) => Dependents::Some,
                (true, true) => Dependents::SomeWaiting,
            }
        };
        match plan_collection(&latest, &owners, dependents) {
            Verdict::Keep => {}
            Verdict::DropReferences(gone) => self.drop_references(ctx, node, &latest, &gone).await?,
            Verdict::Delete(policy) => {
                if policy == (Policy::Foreground { unblock: true }) {
                    self.unblock_owners(ctx, node, &latest).await?;
                }
                self.delete(ctx, uid, node, &latest, policy).await?;
            }
        }
        match unseen {
            // Its end would go unnoticed; look again until the watch has shown it.
            Some(owner) => Err(Error::Retry(format!("owner {owner} of {} has not been seen by its watch", node.name))),
            None => Ok(()),
        }
    }

    /// The object as it is now. None when it is gone, and then the graph learns of it.
    async fn live(&self, ctx: &Context, uid: &str, node: &Node) -> Result<Option<ObjectMeta>> {
        match ctx.client.get_at::<ObjectMetadata>(&node.kind.path, &node.namespace, &node.name).await {
            Ok(object) if object.metadata.uid.as_deref() == Some(uid) => return Ok(Some(object.metadata)),
            Ok(_) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error).during("get", describe(node)),
        }
        let wake = self.shared.graph.lock().remove(uid);
        self.wake(wake);
        Ok(None)
    }

    /// How an owner is, by asking the API. None for a reference that can never be valid.
    async fn look_up(&self, ctx: &Context, node: &Node, reference: &OwnerReference) -> Result<Option<Owner>> {
        let group = reference.api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let kind = self.shared.kinds.read().get(&(group.to_owned(), reference.kind.clone())).cloned();
        let Some(kind) = kind else {
            self.shared.rediscover.notify_one();
            let what = format!("{} {}", reference.api_version, reference.kind);
            return Err(Error::Retry(format!("owner of {} is of unknown kind {what}", node.name)));
        };
        if kind.namespaced && node.namespace.is_empty() {
            return Ok(None);
        }
        let namespace = if kind.namespaced { node.namespace.as_str() } else { "" };
        let memory = (reference.uid.clone(), namespace.to_owned());
        if self.shared.absent.lock().contains(&memory) {
            return Ok(Some(Owner::Absent));
        }
        let owner = match ctx.client.get_at::<ObjectMetadata>(&kind.path, namespace, &reference.name).await {
            Ok(owner) if owner.metadata.uid.as_ref() == Some(&reference.uid) => owner.metadata,
            Err(error) if !error.is_not_found() => return Err(error).during("get the owner", &reference.name),
            _ => {
                let mut absent = self.shared.absent.lock();
                if absent.len() >= ABSENT_REMEMBERED {
                    absent.pop_front();
                }
                absent.push_back(memory);
                drop(absent);
                self.report_misplaced_owner(ctx, node, reference);
                return Ok(Some(Owner::Absent));
            }
        };
        let waits = owner.deletion_timestamp.is_some() && owner.finalizers.iter().flatten().any(|f| f == FOREGROUND);
        Ok(Some(if waits { Owner::Waiting } else { Owner::Solid }))
    }

    /// An owner that exists in another namespace is a mistake worth telling.
    fn report_misplaced_owner(&self, ctx: &Context, node: &Node, reference: &OwnerReference) {
        let elsewhere = self.shared.graph.lock().get(&reference.uid).map(|owner| owner.namespace.clone());
        if elsewhere.is_some_and(|namespace| !namespace.is_empty() && namespace != node.namespace) {
            let subject = ObjectReference {
                api_version: Some(node.kind.api_version.clone()),
                kind: Some(node.kind.name.clone()),
                namespace: Some(node.namespace.clone()).filter(|namespace| !namespace.is_empty()),
                name: Some(node.name.clone()),
                ..Default::default()
            };
            let owner = format!(
                "[{}/{}, namespace: {}, name: {}, uid: {}]",
                reference.api_version, reference.kind, node.namespace, reference.name, reference.uid
            );
            let message = format!("ownerRef {owner} does not exist in namespace {:?}", node.namespace);
            ctx.recorder.warning(&subject, "OwnerRefInvalidNamespace", message);
        }
    }

    async fn drop_references(&self, ctx: &Context, node: &Node, latest: &ObjectMeta, gone: &[String]) -> Result<()> {
        let kept: Vec<&OwnerReference> =
            latest.owner_references.iter().flatten().filter(|owner| !gone.contains(&owner.uid)).collect();
        let change = json!({"ownerReferences": if kept.is_empty() { json!(null) } else { json!(kept) }});
        self.patch_metadata(ctx, node, latest, change).await
    }

    async fn unblock_owners(&self, ctx: &Context, node: &Node, latest: &ObjectMeta) -> Result<()> {
        let freed: Vec<OwnerReference> = latest
            .owner_references
            .iter()
            .flatten()
            .map(|owner| OwnerReference { block_owner_deletion: Some(false), ..owner.clone() })
            .collect();
        self.patch_metadata(ctx, node, latest, json!({"ownerReferences": freed})).await
    }

    async fn remove_finalizer(&self, ctx: &Context, node: &Node, latest: &ObjectMeta, finalizer: &str) -> Result<()> {
        let kept: Vec<&String> = latest.finalizers.iter().flatten().filter(|has| *has != finalizer).collect();
        let change = json!({"finalizers": if kept.is_empty() { json!(null) } else { json!(kept) }});
        self.patch_metadata(ctx, node, latest, change).await
    }

    /// Lists are replaced as a whole, which every kind understands; the revision they
    /// were read at must still hold.
    async fn patch_metadata(
        &self,
        ctx: &Context,
        node: &Node,
        latest: &ObjectMeta,
        mut change: serde_json::Value,
    ) -> Result<()> {
        change["uid"] = json!(latest.uid);
        change["resourceVersion"] = json!(latest.resource_version);
        let patch = Patch::Merge(json!({"metadata": change}));
        let path = &node.kind.path;
        match ctx.client.patch_at::<serde_json::Value>(path, &node.namespace, &node.name, None, &patch).await {
            Err(error) if error.is_not_found() => Ok(()),
            other => other.during("change the metadata of", describe(node)).map(drop),
        }
    }

    async fn delete(&self, ctx: &Context, uid: &str, node: &Node, latest: &ObjectMeta, policy: Policy) -> Result<()> {
        // The revision guards against an owner that was added since; unblocking changed it.
        let revision = match policy {
            Policy::Foreground { unblock: true } => None,
            _ => latest.resource_version.clone(),
        };
        let params = DeleteParams {
            uid: Some(uid.to_owned()),
            resource_version: revision,
            propagation_policy: Some(policy.name().to_owned()),
            ..Default::default()
        };
        match ctx.client.delete_at(&node.kind.path, &node.namespace, &node.name, &params).await {
            Err(error) if error.is_not_found() => {
                let wake = self.shared.graph.lock().remove(uid);
                self.wake(wake);
                Ok(())
            }
            other => other.during("collect", describe(node)),
        }
    }

    /// A foreground deletion goes on when nothing that blocks it is left.
    async fn await_dependents(&self, ctx: &Context, uid: &str, node: &Node) -> Result<()> {
        let blocking = self.shared.graph.lock().blocking(uid);
        if blocking.is_empty() {
            let Some(latest) = self.live(ctx, uid, node).await? else { return Ok(()) };
            return self.remove_finalizer(ctx, node, &latest, FOREGROUND).await;
        }
        self.wake(blocking.into_iter().filter(|(_, node)| !node.is_foreground).map(|(uid, _)| uid).collect());
        Ok(())
    }

    async fn orphan(&self, ctx: &Context, uid: &str, node: &Node) -> Result<()> {
        let dependents: Vec<(String, Node)> = {
            let graph = self.shared.graph.lock();
            graph.dependents(uid).map(|(uid, node)| (uid.clone(), node.clone())).collect()
        };
        for (dependent_uid, dependent) in dependents {
            if let Some(latest) = self.live(ctx, &dependent_uid, &dependent).await? {
                self.drop_references(ctx, &dependent, &latest, &[uid.to_owned()]).await?;
            }
        }
        let Some(latest) = self.live(ctx, uid, node).await? else { return Ok(()) };
        self.remove_finalizer(ctx, node, &latest, ORPHAN).await
    }

    fn wake(&self, uids: Vec<String>) {
        if let Some(enqueue) = self.shared.enqueue.get() {
            uids.into_iter().for_each(|uid| enqueue.add(Key::new("", uid)));
        }
    }
}

fn describe(node: &Node) -> String {
    format!("{} {}", node.kind.path.plural, Key::new(node.namespace.clone(), node.name.clone()))
}

/// Follows every kind there is, and those that come. The first round is awaited before
/// anything is collected: an owner of a kind not yet read must not count as absent.
async fn follow_kinds(shared: Arc<Shared>, start: Start) {
    let Start { enqueue, context, ready } = start;
    // Set once: watches are started once for each controller.
    let _ = shared.enqueue.set(enqueue.clone());
    let mut ready = Some(ready);
    let mut followers = JoinSet::new();
    let mut pause = SETTLE;
    loop {
        // Taken before discovery is asked: what is followed already and no longer listed is
        // gone, and not merely newer than the list.
        let followed = context.informers.followed_metadata();
        let discovered = match discover(&context.client).await {
            Ok(discovered) => discovered,
            Err(error) => {
                tracing::debug!(%error, "cannot discover kinds; will try again");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(SYNC_TIMEOUT);
                continue;
            }
        };
        pause = SETTLE;
        // A set keeps the memory of tasks that have ended until they are asked for.
        while followers.try_join_next().is_some() {}
        // What could not be asked may well be there still.
        if discovered.failures.is_empty() {
            let gone = gone_kinds(&shared, &discovered.resources).into_iter().map(|kind| kind.path.clone());
            // A kind that lived so briefly that we never saw it may be followed by another
            // controller still, which would list it in vain for ever.
            let unserved = unserved(followed, &discovered.resources);
            gone.chain(unserved).for_each(|path| context.informers.forget(&path));
        }
        let mut filled = Vec::new();
        for kind in new_kinds(&shared, discovered.resources) {
            let (sender, receiver) = oneshot::channel();
            filled.push(receiver);
            followers.spawn(follow_kind(shared.clone(), kind, context.informers.clone(), enqueue.clone(), sender));
        }
        let all = futures_util::future::join_all(filled);
        if tokio::time::timeout(SYNC_TIMEOUT, all).await.is_err() {
            tracing::warn!("some kinds cannot be listed; garbage collection goes on without them");
        }
        if let Some(ready) = ready.take() {
            let _ = ready.send(());
        }
        shared.rediscover.notified().await;
        tokio::time::sleep(SETTLE).await;
    }
}

/// Remembers how owner references name kinds, and returns those not yet followed.
fn new_kinds(shared: &Shared, resources: Vec<ApiResource>) -> Vec<Arc<Kind>> {
    let mut kinds = shared.kinds.write();
    let mut new = Vec::new();
    for resource in resources {
        let name = (resource.path.group.clone(), resource.kind.clone());
        if kinds.contains_key(&name) || !resource.has_verbs(&["get"]) {
            continue;
        }
        let kind = Arc::new(Kind {
            api_version: resource.api_version(),
            name: resource.kind.clone(),
            namespaced: resource.namespaced,
            path: resource.path.clone(),
        });
        kinds.insert(name, kind.clone());
        // Events are many, own nothing and expire by themselves.
        let is_event = resource.path.plural == "events" && matches!(resource.path.group.as_str(), "" | "events.k8s.io");
        if resource.has_verbs(&["delete", "list", "watch"]) && !is_event {
            new.push(kind);
        }
    }
    new
}

/// Forgets the kinds that are no longer served, and returns them. A kind that is now served
/// in another version counts as gone; the new one is followed in its place.
fn gone_kinds(shared: &Shared, resources: &[ApiResource]) -> Vec<Arc<Kind>> {
    let mut gone = Vec::new();
    shared.kinds.write().retain(|_, kind| {
        let stays = resources.iter().any(|resource| resource.path == kind.path && resource.kind == kind.name);
        if !stays {
            gone.push(kind.clone());
        }
        stays
    });
    gone
}

/// The collections that discovery does not list.
fn unserved(followed: Vec<ResourcePath>, resources: &[ApiResource]) -> Vec<ResourcePath> {
    let served: HashSet<&ResourcePath> = resources.iter().map(|resource| &resource.path).collect();
    followed.into_iter().filter(|path| !served.contains(path)).collect()
}

async fn follow_kind(
    shared: Arc<Shared>,
    kind: Arc<Kind>,
    informers: Informers,
    enqueue: Enqueue,
    filled: oneshot::Sender<()>,
) {
    let path = &kind.path;
    let brings_kinds = matches!(path.plural.as_str(), "customresourcedefinitions" | "apiservices");
    let informer = informers.metadata(&path.group, &path.version, &path.plural, &kind.name);
    informer.synced().await;
    let mut events = informer.subscribe();
    let take = |event| {
        let wake = shared.graph.lock().observe(&kind, &event);
        wake.into_iter().for_each(|uid| enqueue.add(Key::new("", uid)));
        if brings_kinds {
            shared.rediscover.notify_one();
        }
    };
    while let Ok(event) = events.try_recv() {
        take(event);
    }
    let _ = filled.send(());
    while let Some(event) = events.recv().await {
        take(event);
    }
    // The kind is gone, and with it whatever was last known of its objects.
    informer.list(None).into_iter().for_each(|object| take(Event::Deleted(object)));
}
