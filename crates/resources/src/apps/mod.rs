//! The kinds of the group `apps`.

pub mod controller_revision;
pub mod deployment;
pub mod replica_set;
mod replicas;
