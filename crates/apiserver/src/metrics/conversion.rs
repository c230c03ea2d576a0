//! What is counted of webhooks that convert custom resources
//! (apiextensions-apiserver/pkg/apiserver/conversion upstream).

use super::admission::yes_no;
use super::family::{Counter, Family, Histogram};
use std::time::Duration;

/// From a millisecond to 16 seconds, each twice the one before.
static DURATIONS: [f64; 15] =
    [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384];

/// What was wrong with an answer, or that there was none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    Call,
    MalformedResponse,
    PartialResponse,
    InvalidObject,
}

impl Failed {
    fn as_str(self) -> &'static str {
        match self {
            Self::Call => "conversion_webhook_call_failure",
            Self::MalformedResponse => "conversion_webhook_malformed_response_failure",
            Self::PartialResponse => "conversion_webhook_partial_response_failure",
            Self::InvalidObject => "conversion_webhook_invalid_converted_object_failure",
        }
    }
}

pub struct ConversionFigures {
    requests: Family<Counter>,
    durations: Family<Histogram>,
    definitions: Family<Histogram>,
}

impl Default for ConversionFigures {
    fn default() -> Self {
        Self {
            requests: Family::new(
                "apiserver_conversion_webhook_request_total",
                "Questions to conversion webhooks.",
                &["result", "failure_type"],
                Counter::default,
            ),
            durations: Family::new(
                "apiserver_conversion_webhook_duration_seconds",
                "How long conversion webhooks took.",
                &["result", "failure_type"],
                || Histogram::new(&DURATIONS),
            ),
            definitions: Family::new(
                "apiserver_crd_conversion_webhook_duration_seconds",
                "How long the conversion of a definition's objects took.",
                &["crd_name", "from_version", "to_version", "succeeded"],
                || Histogram::new(&DURATIONS),
            ),
        }
    }
}

impl ConversionFigures {
    /// A definition is gone.
    pub fn forget(&self, definition: &str) {
        self.definitions.forget(&[("crd_name", definition)]);
    }

    pub fn asked(&self, definition: &str, from: &str, to: &str, failed: Option<Failed>, took: Duration) {
        let result = if failed.is_some() { "failure" } else { "success" };
        let labels = [result, failed.map_or("", Failed::as_str)];
        self.requests.of(&labels).count();
        self.durations.of(&labels).observe_time(took);
        self.definitions.of(&[definition, from, to, yes_no(failed.is_none())]).observe_time(took);
    }

    pub fn render(&self, out: &mut String) {
        self.requests.render(out);
        self.durations.render(out);
        self.definitions.render(out);
    }
}
