//! Changing an object: read, change, check, commit if nobody was faster, else again.
//! PUT, every kind of PATCH and the subresources all come through here; what differs
//! is the function that makes the new object of the present one. The order of steps is
//! upstream's (rest/update.go BeforeUpdate and the generic store's Update).

use super::{Caller, Registry, Tracking, Written, metadata, store_failed};
use crate::admission::{Admission, AdmissionRequest, Operation};
use ferry_api::field::{Error, Path};
use ferry_api::gvk::GroupVersionKind;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_api::unsupported;
use ferry_resources::{Row, validate_metadata};
use ferry_store::{Commit, Expect, Op};
use serde_json::Value;
use std::sync::Arc;

/// Which object is changed, and through which door.
pub struct Target<'a> {
    pub row: &'a Arc<Row>,
    pub namespace: &'a str,
    pub name: &'a str,
    pub part: Part<'a>,
    pub absent: IfAbsent,
}

/// What happens when there is no object to change. Only the object itself can be created
/// this way, never through a subresource.
pub enum IfAbsent {
    /// It is not found, unless the kind lets PUT create (upstream's AllowCreateOnUpdate).
    AsKind,
    /// Apply creates it.
    Create,
    /// It would be created, but the caller may not create.
    Refuse(Box<Status>),
}

/// Which rules apply to the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The object itself.
    Main,
    /// `status`: everything else stays.
    Status,
    /// Another subresource whose handler has already decided what may change
    /// (`binding`, `scale`, `finalize`, `ephemeralcontainers`).
    Other(&'a str),
}

impl Part<'_> {
    pub fn name(&self) -> &str {
        match self {
            Self::Main => "",
            Self::Status => "status",
            Self::Other(name) => name,
        }
    }
}

/// What admission sees of a change.
#[derive(Clone, Copy)]
pub enum Admit<'a> {
    /// The object itself.
    Object,
    /// What the subresource takes in the object's place (`Scale`).
    View(&'a dyn View),
    /// Nothing: the handler has had admitted what it was sent (`Binding`).
    Done,
}

/// The two times that admission sees a change.
#[derive(Clone, Copy)]
enum AdmissionStep {
    Mutate,
    Validate,
}

impl AdmissionStep {
    async fn run(self, admission: &Admission, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        match self {
            Self::Mutate => admission.mutate(request).await,
            Self::Validate => admission.validate(request).await,
        }
    }
}

/// An object as a subresource of another kind shows it.
pub trait View: Sync {
    fn show(&self, object: &Value) -> Result<Value, Status>;

    /// Carries over to the object what admission changed in what it was shown.
    fn carry(&self, shown: &Value, object: &mut Value) -> Result<(), Status>;
}

pub struct Updated {
    pub written: Written,
    pub created: bool,
}

impl Registry {
    /// `change` is given the present object (with its resourceVersion), or `None` where
    /// there is none, and returns the new one; it is called again when a commit meets a
    /// newer version. A new object that carries a resourceVersion is only stored over
    /// that very version.
    pub async fn update(
        &self,
        target: &Target<'_>,
        tracking: Tracking,
        caller: &Caller,
        change: &mut (dyn FnMut(Option<&Value>) -> Result<Value, Status> + Send),
    ) -> Result<Updated, Status> {
        self.update_as(target, Admit::Object, tracking, caller, change).await
    }

