//! One request on its way through the chain, as the audit log tells it
//! (audit/request.go and endpoints/filters/audit.go upstream).

use super::policy::Settings;
use super::{Auditor, Level, Stage};
use crate::authn::UserInfo;
use crate::caller::RequestNotes;
use crate::request_info::RequestInfo;
use crate::transport::{Body, BoxError, Peer, full, read_limited};
use bytes::Bytes;
use ferry_api::object::Meta;
use http::{HeaderMap, Response, StatusCode, Uri};
use http_body::{Body as HttpBody, Frame};
use http_body_util::BodyExt;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

/// A longer user agent is cut.
const USER_AGENT_MAX: usize = 1024;
/// An answer beyond this is told without its object: the log is no copy of the store.
const RESPONSE_MAX: usize = 16 << 20;

/// Where the chain finds a request's record, once there is one.
pub type RecordSlot = Arc<OnceLock<Arc<Record>>>;

/// What is known of a request before it is worked on.
pub struct Asked<'a> {
    pub id: &'a str,
    pub info: &'a RequestInfo,
    pub uri: &'a Uri,
    pub headers: &'a HeaderMap,
    pub peer: &'a Peer,
    pub received: Timestamp,
}

pub struct Record {
    auditor: Arc<Auditor>,
    settings: Settings,
    notes: RequestNotes,
    /// The event as it stands; each stage writes it with what has been learnt so far.
    event: Mutex<Map<String, Value>>,
}

impl Auditor {
    /// Begins a record of a request whose asker is known, or was refused for not being.
    /// `None` where the policy wants no record.
    pub fn begin(
        self: &Arc<Self>,
        asked: &Asked<'_>,
        user: Option<&UserInfo>,
        notes: &RequestNotes,
    ) -> Option<Arc<Record>> {
        let settings = self.policy.evaluate(asked.info, user);
        if settings.level == Level::None {
            return None;
        }
        let event = Mutex::new(render_request(asked, user, settings.level));
        Some(Arc::new(Record { auditor: self.clone(), settings, notes: notes.clone(), event }))
    }
}

impl Record {
    pub fn received(&self) {
        self.emit(Stage::RequestReceived);
    }

    pub fn impersonated(&self, user: &UserInfo) {
        self.event.lock().insert("impersonatedUser".into(), user.to_value());
    }

    /// Why the asker could not be told from anyone else.
    pub fn refused(&self, headers: &HeaderMap, peer: &Peer) {
        let status = json!({"metadata": {}, "message": attempted(headers, peer), "code": 401});
        self.event.lock().insert("responseStatus".into(), status);
        self.emit(Stage::ResponseStarted);
    }

    /// The body of a write, in whatever format it came.
    pub fn request(&self, info: &RequestInfo, headers: &HeaderMap, body: &Bytes) {
        if body.is_empty() {
            return;
        }
        let Some(mut object) = decode(headers, body) else { return };
        let mut event = self.event.lock();
        if info.verb != "patch"
            && let Some(Value::Object(reference)) = event.get_mut("objectRef")
        {
            // On create the name stands in the object alone.
            let meta = |key: &str| object.meta_str(key).to_owned();
            for key in ["namespace", "name", "uid", "resourceVersion"] {
                let value = meta(key);
                if !value.is_empty() && !reference.contains_key(key) {
                    reference.insert(key.into(), value.into());
                }
            }
        }
        if self.settings.level >= Level::Request {
            self.drop_managed_fields(&mut object);
            event.insert("requestObject".into(), object);
        }
    }

    /// Whether the answer's object is wanted, for which the answer must not be compressed.
    pub fn wants_response(&self) -> bool {
        self.settings.level == Level::RequestResponse
    }

    /// The answer. Where it stays open, the last stage is written when it ends.
    pub async fn answered(self: &Arc<Self>, response: Response<Body>, long_running: bool) -> Response<Body> {
        let code = response.status();
        self.set_code(code);
        if long_running {
            self.emit(Stage::ResponseStarted);
            return response.map(|body| Ending { record: Some(self.clone()), body }.boxed_unsync());
        }
        let (parts, body) = response.into_parts();
        let is_small = body.size_hint().exact().is_some_and(|size| size <= RESPONSE_MAX as u64);
        // A failure is told at every level; the object only at the last.
        let body = if is_small && (self.wants_response() || code.is_client_error() || code.is_server_error()) {
            match read_limited(body, RESPONSE_MAX).await {
                Ok(Some(bytes)) => {
                    self.response(&parts.headers, &bytes);
                    full(bytes)
                }
                _ => crate::transport::empty(),
            }
        } else {
            body
        };
        self.emit(Stage::ResponseComplete);
        Response::from_parts(parts, body)
    }

    pub fn panicked(&self) {
        let status = json!({
            "metadata": {}, "status": "Failure", "reason": "InternalError", "code": 500,
            "message": "APIServer panic'd: the request's handler panicked"
        });
        self.event.lock().insert("responseStatus".into(), status);
        self.emit(Stage::Panic);
    }

