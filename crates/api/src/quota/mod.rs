//! What an object counts for in a ResourceQuota: upstream's quota evaluators
//! (pkg/quota/v1/evaluator/core and apiserver/pkg/quota/v1/generic) as one enum.
//!
//! Admission charges with it, the quota controller recounts with it, so the two can never
//! disagree about what an object costs.

mod amounts;
mod claim;
mod device_claim;
mod pod;
mod scope;
mod service;

pub use amounts::{Amounts, add, amounts_at, mask, names, render, subtract, to_value, without_zeros};
pub use pod::{counts as pod_counts, is_terminating as pod_is_terminating};
pub use scope::{Requirement, requirements};

use crate::object::Meta;
use crate::quantity::{Format, Quantity};
use jiff::Timestamp;
use serde_json::Value;

/// How objects of one resource are measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evaluator {
    Pod,
    Service,
    /// PersistentVolumeClaims.
    Claim,
    /// ResourceClaims of dynamic resource allocation.
    DeviceClaim,
    /// Everything else is only counted, under these names.
    Count(Vec<String>),
}

/// The write that admission sees.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    pub is_create: bool,
    pub is_update: bool,
    pub subresource: &'a str,
    pub object: &'a Value,
    pub old: Option<&'a Value>,
}

/// `count/deployments.apps`, `count/pods`.
pub fn count_name(group: &str, plural: &str) -> String {
    if group.is_empty() { format!("count/{plural}") } else { format!("count/{plural}.{group}") }
}

impl Evaluator {
    /// None for what quotas leave alone: events, and what is never stored.
    pub fn of(group: &str, plural: &str) -> Option<Self> {
        Some(match (group, plural) {
            ("" | "events.k8s.io", "events") | ("", "bindings" | "componentstatuses") => return None,
            ("authentication.k8s.io", "tokenreviews" | "selfsubjectreviews") => return None,
            (
                "authorization.k8s.io",
                "subjectaccessreviews"
                | "selfsubjectaccessreviews"
                | "localsubjectaccessreviews"
                | "selfsubjectrulesreviews",
            ) => return None,
            ("", "pods") => Self::Pod,
            ("", "services") => Self::Service,
            ("", "persistentvolumeclaims") => Self::Claim,
            ("resource.k8s.io", "resourceclaims") => Self::DeviceClaim,
            // Counted under these names before there was count/<resource>.
            ("", "configmaps" | "resourcequotas" | "replicationcontrollers" | "secrets") => {
                Self::Count(vec![count_name(group, plural), plural.to_owned()])
            }
            _ => Self::Count(vec![count_name(group, plural)]),
        })
    }

    /// Whether the write may change what is used.
    pub fn handles(&self, write: &Write<'_>) -> bool {
        match (self, write.subresource) {
            (Self::Pod, "") if write.is_update => {
                write.old.is_some_and(|old| pod::is_terminating(old) != pod::is_terminating(write.object))
            }
            (Self::Pod, "resize") => write.is_update,
            (Self::Claim, "status") => {
                write.is_update && write.old.is_some_and(|old| claim::changes_usage(old, write.object))
            }
            (Self::Service | Self::Claim | Self::DeviceClaim, "") => write.is_create || write.is_update,
            (Self::Pod | Self::Count(_), "") => write.is_create,
            _ => false,
        }
    }

    /// Whether a resource that a quota names is one that these objects use.
    pub fn measures(&self, name: &str) -> bool {
        match self {
            Self::Pod => pod::measures(name),
            Self::Service => service::measures(name),
            Self::Claim => claim::measures(name),
            Self::DeviceClaim => device_claim::measures(name),
            Self::Count(names) => names.iter().any(|counted| counted == name),
        }
    }

    /// What an object uses at this time, under every name that a quota may have for it.
    pub fn usage(&self, object: &Value, now: Timestamp) -> Amounts {
        match self {
            Self::Pod => pod::usage(object, now),
            Self::Service => service::usage(object),
            Self::Claim => claim::usage(object),
            Self::DeviceClaim => device_claim::usage(object),
            Self::Count(names) => names.iter().map(|name| (name.clone(), one())).collect(),
        }
    }

