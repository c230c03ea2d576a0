//! PersistentVolumeClaims: their number and size, in all and for each storage class.

use super::{Amounts, Requirement, one};
use crate::object::Meta;
use crate::quantity::{Quantity, from_value};
use serde_json::Value;
use std::collections::BTreeSet;

const COUNT: &str = "count/persistentvolumeclaims";
const RESOURCES: [&str; 2] = ["persistentvolumeclaims", "requests.storage"];
/// `gold.storageclass.storage.k8s.io/requests.storage`.
const OF_CLASS: &str = ".storageclass.storage.k8s.io/";

pub(super) fn measures(name: &str) -> bool {
    let of_class = name.split_once(OF_CLASS).map(|(_, resource)| resource);
    name == COUNT || RESOURCES.contains(&name) || of_class.is_some_and(|resource| RESOURCES.contains(&resource))
}

pub(super) fn usage(claim: &Value) -> Amounts {
    let mut out = Amounts::from([(COUNT.to_owned(), one())]);
    let class = class_of(claim);
    let mut charge = |resource: &str, amount: Quantity| {
        out.insert(resource.to_owned(), amount);
        if !class.is_empty() {
            out.insert(format!("{class}{OF_CLASS}{resource}"), amount);
        }
    };
    charge("persistentvolumeclaims", one());
    if let Some(size) = size_of(claim) {
        charge("requests.storage", size);
    }
    out
}

/// The class by the old annotation or the field.
fn class_of(claim: &Value) -> &str {
    match claim.annotation("volume.beta.kubernetes.io/storage-class") {
        Some(class) => class,
        None => claim.str_at(&["spec", "storageClassName"]),
    }
}

/// Whole bytes; what was allocated for an expansion counts while it is more than the claim.
fn size_of(claim: &Value) -> Option<Quantity> {
    let requested = claim.at(&["spec", "resources", "requests", "storage"]).and_then(from_value)?;
    let allocated = claim.at(&["status", "allocatedResources", "storage"]).and_then(from_value);
    let size = allocated.filter(|allocated| *allocated > requested).unwrap_or(requested);
    Some(Quantity::from_int(size.value(), size.format()))
}

fn attributes_classes(claim: &Value) -> BTreeSet<&str> {
    [
        claim.str_at(&["spec", "volumeAttributesClassName"]),
        claim.str_at(&["status", "currentVolumeAttributesClassName"]),
        claim.str_at(&["status", "modifyVolumeStatus", "targetVolumeAttributesClassName"]),
    ]
    .into_iter()
    .filter(|name| !name.is_empty())
    .collect()
}

pub(super) fn matches_scope(requirement: &Requirement<'_>, claim: &Value) -> bool {
    if requirement.scope != "VolumeAttributesClass" {
        return false;
    }
    let classes = attributes_classes(claim);
    if classes.is_empty() {
        return requirement.accepts(None);
    }
    classes.into_iter().any(|class| requirement.accepts(Some(class)))
}

pub(super) fn changes_usage(old: &Value, new: &Value) -> bool {
    let allocated = |claim: &Value| claim.at(&["status", "allocatedResources", "storage"]).and_then(from_value);
    allocated(old) != allocated(new) || attributes_classes(old) != attributes_classes(new)
}

#[cfg(test)]
mod tests {
    use super::super::amounts::render;
    use super::*;
    use serde_json::json;

    #[test]
    fn claims_count_for_themselves_and_their_class() {
        let claim = json!({
            "spec": {"storageClassName": "gold", "resources": {"requests": {"storage": "1Gi"}}},
            "status": {"allocatedResources": {"storage": "2Gi"}},
        });
        assert_eq!(
            render(&usage(&claim)),
            "count/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/requests.storage=2Gi,persistentvolumeclaims=1,requests.storage=2Gi"
        );
        let fraction = json!({"spec": {"resources": {"requests": {"storage": "1500m"}}}});
        assert_eq!(
            render(&usage(&fraction)),
            "count/persistentvolumeclaims=1,persistentvolumeclaims=1,requests.storage=2"
        );
        assert!(
            measures("gold.storageclass.storage.k8s.io/requests.storage")
                && !measures("gold.storageclass.storage.k8s.io/pods")
        );
    }

    #[test]
    fn every_attributes_class_that_is_meant_counts() {
        let claim = json!({"spec": {"volumeAttributesClassName": "fast"}, "status": {"currentVolumeAttributesClassName": "slow"}});
        let requirement = |operator, values| Requirement { scope: "VolumeAttributesClass", operator, values };
        assert!(matches_scope(&requirement("In", vec!["slow"]), &claim));
        assert!(matches_scope(&requirement("In", vec!["fast"]), &claim));
        assert!(!matches_scope(&requirement("In", vec!["other"]), &claim));
        assert!(matches_scope(&requirement("DoesNotExist", vec![]), &json!({})));
        assert!(changes_usage(&json!({}), &claim) && !changes_usage(&claim, &claim));
    }
}
