//! Computes how many of the pods of a PodDisruptionBudget may be taken away now. The
//! eviction subresource takes from that number and lists the pods it let go; here the list
//! is checked off and the number counted anew.
//!
//! The reference is upstream's pkg/controller/disruption.

use crate::claim::controller_of;
use crate::deployment::scaled;
use crate::discovery::discover;
use crate::error::{During, Result};
use crate::pod;
use crate::runner::{Action, Context, Controller, Key, Watch, event_versions};
use crate::selector;
use async_trait::async_trait;
use ferry_client::{Informer, Informers, Request, ResourcePath, read_body, reference};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::core::v1::{Pod, ReplicationController};
use k8s_openapi::api::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, OwnerReference, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

const ALLOWED: &str = "DisruptionAllowed";

/// A pod that was let go and is still there after this time is not going.
const DELETION_TIMEOUT: SignedDuration = SignedDuration::from_secs(120);

/// Somebody else wrote the budget; our copy will show it soon.
const CONFLICT_PAUSE: Duration = Duration::from_millis(100);

pub struct DisruptionController;

#[async_trait]
impl Controller for DisruptionController {
    fn name(&self) -> &'static str {
        "disruption-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let budgets = informers.of::<PodDisruptionBudget>();
        let of_pods = budgets.clone();
        vec![
            Watch::itself(budgets),
            Watch::new(informers.of::<Pod>(), move |event, enqueue| {
                let (old, new) = event_versions(event);
                for pod in [old, new].into_iter().flatten() {
                    budgets_of(&of_pods, pod).into_iter().for_each(|key| enqueue.add(key));
                }
            }),
            sizes(informers, informers.of::<ReplicaSet>(), |set| set.spec.as_ref().and_then(|spec| spec.replicas)),
            sizes(informers, informers.of::<Deployment>(), |set| set.spec.as_ref().and_then(|spec| spec.replicas)),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let budgets = ctx.informers.of::<PodDisruptionBudget>();
        let Some(budget) = budgets.get(&key.namespace, &key.name) else { return Ok(Action::Done) };
        let pods = ctx.informers.of::<Pod>().list(Some(&key.namespace));
        let pods: Vec<Arc<Pod>> = pods.into_iter().filter(|pod| covers(&budget, pod)).collect();
        if pods.is_empty() {
            ctx.recorder.normal(&reference(&*budget), "NoPods", "No matching pods found");
        }
        let expected = if needs_scale(&budget) { expected_scale(ctx, &pods).await } else { Ok(count(pods.len())) };
        let (status, recheck) = match expected {
            Ok(expected) => plan_status(&budget, &pods, expected, ctx.now()),
            Err(why) => {
                let message = format!("Failed to calculate the number of expected pods: {why}");
                ctx.recorder.warning(&reference(&*budget), "CalculateExpectedPodCountFailed", message);
                (plan_failure(&budget, &why, ctx.now()), None)
            }
        };
        if let Some(status) = status {
            let written = PodDisruptionBudget { status: Some(status), ..(*budget).clone() };
            match ctx.client.replace_status(&key.namespace, &written).await {
                Err(error) if error.is_not_found() => return Ok(Action::Done),
                Err(error) if error.is_conflict() => return Ok(Action::RequeueAfter(CONFLICT_PAUSE)),
                other => drop(other.during("write the status of budget", key)?),
            }
        }
        Ok(Action::after(recheck))
    }
}

/// A change of what is wanted wakes the budgets of the pods that there are.
fn sizes<K: ferry_client::Cached>(
    informers: &Informers,
    informer: Informer<K>,
    replicas: impl Fn(&K) -> Option<i32> + Send + 'static,
) -> Watch {
    let budgets = informers.of::<PodDisruptionBudget>();
    Watch::new(informer, move |event, enqueue| {
        let (old, new) = event_versions(event);
        if old.map(|old| replicas(old)) == new.map(|new| replicas(new)) {
            return;
        }
        let namespace = event.object().object_meta().namespace.clone().unwrap_or_default();
        budgets.list(Some(&namespace)).iter().filter(|budget| needs_scale(budget)).for_each(|budget| {
            enqueue.add_object(&budget.metadata);
        });
    })
}

