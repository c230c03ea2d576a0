//! Recounts what is used of every ResourceQuota and writes it to its status. Admission
//! charges quotas as objects are written; here is given back what was deleted, what is
//! over, and what was charged for writes that then failed.
//!
//! A recount starts when a quota is new or changed, when something it measures goes away
//! or becomes cheaper, and every few minutes. What an object costs is decided in
//! ferry_api::quota; tally.rs remembers it, so that a recount goes over what has changed and not
//! over the namespace. The reference is upstream's pkg/controller/resourcequota.

mod tally;

use crate::discovery::discover;
use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Start, Watch};
use async_trait::async_trait;
use ferry_api::object::Meta;
use ferry_api::quota::{Amounts, Evaluator, amounts_at, mask, to_value};
use ferry_api::view::Kind;
use ferry_api::view::core::v1::{PersistentVolumeClaim, Pod, ResourceQuota, Service};
use ferry_api::view::meta::v1::PartialObjectMetadata;
use ferry_api::view::resource::v1::ResourceClaim;
use ferry_client::{Event, Informer, Informers, ListParams, ResourcePath, SharedObject};
use jiff::Timestamp;
use parking_lot::{Mutex, RwLock};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tally::Tallies;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// All quotas are recounted this often, whatever happens (upstream's resource-quota-sync-period).
const RESYNC: Duration = Duration::from_secs(300);

/// Admission charges an object a moment before it is stored, and our copies follow a
/// moment later. Until a quota has been left alone for so long, a lower count may only
/// mean that the object has not been seen yet.
const SETTLE: Duration = Duration::from_secs(1);

/// In a namespace that is never quiet, a lower count is believed after this time.
const PATIENCE: Duration = Duration::from_secs(10);

/// Somebody else wrote the quota; our copy will show it soon.
const CONFLICT_PAUSE: Duration = Duration::from_millis(100);

/// The index of objects that are counted by namespace.
const BY_NAMESPACE: &str = "namespace";

#[derive(Default)]
pub(crate) struct ResourceQuotaController {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// The kinds that are only counted, by group and plural, each with its informer.
    kinds: RwLock<HashMap<(String, String), ResourcePath>>,
    rediscover: Notify,
    seen: Mutex<HashMap<Key, Seen>>,
    tallies: Tallies,
}

/// How long a quota has been as it is, and how long we have wanted to lower it.
struct Seen {
    revision: String,
    since: Instant,
    waiting: Option<Instant>,
}

