//! An index that follows changes counts as one that is made anew.

use super::*;
use crate::labels::Labels;
use crate::plugins::testing::{changed, node, pod};
use ferry_api::selector::Selector;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;

fn random_pod(rng: &mut StdRng, uid: usize) -> Arc<PodInfo> {
    let app = ["a", "b", "c"][rng.random_range(0..3)];
    let term = json!({"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": "zone"});
    let affinity = match rng.random_range(0..3) {
        0 => json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}),
        1 => {
            json!({"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 3, "podAffinityTerm": term}]}})
        }
        _ => json!({}),
    };
    let namespace = ["default", "other"][rng.random_range(0..2)];
    let over = json!({"metadata": {"uid": uid.to_string(), "namespace": namespace, "labels": {"app": app}}});
    Arc::new(changed(&pod(json!({"affinity": affinity})), over))
}

fn matchers() -> Vec<PodMatcher> {
    let spread = |selector: &str| PodMatcher::spread("default", Selector::parse(selector).expect("a selector"));
    vec![spread("app=a"), spread("app in (a,b)"), spread("app"), spread("")]
}

/// The slots of each carried term that concerns a pod of app `a`, with their counts.
fn carried(index: &TopologyIndex) -> Vec<(String, Vec<(u32, u32)>)> {
    let concerned = changed(&pod(json!({})), json!({"metadata": {"labels": {"app": "a"}}}));
    let mut out = Vec::new();
    let kinds = [TermKind::Required, TermKind::RequiredAnti, TermKind::Preferred, TermKind::PreferredAnti];
    index.for_each_carried(&concerned, &kinds, |kind, term, slots| {
        let mut slots: Vec<(u32, u32)> = slots.iter().map(|(slot, count)| (*slot, *count)).collect();
        slots.sort_unstable();
        out.push((format!("{kind:?} {}", term.key), slots));
    });
    out.sort();
    out
}

#[test]
fn an_index_that_follows_changes_counts_as_a_new_one() {
    for seed in 0..20 {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut index = TopologyIndex::default();
        let mut nodes: Vec<Option<NodeInfo>> = vec![None; 6];
        for step in 0..80 {
            let slot = rng.random_range(0..nodes.len());
            match (&mut nodes[slot], rng.random_range(0..10)) {
                (place, 0) => *place = None,
                (Some(info), 1..=2) => {
                    let zone = rng.random_range(0..3).to_string();
                    info.set_node(node(&format!("n{slot}"), json!({"metadata": {"labels": {"zone": zone}}})));
                }
                (Some(info), 3..=4) => {
                    if let Some(gone) = info.pods.first().cloned() {
                        info.remove_pod(&gone);
                    }
                }
                (Some(info), _) => info.add_pod(random_pod(&mut rng, step)),
                (place, _) => *place = Some(NodeInfo::of(node(&format!("n{slot}"), json!({})))),
            }
            index.set_node(u32::try_from(slot).expect("few"), nodes[slot].clone().map(Arc::new));
            let mut fresh = TopologyIndex::default();
            for (slot, node) in (0..).zip(&nodes) {
                fresh.set_node(slot, node.clone().map(Arc::new));
            }
            for (followed, anew) in matchers().into_iter().zip(matchers()) {
                let (mut followed, anew) = (index.counts(followed).to_vec(), fresh.counts(anew));
                followed.resize(anew.len(), 0);
                assert_eq!(followed, *anew, "seed {seed}, step {step}");
            }
            let zones = |index: &mut TopologyIndex| {
                let column = index.column("zone");
                (0..6).map(|slot| column.text(column.value(slot)).map(str::to_owned)).collect::<Vec<_>>()
            };
            assert_eq!(zones(&mut index), zones(&mut fresh), "seed {seed}, step {step}");
            assert_eq!(carried(&index), carried(&fresh), "seed {seed}, step {step}");
        }
    }
}

#[test]
fn a_namespace_that_changes_its_labels_changes_what_is_counted() {
    let mut index = TopologyIndex::default();
    let mut info = NodeInfo::of(node("a", json!({})));
    info.add_pod(Arc::new(pod(json!({}))));
    index.set_node(0, Some(Arc::new(info)));
    let matcher = || {
        let namespace_selector = Selector::parse("tier=a").expect("a selector");
        let selector = Selector::everything();
        PodMatcher::new(vec![PodSelector { namespaces: [].into(), namespace_selector, selector }], true)
    };
    assert_eq!(*index.counts(matcher()), [0]);
    let meta = json!({"labels": {"tier": "a"}});
    let labels = Labels::of(ferry_api::view::meta::v1::ObjectMetaView::from(&meta).labels());
    index.set_namespaces(&Arc::new([("default".into(), labels)].into()));
    assert_eq!(*index.counts(matcher()), [1]);
}
