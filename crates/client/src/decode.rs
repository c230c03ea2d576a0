//! JSON of the API server to a caller's own struct (discovery documents, lists of problems),
//! as forgiving as upstream's Go types are: `null` is the zero value of any field. Objects
//! are not decoded at all; they are read through views.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Decodes one document as it stands, and only if that fails without its nulls. The error is
/// that of the document as it came.
pub fn decode<T: DeserializeOwned>(document: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(document).or_else(|error| {
        let Ok(mut value) = serde_json::from_slice::<Value>(document) else { return Err(error) };
        remove_nulls(&mut value);
        T::deserialize(&value).map_err(|_| error)
    })
}

/// An absent field is what all types agree on.
fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(remove_nulls);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize, PartialEq)]
    #[serde(default)]
    struct Listed {
        kind: String,
        verbs: Vec<String>,
    }

    impl Default for Listed {
        fn default() -> Self {
            Self { kind: "none".into(), verbs: Vec::new() }
        }
    }

    #[test]
    fn nulls_are_absent_wherever_they_stand() {
        let listed: Listed = decode(br#"{"kind":null,"verbs":[null,"get"]}"#).expect("a list");
        assert_eq!(listed, Listed { kind: "none".into(), verbs: vec!["get".into()] });
    }

    #[test]
    fn a_document_of_another_type_fails() {
        for document in [r#"{"verbs":"none"}"#, r#"{"verbs":7}"#, "{", "7"] {
            assert!(decode::<Listed>(document.as_bytes()).is_err(), "{document}");
        }
    }
}
