//! The amounts that a pod requests and is limited to, after `PodRequests` and `PodLimits` of
//! component-helpers/resource/helpers.go.
//!
//! The containers that run side by side add up, and so do sidecars. An init container runs
//! alone but for the sidecars before it, so only the hungriest counts. An amount stated for
//! the pod as a whole replaces the sum, and the overhead of its runtime class comes on top.
//!
//! | caller | function |
//! |---|---|
//! | scheduler, kubelet's admission, `kubectl describe` | [`requests`], [`limits`] |
//! | scheduler's scoring | [`non_zero_requests`] |
//! | kubelet's cgroups, and callers that hold a spec or a template only | [`spec_requests`], [`spec_limits`] |
//! | quota, validation | [`compute_requests`], [`compute_limits`] with their own [`Options`] |

use super::pod::is_sidecar;
use crate::quantity::{Format, Quantity};
use crate::view::Map;
use crate::view::core::v1::{ContainerView, PodSpecView, PodStatusView, PodView, ResourceRequirementsView};
use std::collections::BTreeMap;

/// Quantities by the name of their resource.
pub type Amounts<'a> = BTreeMap<&'a str, Quantity>;

/// How much of the pod's status counts while a resize is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resize {
    /// The spec alone counts.
    Ignored,
    /// A container counts with the largest of its spec, its allocation and its cgroup.
    Containers,
    /// The same, and the pod's own amounts likewise (InPlacePodLevelResourcesVerticalScaling,
    /// on since 1.36).
    ContainersAndPod,
}

/// The parts of a pod that count; upstream's `PodResourcesOptions`.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    pub resize: Resize,
    /// Whether amounts stated for the pod as a whole replace the sum of its containers.
    pub pod_level: bool,
    pub overhead: bool,
    /// The amounts that a container is counted with where it states none, even none of zero.
    pub defaults: &'o [(&'static str, Quantity)],
}

impl Options<'_> {
    /// The scheduler's: all parts of the pod, and a resize under way.
    pub const WHOLE: Self = Self { resize: Resize::ContainersAndPod, pod_level: true, overhead: true, defaults: &[] };
    /// The same of a spec without its status.
    pub const SPEC: Self = Self { resize: Resize::Ignored, ..Self::WHOLE };
    /// The containers as their spec states them and nothing else; upstream's
    /// `AggregateContainerRequests`.
    pub const CONTAINERS: Self = Self { pod_level: false, overhead: false, ..Self::SPEC };
    /// The quota's: a resize of the pod as a whole is charged by its spec
    /// (pkg/quota/v1/evaluator/core/pods.go).
    pub const QUOTA: Self = Self { resize: Resize::Containers, ..Self::WHOLE };
}

/// The amounts that a container without requests is counted with when nodes are scored, so
/// that such pods do not all go to one node (pkg/scheduler/util/pod_resources.go).
const DEFAULT_MILLI_CPU: i64 = 100;
const DEFAULT_MEMORY: i64 = 200 * 1024 * 1024;

