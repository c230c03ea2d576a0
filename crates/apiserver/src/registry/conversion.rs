//! Stored objects as a row shows them, and the way back: the one place where versions meet.
//!
//! Builtin kinds convert in memory and at once. Objects of a custom resource are held
//! against the schema they were stored under and may have to be sent to somebody else's
//! webhook, so everything here is awaited (docs/design/0005-conversion-at-the-border.md).
//! A form that was made once is kept beside the object: a webhook is asked once for each
//! version of an object, however many clients read it.

use super::{Encoded, Registry, Written, decode, encode};
use crate::cache::{Stored, splice_version};
use crate::encryption::Kind;
use bytes::Bytes;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_resources::Row;
use ferry_resources::custom_resource::Custom;
use ferry_store::{Entry, Revision};
use serde_json::Value;
use std::sync::Arc;

/// An object as it is now: what the row shows of it and what the store holds.
pub(super) struct Current {
    pub object: Value,
    pub stored: Arc<Stored>,
}

impl Registry {
    /// The bytes of objects in the row's own version, in the order they came.
    pub async fn served(&self, row: &Row, objects: &[Arc<Stored>]) -> Result<Vec<Bytes>, Status> {
        match &row.custom {
            Some(custom) => serve_custom(custom, &row.version, objects).await,
            None if row.gvk() == row.stored_as => Ok(objects.iter().map(|stored| stored.to_bytes()).collect()),
            None => Ok(objects.iter().map(|stored| encode::encode(&decode(row, stored)).into()).collect()),
        }
    }

    /// As [`Registry::served`], decoded.
    pub async fn served_values(&self, row: &Row, objects: &[Arc<Stored>]) -> Result<Vec<Value>, Status> {
        if row.custom.is_none() {
            return Ok(objects.iter().map(|stored| decode(row, stored)).collect());
        }
        let bytes = self.served(row, objects).await?;
        Ok(bytes.iter().map(|bytes| serde_json::from_slice(bytes).unwrap_or(Value::Null)).collect())
    }

    /// The present version of an object in the row's own version, with its resourceVersion.
    pub async fn current(&self, row: &Row, namespace: &str, name: &str) -> Result<Option<Value>, Status> {
        Ok(self.read(row, namespace, name).await?.map(|current| current.object))
    }

    /// One that is there and cannot be read is not taken for absent.
    pub(super) async fn read(&self, row: &Row, namespace: &str, name: &str) -> Result<Option<Current>, Status> {
        match self.stored(row, namespace, name) {
            Some(stored) => self.read_stored(row, stored).await.map(Some),
            None => self.check_readable(row, namespace, name).map(|()| None),
        }
    }

    /// What a commit met instead of what it expected.
    pub(super) async fn read_entry(&self, row: &Row, entry: Option<Entry>) -> Result<Option<Current>, Status> {
        let Some(entry) = entry else { return Ok(None) };
        let kind = Kind::of(row);
        self.encryption.prepare_entry(kind, &entry).await;
        let raw = self.encryption.open(kind, &entry.key, &entry.value).map_err(Status::internal)?;
        let stored = self
            .cache
            .stock(row)
            .and_then(|stock| stock.admit(entry.key.clone(), entry.revision, &raw))
            .ok_or_else(|| Status::internal(format!("the stored value of {:?} cannot be decoded", entry.key)))?;
        self.read_stored(row, Arc::new(stored)).await.map(Some)
    }

    async fn read_stored(&self, row: &Row, stored: Arc<Stored>) -> Result<Current, Status> {
        let mut values = self.served_values(row, std::slice::from_ref(&stored)).await?;
        let object = values.pop().ok_or_else(|| Status::internal("an object was lost in conversion"))?;
        Ok(Current { object, stored })
    }

    /// The bytes of an object as the store keeps them: in the stored version, without
    /// resourceVersion, encrypted where the kind is.
    pub(super) async fn encode(&self, row: &Row, key: &str, object: &Value) -> Result<Encoded, Status> {
        let plain: Bytes = if row.gvk() == row.stored_as {
            encode::encode_unversioned(object).into()
        } else {
            let mut stored = object.clone();
            match &row.custom {
                Some(custom) => {
                    stored.remove_meta("resourceVersion");
                    let objects = vec![(row.version.to_string(), stored)];
                    let mut converted =
                        custom.definition.convert(objects, &row.stored_as.version).await.map_err(conversion_failed)?;
                    stored = converted.pop().unwrap_or(Value::Null);
                }
                None => row.strategy.to_stored(&mut stored),
            }
            stored.set_gvk(&row.stored_as);
            encode::encode_unversioned(&stored).into()
        };
        let (sealed, held) = self.encryption.seal(Kind::of(row), key, &plain).map_err(Status::internal)?;
        let sealed = sealed.map_or_else(|| plain.clone(), Bytes::from);
        Ok(Encoded { plain, sealed, _held: held })
    }

