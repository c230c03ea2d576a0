//! Streams into pods as other people's clients speak them, on a real cluster: each has its own
//! dialect of WebSocket, and none of them is kubectl's.

mod cluster;

use cluster::{TestCluster, text};
use std::path::{Path, PathBuf};

/// Where `scripts/install-deps test` puts the clients.
fn installed() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    workspace.join(target.unwrap_or_else(|| "target".into())).join("clients")
}

#[test]
fn port_forward_and_exec_failed_for_python_and_javascript() {
    let cluster = TestCluster::up();
    cluster.start_web();
    let pod = cluster.json("get pods -l app=web")["items"][0]["metadata"]["name"].as_str().expect("a name").to_owned();
    let python = installed().join("python/bin/python");
    for (program, script) in [(python.as_path(), "streams.py"), (Path::new("node"), "streams.mjs")] {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dialects").join(script);
        let output = cluster
            .command(&program.to_string_lossy())
            .arg(&script)
            .arg(&pod)
            .env("CLIENTS", installed())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .expect("the clients are installed: scripts/install-deps test");
        let said = text(&output);
        assert!(
            output.status.success() && said.contains("all dialects are understood"),
            "{}:\n{said}\n{}",
            script.display(),
            cluster.log()
        );
    }
}
