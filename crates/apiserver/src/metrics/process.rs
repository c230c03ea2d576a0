//! What the kernel says of this process, under the names of Prometheus' client libraries,
//! and which Kubernetes it is.

use super::family::{head, line, render_labels};

/// Linux counts time for user space in hundredths of a second, on every machine.
const TICKS: f64 = 100.0;

pub(super) fn render(out: &mut String) {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let texts = (read("/proc/self/stat"), read("/proc/self/status"), read("/proc/self/limits"), read("/proc/stat"));
    let open = std::fs::read_dir("/proc/self/fd").map(|files| files.count()).ok();
    let figures = compute(&texts.0, &texts.1, &texts.2, &texts.3);
    for (name, kind, help, value) in [
        ("process_cpu_seconds_total", "counter", "Processor time used, in seconds.", figures.cpu_seconds),
        ("process_max_fds", "gauge", "How many files may be open.", figures.max_files),
        ("process_open_fds", "gauge", "How many files are open.", open.map(|count| count as f64)),
        ("process_resident_memory_bytes", "gauge", "Memory in use.", figures.resident),
        ("process_start_time_seconds", "gauge", "When the process began, in seconds since 1970.", figures.started),
        ("process_virtual_memory_bytes", "gauge", "Address space in use.", figures.virtual_size),
    ] {
        if let Some(value) = value {
            head(out, name, kind, help);
            line(out, name, "", value);
        }
    }
    render_build(out);
}

/// When the process began; alone, because the health figures tell it too.
pub(super) fn render_start(out: &mut String) {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    if let Some(started) = compute(&read("/proc/self/stat"), "", "", &read("/proc/stat")).started {
        let name = "process_start_time_seconds";
        head(out, name, "gauge", "When the process began, in seconds since 1970.");
        line(out, name, "", started);
    }
}

fn render_build(out: &mut String) {
    let version = crate::non_resource::version::render();
    let names = [
        ("major", "major"),
        ("minor", "minor"),
        ("git_version", "gitVersion"),
        ("git_commit", "gitCommit"),
        ("git_tree_state", "gitTreeState"),
        ("build_date", "buildDate"),
        ("go_version", "goVersion"),
        ("compiler", "compiler"),
        ("platform", "platform"),
    ];
    let values = names.map(|(_, field)| version[field].as_str().unwrap_or_default());
    let name = "kubernetes_build_info";
    head(out, name, "gauge", "Always 1; the labels say what runs.");
    line(out, name, &render_labels(&names.map(|(label, _)| label), &values), 1);
}

#[derive(Debug, Default, PartialEq)]
struct Figures {
    cpu_seconds: Option<f64>,
    started: Option<f64>,
    resident: Option<f64>,
    virtual_size: Option<f64>,
    max_files: Option<f64>,
}

/// What stands in /proc/self/stat, /proc/self/status, /proc/self/limits and /proc/stat.
fn compute(stat: &str, status: &str, limits: &str, machine: &str) -> Figures {
    // The name of the program is in brackets and may hold anything, spaces too.
    let fields: Vec<&str> =
        stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect()).unwrap_or_default();
    // Numbers are counted from the third field of proc(5), which comes first here.
    let ticks = |number: usize| fields.get(number - 3).and_then(|text| text.parse::<f64>().ok());
    let kilobytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let number: f64 = line.trim_start_matches(':').split_whitespace().next()?.parse().ok()?;
        Some(number * 1024.0)
    };
    let boot = machine.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse::<f64>().ok());
    let max_files = limits.lines().find_map(|line| {
        let soft = line.strip_prefix("Max open files")?.split_whitespace().next()?;
        soft.parse().ok()
    });
    Figures {
        cpu_seconds: ticks(14).zip(ticks(15)).map(|(user, system)| (user + system) / TICKS),
        started: ticks(22).zip(boot).map(|(ticks, boot)| boot + ticks / TICKS),
        resident: kilobytes("VmRSS"),
        virtual_size: kilobytes("VmSize"),
        max_files,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_texts_are_read() {
        let stat = "12 (a ) name) S 1 12 12 0 -1 4194560 3100 0 5 0 250 50 0 0 20 0 9 0 4200 123 456 789";
        let status = "Name:\tferry\nVmSize:\t  2000 kB\nVmRSS:\t  1000 kB\n";
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 4096                 files\n";
        let expected = Figures {
            cpu_seconds: Some(3.0),
            started: Some(1_700_000_042.0),
            resident: Some(1_024_000.0),
            virtual_size: Some(2_048_000.0),
            max_files: Some(1024.0),
        };
        assert_eq!(compute(stat, status, limits, "cpu 1 2 3\nbtime 1700000000\n"), expected);
        assert_eq!(compute("", "", "Max open files unlimited", ""), Figures::default());
    }

    #[test]
    fn this_process_is_told() {
        let mut out = String::new();
        render(&mut out);
        for name in ["process_cpu_seconds_total ", "process_open_fds ", "process_resident_memory_bytes "] {
            assert!(out.contains(&format!("\n{name}")), "{name}\n{out}");
        }
        assert!(out.contains("kubernetes_build_info{build_date=") && out.contains("minor=\"36\""), "{out}");
    }
}
