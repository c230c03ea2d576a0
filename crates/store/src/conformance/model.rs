//! The store as the contract describes it and nothing more: a list of changes, with every answer
//! computed from the start. `property.rs` holds implementations against it.

use bytes::Bytes;

use crate::{Commit, Entry, Event, EventKind, Expect, Op, Range, RangeOptions, Revision};

#[derive(Debug)]
pub(super) struct Model {
    base: Revision,
    pub horizon: Revision,
    changes: Vec<Event>,
}

/// The errors that the model can answer with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Conflict(Option<Entry>),
    Compacted(Revision),
    Future,
}

impl Model {
    pub(super) fn new(base: Revision) -> Model {
        Model { base, horizon: 0, changes: Vec::new() }
    }

    pub(super) fn latest(&self) -> Revision {
        self.base + self.changes.len() as Revision
    }

    /// All entries as of a revision, sorted by key.
    fn state(&self, revision: Revision) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        for change in self.changes.iter().filter(|change| change.revision <= revision) {
            let found = entries.binary_search_by(|entry| entry.key.as_bytes().cmp(change.key.as_bytes()));
            let version = found.map_or(0, |index| entries[index].version) + 1;
            let entry = Entry {
                key: change.key.clone(),
                value: change.value.clone(),
                create_revision: change.create_revision,
                revision: change.revision,
                version,
            };
            match (found, change.kind) {
                (Ok(index), EventKind::Put) => entries[index] = entry,
                (Ok(index), EventKind::Delete) => drop(entries.remove(index)),
                (Err(index), _) => entries.insert(index, entry),
            }
        }
        entries
    }

    fn resolve(&self, revision: Option<Revision>) -> Result<Revision, Refusal> {
        match revision {
            None => Ok(self.latest()),
            Some(revision) if revision < self.horizon => Err(Refusal::Compacted(self.horizon)),
            Some(revision) if revision > self.latest() => Err(Refusal::Future),
            Some(revision) => Ok(revision),
        }
    }

    pub(super) fn get(&self, key: &str, revision: Option<Revision>) -> Result<Option<Entry>, Refusal> {
        let revision = self.resolve(revision)?;
        Ok(self.state(revision).into_iter().find(|entry| &*entry.key == key))
    }

    pub(super) fn range(&self, prefix: &str, options: &RangeOptions) -> Result<Range, Refusal> {
        let revision = self.resolve(options.revision)?;
        let mut entries = self.state(revision);
        entries.retain(|entry| {
            let after = options.start_after.as_ref().is_none_or(|start| entry.key.as_bytes() > start.as_bytes());
            after && entry.key.starts_with(prefix)
        });
        let returned = if options.limit == 0 { entries.len() } else { options.limit.min(entries.len()) };
        let left_out = (entries.len() - returned) as u64;
        entries.truncate(returned);
        let remaining = if options.count_remaining { left_out } else { 0 };
        Ok(Range { entries, damaged: Vec::new(), revision, more: left_out > 0, remaining })
    }

    pub(super) fn commit(&mut self, commit: &Commit) -> Result<Revision, Refusal> {
        let current = self.state(self.latest()).into_iter().find(|entry| *entry.key == commit.key);
        let holds = match (commit.expect, &current) {
            (Expect::Any, _) => true,
            (Expect::Absent, entry) => entry.is_none(),
            (Expect::Revision(expected), entry) => entry.as_ref().is_some_and(|entry| entry.revision == expected),
        };
        if !holds || (commit.op == Op::Delete && current.is_none()) {
            return Err(Refusal::Conflict(current));
        }
        let revision = self.latest() + 1;
        let previous: Option<Bytes> = current.as_ref().map(|entry| entry.value.clone());
        let (kind, value) = match &commit.op {
            Op::Put(value) => (EventKind::Put, value.clone()),
            Op::Delete => (EventKind::Delete, previous.clone().unwrap_or_default()),
        };
        let create_revision = current.map_or(revision, |entry| entry.create_revision);
        self.changes.push(Event { key: commit.key.as_str().into(), revision, kind, value, previous, create_revision });
        Ok(revision)
    }

    pub(super) fn compact(&mut self, revision: Revision) -> Result<(), Refusal> {
        if revision > self.latest() {
            return Err(Refusal::Future);
        }
        self.horizon = self.horizon.max(revision);
        Ok(())
    }

    pub(super) fn events(&self, prefix: &str, from: Revision) -> Vec<Event> {
        let wanted = |change: &&Event| change.revision > from && change.key.starts_with(prefix);
        self.changes.iter().filter(wanted).cloned().collect()
    }
}
