//! Between the versions of a custom resource: only the version's name changes, or a webhook
//! is asked (apiextensions-apiserver's pkg/apiserver/conversion). A webhook may change what
//! it likes but who the object is.

use crate::metrics::Metrics;
use crate::metrics::conversion::Failed;
use crate::registry::lookup::ObjectLookup;
use crate::webhook::{DEFAULT_TIMEOUT, Hook};
use ferry_api::field::{ErrorList, Path};
use ferry_api::gvk::{GroupVersion, GroupVersionKind};
use ferry_api::object::{Meta, ensure_object};
use ferry_api::patch::go::type_name;
use ferry_api::status::Status;
use ferry_resources::custom_resource::{Converted, Converter};
use ferry_resources::read::Read;
use ferry_resources::validation::labels::{validate_annotations, validate_labels};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Instant;

/// The converter that a definition asks for.
pub(super) fn converter(
    definition: &Value,
    lookup: Arc<dyn ObjectLookup>,
    metrics: Arc<Metrics>,
) -> Result<Arc<dyn Converter>, Status> {
    let conversion = definition.field("spec").field("conversion");
    if conversion.text("strategy") != "Webhook" {
        return Ok(Arc::new(Rename));
    }
    let webhook = conversion.field("webhook");
    let config = webhook.field("clientConfig").unwrap_or(&Value::Null);
    // A hook that cannot be called is a reason to refuse conversions, not the kind.
    let hook = Hook::from_client_config(config, lookup).map_err(|error| error.to_string());
    Ok(Arc::new(Webhook {
        hook,
        review_versions: webhook.texts("conversionReviewVersions").map(str::to_owned).collect(),
        list_kind: definition.field("status").field("acceptedNames").text("listKind").to_owned(),
        definition: definition.name().to_owned(),
        metrics,
    }))
}

/// The strategy `None`: the fields are the same in every version.
struct Rename;

impl Converter for Rename {
    fn convert<'a>(&'a self, mut objects: Vec<Value>, to: &'a GroupVersion) -> Converted<'a> {
        for object in &mut objects {
            ensure_object(object).insert("apiVersion".into(), to.to_string().into());
        }
        Box::pin(std::future::ready(Ok(objects)))
    }

    fn changes_labels(&self) -> bool {
        false
    }
}

struct Webhook {
    hook: Result<Hook, String>,
    review_versions: Vec<String>,
    list_kind: String,
    /// The name of the definition.
    definition: String,
    metrics: Arc<Metrics>,
}

impl Converter for Webhook {
    fn convert<'a>(&'a self, objects: Vec<Value>, to: &'a GroupVersion) -> Converted<'a> {
        Box::pin(self.ask(objects, to))
    }

    fn changes_labels(&self) -> bool {
        true
    }
}

impl Webhook {
    async fn ask(&self, objects: Vec<Value>, to: &GroupVersion) -> Result<Vec<Value>, String> {
        let Some(first) = objects.first() else { return Ok(objects) };
        let mut kind = first.gvk();
        if objects.len() > 1 {
            kind.kind = self.list_kind.clone().into();
        }
        let known = ["v1", "v1beta1"];
        let version = self.review_versions.iter().find(|version| known.contains(&version.as_str()));
        let version = version.ok_or("no supported conversion review versions")?;
        let uid = uuid::Uuid::new_v4().to_string();
        let review = json!({
            "kind": "ConversionReview", "apiVersion": format!("apiextensions.k8s.io/{version}"),
            "request": {"uid": uid, "desiredAPIVersion": to.to_string(), "objects": objects},
        });
        let failed = |why: String| format!("conversion webhook for {} failed: {why}", describe(&kind));
        let hook = self.hook.as_ref().map_err(|why| failed(why.clone()))?;
        let began = Instant::now();
        let count = |what: Option<Failed>| {
            let (from, to) = (&*kind.version, &*to.version);
            self.metrics.conversions.asked(&self.definition, from, to, what, began.elapsed());
        };
        let answer = hook.post(&review, DEFAULT_TIMEOUT).await.map_err(|error| {
            count(Some(Failed::Call));
            failed(error.to_string())
        })?;
        let converted = read_answer(&answer, version, &uid).map_err(|why| {
            count(Some(Failed::MalformedResponse));
            failed(why)
        })?;
        if converted.len() != objects.len() {
            count(Some(Failed::PartialResponse));
            return Err(format!(
                "conversion webhook for {} returned {} objects, expected {}",
                describe(&kind),
                converted.len(),
                objects.len()
            ));
        }
        let single = objects.len() == 1;
        let mut out = Vec::with_capacity(objects.len());
        for (index, (original, converted)) in objects.iter().zip(converted).enumerate() {
            let accepted = accept(original, converted, to).map_err(|mistake| {
                count(Some(Failed::InvalidObject));
                mistake.tell(&kind, single, index)
            });
            out.push(accepted?);
        }
        count(None);
        Ok(out)
    }
}

