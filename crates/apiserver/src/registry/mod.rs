//! From a decoded request to a commit and back: the one place that fixes in which order
//! defaulting, strategy, admission, validation and storage happen, for every kind.
//!
//! The verbs call [`Registry::create`], [`Registry::update`] and [`Registry::delete`];
//! reads go to the cache directly. The order is upstream's (registry/rest/create.go,
//! update.go, delete.go and registry/generic/registry/store.go).

mod conversion;
mod create;
mod delete;
mod generate_name;
mod hooks;
mod managed_fields;
mod metadata;
mod update;

pub use delete::{DeleteOptions, Deleted, check_preconditions, deleted_status};
pub use ferry_access::caller::{Caller, RequestNotes, Wants, Warnings};
pub use ferry_cache::rows::{Rows, decode};
pub use ferry_cache::{encode, lookup};
pub use hooks::{Finish, HookTable, Hooks};
pub use managed_fields::Tracking;
pub use update::{Admit, IfAbsent, Part, Target, Updated, View};

use crate::admission::{Admission, AdmissionRequest, Operation};
use crate::cache::{Cache, Stored};
use crate::encryption::{Encryption, Held, Kind, Unreadable};
use crate::metrics::Metrics;
use crate::metrics::storage::operation;
use bytes::Bytes;
pub use ferry_api::codec::time::format_seconds as timestamp;
use ferry_api::object::Meta;
use ferry_api::status::{Cause, Details, Status};
use ferry_resources::Row;
use ferry_store::{Commit, Committed, Expect, Op, Revision, Store};
use serde_json::Value;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

pub struct Registry {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) cache: Arc<Cache>,
    pub(crate) encryption: Arc<Encryption>,
    pub(crate) rows: Arc<Rows>,
    pub(crate) hooks: HookTable,
    pub(crate) metrics: Arc<Metrics>,
    /// Set once, right after construction: admission itself looks objects up here.
    pub(crate) admission: OnceLock<Admission>,
}

/// An object as a write left it: as the answer shows it, in the row's own version.
#[derive(Debug)]
pub struct Written {
    /// As JSON.
    pub bytes: Bytes,
    /// The same, decoded: kept from the write, or made when it is asked for.
    object: OnceLock<Value>,
}

impl Written {
    fn new(bytes: Bytes, object: Option<Value>) -> Self {
        Self { bytes, object: object.map_or_else(OnceLock::new, OnceLock::from) }
    }

    pub fn object(&self) -> &Value {
        self.object.get_or_init(|| serde_json::from_slice(&self.bytes).unwrap_or_default())
    }

    pub fn into_object(self) -> Value {
        self.object();
        self.object.into_inner().unwrap_or_default()
    }
}

/// An object on its way to the store.
struct Encoded {
    plain: Bytes,
    sealed: Bytes,
    /// What sealed it, until it is on disk.
    _held: Held,
}

impl Registry {
    pub fn stored(&self, row: &Row, namespace: &str, name: &str) -> Option<Arc<Stored>> {
        self.cache.stock(row)?.get(&row.key(namespace, name))
    }

    /// Fails for an object that is there and cannot be read, with the reason.
    pub fn check_readable(&self, row: &Row, namespace: &str, name: &str) -> Result<(), Status> {
        let Some(why) = self.cache.stock(row).and_then(|stock| stock.unreadable(&row.key(namespace, name))) else {
            return Ok(());
        };
        self.encryption.ask_for_another_try();
        Err(Status::internal(why))
    }

    /// Whether the stored bytes would be sealed otherwise now. Asked only for writes that
    /// change nothing, because it reads the store.
    async fn is_stale(&self, row: &Row, key: &str) -> bool {
        let kind = Kind::of(row);
        self.encryption.covers(kind)
            && matches!(self.store.get(key, None).await, Ok(Some(entry)) if self.encryption.is_stale(kind, &entry.value))
    }

