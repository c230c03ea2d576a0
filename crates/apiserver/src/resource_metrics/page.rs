//! Reads a kubelet's /metrics/resource: Prometheus' text format, of which only the five
//! metrics that metrics-server reads are kept. Any line that says nothing of those is
//! skipped, so that a kubelet of another version is read as far as it goes.

use std::collections::{BTreeMap, HashMap};

/// CPU time and memory at one moment of the kubelet's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UsagePoint {
    /// Milliseconds since the epoch.
    pub time: i64,
    /// When the counting began, where the kubelet says it.
    pub started: Option<i64>,
    pub cpu_nanoseconds: u64,
    pub memory_bytes: u64,
}

/// A pod's namespace and name.
pub type PodKey = (String, String);

/// The points of one page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsagePage {
    pub node: Option<UsagePoint>,
    pub pods: HashMap<PodKey, BTreeMap<String, UsagePoint>>,
}

#[derive(Clone, Copy, Default)]
struct Partial {
    time: Option<i64>,
    started: Option<i64>,
    cpu: Option<u64>,
    memory: Option<u64>,
}

impl Partial {
    /// A point is whole with CPU and memory. Either of them at zero is a container that is
    /// just starting or ending, and its kubelet knows nothing of it.
    fn whole(self, read_at: i64) -> Option<UsagePoint> {
        Some(UsagePoint {
            time: self.time.unwrap_or(read_at),
            started: self.started,
            cpu_nanoseconds: self.cpu.filter(|cpu| *cpu > 0)?,
            memory_bytes: self.memory.filter(|memory| *memory > 0)?,
        })
    }
}

impl UsagePage {
    /// `read_at` is the time, in milliseconds, of lines that carry none.
    pub fn parse(text: &str, read_at: i64) -> Self {
        let mut node = Partial::default();
        let mut pods: HashMap<PodKey, BTreeMap<String, Partial>> = HashMap::new();
        for line in text.lines() {
            let Some(line) = Line::parse(line) else { continue };
            match line.name {
                "node_cpu_usage_seconds_total" => (node.cpu, node.time) = (line.nanoseconds(), line.time),
                "node_memory_working_set_bytes" => node.memory = line.bytes(),
                "container_cpu_usage_seconds_total"
                | "container_memory_working_set_bytes"
                | "container_start_time_seconds" => {
                    let (Some(namespace), Some(pod), Some(container)) =
                        (line.label("namespace"), line.label("pod"), line.label("container"))
                    else {
                        continue;
                    };
                    let partial = pods.entry((namespace, pod)).or_default().entry(container).or_default();
                    match line.name {
                        "container_cpu_usage_seconds_total" => {
                            (partial.cpu, partial.time) = (line.nanoseconds(), line.time);
                        }
                        "container_memory_working_set_bytes" => partial.memory = line.bytes(),
                        _ => {
                            partial.started = line.nanoseconds().and_then(|nanos| i64::try_from(nanos / 1_000_000).ok())
                        }
                    }
                }
                _ => {}
            }
        }
        // A pod of which one container is not known would seem to use less than it does.
        let whole = |containers: BTreeMap<String, Partial>| -> Option<BTreeMap<String, UsagePoint>> {
            containers.into_iter().map(|(name, partial)| Some((name, partial.whole(read_at)?))).collect()
        };
        Self {
            node: node.whole(read_at),
            pods: pods.into_iter().filter_map(|(key, containers)| Some((key, whole(containers)?))).collect(),
        }
    }
}

/// `name{label="value",…} value time`, where labels and time may be missing.
struct Line<'a> {
    name: &'a str,
    labels: &'a str,
    value: f64,
    time: Option<i64>,
}

impl<'a> Line<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| c == '{' || c.is_whitespace())?;
        let (name, rest) = text.split_at(end);
        if name.is_empty() || name.starts_with('#') {
            return None;
        }
        let (labels, rest) = match rest.strip_prefix('{') {
            Some(rest) => {
                let end = end_of_labels(rest)?;
                (rest.get(..end)?, rest.get(end + 1..)?)
            }
            None => ("", rest),
        };
        let mut words = rest.split_whitespace();
        let value = words.next()?.parse().ok()?;
        let time = words.next().and_then(|time| time.parse().ok());
        Some(Self { name, labels, value, time })
    }

    fn label(&self, name: &str) -> Option<String> {
        labels(self.labels).find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Seconds as whole nanoseconds; `None` for what is no amount of time.
    fn nanoseconds(&self) -> Option<u64> {
        let nanoseconds = self.value * 1e9;
        (nanoseconds.is_finite() && nanoseconds >= 0.0 && nanoseconds < u64::MAX as f64).then_some(nanoseconds as u64)
    }

    fn bytes(&self) -> Option<u64> {
        (self.value.is_finite() && self.value >= 0.0 && self.value < u64::MAX as f64).then_some(self.value as u64)
    }
}

