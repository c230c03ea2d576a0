//! Real clients, each as its users would write it. What a client does not check by itself
//! the programs do: a test fails when an answer says something wrong, not only when it is
//! refused.

mod kube_rs;

use ferry_interop::{Server, python};
use std::path::Path;
use std::time::Duration;

/// Generous: it is there for a program that hangs, and the machine may be busy.
const LIMIT: Duration = Duration::from_secs(900);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_client_works() {
    run_python("python/test_client.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubernetes_asyncio_works() {
    run_python("python/test_asyncio.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kr8s_works() {
    run_python("python/test_kr8s.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kopf_operator_works() {
    run_python("python/test_kopf.py").await;
}

/// Runs the unittest cases of a file against a server of their own; none may be skipped.
async fn run_python(file: &str) {
    let server = Server::start().await.expect("a server");
    let said = server.drive(&python("python"), &["-m", "unittest", "-v", file], LIMIT).await;
    let said = said.unwrap_or_else(|error| panic!("{error:#}"));
    assert!(said.contains("\nOK") && !said.contains("skipped"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_javascript_client_works() {
    let server = Server::start().await.expect("a server");
    let said = server.drive(Path::new("node"), &["--test", "node/client.test.mjs"], LIMIT).await;
    let said = said.unwrap_or_else(|error| panic!("{error:#}"));
    assert!(said.contains("# fail 0") || said.contains("ℹ fail 0"), "{said}");
}

/// schemathesis makes requests of what our own OpenAPI says; none may be answered by a 5xx.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_within_our_openapi_is_answered_by_a_server_error() {
    let server = Server::start().await.expect("a server");
    // `make fuzz-openapi` asks for more, and waits for it.
    let asked = std::env::var("FUZZ_EXAMPLES").ok();
    let limit = if asked.is_some() { LIMIT * 100 } else { LIMIT };
    let examples = asked.as_deref().unwrap_or("2");
    let said = server.drive(&python("python"), &["python/fuzz_openapi.py", "--examples", examples], limit).await;
    let said = said.unwrap_or_else(|error| panic!("{error:#}"));
    assert!(said.contains("no server errors"), "{said}");
}
