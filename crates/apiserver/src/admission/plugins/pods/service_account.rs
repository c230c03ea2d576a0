//! ServiceAccount: every pod runs as an account that exists, gets its token, the cluster's
//! root certificate and its namespace mounted, and pulls with the account's secrets.

use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::authn::token_request::PROJECTED_SECONDS;
use crate::cache::Stored;
use crate::registry::lookup::{Change, ObjectLookup};
use async_trait::async_trait;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use rand::seq::IndexedRandom;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

const DEFAULT_ACCOUNT: &str = "default";
const MOUNT_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
const VOLUME_PREFIX: &str = "kube-api-access-";
const ENFORCE_SECRETS: &str = "kubernetes.io/enforce-mountable-secrets";
/// How long a pod in a new namespace waits for the controller to make the default account.
const DEFAULT_ACCOUNT_PATIENCE: Duration = Duration::from_millis(1500);
const CONTAINER_LISTS: [(&str, &str); 2] = [("initContainers", "init container"), ("containers", "container")];

pub(crate) struct ServiceAccount {
    lookup: Arc<dyn ObjectLookup>,
    /// Told of every account that is written.
    written: Arc<Notify>,
    patience: Duration,
}

impl ServiceAccount {
    pub(crate) fn new(lookup: Arc<dyn ObjectLookup>) -> Self {
        let written = Arc::new(Notify::new());
        let notify = written.clone();
        let observer = Box::new(move |change: &Change| {
            if matches!(change, Change::Put(_)) {
                notify.notify_waiters();
            }
        });
        lookup.subscribe("", "serviceaccounts", observer);
        Self { lookup, written, patience: DEFAULT_ACCOUNT_PATIENCE }
    }

    async fn account(&self, request: &AdmissionRequest<'_>, name: &str) -> Result<Arc<Stored>, Status> {
        let deadline = Instant::now() + self.patience;
        loop {
            let written = self.written.notified();
            if let Some(stored) = self.lookup.get("", "serviceaccounts", &request.namespace, name) {
                return Ok(stored);
            }
            if name != DEFAULT_ACCOUNT || Instant::now() >= deadline {
                let namespace = &request.namespace;
                return Err(request.forbidden(&format!(
                    "error looking up service account {namespace}/{name}: serviceaccount {name:?} not found"
                )));
            }
            // An account may be told of a moment before it can be looked up, so the wait
            // is short and the look repeated.
            let pause = deadline.min(Instant::now() + Duration::from_millis(50));
            let _ = tokio::time::timeout_at(pause, written).await;
        }
    }
}

#[async_trait]
impl Plugin for ServiceAccount {
    fn name(&self) -> &'static str {
        "ServiceAccount"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        let is_new = request.operation == Operation::Create && request.subresource.is_empty();
        request.is_for("", "pods") && (is_new || brings_ephemeral_containers(request))
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        if brings_ephemeral_containers(request) {
            return Ok(());
        }
        let Some(pod) = request.object.as_deref_mut() else { return Ok(()) };
        if is_mirror(pod) {
            // The kubelet compares its mirror pods with what it made, so they stay as they are.
            return mirror_problem(pod).map_or(Ok(()), |why| Err(request.forbidden(why)));
        }
        let name = account_name(pod);
        let spec = spec_of(pod);
        spec.insert("serviceAccountName".into(), name.clone().into());
        spec.insert("serviceAccount".into(), name.clone().into());
        let account = self.account(request, &name).await?.value();
        let Some(pod) = request.object.as_deref_mut() else { return Ok(()) };
        if wants_token(&account, pod) {
            mount_token(pod);
        }
        if pod.items_at(&["spec", "imagePullSecrets"]).is_empty() {
            let secrets: Vec<Value> =
                account.items_at(&["imagePullSecrets"]).iter().map(|s| json!({"name": s.str_at(&["name"])})).collect();
            if !secrets.is_empty() {
                spec_of(pod).insert("imagePullSecrets".into(), secrets.into());
            }
        }
        Ok(())
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(pod) = request.object.as_deref() else { return Ok(()) };
        let is_new = !brings_ephemeral_containers(request);
        if is_mirror(pod) && is_new {
            return mirror_problem(pod).map_or(Ok(()), |why| Err(request.forbidden(why)));
        }
        let name = pod.str_at(&["spec", "serviceAccountName"]);
        if name.is_empty() {
            let why = format!("no service account specified for pod {}/{}", request.namespace, pod.name());
            return Err(request.forbidden(&why));
        }
        let account = self.account(request, name).await?;
        if !account.mentions(ENFORCE_SECRETS) {
            return Ok(());
        }
        let account = account.value();
        let enforced = account.annotation(ENFORCE_SECRETS);
        if matches!(enforced, Some("1" | "t" | "T" | "true" | "TRUE" | "True"))
            && let Some(why) = if is_new { secret_problem(&account, pod) } else { ephemeral_problem(&account, pod) }
        {
            return Err(request.forbidden(&why));
        }
        Ok(())
    }
}

