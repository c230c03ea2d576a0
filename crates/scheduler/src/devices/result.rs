//! The allocation of a claim as its status has it: the devices, their configuration, and the
//! nodes that they can be used on. Pure; the plugin writes what these render.

use super::request::{Alternative, ClaimRequests};
use super::search::{Allocation, Pick};
use ferry_api::view::core::v1::{NodeSelector, NodeSelectorRequirement, NodeSelectorTerm};
use ferry_api::view::resource::v1::{
    AllocationResult, DeviceAllocationConfiguration, DeviceAllocationResult, DeviceRequestAllocationResult,
    ResourceClaimView,
};
use ferry_api::view::{Owned, View};
use serde_json::{Value, json};
use uuid::Uuid;

/// The allocation of one of the claims, for the node.
pub fn render_allocation(
    allocation: &Allocation,
    claim_index: usize,
    claim: &ClaimRequests,
    node: &str,
) -> Result<AllocationResult, String> {
    let results = allocation.picks_of(claim_index).map(|pick| render_result(allocation, pick, claim));
    let devices = DeviceAllocationResult::new().with_results(results);
    let config = render_config(allocation, claim_index, claim);
    let devices = if config.is_empty() { devices } else { devices.with_config(config) };
    let out = AllocationResult::new().with_devices(devices);
    Ok(match compute_node_selector(allocation, claim_index, node)? {
        Some(selector) => out.with_node_selector(selector),
        None => out,
    })
}

fn render_result(allocation: &Allocation, pick: &Pick, claim: &ClaimRequests) -> DeviceRequestAllocationResult {
    let (slice, device) = allocation.device(pick);
    let own = alternative_of(claim, pick);
    let mut out = DeviceRequestAllocationResult::new()
        .with_request(&*own.full_name)
        .with_driver(&*slice.pool.driver)
        .with_pool(&*slice.pool.name)
        .with_device(&*device.name);
    if own.has_admin_access {
        out.set_admin_access(true);
    }
    if !own.tolerations.is_empty() {
        out.value_mut()["tolerations"] = own.tolerations.clone().into();
    }
    if let Some(share) = &pick.share {
        out.set_share_id(Uuid::new_v4().to_string());
        if !share.is_empty() {
            out.set_consumed_capacity(share.iter().map(|(name, amount)| (&**name, *amount)));
        }
    }
    if device.has_binding_conditions {
        let view = slice.view(device);
        out.set_binding_conditions(view.binding_conditions().iter());
        if !view.binding_failure_conditions().is_empty() {
            out.set_binding_failure_conditions(view.binding_failure_conditions().iter());
        }
    }
    out
}

fn alternative_of<'a>(claim: &'a ClaimRequests, pick: &Pick) -> &'a Alternative {
    &claim.requests[pick.request].alternatives[pick.alternative]
}

/// The alternative that each request got, by the position of the request.
fn chosen<'a>(allocation: &Allocation, claim_index: usize, claim: &'a ClaimRequests) -> Vec<&'a Alternative> {
    let chosen = |index: usize| {
        let pick = allocation.picks_of(claim_index).find(|pick| pick.request == index);
        claim.requests[index].alternatives.get(pick.map_or(0, |pick| pick.alternative))
    };
    (0..claim.requests.len()).filter_map(chosen).collect()
}

