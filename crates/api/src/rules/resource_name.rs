//! The sort of a resource by its name: native, huge pages, extended. Validation, admission and
//! quotas treat them differently.
//!
//! Upstream: pkg/apis/core/v1/helper/helpers.go.

use crate::selector::label_key_errors;

/// The prefix of huge pages; their size follows.
pub const HUGE_PAGES: &str = "hugepages-";
/// The prefix under which a quota names a request.
pub const REQUESTS: &str = "requests.";

pub fn is_huge_page(name: &str) -> bool {
    name.starts_with(HUGE_PAGES)
}

/// Names without a prefix, and those under kubernetes.io.
pub fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// A resource that a device plugin or an administrator brings: `example.com/gpu`. Its name
/// must still be a qualified one when a quota has put `requests.` before it.
pub fn is_extended(name: &str) -> bool {
    !is_native(name) && !name.starts_with(REQUESTS) && label_key_errors(&format!("{REQUESTS}{name}")).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_resources() {
        let check = |name: &str, native: bool, extended: bool, huge: bool| {
            assert_eq!((is_native(name), is_extended(name), is_huge_page(name)), (native, extended, huge), "{name}");
        };
        check("cpu", true, false, false);
        check("hugepages-2Mi", true, false, true);
        check("kubernetes.io/batteries", true, false, false);
        check("node.kubernetes.io/disk", true, false, false);
        check("example.com/gpu", false, true, false);
        check("requests.example.com/gpu", false, false, false);
        check("example.com/not a name", false, false, false);
        check("example.com/", false, false, false);
        check(&format!("{}.com/gpu", "a".repeat(250)), false, false, false);
    }
}
