//! The kernel's messages about processes that it killed for want of memory (upstream: cAdvisor's
//! utils/oomparser, pkg/kubelet/oom).

/// Lines of one kill, from `invoked oom-killer` to `Killed process`.
#[derive(Debug, Default)]
pub struct OomParser {
    /// A kill that has begun, with the cgroup of its victim where a cgroup ran short.
    begun: Option<Option<String>>,
}

/// A process that was killed because the whole machine, or its root cgroup, ran short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemOom {
    pub process: String,
    pub pid: i64,
}

impl SystemOom {
    /// The message of the node's event.
    pub fn message(&self) -> String {
        if self.process.is_empty() || self.pid == 0 {
            return "System OOM encountered".to_owned();
        }
        format!("System OOM encountered, victim process: {}, pid: {}", self.process, self.pid)
    }
}

impl OomParser {
    /// One line of the kernel's log. A kill in a container's cgroup is that container's matter and
    /// no news of the node.
    pub fn read(&mut self, line: &str) -> Option<SystemOom> {
        if line.contains("invoked oom-killer:") {
            self.begun = Some(None);
            return None;
        }
        let victim_cgroup = self.begun.as_mut()?;
        if let Some(constraint) = line.strip_prefix("oom-kill:") {
            let field = |name: &str| constraint.split(',').find_map(|field| field.strip_prefix(name));
            if field("oom_memcg=").is_some() {
                *victim_cgroup = field("task_memcg=").map(str::to_owned);
            }
            return None;
        }
        let (pid, process) = killed_process(line)?;
        let cgroup = self.begun.take().flatten();
        (cgroup.is_none_or(|cgroup| cgroup == "/")).then(|| SystemOom { process: process.to_owned(), pid })
    }
}

/// `… Killed process 42 (name) …`; the name may have parentheses of its own.
fn killed_process(line: &str) -> Option<(i64, &str)> {
    let (_, rest) = line.split_once("Killed process ")?;
    let (pid, rest) = rest.split_once(' ')?;
    let name = rest.strip_prefix('(')?;
    let end = name.find(") ").or_else(|| name.find("),")).or_else(|| name.rfind(')'))?;
    Some((pid.trim_end_matches(',').parse().ok()?, &name[..end]))
}

/// The text of a record of /dev/kmsg: `priority,sequence,time,flags;text`, with further lines for
/// whoever wants to know the device.
pub fn kmsg_text(record: &str) -> &str {
    let text = record.split_once(';').map_or(record, |(_, text)| text);
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], expected: Option<(&str, i64)>) {
        let mut parser = OomParser::default();
        let found: Vec<SystemOom> = lines.iter().filter_map(|line| parser.read(line)).collect();
        let found: Vec<(&str, i64)> = found.iter().map(|oom| (oom.process.as_str(), oom.pid)).collect();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn only_kills_of_the_whole_machine_are_the_nodes() {
        check(
            &[
                "stress invoked oom-killer: gfp_mask=0x1100cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0",
                "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/kubepods/pod1/c,task=stress,pid=42,uid=0",
                "Out of memory: Killed process 42 (stress) total-vm:1kB, anon-rss:1kB, UID:0 pgtables:1kB oom_score_adj:0",
            ],
            Some(("stress", 42)),
        );
        check(
            &[
                "stress invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=1000",
                "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/kubepods/pod1,task_memcg=/kubepods/pod1/c,task=stress,pid=42,uid=0",
                "Memory cgroup out of memory: Killed process 42 (stress) total-vm:1kB",
            ],
            None,
        );
        check(&["Out of memory: Killed process 42 (stress) total-vm:1kB"], None);
    }

    #[test]
    fn names_with_parentheses_and_records_of_the_log_are_read() {
        check(
            &["(sd-pam) invoked oom-killer: x", "Out of memory: Killed process 7 ((sd-pam)) total-vm:1kB"],
            Some(("(sd-pam)", 7)),
        );
        assert_eq!(kmsg_text("6,339,5140900,-;NET: Registered\n SUBSYSTEM=x\n"), "NET: Registered");
        let oom = SystemOom { process: "stress".into(), pid: 42 };
        assert_eq!(oom.message(), "System OOM encountered, victim process: stress, pid: 42");
    }
}
