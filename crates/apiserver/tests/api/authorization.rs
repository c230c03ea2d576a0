//! Who may do what, where the configuration says who decides: webhooks on loopback, and
//! what a WebSocket into a pod takes.

use crate::loopback::{Loopback, eventually};
use crate::server::{CONFIG_MAPS, PODS, Server, pod};
use ferry_apiserver::Peer;
use ferry_apiserver::authn::UserInfo;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

fn peer(name: &str) -> Peer {
    Peer::InProcess(Arc::new(UserInfo::authenticated(name, &[])))
}

fn configuration(directory: &std::path::Path, policy: &str, conditions: &str) -> String {
    format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n- {{type: Webhook, name: hook.example.org, webhook: {{timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: {policy}, connectionInfo: {{type: KubeConfigFile, kubeConfigFile: {}}}{conditions}}}}}\n- {{type: Node, name: node}}\n- {{type: RBAC, name: rbac}}\n",
        directory.join("hook").display()
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_allows_denies_or_leaves_it_to_others() {
    // The server's own controllers ask too, whenever they have something to do.
    let (counter, asked) = (Arc::new(AtomicUsize::new(0)), |counter: &AtomicUsize| counter.load(Ordering::SeqCst));
    let count = counter.clone();
    let hook = Loopback::start(move |_, review| {
        let user = review["spec"]["user"].as_str();
        if user.is_some_and(|user| !user.starts_with("system:")) {
            count.fetch_add(1, Ordering::SeqCst);
        }
        let status = match user {
            Some("allowed") => json!({"allowed": true, "reason": "because"}),
            Some("denied") => json!({"allowed": false, "denied": true, "reason": "on the list"}),
            Some("broken") => return (400, json!({})),
            _ => json!({"allowed": false, "reason": "unheard of"}),
        };
        (200, json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "status": status}))
    })
    .await;
    let kubeconfig = hook.kubeconfig();
    let temporary = TempDir::new().expect("a directory");
    let directory = temporary.path().to_owned();
    let server = Server::start_with(temporary, |config| {
        std::fs::write(directory.join("hook"), kubeconfig).expect("written");
        std::fs::write(directory.join("authz.yaml"), configuration(&directory, "NoOpinion", "")).expect("written");
        config.authorization_config = Some(directory.join("authz.yaml"));
    })
    .await;
    let file = server.directory.path().join("authz.yaml");
    let list = |name: &'static str| server.ask_as(peer(name), "GET", CONFIG_MAPS, &[], &Value::Null);
    let what = "configmaps is forbidden: User";
    let tail = "cannot list resource \"configmaps\" in API group \"\" in the namespace \"default\"";
    assert_eq!(list("allowed").await.code, 200);
    let denied = list("denied").await;
    assert_eq!((denied.code, denied.message()), (403, format!("{what} \"denied\" {tail}: on the list")));
    assert_eq!(list("other").await.message(), format!("{what} \"other\" {tail}: unheard of"));
    let before = asked(&counter);
    assert!(before >= 3, "{before}");
    assert_eq!(list("allowed").await.code, 200);
    assert_eq!(asked(&counter), before, "answers are kept");
    assert_eq!(server.get(CONFIG_MAPS).await.code, 200, "masters are asked about nowhere");
    assert_eq!(asked(&counter), before);
    // Nobody allowed it and one could not be asked: that is the server's failure.
    assert_eq!(list("broken").await.code, 500);

    let review = json!({"spec": {"user": "denied", "resourceAttributes": {"verb": "get", "resource": "pods"}}});
    let review = server.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", &review).await.ok();
    assert_eq!(review["status"], json!({"allowed": false, "denied": true, "reason": "on the list"}));
    let rules = json!({"spec": {"namespace": "default"}});
    let rules = server.post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", &rules).await.ok();
    assert_eq!(rules["status"]["incomplete"], json!(true));
    assert_eq!(rules["status"]["evaluationError"], "webhook authorizer does not support user rule resolution");

    let conditions =
        ", matchConditionSubjectAccessReviewVersion: v1, matchConditions: [{expression: 'request.user != \"denied\"'}]";
    std::fs::write(&file, configuration(server.directory.path(), "Deny", conditions)).expect("written");
    eventually("the condition holds", || async {
        list("denied").await.message() == format!("{what} \"denied\" {tail}")
    })
    .await;
    let broken = list("broken").await;
    assert_eq!(broken.code, 500, "{}", broken.message());

    // A file without the authorizers that were there at the start is refused.
    std::fs::write(
        &file,
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: [{type: AlwaysAllow, name: alwaysallow}]\n",
    )
    .expect("written");
    let failed = "apiserver_authorization_config_controller_automatic_reloads_total{status=\"failure\"} 1";
    eventually("the loss is noticed", || async {
        String::from_utf8_lossy(&server.get("/metrics").await.bytes).contains(failed)
    })
    .await;
    assert_eq!(list("denied").await.code, 403);
    let metrics = server.get("/metrics").await.bytes;
    let metrics = String::from_utf8_lossy(&metrics);
    for series in [
        "apiserver_authorization_decisions_total{decision=\"allowed\",name=\"hook.example.org\",type=\"Webhook\"} ",
        "apiserver_authorization_webhook_evaluations_total{name=\"hook.example.org\",result=\"success\"} ",
        "apiserver_authorization_match_condition_exclusions_total{name=\"hook.example.org\",type=\"Webhook\"} ",
    ] {
        assert!(metrics.contains(series), "{series}");
    }
}

