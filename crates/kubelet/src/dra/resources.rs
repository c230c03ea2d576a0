//! The claims and requests that a container refers to, and the health of their devices for its status
//! (upstream: GetResources and UpdateAllocatedResourcesStatus of pkg/kubelet/cm/dra/manager.go).

use super::DraManager;
use ferry_api::rules::resource_claim::ClaimName;
use ferry_api::view::core::v1::{ContainerView, PodView};
use ferry_devices::plugin::{DeviceHealth, Health};
use std::collections::BTreeMap;
use std::time::SystemTime;

/// Each claim by its name, with the request that is meant; an empty one means all of them.
pub fn render_requests(pod: PodView<'_>, container: ContainerView<'_>) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for entry in pod.spec().resource_claims() {
        let Some(name) = ClaimName::of(pod, entry).known() else { continue };
        let own = container.resources().claims().iter().filter(|claim| claim.name() == entry.name());
        out.extend(own.map(|claim| (name.to_owned(), claim.request().to_owned())));
    }
    if let Some(extended) = pod.status().extended_resource_claim_status() {
        let requests = container.resources().requests();
        for mapping in extended.request_mappings() {
            let is_asked = requests.get(mapping.resource_name()).is_some_and(|amount| !amount.is_zero());
            if mapping.container_name() == container.name() && is_asked {
                out.push((extended.resource_claim_name().to_owned(), mapping.request_name().to_owned()));
            }
        }
    }
    out
}

impl DraManager {
    /// The health of a container's devices: `claim:<name>`, or `claim:<name>/<request>`.
    pub fn health(&self, pod: PodView<'_>, container: &str) -> BTreeMap<String, Vec<DeviceHealth>> {
        let mut out: BTreeMap<String, Vec<DeviceHealth>> = BTreeMap::new();
        let Some(container) = pod.spec().containers().iter().find(|own| own.name() == container) else { return out };
        let namespace = pod.metadata().namespace();
        for own in container.resources().claims() {
            let entry = pod.spec().resource_claims().iter().find(|entry| entry.name() == own.name());
            let Some(name) = entry.and_then(|entry| ClaimName::of(pod, entry).known()) else { continue };
            let claims = self.claims.lock();
            let Some(claim) = claims.get(&(namespace.to_owned(), name.to_owned())) else { continue };
            let request = own.request();
            let resource = match request {
                "" => format!("claim:{}", own.name()),
                request => format!("claim:{}/{request}", own.name()),
            };
            // `request/subrequest` is prepared under the request's name.
            let base = request.split('/').next().unwrap_or_default();
            let mut devices: Vec<DeviceHealth> = Vec::new();
            for (driver, prepared) in &claim.drivers {
                for device in prepared {
                    let is_meant = request.is_empty()
                        || device.request_names.is_empty()
                        || device.request_names.iter().any(|name| name == base);
                    let id = device
                        .cdi_device_ids
                        .first()
                        .cloned()
                        .unwrap_or_else(|| format!("{driver}/{}/{}", device.pool_name, device.device_name));
                    if !is_meant || devices.iter().any(|known| known.id == id) {
                        continue;
                    }
                    let (health, message) =
                        self.registry.health(driver, &device.pool_name, &device.device_name, SystemTime::now());
                    devices.push(DeviceHealth { id, health, message });
                }
            }
            if !devices.is_empty() {
                out.insert(resource, devices);
            }
        }
        out
    }
}

/// A health as its driver reports it, until it is out of date.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportedHealth {
    pub health: Health,
    pub message: Option<String>,
    pub valid_until: SystemTime,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_container_refers_to_claims_and_to_those_of_its_extended_resources() {
        let pod = json!({ "metadata": { "namespace": "ns" },
            "spec": { "resourceClaims": [{ "name": "a", "resourceClaimName": "mine" }, { "name": "b", "resourceClaimName": "other" }],
                "containers": [{ "name": "c", "resources": { "claims": [{ "name": "a", "request": "r" }, { "name": "a" }],
                    "requests": { "v.test/gpu": "1" } } }, { "name": "d" }] },
            "status": { "extendedResourceClaimStatus": { "resourceClaimName": "ext", "requestMappings": [
                { "containerName": "c", "resourceName": "v.test/gpu", "requestName": "q" },
                { "containerName": "d", "resourceName": "v.test/gpu", "requestName": "z" }] } } });
        let pod = PodView::from(&pod);
        let requests = |at: usize| render_requests(pod, pod.spec().containers().get(at).expect("a container"));
        let own = |name: &str, request: &str| (name.to_owned(), request.to_owned());
        assert_eq!(requests(0), [own("mine", "r"), own("mine", ""), own("ext", "q")]);
        assert_eq!(requests(1), []);
    }
}
