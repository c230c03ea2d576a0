//! The values of an enumeration that the facts declare, for the rules that accept them only
//! under a condition; the walker of the marks judges the others.

use super::equality::type_of;
use std::ops::Deref;
use std::sync::OnceLock;

/// The values that the facts declare for a field, in the order in which errors list them.
pub(crate) struct DeclaredValues {
    package: &'static str,
    type_name: &'static str,
    field: &'static str,
    list: OnceLock<Vec<&'static str>>,
}

impl DeclaredValues {
    pub(crate) const fn of(package: &'static str, type_name: &'static str, field: &'static str) -> Self {
        Self { package, type_name, field, list: OnceLock::new() }
    }
}

impl Deref for DeclaredValues {
    type Target = [&'static str];

    fn deref(&self) -> &Self::Target {
        self.list.get_or_init(|| {
            let field = type_of(self.package, self.type_name).and_then(|definition| definition.field(self.field));
            let values = field.and_then(|field| field.enum_values.as_deref()).unwrap_or_default();
            values.iter().map(|value| &**value).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_a_field_are_those_of_its_enumeration() {
        static PULL_POLICIES: DeclaredValues = DeclaredValues::of("core/v1", "Container", "imagePullPolicy");
        static NOTHING: DeclaredValues = DeclaredValues::of("core/v1", "Container", "image");
        assert_eq!(*PULL_POLICIES, ["Always", "IfNotPresent", "Never"]);
        assert!(NOTHING.is_empty());
    }
}
