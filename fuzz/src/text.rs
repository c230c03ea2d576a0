//! Texts with a syntax of their own: selectors, quantities, times, a kubelet's metrics.

use ferry_api::codec::time::{Precision, format_duration, format_time, parse_duration, parse_time};
use ferry_api::quantity::{Quantity, canonicalize};
use ferry_api::selector::{FieldSelector, Selector};
use ferry_apiserver::resource_metrics::page::UsagePage;

pub fn label_selector(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(selector) = Selector::parse(text) else { return };
    let written = selector.to_string();
    let again = Selector::parse(&written).unwrap_or_else(|error| panic!("{written:?}: {error}"));
    assert_eq!(again.to_string(), written);
    // Both select the same of some sets of labels that the selector itself names.
    let mut labels: Vec<(&str, &str)> = Vec::new();
    assert_eq!(selector.matches(labels.iter().copied()), again.matches(labels.iter().copied()), "{written}");
    for requirement in selector.requirements() {
        labels.push((requirement.key.as_str(), requirement.values.first().map_or("", String::as_str)));
        assert_eq!(selector.matches(labels.iter().copied()), again.matches(labels.iter().copied()), "{written}");
    }
}

pub fn field_selector(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(selector) = FieldSelector::parse(text) else { return };
    let written = selector.to_string();
    let again = FieldSelector::parse(&written).unwrap_or_else(|error| panic!("{written:?}: {error}"));
    // Terms are sorted as they are written, `==` before `=`; once written anew they stay.
    let settled = FieldSelector::parse(&again.to_string()).expect("what was read can be written");
    assert_eq!(settled, again, "{written:?}");
    let empty = |_: &str| Some("");
    assert_eq!(selector.matches(empty), again.matches(empty));
}

pub fn quantity(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let parsed = Quantity::parse(text);
    assert_eq!(parsed.is_ok(), canonicalize(text).is_ok());
    let Ok(quantity) = parsed else { return };
    let canonical = quantity.to_string();
    let again = Quantity::parse(&canonical).unwrap_or_else(|error| panic!("{text:?} -> {canonical:?}: {error}"));
    assert_eq!(again, quantity, "{text:?} -> {canonical:?}");
    assert_eq!(again.to_string(), canonical, "the canonical form of {text:?} is its own");
    let kept = canonicalize(text).expect("it was parsed");
    assert_eq!(Quantity::parse(&kept).expect("canonical"), quantity, "{text:?} -> {kept:?}");
    assert_eq!(canonicalize(&kept).expect("canonical"), kept, "{text:?}");
    assert_eq!(quantity.is_negative(), quantity < Quantity::ZERO);
    assert_eq!(quantity.value() > 0, quantity > Quantity::ZERO, "rounding goes away from zero");
    // Sums stay exact within what 64 bits of whole units reach.
    if quantity.value().unsigned_abs() < 1 << 60 {
        assert!(quantity.sub(&quantity).is_zero());
        assert_eq!(quantity.add(&quantity), quantity.mul(2));
        assert_eq!(quantity.add(&quantity.neg()), Quantity::ZERO);
    }
}

pub fn time(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for precision in [Precision::Seconds, Precision::Micros] {
        let Ok(moment) = parse_time(text, precision) else { continue };
        let Some(written) = format_time(moment, precision) else { continue };
        let again = parse_time(&written, precision).unwrap_or_else(|error| panic!("{text:?} -> {written:?}: {error}"));
        assert_eq!(again.seconds, moment.seconds, "{text:?} -> {written:?}");
        assert_eq!(format_time(again, precision), Some(written));
    }
    if let Ok(nanos) = parse_duration(text) {
        let written = format_duration(nanos);
        assert_eq!(parse_duration(&written), Ok(nanos), "{text:?} -> {written:?}");
    }
}

/// Lines that are no metrics change nothing, and what is kept of a page is whole.
pub fn usage_page(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let page = UsagePage::parse(&text, 7);
    assert_eq!(UsagePage::parse(&format!("# a comment\n{text}\nno_metric 1\n"), 7), page);
    let points = page.pods.values().flat_map(|containers| containers.values()).chain(&page.node);
    for point in points {
        assert!(point.cpu_nanoseconds > 0 && point.memory_bytes > 0, "{point:?}");
    }
}
