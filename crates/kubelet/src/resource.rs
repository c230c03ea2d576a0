//! Resource quantities as numbers, for cgroups, admission and capacity.

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// The quantity in billionths, rounded up; zero for what does not parse, which
/// validation has kept out. An i128 holds 10^29 units this way.
pub fn nano_value(quantity: &Quantity) -> i128 {
    parse_nanos(&quantity.0).unwrap_or(0)
}

/// Rounded up to whole units, as upstream's `Quantity.Value`.
pub fn value(quantity: &Quantity) -> i64 {
    clamp(ceil_div(nano_value(quantity), 1_000_000_000))
}

/// Rounded up to thousandths, as upstream's `Quantity.MilliValue`.
pub fn milli_value(quantity: &Quantity) -> i64 {
    clamp(ceil_div(nano_value(quantity), 1_000_000))
}

fn clamp(value: i128) -> i64 {
    value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

fn ceil_div(value: i128, by: i128) -> i128 {
    value.div_euclid(by) + i128::from(value.rem_euclid(by) != 0)
}

fn parse_nanos(text: &str) -> Option<i128> {
    let text = text.trim();
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (number, suffix) = rest.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // Twelve decimal places are more than any suffix below nano can use.
    let digits: String = fraction.chars().chain(std::iter::repeat('0')).take(12).collect();
    let mantissa: i128 = format!("{whole}{digits}")
        .trim_start_matches('0')
        .parse()
        .or_else(|_| if whole.chars().chain(digits.chars()).all(|c| c == '0') { Ok(0) } else { Err(()) })
        .ok()?;
    // The mantissa counts 10^-12 units; what follows scales it to 10^-9.
    let (multiply, divide): (i128, i128) = match suffix {
        "" => (1, 1000),
        "n" => (1, 1_000_000_000_000),
        "u" => (1, 1_000_000_000),
        "m" => (1, 1_000_000),
        "k" => (1, 1),
        "M" => (1_000, 1),
        "G" => (1_000_000, 1),
        "T" => (1_000_000_000, 1),
        "P" => (1_000_000_000_000, 1),
        "E" => (1_000_000_000_000_000, 1),
        "Ki" => (1 << 10, 1000),
        "Mi" => (1 << 20, 1000),
        "Gi" => (1 << 30, 1000),
        "Ti" => (1 << 40, 1000),
        "Pi" => (1 << 50, 1000),
        "Ei" => (1 << 60, 1000),
        exponent => {
            let digits = exponent.strip_prefix(['e', 'E'])?;
            let power: i32 = digits.parse().ok()?;
            let scaled = power - 3;
            if scaled >= 0 {
                (10i128.checked_pow(scaled.unsigned_abs())?, 1)
            } else {
                (1, 10i128.checked_pow(scaled.unsigned_abs())?)
            }
        }
    };
    let nanos = ceil_div(mantissa.checked_mul(multiply)?, divide);
    Some(if negative { -nanos } else { nanos })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_become_numbers() {
        let check = |text: &str, milli: i64, whole: i64| {
            let quantity = Quantity(text.into());
            assert_eq!((milli_value(&quantity), value(&quantity)), (milli, whole), "{text}");
        };
        check("100m", 100, 1);
        check("2", 2000, 2);
        check("0.5", 500, 1);
        check("1.5Gi", 1_610_612_736_000, 1_610_612_736);
        check("64Mi", 67_108_864_000, 67_108_864);
        check("1e3", 1_000_000, 1000);
        check("12E", i64::MAX, 12_000_000_000_000_000_000i128.min(i64::MAX as i128) as i64);
        check("1n", 1, 1);
        check("0", 0, 0);
        check("nonsense", 0, 0);
    }
}
