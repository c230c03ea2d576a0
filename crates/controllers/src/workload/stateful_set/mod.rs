//! Keeps the pods of a StatefulSet: each with a name, a host name and claims of its own, made in
//! order and replaced in order.
//!
//! Split by decision: identity.rs says what the pod of an ordinal is, retention.rs who owns its
//! claims, history.rs which revisions there are, plan.rs what is made and deleted, status.rs what
//! the set reports. execute.rs writes; this file watches and gathers. The reference is upstream's
//! pkg/controller/statefulset.
//!
//! **Invariant:** nothing is planned before the cache shows what the last reconcile wrote: its
//! pods by [`Expectations`], its status by the resource version of the set. Claims and revisions
//! need no such wait, because their names are decided and their updates carry a version.

mod execute;
mod history;
mod identity;
mod plan;
mod retention;
mod status;

pub use history::Defaults;

use crate::error::{During, Error, Result};
use crate::label_index::{by_selector, may_select};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use crate::workload::claim::{candidates, claim, with_orphans};
use crate::workload::expectations::{Expectations, Seen};
use async_trait::async_trait;
use execute::Executor;
use ferry_api::rules::label_selector;
use ferry_api::rules::owner::controller_of;
use ferry_api::rules::pod::{Availability, availability};
use ferry_api::view::Owned;
use ferry_api::view::apps::v1::{ControllerRevision, StatefulSet, StatefulSetStatus};
use ferry_api::view::core::v1::{PersistentVolumeClaim, Pod};
use ferry_api::view::meta::v1::ObjectMetaView;
use ferry_client::{Event, Informer, Informers, SharedObject};
use identity::{ordinal, ordinal_of, ordinals, plan_claims};
use parking_lot::Mutex;
use plan::{Claims, Observed, plan_set};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// How long an unmet expectation may block a set that nothing else wakes.
const RECHECK: Duration = Duration::from_secs(5 * 60 + 1);

#[derive(Default)]
pub(crate) struct StatefulSetController {
    expectations: Arc<Expectations>,
    /// The uid and version of each set whose status was written last.
    written: Mutex<HashMap<Key, (String, u64)>>,
    defaults: Option<Defaults>,
}

impl StatefulSetController {
    pub(crate) fn new(defaults: Option<Defaults>) -> Self {
        Self { defaults, ..Default::default() }
    }
}

#[async_trait]
impl Controller for StatefulSetController {
    fn name(&self) -> &'static str {
        "statefulset-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let expectations = self.expectations.clone();
        let sets = by_selector(informers.of::<StatefulSet>());
        vec![
            Watch::itself(sets.clone()),
            Watch::new(with_orphans(informers.of::<Pod>()), move |event, enqueue| {
                wake_for_pod(event, &sets, &expectations, enqueue);
            }),
            Watch::cached(with_orphans(informers.of::<ControllerRevision>())),
            Watch::cached(informers.of::<PersistentVolumeClaim>()),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let informers = &ctx.informers;
        let Some(set) = informers.of::<StatefulSet>().get(&key.namespace, &key.name) else {
            self.expectations.forget(key);
            self.written.lock().remove(key);
            return Ok(Action::Done);
        };
        let pods = informers.of::<Pod>();
        let caught_up = self.expectations.are_met(key, |name, uid| Seen::of(&pods, &key.namespace, name, uid));
        if !caught_up || !self.has_seen_its_status(key, &set) {
            return Ok(Action::RequeueAfter(RECHECK));
        }
        // A set that goes away gets no new revision: garbage collection would have to find it.
        if set.is_deleting() && set.view().status().update_revision().is_empty() {
            return Ok(Action::Done);
        }
        let own = own_pods(ctx, &set, &pods).await?;
        let history = history::construct(ctx, &set, self.defaults.as_ref()).await?;
        let claims = claims_of(&informers.of::<PersistentVolumeClaim>(), &set, &own);
        let observed = Observed {
            set: set.view(),
            current: &history.current,
            update: &history.update,
            pods: &own,
            claims: &claims,
            now: ctx.now(),
        };
        let plan = plan_set(&observed);
        let executor = Executor {
            ctx,
            key,
            set: &set,
            claims: &claims,
            expectations: &self.expectations,
            is_ordered: observed.is_ordered(),
        };
        self.expectations.open(key);
        let executed = executor.execute(&plan).await;
        self.expectations.close(key);
        // The status is written whether or not every step succeeded.
        let replaced = i32::from(matches!(executed, Ok(true)));
        let reported = match status::compute_status(&observed, history.collisions, replaced) {
            Some(status) => self.update_status(ctx, key, &set, status).await,
            None => Ok(()),
        };
        let cleaned = history::clean_up(ctx, &set, &history, &own).await;
        executed.map(drop).and(reported).and(cleaned)?;
        let min_ready = set.view().spec().min_ready_seconds();
        let next = own.iter().filter_map(|pod| match availability(pod.view(), min_ready, observed.now) {
            Availability::In(left) => Some(left),
            _ => None,
        });
        Ok(Action::after(next.min()))
    }
}

