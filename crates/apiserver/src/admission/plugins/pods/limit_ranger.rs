//! LimitRanger: the limit ranges of a namespace give containers default requests and
//! limits, and bound what containers, pods and claims may ask for.

use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::registry::lookup::ObjectLookup;
use async_trait::async_trait;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::quantity::Quantity;
use ferry_api::rules::pod_requests::{Amounts, Options, compute_limits, compute_requests};
use ferry_api::status::Status;
use ferry_api::view::core::v1::{PodStatusView, PodView};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A pod counts as its spec states it, and without overhead.
const COUNTED: Options<'_> = Options { overhead: false, ..Options::SPEC };
const ANNOTATION: &str = "kubernetes.io/limit-ranger";
const CONTAINER_LISTS: [(&str, &str); 2] = [("containers", "container"), ("initContainers", "init container")];

pub(crate) struct LimitRanger {
    lookup: Arc<dyn ObjectLookup>,
}

impl LimitRanger {
    pub(crate) fn new(lookup: Arc<dyn ObjectLookup>) -> Self {
        Self { lookup }
    }

    fn ranges(&self, request: &AdmissionRequest<'_>) -> Vec<Value> {
        let stored = self.lookup.list("", "limitranges", Some(&request.namespace));
        stored.iter().map(|stored| stored.value()).collect()
    }
}

#[async_trait]
impl Plugin for LimitRanger {
    fn name(&self) -> &'static str {
        "LimitRanger"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        if request.old_object.is_some_and(Meta::is_deleting) {
            return false;
        }
        let subresource = request.subresource.as_str();
        match request.operation {
            Operation::Create => {
                subresource.is_empty() && (request.is_for("", "pods") || request.is_for("", "persistentvolumeclaims"))
            }
            // A pod's containers change only through resize.
            Operation::Update => {
                (request.is_for("", "pods") && subresource == "resize")
                    || (request.is_for("", "persistentvolumeclaims") && subresource.is_empty())
            }
            Operation::Delete | Operation::Connect => false,
        }
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        if !request.is_for("", "pods") {
            return Ok(());
        }
        for range in self.ranges(request) {
            if let Some(pod) = request.object.as_deref_mut() {
                apply_defaults(&range, pod);
            }
        }
        Ok(())
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(object) = request.object.as_deref() else { return Ok(()) };
        let is_pod = request.is_for("", "pods");
        for range in self.ranges(request) {
            let problems = if is_pod { pod_problems(&range, object) } else { claim_problems(&range, object) };
            let why = match problems.as_slice() {
                [] => continue,
                [one] => one.clone(),
                many => format!("[{}]", many.join(", ")),
            };
            return Err(request.forbidden(&why));
        }
        Ok(())
    }
}

/// The quantities of a resource list; what does not parse is left to validation.
fn amounts(value: Option<&Value>) -> Amounts<'_> {
    let Some(Value::Object(list)) = value else { return Amounts::new() };
    list.iter().filter_map(|(name, value)| Some((name.as_str(), Quantity::parse(value.as_str()?).ok()?))).collect()
}

fn limits_of_type<'a>(range: &'a Value, wanted: &'a str) -> impl Iterator<Item = &'a Value> {
    range.items_at(&["spec", "limits"]).iter().filter(move |limit| limit.str_at(&["type"]) == wanted)
}

/// Gives every container the defaults it lacks, and notes on the pod which it got.
fn apply_defaults(range: &Value, pod: &mut Value) {
    let mut defaults: [(&str, &str, Map<String, Value>); 2] =
        [("requests", "request", Map::new()), ("limits", "limit", Map::new())];
    for limit in limits_of_type(range, "Container") {
        for ((_, _, values), key) in defaults.iter_mut().zip(["defaultRequest", "default"]) {
            if let Some(Value::Object(given)) = limit.get(key) {
                values.extend(given.clone());
            }
        }
    }
    let mut notes: Vec<String> = Vec::new();
    for (list, what) in CONTAINER_LISTS {
        let Some(Value::Array(containers)) = pod.get_mut("spec").and_then(|spec| spec.get_mut(list)) else { continue };
        for container in containers {
            for (field, word, values) in &defaults {
                let mut set: Vec<&str> = Vec::new();
                for (name, value) in values {
                    let resources = ensure_object(ensure_object(container).entry("resources").or_insert(Value::Null));
                    let slots = ensure_object(resources.entry(*field).or_insert(Value::Null));
                    if !slots.contains_key(name) {
                        slots.insert(name.clone(), value.clone());
                        set.push(name);
                    }
                }
                if !set.is_empty() {
                    set.sort_unstable();
                    notes.push(format!("{} {word} for {what} {}", set.join(", "), container.str_at(&["name"])));
                }
            }
        }
    }
    if !notes.is_empty() {
        let annotations = ensure_object(pod.meta_mut().entry("annotations").or_insert(Value::Null));
        annotations.insert(ANNOTATION.into(), format!("LimitRanger plugin set: {}", notes.join("; ")).into());
    }
}

