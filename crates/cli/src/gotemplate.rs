//! `-o go-template`: refused by name, because ferry's kubectl has no reader of Go's templates.

use crate::error::Result;
use serde_json::Value;
use std::convert::Infallible;

/// A template that has been read; there is none.
#[derive(Debug)]
pub(crate) struct Template(Infallible);

impl Template {
    pub(crate) fn parse(_text: &str, _allow_missing: bool) -> Result<Self> {
        Err("go-template output is not supported; use -o jsonpath or -o json".into())
    }

    pub(crate) fn render(&self, _object: &Value) -> Result<String> {
        match self.0 {}
    }
}
