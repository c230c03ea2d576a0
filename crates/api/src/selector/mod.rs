//! Label and field selectors: reading them from query strings and objects, matching, and
//! writing them back. The API server filters lists and watches with them; controllers,
//! services and the scheduler match pods with them.

mod field;
mod label;
mod syntax;

pub use field::{FieldRequirement, FieldSelector};
pub use label::{Operator, Requirement, Selector};
pub use syntax::{label_key_errors, label_value_errors};

/// A selector that cannot be read; the text is upstream's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectorError(pub(crate) String);
