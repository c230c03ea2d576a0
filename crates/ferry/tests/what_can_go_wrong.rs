//! Every row of the tables of what can go wrong, brought about on purpose: what a person
//! then sees must read as upstream's.

mod cluster;

use cluster::{TestCluster, text};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

/// A pod of one container with lines of its own added to the container.
fn pod(name: &str, image: &str, container: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{app: {name}}}}}\nspec:\n  terminationGracePeriodSeconds: 0\n  containers:\n  - name: main\n    image: {image}\n{container}"
    )
}

const WEB: &str = "localhost/ferry/web:1";
const CLIENT: &str = "localhost/ferry/client:1";

#[test]
fn a_pod_that_fits_nowhere_says_why() {
    let cluster = TestCluster::up();
    cluster.apply(&pod("greedy", CLIENT, "    resources: {requests: {cpu: '1000'}}\n"));
    let said = cluster.eventually_says("describe pod greedy", "FailedScheduling");
    assert!(said.contains("0/1 nodes are available: 1 Insufficient cpu."), "{said}");
    assert_eq!(cluster.kubectl("get pod greedy -o jsonpath={.status.phase}"), "Pending");
    assert_eq!(
        cluster.kubectl("get pod greedy -o jsonpath={.status.conditions[?(@.type==\"PodScheduled\")].reason}"),
        "Unschedulable"
    );

    let node = cluster.kubectl("get nodes -o jsonpath={.items[0].metadata.name}");
    cluster.kubectl(&format!("taint node {node} only=for-you:NoSchedule"));
    cluster.apply(&pod("kept-out", CLIENT, ""));
    let said = cluster.eventually_says("describe pod kept-out", "FailedScheduling");
    assert!(said.contains("0/1 nodes are available: 1 node(s) had untolerated taint(s)."), "{said}");
    // What stood in the way goes, and the pod runs without being touched.
    cluster.kubectl(&format!("taint node {node} only-"));
    cluster.kubectl("wait --for=condition=Ready pod/kept-out --timeout=60s");

    let picky = "  nodeSelector: {disk: fast}\n";
    cluster.apply(&format!("{}{picky}", pod("picky", CLIENT, "")));
    let said = cluster.eventually_says("describe pod picky", "FailedScheduling");
    assert!(said.contains("0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."), "{said}");
    cluster.kubectl(&format!("label node {node} disk=fast"));
    cluster.kubectl("wait --for=condition=Ready pod/picky --timeout=60s");

    cluster.kubectl(&format!("cordon {node}"));
    cluster.apply(&pod("late", CLIENT, ""));
    let said = cluster.eventually_says("describe pod late", "FailedScheduling");
    assert!(said.contains("1 node(s) were unschedulable"), "{said}");
}

#[test]
fn a_container_that_ends_is_started_again_later_and_later() {
    let cluster = TestCluster::up();
    cluster.apply(&pod("crashing", CLIENT, "    command: [/applets, exit, '3', out of cheese]\n"));
    cluster.eventually_says("get pod crashing", "CrashLoopBackOff");
    assert!(cluster.eventually_says("logs crashing --previous", "out of cheese").contains("out of cheese"));
    let described = cluster
        .eventually_says("describe pod crashing", "Back-off restarting failed container main in pod crashing_default(");
    assert!(
        described.contains("Exit Code:    3") && described.contains("Reason:       CrashLoopBackOff"),
        "{described}"
    );
    let restarts =
        cluster.json("get pod crashing")["status"]["containerStatuses"][0]["restartCount"].as_i64().unwrap_or(0);
    assert!(restarts >= 1);

    // The same with restartPolicy Never and OnFailure.
    cluster.apply(&format!("{}  restartPolicy: Never\n", pod("once", CLIENT, "    command: [/applets, exit, '1']\n")));
    cluster
        .apply(&format!("{}  restartPolicy: OnFailure\n", pod("fine", CLIENT, "    command: [/applets, exit, '0']\n")));
    cluster.kubectl("wait pod/once --for=jsonpath={.status.phase}=Failed --timeout=60s");
    cluster.kubectl("wait pod/fine --for=jsonpath={.status.phase}=Succeeded --timeout=60s");
    assert!(cluster.kubectl("get pod once").contains("Error"));
    assert!(cluster.kubectl("get pod fine").contains("Completed"));
}

