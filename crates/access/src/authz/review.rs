//! The access reviews: `kubectl auth can-i` and everyone who asks the API server what
//! someone may do. Called by the handlers of the four kinds with the decoded object; each
//! gives the object back with its status.

use super::selectors::{self, read_fields, read_labels};
use super::{Attributes, Authorizer, Decision};
use crate::authn::UserInfo;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::gvk::GroupVersionKind;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const GROUP: &str = "authorization.k8s.io";

impl Authorizer {
    /// SubjectAccessReview: may the named user do this?
    pub async fn review_subject_access(&self, review: Value) -> Result<Value, Status> {
        let mut errors = spec_errors(&review, Subject::Named);
        errors.extend(metadata_error(&review, false));
        self.review(review, "SubjectAccessReview", errors, None).await
    }

    /// LocalSubjectAccessReview: the same, inside one namespace.
    pub async fn review_local_subject_access(&self, namespace: &str, mut review: Value) -> Result<Value, Status> {
        if review.namespace().is_empty() {
            review.set_meta("namespace", namespace);
        }
        let mut errors = spec_errors(&review, Subject::Named);
        errors.extend(metadata_error(&review, true));
        let spec = Path::new("spec");
        if let Some(resource) = object_at(&review, "resourceAttributes")
            && resource.str_at(&["namespace"]) != review.namespace()
        {
            let path = spec.child("resourceAttributes").child("namespace");
            errors.push(Error::invalid(&path, resource.str_at(&["namespace"]), "must match metadata.namespace"));
        }
        if let Some(other) = object_at(&review, "nonResourceAttributes") {
            let path = spec.child("nonResourceAttributes");
            errors.push(Error::invalid(&path, other.clone(), "disallowed on this kind of request"));
        }
        self.review(review, "LocalSubjectAccessReview", errors, None).await
    }

    /// SelfSubjectAccessReview: may the one who asks do this?
    pub async fn review_self_subject_access(&self, user: &UserInfo, review: Value) -> Result<Value, Status> {
        let mut errors = spec_errors(&review, Subject::Asker);
        errors.extend(metadata_error(&review, false));
        self.review(review, "SelfSubjectAccessReview", errors, Some(user)).await
    }

    /// SelfSubjectRulesReview: everything that the one who asks may do in a namespace.
    pub fn review_self_subject_rules(&self, user: &UserInfo, mut review: Value) -> Result<Value, Status> {
        let namespace = review.str_at(&["spec", "namespace"]);
        if namespace.is_empty() {
            return Err(Status::bad_request("no namespace on request"));
        }
        let mut resources: Vec<Value> = Vec::new();
        let mut others: Vec<Value> = Vec::new();
        let known = self.chain.load().rules_for(self, user, namespace);
        for rule in known.rules {
            if !rule.resources.is_empty() {
                let mut shown = Map::new();
                shown.insert("verbs".into(), rule.verbs.clone().into());
                shown.insert("apiGroups".into(), rule.api_groups.into());
                shown.insert("resources".into(), rule.resources.into());
                if !rule.resource_names.is_empty() {
                    shown.insert("resourceNames".into(), rule.resource_names.into());
                }
                resources.push(shown.into());
            }
            if !rule.non_resource_urls.is_empty() {
                others.push(json!({"verbs": rule.verbs, "nonResourceURLs": rule.non_resource_urls}));
            }
        }
        let mut status =
            json!({"resourceRules": resources, "nonResourceRules": others, "incomplete": known.incomplete});
        match known.errors.as_slice() {
            [] => {}
            [one] => status["evaluationError"] = (*one).into(),
            many => status["evaluationError"] = format!("[{}]", many.join(", ")).into(),
        }
        review.set_gvk(&kind("SelfSubjectRulesReview"));
        let object = ensure_object(&mut review);
        object.insert("spec".into(), json!({}));
        object.insert("status".into(), status);
        Ok(review)
    }

