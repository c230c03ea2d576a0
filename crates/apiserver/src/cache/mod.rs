//! Every object in memory as shared bytes, fed in commit order by the store's watch.

mod stored;

pub use stored::Stored;
