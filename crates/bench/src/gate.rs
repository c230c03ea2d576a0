//! What it costs to let a request in: authentication by a bound token, RBAC over 1,000
//! roles and 5,000 bindings, and the builtin admission of a pod, on one core.

use crate::report::{Better, Report};
use anyhow::{Context, Result, anyhow, ensure};
use bytes::Bytes;
use ferry_apiserver::admission::{Admission, AdmissionRequest, Operation, Wiring};
use ferry_apiserver::authn::{Authenticator, UserInfo};
use ferry_apiserver::authz::{Attributes, Authorizer};
use ferry_apiserver::registry::{Caller, RequestNotes, Rows, Wants, Warnings};
use ferry_apiserver::{ApiServer, Config, Peer, StorageKey};
use ferry_pki::PkiConfig;
use ferry_store::sqlite::SqliteStore;
use futures_util::{StreamExt, stream};
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use std::hint::black_box;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

const ROLES: usize = 1000;
const BINDINGS: usize = 5000;
const ROUNDS: u32 = 20_000;

/// Takes this process's own thread; nothing else may run in it meanwhile.
pub async fn measure(report: &mut Report) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let pki = ferry_pki::ensure(&directory.path().join("pki"), &PkiConfig::default())?;
    let store = Arc::new(SqliteStore::open(&directory.path().join("store"))?);
    let config = Config::from_pki(&pki, "cluster.local", vec![StorageKey { name: "key".into(), bytes: vec![7; 32] }]);
    let authentication = config.authentication.clone();
    let api = ApiServer::start(store, config).await?;
    fill(&api).await?;
    let account = "/api/v1/namespaces/default/serviceaccounts";
    post(&api, account.into(), json!({"metadata": {"name": "default"}})).await?;
    post(&api, "/api/v1/namespaces/default/pods".into(), pod("holder")).await?;
    let request = json!({"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "holder"}}});
    let issued = post(&api, format!("{account}/default/token"), request).await?;
    let token = issued["status"]["token"].as_str().context("no token")?;

    let (authenticator, _uses) = Authenticator::new(authentication, api.lookup())?;
    let authorizer = Authorizer::new(&*api.lookup());
    let rows = Arc::new(Rows::new(ferry_resources::all().to_vec()));
    let pods = rows.find("", "v1", "pods").context("no pods")?;
    let admission = Admission::new(&Wiring {
        lookup: api.lookup(),
        authorizer: authorizer.clone(),
        rows,
        // Nothing that admits a pod here writes.
        registry: Weak::new(),
        config: Default::default(),
        metrics: Arc::default(),
    })
    .map_err(|error| anyhow!(error))?;

    let mut headers = HeaderMap::new();
    headers.insert(http::header::AUTHORIZATION, format!("Bearer {token}").parse()?);
    let peer = Peer::Tls { certificates: Arc::default(), remote: None };
    let user = authenticator.authenticate(&headers, &peer, "/api").await.map_err(|status| anyhow!(status.message))?;
    let attributes = Attributes {
        user: &user,
        verb: "create",
        api_group: "",
        api_version: "v1",
        resource: "pods",
        subresource: "",
        namespace: "default",
        name: "",
        path: "/api/v1/namespaces/default/pods",
        is_resource: true,
        field_selector: "",
        label_selector: "",
    };
    ensure!(authorizer.decide(&attributes).await.is_allowed(), "the account may not create pods");
    let wanted = pod("new");

    let started = Instant::now();
    for _ in 0..ROUNDS {
        let known = authenticator.authenticate(&headers, &peer, "/api").await;
        black_box(&known).as_ref().map_err(|status| anyhow!(status.message.clone()))?;
    }
    let authentication = started.elapsed();
    let started = Instant::now();
    for _ in 0..ROUNDS {
        black_box(authorizer.decide(&attributes).await);
    }
    let authorization = started.elapsed();
    let mut admitting = Duration::ZERO;
    for _ in 0..ROUNDS {
        let mut object = wanted.clone();
        let caller = caller(&user);
        let started = Instant::now();
        let mut request = AdmissionRequest::new(Operation::Create, &pods, "default", "new", "", &caller);
        request.object = Some(&mut object);
        admission.mutate(&mut request).await.map_err(|status| anyhow!(status.message))?;
        admission.validate(&request).await.map_err(|status| anyhow!(status.message))?;
        admitting += started.elapsed();
    }
    let each = |total: Duration| total.as_secs_f64() * 1e6 / f64::from(ROUNDS);
    report.add("gate: authentication by a bound token", "us", each(authentication), None, None, Better::Lower);
    let what = format!("gate: RBAC, {ROLES} roles, {BINDINGS} bindings");
    report.add(&what, "us", each(authorization), None, None, Better::Lower);
    report.add("gate: builtin admission of a pod", "us", each(admitting), None, None, Better::Lower);
    let together = each(authentication + authorization + admitting);
    report.add("gate: together", "us", together, None, Some(20.0), Better::Lower);
    Ok(())
}

/// Roles of a few rules each, and bindings of users, groups and accounts to them; the
/// account that is measured has its own among them.
async fn fill(api: &ApiServer) -> Result<()> {
    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    let roles = (0..ROLES).map(|n| {
        let rules = json!([
            {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list"], "resourceNames": [format!("d{n}")]},
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch", "create"]}]);
        (format!("{rbac}/roles"), json!({"metadata": {"name": format!("r{n}")}, "rules": rules}))
    });
    let bindings = (0..BINDINGS).map(|n| {
        let group = "rbac.authorization.k8s.io";
        let subject = match n % 3 {
            0 => json!({"kind": "User", "name": format!("user-{n}"), "apiGroup": group}),
            1 => json!({"kind": "Group", "name": format!("group-{n}"), "apiGroup": group}),
            _ if n == 2 => json!({"kind": "ServiceAccount", "name": "default", "namespace": "default"}),
            _ => json!({"kind": "ServiceAccount", "name": format!("account-{n}"), "namespace": "default"}),
        };
        let role = json!({"apiGroup": group, "kind": "Role", "name": format!("r{}", n % ROLES)});
        (
            format!("{rbac}/rolebindings"),
            json!({"metadata": {"name": format!("b{n}")}, "subjects": [subject], "roleRef": role}),
        )
    });
    for writes in [roles.collect::<Vec<_>>(), bindings.collect()] {
        let mut outcomes =
            stream::iter(writes.into_iter().map(|(path, object)| post(api, path, object))).buffer_unordered(256);
        while let Some(outcome) = outcomes.next().await {
            outcome?;
        }
    }
    Ok(())
}

async fn post(api: &ApiServer, path: String, object: Value) -> Result<Value> {
    let admin = Peer::InProcess(Arc::new(UserInfo::authenticated("admin", &["system:masters"])));
    let body = Full::new(Bytes::from(object.to_string())).map_err(|never| match never {}).boxed_unsync();
    let request = Request::post(path).header("content-type", "application/json").body(body)?;
    let (parts, body) = api.handle(request, admin).await.into_parts();
    let bytes = body.collect().await.map_err(|error| anyhow!(error.to_string()))?.to_bytes();
    ensure!(parts.status.is_success(), "{}", String::from_utf8_lossy(&bytes));
    Ok(serde_json::from_slice(&bytes)?)
}

fn pod(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "web", "image": "web:1", "resources": {}}]}})
}

fn caller(user: &Arc<UserInfo>) -> Caller {
    Caller {
        user: user.clone(),
        now: jiff::Timestamp::now(),
        dry_run: false,
        field_manager: "bench".into(),
        warnings: Warnings::default(),
        notes: RequestNotes::default(),
        options: Arc::default(),
        wants: Wants::Object,
    }
}
