//! A JSON reader that the schema walk pulls from. It gives numbers as their text (a
//! quantity may be one), counts depth, and words its errors as Go's encoding/json does,
//! which clients show to their users.

use serde_json::{Map, Number, Value};
use std::borrow::Cow;

/// How deep values may nest. serde_json reads what we store back to 128 levels, and a
/// list or a watch event wraps an object in a few more.
pub(crate) const MAX_DEPTH: usize = 120;

/// A body that is no JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct SyntaxError(pub(crate) String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Object,
    Array,
    String,
    Number,
    Bool,
    Null,
}

impl Kind {
    /// As Go names it in type errors.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Number => "number",
            Self::Bool => "bool",
            Self::Null => "null",
        }
    }
}

pub(crate) struct Reader<'a> {
    text: &'a str,
    position: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, position: 0, depth: 0 }
    }

    /// The whole text, of which every string without escapes is a part.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// How many bytes have been read.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.position += 1;
        }
    }

    /// The error for the byte at hand.
    fn unexpected(&self, context: &str) -> SyntaxError {
        match self.byte() {
            None => SyntaxError("unexpected end of JSON input".into()),
            Some(byte) => SyntaxError(format!("invalid character {} {context}", quote_byte(byte))),
        }
    }

    /// What the next value is, without taking it.
    pub(crate) fn peek(&mut self) -> Result<Kind, SyntaxError> {
        self.skip_space();
        match self.byte() {
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'"') => Ok(Kind::String),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b't' | b'f') => Ok(Kind::Bool),
            Some(b'n') => Ok(Kind::Null),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    /// Takes the opening bracket of an object or array.
    pub(crate) fn open(&mut self) -> Result<(), SyntaxError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.unexpected("exceeded max depth"));
        }
        self.position += 1;
        Ok(())
    }

    /// The next key of an object with its colon, or `None` at the closing brace.
    pub(crate) fn next_key(&mut self, first: &mut bool) -> Result<Option<Cow<'a, str>>, SyntaxError> {
        self.skip_space();
        if self.byte() == Some(b'}') && *first {
            return Ok(self.close());
        }
        if !*first {
            match self.byte() {
                Some(b'}') => return Ok(self.close()),
                Some(b',') => {
                    self.position += 1;
                    self.skip_space();
                }
                _ => return Err(self.unexpected("after object key:value pair")),
            }
        }
        *first = false;
        if self.byte() != Some(b'"') {
            return Err(self.unexpected("looking for beginning of object key string"));
        }
        let key = self.string()?;
        self.skip_space();
        if self.byte() != Some(b':') {
            return Err(self.unexpected("after object key"));
        }
        self.position += 1;
        Ok(Some(key))
    }

    /// Whether an array has another item; false takes the closing bracket.
    pub(crate) fn next_item(&mut self, first: &mut bool) -> Result<bool, SyntaxError> {
        self.skip_space();
        match self.byte() {
            Some(b']') => {
                self.close();
                return Ok(false);
            }
            Some(b',') if !*first => {
                self.position += 1;
                self.skip_space();
                if self.byte() == Some(b']') {
                    return Err(self.unexpected("looking for beginning of value"));
                }
            }
            _ if !*first => return Err(self.unexpected("after array element")),
            _ => {}
        }
        *first = false;
        Ok(true)
    }

    fn close(&mut self) -> Option<Cow<'a, str>> {
        self.position += 1;
        self.depth -= 1;
        None
    }

    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, SyntaxError> {
        let bytes = self.text.as_bytes();
        let start = self.position + 1;
        let end = start + plain_length(bytes.get(start..).unwrap_or_default());
        match bytes.get(end) {
            Some(b'"') => {
                self.position = end + 1;
                return Ok(Cow::Borrowed(&self.text[start..end]));
            }
            Some(b'\\') => {}
            _ => {
                self.position = end;
                return Err(self.unexpected("in string literal"));
            }
        }
        let mut out = String::with_capacity(end - start + 16);
        out.push_str(&self.text[start..end]);
        self.position = end;
        loop {
            match self.byte() {
                Some(b'"') => {
                    self.position += 1;
                    return Ok(Cow::Owned(out));
                }
                Some(b'\\') => {
                    self.position += 1;
                    self.escape(&mut out)?;
                }
                Some(0..=0x1f) | None => return Err(self.unexpected("in string literal")),
                Some(_) => {
                    let rest = &self.text[self.position..];
                    let plain = plain_length(rest.as_bytes());
                    out.push_str(&rest[..plain]);
                    self.position += plain;
                }
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), SyntaxError> {
        let plain = match self.byte() {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.position += 1;
                let first = self.hex4()?;
                let rest = &self.text.as_bytes()[self.position..];
                if (0xd800..0xdc00).contains(&first) && rest.starts_with(b"\\u") {
                    let before = self.position;
                    self.position += 2;
                    let second = self.hex4()?;
                    if (0xdc00..0xe000).contains(&second) {
                        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                        return Ok(());
                    }
                    self.position = before;
                }
                // A lone half of a pair becomes the replacement character, as in Go.
                out.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
                return Ok(());
            }
            _ => return Err(self.unexpected("in string escape code")),
        };
        self.position += 1;
        out.push(plain);
        Ok(())
    }

    fn hex4(&mut self) -> Result<u32, SyntaxError> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.byte().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.unexpected("in \\u hexadecimal character escape"));
            };
            code = code * 16 + digit;
            self.position += 1;
        }
        Ok(code)
    }

    pub(crate) fn number(&mut self) -> Result<&'a str, SyntaxError> {
        let start = self.position;
        if self.byte() == Some(b'-') {
            self.position += 1;
        }
        match self.byte() {
            Some(b'0') => self.position += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.unexpected("in numeric literal")),
        }
        if self.byte() == Some(b'.') {
            self.position += 1;
            if !matches!(self.byte(), Some(b'0'..=b'9')) {
                return Err(self.unexpected("after decimal point in numeric literal"));
            }
            self.digits();
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.position += 1;
            if matches!(self.byte(), Some(b'+' | b'-')) {
                self.position += 1;
            }
            if !matches!(self.byte(), Some(b'0'..=b'9')) {
                return Err(self.unexpected("in exponent of numeric literal"));
            }
            self.digits();
        }
        Ok(&self.text[start..self.position])
    }

    fn digits(&mut self) {
        while matches!(self.byte(), Some(b'0'..=b'9')) {
            self.position += 1;
        }
    }

    /// Takes `true` or `false`.
    pub(crate) fn bool(&mut self) -> Result<bool, SyntaxError> {
        if self.byte() == Some(b't') {
            self.literal("true").map(|()| true)
        } else {
            self.literal("false").map(|()| false)
        }
    }

    pub(crate) fn null(&mut self) -> Result<(), SyntaxError> {
        self.literal("null")
    }

    fn literal(&mut self, word: &str) -> Result<(), SyntaxError> {
        for expected in word.bytes() {
            if self.byte() != Some(expected) {
                return Err(self.unexpected(&format!("in literal {word} (expecting '{}')", char::from(expected))));
            }
            self.position += 1;
        }
        Ok(())
    }

    /// Passes over a value, checking only that it is JSON.
    pub(crate) fn skip(&mut self) -> Result<(), SyntaxError> {
        match self.peek()? {
            Kind::Object => {
                self.open()?;
                let mut first = true;
                while self.next_key(&mut first)?.is_some() {
                    self.skip()?;
                }
            }
            Kind::Array => {
                self.open()?;
                let mut first = true;
                while self.next_item(&mut first)? {
                    self.skip()?;
                }
            }
            Kind::String => drop(self.string()?),
            Kind::Number => drop(self.number()?),
            Kind::Bool => drop(self.bool()?),
            Kind::Null => self.null()?,
        }
        Ok(())
    }

    /// Passes over an object or array by its brackets alone; what stands between them is
    /// not checked.
    pub(crate) fn skip_quickly(&mut self) -> Result<(), SyntaxError> {
        let bytes = self.text.as_bytes();
        let mut open = 0_usize;
        while let Some(byte) = bytes.get(self.position) {
            match byte {
                b'{' | b'[' => open += 1,
                b'}' | b']' => open = open.saturating_sub(1),
                b'"' => {
                    self.position += 1;
                    loop {
                        self.position += plain_length(bytes.get(self.position..).unwrap_or_default());
                        match bytes.get(self.position) {
                            Some(b'"') => break,
                            Some(b'\\') => self.position += 2,
                            _ => return Err(self.unexpected("in string literal")),
                        }
                    }
                }
                _ => {}
            }
            self.position += 1;
            if open == 0 {
                return Ok(());
            }
        }
        Err(self.unexpected("looking for beginning of value"))
    }

    /// Takes a value as it is; of duplicate keys the last one counts.
    pub(crate) fn any(&mut self) -> Result<Value, SyntaxError> {
        Ok(match self.peek()? {
            Kind::Object => {
                self.open()?;
                let (mut first, mut map) = (true, Map::new());
                while let Some(key) = self.next_key(&mut first)? {
                    let value = self.any()?;
                    map.insert(key.into_owned(), value);
                }
                Value::Object(map)
            }
            Kind::Array => {
                self.open()?;
                let (mut first, mut items) = (true, Vec::new());
                while self.next_item(&mut first)? {
                    items.push(self.any()?);
                }
                Value::Array(items)
            }
            Kind::String => Value::String(self.string()?.into_owned()),
            Kind::Number => number_value(self.number()?),
            Kind::Bool => Value::Bool(self.bool()?),
            Kind::Null => {
                self.null()?;
                Value::Null
            }
        })
    }

    /// Nothing but space may follow the value.
    pub(crate) fn end(&mut self) -> Result<(), SyntaxError> {
        self.skip_space();
        if self.position < self.text.len() { Err(self.unexpected("after top-level value")) } else { Ok(()) }
    }
}

