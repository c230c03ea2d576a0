//! The requests of a claim as the allocator reads them, with their classes and compiled
//! selectors: parsed once a cycle and compared with every node.

use super::classes::ClassIndex;
use super::selector::{Selector, Selectors};
use super::slice::Amounts;
use ferry_api::rules::key::ObjectKey;
use ferry_api::rules::resource_claim::tolerates_device_taint;
use ferry_api::view::resource::v1::{
    CapacityRequirementsView, DeviceClass, DeviceSelectorView, DeviceTaintView, DeviceTolerationView, ResourceClaim,
};
use ferry_api::view::{List, View};
use ferry_client::SharedObject;
use serde_json::Value;
use std::sync::Arc;

/// A claim that is to be allocated.
#[derive(Debug)]
pub struct ClaimRequests {
    pub claim: SharedObject<ResourceClaim>,
    pub requests: Vec<Request>,
    pub constraints: Vec<Constraint>,
}

#[derive(Debug)]
pub struct Request {
    pub name: Box<str>,
    /// The wanted devices, or, where the claim lists alternatives, each of them, the best first.
    pub alternatives: Vec<Alternative>,
    pub is_list: bool,
}

#[derive(Debug)]
pub struct Alternative {
    /// `request`, or `request/alternative`.
    pub full_name: Box<str>,
    pub class: SharedObject<DeviceClass>,
    class_selectors: Vec<Arc<Selector>>,
    selectors: Vec<Arc<Selector>>,
    /// The number of devices; `None` for all that match.
    pub count: Option<usize>,
    pub has_admin_access: bool,
    pub capacity: Amounts,
    pub tolerations: Vec<Value>,
}

#[derive(Debug)]
pub struct Constraint {
    /// The requests and alternatives that it is about; all of them if empty.
    requests: Vec<String>,
    pub attribute: Box<str>,
    pub kind: ConstraintKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstraintKind {
    /// All devices have the same value.
    Match,
    /// No two devices have the same value.
    Distinct,
}

impl Constraint {
    pub fn is_about(&self, request: &Request, alternative: &Alternative) -> bool {
        self.requests.is_empty()
            || self.requests.iter().any(|name| **name == *request.name || **name == *alternative.full_name)
    }
}

impl Alternative {
    pub fn tolerates(&self, taint: DeviceTaintView<'_>) -> bool {
        self.tolerations.iter().any(|toleration| tolerates_device_taint(DeviceTolerationView::from(toleration), taint))
    }

    /// The selectors that a device must match, those of the class first, each with the words
    /// that an error begins with.
    pub fn selectors<'a>(&'a self, claim: &'a ClaimRequests) -> impl Iterator<Item = (&'a Arc<Selector>, Origin<'a>)> {
        let of_class = self.class_selectors.iter().enumerate();
        let own = self.selectors.iter().enumerate();
        of_class
            .map(|(index, selector)| (selector, Origin::Class(&self.class, index)))
            .chain(own.map(|(index, selector)| (selector, Origin::Claim(&claim.claim, index))))
    }
}

/// The place of a selector, for errors.
pub enum Origin<'a> {
    Class(&'a SharedObject<DeviceClass>, usize),
    Claim(&'a SharedObject<ResourceClaim>, usize),
}

impl std::fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Class(class, index) => write!(f, "class {}: selector #{index}", class.name()),
            Self::Claim(claim, index) => write!(f, "claim {}: selector #{index}", ObjectKey::of(claim.meta())),
        }
    }
}

/// The fields that requests and their alternatives share.
struct Wanted<'a> {
    class: &'a str,
    selectors: List<'a, DeviceSelectorView<'a>>,
    mode: &'a str,
    count: i64,
    has_admin_access: bool,
    capacity: Option<CapacityRequirementsView<'a>>,
    tolerations: List<'a, DeviceTolerationView<'a>>,
}

