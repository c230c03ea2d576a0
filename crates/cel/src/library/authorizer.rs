//! Authorization checks from within an expression:
//! `authorizer.group('apps').resource('deployments').check('create').allowed()`. The
//! decision is the host's, through [`Authorize`].

use std::sync::Arc;

use super::{Declarations, mismatch, opaque};
use crate::error::{EvalError, Evaluated};
use crate::types::Type::{self, *};
use crate::value::{Opaque, Value};

/// Decides for expressions. Called while an expression runs, so it must neither block nor
/// recurse into an expression; a check costs so much that an expression affords two.
pub trait Authorize: Send + Sync {
    fn authorize(&self, question: &Question<'_>) -> Decision;
}

/// May this be done?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question<'q> {
    /// Namespace and name of the service account that is asked for instead of the user of
    /// the request.
    pub service_account: Option<(&'q str, &'q str)>,
    pub verb: &'q str,
    /// Set for a path check; the fields below are then empty.
    pub path: Option<&'q str>,
    pub group: &'q str,
    pub resource: &'q str,
    pub subresource: &'q str,
    pub namespace: &'q str,
    pub name: &'q str,
    pub field_selector: &'q str,
    pub label_selector: &'q str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    pub allowed: bool,
    pub reason: std::string::String,
    pub error: Option<std::string::String>,
}

#[derive(Clone)]
pub struct Authorizer<'v> {
    host: &'v dyn Authorize,
    service_account: Option<(std::string::String, std::string::String)>,
}

impl std::fmt::Debug for Authorizer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authorizer").field("service_account", &self.service_account).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug)]
pub struct PathCheck<'v> {
    authorizer: Authorizer<'v>,
    path: std::string::String,
}

#[derive(Clone, Debug)]
pub struct GroupCheck<'v> {
    authorizer: Authorizer<'v>,
    group: std::string::String,
}

#[derive(Clone, Debug)]
pub struct ResourceCheck<'v> {
    authorizer: Authorizer<'v>,
    group: std::string::String,
    resource: std::string::String,
    subresource: std::string::String,
    namespace: std::string::String,
    name: std::string::String,
    field_selector: std::string::String,
    label_selector: std::string::String,
}

impl<'v> Value<'v> {
    /// The variable `authorizer`, for the user of the request.
    pub fn authorizer(host: &'v dyn Authorize) -> Self {
        Value::Opaque(Opaque::Authorizer(Arc::new(Authorizer { host, service_account: None })))
    }

    /// The variable `authorizer.requestResource`: a check of what the request is about.
    /// Of the question, the group, resource, subresource, namespace and name are used.
    pub fn resource_check(host: &'v dyn Authorize, about: &Question<'_>) -> Self {
        Value::Opaque(Opaque::ResourceCheck(Arc::new(ResourceCheck {
            authorizer: Authorizer { host, service_account: None },
            group: about.group.into(),
            resource: about.resource.into(),
            subresource: about.subresource.into(),
            namespace: about.namespace.into(),
            name: about.name.into(),
            field_selector: Default::default(),
            label_selector: Default::default(),
        })))
    }
}

/// The types under which hosts declare `authorizer` and `authorizer.requestResource`.
pub fn authorizer_type() -> Type {
    Type::object("kubernetes.authorization.Authorizer")
}

pub fn resource_check_type() -> Type {
    Type::object("kubernetes.authorization.ResourceCheck")
}

pub(super) fn declare(d: &mut Declarations) {
    let path = || Type::object("kubernetes.authorization.PathCheck");
    let group = || Type::object("kubernetes.authorization.GroupCheck");
    let decision = || Type::object("kubernetes.authorization.Decision");
    d.member("path", "authorizer_path", vec![authorizer_type(), String], path(), |args| {
        let (Value::Opaque(Opaque::Authorizer(authorizer)), Some(path)) = (&args[0], args[1].as_str()) else {
            return mismatch();
        };
        if path.trim().is_empty() {
            return Err(EvalError::new("path must not be empty"));
        }
        let check = PathCheck { authorizer: (**authorizer).clone(), path: path.into() };
        opaque(Opaque::PathCheck(Arc::new(check)))
    });
    d.member("group", "authorizer_group", vec![authorizer_type(), String], group(), |args| {
        let (Value::Opaque(Opaque::Authorizer(authorizer)), Some(group)) = (&args[0], args[1].as_str()) else {
            return mismatch();
        };
        let check = GroupCheck { authorizer: (**authorizer).clone(), group: group.into() };
        opaque(Opaque::GroupCheck(Arc::new(check)))
    });
    d.member(
        "serviceAccount",
        "authorizer_serviceaccount",
        vec![authorizer_type(), String, String],
        authorizer_type(),
        service_account,
    );
    d.member("resource", "groupcheck_resource", vec![group(), String], resource_check_type(), resource);
    for (name, id) in [
        ("subresource", "resourcecheck_subresource"),
        ("namespace", "resourcecheck_namespace"),
        ("name", "resourcecheck_name"),
    ] {
        let call: super::Call = match name {
            "subresource" => |args| narrow(args, |check| &mut check.subresource),
            "namespace" => |args| narrow(args, |check| &mut check.namespace),
            _ => |args| narrow(args, |check| &mut check.name),
        };
        d.member(name, id, vec![resource_check_type(), String], resource_check_type(), call);
    }
    d.member("check", "pathcheck_check", vec![path(), String], decision(), check);
    d.member("check", "resourcecheck_check", vec![resource_check_type(), String], decision(), check);
    d.member("errored", "decision_errored", vec![decision()], Bool, |args| {
        decided(args, |decision| Value::Bool(decision.error.is_some()))
    });
    d.member("error", "decision_error", vec![decision()], String, |args| {
        decided(args, |decision| Value::string(decision.error.clone().unwrap_or_default()))
    });
    d.member("allowed", "decision_allowed", vec![decision()], Bool, |args| {
        decided(args, |decision| Value::Bool(decision.allowed))
    });
    d.member("reason", "decision_reason", vec![decision()], String, |args| {
        decided(args, |decision| Value::string(decision.reason.clone()))
    });
}

