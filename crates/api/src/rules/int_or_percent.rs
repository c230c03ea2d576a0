//! The number that `maxUnavailable: 3` or `maxSurge: 25%` comes to: deployments, daemon sets,
//! stateful sets, disruption budgets and topology hints resolve theirs with it.
//!
//! Upstream: `GetScaledValueFromIntOrPercent` of apimachinery/pkg/util/intstr/intstr.go.

use crate::view::IntOrString;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    Up,
    Down,
}

/// A text that is no percentage; the message is upstream's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAPercentage {
    #[error("invalid value for IntOrString: invalid type: string is not a percentage")]
    Text,
    #[error("invalid value for IntOrString: invalid value {0:?}: strconv.Atoi: parsing {1:?}: invalid syntax")]
    Number(String, String),
}

/// A number as it is, or a percentage of `total`, rounded. Percentages below zero and above
/// a hundred are scaled like others.
pub fn scaled(value: IntOrString<'_>, total: i32, round: Round) -> Result<i32, NotAPercentage> {
    let text = match value {
        IntOrString::Int(number) => return Ok(number),
        IntOrString::String(text) => text,
    };
    let digits = text.strip_suffix('%').ok_or(NotAPercentage::Text)?;
    let percent: i64 = digits.parse().map_err(|_| NotAPercentage::Number(text.to_owned(), digits.to_owned()))?;
    let product = i128::from(percent) * i128::from(total);
    let down = product.div_euclid(100);
    let up = down + i128::from(product.rem_euclid(100) != 0);
    let scaled = if round == Round::Up { up } else { down };
    Ok(i32::try_from(scaled).unwrap_or(if scaled > 0 { i32::MAX } else { i32::MIN }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_rounded_and_numbers_are_not() {
        let check = |value: IntOrString<'_>, total: i32, up: i32, down: i32| {
            assert_eq!(scaled(value, total, Round::Up), Ok(up), "{value} of {total} up");
            assert_eq!(scaled(value, total, Round::Down), Ok(down), "{value} of {total} down");
        };
        let share = IntOrString::String;
        check(IntOrString::Int(123), 3, 123, 123);
        check(IntOrString::Int(-1), 3, -1, -1);
        check(share("90%"), 100, 90, 90);
        check(share("90%"), 95, 86, 85);
        check(share("25%"), 3, 1, 0);
        check(share("0%"), 7, 0, 0);
        check(share("1%"), 0, 0, 0);
        check(share("150%"), 3, 5, 4);
        check(share("-10%"), 5, 0, -1);
        check(share("100%"), i32::MAX, i32::MAX, i32::MAX);
        check(share("9223372036854775807%"), i32::MAX, i32::MAX, i32::MAX);
    }

    #[test]
    fn a_text_that_is_no_percentage_is_an_error() {
        let check = |text: &str, expected: &str| {
            let error = scaled(IntOrString::String(text), 5, Round::Up).expect_err(text);
            assert_eq!(error.to_string(), format!("invalid value for IntOrString: {expected}"));
        };
        check("3", "invalid type: string is not a percentage");
        check("", "invalid type: string is not a percentage");
        check("5.5%", "invalid value \"5.5%\": strconv.Atoi: parsing \"5.5\": invalid syntax");
        check("%", "invalid value \"%\": strconv.Atoi: parsing \"\": invalid syntax");
    }
}
