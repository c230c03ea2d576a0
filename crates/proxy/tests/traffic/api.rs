//! An API server of three collections, as far as an informer looks: a list, and a watch that
//! delivers what the test sends.

use std::collections::HashMap;

use async_trait::async_trait;
use bytes::Bytes;
use ferry_client::{Body, BoxError, Transport, full_body};
use futures_util::StreamExt;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;

pub struct FakeApi {
    /// No event comes of nodes, and their watch stays open.
    _nodes: mpsc::UnboundedSender<Value>,
    /// The lines that each collection's watch will deliver, until it is opened.
    watches: Mutex<HashMap<String, mpsc::UnboundedReceiver<Value>>>,
}

impl FakeApi {
    /// The collections are empty at first; the senders add watch events to them.
    pub fn new() -> (FakeApi, mpsc::UnboundedSender<Value>, mpsc::UnboundedSender<Value>) {
        let (services, service_watch) = mpsc::unbounded_channel();
        let (slices, slice_watch) = mpsc::unbounded_channel();
        let (nodes, node_watch) = mpsc::unbounded_channel();
        let watches = [("services", service_watch), ("endpointslices", slice_watch), ("nodes", node_watch)];
        let watches = watches.map(|(collection, watch)| (collection.to_string(), watch)).into();
        (FakeApi { _nodes: nodes, watches: Mutex::new(watches) }, services, slices)
    }
}

#[async_trait]
impl Transport for FakeApi {
    async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
        let collection = request.uri().path().rsplit('/').next().unwrap_or_default().to_string();
        if !request.uri().query().unwrap_or_default().contains("watch=true") {
            let list = json!({"metadata": {"resourceVersion": "1"}, "items": []});
            return Ok(http::Response::new(full_body(list.to_string())));
        }
        let events = self.watches.lock().remove(&collection).ok_or("the watch is open already")?;
        let frames = UnboundedReceiverStream::new(events)
            .map(|event| Ok::<_, BoxError>(Frame::data(Bytes::from(format!("{event}\n")))));
        Ok(http::Response::new(StreamBody::new(frames).boxed_unsync()))
    }
}
