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
use ferry_api::view::View;
use ferry_api::view::meta::v1::{ObjectMetaView, OwnerReferenceView, PartialObjectMetadata};
use ferry_client::{Api, DeleteParams, Event, Informers, Patch, Reference, ResourcePath, SharedObject};
use graph::{FOREGROUND, Graph, Node, ORPHAN, Uid};
use parking_lot::{Mutex, RwLock};
use serde_json::{Value, json};
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
pub(crate) struct Kind {
    pub path: ResourcePath,
    pub name: String,
    pub api_version: String,
    pub namespaced: bool,
}

#[derive(Default)]
pub(crate) struct GarbageCollector {
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
        if node.is_orphaning() {
            return self.orphan(ctx, &node).await.map(|()| Action::Done);
        }
        if node.is_foreground() {
            return self.await_dependents(ctx, &node).await.map(|()| Action::Done);
        }
        if node.is_deleting() || is_sound {
            return Ok(Action::Done);
        }
        self.collect(ctx, &node).await.map(|()| Action::Done)
    }
}

impl GarbageCollector {
    async fn collect(&self, ctx: &Context, node: &Node) -> Result<()> {
        let Some(latest) = self.live(ctx, node).await? else { return Ok(()) };
        let latest = latest.meta();
        let mut owners = Vec::new();
        let mut unseen = None;
        for reference in latest.owner_references() {
            let Some(owner) = self.look_up(ctx, node, reference).await? else {
                // An owner in a namespace cannot own what is in none. It is not for us to
                // say what was meant, so the object stays.
                let (object, owner) = (node.name(), reference.name());
                tracing::debug!(%object, %owner, "a cluster-scoped object names a namespaced owner");
                return Ok(());
            };
            if owner == Owner::Solid && self.shared.graph.lock().get(reference.uid()).is_none() {
                unseen = Some(reference.name());
            }
            owners.push((reference.uid(), owner));
        }
        let dependents = {
            let graph = self.shared.graph.lock();
            let mut all = graph.dependents(node.uid()).map(Node::is_foreground).peekable();
            match (all.peek().is_some(), all.any(|is_foreground| is_foreground)) {
                (false, _) => Dependents::None,
                (true, false) => Dependents::Some,
                (true, true) => Dependents::SomeWaiting,
            }
        };
        match plan_collection(latest, &owners, dependents) {
            Verdict::Keep => {}
            Verdict::DropReferences(gone) => self.drop_references(ctx, node, latest, &gone).await?,
            Verdict::Delete(policy) => {
                if policy == (Policy::Foreground { unblock: true }) {
                    self.unblock_owners(ctx, node, latest).await?;
                }
                self.delete(ctx, node, latest, policy).await?;
            }
        }
        match unseen {
            // Its end would go unnoticed; look again until the watch has shown it.
            Some(owner) => {
                Err(Error::Retry(format!("owner {owner} of {} has not been seen by its watch", node.name())))
            }
            None => Ok(()),
        }
    }

