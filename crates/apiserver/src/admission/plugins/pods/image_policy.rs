//! ImagePolicyWebhook: another server decides which images pods may be made of. It is
//! asked with an ImageReview about every container of a pod, init and ephemeral ones too,
//! and its answers are kept for a while. Off unless asked for.

use crate::admission::{AdmissionRequest, Operation, Plugin, Wiring};
use crate::retry::with_backoff_from;
use crate::webhook::{DEFAULT_TIMEOUT, Hook, Kubeconfig};
use async_trait::async_trait;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};

/// How many answers are kept.
const REMEMBERED: usize = 1024;

const AUDIT_PREFIX: &str = "imagepolicywebhook.image-policy.k8s.io/";

/// Whom to ask, and what to do with the answer or without one.
#[derive(Clone)]
pub struct ImagePolicyConfig {
    hook: Hook,
    allow_ttl: Duration,
    deny_ttl: Duration,
    retry_backoff: Duration,
    default_allow: bool,
}

impl std::fmt::Debug for ImagePolicyConfig {
    /// The hook holds credentials.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImagePolicyConfig").field("url", &self.hook.url()).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(default)]
    image_policy: Section,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Section {
    kube_config_file: String,
    /// Seconds.
    #[serde(rename = "allowTTL")]
    allow_ttl: i64,
    #[serde(rename = "denyTTL")]
    deny_ttl: i64,
    /// Milliseconds.
    retry_backoff: i64,
    default_allow: bool,
}

impl ImagePolicyConfig {
    /// Reads a configuration in YAML or JSON, and the kubeconfig that it names from
    /// `directory`.
    pub fn parse(text: &str, directory: &Path) -> Result<Self, String> {
        let file: File = serde_yaml_ng::from_str(text).map_err(|error| error.to_string())?;
        let section = file.image_policy;
        let (minutes, seconds) = (|n: u64| Duration::from_secs(60 * n), Duration::from_secs);
        let retry_backoff = duration(
            section.retry_backoff,
            Duration::from_millis,
            [Duration::from_nanos(1), minutes(5)],
            Duration::from_millis(500),
        )?;
        let ttl_range = [seconds(1), minutes(30)];
        let allow_ttl = duration(section.allow_ttl, seconds, ttl_range, minutes(5))?;
        let deny_ttl = duration(section.deny_ttl, seconds, ttl_range, seconds(30))?;
        let path = directory.join(&section.kube_config_file);
        let hook = Kubeconfig::read(&path).and_then(|kubeconfig| Hook::from_kubeconfig(&kubeconfig));
        let hook = hook.map_err(|error| format!("imagePolicy.kubeConfigFile: {error}"))?;
        Ok(Self { hook, allow_ttl, deny_ttl, retry_backoff, default_allow: section.default_allow })
    }
}

/// `-1` is none at all and `0` the default, as upstream has it.
fn duration(
    value: i64,
    unit: impl Fn(u64) -> Duration,
    [least, most]: [Duration; 2],
    default: Duration,
) -> Result<Duration, String> {
    match value {
        -1 => Ok(Duration::ZERO),
        0 => Ok(default),
        value => match u64::try_from(value).map(unit) {
            Ok(given) if (least..=most).contains(&given) => Ok(given),
            _ => Err(format!("imagePolicy: valid value is between {least:?} and {most:?}, got {value}")),
        },
    }
}

pub(crate) struct ImagePolicyWebhook {
    /// Always there where the plugin is on.
    config: Option<ImagePolicyConfig>,
    /// Answers by the question, until when.
    remembered: Mutex<HashMap<String, (Verdict, Instant)>>,
}

/// The status of an ImageReview.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Verdict {
    allowed: bool,
    reason: String,
    audit_annotations: BTreeMap<String, String>,
}

impl ImagePolicyWebhook {
    pub(crate) fn new(wiring: &Wiring) -> Self {
        Self { config: wiring.config.image_policy.clone(), remembered: Mutex::default() }
    }
}

#[async_trait]
impl Plugin for ImagePolicyWebhook {
    fn name(&self) -> &'static str {
        "ImagePolicyWebhook"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        matches!(request.operation, Operation::Create | Operation::Update)
            && request.is_for("", "pods")
            && matches!(request.subresource.as_str(), "" | "ephemeralcontainers")
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let (Some(config), Some(pod)) = (&self.config, request.object.as_deref()) else { return Ok(()) };
        let spec = render_spec(pod, &request.subresource, &request.namespace);
        let verdict = match self.known(&spec) {
            Some(verdict) => verdict,
            None => match ask(config, &spec).await {
                Ok(verdict) => {
                    self.remember(config, &spec, &verdict);
                    verdict
                }
                Err(why) if config.default_allow => {
                    tracing::warn!(why, "the image policy webhook failed and the pod is let in");
                    request.notes.add(format!("{AUDIT_PREFIX}failed-open"), "true");
                    return Ok(());
                }
                Err(why) => return Err(request.forbidden(&why)),
            },
        };
        for (key, value) in &verdict.audit_annotations {
            request.notes.add(format!("{AUDIT_PREFIX}{key}"), value.as_str());
        }
        match (verdict.allowed, verdict.reason.as_str()) {
            (true, _) => Ok(()),
            (false, "") => Err(request.forbidden("one or more images rejected by webhook backend")),
            (false, reason) => {
                let why = format!("image policy webhook backend denied one or more images: {reason}");
                Err(request.forbidden(&why))
            }
        }
    }
}

