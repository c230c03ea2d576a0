//! What each builtin kind is: one [`Row`] and one small [`Strategy`] a kind.
//!
//! Routes, discovery, OpenAPI, storage keys, Table columns, RBAC names, garbage
//! collection and namespace deletion all iterate the rows. A custom resource builds
//! the same row at run time, so nothing above this crate knows the difference.
//!
//! To add a kind: write `<group>/<kind>.rs` and add its name to `all.rs`. What the
//! tables of facts say about it (names, verbs, columns, schema) comes by itself.

#![warn(unreachable_pub)]

mod admissionregistration;
pub mod all;
pub mod apiextensions;
mod apiregistration;
mod apps;
mod autoscaling;
mod batch;
pub mod cel;
mod cell;
pub mod certificates;
mod coordination;
mod core;
pub mod custom_resource;
mod discovery;
mod dra;
mod events;
mod facts_row;
pub mod flowcontrol;
mod judgement;
pub mod lifecycle;
mod metrics;
pub mod names;
mod networking;
mod node;
pub mod pod_spec;
mod policy;
mod print;
mod rbac;
pub mod read;
pub mod reset;
mod review;
pub mod row;
mod scheduling;
mod storage;
mod storagemigration;
pub mod strategy;
pub mod structural;
#[cfg(test)]
mod testing;
pub mod validation;

pub use all::all;
pub use row::{Column, Row, Scope, Subresource, WriteRules};
pub use strategy::{Context, Propagation, Strategy};
pub use validation::{validate_metadata, validate_metadata_update};
