//! All controllers together against an API in memory, with the tests as user, kubelet and CSI
//! driver. Each file is about one kind of object; harness.rs starts the controllers.

mod at_rest;
mod attachments;
mod autoscaling;
mod cron_jobs;
mod harness;
mod jobs;
mod memory_api;
mod nodes;
mod reconcile;
mod resource_claims;
mod stateful_set;
mod volumes;
