//! Computes how many of the pods of a PodDisruptionBudget may be taken away now. The
//! eviction subresource takes from that number and lists the pods it let go; here the list
//! is checked off and the number counted anew.
//!
//! The reference is upstream's pkg/controller/disruption.

use crate::discovery::discover;
use crate::error::{During, Result};
use crate::label_index::{by_label, by_selector, matching, may_select};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use crate::workload::deployment::scaled;
use async_trait::async_trait;
use ferry_api::rules::int_or_percent::Round;
use ferry_api::rules::owner::controller_of;
use ferry_api::rules::{condition, label_selector, pod};
use ferry_api::view::apps::v1::{Deployment, ReplicaSet, StatefulSet};
use ferry_api::view::autoscaling::v1::Scale;
use ferry_api::view::core::v1::{Pod, PodTemplateSpecView, ReplicationController};
use ferry_api::view::meta::v1::{Condition, OwnerReferenceView};
use ferry_api::view::policy::v1::{
    PodDisruptionBudget, PodDisruptionBudgetStatus, PodDisruptionBudgetStatusView, PodDisruptionBudgetView,
};
use ferry_api::view::{IntOrString, Kind, Map, Owned, View, alike};
use ferry_client::{Event, Informer, Informers, Request, ResourcePath, SharedObject, read_body};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

const ALLOWED: &str = "DisruptionAllowed";

/// A pod that was let go and is still there after this time is not going.
const DELETION_TIMEOUT: SignedDuration = SignedDuration::from_secs(120);

/// Somebody else wrote the budget; our copy will show it soon.
const CONFLICT_PAUSE: Duration = Duration::from_millis(100);

pub(crate) struct DisruptionController;

