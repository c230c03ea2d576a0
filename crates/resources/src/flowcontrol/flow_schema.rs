//! FlowSchema: the strategy of which requests share a priority level.

use super::defaults::mandatory;
use crate::read::{Read, ReadNode, keep};
use crate::validation::{each, equality, shown};
use crate::{Strategy, names};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use jiff::Timestamp;
use serde_json::{Value, json};

pub struct FlowSchema;

const VERBS: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
/// Each kind of subject and the field that names it.
const SUBJECTS: [(&str, &str); 3] = [("ServiceAccount", "serviceAccount"), ("User", "user"), ("Group", "group")];

impl Strategy for FlowSchema {
    fn validate(&self, schema: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        validate_spec(&mut errors, schema);
        validate_mandatory(&mut errors, schema, &[]);
        errors
    }

    fn computed_cells(&self, schema: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let conditions = schema.field("status").list("conditions");
        let dangling = conditions.iter().find(|condition| condition.text("type") == "Dangling");
        vec![dangling.map_or("?", |condition| condition.text("status")).into()]
    }
}

/// What every cluster has stays as it is, but for the fields named here.
pub(super) fn validate_mandatory(errors: &mut ErrorList, object: &Value, free: &[&str]) {
    let kind = object.gvk().kind;
    let Some(mut fixed) = mandatory()
        .into_iter()
        .find(|fixed| fixed.name() == object.name() && (fixed.gvk().kind == kind || kind.is_empty()))
    else {
        return;
    };
    for key in free {
        if let (Some(to), Some(from)) = (fixed.get_mut("spec"), object.field("spec")) {
            keep(to, from, key);
        }
    }
    let mut same = object.clone();
    same.set_gvk(&fixed.gvk());
    if equality::changed(&same, &fixed, &["spec"]) {
        let but = free.iter().map(|key| format!(" except the 'spec.{key}' field")).collect::<String>();
        let detail = format!("spec of '{}'{but} must equal the fixed value", object.name());
        errors.push(Error::invalid(&Path::new("spec"), shown(object.field("spec")), detail));
    }
}

fn validate_spec(errors: &mut ErrorList, schema: &Value) {
    let (spec, path) = (schema.field("spec"), Path::new("spec"));
    let (precedence, at) = (spec.int("matchingPrecedence"), path.child("matchingPrecedence"));
    if precedence == 1 && schema.name() != "exempt" {
        let detail = "only the schema named 'exempt' may have matchingPrecedence 1";
        errors.push(Error::invalid(&at, precedence, detail));
    }
    if let Some(method) = spec.field("distinguisherMethod")
        && !matches!(method.text("type"), "ByNamespace" | "ByUser")
    {
        let at = path.child("distinguisherMethod").child("type");
        // Upstream shows its whole struct, whose one field has this name.
        let shown = json!({"Type": method.text("type")});
        errors.push(Error::not_supported(&at, shown, &["ByNamespace", "ByUser"]));
    }
    for (index, rule) in spec.list("rules").iter().enumerate() {
        validate_rules(errors, rule, &path.child("rules").index(index));
    }
}

fn validate_rules(errors: &mut ErrorList, rule: &Value, path: &Path) {
    for (index, subject) in rule.list("subjects").iter().enumerate() {
        validate_subject(errors, subject, &path.child("subjects").index(index));
    }
    let (resources, others) = (rule.list("resourceRules"), rule.list("nonResourceRules"));
    if resources.is_empty() && others.is_empty() {
        let detail = "at least one of resourceRules and nonResourceRules has to be non-empty";
        errors.push(Error::required(path, detail));
    }
    for (index, rule) in resources.iter().enumerate() {
        validate_resource_rule(errors, rule, &path.child("resourceRules").index(index));
    }
    for (index, rule) in others.iter().enumerate() {
        let path = path.child("nonResourceRules").index(index);
        validate_verbs(errors, rule, &path.child("verbs"));
        let (urls, at) = (rule.list("nonResourceURLs"), path.child("nonResourceURLs"));
        if !is_wildcard(errors, urls, "non-resource URLs", &at) {
            for (index, url) in rule.texts("nonResourceURLs").enumerate() {
                validate_url(errors, url, &at.index(index));
            }
        }
    }
}

fn validate_subject(errors: &mut ErrorList, subject: &Value, path: &Path) {
    let kind = subject.text("kind");
    let Some((_, own)) = SUBJECTS.iter().find(|(name, _)| *name == kind) else {
        let supported = ["Group", "ServiceAccount", "User"];
        errors.push(Error::not_supported(&path.child("kind"), kind, &supported));
        return;
    };
    let at = path.child(own);
    match subject.field(own) {
        None => errors.push(Error::required(&at, format!("{own} is required when subject kind is '{kind}'"))),
        Some(named) => {
            let name = named.text("name");
            if kind == "ServiceAccount" && !matches!(name, "" | "*") {
                each(errors, &at.child("name"), name, names::dns1123_subdomain(name, false));
            }
        }
    }
    for (kind, key) in SUBJECTS.iter().filter(|(_, key)| key != own && subject.has(key)) {
        let detail = format!("{key} is forbidden when subject kind is not '{kind}'");
        errors.push(Error::forbidden(&path.child(key), detail));
    }
}

