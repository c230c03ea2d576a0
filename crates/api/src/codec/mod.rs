//! Bytes to objects and back. The API server decodes every request body here, strictly
//! and in one pass; what comes out is what upstream's decode into a Go struct and encode
//! again would give, so that nothing downstream meets an unknown field, a wrong type or
//! a value in a form of its own.

mod decode;
mod go_type;
pub(crate) mod json;
pub mod metadata;
mod normalize;
pub mod protobuf;
pub mod time;
pub mod yaml;

use crate::gvk::GroupVersionKind;
use crate::schema::TypeDef;

pub use decode::{DecodeError, Decoded, decode, decode_any, decode_as, decode_value};
pub(crate) use normalize::zero;
pub use normalize::{normalize, zero_struct};

/// The encodings of objects on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Media {
    Json,
    Yaml,
    Protobuf,
}

impl Media {
    /// The encoding that a Content-Type names; parameters are passed over.
    pub fn of_content_type(content_type: &str) -> Option<Self> {
        let media = content_type.split(';').next().unwrap_or_default().trim();
        match media.to_ascii_lowercase().as_str() {
            "application/json" => Some(Self::Json),
            "application/yaml" => Some(Self::Yaml),
            "application/vnd.kubernetes.protobuf" => Some(Self::Protobuf),
            _ => None,
        }
    }

    pub fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
        }
    }
}

/// Decodes a request body in whichever encoding it came. `max_bytes` bounds what a YAML
/// document may expand to.
pub fn decode_body(
    media: Media,
    body: &[u8],
    definition: &TypeDef,
    expected: &GroupVersionKind,
    max_bytes: usize,
) -> Result<Decoded, DecodeError> {
    match media {
        Media::Json => decode(body, definition, expected),
        Media::Yaml => decode(yaml::to_json(body, max_bytes)?.as_bytes(), definition, expected),
        Media::Protobuf => protobuf::decode(body, definition, expected),
    }
}
