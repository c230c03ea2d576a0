//! PodTolerationRestriction: a namespace says by annotations which tolerations its pods get
//! and which they may have, and the configuration says it for those that do not. Off
//! unless asked for.

use crate::admission::{AdmissionRequest, Operation, Plugin, Wiring};
use crate::registry::lookup::ObjectLookup;
use async_trait::async_trait;
use ferry_api::field::{ErrorList, Path};
use ferry_api::gvk::GroupResource;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::rules::qos::{QosClass, qos_class};
use ferry_api::status::Status;
use ferry_api::view::core::v1::PodView;
use ferry_resources::pod_spec::scheduling::validate_tolerations;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

const DEFAULTS: &str = "scheduler.alpha.kubernetes.io/defaultTolerations";
const WHITELIST: &str = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";
const MEMORY_PRESSURE: &str = "node.kubernetes.io/memory-pressure";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Toleration {
    #[serde(skip_serializing_if = "String::is_empty")]
    key: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    operator: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    value: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    effect: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    toleration_seconds: Option<i64>,
}

/// What counts in namespaces that say nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TolerationsConfig {
    default: Vec<Toleration>,
    whitelist: Vec<Toleration>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    api_version: String,
    kind: String,
    #[serde(default)]
    default: Vec<Toleration>,
    #[serde(default)]
    whitelist: Vec<Toleration>,
}

impl TolerationsConfig {
    /// Reads a configuration in YAML or JSON; the error names every mistake.
    pub fn parse(text: &str) -> Result<Self, String> {
        let File { api_version, kind, default, whitelist } =
            serde_yaml_ng::from_str(text).map_err(|error| error.to_string())?;
        if (api_version.as_str(), kind.as_str())
            != ("podtolerationrestriction.admission.k8s.io/v1alpha1", "Configuration")
        {
            return Err(format!("no kind {kind:?} is registered for version {api_version:?}"));
        }
        let mut errors = ErrorList::new();
        for (name, tolerations) in [("default", &default), ("whitelist", &whitelist)] {
            let items: Vec<Value> = tolerations.iter().map(|toleration| json!(toleration)).collect();
            validate_tolerations(&mut errors, &items, &Path::new("podtolerationrestriction").child(name));
        }
        if !errors.is_empty() {
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            return Err(format!("invalid config: [{}]", texts.join(" ")));
        }
        Ok(Self { default, whitelist })
    }
}

pub(crate) struct PodTolerationRestriction {
    lookup: Arc<dyn ObjectLookup>,
    configured: TolerationsConfig,
}

impl PodTolerationRestriction {
    pub(crate) fn new(wiring: &Wiring) -> Self {
        Self { lookup: wiring.lookup.clone(), configured: wiring.config.tolerations.clone() }
    }

    /// What an annotation of the namespace lists; `None` without one, which is not the same
    /// as an empty one.
    fn of_namespace(&self, name: &str, key: &str) -> Result<Option<Vec<Toleration>>, Status> {
        let Some(namespace) = self.lookup.get("", "namespaces", "", name) else {
            return Err(Status::not_found(&GroupResource::new("", "namespaces"), name));
        };
        match namespace.value().annotation(key) {
            None => Ok(None),
            Some("") => Ok(Some(Vec::new())),
            Some(text) => {
                serde_json::from_str(text).map(Some).map_err(|error| unexplained(format!("annotation {key}: {error}")))
            }
        }
    }
}

/// Upstream gives these errors no reason, which makes them failures of the server.
fn unexplained(message: String) -> Status {
    Status::failure(500, "", message)
}

fn tolerations_of(pod: &Value) -> Result<Vec<Toleration>, Status> {
    let items = pod.items_at(&["spec", "tolerations"]);
    let read = items.iter().map(|item| serde_json::from_value(item.clone()));
    read.collect::<Result<_, _>>().map_err(|error| Status::bad_request(format!("spec.tolerations: {error}")))
}

