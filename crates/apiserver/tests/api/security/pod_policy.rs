//! A policy on what pods run and read holds for all of their containers: init containers,
//! ephemeral ones that join later by a door of their own, and `envFrom` beside `env`. Each
//! of these has been overlooked once (CVE-2023-2727 for images, CVE-2023-2728 and
//! CVE-2024-3177 for secrets).

use super::Verdict;
use crate::hook_server::{HookServer, allow, deny};
use crate::loopback::Loopback;
use crate::plugins::{HEAD, with_plugins};
use crate::server::{PODS, Server};
use crate::webhooks::{VALIDATING, configure, hook, rule};
use serde_json::{Value, json};
use tempfile::TempDir;

async fn server(enable: &[&str], disable: &[&str]) -> Server {
    let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
    let (enable, disable) = (names(enable), names(disable));
    let server = Server::start_with(TempDir::new().expect("a directory"), |config| {
        config.admission.enable = enable;
        config.admission.disable = disable;
    })
    .await;
    with_account(server).await
}

/// An account whose pods may read one secret and no other.
async fn with_account(server: Server) -> Server {
    let annotations = json!({"kubernetes.io/enforce-mountable-secrets": "true"});
    let account = json!({"metadata": {"name": "tight", "annotations": annotations}, "secrets": [{"name": "listed"}]});
    server.post("/api/v1/namespaces/default/serviceaccounts", &account).await.ok();
    server
}

fn pod(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"serviceAccountName": "tight", "automountServiceAccountToken": false,
        "containers": [{"name": "main", "image": "web:1"}]}})
}

fn container(more: Value) -> Value {
    let mut container = json!({"name": "other", "image": "web:1", "terminationMessagePolicy": "File"});
    if let (Value::Object(container), Value::Object(more)) = (&mut container, more) {
        container.extend(more);
    }
    container
}

/// Runs a container in each of the places where a pod can have one; the pod as it is then,
/// or `None` if it was refused.
async fn run(server: &Server, place: &str, more: &Value) -> Option<Value> {
    let name = format!("p{}", server.get(PODS).await.ok()["items"].as_array().map_or(0, Vec::len));
    let mut object = pod(&name);
    let container = container(more.clone());
    if place == "ephemeralContainers" {
        server.post(PODS, &object).await.ok();
        let body = json!({"spec": {"ephemeralContainers": [container]}});
        let path = format!("{PODS}/{name}/ephemeralcontainers");
        let answer = server.patch("application/strategic-merge-patch+json", &path, &body).await;
        return (answer.code < 300).then(|| answer.json());
    }
    match &mut object["spec"][place] {
        Value::Array(containers) => containers.push(container),
        none => *none = json!([container]),
    }
    let answer = server.post(PODS, &object).await;
    (answer.code < 300).then(|| answer.json())
}

const PLACES: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Reads a secret that the account does not list, in every way there is.
async fn attack_secrets(server: &Server, verdict: &mut Verdict) {
    let env = |name: &str| json!({"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": name, "key": "k"}}}]});
    let env_from = |name: &str| json!({"envFrom": [{"secretRef": {"name": name}}]});
    for place in PLACES {
        for (way, more) in [("env", env("unlisted")), ("envFrom", env_from("unlisted"))] {
            verdict.tried(format!("{way} of {place}"), run(server, place, &more).await.is_some());
        }
    }
    let mut volume = pod("volume");
    volume["spec"]["volumes"] = json!([{"name": "v", "secret": {"secretName": "unlisted"}}]);
    verdict.tried("volume", server.post(PODS, &volume).await.code < 300);
    let mut pull = pod("pull");
    pull["spec"]["imagePullSecrets"] = json!([{"name": "unlisted"}]);
    verdict.tried("imagePullSecrets", server.post(PODS, &pull).await.code < 300);
    for place in PLACES {
        for more in [env("listed"), env_from("listed")] {
            assert!(run(server, place, &more).await.is_some(), "{place} may read what is listed");
        }
    }
}

#[tokio::test]
async fn ferry_keeps_secrets_from_every_container() {
    let mut verdict = Verdict::default();
    attack_secrets(&server(&[], &[]).await, &mut verdict).await;
    verdict.assert_held();
}

#[tokio::test]
async fn a_server_without_the_plugin_for_secrets_is_found_out() {
    let mut verdict = Verdict::default();
    attack_secrets(&server(&[], &["ServiceAccount"]).await, &mut verdict).await;
    verdict.assert_breached();
}

