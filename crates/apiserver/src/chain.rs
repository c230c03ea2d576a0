//! The way of every request, top to bottom. The order is fixed here and nowhere else; it
//! is upstream's (apiserver/pkg/server/config.go DefaultBuildHandlerChain).

use crate::audit;
use crate::authn::UserInfo;
use crate::authn::impersonation::impersonate;
use crate::authz::Attributes;
use crate::door::answer;
use crate::door::finish::finish;
use crate::door::negotiate::{self, Format, Use};
use crate::door::wire::BODY_MAX;
use crate::flow_control::is_readonly;
use crate::metrics::family::Series;
use crate::metrics::requests::{FinishedRequest, InFlight, LongRunning, RequestFigures, RequestLabels};
use crate::query::Query;
use crate::registry::{RequestNotes, Warnings};
use crate::request_info::{self, RequestInfo};
use crate::transport::{Body, Peer, RemoteAddress, read_limited};
use crate::verbs::{self, Call};
use crate::{ServerState, non_resource, subresources};
use ferry_api::document::WantsDocuments;
use ferry_api::status::Status;
use ferry_resources::Row;
use ferry_resources::lifecycle::Deprecation;
use futures_util::FutureExt;
use http::header::{HeaderName, HeaderValue, WARNING};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use jiff::Timestamp;
use parking_lot::Mutex;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How long a request that is not long-running may take (upstream's --request-timeout).
const TIMEOUT: Duration = Duration::from_secs(60);

const FLOW_SCHEMA: HeaderName = HeaderName::from_static("x-kubernetes-pf-flowschema-uid");
const PRIORITY_LEVEL: HeaderName = HeaderName::from_static("x-kubernetes-pf-prioritylevel-uid");
const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

pub(crate) async fn handle(server: Arc<ServerState>, mut request: Request<Body>, peer: Peer) -> Response<Body> {
    let started = Instant::now();
    // What is asked. Everything below decides on this reading of the URL and on nothing
    // else, so that what is authorized is what is done.
    let query = Query::parse(request.uri().query().unwrap_or_default());
    let info = Arc::new(request_info::resolve(request.method(), request.uri().path(), &query));
    let long_running = info.is_long_running();
    let format = error_format(request.headers(), &query);
    // Audit: every answer carries the name under which the request is recorded.
    let audit_id = audit_id(&request);
    if let Ok(value) = HeaderValue::from_str(&audit_id) {
        request.headers_mut().insert(AUDIT_ID, value);
    }
    let in_flight = server.metrics.requests.in_flight(is_readonly(&info));
    let in_flight = (!long_running).then(|| InFlight::new(in_flight));
    let method = request.method().clone();
    let slot = audit::RecordSlot::default();
    let notes = RequestNotes::default();

    // Whose kind. Found once, and passed on to everything that needs it.
    let row = if info.is_resource {
        server.registry.rows.find(&info.api_group, &info.api_version, &info.resource)
    } else {
        None
    };
    let class = Arc::<RequestClass>::default();
    let context = RequestContext {
        row: row.clone(),
        id: audit_id.clone(),
        record: slot.clone(),
        notes: notes.clone(),
        class: class.clone(),
        format,
    };

    // A panic in a handler is this request's failure, not the server's; outermost, so
    // that nothing escapes it.
    let work = AssertUnwindSafe(run(server.clone(), request, peer, info.clone(), query, context)).catch_unwind();
    let outcome = if long_running {
        work.await
    } else {
        // A handler that waits for something that never comes must not keep the client.
        match tokio::time::timeout(TIMEOUT, work).await {
            Ok(outcome) => outcome,
            Err(_) => {
                count_termination(&server, &info, row.as_deref());
                Ok(Err(Status::timeout("the request did not complete within the allotted timeout")))
            }
        }
    };
    let panicked = outcome.is_err();
    let mut response = match outcome {
        Ok(Ok(response)) => response,
        Ok(Err(status)) => answer::status(&status, format),
        Err(_) => {
            tracing::error!(path = info.path, verb = info.verb, "a handler panicked");
            if let Some(record) = slot.get() {
                record.panicked();
            }
            let text = "This request caused apiserver to panic. Look in the logs for details.";
            answer::status(&Status::failure(500, "InternalError", text), format)
        }
    };
    if let Ok(value) = HeaderValue::from_str(&audit_id) {
        response.headers_mut().insert(AUDIT_ID, value);
    }
    if let Some((schema, level)) = class.flow.get() {
        for (name, uid) in [(FLOW_SCHEMA, schema), (PRIORITY_LEVEL, level)] {
            if let Ok(value) = HeaderValue::from_str(uid) {
                response.headers_mut().insert(name, value);
            }
        }
    }
    if let Some(record) = slot.get().filter(|_| !panicked) {
        response = record.answered(response, long_running).await;
    }
    if method == Method::HEAD {
        response = response.map(|_| crate::transport::empty());
    }
    tracing::debug!(audit_id, verb = info.verb, path = info.path, code = response.status().as_u16(), "answered");
    if let Some(CountedRequest { figures, open }) = class.counted.lock().take() {
        response = FinishedRequest { figures, started, waited: notes.waited(), open }.attach(response);
    }
    drop(in_flight);
    response
}

/// Ways that few requests take are boxed, so that the others do not carry room for them: with
/// many connections what a request touches in memory is what it costs.
async fn run(
    server: Arc<ServerState>,
    mut request: Request<Body>,
    peer: Peer,
    info: Arc<RequestInfo>,
    query: Query,
    context: RequestContext,
) -> Result<Response<Body>, Status> {
    // Who asks. Before anything that costs more than reading headers.
    let began = Instant::now();
    let asker = server.authenticator.authenticate(request.headers(), &peer, &info.path).await;
    server.metrics.identity.authenticated(asker.as_ref().ok().map(|user| user.name.as_str()), began.elapsed());
    // What is recorded of it. Before impersonation, so that the record names the one who
    // asked; a request whose asker is not known is recorded as that.
    let record = begin_record(&server, &request, &peer, &info, asker.as_deref().ok(), &context);
    let asker = asker?;
    // The proof of identity is a secret and of no use to what follows.
    request.headers_mut().remove(http::header::AUTHORIZATION);

    // As whom. After authentication, because the asker must be allowed to act as another,
    // and before everything that counts or judges the one who acts.
    let asked = Attributes {
        user: &asker,
        verb: &info.verb,
        api_group: &info.api_group,
        api_version: &info.api_version,
        resource: &info.resource,
        subresource: &info.subresource,
        namespace: &info.namespace,
        name: &info.name,
        path: &info.path,
        is_resource: info.is_resource,
        field_selector: selector(&info, &query, "fieldSelector"),
        label_selector: selector(&info, &query, "labelSelector"),
    };
    let user = impersonate(request.headers(), &asker, &asked, &server.authorizer).await?;
    if let Some(record) = record.as_deref().filter(|_| !Arc::ptr_eq(&user, &asker)) {
        record.impersonated(&user);
    }

    // How many at once. After the identity is known and before work is done for it.
    // Requests that stay open by nature would hold their seats for ever; of those only a
    // watch has one, until it has begun.
    let mut seat = None;
    if !info.is_long_running() || info.verb == "watch" {
        match server.flow_control.enter(&info, &user, objects_of(&server, &info, &query, context.row.as_deref())).await
        {
            Ok(taken) => {
                context.notes.add_wait(taken.waited);
                let _ = context.class.flow.set((taken.schema_uid.clone(), taken.level_uid.clone()));
                seat = Some(taken);
            }
            Err(refused) => {
                let _ = context.class.flow.set((refused.schema_uid, refused.level_uid));
                if let Ok(row) = route(context.row.as_ref(), &info) {
                    context.class.route(
                        &server,
                        &RequestLabels::of(&info, row, is_apply(request.headers())),
                        &query,
                        false,
                    );
                }
                return Err(refused.status);
            }
        }
    }

    // Whether that user may. The last step before anything is looked at or changed.
    let attributes = Attributes { user: &user, ..asked };
    let began = Instant::now();
    let verdict = server.authorizer.decide(&attributes).await;
    server.metrics.identity.authorized(verdict.counted_as(), began.elapsed());
    if record.is_some() {
        let decision = if verdict.is_allowed() { "allow" } else { "forbid" };
        context.notes.add("authorization.k8s.io/decision", decision);
        context.notes.add("authorization.k8s.io/reason", verdict.decision.reason());
    }
    verdict.into_result(&attributes)?;

    // Whether another server answers for this group version. Authorized here all the same.
    if let Some(entry) = server.aggregator.index.remote_of_path(&info.path) {
        let audit_id = request.headers().get(AUDIT_ID).cloned();
        note_remote(request.extensions_mut(), &peer);
        return Ok(Box::pin(server.aggregator.serve(&entry, &user, &info, audit_id.as_ref(), request)).await);
    }

    if !info.is_resource {
        let (parts, body) = request.into_parts();
        let answer = Box::pin(non_resource::serve(&server, &parts.method, &parts.headers, &info, &query, body)).await;
        if let Ok(answer) = &answer
            && let Some(subject) = RequestLabels::of_path(&info.path, answer)
        {
            context.class.route(&server, &subject, &query, false);
        }
        return answer;
    }
    let row = match route(context.row.as_ref(), &info) {
        Ok(row) => row.clone(),
        Err(status) => {
            // A client that is still sending when the answer comes may take the end of the
            // stream for a failure and never see why it was refused.
            let _ = read_limited(request.into_body(), BODY_MAX).await;
            return Err(status);
        }
    };
    let subject = RequestLabels::of(&info, &row, is_apply(request.headers()));
    context.class.route(&server, &subject, &query, info.is_long_running());
    let warnings = Warnings::default();
    if let Some(deprecation) = Deprecation::of(&row) {
        warnings.add(deprecation.warning(&row));
        note_deprecated(&server, &row, subject.subresource(), deprecation.removed.unwrap_or_default(), &context);
    }
    if let Some(text) = row.custom.as_ref().and_then(|custom| custom.deprecation.as_ref()) {
        warnings.add(text.as_str());
        note_deprecated(&server, &row, subject.subresource(), "", &context);
    }
    let (mut parts, body) = request.into_parts();
    if record.as_ref().is_some_and(|record| record.wants_response()) {
        parts.headers.remove(http::header::ACCEPT_ENCODING);
    }
    // An audit that records responses needs their bytes.
    let wants_documents = parts.extensions.get::<WantsDocuments>().is_some()
        && !record.as_ref().is_some_and(|record| record.wants_response());
    let call = Call {
        server,
        row,
        wants_documents,
        info,
        query,
        headers: std::mem::take(&mut parts.headers),
        user,
        warnings: warnings.clone(),
        notes: context.notes,
        now: Timestamp::now(),
    };
    if let Some(connect) = subresources::connection_of(&call) {
        parts.headers = call.headers.clone();
        note_remote(&mut parts.extensions, &peer);
        return connect(call, Request::from_parts(parts, body)).await;
    }
    let is_write = !matches!(call.info.verb.as_str(), "get" | "list" | "watch");
    let body = if is_write { read_body(body).await? } else { bytes::Bytes::new() };
    if is_write {
        call.server.metrics.requests.body(&call.row, &call.info.verb, body.len());
    }
    if let Some(record) = &record {
        record.request(&call.info, &call.headers, &body);
    }
    let outcome = if is_write {
        // A write goes on to its end even when its client is gone: half of it would leave
        // an address taken for a Service that exists, or the reverse. It keeps its seat
        // until then, or clients that leave at once could have any number at work
        // (CVE-2023-44487).
        let seat = seat.take();
        finish(async move {
            let outcome = verbs::dispatch(call, body).await;
            drop(seat);
            outcome
        })
        .await
    } else {
        verbs::dispatch(call, body).await
    };
    drop(seat);
    let mut response = match outcome {
        Ok(response) => response,
        Err(status) => answer::status(&status, context.format),
    };
    for text in warnings.take() {
        if let Ok(value) = HeaderValue::from_str(&warning(&text)) {
            response.headers_mut().append(WARNING, value);
        }
    }
    Ok(response)
}

/// Keeps the address of the client for the server or kubelet that the request is passed on to.
fn note_remote(extensions: &mut http::Extensions, peer: &Peer) {
    if let Some(remote) = peer.remote() {
        extensions.insert(RemoteAddress(remote));
    }
}

/// The companions of a request on its way: for its answer, the metrics and the audit log.
struct RequestContext {
    id: String,
    /// The row that the URL names, if it is served.
    row: Option<Arc<Row>>,
    record: audit::RecordSlot,
    notes: RequestNotes,
    class: Arc<RequestClass>,
    /// The format of failures.
    format: Format,
}

/// The flow that a request belongs to and the series that count it, known only on its way.
#[derive(Default)]
struct RequestClass {
    flow: OnceLock<Flow>,
    counted: Mutex<Option<CountedRequest>>,
}

/// The series that count a request.
struct CountedRequest {
    figures: Arc<Series<RequestFigures>>,
    open: Option<LongRunning>,
}

impl RequestClass {
    fn route(&self, server: &ServerState, subject: &RequestLabels<'_>, query: &Query, long_running: bool) {
        let requests = &server.metrics.requests;
        let open = long_running.then(|| LongRunning::new(requests.long_running(subject)));
        *self.counted.lock() = Some(CountedRequest { figures: requests.find(subject, query), open });
    }
}

/// The uids of the flow schema and the priority level of a request.
type Flow = (Arc<str>, Arc<str>);

/// How many objects a list goes through, at most.
fn objects_of(server: &ServerState, info: &RequestInfo, query: &Query, row: Option<&Row>) -> usize {
    if info.verb != "list" {
        return 0;
    }
    let all = row.and_then(|row| server.registry.cache.stock(row)).map_or(0, |stock| stock.len());
    let limit = query.text("limit").and_then(|limit| limit.parse().ok()).filter(|limit| *limit > 0);
    limit.map_or(all, |limit| all.min(limit))
}

fn is_apply(headers: &HeaderMap) -> bool {
    headers.get(http::header::CONTENT_TYPE).is_some_and(|value| value == "application/apply-patch+yaml")
}

/// Tells the audit log and the figures that somebody still asks for what will go.
fn note_deprecated(
    server: &ServerState,
    row: &Row,
    subresource: &str,
    removed_release: &str,
    context: &RequestContext,
) {
    server.metrics.requests.deprecated(row, subresource, removed_release);
    context.notes.add("k8s.io/deprecated", "true");
    if !removed_release.is_empty() {
        context.notes.add("k8s.io/removed-release", removed_release);
    }
}

/// Notes a request that took too long.
fn count_termination(server: &ServerState, info: &RequestInfo, row: Option<&Row>) {
    if let Some(row) = row {
        let subject = RequestLabels::of(info, row, false);
        server.metrics.requests.terminated(&subject, StatusCode::GATEWAY_TIMEOUT);
    }
}

fn begin_record(
    server: &ServerState,
    request: &Request<Body>,
    peer: &Peer,
    info: &RequestInfo,
    asker: Option<&UserInfo>,
    context: &RequestContext,
) -> Option<Arc<audit::Record>> {
    let auditor = server.config.audit.as_ref()?;
    let (uri, headers) = (request.uri(), request.headers());
    let asked = audit::Asked { id: &context.id, info, uri, headers, peer, received: Timestamp::now() };
    let record = auditor.begin(&asked, asker, &context.notes)?;
    match asker {
        Some(_) => record.received(),
        None => record.refused(headers, peer),
    }
    let _ = context.record.set(record.clone());
    Some(record)
}

/// What narrows a list, as authorizers are told it; on other verbs it means nothing.
fn selector<'a>(info: &RequestInfo, query: &'a Query, name: &str) -> &'a str {
    match info.verb.as_str() {
        "list" | "watch" | "deletecollection" => query.get(name).unwrap_or_default(),
        _ => "",
    }
}

