//! What can go wrong when a checked expression runs.

use std::fmt;

/// Why an evaluation has no value. The texts are cel-go's, which users see in the message
/// of a refused request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// The expression itself: a missing key, an overflow, a failed conversion. `||` and
    /// `&&` may swallow it.
    #[error("{0}")]
    Failed(Box<str>),
    /// One evaluation cost more than any single one may.
    #[error("operation cancelled: actual cost limit exceeded")]
    CostLimitExceeded,
    /// All evaluations together cost more than their request may.
    #[error("validation failed due to running out of cost budget, no further validation rules will be run")]
    BudgetExceeded,
}

impl EvalError {
    pub fn new(message: impl fmt::Display) -> Self {
        EvalError::Failed(message.to_string().into())
    }

    pub(crate) fn no_such_overload() -> Self {
        EvalError::Failed("no such overload".into())
    }

    /// Whether evaluation must end here, whatever the expression around it says.
    pub fn is_fatal(&self) -> bool {
        !matches!(self, EvalError::Failed(_))
    }
}

pub(crate) type Evaluated<T> = Result<T, EvalError>;