/// The amounts that the pod takes of a node: the larger of its spec and its present
/// allocation until a resize is through, and the overhead.
pub fn requests(pod: PodView<'_>) -> Amounts<'_> {
    compute_requests(pod.spec(), pod.status(), &Options::WHOLE)
}

/// The amounts that the pod may use at most. The overhead is added to limits above zero.
pub fn limits(pod: PodView<'_>) -> Amounts<'_> {
    compute_limits(pod.spec(), pod.status(), &Options::WHOLE)
}

/// [`requests`] of a spec or a template that runs nowhere yet.
pub fn spec_requests(spec: PodSpecView<'_>) -> Amounts<'_> {
    compute_requests(spec, PodStatusView::default(), &Options::SPEC)
}

/// [`limits`] of a spec or a template that runs nowhere yet.
pub fn spec_limits(spec: PodSpecView<'_>) -> Amounts<'_> {
    compute_limits(spec, PodStatusView::default(), &Options::SPEC)
}

/// [`requests`] with 100m of CPU and 200Mi of memory for each container that states none.
/// Where the pod as a whole states an amount, its containers get no default of it.
///
/// Upstream: `getNonMissingContainerRequests` of pkg/scheduler/framework/types.go.
pub fn non_zero_requests(pod: PodView<'_>) -> Amounts<'_> {
    let requests = requests(pod);
    let states_requests = pod.spec().resources().is_some_and(|resources| has_pod_level(resources.requests()));
    let defaults = [
        ("cpu", Quantity::from_milli(DEFAULT_MILLI_CPU)),
        ("memory", Quantity::from_int(DEFAULT_MEMORY, Format::DecimalSi)),
    ];
    let defaults: Vec<_> =
        defaults.into_iter().filter(|(name, _)| !states_requests || !requests.contains_key(name)).collect();
    if defaults.is_empty() {
        return requests;
    }
    compute_requests(pod.spec(), pod.status(), &Options { defaults: &defaults, ..Options::WHOLE })
}

/// Whether amounts of this resource may be stated for a pod as a whole.
pub fn is_pod_level(resource: &str) -> bool {
    matches!(resource, "cpu" | "memory") || resource.starts_with("hugepages-")
}

/// Whether the pod as a whole states a request or a limit.
pub fn has_pod_level_resources(spec: PodSpecView<'_>) -> bool {
    spec.resources().is_some_and(|own| has_pod_level(own.requests()) || has_pod_level(own.limits()))
}

fn has_pod_level(list: Map<'_, Quantity>) -> bool {
    list.keys().any(is_pod_level)
}

/// The requests of the parts that `options` names.
pub fn compute_requests<'a>(spec: PodSpecView<'a>, status: PodStatusView<'a>, options: &Options<'_>) -> Amounts<'a> {
    let mut total = compute(List::Requests, spec, status, options);
    if options.overhead {
        add(&mut total, &amounts(spec.overhead()));
    }
    total
}

/// The limits of the parts that `options` names.
pub fn compute_limits<'a>(spec: PodSpecView<'a>, status: PodStatusView<'a>, options: &Options<'_>) -> Amounts<'a> {
    let mut total = compute(List::Limits, spec, status, options);
    for (name, more) in spec.overhead().iter().filter(|_| options.overhead) {
        // A limit of zero is none, and the overhead does not make it one.
        if let Some(limit) = total.get_mut(name).filter(|limit| !limit.is_zero()) {
            *limit = limit.add(&more);
        }
    }
    total
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Requests,
    Limits,
}

impl List {
    fn of(self, resources: ResourceRequirementsView<'_>) -> Map<'_, Quantity> {
        match self {
            Self::Requests => resources.requests(),
            Self::Limits => resources.limits(),
        }
    }
}

/// The sum of the containers, or the amounts of the pod as a whole; without overhead.
fn compute<'a>(list: List, spec: PodSpecView<'a>, status: PodStatusView<'a>, options: &Options<'_>) -> Amounts<'a> {
    let infeasible = is_resize_infeasible(status);
    let effective = |stated: Map<'a, Quantity>, actual: ResourceRequirementsView<'a>, allocated: Map<'a, Quantity>| {
        let mut most = amounts(list.of(actual));
        if list == List::Requests {
            raise(&mut most, &amounts(allocated));
        }
        if !infeasible {
            raise(&mut most, &amounts(stated));
        }
        most
    };
    let mut total = sum_containers(spec, |container| {
        let stated = list.of(container.resources());
        // An init container that is over by the time the others run has nothing to resize.
        let resizes = options.resize != Resize::Ignored && container.resizes;
        let found = resizes.then(|| status_of(status, container.view.name())).flatten();
        let mut own = match found.and_then(|status| Some((status, status.resources()?))) {
            Some((status, actual)) => effective(stated, actual, status.allocated_resources()),
            None => amounts(stated),
        };
        for (name, amount) in options.defaults {
            own.entry(name).or_insert(*amount);
        }
        own
    });
    let Some(own) = spec.resources().filter(|_| options.pod_level) else { return total };
    let actual = status.resources().filter(|_| options.resize == Resize::ContainersAndPod);
    let effective = actual.map(|actual| effective(list.of(own), actual, status.allocated_resources()));
    for (name, stated) in list.of(own).iter().filter(|(name, _)| is_pod_level(name)) {
        let amount = effective.as_ref().map_or(stated, |all| all.get(name).copied().unwrap_or(Quantity::ZERO));
        total.insert(name, amount);
    }
    total
}

/// A container and whether it may be resized.
#[derive(Clone, Copy)]
struct Member<'a> {
    view: ContainerView<'a>,
    resizes: bool,
}

impl<'a> Member<'a> {
    fn resources(self) -> ResourceRequirementsView<'a> {
        self.view.resources()
    }
}

fn sum_containers<'a>(spec: PodSpecView<'a>, of: impl Fn(Member<'a>) -> Amounts<'a>) -> Amounts<'a> {
    let mut total = Amounts::new();
    for view in spec.containers() {
        add(&mut total, &of(Member { view, resizes: true }));
    }
    let mut sidecars = Amounts::new();
    let mut initializing = Amounts::new();
    for view in spec.init_containers() {
        let is_sidecar = is_sidecar(view);
        let mut own = of(Member { view, resizes: is_sidecar });
        if is_sidecar {
            add(&mut total, &own);
            add(&mut sidecars, &own);
            raise(&mut initializing, &sidecars);
        } else {
            add(&mut own, &sidecars);
            raise(&mut initializing, &own);
        }
    }
    raise(&mut total, &initializing);
    total
}

fn status_of<'a>(status: PodStatusView<'a>, name: &str) -> Option<crate::view::core::v1::ContainerStatusView<'a>> {
    status.container_statuses().iter().chain(status.init_container_statuses()).find(|status| status.name() == name)
}

/// Whether the kubelet has refused a resize for good, so that the spec's amounts never come.
pub fn is_resize_infeasible(status: PodStatusView<'_>) -> bool {
    let pending = status.conditions().iter().find(|condition| condition.type_() == "PodResizePending");
    pending.is_some_and(|condition| condition.reason() == "Infeasible")
}

/// The quantities of a list. An amount that does not parse is left to validation.
pub fn amounts(list: Map<'_, Quantity>) -> Amounts<'_> {
    list.iter().collect()
}

/// Adds each amount of `more`.
pub fn add<'a>(to: &mut Amounts<'a>, more: &Amounts<'a>) {
    for (name, amount) in more {
        match to.get_mut(name) {
            Some(sum) => *sum = sum.add(amount),
            None => drop(to.insert(name, *amount)),
        }
    }
}

/// Raises each amount to that of `other` where that is larger.
pub fn raise<'a>(to: &mut Amounts<'a>, other: &Amounts<'a>) {
    for (name, amount) in other {
        if to.get(name).is_none_or(|current| current < amount) {
            to.insert(name, *amount);
        }
    }
}