impl ClaimRequests {
    /// An error says what is wrong with the claim or its classes.
    pub fn read(
        claim: SharedObject<ResourceClaim>,
        classes: &ClassIndex,
        selectors: &mut Selectors,
    ) -> Result<Self, String> {
        let key = ObjectKey::of(claim.meta());
        let devices = claim.view().spec().devices();
        let mut requests = Vec::new();
        for request in devices.requests() {
            let mut alternatives = Vec::new();
            if let Some(exact) = request.exactly() {
                let wanted = Wanted {
                    class: exact.device_class_name(),
                    selectors: exact.selectors(),
                    mode: exact.allocation_mode(),
                    count: exact.count(),
                    has_admin_access: exact.admin_access() == Some(true),
                    capacity: exact.capacity(),
                    tolerations: exact.tolerations(),
                };
                alternatives.push(read_alternative(&wanted, &key, request.name().into(), classes, selectors)?);
            }
            for own in request.first_available() {
                let wanted = Wanted {
                    class: own.device_class_name(),
                    selectors: own.selectors(),
                    mode: own.allocation_mode(),
                    count: own.count(),
                    has_admin_access: false,
                    capacity: own.capacity(),
                    tolerations: own.tolerations(),
                };
                let full_name = format!("{}/{}", request.name(), own.name());
                alternatives.push(read_alternative(&wanted, &key, full_name.into(), classes, selectors)?);
            }
            let is_list = request.exactly().is_none();
            requests.push(Request { name: request.name().into(), alternatives, is_list });
        }
        let mut constraints = Vec::new();
        for (index, constraint) in devices.constraints().iter().enumerate() {
            let (attribute, kind) = match (constraint.match_attribute(), constraint.distinct_attribute()) {
                (Some(attribute), _) => (attribute, ConstraintKind::Match),
                (None, Some(attribute)) => (attribute, ConstraintKind::Distinct),
                (None, None) => {
                    return Err(format!(
                        "claim {key}, constraint #{index}: empty constraint (unsupported constraint type?)"
                    ));
                }
            };
            constraints.push(Constraint {
                requests: constraint.requests().to_vec(),
                attribute: attribute.into(),
                kind,
            });
        }
        Ok(Self { claim, requests, constraints })
    }
}

fn read_alternative(
    wanted: &Wanted<'_>,
    claim: &ObjectKey,
    full_name: Box<str>,
    classes: &ClassIndex,
    selectors: &mut Selectors,
) -> Result<Alternative, String> {
    // The name alone, as errors have it.
    let name = full_name.rsplit('/').next().unwrap_or_default();
    let mut compile = |list: List<'_, DeviceSelectorView<'_>>| {
        let compiled = list.iter().enumerate().map(|(index, selector)| match selector.cel() {
            Some(cel) => Ok(selectors.get(cel.expression())),
            None => Err(format!(
                "claim {claim}, request {name}, selector #{index}: CEL expression empty (unsupported selector type?)"
            )),
        });
        compiled.collect::<Result<Vec<_>, String>>()
    };
    let own = compile(wanted.selectors)?;
    let class_name = wanted.class;
    let Some(class) = classes.get(class_name) else {
        return Err(format!(
            "claim {claim}, request {name}: could not retrieve device class {class_name}: deviceclass.resource.k8s.io {class_name:?} not found"
        ));
    };
    let count = match wanted.mode {
        "ExactCount" => Some(usize::try_from(wanted.count).unwrap_or(0)),
        "All" => None,
        mode => return Err(format!("claim {claim}, request {name}: unsupported count mode {mode}")),
    };
    Ok(Alternative {
        class_selectors: compile(class.view().spec().selectors())?,
        selectors: own,
        class: class.clone(),
        count,
        has_admin_access: wanted.has_admin_access,
        capacity: wanted
            .capacity
            .map(|capacity| capacity.requests().iter().map(|(name, amount)| (name.into(), amount)).collect())
            .unwrap_or_default(),
        tolerations: wanted.tolerations.iter().map(|toleration| toleration.node().to_value()).collect(),
        full_name,
    })
}