/// Whether a list holds the wildcard, which stands alone.
fn is_wildcard(errors: &mut ErrorList, items: &[Value], what: &str, path: &Path) -> bool {
    let found = items.iter().any(|item| item == "*");
    if found && items.len() > 1 {
        errors.push(Error::invalid(path, items, format!("if '*' is present, must not specify other {what}")));
    }
    found
}

fn validate_verbs(errors: &mut ErrorList, rule: &Value, path: &Path) {
    let verbs = rule.list("verbs");
    if !is_wildcard(errors, verbs, "verbs", path) && !rule.texts("verbs").all(|verb| VERBS.contains(&verb)) {
        errors.push(Error::not_supported(path, verbs, VERBS));
    }
}

fn validate_resource_rule(errors: &mut ErrorList, rule: &Value, path: &Path) {
    validate_verbs(errors, rule, &path.child("verbs"));
    for (key, many) in [("apiGroups", "api groups"), ("resources", "resources")] {
        is_wildcard(errors, rule.list(key), many, &path.child(key));
    }
    let (namespaces, at) = (rule.list("namespaces"), path.child("namespaces"));
    if namespaces.is_empty() && !rule.flag("clusterScope") {
        let detail = "resource rules that are not cluster scoped must supply at least one namespace";
        errors.push(Error::required(&at, detail));
    } else if !is_wildcard(errors, namespaces, "namespaces", &at) {
        for (index, namespace) in rule.texts("namespaces").enumerate() {
            let sentences = names::dns1123_label(namespace, false).into_iter();
            let sentences = sentences
                .map(|text| format!("each member of this list must be '*' or a DNS-1123 label; {text}"))
                .collect();
            each(errors, &at.index(index), namespace, sentences);
        }
    }
}

fn validate_url(errors: &mut ErrorList, url: &str, path: &Path) {
    let wildcards = url.matches('*').count();
    let detail = if url.is_empty() {
        "must not be empty"
    } else if url == "/" {
        return;
    } else if !url.starts_with('/') {
        "must start with slash"
    } else if url.contains(' ') {
        "must not contain white-space"
    } else if url.contains("//") {
        "must not contain double slash"
    } else if wildcards > 1 || (wildcards == 1 && !url.ends_with("/*")) {
        "wildcard can only do suffix matching"
    } else {
        return;
    };
    errors.push(Error::invalid(path, url, detail));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check};
    use ferry_api::object::ensure_object;

    fn schema(name: &str, spec: Value) -> Value {
        let mut schema = json!({"metadata": {"name": name}, "spec": {"priorityLevelConfiguration": {"name": "x"}}});
        if let Value::Object(fields) = spec {
            ensure_object(&mut schema["spec"]).extend(fields);
        }
        schema
    }

    #[test]
    fn requests_are_matched() {
        check(&FlowSchema, schema("a", json!({})), &[]);
        check(
            &FlowSchema,
            schema("a", json!({"matchingPrecedence": 1, "priorityLevelConfiguration": {}})),
            &[
                "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
                "spec.priorityLevelConfiguration.name: Required value: must reference a priority level",
            ],
        );
        check(
            &FlowSchema,
            schema(
                "a",
                json!({"rules": [{"subjects": [{"kind": "User", "group": {"name": "g"}}],
                "resourceRules": [{"verbs": ["walk"], "apiGroups": ["*", "a"], "resources": ["b"]}],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["a", "/a*"]}]}]}),
            ),
            &[
                "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
                "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
                "spec.rules[0].resourceRules[0].verbs: Unsupported value: [\"walk\"]: supported values: \"create\", \"delete\", \"deletecollection\", \"get\", \"list\", \"patch\", \"proxy\", \"update\", \"watch\"",
                "spec.rules[0].resourceRules[0].apiGroups: Invalid value: [\"*\",\"a\"]: if '*' is present, must not specify other api groups",
                "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace",
                "spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: \"a\": must start with slash",
                "spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: \"/a*\": wildcard can only do suffix matching",
            ],
        );
    }

    #[test]
    fn the_mandatory_stay() {
        let mut object = mandatory().remove(3);
        check(&FlowSchema, object.clone(), &[]);
        object["spec"]["matchingPrecedence"] = 9999.into();
        crate::testing::default(&FlowSchema, &mut object);
        let errors = crate::testing::errors(&FlowSchema, &object);
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].detail, "spec of 'catch-all' must equal the fixed value");
    }

    #[test]
    fn a_schema_is_shown() {
        assert_eq!(
            Value::from(cells("FlowSchema", schema("a", json!({"distinguisherMethod": {"type": "ByUser"}})))),
            json!(["a", "x", 1000, "ByUser", "10m", "?"])
        );
    }
}
