//! `X-Remote-User` and its kin are for the front proxy alone: whoever does not show the
//! certificate that its authority issued, under a name that is allowed, is who they are.

use super::Verdict;
use crate::server::Server;
use ferry_pki::{Authority, ClientSubject, Identity};
use jiff::Timestamp;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Whom the headers claim to be.
const CLAIM: &str = "x-remote-user: root-of-all\r\nx-remote-group: system:masters\r\nx-remote-uid: 0\r\n";

/// Who comes, by the certificate they show.
fn callers(server: &Server) -> Vec<(&'static str, Option<Identity>)> {
    let now = Timestamp::now();
    let issue = |authority: &Authority, name: &str, group: Option<&str>| {
        Some(authority.issue_client(&ClientSubject::new(name, group), now).expect("a certificate"))
    };
    let stranger = Authority::generate("front-proxy-ca", now).expect("an authority");
    vec![
        ("nobody", None),
        ("a user", issue(&server.pki.ca, "bob", None)),
        ("an administrator", Some(server.pki.admin.clone())),
        ("a user named as the proxy is", issue(&server.pki.ca, "front-proxy-client", None)),
        ("a stranger named as the proxy is", issue(&stranger, "front-proxy-client", None)),
        ("the proxy's authority under another name", issue(&server.pki.front_proxy_ca, "bob", Some("system:masters"))),
    ]
}

/// Claims to be somebody with each of these certificates. `whoami` tells whom the server
/// takes the caller for.
async fn attack(
    callers: &[(&'static str, Option<Identity>)],
    whoami: impl AsyncFn(Option<&Identity>) -> String,
    verdict: &mut Verdict,
) {
    for (caller, identity) in callers {
        let taken_for = whoami(identity.as_ref()).await;
        verdict.tried(*caller, taken_for == "root-of-all");
    }
}

/// Asks the server over TLS who it thinks is asking; the code of a refusal instead.
async fn whoami(server: &Server, identity: Option<&Identity>) -> String {
    let mut stream = server.connect_as(identity, "http/1.1").await;
    let request = format!(
        "POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n{CLAIM}Content-Length: 2\r\n\r\n{{}}"
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = Vec::new();
    // Whether TLS says goodbye is of no matter.
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    if head.starts_with("HTTP/1.1 201") {
        let body: Value = serde_json::from_str(body).expect("a review");
        return body["status"]["userInfo"]["username"].as_str().unwrap_or_default().to_owned();
    }
    head.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn ferry_takes_nobodys_word_but_the_proxys() {
    let server = Server::start().await;
    let mut verdict = Verdict::default();
    attack(&callers(&server), async |identity| whoami(&server, identity).await, &mut verdict).await;
    verdict.assert_held();
    let now = Timestamp::now();
    let subject = ClientSubject::new("front-proxy-client", None);
    let proxy = server.pki.front_proxy_ca.issue_client(&subject, now).expect("a certificate");
    assert_eq!(whoami(&server, Some(&proxy)).await, "root-of-all", "the proxy itself is believed");
    assert_eq!(whoami(&server, Some(&server.pki.admin)).await, "kubernetes-admin");
    assert_eq!(whoami(&server, None).await, "401");
}

#[tokio::test]
async fn a_server_that_reads_headers_only_is_found_out() {
    let server = Server::start().await;
    let mut verdict = Verdict::default();
    let careless = async |_: Option<&Identity>| {
        let user = CLAIM.lines().find_map(|line| line.strip_prefix("x-remote-user: "));
        user.unwrap_or("401").to_owned()
    };
    attack(&callers(&server), careless, &mut verdict).await;
    verdict.assert_breached();
}
