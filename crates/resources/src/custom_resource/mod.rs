//! What a custom resource is: the row and the strategy that a CustomResourceDefinition
//! makes, one row a served version. Pure; the API server's `crd/` decides when the rows
//! appear and vanish, and brings the converter between versions.

mod columns;
mod json_path;
mod row;
mod scale;
mod strategy;

pub use json_path::JsonPath;
pub use row::{compare_versions, rows, storage_row};
pub use scale::ScalePaths;

use crate::read::Read;
use crate::structural::{Malformed, Structural};
use ferry_api::field::ErrorList;
use ferry_api::gvk::GroupVersion;
use ferry_api::object::Meta;
use serde_json::Value;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub type Converted<'a> = Pin<Box<dyn Future<Output = Result<Vec<Value>, String>> + Send + 'a>>;

/// Turns objects of one version of a definition into another. The one place where a read
/// or a write of a custom resource may have to wait for somebody else.
pub trait Converter: Send + Sync + 'static {
    /// Gives every object in the version `to`, in the order they came. None of them is in
    /// that version already. An error is a sentence for the client; nothing is retried.
    fn convert<'a>(&'a self, objects: Vec<Value>, to: &'a GroupVersion) -> Converted<'a>;

    /// Whether labels may differ from version to version, so that a selector must see the
    /// converted object.
    fn changes_labels(&self) -> bool;
}

/// A definition at work, shared by the rows of its versions. A changed definition makes a
/// new one.
pub struct Definition {
    /// `widgets.example.com`.
    pub name: String,
    pub group: String,
    pub kind: String,
    pub storage_version: String,
    /// Nothing may be created any more.
    pub terminating: bool,
    pub converter: Arc<dyn Converter>,
    versions: BTreeMap<String, Arc<Structural>>,
    /// Tells this definition from any other, its own older and newer forms included.
    token: u64,
}

/// What a row of a custom resource has besides what every row has.
pub struct Custom {
    pub definition: Arc<Definition>,
    /// The schema of the row's own version.
    pub structural: Arc<Structural>,
    /// Names of fields that selectors may use, and where they are.
    pub selectable: Vec<(String, JsonPath)>,
    pub scale: Option<ScalePaths>,
    pub has_status: bool,
    /// What clients of a deprecated version are told.
    pub deprecation: Option<String>,
    /// The version's `openAPIV3Schema` as it was written, for the OpenAPI documents.
    pub openapi: Value,
    index: u64,
}

impl Definition {
    /// Compiles every version's schema. Validation has let only structural ones in, so an
    /// error here means a definition that an older server stored.
    pub fn compile(definition: &Value, converter: Arc<dyn Converter>) -> Result<Self, ErrorList> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let spec = definition.field("spec");
        let preserve = spec.flag("preserveUnknownFields");
        let mut versions = BTreeMap::new();
        let mut storage_version = "";
        for version in spec.list("versions") {
            let schema = version.field("schema").field("openAPIV3Schema").unwrap_or(&Value::Null);
            versions.insert(version.text("name").to_owned(), Arc::new(Structural::compile(schema, preserve)?));
            if version.flag("storage") {
                storage_version = version.text("name");
            }
        }
        let names = definition.field("status").field("acceptedNames");
        Ok(Self {
            name: definition.name().to_owned(),
            group: spec.text("group").to_owned(),
            kind: names.text("kind").to_owned(),
            storage_version: storage_version.to_owned(),
            terminating: is_true(definition, "Terminating"),
            converter,
            versions,
            token: NEXT.fetch_add(1, Ordering::Relaxed),
        })
    }

    pub fn version(&self, name: &str) -> Option<&Arc<Structural>> {
        self.versions.get(name)
    }

    pub fn group_version(&self, version: &str) -> GroupVersion {
        GroupVersion::new(self.group.clone(), version.to_owned())
    }

    /// What reading an object from the store does before any conversion: the schema of the
    /// version it was stored in drops what it no longer knows and fills in its defaults.
    /// Gives the name of that version.
    pub fn revive(&self, object: &mut Value) -> Result<String, String> {
        let group_version = object.gvk().group_version();
        let version = group_version.version.to_string();
        let schema = self
            .version(&version)
            .filter(|_| group_version.group == self.group)
            .ok_or_else(|| format!("request to convert CR from an invalid group/version: {group_version}"))?;
        schema.coerce(object, Malformed::Drop)?;
        schema.prune(object);
        schema.default(object);
        if object.generation() == 0 {
            object.set_meta("generation", 1);
        }
        Ok(version)
    }

    /// Objects of any versions in one version, in the order they came. What a converter
    /// gives is held against the schema like what a client sends.
    pub async fn convert(&self, objects: Vec<(String, Value)>, to: &str) -> Result<Vec<Value>, String> {
        let target = self.group_version(to);
        let schema =
            self.version(to).ok_or_else(|| format!("request to convert CR to an invalid group/version: {target}"))?;
        let foreign: Vec<Value> =
            objects.iter().filter(|(version, _)| version != to).map(|(_, object)| object.clone()).collect();
        if foreign.is_empty() {
            return Ok(objects.into_iter().map(|(_, object)| object).collect());
        }
        let mut converted = self.converter.convert(foreign, &target).await?.into_iter();
        let mut out = Vec::with_capacity(objects.len());
        for (version, object) in objects {
            if version == to {
                out.push(object);
                continue;
            }
            let mut object =
                converted.next().ok_or_else(|| format!("conversion to {target} returned too few objects"))?;
            schema.coerce(&mut object, Malformed::Refuse)?;
            schema.prune(&mut object);
            out.push(object);
        }
        Ok(out)
    }
}

impl Custom {
    /// Tells the form in which this row shows an object from every other row's, so that a
    /// form that was made once can be kept beside the object.
    pub fn form(&self) -> u64 {
        // Versions of one definition are few; 2^10 is beyond what a definition may hold.
        self.definition.token << 10 | self.index
    }

    /// What a decoded body has too much, after removing it: `metadata` first, then the rest.
    pub fn prune(&self, object: &mut Value) -> Result<Vec<String>, String> {
        let mut unknown = self.structural.coerce(object, Malformed::Refuse)?;
        unknown.extend(self.structural.prune(object));
        Ok(unknown)
    }

    /// The value of a field that selectors may name; absent ones are empty.
    pub fn selectable_field(&self, name: &str, object: &Value) -> Option<String> {
        let (_, path) = self.selectable.iter().find(|(known, _)| known == name)?;
        Some(path.find(object).first().map(|value| columns::text(value)).unwrap_or_default())
    }
}

/// Whether a condition of a definition is there and true.
pub fn is_true(definition: &Value, condition: &str) -> bool {
    let conditions = definition.field("status").list("conditions");
    conditions.iter().any(|found| found.text("type") == condition && found.text("status") == "True")
}
