//! Every field of PodSpec, Container, SecurityContext, PodSecurityContext and VolumeSource, from the
//! facts: setting it changes what the kubelet decides, or the pod is refused by its name, or the
//! field stands in a short list. A new field fails the test until it has a place.
//!
//! "Decides" is everything that is pure: sandbox, containers, plans, statuses, admission, cgroups.

use crate::allocation::amounts::ContainerAmounts;
use crate::allocation::conditions::ResizeConditions;
use crate::container::{
    Machine, References, config, dns, env, hosts, referenced_names, resources, sandbox, security, service_env,
};
use crate::observed::{ContainerRecord, PodRuntime, Sandbox, State};
use crate::plan::{KillReason, Verdicts, plan_pod};
use crate::probe::{Outcome, ProbeKind};
use crate::status::{self, ProbeOutcomes};
use crate::sync::mounts::render_devices;
use crate::volume::{Mounted, MountedVolume};
use crate::{admit, image, kill, pod, unsupported, volume};
use ferry_api::schema::builtin;
use ferry_api::unsupported::fields_of_pod_spec;
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{ContainerView, Node, Pod, PodView, Service};
use ferry_client::SharedObject;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

/// Fields that only other components read. The list may only shrink.
const READ_BY_OTHERS: &[(&str, &str, &str)] = &[
    ("PodSpec", "serviceAccount", "the old name of serviceAccountName"),
    ("PodSpec", "automountServiceAccountToken", "admission adds the volume"),
    ("PodSpec", "schedulerName", "the scheduler"),
    ("PodSpec", "priorityClassName", "admission resolves it to the priority"),
    ("PodSpec", "preemptionPolicy", "the scheduler"),
    ("PodSpec", "topologySpreadConstraints", "the scheduler"),
    ("PodSpec", "schedulingGates", "the scheduler"),
    ("PodSpec", "schedulingGroup", "the scheduler"),
    ("SecurityContext", "windowsOptions", "nodes with Windows"),
    ("PodSecurityContext", "windowsOptions", "nodes with Windows"),
    ("PodSecurityContext", "seLinuxChangePolicy", "drivers that mount with an SELinux context"),
];

/// Fields whose effect is on the disk, with the test that shows it.
const SHOWN_BY: &[(&str, &str, &str, &str)] = &[(
    "PodSecurityContext",
    "fsGroupChangePolicy",
    include_str!("volume/local.rs"),
    "the_group_gets_the_volume_once_for_each_pod",
)];

