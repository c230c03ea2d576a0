//! Removes tokens in Secrets that were made for accounts by older clusters and that nobody
//! has used for a year: first they are marked invalid, and after another year they go.
//! When each was last used is on its label; since when that is so, in a ConfigMap.

use crate::error::{During, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use crate::security::service_account_token::{ACCOUNT_NAME, annotation, is_the_one, secrets};
use async_trait::async_trait;
use ferry_api::document::Node;
use ferry_api::view::View;
use ferry_api::view::core::v1::{ConfigMap, Pod, PodView, Secret, SecretView, ServiceAccount, ServiceAccountView};
use ferry_client::{DeleteParams, Informers, ListParams, Patch, SharedObject};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

const LAST_USED: &str = "kubernetes.io/legacy-token-last-used";
const INVALID_SINCE: &str = "kubernetes.io/legacy-token-invalid-since";
const TRACKING: &str = "kube-apiserver-legacy-service-account-token-tracking";
/// How long a token must be out of use (upstream's LegacySATokenCleaner.CleanUpPeriod).
const UNUSED_FOR: SignedDuration = SignedDuration::from_hours(24 * 365);
const LOOK_EVERY: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) struct LegacyTokenCleanerController;

#[async_trait]
impl Controller for LegacyTokenCleanerController {
    fn name(&self) -> &'static str {
        "legacy-serviceaccount-token-cleaner-controller"
    }

    fn identity(&self) -> &'static str {
        "legacy-service-account-token-cleaner"
    }

    fn workers(&self) -> usize {
        1
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![Watch::itself(secrets(informers)), Watch::cached(informers.of::<ServiceAccount>())]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(secret) = secrets(&ctx.informers).get(&key.namespace, &key.name) else { return Ok(Action::Done) };
        let name = annotation(secret.view(), ACCOUNT_NAME);
        let account = ctx.informers.of::<ServiceAccount>().get(&key.namespace, name);
        // Tokens that somebody made by hand are theirs to remove, and most are.
        if !account.is_some_and(|account| is_generated(account.view(), secret.view())) {
            return Ok(Action::Done);
        }
        let tracking = match ctx.client.api::<ConfigMap>("kube-system").get(TRACKING).await {
            Ok(tracking) => tracking,
            Err(error) if error.is_not_found() => return Ok(Action::RequeueAfter(LOOK_EVERY)),
            Err(error) => return Err(error).during("read since when tokens are tracked for", key),
        };
        let since = tracking.view().data().get("since").unwrap_or_default();
        let mut plan = plan(secret.view(), since, ctx.now());
        if plan != Plan::Keep {
            // Once a year a token, so that no index of all the Secrets of all pods is kept.
            let live = ctx.informers.client().api::<Pod>(&key.namespace).list(&ListParams::default()).await;
            plan = plan.unless_used(&live.during("list the pods that may use the token", key)?.items, &key.name);
        }
        let secrets = ctx.client.api::<Secret>(&key.namespace);
        match plan {
            Plan::Keep => Ok(Action::RequeueAfter(LOOK_EVERY)),
            Plan::Mark(day) => {
                let labels = json!({"metadata": {"uid": secret.uid(), "labels": {INVALID_SINCE: day}}});
                match secrets.patch(&key.name, &Patch::Merge(labels)).await {
                    Err(error) if error.is_not_found() || error.is_conflict() => {}
                    other => drop(other.during("mark the unused token", key)?),
                }
                Ok(Action::RequeueAfter(LOOK_EVERY))
            }
            Plan::Remove => {
                let version = secret.meta().resource_version().to_owned();
                let params = DeleteParams { resource_version: Some(version), ..Default::default() };
                match secrets.delete(&key.name, &params).await {
                    Err(error) if error.is_not_found() || error.is_conflict() => {}
                    other => other.during("remove the unused token", key)?,
                }
                Ok(Action::Done)
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Plan {
    Keep,
    Mark(String),
    Remove,
}

/// Whether the account lists the Secret, as older clusters made them do.
fn is_generated(account: ServiceAccountView<'_>, secret: SecretView<'_>) -> bool {
    let listed = account.secrets().iter().any(|reference| reference.name() == secret.metadata().name());
    listed && is_the_one(account, secret)
}

impl Plan {
    fn unless_used(self, pods: &[SharedObject<Pod>], secret: &str) -> Self {
        if pods.iter().any(|pod| mounted_secrets(pod.view()).contains(secret)) { Self::Keep } else { self }
    }
}

/// The next step for a token that no pod uses.
fn plan(secret: SecretView<'_>, tracked_since: &str, now: Timestamp) -> Plan {
    let day = |at: Timestamp| at.to_zoned(TimeZone::UTC).date();
    let Ok(edge) = now.saturating_sub(UNUSED_FOR) else { return Plan::Keep };
    // Uses are known for certain from the day after tracking began.
    let tracked = tracked_since.parse::<Date>().ok().and_then(|since| since.tomorrow().ok());
    if tracked.is_none_or(|tracked| day(edge) < tracked) {
        return Plan::Keep;
    }
    let metadata = secret.metadata();
    let created = metadata.creation_timestamp();
    if created.is_none_or(|created| created >= edge) || metadata.deletion_timestamp().is_some() {
        return Plan::Keep;
    }
    if let Some(used) = metadata.labels().get(LAST_USED)
        && used.parse::<Date>().map_or(true, |used| used >= day(edge))
    {
        return Plan::Keep;
    }
    match metadata.labels().get(INVALID_SINCE).and_then(|since| since.parse::<Date>().ok()) {
        None => Plan::Mark(day(now).to_string()),
        Some(since) if since >= day(edge) => Plan::Keep,
        Some(_) => Plan::Remove,
    }
}

/// The names of the Secrets that a pod uses, wherever its spec names them.
fn mounted_secrets(pod: PodView<'_>) -> BTreeSet<&str> {
    fn visit<'a>(node: Node<'a>, out: &mut BTreeSet<&'a str>) {
        let name = |node: Node<'a>, key: &str| node.get(key).and_then(Node::as_str);
        for (key, value) in node.entries() {
            match key {
                "secret" => out.extend(name(value, "secretName").or_else(|| name(value, "name"))),
                "azureFile" => out.extend(name(value, "secretName")),
                "secretRef" | "secretKeyRef" | "nodePublishSecretRef" => out.extend(name(value, "name")),
                "imagePullSecrets" => out.extend(value.items().filter_map(|item| name(item, "name"))),
                _ => {}
            }
            visit(value, out);
        }
        node.items().for_each(|item| visit(item, out));
    }
    let mut out = BTreeSet::new();
    visit(pod.spec().node(), &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use serde_json::Value;

    #[test]
    fn unused_tokens_are_marked_and_then_removed() {
        let now: Timestamp = "2026-06-15T12:00:00Z".parse().expect("a time");
        let secret = |created: &str, labels: Value| {
            Secret::from(json!({"metadata": {"name": "s", "creationTimestamp": created, "labels": labels}}))
        };
        let old = "2024-01-01T00:00:00Z";
        let check = |secret: &Secret, since: &str| plan(secret.view(), since, now);
        assert_eq!(check(&secret(old, json!({})), "2024-01-01"), Plan::Mark("2026-06-15".into()));
        assert_eq!(check(&secret(old, json!({})), "2025-06-15"), Plan::Keep, "not tracked for long");
        assert_eq!(check(&secret(old, json!({})), ""), Plan::Keep, "not tracked at all");
        assert_eq!(check(&secret("2025-12-01T00:00:00Z", json!({})), "2024-01-01"), Plan::Keep, "too young");
        let used = |day: &str| secret(old, json!({LAST_USED: day}));
        assert_eq!(check(&used("2026-01-01"), "2024-01-01"), Plan::Keep);
        assert_eq!(check(&used("2025-01-01"), "2024-01-01"), Plan::Mark("2026-06-15".into()));
        assert_eq!(check(&used("whenever"), "2024-01-01"), Plan::Keep);
        let marked = |day: &str| secret(old, json!({INVALID_SINCE: day}));
        assert_eq!(check(&marked("2026-06-01"), "2024-01-01"), Plan::Keep);
        assert_eq!(check(&marked("2025-06-01"), "2024-01-01"), Plan::Remove);
    }

    #[test]
    fn every_place_in_a_pod_counts() {
        let pod = SharedObject::<Pod>::of(json!({"spec": {
            "imagePullSecrets": [{"name": "pull"}],
            "containers": [{"name": "c", "envFrom": [{"secretRef": {"name": "from"}}],
                "env": [{"name": "x", "valueFrom": {"secretKeyRef": {"name": "key", "key": "k"}}}]}],
            "volumes": [{"name": "a", "secret": {"secretName": "volume"}},
                {"name": "b", "projected": {"sources": [{"secret": {"name": "projected"}}]}}]}}));
        let names: Vec<&str> = mounted_secrets(pod.view()).into_iter().collect();
        assert_eq!(names, ["from", "key", "projected", "pull", "volume"]);
        assert_eq!(Plan::Remove.unless_used(std::slice::from_ref(&pod), "key"), Plan::Keep);
        assert_eq!(Plan::Remove.unless_used(&[pod], "another"), Plan::Remove);
    }
}
