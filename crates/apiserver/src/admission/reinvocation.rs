//! What is remembered of one write between the two rounds of mutation (upstream's
//! reinvocation.go and reinvocationcontext.go). Builtin plugins run in both rounds; a
//! webhook or policy only in the first, unless it asked to be called again when somebody
//! after it changed the object.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The rounds of one write. `Admission::mutate` begins the second; plugins read it.
#[derive(Default)]
pub struct Reinvocation {
    second: bool,
    wanted: bool,
    tracks: BTreeMap<&'static str, Track>,
}

impl Reinvocation {
    /// Whether this is the second round.
    pub fn is_second(&self) -> bool {
        self.second
    }

    /// Somebody changed the object in a way that others may want to see.
    pub fn request(&mut self) {
        self.wanted = true;
    }

    /// Begins the second round if the first one asked for it.
    pub(super) fn begin_second(&mut self) -> bool {
        self.second = self.wanted;
        self.second
    }

    /// What a plugin remembers.
    pub fn track(&mut self, plugin: &'static str) -> &mut Track {
        self.tracks.entry(plugin).or_default()
    }
}

/// One plugin's memory: which of its hooks ran and want to run again.
#[derive(Default)]
pub struct Track {
    invoked: BTreeSet<String>,
    again: BTreeSet<String>,
    output: Option<Value>,
}

impl Track {
    /// A hook that wants to be called again has run.
    pub fn add_invoked(&mut self, hook: &str) {
        self.invoked.insert(hook.to_owned());
    }

    /// The object changed: those that ran before now must run again.
    pub fn require_again(&mut self) {
        self.again.append(&mut self.invoked);
    }

    pub fn runs_again(&self, hook: &str) -> bool {
        self.again.contains(hook)
    }

    /// The object as the plugin left it in the first round.
    pub fn set_output(&mut self, object: Option<&Value>) {
        self.output = object.cloned();
    }

    pub fn changed_since(&self, object: Option<&Value>) -> bool {
        self.output.as_ref() != object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_before_a_change_run_again_and_those_after_do_not() {
        let mut round = Reinvocation::default();
        assert!(!round.begin_second());
        let track = round.track("x");
        track.add_invoked("first");
        track.require_again();
        track.add_invoked("second");
        round.request();
        assert!(round.begin_second() && round.is_second());
        assert!(round.track("x").runs_again("first") && !round.track("x").runs_again("second"));
    }
}
