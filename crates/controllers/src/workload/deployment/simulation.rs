//! Whole rollouts against a small model of the world, step by step: whatever users and
//! pods do, the bounds hold at each step and the rollout ends.

use super::fencepost::fenceposts;
use super::plan::{Observed, Write, plan_deployment};
use super::progress::is_complete;
use super::revision::{REVISION, annotation};
use super::{available, replicas, wanted};
use ferry_api::rules::condition::find;
use ferry_api::view::Owned;
use ferry_api::view::apps::v1::{Deployment, DeploymentSpec, ReplicaSet, ReplicaSetStatus};
use ferry_client::SharedObject;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::json;

struct World {
    deployment: Deployment,
    sets: Vec<ReplicaSet>,
    now: Timestamp,
    events: Vec<String>,
    /// The total may only exceed the present bound when the bound itself came down.
    highest_bound: i32,
}

impl World {
    fn new(strategy: serde_json::Value, size: i32) -> Self {
        let deployment = Deployment::from(json!({
            "metadata": {"name": "web", "namespace": "default", "uid": "d", "generation": 1},
            "spec": {
                "replicas": size, "strategy": strategy, "progressDeadlineSeconds": 600, "revisionHistoryLimit": 2,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "v0"}]}},
            },
        }));
        let now = "2024-01-01T00:00:00Z".parse().expect("a time");
        let mut world = Self { deployment, sets: Vec::new(), now, events: Vec::new(), highest_bound: 0 };
        world.highest_bound = world.bound();
        world
    }

    fn bound(&self) -> i32 {
        wanted(self.deployment.view()) + fenceposts(self.deployment.view()).max_surge
    }

    fn total(&self) -> i32 {
        self.sets.iter().map(|set| replicas(set.view())).sum()
    }

    fn available(&self) -> i32 {
        self.sets.iter().map(|set| available(set.view())).sum()
    }

    fn observe(&self) -> Observed {
        let uid = |set: &ReplicaSet| set.view().metadata().uid().to_owned();
        Observed {
            deployment: SharedObject::of(self.deployment.clone()),
            sets: self.sets.iter().cloned().map(SharedObject::of).collect(),
            sets_with_pods: self.sets.iter().filter(|set| running(set) > 0).map(uid).collect(),
            now: self.now,
        }
    }

    /// One reconcile, with its bounds checked. True when something was written.
    fn reconcile(&mut self) -> bool {
        self.now += SignedDuration::from_secs(1);
        let (total, before) = (self.total(), self.available());
        let plan = plan_deployment(&self.observe());
        let wrote = !plan.writes.is_empty();
        for write in plan.writes {
            self.apply(write);
        }
        let is_paused = self.deployment.view().spec().paused();
        assert!(self.total() <= self.bound().max(total), "{} pods, {} allowed", self.total(), self.bound());
        let posts = fenceposts(self.deployment.view());
        let floor = wanted(self.deployment.view()) - posts.max_unavailable;
        let is_rolling = super::fencepost::is_rolling(self.deployment.view());
        if is_rolling && !is_paused && self.highest_bound == self.bound() {
            // Deleting takes what serves nobody first, so this many stay available.
            let stay: i32 = self.sets.iter().map(|set| available(set.view())).sum();
            assert!(stay >= floor.min(before), "{stay} stay available of {before}, {floor} needed");
        }
        wrote
    }

    fn apply(&mut self, write: Write) {
        match write {
            Write::CreateSet(set) => {
                let (mut set, now) = (*set, self.now);
                let name = set.view().metadata().name().to_owned();
                assert!(self.sets.iter().all(|other| other.view().metadata().name() != name));
                set.edit_metadata(|meta| {
                    meta.set_uid(&name);
                    meta.set_generation(1);
                    meta.set_creation_timestamp(now);
                });
                self.sets.push(set);
            }
            Write::UpdateSet { set, scaled } => {
                let name = set.view().metadata().name();
                let found = self.sets.iter_mut().find(|other| other.view().metadata().name() == name);
                *found.expect("an update is of a set that exists") = ReplicaSet::clone(&set);
                if let Some((from, to)) = scaled {
                    self.events.push(format!("{from} to {to}"));
                }
            }
            Write::DeleteSet(name) => {
                let set = self.sets.iter().find(|set| set.view().metadata().name() == name);
                let size = set.map(|set| (replicas(set.view()), running(set)));
                assert_eq!(size, Some((0, 0)), "only empty sets are deleted");
                self.sets.retain(|set| set.view().metadata().name() != name);
            }
            Write::UpdateStatus(deployment) | Write::UpdateDeployment(deployment) => self.deployment = *deployment,
            Write::Event { .. } => {}
        }
    }

    /// The replica set controller and the kubelets move on; `health` of the pods serve.
    fn live(&mut self, health: f64) {
        for set in &mut self.sets {
            let (size, generation) = (replicas(set.view()), set.view().metadata().generation());
            let healthy = (f64::from(size) * health).floor() as i32;
            let kept = available(set.view()).min(size);
            set.set_status(
                ReplicaSetStatus::new()
                    .with_replicas(size)
                    .with_ready_replicas(kept.max(healthy))
                    .with_available_replicas(if health < 0.0 { 0 } else { kept.max(healthy) })
                    .with_observed_generation(generation)
                    .with_terminating_replicas(0),
            );
        }
    }

    fn edit(&mut self, change: impl FnOnce(&mut DeploymentSpec)) {
        self.deployment.edit_spec(change);
        let generation = self.deployment.view().metadata().generation();
        self.deployment.edit_metadata(|meta| meta.set_generation(generation + 1));
        self.highest_bound = self.highest_bound.max(self.bound());
    }

    fn set_image(&mut self, version: u8) {
        self.edit(|spec| spec.value_mut()["template"]["spec"]["containers"][0]["image"] = json!(format!("v{version}")));
    }

    /// Everything works from now on: the rollout must end, and then nothing be written.
    fn settle(&mut self) {
        self.edit(|spec| spec.set_paused(false));
        for _ in 0..200 {
            let wrote = self.reconcile();
            self.live(1.0);
            if !wrote && is_complete(self.deployment.view(), self.deployment.view().status()) {
                break;
            }
        }
        let observed = self.observe();
        let plan = plan_deployment(&observed);
        assert_eq!(plan.writes, [], "a settled deployment is left alone");
        let serving: Vec<&ReplicaSet> = self.sets.iter().filter(|set| replicas(set.view()) > 0).collect();
        let size = wanted(self.deployment.view());
        assert_eq!(serving.iter().map(|set| replicas(set.view())).sum::<i32>(), size);
        assert!(serving.len() <= 1);
        let progress = find(self.deployment.view().status().conditions(), "Progressing");
        assert_eq!(progress.map(|condition| condition.reason()), Some("NewReplicaSetAvailable"));
        assert!(self.sets.len() <= 3, "the history limit holds: {}", self.sets.len());
    }
}

