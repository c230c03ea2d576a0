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
