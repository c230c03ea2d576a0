//! The flag of `ferry up` that configures the scheduler. It is kept with the cluster, as those of
//! `access.rs` are.

use crate::access::absolute;
use anyhow::{Context, Result};
use clap::Args;
use ferry_scheduler::Configuration;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Args, Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Scheduling {
    /// Profiles, plugins and their arguments: a KubeSchedulerConfiguration [default: one profile, upstream's plugins]
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub scheduler_config: Option<PathBuf>,
}

impl Scheduling {
    /// The file that is named now, or the one that was named before.
    pub fn or(&self, before: &Self) -> Result<Self> {
        let scheduler_config = match &self.scheduler_config {
            Some(file) => Some(absolute(file)?),
            None => before.scheduler_config.clone(),
        };
        Ok(Self { scheduler_config })
    }

    pub fn configuration(&self) -> Result<Configuration> {
        let Some(path) = &self.scheduler_config else { return Ok(Configuration::default()) };
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Configuration::parse(&text).with_context(|| format!("--scheduler-config: {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_remembered_and_its_mistakes_are_named() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("scheduler.yaml");
        let named = Scheduling { scheduler_config: Some(file.clone()) };
        let kept = Scheduling::default().or(&named).expect("the file of before");
        assert_eq!(kept, named);
        assert!(kept.configuration().err().expect("no such file").to_string().contains("cannot read"));
        std::fs::write(
            &file,
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofilez: []\n",
        )
        .expect("written");
        let error = format!("{:#}", kept.configuration().err().expect("an unknown field"));
        assert!(error.contains("--scheduler-config") && error.contains("profilez"), "{error}");
        assert!(Scheduling::default().configuration().is_ok());
    }
}
