//! The table at the end: a figure, upstream's on like hardware, the ratio, the goal.

use serde_json::{Value, json};

/// In place of a figure of upstream that was not taken in this run.
const NOT_TAKEN: &str = "–";

#[derive(Clone, Copy)]
pub enum Better {
    Higher,
    Lower,
}

#[derive(Default)]
pub struct Report {
    rows: Vec<Row>,
}

struct Row {
    what: String,
    unit: &'static str,
    measured: f64,
    upstream: Option<f64>,
    goal: Option<f64>,
    better: Better,
}

impl Row {
    /// How many times better than `other`, whichever way better is.
    fn ratio(&self, other: f64) -> f64 {
        match self.better {
            Better::Higher => self.measured / other,
            Better::Lower => other / self.measured,
        }
    }
}

impl Report {
    pub fn add(
        &mut self,
        what: &str,
        unit: &'static str,
        measured: f64,
        upstream: Option<f64>,
        goal: Option<f64>,
        better: Better,
    ) {
        eprintln!("measured: {what}: {measured:.2} {unit}");
        self.rows.push(Row { what: what.to_owned(), unit, measured, upstream, goal, better });
    }

    pub fn render(&self) -> String {
        let mut out =
            format!("\n{:<54} {:>14} {:>14} {:>9} {:>16}\n", "what", "ferry", "upstream", "better by", "goal");
        for row in &self.rows {
            let figure = |n: f64| format!("{n:.2} {}", row.unit);
            let goal = row.goal.map_or(String::new(), |goal| {
                format!("{} {}", figure(goal), if row.ratio(goal) >= 1.0 { "met" } else { "missed" })
            });
            out.push_str(&format!(
                "{:<54} {:>14} {:>14} {:>9} {:>16}\n",
                row.what,
                figure(row.measured),
                row.upstream.map_or(NOT_TAKEN.to_owned(), figure),
                row.upstream.map_or(NOT_TAKEN.to_owned(), |upstream| format!("{:.1}x", row.ratio(upstream))),
                goal,
            ));
        }
        out
    }

    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            json!({"what": row.what, "unit": row.unit, "ferry": row.measured, "upstream": row.upstream, "goal": row.goal})
        });
        rows.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_is_better_whichever_way() {
        let mut report = Report::default();
        report.add("memory", "MB", 50.0, Some(500.0), Some(60.0), Better::Lower);
        report.add("rate", "/s", 5.0, Some(10.0), Some(20.0), Better::Higher);
        report.add("alone", "ms", 1.0, None, None, Better::Lower);
        let text = report.render();
        assert_eq!(text.matches('–').count(), 2, "{text}");
        assert!(text.contains("10.0x") && text.contains("60.00 MB met"), "{text}");
        assert!(text.contains("0.5x") && text.contains("20.00 /s missed"), "{text}");
    }
}
