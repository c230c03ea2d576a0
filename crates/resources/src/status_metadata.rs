//! What the status subresource of newer kinds keeps of the metadata: all that a user set
//! (upstream's ResetObjectMetaForStatus). Older kinds let a status update change labels.

use crate::read::keep;
use ferry_api::object::Meta;
use serde_json::{Value, json};

/// Puts back the old metadata but for who last wrote which field.
pub fn keep_metadata(new: &mut Value, old: &Value) {
    let none = json!({});
    let was = old.get("metadata").unwrap_or(&none);
    new.meta_mut();
    let Some(metadata) = new.get_mut("metadata") else { return };
    for key in ["deletionTimestamp", "generation", "selfLink", "labels", "annotations", "finalizers", "ownerReferences"]
    {
        keep(metadata, was, key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_update_changes_no_labels() {
        let old = json!({"metadata": {"name": "a", "labels": {"a": "b"}, "generation": 2}});
        let mut new = json!({"metadata": {"name": "a", "finalizers": ["x/y"], "managedFields": [{}]}});
        keep_metadata(&mut new, &old);
        assert_eq!(
            new,
            json!({"metadata": {"name": "a", "labels": {"a": "b"}, "generation": 2, "managedFields": [{}]}})
        );
    }
}
