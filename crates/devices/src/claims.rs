//! ResourceClaims that are prepared on this node: by which pods they are used, and what their drivers
//! answered (upstream: pkg/kubelet/cm/dra/claiminfo.go).
//!
//! The kubelet refers a pod to its claims with [`Claims::refer`] before any driver is called, records
//! each answer, and asks [`Claims::plan_unprepare`] when the pod has ended.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Namespace and name.
pub type ClaimKey = (String, String);

/// A device as its driver prepared it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PreparedDevice {
    pub pool_name: String,
    pub device_name: String,
    #[serde(rename = "ShareID", default)]
    pub share_id: Option<String>,
    #[serde(default)]
    pub request_names: Vec<String>,
    #[serde(rename = "CDIDeviceIDs", default)]
    pub cdi_device_ids: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    pub uid: String,
    /// The pods that use the claim.
    pub pods: BTreeSet<String>,
    /// By driver; one that has devices in the claim stands here before it has prepared any.
    pub drivers: BTreeMap<String, Vec<PreparedDevice>>,
    /// All drivers have prepared it since the kubelet started. A kubelet that starts anew asks them again.
    pub is_prepared: bool,
}

/// A claim that a driver is to be called for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClaimRef {
    pub namespace: String,
    pub name: String,
    pub uid: String,
}

#[derive(Clone, Debug, Default)]
pub struct Claims {
    claims: BTreeMap<ClaimKey, Claim>,
}

impl Claims {
    /// The pod uses the claim from now on. Returns whether its drivers are still to be called.
    pub fn refer(&mut self, key: ClaimKey, uid: &str, drivers: &BTreeSet<String>, pod: &str) -> Result<bool, String> {
        let name = key.1.clone();
        let claim = self.claims.entry(key).or_insert_with(|| Claim {
            uid: uid.to_owned(),
            drivers: drivers.iter().map(|driver| (driver.clone(), Vec::new())).collect(),
            ..Default::default()
        });
        if claim.uid != uid {
            return Err(format!(
                "old ResourceClaim with same name {name} and different UID {} still exists (previous pod force-deleted?!)",
                claim.uid
            ));
        }
        claim.pods.insert(pod.to_owned());
        Ok(!claim.is_prepared)
    }

    /// A driver's answer stands for all that it answered before.
    pub fn record(&mut self, key: &ClaimKey, driver: &str, devices: Vec<PreparedDevice>) {
        if let Some(claim) = self.claims.get_mut(key) {
            claim.drivers.insert(driver.to_owned(), devices);
        }
    }

    pub fn set_prepared(&mut self, key: &ClaimKey) {
        if let Some(claim) = self.claims.get_mut(key) {
            claim.is_prepared = true;
        }
    }

    pub fn get(&self, key: &ClaimKey) -> Option<&Claim> {
        self.claims.get(key)
    }

    pub fn has_pod(&self, pod: &str) -> bool {
        self.claims.values().any(|claim| claim.pods.contains(pod))
    }

    /// Every pod that uses a claim.
    pub fn pods(&self) -> BTreeSet<&str> {
        self.claims.values().flat_map(|claim| &claim.pods).map(String::as_str).collect()
    }

    /// The pods that use a device.
    pub fn users(&self, driver: &str, pool: &str, device: &str) -> BTreeSet<String> {
        let has = |claim: &&Claim| {
            let own = claim.drivers.get(driver).into_iter().flatten();
            own.into_iter().any(|own| own.pool_name == pool && own.device_name == device)
        };
        self.claims.values().filter(has).flat_map(|claim| claim.pods.iter().cloned()).collect()
    }

    /// The pod has ended: claims that others use lose its name, and those that nobody else uses are
    /// returned by driver.
    pub fn plan_unprepare(&mut self, pod: &str) -> BTreeMap<String, Vec<ClaimRef>> {
        let mut out: BTreeMap<String, Vec<ClaimRef>> = BTreeMap::new();
        for ((namespace, name), claim) in &mut self.claims {
            if !claim.pods.contains(pod) {
                continue;
            }
            if claim.pods.len() > 1 {
                claim.pods.remove(pod);
                continue;
            }
            let own = ClaimRef { namespace: namespace.clone(), name: name.clone(), uid: claim.uid.clone() };
            for driver in claim.drivers.keys() {
                out.entry(driver.clone()).or_default().push(own.clone());
            }
        }
        out
    }

    /// All drivers have unprepared what the pod alone had.
    pub fn forget(&mut self, pod: &str) {
        self.claims.retain(|_, claim| !(claim.pods.len() == 1 && claim.pods.contains(pod)));
    }

    /// The CDI devices of one request of the claim, or of all where it is empty.
    pub fn cdi_devices(&self, key: &ClaimKey, request: &str) -> Option<Vec<String>> {
        let claim = self.claims.get(key)?;
        let is_meant = |device: &&PreparedDevice| {
            request.is_empty()
                || device.request_names.is_empty()
                || device.request_names.iter().any(|own| own == request)
        };
        let devices = claim.drivers.values().flatten().filter(is_meant);
        Some(devices.flat_map(|device| device.cdi_device_ids.iter().cloned()).collect())
    }

