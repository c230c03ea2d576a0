//! Reads the facts files into a [`Table`].

use super::{Table, TypeDef};
use crate::gvk::GroupVersionKind;
use std::sync::{Arc, LazyLock};

static BUILTIN: LazyLock<Table> = LazyLock::new(Table::default);

/// The table of every builtin type.
pub fn builtin() -> &'static Table {
    &BUILTIN
}

/// The type of a builtin kind.
pub fn of_kind(kind: &GroupVersionKind) -> Option<&'static Arc<TypeDef>> {
    builtin().get(&super::package_of(kind), &kind.kind)
}
