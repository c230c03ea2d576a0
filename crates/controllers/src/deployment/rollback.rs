//! Rolling back by annotation, as the old extensions API asked for it. `kubectl rollout
//! undo` changes the template itself and needs nothing of this.

use super::plan::{Rollout, Write};
use super::revision::{ROLLBACK_TO, annotation, is_copied, last_revision, revision};
use crate::template::{HASH_LABEL, same_template};
use ferry_client::EventType;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};

pub fn rollback_revision(deployment: &Deployment) -> Option<i64> {
    annotation(&deployment.metadata, ROLLBACK_TO)?.parse().ok()
}

/// Plans the change of the template; the rollout follows from it.
pub fn plan_rollback(rollout: &mut Rollout, asked: i64) -> Vec<Write> {
    let name = rollout.deployment.metadata.name.clone().unwrap_or_default();
    let revision_wanted = if asked == 0 { last_revision(rollout.sets()) } else { asked };
    let event = |kind, reason, message: String| Write::Event { kind, reason, message };
    let not_found = |message: &str| event(EventType::Warning, "DeploymentRollbackRevisionNotFound", message.into());
    let found = rollout.sets().find(|set| revision(set) == Some(revision_wanted)).cloned();
    let mut deployment = rollout.deployment.clone();
    if let Some(annotations) = &mut deployment.metadata.annotations {
        annotations.remove(ROLLBACK_TO);
    }
    let said = match found {
        _ if revision_wanted == 0 => not_found("Unable to find last revision."),
        None => not_found("Unable to find the revision to rollback to."),
        Some(set) => {
            if take_template(&mut deployment, &set) {
                let message = format!("Rolled back deployment {name:?} to revision {revision_wanted}");
                event(EventType::Normal, "DeploymentRollback", message)
            } else {
                let message =
                    format!("The rollback revision contains the same template as current deployment {name:?}");
                event(EventType::Warning, "DeploymentRollbackTemplateUnchanged", message)
            }
        }
    };
    vec![Write::UpdateDeployment(Box::new(deployment)), said]
}

/// Takes the set's template and its annotations (the change cause belongs to the
/// revision). False when the template is the deployment's already.
fn take_template(deployment: &mut Deployment, set: &ReplicaSet) -> bool {
    let Some(template) = set.spec.as_ref().and_then(|spec| spec.template.clone()) else { return false };
    let Some(spec) = &mut deployment.spec else { return false };
    if same_template(&spec.template, &template) {
        return false;
    }
    spec.template = template;
    if let Some(labels) = spec.template.metadata.as_mut().and_then(|meta| meta.labels.as_mut()) {
        labels.remove(HASH_LABEL);
    }
    let annotations = deployment.metadata.annotations.get_or_insert_default();
    annotations.retain(|key, _| !is_copied(key));
    let of_set = set.metadata.annotations.iter().flatten().filter(|(key, _)| is_copied(key));
    annotations.extend(of_set.map(|(key, value)| (key.clone(), value.clone())));
    true
}
