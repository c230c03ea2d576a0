//! Resource quantities: `500m`, `1Gi`, `2e3`. Parsing, exact arithmetic and the canonical
//! form, after upstream's apimachinery/pkg/api/resource. The decoder canonicalizes with
//! [`canonicalize`]; the scheduler, kubelet and quota compute with [`Quantity`].

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// How a quantity was written, which decides how it is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// `12M`
    #[default]
    DecimalSi,
    /// `12Mi`
    BinarySi,
    /// `12e6`
    DecimalExponent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Format,
    #[error("unable to parse numeric part of quantity")]
    Numeric,
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

/// An exact amount in units of 10⁻⁹, the smallest that upstream keeps. The 128 bits reach
/// 1.7·10²⁹; what is beyond saturates, eleven orders above the largest amount (2⁶³) that
/// upstream itself keeps for binary suffixes.
///
/// Two quantities are equal when their amounts are, however they are written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quantity {
    nanos: i128,
    format: Format,
}

const NANOS: i128 = 1_000_000_000;

impl Quantity {
    pub const ZERO: Self = Self { nanos: 0, format: Format::DecimalSi };

    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        Ok(read(text)?.quantity)
    }

    pub fn from_int(value: i64, format: Format) -> Self {
        Self { nanos: i128::from(value) * NANOS, format }
    }

    /// `from_milli(1500)` is `1500m`.
    pub fn from_milli(value: i64) -> Self {
        Self { nanos: i128::from(value) * (NANOS / 1000), format: Format::DecimalSi }
    }

    /// The same amount, to be printed in another format.
    pub fn in_format(self, format: Format) -> Self {
        Self { format, ..self }
    }

    pub fn format(&self) -> Format {
        self.format
    }

    pub fn is_zero(&self) -> bool {
        self.nanos == 0
    }

    pub fn is_negative(&self) -> bool {
        self.nanos < 0
    }

    /// The whole units, rounded away from zero; saturates at the bounds of 64 bits.
    pub fn value(&self) -> i64 {
        saturate(divide_away_from_zero(self.nanos, NANOS))
    }

    /// The thousandths, rounded away from zero; saturates at the bounds of 64 bits.
    pub fn milli_value(&self) -> i64 {
        saturate(divide_away_from_zero(self.nanos, NANOS / 1000))
    }

    pub fn as_f64(&self) -> f64 {
        self.nanos as f64 / NANOS as f64
    }

    /// The sum keeps this quantity's format, or takes the other's when this one is zero.
    pub fn add(&self, other: &Self) -> Self {
        let format = if self.is_zero() { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_add(other.nanos), format }
    }

    pub fn sub(&self, other: &Self) -> Self {
        let format = if self.is_zero() { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_sub(other.nanos), format }
    }

    pub fn mul(&self, factor: i64) -> Self {
        Self { nanos: self.nanos.saturating_mul(i128::from(factor)), format: self.format }
    }

    pub fn neg(&self) -> Self {
        Self { nanos: self.nanos.saturating_neg(), format: self.format }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

impl std::hash::Hash for Quantity {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.nanos.hash(state);
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Self::parse(text)
    }
}

/// The canonical form: no fraction, the largest suffix that needs none.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos == 0 {
            return f.write_str("0");
        }
        // Small or broken amounts would lose precision with a binary suffix.
        let kibi = 1024 * NANOS;
        if self.format == Format::BinarySi && (self.nanos <= -kibi || self.nanos >= kibi) && self.nanos % NANOS == 0 {
            let mut number = self.nanos / NANOS;
            let mut power = 0;
            while number % 1024 == 0 && power < BINARY_SUFFIXES.len() - 1 {
                number /= 1024;
                power += 1;
            }
            return write!(f, "{number}{}", BINARY_SUFFIXES[power]);
        }
        let exponential = self.format == Format::DecimalExponent;
        let mut number = self.nanos;
        let mut exponent = -9;
        while number % 1000 == 0 && (exponential || exponent < 18) {
            number /= 1000;
            exponent += 3;
        }
        match (exponential, exponent) {
            (_, 0) => write!(f, "{number}"),
            (true, exponent) => write!(f, "{number}e{exponent}"),
            (false, exponent) => {
                let suffix = DECIMAL_SUFFIXES.iter().find(|(_, power)| *power == exponent);
                write!(f, "{number}{}", suffix.map_or("", |(suffix, _)| suffix))
            }
        }
    }
}

