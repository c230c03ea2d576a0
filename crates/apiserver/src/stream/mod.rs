//! Requests that hold a connection open towards a kubelet, a pod or a service.

use crate::config::KubeletAccess;
use crate::transport::Body;
use crate::verbs::Call;
use ferry_api::status::Status;
use http::{Request, Response};

pub struct Kubelets;

impl Kubelets {
    pub fn new(_access: Option<&KubeletAccess>) -> Result<Self, crate::Error> {
        Ok(Self)
    }
}

pub fn serves(_call: &Call) -> bool {
    false
}

pub async fn serve(_call: Call, _request: Request<Body>) -> Result<Response<Body>, Status> {
    Err(Status::no_such_path())
}
