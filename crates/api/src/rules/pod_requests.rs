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
use super::resource_name::is_huge_page;
use crate::quantity::{Format, Quantity};
use crate::view::Map;
use crate::view::core::v1::{
    ContainerStatusView, ContainerView, PodSpecView, PodStatusView, PodView, ResourceRequirementsView,
};
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
    matches!(resource, "cpu" | "memory") || is_huge_page(resource)
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
    let mut total = sum_containers(spec, |container, place| {
        let stated = list.of(container.resources());
        // An init container that is over by the time the others run has nothing to resize.
        let resizes = options.resize != Resize::Ignored && place == Place::Lasting;
        let found = resizes.then(|| status_of(status, container.name())).flatten();
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

/// Whether a container runs as long as the pod.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Lasting,
    Initial,
}

fn sum_containers<'a>(spec: PodSpecView<'a>, of: impl Fn(ContainerView<'a>, Place) -> Amounts<'a>) -> Amounts<'a> {
    let mut total = Amounts::new();
    for container in spec.containers() {
        add(&mut total, &of(container, Place::Lasting));
    }
    let mut sidecars = Amounts::new();
    let mut initializing = Amounts::new();
    for container in spec.init_containers() {
        if is_sidecar(container) {
            let own = of(container, Place::Lasting);
            add(&mut total, &own);
            add(&mut sidecars, &own);
            raise(&mut initializing, &sidecars);
        } else {
            let mut own = of(container, Place::Initial);
            add(&mut own, &sidecars);
            raise(&mut initializing, &own);
        }
    }
    raise(&mut total, &initializing);
    total
}