    /// As [`Registry::update`], with admission seeing something else than the object.
    pub async fn update_as(
        &self,
        target: &Target<'_>,
        admit: Admit<'_>,
        tracking: Tracking,
        caller: &Caller,
        change: &mut (dyn FnMut(Option<&Value>) -> Result<Value, Status> + Send),
    ) -> Result<Updated, Status> {
        let Target { row, namespace, name, .. } = target;
        let resource = row.group_resource();
        let key = row.key(namespace, name);
        let mut current = self.read(row, namespace, name).await?;
        loop {
            let Some(present) = current.as_ref() else {
                let creates = match &target.absent {
                    IfAbsent::Create => true,
                    IfAbsent::AsKind => row.writes.creates,
                    IfAbsent::Refuse(status) => return Err((**status).clone()),
                };
                if !creates || target.part != Part::Main {
                    return Err(Status::not_found(&resource, name));
                }
                let mut object = change(None)?;
                object.set_meta("name", *name);
                match self.create(row, namespace, object, tracking, caller).await {
                    // Somebody created it between the look and the commit: now it is an update.
                    Err(status) if status.is_already_exists() => {
                        current = self.read(row, namespace, name).await?;
                        continue;
                    }
                    Err(status) => return Err(status),
                    Ok(written) => return Ok(Updated { written, created: true }),
                }
            };
            let old = &present.object;
            let mut new = change(Some(old))?;
            self.check_preconditions(row, name, &mut new, old)?;
            metadata::dedup_owner_references(&mut new, |text| caller.warnings.add(text));
            tracking.record(row, Some(old), &mut new, target.part.name(), caller)?;
            self.admit_update((target, admit, AdmissionStep::Mutate), &mut new, old, caller).await?;
            if target.part == Part::Main {
                row.default(&mut new);
            }
            self.before_update(target, &mut new, old, caller)?;
            self.normalize(row, &mut new);
            let begun = self.begin_update(row, &mut new, old)?;
            self.validate_update(target, &new, old, caller)?;
            self.admit_update((target, admit, AdmissionStep::Validate), &mut new, old, caller).await?;

            ferry_api::patch::apply::keep_times_of_unchanged(old, &mut new);
            let last = should_delete(row, &new, old);
            let same = row.custom.is_none() && new == *old && !last;
            if caller.dry_run || (same && !self.is_stale(row, &key).await) {
                return Ok(Updated { written: self.unstored_answer(new, None), created: false });
            }
            let expect = Expect::Revision(revision_of(old)?);
            let encoded = self.encode(row, &key, &new).await?;
            // Of a builtin kind the comparison above has decided it.
            let keeps_store = row.custom.is_some() && !last && present.is_stored_as(&encoded);
            if keeps_store && !self.is_stale(row, &key).await {
                return Ok(Updated { written: self.unstored_answer(new, None), created: false });
            }
            let outcome = if last {
                self.commit(Commit { key: key.clone(), expect, op: Op::Delete }).await.map(|done| done.revision)
            } else {
                self.put(&key, expect, encoded.sealed.clone()).await
            };
            match outcome {
                Ok(revision) => {
                    if last {
                        drop(begun);
                        self.after_delete(row, old).await;
                    } else {
                        begun.keep(self).await;
                    }
                    let written = self.stored_answer(row, &key, Some(new), revision, &encoded).await?;
                    return Ok(Updated { written, created: false });
                }
                Err(ferry_store::Error::Conflict { current: met, .. }) => {
                    drop(begun);
                    current = self.read_entry(row, met).await?;
                }
                Err(error) => return Err(store_failed(error)),
            }
        }
    }

    /// A uid or resourceVersion in the new object must be the present one's. Without a
    /// resourceVersion the change is unconditional, where the kind allows that.
    fn check_preconditions(&self, row: &Row, name: &str, new: &mut Value, old: &Value) -> Result<(), Status> {
        let resource = row.group_resource();
        if !new.uid().is_empty() && new.uid() != old.uid() {
            let why =
                format!("Precondition failed: UID in precondition: {}, UID in object meta: {}", new.uid(), old.uid());
            return Err(Status::conflict(&resource, name, &why));
        }
        let version = new.resource_version();
        if version.is_empty() || version == "0" {
            if row.writes.versioned {
                let path = Path::new("metadata").child("resourceVersion");
                let error = Error::invalid(&path, 0, "must be specified for an update");
                let kind = GroupVersionKind::new(row.group.clone(), row.version.clone(), row.plural.clone());
                return Err(Status::invalid(&kind, name, vec![error]));
            }
            new.set_meta("resourceVersion", old.resource_version());
        } else if version.parse::<u64>().is_err() {
            let error = Error::invalid(
                &Path::new("metadata").child("resourceVersion"),
                version,
                format!("strconv.ParseUint: parsing {version:?}: invalid syntax"),
            );
            return Err(Status::invalid(&row.gvk(), name, vec![error]));
        } else if version != old.resource_version() {
            return Err(Status::modified(&resource, name));
        }
        Ok(())
    }