#[async_trait]
impl Plugin for PodTolerationRestriction {
    fn name(&self) -> &'static str {
        "PodTolerationRestriction"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.is_pod_write()
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let mut extra = Vec::new();
        if request.operation == Operation::Create {
            let own = self.of_namespace(&request.namespace, DEFAULTS)?;
            extra = own.unwrap_or_else(|| self.configured.default.clone());
        }
        let Some(pod) = request.object_of("", "pods") else { return Ok(()) };
        if qos_class(PodView::from(&*pod)) != QosClass::BestEffort {
            extra.push(Toleration {
                key: MEMORY_PRESSURE.into(),
                operator: "Exists".into(),
                effect: "NoSchedule".into(),
                ..Toleration::default()
            });
        }
        if !extra.is_empty() {
            let merged = compute_merged(tolerations_of(pod)?, extra);
            let spec = ensure_object(ensure_object(pod).entry("spec").or_insert(Value::Null));
            spec.insert("tolerations".into(), json!(merged));
        }
        self.validate(request).await
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(pod) = request.object.as_deref() else { return Ok(()) };
        let tolerations = tolerations_of(pod)?;
        if tolerations.is_empty() {
            return Ok(());
        }
        let (whitelist, scope) = match self.of_namespace(&request.namespace, WHITELIST)? {
            Some(own) => (own, "namespace"),
            None => (self.configured.whitelist.clone(), "cluster"),
        };
        let is_listed = |toleration: &Toleration| whitelist.iter().any(|listed| covers(listed, toleration));
        if whitelist.is_empty() || tolerations.iter().all(is_listed) {
            return Ok(());
        }
        Err(unexplained(format!(
            "pod tolerations (possibly merged with namespace default tolerations) conflict with its {scope} whitelist"
        )))
    }
}

/// Both lists, without those that another one covers. Of equal ones the first stays.
fn compute_merged(mut all: Vec<Toleration>, more: Vec<Toleration>) -> Vec<Toleration> {
    all.extend(more);
    let mut merged: Vec<Toleration> = Vec::new();
    for (index, toleration) in all.iter().enumerate() {
        let by_earlier = merged.iter().any(|kept| covers(kept, toleration));
        let by_later = all[index + 1..].iter().any(|later| later != toleration && covers(later, toleration));
        if !by_earlier && !by_later {
            merged.push(toleration.clone());
        }
    }
    merged
}

