//! /metrics as a Prometheus reads it: upstream's names and labels, driven by requests.

use crate::server::{CONFIG_MAPS, PODS, Server, config_map, pod};
use ferry_apiserver::Peer;
use ferry_apiserver::authn::UserInfo;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

async fn figures(server: &Server) -> String {
    let answer = server.get("/metrics").await;
    assert_eq!(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    String::from_utf8(answer.bytes.to_vec()).expect("text")
}

/// The value of one series, by its whole name.
fn value(text: &str, series: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
}

#[track_caller]
fn check(text: &str, series: &str, expected: f64) {
    let name = series.split('{').next().unwrap_or_default();
    let near: Vec<&str> = text.lines().filter(|line| line.starts_with(name)).collect();
    assert_eq!(value(text, series), Some(expected), "{series}\n{near:#?}");
}

fn of_config_maps(verb: &str, scope: &str) -> String {
    format!(
        "component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"configmaps\",scope=\"{scope}\",subresource=\"\",verb=\"{verb}\",version=\"v1\""
    )
}

#[tokio::test]
async fn requests_are_counted_by_what_they_ask() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    server.post(&format!("{CONFIG_MAPS}?dryRun=All"), &config_map("b")).await.ok();
    server.get(&format!("{CONFIG_MAPS}/a")).await.ok();
    assert_eq!(server.get(&format!("{CONFIG_MAPS}/none")).await.code, 404);
    let listed = server.get(CONFIG_MAPS).await;
    let apply = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    server.patch("application/apply-patch+yaml", &format!("{CONFIG_MAPS}/a?fieldManager=x"), &apply).await.ok();
    server.delete(CONFIG_MAPS).await.ok();
    // What is refused before it is known what it asks is not counted, nor what is not served.
    let bob = Peer::InProcess(Arc::new(UserInfo::authenticated("bob", &[])));
    assert_eq!(server.ask_as(bob, "GET", CONFIG_MAPS, &[], &Value::Null).await.code, 403);
    assert_eq!(server.get("/api/v1/madeup").await.code, 404);

    let text = figures(&server).await;
    let total = |code: u16, labels: &str| format!("apiserver_request_total{{code=\"{code}\",{labels}}}");
    check(&text, &total(201, &of_config_maps("POST", "resource")), 1.0);
    let dry = of_config_maps("POST", "resource").replace("dry_run=\"\"", "dry_run=\"All\"");
    check(&text, &total(201, &dry), 1.0);
    check(&text, &total(200, &of_config_maps("GET", "resource")), 1.0);
    check(&text, &total(404, &of_config_maps("GET", "resource")), 1.0);
    check(&text, &total(200, &of_config_maps("LIST", "namespace")), 1.0);
    check(&text, &total(200, &of_config_maps("APPLY", "resource")), 1.0);
    check(&text, &total(200, &of_config_maps("DELETE", "namespace")), 1.0);
    let bodies =
        "apiserver_request_body_size_bytes_bucket{group=\"\",resource=\"configmaps\",verb=\"create\",le=\"50000\"}";
    check(&text, bodies, 2.0);
    assert!(!text.contains("code=\"403\"") && !text.contains("madeup"), "{text}");

    let labels = of_config_maps("GET", "resource");
    check(&text, &format!("apiserver_request_duration_seconds_count{{{labels}}}"), 2.0);
    check(&text, &format!("apiserver_request_duration_seconds_bucket{{{labels},le=\"60\"}}"), 2.0);
    let labels = labels.replace("dry_run=\"\",", "");
    check(&text, &format!("apiserver_request_sli_duration_seconds_count{{{labels}}}"), 2.0);
    assert!(text.contains(&format!("apiserver_request_sli_duration_seconds_bucket{{{labels},le=\"0.05\"}}")));
    let labels = of_config_maps("LIST", "namespace").replace("dry_run=\"\",", "");
    check(&text, &format!("apiserver_response_sizes_sum{{{labels}}}"), listed.bytes.len() as f64);
    check(&text, &format!("apiserver_response_sizes_bucket{{{labels},le=\"1e+06\"}}"), 1.0);
    // The request for the figures is itself being worked on.
    check(&text, "apiserver_current_inflight_requests{request_kind=\"readOnly\"}", 1.0);
    check(&text, "apiserver_current_inflight_requests{request_kind=\"mutating\"}", 0.0);
}