    /// Commits, then waits until the cache shows it: only then may a caller be told.
    async fn commit(&self, commit: Commit) -> Result<Committed, ferry_store::Error> {
        let (began, operation) = (Instant::now(), operation(&commit));
        let stock = self.cache.stock_of_key(&commit.key);
        let outcome = self.store.commit(commit).await;
        if let Some(stock) = stock {
            // Meeting a newer object is an answer, as it is in upstream's transactions.
            let failed = !matches!(outcome, Ok(_) | Err(ferry_store::Error::Conflict { .. }));
            self.metrics.storage.asked(operation, &stock, failed, began.elapsed());
        }
        let committed = outcome?;
        self.cache.wait_applied(committed.revision).await;
        Ok(committed)
    }

    async fn put(&self, key: &str, expect: Expect, value: Bytes) -> Result<Revision, ferry_store::Error> {
        self.commit(Commit { key: key.to_owned(), expect, op: Op::Put(value) }).await.map(|done| done.revision)
    }

    /// The answer to a write that stored nothing, or nothing that is left.
    fn unstored_answer(&self, mut object: Value, revision: Option<Revision>) -> Written {
        if let Some(revision) = revision {
            object.set_meta("resourceVersion", revision.to_string());
        }
        Written::new(encode::encode(&object).into(), Some(object))
    }

    /// Lets admission see what a subresource that stores nothing is sent: a POST of another
    /// kind (`Binding`, `TokenRequest`) or the options of a connection.
    pub async fn admit(
        &self,
        operation: Operation,
        target: &Target<'_>,
        object: &mut Value,
        caller: &Caller,
    ) -> Result<(), Status> {
        let Some(admission) = self.admission() else { return Ok(()) };
        let Target { row, namespace, name, .. } = target;
        let mut request = AdmissionRequest::new(operation, row, namespace, name, target.part.name(), caller);
        request.object = Some(object);
        admission.mutate(&mut request).await?;
        admission.validate(&request).await
    }

    /// Brings an object into the form that is stored: of a builtin kind what Go's structs
    /// would write, of a custom resource its metadata alone.
    fn normalize(&self, row: &Row, object: &mut Value) {
        match (&row.custom, row.schema.as_deref()) {
            (Some(_), _) => {
                let definition = ferry_api::schema::builtin().get("meta/v1", "ObjectMeta");
                if let (Some(definition), Some(metadata)) = (definition, object.get_mut("metadata")) {
                    ferry_api::codec::normalize(metadata, definition);
                }
            }
            (None, Some(schema)) => ferry_api::codec::normalize(object, schema),
            (None, None) => {}
        }
    }

    fn admission(&self) -> Option<&Admission> {
        self.admission.get()
    }
}

/// A list in which some objects cannot be read, with each of them and the reason.
pub(crate) fn unreadable_list(row: &Row, unreadable: &[Unreadable]) -> Status {
    /// Upstream's bound on how many are told.
    const TOLD: usize = 100;
    let resource = row.group_resource();
    let mut causes: Vec<Cause> = unreadable
        .iter()
        .take(TOLD)
        .map(|why| Cause {
            reason: "UnexpectedServerResponse".into(),
            message: why.to_string(),
            field: why.key.clone(),
        })
        .collect();
    if unreadable.len() > TOLD {
        let message = "too many errors, the list is truncated".into();
        causes.push(Cause { reason: "FieldValueTooMany".into(), message, field: String::new() });
    }
    // Upstream names the objects in the causes alone, which kubectl does not show.
    let told: Vec<String> = unreadable.iter().take(TOLD).map(ToString::to_string).collect();
    let message = format!("failed to read one or more {resource} from the storage: {}", told.join("; "));
    Status::failure(500, "StoreReadError", message).with_details(Details {
        name: "list".into(),
        group: resource.group.to_string(),
        kind: resource.resource.to_string(),
        causes,
        ..Details::default()
    })
}

/// A failure of the store that is not the caller's doing, with its cause: a disk that is full is
/// answered as etcd's "database space exceeded" is, a 500 with the reason in its message.
pub(crate) fn store_failed(error: ferry_store::Error) -> Status {
    if matches!(error, ferry_store::Error::Closed) {
        return Status::service_unavailable("the store is shutting down");
    }
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        message.push_str(&format!(": {error}"));
        cause = error.source();
    }
    Status::internal(message)
}
