//! Pod: the strategy of the smallest thing that runs.

mod summary;

use crate::pod_spec::defaults::default_pod;
use crate::pod_spec::qos::compute_qos_class;
use crate::pod_spec::security::validate_profile_annotations;
use crate::pod_spec::update::{
    validate_pod_annotations, validate_pod_annotations_update, validate_spec_update, validate_status_update,
};
use crate::pod_spec::validate::{SpecOf, validate_only_for_pods, validate_pod_spec};
use crate::pod_spec::warnings::{Place, warnings_for};
use crate::read::{Read, field_mut, keep, list_mut, set};
use crate::{Context, Strategy, names};
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::{Meta, ensure_object};
use jiff::Timestamp;
use serde_json::{Value, json};

pub struct Pod;

impl Strategy for Pod {
    fn default(&self, pod: &mut Value) {
        let spec = ensure_object(pod).entry("spec").or_insert_with(|| json!({}));
        default_pod(spec);
        if let Some(status) = field_mut(pod, "status") {
            mirror_first_ip(status);
        }
    }

    fn prepare_for_create(&self, _context: &Context, pod: &mut Value) {
        let spec = pod.field("spec").cloned().unwrap_or_else(|| json!({}));
        let mut status = json!({"phase": "Pending", "qosClass": compute_qos_class(&spec)});
        if !spec.list("schedulingGates").is_empty() {
            status["conditions"] = json!([{
                "type": "PodScheduled",
                "status": "False",
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }]);
        }
        set(pod, "status", status);
        merge_label_keys(pod);
    }

    fn validate(&self, pod: &Value) -> ErrorList {
        let mut errors = validate_metadata_and_spec(pod);
        let (path, empty) = (Path::new("spec"), json!({}));
        let spec = pod.field("spec").unwrap_or(&empty);
        if !spec.list("ephemeralContainers").is_empty() {
            errors.push(Error::forbidden(&path.child("ephemeralContainers"), "cannot be set on create"));
        }
        if !spec.text("nodeName").is_empty() && !spec.list("schedulingGates").is_empty() {
            errors.push(Error::forbidden(
                &path.child("nodeName"),
                "cannot be set until all schedulingGates have been cleared",
            ));
        }
        validate_profile_annotations(&mut errors, pod.field("metadata"), spec, &path);
        errors
    }

    fn prepare_for_update(&self, _context: &Context, new: &mut Value, old: &Value) {
        keep(new, old, "status");
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = validate_metadata_and_spec(new);
        validate_pod_annotations_update(&mut errors, new, old, &Path::new("metadata").child("annotations"));
        let empty = json!({});
        validate_spec_update(&mut errors, new.field("spec").unwrap_or(&empty), old.field("spec").unwrap_or(&empty));
        errors
    }

    /// The spec stays, and so do owner references, which old kubelets are known to corrupt.
    fn prepare_for_status_update(&self, _context: &Context, new: &mut Value, old: &Value) {
        keep(new, old, "spec");
        match old.meta("ownerReferences").cloned() {
            Some(owners) => new.set_meta("ownerReferences", owners),
            None => new.remove_meta("ownerReferences"),
        }
        let was = old.field("status");
        let Some(status) = field_mut(new, "status") else { return };
        if status.text("qosClass").is_empty() && !was.text("qosClass").is_empty() {
            set(status, "qosClass", was.text("qosClass"));
        }
        if status.int("observedGeneration") == 0 && was.int("observedGeneration") != 0 {
            set(status, "observedGeneration", was.int("observedGeneration"));
        }
        for condition in list_mut(status, "conditions") {
            if condition.int("observedGeneration") != 0 {
                continue;
            }
            let same = |other: &&Value| other.text("type") == condition.text("type");
            let before = was.list("conditions").iter().find(same).map_or(0, |other| other.int("observedGeneration"));
            if before != 0 {
                set(condition, "observedGeneration", before);
            }
        }
    }

    fn validate_status_update(&self, new: &Value, old: &Value) -> ErrorList {
        validate_status_update(new, old)
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        // People seldom update pods by hand, and controllers do it often.
        if old.is_some() {
            return Vec::new();
        }
        let mut warnings = Vec::new();
        let sentences = names::is_dns1123_label(new.name());
        if !sentences.is_empty() {
            warnings.push(format!(
                "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [{}]",
                sentences.join(" ")
            ));
        }
        warnings.extend(warnings_for(new, &Path::root(), Place::Pod));
        warnings
    }

    fn has_generation(&self) -> bool {
        true
    }

    fn selectable_fields(&self, pod: &Value) -> Vec<(&'static str, String)> {
        let (spec, status) = (pod.field("spec"), pod.field("status"));
        vec![
            ("spec.nodeName", spec.text("nodeName").into()),
            ("spec.restartPolicy", spec.text("restartPolicy").into()),
            ("spec.schedulerName", spec.text("schedulerName").into()),
            ("spec.serviceAccountName", spec.text("serviceAccountName").into()),
            ("spec.hostNetwork", spec.flag("hostNetwork").to_string()),
            ("status.phase", status.text("phase").into()),
            ("status.podIP", status.list("podIPs").first().text("ip").into()),
            ("status.nominatedNodeName", status.text("nominatedNodeName").into()),
        ]
    }

