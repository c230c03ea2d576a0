//! Who owns the claims of a StatefulSet's pod: the owner references that make garbage
//! collection do what persistentVolumeClaimRetentionPolicy asks for. Pure; plan.rs asks whether
//! a claim is in order, execute.rs writes the references.
//!
//! | whenScaled | whenDeleted | owner of a claim in range | owner of a condemned pod's claim |
//! |---|---|---|---|
//! | Retain | Retain | nobody | nobody |
//! | Retain | Delete | the set | the set |
//! | Delete | Retain | nobody | the pod |
//! | Delete | Delete | the set | the pod |
//!
//! The reference is upstream's pkg/controller/statefulset/stateful_set_utils.go.

use super::identity::{ordinal_of, ordinals};
use ferry_api::rules::owner::controller_reference;
use ferry_api::view::Kind;
use ferry_api::view::apps::v1::{StatefulSet, StatefulSetView};
use ferry_api::view::core::v1::{Pod, PodView};
use ferry_api::view::meta::v1::{ObjectMetaView, OwnerReference, OwnerReferenceView};

/// The two that may own a claim.
#[derive(Clone, Copy)]
pub(super) struct Owners<'a> {
    pub set: StatefulSetView<'a>,
    /// A pod that is still to be made has no uid.
    pub pod: PodView<'a>,
}

/// How a claim stands to its owners.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ClaimOwnership {
    /// Another controller has the claim, so the policy is not applied to it.
    pub is_contested: bool,
    /// The references as they are to be; `None` where nothing is to be changed.
    pub references: Option<Vec<OwnerReference>>,
}

impl Owners<'_> {
    /// Decides about a claim of the pod.
    pub(super) fn judge(self, claim: ObjectMetaView<'_>) -> ClaimOwnership {
        // A predecessor's references are left to garbage collection.
        let is_stale = self.is_stale(claim);
        let is_contested = self.has_unexpected_controller(claim);
        let is_ours = |owner: &OwnerReferenceView<'_>| self.names_set(*owner) || self.names_pod(*owner);
        let in_order = if is_stale {
            true
        } else if is_contested {
            !self.has(claim, self.set_uid()) && !self.has(claim, self.pod_uid())
        } else {
            !self.has_mere_owner(claim)
                && self.has(claim, self.set_uid()) == self.set_owns()
                && self.has(claim, self.pod_uid()) == self.pod_owns()
        };
        let references = (!in_order).then(|| {
            let others = claim.owner_references().iter().filter(|owner| !is_ours(owner)).map(|owner| owner.to_owned());
            let mut references: Vec<OwnerReference> = others.collect();
            if !is_contested && self.set_owns() {
                references.push(controller_reference::<StatefulSet>(self.set));
            }
            if !is_contested && self.pod_owns() {
                references.push(controller_reference::<Pod>(self.pod));
            }
            references
        });
        ClaimOwnership { is_contested, references }
    }

    /// Whether a claim is a former pod's, which the pod must wait to see the end of.
    pub(super) fn blocks_creation(self, claim: ObjectMetaView<'_>) -> bool {
        self.deletes_when_scaled() && self.has_stale(claim, |owner| self.names_pod(owner), self.pod_uid())
    }

    fn set_owns(self) -> bool {
        self.deletes_when_deleted() && !(self.deletes_when_scaled() && self.is_condemned())
    }

    fn pod_owns(self) -> bool {
        self.deletes_when_scaled() && self.is_condemned()
    }

    fn is_condemned(self) -> bool {
        let ordinal = ordinal_of(self.set, self.pod.metadata().name());
        !ordinal.is_some_and(|ordinal| ordinals(self.set).contains(&ordinal))
    }

    fn deletes_when_scaled(self) -> bool {
        let policy = self.set.spec().persistent_volume_claim_retention_policy();
        policy.is_some_and(|policy| policy.when_scaled() == "Delete")
    }

    fn deletes_when_deleted(self) -> bool {
        let policy = self.set.spec().persistent_volume_claim_retention_policy();
        policy.is_some_and(|policy| policy.when_deleted() == "Delete")
    }

    fn is_stale(self, claim: ObjectMetaView<'_>) -> bool {
        self.has_stale(claim, |owner| self.names_set(owner), self.set_uid())
            || self.has_stale(claim, |owner| self.names_pod(owner), self.pod_uid())
    }

    /// Whether the first reference of that name is of another object of the same name.
    fn has_stale(self, claim: ObjectMetaView<'_>, names: impl Fn(OwnerReferenceView<'_>) -> bool, uid: &str) -> bool {
        claim.owner_references().iter().find(|owner| names(*owner)).is_some_and(|owner| owner.uid() != uid)
    }

    fn has_unexpected_controller(self, claim: ObjectMetaView<'_>) -> bool {
        // A set that retains its claims does not mind who else looks after them.
        if !self.deletes_when_scaled() && !self.deletes_when_deleted() {
            return false;
        }
        claim.owner_references().iter().any(|owner| {
            if self.names_set(owner) {
                owner.uid() != self.set_uid()
            } else if self.names_pod(owner) {
                owner.uid() != self.pod_uid()
            } else {
                owner.controller() == Some(true)
            }
        })
    }

    /// Whether the set or the pod is an owner without being the controller.
    fn has_mere_owner(self, claim: ObjectMetaView<'_>) -> bool {
        claim.owner_references().iter().any(|owner| {
            (owner.uid() == self.set_uid() || owner.uid() == self.pod_uid()) && owner.controller() != Some(true)
        })
    }

    fn has(self, claim: ObjectMetaView<'_>, uid: &str) -> bool {
        claim.owner_references().iter().any(|owner| owner.uid() == uid)
    }

    fn names_set(self, owner: OwnerReferenceView<'_>) -> bool {
        names::<StatefulSet>(owner, self.set.metadata())
    }

    fn names_pod(self, owner: OwnerReferenceView<'_>) -> bool {
        names::<Pod>(owner, self.pod.metadata())
    }

    fn set_uid(&self) -> &str {
        self.set.metadata().uid()
    }

    fn pod_uid(&self) -> &str {
        self.pod.metadata().uid()
    }
}

