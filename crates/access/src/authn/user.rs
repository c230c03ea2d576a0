//! Who asks: the name, groups and extras that authorization judges and audit records.

use serde_json::{Value, json};
use std::collections::BTreeMap;

pub const ANONYMOUS: &str = "system:anonymous";
pub const AUTHENTICATED: &str = "system:authenticated";
pub const UNAUTHENTICATED: &str = "system:unauthenticated";
pub const MASTERS: &str = "system:masters";
/// The extra that tells which credential was used.
pub const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";
pub const POD_NAME: &str = "authentication.kubernetes.io/pod-name";
pub const POD_UID: &str = "authentication.kubernetes.io/pod-uid";
pub const NODE_NAME: &str = "authentication.kubernetes.io/node-name";
pub const NODE_UID: &str = "authentication.kubernetes.io/node-uid";

const SERVICE_ACCOUNT_PREFIX: &str = "system:serviceaccount:";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserInfo {
    pub name: String,
    pub uid: String,
    pub groups: Vec<String>,
    pub extra: BTreeMap<String, Vec<String>>,
}

impl UserInfo {
    /// A user in these groups and, like everyone who is known, in system:authenticated.
    /// The in-process identities are made with this.
    pub fn authenticated(name: &str, groups: &[&str]) -> Self {
        let mut user =
            Self { name: name.into(), groups: groups.iter().map(|g| (*g).to_owned()).collect(), ..Self::default() };
        user.add_authenticated();
        user
    }

    pub fn anonymous() -> Self {
        Self { name: ANONYMOUS.into(), groups: vec![UNAUTHENTICATED.into()], ..Self::default() }
    }

    /// A service account without a token, as components in this process are.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        let mut user = Self {
            name: service_account_user(namespace, name),
            groups: service_account_groups(namespace),
            ..Self::default()
        };
        user.add_authenticated();
        user
    }

    pub fn in_group(&self, group: &str) -> bool {
        self.groups.iter().any(|own| own == group)
    }

    pub(super) fn add_authenticated(&mut self) {
        if self.name != ANONYMOUS && !self.in_group(AUTHENTICATED) && !self.in_group(UNAUTHENTICATED) {
            self.groups.push(AUTHENTICATED.into());
        }
    }

    /// As authentication.k8s.io/v1 UserInfo, empty fields left out.
    pub fn to_value(&self) -> Value {
        let mut out = json!({});
        let fields = out.as_object_mut().expect("made an object just above");
        if !self.name.is_empty() {
            fields.insert("username".into(), self.name.clone().into());
        }
        if !self.uid.is_empty() {
            fields.insert("uid".into(), self.uid.clone().into());
        }
        if !self.groups.is_empty() {
            fields.insert("groups".into(), self.groups.clone().into());
        }
        if !self.extra.is_empty() {
            fields.insert("extra".into(), json!(self.extra));
        }
        out
    }
}

/// `system:serviceaccount:<namespace>:<name>`.
pub fn service_account_user(namespace: &str, name: &str) -> String {
    format!("{SERVICE_ACCOUNT_PREFIX}{namespace}:{name}")
}

pub fn service_account_groups(namespace: &str) -> Vec<String> {
    vec!["system:serviceaccounts".into(), format!("system:serviceaccounts:{namespace}")]
}

/// The namespace and name inside a service account's user name.
pub fn split_service_account_user(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix(SERVICE_ACCOUNT_PREFIX)?.split_once(':')?;
    let valid = |part: &str, dots: bool| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || (dots && b == b'.'))
    };
    (valid(namespace, false) && valid(name, true)).then_some((namespace, name))
}

/// The node's name, if the user is a kubelet: `system:node:<name>` in group system:nodes.
pub fn node_name(user: &UserInfo) -> Option<&str> {
    let name = user.name.strip_prefix("system:node:")?;
    (!name.is_empty() && user.in_group("system:nodes")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_service_accounts_are_taken_apart() {
        assert_eq!(split_service_account_user("system:serviceaccount:ns:web"), Some(("ns", "web")));
        for other in ["alice", "system:serviceaccount:ns", "system:serviceaccount:ns:a:b", "system:serviceaccount::a"] {
            assert_eq!(split_service_account_user(other), None, "{other}");
        }
    }

    #[test]
    fn a_node_needs_both_its_name_and_its_group() {
        assert_eq!(node_name(&UserInfo::authenticated("system:node:a", &["system:nodes"])), Some("a"));
        assert_eq!(node_name(&UserInfo::authenticated("system:node:a", &[])), None);
        assert_eq!(node_name(&UserInfo::authenticated("system:node:", &["system:nodes"])), None);
        assert_eq!(node_name(&UserInfo::authenticated("a", &["system:nodes"])), None);
    }
}
