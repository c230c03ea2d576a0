//! Typed views of objects, generated from the facts: `PodView<'_>` reads a pod wherever it
//! stands, and `Pod` is one of the caller's own, to be filled in and sent.
//!
//! | | reads | is |
//! |---|---|---|
//! | `PodView<'a>` | a tree of values, or a shared [`Document`](crate::document::Document) | two words, `Copy` |
//! | `Pod` | itself, by [`Owned::view`] | a tree of values, with a setter for each field |
//!
//! ```
//! use ferry_api::view::{Owned, core::v1::{Container, Pod, PodSpec}, meta::v1::ObjectMeta};
//!
//! let mut pod = Pod::new()
//!     .with_metadata(ObjectMeta::new().with_name("web"))
//!     .with_spec(PodSpec::new().with_containers([Container::new().with_name("c").with_image("nginx")]));
//! pod.edit_spec(|spec| spec.set_node_name("a"));
//! let view = pod.view();
//! assert_eq!(view.spec().node_name(), "a");
//! assert_eq!(view.spec().containers().len(), 1);
//! assert_eq!(view.spec().priority(), None);
//! ```
//!
//! **Invariant:** a misspelt field does not compile, and reading never fails: a field that
//! is absent, null, unknown or of another type than the facts say reads as Go's zero value,
//! or as `None` where Go has a pointer.
//!
//! The files in `generated/` are written by `generate.rs` (`UPDATE_VIEWS=1 cargo test -p
//! ferry-api views`), and a test compares them with the facts. Nobody edits them.

#[cfg(test)]
mod generate;
mod owned;
mod read;
#[cfg(test)]
mod tests;

pub use owned::{Any, IntoField, Kind, Owned, Text};
pub use read::{Base64, Element, IntOrString, List, Map, View, alike};

#[rustfmt::skip]
#[allow(clippy::all, unused_imports)]
mod generated;
pub use generated::*;
