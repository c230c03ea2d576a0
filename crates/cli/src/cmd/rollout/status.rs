//! `rollout status`: the sentences of a rollout's progress until it is done
//! (kubectl/pkg/polymorphichelpers/rollout_status.go).

use super::RolloutChoice;
use crate::builder::{Info, Target};
use crate::cmd::delete::parse_timeout;
use crate::error::{CliError, Result};
use crate::session::Session;
use crate::watch::Watch;
use clap::Args;
use serde_json::Value;

#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    choice: RolloutChoice,
    /// Watch the status of the rollout until it's done
    #[arg(short, long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    watch: bool,
    /// Pin to a specific revision for showing its status
    #[arg(long, default_value_t = 0)]
    revision: i64,
    /// The length of time to wait before ending watch, zero means never
    #[arg(long, default_value = "0s")]
    timeout: String,
}

/// A sentence, and whether there is nothing more to wait for.
type Progress = (String, bool);

pub(super) async fn run(args: StatusArgs, session: &Session) -> Result<()> {
    if args.revision < 0 {
        return Err("revision must be a positive integer: -1".into());
    }
    let timeout = parse_timeout(&args.timeout)?;
    for info in args.choice.infos(session).await? {
        let followed = follow(session, &args, &info);
        match timeout {
            None => followed.await?,
            Some(timeout) => tokio::time::timeout(timeout, followed)
                .await
                .unwrap_or_else(|_| Err("timed out waiting for the condition".into()))?,
        }
    }
    Ok(())
}

async fn follow(session: &Session, args: &StatusArgs, info: &Info) -> Result<()> {
    let target = &info.target;
    let collection = Target { name: None, ..target.clone() };
    let query = vec![("fieldSelector".to_owned(), format!("metadata.name={}", info.name()))];
    let mut object = info.object.clone();
    loop {
        let (sentence, is_done) = progress(info.kind(), &object, args.revision)?;
        session.print(&sentence)?;
        if is_done || !args.watch {
            return Ok(());
        }
        let revision =
            object.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut watch = Watch::open(session, collection.url(), query.clone(), &revision, None).await?;
        loop {
            match watch.next().await {
                Ok(Some(event)) if event.event_type == "DELETED" => return Err("object has been deleted".into()),
                Ok(Some(event)) => {
                    let (sentence, is_done) = progress(info.kind(), &event.object, args.revision)?;
                    session.print(&sentence)?;
                    if is_done {
                        return Ok(());
                    }
                }
                // The server ended the watch, or has forgotten the revision: read anew.
                Ok(None) => break,
                Err(CliError::Api(status)) if status.code == 410 => break,
                Err(error) => return Err(error),
            }
        }
        object = crate::cmd::write::get(session, target).await?;
    }
}

fn progress(kind: &str, object: &Value, revision: i64) -> Result<Progress> {
    match kind {
        "Deployment" => deployment(object, revision),
        "DaemonSet" => daemon_set(object),
        "StatefulSet" => stateful_set(object),
        other => Err(format!("no status viewer has been implemented for {other}").into()),
    }
}

fn number(object: &Value, path: &str) -> i64 {
    object.pointer(path).and_then(Value::as_i64).unwrap_or_default()
}

fn name(object: &Value) -> &str {
    object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
}

fn is_observed(object: &Value) -> bool {
    number(object, "/metadata/generation") <= number(object, "/status/observedGeneration")
}

fn deployment(object: &Value, revision: i64) -> Result<Progress> {
    let name = name(object);
    if revision > 0 {
        let annotation =
            object.pointer("/metadata/annotations").and_then(|a| a.get("deployment.kubernetes.io/revision"));
        let own = annotation.and_then(Value::as_str).and_then(|text| text.parse::<i64>().ok());
        if own != Some(revision) {
            return Err(format!(
                "desired revision ({revision}) is different from the running revision ({})",
                own.unwrap_or_default()
            )
            .into());
        }
    }
    if !is_observed(object) {
        return Ok(("Waiting for deployment spec update to be observed...\n".into(), false));
    }
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    if conditions.into_iter().flatten().any(|c| c["type"] == "Progressing" && c["reason"] == "ProgressDeadlineExceeded")
    {
        return Err(format!("deployment \"{name}\" exceeded its progress deadline").into());
    }
    let wanted = object.pointer("/spec/replicas").and_then(Value::as_i64);
    let updated = number(object, "/status/updatedReplicas");
    let replicas = number(object, "/status/replicas");
    let available = number(object, "/status/availableReplicas");
    if let Some(wanted) = wanted.filter(|wanted| updated < *wanted) {
        return Ok((
            format!(
                "Waiting for deployment \"{name}\" rollout to finish: {updated} out of {wanted} new replicas have been updated...\n"
            ),
            false,
        ));
    }
    if replicas > updated {
        return Ok((
            format!(
                "Waiting for deployment \"{name}\" rollout to finish: {} old replicas are pending termination...\n",
                replicas - updated
            ),
            false,
        ));
    }
    if available < updated {
        return Ok((
            format!(
                "Waiting for deployment \"{name}\" rollout to finish: {available} of {updated} updated replicas are available...\n"
            ),
            false,
        ));
    }
    Ok((format!("deployment \"{name}\" successfully rolled out\n"), true))
}

