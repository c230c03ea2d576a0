//! Wrong requests get a clear 4xx that names the field and the rule, and change nothing.

mod cluster;

use cluster::{TestCluster, text};
use serde_json::Value;

struct Raw<'a> {
    cluster: &'a TestCluster,
    server: String,
}

impl Raw<'_> {
    /// One request by curl with the administrator's certificate; the code and the Status.
    fn send(&self, method: &str, path: &str, content_type: &str, body: &[u8], extra: &[&str]) -> (u16, Value) {
        let pki = self.cluster.data_dir().join("pki");
        let file = self.cluster.path("body");
        std::fs::write(&file, body).expect("written");
        let mut command = self.cluster.command("curl");
        command
            .args(["-sS", "-w", "\n%{http_code}", "-X", method, "--cacert"])
            .arg(pki.join("ca.crt"))
            .arg("-H")
            .arg(format!("Content-Type: {content_type}"));
        if !extra.contains(&"--no-identity") {
            command.arg("--cert").arg(pki.join("admin.crt")).arg("--key").arg(pki.join("admin.key"));
        }
        command.args(extra.iter().filter(|arg| **arg != "--no-identity"));
        if !body.is_empty() {
            command.arg("--data-binary").arg(format!("@{}", file.display()));
        }
        let output = command.arg(format!("{}{path}", self.server)).output().expect("curl is installed");
        let said = text(&output);
        let (answer, code) = said.trim_end().rsplit_once('\n').unwrap_or(("", said.trim_end()));
        (code.trim().parse().unwrap_or(0), serde_json::from_str(answer).unwrap_or(Value::String(answer.to_owned())))
    }
}

const JSON: &str = "application/json";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const PODS: &str = "/api/v1/namespaces/default/pods";

fn pod(spec: &str) -> Vec<u8> {
    format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"bad"}},"spec":{spec}}}"#).into_bytes()
}

