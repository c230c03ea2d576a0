//! Acting as someone else: the `Impersonate-*` headers. Called by the chain between
//! authentication and authorization.
//!
//! There are two ways to be allowed it, as upstream has them. Constrained: the asker may
//! `impersonate:<mode>` that identity and may `impersonate-on:<mode>:<verb>` what the
//! request is about; the mode follows from whom the headers name. Legacy: the asker may
//! `impersonate` each part of the identity, and then do whatever the identity may. The
//! first refusal is the one that is shown.

use super::front_proxy::extras;
use super::user::{self, UserInfo, split_service_account_user};
use crate::authz::{Attributes, Authorizer};
use ferry_api::status::Status;
use http::HeaderMap;
use std::sync::Arc;

pub const USER_HEADER: &str = "impersonate-user";
pub const GROUP_HEADER: &str = "impersonate-group";
pub const UID_HEADER: &str = "impersonate-uid";
pub const EXTRA_PREFIX: &str = "impersonate-extra-";

const AUTHENTICATION: &str = "authentication.k8s.io";
/// From this many parts on, the right to all of them is asked for first.
const MANY: usize = 4;

/// The user that the request acts as: the asker, unless headers ask for another and that
/// is allowed. `request` is what the asker wants to do, with the asker as its user.
pub async fn impersonate(
    headers: &HeaderMap,
    asker: &Arc<UserInfo>,
    request: &Attributes<'_>,
    authorizer: &Authorizer,
) -> Result<Arc<UserInfo>, Status> {
    let Some(wanted) = wanted_user(headers)? else { return Ok(asker.clone()) };
    let mut refusal = None;
    for mode in Mode::ALL.into_iter().filter(|mode| mode.applies(&wanted, asker)) {
        match mode.check(&wanted, asker, request, authorizer).await {
            Ok(acting) => return Ok(Arc::new(acting)),
            Err(status) => refusal = refusal.or(Some(status)),
        }
    }
    Err(refusal.unwrap_or_else(|| Status::internal("all impersonation modes failed")))
}

/// The identity as the headers have it, or `None` if there are none.
fn wanted_user(headers: &HeaderMap) -> Result<Option<UserInfo>, Status> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let groups = headers.get_all(GROUP_HEADER).iter().filter_map(|value| value.to_str().ok()).map(str::to_owned);
    let wanted = UserInfo {
        name: text(USER_HEADER),
        uid: text(UID_HEADER),
        groups: groups.collect(),
        extra: extras(headers, EXTRA_PREFIX),
    };
    if !wanted.name.is_empty() {
        return Ok(Some(wanted));
    }
    if wanted == UserInfo::default() {
        return Ok(None);
    }
    let list = |items: &[String]| items.iter().map(|item| format!("{item:?}")).collect::<Vec<_>>().join(", ");
    let extra: Vec<String> =
        wanted.extra.iter().map(|(key, values)| format!("{key:?}:[]string{{{}}}", list(values))).collect();
    Err(Status::bad_request(format!(
        "requested &user.DefaultInfo{{Name:\"\", UID:{:?}, Groups:[]string{{{}}}, Extra:map[string][]string{{{}}}}} without impersonating a user name",
        wanted.uid,
        list(&wanted.groups),
        extra.join(", ")
    )))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// A service account acts as the node that its pod runs on.
    AssociatedNode,
    ArbitraryNode,
    ServiceAccount,
    UserInfo,
    Legacy,
}

impl Mode {
    /// In the order in which they are tried.
    const ALL: [Self; 5] =
        [Self::AssociatedNode, Self::ArbitraryNode, Self::ServiceAccount, Self::UserInfo, Self::Legacy];