fn names<K: Kind>(owner: OwnerReferenceView<'_>, meta: ObjectMetaView<'_>) -> bool {
    owner.api_version() == K::API_VERSION && owner.kind() == K::KIND && owner.name() == meta.name()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use serde_json::{Value, json};

    fn owner(api_version: &str, kind: &str, name: &str, uid: &str, controller: bool) -> Value {
        let mut owner = json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": uid});
        if controller {
            owner["controller"] = json!(true);
            owner["blockOwnerDeletion"] = json!(true);
        }
        owner
    }

    fn set(scaled: &str, deleted: &str) -> StatefulSet {
        StatefulSet::from(json!({"metadata": {"name": "web", "uid": "set"}, "spec": {"replicas": 2,
            "persistentVolumeClaimRetentionPolicy": {"whenScaled": scaled, "whenDeleted": deleted}}}))
    }

    fn judge(set: &StatefulSet, pod: &str, owners: &[Value]) -> ClaimOwnership {
        let pod = Pod::from(json!({"metadata": {"name": pod, "uid": "pod"}}));
        let claim = json!({"ownerReferences": owners});
        Owners { set: set.view(), pod: pod.view() }.judge((&claim).into())
    }

    /// The references that are written to a claim that has `owners`; `None` for none.
    fn written(set: &StatefulSet, pod: &str, owners: &[Value]) -> Option<Vec<Value>> {
        judge(set, pod, owners).references.map(|references| references.into_iter().map(Into::into).collect())
    }

    #[test]
    fn the_policy_decides_who_owns_a_claim() {
        let of_set = owner("apps/v1", "StatefulSet", "web", "set", true);
        let of_pod = |name: &str| owner("v1", "Pod", name, "pod", true);
        // web-1 is in range, web-2 is condemned.
        let check = |scaled: &str, deleted: &str, pod: &str, expected: &[Value]| {
            let set = set(scaled, deleted);
            let (both, none) = (vec![of_set.clone(), of_pod(pod)], vec![]);
            for before in [both, none, vec![of_set.clone()], vec![of_pod(pod)]] {
                let what = format!("{scaled} {deleted} {pod} {before:?}");
                let change = (before != expected).then(|| expected.to_vec());
                assert_eq!(written(&set, pod, &before), change, "{what}");
            }
        };
        check("Retain", "Retain", "web-1", &[]);
        check("Retain", "Retain", "web-2", &[]);
        check("Retain", "Delete", "web-1", std::slice::from_ref(&of_set));
        check("Retain", "Delete", "web-2", std::slice::from_ref(&of_set));
        check("Delete", "Retain", "web-1", &[]);
        check("Delete", "Retain", "web-2", &[of_pod("web-2")]);
        check("Delete", "Delete", "web-1", std::slice::from_ref(&of_set));
        check("Delete", "Delete", "web-2", &[of_pod("web-2")]);
    }

    #[test]
    fn owners_that_are_no_controllers_become_controllers_and_others_stay() {
        let mere = owner("apps/v1", "StatefulSet", "web", "set", false);
        let other = owner("v1", "ConfigMap", "x", "x", false);
        let set = set("Retain", "Delete");
        let expected = vec![other.clone(), owner("apps/v1", "StatefulSet", "web", "set", true)];
        assert_eq!(written(&set, "web-0", &[mere, other]), Some(expected));
    }

    #[test]
    fn a_claim_of_a_former_set_or_of_another_controller_is_left_alone() {
        let former = owner("apps/v1", "StatefulSet", "web", "old", true);
        let former_pod = owner("v1", "Pod", "web-0", "old", true);
        let other = owner("example.com/v1", "Backup", "b", "b", true);
        let of_set = owner("apps/v1", "StatefulSet", "web", "set", true);
        let deletes = set("Delete", "Delete");
        assert_eq!(written(&deletes, "web-0", &[former]), None);
        assert_eq!(written(&deletes, "web-0", std::slice::from_ref(&former_pod)), None);
        let contested = judge(&deletes, "web-0", std::slice::from_ref(&other));
        assert_eq!(contested, ClaimOwnership { is_contested: true, references: None });
        assert_eq!(written(&deletes, "web-0", &[other.clone(), of_set]), Some(vec![other.clone()]));
        let retained = judge(&set("Retain", "Retain"), "web-0", &[other]);
        assert_eq!(retained, ClaimOwnership { is_contested: false, references: None });
        // Only a set that deletes on scale-down must wait for a former pod's claim to go.
        let blocks = |set: &StatefulSet| {
            let (pod, claim) =
                (Pod::from(json!({"metadata": {"name": "web-0"}})), json!({"ownerReferences": [former_pod]}));
            Owners { set: set.view(), pod: pod.view() }.blocks_creation((&claim).into())
        };
        assert!(blocks(&deletes) && !blocks(&set("Retain", "Delete")));
    }
}