/// `example.com/v1, Kind=Widget`.
fn describe(kind: &GroupVersionKind) -> String {
    format!("{}, Kind={}", kind.group_version(), kind.kind)
}

/// The objects in an answer that is one.
fn read_answer(answer: &Value, version: &str, uid: &str) -> Result<Vec<Value>, String> {
    let found = answer.gvk();
    let expected = GroupVersionKind::new("apiextensions.k8s.io", version.to_owned(), "ConversionReview");
    // The beta never looked at what it was given.
    let strict = version == "v1";
    if strict && found != expected {
        return Err(format!("expected webhook response of {}, got {}", describe(&expected), describe(&found)));
    }
    let response = answer.field("response").ok_or("no response provided")?;
    if strict && response.text("uid") != uid {
        return Err(format!("expected response.uid={uid:?}, got {:?}", response.text("uid")));
    }
    let result = response.field("result");
    if result.text("status") != "Success" {
        return Err(match result.text("message") {
            "" => format!("response.result.status was '{}', not 'Success'", result.text("status")),
            message => message.to_owned(),
        });
    }
    Ok(response.list("convertedObjects").to_vec())
}

/// What is wrong with an object that came back.
#[derive(Debug, PartialEq)]
enum Mistake {
    Type(String),
    Identity(String),
    Metadata(String),
}

impl Mistake {
    /// Upstream words the same mistake differently for one object and for many.
    fn tell(self, kind: &GroupVersionKind, single: bool, index: usize) -> String {
        let hook = format!("conversion webhook for {} returned invalid", describe(kind));
        match (self, single) {
            (Self::Type(why), true) => format!("{hook} object at index 0: {why}"),
            (Self::Identity(why), true) => format!("{hook} object: {why}"),
            (Self::Metadata(why), true) => format!("{hook} metadata: {why}"),
            (Self::Type(why) | Self::Identity(why), false) => {
                format!("{hook} converted object at index {index}: {why}")
            }
            (Self::Metadata(why), false) => format!("{hook} metadata in object at index {index}: {why}"),
        }
    }
}

/// A converted object, of which only the content, labels and annotations are taken.
fn accept(original: &Value, mut converted: Value, to: &GroupVersion) -> Result<Value, Mistake> {
    let (before, after) = (original.gvk(), converted.gvk());
    if after.group_version() != *to {
        let got = after.group_version();
        return Err(Mistake::Type(format!("invalid groupVersion (expected {to}, received {got})")));
    }
    if after.kind != before.kind {
        return Err(Mistake::Type(format!("invalid kind (expected {}, received {})", before.kind, after.kind)));
    }
    for (what, key) in [("name", "name"), ("namespace", "namespace"), ("UID", "uid")] {
        let (expected, got) = (original.meta_str(key), converted.meta_str(key));
        if expected != got {
            return Err(Mistake::Identity(format!("must have the same {what}: {expected} != {got}")));
        }
    }
    let metadata = restore_metadata(original, &converted).map_err(Mistake::Metadata)?;
    ensure_object(&mut converted).insert("metadata".into(), Value::Object(metadata));
    Ok(converted)
}