/// Containers that join a running pod come through a door of their own, and may name
/// secrets as others do.
fn brings_ephemeral_containers(request: &AdmissionRequest<'_>) -> bool {
    request.operation == Operation::Update && request.subresource == "ephemeralcontainers"
}

fn spec_of(pod: &mut Value) -> &mut serde_json::Map<String, Value> {
    ensure_object(ensure_object(pod).entry("spec").or_insert(Value::Null))
}

fn is_mirror(pod: &Value) -> bool {
    pod.annotation("kubernetes.io/config.mirror").is_some()
}

/// The account that the pod names, under the new name of the field or the old one.
fn account_name(pod: &Value) -> String {
    [pod.str_at(&["spec", "serviceAccountName"]), pod.str_at(&["spec", "serviceAccount"]), DEFAULT_ACCOUNT]
        .into_iter()
        .find(|name| !name.is_empty())
        .unwrap_or(DEFAULT_ACCOUNT)
        .to_owned()
}

/// The pod's word counts before the account's; silence means yes.
fn wants_token(account: &Value, pod: &Value) -> bool {
    pod.bool_at(&["spec", "automountServiceAccountToken"])
        .or_else(|| account.bool_at(&["automountServiceAccountToken"]))
        .unwrap_or(true)
}

fn mirror_problem(pod: &Value) -> Option<&'static str> {
    if !pod.str_at(&["spec", "serviceAccountName"]).is_empty() {
        return Some("a mirror pod may not reference service accounts");
    }
    if !secret_names(pod).is_empty() {
        return Some("a mirror pod may not reference secrets");
    }
    let sources =
        pod.items_at(&["spec", "volumes"]).iter().flat_map(|volume| volume.items_at(&["projected", "sources"]));
    let mut tokens = sources.filter(|source| source.get("serviceAccountToken").is_some_and(Value::is_object));
    tokens.next().map(|_| "a mirror pod may not use ServiceAccountToken volume projections")
}

/// Every secret that a pod names.
pub(crate) fn secret_names(pod: &Value) -> Vec<&str> {
    let mut out: Vec<&str> = pod.items_at(&["spec", "imagePullSecrets"]).iter().map(|s| s.str_at(&["name"])).collect();
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        for container in pod.items_at(&["spec", list]) {
            out.extend(container.items_at(&["env"]).iter().map(|e| e.str_at(&["valueFrom", "secretKeyRef", "name"])));
            out.extend(container.items_at(&["envFrom"]).iter().map(|e| e.str_at(&["secretRef", "name"])));
        }
    }
    for volume in pod.items_at(&["spec", "volumes"]) {
        out.push(volume.str_at(&["secret", "secretName"]));
        out.extend(volume.items_at(&["projected", "sources"]).iter().map(|s| s.str_at(&["secret", "name"])));
    }
    out.retain(|name| !name.is_empty());
    out
}

