//! Warnings about a policy's expressions: each is checked against the types of the kinds
//! that the policy's rules name, as far as they name them without wildcards. Warnings
//! change nothing about what a policy does. Follows policy/validating/typechecking.go.

use super::params::param_kind;
use crate::registry::Rows;
use ferry_api::gvk::GroupVersionKind;
use ferry_api::schema::{self, Special, TypeDef};
use ferry_cel::{StructType, Type, escape};
use ferry_resources::Row;
use ferry_resources::cel::admission::TypeChecker;
use ferry_resources::read::Read;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// More kinds than these are not looked at.
const MAX_KINDS: usize = 10;

/// `expressionWarnings` of a policy; each has the place of its expression.
pub(super) fn compute_warnings(policy: &Value, rows: &Rows) -> Vec<Value> {
    let spec = policy.field("spec");
    let params = spec.and_then(param_kind).map(|kind| find_kind(rows, &kind).map_or(Type::Dyn, |row| type_of(&row)));
    let checkers: Vec<(GroupVersionKind, TypeChecker)> = kinds_to_check(spec, rows)
        .into_iter()
        .map(|row| {
            let mut checker = TypeChecker::new(type_of(&row), params.clone());
            for variable in spec.list("variables") {
                checker.declare(variable.text("name"), variable.text("expression"));
            }
            (row.gvk(), checker)
        })
        .collect();
    let mut warnings = Vec::new();
    for (index, validation) in spec.list("validations").iter().enumerate() {
        for key in ["expression", "messageExpression"] {
            let expression = validation.text(key);
            if expression.is_empty() {
                continue;
            }
            let found: Vec<String> = checkers
                .iter()
                .filter_map(|(kind, checker)| {
                    let warning = checker.check(expression)?;
                    Some(format!("{}/{}, Kind={}: {warning}\n", kind.group, kind.version, kind.kind))
                })
                .collect();
            if !found.is_empty() {
                let place = format!("spec.validations[{index}].{key}");
                warnings.push(json!({"fieldRef": place, "warning": found.join("\n")}));
            }
        }
    }
    warnings
}

fn find_kind(rows: &Rows, kind: &GroupVersionKind) -> Option<Arc<Row>> {
    rows.all()
        .iter()
        .find(|row| row.kind == kind.kind && row.group == kind.group && row.version == kind.version)
        .cloned()
}

/// The kinds that the rules name, in the order of group, version and kind. A rule with a
/// wildcard for its groups or versions names none.
fn kinds_to_check(spec: Option<&Value>, rows: &Rows) -> Vec<Arc<Row>> {
    let sorted = |rule: &Value, key: &str| -> Vec<String> {
        let mut texts: Vec<String> = rule.texts(key).map(str::to_owned).collect();
        texts.sort();
        texts
    };
    let mut found: Vec<Arc<Row>> = Vec::new();
    'rules: for rule in spec.field("matchConstraints").list("resourceRules") {
        let (groups, versions) = (sorted(rule, "apiGroups"), sorted(rule, "apiVersions"));
        if groups.iter().chain(&versions).any(|text| text.contains('*')) {
            continue;
        }
        let resources = sorted(rule, "resources");
        let mut count = 0;
        for group in &groups {
            for version in &versions {
                for resource in resources.iter().filter(|resource| !resource.contains(['*', '/'])) {
                    let Some(row) = rows.find(group, version, resource) else { continue };
                    if !found.iter().any(|known| known.gvk() == row.gvk()) {
                        found.push(row);
                    }
                    count += 1;
                    if count == MAX_KINDS {
                        break 'rules;
                    }
                }
            }
        }
    }
    found.sort_by(|a, b| (&a.group, &a.version, &a.kind).cmp(&(&b.group, &b.version, &b.kind)));
    found
}

/// The type of a kind's objects. Without a schema, anything goes.
fn type_of(row: &Row) -> Type {
    let Some(definition) = row.schema.as_ref() else { return Type::Dyn };
    let Type::Struct(found) = struct_type(definition, &row.kind, &mut Vec::new()) else { return Type::Dyn };
    // Every object has these, whatever its schema says of them.
    let mut fields: BTreeMap<String, Type> = match &found.fields {
        ferry_cel::Fields::Known(fields) => fields.clone(),
        ferry_cel::Fields::Any => return Type::Dyn,
    };
    fields.entry("apiVersion".to_owned()).or_insert(Type::String);
    fields.entry("kind".to_owned()).or_insert(Type::String);
    fields.entry("metadata".to_owned()).or_insert_with(|| {
        let names = ["name", "generateName"].map(|name| (name.to_owned(), Type::String));
        Type::Struct(StructType::new(&format!("{}.metadata", row.kind), BTreeMap::from(names)))
    });
    Type::Struct(StructType::new(&row.kind, fields))
}