    /// The file's text, in the form of upstream's dra_manager_state.
    pub fn to_checkpoint(&self) -> String {
        let list = self.claims.iter().map(|((namespace, name), claim)| Entry {
            claim_uid: claim.uid.clone(),
            claim_name: name.clone(),
            namespace: namespace.clone(),
            pod_uids: claim.pods.iter().map(|pod| (pod.clone(), Empty {})).collect(),
            driver_state: claim
                .drivers
                .iter()
                .map(|(name, devices)| (name.clone(), Driver { devices: devices.clone() }))
                .collect(),
        });
        let data = Data {
            kind: "DRACheckpoint".into(),
            api_version: "checkpoint.dra.kubelet.k8s.io/v1".into(),
            list: list.collect(),
        };
        let data = serde_json::to_string(&data).unwrap_or_default();
        let checksum = crc32fast::hash(data.as_bytes());
        serde_json::to_string(&File { data, checksum }).unwrap_or_default()
    }

    pub fn from_checkpoint(text: &str) -> Result<Self, String> {
        let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if crc32fast::hash(file.data.as_bytes()) != file.checksum {
            return Err("checkpoint is corrupted".into());
        }
        let data: Data = serde_json::from_str(&file.data).map_err(|error| error.to_string())?;
        let claims = data.list.into_iter().map(|entry| {
            let claim = Claim {
                uid: entry.claim_uid,
                pods: entry.pod_uids.into_keys().collect(),
                drivers: entry.driver_state.into_iter().map(|(name, own)| (name, own.devices)).collect(),
                is_prepared: false,
            };
            ((entry.namespace, entry.claim_name), claim)
        });
        Ok(Self { claims: claims.collect() })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct File {
    data: String,
    checksum: u32,
}

#[derive(Serialize, Deserialize)]
struct Data {
    kind: String,
    #[serde(rename = "apiVersion")]
    api_version: String,
    #[serde(rename = "ClaimInfoStateList")]
    list: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    #[serde(rename = "ClaimUID")]
    claim_uid: String,
    claim_name: String,
    namespace: String,
    #[serde(rename = "PodUIDs")]
    pod_uids: BTreeMap<String, Empty>,
    driver_state: BTreeMap<String, Driver>,
}

#[derive(Serialize, Deserialize)]
struct Empty {}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Driver {
    #[serde(deserialize_with = "list_or_null")]
    devices: Vec<PreparedDevice>,
}

/// Go writes an empty list as null.
fn list_or_null<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<PreparedDevice>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> ClaimKey {
        ("ns".to_owned(), name.to_owned())
    }

    fn device(request: &str, cdi: &str) -> PreparedDevice {
        PreparedDevice {
            pool_name: "pool".into(),
            device_name: format!("dev-{cdi}"),
            request_names: vec![request.into()],
            cdi_device_ids: vec![cdi.into()],
            ..Default::default()
        }
    }

    fn shared() -> Claims {
        let mut claims = Claims::default();
        let drivers = BTreeSet::from(["d.test".to_owned()]);
        assert_eq!(claims.refer(key("a"), "u1", &drivers, "p1"), Ok(true));
        claims.record(&key("a"), "d.test", vec![device("r", "v/c=1"), device("s", "v/c=2")]);
        claims.set_prepared(&key("a"));
        assert_eq!(claims.refer(key("a"), "u1", &drivers, "p2"), Ok(false), "prepared once for both");
        claims
    }

    #[test]
    fn a_claim_is_unprepared_with_its_last_pod() {
        let mut claims = shared();
        assert!(claims.plan_unprepare("p1").is_empty());
        let last = claims.plan_unprepare("p2");
        assert_eq!(last["d.test"], [ClaimRef { namespace: "ns".into(), name: "a".into(), uid: "u1".into() }]);
        assert!(claims.has_pod("p2"), "until the driver has answered");
        claims.forget("p2");
        assert!(!claims.has_pod("p2") && claims.get(&key("a")).is_none());
    }

    #[test]
    fn a_request_gets_its_own_devices() {
        let claims = shared();
        assert_eq!(claims.cdi_devices(&key("a"), "s"), Some(vec!["v/c=2".to_owned()]));
        assert_eq!(claims.cdi_devices(&key("a"), "").map(|all| all.len()), Some(2));
        assert_eq!(claims.cdi_devices(&key("b"), ""), None);
        assert_eq!(claims.users("d.test", "pool", "dev-v/c=1").len(), 2);
    }

    #[test]
    fn another_claim_of_the_same_name_is_refused() {
        let error = shared().refer(key("a"), "u2", &BTreeSet::new(), "p3").expect_err("another uid");
        assert!(error.starts_with("old ResourceClaim with same name a and different UID u1 still exists"), "{error}");
    }

    #[test]
    fn claims_survive_and_are_prepared_again() {
        let claims = shared();
        let mut back = Claims::from_checkpoint(&claims.to_checkpoint()).expect("readable");
        assert_eq!(back.get(&key("a")).map(|own| &own.drivers), claims.get(&key("a")).map(|own| &own.drivers));
        assert_eq!(back.refer(key("a"), "u1", &BTreeSet::new(), "p1"), Ok(true));
        assert!(Claims::from_checkpoint(&claims.to_checkpoint().replace("u1", "u2")).is_err());
    }
}
