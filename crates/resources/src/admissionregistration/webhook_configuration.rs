//! MutatingWebhookConfiguration and ValidatingWebhookConfiguration: the strategies of who
//! is asked before a write is stored.

use super::rule::{validate_choice, validate_match_conditions, validate_rule};
use super::warn_of_static_suffix;
use crate::read::Read;
use crate::validation::each;
use crate::validation::facts::DeclaredValues;
use crate::validation::webhook::validate_client_config;
use crate::{Strategy, names};
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use serde_json::Value;
use std::collections::HashSet;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WebhookConfiguration {
    Mutating,
    Validating,
}

const REVIEW_VERSIONS: &[&str] = &["v1", "v1beta1"];
const NO_SIDE_EFFECTS: &[&str] = &["None", "NoneOnDryRun"];
static SIDE_EFFECTS: DeclaredValues = DeclaredValues::of("admissionregistration/v1", "MutatingWebhook", "sideEffects");

/// What is asked of a new configuration, and let pass where the old one already lacked it.
struct Demands {
    no_side_effects: bool,
    known_versions: bool,
    unique_names: bool,
    match_conditions: bool,
}

impl Strategy for WebhookConfiguration {
    fn validate(&self, configuration: &Value) -> ErrorList {
        let demands =
            Demands { no_side_effects: true, known_versions: true, unique_names: true, match_conditions: true };
        self.validate_all(configuration, &demands)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let hooks = old.list("webhooks");
        let mut seen = HashSet::new();
        let conditions = |configuration: &Value| -> Vec<Value> {
            let hooks = configuration.list("webhooks").iter();
            hooks.map(|hook| Value::from(hook.list("matchConditions"))).collect()
        };
        let demands = Demands {
            no_side_effects: hooks.iter().all(|hook| NO_SIDE_EFFECTS.contains(&hook.text("sideEffects"))),
            known_versions: hooks
                .iter()
                .all(|hook| hook.list("admissionReviewVersions").is_empty() || has_known_version(hook)),
            unique_names: hooks.iter().all(|hook| seen.insert(hook.text("name"))),
            match_conditions: conditions(new) != conditions(old),
        };
        self.validate_all(new, &demands)
    }

    fn warnings(&self, configuration: &Value, _old: Option<&Value>) -> Vec<String> {
        warn_of_static_suffix(configuration.name())
    }
}

fn has_known_version(hook: &Value) -> bool {
    hook.texts("admissionReviewVersions").any(|version| REVIEW_VERSIONS.contains(&version))
}

impl WebhookConfiguration {
    fn validate_all(self, configuration: &Value, demands: &Demands) -> ErrorList {
        let mut errors = ErrorList::new();
        let mut seen = HashSet::new();
        for (index, hook) in configuration.list("webhooks").iter().enumerate() {
            let (path, name) = (Path::new("webhooks").index(index), hook.text("name"));
            self.validate_hook(&mut errors, hook, demands, &path);
            validate_review_versions(&mut errors, hook, demands, &path.child("admissionReviewVersions"));
            if demands.unique_names && !name.is_empty() && !seen.insert(name) {
                errors.push(Error::duplicate(&path.child("name"), name));
            }
        }
        errors
    }

    fn validate_hook(self, errors: &mut ErrorList, hook: &Value, demands: &Demands, path: &Path) {
        for (index, rule) in hook.list("rules").iter().enumerate() {
            validate_rule(errors, rule, &path.child("rules").index(index));
        }
        let side_effects = if demands.no_side_effects { NO_SIDE_EFFECTS } else { &SIDE_EFFECTS };
        if !hook.has("sideEffects") {
            let detail = format!("must specify one of {}", side_effects.join(", "));
            errors.push(Error::required(&path.child("sideEffects"), detail));
        }
        validate_choice(errors, hook.opt_text("sideEffects"), side_effects, &path.child("sideEffects"));
        validate_client_config(errors, hook.field("clientConfig"), &path.child("clientConfig"));
        if demands.match_conditions {
            validate_match_conditions(errors, hook.list("matchConditions"), false, &path.child("matchConditions"));
        }
    }
}

