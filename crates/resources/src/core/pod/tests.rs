//! The rules of pods, case by case.

use super::*;
use crate::testing::{check, check_update, context, row};

fn pod() -> Value {
    json!({"metadata": {"name": "a", "namespace": "default"}, "spec": {"containers": [{"name": "a", "image": "web:v1"}]}})
}

/// A pod whose spec, or first container, has these fields besides.
fn pod_with(spec: Value) -> Value {
    let mut pod = pod();
    merge(&mut pod["spec"], spec);
    pod
}

fn container_with(fields: Value) -> Value {
    let mut pod = pod();
    merge(&mut pod["spec"]["containers"][0], fields);
    pod
}

fn merge(into: &mut Value, fields: Value) {
    let Value::Object(fields) = fields else { return };
    ensure_object(into).extend(fields);
}

#[test]
fn a_new_pod_waits_and_has_a_class() {
    let mut new = pod_with(json!({"schedulingGates": [{"name": "a/b"}]}));
    new["status"] = json!({"phase": "Running"});
    Pod.prepare_for_create(&context(), &mut new);
    assert_eq!(new["status"]["phase"], "Pending");
    assert_eq!(new["status"]["qosClass"], "BestEffort");
    assert_eq!(new["status"]["conditions"][0]["reason"], "SchedulingGated");
}

#[test]
fn good_pods_are_taken() {
    check(&Pod, pod(), &[]);
    check(
        &Pod,
        json!({"metadata": {"name": "a"}, "spec": {
            "serviceAccountName": "default",
            "initContainers": [{"name": "i", "image": "x", "restartPolicy": "Always"}],
            "containers": [{
                "name": "a", "image": "x", "ports": [{"name": "http", "containerPort": 80}],
                "env": [{"name": "A", "value": "b"}, {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
                "envFrom": [{"configMapRef": {"name": "c"}}],
                "volumeMounts": [{"name": "v", "mountPath": "/v"}, {"name": "t", "mountPath": "/t", "subPath": "a/b"}],
                "readinessProbe": {"httpGet": {"port": "http"}},
                "livenessProbe": {"exec": {"command": ["true"]}},
                "lifecycle": {"preStop": {"sleep": {"seconds": 5}}},
                "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
                "securityContext": {"runAsUser": 1000, "capabilities": {"add": ["NET_ADMIN"]}},
            }],
            "volumes": [
                {"name": "v"},
                {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}},
            ],
            "tolerations": [{"operator": "Exists"}],
            "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "kubernetes.io/hostname"}]}},
            "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
            "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a.b"]}],
            "dnsConfig": {"nameservers": ["10.0.0.1"], "searches": ["a_b.c."]},
        }}),
        &[],
    );
}

#[test]
fn containers_are_checked() {
    check(&Pod, json!({"spec": {}}), &["spec.containers: Required value"]);
    check(
        &Pod,
        pod_with(json!({"containers": [{"name": "a", "image": "x"}, {"name": "a", "image": " x"}]})),
        &[
            "spec.containers[1].name: Duplicate value: \"a\"",
            "spec.containers[1].image: Invalid value: \" x\": must not have leading or trailing whitespace",
        ],
    );
    check(
        &Pod,
        container_with(json!({"imagePullPolicy": "Sometimes", "terminationMessagePolicy": "Never"})),
        &[
            "spec.containers[0].terminationMessagePolicy: Unsupported value: \"Never\": supported values: \"File\", \"FallbackToLogsOnError\"",
            "spec.containers[0].imagePullPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"IfNotPresent\", \"Never\"",
        ],
    );
    check(
        &Pod,
        container_with(json!({"ports": [{"containerPort": 0}, {"containerPort": 70000, "protocol": "HTTP"}]})),
        &[
            "spec.containers[0].ports[0].containerPort: Required value",
            "spec.containers[0].ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
            "spec.containers[0].ports[1].protocol: Unsupported value: \"HTTP\": supported values: \"SCTP\", \"TCP\", \"UDP\"",
        ],
    );
    check(
        &Pod,
        container_with(
            json!({"ports": [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}]}),
        ),
        &["spec.containers[0].ports[1].hostPort: Duplicate value: \"TCP//80\""],
    );
}