    /// `asker` is set for the reviews that speak of the one who asks.
    async fn review(
        &self,
        mut review: Value,
        name: &'static str,
        errors: ErrorList,
        asker: Option<&UserInfo>,
    ) -> Result<Value, Status> {
        if !errors.is_empty() {
            return Err(Status::invalid(&kind(name), "", errors));
        }
        let named;
        let user = match asker {
            Some(user) => user,
            None => {
                named = user_of(&review);
                &named
            }
        };
        let (fields, fields_ignored) = object_at(&review, "resourceAttributes").map(read_fields).unwrap_or_default();
        let (labels, labels_ignored) = object_at(&review, "resourceAttributes").map(read_labels).unwrap_or_default();
        let attributes =
            Attributes { field_selector: &fields, label_selector: &labels, ..attributes_of(&review, user) };
        let verdict = self.decide(&attributes).await;
        let ignored =
            [fields_ignored.map(|i| i.describe("fieldSelector")), labels_ignored.map(|i| i.describe("labelSelector"))];
        let problems: Vec<String> = verdict.error.into_iter().chain(ignored.into_iter().flatten()).collect();
        let decision = verdict.decision;
        let mut status = json!({"allowed": decision.is_allowed()});
        if matches!(decision, Decision::Deny { .. }) {
            status["denied"] = true.into();
        }
        if !decision.reason().is_empty() {
            status["reason"] = decision.reason().into();
        }
        if !problems.is_empty() {
            status["evaluationError"] = problems.join("; ").into();
        }
        review.set_gvk(&kind(name));
        ensure_object(&mut review).insert("status".into(), status);
        Ok(review)
    }
}

fn kind(name: &'static str) -> GroupVersionKind {
    GroupVersionKind::new(GROUP, "v1", name)
}

fn object_at<'a>(review: &'a Value, key: &str) -> Option<&'a Value> {
    review.at(&["spec", key]).filter(|value| value.is_object())
}

fn attributes_of<'a>(review: &'a Value, user: &'a UserInfo) -> Attributes<'a> {
    let mut attributes = Attributes { is_resource: false, ..Attributes::resource(user, "", "", "", "") };
    if let Some(resource) = object_at(review, "resourceAttributes") {
        attributes.is_resource = true;
        attributes.verb = resource.str_at(&["verb"]);
        attributes.api_group = resource.str_at(&["group"]);
        // A question without a version is about all of them.
        attributes.api_version = Some(resource.str_at(&["version"])).filter(|v| !v.is_empty()).unwrap_or("*");
        attributes.resource = resource.str_at(&["resource"]);
        attributes.subresource = resource.str_at(&["subresource"]);
        attributes.namespace = resource.str_at(&["namespace"]);
        attributes.name = resource.str_at(&["name"]);
    } else if let Some(other) = object_at(review, "nonResourceAttributes") {
        attributes.verb = other.str_at(&["verb"]);
        attributes.path = other.str_at(&["path"]);
    }
    attributes
}

fn user_of(review: &Value) -> UserInfo {
    let strings = |value: &Value| match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let extra: BTreeMap<String, Vec<String>> = match review.at(&["spec", "extra"]) {
        Some(Value::Object(extra)) => extra.iter().map(|(key, values)| (key.to_lowercase(), strings(values))).collect(),
        _ => BTreeMap::new(),
    };
    UserInfo {
        name: review.str_at(&["spec", "user"]).to_owned(),
        uid: review.str_at(&["spec", "uid"]).to_owned(),
        groups: review.at(&["spec", "groups"]).map(strings).unwrap_or_default(),
        extra,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Asker,
    Named,
}

fn spec_errors(review: &Value, subject: Subject) -> ErrorList {
    let spec = Path::new("spec");
    let mut errors = ErrorList::new();
    match (object_at(review, "resourceAttributes"), object_at(review, "nonResourceAttributes")) {
        (Some(_), Some(other)) => errors.push(Error::invalid(
            &spec.child("nonResourceAttributes"),
            other.clone(),
            "cannot be specified in combination with resourceAttributes",
        )),
        (None, None) => errors.push(Error::invalid(
            &spec.child("resourceAttributes"),
            Value::Null,
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        )),
        _ => {}
    }
    let nobody = review.str_at(&["spec", "user"]).is_empty() && review.items_at(&["spec", "groups"]).is_empty();
    if subject == Subject::Named && nobody {
        errors.push(Error::invalid(&spec.child("user"), "", "at least one of user or group must be specified"));
    }
    if let Some(attributes) = object_at(review, "resourceAttributes") {
        errors.extend(selectors::validate(attributes, &spec.child("resourceAttributes")));
    }
    errors
}

/// Reviews are never stored, so they may not be named.
fn metadata_error(review: &Value, may_have_namespace: bool) -> Option<Error> {
    let Some(Value::Object(metadata)) = review.get("metadata") else { return None };
    let meaningful = metadata.iter().any(|(key, value)| match key.as_str() {
        "managedFields" => false,
        "creationTimestamp" => !value.is_null(),
        "namespace" if may_have_namespace => false,
        _ => !value.is_null(),
    });
    let detail = if may_have_namespace { "must be empty except for namespace" } else { "must be empty" };
    meaningful.then(|| Error::invalid(&Path::new("metadata"), Value::Object(metadata.clone()), detail))
}
