//! `apply --prune`: removes what an earlier apply made and this one does not name.

use super::ApplyArgs;
use crate::builder::{Info, Selectors, Target, list};
use crate::cmd::delete;
use crate::cmd::write::{DryRun, LAST_APPLIED, ResultPrinter};
use crate::error::Result;
use crate::session::Session;
use serde_json::Value;
use std::collections::BTreeSet;

/// The kinds that are looked through unless `--prune-allowlist` names others
/// (kubectl/pkg/util/prune).
const KINDS: [(&str, &str); 14] = [
    ("v1", "ConfigMap"),
    ("v1", "Endpoints"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "Pod"),
    ("v1", "ReplicationController"),
    ("v1", "Secret"),
    ("v1", "Service"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
    ("networking.k8s.io/v1", "Ingress"),
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "StatefulSet"),
];
const CLUSTER_KINDS: [(&str, &str); 2] = [("v1", "Namespace"), ("v1", "PersistentVolume")];

pub(super) async fn run(
    session: &Session,
    args: &ApplyArgs,
    applied: &[(Info, Value)],
    printer: &mut ResultPrinter,
) -> Result<()> {
    let kept: BTreeSet<&str> =
        applied.iter().filter_map(|(_, object)| object.pointer("/metadata/uid")?.as_str()).collect();
    let namespaces: BTreeSet<&str> =
        applied.iter().map(|(info, _)| info.target.namespace.as_str()).filter(|n| !n.is_empty()).collect();
    let selectors = Selectors { labels: args.selector.clone(), fields: None };
    for target in collections(session, args, &namespaces).await? {
        for info in list(session, &target, &selectors).await? {
            let text = |path: &str| info.object.pointer(path).and_then(Value::as_str);
            let was_applied =
                info.object.pointer("/metadata/annotations").is_some_and(|a| a.get(LAST_APPLIED).is_some());
            let is_going = text("/metadata/deletionTimestamp").is_some();
            if !was_applied || is_going || text("/metadata/uid").is_some_and(|uid| kept.contains(uid)) {
                continue;
            }
            if args.write.dry_run != DryRun::Client {
                delete::delete_one(
                    session,
                    &info.target,
                    &delete::Options { dry_run: args.write.dry_run, ..Default::default() },
                )
                .await?;
            }
            printer.print(session, &info.target, &info.object, "pruned")?;
        }
    }
    Ok(())
}

async fn collections(session: &Session, args: &ApplyArgs, namespaces: &BTreeSet<&str>) -> Result<Vec<Target>> {
    let discovery = session.discovery().await?;
    let mut kinds: Vec<(String, String)> = Vec::new();
    for kind in &args.prune_allowlist {
        let parts: Vec<&str> = kind.split('/').collect();
        match parts[..] {
            ["core" | "", version, kind] => kinds.push((version.to_owned(), kind.to_owned())),
            [group, version, kind] => kinds.push((format!("{group}/{version}"), kind.to_owned())),
            _ => {
                return Err(
                    format!("invalid GroupVersionKind format: {kind}, please follow <group/version/kind>").into()
                );
            }
        }
    }
    if kinds.is_empty() {
        let named = |(version, kind): &(&str, &str)| ((*version).to_owned(), (*kind).to_owned());
        kinds.extend(KINDS.iter().map(named));
        // Cluster-scoped kinds only where no namespace is named, as upstream decides it.
        if session.flags.namespace.is_none() {
            kinds.extend(CLUSTER_KINDS.iter().map(named));
        }
    }
    let mut targets = Vec::new();
    for (version, kind) in kinds {
        let Some(resource) = discovery.of_kind(&version, &kind) else {
            return Err(format!("no matches for kind \"{kind}\" in version \"{version}\"").into());
        };
        let target =
            |namespace: &str| Target { resource: resource.clone(), namespace: namespace.to_owned(), name: None };
        match resource.is_namespaced {
            true => targets.extend(namespaces.iter().map(|namespace| target(namespace))),
            false => targets.push(target("")),
        }
    }
    Ok(targets)
}
