//! Brings the store's changes into the cache: first all there is, then each batch in
//! commit order. Started by [`Cache::start`]; the only writer of every [`Stock`].

use super::{Cache, Stock, Stored};
use crate::encryption::{Encryption, Kind, Unreadable};
use ferry_store::{DamagedEntry, EventKind, Range, RangeOptions, Revision, Watch};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// The whole store is followed, so that the cache's revision keeps up with the store's
/// whatever key a change is about; keys of no stock are passed over.
const ROOT: &str = "";

/// How many entries one page of the first read has: large enough that SQLite's cost a
/// page vanishes, small enough that the pages are not a second copy of the cluster.
const PAGE: usize = 2000;

/// How often what cannot be read is read again, however often it is asked for.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// How long after a change the cache looks for what has become old: forms that nobody asked for
/// again, and changes that no watch will resume from.
const SWEEP_AFTER: Duration = Duration::from_secs(10);

/// The component that unreadable objects are reported by, and what an administrator can do.
const REPORTER: &str = "store";
const REPAIR: &str = "bring back a backup, or delete it with ignoreStoreReadErrorWithClusterBreakingPotential=true";

pub(super) async fn start(cache: &Arc<Cache>) -> Result<(), ferry_store::Error> {
    let revision = load(cache).await?;
    let watch = cache.store.watch(ROOT, revision).await?;
    cache.applied.send_replace(revision);
    tokio::spawn(run(Arc::downgrade(cache), cache.encryption.clone(), watch));
    Ok(())
}

