//! Wakes the pods that wait for the node's status: a volume that has to be attached is mounted once
//! the node lists it as in use and the attach-detach controller lists it as attached.

use crate::Error;
use crate::context::Context;
use ferry_api::view::core::v1::Node;
use ferry_client::{Event, SharedObject};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Follows this node's object until `shutdown`.
pub async fn watch_attachments(context: Arc<Context>, shutdown: CancellationToken) -> Result<(), Error> {
    let mut events = context.node.subscribe();
    loop {
        let event = tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            event = events.recv() => event,
        };
        let is_news = match event {
            Some(Event::Updated { old, new }) => differ(&old, &new),
            Some(Event::Added(_) | Event::Deleted(_)) => true,
            None => return Ok(()),
        };
        if is_news {
            context.csi.take_waiting().iter().for_each(|uid| context.wakers.wake(uid));
        }
    }
}

fn differ(old: &SharedObject<Node>, new: &SharedObject<Node>) -> bool {
    let (old, new) = (old.view().status(), new.view().status());
    let attached = |status: ferry_api::view::core::v1::NodeStatusView<'_>| -> Vec<String> {
        status.volumes_attached().iter().map(|volume| volume.name().to_owned()).collect()
    };
    attached(old) != attached(new) || old.volumes_in_use().to_vec() != new.volumes_in_use().to_vec()
}
