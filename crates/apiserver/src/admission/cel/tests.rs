use super::*;
use crate::admission::Operation;
use crate::admission::testing::pods;
use crate::authn::UserInfo;
use crate::authn::testing::Objects;
use crate::registry::Caller;
use ferry_cel::MATCH_CONDITIONS_BUDGET;

/// Asks conditions about a pod that alice creates in `shop`.
fn ask(conditions: &[&str], object: &mut Value) -> Result<bool, String> {
    const GROUP: &str = "rbac.authorization.k8s.io";
    let lookup = Objects::of(&[
        json!({"kind": "ClusterRole", "apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "reader"},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
        json!({"kind": "ClusterRoleBinding", "apiVersion": "rbac.authorization.k8s.io/v1",
            "metadata": {"name": "reader"},
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": "reader"},
            "subjects": [{"kind": "User", "name": "alice", "apiGroup": GROUP},
                {"kind": "ServiceAccount", "name": "robot", "namespace": "shop"}]}),
    ]);
    let authorizer = Authorizer::new(&*lookup);
    let mut caller = Caller::testing(UserInfo::authenticated("alice", &["staff"]));
    caller.options = std::sync::Arc::new(json!({"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}));
    let mut request = AdmissionRequest::new(Operation::Create, &pods(), "shop", "web", "", &caller);
    request.object = Some(object);
    let facts = Facts::new(&request, request.row.gvk(), request.row.gvr(), &*lookup, &authorizer);
    let scope = Scope { facts: &facts, object: request.object.as_deref(), old_object: request.old_object };
    let conditions: Vec<Value> = conditions.iter().map(|text| json!({"name": "c", "expression": text})).collect();
    MatchConditions::of_webhook(&conditions).matches(&scope, None, &[])
}

#[test]
fn conditions_see_the_request() {
    for (expression, expected) in [
        ("request.operation == 'CREATE' && request.name == 'web' && request.namespace == 'shop'", true),
        ("request.kind.kind == 'Pod' && request.requestKind.version == 'v1' && request.kind.group == ''", true),
        ("request.resource.resource == 'pods' && !has(request.subResource)", true),
        ("request.userInfo.username == 'alice' && 'staff' in request.userInfo.groups", true),
        ("request.dryRun", false),
        ("request.options.kind == 'CreateOptions'", true),
        ("oldObject == null && object.metadata.name == 'web'", true),
        ("authorizer.requestResource.check('get').allowed()", true),
        ("authorizer.requestResource.check('create').allowed()", false),
        ("authorizer.group('').resource('pods').namespace('x').check('get').allowed()", true),
        ("authorizer.serviceAccount('shop', 'robot').group('').resource('pods').check('get').allowed()", true),
        ("authorizer.serviceAccount('shop', 'other').group('').resource('pods').check('get').allowed()", false),
        ("authorizer.path('/healthz').check('get').allowed()", false),
        ("namespaceObject == null", true),
    ] {
        let mut object = json!({"metadata": {"name": "web"}});
        assert_eq!(ask(&[expression], &mut object), Ok(expected), "{expression}");
    }
}

#[test]
fn one_false_condition_settles_it() {
    let mut object = json!({"metadata": {"name": "web"}});
    assert_eq!(ask(&["true", "object.nope", "false"], &mut object), Ok(false));
    assert_eq!(ask(&[], &mut object), Ok(true));
    assert_eq!(
        ask(&["true", "object.nope == 1"], &mut object).unwrap_err(),
        "expression 'object.nope == 1' resulted in error: no such key: nope"
    );
    assert_eq!(
        ask(&["object.a == 1", "object.b == 1"], &mut object).unwrap_err(),
        "[expression 'object.a == 1' resulted in error: no such key: a, expression 'object.b == 1' resulted in error: no such key: b]"
    );
    let broken = ask(&["object.("], &mut object).unwrap_err();
    assert!(broken.starts_with("compilation error: compilation failed: ERROR: <input>:1:8: Syntax error"), "{broken}");
}

#[test]
fn conditions_pay_for_what_they_do() {
    let mut object = json!({"items": (0..200).collect::<Vec<i64>>()});
    let dear = "object.items.all(a, object.items.all(b, object.items.all(c, true)))";
    assert_eq!(
        ask(&[dear], &mut object).unwrap_err(),
        format!("expression '{dear}' resulted in error: operation cancelled: actual cost limit exceeded")
    );
    let check = "authorizer.group('').resource('pods').check('get').allowed()";
    const { assert!(8 * 350_000 > MATCH_CONDITIONS_BUDGET) };
    assert_eq!(ask(&[check; 7], &mut object), Ok(true));
    assert_eq!(
        ask(&[check; 8], &mut object).unwrap_err(),
        "validation failed due to running out of cost budget, no further validation rules will be run"
    );
}

#[test]
fn a_namespace_is_shown_without_its_history() {
    let shown = render_namespace(json!({
        "kind": "Namespace", "apiVersion": "v1",
        "metadata": {"name": "a", "labels": {"x": "y"}, "managedFields": [{}], "ownerReferences": [{}]},
        "spec": {"finalizers": ["kubernetes"]},
    }));
    assert_eq!(shown, json!({"metadata": {"name": "a", "labels": {"x": "y"}}, "spec": {"finalizers": ["kubernetes"]}}));
}
