//! The Recreate strategy: everything old stops before anything new starts.

use super::plan::{Rollout, scale};
use super::wanted;

/// `old_pods` says whether any pod of an old set may still be running.
pub(super) fn plan_recreate(rollout: &mut Rollout<'_>, old_pods: bool) {
    let mut scaled = false;
    for set in &mut rollout.old {
        scaled |= scale(rollout.deployment, set, 0);
    }
    let still_counted = rollout.old.iter().any(|set| set.view().status().replicas() > 0);
    if scaled || still_counted || old_pods {
        return;
    }
    if rollout.new.is_none() {
        rollout.create_new_set();
    }
    let size = wanted(rollout.deployment);
    if let Some(new) = &mut rollout.new {
        scale(rollout.deployment, new, size);
    }
}
