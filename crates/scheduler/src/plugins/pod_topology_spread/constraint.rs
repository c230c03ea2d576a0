//! The constraints of a pod: its own, or those of the profile over the pods of its Services
//! and its controller.
//!
//! Upstream: pkg/scheduler/framework/plugins/podtopologyspread/common.go and
//! pkg/scheduler/framework/plugins/helper/spread.go.

use crate::framework::Handle;
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::topology::PodMatcher;
use ferry_api::rules::label_selector::{contains, to_selector};
use ferry_api::rules::owner::controller_of;
use ferry_api::selector::{Operator, Requirement, Selector};
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{Service, TopologySpreadConstraint, TopologySpreadConstraintView};
use ferry_client::{Informer, SharedObject};
use std::collections::BTreeMap;

/// The action on a constraint that cannot be satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsatisfiable {
    DoNotSchedule,
    ScheduleAnyway,
}

impl Unsatisfiable {
    fn text(self) -> &'static str {
        match self {
            Self::DoNotSchedule => "DoNotSchedule",
            Self::ScheduleAnyway => "ScheduleAnyway",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Constraint {
    pub max_skew: i64,
    pub topology_key: String,
    pub selector: Selector,
    pub min_domains: usize,
    pub honors_affinity: bool,
    pub honors_taints: bool,
}

impl Constraint {
    pub fn matcher(&self, pod: &PodInfo) -> PodMatcher {
        // A selector that restricts nothing counts nothing, as upstream has it.
        let selector = if self.selector.is_empty() { Selector::nothing() } else { self.selector.clone() };
        PodMatcher::spread(&pod.namespace, selector)
    }

    pub fn has_key(&self, node: &NodeInfo) -> bool {
        node.view().metadata().labels().contains_key(&self.topology_key)
    }
}

/// The constraints for pods that have none of their own.
#[derive(Clone, Debug)]
pub enum Defaults {
    /// Three pods a node and five a zone may be more than elsewhere, as a preference.
    System,
    List(Vec<TopologySpreadConstraint>),
}

/// The objects that default constraints take their selector from.
pub struct Owners {
    handle: Handle,
    services: Informer<Service>,
}

const BY_LABEL: &str = "scheduler/label";

/// The first label of a Service's selector, which every pod of the Service has.
fn service_labels(service: &SharedObject<Service>) -> Vec<String> {
    let selector = service.view().spec().selector();
    let first = selector.iter().min();
    first.map(|(name, value)| label_key(service.namespace(), name, value)).into_iter().collect()
}

fn label_key(namespace: &str, name: &str, value: &str) -> String {
    format!("{namespace}/{name}={value}")
}

impl Owners {
    pub fn new(handle: &Handle) -> Self {
        Self { services: handle.services.clone().indexed(BY_LABEL, service_labels), handle: handle.clone() }
    }

    /// The labels that the pod's Services and its controller select by; one without
    /// requirements if there are none.
    fn selector(&self, pod: &PodInfo) -> Selector {
        let labels = pod.view().metadata().labels();
        let mut set: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in pod.labels.iter() {
            for service in self.services.by_index(BY_LABEL, &label_key(&pod.namespace, name, value)) {
                let selector = service.view().spec().selector();
                if contains(labels, selector) {
                    set.extend(selector.iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
                }
            }
        }
        let of_set = |set: &BTreeMap<String, String>| {
            Selector::from_map(set.iter().map(|(name, value)| (name.as_str(), value.as_str())))
        };
        let Some(owner) = controller_of(pod.view().metadata()) else { return of_set(&set) };
        let name = owner.name();
        let controller = match (owner.api_version(), owner.kind()) {
            ("v1", "ReplicationController") => {
                if let Some(controller) = self.handle.replication_controllers.get(&pod.namespace, name) {
                    let selector = controller.view().spec().selector();
                    set.extend(selector.iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
                }
                None
            }
            ("apps/v1", "ReplicaSet") => {
                let set = self.handle.replica_sets.get(&pod.namespace, name);
                set.and_then(|set| to_selector(set.view().spec().selector()).ok())
            }
            ("apps/v1", "StatefulSet") => {
                let set = self.handle.stateful_sets.get(&pod.namespace, name);
                set.and_then(|set| to_selector(set.view().spec().selector()).ok())
            }
            _ => None,
        };
        let requirements = controller.filter(|selector| !selector.is_nothing());
        let requirements = requirements.iter().flat_map(|selector| selector.requirements());
        requirements.fold(of_set(&set), |selector, requirement| selector.with(requirement.clone()))
    }
}

/// The constraints of the pod with this action.
pub fn compute_constraints(
    pod: &PodInfo,
    action: Unsatisfiable,
    defaults: &Defaults,
    owners: &Owners,
) -> Vec<Constraint> {
    let own = pod.spec().topology_spread_constraints();
    if !own.is_empty() {
        return own.iter().filter_map(|constraint| parse(pod, constraint, action)).collect();
    }
    let system;
    let list = match defaults {
        Defaults::System if action == Unsatisfiable::DoNotSchedule => return Vec::new(),
        Defaults::System => {
            let soft = |key: &str, max_skew: i32| {
                let constraint = TopologySpreadConstraint::new().with_topology_key(key).with_max_skew(max_skew);
                constraint.with_when_unsatisfiable("ScheduleAnyway")
            };
            system = [soft("kubernetes.io/hostname", 3), soft("topology.kubernetes.io/zone", 5)];
            &system[..]
        }
        Defaults::List(list) => list,
    };
    let mut constraints: Vec<Constraint> =
        list.iter().filter_map(|constraint| parse(pod, constraint.view(), action)).collect();
    if constraints.is_empty() {
        return constraints;
    }
    let selector = owners.selector(pod);
    if selector.is_empty() {
        return Vec::new();
    }
    constraints.iter_mut().for_each(|constraint| constraint.selector = selector.clone());
    constraints
}

fn parse(pod: &PodInfo, constraint: TopologySpreadConstraintView<'_>, action: Unsatisfiable) -> Option<Constraint> {
    if constraint.when_unsatisfiable() != action.text() {
        return None;
    }
    let mut selector = to_selector(constraint.label_selector()).unwrap_or_else(|_| Selector::nothing());
    if !selector.is_nothing() {
        let keys = constraint.match_label_keys();
        for (key, value) in keys.iter().filter_map(|key| Some((key, pod.labels.get(key)?))) {
            let values = vec![value.to_owned()];
            selector = selector.with(Requirement { key: key.to_owned(), operator: Operator::In, values });
        }
    }
    Some(Constraint {
        max_skew: constraint.max_skew().into(),
        topology_key: constraint.topology_key().to_owned(),
        selector,
        min_domains: usize::try_from(constraint.min_domains().unwrap_or(1)).unwrap_or(1),
        honors_affinity: constraint.node_affinity_policy() != Some("Ignore"),
        honors_taints: constraint.node_taints_policy() == Some("Honor"),
    })
}
