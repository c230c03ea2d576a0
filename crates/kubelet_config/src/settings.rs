//! The fields that `ferry_eviction` acts on, as its settings; it judges them, too.

use crate::KubeletConfiguration;
use ferry_eviction::settings::{
    EvictionSettings, ImageGcSettings, LogRotationSettings, PriorityGracePeriod, ShutdownSettings,
};

/// Eviction, garbage collection, log rotation and shutdown.
#[derive(Clone, Debug)]
pub struct PressureSettings {
    pub eviction: EvictionSettings,
    pub image_gc: ImageGcSettings,
    pub log_rotation: LogRotationSettings,
    pub shutdown: ShutdownSettings,
}

impl PressureSettings {
    pub(crate) fn validate(&self) -> Vec<String> {
        let mut mistakes = self.image_gc.validate();
        mistakes.extend(self.log_rotation.validate());
        mistakes.extend(self.shutdown.validate());
        mistakes.extend(self.eviction.validate().err());
        mistakes
    }
}

impl KubeletConfiguration {
    pub fn pressure_settings(&self) -> PressureSettings {
        let mut eviction = EvictionSettings {
            eviction_soft: self.eviction_soft.clone(),
            eviction_soft_grace_period: self.eviction_soft_grace_period.clone(),
            eviction_minimum_reclaim: self.eviction_minimum_reclaim.clone(),
            eviction_pressure_transition_period: self.eviction_pressure_transition_period.duration(),
            eviction_max_pod_grace_period: i64::from(self.eviction_max_pod_grace_period),
            enforce_pods_allocatable: self.enforce_node_allocatable.iter().any(|own| own == "pods"),
            ..Default::default()
        };
        eviction.set_hard(self.eviction_hard.clone(), self.merge_default_eviction_settings);
        let by_priority = self.shutdown_grace_period_by_pod_priority.iter().map(|own| PriorityGracePeriod {
            priority: own.priority,
            shutdown_grace_period_seconds: own.shutdown_grace_period_seconds,
        });
        PressureSettings {
            eviction,
            image_gc: ImageGcSettings {
                image_gc_high_threshold_percent: self.image_gc_high_threshold_percent,
                image_gc_low_threshold_percent: self.image_gc_low_threshold_percent,
                image_minimum_gc_age: self.image_minimum_gc_age,
                image_maximum_gc_age: self.image_maximum_gc_age,
            },
            log_rotation: LogRotationSettings {
                container_log_max_size: self.container_log_max_size.clone(),
                container_log_max_files: self.container_log_max_files,
                container_log_max_workers: self.container_log_max_workers,
                container_log_monitor_interval: self.container_log_monitor_interval,
            },
            shutdown: ShutdownSettings {
                shutdown_grace_period: self.shutdown_grace_period,
                shutdown_grace_period_critical_pods: self.shutdown_grace_period_critical_pods,
                shutdown_grace_period_by_pod_priority: by_priority.collect(),
            },
        }
    }
}
