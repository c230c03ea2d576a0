//! A watch as a client keeps it over the deaths of its server: every change in the order of
//! revisions, resumed where it broke, and the whole collection anew where the server no longer
//! has the history.

use ferry_api::document::EventType;
use ferry_api::view::Kind;
use ferry_client::{Client, ListParams, ResourcePath, SharedObject};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::mpsc;

/// One thing that a watcher sees.
pub enum Sight<K> {
    /// The collection as it is; whatever was known before is void.
    All(Vec<SharedObject<K>>),
    Present(SharedObject<K>),
    Gone(SharedObject<K>),
}

/// Follows a collection, of every namespace where it has namespaces.
pub fn watch<K: Kind>(client: Client) -> mpsc::UnboundedReceiver<Sight<K>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(follow(client, sender));
    receiver
}

/// Ends when nobody listens any more.
async fn follow<K: Kind>(client: Client, sights: mpsc::UnboundedSender<Sight<K>>) {
    while !sights.is_closed() {
        let Ok(list) = client.api::<K>("").list(&ListParams::default()).await else {
            // The server is down, and another is about to come.
            tokio::time::sleep(Duration::from_millis(2)).await;
            continue;
        };
        let _ = sights.send(Sight::All(list.items));
        let mut revision = list.resource_version;
        while !sights.is_closed() {
            match resume(&client, &mut revision, &sights).await {
                Err(error) if error.is_expired() => break,
                _ => tokio::time::sleep(Duration::from_millis(2)).await,
            }
        }
    }
}

async fn resume<K: Kind>(
    client: &Client,
    revision: &mut String,
    sights: &mpsc::UnboundedSender<Sight<K>>,
) -> Result<(), ferry_client::Error> {
    let (path, params) = (ResourcePath::of::<K>(), ListParams::default());
    let mut events = client.watch_documents(&path, "", &params, revision, None).await?;
    while let Some(batch) = events.next().await {
        let mut batch: VecDeque<_> = batch?.into();
        while let Some(event) = batch.pop_front() {
            let object = SharedObject::<K>::new(event.document);
            object.meta().resource_version().clone_into(revision);
            let sight = match event.kind {
                EventType::Bookmark => continue,
                EventType::Deleted => Sight::Gone(object),
                _ => Sight::Present(object),
            };
            let _ = sights.send(sight);
        }
    }
    Ok(())
}
