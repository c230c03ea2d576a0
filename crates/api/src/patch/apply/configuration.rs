//! Server-side apply: a configuration is merged into the live object, fields that its
//! manager applied before and no longer names are removed, and fields that others own
//! with other values are conflicts unless the request forces them.
//!
//! Called by the patch verb for `application/apply-patch+yaml`.

use super::compare::{compare, is_equal};
use super::conflict::Conflicts;
use super::extract::{extract, reconcile_with_schema, validate, with_named_fields};
use super::last_applied;
use super::merge::{drop_nulls, merge, remove};
use super::ownership::{Identity, Operation, Ownership};
use super::place::{EMPTY_OBJECT, Place};
use super::set::Set;
use super::update::{WriteOptions, stripped, track};
use crate::object::Meta;
use crate::schema::TypeDef;
use crate::status::Status;
use serde_json::Value;

#[derive(Clone, Copy, Debug)]
pub struct ApplyOptions<'a> {
    pub write: WriteOptions<'a>,
    /// Take the fields that others own.
    pub force: bool,
}

/// Who is found to own the fields of an object that nobody had tracked.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// The object that applying `config` to `live` (`None` when it does not exist) gives, with
/// its `managedFields`. Defaults are the caller's to set.
pub fn apply(
    live: Option<&Value>,
    config: &Value,
    definition: Option<&TypeDef>,
    options: &ApplyOptions<'_>,
) -> Result<Value, Status> {
    let place = Place::of(definition);
    check_config(config, place, options)?;
    let live_fields = live.and_then(|live| live.meta("managedFields")).unwrap_or(&Value::Null);
    let mut ownership = Ownership::decode(live_fields)
        .map_err(|error| Status::failure(500, "", format!("failed to decode managed fields: {error}")))?;
    if let Some(live) = live
        && ownership.is_empty()
    {
        let before = WriteOptions { manager: BEFORE_FIRST_APPLY, ..options.write };
        track(None, live, definition, &before, &mut ownership);
    }
    for entry in &mut ownership.entries {
        if let Some(set) = reconcile_with_schema(&entry.set(), place) {
            entry.replace_set(set);
        }
    }
    let api_version = options.write.kind.api_version();
    let request = Request {
        live: live.unwrap_or(&EMPTY_OBJECT),
        config,
        place,
        definition,
        identity: options.write.identity(Operation::Apply, &api_version),
        reset_fields: options.write.reset_fields,
    };
    // Only kubectl gets a second try, see `last_applied`.
    let second_try = (options.write.manager == last_applied::MANAGER && !options.force).then(|| ownership.clone());
    let outcome = match (request.run(ownership, options.force), second_try) {
        (Err(conflicts), Some(ownership)) => {
            match last_applied::remaining_conflicts(&request, &conflicts, definition) {
                Some(remaining) if remaining.is_empty() => request.run(ownership, true)?,
                Some(remaining) => return Err(remaining.into()),
                None => return Err(conflicts.into()),
            }
        }
        (outcome, _) => outcome?,
    };
    Ok(finish(outcome, &request, options))
}

fn check_config(config: &Value, place: Place<'_>, options: &ApplyOptions<'_>) -> Result<(), Status> {
    let kind = config.gvk();
    if kind != *options.write.kind {
        return Err(Status::bad_request(format!(
            "invalid object type: {}/{}, Kind={}",
            kind.group, kind.version, kind.kind
        )));
    }
    if config.meta("managedFields").is_some_and(|fields| !fields.is_null()) {
        return Err(Status::bad_request("metadata.managedFields must be nil"));
    }
    let errors = validate(place, config);
    let text = match errors.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        many => format!("errors:\n  {}", many.join("\n  ")),
    };
    Err(Status::failure(
        500,
        "",
        format!(
            "failed to create typed patch object ({}/{}; {}/{}, Kind={}): {text}",
            config.namespace(),
            config.name(),
            kind.group,
            kind.version,
            kind.kind
        ),
    ))
}

