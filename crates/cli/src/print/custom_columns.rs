//! `-o custom-columns=NAME:.metadata.name,…`, and the same from a file. `mod.rs` makes it.

use super::columns::Columns;
use crate::error::{CliError, Result};
use crate::jsonpath::JsonPath;
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct CustomColumns {
    headers: Vec<String>,
    paths: Vec<JsonPath>,
    columns: Columns,
    has_headers: bool,
}

impl CustomColumns {
    pub(crate) fn of_spec(spec: &str) -> Result<Self> {
        let (mut headers, mut paths) = (Vec::new(), Vec::new());
        for column in spec.split(',') {
            let Some((header, path)) = column.split_once(':') else {
                return Err(
                    format!("unexpected custom-columns spec: {column}, expected <header>:<json-path-expr>").into()
                );
            };
            headers.push(header.to_owned());
            paths.push(JsonPath::relaxed(path).map_err(CliError::Message)?);
        }
        Ok(Self { headers, paths, columns: Columns::default(), has_headers: false })
    }

    /// Two lines: the headers, and the paths below them.
    pub(crate) fn of_file(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let (Some(headers), Some(paths)) = (lines.next(), lines.next()) else {
            return Err("missing header line or template line in the custom-columns file".into());
        };
        let (headers, specs): (Vec<&str>, Vec<&str>) =
            (headers.split_whitespace().collect(), paths.split_whitespace().collect());
        if headers.len() != specs.len() {
            return Err(format!(
                "number of headers ({}) and field specifications ({}) don't match",
                headers.len(),
                specs.len()
            )
            .into());
        }
        let paths: Result<Vec<JsonPath>> =
            specs.iter().map(|path| JsonPath::relaxed(path).map_err(CliError::Message)).collect();
        Ok(Self {
            headers: headers.into_iter().map(str::to_owned).collect(),
            paths: paths?,
            columns: Columns::default(),
            has_headers: false,
        })
    }

    pub(crate) fn without_headers(mut self) -> Self {
        self.has_headers = true;
        self
    }

    pub(crate) fn render(&mut self, object: &Value) -> Result<String> {
        if !std::mem::replace(&mut self.has_headers, true) {
            self.columns.row(self.headers.clone());
        }
        match object.get("items").and_then(Value::as_array) {
            Some(items) => items.iter().try_for_each(|item| self.add(item))?,
            None => self.add(object)?,
        }
        Ok(self.columns.take())
    }

    fn add(&mut self, object: &Value) -> Result<()> {
        let cell = |path: &JsonPath| -> Result<String> {
            let found = path.find(object).map_err(CliError::Message)?;
            Ok(match &found[..] {
                [] => "<none>".to_owned(),
                values => values.iter().map(go_value).collect::<Vec<_>>().join(","),
            })
        };
        let cells: Result<Vec<String>> = self.paths.iter().map(cell).collect();
        self.columns.row(cells?);
        Ok(())
    }
}

/// A value as Go's `%v` prints it: `map[a:1 b:2]`, `[x y]`, `<nil>`.
pub(crate) fn go_value(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".into(),
        Value::String(text) => text.clone(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) if number.is_f64() => super::number::go_general(number.as_f64().unwrap_or_default()),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(go_value).collect::<Vec<_>>().join(" ")),
        Value::Object(map) => {
            let pairs: Vec<String> = map.iter().map(|(key, value)| format!("{key}:{}", go_value(value))).collect();
            format!("map[{}]", pairs.join(" "))
        }
    }
}