/// Runs an image that may lie on the node, without the right to pull it.
async fn attack_pull_policy(server: &Server, verdict: &mut Verdict) {
    for place in PLACES {
        for policy in ["Never", "IfNotPresent"] {
            let pod = run(server, place, &json!({"image": "other:1", "imagePullPolicy": policy}))
                .await
                .expect("admitted, but changed");
            let containers = pod["spec"][place].as_array().expect("containers");
            let policies: Vec<&Value> = containers.iter().map(|container| &container["imagePullPolicy"]).collect();
            verdict.tried(format!("{policy} of {place}"), policies.iter().any(|policy| *policy != "Always"));
        }
    }
}

#[tokio::test]
async fn ferry_pulls_for_every_container() {
    let mut verdict = Verdict::default();
    attack_pull_policy(&server(&["AlwaysPullImages"], &[]).await, &mut verdict).await;
    verdict.assert_held();
}

#[tokio::test]
async fn a_server_without_the_plugin_for_images_is_found_out() {
    let mut verdict = Verdict::default();
    attack_pull_policy(&server(&[], &["AlwaysPullImages"]).await, &mut verdict).await;
    verdict.assert_breached();
}

/// Runs an image that the cluster's own policy forbids.
async fn attack_image_policy(server: &Server, places: &[&str], verdict: &mut Verdict) {
    for place in places {
        let got_through = run(server, place, &json!({"image": "evil:1"})).await.is_some();
        verdict.tried(format!("an image of {place}"), got_through);
    }
}

/// Asks a server of somebody else's about images, where the plugin for that is on.
async fn with_image_reviews(enable: &[&str]) -> Server {
    let policy = Loopback::start(|_, review| {
        let containers = review["spec"]["containers"].as_array().cloned().unwrap_or_default();
        let allowed = !containers.iter().any(|container| container["image"] == "evil:1");
        (
            200,
            json!({"apiVersion": "imagepolicy.k8s.io/v1alpha1", "kind": "ImageReview", "status": {"allowed": allowed}}),
        )
    })
    .await;
    let configuration = format!(
        "{HEAD}- name: ImagePolicyWebhook\n  configuration: {{imagePolicy: {{kubeConfigFile: hook.yaml, retryBackoff: 1}}}}\n"
    );
    let kubeconfig = policy.kubeconfig();
    let files = [("admission.yaml", configuration.as_str()), ("hook.yaml", kubeconfig.as_str())];
    with_account(with_plugins(enable, &files).await).await
}

#[tokio::test]
async fn ferry_has_the_images_of_every_container_reviewed() {
    let mut verdict = Verdict::default();
    attack_image_policy(&with_image_reviews(&["ImagePolicyWebhook"]).await, &PLACES, &mut verdict).await;
    verdict.assert_held();
}

#[tokio::test]
async fn a_server_without_the_plugin_for_reviews_is_found_out() {
    let mut verdict = Verdict::default();
    attack_image_policy(&with_image_reviews(&[]).await, &PLACES, &mut verdict).await;
    verdict.assert_breached();
}

/// A server whose images are judged by a webhook, which is asked for these resources and
/// looks at these containers.
async fn with_image_policy(resources: &[&str], places: &'static [&'static str]) -> Server {
    let server = server(&[], &[]).await;
    let hooks = HookServer::reviewing(move |review| {
        let spec = &review["request"]["object"]["spec"];
        let images = places.iter().flat_map(|place| spec[place].as_array().into_iter().flatten());
        match images.map(|container| &container["image"]).any(|image| image == "evil:1") {
            true => deny(review, json!({"message": "not this image"})),
            false => allow(review),
        }
    })
    .await;
    configure(&server, VALIDATING, "images", &[hook(&hooks, "images", rule(&["CREATE", "UPDATE"], resources))]).await;
    server
}

#[tokio::test]
async fn ferry_shows_policies_every_container() {
    let server = with_image_policy(&["pods", "pods/ephemeralcontainers"], &PLACES).await;
    let mut verdict = Verdict::default();
    attack_image_policy(&server, &PLACES, &mut verdict).await;
    verdict.assert_held();
}

#[tokio::test]
async fn a_policy_that_overlooks_containers_is_found_out() {
    let mut verdict = Verdict::default();
    let server = with_image_policy(&["pods", "pods/ephemeralcontainers"], &["containers"]).await;
    attack_image_policy(&server, &["initContainers", "ephemeralContainers"], &mut verdict).await;
    let server = with_image_policy(&["pods"], &PLACES).await;
    attack_image_policy(&server, &["ephemeralContainers"], &mut verdict).await;
    verdict.assert_breached();
}