/// A quantity as JSON has it: text, or a bare number.
pub fn from_value(value: &serde_json::Value) -> Option<Quantity> {
    match value {
        serde_json::Value::String(text) => text.parse().ok(),
        serde_json::Value::Number(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

/// What upstream's decode and encode make of a quantity: the canonical form, except that
/// a text which is already free of trailing zeros is kept as it was written (`1.234`).
pub fn canonicalize(text: &str) -> Result<Cow<'_, str>, QuantityError> {
    let parsed = read(text)?;
    if parsed.keeps_text { Ok(Cow::Borrowed(text)) } else { Ok(Cow::Owned(parsed.quantity.to_string())) }
}

const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

const DECIMAL_SUFFIXES: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];

/// Digits and exponents that 64 bits surely hold; upstream's fast path, which alone may
/// keep the text, ends there.
const FAST_DECIMAL_DIGITS: i64 = 18;
const FAST_BINARY_DIGITS: i64 = 15;

struct Parsed {
    quantity: Quantity,
    keeps_text: bool,
}

/// The parts of `-12.5Ki`: sign, digits before and after the point, suffix.
struct Parts<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
}

fn split(text: &str) -> Result<Parts<'_>, QuantityError> {
    if text.is_empty() {
        return Err(QuantityError::Format);
    }
    let (negative, rest) = match text.as_bytes()[0] {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let rest = rest.trim_start_matches('0');
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = rest.split_at(digits(rest));
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(digits(rest)),
        None => ("", rest),
    };
    let letters = suffix.bytes().take_while(|b| b"eEinumkKMGTP".contains(b)).count();
    let exponent = &suffix[letters..];
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    if exponent.bytes().any(|b| !b.is_ascii_digit()) {
        return Err(QuantityError::Format);
    }
    Ok(Parts { negative, whole: if whole.is_empty() { "0" } else { whole }, fraction, suffix })
}

fn read(text: &str) -> Result<Parsed, QuantityError> {
    if text == "0" {
        return Ok(Parsed { quantity: Quantity::ZERO, keeps_text: true });
    }
    let Parts { negative, whole, fraction, suffix } = split(text)?;
    let (format, exponent) = interpret(suffix)?;
    let digits = (whole.len() + fraction.len()) as i64;
    let keeps_text = match format {
        Format::BinarySi => {
            let odd = whole.bytes().last().is_some() && whole.parse::<u64>().is_ok_and(|n| n & 0x07 != 0);
            let room = FAST_BINARY_DIGITS - whole.len() as i64 - i64::from(exponent) * 3 / 10 - 1;
            fraction.is_empty() && room >= 0 && odd
        }
        _ => {
            let scale = i64::from(exponent) - fraction.len() as i64;
            let trailing = fraction.ends_with("000") || {
                fraction.len() < 3 && format!("{}{fraction}", &whole[whole.len().saturating_sub(3)..]).ends_with("000")
            };
            digits <= FAST_DECIMAL_DIGITS && scale >= -9 && scale % 3 == 0 && !trailing && !whole.starts_with('0')
        }
    };

    let (mut mantissa, dropped, mut inexact) = accumulate(whole, fraction);
    let mut scale = i64::from(dropped) - fraction.len() as i64;
    match format {
        Format::BinarySi => {
            // Fractions beyond the bits at hand give way, since the result is rounded up anyway.
            while mantissa.checked_mul(1 << exponent).is_none() {
                inexact |= mantissa % 10 != 0;
                mantissa /= 10;
                scale += 1;
            }
            mantissa <<= exponent;
        }
        _ => scale += i64::from(exponent),
    }
    let mut nanos = shift(mantissa, scale + 9, inexact);
    let mut format = format;
    if format == Format::BinarySi {
        nanos = nanos.min(i128::from(i64::MAX) * NANOS);
        // Less than one unit cannot be said with a binary suffix.
        if nanos < NANOS && nanos > 0 {
            format = Format::DecimalSi;
        }
    }
    Ok(Parsed { quantity: Quantity { nanos: if negative { -nanos } else { nanos }, format }, keeps_text })
}

