//! What controllers keep of the objects that they follow. A pod's type is wide, and there are
//! thousands of pods: what only a kubelet reads of them is left out. Called by the informers.

use ferry_client::ObjectMetadata;
use k8s_openapi::api::core::v1::{Container, Pod};
use std::any::Any;

pub fn slim(object: &mut dyn Any) {
    if let Some(pod) = object.downcast_mut::<Pod>() {
        slim_pod(pod);
    } else if let Some(object) = object.downcast_mut::<ObjectMetadata>() {
        // Kept of every object there is, by those who ask who owns it and how many there are.
        object.metadata.labels = None;
        object.metadata.annotations = None;
    }
}

/// Ports, resources and the volumes' own objects stay: services, quotas and the protection of
/// claims ask for them.
fn slim_pod(pod: &mut Pod) {
    let Some(spec) = &mut pod.spec else { return };
    for container in spec.containers.iter_mut().chain(spec.init_containers.iter_mut().flatten()) {
        let kept = std::mem::take(container);
        *container = Container {
            name: kept.name,
            image: kept.image,
            ports: kept.ports,
            resources: kept.resources,
            resize_policy: kept.resize_policy,
            restart_policy: kept.restart_policy,
            ..Default::default()
        };
    }
    for volume in spec.volumes.iter_mut().flatten() {
        if let Some(projected) = &mut volume.projected {
            projected.sources = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn of_any_object_its_owners_stay() {
        let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "1"});
        let mut object: ObjectMetadata = serde_json::from_value(json!({"metadata": {"name": "a", "labels": {"a": "b"},
            "annotations": {"c": "d"}, "ownerReferences": [owner]}}))
        .expect("metadata");
        slim(&mut object);
        assert_eq!((object.metadata.labels, object.metadata.annotations), (None, None));
        assert_eq!(object.metadata.owner_references.map(|owners| owners.len()), Some(1));
    }

    #[test]
    fn a_pod_keeps_what_controllers_ask_for() {
        let container = json!({"name": "web", "image": "web:1", "ports": [{"containerPort": 80}],
            "resources": {"requests": {"cpu": "1"}}, "env": [{"name": "A", "value": "b"}],
            "volumeMounts": [{"name": "v", "mountPath": "/v"}]});
        let mut pod: Pod = serde_json::from_value(json!({"metadata": {"name": "web"}, "spec": {
            "containers": [container.clone()], "initContainers": [container],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}},
                {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}]}}))
        .expect("a pod");
        slim(&mut pod);
        let pod: Value = serde_json::to_value(&pod).expect("JSON");
        let slimmed = json!({"name": "web", "image": "web:1", "ports": [{"containerPort": 80}],
            "resources": {"requests": {"cpu": "1"}}});
        assert_eq!(pod["spec"]["containers"], json!([slimmed]));
        assert_eq!(pod["spec"]["initContainers"], json!([slimmed]));
        assert_eq!(pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"], "c");
        assert_eq!(pod["spec"]["volumes"][1], json!({"name": "t", "projected": {}}));
    }
}
