//! Objects as YAML, byte for byte as kubectl prints them: go-yaml v2's block style, with its
//! rules for quotes, for folding at 80 columns and for the order of keys. `print/mod.rs`
//! calls it for `-o yaml`, and `edit` for the file that a person edits.

use serde_json::Value;
use std::cmp::Ordering;

/// A line that is longer is folded at its next single space (go-yaml's best width).
const FOLD_AFTER: usize = 80;

/// The length up to which a key is written without the `? ` form.
const SIMPLE_KEY_MAX: usize = 128;

/// One document, without `---`, with a newline at its end.
pub(crate) fn render(value: &Value) -> String {
    let mut writer = Writer { out: String::new(), column: 0 };
    match value {
        Value::Object(map) if !map.is_empty() => writer.mapping(map, 0, false),
        Value::Array(items) if !items.is_empty() => writer.sequence(items, 0, false),
        scalar => {
            writer.leaf(scalar, 0, false);
            writer.end_line();
        }
    }
    writer.out
}

struct Writer {
    out: String,
    /// In characters, as the emitter counts them.
    column: usize,
}

/// How a scalar is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

impl Writer {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    fn put_char(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn end_line(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    fn indent(&mut self, width: usize) {
        self.out.extend(std::iter::repeat_n(' ', width));
        self.column += width;
    }

    fn new_line(&mut self, width: usize) {
        self.end_line();
        self.indent(width);
    }

    /// `started`: the first key stands on the line that is begun, behind `- `.
    fn mapping(&mut self, map: &serde_json::Map<String, Value>, indent: usize, mut started: bool) {
        let mut entries: Vec<(&String, &Value)> = map.iter().collect();
        entries.sort_by(|a, b| compare_keys(a.0, b.0));
        for (key, value) in entries {
            if !std::mem::take(&mut started) {
                self.indent(indent);
            }
            if is_simple_key(key) {
                self.scalar(key, indent, true);
                self.put(":");
            } else {
                self.put("? ");
                self.scalar(key, indent + 2, false);
                self.ended_literal(key);
                self.indent(indent);
                self.put(":");
            }
            self.value(value, indent);
        }
    }

    /// The value of a key, behind its colon, and the end of its line.
    fn value(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                self.end_line();
                self.mapping(map, indent + 2, false);
            }
            // A sequence stands at the indent of its key.
            Value::Array(items) if !items.is_empty() => {
                self.end_line();
                self.sequence(items, indent, false);
            }
            scalar => {
                self.put(" ");
                self.leaf(scalar, indent + 2, false);
                self.end_of(scalar);
            }
        }
    }

    fn sequence(&mut self, items: &[Value], indent: usize, mut started: bool) {
        for item in items {
            if !std::mem::take(&mut started) {
                self.indent(indent);
            }
            self.put("- ");
            match item {
                Value::Object(map) if !map.is_empty() => self.mapping(map, indent + 2, true),
                Value::Array(inner) if !inner.is_empty() => self.sequence(inner, indent + 2, true),
                scalar => {
                    self.leaf(scalar, indent + 2, false);
                    self.end_of(scalar);
                }
            }
        }
    }

    /// Anything that is written in place: scalars, and maps and lists without items.
    fn leaf(&mut self, value: &Value, indent: usize, is_key: bool) {
        match value {
            Value::Null => self.put("null"),
            Value::Bool(true) => self.put("true"),
            Value::Bool(false) => self.put("false"),
            Value::Number(number) => self.put(&render_number(number)),
            Value::String(text) => self.scalar(text, indent, is_key),
            Value::Array(_) => self.put("[]"),
            Value::Object(_) => self.put("{}"),
        }
    }

