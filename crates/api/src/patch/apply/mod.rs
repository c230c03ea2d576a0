//! Who owns which field: server-side apply, and the `metadata.managedFields` that every
//! write leaves behind.
//!
//! [`update()`] follows each create, replace and patch; [`apply()`] merges an applied
//! configuration and names the conflicts. The rules are those of upstream's
//! structured-merge-diff and apimachinery/pkg/util/managedfields.
//!
//! ```text
//! element   one step of a path        place      what the schema says at a place
//! set       a set of fields           ownership  the entries of managedFields
//! extract   fields of a config        compare    fields that a write changed
//! merge     config over live          overlay    a config that owns nothing
//! update, configuration   the two entrances
//! ```

mod compare;
mod configuration;
mod conflict;
mod element;
mod extract;
mod last_applied;
mod merge;
mod overlay;
mod ownership;
mod place;
mod scale;
mod set;
mod update;

#[cfg(test)]
mod tests;

pub use compare::Comparison;
pub use configuration::{ApplyOptions, apply};
pub use conflict::{Conflict, Conflicts};
pub use element::PathElement;
pub(in crate::patch) use element::equal;
pub use overlay::lay_over;
pub use ownership::{Operation, validate as validate_managed_fields};
pub use scale::{from_scale, to_scale};
pub use set::{Path, Set};
pub use update::{WriteOptions, keep_times_of_unchanged, update};