fn daemon_set(object: &Value) -> Result<Progress> {
    if object.pointer("/spec/updateStrategy/type").and_then(Value::as_str) != Some("RollingUpdate") {
        return Err("rollout status is only available for RollingUpdate strategy type".into());
    }
    let name = name(object);
    if !is_observed(object) {
        return Ok(("Waiting for daemon set spec update to be observed...\n".into(), false));
    }
    let wanted = number(object, "/status/desiredNumberScheduled");
    let updated = number(object, "/status/updatedNumberScheduled");
    let available = number(object, "/status/numberAvailable");
    if updated < wanted {
        return Ok((
            format!(
                "Waiting for daemon set \"{name}\" rollout to finish: {updated} out of {wanted} new pods have been updated...\n"
            ),
            false,
        ));
    }
    if available < wanted {
        return Ok((
            format!(
                "Waiting for daemon set \"{name}\" rollout to finish: {available} of {wanted} updated pods are available...\n"
            ),
            false,
        ));
    }
    Ok((format!("daemon set \"{name}\" successfully rolled out\n"), true))
}

fn stateful_set(object: &Value) -> Result<Progress> {
    if object.pointer("/spec/updateStrategy/type").and_then(Value::as_str) != Some("RollingUpdate") {
        return Err("rollout status is only available for RollingUpdate strategy type".into());
    }
    if number(object, "/status/observedGeneration") == 0 || !is_observed(object) {
        return Ok(("Waiting for statefulset spec update to be observed...\n".into(), false));
    }
    let wanted = object.pointer("/spec/replicas").and_then(Value::as_i64);
    let ready = number(object, "/status/readyReplicas");
    let updated = number(object, "/status/updatedReplicas");
    if let Some(wanted) = wanted.filter(|wanted| ready < *wanted) {
        return Ok((format!("Waiting for {} pods to be ready...\n", wanted - ready), false));
    }
    let partition = object.pointer("/spec/updateStrategy/rollingUpdate/partition").and_then(Value::as_i64);
    if let (Some(partition), Some(wanted)) = (partition.filter(|p| *p > 0), wanted) {
        if updated < wanted - partition {
            return Ok((
                format!(
                    "Waiting for partitioned roll out to finish: {updated} out of {} new pods have been updated...\n",
                    wanted - partition
                ),
                false,
            ));
        }
        return Ok((format!("partitioned roll out complete: {updated} new pods have been updated...\n"), true));
    }
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
    if text("/status/updateRevision") != text("/status/currentRevision") {
        return Ok((
            format!(
                "waiting for statefulset rolling update to complete {updated} pods at revision {}...\n",
                text("/status/updateRevision")
            ),
            false,
        ));
    }
    Ok((
        format!(
            "statefulset rolling update complete {} pods at revision {}...\n",
            number(object, "/status/currentReplicas"),
            text("/status/currentRevision")
        ),
        true,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_deployments_rollout_is_followed_in_upstreams_sentences() {
        let at = |updated: i64, replicas: i64, available: i64, observed: i64| {
            let object = json!({"metadata": {"name": "web", "generation": 2}, "spec": {"replicas": 3},
                "status": {"observedGeneration": observed, "updatedReplicas": updated, "replicas": replicas, "availableReplicas": available}});
            progress("Deployment", &object, 0).expect("a sentence")
        };
        assert_eq!(at(3, 3, 3, 1), ("Waiting for deployment spec update to be observed...\n".into(), false));
        assert_eq!(
            at(1, 3, 3, 2).0,
            "Waiting for deployment \"web\" rollout to finish: 1 out of 3 new replicas have been updated...\n"
        );
        assert_eq!(
            at(3, 4, 3, 2).0,
            "Waiting for deployment \"web\" rollout to finish: 1 old replicas are pending termination...\n"
        );
        assert_eq!(
            at(3, 3, 2, 2).0,
            "Waiting for deployment \"web\" rollout to finish: 2 of 3 updated replicas are available...\n"
        );
        assert_eq!(at(3, 3, 3, 2), ("deployment \"web\" successfully rolled out\n".into(), true));
    }
}
