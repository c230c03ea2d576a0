//! What the API server tells about itself: the flags of `ferry up` for profiles. They are
//! kept with the cluster, as those of `access.rs` are.

use clap::{ArgAction, Args};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Args, Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Debugging {
    /// Whether /debug/pprof and /debug/flags answer those who may ask [default: true]
    #[arg(long, value_name = "BOOL", action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[serde(default)]
    pub profiling: Option<bool>,
}

impl Debugging {
    /// What is said now, and for the rest what was said before.
    pub fn or(&self, before: &Self) -> Self {
        Self { profiling: self.profiling.or(before.profiling) }
    }

    pub fn apply(&self, config: &mut ferry_apiserver::Config) {
        config.profiling = self.profiling.unwrap_or(true);
        config.set_verbosity = Some(Arc::new(crate::log::set_verbosity));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        debugging: Debugging,
    }

    #[test]
    fn profiles_are_on_until_somebody_turns_them_off() {
        let said = |arguments: &[&str]| {
            let line = Line::try_parse_from(["up"].iter().chain(arguments)).expect("flags");
            line.debugging
        };
        assert_eq!(said(&[]).profiling, None);
        assert_eq!(said(&["--profiling"]).profiling, Some(true));
        let off = said(&["--profiling=false"]);
        assert_eq!(off.profiling, Some(false));
        assert_eq!(said(&[]).or(&off), off, "what is not said stays");
        assert_eq!(said(&["--profiling=true"]).or(&off).profiling, Some(true));
    }
}
