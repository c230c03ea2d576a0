//! Counters by name and labels for what happens seldom: reloads, webhooks. What happens on
//! every request has a family of its own (`family.rs`).

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A series: name, help and rendered labels.
type Series = (&'static str, &'static str, String);

#[derive(Default)]
pub struct Counters(Mutex<BTreeMap<Series, f64>>);

impl Counters {
    pub fn add(&self, name: &'static str, help: &'static str, labels: &[(&str, &str)], amount: f64) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
        *self.0.lock().entry((name, help, labels.join(","))).or_default() += amount;
    }

    pub fn count(&self, name: &'static str, help: &'static str, labels: &[(&str, &str)]) {
        self.add(name, help, labels, 1.0);
    }

    pub fn render(&self, out: &mut String) {
        let mut last = "";
        for ((name, help, labels), value) in self.0.lock().iter() {
            if *name != last {
                // A sum or count of a summary belongs to the series that it is named after.
                if !name.ends_with("_sum") && !name.ends_with("_count") {
                    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} counter");
                }
                last = name;
            }
            let _ = writeln!(out, "{name}{{{labels}}} {value}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_told_under_one_head() {
        let counters = Counters::default();
        counters.count("x_total", "What x did.", &[("status", "success")]);
        counters.count("x_total", "What x did.", &[("status", "success")]);
        counters.count("x_total", "What x did.", &[("status", "failure")]);
        let mut out = String::new();
        counters.render(&mut out);
        assert_eq!(
            out,
            "# HELP x_total What x did.\n# TYPE x_total counter\nx_total{status=\"failure\"} 1\nx_total{status=\"success\"} 2\n"
        );
    }
}
