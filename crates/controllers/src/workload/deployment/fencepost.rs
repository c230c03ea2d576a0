//! How many pods a rolling update may have too many, and how many too few.

use ferry_api::rules::int_or_percent::{self, Round};
use ferry_api::view::IntOrString;
use ferry_api::view::apps::v1::DeploymentView;

/// The bounds of a rollout, resolved against the size of the deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fenceposts {
    pub max_surge: i32,
    pub max_unavailable: i32,
}

impl Fenceposts {
    /// How many pods there may be while `wanted` are asked for; both may be the largest number.
    pub(super) fn most(&self, wanted: i32) -> i32 {
        wanted.saturating_add(self.max_surge)
    }
}

pub(super) fn is_rolling(deployment: DeploymentView<'_>) -> bool {
    // The API defaults the strategy, so an absent one reads as the default.
    matches!(deployment.spec().strategy().type_(), "" | "RollingUpdate")
}

pub(super) fn fenceposts(deployment: DeploymentView<'_>) -> Fenceposts {
    if !is_rolling(deployment) {
        return Fenceposts { max_surge: 0, max_unavailable: 0 };
    }
    let rolling = deployment.spec().strategy().rolling_update();
    let surge = rolling.and_then(|rolling| rolling.max_surge());
    let unavailable = rolling.and_then(|rolling| rolling.max_unavailable());
    resolve(surge, unavailable, super::wanted(deployment))
}

/// Surge rounds up and unavailability down. Both can come out as zero (1% of 3 and 0):
/// then one pod may be missing, because otherwise the rollout could never take a step.
fn resolve(surge: Option<IntOrString<'_>>, unavailable: Option<IntOrString<'_>>, wanted: i32) -> Fenceposts {
    let max_surge = scaled(surge, wanted, Round::Up);
    let mut max_unavailable = scaled(unavailable, wanted, Round::Down);
    if max_surge == 0 && max_unavailable == 0 {
        max_unavailable = 1;
    }
    Fenceposts { max_surge, max_unavailable: if wanted == 0 { 0 } else { max_unavailable.min(wanted) } }
}

/// A number, or a percentage of `wanted`. Validation keeps anything else out of the API;
/// what slips through counts as zero.
pub(crate) fn scaled(value: Option<IntOrString<'_>>, wanted: i32, round: Round) -> i32 {
    value.and_then(|value| int_or_percent::scaled(value, wanted, round).ok()).unwrap_or(0).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surge_rounds_up_and_unavailability_down() {
        let check = |surge: &str, unavailable: &str, wanted: i32, expected: (i32, i32)| {
            let parse = |text| str::parse(text).map_or(IntOrString::String(text), IntOrString::Int);
            let got = resolve(Some(parse(surge)), Some(parse(unavailable)), wanted);
            assert_eq!((got.max_surge, got.max_unavailable), expected, "{surge} {unavailable} of {wanted}");
        };
        check("25%", "25%", 3, (1, 0));
        check("25%", "25%", 4, (1, 1));
        check("25%", "25%", 10, (3, 2));
        check("1", "0", 1, (1, 0));
        check("0", "25%", 3, (0, 1));
        check("0", "1%", 1, (0, 1));
        check("0", "5", 3, (0, 3));
        check("100%", "100%", 7, (7, 7));
        check("25%", "25%", 0, (0, 0));
        check("nonsense", "0", 2, (0, 1));
    }

    #[test]
    fn the_largest_deployment_with_a_surge_does_not_overflow() {
        let surge = IntOrString::String("25%");
        assert_eq!(resolve(Some(surge), None, i32::MAX).most(i32::MAX), i32::MAX);
    }
}