/// How many bytes of a string stand for themselves: up to a quote, a backslash or a control
/// character. Eight bytes are looked at together: for each of the three, subtracting makes
/// the high bit of a byte that is looked for, and `!word` drops those that had it before.
fn plain_length(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let zero_bytes = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let mut length = 0;
    let (words, _) = bytes.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word);
        let quotes = zero_bytes(word ^ (ONES * u64::from(b'"')));
        let backslashes = zero_bytes(word ^ (ONES * u64::from(b'\\')));
        let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let found = quotes | backslashes | controls;
        if found != 0 {
            // The lowest hit is exact; those above it may have borrowed from it.
            return length + found.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    let rest = &bytes[length..];
    length + rest.iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < 0x20).unwrap_or(rest.len())
}

/// A number without fraction or exponent is an integer where 64 bits hold it; any other is
/// a float, written without fraction when it has none, as Go writes it.
pub(crate) fn number_value(text: &str) -> Value {
    if let Ok(integer) = text.parse::<i64>() {
        return integer.into();
    }
    float_value(text.parse::<f64>().unwrap_or_default())
}

/// A float as Go writes it: one without a fraction is a whole number with the digits of the
/// float's shortest form, `9223372036854775000`. As an integer it is stored and read back
/// without loss, so that the same number written twice is no change.
pub(crate) fn float_value(float: f64) -> Value {
    // Above this Go writes an exponent.
    const LARGEST_WHOLE: f64 = 1e21;
    if float.fract() == 0.0 && float.abs() < LARGEST_WHOLE {
        let digits = float.to_string();
        if let Ok(integer) = digits.parse::<i64>() {
            return integer.into();
        }
        if let Ok(integer) = digits.parse::<u64>() {
            return integer.into();
        }
    }
    Number::from_f64(float).map_or(Value::Null, Value::Number)
}

