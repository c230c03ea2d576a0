//! What devices add to a container's configuration, from the answers of their plugins and drivers
//! (upstream: deviceRunContainerOptions of pkg/kubelet/cm/devicemanager/pod_devices.go). Pure.

use super::proto::ContainerAllocateResponse;
use crate::cri::v1;
use std::collections::{BTreeMap, BTreeSet, HashMap};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceOptions {
    pub envs: BTreeMap<String, String>,
    pub mounts: Vec<v1::Mount>,
    pub devices: Vec<v1::Device>,
    pub annotations: BTreeMap<String, String>,
    pub cdi_devices: Vec<v1::CdiDevice>,
}

impl DeviceOptions {
    /// Of two answers that say something of one name or path, the first counts.
    pub fn add(&mut self, answer: ContainerAllocateResponse) {
        for (name, value) in answer.envs {
            self.envs.entry(name).or_insert(value);
        }
        for device in answer.devices {
            if self.devices.iter().all(|known| known.container_path != device.container_path) {
                self.devices.push(v1::Device {
                    container_path: device.container_path,
                    host_path: device.host_path,
                    permissions: device.permissions,
                });
            }
        }
        for mount in answer.mounts {
            if self.mounts.iter().all(|known| known.container_path != mount.container_path) {
                self.mounts.push(v1::Mount {
                    container_path: mount.container_path,
                    host_path: mount.host_path,
                    readonly: mount.read_only,
                    ..Default::default()
                });
            }
        }
        for (name, value) in answer.annotations {
            self.annotations.entry(name).or_insert(value);
        }
        self.add_cdi(answer.cdi_devices.into_iter().map(|device| device.name));
    }

    pub fn add_cdi(&mut self, names: impl IntoIterator<Item = String>) {
        let mut known: BTreeSet<String> = self.cdi_devices.iter().map(|device| device.name.clone()).collect();
        for name in names {
            if known.insert(name.clone()) {
                self.cdi_devices.push(v1::CdiDevice { name });
            }
        }
    }

    /// Variables of the container's own win; its annotations, mounts and devices stand beside.
    pub fn apply(self, config: &mut v1::ContainerConfig) {
        let own: BTreeSet<String> = config.envs.iter().map(|env| env.key.clone()).collect();
        let envs = self.envs.into_iter().filter(|(key, _)| !own.contains(key));
        config.envs.extend(envs.map(|(key, value)| v1::KeyValue { key, value }));
        config.mounts.extend(self.mounts);
        config.devices.extend(self.devices);
        let annotations: HashMap<String, String> = self.annotations.into_iter().collect();
        for (name, value) in annotations {
            config.annotations.entry(name).or_insert(value);
        }
        config.cdi_devices.extend(self.cdi_devices);
    }
}

#[cfg(test)]
mod tests {
    use super::super::proto::{CdiDevice, DeviceSpec, Mount};
    use super::*;

    #[test]
    fn answers_are_put_together_and_the_first_of_a_path_counts() {
        let answer = |host: &str| ContainerAllocateResponse {
            envs: HashMap::from([("A".into(), host.into())]),
            mounts: vec![Mount { container_path: "/m".into(), host_path: host.into(), read_only: true }],
            devices: vec![DeviceSpec {
                container_path: "/dev/x".into(),
                host_path: host.into(),
                permissions: "rw".into(),
            }],
            annotations: HashMap::from([("n".into(), host.into())]),
            cdi_devices: vec![CdiDevice { name: "v/c=d".into() }],
        };
        let mut options = DeviceOptions::default();
        options.add(answer("/1"));
        options.add(answer("/2"));
        options.add_cdi(["v/c=e".to_owned(), "v/c=d".to_owned()]);
        let mut config = v1::ContainerConfig {
            envs: vec![v1::KeyValue { key: "B".into(), value: "b".into() }],
            ..Default::default()
        };
        options.clone().apply(&mut config);
        assert_eq!((config.envs.len(), config.mounts.len(), config.devices.len()), (2, 1, 1));
        assert_eq!(config.devices[0].host_path, "/1");
        assert_eq!(config.annotations["n"], "/1");
        let names: Vec<_> = config.cdi_devices.iter().map(|device| device.name.as_str()).collect();
        assert_eq!(names, ["v/c=d", "v/c=e"]);
        let mut own = v1::ContainerConfig {
            envs: vec![v1::KeyValue { key: "A".into(), value: "own".into() }],
            ..Default::default()
        };
        options.apply(&mut own);
        assert_eq!(own.envs.len(), 1);
    }
}