fn budgets_of(budgets: &Informer<PodDisruptionBudget>, pod: &Pod) -> Vec<Key> {
    let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
    let all = budgets.list(Some(namespace));
    all.iter().filter(|budget| covers(budget, pod)).map(|budget| Key::of(&budget.metadata)).collect()
}

/// A budget without a selector covers nothing.
fn covers(budget: &PodDisruptionBudget, pod: &Pod) -> bool {
    let selector = budget.spec.as_ref().and_then(|spec| spec.selector.as_ref());
    selector.is_some_and(|selector| selector::matches(selector, pod.metadata.labels.as_ref()))
}

/// Whether the budget speaks of parts of a whole, which only the pods' controllers know.
fn needs_scale(budget: &PodDisruptionBudget) -> bool {
    budget.spec.as_ref().is_some_and(|spec| {
        spec.max_unavailable.is_some() || matches!(spec.min_available, Some(IntOrString::String(_)))
    })
}

fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// How many pods the controllers of these want in all.
async fn expected_scale(ctx: &Context, pods: &[Arc<Pod>]) -> Result<i32, String> {
    let mut scales: HashMap<String, i32> = HashMap::new();
    let mut seen: HashMap<String, ()> = HashMap::new();
    for pod in pods {
        let Some(owner) = controller_of(&pod.metadata) else { continue };
        if seen.insert(owner.uid.clone(), ()).is_some() {
            continue;
        }
        let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
        let (uid, scale) = scale_of(ctx, namespace, owner).await?.ok_or_else(|| {
            format!("found no controllers for pod {:?}", pod.metadata.name.as_deref().unwrap_or_default())
        })?;
        scales.insert(uid, scale);
    }
    Ok(scales.values().fold(0, |sum, scale| sum.saturating_add(*scale)))
}

/// The size that a controller wants, under the uid of whoever decides it: a Deployment
/// decides for its ReplicaSets.
async fn scale_of(ctx: &Context, namespace: &str, owner: &OwnerReference) -> Result<Option<(String, i32)>, String> {
    let group = owner.api_version.rsplit_once('/').map_or("", |(group, _)| group);
    let same = |uid: Option<&String>| uid == Some(&owner.uid);
    let failed = |error: ferry_client::Error| error.to_string();
    let found = |uid: &str, replicas: Option<i32>| Ok(Some((uid.to_owned(), replicas.unwrap_or(1))));
    match (group, owner.kind.as_str()) {
        ("apps", "ReplicaSet") => {
            let set = ctx.informers.of::<ReplicaSet>().get(namespace, &owner.name);
            let Some(set) = set.filter(|set| same(set.metadata.uid.as_ref())) else { return Ok(None) };
            let parent = controller_of(&set.metadata).filter(|parent| parent.kind == "Deployment");
            let Some(parent) = parent else { return found(&owner.uid, set.spec.as_ref().and_then(|s| s.replicas)) };
            let deployment = ctx.informers.of::<Deployment>().get(namespace, &parent.name);
            match deployment.filter(|deployment| deployment.metadata.uid.as_ref() == Some(&parent.uid)) {
                Some(deployment) => found(&parent.uid, deployment.spec.as_ref().and_then(|spec| spec.replicas)),
                None => Ok(None),
            }
        }
        ("apps", "StatefulSet") => match ctx.client.get::<StatefulSet>(namespace, &owner.name).await {
            Ok(set) if same(set.metadata.uid.as_ref()) => found(&owner.uid, set.spec.and_then(|spec| spec.replicas)),
            Err(error) if !error.is_not_found() => Err(failed(error)),
            _ => Ok(None),
        },
        ("", "ReplicationController") => match ctx.client.get::<ReplicationController>(namespace, &owner.name).await {
            Ok(set) if same(set.metadata.uid.as_ref()) => found(&owner.uid, set.spec.and_then(|spec| spec.replicas)),
            Err(error) if !error.is_not_found() => Err(failed(error)),
            _ => Ok(None),
        },
        _ => other_scale(ctx, namespace, owner, group).await,
    }
}

