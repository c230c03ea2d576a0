//! The OpenAPI documents, built when first asked for.

use crate::ServerState;
use crate::query::Query;
use crate::transport::Body;
use ferry_api::status::Status;
use http::{HeaderMap, Response};

#[derive(Default)]
pub struct Documents;

pub async fn serve(
    _server: &ServerState,
    _headers: &HeaderMap,
    _path: &str,
    _query: &Query,
) -> Result<Response<Body>, Status> {
    Err(Status::no_such_path())
}
