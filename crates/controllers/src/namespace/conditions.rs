//! What a namespace says while it is being deleted, with upstream's reasons and words.

use ferry_api::rules::condition;
use ferry_api::view::core::v1::{NamespaceCondition, NamespaceStatus, NamespaceView};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// What stands in the way.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub discovery: Option<String>,
    /// Failures to delete, a sentence each.
    pub content: Vec<String>,
    /// Resource, group and how many of it are left.
    pub remaining: Vec<(String, String, usize)>,
    pub finalizers: BTreeMap<String, usize>,
}

/// Type, reason and message when all is well; the order is that of the status.
const WELL: [(&str, &str, &str); 5] = [
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    ("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    ("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"),
    ("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
];

impl Findings {
    /// The reason and message of a condition that holds things up.
    fn trouble(&self, kind: &str) -> Option<(&'static str, String)> {
        match kind {
            "NamespaceDeletionDiscoveryFailure" => Some(("DiscoveryFailed", self.discovery.clone()?)),
            "NamespaceDeletionContentFailure" if !self.content.is_empty() => {
                let mut messages = self.content.clone();
                messages.sort();
                let (count, list) = (messages.len(), messages.join(", "));
                let message = format!("Failed to delete all resource types, {count} remaining: {list}");
                Some(("ContentDeletionFailed", message))
            }
            "NamespaceContentRemaining" if !self.remaining.is_empty() => {
                let mut texts: Vec<String> = self
                    .remaining
                    .iter()
                    .map(|(resource, group, count)| format!("{resource}.{group} has {count} resource instances"))
                    .collect();
                texts.sort();
                Some(("SomeResourcesRemain", format!("Some resources are remaining: {}", texts.join(", "))))
            }
            "NamespaceFinalizersRemaining" if !self.finalizers.is_empty() => {
                let mut texts: Vec<String> = self
                    .finalizers
                    .iter()
                    .map(|(finalizer, count)| format!("{finalizer} in {count} resource instances"))
                    .collect();
                texts.sort();
                let list = texts.join(", ");
                let message = format!("Some content in the namespace has finalizers remaining: {list}");
                Some(("SomeFinalizersRemain", message))
            }
            _ => None,
        }
    }
}

/// The status to write, or None when it says all this already.
pub(super) fn plan_status(
    namespace: NamespaceView<'_>,
    findings: &Findings,
    now: Timestamp,
) -> Option<NamespaceStatus> {
    let mut status = namespace.status().to_owned();
    let mut is_changed = false;
    for (kind, well_reason, well_message) in WELL {
        let (verdict, reason, message) = match findings.trouble(kind) {
            Some((reason, message)) => ("True", reason, message),
            None => ("False", well_reason, well_message.to_owned()),
        };
        let new =
            NamespaceCondition::new().with_type(kind).with_status(verdict).with_reason(reason).with_message(message);
        is_changed |= condition::set(&mut status, new, now);
    }
    is_changed.then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::Namespace;

    #[test]
    fn trouble_is_named_and_its_end_too() {
        let now: Timestamp = "2024-01-01T00:00:00Z".parse().expect("a time");
        let findings = Findings {
            remaining: vec![("widgets".into(), "example.com".into(), 2), ("pods".into(), String::new(), 1)],
            finalizers: BTreeMap::from([("example.com/wait".into(), 2)]),
            ..Default::default()
        };
        let status = plan_status(Namespace::new().view(), &findings, now).expect("a change");
        let conditions = status.view().conditions().iter();
        let messages: Vec<String> = conditions
            .filter(|condition| condition.status() == "True")
            .map(|condition| format!("{}: {}", condition.type_(), condition.message()))
            .collect();
        assert_eq!(
            messages,
            [
                "NamespaceContentRemaining: Some resources are remaining: pods. has 1 resource instances, widgets.example.com has 2 resource instances",
                "NamespaceFinalizersRemaining: Some content in the namespace has finalizers remaining: example.com/wait in 2 resource instances",
            ]
        );
        let namespace = Namespace::new().with_status(status);
        let later = "2024-01-01T00:00:09Z".parse().expect("a time");
        assert_eq!(plan_status(namespace.view(), &findings, later), None, "times change only with the verdict");
        let over = plan_status(namespace.view(), &Findings::default(), later).expect("a change");
        assert!(over.view().conditions().iter().all(|condition| condition.status() == "False"));
        assert_eq!(over.view().conditions().len(), 5);
    }
}
