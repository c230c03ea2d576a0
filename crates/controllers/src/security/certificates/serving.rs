//! Approves a kubelet's serving certificate for the name and the addresses of its own node.
//! Upstream leaves these to people; a node that joined would have no logs and no exec until
//! somebody came.
//!
//! A node writes its addresses itself, so an address that another node has is never approved:
//! the API server would take the one for the other.

use super::request::Asked;
use super::{KUBELET_SERVING, RequestController, certificate, has_condition, push_condition};
use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Key};
use async_trait::async_trait;
use ferry_api::view::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestView};
use ferry_api::view::core::v1::{Node, NodeView};
use ferry_client::SharedObject;
use std::net::IpAddr;

pub(crate) struct ServingApprover;

const MESSAGE: &str = "Auto approving kubelet serving certificate for the addresses of its node.";

#[async_trait]
impl RequestController for ServingApprover {
    const NAME: &'static str = "kubelet-serving-approver";
    const WORKERS: usize = 1;

    async fn reconcile_request(
        &self,
        ctx: &Context,
        key: &Key,
        request: &SharedObject<CertificateSigningRequest>,
    ) -> Result<Action> {
        let asked = plan(request.view()).map_err(|why| Error::Retry(format!("unable to parse csr {key}: {why}")))?;
        let Some((node_name, asked)) = asked else { return Ok(Action::Done) };
        let nodes = ctx.informers.of::<Node>();
        let Some(node) = nodes.get("", &node_name) else {
            return Err(Error::Retry(format!("csr {key} is of node {node_name}, which is not there yet")));
        };
        // Requests are rare: a node makes one when it joins, moves, and some times a year.
        let others = nodes.list(None);
        let others = others.iter().filter(|other| other.name() != node_name).map(|other| other.view());
        // The addresses may be a moment younger than the request.
        check(&asked, node.view(), others).map_err(|why| Error::Retry(format!("csr {key}: {why}")))?;
        let mut approved = request.to_owned();
        push_condition(&mut approved, "Approved", "AutoApproved", MESSAGE);
        match ctx.client.api("").replace_subresource(&approved, "approval").await {
            Err(error) if error.is_not_found() => {}
            other => drop(other.during("approve", key)?),
        }
        Ok(Action::Done)
    }
}

/// The node that asks for itself and what for; `None` where the request is another's business.
fn plan(request: CertificateSigningRequestView<'_>) -> std::result::Result<Option<(String, Asked)>, String> {
    let spec = request.spec();
    let is_decided = has_condition(request, "Approved") || has_condition(request, "Denied");
    if is_decided || certificate(request).is_some() || spec.signer_name() != KUBELET_SERVING {
        return Ok(None);
    }
    let Some(node_name) = spec.username().strip_prefix("system:node:") else { return Ok(None) };
    let asked = Asked::parse(&spec.request().decode())?;
    let is_own = asked.common_name == spec.username();
    let is_signable = asked.check_kubelet_serving(&spec.usages().to_vec()).is_ok();
    Ok((is_own && is_signable).then(|| (node_name.to_owned(), asked)))
}

fn check<'a>(
    asked: &Asked,
    node: NodeView<'_>,
    others: impl Iterator<Item = NodeView<'a>>,
) -> std::result::Result<(), String> {
    let own = Names::of(node);
    if let Some(name) = asked.dns_names.iter().find(|name| !own.dns_names.contains(name)) {
        return Err(format!("{name} is no name of node {}", node.metadata().name()));
    }
    if let Some(ip) = asked.ips.iter().find(|ip| !own.ips.contains(ip)) {
        return Err(format!("{ip} is no address of node {}", node.metadata().name()));
    }
    for other in others {
        let theirs = Names::of(other);
        let clash = asked.ips.iter().any(|ip| theirs.ips.contains(ip))
            || asked.dns_names.iter().any(|name| theirs.dns_names.contains(name));
        if clash {
            return Err(format!("node {} has one of the names too", other.metadata().name()));
        }
    }
    Ok(())
}

/// Under which names a node is reached.
struct Names {
    dns_names: Vec<String>,
    ips: Vec<IpAddr>,
}

impl Names {
    fn of(node: NodeView<'_>) -> Self {
        let (mut dns_names, mut ips) = (vec![node.metadata().name().to_owned()], Vec::new());
        for address in node.status().addresses() {
            match address.address().parse() {
                Ok(ip) => ips.push(ip),
                Err(_) => dns_names.push(address.address().to_owned()),
            }
        }
        Self { dns_names, ips }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{pem, request};
    use super::*;
    use ferry_api::view::Owned;
    use rcgen::SanType;
    use serde_json::json;

    fn node(name: &str, ip: &str) -> Node {
        Node::from(json!({"metadata": {"name": name}, "status": {"addresses": [
            {"type": "InternalIP", "address": ip}, {"type": "Hostname", "address": name}]}}))
    }

    fn asked(common_name: &str, names: &[SanType]) -> Option<Asked> {
        let usages = &["digital signature", "server auth"];
        let request = request(KUBELET_SERVING, usages, pem(common_name, "system:nodes", names));
        plan(request.view()).expect("readable").map(|(node, asked)| {
            assert_eq!(node, "a");
            asked
        })
    }

    fn ip(text: &str) -> SanType {
        SanType::IpAddress(text.parse().expect("an address"))
    }

    fn dns(name: &str) -> SanType {
        SanType::DnsName(name.try_into().expect("a name"))
    }

    #[test]
    fn a_node_gets_a_certificate_for_itself_alone() {
        let own = node("a", "192.0.2.1");
        let others = [node("b", "192.0.2.2")];
        let check = |names: &[SanType]| {
            check(&asked("system:node:a", names).expect("its own"), own.view(), others.iter().map(Owned::view))
        };
        assert_eq!(check(&[dns("a"), ip("192.0.2.1")]), Ok(()));
        assert_eq!(check(&[dns("kubernetes")]), Err("kubernetes is no name of node a".into()));
        assert_eq!(check(&[ip("192.0.2.2")]), Err("192.0.2.2 is no address of node a".into()));
        assert!(asked("system:node:b", &[dns("a")]).is_none(), "in another's name");
        assert!(asked("system:node:a", &[]).is_none(), "for nothing");
    }

    #[test]
    fn an_address_that_two_nodes_claim_is_nobodys() {
        let (own, other) = (node("a", "192.0.2.1"), node("b", "192.0.2.1"));
        let asked = asked("system:node:a", &[ip("192.0.2.1")]).expect("its own");
        let refused = check(&asked, own.view(), std::iter::once(other.view()));
        assert_eq!(refused, Err("node b has one of the names too".into()));
    }
}