#[test]
fn variables_are_checked() {
    check(
        &Pod,
        container_with(json!({"env": [
            {"value": "x"},
            {"name": "A=B"},
            {"name": "C", "valueFrom": {}},
            {"name": "D", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "E", "valueFrom": {"fieldRef": {"fieldPath": "spec.schedulerName"}}},
            {"name": "F", "valueFrom": {"secretKeyRef": {"name": "s"}}},
        ]})),
        &[
            "spec.containers[0].env[0].name: Required value",
            "spec.containers[0].env[1].name: Invalid value: \"A=B\": a valid environment variable name must consist only of printable ASCII characters other than '='",
            "spec.containers[0].env[2].valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
            "spec.containers[0].env[3].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty",
            "spec.containers[0].env[4].valueFrom.fieldRef.fieldPath: Unsupported value: \"spec.schedulerName\": supported values: \"metadata.name\", \"metadata.namespace\", \"metadata.uid\", \"spec.nodeName\", \"spec.serviceAccountName\", \"status.hostIP\", \"status.hostIPs\", \"status.podIP\", \"status.podIPs\"",
            "spec.containers[0].env[5].valueFrom.secretKeyRef.key: Required value",
        ],
    );
}

#[test]
fn volumes_and_mounts_are_checked() {
    check(
        &Pod,
        container_with(json!({"volumeMounts": [{"name": "v", "mountPath": "/v"}, {"name": "w", "mountPath": "/v"}]})),
        &[
            "spec.containers[0].volumeMounts[0].name: Not found: \"v\"",
            "spec.containers[0].volumeMounts[1].name: Not found: \"w\"",
            "spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/v\": must be unique",
        ],
    );
    check(
        &Pod,
        pod_with(json!({"volumes": [
            {"name": "a", "emptyDir": {}, "hostPath": {"path": "/"}},
            {"name": "b", "hostPath": {"path": "/../x", "type": "Odd"}},
            {"name": "c", "configMap": {}},
            {"name": "d", "secret": {"secretName": "s", "defaultMode": 1000, "items": [{"key": "k", "path": "../x"}]}},
            {"name": "e", "projected": {"sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 60}}]}},
        ], "serviceAccountName": "default"})),
        &[
            "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type",
            "spec.volumes[1].hostPath.path: Invalid value: \"/../x\": must not contain '..'",
            "spec.volumes[1].hostPath.type: Unsupported value: \"Odd\": supported values: \"\", \"BlockDevice\", \"CharDevice\", \"Directory\", \"DirectoryOrCreate\", \"File\", \"FileOrCreate\", \"Socket\"",
            "spec.volumes[2].configMap.name: Required value",
            "spec.volumes[3].secret.defaultMode: Invalid value: 1000: must be a number between 0 and 0777 (octal), both inclusive",
            "spec.volumes[3].secret.items[0].path: Invalid value: \"../x\": must not contain '..'",
            "spec.volumes[4].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes",
        ],
    );
}

#[test]
fn probes_are_checked() {
    check(
        &Pod,
        container_with(json!({
            "livenessProbe": {"successThreshold": 2, "periodSeconds": -1, "exec": {}},
            "readinessProbe": {"httpGet": {"port": 0, "scheme": "FTP"}, "tcpSocket": {"port": 1}},
            "startupProbe": {},
        })),
        &[
            "spec.containers[0].livenessProbe.exec.command: Required value",
            "spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
            "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
            "spec.containers[0].readinessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive",
            "spec.containers[0].readinessProbe.httpGet.scheme: Unsupported value: \"FTP\": supported values: \"HTTP\", \"HTTPS\"",
            "spec.containers[0].readinessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type",
            "spec.containers[0].startupProbe: Required value: must specify a handler type",
        ],
    );
    check(
        &Pod,
        pod_with(
            json!({"initContainers": [{"name": "i", "image": "x", "livenessProbe": {"exec": {"command": ["a"]}}}]}),
        ),
        &[
            "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
        ],
    );
}

#[test]
fn policies_and_placement_are_checked() {
    check(
        &Pod,
        pod_with(json!({"restartPolicy": "Maybe", "dnsPolicy": "None", "activeDeadlineSeconds": 0, "nodeName": "A"})),
        &[
            "spec.restartPolicy: Unsupported value: \"Maybe\": supported values: \"Always\", \"OnFailure\", \"Never\"",
            "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None",
            "spec.nodeName: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
            "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive",
        ],
    );
    check(
        &Pod,
        pod_with(
            json!({"tolerations": [{"value": "x"}, {"key": "a", "operator": "Exists", "value": "b", "tolerationSeconds": 1}]}),
        ),
        &[
            "spec.tolerations[0].operator: Invalid value: \"\": operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
            "spec.tolerations[1].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set",
            "spec.tolerations[1].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'",
        ],
    );
    check(
        &Pod,
        pod_with(json!({"topologySpreadConstraints": [{"maxSkew": 0, "whenUnsatisfiable": "Odd"}],
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}})),
        &[
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term",
            "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
            "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
            "spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: \"Odd\": supported values: \"DoNotSchedule\", \"ScheduleAnyway\"",
        ],
    );
}

#[test]
fn security_contexts_are_checked() {
    check(
        &Pod,
        container_with(
            json!({"securityContext": {"runAsUser": -1, "privileged": true, "allowPrivilegeEscalation": false}}),
        ),
        &[
            "spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
            "spec.containers[0].securityContext: Invalid value: {\"allowPrivilegeEscalation\":false,\"privileged\":true,\"runAsUser\":-1}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
        ],
    );
    check(
        &Pod,
        pod_with(json!({"securityContext": {"fsGroupChangePolicy": "Odd", "seccompProfile": {"type": "Localhost"}}})),
        &[
            "spec.securityContext.fsGroupChangePolicy: Unsupported value: \"Odd\": supported values: \"Always\", \"OnRootMismatch\"",
            "spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost",
        ],
    );
}

#[test]
fn an_image_may_change_and_little_else() {
    let mut new = pod();
    new["spec"]["containers"][0]["image"] = "web:v2".into();
    check_update(&Pod, pod(), new, &[]);
    check_update(&Pod, pod(), pod_with(json!({"tolerations": [{"operator": "Exists"}]})), &[]);
    check_update(&Pod, pod(), pod_with(json!({"activeDeadlineSeconds": 5})), &[]);
    check_update(
        &Pod,
        pod(),
        container_with(json!({"command": ["x"]})),
        &[
            "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n+ \tcontainers[0].command: [\"x\"],\n",
        ],
    );
    check_update(
        &Pod,
        pod_with(json!({"tolerations": [{"key": "a", "operator": "Exists"}]})),
        pod(),
        &["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"],
    );
    check_update(
        &Pod,
        pod(),
        pod_with(json!({"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "x"}]})),
        &["spec.containers: Forbidden: pod updates may not add or remove containers"],
    );
}

#[test]
fn what_means_the_same_is_no_change() {
    let old = container_with(json!({"resources": {"requests": {"cpu": "1"}}}));
    let new = container_with(json!({"resources": {"requests": {"cpu": "1000m"}}, "args": [], "stdin": false}));
    check_update(&Pod, old, new, &[]);
}

#[test]
fn an_ended_container_stays_ended() {
    let with = |state: Value| {
        let mut pod = pod_with(json!({"restartPolicy": "Never"}));
        pod["status"] = json!({"containerStatuses": [{"name": "a", "state": state}]});
        pod
    };
    let (ended, running) = (with(json!({"terminated": {"exitCode": 1}})), with(json!({"running": {}})));
    let texts = crate::testing::texts(&crate::testing::update_errors(&Pod, "status", &running, &ended));
    assert_eq!(
        texts,
        ["status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"]
    );
    assert!(crate::testing::update_errors(&Pod, "status", &ended, &running).is_empty());
}

#[test]
fn a_status_update_keeps_the_spec() {
    let mut old = pod();
    old["status"] = json!({"qosClass": "BestEffort"});
    let mut new = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "x"}, "status": {"phase": "Running", "podIP": "10.0.0.1"}});
    crate::testing::default(&Pod, &mut new);
    row("Pod").prepare_for_update(&context(), "status", &mut new, &old);
    assert_eq!(new["spec"], old["spec"]);
    assert_eq!(
        new["status"],
        json!({"phase": "Running", "qosClass": "BestEffort", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]})
    );
}

