//! What is recorded about requests: the flags of `ferry up` for the audit log. They are
//! kept with the cluster, as those of `access.rs` are.

use crate::access::absolute;
use anyhow::{Context, Result, bail};
use clap::Args;
use ferry_apiserver::audit::{Auditor, Batch, Batching, Log, Policy, Rotation, Sink};
use ferry_apiserver::webhook::{Hook, Kubeconfig};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Args, Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Audit {
    /// What is recorded about requests: a Policy of audit.k8s.io/v1 [default: nothing]
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub audit_policy_file: Option<PathBuf>,
    /// Where it is written, one event a line
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub audit_log_path: Option<PathBuf>,
    /// Days after which a log that was set aside is removed [default: never]
    #[arg(long, value_name = "DAYS")]
    #[serde(default)]
    pub audit_log_maxage: Option<u32>,
    /// How many logs that were set aside stay [default: all]
    #[arg(long, value_name = "COUNT")]
    #[serde(default)]
    pub audit_log_maxbackup: Option<usize>,
    /// Megabytes at which the log is set aside [default: 100]
    #[arg(long, value_name = "MB")]
    #[serde(default)]
    pub audit_log_maxsize: Option<u64>,
    /// A kubeconfig naming a server that takes the events too
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub audit_webhook_config_file: Option<PathBuf>,
}

impl Audit {
    /// What is said now, and for the rest what was said before.
    pub fn or(&self, before: &Self) -> Result<Self> {
        let file = |said: &Option<PathBuf>, before: &Option<PathBuf>| match said {
            Some(file) => absolute(file).map(Some),
            None => Ok(before.clone()),
        };
        Ok(Self {
            audit_policy_file: file(&self.audit_policy_file, &before.audit_policy_file)?,
            audit_log_path: file(&self.audit_log_path, &before.audit_log_path)?,
            audit_log_maxage: self.audit_log_maxage.or(before.audit_log_maxage),
            audit_log_maxbackup: self.audit_log_maxbackup.or(before.audit_log_maxbackup),
            audit_log_maxsize: self.audit_log_maxsize.or(before.audit_log_maxsize),
            audit_webhook_config_file: file(&self.audit_webhook_config_file, &before.audit_webhook_config_file)?,
        })
    }

    /// The recorder, if there is a policy. Called inside the runtime, because the webhook's
    /// sender starts at once.
    pub fn auditor(&self) -> Result<Option<Arc<Auditor>>> {
        let mut sinks: Vec<Arc<dyn Sink>> = Vec::new();
        if let Some(path) = &self.audit_log_path {
            let rotation = Rotation {
                max_size_megabytes: self.audit_log_maxsize.unwrap_or_default(),
                max_age_days: self.audit_log_maxage.unwrap_or_default(),
                max_backups: self.audit_log_maxbackup.unwrap_or_default(),
            };
            sinks.push(Arc::new(Log::open(path, rotation).context("--audit-log-path")?));
        }
        if let Some(path) = &self.audit_webhook_config_file {
            let hook = Kubeconfig::read(path).and_then(|config| Hook::from_kubeconfig(&config));
            let hook = hook.context("--audit-webhook-config-file")?;
            sinks.push(Arc::new(Batch::start(Arc::new(hook), Batching::default())));
        }
        let Some(path) = &self.audit_policy_file else {
            if sinks.is_empty() {
                return Ok(None);
            }
            bail!("--audit-policy-file: what is to be recorded must be said");
        };
        if sinks.is_empty() {
            bail!("--audit-policy-file: --audit-log-path or --audit-webhook-config-file must say where it is recorded");
        }
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let policy = Policy::parse(&text).with_context(|| format!("{}", path.display()))?;
        Ok(Some(Arc::new(Auditor::new(policy, sinks))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_and_a_place_need_each_other() {
        let directory = tempfile::tempdir().expect("a directory");
        let policy = directory.path().join("policy.yaml");
        std::fs::write(&policy, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n")
            .expect("written");
        let nothing = Audit::default();
        assert!(nothing.auditor().expect("nothing is asked").is_none());
        let only_policy = Audit { audit_policy_file: Some(policy.clone()), ..nothing.clone() };
        assert!(only_policy.auditor().err().expect("refused").to_string().contains("--audit-log-path"));
        let log = Some(directory.path().join("audit.log"));
        let only_log = Audit { audit_log_path: log.clone(), ..nothing };
        assert!(only_log.auditor().err().expect("refused").to_string().contains("--audit-policy-file"));
        let both = Audit { audit_log_path: log, ..only_policy };
        assert!(both.auditor().expect("good").is_some());
        std::fs::write(&policy, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: All}]\n").expect("written");
        let error = format!("{:#}", both.auditor().err().expect("refused"));
        assert!(error.contains("policy.yaml") && error.contains("rules[0].level: Unsupported value"), "{error}");
    }
}
