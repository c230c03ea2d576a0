//! The common part of every kind's tests: one way to check a kind's rules, those of the facts
//! included.

use crate::{Context, Row, Strategy};
use ferry_api::document::Node;
use ferry_api::field::ErrorList;
use ferry_api::object::Meta;
use serde_json::Value;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(crate) fn context() -> Context<'static> {
    static GROUPS: LazyLock<[String; 1]> = LazyLock::new(|| ["testers".to_owned()]);
    static EXTRA: BTreeMap<String, Vec<String>> = BTreeMap::new();
    Context { now: now(), user: "tester", uid: "", groups: &*GROUPS, extra: &EXTRA }
}

/// The preferred version's row of a builtin kind.
pub(crate) fn row(kind: &str) -> &'static Row {
    crate::all().iter().find(|row| row.kind == kind).expect("a builtin kind")
}

/// The row that a strategy belongs to. One that serves two kinds is told by the object's.
fn row_of(strategy: &dyn Strategy, object: &Value) -> &'static Row {
    let id = (strategy as &dyn Any).type_id();
    let rows = || crate::all().iter().filter(|row| (&*row.strategy as &dyn Any).type_id() == id);
    let kind = object.gvk().kind;
    rows().find(|row| row.kind == kind).or_else(|| rows().next()).expect("the strategy of a builtin kind")
}

pub(crate) fn now() -> jiff::Timestamp {
    "2026-01-01T00:10:00Z".parse().expect("a fixed time")
}

pub(crate) fn texts(errors: &ErrorList) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

pub(crate) fn default(strategy: &dyn Strategy, object: &mut Value) {
    row_of(strategy, object).default(object);
}

pub(crate) fn errors(strategy: &dyn Strategy, object: &Value) -> ErrorList {
    row_of(strategy, object).validate(object)
}

pub(crate) fn update_errors(strategy: &dyn Strategy, subresource: &str, new: &Value, old: &Value) -> ErrorList {
    row_of(strategy, new).validate_update(subresource, new, old)
}

/// Defaults an object as a create would, and compares what its validation says. The order is
/// not compared: what the facts demand is reported before the rules of the strategy.
#[track_caller]
pub(crate) fn check(strategy: &dyn Strategy, mut object: Value, expected: &[&str]) {
    default(strategy, &mut object);
    compare(&errors(strategy, &object), expected);
}

/// The same for a change from one object to another.
#[track_caller]
pub(crate) fn check_update(strategy: &dyn Strategy, mut old: Value, mut new: Value, expected: &[&str]) {
    default(strategy, &mut old);
    default(strategy, &mut new);
    strategy.prepare_for_update(&context(), &mut new, &old);
    compare(&update_errors(strategy, "", &new, &old), expected);
}

#[track_caller]
pub(crate) fn compare(found: &ErrorList, expected: &[&str]) {
    let (mut found, mut expected) = (texts(found), expected.to_vec());
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

/// The cells of an object made ten minutes before now, after its defaults.
pub(crate) fn cells(kind: &str, mut object: Value) -> Vec<Value> {
    object["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z".into();
    row(kind).default(&mut object);
    row(kind).cells(Node::Value(&object), now())
}