#[async_trait]
impl Controller for DisruptionController {
    fn name(&self) -> &'static str {
        "disruption-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let budgets = by_selector(informers.of::<PodDisruptionBudget>());
        let (of_pods, of_sets, of_deployments) = (budgets.clone(), budgets.clone(), budgets.clone());
        vec![
            Watch::itself(budgets),
            Watch::new(by_label(informers.of::<Pod>()), move |event, enqueue| {
                let (old, new) = event.versions();
                for pod in [old, new].into_iter().flatten() {
                    wake_budgets(&of_pods, pod.namespace(), pod.meta().labels(), enqueue, |_| true);
                }
            }),
            Watch::new(informers.of::<ReplicaSet>(), move |event, enqueue| {
                let size = |set: &SharedObject<ReplicaSet>| set.view().spec().replicas();
                wake_for_size(event, size, event.object().view().spec().template(), &of_sets, enqueue);
            }),
            Watch::new(informers.of::<Deployment>(), move |event, enqueue| {
                let size = |deployment: &SharedObject<Deployment>| deployment.view().spec().replicas();
                wake_for_size(event, size, event.object().view().spec().template(), &of_deployments, enqueue);
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let informers = &ctx.informers;
        let budgets = informers.of::<PodDisruptionBudget>();
        let Some(budget) = budgets.get(&key.namespace, &key.name) else { return Ok(Action::Done) };
        let selector = budget.view().spec().selector();
        let pods = matching(&informers.of::<Pod>(), &key.namespace, selector);
        if pods.is_empty() {
            ctx.recorder.normal(&budget, "NoPods", "No matching pods found");
        }
        let expected =
            if needs_scale(budget.view()) { expected_scale(ctx, &pods).await } else { Ok(count(pods.len())) };
        let (status, recheck) = match expected {
            Ok(expected) => plan_status(budget.view(), &pods, expected, ctx.now()),
            Err(why) => {
                let message = format!("Failed to calculate the number of expected pods: {why}");
                ctx.recorder.warning(&budget, "CalculateExpectedPodCountFailed", message);
                (plan_failure(budget.view(), &why, ctx.now()), None)
            }
        };
        if let Some(status) = status {
            let written = budget.to_owned().with_status(status);
            match ctx.client.api::<PodDisruptionBudget>(&key.namespace).replace_status(&written).await {
                Err(error) if error.is_not_found() => return Ok(Action::Done),
                Err(error) if error.is_conflict() => return Ok(Action::RequeueAfter(CONFLICT_PAUSE)),
                other => drop(other.during("write the status of budget", key)?),
            }
        }
        Ok(Action::after(recheck))
    }
}

/// A change of what is wanted wakes the budgets of the pods that there are.
fn wake_for_size<K: Kind>(
    event: &Event<K>,
    size: impl Fn(&SharedObject<K>) -> Option<i32>,
    template: PodTemplateSpecView<'_>,
    budgets: &Informer<PodDisruptionBudget>,
    enqueue: &Enqueue,
) {
    let (old, new) = event.versions();
    if old.map(&size) != new.map(&size) {
        wake_budgets(budgets, event.object().namespace(), template.metadata().labels(), enqueue, needs_scale);
    }
}

/// Wakes the budgets that cover pods with these labels. A budget without a selector covers
/// nothing.
fn wake_budgets(
    budgets: &Informer<PodDisruptionBudget>,
    namespace: &str,
    labels: Map<'_, &str>,
    enqueue: &Enqueue,
    is_concerned: fn(PodDisruptionBudgetView<'_>) -> bool,
) {
    for budget in may_select(budgets, namespace, labels) {
        if label_selector::matches(budget.view().spec().selector(), labels) && is_concerned(budget.view()) {
            enqueue.add_object(budget.meta());
        }
    }
}

/// Whether the budget speaks of parts of a whole, which only the pods' controllers know.
fn needs_scale(budget: PodDisruptionBudgetView<'_>) -> bool {
    let spec = budget.spec();
    spec.max_unavailable().is_some() || matches!(spec.min_available(), Some(IntOrString::String(_)))
}

fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// How many pods the controllers of these want in all.
async fn expected_scale(ctx: &Context, pods: &[SharedObject<Pod>]) -> Result<i32, String> {
    let mut scales: HashMap<String, i32> = HashMap::new();
    let mut seen: HashSet<&str> = HashSet::new();
    for pod in pods {
        let Some(owner) = controller_of(pod.meta()).filter(|owner| seen.insert(owner.uid())) else { continue };
        let (uid, scale) = scale_of(ctx, pod.namespace(), owner)
            .await?
            .ok_or_else(|| format!("found no controllers for pod {:?}", pod.name()))?;
        scales.insert(uid, scale);
    }
    Ok(scales.values().fold(0, |sum, scale| sum.saturating_add(*scale)))
}

/// The size that a controller wants, under the uid of whoever decides it: a Deployment
/// decides for its ReplicaSets.
async fn scale_of(
    ctx: &Context,
    namespace: &str,
    owner: OwnerReferenceView<'_>,
) -> Result<Option<(String, i32)>, String> {
    let informers = &ctx.informers;
    let group = owner.api_version().rsplit_once('/').map_or("", |(group, _)| group);
    let found = |uid: &str, replicas: Option<i32>| Ok(Some((uid.to_owned(), replicas.unwrap_or(1))));
    match (group, owner.kind()) {
        ("apps", "ReplicaSet") => {
            let set = informers.of::<ReplicaSet>().get(namespace, owner.name());
            let Some(set) = set.filter(|set| set.uid() == owner.uid()) else { return Ok(None) };
            let parent = controller_of(set.meta()).filter(|parent| parent.kind() == "Deployment");
            let Some(parent) = parent else { return found(owner.uid(), set.view().spec().replicas()) };
            let deployment = informers.of::<Deployment>().get(namespace, parent.name());
            match deployment.filter(|deployment| deployment.uid() == parent.uid()) {
                Some(deployment) => found(parent.uid(), deployment.view().spec().replicas()),
                None => Ok(None),
            }
        }
        ("apps", "StatefulSet") => match live_owner::<StatefulSet>(ctx, namespace, owner).await? {
            Some(set) => found(owner.uid(), set.view().spec().replicas()),
            None => Ok(None),
        },
        ("", "ReplicationController") => match live_owner::<ReplicationController>(ctx, namespace, owner).await? {
            Some(set) => found(owner.uid(), set.view().spec().replicas()),
            None => Ok(None),
        },
        _ => other_scale(ctx, namespace, owner, group).await,
    }
}

/// The owner as the API has it; None if it is gone or another by now.
async fn live_owner<K: Kind>(
    ctx: &Context,
    namespace: &str,
    owner: OwnerReferenceView<'_>,
) -> Result<Option<SharedObject<K>>, String> {
    match ctx.client.api::<K>(namespace).get(owner.name()).await {
        Ok(live) => Ok(Some(live).filter(|live| live.uid() == owner.uid())),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Anything else that has a scale, such as a custom resource.
async fn other_scale(
    ctx: &Context,
    namespace: &str,
    owner: OwnerReferenceView<'_>,
    group: &str,
) -> Result<Option<(String, i32)>, String> {
    let discovered = discover(&ctx.client).await.map_err(|error| error.to_string())?;
    let kind = discovered.resources.into_iter().find(|kind| kind.path.group == group && kind.kind == owner.kind());
    let Some(kind) = kind else { return Ok(None) };
    let path: &ResourcePath = &kind.path;
    let request = Request { path: path.url(namespace, Some(owner.name()), Some("scale")), ..Default::default() };
    let response = match ctx.client.call(request).await {
        Err(error) if error.is_not_found() => {
            let what = if group.is_empty() { path.plural.clone() } else { format!("{}.{group}", path.plural) };
            return Err(format!("{what} does not implement the scale subresource"));
        }
        other => other.map_err(|error| error.to_string())?,
    };
    let body = read_body(response.into_body()).await.map_err(|error| error.to_string())?;
    let scale: serde_json::Value = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
    let scale = Scale::from(scale);
    let uid = scale.view().metadata().uid();
    if !uid.is_empty() && uid != owner.uid() {
        return Ok(None);
    }
    Ok(Some((owner.uid().to_owned(), scale.view().spec().replicas())))
}

/// The status as it is to be, if it is not yet, and when a listed pod runs out of time.
fn plan_status(
    budget: PodDisruptionBudgetView<'_>,
    pods: &[SharedObject<Pod>],
    expected: i32,
    now: Timestamp,
) -> (Option<PodDisruptionBudgetStatus>, Option<Duration>) {
    let (spec, before) = (budget.spec(), budget.status());
    let desired = match (spec.max_unavailable(), spec.min_available()) {
        (Some(most), _) => (expected - scaled(Some(most), expected, Round::Up)).max(0),
        (None, Some(IntOrString::Int(number))) => number,
        (None, least) => scaled(least, expected, Round::Up),
    };
    let (disrupted, recheck) = plan_disrupted(before, pods, now);
    let is_healthy = |pod: &&SharedObject<Pod>| {
        !pod.is_deleting() && !disrupted.contains_key(pod.name()) && pod::is_ready(pod.view())
    };
    let healthy = count(pods.iter().filter(is_healthy).count());
    let allowed = if expected <= 0 { 0 } else { (healthy - desired).max(0) };
    let generation = Some(budget.metadata().generation()).filter(|generation| *generation != 0);
    let mut after = PodDisruptionBudgetStatus::new()
        .with_conditions(before.conditions())
        .with_current_healthy(healthy)
        .with_desired_healthy(desired)
        .with_disrupted_pods(disrupted)
        .with_disruptions_allowed(allowed)
        .with_expected_pods(expected)
        .with_observed_generation(generation);
    let (status, reason) = if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    condition::set(&mut after, allowed_condition(status, reason, "", generation), now);
    (changed(budget, after), recheck)
}

/// The pods that were let go, are still there and still have time to go.
fn plan_disrupted<'a>(
    before: PodDisruptionBudgetStatusView<'_>,
    pods: &'a [SharedObject<Pod>],
    now: Timestamp,
) -> (BTreeMap<&'a str, Timestamp>, Option<Duration>) {
    let listed = before.disrupted_pods();
    let mut kept = BTreeMap::new();
    let mut recheck: Option<Duration> = None;
    for pod in pods.iter().filter(|pod| !pod.is_deleting()) {
        let Some(at) = listed.get(pod.name()) else { continue };
        let left = at.checked_add(DELETION_TIMEOUT).map(|end| end.duration_since(now));
        let Ok(Ok(left)) = left.map(Duration::try_from) else { continue };
        recheck = Some(recheck.map_or(left, |sooner| sooner.min(left)));
        kept.insert(pod.name(), at);
    }
    (kept, recheck)
}

/// Nothing may be disrupted while we do not know how many pods there should be.
fn plan_failure(budget: PodDisruptionBudgetView<'_>, why: &str, now: Timestamp) -> Option<PodDisruptionBudgetStatus> {
    let before = budget.status();
    let generation = Some(before.observed_generation()).filter(|generation| *generation != 0);
    let mut after = before.to_owned().with_disruptions_allowed(0);
    condition::set(&mut after, allowed_condition("False", "SyncFailed", why, generation), now);
    changed(budget, after)
}

/// The new status if it is another; a budget without a status always gets one.
fn changed(budget: PodDisruptionBudgetView<'_>, after: PodDisruptionBudgetStatus) -> Option<PodDisruptionBudgetStatus> {
    let has_status = budget.node().get("status").is_some();
    (!has_status || !alike(budget.status().node(), after.view().node())).then_some(after)
}

fn allowed_condition(status: &str, reason: &str, message: &str, generation: Option<i64>) -> Condition {
    Condition::new()
        .with_type(ALLOWED)
        .with_status(status)
        .with_reason(reason)
        .with_message(message)
        .with_observed_generation(generation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn budget(spec: Value, status: Value) -> PodDisruptionBudget {
        PodDisruptionBudget::from(json!({"metadata": {"name": "b", "generation": 1}, "spec": spec, "status": status}))
    }

    fn pods(ready: &[bool]) -> Vec<SharedObject<Pod>> {
        let pod = |(index, ready): (usize, &bool)| {
            let status = if *ready { "True" } else { "False" };
            SharedObject::of(json!({"metadata": {"name": format!("p{index}")},
                "status": {"conditions": [{"type": "Ready", "status": status}]}}))
        };
        ready.iter().enumerate().map(pod).collect()
    }

    #[track_caller]
    fn check(spec: Value, ready: &[bool], expected: i32, desired: i32, healthy: i32, allowed: i32) {
        let blank = json!({"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0});
        let (status, _) = plan_status(budget(spec, blank).view(), &pods(ready), expected, Timestamp::UNIX_EPOCH);
        let status = status.expect("it was blank");
        let status = status.view();
        assert_eq!(
            (status.desired_healthy(), status.current_healthy(), status.disruptions_allowed()),
            (desired, healthy, allowed)
        );
    }

    #[test]
    fn budgets_are_counted_from_either_side() {
        check(json!({"minAvailable": 2}), &[true, true, true], 3, 2, 3, 1);
        check(json!({"minAvailable": "50%"}), &[true, true, false], 3, 2, 2, 0);
        check(json!({"maxUnavailable": 1}), &[true, true, true], 3, 2, 3, 1);
        check(json!({"maxUnavailable": "34%"}), &[true, true, true], 3, 1, 3, 2);
        check(json!({"maxUnavailable": 5}), &[true], 1, 0, 1, 1);
        check(json!({"minAvailable": 0}), &[], 0, 0, 0, 0);
    }

    #[test]
    fn pods_that_were_let_go_do_not_count_until_their_time_is_over() {
        let second = |seconds| Timestamp::from_second(seconds).expect("in range");
        let status = json!({"currentHealthy": 3, "desiredHealthy": 1, "disruptionsAllowed": 1, "expectedPods": 3,
            "disruptedPods": {"p0": "1970-01-01T00:00:00Z", "gone": "1970-01-01T00:00:00Z"}});
        let budget = budget(json!({"minAvailable": 1}), status);
        let (status, recheck) = plan_status(budget.view(), &pods(&[true, true, true]), 3, second(20));
        let status = status.expect("changed");
        assert_eq!((status.view().current_healthy(), status.view().disruptions_allowed()), (2, 1));
        assert_eq!(status.view().disrupted_pods().keys().collect::<Vec<_>>(), ["p0"]);
        assert_eq!(recheck, Some(Duration::from_secs(100)));
        let (status, recheck) = plan_status(budget.view(), &pods(&[true, true, true]), 3, second(121));
        let status = status.expect("changed");
        assert_eq!((status.view().current_healthy(), status.view().disrupted_pods().len(), recheck), (3, 0, None));
    }

    #[test]
    fn nothing_is_written_twice_and_a_failure_allows_nothing() {
        let first = budget(
            json!({"minAvailable": 1}),
            json!({"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 9, "expectedPods": 0}),
        );
        let (status, _) = plan_status(first.view(), &pods(&[true, true]), 2, Timestamp::UNIX_EPOCH);
        let second = first.clone().with_status(status);
        let later = Timestamp::from_second(60).expect("in range");
        assert_eq!(plan_status(second.view(), &pods(&[true, true]), 2, later).0, None);
        let failed = plan_failure(second.view(), "found no controllers for pod \"p\"", later).expect("changed");
        assert_eq!(failed.view().disruptions_allowed(), 0);
        let condition = failed.view().conditions().first().expect("conditions");
        assert_eq!((condition.reason(), condition.last_transition_time()), ("SyncFailed", Some(later)));
    }
}
