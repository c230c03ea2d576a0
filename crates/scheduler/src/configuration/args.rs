//! The arguments of plugins (`pluginConfig`), with upstream's defaults and messages.
//!
//! Upstream: pkg/scheduler/apis/config/validation/validation_pluginargs.go.

use super::read::{Mistakes, Object};
use crate::plugins::all::PluginArgs;
use crate::plugins::node_resources_fit::ScoringStrategy;
use crate::plugins::pod_topology_spread::Defaults;
use ferry_api::field::{Error, Path};
use ferry_api::rules::duration::format_duration;
use ferry_api::selector::label_key_errors;
use ferry_api::view::core::v1::{NodeAffinity, TopologySpreadConstraint};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

/// A score of 10 in a configuration is one of 100.
const SCORE_FACTOR: i64 = 10;

/// Reads the arguments of one plugin into those of all; a plugin that has none takes none.
pub fn read_args(name: &str, value: Option<&Value>, path: &Path, args: &mut PluginArgs, mistakes: &mut Mistakes) {
    let mut object = |known: &[&str]| {
        let known: Vec<&str> = ["apiVersion", "kind"].iter().chain(known).copied().collect();
        let object = Object::new(value, path.clone(), &known, mistakes);
        let kind = object.text("kind", mistakes).unwrap_or_default();
        if !kind.is_empty() && kind != format!("{name}Args") {
            mistakes.validation.push(Error::invalid(path, kind, "has to match plugin args"));
        }
        object
    };
    match name {
        "DefaultPreemption" => {
            let object = object(&["minCandidateNodesPercentage", "minCandidateNodesAbsolute"]);
            read_preemption(&object, args, mistakes);
        }
        "DynamicResources" => {
            let object = object(&["filterTimeout", "bindingTimeout"]);
            read_device_timeouts(&object, args, mistakes);
        }
        "InterPodAffinity" => {
            let object = object(&["hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods"]);
            read_affinity(&object, args, mistakes);
        }
        "NodeAffinity" => {
            let object = object(&["addedAffinity"]);
            args.added_affinity = object.get("addedAffinity").map(|value| NodeAffinity::from(value.clone()));
            check_added_affinity(&object, mistakes);
        }
        "NodeResourcesBalancedAllocation" => {
            let object = object(&["resources"]);
            read_balanced(&object, args, mistakes);
        }
        "NodeResourcesFit" => {
            let object = object(&["ignoredResources", "ignoredResourceGroups", "scoringStrategy"]);
            read_fit(&object, args, mistakes);
        }
        "PodTopologySpread" => {
            let object = object(&["defaultConstraints", "defaultingType"]);
            read_spread(&object, args, mistakes);
        }
        "VolumeBinding" => {
            let object = object(&["bindTimeoutSeconds", "shape"]);
            read_volume_binding(&object, args, mistakes);
        }
        _ => {
            object(&[]);
        }
    }
}

fn read_preemption(object: &Object<'_>, args: &mut PluginArgs, mistakes: &mut Mistakes) {
    let (percent_path, absolute_path) =
        (object.path.child("minCandidateNodesPercentage"), object.path.child("minCandidateNodesAbsolute"));
    let percent = object.number("minCandidateNodesPercentage", mistakes).unwrap_or(10);
    let absolute = object.number("minCandidateNodesAbsolute", mistakes).unwrap_or(100);
    let errors = &mut mistakes.validation;
    if !(0..=100).contains(&percent) {
        errors.push(Error::invalid(&percent_path, percent, "not in valid range [0, 100]"));
    }
    if absolute < 0 {
        errors.push(Error::invalid(&absolute_path, absolute, "not in valid range [0, inf)"));
    }
    if percent == 0 && absolute == 0 {
        let reason = |other: &str| format!("cannot be zero at the same time as {other}");
        errors.push(Error::invalid(&percent_path, percent, reason("minCandidateNodesAbsolute")));
        errors.push(Error::invalid(&absolute_path, absolute, reason("minCandidateNodesPercentage")));
    }
    args.candidates.percent = usize::try_from(percent).unwrap_or(0);
    args.candidates.absolute = usize::try_from(absolute).unwrap_or(0);
}

