//! A table in the kernel that is kept in step with a [`Ruleset`]. The loops of the proxy and of
//! the policies own one each: they replace owners' rules as events come, call
//! [`LiveTable::sync`] when [`LiveTable::is_due`], and wake up for [`LiveTable::woken`].
//!
//! While one transaction runs, changes queue up and make the next one, so that a burst becomes
//! a few transactions without a timer. After a failure the kernel's content is in doubt, hence
//! the next attempt replaces all of it, later and later until one succeeds.

use std::time::Duration;

use ferry_api::rules::backoff::Backoff;
use tokio::time::Instant;

use crate::Error;
use crate::kernel::Nft;
use crate::rule::Name;
use crate::ruleset::{OwnedRules, Ruleset};
use crate::transaction::Transaction;

/// The name under which a large table is built while the one in use stays.
fn spare_table(table: &str) -> Name {
    format!("{table}-2").into()
}

/// Removes a table under both of its names, whether it is there or not.
pub fn removal(table: &str) -> Transaction {
    let mut removal = Transaction::removal(table);
    removal.supersede(spare_table(table));
    removal
}

/// The name under which a table is in use, of both of its names; the first, if it is not there.
pub async fn table_in_use(nft: &dyn Nft, table: &str) -> Result<Name, Error> {
    let spare = spare_table(table);
    Ok(if nft.is_active(&spare).await? { spare } else { table.into() })
}

/// The first and the longest wait after a failure.
pub const RETRY_FIRST: Duration = Duration::from_millis(500);
pub const RETRY_LAST: Duration = Duration::from_secs(30);

/// The most that one transaction may weigh: the kernel has one lock for all of a network
/// namespace's nftables and keeps it for a transaction.
const PART: usize = 4_000;

/// How long a stale chain is left to be released by the kernel.
const STALE_AFTER: Duration = Duration::from_secs(2);

pub struct LiveTable<'a, O> {
    nft: &'a dyn Nft,
    /// Replaces the table with its frame: the chains and sets that are always there.
    frame: Transaction,
    /// The name that is in use, of the frame's and the [`spare_table`]'s.
    table: Name,
    ruleset: Ruleset<O>,
    pending: Transaction,
    /// The kernel's content is not known: at the start, and after a failure.
    needs_full: bool,
    backoff: Backoff,
    /// When to try again, or to remove stale chains.
    retry_at: Option<Instant>,
    stale_at: Option<Instant>,
}

impl<'a, O: Ord + Clone> LiveTable<'a, O> {
    pub fn new(nft: &'a dyn Nft, frame: Transaction) -> LiveTable<'a, O> {
        let pending = Transaction::new(frame.table.clone());
        LiveTable {
            nft,
            table: frame.table.clone(),
            frame,
            ruleset: Ruleset::default(),
            pending,
            needs_full: true,
            backoff: Backoff::new(RETRY_FIRST, RETRY_LAST),
            retry_at: None,
            stale_at: None,
        }
    }

    /// Gives an owner its new rules, to be loaded by the next [`LiveTable::sync`]; once between
    /// two of them.
    pub fn replace(&mut self, owner: &O, rules: OwnedRules) {
        self.ruleset.replace(owner, rules, &mut self.pending);
    }

    /// Whether the kernel may be given what the owner's events amount to now.
    pub fn is_due(&self) -> bool {
        !self.is_waiting() && (self.needs_full || !self.pending.is_empty() || self.ruleset.has_unsettled())
    }

    /// An attempt has failed, and the next one is not due yet. Events may pile up meanwhile.
    pub fn is_waiting(&self) -> bool {
        self.retry_at.is_some_and(|at| Instant::now() < at)
    }

    /// Whether the table was complete after the last [`LiveTable::sync`].
    pub fn is_complete(&self) -> bool {
        !self.needs_full
    }

    /// Brings the kernel up to date; an error is logged and leads to another attempt later.
    pub async fn sync(&mut self) {
        let mut transaction = std::mem::replace(&mut self.pending, Transaction::new(self.table.clone()));
        let started = Instant::now();
        let result = if self.needs_full {
            self.replace_all().await.map(|()| transaction.len())
        } else {
            self.ruleset.settle(&mut transaction);
            if transaction.is_empty() {
                return;
            }
            self.apply_in_stages(transaction).await
        };
        match result {
            Ok(changes) => {
                tracing::debug!(table = &*self.table, changes, full = self.needs_full, elapsed = ?started.elapsed(), "rules are in place");
                self.needs_full = false;
                self.backoff.reset();
                self.retry_at = None;
                self.stale_at = self.ruleset.has_stale().then(|| Instant::now() + STALE_AFTER);
            }
            Err(error) => self.fail(&error),
        }
    }

    /// Returns the number of changes.
    async fn apply_in_stages(&self, transaction: Transaction) -> Result<usize, Error> {
        let changes = transaction.len();
        for stage in transaction.stages() {
            self.nft.apply(&stage).await?;
        }
        Ok(changes)
    }

    /// Puts the whole table in the place of what is there: at once if it is small, else beside
    /// it, part by part, and then in its place.
    async fn replace_all(&mut self) -> Result<(), Error> {
        let mut whole = self.frame.clone();
        self.ruleset.add_all(&mut whole);
        let (first, spare) = (self.frame.table.clone(), spare_table(&self.frame.table));
        if whole.weight() <= PART {
            whole.supersede(spare);
            self.nft.apply(&whole).await?;
            self.use_table(first);
            return Ok(());
        }
        let (next, present) = if self.nft.is_active(&first).await? { (spare, first) } else { (first, spare) };
        whole.table = next.clone();
        whole.supersede(present);
        for part in whole.split(PART) {
            self.nft.apply(&part).await?;
        }
        self.use_table(next);
        Ok(())
    }

    fn use_table(&mut self, table: Name) {
        self.pending.table = table.clone();
        self.table = table;
    }

    fn fail(&mut self, error: &Error) {
        let wait = self.backoff.next_pause();
        tracing::error!(table = &*self.table, error = error as &dyn std::error::Error, retry_in = ?wait, "the rules could not be set");
        self.needs_full = true;
        self.retry_at = Some(Instant::now() + wait);
        self.stale_at = None;
    }

    /// Returns when an attempt is due again or stale chains may go; never, if neither is.
    pub async fn woken(&self) {
        let retry = self.retry_at.filter(|_| self.is_waiting());
        match [retry, self.stale_at].into_iter().flatten().min() {
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    /// Removes chains that nothing leads to any more, if it is time.
    pub async fn remove_stale(&mut self) {
        if self.stale_at.is_none_or(|at| Instant::now() < at) {
            return;
        }
        self.stale_at = None;
        let chains = self.ruleset.take_stale();
        let mut removal = Transaction::new(self.table.clone());
        chains.iter().for_each(|chain| removal.delete_chain(chain.clone()));
        if removal.is_empty() {
            return;
        }
        if let Err(error) = self.nft.apply(&removal).await {
            // They are empty and nothing leads to them, so there is no hurry.
            tracing::debug!(error = &error as &dyn std::error::Error, "stale chains are still in use");
            self.ruleset.keep_stale(chains);
            self.stale_at = Some(Instant::now() + RETRY_LAST);
        }
    }
}