/// What a pod takes although its account, which is set to enforce that, does not list it.
fn secret_problem(account: &Value, pod: &Value) -> Option<String> {
    let lists = |key: &str, name: &str| account.items_at(&[key]).iter().any(|item| item.str_at(&["name"]) == name);
    let refused = |name: &str| !name.is_empty() && !lists("secrets", name);
    let owner = account.name();
    let tail = format!("is not allowed because service account {owner} does not reference that secret");
    for volume in pod.items_at(&["spec", "volumes"]) {
        let name = volume.str_at(&["secret", "secretName"]);
        if refused(name) {
            return Some(format!("volume with secret.secretName=\"{name}\" {tail}"));
        }
    }
    for (list, what) in CONTAINER_LISTS {
        if let Some(why) = container_problem(account, pod.items_at(&["spec", list]), what) {
            return Some(why);
        }
    }
    let pulls = pod.items_at(&["spec", "imagePullSecrets"]).iter().enumerate();
    for (index, secret) in pulls {
        let name = secret.str_at(&["name"]);
        if !lists("imagePullSecrets", name) {
            return Some(format!(
                "imagePullSecrets[{index}].name=\"{name}\" is not allowed because service account {owner} does not reference that imagePullSecret"
            ));
        }
    }
    None
}

/// The same for containers that join a running pod.
fn ephemeral_problem(account: &Value, pod: &Value) -> Option<String> {
    container_problem(account, pod.items_at(&["spec", "ephemeralContainers"]), "ephemeral container")
}

fn container_problem(account: &Value, containers: &[Value], what: &str) -> Option<String> {
    let listed = |name: &str| account.items_at(&["secrets"]).iter().any(|item| item.str_at(&["name"]) == name);
    let refused = |name: &str| !name.is_empty() && !listed(name);
    let tail = format!("is not allowed because service account {} does not reference that secret", account.name());
    for container in containers {
        for variable in container.items_at(&["env"]) {
            let name = variable.str_at(&["valueFrom", "secretKeyRef", "name"]);
            if refused(name) {
                let (container, variable) = (container.str_at(&["name"]), variable.str_at(&["name"]));
                return Some(format!(
                    "{what} {container} with envVar {variable} referencing secret.secretName=\"{name}\" {tail}"
                ));
            }
        }
        for source in container.items_at(&["envFrom"]) {
            let name = source.str_at(&["secretRef", "name"]);
            if refused(name) {
                let container = container.str_at(&["name"]);
                return Some(format!(
                    "{what} {container} with envFrom referencing secret.secretName=\"{name}\" {tail}"
                ));
            }
        }
    }
    None
}

