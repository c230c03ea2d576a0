//! The cells that tables are made of: ages, counts, selectors, as upstream's printers
//! write them (pkg/printers/internalversion and apimachinery's HumanDuration).

use crate::read::ReadNode;
use ferry_api::document::{Entries, Node};
use jiff::Timestamp;

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

/// A duration in two or three significant figures.
pub(crate) fn human_duration(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    // A second of skew between machines is taken as now.
    if seconds < -1 {
        return "<invalid>".to_owned();
    }
    if seconds < 0 {
        return "0s".to_owned();
    }
    let two = |whole: i64, unit: &str, rest: i64, rest_unit: &str| {
        if rest == 0 { format!("{whole}{unit}") } else { format!("{whole}{unit}{rest}{rest_unit}") }
    };
    match seconds {
        s if s < 2 * MINUTE => format!("{s}s"),
        s if s < 10 * MINUTE => two(s / MINUTE, "m", s % MINUTE, "s"),
        s if s < 3 * HOUR => format!("{}m", s / MINUTE),
        s if s < 8 * HOUR => two(s / HOUR, "h", s % HOUR / MINUTE, "m"),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s if s < 8 * DAY => two(s / DAY, "d", s % DAY / HOUR, "h"),
        s if s < 2 * YEAR => format!("{}d", s / DAY),
        s if s < 8 * YEAR => two(s / YEAR, "y", s / DAY % 365, "d"),
        s => format!("{}y", s / YEAR),
    }
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
    fn durations_are_written_for_people() {
        for (seconds, expected) in [
            (-5, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (303, "5m3s"),
            (3600, "60m"),
            (3 * 3600, "3h"),
            (4 * 3600 + 60, "4h1m"),
            (9 * 3600 + 60, "9h"),
            (48 * 3600, "2d"),
            (50 * 3600, "2d2h"),
            (8 * 86400, "8d"),
            (2 * 365 * 86400, "2y"),
            (2 * 365 * 86400 + 86400, "2y1d"),
            (9 * 365 * 86400, "9y"),
        ] {
            assert_eq!(human_duration(seconds), expected, "{seconds}");
        }
    }

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