/// Where the closing brace stands; one in a label's value closes nothing.
fn end_of_labels(text: &str) -> Option<usize> {
    let mut quoted = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'}' if !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

fn labels(mut rest: &str) -> impl Iterator<Item = (&str, String)> {
    std::iter::from_fn(move || {
        let (key, after) = rest.split_once("=\"")?;
        let mut value = String::new();
        let mut characters = after.char_indices();
        let end = loop {
            let (at, character) = characters.next()?;
            match character {
                '"' => break at + 1,
                '\\' => match characters.next()?.1 {
                    'n' => value.push('\n'),
                    other => value.push(other),
                },
                other => value.push(other),
            }
        };
        rest = after.get(end..)?;
        Some((key.trim_start_matches([',', ' ']).trim(), value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, node: Option<UsagePoint>, pods: &[(&str, &str, &str, UsagePoint)]) {
        let page = UsagePage::parse(text, 7);
        let mut found: Vec<(&str, &str, &str, UsagePoint)> = Vec::new();
        for ((namespace, pod), containers) in &page.pods {
            found.extend(
                containers.iter().map(|(name, point)| (namespace.as_str(), pod.as_str(), name.as_str(), *point)),
            );
        }
        found.sort_by_key(|(namespace, pod, container, _)| (*namespace, *pod, *container));
        assert_eq!((page.node, found.as_slice()), (node, pods), "{text}");
    }

    #[test]
    fn a_kubelets_page_is_read() {
        let page = r#"# HELP container_cpu_usage_seconds_total [STABLE] Cumulative cpu time
# TYPE container_cpu_usage_seconds_total counter
container_cpu_usage_seconds_total{container="main",namespace="a",pod="web"} 1.5 1700000000123
container_memory_working_set_bytes{container="main",namespace="a",pod="web"} 1.048576e+06 1700000000124
container_start_time_seconds{container="main",namespace="a",pod="web"} 1.6e+09
node_cpu_usage_seconds_total 90.25 1700000000001
node_memory_working_set_bytes 4096 1700000000002
resource_scrape_error 0
"#;
        let main = UsagePoint {
            time: 1_700_000_000_123,
            started: Some(1_600_000_000_000),
            cpu_nanoseconds: 1_500_000_000,
            memory_bytes: 1 << 20,
        };
        let node =
            UsagePoint { time: 1_700_000_000_001, started: None, cpu_nanoseconds: 90_250_000_000, memory_bytes: 4096 };
        check(page, Some(node), &[("a", "web", "main", main)]);
    }

    #[test]
    fn a_point_without_cpu_or_memory_is_none_and_takes_its_pod_along() {
        let point = UsagePoint { time: 7, started: None, cpu_nanoseconds: 2_000_000_000, memory_bytes: 3 };
        let both = "container_cpu_usage_seconds_total{pod=\"p\",namespace=\"a\",container=\"c\"} 2\ncontainer_memory_working_set_bytes{pod=\"p\",namespace=\"a\",container=\"c\"} 3\n";
        check(both, None, &[("a", "p", "c", point)]);
        let other = both.replace("\"c\"", "\"d\"").replace("} 3", "} 0");
        check(&format!("{both}{other}"), None, &[]);
        check("node_cpu_usage_seconds_total 1\n", None, &[]);
    }

    #[test]
    fn lines_that_are_nonsense_are_skipped() {
        for text in [
            "",
            "{",
            "node_cpu_usage_seconds_total",
            "node_cpu_usage_seconds_total NaN\nnode_memory_working_set_bytes 1",
            "node_cpu_usage_seconds_total -1\nnode_memory_working_set_bytes 1",
            "node_cpu_usage_seconds_total 1e300\nnode_memory_working_set_bytes 1",
            "container_cpu_usage_seconds_total{pod=\"p} 1",
            "container_cpu_usage_seconds_total{pod=\"p\\",
            "container_cpu_usage_seconds_total{pod=\"p\"} 1",
            "é{é=\"é\"} é",
        ] {
            check(text, None, &[]);
        }
    }

    #[test]
    fn label_values_may_hold_anything() {
        let escaped = r#"a="x}\"y",b="\\z\n" "#;
        let found: Vec<(&str, String)> = labels(escaped).collect();
        assert_eq!(found, [("a", "x}\"y".to_owned()), ("b", "\\z\n".to_owned())]);
        assert_eq!(end_of_labels(r#"a="x}\"y"} 1"#), Some(9));
    }
}
