//! What classes of storage say to their drivers: the driver's name and its parameters.

use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

const MAX_PARAMETERS: usize = 512;
const MAX_PARAMETERS_BYTES: usize = 256 * 1024;

pub(super) fn validate_parameters(errors: &mut ErrorList, class: &Value, path: &Path) {
    let parameters = class.entries("parameters");
    if parameters.len() > MAX_PARAMETERS {
        errors.push(Error::too_long(path, MAX_PARAMETERS));
        return;
    }
    if parameters.contains_key("") {
        errors.push(Error::invalid(path, "", "field can not be empty."));
    }
    let size: usize = parameters.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if size > MAX_PARAMETERS_BYTES {
        errors.push(Error::too_long(path, MAX_PARAMETERS_BYTES));
    }
}