#[test]
fn nobody_waits_for_what_does_not_run() {
    let mut pod = pod_with(json!({"terminationGracePeriodSeconds": 30}));
    assert_eq!(Pod.grace_period(&pod, None), Some(0));
    pod["spec"]["nodeName"] = "n".into();
    assert_eq!(Pod.grace_period(&pod, None), Some(30));
    assert_eq!(Pod.grace_period(&pod, Some(5)), Some(5));
    assert_eq!(Pod.grace_period(&pod, Some(-1)), Some(1));
    pod["status"] = json!({"phase": "Succeeded"});
    assert_eq!(Pod.grace_period(&pod, Some(5)), Some(0));
}

#[test]
fn likely_mistakes_are_warned_of() {
    let mut new = container_with(json!({
        "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}],
        "ports": [{"containerPort": 80, "name": "a"}, {"containerPort": 80, "name": "a"}],
        "resources": {"limits": {"memory": "100m"}},
    }));
    merge(&mut new["spec"], json!({"nodeSelector": {"beta.kubernetes.io/os": "linux"}}));
    crate::testing::default(&Pod, &mut new);
    new.set_meta("name", "a.b");
    assert_eq!(
        Pod.warnings(&new, None),
        [
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
            "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use \"kubernetes.io/os\" instead",
            "spec.containers[0].resources.limits[memory]: fractional byte value \"100m\" is invalid, must be an integer",
            "spec.containers[0].resources.requests[memory]: fractional byte value \"100m\" is invalid, must be an integer",
            "spec.containers[0].env[1]: hides previous definition of \"A\", which may be dropped when using apply",
            "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]",
            "spec.containers[0].ports[1]: duplicate port name \"a\" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]",
        ]
    );
}

