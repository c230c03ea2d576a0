//! The affinity terms of pods on nodes. They concern other pods: a required anti-affinity
//! keeps them away, and the others weigh for or against them.
//!
//! Equal terms, as the pods of one Deployment have, are one entry with a count by node. An
//! entry is as large as the number of nodes that its pods are on.

use super::term::{AffinityTerm, AffinityTerms, NamespaceLabels};
use super::{Anchors, PodInfo};
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TermKind {
    Required,
    RequiredAnti,
    Preferred,
    PreferredAnti,
}

const KINDS: [TermKind; 4] = [TermKind::Required, TermKind::RequiredAnti, TermKind::Preferred, TermKind::PreferredAnti];

struct Carried {
    term: Arc<AffinityTerm>,
    /// The number of pods by slot; never zero.
    slots: HashMap<u32, u32>,
}

#[derive(Default)]
struct TermsOfKind {
    terms: HashMap<Arc<str>, Carried>,
    anchors: Anchors<Arc<str>>,
}

#[derive(Default)]
pub struct CarriedTerms([TermsOfKind; 4]);

impl CarriedTerms {
    pub fn count(&mut self, slot: u32, terms: &AffinityTerms, delta: i32) {
        let lists = [&terms.required, &terms.required_anti, &terms.preferred, &terms.preferred_anti];
        for (own, terms) in self.0.iter_mut().zip(lists) {
            terms.iter().for_each(|term| own.count(slot, term, delta));
        }
    }

    pub fn has_any(&self, kinds: &[TermKind]) -> bool {
        kinds.iter().any(|kind| !self.of(*kind).terms.is_empty())
    }

    pub fn for_each_matching(
        &self,
        pod: &PodInfo,
        namespaces: &NamespaceLabels,
        kinds: &[TermKind],
        each: &mut impl FnMut(TermKind, &AffinityTerm, &HashMap<u32, u32>),
    ) {
        for &kind in kinds {
            let own = self.of(kind);
            for carried in own.anchors.candidates(pod).filter_map(|key| own.terms.get(key)) {
                if carried.term.pods.matches_pod(pod, namespaces) {
                    each(kind, &carried.term, &carried.slots);
                }
            }
        }
    }

    fn of(&self, kind: TermKind) -> &TermsOfKind {
        let position = KINDS.iter().position(|other| *other == kind).unwrap_or(0);
        &self.0[position]
    }
}

impl TermsOfKind {
    fn count(&mut self, slot: u32, term: &Arc<AffinityTerm>, delta: i32) {
        if !self.terms.contains_key(term.key.as_str()) {
            let key: Arc<str> = term.key.as_str().into();
            self.anchors.insert(term.pods.anchor(), key.clone());
            self.terms.insert(key, Carried { term: term.clone(), slots: HashMap::new() });
        }
        let Some(carried) = self.terms.get_mut(term.key.as_str()) else { return };
        let count = carried.slots.entry(slot).or_default();
        *count = count.saturating_add_signed(delta);
        if *count == 0 {
            carried.slots.remove(&slot);
            if carried.slots.is_empty()
                && let Some((key, carried)) = self.terms.remove_entry(term.key.as_str())
            {
                self.anchors.remove(carried.term.pods.anchor(), &key);
            }
        }
    }
}