/// `open` are the structs that this one stands in: one that holds itself is anything there.
fn struct_type<'d>(definition: &'d Arc<TypeDef>, path: &str, open: &mut Vec<&'d Arc<TypeDef>>) -> Type {
    if definition.preserve_unknown || open.iter().any(|outer| Arc::ptr_eq(outer, definition)) {
        return Type::Dyn;
    }
    open.push(definition);
    let mut fields = BTreeMap::new();
    for field in &definition.fields {
        let Some(identifier) = escape(&field.name) else { continue };
        let found = field_type(&field.ty, &format!("{path}.{identifier}"), open);
        fields.insert(identifier.into_owned(), found);
    }
    open.pop();
    Type::Struct(StructType::new(path, fields))
}

fn field_type<'d>(ty: &'d schema::Type, path: &str, open: &mut Vec<&'d Arc<TypeDef>>) -> Type {
    match ty {
        schema::Type::Bool => Type::Bool,
        schema::Type::Int32 | schema::Type::Int64 | schema::Type::Uint32 | schema::Type::Uint64 => Type::Int,
        schema::Type::Float64 => Type::Double,
        schema::Type::String => Type::String,
        schema::Type::Bytes => Type::Bytes,
        schema::Type::List(item) => Type::list(field_type(item, &format!("{path}.@idx"), open)),
        schema::Type::Map(value) => Type::map(Type::String, field_type(value, &format!("{path}.@elem"), open)),
        schema::Type::Struct(reference) => struct_type(reference.get(), path, open),
        schema::Type::Special(Special::Time | Special::MicroTime) => Type::Timestamp,
        schema::Type::Special(Special::Duration) => Type::String,
        schema::Type::Special(_) => Type::Dyn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Rows {
        Rows::new(ferry_resources::all().to_vec())
    }

    fn policy(resources: Value, validations: Value) -> Value {
        let rule = json!({"apiGroups": ["apps", "batch"], "apiVersions": ["v1"], "resources": resources});
        json!({"spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "variables": [{"name": "replicas", "expression": "object.spec.replicas"}],
            "validations": validations,
        }})
    }

    #[test]
    fn what_fits_is_not_warned_of() {
        let good = policy(
            json!(["deployments"]),
            json!([
                {"expression": "object.spec.replicas > 1", "messageExpression": "'got ' + string(object.spec.replicas)"},
                {"expression": "object.metadata.namespace == params.data['x'] && variables.replicas > 1"},
                {"expression": "object.spec.template.spec.containers.all(c, c.image != '' && c.ports.size() > 0)"},
                {"expression": "object.metadata.creationTimestamp < timestamp('2030-01-01T00:00:00Z')"},
                {"expression": "object.spec.strategy.rollingUpdate.maxSurge == 1 || oldObject == null"},
            ]),
        );
        assert_eq!(compute_warnings(&good, &rows()), Vec::<Value>::new());
    }

    #[test]
    fn what_cannot_be_is_warned_of() {
        let confused = policy(
            json!(["deployments", "jobs"]),
            json!([{"expression": "object.spec.replicas > '1'", "messageExpression": "'got ' + variables.replicas"}]),
        );
        let warnings = compute_warnings(&confused, &rows());
        assert_eq!(warnings.len(), 2);
        assert_eq!(warnings[0]["fieldRef"], "spec.validations[0].expression");
        assert_eq!(
            warnings[0]["warning"],
            "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '(int, string)'\n | object.spec.replicas > '1'\n | .....................^\n\nbatch/v1, Kind=Job: ERROR: <input>:1:12: undefined field 'replicas'\n | object.spec.replicas > '1'\n | ...........^\n"
        );
        assert_eq!(warnings[1]["fieldRef"], "spec.validations[0].messageExpression");
    }

    #[test]
    fn wildcards_name_no_kind() {
        let any = policy(json!(["*", "deployments/scale"]), json!([{"expression": "object.nope"}]));
        assert_eq!(compute_warnings(&any, &rows()), Vec::<Value>::new());
    }

    #[test]
    fn every_kind_has_a_type() {
        for row in ferry_resources::all() {
            assert!(matches!(type_of(row), Type::Struct(_)), "{}", row.kind);
        }
    }
}