#[tokio::test]
async fn a_watch_is_open_until_its_client_leaves_and_tells_its_events() {
    let server = Server::start().await;
    let mut watch = server.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion=0&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")).await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    while watch.next_name().await.1 != "a" {}
    let labels = "component=\"apiserver\",group=\"\",resource=\"configmaps\",scope=\"namespace\",subresource=\"\",verb=\"WATCH\",version=\"v1\"";
    let open = format!("apiserver_longrunning_requests{{{labels}}}");
    let total = format!("apiserver_request_total{{code=\"200\",{}}}", of_config_maps("WATCH", "namespace"));
    let text = figures(&server).await;
    check(&text, &open, 1.0);
    assert_eq!(value(&text, &total), None, "it is counted when it is over");
    let kind = "group=\"\",resource=\"configmaps\",version=\"v1\"";
    let sent = value(&text, &format!("apiserver_watch_events_total{{{kind}}}")).expect("events");
    assert!(sent >= 2.0, "an event and a bookmark: {sent}");
    check(&text, &format!("apiserver_watch_events_sizes_count{{{kind}}}"), sent);
    let listed = "apiserver_watch_list_duration_seconds_count{group=\"\",resource=\"configmaps\",scope=\"namespace\",version=\"v1\"}";
    check(&text, listed, 1.0);
    drop(watch);
    let text = figures(&server).await;
    check(&text, &open, 0.0);
    check(&text, &total, 1.0);
}

#[tokio::test]
async fn the_store_the_cache_and_admission_are_counted() {
    let server = Server::start().await.with_default_account();
    let server = server.await;
    let before = figures(&server).await;
    let kind = "group=\"\",resource=\"configmaps\"";
    let objects = |text: &str| value(text, &format!("apiserver_resource_objects{{{kind}}}")).expect("objects");
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    server.post(PODS, &pod("p")).await.ok();
    server.get(CONFIG_MAPS).await.ok();
    server.delete(&format!("{CONFIG_MAPS}/a")).await.ok();
    let text = figures(&server).await;
    assert_eq!(objects(&text), objects(&before));
    check(&text, "apiserver_storage_objects{resource=\"pods\"}", 1.0);
    check(&text, "apiserver_storage_objects{resource=\"deployments.apps\"}", 0.0);
    check(&text, "etcd_requests_total{group=\"\",operation=\"create\",resource=\"pods\"}", 1.0);
    check(&text, "etcd_requests_total{group=\"\",operation=\"delete\",resource=\"configmaps\"}", 1.0);
    check(&text, "etcd_request_duration_seconds_count{group=\"\",operation=\"create\",resource=\"pods\"}", 1.0);
    check(&text, "apiserver_watch_cache_events_received_total{group=\"\",resource=\"pods\"}", 1.0);
    check(&text, "apiserver_watch_cache_events_dispatched_total{group=\"\",resource=\"pods\"}", 1.0);
    check(&text, "apiserver_storage_events_received_total{group=\"\",resource=\"pods\"}", 1.0);
    check(&text, "apiserver_watch_cache_initializations_total{group=\"\",resource=\"pods\"}", 1.0);
    check(&text, "apiserver_cache_list_total{group=\"\",index=\"\",resource=\"configmaps\"}", 1.0);
    assert!(value(&text, "apiserver_storage_size_bytes{storage_cluster_id=\"etcd-0\"}").is_some_and(|size| size > 0.0));

    let plugin = "name=\"ServiceAccount\",operation=\"CREATE\",rejected=\"false\",type=\"admit\"";
    check(&text, &format!("apiserver_admission_controller_admission_duration_seconds_count{{{plugin}}}"), 1.0);
    check(
        &text,
        &format!("apiserver_admission_controller_admission_duration_seconds_bucket{{{plugin},le=\"2.5\"}}"),
        1.0,
    );
    let step = "operation=\"DELETE\",rejected=\"false\",type=\"validate\"";
    check(&text, &format!("apiserver_admission_step_admission_duration_seconds_count{{{step}}}"), 1.0);
    check(&text, &format!("apiserver_admission_step_admission_duration_seconds_summary_count{{{step}}}"), 1.0);
    let evaluated = "pod_security_evaluations_total{decision=\"allow\",mode=\"enforce\",policy_level=\"privileged\",policy_version=\"latest\",request_operation=\"create\",resource=\"pod\",subresource=\"\"}";
    check(&text, evaluated, 1.0);

    let secrets = "/api/v1/namespaces/default/secrets";
    server.post(secrets, &json!({"metadata": {"name": "s"}, "data": {"a": "Yg=="}})).await.ok();
    let text = figures(&server).await;
    let sealed = "resource=\"secrets\",status=\"OK\",transformation_type=\"to_storage\",transformer_prefix=\"k8s:enc:aesgcm:v1:key1:\"";
    check(&text, &format!("apiserver_storage_transformation_operations_total{{{sealed}}}"), 1.0);
    let opened = sealed.replace("to_storage", "from_storage");
    check(&text, &format!("apiserver_storage_transformation_operations_total{{{opened}}}"), 1.0);
}