impl ImagePolicyWebhook {
    fn known(&self, spec: &Value) -> Option<Verdict> {
        let remembered = self.remembered.lock();
        let (verdict, until) = remembered.get(&spec.to_string())?;
        (Instant::now() < *until).then(|| verdict.clone())
    }

    fn remember(&self, config: &ImagePolicyConfig, spec: &Value, verdict: &Verdict) {
        let ttl = if verdict.allowed { config.allow_ttl } else { config.deny_ttl };
        if ttl.is_zero() {
            return;
        }
        let mut remembered = self.remembered.lock();
        if remembered.len() >= REMEMBERED {
            let now = Instant::now();
            remembered.retain(|_, (_, until)| now < *until);
            if remembered.len() >= REMEMBERED {
                remembered.clear();
            }
        }
        remembered.insert(spec.to_string(), (verdict.clone(), Instant::now() + ttl));
    }
}

async fn ask(config: &ImagePolicyConfig, spec: &Value) -> Result<Verdict, String> {
    let question = json!({
        "apiVersion": "imagepolicy.k8s.io/v1alpha1", "kind": "ImageReview", "metadata": {}, "spec": spec,
        "status": {"allowed": false},
    });
    let answer = with_backoff_from(config.retry_backoff, || config.hook.post(&question, DEFAULT_TIMEOUT)).await;
    let answer = answer.map_err(|error| error.to_string())?;
    match answer.get("status") {
        None => Ok(Verdict::default()),
        Some(status) => Verdict::deserialize(status).map_err(|error| format!("the answer is no ImageReview: {error}")),
    }
}

/// The question: what the pod is made of, what it says to whoever judges images, and where
/// it would run.
fn render_spec(pod: &Value, subresource: &str, namespace: &str) -> Value {
    let lists: &[&str] =
        if subresource.is_empty() { &["containers", "initContainers"] } else { &["ephemeralContainers"] };
    let containers = lists.iter().flat_map(|list| pod.items_at(&["spec", list]));
    let containers: Vec<Value> = containers
        .map(|container| match container.str_at(&["image"]) {
            "" => json!({}),
            image => json!({"image": image}),
        })
        .collect();
    let annotations = pod.meta("annotations").and_then(Value::as_object);
    let annotations: Map<String, Value> = annotations
        .into_iter()
        .flatten()
        .filter(|(key, _)| key.contains(".image-policy.k8s.io/"))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let mut spec = json!({});
    if !containers.is_empty() {
        spec["containers"] = containers.into();
    }
    if !annotations.is_empty() {
        spec["annotations"] = annotations.into();
    }
    if !namespace.is_empty() {
        spec["namespace"] = namespace.into();
    }
    spec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_names_every_image() {
        let pod = json!({
            "metadata": {"annotations": {"mycluster.image-policy.k8s.io/ticket": "broke-glass", "other": "x"}},
            "spec": {"containers": [{"image": "a"}], "initContainers": [{"image": "b"}], "ephemeralContainers": [{"image": "c"}]}});
        assert_eq!(
            render_spec(&pod, "", "ns"),
            json!({"containers": [{"image": "a"}, {"image": "b"}], "namespace": "ns",
                "annotations": {"mycluster.image-policy.k8s.io/ticket": "broke-glass"}})
        );
        assert_eq!(render_spec(&pod, "ephemeralcontainers", "")["containers"], json!([{"image": "c"}]));
    }

    #[test]
    fn times_have_their_range_and_defaults() {
        let ttl = |value| {
            duration(
                value,
                Duration::from_secs,
                [Duration::from_secs(1), Duration::from_secs(1800)],
                Duration::from_secs(30),
            )
        };
        assert_eq!(
            (ttl(0), ttl(-1), ttl(7)),
            (Ok(Duration::from_secs(30)), Ok(Duration::ZERO), Ok(Duration::from_secs(7)))
        );
        assert!(ttl(1801).is_err() && ttl(-2).is_err());
    }

    #[test]
    fn a_configuration_names_a_kubeconfig_that_is_there() {
        let directory = tempfile::tempdir().expect("a directory");
        let text = "imagePolicy: {kubeConfigFile: hook.yaml, allowTTL: 50, denyTTL: -1, retryBackoff: 100, defaultAllow: true}\n";
        let missing = ImagePolicyConfig::parse(text, directory.path()).expect_err("no such file");
        assert!(missing.starts_with("imagePolicy.kubeConfigFile: cannot read "), "{missing}");
        let kubeconfig = "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1/images'}}]\n\
                          contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n";
        std::fs::write(directory.path().join("hook.yaml"), kubeconfig).expect("written");
        let config = ImagePolicyConfig::parse(text, directory.path()).expect("valid");
        assert_eq!((config.allow_ttl, config.deny_ttl), (Duration::from_secs(50), Duration::ZERO));
        assert!(config.default_allow && config.retry_backoff == Duration::from_millis(100));
        assert!(format!("{config:?}").contains("http://127.0.0.1:1/images"));
    }
}
