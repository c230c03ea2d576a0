//! DeviceTaintRule: the strategy of taints that an administrator puts on devices.

use super::taint::{set_time_added, validate_taint};
use crate::read::{Read, ReadNode, field_mut, remove};
use crate::{Context, Strategy, print};
use ferry_api::document::Node;
use ferry_api::field::{ErrorList, Path};
use jiff::Timestamp;
use serde_json::Value;

pub(crate) struct DeviceTaintRule;

impl Strategy for DeviceTaintRule {
    fn prepare_for_create(&self, context: &Context, rule: &mut Value) {
        if let Some(taint) = field_mut(rule, "spec").and_then(|spec| field_mut(spec, "taint")) {
            set_time_added(context, taint);
        }
    }

    /// A taint that does something else from now on counts from now on.
    fn prepare_for_update(&self, context: &Context, new: &mut Value, old: &Value) {
        let was = old.field("spec").field("taint");
        if let Some(taint) = field_mut(new, "spec").and_then(|spec| field_mut(spec, "taint")) {
            let changed = taint.text("effect") != was.text("effect");
            if changed && taint.field("timeAdded") == was.field("timeAdded") {
                remove(taint, "timeAdded");
            }
            set_time_added(context, taint);
        }
    }

    fn validate(&self, rule: &Value) -> ErrorList {
        validate(rule, None)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        validate(new, Some(old))
    }

    fn computed_cells(&self, rule: Node<'_>, now: Timestamp) -> Vec<Value> {
        let added = rule.field("spec").field("taint").field("timeAdded");
        vec![added.map(|time| print::since(Some(time), now)).unwrap_or_default().into()]
    }
}

fn validate(rule: &Value, old: Option<&Value>) -> ErrorList {
    let mut errors = ErrorList::new();
    let (taint, was) = (rule.field("spec").field("taint"), old.field("spec").field("taint"));
    validate_taint(&mut errors, taint, was, &Path::new("spec").child("taint"));
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, context};
    use serde_json::json;

    #[test]
    fn a_taint_has_an_effect() {
        check(&DeviceTaintRule, json!({"spec": {"taint": {"key": "a", "effect": "NoExecute"}}}), &[]);
        check(
            &DeviceTaintRule,
            json!({"spec": {"deviceSelector": {"pool": ""}, "taint": {"key": "a"}}}),
            &["spec.deviceSelector.pool: Required value", "spec.taint.effect: Required value"],
        );
    }

    #[test]
    fn a_new_effect_begins_now() {
        let mut old = json!({"spec": {"taint": {"key": "a", "effect": "None", "timeAdded": "2025-01-01T00:00:00Z"}}});
        let mut new = old.clone();
        new["spec"]["taint"]["effect"] = "NoExecute".into();
        DeviceTaintRule.prepare_for_update(&context(), &mut new, &old);
        assert_eq!(new["spec"]["taint"]["timeAdded"], "2026-01-01T00:10:00Z");
        remove(&mut old["spec"]["taint"], "timeAdded");
        DeviceTaintRule.prepare_for_create(&context(), &mut old);
        assert_eq!(old["spec"]["taint"]["timeAdded"], "2026-01-01T00:10:00Z");
    }
}
