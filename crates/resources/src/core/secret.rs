//! Secret: the strategy of configuration that is not for everyone's eyes.

use super::config_map::{MAX_DATA_BYTES, decoded, decoded_length, validate_immutable};
use crate::read::{Read, keep, remove};
use crate::validation::each;
use crate::{Context, Strategy, names};
use base64::Engine;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::{Meta, ensure_object};
use serde_json::Value;

pub(crate) struct Secret;

const SERVICE_ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
const TLS: &str = "kubernetes.io/tls";

impl Strategy for Secret {
    fn default(&self, secret: &mut Value) {
        write_string_data(secret);
    }

    fn validate(&self, secret: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let path = Path::new("data");
        let data = secret.entries("data");
        let mut size = 0;
        for (key, value) in data {
            each(&mut errors, &path.key(key), key, names::is_config_map_key(key));
            size += decoded_length(value);
        }
        if size > MAX_DATA_BYTES {
            errors.push(Error::too_long(&path, MAX_DATA_BYTES));
        }
        let mut require = |key: &str| errors.push(Error::required(&path.key(key), ""));
        match secret.text("type") {
            "kubernetes.io/service-account-token"
                if secret.annotation(SERVICE_ACCOUNT_NAME).unwrap_or_default().is_empty() =>
            {
                let path = Path::new("metadata").child("annotations").key(SERVICE_ACCOUNT_NAME);
                errors.push(Error::required(&path, ""));
            }
            "kubernetes.io/dockercfg" => validate_docker_config(&mut errors, data.get(".dockercfg"), ".dockercfg"),
            "kubernetes.io/dockerconfigjson" => {
                validate_docker_config(&mut errors, data.get(".dockerconfigjson"), ".dockerconfigjson");
            }
            "kubernetes.io/basic-auth" if !data.contains_key("username") && !data.contains_key("password") => {
                require("username");
                require("password");
            }
            "kubernetes.io/ssh-auth" if data.get("ssh-privatekey").is_none_or(|key| decoded_length(key) == 0) => {
                require("ssh-privatekey");
            }
            TLS => {
                for key in ["tls.crt", "tls.key"] {
                    if !data.contains_key(key) {
                        require(key);
                    }
                }
            }
            _ => {}
        }
        errors
    }

    fn prepare_for_update(&self, _context: &Context, new: &mut Value, old: &Value) {
        // A client from before types existed does not send one.
        if new.text("type").is_empty() {
            keep(new, old, "type");
        }
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = validate_immutable(new, old, &["data"]);
        errors.extend(self.validate(new));
        errors
    }

    fn warnings(&self, secret: &Value, _old: Option<&Value>) -> Vec<String> {
        if secret.text("type") != TLS {
            return Vec::new();
        }
        let data = secret.entries("data");
        let part = |key: &str| data.get(key).map(decoded).unwrap_or_default();
        tls_mistake(&part("tls.crt"), &part("tls.key")).into_iter().collect()
    }
}

/// `stringData` is for writing only: it goes into `data` and is never read back.
fn write_string_data(secret: &mut Value) {
    let texts = secret.entries("stringData").clone();
    remove(secret, "stringData");
    if texts.is_empty() {
        return;
    }
    let data = ensure_object(ensure_object(secret).entry("data").or_insert(Value::Null));
    for (key, text) in texts {
        let encoded = base64::engine::general_purpose::STANDARD.encode(text.as_str().unwrap_or_default());
        data.insert(key, encoded.into());
    }
}

fn validate_docker_config(errors: &mut ErrorList, value: Option<&Value>, key: &str) {
    let path = Path::new("data").key(key);
    match value.map(decoded) {
        None => errors.push(Error::required(&path, "")),
        Some(bytes) => {
            if let Err(problem) = serde_json::from_slice::<serde_json::Map<String, Value>>(&bytes) {
                errors.push(Error::invalid(&path, "<secret contents redacted>", problem.to_string()));
            }
        }
    }
}

/// What Go's tls.X509KeyPair says of parts that are no PEM; upstream warns and takes them.
fn tls_mistake(certificate: &[u8], key: &[u8]) -> Option<String> {
    let has_block = |bytes: &[u8], kind: &str| {
        x509_parser::pem::Pem::iter_from_buffer(bytes).flatten().any(|block| block.label.ends_with(kind))
    };
    if !has_block(certificate, "CERTIFICATE") {
        Some("tls: failed to find any PEM data in certificate input".to_owned())
    } else if !has_block(key, "PRIVATE KEY") {
        Some("tls: failed to find any PEM data in key input".to_owned())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, check_update};
    use serde_json::json;

    #[test]
    fn text_becomes_data() {
        let mut secret = json!({"stringData": {"a": "b"}, "data": {"c": "ZA=="}});
        crate::testing::default(&Secret, &mut secret);
        assert_eq!(secret, json!({"type": "Opaque", "data": {"a": "Yg==", "c": "ZA=="}}));
    }

    #[test]
    fn types_ask_for_their_keys() {
        check(&Secret, json!({"type": "Opaque"}), &[]);
        check(
            &Secret,
            json!({"type": "kubernetes.io/tls"}),
            &["data[tls.crt]: Required value", "data[tls.key]: Required value"],
        );
        check(
            &Secret,
            json!({"type": "kubernetes.io/service-account-token"}),
            &["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
        );
        check(&Secret, json!({"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "e30="}}), &[]);
    }

    #[test]
    fn the_type_does_not_change() {
        check_update(
            &Secret,
            json!({"type": "Opaque"}),
            json!({"type": "a/b"}),
            &["type: Invalid value: \"a/b\": field is immutable"],
        );
    }
}