/// One apply, apart from who may force it.
pub(super) struct Request<'a> {
    pub live: &'a Value,
    pub config: &'a Value,
    pub place: Place<'a>,
    pub definition: Option<&'a TypeDef>,
    pub identity: Identity<'a>,
    pub reset_fields: Option<&'a Set>,
}

struct Outcome {
    object: Value,
    ownership: Ownership,
}

impl Request<'_> {
    fn run(&self, mut ownership: Ownership, force: bool) -> Result<Outcome, Conflicts> {
        let merged = merge(self.place, Some(self.live), Some(self.config)).unwrap_or_else(|| self.live.clone());
        let mut own = extract(self.place, self.config);
        if let Some(reset) = self.reset_fields {
            own = own.recursive_difference(reset);
        }
        let last = match ownership.position(&self.identity) {
            Some(index) => ownership.entries[index].set().into_owned(),
            None => Set::new(),
        };
        ownership.entry(&self.identity).replace_set(own);
        let mut object = self.prune(merged, &ownership, &last);
        drop_nulls(self.place, &mut object);

        let mut changes = compare(Some(self.live), &object, self.definition);
        if let Some(reset) = self.reset_fields {
            changes.exclude(reset);
        }
        let written = changes.modified.union(&changes.added);
        let own_index = ownership.position(&self.identity);
        let mut conflicts = Conflicts::default();
        for (index, entry) in ownership.entries.iter_mut().enumerate() {
            if Some(index) == own_index {
                continue;
            }
            let taken = entry.set().intersection(&written);
            if !taken.is_empty() && !force {
                conflicts.add(&entry.identity(), &taken);
            }
            entry.release(&written);
            entry.release(&changes.removed);
        }
        if !conflicts.is_empty() {
            return Err(conflicts);
        }
        let entry = ownership.entry(&self.identity);
        let stripped = entry.set().difference(stripped());
        entry.replace_set(stripped);
        ownership.drop_empty();
        Ok(Outcome { object, ownership })
    }

    /// Removes from `merged` what the manager applied last time, does not apply now, and
    /// nobody else owns.
    fn prune(&self, merged: Value, ownership: &Ownership, last: &Set) -> Value {
        // What is applied again needs no removal.
        let own = ownership.position(&self.identity).map(|index| ownership.entries[index].set());
        if own.is_some_and(|own| last.difference(&own).is_empty()) {
            return merged;
        }
        let place = self.place;
        let named = |set: &Set| with_named_fields(set, Some(place));
        let last = named(last);
        let mut owned = Set::new();
        for entry in &ownership.entries {
            owned = owned.union(&entry.set());
        }
        let merged_set = named(&extract(place, &merged));
        // First all that was applied last time goes; then what anyone owns comes back, and
        // with it what nobody owns but is needed to hold it.
        let pruned = remove(place, &merged, &last);
        let kept = named(&extract(place, &pruned)).union(&named(&owned));
        let pruned = remove(place, &merged, &merged_set.difference(&kept));
        // What was not the manager's to remove comes back as well.
        let kept = named(&extract(place, &pruned));
        remove(place, &merged, &merged_set.difference(&kept).intersection(&last))
    }
}

fn finish(outcome: Outcome, request: &Request<'_>, options: &ApplyOptions<'_>) -> Value {
    let Outcome { mut object, mut ownership } = outcome;
    // An apply that changes nothing leaves the entry's time alone.
    let is_same = is_equal(request.place, request.live, &object);
    if !is_same && let Some(index) = ownership.position(&request.identity) {
        ownership.entries[index].set_time(&options.write.time());
    }
    if is_same {
        object = request.live.clone();
    }
    object.remove_meta("managedFields");
    if options.write.manager == last_applied::MANAGER {
        last_applied::refresh(&mut object, request.config);
    }
    if let Some(fields) = ownership.into_json() {
        object.set_meta("managedFields", fields);
    }
    object
}