fn read_device_timeouts(object: &Object<'_>, args: &mut PluginArgs, mistakes: &mut Mistakes) {
    if let Some(timeout) = object.duration("filterTimeout", mistakes) {
        if timeout.0 < 0 {
            let path = object.path.child("filterTimeout");
            mistakes.validation.push(Error::invalid(&path, format_duration(timeout.0), "must be zero or positive"));
        }
        args.device_timeouts.filter = timeout.duration();
    }
    if let Some(timeout) = object.duration("bindingTimeout", mistakes) {
        if timeout.duration() < Duration::from_secs(1) {
            let path = object.path.child("bindingTimeout");
            mistakes.validation.push(Error::invalid(&path, format_duration(timeout.0), "must be at least 1 second"));
        }
        args.device_timeouts.binding = timeout.duration();
    }
}

fn read_affinity(object: &Object<'_>, args: &mut PluginArgs, mistakes: &mut Mistakes) {
    let weight = object.number("hardPodAffinityWeight", mistakes).unwrap_or(1);
    if !(0..=100).contains(&weight) {
        let path = object.path.child("hardPodAffinityWeight");
        mistakes.validation.push(Error::invalid(&path, weight, "not in valid range [0, 100]"));
    }
    args.hard_pod_affinity_weight = weight;
    args.ignores_preferred_of_existing = object.flag("ignorePreferredTermsOfExistingPods", mistakes).unwrap_or(false);
}

fn check_added_affinity(object: &Object<'_>, mistakes: &mut Mistakes) {
    const KINDS: [&str; 2] =
        ["requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"];
    let affinity = object.object("addedAffinity", &KINDS, mistakes);
    let term_fields = ["matchExpressions", "matchFields"];
    let required = affinity.object(KINDS[0], &["nodeSelectorTerms"], mistakes);
    let mut terms = required.objects("nodeSelectorTerms", &term_fields, mistakes);
    for weighted in affinity.objects(KINDS[1], &["weight", "preference"], mistakes) {
        terms.push(weighted.object("preference", &term_fields, mistakes));
    }
    for term in terms {
        let known = ["key", "operator", "values"];
        for (field, operators) in [
            ("matchExpressions", &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"][..]),
            ("matchFields", &["In", "NotIn"]),
        ] {
            for expression in term.objects(field, &known, mistakes) {
                let operator = expression.text("operator", mistakes).unwrap_or_default();
                if !operators.contains(&operator) {
                    let path = expression.path.child("operator");
                    mistakes.validation.push(Error::not_supported(&path, operator, operators));
                }
            }
        }
    }
}

/// Names and weights; a weight that is not given is 1.
fn read_resources(object: &Object<'_>, mistakes: &mut Mistakes) -> Vec<(String, i64, Path)> {
    let items = object.objects("resources", &["name", "weight"], mistakes);
    let read = |item: &Object<'_>| {
        let name = item.text("name", mistakes).unwrap_or_default().to_owned();
        let weight = item.number("weight", mistakes).filter(|weight| *weight != 0).unwrap_or(1);
        (name, weight, item.path.clone())
    };
    items.iter().map(read).collect()
}

fn read_balanced(object: &Object<'_>, args: &mut PluginArgs, mistakes: &mut Mistakes) {
    let mut seen = BTreeSet::new();
    let resources = read_resources(object, mistakes);
    for (name, weight, path) in &resources {
        if !seen.insert(name.clone()) {
            mistakes.validation.push(Error::duplicate(&path.child("name"), name.as_str()));
        }
        if *weight != 1 {
            mistakes.validation.push(Error::invalid(&path.child("weight"), *weight, "must be 1"));
        }
    }
    if !resources.is_empty() {
        args.balanced_resources = resources.iter().map(|(name, ..)| name.as_str().into()).collect();
    }
}

