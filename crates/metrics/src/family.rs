//! What is counted: counters, gauges and histograms, alone or by labels, and how they read
//! in Prometheus' text format. Counting takes an atomic or two; finding a series by its
//! labels takes one hash and allocates nothing once the series is there.

use parking_lot::RwLock;
use std::collections::HashMap;
use std::fmt::Write;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// One kind of figure.
pub trait Instrument: Send + Sync {
    const KIND: &'static str;

    /// A line or more; `labels` are rendered, without braces.
    fn render(&self, name: &str, labels: &str, out: &mut String);
}

#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    pub fn count(&self) {
        self.add(1);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Instrument for Counter {
    const KIND: &'static str = "counter";

    fn render(&self, name: &str, labels: &str, out: &mut String) {
        line(out, name, labels, self.get());
    }
}

#[derive(Debug, Default)]
pub struct Gauge(AtomicI64);

impl Gauge {
    pub fn add(&self, amount: i64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    pub fn set(&self, value: i64) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Instrument for Gauge {
    const KIND: &'static str = "gauge";

    fn render(&self, name: &str, labels: &str, out: &mut String) {
        line(out, name, labels, self.get());
    }
}

/// How often a value fell below each bound.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [f64],
    /// One a bound, and one for what is above them all.
    buckets: Box<[AtomicU64]>,
    /// The bits of a floating point number.
    sum: AtomicU64,
}

impl Histogram {
    pub fn new(bounds: &'static [f64]) -> Self {
        let buckets = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, buckets, sum: AtomicU64::new(0) }
    }

    pub fn observe(&self, value: f64) {
        let bucket = self.bounds.iter().position(|bound| value <= *bound).unwrap_or(self.bounds.len());
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.add_to_sum(value);
    }

    /// Takes over what was counted elsewhere by the same bounds.
    pub fn add_all(&self, buckets: &[u64], total: f64) {
        for (bucket, count) in self.buckets.iter().zip(buckets).filter(|(_, count)| **count > 0) {
            bucket.fetch_add(*count, Ordering::Relaxed);
        }
        self.add_to_sum(total);
    }

    fn add_to_sum(&self, value: f64) {
        let add = |sum: u64| Some((f64::from_bits(sum) + value).to_bits());
        let _ = self.sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    pub fn observe_time(&self, took: Duration) {
        self.observe(took.as_secs_f64());
    }

    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).sum()
    }

    /// Only how many and how much in all, which is a summary without quantiles.
    pub fn render_summary(&self, name: &str, labels: &str, out: &mut String) {
        let sum = f64::from_bits(self.sum.load(Ordering::Relaxed));
        line(out, &format!("{name}_sum"), labels, sum);
        line(out, &format!("{name}_count"), labels, self.count());
    }
}

impl Instrument for Histogram {
    const KIND: &'static str = "histogram";

    fn render(&self, name: &str, labels: &str, out: &mut String) {
        let comma = if labels.is_empty() { "" } else { "," };
        let mut below = 0;
        for (index, bucket) in self.buckets.iter().enumerate() {
            below += bucket.load(Ordering::Relaxed);
            let _ = match self.bounds.get(index) {
                Some(bound) => write!(out, "{name}_bucket{{{labels}{comma}le=\"{}\"}} ", render_bound(*bound)),
                None => write!(out, "{name}_bucket{{{labels}{comma}le=\"+Inf\"}} "),
            };
            let _ = writeln!(out, "{below}");
        }
        self.render_summary(name, labels, out);
    }
}

/// As Go writes a number: with an exponent where that is shorter.
fn render_bound(bound: f64) -> String {
    if bound == 0.0 || (1e-4..1e6).contains(&bound) {
        return bound.to_string();
    }
    let text = format!("{bound:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

/// One instrument a set of labels.
pub struct Family<T> {
    name: &'static str,
    help: &'static str,
    table: Table<T>,
    make: fn() -> T,
}

impl<T: Instrument> Family<T> {
    pub fn new(name: &'static str, help: &'static str, labels: &'static [&'static str], make: fn() -> T) -> Self {
        Self { name, help, table: Table::new(labels), make }
    }

    /// The instrument of these values, which stand in the order of the labels.
    pub fn of(&self, values: &[&str]) -> Arc<Series<T>> {
        self.table.find(values, self.make)
    }

    pub fn all(&self) -> Vec<Arc<Series<T>>> {
        self.table.all()
    }

    pub fn forget(&self, labels: &[(&str, &str)]) {
        self.table.forget(labels);
    }

    pub fn render(&self, out: &mut String) {
        let all = self.table.all();
        if all.is_empty() {
            return;
        }
        head(out, self.name, T::KIND, self.help);
        for series in all {
            series.metric.render(self.name, &series.labels, out);
        }
    }
}

/// Something that is kept by labels.
pub struct Table<T> {
    labels: &'static [&'static str],
    hasher: RandomState,
    /// By the hash of the values; two sets of values seldom share one.
    series: RwLock<HashMap<u64, Vec<Arc<Series<T>>>>>,
}

/// What belongs to one set of labels.
pub struct Series<T> {
    values: Vec<String>,
    /// Rendered once, in the order of the labels' names.
    pub labels: String,
    pub metric: T,
}

