//! CPU and memory limits as a cgroup has them, on cgroup v1 and v2, and the amounts that they
//! stand for (upstream: pkg/kubelet/cm/helpers_linux.go).

use crate::container::resources::{PERIOD_MICROSECONDS, PodCgroup, cpu_quota, cpu_shares};
use std::path::Path;

/// The kernel counts memory in pages and rounds a limit down to whole ones.
const PAGE: i64 = 4096;
/// Limits of v1 at or above this are none: the largest number of whole pages.
const NO_LIMIT: i64 = i64::MAX / PAGE * PAGE;

/// How CPU is shared, in the kernel's own unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuWeight {
    Shares(i64),
    Weight(i64),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CgroupValues {
    pub cpu: Option<CpuWeight>,
    /// Microseconds of every [`PERIOD_MICROSECONDS`]; `None` without a limit.
    pub cpu_quota: Option<i64>,
    /// Bytes; `None` without a limit.
    pub memory_limit: Option<i64>,
}

/// Shares of 2..262144 are weights of 1..10000.
pub(super) fn weight_of(shares: i64) -> i64 {
    1 + ((shares - 2).max(0) * 9999) / 262_142
}

/// The same by the formula of newer runtimes, which gives 1024 shares the default weight of 100.
fn curved_weight_of(shares: i64) -> i64 {
    let log = (shares.max(2) as f64).log2();
    (10f64.powf((log * log + 125.0 * log) / 612.0 - 7.0 / 34.0).ceil() as i64).clamp(1, 10_000)
}

impl CgroupValues {
    pub(super) fn read(mount: &Path, v2: bool, cgroup: &str) -> Option<Self> {
        let relative = cgroup.trim_start_matches('/');
        let text = |path: std::path::PathBuf| Some(std::fs::read_to_string(path).ok()?.trim().to_owned());
        let number = |path| text(path)?.parse::<i64>().ok();
        if v2 {
            let at = mount.join(relative);
            let max = text(at.join("cpu.max"))?;
            let mut words = max.split(' ').map(str::parse::<i64>);
            return Some(Self {
                cpu: number(at.join("cpu.weight")).map(CpuWeight::Weight),
                cpu_quota: in_periods(words.next().and_then(Result::ok), words.next().and_then(Result::ok)),
                memory_limit: number(at.join("memory.max")),
            });
        }
        let cpu = mount.join("cpu").join(relative);
        let shares = number(cpu.join("cpu.shares"))?;
        let quota = number(cpu.join("cpu.cfs_quota_us")).filter(|quota| *quota > 0);
        Some(Self {
            cpu: Some(CpuWeight::Shares(shares)),
            cpu_quota: in_periods(quota, number(cpu.join("cpu.cfs_period_us"))),
            memory_limit: number(mount.join("memory").join(relative).join("memory.limit_in_bytes"))
                .filter(|limit| *limit < NO_LIMIT),
        })
    }

    pub fn has_shares(&self, shares: i64) -> bool {
        match self.cpu {
            Some(CpuWeight::Shares(own)) => own == shares,
            Some(CpuWeight::Weight(own)) => own == weight_of(shares) || own == curved_weight_of(shares),
            None => false,
        }
    }

    pub fn has_memory_limit(&self, limit: i64) -> bool {
        self.memory_limit.is_some_and(|own| own == limit || own == limit / PAGE * PAGE)
    }

    /// Whether a pod's cgroup is as it should be. Limits are never taken away, as upstream.
    pub fn is_as(&self, wanted: &PodCgroup) -> bool {
        self.has_shares(wanted.cpu_shares)
            && wanted.cpu_quota.filter(|quota| *quota > 0).is_none_or(|quota| self.cpu_quota == Some(quota))
            && wanted.memory_limit.is_none_or(|limit| self.has_memory_limit(limit))
    }

    /// The request in thousandths that the value stands for: the expected one, where it gives the
    /// same value, and else the least that does.
    pub fn cpu_request(&self, expected: i64) -> Option<i64> {
        if self.has_shares(cpu_shares(expected)) {
            return Some(expected);
        }
        let shares = match self.cpu? {
            CpuWeight::Shares(shares) => shares,
            CpuWeight::Weight(weight) => ((weight - 1) * 262_142) / 9999 + 2,
        };
        Some((shares.saturating_mul(1000) + 1023) / 1024)
    }

    /// The limit in thousandths, likewise.
    pub fn cpu_limit(&self, expected: i64) -> Option<i64> {
        let quota = self.cpu_quota?;
        if quota == cpu_quota(expected) {
            return Some(expected);
        }
        Some(quota.saturating_mul(1000) / PERIOD_MICROSECONDS)
    }
}

/// A quota of another period than ours, in ours.
fn in_periods(quota: Option<i64>, period: Option<i64>) -> Option<i64> {
    match period.filter(|period| *period > 0) {
        Some(period) if period != PERIOD_MICROSECONDS => Some(quota?.saturating_mul(PERIOD_MICROSECONDS) / period),
        _ => quota,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(at: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = at.join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, text).expect("written");
        }
    }

    #[test]
    fn both_hierarchies_are_read() {
        let mount = tempfile::tempdir().expect("a temporary directory");
        assert_eq!(CgroupValues::read(mount.path(), false, "/p"), None);
        write(
            mount.path(),
            &[
                ("cpu/p/cpu.shares", "205\n"),
                ("cpu/p/cpu.cfs_quota_us", "-1\n"),
                ("cpu/p/cpu.cfs_period_us", "100000\n"),
                ("memory/p/memory.limit_in_bytes", "9223372036854771712\n"),
            ],
        );
        let none = CgroupValues { cpu: Some(CpuWeight::Shares(205)), cpu_quota: None, memory_limit: None };
        assert_eq!(CgroupValues::read(mount.path(), false, "/p"), Some(none));
        write(mount.path(), &[("p/cpu.weight", "8\n"), ("p/cpu.max", "20000 100000\n"), ("p/memory.max", "8192\n")]);
        let some = CgroupValues { cpu: Some(CpuWeight::Weight(8)), cpu_quota: Some(20_000), memory_limit: Some(8192) };
        assert_eq!(CgroupValues::read(mount.path(), true, "/p"), Some(some));
        write(mount.path(), &[("p/cpu.max", "max 100000\n"), ("p/memory.max", "max\n")]);
        let open = CgroupValues { cpu: Some(CpuWeight::Weight(8)), cpu_quota: None, memory_limit: None };
        assert_eq!(CgroupValues::read(mount.path(), true, "/p"), Some(open));
    }

    #[test]
    fn a_value_stands_for_the_expected_amount_where_it_can() {
        let values =
            CgroupValues { cpu: Some(CpuWeight::Shares(204)), cpu_quota: Some(1000), memory_limit: Some(4096) };
        assert_eq!(values.cpu_request(200), Some(200));
        assert_eq!(values.cpu_request(300), Some(200));
        assert_eq!((values.cpu_limit(5), values.cpu_limit(50)), (Some(5), Some(10)));
        assert!(values.has_memory_limit(5000) && !values.has_memory_limit(9000));
        let weight = CgroupValues { cpu: Some(CpuWeight::Weight(weight_of(204))), ..values };
        assert_eq!(weight.cpu_request(200), Some(200));
        let curved = CgroupValues { cpu: Some(CpuWeight::Weight(curved_weight_of(1024))), ..values };
        assert_eq!((curved.cpu, curved.cpu_request(1000)), (Some(CpuWeight::Weight(100)), Some(1000)));
    }
}
