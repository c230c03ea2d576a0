//! The string extension, version 2. Positions count characters, not bytes.

use super::{Declarations, check_size, mismatch};
use crate::error::{EvalError, Evaluated};
use crate::types::Type::{self, *};
use crate::value::Value;

pub(super) fn declare(d: &mut Declarations) {
    let strings = || Type::list(String);
    d.member("charAt", "string_char_at_int", vec![String, Int], String, char_at);
    d.member("indexOf", "string_index_of_string", vec![String, String], Int, index_of);
    d.member("indexOf", "string_index_of_string_int", vec![String, String, Int], Int, index_of);
    d.member("lastIndexOf", "string_last_index_of_string", vec![String, String], Int, last_index_of);
    d.member("lastIndexOf", "string_last_index_of_string_int", vec![String, String, Int], Int, last_index_of);
    d.member("lowerAscii", "string_lower_ascii", vec![String], String, |args| change(args, str::to_ascii_lowercase));
    d.member("upperAscii", "string_upper_ascii", vec![String], String, |args| change(args, str::to_ascii_uppercase));
    d.member("trim", "string_trim", vec![String], String, |args| change(args, |text| text.trim().to_owned()));
    d.member("replace", "string_replace_string_string", vec![String, String, String], String, replace);
    d.member("replace", "string_replace_string_string_int", vec![String, String, String, Int], String, replace);
    d.member("split", "string_split_string", vec![String, String], strings(), split);
    d.member("split", "string_split_string_int", vec![String, String, Int], strings(), split);
    d.member("substring", "string_substring_int", vec![String, Int], String, substring);
    d.member("substring", "string_substring_int_int", vec![String, Int, Int], String, substring);
    d.global("strings.quote", "strings_quote", vec![String], String, |args| change(args, quote));
    d.member("join", "list_join", vec![strings()], String, join);
    d.member("join", "list_join_string", vec![strings(), String], String, join);
}

fn out_of_range(index: i64) -> EvalError {
    EvalError::new(format_args!("index out of range: {index}"))
}

fn change<'v>(args: &[Value<'v>], change: fn(&str) -> std::string::String) -> Evaluated<Value<'v>> {
    args[0].as_str().map_or_else(mismatch, |text| Ok(Value::string(change(text))))
}

fn char_at<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let (Some(text), Some(index)) = (args[0].as_str(), args[1].as_int()) else { return mismatch() };
    let at = usize::try_from(index).map_err(|_| out_of_range(index))?;
    match text.chars().nth(at) {
        Some(character) => Ok(Value::string(character)),
        None if at == text.chars().count() => Ok(Value::string("")),
        None => Err(out_of_range(index)),
    }
}

fn index_of<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let (Some(text), Some(wanted)) = (args[0].as_str(), args[1].as_str()) else { return mismatch() };
    let offset = args.get(2).and_then(Value::as_int).unwrap_or(0);
    if wanted.is_empty() {
        return Ok(Value::Int(offset));
    }
    let from = usize::try_from(offset).map_err(|_| out_of_range(offset))?;
    let Some((start, _)) = text.char_indices().nth(from) else { return Ok(Value::Int(-1)) };
    let found = text[start..].find(wanted).map(|at| from + text[start..start + at].chars().count());
    Ok(Value::Int(found.map_or(-1, |at| at as i64)))
}

fn last_index_of<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let (Some(text), Some(wanted)) = (args[0].as_str(), args[1].as_str()) else { return mismatch() };
    let length = text.chars().count() as i64;
    let offset = args.get(2).and_then(Value::as_int);
    if wanted.is_empty() {
        return Ok(Value::Int(offset.unwrap_or(length)));
    }
    if offset.is_none() && text.len() < wanted.len() {
        return Ok(Value::Int(-1));
    }
    let offset = offset.unwrap_or(length - 1);
    if offset < 0 {
        return Err(out_of_range(offset));
    }
    if offset >= length {
        return Ok(Value::Int(-1));
    }
    // A match may start at the offset at the latest.
    let last = text.char_indices().nth(offset as usize).map_or(text.len(), |(at, _)| at);
    let end = (last + wanted.len()).min(text.len());
    let end = (end..=text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
    let found = text[..end].rfind(wanted).map(|at| text[..at].chars().count());
    Ok(Value::Int(found.map_or(-1, |at| at as i64)))
}

fn replace<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let (Some(text), Some(old), Some(new)) = (args[0].as_str(), args[1].as_str(), args[2].as_str()) else {
        return mismatch();
    };
    let found = if old.is_empty() { text.chars().count() + 1 } else { text.matches(old).count() };
    check_size(text.len().saturating_add(found.saturating_mul(new.len())))?;
    let replaced = match args.get(3).and_then(Value::as_int) {
        Some(limit) if limit >= 0 => text.replacen(old, new, usize::try_from(limit).unwrap_or(usize::MAX)),
        _ => text.replace(old, new),
    };
    Ok(Value::string(replaced))
}

fn split<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let (Value::String(text), Some(separator)) = (&args[0], args[1].as_str()) else { return mismatch() };
    let limit = match args.get(2).and_then(Value::as_int) {
        Some(limit) if limit >= 0 => usize::try_from(limit).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    if limit == 0 {
        return Ok(Value::list(Vec::new()));
    }
    let mut parts = Vec::new();
    if separator.is_empty() {
        // By characters, the rest in the last part.
        let mut at = 0;
        while let Some(character) = text[at..].chars().next() {
            let end = if parts.len() + 1 == limit { text.len() } else { at + character.len_utf8() };
            parts.push(Value::String(text.part(at..end)));
            at = end;
        }
    } else {
        let mut at = 0;
        for part in text.splitn(limit, separator) {
            parts.push(Value::String(text.part(at..at + part.len())));
            at += part.len() + separator.len();
        }
    }
    Ok(Value::list(parts))
}

fn substring<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let (Value::String(text), Some(start)) = (&args[0], args[1].as_int()) else { return mismatch() };
    let length = text.chars().count() as i64;
    let end = args.get(2).and_then(Value::as_int);
    if let Some(end) = end.filter(|end| start > *end) {
        return Err(EvalError::new(format_args!("invalid substring range. start: {start}, end: {end}")));
    }
    for index in [Some(start), end].into_iter().flatten() {
        if !(0..=length).contains(&index) {
            return Err(out_of_range(index));
        }
    }
    let byte = |index: i64| text.char_indices().nth(index as usize).map_or(text.len(), |(at, _)| at);
    Ok(Value::String(text.part(byte(start)..end.map_or(text.len(), byte))))
}

fn quote(text: &str) -> std::string::String {
    let mut quoted = std::string::String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

fn join<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let Value::List(list) = &args[0] else { return mismatch() };
    let separator = args.get(1).and_then(Value::as_str).unwrap_or_default();
    let mut joined = std::string::String::new();
    for (index, item) in list.iter().enumerate() {
        if index > 0 {
            joined.push_str(separator);
        }
        match item? {
            Value::String(text) => {
                check_size(joined.len() + text.len())?;
                joined.push_str(&text);
            }
            other => return Err(EvalError::new(format_args!("join: invalid input: {other}"))),
        }
    }
    Ok(Value::string(joined))
}
