//! ServiceCIDR: the strategy of a range that services take their addresses from.

use crate::Strategy;
use crate::read::Read;
use crate::validation::FIELD_IS_IMMUTABLE;
use crate::validation::network::validate_canonical_cidr;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::rules::cidr::Cidr;
use serde_json::Value;

pub(crate) struct ServiceCidr;

impl Strategy for ServiceCidr {
    fn validate(&self, range: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        validate_ranges(&mut errors, range);
        errors
    }

    /// One family may be added to the other; what is there stays.
    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let path = Path::new("spec").child("cidrs");
        let (now, was) = (new.field("spec").list("cidrs"), old.field("spec").list("cidrs"));
        let mut same = |index: usize| {
            if now.get(index) != was.get(index) {
                let value = now.get(index).cloned().unwrap_or_default();
                errors.push(Error::invalid(&path.index(index), value, FIELD_IS_IMMUTABLE));
            }
        };
        match (was.len(), now.len()) {
            (was, now) if was == now => (0..was).for_each(same),
            (1, 2) => {
                same(0);
                validate_ranges(&mut errors, new);
            }
            _ => errors.push(Error::invalid(&path, now, FIELD_IS_IMMUTABLE)),
        }
        errors
    }
}

fn validate_ranges(errors: &mut ErrorList, range: &Value) {
    let (spec, path) = (range.field("spec"), Path::new("spec").child("cidrs"));
    let ranges = spec.list("cidrs");
    if ranges.is_empty() {
        errors.push(Error::required(&path, "at least one CIDR required"));
        return;
    }
    if ranges.len() > 2 {
        // Upstream shows its own struct here, whose field has this name.
        let shown = serde_json::json!({"CIDRs": ranges});
        errors.push(Error::invalid(&path, shown, "may only hold up to 2 values"));
        return;
    }
    for (index, range) in spec.texts("cidrs").enumerate() {
        validate_canonical_cidr(errors, range, &path.index(index));
    }
    let parsed = spec.texts("cidrs").filter_map(|range| range.parse::<Cidr>().ok());
    let families: Vec<bool> = parsed.map(|range| range.is_ipv4()).collect();
    if matches!(families[..], [a, b] if a == b) {
        let detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        errors.push(Error::invalid(&path, ranges, detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update};
    use serde_json::json;

    fn range(ranges: Value) -> Value {
        json!({"metadata": {"name": "a"}, "spec": {"cidrs": ranges}})
    }

    #[test]
    fn ranges_are_one_of_each_family() {
        check(&ServiceCidr, range(json!(["10.0.0.0/16"])), &[]);
        check(&ServiceCidr, range(json!(["10.0.0.0/16", "2001:db8::/64"])), &[]);
        check(&ServiceCidr, range(json!([])), &["spec.cidrs: Required value: at least one CIDR required"]);
        check(
            &ServiceCidr,
            range(json!(["10.0.0.0/16", "10.1.0.0/16"])),
            &[
                "spec.cidrs: Invalid value: [\"10.0.0.0/16\",\"10.1.0.0/16\"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64",
            ],
        );
        check(
            &ServiceCidr,
            range(json!(["10.0.0.1/16"])),
            &["spec.cidrs[0]: Invalid value: \"10.0.0.1/16\": must not have bits set beyond the prefix length"],
        );
        check(
            &ServiceCidr,
            range(json!(["2001:DB8::/64"])),
            &["spec.cidrs[0]: Invalid value: \"2001:DB8::/64\": must be in canonical form (\"2001:db8::/64\")"],
        );
    }

    #[test]
    fn a_family_may_be_added() {
        let four = || range(json!(["10.0.0.0/16"]));
        check_update(&ServiceCidr, four(), range(json!(["10.0.0.0/16", "2001:db8::/64"])), &[]);
        check_update(
            &ServiceCidr,
            four(),
            range(json!(["10.1.0.0/16"])),
            &["spec.cidrs[0]: Invalid value: \"10.1.0.0/16\": field is immutable"],
        );
        assert_eq!(Value::from(cells("ServiceCIDR", four())), json!(["a", "10.0.0.0/16", "10m"]));
    }
}