/// A value for each field, and what else must be set for it to matter.
fn samples(kind: &str) -> Value {
    match kind {
        "PodSpec" => json!({
            "volumes": [{ "name": "w", "emptyDir": {} }],
            "initContainers": [{ "name": "i", "image": "i:1" }],
            "containers": [{ "name": "c", "image": "i:1" }, { "name": "d", "image": "i:1" }],
            "ephemeralContainers": [{ "name": "e", "image": "i:1" }],
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 7,
            "activeDeadlineSeconds": 7,
            "dnsPolicy": "Default",
            "nodeSelector": { "zone": "b" },
            "serviceAccountName": "sa",
            "nodeName": "other",
            "hostNetwork": true,
            "hostPID": true,
            "hostIPC": true,
            "shareProcessNamespace": true,
            "securityContext": { "runAsUser": 7 },
            "imagePullSecrets": [{ "name": "s" }],
            "hostname": "h",
            "subdomain": "s",
            "affinity": { "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [
                { "matchExpressions": [{ "key": "zone", "operator": "In", "values": ["b"] }] }] } } },
            "tolerations": [{ "key": "k", "operator": "Exists" }],
            "hostAliases": [{ "ip": "192.0.2.9", "hostnames": ["h"] }],
            "priority": 2_000_001_000,
            "dnsConfig": { "nameservers": ["192.0.2.53"] },
            "readinessGates": [{ "conditionType": "g" }],
            "runtimeClassName": "r",
            "enableServiceLinks": false,
            "overhead": { "cpu": "100m" },
            "setHostnameAsFQDN": true,
            "os": { "name": "windows" },
            "hostUsers": false,
            "resourceClaims": [{ "name": "r" }],
            "resources": { "limits": { "cpu": "1" } },
            "hostnameOverride": "o",
        }),
        "Container" => json!({
            "name": "other",
            "image": "i:2",
            "command": ["x"],
            "args": ["x"],
            "workingDir": "/x",
            "ports": [{ "containerPort": 80, "hostPort": 80 }],
            "envFrom": [{ "configMapRef": { "name": "cm" } }],
            "env": [{ "name": "X", "value": "x" }],
            "resources": { "limits": { "memory": "1Mi" } },
            "resizePolicy": [{ "resourceName": "cpu", "restartPolicy": "RestartContainer" }],
            "restartPolicy": "Never",
            "restartPolicyRules": [{ "action": "Restart", "exitCodes": { "operator": "In", "values": [1] } }],
            "volumeMounts": [{ "name": "v", "mountPath": "/v" }],
            "volumeDevices": [{ "name": "v", "devicePath": "/dev/v" }],
            "livenessProbe": { "terminationGracePeriodSeconds": 9, "tcpSocket": { "port": 1 } },
            "readinessProbe": { "tcpSocket": { "port": 1 } },
            "startupProbe": { "tcpSocket": { "port": 1 } },
            "lifecycle": { "preStop": { "exec": { "command": ["x"] } } },
            "terminationMessagePath": "/x",
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "imagePullPolicy": "Never",
            "securityContext": { "privileged": true },
            "stdin": true,
            "stdinOnce": true,
            "tty": true,
        }),
        "SecurityContext" => json!({
            "capabilities": { "add": ["NET_ADMIN"] },
            "privileged": true,
            "seLinuxOptions": { "level": "s0" },
            "runAsUser": 7,
            "runAsGroup": 7,
            "runAsNonRoot": true,
            "readOnlyRootFilesystem": true,
            "allowPrivilegeEscalation": false,
            "procMount": "Unmasked",
            "seccompProfile": { "type": "RuntimeDefault" },
            "appArmorProfile": { "type": "Unconfined" },
        }),
        "PodSecurityContext" => json!({
            "seLinuxOptions": { "level": "s0" },
            "runAsUser": 7,
            "runAsGroup": 7,
            "runAsNonRoot": true,
            "supplementalGroups": [7],
            "supplementalGroupsPolicy": "Strict",
            "fsGroup": 7,
            "sysctls": [{ "name": "net.core.somaxconn", "value": "7" }],
            "seccompProfile": { "type": "RuntimeDefault" },
            "appArmorProfile": { "type": "Unconfined" },
        }),
        _ => Value::Null,
    }
}

/// Fields that matter only beside others: the spec that both sides of the comparison have.
fn companions(kind: &str, field: &str) -> Value {
    match (kind, field) {
        ("PodSpec", "setHostnameAsFQDN") => json!({ "subdomain": "s" }),
        ("Container", "restartPolicyRules") => json!({ "restartPolicy": "Never" }),
        ("SecurityContext", "runAsGroup") => json!({ "securityContext": { "runAsUser": 1 } }),
        _ => json!({}),
    }
}

fn base() -> Value {
    let field = |name: &str, path: &str| json!({ "name": name, "valueFrom": { "fieldRef": { "fieldPath": path } } });
    json!({ "metadata": { "name": "p", "namespace": "ns", "uid": "u" },
        "spec": { "nodeName": "node-a", "volumes": [{ "name": "v", "emptyDir": {} }], "containers": [{ "name": "c", "image": "i:1",
            "resources": { "requests": { "cpu": "100m" } },
            "env": [field("SA", "spec.serviceAccountName"), field("NODE", "spec.nodeName")] }] },
        "status": { "startTime": "2026-01-01T00:00:00Z" } })
}

/// The pod with one field of one type set.
fn with(kind: &str, field: &str, value: Option<&Value>) -> Pod {
    let mut pod = base();
    let at = |pod: &mut Value| -> Value {
        match kind {
            "PodSpec" => pod["spec"].take(),
            "PodSecurityContext" => pod["spec"]["securityContext"].take(),
            "SecurityContext" => pod["spec"]["containers"][0]["securityContext"].take(),
            _ => pod["spec"]["containers"][0].take(),
        }
    };
    let beside = companions(kind, field);
    let beside = if kind == "SecurityContext" { beside["securityContext"].clone() } else { beside };
    let mut place = at(&mut pod);
    if place.is_null() {
        place = json!({});
    }
    for (key, companion) in beside.as_object().into_iter().flatten() {
        place[key] = companion.clone();
    }
    if let Some(value) = value {
        place[field] = value.clone();
    }
    match kind {
        "PodSpec" => pod["spec"] = place,
        "PodSecurityContext" => pod["spec"]["securityContext"] = place,
        "SecurityContext" => pod["spec"]["containers"][0]["securityContext"] = place,
        _ => pod["spec"]["containers"][0] = place,
    }
    Pod::from(pod)
}

