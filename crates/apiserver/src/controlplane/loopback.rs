//! Requests of a controller inside the server that pass the whole chain, as the controller's own
//! service account: authorized by its role, admitted and audited like any other
//! (upstream's loopback client). Used by the controllers that upstream runs outside of the API
//! server.

use crate::authn::UserInfo;
use crate::transport::{Peer, full, read_limited};
use crate::{ApiServer, ServerState};
use ferry_api::status::Status;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{Method, Request};
use serde_json::Value;
use std::sync::Arc;

/// An answer that says why a write failed is far smaller.
const ANSWER_MAX: usize = 1 << 20;

/// How a patch is merged.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PatchType {
    Strategic,
    /// Server-side apply that takes over fields of others, under the controller's name.
    Apply,
}

/// A controller's way through the chain.
pub(crate) struct Loopback {
    /// The name of the controller, by which its fields are managed.
    pub(crate) manager: &'static str,
    /// The service account of kube-system whose role bounds it.
    pub(crate) account: &'static str,
}

impl Loopback {
    /// Patches the object or subresource at a path.
    pub(crate) async fn patch(
        &self,
        server: &Arc<ServerState>,
        path: &str,
        patch_type: PatchType,
        patch: &Value,
    ) -> Result<(), Status> {
        let (content_type, force) = match patch_type {
            PatchType::Strategic => ("application/strategic-merge-patch+json", ""),
            PatchType::Apply => ("application/apply-patch+yaml", "&force=true"),
        };
        let request = Request::builder()
            .method(Method::PATCH)
            .uri(format!("{path}?fieldManager={}{force}", self.manager))
            .header(CONTENT_TYPE, content_type)
            .header(USER_AGENT, self.manager)
            .body(full(patch.to_string()))
            .map_err(|error| Status::internal(format!("{path} cannot be asked for: {error}")))?;
        let user = Arc::new(UserInfo::service_account("kube-system", self.account));
        let response = ApiServer(server.clone()).handle(request, Peer::InProcess(user)).await;
        let code = response.status();
        if code.is_success() {
            return Ok(());
        }
        let answer = read_limited(response.into_body(), ANSWER_MAX).await.ok().flatten().unwrap_or_default();
        Err(serde_json::from_slice(&answer)
            .unwrap_or_else(|_| Status::internal(format!("{path} answered {}", code.as_u16()))))
    }
}
