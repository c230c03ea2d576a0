//! In which order groups and versions are offered: upstream's table for the builtin ones
//! (cmd/kube-apiserver/app/aggregator.go) and the sort that all APIServices go through
//! (kube-aggregator's apis/apiregistration/v1/helper).

use std::cmp::{Ordering, Reverse};

/// The group of APIServices themselves has none and comes before all others.
pub(crate) const OWN_GROUP: &str = "apiregistration.k8s.io";
pub(crate) const OWN_PRIORITY: i64 = 20_001;

/// What custom resources get.
pub(crate) const CUSTOM: (i64, i64) = (1000, 100);

/// Group, version, the group's priority, the version's.
const BUILTIN: [(&str, &str, i64, i64); 41] = [
    ("", "v1", 18_000, 1),
    ("apps", "v1", 17_800, 15),
    ("events.k8s.io", "v1", 17_750, 15),
    ("events.k8s.io", "v1beta1", 17_750, 5),
    ("authentication.k8s.io", "v1", 17_700, 15),
    ("authentication.k8s.io", "v1beta1", 17_700, 9),
    ("authentication.k8s.io", "v1alpha1", 17_700, 1),
    ("authorization.k8s.io", "v1", 17_600, 15),
    ("autoscaling", "v2", 17_500, 30),
    ("autoscaling", "v1", 17_500, 15),
    ("batch", "v1", 17_400, 15),
    ("batch", "v1beta1", 17_400, 9),
    ("certificates.k8s.io", "v1", 17_300, 15),
    ("certificates.k8s.io", "v1beta1", 17_300, 9),
    ("certificates.k8s.io", "v1alpha1", 17_300, 1),
    ("networking.k8s.io", "v1", 17_200, 15),
    ("networking.k8s.io", "v1beta1", 17_200, 9),
    ("policy", "v1", 17_100, 15),
    ("rbac.authorization.k8s.io", "v1", 17_000, 15),
    ("storage.k8s.io", "v1", 16_800, 15),
    ("storage.k8s.io", "v1beta1", 16_800, 9),
    ("storage.k8s.io", "v1alpha1", 16_800, 1),
    ("apiextensions.k8s.io", "v1", 16_700, 15),
    ("admissionregistration.k8s.io", "v1", 16_700, 15),
    ("admissionregistration.k8s.io", "v1beta1", 16_700, 12),
    ("admissionregistration.k8s.io", "v1alpha1", 16_700, 9),
    ("scheduling.k8s.io", "v1", 16_600, 15),
    ("scheduling.k8s.io", "v1alpha2", 16_600, 2),
    ("coordination.k8s.io", "v1", 16_500, 15),
    ("coordination.k8s.io", "v1beta1", 16_500, 13),
    ("coordination.k8s.io", "v1alpha2", 16_500, 12),
    ("node.k8s.io", "v1", 16_300, 15),
    ("discovery.k8s.io", "v1", 16_200, 15),
    ("resource.k8s.io", "v1", 16_200, 21),
    ("resource.k8s.io", "v1beta2", 16_200, 15),
    ("resource.k8s.io", "v1beta1", 16_200, 9),
    ("resource.k8s.io", "v1alpha3", 16_200, 1),
    ("flowcontrol.apiserver.k8s.io", "v1", 16_100, 21),
    ("internal.apiserver.k8s.io", "v1alpha1", 16_000, 9),
    ("storagemigration.k8s.io", "v1beta1", 15_800, 9),
    // metrics-server's own, so that it changes no order when it takes the group over.
    ("metrics.k8s.io", "v1beta1", 100, 100),
];

/// The priorities of a builtin group version; `None` for any other.
pub(crate) fn builtin(group: &str, version: &str) -> Option<(i64, i64)> {
    BUILTIN.iter().find(|(g, v, ..)| *g == group && *v == version).map(|(_, _, group, version)| (*group, *version))
}

