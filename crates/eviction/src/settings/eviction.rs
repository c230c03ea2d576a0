//! The eviction thresholds of the configuration (upstream: `ParseThresholdConfig` of
//! pkg/kubelet/eviction/helpers.go).

use crate::signal::Signal;
use crate::threshold::{Threshold, ThresholdValue};
use ferry_api::quantity::Quantity;
use ferry_api::rules::duration;
use std::collections::BTreeMap;
use std::time::Duration;

/// Texts by the name of their signal, as the configuration has them.
type Statements = BTreeMap<String, String>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvictionSettings {
    pub eviction_hard: Statements,
    pub eviction_soft: Statements,
    pub eviction_soft_grace_period: Statements,
    pub eviction_minimum_reclaim: Statements,
    pub eviction_pressure_transition_period: Duration,
    /// The longest grace that a pod gets that a soft threshold evicts, in seconds.
    pub eviction_max_pod_grace_period: i64,
    /// Whether enforceNodeAllocatable names `pods`, which it does by default. Then the hard threshold
    /// of memory holds also for the memory that pods may use together.
    pub enforce_pods_allocatable: bool,
}

impl Default for EvictionSettings {
    fn default() -> Self {
        Self {
            eviction_hard: Self::default_hard(),
            eviction_soft: Statements::new(),
            eviction_soft_grace_period: Statements::new(),
            eviction_minimum_reclaim: Statements::new(),
            eviction_pressure_transition_period: Duration::from_secs(300),
            eviction_max_pod_grace_period: 0,
            enforce_pods_allocatable: true,
        }
    }
}

impl EvictionSettings {
    /// Upstream: pkg/kubelet/eviction/defaults_linux.go.
    pub fn default_hard() -> Statements {
        let defaults = [
            ("memory.available", "100Mi"),
            ("nodefs.available", "10%"),
            ("nodefs.inodesFree", "5%"),
            ("imagefs.available", "15%"),
            ("imagefs.inodesFree", "5%"),
        ];
        defaults.map(|(signal, value)| (signal.to_owned(), value.to_owned())).into()
    }

    /// The hard thresholds of a configuration: those that it states replace all the defaults, or,
    /// with mergeDefaultEvictionSettings, only those of the same signals.
    pub fn set_hard(&mut self, stated: Option<Statements>, merge_defaults: bool) {
        let mut hard = stated.clone().unwrap_or_else(Self::default_hard);
        if stated.is_some() && merge_defaults {
            for (signal, value) in Self::default_hard() {
                hard.entry(signal).or_insert(value);
            }
        }
        self.eviction_hard = hard;
    }

    /// The first statement that cannot be understood.
    pub fn validate(&self) -> Result<(), String> {
        self.thresholds().map(drop)
    }

    /// The thresholds that the statements amount to, hard before soft.
    pub fn thresholds(&self) -> Result<Vec<Threshold>, String> {
        let mut thresholds = read_thresholds(&self.eviction_hard)?;
        let mut soft = read_thresholds(&self.eviction_soft)?;
        let periods = read_grace_periods(&self.eviction_soft_grace_period)?;
        let reclaims = read_minimum_reclaims(&self.eviction_minimum_reclaim)?;
        for threshold in &mut soft {
            let signal = threshold.signal;
            let missing = || format!("grace period must be specified for the soft eviction threshold {signal}");
            threshold.grace_period = *periods.get(&signal).ok_or_else(missing)?;
        }
        thresholds.extend(soft);
        for threshold in &mut thresholds {
            threshold.min_reclaim = reclaims.get(&threshold.signal).copied();
        }
        if self.enforce_pods_allocatable {
            let memory = thresholds.iter().filter(|known| known.signal == Signal::MemoryAvailable && known.is_hard());
            let pods: Vec<Threshold> =
                memory.map(|known| Threshold { signal: Signal::AllocatableMemoryAvailable, ..*known }).collect();
            thresholds.extend(pods);
        }
        Ok(thresholds)
    }
}

fn signal_of(name: &str) -> Result<Signal, String> {
    Signal::find(name).ok_or_else(|| format!("unsupported eviction signal {name}"))
}

fn read_thresholds(statements: &Statements) -> Result<Vec<Threshold>, String> {
    let mut thresholds = Vec::new();
    for (name, text) in statements {
        let signal = signal_of(name)?;
        // No threshold at all.
        if text == "0%" || text == "100%" {
            continue;
        }
        let value = if text.ends_with('%') {
            let fraction = read_fraction(text)?;
            if fraction < 0.0 {
                return Err(format!("eviction percentage threshold {signal} must be >= 0%: {text}"));
            }
            if fraction > 1.0 {
                return Err(format!("eviction percentage threshold {signal} must be <= 100%: {text}"));
            }
            ThresholdValue::Fraction(fraction)
        } else {
            let quantity = Quantity::parse(text).map_err(|error| error.to_string())?;
            if quantity.is_negative() || quantity.is_zero() {
                return Err(format!("eviction threshold {signal} must be positive: {quantity}"));
            }
            ThresholdValue::Quantity(quantity)
        };
        thresholds.push(Threshold::hard(signal, value));
    }
    thresholds.sort_by_key(|threshold| threshold.signal);
    Ok(thresholds)
}

/// A percentage as a fraction, which Go's parser reads; NaN compares with nothing and is refused.
fn read_fraction(text: &str) -> Result<f32, String> {
    let number = text.trim_end_matches('%');
    match number.parse::<f32>() {
        Ok(value) if !value.is_nan() => Ok(value / 100.0),
        _ => Err(format!("strconv.ParseFloat: parsing {number:?}: invalid syntax")),
    }
}

