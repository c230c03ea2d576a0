//! `-k`: refused by name, because ferry's kubectl does not build kustomizations.

use crate::error::Result;
use serde_json::Value;
use std::path::Path;

pub(crate) fn build(dir: &Path) -> Result<Vec<Value>> {
    Err(format!("{}: kustomizations are not supported; build it elsewhere and pass the objects with -f", dir.display())
        .into())
}