#[test]
fn a_pod_that_is_not_ready_gets_no_traffic() {
    let cluster = TestCluster::up();
    cluster.apply(&pod("slow", WEB, "    readinessProbe: {httpGet: {path: /healthz, port: 9999}, periodSeconds: 1}\n"));
    cluster.apply("apiVersion: v1\nkind: Service\nmetadata: {name: slow}\nspec: {selector: {app: slow}, ports: [{port: 80, targetPort: 8080}]}\n");
    cluster.apply("apiVersion: v1\nkind: Service\nmetadata: {name: nobody}\nspec: {selector: {app: nobody}, ports: [{port: 80}]}\n");
    cluster.apply(&pod("client", CLIENT, ""));
    cluster.eventually("running but not ready", || {
        let seen = cluster.kubectl("get pod slow");
        if seen.contains("0/1") && seen.contains("Running") { Ok(()) } else { Err(seen) }
    });
    cluster.eventually_says("describe pod slow", "Readiness probe failed: Get \"http://");
    assert_eq!(
        cluster.kubectl("get pod slow -o jsonpath={.status.conditions[?(@.type==\"Ready\")].reason}"),
        "ContainersNotReady"
    );
    let endpoints = cluster.kubectl("get endpoints slow nobody -o jsonpath={.items[*].subsets[*].addresses}");
    assert_eq!(endpoints.trim(), "", "not ready, so no address");
    assert!(cluster.kubectl("describe service nobody").contains("Endpoints:"));
    cluster.kubectl("wait --for=condition=Ready pod/client --timeout=60s");
    for service in ["slow", "nobody"] {
        cluster.eventually("a service without endpoints to refuse", || {
            let said = text(&cluster.try_kubectl(&format!("exec client -- /applets fetch http://{service}")));
            if said.contains("refused") { Ok(()) } else { Err(said) }
        });
    }
}

#[test]
fn a_failing_liveness_probe_restarts_the_container() {
    let cluster = TestCluster::up();
    cluster.apply(&pod(
        "ill",
        WEB,
        "    livenessProbe: {tcpSocket: {port: 9999}, periodSeconds: 1, failureThreshold: 2}\n",
    ));
    let said = cluster.eventually_says("describe pod ill", "failed liveness probe, will be restarted");
    assert!(said.contains("Liveness probe failed: dial tcp"), "{said}");
    cluster.eventually("a restart", || {
        let restarts = cluster.json("get pod ill")["status"]["containerStatuses"][0]["restartCount"].as_i64();
        if restarts.unwrap_or(0) > 0 { Ok(()) } else { Err(format!("{restarts:?}")) }
    });
}

#[test]
fn a_pod_without_a_network_stays_in_container_creating() {
    let cluster = TestCluster::up();
    let conf = cluster.run_dir().join("cni/net.d");
    let list = std::fs::read_dir(&conf).expect("a CNI configuration").flatten().next().expect("one file").path();
    let good = std::fs::read_to_string(&list).expect("read");
    std::fs::write(&list, good.replace("\"host-local\"", "\"no-such-ipam\"")).expect("written");
    // The runtime takes note of the changed file in its own time.
    cluster.eventually("a failing sandbox", || {
        cluster.try_kubectl("delete pod cut-off --now --wait=true");
        cluster.apply(&pod("cut-off", CLIENT, ""));
        let said = cluster.eventually("it to run or to fail", || {
            let said = cluster.kubectl("describe pod cut-off");
            if said.contains("FailedCreatePodSandBox") || said.contains("Started") { Ok(said) } else { Err(said) }
        });
        if said.contains("FailedCreatePodSandBox") { Ok(()) } else { Err(said) }
    });
    assert!(cluster.kubectl("get pod cut-off").contains("ContainerCreating"));
    let said = cluster.kubectl("describe pod cut-off");
    assert!(
        said.contains(
            "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox"
        ),
        "{said}"
    );
    std::fs::write(&list, good).expect("written");
    cluster.kubectl("wait --for=condition=Ready pod/cut-off --timeout=90s");
}

