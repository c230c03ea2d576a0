//! What is valid in a pod and yet likely a mistake (upstream's pkg/api/pod/warnings.go).
//! The API server sends each sentence in a Warning header, which kubectl prints.

use super::containers;
use crate::read::Read;
use crate::validation::network::warn_of_ip;
use crate::validation::resources::{is_whole, quantity};
use ferry_api::field::Path;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Pod,
    Template,
}

const DEPRECATED_ANNOTATIONS: &[(&str, &str)] = &[
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    ("security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
    ("security.alpha.kubernetes.io/unsafe-sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
];

const DEPRECATED_VOLUMES: &[(&str, &str, &str)] = &[
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

/// Node labels that have a newer name.
pub(crate) fn deprecated_node_label(key: &str) -> Option<&'static str> {
    Some(match key {
        "beta.kubernetes.io/arch" => "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
        "beta.kubernetes.io/os" => "deprecated since v1.14; use \"kubernetes.io/os\" instead",
        "failure-domain.beta.kubernetes.io/region" => {
            "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"
        }
        "failure-domain.beta.kubernetes.io/zone" => {
            "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"
        }
        "beta.kubernetes.io/instance-type" => {
            "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"
        }
        "app.kubernetes.io/created-by" => "deprecated since v1.9",
        "scheduler.alpha.kubernetes.io/preferAvoidPods" => "deprecated since v1.22; use Taints and Tolerations instead",
        "node-role.kubernetes.io/master" => "use \"node-role.kubernetes.io/control-plane\" instead",
        _ => return None,
    })
}

/// Warnings for a Pod or a template, whose metadata and spec stand under `path`.
pub(crate) fn warnings_for(pod: &Value, path: &Path, place: Place) -> Vec<String> {
    let mut warnings = Vec::new();
    let Some(spec) = pod.field("spec") else { return warnings };
    let at = path.child("spec");
    warn_of_placement(&mut warnings, spec, &at);
    let annotations = pod.field("metadata").entries("annotations");
    let annotation_path = path.child("metadata").child("annotations");
    for (key, message) in DEPRECATED_ANNOTATIONS {
        if annotations.contains_key(*key) {
            warnings.push(format!("{}: {message}", annotation_path.key(key)));
        }
    }
    for (index, volume) in spec.list("volumes").iter().enumerate() {
        for (key, shown, message) in DEPRECATED_VOLUMES {
            if volume.has(key) {
                warnings.push(format!("{}: {message}", at.child("volumes").index(index).child(shown)));
            }
        }
    }
    warn_of_overlapping_files(&mut warnings, spec.list("volumes"));
    warn_of_duplicates(&mut warnings, spec.list("hostAliases"), "ip", &at.child("hostAliases"));
    warn_of_duplicates(&mut warnings, spec.list("imagePullSecrets"), "name", &at.child("imagePullSecrets"));
    for (index, secret) in spec.list("imagePullSecrets").iter().enumerate() {
        if secret.text("name").is_empty() {
            let path = at.child("imagePullSecrets").index(index).child("name");
            warnings.push(format!("{path}: invalid empty name \"\""));
        }
    }
    warn_of_fractions(&mut warnings, spec.field("overhead"), &at.child("overhead"));
    let seccomp = "seccomp.security.alpha.kubernetes.io/pod";
    const USE_SECCOMP: &str = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
    if !spec.field("securityContext").has("seccompProfile") && annotations.contains_key(seccomp) {
        warnings.push(format!("{}: {USE_SECCOMP}", annotation_path.key(seccomp)));
    }
    for (container, at) in containers(spec, &at) {
        let context = container.field("securityContext");
        let key = format!("container.seccomp.security.alpha.kubernetes.io/{}", container.text("name"));
        if !context.has("seccompProfile") && annotations.contains_key(&key) {
            warnings.push(format!("{}: {USE_SECCOMP}", annotation_path.key(&key)));
        }
        let key = format!("container.apparmor.security.beta.kubernetes.io/{}", container.text("name"));
        if place == Place::Template && !context.has("appArmorProfile") && annotations.contains_key(&key) {
            let message = "deprecated since v1.30; use the \"appArmorProfile\" field instead";
            warnings.push(format!("{}: {message}", annotation_path.key(&key)));
        }
        let resources = container.field("resources");
        for list in ["limits", "requests"] {
            warn_of_fractions(&mut warnings, resources.field(list), &at.child("resources").child(list));
        }
        warn_of_hidden_variables(&mut warnings, container.list("env"), &at.child("env"));
    }
    warn_of_ports(&mut warnings, spec, &at);
    if spec.int("terminationGracePeriodSeconds") < 0 {
        warnings.push(format!(
            "{}: must be >= 0; negative values are invalid and will be treated as 1",
            at.child("terminationGracePeriodSeconds")
        ));
    }
    warn_of_null_selectors(&mut warnings, spec.field("affinity"), &at.child("affinity"));
    let servers = at.child("dnsConfig").child("nameservers");
    for (index, server) in spec.field("dnsConfig").texts("nameservers").enumerate() {
        warn_of_ip(&mut warnings, server, &servers.index(index));
    }
    for (index, alias) in spec.list("hostAliases").iter().enumerate() {
        warn_of_ip(&mut warnings, alias.text("ip"), &at.child("hostAliases").index(index).child("ip"));
    }
    warnings
}

fn warn_of_placement(warnings: &mut Vec<String>, spec: &Value, at: &Path) {
    for key in spec.entries("nodeSelector").keys() {
        if let Some(message) = deprecated_node_label(key) {
            warnings.push(format!("{}: {message}", at.child("nodeSelector").key(key)));
        }
    }
    let affinity = spec.field("affinity").field("nodeAffinity");
    let path = at.child("affinity").child("nodeAffinity");
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    let terms = affinity.field(required);
    for (index, term) in terms.list("nodeSelectorTerms").iter().enumerate() {
        let path = path.child(required).child("nodeSelectorTerms").index(index);
        warn_of_node_labels(warnings, Some(term), &path);
    }
    for (index, term) in affinity.list(preferred).iter().enumerate() {
        let path = path.child(preferred).index(index).child("preference");
        warn_of_node_labels(warnings, term.field("preference"), &path);
    }
    for (index, constraint) in spec.list("topologySpreadConstraints").iter().enumerate() {
        let path = at.child("topologySpreadConstraints").index(index);
        let key = constraint.text("topologyKey");
        if let Some(message) = deprecated_node_label(key) {
            warnings.push(format!("{}: {key} is {message}", path.child("topologyKey")));
        }
        if !constraint.has("labelSelector") {
            warnings.push(null_selector(&path.child("labelSelector")));
        }
    }
}

fn warn_of_node_labels(warnings: &mut Vec<String>, term: Option<&Value>, path: &Path) {
    for (index, expression) in term.list("matchExpressions").iter().enumerate() {
        let key = expression.text("key");
        if let Some(message) = deprecated_node_label(key) {
            let path = path.child("matchExpressions").index(index).child("key");
            warnings.push(format!("{path}: {key} is {message}"));
        }
    }
}

fn null_selector(path: &Path) -> String {
    format!("{path}: a null labelSelector results in matching no pod")
}

fn warn_of_null_selectors(warnings: &mut Vec<String>, affinity: Option<&Value>, at: &Path) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        let (terms, path) = (affinity.field(kind), at.child(kind));
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        for (index, term) in terms.list(required).iter().enumerate() {
            if !term.has("labelSelector") {
                warnings.push(null_selector(&path.child(required).index(index).child("labelSelector")));
            }
        }
        let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
        for (index, term) in terms.list(preferred).iter().enumerate() {
            if !term.field("podAffinityTerm").has("labelSelector") {
                let path = path.child(preferred).index(index).child("podAffinityTerm").child("labelSelector");
                warnings.push(null_selector(&path));
            }
        }
    }
}