/// The row that a URL names, if it has the URL's scope and verb.
fn route<'a>(row: Option<&'a Arc<Row>>, info: &RequestInfo) -> Result<&'a Arc<Row>, Status> {
    let row = row.ok_or_else(Status::no_such_path)?;
    // A name with a slash in it would be another object's key.
    for name in [&info.name, &info.namespace] {
        let mistakes = ferry_resources::names::path_segment(name, false);
        if !mistakes.is_empty() {
            let why = mistakes.join(";");
            return Err(Status::bad_request(format!("Name parameter invalid: {name:?}: {why}")));
        }
    }
    let has_name = !info.name.is_empty();
    let in_namespace = !info.namespace.is_empty();
    let is_namespace = row.group.is_empty() && row.plural == "namespaces";
    if in_namespace && !row.is_namespaced() && !is_namespace {
        return Err(Status::no_such_path());
    }
    if row.is_namespaced() && !in_namespace {
        // Across namespaces one can look but not touch; a name alone leads nowhere.
        match info.verb.as_str() {
            "list" | "watch" | "deletecollection" if !info.subresource.is_empty() => {
                return Err(Status::no_such_path());
            }
            "list" | "watch" => {}
            _ if has_name => return Err(Status::no_such_path()),
            _ => return Err(verbs::method_not_allowed()),
        }
    }
    if info.subresource.is_empty() && !row.serves(&info.verb) {
        return Err(verbs::method_not_allowed());
    }
    if info.subresource.is_empty() && info.verb == "create" && has_name {
        return Err(verbs::method_not_allowed());
    }
    if matches!(info.verb.as_str(), "update" | "patch") && !has_name {
        return Err(verbs::method_not_allowed());
    }
    Ok(row)
}

async fn read_body(body: Body) -> Result<bytes::Bytes, Status> {
    match read_limited(body, BODY_MAX).await {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(Status::too_large(format!("Request entity too large: limit is {BODY_MAX}"))),
        Err(error) => Err(Status::bad_request(error.to_string())),
    }
}

/// Failures are told in the format the client wants, and in JSON when it wants none we have.
fn error_format(headers: &HeaderMap, query: &Query) -> Format {
    negotiate::output(headers, query, Use::Object).map_or(Format::Json, |accepted| accepted.format)
}

fn audit_id(request: &Request<Body>) -> String {
    let given = request.headers().get(AUDIT_ID).and_then(|value| value.to_str().ok()).filter(|id| id.len() <= 64);
    given.map_or_else(|| uuid::Uuid::new_v4().to_string(), str::to_owned)
}

/// RFC 7234 warning 299; quotes and backslashes are escaped and control characters go.
fn warning(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 10);
    quoted.push_str("299 - \"");
    for character in text.chars().filter(|c| !c.is_control()) {
        if matches!(character, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}
