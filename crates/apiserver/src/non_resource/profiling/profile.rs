//! Sampled stacks to the message that `go tool pprof` reads (google/pprof's profile.proto):
//! strings, functions and locations are each told once and named by number after that.

use prost::Message;
use std::collections::HashMap;
use std::time::Duration;

/// One stack, innermost frame first, and how often it was met.
pub(super) struct Stack {
    pub thread: String,
    /// The calls at one address: more than one where some were inlined, innermost first.
    pub frames: Vec<Vec<Call>>,
    pub count: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Call {
    pub name: String,
    pub system_name: String,
    pub file: String,
    pub line: u32,
}

/// When the samples were taken, for how long, and how far apart.
pub(super) struct Sampled {
    /// Since the epoch.
    pub started: Duration,
    pub took: Duration,
    pub period: Duration,
}

pub(super) fn compute_profile(stacks: impl IntoIterator<Item = Stack>, sampled: &Sampled) -> Profile {
    let mut tables = Tables::default();
    // The first string is the empty one, by which a message says that it names none.
    tables.string("");
    let cpu = ValueType { kind: tables.string("cpu"), unit: tables.string("nanoseconds") };
    let sample_type = vec![ValueType { kind: tables.string("samples"), unit: tables.string("count") }, cpu.clone()];
    let thread = tables.string("thread");
    let period = nanoseconds(sampled.period);
    let sample = stacks
        .into_iter()
        .map(|stack| Sample {
            location_id: sampled_frames(&stack.frames).iter().map(|calls| tables.location(calls)).collect(),
            value: vec![stack.count, stack.count.saturating_mul(period)],
            label: vec![Label { key: thread, str: tables.string(&stack.thread) }],
        })
        .collect();
    Profile {
        sample_type,
        sample,
        location: tables.locations,
        function: tables.functions,
        string_table: tables.strings,
        time_nanos: nanoseconds(sampled.started),
        duration_nanos: nanoseconds(sampled.took),
        period_type: Some(cpu),
        period,
    }
}

/// The frames below the sampler's own, which stand innermost: it looks at the stack from a
/// function that was called on top of it.
fn sampled_frames(frames: &[Vec<Call>]) -> &[Vec<Call>] {
    /// The sampler is never deeper than this.
    const DEPTH: usize = 8;
    let is_own = |calls: &Vec<Call>| calls.iter().any(|call| call.name.contains("pprof::"));
    let own = frames.iter().take(DEPTH).rposition(is_own).map_or(0, |last| last + 1);
    &frames[own..]
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// What has been told so far.
#[derive(Default)]
struct Tables {
    strings: Vec<String>,
    string_ids: HashMap<String, i64>,
    functions: Vec<Function>,
    function_ids: HashMap<(i64, i64), u64>,
    locations: Vec<Location>,
    location_ids: HashMap<Vec<Call>, u64>,
}

impl Tables {
    fn string(&mut self, text: &str) -> i64 {
        if let Some(id) = self.string_ids.get(text) {
            return *id;
        }
        let id = self.strings.len() as i64;
        self.strings.push(text.to_owned());
        self.string_ids.insert(text.to_owned(), id);
        id
    }

    fn function(&mut self, call: &Call) -> u64 {
        let (name, system_name) = (self.string(&call.name), self.string(&call.system_name));
        let filename = self.string(&call.file);
        let next = self.functions.len() as u64 + 1;
        let id = *self.function_ids.entry((system_name, filename)).or_insert(next);
        if id == next {
            self.functions.push(Function { id, name, system_name, filename });
        }
        id
    }

    fn location(&mut self, calls: &[Call]) -> u64 {
        if let Some(id) = self.location_ids.get(calls) {
            return *id;
        }
        let id = self.locations.len() as u64 + 1;
        let line =
            calls.iter().map(|call| Line { function_id: self.function(call), line: i64::from(call.line) }).collect();
        self.locations.push(Location { id, line });
        self.location_ids.insert(calls.to_vec(), id);
        id
    }
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Profile {
    #[prost(message, repeated, tag = "1")]
    pub sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    pub sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    pub location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    pub function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    pub string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    pub time_nanos: i64,
    #[prost(int64, tag = "10")]
    pub duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    pub period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    pub period: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueType {
    #[prost(int64, tag = "1")]
    pub kind: i64,
    #[prost(int64, tag = "2")]
    pub unit: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    pub location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    pub value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    pub label: Vec<Label>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Label {
    #[prost(int64, tag = "1")]
    pub key: i64,
    #[prost(int64, tag = "2")]
    pub str: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Location {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(message, repeated, tag = "4")]
    pub line: Vec<Line>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Line {
    #[prost(uint64, tag = "1")]
    pub function_id: u64,
    #[prost(int64, tag = "2")]
    pub line: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Function {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(int64, tag = "2")]
    pub name: i64,
    #[prost(int64, tag = "3")]
    pub system_name: i64,
    #[prost(int64, tag = "4")]
    pub filename: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str) -> Call {
        Call { name: name.into(), system_name: format!("_{name}"), file: "a.rs".into(), line: 7 }
    }

    #[test]
    fn the_sampler_is_not_what_was_busy() {
        let frame = |names: &[&str]| names.iter().map(|name| call(name)).collect::<Vec<_>>();
        let own = [frame(&["trace", "trace_unsynchronized"]), frame(&["<pprof::backtrace::Trace>::trace"])];
        let busy = [frame(&["black_box"]), frame(&["work"]), frame(&["main"])];
        let all = [&own[..], &busy[..]].concat();
        assert_eq!(sampled_frames(&all), busy);
        assert_eq!(sampled_frames(&busy), busy, "where all of it was inlined");
        assert!(sampled_frames(&[]).is_empty());
    }

    #[test]
    fn what_stacks_share_is_told_once() {
        let stack = |names: &[&str], count| Stack {
            thread: "worker".into(),
            frames: names.iter().map(|name| vec![call(name)]).collect(),
            count,
        };
        let sampled = Sampled {
            started: Duration::from_secs(100),
            took: Duration::from_secs(1),
            period: Duration::from_millis(10),
        };
        let profile = compute_profile([stack(&["leaf", "main"], 3), stack(&["other", "main"], 1)], &sampled);
        let text = |id: i64| profile.string_table[usize::try_from(id).expect("a number")].as_str();
        assert_eq!(text(0), "");
        let types: Vec<_> = profile.sample_type.iter().map(|kind| (text(kind.kind), text(kind.unit))).collect();
        assert_eq!(types, [("samples", "count"), ("cpu", "nanoseconds")]);
        assert_eq!(profile.sample[0].value, [3, 30_000_000]);
        assert_eq!((profile.sample[0].location_id.len(), profile.location.len(), profile.function.len()), (2, 3, 3));
        assert_eq!(profile.sample[0].location_id[1], profile.sample[1].location_id[1], "main is one place");
        let label = &profile.sample[1].label[0];
        assert_eq!((text(label.key), text(label.str)), ("thread", "worker"));
        let mut strings = profile.string_table.clone();
        strings.sort();
        strings.dedup();
        assert_eq!(strings.len(), profile.string_table.len());
        assert_eq!((profile.period, profile.duration_nanos), (10_000_000, 1_000_000_000));
        assert_eq!(Profile::decode(&profile.encode_to_vec()[..]).expect("read back"), profile);
    }
}
