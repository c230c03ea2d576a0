//! Which certificates a kubelet may ask for: those of pods that run on it, and as a node
//! only its own.

use super::{MIRROR, NodeRestriction, Refusal};
use crate::admission::{AdmissionRequest, Operation};
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_resources::certificates::certificate_signing_request::requested_common_name;
use serde_json::Value;

/// The signers whose certificates make their owner a node.
const NODE_SIGNERS: [&str; 2] = ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"];

/// What a kubelet knows of an object may be old, and asking again may then help. So
/// upstream answers 500 and not 403, with no reason.
fn stale(message: String) -> Refusal {
    Refusal::Answer(Status::failure(500, "", message).into())
}

impl NodeRestriction {
    /// The request names this node, a pod that runs on it, and the pod's account, each by
    /// its present uid.
    pub(super) fn check_pod_certificate(&self, node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
        if request.operation != Operation::Create {
            return Err(format!("unexpected operation {}", request.operation.as_str()).into());
        }
        if !request.subresource.is_empty() {
            return Err(format!("unexpected subresource {}", request.subresource).into());
        }
        let asked = request.object.as_deref().unwrap_or(&Value::Null);
        let spec = |key: &str| asked.str_at(&["spec", key]);
        let get = |plural: &str, namespace: &str, name: &str| {
            self.lookup.get("", plural, namespace, name).map(|stored| stored.value())
        };
        let in_namespace = |name: &str| format!("{}/{name}", request.namespace);

        if spec("nodeName") != node {
            let named = spec("nodeName");
            let why =
                format!("PodCertificateRequest.Spec.NodeName={named:?}, which is not the requesting node {node:?}");
            return Err(why.into());
        }
        let pod_name = in_namespace(spec("podName"));
        let Some(found) = get("nodes", "", node) else {
            return Err(stale(format!(
                "while retrieving node {node:?} named in the PodCertificateRequest: nodes {node:?} not found"
            )));
        };
        if spec("nodeUID") != found.uid() {
            let (named, found) = (spec("nodeUID"), found.uid());
            return Err(stale(format!(
                "PodCertificateRequest for pod {pod_name:?} names node UID {named:?}, inconsistent with the running node ({found:?})"
            )));
        }

        let Some(pod) = get("pods", &request.namespace, spec("podName")) else {
            let name = spec("podName");
            return Err(stale(format!(
                "while retrieving pod {pod_name:?} named in the PodCertificateRequest: pods {name:?} not found"
            )));
        };
        if spec("podUID") != pod.uid() {
            let (named, found) = (spec("podUID"), pod.uid());
            return Err(stale(format!(
                "PodCertificateRequest for pod {pod_name:?} contains pod UID ({named:?}) which differs from running pod {found:?}"
            )));
        }
        if pod.str_at(&["spec", "nodeName"]) != node {
            let why = format!("pod {pod_name:?} is not running on node {node:?} named in the PodCertificateRequest");
            return Err(why.into());
        }
        if pod.annotation(MIRROR).is_some() {
            return Err(format!("pod {pod_name:?} is a mirror pod").into());
        }

        // With the uid right the pod is the one that was meant, and its account never changes.
        let (named, of_pod) = (spec("serviceAccountName"), pod.str_at(&["spec", "serviceAccountName"]));
        if named != of_pod {
            let why = format!(
                "PodCertificateRequest for pod {pod_name:?} contains serviceAccountName ({named:?}) that differs from running pod ({of_pod:?})"
            );
            return Err(why.into());
        }
        let Some(account) = get("serviceaccounts", &request.namespace, named) else {
            let account = in_namespace(named);
            return Err(stale(format!(
                "while retrieving service account {account:?} named in the PodCertificateRequest: serviceaccounts {named:?} not found"
            )));
        };
        if spec("serviceAccountUID") != account.uid() {
            let (named, found) = (spec("serviceAccountUID"), account.uid());
            return Err(stale(format!(
                "PodCertificateRequest for pod {pod_name:?} names service account UID {named:?}, which differs from the running service account ({found:?})"
            )));
        }
        Ok(())
    }
}

