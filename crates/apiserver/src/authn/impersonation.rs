//! Acting as someone else: the `Impersonate-*` headers, each authorized on its own
//! against the one who asks. Called by the chain between authentication and authorization.

use super::front_proxy::extras;
use super::user::{self, UserInfo, split_service_account_user};
use crate::authz::{Attributes, Authorizer};
use ferry_api::status::Status;
use http::HeaderMap;
use std::collections::BTreeMap;
use std::sync::Arc;

pub const USER_HEADER: &str = "impersonate-user";
pub const GROUP_HEADER: &str = "impersonate-group";
pub const UID_HEADER: &str = "impersonate-uid";
pub const EXTRA_PREFIX: &str = "impersonate-extra-";

/// The user that the request acts as: the asker, unless headers ask for another and
/// every one of them is allowed.
pub fn impersonate(
    headers: &HeaderMap,
    asker: &Arc<UserInfo>,
    authorizer: &Authorizer,
) -> Result<Arc<UserInfo>, Status> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let name = text(USER_HEADER);
    let uid = text(UID_HEADER);
    let groups: Vec<String> =
        headers.get_all(GROUP_HEADER).iter().filter_map(|value| value.to_str().ok()).map(str::to_owned).collect();
    let extra = extras(headers, EXTRA_PREFIX);
    if name.is_empty() {
        if groups.is_empty() && extra.is_empty() && uid.is_empty() {
            return Ok(asker.clone());
        }
        return Err(Status::bad_request(format!(
            "requested {} without impersonating a user",
            wanted(&groups, &extra, uid)
        )));
    }

    let check = |api_group: &str, resource: &str, subresource: &str, namespace: &str, name: &str| {
        let attributes = Attributes {
            user: asker,
            verb: "impersonate",
            api_group,
            api_version: if api_group.is_empty() { "" } else { "v1" },
            resource,
            subresource,
            namespace,
            name,
            path: "",
            is_resource: true,
            field_selector: "",
        };
        authorizer.check(&attributes)
    };
    let mut acting = UserInfo { name: name.to_owned(), uid: uid.to_owned(), extra, ..UserInfo::default() };
    match split_service_account_user(name) {
        Some((namespace, account)) => {
            check("", "serviceaccounts", "", namespace, account)?;
            if groups.is_empty() {
                acting.groups = user::service_account_groups(namespace);
            }
        }
        None => check("", "users", "", "", name)?,
    }
    for group in &groups {
        check("", "groups", "", "", group)?;
    }
    for (key, values) in &acting.extra {
        for value in values {
            check("authentication.k8s.io", "userextras", key, "", value)?;
        }
    }
    if !uid.is_empty() {
        check("authentication.k8s.io", "uids", "", "", uid)?;
    }
    acting.groups.extend(groups);
    if acting.name == user::ANONYMOUS {
        if !acting.in_group(user::UNAUTHENTICATED) {
            acting.groups.push(user::UNAUTHENTICATED.into());
        }
    } else {
        acting.add_authenticated();
    }
    Ok(Arc::new(acting))
}

fn wanted(groups: &[String], extra: &BTreeMap<String, Vec<String>>, uid: &str) -> String {
    let mut parts: Vec<String> = groups.iter().map(|group| format!("{{Group  {group}    }}")).collect();
    for (key, values) in extra {
        let part = |value: &String| format!("{{UserExtra  {value}  authentication.k8s.io/v1  {key}}}");
        parts.extend(values.iter().map(part));
    }
    if !uid.is_empty() {
        parts.push(format!("{{UID  {uid}  authentication.k8s.io/v1  }}"));
    }
    format!("[{}]", parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authn::testing::Objects;
    use serde_json::json;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut out = HeaderMap::new();
        for (name, value) in pairs {
            out.append(*name, value.parse().expect("a value"));
        }
        out
    }

    /// carol may impersonate user alice, group dev, and extra scope=read.
    fn authorizer() -> Authorizer {
        Authorizer::new(&*Objects::of(&[
            json!({"kind": "ClusterRole", "metadata": {"name": "imp"}, "rules": [
                {"verbs": ["impersonate"], "apiGroups": [""], "resources": ["users"], "resourceNames": ["alice"]},
                {"verbs": ["impersonate"], "apiGroups": [""], "resources": ["groups"], "resourceNames": ["dev"]},
                {"verbs": ["impersonate"], "apiGroups": ["authentication.k8s.io"], "resources": ["userextras/scope"],
                 "resourceNames": ["read"]}]}),
            json!({"kind": "ClusterRoleBinding", "metadata": {"name": "imp"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "imp"},
                "subjects": [{"kind": "User", "name": "carol"}]}),
        ]))
    }

    #[test]
    fn each_part_is_authorized_on_its_own() {
        let authorizer = authorizer();
        let carol = Arc::new(UserInfo::authenticated("carol", &[]));
        let run = |pairs: &[(&'static str, &str)]| impersonate(&headers(pairs), &carol, &authorizer);

        assert!(Arc::ptr_eq(&run(&[]).expect("herself"), &carol));
        let alice = run(&[(USER_HEADER, "alice"), (GROUP_HEADER, "dev"), ("impersonate-extra-scope", "read")]);
        let alice = alice.expect("allowed");
        assert_eq!((alice.name.as_str(), alice.groups.join(",").as_str()), ("alice", "dev,system:authenticated"));
        assert_eq!(alice.extra["scope"], ["read"]);
        let denied = [
            (
                &[(USER_HEADER, "bob")][..],
                "users \"bob\" is forbidden: User \"carol\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope",
            ),
            (
                &[(USER_HEADER, "alice"), (GROUP_HEADER, "system:masters")],
                "groups \"system:masters\" is forbidden: User \"carol\" cannot impersonate resource \"groups\" in API group \"\" at the cluster scope",
            ),
            (
                &[(USER_HEADER, "alice"), ("impersonate-extra-scope", "write")],
                "userextras.authentication.k8s.io \"write\" is forbidden: User \"carol\" cannot impersonate resource \"userextras/scope\" in API group \"authentication.k8s.io\" at the cluster scope",
            ),
            (
                &[(USER_HEADER, "system:serviceaccount:ns:a")],
                "serviceaccounts \"a\" is forbidden: User \"carol\" cannot impersonate resource \"serviceaccounts\" in API group \"\" in the namespace \"ns\"",
            ),
        ];
        for (pairs, message) in denied {
            let status = run(pairs).expect_err(message);
            assert_eq!((status.code, status.message.as_str()), (403, message));
        }
        assert_eq!(run(&[(GROUP_HEADER, "dev")]).expect_err("no user").code, 400);
    }

    #[test]
    fn masters_may_act_as_anyone() {
        let authorizer = authorizer();
        let admin = Arc::new(UserInfo::authenticated("admin", &["system:masters"]));
        let acting = impersonate(&headers(&[(USER_HEADER, "system:serviceaccount:ns:a")]), &admin, &authorizer);
        let acting = acting.expect("allowed");
        assert_eq!(acting.groups, ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"]);
        let nobody = impersonate(&headers(&[(USER_HEADER, "system:anonymous")]), &admin, &authorizer).expect("allowed");
        assert_eq!(nobody.groups, ["system:unauthenticated"]);
    }
}