struct Said;

impl Verdicts for Said {
    fn liveness(&self, _: &str) -> Option<Outcome> {
        None
    }
    fn startup(&self, _: &str) -> Option<Outcome> {
        None
    }
}

impl ProbeOutcomes for Said {
    fn outcome(&self, _: &str, _: ProbeKind) -> Option<Outcome> {
        None
    }
}

fn record(container: ContainerView<'_>, state: State, exit_code: i32) -> ContainerRecord {
    ContainerRecord {
        id: format!("id-{}", container.name()),
        name: container.name().into(),
        sandbox_id: "s".into(),
        state,
        created_at: 1,
        started_at: 1,
        finished_at: 1,
        exit_code,
        reason: String::new(),
        message: String::new(),
        image: container.image().into(),
        image_id: "sha256:1".into(),
        hash: pod::container_hash(container),
        restart_count: 0,
        log_path: String::new(),
        actuated: Some(ContainerAmounts::default()),
        cgroup: None,
    }
}

fn states(pod: PodView<'_>) -> Vec<PodRuntime> {
    let sandbox = Sandbox {
        id: "s".into(),
        attempt: 0,
        created_at: 1,
        ready: true,
        host_network: pod.spec().host_network(),
        ips: vec!["10.0.0.2".into()],
    };
    let all = |state, code| PodRuntime {
        sandboxes: vec![sandbox.clone()],
        containers: pod.spec().containers().iter().map(|container| record(container, state, code)).collect(),
        cgroup: None,
    };
    vec![PodRuntime::default(), all(State::Running, 0), all(State::Exited, 0), all(State::Exited, 1)]
}

/// A message of the runtime's. Its maps have no order of their own, those of a JSON value have.
fn sorted(message: &impl serde::Serialize) -> String {
    serde_json::to_value(message).expect("a message without keys that are no text").to_string()
}

/// Everything that is decided of a pod, as text.
fn decide(pod: &Pod) -> String {
    let pod = pod.view();
    let spec = pod.spec();
    let mut out = String::new();
    let mut say = |what: &dyn std::fmt::Debug| {
        let _ = writeln!(out, "{what:?}");
    };
    let machine = Machine { memory_capacity: 1 << 30, node_name: "node-a".into(), ..Default::default() };
    let resolver = dns::parse_resolv_conf("nameserver 192.0.2.1\n");
    let (cluster_dns, ips) = (["10.96.0.10".to_owned()], ["10.0.0.2".to_owned()]);
    let sandbox = sandbox::render_sandbox(&sandbox::Inputs {
        pod,
        attempt: 0,
        machine: &machine,
        resolver: &resolver,
        cluster_dns: &cluster_dns,
        cluster_domain: "cluster.local",
        log_root: Path::new("/logs"),
    });
    say(&sorted(&sandbox));
    say(&hosts::render_hosts(pod, &ips, "", "cluster.local"));
    say(&resources::compute_pod_cgroup(pod));
    say(&referenced_names(pod));
    say(&pod::runtime_class(pod));
    say(&pod::deadline(pod, pod.status().start_time()));
    let references = References {
        config_maps: HashMap::from([("cm".to_owned(), SharedObject::of(json!({ "data": { "k": "v" } })))]),
        ..Default::default()
    };
    let service: SharedObject<Service> = SharedObject::of(json!({ "metadata": { "namespace": "ns", "name": "web" },
        "spec": { "clusterIP": "10.96.0.1", "ports": [{ "port": 80 }] } }));
    let mounted = Mounted {
        volumes: HashMap::from([("v".to_owned(), MountedVolume::device("/dev/v", false))]),
        look_again: None,
    };
    let links = spec.enable_service_links().unwrap_or(true);
    let services = service_env::render_service_env(&[service], "ns", links);
    for container in spec.containers().iter().chain(spec.init_containers()) {
        let env = env::render_env(container, pod, &references, &services, &ips, &machine);
        let rendered = env.and_then(|env| {
            config::render_container(config::Inputs {
                pod,
                container,
                restart_count: 0,
                image_ref: "sha256:1",
                image_user: &security::ImageUser { uid: Some(0), username: String::new() },
                env: &env,
                mounts: Vec::new(),
                devices: render_devices(container, &mounted)?,
                target: None,
                machine: &machine,
                seccomp_root: Path::new("/"),
            })
        });
        say(&rendered.map(|config| sorted(&config)).map_err(|error| error.0));
        say(&image::pull_policy(container.image_pull_policy(), container.image()));
        for reason in [KillReason::PodKilled, KillReason::LivenessProbe, KillReason::StartupProbe] {
            say(&kill::grace_period(pod, Some(container), reason));
        }
    }
    for runtime in states(pod) {
        say(&plan_pod(pod, &runtime, &Said));
        let status = status::compute_status(&status::Inputs {
            pod,
            runtime: &runtime,
            failures: &HashMap::new(),
            probes: &Said,
            old: pod.status(),
            node_ips: &["192.0.2.1".into()],
            resize: &ResizeConditions::default(),
            terminal: false,
            now: Timestamp::UNIX_EPOCH,
        });
        say(&status.value().to_string());
    }
    for taints in [json!([]), json!([{ "key": "k", "effect": "NoExecute" }])] {
        let node: SharedObject<Node> =
            SharedObject::of(json!({ "metadata": { "name": "n", "labels": { "zone": "a" } },
            "spec": { "taints": taints }, "status": { "allocatable": { "cpu": "8", "memory": "8Gi", "pods": "9" } } }));
        say(&admit::admit(pod, node.view(), &[]));
    }
    let made: Vec<(&str, bool)> = spec.volumes().iter().map(|own| (own.name(), volume::is_made(own))).collect();
    say(&made);
    out
}

