//! Whether the expressions that select devices compile (dynamic-resource-allocation/cel/compile.go).
//! Called by the kinds of `resource.k8s.io`; `ferry_cel::device` declares the variable.

use super::{compile_detail, type_name};
use ferry_cel::{Program, Type, device};

/// The program, or the detail of the error that says why there is none. An attribute may
/// be the whole expression, and its type is known only when a device is there.
pub fn compile(expression: &str) -> Result<Program, String> {
    let program = device::environment().compile(expression).map_err(|errors| compile_detail(&errors))?;
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
