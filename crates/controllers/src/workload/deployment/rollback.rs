//! Rolling back by annotation, as the old extensions API asked for it. `kubectl rollout
//! undo` changes the template itself and needs nothing of this.

use super::plan::{Rollout, Write};
use super::revision::{ROLLBACK_TO, annotation, is_copied, last_revision, revision};
use crate::workload::template::{HASH_LABEL, same_template};
use ferry_api::view::Owned;
use ferry_api::view::apps::v1::{Deployment, DeploymentView, ReplicaSetView};
use ferry_client::EventType;

pub(super) fn rollback_revision(deployment: DeploymentView<'_>) -> Option<i64> {
    annotation(deployment.metadata(), ROLLBACK_TO)?.parse().ok()
}

/// Plans the change of the template; the rollout follows from it.
pub(super) fn plan_rollback(rollout: &Rollout<'_>, asked: i64) -> Vec<Write> {
    let name = rollout.deployment.metadata().name();
    let revision_wanted = if asked == 0 { last_revision(rollout.sets()) } else { asked };
    let event = |kind, reason, message: String| Write::Event { kind, reason, message };
    let not_found = |message: &str| event(EventType::Warning, "DeploymentRollbackRevisionNotFound", message.into());
    let found = rollout.sets().find(|set| revision(set.view()) == Some(revision_wanted));
    let mut deployment = rollout.revised_deployment();
    deployment.edit_metadata(|meta| meta.insert_annotations(ROLLBACK_TO, None::<&str>));
    let said = match found {
        _ if revision_wanted == 0 => not_found("Unable to find last revision."),
        None => not_found("Unable to find the revision to rollback to."),
        Some(set) => {
            if take_template(&mut deployment, set.view()) {
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
fn take_template(deployment: &mut Deployment, set: ReplicaSetView<'_>) -> bool {
    if same_template(deployment.view().spec().template(), set.spec().template()) {
        return false;
    }
    let mut template = set.spec().template().to_owned();
    template.edit_metadata(|meta| meta.insert_labels(HASH_LABEL, None::<&str>));
    deployment.edit_spec(|spec| spec.set_template(template));
    let mut annotations = deployment.view().metadata().annotations().to_map();
    annotations.retain(|key, _| !is_copied(key));
    let of_set = set.metadata().annotations().iter().filter(|(key, _)| is_copied(key));
    annotations.extend(of_set.map(|(key, value)| (key.to_owned(), value.to_owned())));
    deployment.edit_metadata(|meta| meta.set_annotations(annotations));
    true
}