fn pod_problems(range: &Value, pod: &Value) -> Vec<String> {
    let mut out = Vec::new();
    for limit in range.items_at(&["spec", "limits"]) {
        match limit.str_at(&["type"]) {
            "Container" => {
                for container in CONTAINER_LISTS.iter().flat_map(|(list, _)| pod.items_at(&["spec", list])) {
                    let requests = amounts(container.at(&["resources", "requests"]));
                    let limits = amounts(container.at(&["resources", "limits"]));
                    check_bounds(limit, "Container", &requests, &limits, &mut out);
                }
            }
            "Pod" => {
                let (spec, status) = (PodView::from(pod).spec(), PodStatusView::default());
                let (requests, limits) =
                    (compute_requests(spec, status, &COUNTED), compute_limits(spec, status, &COUNTED));
                check_bounds(limit, "Pod", &requests, &limits, &mut out);
            }
            _ => {}
        }
    }
    out
}

/// Claims state requests only, so limits are not looked at.
fn claim_problems(range: &Value, claim: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let requests = amounts(claim.at(&["spec", "resources", "requests"]));
    for limit in limits_of_type(range, "PersistentVolumeClaim") {
        for (name, bound) in amounts(limit.get("min")) {
            out.extend(below_minimum("PersistentVolumeClaim", name, bound, &requests, &Amounts::new()));
        }
        for (name, bound) in amounts(limit.get("max")) {
            let text = format!("maximum {name} usage per PersistentVolumeClaim is {bound}");
            match requests.get(name) {
                None => out.push(format!("{text}.  No request is specified")),
                Some(request) if *request > bound => out.push(format!("{text}, but request is {request}")),
                Some(_) => {}
            }
        }
    }
    out
}

fn check_bounds(limit: &Value, what: &str, requests: &Amounts<'_>, limits: &Amounts<'_>, out: &mut Vec<String>) {
    for (name, bound) in amounts(limit.get("min")) {
        out.extend(below_minimum(what, name, bound, requests, limits));
    }
    for (name, bound) in amounts(limit.get("max")) {
        out.extend(above_maximum(what, name, bound, requests, limits));
    }
    for (name, bound) in amounts(limit.get("maxLimitRequestRatio")) {
        out.extend(above_ratio(what, name, bound, requests, limits));
    }
}

fn below_minimum(
    what: &str,
    name: &str,
    bound: Quantity,
    requests: &Amounts<'_>,
    limits: &Amounts<'_>,
) -> Option<String> {
    let text = format!("minimum {name} usage per {what} is {bound}");
    match (requests.get(name), limits.get(name)) {
        (None, _) => Some(format!("{text}.  No request is specified")),
        (Some(request), _) if *request < bound => Some(format!("{text}, but request is {request}")),
        (_, Some(limit)) if *limit < bound => Some(format!("{text}, but limit is {limit}")),
        _ => None,
    }
}

fn above_maximum(
    what: &str,
    name: &str,
    bound: Quantity,
    requests: &Amounts<'_>,
    limits: &Amounts<'_>,
) -> Option<String> {
    let text = format!("maximum {name} usage per {what} is {bound}");
    match (requests.get(name), limits.get(name)) {
        (_, None) => Some(format!("{text}.  No limit is specified")),
        (_, Some(limit)) if *limit > bound => Some(format!("{text}, but limit is {limit}")),
        (Some(request), _) if *request > bound => Some(format!("{text}, but request is {request}")),
        _ => None,
    }
}

