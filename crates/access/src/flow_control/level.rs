//! How many seats a priority level has: its share of the server's, and what it may lend
//! and borrow (apiserver/pkg/util/flowcontrol/apf_controller.go upstream).
//!
//! Upstream moves lent seats every ten seconds by what levels have asked for lately. Here
//! a seat is lent at the moment it is needed: a level may go beyond its own share as long
//! as every other level could still have the part that it does not lend.

use super::queue::Queuing;
use ferry_api::object::Meta;
use serde_json::Value;
use std::sync::Arc;

/// A PriorityLevelConfiguration, read once.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Level {
    pub name: Arc<str>,
    pub uid: Arc<str>,
    pub is_exempt: bool,
    shares: u64,
    lendable_percent: u64,
    borrowing_limit_percent: Option<u64>,
    /// `None` refuses what finds no seat.
    pub queuing: Option<Queuing>,
}

/// A level's seats, out of the server's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub nominal: u32,
    /// What stays when all that can be lent is lent.
    pub minimum: u32,
    /// What it has when it borrows all it may.
    pub maximum: u32,
}

impl Level {
    /// The defaults of the kind were applied when the object was written.
    pub(super) fn read(object: &Value) -> Self {
        let is_exempt = object.str_at(&["spec", "type"]) == "Exempt";
        let part = &object["spec"][if is_exempt { "exempt" } else { "limited" }];
        let number = |value: &Value, default: u64| value.as_u64().unwrap_or(default);
        let response = &part["limitResponse"];
        let queuing = (response["type"] == "Queue").then(|| {
            let queuing = &response["queuing"];
            let count = |key: &str, default| usize::try_from(number(&queuing[key], default)).unwrap_or(1).max(1);
            Queuing {
                queues: count("queues", 64),
                hand_size: count("handSize", 8),
                length_limit: count("queueLengthLimit", 50),
            }
        });
        Self {
            name: object.name().into(),
            uid: object.uid().into(),
            is_exempt,
            shares: number(&part["nominalConcurrencyShares"], if is_exempt { 0 } else { 30 }),
            lendable_percent: number(&part["lendablePercent"], 0),
            borrowing_limit_percent: part["borrowingLimitPercent"].as_u64(),
            queuing,
        }
    }
}

/// The limits of every level, in the levels' order.
pub(super) fn compute_limits(server_seats: u32, levels: &[Level]) -> Vec<Limits> {
    let seats = u64::from(server_seats);
    let sum: u64 = levels.iter().map(|level| level.shares).sum::<u64>().max(1);
    let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let limits = |level: &Level| {
        let nominal = (seats * level.shares).div_ceil(sum);
        let lendable = (nominal * level.lendable_percent + 50) / 100;
        let borrowing = level.borrowing_limit_percent.map_or(seats, |percent| (nominal * percent + 50) / 100);
        let maximum = nominal.saturating_add(borrowing).min(seats.max(nominal));
        Limits { nominal: narrow(nominal), minimum: narrow(nominal - lendable.min(nominal)), maximum: narrow(maximum) }
    };
    levels.iter().map(limits).collect()
}

/// How many more seats a level may take now. `others` are the seats in use and the limits
/// of every other level that is not exempt.
pub(super) fn compute_free(
    server_seats: u32,
    own: Limits,
    in_use: u32,
    others: impl Iterator<Item = (u32, Limits)>,
) -> u32 {
    if in_use < own.nominal {
        return own.nominal - in_use;
    }
    let kept: u32 = others.map(|(in_use, limits)| in_use.max(limits.minimum)).sum();
    let reach = server_seats.saturating_sub(kept).min(own.maximum);
    reach.saturating_sub(in_use)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_resources::flowcontrol::defaults;

    fn defaults() -> Vec<Level> {
        let objects = defaults::mandatory().into_iter().chain(defaults::suggested());
        objects.filter(|o| o["kind"] == "PriorityLevelConfiguration").map(|o| Level::read(&o)).collect()
    }

    #[test]
    fn the_defaults_divide_600_seats_as_upstream_does() {
        let levels = defaults();
        let limits = compute_limits(600, &levels);
        let nominal: Vec<(&str, u32)> =
            levels.iter().zip(&limits).map(|(level, limits)| (&*level.name, limits.nominal)).collect();
        let expected = [
            ("catch-all", 13),
            ("exempt", 0),
            ("system", 74),
            ("node-high", 98),
            ("leader-election", 25),
            ("workload-high", 98),
            ("workload-low", 245),
            ("global-default", 49),
        ];
        assert_eq!(nominal, expected);
        assert_eq!(limits[6], Limits { nominal: 245, minimum: 24, maximum: 600 });
    }

    #[test]
    fn idle_seats_are_lent_and_the_rest_is_kept() {
        let limits = compute_limits(600, &defaults());
        let others = |busy: u32| {
            let limits = limits.clone();
            limits
                .into_iter()
                .enumerate()
                .filter(|(index, _)| *index != 7)
                .map(move |(index, limits)| (if index == 6 { busy } else { 0 }, limits))
        };
        let free = |in_use, busy| compute_free(600, limits[7], in_use, others(busy));
        assert_eq!(free(0, 0), 49);
        assert!(free(49, 0) > 200, "{}", free(49, 0));
        // What workload-low uses it need not lend.
        assert_eq!(free(49, 0) - free(49, 245), 245 - 24);
    }
}