fn validate_review_versions(errors: &mut ErrorList, hook: &Value, demands: &Demands, path: &Path) {
    let versions = hook.list("admissionReviewVersions");
    if versions.is_empty() {
        errors.push(Error::required(path, format!("must specify one of {}", REVIEW_VERSIONS.join(", "))));
        return;
    }
    let mut seen = HashSet::new();
    for (index, version) in hook.texts("admissionReviewVersions").enumerate() {
        let path = path.index(index);
        if !seen.insert(version) {
            errors.push(Error::invalid(&path, version, "duplicate version"));
            continue;
        }
        each(errors, &path, version, names::dns1035_label(version, false));
    }
    if demands.known_versions && !has_known_version(hook) {
        let detail = format!("must include at least one of {}", REVIEW_VERSIONS.join(", "));
        errors.push(Error::invalid(path, versions, detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update, row};
    use serde_json::json;

    const MUTATING: WebhookConfiguration = WebhookConfiguration::Mutating;

    fn hook() -> Value {
        json!({
            "name": "a.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {"name": "a", "namespace": "b"}},
            "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
        })
    }

    fn with(hooks: Vec<Value>) -> Value {
        json!({"metadata": {"name": "a"}, "webhooks": hooks})
    }

    fn changed(key: &str, value: Value) -> Value {
        let mut hook = hook();
        hook[key] = value;
        with(vec![hook])
    }

    #[test]
    fn hooks_say_what_they_are_asked() {
        for kind in [MUTATING, WebhookConfiguration::Validating] {
            check(&kind, with(vec![hook()]), &[]);
            check(&kind, with(vec![]), &[]);
        }
        check(
            &MUTATING,
            changed("sideEffects", Value::Null),
            &["webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun"],
        );
        check(
            &MUTATING,
            changed("sideEffects", json!("Some")),
            &["webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", \"NoneOnDryRun\""],
        );
        check(
            &MUTATING,
            changed("timeoutSeconds", json!(31)),
            &["webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"],
        );
        check(
            &MUTATING,
            changed("admissionReviewVersions", json!(["v2"])),
            &["webhooks[0].admissionReviewVersions: Invalid value: [\"v2\"]: must include at least one of v1, v1beta1"],
        );
        check(&MUTATING, with(vec![hook(), hook()]), &["webhooks[1].name: Duplicate value: \"a.example.com\""]);
        check(
            &MUTATING,
            changed("matchConditions", json!([{"name": "a", "expression": ""}])),
            &["webhooks[0].matchConditions[0].expression: Required value"],
        );
        check(
            &MUTATING,
            changed("matchConditions", json!([{"name": "a", "expression": "object.nope && params.x"}])),
            &[
                "webhooks[0].matchConditions[0].expression: Invalid value: \"object.nope && params.x\": compilation failed: ERROR: <input>:1:16: undeclared reference to 'params' (in container '')\n | object.nope && params.x\n | ...............^",
            ],
        );
        check(
            &MUTATING,
            changed(
                "rules",
                json!([{"operations": ["*", "PATCH"], "apiGroups": ["*"], "apiVersions": [""], "resources": ["*/*", "a"]}]),
            ),
            &[
                "webhooks[0].rules[0].operations: Invalid value: [\"*\",\"PATCH\"]: if '*' is present, must not specify other operations",
                "webhooks[0].rules[0].operations[1]: Unsupported value: \"PATCH\": supported values: \"*\", \"CONNECT\", \"CREATE\", \"DELETE\", \"UPDATE\"",
                "webhooks[0].rules[0].apiVersions[0]: Required value",
                "webhooks[0].rules[0].resources: Invalid value: [\"*/*\",\"a\"]: if '*/*' is present, must not specify other resources",
            ],
        );
    }

    #[test]
    fn what_was_let_in_may_stay() {
        let old = || changed("sideEffects", json!("Some"));
        check_update(&MUTATING, old(), old(), &[]);
        assert!(row("MutatingWebhookConfiguration").is_new_generation(&with(vec![hook()]), &with(vec![])));
        assert_eq!(Value::from(cells("MutatingWebhookConfiguration", with(vec![hook()]))), json!(["a", 1, "10m"]));
    }
}
