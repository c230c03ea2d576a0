//! The pod spec, which Pod and every kind with a pod template share: its defaults, its
//! rules and its warnings, split by what they are about.
//!
//! Paths in errors begin where the caller says (`spec`, `spec.template.spec`), so one
//! set of rules serves them all.

pub(crate) mod container;
pub(crate) mod defaults;
pub(crate) mod env;
pub(crate) mod image;
pub(crate) mod naming;
pub(crate) mod probe;
pub(crate) mod projected;
pub mod scheduling;
pub(crate) mod security;
pub(crate) mod template;
pub(crate) mod update;
pub(crate) mod validate;
pub(crate) mod volume;
pub(crate) mod warnings;

use crate::read::Read;
use ferry_api::field::Path;
use serde_json::Value;

/// The three lists of containers, in the order in which upstream visits them.
pub const CONTAINER_LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Every container with its path, whichever list it stands in.
pub fn containers<'a>(spec: &'a Value, path: &'a Path) -> impl Iterator<Item = (&'a Value, Path)> {
    CONTAINER_LISTS.into_iter().flat_map(move |list| {
        let path = path.child(list);
        spec.list(list).iter().enumerate().map(move |(index, container)| (container, path.index(index)))
    })
}
