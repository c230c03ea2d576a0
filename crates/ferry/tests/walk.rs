//! The whole path, as a person with kubectl walks it: apply, roll out, ask by name,
//! change, look, delete.

mod cluster;

use cluster::{TestCluster, text};

/// A pod that stays, to run commands in.
const CLIENT: &str = "
apiVersion: v1
kind: Pod
metadata: {name: client}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - {name: client, image: 'localhost/ferry/client:1'}
";

#[test]
fn a_deployment_answers_by_service_name_from_every_replica() {
    let cluster = TestCluster::up();
    cluster.start_web();
    cluster.apply(CLIENT);
    cluster.kubectl("wait --for=condition=Ready pod/client --timeout=60s");
    for name in ["web", "web.default", "web.default.svc.cluster.local"] {
        let answers = cluster.kubectl(&format!("exec client -- /applets fetch http://{name} 60"));
        assert_eq!(answers.lines().filter(|line| line.contains(" x web-")).count(), 3, "{name}: {answers}");
    }

    // The story of a pod reads in the order in which it happened.
    let pod =
        cluster.json("get pods -l app=web")["items"][0]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let events = cluster.eventually("the pod's events", || {
        let events =
            cluster.kubectl(&format!("get events --sort-by=.lastTimestamp --field-selector involvedObject.name={pod}"));
        if events.contains("Started") { Ok(events) } else { Err(events) }
    });
    let order: Vec<usize> =
        ["Scheduled", "Pulled", "Created", "Started"].map(|reason| events.find(reason).unwrap_or(usize::MAX)).to_vec();
    assert!(order.is_sorted() && order.iter().all(|&at| at < usize::MAX), "{events}");
    assert!(events.contains(&format!("Successfully assigned default/{pod} to ")), "{events}");

    // A deleted pod is replaced.
    cluster.kubectl(&format!("delete pod {pod} --wait=true"));
    cluster.kubectl("rollout status deployment/web --timeout=60s");
    assert!(!cluster.kubectl("get pods -l app=web").contains(&pod));

    // Scaled to nothing, the slice and the firewall's map are empty.
    cluster.kubectl("scale deployment/web --replicas=0");
    cluster.eventually("the slice to be empty", || {
        let slices = cluster.json("get endpointslices -l kubernetes.io/service-name=web");
        let endpoints: usize = slices["items"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|s| s["endpoints"].as_array())
            .map(Vec::len)
            .sum();
        if endpoints == 0 { Ok(()) } else { Err(slices.to_string()) }
    });
    cluster.eventually("asking to be refused", || {
        let refused = text(&cluster.try_kubectl("exec client -- /applets fetch http://web"));
        if refused.contains("refused") { Ok(()) } else { Err(refused) }
    });
}