fn read_grace_periods(statements: &Statements) -> Result<BTreeMap<Signal, Duration>, String> {
    let mut periods = BTreeMap::new();
    for (name, text) in statements {
        let signal = signal_of(name)?;
        let nanos = duration::parse_duration(text)?;
        let Ok(nanos) = u64::try_from(nanos) else {
            return Err(format!("invalid eviction grace period specified: {text}, must be a positive value"));
        };
        periods.insert(signal, Duration::from_nanos(nanos));
    }
    Ok(periods)
}

fn read_minimum_reclaims(statements: &Statements) -> Result<BTreeMap<Signal, ThresholdValue>, String> {
    let mut reclaims = BTreeMap::new();
    for (name, text) in statements {
        let signal = signal_of(name)?;
        let value = if text.ends_with('%') {
            let fraction = read_fraction(text)?;
            if fraction <= 0.0 {
                return Err(format!("eviction percentage minimum reclaim {signal} must be positive: {text}"));
            }
            ThresholdValue::Fraction(fraction)
        } else {
            let quantity = Quantity::parse(text).map_err(|error| error.to_string())?;
            if quantity.is_negative() {
                return Err(format!("negative eviction minimum reclaim specified for {signal}"));
            }
            ThresholdValue::Quantity(quantity)
        };
        reclaims.insert(signal, value);
    }
    Ok(reclaims)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(pairs: &[(&str, &str)]) -> Statements {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_defaults_are_upstreams() {
        let settings = EvictionSettings::default();
        let thresholds = settings.thresholds().expect("read");
        let signals: Vec<&str> = thresholds.iter().map(|threshold| threshold.signal.as_str()).collect();
        assert_eq!(
            signals,
            [
                "memory.available",
                "nodefs.available",
                "nodefs.inodesFree",
                "imagefs.available",
                "imagefs.inodesFree",
                "allocatableMemory.available"
            ]
        );
        assert!(thresholds.iter().all(Threshold::is_hard));
        assert_eq!(thresholds[1].value, ThresholdValue::Fraction(0.1));
        assert_eq!(settings.eviction_pressure_transition_period, Duration::from_secs(300));
    }

    #[test]
    fn stated_hard_thresholds_replace_the_defaults_or_join_them() {
        let mut settings = EvictionSettings::default();
        let stated = statements(&[("memory.available", "1Gi")]);
        settings.set_hard(Some(stated.clone()), false);
        assert_eq!(settings.eviction_hard, stated);
        settings.set_hard(Some(stated), true);
        assert_eq!((settings.eviction_hard.len(), settings.eviction_hard["memory.available"].as_str()), (5, "1Gi"));
        settings.set_hard(None, false);
        assert_eq!(settings.eviction_hard, EvictionSettings::default_hard());
    }

    #[test]
    fn soft_thresholds_have_their_grace_and_all_their_reclaim() {
        let settings = EvictionSettings {
            eviction_hard: statements(&[("nodefs.available", "0%"), ("pid.available", "10")]),
            eviction_soft: statements(&[("memory.available", "200Mi")]),
            eviction_soft_grace_period: statements(&[("memory.available", "1m30s")]),
            eviction_minimum_reclaim: statements(&[("memory.available", "0"), ("pid.available", "5%")]),
            ..EvictionSettings::default()
        };
        let thresholds = settings.thresholds().expect("read");
        let [pid, memory] = thresholds.as_slice() else { panic!("two: {thresholds:?}") };
        assert_eq!((pid.signal, pid.min_reclaim), (Signal::PidAvailable, Some(ThresholdValue::Fraction(0.05))));
        assert_eq!((memory.signal, memory.grace_period), (Signal::MemoryAvailable, Duration::from_secs(90)));
        assert_eq!(memory.min_reclaim, Some(ThresholdValue::Quantity(Quantity::ZERO)));
    }

    #[test]
    fn mistakes_are_named_in_upstreams_words() {
        let hard = |signal: &str, text: &str| EvictionSettings {
            eviction_hard: statements(&[(signal, text)]),
            ..EvictionSettings::default()
        };
        let soft = |period: &[(&str, &str)]| EvictionSettings {
            eviction_soft: statements(&[("memory.available", "1Gi")]),
            eviction_soft_grace_period: statements(period),
            ..EvictionSettings::default()
        };
        let reclaim = |text: &str| EvictionSettings {
            eviction_minimum_reclaim: statements(&[("memory.available", text)]),
            ..EvictionSettings::default()
        };
        let check = |settings: EvictionSettings, expected: &str| {
            assert_eq!(settings.validate().expect_err(expected), expected);
        };
        check(hard("memory.free", "1Gi"), "unsupported eviction signal memory.free");
        check(hard("memory.available", "-1"), "eviction threshold memory.available must be positive: -1");
        check(hard("memory.available", "0"), "eviction threshold memory.available must be positive: 0");
        check(hard("nodefs.available", "-1%"), "eviction percentage threshold nodefs.available must be >= 0%: -1%");
        check(hard("nodefs.available", "101%"), "eviction percentage threshold nodefs.available must be <= 100%: 101%");
        check(hard("nodefs.available", "x%"), "strconv.ParseFloat: parsing \"x\": invalid syntax");
        check(
            hard("memory.available", "much"),
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        );
        check(soft(&[]), "grace period must be specified for the soft eviction threshold memory.available");
        check(
            soft(&[("memory.available", "-1s")]),
            "invalid eviction grace period specified: -1s, must be a positive value",
        );
        check(reclaim("0%"), "eviction percentage minimum reclaim memory.available must be positive: 0%");
        check(reclaim("-1"), "negative eviction minimum reclaim specified for memory.available");
    }
}
