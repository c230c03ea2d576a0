//! Characters to tokens, after the lexical rules of CEL.g4. The parser asks for all
//! tokens at once; an unreadable character becomes an error and the rest is read on.

use crate::source::Issue;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Ident,
    /// An identifier between backquotes, which Kubernetes has not turned on.
    QuotedIdent,
    Int,
    Uint,
    Float,
    String,
    Bytes,
    /// An operator or a bracket; its text says which. `in`, `true`, `false` and `null`
    /// are among them, because they are no identifiers.
    Symbol,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'s> {
    pub kind: Kind,
    pub text: &'s str,
    /// In characters from the start.
    pub offset: u32,
}

impl Token<'_> {
    pub fn is(&self, symbol: &str) -> bool {
        self.kind == Kind::Symbol && self.text == symbol
    }

    /// As the messages name it.
    pub fn shown(&self) -> &str {
        if self.kind == Kind::End { "<EOF>" } else { self.text }
    }
}

/// After so many unreadable places, reading ends.
const MAX_ERRORS: usize = 100;

const TWO: [&str; 6] = ["==", "!=", "<=", ">=", "&&", "||"];
const ONE: &str = "<>[]{}().,-!?:+*/%";
const WORDS: [&str; 4] = ["in", "true", "false", "null"];

pub(crate) fn tokenize<'s>(source: &'s str, issues: &mut Vec<Issue>) -> Vec<Token<'s>> {
    let mut lexer = Lexer { source, at: 0, offset: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let rest = &lexer.source[lexer.at..];
        let offset = lexer.offset;
        if rest.is_empty() {
            tokens.push(Token { kind: Kind::End, text: "", offset });
            return tokens;
        }
        match scan(rest) {
            Ok((kind, length)) => {
                let text = &rest[..length];
                lexer.advance(length);
                let kind = if kind == Kind::Ident && WORDS.contains(&text) { Kind::Symbol } else { kind };
                tokens.push(Token { kind, text, offset });
            }
            Err(length) => {
                if issues.len() == MAX_ERRORS {
                    let message = format!("Syntax error: More than {MAX_ERRORS} syntax errors");
                    issues.push(Issue { offset: Some(offset), message });
                    tokens.push(Token { kind: Kind::End, text: "", offset });
                    return tokens;
                }
                lexer.advance(length);
                let message = format!("Syntax error: token recognition error at: '{}'", &rest[..length]);
                issues.push(Issue { offset: Some(offset), message });
            }
        }
    }
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    offset: u32,
}

impl Lexer<'_> {
    fn advance(&mut self, length: usize) {
        self.offset += self.source[self.at..self.at + length].chars().count() as u32;
        self.at += length;
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = &self.source[self.at..];
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{c}']).len();
            let comment = if blank == 0 && rest.starts_with("//") { rest.find('\n').unwrap_or(rest.len()) } else { 0 };
            if blank + comment == 0 {
                return;
            }
            self.advance(blank + comment);
        }
    }
}

/// The token at the start of `text` with its length in bytes, or the length that cannot
/// be one.
fn scan(text: &str) -> Result<(Kind, usize), usize> {
    let bytes = text.as_bytes();
    let first = bytes[0];
    if let Some(found) = scan_quoted(text) {
        return found;
    }
    if first.is_ascii_alphabetic() || first == b'_' {
        return Ok((Kind::Ident, run(bytes, 0, |b| b.is_ascii_alphanumeric() || b == b'_')));
    }
    if first.is_ascii_digit() || (first == b'.' && bytes.get(1).is_some_and(u8::is_ascii_digit)) {
        return Ok(scan_number(bytes));
    }
    if first == b'`' {
        let end = run(bytes, 1, |b| b.is_ascii_alphanumeric() || b"_.-/ ".contains(&b));
        return if end > 1 && bytes.get(end) == Some(&b'`') { Ok((Kind::QuotedIdent, end + 1)) } else { Err(1) };
    }
    if TWO.iter().any(|symbol| text.starts_with(symbol)) {
        return Ok((Kind::Symbol, 2));
    }
    match text.chars().next() {
        Some(character) if ONE.contains(character) => Ok((Kind::Symbol, 1)),
        // The start of `==`, `&&` or `||`: what follows instead is unreadable with it.
        Some('=' | '&' | '|') => Err(1 + text[1..].chars().next().map_or(0, char::len_utf8)),
        Some(character) => Err(character.len_utf8()),
        None => Err(0),
    }
}

