//! Floating-point numbers in Go's notations, which differ from Rust's in when an exponent is
//! written and how.

/// `strconv.FormatFloat(value, 'g', -1, 64)`: an exponent below -4 and from 21 on.
pub(crate) fn go_general(value: f64) -> String {
    if value.is_nan() {
        return ".nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf" } else { "-.inf" }.into();
    }
    if value == 0.0 {
        return if value.is_sign_negative() { "-0" } else { "0" }.into();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..21).contains(&exponent) {
        return format!("{value}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::go_general;

    #[test]
    fn exponents_are_written_as_go_writes_them() {
        for (value, text) in [
            (1.0, "1"),
            (0.1, "0.1"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.5e-7, "1.5e-07"),
            (-2.5, "-2.5"),
        ] {
            assert_eq!(go_general(value), text);
        }
    }
}
