//! Feature gates by the table of 1.36: each has its value, and only few are anyone's to change
//! (upstream: staging/src/k8s.io/component-base/featuregate/feature_gate.go).

use std::collections::BTreeMap;

const FACTS: &str = include_str!("../facts/feature_gates.txt");

/// Gates that this kubelet acts on at either value. The list may only grow.
const ACTED_ON: &[&str] = &["CPUManagerPolicyAlphaOptions", "CPUManagerPolicyBetaOptions", "CPUManagerPolicyOptions"];

/// One line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureGate {
    pub name: &'static str,
    pub is_on: bool,
    pub stage: &'static str,
    pub is_locked: bool,
}

pub fn all() -> impl Iterator<Item = FeatureGate> {
    FACTS.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (name, value, stage) = (words.next()?, words.next()?, words.next()?);
        Some(FeatureGate { name, is_on: value == "on", stage, is_locked: words.next() == Some("locked") })
    })
}

/// Whether a gate is on, with what the file sets.
pub fn is_enabled(gates: &BTreeMap<String, bool>, name: &str) -> bool {
    gates.get(name).copied().unwrap_or_else(|| all().any(|gate| gate.name == name && gate.is_on))
}

/// Gates that are unknown or locked, in upstream's words.
pub(crate) fn check(gates: &BTreeMap<String, bool>) -> Result<(), String> {
    let mut mistakes = Vec::new();
    for (name, value) in gates {
        match all().find(|gate| gate.name == name) {
            None if ["AllAlpha", "AllBeta"].contains(&name.as_str()) => {}
            None => mistakes.push(format!("unrecognized feature gate: {name}")),
            Some(gate) if gate.is_locked && gate.is_on != *value => {
                mistakes.push(format!("cannot set feature gate {name} to {value}, feature is locked to {}", gate.is_on))
            }
            Some(_) => {}
        }
    }
    if mistakes.is_empty() { Ok(()) } else { Err(crate::aggregate(&mistakes)) }
}

/// Gates whose other value this kubelet does not act on.
pub(crate) fn refuse(gates: &BTreeMap<String, bool>) -> Vec<String> {
    let is_refused = |name: &str, value: bool| {
        let is_default = all().any(|gate| gate.name == name && gate.is_on == value);
        let is_default = is_default || (["AllAlpha", "AllBeta"].contains(&name) && value == (name == "AllBeta"));
        !is_default && !ACTED_ON.contains(&name)
    };
    let refused = gates.iter().filter(|(name, value)| is_refused(name, **value));
    refused
        .map(|(name, value)| {
            format!("invalid configuration: featureGates.{name}: this kubelet does not support {value}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gates(pairs: &[(&str, bool)]) -> BTreeMap<String, bool> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn gates_are_judged_in_upstreams_words() {
        assert_eq!(all().find(|gate| gate.name == "NodeSwap").map(|gate| gate.is_locked), Some(true));
        assert_eq!(check(&gates(&[("NoSuchGate", true)])), Err("unrecognized feature gate: NoSuchGate".into()));
        assert_eq!(
            check(&gates(&[("NodeSwap", false)])),
            Err("cannot set feature gate NodeSwap to false, feature is locked to true".into())
        );
        assert_eq!(check(&gates(&[("NodeSwap", true), ("MemoryQoS", false)])), Ok(()));
    }

    #[test]
    fn a_gate_without_effect_here_is_refused_by_name() {
        assert_eq!(refuse(&gates(&[("MemoryQoS", false), ("NodeSwap", true)])), Vec::<String>::new());
        let refused = refuse(&gates(&[("MemoryQoS", true)]));
        assert_eq!(refused, ["invalid configuration: featureGates.MemoryQoS: this kubelet does not support true"]);
    }
}
