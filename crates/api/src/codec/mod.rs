//! Bytes to objects and back. The API server decodes every request body here, strictly
//! and in one pass; what comes out is what upstream's decode into a Go struct and encode
//! again would give, so that nothing downstream meets an unknown field, a wrong type or
//! a value in a form of its own.

mod decode;
mod go_type;
mod json;
pub mod metadata;
mod normalize;
pub mod time;
pub mod yaml;

pub use decode::{DecodeError, Decoded, decode, decode_any, decode_as, decode_value};
pub(crate) use normalize::zero;
pub use normalize::{normalize, zero_struct};