    /// The answer to a write that was stored: its bytes are those of the store with the
    /// revision they were given, so nothing is encoded twice, and the cache's own where it has them. `object` is what was written;
    /// it may be left out where the caller does not want it and the store has the row's own
    /// version. What went through a webhook comes back through it, as upstream's answers do.
    pub(super) async fn stored_answer(
        &self,
        row: &Row,
        key: &str,
        object: Option<Value>,
        revision: Revision,
        encoded: &Encoded,
    ) -> Result<Written, Status> {
        let plain = row.gvk() == row.stored_as;
        if let Some(custom) = row.custom.as_ref().filter(|_| !plain) {
            let mut stored: Value = serde_json::from_slice(&encoded.plain).map_err(Status::internal)?;
            stored.set_meta("resourceVersion", revision.to_string());
            let objects = vec![(row.stored_as.version.to_string(), stored)];
            let mut back = custom.definition.convert(objects, &row.version).await.map_err(conversion_failed)?;
            let object = back.pop().unwrap_or(Value::Null);
            return Ok(Written::new(encode::encode(&object).into(), Some(object)));
        }
        let object = object.map(|mut object| {
            object.set_meta("resourceVersion", revision.to_string());
            object
        });
        // The cache has the same bytes, unless somebody has changed the object again already.
        let cached = || self.cache.stock(row)?.get(key).filter(|stored| stored.revision() == revision);
        let spliced = || splice_version(&encoded.plain, revision).map(|(bytes, _)| bytes);
        let shown = plain.then(|| cached().map_or_else(spliced, |stored| Some(stored.to_bytes()))).flatten();
        let bytes = match (shown, &object) {
            (Some(bytes), _) => bytes,
            (None, Some(object)) => encode::encode(object).into(),
            (None, None) => return Err(Status::internal("an object was stored that cannot be shown")),
        };
        Ok(Written::new(bytes, object))
    }
}

impl Current {
    /// Whether a write of a custom resource would leave the store as it is. Its objects may
    /// show defaults, or a version, that the store does not hold yet: writing back what was
    /// read is how clients bring a store to a new version.
    pub(super) fn is_stored_as(&self, encoded: &Encoded) -> bool {
        let mut before = self.stored.value();
        before.remove_meta("resourceVersion");
        serde_json::from_slice::<Value>(&encoded.plain).is_ok_and(|after| after == before)
    }
}

async fn serve_custom(custom: &Custom, version: &str, objects: &[Arc<Stored>]) -> Result<Vec<Bytes>, Status> {
    let form = custom.form();
    let mut out: Vec<Option<Bytes>> = objects.iter().map(|stored| stored.form(form)).collect();
    let mut missing: Vec<(usize, Value)> = Vec::new();
    let mut revived: Vec<(String, Value)> = Vec::new();
    for (index, stored) in objects.iter().enumerate().filter(|(index, _)| out[*index].is_none()) {
        let original = stored.value();
        let mut object = original.clone();
        let found = custom.definition.revive(&mut object).map_err(conversion_failed)?;
        missing.push((index, original));
        revived.push((found, object));
    }
    if !missing.is_empty() {
        // All of them in one request: a list costs a webhook one call.
        let converted = custom.definition.convert(revived, version).await.map_err(conversion_failed)?;
        for ((index, original), object) in missing.into_iter().zip(converted) {
            let bytes = (object != original).then(|| Bytes::from(encode::encode(&object)));
            out[index] = Some(bytes.clone().unwrap_or_else(|| objects[index].to_bytes()));
            objects[index].keep_form(form, bytes);
        }
    }
    Ok(out.into_iter().flatten().collect())
}

/// Upstream gives these errors no reason of their own.
fn conversion_failed(text: String) -> Status {
    Status::failure(500, "", text)
}