fn interpret(suffix: &str) -> Result<(Format, i32), QuantityError> {
    if let Some((_, exponent)) = DECIMAL_SUFFIXES.iter().find(|(known, _)| *known == suffix) {
        return Ok((Format::DecimalSi, *exponent));
    }
    if let Some(power) = BINARY_SUFFIXES.iter().position(|known| *known == suffix) {
        return Ok((Format::BinarySi, power as i32 * 10));
    }
    match suffix.strip_prefix(['e', 'E']) {
        Some(digits) if !digits.is_empty() => {
            let exponent: i64 = digits.parse().map_err(|_| QuantityError::Suffix)?;
            Ok((Format::DecimalExponent, exponent.clamp(-10_000, 10_000) as i32))
        }
        _ => Err(QuantityError::Suffix),
    }
}

/// The digits as a number, how many were left off at the end for want of room, and
/// whether any of those was not zero.
fn accumulate(whole: &str, fraction: &str) -> (i128, u32, bool) {
    let (mut mantissa, mut dropped, mut inexact) = (0_i128, 0, false);
    for digit in whole.bytes().chain(fraction.bytes()).map(|byte| i128::from(byte - b'0')) {
        let longer = mantissa.checked_mul(10).and_then(|longer| longer.checked_add(digit));
        match longer.filter(|_| dropped == 0) {
            Some(longer) => mantissa = longer,
            None => {
                dropped += 1;
                inexact |= digit != 0;
            }
        }
    }
    (mantissa, dropped, inexact)
}

/// `mantissa · 10^scale`, rounded up, saturating.
fn shift(mantissa: i128, scale: i64, inexact: bool) -> i128 {
    let mut result = mantissa;
    let mut inexact = inexact;
    if scale >= 0 {
        for _ in 0..scale {
            if result == 0 {
                break;
            }
            result = match result.checked_mul(10) {
                Some(larger) => larger,
                None => return i128::MAX,
            };
        }
    } else {
        for _ in 0..-scale {
            if result == 0 {
                break;
            }
            inexact |= result % 10 != 0;
            result /= 10;
        }
    }
    if inexact { result.saturating_add(1) } else { result }
}

fn divide_away_from_zero(nanos: i128, by: i128) -> i128 {
    let whole = nanos / by;
    if nanos % by == 0 { whole } else { whole + nanos.signum() }
}

