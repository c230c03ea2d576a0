//! The cells that tables are made of: ages, counts, selectors, as upstream's printers
//! write them (pkg/printers/internalversion and apimachinery's HumanDuration).

use crate::read::ReadNode;
use ferry_api::document::{Entries, Node};
use jiff::Timestamp;

pub(crate) use ferry_api::rules::duration::human as human_duration;

const UNKNOWN: &str = "<unknown>";
const NONE: &str = "<none>";

/// How long ago a moment was, or `<unknown>` if it never was.
pub(crate) fn since(time: Option<Node<'_>>, now: Timestamp) -> String {
    match time.and_then(timestamp) {
        Some(time) => human_duration(now.duration_since(time).as_secs()),
        None => UNKNOWN.to_owned(),
    }
}

pub(crate) fn timestamp(value: Node<'_>) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

/// `a=b,c=d`, or `<none>`.
pub(crate) fn labels(labels: Entries<'_>) -> String {
    let pairs = labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
    or_none(pairs.collect::<Vec<_>>().join(","))
}

/// A label selector as kubectl takes it: `app=web,tier in (back,front),!old`.
pub(crate) fn selector(selector: Option<Node<'_>>) -> String {
    let mut terms: Vec<(String, String)> = Vec::new();
    for (key, value) in selector.pairs("matchLabels") {
        terms.push((key.to_owned(), format!("{key}={}", value.as_str().unwrap_or_default())));
    }
    for expression in selector.list("matchExpressions") {
        let key = expression.text("key");
        let mut values: Vec<&str> = expression.texts("values").collect();
        values.sort_unstable();
        values.dedup();
        let values = values.join(",");
        let term = match expression.text("operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            _ => return "<invalid>".to_owned(),
        };
        terms.push((key.to_owned(), term));
    }
    terms.sort_by(|a, b| a.0.cmp(&b.0));
    terms.into_iter().map(|(_, term)| term).collect::<Vec<_>>().join(",")
}

pub(crate) fn or_none(text: String) -> String {
    if text.is_empty() { NONE.to_owned() } else { text }
}

pub(crate) fn or_unknown(text: &str) -> &str {
    if text.is_empty() { UNKNOWN } else { text }
}

/// The first three of a list, and how many more there are.
pub(crate) fn first_three(items: impl Iterator<Item = String>) -> String {
    const MOST: usize = 3;
    let mut shown = Vec::new();
    let mut count = 0;
    for item in items {
        count += 1;
        if shown.len() < MOST {
            shown.push(item);
        }
    }
    match count {
        0 => "<unset>".to_owned(),
        count if count > MOST => format!("{} + {} more...", shown.join(","), count - MOST),
        _ => shown.join(","),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn selectors_are_written_as_kubectl_takes_them() {
        let written = json!({
            "matchLabels": {"b": "1"},
            "matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["y", "x"]}, {"key": "c", "operator": "DoesNotExist"}],
        });
        let text = selector(Some(Node::Value(&written)));
        assert_eq!(text, "a notin (x,y),b=1,!c");
    }

    #[test]
    fn long_lists_are_cut() {
        let items = |count: usize| first_three((0..count).map(|n| n.to_string()));
        assert_eq!(items(0), "<unset>");
        assert_eq!(items(3), "0,1,2");
        assert_eq!(items(5), "0,1,2 + 2 more...");
    }
}
