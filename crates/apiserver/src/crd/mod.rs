//! CustomResourceDefinitions at work: a definition makes rows while the server runs, and
//! from there on its objects are served like any other (invariant 2).
//!
//! ```text
//! controller.rs  one loop over changed definitions: names, rows, Established
//! conditions.rs  what a definition's status should say (pure)
//! serving.rs     rows and stock of a definition, there and gone
//! finalizer.rs   instances go before their definition does
//! conversion.rs  between versions: nothing, or a webhook
//! openapi.rs     the schemas that documents publish
//! ```

mod conditions;
mod controller;
mod conversion;
mod finalizer;
pub(crate) mod openapi;
mod serving;

pub(crate) use controller::start;

const GROUP: &str = "apiextensions.k8s.io";
const PLURAL: &str = "customresourcedefinitions";
/// Holds a definition until its instances are gone.
const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";
