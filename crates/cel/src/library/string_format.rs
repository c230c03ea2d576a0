//! `'%s has %d'.format([...])`: the clauses, their errors, and the check of a constant
//! format against a list literal, which the validators run at compile time.

use super::number::format_general;
use super::standard::to_string;
use super::{Declarations, check_size, mismatch};
use crate::error::{EvalError, Evaluated};
use crate::types::Type::{self, *};
use crate::value::{Value, format_duration};

const DEFAULT_PRECISION: usize = 6;

pub(super) fn declare(d: &mut Declarations) {
    d.member("format", "string_format", vec![String, Type::list(Dyn)], String, format);
}

/// What stands after a `%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Clause {
    String,
    Decimal,
    Fixed(usize),
    Scientific,
    Binary,
    Hex { upper: bool },
    Octal,
}

pub(crate) enum Piece<'t> {
    Text(&'t str),
    Clause(Clause),
}

/// The text and the clauses of a format, up to the first thing wrong with it. Clauses
/// beyond `available` arguments are wrong.
pub(crate) fn pieces(format: &str, available: usize) -> Result<Vec<Piece<'_>>, std::string::String> {
    let mut pieces = Vec::new();
    let mut used = 0;
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        if at > 0 {
            pieces.push(Piece::Text(&rest[..at]));
        }
        let after = &rest[at + 1..];
        if let Some(literal) = after.strip_prefix('%') {
            pieces.push(Piece::Text("%"));
            rest = literal;
            continue;
        }
        if used >= available {
            return Err(format!("index {used} out of range"));
        }
        if after.is_empty() {
            return Err("unexpected end of string".into());
        }
        let (clause, length) =
            clause(after).map_err(|message| format!("could not parse formatting clause: {message}"))?;
        pieces.push(Piece::Clause(clause));
        used += 1;
        rest = &after[length..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

fn clause(text: &str) -> Result<(Clause, usize), std::string::String> {
    let mut length = 0;
    let mut precision = DEFAULT_PRECISION;
    if let Some(digits) = text.strip_prefix('.') {
        let count = digits.bytes().take_while(u8::is_ascii_digit).count();
        if count == digits.len() {
            return Err("error while parsing precision: could not find end of precision specifier".into());
        }
        precision = digits[..count].parse().map_err(|_| {
            let shown = &digits[..count];
            format!("error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing {shown:?}: invalid syntax")
        })?;
        // More digits than any double has; a huge precision must not allocate.
        precision = precision.min(1100);
        length = count + 1;
    }
    let verb = text[length..].chars().next().unwrap_or_default();
    let clause = match verb {
        's' => Clause::String,
        'd' => Clause::Decimal,
        'f' => Clause::Fixed(precision),
        'e' => Clause::Scientific,
        'b' => Clause::Binary,
        'x' | 'X' => Clause::Hex { upper: verb == 'X' },
        'o' => Clause::Octal,
        other => return Err(format!("unrecognized formatting clause \"{other}\"")),
    };
    Ok((clause, length + 1))
}

impl Clause {
    /// Whether a value of this type can stand here, as far as types tell.
    pub fn accepts(self, found: &Type) -> bool {
        if found.is_dyn_or_error() {
            return true;
        }
        match self {
            Clause::String => !matches!(found, Type::Struct(_) | Type::Opaque(..) | Type::Param(_)),
            Clause::Decimal | Clause::Octal => matches!(found, Int | Uint),
            Clause::Fixed(_) | Clause::Scientific => matches!(found, Double | String),
            Clause::Binary => matches!(found, Int | Uint | Bool),
            Clause::Hex { .. } => matches!(found, Int | Uint | String | Bytes),
        }
    }

    /// The complaint about a type that cannot.
    pub fn refusal(self, type_name: &str) -> std::string::String {
        let rule = match self {
            Clause::String => {
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
            }
            Clause::Decimal => "decimal clause can only be used on integers",
            Clause::Fixed(_) => "fixed-point clause can only be used on doubles",
            Clause::Scientific => "scientific clause can only be used on doubles",
            Clause::Binary => "only integers and bools can be formatted as binary",
            Clause::Hex { .. } => "only integers, byte buffers, and strings can be formatted as hex",
            Clause::Octal => "octal clause can only be used on integers",
        };
        format!("error during formatting: {rule}, was given {type_name}")
    }

    fn apply(self, value: &Value<'_>) -> Evaluated<std::string::String> {
        let refuse = || Err(EvalError::new(self.refusal(value.type_name())));
        Ok(match (self, value) {
            (Clause::String, value) => match plain(value) {
                Some(text) => return text,
                None => return refuse(),
            },
            (Clause::Decimal, Value::Int(number)) => number.to_string(),
            (Clause::Decimal, Value::Uint(number)) => number.to_string(),
            (Clause::Fixed(precision), value) => match double(value) {
                Some(number) => fixed(number, precision),
                None => return refuse(),
            },
            (Clause::Scientific, value) => match double(value) {
                Some(number) => scientific(number),
                None => return refuse(),
            },
            (Clause::Binary, Value::Bool(value)) => u8::from(*value).to_string(),
            (Clause::Binary, Value::Int(number)) => signed(*number, |n| format!("{n:b}")),
            (Clause::Binary, Value::Uint(number)) => format!("{number:b}"),
            (Clause::Octal, Value::Int(number)) => signed(*number, |n| format!("{n:o}")),
            (Clause::Octal, Value::Uint(number)) => format!("{number:o}"),
            (Clause::Hex { upper }, value) => {
                let digits = match value {
                    Value::Int(number) => signed(*number, |n| format!("{n:x}")),
                    Value::Uint(number) => format!("{number:x}"),
                    Value::String(text) => hex(text.as_bytes()),
                    Value::Bytes(bytes) => hex(bytes),
                    _ => return refuse(),
                };
                if upper { digits.to_ascii_uppercase() } else { digits }
            }
            _ => return refuse(),
        })
    }
}

fn signed(number: i64, digits: fn(u64) -> std::string::String) -> std::string::String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", digits(number.unsigned_abs()))
}

