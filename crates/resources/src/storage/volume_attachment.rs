//! VolumeAttachment: the strategy of a volume that is to be at a node.

use crate::Strategy;
use crate::core::persistent_volume::{VolumeOf, default_volume_spec, validate_volume_spec};
use crate::read::{Read, field_mut};
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

pub(crate) struct VolumeAttachment;

const MAX_METADATA_BYTES: usize = 256 * 1024;
const MAX_MESSAGE_BYTES: usize = 1024;

impl Strategy for VolumeAttachment {
    fn default(&self, attachment: &mut Value) {
        let volume = field_mut(attachment, "spec")
            .and_then(|spec| field_mut(spec, "source"))
            .and_then(|source| field_mut(source, "inlineVolumeSpec"));
        if let Some(volume) = volume {
            default_volume_spec(volume);
        }
    }

    fn validate(&self, attachment: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let path = Path::new("spec").child("source");
        validate_source(&mut errors, attachment.field("spec").field("source"), &path);
        validate_status(&mut errors, attachment.field("status"), &Path::new("status"));
        errors
    }

    fn validate_status_update(&self, new: &Value, _old: &Value) -> ErrorList {
        self.validate(new)
    }
}

fn validate_source(errors: &mut ErrorList, source: Option<&Value>, path: &Path) {
    let exactly_one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    match (source.field("inlineVolumeSpec"), source.opt_text("persistentVolumeName")) {
        (None, None) => errors.push(Error::required(path, exactly_one)),
        (Some(_), Some(_)) => errors.push(Error::forbidden(path, exactly_one)),
        (None, Some("")) => errors
            .push(Error::required(&path.child("persistentVolumeName"), "must specify non empty persistentVolumeName")),
        (None, Some(_)) => {}
        (Some(volume), None) => {
            validate_volume_spec(errors, volume, VolumeOf::Attachment, &path.child("inlineVolumeSpec"));
        }
    }
}

fn validate_status(errors: &mut ErrorList, status: Option<&Value>, path: &Path) {
    let metadata = status.entries("attachmentMetadata");
    let size: usize = metadata.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if size > MAX_METADATA_BYTES {
        errors.push(Error::too_long(&path.child("attachmentMetadata"), MAX_METADATA_BYTES));
    }
    for key in ["attachError", "detachError"] {
        let (error, path) = (status.field(key), path.child(key));
        if error.text("message").len() > MAX_MESSAGE_BYTES {
            // Upstream names the limit of the metadata here.
            errors.push(Error::too_long(&path.child("message"), MAX_METADATA_BYTES));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update, context, row, texts};
    use ferry_api::object::Meta;
    use serde_json::json;

    fn attachment() -> Value {
        json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": "a"},
            "spec": {"attacher": "example.com", "nodeName": "node", "source": {"persistentVolumeName": "pv"}},
        })
    }

    #[test]
    fn an_attachment_has_one_volume() {
        check(&VolumeAttachment, attachment(), &[]);
        let mut object = attachment();
        object["spec"]["source"] = json!({});
        check(
            &VolumeAttachment,
            object,
            &["spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"],
        );
        let mut object = attachment();
        object["spec"]["source"] = json!({"inlineVolumeSpec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1"}, "hostPath": {"path": "/"}}});
        check(
            &VolumeAttachment,
            object,
            &[
                "spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes",
                "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes",
            ],
        );
    }

    #[test]
    fn only_its_status_changes() {
        let mut new = attachment();
        new["spec"]["nodeName"] = "other".into();
        check_update(
            &VolumeAttachment,
            attachment(),
            new,
            &[
                "spec: Invalid value: {\"attacher\":\"example.com\",\"nodeName\":\"other\",\"source\":{\"persistentVolumeName\":\"pv\"}}: field is immutable",
            ],
        );
        let mut new = attachment();
        new["metadata"]["labels"] = json!({"a": "b"});
        new["status"] = json!({"attached": true, "attachError": {"errorCode": -1}});
        row("VolumeAttachment").prepare_for_update(&context(), "status", &mut new, &attachment());
        assert_eq!(new.meta("labels"), None);
        assert_eq!(
            texts(&crate::testing::update_errors(&VolumeAttachment, "status", &new, &attachment())),
            ["status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive"]
        );
        assert_eq!(Value::from(cells("VolumeAttachment", new)), json!(["a", "example.com", "pv", "node", true, "10m"]));
    }
}