fn saturate(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, canonical: &str) {
        let quantity = Quantity::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(quantity.to_string(), canonical, "{text}");
    }

    #[test]
    fn the_largest_amount_is_read_back_as_it_is_written() {
        let largest = Quantity::parse(&"1".repeat(60)).expect("digits");
        assert_eq!(Quantity::parse(&largest.to_string()), Ok(largest));
        let exact = "100000000000000000000000000001000000001n";
        assert_eq!(Quantity::parse(exact).expect("nanos").to_string(), exact);
    }

    #[test]
    fn canonical_forms_are_upstreams() {
        for (text, canonical) in [
            ("0", "0"),
            ("0Ki", "0"),
            ("-0.0", "0"),
            (".", "0"),
            ("1000m", "1"),
            ("0.5", "500m"),
            (".5", "500m"),
            ("1.", "1"),
            ("1024Ki", "1Mi"),
            ("8Ki", "8Ki"),
            ("1000Ki", "1000Ki"),
            ("1000k", "1M"),
            ("1500000", "1500k"),
            ("1.5Gi", "1536Mi"),
            ("0.1Mi", "104857600m"),
            ("1000Mi", "1000Mi"),
            ("0.5Ki", "512"),
            ("100e3", "100e3"),
            ("1000e3", "1e6"),
            ("1E3", "1e3"),
            ("1e-3", "1e-3"),
            ("1E", "1E"),
            ("12345678901234567890", "12345678901234567890"),
            ("1n", "1n"),
            ("0.1n", "1n"),
            ("-0.1n", "-1n"),
            ("1e-20", "1e-9"),
            ("-5Mi", "-5Mi"),
            ("+5", "5"),
            ("100000Ei", "9223372036854775807"),
            ("1.00000000000000000000000000000000000000000001Ki", "1024000000001n"),
        ] {
            check(text, canonical);
        }
    }

    #[test]
    fn texts_without_spare_zeros_are_kept() {
        for text in ["1.234", "100m", "5Ki", "1e3", "+1", "999"] {
            assert_eq!(canonicalize(text).as_deref(), Ok(text));
        }
        for (text, canonical) in
            [("1.25", "1250m"), ("1000", "1k"), ("0.5", "500m"), ("16Mi", "16Mi"), ("1.000", "1"), ("10000m", "10")]
        {
            assert_eq!(canonicalize(text).as_deref(), Ok(canonical));
        }
    }

    #[test]
    fn mistakes_have_upstreams_words() {
        for (text, error) in [
            ("", QuantityError::Format),
            ("abc", QuantityError::Format),
            ("1 Gi", QuantityError::Format),
            ("1.2.3", QuantityError::Format),
            ("1Gi5x", QuantityError::Format),
            ("1Kb", QuantityError::Format),
            ("1i", QuantityError::Suffix),
            ("1e", QuantityError::Suffix),
            ("1mm", QuantityError::Suffix),
            ("1µ", QuantityError::Format),
        ] {
            assert_eq!(Quantity::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn values_round_away_from_zero() {
        let value = |text| Quantity::parse(text).expect("a quantity").value();
        let milli = |text| Quantity::parse(text).expect("a quantity").milli_value();
        assert_eq!((value("1500m"), value("-1500m"), value("1Gi")), (2, -2, 1 << 30));
        assert_eq!((milli("0.1"), milli("1u"), milli("2")), (100, 1, 2000));
        assert_eq!(milli("100E"), i64::MAX);
    }

    #[test]
    fn sums_keep_the_format() {
        let parse = |text| Quantity::parse(text).expect("a quantity");
        assert_eq!(parse("1Gi").add(&parse("512Mi")).to_string(), "1536Mi");
        assert_eq!(Quantity::ZERO.add(&parse("1Mi")).to_string(), "1Mi");
        assert_eq!(parse("1").sub(&parse("300m")).to_string(), "700m");
        assert_eq!(Quantity::from_milli(250).mul(4).to_string(), "1");
        assert!(parse("1") < parse("1Ki") && parse("1000m") == parse("1"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = canonicalize(&text);
        }

        #[test]
        fn no_number_like_text_panics(text in "[+-]?[0-9.]{0,60}[eEinumkKMGTP]{0,2}[-+]?[0-9]{0,20}") {
            let _ = canonicalize(&text);
        }

        #[test]
        fn canonical_text_reads_back_equal(
            value in any::<i64>(), suffix in prop::sample::select(vec!["n", "u", "m", "", "k", "M", "Ki", "Mi", "Gi", "e3", "e-6"]),
        ) {
            let quantity = Quantity::parse(&format!("{value}{suffix}")).expect("a quantity");
            let again = Quantity::parse(&quantity.to_string()).expect("a quantity");
            prop_assert_eq!(quantity, again);
            prop_assert_eq!(quantity.to_string(), again.to_string());
        }

        #[test]
        fn addition_is_exact(a in any::<i64>(), b in any::<i64>()) {
            let (a, b) = (Quantity::from_milli(a), Quantity::from_milli(b));
            prop_assert_eq!(a.add(&b).sub(&b), a);
            prop_assert_eq!(a.add(&b), b.add(&a));
        }

        #[test]
        fn kept_text_means_the_same(text in "[+-]?[0-9]{1,20}(\\.[0-9]{0,10})?(n|u|m|k|M|Ki|Mi|e[0-9])?") {
            if let Ok(canonical) = canonicalize(&text) {
                prop_assert_eq!(Quantity::parse(&text), Quantity::parse(&canonical));
            }
        }
    }
}