fn running(set: &ReplicaSet) -> i32 {
    set.view().status().replicas()
}

fn rolling(surge: serde_json::Value, unavailable: serde_json::Value) -> serde_json::Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}})
}

#[test]
fn the_default_strategy_replaces_three_pods_one_by_one() {
    let mut world = World::new(rolling(json!("25%"), json!("25%")), 3);
    world.settle();
    world.set_image(1);
    world.settle();
    assert_eq!(world.events, ["3 to 2", "1 to 2", "2 to 1", "2 to 3", "1 to 0"]);
    assert_eq!(annotation(world.deployment.view().metadata(), REVISION), Some("2"));
}

#[test]
fn going_back_reuses_the_old_set_under_a_new_revision() {
    let mut world = World::new(rolling(json!(1), json!(0)), 2);
    for version in [0, 1, 0] {
        world.set_image(version);
        world.settle();
    }
    assert_eq!(world.sets.len(), 2);
    assert_eq!(annotation(world.deployment.view().metadata(), REVISION), Some("3"));
    let oldest = world.sets.iter().min_by_key(|set| set.view().metadata().creation_timestamp()).expect("sets");
    assert_eq!(annotation(oldest.view().metadata(), super::revision::REVISION_HISTORY), Some("1"));
}

#[test]
fn recreate_stops_everything_before_it_starts_anything() {
    let mut world = World::new(json!({"type": "Recreate"}), 3);
    world.settle();
    world.set_image(1);
    world.reconcile();
    assert_eq!(world.total(), 0, "the old set is scaled down first");
    world.reconcile();
    assert_eq!(world.sets.len(), 1, "its pods are still counted, so nothing new is made");
    world.live(1.0);
    world.reconcile();
    assert_eq!((world.sets.len(), world.total()), (2, 3));
    world.settle();
}