fn above_ratio(
    what: &str,
    name: &str,
    bound: Quantity,
    requests: &Amounts<'_>,
    limits: &Amounts<'_>,
) -> Option<String> {
    let text = format!("{name} max limit to request ratio per {what} is {bound}");
    let Some(request) = requests.get(name).filter(|request| !request.is_zero()) else {
        return Some(format!("{text}, but no request is specified or request is 0"));
    };
    let Some(limit) = limits.get(name).filter(|limit| !limit.is_zero()) else {
        return Some(format!("{text}, but no limit is specified or limit is 0"));
    };
    let ratio = limit.as_f64() / request.as_f64();
    (ratio > bound.as_f64()).then(|| format!("{text}, but provided ratio is {ratio:.6}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, pods, row};
    use crate::authn::testing::Objects;
    use ferry_resources::Scope;
    use serde_json::json;

    fn plugin(limits: Value) -> LimitRanger {
        let range =
            json!({"kind": "LimitRange", "metadata": {"name": "r", "namespace": "ns"}, "spec": {"limits": limits}});
        LimitRanger::new(Objects::of(&[range]))
    }

    fn pod(containers: Value) -> Value {
        json!({"metadata": {"name": "p", "namespace": "ns"}, "spec": {"containers": containers}})
    }

    #[tokio::test]
    async fn defaults_are_filled_in_and_noted() {
        let plugin = plugin(
            json!([{"type": "Container", "default": {"cpu": "1", "memory": "1Gi"}, "defaultRequest": {"cpu": "100m"}}]),
        );
        let given =
            json!([{"name": "a"}, {"name": "b", "resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}}]);
        let admitted = Case::create(pods(), pod(given)).run(&plugin).await.expect("admitted");
        let resources = |index: usize| admitted["spec"]["containers"][index]["resources"].clone();
        assert_eq!(resources(0), json!({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m"}}));
        assert_eq!(resources(1), json!({"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}));
        assert_eq!(
            admitted.annotation(ANNOTATION),
            Some(
                "LimitRanger plugin set: cpu request for container a; cpu, memory limit for container a; memory limit for container b"
            )
        );
        let elsewhere =
            json!({"metadata": {"name": "p", "namespace": "other"}, "spec": {"containers": [{"name": "a"}]}});
        assert_eq!(Case::create(pods(), elsewhere.clone()).run(&plugin).await.expect("admitted"), elsewhere);
    }

    #[tokio::test]
    async fn bounds_are_kept() {
        let check = async |limits: Value, containers: Value, expected: Option<&str>| {
            let outcome = Case::create(pods(), pod(containers)).run(&plugin(limits)).await;
            let outcome = outcome.err().map(|status| status.message);
            assert_eq!(outcome, expected.map(|why| format!("pods \"p\" is forbidden: {why}")));
        };
        let container = |request: &str, limit: &str| json!([{"resources": {"requests": {"cpu": request}, "limits": {"cpu": limit}}}]);
        let bounds = json!([{"type": "Container", "min": {"cpu": "100m"}, "max": {"cpu": "1"}, "maxLimitRequestRatio": {"cpu": "2"}}]);
        check(bounds.clone(), container("500m", "1"), None).await;
        check(
            bounds.clone(),
            container("50m", "100m"),
            Some("minimum cpu usage per Container is 100m, but request is 50m"),
        )
        .await;
        check(bounds.clone(), container("1", "2"), Some("maximum cpu usage per Container is 1, but limit is 2")).await;
        check(
            bounds.clone(),
            container("100m", "1"),
            Some("cpu max limit to request ratio per Container is 2, but provided ratio is 10.000000"),
        )
        .await;
        check(
            bounds,
            json!([{}]),
            Some("[minimum cpu usage per Container is 100m.  No request is specified, maximum cpu usage per Container is 1.  No limit is specified, cpu max limit to request ratio per Container is 2, but no request is specified or request is 0]"),
        )
        .await;
        let two =
            json!([{"resources": {"limits": {"memory": "600Mi"}}}, {"resources": {"limits": {"memory": "600Mi"}}}]);
        check(
            json!([{"type": "Pod", "max": {"memory": "1Gi"}}]),
            two,
            Some("maximum memory usage per Pod is 1Gi, but limit is 1200Mi"),
        )
        .await;
    }

    #[tokio::test]
    async fn claims_are_bounded_too() {
        let plugin =
            plugin(json!([{"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}}]));
        let claims = || row("", "PersistentVolumeClaim", "persistentvolumeclaims", Scope::Namespaced);
        for (size, why) in [
            ("1Gi", None),
            ("3Gi", Some("maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi")),
            ("1Mi", Some("minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi")),
        ] {
            let claim = json!({"metadata": {"name": "c", "namespace": "ns"}, "spec": {"resources": {"requests": {"storage": size}}}});
            let outcome = Case::create(claims(), claim).run(&plugin).await.err().map(|status| status.message);
            assert_eq!(outcome, why.map(|why| format!("persistentvolumeclaims \"c\" is forbidden: {why}")));
        }
    }

    #[test]
    fn sidecars_count_and_the_overhead_does_not() {
        let own = |cpu: &str, policy: &str| json!({"restartPolicy": policy, "resources": {"requests": {"cpu": cpu}}});
        let check = |cpu: &str, minimum: &str, problems: usize| {
            let init = [own("1", "Always"), own("3", "")];
            let pod = json!({"spec": {"containers": [own(cpu, "")], "initContainers": init, "overhead": {"cpu": "9"}}});
            let range = json!({"spec": {"limits": [{"type": "Pod", "min": {"cpu": minimum}}]}});
            assert_eq!(pod_problems(&range, &pod).len(), problems, "{cpu} of {minimum}");
        };
        check("1", "4", 0);
        check("1", "5", 1);
        check("5", "6", 0);
        check("5", "7", 1);
    }
}
