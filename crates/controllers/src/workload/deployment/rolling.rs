//! One step of a rolling update: up if there is room, else down if enough is available.

use super::fencepost::{fenceposts, is_rolling};
use super::plan::{Rollout, Set, scale};
use super::{available, by_age, replicas, total_of, wanted};
use ferry_api::view::apps::v1::DeploymentView;

/// Scales at most one way, so that the next step sees what this one led to.
pub(super) fn plan_rolling(rollout: &mut Rollout<'_>) {
    if plan_scale_up(rollout) {
        return;
    }
    plan_scale_down(rollout);
}

/// The size the newest set may have now: as large as the surge allows, at most what is wanted.
pub(super) fn plan_new_size(deployment: DeploymentView<'_>, new: i32, occupied: i32) -> i32 {
    if !is_rolling(deployment) {
        return wanted(deployment);
    }
    let room = fenceposts(deployment).most(wanted(deployment)).saturating_sub(occupied);
    if room <= 0 { new } else { new + room.min(wanted(deployment) - new) }
}

fn plan_scale_up(rollout: &mut Rollout<'_>) -> bool {
    let occupied = rollout.occupied();
    let Some(new) = &mut rollout.new else { return false };
    let wanted = wanted(rollout.deployment);
    let size = match replicas(new.view()).cmp(&wanted) {
        std::cmp::Ordering::Equal => return false,
        std::cmp::Ordering::Greater => wanted,
        std::cmp::Ordering::Less => plan_new_size(rollout.deployment, replicas(new.view()), occupied),
    };
    scale(rollout.deployment, new, size)
}

/// Unavailable pods of the newest set count against what may be taken down, so that a
/// broken template never costs more than maxUnavailable.
///
/// Worked example: 10 wanted, 2 may be missing, 3 too many. The newest set is at 5 and
/// crashes, the old one at 8: 13 - 8 - 5 leaves 0, nothing more goes. After an undo the
/// old set is the newest, with all 8 available: 13 - 8 - 0 takes the 5 crashing pods away.
fn plan_scale_down(rollout: &mut Rollout<'_>) {
    let Some(new) = &rollout.new else { return };
    let min_available = wanted(rollout.deployment) - fenceposts(rollout.deployment).max_unavailable;
    let new_unavailable = replicas(new.view()) - available(new.view());
    let may_go = rollout.total() - min_available - new_unavailable;
    if may_go <= 0 {
        return;
    }
    let new_available = available(new.view());
    rollout.old.sort_by(by_age);
    plan_unhealthy(rollout.deployment, &mut rollout.old, may_go);
    let total_available = new_available.saturating_add(total_of(rollout.old.iter().map(|set| available(set.view()))));
    let mut left = total_available - min_available;
    for set in &mut rollout.old {
        let step = replicas(set.view()).min(left).max(0);
        let size = replicas(set.view()) - step;
        scale(rollout.deployment, set, size);
        left -= step;
    }
}

/// Pods that serve nobody go first, oldest set first; else they would hold up the rollout
/// until its deadline (kubernetes/kubernetes#16737).
fn plan_unhealthy(deployment: DeploymentView<'_>, old: &mut [Set], mut may_go: i32) {
    for set in old {
        let step = (replicas(set.view()) - available(set.view())).min(may_go).max(0);
        let size = replicas(set.view()) - step;
        scale(deployment, set, size);
        may_go -= step;
    }
}