/// The original's metadata with the labels and annotations that came back.
fn restore_metadata(original: &Value, converted: &Value) -> Result<Map<String, Value>, String> {
    let returned = match converted.get("metadata") {
        Some(Value::Object(returned)) => returned,
        Some(other) => return Err(format!("invalid metadata of type {} in converted object", type_name(other))),
        None => return Err("missing metadata in converted object".to_owned()),
    };
    let mut metadata = original.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    for key in ["labels", "annotations"] {
        let pairs = match returned.get(key) {
            None | Some(Value::Null) => {
                metadata.remove(key);
                continue;
            }
            Some(Value::Object(pairs)) => pairs,
            Some(other) => {
                return Err(format!("invalid metadata.{key} of type {} in converted object", type_name(other)));
            }
        };
        if let Some((name, value)) = pairs.iter().find(|(_, value)| !value.is_string()) {
            let found = type_name(value);
            return Err(format!("metadata.{key}[{name}] must be a string, but is {found} in converted object"));
        }
        if metadata.get(key).and_then(Value::as_object) != Some(pairs) {
            let mut errors = ErrorList::new();
            if key == "labels" {
                validate_labels(&mut errors, pairs, &Path::new("metadata").child("labels"));
            } else {
                validate_annotations(&mut errors, pairs, &Path::new("metadata").child("annotation"));
            }
            match errors.as_slice() {
                [] => {}
                [one] => return Err(one.to_string()),
                many => {
                    let texts: Vec<String> = many.iter().map(ToString::to_string).collect();
                    return Err(format!("[{}]", texts.join(", ")));
                }
            }
        }
        metadata.insert(key.to_owned(), Value::Object(pairs.clone()));
    }
    Ok(metadata)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(version: &str, metadata: Value) -> Value {
        json!({"apiVersion": format!("example.com/{version}"), "kind": "Widget", "metadata": metadata, "x": 1})
    }

    fn check(metadata: Value) -> Result<Value, Mistake> {
        let original = object("v1", json!({"name": "a", "uid": "1", "labels": {"a": "b"}, "generation": 3}));
        accept(&original, object("v2", metadata), &GroupVersion::new("example.com", "v2"))
    }

    #[test]
    fn only_labels_and_annotations_come_back() {
        let got =
            check(json!({"name": "a", "uid": "1", "annotations": {"x": "y"}, "generation": 9, "finalizers": ["z"]}));
        let got = got.expect("accepted");
        assert_eq!(got["metadata"], json!({"name": "a", "uid": "1", "annotations": {"x": "y"}, "generation": 3}));
    }

    #[test]
    fn an_object_stays_who_it_is() {
        let kind = GroupVersionKind::new("example.com", "v1", "Widget");
        let text = |mistake: Mistake| mistake.tell(&kind, true, 0);
        assert_eq!(
            check(json!({"name": "b", "uid": "1"})).map_err(text),
            Err("conversion webhook for example.com/v1, Kind=Widget returned invalid object: must have the same name: a != b".into())
        );
        let mistake = check(json!({"name": "a", "uid": "1", "labels": {"a": 1}})).expect_err("no string");
        assert_eq!(
            mistake,
            Mistake::Metadata("metadata.labels[a] must be a string, but is int64 in converted object".into())
        );
        assert!(matches!(check(json!({"name": "a", "uid": "1", "labels": {"-": "x"}})), Err(Mistake::Metadata(_))));
    }

    #[test]
    fn answers_are_held_against_their_question() {
        let answer = |response: Value| json!({"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "response": response});
        let success = json!({"uid": "u", "result": {"status": "Success"}, "convertedObjects": [{}]});
        assert_eq!(read_answer(&answer(success.clone()), "v1", "u").map(|objects| objects.len()), Ok(1));
        assert_eq!(read_answer(&answer(success), "v1", "w"), Err("expected response.uid=\"w\", got \"u\"".to_owned()));
        let failure = json!({"uid": "u", "result": {"status": "Failure", "message": "no"}});
        assert_eq!(read_answer(&answer(failure), "v1", "u"), Err("no".to_owned()));
        assert_eq!(
            read_answer(&answer(json!({"uid": "u"})), "v1", "u"),
            Err("response.result.status was '', not 'Success'".to_owned())
        );
        assert_eq!(read_answer(&answer(Value::Null), "v1", "u"), Err("no response provided".to_owned()));
    }
}
