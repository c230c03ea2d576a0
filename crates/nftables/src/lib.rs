//! nftables and connection tracking without their commands: what rules, sets and maps are ([`Statement`], [`Set`],
//! [`Key`]), the changes that take effect together ([`Transaction`]), and the way of these into
//! the kernel ([`Kernel`]).
//!
//! ```text
//! proxy, policy --> ruleset.rs --> Transaction --> encode/ --> kernel.rs --> nfnetlink
//!    (owners'       (what has           |
//!     rules)         changed)           +--> text, in the notation of `nft`, for reviews and errors
//! ```
//!
//! Nothing is listed and no process is started on the way: the callers know what they have
//! loaded. The vocabulary is as small as they need it to be. `conntrack.rs` ends flows.

#![warn(unreachable_pub)]

mod conntrack;
mod encode;
mod kernel;
mod live;
mod rule;
mod ruleset;
mod set;
mod text;
mod transaction;

pub use self::conntrack::{Conntrack, EndFlow, Flow, Flows};
pub use self::kernel::{Kernel, Nft};
pub use self::live::{LiveTable, RETRY_FIRST, RETRY_LAST, removal, table_in_use};
pub use self::rule::{Base, Chain, Family, Field, Hook, Name, Protocol, Side, Statement, Verdict, short_name};
pub use self::ruleset::{Element, OwnedRules, Ruleset};
pub use self::set::{Data, Key, KeyType, Set};
pub use self::transaction::Transaction;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("opening a netfilter socket")]
    Open(#[source] std::io::Error),
    #[error("sending a transaction to the kernel")]
    Send(#[source] std::io::Error),
    #[error("reading the kernel's answer")]
    Answer(#[source] std::io::Error),
    /// `cause` is what the kernel says of it, if it says more than the error's number.
    #[error("the kernel rejects {statement:?}: {error}{}", .cause.as_ref().map(|cause| format!(" ({cause})")).unwrap_or_default())]
    Rejected { statement: String, error: std::io::Error, cause: Option<String> },
    #[error("the thread that talks to the kernel is gone")]
    Ended,
    #[error("{0:?} cannot name a table: use letters, digits, '-' and '_', starting with a letter")]
    Table(String),
}

/// Checks what users may call a table, which `nft` must be able to read back.
pub fn check_table(table: &str) -> Result<(), Error> {
    let fits = table.chars().all(|character| character.is_ascii_alphanumeric() || "-_".contains(character));
    match table.chars().next() {
        Some(first) if first.is_ascii_alphabetic() && fits => Ok(()),
        _ => Err(Error::Table(table.to_string())),
    }
}
