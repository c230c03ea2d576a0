//! The least object of every builtin kind, for tests that go over all of them: those of this
//! crate, and those of the API server that write each kind.

use ferry_api::object::Meta;
use ferry_resources::Row;
use serde_json::{Value, json};

/// The least object of a kind that upstream takes.
pub fn minimal(row: &Row) -> Value {
    let fields = match (row.group.as_ref(), row.kind.as_ref()) {
        ("", "Pod") => json!({"spec": template()["spec"]}),
        ("", "PodTemplate") => json!({"template": template()}),
        ("", "Service") => json!({"spec": {"ports": [{"port": 80}]}}),
        ("", "Event") => json!({"involvedObject": {"kind": "Pod", "name": "a", "namespace": "default"}}),
        ("", "Endpoints") => json!({"subsets": [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]}),
        ("", "ResourceQuota") => json!({"spec": {"hard": {"pods": "1"}}}),
        ("", "LimitRange") => json!({"spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}}),
        ("events.k8s.io", "Event") => json!({
            "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "a", "reportingInstance": "a",
            "action": "a", "reason": "a", "type": "Normal", "regarding": {"namespace": "default"},
        }),
        ("apps", "ControllerRevision") => json!({"data": {}, "revision": 1}),
        ("", "PersistentVolume") => json!({"spec": {
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/data"},
        }}),
        ("", "PersistentVolumeClaim") => {
            json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
        }
        ("", "ReplicationController") => json!({"spec": {"template": template()}}),
        ("batch", "Job") => json!({"spec": {"template": template_of_job()}}),
        ("batch", "CronJob") => {
            json!({"spec": {"schedule": "@daily", "jobTemplate": {"spec": {"template": template_of_job()}}}})
        }
        ("autoscaling", _) => json!({"spec": {
            "maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        }}),
        ("storage.k8s.io", "StorageClass") => json!({"provisioner": "example.com/a"}),
        ("storage.k8s.io", "VolumeAttributesClass") => json!({"driverName": "example.com", "parameters": {"a": "b"}}),
        ("storage.k8s.io", "CSINode") => json!({"spec": {"drivers": [{"name": "example.com", "nodeID": "a"}]}}),
        ("storage.k8s.io", "CSIStorageCapacity") => json!({"storageClassName": "fast"}),
        ("storage.k8s.io", "VolumeAttachment") => {
            json!({"spec": {"attacher": "example.com", "nodeName": "n", "source": {"persistentVolumeName": "a"}}})
        }
        ("node.k8s.io", _) => json!({"handler": "runc"}),
        ("apps", _) => json!({"spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template()}}),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            json!({"roleRef": {"kind": "ClusterRole", "name": "view"}})
        }
        ("discovery.k8s.io", _) => json!({"addressType": "IPv4", "endpoints": []}),
        ("networking.k8s.io", "Ingress") => {
            json!({"spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}})
        }
        ("networking.k8s.io", "IngressClass") => json!({"spec": {"controller": "example.com/a"}}),
        ("networking.k8s.io", "NetworkPolicy") => json!({"spec": {"podSelector": {}}}),
        ("networking.k8s.io", "IPAddress") => {
            json!({"metadata": {"name": "10.0.0.1"}, "spec": {"parentRef": {"resource": "services", "name": "web"}}})
        }
        ("networking.k8s.io", "ServiceCIDR") => json!({"spec": {"cidrs": ["10.0.0.0/16"]}}),
        ("certificates.k8s.io", "CertificateSigningRequest") => json!({"spec": {
            "request": include_str!("../../src/certificates/testdata/request.b64").trim(),
            "signerName": "example.com/a", "usages": ["client auth"],
        }}),
        ("certificates.k8s.io", "ClusterTrustBundle") => {
            json!({"spec": {"trustBundle": include_str!("../../src/certificates/testdata/authority.pem")}})
        }
        ("certificates.k8s.io", "PodCertificateRequest") => json!({"spec": {
            "signerName": "example.com/a", "podName": "p", "podUID": "1", "serviceAccountName": "s",
            "serviceAccountUID": "2", "nodeName": "n", "nodeUID": "3", "maxExpirationSeconds": 3600,
            "stubPKCS10Request": include_str!("../../src/certificates/testdata/stub_request.b64").trim(),
        }}),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration") => {
            json!({"webhooks": [{
                "name": "a.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                "clientConfig": {"service": {"name": "a", "namespace": "b"}},
                "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
            }]})
        }
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding") => {
            json!({"spec": {"policyName": "a", "validationActions": ["Deny"]}})
        }
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding") => json!({"spec": {"policyName": "a"}}),
        ("admissionregistration.k8s.io", _) => json!({"spec": {
            "matchConstraints": {"resourceRules": [{
                "operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"],
            }]},
            "validations": [{"expression": "true"}], "reinvocationPolicy": "Never",
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/spec'}]"}}],
        }}),
        ("apiextensions.k8s.io", _) => json!({
            "metadata": {"name": "foos.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "foos", "kind": "Foo"},
                "versions": [{"name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object"}}}]},
        }),
        ("apiregistration.k8s.io", _) => json!({
            "metadata": {"name": "v1.example.com"},
            "spec": {"group": "example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10},
        }),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema") => {
            json!({"spec": {"priorityLevelConfiguration": {"name": "a"}}})
        }
        ("flowcontrol.apiserver.k8s.io", _) => {
            json!({"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}})
        }
        ("resource.k8s.io", "ResourceClaim") => claim(row),
        ("resource.k8s.io", "ResourceClaimTemplate") => json!({"spec": claim(row)}),
        ("resource.k8s.io", "ResourceSlice") => {
            json!({"spec": {"driver": "a.b", "pool": {"name": "p", "resourceSliceCount": 1}, "nodeName": "n"}})
        }
        ("resource.k8s.io", "DeviceTaintRule") => json!({"spec": {"taint": {"key": "a", "effect": "NoSchedule"}}}),
        ("coordination.k8s.io", "LeaseCandidate") => json!({"spec": {
            "leaseName": "a", "binaryVersion": "1.0.0", "emulationVersion": "1.0.0", "strategy": "OldestEmulationVersion",
        }}),
        ("storagemigration.k8s.io", _) => json!({"spec": {"resource": {"group": "apps", "resource": "deployments"}}}),
        _ => json!({}),
    };
    let mut object = json!({"metadata": {"name": "a"}});
    object.set_gvk(&row.gvk());
    if row.group == "batch" {
        // A Job's pods are recognized by its uid, which it has by then.
        object.set_meta("uid", "0001");
    }
    if row.is_namespaced() {
        object.set_meta("namespace", "default");
    }
    if let (Value::Object(object), Value::Object(mut fields)) = (&mut object, fields) {
        if let Some(name) = fields.remove("metadata") {
            object["metadata"]["name"] = name["name"].clone();
        }
        object.extend(fields);
    }
    object
}

fn template() -> Value {
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web"}]}})
}

fn template_of_job() -> Value {
    let mut template = template();
    template["spec"]["restartPolicy"] = "Never".into();
    template
}

/// A claim for one device, in the shape of its version.
fn claim(row: &Row) -> Value {
    let request = if row.version == "v1beta1" {
        json!({"name": "r", "deviceClassName": "c"})
    } else {
        json!({"name": "r", "exactly": {"deviceClassName": "c"}})
    };
    json!({"spec": {"devices": {"requests": [request]}}})
}
