//! Controllers of pods and of the kinds that make them, after upstream's
//! pkg/controller/{replicaset,deployment,daemon,statefulset,job,cronjob,ttlafterfinished,disruption,podgc}.

pub mod claim;
pub mod cron_job;
pub mod daemon_set;
pub mod deployment;
pub mod disruption;
pub mod expectations;
pub mod job;
pub mod pod_control;
pub mod pod_gc;
pub mod replica_set;
pub mod revision;
pub mod stateful_set;
pub mod template;
pub mod ttl_after_finished;
