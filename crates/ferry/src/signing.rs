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
    use ferry_api::view::certificates::v1::{
        CertificateSigningRequest, CertificateSigningRequestCondition, CertificateSigningRequestSpec,
        CertificateSigningRequestView,
    };
    use ferry_api::view::meta::v1::ObjectMeta;
    use ferry_apiserver::authn::UserInfo;
    use ferry_apiserver::{ApiServer, StorageKey};
    use ferry_client::{Client, Informers, Patch, ResourcePath, SharedObject};
    use ferry_pki::{Facts, PkiConfig};
    use ferry_store::sqlite::SqliteStore;
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
        let spec = CertificateSigningRequestSpec::new()
            .with_request(pem.into_bytes())
            .with_signer_name(signer)
            .with_usages(usages.iter().copied())
            .with_expiration_seconds(3600);
        CertificateSigningRequest::new().with_metadata(ObjectMeta::new().with_name(name)).with_spec(spec)
    }

    impl ControlPlane {
        /// The request as soon as a controller has said something about it.
        async fn decided(
            &self,
            name: &str,
            by: impl Fn(CertificateSigningRequestView<'_>) -> bool,
        ) -> SharedObject<CertificateSigningRequest> {
            let look = async {
                loop {
                    let found = self.admin.api::<CertificateSigningRequest>("").get(name).await.expect("there");
                    if by(found.view()) {
                        return found;
                    }
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            tokio::time::timeout(Duration::from_secs(60), look).await.expect("decided in time")
        }
    }

    fn certificate(request: CertificateSigningRequestView<'_>) -> Option<Vec<u8>> {
        Some(request.status().certificate().decode()).filter(|pem| !pem.is_empty())
    }

    #[tokio::test]
    async fn a_node_gets_its_next_certificate_by_asking() {
        let plane = start().await;
        let node = server::client(&plane.api, UserInfo::authenticated("system:node:a", &["system:nodes"]), "kubelet");
        let usages = &["digital signature", "client auth"];
        let signer = "kubernetes.io/kube-apiserver-client-kubelet";
        let asked = request("next", signer, usages, ("system:node:a", "system:nodes"));
        let requests = node.api::<CertificateSigningRequest>("");
        requests.create(&asked).await.expect("asked");
        let other = request("of-another", signer, usages, ("system:node:b", "system:nodes"));
        let refused = requests.create(&other).await.expect_err("no node asks to be another").to_string();
        assert!(refused.contains("can only create a node CSR with CN=system:node:a"), "{refused}");

        let issued = plane.decided("next", |request| certificate(request).is_some()).await;
        let issued = issued.view();
        assert_eq!(issued.status().conditions().first().map(|condition| condition.reason()), Some("AutoApproved"));
        let pem = String::from_utf8(certificate(issued).expect("issued")).expect("PEM");
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
        let requests = plane.admin.api::<CertificateSigningRequest>("");
        let mut approved = requests.create(&asked).await.expect("asked").to_owned();
        let by_hand =
            CertificateSigningRequestCondition::new().with_type("Approved").with_status("True").with_reason("ByHand");
        approved.edit_status(|status| status.set_conditions([by_hand]));
        requests.replace_subresource(&approved, "approval").await.expect("approved");
        let failed = plane.decided("wrong", |request| request.status().conditions().len() == 2).await;
        let failed = failed.view();
        let condition = failed.status().conditions().get(1).expect("two conditions");
        assert_eq!((condition.type_(), condition.reason()), ("Failed", "SignerValidationFailure"));
        assert_eq!(condition.message(), "invalid usage for client certificate: server auth");
        assert!(condition.last_update_time().is_some() && certificate(failed).is_none());
    }
}
