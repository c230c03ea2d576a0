//! ferry's one implementation of CEL, the expression language of CRD validation rules,
//! admission policies, match conditions and structured authentication. It is the language
//! of cel-go with the libraries, costs and messages of Kubernetes 1.36; it does no I/O.
//!
//! ```
//! use ferry_cel::{Activation, Budget, Environment, Type, Value};
//!
//! let environment = Environment::kubernetes().with_variable("object", Type::Dyn);
//! let program = environment.compile("object.spec.replicas <= 5").unwrap();
//! let object = serde_json::json!({"spec": {"replicas": 3}});
//! let activation = Activation::new().with("object", Value::from_json(&object));
//! let value = program.evaluate(&activation, &mut Budget::default()).unwrap();
//! assert_eq!(value.as_bool(), Some(true));
//! ```

mod activation;
mod ast;
mod check;
mod cost;
mod crd_cost;
pub mod device;
mod environment;
mod error;
mod escape;
mod estimate;
mod eval;
mod lexer;
mod library;
mod literal;
mod macros;
mod parser;
mod program;
mod schema;
mod source;
mod types;
mod value;

pub use activation::{Activation, Variable};
pub use cost::{Budget, MATCH_CONDITIONS_BUDGET, PER_CALL_LIMIT, RUNTIME_BUDGET};
pub use crd_cost::{Cardinality, STATIC_CRD_LIMIT, STATIC_RULE_LIMIT, TotalCost, cost_error};
pub use environment::Environment;
pub use error::EvalError;
pub use escape::{escape, is_identifier, is_reserved, unescape};
pub use estimate::CostEstimate;
pub use library::all::Library;
pub use library::authorizer::{Authorize, Decision, Question, authorizer_type, resource_check_type};
pub use library::regex::compile as compile_pattern;
pub use library::url::is_request_uri;
pub use program::Program;
pub use schema::Schema;
pub use source::{CompileErrors, Issue, Stage};
pub use types::{Fields, StructType, Type};
pub use value::{List, Map, Object, Opaque, OwnedMap, Text, Time, Value, parse_loose_duration};