/// Anything else that has a scale, such as a custom resource.
async fn other_scale(
    ctx: &Context,
    namespace: &str,
    owner: &OwnerReference,
    group: &str,
) -> Result<Option<(String, i32)>, String> {
    let discovered = discover(&ctx.client).await.map_err(|error| error.to_string())?;
    let kind = discovered.resources.into_iter().find(|kind| kind.path.group == group && kind.kind == owner.kind);
    let Some(kind) = kind else { return Ok(None) };
    let path: &ResourcePath = &kind.path;
    let request = Request { path: path.url(namespace, Some(&owner.name), Some("scale")), ..Default::default() };
    let response = match ctx.client.call(request).await {
        Err(error) if error.is_not_found() => {
            let what = if group.is_empty() { path.plural.clone() } else { format!("{}.{group}", path.plural) };
            return Err(format!("{what} does not implement the scale subresource"));
        }
        other => other.map_err(|error| error.to_string())?,
    };
    let body = read_body(response.into_body()).await.map_err(|error| error.to_string())?;
    let scale: serde_json::Value = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
    if scale["metadata"]["uid"].as_str().is_some_and(|uid| uid != owner.uid) {
        return Ok(None);
    }
    let replicas = scale["spec"]["replicas"].as_i64().and_then(|replicas| i32::try_from(replicas).ok());
    Ok(Some((owner.uid.clone(), replicas.unwrap_or(0))))
}

/// The status as it is to be, if it is not yet, and when a listed pod runs out of time.
fn plan_status(
    budget: &PodDisruptionBudget,
    pods: &[Arc<Pod>],
    expected: i32,
    now: Timestamp,
) -> (Option<PodDisruptionBudgetStatus>, Option<Duration>) {
    let spec = budget.spec.clone().unwrap_or_default();
    let before = budget.status.clone().unwrap_or_default();
    let up = |product: u64| product.div_ceil(100);
    let desired = match (&spec.max_unavailable, &spec.min_available) {
        (Some(most), _) => (expected - scaled(Some(most), expected, up)).max(0),
        (None, Some(IntOrString::Int(number))) => *number,
        (None, least) => scaled(least.as_ref(), expected, up),
    };
    let (disrupted, recheck) = plan_disrupted(&before, pods, now);
    let is_healthy = |pod: &&Arc<Pod>| {
        let name = pod.metadata.name.as_deref().unwrap_or_default();
        pod.metadata.deletion_timestamp.is_none() && !disrupted.contains_key(name) && pod::is_ready(pod)
    };
    let healthy = count(pods.iter().filter(is_healthy).count());
    let allowed = if expected <= 0 { 0 } else { (healthy - desired).max(0) };
    let generation = budget.metadata.generation;
    let (status, reason) = if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    let conditions = set_condition(before.conditions.clone(), status, reason, "", generation, now);
    let after = PodDisruptionBudgetStatus {
        conditions: Some(conditions),
        current_healthy: Some(healthy),
        desired_healthy: Some(desired),
        disrupted_pods: Some(disrupted).filter(|pods| !pods.is_empty()),
        disruptions_allowed: Some(allowed),
        expected_pods: Some(expected),
        observed_generation: generation,
    };
    let same_as_before = |after: &PodDisruptionBudgetStatus| {
        let listed = before.disrupted_pods.clone().filter(|pods| !pods.is_empty());
        *after == PodDisruptionBudgetStatus { disrupted_pods: listed, ..before.clone() }
    };
    let changed = budget.status.is_none() || !same_as_before(&after);
    (changed.then_some(after), recheck)
}

/// The pods that were let go, are still there and still have time to go.
fn plan_disrupted(
    before: &PodDisruptionBudgetStatus,
    pods: &[Arc<Pod>],
    now: Timestamp,
) -> (BTreeMap<String, Time>, Option<Duration>) {
    let listed = before.disrupted_pods.clone().unwrap_or_default();
    let mut kept = BTreeMap::new();
    let mut recheck: Option<Duration> = None;
    for pod in pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()) {
        let name = pod.metadata.name.clone().unwrap_or_default();
        let Some(at) = listed.get(&name) else { continue };
        let left = at.0.checked_add(DELETION_TIMEOUT).map(|end| end.duration_since(now));
        let Ok(Ok(left)) = left.map(Duration::try_from) else { continue };
        recheck = Some(recheck.map_or(left, |sooner| sooner.min(left)));
        kept.insert(name, at.clone());
    }
    (kept, recheck)
}

