//! Baseline: probes and hooks ask the pod itself, not hosts that it names: the kubelet
//! would reach places for it that it cannot reach.

use super::super::evaluate::{Check, Subject, Variant, Violation, name};
use super::super::policy::Level;
use super::wording::{Values, plural, quoted};
use ferry_api::object::Meta;

pub(super) const CHECK: Check = Check {
    id: "hostProbesAndHostLifecycle",
    level: Level::Baseline,
    variants: &[Variant { since: 34, judge: no_hosts_named, replaces: None }],
};

const HANDLERS: [&[&str]; 5] = [
    &["livenessProbe"],
    &["readinessProbe"],
    &["startupProbe"],
    &["lifecycle", "postStart"],
    &["lifecycle", "preStop"],
];

fn no_hosts_named(subject: Subject<'_>) -> Option<Violation> {
    let (mut bad, mut hosts) = (Values::new(), Values::new());
    for container in subject.containers() {
        let named: Vec<&str> = HANDLERS
            .iter()
            .filter_map(|path| container.at(path))
            .flat_map(|handler| [handler.str_at(&["httpGet", "host"]), handler.str_at(&["tcpSocket", "host"])])
            .filter(|host| !host.is_empty())
            .collect();
        if !named.is_empty() {
            bad.insert(name(container));
            hosts.extend(named);
        }
    }
    (!bad.is_empty()).then(|| {
        let detail = format!(
            "{} {} {} {} {}",
            plural("container", "containers", bad.len()),
            quoted(bad.iter().copied()),
            plural("uses", "use", bad.len()),
            plural("probe or lifecycle host", "probe or lifecycle hosts", hosts.len()),
            quoted(hosts)
        );
        Violation::new("probe or lifecycle host", detail)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn hosts_are_found_in_every_probe_and_hook() {
        let pod = json!({"spec": {
            "containers": [
                {"name": "b", "livenessProbe": {"httpGet": {"host": "h2"}}, "lifecycle": {"preStop": {"tcpSocket": {"host": "h1"}}}},
                {"name": "fine", "readinessProbe": {"httpGet": {"host": ""}}, "startupProbe": Value::Null},
            ],
            "initContainers": [{"name": "a", "startupProbe": {"tcpSocket": {"host": "h1"}}}],
        }});
        let found = no_hosts_named(Subject::new(&pod)).expect("refused");
        assert_eq!(found.detail, r#"containers "a", "b" use probe or lifecycle hosts "h1", "h2""#);
    }
}
