//! A change of size, during a rollout or not, and all that a paused deployment does.

use super::fencepost::{fenceposts, is_rolling};
use super::plan::{Rollout, Set, force_scale, scale};
use super::revision::{DESIRED_REPLICAS, MAX_REPLICAS, count_annotation};
use super::{available, by_age, replicas, total_of, wanted};
use ferry_api::view::apps::v1::{DeploymentView, ReplicaSetView};

/// Whether some active set was last scaled for another size of the deployment.
pub(super) fn is_scaling(rollout: &Rollout<'_>) -> bool {
    rollout
        .sets()
        .filter(|set| replicas(set.view()) > 0)
        .filter_map(|set| count_annotation(set.view(), DESIRED_REPLICAS))
        .any(|desired| desired != wanted(rollout.deployment))
}

pub(super) fn plan_scale(rollout: &mut Rollout<'_>) {
    let wanted = wanted(rollout.deployment);
    // With one set in use, or none, its size is the deployment's.
    let active = rollout.sets().filter(|set| replicas(set.view()) > 0).count();
    if active <= 1 {
        let only = if active == 1 {
            rollout.old.iter_mut().chain(&mut rollout.new).find(|set| replicas(set.view()) > 0)
        } else if rollout.new.is_some() {
            rollout.new.as_mut()
        } else {
            rollout.old.iter_mut().max_by(|a, b| by_age(a, b))
        };
        // The size is recorded even if it is right by chance: as long as a set says that it
        // was scaled for another size, every reconcile takes this for a scaling and the
        // template never rolls out.
        if let Some(only) = only {
            force_scale(rollout.deployment, only, wanted);
        }
        return;
    }
    if rollout.new.as_ref().is_some_and(|new| is_saturated(rollout.deployment, new.view())) {
        for set in &mut rollout.old {
            scale(rollout.deployment, set, 0);
        }
        return;
    }
    let sets: Vec<_> = rollout.old.iter_mut().chain(&mut rollout.new).filter(|set| replicas(set.view()) > 0).collect();
    if is_rolling(rollout.deployment) {
        plan_proportional(rollout.deployment, sets);
    } else {
        // Two sets in use under Recreate: the strategy itself will take the old one down.
        for set in sets {
            let size = replicas(set.view());
            force_scale(rollout.deployment, set, size);
        }
    }
}

/// The newest set has everything that is wanted, and it works.
fn is_saturated(deployment: DeploymentView<'_>, new: ReplicaSetView<'_>) -> bool {
    let wanted = wanted(deployment);
    replicas(new) == wanted && count_annotation(new, DESIRED_REPLICAS) == Some(wanted) && available(new) == wanted
}

/// In the middle of a rollout every set grows or shrinks by its share, so that the risk
/// of the new template stays what it was. What rounding leaves over goes to the largest.
fn plan_proportional(deployment: DeploymentView<'_>, mut sets: Vec<&mut Set>) {
    let wanted = wanted(deployment);
    let by_size = |a: &Set, b: &Set| replicas(a.view()).cmp(&replicas(b.view()));
    let allowed = if wanted > 0 { fenceposts(deployment).most(wanted) } else { 0 };
    let present = total_of(sets.iter().map(|set| replicas(set.view())));
    let to_add = allowed.saturating_sub(present);
    // Of sets of one size the newer grow first and the older shrink first.
    if to_add > 0 {
        sets.sort_by(|a, b| by_size(b, a).then_with(|| by_age(b, a)));
    } else {
        sets.sort_by(|a, b| by_size(b, a).then_with(|| by_age(a, b)));
    }
    let mut added = 0;
    let mut sizes = Vec::with_capacity(sets.len());
    for set in &sets {
        let share = share(deployment, set.view(), to_add, added);
        added += share;
        sizes.push(replicas(set.view()).saturating_add(share));
    }
    if let Some(largest) = sizes.first_mut() {
        *largest = largest.saturating_add(to_add.saturating_sub(added)).max(0);
    }
    for (set, size) in sets.into_iter().zip(sizes) {
        force_scale(deployment, set, size);
    }
}

fn share(deployment: DeploymentView<'_>, set: ReplicaSetView<'_>, to_add: i32, added: i32) -> i32 {
    let left = to_add - added;
    if to_add == 0 || left == 0 {
        return 0;
    }
    let fraction = fraction(deployment, set);
    if to_add > 0 { fraction.min(left) } else { fraction.max(left) }
}

/// What the set would gain or lose if it kept its part of the whole.
fn fraction(deployment: DeploymentView<'_>, set: ReplicaSetView<'_>) -> i32 {
    let (size, wanted) = (replicas(set), wanted(deployment));
    if wanted == 0 {
        return -size;
    }
    let whole_now = i128::from(fenceposts(deployment).most(wanted));
    let recorded = count_annotation(set, MAX_REPLICAS).filter(|whole| *whole > 0);
    let reported = || Some(deployment.status().replicas()).filter(|n| *n > 0);
    let Some(whole_before) = recorded.or_else(reported).map(i128::from) else { return 0 };
    // Rounded to the nearest, halves away from zero.
    let scaled = (2 * i128::from(size) * whole_now + whole_before) / (2 * whole_before);
    i32::try_from(scaled).unwrap_or(i32::MAX).saturating_sub(size)
}