#[async_trait]
impl Controller for ResourceQuotaController {
    fn name(&self) -> &'static str {
        "resourcequota-controller"
    }

    fn workers(&self) -> usize {
        5
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let quotas = informers.of::<ResourceQuota>();
        let shared = self.shared.clone();
        vec![
            Watch::new(quotas.clone(), |event, enqueue| {
                if !matches!(event, Event::Updated { old, new } if old.view().spec() == new.view().spec()) {
                    enqueue.add_object(event.object().meta());
                }
            }),
            measured(informers.of::<Pod>(), quotas.clone(), Evaluator::Pod, &shared),
            measured(informers.of::<Service>(), quotas.clone(), Evaluator::Service, &shared),
            measured(informers.of::<PersistentVolumeClaim>(), quotas.clone(), Evaluator::Claim, &shared),
            Watch::task(move |start| follow_kinds(shared, quotas, start)),
            Watch::task(|start| async move {
                let _ = start.ready.send(());
                let quotas = start.context.informers.of::<ResourceQuota>();
                loop {
                    tokio::time::sleep(RESYNC).await;
                    quotas.for_each(|quota| start.enqueue.add_object(quota.meta()));
                }
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(quota) = ctx.informers.of::<ResourceQuota>().get(&key.namespace, &key.name) else {
            self.shared.seen.lock().remove(key);
            self.shared.tallies.forget(key);
            return Ok(Action::Done);
        };
        let quota = value_of(&quota);
        let may_lower = self.may_lower(key, quota.resource_version());
        if !may_lower && is_counted(&quota) {
            // Nothing but a lower count can be the reason, and it would have to wait. So many
            // objects may go at once; the namespace is gone over once for all of them.
            self.note_waiting(key, true);
            return Ok(Action::RequeueAfter(SETTLE));
        }
        let counted = self.recount(ctx, key, &quota).await?;
        let plan = plan_status(&quota, &counted, may_lower);
        self.note_waiting(key, plan.is_deferred);
        if let Some(status) = plan.status {
            let mut written = quota;
            written["status"] = status;
            let api = ctx.client.api::<ResourceQuota>(&key.namespace);
            match api.replace_status(&ResourceQuota::from(written)).await {
                Err(error) if error.is_not_found() => return Ok(Action::Done),
                Err(error) if error.is_conflict() => return Ok(Action::RequeueAfter(CONFLICT_PAUSE)),
                other => drop(other.during("write the use of quota", key)?),
            }
        }
        Ok(Action::after((plan.is_deferred || plan.has_new_limits).then_some(SETTLE)))
    }
}

impl ResourceQuotaController {
    /// What the namespace uses of everything that the quota names and that we know of.
    async fn recount(&self, ctx: &Context, key: &Key, quota: &Value) -> Result<Amounts> {
        let (informers, tallies) = (&ctx.informers, &self.shared.tallies);
        let (namespace, now) = (quota.namespace(), ctx.now());
        let hard = amounts_at(quota, &["spec", "hard"]);
        let names = |evaluator: &Evaluator| hard.keys().any(|name| evaluator.measures(name));
        let mut used = Amounts::new();
        if names(&Evaluator::Pod) {
            used.extend(tallies.count(&Evaluator::Pod, quota, key, &informers.of::<Pod>(), now));
        }
        if names(&Evaluator::Service) {
            used.extend(tallies.count(&Evaluator::Service, quota, key, &informers.of::<Service>(), now));
        }
        if names(&Evaluator::Claim) {
            used.extend(tallies.count(&Evaluator::Claim, quota, key, &informers.of::<PersistentVolumeClaim>(), now));
        }
        if names(&Evaluator::DeviceClaim) {
            // Few clusters have quotas of devices, so no copy of all claims is kept for them.
            let listed = ctx.client.api::<ResourceClaim>(namespace).list(&ListParams::default()).await;
            let claims: Vec<Value> =
                listed.during("list the claims of", namespace)?.items.iter().map(value_of).collect();
            used.extend(Evaluator::DeviceClaim.recount(quota, claims.iter(), now));
        }
        let kinds: Vec<((String, String), ResourcePath)> =
            self.shared.kinds.read().iter().map(|(name, path)| (name.clone(), path.clone())).collect();
        for ((group, plural), path) in kinds {
            let Some(evaluator @ Evaluator::Count(_)) = Evaluator::of(&group, &plural) else { continue };
            if !names(&evaluator) {
                continue;
            }
            let informer = by_namespace(informers.metadata(&path));
            if !informer.has_synced() {
                return Err(Error::Retry(format!("{plural} have not been listed yet")));
            }
            let nothing = Value::Null;
            let objects = informer.count_by_index(BY_NAMESPACE, namespace);
            used.extend(evaluator.recount(quota, std::iter::repeat_n(&nothing, objects), now));
        }
        if hard.keys().any(|name| name.starts_with("count/") && !used.contains_key(name)) {
            // A kind that we have not heard of may have come.
            self.shared.rediscover.notify_one();
        }
        Ok(used)
    }

    /// Whether the quota has been as it is for long enough, or we have waited long enough.
    fn may_lower(&self, key: &Key, revision: &str) -> bool {
        let now = Instant::now();
        let mut seen = self.shared.seen.lock();
        let entry = seen.entry(key.clone()).or_insert_with(|| Seen {
            revision: revision.to_owned(),
            since: now,
            waiting: None,
        });
        if entry.revision != revision {
            revision.clone_into(&mut entry.revision);
            entry.since = now;
        }
        let waited = |since: Instant, time: Duration| now.duration_since(since) >= time;
        waited(entry.since, SETTLE) || entry.waiting.is_some_and(|since| waited(since, PATIENCE))
    }

    fn note_waiting(&self, key: &Key, is_deferred: bool) {
        if let Some(entry) = self.shared.seen.lock().get_mut(key) {
            entry.waiting = if is_deferred { entry.waiting.or_else(|| Some(Instant::now())) } else { None };
        }
    }
}

/// The tree of values that quotas are reckoned with.
fn value_of<K: Kind>(object: &SharedObject<K>) -> Value {
    object.document().root().to_value()
}

/// Indexes the objects that are only counted, so that a count does not go over them.
fn by_namespace(informer: Informer<PartialObjectMetadata>) -> Informer<PartialObjectMetadata> {
    informer.indexed(BY_NAMESPACE, |object| vec![object.namespace().to_owned()])
}

/// What is to be written, and whether a lower count waits for the quota to settle.
#[derive(Debug, PartialEq)]
struct Plan {
    status: Option<Value>,
    is_deferred: bool,
    /// The first count for these limits. Our copies of other kinds may be a moment older
    /// than that of the quota, and what they show later does not start a recount, so
    /// another one follows.
    has_new_limits: bool,
}

/// Whether the status is about the limits of the spec.
fn is_counted(quota: &Value) -> bool {
    let has = |key: &str| quota.at(&["status", key]).is_some_and(Value::is_object);
    has("hard") && has("used") && amounts_at(quota, &["spec", "hard"]) == amounts_at(quota, &["status", "hard"])
}

fn plan_status(quota: &Value, counted: &Amounts, may_lower: bool) -> Plan {
    let (hard, old_hard) = (amounts_at(quota, &["spec", "hard"]), amounts_at(quota, &["status", "hard"]));
    let old = mask(&amounts_at(quota, &["status", "used"]), hard.keys());
    let mut used = old.clone();
    let mut is_deferred = false;
    for (name, amount) in mask(counted, hard.keys()) {
        match old.get(&name) {
            Some(before) if amount < *before && !may_lower => is_deferred = true,
            _ => drop(used.insert(name, amount)),
        }
    }
    let has = |key: &str| quota.at(&["status", key]).is_some_and(Value::is_object);
    let has_new_limits = hard != old_hard;
    let is_dirty = has_new_limits || used != old || !has("hard") || !has("used");
    let limits = quota.at(&["spec", "hard"]).cloned().unwrap_or_else(|| json!({}));
    let status = is_dirty.then(|| json!({"hard": limits, "used": to_value(&used)}));
    Plan { status, is_deferred, has_new_limits }
}

/// Wakes the quotas of a namespace that measure such objects, whenever one of these goes
/// away or becomes cheaper in a way that admission does not charge.
fn measured<K: Kind>(
    informer: Informer<K>,
    quotas: Informer<ResourceQuota>,
    evaluator: Evaluator,
    shared: &Arc<Shared>,
) -> Watch {
    let shared = shared.clone();
    Watch::new(informer, move |event, enqueue| {
        let object = event.object();
        let concerned = quotas_of(&quotas, object.namespace(), &evaluator);
        concerned.iter().for_each(|key| shared.tallies.note(key, K::PLURAL, object.name()));
        let wakes = match event {
            Event::Added(_) => false,
            Event::Deleted(_) => true,
            // Without a quota there is no need to look at what changed.
            Event::Updated { old, new } => {
                !concerned.is_empty() && evaluator.needs_recount(&value_of(old), &value_of(new), Timestamp::now())
            }
        };
        if wakes {
            concerned.into_iter().for_each(|key| enqueue.add(key));
        }
    })
}

fn quotas_of(quotas: &Informer<ResourceQuota>, namespace: &str, evaluator: &Evaluator) -> Vec<Key> {
    let measures =
        |quota: &SharedObject<ResourceQuota>| quota.view().spec().hard().keys().any(|name| evaluator.measures(name));
    let all = quotas.list(Some(namespace));
    all.into_iter().filter(measures).map(|quota| Key::of(quota.meta())).collect()
}

/// Follows every other kind that can be created in a namespace, and those that come.
async fn follow_kinds(shared: Arc<Shared>, quotas: Informer<ResourceQuota>, start: Start) {
    let Start { enqueue, context, ready } = start;
    let mut ready = Some(ready);
    let mut followers = JoinSet::new();
    let informers = context.informers.clone();
    loop {
        // A set keeps the memory of tasks that have ended until they are asked for.
        while followers.try_join_next().is_some() {}
        match discover(&context.client).await {
            Err(error) => {
                tracing::debug!(%error, "cannot discover kinds; will try again");
                tokio::time::sleep(SETTLE).await;
                continue;
            }
            Ok(discovered) => {
                for resource in discovered.resources {
                    let path = resource.path.clone();
                    let brings_kinds = matches!(path.plural.as_str(), "customresourcedefinitions" | "apiservices");
                    let is_counted = resource.namespaced
                        && resource.has_verbs(&["create", "delete", "list", "watch"])
                        && matches!(
                            Evaluator::of(&path.group, &path.plural),
                            Some(Evaluator::Count(_) | Evaluator::DeviceClaim)
                        );
                    let name = (path.group.clone(), path.plural.clone());
                    if !(brings_kinds || is_counted) || shared.kinds.read().contains_key(&name) {
                        continue;
                    }
                    shared.kinds.write().insert(name, path.clone());
                    let (shared, quotas) = (shared.clone(), quotas.clone());
                    followers.spawn(follow_kind(shared, quotas, path, informers.clone(), enqueue.clone()));
                }
            }
        }
        // A kind that cannot be listed yet must not hold up the others: a quota that names
        // it is tried again until it can.
        if let Some(ready) = ready.take() {
            let _ = ready.send(());
        }
        shared.rediscover.notified().await;
        tokio::time::sleep(SETTLE).await;
    }
}

async fn follow_kind(
    shared: Arc<Shared>,
    quotas: Informer<ResourceQuota>,
    path: ResourcePath,
    informers: Informers,
    enqueue: Enqueue,
) {
    let brings_kinds = matches!(path.plural.as_str(), "customresourcedefinitions" | "apiservices");
    let informer = by_namespace(informers.metadata(&path));
    informer.synced().await;
    let Some(evaluator) = Evaluator::of(&path.group, &path.plural) else { return };
    // Quotas may have waited for this kind to become known.
    quotas.synced().await;
    for quota in quotas.list(None) {
        quotas_of(&quotas, quota.namespace(), &evaluator).into_iter().for_each(|key| enqueue.add(key));
    }
    let mut events = informer.subscribe();
    while let Some(event) = events.recv().await {
        if brings_kinds {
            shared.rediscover.notify_one();
        } else if matches!(event, Event::Deleted(_)) {
            let concerned = quotas_of(&quotas, event.object().namespace(), &evaluator);
            concerned.into_iter().for_each(|key| enqueue.add(key));
        }
    }
    // The kind is no longer served, or in another version; should it come again, it is
    // followed anew.
    shared.kinds.write().remove(&(path.group.clone(), path.plural.clone()));
    shared.rediscover.notify_one();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(value: Value) -> Amounts {
        amounts_at(&value, &[])
    }

    fn check(status: Value, counted: Value, may_lower: bool, expected: Option<Value>, is_deferred: bool) {
        let quota = json!({"spec": {"hard": {"pods": "5", "cpu": "1"}}, "status": status});
        let plan = plan_status(&quota, &amounts(counted), may_lower);
        let expected = expected.map(|used| json!({"hard": {"pods": "5", "cpu": "1"}, "used": used}));
        assert_eq!((plan.status, plan.is_deferred), (expected, is_deferred));
    }

    #[test]
    fn a_new_quota_gets_its_status_at_once() {
        let counted = json!({"pods": "2", "cpu": "500m", "services": "7"});
        check(json!({}), counted.clone(), false, Some(json!({"pods": "2", "cpu": "500m"})), false);
        let stale = json!({"hard": {"pods": "4"}, "used": {"pods": "2", "secrets": "9"}});
        check(stale, counted, false, Some(json!({"pods": "2", "cpu": "500m"})), false);
    }

    #[test]
    fn new_limits_are_counted_once_more() {
        let plan = |status: Value| {
            let quota = json!({"spec": {"hard": {"pods": "5"}}, "status": status});
            plan_status(&quota, &amounts(json!({"pods": "0"})), false)
        };
        let first = plan(json!({}));
        assert!(first.has_new_limits);
        assert!(plan(json!({"hard": {"pods": "4"}, "used": {"pods": "0"}})).has_new_limits);
        assert!(!plan(first.status.expect("a status")).has_new_limits);
    }

    #[test]
    fn a_quota_is_counted_when_its_status_is_about_its_limits() {
        let quota = |status: Value| json!({"spec": {"hard": {"pods": "5"}}, "status": status});
        for (status, expected) in [
            (json!({}), false),
            (json!({"hard": {"pods": "5"}}), false),
            (json!({"hard": {"pods": "4"}, "used": {}}), false),
            (json!({"hard": {"pods": "5"}, "used": {"pods": "1"}}), true),
        ] {
            assert_eq!(is_counted(&quota(status.clone())), expected, "{status}");
        }
    }

    #[test]
    fn nothing_is_written_when_nothing_changed() {
        let status = json!({"hard": {"pods": "5", "cpu": "1000m"}, "used": {"pods": "2", "cpu": "0.5"}});
        check(status, json!({"pods": "2", "cpu": "500m"}), true, None, false);
    }

    #[test]
    fn a_lower_count_waits_until_the_quota_is_left_alone() {
        let status = json!({"hard": {"pods": "5", "cpu": "1"}, "used": {"pods": "4", "cpu": "0"}});
        check(status.clone(), json!({"pods": "1", "cpu": "0"}), false, None, true);
        check(status.clone(), json!({"pods": "1", "cpu": "1"}), false, Some(json!({"pods": "4", "cpu": "1"})), true);
        check(status, json!({"pods": "1", "cpu": "0"}), true, Some(json!({"pods": "1", "cpu": "0"})), false);
    }

    #[tokio::test(start_paused = true)]
    async fn a_quota_is_left_alone_when_its_version_stays() {
        let controller = ResourceQuotaController::default();
        let key = Key::new("ns", "q");
        assert!(!controller.may_lower(&key, "1"));
        tokio::time::advance(SETTLE).await;
        assert!(controller.may_lower(&key, "1"));
        for version in 2..12 {
            assert!(!controller.may_lower(&key, &version.to_string()));
            controller.note_waiting(&key, true);
            tokio::time::advance(SETTLE).await;
        }
        assert!(controller.may_lower(&key, "12"), "patience has an end");
    }

    #[test]
    fn a_kind_that_is_not_known_has_no_use_yet() {
        let quota = json!({"spec": {"hard": {"count/widgets.example.com": "1"}}});
        let plan = plan_status(&quota, &Amounts::new(), true);
        assert_eq!(plan.status, Some(json!({"hard": {"count/widgets.example.com": "1"}, "used": {}})));
    }
}
