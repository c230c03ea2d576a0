//! Brings the store's changes into the cache: first all there is, then each batch in
//! commit order. Started by [`Cache::start`]; the only writer of every [`Stock`].

use super::{Cache, Stored};
use ferry_store::{Entry, EventKind, RangeOptions, Revision, Watch};
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The whole store is followed, so that the cache's revision keeps up with the store's
/// whatever key a change is about; keys of no stock are passed over.
const ROOT: &str = "";

/// How many entries one page of the first read has: large enough that SQLite's cost a
/// page vanishes, small enough that the pages are not a second copy of the cluster.
const PAGE: usize = 2000;

pub(super) async fn start(cache: &Arc<Cache>) -> Result<(), ferry_store::Error> {
    let revision = load(cache).await?;
    let watch = cache.store.watch(ROOT, revision).await?;
    cache.applied.send_replace(revision);
    tokio::spawn(run(Arc::downgrade(cache), watch));
    Ok(())
}

/// Applies batches until the cache is dropped or the store is closed. A watch that breaks
/// (the horizon overtook it, or the database failed) is begun anew from a full read, whose
/// differences reach the watchers as ordinary events.
async fn run(cache: Weak<Cache>, mut watch: Watch) {
    loop {
        match watch.next().await {
            Some(Ok(batch)) => {
                let Some(cache) = cache.upgrade() else { return };
                apply(&cache, batch);
            }
            Some(Err(ferry_store::Error::Closed)) | None => return,
            Some(Err(error)) => {
                tracing::warn!(%error, "the cache's watch of the store broke; reading everything again");
                loop {
                    let Some(cache) = cache.upgrade() else { return };
                    match reload(&cache).await {
                        Ok(again) => {
                            watch = again;
                            break;
                        }
                        Err(ferry_store::Error::Closed) => return,
                        Err(error) => {
                            tracing::error!(%error, "the cache cannot read the store");
                            tokio::time::sleep(Duration::from_secs(1)).await;
                        }
                    }
                }
            }
        }
    }
}

async fn reload(cache: &Arc<Cache>) -> Result<Watch, ferry_store::Error> {
    let revision = load(cache).await?;
    let watch = cache.store.watch(ROOT, revision).await?;
    cache.applied.send_replace(revision);
    Ok(watch)
}

/// Reads every entry at one revision and makes the stocks equal to it.
async fn load(cache: &Cache) -> Result<Revision, ferry_store::Error> {
    let mut found: HashMap<String, Vec<Stored>> = HashMap::new();
    let mut options = RangeOptions { limit: PAGE, ..RangeOptions::default() };
    let revision = loop {
        let page = cache.store.range(ROOT, options.clone()).await?;
        options.revision = Some(page.revision);
        options.start_after = page.entries.last().map(|entry| entry.key.to_string());
        for entry in page.entries {
            let Some(stock) = cache.stock_of_key(&entry.key) else { continue };
            if let Some(stored) = stored(cache, &stock, &entry) {
                found.entry(stock.prefix().to_owned()).or_default().push(stored);
            }
        }
        if !page.more {
            break page.revision;
        }
    };
    for stock in cache.all_stocks() {
        stock.replace(found.remove(stock.prefix()).unwrap_or_default(), revision);
    }
    Ok(revision)
}

/// Reads the entries of one stock that was added while the cache runs.
pub(super) async fn read(cache: &Cache, stock: &super::Stock) -> Result<(), ferry_store::Error> {
    let mut found = Vec::new();
    let mut options = RangeOptions { limit: PAGE, ..RangeOptions::default() };
    let revision = loop {
        let page = cache.store.range(stock.prefix(), options.clone()).await?;
        options.revision = Some(page.revision);
        options.start_after = page.entries.last().map(|entry| entry.key.to_string());
        found.extend(page.entries.iter().filter_map(|entry| stored(cache, stock, entry)));
        if !page.more {
            break page.revision;
        }
    };
    stock.complete(found, revision);
    Ok(())
}

fn stored(cache: &Cache, stock: &super::Stock, entry: &Entry) -> Option<Stored> {
    decode(cache, stock, &entry.key, entry.revision, &entry.value)
}

/// A value that cannot be read is left out and reported, never a reason to stop: the
/// other objects must stay reachable so that an administrator can repair this one.
fn decode(cache: &Cache, stock: &super::Stock, key: &Arc<str>, revision: Revision, value: &[u8]) -> Option<Stored> {
    let raw = match cache.transformers.decode(key, value) {
        Ok(raw) => raw,
        Err(error) => {
            tracing::error!(key = &**key, %error, "an object in the store cannot be decrypted; it is not served");
            return None;
        }
    };
    let stored = stock.admit(key.clone(), revision, &raw);
    if stored.is_none() {
        tracing::error!(key = &**key, "an object in the store cannot be decoded; it is not served");
    }
    stored
}

fn apply(cache: &Cache, batch: Vec<ferry_store::Event>) {
    let Some(last) = batch.last().map(|event| event.revision) else { return };
    for event in batch {
        let Some(stock) = cache.stock_of_key(&event.key) else { continue };
        match event.kind {
            EventKind::Put => {
                match decode(cache, &stock, &event.key, event.revision, &event.value) {
                    Some(stored) => stock.put(stored),
                    // What cannot be read is not served, not even its older version.
                    None => stock.delete(&event.key, event.revision),
                }
            }
            EventKind::Delete => stock.delete(&event.key, event.revision),
        }
    }
    cache.applied.send_replace(last);
}
