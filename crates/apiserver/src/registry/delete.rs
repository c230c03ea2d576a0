//! Deleting an object: at once, after a grace period, or when its finalizers are done.
//! The order of steps is upstream's (rest/delete.go BeforeDelete and the generic
//! store's Delete); [`plan_deletion`] decides, the loop around it acts.

use super::timestamp;
use super::update::{Admit, revision_of};
use super::{Caller, Registry, Written, store_failed};
use crate::admission::{AdmissionRequest, Operation};
use crate::cache::Stored;
use ferry_api::field::{Error, Path};
use ferry_api::gvk::GroupVersionKind;
use ferry_api::object::Meta;
use ferry_api::status::{Details, Status};
use ferry_resources::Row;
use ferry_resources::strategy::Propagation;
use ferry_store::{Commit, Expect, Op};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::sync::Arc;

/// `meta/v1 DeleteOptions`, decoded.
#[derive(Clone, Debug, Default)]
pub struct DeleteOptions {
    pub grace_period_seconds: Option<i64>,
    pub uid: Option<String>,
    pub resource_version: Option<String>,
    pub propagation: Option<Propagation>,
    /// Removes what cannot be read, and nothing else.
    pub ignore_store_read_error: bool,
}

/// What is left after a delete.
#[derive(Debug)]
pub enum Deleted {
    /// The object is gone; some kinds answer with its last version, others with a Status.
    Gone(Written),
    /// What was there could not be read, and is gone.
    GoneUnread,
    /// The object is marked and waits for a grace period or for finalizers.
    Pending(Written),
}

/// What a delete does to an object.
#[derive(Debug, PartialEq)]
pub(super) enum Deletion {
    /// Remove it now.
    Remove,
    /// Nothing: an earlier delete is under way and this one does not hasten it.
    AlreadyPending,
    /// Store this marked version; it goes later.
    Mark(Value),
    /// Store this marked version, then remove it: the two writes that upstream makes of a
    /// deletion with a grace period of zero, so that watchers see the last state.
    MarkAndRemove(Value),
}

impl Registry {
    pub async fn delete(
        &self,
        row: &Arc<Row>,
        namespace: &str,
        name: &str,
        options: &DeleteOptions,
        caller: &Caller,
    ) -> Result<Deleted, Status> {
        self.delete_as(row, namespace, name, Admit::Object, options, caller).await
    }

