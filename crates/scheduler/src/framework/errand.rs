//! Requests to the API that plugins want: the loop makes them beside other cycles.

use crate::extender::Extenders;
use ferry_client::{Client, Recorder};
use futures_util::future::BoxFuture;

/// Requests that a plugin has planned in a cycle. A failure is logged, and the pod is tried
/// again.
pub type Errand = Box<dyn FnOnce(Client) -> BoxFuture<'static, Result<(), crate::Error>> + Send>;

/// The ways out of a binding: requests, and events about the pod.
pub struct BindContext<'a> {
    pub client: &'a Client,
    pub recorder: Option<&'a Recorder>,
    /// One of them may bind in the place of a plugin.
    pub extenders: &'a Extenders,
}
