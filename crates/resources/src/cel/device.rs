//! The expressions that select devices (dynamic-resource-allocation/cel/compile.go):
//! what they may say about a device, and whether they compile. Called by the kinds of
//! `resource.k8s.io`.

use super::{compile_detail, type_name};
use ferry_cel::{Environment, Library, Program, StructType, Type};
use std::collections::BTreeMap;
use std::sync::LazyLock;

static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| {
    let by_domain = |value: Type| Type::map(Type::String, Type::map(Type::String, value));
    let fields = BTreeMap::from([
        ("driver".to_owned(), Type::String),
        ("allowMultipleAllocations".to_owned(), Type::Bool),
        ("attributes".to_owned(), by_domain(Type::Dyn)),
        ("capacity".to_owned(), by_domain(Type::object("kubernetes.Quantity"))),
    ]);
    let device = Type::Struct(StructType::new("kubernetes.DRADevice", fields));
    Environment::kubernetes().with_library(Library::Bind).with_variable("device", device)
});

/// The program, or the detail of the error that says why there is none. An attribute may
/// be the whole expression, and its type is known only when a device is there.
pub fn compile(expression: &str) -> Result<Program, String> {
    let program = ENVIRONMENT.compile(expression).map_err(|errors| compile_detail(&errors))?;
    match program.result_type() {
        Type::Bool | Type::Dyn => Ok(program),
        other => Err(format!("must evaluate to bool or the unknown type, not {}", type_name(other))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_selected_by_what_they_have() {
        for good in [
            "device.driver == 'dra.example.com'",
            "device.attributes['dra.example.com'].healthy",
            "cel.bind(dra, device.attributes['dra.example.com'], dra.a && dra.b)",
            "device.capacity['dra.example.com'].memory.isGreaterThan(quantity('1Gi'))",
            "device.allowMultipleAllocations",
        ] {
            assert!(compile(good).is_ok(), "{good}: {:?}", compile(good).err());
        }
        assert_eq!(compile("device.driver").unwrap_err(), "must evaluate to bool or the unknown type, not string");
        let error = compile("device.nope").unwrap_err();
        assert!(error.starts_with("compilation failed: ERROR: <input>:1:7: undefined field 'nope'"), "{error}");
    }
}
