//! Strict decoding: unknown and duplicate fields are mistakes, with upstream's sentences
//! (pkg/kubelet/kubeletconfig/util/codec).

use crate::ConfigurationError;
use ferry_api::codec::{decode_as, yaml};
use ferry_api::schema::{TypeDef, parse};
use serde_json::Value;
use std::sync::Arc;

const FACTS: &str = include_str!("../facts/kubelet.config.v1beta1.facts");
const PACKAGE: &str = "kubelet.config/v1beta1";
const API_VERSION: &str = "kubelet.config.k8s.io/v1beta1";
const KIND: &str = "KubeletConfiguration";
/// No honest file is larger.
const MAX_BYTES: usize = 1 << 20;

/// The type of the file. It is made for one reading and not kept.
pub fn definition() -> Arc<TypeDef> {
    let table = parse(&[(PACKAGE, FACTS)]).expect("the facts are tested to parse");
    table.get(PACKAGE, KIND).expect("the facts have the type").clone()
}

/// The fields as the file has them.
pub fn read(text: &str, definition: &TypeDef) -> Result<Value, ConfigurationError> {
    let syntax = |error: &dyn std::fmt::Display| ConfigurationError::Syntax(error.to_string());
    let duplicate = yaml::duplicate_key(text.as_bytes());
    let json = yaml::to_json(text.as_bytes(), MAX_BYTES).map_err(|error| syntax(&error))?;
    let named: Value = serde_json::from_str(&json).map_err(|error| syntax(&error))?;
    let name = |field: &str| named.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    if (name("apiVersion").as_str(), name("kind").as_str()) != (API_VERSION, KIND) {
        return Err(ConfigurationError::Kind { kind: name("kind"), version: name("apiVersion") });
    }
    let decoded = decode_as(json.as_bytes(), definition).map_err(|error| syntax(&error))?;
    let violations: Vec<String> = duplicate.into_iter().chain(decoded.violations).collect();
    if !violations.is_empty() {
        return Err(ConfigurationError::Strict(violations));
    }
    Ok(decoded.value)
}

/// The fields of a file that sets none.
pub fn empty(definition: &TypeDef) -> Value {
    decode_as(b"{}", definition).map(|decoded| decoded.value).unwrap_or_default()
}