    /// The object as it is now. None when it is gone, and then the graph learns of it.
    async fn live(&self, ctx: &Context, node: &Node) -> Result<Option<SharedObject<PartialObjectMetadata>>> {
        match api_of(ctx, node).get(node.name()).await {
            Ok(object) if object.uid() == node.uid() => return Ok(Some(object)),
            Ok(_) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error).during("get", describe(node)),
        }
        let wake = self.shared.graph.lock().remove(node.uid());
        self.wake(wake);
        Ok(None)
    }

    /// How an owner is, by asking the API. None for a reference that can never be valid.
    async fn look_up(&self, ctx: &Context, node: &Node, reference: OwnerReferenceView<'_>) -> Result<Option<Owner>> {
        let name = (group_of(reference).to_owned(), reference.kind().to_owned());
        let kind = self.shared.kinds.read().get(&name).cloned();
        let Some(kind) = kind else {
            self.shared.rediscover.notify_one();
            let what = format!("{} {}", reference.api_version(), reference.kind());
            return Err(Error::Retry(format!("owner of {} is of unknown kind {what}", node.name())));
        };
        if kind.namespaced && node.namespace().is_empty() {
            return Ok(None);
        }
        let namespace = if kind.namespaced { node.namespace() } else { "" };
        let memory = (reference.uid().to_owned(), namespace.to_owned());
        if self.shared.absent.lock().contains(&memory) {
            return Ok(Some(Owner::Absent));
        }
        let api = ctx.client.api_at::<PartialObjectMetadata>(kind.path.clone(), namespace);
        let owner = match api.get(reference.name()).await {
            Ok(owner) if owner.uid() == reference.uid() => owner,
            Err(error) if !error.is_not_found() => return Err(error).during("get the owner", reference.name()),
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
        let waits = owner.is_deleting() && owner.meta().finalizers().contains(FOREGROUND);
        Ok(Some(if waits { Owner::Waiting } else { Owner::Solid }))
    }

    /// An owner that exists in another namespace is a mistake worth telling.
    fn report_misplaced_owner(&self, ctx: &Context, node: &Node, reference: OwnerReferenceView<'_>) {
        let elsewhere = self.shared.graph.lock().get(reference.uid()).map(|owner| owner.namespace().to_owned());
        if elsewhere.is_some_and(|namespace| !namespace.is_empty() && namespace != node.namespace()) {
            let subject = Reference {
                api_version: node.kind.api_version.clone(),
                kind: node.kind.name.clone(),
                namespace: node.namespace().to_owned(),
                name: node.name().to_owned(),
                ..Default::default()
            };
            let owner = format!(
                "[{}/{}, namespace: {}, name: {}, uid: {}]",
                reference.api_version(),
                reference.kind(),
                node.namespace(),
                reference.name(),
                reference.uid()
            );
            let message = format!("ownerRef {owner} does not exist in namespace {:?}", node.namespace());
            ctx.recorder.warning(&subject, "OwnerRefInvalidNamespace", message);
        }
    }

    async fn drop_references(
        &self,
        ctx: &Context,
        node: &Node,
        latest: ObjectMetaView<'_>,
        gone: &[String],
    ) -> Result<()> {
        let kept = latest.owner_references().iter().filter(|owner| !gone.iter().any(|gone| gone == owner.uid()));
        let kept: Vec<Value> = kept.map(|owner| owner.node().to_value()).collect();
        self.patch_metadata(ctx, node, latest, json!({"ownerReferences": none_if_empty(kept)})).await
    }

    async fn unblock_owners(&self, ctx: &Context, node: &Node, latest: ObjectMetaView<'_>) -> Result<()> {
        let owners = latest.owner_references().iter();
        let freed: Vec<Value> = owners.map(|owner| owner.to_owned().with_block_owner_deletion(false).into()).collect();
        self.patch_metadata(ctx, node, latest, json!({"ownerReferences": freed})).await
    }

    async fn remove_finalizer(
        &self,
        ctx: &Context,
        node: &Node,
        latest: ObjectMetaView<'_>,
        finalizer: &str,
    ) -> Result<()> {
        let kept: Vec<Value> = latest.finalizers().iter().filter(|has| *has != finalizer).map(Value::from).collect();
        self.patch_metadata(ctx, node, latest, json!({"finalizers": none_if_empty(kept)})).await
    }

    /// Lists are replaced as a whole, which every kind understands; the revision they
    /// were read at must still hold.
    async fn patch_metadata(
        &self,
        ctx: &Context,
        node: &Node,
        latest: ObjectMetaView<'_>,
        mut change: Value,
    ) -> Result<()> {
        change["uid"] = json!(latest.uid());
        change["resourceVersion"] = json!(latest.resource_version());
        match api_of(ctx, node).patch(node.name(), &Patch::Merge(json!({"metadata": change}))).await {
            Err(error) if error.is_not_found() => Ok(()),
            other => other.during("change the metadata of", describe(node)).map(drop),
        }
    }

    async fn delete(&self, ctx: &Context, node: &Node, latest: ObjectMetaView<'_>, policy: Policy) -> Result<()> {
        // The revision guards against an owner that was added since; unblocking changed it.
        let revision = match policy {
            Policy::Foreground { unblock: true } => None,
            _ => Some(latest.resource_version().to_owned()),
        };
        let params = DeleteParams {
            uid: Some(node.uid().to_owned()),
            resource_version: revision,
            propagation_policy: Some(policy.name().to_owned()),
            ..Default::default()
        };
        match api_of(ctx, node).delete(node.name(), &params).await {
            Err(error) if error.is_not_found() => {
                let wake = self.shared.graph.lock().remove(node.uid());
                self.wake(wake);
                Ok(())
            }
            other => other.during("collect", describe(node)),
        }
    }

    /// A foreground deletion goes on when nothing that blocks it is left.
    async fn await_dependents(&self, ctx: &Context, node: &Node) -> Result<()> {
        let blocking = self.shared.graph.lock().blocking(node.uid());
        if blocking.is_empty() {
            let Some(latest) = self.live(ctx, node).await? else { return Ok(()) };
            return self.remove_finalizer(ctx, node, latest.meta(), FOREGROUND).await;
        }
        self.wake(blocking.iter().filter(|node| !node.is_foreground()).map(|node| node.uid().into()).collect());
        Ok(())
    }

    async fn orphan(&self, ctx: &Context, node: &Node) -> Result<()> {
        let dependents: Vec<Node> = self.shared.graph.lock().dependents(node.uid()).cloned().collect();
        for dependent in dependents {
            if let Some(latest) = self.live(ctx, &dependent).await? {
                self.drop_references(ctx, &dependent, latest.meta(), &[node.uid().to_owned()]).await?;
            }
        }
        let Some(latest) = self.live(ctx, node).await? else { return Ok(()) };
        self.remove_finalizer(ctx, node, latest.meta(), ORPHAN).await
    }

    fn wake(&self, uids: Vec<Uid>) {
        if let Some(enqueue) = self.shared.enqueue.get() {
            uids.into_iter().for_each(|uid| enqueue.add(Key::new("", &*uid)));
        }
    }
}

fn describe(node: &Node) -> String {
    format!("{} {}", node.kind.path.plural, Key::new(node.namespace(), node.name()))
}

fn api_of<'c>(ctx: &'c Context, node: &Node) -> Api<'c, PartialObjectMetadata> {
    ctx.client.api_at(node.kind.path.clone(), node.namespace())
}

/// The group of a reference's apiVersion; empty for the core group.
fn group_of(reference: OwnerReferenceView<'_>) -> &str {
    reference.api_version().rsplit_once('/').map_or("", |(group, _)| group)
}

/// A merge patch removes a list by null.
fn none_if_empty(list: Vec<Value>) -> Value {
    if list.is_empty() { Value::Null } else { Value::Array(list) }
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
    let informer = informers.metadata(path);
    informer.synced().await;
    let mut events = informer.subscribe();
    let take = |event| {
        let wake = shared.graph.lock().observe(&kind, &event);
        wake.into_iter().for_each(|uid| enqueue.add(Key::new("", &*uid)));
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
