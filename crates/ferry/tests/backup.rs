//! A cluster's data is backed up while it runs, brought back, and never silently shortened.

mod cluster;

use cluster::{TestCluster, text};
use std::path::Path;

fn version_of(place: &TestCluster, name: &str) -> u64 {
    let version = place.kubectl(&format!("get configmap {name} -o jsonpath={{.metadata.resourceVersion}}"));
    version.trim().parse().expect("a version")
}

/// Flips a bit in the first place where a file has the text.
fn flip(path: &Path, needle: &str) {
    let mut content = std::fs::read(path).expect("read");
    let place = content.windows(needle.len()).position(|window| window == needle.as_bytes()).expect("it is there");
    content[place] ^= 1;
    std::fs::write(path, content).expect("write");
}

#[test]
fn a_backup_brings_the_cluster_back_and_lost_writes_are_not_passed_over() {
    let place = TestCluster::up();
    place.kubectl("create configmap kept --from-literal=text=one");
    place.kubectl("create secret generic kept --from-literal=password=correct-horse");
    let file = place.path("backup.tar");
    let name = file.to_str().expect("UTF-8").to_owned();
    let said = text(&place.ferry(&["backup", &name]));
    assert!(said.contains("verified"), "{said}");
    place.kubectl("create configmap later --from-literal=text=two");
    let later = version_of(&place, "later");

    // Nothing is replaced under a running cluster, or unasked, or by what is not whole.
    let refused = text(&place.ferry(&["restore", "--replace", &name]));
    assert!(refused.contains("ferry down"), "{refused}");
    assert!(place.ferry(&["down"]).status.success());
    let refused = text(&place.ferry(&["restore", &name]));
    assert!(refused.contains("--replace"), "{refused}");
    let broken = place.path("broken.tar");
    std::fs::copy(&file, &broken).expect("copied");
    flip(&broken, "BEGIN CERTIFICATE");
    let refused = text(&place.ferry(&["restore", "--replace", broken.to_str().expect("UTF-8")]));
    assert!(refused.contains("checksum differs"), "{refused}");

    let restored = place.ferry(&["restore", "--replace", &name]);
    assert!(restored.status.success(), "{}", text(&restored));
    place.start();
    assert_eq!(place.kubectl("get configmap kept -o jsonpath={.data.text}"), "one");
    assert_eq!(place.kubectl("get secret kept -o jsonpath={.data.password}"), "Y29ycmVjdC1ob3JzZQ==");
    assert!(place.kubectl_fails("get configmap later").contains("not found"));
    place.kubectl("create configmap new --from-literal=text=three");
    assert!(version_of(&place, "new") > later + 1_000_000);
    let watch = format!("get --request-timeout=20s --raw /api/v1/configmaps?watch=1&resourceVersion={later}");
    let stale = text(&place.try_kubectl(&watch));
    assert!(stale.contains("too old"), "{stale}");

    // A flipped bit in the log of a killed cluster takes away what comes after it.
    place.kubectl("create configmap needle --from-literal=text=NEEDLE-IN-THE-LOG");
    place.kubectl("create configmap lost --from-literal=text=four");
    place.kill();
    flip(&place.data_dir().join("store/state.db-wal"), "NEEDLE-IN-THE-LOG");
    let refused = text(&place.ferry(&["up", "-d"]));
    assert!(refused.contains("has lost acknowledged changes"), "{refused}");
    assert!(refused.contains("ferry restore") && refused.contains("--accept-data-loss"), "{refused}");
    let accepted = place.ferry(&["up", "-d", "--accept-data-loss"]);
    assert!(accepted.status.success(), "{}", text(&accepted));
    assert_eq!(place.kubectl("get configmap new -o jsonpath={.data.text}"), "three");
    assert!(place.kubectl_fails("get configmap lost").contains("not found"));
}
