//! The verdict on one pod or pod template: which checks count at a level and version, and
//! the sentence that names what they found. Pure; the plugin and the look at the pods of
//! a namespace call it.

use super::checks;
use super::policy::{Level, LevelVersion, Version};
use ferry_api::object::Meta;
use serde_json::Value;
use std::borrow::Cow;

/// What is judged: a pod or a template, which have metadata and spec in the same places.
#[derive(Clone, Copy)]
pub struct Subject<'a>(&'a Value);

impl<'a> Subject<'a> {
    pub fn new(pod_or_template: &'a Value) -> Self {
        Self(pod_or_template)
    }

    pub fn annotations(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.annotations()
    }

    pub fn annotation(self, key: &str) -> Option<&'a str> {
        self.0.annotation(key)
    }

    /// A field of the spec that is set to something.
    pub fn spec(self, path: &[&str]) -> Option<&'a Value> {
        present(self.0.get("spec")?, path)
    }

    pub fn is_set(self, path: &[&str]) -> bool {
        self.spec(path) == Some(&Value::Bool(true))
    }

    pub fn volumes(self) -> &'a [Value] {
        self.0.items_at(&["spec", "volumes"])
    }

    /// Every container: those of the start, those that stay, those added to look inside.
    pub fn containers(self) -> impl Iterator<Item = &'a Value> {
        ["initContainers", "containers", "ephemeralContainers"]
            .into_iter()
            .flat_map(move |list| self.0.items_at(&["spec", list]))
    }

    /// The names of the containers of which something is true.
    pub fn containers_where(self, mut is_so: impl FnMut(&'a Value) -> bool) -> Vec<&'a str> {
        self.containers().filter(|container| is_so(container)).map(name).collect()
    }

    /// Windows knows none of the fields that some checks ask for.
    pub fn is_windows(self) -> bool {
        self.spec(&["os", "name"]).and_then(Value::as_str) == Some("windows")
    }

    /// Root inside a user namespace is nobody outside of it.
    pub fn has_user_namespace(self) -> bool {
        self.spec(&["hostUsers"]) == Some(&Value::Bool(false))
    }
}

/// The value at a path unless it is null, which in Kubernetes' JSON is as good as absent.
pub fn present<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    value.at(path).filter(|found| !found.is_null())
}

pub fn name(object: &Value) -> &str {
    object.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// Why a check refuses. The reason is always told, the detail where one object is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub reason: Cow<'static, str>,
    pub detail: String,
}

impl Violation {
    pub fn new(reason: &'static str, detail: impl Into<String>) -> Self {
        Self { reason: reason.into(), detail: detail.into() }
    }
}

pub type Judge = fn(Subject<'_>) -> Option<Violation>;

/// One rule of a level through the versions.
pub struct Check {
    /// Upstream's name, by which the violations are ordered.
    pub id: &'static str,
    /// Baseline, or restricted where the rule only counts there.
    pub level: Level,
    /// The oldest first; a variant counts until the next one.
    pub variants: &'static [Variant],
}

pub struct Variant {
    /// The minor version it counts from.
    pub since: u32,
    pub judge: Judge,
    /// The baseline check that this stricter one makes superfluous.
    pub replaces: Option<&'static str>,
}

impl Check {
    fn at(&self, minor: u32) -> Option<&'static Variant> {
        self.variants.iter().rev().find(|variant| variant.since <= minor)
    }
}

/// Everything about the subject that the level does not allow; baseline first, each part
/// in the order of the checks' names.
pub fn evaluate(policy: LevelVersion, subject: Subject<'_>) -> Vec<Violation> {
    let minor = match policy.version {
        Version::Latest => u32::MAX,
        Version::Minor(minor) => minor,
    };
    let of_level = |level: Level| {
        let wanted = policy.level >= level;
        checks::ALL.iter().filter(move |check| wanted && check.level == level)
    };
    let restricted: Vec<&Variant> = of_level(Level::Restricted).filter_map(|check| check.at(minor)).collect();
    let is_replaced = |check: &Check| restricted.iter().any(|variant| variant.replaces == Some(check.id));
    let baseline = of_level(Level::Baseline).filter(|check| !is_replaced(check)).filter_map(|check| check.at(minor));
    baseline.chain(restricted.iter().copied()).filter_map(|variant| (variant.judge)(subject)).collect()
}

/// `host ports, privileged`.
pub fn render_reasons(violations: &[Violation]) -> String {
    violations.iter().map(|violation| violation.reason.as_ref()).collect::<Vec<_>>().join(", ")
}

/// `hostPort (container "c" uses hostPort 80), privileged (…)`.
pub fn render_details(violations: &[Violation]) -> String {
    let one = |violation: &Violation| match violation.detail.as_str() {
        "" => violation.reason.to_string(),
        detail => format!("{} ({detail})", violation.reason),
    };
    violations.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn verdict(level: Level, version: Version, pod: &Value) -> String {
        render_details(&evaluate(LevelVersion { level, version }, Subject::new(pod)))
    }

    #[test]
    fn the_table_is_in_order_and_each_variant_newer_than_the_last() {
        for level in [Level::Baseline, Level::Restricted] {
            let ids: Vec<&str> =
                checks::ALL.iter().filter(|check| check.level == level).map(|check| check.id).collect();
            assert!(ids.is_sorted(), "{ids:?}");
        }
        for check in checks::ALL {
            assert!(check.variants.iter().map(|variant| variant.since).is_sorted_by(|a, b| a < b), "{}", check.id);
            for replaced in check.variants.iter().filter_map(|variant| variant.replaces) {
                let baseline =
                    checks::ALL.iter().find(|other| other.id == replaced).expect("the replaced check is there");
                assert_eq!((check.level, baseline.level), (Level::Restricted, Level::Baseline));
            }
        }
    }

    #[test]
    fn a_bare_pod_is_told_everything_it_lacks() {
        let pod = json!({"spec": {"containers": [{"name": "c", "image": "i"}]}});
        assert_eq!(verdict(Level::Baseline, Version::Latest, &pod), "");
        assert_eq!(
            verdict(Level::Restricted, Version::Latest, &pod),
            "allowPrivilegeEscalation != false (container \"c\" must set securityContext.allowPrivilegeEscalation=false), \
             unrestricted capabilities (container \"c\" must set securityContext.capabilities.drop=[\"ALL\"]), \
             runAsNonRoot != true (pod or container \"c\" must set securityContext.runAsNonRoot=true), \
             seccompProfile (pod or container \"c\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")"
        );
        assert_eq!(
            verdict(Level::Restricted, Version::Minor(0), &pod),
            "runAsNonRoot != true (pod or container \"c\" must set securityContext.runAsNonRoot=true)"
        );
    }

    #[test]
    fn a_stricter_check_takes_the_place_of_the_laxer_one() {
        let pod = json!({"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}});
        assert_eq!(verdict(Level::Baseline, Version::Minor(5), &pod), "hostPath volumes (volume \"v\")");
        assert_eq!(
            verdict(Level::Restricted, Version::Minor(5), &pod),
            "restricted volume types (volume \"v\" uses restricted volume type \"hostPath\")"
        );
    }

    #[test]
    fn shapes_that_no_pod_has_are_no_reason_to_fall_over() {
        for odd in [json!(null), json!({}), json!({"spec": 1}), json!({"spec": {"containers": {}, "volumes": "x"}})] {
            for level in [Level::Baseline, Level::Restricted] {
                verdict(level, Version::Latest, &odd);
            }
        }
    }
}