fn warn_of_duplicates(warnings: &mut Vec<String>, items: &[Value], key: &str, path: &Path) {
    let mut seen = HashSet::new();
    for (index, item) in items.iter().enumerate() {
        if !seen.insert(item.text(key)) {
            warnings.push(format!("{}: duplicate {key} {:?}", path.index(index).child(key), item.text(key)));
        }
    }
}

/// Bytes are whole.
fn warn_of_fractions(warnings: &mut Vec<String>, list: Option<&Value>, path: &Path) {
    for name in ["memory", "ephemeral-storage"] {
        if let Some(amount) = list.field(name).and_then(quantity)
            && !is_whole(&amount)
        {
            let amount = amount.to_string();
            warnings
                .push(format!("{}: fractional byte value {amount:?} is invalid, must be an integer", path.key(name)));
        }
    }
}

/// A variable given twice is fine only if the second value builds on the first.
fn warn_of_hidden_variables(warnings: &mut Vec<String>, variables: &[Value], path: &Path) {
    let mut seen = HashSet::new();
    for (index, variable) in variables.iter().enumerate() {
        let name = variable.text("name");
        if seen.insert(name) {
            continue;
        }
        let reference = format!("$({name})");
        let value = variable.text("value");
        if variable.has("valueFrom") || value == reference || !value.contains(&reference) {
            warnings.push(format!(
                "{}: hides previous definition of {name:?}, which may be dropped when using apply",
                path.index(index)
            ));
        }
    }
}

