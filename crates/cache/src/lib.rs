//! Every object in memory as shared bytes, fed in commit order by the store's watch.
//!
//! One feeder (`feed.rs`) applies the store's changes to one [`Stock`] per storage prefix
//! and then raises the cache's revision. The registry waits for that revision before it
//! acknowledges a write, which gives the rule readers rely on:
//!
//! **Invariant:** whatever has been acknowledged is in the cache, so a read that asks for
//! the most recent state is answered from memory.
//!
//! Between the store and the cache stands `encryption/`, because a value is opened once, as it
//! enters. Rooms above ask for objects by kind through `lookup.rs`, of the kinds in `rows.rs`.

#![warn(unreachable_pub)]

pub mod encode;
pub mod encryption;
mod feed;
pub mod lookup;
pub mod rows;
mod selectable;
mod stock;
mod stored;
mod watcher;
pub mod wire_form;

pub use stock::TooOld;
pub use stock::{Listing, ListingPage, Stock, StockCounts};
pub use stored::{Stored, splice_version};
pub use watcher::{Event, Filter, Scope, Seen, Start, Watcher};

use encryption::Encryption;
use ferry_api::problems::Problems;
use ferry_resources::Row;
use ferry_store::{Revision, Store};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How long a read at a revision that is not here yet waits for it
/// (upstream's blockTimeout in storage/cacher).
const FRESHNESS_TIMEOUT: Duration = Duration::from_secs(3);

pub struct Cache {
    store: Arc<dyn Store>,
    encryption: Arc<Encryption>,
    /// Damaged objects are named there.
    problems: Problems,
    /// By storage prefix; no prefix is the beginning of another.
    stocks: RwLock<HashMap<String, Arc<Stock>>>,
    applied: Arc<watch::Sender<Revision>>,
}

/// The revision that a reader asked for has not been reached in time.
#[derive(Debug, PartialEq, Eq)]
pub struct TooFarAhead {
    pub requested: Revision,
    pub current: Revision,
}

impl Cache {
    /// Reads everything there is and starts the feeder, which ends with the cache.
    pub async fn start(
        store: Arc<dyn Store>,
        encryption: Arc<Encryption>,
        problems: Problems,
        rows: &[Arc<Row>],
    ) -> Result<Arc<Self>, ferry_store::Error> {
        let cache = Arc::new(Self {
            store,
            encryption,
            problems,
            stocks: RwLock::new(HashMap::new()),
            applied: Arc::new(watch::Sender::new(0)),
        });
        for row in rows.iter().filter(|row| row.is_stored() && row.gvk() == row.stored_as) {
            let stock = Arc::new(Stock::new(row.clone(), cache.applied.clone()));
            // The garbage collector of this process follows every kind but events, so that the
            // index of what is read here is kept for it. Events are many, and nobody owns them.
            if row.plural != "events" {
                stock.follow();
            }
            cache.stocks.write().entry(row.storage_prefix.to_string()).or_insert(stock);
        }
        feed::start(&cache).await?;
        Ok(cache)
    }

    /// Begins to hold the objects of a kind, which are read before this returns. Nothing
    /// happens where their stock is here already.
    pub async fn add(&self, row: &Arc<Row>) -> Result<(), ferry_store::Error> {
        let stock = Arc::new(Stock::new(row.clone(), self.applied.clone()));
        {
            let mut stocks = self.stocks.write();
            if stocks.contains_key(row.storage_prefix.as_ref()) {
                return Ok(());
            }
            // From here on the feeder brings changes, which wait for the read below.
            stocks.insert(row.storage_prefix.to_string(), stock.clone());
        }
        let outcome = feed::read(self, &stock).await;
        if outcome.is_err() {
            self.drop_stock(&row.storage_prefix);
        }
        outcome
    }

    /// Lets go of the objects under a prefix and ends the watches of them.
    pub fn drop_stock(&self, prefix: &str) {
        if let Some(stock) = self.stocks.write().remove(prefix) {
            stock.close();
        }
    }

    /// The stock that a row's objects are in; `None` for kinds that are not stored.
    pub fn stock(&self, row: &Row) -> Option<Arc<Stock>> {
        self.stocks.read().get(row.storage_prefix.as_ref()).cloned()
    }

    /// The stock that a key belongs to, whose prefix is two or three parts of the key.
    pub fn stock_of_key(&self, key: &str) -> Option<Arc<Stock>> {
        let stocks = self.stocks.read();
        let mut prefixes = key.match_indices('/').skip(2).map(|(slash, _)| &key[..=slash]);
        prefixes.find_map(|prefix| stocks.get(prefix).cloned())
    }

    pub fn all_stocks(&self) -> Vec<Arc<Stock>> {
        self.stocks.read().values().cloned().collect()
    }

    /// Gives back what has become old. Whether more will be.
    fn sweep(&self) -> bool {
        let now = std::time::Instant::now();
        let rings = self.all_stocks().iter().filter(|stock| stock.sweep(now)).count();
        wire_form::sweep(now) || rings > 0
    }

    /// The revision up to which every change has been applied.
    pub fn revision(&self) -> Revision {
        *self.applied.borrow()
    }

    /// Tells of every revision as it is applied.
    pub fn subscribe_applied(&self) -> watch::Receiver<Revision> {
        self.applied.subscribe()
    }

    /// Returns once every change up to `revision` has been applied.
    pub async fn wait_applied(&self, revision: Revision) {
        if self.revision() >= revision {
            return;
        }
        let mut applied = self.applied.subscribe();
        // The sender lives in self, so the wait cannot fail.
        let _ = applied.wait_for(|applied| *applied >= revision).await;
    }

    /// Makes sure that the next read shows every write acknowledged anywhere.
    pub async fn wait_consistent(&self) {
        self.wait_applied(self.store.current_revision()).await;
    }

    /// For reads that name a revision: waits a little for it, then gives up.
    pub async fn wait_not_older_than(&self, revision: Revision) -> Result<(), TooFarAhead> {
        if self.revision() >= revision {
            return Ok(());
        }
        match tokio::time::timeout(FRESHNESS_TIMEOUT, self.wait_applied(revision)).await {
            Ok(()) => Ok(()),
            Err(_) => Err(TooFarAhead { requested: revision, current: self.revision() }),
        }
    }
}
