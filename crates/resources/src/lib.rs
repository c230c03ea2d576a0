//! What each builtin kind is: one [`Row`] and one small [`Strategy`] a kind.
//!
//! Routes, discovery, OpenAPI, storage keys, Table columns, RBAC names, garbage
//! collection and namespace deletion all iterate the rows. A custom resource builds
//! the same row at run time, so nothing above this crate knows the difference.
//!
//! To add a kind: write `<group>/<kind>.rs` and add its name to `all.rs`.

pub mod all;
pub mod names;
pub mod print;
pub mod row;
pub mod strategy;

pub use all::all;
pub use row::{Column, Row, Scope, Subresource};
pub use strategy::{Context, Strategy};
