//! Counters, gauges and histograms, and how they read in Prometheus' text format. Each crate of
//! the API server declares the figures of its own rooms with these; `apiserver/metrics/` renders
//! them all at /metrics. docs/design/0011-own-metrics.md has the reasons for an own library.

#![warn(unreachable_pub)]

mod counters;
pub mod family;

pub use counters::Counters;
