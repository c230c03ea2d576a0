//! ServiceAccount: the strategy of an identity for pods.

use crate::read::{Read, list_mut};
use crate::{Context, Strategy};
use ferry_api::object::Meta;
use serde_json::{Value, json};

pub(crate) struct ServiceAccount;

const ENFORCE_MOUNTABLE: &str = "kubernetes.io/enforce-mountable-secrets";

impl Strategy for ServiceAccount {
    fn prepare_for_create(&self, _context: &Context, account: &mut Value) {
        keep_only_names(account);
    }

    fn prepare_for_update(&self, _context: &Context, account: &mut Value, _old: &Value) {
        keep_only_names(account);
    }

    fn warnings(&self, account: &Value, old: Option<&Value>) -> Vec<String> {
        let has = |account: &Value| account.annotation(ENFORCE_MOUNTABLE).is_some();
        if !has(account) || old.is_some_and(has) {
            return Vec::new();
        }
        vec![format!(
            "metadata.annotations[{ENFORCE_MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
        )]
    }
}

/// References to secrets are by name alone: they cannot leave the namespace.
fn keep_only_names(account: &mut Value) {
    for reference in list_mut(account, "secrets") {
        *reference = match reference.text("name") {
            "" => json!({}),
            name => json!({"name": name}),
        };
    }
}
