//! Which definitions are served now: builds the rows of one and puts them among the others,
//! with a stock of their objects, and takes both away again. `controller.rs` says when.

use super::conversion;
use crate::ServerState;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_resources::Row;
use ferry_resources::custom_resource::{Definition, is_true, rows, storage_row};
use ferry_resources::read::Read;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// By the definition's name.
#[derive(Default)]
pub(super) struct Serving(Mutex<HashMap<String, Served>>);

struct Served {
    /// What the rows were made of; a change of anything else changes nothing.
    made_of: MadeOf,
    storage: Arc<Row>,
}

#[derive(PartialEq)]
struct MadeOf {
    uid: String,
    spec: Value,
    names: Value,
    terminating: bool,
}

impl MadeOf {
    fn of(definition: &Value) -> Self {
        Self {
            uid: definition.uid().to_owned(),
            spec: definition.field("spec").cloned().unwrap_or_default(),
            names: definition.field("status").field("acceptedNames").cloned().unwrap_or_default(),
            terminating: is_true(definition, "Terminating"),
        }
    }
}

impl Serving {
    /// Serves a definition as it is now. Its objects are in memory before anyone can ask.
    pub(super) async fn serve(&self, server: &ServerState, definition: &Value) -> Result<(), Status> {
        let name = definition.name();
        let made_of = MadeOf::of(definition);
        let known = {
            let serving = self.0.lock();
            serving.get(name).map(|served| (served.made_of == made_of, served.made_of.spec == made_of.spec))
        };
        if matches!(known, Some((true, _))) {
            return Ok(());
        }
        let (registry, spec) = (&server.registry, definition.field("spec"));
        let (group, plural) = (spec.text("group"), made_of.names.text("plural").to_owned());
        if plural.is_empty() || registry.rows.is_builtin(group, &plural) {
            return Ok(());
        }
        let converter = conversion::converter(definition, server.lookup.clone(), server.metrics.clone())?;
        let compiled = Definition::compile(definition, converter)
            .map_err(|_| Status::internal("the server could not properly serve the CR schema"))?;
        let compiled = Arc::new(compiled);
        let Some(storage) = storage_row(definition, &compiled) else { return Ok(()) };
        let storage = Arc::new(storage);
        let made: Vec<Arc<Row>> = rows(definition, &compiled).into_iter().map(Arc::new).collect();
        registry.cache.add(&storage).await.map_err(crate::registry::store_failed)?;
        registry.rows.replace_custom(name, &made);
        server.openapi.forget_stale(&registry.rows.all());
        // Watchers were shown what the old schema made of the objects.
        if let (Some((_, false)), Some(stock)) = (known, registry.cache.stock(&storage)) {
            stock.disconnect();
        }
        self.0.lock().insert(name.to_owned(), Served { made_of, storage });
        Ok(())
    }

    /// Serves a definition no more, and gives back all that was kept for it. Its objects
    /// stay in the store.
    pub(super) fn stop(&self, server: &ServerState, name: &str) {
        let Some(served) = self.0.lock().remove(name) else { return };
        let registry = &server.registry;
        registry.rows.replace_custom(name, &[]);
        registry.cache.drop_stock(&served.storage.storage_prefix);
        server.openapi.forget_stale(&registry.rows.all());
        let row = &served.storage;
        server.metrics.forget_definition(name, &row.group, &row.plural);
        registry.encryption.figures.forget(&row.group_resource().to_string());
    }

    /// The row in which a definition's objects are stored, served or not.
    pub(super) fn storage_row(&self, name: &str) -> Option<Arc<Row>> {
        self.0.lock().get(name).map(|served| served.storage.clone())
    }
}