/// Applies batches until the cache is dropped or the store is closed. A watch that breaks
/// (the horizon overtook it, or the database failed) is begun anew from a full read, whose
/// differences reach the watchers as ordinary events.
async fn run(cache: Weak<Cache>, encryption: Arc<Encryption>, mut watch: Watch) {
    let (mut tried, mut wanted) = (Instant::now(), false);
    let mut sweep_at: Option<Instant> = None;
    loop {
        let next = tokio::select! {
            batch = watch.next() => batch,
            () = encryption.worth_trying_again(), if !wanted => {
                wanted = true;
                continue;
            }
            // Whoever asks for what cannot be read wakes this; once in a while is enough.
            () = tokio::time::sleep_until(tried + TRY_AGAIN), if wanted => {
                let Some(cache) = cache.upgrade() else { return };
                try_again(&cache).await;
                (tried, wanted) = (Instant::now(), false);
                continue;
            }
            () = tokio::time::sleep_until(sweep_at.unwrap_or(tried)), if sweep_at.is_some() => {
                let Some(cache) = cache.upgrade() else { return };
                sweep_at = cache.sweep().then(|| Instant::now() + SWEEP_AFTER);
                continue;
            }
        };
        match next {
            Some(Ok(batch)) => {
                let Some(cache) = cache.upgrade() else { return };
                apply(&cache, batch).await;
                sweep_at.get_or_insert_with(|| Instant::now() + SWEEP_AFTER);
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

/// What a full read found for one stock.
#[derive(Default)]
struct Found {
    objects: Vec<Stored>,
    unreadable: Vec<(Arc<str>, Unreadable)>,
}

/// Reads every entry at one revision and makes the stocks equal to it.
async fn load(cache: &Cache) -> Result<Revision, ferry_store::Error> {
    let (mut found, revision) = range(cache, ROOT, None).await?;
    for stock in cache.all_stocks() {
        replace(cache, &stock, found.remove(stock.prefix()).unwrap_or_default(), revision);
    }
    Ok(revision)
}

/// Makes a stock equal to what was read. What is readable again is no problem any more.
fn replace(cache: &Cache, stock: &Stock, found: Found, revision: Revision) {
    let still: HashSet<&str> = found.unreadable.iter().map(|(key, _)| &**key).collect();
    for Unreadable { key, .. } in stock.all_unreadable(ROOT) {
        if !still.contains(key.as_str()) {
            cache.problems.resolve(REPORTER, &key);
        }
    }
    stock.replace(found.objects, found.unreadable, revision);
}

/// Reads the entries of one stock that was added while the cache runs.
pub(super) async fn read(cache: &Cache, stock: &Stock) -> Result<(), ferry_store::Error> {
    let (mut found, revision) = range(cache, stock.prefix(), None).await?;
    let found = found.remove(stock.prefix()).unwrap_or_default();
    stock.complete(found.objects, found.unreadable, revision);
    Ok(())
}

/// Tries what could not be read. A stock in which something opens now is read again as of
/// the revision that it shows, so that the watch goes on where it is.
async fn try_again(cache: &Cache) {
    let revision = cache.revision();
    for stock in cache.all_stocks() {
        let mut entries = Vec::new();
        for Unreadable { key, .. } in stock.all_unreadable(ROOT) {
            entries.extend(cache.store.get(&key, Some(revision)).await.ok().flatten());
        }
        let kind = Kind::of(stock.row());
        cache.encryption.prepare(kind, entries.iter().map(|entry| &*entry.value)).await;
        let mut mended = false;
        for entry in &entries {
            match cache.encryption.open(kind, &entry.key, &entry.value) {
                Ok(raw) => mended |= stock.admit(entry.key.clone(), entry.revision, &raw).is_some(),
                Err(why) => stock.put_unreadable(&entry.key, entry.revision, why),
            }
        }
        if !mended {
            continue;
        }
        match range(cache, stock.prefix(), Some(revision)).await {
            Ok((mut found, _)) => {
                replace(cache, &stock, found.remove(stock.prefix()).unwrap_or_default(), revision);
            }
            Err(error) => tracing::warn!(%error, prefix = stock.prefix(), "what cannot be decrypted is not read again"),
        }
    }
}

/// Everything below a prefix as of one revision, by the prefixes of the stocks.
async fn range(
    cache: &Cache,
    prefix: &str,
    revision: Option<Revision>,
) -> Result<(HashMap<String, Found>, Revision), ferry_store::Error> {
    let mut found: HashMap<String, Found> = HashMap::new();
    let mut page = cache.store.range(prefix, RangeOptions { limit: PAGE, revision, ..RangeOptions::default() }).await?;
    loop {
        // The next page is read while this one is decoded.
        let next = page.more.then(|| {
            let options = RangeOptions {
                limit: PAGE,
                start_after: page.last_key().map(ToString::to_string),
                revision: Some(page.revision),
                ..RangeOptions::default()
            };
            let (store, prefix) = (cache.store.clone(), prefix.to_owned());
            tokio::spawn(async move { store.range(&prefix, options).await })
        });
        let revision = page.revision;
        decode_page(cache, page, &mut found).await;
        page = match next {
            // The task fails only when the runtime goes down under it.
            Some(next) => next.await.map_err(|_| ferry_store::Error::Closed)??,
            None => return Ok((found, revision)),
        };
    }
}

async fn decode_page(cache: &Cache, page: Range, found: &mut HashMap<String, Found>) {
    for damaged in &page.damaged {
        let Some(stock) = cache.stock_of_key(&damaged.key) else { continue };
        let why = describe_damage(damaged);
        set_apart(cache, &why, REPAIR);
        found.entry(stock.prefix().to_owned()).or_default().unreadable.push((damaged.key.clone(), why));
    }
    // Entries come in the order of their keys, so each stock's stand together.
    for entries in page.entries.chunk_by(|a, b| same_stock(cache, &a.key, &b.key)) {
        let Some(stock) = entries.first().and_then(|entry| cache.stock_of_key(&entry.key)) else { continue };
        let kind = Kind::of(stock.row());
        cache.encryption.prepare(kind, entries.iter().map(|entry| &*entry.value)).await;
        let found = found.entry(stock.prefix().to_owned()).or_default();
        for entry in entries {
            match decode(cache, &stock, &entry.key, entry.revision, &entry.value) {
                Ok(stored) => found.objects.push(stored),
                Err(why) => found.unreadable.push((entry.key.clone(), why)),
            }
        }
    }
}

fn same_stock(cache: &Cache, a: &str, b: &str) -> bool {
    match (cache.stock_of_key(a), cache.stock_of_key(b)) {
        (Some(a), Some(b)) => Arc::ptr_eq(&a, &b),
        (None, None) => true,
        _ => false,
    }
}

/// A value that cannot be read is set apart and reported, never a reason to stop: the
/// other objects must stay reachable so that an administrator can repair this one.
fn decode(
    cache: &Cache,
    stock: &Stock,
    key: &Arc<str>,
    revision: Revision,
    value: &[u8],
) -> Result<Stored, Unreadable> {
    let raw = cache.encryption.open(Kind::of(stock.row()), key, value).inspect_err(|error| {
        set_apart(cache, error, "it is not served until its key is there");
    })?;
    stock.admit(key.clone(), revision, &raw).ok_or_else(|| {
        let error = Unreadable { key: key.to_string(), why: "object not decodable".into() };
        set_apart(cache, &error, REPAIR);
        error
    })
}

/// Names an object that cannot be read to the administrator, in the log and in `ferry status`.
fn set_apart(cache: &Cache, error: &Unreadable, way_out: &str) {
    tracing::warn!(%error, "an object in the store cannot be read; it is not served");
    cache.problems.report(REPORTER, &error.key, &format!("{}; {way_out}", error.why));
}

/// A value that the disk has damaged is treated as one that cannot be decrypted.
fn describe_damage(DamagedEntry { key, revision }: &DamagedEntry) -> Unreadable {
    let why = format!("the stored row of revision {revision} does not match its checksum");
    Unreadable { key: key.to_string(), why }
}

async fn apply(cache: &Cache, batch: Vec<ferry_store::Event>) {
    let Some(last) = batch.last().map(|event| event.revision) else { return };
    for event in batch {
        let Some(stock) = cache.stock_of_key(&event.key) else { continue };
        // A damaged object is over with its next change, whatever that is.
        if stock.unreadable(&event.key).is_some() {
            cache.problems.resolve(REPORTER, &event.key);
        }
        match event.kind {
            EventKind::Put => {
                cache.encryption.prepare(Kind::of(stock.row()), std::iter::once(&*event.value)).await;
                match decode(cache, &stock, &event.key, event.revision, &event.value) {
                    Ok(stored) => stock.put(stored),
                    Err(why) => stock.put_unreadable(&event.key, event.revision, why),
                }
            }
            EventKind::Delete => stock.delete(&event.key, event.revision),
        }
    }
    cache.applied.send_replace(last);
}
