//! Assignments in a file, so that a kubelet that starts anew gives no device twice. The text has the
//! fields of upstream's kubelet_internal_checkpoint.

use super::{Assignment, PluginDevices, Resource};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Instant;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct File {
    data: Data,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Data {
    pod_device_entries: Vec<Entry>,
    registered_devices: BTreeMap<String, Vec<String>>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    #[serde(rename = "PodUID")]
    pod_uid: String,
    #[serde(rename = "ContainerName")]
    container_name: String,
    #[serde(rename = "ResourceName")]
    resource_name: String,
    #[serde(rename = "DeviceIDs")]
    device_ids: BTreeMap<i64, Vec<String>>,
    #[serde(rename = "AllocResp")]
    response: Vec<u8>,
}

impl PluginDevices {
    pub fn to_checkpoint(&self) -> String {
        let mut pod_device_entries = Vec::new();
        for (uid, containers) in &self.pods {
            for (container, resources) in containers {
                for (resource, assignment) in resources {
                    pod_device_entries.push(Entry {
                        pod_uid: uid.clone(),
                        container_name: container.clone(),
                        resource_name: resource.clone(),
                        device_ids: assignment.devices.clone(),
                        response: assignment.response.clone(),
                    });
                }
            }
        }
        let healthy = |own: &Resource| {
            own.devices.iter().filter(|(_, device)| device.is_healthy).map(|(id, _)| id.clone()).collect()
        };
        let registered_devices = self.resources.iter().map(|(name, own)| (name.clone(), healthy(own))).collect();
        serde_json::to_string(&File { data: Data { pod_device_entries, registered_devices } }).unwrap_or_default()
    }

    /// Resources of before are known, and without devices until their plugins come back.
    pub fn from_checkpoint(text: &str, now: Instant) -> Result<Self, serde_json::Error> {
        let File { data } = serde_json::from_str(text)?;
        let mut out = Self::default();
        for entry in data.pod_device_entries {
            let containers = out.pods.entry(entry.pod_uid).or_default();
            let assignment = Assignment { devices: entry.device_ids, response: entry.response };
            containers.entry(entry.container_name).or_default().insert(entry.resource_name, assignment);
        }
        for name in data.registered_devices.into_keys() {
            out.resources.insert(name, Resource { stopped: Some(now), ..Default::default() });
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::devices;
    use super::*;

    #[test]
    fn assignments_survive_and_devices_wait_for_their_plugin() {
        let mut own = PluginDevices::default();
        own.update("a/x", devices(&[("d1", true, &[1]), ("d2", true, &[])]));
        own.record("p", "c", "a/x", &["d1".into(), "d2".into()], vec![1, 2]);
        let mut back = PluginDevices::from_checkpoint(&own.to_checkpoint(), Instant::now()).expect("readable");
        let kept: Vec<_> = back.of_container("p", "c").map(|(name, own)| (name.to_owned(), own.clone())).collect();
        assert_eq!(
            kept,
            own.of_container("p", "c").map(|(name, own)| (name.to_owned(), own.clone())).collect::<Vec<_>>()
        );
        assert!(back.is_plugin_resource("a/x"));
        let error = back.begin("q", "c", "a/x", 1, &Default::default(), None).expect_err("no plugin yet");
        assert_eq!(error, "no healthy devices present; cannot allocate unhealthy devices a/x");
        assert!(PluginDevices::from_checkpoint("{", Instant::now()).is_err());
    }
}
