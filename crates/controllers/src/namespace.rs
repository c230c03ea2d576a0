//! Empties a namespace that is being deleted, and then lets it go.
//!
//! Every kind that discovery lists is emptied, pods first: what guards pods (policies,
//! quotas, accounts) must outlive them. conditions.rs reports what holds things up. The
//! reference is upstream's pkg/controller/namespace.

mod conditions;

use crate::discovery::{ApiResource, Discovered, discover};
use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use conditions::Findings;
use ferry_api::rules::pod::is_terminal;
use ferry_api::view::core::v1::{Namespace, Pod};
use ferry_api::view::meta::v1::PartialObjectMetadata;
use ferry_client::{DeleteParams, Event, Informers, ListParams, ResourcePath, SharedObject};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

const FINALIZER: &str = "kubernetes";

/// How long finalizers of others are given before we look again.
const FINALIZER_ESTIMATE: Duration = Duration::from_secs(15);

/// The longest pause between two attempts. A deletion often waits for a broken APIService to
/// be mended or removed, which no event of ours announces; the namespace is to go soon after.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

pub(crate) struct NamespaceController;

#[async_trait]
impl Controller for NamespaceController {
    fn name(&self) -> &'static str {
        "namespace-controller"
    }

    fn longest_pause(&self) -> Duration {
        LONGEST_PAUSE
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let namespaces = informers.of::<Namespace>();
        vec![
            Watch::new(namespaces.clone(), |event, enqueue| {
                let namespace = event.object();
                if namespace.is_deleting() && !matches!(event, Event::Deleted(_)) {
                    enqueue.add_object(namespace.meta());
                }
            }),
            // The end of a pod is what a deletion waits for most of the time.
            Watch::new(informers.of::<Pod>(), move |event, enqueue| {
                let Event::Deleted(pod) = event else { return };
                if namespaces.get("", pod.namespace()).is_some_and(|namespace| namespace.is_deleting()) {
                    enqueue.add(Key::new("", pod.namespace()));
                }
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let api = ctx.client.api::<Namespace>("");
        let namespace = match api.get(&key.name).await {
            Err(error) if error.is_not_found() => return Ok(Action::Done),
            other => other.during("get the namespace", key)?,
        };
        let Some(deleted_at) = namespace.meta().deletion_timestamp() else { return Ok(Action::Done) };
        if namespace.view().spec().finalizers().is_empty() {
            return Ok(Action::Done);
        }
        let Some(namespace) = mark_terminating(ctx, namespace).await? else { return Ok(Action::Done) };
        let discovered = discover(&ctx.client).await;
        let outcome = empty(ctx, key, discovered, deleted_at).await;
        let status = conditions::plan_status(namespace.view(), &outcome.findings, ctx.now());
        if let Some(status) = status {
            match api.replace_status(&namespace.to_owned().with_status(status)).await {
                Err(error) if error.is_conflict() || error.is_not_found() => {}
                other => drop(other.during("report the deletion of", key)?),
            }
        }
        if let Some(error) = outcome.errors.into_iter().next() {
            return Err(error);
        }
        if let Some(estimate) = outcome.estimate {
            // Half the time that is left: things often end sooner than they may.
            return Ok(Action::RequeueAfter(estimate / 2 + Duration::from_secs(1)));
        }
        finalize(ctx, key).await.map(|()| Action::Done)
    }
}

/// What a pass over all kinds led to.
#[derive(Default)]
struct Outcome {
    findings: Findings,
    errors: Vec<Error>,
    /// How long what remains may take; none when nothing remains.
    estimate: Option<Duration>,
}

async fn empty(ctx: &Context, key: &Key, discovered: Result<Discovered>, deleted_at: Timestamp) -> Outcome {
    let mut outcome = Outcome::default();
    let discovered = match discovered {
        Ok(discovered) => discovered,
        Err(error) => {
            outcome.findings.discovery = Some(error.to_string());
            outcome.errors.push(error);
            return outcome;
        }
    };
    if !discovered.failures.is_empty() {
        let count = discovered.failures.len();
        let failures = discovered.failures.join(", ");
        outcome.findings.discovery = Some(format!(
            "Discovery failed for some groups, {count} failing: unable to retrieve the complete list of server APIs: {failures}"
        ));
        outcome.errors.push(Error::Retry(format!("discovery failed for {failures}")));
    }
    let mut resources: Vec<ApiResource> =
        discovered.resources.into_iter().filter(|r| r.namespaced && r.has_verbs(&["delete"])).collect();
    let is_pods = |path: &ResourcePath| path.group.is_empty() && path.plural == "pods";
    resources.sort_by_key(|resource| !is_pods(&resource.path));
    for resource in resources {
        let pods = is_pods(&resource.path);
        match empty_resource(ctx, key, &resource, deleted_at).await {
            Err(error) => {
                outcome.findings.content.push(error.to_string());
                outcome.errors.push(error);
                if pods {
                    return outcome;
                }
            }
            Ok(None) => {}
            Ok(Some(rest)) => {
                outcome.estimate = outcome.estimate.max(Some(rest.estimate));
                // Nothing else is touched while pods remain.
                if pods {
                    return outcome;
                }
                outcome.findings.remaining.push((resource.path.plural, resource.path.group, rest.count));
                for (finalizer, count) in rest.finalizers {
                    *outcome.findings.finalizers.entry(finalizer).or_default() += count;
                }
            }
        }
    }
    outcome
}

/// What is left of a kind after everything was told to go.
struct Rest {
    count: usize,
    finalizers: BTreeMap<String, usize>,
    estimate: Duration,
}

async fn empty_resource(
    ctx: &Context,
    key: &Key,
    resource: &ApiResource,
    deleted_at: Timestamp,
) -> Result<Option<Rest>> {
    let path = &resource.path;
    let grace = if path.group.is_empty() && path.plural == "pods" {
        grace_of_pods(ctx, key, deleted_at)
    } else {
        Duration::ZERO
    };
    let background = DeleteParams { propagation_policy: Some("Background".to_owned()), ..Default::default() };
    if resource.has_verbs(&["deletecollection"]) {
        match ctx.client.delete_collection_at(path, &key.name, &background).await {
            Err(error) if is_unsupported(&error) => {}
            other => other.during("delete all", format!("{} in {key}", path.plural))?,
        }
    } else {
        for object in list(ctx, key, resource).await? {
            let name = object.name();
            match ctx.client.delete_at(path, &key.name, name, &background).await {
                Err(error) if is_unsupported(&error) => {}
                other => other.during("delete", format!("{} {name} in {key}", path.plural))?,
            }
        }
    }
    let left = list(ctx, key, resource).await?;
    if left.is_empty() {
        return Ok(None);
    }
    let mut finalizers: BTreeMap<String, usize> = BTreeMap::new();
    for finalizer in left.iter().flat_map(|object| object.meta().finalizers()) {
        *finalizers.entry(finalizer.to_owned()).or_default() += 1;
    }
    let estimate = match grace {
        Duration::ZERO if !finalizers.is_empty() => FINALIZER_ESTIMATE,
        Duration::ZERO => {
            let gvr = format!("{}/{}, Resource={}", path.group, path.version, path.plural);
            return Err(Error::Retry(format!(
                "unexpected items still remain in namespace: {} for gvr: {gvr}",
                key.name
            )));
        }
        grace => grace,
    };
    Ok(Some(Rest { count: left.len(), finalizers, estimate }))
}

async fn list(ctx: &Context, key: &Key, resource: &ApiResource) -> Result<Vec<SharedObject<PartialObjectMetadata>>> {
    if !resource.has_verbs(&["list"]) {
        return Ok(Vec::new());
    }
    let api = ctx.client.api_at::<PartialObjectMetadata>(resource.path.clone(), &key.name);
    match api.list_metadata(&ListParams::default()).await {
        Err(error) if is_unsupported(&error) => Ok(Vec::new()),
        other => Ok(other.during("list", format!("{} in {key}", resource.path.plural))?.items),
    }
}

/// The kind may have gone since it was discovered, or refuse the verb.
fn is_unsupported(error: &ferry_client::Error) -> bool {
    error.is_not_found() || error.status().is_some_and(|status| status.reason == "MethodNotAllowed")
}

/// The longest that a pod of the namespace may still take; zero once that is over.
fn grace_of_pods(ctx: &Context, key: &Key, deleted_at: Timestamp) -> Duration {
    let pods = ctx.informers.of::<Pod>().list(Some(&key.name));
    let grace = pods
        .iter()
        .filter(|pod| !is_terminal(pod.view()))
        .filter_map(|pod| pod.view().spec().termination_grace_period_seconds())
        .max()
        .and_then(|seconds| u64::try_from(seconds).ok())
        .map_or(Duration::ZERO, Duration::from_secs);
    let elapsed = Duration::try_from(ctx.now().duration_since(deleted_at)).unwrap_or_default();
    if elapsed >= grace { Duration::ZERO } else { grace }
}

/// Brings the phase in line with the deletion. None when the namespace has gone.
async fn mark_terminating(
    ctx: &Context,
    namespace: SharedObject<Namespace>,
) -> Result<Option<SharedObject<Namespace>>> {
    if namespace.view().status().phase() == "Terminating" {
        return Ok(Some(namespace));
    }
    let mut marked = namespace.to_owned();
    marked.edit_status(|status| status.set_phase("Terminating"));
    match ctx.client.api::<Namespace>("").replace_status(&marked).await {
        Err(error) if error.is_not_found() => Ok(None),
        other => other.during("mark as terminating the namespace", namespace.name()).map(Some),
    }
}

/// Takes our finalizer away; with the last one the API server removes the namespace.
async fn finalize(ctx: &Context, key: &Key) -> Result<()> {
    let api = ctx.client.api::<Namespace>("");
    let namespace = match api.get(&key.name).await {
        Err(error) if error.is_not_found() => return Ok(()),
        other => other.during("get the namespace", key)?,
    };
    let kept = namespace.view().spec().finalizers().iter().filter(|finalizer| *finalizer != FINALIZER);
    let mut finalized = namespace.to_owned();
    finalized.edit_spec(|spec| spec.set_finalizers(kept));
    match api.replace_subresource(&finalized, "finalize").await {
        Err(error) if error.is_not_found() => Ok(()),
        other => other.during("finalize the namespace", key).map(drop),
    }
}