    fn cells(&self, pod: &Value, now: Timestamp) -> Vec<Value> {
        summary::cells(pod, now)
    }

    fn row_conditions(&self, pod: &Value) -> Vec<Value> {
        let (reason, message) = match pod.field("status").text("phase") {
            "Succeeded" => ("Succeeded", "The pod has completed successfully."),
            "Failed" => ("Failed", "The pod failed."),
            _ => return Vec::new(),
        };
        vec![json!({"type": "Completed", "status": "True", "reason": reason, "message": message})]
    }

    /// Nobody waits for a pod that was never placed or has already ended.
    fn grace_period(&self, pod: &Value, requested: Option<i64>) -> Option<i64> {
        let spec = pod.field("spec");
        let period = requested.or(spec.opt_int("terminationGracePeriodSeconds")).unwrap_or(0);
        let over = matches!(pod.field("status").text("phase"), "Failed" | "Succeeded");
        if spec.text("nodeName").is_empty() || over {
            return Some(0);
        }
        // Negative periods come from old objects and mean the least one.
        Some(if period < 0 { 1 } else { period })
    }
}

fn validate_metadata_and_spec(pod: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    let (path, empty) = (Path::new("spec"), json!({}));
    let spec = pod.field("spec").unwrap_or(&empty);
    let metadata = pod.field("metadata");
    validate_pod_annotations(&mut errors, metadata, spec, &Path::new("metadata").child("annotations"));
    validate_pod_spec(&mut errors, spec, metadata, SpecOf::Pod, &path);
    validate_only_for_pods(&mut errors, spec, &path);
    errors
}

/// `podIP` and the first of `podIPs` are one address; where they differ, `podIP` wins.
fn mirror_first_ip(status: &mut Value) {
    let first = status.list("podIPs").first().text("ip").to_owned();
    let single = status.text("podIP").to_owned();
    match (single.as_str(), first.as_str()) {
        ("", "") => {}
        ("", first) => set(status, "podIP", first),
        (single, first) if single != first => set(status, "podIPs", json!([{"ip": single}])),
        _ => {}
    }
}

/// Turns `matchLabelKeys` and `mismatchLabelKeys` into terms of the selector, from the
/// labels this pod has now.
fn merge_label_keys(pod: &mut Value) {
    let labels = pod.field("metadata").entries("labels").clone();
    let merge = |term: &mut Value| {
        let mut terms = Vec::new();
        for (keys, operator) in [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")] {
            for key in term.texts(keys) {
                if let Some(value) = labels.get(key) {
                    terms.push(json!({"key": key, "operator": operator, "values": [value]}));
                }
            }
        }
        if let Some(selector) = field_mut(term, "labelSelector")
            && !terms.is_empty()
        {
            let expressions = ensure_object(selector).entry("matchExpressions").or_insert(Value::Null);
            match expressions {
                Value::Array(expressions) => expressions.extend(terms),
                other => *other = terms.into(),
            }
        }
    };
    let Some(spec) = field_mut(pod, "spec") else { return };
    if let Some(affinity) = field_mut(spec, "affinity") {
        for kind in ["podAffinity", "podAntiAffinity"] {
            let Some(affinity) = field_mut(affinity, kind) else { continue };
            for weighted in list_mut(affinity, "preferredDuringSchedulingIgnoredDuringExecution") {
                if let Some(term) = field_mut(weighted, "podAffinityTerm") {
                    merge(term);
                }
            }
            list_mut(affinity, "requiredDuringSchedulingIgnoredDuringExecution").iter_mut().for_each(merge);
        }
    }
    list_mut(spec, "topologySpreadConstraints").iter_mut().for_each(merge);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, check_update, context};

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
            container_with(
                json!({"volumeMounts": [{"name": "v", "mountPath": "/v"}, {"name": "w", "mountPath": "/v"}]}),
            ),
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
            pod_with(
                json!({"restartPolicy": "Maybe", "dnsPolicy": "None", "activeDeadlineSeconds": 0, "nodeName": "A"}),
            ),
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
            pod_with(
                json!({"securityContext": {"fsGroupChangePolicy": "Odd", "seccompProfile": {"type": "Localhost"}}}),
            ),
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
        let texts = crate::testing::texts(&Pod.validate_status_update(&running, &ended));
        assert_eq!(
            texts,
            ["status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"]
        );
        assert!(Pod.validate_status_update(&ended, &running).is_empty());
    }

    #[test]
    fn a_status_update_keeps_the_spec() {
        let mut old = pod();
        old["status"] = json!({"qosClass": "BestEffort"});
        let mut new = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "x"}, "status": {"phase": "Running", "podIP": "10.0.0.1"}});
        Pod.default(&mut new);
        Pod.prepare_for_status_update(&context(), &mut new, &old);
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
        Pod.default(&mut new);
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
}
