//! Sealing every Secret of a running cluster anew, and being killed in the middle of it.

mod cluster;

use cluster::{TestCluster, text};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// More than the server seals at a time (500), so that there is a middle.
const SECRETS: usize = 600;

/// How often a kill may come too late before it counts as a failure.
const KILLS: usize = 5;

fn create_secrets(cluster: &TestCluster) {
    let mut manifest = String::new();
    for number in 0..SECRETS {
        manifest.push_str(&format!(
            "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: s{number}}}\nstringData: {{password: correct-horse-{number}}}\n"
        ));
    }
    let output = cluster.kubectl_with("create --validate=false -f -", &manifest);
    assert!(output.status.success(), "kubectl create\n{}\n{}", text(&output), cluster.log());
}

/// What every Secret holds, by its name.
fn read_secrets(cluster: &TestCluster) -> BTreeMap<String, String> {
    let list = cluster.json("get secrets");
    let items = list["items"].as_array().expect("a list");
    items.iter().map(|secret| (secret["metadata"]["name"].to_string(), secret["data"].to_string())).collect()
}

/// How many Secrets each key sealed, how many are to be sealed anew, and what is said
/// besides.
#[derive(Debug, Default, PartialEq)]
struct Sealed {
    by: BTreeMap<String, usize>,
    stale: usize,
    other: Vec<String>,
}

fn sealed(cluster: &TestCluster) -> Sealed {
    let output = cluster.ferry(&["secrets", "status"]);
    assert!(output.status.success(), "{}\n{}", text(&output), cluster.log());
    let mut found = Sealed::default();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["secrets", count, "sealed", "by", by] => {
                let key = by.rsplit(':').next().unwrap_or(by);
                found.by.insert(key.to_owned(), count.parse().expect("a count"));
            }
            ["secrets", count, "would", ..] => found.stale = count.parse().expect("a count"),
            _ => found.other.push(line.to_owned()),
        }
    }
    found
}

/// Everything is sealed by this key, and no other is left in the file of keys.
fn assert_only_key(cluster: &TestCluster, key: &str) {
    assert_eq!(sealed(cluster), Sealed { by: [(key.to_owned(), SECRETS)].into(), ..Sealed::default() });
    let file = std::fs::read_to_string(cluster.data_dir().join("encryption.yaml")).expect("the file of keys");
    let names: Vec<&str> = file.lines().filter_map(|line| line.trim().strip_prefix("- name: ")).collect();
    assert_eq!(names, [key]);
}

fn rotate(cluster: &TestCluster) -> String {
    let output = cluster.ferry(&["secrets", "rotate"]);
    assert!(output.status.success(), "{}\n{}", text(&output), cluster.log());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Begins to seal everything anew and kills both ends after the first part. Gives what is
/// found after the next start.
fn kill_in_the_middle(cluster: &TestCluster) -> Sealed {
    let mut command = cluster.command(env!("CARGO_BIN_EXE_ferry"));
    let rotating = command.args(["secrets", "rotate"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut rotating = rotating.expect("ferry starts");
    let mut lines = BufReader::new(rotating.stdout.take().expect("its output is piped")).lines();
    let begun = lines.by_ref().map(|line| line.expect("text")).any(|line| line.ends_with(" so far"));
    cluster.kill();
    rotating.kill().expect("SIGKILL");
    rotating.wait().expect("it is gone");
    assert!(begun, "it never said how far it was\n{}", cluster.log());
    cluster.start();
    sealed(cluster)
}

#[test]
fn secrets_outlive_rotation_and_a_kill_in_the_middle_of_it() {
    let cluster = TestCluster::up();
    create_secrets(&cluster);
    let before = read_secrets(&cluster);
    assert_eq!(before.len(), SECRETS);
    assert_only_key(&cluster, "key1");
    let said = rotate(&cluster);
    assert!(said.contains("key2 is new, key1 stays for reading") && said.contains("the old one is gone"), "{said}");
    assert_only_key(&cluster, "key2");
    assert!(read_secrets(&cluster) == before, "a Secret changed");

    // A kill that comes after the last part proves nothing, so there are several tries.
    let middle = (0..KILLS).map(|_| kill_in_the_middle(&cluster)).find(|found| found.stale > 0);
    let middle = middle.expect("a kill in the middle");
    assert!(middle.by.len() == 2 && middle.other.is_empty(), "{middle:?}");
    assert_eq!(middle.by.values().sum::<usize>(), SECRETS);
    assert!(read_secrets(&cluster) == before, "a Secret is lost or changed");
    let said = rotate(&cluster);
    assert!(said.contains("which an earlier rotation made") && said.contains("the old one is gone"), "{said}");
    let newest = middle.by.keys().max().expect("two keys");
    assert_only_key(&cluster, newest);
    assert!(read_secrets(&cluster) == before, "a Secret changed");
}
