//! The kinds of the group `batch`.

pub(crate) mod cron_job;
mod indexes;
pub(crate) mod job;
mod job_spec;
mod job_status;