fn read_fit(object: &Object<'_>, args: &mut PluginArgs, mistakes: &mut Mistakes) {
    for (field, is_group) in [("ignoredResources", false), ("ignoredResourceGroups", true)] {
        let names: Vec<String> =
            object.list(field, mistakes).iter().filter_map(Value::as_str).map(str::to_owned).collect();
        for (index, name) in names.iter().enumerate() {
            let path = object.path.child(field).index(index);
            if is_group && name.contains('/') {
                let reason = "resource group name can't contain '/'";
                mistakes.validation.push(Error::invalid(&path, name.as_str(), reason));
            }
            for reason in label_key_errors(name) {
                mistakes.validation.push(Error::invalid(&path, name.as_str(), reason));
            }
        }
        let into = if is_group { &mut args.fit.ignored_groups } else { &mut args.fit.ignored_resources };
        into.extend(names);
    }
    let strategy = object.object("scoringStrategy", &["type", "resources", "requestedToCapacityRatio"], mistakes);
    if object.get("scoringStrategy").is_none() {
        return;
    }
    let resources = read_resources(&strategy, mistakes);
    for (name, weight, path) in &resources {
        if !(1..=100).contains(weight) {
            let reason = format!("resource weight of {name} not in valid range (0, 100]");
            mistakes.validation.push(Error::invalid(&path.child("weight"), *weight, reason));
        }
    }
    if !resources.is_empty() {
        args.fit.resources = resources.iter().map(|(name, weight, _)| (name.as_str().into(), *weight)).collect();
    }
    let ratio_path = strategy.path.child("requestedToCapacityRatio");
    let ratio = strategy.object("requestedToCapacityRatio", &["shape"], mistakes);
    let has_ratio = strategy.get("requestedToCapacityRatio").is_some();
    let kind = strategy.text("type", mistakes).unwrap_or("LeastAllocated");
    args.fit.strategy = match kind {
        "LeastAllocated" => ScoringStrategy::LeastAllocated,
        "MostAllocated" => ScoringStrategy::MostAllocated,
        "RequestedToCapacityRatio" if has_ratio => {
            ScoringStrategy::RequestedToCapacityRatio(read_shape(&ratio, mistakes))
        }
        "RequestedToCapacityRatio" => {
            let reason = "must be specified when type is RequestedToCapacityRatio";
            mistakes.validation.push(Error::required(&ratio_path, reason));
            return;
        }
        other => {
            let supported = ["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"];
            mistakes.validation.push(Error::not_supported(&strategy.path.child("type"), other, &supported));
            return;
        }
    };
    if has_ratio && kind != "RequestedToCapacityRatio" {
        let reason = "must be nil when type is not RequestedToCapacityRatio";
        mistakes.validation.push(Error::forbidden(&ratio_path, reason));
    }
}

fn read_shape(ratio: &Object<'_>, mistakes: &mut Mistakes) -> Vec<(i64, i64)> {
    let path = ratio.path.child("shape");
    let points = ratio.objects("shape", &["utilization", "score"], mistakes);
    let shape: Vec<(i64, i64)> = points
        .iter()
        .map(|point| (point.number("utilization", mistakes).unwrap_or(0), point.number("score", mistakes).unwrap_or(0)))
        .collect();
    let errors = &mut mistakes.validation;
    if shape.is_empty() {
        errors.push(Error::required(&path, "at least one point must be specified"));
    }
    if let Some(index) = shape.windows(2).position(|pair| pair[0].0 >= pair[1].0) {
        let reason = "values must be sorted in increasing order";
        errors.push(Error::invalid(&path.index(index + 1).child("utilization"), shape[index + 1].0, reason));
    }
    for (index, (utilization, score)) in shape.iter().enumerate() {
        if !(0..=100).contains(utilization) {
            let place = path.index(index).child("utilization");
            errors.push(Error::invalid(&place, *utilization, "not in valid range [0, 100]"));
        }
        if !(0..=10).contains(score) {
            errors.push(Error::invalid(&path.index(index).child("score"), *score, "not in valid range [0, 10]"));
        }
    }
    shape.into_iter().map(|(utilization, score)| (utilization, score * SCORE_FACTOR)).collect()
}

