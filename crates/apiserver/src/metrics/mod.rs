//! /metrics: what the server did, under upstream's names and labels, in Prometheus' text
//! format. Each room counts one thing and declares what it is called; what happens is told
//! to it where it happens, and what is only to be looked up is read when somebody asks.
//!
//! ```text
//! requests.rs   every request                     <- chain.rs
//! identity.rs   who asks and whether they may     <- chain.rs
//! admission.rs  plugins, webhooks, policies       <- admission/
//! conversion.rs versions of custom resources      <- crd/
//! storage.rs    the store, the cache, watches     <- registry/, cache/, verbs/
//! health.rs     /metrics/slis                     <- health.rs
//! process.rs    this process, this build
//! ```
//!
//! Sealing and identity have theirs beside them (`cache/encryption/figures.rs`,
//! `access/identity_figures.rs`); counters and histograms
//! themselves are the crate `metrics`.

pub mod admission;
pub mod conversion;
mod health;
mod process;
pub mod requests;
pub mod storage;

pub use ferry_access::identity_figures as identity;
pub use ferry_metrics::{Counters, family};

use crate::ServerState;
use family::{Counter, Gauge, Instrument, head, line, render_labels};

/// Prometheus' text format, of which there is one version.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

#[derive(Default)]
pub struct Metrics {
    pub requests: requests::Requests,
    pub identity: identity::IdentityFigures,
    pub admission: admission::AdmissionFigures,
    pub storage: storage::StorageFigures,
    pub watches: storage::WatchFigures,
    pub conversions: conversion::ConversionFigures,
    pub health: health::HealthFigures,
    pub tls_errors: Counter,
}

impl Metrics {
    /// Drops every series of a definition that is served no more. Its name may never come
    /// again, and in a cluster where definitions come and go the series of all that ever
    /// were would fill the memory.
    pub fn forget_definition(&self, definition: &str, group: &str, plural: &str) {
        let resource = [("group", group), ("resource", plural)];
        self.requests.forget(&resource);
        self.storage.forget(&resource);
        self.watches.forget(&resource);
        self.conversions.forget(definition);
    }

    pub(crate) fn render(&self, server: &ServerState) -> String {
        let mut out = String::with_capacity(64 * 1024);
        self.requests.render(&mut out);
        self.watches.render(&mut out);
        self.identity.render(&mut out);
        server.authorizer.render_metrics(&mut out);
        server.authenticator.render_metrics(&mut out);
        self.admission.render(&mut out);
        self.conversions.render(&mut out);
        server.flow_control.render_metrics(&mut out);
        self.storage.render(server, &mut out);
        server.registry.encryption.figures.render(&mut out);
        render_aggregation(server, &mut out);
        if let Some(auditor) = &server.config.audit {
            let (events, errors) = auditor.counts();
            let name = "apiserver_audit_event_total";
            head(&mut out, name, Counter::KIND, "Audit events written.");
            line(&mut out, name, "", events);
            let name = "apiserver_audit_error_total";
            head(&mut out, name, Counter::KIND, "Audit events that a sink did not take.");
            line(&mut out, name, "", errors);
        }
        let name = "apiserver_tls_handshake_errors_total";
        head(&mut out, name, Counter::KIND, "Connections that ended before they were secure.");
        self.tls_errors.render(name, "", &mut out);
        let name = "ferry_problem_reports_total";
        head(&mut out, name, Counter::KIND, "Problems reported by components, such as objects that cannot be read.");
        for (component, count) in server.config.problems.reports() {
            line(&mut out, name, &render_labels(&["component"], &[component.as_str()]), count);
        }
        let name = "ferry_openapi_documents";
        head(&mut out, name, Gauge::KIND, "OpenAPI documents that are kept rendered.");
        line(&mut out, name, "", server.openapi.len());
        process::render(&mut out);
        server.config.queues.render(&mut out);
        out
    }
}

/// Which aggregated API servers do not answer.
fn render_aggregation(server: &ServerState, out: &mut String) {
    let name = "aggregator_unavailable_apiservice";
    head(out, name, Gauge::KIND, "1 for each APIService whose server does not answer.");
    for (service, is_available) in server.aggregator.index.availability() {
        line(out, name, &render_labels(&["name"], &[service]), u8::from(!is_available));
    }
    server.aggregator.counters.render(out);
}
