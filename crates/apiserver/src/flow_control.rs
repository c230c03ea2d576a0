//! How many requests are worked on at once. Reads and writes have limits of their own, so
//! that a flood of one cannot starve the other; requests that stay open by nature and the
//! control plane's own users are exempt (upstream's --max-requests-inflight).

use crate::authn::UserInfo;
use crate::authn::user::MASTERS;
use crate::request_info::RequestInfo;
use ferry_api::status::Status;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const READONLY: usize = 400;
const MUTATING: usize = 200;

pub struct FlowControl {
    readonly: Arc<Semaphore>,
    mutating: Arc<Semaphore>,
}

impl Default for FlowControl {
    fn default() -> Self {
        Self { readonly: Arc::new(Semaphore::new(READONLY)), mutating: Arc::new(Semaphore::new(MUTATING)) }
    }
}

impl FlowControl {
    /// A seat until it is dropped, or 429.
    pub fn enter(&self, info: &RequestInfo, user: &UserInfo) -> Result<Option<OwnedSemaphorePermit>, Status> {
        let health = matches!(info.path.as_str(), "/livez" | "/readyz" | "/healthz");
        if info.is_long_running() || health || user.in_group(MASTERS) {
            return Ok(None);
        }
        let seats = if is_readonly(info) { &self.readonly } else { &self.mutating };
        seats
            .clone()
            .try_acquire_owned()
            .map(Some)
            .map_err(|_| Status::too_many_requests("Too many requests, please try again later.", 1))
    }
}

/// For metrics and limits alike.
pub fn is_readonly(info: &RequestInfo) -> bool {
    matches!(info.verb.as_str(), "get" | "list" | "watch" | "head" | "options")
}
