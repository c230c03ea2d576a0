//! The amounts that systemReserved and kubeReserved keep from pods
//! (upstream: parseResourceList of cmd/kubelet/app/server.go).

use ferry_api::quantity::Quantity;
use std::collections::BTreeMap;

const RESERVABLE: [&str; 4] = ["cpu", "memory", "ephemeral-storage", "pid"];

/// The amounts by resource; the error is upstream's sentence.
pub fn parse(amounts: &BTreeMap<String, String>) -> Result<BTreeMap<String, Quantity>, String> {
    let mut out = BTreeMap::new();
    for (name, text) in amounts {
        if !RESERVABLE.contains(&name.as_str()) {
            return Err(format!("cannot reserve {name:?} resource"));
        }
        let quantity: Quantity = text
            .parse()
            .map_err(|error| format!("failed to parse quantity {text:?} for {name:?} resource: {error}"))?;
        if quantity.is_negative() {
            return Err(format!("resource quantity for {name:?} cannot be negative: {text}"));
        }
        out.insert(name.clone(), quantity);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_are_judged_in_upstreams_words() {
        let parse = |name: &str, text: &str| parse(&BTreeMap::from([(name.to_owned(), text.to_owned())]));
        assert_eq!(parse("cpu", "500m").expect("good")["cpu"].milli_value(), 500);
        assert_eq!(parse("gpu", "1"), Err("cannot reserve \"gpu\" resource".into()));
        assert!(parse("memory", "x").expect_err("bad").starts_with("failed to parse quantity \"x\" for \"memory\""));
        assert_eq!(parse("pid", "-1"), Err("resource quantity for \"pid\" cannot be negative: -1".into()));
    }
}