    /// As [`Registry::delete`], where `Admit::Done` says that admission has seen what asked
    /// for it (`Eviction`).
    pub async fn delete_as(
        &self,
        row: &Arc<Row>,
        namespace: &str,
        name: &str,
        admit: Admit<'_>,
        options: &DeleteOptions,
        caller: &Caller,
    ) -> Result<Deleted, Status> {
        let key = row.key(namespace, name);
        let not_found = || Status::not_found(&row.group_resource(), name);
        if options.ignore_store_read_error {
            return self.delete_unreadable(row, namespace, name).await;
        }
        let mut current = self.read(row, namespace, name).await?;
        let mut marked: Option<Value> = None;
        loop {
            let old = match (current, marked.take()) {
                (None, None) => return Err(not_found()),
                // Between our mark and our removal somebody else has removed it, perhaps
                // because of the mark: what was asked for is done.
                (None, Some(last)) => return Ok(Deleted::Gone(self.unstored_answer(last, None))),
                (Some(present), Some(last)) if present.object.uid() != last.uid() => {
                    return Ok(Deleted::Gone(self.unstored_answer(last, None)));
                }
                (Some(present), last) => {
                    marked = last;
                    present.object
                }
            };
            check_preconditions(row, name, options, &old)?;
            if !matches!(admit, Admit::Done) {
                self.admit_delete(row, namespace, name, &old, caller).await?;
            }
            let plan = plan_deletion(row, options, &old, caller.now);
            let expect = Expect::Revision(revision_of(&old)?);
            if caller.dry_run {
                return Ok(match plan {
                    Deletion::Remove => Deleted::Gone(self.unstored_answer(old, None)),
                    Deletion::AlreadyPending => Deleted::Pending(self.unstored_answer(old, None)),
                    Deletion::Mark(new) => Deleted::Pending(self.unstored_answer(new, None)),
                    Deletion::MarkAndRemove(new) => Deleted::Gone(self.unstored_answer(new, None)),
                });
            }
            // What sealed a marked version is held until that is stored.
            let mut held = None;
            let (commit, last, gone) = match plan {
                Deletion::AlreadyPending => return Ok(Deleted::Pending(self.unstored_answer(old, None))),
                Deletion::Mark(new) if new == old => return Ok(Deleted::Pending(self.unstored_answer(old, None))),
                Deletion::Mark(new) => {
                    let encoded = held.insert(self.encode(row, &key, &new).await?);
                    (Commit { key: key.clone(), expect, op: Op::Put(encoded.sealed.clone()) }, new, false)
                }
                Deletion::Remove => (Commit { key: key.clone(), expect, op: Op::Delete }, old, true),
                Deletion::MarkAndRemove(new) => {
                    let encoded = self.encode(row, &key, &new).await?;
                    match self.put(&key, expect, encoded.sealed.clone()).await {
                        Ok(revision) => {
                            let expect = Expect::Revision(revision);
                            marked = Some(new.clone());
                            (Commit { key: key.clone(), expect, op: Op::Delete }, new, true)
                        }
                        Err(ferry_store::Error::Conflict { current: met, .. }) => {
                            current = self.read_entry(row, met).await?;
                            continue;
                        }
                        Err(error) => return Err(store_failed(error)),
                    }
                }
            };
            let outcome = self.commit(commit).await;
            drop(held);
            match outcome {
                Ok(done) => {
                    if gone {
                        self.after_delete(row, &last).await;
                    }
                    let written = self.unstored_answer(last, Some(done.revision));
                    return Ok(if gone { Deleted::Gone(written) } else { Deleted::Pending(written) });
                }
                Err(ferry_store::Error::Conflict { current: met, .. }) => {
                    current = self.read_entry(row, met).await?;
                }
                Err(error) => return Err(store_failed(error)),
            }
        }
    }

    /// Deletes one object of many, by its place in the cache. An object that is gone already
    /// is no mistake. Owned arguments, so that many can be under way at once.
    pub async fn delete_stored(
        self: Arc<Self>,
        row: Arc<Row>,
        object: Arc<Stored>,
        options: DeleteOptions,
        caller: Caller,
    ) -> Result<(), Status> {
        let namespace = if row.is_namespaced() { object.namespace() } else { "" };
        match self.delete(&row, namespace, object.name(), &options, &caller).await {
            Err(status) if !status.is_not_found() => Err(status),
            _ => Ok(()),
        }
    }

    /// Removes an object that cannot be read, without looking at finalizers, preconditions
    /// or admission, which all need the object (upstream's corruptObjectDeleter).
    async fn delete_unreadable(&self, row: &Arc<Row>, namespace: &str, name: &str) -> Result<Deleted, Status> {
        let key = row.key(namespace, name);
        let (revision, readable) = match self.store.get(&key, None).await {
            Ok(Some(entry)) => (entry.revision, self.read_entry(row, Some(entry)).await.is_ok()),
            Ok(None) => return Err(Status::not_found(&row.group_resource(), name)),
            Err(ferry_store::Error::Damaged { revision, .. }) => (revision, false),
            Err(error) => return Err(store_failed(error)),
        };
        if readable {
            let why = "is exclusively used to delete corrupt object(s), try again by removing this option";
            let path = Path::new("ignoreStoreReadErrorWithClusterBreakingPotential");
            let kind = GroupVersionKind::new(row.group.clone(), row.version.clone(), row.plural.clone());
            return Err(Status::invalid(&kind, name, vec![Error::invalid(&path, true, why)]));
        }
        tracing::warn!(key, "an object that cannot be read is deleted");
        // Somebody may have replaced it meanwhile by one that can be read: that one stays.
        let commit = Commit { key, expect: Expect::Revision(revision), op: Op::Delete };
        match self.commit(commit).await {
            Ok(_) => Ok(Deleted::GoneUnread),
            Err(ferry_store::Error::Conflict { current: None, .. }) => Ok(Deleted::GoneUnread),
            Err(ferry_store::Error::Conflict { .. }) => Err(Status::modified(&row.group_resource(), name)),
            Err(error) => Err(store_failed(error)),
        }
    }

