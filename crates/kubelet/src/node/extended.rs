//! Extended resources in the node's status: those of device plugins, and those that somebody else has
//! written there (upstream: MachineInfo of pkg/kubelet/nodestatus/setters.go). Pure.

use ferry_api::rules::resource_name;
use ferry_api::view::core::v1::NodeStatusView;
use ferry_devices::plugin::ResourceCount;
use std::collections::{BTreeMap, BTreeSet};

/// Quantities as the status has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantities {
    pub capacity: String,
    pub allocatable: String,
}

/// `seen` remembers the resources of plugins: one whose plugin is gone for good is reported as zero,
/// because a key that is left out would stay. Others have as much to allocate as their capacity says.
pub fn compute_extended(
    known: NodeStatusView<'_>,
    counts: &BTreeMap<String, ResourceCount>,
    seen: &mut BTreeSet<String>,
) -> BTreeMap<String, Quantities> {
    seen.extend(counts.keys().cloned());
    let foreign = known.capacity().node().entries().filter_map(|(name, amount)| {
        let amount = amount.as_str()?.to_owned();
        let is_foreign = resource_name::is_extended(name) && !seen.contains(name);
        is_foreign.then(|| (name.to_owned(), Quantities { capacity: amount.clone(), allocatable: amount }))
    });
    let mut out: BTreeMap<String, Quantities> = foreign.collect();
    for name in seen.iter() {
        let count = counts.get(name).cloned().unwrap_or_default();
        let quantities =
            Quantities { capacity: count.capacity.to_string(), allocatable: count.allocatable.to_string() };
        out.insert(name.clone(), quantities);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plugins_count_their_devices_and_others_say_their_own() {
        let known = json!({ "capacity": { "cpu": "2", "a.test/x": "9", "b.test/y": "4", "hugepages-2Mi": "0" } });
        let mut seen = BTreeSet::new();
        let counts = BTreeMap::from([("a.test/x".to_owned(), ResourceCount { capacity: 3, allocatable: 2 })]);
        let quantities = |capacity: &str, allocatable: &str| Quantities {
            capacity: capacity.into(),
            allocatable: allocatable.into(),
        };
        let expected = [("a.test/x".to_owned(), quantities("3", "2")), ("b.test/y".to_owned(), quantities("4", "4"))];
        assert_eq!(compute_extended((&known).into(), &counts, &mut seen), BTreeMap::from(expected));
        let gone = compute_extended((&known).into(), &BTreeMap::new(), &mut seen);
        assert_eq!(gone["a.test/x"], quantities("0", "0"));
    }
}
