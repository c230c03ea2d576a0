//! `-o go-template`.

use crate::error::Result;
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Template;

impl Template {
    pub(crate) fn parse(_text: &str, _allow_missing: bool) -> Result<Self> {
        Err("go-template is not built yet".into())
    }

    pub(crate) fn render(&self, _object: &Value) -> Result<String> {
        Err("go-template is not built yet".into())
    }
}
