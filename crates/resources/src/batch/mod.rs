//! The kinds of the group `batch`.

pub mod cron_job;
mod indexes;
pub mod job;
mod job_spec;
mod job_status;