/// Mounts the token into every container that has nothing at that path yet.
fn mount_token(pod: &mut Value) {
    let named = |volume: &Value| volume.str_at(&["name"]).to_owned();
    let existing = pod.items_at(&["spec", "volumes"]).iter().map(named).find(|name| name.starts_with(VOLUME_PREFIX));
    let volume = existing.clone().unwrap_or_else(generate_volume_name);
    let mount = json!({"name": volume, "readOnly": true, "mountPath": MOUNT_PATH});
    let mut needed = false;
    for (list, _) in CONTAINER_LISTS {
        let Some(Value::Array(containers)) = spec_of(pod).get_mut(list) else { continue };
        for container in containers {
            let mounted = container.items_at(&["volumeMounts"]).iter().any(|m| m.str_at(&["mountPath"]) == MOUNT_PATH);
            if !mounted {
                append(container, "volumeMounts", mount.clone());
                needed = true;
            }
        }
    }
    if needed && existing.is_none() {
        let source = json!({
            "name": volume,
            "projected": {
                "sources": [
                    {"serviceAccountToken": {"expirationSeconds": PROJECTED_SECONDS, "path": "token"}},
                    {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                    {"downwardAPI": {"items": [
                        {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
                    ]}},
                ],
                "defaultMode": 0o644,
            },
        });
        let spec = ensure_object(pod).entry("spec").or_insert(Value::Null);
        append(spec, "volumes", source);
    }
}

fn append(object: &mut Value, key: &str, item: Value) {
    let slot = ensure_object(object).entry(key).or_insert(Value::Null);
    match slot {
        Value::Array(items) => items.push(item),
        other => *other = Value::Array(vec![item]),
    }
}

/// `kube-api-access-` and five characters that spell no word, as generated names have.
fn generate_volume_name() -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut random = rand::rng();
    let suffix = (0..5).filter_map(|_| ALPHABET.choose(&mut random).map(|&byte| char::from(byte)));
    VOLUME_PREFIX.chars().chain(suffix).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, pods};
    use crate::authn::testing::Objects;

    fn account(name: &str, more: Value) -> Value {
        let mut account = json!({"kind": "ServiceAccount", "metadata": {"name": name, "namespace": "ns"}});
        if let (Value::Object(account), Value::Object(more)) = (&mut account, more) {
            account.extend(more);
        }
        account
    }

    fn pod(spec: Value) -> Value {
        json!({"metadata": {"name": "p", "namespace": "ns"}, "spec": spec})
    }

    #[tokio::test]
    async fn a_plain_pod_gets_account_token_and_pull_secrets() {
        let plugin =
            ServiceAccount::new(Objects::of(&[account("default", json!({"imagePullSecrets": [{"name": "reg"}]}))]));
        let spec = json!({"containers": [{"name": "c"}, {"name": "d", "volumeMounts": [{"name": "own", "mountPath": MOUNT_PATH}]}],
                          "initContainers": [{"name": "i", "volumeMounts": [{"name": "x", "mountPath": "/x"}]}]});
        let pod = Case::create(pods(), pod(spec)).run(&plugin).await.expect("admitted");
        let spec = &pod["spec"];
        assert_eq!((&spec["serviceAccountName"], &spec["serviceAccount"]), (&json!("default"), &json!("default")));
        assert_eq!(spec["imagePullSecrets"], json!([{"name": "reg"}]));
        let volume = spec["volumes"][0]["name"].as_str().expect("a volume").to_owned();
        assert!(volume.starts_with("kube-api-access-") && volume.len() == "kube-api-access-".len() + 5, "{volume}");
        let mount = json!({"name": volume, "readOnly": true, "mountPath": MOUNT_PATH});
        assert_eq!(spec["containers"][0]["volumeMounts"], json!([mount]));
        assert_eq!(spec["containers"][1]["volumeMounts"][0]["name"], "own");
        assert_eq!(spec["initContainers"][0]["volumeMounts"][1], mount);
        assert_eq!(
            spec["volumes"][0]["projected"],
            json!({"defaultMode": 420, "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}}]})
        );
        let again = Case::create(pods(), pod.clone()).run(&plugin).await.expect("admitted");
        assert_eq!(again, pod, "a second time changes nothing");
    }

    #[tokio::test]
    async fn ephemeral_containers_take_only_what_the_account_lists() {
        let strict = json!({"secrets": [{"name": "good"}]});
        let mut account = account("strict", strict);
        account["metadata"]["annotations"] = json!({ENFORCE_SECRETS: "true"});
        let plugin = ServiceAccount::new(Objects::of(&[account]));
        let run = async |container: Value| {
            let old = pod(json!({"serviceAccountName": "strict"}));
            let new = pod(json!({"serviceAccountName": "strict", "ephemeralContainers": [container]}));
            let mut case = Case::create(pods(), new);
            (case.operation, case.subresource, case.old) = (Operation::Update, "ephemeralcontainers", Some(old));
            case.run(&plugin).await.err().map(|status| status.message)
        };
        assert_eq!(run(json!({"name": "e", "envFrom": [{"secretRef": {"name": "good"}}]})).await, None);
        assert_eq!(
            run(json!({"name": "e", "envFrom": [{"secretRef": {"name": "bad"}}]})).await.expect("refused"),
            "pods \"p\" is forbidden: ephemeral container e with envFrom referencing secret.secretName=\"bad\" is not allowed because service account strict does not reference that secret"
        );
        assert!(
            run(json!({"name": "e", "env": [{"name": "V", "valueFrom": {"secretKeyRef": {"name": "bad"}}}]}))
                .await
                .is_some()
        );
    }

    #[tokio::test]
    async fn the_token_can_be_declined_by_pod_or_account() {
        let plugin =
            ServiceAccount::new(Objects::of(&[account("quiet", json!({"automountServiceAccountToken": false}))]));
        for (automount, volumes) in [(None, 0), (Some(true), 1), (Some(false), 0)] {
            let mut spec = json!({"serviceAccountName": "quiet", "containers": [{"name": "c"}]});
            if let Some(automount) = automount {
                spec["automountServiceAccountToken"] = automount.into();
            }
            let pod = Case::create(pods(), pod(spec)).run(&plugin).await.expect("admitted");
            assert_eq!(pod.items_at(&["spec", "volumes"]).len(), volumes, "{automount:?}");
        }
    }

    #[tokio::test]
    async fn a_missing_account_is_named_and_the_default_one_is_waited_for() {
        let objects = Objects::of(&[]);
        let mut plugin = ServiceAccount::new(objects.clone());
        plugin.patience = Duration::from_millis(1);
        let missing = Case::create(pods(), pod(json!({"serviceAccountName": "web"}))).run(&plugin).await;
        assert_eq!(
            missing.expect_err("absent").message,
            "pods \"p\" is forbidden: error looking up service account ns/web: serviceaccount \"web\" not found"
        );
        let missing = Case::create(pods(), pod(json!({}))).run(&plugin).await.expect_err("never made");
        assert!(missing.message.ends_with("service account ns/default: serviceaccount \"default\" not found"));
        plugin.patience = Duration::from_secs(60);
        let waiting = tokio::spawn(async move { Case::create(pods(), pod(json!({}))).run(&plugin).await });
        tokio::task::yield_now().await;
        objects.put(account("default", json!({})));
        assert!(waiting.await.expect("joined").is_ok());
    }

    #[tokio::test]
    async fn mirror_pods_and_enforced_secrets_are_held_to_their_rules() {
        let enforcing = account("strict", json!({"secrets": [{"name": "mine"}]}));
        let mut enforcing = enforcing;
        enforcing.set_meta("annotations", json!({ENFORCE_SECRETS: "true"}));
        let plugin = ServiceAccount::new(Objects::of(&[enforcing]));
        let mirror = |spec: Value| {
            let mut pod = pod(spec);
            pod.set_meta("annotations", json!({"kubernetes.io/config.mirror": "x"}));
            pod
        };
        let cases = [
            (mirror(json!({"containers": [{}]})), None),
            (mirror(json!({"serviceAccountName": "a"})), Some("a mirror pod may not reference service accounts")),
            (
                mirror(json!({"volumes": [{"secret": {"secretName": "s"}}]})),
                Some("a mirror pod may not reference secrets"),
            ),
            (
                mirror(json!({"volumes": [{"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]})),
                Some("a mirror pod may not use ServiceAccountToken volume projections"),
            ),
            (pod(json!({"serviceAccountName": "strict", "volumes": [{"secret": {"secretName": "mine"}}]})), None),
            (
                pod(json!({"serviceAccountName": "strict", "volumes": [{"secret": {"secretName": "theirs"}}]})),
                Some(
                    "volume with secret.secretName=\"theirs\" is not allowed because service account strict does not reference that secret",
                ),
            ),
            (
                pod(json!({"serviceAccountName": "strict", "imagePullSecrets": [{"name": "r"}]})),
                Some(
                    "imagePullSecrets[0].name=\"r\" is not allowed because service account strict does not reference that imagePullSecret",
                ),
            ),
        ];
        for (pod, why) in cases {
            let outcome = Case::create(pods(), pod).run(&plugin).await.err().map(|status| status.message);
            assert_eq!(outcome, why.map(|why| format!("pods \"p\" is forbidden: {why}")));
        }
    }
}
