//! The strategy: the rules of one kind, called by the API server's registry in an order
//! that is fixed there (`apiserver/registry`), after upstream's rest/create.go and
//! rest/update.go. Every method is pure: no I/O, no clock but the one in [`Context`].

use ferry_api::document::Node;
use ferry_api::field::ErrorList;
use jiff::Timestamp;
use serde_json::Value;
use std::any::Any;
use std::collections::BTreeMap;

/// What a strategy may know about the request.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub now: Timestamp,
    /// The user who asks, for fields that record it.
    pub user: &'a str,
    pub uid: &'a str,
    pub groups: &'a [String],
    pub extra: &'a BTreeMap<String, Vec<String>>,
}

/// The order on create: `default` → mutating admission → `prepare_for_create` and the
/// metadata that every object has → `validate` → validating admission → stored.
/// On update: `default` → mutating admission → `prepare_for_update` → `validate_update` →
/// validating admission → stored.
pub trait Strategy: Any + Send + Sync {
    /// Fills in what depends on other fields, after the constants of the facts
    /// (`Row::default`). Idempotent; called after every decode.
    fn default(&self, _object: &mut Value) {}

    /// Turns an object of the row's own version into the one in which it is stored
    /// (`Row::stored_as`). The last step before encoding; every other method sees the
    /// row's own version.
    fn to_stored(&self, _object: &mut Value) {}

    /// The way back: the first step after an object is read from the store.
    #[allow(clippy::wrong_self_convention, reason = "the object is changed in place; self is the kind")]
    fn from_stored(&self, _object: &mut Value) {}

    /// Fills in or clears what is not the users' to set on create. What the facts wipe (status,
    /// for most kinds) is gone already: see `Row::prepare_for_create`.
    fn prepare_for_create(&self, _context: &Context, _object: &mut Value) {}

    /// Every mistake in the object that the marks of the facts do not name, each with its path:
    /// rules across fields. `Row::validate` reports the others before, and the caller those of
    /// the metadata; see `validate_name` for the kind's own rule of names.
    fn validate(&self, _object: &Value) -> ErrorList {
        ErrorList::new()
    }

    /// The rule of names of a kind whose facts say `own`; see `Row::validate_name`.
    fn validate_name(&self, _name: &str, _prefix: bool) -> Vec<String> {
        Vec::new()
    }

    /// Keeps what users may not change, beyond what the facts reset (`Row::prepare_for_update`
    /// has put that back). Afterwards the caller counts the generation.
    fn prepare_for_update(&self, _context: &Context, _new: &mut Value, _old: &Value) {}

    /// Every mistake in the change, immutable fields included.
    fn validate_update(&self, new: &Value, _old: &Value) -> ErrorList {
        self.validate(new)
    }

    /// The same for the `status` subresource.
    fn prepare_for_status_update(&self, _context: &Context, _new: &mut Value, _old: &Value) {}

    fn validate_status_update(&self, _new: &Value, _old: &Value) -> ErrorList {
        ErrorList::new()
    }

    /// For another subresource (`approval`): puts back what may not change through it.
    fn prepare_for_subresource_update(&self, _context: &Context, _subresource: &str, _new: &mut Value, _old: &Value) {}

    /// The mistakes in a change through another subresource (`ephemeralcontainers`,
    /// `resize`, `finalize`), whose handler has put back what may not change there.
    fn validate_subresource_update(&self, _subresource: &str, _new: &Value, _old: &Value) -> ErrorList {
        ErrorList::new()
    }

    /// Sentences for the Warning header on create and update.
    fn warnings(&self, _new: &Value, _old: Option<&Value>) -> Vec<String> {
        Vec::new()
    }

    /// Whether an update through a subresource other than `status` may make a new
    /// generation. A pod's binding may not: it carries out the spec and asks for nothing.
    fn subresource_counts_generation(&self, _subresource: &str) -> bool {
        true
    }

    /// Selectable fields that are no plain path; `Row::selectable_fields` has the others.
    fn selectable_fields(&self, _object: Node<'_>) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// The cells of this object's row for the columns that the facts give no path, in their
    /// order; `Row::cells` has the others.
    fn computed_cells(&self, _object: Node<'_>, _now: Timestamp) -> Vec<Value> {
        Vec::new()
    }

    /// `meta/v1 TableRowCondition`s of this object's row: what has completed.
    fn row_conditions(&self, _object: Node<'_>) -> Vec<Value> {
        Vec::new()
    }

    /// How many seconds a delete waits before the object goes (pods), given what the
    /// request asked for; `None` means at once.
    fn grace_period(&self, _object: &Value, _requested: Option<i64>) -> Option<i64> {
        None
    }

    /// Whether a finalizer without a domain must be one that Kubernetes itself knows. Only
    /// definitions of custom resources and their objects may have others.
    fn requires_standard_finalizers(&self) -> bool {
        true
    }

    /// For kinds that always wait for something before they go: the object as the first
    /// delete leaves it, with the finalizer that holds it. The caller adds the time.
    fn mark_for_deletion(&self, _object: &Value, _now: Timestamp) -> Option<Value> {
        None
    }

    /// Sentences for the Warning header of a deletion that does not say what becomes of
    /// dependents.
    fn deletion_warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// The objects of a kind that is read but never stored, because they are always the
    /// same.
    fn constant_objects(&self) -> Vec<Value> {
        Vec::new()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    Background,
    Foreground,
    Orphan,
}
