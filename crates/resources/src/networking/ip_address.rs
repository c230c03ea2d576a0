//! IPAddress: the strategy of an address that a service holds; its name is the address.

use crate::Strategy;
use crate::read::ReadNode;
use crate::validation::network::validate_canonical_ip;
use ferry_api::document::Node;
use ferry_api::field::{ErrorList, Path};
use jiff::Timestamp;
use serde_json::Value;

pub(crate) struct IpAddress;

impl Strategy for IpAddress {
    fn validate_name(&self, name: &str, _prefix: bool) -> Vec<String> {
        let mut errors = ErrorList::new();
        validate_canonical_ip(&mut errors, name, &Path::root());
        errors.into_iter().map(|error| error.detail).collect()
    }

    fn computed_cells(&self, address: Node<'_>, __now: Timestamp) -> Vec<Value> {
        vec![parent(address).into()]
    }
}

/// `services/default/web`.
fn parent(address: Node<'_>) -> String {
    let Some(parent) = address.field("spec").field("parentRef") else { return "<none>".to_owned() };
    let mut text = parent.text("resource").to_lowercase();
    for (before, piece) in [(".", parent.text("group")), ("/", parent.text("namespace"))] {
        if !piece.is_empty() {
            text.push_str(before);
            text.push_str(piece);
        }
    }
    format!("{text}/{}", parent.text("name"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update};
    use serde_json::json;

    fn address(parent: Value) -> Value {
        json!({"metadata": {"name": "10.0.0.1"}, "spec": {"parentRef": parent}})
    }

    #[test]
    fn the_name_is_the_address() {
        assert!(IpAddress.validate_name("10.0.0.1", false).is_empty());
        assert_eq!(IpAddress.validate_name("2001:DB8::1", false), ["must be in canonical form (\"2001:db8::1\")"]);
        assert_eq!(
            IpAddress.validate_name("web", false),
            ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]
        );
    }

    #[test]
    fn an_address_is_somebodys() {
        let web = || address(json!({"resource": "services", "namespace": "default", "name": "web"}));
        check(&IpAddress, web(), &[]);
        check(&IpAddress, address(Value::Null), &["spec.parentRef: Required value"]);
        check(
            &IpAddress,
            address(json!({"resource": "a/b"})),
            &[
                "spec.parentRef.resource: Invalid value: \"a/b\": may not contain '/'",
                "spec.parentRef.name: Required value",
            ],
        );
        check_update(
            &IpAddress,
            web(),
            address(json!({"resource": "services", "name": "db"})),
            &["spec.parentRef: Invalid value: {\"name\":\"db\",\"resource\":\"services\"}: field is immutable"],
        );
        assert_eq!(Value::from(cells("IPAddress", web())), json!(["10.0.0.1", "services/default/web"]));
    }
}
