//! A Job's successPolicy: whether the indexes that have succeeded are enough. Called once a
//! reconcile for an Indexed Job. The reference is upstream's pkg/controller/job/success_policy.go.

use super::indexes::Intervals;
use ferry_api::view::batch::v1::SuccessPolicyView;

/// The message of the first rule that the succeeded indexes meet.
pub(super) fn match_success_policy(
    policy: Option<SuccessPolicyView<'_>>,
    completions: i32,
    succeeded: &Intervals,
) -> Option<String> {
    if succeeded.is_empty() {
        return None;
    }
    let is_met = |indexes: Option<&str>, count: Option<i32>| match indexes {
        Some(text) => {
            let wanted = Intervals::parse(text, completions);
            let shared = wanted.shared(succeeded);
            !wanted.is_empty() && (shared == wanted.total() || count.is_some_and(|count| shared >= count))
        }
        None => count.is_some_and(|count| succeeded.total() >= count),
    };
    let mut rules = policy?.rules().iter();
    let position = rules.position(|rule| is_met(rule.succeeded_indexes(), rule.succeeded_count()))?;
    Some(format!("Matched rules at index {position}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_rule_asks_for_indexes_for_a_number_or_for_a_number_of_those_indexes() {
        let check = |rules: Value, succeeded: &str, expected: Option<usize>| {
            let policy = json!({"rules": rules});
            let succeeded = Intervals::parse(succeeded, 20);
            let expected = expected.map(|position| format!("Matched rules at index {position}"));
            assert_eq!(match_success_policy(Some((&policy).into()), 20, &succeeded), expected, "{rules} {succeeded}");
        };
        check(json!([{"succeededIndexes": "0,3-5"}]), "0,3,4", None);
        check(json!([{"succeededIndexes": "0,3-5"}]), "0-5", Some(0));
        check(json!([{"succeededCount": 3}]), "1,7", None);
        check(json!([{"succeededCount": 3}]), "1,7,9", Some(0));
        check(json!([{"succeededIndexes": "0-4", "succeededCount": 2}]), "3-9", Some(0));
        check(json!([{"succeededIndexes": "0-4", "succeededCount": 2}]), "4-9", None);
        check(json!([{"succeededIndexes": "15"}, {"succeededCount": 1}]), "2", Some(1));
        // Indexes that do not exist are asked of nobody, so such a rule is never met.
        check(json!([{"succeededIndexes": "30-40"}]), "0-19", None);
        check(json!([{"succeededCount": 0}]), "", None);
        check(json!([{}]), "0-19", None);
        assert_eq!(match_success_policy(None, 20, &Intervals::parse("0-19", 20)), None);
    }
}