    fn name(self) -> &'static str {
        match self {
            Self::AssociatedNode => "associated-node",
            Self::ArbitraryNode => "arbitrary-node",
            Self::ServiceAccount => "serviceaccount",
            Self::UserInfo => "user-info",
            Self::Legacy => "",
        }
    }

    fn applies(self, wanted: &UserInfo, asker: &UserInfo) -> bool {
        let only_name = wanted.uid.is_empty() && wanted.groups.is_empty() && wanted.extra.is_empty();
        let node = node_of(&wanted.name);
        let is_account = split_service_account_user(&wanted.name).is_some();
        match self {
            Self::AssociatedNode => {
                let own = asker.extra.get(user::NODE_NAME).map(Vec::as_slice);
                only_name
                    && split_service_account_user(&asker.name).is_some()
                    && node.is_some_and(|node| matches!(own, Some([own]) if own == node))
            }
            Self::ArbitraryNode => only_name && node.is_some(),
            Self::ServiceAccount => only_name && is_account,
            Self::UserInfo => node.is_none() && !is_account,
            Self::Legacy => true,
        }
    }

    async fn check(
        self,
        wanted: &UserInfo,
        asker: &UserInfo,
        request: &Attributes<'_>,
        authorizer: &Authorizer,
    ) -> Result<UserInfo, Status> {
        let constrained = self != Self::Legacy;
        let verb = if constrained { format!("impersonate:{}", self.name()) } else { "impersonate".to_owned() };
        if constrained {
            let verb = format!("impersonate-on:{}:{}", self.name(), request.verb);
            authorizer.check(&Attributes { verb: &verb, user: asker, ..*request }).await?;
        }
        let group = if constrained { AUTHENTICATION } else { "" };
        let blank = Attributes::resource(asker, &verb, group, "v1", "");
        let mut acting = wanted.clone();

        let node = node_of(&wanted.name).filter(|_| constrained);
        let account = split_service_account_user(&wanted.name);
        authorizer
            .check(&match (node, account) {
                (Some(node), _) => {
                    acting.groups = vec!["system:nodes".into()];
                    // The right to act as one's own node is not a right to name one.
                    let name = if self == Self::AssociatedNode { "*" } else { node };
                    Attributes { resource: "nodes", name, ..blank }
                }
                (None, Some((namespace, name))) => {
                    if wanted.groups.is_empty() {
                        acting.groups = user::service_account_groups(namespace);
                    }
                    Attributes { resource: "serviceaccounts", namespace, name, ..blank }
                }
                (None, None) => Attributes { resource: "users", name: &wanted.name, ..blank },
            })
            .await?;
        if !wanted.uid.is_empty() {
            let uids = Attributes { api_group: AUTHENTICATION, resource: "uids", name: &wanted.uid, ..blank };
            authorizer.check(&uids).await?;
        }
        check_groups(&wanted.groups, constrained, authorizer, &Attributes { resource: "groups", ..blank }).await?;
        let extras = Attributes { api_group: AUTHENTICATION, resource: "userextras", ..blank };
        check_extras(wanted, constrained, authorizer, &extras).await?;

        if acting.name == user::ANONYMOUS {
            if !acting.in_group(user::UNAUTHENTICATED) {
                acting.groups.push(user::UNAUTHENTICATED.into());
            }
        } else {
            acting.add_authenticated();
        }
        Ok(acting)
    }
}

async fn check_groups(
    groups: &[String],
    constrained: bool,
    authorizer: &Authorizer,
    attributes: &Attributes<'_>,
) -> Result<(), Status> {
    let is_wanted = |group: &str| groups.iter().any(|wanted| wanted == group);
    if constrained && is_wanted("") {
        return Err(attributes.forbidden("impersonating the empty string group is not allowed"));
    }
    if constrained && is_wanted(user::MASTERS) {
        let masters = Attributes { name: user::MASTERS, ..*attributes };
        return Err(masters.forbidden("impersonating the system:masters group is not allowed"));
    }
    let all = Attributes { name: "*", ..*attributes };
    if constrained && groups.len() >= MANY && authorizer.decide(&all).await.is_allowed() {
        return Ok(());
    }
    for group in groups {
        authorizer.check(&Attributes { name: group, ..*attributes }).await?;
    }
    Ok(())
}