#[test]
fn a_paused_deployment_scales_but_does_not_roll() {
    let mut world = World::new(rolling(json!(1), json!(1)), 2);
    world.settle();
    world.edit(|spec| spec.set_paused(true));
    world.set_image(1);
    world.edit(|spec| spec.set_replicas(5));
    for _ in 0..5 {
        world.reconcile();
        world.live(1.0);
    }
    assert_eq!((world.sets.len(), world.total()), (1, 5));
    let condition = find(world.deployment.view().status().conditions(), "Progressing").expect("a condition");
    assert_eq!((condition.status(), condition.reason()), ("Unknown", "DeploymentPaused"));
    world.settle();
    assert_eq!(world.sets.len(), 2);
}

/// A set may have the wanted size by chance while it was scaled for another.
#[test]
fn a_size_that_fits_by_chance_does_not_stop_the_rollout() {
    let mut world = World::new(rolling(json!(1), json!("60%")), 2);
    world.settle();
    world.edit(|spec| spec.set_replicas(8));
    world.reconcile();
    world.sets[0].edit_spec(|spec| spec.set_replicas(6));
    world.edit(|spec| spec.set_replicas(6));
    world.set_image(1);
    world.settle();
    assert_eq!(world.sets.len(), 2);
}

#[derive(Clone, Debug)]
enum Happening {
    Image(u8),
    Scale(i32),
    Pause(bool),
    Live(f64),
    Reconcile,
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let one = prop_oneof![
        1 => (0u8..4).prop_map(Happening::Image),
        1 => (0i32..15).prop_map(Happening::Scale),
        1 => any::<bool>().prop_map(Happening::Pause),
        5 => prop_oneof![Just(-1.0), 0.0f64..1.0, Just(1.0)].prop_map(Happening::Live),
        8 => Just(Happening::Reconcile),
    ];
    proptest::collection::vec(one, 0..60)
}

fn strategies() -> impl Strategy<Value = serde_json::Value> {
    let post = || prop_oneof![(0i32..5).prop_map(|n| json!(n)), (0u32..=100).prop_map(|n| json!(format!("{n}%")))];
    prop_oneof![4 => (post(), post()).prop_map(|(surge, unavailable)| rolling(surge, unavailable)), 1 => Just(json!({"type": "Recreate"}))]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]
    #[test]
    fn the_bounds_hold_and_every_rollout_ends(strategy in strategies(), size in 0i32..12, story in happenings()) {
        let mut world = World::new(strategy, size);
        for happening in story {
            match happening {
                Happening::Image(version) => world.set_image(version),
                Happening::Scale(size) => world.edit(|spec| spec.set_replicas(size)),
                Happening::Pause(paused) => world.edit(|spec| spec.set_paused(paused)),
                Happening::Live(health) => world.live(health),
                Happening::Reconcile => drop(world.reconcile()),
            }
        }
        world.settle();
    }
}
