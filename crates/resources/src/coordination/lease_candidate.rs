//! LeaseCandidate: the strategy of who would lead, for coordinated leader election.

use crate::read::Read;
use crate::validation::each;
use crate::{Strategy, names};
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

pub(crate) struct LeaseCandidate;

const OLDEST: &str = "OldestEmulationVersion";

impl Strategy for LeaseCandidate {
    fn validate(&self, candidate: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (spec, path) = (candidate.field("spec"), Path::new("spec"));
        let mut version = |key: &str| {
            let text = spec.text(key);
            let parsed = semantic_version(text);
            if !text.is_empty() && parsed.is_none() {
                errors.push(Error::invalid(&path.child(key), text, "must be a valid semantic version"));
            }
            parsed.unwrap_or_default()
        };
        let (emulation, binary) = (version("emulationVersion"), version("binaryVersion"));
        let given = |key: &str| !spec.text(key).is_empty();
        if given("binaryVersion") && given("emulationVersion") && binary < emulation {
            let detail = "must be greater than or equal to `emulationVersion`";
            errors.push(Error::invalid(&path.child("binaryVersion"), spec.text("binaryVersion"), detail));
        }
        let (strategy, at) = (spec.text("strategy"), path.child("strategy"));
        if strategy.is_empty() {
            return errors;
        }
        if strategy == OLDEST && emulation == [0, 0, 0] {
            let detail = format!("must be specified when `strategy` is '{OLDEST}'");
            errors.push(Error::required(&path.child("emulationVersion"), detail));
        }
        // Upstream names the field twice.
        let at = at.child("strategy");
        if strategy.contains('/') {
            each(&mut errors, &at, strategy, names::is_qualified_name(strategy));
        } else if strategy != OLDEST {
            errors.push(Error::not_supported(&at, strategy, &[OLDEST]));
        }
        errors
    }
}

/// The three numbers of `1.2.3-rc.1`; what follows them does not order candidates here.
fn semantic_version(text: &str) -> Option<[u64; 3]> {
    let core = text.split(['-', '+']).next().unwrap_or_default();
    let numbers: Vec<u64> = core
        .split('.')
        .map(|part| part.parse().ok().filter(|_| part.len() == 1 || !part.starts_with(['0', '+'])))
        .collect::<Option<_>>()?;
    numbers.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;
    use serde_json::json;

    #[test]
    fn a_candidate_says_what_it_runs() {
        check(
            &LeaseCandidate,
            json!({"spec": {"leaseName": "a", "binaryVersion": "1.36.0", "emulationVersion": "1.35.0", "strategy": OLDEST}}),
            &[],
        );
        check(
            &LeaseCandidate,
            json!({"spec": {"leaseName": "a", "binaryVersion": "1.34.0", "emulationVersion": "1.35.0", "strategy": "x"}}),
            &[
                "spec.binaryVersion: Invalid value: \"1.34.0\": must be greater than or equal to `emulationVersion`",
                "spec.strategy.strategy: Unsupported value: \"x\": supported values: \"OldestEmulationVersion\"",
            ],
        );
        check(
            &LeaseCandidate,
            json!({"spec": {"binaryVersion": "1.x"}}),
            &[
                "spec.leaseName: Required value",
                "spec.binaryVersion: Invalid value: \"1.x\": must be a valid semantic version",
                "spec.strategy: Required value",
            ],
        );
    }
}
