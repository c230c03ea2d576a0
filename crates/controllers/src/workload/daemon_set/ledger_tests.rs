//! A ledger that is kept by changes is the ledger that is made of everything, and plans over the
//! few nodes that it names are the plans over all.

use super::super::node::Criteria;
use super::super::plan::{PodsByNode, plan_rolling};
use super::*;
use ferry_api::view::Owned;
use ferry_api::view::apps::v1::DaemonSet;
use proptest::prelude::*;
use serde_json::{Value, json};

fn set(strategy: Value) -> DaemonSet {
    DaemonSet::from(json!({"metadata": {"name": "agent"}, "spec": {"selector": {}, "minReadySeconds": 10,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": strategy},
        "template": {"spec": {"containers": [], "nodeSelector": {"on": "yes"}}}}}))
}

fn node(n: usize, on: bool) -> SharedObject<Node> {
    let on = if on { "yes" } else { "no" };
    SharedObject::of(json!({"metadata": {"name": format!("n{n}"), "labels": {"on": on}}}))
}

/// One pod: its revision, its phase and since when it is ready, if it is.
fn pod(n: usize, at: usize, choice: u8) -> SharedObject<Pod> {
    let hash = if choice & 1 == 0 { "new" } else { "old" };
    let (phase, ready, since) = match choice >> 1 & 3 {
        0 => ("Running", "True", "2024-01-01T00:00:00Z"),
        1 => ("Running", "True", "2024-01-01T11:59:55Z"),
        2 => ("Running", "False", "2024-01-01T00:00:00Z"),
        _ => ("Failed", "False", "2024-01-01T00:00:00Z"),
    };
    let mut metadata = json!({"name": format!("p{n}-{at}"), "labels": {"controller-revision-hash": hash}});
    if choice >> 3 & 3 == 3 {
        metadata["deletionTimestamp"] = json!("2024-01-01T11:00:00Z");
    }
    SharedObject::of(json!({"metadata": metadata, "spec": {"containers": [], "nodeName": format!("n{n}")},
        "status": {"phase": phase, "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": since}]}}))
}

/// The whole world of a set.
#[derive(Default)]
struct World {
    nodes: BTreeMap<String, SharedObject<Node>>,
    pods: PodsByNode,
}

fn describe(changes: &super::super::plan::Changes) -> (Vec<String>, Vec<String>, Vec<String>) {
    let names = |pods: &[SharedObject<Pod>]| {
        let mut names: Vec<String> = pods.iter().map(|pod| pod.name().to_owned()).collect();
        names.sort();
        names
    };
    let mut create = changes.create.clone();
    create.sort();
    (create, names(&changes.delete), names(&changes.ended))
}

fn check(strategy: Value, steps: &[(usize, u8, Vec<u8>)]) -> Result<(), TestCaseError> {
    let set = set(strategy);
    let criteria = Criteria::of(set.view().spec().template());
    let now = "2024-01-01T12:00:00Z".parse().expect("a time");
    let basis = || Basis { uid: "u".to_owned(), generation: 1, template_generation: None, hash: "new".to_owned() };
    let mut world = World::default();
    let mut kept = Ledger::new(basis());
    for (n, of_node, of_pods) in steps {
        let name = format!("n{n}");
        match of_node % 4 {
            0 => drop(world.nodes.remove(&name)),
            choice => drop(world.nodes.insert(name.clone(), node(*n, choice != 1))),
        }
        let pods: Vec<_> = of_pods.iter().enumerate().map(|(at, choice)| pod(*n, at, *choice)).collect();
        match pods.is_empty() {
            true => drop(world.pods.remove(&name)),
            false => drop(world.pods.insert(name.clone(), pods)),
        }
        let some = |names: &BTreeSet<&str>| -> (Vec<SharedObject<Node>>, PodsByNode) {
            let nodes = world.nodes.iter().filter(|(name, _)| names.contains(name.as_str()));
            let pods = world.pods.iter().filter(|(name, _)| names.contains(name.as_str()));
            (
                nodes.map(|(_, node)| node.clone()).collect(),
                pods.map(|(name, pods)| (name.clone(), pods.clone())).collect(),
            )
        };
        let all: Vec<SharedObject<Node>> = world.nodes.values().cloned().collect();
        let whole = Observed {
            set: set.view(),
            criteria: &criteria,
            nodes: &all,
            pods: &world.pods,
            hash: "new",
            now,
            outside: Outside::default(),
        };
        let (nodes, pods) = some(&BTreeSet::from([name.as_str()]));
        kept.update(&Observed { nodes: &nodes, pods: &pods, ..whole }, [name.as_str()]);
        let mut fresh = Ledger::new(basis());
        fresh.update_all(&whole);
        prop_assert_eq!(kept.counts(), fresh.counts());
        prop_assert_eq!(&kept.unsettled, &fresh.unsettled);
        prop_assert_eq!(&kept.ripening, &fresh.ripening);

        let (nodes, pods) = some(&kept.unsettled().collect());
        let few = Observed { nodes: &nodes, pods: &pods, ..whole };
        prop_assert_eq!(describe(&plan_nodes(&few)), describe(&plan_nodes(&whole)));
        let wanted = usize::try_from(kept.counts().desired).expect("a count");
        let (surge, unavailable) = whole.bounds(wanted);
        let (chosen, outside) = kept.next_in_update(surge.max(unavailable));
        let (nodes, pods) = some(&chosen);
        let few = Observed { nodes: &nodes, pods: &pods, outside, ..whole };
        prop_assert_eq!(describe(&plan_rolling(&few)), describe(&plan_rolling(&whole)));
    }
    Ok(())
}

proptest! {
    #[test]
    fn what_is_kept_is_what_there_is(
        steps in prop::collection::vec((0_usize..6, 0_u8..8, prop::collection::vec(0_u8..32, 0..3)), 1..40),
        surge in 0_usize..3,
        unavailable in 0_usize..3,
    ) {
        check(json!({"maxSurge": surge, "maxUnavailable": unavailable}), &steps)?;
    }
}
