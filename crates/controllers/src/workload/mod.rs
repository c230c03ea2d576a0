//! Controllers of pods and of the kinds that make them, after upstream's
//! pkg/controller/{replicaset,deployment,daemon,statefulset,job,cronjob,ttlafterfinished,disruption,podgc}.

pub(crate) mod claim;
pub(crate) mod cron_job;
pub(crate) mod daemon_set;
pub(crate) mod deployment;
pub(crate) mod disruption;
pub(crate) mod expectations;
pub(crate) mod job;
pub(crate) mod pod_control;
pub(crate) mod pod_gc;
pub(crate) mod replica_set;
pub(crate) mod revision;
pub(crate) mod stateful_set;
pub(crate) mod template;
pub(crate) mod ttl_after_finished;