    /// The end of a leaf's line; a literal block whose text ends in a newline has written it.
    fn end_of(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.ended_literal(text),
            _ => self.end_line(),
        }
    }

    fn ended_literal(&mut self, text: &str) {
        if !(text.ends_with('\n') && style_of(text, false) == Style::Literal) {
            self.end_line();
        }
    }

    fn scalar(&mut self, text: &str, indent: usize, is_key: bool) {
        match style_of(text, is_key) {
            Style::Plain => self.folded(text, indent, is_key, false),
            Style::Single => {
                self.put("'");
                self.folded(text, indent, is_key, true);
                self.put("'");
            }
            Style::Double => self.double_quoted(text, indent, is_key),
            Style::Literal => self.literal(text, indent),
        }
    }

    /// Plain and single-quoted text without line breaks, which is what the styles are used for.
    fn folded(&mut self, text: &str, indent: usize, is_key: bool, quoted: bool) {
        let chars: Vec<char> = text.chars().collect();
        let mut after_space = false;
        for (i, &c) in chars.iter().enumerate() {
            if c == ' ' {
                let inside = !quoted || (i > 0 && i + 1 < chars.len());
                let next_is_space = chars.get(i + 1) == Some(&' ');
                if !is_key && !after_space && self.column > FOLD_AFTER && inside && !next_is_space {
                    self.new_line(indent);
                } else {
                    self.put_char(' ');
                }
                after_space = true;
            } else {
                if quoted && c == '\'' {
                    self.put_char('\'');
                }
                self.put_char(c);
                after_space = false;
            }
        }
    }

    fn double_quoted(&mut self, text: &str, indent: usize, is_key: bool) {
        self.put("\"");
        let chars: Vec<char> = text.chars().collect();
        let mut after_space = false;
        for (i, &c) in chars.iter().enumerate() {
            if needs_escape(c) {
                self.put(&escape(c));
                after_space = false;
            } else if c == ' ' {
                if !is_key && !after_space && self.column > FOLD_AFTER && i > 0 && i + 1 < chars.len() {
                    self.new_line(indent);
                    if chars.get(i + 1) == Some(&' ') {
                        self.put("\\");
                    }
                } else {
                    self.put_char(' ');
                }
                after_space = true;
            } else {
                self.put_char(c);
                after_space = false;
            }
        }
        self.put("\"");
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.put("|");
        if text.starts_with([' ', '\n']) {
            self.put("2");
        }
        let body = text.trim_end_matches('\n');
        match text.len() - body.len() {
            0 => self.put("-"),
            1 if !body.is_empty() => {}
            _ => self.put("+"),
        }
        self.end_line();
        let lines = text.strip_suffix('\n').unwrap_or(text);
        for (i, line) in lines.split('\n').enumerate() {
            if i > 0 {
                self.end_line();
            }
            if !line.is_empty() {
                self.indent(indent);
                self.put(line);
            }
        }
        if text.ends_with('\n') {
            self.end_line();
        }
    }
}

fn is_simple_key(key: &str) -> bool {
    key.len() <= SIMPLE_KEY_MAX && !key.contains('\n')
}

fn style_of(text: &str, is_key: bool) -> Style {
    let shape = Shape::of(text);
    let wanted = if text.contains('\n') {
        Style::Literal
    } else if resolves_to_string(text) {
        Style::Plain
    } else {
        Style::Double
    };
    let wanted = if is_key && wanted == Style::Literal { Style::Double } else { wanted };
    match wanted {
        Style::Plain if shape.plain => Style::Plain,
        Style::Plain if shape.single => Style::Single,
        Style::Literal if shape.block => Style::Literal,
        _ => Style::Double,
    }
}

/// Which styles a text may be written in (libyaml's analysis of a scalar).
struct Shape {
    plain: bool,
    single: bool,
    block: bool,
}