#[test]
fn kubectl_finds_every_verb_it_knows() {
    let cluster = TestCluster::up();
    cluster.start_web();

    // Rolling from one template to the next, and back.
    cluster.kubectl("set env deployment/web COLOUR=blue");
    cluster.kubectl("annotate deployment/web kubernetes.io/change-cause=blue");
    cluster.kubectl("rollout status deployment/web --timeout=90s");
    let history = cluster.kubectl("rollout history deployment/web");
    assert!(
        history.contains("blue") && history.lines().filter(|l| l.starts_with(['1', '2'])).count() == 2,
        "{history}"
    );
    cluster.kubectl("rollout undo deployment/web");
    cluster.kubectl("rollout status deployment/web --timeout=90s");
    assert!(!cluster.kubectl("get deployment web -o yaml").contains("COLOUR\n"));
    cluster.kubectl("set image deployment/web web=localhost/ferry/web:1");
    cluster.kubectl("scale deployment/web --replicas=2");
    cluster.kubectl("wait deployment/web --for=jsonpath={.status.readyReplicas}=2 --timeout=60s");
    cluster.kubectl("rollout pause deployment/web");
    cluster.kubectl("rollout resume deployment/web");
    cluster.kubectl("rollout restart deployment/web");
    cluster.kubectl("rollout status deployment/web --timeout=90s");

    // Looking at it in every form.
    cluster.eventually("two pods and no more", || {
        let wide = cluster.kubectl("get pods -l app=web -o wide --no-headers");
        if wide.lines().count() == 2 && wide.lines().all(|l| l.contains("Running") && l.contains("1/1")) {
            Ok(())
        } else {
            Err(wide)
        }
    });
    let header = cluster.kubectl("get pods -o wide");
    for column in ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES"] {
        assert!(header.contains(column), "{column} in {header}");
    }
    assert!(cluster.kubectl("get deployment web -o jsonpath={.spec.replicas}") == "2");
    let columns = cluster.kubectl("get deployments -o custom-columns=NAME:.metadata.name,WANTED:.spec.replicas");
    assert!(columns.contains("NAME") && columns.contains("web"), "{columns}");
    assert!(cluster.kubectl("get pods --field-selector status.phase=Running").contains("web-"));
    assert!(!cluster.kubectl("get pods --field-selector status.phase=Failed").contains("web-"));
    assert!(!cluster.kubectl("get pods -l app!=web").contains("web-"));
    let described = cluster.kubectl("describe deployment web");
    assert!(described.contains("RollingUpdateStrategy:  25% max unavailable, 25% max surge"), "{described}");
    assert!(cluster.kubectl("describe pods -l app=web").contains("Successfully assigned"));
    assert!(cluster.kubectl("describe node").contains("Allocated resources"));
    assert!(cluster.kubectl("explain deployment.spec.strategy").contains("rollingUpdate"));
    assert!(cluster.kubectl("explain pods.spec.containers.image").contains("image"));
    let resources = cluster.kubectl("api-resources");
    assert!(resources.contains("deployments") && resources.contains("deploy"), "{resources}");

    // Into a container and out of it.
    let pod = cluster.kubectl("get pods -l app=web -o name").lines().next().unwrap_or_default().to_owned();
    assert!(cluster.kubectl(&format!("logs {pod}")).contains("listens on port 8080"));
    assert!(cluster.kubectl(&format!("logs {pod} --tail=1 --timestamps")).starts_with("20"));
    let fetched = cluster.kubectl(&format!("exec {pod} -- /applets fetch http://127.0.0.1:8080"));
    assert_eq!(format!("pod/{}", fetched.trim()), pod);
    let failed = cluster.try_kubectl(&format!("exec {pod} -- /applets exit 7"));
    assert_eq!(failed.status.code(), Some(7), "{}", text(&failed));
    // With a terminal on our side (script gives one), kubectl asks for one on the other.
    let script = cluster
        .command("script")
        .args(["-qec", &format!("kubectl exec -it {pod} -- /applets exit 3 hello"), "/dev/null"])
        .output()
        .expect("script is part of Debian");
    assert!(text(&script).contains("hello") && script.status.code() == Some(3), "{}", text(&script));

    // A process that ends before its caller is attached is still heard, and once.
    for run in 0..6 {
        let line = format!("run once-{run} -i --rm --restart=Never --image=localhost/ferry/client:1 --command");
        let said = cluster.kubectl_with(&format!("{line} -- /applets exit 0 hello"), "");
        assert_eq!(String::from_utf8_lossy(&said.stdout).matches("hello").count(), 1, "{}", text(&said));
    }

    // A kind that nothing acts on is accepted, and nobody is left to believe in it.
    let ingress = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: way-in}\nspec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n";
    let applied = text(&cluster.kubectl_with("apply -f -", ingress));
    assert!(applied.contains("Warning: Ingress: stored, and nothing acts on it yet"), "{applied}");
    let status = text(&cluster.ferry(&["status"]));
    assert!(status.contains("1 Ingress: nothing acts on it yet: no traffic is routed by it"), "{status}");

    // Rights and changes.
    assert_eq!(cluster.kubectl("auth can-i create deployments").trim(), "yes");
    let no = cluster.try_kubectl("auth can-i list secrets --as=system:serviceaccount:default:default");
    assert_eq!(String::from_utf8_lossy(&no.stdout).trim(), "no");
    cluster.kubectl(&format!("label {pod} tier=front"));
    assert!(cluster.kubectl("get pods -l tier=front").contains("web-"));
    cluster.kubectl(&format!("annotate {pod} note=kept"));
    let same = cluster.try_kubectl(concat!("diff -f ", env!("CARGO_MANIFEST_DIR"), "/../../examples/web.yaml"));
    assert_eq!(same.status.code(), Some(1), "scaled and restarted, so it differs: {}", text(&same));
    assert!(text(&same).contains("replicas: 3"), "{}", text(&same));
    cluster.kubectl(concat!(
        "apply --server-side --force-conflicts -f ",
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/web.yaml"
    ));
    cluster.kubectl("rollout status deployment/web --timeout=90s");

    // Deleting the owner takes what it owns.
    cluster.kubectl("delete deployment web");
    cluster.eventually("replica sets and pods to follow their owner", || {
        let left = cluster.kubectl("get replicasets,pods -l app=web --no-headers");
        if left.trim().is_empty() { Ok(()) } else { Err(left) }
    });
}

#[test]
fn a_watch_tells_each_step() {
    let cluster = TestCluster::up();
    let mut watch = cluster
        .command("kubectl")
        .args(["get", "pods", "-w", "--output-watch-events", "--no-headers"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("kubectl starts");
    cluster.apply(CLIENT);
    cluster.kubectl("wait --for=condition=Ready pod/client --timeout=60s");
    cluster.kubectl("delete pod client");
    let mut seen = String::new();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(watch.stdout.take().expect("its output")));
    while !seen.contains("DELETED") {
        seen.push_str(&lines.next().expect("the watch goes on").expect("a line"));
        seen.push('\n');
    }
    watch.kill().expect("ours to end");
    watch.wait().expect("ended");
    let order = ["ADDED", "Pending", "ContainerCreating", "Running", "DELETED"]
        .map(|word| seen.find(word).unwrap_or(usize::MAX));
    assert!(order.is_sorted() && order[4] < usize::MAX, "{seen}");
}