fn run(bytes: &[u8], from: usize, keep: impl Fn(u8) -> bool) -> usize {
    from + bytes[from.min(bytes.len())..].iter().take_while(|b| keep(**b)).count()
}

fn scan_number(bytes: &[u8]) -> (Kind, usize) {
    if bytes.starts_with(b"0x") && bytes.get(2).is_some_and(u8::is_ascii_hexdigit) {
        let end = run(bytes, 2, |b| b.is_ascii_hexdigit());
        return if matches!(bytes.get(end), Some(b'u' | b'U')) { (Kind::Uint, end + 1) } else { (Kind::Int, end) };
    }
    let mut end = run(bytes, 0, |b| b.is_ascii_digit());
    let mut kind = Kind::Int;
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end = run(bytes, end + 1, |b| b.is_ascii_digit());
        kind = Kind::Float;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            end = run(bytes, end + 1 + sign, |b| b.is_ascii_digit());
            kind = Kind::Float;
        }
    }
    if kind == Kind::Int && matches!(bytes.get(end), Some(b'u' | b'U')) {
        return (Kind::Uint, end + 1);
    }
    (kind, end)
}

/// A string or bytes literal, if one starts here: an optional `b`, an optional `r`, then
/// one or three quotes.
fn scan_quoted(text: &str) -> Option<Result<(Kind, usize), usize>> {
    let bytes = text.as_bytes();
    let is_bytes = matches!(bytes[0], b'b' | b'B');
    let mut at = usize::from(is_bytes);
    let raw = matches!(bytes.get(at), Some(b'r' | b'R'));
    at += usize::from(raw);
    let quote = *bytes.get(at).filter(|b| matches!(b, b'"' | b'\''))?;
    let kind = if is_bytes { Kind::Bytes } else { Kind::String };
    let triple = [quote; 3];
    if bytes[at..].starts_with(&triple)
        && let Ok(end) = find_end(text, at + 3, &triple, raw, true)
    {
        return Some(Ok((kind, end)));
    }
    match find_end(text, at + 1, &triple[..1], raw, false) {
        Ok(end) => Some(Ok((kind, end))),
        // The prefix is an identifier in its own right; only the quote is unreadable.
        Err(_) if at > 0 => None,
        Err(length) => Some(Err(length)),
    }
}

/// Past the closing quotes, or past the character that cannot stand there. A backslash
/// begins an escape unless the text is raw.
fn find_end(text: &str, from: usize, close: &[u8], raw: bool, newlines: bool) -> Result<usize, usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        if bytes[at..].starts_with(close) {
            return Ok(at + close.len());
        }
        at += match bytes[at] {
            b'\\' if !raw => match escape_length(&bytes[at + 1..]) {
                Ok(length) => length + 1,
                Err(length) => return Err(character_end(text, at + 1 + length)),
            },
            b'\n' | b'\r' if !newlines => return Err(at),
            _ => 1,
        };
    }
    Err(text.len())
}

/// The length of an escape after its backslash, or how much of it was good.
fn escape_length(rest: &[u8]) -> Result<usize, usize> {
    let digits = |count: usize, good: fn(&u8) -> bool| {
        let found = rest[1..].iter().take(count).take_while(|b| good(b)).count();
        if found == count { Ok(count + 1) } else { Err(found + 1) }
    };
    match rest.first() {
        Some(b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`') => Ok(1),
        Some(b'x' | b'X') => digits(2, u8::is_ascii_hexdigit),
        Some(b'u') => digits(4, u8::is_ascii_hexdigit),
        Some(b'U') => digits(8, u8::is_ascii_hexdigit),
        Some(b'0'..=b'3') => digits(2, |b| (b'0'..=b'7').contains(b)),
        _ => Err(0),
    }
}

/// Past the character at a place, which may be the end.
fn character_end(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(0, char::len_utf8)
}