impl StatefulSetController {
    /// The revisions and counts of a stale status would make a pod of the wrong revision.
    fn has_seen_its_status(&self, key: &Key, set: &SharedObject<StatefulSet>) -> bool {
        let mut written = self.written.lock();
        let is_behind = written.get(key).is_some_and(|(uid, version)| uid == set.uid() && version_of(set) < *version);
        if !is_behind {
            written.remove(key);
        }
        !is_behind
    }

    /// One retry with the live object: the cache often lags by a moment, and the status is this
    /// controller's alone to write.
    async fn update_status(
        &self,
        ctx: &Context,
        key: &Key,
        set: &SharedObject<StatefulSet>,
        status: StatefulSetStatus,
    ) -> Result<()> {
        let (api, name) = (ctx.client.api::<StatefulSet>(set.namespace()), set.name());
        let stored = match api.replace_status(&set.to_owned().with_status(status.clone())).await {
            Err(error) if error.is_conflict() => {
                let live = api.get(name).await.during("get for its status", name)?;
                if live.uid() != set.uid() {
                    return Err(Error::Retry(format!("stateful set {name} was replaced by another")));
                }
                api.replace_status(&live.to_owned().with_status(status)).await
            }
            other => other,
        };
        match stored {
            Ok(stored) => {
                let version = (stored.uid().to_owned(), version_of(&stored));
                self.written.lock().insert(key.clone(), version);
                Ok(())
            }
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(error).during("update the status of", name),
        }
    }
}

/// ferry's resource versions are the store's revisions.
fn version_of(set: &SharedObject<StatefulSet>) -> u64 {
    set.meta().resource_version().parse().unwrap_or(0)
}

/// The set's pods after adoption and release, whatever their phase. A pod is the set's by its
/// name too: another name has no ordinal.
async fn own_pods(
    ctx: &Context,
    set: &SharedObject<StatefulSet>,
    pods: &Informer<Pod>,
) -> Result<Vec<SharedObject<Pod>>> {
    let view = set.view();
    let is_member = |pod: &SharedObject<Pod>| {
        ordinal_of(view, pod.name()).is_some() && label_selector::matches(view.spec().selector(), pod.meta().labels())
    };
    claim(ctx, set, candidates(pods, set), is_member).await
}

/// The claims of every ordinal of the set and of every pod that it has.
fn claims_of(
    claims: &Informer<PersistentVolumeClaim>,
    set: &SharedObject<StatefulSet>,
    pods: &[SharedObject<Pod>],
) -> Claims {
    let view = set.view();
    if view.spec().volume_claim_templates().is_empty() {
        return Claims::new();
    }
    let condemned = pods.iter().filter_map(|pod| ordinal(view, pod.view()));
    let range = ordinals(view);
    let places = range.clone().chain(condemned.filter(|place| !range.contains(place)));
    let names =
        places.flat_map(|place| plan_claims(view, place)).map(|claim| claim.view().metadata().name().to_owned());
    names.filter_map(|name| claims.get(set.namespace(), &name).map(|claim| (name, claim))).collect()
}

fn controlling_set(meta: ObjectMetaView<'_>) -> Option<Key> {
    let owner = controller_of(meta).filter(|owner| owner.kind() == "StatefulSet")?;
    Some(Key::new(meta.namespace(), owner.name()))
}

fn wake_for_pod(event: &Event<Pod>, sets: &Informer<StatefulSet>, expectations: &Expectations, enqueue: &Enqueue) {
    let (old, new) = event.versions();
    let owner_of = |pod: Option<&SharedObject<Pod>>| pod.and_then(|pod| controlling_set(pod.meta()));
    if let (Some(old), Some(key)) = (old, owner_of(old))
        && owner_of(new).as_ref() != Some(&key)
    {
        expectations.observe_gone(&key, old.uid());
        enqueue.add(key);
    }
    match (new, owner_of(new)) {
        (_, Some(key)) => enqueue.add(key),
        (Some(pod), None) if controller_of(pod.meta()).is_none() => {
            for set in may_select(sets, pod.namespace(), pod.meta().labels()) {
                if label_selector::matches(set.view().spec().selector(), pod.meta().labels()) {
                    enqueue.add_object(set.meta());
                }
            }
        }
        _ => {}
    }
}
