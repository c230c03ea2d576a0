//! The list of things that are wrong in this process and that a person should know of: a
//! component that is being restarted, an object that a component cannot read, a store that
//! takes no writes. Components report and resolve; the API server serves the list at
//! [`PATH`], and `ferry status` prints it.
//!
//! A problem is named by its component and its subject, so that reporting one again counts
//! it instead of adding a line: the list stays as short as the number of things that are wrong.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The non-resource URL of the list; administrators may read it.
pub const PATH: &str = "/ferry/problems";

/// The number of problems that are kept. A component that reports one for each of ten
/// thousand objects must not fill the memory; [`Problem::count`] of the last one goes on.
const MAX_PROBLEMS: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The component that reports, as `ferry status` names it: `kubelet`, `store`.
    pub component: String,
    /// The object or part that is concerned: `services default/web`.
    pub subject: String,
    pub message: String,
    /// How often it was reported since it was last resolved.
    pub count: u64,
}

/// A handle on the process's list; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    by_subject: BTreeMap<(String, String), Problem>,
    /// How often each component has reported, resolved problems included.
    reports: BTreeMap<String, u64>,
}

impl Problems {
    /// Adds a problem, or counts it once more with its newest message.
    pub fn report(&self, component: &str, subject: &str, message: &str) {
        let mut state = self.lock();
        match state.reports.get_mut(component) {
            Some(count) => *count += 1,
            None => drop(state.reports.insert(component.to_owned(), 1)),
        }
        let problems = &mut state.by_subject;
        let is_full = problems.len() >= MAX_PROBLEMS;
        let key = (component.to_owned(), subject.to_owned());
        let problem = match problems.get_mut(&key) {
            Some(problem) => problem,
            None if is_full => match problems.last_entry() {
                Some(last) => {
                    last.into_mut().count += 1;
                    return;
                }
                None => return,
            },
            None => problems.entry(key).or_insert_with(|| Problem {
                component: component.to_owned(),
                subject: subject.to_owned(),
                message: String::new(),
                count: 0,
            }),
        };
        problem.count += 1;
        message.clone_into(&mut problem.message);
    }

    /// Removes a problem that no longer exists; nothing happens if it was never reported.
    pub fn resolve(&self, component: &str, subject: &str) {
        let mut state = self.lock();
        if !state.by_subject.is_empty() {
            state.by_subject.remove(&(component.to_owned(), subject.to_owned()));
        }
    }

    /// The problems by component and subject.
    pub fn list(&self) -> Vec<Problem> {
        self.lock().by_subject.values().cloned().collect()
    }

    /// How often each component has reported a problem since the process began: the counter
    /// behind the metric `ferry_problem_reports_total`.
    pub fn reports(&self) -> Vec<(String, u64)> {
        self.lock().reports.iter().map(|(component, count)| (component.clone(), *count)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is whole between any two statements, also after a panic elsewhere.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_reported_again_is_counted_and_a_resolved_one_is_gone() {
        let problems = Problems::default();
        problems.report("proxy", "services default/web", "cannot be read");
        problems.report("proxy", "services default/web", "cannot be read: null");
        problems.report("dns", "services default/web", "cannot be read");
        let listed: Vec<_> = problems.list().into_iter().map(|p| (p.component, p.message, p.count)).collect();
        let expected = [("dns".into(), "cannot be read".into(), 1), ("proxy".into(), "cannot be read: null".into(), 2)];
        assert_eq!(listed, expected);
        problems.resolve("dns", "services default/web");
        problems.resolve("dns", "never reported");
        assert_eq!(problems.list().len(), 1);
        assert_eq!(problems.reports(), [("dns".to_owned(), 1), ("proxy".to_owned(), 2)]);
    }

    #[test]
    fn the_list_is_bounded() {
        let problems = Problems::default();
        for n in 0..10 * MAX_PROBLEMS {
            problems.report("informer", &format!("pods default/{n}"), "cannot be read");
        }
        assert_eq!(problems.list().len(), MAX_PROBLEMS);
        let counted: u64 = problems.list().iter().map(|problem| problem.count).sum();
        assert_eq!(counted, 10 * MAX_PROBLEMS as u64);
    }
}
