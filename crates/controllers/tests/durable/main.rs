//! The controllers over a real API server and a store on disk, both killed at random moments and
//! started again on what the disk has: roll-outs keep within their bounds as a watcher sees them,
//! DaemonSets too, StatefulSets keep their order, and Jobs count every pod once.
//!
//! The numbers are small, so that the suite stays quick in a debug build; `FERRY_FULL_SIZE=1`
//! takes those of a large cluster (1,000 replicas, 100 ordered pods, 1,000 completions), and
//! `FERRY_SEED=7` other moments to be killed at.

mod attachments;
mod cluster;
mod daemon_sets;
mod deployments;
mod hollow;
mod jobs;
mod stateful_sets;
mod watcher;