#[test]
fn wrong_requests_are_refused_with_the_field_and_the_rule() {
    let cluster = TestCluster::up();
    let server = cluster.kubectl("config view --minify -o jsonpath={.clusters[0].cluster.server}");
    let raw = Raw { cluster: &cluster, server };
    let before = cluster.kubectl("get all,configmaps,secrets -A --no-headers -o name");

    let check = |what: &str, got: (u16, Value), code: u16, reason: &str, message: &str| {
        assert_eq!(got.0, code, "{what}: {}", got.1);
        assert_eq!(got.1["kind"], "Status", "{what}: {}", got.1);
        assert_eq!(got.1["reason"], reason, "{what}: {}", got.1);
        let said = got.1["message"].as_str().unwrap_or_default();
        assert!(said.contains(message), "{what}: {said}");
    };

    check(
        "malformed JSON",
        raw.send("POST", PODS, JSON, b"{\"kind\": \"Pod\"", &[]),
        400,
        "BadRequest",
        "unexpected end of JSON input",
    );
    check(
        "malformed YAML",
        raw.send("POST", PODS, "application/yaml", b"kind: [Pod\n", &[]),
        400,
        "BadRequest",
        "yaml",
    );
    // The URL says which kind is meant, so an object need not; the rest of it must.
    check(
        "an empty object",
        raw.send("POST", PODS, JSON, b"{}", &[]),
        422,
        "Invalid",
        "metadata.name: Required value: name or generateName is required",
    );
    check(
        "another kind",
        raw.send("POST", PODS, JSON, br#"{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"}}"#, &[]),
        400,
        "BadRequest",
        "Service in version \"v1\" cannot be handled as a Pod",
    );
    check(
        "unknown and duplicate fields",
        raw.send(
            "POST",
            &format!("{PODS}?fieldValidation=Strict"),
            JSON,
            &pod(r#"{"containers":[{"name":"a","image":"b","imaje":"c"}],"nodeName":"x","nodeName":"y"}"#),
            &[],
        ),
        400,
        "BadRequest",
        "strict decoding error: ",
    );
    check(
        "wrong type",
        raw.send(
            "POST",
            DEPLOYMENTS,
            JSON,
            br#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":"three"}}"#,
            &[],
        ),
        400,
        "BadRequest",
        "cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
    );
    let missing = raw.send("POST", PODS, JSON, &pod("{}"), &[]);
    assert_eq!(missing.1["details"]["causes"][0]["field"], "spec.containers", "{}", missing.1);
    check("missing field", missing, 422, "Invalid", "spec.containers: Required value");
    check(
        "bad name",
        raw.send("POST", PODS, JSON, br#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"Not_A_Name"},"spec":{"containers":[{"name":"a","image":"b"}]}}"#, &[]),
        422,
        "Invalid",
        "metadata.name: Invalid value: \"Not_A_Name\": a lowercase RFC 1123 subdomain must consist of",
    );
    let large = format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a"}},"data":{{"a":"{}"}}}}"#,
        "x".repeat(4 << 20)
    );
    check(
        "four MiB",
        raw.send("POST", "/api/v1/namespaces/default/configmaps", JSON, large.as_bytes(), &[]),
        413,
        "RequestEntityTooLarge",
        "limit is 3145728",
    );
    check(
        "wrong content type",
        raw.send("POST", PODS, "text/plain", b"hello", &[]),
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format",
    );
    check(
        "wrong patch type",
        raw.send("PATCH", &format!("{PODS}/a"), JSON, b"{}", &[]),
        415,
        "UnsupportedMediaType",
        "application/json-patch+json",
    );
    check(
        "unknown resource",
        raw.send("GET", "/api/v1/namespaces/default/gadgets", JSON, b"", &[]),
        404,
        "NotFound",
        "the server could not find the requested resource",
    );
    check(
        "absent object",
        raw.send("GET", &format!("{PODS}/absent"), JSON, b"", &[]),
        404,
        "NotFound",
        "pods \"absent\" not found",
    );
    check("verb not supported", raw.send("POST", &format!("{PODS}/a"), JSON, b"{}", &[]), 405, "MethodNotAllowed", "");
    check(
        "absent namespace",
        raw.send(
            "POST",
            "/api/v1/namespaces/nowhere/configmaps",
            JSON,
            br#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}"#,
            &[],
        ),
        404,
        "NotFound",
        "namespaces \"nowhere\" not found",
    );
    check(
        "bad label selector",
        raw.send("GET", &format!("{PODS}?labelSelector=a%3D%3D%3Db"), JSON, b"", &[]),
        400,
        "BadRequest",
        "unable to parse requirement",
    );
    check(
        "bad field selector",
        raw.send("GET", &format!("{PODS}?fieldSelector=spec.colour%3Dred"), JSON, b"", &[]),
        400,
        "BadRequest",
        "field label not supported: spec.colour",
    );
    check(
        "bad resource version",
        raw.send("GET", &format!("{PODS}?resourceVersion=soon"), JSON, b"", &[]),
        400,
        "BadRequest",
        "soon",
    );

    // Identities that are none.
    check("no identity", raw.send("GET", PODS, JSON, b"", &["--no-identity"]), 401, "Unauthorized", "Unauthorized");
    check(
        "forged token",
        raw.send("GET", PODS, JSON, b"", &["--no-identity", "-H", "Authorization: Bearer eyJhbGciOiJub25lIn0.e30."]),
        401,
        "Unauthorized",
        "Unauthorized",
    );
    let token = cluster.kubectl("create token default");
    let mut forged = token.trim().to_owned();
    let at = forged.len() - 8;
    forged.replace_range(at..=at, if &forged[at..=at] == "A" { "B" } else { "A" });
    check(
        "tampered token",
        raw.send("GET", PODS, JSON, b"", &["--no-identity", "-H", &format!("Authorization: Bearer {forged}")]),
        401,
        "Unauthorized",
        "Unauthorized",
    );
    check(
        "a token without rights",
        raw.send("GET", PODS, JSON, b"", &["--no-identity", "-H", &format!("Authorization: Bearer {}", token.trim())]),
        403,
        "Forbidden",
        "pods is forbidden: User \"system:serviceaccount:default:default\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\"",
    );
    let ca = cluster.path("other-ca");
    std::fs::create_dir(&ca).expect("made");
    let openssl = cluster
        .command("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "1",
            "-subj",
            "/O=system:masters/CN=kubernetes-admin",
            "-keyout",
        ])
        .arg(ca.join("key"))
        .arg("-out")
        .arg(ca.join("crt"))
        .output()
        .expect("openssl is installed");
    assert!(openssl.status.success(), "{}", text(&openssl));
    let (crt, key) = (ca.join("crt").display().to_string(), ca.join("key").display().to_string());
    check(
        "a certificate from another authority",
        raw.send("GET", PODS, JSON, b"", &["--no-identity", "--cert", &crt, "--key", &key]),
        401,
        "Unauthorized",
        "Unauthorized",
    );

    let after = cluster.kubectl("get all,configmaps,secrets -A --no-headers -o name");
    assert_eq!(before, after, "nothing was changed");
}

#[test]
fn what_may_not_change_does_not() {
    let cluster = TestCluster::up();
    cluster.start_web();
    let selector = cluster.kubectl_with(
        "patch deployment web --type=merge --patch-file=/dev/stdin",
        r#"{"spec":{"selector":{"matchLabels":{"app":"other"}},"template":{"metadata":{"labels":{"app":"other"}}}}}"#,
    );
    assert!(
        text(&selector).contains("spec.selector: Invalid value") && text(&selector).contains("field is immutable"),
        "{}",
        text(&selector)
    );
    let pod = cluster.kubectl("get pods -l app=web -o name").lines().next().unwrap_or_default().to_owned();
    let said = cluster.kubectl_with(
        &format!("patch {pod} --type=merge --patch-file=/dev/stdin"),
        r#"{"spec":{"nodeName":"elsewhere"}}"#,
    );
    assert!(text(&said).contains("Forbidden: pod updates may not change fields other than"), "{}", text(&said));
    let said = cluster.kubectl_with(
        "patch service web --type=merge --patch-file=/dev/stdin",
        r#"{"spec":{"clusterIP":"10.0.0.9","clusterIPs":["10.0.0.9"]}}"#,
    );
    assert!(
        text(&said).contains("field is immutable") || text(&said).contains("may not change once set"),
        "{}",
        text(&said)
    );
    cluster.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fixed}\nimmutable: true\ndata: {a: b}\n");
    let said =
        cluster.kubectl_with("patch configmap fixed --type=merge --patch-file=/dev/stdin", r#"{"data":{"a":"c"}}"#);
    assert!(text(&said).contains("field is immutable when `immutable` is set"), "{}", text(&said));

    // Two writers on one version: the second is told.
    let stale = cluster.kubectl("get configmap kube-root-ca.crt -o json");
    cluster.kubectl("annotate configmap kube-root-ca.crt touched=yes");
    let said = cluster.kubectl_with("replace -f -", &stale);
    assert!(
        text(&said)
            .contains("the object has been modified; please apply your changes to the latest version and try again"),
        "{}",
        text(&said)
    );
}