    fn set_code(&self, code: StatusCode) {
        let mut event = self.event.lock();
        let status = event.entry("responseStatus").or_insert_with(|| json!({"metadata": {}}));
        status["code"] = code.as_u16().into();
    }

    fn response(&self, headers: &HeaderMap, bytes: &Bytes) {
        let Some(mut object) = decode(headers, bytes) else { return };
        let mut event = self.event.lock();
        if object["kind"] == "Status" {
            let status = event.entry("responseStatus").or_insert_with(|| json!({"metadata": {}}));
            for key in ["status", "message", "reason", "details"] {
                if let Some(value) = object.get(key) {
                    status[key] = value.clone();
                }
            }
        }
        if self.wants_response() {
            self.drop_managed_fields(&mut object);
            event.insert("responseObject".into(), object);
        }
    }

    fn drop_managed_fields(&self, object: &mut Value) {
        if !self.settings.omit_managed_fields {
            return;
        }
        object.remove_meta("managedFields");
        if let Some(items) = object.get_mut("items").and_then(Value::as_array_mut) {
            items.iter_mut().for_each(|item| item.remove_meta("managedFields"));
        }
    }

    fn emit(&self, stage: Stage) {
        if self.settings.omit_stages.contains(&stage) {
            return;
        }
        let mut event = self.event.lock();
        event.insert("stage".into(), stage.as_str().into());
        event.insert("stageTimestamp".into(), micros(Timestamp::now()).into());
        let annotations = self.notes.all();
        if !annotations.is_empty() {
            event.insert("annotations".into(), json!(annotations));
        }
        let rendered = Value::Object(event.clone());
        drop(event);
        self.auditor.emit(&rendered);
    }
}

/// The part of an event that is known from the start.
fn render_request(asked: &Asked<'_>, user: Option<&UserInfo>, level: Level) -> Map<String, Value> {
    let info = asked.info;
    let mut event = json!({
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": level.as_str(),
        "auditID": asked.id,
        "requestURI": asked.uri.path_and_query().map_or("", |uri| uri.as_str()),
        "verb": info.verb,
        "user": user.map_or_else(|| json!({}), UserInfo::to_value),
        "requestReceivedTimestamp": micros(asked.received),
    });
    let agent = asked.headers.get(http::header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !agent.is_empty() {
        event["userAgent"] = match agent.char_indices().nth(USER_AGENT_MAX) {
            Some((end, _)) => format!("{}...TRUNCATED", &agent[..end]).into(),
            None => agent.into(),
        };
    }
    let sources = source_ips(asked.headers, asked.peer);
    if !sources.is_empty() {
        event["sourceIPs"] = sources.into();
    }
    if info.is_resource {
        let mut reference = Map::new();
        for (key, value) in [
            ("resource", &info.resource),
            ("namespace", &info.namespace),
            ("name", &info.name),
            ("apiGroup", &info.api_group),
            ("apiVersion", &info.api_version),
            ("subresource", &info.subresource),
        ] {
            if !value.is_empty() {
                reference.insert(key.into(), value.as_str().into());
            }
        }
        event["objectRef"] = Value::Object(reference);
    }
    match event {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Whom the request came through: the forwarding headers, then the connection itself.
fn source_ips(headers: &HeaderMap, peer: &Peer) -> Vec<String> {
    let of = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_address = |text: &&str| text.parse::<std::net::IpAddr>().is_ok();
    let mut sources: Vec<String> =
        of("x-forwarded-for").split(',').map(str::trim).filter(is_address).map(str::to_owned).collect();
    let real = of("x-real-ip").trim();
    if is_address(&real) && !sources.iter().any(|source| source == real) {
        sources.push(real.to_owned());
    }
    if let Some(remote) = peer.remote().map(|remote| remote.ip().to_canonical().to_string())
        && sources.last() != Some(&remote)
    {
        sources.push(remote);
    }
    sources
}

fn attempted(headers: &HeaderMap, peer: &Peer) -> String {
    let scheme = headers.get(http::header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let scheme = scheme.trim().split(' ').next().unwrap_or_default().to_ascii_lowercase();
    let mut methods = Vec::new();
    if matches!(scheme.as_str(), "basic" | "bearer") {
        methods.push(scheme.as_str());
    }
    if matches!(peer, Peer::Tls { certificates, .. } if !certificates.is_empty()) {
        methods.push("x509");
    }
    if methods.is_empty() {
        "Authentication failed, no credentials provided".into()
    } else {
        format!("Authentication failed, attempted: {}", methods.join(", "))
    }
}

/// A body as a value; `None` where it is none that can be told (a log, a broken object).
fn decode(headers: &HeaderMap, body: &[u8]) -> Option<Value> {
    let content_type = headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    super::body::to_value(body, content_type)
}

fn micros(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// A body that tells its record when it is over, or when nobody reads it any more.
struct Ending {
    record: Option<Arc<Record>>,
    body: Body,
}

impl Ending {
    fn end(&mut self) {
        if let Some(record) = self.record.take() {
            record.emit(Stage::ResponseComplete);
        }
    }
}

impl HttpBody for Ending {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.end();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.end();
    }
}