    async fn admit_delete(
        &self,
        row: &Arc<Row>,
        namespace: &str,
        name: &str,
        old: &Value,
        caller: &Caller,
    ) -> Result<(), Status> {
        let Some(admission) = self.admission() else { return Ok(()) };
        let mut request = AdmissionRequest::new(Operation::Delete, row, namespace, name, "", caller);
        request.old_object = Some(old);
        admission.mutate(&mut request).await?;
        admission.validate(&request).await
    }
}

/// The Status that tells of a completed delete.
pub fn deleted_status(row: &Row, object: &Value) -> Status {
    Status::success(Details {
        name: object.name().to_owned(),
        group: row.group.to_string(),
        kind: row.plural.to_string(),
        uid: object.uid().to_owned(),
        ..Details::default()
    })
}

/// The uid and version that a delete insists on are the present ones.
pub fn check_preconditions(row: &Row, name: &str, options: &DeleteOptions, old: &Value) -> Result<(), Status> {
    // Upstream names the kind here where other conflicts name the resource.
    let resource = ferry_api::gvk::GroupResource::new(row.group.clone(), row.kind.clone());
    if let Some(uid) = options.uid.as_deref().filter(|uid| *uid != old.uid()) {
        let why = format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been deleted and then recreated",
            old.uid()
        );
        return Err(Status::conflict(&resource, name, &why));
    }
    if let Some(version) = options.resource_version.as_deref().filter(|v| *v != old.resource_version()) {
        let why = format!(
            "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). The object might have been modified",
            old.resource_version()
        );
        return Err(Status::conflict(&resource, name, &why));
    }
    Ok(())
}

/// Decides what a delete does. Pure, so that each case can be tested by its table.
pub(super) fn plan_deletion(row: &Row, options: &DeleteOptions, old: &Value, now: Timestamp) -> Deletion {
    if row.group.is_empty() && row.kind == "Namespace" {
        return plan_namespace_deletion(row, options, old, now);
    }
    if !old.is_deleting()
        && let Some(mut marked) = row.strategy.mark_for_deletion(old, now)
    {
        marked.set_meta("deletionTimestamp", timestamp(now));
        return Deletion::Mark(marked);
    }
    let mut new = old.clone();
    let requested = options.grace_period_seconds.map(|seconds| if seconds < 0 { 1 } else { seconds });
    let existing_grace = old.meta("deletionGracePeriodSeconds").and_then(Value::as_i64);
    let has_grace = row.strategy.grace_period(old, requested);
    let mut graceful = None;
    if old.is_deleting() && has_grace.is_some() {
        match existing_grace {
            None | Some(0) => {}
            Some(existing) => match requested {
                // A pending deletion can only be hastened.
                Some(period) if period < existing => {
                    let (at, period) = hastened(old, existing, period, now);
                    new.set_meta("deletionTimestamp", at);
                    new.set_meta("deletionGracePeriodSeconds", period);
                    graceful = Some(period);
                }
                _ => return Deletion::AlreadyPending,
            },
        }
    } else if let Some(period) = has_grace {
        let at = now.checked_add(SignedDuration::from_secs(period)).unwrap_or(now);
        new.set_meta("deletionTimestamp", timestamp(at));
        new.set_meta("deletionGracePeriodSeconds", period);
        bump_generation(&mut new);
        graceful = Some(period);
    }
    if let Some(finalizers) = plan_finalizers(row, options, &new) {
        set_finalizers(&mut new, finalizers);
    }
    let pending_finalizers = !new.finalizers().is_empty();
    match graceful {
        None if pending_finalizers => {
            mark_as_deleting(&mut new, now);
            Deletion::Mark(new)
        }
        None => Deletion::Remove,
        Some(0) if !pending_finalizers => Deletion::MarkAndRemove(new),
        Some(_) => Deletion::Mark(new),
    }
}