impl<T> std::ops::Deref for Series<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.metric
    }
}

impl<T> Table<T> {
    pub fn new(labels: &'static [&'static str]) -> Self {
        Self { labels, hasher: RandomState::new(), series: RwLock::default() }
    }

    pub fn find(&self, values: &[&str], make: impl FnOnce() -> T) -> Arc<Series<T>> {
        let mut hasher = self.hasher.build_hasher();
        values.iter().for_each(|value| value.hash(&mut hasher));
        let hash = hasher.finish();
        let is_it = |series: &&Arc<Series<T>>| series.values.iter().zip(values).all(|(known, value)| known == value);
        if let Some(known) = self.series.read().get(&hash).and_then(|all| all.iter().find(is_it)) {
            return known.clone();
        }
        let mut series = self.series.write();
        let all = series.entry(hash).or_default();
        if let Some(known) = all.iter().find(is_it) {
            return known.clone();
        }
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        let made = Arc::new(Series { labels: render_labels(self.labels, &values), values, metric: make() });
        all.push(made.clone());
        made
    }

    /// Drops the series in which every one of these labels has its value: what they count
    /// is gone for good. A label that the table does not have matches nothing.
    pub fn forget(&self, labels: &[(&str, &str)]) {
        let places: Option<Vec<(usize, &str)>> = labels
            .iter()
            .map(|(label, value)| Some((self.labels.iter().position(|own| own == label)?, *value)))
            .collect();
        let Some(places) = places else { return };
        let is_meant = |series: &Series<T>| places.iter().all(|(place, value)| series.values[*place] == *value);
        self.series.write().retain(|_, all| {
            all.retain(|series| !is_meant(series));
            !all.is_empty()
        });
    }

    /// Everything there is, in the order of the labels.
    pub fn all(&self) -> Vec<Arc<Series<T>>> {
        let mut all: Vec<_> = self.series.read().values().flatten().cloned().collect();
        all.sort_by(|a, b| a.labels.cmp(&b.labels));
        all
    }
}

/// `code="200",verb="GET"`, as a client library sorts them.
pub fn render_labels(names: &[&str], values: &[impl AsRef<str>]) -> String {
    let mut pairs: Vec<(&str, &str)> = names.iter().copied().zip(values.iter().map(AsRef::as_ref)).collect();
    pairs.sort_unstable();
    let mut out = String::new();
    for (name, value) in pairs {
        if !out.is_empty() {
            out.push(',');
        }
        let _ = write!(out, "{name}=\"");
        for character in value.chars() {
            match character {
                '\\' => out.push_str("\\\\"),
                '"' => out.push_str("\\\""),
                '\n' => out.push_str("\\n"),
                other => out.push(other),
            }
        }
        out.push('"');
    }
    out
}

pub fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

pub fn line(out: &mut String, name: &str, labels: &str, value: impl std::fmt::Display) {
    let _ =
        if labels.is_empty() { writeln!(out, "{name} {value}") } else { writeln!(out, "{name}{{{labels}}} {value}") };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_told_in_order_under_one_head() {
        let family: Family<Counter> = Family::new("x_total", "What x did.", &["verb", "code"], Counter::default);
        family.of(&["GET", "200"]).add(2);
        family.of(&["a \"quoted\"\nname\\", "100"]).count();
        family.of(&["GET", "200"]).count();
        let mut out = String::new();
        family.render(&mut out);
        assert_eq!(
            out,
            "# HELP x_total What x did.\n# TYPE x_total counter\n\
             x_total{code=\"100\",verb=\"a \\\"quoted\\\"\\nname\\\\\"} 1\n\
             x_total{code=\"200\",verb=\"GET\"} 3\n"
        );
    }

    #[test]
    fn nothing_is_told_of_what_has_not_happened() {
        let family: Family<Gauge> = Family::new("x", "What x is.", &["verb"], Gauge::default);
        let mut out = String::new();
        family.render(&mut out);
        assert_eq!(out, "");
    }

    #[test]
    fn buckets_add_up() {
        static BOUNDS: [f64; 4] = [5e-7, 0.001, 1.0, 1e6];
        let histogram = Histogram::new(&BOUNDS);
        [0.0005, 0.5, 1.0, 2.0, 1e7].into_iter().for_each(|value| histogram.observe(value));
        let mut out = String::new();
        histogram.render("x", "a=\"b\"", &mut out);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(
            lines,
            [
                "x_bucket{a=\"b\",le=\"5e-07\"} 0",
                "x_bucket{a=\"b\",le=\"0.001\"} 1",
                "x_bucket{a=\"b\",le=\"1\"} 3",
                "x_bucket{a=\"b\",le=\"1e+06\"} 4",
                "x_bucket{a=\"b\",le=\"+Inf\"} 5",
                "x_sum{a=\"b\"} 10000003.5005",
                "x_count{a=\"b\"} 5",
            ]
        );
        let mut out = String::new();
        histogram.render("x", "", &mut out);
        assert!(out.starts_with("x_bucket{le=\"5e-07\"} 0\n") && out.ends_with("x_count 5\n"), "{out}");
    }
}