#[test]
fn debugging_adds_and_never_changes() {
    let with = |containers: Value| {
        let mut pod = pod_with(json!({"ephemeralContainers": containers}));
        crate::testing::default(&Pod, &mut pod);
        pod
    };
    let check = |new: Value, old: Value, expected: &[&str]| {
        let (new, old) = (with(new), with(old));
        let errors = crate::testing::update_errors(&Pod, "ephemeralcontainers", &new, &old);
        assert_eq!(crate::testing::texts(&errors), expected);
    };
    let one = json!([{"name": "d", "image": "x", "targetContainerName": "a"}]);
    check(one.clone(), json!([]), &[]);
    check(
        json!([]),
        one.clone(),
        &["spec.ephemeralContainers: Forbidden: existing ephemeral containers \"d\" may not be removed\n"],
    );
    check(
        json!([{"name": "d", "image": "x", "targetContainerName": "z", "ports": [{"containerPort": 1}]}]),
        json!([]),
        &[
            "spec.ephemeralContainers[0].targetContainerName: Not found: \"z\"",
            "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
        ],
    );
}

#[test]
fn a_resize_keeps_the_class_and_the_rest() {
    let with = |requests: Value| {
        let mut pod = container_with(json!({"resources": {"requests": requests}}));
        crate::testing::default(&Pod, &mut pod);
        Pod.prepare_for_create(&context(), &mut pod);
        pod
    };
    let check = |new: Value, expected: &[&str]| {
        let errors = crate::testing::update_errors(&Pod, "resize", &with(new), &with(json!({"cpu": "1"})));
        assert_eq!(crate::testing::texts(&errors), expected);
    };
    check(json!({"cpu": "2"}), &[]);
    check(
        json!({}),
        &[
            "spec: Invalid value: \"BestEffort\": Pod QOS Class may not change as a result of resizing",
            "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed",
        ],
    );
    check(
        json!({"cpu": "1", "ephemeral-storage": "1Gi"}),
        &["spec: Forbidden: only cpu and memory resources are mutable"],
    );
}