/// Whether `wide` tolerates whatever `narrow` does.
fn covers(wide: &Toleration, narrow: &Toleration) -> bool {
    if wide == narrow {
        return true;
    }
    // No key with Exists is every key, and no effect is every effect.
    let has_key = narrow.key == wide.key || (wide.key.is_empty() && wide.operator == "Exists");
    let has_effect = narrow.effect == wide.effect || wide.effect.is_empty();
    let stays_as_long = match wide.toleration_seconds {
        Some(limit) if wide.effect == "NoExecute" => narrow.toleration_seconds.is_some_and(|asked| asked <= limit),
        _ => true,
    };
    let has_value = match wide.operator.as_str() {
        "Equal" | "" => narrow.operator == "Equal" && narrow.value == wide.value,
        "Exists" => true,
        _ => false,
    };
    has_key && has_effect && stays_as_long && has_value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, pods};
    use crate::authn::testing::Objects;

    const HEAD: &str = "apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1\nkind: Configuration\n";

    fn plugin() -> PodTolerationRestriction {
        let namespace = |name: &str, annotations: Value| {
            json!({"kind": "Namespace",
            "metadata": {"name": name, "annotations": annotations}})
        };
        PodTolerationRestriction {
            lookup: Objects::of(&[
                namespace("plain", json!({})),
                namespace("own", json!({DEFAULTS: r#"[{"key":"own","operator":"Exists"}]"#, WHITELIST: r#"[{"key":"own","operator":"Exists"}]"#})),
                namespace("none", json!({DEFAULTS: "", WHITELIST: ""})),
                namespace("broken", json!({DEFAULTS: "{"})),
            ]),
            configured: TolerationsConfig::parse(&format!(
                "{HEAD}default: [{{key: all, operator: Equal, value: x}}]\nwhitelist: [{{key: all, operator: Exists}}]\n"
            ))
            .expect("valid"),
        }
    }

    async fn run(namespace: &str, spec: Value) -> Result<Value, (u16, String)> {
        let pod = json!({"metadata": {"name": "p", "namespace": namespace}, "spec": spec});
        let outcome = Case::create(pods(), pod).run(&plugin()).await;
        outcome.map(|pod| pod["spec"]["tolerations"].clone()).map_err(|status| (status.code, status.message))
    }

    #[tokio::test]
    async fn the_namespace_or_the_cluster_says_what_is_tolerated() {
        let conflict = |scope: &str| {
            Err((
                500,
                format!(
                    "pod tolerations (possibly merged with namespace default tolerations) conflict with its {scope} whitelist"
                ),
            ))
        };
        let own = json!([{"key": "own", "operator": "Exists"}]);
        let of_cluster = json!([{"key": "all", "operator": "Equal", "value": "x"}]);
        let other = json!({"tolerations": [{"key": "other", "operator": "Exists"}]});
        assert_eq!(run("plain", json!({})).await, Ok(of_cluster));
        assert_eq!(run("plain", other.clone()).await, conflict("cluster"));
        assert_eq!(run("own", json!({})).await, Ok(own));
        assert_eq!(run("own", other.clone()).await, conflict("namespace"));
        assert_eq!(run("none", other.clone()).await, Ok(other["tolerations"].clone()), "an empty list bounds nothing");
        assert_eq!(run("none", json!({})).await, Ok(Value::Null));
        assert_eq!(run("broken", json!({})).await.expect_err("no JSON").0, 500);
        assert_eq!(run("absent", json!({})).await, Err((404, "namespaces \"absent\" not found".into())));
        let asking = json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]});
        let pressure = json!([{"key": MEMORY_PRESSURE, "operator": "Exists", "effect": "NoSchedule"}]);
        assert_eq!(run("none", asking).await, Ok(pressure));
    }

    #[test]
    fn the_wider_of_two_stays() {
        let read = |text: &str| -> Vec<Toleration> { serde_json::from_str(text).expect("tolerations") };
        let check = |first: &str, second: &str, expected: &str| {
            assert_eq!(compute_merged(read(first), read(second)), read(expected));
        };
        let (equal, exists) =
            (r#"[{"key":"a","operator":"Equal","value":"x"}]"#, r#"[{"key":"a","operator":"Exists"}]"#);
        check(equal, exists, exists);
        check(exists, equal, exists);
        check(equal, equal, equal);
        check(equal, r#"[{"operator":"Exists"}]"#, r#"[{"operator":"Exists"}]"#);
        let (short, long) = (
            r#"[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":5}]"#,
            r#"[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":9}]"#,
        );
        check(short, long, long);
        check(long, short, long);
        let other = r#"[{"key":"b","operator":"Equal","value":"x"}]"#;
        check(
            equal,
            other,
            r#"[{"key":"a","operator":"Equal","value":"x"},{"key":"b","operator":"Equal","value":"x"}]"#,
        );
    }

    #[test]
    fn a_wrong_configuration_is_named() {
        let error = TolerationsConfig::parse(&format!("{HEAD}default: [{{operator: Equal}}]\n")).expect_err("no key");
        assert!(error.starts_with("invalid config: [podtolerationrestriction.default[0].operator: "), "{error}");
        let error = TolerationsConfig::parse("apiVersion: v1\nkind: Pod\n").expect_err("another kind");
        assert_eq!(error, "no kind \"Pod\" is registered for version \"v1\"");
    }
}