fn warn_of_ports(warnings: &mut Vec<String>, spec: &Value, at: &Path) {
    let mut by_number: HashMap<String, Vec<(&Value, Path)>> = HashMap::new();
    for (container, path) in containers(spec, at) {
        for (index, port) in container.list("ports").iter().enumerate() {
            let path = path.child("ports").index(index);
            let (host_ip, host_port) = (port.text("hostIP"), port.int("hostPort"));
            if !host_ip.is_empty() && host_port == 0 {
                warnings.push(format!(
                    "{path}: hostIP set without hostPort: {{Name:{} HostPort:0 ContainerPort:{} Protocol:{} HostIP:{host_ip}}}",
                    port.text("name"),
                    port.int("containerPort"),
                    port.text("protocol"),
                ));
            }
            let key = format!("{}/{}", port.int("containerPort"), port.text("protocol"));
            let others = by_number.entry(key).or_default();
            for (other, other_path) in others.iter() {
                let (other_ip, other_port) = (other.text("hostIP"), other.int("hostPort"));
                let how = if host_ip == other_ip && host_port == other_port {
                    "duplicate"
                } else if host_port == 0 || other_port == 0 {
                    "overlapping"
                } else if host_port == other_port && host_ip.is_empty() != other_ip.is_empty() {
                    "dangerously ambiguous"
                } else {
                    continue;
                };
                warnings.push(format!("{path}: {how} port definition with {other_path}"));
            }
            others.push((port, path));
        }
    }
    let mut by_name: HashMap<&str, Path> = HashMap::new();
    for (container, path) in containers(spec, at) {
        for (index, port) in container.list("ports").iter().enumerate() {
            let (path, name) = (path.child("ports").index(index), port.text("name"));
            if name.is_empty() {
                continue;
            }
            match by_name.get(name) {
                Some(other) => warnings.push(format!(
                    "{path}: duplicate port name {name:?} with {other}, services and probes that select ports by name will use {other}"
                )),
                None => drop(by_name.insert(name, path)),
            }
        }
    }
}

/// A file and where it came from, for the sentence about two at one place.
struct File {
    path: String,
    source: String,
}

impl File {
    fn shown(&self) -> String {
        if self.source.is_empty() { format!("{:?}", self.path) } else { format!("{:?} ({})", self.path, self.source) }
    }

    fn overlaps(&self, other: &File) -> bool {
        let (mine, theirs) = (format!("{}/", self.path), format!("{}/", other.path));
        !self.path.is_empty() && !other.path.is_empty() && (mine.starts_with(&theirs) || theirs.starts_with(&mine))
    }
}

fn warn_of_overlapping_files(warnings: &mut Vec<String>, volumes: &[Value]) {
    for volume in volumes {
        let name = volume.text("name");
        for (key, label, name_key) in
            [("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName"), ("downwardAPI", "DownwardAPI", "")]
        {
            let Some(source) = volume.field(key) else { continue };
            let what =
                if name_key.is_empty() { label.to_owned() } else { format!("{label} {:?}", source.text(name_key)) };
            warn_of_overlaps(warnings, name, &what, files(Some(source), ""));
        }
        let Some(projected) = volume.field("projected") else { continue };
        let mut all = Vec::new();
        for source in projected.list("sources") {
            if source.as_object().is_none_or(|fields| fields.values().all(Value::is_null)) {
                warnings.push(format!("volume {name:?} (Projected) has no sources provided"));
            }
            for (key, label) in [("configMap", "ConfigMap"), ("secret", "Secret")] {
                let source = source.field(key);
                all.extend(files(source, &format!("{label} {:?}", source.text("name"))));
            }
            all.extend(files(source.field("downwardAPI"), "DownwardAPI"));
            if let Some(token) = source.field("serviceAccountToken") {
                all.push(File { path: token.text("path").to_owned(), source: "ServiceAccountToken".to_owned() });
            }
        }
        warn_of_overlaps(warnings, name, "Projected", all);
    }
}

fn files(source: Option<&Value>, label: &str) -> Vec<File> {
    let items = source.list("items").iter();
    items.map(|item| File { path: item.text("path").to_owned(), source: label.to_owned() }).collect()
}

fn warn_of_overlaps(warnings: &mut Vec<String>, volume: &str, what: &str, mut files: Vec<File>) {
    for file in &mut files {
        file.path.truncate(file.path.trim_end_matches('/').len());
    }
    for (index, file) in files.iter().enumerate() {
        for other in files[..index].iter().filter(|other| file.overlaps(other)) {
            let pair = format!("{} with {}", file.shown(), other.shown());
            warnings.push(format!("volume {volume:?} ({what}): overlapping paths: {pair}"));
        }
    }
}
