//! allocatedResourcesStatus: the health of the devices that containers have
//! (upstream: UpdateAllocatedResourcesStatus of pkg/kubelet/cm/devicemanager/manager.go).

use ferry_api::view::Owned;
use ferry_api::view::core::v1::{ContainerStatus, PodStatus, ResourceHealth, ResourceStatus};
use ferry_devices::plugin::{DeviceHealth, Health};
use std::collections::BTreeMap;

/// `health_of` returns the devices of a container by resource.
pub fn set_resource_health(status: &mut PodStatus, health_of: impl Fn(&str) -> BTreeMap<String, Vec<DeviceHealth>>) {
    let mut is_changed = false;
    let own = |own: ferry_api::view::core::v1::ContainerStatusView<'_>| -> ContainerStatus {
        let resources = health_of(own.name());
        let mut own = own.to_owned();
        if !resources.is_empty() {
            is_changed = true;
            own.set_allocated_resources_status(resources.iter().map(|(name, devices)| render(name, devices)));
        }
        own
    };
    let statuses: Vec<ContainerStatus> = status.view().container_statuses().iter().map(own).collect();
    if is_changed {
        status.set_container_statuses(statuses);
    }
}

fn render(name: &str, devices: &[DeviceHealth]) -> ResourceStatus {
    let devices = devices.iter().map(|device| {
        let health = match device.health {
            Health::Healthy => "Healthy",
            Health::Unhealthy => "Unhealthy",
            Health::Unknown => "Unknown",
        };
        ResourceHealth::new()
            .with_resource_id(device.id.as_str())
            .with_health(health)
            .with_message(device.message.as_deref())
    });
    ResourceStatus::new().with_name(name).with_resources(devices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn devices_are_shown_with_their_health() {
        let mut status = PodStatus::from(json!({ "containerStatuses": [{ "name": "a" }, { "name": "b" }] }));
        set_resource_health(&mut status, |container| match container {
            "a" => BTreeMap::from([(
                "v.test/x".into(),
                vec![DeviceHealth { id: "d1".into(), health: Health::Unhealthy, message: Some("hot".into()) }],
            )]),
            _ => BTreeMap::new(),
        });
        let status: Value = status.into();
        let expected = json!([{ "name": "v.test/x", "resources": [{ "resourceID": "d1", "health": "Unhealthy", "message": "hot" }] }]);
        assert_eq!(status["containerStatuses"][0]["allocatedResourcesStatus"], expected);
        assert_eq!(status["containerStatuses"][1]["allocatedResourcesStatus"], Value::Null);
    }
}