pub(super) fn declare_selectors(d: &mut Declarations) {
    let args = || vec![resource_check_type(), String];
    d.member("fieldSelector", "authorizer_fieldselector", args(), resource_check_type(), |args| {
        narrow(args, |check| &mut check.field_selector)
    });
    d.member("labelSelector", "authorizer_labelselector", args(), resource_check_type(), |args| {
        narrow(args, |check| &mut check.label_selector)
    });
}

fn service_account<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let (Value::Opaque(Opaque::Authorizer(authorizer)), Some(namespace), Some(name)) =
        (&args[0], args[1].as_str(), args[2].as_str())
    else {
        return mismatch();
    };
    if !super::format::dns1123_subdomain(name, false).is_empty() {
        return Err(EvalError::new("Invalid service account name"));
    }
    if !super::format::dns1123_label(namespace, false).is_empty() {
        return Err(EvalError::new("Invalid service account namespace"));
    }
    let service_account = Some((namespace.into(), name.into()));
    opaque(Opaque::Authorizer(Arc::new(Authorizer { host: authorizer.host, service_account })))
}

fn resource<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let (Value::Opaque(Opaque::GroupCheck(group)), Some(resource)) = (&args[0], args[1].as_str()) else {
        return mismatch();
    };
    if resource.trim().is_empty() {
        return Err(EvalError::new("resource must not be empty"));
    }
    opaque(Opaque::ResourceCheck(Arc::new(ResourceCheck {
        authorizer: group.authorizer.clone(),
        group: group.group.clone(),
        resource: resource.into(),
        subresource: Default::default(),
        namespace: Default::default(),
        name: Default::default(),
        field_selector: Default::default(),
        label_selector: Default::default(),
    })))
}

fn narrow<'v>(
    args: &[Value<'v>],
    field: for<'a> fn(&'a mut ResourceCheck<'v>) -> &'a mut std::string::String,
) -> Evaluated<Value<'v>> {
    let (Value::Opaque(Opaque::ResourceCheck(check)), Some(value)) = (&args[0], args[1].as_str()) else {
        return mismatch();
    };
    let mut check = (**check).clone();
    *field(&mut check) = value.into();
    opaque(Opaque::ResourceCheck(Arc::new(check)))
}

fn check<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let Some(verb) = args[1].as_str() else { return mismatch() };
    let account = |authorizer: &Authorizer<'v>| authorizer.service_account.clone();
    let (host, account, question) = match &args[0] {
        Value::Opaque(Opaque::PathCheck(check)) => {
            let question = Question { verb, path: Some(&check.path), ..Question::default() };
            (check.authorizer.host, account(&check.authorizer), question)
        }
        Value::Opaque(Opaque::ResourceCheck(check)) => {
            let question = Question {
                service_account: None,
                verb,
                path: None,
                group: &check.group,
                resource: &check.resource,
                subresource: &check.subresource,
                namespace: &check.namespace,
                name: &check.name,
                field_selector: &check.field_selector,
                label_selector: &check.label_selector,
            };
            (check.authorizer.host, account(&check.authorizer), question)
        }
        _ => return mismatch(),
    };
    let service_account = account.as_ref().map(|(namespace, name)| (namespace.as_str(), name.as_str()));
    let decision = host.authorize(&Question { service_account, ..question });
    opaque(Opaque::Decision(Arc::new(decision)))
}

fn decided<'v>(args: &[Value<'v>], part: fn(&Decision) -> Value<'v>) -> Evaluated<Value<'v>> {
    match &args[0] {
        Value::Opaque(Opaque::Decision(decision)) => Ok(part(decision)),
        _ => mismatch(),
    }
}