impl Shape {
    fn of(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let (Some(&first), Some(&last)) = (chars.first(), chars.last()) else {
            return Self { plain: true, single: true, block: false };
        };
        let mut indicator = text.starts_with("---") || text.starts_with("...");
        let (mut special, mut breaks, mut break_then_space, mut space_then_break) = (false, false, false, false);
        let mut before = '\n';
        for (i, &c) in chars.iter().enumerate() {
            let ends_word = chars.get(i + 1).is_none_or(|next| matches!(next, ' ' | '\t'));
            indicator |= match c {
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`'
                    if i == 0 =>
                {
                    true
                }
                '?' | '-' if i == 0 => ends_word,
                ':' => ends_word,
                '#' => matches!(before, ' ' | '\t' | '\n' | '\r'),
                _ => false,
            };
            special |= !is_printable(c);
            breaks |= is_break(c);
            break_then_space |= c == ' ' && i > 0 && is_break(before);
            space_then_break |= is_break(c) && i > 0 && before == ' ';
            before = c;
        }
        let edge = |c: char| c == ' ' || is_break(c);
        let bare = !(edge(first) || edge(last) || break_then_space || space_then_break || special || breaks);
        Self {
            plain: bare && !indicator,
            single: !(break_then_space || space_then_break || special),
            block: !(last == ' ' || space_then_break || special),
        }
    }
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_printable(c: char) -> bool {
    matches!(c, '\n' | '\u{20}'..='\u{7e}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}') && c != '\u{feff}'
}

fn needs_escape(c: char) -> bool {
    !is_printable(c) || is_break(c) || c == '"' || c == '\\'
}

fn escape(c: char) -> String {
    match c {
        '\0' => "\\0".into(),
        '\u{7}' => "\\a".into(),
        '\u{8}' => "\\b".into(),
        '\t' => "\\t".into(),
        '\n' => "\\n".into(),
        '\u{b}' => "\\v".into(),
        '\u{c}' => "\\f".into(),
        '\r' => "\\r".into(),
        '\u{1b}' => "\\e".into(),
        '"' => "\\\"".into(),
        '\\' => "\\\\".into(),
        '\u{85}' => "\\N".into(),
        '\u{a0}' => "\\_".into(),
        '\u{2028}' => "\\L".into(),
        '\u{2029}' => "\\P".into(),
        c if u32::from(c) <= 0xff => format!("\\x{:02X}", u32::from(c)),
        c if u32::from(c) <= 0xffff => format!("\\u{:04X}", u32::from(c)),
        c => format!("\\U{:08X}", u32::from(c)),
    }
}

/// Whether a reader of YAML 1.1 takes the bare text for a string, and not for a number, a
/// boolean, null, a time or a base-60 float.
fn resolves_to_string(text: &str) -> bool {
    const WORDS: [&str; 27] = [
        "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON", "n", "N", "no", "No", "NO", "false",
        "False", "FALSE", "off", "Off", "OFF", "~", "null", "Null", "NULL", "<<",
    ];
    const FLOATS: [&str; 12] =
        [".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"];
    if text.is_empty() || WORDS.contains(&text) || FLOATS.contains(&text) {
        return false;
    }
    match text.as_bytes()[0] {
        b'.' => text.parse::<f64>().is_err(),
        b'0'..=b'9' | b'+' | b'-' => {
            let digits = text.replace('_', "");
            !(is_go_integer(&digits) || is_yaml_float(&digits) || is_base60(text) || is_timestamp(text))
        }
        _ => true,
    }
}

/// What Go's ParseInt with base 0 takes for a 64-bit number.
fn is_go_integer(text: &str) -> bool {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = if let Some(rest) = lower.strip_prefix("0x") {
        (16, rest)
    } else if let Some(rest) = lower.strip_prefix("0b") {
        (2, rest)
    } else if let Some(rest) = lower.strip_prefix("0o") {
        (8, rest)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, &lower[1..])
    } else {
        (10, lower.as_str())
    };
    if digits.is_empty() || digits.starts_with(['+', '-']) {
        return false;
    }
    match u64::from_str_radix(digits, radix) {
        Ok(number) => !negative || number <= 1 << 63,
        Err(_) => false,
    }
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_yaml_float(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty()),
        None => !mantissa.is_empty() && digits(mantissa),
    };
    let exponent_fits = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['-', '+']).unwrap_or(e);
        !e.is_empty() && digits(e)
    });
    mantissa_fits && exponent_fits
}

/// `1:30`, `190:20:30.15`: numbers to readers of YAML 1.1.
fn is_base60(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = text.split_once('.').map_or((text, ""), |(w, f)| (w, f));
    if !fraction.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
        return false;
    }
    let mut parts = whole.split(':');
    let first = parts.next().unwrap_or_default();
    let starts =
        first.starts_with(|c: char| c.is_ascii_digit()) && first.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let rest: Vec<&str> = parts.collect();
    let sixty = |part: &&str| match part.as_bytes() {
        [a] => a.is_ascii_digit(),
        [a, b] => (b'0'..=b'5').contains(a) && b.is_ascii_digit(),
        _ => false,
    };
    starts && !rest.is_empty() && rest.iter().all(sixty)
}

/// The forms of a time that go-yaml reads: a date, and a date with a time.
fn is_timestamp(text: &str) -> bool {
    let Some((year, _)) = text.split_once('-') else { return false };
    if year.len() != 4 || !year.bytes().all(|b| b.is_ascii_digit()) {
        return false;
    }
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some((text.as_bytes()[at], &text[at + 1..]))),
        None => (text, None),
    };
    let numbers: Vec<i64> = date.split('-').filter_map(|part| part.parse().ok().filter(|_| part.len() <= 4)).collect();
    let [year, month, day] = numbers[..] else { return false };
    let fits = |value: i64| i8::try_from(value).ok();
    let (Some(month), Some(day)) = (fits(month), fits(day)) else { return false };
    if date.split('-').count() != 3 || jiff::civil::Date::new(i16::try_from(year).unwrap_or(0), month, day).is_err() {
        return false;
    }
    let Some((mark, time)) = time else { return true };
    let clock = if mark == b' ' {
        time
    } else if let Some(clock) = time.strip_suffix('Z') {
        clock
    } else {
        let Some(at) = time.len().checked_sub(6).filter(|at| time.is_char_boundary(*at)) else { return false };
        let (clock, zone) = time.split_at(at);
        let zone = zone.as_bytes();
        if !(matches!(zone[0], b'+' | b'-') && zone[3] == b':') {
            return false;
        }
        clock
    };
    let (clock, fraction) = clock.split_once('.').map_or((clock, None), |(c, f)| (c, Some(f)));
    let parts: Vec<u32> = clock.split(':').filter(|p| p.len() <= 2).filter_map(|p| p.parse().ok()).collect();
    let fraction_fits = fraction.is_none_or(|f| !f.is_empty() && f.bytes().all(|b| b.is_ascii_digit()));
    matches!(parts[..], [h, m, s] if h < 24 && m < 60 && s < 60) && clock.split(':').count() == 3 && fraction_fits
}

/// Integers as they are; others as Go's shortest form, with an exponent of two digits.
fn render_number(number: &serde_json::Number) -> String {
    if number.is_i64() || number.is_u64() {
        return number.to_string();
    }
    let value = number.as_f64().unwrap_or_default();
    super::number::go_general(value)
}

/// go-yaml's order of keys: digits by their number, letters behind everything else.
fn compare_keys(a: &str, b: &str) -> Ordering {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    for i in 0..a.len().min(b.len()) {
        if a[i] == b[i] {
            continue;
        }
        let (a_letter, b_letter) = (a[i].is_alphabetic(), b[i].is_alphabetic());
        if a_letter && b_letter {
            return a[i].cmp(&b[i]);
        }
        if a_letter || b_letter {
            return if b_letter { Ordering::Less } else { Ordering::Greater };
        }
        // Zeros count where a digit other than zero stands before them.
        let mut base = 0_i64;
        if a[i] == '0' || b[i] == '0' {
            let digits = a[..i].iter().rev().take_while(|c| c.is_ascii_digit());
            base = i64::from(digits.into_iter().any(|c| *c != '0'));
        }
        let number = |chars: &[char]| {
            let digits: Vec<char> = chars[i..].iter().copied().take_while(char::is_ascii_digit).collect();
            let value = digits
                .iter()
                .fold(base, |sum, c| sum.wrapping_mul(10).wrapping_add(i64::from(c.to_digit(10).unwrap_or_default())));
            (value, digits.len())
        };
        let ((a_number, a_len), (b_number, b_len)) = (number(&a), number(&b));
        return a_number.cmp(&b_number).then(a_len.cmp(&b_len)).then(a[i].cmp(&b[i]));
    }
    a.len().cmp(&b.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(value: Value, expected: &str) {
        assert_eq!(render(&value), expected);
        let back: Value = serde_yaml_ng::from_str(expected).expect("YAML");
        assert_eq!(back, value, "reads back");
    }

    #[test]
    fn maps_and_lists_stand_as_kubectl_prints_them() {
        check(
            json!({"spec": {"containers": [{"name": "a", "args": ["x", "y"], "env": []}], "none": null, "empty": {}}}),
            "spec:\n  containers:\n  - args:\n    - x\n    - \"y\"\n    env: []\n    name: a\n  empty: {}\n  none: null\n",
        );
        check(json!([[1, 2], [3]]), "- - 1\n  - 2\n- - 3\n");
    }

    #[test]
    fn text_that_reads_as_something_else_is_quoted() {
        for text in
            ["", "yes", "NO", "1", "-1", "0x1f", "1.5", "1e3", "~", "null", "on", "1_000", "12:30", "2024-01-02"]
        {
            assert_eq!(render(&json!(text)), format!("\"{text}\"\n"), "{text}");
        }
        assert_eq!(render(&json!("2024-01-02T03:04:05Z")), "\"2024-01-02T03:04:05Z\"\n");
        for text in ["a", "a b", "10Mi", "100m", "1.2.3.4", "a:b", "a#b", "-", "/x", "1:99", "0.1.0", "+x"] {
            let plain = format!("{text}\n");
            let expected = if text == "-" { "'-'\n".to_owned() } else { plain };
            assert_eq!(render(&json!(text)), expected, "{text}");
        }
        assert_eq!(render(&json!("a: b")), "'a: b'\n");
        assert_eq!(render(&json!("*")), "'*'\n");
        assert_eq!(render(&json!("it's: b")), "'it''s: b'\n");
        assert_eq!(render(&json!("tab\there")), "\"tab\\there\"\n");
        assert_eq!(render(&json!(" lead")), "' lead'\n");
    }

    #[test]
    fn lines_are_kept_in_blocks() {
        check(
            json!({"a": "one\ntwo\n", "b": "one\ntwo", "c": "x\n\n"}),
            "a: |\n  one\n  two\nb: |-\n  one\n  two\nc: |+\n  x\n\n",
        );
        check(json!({"a": " lead\nx"}), "a: |2-\n   lead\n  x\n");
        check(json!({"a": "trail \nx"}), "a: \"trail \\nx\"\n");
        check(json!({"a": ["x\ny\n", "z"]}), "a:\n- |\n  x\n  y\n- z\n");
    }

    #[test]
    fn long_lines_are_folded_behind_the_eightieth_column() {
        let words = "word ".repeat(20);
        let text = render(&json!({"message": words.trim_end()}));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].len() > 80 && lines[0].len() < 90, "{text}");
        assert!(lines[1].starts_with("  word"), "{text}");
        let back: Value = serde_yaml_ng::from_str(&text).expect("YAML");
        assert_eq!(back["message"], words.trim_end());
    }

    #[test]
    fn keys_stand_in_go_yamls_order() {
        check(json!({"a10": 1, "a9": 2, "a.b": 3, "aa": 4, "B": 5}), "B: 5\na.b: 3\na9: 2\na10: 1\naa: 4\n");
    }

    #[test]
    fn numbers_are_gos() {
        assert_eq!(
            render(&json!({"a": 1.5, "b": 1e21, "c": 100, "d": 0.000001})),
            "a: 1.5\nb: 1e+21\nc: 100\nd: 1e-06\n"
        );
    }
}
