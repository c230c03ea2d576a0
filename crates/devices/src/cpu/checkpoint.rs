//! Exclusive CPUs in a file, as upstream's cpu_manager_state has them. A file that contradicts the
//! machine or the configuration stops the kubelet, because containers run on these CPUs.

use super::CpuManager;
use crate::CpuSet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const POLICY: &str = "static";

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    policy_name: String,
    default_cpu_set: CpuSet,
    #[serde(default)]
    entries: BTreeMap<String, BTreeMap<String, CpuSet>>,
}

impl CpuManager {
    pub fn to_checkpoint(&self) -> String {
        let file = File {
            policy_name: POLICY.to_owned(),
            default_cpu_set: self.shared.clone(),
            entries: self.assignments.clone(),
        };
        serde_json::to_string(&file).unwrap_or_default()
    }

    /// Takes over the assignments of an earlier kubelet.
    pub fn restore(&mut self, text: &str) -> Result<(), String> {
        let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if file.policy_name != POLICY {
            let found = file.policy_name;
            return Err(format!("configured policy {POLICY:?} differs from state checkpoint policy {found:?}"));
        }
        let default = &file.default_cpu_set;
        let reserved = self.reserved.intersection(default);
        if self.options.strict_reservation && !reserved.is_empty() {
            return Err(format!(
                "some of strictly reserved cpus: \"{reserved}\" are present in defaultCpuSet: \"{default}\""
            ));
        }
        if !self.options.strict_reservation && reserved != self.reserved {
            let own = &self.reserved;
            return Err(format!("not all reserved cpus: \"{own}\" are present in defaultCpuSet: \"{default}\""));
        }
        let mut known = default.clone();
        if self.options.strict_reservation {
            known = known.union(&self.reserved);
        }
        for (pod, containers) in &file.entries {
            for (container, cpus) in containers {
                if !cpus.intersection(default).is_empty() {
                    return Err(format!(
                        "pod: {pod}, container: {container} cpuset: \"{cpus}\" overlaps with default cpuset \"{default}\""
                    ));
                }
                known = known.union(cpus);
            }
        }
        let all = self.topology.cpus();
        if known != all {
            return Err(format!(
                "current set of available CPUs \"{all}\" doesn't match with CPUs in state \"{known}\""
            ));
        }
        self.shared = file.default_cpu_set;
        self.assignments = file.entries;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{machine, set};
    use super::super::{CpuManager, Options};
    use super::*;

    fn manager(reserved: &str) -> CpuManager {
        CpuManager::new(machine(), Options::default(), &set(reserved), 0).expect("reserved")
    }

    #[test]
    fn assignments_survive_and_contradictions_are_named() {
        let mut own = manager("0");
        own.allocate("p", "c", 2, &CpuSet::new(), None).expect("free");
        let text = own.to_checkpoint();
        let mut back = manager("0");
        back.restore(&text).expect("consistent");
        assert_eq!((back.cpus_of("p", "c"), back.shared()), (own.cpus_of("p", "c"), own.shared()));
        let check = |reserved: &str, text: &str, expected: &str| {
            let error = manager(reserved).restore(text).expect_err(text);
            assert!(error.contains(expected), "{error}");
        };
        check("1", &text, "not all reserved cpus: \"1\" are present in defaultCpuSet: \"0,2-4,6-7\"");
        check(
            "0",
            &text.replace("static", "none"),
            "configured policy \"static\" differs from state checkpoint policy \"none\"",
        );
        check("0", &text.replace("0,2-4,6-7", "0-4,6-7"), "overlaps with default cpuset");
        check("0", &text.replace("0,2-4,6-7", "0,2-4,6"), "doesn't match with CPUs in state");
    }
}