fn status_of<'a>(status: PodStatusView<'a>, name: &str) -> Option<ContainerStatusView<'a>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn show(amounts: &Amounts<'_>) -> String {
        amounts.iter().map(|(name, amount)| format!("{name}={amount}")).collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    fn check(pod: &Value, expected_requests: &str, expected_limits: &str) {
        let pod = PodView::from(pod);
        assert_eq!((show(&requests(pod)).as_str(), show(&limits(pod)).as_str()), (expected_requests, expected_limits));
    }

    fn container(cpu: &str) -> Value {
        json!({"name": "c", "resources": {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}})
    }

    fn sidecar(cpu: &str) -> Value {
        let mut container = container(cpu);
        container["restartPolicy"] = "Always".into();
        container
    }

    #[test]
    fn containers_add_up_and_init_containers_do_not() {
        let check = |containers: &[Value], init: &[Value], cpu: &str| {
            let spec = json!({"containers": containers, "initContainers": init});
            check(&json!({"spec": spec}), &format!("cpu={cpu}"), &format!("cpu={cpu}"));
            assert_eq!(show(&spec_requests(PodSpecView::from(&spec))), format!("cpu={cpu}"));
        };
        check(&[container("100m"), container("1")], &[], "1100m");
        check(&[container("1")], &[container("3"), container("2")], "3");
        check(&[container("1")], &[sidecar("1"), container("3")], "4");
        check(&[container("1")], &[container("3"), sidecar("1")], "3");
        check(&[container("2")], &[sidecar("1"), sidecar("1")], "4");
        check(&[container("1"), container("500m")], &[sidecar("1"), container("4")], "5");
    }

    #[test]
    fn a_container_that_is_restarted_by_its_own_policy_is_no_sidecar() {
        let mut never = container("3");
        never["restartPolicy"] = "Never".into();
        check(&json!({"spec": {"containers": [container("1")], "initContainers": [never]}}), "cpu=3", "cpu=3");
    }

    #[test]
    fn the_overhead_is_added_to_requests_and_to_limits_above_zero() {
        let overhead = json!({"cpu": "250m", "memory": "1Mi", "hugepages-2Mi": "2Mi"});
        let own = json!({"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "0"}});
        let pod = json!({"spec": {"overhead": overhead, "containers": [{"resources": own}]}});
        check(&pod, "cpu=1250m hugepages-2Mi=2Mi memory=1Mi", "cpu=2250m memory=0");
    }

    #[test]
    fn amounts_of_the_pod_as_a_whole_replace_the_sum() {
        let pod = |own: Value| json!({"spec": {"containers": [container("1")], "resources": own}});
        check(&pod(json!({"requests": {"cpu": "500m"}})), "cpu=500m", "cpu=1");
        check(&pod(json!({"limits": {"cpu": "3", "memory": "1Gi"}})), "cpu=1", "cpu=3 memory=1Gi");
        check(&pod(json!({"requests": {"hugepages-2Mi": "2Mi"}})), "cpu=1 hugepages-2Mi=2Mi", "cpu=1");
        check(&pod(json!({"requests": {"example.com/gpu": "1", "ephemeral-storage": "1Gi"}})), "cpu=1", "cpu=1");
        let has = |own: Value| has_pod_level_resources(PodView::from(&pod(own)).spec());
        assert!(has(json!({"limits": {"memory": "1Gi"}})) && !has(json!({"requests": {"ephemeral-storage": "1Gi"}})));
    }

    #[test]
    fn a_resize_counts_with_the_largest_amount_until_it_is_through() {
        let pod = |spec: &str, actual: &str, allocated: &str, reason: &str| {
            json!({
                "spec": {"containers": [container(spec)]},
                "status": {
                    "containerStatuses": [{"name": "c", "allocatedResources": {"cpu": allocated},
                        "resources": {"requests": {"cpu": actual}, "limits": {"cpu": actual}}}],
                    "conditions": [{"type": "PodResizePending", "reason": reason}],
                },
            })
        };
        check(&pod("1", "2", "1500m", ""), "cpu=2", "cpu=2");
        check(&pod("1", "2", "3", ""), "cpu=3", "cpu=2");
        check(&pod("5", "2", "3", "Deferred"), "cpu=5", "cpu=5");
        check(&pod("5", "2", "3", "Infeasible"), "cpu=3", "cpu=2");
        let mut without_resources = pod("5", "2", "3", "Infeasible");
        without_resources["status"]["containerStatuses"][0]["resources"] = Value::Null;
        check(&without_resources, "cpu=5", "cpu=5");
    }

    #[test]
    fn an_init_container_that_ends_is_not_resized() {
        let status = json!([{"name": "c", "resources": {"requests": {"cpu": "9"}, "limits": {"cpu": "9"}}}]);
        let pod =
            |init: Value| json!({"spec": {"initContainers": [init]}, "status": {"initContainerStatuses": status}});
        check(&pod(container("1")), "cpu=1", "cpu=1");
        check(&pod(sidecar("1")), "cpu=9", "cpu=9");
    }

    #[test]
    fn a_resize_of_the_pod_as_a_whole_counts_but_not_for_quotas() {
        let pod = |reason: &str| {
            json!({
                "spec": {"containers": [container("1")], "resources": {"requests": {"cpu": "4"}, "limits": {"cpu": "4"}}},
                "status": {
                    "resources": {"requests": {"cpu": "6"}, "limits": {"cpu": "7"}},
                    "allocatedResources": {"cpu": "5"},
                    "conditions": [{"type": "PodResizePending", "reason": reason}],
                },
            })
        };
        check(&pod(""), "cpu=6", "cpu=7");
        check(&pod("Infeasible"), "cpu=6", "cpu=7");
        let value = pod("");
        let view = PodView::from(&value);
        assert_eq!(show(&compute_requests(view.spec(), view.status(), &Options::QUOTA)), "cpu=4");
        assert_eq!(show(&compute_limits(view.spec(), view.status(), &Options::QUOTA)), "cpu=4");
        assert_eq!(show(&compute_requests(view.spec(), view.status(), &Options::CONTAINERS)), "cpu=1");
    }

    #[test]
    fn scoring_counts_something_for_nothing() {
        let check = |spec: Value, milli_cpu: i64, memory: i64| {
            let pod = json!({"spec": spec});
            let total = non_zero_requests(PodView::from(&pod));
            let (cpu, bytes) = (total["cpu"].milli_value(), total["memory"].value());
            assert_eq!((cpu, bytes), (milli_cpu, memory), "{pod}");
        };
        let mi = 1024 * 1024;
        let own = |cpu: &str| json!({"resources": {"requests": {"cpu": cpu, "memory": "1Mi"}}});
        check(json!({"containers": [{}]}), 100, 200 * mi);
        check(json!({"containers": [{}, own("1")]}), 1100, 201 * mi);
        check(json!({"containers": [own("0")]}), 0, mi);
        check(json!({"containers": [{}], "initContainers": [{"restartPolicy": "Always"}]}), 200, 400 * mi);
        check(json!({"containers": [{}], "overhead": {"cpu": "10m"}}), 110, 200 * mi);
        check(json!({"containers": [{}, {}], "resources": {"requests": {"cpu": "1"}}}), 1000, 400 * mi);
        check(json!({"containers": [{}], "resources": {"requests": {"cpu": "1", "memory": "1Mi"}}}), 1000, mi);
        check(json!({"containers": [{}], "resources": {"limits": {"cpu": "1"}}}), 100, 200 * mi);
    }
}
