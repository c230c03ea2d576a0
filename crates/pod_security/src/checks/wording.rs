//! How verdicts name things: `containers "a", "b"`, `pod and container "c"`.

use std::collections::BTreeSet;

/// Names and values that verdicts list in order, each once.
pub(super) type Values<'a> = BTreeSet<&'a str>;

pub(super) fn plural<'a>(one: &'a str, many: &'a str, count: usize) -> &'a str {
    if count == 1 { one } else { many }
}

/// `"a", "b"`, as they are: upstream escapes nothing here.
pub(super) fn quoted<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    items.into_iter().map(|item| format!("\"{item}\"")).collect::<Vec<_>>().join(", ")
}

/// `container "a"` or `containers "a", "b"`.
pub(super) fn containers(names: &[&str]) -> String {
    format!("{} {}", plural("container", "containers", names.len()), quoted(names.iter().copied()))
}

/// Who set something: the pod, some containers, or both. `None` where nobody did.
pub(super) fn setters(is_pod: bool, names: &[&str]) -> Option<String> {
    match (is_pod, names) {
        (false, []) => None,
        (true, []) => Some("pod".to_owned()),
        (false, names) => Some(containers(names)),
        (true, names) => Some(format!("pod and {}", containers(names))),
    }
}
