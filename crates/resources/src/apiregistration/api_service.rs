//! APIService: the strategy of which server answers for a group and version
//! (kube-aggregator's registry/apiservice).

use crate::read::{Read, ReadNode, set};
use crate::{Context, Strategy, names};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) struct ApiService;

impl Strategy for ApiService {
    /// What this server itself answers for is available from the start.
    fn prepare_for_create(&self, context: &Context, object: &mut Value) {
        let status = if object.field("spec").has("service") {
            json!({})
        } else {
            json!({"conditions": [{
                "type": "Available", "status": "True", "reason": "Local",
                "message": "Local APIServices are always available",
                "lastTransitionTime": ferry_api::codec::time::format_seconds(context.now),
            }]})
        };
        set(object, "status", status);
    }

    fn validate(&self, object: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (spec, path) = (object.field("spec"), Path::new("spec"));
        let (group, version, name) = (spec.text("group"), spec.text("version"), object.name());
        let required = format!("{version}.{group}");
        if name != required && names::path_segment(name, false).is_empty() && !name.is_empty() {
            let detail = format!("must be `spec.version+\".\"+spec.group`: {required:?}");
            errors.push(Error::invalid(&Path::new("metadata").child("name"), name, detail));
        }
        if group.is_empty() && version != "v1" {
            let detail = "only v1 may have an empty group and it better be legacy kube";
            errors.push(Error::required(&path.child("group"), detail));
        }
        validate_service(&mut errors, spec, &path);
        errors
    }

    fn computed_cells(&self, object: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let service = match object.field("spec").field("service") {
            None => "Local".to_owned(),
            Some(service) => format!("{}/{}", service.text("namespace"), service.text("name")),
        };
        let conditions = object.field("status").list("conditions");
        let available = match conditions.iter().find(|condition| condition.text("type") == "Available") {
            None => "Unknown".to_owned(),
            Some(condition) => match (condition.text("status"), condition.text("reason")) {
                (status @ "True", _) | (status, "") => status.to_owned(),
                (status, reason) => format!("{status} ({reason})"),
            },
        };
        vec![service.into(), available.into()]
    }
}

fn validate_service(errors: &mut ErrorList, spec: Option<&Value>, path: &Path) {
    let bundle = spec.text("caBundle");
    let insecure = spec.flag("insecureSkipTLSVerify");
    if !spec.has("service") {
        if !bundle.is_empty() {
            let bytes = bundle.trim_end_matches('=').len() * 3 / 4;
            let detail = "local APIServices may not have a caBundle";
            errors.push(Error::invalid(&path.child("caBundle"), format!("{bytes} bytes"), detail));
        }
        if insecure {
            let detail = "local APIServices may not have insecureSkipTLSVerify";
            errors.push(Error::invalid(&path.child("insecureSkipTLSVerify"), true, detail));
        }
        return;
    }
    if insecure && !bundle.is_empty() {
        let detail = "may not be true if caBundle is present";
        errors.push(Error::invalid(&path.child("insecureSkipTLSVerify"), true, detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, context};

    fn service(name: &str, spec: Value) -> Value {
        let mut object = json!({"metadata": {"name": name}, "spec": {
            "group": "a.b", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10}});
        if let (Some(to), Value::Object(from)) = (object["spec"].as_object_mut(), spec) {
            to.extend(from);
        }
        object
    }

    #[test]
    fn the_name_says_what_is_served() {
        check(&ApiService, service("v1.a.b", json!({})), &[]);
        check(&ApiService, service("v1.a.b", json!({"service": {"name": "a", "namespace": "b"}})), &[]);
        check(
            &ApiService,
            service("x", json!({"versionPriority": 0})),
            &[
                "metadata.name: Invalid value: \"x\": must be `spec.version+\".\"+spec.group`: \"v1.a.b\"",
                "spec.versionPriority: Invalid value: 0: must be positive and less than 1000",
            ],
        );
        check(
            &ApiService,
            service("v1.a.b", json!({"caBundle": "YWJj", "insecureSkipTLSVerify": true})),
            &[
                "spec.caBundle: Invalid value: \"3 bytes\": local APIServices may not have a caBundle",
                "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify",
            ],
        );
    }

    #[test]
    fn a_local_one_is_available() {
        let mut local = service("v1.a.b", json!({}));
        ApiService.prepare_for_create(&context(), &mut local);
        assert_eq!(Value::from(cells("APIService", local)), json!(["v1.a.b", "Local", "True", "10m"]));
        let mut remote = service("v1.a.b", json!({"service": {"name": "a", "namespace": "b"}}));
        remote["status"] =
            json!({"conditions": [{"type": "Available", "status": "False", "reason": "MissingEndpoints"}]});
        assert_eq!(
            Value::from(cells("APIService", remote)),
            json!(["v1.a.b", "b/a", "False (MissingEndpoints)", "10m"])
        );
    }
}