#[tokio::test]
async fn a_websocket_into_a_pod_takes_the_right_to_create() {
    let server = Server::start().await.with_default_account().await;
    server.post(PODS, &pod("p")).await.ok();
    let role = |verbs: Value| {
        json!({"metadata": {"name": "streams"}, "rules": [
            {"apiGroups": [""], "resources": ["pods/exec", "pods/attach", "pods/portforward"], "verbs": verbs}]})
    };
    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    server.post(&format!("{rbac}/roles"), &role(json!(["get"]))).await.ok();
    let binding = json!({"metadata": {"name": "streams"}, "subjects": [{"kind": "User", "name": "eve", "apiGroup": "rbac.authorization.k8s.io"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "streams"}});
    server.post(&format!("{rbac}/rolebindings"), &binding).await.ok();
    let upgrade = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-key", "x3JJHMbDL1EzLkh9GBhXDw=="),
        ("sec-websocket-version", "13"),
    ];
    for stream in ["exec?command=ls", "attach", "portforward"] {
        let path = format!("{PODS}/p/{stream}");
        let answer = server.ask_as(peer("eve"), "GET", &path, &upgrade, &Value::Null).await;
        assert_eq!((answer.code, answer.message()), (403, "pods \"p\" is forbidden: ".to_owned()), "{stream}");
    }
    server.put(&format!("{rbac}/roles/streams"), &role(json!(["get", "create"]))).await.ok();
    for stream in ["exec?command=ls", "attach", "portforward"] {
        let path = format!("{PODS}/p/{stream}");
        let answer = server.ask_as(peer("eve"), "GET", &path, &upgrade, &Value::Null).await;
        assert_ne!(answer.code, 403, "{stream}: {}", answer.message());
    }
}

#[tokio::test]
async fn a_node_lists_its_own_pods_and_no_others() {
    let server = Server::start().await;
    let node = Peer::InProcess(Arc::new(UserInfo::authenticated("system:node:a", &["system:nodes"])));
    let list = |query: &'static str| server.ask_as(node.clone(), "GET", query, &[], &Value::Null);
    assert_eq!(list("/api/v1/pods?fieldSelector=spec.nodeName%3Da").await.code, 200);
    assert_eq!(list("/api/v1/pods?fieldSelector=spec.nodeName%3Da%2Cstatus.phase%3DRunning").await.code, 200);
    assert_eq!(list("/api/v1/pods?fieldSelector=spec.nodeName%3Db").await.code, 403);
    assert_eq!(list("/api/v1/pods").await.code, 403);
    // The same as a question.
    let review = |fields: Value| {
        let spec = json!({"user": "system:node:a", "groups": ["system:nodes"],
            "resourceAttributes": {"verb": "list", "resource": "pods", "fieldSelector": fields}});
        let server = &server;
        async move { server.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", &json!({"spec": spec})).await }
    };
    let own = json!({"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["a"]}]});
    assert_eq!(review(own).await.ok()["status"]["allowed"], json!(true));
    let refused = review(json!({})).await;
    assert_eq!(
        refused.message(),
        "SubjectAccessReview.authorization.k8s.io \"\" is invalid: spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required"
    );
}

/// On a runtime of one thread, which nothing may hold up while a webhook is waited for.
#[tokio::test]
async fn admission_waits_for_a_webhook_without_holding_up_its_thread() {
    let hook = Loopback::start(|_, review| {
        let asked = &review["spec"]["resourceAttributes"];
        let allowed = asked["resource"] == "clusterrolebindings" || asked["verb"] == "bind";
        let status = json!({"allowed": allowed && review["spec"]["user"] == "binder"});
        (200, json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "status": status}))
    })
    .await;
    let kubeconfig = hook.kubeconfig();
    let temporary = TempDir::new().expect("a directory");
    let directory = temporary.path().to_owned();
    let server = Server::start_with(temporary, |config| {
        std::fs::write(directory.join("hook"), kubeconfig).expect("written");
        std::fs::write(directory.join("authz.yaml"), configuration(&directory, "NoOpinion", "")).expect("written");
        config.authorization_config = Some(directory.join("authz.yaml"));
    })
    .await;
    let bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    let binding = json!({"metadata": {"name": "b"}, "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "x"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}});
    // Only the webhook knows that this user may bind roles.
    let bound = server.ask_as(peer("binder"), "POST", bindings, &[], &binding).await;
    assert_eq!(bound.code, 201, "{}", bound.message());
    assert_eq!(server.ask_as(peer("other"), "POST", bindings, &[], &binding).await.code, 403);
}