/// The configuration of each class once, for all its requests, and then that of the claim as far
/// as it is about alternatives that were chosen.
fn render_config(
    allocation: &Allocation,
    claim_index: usize,
    claim: &ClaimRequests,
) -> Vec<DeviceAllocationConfiguration> {
    let mut out: Vec<Value> = Vec::new();
    let chosen = chosen(allocation, claim_index, claim);
    // The places in `out` of the configuration of each class.
    let mut of_class: Vec<(&str, std::ops::Range<usize>)> = Vec::new();
    for own in &chosen {
        let class = own.class.name();
        if let Some((_, range)) = of_class.iter().find(|(name, _)| *name == class) {
            for config in &mut out[range.clone()] {
                if let Some(requests) = config["requests"].as_array_mut() {
                    requests.push((&*own.full_name).into());
                }
            }
            continue;
        }
        let first = out.len();
        for config in own.class.view().spec().config() {
            let mut config = config.node().to_value();
            config["source"] = "FromClass".into();
            config["requests"] = json!([own.full_name]);
            out.push(config);
        }
        of_class.push((class, first..out.len()));
    }
    for config in claim.claim.view().spec().devices().config() {
        let mut own = config.node().to_value();
        own["source"] = "FromClaim".into();
        if config.requests().is_empty() {
            out.push(own);
            continue;
        }
        for (request, alternative) in claim.requests.iter().zip(&chosen) {
            if config.requests().contains(&request.name)
                || (request.is_list && config.requests().contains(&alternative.full_name))
            {
                out.push(own.clone());
            }
        }
    }
    out.into_iter().map(DeviceAllocationConfiguration::from).collect()
}

/// The nodes that all devices of the claim can be used on; `None` for all nodes.
fn compute_node_selector(
    allocation: &Allocation,
    claim_index: usize,
    node: &str,
) -> Result<Option<NodeSelector>, String> {
    let (mut fields, mut expressions): (Vec<Value>, Vec<Value>) = Default::default();
    for pick in allocation.picks_of(claim_index) {
        let (slice, device) = allocation.device(pick);
        let (spec, view) = (slice.object.view().spec(), slice.view(device));
        let (name, selector) = if slice.is_per_device {
            (view.node_name(), view.node_selector())
        } else {
            (spec.node_name(), spec.node_selector())
        };
        if name.is_some() || device.binds_to_node {
            let this_node =
                NodeSelectorRequirement::new().with_key("metadata.name").with_operator("In").with_values([node]);
            let term = NodeSelectorTerm::new().with_match_fields([this_node]);
            return Ok(Some(NodeSelector::new().with_node_selector_terms([term])));
        }
        let Some(selector) = selector else { continue };
        let terms = selector.node_selector_terms();
        if terms.len() > 1 {
            return Err(format!("unsupported ResourceSlice.NodeSelector with {} terms", terms.len()));
        }
        if let Some(term) = terms.first() {
            for (from, to) in [(term.match_fields(), &mut fields), (term.match_expressions(), &mut expressions)] {
                for requirement in from {
                    let requirement = requirement.node().to_value();
                    if !to.iter().any(|other| is_same_requirement(other, &requirement)) {
                        to.push(requirement);
                    }
                }
            }
        }
    }
    if fields.is_empty() && expressions.is_empty() {
        return Ok(None);
    }
    let mut term = json!({});
    for (name, list) in [("matchFields", fields), ("matchExpressions", expressions)] {
        if !list.is_empty() {
            term[name] = list.into();
        }
    }
    Ok(Some(NodeSelector::new().with_node_selector_terms([NodeSelectorTerm::from(term)])))
}

/// Whether two requirements are alike; the order of their values does not matter.
fn is_same_requirement(a: &Value, b: &Value) -> bool {
    let values = |of: &Value| {
        let mut values: Vec<String> = of["values"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|value| Some(value.as_str()?.to_owned()))
            .collect();
        values.sort();
        values.dedup();
        values
    };
    a["key"] == b["key"] && a["operator"] == b["operator"] && values(a) == values(b)
}

/// The more of a claim's first choices it got, the better: a list has at most this many.
const MAX_ALTERNATIVES: i64 = 8;

/// The score of an allocation for one claim, by the names of the requests that it serves.
pub fn score_of(claim: ResourceClaimView<'_>, serves: impl Fn(&str) -> bool) -> i64 {
    let requests = claim.spec().devices().requests().iter();
    let scores = requests.flat_map(|request| {
        let names = request.first_available().iter().map(move |own| format!("{}/{}", request.name(), own.name()));
        names.zip(0..)
    });
    scores.filter(|(name, _)| serves(name)).map(|(_, index)| MAX_ALTERNATIVES - index).sum()
}
