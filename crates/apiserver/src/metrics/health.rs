//! /metrics/slis: how each health check came out, last and in all
//! (component-base/metrics/prometheus/slis upstream).

use super::family::{Counter, Family, Gauge};

pub struct HealthFigures {
    last: Family<Gauge>,
    all: Family<Counter>,
}

impl Default for HealthFigures {
    fn default() -> Self {
        Self {
            last: Family::new(
                "kubernetes_healthcheck",
                "1 if the check passed the last time.",
                &["name", "type"],
                Gauge::default,
            ),
            all: Family::new(
                "kubernetes_healthchecks_total",
                "Health checks by outcome.",
                &["name", "type", "status"],
                Counter::default,
            ),
        }
    }
}

impl HealthFigures {
    pub fn checked(&self, name: &str, endpoint: &str, passed: bool) {
        self.last.of(&[name, endpoint]).set(passed.into());
        self.all.of(&[name, endpoint, if passed { "success" } else { "error" }]).count();
    }

    pub fn render(&self) -> String {
        let mut out = String::new();
        self.last.render(&mut out);
        self.all.render(&mut out);
        super::process::render_start(&mut out);
        out
    }
}