/// A certificate that would make its owner a node is asked for by that node.
pub(super) fn check_request(node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
    let Some(asked) = request.object.as_deref().filter(|_| request.operation == Operation::Create) else {
        return Ok(());
    };
    if !NODE_SIGNERS.contains(&asked.str_at(&["spec", "signerName"])) {
        return Ok(());
    }
    let name = requested_common_name(asked).map_err(|why| format!("unable to parse csr: {why}"))?;
    if name != format!("system:node:{node}") {
        return Err(format!("can only create a node CSR with CN=system:node:{node}").into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{refused, run};
    use super::*;
    use crate::admission::testing::row;
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use ferry_resources::Scope;
    use serde_json::json;

    #[tokio::test]
    async fn a_pod_certificate_is_for_a_pod_of_this_node() {
        let requests =
            || row("certificates.k8s.io", "PodCertificateRequest", "podcertificaterequests", Scope::Namespaced);
        let spec = json!({"nodeName": "a", "nodeUID": "u-a", "podName": "mine", "podUID": "u-m",
            "serviceAccountName": "web", "serviceAccountUID": "u-s"});
        let ask = async |changes: &[(&str, &str)]| {
            let mut spec = spec.clone();
            for (key, value) in changes {
                spec[*key] = json!(value);
            }
            let object = json!({"metadata": {"name": "c", "namespace": "ns"}, "spec": spec});
            run(requests(), "", Some(object), None).await
        };
        assert_eq!(ask(&[]).await, Ok(()));
        let cases: [(&[(&str, &str)], &str); 9] = [
            (&[("nodeName", "b")], "PodCertificateRequest.Spec.NodeName=\"b\", which is not the requesting node \"a\""),
            (
                &[("nodeUID", "old")],
                "PodCertificateRequest for pod \"ns/mine\" names node UID \"old\", inconsistent with the running node (\"u-a\")",
            ),
            (
                &[("podName", "none")],
                "while retrieving pod \"ns/none\" named in the PodCertificateRequest: pods \"none\" not found",
            ),
            (
                &[("podUID", "old")],
                "PodCertificateRequest for pod \"ns/mine\" contains pod UID (\"old\") which differs from running pod \"u-m\"",
            ),
            (
                &[("podName", "theirs"), ("podUID", "u-t")],
                "pod \"ns/theirs\" is not running on node \"a\" named in the PodCertificateRequest",
            ),
            (&[("podName", "mirror"), ("podUID", "u-i")], "pod \"ns/mirror\" is a mirror pod"),
            (
                &[("serviceAccountName", "root")],
                "PodCertificateRequest for pod \"ns/mine\" contains serviceAccountName (\"root\") that differs from running pod (\"web\")",
            ),
            (
                &[("podName", "orphan"), ("podUID", "u-o"), ("serviceAccountName", "gone")],
                "while retrieving service account \"ns/gone\" named in the PodCertificateRequest: serviceaccounts \"gone\" not found",
            ),
            (
                &[("serviceAccountUID", "old")],
                "PodCertificateRequest for pod \"ns/mine\" names service account UID \"old\", which differs from the running service account (\"u-s\")",
            ),
        ];
        for (changes, why) in cases {
            assert_eq!(ask(changes).await, refused(why));
        }
        let object = json!({"metadata": {"name": "c", "namespace": "ns"}, "spec": spec});
        assert_eq!(
            run(requests(), "", Some(object.clone()), Some(object.clone())).await,
            refused("unexpected operation UPDATE")
        );
        assert_eq!(run(requests(), "status", Some(object), None).await, refused("unexpected subresource status"));
    }

    #[tokio::test]
    async fn a_node_asks_to_be_no_other_node() {
        let requests =
            || row("certificates.k8s.io", "CertificateSigningRequest", "certificatesigningrequests", Scope::Cluster);
        let ask = async |signer: &str, name: &str| {
            let mut params = rcgen::CertificateParams::default();
            params.distinguished_name = rcgen::DistinguishedName::new();
            params.distinguished_name.push(rcgen::DnType::CommonName, name);
            let key = rcgen::KeyPair::generate().expect("a key");
            let pem = params.serialize_request(&key).expect("a request").pem().expect("PEM");
            let spec = json!({"signerName": signer, "request": BASE64_STANDARD.encode(pem)});
            run(requests(), "", Some(json!({"metadata": {"name": "c"}, "spec": spec})), None).await
        };
        for signer in NODE_SIGNERS {
            assert_eq!(ask(signer, "system:node:a").await, Ok(()));
            for other in ["system:node:b", "system:node:", "root"] {
                assert_eq!(ask(signer, other).await, refused("can only create a node CSR with CN=system:node:a"));
            }
        }
        assert_eq!(ask("kubernetes.io/kube-apiserver-client", "system:node:b").await, Ok(()));
        let unreadable = json!({"metadata": {"name": "c"}, "spec": {"signerName": NODE_SIGNERS[0], "request": "eA=="}});
        let outcome = run(requests(), "", Some(unreadable), None).await;
        assert!(outcome.is_err_and(|why| why.starts_with("unable to parse csr: ")));
    }
}
