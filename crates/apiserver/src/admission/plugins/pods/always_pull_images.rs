//! AlwaysPullImages: every image is pulled anew, so that nobody runs one that lies on a
//! node without the right to pull it. Off unless asked for. Init and ephemeral containers
//! and image volumes count as well.

use crate::admission::{AdmissionRequest, Operation, Plugin};
use async_trait::async_trait;
use ferry_api::field::{Error, Path};
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use ferry_resources::pod_spec::{CONTAINER_LISTS, containers};
use serde_json::Value;

const ALWAYS: &str = "Always";

pub(crate) struct AlwaysPullImages;

#[async_trait]
impl Plugin for AlwaysPullImages {
    fn name(&self) -> &'static str {
        "AlwaysPullImages"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        let is_write = request.operation == Operation::Create
            || (request.operation == Operation::Update && brings_images(request));
        // Ephemeral containers come through a door of their own, with images of their own.
        is_write && request.is_for("", "pods") && matches!(request.subresource.as_str(), "" | "ephemeralcontainers")
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(spec) = request.object.as_deref_mut().and_then(|pod| pod.get_mut("spec")) else { return Ok(()) };
        for list in CONTAINER_LISTS {
            if let Some(Value::Array(containers)) = spec.get_mut(list) {
                for container in containers {
                    ensure_object(container).insert("imagePullPolicy".into(), ALWAYS.into());
                }
            }
        }
        if let Some(Value::Array(volumes)) = spec.get_mut("volumes") {
            for image in volumes.iter_mut().filter_map(|volume| volume.get_mut("image")).filter(|v| v.is_object()) {
                ensure_object(image).insert("pullPolicy".into(), ALWAYS.into());
            }
        }
        Ok(())
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let pod = request.object.as_deref().unwrap_or(&Value::Null);
        let (spec, root) = (pod.get("spec").unwrap_or(&Value::Null), Path::new("spec"));
        let mut wrong = Vec::new();
        let mut check = |path: Path, policy: &str| {
            if policy != ALWAYS {
                wrong.push(Error::not_supported(&path, policy, &[ALWAYS]).to_string());
            }
        };
        for (container, path) in containers(spec, &root) {
            check(path.child("imagePullPolicy"), container.str_at(&["imagePullPolicy"]));
        }
        for (index, volume) in spec.items_at(&["volumes"]).iter().enumerate() {
            if let Some(image) = volume.get("image").filter(|image| image.is_object()) {
                let path = root.child("volumes").index(index).child("image").child("pullPolicy");
                check(path, image.str_at(&["pullPolicy"]));
            }
        }
        match wrong.first() {
            Some(first) => Err(request.forbidden(first)),
            None => Ok(()),
        }
    }
}

/// Whether an update names an image that the pod did not have.
fn brings_images(request: &AdmissionRequest<'_>) -> bool {
    let images = |pod: Option<&Value>| -> Vec<String> {
        let lists =
            CONTAINER_LISTS.into_iter().flat_map(|list| pod.map_or(&[][..], |pod| pod.items_at(&["spec", list])));
        lists.map(|container| container.str_at(&["image"]).to_owned()).collect()
    };
    let before = images(request.old_object);
    images(request.object.as_deref()).iter().any(|image| !before.contains(image))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, pods};
    use serde_json::json;

    #[tokio::test]
    async fn all_containers_pull_anew() {
        let spec = json!({"containers": [{"image": "a", "imagePullPolicy": "Never"}], "initContainers": [{"image": "b"}],
            "ephemeralContainers": [{"image": "c"}], "volumes": [{"image": {"reference": "d"}}]});
        let pod = json!({"metadata": {"name": "p"}, "spec": spec});
        let pod = Case::create(pods(), pod).run(&AlwaysPullImages).await.expect("admitted");
        for list in CONTAINER_LISTS {
            assert_eq!(pod["spec"][list][0]["imagePullPolicy"], ALWAYS, "{list}");
        }
        assert_eq!(pod["spec"]["volumes"][0]["image"]["pullPolicy"], ALWAYS);

        let mut same = pod.clone();
        same["spec"]["containers"][0]["imagePullPolicy"] = "Never".into();
        let mut update = Case::create(pods(), same.clone());
        (update.operation, update.old) = (Operation::Update, Some(pod.clone()));
        assert_eq!(update.run(&AlwaysPullImages).await.expect("admitted"), same, "no new image, no new rule");
        let mut debugged = pod.clone();
        debugged["spec"]["ephemeralContainers"] = json!([{"image": "new", "imagePullPolicy": "IfNotPresent"}]);
        let mut update = Case::create(pods(), debugged);
        (update.operation, update.old, update.subresource) = (Operation::Update, Some(pod), "ephemeralcontainers");
        let debugged = update.run(&AlwaysPullImages).await.expect("admitted");
        assert_eq!(debugged["spec"]["ephemeralContainers"][0]["imagePullPolicy"], ALWAYS);
    }
}
