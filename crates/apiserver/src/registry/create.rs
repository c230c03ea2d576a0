//! Creating an object: the order of steps is upstream's (handlers/create.go, then
//! rest/create.go BeforeCreate, then the generic store's Create).

use super::generate_name::{ATTEMPTS, generate_name};
use super::{Caller, Registry, Tracking, Wants, Written, metadata, store_failed, timestamp};
use crate::admission::{AdmissionRequest, Operation};
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_api::unsupported;
use ferry_resources::{Row, validate_metadata};
use ferry_store::Expect;
use serde_json::Value;
use std::sync::Arc;

impl Registry {
    /// Creates an object that was decoded and defaulted. With generateName, a name that
    /// is taken is replaced by another a few times before the caller hears of it.
    pub async fn create(
        &self,
        row: &Arc<Row>,
        namespace: &str,
        object: Value,
        tracking: Tracking,
        caller: &Caller,
    ) -> Result<Written, Status> {
        if !object.name().is_empty() || object.meta_str("generateName").is_empty() {
            return self.create_once(row, namespace, object, &tracking, caller).await;
        }
        let mut attempt = 1;
        loop {
            match self.create_once(row, namespace, object.clone(), &tracking, caller).await {
                Err(status) if status.is_already_exists() && attempt < ATTEMPTS => attempt += 1,
                Err(mut status) if status.is_already_exists() => {
                    // The client did not choose this name, so it is told to try again.
                    status.message.push_str(", the server was not able to generate a unique name for the object");
                    if let Some(details) = &mut status.details {
                        details.retry_after_seconds = 1;
                    }
                    return Err(status);
                }
                other => return other,
            }
        }
    }

    async fn create_once(
        &self,
        row: &Arc<Row>,
        namespace: &str,
        mut object: Value,
        tracking: &Tracking,
        caller: &Caller,
    ) -> Result<Written, Status> {
        // What only the server may set is wiped before anyone can look at it.
        for key in ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
            object.remove_meta(key);
        }
        if row.custom.as_ref().is_some_and(|custom| custom.definition.terminating) {
            let why = "create not allowed while custom resource definition is terminating";
            return Err(Status::forbidden(&row.group_resource(), object.name(), why));
        }
        metadata::ensure_namespace(row, namespace, &mut object)?;
        metadata::dedup_owner_references(&mut object, |text| caller.warnings.add(text));
        tracking.record(row, None, &mut object, "", caller)?;

        if let Some(admission) = self.admission() {
            let name = object.name().to_owned();
            let mut request = AdmissionRequest::new(Operation::Create, row, namespace, &name, "", caller);
            request.object = Some(&mut object);
            admission.mutate(&mut request).await?;
        }
        // What admission may not decide either.
        for key in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
            object.remove_meta(key);
        }
        metadata::ensure_namespace(row, namespace, &mut object)?;
        row.default(&mut object);
        metadata::dedup_owner_references(&mut object, |text| caller.warnings.add(text));

        // A version that is no number is nobody's version; upstream drops it (etcd3/store.go).
        if object.resource_version().parse::<u64>().is_ok_and(|version| version != 0) {
            // Upstream's storage says this, and nothing on the way turns it into a 4xx.
            let text = "resourceVersion should not be set on objects to be created";
            return Err(Status::failure(500, "", text));
        }
        object.remove_meta("resourceVersion");
        object.set_meta("creationTimestamp", timestamp(caller.now));
        object.set_meta("uid", uuid::Uuid::new_v4().to_string());
        let base = object.meta_str("generateName");
        if object.name().is_empty() && !base.is_empty() {
            let name = generate_name(base);
            object.set_meta("name", name);
        }
        row.prepare_for_create(&caller.strategy_context(), &mut object);
        if row.has_generation() {
            object.set_meta("generation", 1);
        } else {
            object.remove_meta("generation");
        }
        self.normalize(row, &mut object);
        // Before validation, so that what a hook fills in is validated too; it takes it back
        // when anything after this fails.
        let begun = self.begin_create(row, &mut object)?;

        let mut errors = validate_metadata(&object, row);
        errors.extend(row.validate(&object));
        if !errors.is_empty() {
            return Err(Status::invalid(&row.gvk(), object.name(), errors));
        }
        row.strategy.warnings(&object, None).into_iter().for_each(|text| caller.warnings.add(text));
        unsupported::warnings(&row.gvk(), &object, None).into_iter().for_each(|text| caller.warnings.add(text));
        self.admit_create(row, namespace, &mut object, caller).await?;

        let key = row.key(namespace, object.name());
        let name = object.name().to_owned();
        let exists = |current: Option<&Value>| {
            let mut status = Status::already_exists(&row.group_resource(), &name);
            if current.is_some_and(Meta::is_deleting) {
                status.message = format!("object is being deleted: {}", status.message);
            }
            status
        };
        if caller.dry_run {
            if let Some(current) = self.current(row, namespace, &name).await? {
                return Err(exists(Some(&current)));
            }
            return Ok(self.unstored_answer(object, None));
        }
        let encoded = self.encode(row, &key, &object).await?;
        let kept = (caller.wants == Wants::Object || row.gvk() != row.stored_as).then_some(object);
        match self.put(&key, Expect::Absent, encoded.sealed.clone()).await {
            Ok(revision) => {
                begun.keep(self).await;
                self.stored_answer(row, &key, kept, revision, &encoded).await
            }
            Err(ferry_store::Error::Conflict { current, .. }) => {
                let current = self.read_entry(row, current).await.ok().flatten();
                Err(exists(current.as_ref().map(|current| &current.object)))
            }
            Err(error) => Err(store_failed(error)),
        }
    }

    async fn admit_create(
        &self,
        row: &Arc<Row>,
        namespace: &str,
        object: &mut Value,
        caller: &Caller,
    ) -> Result<(), Status> {
        let Some(admission) = self.admission() else { return Ok(()) };
        let name = object.name().to_owned();
        let mut request = AdmissionRequest::new(Operation::Create, row, namespace, &name, "", caller);
        request.object = Some(object);
        admission.validate(&request).await
    }
}