fn quote_byte(byte: u8) -> String {
    match byte {
        b'\'' => "'\\''".into(),
        b'"' => "'\"'".into(),
        b'\\' => "'\\\\'".into(),
        b'\n' => "'\\n'".into(),
        b'\r' => "'\\r'".into(),
        b'\t' => "'\\t'".into(),
        0x20..=0x7e => format!("'{}'", char::from(byte)),
        0x00..=0x1f | 0x7f => format!("'\\x{byte:02x}'"),
        // Go turns the byte into the character of that number.
        _ => format!("'{}'", char::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Value, SyntaxError> {
        let mut reader = Reader::new(text);
        let value = reader.any()?;
        reader.end()?;
        Ok(value)
    }

    proptest! {
        #[test]
        fn the_plain_part_of_a_string_ends_where_a_slow_look_says(text in r#"[a-f\"\\\n\u{80}-\u{90}]{0,40}"#) {
            let slow = text.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < 0x20);
            prop_assert_eq!(plain_length(text.as_bytes()), slow.unwrap_or(text.len()));
        }
    }

    #[test]
    fn mistakes_have_gos_words() {
        for (text, message) in [
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            ("hello", "invalid character 'h' looking for beginning of value"),
            ("tru ", "invalid character ' ' in literal true (expecting 'e')"),
            ("{a:1}", "invalid character 'a' looking for beginning of object key string"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 2}", "invalid character '2' after object key:value pair"),
            ("[1 2]", "invalid character '2' after array element"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("{} x", "invalid character 'x' after top-level value"),
            ("\"\n\"", "invalid character '\\n' in string literal"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            ("-", "unexpected end of JSON input"),
            ("1.x", "invalid character 'x' after decimal point in numeric literal"),
            ("01", "invalid character '1' after top-level value"),
        ] {
            assert_eq!(read(text), Err(SyntaxError(message.into())), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(read(&nested(100_000)), Err(SyntaxError("invalid character '[' exceeded max depth".into())));
    }

    #[test]
    fn strings_are_unescaped() {
        assert_eq!(read(r#""a\u00e9\ud83d\ude00\n\ud800x""#), Ok("aé😀\n\u{fffd}x".into()));
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(text in "[\\[\\]{}:,\"a1.\\-e \\\\ntrulfs]{0,30}") {
            let ours = read(&text).ok();
            let theirs = serde_json::from_str::<Value>(&text).ok();
            prop_assert_eq!(ours.is_some(), theirs.is_some(), "{}", text);
        }

        #[test]
        fn reads_what_serde_json_writes(text in "\\PC*", number: i64, float: f64) {
            let value = serde_json::json!({"s": text, "list": [number, null, true], "m": {"k": {}}, "f": float.to_string()});
            prop_assert_eq!(read(&value.to_string()), Ok(value));
        }
    }

    #[test]
    fn a_float_of_a_schema_keeps_its_value_when_it_is_stored_and_read() {
        for (text, expected) in [
            ("9223372036854775000", "9223372036854775000"),
            ("9.223372036854775e18", "9223372036854775000"),
            ("9223372036854775807", "9223372036854776000"),
            ("-9223372036854775808", "-9.223372036854776e+18"),
            ("18446744073709551615", "1.8446744073709552e+19"),
            ("9007199254740993", "9007199254740992"),
            ("1e3", "1000"),
            ("-0.0", "0"),
            ("0.5", "0.5"),
            ("4294967295", "4294967295"),
        ] {
            let value = float_value(text.parse().expect("a float"));
            assert_eq!(value.to_string(), expected, "{text}");
            let stored: Value = serde_json::from_str(&value.to_string()).expect("JSON");
            let again = float_value(stored.to_string().parse().expect("a float"));
            assert_eq!((&stored, &again), (&value, &value), "{text} drifts");
        }
    }
}
