//! The schema of a custom resource at work: one version's `openAPIV3Schema`, compiled once
//! and shared. It decides what of an object is kept, what is filled in, what is refused and
//! in which words (apiextensions-apiserver's pkg/apiserver/schema and
//! pkg/apiserver/validation). The API server's `crd/` calls it for every custom object;
//! the rules of CustomResourceDefinition call it for defaults.
//!
//! The order of a request, as upstream's handler has it: [`Structural::coerce`] and
//! [`Structural::prune`] when the body is read, [`Structural::default`], then
//! [`Structural::validate`] among the rules of the kind.

mod coerce;
mod compile;
mod default;
mod default_values;
mod embedded;
mod formats;
mod list_types;
mod node;
mod prune;
mod ratchet;
pub mod rules;
#[cfg(test)]
mod tests;
mod type_def;
mod validate;

use ferry_api::field::{Error, ErrorList, ErrorType, Path};
use ferry_api::schema::TypeDef;
use node::Node;
use ratchet::Correlated;
use serde_json::Value;
use std::sync::{Arc, OnceLock};

pub use coerce::Malformed;
pub(crate) use default_values::{has_unpruned_defaults, validate_defaults};
pub use formats::is_known as is_known_format;

/// What an evaluation of rules may spend when nobody says otherwise.
pub use ferry_cel::RUNTIME_BUDGET;

/// One version's schema. Cheap to share in an `Arc`, immutable.
#[derive(Debug)]
pub struct Structural {
    root: Node,
    /// `spec.preserveUnknownFields` of old definitions: nothing is pruned.
    preserves: bool,
    type_def: OnceLock<Arc<TypeDef>>,
}

/// What validation has to say of an object.
#[derive(Debug, Default)]
pub struct Findings {
    pub errors: ErrorList,
    /// Broken rules that an update did not touch; upstream sends them in Warning headers.
    pub warnings: Vec<String>,
}

/// What is being written, which decides what of the object is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    Object,
    /// The `status` subresource: only `status` is held against the schema, but every rule
    /// runs.
    Status,
}

impl Structural {
    /// Compiles a schema (JSONSchemaProps as JSON). `null` is a version without a schema,
    /// of which nothing but metadata is kept unless `preserve_unknown_fields`. Rules that
    /// do not compile are no error here: objects that they apply to are refused.
    pub fn compile(schema: &Value, preserve_unknown_fields: bool) -> Result<Self, ErrorList> {
        let path = Path::new("openAPIV3Schema");
        let mut root = compile::compile(schema, true).map_err(|why| vec![Error::invalid(&path, "", why)])?;
        root.prune_defaults();
        Ok(Self { root, preserves: preserve_unknown_fields, type_def: OnceLock::new() })
    }

    /// Gives the metadata of the object, and of resources embedded in it, the form that
    /// ObjectMeta has: unknown fields vanish, and their paths are returned. A value of the
    /// wrong type is an error or vanishes too, as `malformed` says; what is read from the
    /// store or a webhook is treated leniently.
    pub fn coerce(&self, object: &mut Value, malformed: Malformed) -> Result<Vec<String>, String> {
        coerce::coerce_root(object, &self.root, malformed)
    }

    /// Removes what the schema does not know, and nulls that stand where none may and no
    /// default would take their place. Returns the paths of unknown fields, sorted:
    /// `spec.foo`, `spec.list[0].bar`.
    pub fn prune(&self, object: &mut Value) -> Vec<String> {
        if self.preserves {
            return Vec::new();
        }
        let unknown = prune::prune(object, &self.root, true);
        default::drop_nulls(object, Some(&self.root));
        unknown
    }

    /// Fills in the defaults of the schema, in place of nulls too where null may not stand.
    pub fn default(&self, object: &mut Value) {
        default::default(object, Some(&self.root));
    }

    /// Every mistake in an object. With `old` this is an update: what it leaves as it was
    /// is not held against it.
    pub fn validate(&self, new: &Value, old: Option<&Value>) -> ErrorList {
        self.check(new, old, Write::Object).errors
    }

    /// The mistakes in a write to the `status` subresource.
    pub fn validate_status(&self, new: &Value, old: &Value) -> ErrorList {
        self.check(new, Some(old), Write::Status).errors
    }

    /// What [`Structural::validate`] does, with the warnings.
    pub fn check(&self, new: &Value, old: Option<&Value>, write: Write) -> Findings {
        let correlated = old.map(|old| Correlated::new(new, old, &self.root));
        let mut errors = match write {
            Write::Object => validate::validate(&self.root, new, correlated.as_ref(), &Path::root()),
            Write::Status => match (self.root.properties.get("status"), new.get("status")) {
                (Some(schema), Some(status)) => {
                    let correlated = correlated.as_ref().and_then(|root| root.key("status"));
                    validate::validate(schema, status, correlated.as_ref(), &Path::new("status"))
                }
                _ => ErrorList::new(),
            },
        };
        if write == Write::Object {
            embedded::validate(&mut errors, new, &self.root, &Path::root());
        }
        // Duplicates that were there before are let pass.
        let mut duplicates = ErrorList::new();
        list_types::validate(&mut duplicates, &self.root, new, &Path::root());
        if !duplicates.is_empty() {
            let mut before = ErrorList::new();
            if let Some(old) = old {
                list_types::validate(&mut before, &self.root, old, &Path::root());
            }
            if before.is_empty() {
                errors.append(&mut duplicates);
            }
        }
        let mut findings = Findings { errors, warnings: Vec::new() };
        if !self.root.rules_within {
            return findings;
        }
        if findings.errors.iter().any(|error| blocks_rules(error.kind)) {
            let detail = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
            findings.errors.push(Error::invalid(&Path::root(), Value::Null, detail));
        } else {
            // A run that ends early has said why.
            let _ = rules::validate(&self.root, new, old, correlated, &Path::root(), &mut findings, RUNTIME_BUDGET);
        }
        findings
    }

    /// The type for server-side apply and OpenAPI: list types and map types as the schema
    /// declares them, open objects where unknown fields are preserved.
    pub fn type_def(&self) -> Arc<TypeDef> {
        self.type_def.get_or_init(|| self.type_def_named("", "")).clone()
    }

    /// The same with a name, which OpenAPI shows: `package` is `<group>/<version>`.
    pub fn type_def_named(&self, package: &str, kind: &str) -> Arc<TypeDef> {
        type_def::of_root(&self.root, self.preserves, package, kind)
    }
}

/// Rules read typed values, so that what has the wrong type, or more of it than their cost
/// was estimated for, must be mended first.
fn blocks_rules(kind: ErrorType) -> bool {
    use ErrorType::{NotSupported, Required, TooLong, TooMany, TypeInvalid};
    matches!(kind, NotSupported | Required | TooLong | TooMany | TypeInvalid)
}
