//! The expressions that select devices: the variable `device`, and whether a device matches.
//! The kinds of `resource.k8s.io` are validated with it, the scheduler allocates by it.
//!
//! Upstream: k8s.io/dynamic-resource-allocation/cel/compile.go. Attributes that are lists
//! (DRAListTypeAttributes, alpha in 1.36) are values that no expression can read.

use crate::cost::PER_CALL_LIMIT;
use crate::library::semver::Version;
use crate::{Activation, Environment, Library, Map, Opaque, OwnedMap, Program, StructType, Type, Value};
use ferry_api::view::resource::v1::{DeviceAttributeView, DeviceView};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

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

/// The environment that selectors are compiled in.
pub fn environment() -> &'static Environment {
    &ENVIRONMENT
}

/// Whether the device of a driver matches. An error aborts the scheduling of the pod: an
/// expression that fails is a mistake of the claim or of its class.
pub fn matches(program: &Program, driver: &str, device: DeviceView<'_>) -> Result<bool, String> {
    let activation = Activation::new().with("device", device_value(driver, device)?);
    let (result, _) = program.run(&activation, PER_CALL_LIMIT);
    let result = result.map_err(|error| error.to_string())?;
    result.as_bool().ok_or_else(|| {
        format!("CEL result of type {} could not be converted to bool: type conversion error", result.type_name())
    })
}

fn device_value<'v>(driver: &'v str, device: DeviceView<'v>) -> Result<Value<'v>, String> {
    let mut attributes: BTreeMap<&str, OwnedMap<'v>> = BTreeMap::new();
    for (name, attribute) in device.attributes() {
        let value = attribute_value(attribute).map_err(|error| format!("attribute {name}: {error}"))?;
        let (domain, id) = split_name(name, driver);
        attributes.entry(domain).or_default().insert(id.into(), value);
    }
    let mut capacity: BTreeMap<&str, OwnedMap<'v>> = BTreeMap::new();
    for (name, amount) in device.capacity() {
        let (domain, id) = split_name(name, driver);
        let amount = Arc::new(amount.value_().unwrap_or_default());
        capacity.entry(domain).or_default().insert(id.into(), Value::Opaque(Opaque::Quantity(amount)));
    }
    let mut out = OwnedMap::default();
    out.insert("driver".into(), driver.into());
    out.insert("allowMultipleAllocations".into(), Value::Bool(device.allow_multiple_allocations() == Some(true)));
    out.insert("attributes".into(), by_domain(attributes));
    out.insert("capacity".into(), by_domain(capacity));
    Ok(map(out))
}

/// A domain of which the device has nothing is an empty map.
fn by_domain<'v>(domains: BTreeMap<&'v str, OwnedMap<'v>>) -> Value<'v> {
    let mut out = OwnedMap::default().with_absent(map(OwnedMap::default()));
    for (domain, values) in domains {
        out.insert(domain.into(), map(values));
    }
    map(out)
}

fn map(entries: OwnedMap<'_>) -> Value<'_> {
    Value::Map(Map::Owned(Arc::new(entries)))
}

fn attribute_value(attribute: DeviceAttributeView<'_>) -> Result<Value<'_>, String> {
    if let Some(value) = attribute.int() {
        return Ok(Value::Int(value));
    }
    if let Some(value) = attribute.bool() {
        return Ok(Value::Bool(value));
    }
    if let Some(value) = attribute.string() {
        return Ok(value.into());
    }
    let Some(version) = attribute.version() else { return Err("unsupported attribute value".to_owned()) };
    let version = Version::parse(version).map_err(|error| format!("parse semantic version: {error}"))?;
    Ok(Value::Opaque(Opaque::Semver(Arc::new(version))))
}

/// The domain and the identifier of a name; without a domain it is of the driver's.
fn split_name<'a>(name: &'a str, driver: &'a str) -> (&'a str, &'a str) {
    name.split_once('/').unwrap_or((driver, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(expression: &str, expected: Result<bool, &str>) {
        let device = json!({
            "name": "gpu-0",
            "attributes": {"model": {"string": "A100"}, "healthy": {"bool": true}, "driverVersion": {"version": "1.2.3"},
                "dra.example.com/numa": {"int": 3}},
            "capacity": {"memory": {"value": "1Gi"}},
        });
        let program = environment().compile(expression).expect("an expression");
        let found = matches(&program, "gpu.example.com", DeviceView::from(&device));
        assert_eq!(found.as_ref().map(|found| *found).map_err(String::as_str), expected, "{expression}");
    }

    #[test]
    fn a_device_is_selected_by_its_driver_attributes_and_capacity() {
        check("device.driver == 'gpu.example.com' && !device.allowMultipleAllocations", Ok(true));
        check("device.attributes['gpu.example.com'].model == 'A100'", Ok(true));
        check("device.attributes['gpu.example.com'].healthy", Ok(true));
        check("device.attributes['dra.example.com'].numa > 3", Ok(false));
        check("device.attributes['gpu.example.com'].driverVersion.isGreaterThan(semver('1.0.0'))", Ok(true));
        check("device.capacity['gpu.example.com'].memory.compareTo(quantity('2Gi')) < 0", Ok(true));
    }

    #[test]
    fn a_domain_of_another_driver_is_empty_and_an_unknown_attribute_an_error() {
        check("has(device.attributes['other.example.com'].model)", Ok(false));
        check("'other.example.com' in device.attributes", Ok(false));
        check("device.attributes['other.example.com'].model == 'A100'", Err("no such key: model"));
        check(
            "device.attributes['gpu.example.com'].model",
            Err("CEL result of type string could not be converted to bool: type conversion error"),
        );
    }
}
