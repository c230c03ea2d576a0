//! NetworkPolicy: the strategy of who may talk to which pods.

use crate::read::{Read, field_mut, set};
use crate::validation::network::{validate_cidr, validate_port_number, warn_of_cidr};
use crate::validation::{each, shown};
use crate::{Strategy, names};
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::rules::cidr::Cidr;
use serde_json::{Value, json};

pub(crate) struct NetworkPolicy;

/// The rules of each direction and what they call the other side.
const DIRECTIONS: [(&str, &str); 2] = [("ingress", "from"), ("egress", "to")];

impl Strategy for NetworkPolicy {
    fn default(&self, policy: &mut Value) {
        let Some(spec) = field_mut(policy, "spec") else { return };
        if spec.list("policyTypes").is_empty() {
            let types = if spec.list("egress").is_empty() { json!(["Ingress"]) } else { json!(["Ingress", "Egress"]) };
            set(spec, "policyTypes", types);
        }
    }

    fn validate(&self, policy: &Value) -> ErrorList {
        validate_spec(policy, &[])
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut kept = Vec::new();
        for block in blocks(old).map(|(_, block)| block) {
            kept.push(shown(block.field("cidr")));
            kept.extend(block.list("except").iter().cloned());
        }
        validate_spec(new, &kept)
    }

    fn warnings(&self, policy: &Value, _old: Option<&Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        for (path, block) in blocks(policy) {
            warn_of_cidr(&mut warnings, block.text("cidr"), &path.child("cidr"));
            for (index, except) in block.texts("except").enumerate() {
                warn_of_cidr(&mut warnings, except, &path.child("except").index(index));
            }
        }
        warnings
    }
}

/// Every block of addresses in a policy, with its path.
fn blocks(policy: &Value) -> impl Iterator<Item = (Path, &Value)> {
    let spec = policy.field("spec");
    DIRECTIONS.into_iter().flat_map(move |(rules, peers)| {
        spec.list(rules).iter().enumerate().flat_map(move |(index, rule)| {
            rule.list(peers).iter().enumerate().filter_map(move |(number, peer)| {
                let path = Path::new("spec").child(rules).index(index).child(peers).index(number).child("ipBlock");
                Some((path, peer.field("ipBlock")?))
            })
        })
    })
}

fn validate_spec(policy: &Value, kept: &[Value]) -> ErrorList {
    let mut errors = ErrorList::new();
    let (spec, path) = (policy.field("spec"), Path::new("spec"));
    for (rules, peers) in DIRECTIONS {
        for (index, rule) in spec.list(rules).iter().enumerate() {
            let path = path.child(rules).index(index);
            for (number, port) in rule.list("ports").iter().enumerate() {
                validate_port(&mut errors, port, &path.child("ports").index(number));
            }
            for (number, peer) in rule.list(peers).iter().enumerate() {
                validate_peer(&mut errors, peer, kept, &path.child(peers).index(number));
            }
        }
    }
    let types = spec.list("policyTypes");
    if types.len() > 2 {
        let detail = "may not specify more than two policyTypes";
        errors.push(Error::invalid(&path.child("policyTypes"), types, detail));
    }
    errors
}

fn validate_port(errors: &mut ErrorList, port: &Value, path: &Path) {
    let (at, end_at, end) = (path.child("port"), path.child("endPort"), port.opt_int("endPort"));
    match (port.field("port"), end) {
        (Some(Value::String(name)), end) => {
            if let Some(end) = end {
                errors.push(Error::invalid(&end_at, end, "may not be specified when `port` is non-numeric"));
            }
            each(errors, &at, name, names::is_port_name(name));
        }
        (Some(number), end) => {
            let number = number.as_i64().unwrap_or_default();
            validate_port_number(errors, number, &at);
            if let Some(end) = end {
                if end < number {
                    errors.push(Error::invalid(&end_at, number, "must be greater than or equal to `port`"));
                }
                validate_port_number(errors, end, &end_at);
            }
        }
        (None, Some(end)) => {
            errors.push(Error::invalid(&end_at, end, "may not be specified when `port` is not specified"));
        }
        (None, None) => {}
    }
}