fn hex(bytes: &[u8]) -> std::string::String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A double, or one of the three names of what is none.
fn double(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Double(number) => Some(*number),
        Value::String(text) => match &**text {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// As American English writes it, with a comma every three digits.
fn fixed(number: f64, precision: usize) -> std::string::String {
    if let Some(name) = special(number) {
        return name.into();
    }
    let text = format!("{number:.precision$}");
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut grouped = std::string::String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if precision > 0 {
        grouped.push('.');
        grouped.push_str(fraction);
    }
    grouped
}

fn special(number: f64) -> Option<&'static str> {
    if number.is_nan() {
        Some("NaN")
    } else if number.is_infinite() {
        Some(if number > 0.0 { "∞" } else { "-∞" })
    } else {
        None
    }
}

/// `2.718282×10⁰⁰`: the locale's way, which upstream's formatter uses.
fn scientific(number: f64) -> std::string::String {
    if let Some(name) = special(number) {
        return name.into();
    }
    let text = format!("{number:.6e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let raised: std::string::String = format!("{:02}", exponent.abs())
        .chars()
        .map(|digit| match digit {
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            digit => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or('⁰'),
        })
        .collect();
    format!("{digits}×10{}{raised}", if exponent < 0 { "⁻" } else { "" })
}

/// The text of `%s`; none if a value of this type has none.
fn plain(value: &Value<'_>) -> Option<Evaluated<std::string::String>> {
    Some(match value {
        Value::Null => Ok("null".into()),
        Value::List(_) | Value::Map(_) => nested(value),
        Value::Optional(_) | Value::Object(_) | Value::Opaque(_) | Value::Variables | Value::Preserved(_) => {
            return None;
        }
        value => match to_string(std::slice::from_ref(value)) {
            Ok(text) => Ok(text.as_str().unwrap_or_default().to_owned()),
            Err(error) => Err(error),
        },
    })
}

/// How a value looks inside a list or a map.
fn nested(value: &Value<'_>) -> Evaluated<std::string::String> {
    Ok(match value {
        Value::String(text) => format!("{:?}", &**text),
        Value::Bytes(bytes) => format!("b{:?}", std::string::String::from_utf8_lossy(bytes)),
        Value::Double(number) if !number.is_finite() => format!("{:?}", format_general(*number)),
        Value::Double(number) => format!("{number:.DEFAULT_PRECISION$}"),
        Value::Timestamp(time) => format!("timestamp({:?})", time.to_string()),
        Value::Duration(nanos) => format!("duration({:?})", format_duration(*nanos)),
        Value::List(list) => {
            let items: Vec<_> = list.iter().map(|item| nested(&item?)).collect::<Evaluated<_>>()?;
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let mut entries = Vec::new();
            for (key, value) in map.entries() {
                entries.push((nested(&key)?, nested(&value?)?));
            }
            entries.sort();
            let entries: Vec<_> = entries.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
            format!("{{{}}}", entries.join(", "))
        }
        value => match plain(value) {
            Some(text) => text?,
            None => {
                let message = format!("error during formatting: no formatting function for {}", value.type_name());
                return Err(EvalError::new(message));
            }
        },
    })
}

fn format<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let (Some(format), Value::List(list)) = (args[0].as_str(), &args[1]) else { return mismatch() };
    let mut values = list.iter();
    let mut out = std::string::String::new();
    for piece in pieces(format, list.len()).map_err(EvalError::new)? {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Clause(clause) => {
                let value = values.next().unwrap_or(Ok(Value::Null))?;
                out.push_str(&clause.apply(&value)?);
            }
        }
        check_size(out.len())?;
    }
    Ok(Value::string(out))
}