#[tokio::test]
async fn who_asks_and_whether_they_may_is_counted() {
    let server = Server::start().await;
    let before = figures(&server).await;
    let of = |text: &str, series: &str| value(text, series).unwrap_or(0.0);
    let bob = || Peer::InProcess(Arc::new(UserInfo::authenticated("bob", &[])));
    assert_eq!(server.ask_as(bob(), "GET", CONFIG_MAPS, &[], &Value::Null).await.code, 403);
    assert_eq!(server.whoami("nonsense").await, Err(401));
    let text = figures(&server).await;
    for (series, more) in [
        ("authentication_attempts{result=\"success\"}", 2.0),
        ("authentication_attempts{result=\"failure\"}", 1.0),
        ("authentication_duration_seconds_count{result=\"failure\"}", 1.0),
        ("authenticated_user_requests{username=\"admin\"}", 1.0),
        ("authenticated_user_requests{username=\"other\"}", 1.0),
        ("authorization_attempts_total{result=\"allowed\"}", 1.0),
        ("authorization_attempts_total{result=\"no-opinion\"}", 1.0),
        ("authorization_duration_seconds_bucket{result=\"no-opinion\",le=\"16.384\"}", 1.0),
    ] {
        assert_eq!(of(&text, series) - of(&before, series), more, "{series}");
    }
    let exempt = "flow_schema=\"exempt\",priority_level=\"exempt\"";
    check(&text, &format!("apiserver_flowcontrol_current_executing_requests{{{exempt}}}"), 1.0);
    check(&text, &format!("apiserver_flowcontrol_current_executing_seats{{{exempt}}}"), 1.0);
    check(&text, &format!("apiserver_flowcontrol_current_inqueue_requests{{{exempt}}}"), 0.0);
    let waited =
        format!("apiserver_flowcontrol_request_wait_duration_seconds_bucket{{execute=\"true\",{exempt},le=\"0\"}}");
    assert!(of(&text, &waited) >= 2.0, "{waited}");
}

#[tokio::test]
async fn health_has_figures_of_its_own() {
    let server = Server::start().await;
    assert_eq!(server.get("/readyz").await.code, 200);
    assert_eq!(server.get("/livez?exclude=etcd").await.code, 200);
    let answer = server.get("/metrics/slis").await;
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    check(&text, "kubernetes_healthcheck{name=\"ping\",type=\"readyz\"}", 1.0);
    check(&text, "kubernetes_healthchecks_total{name=\"etcd\",status=\"success\",type=\"readyz\"}", 1.0);
    assert!(!text.contains("name=\"etcd\",type=\"livez\""), "what is left out is not counted: {text}");
    assert!(value(&text, "process_start_time_seconds").is_some_and(|started| started > 1.7e9), "{text}");
    let text = figures(&server).await;
    let labels = "component=\"\",dry_run=\"\",group=\"\",resource=\"\",scope=\"\",subresource=\"/readyz\",verb=\"GET\",version=\"\"";
    check(&text, &format!("apiserver_request_total{{code=\"200\",{labels}}}"), 1.0);
}

/// Every series is told under one head, and no head comes twice; a scraper refuses such.
#[tokio::test]
async fn the_figures_can_be_scraped() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let text = figures(&server).await;
    let mut kinds: HashMap<&str, &str> = HashMap::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a name and a type");
            assert_eq!(kinds.insert(name, kind), None, "{name} is told twice");
        } else if !line.starts_with('#') {
            let name = line.split(['{', ' ']).next().unwrap_or_default();
            let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
            let known = kinds.contains_key(name) || base.is_some_and(|base| kinds.contains_key(base));
            assert!(known, "{line} has no type");
            assert!(line.rsplit(' ').next().is_some_and(|value| value.parse::<f64>().is_ok()), "{line}");
        }
    }
    for name in [
        "process_cpu_seconds_total",
        "process_open_fds",
        "kubernetes_build_info",
        "apiserver_tls_handshake_errors_total",
    ] {
        assert!(kinds.contains_key(name), "{name}");
    }
}