    /// Lets admission see a change as `admit` shows it, and carries back what mutation did to it.
    async fn admit_update(
        &self,
        (target, admit, step): (&Target<'_>, Admit<'_>, AdmissionStep),
        new: &mut Value,
        old: &Value,
        caller: &Caller,
    ) -> Result<(), Status> {
        let Some(admission) = self.admission() else { return Ok(()) };
        match admit {
            Admit::Done => Ok(()),
            Admit::Object => step.run(admission, &mut admission_request(target, new, old, caller)).await,
            Admit::View(view) => {
                let (before, shown_old) = (view.show(new)?, view.show(old)?);
                let mut shown = before.clone();
                step.run(admission, &mut admission_request(target, &mut shown, &shown_old, caller)).await?;
                if shown == before { Ok(()) } else { view.carry(&shown, new) }
            }
        }
    }

    /// What an update may not change is put back, and the generation counts the changes
    /// of what was asked for.
    fn before_update(&self, target: &Target<'_>, new: &mut Value, old: &Value, caller: &Caller) -> Result<(), Status> {
        let row = target.row;
        metadata::ensure_namespace(row, target.namespace, new)?;
        keep(new, old, "generation");
        let context = caller.strategy_context();
        row.prepare_for_update(&context, target.part.name(), new, old);
        if new.uid().is_empty() {
            keep(new, old, "uid");
        }
        keep(new, old, "creationTimestamp");
        if old.is_deleting() {
            keep(new, old, "deletionTimestamp");
        }
        if new.meta("deletionGracePeriodSeconds").is_none_or(Value::is_null) {
            keep(new, old, "deletionGracePeriodSeconds");
        }
        let counts_generation = match target.part {
            Part::Main => true,
            Part::Status => false,
            Part::Other(subresource) => row.strategy.subresource_counts_generation(subresource),
        };
        if counts_generation && row.is_new_generation(new, old) {
            new.set_meta("generation", old.generation() + 1);
        }
        Ok(())
    }

    fn validate_update(&self, target: &Target<'_>, new: &Value, old: &Value, caller: &Caller) -> Result<(), Status> {
        let row = target.row;
        let mut errors = validate_metadata(new, row);
        errors.extend(metadata::validate_update(new, old));
        // Only what changes is judged by the facts; the rest is as it was, and may be something
        // that today's rules would not let in.
        errors.extend(row.validate_update(target.part.name(), new, old));
        if !errors.is_empty() {
            return Err(Status::invalid(&row.gvk(), target.name, errors));
        }
        if target.part == Part::Main {
            row.strategy.warnings(new, Some(old)).into_iter().for_each(|text| caller.warnings.add(text));
            let unsupported = unsupported::warnings(&row.gvk(), new, Some(old));
            unsupported.into_iter().for_each(|text| caller.warnings.add(text));
        }
        Ok(())
    }
}

fn admission_request<'a>(
    target: &Target<'_>,
    new: &'a mut Value,
    old: &'a Value,
    caller: &Caller,
) -> AdmissionRequest<'a> {
    let mut request =
        AdmissionRequest::new(Operation::Update, target.row, target.namespace, target.name, target.part.name(), caller);
    request.object = Some(new);
    request.old_object = Some(old);
    request
}

fn keep(new: &mut Value, old: &Value, key: &str) {
    match old.meta(key) {
        Some(value) => new.set_meta(key, value.clone()),
        None => new.remove_meta(key),
    }
}

pub(super) fn revision_of(object: &Value) -> Result<u64, Status> {
    object
        .resource_version()
        .parse()
        .map_err(|_| Status::internal(format!("{:?} in the cache has no resourceVersion", object.name())))
}

/// An object that waited for its finalizers goes with the update that removes the last
/// one (upstream's ShouldDeleteDuringUpdate). A namespace also waits for spec.finalizers.
fn should_delete(row: &Row, new: &Value, old: &Value) -> bool {
    let waits = row.group.is_empty() && row.kind == "Namespace" && !new.items_at(&["spec", "finalizers"]).is_empty();
    old.is_deleting()
        && new.finalizers().is_empty()
        && old.meta("deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or(0) == 0
        && !waits
}
