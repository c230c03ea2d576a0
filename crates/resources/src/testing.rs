//! What the tests of every kind share: one way to check a kind's rules.

use crate::{Context, Row, Strategy};
use ferry_api::document::Node;
use ferry_api::field::ErrorList;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

pub fn context() -> Context<'static> {
    static GROUPS: LazyLock<[String; 1]> = LazyLock::new(|| ["testers".to_owned()]);
    static EXTRA: BTreeMap<String, Vec<String>> = BTreeMap::new();
    Context { now: now(), user: "tester", uid: "", groups: &*GROUPS, extra: &EXTRA }
}

/// The preferred version's row of a builtin kind.
pub fn row(kind: &str) -> &'static Row {
    crate::all().iter().find(|row| row.kind == kind).expect("a builtin kind")
}

pub fn now() -> jiff::Timestamp {
    "2026-01-01T00:10:00Z".parse().expect("a fixed time")
}

pub fn texts(errors: &ErrorList) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// Defaults an object as a create would, and compares what its validation says.
#[track_caller]
pub fn check(strategy: &dyn Strategy, mut object: Value, expected: &[&str]) {
    strategy.default(&mut object);
    assert_eq!(texts(&strategy.validate(&object)), expected);
}

/// The same for a change from one object to another.
#[track_caller]
pub fn check_update(strategy: &dyn Strategy, mut old: Value, mut new: Value, expected: &[&str]) {
    strategy.default(&mut old);
    strategy.default(&mut new);
    strategy.prepare_for_update(&context(), &mut new, &old);
    assert_eq!(texts(&strategy.validate_update(&new, &old)), expected);
}

/// The cells of an object made ten minutes before now, after its defaults.
pub fn cells(kind: &str, mut object: Value) -> Vec<Value> {
    object["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z".into();
    row(kind).strategy.default(&mut object);
    row(kind).cells(Node::Value(&object), now())
}
