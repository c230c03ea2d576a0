//! The parameters of a policy: objects of any kind that a binding names or selects.
//! Follows CollectParams of upstream's policy/generic/policy_dispatcher.go.

use crate::cache::Stored;
use crate::registry::lookup::ObjectLookup;
use crate::registry::{Rows, decode};
use ferry_api::gvk::{GroupVersion, GroupVersionKind};
use ferry_api::selector::Selector;
use ferry_resources::Row;
use ferry_resources::read::Read;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// Which objects a binding gives its policy.
#[derive(Clone, Debug)]
pub(super) struct ParamRef {
    name: String,
    namespace: String,
    selector: Option<Value>,
    deny_if_absent: bool,
}

impl ParamRef {
    pub(super) fn of(reference: &Value) -> Self {
        Self {
            name: reference.text("name").to_owned(),
            namespace: reference.text("namespace").to_owned(),
            selector: reference.field("selector").cloned(),
            deny_if_absent: reference.text("parameterNotFoundAction") == "Deny",
        }
    }
}

/// The kind that a policy takes its parameters from.
pub(super) fn param_kind(spec: &Value) -> Option<GroupVersionKind> {
    let kind = spec.field("paramKind")?;
    let version = kind.text("apiVersion");
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    Some(GroupVersion::new(group.to_owned(), version.to_owned()).with_kind(kind.text("kind").to_owned()))
}

/// The row of a parameter kind, or why a policy that wants it cannot be used.
pub(super) fn find_row(rows: &Rows, kind: &GroupVersionKind) -> Result<Arc<Row>, String> {
    let all = rows.all();
    let found = all.iter().find(|row| row.kind == kind.kind && row.group == kind.group && row.version == kind.version);
    found.cloned().ok_or_else(|| {
        format!(
            "failed to find resource referenced by paramKind: '{}/{}, Kind={}'",
            kind.group, kind.version, kind.kind
        )
    })
}

/// Parameters that were decoded, by key: a policy is asked far more often than its
/// parameters change.
#[derive(Default)]
pub(super) struct Decoded(Mutex<HashMap<String, (u64, Arc<Value>)>>);

/// More are decoded each time.
const MAX_DECODED: usize = 1024;

impl Decoded {
    fn get(&self, row: &Row, stored: &Stored) -> Arc<Value> {
        // Rows of several versions share a key, and each has its own form.
        let key = format!("{}{}", row.version, stored.key());
        let mut known = self.0.lock();
        if let Some((revision, value)) = known.get(&key)
            && *revision == stored.revision()
        {
            return value.clone();
        }
        let value = Arc::new(decode(row, stored));
        if known.len() >= MAX_DECODED {
            known.clear();
        }
        known.insert(key, (stored.revision(), value.clone()));
        value
    }
}

/// Everything that a binding makes its policy be asked with: once without parameters, or
/// once for each of them. Empty where none is found and that is all right.
pub(super) fn collect(
    row: Option<&Row>,
    reference: Option<&ParamRef>,
    request_namespace: &str,
    lookup: &dyn ObjectLookup,
    decoded: &Decoded,
) -> Result<Vec<Option<Arc<Value>>>, String> {
    // A policy without a kind ignores what bindings refer to; a binding without a
    // reference asks its policy with null.
    let (Some(row), Some(reference)) = (row, reference) else { return Ok(vec![None]) };
    let namespace = if row.is_namespaced() {
        match (reference.namespace.as_str(), request_namespace) {
            ("", "") => {
                return Err(
                    "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources".to_owned()
                );
            }
            ("", of_request) => of_request,
            (own, _) => own,
        }
    } else if reference.namespace.is_empty() {
        ""
    } else {
        return Err("paramRef.namespace must not be provided for a cluster-scoped `paramKind`".to_owned());
    };
    let found: Vec<Arc<Stored>> = if !reference.name.is_empty() {
        lookup.get(&row.group, &row.plural, namespace, &reference.name).into_iter().collect()
    } else {
        let selector = Selector::from_object(reference.selector.as_ref()).map_err(|error| error.to_string())?;
        let within = row.is_namespaced().then_some(namespace);
        let mut all = lookup.list(&row.group, &row.plural, within);
        all.retain(|stored| selector.matches_with(|key| stored.label(key)));
        all
    };
    if found.is_empty() && reference.deny_if_absent {
        return Err("no params found for policy binding with `Deny` parameterNotFoundAction".to_owned());
    }
    Ok(found.iter().map(|stored| Some(decoded.get(row, stored))).collect())
}
