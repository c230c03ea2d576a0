//! `find` and `findAll`, and the compilation that `matches` shares. A pattern that is a
//! constant is compiled once, when the program is planned.

use regex::Regex;

use super::re2::translate;
use super::{Declarations, mismatch};
use crate::error::{EvalError, Evaluated};
use crate::types::Type::{self, *};
use crate::value::Value;

pub(super) fn declare(d: &mut Declarations) {
    d.member("find", "string_find_string", vec![String, String], String, with_pattern);
    d.member("findAll", "string_find_all_string", vec![String, String], Type::list(String), with_pattern_all);
    d.member("findAll", "string_find_all_string_int", vec![String, String, Int], Type::list(String), with_pattern_all);
}

/// Compiles a pattern of Go's dialect; the error is Go's where the kind of mistake is known.
pub fn compile(pattern: &str) -> Result<Regex, std::string::String> {
    let translated = translate(pattern).map_err(|reason| format!("error parsing regexp: {reason}"))?;
    Regex::new(&translated).map_err(|error| {
        // The last line of the message says what is wrong; the lines before draw it.
        let text = error.to_string();
        let reason = match text.lines().last().unwrap_or_default().trim_start_matches("error: ") {
            "unopened group" => format!("unexpected ): `{pattern}`"),
            "unclosed group" => format!("missing closing ): `{pattern}`"),
            "unclosed character class" => {
                format!("missing closing ]: `{}`", &pattern[pattern.rfind('[').unwrap_or(0)..])
            }
            "unrecognized escape sequence" => {
                let at = bad_escape(pattern);
                let end = pattern[at + 1..].chars().next().map_or(at + 1, |c| at + 1 + c.len_utf8());
                format!("invalid escape sequence: `{}`", &pattern[at..end])
            }
            other => format!("{other}: `{pattern}`"),
        };
        format!("error parsing regexp: {reason}")
    })
}

/// The first backslash before a letter that means nothing, else the last one.
fn bad_escape(pattern: &str) -> usize {
    let mut escapes = pattern.match_indices('\\').map(|(at, _)| at);
    let unknown = |at: &usize| {
        pattern[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() && !"abBAdDfnpPQrsStuUvwWxz".contains(c))
    };
    escapes.clone().find(unknown).or(escapes.next_back()).unwrap_or(0)
}

pub(crate) fn matches<'v>(pattern: &Regex, text: &str) -> Evaluated<Value<'v>> {
    Ok(Value::Bool(pattern.is_match(text)))
}

pub(crate) fn find<'v>(pattern: &Regex, text: &str) -> Evaluated<Value<'v>> {
    Ok(Value::string(pattern.find(text).map_or("", |found| found.as_str())))
}

pub(crate) fn find_all<'v>(pattern: &Regex, text: &str, limit: Option<i64>) -> Evaluated<Value<'v>> {
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let found = pattern.find_iter(text).take(limit).map(|found| Value::string(found.as_str()));
    Ok(Value::list(found.collect()))
}

fn read(pattern: &Value<'_>) -> Evaluated<Regex> {
    let pattern = pattern.as_str().ok_or_else(EvalError::no_such_overload)?;
    compile(pattern).map_err(|error| EvalError::new(format_args!("Illegal regex: {error}")))
}

fn with_pattern<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    args[0].as_str().map_or_else(mismatch, |text| find(&read(&args[1])?, text))
}

fn with_pattern_all<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let limit = args.get(2).and_then(Value::as_int);
    args[0].as_str().map_or_else(mismatch, |text| find_all(&read(&args[1])?, text, limit))
}
