//! One eviction threshold, and whether an observation meets it (upstream:
//! pkg/kubelet/eviction/api/types.go and `thresholdsMet` of helpers.go).

use crate::signal::Signal;
use ferry_api::quantity::{Format, Quantity};
use std::collections::BTreeMap;
use std::time::Duration;

/// An amount as it is, or as a part of the capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ThresholdValue {
    Quantity(Quantity),
    /// 0.1 is ten percent. Upstream keeps 32 bits, which decides the last bytes of an amount.
    Fraction(f32),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    pub signal: Signal,
    pub value: ThresholdValue,
    /// None for a hard threshold, which is acted on at once.
    pub grace_period: Duration,
    /// So much more than the threshold must be free before the threshold counts as resolved.
    pub min_reclaim: Option<ThresholdValue>,
}

/// How much there is of a signal's resource, and how much of it is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    pub available: Quantity,
    pub capacity: Quantity,
}

pub type Observations = BTreeMap<Signal, Observation>;

impl ThresholdValue {
    pub fn quantity(self, capacity: Quantity) -> Quantity {
        match self {
            Self::Quantity(quantity) => quantity,
            Self::Fraction(fraction) => {
                let amount = capacity.value() as f64 * f64::from(fraction);
                Quantity::from_int(amount as i64, Format::BinarySi)
            }
        }
    }
}

impl Threshold {
    pub fn hard(signal: Signal, value: ThresholdValue) -> Self {
        Self { signal, value, grace_period: Duration::ZERO, min_reclaim: None }
    }

    pub fn is_hard(&self) -> bool {
        self.grace_period.is_zero()
    }

    /// Whether less is available than the threshold asks for.
    pub fn is_met(&self, observed: &Observation) -> bool {
        self.value.quantity(observed.capacity) > observed.available
    }

    /// Whether less is available than the threshold and its minimum reclaim ask for.
    pub fn is_unresolved(&self, observed: &Observation) -> bool {
        let mut wanted = self.value.quantity(observed.capacity);
        if let Some(more) = self.min_reclaim {
            wanted = wanted.add(&more.quantity(observed.capacity));
        }
        wanted > observed.available
    }
}

impl Observation {
    /// Bytes, which are printed with binary suffixes.
    pub fn bytes(available: u64, capacity: u64) -> Self {
        let amount = |bytes| Quantity::from_int(i64::try_from(bytes).unwrap_or(i64::MAX), Format::BinarySi);
        Self { available: amount(available), capacity: amount(capacity) }
    }

    pub fn count(available: i64, capacity: i64) -> Self {
        let amount = |count| Quantity::from_int(count, Format::DecimalSi);
        Self { available: amount(available), capacity: amount(capacity) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_met_below_it_and_resolved_above_its_reclaim() {
        let threshold = Threshold {
            min_reclaim: Some(ThresholdValue::Fraction(0.05)),
            ..Threshold::hard(Signal::NodeFsAvailable, ThresholdValue::Fraction(0.1))
        };
        let check = |available, met, unresolved| {
            let observed = Observation::bytes(available, 1000);
            assert_eq!((threshold.is_met(&observed), threshold.is_unresolved(&observed)), (met, unresolved));
        };
        check(99, true, true);
        check(100, false, true);
        check(149, false, true);
        check(150, false, false);
    }

    #[test]
    fn a_part_of_the_capacity_is_counted_with_upstreams_precision() {
        let ten = ThresholdValue::Fraction(0.1);
        let capacity = Quantity::from_int(252 << 30, Format::BinarySi);
        assert_eq!(ten.quantity(capacity).value(), 27_058_294_368);
    }
}
