//! Where in an object something is wrong, and what: paths and field errors with
//! upstream's wording (apimachinery/pkg/util/validation/field).

use serde_json::Value;
use std::fmt;

/// A path such as `spec.containers[0].env[name=A]`, built outside in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(String);

impl Path {
    pub fn root() -> Self {
        Self::default()
    }

    pub fn new(name: &str) -> Self {
        Self(name.to_owned())
    }

    pub fn child(&self, name: &str) -> Self {
        if self.0.is_empty() { Self(name.to_owned()) } else { Self([self.0.as_str(), ".", name].concat()) }
    }

    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    pub fn key(&self, key: &str) -> Self {
        Self([self.0.as_str(), "[", key, "]"].concat())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The kind of mistake; each has a fixed sentence and a fixed cause reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorType {
    NotFound,
    Required,
    Duplicate,
    Invalid,
    NotSupported,
    Forbidden,
    TooLong,
    TooMany,
    Internal,
    TypeInvalid,
}

impl ErrorType {
    /// The `reason` of a cause in a Status.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NotFound => "FieldValueNotFound",
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::Internal => "InternalError",
            Self::TypeInvalid => "FieldValueTypeInvalid",
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::Internal => "Internal error",
        }
    }
}

/// One mistake at one path.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    pub kind: ErrorType,
    pub field: String,
    /// What was found there, as it is quoted in the text; `None` where upstream shows none.
    pub value: Option<Value>,
    pub detail: String,
}

pub type ErrorList = Vec<Error>;

impl Error {
    pub fn required(path: &Path, detail: impl Into<String>) -> Self {
        Self::make(ErrorType::Required, path, None, detail)
    }

    pub fn invalid(path: &Path, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::make(ErrorType::Invalid, path, Some(value.into()), detail)
    }

    pub fn type_invalid(path: &Path, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::make(ErrorType::TypeInvalid, path, Some(value.into()), detail)
    }

    pub fn duplicate(path: &Path, value: impl Into<Value>) -> Self {
        Self::make(ErrorType::Duplicate, path, Some(value.into()), "")
    }

    pub fn not_found(path: &Path, value: impl Into<Value>) -> Self {
        Self::make(ErrorType::NotFound, path, Some(value.into()), "")
    }

    pub fn forbidden(path: &Path, detail: impl Into<String>) -> Self {
        Self::make(ErrorType::Forbidden, path, None, detail)
    }

    /// The supported values are listed in the order given; callers sort where upstream does.
    pub fn not_supported(path: &Path, value: impl Into<Value>, supported: &[&str]) -> Self {
        let detail = if supported.is_empty() {
            String::new()
        } else {
            let quoted: Vec<String> = supported.iter().map(|s| format!("{s:?}")).collect();
            format!("supported values: {}", quoted.join(", "))
        };
        Self::make(ErrorType::NotSupported, path, Some(value.into()), detail)
    }

    pub fn too_long(path: &Path, max_bytes: usize) -> Self {
        Self::make(ErrorType::TooLong, path, None, format!("may not be more than {max_bytes} bytes"))
    }

    pub fn too_many(path: &Path, actual: usize, max: usize) -> Self {
        Self::make(ErrorType::TooMany, path, Some(Value::from(actual)), format!("must have at most {max} items"))
    }

    pub fn internal(path: &Path, detail: impl Into<String>) -> Self {
        Self::make(ErrorType::Internal, path, None, detail)
    }

    fn make(kind: ErrorType, path: &Path, value: Option<Value>, detail: impl Into<String>) -> Self {
        Self { kind, field: path.as_str().to_owned(), value, detail: detail.into() }
    }

    /// The field as texts name it: what is wrong with an object as a whole is at `<nil>`.
    pub fn field(&self) -> &str {
        if self.field.is_empty() { "<nil>" } else { &self.field }
    }

    /// The text without the field, as a cause's message carries it.
    pub fn body(&self) -> String {
        let mut out = self.kind.sentence().to_owned();
        if let Some(value) = &self.value {
            out.push_str(": ");
            out.push_str(&match value {
                Value::String(text) => format!("{text:?}"),
                other => other.to_string(),
            });
        }
        if !self.detail.is_empty() {
            out.push_str(": ");
            out.push_str(&self.detail);
        }
        out
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field(), self.body())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_as_upstream_writes_them() {
        let path = Path::new("spec").child("containers").index(0).child("name");
        assert_eq!(Error::required(&path, "").to_string(), "spec.containers[0].name: Required value");
        assert_eq!(
            Error::invalid(&path, "A", "must be lower case").to_string(),
            "spec.containers[0].name: Invalid value: \"A\": must be lower case"
        );
        assert_eq!(
            Error::not_supported(&Path::new("type"), "X", &["A", "B"]).to_string(),
            "type: Unsupported value: \"X\": supported values: \"A\", \"B\""
        );
    }
}
