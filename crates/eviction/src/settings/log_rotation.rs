//! The settings of the rotation of container logs.

use ferry_api::quantity::Quantity;
use ferry_api::rules::duration::GoDuration;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRotationSettings {
    /// A log as large as this is rotated; a negative amount rotates none.
    pub container_log_max_size: String,
    /// The files of a container's log, the one that is written to among them.
    pub container_log_max_files: i32,
    /// The logs that are rotated and compressed at the same time.
    pub container_log_max_workers: i32,
    pub container_log_monitor_interval: GoDuration,
}

impl Default for LogRotationSettings {
    fn default() -> Self {
        Self {
            container_log_max_size: "10Mi".into(),
            container_log_max_files: 5,
            container_log_max_workers: 1,
            container_log_monitor_interval: GoDuration(Duration::from_secs(10).as_nanos() as i64),
        }
    }
}

impl LogRotationSettings {
    /// In bytes; `None` where logs are not rotated.
    pub fn max_size(&self) -> Result<Option<u64>, String> {
        let text = &self.container_log_max_size;
        let failed = |why: &str| format!("failed to parse container log max size {text:?}: {why}");
        let quantity = Quantity::parse(text).map_err(|error| failed(&error.to_string()))?;
        if quantity.milli_value() % 1000 != 0 {
            return Err(failed("invalid max log size"));
        }
        Ok(u64::try_from(quantity.value()).ok())
    }

    pub fn validate(&self) -> Vec<String> {
        let mut errors = Vec::new();
        let mut error = |text: &str| errors.push(format!("invalid configuration: {text}"));
        if self.container_log_max_workers < 1 {
            error("containerLogMaxWorkers must be greater than or equal to 1");
        }
        if self.container_log_monitor_interval.0 < 3_000_000_000 {
            error("containerLogMonitorInterval must be a positive time duration greater than or equal to 3s");
        }
        if self.container_log_max_files <= 1 {
            error("containerLogMaxFiles must be greater than 1");
        }
        errors.extend(self.max_size().err());
        errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_mistakes_named() {
        let of = |size: &str| LogRotationSettings { container_log_max_size: size.into(), ..Default::default() };
        assert_eq!(of("10Mi").max_size(), Ok(Some(10 << 20)));
        assert_eq!(of("-1").max_size(), Ok(None));
        assert_eq!(
            of("big").validate(),
            [
                "failed to parse container log max size \"big\": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            ]
        );
        let wrong = LogRotationSettings {
            container_log_max_files: 1,
            container_log_max_workers: 0,
            container_log_monitor_interval: GoDuration(2_999_999_999),
            ..Default::default()
        };
        assert_eq!(
            wrong.validate(),
            [
                "invalid configuration: containerLogMaxWorkers must be greater than or equal to 1",
                "invalid configuration: containerLogMonitorInterval must be a positive time duration greater than or equal to 3s",
                "invalid configuration: containerLogMaxFiles must be greater than 1",
            ]
        );
    }
}
