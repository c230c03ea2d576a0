//! Which libraries there are, and which of them are on. The base environment is that of
//! upstream's apiserver/pkg/cel/environment/base.go at compatibility version 1.36.

use super::*;

/// Libraries beyond those that every environment has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// `jsonpatch.escapeKey`, for mutating policies.
    JsonPatch,
    /// `cel.bind`, which Kubernetes leaves out.
    Bind,
}

pub(crate) fn base() -> Declarations {
    let mut declarations = Declarations::default();
    let libraries: [fn(&mut Declarations); 20] = [
        operators::declare,
        standard::declare,
        timestamps::declare,
        optional::declare,
        strings::declare,
        string_format::declare,
        lists::declare,
        lists_ext::declare,
        two_variables::declare,
        sets::declare,
        regex::declare,
        url::declare,
        ip::declare,
        cidr::declare,
        quantity::declare,
        semver::declare,
        format::declare,
        authorizer::declare,
        authorizer::declare_selectors,
        standard::declare_types,
    ];
    for declare in libraries {
        declare(&mut declarations);
    }
    declarations
}

pub(crate) fn extend(declarations: &mut Declarations, library: Library) {
    match library {
        Library::JsonPatch => jsonpatch::declare(declarations),
        // A macro only; it declares no function.
        Library::Bind => {}
    }
}