/// Whether the pod is refused, or keeps waiting, with the field's name.
fn is_refused(kind: &str, field: &str, pod: &Pod) -> bool {
    let judgement = unsupported::judge(pod.view());
    let said = judgement.rejection.map(|rejection| rejection.message).or(judgement.missing_volumes);
    let named = said.is_some_and(|message| message.contains(field));
    let listed = fields_of_pod_spec(&Value::from(pod.clone())["spec"], "spec");
    named || (kind == "Container" && listed.iter().any(|found| found.path.contains(field)))
}

#[test]
fn every_field_is_acted_on_refused_by_name_or_read_by_others() {
    let mut problems = Vec::new();
    for kind in ["PodSpec", "Container", "SecurityContext", "PodSecurityContext"] {
        let definition =
            builtin().get("core/v1", kind).or_else(|| builtin().get("v1", kind)).expect("a type of core/v1");
        let samples = samples(kind);
        for field in definition.fields.iter().map(|field| field.name.as_ref()) {
            let is_listed = READ_BY_OTHERS.iter().any(|(of, name, _)| *of == kind && *name == field);
            let shown = SHOWN_BY.iter().find(|(of, name, ..)| *of == kind && *name == field);
            if let Some((.., source, test)) = shown {
                assert!(source.contains(&format!("fn {test}(")), "{kind}.{field}: the test {test} is gone");
                continue;
            }
            let Some(value) = samples.get(field) else {
                if !is_listed {
                    problems.push(format!("{kind}.{field}: there is no sample of it, nor does it stand in the list"));
                }
                continue;
            };
            let (without, set) = (with(kind, field, None), with(kind, field, Some(value)));
            let is_acted_on = decide(&without) != decide(&set);
            match (is_acted_on || is_refused(kind, field, &set), is_listed) {
                (true, false) => {}
                (true, true) => problems.push(format!("{kind}.{field}: acted on, so it goes from the list")),
                (false, _) => problems.push(format!("{kind}.{field}: nothing changes when it is {value}")),
            }
        }
    }
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn every_kind_of_volume_is_made_or_refused_by_name() {
    let definition = builtin().get("core/v1", "VolumeSource").or_else(|| builtin().get("v1", "VolumeSource"));
    for field in definition.expect("a type of core/v1").fields.iter().map(|field| field.name.as_ref()) {
        let volume = json!({ "name": "w", field: {} });
        let set = with("PodSpec", "volumes", Some(&json!([volume.clone()])));
        let is_made = volume::is_made((&volume).into());
        assert!(is_made != is_refused("VolumeSource", field, &set), "{field}: made {is_made}");
    }
}

#[test]
fn a_field_that_nobody_reads_is_found_out() {
    let unknown = with("PodSpec", "volumeOfTheRadio", Some(&json!(11)));
    assert_eq!(decide(&unknown), decide(&with("PodSpec", "volumeOfTheRadio", None)));
    assert!(!is_refused("PodSpec", "volumeOfTheRadio", &unknown));
}
