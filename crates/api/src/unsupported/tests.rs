use super::*;
use crate::schema::{Type, TypeDef, builtin};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The number of entries. It may be lowered when a component begins to act on a field or
/// a kind, and is never raised.
const ENTRIES: usize = 2 + 25 + 3;

#[test]
fn the_list_only_shrinks() {
    assert_eq!(KINDS.len() + POD_FIELDS.len() + CONTAINER_FIELDS.len(), ENTRIES);
}

fn core_type(name: &str) -> Arc<TypeDef> {
    builtin().get("core/v1", name).or_else(|| builtin().get("v1", name)).expect("a type of core/v1").clone()
}

fn exists(definition: &Arc<TypeDef>, path: &str) -> bool {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let (name, is_list) = match first.strip_suffix("[*]") {
        Some(name) => (name, true),
        None => (first, false),
    };
    let Some(field) = definition.field(name) else { return false };
    let inner = match (&field.ty, is_list) {
        (Type::List(item), true) => item.as_ref(),
        (_, true) => return false,
        (ty, false) => ty,
    };
    match inner {
        _ if rest.is_empty() => true,
        Type::Struct(inner) => exists(inner.get(), rest),
        _ => false,
    }
}

#[test]
fn every_field_of_the_list_is_in_the_facts() {
    for (name, fields) in [("PodSpec", POD_FIELDS), ("Container", CONTAINER_FIELDS)] {
        let definition = core_type(name);
        for field in fields {
            assert!(exists(&definition, field.path), "{name} has no {}", field.path);
        }
    }
    assert!(!exists(&core_type("PodSpec"), "volumes[*].floppy"), "a path that does not exist is found out");
}

#[test]
fn every_kind_of_the_list_is_in_the_facts() {
    let rows: BTreeSet<Vec<&str>> =
        include_str!("../../facts/resources.tsv").lines().map(|line| line.split('\t').take(4).collect()).collect();
    for kind in KINDS {
        assert!(rows.contains(&vec![kind.group, kind.version, kind.resource, kind.kind]), "{kind:?}");
    }
}

#[test]
fn every_kind_of_volume_is_mounted_or_listed() {
    let mounted = [
        "hostPath",
        "emptyDir",
        "secret",
        "downwardAPI",
        "configMap",
        "projected",
        "persistentVolumeClaim",
        "ephemeral",
        "image",
        "csi",
    ];
    let listed = POD_FIELDS.iter().filter_map(|field| field.path.strip_prefix("volumes[*]."));
    let known: BTreeSet<&str> = listed.chain(mounted).filter(|path| !path.contains('.')).collect();
    let source = core_type("VolumeSource");
    let facts: BTreeSet<&str> = source.fields.iter().map(|field| field.name.as_ref()).collect();
    assert_eq!(known, facts);
}

fn check(spec: serde_json::Value, expected: &[&str]) {
    let found: Vec<String> = fields_of_pod_spec(&spec, "spec").into_iter().map(|field| field.path).collect();
    assert_eq!(found, expected, "{spec}");
}

#[test]
fn fields_are_named_with_their_place() {
    check(json!({"hostUsers": false}), &["spec.hostUsers"]);
    check(
        json!({"hostUsers": true, "resourceClaims": [], "resources": {"limits": {"cpu": "1"}}, "affinity": null}),
        &[],
    );
    check(json!({"securityContext": {"supplementalGroupsPolicy": "Merge"}}), &[]);
    check(
        json!({"initContainers": [{"volumeMounts": [{}, {"recursiveReadOnly": "Enabled"}]}],
            "containers": [{"volumeMounts": [{"recursiveReadOnly": "Enabled"}]}, {"volumeMounts": [{"recursiveReadOnly": "IfPossible"}]}],
            "ephemeralContainers": [{"volumeMounts": [{"recursiveReadOnly": "Enabled"}]}]}),
        &[
            "spec.initContainers[0].volumeMounts[1].recursiveReadOnly",
            "spec.containers[0].volumeMounts[0].recursiveReadOnly",
            "spec.ephemeralContainers[0].volumeMounts[0].recursiveReadOnly",
        ],
    );
    check(
        json!({"volumes": [{"emptyDir": {}}, {"emptyDir": {"sizeLimit": "1Gi"}}, {"emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
            {"nfs": {}}, {"emptyDir": {"medium": "HugePages-2Mi"}}]}),
        &["spec.volumes[3].nfs"],
    );
}

#[test]
fn an_update_repeats_no_warning() {
    let ingress = GroupVersionKind::new("networking.k8s.io", "v1", "Ingress");
    let object = json!({"spec": {}});
    let expected = ["Ingress: stored, and nothing acts on it yet: no traffic is routed by it"];
    assert_eq!(warnings(&ingress, &object, None), expected);
    assert!(warnings(&ingress, &object, Some(&object)).is_empty());
    let deployment = GroupVersionKind::new("apps", "v1", "Deployment");
    let object = json!({"spec": {"template": {"spec": {"hostUsers": false}}}});
    assert_eq!(
        warnings(&deployment, &object, None),
        ["spec.template.spec.hostUsers: this node gives pods no user namespace of their own; the node rejects the pod"]
    );
    let cron_job = GroupVersionKind::new("batch", "v1", "CronJob");
    let nested = json!({"spec": {"jobTemplate": object}});
    let warned = warnings(&cron_job, &nested, None);
    assert!(warned[0].starts_with("spec.jobTemplate.spec.template.spec.hostUsers: "), "{warned:?}");
}
