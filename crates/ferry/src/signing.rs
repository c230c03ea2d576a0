//! The cluster's authority as the builtin signers of CertificateSigningRequests use it.

use ferry_controllers::CertificateSigner;
use ferry_pki::Pki;
use std::sync::Arc;

pub fn certificate_signer(pki: &Pki) -> CertificateSigner {
    let authority = pki.ca.clone();
    Arc::new(move |order: &ferry_controllers::SigningOrder<'_>| {
        let wanted = ferry_pki::SigningOrder {
            request_pem: order.request_pem.to_vec(),
            usages: order.usages.to_vec(),
            lifetime: order.lifetime,
        };
        authority.sign_request(&wanted, order.now).map_err(|error| error.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{addons, server};
    use ferry_apiserver::authn::UserInfo;
    use ferry_apiserver::{ApiServer, StorageKey};
    use ferry_client::{Client, Informers, Patch, ResourcePath};
    use ferry_pki::{Facts, PkiConfig};
    use ferry_store::sqlite::SqliteStore;
    use k8s_openapi::ByteString;
    use k8s_openapi::api::certificates::v1::{
        CertificateSigningRequest, CertificateSigningRequestCondition, CertificateSigningRequestSpec,
    };
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use rcgen::{CertificateParams, DnType, KeyPair};
    use serde_json::Value;
    use std::time::Duration;
    use tokio_util::sync::{CancellationToken, DropGuard};

    struct ControlPlane {
        api: ApiServer,
        pki: Pki,
        admin: Client,
        _stop: DropGuard,
        _dir: tempfile::TempDir,
    }

    async fn start() -> ControlPlane {
        let dir = tempfile::tempdir().expect("a directory");
        let pki = ferry_pki::ensure(&dir.path().join("pki"), &PkiConfig::default()).expect("key material");
        let store = Arc::new(SqliteStore::open(&dir.path().join("store")).expect("a store"));
        let keys = vec![StorageKey { name: "key1".into(), bytes: vec![1; 32] }];
        let config = ferry_apiserver::Config::from_pki(&pki, "cluster.local", keys);
        let api = ApiServer::start(store, config).await.expect("a server");
        let shutdown = CancellationToken::new();
        let config = ferry_controllers::Config {
            certificate_signer: Some(certificate_signer(&pki)),
            cluster_cidr: None,
            ..Default::default()
        };
        let manager = UserInfo::authenticated("system:kube-controller-manager", &[]);
        let informers = Informers::with_shutdown(server::client(&api, manager, "test"), shutdown.clone());
        let for_controllers = api.clone();
        let client_for: ferry_controllers::ClientFor = Arc::new(move |name: &str| {
            server::client(&for_controllers, UserInfo::service_account("kube-system", name), name)
        });
        tokio::spawn(ferry_controllers::run(config, client_for, informers, shutdown.clone()));
        let admin = server::client(&api, UserInfo::authenticated("admin", &["system:masters"]), "test");
        let body = addons::node_certificates();
        let name = body["metadata"]["name"].as_str().expect("a name").to_owned();
        let patch = Patch::Apply { manager: "test".into(), force: true, body };
        let path = ResourcePath::new("rbac.authorization.k8s.io", "v1", "clusterrolebindings");
        let _: Value = admin.patch_at(&path, "", &name, None, &patch).await.expect("bound");
        ControlPlane { api, pki, admin, _stop: shutdown.drop_guard(), _dir: dir }
    }

    fn request(name: &str, signer: &str, usages: &[&str], subject: (&str, &str)) -> CertificateSigningRequest {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::OrganizationName, subject.1);
        parameters.distinguished_name.push(DnType::CommonName, subject.0);
        let key = KeyPair::generate().expect("a key");
        let pem = parameters.serialize_request(&key).expect("a request").pem().expect("PEM");
        CertificateSigningRequest {
            metadata: ObjectMeta { name: Some(name.to_owned()), ..Default::default() },
            spec: CertificateSigningRequestSpec {
                request: ByteString(pem.into_bytes()),
                signer_name: signer.to_owned(),
                usages: Some(usages.iter().map(|usage| (*usage).to_owned()).collect()),
                expiration_seconds: Some(3600),
                ..Default::default()
            },
            status: None,
        }
    }

    impl ControlPlane {
        /// The request as soon as a controller has said something about it.
        async fn decided(
            &self,
            name: &str,
            by: impl Fn(&CertificateSigningRequest) -> bool,
        ) -> CertificateSigningRequest {
            let look = async {
                loop {
                    let found: CertificateSigningRequest = self.admin.get("", name).await.expect("there");
                    if by(&found) {
                        return found;
                    }
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            tokio::time::timeout(Duration::from_secs(60), look).await.expect("decided in time")
        }
    }

    fn certificate(request: &CertificateSigningRequest) -> Option<&ByteString> {
        request.status.as_ref()?.certificate.as_ref()
    }

    #[tokio::test]
    async fn a_node_gets_its_next_certificate_by_asking() {
        let plane = start().await;
        let node = server::client(&plane.api, UserInfo::authenticated("system:node:a", &["system:nodes"]), "kubelet");
        let usages = &["digital signature", "client auth"];
        let signer = "kubernetes.io/kube-apiserver-client-kubelet";
        let asked = request("next", signer, usages, ("system:node:a", "system:nodes"));
        node.create("", &asked).await.expect("asked");
        let other = request("of-another", signer, usages, ("system:node:b", "system:nodes"));
        let refused = node.create("", &other).await.expect_err("no node asks to be another").to_string();
        assert!(refused.contains("can only create a node CSR with CN=system:node:a"), "{refused}");

        let issued = plane.decided("next", |request| certificate(request).is_some()).await;
        let conditions = issued.status.as_ref().and_then(|status| status.conditions.clone()).unwrap_or_default();
        assert_eq!(conditions[0].reason.as_deref(), Some("AutoApproved"));
        let pem = String::from_utf8(certificate(&issued).expect("issued").0.clone()).expect("PEM");
        let facts = Facts::of_pem("issued", &pem).expect("readable");
        assert_eq!(
            (facts.common_name.as_str(), &facts.organizations[0]),
            ("system:node:a", &"system:nodes".to_owned())
        );
        assert_eq!(facts.not_after.as_second() - facts.not_before.as_second(), 3600 + 300);
        let chain = ferry_pki::certificate::parse_chain("issued", &pem).expect("a chain");
        assert!(plane.pki.ca.has_signed(&chain[0]));
    }

    #[tokio::test]
    async fn what_a_signer_must_not_sign_fails_with_the_reason() {
        let plane = start().await;
        let asked = request("wrong", "kubernetes.io/kube-apiserver-client", &["server auth"], ("alice", "dev"));
        let mut approved = plane.admin.create("", &asked).await.expect("asked");
        let condition = CertificateSigningRequestCondition {
            type_: "Approved".into(),
            status: "True".into(),
            reason: Some("ByHand".into()),
            ..Default::default()
        };
        approved.status.get_or_insert_default().conditions = Some(vec![condition]);
        let path = ResourcePath::of::<CertificateSigningRequest>();
        let _: CertificateSigningRequest =
            plane.admin.replace_subresource(&path, "", "wrong", "approval", &approved).await.expect("approved");
        let conditions = |request: &CertificateSigningRequest| {
            request.status.as_ref().and_then(|status| status.conditions.clone()).unwrap_or_default()
        };
        let failed = plane.decided("wrong", |request| conditions(request).len() == 2).await;
        let condition = &conditions(&failed)[1];
        assert_eq!(
            (condition.type_.as_str(), condition.reason.as_deref()),
            ("Failed", Some("SignerValidationFailure"))
        );
        assert_eq!(condition.message.as_deref(), Some("invalid usage for client certificate: server auth"));
        assert!(condition.last_update_time.is_some() && certificate(&failed).is_none());
    }
}