/// A group version with its place among the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ranked {
    pub group: String,
    pub version: String,
    pub group_priority: i64,
    pub version_priority: i64,
}

/// The groups in the order of discovery, each with its versions in order. A group stands
/// where its highest priority puts it; equals are told apart by name.
pub(crate) fn sort(mut all: Vec<Ranked>) -> Vec<(String, Vec<String>)> {
    all.sort_by(|a, b| {
        let name = |ranked: &Ranked| format!("{}.{}", ranked.version, ranked.group);
        Reverse(a.group_priority).cmp(&Reverse(b.group_priority)).then_with(|| name(a).cmp(&name(b)))
    });
    let mut groups: Vec<(String, Vec<Ranked>)> = Vec::new();
    for ranked in all {
        match groups.iter_mut().find(|(group, _)| *group == ranked.group) {
            Some((_, versions)) => versions.push(ranked),
            None => groups.push((ranked.group.clone(), vec![ranked])),
        }
    }
    groups
        .into_iter()
        .map(|(group, mut versions)| {
            versions.sort_by(|a, b| {
                let by_priority = b.version_priority.cmp(&a.version_priority);
                by_priority.then_with(|| compare_versions(&b.version, &a.version))
            });
            versions.dedup_by(|a, b| a.version == b.version);
            (group, versions.into_iter().map(|ranked| ranked.version).collect())
        })
        .collect()
}

/// Kubernetes' order of versions: v10 > v2 > v1 > v11beta2 > v10beta3 > v3alpha1 > foo10
/// (apimachinery/pkg/version CompareKubeAwareVersionStrings).
pub(crate) fn compare_versions(a: &str, b: &str) -> Ordering {
    match (parse_version(a), parse_version(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        // Among others, the earlier name comes first.
        (None, None) => b.cmp(a),
    }
}

/// Stability (2 for stable), the major number, the minor one.
fn parse_version(text: &str) -> Option<(u8, u64, u64)> {
    let rest = text.strip_prefix('v')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (major, rest) = rest.split_at(digits);
    let number = |text: &str| text.parse::<u64>().ok().filter(|_| !text.starts_with('0'));
    let major = number(major)?;
    if rest.is_empty() {
        return Some((2, major, 0));
    }
    let (stability, minor) = match (rest.strip_prefix("beta"), rest.strip_prefix("alpha")) {
        (Some(minor), _) => (1, minor),
        (_, Some(minor)) => (0, minor),
        _ => return None,
    };
    Some((stability, major, number(minor)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_kubernetes_order() {
        let sorted = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"];
        for pair in sorted.windows(2) {
            assert_eq!(compare_versions(pair[0], pair[1]), Ordering::Greater, "{pair:?}");
        }
    }

    #[test]
    fn groups_stand_where_their_highest_priority_puts_them() {
        let ranked = |group: &str, version: &str, group_priority, version_priority| Ranked {
            group: group.into(),
            version: version.into(),
            group_priority,
            version_priority,
        };
        let sorted = sort(vec![
            ranked("b", "v1", 100, 10),
            ranked("a", "v1", 100, 10),
            ranked("c", "v1beta1", 50, 10),
            ranked("c", "v1", 200, 10),
            ranked("c", "v2alpha1", 200, 20),
        ]);
        let names: Vec<(&str, Vec<&str>)> =
            sorted.iter().map(|(g, v)| (g.as_str(), v.iter().map(String::as_str).collect())).collect();
        assert_eq!(names, [("c", vec!["v2alpha1", "v1", "v1beta1"]), ("a", vec!["v1"]), ("b", vec!["v1"])]);
    }

    #[test]
    fn every_builtin_group_version_has_a_priority() {
        for row in ferry_resources::all().iter().filter(|row| row.group != OWN_GROUP) {
            assert!(builtin(&row.group, &row.version).is_some(), "{}/{}", row.group, row.version);
        }
    }
}