async fn check_extras(
    wanted: &UserInfo,
    constrained: bool,
    authorizer: &Authorizer,
    attributes: &Attributes<'_>,
) -> Result<(), Status> {
    if constrained {
        if wanted.extra.contains_key("") {
            return Err(attributes.forbidden("impersonating the empty string key in extra is not allowed"));
        }
        if wanted.extra.values().flatten().any(String::is_empty) {
            return Err(attributes.forbidden("impersonating the empty string value in extra is not allowed"));
        }
        let all = Attributes { subresource: "*", name: "*", ..*attributes };
        let count: usize = wanted.extra.values().map(Vec::len).sum();
        if count >= MANY && authorizer.decide(&all).await.is_allowed() {
            return Ok(());
        }
    }
    for (key, values) in &wanted.extra {
        for value in values {
            authorizer.check(&Attributes { subresource: key, name: value, ..*attributes }).await?;
        }
    }
    Ok(())
}

/// The node that a user name stands for, whatever its groups.
fn node_of(name: &str) -> Option<&str> {
    let node = name.strip_prefix("system:node:")?;
    let valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    (!node.is_empty() && node.bytes().all(valid)).then_some(node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authn::testing::{Objects, ready};
    use serde_json::{Value, json};

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut out = HeaderMap::new();
        for (name, value) in pairs {
            out.append(*name, value.parse().expect("a value"));
        }
        out
    }

    fn bound(user: &str, rules: Value) -> [Value; 2] {
        [
            json!({"kind": "ClusterRole", "metadata": {"name": user}, "rules": rules}),
            json!({"kind": "ClusterRoleBinding", "metadata": {"name": user},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
                "subjects": [{"kind": "User", "name": user}]}),
        ]
    }

    /// carol may act as alice of dev with scope=read, the old way; cora may act as bob, but
    /// only to list pods; the agent may act as the node it runs on, to get pods.
    fn authorizer() -> Authorizer {
        let carol = json!([
            {"verbs": ["impersonate"], "apiGroups": [""], "resources": ["users"], "resourceNames": ["alice"]},
            {"verbs": ["impersonate"], "apiGroups": [""], "resources": ["groups"], "resourceNames": ["dev"]},
            {"verbs": ["impersonate"], "apiGroups": ["authentication.k8s.io"], "resources": ["userextras/scope"],
             "resourceNames": ["read"]}]);
        let cora = json!([
            {"verbs": ["impersonate:user-info"], "apiGroups": ["authentication.k8s.io"], "resources": ["users", "groups"]},
            {"verbs": ["impersonate-on:user-info:list"], "apiGroups": [""], "resources": ["pods"]}]);
        let agent = json!([
            {"verbs": ["impersonate:associated-node"], "apiGroups": ["authentication.k8s.io"], "resources": ["nodes"], "resourceNames": ["*"]},
            {"verbs": ["impersonate-on:associated-node:list"], "apiGroups": [""], "resources": ["pods"]}]);
        let objects = [bound("carol", carol), bound("cora", cora), bound("system:serviceaccount:ns:agent", agent)];
        Authorizer::new(&*Objects::of(&objects.concat()))
    }

    /// Acts as the headers say, to list pods in the namespace.
    fn run(asker: &Arc<UserInfo>, verb: &str, pairs: &[(&'static str, &str)]) -> Result<Arc<UserInfo>, Status> {
        let request = Attributes {
            user: asker,
            verb,
            api_group: "",
            api_version: "v1",
            resource: "pods",
            subresource: "",
            namespace: "ns",
            name: "",
            path: "",
            is_resource: true,
            field_selector: "",
            label_selector: "",
        };
        ready(impersonate(&headers(pairs), asker, &request, &authorizer()))
    }

    #[test]
    fn each_part_is_authorized_on_its_own() {
        let carol = Arc::new(UserInfo::authenticated("carol", &[]));
        assert!(Arc::ptr_eq(&run(&carol, "list", &[]).expect("herself"), &carol));
        let parts = [(USER_HEADER, "alice"), (GROUP_HEADER, "dev"), ("impersonate-extra-scope", "read")];
        let alice = run(&carol, "list", &parts).expect("allowed");
        assert_eq!((alice.name.as_str(), alice.groups.join(",").as_str()), ("alice", "dev,system:authenticated"));
        assert_eq!(alice.extra["scope"], ["read"]);
        let refused = [
            &[(USER_HEADER, "bob")][..],
            &[(USER_HEADER, "alice"), (GROUP_HEADER, "system:masters")],
            &[(USER_HEADER, "alice"), ("impersonate-extra-scope", "write")],
            &[(USER_HEADER, "alice"), (UID_HEADER, "1")],
            &[(USER_HEADER, "system:serviceaccount:ns:a")],
            &[(USER_HEADER, "system:node:a")],
        ];
        for pairs in refused {
            assert_eq!(run(&carol, "list", pairs).expect_err("refused").code, 403, "{pairs:?}");
        }
        let nameless = run(&carol, "list", &[(GROUP_HEADER, "dev")]).expect_err("no user");
        assert_eq!(
            (nameless.code, nameless.message.as_str()),
            (
                400,
                "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"dev\"}, Extra:map[string][]string{}} without impersonating a user name"
            )
        );
    }

    #[test]
    fn constrained_rights_hold_for_what_they_name_only() {
        let cora = Arc::new(UserInfo::authenticated("cora", &[]));
        let bob = run(&cora, "list", &[(USER_HEADER, "bob"), (GROUP_HEADER, "dev")]).expect("allowed");
        assert_eq!(bob.groups, ["dev", "system:authenticated"]);
        let refused = run(&cora, "delete", &[(USER_HEADER, "bob")]).expect_err("another verb");
        assert_eq!(
            refused.message,
            "pods is forbidden: User \"cora\" cannot impersonate-on:user-info:delete resource \"pods\" in API group \"\" in the namespace \"ns\""
        );
        let refused =
            run(&cora, "list", &[(USER_HEADER, "bob"), (GROUP_HEADER, "system:masters")]).expect_err("masters");
        assert_eq!(
            refused.message,
            "groups.authentication.k8s.io \"system:masters\" is forbidden: User \"cora\" cannot impersonate:user-info resource \"groups\" in API group \"authentication.k8s.io\" at the cluster scope: impersonating the system:masters group is not allowed"
        );
        assert!(run(&cora, "list", &[(USER_HEADER, "system:node:a")]).is_err(), "a node is no plain user");

        let mut agent = UserInfo::service_account("ns", "agent");
        agent.extra.insert(user::NODE_NAME.into(), vec!["a".into()]);
        let agent = Arc::new(agent);
        let node = run(&agent, "list", &[(USER_HEADER, "system:node:a")]).expect("its own node");
        assert_eq!(node.groups, ["system:nodes", "system:authenticated"]);
        assert!(run(&agent, "list", &[(USER_HEADER, "system:node:b")]).is_err(), "another node");
    }

    #[test]
    fn masters_may_act_as_anyone() {
        let admin = Arc::new(UserInfo::authenticated("admin", &["system:masters"]));
        let act = |name: &str| run(&admin, "list", &[(USER_HEADER, name)]).expect("allowed").groups.join(",");
        let account = "system:serviceaccounts,system:serviceaccounts:ns,system:authenticated";
        assert_eq!(act("system:serviceaccount:ns:a"), account);
        assert_eq!(act("system:anonymous"), "system:unauthenticated");
        assert_eq!(act("system:node:a"), "system:nodes,system:authenticated");
        let master = run(&admin, "list", &[(USER_HEADER, "x"), (GROUP_HEADER, "system:masters")]).expect("the old way");
        assert!(master.in_group("system:masters"));
    }
}