    /// What the object must state because a quota covers it, and does not.
    pub fn check_constraints(&self, required: &[&str], object: &Value) -> Result<(), String> {
        match self {
            Self::Pod => pod::check_constraints(required, object),
            _ => Ok(()),
        }
    }

    /// Whether the object is within every scope of the quota.
    pub fn matches_scopes(&self, quota: &Value, object: &Value) -> bool {
        requirements(quota).iter().all(|requirement| match self {
            Self::Pod => pod::matches_scope(requirement, object),
            Self::Claim => claim::matches_scope(requirement, object),
            _ => false,
        })
    }

    /// Whether the quota is about the object: by a resource in its status, and its scopes.
    pub fn matches(&self, quota: &Value, object: &Value) -> bool {
        let hard = quota.at(&["status", "hard"]).and_then(Value::as_object);
        hard.is_some_and(|hard| hard.keys().any(|name| self.measures(name))) && self.matches_scopes(quota, object)
    }

    /// Whether a change of an object may have set something free that only a recount sees.
    pub fn needs_recount(&self, old: &Value, new: &Value, now: Timestamp) -> bool {
        match self {
            Self::Pod => pod::needs_recount(old, new, now),
            Self::Service => service::kind(old) != service::kind(new),
            Self::Claim => claim::changes_usage(old, new),
            Self::DeviceClaim | Self::Count(_) => false,
        }
    }

    /// What all these objects use of what the quota names.
    pub fn recount<'a>(&self, quota: &Value, objects: impl Iterator<Item = &'a Value>, now: Timestamp) -> Amounts {
        let hard = quota.at(&["spec", "hard"]).and_then(Value::as_object);
        let named = hard.into_iter().flat_map(|hard| hard.keys()).filter(|name| self.measures(name));
        let mut used: Amounts = named.map(|name| (name.clone(), Quantity::ZERO)).collect();
        for object in objects.filter(|object| self.matches_scopes(quota, object)) {
            for (name, amount) in self.usage(object, now) {
                if let Some(slot) = used.get_mut(&name) {
                    *slot = slot.add(&amount);
                }
            }
        }
        used
    }
}

fn one() -> Quantity {
    Quantity::from_int(1, Format::DecimalSi)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn show(used: &Amounts) -> String {
        amounts::render(used)
    }

    #[test]
    fn every_resource_is_counted_but_events_and_reviews() {
        assert_eq!(Evaluator::of("", "events"), None);
        assert_eq!(Evaluator::of("authorization.k8s.io", "subjectaccessreviews"), None);
        assert_eq!(
            Evaluator::of("example.com", "widgets"),
            Some(Evaluator::Count(vec!["count/widgets.example.com".into()]))
        );
        let secrets = Evaluator::of("", "secrets").expect("counted");
        assert!(secrets.measures("secrets") && secrets.measures("count/secrets") && !secrets.measures("pods"));
        assert_eq!(show(&secrets.usage(&Value::Null, Timestamp::UNIX_EPOCH)), "count/secrets=1,secrets=1");
    }

    #[test]
    fn a_recount_sums_what_is_within_the_scopes() {
        let quota = json!({"spec": {"hard": {"pods": "5", "services": "1"}, "scopes": ["Terminating"]}});
        let pods = [json!({"spec": {"activeDeadlineSeconds": 5}}), json!({"spec": {}})];
        let used = Evaluator::Pod.recount(&quota, pods.iter(), Timestamp::UNIX_EPOCH);
        assert_eq!(show(&used), "pods=1");
        // What knows no scopes is in none.
        let services = [json!({"spec": {"ports": []}})];
        assert_eq!(show(&Evaluator::Service.recount(&quota, services.iter(), Timestamp::UNIX_EPOCH)), "services=0");
    }
}
