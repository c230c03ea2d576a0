//! Claims and volumes by what the binder looks for: no event costs a walk over all of either.
//!
//! | index | of | by |
//! |---|---|---|
//! | claimed | volumes | the claim of their claimRef, `namespace/name` |
//! | free | volumes that are Available and nobody's | class and access modes |
//! | pending | claims that name no volume | class |
//! | named | claims | the volume that they name |

use crate::runner::Key;
use ferry_api::rules::volume_match::{Search, class_of_claim, class_of_volume, names_class};
use ferry_api::view::List;
use ferry_api::view::core::v1::{PersistentVolume, PersistentVolumeClaim};
use ferry_client::{Informer, Informers, SharedObject};

const CLAIMED: &str = "binder-claimed";
const FREE: &str = "binder-free";
const PENDING: &str = "binder-pending";
const NAMED: &str = "binder-named";

/// Stands for the class of claims that name none; no class can be called so.
const UNSET: &str = "*";

/// Every mode, in upstream's order (`GetAccessModesAsString`), with its short name.
const MODES: [(&str, &str); 4] =
    [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")];

#[derive(Clone)]
pub(super) struct Indexes {
    pub claims: Informer<PersistentVolumeClaim>,
    pub volumes: Informer<PersistentVolume>,
}

impl Indexes {
    pub(super) fn new(informers: &Informers) -> Self {
        let claims = informers.of::<PersistentVolumeClaim>().indexed(PENDING, pending_values).indexed(NAMED, |claim| {
            let name = claim.view().spec().volume_name();
            if name.is_empty() { Vec::new() } else { vec![name.to_owned()] }
        });
        let volumes = informers
            .of::<PersistentVolume>()
            .indexed(CLAIMED, |volume| claim_key(volume).iter().map(Key::to_string).collect())
            .indexed(FREE, |volume| match is_free(volume) {
                true => vec![free_value(class_of(volume), mode_set(volume.view().spec().access_modes()))],
                false => Vec::new(),
            });
        Self { claims, volumes }
    }

    pub(super) fn volumes_of_claim(&self, claim: &Key) -> Vec<SharedObject<PersistentVolume>> {
        self.volumes.by_index(CLAIMED, &claim.to_string())
    }

    pub(super) fn claims_of_volume(&self, volume: &str) -> Vec<SharedObject<PersistentVolumeClaim>> {
        self.claims.by_index(NAMED, volume)
    }

    pub(super) fn pending_in_class(&self, class: &str) -> Vec<SharedObject<PersistentVolumeClaim>> {
        self.claims.by_index(PENDING, class)
    }

    pub(super) fn pending_without_class(&self) -> Vec<SharedObject<PersistentVolumeClaim>> {
        self.claims.by_index(PENDING, UNSET)
    }

    pub(super) fn is_pending(&self, claim: &Key) -> bool {
        let claim = self.claims.get(&claim.namespace, &claim.name);
        claim.is_some_and(|claim| claim.view().spec().volume_name().is_empty())
    }

    /// The volumes that may serve a claim, the likeliest first: those kept for it, then those
    /// with exactly its access modes, then those with one more, and so on.
    pub(super) fn volumes_for(
        &self,
        claim: &SharedObject<PersistentVolumeClaim>,
        search: Search<'_>,
    ) -> Vec<Vec<SharedObject<PersistentVolume>>> {
        let mut offers = vec![self.volumes_of_claim(&Key::of(claim.meta()))];
        if matches!(search, Search::WaitForFirstConsumer) {
            return offers;
        }
        let class = class_of_claim(claim.view());
        let wanted = mode_set(claim.view().spec().access_modes());
        let mut sets: Vec<u8> = (0..1 << MODES.len()).filter(|set| set & wanted == wanted).collect();
        sets.sort_by_key(|set| set.count_ones());
        offers.extend(sets.into_iter().map(|set| self.volumes.by_index(FREE, &free_value(class, set))));
        offers
    }
}

/// The claim that a volume points at.
pub(super) fn claim_key(volume: &SharedObject<PersistentVolume>) -> Option<Key> {
    volume.view().spec().claim_ref().map(|reference| Key::new(reference.namespace(), reference.name()))
}

/// Whether any claim of its class may have the volume.
pub(super) fn is_free(volume: &SharedObject<PersistentVolume>) -> bool {
    let view = volume.view();
    view.spec().claim_ref().is_none() && view.status().phase() == "Available" && !volume.is_deleting()
}

pub(super) fn class_of(volume: &SharedObject<PersistentVolume>) -> &str {
    class_of_volume(volume.view())
}

fn pending_values(claim: &SharedObject<PersistentVolumeClaim>) -> Vec<String> {
    let view = claim.view();
    if !view.spec().volume_name().is_empty() {
        return Vec::new();
    }
    let unset = (!names_class(view)).then(|| UNSET.to_owned());
    std::iter::once(class_of_claim(view).to_owned()).chain(unset).collect()
}

fn mode_set(modes: List<'_, &str>) -> u8 {
    let has = |mode: &str| modes.contains(mode);
    MODES.iter().enumerate().filter(|(_, (mode, _))| has(mode)).fold(0, |set, (bit, _)| set | 1 << bit)
}

fn free_value(class: &str, set: u8) -> String {
    let modes = MODES.iter().enumerate().filter(|(bit, _)| set & (1 << bit) != 0).map(|(_, (_, short))| *short);
    format!("{class}/{}", modes.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn volumes_are_offered_by_class_and_the_fewest_access_modes() {
        let volume = |name: &str, class: &str, modes: Value, phase: &str| -> SharedObject<PersistentVolume> {
            SharedObject::of(json!({"metadata": {"name": name}, "status": {"phase": phase},
                "spec": {"storageClassName": class, "accessModes": modes}}))
        };
        let kept = json!({"metadata": {"name": "kept"}, "spec": {"claimRef": {"namespace": "ns", "name": "data"}}});
        let volumes = Informer::fixed([
            volume("both", "", json!(["ReadWriteOnce", "ReadOnlyMany"]), "Available"),
            volume("one", "", json!(["ReadWriteOnce"]), "Available"),
            volume("other-class", "fast", json!(["ReadWriteOnce"]), "Available"),
            volume("other-mode", "", json!(["ReadOnlyMany"]), "Available"),
            volume("released", "", json!(["ReadWriteOnce"]), "Released"),
            SharedObject::of(kept),
        ]);
        let volumes = volumes
            .indexed(CLAIMED, |volume| claim_key(volume).iter().map(Key::to_string).collect())
            .indexed(FREE, |volume| match is_free(volume) {
                true => vec![free_value(class_of(volume), mode_set(volume.view().spec().access_modes()))],
                false => Vec::new(),
            });
        let indexes = Indexes { claims: Informer::fixed([]), volumes };
        let claim = SharedObject::of(json!({"metadata": {"namespace": "ns", "name": "data"},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}}));
        let names = |search| -> Vec<String> {
            indexes.volumes_for(&claim, search).iter().flatten().map(|volume| volume.name().to_owned()).collect()
        };
        assert_eq!(names(Search::Immediate), ["kept", "one", "both"]);
        assert_eq!(names(Search::WaitForFirstConsumer), ["kept"]);
    }
}