fn read_spread(object: &Object<'_>, args: &mut PluginArgs, mistakes: &mut Mistakes) {
    let known = [
        "maxSkew",
        "topologyKey",
        "whenUnsatisfiable",
        "labelSelector",
        "minDomains",
        "nodeAffinityPolicy",
        "nodeTaintsPolicy",
        "matchLabelKeys",
    ];
    let constraints = object.objects("defaultConstraints", &known, mistakes);
    let defaulting = object.text("defaultingType", mistakes).unwrap_or("System");
    let path = object.path.child("defaultingType");
    match defaulting {
        "System" if !constraints.is_empty() => {
            mistakes.validation.push(Error::invalid(&path, defaulting, "when .defaultConstraints are not empty"));
        }
        "System" | "List" => {}
        other => mistakes.validation.push(Error::not_supported(&path, other, &["System", "List"])),
    }
    let mut seen = BTreeSet::new();
    for constraint in &constraints {
        let (key, skew) = (constraint.text("topologyKey", mistakes), constraint.number("maxSkew", mistakes));
        let action = constraint.text("whenUnsatisfiable", mistakes);
        let at = |name: &str| constraint.path.child(name);
        let errors = &mut mistakes.validation;
        if skew.unwrap_or(0) <= 0 {
            errors.push(Error::invalid(&at("maxSkew"), skew.unwrap_or(0), "not in valid range (0, inf)"));
        }
        match key.unwrap_or_default() {
            "" => errors.push(Error::required(&at("topologyKey"), "can not be empty")),
            key => label_key_errors(key)
                .into_iter()
                .for_each(|reason| errors.push(Error::invalid(&at("topologyKey"), key, reason))),
        }
        match action.unwrap_or_default() {
            "" => errors.push(Error::required(&at("whenUnsatisfiable"), "can not be empty")),
            "DoNotSchedule" | "ScheduleAnyway" => {}
            other => {
                let supported = ["DoNotSchedule", "ScheduleAnyway"];
                errors.push(Error::not_supported(&at("whenUnsatisfiable"), other, &supported));
            }
        }
        if constraint.get("labelSelector").is_some() {
            let reason = "constraint must not define a selector, as they deduced for each pod";
            errors.push(Error::forbidden(&at("labelSelector"), reason));
        }
        if !seen.insert((key, action)) {
            let pair = format!("{{{}, {}}}", key.unwrap_or_default(), action.unwrap_or_default());
            errors.push(Error::duplicate(&constraint.path, pair));
        }
    }
    if defaulting == "List" {
        let own = object.list("defaultConstraints", mistakes).iter().cloned();
        args.spread = Defaults::List(own.map(TopologySpreadConstraint::from).collect());
    }
}

fn read_volume_binding(object: &Object<'_>, args: &mut PluginArgs, mistakes: &mut Mistakes) {
    let seconds = object.number("bindTimeoutSeconds", mistakes).unwrap_or(600);
    match u64::try_from(seconds) {
        Ok(seconds) => args.volume_timeout = Duration::from_secs(seconds),
        Err(_) => {
            let reason = "invalid BindTimeoutSeconds, should not be a negative value";
            mistakes.validation.push(Error::invalid(&object.path.child("bindTimeoutSeconds"), seconds, reason));
        }
    }
    if let Some(shape) = object.get("shape") {
        let reason = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring";
        mistakes.validation.push(Error::invalid(&object.path.child("shape"), shape.clone(), reason));
    }
}
