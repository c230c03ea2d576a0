//! The context of a request in registry and admission besides its object: the requester, the
//! time, the options, and the warnings and audit annotations gathered on the way. The verbs make
//! a [`Caller`]; the server makes its own where it writes of its own accord.

use crate::authn::UserInfo;
use crate::authn::user::MASTERS;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Who writes, when, and how: what the registry needs to know of a request besides the object.
#[derive(Clone)]
pub struct Caller {
    pub user: Arc<UserInfo>,
    pub now: Timestamp,
    pub dry_run: bool,
    /// The name under which managedFields records the change.
    pub field_manager: String,
    /// Sentences for the Warning header, gathered on the way.
    pub warnings: Warnings,
    /// What admission wants the audit log to say about the request.
    pub notes: RequestNotes,
    /// The CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, as admission shows them.
    pub options: Arc<Value>,
    /// The parts of the answer.
    pub wants: Wants,
}

/// The form of the object that a caller makes its answer of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// The JSON alone: the object need not be kept while the store is at work, where with
    /// many writers it is what the processor's caches have no room for.
    Bytes,
    Object,
}

#[derive(Clone, Default)]
pub struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    /// A sentence is sent once, however often a retry repeats it.
    pub fn add(&self, text: impl Into<String>) {
        let (text, mut all) = (text.into(), self.0.lock());
        if !all.contains(&text) {
            all.push(text);
        }
    }

    /// All sentences, cut short where they are too many for the headers of an answer.
    pub fn take(&self) -> Vec<String> {
        truncated(std::mem::take(&mut *self.0.lock()))
    }
}

/// How many characters of warnings an answer carries; past that each is cut to the second
/// number (upstream's endpoints/filters/warning.go).
const WARNINGS_MAX: usize = 4096;
const WARNING_MAX: usize = 256;

fn truncated(warnings: Vec<String>) -> Vec<String> {
    let total: usize = warnings.iter().map(|text| text.chars().count()).sum();
    if total <= WARNINGS_MAX {
        return warnings;
    }
    let mut written = 0;
    let cut = warnings.into_iter().map(|text| text.chars().take(WARNING_MAX).collect::<String>());
    cut.take_while(|text| {
        let fits = written < WARNINGS_MAX;
        written += text.chars().count();
        fits
    })
    .collect()
}

/// What is noted about a request while it is worked on: for the audit log, `plugin/key` to a
/// value, and how long others were waited for.
#[derive(Clone, Default)]
pub struct RequestNotes(Arc<Notes>);

#[derive(Default)]
struct Notes {
    values: Mutex<BTreeMap<String, String>>,
    /// In nanoseconds.
    waited: AtomicU64,
}

impl RequestNotes {
    /// The first value of a key stays, as upstream keeps it.
    pub fn add(&self, key: impl Into<String>, value: impl Into<String>) {
        self.0.values.lock().entry(key.into()).or_insert_with(|| value.into());
    }

    pub fn all(&self) -> BTreeMap<String, String> {
        self.0.values.lock().clone()
    }

    /// Time that is not the server's own: a webhook's, or that of a queue.
    pub fn add_wait(&self, waited: Duration) {
        self.0.waited.fetch_add(u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub fn waited(&self) -> Duration {
        Duration::from_nanos(self.0.waited.load(Ordering::Relaxed))
    }
}

impl Caller {
    /// The server itself, where it writes of its own accord.
    pub fn server() -> Self {
        Self {
            user: Arc::new(UserInfo::authenticated("system:apiserver", &[MASTERS])),
            now: Timestamp::now(),
            dry_run: false,
            field_manager: "kube-apiserver".into(),
            warnings: Warnings::default(),
            notes: RequestNotes::default(),
            options: Arc::default(),
            wants: Wants::Object,
        }
    }

    /// A requester of a test, at the epoch.
    #[cfg(any(test, feature = "testing"))]
    pub fn testing(user: UserInfo) -> Self {
        Self {
            user: Arc::new(user),
            now: Timestamp::UNIX_EPOCH,
            dry_run: false,
            field_manager: "test".into(),
            warnings: Warnings::default(),
            notes: RequestNotes::default(),
            options: Arc::default(),
            wants: Wants::Object,
        }
    }

    /// The requester as strategies see it.
    pub fn strategy_context(&self) -> ferry_resources::Context<'_> {
        let UserInfo { name, uid, groups, extra } = &*self.user;
        ferry_resources::Context { now: self.now, user: name, uid, groups, extra }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_warnings_are_cut_short() {
        let warnings = Warnings::default();
        (0..3).for_each(|n| warnings.add(format!("{n}{}", "x".repeat(1000))));
        assert!(warnings.take().iter().all(|text| text.len() == 1001));
        (0..40).for_each(|n| warnings.add(format!("{n:02}{}", "x".repeat(1000))));
        let cut = warnings.take();
        assert_eq!((cut.len(), cut[0].len()), (WARNINGS_MAX / WARNING_MAX, WARNING_MAX));
    }
}