/// A real registry on loopback that asks for a password.
struct Registry {
    process: Child,
    port: u16,
    _dir: tempfile::TempDir,
}

impl Registry {
    fn start() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port();
        // ferry:right, hashed with bcrypt.
        let users = dir.path().join("users");
        std::fs::write(&users, "ferry:$2b$05$abcdefghijklmnopqrstuu8xaCxxL82bnl.UY74PMksDxIJShppPC\n")
            .expect("written");
        let config = dir.path().join("config.yml");
        let text = format!(
            "version: 0.1\nstorage: {{filesystem: {{rootdirectory: {root}}}}}\nhttp: {{addr: '127.0.0.1:{port}'}}\nauth: {{htpasswd: {{realm: ferry, path: {users}}}}}\n",
            root = dir.path().join("store").display(),
            users = users.display()
        );
        std::fs::write(&config, text).expect("written");
        let process = Command::new("docker-registry")
            .arg("serve")
            .arg(&config)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("docker-registry is installed");
        Self { process, port, _dir: dir }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn an_image_that_cannot_be_pulled_says_why() {
    let cluster = TestCluster::up();
    let registry = Registry::start();
    let image = format!("localhost:{}/web:1", registry.port);
    let ctr = |args: &[&str]| {
        let output = cluster
            .command("ctr")
            .arg("--address")
            .arg(cluster.socket())
            .args(["--namespace", "k8s.io", "images"])
            .args(args)
            .output();
        output.expect("ctr is part of containerd")
    };
    assert!(ctr(&["tag", WEB, &image]).status.success());
    cluster.eventually("the registry to take the image", || {
        let pushed = ctr(&["push", "--plain-http", "--user", "ferry:right", &image]);
        if pushed.status.success() { Ok(()) } else { Err(text(&pushed)) }
    });
    assert!(ctr(&["rm", &image]).status.success());

    // No credentials, then wrong ones, then a tag that is not there, then all is well.
    let always = "    imagePullPolicy: Always\n";
    cluster.apply(&pod("anonymous", &image, always));
    cluster.eventually_says("get pod anonymous", "ImagePullBackOff");
    let said = cluster.eventually_says("describe pod anonymous", "Back-off pulling image");
    assert!(
        said.contains("Failed to pull image")
            && said.contains("Error: ErrImagePull")
            && said.contains("Error: ImagePullBackOff"),
        "{said}"
    );

    let server = format!("localhost:{}", registry.port);
    for (name, password) in [("wrong", "wrong"), ("right", "right")] {
        cluster.kubectl(&format!("create secret docker-registry {name} --docker-server={server} --docker-username=ferry --docker-password={password}"));
        cluster.apply(&format!(
            "{}  imagePullSecrets: [{{name: {name}}}]\n",
            pod(&format!("with-{name}"), &image, always)
        ));
    }
    cluster.eventually_says("get pod with-wrong", "ImagePullBackOff");
    cluster.kubectl("wait --for=condition=Ready pod/with-right --timeout=60s");
    assert!(cluster.eventually_says("describe pod with-right", "Successfully pulled image").contains("Image size: "));

    // The image is on the machine now, and still nobody's who cannot open its registry.
    let present = "    imagePullPolicy: IfNotPresent\n";
    cluster.apply(&pod("stranger", &image, present));
    cluster.eventually_says("get pod stranger", "ImagePullBackOff");
    cluster.apply(&format!("{}  imagePullSecrets: [{{name: right}}]\n", pod("friend", &image, present)));
    cluster.eventually_says("describe pod friend", "already present on machine and can be accessed by the pod");

    let missing = format!("localhost:{}/web:no-such-tag", registry.port);
    cluster.apply(&format!("{}  imagePullSecrets: [{{name: right}}]\n", pod("missing", &missing, always)));
    let said = cluster.eventually_says("describe pod missing", "Failed to pull image");
    assert!(said.contains("not found"), "{said}");
    cluster.apply(&pod("never", "localhost/ferry/absent:1", "    imagePullPolicy: Never\n"));
    cluster.eventually_says("get pod never", "ErrImageNeverPull");
    cluster.apply(&pod("nonsense", "Not An Image", ""));
    cluster.eventually_says("get pod nonsense", "InvalidImageName");
}