fn validate_peer(errors: &mut ErrorList, peer: &Value, kept: &[Value], path: &Path) {
    let selects = ["podSelector", "namespaceSelector"].iter().any(|key| peer.has(key));
    if let Some(block) = peer.field("ipBlock") {
        validate_block(errors, block, kept, &path.child("ipBlock"));
        if selects {
            errors.push(Error::forbidden(path, "may not specify both ipBlock and another peer"));
        }
    } else if !selects {
        errors.push(Error::required(path, "must specify a peer"));
    }
}

fn validate_block(errors: &mut ErrorList, block: &Value, kept: &[Value], path: &Path) {
    let cidr = block.text("cidr");
    if cidr.is_empty() {
        errors.push(Error::required(&path.child("cidr"), ""));
        return;
    }
    validate_cidr(errors, cidr, kept, &path.child("cidr"));
    let Ok(whole) = cidr.parse::<Cidr>() else { return };
    for (index, except) in block.texts("except").enumerate() {
        let path = path.child("except").index(index);
        validate_cidr(errors, except, kept, &path);
        let Ok(part) = except.parse::<Cidr>() else { continue };
        if !whole.covers(&part) || whole == part {
            errors.push(Error::invalid(&path, except, "must be a strict subset of `cidr`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update};

    fn policy(spec: Value) -> Value {
        json!({"metadata": {"name": "a", "namespace": "default"}, "spec": spec})
    }

    fn from(peer: Value) -> Value {
        policy(json!({"podSelector": {}, "ingress": [{"from": [peer]}]}))
    }

    fn port(port: Value) -> Value {
        policy(json!({"podSelector": {}, "egress": [{"ports": [port]}]}))
    }

    #[test]
    fn peers_are_selected_or_listed() {
        check(&NetworkPolicy, policy(json!({"podSelector": {}})), &[]);
        check(&NetworkPolicy, from(json!({"podSelector": {}, "namespaceSelector": {}})), &[]);
        check(&NetworkPolicy, from(json!({"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}})), &[]);
        check(&NetworkPolicy, from(json!({})), &["spec.ingress[0].from[0]: Required value: must specify a peer"]);
        check(
            &NetworkPolicy,
            from(json!({"podSelector": {}, "ipBlock": {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/16"]}})),
            &[
                "spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: \"11.0.0.0/16\": must be a strict subset of `cidr`",
                "spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer",
            ],
        );
        check(
            &NetworkPolicy,
            from(json!({"ipBlock": {"cidr": ""}})),
            &["spec.ingress[0].from[0].ipBlock.cidr: Required value"],
        );
    }

    #[test]
    fn ports_may_be_ranges() {
        check(&NetworkPolicy, port(json!({"port": 80, "endPort": 90})), &[]);
        check(
            &NetworkPolicy,
            port(json!({"port": 80, "endPort": 70})),
            &["spec.egress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`"],
        );
        check(
            &NetworkPolicy,
            port(json!({"port": "http", "endPort": 70, "protocol": "ICMP"})),
            &[
                "spec.egress[0].ports[0].protocol: Unsupported value: \"ICMP\": supported values: \"TCP\", \"UDP\", \"SCTP\"",
                "spec.egress[0].ports[0].endPort: Invalid value: 70: may not be specified when `port` is non-numeric",
            ],
        );
        check(
            &NetworkPolicy,
            policy(json!({"podSelector": {}, "policyTypes": ["Odd"]})),
            &["spec.policyTypes[0]: Unsupported value: \"Odd\": supported values: \"Ingress\", \"Egress\""],
        );
    }

    #[test]
    fn a_range_that_was_let_in_may_stay() {
        let odd = from(json!({"ipBlock": {"cidr": "010.0.0.0/8"}}));
        check_update(&NetworkPolicy, odd.clone(), odd.clone(), &[]);
        assert_eq!(
            NetworkPolicy.warnings(&odd, None),
            [
                "spec.ingress[0].from[0].ipBlock.cidr: non-standard CIDR value \"010.0.0.0/8\" is invalid: use \"10.0.0.0/8\""
            ]
        );
    }

    #[test]
    fn directions_follow_the_rules() {
        let mut object = port(json!({"port": 53}));
        crate::testing::default(&NetworkPolicy, &mut object);
        assert_eq!(object["spec"]["policyTypes"], json!(["Ingress", "Egress"]));
        assert_eq!(object["spec"]["egress"][0]["ports"][0]["protocol"], "TCP");
        assert_eq!(Value::from(cells("NetworkPolicy", object)), json!(["a", "<none>", "10m"]));
    }
}
