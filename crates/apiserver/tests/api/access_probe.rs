//! A probe of every route, asked by nobody, by a stranger and by a node. Nothing answers
//! but what is documented here; what does all the same is a gap, and the list of gaps
//! (`access_probe/gaps.txt`) may only shrink: the test fails when one appears and when a
//! listed one is no more.

use crate::server::Server;
use ferry_apiserver::Peer;
use ferry_apiserver::authn::UserInfo;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What anybody may ask, known or not.
const PUBLIC: [&str; 4] = ["GET /healthz", "GET /livez", "GET /readyz", "GET /version"];

/// What everybody who is known may ask besides: what there is, and about themselves.
/// The groups and versions of `/apis` are added to it.
const AUTHENTICATED: [&str; 9] = [
    "GET /api",
    "GET /api/v1",
    "GET /apis",
    "GET /openapi/v2",
    "GET /openapi/v3",
    "GET /version/",
    "POST /apis/authentication.k8s.io/v1/selfsubjectreviews",
    "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
];

/// Everything that can be asked, as `METHOD path`.
fn questions() -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for path in [
        "/",
        "/api",
        "/api/v1",
        "/apis",
        "/healthz",
        "/livez",
        "/livez/ping",
        "/logs",
        "/metrics",
        "/metrics/slis",
        "/openapi/v2",
        "/openapi/v3",
        "/openid/v1/jwks",
        "/readyz",
        "/readyz/ping",
        "/version",
        "/version/",
        "/.well-known/openid-configuration",
        "/debug/flags/v",
        "/debug/pprof",
        "/debug/pprof/",
        "/debug/pprof/profile?seconds=1",
        "/no/such/path",
    ] {
        out.insert(format!("GET {path}"));
    }
    for row in ferry_resources::all() {
        let root = if row.group.is_empty() {
            format!("/api/{}", row.version)
        } else {
            out.insert(format!("GET /apis/{}", row.group));
            out.insert(format!("GET /apis/{}/{}", row.group, row.version));
            format!("/apis/{}/{}", row.group, row.version)
        };
        let collection = if row.is_namespaced() {
            out.insert(format!("GET {root}/{}", row.plural));
            format!("{root}/namespaces/default/{}", row.plural)
        } else {
            format!("{root}/{}", row.plural)
        };
        let method = |verb: &str| match verb {
            "get" | "list" => "GET",
            "create" => "POST",
            "update" => "PUT",
            "patch" => "PATCH",
            "delete" | "deletecollection" => "DELETE",
            _ => "GET",
        };
        for verb in row.verbs.iter() {
            let path = match verb.as_ref() {
                "create" | "list" | "deletecollection" => collection.clone(),
                "watch" => format!("{collection}?watch=1&timeoutSeconds=1"),
                _ => format!("{collection}/probe"),
            };
            out.insert(format!("{} {path}", method(verb)));
        }
        for subresource in row.subresources.iter() {
            for verb in subresource.verbs.iter() {
                out.insert(format!("{} {collection}/probe/{}", method(verb), subresource.name));
            }
        }
    }
    out
}

/// What is answered with anything but 401 and 403.
async fn answered(server: &Server, peer: Peer, who: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for question in questions() {
        let (method, path) = question.split_once(' ').expect("two words");
        let body = Full::new("{}".into()).map_err(|never| match never {}).boxed_unsync();
        let request = Request::builder().method(method).uri(path).header("content-type", "application/json").body(body);
        let response: Response<_> = server.send(request.expect("a request"), peer.clone()).await;
        match response.status().as_u16() {
            401 => assert_eq!(who, "nobody", "{question}"),
            403 => assert_ne!(who, "nobody", "{question}"),
            _ => {
                out.insert(question);
            }
        }
    }
    out
}

fn lines(text: &str) -> BTreeSet<String> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

fn describe(found: &BTreeSet<String>, expected: &BTreeSet<String>) -> String {
    let new: Vec<&String> = found.difference(expected).collect();
    let gone: Vec<&String> = expected.difference(found).collect();
    format!("answered though it should not be: {new:#?}\nlisted but no longer so: {gone:#?}")
}

#[tokio::test]
async fn nothing_answers_whom_it_should_not() {
    let server = Server::start().await;
    let gaps = lines(include_str!("access_probe/gaps.txt"));
    let gaps_of = |who: &str| -> BTreeSet<String> {
        gaps.iter().filter_map(|line| line.strip_prefix(who)?.strip_prefix(' ')).map(str::to_owned).collect()
    };
    let known = ["nobody ", "stranger ", "node "];
    assert!(gaps.iter().all(|gap| known.iter().any(|who| gap.starts_with(who))), "a gap says for whom it is one");

    let mut expected: BTreeSet<String> = PUBLIC.map(str::to_owned).into();
    // The path with a slash is the same document.
    expected.insert("GET /version/".to_owned());
    let found = answered(&server, Peer::Plain { remote: None }, "nobody").await;
    let with_gaps: BTreeSet<String> = expected.union(&gaps_of("nobody")).cloned().collect();
    assert!(found == with_gaps, "nobody: {}", describe(&found, &with_gaps));

    expected.extend(AUTHENTICATED.map(str::to_owned));
    let discovery =
        |question: &String| question.strip_prefix("GET /apis/").is_some_and(|rest| rest.split('/').count() <= 2);
    expected.extend(questions().into_iter().filter(discovery));
    let stranger = Peer::InProcess(Arc::new(UserInfo::authenticated("stranger", &[])));
    let found = answered(&server, stranger, "stranger").await;
    let with_gaps: BTreeSet<String> = expected.union(&gaps_of("stranger")).cloned().collect();
    assert!(found == with_gaps, "stranger: {}", describe(&found, &with_gaps));

    // A node may besides do what the Node authorizer lets every node do.
    expected.extend(lines(include_str!("access_probe/node.txt")));
    let node = Peer::InProcess(Arc::new(UserInfo::authenticated("system:node:n", &["system:nodes"])));
    let found = answered(&server, node, "node").await;
    let with_gaps: BTreeSet<String> = expected.union(&gaps_of("node")).cloned().collect();
    assert!(found == with_gaps, "node: {}", describe(&found, &with_gaps));
}
