//! Tables as the server makes them, laid out: which columns are shown, the namespace, the
//! kind and labels beside them. `cmd/get.rs` prints one for each resource.

use super::columns::Columns;
use serde_json::Value;

/// What is shown beside the server's own columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableOptions {
    pub is_wide: bool,
    pub has_no_headers: bool,
    pub with_namespace: bool,
    /// `deployment.apps`: put before each name.
    pub kind: Option<String>,
    pub shows_labels: bool,
    pub label_columns: Vec<String>,
    /// The type of a watch event stands first.
    pub with_event: bool,
}

/// A table that grows with the pages of a list and the events of a watch.
#[derive(Debug, Default)]
pub(crate) struct TablePrinter {
    pub options: TableOptions,
    /// Name and priority of each column, from the first page.
    definitions: Vec<(String, i64)>,
    columns: Columns,
    printed_headers: bool,
}

impl TablePrinter {
    pub(crate) fn new(options: TableOptions) -> Self {
        Self { options, ..Default::default() }
    }

    /// The rows of a `meta.k8s.io/v1 Table`, with the headers before the first.
    pub(crate) fn render(&mut self, table: &Value, event: Option<&str>) -> String {
        if let Some(definitions) = table.get("columnDefinitions").and_then(Value::as_array).filter(|d| !d.is_empty()) {
            let read = |definition: &Value| {
                let name = definition["name"].as_str().unwrap_or_default().to_uppercase();
                (name, definition["priority"].as_i64().unwrap_or_default())
            };
            self.definitions = definitions.iter().map(read).collect();
        }
        if !std::mem::replace(&mut self.printed_headers, true) && !self.options.has_no_headers {
            let headers = self.headers();
            self.columns.row(headers);
        }
        for row in table.get("rows").and_then(Value::as_array).into_iter().flatten() {
            let cells = self.cells(row, event);
            self.columns.row(cells);
        }
        self.columns.take()
    }

    fn headers(&self) -> Vec<String> {
        let options = &self.options;
        let mut headers = Vec::new();
        headers.extend(options.with_event.then(|| "EVENT".to_owned()));
        headers.extend(options.with_namespace.then(|| "NAMESPACE".to_owned()));
        headers.extend(self.shown().map(|(_, name)| name.clone()));
        headers.extend(
            options.label_columns.iter().map(|label| label.rsplit('/').next().unwrap_or_default().to_uppercase()),
        );
        headers.extend(options.shows_labels.then(|| "LABELS".to_owned()));
        headers
    }

    fn shown(&self) -> impl Iterator<Item = (usize, &String)> {
        let is_wide = self.options.is_wide;
        self.definitions
            .iter()
            .enumerate()
            .filter(move |(_, (_, priority))| is_wide || *priority == 0)
            .map(|(i, (name, _))| (i, name))
    }

    fn cells(&self, row: &Value, event: Option<&str>) -> Vec<String> {
        let options = &self.options;
        let object = &row["object"];
        let labels = object.pointer("/metadata/labels").and_then(Value::as_object);
        let mut cells = Vec::new();
        cells.extend(options.with_event.then(|| event.unwrap_or_default().to_owned()));
        if options.with_namespace {
            cells.push(object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or_default().to_owned());
        }
        for (position, (i, _)) in self.shown().enumerate() {
            let text = cell_text(&row["cells"][i]);
            cells.push(match &options.kind {
                Some(kind) if position == 0 => format!("{kind}/{text}"),
                _ => text,
            });
        }
        for label in &options.label_columns {
            let value = labels.and_then(|labels| labels.get(label)).and_then(Value::as_str);
            cells.push(value.unwrap_or("").to_owned());
        }
        if options.shows_labels {
            cells.push(render_labels(labels));
        }
        cells
    }
}

/// `a=1,b=2`, or `<none>`.
pub(crate) fn render_labels(labels: Option<&serde_json::Map<String, Value>>) -> String {
    let pairs: Vec<String> = labels
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    if pairs.is_empty() { "<none>".into() } else { pairs.join(",") }
}

/// A cell in one line: line breaks end it with an ellipsis, as they would break the table.
fn cell_text(cell: &Value) -> String {
    let text = match cell {
        Value::Null => "<none>".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.find(['\n', '\r', '\u{c}']) {
        Some(end) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn table() -> Value {
        json!({
            "columnDefinitions": [{"name": "Name", "priority": 0}, {"name": "Ready", "priority": 0}, {"name": "IP", "priority": 1}],
            "rows": [
                {"cells": ["web", "1/1", "10.0.0.1"], "object": {"metadata": {"namespace": "a", "labels": {"app": "x", "b/tier": "y"}}}},
                {"cells": ["db-0", "0/1", null], "object": {"metadata": {"namespace": "b"}}},
            ],
        })
    }

    fn check(options: TableOptions, expected: &str) {
        assert_eq!(TablePrinter::new(options).render(&table(), None), expected);
    }

    #[test]
    fn columns_are_those_that_were_asked_for() {
        check(TableOptions::default(), "NAME   READY\nweb    1/1\ndb-0   0/1\n");
        check(
            TableOptions { is_wide: true, with_namespace: true, ..Default::default() },
            "NAMESPACE   NAME   READY   IP\na           web    1/1     10.0.0.1\nb           db-0   0/1     <none>\n",
        );
        check(
            TableOptions {
                label_columns: vec!["b/tier".into()],
                shows_labels: true,
                has_no_headers: true,
                ..Default::default()
            },
            "web    1/1   y     app=x,b/tier=y\ndb-0   0/1         <none>\n",
        );
        check(
            TableOptions { kind: Some("pod".into()), ..Default::default() },
            "NAME       READY\npod/web    1/1\npod/db-0   0/1\n",
        );
    }
}
