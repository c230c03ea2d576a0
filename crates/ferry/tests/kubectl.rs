//! The binary's own kubectl against a cluster: what a newcomer types, with the answers of upstream's.

mod cluster;

use cluster::{TestCluster, text};
use std::path::PathBuf;
use std::process::Output;

/// Runs `ferry kubectl …` with the cluster's kubeconfig.
fn run(cluster: &TestCluster, line: &str) -> Output {
    let mut command = cluster.command(env!("CARGO_BIN_EXE_ferry"));
    command.arg("kubectl").args(line.split_whitespace());
    command.output().expect("ferry runs")
}

fn says(cluster: &TestCluster, line: &str) -> String {
    let output = run(cluster, line);
    assert!(output.status.success(), "{line}\n{}\n{}", text(&output), cluster.log());
    String::from_utf8(output.stdout).expect("text")
}

fn fails(cluster: &TestCluster, line: &str) -> String {
    let output = run(cluster, line);
    assert_eq!(output.status.code(), Some(1), "{line}\n{}", text(&output));
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn the_binarys_own_kubectl_takes_a_deployment_through_its_life() {
    let cluster = TestCluster::up();
    let web = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/web.yaml");
    let apply = format!("apply -f {}", web.display());
    assert_eq!(says(&cluster, &apply), "deployment.apps/web created\nservice/web created\n");
    let status = says(&cluster, "rollout status deployment/web --timeout=60s");
    assert!(status.ends_with("deployment \"web\" successfully rolled out\n"), "{status}");
    assert_eq!(says(&cluster, &apply), "deployment.apps/web unchanged\nservice/web unchanged\n");
    assert_eq!(says(&cluster, "get deployment web -o jsonpath={.status.readyReplicas}"), "3");
    let table = says(&cluster, "get deployments");
    let mut lines = table.lines();
    assert_eq!(
        lines.next().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).as_deref(),
        Some("NAME READY UP-TO-DATE AVAILABLE AGE")
    );
    assert!(lines.next().is_some_and(|line| line.starts_with("web    3/3     3            3 ")), "{table}");
    assert_eq!(says(&cluster, "scale deployment web --replicas=1"), "deployment.apps/web scaled\n");
    assert_eq!(
        says(&cluster, "wait deployment/web --for=jsonpath={.status.replicas}=1 --timeout=60s"),
        "deployment.apps/web condition met\n"
    );
    // The apply brings the count of the file back, by a patch of that field alone.
    assert_eq!(says(&cluster, &apply), "deployment.apps/web configured\nservice/web unchanged\n");
    assert_eq!(says(&cluster, "label deployment web tier=front"), "deployment.apps/web labeled\n");
    assert_eq!(says(&cluster, "get deployments -l tier=front -o name"), "deployment.apps/web\n");
    let deleted = says(&cluster, &format!("delete -f {}", web.display()));
    assert_eq!(
        deleted,
        "deployment.apps \"web\" deleted from default namespace\nservice \"web\" deleted from default namespace\n"
    );
    assert_eq!(
        fails(&cluster, "get deployment web"),
        "Error from server (NotFound): deployments.apps \"web\" not found\n"
    );
    assert_eq!(fails(&cluster, "get nonsense"), "error: the server doesn't have a resource type \"nonsense\"\n");
}
