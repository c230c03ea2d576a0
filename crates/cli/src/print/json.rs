//! Objects as JSON, as kubectl prints them: four spaces of indent, sorted keys, and the
//! characters that Go escapes for HTML. Called for `-o json`, and in one line where another
//! format embeds an object.

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use std::io;

/// Pretty, without a newline at its end.
pub(crate) fn render(value: &Value) -> String {
    write_with(value, GoStrings(PrettyFormatter::with_indent(b"    ")))
}

/// In one line.
pub(crate) fn render_compact(value: &Value) -> String {
    write_with(value, GoStrings(CompactFormatter))
}

fn write_with(value: &Value, formatter: impl Formatter) -> String {
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    value.serialize(&mut serializer).expect("a JSON value is always writable to memory");
    String::from_utf8(out).expect("serde_json writes UTF-8")
}

/// Another formatter's layout with Go's escapes in strings and Go's numbers.
struct GoStrings<F>(F);

impl<F: Formatter> Formatter for GoStrings<F> {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            writer.write_all(&rest.as_bytes()[..at])?;
            let c = rest[at..].chars().next().unwrap_or_default();
            write!(writer, "\\u{:04x}", u32::from(c))?;
            rest = &rest[at + c.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }

    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(super::number::go_general(value).as_bytes())
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }
    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }
    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }
    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }
    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }
    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }
    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }
    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn objects_have_four_spaces_and_gos_escapes() {
        let value = json!({"b": ["<a & b>"], "a": {}, "c": []});
        assert_eq!(
            render(&value),
            "{\n    \"a\": {},\n    \"b\": [\n        \"\\u003ca \\u0026 b\\u003e\"\n    ],\n    \"c\": []\n}"
        );
        assert_eq!(render_compact(&json!({"a": [1, "\n"]})), r#"{"a":[1,"\n"]}"#);
    }
}
