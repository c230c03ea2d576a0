//! One registered DRA driver over its own socket (upstream: pkg/kubelet/cm/dra/plugin/dra_plugin.go).

use super::proto::{ClaimsRequest, PrepareResponse, UnprepareResponse, WatchRequest, WatchResponse};
use crate::unix_grpc;
use std::path::PathBuf;
use std::time::Duration;
use tonic::Status;
use tonic::transport::Channel;

/// Upstream's defaultClientCallTimeout.
const TIMEOUT: Duration = Duration::from_secs(45);

/// The services that the kubelet speaks, in the words of a driver's registration.
const SERVICES: [(&str, Service); 2] = [("v1.DRAPlugin", Service::V1), ("v1beta1.DRAPlugin", Service::V1Beta1)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    V1,
    V1Beta1,
}

/// The first service of the driver's list that the kubelet speaks; the error is upstream's sentence.
pub fn choose_service(driver: &str, endpoint: &str, versions: &[String]) -> Result<Service, String> {
    let wrong = |why: String| {
        format!("invalid supported gRPC versions of DRA driver plugin {driver} at endpoint {endpoint}: {why}")
    };
    if versions.is_empty() {
        return Err(wrong("empty list of supported gRPC services (aka supported versions)".into()));
    }
    let known = |version: &String| SERVICES.iter().find(|(name, _)| name == version).map(|(_, service)| *service);
    versions.iter().find_map(known).ok_or_else(|| {
        let quoted = |names: Vec<&str>| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" ");
        wrong(format!(
            "none of services supported by the plugin ([{}]) are supported by the kubelet ([{}])",
            quoted(versions.iter().map(String::as_str).collect()),
            quoted(SERVICES.iter().map(|(name, _)| *name).collect()),
        ))
    })
}

#[derive(Clone)]
pub struct Driver {
    service: Service,
    channel: Channel,
}

impl Driver {
    pub fn new(socket: PathBuf, service: Service) -> Self {
        Self { service, channel: unix_grpc::connect(socket) }
    }

    pub async fn prepare(&self, request: ClaimsRequest) -> Result<PrepareResponse, Status> {
        let path = match self.service {
            Service::V1 => "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources",
            Service::V1Beta1 => "/k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin/NodePrepareResources",
        };
        unix_grpc::call(&self.channel, path, request, TIMEOUT, None).await
    }

    pub async fn unprepare(&self, request: ClaimsRequest) -> Result<UnprepareResponse, Status> {
        let path = match self.service {
            Service::V1 => "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodeUnprepareResources",
            Service::V1Beta1 => "/k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin/NodeUnprepareResources",
        };
        unix_grpc::call(&self.channel, path, request, TIMEOUT, None).await
    }

    pub async fn watch_health(&self) -> Result<tonic::Streaming<WatchResponse>, Status> {
        let path = "/v1alpha1.DRAResourceHealth/NodeWatchResources";
        unix_grpc::stream(&self.channel, path, WatchRequest {}).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_known_service_is_spoken() {
        let choose = |versions: &[&str]| {
            let versions: Vec<String> = versions.iter().map(|version| (*version).to_owned()).collect();
            choose_service("d", "/s", &versions)
        };
        assert_eq!(choose(&["v9.DRAPlugin", "v1beta1.DRAPlugin", "v1.DRAPlugin"]), Ok(Service::V1Beta1));
        assert_eq!(choose(&["v1.DRAPlugin"]), Ok(Service::V1));
        let none = choose(&["1.0.0"]).expect_err("an old driver");
        assert!(none.ends_with("none of services supported by the plugin ([\"1.0.0\"]) are supported by the kubelet ([\"v1.DRAPlugin\" \"v1beta1.DRAPlugin\"])"), "{none}");
        assert!(choose(&[]).expect_err("nothing").contains("empty list of supported gRPC services"));
    }
}
