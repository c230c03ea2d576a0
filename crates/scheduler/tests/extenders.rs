//! Extenders over real connections: an HTTP server on the loopback plays one, and the scheduler's
//! parts call it.

use base64::Engine as _;
use ferry_client::SharedObject;
use ferry_scheduler::Configuration;
use ferry_scheduler::cycle::{NoFit, decide_with};
use ferry_scheduler::extender::Extenders;
use ferry_scheduler::framework::{Framework, Handle, Nominated};
use ferry_scheduler::node_info::NodeInfo;
use ferry_scheduler::plugins::all::all;
use ferry_scheduler::pod_info::PodInfo;
use ferry_scheduler::snapshot::Snapshot;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

type Answer = Arc<dyn Fn(&str, &Value) -> (u16, Value) + Send + Sync>;
type Calls = Arc<Mutex<Vec<(String, Value)>>>;

async fn answer_on<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S, answer: Answer, calls: Calls) {
    let service = service_fn(move |request: http::Request<Incoming>| {
        let (answer, calls) = (answer.clone(), calls.clone());
        async move {
            let verb = request.uri().path().rsplit('/').next().unwrap_or_default().to_owned();
            let body = request.into_body().collect().await?.to_bytes();
            let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
            let (code, text) = answer(&verb, &body);
            calls.lock().push((verb, body));
            let response = http::Response::builder().status(code).body(Full::new(Bytes::from(text.to_string())));
            Ok::<_, hyper::Error>(response.expect("a response"))
        }
    });
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// An extender that answers so, its port and the calls that it got.
async fn serve(
    tls: Option<Arc<rustls::ServerConfig>>,
    answer: impl Fn(&str, &Value) -> (u16, Value) + Send + Sync + 'static,
) -> (u16, Calls) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (answer, calls): (Answer, Calls) = (Arc::new(answer), Calls::default());
    let seen = calls.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (answer, calls, tls) = (answer.clone(), calls.clone(), tls.clone());
            tokio::spawn(async move {
                match tls {
                    None => answer_on(stream, answer, calls).await,
                    Some(config) => {
                        if let Ok(stream) = tokio_rustls::TlsAcceptor::from(config).accept(stream).await {
                            answer_on(stream, answer, calls).await;
                        }
                    }
                }
            });
        }
    });
    (port, seen)
}

fn extenders(configs: Value) -> Extenders {
    let config = json!({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "extenders": configs});
    let configuration = Configuration::parse(&config.to_string()).expect("a configuration");
    configuration.build_extenders().expect("extenders")
}

