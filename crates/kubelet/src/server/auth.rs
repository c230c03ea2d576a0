//! Who may ask the kubelet for what.
//!
//! The API server is known by its client certificate and may do everything. Everybody
//! else is judged by the API: a TokenReview or the certificate says who they are, a
//! SubjectAccessReview on `nodes/…` what they may do. Health is for all to see.

use super::{Body, text};
use crate::ServerConfig;
use ferry_api::view::authentication::v1::{TokenReview, TokenReviewSpec};
use ferry_api::view::authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use ferry_client::Client;
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use rustls::pki_types::CertificateDer;

/// Who the connection's certificate says is calling.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caller {
    pub name: Option<String>,
    pub groups: Vec<String>,
}

impl Caller {
    /// The handshake has verified the chain; only the names are read here.
    pub fn from_certificate(chain: Option<&[CertificateDer<'_>]>) -> Self {
        let Some(leaf) = chain.and_then(<[_]>::first) else { return Self::default() };
        let Ok((_, certificate)) = x509_parser::parse_x509_certificate(leaf) else { return Self::default() };
        let subject = certificate.subject();
        let name = subject.iter_common_name().next().and_then(|name| name.as_str().ok()).map(str::to_string);
        let groups = subject.iter_organization().filter_map(|name| name.as_str().ok()).map(str::to_string).collect();
        Self { name, groups }
    }
}

pub struct Authorizer {
    client: Client,
    node_name: String,
    allowed_names: Vec<String>,
}

impl Authorizer {
    pub fn new(client: Client, node_name: &str, config: &ServerConfig) -> Self {
        Self { client, node_name: node_name.into(), allowed_names: config.allowed_names.clone() }
    }

    /// `Err` is the refusal to answer with.
    pub async fn allow(&self, caller: &Caller, request: &Request<Incoming>) -> Result<(), Box<Response<Body>>> {
        if matches!(request.uri().path(), "/healthz" | "/healthz/ping") {
            return Ok(());
        }
        let known = match &caller.name {
            Some(name) if self.allowed_names.contains(name) => return Ok(()),
            Some(_) => Some(caller.clone()),
            None => match bearer_token(request) {
                Some(token) => self.review_token(token).await,
                None => None,
            },
        };
        let Some(caller) = known else { return Err(Box::new(text(StatusCode::UNAUTHORIZED, "Unauthorized"))) };
        let verb = verb(request.method());
        let subresources = subresources(request.uri().path());
        for subresource in &subresources {
            if self.review_access(&caller, verb, subresource).await {
                return Ok(());
            }
        }
        let (name, asked) = (caller.name.unwrap_or_default(), subresources.join(" "));
        let why = format!("Forbidden (user={name}, verb={verb}, resource=nodes, subresource(s)=[{asked}])\n");
        Err(Box::new(text(StatusCode::FORBIDDEN, why)))
    }

    async fn review_token(&self, token: &str) -> Option<Caller> {
        let review = TokenReview::new().with_spec(TokenReviewSpec::new().with_token(token));
        let answer = self.client.api::<TokenReview>("").create(&review).await.ok()?;
        let status = answer.view().status();
        let user = status.user();
        let is_known = status.authenticated() && !user.username().is_empty();
        is_known.then(|| Caller { name: Some(user.username().to_owned()), groups: user.groups().to_vec() })
    }

    async fn review_access(&self, caller: &Caller, verb: &str, subresource: &str) -> bool {
        let asked = ResourceAttributes::new()
            .with_verb(verb)
            .with_version("v1")
            .with_resource("nodes")
            .with_subresource(subresource)
            .with_name(&self.node_name);
        let spec = SubjectAccessReviewSpec::new()
            .with_user(caller.name.as_deref())
            .with_groups(&caller.groups)
            .with_resource_attributes(asked);
        let review = SubjectAccessReview::new().with_spec(spec);
        match self.client.api::<SubjectAccessReview>("").create(&review).await {
            Ok(review) => review.view().status().allowed(),
            Err(error) => {
                tracing::warn!(%error, "cannot ask whether a request is allowed");
                false
            }
        }
    }
}

fn bearer_token(request: &Request<Incoming>) -> Option<&str> {
    request.headers().get("authorization")?.to_str().ok()?.strip_prefix("Bearer ").map(str::trim)
}

/// Methods that are no verb of the API are allowed by those who may do everything.
fn verb(method: &http::Method) -> &'static str {
    match *method {
        http::Method::GET => "get",
        http::Method::POST => "create",
        http::Method::PUT => "update",
        http::Method::PATCH => "patch",
        http::Method::DELETE => "delete",
        _ => "",
    }
}

/// The subresources of the node that each allow a request, the narrowest first: some paths have
/// names of their own and are part of `proxy` as well (upstream: pkg/kubelet/server/auth.go). The
/// path is taken as it came; the routes decode it only later, so that a name in disguise is `proxy`.
fn subresources(path: &str) -> Vec<&'static str> {
    match path.trim_start_matches('/').split('/').next().unwrap_or_default() {
        "pods" | "runningpods" => vec!["pods", "proxy"],
        "healthz" => vec!["healthz", "proxy"],
        "configz" => vec!["configz", "proxy"],
        "stats" => vec!["stats"],
        "metrics" => vec!["metrics"],
        // As the log of a pod.
        "logs" => vec!["log"],
        "checkpoint" => vec!["checkpoint"],
        "statusz" => vec!["statusz"],
        "flagz" => vec!["configz"],
        _ => vec!["proxy"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_allowed_by_their_own_subresource_and_some_by_proxy() {
        let check = |path: &str, expected: &[&str]| assert_eq!(subresources(path), expected, "{path}");
        check("/pods", &["pods", "proxy"]);
        check("/runningpods/", &["pods", "proxy"]);
        check("/healthz/ping", &["healthz", "proxy"]);
        check("/configz", &["configz", "proxy"]);
        check("/stats/summary", &["stats"]);
        check("/metrics/cadvisor", &["metrics"]);
        check("/logs/kubelet.log", &["log"]);
        check("/checkpoint/ns/pod/c", &["checkpoint"]);
        check("/statusz", &["statusz"]);
        check("/flagz", &["configz"]);
        for path in ["/exec/ns/pod/c", "/podsx", "/statsx/summary", "/%70ods", "/", "", "/run/a/b/c", "/debug/pprof"] {
            check(path, &["proxy"]);
        }
    }
}
