//! Where a custom resource keeps what its `scale` subresource shows.

use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::ensure_object;
use serde_json::{Map, Value};

/// The paths of `subresources.scale`, each both as written (for messages) and as steps.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalePaths {
    pub spec_replicas: ScalePath,
    pub status_replicas: ScalePath,
    pub label_selector: Option<ScalePath>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScalePath {
    pub text: String,
    pub steps: Vec<String>,
}

impl ScalePath {
    fn new(text: &str) -> Self {
        let steps = text.trim_start_matches('.').split('.').map(str::to_owned).collect();
        Self { text: text.to_owned(), steps }
    }

    fn find<'a>(&self, object: &'a Value) -> Option<&'a Value> {
        let mut here = object;
        for step in &self.steps {
            here = here.get(step)?;
        }
        Some(here)
    }

    /// The number there; an error for anything else, in the words of apimachinery.
    pub fn number(&self, object: &Value) -> Result<Option<i64>, String> {
        match self.find(object) {
            None => Ok(None),
            Some(value) => value.as_i64().map(Some).ok_or_else(|| self.wrong_type(value, "int64")),
        }
    }

    pub fn string<'a>(&self, object: &'a Value) -> Result<&'a str, String> {
        match self.find(object) {
            None => Ok(""),
            Some(value) => value.as_str().ok_or_else(|| self.wrong_type(value, "string")),
        }
    }

    fn wrong_type(&self, value: &Value, expected: &str) -> String {
        let (shown, found) = match value {
            Value::Null => ("<nil>".to_owned(), "<nil>"),
            Value::Bool(flag) => (flag.to_string(), "bool"),
            Value::Number(number) => (number.to_string(), "float64"),
            Value::String(text) => (text.clone(), "string"),
            Value::Array(_) => (value.to_string(), "[]interface {}"),
            Value::Object(_) => (value.to_string(), "map[string]interface {}"),
        };
        format!(".{} accessor error: {shown} is of the type {found}, expected {expected}", self.steps.join("."))
    }

    /// Puts a number there, with the objects on the way.
    pub fn set(&self, object: &mut Value, number: i64) {
        let Some((last, parents)) = self.steps.split_last() else { return };
        let mut here = object;
        for step in parents {
            here = ensure_object(here).entry(step.as_str()).or_insert_with(|| Value::Object(Map::new()));
        }
        ensure_object(here).insert(last.clone(), number.into());
    }
}

impl ScalePaths {
    pub fn of(scale: &Value) -> Self {
        Self {
            spec_replicas: ScalePath::new(scale.text("specReplicasPath")),
            status_replicas: ScalePath::new(scale.text("statusReplicasPath")),
            label_selector: scale.opt_text("labelSelectorPath").map(ScalePath::new),
        }
    }

    pub(super) fn validate_spec(&self, object: &Value, errors: &mut ErrorList) {
        validate_replicas(&self.spec_replicas, object, errors);
    }

    pub(super) fn validate_status(&self, object: &Value, errors: &mut ErrorList) {
        validate_replicas(&self.status_replicas, object, errors);
        if let Some(selector) = &self.label_selector
            && let Err(why) = selector.string(object)
        {
            errors.push(Error::invalid(&Path::new(&selector.text), "", why));
        }
    }
}

fn validate_replicas(at: &ScalePath, object: &Value, errors: &mut ErrorList) {
    let path = Path::new(&at.text);
    match at.number(object) {
        Err(why) => errors.push(Error::invalid(&path, 0, why)),
        Ok(Some(replicas)) if replicas < 0 => {
            errors.push(Error::invalid(&path, replicas, "should be a non-negative integer"));
        }
        Ok(Some(replicas)) if replicas > i64::from(i32::MAX) => {
            let detail = format!("should be less than or equal to {}", i32::MAX);
            errors.push(Error::invalid(&path, replicas, detail));
        }
        Ok(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::texts;
    use serde_json::json;

    #[test]
    fn replicas_are_found_set_and_checked() {
        let paths = ScalePaths::of(&json!({"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}));
        let mut object = json!({"spec": {"size": 3}});
        assert_eq!(paths.spec_replicas.number(&object), Ok(Some(3)));
        assert_eq!(paths.status_replicas.number(&object), Ok(None));
        paths.status_replicas.set(&mut object, -1);
        let mut errors = ErrorList::new();
        paths.validate_spec(&object, &mut errors);
        paths.validate_status(&object, &mut errors);
        assert_eq!(texts(&errors), [".status.size: Invalid value: -1: should be a non-negative integer"]);
        let wrong = paths.spec_replicas.number(&json!({"spec": {"size": "three"}}));
        assert_eq!(wrong, Err(".spec.size accessor error: three is of the type string, expected int64".to_owned()));
    }
}
