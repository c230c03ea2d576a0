//! Other people's clients where they need a node: streams into pods, each client in the
//! WebSocket dialect that it speaks. Their requests without streams are crate `interop`'.

mod cluster;

use cluster::{TestCluster, text};

/// A pod with a shell: the machine's static busybox, because no image of ours has one.
const SHELL: &str = "
apiVersion: v1
kind: Pod
metadata: {name: shell}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: shell
    image: localhost/ferry/client:1
    command: [/bin/busybox, sh, -c, 'echo a line to read; exec /applets sleep']
    volumeMounts: [{name: busybox, mountPath: /bin/busybox, readOnly: true}]
  volumes:
  - {name: busybox, hostPath: {path: /bin/busybox, type: File}}
";

#[test]
fn python_clients_exec_and_forward_ports_by_websocket() {
    let cluster = TestCluster::up();
    cluster.apply(SHELL);
    cluster.start_web();
    cluster.kubectl("wait --for=condition=Ready pod/shell --timeout=60s");
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/../interop/python/test_streams.py");
    let python = ferry_interop::python("python");
    let mut command = cluster.command(&python.to_string_lossy());
    command.args(["-m", "unittest", "-v", "test_streams"]).current_dir(std::path::Path::new(tests).with_file_name(""));
    let output = command.env("PYTHONDONTWRITEBYTECODE", "1").output().expect("scripts/install-deps test installs it");
    let said = text(&output);
    assert!(output.status.success() && said.contains("\nOK") && !said.contains("skipped"), "{said}\n{}", cluster.log());
}