/// Nothing may be disrupted while we do not know how many pods there should be.
fn plan_failure(budget: &PodDisruptionBudget, why: &str, now: Timestamp) -> Option<PodDisruptionBudgetStatus> {
    let before = budget.status.clone().unwrap_or_default();
    let generation = before.observed_generation;
    let conditions = set_condition(before.conditions.clone(), "False", "SyncFailed", why, generation, now);
    let after =
        PodDisruptionBudgetStatus { disruptions_allowed: Some(0), conditions: Some(conditions), ..before.clone() };
    (budget.status.is_none() || after != before).then_some(after)
}

fn set_condition(
    conditions: Option<Vec<Condition>>,
    status: &str,
    reason: &str,
    message: &str,
    generation: Option<i64>,
    now: Timestamp,
) -> Vec<Condition> {
    let mut conditions = conditions.unwrap_or_default();
    let mut condition = Condition {
        type_: ALLOWED.to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        observed_generation: generation,
        last_transition_time: Time(now),
    };
    match conditions.iter_mut().find(|other| other.type_ == ALLOWED) {
        Some(other) => {
            if other.status == condition.status {
                condition.last_transition_time = other.last_transition_time.clone();
            }
            *other = condition;
        }
        None => conditions.push(condition),
    }
    conditions
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn budget(spec: Value, status: Value) -> PodDisruptionBudget {
        serde_json::from_value(json!({"metadata": {"name": "b", "generation": 1}, "spec": spec, "status": status}))
            .expect("a budget")
    }

    fn pods(ready: &[bool]) -> Vec<Arc<Pod>> {
        let pod = |(index, ready): (usize, &bool)| {
            let status = if *ready { "True" } else { "False" };
            let pod = json!({"metadata": {"name": format!("p{index}")},
                "status": {"conditions": [{"type": "Ready", "status": status}]}});
            Arc::new(serde_json::from_value(pod).expect("a pod"))
        };
        ready.iter().enumerate().map(pod).collect()
    }

    #[track_caller]
    fn check(spec: Value, ready: &[bool], expected: i32, desired: i32, healthy: i32, allowed: i32) {
        let blank = json!({"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0});
        let (status, _) = plan_status(&budget(spec, blank), &pods(ready), expected, Timestamp::UNIX_EPOCH);
        let status = status.expect("it was blank");
        assert_eq!(
            (status.desired_healthy, status.current_healthy, status.disruptions_allowed),
            (Some(desired), Some(healthy), Some(allowed))
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
        let (status, recheck) = plan_status(&budget, &pods(&[true, true, true]), 3, second(20));
        let status = status.expect("changed");
        assert_eq!((status.current_healthy, status.disruptions_allowed), (Some(2), Some(1)));
        assert_eq!(status.disrupted_pods.expect("one left").keys().collect::<Vec<_>>(), ["p0"]);
        assert_eq!(recheck, Some(Duration::from_secs(100)));
        let (status, recheck) = plan_status(&budget, &pods(&[true, true, true]), 3, second(121));
        let status = status.expect("changed");
        assert_eq!((status.current_healthy, status.disrupted_pods, recheck), (Some(3), None, None));
    }

    #[test]
    fn nothing_is_written_twice_and_a_failure_allows_nothing() {
        let first = budget(
            json!({"minAvailable": 1}),
            json!({"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 9, "expectedPods": 0}),
        );
        let (status, _) = plan_status(&first, &pods(&[true, true]), 2, Timestamp::UNIX_EPOCH);
        let second = PodDisruptionBudget { status, ..first.clone() };
        let later = Timestamp::from_second(60).expect("in range");
        assert_eq!(plan_status(&second, &pods(&[true, true]), 2, later).0, None);
        let failed = plan_failure(&second, "found no controllers for pod \"p\"", later).expect("changed");
        assert_eq!(failed.disruptions_allowed, Some(0));
        let condition = &failed.conditions.as_ref().expect("conditions")[0];
        assert_eq!((condition.reason.as_str(), condition.last_transition_time.0), ("SyncFailed", later));
    }
}
