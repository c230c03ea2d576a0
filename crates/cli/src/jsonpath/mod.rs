//! kubectl's dialect of JSONPath: a template whose braces hold paths, `range … end`, filters,
//! slices, unions and quoted text. `get -o jsonpath`, `custom-columns`, `--sort-by` and `wait
//! --for=jsonpath` evaluate it.

mod eval;
mod parse;

use serde_json::Value;

pub(crate) use eval::{Evaluation, order};

/// A template that has been read.
#[derive(Debug)]
pub(crate) struct JsonPath {
    root: Vec<parse::Node>,
}

impl JsonPath {
    /// A template: text with expressions in braces.
    pub(crate) fn template(text: &str) -> Result<Self, String> {
        Ok(Self { root: parse::template(text)? })
    }

    /// One path, with or without braces and a leading dot (`metadata.name`, `{.metadata.name}`).
    pub(crate) fn relaxed(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Self::template("{}");
        }
        let inner = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or(text);
        if inner.contains(['{', '}']) && !inner.contains('\'') && !inner.contains('"') {
            return Err("unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'".to_string());
        }
        let inner = inner.strip_prefix('$').unwrap_or(inner);
        let dot = if inner.starts_with(['.', '[']) { "" } else { "." };
        Self::template(&format!("{{{dot}{inner}}}"))
    }

    /// The text that the template makes of an object.
    pub(crate) fn render(&self, object: &Value, missing: Evaluation) -> Result<String, String> {
        let mut out = String::new();
        for found in self.results(object, missing)? {
            let texts: Vec<String> = found.iter().map(eval::text_of).collect();
            out.push_str(&texts.join(" "));
        }
        Ok(out)
    }

    /// The values of each part of the template.
    pub(crate) fn results(&self, object: &Value, missing: Evaluation) -> Result<Vec<Vec<Value>>, String> {
        eval::run(&self.root, object, missing)
    }

    /// The values of the first path.
    pub(crate) fn find(&self, object: &Value) -> Result<Vec<Value>, String> {
        Ok(self.results(object, Evaluation::AllowMissing)?.into_iter().next().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn store() -> Value {
        json!({
            "name": "jsonpath",
            "items": [
                {"metadata": {"name": "a", "labels": {"app.kubernetes.io/name": "x"}}, "n": 1, "ready": true},
                {"metadata": {"name": "b"}, "n": 2, "ready": false, "list": [1, 2, 3]},
            ],
        })
    }

    fn check(template: &str, expected: &str) {
        let path = JsonPath::template(template).unwrap_or_else(|error| panic!("{template}: {error}"));
        assert_eq!(path.render(&store(), Evaluation::AllowMissing).as_deref(), Ok(expected), "{template}");
    }

    #[test]
    fn paths_filters_slices_and_ranges() {
        check("hello {.name}", "hello jsonpath");
        check("{.items[*].metadata.name}", "a b");
        check("{.items[0]['metadata.name']}", "");
        check("{.items[0].metadata['name']}", "a");
        check("{.items[-1:].metadata.name}", "b");
        check("{.items[-1].n}", "2");
        check("{.items[1].list[0:2]}", "1 2");
        check("{.items[1].list[::2]}", "1 3");
        check("{.items[1].list[0,2]}", "1 3");
        check("{..name}", "jsonpath a b");
        check("{.items[?(@.n>1)].metadata.name}", "b");
        check("{.items[?(@.metadata.name==\"a\")].n}", "1");
        check("{.items[?(@.ready==true)].metadata.name}", "a");
        check("{.items[?(@.list)].metadata.name}", "b");
        check("{range .items[*]}[{.metadata.name},{.n}] {end}", "[a,1] [b,2] ");
        check("{range .items[*]}{.metadata.name}{\"\\n\"}{end}", "a\nb\n");
        check("{.items[0].metadata.labels.app\\.kubernetes\\.io/name}", "x");
        check("{$.name}{'-'}{@.name}", "jsonpath-jsonpath");
        check("{.items[0].metadata}", r#"{"labels":{"app.kubernetes.io/name":"x"},"name":"a"}"#);
        check("{.items[*]['n', 'ready']}", "1 2 true false");
        check("{.nothing}", "");
    }

    #[test]
    fn mistakes_are_named() {
        for (template, message) in [
            ("{.a", "unclosed action"),
            ("{.items[0}", "unterminated array"),
            ("{range .items[*]}{.n}", "unterminated range, expected {end}"),
            ("{end}", "not in range, nothing to end"),
        ] {
            let made = JsonPath::template(template).and_then(|p| p.render(&store(), Evaluation::Strict));
            assert_eq!(made, Err(message.to_owned()), "{template}");
        }
        let strict = JsonPath::template("{.absent}").expect("read").render(&store(), Evaluation::Strict);
        assert_eq!(strict, Err("absent is not found".into()));
        let beyond = JsonPath::template("{.items[7]}").expect("read").render(&store(), Evaluation::Strict);
        assert_eq!(beyond, Err("array index out of bounds: index 7, length 2".into()));
    }

    #[test]
    fn a_path_may_come_without_braces() {
        for text in ["metadata.name", ".metadata.name", "{.metadata.name}", "{metadata.name}", "$.metadata.name"] {
            let path = JsonPath::relaxed(text).expect(text);
            assert_eq!(path.find(&json!({"metadata": {"name": "x"}})), Ok(vec![json!("x")]), "{text}");
        }
    }
}