fn pod(name: &str, over: Value) -> PodInfo {
    let mut pod = json!({"metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    over.as_object().into_iter().flatten().for_each(|(field, value)| pod["spec"][field] = value.clone());
    PodInfo::of(SharedObject::of(pod))
}

fn node(name: &str) -> NodeInfo {
    NodeInfo::of(SharedObject::of(json!({"metadata": {"name": name},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}})))
}

async fn decide(
    extenders: &Extenders,
    nodes: Vec<NodeInfo>,
    pod: &PodInfo,
) -> Result<String, (String, Option<String>)> {
    let (framework, snapshot) = (Framework::new(all(&Handle::default())), Snapshot::of(nodes));
    let decision = decide_with(extenders, &framework, &snapshot, pod, &Nominated::default(), &mut 0).await;
    decision.map(|decision| decision.node.to_string()).map_err(|refusal| {
        let preemption = refusal.post_filter.and_then(|result| result.preemption);
        (refusal.why.to_string(), preemption.map(|preemption| preemption.node))
    })
}

#[tokio::test]
async fn an_extender_filters_and_scores_what_the_plugins_leave() {
    let (port, calls) = serve(None, |verb, body| match verb {
        "filter" => (200, json!({"NodeNames": ["a", "b"], "FailedNodes": {"c": "too far away"}})),
        "prioritize" => {
            let nodes = body["NodeNames"].as_array().cloned().unwrap_or_default();
            let score = |node: &Value| json!({"Host": node, "Score": if node == "b" { 10 } else { 0 }});
            (200, nodes.iter().map(score).collect())
        }
        _ => (404, Value::Null),
    })
    .await;
    let own = json!([{"urlPrefix": format!("http://127.0.0.1:{port}/x/"), "filterVerb": "filter",
        "prioritizeVerb": "prioritize", "weight": 5, "nodeCacheCapable": true}]);
    let found = decide(&extenders(own), vec![node("a"), node("b"), node("c")], &pod("web", json!({}))).await;
    assert_eq!(found, Ok("b".to_owned()));
    let calls = calls.lock();
    assert_eq!(calls.iter().map(|(verb, _)| &**verb).collect::<Vec<_>>(), ["filter", "prioritize"]);
    assert_eq!(calls[0].1["Pod"]["metadata"]["name"], "web");
    assert_eq!((&calls[0].1["NodeNames"], &calls[0].1["Nodes"]), (&json!(["a", "b", "c"]), &Value::Null));
    assert_eq!(calls[1].1["NodeNames"], json!(["a", "b"]));
}

#[tokio::test]
async fn whole_nodes_are_sent_to_one_that_does_not_know_them_and_its_reasons_are_reported() {
    let (port, calls) = serve(None, |_, _| {
        (
            200,
            json!({"Nodes": {"items": []}, "FailedNodes": {"a": "busy", "b": "busy"},
            "FailedAndUnresolvableNodes": {"b": "never"}}),
        )
    })
    .await;
    let own = json!([{"urlPrefix": format!("http://127.0.0.1:{port}"), "filterVerb": "filter"}]);
    let (reason, _) =
        decide(&extenders(own), vec![node("a"), node("b")], &pod("web", json!({}))).await.expect_err("no node");
    assert!(reason.starts_with("0/2 nodes are available: 1 busy, 1 never."), "{reason}");
    assert_eq!(calls.lock()[0].1["Nodes"]["items"][0]["metadata"]["name"], "a");
}

#[tokio::test]
async fn an_extender_that_fails_ends_the_cycle_unless_it_is_ignorable() {
    let (port, _) = serve(None, |_, _| (500, Value::Null)).await;
    let own = |ignorable: bool| {
        extenders(
            json!([{"urlPrefix": format!("http://127.0.0.1:{port}"), "filterVerb": "filter", "ignorable": ignorable}]),
        )
    };
    let web = pod("web", json!({}));
    let (framework, snapshot) = (Framework::new(all(&Handle::default())), Snapshot::of(vec![node("a")]));
    let refused = decide_with(&own(false), &framework, &snapshot, &web, &Nominated::default(), &mut 0).await;
    let Err(refusal) = refused else { panic!("the extender has failed") };
    let expected = format!("failed filter with extender at URL http://127.0.0.1:{port}/filter, code 500");
    assert!(matches!(&refusal.why, NoFit::Error(reason) if *reason == expected), "{}", refusal.why);
    assert_eq!(decide(&own(true), vec![node("a")], &web).await, Ok("a".to_owned()));
}

#[tokio::test]
async fn an_extender_is_asked_only_about_pods_with_its_resources() {
    let (port, calls) = serve(None, |_, _| (200, json!({"NodeNames": []}))).await;
    let own = extenders(json!([{"urlPrefix": format!("http://127.0.0.1:{port}"), "filterVerb": "filter",
        "nodeCacheCapable": true, "managedResources": [{"name": "example.com/gpu", "ignoredByScheduler": true}]}]));
    assert_eq!(decide(&own, vec![node("a")], &pod("plain", json!({}))).await, Ok("a".to_owned()));
    assert!(calls.lock().is_empty());
    let gpu = json!({"containers": [{"name": "c", "resources": {"limits": {"example.com/gpu": "1"}}}]});
    assert!(decide(&own, vec![node("a")], &pod("gpu", gpu)).await.is_err());
    assert_eq!(calls.lock().len(), 1);
}

#[tokio::test]
async fn an_extender_decides_between_preemptions() {
    let (port, calls) = serve(None, |_, body| {
        let victims = body["NodeNameToMetaVictims"]["b"].clone();
        (200, json!({"NodeNameToMetaVictims": {"b": victims}}))
    })
    .await;
    let own = extenders(json!([{"urlPrefix": format!("http://127.0.0.1:{port}"), "preemptVerb": "preempt",
        "nodeCacheCapable": true}]));
    let full = |name: &str, priority: i32| {
        let mut info = node(name);
        let asking = json!([{"name": "c", "resources": {"requests": {"cpu": "4"}}}]);
        info.add_pod(Arc::new(pod(&format!("victim-{name}"), json!({"priority": priority, "containers": asking}))));
        info
    };
    let asking = json!([{"name": "c", "resources": {"requests": {"cpu": "4"}}}]);
    let important = pod("important", json!({"priority": 10, "containers": asking}));
    // Left alone, the less important pod on the first node would have to go.
    let (_, preempted) = decide(&own, vec![full("a", 0), full("b", 5)], &important).await.expect_err("no room");
    assert_eq!(preempted.as_deref(), Some("b"));
    assert_eq!(calls.lock()[0].1["NodeNameToMetaVictims"]["a"]["Pods"], json!([{"UID": "victim-a"}]));
}

#[tokio::test]
async fn an_extender_binds_in_the_place_of_the_plugin_over_tls() {
    let now = jiff::Timestamp::now();
    let authority = ferry_pki::Authority::generate("extenders", now).expect("an authority");
    let names = ferry_pki::ServingNames {
        common_name: "extender".to_owned(),
        organization: None,
        dns_names: [].into(),
        ips: [std::net::IpAddr::from([127, 0, 0, 1])].into(),
    };
    let identity = authority.issue_serving(&names, now).expect("an identity");
    let config = ferry_pki::tls::server_config(&identity, ferry_pki::tls::ClientCertificates::Ignored).expect("TLS");
    let (port, calls) = serve(Some(Arc::new(config)), |_, _| (200, json!({"Error": ""}))).await;
    let url = format!("https://127.0.0.1:{port}");
    let web = pod("web", json!({}));
    let own = |tls: Value, is_https: bool| {
        extenders(json!([{"urlPrefix": url, "bindVerb": "bind", "enableHTTPS": is_https, "tlsConfig": tls}]))
    };
    assert_eq!(own(json!({}), true).bind(&web, "a").await, Some(Ok(())), "without an authority nothing is verified");
    assert_eq!(own(json!({"insecure": true}), false).bind(&web, "a").await, Some(Ok(())));
    let untrusted = own(json!({}), false).bind(&web, "a").await.expect("a binder");
    assert!(untrusted.is_err(), "the machine does not trust the authority");
    let trusted = base64::engine::general_purpose::STANDARD.encode(authority.certificate_pem());
    assert_eq!(own(json!({"caData": trusted}), true).bind(&web, "a").await, Some(Ok(())));
    let expected = json!({"PodName": "web", "PodNamespace": "default", "PodUID": "web", "Node": "a"});
    assert_eq!(calls.lock()[0], ("bind".to_owned(), expected));
    assert_eq!(extenders(json!([])).bind(&web, "a").await, None);
}