/// A namespace is marked first; the namespace controller empties it and takes
/// `kubernetes` from spec.finalizers, which lets the last update remove it.
fn plan_namespace_deletion(row: &Row, options: &DeleteOptions, old: &Value, now: Timestamp) -> Deletion {
    if old.is_deleting() {
        let waits = !old.items_at(&["spec", "finalizers"]).is_empty() || !old.finalizers().is_empty();
        return if waits { Deletion::AlreadyPending } else { Deletion::Remove };
    }
    let mut new = old.clone();
    new.set_meta("deletionTimestamp", timestamp(now));
    if let Some(root) = new.as_object_mut() {
        let status = root.entry("status").or_insert_with(|| Value::Object(Default::default()));
        ferry_api::object::ensure_object(status).insert("phase".into(), "Terminating".into());
    }
    if let Some(finalizers) = plan_finalizers(row, options, &new) {
        set_finalizers(&mut new, finalizers);
    }
    Deletion::Mark(new)
}

fn hastened(old: &Value, existing: i64, period: i64, now: Timestamp) -> (String, i64) {
    let deadline: Timestamp = old.meta_str("deletionTimestamp").parse().unwrap_or(now);
    let moved = deadline.checked_sub(SignedDuration::from_secs(existing - period)).unwrap_or(now);
    if moved >= now {
        return (timestamp(moved), period);
    }
    // The whole grace period is over; one second keeps the deletion graceful, so that
    // whoever owns the object still makes the final call.
    (timestamp(now), if period == 0 { 0 } else { 1 })
}

fn bump_generation(object: &mut Value) {
    if object.generation() > 0 {
        let next = object.generation() + 1;
        object.set_meta("generation", next);
    }
}

fn mark_as_deleting(object: &mut Value, now: Timestamp) {
    if !object.is_deleting() {
        bump_generation(object);
    }
    let later = object.meta_str("deletionTimestamp").parse::<Timestamp>().map_or(true, |at| at > now);
    if later {
        object.set_meta("deletionTimestamp", timestamp(now));
    }
    object.set_meta("deletionGracePeriodSeconds", 0);
}

fn set_finalizers(object: &mut Value, finalizers: Vec<String>) {
    if finalizers.is_empty() {
        object.remove_meta("finalizers");
    } else {
        object.set_meta("finalizers", finalizers);
    }
}

/// The finalizers that the garbage collector works on, added or removed as the request,
/// the object or the kind's default says, in that order. `None` when nothing changes.
fn plan_finalizers(row: &Row, options: &DeleteOptions, object: &Value) -> Option<Vec<String>> {
    const ORPHAN: &str = "orphan";
    const FOREGROUND: &str = "foregroundDeletion";
    let before = object.finalizers();
    let policy = options.propagation.unwrap_or_else(|| {
        if before.contains(&ORPHAN) {
            Propagation::Orphan
        } else if before.contains(&FOREGROUND) {
            Propagation::Foreground
        } else if row.writes.orphans {
            Propagation::Orphan
        } else {
            Propagation::Background
        }
    });
    let mut after: Vec<String> =
        before.iter().filter(|f| **f != ORPHAN && **f != FOREGROUND).map(|f| (*f).to_owned()).collect();
    match policy {
        Propagation::Orphan => after.push(ORPHAN.into()),
        Propagation::Foreground => after.push(FOREGROUND.into()),
        Propagation::Background => {}
    }
    let same = after.len() == before.len() && after.iter().all(|f| before.contains(&f.as_str()));
    (!same).then_some(after)
}
